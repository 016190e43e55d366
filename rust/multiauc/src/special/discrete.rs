//! Sums of independent numbers with few values.

/// Values and their probabilities.
pub type Discrete<'a> = (&'a [f64], &'a [f64]);

/// P(X₁ + X₂ > Y₁ + Y₂) of independent numbers, ties counting half; NaN if one of the values is.
#[must_use]
pub fn share_of_sums_above(own: [Discrete<'_>; 2], other: [Discrete<'_>; 2]) -> f64 {
    let (own, mut other) = (sums(own), sums(other));
    if own.iter().chain(&other).any(|&(value, _)| value.is_nan()) {
        return f64::NAN;
    }
    other.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut below = vec![0.0];
    for &(_, probability) in &other {
        below.push(below[below.len() - 1] + probability);
    }
    let credit = |value: f64| {
        let lower = other.partition_point(|one| one.0 < value);
        let upper = lower + other[lower..].partition_point(|one| one.0 <= value);
        0.5 * (below[lower] + below[upper])
    };
    own.iter().map(|&(value, probability)| probability * credit(value)).sum::<f64>().min(1.0)
}

/// The sums of all pairs of values.
fn sums([(x, of_x), (y, of_y)]: [Discrete<'_>; 2]) -> Vec<(f64, f64)> {
    let with = |(&a, &p): (&f64, &f64)| y.iter().zip(of_y).map(move |(b, q)| (a + b, p * q)).collect::<Vec<_>>();
    x.iter().zip(of_x).flat_map(with).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_of_all_quadruples() {
        let coin: Discrete<'_> = (&[0.0, 1.0], &[0.5, 0.5]);
        assert_eq!(share_of_sums_above([coin, coin], [coin, coin]), 0.5);
        // 0 + 0, 1, 1 or 2 against 1: below, two ties, above.
        assert_eq!(share_of_sums_above([coin, coin], [(&[1.0], &[1.0]), (&[0.0], &[1.0])]), 0.5);
        assert_eq!(share_of_sums_above([coin, coin], [(&[0.5], &[1.0]), (&[0.0], &[1.0])]), 0.75);
        assert!(share_of_sums_above([coin, (&[f64::NAN], &[1.0])], [coin, coin]).is_nan());
    }
}
