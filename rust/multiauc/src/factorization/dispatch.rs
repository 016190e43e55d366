//! The kernel, compiled for the widest registers that the processor has.
//!
//! The one place of the crate with `unsafe`: calling a function that was compiled for AVX2 is sound only on a processor
//! that has it, which the compiler cannot see. Each call stands right behind the test. The gain is a factor of two per
//! sweep (`benches/multiclass_roc_speed.py`); portable wheels rule out compiling everything for AVX2.
#![allow(unsafe_code)]

use super::kernel::{self, ColumnSums, Row, RowCells, RowSums};

/// [`kernel::row_sums`] on this processor.
pub(super) fn row_sums(cells: RowCells<'_>, at: Row) -> RowSums {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { row_sums_avx2(cells, at) };
    }
    kernel::row_sums(cells, at)
}

/// [`kernel::add_to_columns`] on this processor.
pub(super) fn add_to_columns(cells: RowCells<'_>, at: Row, sums: &mut ColumnSums) -> f64 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { add_to_columns_avx2(cells, at, sums) };
    }
    kernel::add_to_columns(cells, at, sums)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn row_sums_avx2(cells: RowCells<'_>, at: Row) -> RowSums {
    kernel::row_sums(cells, at)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn add_to_columns_avx2(cells: RowCells<'_>, at: Row, sums: &mut ColumnSums) -> f64 {
    kernel::add_to_columns(cells, at, sums)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_gives_the_same_bits() {
        let wave = |scale: f64| move |i: usize| (i as f64 * scale).sin();
        let rates: Vec<f64> = (0..96).map(wave(0.7)).map(|s| 0.5 + 0.49 * s).collect();
        let weights: Vec<f64> = (0..96).map(wave(0.3)).map(|s| 2.0 + s).collect();
        let scores: Vec<f64> = (0..96).map(wave(1.3)).collect();
        let cells = RowCells { rates: &rates, weights: &weights, scores: &scores };
        let at = Row { intercept: -0.4, slope: 3.0 };
        assert_eq!(row_sums(cells, at), kernel::row_sums(cells, at));
        let (mut here, mut there) = (ColumnSums::new(96), ColumnSums::new(96));
        assert_eq!(add_to_columns(cells, at, &mut here), kernel::add_to_columns(cells, at, &mut there));
        assert_eq!(here.gradient, there.gradient);
        assert_eq!(here.curvature, there.curvature);
        assert_eq!(here.product, there.product);
    }
}
