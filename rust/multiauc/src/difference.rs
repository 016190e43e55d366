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
use crate::fraction::{Fraction, FractionCache, MOST_DENOMINATOR, common_denominator};
use crate::parallel::Workers;
use crate::scored_sample::{Score, ScoreMatrix, ScoredSample, row_spans};

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

/// κ as an unevaluated sum of two doubles: exact for differences of scores, the first 106 bits for fractions.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub(crate) struct ExactKey {
    high: f64,
    low: f64,
}

impl std::ops::Neg for ExactKey {
    type Output = Self;
    fn neg(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }
}

impl DifferenceRule {
    /// The rule for a sample: a few scores rule a lattice out, all of them confirm it.
    pub(crate) fn of<T: Score>(sample: &ScoredSample<'_, T>, workers: &Workers<'_>) -> Result<Self> {
        let survey = Survey::of(&sample.scores);
        if let Some(denominator) = survey.denominator {
            if let Some(denominator) = confirm_lattice(&sample.scores, denominator, workers)? {
                return Ok(Self { kind: Kind::Lattice(denominator as f64), near: None });
            }
        }
        if !T::IS_SINGLE && survey.is_rich_in_fractions {
            let near = if all_fractions(&sample.scores, workers)? { None } else { Some(0.0) };
            return Ok(Self { kind: Kind::Fractions, near });
        }
        let largest = sample.magnitudes.largest;
        let factor = if largest > f64::MAX / 2.0 { 0.5 } else { 1.0 };
        let near = if !T::IS_SINGLE {
            // Each of two keys is off by at most half a unit in the last place of both operands and of the difference.
            Some(5.0 * f64::EPSILON * (largest * factor))
        } else if sample.magnitudes.smallest_nonzero < largest * 2_f64.powi(-27) {
            // The difference of two singles is exact in a double, unless their exponents are far apart.
            Some(0.0)
        } else {
            None
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
            Kind::Fractions => keys.extend(pairs.map(|(a, b)| exact_key(a, b, |value| fractions.get(value)).high)),
        }
    }

    /// The exact key of one row.
    pub(crate) fn exact<T: Score>(self, own: T, other: T) -> ExactKey {
        let (own, other): (f64, f64) = (own.into(), other.into());
        match self.kind {
            Kind::Plain { is_single: true, .. } => exact_key(own, other, |_| None),
            _ => exact_key(own, other, Fraction::of_double),
        }
    }
}

fn exact_key(a: f64, b: f64, mut fraction: impl FnMut(f64) -> Option<Fraction>) -> ExactKey {
    match (fraction(a), fraction(b)) {
        (Some(x), Some(y)) => {
            // Below 2^53, so exact as doubles: the quotient is the double nearest to κ, the remainder exact too.
            let numerator = (x.numerator * y.denominator - y.numerator * x.denominator) as f64;
            let denominator = (x.denominator * y.denominator) as f64;
            let high = numerator / denominator;
            ExactKey { high, low: (-high).mul_add(denominator, numerator) / denominator }
        }
        (x, y) => {
            let (difference, error) = two_sum(a, -b);
            if difference.is_infinite() {
                return ExactKey { high: difference, low: a / 2.0 - b / 2.0 };
            }
            let (high, low) = two_sum(difference, error + (rounding_of(a, x) - rounding_of(b, y)));
            ExactKey { high, low }
        }
    }
}

/// What rounding took from the fraction when it became the score.
fn rounding_of(score: f64, fraction: Option<Fraction>) -> f64 {
    fraction.map_or(0.0, |f| {
        (-score).mul_add(f.denominator as f64, f.numerator as f64) / f.denominator as f64
    })
}

/// The rounded sum and the exact error of the rounding (Knuth's `TwoSum`).
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    (sum, (a - (sum - b_part)) + (b - b_part))
}

/// What a few scores say about all of them.
struct Survey {
    /// A lattice that holds the scores seen.
    denominator: Option<i64>,
    /// Whether a good part of them are fractions that doubles can only approximate.
    is_rich_in_fractions: bool,
}

impl Survey {
    fn of<T: Score>(scores: &ScoreMatrix<'_, T>) -> Self {
        const CELLS: usize = 32;
        let cells = scores.rows() * scores.columns();
        // Half of them from the beginning, half spread over the whole.
        let first = 0..CELLS.min(cells);
        let spread = (0..CELLS).map(|step| (cells as u128 * step as u128 / CELLS as u128) as usize);
        let (mut denominator, mut seen, mut inexact) = (Some(1), 0, 0);
        for cell in first.chain(spread) {
            let score = scores.get(cell / scores.columns(), cell % scores.columns());
            let fraction = fraction_of(score);
            denominator = denominator
                .zip(fraction)
                .and_then(|(common, fraction)| common_denominator(common, fraction.denominator));
            seen += 1;
            inexact += usize::from(fraction.is_some_and(|fraction| !fraction.is_dyadic()));
            if T::IS_SINGLE && denominator.is_none() {
                break;
            }
        }
        Self { denominator, is_rich_in_fractions: 4 * inexact > seen }
    }
}

fn fraction_of<T: Score>(score: T) -> Option<Fraction> {
    Fraction::of(score.into(), |quotient| T::nearest(quotient) == score)
}

/// The smallest m ≤ 1000, a multiple of `denominator`, such that every score is the float nearest to a multiple of 1/m.
fn confirm_lattice<T: Score>(
    scores: &ScoreMatrix<'_, T>,
    denominator: i64,
    workers: &Workers<'_>,
) -> Result<Option<i64>> {
    let spans = row_spans(scores.rows(), workers);
    let parts = workers.map(spans.len(), |span| {
        let mut common = denominator;
        let is_on_lattice = all_cells(scores, spans[span].clone(), |score| {
            let value: f64 = score.into();
            let scaled = value * common as f64;
            let multiple = scaled.round_ties_even() / common as f64;
            if T::nearest(multiple) == score && scaled.abs() < 2_f64.powi(42) {
                return true;
            }
            let finer = fraction_of(score).and_then(|fraction| common_denominator(common, fraction.denominator));
            finer.inspect(|&finer| common = finer).is_some()
        });
        Ok(is_on_lattice.then_some(common))
    })?;
    Ok(parts.into_iter().try_fold(denominator, |common, part| common_denominator(common, part?)))
}

fn all_fractions<T: Score>(scores: &ScoreMatrix<'_, T>, workers: &Workers<'_>) -> Result<bool> {
    let spans = row_spans(scores.rows(), workers);
    let parts = workers.map(spans.len(), |span| {
        let mut fractions = FractionCache::default();
        Ok(all_cells(scores, spans[span].clone(), |score| fractions.get(score.into()).is_some()))
    })?;
    Ok(parts.into_iter().all(|all| all))
}

fn all_cells<T: Score>(
    scores: &ScoreMatrix<'_, T>,
    mut rows: std::ops::Range<usize>,
    mut holds: impl FnMut(T) -> bool,
) -> bool {
    rows.all(|row| (0..scores.columns()).all(|column| holds(scores.get(row, column))))
}

const _: () = assert!(MOST_DENOMINATOR * MOST_DENOMINATOR <= 1 << 20, "products of denominators must stay small");
