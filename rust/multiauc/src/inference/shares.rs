//! How much each pair of classes counts in each metric, and how that changes with the class shares.

use super::layout::Layout;
use crate::error::{Error, Result};
use crate::pairs::PairWeights;

/// ω_cd of unordered pairs (K × K, symmetric, summing to 1 over c < d), and what they depend on.
pub(super) struct PairShares<'a> {
    kind: PairWeights<'a>,
    /// K × K, zero on the diagonal and for absent classes.
    pub omega: Vec<f64>,
}

impl<'a> PairShares<'a> {
    pub(super) fn new(kind: PairWeights<'a>, layout: &Layout) -> Result<Self> {
        let classes = layout.counts.len();
        let raw = |c: usize, d: usize| match kind {
            PairWeights::Equal => 1.0,
            PairWeights::SizeProduct => layout.totals[c] * layout.totals[d],
            PairWeights::SizeSum => layout.totals[c] + layout.totals[d],
            PairWeights::Matrix(matrix) => matrix[c * classes + d],
        };
        let pairs = || {
            layout.present.iter().enumerate().flat_map(|(i, &c)| layout.present[i + 1..].iter().map(move |&d| (c, d)))
        };
        let largest = pairs().map(|(c, d)| raw(c, d)).fold(0.0, f64::max);
        if largest <= 0.0 {
            return Err(Error::NoPairWeight);
        }
        let total: f64 = pairs().map(|(c, d)| raw(c, d) / largest).sum();
        let mut omega = vec![0.0; classes * classes];
        for (c, d) in pairs() {
            let share = raw(c, d) / largest / total;
            omega[c * classes + d] = share;
            omega[d * classes + c] = share;
        }
        Ok(Self { kind, omega })
    }

    /// g_m = Σ_{c<d} U_cd ∂ω_cd/∂π_m, ω being taken as a function of the shares that does not change when all of them are
    /// multiplied by a number. `values` is the K × K matrix of U, made symmetric here.
    pub(super) fn slopes(&self, layout: &Layout, values: &[f64], theta: f64) -> Vec<f64> {
        let classes = layout.counts.len();
        let shares: Vec<f64> = layout.totals.iter().map(|total| total / layout.total()).collect();
        let value = |c: usize, d: usize| f64::midpoint(values[c * classes + d], values[d * classes + c]);
        let others = |m: usize| layout.present.iter().copied().filter(move |&d| d != m);
        let mut slopes = vec![0.0; classes];
        for &m in &layout.present {
            slopes[m] = match self.kind {
                PairWeights::Equal | PairWeights::Matrix(_) => 0.0,
                PairWeights::SizeProduct => {
                    let norm: f64 = 0.5 * layout.present.iter().map(|&c| shares[c] * (1.0 - shares[c])).sum::<f64>();
                    (others(m).map(|d| shares[d] * value(m, d)).sum::<f64>() - theta * (1.0 - shares[m])) / norm
                }
                PairWeights::SizeSum => {
                    let norm = (layout.present.len() - 1) as f64;
                    (others(m).map(|d| value(m, d)).sum::<f64>() - theta * norm) / norm
                }
            };
        }
        slopes
    }
}

/// One-vs-rest: A_c = Σ_{d≠c} π_d/(1 − π_c) U_cd, averaged over the classes evenly or by their shares.
pub(super) struct RestShares {
    /// π by class.
    shares: Vec<f64>,
    /// 1/K for present classes.
    pub even: f64,
}

impl RestShares {
    pub(super) fn new(layout: &Layout) -> Self {
        let total = layout.total();
        Self {
            shares: layout.totals.iter().map(|weight| weight / total).collect(),
            even: 1.0 / layout.present.len() as f64,
        }
    }

    /// π_c.
    pub(super) fn of(&self, class: usize) -> f64 {
        self.shares[class]
    }

    /// Σ_{d≠c} π_d.
    pub(super) fn of_rest(&self, layout: &Layout, class: usize) -> f64 {
        layout.present.iter().filter(|&&d| d != class).map(|&d| self.shares[d]).sum()
    }

    /// ∂A_c/∂π_m of every class m: (U_cm − A_c)/(1 − π_c), and 0 for c itself; `values` are the U_cm.
    pub(super) fn class_slopes(&self, layout: &Layout, class: usize, values: &[f64], value: f64) -> Vec<f64> {
        let rest = self.of_rest(layout, class);
        let slope = |m: usize| (values[m] - value) / rest;
        let is_other = |m: usize| m != class && layout.counts[m] > 0;
        (0..self.shares.len()).map(|m| if is_other(m) { slope(m) } else { 0.0 }).collect()
    }

    /// Slopes of the even and of the prevalence average, from those of the classes.
    pub(super) fn slopes(&self, layout: &Layout, per_class: &[f64], class_slopes: &[Vec<f64>]) -> [Vec<f64>; 2] {
        let classes = self.shares.len();
        let (mut even, mut prevalence) = (vec![0.0; classes], vec![0.0; classes]);
        let theta: f64 = layout.present.iter().map(|&c| self.shares[c] * per_class[c]).sum();
        for &m in &layout.present {
            even[m] = layout.present.iter().map(|&c| self.even * class_slopes[c][m]).sum();
            let through_rests: f64 = layout.present.iter().map(|&c| self.shares[c] * class_slopes[c][m]).sum();
            prevalence[m] = per_class[m] - theta + through_rests;
        }
        [even, prevalence]
    }
}
