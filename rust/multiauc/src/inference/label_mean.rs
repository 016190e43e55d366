//! The mean of a metric over several labels, each a binary problem on the same rows.
//!
//! A row counts in every label, among its positives or its negatives. With u_l(i) the influence value of row i in label l,
//! it adds φ_i = mean_l u_l(i) to the error of the mean. Rows (or groups of rows, whose φ are summed) are the
//! independent units: Var = e/(e − 1) Σ φ², e the effective number of units.
//!
//! The worst case of an AUC is that labels fail together, in the same rows, D₀ = (mean_l √D_l)², or that one label has
//! all failures, D₀ = max_l D_l (b − min(x, b/2))/(1 − x) with b = 1/L and x = min(θ, 1 − θ), whichever is larger. That
//! of average precision is its smallest label's.

use super::design::Design;
use super::freedom::degrees_of_freedom_whole;
use super::moments::Moments;
use super::statistic::{Estimate, Statistic, influences};
use super::unit_sums::spread_of;
use super::worst_case::{Kind, WorstCase};
use crate::error::Result;
use crate::parallel::Workers;

/// The mean of one metric over labels, with what each row adds to its error.
#[derive(Debug, Clone)]
pub struct LabelMean {
    /// The mean.
    pub value: f64,
    /// φ of each row of the sample.
    terms: Vec<f64>,
    worst: Option<WorstCase>,
    /// Whether every label has at least two units on each side.
    is_known: bool,
}

/// What is independent of what, the same for all labels.
#[derive(Debug)]
pub struct LabelUnits<'g> {
    groups: Option<&'g [u32]>,
    /// √(e/(e − 1)) of all units together.
    spread: f64,
    effective: f64,
    /// How many units there are.
    count: f64,
}

impl<'g> LabelUnits<'g> {
    /// From the design of any label, and the groups it was made with.
    #[must_use]
    pub fn new(design: &Design, groups: Option<&'g [u32]>) -> Self {
        let effective = design.effective_total();
        let count = design.groups.as_ref().map_or(design.rows.len(), |groups| groups.count) as f64;
        Self { groups, spread: spread_of(effective), effective, count }
    }

    /// The variance of each mean and their covariances.
    #[must_use]
    pub fn moments(&self, means: &[LabelMean]) -> Moments {
        let sums: Vec<Vec<f64>> = means.iter().map(|mean| self.sums(&mean.terms)).collect();
        let unknown = |mean: &LabelMean| if mean.is_known { 1.0 } else { f64::NAN };
        let product = |a: usize, b: usize| {
            let products: f64 = sums[a].iter().zip(&sums[b]).map(|(a, b)| a * b).sum();
            products * unknown(&means[a]) * unknown(&means[b])
        };
        let covariance = (0..means.len()).flat_map(|a| (0..means.len()).map(move |b| (a, b)));
        let covariance: Vec<f64> = covariance.map(|(a, b)| product(a, b)).collect();
        let estimate = |(index, mean): (usize, &LabelMean)| {
            let variance = covariance[index * means.len() + index];
            self.estimate(mean.value, variance, &sums[index], mean.worst)
        };
        Moments { estimates: means.iter().enumerate().map(estimate).collect(), covariance }
    }

    /// The first mean minus the second.
    #[must_use]
    pub fn difference(&self, a: &LabelMean, b: &LabelMean) -> Estimate {
        let terms: Vec<f64> = a.terms.iter().zip(&b.terms).map(|(a, b)| a - b).collect();
        let sums = self.sums(&terms);
        let variance = if a.is_known && b.is_known { sums.iter().map(|sum| sum * sum).sum() } else { f64::NAN };
        self.estimate(a.value - b.value, variance, &sums, None)
    }

    /// √(e/(e − 1)) φ of each unit.
    fn sums(&self, terms: &[f64]) -> Vec<f64> {
        let Some(groups) = self.groups else { return terms.iter().map(|term| self.spread * term).collect() };
        let mut sums = vec![0.0; groups.iter().max().map_or(0, |&last| last as usize + 1)];
        for (&group, term) in groups.iter().zip(terms) {
            sums[group as usize] += self.spread * term;
        }
        sums
    }

    fn estimate(&self, value: f64, variance: f64, sums: &[f64], worst: Option<WorstCase>) -> Estimate {
        let fourth: f64 = sums.iter().map(|sum| sum.powi(4)).sum();
        Estimate {
            value,
            variance,
            degrees_of_freedom: degrees_of_freedom_whole(variance, fourth, self.count, self.effective),
            plug_in: variance / (self.spread * self.spread),
            cautious: None,
            worst,
        }
    }
}

/// The mean of one metric over labels, from the statistic and the design of each.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub fn label_mean(labels: &[(&Design, &Statistic)], workers: &Workers<'_>) -> Result<LabelMean> {
    let share = (labels.len() as f64).recip();
    let value = labels.iter().map(|(_, statistic)| statistic.value).sum::<f64>() * share;
    let mut terms = Vec::new();
    for (design, statistic) in labels {
        let of_label = influences(design, std::slice::from_ref(*statistic), workers)?;
        terms.resize(of_label.len(), 0.0);
        terms.iter_mut().zip(of_label).for_each(|(term, one)| *term += share * one);
    }
    let worst = labels.iter().map(|(design, statistic)| WorstCase::of(design, statistic)).collect::<Option<Vec<_>>>();
    let worst = worst.map(|worst| of_mean(&worst, labels[0].1, value));
    let is_known = labels.iter().all(|(design, _)| design.effective.iter().all(|&units| spread_of(units).is_finite()));
    Ok(LabelMean { value, terms, worst, is_known })
}

/// The worst case of a mean, from those of its labels.
fn of_mean(labels: &[WorstCase], first: &Statistic, value: f64) -> WorstCase {
    if let [alone] = labels {
        return *alone;
    }
    let largest = labels.iter().map(|worst| worst.design_effect).fold(0.0, f64::max);
    let share = (labels.len() as f64).recip();
    let failures = labels.iter().map(|worst| worst.failures).fold(f64::INFINITY, f64::min).min(0.25);
    if Kind::of(first.id).is_none() {
        return WorstCase { design_effect: largest, failures, degrees_of_freedom: f64::INFINITY };
    }
    let together = (labels.iter().map(|worst| worst.design_effect.sqrt()).sum::<f64>() * share).powi(2);
    let x = value.min(1.0 - value);
    let of_one = largest * (share - x.min(0.5 * share)) / (1.0 - x);
    WorstCase { design_effect: together.max(of_one), failures, degrees_of_freedom: f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::Cancel;
    use crate::sample::{ClassCodes, Sampling, ScoreMatrix, ScoredSample};

    const SCORES: [f64; 8] = [0.1, 0.4, 0.35, 0.8, 0.7, 0.2, 0.9, 0.3];

    /// The share of pairs in the right order, and each row's share of the other side.
    fn placements(codes: &[u8]) -> (f64, Vec<f64>) {
        let of_row = |row: usize| {
            let others: Vec<usize> = (0..codes.len()).filter(|&other| codes[other] != codes[row]).collect();
            let wins = others.iter().filter(|&&other| (SCORES[row] > SCORES[other]) == (codes[row] == 1)).count();
            wins as f64 / others.len() as f64
        };
        let found: Vec<f64> = (0..codes.len()).map(of_row).collect();
        let own: Vec<f64> = (0..codes.len()).filter(|&row| codes[row] == 1).map(|row| found[row]).collect();
        (own.iter().sum::<f64>() / own.len() as f64, found)
    }

    #[test]
    fn rows_count_once_however_many_labels_they_have() -> Result<()> {
        let cancel = Cancel::new();
        let workers = Workers::with_threads(1, &cancel);
        let labels: [[u8; 8]; 2] = [[0, 0, 1, 1, 1, 0, 1, 0], [0, 1, 0, 1, 1, 0, 0, 0]];
        let mut phi = [0.0; 8];
        let (mut found, mut mean) = (Vec::new(), 0.0);
        for codes in &labels {
            let sample =
                ScoredSample::new(ScoreMatrix::from_rows(&SCORES, 1)?, ClassCodes::Bytes(codes), None, &workers)?;
            let design = Design::new(&sample, Sampling::Iid, &workers)?;
            let (value, placed) = placements(codes);
            mean += value / 2.0;
            for (row, place) in placed.iter().enumerate() {
                let size = codes.iter().map(|&code| f64::from(code == codes[row])).sum::<f64>();
                phi[row] += (place - value) / size / 2.0;
            }
            let chances = Some(vec![0.5, 0.5]);
            let components: Vec<f64> = design.rows.rows().iter().map(|&row| placed[row as usize]).collect();
            let slopes = vec![0.0; 2];
            let id = crate::metric::Metric::OneVsRest;
            found.push((design, Statistic { id, value, components: components.into(), slopes, chances, worst: None }));
        }
        let pairs: Vec<(&Design, &Statistic)> = found.iter().map(|(design, statistic)| (design, statistic)).collect();
        let both = label_mean(&pairs, &workers)?;
        let moments = LabelUnits::new(&found[0].0, None).moments(std::slice::from_ref(&both));
        assert!((moments.estimates[0].value - mean).abs() < 1e-15);
        let expected: f64 = phi.iter().map(|one| one * one).sum::<f64>() * 8.0 / 7.0;
        assert!((moments.covariance[0] - expected).abs() < 1e-15);
        let groups = [0, 0, 1, 1, 2, 2, 3, 3];
        let units = LabelUnits { groups: Some(&groups), spread: spread_of(4.0), effective: 4.0, count: 4.0 };
        let expected: f64 = phi.chunks(2).map(|pair| (pair[0] + pair[1]).powi(2)).sum::<f64>() * 4.0 / 3.0;
        assert!((units.moments(std::slice::from_ref(&both)).covariance[0] - expected).abs() < 1e-15);
        assert_eq!(units.difference(&both, &both).variance, 0.0);
        Ok(())
    }
}
