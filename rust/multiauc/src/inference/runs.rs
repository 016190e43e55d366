//! Means over several trainings of a model, and over repeated cross-validations: what rows and what runs do to them.

use super::design::Design;
use super::freedom::{ClassTerm, degrees_of_freedom};
use super::statistic::{Estimate, Statistic};
use crate::special::StudentT;

/// Relative to a variance, what rounding leaves when an equal one is subtracted.
const ROUNDING: f64 = 1e-12;

/// The variance of a mean over runs, split into what rows and runs contribute.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunParts {
    /// What comes from the rows, as though the runs were fixed.
    pub rows: f64,
    /// What comes from the runs.
    pub runs: f64,
    /// Of the sum of both.
    pub degrees_of_freedom: f64,
}

/// The runs of one model: what they add to the variance of the mean, the plain variance s²/R, and R.
struct Term {
    runs: f64,
    plain: f64,
    count: f64,
}

impl Term {
    /// With A the variance of the mean over rows, s² that of the values over runs and I = R/(R − 1) (mean V_r − A) what
    /// rows and runs have together, runs add max(0, s² − I)/R.
    fn new(mean: &Estimate, runs: &[Estimate]) -> Self {
        let count = runs.len() as f64;
        if runs.len() < 2 {
            return Self { runs: 0.0, plain: 0.0, count };
        }
        let spread = variance(runs.iter().map(|run| run.value));
        let own = runs.iter().map(|run| run.variance).sum::<f64>() / count;
        let beyond = spread - count / (count - 1.0) * (own - mean.variance);
        // Equal runs leave nothing but rounding.
        let from_runs = if beyond > ROUNDING * mean.variance { beyond / count } else { 0.0 };
        Self { runs: from_runs, plain: spread / count, count }
    }
}

/// Splits the variance of a mean over runs, V = A + max(0, s² − I)/R. Satterthwaite's degrees of freedom.
#[must_use]
pub fn split_variance(mean: &Estimate, runs: &[Estimate]) -> RunParts {
    with_freedom(mean, &[Term::new(mean, runs)])
}

/// Splits that of a difference between models with different numbers of runs: those of both add up.
#[must_use]
pub fn split_variance_of_unpaired(mean: &Estimate, models: [(&Estimate, &[Estimate]); 2]) -> RunParts {
    with_freedom(mean, &models.map(|(mean, runs)| Term::new(mean, runs)))
}

fn with_freedom(mean: &Estimate, terms: &[Term]) -> RunParts {
    let runs: f64 = terms.iter().map(|term| term.runs).sum();
    let total = mean.variance + runs;
    let of_runs = terms.iter().filter(|term| term.count > 1.0);
    let mut noise: f64 = of_runs.map(|term| term.plain * term.plain / (term.count - 1.0)).sum();
    if terms.iter().all(|term| term.count < 2.0) {
        return RunParts { rows: mean.variance, runs, degrees_of_freedom: mean.degrees_of_freedom };
    }
    if mean.variance > 0.0 {
        noise += mean.variance * mean.variance / mean.degrees_of_freedom;
    }
    let degrees_of_freedom = if noise > 0.0 { total * total / noise } else { mean.degrees_of_freedom };
    RunParts { rows: mean.variance, runs, degrees_of_freedom }
}

/// The variance of some numbers, with one less than their count below.
fn variance(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / count;
    values.map(|value| (value - mean) * (value - mean)).sum::<f64>() / (count - 1.0)
}

/// A metric of a repeated cross-validation, or the difference between those of two models.
#[derive(Debug, Clone)]
pub struct RepeatedMetric {
    /// Of each fold of each repeat.
    pub values: Vec<f64>,
    /// The share of the rows that each fold has.
    shares: Vec<f64>,
    /// T of each row, not centred, averaged over repeats.
    components: Vec<f64>,
    /// The class of each row.
    codes: Vec<usize>,
    /// Rows of each class.
    sizes: Vec<f64>,
    repeats: usize,
}

impl RepeatedMetric {
    /// Of no folds yet, for rows of these classes.
    #[must_use]
    pub fn new(codes: Vec<usize>, classes: usize, repeats: usize) -> Self {
        let mut sizes = vec![0.0; classes];
        for &code in &codes {
            sizes[code] += 1.0;
        }
        Self { values: Vec::new(), shares: Vec::new(), components: vec![0.0; codes.len()], codes, sizes, repeats }
    }

    /// Adds a fold: its statistic, and the numbers of its rows in the whole sample.
    pub fn add(&mut self, design: &Design, statistic: &Statistic, rows: &[u32]) {
        let share = rows.len() as f64 / self.codes.len() as f64;
        for &class in design.rows.present() {
            let of_class = design.rows.of(class);
            // A row counts for the share of its class that the fold has.
            let scale = share * self.sizes[class] / of_class.len() as f64;
            for (&row, component) in of_class.iter().zip(&statistic.components[design.rows.range(class)]) {
                self.components[rows[row as usize] as usize] += scale * component / self.repeats as f64;
            }
        }
        self.values.push(statistic.value);
        self.shares.push(share);
    }

    /// The difference, fold by fold and row by row.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        let minus = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - b).collect();
        Self {
            values: minus(&self.values, &other.values),
            components: minus(&self.components, &other.components),
            ..self.clone()
        }
    }

    /// The mean over folds, weighted by rows, and over repeats.
    #[must_use]
    pub fn value(&self) -> f64 {
        let sum: f64 = self.values.iter().zip(&self.shares).map(|(value, share)| value * share).sum();
        sum / self.shares.iter().sum::<f64>()
    }

    /// The larger of two variances by the length of its interval, split into that of the rows and what is beyond it.
    #[must_use]
    pub fn parts(&self) -> RunParts {
        let classes = self.sizes.len();
        let add = |of: &dyn Fn(usize) -> f64| {
            let mut sums = vec![0.0; classes];
            self.codes.iter().enumerate().for_each(|(row, &class)| sums[class] += of(row));
            sums
        };
        let sums = add(&|row| self.components[row]);
        let deviation = |row: usize| {
            let class = self.codes[row];
            (self.components[row] - sums[class] / self.sizes[class]) / self.sizes[class]
        };
        let (squares, fourths) = (add(&|row| deviation(row).powi(2)), add(&|row| deviation(row).powi(4)));
        let term = |class: usize| {
            let (size, factor) = (self.sizes[class], self.sizes[class] / (self.sizes[class] - 1.0));
            let (variance, fourth) = (factor * squares[class], factor * factor * fourths[class]);
            ClassTerm { variance, fourth, units: size, effective: size }
        };
        let terms: Vec<ClassTerm> = (0..classes).map(term).collect();
        let rows: f64 = terms.iter().map(|term| term.variance).sum();
        let freedom = degrees_of_freedom(rows, &terms);
        // Nadeau and Bengio: folds overlap in what they train on, which 1/J alone would ignore. The ratio is that of rows
        // tested and trained on.
        let count = self.values.len() as f64;
        let ratio = 1.0 / (count / self.repeats as f64 - 1.0);
        let folds = (1.0 / count + ratio) * variance(self.values.iter().copied());
        let width =
            |variance: f64, freedom: f64| StudentT::new(freedom.max(1.0)).upper_quantile(0.025) * variance.sqrt();
        if width(rows, if rows > 0.0 { freedom } else { 1.0 }) >= width(folds, count - 1.0) {
            return RunParts { rows, runs: 0.0, degrees_of_freedom: freedom };
        }
        RunParts { rows: rows.min(folds), runs: folds - rows.min(folds), degrees_of_freedom: count - 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(value: f64, variance: f64) -> Estimate {
        Estimate { value, variance, degrees_of_freedom: 50.0, ..Estimate::MISSING }
    }

    #[test]
    fn equal_runs_add_nothing_and_different_ones_their_spread() {
        let mean = estimate(0.8, 0.01);
        let equal = split_variance(&mean, &[mean, mean, mean]);
        assert_eq!((equal.rows, equal.runs), (0.01, 0.0));
        let runs = [estimate(0.7, 0.01), estimate(0.9, 0.01)];
        let found = split_variance(&mean, &runs);
        assert!((found.runs - 0.01).abs() < 1e-15, "s² = 0.02 over two runs: {}", found.runs);
        let one = split_variance(&mean, &[mean]);
        assert_eq!((one.runs, one.degrees_of_freedom), (0.0, 50.0));
        let both = split_variance_of_unpaired(&mean, [(&mean, &runs), (&mean, &[mean])]);
        assert_eq!(both.runs, found.runs);
    }
}
