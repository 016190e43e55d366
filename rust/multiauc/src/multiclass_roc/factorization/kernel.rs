//! The arithmetic of one row: a sigmoid per cell and the sums that Newton steps need, in lanes.
//!
//! No operation depends on the width of the registers it is compiled for, so all machines give the same bits.
#![allow(clippy::inline_always, reason = "only what is inlined is compiled for wide vectors, or has no call per cell")]

use crate::simd::{Simd, Vectorizable};

/// Lanes in which sums are taken. Rows are padded to a multiple of it with cells of weight zero.
pub(super) const LANES: usize = 8;
/// Cells whose sigmoids are computed together, on the stack.
const BLOCK: usize = 16;

/// The cells of one row and what they share with the other rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowCells<'a> {
    /// Observed rates, inside (0, 1).
    pub rates: &'a [f64],
    /// Weight of each column in this block of rows.
    pub weights: &'a [f64],
    /// Column scores V.
    pub scores: &'a [f64],
}

/// The parameters of a row: `η_j = intercept + slope · V_j`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Row {
    pub intercept: f64,
    pub slope: f64,
}

/// Gradient of the log-likelihood of a row with respect to (intercept, slope), and its negated second derivatives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RowSums {
    pub gradient: [f64; 2],
    pub curvature: [f64; 3],
}

/// Sums of each column over several rows.
#[derive(Debug, Clone)]
pub(super) struct ColumnSums {
    /// Gradient of the log-likelihood with respect to `V_j`.
    pub gradient: Vec<f64>,
    /// Its negated second derivative.
    pub curvature: Vec<f64>,
    /// Π (1 + e^−|η|): one logarithm per column instead of one per cell gives the deviance.
    pub product: Vec<f64>,
}

impl ColumnSums {
    pub(super) fn new(width: usize) -> Self {
        Self { gradient: vec![0.0; width], curvature: vec![0.0; width], product: vec![1.0; width] }
    }
}

/// e^x for x in [−700, 0] as 2^k e^r, |r| ≤ ln 2 / 2, with a polynomial in r; relative error below 1e-14 + 2e-16 |x|.
#[inline(always)]
fn exp_nonpositive(x: f64) -> f64 {
    /// 1.5 · 2^52: adding it rounds to a whole number and leaves that number in the low bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let shifted = x * std::f64::consts::LOG2_E + ROUND;
    let r = x - (shifted - ROUND) * std::f64::consts::LN_2;
    let power = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    // The Taylor series, cut where its remainder r^12/12! is below 1e-14 of e^r.
    let r2 = r * r;
    let r4 = r2 * r2;
    let low = (1.0 + r) + r2 * (0.5 + r * (1.0 / 6.0));
    let middle = (1.0 / 24.0 + r * (1.0 / 120.0)) + r2 * (1.0 / 720.0 + r * (1.0 / 5040.0));
    let high = (1.0 / 40_320.0 + r * (1.0 / 362_880.0)) + r2 * (1.0 / 3_628_800.0 + r * (1.0 / 39_916_800.0));
    power * (low + r4 * (middle + r4 * high))
}

/// (e, μ, μ(1 − μ)) of a linear predictor, e = e^−|η|.
#[inline(always)]
fn sigmoid(eta: f64) -> (f64, f64, f64) {
    let x = -eta.abs();
    let e = exp_nonpositive(if x > -700.0 { x } else { -700.0 });
    let q = 1.0 / (1.0 + e);
    let minor = e * q;
    (e, if eta >= 0.0 { q } else { minor }, minor * q)
}

/// [`row_sums`], to be compiled for the widest registers.
pub(super) struct SumRow<'a> {
    pub cells: RowCells<'a>,
    pub at: Row,
}

impl Vectorizable for SumRow<'_> {
    type Output = RowSums;
    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> RowSums {
        row_sums(self.cells, self.at)
    }
}

/// [`add_to_columns`], to be compiled for the widest registers.
pub(super) struct AddToColumns<'a, 'b> {
    pub cells: RowCells<'a>,
    pub at: Row,
    pub sums: &'b mut ColumnSums,
}

impl Vectorizable for AddToColumns<'_, '_> {
    type Output = f64;
    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> f64 {
        add_to_columns(self.cells, self.at, self.sums)
    }
}

/// Sums over the cells of a row.
#[inline(always)]
fn row_sums(cells: RowCells<'_>, at: Row) -> RowSums {
    let mut sums = [[0.0; BLOCK]; 5];
    let [g0, g1, h00, h01, h11] = &mut sums;
    let others = cells.weights.chunks(BLOCK).zip(cells.scores.chunks(BLOCK));
    for (rates, (weights, scores)) in cells.rates.chunks(BLOCK).zip(others) {
        let length = rates.len().min(BLOCK);
        let (rates, weights, scores) = (&rates[..length], &weights[..length], &scores[..length]);
        for i in 0..length {
            let v = scores[i];
            let (_, mean, variance) = sigmoid(at.intercept + at.slope * v);
            let residual = weights[i] * (rates[i] - mean);
            let information = weights[i] * variance;
            g0[i] += residual;
            g1[i] += residual * v;
            h00[i] += information;
            h01[i] += information * v;
            h11[i] += information * v * v;
        }
    }
    let [g0, g1, h00, h01, h11] = sums.map(|sums| fold(&sums));
    RowSums { gradient: [g0, g1], curvature: [h00, h01, h11] }
}

/// Adds the cells of a row to the sums of the columns. Returns Σ w (max(η, 0) − xη), the rest of what the row adds to
/// the negated log-likelihood.
#[inline(always)]
fn add_to_columns(cells: RowCells<'_>, at: Row, sums: &mut ColumnSums) -> f64 {
    let slope_squared = at.slope * at.slope;
    let mut losses = [0.0; BLOCK];
    // On the stack first: here the compiler knows that nothing overlaps.
    let (mut residuals, mut information, mut factors) = ([0.0; BLOCK], [0.0; BLOCK], [1.0; BLOCK]);
    let others = cells.weights.chunks(BLOCK).zip(cells.scores.chunks(BLOCK));
    let targets =
        sums.gradient.chunks_mut(BLOCK).zip(sums.curvature.chunks_mut(BLOCK)).zip(sums.product.chunks_mut(BLOCK));
    for ((rates, (weights, scores)), ((gradient, curvature), product)) in
        cells.rates.chunks(BLOCK).zip(others).zip(targets)
    {
        let length = rates.len().min(BLOCK);
        let (rates, weights, scores) = (&rates[..length], &weights[..length], &scores[..length]);
        for i in 0..length {
            let eta = at.intercept + at.slope * scores[i];
            let (e, mean, variance) = sigmoid(eta);
            residuals[i] = weights[i] * (rates[i] - mean) * at.slope;
            information[i] = weights[i] * variance * slope_squared;
            factors[i] = 1.0 + e;
            losses[i] += weights[i] * ((if eta > 0.0 { eta } else { 0.0 }) - rates[i] * eta);
        }
        gradient.iter_mut().zip(&residuals).for_each(|(sum, residual)| *sum += residual);
        curvature.iter_mut().zip(&information).for_each(|(sum, information)| *sum += information);
        product.iter_mut().zip(&factors).for_each(|(product, factor)| *product *= factor);
    }
    fold(&losses)
}

/// Writes w (x − μ) and w μ (1 − μ) of every cell of a row.
pub(super) struct WriteTerms<'a, 'b> {
    pub cells: RowCells<'a>,
    pub at: Row,
    pub residuals: &'b mut [f64],
    pub information: &'b mut [f64],
}

impl Vectorizable for WriteTerms<'_, '_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let cells = self.cells.rates.iter().zip(self.cells.weights).zip(self.cells.scores);
        for (((rate, weight), score), (residual, information)) in
            cells.zip(self.residuals.iter_mut().zip(self.information))
        {
            let (_, mean, variance) = sigmoid(self.at.intercept + self.at.slope * score);
            *residual = weight * (rate - mean);
            *information = weight * variance;
        }
    }
}

#[inline(always)]
fn fold(sums: &[f64; BLOCK]) -> f64 {
    let mut lanes = [0.0; LANES];
    for part in sums.as_chunks::<LANES>().0 {
        lanes.iter_mut().zip(part).for_each(|(lane, part)| *lane += part);
    }
    lanes.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_agrees_with_the_standard_library() {
        for x in (0..=700_000).map(|i| -f64::from(i) / 1000.0) {
            assert!((exp_nonpositive(x) / x.exp() - 1.0).abs() < 1e-14 - 2e-16 * x, "{x}");
        }
        assert_eq!(exp_nonpositive(0.0), 1.0);
    }

    #[test]
    fn sigmoid_is_accurate_in_both_tails() {
        for eta in [-800.0_f64, -40.0, -1.0, -1e-9, 0.0, 1e-9, 1.0, 40.0, 800.0] {
            let (e, mean, variance) = sigmoid(eta);
            assert!((e - (-eta.abs().min(700.0)).exp()).abs() <= 2e-13 * e);
            assert!((mean - 1.0 / (1.0 + (-eta).exp())).abs() <= 8e-15);
            assert!((0.0..=0.25).contains(&variance));
        }
    }

    #[test]
    fn every_version_gives_the_same_bits() {
        let wave = |scale: f64| move |i: i32| (f64::from(i) * scale).sin();
        let rates: Vec<f64> = (0..96).map(wave(0.7)).map(|s| 0.5 + 0.49 * s).collect();
        let weights: Vec<f64> = (0..96).map(wave(0.3)).map(|s| 2.0 + s).collect();
        let scores: Vec<f64> = (0..96).map(wave(1.3)).collect();
        let cells = RowCells { rates: &rates, weights: &weights, scores: &scores };
        let at = Row { intercept: -0.4, slope: 3.0 };
        assert_eq!(crate::simd::run_widest(SumRow { cells, at }), row_sums(cells, at));
        let (mut here, mut there) = (ColumnSums::new(96), ColumnSums::new(96));
        let widest = crate::simd::run_widest(AddToColumns { cells, at, sums: &mut here });
        assert_eq!(widest, add_to_columns(cells, at, &mut there));
        assert_eq!(here.gradient, there.gradient);
        assert_eq!(here.curvature, there.curvature);
        assert_eq!(here.product, there.product);
    }
}
