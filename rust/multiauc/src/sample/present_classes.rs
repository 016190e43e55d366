//! The classes that have rows, and their rows one class after the other.

use std::ops::Range;

use crate::float::Score;
use crate::sample::GroupedRows;
use crate::sample::ScoredSample;

/// Rows of positive weight grouped by class; classes are numbered among those that have any.
#[derive(Debug, Clone)]
pub(crate) struct PresentClasses {
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
    pub(crate) fn new<T: Score>(sample: &ScoredSample<'_, T>) -> Self {
        let grouped = GroupedRows::new(sample);
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

    pub(crate) fn count(&self) -> usize {
        self.originals.len()
    }

    pub(crate) fn originals(&self) -> &[usize] {
        &self.originals
    }

    pub(crate) fn columns(&self) -> &[usize] {
        &self.columns
    }

    pub(crate) fn is_weighted(&self) -> bool {
        self.weights.is_some()
    }

    /// Places of a class's rows.
    pub(crate) fn rows_of(&self, class: usize) -> Range<usize> {
        self.starts[class]..self.starts[class + 1]
    }

    /// Number of rows of all classes.
    pub(crate) fn rows(&self) -> usize {
        self.order.len()
    }

    /// Row numbers at some places.
    pub(crate) fn row_numbers(&self, places: Range<usize>) -> &[u32] {
        &self.order[places]
    }

    /// Weights at all places.
    pub(crate) fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    pub(crate) fn weights_of(&self, class: usize) -> Option<&[f64]> {
        self.weights.as_ref().map(|weights| &weights[self.rows_of(class)])
    }

    pub(crate) fn sizes(&self) -> Vec<u32> {
        self.starts.windows(2).map(|pair| (pair[1] - pair[0]) as u32).collect()
    }

    /// Total weight of each class.
    pub(crate) fn totals(&self) -> impl Iterator<Item = f64> {
        self.totals.iter().map(|total| total / self.unit)
    }

    /// The weight of the lightest row, but at most that of an unweighted one; in the units of `weights`.
    pub(crate) fn lightest_row(&self) -> f64 {
        self.weights.iter().flatten().copied().fold(self.unit, f64::min)
    }
}
