//! Confidence intervals of one estimate and the tests that invert them: every rule is written once, here.
//!
//! | rule | limits |
//! |---|---|
//! | Wilson | \[θ + t²D/2 ± t √(θ(1 − θ)D + t²D²/4)\]/(1 + t²D), D the design effect, shrunken towards its worst case |
//! | logit | expit(logit θ ± t SE/(θ(1 − θ))); at 1 from (α/2)^(1/m) to 1, m the smallest class |
//! | log | θ exp(± t SE/θ), for means of losses |
//! | Wald | θ ± t SE, cut off at the smallest and the largest value |
//! | cautious | the logit interval, widened by the one that one more row of each class would give |

use super::worst_case::WorstCase;
use crate::special::StudentT;

/// Beyond it, exp is about to overflow.
const FARTHEST_EXPONENT: f64 = 700.0;

/// A rule for intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntervalRule {
    /// Wilson's, for shares of rows and of pairs.
    Wilson,
    /// On the logit scale.
    Logit,
    /// On the log scale.
    Log,
    /// Symmetric.
    Wald,
    /// The union of two logit intervals.
    Cautious,
}

/// What values lie between.
#[derive(Debug, Clone, Copy)]
pub struct Scale {
    /// The smallest value.
    pub smallest: f64,
    /// The largest value: 1, unless the scale is that of losses.
    pub largest: f64,
    /// Whether values are losses.
    pub is_log: bool,
}

/// What is known of an estimate.
#[derive(Debug, Clone, Copy)]
pub struct Uncertain {
    /// Its value.
    pub value: f64,
    /// Its variance; NaN if it is not known.
    pub variance: f64,
    /// Of the variance.
    pub degrees_of_freedom: f64,
    /// The rows (or groups) of the smallest class.
    pub smallest_class: f64,
    /// How much it could vary at worst.
    pub worst: Option<WorstCase>,
}

/// Both limits; NaN where there is no interval.
pub type Limits = (f64, f64);

const NO_LIMITS: Limits = (f64::NAN, f64::NAN);

/// Wilson's interval: the design effect is that of the worst case with few failures seen, that of the data with many.
#[derive(Debug, Clone, Copy)]
pub struct Wilson {
    value: f64,
    design_effect: f64,
    degrees_of_freedom: f64,
}

impl Wilson {
    /// Of a value between 0 and 1 with a variance, which may be 0.
    #[must_use]
    pub fn new(value: f64, variance: f64, degrees_of_freedom: f64, worst: WorstCase) -> Self {
        let (room, largest) = (value * (1.0 - value), worst.design_effect);
        let seen = value.min(1.0 - value) / largest;
        let believed = seen / (seen + worst.failures);
        let is_certain = variance == 0.0 || (room == 0.0 && !variance.is_nan());
        let of_data = if is_certain { 0.0 } else { believed * variance / room };
        if of_data == 0.0 {
            return Self { value, design_effect: largest, degrees_of_freedom: f64::INFINITY };
        }
        let design_effect = of_data + (1.0 - believed) * largest;
        let ratio = design_effect / of_data;
        Self { value, design_effect, degrees_of_freedom: degrees_of_freedom * (ratio * ratio) }
    }

    /// Degrees of freedom of the design effect: infinitely many in the worst case.
    #[must_use]
    pub const fn degrees_of_freedom(&self) -> f64 {
        self.degrees_of_freedom
    }

    /// Both limits, t standard errors away.
    #[must_use]
    pub fn limits(&self, t: f64) -> Limits {
        let square = t * t * self.design_effect;
        let (value, failures) = (self.value, 1.0 - self.value);
        let reach = 0.5 * square + (value * failures * square + 0.25 * square * square).sqrt();
        (value * value / (value + reach), 1.0 - failures * failures / (failures + reach))
    }

    /// The t of the test against a value, which inverts the interval.
    fn statistic(&self, null: f64) -> f64 {
        (self.value - null) / (null * (1.0 - null) * self.design_effect).sqrt()
    }
}

impl Scale {
    /// Where a value lies between the smallest (0) and 1.
    fn place(&self, value: f64) -> f64 {
        (value - self.smallest) / (1.0 - self.smallest)
    }

    /// Limits between 0 and 1 as limits between the smallest value and 1.
    fn spread_out(&self, (low, high): Limits) -> Limits {
        let size = 1.0 - self.smallest;
        (self.smallest + size * low, self.smallest + size * high)
    }
}

/// The t of a test, its degrees of freedom, and its p-value where this does not come from Student's distribution.
#[derive(Debug, Clone, Copy)]
pub struct Statistic {
    /// NaN where a p-value stands in its place.
    pub t: f64,
    /// Of Student's distribution.
    pub degrees_of_freedom: f64,
    /// One-sided p-values that the value is greater, and less.
    pub p_values: Option<(f64, f64)>,
}

impl Uncertain {
    /// The interval with this probability beyond each limit.
    #[must_use]
    pub fn interval(&self, rule: IntervalRule, scale: Scale, tail: f64, cautious: Option<[f64; 3]>) -> Limits {
        match rule {
            IntervalRule::Cautious => self.cautious_interval(scale, tail, cautious),
            IntervalRule::Wald if scale.is_log || !self.is_at_bound(scale) => {
                let reach = StudentT::new(self.degrees_of_freedom).upper_quantile(tail) * self.variance.sqrt();
                if reach > 0.0 {
                    ((self.value - reach).max(scale.smallest), (self.value + reach).min(scale.largest))
                } else {
                    NO_LIMITS
                }
            }
            IntervalRule::Wilson if self.worst.is_none() || self.variance.is_nan() => NO_LIMITS,
            IntervalRule::Wilson => self.limits(self.quantile(tail), tail, scale),
            IntervalRule::Logit | IntervalRule::Log | IntervalRule::Wald => {
                let alone = Self { worst: None, ..*self };
                alone.limits(alone.quantile(tail), tail, scale)
            }
        }
    }

    fn quantile(&self, tail: f64) -> f64 {
        StudentT::new(self.freedom()).upper_quantile(tail)
    }

    /// The logit interval, widened by that of one more row in each class: its value, variance and degrees of freedom.
    fn cautious_interval(&self, scale: Scale, tail: f64, cautious: Option<[f64; 3]>) -> Limits {
        let Some([value, variance, degrees_of_freedom]) = cautious.filter(|_| !self.variance.is_nan()) else {
            return NO_LIMITS;
        };
        let plain = self.interval(IntervalRule::Logit, scale, tail, None);
        if !(variance > 0.0 && scale.smallest < value && value < 1.0) {
            return plain;
        }
        // Where rows do not vary: the value alone.
        let (low, high) = if plain.0.is_nan() { (self.value, self.value) } else { plain };
        let more = Self { value, variance, degrees_of_freedom, ..*self };
        let (lower, higher) = more.interval(IntervalRule::Logit, scale, tail, None);
        (low.min(lower), high.max(higher))
    }

    /// The test against a value that inverts the interval by Wilson's rule, on the log scale or on the logit scale;
    /// `None` if there is none.
    #[must_use]
    pub fn test(&self, rule: IntervalRule, scale: Scale, null: f64) -> Option<Statistic> {
        let by = |t: f64, degrees_of_freedom: f64| Some(Statistic { t, degrees_of_freedom, p_values: None });
        let error = self.variance.sqrt();
        if rule == IntervalRule::Wilson
            && let Some(wilson) = self.wilson().filter(|_| !self.variance.is_nan())
        {
            return by(wilson.statistic(null), wilson.degrees_of_freedom);
        }
        let (place, null_place) = (scale.place(self.value), scale.place(null));
        if rule == IntervalRule::Logit && self.is_at_bound(scale) {
            let hidden = (if place == 1.0 { null_place } else { 1.0 - null_place }).powf(self.smallest_class);
            let p_values = Some(if place == 1.0 { (hidden, 1.0) } else { (1.0, hidden) });
            return Some(Statistic { t: f64::NAN, degrees_of_freedom: f64::NAN, p_values });
        }
        if error.is_nan() || error <= 0.0 {
            return None;
        }
        if scale.is_log {
            return by((self.value / null).ln() * self.value / error, self.degrees_of_freedom);
        }
        let distance = (place / (1.0 - place)).ln() - (null_place / (1.0 - null_place)).ln();
        by(distance * place * (1.0 - place) * (1.0 - scale.smallest) / error, self.degrees_of_freedom)
    }

    fn wilson(&self) -> Option<Wilson> {
        self.worst.map(|worst| Wilson::new(self.value, self.variance, self.degrees_of_freedom, worst))
    }

    /// Of the interval by Wilson's rule, if it has a worst case, otherwise on the logit or log scale.
    pub(super) fn freedom(&self) -> f64 {
        self.wilson().map_or(self.degrees_of_freedom, |wilson| wilson.degrees_of_freedom)
    }

    fn is_at_bound(&self, scale: Scale) -> bool {
        !scale.is_log && (self.value == 1.0 || self.value == scale.smallest)
    }

    /// Whether there is an interval.
    pub(super) fn is_known(&self, scale: Scale) -> bool {
        self.variance > 0.0 || (self.variance == 0.0 && (self.worst.is_some() || self.is_at_bound(scale)))
    }

    /// Limits that are t standard errors away, this probability being beyond each: by Wilson's rule if there is a worst
    /// case, otherwise on the log scale for losses and on the logit scale for other values.
    pub(super) fn limits(&self, t: f64, tail: f64, scale: Scale) -> Limits {
        let error = self.variance.sqrt();
        if scale.is_log {
            if error.is_nan() || error <= 0.0 {
                return NO_LIMITS;
            }
            let reach = (t * error / self.value).min(FARTHEST_EXPONENT).exp();
            return (self.value / reach, self.value * reach);
        }
        if let Some(wilson) = self.wilson() {
            return wilson.limits(t);
        }
        let place = scale.place(self.value);
        if place == 0.0 || place == 1.0 {
            let hidden = tail.powf(1.0 / self.smallest_class);
            return scale.spread_out(if place == 1.0 { (hidden, 1.0) } else { (0.0, 1.0 - hidden) });
        }
        if error == 0.0 {
            return NO_LIMITS;
        }
        let middle = (place / (1.0 - place)).ln();
        let reach = t * (error / (1.0 - scale.smallest)) / (place * (1.0 - place));
        scale.spread_out((expit(middle - reach), expit(middle + reach)))
    }
}

fn expit(x: f64) -> f64 {
    if x <= -FARTHEST_EXPONENT { 0.0 } else { 1.0 / (1.0 + (-x).exp()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: Scale = Scale { smallest: 0.0, largest: 1.0, is_log: false };

    fn estimate(value: f64, worst: Option<WorstCase>) -> Uncertain {
        Uncertain { value, variance: 0.0004, degrees_of_freedom: 30.0, smallest_class: 20.0, worst }
    }

    #[test]
    fn a_test_at_a_limit_of_the_interval_has_the_t_of_its_tail() {
        let worst = Some(WorstCase { design_effect: 0.04, failures: 0.25, degrees_of_freedom: f64::INFINITY });
        for (rule, scale, worst) in [
            (IntervalRule::Wilson, UNIT, worst),
            (IntervalRule::Logit, UNIT, None),
            (IntervalRule::Logit, Scale { smallest: -1.0, ..UNIT }, None),
            (IntervalRule::Log, Scale { largest: f64::INFINITY, is_log: true, ..UNIT }, None),
        ] {
            let one = estimate(0.8, worst);
            let (low, high) = one.interval(rule, scale, 0.025, None);
            for (limit, sign) in [(low, 1.0), (high, -1.0)] {
                let found = one.test(rule, scale, limit).expect("a test");
                let t = StudentT::new(found.degrees_of_freedom).upper_quantile(0.025);
                assert!((found.t - sign * t).abs() < 1e-9, "{rule:?} {limit}: {} {t}", found.t);
            }
        }
    }

    #[test]
    fn perfect_scores_have_the_interval_of_what_the_smallest_class_could_hide() {
        let (low, high) = estimate(1.0, None).interval(IntervalRule::Logit, UNIT, 0.025, None);
        assert!((low - 0.025_f64.powf(0.05)).abs() < 1e-15 && high == 1.0);
        let found = estimate(1.0, None).test(IntervalRule::Logit, UNIT, low).expect("a test");
        assert!((found.p_values.expect("p-values").0 - 0.025).abs() < 1e-12);
    }

    #[test]
    fn without_a_variance_there_is_no_interval() {
        let one = Uncertain { variance: f64::NAN, ..estimate(0.8, None) };
        for rule in [IntervalRule::Wilson, IntervalRule::Logit, IntervalRule::Wald, IntervalRule::Cautious] {
            assert!(one.interval(rule, UNIT, 0.025, Some([0.7, 0.1, 9.0])).0.is_nan());
        }
        assert!(one.test(IntervalRule::Logit, UNIT, 0.5).is_none());
    }
}
