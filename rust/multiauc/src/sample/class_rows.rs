//! The rows that count, class by class: the one order in which rows are weighted, drawn and summed.

use std::ops::Range;

use super::class_sizes::ClassSizes;
use super::scored_sample::ScoredSample;
use crate::float::Score;
use crate::memory::make_room;

/// Rows of positive weight grouped by class; a *position* is a place in this order.
#[derive(Debug, Clone)]
pub(crate) struct ClassRows {
    /// Row numbers, class by class, increasing within a class.
    rows: Vec<u32>,
    /// `starts[class]..starts[class + 1]` are the positions of a class.
    starts: Vec<usize>,
    /// The classes that have rows.
    present: Vec<usize>,
    /// Weights by position, in units that keep their sums in range.
    weights: Option<Vec<f64>>,
    /// Rows and weight of each class, in the same units.
    sizes: ClassSizes,
    /// A weight of 1 in these units.
    unit: f64,
}

impl ClassRows {
    /// Groups the rows by one counting sort.
    pub(crate) fn new<T: Score>(sample: &ScoredSample<'_, T>) -> Self {
        let has_all_rows = sample.rows() as u64 == sample.sizes.rows.iter().sum::<u64>();
        let (rows, starts) = grouped(sample, has_all_rows);
        let (rows, starts) = if has_all_rows { (rows, starts) } else { weighted_only(sample, &rows, &starts) };
        let weights = sample.weights.map(|_| {
            let mut weights = Vec::new();
            make_room(&mut weights, rows.len());
            weights.extend(rows.iter().map(|&row| sample.weight(row as usize)));
            weights
        });
        Self {
            present: sample.present_classes().collect(),
            weights,
            sizes: sample.sizes.clone(),
            unit: sample.weight_scale,
            rows,
            starts,
        }
    }

    /// Rows of given classes, `None` for a row that does not count, with their weights.
    pub(crate) fn of_classes(class_of: &[Option<usize>], classes: usize, weights: Option<&[f64]>) -> Self {
        let mut starts = vec![0; classes + 1];
        class_of.iter().flatten().for_each(|&class| starts[class + 1] += 1);
        let counts: Vec<u64> = starts[1..].iter().map(|&count| count as u64).collect();
        for class in 0..classes {
            starts[class + 1] += starts[class];
        }
        let mut ends = starts.clone();
        let mut rows = vec![0; starts[classes]];
        for (row, class) in (0..).zip(class_of) {
            if let Some(class) = *class {
                rows[ends[class]] = row;
                ends[class] += 1;
            }
        }
        let weights: Option<Vec<f64>> = weights.map(|weights| rows.iter().map(|&row| weights[row as usize]).collect());
        let of_class = |class: usize| match &weights {
            None => counts[class] as f64,
            Some(weights) => weights[starts[class]..starts[class + 1]].iter().sum(),
        };
        Self {
            present: (0..classes).filter(|&class| counts[class] > 0).collect(),
            sizes: ClassSizes { weights: (0..classes).map(of_class).collect(), rows: counts },
            unit: 1.0,
            rows,
            starts,
            weights,
        }
    }

    /// Number of positions.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Number of classes, present or not.
    pub(crate) fn classes(&self) -> usize {
        self.starts.len() - 1
    }

    /// The classes that have rows, in increasing order.
    pub(crate) fn present(&self) -> &[usize] {
        &self.present
    }

    /// The present classes except one.
    pub(crate) fn others(&self, class: usize) -> impl Iterator<Item = usize> + Clone {
        self.present.iter().copied().filter(move |&other| other != class)
    }

    /// The pairs c < d of present classes.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let after = |index: usize| self.present[index + 1..].iter();
        self.present.iter().enumerate().flat_map(move |(index, &c)| after(index).map(move |&d| (c, d)))
    }

    /// The positions of a class.
    pub(crate) fn range(&self, class: usize) -> Range<usize> {
        self.starts[class]..self.starts[class + 1]
    }

    /// The positions of some consecutive classes.
    pub(crate) fn positions(&self, classes: &Range<usize>) -> Range<usize> {
        self.starts[classes.start]..self.starts[classes.end]
    }

    /// Row numbers of a class.
    pub(crate) fn of(&self, class: usize) -> &[u32] {
        &self.rows[self.range(class)]
    }

    /// Row numbers by position.
    pub(crate) fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The class of each position.
    pub(crate) fn class_of(&self) -> Vec<u16> {
        let mut class_of = vec![0; self.len()];
        for &class in &self.present {
            class_of[self.range(class)].fill(class as u16);
        }
        class_of
    }

    /// The weight of a position, 1 where there are none.
    pub(crate) fn mass(&self, position: u32) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[position as usize])
    }

    /// Weights by position, where there are any.
    pub(crate) fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// The weights of a class, where there are any.
    pub(crate) fn weights_of(&self, class: usize) -> Option<&[f64]> {
        self.weights.as_ref().map(|weights| &weights[self.range(class)])
    }

    /// Rows and weight of each class, the weights in units that keep their sums in range.
    pub(crate) fn sizes(&self) -> &ClassSizes {
        &self.sizes
    }

    /// Number of rows of a class.
    pub(crate) fn count(&self, class: usize) -> u64 {
        self.sizes.rows[class]
    }

    /// Weight of a class.
    pub(crate) fn weight(&self, class: usize) -> f64 {
        self.sizes.weights[class]
    }

    /// Weight of all classes.
    pub(crate) fn total_weight(&self) -> f64 {
        self.sizes.weights.iter().sum()
    }

    /// A weight of 1 in the units of `weights`, a power of two.
    pub(crate) const fn unit(&self) -> f64 {
        self.unit
    }

    /// Number of rows of each present class.
    pub(crate) fn present_counts(&self) -> Vec<u32> {
        self.present.iter().map(|&class| self.sizes.rows[class] as u32).collect()
    }

    /// Weight of each present class, in the units of the caller.
    pub(crate) fn present_weights(&self) -> impl Iterator<Item = f64> {
        self.present.iter().map(|&class| self.sizes.weights[class] / self.unit)
    }

    /// The weight of the lightest row, but at most that of an unweighted one; in the units of `weights`.
    pub(crate) fn lightest_row(&self) -> f64 {
        self.weights.iter().flatten().copied().fold(self.unit, f64::min)
    }
}

/// All rows by class, and where each class starts. The sizes of the classes are those of all rows unless some do not count.
fn grouped<T: Score>(sample: &ScoredSample<'_, T>, has_all_rows: bool) -> (Vec<u32>, Vec<usize>) {
    let mut starts = vec![0; sample.classes() + 2];
    if has_all_rows {
        starts[2..].iter_mut().zip(&sample.sizes.rows).for_each(|(start, &rows)| *start = rows as usize);
    } else {
        sample.codes.for_each(0..sample.rows(), |_, class| starts[class + 2] += 1);
    }
    for class in 2..starts.len() {
        starts[class] += starts[class - 1];
    }
    let mut rows = vec![0; sample.rows()];
    sample.codes.for_each(0..sample.rows(), |row, class| {
        rows[starts[class + 1]] = row as u32;
        starts[class + 1] += 1;
    });
    starts.pop();
    (rows, starts)
}

/// The same without the rows of weight zero.
fn weighted_only<T: Score>(sample: &ScoredSample<'_, T>, rows: &[u32], starts: &[usize]) -> (Vec<u32>, Vec<usize>) {
    let mut kept = (Vec::with_capacity(rows.len()), vec![0]);
    for class in starts.windows(2) {
        kept.0.extend(rows[class[0]..class[1]].iter().filter(|&&row| sample.has_row(row as usize)));
        kept.1.push(kept.0.len());
    }
    kept
}
