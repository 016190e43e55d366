//! Logarithms and square roots with 96 digits behind the point, in base two.

use std::sync::LazyLock;

use super::amounts::Rounded;

/// A number of 256 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Double {
    high: u128,
    low: u128,
}

impl Double {
    pub(super) const fn product(a: u128, b: u128) -> Self {
        const HALF: u128 = u64::MAX as u128;
        let (a_high, a_low, b_high, b_low) = (a >> 64, a & HALF, b >> 64, b & HALF);
        let middle = a_high * b_low + ((a_low * b_low) >> 64);
        let rest = (middle & HALF) + a_low * b_high;
        Self { high: a_high * b_high + (middle >> 64) + (rest >> 64), low: a.wrapping_mul(b) }
    }

    pub(super) const fn square(a: i128) -> Self {
        Self::product(a.unsigned_abs(), a.unsigned_abs())
    }

    pub(super) const fn plus(self, other: Self) -> Self {
        let (low, carry) = self.low.overflowing_add(other.low);
        Self { high: self.high.wrapping_add(other.high).wrapping_add(carry as u128), low }
    }

    pub(super) const fn minus(self, other: Self) -> Self {
        let (low, borrow) = self.low.overflowing_sub(other.low);
        Self { high: self.high.wrapping_sub(other.high).wrapping_sub(borrow as u128), low }
    }

    /// What is left of the lowest bits, from the one at a place between 1 and 127 on.
    const fn shifted(self, places: u32) -> u128 {
        self.high << (128 - places) | self.low >> places
    }

    /// Of a number between −2^255 and 2^255.
    fn nearest_double(self) -> f64 {
        const DIGIT: f64 = 340_282_366_920_938_463_463_374_607_431_768_211_456.0;
        if self.high.cast_signed() < 0 {
            return -Self::default().minus(self).nearest_double();
        }
        self.high as f64 * DIGIT + self.low as f64
    }

    /// √x of x < 2^254, wrong by less than 2.
    pub(super) fn root(self) -> i128 {
        let mut root = self.nearest_double().sqrt() as i128;
        // Newton's steps from an exact remainder: each has some fifty more digits.
        for _ in 0..2 {
            if root > 0 {
                root += (self.minus(Self::square(root)).nearest_double() / (2.0 * root as f64)).round() as i128;
            }
        }
        root
    }
}

/// Bits of a number below 2, one of them before the point.
const ONE: u128 = 1 << 126;
/// Factors 1 + 2^−k up to this one leave so little that two terms of a series are enough.
const FACTORS: u32 = 43;

/// log₂(1 + 2^−k) in units of 2^−126, for k from 1.
static FACTOR_LOGARITHMS: LazyLock<[i128; FACTORS as usize]> =
    LazyLock::new(|| std::array::from_fn(|index| by_squares(ONE + (ONE >> (index + 1)))));

/// log₂ of a positive double, to the nearest multiple of 2^−96 but for the last digit.
pub(super) fn logarithm(value: f64) -> Rounded {
    /// log₂ e in units of 2^−126.
    const SCALE: u128 = 0x5c55_1d94_ae0b_f85d_df43_ff68_348e_9f44;
    /// Digits that are computed and not kept.
    const MORE: u32 = 126 - Rounded::FRACTION;
    // Subnormal numbers times 2^64.
    let (value, less) = if value < f64::MIN_POSITIVE { (value * 2_f64.powi(64), 64) } else { (value, 0) };
    let bits = value.to_bits();
    let exponent = i128::from(bits >> 52) - 1023 - less;
    let fraction = bits & ((1 << 52) - 1);
    let whole = exponent << Rounded::FRACTION;
    if fraction == 0 {
        return Rounded(whole);
    }
    // Multiplied by factors as long as the product is at most 2, which it nearly is in the end.
    let mut product = ONE | u128::from(fraction) << 74;
    let mut logarithm = ONE.cast_signed();
    for (place, of_factor) in (1..).zip(&*FACTOR_LOGARITHMS) {
        let next = product + (product >> place);
        if next <= 2 * ONE {
            product = next;
            logarithm -= of_factor;
        }
    }
    // −ln(1 − r) = r + r²/2 + …, in units of 2^−127; r < 2^−43.
    let rest = 2 * ONE - product;
    let half_square = ((rest >> 22) * (rest >> 22)) >> 84;
    logarithm -= (Double::product(rest + half_square, SCALE).shifted(127)).cast_signed();
    Rounded(whole + ((logarithm + (1 << (MORE - 1))) >> MORE))
}

/// log₂ of a number from 1 to 2, digit by digit: slow, for the table.
fn by_squares(mut number: u128) -> i128 {
    let mut found = 0;
    for place in (0..126).rev() {
        // Rounded down, which adds up to less than 2^−118.
        number = Double::product(number, number).shifted(126);
        if number >= 2 * ONE {
            number >>= 1;
            found |= 1 << place;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn as_double(number: Rounded) -> f64 {
        number.0 as f64 / 2_f64.powi(96)
    }

    #[test]
    fn logarithms_are_those_of_doubles_and_add_up() {
        let mut state = 1_u64;
        for _ in 0..2000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let [a, b] = [state >> 40, state >> 16 & 0xff_ffff].map(|number| (number + 1) as f64);
            assert!((as_double(logarithm(a / b)) - (a / b).log2()).abs() < 1e-14);
            // A product of 48 digits is exact.
            assert!((logarithm(a).0 + logarithm(b).0 - logarithm(a * b).0).abs() <= 4, "{a} {b}");
        }
        for exponent in [-1074, -1022, -3, 0, 1, 1023] {
            assert_eq!(
                logarithm(2_f64.powi(exponent / 2) * 2_f64.powi(exponent - exponent / 2)).0 >> 96,
                exponent.into()
            );
        }
        let next_to_one = logarithm(1.0 - f64::EPSILON / 2.0);
        assert!((as_double(next_to_one) / (-f64::EPSILON / 2.0 / std::f64::consts::LN_2) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn roots_of_squares() {
        for root in [0, 1, 2, 12_345_678, (1 << 97) + 12_345_678_987_654_321, (1 << 105) - 1, 1 << 60] {
            assert!((Double::square(root).root() - root).abs() < 2, "{root}");
            let above = Double::square(root).plus(Double { high: 0, low: root as u128 });
            assert!((above.root() - root).abs() < 2, "{root}");
        }
    }
}
