//! The input, checked on construction: finite scores, codes that name columns, weights that are not negative.

use super::score_matrix::ScoreMatrix;
use crate::error::{Error, Result, RowArray};
use crate::float::Score;
use crate::parallel::Workers;
use crate::simd::{Simd, Vectorizable, run_widest};

/// The class of each row as a column number.
#[derive(Debug, Clone, Copy)]
pub enum ClassCodes<'a> {
    /// Up to 256 classes.
    Bytes(&'a [u8]),
    /// Up to 65,536 classes.
    Words(&'a [u16]),
}

impl ClassCodes<'_> {
    /// Number of rows.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self {
            Self::Bytes(codes) => codes.len(),
            Self::Words(codes) => codes.len(),
        }
    }

    /// Whether there are no rows.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The class of a row.
    #[inline]
    #[must_use]
    pub fn get(&self, row: usize) -> usize {
        match self {
            Self::Bytes(codes) => codes[row] as usize,
            Self::Words(codes) => codes[row] as usize,
        }
    }

    /// Calls `visit(row, class)` for the rows of a range, in order.
    #[inline]
    pub(crate) fn for_each(&self, rows: std::ops::Range<usize>, mut visit: impl FnMut(usize, usize)) {
        match self {
            Self::Bytes(codes) => {
                rows.clone().zip(&codes[rows]).for_each(|(row, &code)| visit(row, code as usize));
            }
            Self::Words(codes) => {
                rows.clone().zip(&codes[rows]).for_each(|(row, &code)| visit(row, code as usize));
            }
        }
    }
}

/// Rows and weight of each class, rows of weight zero left out.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassSizes {
    /// Number of rows of each class.
    pub rows: Vec<u64>,
    /// Sum of the weights of each class; the number of rows where there are no weights.
    pub weights: Vec<f64>,
}

impl ClassSizes {
    /// Counts the rows of each of `classes` classes.
    ///
    /// # Errors
    /// [`Error::CodeOutOfRange`], [`Error::InvalidWeight`], [`Error::LengthMismatch`], [`Error::Cancelled`].
    pub fn count(
        codes: ClassCodes<'_>,
        weights: Option<&[f64]>,
        classes: usize,
        workers: &Workers<'_>,
    ) -> Result<Self> {
        if let Some(weights) = weights {
            return Self::count_weighted(codes, weights, classes, 1.0);
        }
        let spans = workers.row_spans(codes.len(), 8);
        let parts = workers.map(spans.len(), |span| count_codes(codes, spans[span].clone(), classes))?;
        let rows: Vec<u64> = (0..classes).map(|class| parts.iter().map(|part| part[class]).sum()).collect();
        let weights = rows.iter().map(|&rows| rows as f64).collect();
        Ok(Self { rows, weights })
    }

    /// Multiplies the weights by `scale`. Serial, so that the sums do not depend on the number of threads.
    fn count_weighted(codes: ClassCodes<'_>, weights: &[f64], classes: usize, scale: f64) -> Result<Self> {
        if weights.len() != codes.len() {
            return Err(Error::LengthMismatch { array: RowArray::Weights, rows: codes.len(), found: weights.len() });
        }
        if let Some(row) = weights.iter().position(|weight| !(weight.is_finite() && *weight >= 0.0)) {
            return Err(Error::InvalidWeight { row, value: weights[row] });
        }
        let mut sizes = Self { rows: vec![0; classes], weights: vec![0.0; classes] };
        for (row, &weight) in weights.iter().enumerate() {
            let code = codes.get(row);
            if code >= classes {
                return Err(Error::CodeOutOfRange { row, code, classes });
            }
            sizes.rows[code] += u64::from(weight > 0.0);
            sizes.weights[code] += weight * scale;
        }
        Ok(sizes)
    }

    /// Number of classes with rows.
    #[must_use]
    pub fn present(&self) -> usize {
        self.rows.iter().filter(|&&rows| rows > 0).count()
    }
}

fn count_codes(codes: ClassCodes<'_>, rows: std::ops::Range<usize>, classes: usize) -> Result<Vec<u64>> {
    /// Of fewer rows one table is made, which is quicker to sum.
    const MANY_ROWS: usize = 1 << 13;
    // Four tables in turn: in a single one, each of a run of equal codes would wait for the increment before.
    let width = if let ClassCodes::Bytes(_) = codes { 1 << 8 } else { 1 << 16 };
    let tables = if rows.len() < MANY_ROWS { 1 } else { 4 };
    let mut counts = vec![0_u64; width * tables];
    codes.for_each(rows.clone(), |row, class| counts[(row & (tables - 1)) * width + class] += 1);
    let (first, others) = counts.split_at(width);
    let mut total = first.to_vec();
    for table in others.chunks(width) {
        total.iter_mut().zip(table).for_each(|(sum, count)| *sum += count);
    }
    if total.iter().skip(classes).any(|&count| count > 0) {
        let row = rows.clone().find(|&row| codes.get(row) >= classes).unwrap_or(rows.start);
        return Err(Error::CodeOutOfRange { row, code: codes.get(row), classes });
    }
    total.resize(classes, 0);
    Ok(total)
}

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
        let (sizes, weight_scale) = match weights {
            None => (ClassSizes::count(codes, None, classes, workers)?, 1.0),
            Some(weights) => {
                let scale = power_of_two_below_reciprocal(weights);
                (ClassSizes::count_weighted(codes, weights, classes, scale)?, scale)
            }
        };
        let magnitudes = check_finite(&scores, weights, workers)?;
        if sizes.present() < 2 {
            return Err(Error::TooFewClasses { present: sizes.present() });
        }
        check_weights(&sizes)?;
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

/// # Errors
/// [`Error::VanishingWeights`] if the weights of two classes are too small to be multiplied.
fn check_weights(sizes: &ClassSizes) -> Result<()> {
    /// Far enough from the smallest double that products of parts of the weights keep their digits.
    const SMALLEST_PRODUCT: f64 = 1e-280;
    let mut present: Vec<usize> = (0..sizes.rows.len()).filter(|&class| sizes.rows[class] > 0).collect();
    present.sort_by(|&a, &b| sizes.weights[a].total_cmp(&sizes.weights[b]));
    match present[..] {
        [c, d, ..] if sizes.weights[c] * sizes.weights[d] < SMALLEST_PRODUCT => {
            Err(Error::VanishingWeights { classes: [c.min(d), c.max(d)] })
        }
        _ => Ok(()),
    }
}

/// 2^−k for the largest weight's exponent k; scaling by it is exact.
fn power_of_two_below_reciprocal(weights: &[f64]) -> f64 {
    let largest = weights.iter().copied().fold(0.0, f64::max);
    // Infinite and NaN weights are refused later; zero and subnormal ones get the largest scale.
    if largest.is_finite() { 2_f64.powi(-largest.log2().floor().clamp(-1000.0, 1000.0) as i32) } else { 1.0 }
}

/// Finds the range of magnitudes, or the first score that is not finite. Rows of weight zero are ignored.
fn check_finite<T: Score>(
    scores: &ScoreMatrix<'_, T>,
    weights: Option<&[f64]>,
    workers: &Workers<'_>,
) -> Result<Magnitudes> {
    if let Some(weights) = weights.filter(|weights| weights.contains(&0.0)) {
        let rows = (0..scores.rows()).filter(|&row| weights[row] > 0.0);
        let mut range = MagnitudeRange::new();
        for row in rows {
            for column in 0..scores.columns() {
                let score = scores.get(row, column);
                if !score.widened().is_finite() {
                    return Err(Error::NonFiniteScore { row, column, value: score.widened() });
                }
                range.extend(&[score]);
            }
        }
        return range.finish().ok_or(Error::NonFiniteScore { row: 0, column: 0, value: f64::NAN });
    }
    let spans = workers.row_spans(scores.rows(), 8);
    let parts = workers.map(spans.len(), |span| {
        let rows = spans[span].clone();
        let part = scores.row_range(rows.start, rows.len());
        magnitudes_of(&part).ok_or_else(|| first_non_finite(&part, rows.start))
    })?;
    Ok(parts.into_iter().fold(Magnitudes { largest: 0.0, smallest_nonzero: f64::INFINITY }, Magnitudes::merge))
}

/// `None` if a score is not finite.
fn magnitudes_of<T: Score>(scores: &ScoreMatrix<'_, T>) -> Option<Magnitudes> {
    let mut range = MagnitudeRange::new();
    if let Some(all) = scores.as_dense_slice() {
        range.extend(all);
    } else if !scores.is_column_major() {
        for row in 0..scores.rows() {
            if let Some(whole) = scores.contiguous_row(row) {
                range.extend(whole);
            } else {
                (0..scores.columns()).for_each(|column| range.extend(&[scores.get(row, column)]));
            }
        }
    } else {
        for column in 0..scores.columns() {
            if let Some(whole) = scores.contiguous_column(column) {
                range.extend(whole);
            } else {
                (0..scores.rows()).for_each(|row| range.extend(&[scores.get(row, column)]));
            }
        }
    }
    range.finish()
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

fn first_non_finite<T: Score>(scores: &ScoreMatrix<'_, T>, first_row: usize) -> Error {
    for row in 0..scores.rows() {
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
