//! What is fitted: the rates, shrunk away from 0 and 1, with a weight per column and block.

use std::borrow::Cow;
use std::ops::Range;

use super::kernel::{LANES, RowCells};

/// Least ε: without any, saturated cells would send the fit towards infinity.
const LEAST_EPSILON: f64 = 1e-9;
/// Rows of a work unit. Sums are taken unit by unit and folded in order, so results do not depend on the number of
/// threads; few enough that a product of that many factors of at most 2 stays finite.
const UNIT_ROWS: usize = 32;

/// The stacked 2T × J matrix of rates with the weights of its columns in the true-positive and false-positive halves.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    thresholds: usize,
    pairs: usize,
    /// Columns including the padding.
    width: usize,
    rates: Vec<f64>,
    weights: [Vec<f64>; 2],
}

impl Problem {
    /// Takes 2T rows of J rates each, the true-positive half first, and shrinks every rate x to (1 − 2ε)x + ε, ε at
    /// least 1e-9.
    ///
    /// # Panics
    /// If `rates` does not consist of two equal halves of whole rows, or the weights differ in length.
    #[must_use]
    pub(crate) fn new(rates: &[f64], epsilon: f64, tp_weights: &[f64], fp_weights: &[f64]) -> Self {
        let epsilon = epsilon.max(LEAST_EPSILON);
        let pairs = tp_weights.len();
        assert_eq!(pairs, fp_weights.len(), "one weight per pair and block");
        assert!(pairs > 0 && rates.len().is_multiple_of(2 * pairs), "two equal halves of whole rows");
        let thresholds = rates.len() / (2 * pairs);
        let width = pairs.next_multiple_of(LANES);
        let mut padded = vec![0.5; 2 * thresholds * width];
        for (target, source) in padded.chunks_exact_mut(width).zip(rates.chunks_exact(pairs)) {
            for (target, source) in target.iter_mut().zip(source) {
                *target = (1.0 - 2.0 * epsilon) * source + epsilon;
            }
        }
        let pad = |weights: &[f64]| {
            let mut padded = weights.to_vec();
            padded.resize(width, 0.0);
            padded
        };
        Self { thresholds, pairs, width, rates: padded, weights: [pad(tp_weights), pad(fp_weights)] }
    }

    /// Number of rows: two per threshold.
    #[must_use]
    pub(crate) const fn rows(&self) -> usize {
        2 * self.thresholds
    }

    /// Number of columns.
    #[must_use]
    pub(crate) const fn pairs(&self) -> usize {
        self.pairs
    }

    /// Columns with the padding.
    pub(super) const fn width(&self) -> usize {
        self.width
    }

    /// Number of cells.
    pub(super) const fn cells(&self) -> usize {
        self.rows() * self.pairs
    }

    /// The weights of the columns in the half of the matrix that a row belongs to.
    pub(super) fn weights_of_row(&self, row: usize) -> &[f64] {
        &self.weights[usize::from(row >= self.thresholds)]
    }

    /// The rates of a row.
    pub(super) fn rates_of_row(&self, row: usize) -> &[f64] {
        &self.rates[row * self.width..][..self.width]
    }

    /// A row ready for the kernel.
    pub(super) fn cells_of_row<'a>(&'a self, row: usize, scores: &'a [f64]) -> RowCells<'a> {
        RowCells { rates: self.rates_of_row(row), weights: self.weights_of_row(row), scores }
    }

    /// The rows cut into work units, none of which lies in both halves.
    pub(super) fn units(&self) -> Vec<Range<usize>> {
        let half = |first: usize| {
            let last = first + self.thresholds;
            (first..last).step_by(UNIT_ROWS).map(move |row| row..last.min(row + UNIT_ROWS))
        };
        half(0).chain(half(self.thresholds)).collect()
    }

    /// Whether each column counts in either half; the padding does not.
    pub(super) fn columns_that_count(&self) -> Vec<bool> {
        (0..self.width).map(|column| self.weights.iter().any(|weights| weights[column] > 0.0)).collect()
    }

    /// The same with at most so many thresholds, spread evenly.
    pub(super) fn thinned(&self, most: usize) -> Cow<'_, Self> {
        if self.thresholds <= most {
            return Cow::Borrowed(self);
        }
        let kept = |half: usize| {
            (0..most).map(move |i| half * self.thresholds + (2 * i + 1) * self.thresholds / (2 * most))
        };
        let rows = kept(0).chain(kept(1));
        let rates = rows.flat_map(|row| self.rates_of_row(row)).copied().collect();
        Cow::Owned(Self { thresholds: most, rates, weights: self.weights.clone(), ..*self })
    }

    /// Weighted mean of the column scores over the pairs, in each half.
    pub(super) fn centres(&self, scores: &[f64]) -> [f64; 2] {
        [0, 1].map(|half| {
            let weights = &self.weights[half];
            let total: f64 = weights.iter().sum();
            weights.iter().zip(scores).map(|(weight, score)| weight * score).sum::<f64>() / total
        })
    }
}
