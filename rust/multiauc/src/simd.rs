//! Choosing the widest vectors of the machine at run time: the crate's one `unsafe` block.
//!
//! Wheels are built for any x86-64, whose baseline has 128-bit vectors. The counting loops are written so that the
//! compiler vectorises them; compiled a second time for AVX2 they take two thirds of the time (`cargo bench -p
//! multiauc-benches`). Both compilations count the same integers. On other machines the baseline is all there is.

/// A piece of work to compile for several instruction sets. Implementations mark `run` `#[inline(always)]`: only what is
/// inlined is compiled again.
pub(crate) trait Vectorizable {
    /// What the work gives.
    type Output;
    /// Does the work.
    fn run(self) -> Self::Output;
}

/// Does the work with the widest vectors there are.
#[inline]
pub(crate) fn run_widest<W: Vectorizable>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has AVX2, which is all that calling the function needs.
        #[allow(unsafe_code)]
        return unsafe { run_avx2(work) };
    }
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn run_avx2<W: Vectorizable>(work: W) -> W::Output {
    work.run()
}
