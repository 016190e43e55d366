//! Probabilities corrected on labelled rows: q ∝ pˢ exp(b), with a scale s and an offset b per class.

use super::linear_algebra::{eigenvectors, solve};
use super::rule::{correct, take_log};
use crate::special::chi_squared_tail;

const NEWTON_STEPS: usize = 100;
/// Relative to the likelihood: a step that gains no more is the last.
const GAIN: f64 = 1e-10;
/// Relative to the likelihood: what rounding may take from it.
const ROUNDING: f64 = 1e-13;

/// Probabilities with the truth, and which rows belong together.
#[derive(Debug, Clone)]
pub(super) struct LabelledRows {
    pub(super) classes: usize,
    /// Row by row.
    pub(super) probabilities: Vec<f64>,
    pub(super) codes: Vec<usize>,
    pub(super) weights: Option<Vec<f64>>,
    pub(super) groups: Option<Vec<u32>>,
}

impl LabelledRows {
    pub(super) fn len(&self) -> usize {
        self.codes.len()
    }

    pub(super) fn row(&self, row: usize) -> &[f64] {
        &self.probabilities[row * self.classes..][..self.classes]
    }

    /// Some of the rows.
    pub(super) fn at(&self, rows: &[usize]) -> Self {
        Self {
            classes: self.classes,
            probabilities: rows.iter().flat_map(|&row| self.row(row)).copied().collect(),
            codes: rows.iter().map(|&row| self.codes[row]).collect(),
            weights: self.weights.as_ref().map(|weights| rows.iter().map(|&row| weights[row]).collect()),
            groups: self.groups.as_ref().map(|groups| rows.iter().map(|&row| groups[row]).collect()),
        }
    }

    /// The logarithms of the probabilities, finite for zeros.
    pub(super) fn logs(&self) -> Vec<f64> {
        self.probabilities.iter().map(|&p| take_log(p)).collect()
    }

    /// Weights whose sum is the effective number of rows (Kish).
    fn effective_weights(&self) -> Vec<f64> {
        let Some(weights) = &self.weights else { return vec![1.0; self.len()] };
        let factor = weights.iter().sum::<f64>() / weights.iter().map(|w| w * w).sum::<f64>();
        weights.iter().map(|w| w * factor).collect()
    }
}

/// A scale and an offset per class.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Correction {
    pub(super) scale: f64,
    pub(super) offsets: Vec<f64>,
}

/// The likelihood of labelled rows under corrections, with a slight pull towards no correction.
pub(super) struct Likelihood<'a> {
    rows: &'a LabelledRows,
    logs: Vec<f64>,
    weights: Vec<f64>,
}

impl<'a> Likelihood<'a> {
    pub(super) fn new(rows: &'a LabelledRows) -> Self {
        Self { rows, logs: rows.logs(), weights: rows.effective_weights() }
    }

    /// The correction of the highest likelihood.
    ///
    /// A scale below 0 would say that the scores mean the opposite; they are then given no weight, but not turned round.
    pub(super) fn maximum(&self) -> Correction {
        let found = self.climb(true);
        let Correction { scale, mut offsets } = if found.scale >= 0.0 { found } else { self.climb(false) };
        let mean = offsets.iter().sum::<f64>() / offsets.len() as f64;
        for offset in &mut offsets {
            *offset -= mean;
        }
        Correction { scale, offsets }
    }

    /// Newton's method, with steps that are halved until the likelihood rises.
    fn climb(&self, is_scale_free: bool) -> Correction {
        let size = self.rows.classes + 1;
        let mut prior = vec![0.0; size];
        prior[0] = f64::from(u8::from(is_scale_free));
        let mut at = prior.clone();
        let mut value = self.loss(&at, &prior);
        for _ in 0..NEWTON_STEPS {
            let (slopes, mut bend) = self.derivatives(&at);
            let mut slope: Vec<f64> = (0..size).map(|k| at[k] - prior[k] - slopes[k]).collect();
            if !is_scale_free {
                slope[0] = 0.0;
                for k in 1..size {
                    bend[k] = 0.0;
                    bend[k * size] = 0.0;
                }
            }
            let step = solve(&bend, &slope);
            let moved = |length: f64| -> Vec<f64> { at.iter().zip(&step).map(|(x, step)| x - length * step).collect() };
            let mut length = 1.0;
            let mut tried = self.loss(&moved(length), &prior);
            while tried > value + ROUNDING * (value.abs() + 1.0) && length > 1e-6 {
                length *= 0.5;
                tried = self.loss(&moved(length), &prior);
            }
            at = moved(length);
            if value - tried <= GAIN * (value.abs() + 1.0) {
                break;
            }
            value = tried;
        }
        Correction { scale: at[0], offsets: at[1..].to_vec() }
    }

    fn loss(&self, at: &[f64], prior: &[f64]) -> f64 {
        let mut powers = vec![0.0; self.rows.classes];
        let mut likelihood = 0.0;
        for (row, logs) in self.logs.chunks_exact(self.rows.classes).enumerate() {
            for ((power, log), offset) in powers.iter_mut().zip(logs).zip(&at[1..]) {
                *power = at[0] * log + offset;
            }
            let largest = powers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let norm = largest + powers.iter().map(|power| (power - largest).exp()).sum::<f64>().ln();
            likelihood += self.weights[row] * (powers[self.rows.codes[row]] - norm);
        }
        0.5 * at.iter().zip(prior).map(|(x, p)| (x - p).powi(2)).sum::<f64>() - likelihood
    }

    /// Calls `visit(row, corrected probabilities, how the row's log-likelihood rises with the scale and each offset)`.
    fn for_each_slope(&self, at: &Correction, mut visit: impl FnMut(usize, &[f64], &[f64])) {
        let classes = self.rows.classes;
        let (mut q, mut slope) = (vec![0.0; classes], vec![0.0; classes + 1]);
        for (row, logs) in self.logs.chunks_exact(classes).enumerate() {
            q.copy_from_slice(logs);
            correct(&mut q, at.scale, &at.offsets);
            let weight = self.weights[row];
            slope[0] = 0.0;
            for (k, &p) in q.iter().enumerate() {
                let missing = if k == self.rows.codes[row] { weight - p * weight } else { -p * weight };
                slope[k + 1] = missing;
                slope[0] += missing * logs[k];
            }
            visit(row, &q, &slope);
        }
    }

    /// The sums of the slopes, and how sharply the log-likelihood falls, the slight pull included.
    fn derivatives(&self, at: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (classes, size) = (self.rows.classes, self.rows.classes + 1);
        let at = Correction { scale: at[0], offsets: at[1..].to_vec() };
        let (mut slopes, mut bend) = (vec![0.0; size], vec![0.0; size * size]);
        self.for_each_slope(&at, |row, q, slope| {
            slopes.iter_mut().zip(slope).for_each(|(sum, one)| *sum += one);
            let logs = &self.logs[row * classes..][..classes];
            let mean: f64 = q.iter().zip(logs).map(|(p, log)| p * log).sum();
            for (k, &p) in q.iter().enumerate() {
                let (heavy, apart) = (self.weights[row] * p, logs[k] - mean);
                bend[0] += heavy * apart * apart;
                bend[k + 1] += heavy * apart;
                let line = &mut bend[(k + 1) * size + 1..][..=k];
                line.iter_mut().zip(q).for_each(|(entry, other)| *entry -= heavy * other);
                line[k] += heavy;
            }
        });
        // The lower triangle is complete but for its first column, which is the first row.
        for i in 1..size {
            bend[i * size] = bend[i];
            for j in 1..i {
                bend[j * size + i] = bend[i * size + j];
            }
        }
        for k in 0..size {
            bend[k * size + k] += 1.0;
        }
        (slopes, bend)
    }

    /// How much more the slopes vary in groups than those of as many single rows would; 1 or more.
    fn design_effect(&self, at: &Correction) -> f64 {
        let Some(groups) = &self.rows.groups else { return 1.0 };
        let size = self.rows.classes + 1;
        let count = groups.iter().map(|&group| group as usize + 1).max().unwrap_or(0);
        let (mut sums, mut single) = (vec![0.0; count * size], vec![0.0; size]);
        self.for_each_slope(at, |row, _, slope| {
            let sum = &mut sums[groups[row] as usize * size..][..size];
            for k in 0..size {
                sum[k] += slope[k];
                single[k] += slope[k] * slope[k];
            }
        });
        let mut grouped = vec![0.0; size];
        for sum in sums.chunks_exact(size) {
            grouped.iter_mut().zip(sum).for_each(|(square, one)| *square += one * one);
        }
        let ratios = || grouped.iter().zip(&single).filter(|(_, one)| **one > 0.0).map(|(all, one)| all / one);
        (ratios().sum::<f64>() / ratios().count() as f64).max(1.0)
    }

    /// What the rows leave open about scale and offsets: independent deviations of one standard error.
    pub(super) fn deviations(&self, at: &Correction) -> Vec<Vec<f64>> {
        let size = self.rows.classes + 1;
        let point: Vec<f64> = std::iter::once(at.scale).chain(at.offsets.iter().copied()).collect();
        let effect = self.design_effect(at);
        let scaled = |(value, vector): (f64, Vec<f64>)| -> Vec<f64> {
            let length = (effect / value).sqrt();
            vector.into_iter().map(|entry| entry * length).collect()
        };
        eigenvectors(self.derivatives(&point).1, size).into_iter().map(scaled).collect()
    }

    /// Whether corrected probabilities fit the rows better than those that were given, by the ratio of likelihoods.
    ///
    /// Twice the gain in log-likelihood has a chi-squared distribution with K degrees of freedom, a scale and K − 1
    /// offsets, if the probabilities are calibrated. Weights are scaled to the effective number of rows, and where rows
    /// are in groups the gain is divided by their design effect.
    pub(super) fn calibration_p_value(&self, at: &Correction) -> f64 {
        let mut gain = 0.0;
        self.for_each_slope(at, |row, q, _| {
            let own = self.rows.codes[row];
            gain += self.weights[row] * (take_log(q[own]) - self.logs[row * self.rows.classes + own]);
        });
        if gain <= 0.0 {
            return 1.0;
        }
        chi_squared_tail(2.0 * gain / self.design_effect(at), self.rows.classes as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows whose probabilities are right but for a power and offsets, each as often as it should be.
    fn rows(power: f64, offsets: [f64; 3]) -> LabelledRows {
        let (mut probabilities, mut codes, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        for k in 0..200_u32 {
            let x = [f64::from(k % 13) / 4.0, f64::from(k % 7) / 2.0, f64::from(k % 5) / 3.0];
            let mut truth = x.to_vec();
            correct(&mut truth, 1.0, &[0.0; 3]);
            let mut shown: Vec<f64> = truth.iter().map(|p| p.ln()).collect();
            correct(&mut shown, power, &offsets);
            for (class, &p) in truth.iter().enumerate() {
                probabilities.extend(&shown);
                codes.push(class);
                weights.push(p * 1e6);
            }
        }
        LabelledRows { classes: 3, probabilities, codes, weights: Some(weights), groups: None }
    }

    #[test]
    fn a_power_and_offsets_are_undone() {
        let (distorted, turned) = (rows(3.0, [0.6, -0.6, 0.0]), rows(-1.0, [0.0; 3]));
        let likelihood = Likelihood::new(&distorted);
        let found = likelihood.maximum();
        assert!((found.scale - 1.0 / 3.0).abs() < 0.01, "{}", found.scale);
        for (offset, expected) in found.offsets.iter().zip([-0.2, 0.2, 0.0]) {
            assert!((offset - expected).abs() < 0.01, "{offset}");
        }
        assert!(likelihood.calibration_p_value(&found) < 1e-6);
        assert_eq!(Likelihood::new(&turned).maximum().scale, 0.0);
    }

    #[test]
    fn derivatives_are_those_of_the_loss() {
        let rows = rows(2.0, [0.3, 0.0, -0.3]);
        let likelihood = Likelihood::new(&rows);
        let (at, prior) = ([0.8, 0.1, -0.2, 0.3], [1.0, 0.0, 0.0, 0.0]);
        let (slopes, bend) = likelihood.derivatives(&at);
        let moved = |k: usize, step: f64| {
            let mut point = at;
            point[k] += step;
            point
        };
        for k in 0..4 {
            let numeric = (likelihood.loss(&moved(k, 1e-5), &prior) - likelihood.loss(&moved(k, -1e-5), &prior)) / 2e-5;
            assert!((numeric - (at[k] - prior[k] - slopes[k])).abs() < 1e-5, "{k}");
            let (after, before) =
                (likelihood.derivatives(&moved(k, 1e-5)).0, likelihood.derivatives(&moved(k, -1e-5)).0);
            for j in 0..4 {
                let numeric = (before[j] - after[j]) / 2e-5 + f64::from(u8::from(j == k));
                assert!((numeric - bend[k * 4 + j]).abs() < 1e-5, "{k} {j}");
            }
        }
    }

    #[test]
    fn copies_of_rows_in_groups_say_no_more() {
        let once = LabelledRows { weights: None, ..rows(2.0, [0.0; 3]) };
        let four: Vec<usize> = (0..once.len()).flat_map(|row| [row; 4]).collect();
        let groups = four.iter().map(|&row| row as u32).collect();
        let copies = LabelledRows { groups: Some(groups), ..once.at(&four) };
        let at = Correction { scale: 0.7, offsets: vec![0.1, 0.0, -0.1] };
        let (alone, grouped) = (Likelihood::new(&once), Likelihood::new(&copies));
        assert!((grouped.design_effect(&at) - 4.0).abs() < 1e-12);
        assert!((grouped.calibration_p_value(&at) - alone.calibration_p_value(&at)).abs() < 1e-12);
    }
}
