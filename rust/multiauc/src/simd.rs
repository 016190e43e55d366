//! The widest vectors of the machine, chosen at run time.
//!
//! Wheels are built for any x86-64, whose baseline has 128-bit vectors. The loops over all scores are compiled a second
//! time for AVX2, with the comparison of eight keys written in intrinsics: the compiler's own version was slower than
//! the baseline. Both give the same counts, and the tests run both. Other machines use the portable code. Besides the
//! request for large pages in `memory`, this is the crate's only `unsafe` code.

/// A set of vector instructions that the machine has. Only this module creates one.
pub trait Simd: Copy {
    /// Running counts of [`compare_f64`](Self::compare_f64) or [`compare_f32`](Self::compare_f32).
    type Counts: Copy;
    /// Four doubles that are worked on together, each with the same rounding as a double of its own.
    type Lanes: Copy;
    /// The same double four times.
    fn splat(self, value: f64) -> Self::Lanes;
    /// Four doubles from memory.
    fn load(self, values: &[f64; 4]) -> Self::Lanes;
    /// The four doubles.
    fn values(self, lanes: Self::Lanes) -> [f64; 4];
    /// a + b.
    fn add(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// a − b.
    fn subtract(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// a · b.
    fn multiply(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// No counts.
    fn zero(self) -> Self::Counts;
    /// For each of eight keys v adds 1 to the first count if v < low, and 1 to the second if v ≤ high.
    fn compare_f64(self, keys: &[f64; 8], low: f64, high: f64, counts: &mut Self::Counts);
    /// The same in single precision; at most 2^31 times.
    fn compare_f32(self, keys: &[f32; 8], low: f32, high: f32, counts: &mut Self::Counts);
    /// Whether one of eight keys lies in low..=high.
    fn has_within_f64(self, keys: &[f64; 8], low: f64, high: f64) -> bool;
    /// The same in single precision.
    fn has_within_f32(self, keys: &[f32; 8], low: f32, high: f32) -> bool;
    /// The weights of those of four keys v with v < low, and of those with v > high; where one is neither, `between` becomes
    /// negative.
    fn weigh(
        self,
        keys: &[f64; 4],
        weights: &[f64; 4],
        low: f64,
        high: f64,
        between: &mut Self::Lanes,
    ) -> [Self::Lanes; 2];
    /// Twice the weights of those of four keys that are below a key, and of those above it; once where they tie.
    fn weigh_twice(self, keys: &[f64; 4], weights: &[f64; 4], key: f64) -> [Self::Lanes; 2];
    /// Whether one of four doubles has a negative sign.
    fn is_any_negative(self, lanes: Self::Lanes) -> bool;
    /// How many of eight sorted keys are below a key, and how many are not above it.
    fn ranks_f64(self, sorted: &[f64; 8], key: f64) -> (usize, usize);
    /// How many of four keys are below `low`, and how many are not above `high`; each adds 1 to its mark for either, and
    /// `extra` is added to the first mark.
    fn mark_f64(self, keys: &[f64; 4], low: f64, high: f64, extra: u64, marks: &mut [u64; 4]) -> (u32, u32);
    /// The two counts of `compare_f64`.
    fn counts_f64(self, counts: Self::Counts) -> (u64, u64);
    /// The two counts of `compare_f32`.
    fn counts_f32(self, counts: Self::Counts) -> (u64, u64);
    /// Hints that a value will be read soon.
    fn prefetch<T>(self, value: &T);
}

/// A piece of work to compile for several instruction sets. Implementations mark `run` `#[inline(always)]`: only what is
/// inlined is compiled again.
pub(crate) trait Vectorizable {
    /// What the work returns.
    type Output;
    /// Does the work.
    fn run<S: Simd>(self, simd: S) -> Self::Output;
}

/// Does the work with the widest vectors available.
#[inline]
pub(crate) fn run_widest<W: Vectorizable>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = avx2::Avx2::detect() {
        return avx2.run(work);
    }
    work.run(Portable)
}

/// Plain code for every machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Portable;

macro_rules! compare_portably {
    ($keys:expr, $low:expr, $high:expr, $counts:expr) => {{
        let (mut below, mut up_to) = (0_u32, 0_u32);
        for key in $keys {
            below += u32::from(*key < $low);
            up_to += u32::from(*key <= $high);
        }
        $counts.0 += u64::from(below);
        $counts.1 += u64::from(up_to);
    }};
}

impl Simd for Portable {
    type Counts = (u64, u64);
    type Lanes = [f64; 4];

    #[inline(always)]
    fn splat(self, value: f64) -> [f64; 4] {
        [value; 4]
    }

    #[inline(always)]
    fn load(self, values: &[f64; 4]) -> [f64; 4] {
        *values
    }

    #[inline(always)]
    fn values(self, lanes: [f64; 4]) -> [f64; 4] {
        lanes
    }

    #[inline(always)]
    fn add(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        [a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]]
    }

    #[inline(always)]
    fn subtract(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        [a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3]]
    }

    #[inline(always)]
    fn multiply(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        [a[0] * b[0], a[1] * b[1], a[2] * b[2], a[3] * b[3]]
    }

    #[inline(always)]
    fn zero(self) -> (u64, u64) {
        (0, 0)
    }

    #[inline(always)]
    fn compare_f64(self, keys: &[f64; 8], low: f64, high: f64, counts: &mut (u64, u64)) {
        compare_portably!(keys, low, high, counts);
    }

    #[inline(always)]
    fn compare_f32(self, keys: &[f32; 8], low: f32, high: f32, counts: &mut (u64, u64)) {
        compare_portably!(keys, low, high, counts);
    }

    #[inline(always)]
    fn has_within_f64(self, keys: &[f64; 8], low: f64, high: f64) -> bool {
        keys.iter().filter(|key| **key >= low && **key <= high).count() > 0
    }

    #[inline(always)]
    fn has_within_f32(self, keys: &[f32; 8], low: f32, high: f32) -> bool {
        keys.iter().filter(|key| **key >= low && **key <= high).count() > 0
    }

    #[inline(always)]
    fn weigh(self, keys: &[f64; 4], weights: &[f64; 4], low: f64, high: f64, between: &mut [f64; 4]) -> [[f64; 4]; 2] {
        let (mut below, mut above) = ([0.0; 4], [0.0; 4]);
        for lane in 0..4 {
            let (is_below, is_up_to) = (keys[lane] < low, keys[lane] <= high);
            below[lane] = if is_below { weights[lane] } else { 0.0 };
            above[lane] = if is_up_to { 0.0 } else { weights[lane] };
            between[lane] = if is_up_to && !is_below { -1.0 } else { between[lane] };
        }
        [below, above]
    }

    #[inline(always)]
    fn weigh_twice(self, keys: &[f64; 4], weights: &[f64; 4], key: f64) -> [[f64; 4]; 2] {
        let (mut below, mut above) = ([0.0; 4], [0.0; 4]);
        for lane in 0..4 {
            let weight = |is_counted: bool| if is_counted { weights[lane] } else { 0.0 };
            let (is_below, is_up_to) = (keys[lane] < key, keys[lane] <= key);
            below[lane] = weight(is_below) + weight(is_up_to);
            above[lane] = weight(!is_below) + weight(!is_up_to);
        }
        [below, above]
    }

    #[inline(always)]
    fn is_any_negative(self, lanes: [f64; 4]) -> bool {
        lanes.iter().any(|lane| lane.is_sign_negative())
    }

    #[inline(always)]
    fn ranks_f64(self, sorted: &[f64; 8], key: f64) -> (usize, usize) {
        let mut counts = (0_u64, 0_u64);
        compare_portably!(sorted, key, key, counts);
        (counts.0 as usize, counts.1 as usize)
    }

    #[inline(always)]
    fn mark_f64(self, keys: &[f64; 4], low: f64, high: f64, extra: u64, marks: &mut [u64; 4]) -> (u32, u32) {
        marks[0] += extra;
        let (mut below, mut up_to) = (0, 0);
        for (key, mark) in keys.iter().zip(marks) {
            let (is_below, is_up_to) = (u32::from(*key < low), u32::from(*key <= high));
            *mark += u64::from(is_below + is_up_to);
            below += is_below;
            up_to += is_up_to;
        }
        (below, up_to)
    }

    #[inline(always)]
    fn counts_f64(self, counts: (u64, u64)) -> (u64, u64) {
        counts
    }

    #[inline(always)]
    fn counts_f32(self, counts: (u64, u64)) -> (u64, u64) {
        counts
    }

    #[inline(always)]
    fn prefetch<T>(self, _: &T) {}
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod avx2 {
    use std::arch::x86_64::{
        __m256d, __m256i, _CMP_GE_OQ, _CMP_LE_OQ, _CMP_LT_OQ, _MM_HINT_T0, _mm_prefetch, _mm256_add_epi64,
        _mm256_add_pd, _mm256_and_pd, _mm256_and_ps, _mm256_andnot_pd, _mm256_castpd_si256, _mm256_castps_si256,
        _mm256_cmp_pd, _mm256_cmp_ps, _mm256_loadu_pd, _mm256_loadu_ps, _mm256_loadu_si256, _mm256_movemask_pd,
        _mm256_movemask_ps, _mm256_mul_pd, _mm256_or_pd, _mm256_set_epi64x, _mm256_set1_pd, _mm256_set1_ps,
        _mm256_setzero_si256, _mm256_storeu_pd, _mm256_storeu_si256, _mm256_sub_epi32, _mm256_sub_epi64, _mm256_sub_pd,
    };

    use super::{Simd, Vectorizable};

    /// Proof that the machine has AVX2, and counts bits: only [`detect`](Self::detect) creates it.
    #[derive(Debug, Clone, Copy)]
    pub(super) struct Avx2(());

    impl Avx2 {
        pub(super) fn detect() -> Option<Self> {
            (std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("popcnt"))
                .then_some(Self(()))
        }

        #[inline]
        pub(super) fn run<W: Vectorizable>(self, work: W) -> W::Output {
            #[target_feature(enable = "avx2,popcnt")]
            fn with_avx2<W: Vectorizable>(simd: Avx2, work: W) -> W::Output {
                work.run(simd)
            }
            // SAFETY: `self` proves that the machine has both, all that the call needs.
            unsafe { with_avx2(self, work) }
        }
    }

    // A comparison sets all bits of a lane, which is −1: subtracting it counts.
    impl Simd for Avx2 {
        type Counts = [__m256i; 2];
        type Lanes = __m256d;

        #[inline(always)]
        fn splat(self, value: f64) -> __m256d {
            // SAFETY: the machine has AVX2.
            unsafe { _mm256_set1_pd(value) }
        }

        #[inline(always)]
        fn load(self, values: &[f64; 4]) -> __m256d {
            // SAFETY: the machine has AVX2; the load covers just the four values.
            unsafe { _mm256_loadu_pd(values.as_ptr()) }
        }

        #[inline(always)]
        fn values(self, lanes: __m256d) -> [f64; 4] {
            let mut values = [0.0; 4];
            // SAFETY: the machine has AVX2; the store covers just the four values.
            unsafe { _mm256_storeu_pd(values.as_mut_ptr(), lanes) };
            values
        }

        #[inline(always)]
        fn add(self, a: __m256d, b: __m256d) -> __m256d {
            // SAFETY: the machine has AVX2.
            unsafe { _mm256_add_pd(a, b) }
        }

        #[inline(always)]
        fn subtract(self, a: __m256d, b: __m256d) -> __m256d {
            // SAFETY: the machine has AVX2.
            unsafe { _mm256_sub_pd(a, b) }
        }

        #[inline(always)]
        fn multiply(self, a: __m256d, b: __m256d) -> __m256d {
            // SAFETY: the machine has AVX2.
            unsafe { _mm256_mul_pd(a, b) }
        }

        #[inline(always)]
        fn zero(self) -> [__m256i; 2] {
            // SAFETY: the machine has AVX2.
            unsafe { [_mm256_setzero_si256(); 2] }
        }

        #[inline(always)]
        fn compare_f64(self, keys: &[f64; 8], low: f64, high: f64, counts: &mut [__m256i; 2]) {
            // SAFETY: the machine has AVX2; both loads stay within the eight keys.
            unsafe {
                let (low, high) = (_mm256_set1_pd(low), _mm256_set1_pd(high));
                let (first, second) = (_mm256_loadu_pd(keys.as_ptr()), _mm256_loadu_pd(keys.as_ptr().add(4)));
                let below = _mm256_add_epi64(
                    _mm256_castpd_si256(_mm256_cmp_pd::<_CMP_LT_OQ>(first, low)),
                    _mm256_castpd_si256(_mm256_cmp_pd::<_CMP_LT_OQ>(second, low)),
                );
                let up_to = _mm256_add_epi64(
                    _mm256_castpd_si256(_mm256_cmp_pd::<_CMP_LE_OQ>(first, high)),
                    _mm256_castpd_si256(_mm256_cmp_pd::<_CMP_LE_OQ>(second, high)),
                );
                counts[0] = _mm256_sub_epi64(counts[0], below);
                counts[1] = _mm256_sub_epi64(counts[1], up_to);
            }
        }

        #[inline(always)]
        fn compare_f32(self, keys: &[f32; 8], low: f32, high: f32, counts: &mut [__m256i; 2]) {
            // SAFETY: the machine has AVX2; the load covers just the eight keys.
            unsafe {
                let keys = _mm256_loadu_ps(keys.as_ptr());
                let below = _mm256_cmp_ps::<_CMP_LT_OQ>(keys, _mm256_set1_ps(low));
                let up_to = _mm256_cmp_ps::<_CMP_LE_OQ>(keys, _mm256_set1_ps(high));
                counts[0] = _mm256_sub_epi32(counts[0], _mm256_castps_si256(below));
                counts[1] = _mm256_sub_epi32(counts[1], _mm256_castps_si256(up_to));
            }
        }

        #[inline(always)]
        fn has_within_f64(self, keys: &[f64; 8], low: f64, high: f64) -> bool {
            // SAFETY: the machine has AVX2; both loads stay within the eight keys.
            unsafe {
                let (low, high) = (_mm256_set1_pd(low), _mm256_set1_pd(high));
                let within = |keys| {
                    let from_low = _mm256_cmp_pd::<_CMP_GE_OQ>(keys, low);
                    _mm256_and_pd(from_low, _mm256_cmp_pd::<_CMP_LE_OQ>(keys, high))
                };
                let (first, second) = (_mm256_loadu_pd(keys.as_ptr()), _mm256_loadu_pd(keys.as_ptr().add(4)));
                _mm256_movemask_pd(_mm256_or_pd(within(first), within(second))) != 0
            }
        }

        #[inline(always)]
        fn has_within_f32(self, keys: &[f32; 8], low: f32, high: f32) -> bool {
            // SAFETY: the machine has AVX2; the load covers just the eight keys.
            unsafe {
                let keys = _mm256_loadu_ps(keys.as_ptr());
                let from_low = _mm256_cmp_ps::<_CMP_GE_OQ>(keys, _mm256_set1_ps(low));
                let up_to_high = _mm256_cmp_ps::<_CMP_LE_OQ>(keys, _mm256_set1_ps(high));
                _mm256_movemask_ps(_mm256_and_ps(from_low, up_to_high)) != 0
            }
        }

        #[inline(always)]
        fn weigh(
            self,
            keys: &[f64; 4],
            weights: &[f64; 4],
            low: f64,
            high: f64,
            between: &mut __m256d,
        ) -> [__m256d; 2] {
            // SAFETY: the machine has AVX2; the loads cover just the four keys and weights.
            unsafe {
                let (keys, weights) = (_mm256_loadu_pd(keys.as_ptr()), _mm256_loadu_pd(weights.as_ptr()));
                let below = _mm256_cmp_pd::<_CMP_LT_OQ>(keys, _mm256_set1_pd(low));
                let up_to = _mm256_cmp_pd::<_CMP_LE_OQ>(keys, _mm256_set1_pd(high));
                *between = _mm256_or_pd(*between, _mm256_andnot_pd(below, up_to));
                [_mm256_and_pd(below, weights), _mm256_andnot_pd(up_to, weights)]
            }
        }

        #[inline(always)]
        fn weigh_twice(self, keys: &[f64; 4], weights: &[f64; 4], key: f64) -> [__m256d; 2] {
            // SAFETY: the machine has AVX2; the loads cover just the four keys and weights.
            unsafe {
                let (keys, weights) = (_mm256_loadu_pd(keys.as_ptr()), _mm256_loadu_pd(weights.as_ptr()));
                let key = _mm256_set1_pd(key);
                let (below, up_to) = (_mm256_cmp_pd::<_CMP_LT_OQ>(keys, key), _mm256_cmp_pd::<_CMP_LE_OQ>(keys, key));
                [
                    _mm256_add_pd(_mm256_and_pd(below, weights), _mm256_and_pd(up_to, weights)),
                    _mm256_add_pd(_mm256_andnot_pd(below, weights), _mm256_andnot_pd(up_to, weights)),
                ]
            }
        }

        #[inline(always)]
        fn is_any_negative(self, lanes: __m256d) -> bool {
            // SAFETY: the machine has AVX2.
            unsafe { _mm256_movemask_pd(lanes) != 0 }
        }

        #[inline(always)]
        fn ranks_f64(self, sorted: &[f64; 8], key: f64) -> (usize, usize) {
            // SAFETY: the machine has AVX2; both loads stay within the eight keys.
            let (below, up_to) = unsafe {
                let key = _mm256_set1_pd(key);
                let (first, second) = (_mm256_loadu_pd(sorted.as_ptr()), _mm256_loadu_pd(sorted.as_ptr().add(4)));
                let below = [_mm256_cmp_pd::<_CMP_LT_OQ>(first, key), _mm256_cmp_pd::<_CMP_LT_OQ>(second, key)];
                let up_to = [_mm256_cmp_pd::<_CMP_LE_OQ>(first, key), _mm256_cmp_pd::<_CMP_LE_OQ>(second, key)];
                let mask =
                    |[first, second]: [__m256d; 2]| _mm256_movemask_pd(first) | (_mm256_movemask_pd(second) << 4);
                (mask(below), mask(up_to))
            };
            // The keys are sorted, so the bits that are set come first.
            (below.trailing_ones() as usize, up_to.trailing_ones() as usize)
        }

        #[inline(always)]
        fn mark_f64(self, keys: &[f64; 4], low: f64, high: f64, extra: u64, marks: &mut [u64; 4]) -> (u32, u32) {
            // SAFETY: the machine has AVX2; the loads and the store cover just the four keys and the four marks.
            let (below, up_to) = unsafe {
                let keys = _mm256_loadu_pd(keys.as_ptr());
                let below = _mm256_cmp_pd::<_CMP_LT_OQ>(keys, _mm256_set1_pd(low));
                let up_to = _mm256_cmp_pd::<_CMP_LE_OQ>(keys, _mm256_set1_pd(high));
                let sum = _mm256_add_epi64(_mm256_castpd_si256(below), _mm256_castpd_si256(up_to));
                let extra = _mm256_set_epi64x(0, 0, 0, extra as i64);
                let marks: *mut __m256i = marks.as_mut_ptr().cast();
                let so_far = _mm256_add_epi64(_mm256_loadu_si256(marks), extra);
                _mm256_storeu_si256(marks, _mm256_sub_epi64(so_far, sum));
                (_mm256_movemask_pd(below), _mm256_movemask_pd(up_to))
            };
            (below.count_ones(), up_to.count_ones())
        }

        #[inline(always)]
        fn counts_f64(self, counts: [__m256i; 2]) -> (u64, u64) {
            let sum = |lanes: __m256i| {
                let mut values = [0_u64; 4];
                // SAFETY: the machine has AVX2; the store covers just the four values.
                unsafe { _mm256_storeu_si256(values.as_mut_ptr().cast(), lanes) };
                values.iter().sum()
            };
            (sum(counts[0]), sum(counts[1]))
        }

        #[inline(always)]
        fn counts_f32(self, counts: [__m256i; 2]) -> (u64, u64) {
            let sum = |lanes: __m256i| {
                let mut values = [0_u32; 8];
                // SAFETY: the machine has AVX2; the store covers just the eight values.
                unsafe { _mm256_storeu_si256(values.as_mut_ptr().cast(), lanes) };
                values.iter().map(|&value| u64::from(value)).sum()
            };
            (sum(counts[0]), sum(counts[1]))
        }

        #[inline(always)]
        fn prefetch<T>(self, value: &T) {
            // SAFETY: a prefetch is harmless at any address, and this one is valid.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast()) };
        }
    }
}
