//! Shares of pairs of rows that normal scores rank correctly.

use super::normal;

/// P(X > Y) of independent normal numbers, given as means and standard deviations; ties count half.
#[must_use]
pub fn normal_share_above((mean, deviation): (f64, f64), (other_mean, other_deviation): (f64, f64)) -> f64 {
    let [a, b, s, t] = in_range([mean, other_mean, deviation, other_deviation]);
    share_above_zero(a - b, s.hypot(t))
}

/// P(X₁ − X₂ > Y₁ − Y₂) of normal numbers of which the two of a difference are correlated; ties count half.
#[must_use]
pub fn normal_share_separated(means: [f64; 4], deviations: [f64; 4], correlation: f64) -> f64 {
    let [a, b, c, d] = means;
    let [s, t, u, v] = deviations;
    let [a, b, c, d, s, t, u, v] = in_range([a, b, c, d, s, t, u, v]);
    // The variance of a difference, s² + t² − 2 r s t, without taking nearly equal numbers from each other.
    let apart = (2.0 * (1.0 - correlation)).sqrt();
    let deviation = |s: f64, t: f64| (s - t).hypot(apart * s.sqrt() * t.sqrt());
    share_above_zero(a - b - c + d, deviation(s, t).hypot(deviation(u, v)))
}

fn share_above_zero(mean: f64, deviation: f64) -> f64 {
    if deviation > 0.0 {
        return normal::cdf(mean / deviation);
    }
    if mean == 0.0 { 0.5 } else { f64::from(u8::from(mean > 0.0)) }
}

/// The numbers times a power of two that keeps their sums and squares in range.
fn in_range<const N: usize>(numbers: [f64; N]) -> [f64; N] {
    let largest = numbers.iter().fold(0.0_f64, |largest, number| largest.max(number.abs()));
    let exponent = (largest.to_bits() >> 52) as i32 - 1023;
    // In two steps: a single factor would not be a normal number for the largest and smallest of them.
    let power = |exponent: i32| f64::from_bits(((1023 + exponent) as u64) << 52);
    let (half, rest) = (power(-exponent / 2), power(-exponent - -exponent / 2));
    numbers.map(|number| number * half * rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_of_any_unit() {
        let expected = normal::cdf(2.0 / 5.0_f64);
        for unit in [1e-300, 1e-8, 1.0, 3e5, 1e307] {
            let found = normal_share_above((3.0 * unit, 3.0 * unit), (unit, 4.0 * unit));
            assert!((found - expected).abs() < 1e-15, "{unit}");
            let means = [3.0, 1.0, 1.0, 3.0].map(|mean| mean * unit);
            let found = normal_share_separated(means, [unit; 4], 0.0);
            assert!((found - normal::cdf(2.0)).abs() < 1e-15, "{unit}");
        }
    }

    #[test]
    fn numbers_that_do_not_vary_are_above_or_tied() {
        assert_eq!(normal_share_separated([1.0, 1.0, 1.0, 1.0], [1.0; 4], 1.0), 0.5);
        assert_eq!(normal_share_separated([2.0, 1.0, 1.0, 1.0], [1.0; 4], 1.0), 1.0);
        assert_eq!(normal_share_separated([1.0, 2.0, 1.0, 1.0], [1.0; 4], 1.0), 0.0);
    }
}
