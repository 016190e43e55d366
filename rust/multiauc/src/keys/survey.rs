//! What the scores of a sample imply for its keys.

use std::ops::Range;

use super::fraction::{
    Fraction, LONG_LATTICES, any_rounded_fraction, common_lattice, lattice_denominators, lowest_common_denominator,
    millionths, nearest_whole, rounded_fractions,
};
use super::fraction_caches::FractionCache;
use crate::error::Result;
use crate::float::Score;
use crate::parallel::Workers;
use crate::sample::{Magnitudes, ScoredSample};
use crate::simd::{Simd, Vectorizable, run_widest};

/// Facts about all scores of some rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Survey {
    /// The coarsest lattice 1/m that holds every score.
    lattice: Option<u32>,
    /// Of some scores looked at first: how many there are, and how many are fractions that doubles can only approximate.
    peeked: usize,
    peeked_fractions: usize,
    /// How many of those are decimals of up to six digits.
    peeked_decimals: usize,
    /// `true` only if known; `false` where it was not worth checking.
    has_only_short_fractions: bool,
    has_no_rounded_fraction: bool,
    magnitudes: Magnitudes,
}

impl Survey {
    /// Surveys a sample: a few scores can rule out a lattice, all of them confirm it.
    pub(crate) fn of<T: Score>(sample: &ScoredSample<'_, T>, workers: &Workers<'_>) -> Result<Self> {
        let peek = Peek::of(sample);
        let lattice = peek.confirmed_lattice(sample, workers)?;
        let mut survey = Self {
            lattice,
            peeked: peek.seen,
            peeked_fractions: peek.fractions,
            peeked_decimals: peek.decimals,
            has_only_short_fractions: lattice.is_some_and(|m| m <= 1000),
            has_no_rounded_fraction: lattice.is_some_and(u32::is_power_of_two),
            magnitudes: sample.magnitudes,
        };
        if lattice.is_none() && !T::IS_SINGLE {
            if survey.is_rich_in_fractions() {
                survey.has_only_short_fractions = all_short_fractions(sample, workers)?;
            } else if survey.has_wide_range::<T>() {
                survey.has_no_rounded_fraction = !has_rounded_fraction(sample, workers)?;
            }
        }
        Ok(survey)
    }

    pub(super) const fn lattice(&self) -> Option<u32> {
        self.lattice
    }

    pub(super) const fn magnitudes(&self) -> Magnitudes {
        self.magnitudes
    }

    /// Whether many of the scores are fractions that doubles can only approximate.
    pub(super) const fn is_rich_in_fractions(&self) -> bool {
        4 * self.peeked_fractions > self.peeked
    }

    /// Whether those are decimals, but for a few.
    pub(super) const fn is_rich_in_decimals(&self) -> bool {
        self.is_rich_in_fractions() && 4 * self.peeked_decimals >= 3 * self.peeked_fractions
    }

    /// Whether every score is known to be a fraction with a denominator of at most 1000.
    pub(super) const fn has_only_short_fractions(&self) -> bool {
        self.has_only_short_fractions
    }

    /// Whether it is known that no score is a fraction that its double only approximates.
    pub(super) const fn has_no_rounded_fraction(&self) -> bool {
        self.has_no_rounded_fraction
    }

    /// Whether the magnitudes of scores are so far apart that small ones vanish in the rounding of large ones.
    pub(super) fn has_wide_range<T: Score>(&self) -> bool {
        let Magnitudes { largest, smallest_nonzero } = self.magnitudes;
        smallest_nonzero < largest * 2_f64.powi(if T::IS_SINGLE { -27 } else { -40 })
    }
}

/// What a few scores suggest about all of them.
struct Peek {
    /// The lattices 1/m that hold the scores seen, in increasing order of m.
    denominators: Vec<u32>,
    seen: usize,
    /// How many of them are fractions that doubles can only approximate.
    fractions: usize,
    /// How many of those are decimals of up to six digits.
    decimals: usize,
}

impl Peek {
    fn of<T: Score>(sample: &ScoredSample<'_, T>) -> Self {
        const CELLS: usize = 32;
        let columns = sample.scores.columns();
        let cells = sample.rows() * columns;
        // Half of them from the beginning, half spread over the whole.
        let first = 0..CELLS.min(cells);
        let spread = (0..CELLS).map(|step| (cells as u128 * step as u128 / CELLS as u128) as usize);
        let scores = first
            .chain(spread)
            .filter(|cell| sample.has_row(cell / columns))
            .map(|cell| sample.scores.get(cell / columns, cell % columns));
        if T::IS_SINGLE {
            return Self { denominators: lattices_of(scores), seen: 0, fractions: 0, decimals: 0 };
        }
        let scores: Vec<f64> = scores.map(Into::into).collect();
        let fractions = rounded_fractions(&scores);
        let decimals = fractions.iter().filter(|&&score| !millionths(score).is_nan()).count();
        let denominators = match lowest_common_denominator(scores.iter().copied()) {
            Some(lowest) => lattice_denominators().filter(|&m| i64::from(m) % lowest == 0).collect(),
            None => Vec::new(),
        };
        Self { denominators, seen: scores.len(), fractions: fractions.len(), decimals }
    }

    /// The coarsest of the lattices that holds every score.
    fn confirmed_lattice<T: Score>(&self, sample: &ScoredSample<'_, T>, workers: &Workers<'_>) -> Result<Option<u32>> {
        let Some(&coarsest) = self.denominators.first() else { return Ok(None) };
        // A finer lattice holds all that the coarser one held.
        let finer = |from: u32, score: T| {
            let multiples = self.denominators.iter().copied().filter(|m| m.is_multiple_of(from));
            multiples.into_iter().find(|&m| is_multiple(score, m))
        };
        let parts = in_spans(sample, workers, |rows| {
            let mut current = Some(coarsest);
            all_blocks(sample, rows, |block| {
                if let Some(m) = current.filter(|&m| !run_widest(AreMultiples { scores: block, m })) {
                    current = block.iter().try_fold(m, |m, &score| finer(m, score));
                }
                current.is_some()
            });
            current
        })?;
        Ok(parts.into_iter().try_fold(coarsest, |a, b| common_lattice(a, b?)))
    }
}

/// Whether no lattice 1/m holds all of these scores.
pub(crate) fn are_on_no_lattice<T: Score>(scores: impl Iterator<Item = T>) -> bool {
    lattices_of(scores).is_empty()
}

/// The lattices 1/m that hold all of some singles, in increasing order of m.
fn lattices_of<T: Score>(singles: impl Iterator<Item = T>) -> Vec<u32> {
    // All lattices hold zero, and most other singles are on none of those that are many.
    let mut singles = singles.filter(|&score| score != T::ZERO);
    let Some(first) = singles.next() else { return lattice_denominators().collect() };
    let mut denominators: Vec<u32> = if Fraction::may_be_of_single(first) {
        lattice_denominators().filter(|&m| is_multiple(first, m)).collect()
    } else {
        LONG_LATTICES.into_iter().filter(|&m| is_multiple(first, m)).collect()
    };
    for score in singles {
        if denominators.is_empty() {
            break;
        }
        denominators.retain(|&m| is_multiple(score, m));
    }
    denominators
}

/// Whether the score is the float nearest to a multiple of 1/m, and m so coarse that this is not by accident.
#[inline(always)]
pub(crate) fn is_multiple<T: Score>(score: T, m: u32) -> bool {
    /// Beyond, every single is a multiple.
    const LARGEST_SINGLE: f64 = 2_097_152.0;
    let value: f64 = score.into();
    let (scaled, m) = (value * f64::from(m), f64::from(m));
    let is_in_range = if T::IS_SINGLE { scaled.abs() <= LARGEST_SINGLE } else { value.abs() < Fraction::LARGEST };
    (T::nearest(nearest_whole(scaled) / m) == score) & is_in_range
}

/// Whether all of some scores are multiples of 1/m.
struct AreMultiples<'b, T> {
    scores: &'b [T],
    m: u32,
}

impl<T: Score> Vectorizable for AreMultiples<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> bool {
        self.scores.iter().fold(true, |all, &score| all & is_multiple(score, self.m))
    }
}

fn all_short_fractions<T: Score>(sample: &ScoredSample<'_, T>, workers: &Workers<'_>) -> Result<bool> {
    let parts = in_spans(sample, workers, |rows| {
        let mut fractions = FractionCache::default();
        all_blocks(sample, rows, |block| {
            block.iter().all(|&score| fractions.get(score.into()).is_some_and(Fraction::is_short))
        })
    })?;
    Ok(parts.into_iter().all(|all| all))
}

/// Whether a score stands for a fraction that its double only approximates.
fn has_rounded_fraction<T: Score>(sample: &ScoredSample<'_, T>, workers: &Workers<'_>) -> Result<bool> {
    let parts = in_spans(sample, workers, |rows| {
        all_blocks(sample, rows, |block| !any_rounded_fraction(block.iter().map(|&score| score.into())))
    })?;
    Ok(!parts.into_iter().all(|none| none))
}

/// `look(rows)` for spans of all rows.
fn in_spans<T: Score, R: Send>(
    sample: &ScoredSample<'_, T>,
    workers: &Workers<'_>,
    look: impl Fn(Range<usize>) -> R + Sync,
) -> Result<Vec<R>> {
    let spans = workers.row_spans(sample.rows(), 8);
    workers.map(spans.len(), |span| Ok(look(spans[span].clone())))
}

/// Whether `holds` for all blocks of the scores of some rows, those of weight zero left out.
fn all_blocks<T: Score>(sample: &ScoredSample<'_, T>, rows: Range<usize>, mut holds: impl FnMut(&[T]) -> bool) -> bool {
    const BLOCK: usize = 256;
    let scores = sample.scores.row_range(rows.start, rows.len());
    if sample.weights.is_none()
        && let Some(all) = scores.as_dense_slice()
    {
        return all.chunks(BLOCK).all(holds);
    }
    if sample.weights.is_none() && scores.is_column_major() {
        let columns: Option<Vec<&[T]>> = (0..scores.columns()).map(|column| scores.contiguous_column(column)).collect();
        if let Some(columns) = columns {
            return columns.into_iter().flat_map(|column| column.chunks(BLOCK)).all(holds);
        }
    }
    let mut block = Vec::with_capacity(BLOCK + scores.columns());
    for row in rows.filter(|&row| sample.has_row(row)) {
        block.extend((0..sample.scores.columns()).map(|column| sample.scores.get(row, column)));
        if block.len() >= BLOCK {
            if !holds(&block) {
                return false;
            }
            block.clear();
        }
    }
    holds(&block)
}
