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

use super::exact_key::{ExactKey, rounding_of_difference};
use super::fraction::{FractionCache, any_rounded_fraction};
use super::survey::Survey;
use crate::error::Result;
use crate::float::Score;
use crate::parallel::Workers;
use crate::sample::ScoredSample;

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
    #[cfg(feature = "rounded")]
    pub(crate) const ROUNDED: Self = Self { kind: Kind::Plain { factor: 1.0, is_single: false }, near: None };

    /// The rule for a sample.
    pub(crate) fn of<T: Score>(sample: &ScoredSample<'_, T>, workers: &Workers<'_>) -> Result<Self> {
        Ok(Self::from_survey::<T>(&Survey::of(sample, workers)?))
    }

    /// The rule for rows of which a survey is known: the key of a row depends on the row and the survey alone.
    pub(crate) fn from_survey<T: Score>(survey: &Survey) -> Self {
        if let Some(denominator) = survey.lattice() {
            return Self { kind: Kind::Lattice(f64::from(denominator)), near: None };
        }
        let largest = survey.magnitudes().largest;
        let factor = if largest > f64::MAX / 4.0 { 0.25 } else { 1.0 };
        // Each of two keys is off by at most half a unit in the last place of both operands and of the difference.
        let rounding = 5.0 * f64::EPSILON * (largest * factor);
        if !T::IS_SINGLE && survey.is_rich_in_fractions() {
            let near = if survey.has_only_fractions() { None } else { Some(rounding) };
            return Self { kind: Kind::Fractions, near };
        }
        let near = match (T::IS_SINGLE, survey.has_wide_range::<T>()) {
            // The difference of two singles is exact in a double, unless their exponents are far apart.
            (true, false) => None,
            (true, true) => Some(0.0),
            // Only rounded fractions make differences err by more than their own rounding, which equal ones show.
            (false, true) if survey.has_no_rounded_fraction() => Some(0.0),
            (false, _) => Some(rounding),
        };
        Self { kind: Kind::Plain { factor, is_single: T::IS_SINGLE }, near }
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
            Kind::Plain { is_single: true, .. } => ExactKey::plain(a, b),
            _ => ExactKey::of_doubles(a, b),
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
