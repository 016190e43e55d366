//! From row effects to a curve: mapped back, made monotone, closed at both ends, and integrated.

/// The rate that (1 − 2ε)x + ε stands for; 0 or 1 where there is none.
#[must_use]
pub(crate) fn stretched(rate: f64, epsilon: f64) -> f64 {
    ((rate - epsilon) / (1.0 - 2.0 * epsilon)).clamp(0.0, 1.0)
}

/// Turns a sequence into the nearest one (least squares) that never falls: pool adjacent violators.
pub(crate) fn make_monotone(values: &mut [f64]) {
    // Pools as (sum, length); the last two are merged while their means fall.
    let mut pools: Vec<(f64, usize)> = Vec::with_capacity(values.len());
    for &value in values.iter() {
        pools.push((value, 1));
        while let [.., (sum, length), (last_sum, last_length)] = pools[..] {
            if sum * last_length as f64 <= last_sum * length as f64 {
                break;
            }
            pools.truncate(pools.len() - 2);
            pools.push((sum + last_sum, length + last_length));
        }
    }
    let mut rest = values;
    for (sum, length) in pools {
        let (pool, after) = rest.split_at_mut(length);
        // A pool of one keeps its bits.
        if length > 1 {
            pool.fill(sum / length as f64);
        }
        rest = after;
    }
}

/// Area under the polygon (0, 0), (`fpr_1`, `tpr_1`), …, (1, 1) by trapezoids.
#[must_use]
pub(crate) fn area_under(fpr: &[f64], tpr: &[f64]) -> f64 {
    let mut last = (0.0, 0.0);
    let mut area = 0.0;
    for point in fpr.iter().copied().zip(tpr.iter().copied()).chain([(1.0, 1.0)]) {
        area += (point.0 - last.0) * (point.1 + last.1) / 2.0;
        last = point;
    }
    area
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn pools_adjacent_violators() {
        let mut values = [1.0, 3.0, 2.0, 4.0, 3.0, 3.0];
        make_monotone(&mut values);
        assert_eq!(values, [1.0, 2.5, 2.5, 10.0 / 3.0, 10.0 / 3.0, 10.0 / 3.0]);
    }

    #[test]
    fn areas_of_simple_curves() {
        assert_eq!(area_under(&[], &[]), 0.5);
        assert_eq!(area_under(&[0.0], &[1.0]), 1.0);
        assert_eq!(area_under(&[1.0], &[0.0]), 0.0);
    }

    proptest! {
        /// The optimality conditions of isotonic regression: monotone, and every pool is the mean of its values.
        #[test]
        fn is_the_isotonic_regression(values in prop::collection::vec(-1.0_f64..1.0, 1..40)) {
            let mut fitted = values.clone();
            make_monotone(&mut fitted);
            prop_assert!(fitted.windows(2).all(|pair| pair[0] <= pair[1] + 1e-15));
            let mut partial = 0.0;
            for (index, (value, fit)) in values.iter().zip(&fitted).enumerate() {
                partial += value - fit;
                let pool_ends = index + 1 == values.len() || fitted[index + 1] > *fit;
                prop_assert!(partial >= -1e-12);
                prop_assert!(!pool_ends || partial.abs() < 1e-12);
            }
        }
    }
}
