//! Differences between two estimates of different rows, from the intervals of both ("square and add", MOVER).
//!
//! A slice of a hundred rows may well be perfectly separated, and its estimated variance is the smaller the better it
//! seems to be: the symmetric interval d ± t SE would find it better than the rest far too often. So the intervals of
//! both sides, which know the way to 1, are put together (R. G. Newcombe, "Interval estimation for the difference between
//! independent proportions", Statistics in Medicine 17 (1998), 873–890; G. Y. Zou and A. Donner, "Construction of
//! confidence limits about effect measures", the same 27 (2008), 1693–1702):
//!
//! d − √(κ((θ_s − l_s)² + (u_r − θ_r)²)) to d + √(κ((u_s − θ_s)² + (θ_r − l_r)²)),
//!
//! l and u being the limits that each side has by itself. κ = (V_s + V_r − 2C)/(V_s + V_r) allows for the covariance of
//! slice and reference: it is 1 for disjoint rows, unless they share groups. The test inverts the interval: the p-value is
//! that of the longest interval that leaves the hypothesis out, and its t is Student's with Welch's degrees of freedom for
//! that p-value.

use super::intervals::{Limits, Scale, Uncertain};
use crate::special::{NORMAL_FROM, StudentT, upper_quantiles};

/// No normal number is looked for beyond: its p-value is the least that a double has.
const FARTHEST: f64 = 37.5;
/// The steps of a search end when they hardly move, or after this many.
const STEPS: u32 = 40;
const ENOUGH: f64 = 1e-11;

/// A slice and what it is compared with, or two samples.
#[derive(Debug, Clone, Copy)]
pub struct Apart {
    /// The slice.
    pub first: Uncertain,
    /// What it is compared with.
    pub second: Uncertain,
    /// Of both.
    pub covariance: f64,
    /// Of both.
    pub scale: Scale,
}

impl Apart {
    /// The difference.
    #[must_use]
    pub fn value(&self) -> f64 {
        self.first.value - self.second.value
    }

    /// Its variance.
    #[must_use]
    pub fn variance(&self) -> f64 {
        let variance = self.total() - 2.0 * self.covariance;
        // Rounding aside it is a sum of squares.
        if variance < 0.0 { 0.0 } else { variance }
    }

    fn total(&self) -> f64 {
        self.first.variance + self.second.variance
    }

    /// Whether the first estimate has an interval.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.first.is_known(self.scale)
    }

    /// Whether there is a test.
    #[must_use]
    pub fn is_testable(&self) -> bool {
        self.is_known() && self.second.is_known(self.scale) && !self.covariance.is_nan()
    }

    /// Welch's degrees of freedom, as though both were independent; infinitely many where nothing varies.
    #[must_use]
    pub fn degrees_of_freedom(&self) -> f64 {
        if !self.is_testable() {
            return f64::NAN;
        }
        let (mut total, mut uncertainty) = (0.0, 0.0);
        for side in [&self.first, &self.second] {
            if side.variance > 0.0 {
                total += side.variance;
                uncertainty += side.variance * side.variance / side.degrees_of_freedom;
            }
        }
        if uncertainty > 0.0 { (total * total / uncertainty).max(1.0) } else { NORMAL_FROM }
    }

    /// The limits from those of both sides; NaN where there is no test.
    fn limits(&self, of_first: Limits, of_second: Limits) -> Limits {
        let (down, up) = self.reaches(of_first, of_second);
        (self.value() - down, self.value() + up)
    }

    /// How far the interval reaches below the difference, and above it.
    fn reaches(&self, (low, high): Limits, (second_low, second_high): Limits) -> Limits {
        if !self.is_testable() {
            return (f64::NAN, f64::NAN);
        }
        let total = self.total();
        let shrunk = if total > 0.0 { (self.variance() / total).sqrt() } else { 1.0 };
        let down = (self.first.value - low).hypot(second_high - self.second.value);
        let up = (high - self.first.value).hypot(self.second.value - second_low);
        (shrunk * down, shrunk * up)
    }

    /// The normal number that is exceeded as often, either way, as the p-value of the hypothesis that the difference is
    /// `null`, and Student's t for it, with the sign of the difference less `null`; NaN without a test.
    #[must_use]
    pub fn statistic(&self, null: f64) -> (f64, f64) {
        if !self.is_testable() {
            return (f64::NAN, f64::NAN);
        }
        let distance = self.value() - null;
        let z = if distance == 0.0 { 0.0 } else { self.find_normal(distance) };
        (z, StudentT::new(self.degrees_of_freedom()).quantile_as_far(z).copysign(distance))
    }

    /// How far out the interval is that just reaches the hypothesis.
    fn find_normal(&self, distance: f64) -> f64 {
        let sides = [&self.first, &self.second].map(|side| (side, StudentT::new(known(side.freedom()))));
        let normal = StudentT::new(f64::INFINITY);
        // How much an interval as far out as this one fails to reach the hypothesis, or reaches beyond it.
        let beyond = |z: f64| {
            let tail = normal.upper_p(z);
            let [first, second] =
                sides.each_ref().map(|(side, student)| side.limits(student.quantile_as_far(z), tail, self.scale));
            let (down, up) = self.reaches(first, second);
            (if distance > 0.0 { down } else { up }) - distance.abs()
        };
        let (mut low, mut high) = (0.0, 1.0_f64);
        let (mut below, mut above) = (-distance.abs(), beyond(high));
        while above < 0.0 && high < FARTHEST {
            (low, below) = (high, above);
            high = (2.0 * high).min(FARTHEST);
            above = beyond(high);
        }
        // The rule of false position, each end that stays counting half the next time (Illinois).
        let mut z = high;
        for _ in 0..STEPS {
            let straight = low - below * (high - low) / (above - below);
            let middle = if straight > low && straight < high { straight } else { 0.5 * (low + high) };
            let found = beyond(middle);
            if found < 0.0 {
                (low, below, above) = (middle, found, 0.5 * above);
            } else {
                (high, above, below) = (middle, found, 0.5 * below);
            }
            let moves = (middle - z).abs() > ENOUGH * middle.max(0.1) && found != 0.0;
            z = middle;
            if !moves {
                break;
            }
        }
        z
    }
}

/// Degrees of freedom; infinitely many where nothing varies.
fn known(freedom: f64) -> f64 {
    if freedom.is_nan() { NORMAL_FROM } else { freedom }
}

/// The limits of the first estimates, with this probability beyond each of them.
#[must_use]
pub fn first_intervals(pairs: &[Apart], tail: f64) -> Vec<Limits> {
    side_limits(pairs, tail, |pair| &pair.first)
}

/// The limits of the differences, with this probability beyond each of them; NaN where there is no test.
#[must_use]
pub fn mover_intervals(pairs: &[Apart], tail: f64) -> Vec<Limits> {
    let (first, second) = (first_intervals(pairs, tail), side_limits(pairs, tail, |pair| &pair.second));
    pairs.iter().zip(first.into_iter().zip(second)).map(|(pair, (a, b))| pair.limits(a, b)).collect()
}

fn side_limits(pairs: &[Apart], tail: f64, side: fn(&Apart) -> &Uncertain) -> Vec<Limits> {
    let freedoms: Vec<f64> = pairs.iter().map(|pair| known(side(pair).freedom())).collect();
    let quantiles = upper_quantiles(tail, &freedoms);
    pairs.iter().zip(quantiles).map(|(pair, t)| side(pair).limits(t, tail, pair.scale)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inference::WorstCase;

    fn estimate(value: f64, variance: f64) -> Uncertain {
        let worst = Some(WorstCase { design_effect: 0.02, failures: 0.25, degrees_of_freedom: f64::INFINITY });
        Uncertain { value, variance, degrees_of_freedom: 40.0, smallest_class: 30.0, worst }
    }

    #[test]
    fn the_test_of_a_limit_has_the_tail_of_its_interval() {
        let scale = Scale { smallest: 0.0, largest: 1.0, is_log: false };
        for (first, second) in [((0.9, 0.001), (0.8, 0.0005)), ((1.0, 0.0), (0.97, 0.0002)), ((0.6, 0.002), (0.9, 0.0))]
        {
            for worst in [true, false] {
                let side = |(value, variance): (f64, f64)| {
                    let one = estimate(value, variance);
                    if worst || variance == 0.0 { one } else { Uncertain { worst: None, ..one } }
                };
                let pair = Apart { first: side(first), second: side(second), covariance: 0.0, scale };
                let (low, high) = mover_intervals(&[pair], 0.01)[0];
                for limit in [low, high] {
                    let (z, t) = pair.statistic(limit);
                    assert!((StudentT::new(f64::INFINITY).upper_p(z) - 0.01).abs() < 1e-9, "{limit}: {z}");
                    assert_eq!(t > 0.0, limit == low);
                }
            }
        }
    }

    #[test]
    fn unknown_variances_have_no_test() {
        let scale = Scale { smallest: 0.0, largest: 1.0, is_log: false };
        let pair = Apart { first: estimate(0.9, f64::NAN), second: estimate(0.8, 0.1), covariance: 0.0, scale };
        assert!(!pair.is_testable() && pair.statistic(0.0).0.is_nan() && mover_intervals(&[pair], 0.1)[0].0.is_nan());
    }
}
