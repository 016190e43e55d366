//! Tails of the chi-squared and F distributions with a whole number of (first) degrees of freedom: sums of positive terms.

use std::f64::consts::PI;

use super::normal;
use super::student::{StudentT, log_inverse_beta};

/// P(X ≥ x) of the chi-squared distribution, for x ≥ 0.
#[must_use]
pub fn chi_squared_tail(x: f64, freedom: u32) -> f64 {
    let y = 0.5 * x;
    let is_odd = freedom % 2 == 1;
    let first = if is_odd { 2.0 * (y / PI).sqrt() } else { 1.0 };
    let before = if is_odd { normal::two_sides(x.sqrt()).0 } else { 0.0 };
    let start = if is_odd { 0.5 } else { 0.0 };
    // Rounding may leave the sum just above 1.
    (before + sum_of_terms(freedom / 2, first, -y, |step| y / (start + step))).min(1.0)
}

/// P(F ≥ x) of the F distribution, for x ≥ 0.
///
/// It is the regularised incomplete beta function at 1/(1 + first·x/second), for a = second/2 and b = first/2, by its
/// recurrence in b.
#[must_use]
pub fn f_tail(x: f64, first: u32, second: f64) -> f64 {
    let (a, odds) = (0.5 * second, f64::from(first) * x / second);
    let share = 1.0 / (1.0 + 1.0 / odds);
    let power = -a * odds.ln_1p();
    let is_odd = first % 2 == 1;
    let (before, factor, start) = if is_odd {
        (StudentT::new(second).two_sided_p((odds * second).sqrt()), 2.0 * log_inverse_beta(a).exp() * share.sqrt(), 0.5)
    } else {
        (0.0, 1.0, 0.0)
    };
    let sum = sum_of_terms(first / 2, factor, power, |step| (a + start + step - 1.0) / (start + step) * share);
    (before + sum).min(1.0)
}

/// The sum of so many terms, the first of them `first` · exp(`log`), the next one `ratio(1)` times that, and so on.
fn sum_of_terms(count: u32, first: f64, mut log: f64, ratio: impl Fn(f64) -> f64) -> f64 {
    // exp(log) alone may be too small for a double, and the sum without it too large.
    const LARGE: f64 = 1e200;
    let (mut sum, mut term) = (0.0, first);
    for step in 1..=count {
        sum += term;
        term *= ratio(f64::from(step));
        if sum + term > LARGE {
            (sum, term, log) = (sum / LARGE, term / LARGE, log + LARGE.ln());
        }
    }
    if sum == 0.0 { 0.0 } else { (sum.ln() + log).exp().min(1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_degrees_of_freedom_have_formulas() {
        for x in [0.0, 0.1, 3.0, 80.0_f64] {
            assert!((chi_squared_tail(x, 2) - (-0.5 * x).exp()).abs() < 1e-15);
            assert!((f_tail(x, 2, 7.0) - (1.0 + 2.0 * x / 7.0).powf(-3.5)).abs() < 1e-15);
            assert!((f_tail(x, 1, 7.0) - StudentT::new(7.0).two_sided_p(x.sqrt())).abs() < 1e-15);
        }
    }

    #[test]
    fn many_degrees_of_freedom_do_not_underflow() {
        // The median is about 1 − 2/(9 · freedom) of the mean.
        for freedom in [3000_u32, 3001] {
            let median = f64::from(freedom) * (1.0 - 2.0 / (9.0 * f64::from(freedom))).powi(3);
            assert!((chi_squared_tail(median, freedom) - 0.5).abs() < 1e-5);
            assert!((f_tail(1.0, freedom, f64::from(freedom)) - 0.5).abs() < 1e-9);
        }
    }
}
