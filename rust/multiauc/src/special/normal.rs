//! The normal distribution.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// Below this the series of erf converges quickly, from here on the continued fraction of erfc.
const SERIES_BELOW: f64 = 1.5;
/// Steps of the continued fraction: enough for all digits from [`SERIES_BELOW`] on.
const STEPS: u32 = 60;

/// P(|Z| ≥ z) and P(|Z| < z) for z ≥ 0, the smaller of them with all its digits.
pub(super) fn two_sides(z: f64) -> (f64, f64) {
    let x = z * FRAC_1_SQRT_2;
    if x < SERIES_BELOW {
        let inside = erf_series(x);
        (1.0 - inside, inside)
    } else {
        let outside = erfc_fraction(x);
        (outside, 1.0 - outside)
    }
}

/// P(Z < z).
pub(super) fn cdf(z: f64) -> f64 {
    let (outside, inside) = two_sides(z.abs());
    if z < 0.0 { 0.5 * outside } else { 0.5 + 0.5 * inside }
}

/// The density at z.
pub(super) fn density(z: f64) -> f64 {
    exp_of_minus_square(z * FRAC_1_SQRT_2) / (2.0 * PI).sqrt()
}

/// erf for 0 ≤ x: 2x/√π exp(−x²) Σ (2x²)ⁿ/(1·3·…·(2n+1)), a sum of positive terms.
fn erf_series(x: f64) -> f64 {
    let square = 2.0 * x * x;
    let (mut sum, mut term, mut odd) = (1.0, 1.0, 1.0);
    while term > f64::EPSILON * 0.25 * sum {
        odd += 2.0;
        term *= square / odd;
        sum += term;
    }
    2.0 * x / PI.sqrt() * exp_of_minus_square(x) * sum
}

/// erfc for x that are not small: exp(−x²)/√π · x/(x² + 1/2 − a₁/(x² + 5/2 − a₂/(x² + 9/2 − …))), aₖ = k(2k − 1)/2.
fn erfc_fraction(x: f64) -> f64 {
    let square = x * x;
    let mut rest = 0.0;
    for step in (1..=STEPS).rev() {
        let k = f64::from(step);
        rest = 0.5 * k * (2.0 * k - 1.0) / (square + 2.0 * k + 0.5 - rest);
    }
    // At infinity x/x² would be NaN.
    if square.is_infinite() { 0.0 } else { exp_of_minus_square(x) / PI.sqrt() * x / (square + 0.5 - rest) }
}

/// exp(−x²), without the error that rounding x² would make.
fn exp_of_minus_square(x: f64) -> f64 {
    let square = x * x;
    if square > 750.0 { 0.0 } else { (-square).exp() * (1.0 - x.mul_add(x, -square)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_have_all_their_digits() {
        // From SciPy: 2 · norm.sf(z).
        for (z, outside) in [
            (0.0, 1.0),
            (1e-3, 0.999_202_115_572_177_9),
            (1.0, 0.317_310_507_862_914_15),
            (2.0, 0.045_500_263_896_358_39),
            (2.2, 0.027_806_895_026_997_19),
            (6.0, 1.973_175_290_075_389e-9),
            (37.0, 1.145_114_244_504_785_3e-299),
        ] {
            let found = two_sides(z).0;
            assert!((found - outside).abs() <= 1e-13 * outside, "{z}: {found:e}");
        }
        assert_eq!(two_sides(f64::INFINITY), (0.0, 1.0));
        assert_eq!(cdf(f64::NEG_INFINITY), 0.0);
    }

    #[test]
    fn both_methods_agree_where_they_meet() {
        for x in [1.45, 1.5, 1.55] {
            assert!((1.0 - erf_series(x) - erfc_fraction(x)).abs() < 5e-16, "{x}");
        }
    }
}
