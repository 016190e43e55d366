//! How much each pair of classes counts in each metric, and how that changes with the classes' prevalences.

use crate::error::{Error, Result};
use crate::pairs::{PairSizes, PairWeights};
use crate::sample::ClassRows;

/// ω_cd of unordered pairs (K × K, symmetric, summing to 1 over c < d), and what they depend on.
pub(super) struct PairWeighting<'a> {
    kind: PairWeights<'a>,
    /// K × K, zero on the diagonal and for absent classes.
    pub omega: Vec<f64>,
}

impl<'a> PairWeighting<'a> {
    pub(super) fn new(kind: PairWeights<'a>, rows: &ClassRows) -> Result<Self> {
        let classes = rows.classes();
        let raw = |c: usize, d: usize| kind.of(PairSizes::of(rows.sizes(), c, d));
        let largest = rows.pairs().map(|(c, d)| raw(c, d)).fold(0.0, f64::max);
        if largest <= 0.0 {
            return Err(Error::NoPairWeight);
        }
        let total: f64 = rows.pairs().map(|(c, d)| raw(c, d) / largest).sum();
        let mut omega = vec![0.0; classes * classes];
        for (c, d) in rows.pairs() {
            let weight = raw(c, d) / largest / total;
            omega[c * classes + d] = weight;
            omega[d * classes + c] = weight;
        }
        Ok(Self { kind, omega })
    }

    /// ½ Σ_d ω_kd of each class: the component of a row of which half of every other class is on the right side.
    pub(super) fn chances(&self, classes: usize) -> Vec<f64> {
        self.omega.chunks(classes).map(|of_class| 0.5 * of_class.iter().sum::<f64>()).collect()
    }

    /// g_m = Σ_{c<d} U_cd ∂ω_cd/∂π_m, ω being a function of the prevalences π that does not change when all of them are
    /// rescaled. `values` is the K × K matrix of U, made symmetric here.
    pub(super) fn slopes(&self, rows: &ClassRows, values: &[f64], theta: f64) -> Vec<f64> {
        let classes = rows.classes();
        let prevalences: Vec<f64> = rows.sizes().weights.iter().map(|weight| weight / rows.total_weight()).collect();
        let value = |c: usize, d: usize| f64::midpoint(values[c * classes + d], values[d * classes + c]);
        let others = |m: usize| rows.others(m);
        let mut slopes = vec![0.0; classes];
        for &m in rows.present() {
            slopes[m] = match self.kind {
                PairWeights::Equal | PairWeights::Matrix(_) => 0.0,
                PairWeights::SizeProduct => {
                    let norm: f64 =
                        0.5 * rows.present().iter().map(|&c| prevalences[c] * (1.0 - prevalences[c])).sum::<f64>();
                    (others(m).map(|d| prevalences[d] * value(m, d)).sum::<f64>() - theta * (1.0 - prevalences[m]))
                        / norm
                }
                PairWeights::SizeSum => {
                    let norm = (rows.present().len() - 1) as f64;
                    (others(m).map(|d| value(m, d)).sum::<f64>() - theta * norm) / norm
                }
            };
        }
        slopes
    }
}

/// One-vs-rest: A_c = Σ_{d≠c} π_d/(1 − π_c) U_cd, averaged over the classes evenly or by their prevalence.
pub(super) struct RestWeighting {
    /// π by class.
    prevalences: Vec<f64>,
    /// 1/K for present classes.
    pub even: f64,
}

impl RestWeighting {
    pub(super) fn new(rows: &ClassRows) -> Self {
        let total = rows.total_weight();
        Self {
            prevalences: rows.sizes().weights.iter().map(|weight| weight / total).collect(),
            even: 1.0 / rows.present().len() as f64,
        }
    }

    /// π_c.
    pub(super) fn of(&self, class: usize) -> f64 {
        self.prevalences[class]
    }

    /// Σ_{d≠c} π_d.
    pub(super) fn of_rest(&self, rows: &ClassRows, class: usize) -> f64 {
        rows.others(class).map(|d| self.prevalences[d]).sum()
    }

    /// The components that chance gives to A_c: ½ in class c, and in every other its prevalence among the rest, halved.
    pub(super) fn class_chances(&self, rows: &ClassRows, class: usize) -> Vec<f64> {
        let rest = self.of_rest(rows, class);
        let chance = |m: usize| if m == class { 0.5 } else { 0.5 * self.prevalences[m] / rest };
        (0..self.prevalences.len()).map(chance).collect()
    }

    /// The components that chance gives to an average with these weights of the classes.
    pub(super) fn chances(&self, rows: &ClassRows, weight: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut chances = vec![0.0; self.prevalences.len()];
        for &c in rows.present() {
            let of_class = self.class_chances(rows, c);
            chances.iter_mut().zip(of_class).for_each(|(chance, of_class)| *chance += weight(c) * of_class);
        }
        chances
    }

    /// ∂A_c/∂π_m of every class m: (U_cm − A_c)/(1 − π_c), and 0 for c itself; `values` are the U_cm.
    pub(super) fn class_slopes(&self, rows: &ClassRows, class: usize, values: &[f64], value: f64) -> Vec<f64> {
        let rest = self.of_rest(rows, class);
        let slope = |m: usize| (values[m] - value) / rest;
        let is_other = |m: usize| m != class && rows.count(m) > 0;
        (0..self.prevalences.len()).map(|m| if is_other(m) { slope(m) } else { 0.0 }).collect()
    }

    /// Slopes of the even and of the prevalence average, from those of the classes.
    pub(super) fn slopes(&self, rows: &ClassRows, per_class: &[f64], class_slopes: &[Vec<f64>]) -> [Vec<f64>; 2] {
        let classes = self.prevalences.len();
        let (mut even, mut prevalence) = (vec![0.0; classes], vec![0.0; classes]);
        let theta: f64 = rows.present().iter().map(|&c| self.prevalences[c] * per_class[c]).sum();
        for &m in rows.present() {
            even[m] = rows.present().iter().map(|&c| self.even * class_slopes[c][m]).sum();
            let through_rests: f64 = rows.present().iter().map(|&c| self.prevalences[c] * class_slopes[c][m]).sum();
            prevalence[m] = per_class[m] - theta + through_rests;
        }
        [even, prevalence]
    }
}
