//! The stored scores of a sample, checked and laid out by columns.

use std::ops::Range;

use super::sparse_scores::{RowReader, SparseScores};
use crate::error::{Error, Result, RowArray};
use crate::float::Score;
use crate::parallel::Workers;
use crate::sample::{ClassCodes, ClassSizes};

/// Rows read between two looks at the cancel flag.
const ROWS_AT_A_TIME: usize = 1 << 13;

/// Stored scores by column, with the class and the weight of each row. Rows of weight zero and columns of absent classes
/// are left out.
#[derive(Debug)]
pub struct SparseSample<'a, T> {
    codes: ClassCodes<'a>,
    weights: Option<&'a [f64]>,
    weight_scale: f64,
    sizes: ClassSizes,
    /// All rows.
    all: Side,
    /// How many classes have rows.
    present: u64,
    /// By class the weight of all others.
    rest_weights: Vec<f64>,
    /// `starts[class]..starts[class + 1]` are the entries of the column of a class.
    starts: Vec<usize>,
    /// Rows of the entries, increasing within a column.
    rows: Vec<u32>,
    values: Vec<T>,
    has_single_score: bool,
}

/// Some rows: how many, and how much they weigh.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Side {
    pub rows: u64,
    pub weight: f64,
}

impl Side {
    pub(super) fn plus(self, other: Self) -> Self {
        Self { rows: self.rows + other.rows, weight: self.weight + other.weight }
    }

    /// Without some of its rows. Rounding leaves no weight where there are no rows, and never a negative one.
    pub(super) fn without(self, part: Self) -> Self {
        let rows = self.rows - part.rows;
        Self { rows, weight: if rows == 0 { 0.0 } else { (self.weight - part.weight).max(0.0) } }
    }
}

impl<'a, T: Score> SparseSample<'a, T> {
    /// Checks everything once, and copies the stored scores. A single column scores the second of two classes.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::NonFiniteScore`], [`Error::ColumnOutOfRange`],
    /// [`Error::RowStartsOutOfBounds`], [`Error::CodeOutOfRange`], [`Error::InvalidWeight`], [`Error::TooFewClasses`],
    /// [`Error::VanishingWeights`], [`Error::Cancelled`].
    pub fn new(
        scores: SparseScores<'_, T>,
        codes: ClassCodes<'a>,
        weights: Option<&'a [f64]>,
        workers: &Workers<'_>,
    ) -> Result<Self> {
        if codes.len() != scores.rows() {
            return Err(Error::LengthMismatch { array: RowArray::Codes, rows: scores.rows(), found: codes.len() });
        }
        let has_single_score = scores.columns() == 1;
        let classes = if has_single_score { 2 } else { scores.columns() };
        let (sizes, weight_scale) = ClassSizes::scaled(codes, weights, classes, workers)?;
        let mut sample = Self {
            all: Side { rows: sizes.rows.iter().sum(), weight: sizes.weights.iter().sum() },
            present: sizes.present() as u64,
            rest_weights: sums_of_others(&sizes.weights),
            starts: vec![0; classes + 1],
            rows: Vec::new(),
            values: Vec::new(),
            codes,
            weights,
            weight_scale,
            sizes,
            has_single_score,
        };
        sample.gather(scores, workers)?;
        sample.sizes.check()?;
        Ok(sample)
    }

    /// Copies the stored scores by one counting sort.
    fn gather(&mut self, scores: SparseScores<'_, T>, workers: &Workers<'_>) -> Result<()> {
        let mut starts = vec![0; self.classes() + 2];
        for_each_row(scores, workers, |row, cells| {
            if self.has_row(row) {
                let columns = cells.iter().map(|&(column, _)| self.class_of_column(column));
                columns.for_each(|class| starts[class + 2] += usize::from(self.has_class(class)));
            }
            Ok(())
        })?;
        for class in 2..starts.len() {
            starts[class] += starts[class - 1];
        }
        let stored = starts[starts.len() - 1];
        let (mut rows, mut values) = (vec![0; stored], vec![T::ZERO; stored]);
        for_each_row(scores, workers, |row, cells| {
            if !self.has_row(row) {
                return Ok(());
            }
            for &(column, value) in cells {
                if !value.widened().is_finite() {
                    return Err(Error::NonFiniteScore { row, column: column as usize, value: value.widened() });
                }
                let class = self.class_of_column(column);
                if !self.has_class(class) {
                    continue;
                }
                let place = starts[class + 1];
                // Out of bounds only if another thread changes the scores in the meantime.
                *rows.get_mut(place).ok_or(Error::RowStartsOutOfBounds { row })? = row as u32;
                values[place] = value;
                starts[class + 1] += 1;
            }
            Ok(())
        })?;
        starts.pop();
        (self.starts, self.rows, self.values) = (starts, rows, values);
        Ok(())
    }

    const fn class_of_column(&self, column: u32) -> usize {
        if self.has_single_score { 1 } else { column as usize }
    }

    /// Whether one score per row, that of the second of two classes, stands for both.
    pub(super) const fn has_single_score(&self) -> bool {
        self.has_single_score
    }

    pub(super) const fn is_weighted(&self) -> bool {
        self.weights.is_some()
    }

    /// Number of classes, present or not.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.sizes.rows.len()
    }

    pub(super) const fn sizes(&self) -> &ClassSizes {
        &self.sizes
    }

    pub(super) fn has_class(&self, class: usize) -> bool {
        self.sizes.rows[class] > 0
    }

    /// Number of classes that have rows.
    pub(super) const fn present(&self) -> u64 {
        self.present
    }

    fn has_row(&self, row: usize) -> bool {
        self.weights.is_none_or(|weights| weights[row] > 0.0)
    }

    /// A row as a side.
    #[inline]
    pub(super) fn side_of_row(&self, row: u32) -> Side {
        Side { rows: 1, weight: self.weights.map_or(1.0, |weights| weights[row as usize] * self.weight_scale) }
    }

    /// The rows of a class.
    pub(super) fn side_of_class(&self, class: usize) -> Side {
        Side { rows: self.sizes.rows[class], weight: self.sizes.weights[class] }
    }

    /// The rows of all other classes.
    pub(super) fn side_of_rest(&self, class: usize) -> Side {
        Side { rows: self.all.rows - self.sizes.rows[class], weight: self.rest_weights[class] }
    }

    /// All rows.
    pub(super) const fn all(&self) -> Side {
        self.all
    }

    /// The stored entries of the column of a class: (row, its class, score), by increasing row.
    pub(super) fn column(&self, class: usize) -> impl Iterator<Item = (u32, usize, T)> + Clone {
        let entries = self.starts[class]..self.starts[class + 1];
        let rows = self.rows[entries.clone()].iter();
        rows.zip(&self.values[entries]).map(|(&row, &value)| (row, self.codes.get(row as usize), value))
    }

    /// The classes whose columns rank rows, in runs with about the same number of entries: the same runs for any number of
    /// threads.
    pub(super) fn runs_of_columns(&self) -> Vec<Range<usize>> {
        /// Entries of a run, and columns.
        const LONGEST: usize = 1 << 15;
        let first = usize::from(self.has_single_score);
        let mut runs = Vec::new();
        let mut start = first;
        for class in first..self.classes() {
            let is_full = self.starts[class + 1] - self.starts[start] + (class - start) >= LONGEST;
            if is_full || class + 1 == self.classes() {
                runs.push(start..class + 1);
                start = class + 1;
            }
        }
        runs
    }
}

fn for_each_row<T: Score>(
    scores: SparseScores<'_, T>,
    workers: &Workers<'_>,
    mut visit: impl FnMut(usize, &[(u32, T)]) -> Result<()>,
) -> Result<()> {
    let mut reader = RowReader::default();
    for row in 0..scores.rows() {
        if row % ROWS_AT_A_TIME == 0 {
            workers.check()?;
        }
        visit(row, scores.read_row(row, &mut reader)?)?;
    }
    Ok(())
}

/// For each weight the sum of the others, which is no difference: it keeps its digits beside a weight that is much larger.
fn sums_of_others(weights: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; weights.len()];
    let mut after = 0.0;
    for (sum, weight) in sums.iter_mut().zip(weights).rev() {
        *sum = after;
        after += weight;
    }
    let mut before = 0.0;
    for (sum, weight) in sums.iter_mut().zip(weights) {
        *sum += before;
        before += weight;
    }
    sums
}
