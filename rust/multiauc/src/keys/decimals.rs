//! Keys of samples in which decimals of up to six digits stand beside other scores.

use std::cmp::Ordering;

use super::exact_key::{ExactKey, rounding_of_difference};
use super::fraction::{DECIMAL, Fraction, millionths, nearest_whole};
use crate::float::Score;
use crate::simd::{Simd, Vectorizable};

/// Keys in two parts.
#[derive(Debug, Default)]
pub(crate) struct SplitKeys {
    /// Equal ones tie, and no other row is near.
    pub settled: Vec<f64>,
    pub open: Vec<f64>,
    /// Where the open keys were.
    pub open_places: Vec<u32>,
}

/// The key of a − b in the rule of decimals: that of two decimals is the double nearest to their difference. Rows of
/// other scores have the rounded difference, on the side of the nearest decimal that κ is on (or that decimal, if κ is
/// equal to it). So equal keys of decimals tie, and no other row has one of them by accident.
///
/// Differences closer to a decimal than `tolerance` may have been rounded across it.
#[inline(always)]
pub(super) fn decimal_key(a: f64, b: f64, tolerance: f64) -> f64 {
    if is_beside_decimal(a, b, tolerance) { key_beside(a, b, nearest_decimal(a - b)) } else { unsided_key(a, b) }
}

/// More than a difference smaller than [`Fraction::LARGEST`] is ever off: by half a unit in the last place of the
/// difference and of each score that stands for a fraction.
const LARGEST_TOLERANCE: f64 = 4e-9;

/// The double nearest to the decimal of six digits that is nearest to x.
#[inline(always)]
fn nearest_decimal(x: f64) -> f64 {
    nearest_whole(x * DECIMAL as f64) / DECIMAL as f64
}

/// The key but for which side of the nearest decimal it is on.
#[inline(always)]
fn unsided_key(a: f64, b: f64) -> f64 {
    let difference = (millionths(a) - millionths(b)) / DECIMAL as f64;
    if difference.is_nan() { a - b } else { difference }
}

/// Whether a row is not made of decimals, but its difference is so close to one that it may have been rounded across.
#[inline(always)]
fn is_beside_decimal(a: f64, b: f64, tolerance: f64) -> bool {
    let difference = a - b;
    let is_close = (difference - nearest_decimal(difference)).abs() <= tolerance.min(LARGEST_TOLERANCE);
    (millionths(a) - millionths(b)).is_nan() & is_close & (difference.abs() < Fraction::LARGEST)
}

/// The key of a row beside a decimal.
#[cold]
fn key_beside(a: f64, b: f64, decimal: f64) -> f64 {
    match order_beside(a, b, decimal) {
        Ordering::Less => (a - b).min(decimal.next_down()),
        Ordering::Equal => decimal,
        Ordering::Greater => (a - b).max(decimal.next_up()),
    }
}

/// How κ compares with the decimal that a double is the nearest to.
fn order_beside(a: f64, b: f64, decimal: f64) -> Ordering {
    if Fraction::of_double(a).is_none() && Fraction::of_double(b).is_none() {
        // κ is a − b. The first two terms are exact, the last one to half a unit in its last place.
        let numerator = nearest_whole(decimal * DECIMAL as f64);
        let of_decimal = decimal.mul_add(DECIMAL as f64, -numerator) / DECIMAL as f64;
        let (of_difference, rounding) = ((a - b) - decimal, rounding_of_difference(a, b));
        let sum = of_difference + (rounding + of_decimal);
        let bound = 4.0 * f64::EPSILON * (of_difference.abs() + rounding.abs() + of_decimal.abs());
        if sum.abs() > bound {
            return sum.total_cmp(&0.0);
        }
    }
    ExactKey::of_doubles(a, b).cmp(&ExactKey::of_doubles(decimal, 0.0))
}

/// Copies keys apart.
pub(super) struct Split<'k, F> {
    pub keys: &'k [f64],
    pub is_settled: F,
    pub parts: &'k mut SplitKeys,
}

impl<F: Fn(f64) -> bool> Vectorizable for Split<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        const BLOCK: usize = 128;
        let Self { keys, is_settled, parts: SplitKeys { settled, open, open_places } } = self;
        settled.resize(keys.len(), 0.0);
        open.resize(keys.len(), 0.0);
        open_places.resize(keys.len(), 0);
        let (mut settled_count, mut open_count, mut place) = (0, 0, 0);
        for block in keys.chunks(BLOCK) {
            let mut are_settled = [false; BLOCK];
            are_settled.iter_mut().zip(block).for_each(|(entry, &key)| *entry = is_settled(key));
            for (&key, &is_settled) in block.iter().zip(&are_settled) {
                // Written to both, kept in the one that grows: no branch to mispredict.
                settled[settled_count] = key;
                open[open_count] = key;
                open_places[open_count] = place;
                settled_count += usize::from(is_settled);
                open_count += usize::from(!is_settled);
                place += 1;
            }
        }
        settled.truncate(settled_count);
        open.truncate(open_count);
        open_places.truncate(open_count);
    }
}

/// Writes the keys of the rule of decimals.
pub(super) struct DecimalKeys<'k, T> {
    pub own: &'k [T],
    pub other: &'k [T],
    pub keys: &'k mut [f64],
    pub tolerance: f64,
}

impl<T: Score> Vectorizable for DecimalKeys<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        const BLOCK: usize = 128;
        let Self { own, other, keys, tolerance } = self;
        for (keys, (own, other)) in keys.chunks_mut(BLOCK).zip(own.chunks(BLOCK).zip(other.chunks(BLOCK))) {
            let (mut is_beside, mut any) = ([false; BLOCK], false);
            for (place, (&a, &b)) in own.iter().zip(other).enumerate() {
                let (a, b) = (a.into(), b.into());
                keys[place] = unsided_key(a, b);
                is_beside[place] = is_beside_decimal(a, b, tolerance);
                any |= is_beside[place];
            }
            if any {
                for place in (0..keys.len()).filter(|&place| is_beside[place]) {
                    let (a, b) = (own[place].into(), other[place].into());
                    keys[place] = key_beside(a, b, nearest_decimal(a - b));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOLERANCE: f64 = 1e-15;

    #[test]
    fn keys_are_on_the_side_of_a_decimal_that_the_difference_is_on() {
        let beside = |a: f64, b: f64| {
            let decimal = nearest_decimal(a - b);
            let exactly = ExactKey::of_doubles(a, b).cmp(&ExactKey::of_doubles(decimal, 0.0));
            assert_eq!(order_beside(a, b, decimal), exactly, "{a} - {b}");
            let key = decimal_key(a, b, TOLERANCE);
            assert_eq!(key.partial_cmp(&decimal), Some(exactly), "{a} - {b}");
            assert!((key - (a - b)).abs() < 1e-15);
            assert_eq!(decimal_key(b, a, TOLERANCE), -key);
            exactly
        };
        let mut found = [0; 3];
        for index in 1..2_000_i32 {
            // Decimals of seven digits whose difference has at most six.
            let (first, second) = (index * 4_931 % 10_000_000, index * 10 % 3_000);
            let a = (f64::from(first) * 10.0 + 7.0) / 1e8;
            let b = (f64::from(first) * 10.0 + 7.0 - f64::from(second) * 1000.0) / 1e8;
            if Fraction::of_double(a).is_none() {
                found[(beside(a, b) as i8 + 1) as usize] += 1;
            }
        }
        assert!(found[0] > 300 && found[2] > 300, "{found:?}");
        // On paper 1/3 − 1/12 is 1/4, although neither is a decimal.
        assert_eq!(beside(1.0 / 3.0, 1.0 / 12.0), Ordering::Equal);
        assert_eq!(decimal_key(1.0 / 3.0, 1.0 / 12.0, TOLERANCE), 0.25);
        assert_eq!(beside(0.5 + 3.0 * f64::EPSILON, 2.0 * f64::EPSILON), Ordering::Greater);
    }

    #[test]
    fn decimals_and_other_rows_keep_their_keys() {
        assert_eq!(decimal_key(0.3001, 0.2001, TOLERANCE), 0.1);
        assert_eq!(decimal_key(0.3001, 0.123_456_789_012_3, TOLERANCE), 0.3001 - 0.123_456_789_012_3);
    }
}
