//! Scores that are fractions on paper: 0.1 is meant as 1/10, a leaf of three rows as 1/3.

use std::cmp::Ordering;

/// Largest denominator that is looked for.
pub(crate) const MOST_DENOMINATOR: i64 = 1000;
/// The fraction a/b.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fraction {
    pub numerator: i64,
    pub denominator: i64,
}

impl Fraction {
    /// Beyond this magnitude one double is the nearest to several fractions, so that none of them is meant. Below it the
    /// products of numerators and denominators are exact in a double.
    pub(crate) const LARGEST: f64 = 4_294_967_296.0;

    /// The fraction with the smallest denominator b ≤ 1000 that a double is the nearest to. As half a unit in the last
    /// place is below 1/(2b²), it is a convergent of the double's continued fraction (Legendre): only those are tried.
    pub(crate) fn of_double(value: f64) -> Option<Self> {
        let magnitude = value.abs();
        let is_below_all = magnitude > 0.0 && magnitude < 0.999 / MOST_DENOMINATOR as f64;
        // Written so that NaN, which another thread may put there, is refused too.
        if is_below_all || !matches!(magnitude.partial_cmp(&Self::LARGEST), Some(Ordering::Less)) {
            return None;
        }
        let sign = if value < 0.0 { -1 } else { 1 };
        let whole = magnitude.floor();
        let (mut previous, mut current) = ((1, 0), (whole as i64, 1));
        let mut rest = magnitude - whole;
        loop {
            let (numerator, denominator) = (sign * current.0, current.1);
            if numerator as f64 / denominator as f64 == value {
                return Some(Self { numerator, denominator });
            }
            if rest <= 0.0 {
                return None;
            }
            let inverse = rest.recip();
            let quotient = inverse.floor();
            // Also stops on the huge quotients that rounding leaves where the expansion should have ended.
            if quotient > MOST_DENOMINATOR as f64 {
                return None;
            }
            let step = |old: i64, new: i64| quotient as i64 * new + old;
            let next = (step(previous.0, current.0), step(previous.1, current.1));
            if next.1 > MOST_DENOMINATOR {
                return None;
            }
            (previous, current) = (current, next);
            rest = inverse - quotient;
        }
    }

    /// Whether the double is the fraction itself.
    pub(crate) fn is_dyadic(self) -> bool {
        self.denominator.count_ones() == 1
    }
}

/// Least common multiple of two denominators, if it is a denominator too.
pub(crate) fn common_denominator(a: i64, b: i64) -> Option<i64> {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    Some(a / x * b).filter(|&multiple| multiple <= MOST_DENOMINATOR)
}

/// Remembers the fractions of values seen lately: data made of fractions has few distinct values.
#[derive(Debug, Default)]
pub(crate) struct FractionCache {
    entries: Vec<(u64, Option<Fraction>)>,
}

impl FractionCache {
    const SIZE_LOG2: u32 = 12;

    pub(crate) fn get(&mut self, value: f64) -> Option<Fraction> {
        // A multiplicative hash; the sign of zero makes no difference to its fraction.
        if self.entries.is_empty() {
            // NaN is no score, so its bits mark an empty slot.
            self.entries = vec![(f64::NAN.to_bits(), None); 1 << Self::SIZE_LOG2];
        }
        let bits = value.to_bits();
        let slot = (bits.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - Self::SIZE_LOG2)) as usize;
        let entry = &mut self.entries[slot];
        if entry.0 != bits {
            *entry = (bits, Fraction::of_double(value));
        }
        entry.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fraction_is_found_in_lowest_terms() {
        for denominator in 1..=MOST_DENOMINATOR {
            for numerator in [-3, -1, 0, 1, 2, denominator / 3, denominator / 2, denominator - 1, 7 * denominator + 1] {
                let value = numerator as f64 / denominator as f64;
                let found = Fraction::of_double(value).expect("a fraction");
                assert_eq!(found.numerator * denominator, numerator * found.denominator, "{numerator}/{denominator}");
                assert!(found.denominator <= denominator);
            }
        }
    }

    #[test]
    fn neighbours_of_fractions_are_not_fractions() {
        for (numerator, denominator) in [(1, 3), (1, 10), (999, 1000), (2, 7)] {
            let value = f64::from(numerator) / f64::from(denominator);
            assert_eq!(Fraction::of_double(f64::from_bits(value.to_bits() + 1)), None);
            assert_eq!(Fraction::of_double(f64::from_bits(value.to_bits() - 1)), None);
        }
        for value in [1e-26, 5e-324, 1.0 / 1001.0, std::f64::consts::PI, 1e300, f64::MAX] {
            assert_eq!(Fraction::of_double(value), None, "{value}");
        }
    }

    #[test]
    fn common_denominators_stop_at_the_limit() {
        assert_eq!(common_denominator(10, 4), Some(20));
        assert_eq!(common_denominator(1000, 8), Some(1000));
        assert_eq!(common_denominator(999, 2), None);
    }
}
