//! How much an estimate could vary at worst: what Wilson's interval falls back on where few failures were seen.
//!
//! A share θ of n rows has the variance θ(1 − θ)/n; any other statistic of that value has θ(1 − θ) times its *design
//! effect* D. It is largest where a row counts for all it can, b_k in class k, or for nothing:
//!
//! | statistics | D₀ | q |
//! |---|---|---|
//! | averages over pairs | Σ_k b_k² ρ_k/n_k, ρ_k the mean over other classes d of n_d/(n_k + n_d) | 1/3 |
//! | one-vs-rest, mean recalls | max_k (b_k − min(x, b_k/2))/((1 − x) n_k), x = min(θ, 1 − θ): failures in one class | 1/4 |
//! | one row of every class at a time | 1/min n_k | 1/4 |
//!
//! n_k being effective numbers of rows or groups. Of two classes the first three kinds are all the binary AUC.
//!
//! A mean of recalls has failures in each class, and those of a large class say nothing about a small one that shows
//! none. There q = 1/4 holds in each class: the data count for λ = Σ_k w_k λ_k/Σ_k w_k, w_k = b_k²/n_k,
//! λ_k = F_k/(F_k + 1/4), F_k the failures of class k (or its successes, if fewer). The q of the mean gives this λ.

use super::design::Design;
use super::freedom::degrees_of_freedom_alike;
use super::statistic::Statistic;
use crate::metric::Metric;

/// The worst case of an estimate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WorstCase {
    /// D₀.
    pub design_effect: f64,
    /// q: with so many failures, worst case and data count the same.
    pub failures: f64,
    /// ν₀: those of a difference of two such statistics if rows vary alike in all classes; infinite where nothing is known.
    pub degrees_of_freedom: f64,
}

/// What a statistic is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Pairs of classes.
    Pairs,
    /// Classes against the rest.
    Rests,
    /// One row of every class.
    Tuples,
    /// The share of right decisions of each class.
    Recalls,
}

impl Kind {
    /// Of a metric; `None` for those that are not counted on a scale of failures.
    pub(crate) const fn of(metric: Metric) -> Option<Self> {
        match metric {
            Metric::AucMu | Metric::HandTill => Some(Self::Pairs),
            Metric::OneVsRest | Metric::OneVsRestPrevalence => Some(Self::Rests),
            Metric::Pdi | Metric::Hum | Metric::LandgrebeDuin | Metric::OrderedVus => Some(Self::Tuples),
            Metric::BalancedAccuracy => Some(Self::Recalls),
            // Average precision and shares of rows bring their own worst case.
            Metric::AveragePrecision
            | Metric::AveragePrecisionPrevalence
            | Metric::TopKAccuracy
            | Metric::Matthews
            | Metric::Kappa
            | Metric::Accuracy
            | Metric::MacroF1
            | Metric::LogLoss
            | Metric::Brier => None,
        }
    }

    /// The largest component possible in each class, from what chance gives where that is half of it.
    pub(super) fn ceilings(self, chances: &[f64], present: usize) -> Vec<f64> {
        match self {
            Self::Pairs | Self::Rests => chances.iter().map(|chance| 2.0 * chance).collect(),
            Self::Tuples => vec![1.0; chances.len()],
            Self::Recalls => vec![(present as f64).recip(); chances.len()],
        }
    }
}

impl WorstCase {
    /// Of a statistic with these ceilings b_k and effective numbers n_k, zero for absent classes.
    pub(crate) fn new(kind: Kind, ceilings: &[f64], units: &[f64], value: f64) -> Self {
        let classes: Vec<(f64, f64)> =
            ceilings.iter().copied().zip(units.iter().copied()).filter(|&(_, units)| units > 0.0).collect();
        let is_binary = classes.len() == 2 && kind != Kind::Recalls;
        let (design_effect, failures) = match kind {
            _ if is_binary => (of_pairs(&[(1.0, classes[0].1), (1.0, classes[1].1)]), 1.0 / 3.0),
            Kind::Pairs => (of_pairs(&classes), 1.0 / 3.0),
            Kind::Tuples => (classes.iter().map(|&(_, units)| units.recip()).fold(0.0, f64::max), 0.25),
            Kind::Rests => (of_one_class(&classes, value), 0.25),
            Kind::Recalls => return Self::of_recalls(ceilings, units, &vec![value; units.len()], value),
        };
        Self { design_effect, failures, degrees_of_freedom: degrees_of_freedom_alike(ceilings, units) }
    }

    /// Of a mean of these recalls, each counting b_k.
    pub(crate) fn of_recalls(ceilings: &[f64], units: &[f64], recalls: &[f64], value: f64) -> Self {
        let mut classes = Vec::with_capacity(units.len());
        let (mut believed, mut doubted) = (0.0, 0.0);
        for ((&ceiling, &units), &recall) in ceilings.iter().zip(units).zip(recalls) {
            if units > 0.0 {
                let (weight, seen) = (ceiling * ceiling / units, units * recall.min(1.0 - recall).max(0.0));
                believed += weight * seen / (seen + 0.25);
                doubted += weight * 0.25 / (seen + 0.25);
                classes.push((ceiling, units));
            }
        }
        let design_effect = of_one_class(&classes, value);
        let seen = value.min(1.0 - value) / design_effect;
        Self {
            design_effect,
            failures: if believed > 0.0 && seen > 0.0 { seen * doubted / believed } else { f64::INFINITY },
            degrees_of_freedom: degrees_of_freedom_alike(ceilings, units),
        }
    }

    /// Of a statistic of the design's rows, if it has one.
    pub(crate) fn of(design: &Design, statistic: &Statistic) -> Option<Self> {
        if statistic.worst.is_some() {
            return statistic.worst;
        }
        let (kind, ceilings) = (Kind::of(statistic.id)?, statistic.ceilings(design)?);
        if kind == Kind::Recalls {
            return Some(Self::of_recalls(&ceilings, &design.effective, &statistic.recalls(design), statistic.value));
        }
        Some(Self::new(kind, &ceilings, &design.effective, statistic.value))
    }

    /// Of a class against the rest, whose components by chance are known.
    pub(super) fn of_class(design: &Design, chances: &[f64], value: f64) -> Self {
        let ceilings = Kind::Rests.ceilings(chances, design.rows.present().len());
        Self::new(Kind::Rests, &ceilings, &design.effective, value)
    }
}

impl Statistic {
    /// The largest component possible in each class, where that is known.
    #[must_use]
    pub fn ceilings(&self, design: &Design) -> Option<Vec<f64>> {
        Some(Kind::of(self.id)?.ceilings(self.chances.as_deref()?, design.rows.present().len()))
    }

    /// The recall of each class, from components that are a class's share of the mean or 0.
    pub(super) fn recalls(&self, design: &Design) -> Vec<f64> {
        let (rows, mut recalls) = (&design.rows, vec![0.0; design.rows.classes()]);
        for &class in rows.present() {
            let masses = || rows.range(class).map(|position| rows.mass(position as u32));
            let right: f64 = masses().zip(&self.components[rows.range(class)]).map(|(mass, part)| mass * part).sum();
            recalls[class] = rows.present().len() as f64 * right / masses().sum::<f64>();
        }
        recalls
    }
}

/// The worst case of a metric with other numbers of rows, for plans: all recalls are taken to be alike.
#[must_use]
pub fn worst_case(metric: Metric, ceilings: &[f64], units: &[f64], value: f64) -> Option<WorstCase> {
    Some(WorstCase::new(Kind::of(metric)?, ceilings, units, value))
}

/// All failures coming from the rows of one class.
fn of_one_class(classes: &[(f64, f64)], value: f64) -> f64 {
    let x = value.min(1.0 - value);
    let of_class = |&(ceiling, units): &(f64, f64)| (ceiling - x.min(0.5 * ceiling)) / ((1.0 - x) * units);
    classes.iter().map(of_class).fold(0.0, f64::max)
}

fn of_pairs(classes: &[(f64, f64)]) -> f64 {
    let others = (classes.len() - 1) as f64;
    let of_class = |(index, &(ceiling, units)): (usize, &(f64, f64))| {
        let shares = classes.iter().enumerate().filter(|&(other, _)| other != index);
        let rho = shares.map(|(_, &(_, other))| other / (units + other)).sum::<f64>() / others;
        ceiling * ceiling * rho / units
    };
    classes.iter().enumerate().map(of_class).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_of_a_large_class_say_nothing_of_a_small_one() {
        // The small class shows no failure: the data count for 6/66 of λ = 17/(17 + 1/4).
        let found =
            WorstCase::of_recalls(&[0.5, 0.5, 0.0], &[60.0, 6.0, 0.0], &[43.0 / 60.0, 1.0, f64::NAN], 103.0 / 120.0);
        let x = 17.0 / 120.0;
        assert!((found.design_effect - (0.5 - x) / ((1.0 - x) * 6.0)).abs() < 1e-15);
        let seen = x / found.design_effect;
        assert!((seen / (seen + found.failures) - 6.0 / 66.0 * 17.0 / 17.25).abs() < 1e-14);
        let perfect = WorstCase::of_recalls(&[0.5; 2], &[60.0, 6.0], &[1.0; 2], 1.0);
        assert_eq!((perfect.design_effect, perfect.failures), (0.5 / 6.0, f64::INFINITY));
    }

    #[test]
    fn plans_take_recalls_to_be_alike() {
        let planned = worst_case(Metric::BalancedAccuracy, &[0.5; 2], &[60.0, 6.0], 0.75);
        assert_eq!(planned, Some(WorstCase::of_recalls(&[0.5; 2], &[60.0, 6.0], &[0.75; 2], 0.75)));
    }
}
