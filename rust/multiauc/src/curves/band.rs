//! Limits of the true-positive rate along a ROC curve.

use super::partial::CurveSides;
use crate::error::Result;
use crate::parallel::Workers;
use crate::sample::{ClassCodes, ClassSizes};

/// How exactly the width of a band is found, in standard errors.
const STEP_OF_Z: f64 = 0.01;
/// Of heights that are compared, and of rates that are looked up.
const ROUNDING: f64 = 1e-12;
const RATE_ROUNDING: f64 = 1e-15;

/// The rows on both sides of some curves; with weights, as many of equal weight as inform as well, (Σw)²/Σw² (Kish).
///
/// # Errors
/// Those of [`ClassSizes::count`].
pub fn side_sizes(
    codes: ClassCodes<'_>,
    weights: Option<&[f64]>,
    classes: usize,
    curves: &[CurveSides],
    workers: &Workers<'_>,
) -> Result<Vec<(f64, f64)>> {
    let count = |weights| Ok(ClassSizes::count(codes, weights, classes, workers)?.weights);
    let sums = count(weights)?;
    let squared: Option<Vec<f64>> = weights.map(|weights| weights.iter().map(|weight| weight * weight).collect());
    let squares = squared.as_deref().map(|squared| count(Some(squared))).transpose()?;
    let size = |is_counted: &dyn Fn(usize) -> bool| {
        let total = |of: &[f64]| (0..classes).filter(|&class| is_counted(class)).map(|class| of[class]).sum::<f64>();
        squares.as_ref().map_or_else(|| total(&sums), |squares| total(&sums).powi(2) / total(squares))
    };
    let sizes = |&(c, d): &CurveSides| {
        (size(&|class| class == c), size(&|class| d.map_or(class != c, |negative| class == negative)))
    };
    Ok(curves.iter().map(sizes).collect())
}

/// The rates of a curve by falling thresholds, from (0, 0) to (1, 1).
#[derive(Debug, Clone, Copy)]
pub struct CurveRates<'a> {
    /// False-positive rates.
    pub false_positive: &'a [f64],
    /// True-positive rates.
    pub true_positive: &'a [f64],
}

impl CurveRates<'_> {
    /// The curve at a false-positive rate: straight between its points, the upper end where it rises straight up.
    #[must_use]
    pub fn height(&self, at: f64) -> f64 {
        let (fpr, tpr) = (self.false_positive, self.true_positive);
        // 1 − 0.9 is a little less than 0.1, where the curve may rise.
        let after = fpr.partition_point(|&rate| rate <= at + RATE_ROUNDING);
        if after > 0 && (fpr[after - 1] - at).abs() <= RATE_ROUNDING {
            return tpr[after - 1];
        }
        if after == 0 || after == fpr.len() {
            return tpr[after.saturating_sub(1)];
        }
        let (left, right) = (after - 1, after);
        (tpr[right] - tpr[left]) / (fpr[right] - fpr[left]) * (at - fpr[left]) + tpr[left]
    }

    /// Limits of the true-positive rate at a false-positive rate f, `z` standard errors away.
    ///
    /// `sizes` are the rows of the positive and of the negative class, which are taken as fixed. The curve at f is h(f),
    /// the share of one class above the threshold that f of the other is above. Both shares are binomial: Wilson's limits
    /// l, u of h(f), and those f_l, f_u of f, are combined as independent parts of one distance (Zou and Donner's method
    /// of variance estimates recovery), h − √((h − l)² + (h(f) − h(f_l))²) and h + √((u − h)² + (h(f_u) − h(f))²). Unlike
    /// quantiles of resampled curves, these limits have a width where all rows are right.
    #[must_use]
    pub fn limits(&self, sizes: (f64, f64), z: f64, at: f64) -> (f64, f64) {
        let (positive, negative) = sizes;
        let height = self.height(at);
        let (low, high) = wilson(height, positive, z);
        let (before, after) = wilson(at, negative, z);
        // How high the curve is before the first row of the other class is not known, nor after the last one: it may
        // rise from 0, or reach 1.
        let least = self.height(before) * (before * negative).min(1.0);
        let most = 1.0 - (1.0 - self.height(after)) * ((1.0 - after) * negative).min(1.0);
        let lower = height - (height - low).hypot(height - least);
        let upper = height + (high - height).hypot(most - height);
        (lower.clamp(0.0, 1.0), upper.clamp(0.0, 1.0))
    }

    /// The smallest z, not below `least`, whose limits hold another curve with the heights `held` at all rates `at`.
    #[must_use]
    pub fn z_to_hold(&self, sizes: (f64, f64), least: f64, at: &[f64], held: &[f64]) -> f64 {
        let holds = |z: f64| {
            at.iter().zip(held).all(|(&rate, &height)| {
                let (low, high) = self.limits(sizes, z, rate);
                low <= height + ROUNDING && height <= high + ROUNDING
            })
        };
        if holds(least) {
            return least;
        }
        // With growing z the limits tend to 0 and 1.
        let (mut low, mut high) = (least, 2.0 * least + 1.0);
        while !holds(high) && high.is_finite() {
            (low, high) = (high, 2.0 * high);
        }
        while high - low > STEP_OF_Z {
            let middle = 0.5 * (low + high);
            if holds(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        high
    }
}

/// Wilson's limits of a share of `size` rows.
fn wilson(share: f64, size: f64, z: f64) -> (f64, f64) {
    let middle = (share + z * z / (2.0 * size)) / (1.0 + z * z / size);
    let reach = z / (1.0 + z * z / size) * (share * (1.0 - share) / size + (z / (2.0 * size)).powi(2)).sqrt();
    ((middle - reach).max(0.0), (middle + reach).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CURVE: CurveRates<'_> =
        CurveRates { false_positive: &[0.0, 0.0, 0.25, 0.25, 1.0], true_positive: &[0.0, 0.5, 0.5, 0.75, 1.0] };

    #[test]
    fn heights_are_the_upper_ends() {
        assert_eq!(CURVE.height(0.0), 0.5);
        assert_eq!(CURVE.height(0.125), 0.5);
        assert_eq!(CURVE.height(0.25), 0.75);
        assert_eq!(CURVE.height(0.25 - 1e-16), 0.75);
        assert_eq!(CURVE.height(0.625), 0.875);
        assert_eq!(CURVE.height(1.0), 1.0);
    }

    #[test]
    fn limits_hold_the_curve_and_widen_with_z() {
        for at in [0.0, 0.1, 0.25, 0.5, 1.0] {
            let (narrow, wide) = (CURVE.limits((20.0, 40.0), 1.0, at), CURVE.limits((20.0, 40.0), 2.0, at));
            assert!(wide.0 <= narrow.0 && narrow.0 <= CURVE.height(at));
            assert!(CURVE.height(at) <= narrow.1 && narrow.1 <= wide.1);
        }
    }

    #[test]
    fn the_smallest_z_is_found() {
        let at = [0.1, 0.3, 0.6];
        let held = [0.2, 0.8, 0.99];
        let z = CURVE.z_to_hold((30.0, 30.0), 0.5, &at, &held);
        let holds = |z: f64| {
            at.iter().zip(held).all(|(&at, held)| {
                let (low, high) = CURVE.limits((30.0, 30.0), z, at);
                low <= held && held <= high
            })
        };
        assert!(holds(z) && !holds(z - 2.0 * STEP_OF_Z));
        let own = at.map(|at| CURVE.height(at));
        assert_eq!(CURVE.z_to_hold((30.0, 30.0), 0.5, &at, &own), 0.5);
    }
}
