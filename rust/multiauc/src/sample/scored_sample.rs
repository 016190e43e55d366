//! The input, checked on construction: finite scores, codes that name columns, weights that are not negative.

use super::class_sizes::{ClassCodes, ClassSizes};
use super::score_matrix::ScoreMatrix;
use crate::error::{Error, Result, RowArray};
use crate::float::Score;
use crate::parallel::Workers;
use crate::simd::{Simd, Vectorizable, run_widest};

/// Scores with the class and the weight of each row.
#[derive(Debug, Clone)]
pub struct ScoredSample<'a, T> {
    /// The scores, all finite.
    pub(crate) scores: ScoreMatrix<'a, T>,
    /// The classes, all of which are columns.
    pub(crate) codes: ClassCodes<'a>,
    /// The weights, none negative; `None` counts every row once.
    pub(crate) weights: Option<&'a [f64]>,
    /// A power of two that makes the largest weight about 1, so that products of sums stay in range.
    pub(crate) weight_scale: f64,
    /// Rows and (scaled) weights of the classes, at least two of which are present.
    pub(crate) sizes: ClassSizes,
    /// Largest and smallest non-zero magnitude of a score.
    pub(crate) magnitudes: Magnitudes,
}

/// The range of the scores' magnitudes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Magnitudes {
    pub largest: f64,
    pub smallest_nonzero: f64,
}

impl Magnitudes {
    /// The range of both.
    pub(crate) const fn merge(self, other: Self) -> Self {
        Self {
            largest: self.largest.max(other.largest),
            smallest_nonzero: self.smallest_nonzero.min(other.smallest_nonzero),
        }
    }
}

impl<'a, T: Score> ScoredSample<'a, T> {
    /// Checks everything once. A single column scores the second of two classes: it stands for the columns (−s, s),
    /// which rank the rows in opposite orders.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::NonFiniteScore`], [`Error::CodeOutOfRange`], [`Error::InvalidWeight`],
    /// [`Error::TooFewClasses`], [`Error::Cancelled`].
    pub fn new(
        scores: ScoreMatrix<'a, T>,
        codes: ClassCodes<'a>,
        weights: Option<&'a [f64]>,
        workers: &Workers<'_>,
    ) -> Result<Self> {
        if codes.len() != scores.rows() {
            return Err(Error::LengthMismatch { array: RowArray::Codes, rows: scores.rows(), found: codes.len() });
        }
        let classes = if scores.columns() == 1 { 2 } else { scores.columns() };
        let (sizes, weight_scale) = ClassSizes::scaled(codes, weights, classes, workers)?;
        let magnitudes = check_finite(&scores, weights, workers)?;
        sizes.check()?;
        let scores = if scores.columns() == 1 { scores.mirrored() } else { scores };
        Ok(Self { scores, codes, weights, weight_scale, sizes, magnitudes })
    }

    /// Whether one score per row, that of the second of two classes, stands for both.
    #[must_use]
    pub const fn has_single_score(&self) -> bool {
        self.scores.is_mirrored()
    }

    /// Number of rows.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.scores.rows()
    }

    /// Number of classes, present or not.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.sizes.rows.len()
    }

    /// The classes that have rows, in increasing order.
    pub(crate) fn present_classes(&self) -> impl Iterator<Item = usize> + Clone {
        (0..self.classes()).filter(|&class| self.sizes.rows[class] > 0)
    }

    /// The pairs c < d of classes that have rows.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let after = |c: usize| self.present_classes().filter(move |&d| d > c);
        self.present_classes().flat_map(move |c| after(c).map(move |d| (c, d)))
    }

    /// Whether the row counts: rows of weight zero are ignored.
    #[inline]
    pub(crate) fn has_row(&self, row: usize) -> bool {
        self.weights.is_none_or(|weights| weights[row] > 0.0)
    }

    /// The scaled weight of a row.
    #[inline]
    pub(crate) fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[row] * self.weight_scale)
    }

    /// Rows and weights of the classes; the weights are scaled, which leaves their ratios unchanged.
    #[must_use]
    pub const fn sizes(&self) -> &ClassSizes {
        &self.sizes
    }
}

/// Finds the range of magnitudes, or the first score that is not finite. Rows of weight zero are ignored.
fn check_finite<T: Score>(
    scores: &ScoreMatrix<'_, T>,
    weights: Option<&[f64]>,
    workers: &Workers<'_>,
) -> Result<Magnitudes> {
    let weights = weights.filter(|weights| weights.contains(&0.0));
    let spans = workers.row_spans(scores.rows(), 8);
    let parts = workers.map(spans.len(), |span| {
        let rows = spans[span].clone();
        let part = scores.row_range(rows.start, rows.len());
        let weights = weights.map(|weights| &weights[rows.clone()]);
        let mut range = MagnitudeRange::new();
        match weights {
            None => range.extend_by(&part),
            Some(weights) => {
                let mut first = 0;
                for run in weights.chunk_by(|a, b| (*a > 0.0) == (*b > 0.0)) {
                    if run[0] > 0.0 {
                        range.extend_by(&part.row_range(first, run.len()));
                    }
                    first += run.len();
                }
            }
        }
        range.finish().ok_or_else(|| first_non_finite(&part, weights, rows.start))
    })?;
    Ok(parts.into_iter().fold(Magnitudes { largest: 0.0, smallest_nonzero: f64::INFINITY }, Magnitudes::merge))
}

/// Running magnitudes in lanes that the compiler turns into vector registers.
struct MagnitudeRange<T> {
    largest: [T; LANES],
    smallest: [T; LANES],
    /// Sum of 0·x: zero while every score is finite, NaN from the first that is not.
    poison: [T; LANES],
}

const LANES: usize = 16;

impl<T: Score> MagnitudeRange<T> {
    fn new() -> Self {
        Self { largest: [T::ZERO; LANES], smallest: [T::INFINITY; LANES], poison: [T::ZERO; LANES] }
    }

    /// Extends it by all scores of a matrix.
    fn extend_by(&mut self, scores: &ScoreMatrix<'_, T>) {
        if let Some(all) = scores.as_dense_slice() {
            self.extend(all);
        } else if !scores.is_column_major() {
            for row in 0..scores.rows() {
                if let Some(whole) = scores.contiguous_row(row) {
                    self.extend(whole);
                } else {
                    (0..scores.columns()).for_each(|column| self.extend(&[scores.get(row, column)]));
                }
            }
        } else {
            for column in 0..scores.columns() {
                if let Some(whole) = scores.contiguous_column(column) {
                    self.extend(whole);
                } else {
                    (0..scores.rows()).for_each(|row| self.extend(&[scores.get(row, column)]));
                }
            }
        }
    }

    fn extend(&mut self, values: &[T]) {
        run_widest(Extend { range: self, values });
    }

    #[inline(always)]
    fn extend_lanes(&mut self, values: &[T; LANES]) {
        for (lane, &value) in values.iter().enumerate() {
            let magnitude = value.magnitude();
            self.poison[lane] = self.poison[lane].plus(value.times(T::ZERO));
            self.largest[lane] = if magnitude > self.largest[lane] { magnitude } else { self.largest[lane] };
            let candidate = if magnitude == T::ZERO { T::INFINITY } else { magnitude };
            self.smallest[lane] = if candidate < self.smallest[lane] { candidate } else { self.smallest[lane] };
        }
    }

    /// `None` if a score is not finite.
    fn finish(self) -> Option<Magnitudes> {
        if self.poison.iter().any(|&lane| lane != T::ZERO) {
            return None;
        }
        let fold = |lanes: [T; LANES], pick: fn(f64, f64) -> f64| lanes.map(Into::into).into_iter().reduce(pick);
        Some(Magnitudes { largest: fold(self.largest, f64::max)?, smallest_nonzero: fold(self.smallest, f64::min)? })
    }
}

/// Extends a range by some scores.
struct Extend<'r, T> {
    range: &'r mut MagnitudeRange<T>,
    values: &'r [T],
}

impl<T: Score> Vectorizable for Extend<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Self { range, values } = self;
        let (blocks, rest) = values.as_chunks::<LANES>();
        for block in blocks {
            range.extend_lanes(block);
        }
        for &value in rest {
            let mut lanes = [T::ZERO; LANES];
            lanes[0] = value;
            range.extend_lanes(&lanes);
        }
    }
}

fn first_non_finite<T: Score>(scores: &ScoreMatrix<'_, T>, weights: Option<&[f64]>, first_row: usize) -> Error {
    for row in (0..scores.rows()).filter(|&row| weights.is_none_or(|weights| weights[row] > 0.0)) {
        for column in 0..scores.columns() {
            let value: f64 = scores.get(row, column).into();
            if !value.is_finite() {
                return Error::NonFiniteScore { row: first_row + row, column, value };
            }
        }
    }
    // Only reached if another thread changed the scores in the meantime.
    Error::NonFiniteScore { row: first_row, column: 0, value: f64::NAN }
}
