//! The classes that have rows, and their rows one class after the other.

use std::ops::Range;

use super::thresholds::ColumnValues;
use crate::class_blocks::GroupedRows;
use crate::score_matrix::Score;
use crate::scored_sample::ScoredSample;

/// Rows of positive weight grouped by class; classes are numbered among those that have any.
#[derive(Debug, Clone)]
pub(super) struct PresentClasses {
    /// Row numbers, class after class, increasing within a class.
    order: Vec<u32>,
    /// `starts[c]..starts[c + 1]` are the places of class c in `order`.
    starts: Vec<usize>,
    /// The class's number in the sample.
    originals: Vec<usize>,
    /// The column that scores the class.
    columns: Vec<usize>,
    /// Weights in the same order, in units that keep their sums in range.
    weights: Option<Vec<f64>>,
    /// Total weight of each class, in the same units.
    totals: Vec<f64>,
    /// A weight of one in these units.
    unit: f64,
}

impl PresentClasses {
    pub(super) fn new<T: Score>(sample: &ScoredSample<'_, T>) -> Self {
        let grouped = GroupedRows::new(sample, 0..sample.rows());
        let originals: Vec<usize> = (0..sample.classes()).filter(|&class| sample.sizes.rows[class] > 0).collect();
        let mut order = Vec::with_capacity(sample.rows());
        let mut starts = vec![0];
        for &class in &originals {
            let rows = grouped.of(class).iter().copied();
            match sample.weights {
                Some(weights) => order.extend(rows.filter(|&row| weights[row as usize] > 0.0)),
                None => order.extend(rows),
            }
            starts.push(order.len());
        }
        // One column alone scores the second of two classes.
        let column_of = |&class: &usize| {
            if sample.scores.columns() == 1 { 0 } else { class }
        };
        Self {
            columns: originals.iter().map(column_of).collect(),
            weights: sample.weights.map(|_| order.iter().map(|&row| sample.weight(row as usize)).collect()),
            unit: sample.weight_scale,
            totals: originals.iter().map(|&class| sample.sizes.weights[class]).collect(),
            order,
            starts,
            originals,
        }
    }

    pub(super) fn count(&self) -> usize {
        self.originals.len()
    }

    pub(super) fn originals(&self) -> &[usize] {
        &self.originals
    }

    pub(super) fn columns(&self) -> &[usize] {
        &self.columns
    }

    pub(super) fn is_weighted(&self) -> bool {
        self.weights.is_some()
    }

    /// Places of a class's rows.
    pub(super) fn rows_of(&self, class: usize) -> Range<usize> {
        self.starts[class]..self.starts[class + 1]
    }

    /// Row numbers at some places.
    pub(super) fn row_numbers(&self, places: Range<usize>) -> &[u32] {
        &self.order[places]
    }

    /// Weights at all places.
    pub(super) fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    pub(super) fn weights_of(&self, class: usize) -> Option<&[f64]> {
        self.weights.as_ref().map(|weights| &weights[self.rows_of(class)])
    }

    pub(super) fn sizes(&self) -> Vec<u32> {
        self.starts.windows(2).map(|pair| (pair[1] - pair[0]) as u32).collect()
    }

    /// Total weight of each class.
    pub(super) fn totals(&self) -> impl Iterator<Item = f64> {
        self.totals.iter().map(|total| total / self.unit)
    }

    /// The weight of the lightest row, but at most that of an unweighted one; in the units of `weights`.
    pub(super) fn lightest_row(&self) -> f64 {
        self.weights.iter().flatten().copied().fold(self.unit, f64::min)
    }

    /// The scores of one class's column, all rows, class after class.
    pub(super) fn column_values<T: Score>(&self, sample: &ScoredSample<'_, T>, class: usize) -> ColumnValues {
        let column = self.columns[class];
        ColumnValues {
            values: self.order.iter().map(|&row| sample.scores.get(row as usize, column).into()).collect(),
            magnitudes: (sample.magnitudes.largest, sample.magnitudes.smallest_nonzero),
        }
    }
}
