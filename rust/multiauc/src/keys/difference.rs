//! The key of a difference p_c − p_d, and when two of them tie.
//!
//! A row's key is the real number κ = r_c − r_d, where r is the score itself or the fraction it stands for. Ranking uses
//! a double close to κ; rows whose doubles are too close to tell are compared by [`ExactKey`]. Three rules give the
//! doubles:
//!
//! * *lattice*: all scores are multiples of one 1/m; the keys are whole numbers, and equal keys tie;
//! * *fractions*: many scores are fractions of different denominators; the key is the double nearest to κ;
//! * *plain*: the rest; the key is the rounded difference, and keys within a few units in the last place are looked at
//!   again, in case fractions hide among them.

use crate::error::Result;
use crate::float::Score;
use crate::keys::{ExactKey, rounding_of_difference};
use crate::keys::{Fraction, FractionCache, MOST_DENOMINATOR, any_rounded_fraction, common_denominator};
use crate::parallel::Workers;
use crate::sample::{ScoredSample, row_spans};

/// How differences become keys, for one sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DifferenceRule {
    kind: Kind,
    /// Keys closer than this are compared exactly; `None`: equal keys tie, all others differ.
    pub(crate) near: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// Whole multiples of 1/m.
    Lattice(f64),
    /// Each score is looked up as a fraction.
    Fractions,
    /// Scores times this factor, 1 except where differences would overflow; fractions are looked for (not in `f32`).
    Plain { factor: f64, is_single: bool },
}

impl DifferenceRule {
    /// Rounded differences, and rounding decides between them: what exactness is measured against.
    pub(crate) const ROUNDED: Self = Self { kind: Kind::Plain { factor: 1.0, is_single: false }, near: None };

    /// The rule for a sample: a few scores rule a lattice out, all of them confirm it.
    pub(crate) fn of<T: Score>(sample: &ScoredSample<'_, T>, workers: &Workers<'_>) -> Result<Self> {
        let survey = Survey::of(sample);
        if let Some(denominator) = survey.confirmed_lattice(sample, workers)? {
            return Ok(Self { kind: Kind::Lattice(f64::from(denominator)), near: None });
        }
        let largest = sample.magnitudes.largest;
        let factor = if largest > f64::MAX / 4.0 { 0.25 } else { 1.0 };
        // Each of two keys is off by at most half a unit in the last place of both operands and of the difference.
        let rounding = 5.0 * f64::EPSILON * (largest * factor);
        if !T::IS_SINGLE && survey.is_rich_in_fractions {
            let near = if all_fractions(sample, workers)? { None } else { Some(rounding) };
            return Ok(Self { kind: Kind::Fractions, near });
        }
        // Scores far apart make differences of small ones that look alike beside the rounding of large ones.
        let has_wide_range =
            sample.magnitudes.smallest_nonzero < largest * 2_f64.powi(if T::IS_SINGLE { -27 } else { -40 });
        let near = match (T::IS_SINGLE, has_wide_range) {
            // The difference of two singles is exact in a double, unless their exponents are far apart.
            (true, false) => None,
            (true, true) => Some(0.0),
            // Only rounded fractions make differences err by more than their own rounding, which equal ones show.
            (false, true) if !has_rounded_fraction(sample, workers)? => Some(0.0),
            (false, _) => Some(rounding),
        };
        Ok(Self { kind: Kind::Plain { factor, is_single: T::IS_SINGLE }, near })
    }

    /// Appends the keys of own − other, row by row.
    pub(crate) fn append_keys<T: Score>(
        self,
        own: &[T],
        other: &[T],
        fractions: &mut FractionCache,
        keys: &mut Vec<f64>,
    ) {
        let pairs = own.iter().zip(other).map(|(&a, &b)| (a.into(), b.into()));
        match self.kind {
            Kind::Plain { factor: 1.0, .. } => keys.extend(pairs.map(|(a, b): (f64, f64)| a - b)),
            Kind::Plain { factor, .. } => keys.extend(pairs.map(|(a, b)| a * factor - b * factor)),
            Kind::Lattice(m) => keys.extend(pairs.map(|(a, b)| (a * m).round_ties_even() - (b * m).round_ties_even())),
            Kind::Fractions => {
                keys.extend(pairs.map(|(a, b)| ExactKey::new(a, b, [fractions.get(a), fractions.get(b)]).nearest()));
            }
        }
    }

    /// The key of a − b.
    pub(crate) fn key(self, a: f64, b: f64) -> f64 {
        match self.kind {
            Kind::Plain { factor, .. } => a * factor - b * factor,
            Kind::Lattice(m) => (a * m).round_ties_even() - (b * m).round_ties_even(),
            Kind::Fractions => self.exact(a, b).nearest(),
        }
    }

    /// The exact key of a − b.
    pub(crate) fn exact(self, a: f64, b: f64) -> ExactKey {
        match self.kind {
            Kind::Plain { is_single: true, .. } => ExactKey::new(a, b, [None, None]),
            _ => ExactKey::new(a, b, [Fraction::of_double(a), Fraction::of_double(b)]),
        }
    }

    /// Whether equal keys of these rows are known to tie, because rounding took nothing from any of them. Asked of singles
    /// alone: doubles are nearly always rounded.
    pub(crate) fn equal_keys_tie<'r, T: Score + 'r>(self, mut rows: impl Iterator<Item = (&'r [T], &'r [T])>) -> bool {
        T::IS_SINGLE
            && self.roundings_decide()
            && rows.all(|(own, other)| {
                const CHUNK: usize = 1 << 10;
                // Whole chunks, so that the compiler can use vectors.
                own.chunks(CHUNK).zip(other.chunks(CHUNK)).all(|(own, other)| {
                    let rows = own.iter().zip(other);
                    !rows.fold(false, |any, (&own, &other)| any | (rounding_of_difference(own, other) != 0.0))
                })
            })
    }

    /// Whether the rounded difference and its rounding do not say all about these rows.
    pub(crate) fn needs_fractions<'o>(self, operands: impl Iterator<Item = &'o (f64, f64)>) -> bool {
        match self.kind {
            Kind::Plain { is_single: true, .. } => false,
            _ if self.roundings_decide() => false,
            Kind::Plain { factor: 1.0, .. } | Kind::Fractions => {
                any_rounded_fraction(operands.flat_map(|&(a, b)| [a, b]))
            }
            // Scaled keys may have lost digits.
            _ => true,
        }
    }

    /// Whether equal keys are told apart by what rounding took from them, and by nothing else.
    fn roundings_decide(self) -> bool {
        self.near == Some(0.0) && matches!(self.kind, Kind::Plain { factor: 1.0, .. })
    }
}

/// What a few scores say about all of them.
struct Survey {
    /// The lattices 1/m that hold the scores seen, in increasing order of m.
    denominators: Vec<u16>,
    /// Whether a good part of them are fractions that doubles can only approximate.
    is_rich_in_fractions: bool,
}

impl Survey {
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
        let mut denominators: Vec<u16> = (1..=MOST_DENOMINATOR as u16).collect();
        let (mut seen, mut inexact) = (0, 0);
        for score in scores {
            if T::IS_SINGLE {
                denominators.retain(|&denominator| is_multiple(score, denominator));
                if denominators.is_empty() {
                    break;
                }
                continue;
            }
            let fraction = Fraction::of_double(score.into());
            let holds = |m: u16| fraction.is_some_and(|fraction| i64::from(m) % fraction.denominator == 0);
            denominators.retain(|&denominator| holds(denominator));
            seen += 1;
            inexact += usize::from(fraction.is_some_and(|fraction| !fraction.is_dyadic()));
        }
        Self { denominators, is_rich_in_fractions: 4 * inexact > seen }
    }

    /// The coarsest of the lattices that holds every score.
    fn confirmed_lattice<T: Score>(&self, sample: &ScoredSample<'_, T>, workers: &Workers<'_>) -> Result<Option<u16>> {
        let Some(&coarsest) = self.denominators.first() else { return Ok(None) };
        let spans = row_spans(sample.rows(), 8, workers);
        let parts = workers.map(spans.len(), |span| {
            let mut current = Some(coarsest);
            all_cells(sample, spans[span].clone(), |score| {
                // A finer lattice holds all that the coarser one held.
                let finer = |from: u16| {
                    let multiples = self.denominators.iter().copied().filter(|m| m.is_multiple_of(from));
                    multiples.into_iter().find(|&m| is_multiple(score, m))
                };
                current = current.and_then(finer);
                current.is_some()
            });
            Ok(current)
        })?;
        let common = |a: u16, b: u16| common_denominator(a.into(), b.into()).map(|multiple| multiple as u16);
        Ok(parts.into_iter().try_fold(coarsest, |a, b| common(a, b?)))
    }
}

/// Whether the score is the float nearest to a multiple of 1/m.
#[inline]
fn is_multiple<T: Score>(score: T, m: u16) -> bool {
    let value: f64 = score.into();
    let scaled = value * f64::from(m);
    T::nearest(scaled.round_ties_even() / f64::from(m)) == score && value.abs() < Fraction::LARGEST
}

fn all_fractions<T: Score>(sample: &ScoredSample<'_, T>, workers: &Workers<'_>) -> Result<bool> {
    let spans = row_spans(sample.rows(), 8, workers);
    let parts = workers.map(spans.len(), |span| {
        let mut fractions = FractionCache::default();
        Ok(all_cells(sample, spans[span].clone(), |score| fractions.get(score.into()).is_some()))
    })?;
    Ok(parts.into_iter().all(|all| all))
}

/// Whether a score stands for a fraction that its double only approximates.
fn has_rounded_fraction<T: Score>(sample: &ScoredSample<'_, T>, workers: &Workers<'_>) -> Result<bool> {
    let spans = row_spans(sample.rows(), 8, workers);
    let parts = workers.map(spans.len(), |span| {
        let rows = spans[span].clone().filter(|&row| sample.has_row(row));
        let columns = 0..sample.scores.columns();
        let cells = rows.flat_map(|row| columns.clone().map(move |column| (row, column)));
        Ok(any_rounded_fraction(cells.map(|(row, column)| sample.scores.get(row, column).into())))
    })?;
    Ok(parts.into_iter().any(|any| any))
}

fn all_cells<T: Score>(
    sample: &ScoredSample<'_, T>,
    rows: std::ops::Range<usize>,
    mut holds: impl FnMut(T) -> bool,
) -> bool {
    let mut rows = rows.filter(|&row| sample.has_row(row));
    rows.all(|row| (0..sample.scores.columns()).all(|column| holds(sample.scores.get(row, column))))
}
