//! Student's t distribution: tails, quantiles and the power of its test, for any positive number of degrees of freedom.

use std::f64::consts::PI;

use super::normal;

/// With this many degrees of freedom the normal distribution agrees in all digits that matter.
pub const NORMAL_FROM: f64 = 1e8;
/// From here on expansions around the normal distribution are quicker than the continued fraction, and have more digits,
/// for numbers up to [`NEAR`] times the root of the degrees of freedom.
const MANY: f64 = 2000.0;
const NEAR: f64 = 0.1;
const TINY: f64 = 1e-300;
/// Points of the polynomial that stands for many quantiles.
const NODES: usize = 64;

/// Student's t distribution.
#[derive(Debug, Clone, Copy)]
pub struct StudentT {
    freedom: f64,
    /// −log B(ν/2, 1/2).
    log_inverse_beta: f64,
}

impl StudentT {
    /// With that many degrees of freedom. If they are NaN, so are all numbers but the p-value of an infinite t.
    #[must_use]
    pub fn new(freedom: f64) -> Self {
        let log_inverse_beta = if freedom < NORMAL_FROM { log_inverse_beta(0.5 * freedom) } else { f64::NAN };
        Self { freedom, log_inverse_beta }
    }

    /// P(|T| ≥ |t|).
    #[must_use]
    pub fn two_sided_p(&self, t: f64) -> f64 {
        if t.is_infinite() { 0.0 } else { self.two_sides(t.abs()).0 }
    }

    /// P(T ≥ t).
    #[must_use]
    pub fn upper_p(&self, t: f64) -> f64 {
        let half = 0.5 * self.two_sided_p(t);
        if t >= 0.0 { half } else { 1.0 - half }
    }

    /// The t with P(T > t) = `tail`.
    #[must_use]
    pub fn upper_quantile(&self, tail: f64) -> f64 {
        if tail > 0.5 {
            return -self.upper_quantile(1.0 - tail);
        }
        let (outside, inside) = (2.0 * tail, 1.0 - 2.0 * tail);
        let z = normal_quantile(outside, inside);
        self.quantile(z, outside, inside)
    }

    /// The t that is exceeded as often as a normal number exceeds z ≥ 0.
    #[must_use]
    pub fn quantile_as_far(&self, z: f64) -> f64 {
        if self.freedom >= MANY && z * z <= NEAR * NEAR * self.freedom {
            return self.expanded_quantile(z);
        }
        let (outside, inside) = normal::two_sides(z);
        self.quantile(z, outside, inside)
    }

    /// How often a two-sided test rejects, for a difference of `shift` standard errors: P(|T| > t) for the noncentral T,
    /// over the distribution of the estimated standard error in units of the true one.
    #[must_use]
    pub fn power(&self, shift: f64, tail: f64) -> f64 {
        const STEPS: u32 = 800;
        let t = self.upper_quantile(tail);
        let rejected = |error: f64| normal::cdf(shift - t * error) + normal::cdf(-shift - t * error);
        if self.freedom >= NORMAL_FROM {
            return rejected(1.0);
        }
        // The logarithm of the error has a smooth density, next to nothing beyond ten of its standard deviations.
        let spread = 1.0 / (2.0 * self.freedom).sqrt();
        let (mut total, mut sum) = (0.0, 0.0);
        for step in 0..=STEPS {
            let log = spread * (50.0 * f64::from(step) / f64::from(STEPS) - 40.0);
            let error = log.exp();
            let weight = (self.freedom * (log - 0.5 * (error * error - 1.0))).exp();
            total += weight;
            sum += weight * rejected(error);
        }
        sum / total
    }

    /// P(|T| ≥ t) and P(|T| < t) for t ≥ 0, the smaller of them with all its digits.
    fn two_sides(&self, t: f64) -> (f64, f64) {
        if self.freedom >= NORMAL_FROM {
            return normal::two_sides(t);
        }
        let half = 0.5 * self.freedom;
        let ratio = t / self.freedom.sqrt();
        let square = ratio * ratio;
        if self.freedom >= MANY && ratio <= NEAR {
            return normal::two_sides(self.normal_as_far(square));
        }
        // The regularised incomplete beta function at 1 / (1 + t²/ν), for a = ν/2 and b = 1/2.
        let (x, complement) = (1.0 / (1.0 + square), 1.0 / (1.0 + 1.0 / square));
        if complement == 0.0 {
            return (1.0, 0.0);
        }
        let front = (self.log_inverse_beta - half * log_of_one_and_square(ratio) + 0.5 * complement.ln()).exp();
        if x < (half + 1.0) / (half + 2.5) {
            let outside = front * continued_fraction(half, 0.5, x) / half;
            (outside, 1.0 - outside)
        } else {
            let inside = front * continued_fraction(0.5, half, complement) / 0.5;
            (1.0 - inside, inside)
        }
    }

    fn density(&self, t: f64) -> f64 {
        if self.freedom >= NORMAL_FROM {
            return normal::density(t);
        }
        let log = log_of_one_and_square(t / self.freedom.sqrt());
        (self.log_inverse_beta - 0.5 * self.freedom.ln() - 0.5 * (self.freedom + 1.0) * log).exp()
    }

    /// The t ≥ 0 with P(|T| ≥ t) = `outside` = 1 − `inside`, which is as far out as z is of a normal number.
    fn quantile(&self, z: f64, outside: f64, inside: f64) -> f64 {
        if self.freedom.is_nan() || z.is_nan() {
            return f64::NAN;
        }
        if self.freedom >= NORMAL_FROM || z == 0.0 || z.is_infinite() {
            return z;
        }
        // Wallace's approximation.
        let nu = self.freedom;
        let power = ((8.0 * nu + 1.0) / (8.0 * nu + 3.0) * z).powi(2) / nu;
        self.refined(nu.sqrt() * power.min(1400.0).exp_m1().sqrt(), outside, inside)
    }

    /// Newton's steps, on scales where heavy and light tails are nearly straight: the logarithms of t and of the smaller
    /// of the two probabilities.
    fn refined(&self, start: f64, outside: f64, inside: f64) -> f64 {
        let (mut t, mut last) = (start, f64::INFINITY);
        for _ in 0..100 {
            let (found_outside, found_inside) = self.two_sides(t);
            let slope = 2.0 * t * self.density(t);
            let step = if outside > inside {
                (inside / found_inside).ln() * found_inside / slope
            } else {
                (found_outside / outside).ln() * found_outside / slope
            };
            // Where a probability is too small for a double, t is too far out.
            let step = if step.is_nan() { -0.1 } else { step.clamp(-1.0, 100.0) };
            t *= step.exp();
            // What is left is rounding once steps no longer become shorter.
            if step.abs() <= f64::EPSILON || (step.abs() < 1e-9 && step.abs() >= last) {
                break;
            }
            last = step.abs();
        }
        t
    }

    /// The normal number that is exceeded as often as a t with this t²/ν (G. W. Hill, Algorithm 395, Communications of the
    /// ACM 13 (1970), 617-619).
    fn normal_as_far(&self, square: f64) -> f64 {
        let a = self.freedom - 0.5;
        let (b, y) = (48.0 * a * a, a * square.ln_1p());
        let second = (((-0.4 * y - 3.3) * y - 24.0) * y - 85.5) / (0.8 * y * y + 100.0 + b);
        y.sqrt() * (1.0 + (second + y + 3.0) / b)
    }

    /// The expansion of Cornish and Fisher.
    fn expanded_quantile(&self, z: f64) -> f64 {
        let square = z * z;
        let terms = [
            (square + 1.0) / 4.0,
            ((5.0 * square + 16.0) * square + 3.0) / 96.0,
            (((3.0 * square + 19.0) * square + 17.0) * square - 15.0) / 384.0,
            ((((79.0 * square + 776.0) * square + 1482.0) * square - 1920.0) * square - 945.0) / 92160.0,
        ];
        z * (1.0 + terms.iter().rev().fold(0.0, |sum, term| (sum + term) / self.freedom))
    }
}

/// The z ≥ 0 with P(|Z| ≥ z) = `outside` = 1 − `inside`.
pub(super) fn normal_quantile(outside: f64, inside: f64) -> f64 {
    if inside <= 0.0 || outside <= 0.0 {
        return if inside <= 0.0 { 0.0 } else { f64::INFINITY };
    }
    // Hastings' approximation, right to three digits, and the line that the quantile starts as.
    let w = (-2.0 * (0.5 * outside).ln()).sqrt();
    let above = 2.515_517 + w * (0.802_853 + w * 0.010_328);
    let below = 1.0 + w * (1.432_788 + w * (0.189_269 + w * 0.001_308));
    StudentT::new(NORMAL_FROM).refined((w - above / below).max(inside * (0.5 * PI).sqrt()), outside, inside)
}

/// [`StudentT::upper_quantile`] of many degrees of freedom from 1 on, to eleven digits; NaN for NaN.
///
/// The logarithm of t is smooth in 1/ν: a polynomial through its Chebyshev points stands for it.
#[must_use]
pub fn upper_quantiles(tail: f64, freedoms: &[f64]) -> Vec<f64> {
    if freedoms.len() <= NODES {
        return freedoms.iter().map(|&freedom| StudentT::new(freedom).upper_quantile(tail)).collect();
    }
    let angle = |node: usize| PI * (node as f64 + 0.5) / NODES as f64;
    // 1/ν = (1 + cos angle)/2.
    let logs: Vec<f64> =
        (0..NODES).map(|node| StudentT::new(2.0 / (1.0 + angle(node).cos())).upper_quantile(tail).ln()).collect();
    let coefficient = |order: usize| {
        let sum: f64 = (0..NODES).map(|node| logs[node] * (order as f64 * angle(node)).cos()).sum();
        sum * if order == 0 { 1.0 } else { 2.0 } / NODES as f64
    };
    let coefficients: Vec<f64> = (0..NODES).map(coefficient).collect();
    let value = |&freedom: &f64| {
        // Clenshaw's recurrence.
        let x = 2.0 / freedom - 1.0;
        let (one, two) = coefficients[1..]
            .iter()
            .rev()
            .fold((0.0, 0.0), |(one, two), coefficient| (coefficient + 2.0 * x * one - two, one));
        (coefficients[0] + x * one - two).exp()
    };
    freedoms.iter().map(value).collect()
}

/// log(1 + r²), for any r.
fn log_of_one_and_square(r: f64) -> f64 {
    if r > 1e10 { 2.0 * r.ln() } else { (r * r).ln_1p() }
}

/// −log B(a, 1/2) = log Γ(a + ½) − log Γ(a) − ½ log π.
pub(super) fn log_inverse_beta(a: f64) -> f64 {
    // The ratio of gamma functions has an expansion that is right from here on; below, its recurrence.
    const ENOUGH: f64 = 32.0;
    let (mut at, mut ratio) = (a, 1.0);
    while at < ENOUGH {
        ratio *= at / (at + 0.5);
        at += 1.0;
    }
    let inverse = 1.0 / (at * at);
    let series = (-1.0 / 8.0 + inverse * (1.0 / 192.0 + inverse * (-1.0 / 640.0 + inverse * 17.0 / 14336.0))) / at;
    ratio.ln() + 0.5 * (at / PI).ln() + series
}

/// The continued fraction of the incomplete beta function, evaluated forwards by Lentz's method.
fn continued_fraction(a: f64, b: f64, x: f64) -> f64 {
    let away_from_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let (mut c, mut d) = (1.0, 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0)));
    let mut value = d;
    for step in 1..100_000 {
        let m = f64::from(step);
        let twice = a + 2.0 * m;
        for term in [m * (b - m) * x / ((twice - 1.0) * twice), -(a + m) * (a + b + m) * x / (twice * (twice + 1.0))] {
            d = 1.0 / away_from_zero(1.0 + term * d);
            c = away_from_zero(1.0 + term / c);
            value *= c * d;
        }
        // NaN never converges.
        if (c * d - 1.0).abs() < 3e-16 || value.is_nan() {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(found: f64, expected: f64, tolerance: f64) {
        assert!((found - expected).abs() <= tolerance * expected.abs(), "{found:e} is not {expected:e}");
    }

    #[test]
    fn one_and_two_degrees_of_freedom_have_formulas() {
        let (one, two) = (StudentT::new(1.0), StudentT::new(2.0));
        for t in [1e-9, 0.1, 1.0, 2.5, 40.0, 1e9, 1e200] {
            assert_close(one.two_sided_p(t), 2.0 / PI * (1.0 / t).atan(), 1e-13);
            let root = (2.0 + t * t).sqrt();
            if t < 1e100 {
                assert_close(two.two_sided_p(t), 2.0 / (root * (root + t)), 1e-13);
            }
        }
        for tail in [0.4, 0.025, 1e-5, 1e-100] {
            assert_close(one.upper_quantile(tail), 1.0 / (PI * tail).tan(), 2e-14);
        }
    }

    #[test]
    fn quantiles_invert_tails() {
        for freedom in [0.7, 1.0, 3.3, 30.0, 1e3, 1e6, 1e9, f64::INFINITY] {
            let t = StudentT::new(freedom);
            for tail in [0.4999, 0.3, 0.025, 1e-6, 1e-30] {
                assert_close(t.upper_p(t.upper_quantile(tail)), tail, 1e-12);
                assert_eq!(t.upper_quantile(1.0 - tail), -t.upper_quantile(1.0 - (1.0 - tail)));
            }
            assert_eq!(t.upper_quantile(0.5), 0.0);
            assert_eq!(t.quantile_as_far(0.0), 0.0);
        }
        assert!(StudentT::new(f64::NAN).upper_quantile(0.025).is_nan());
        assert!(StudentT::new(f64::NAN).two_sided_p(1.0).is_nan());
        assert_eq!(StudentT::new(3.0).two_sided_p(f64::NEG_INFINITY), 0.0);
    }

    #[test]
    fn expansions_meet_what_they_stand_for() {
        for freedom in [2000.0, 2500.5, 1e5] {
            let t = StudentT::new(freedom);
            for share in [0.01, 0.3, 1.0] {
                let z = share * NEAR * freedom.sqrt();
                let (outside, inside) = normal::two_sides(z);
                assert_close(t.quantile_as_far(z), t.quantile(z, outside, inside), 1e-12);
            }
        }
        let freedoms: Vec<f64> = (0..500).map(|place| 1.1_f64.powi(place % 190)).collect();
        for tail in [0.25, 0.05, 0.025, 1e-4] {
            for (found, &freedom) in upper_quantiles(tail, &freedoms).into_iter().zip(&freedoms) {
                assert_close(found, StudentT::new(freedom).upper_quantile(tail), 1e-11);
            }
        }
    }

    #[test]
    fn a_test_without_a_difference_rejects_as_often_as_it_may() {
        for freedom in [1.0, 5.0, 1e4, 1e9] {
            assert_close(StudentT::new(freedom).power(0.0, 0.025), 0.05, 1e-9);
        }
    }
}
