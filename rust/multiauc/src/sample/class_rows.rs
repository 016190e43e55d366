//! The rows that count, class by class: the one order in which rows are weighted, drawn and summed.

use std::ops::Range;

use super::class_sizes::ClassSizes;
use super::scored_sample::ScoredSample;
use crate::error::Result;
use crate::float::Score;
use crate::memory::{split, zeroed};
use crate::parallel::Workers;

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
    /// Groups the rows by one counting sort, a span of rows on each thread.
    pub(crate) fn new<T: Score>(sample: &ScoredSample<'_, T>, workers: &Workers<'_>) -> Result<Self> {
        let sort = CountingSort::new(sample, workers)?;
        let mut starts = vec![0];
        for class in 0..sample.classes() {
            starts.push(starts[class] + sort.count(class));
        }
        let weights = sample.weights.map(|_| sort.by_class(|row| sample.weight(row), workers)).transpose()?;
        Ok(Self {
            present: sample.present_classes().collect(),
            rows: sort.by_class(|row| row as u32, workers)?,
            weights,
            sizes: sample.sizes.clone(),
            unit: sample.weight_scale,
            starts,
        })
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

/// A counting sort by class: spans of rows that are sorted at the same time, and how many rows that count each has of each
/// class.
struct CountingSort<'s, 'a, T> {
    sample: &'s ScoredSample<'a, T>,
    spans: Vec<Range<usize>>,
    counts: Vec<Vec<u64>>,
}

impl<'s, 'a, T: Score> CountingSort<'s, 'a, T> {
    fn new(sample: &'s ScoredSample<'a, T>, workers: &Workers<'_>) -> Result<Self> {
        let spans = workers.row_spans(sample.rows(), 1);
        let counts = if let [_] = spans[..] {
            vec![sample.sizes.rows.clone()]
        } else {
            workers.map(spans.len(), |span| {
                let mut counts = vec![0; sample.classes()];
                sample
                    .codes
                    .for_each(spans[span].clone(), |row, class| counts[class] += u64::from(sample.has_row(row)));
                Ok(counts)
            })?
        };
        Ok(Self { sample, spans, counts })
    }

    /// Rows of a class that count.
    fn count(&self, class: usize) -> usize {
        self.counts.iter().map(|counts| counts[class] as usize).sum()
    }

    /// `value_of(row)` of the rows that count, class by class.
    fn by_class<V: Copy + Default + Send>(
        &self,
        value_of: impl Fn(usize) -> V + Sync,
        workers: &Workers<'_>,
    ) -> Result<Vec<V>> {
        let mut values = zeroed((0..self.sample.classes()).map(|class| self.count(class)).sum());
        // Class by class, the run of each span; then span by span.
        let length = |index: usize| self.counts[index % self.spans.len()][index / self.spans.len()] as usize;
        let by_class = split(&mut values, (0..self.sample.classes() * self.spans.len()).map(length));
        let mut runs: Vec<Vec<_>> = self.spans.iter().map(|_| Vec::new()).collect();
        for (index, run) in by_class.into_iter().enumerate() {
            runs[index % self.spans.len()].push(run.iter_mut());
        }
        workers.map_chunks(&mut runs, 1, |span, runs| {
            let (sample, runs) = (self.sample, &mut runs[0]);
            // A run may be too short if another thread writes to the weights meanwhile.
            let place = |row: usize, class: usize| {
                if let Some(entry) = runs[class].next() {
                    *entry = value_of(row);
                }
            };
            for_each_that_counts(sample, self.spans[span].clone(), place);
            Ok(())
        })?;
        Ok(values)
    }
}

/// Calls `place(row, class)` for the rows that count.
fn for_each_that_counts<T: Score>(
    sample: &ScoredSample<'_, T>,
    rows: Range<usize>,
    mut place: impl FnMut(usize, usize),
) {
    let has_all_rows = sample.rows() as u64 == sample.sizes.rows.iter().sum::<u64>();
    if has_all_rows {
        sample.codes.for_each(rows, place);
    } else {
        sample.codes.for_each(rows, |row, class| {
            if sample.has_row(row) {
                place(row, class);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::Cancel;
    use crate::sample::{ClassCodes, ScoreMatrix};

    /// Rows enough for several spans, of which every eleventh has weight zero: grouped and summed as one by one.
    #[test]
    fn rows_are_grouped_on_any_number_of_threads() {
        const ROWS: usize = 50_000;
        let random = |row: usize| (row as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
        let scores = vec![0.5; 12 * ROWS];
        for classes in [2, 3, 8, 9, 12] {
            let codes: Vec<u8> = (0..ROWS).map(|row| (random(row) % classes as u64) as u8).collect();
            let weight = |row: usize| if row % 11 == 5 { 0.0 } else { 1.0 / (1 + random(row) % 97) as f64 };
            let weights: Vec<f64> = (0..ROWS).map(weight).collect();
            for (weights, threads) in [(None, 1), (None, 3), (Some(&weights[..]), 1), (Some(&weights[..]), 3)] {
                let cancel = Cancel::new();
                let workers = Workers::with_threads(threads, &cancel);
                let matrix = ScoreMatrix::from_rows(&scores[..classes * ROWS], classes).expect("whole rows");
                let sample = ScoredSample::new(matrix, ClassCodes::Bytes(&codes), weights, &workers).expect("a sample");
                let rows = ClassRows::new(&sample, &workers).expect("not cancelled");
                for class in 0..classes {
                    let counts = |&row: &u32| codes[row as usize] as usize == class && sample.has_row(row as usize);
                    let expected: Vec<u32> = (0..ROWS as u32).filter(counts).collect();
                    assert_eq!(rows.of(class), expected);
                    let of_rows: Vec<f64> = expected.iter().map(|&row| sample.weight(row as usize)).collect();
                    assert_eq!(rows.weights_of(class), weights.map(|_| &of_rows[..]));
                    assert_eq!(rows.count(class), expected.len() as u64);
                    assert_eq!(rows.weight(class).to_bits(), of_rows.iter().sum::<f64>().to_bits());
                }
            }
        }
    }
}
