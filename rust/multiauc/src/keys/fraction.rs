//! Scores that are fractions on paper: 0.1 stands for 1/10, the 0.333… of a leaf of three rows for 1/3.

use std::cmp::Ordering;

use crate::float::Score;
use crate::simd::{Simd, Vectorizable, run_widest};

/// Largest denominator of a fraction that is no decimal.
pub(super) const MOST_DENOMINATOR: i64 = 1000;
/// The denominator of decimals of up to six digits.
pub(super) const DECIMAL: i64 = 1_000_000;

/// The fraction a/b: in lowest terms if b ≤ 1000, otherwise a decimal in millionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fraction {
    pub numerator: i64,
    pub denominator: i64,
}

impl Fraction {
    /// Beyond this magnitude one double can be the nearest to two fractions, so that neither is meant. Below it, the
    /// numerator and the denominator of a difference of two fractions are exact in a double.
    pub(crate) const LARGEST: f64 = 4_194_304.0;

    /// The decimal of up to six digits, or the fraction with a denominator of at most 1000, that a double is nearest to.
    /// Below [`LARGEST`](Self::LARGEST) there is at most one: two such numbers are further apart than doubles are.
    pub(crate) fn of_double(value: f64) -> Option<Self> {
        // Written so that NaN, which another thread may put there, is refused too.
        if !matches!(value.abs().partial_cmp(&Self::LARGEST), Some(Ordering::Less)) {
            return None;
        }
        let millionths = (value * DECIMAL as f64).round_ties_even();
        if millionths / DECIMAL as f64 != value {
            return if is_longer_decimal(value) {
                None
            } else {
                Self::by_convergents(value, |quotient| quotient == value)
            };
        }
        let numerator = millionths as i64;
        let divisor = greatest_common_divisor(numerator.abs(), DECIMAL);
        if DECIMAL / divisor <= MOST_DENOMINATOR {
            return Some(Self { numerator: numerator / divisor, denominator: DECIMAL / divisor });
        }
        Some(Self { numerator, denominator: DECIMAL })
    }

    /// Whether a single other than zero may be the nearest to a fraction with a denominator of at most 1000; `false` is
    /// certain, and usual for smooth scores.
    pub(super) fn may_be_of_single<T: Score>(score: T) -> bool {
        /// Below, half a unit in the last place of a single is less than 1/(2 · 1000²).
        const LARGEST_SINGLE: f64 = 8.0;
        let value: f64 = score.into();
        value.abs() >= LARGEST_SINGLE || Self::by_convergents(value, |quotient| T::nearest(quotient) == score).is_some()
    }

    /// The fraction with the smallest denominator b ≤ 1000 that a float is the nearest to, as `is_nearest` says of its
    /// double. As half a unit in the last place is below 1/(2b²), it is a convergent of the float's continued fraction
    /// (Legendre): only those are tried.
    fn by_convergents(value: f64, is_nearest: impl Fn(f64) -> bool) -> Option<Self> {
        let magnitude = value.abs();
        if magnitude < 0.999 / MOST_DENOMINATOR as f64 {
            return None;
        }
        let sign = if value < 0.0 { -1 } else { 1 };
        // Whole parts of positive numbers by conversion: without SSE4.1, `floor` is a call.
        let whole = magnitude as i64;
        let (mut previous, mut current) = ((1, 0), (whole, 1));
        let mut rest = magnitude - whole as f64;
        loop {
            let (numerator, denominator) = (sign * current.0, current.1);
            if is_nearest(numerator as f64 / denominator as f64) {
                return Some(Self { numerator, denominator });
            }
            if rest <= 0.0 {
                return None;
            }
            let inverse = rest.recip();
            // Also stops on the huge quotients that rounding leaves where the expansion should have ended.
            if inverse >= (MOST_DENOMINATOR + 1) as f64 {
                return None;
            }
            let quotient = inverse as i64;
            let step = |old: i64, new: i64| quotient * new + old;
            let next = (step(previous.0, current.0), step(previous.1, current.1));
            if next.1 > MOST_DENOMINATOR {
                return None;
            }
            (previous, current) = (current, next);
            rest = inverse - quotient as f64;
        }
    }

    /// The denominator in lowest terms.
    pub(super) fn lowest_denominator(self) -> i64 {
        self.denominator / greatest_common_divisor(self.numerator.abs(), self.denominator)
    }

    /// Whether the denominator is at most 1000.
    pub(super) const fn is_short(self) -> bool {
        self.denominator <= MOST_DENOMINATOR
    }

    /// Numerator and denominator of x − y, both exact in a double: the denominator is at most 10^9.
    #[inline]
    pub(crate) fn minus(self, other: Self) -> (i64, i64) {
        let (of_own, of_other) = match (self.denominator, other.denominator) {
            (p, q) if p == q => (1, 1),
            (p, q) if self.is_short() && other.is_short() => (q, p),
            (p, q) => {
                let divisor = greatest_common_divisor(p, q);
                (q / divisor, p / divisor)
            }
        };
        (self.numerator * of_own - other.numerator * of_other, self.denominator * of_own)
    }

    /// Whether the double is the fraction itself.
    pub(crate) fn is_dyadic(self) -> bool {
        // Those in millionths are not: a power of two that divides a million is at most 64.
        self.denominator.count_ones() == 1
    }
}

/// The whole number nearest to x, if |x| < 2^51: in two additions, where the instruction for it cannot be counted on.
#[inline(always)]
pub(super) fn nearest_whole(x: f64) -> f64 {
    /// 1.5 · 2^52: what is added to it loses its fraction.
    const SHIFT: f64 = 6_755_399_441_055_744.0;
    (x + SHIFT) - SHIFT
}

/// The decimal of up to six digits that a double is the nearest to, in millionths; NaN if there is none.
#[inline(always)]
pub(super) fn millionths(value: f64) -> f64 {
    let rounded = nearest_whole(value * DECIMAL as f64);
    let is_decimal = (rounded / DECIMAL as f64 == value) & (value.abs() < Fraction::LARGEST);
    if is_decimal { rounded } else { f64::NAN }
}

/// Whether a double stands for a decimal of up to nine digits whose denominator has a factor of 5^5 in lowest terms: too
/// long for a fraction that is no decimal. Two such numbers are at least 10^−12 apart, doubles below 1024 less than that.
fn is_longer_decimal(value: f64) -> bool {
    const BILLION: f64 = 1e9;
    // 5^(9 − 4): what divides the numerator of a denominator with at most 5^4.
    const FEW_FIVES: i64 = 3125;
    let billionths = nearest_whole(value * BILLION);
    value.abs() < 1024.0 && billionths / BILLION == value && billionths as i64 % FEW_FIVES != 0
}

/// The largest number that divides both.
pub(super) fn greatest_common_divisor(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Whether one of the values stands for a fraction that its double only approximates.
pub(crate) fn any_rounded_fraction(values: impl Iterator<Item = f64>) -> bool {
    run_widest(AnyRounded(values))
}

struct AnyRounded<I>(I);

impl<I: Iterator<Item = f64>> Vectorizable for AnyRounded<I> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> bool {
        let (mut lanes, mut filled) = ([0.0; LANES], 0);
        for value in self.0 {
            lanes[filled] = value;
            filled += 1;
            if filled == LANES {
                if may_hold_fraction(&lanes) && lanes.iter().any(|&value| is_rounded_fraction(value)) {
                    return true;
                }
                filled = 0;
            }
        }
        lanes[..filled].iter().any(|&value| is_rounded_fraction(value))
    }
}

/// The values that stand for a fraction which a double only approximates.
pub(super) fn rounded_fractions(values: &[f64]) -> Vec<f64> {
    run_widest(RoundedFractions(values))
}

struct RoundedFractions<'v>(&'v [f64]);

impl Vectorizable for RoundedFractions<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> Vec<f64> {
        let (blocks, rest) = self.0.as_chunks::<LANES>();
        let mut found = Vec::new();
        // A loop, not an adapter: what is passed to one would be compiled without wide vectors.
        for block in blocks {
            if may_hold_fraction(block) {
                found.extend(block.iter().copied().filter(|&value| is_rounded_fraction(value)));
            }
        }
        found.extend(rest.iter().copied().filter(|&value| is_rounded_fraction(value)));
        found
    }
}

/// Whether a value stands for a fraction which its double only approximates.
fn is_rounded_fraction(value: f64) -> bool {
    Fraction::of_double(value).is_some_and(|fraction| !fraction.is_dyadic())
}

/// The lowest common denominator of fractions; `None` if a value is none, or if it is larger than that of any lattice.
pub(super) fn lowest_common_denominator(mut values: impl Iterator<Item = f64>) -> Option<i64> {
    values.try_fold(1, |common, value| {
        let lowest = Fraction::of_double(value)?.lowest_denominator();
        let multiple = common / greatest_common_divisor(common, lowest) * lowest;
        (multiple <= DECIMAL).then_some(multiple)
    })
}

/// Values expanded side by side.
const LANES: usize = 16;

/// Whether one of the values may be a fraction that its double only approximates; `false` is certain, and usual for
/// smooth scores. Continued fractions as in [`Fraction::of_double`], without its branches: a value close to a
/// convergent leaves a remainder close to 0 or 1.
#[allow(clippy::needless_bitwise_bool, clippy::manual_range_contains, reason = "no branches: vectors")]
#[inline(always)]
fn may_hold_fraction(values: &[f64; LANES]) -> bool {
    // The length of the longest expansion with a denominator below 1000, that of Fibonacci numbers.
    const STEPS: usize = 15;
    // A value up to 1 is off by 2^−54, a remainder by that times the square of the denominator, and by as much again at
    // each step: less than 1e-8 in all.
    const SLACK: f64 = 1e-7;
    let (mut quotients, mut previous, mut denominators) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
    let mut is_suspect = false;
    for (lane, &value) in values.iter().enumerate() {
        let magnitude = value.abs();
        // Values that are too small and multiples of 1/512 are excluded by a denominator beyond the limit.
        let scaled = magnitude * 512.0;
        let is_left_out = (magnitude < 0.999 / MOST_DENOMINATOR as f64) | (scaled == scaled.floor());
        let millionths = magnitude * DECIMAL as f64;
        let is_decimal = nearest_whole(millionths) / DECIMAL as f64 == magnitude;
        // Larger values lose too many digits on the way; decimals are what is looked for.
        is_suspect |= (magnitude > 1.0) | is_decimal & (scaled != scaled.floor());
        quotients[lane] = magnitude;
        denominators[lane] = if is_left_out { 2.0 * MOST_DENOMINATOR as f64 } else { 1.0 };
    }
    for _ in 0..STEPS {
        let mut is_open = false;
        for lane in 0..LANES {
            let rest = quotients[lane] - quotients[lane].floor();
            let is_within = denominators[lane] <= MOST_DENOMINATOR as f64;
            is_suspect |= is_within & ((rest < SLACK) | (rest > 1.0 - SLACK));
            is_open |= is_within;
            let next = 1.0 / rest;
            let denominator = next.floor() * denominators[lane] + previous[lane];
            (previous[lane], denominators[lane]) = (denominators[lane], denominator);
            quotients[lane] = next;
        }
        if is_suspect | !is_open {
            break;
        }
    }
    is_suspect
}

/// The denominators of lattices, in increasing order: those up to 1000, and powers of ten up to a million.
pub(crate) fn lattice_denominators() -> impl Iterator<Item = u32> {
    (1..=MOST_DENOMINATOR as u32).chain(LONG_LATTICES)
}

/// The denominators of lattices that are no short fractions.
pub(super) const LONG_LATTICES: [u32; 3] = [10_000, 100_000, DECIMAL as u32];

/// The coarsest lattice that holds two others, if there is one.
pub(super) fn common_lattice(a: u32, b: u32) -> Option<u32> {
    let multiple = i64::from(a) / greatest_common_divisor(a.into(), b.into()) * i64::from(b);
    lattice_denominators().find(|&m| i64::from(m) % multiple == 0)
}

/// The double nearest to x − y, or the rounded difference of the scores a and b where one of them is no fraction.
#[inline]
pub(super) fn nearest_difference((a, x): (f64, Option<Fraction>), (b, y): (f64, Option<Fraction>)) -> f64 {
    let (Some(x), Some(y)) = (x, y) else { return a - b };
    let (numerator, denominator) = x.minus(y);
    numerator as f64 / denominator as f64
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
        for value in [1e-26, 5e-324, 1.0 / 1001.0, std::f64::consts::PI, 4_194_304.5, 1e300, f64::MAX] {
            assert_eq!(Fraction::of_double(value), None, "{value}");
        }
    }

    #[test]
    fn no_fraction_escapes_the_filter() {
        for denominator in 1..=MOST_DENOMINATOR {
            for numerator in 1..denominator {
                let value = numerator as f64 / denominator as f64;
                let mut lanes = [0.123_456_789_012_345_6; LANES];
                lanes[numerator as usize % LANES] = value;
                let is_rounded = Fraction::of_double(value).is_some_and(|fraction| !fraction.is_dyadic());
                assert!(may_hold_fraction(&lanes) || !is_rounded, "{numerator}/{denominator}");
                assert_eq!(any_rounded_fraction(lanes.into_iter()), is_rounded, "{numerator}/{denominator}");
            }
        }
    }

    #[test]
    fn no_fraction_of_singles_is_missed() {
        for denominator in 1..=MOST_DENOMINATOR {
            for numerator in (1..8 * denominator).step_by(7).chain([denominator - 1, denominator, denominator + 1]) {
                let single = (numerator as f64 / denominator as f64) as f32;
                let is_found = [single, -single].map(Fraction::may_be_of_single);
                assert!(single == 0.0 || is_found == [true; 2], "{numerator}/{denominator}");
            }
        }
        let smooth = (0..1000_u32).map(|index| (index.wrapping_mul(0x9E37_79B9) >> 8 | 1) as f32 / 2_f32.powi(24));
        assert!(smooth.filter(|&single| Fraction::may_be_of_single(single)).count() < 100);
    }

    #[test]
    fn smooth_scores_pass_the_filter() {
        let mut suspects = 0;
        for block in 0..10_000_u64 {
            let lanes = std::array::from_fn(|lane| {
                let hash = (block * LANES as u64 + lane as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                (hash >> 11) as f64 / 2_f64.powi(53)
            });
            suspects += usize::from(may_hold_fraction(&lanes));
        }
        assert!(suspects < 50, "{suspects} of 10,000 blocks");
    }

    #[test]
    fn longer_decimals_are_fractions_only_if_their_denominators_are_small() {
        let by_definition = |value: f64| Fraction::by_convergents(value, |quotient| quotient == value);
        for digits in [7, 8, 9] {
            let power = 10_f64.powi(digits);
            let numerators =
                (1..3000_u32).map(f64::from).chain((1..3000).map(|k| (power / 4096.0 * f64::from(k)).round()));
            for numerator in
                numerators.chain([power * 7.0 + 1.0, power * 1000.0 + 3.0, power / 128.0, power * 5.0 / 512.0])
            {
                let value = numerator / power;
                if millionths(value).is_nan() {
                    assert_eq!(Fraction::of_double(value), by_definition(value), "{value}");
                }
            }
        }
        assert_eq!(Fraction::of_double(0.007_812_5), Some(Fraction { numerator: 1, denominator: 128 }));
        assert!(is_longer_decimal(0.123_456_7) && !is_longer_decimal(0.007_812_5) && !is_longer_decimal(1.0 / 3.0));
    }

    #[test]
    fn decimals_of_up_to_six_digits_are_fractions() {
        for (value, millionths) in [(0.3001, 300_100), (0.000_001, 1), (12.345_678, 12_345_678)] {
            assert_eq!(Fraction::of_double(value), Some(Fraction { numerator: millionths, denominator: DECIMAL }));
        }
        assert_eq!(Fraction::of_double(-0.2), Some(Fraction { numerator: -1, denominator: 5 }));
        assert_eq!(Fraction::of_double(0.123_456_7), None);
        assert!(!Fraction::of_double(0.3001).is_some_and(Fraction::is_dyadic));
        assert!(Fraction::of_double(0.015_625).is_some_and(Fraction::is_dyadic));
    }

    #[test]
    fn common_lattices_are_the_coarsest_that_hold_both() {
        assert_eq!(common_lattice(10, 4), Some(20));
        assert_eq!(common_lattice(1000, 8), Some(1000));
        assert_eq!(common_lattice(10_000, 8), Some(10_000));
        assert_eq!(common_lattice(500, 16), Some(10_000));
        assert_eq!(common_lattice(1_000_000, 64), Some(1_000_000));
        assert_eq!(common_lattice(1_000_000, 3), None);
        assert_eq!(common_lattice(999, 2), None);
    }
}
