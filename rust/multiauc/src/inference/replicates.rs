//! Intervals from bootstrap replicates of one number.

use super::intervals::{IntervalRule, Limits, Scale, Uncertain};
use crate::special::StudentT;

/// A replicate of a fitted number counts as no nearer to 0 or 1 than its estimate's distance divided by this.
const NEAREST_TO_BOUND: f64 = 5.0;
const UNIT: Scale = Scale { smallest: 0.0, largest: 1.0, is_log: false };

/// A kind of interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplicateInterval {
    /// On the logit scale, with the standard deviation of the replicates.
    Logit,
    /// Quantiles of the replicates.
    Percentile,
    /// These mirrored at the estimate.
    Basic,
    /// Quantiles corrected for bias and skewness (Efron 1987).
    Bca,
}

/// Why there is no interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoReplicateInterval {
    /// The estimate is not known, or there is no replicate.
    Unknown,
    /// All replicates are the same number.
    Alike,
    /// All replicates lie on one side of the estimate.
    OneSided,
    /// No row contributes more than another.
    NoAcceleration,
}

/// Replicates of one number.
#[derive(Debug, Clone, Copy)]
pub struct Replicated<'a> {
    /// The number.
    pub estimate: f64,
    /// Its replicates; NaN ones do not count.
    pub values: &'a [f64],
    /// Rows (or groups) of the smallest class, for the interval of a perfect score; `None` for a difference.
    pub smallest_class: Option<f64>,
    /// How the standard error changes with the number.
    pub acceleration: Option<f64>,
    /// The bound, 0 or 1, that the number is as near to as its rows can bring it, so that no replicate shows an error
    /// although other rows might.
    pub bound: Option<f64>,
    /// Whether the number comes from a fit and not from counts. Its replicates are skewed near 0 and 1 and vary less than
    /// they should in small classes, and no formula says by how much: the logit interval is more careful then.
    pub is_fitted: bool,
}

/// The p-value of a difference of 0 from its replicates: the largest a for which the percentile interval at level 1 − a
/// holds 0.
///
/// Not below 2 / (B + 1), which is what B replicates can show; NaN for fewer than two that are not NaN.
#[must_use]
pub fn percentile_p_value(replicates: &[f64]) -> f64 {
    let values = sorted(replicates);
    if values.len() < 2 {
        return f64::NAN;
    }
    let mirrored: Vec<f64> = values.iter().rev().map(|value| -value).collect();
    let side = level_at_zero(&values).min(level_at_zero(&mirrored));
    (2.0 * side).max(2.0 / (values.len() + 1) as f64).min(1.0)
}

/// The largest level whose quantile of sorted values is not above 0.
fn level_at_zero(values: &[f64]) -> f64 {
    let below = values.partition_point(|&value| value <= 0.0);
    if below == 0 || below == values.len() {
        return if below == 0 { 0.0 } else { 1.0 };
    }
    let (last, after) = (values[below - 1], values[below]);
    ((below - 1) as f64 - last / (after - last)) / (values.len() - 1) as f64
}

/// The values that are not NaN, sorted.
fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    values.sort_by(f64::total_cmp);
    values
}

impl Replicated<'_> {
    /// The interval with this probability beyond each limit.
    ///
    /// # Errors
    /// Why there is none.
    pub fn interval(&self, kind: ReplicateInterval, tail: f64) -> Result<Limits, NoReplicateInterval> {
        let values = sorted(self.values);
        let (Some(&least), Some(&most), false) = (values.first(), values.last(), self.estimate.is_nan()) else {
            return Err(NoReplicateInterval::Unknown);
        };
        let vary = most > least;
        let is_at_end = self.estimate == 0.0 || self.estimate == 1.0;
        let is_at_bound = is_at_end && (kind == ReplicateInterval::Logit || !vary);
        if let Some(size) = self.smallest_class.filter(|_| is_at_bound || self.bound.is_some()) {
            return Ok(self.at_bound(&values, vary, tail, size));
        }
        if !vary {
            // Two models may agree in every resample.
            let agree = self.smallest_class.is_none() && self.estimate == 0.0 && least == 0.0;
            return if agree { Ok((0.0, 0.0)) } else { Err(NoReplicateInterval::Alike) };
        }
        let quantiles = |(low, high): Limits| (quantile(&values, low), quantile(&values, high));
        Ok(match kind {
            ReplicateInterval::Logit => self.logit(&values, tail),
            ReplicateInterval::Percentile => quantiles((tail, 1.0 - tail)),
            ReplicateInterval::Basic => {
                let (low, high) = quantiles((tail, 1.0 - tail));
                (2.0 * self.estimate - high, 2.0 * self.estimate - low)
            }
            ReplicateInterval::Bca => quantiles(self.bca_levels(&values, tail)?),
        })
    }

    /// What a class of that size could still hide; wide enough for the estimate and its logit interval too.
    fn at_bound(&self, values: &[f64], vary: bool, tail: f64, smallest_class: f64) -> Limits {
        let hidden = tail.powf(1.0 / smallest_class);
        let is_best = self.bound.unwrap_or(self.estimate) == 1.0;
        let (mut low, mut high) = if is_best { (hidden, 1.0) } else { (0.0, 1.0 - hidden) };
        if vary && 0.0 < self.estimate && self.estimate < 1.0 {
            let around = self.logit(values, tail);
            (low, high) = (low.min(around.0), high.max(around.1));
        }
        (low.min(self.estimate), high.max(self.estimate))
    }

    fn logit(&self, values: &[f64], tail: f64) -> Limits {
        let (mut error, mut freedom) = (deviation(values), f64::INFINITY);
        if self.is_fitted {
            // The spread of the logits themselves, on the scale of the number. A few replicates next to 0 or 1, whose
            // logits are huge, must not decide it.
            let nearest = self.estimate.min(1.0 - self.estimate) / NEAREST_TO_BOUND;
            let logit = |value: &f64| {
                let inside = value.clamp(nearest, 1.0 - nearest);
                (inside / (1.0 - inside)).ln()
            };
            let spread = deviation(&values.iter().map(logit).collect::<Vec<_>>());
            error = error.max(spread * self.estimate * (1.0 - self.estimate));
            freedom = (self.smallest_class.unwrap_or(2.0) - 1.0).max(1.0);
        }
        let (value, variance) = (self.estimate, error * error);
        let known = Uncertain { value, variance, degrees_of_freedom: freedom, smallest_class: 1.0, worst: None };
        known.interval(IntervalRule::Logit, UNIT, tail, None)
    }

    /// The levels of Efron's bias-corrected and accelerated quantiles. Replicates equal to the estimate count as half
    /// below it.
    fn bca_levels(&self, values: &[f64], tail: f64) -> Result<Limits, NoReplicateInterval> {
        let share = |count: usize| count as f64 / values.len() as f64;
        let smaller = values.partition_point(|&value| value < self.estimate);
        let equal = values.partition_point(|&value| value <= self.estimate) - smaller;
        let below = share(smaller) + 0.5 * share(equal);
        if below <= 0.0 || below >= 1.0 {
            return Err(NoReplicateInterval::OneSided);
        }
        let Some(acceleration) = self.acceleration.filter(|one| !one.is_nan()) else {
            return Err(NoReplicateInterval::NoAcceleration);
        };
        let normal = StudentT::new(f64::INFINITY);
        let bias = -normal.upper_quantile(below);
        let level = |tail: f64| {
            let shift = bias - normal.upper_quantile(tail);
            normal.upper_p(-(bias + shift / (1.0 - acceleration * shift)))
        };
        Ok((level(tail), level(1.0 - tail)))
    }
}

/// The standard deviation, with one less than the count below.
fn deviation(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    (values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (count - 1.0)).sqrt()
}

/// A quantile of sorted values, linear between them.
fn quantile(values: &[f64], level: f64) -> f64 {
    let place = (values.len() - 1) as f64 * level.clamp(0.0, 1.0);
    let (low, share) = (place.floor() as usize, place.fract());
    let (a, b) = (values[low], values[(low + 1).min(values.len() - 1)]);
    if share < 0.5 { a + (b - a) * share } else { b - (b - a) * (1.0 - share) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replicated(values: &[f64], estimate: f64) -> Replicated<'_> {
        let (smallest_class, acceleration) = (Some(10.0), Some(0.0));
        Replicated { estimate, values, smallest_class, acceleration, bound: None, is_fitted: false }
    }

    #[test]
    fn without_bias_and_acceleration_bca_is_percentile() {
        let values: Vec<f64> = (0..101).map(|k| 0.3 + 0.004 * f64::from(k)).collect();
        let one = replicated(&values, 0.5);
        let (low, high) = one.interval(ReplicateInterval::Percentile, 0.05).expect("an interval");
        assert!((low - 0.32).abs() < 1e-12 && (high - 0.68).abs() < 1e-12);
        let bca = one.interval(ReplicateInterval::Bca, 0.05).expect("an interval");
        assert!((bca.0 - low).abs() < 1e-9 && (bca.1 - high).abs() < 1e-9, "{bca:?}");
        let basic = one.interval(ReplicateInterval::Basic, 0.05).expect("an interval");
        assert!((basic.0 - low).abs() < 1e-12 && (basic.1 - high).abs() < 1e-12);
    }

    #[test]
    fn the_p_value_inverts_the_percentile_interval() {
        let values: Vec<f64> = (0..101).map(|k| f64::from(k) / 100.0 - 0.0451).collect();
        let p = percentile_p_value(&values);
        let one = Replicated { smallest_class: None, ..replicated(&values, 0.45) };
        let low = |tail: f64| one.interval(ReplicateInterval::Percentile, tail).expect("an interval").0;
        assert!(low(p / 2.0 - 1e-6) < 0.0 && low(p / 2.0 + 1e-6) > 0.0, "{p}");
        assert!((percentile_p_value(&values.iter().map(|value| -value).collect::<Vec<_>>()) - p).abs() < 1e-12);
        assert_eq!(percentile_p_value(&[0.0; 100]), 1.0);
        assert_eq!(percentile_p_value(&[0.1; 99]), 0.02);
        assert!(percentile_p_value(&[f64::NAN, 0.5]).is_nan());
    }

    #[test]
    fn replicates_that_are_all_alike_have_no_interval_but_at_a_bound() {
        let values = [0.7; 20];
        let found = replicated(&values, 0.7).interval(ReplicateInterval::Logit, 0.05);
        assert_eq!(found, Err(NoReplicateInterval::Alike));
        let (low, high) = replicated(&[1.0; 20], 1.0).interval(ReplicateInterval::Bca, 0.05).expect("an interval");
        assert!((low - 0.05_f64.powf(0.1)).abs() < 1e-15 && high == 1.0);
        assert_eq!(replicated(&[], 0.7).interval(ReplicateInterval::Logit, 0.05), Err(NoReplicateInterval::Unknown));
        let above = [0.8, 0.9, 0.95];
        let found = replicated(&above, 0.7).interval(ReplicateInterval::Bca, 0.05);
        assert_eq!(found, Err(NoReplicateInterval::OneSided));
    }
}
