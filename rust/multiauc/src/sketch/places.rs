//! The places of differences of scores.

use super::code::Place;
use crate::float::Score;
use crate::keys::{Fraction, FractionCache, any_rounded_fraction, rounding_of_difference};

/// What scores stand for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Reading {
    /// Themselves.
    Themselves,
    /// The fraction that they are the nearest double to, if there is one.
    Fractions,
    /// Whole multiples of 1/m.
    Lattice(u32),
}

/// The scores of one column, and whether fractions must be looked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column<'s, T> {
    pub scores: &'s [T],
    pub has_fractions: bool,
}

impl<'s, T: Score> Column<'s, T> {
    pub(super) fn new(scores: &'s [T], reading: Reading) -> Self {
        let has_fractions =
            reading == Reading::Fractions && any_rounded_fraction(scores.iter().map(|&score| score.into()));
        Self { scores, has_fractions }
    }
}

/// Calls `visit` with the place of own − other of each row.
pub(super) fn for_each_difference<T: Score>(
    own: Column<'_, T>,
    other: Column<'_, T>,
    reading: Reading,
    fractions: &mut FractionCache,
    mut visit: impl FnMut(Place),
) {
    let rows = own.scores.iter().zip(other.scores).map(|(&a, &b)| -> (f64, f64) { (a.into(), b.into()) });
    match reading {
        Reading::Fractions if own.has_fractions || other.has_fractions => rows.for_each(|(a, b)| {
            visit(of_fractions((a, fractions.get(a)), (b, fractions.get(b))));
        }),
        Reading::Fractions => rows.for_each(|(a, b)| visit(place_of(a, b, Reading::Themselves))),
        _ => rows.for_each(|(a, b)| visit(place_of(a, b, reading))),
    }
}

/// The places of differences of some rows, one by one.
#[derive(Debug)]
pub(super) struct Differences {
    reading: Reading,
    fractions: FractionCache,
}

impl Differences {
    /// For rows with these pairs of scores.
    pub(super) fn new(reading: Reading, rows: impl Iterator<Item = (f64, f64)>) -> Self {
        let is_plain = reading == Reading::Fractions && !any_rounded_fraction(rows.flat_map(|(a, b)| [a, b]));
        Self { reading: if is_plain { Reading::Themselves } else { reading }, fractions: FractionCache::default() }
    }

    #[inline]
    pub(super) fn place(&mut self, a: f64, b: f64) -> Place {
        match self.reading {
            Reading::Fractions => of_fractions((a, self.fractions.get(a)), (b, self.fractions.get(b))),
            reading => place_of(a, b, reading),
        }
    }
}

/// The place of one difference.
#[inline]
pub(super) fn place_of(a: f64, b: f64, reading: Reading) -> Place {
    match reading {
        Reading::Themselves => Place::of_sum(a - b, rounding_of_difference(a, b)),
        Reading::Fractions => of_fractions((a, Fraction::of_double(a)), (b, Fraction::of_double(b))),
        Reading::Lattice(m) => {
            let m = f64::from(m);
            Place::of_ratio((a * m).round() - (b * m).round(), m)
        }
    }
}

fn of_fractions((a, x): (f64, Option<Fraction>), (b, y): (f64, Option<Fraction>)) -> Place {
    if let (Some(x), Some(y)) = (x, y) {
        let (numerator, denominator) = x.minus(y);
        return Place::of_ratio(numerator as f64, denominator as f64);
    }
    let (high, low) = (a - b, rounding_of_difference(a, b));
    let missing = missing(a, x) - missing(b, y);
    if missing == 0.0 {
        return Place::of_sum(high, low);
    }
    // A fraction less a number that is none: which of the numbers next to the double it is, is not followed up.
    let low = low + missing;
    let sum = high + low;
    Place::of_sum(sum, low - (sum - high)).unsettled()
}

/// How much a fraction is above its double.
fn missing(score: f64, fraction: Option<Fraction>) -> f64 {
    fraction.filter(|fraction| !fraction.is_dyadic()).map_or(0.0, |fraction| {
        let denominator = fraction.denominator as f64;
        (-score).mul_add(denominator, fraction.numerator as f64) / denominator
    })
}
