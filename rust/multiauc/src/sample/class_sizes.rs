//! The class of each row, and how many rows and how much weight each class has.

use crate::error::{Error, Result, RowArray};
use crate::parallel::Workers;
use crate::simd::{Simd, Vectorizable, run_widest};

/// The class of each row as a column number.
#[derive(Debug, Clone, Copy)]
pub enum ClassCodes<'a> {
    /// Up to 256 classes.
    Bytes(&'a [u8]),
    /// Up to 65,536 classes.
    Words(&'a [u16]),
    /// More classes than a dense matrix has columns.
    Longs(&'a [u32]),
}

impl ClassCodes<'_> {
    /// Number of rows.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self {
            Self::Bytes(codes) => codes.len(),
            Self::Words(codes) => codes.len(),
            Self::Longs(codes) => codes.len(),
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
            Self::Longs(codes) => codes[row] as usize,
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
            Self::Longs(codes) => {
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
        let (rows, _) = count_rows(codes, weights, classes, workers)?;
        let weights = match weights {
            None => rows.iter().map(|&rows| rows as f64).collect(),
            Some(weights) => sum_weights(codes, weights, classes, 1.0),
        };
        Ok(Self { rows, weights })
    }

    /// The same with the weights multiplied by a power of two, which is returned too: it makes the largest about 1, so
    /// that products of sums stay in range.
    pub(crate) fn scaled(
        codes: ClassCodes<'_>,
        weights: Option<&[f64]>,
        classes: usize,
        workers: &Workers<'_>,
    ) -> Result<(Self, f64)> {
        let Some(weights) = weights else { return Ok((Self::count(codes, None, classes, workers)?, 1.0)) };
        let (rows, largest) = count_rows(codes, Some(weights), classes, workers)?;
        let scale = power_of_two_below_reciprocal(largest);
        Ok((Self { rows, weights: sum_weights(codes, weights, classes, scale) }, scale))
    }

    /// # Errors
    /// [`Error::TooFewClasses`]; [`Error::VanishingWeights`] if the weights of two classes are too small to be multiplied.
    pub(crate) fn check(&self) -> Result<()> {
        if self.present() < 2 {
            return Err(Error::TooFewClasses { present: self.present() });
        }
        check_weights(self)
    }

    /// Number of classes with rows.
    #[must_use]
    pub fn present(&self) -> usize {
        self.rows.iter().filter(|&&rows| rows > 0).count()
    }
}

/// Rows of each class, those of weight zero left out, and the largest weight.
fn count_rows(
    codes: ClassCodes<'_>,
    weights: Option<&[f64]>,
    classes: usize,
    workers: &Workers<'_>,
) -> Result<(Vec<u64>, f64)> {
    if let Some(weights) = weights
        && weights.len() != codes.len()
    {
        return Err(Error::LengthMismatch { array: RowArray::Weights, rows: codes.len(), found: weights.len() });
    }
    let spans = workers.row_spans(codes.len(), 8);
    let parts = workers.map(spans.len(), |span| {
        let rows = spans[span].clone();
        let mut counts = count_codes(codes, rows.clone(), classes)?;
        let Some(weights) = weights else { return Ok((counts, 1.0)) };
        let WeightRange { smallest, largest, are_valid } = run_widest(FindWeightRange(&weights[rows.clone()]));
        if !are_valid {
            let is_valid = |row: &usize| weights[*row].is_finite() && weights[*row] >= 0.0;
            let row = rows.clone().find(|row| !is_valid(row)).unwrap_or(rows.start);
            return Err(Error::InvalidWeight { row, value: weights[row] });
        }
        if smallest == 0.0 {
            codes.for_each(rows, |row, class| counts[class] -= u64::from(weights[row] == 0.0));
        }
        Ok((counts, largest))
    })?;
    let rows = (0..classes).map(|class| parts.iter().map(|(counts, _)| counts[class]).sum()).collect();
    Ok((rows, parts.iter().fold(0.0, |largest, part| part.1.max(largest))))
}

/// The range of some weights.
struct WeightRange {
    smallest: f64,
    largest: f64,
    /// Whether all are finite and none is negative.
    are_valid: bool,
}

struct FindWeightRange<'w>(&'w [f64]);

impl Vectorizable for FindWeightRange<'_> {
    type Output = WeightRange;

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> WeightRange {
        const LANES: usize = 8;
        let (mut smallest, mut largest, mut are_valid) = ([f64::INFINITY; LANES], [0.0; LANES], [true; LANES]);
        for weights in self.0.chunks(LANES) {
            for (lane, &weight) in weights.iter().enumerate() {
                are_valid[lane] &= (0.0..f64::INFINITY).contains(&weight);
                smallest[lane] = if weight < smallest[lane] { weight } else { smallest[lane] };
                largest[lane] = if weight > largest[lane] { weight } else { largest[lane] };
            }
        }
        WeightRange {
            smallest: smallest.into_iter().fold(f64::INFINITY, f64::min),
            largest: largest.into_iter().fold(0.0, f64::max),
            are_valid: are_valid == [true; LANES],
        }
    }
}

/// The weight of each class, every weight multiplied by `scale`. Serial and row by row, so that neither the number of
/// threads nor rows of weight zero change the sums.
fn sum_weights(codes: ClassCodes<'_>, weights: &[f64], classes: usize, scale: f64) -> Vec<f64> {
    if let ClassCodes::Bytes(codes) = codes
        && classes <= FEW_CLASSES
    {
        return run_widest(SumFew { codes, weights, scale })[..classes].to_vec();
    }
    let mut sums = vec![0.0; classes];
    codes.for_each(0..codes.len(), |row, code| sums[code] += weights[row] * scale);
    sums
}

/// So many sums stay in registers.
const FEW_CLASSES: usize = 8;

/// The work of `sum_weights` for few classes, all of which a row adds to, most of them zero: in memory, a row would wait
/// until the sum of the row before it, of the same class, was written.
struct SumFew<'s> {
    codes: &'s [u8],
    weights: &'s [f64],
    scale: f64,
}

impl Vectorizable for SumFew<'_> {
    type Output = [f64; FEW_CLASSES];

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> [f64; FEW_CLASSES] {
        let mut sums = [0.0; FEW_CLASSES];
        for (&code, &weight) in self.codes.iter().zip(self.weights) {
            let (code, weight) = (u64::from(code), weight * self.scale);
            for (class, sum) in (0..).zip(&mut sums) {
                *sum += if class == code { weight } else { 0.0 };
            }
        }
        sums
    }
}

fn count_codes(codes: ClassCodes<'_>, rows: std::ops::Range<usize>, classes: usize) -> Result<Vec<u64>> {
    /// Of fewer rows one table is made, which is quicker to sum.
    const MANY_ROWS: usize = 1 << 13;
    let width = match codes {
        ClassCodes::Bytes(_) => 1 << 8,
        ClassCodes::Words(_) => 1 << 16,
        ClassCodes::Longs(codes) => return count_long_codes(codes, rows, classes),
    };
    // Four tables in turn: in a single one, each of a run of equal codes would wait for the increment before.
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

/// Codes of so many classes are far from each other, and a table as wide as their type would be large.
fn count_long_codes(codes: &[u32], rows: std::ops::Range<usize>, classes: usize) -> Result<Vec<u64>> {
    let mut counts = vec![0; classes];
    for (row, &code) in rows.clone().zip(&codes[rows]) {
        let code = code as usize;
        *counts.get_mut(code).ok_or(Error::CodeOutOfRange { row, code, classes })? += 1;
    }
    Ok(counts)
}

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
pub(crate) fn power_of_two_below_reciprocal(largest: f64) -> f64 {
    // Zero and subnormal weights get the largest scale.
    2_f64.powi(-largest.log2().floor().clamp(-1000.0, 1000.0) as i32)
}
