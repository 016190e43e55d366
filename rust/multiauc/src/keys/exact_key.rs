//! Differences of scores, compared exactly in spite of rounding.

use std::cmp::Ordering;

use super::fraction::Fraction;

/// κ = r_a − r_b of one row, r being the score or the fraction it stands for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ExactKey {
    /// a − b, rounded.
    difference: f64,
    a: f64,
    b: f64,
    /// Denominators of the fractions that a and b stand for; 0 where they stand for themselves.
    denominators: [u32; 2],
}

impl ExactKey {
    /// Of scores that stand for themselves.
    pub(crate) fn plain(a: f64, b: f64) -> Self {
        Self::new(a, b, [None, None])
    }

    /// Of scores that stand for a fraction if they are the double nearest to one.
    pub(crate) fn of_doubles(a: f64, b: f64) -> Self {
        Self::new(a, b, [Fraction::of_double(a), Fraction::of_double(b)])
    }

    fn new(a: f64, b: f64, fractions: [Option<Fraction>; 2]) -> Self {
        let denominators = fractions.map(|fraction| fraction.map_or(0, |fraction| fraction.denominator as u32));
        Self { difference: a - b, a, b, denominators }
    }

    /// κ as numerator / denominator where both scores are fractions.
    fn as_ratio(&self) -> Option<(i64, i64)> {
        let [x, y] = [self.fraction(0)?, self.fraction(1)?];
        // At most 2^22 · 10^6 · 10^6 each way.
        Some((x.0 * y.1 - y.0 * x.1, x.1 * y.1))
    }

    /// Numerator and denominator of one of the scores.
    fn fraction(&self, side: usize) -> Option<(i64, i64)> {
        let denominator = i64::from(self.denominators[side]);
        let score = if side == 0 { self.a } else { self.b };
        (denominator > 0).then(|| ((score * denominator as f64).round() as i64, denominator))
    }

    /// The sign of κ − κ′ with all denominators multiplied out, in as many digits as it takes.
    fn minus(&self, other: &Self) -> Ordering {
        let denominator = |key: &Self| key.denominators.map(|q| i64::from(q.max(1))).into_iter().product::<i64>();
        let (mine, others) = (denominator(self), denominator(other));
        let mut sum = WideSum::new();
        for (key, factor, sign) in [(self, others, 1), (other, mine, -1)] {
            for (side, score, sign) in [(0, key.a, sign), (1, key.b, -sign)] {
                let cofactor = i64::from(key.denominators[1 - side].max(1)) * factor;
                match key.fraction(side) {
                    Some((numerator, _)) => sum.add(numerator as f64, i128::from(sign * cofactor)),
                    None => sum.add(score, i128::from(sign * cofactor)),
                }
            }
        }
        sum.sign()
    }
}

/// The order of κ.
impl Ord for ExactKey {
    fn cmp(&self, other: &Self) -> Ordering {
        // Another thread may write NaN or infinity into the scores while we read them: sorts need a total order even then.
        let is_odd = |key: &Self| !(key.a.is_finite() && key.b.is_finite());
        if is_odd(self) || is_odd(other) {
            return is_odd(self).cmp(&is_odd(other)).then_with(|| self.difference.total_cmp(&other.difference));
        }
        // Differences further apart than all their rounding errors are already in the right order.
        let slack = 4.0 * f64::EPSILON * (self.a.abs().max(self.b.abs()) + other.a.abs().max(other.b.abs()));
        if (self.difference - other.difference).abs() > slack {
            return self.difference.total_cmp(&other.difference);
        }
        match (self.as_ratio(), other.as_ratio()) {
            (Some((p, q)), Some((r, s))) => (i128::from(p) * i128::from(s)).cmp(&(i128::from(r) * i128::from(q))),
            _ if self.denominators == [0; 2] && other.denominators == [0; 2] && self.difference.is_finite() => {
                // Rounding keeps the order, except that it may make differences equal: then their rounding errors
                // decide.
                let error = |key: &Self| two_sum_error(key.a, -key.b);
                let by_difference = self.difference.partial_cmp(&other.difference);
                by_difference.unwrap_or(Ordering::Equal).then_with(|| error(self).total_cmp(&error(other)))
            }
            _ => self.minus(other),
        }
    }
}

impl PartialOrd for ExactKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ExactKey {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for ExactKey {}

/// The rounding error of a − b.
pub(crate) fn rounding_of_difference<T: Into<f64>>(a: T, b: T) -> f64 {
    two_sum_error(a.into(), -b.into())
}

/// The rounding error of a + b (Knuth's `TwoSum`); plus zero, so that −0 becomes 0.
fn two_sum_error(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let b_part = sum - a;
    (a - (sum - b_part)) + (b - b_part) + 0.0
}

/// A sum of doubles times integers, without rounding: 32-bit digits from 2^−1074 up, each with room for carries.
struct WideSum([i64; WideSum::DIGITS]);

impl WideSum {
    /// From 2^−1074 to 2^1024, and 64 bits for factors and carries.
    const DIGITS: usize = (1074 + 1024 + 64) / 32 + 3;

    const fn new() -> Self {
        Self([0; Self::DIGITS])
    }

    /// Adds value · factor; the factor below 2^62.
    fn add(&mut self, value: f64, factor: i128) {
        let bits = value.to_bits();
        let exponent = (bits >> 52 & 0x7ff) as usize;
        let fraction = bits & ((1 << 52) - 1);
        // Subnormal numbers have the exponent of the smallest normal ones and no leading one.
        let (mantissa, position) = if exponent == 0 { (fraction, 0) } else { (fraction | 1 << 52, exponent - 1) };
        let product = i128::from(mantissa) * factor;
        let mut rest = product.unsigned_abs();
        let sign = if (product < 0) ^ value.is_sign_negative() { -1 } else { 1 };
        // Shifted to where it begins in its first digit, 32 bits at a time so that nothing overflows.
        let (digit, shift) = (position / 32, position % 32);
        let mut carry = 0_u128;
        let mut place = digit;
        while rest > 0 || carry > 0 {
            let part = ((rest & 0xffff_ffff) << shift) + carry;
            self.0[place] += sign * (part & 0xffff_ffff) as i64;
            carry = part >> 32;
            rest >>= 32;
            place += 1;
        }
    }

    fn sign(mut self) -> Ordering {
        for digit in 0..Self::DIGITS - 1 {
            let carry = self.0[digit].div_euclid(1 << 32);
            self.0[digit] -= carry << 32;
            self.0[digit + 1] += carry;
        }
        // Every digit but the last is now in 0..2^32, so the last one has the sign, unless it is zero.
        match self.0[Self::DIGITS - 1].cmp(&0) {
            Ordering::Equal if self.0.iter().any(|&digit| digit != 0) => Ordering::Greater,
            sign => sign,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(a: f64, b: f64) -> ExactKey {
        ExactKey::of_doubles(a, b)
    }

    #[test]
    fn fractions_tie_where_their_differences_do_on_paper() {
        assert_eq!(key(0.3, 0.2).cmp(&key(0.2, 0.1)), Ordering::Equal);
        assert_eq!(key(1.0 / 3.0, 1.0 / 7.0).cmp(&key(10.0 / 21.0, 2.0 / 7.0)), Ordering::Equal);
        assert_eq!(key(0.3, 0.2).cmp(&key(0.301, 0.2)), Ordering::Less);
    }

    #[test]
    fn a_fraction_beside_a_smooth_score_is_still_a_fraction() {
        // Both differences are −1/6 + 2^−52.
        let first = key(0.500_000_000_000_000_2, 2.0 / 3.0);
        let second = key(1.0 / 3.0, 0.499_999_999_999_999_8);
        assert_eq!(first.cmp(&second), Ordering::Equal);
    }

    #[test]
    fn tiny_scores_keep_their_order_beside_large_ones() {
        assert_eq!(key(1.0 / 3.0, 1e-300).cmp(&key(1.0 / 3.0, 2e-300)), Ordering::Greater);
        assert_eq!(key(1.0, 1e-26).cmp(&key(1.0, 2e-26)), Ordering::Greater);
        assert_eq!(key(5e-324, 0.0).cmp(&key(0.0, 0.0)), Ordering::Greater);
        assert_eq!(key(0.0, -0.0).cmp(&key(-0.0, 0.0)), Ordering::Equal);
    }

    #[test]
    fn differences_beyond_the_largest_double_are_compared_too() {
        let (large, larger) = (1.7e308, 1.700_000_000_000_001e308);
        assert_eq!(key(large, -large).cmp(&key(large, -larger)), Ordering::Less);
        assert_eq!(key(-large, large).cmp(&key(-large, larger)), Ordering::Greater);
        assert_eq!(key(large, -larger).cmp(&key(larger, -large)), Ordering::Equal);
    }

    #[test]
    fn the_order_is_total_whatever_another_thread_writes() {
        let scores =
            [0.0, 0.1, 0.3, 0.5, 1e17, -1e17, 1e300, f64::MAX, f64::MIN, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        let pairs: Vec<(f64, f64)> = scores.iter().flat_map(|&a| scores.map(|b| (a, b))).collect();
        let keys: Vec<ExactKey> =
            pairs.iter().flat_map(|&(a, b)| [ExactKey::plain(a, b), ExactKey::of_doubles(a, b)]).collect();
        for a in &keys {
            for b in &keys {
                assert_eq!(a.cmp(b), b.cmp(a).reverse(), "{a:?} {b:?}");
                for c in &keys {
                    if a <= b && b <= c {
                        assert!(a <= c, "{a:?} {b:?} {c:?}");
                    }
                }
            }
        }
    }
}
