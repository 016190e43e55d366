//! What is a sum over rows, and so is exact in any number of parts: log loss, Brier score, top-k accuracy, accuracy and
//! the confusion matrix.
//!
//! A mean θ = Σ w x/W needs Σ w x for its value, Σ w² x^j for its variance c Σ (w/W)² (x − θ)², and Σ w⁴ x^j for the
//! degrees of freedom. Accuracy needs Σ w, Σ w² and Σ w⁴ of each entry of the confusion matrix. All sums carry what
//! rounding takes from them, so the order of rows and of merges matters in the last bits only, and of counts not at all.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::float::{CarefulSum, Score};
use crate::inference::{ClassTerm, Estimate, WorstCase, degrees_of_freedom, degrees_of_freedom_whole};
use crate::metric::Metric;
use crate::metrics::{brier, log_loss, top_k_credit};
use crate::sample::{ClassCodes, ScoreMatrix};

/// The metrics that are such sums, besides accuracy.
const MEANS: [Metric; 3] = [Metric::LogLoss, Metric::Brier, Metric::TopKAccuracy];

/// What is kept, the same for all parts of a stream.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowSumSettings {
    /// Number of classes.
    pub classes: usize,
    /// Which of log loss, Brier score and top-k accuracy are summed.
    pub means: [bool; 3],
    /// As in [`MetricOptions`](crate::MetricOptions).
    pub clip: Option<f64>,
    /// As in [`MetricOptions`](crate::MetricOptions).
    pub k: usize,
}

/// The sums of some rows.
#[derive(Debug, Clone)]
pub struct RowSums {
    settings: RowSumSettings,
    means: [Powers; 3],
    /// By true class times the number of classes plus predicted class.
    cells: BTreeMap<u32, Cell>,
}

/// The sums of one number of each row.
#[derive(Debug, Clone, Copy)]
struct Powers {
    first: CarefulSum,
    of_squares: [CarefulSum; 3],
    of_fourths: [CarefulSum; 5],
    least: f64,
    most: f64,
}

impl Default for Powers {
    fn default() -> Self {
        Self {
            first: CarefulSum::default(),
            of_squares: Default::default(),
            of_fourths: Default::default(),
            least: f64::INFINITY,
            most: f64::NEG_INFINITY,
        }
    }
}

/// Rows of one true and one predicted class: how many, and Σ w, Σ w², Σ w⁴.
#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    rows: u64,
    sums: [CarefulSum; 3],
}

/// Of all rows.
struct Totals {
    rows: f64,
    weight: f64,
    /// How many rows of equal weight would know as much.
    effective: f64,
}

impl Powers {
    fn add(&mut self, weight: f64, value: f64) {
        self.first.add(weight * value);
        let (square, fourth) = (weight * weight, weight.powi(4));
        let mut power = 1.0;
        for (index, of_fourths) in self.of_fourths.iter_mut().enumerate() {
            if let Some(of_squares) = self.of_squares.get_mut(index) {
                of_squares.add(square * power);
            }
            of_fourths.add(fourth * power);
            power *= value;
        }
        (self.least, self.most) = (self.least.min(value), self.most.max(value));
    }

    fn sums(&mut self) -> impl Iterator<Item = &mut CarefulSum> {
        std::iter::once(&mut self.first).chain(&mut self.of_squares).chain(&mut self.of_fourths)
    }

    fn estimate(&self, totals: &Totals, is_share: bool) -> Estimate {
        // Rounding must not bring a mean out of the range of what it is the mean of; without rows there is no range.
        let value = self.first.value() / totals.weight;
        let value = if self.least <= self.most { value.clamp(self.least, self.most) } else { value };
        let square = |sum: usize| self.of_squares[sum].value();
        let fourth = |sum: usize| self.of_fourths[sum].value();
        let factor = totals.effective / (totals.effective - 1.0) / totals.weight / totals.weight;
        let squares = (square(2) - 2.0 * value * square(1) + value * value * square(0)).max(0.0);
        let fourths = fourth(4) - 4.0 * value * fourth(3) + 6.0 * value.powi(2) * fourth(2)
            - 4.0 * value.powi(3) * fourth(1)
            + value.powi(4) * fourth(0);
        let is_known = totals.effective > 1.0 + 1e-12;
        // Rounding would leave something of rows that are all alike.
        let variance = match (is_known, self.least == self.most) {
            (false, _) => f64::NAN,
            (true, true) => 0.0,
            (true, false) => factor * squares,
        };
        let degrees_of_freedom = if is_share {
            totals.effective - 1.0
        } else {
            degrees_of_freedom_whole(variance, factor * factor * fourths, totals.rows, totals.effective)
        };
        let worst = is_share.then(|| WorstCase {
            design_effect: totals.effective.recip(),
            failures: 0.25,
            degrees_of_freedom: f64::INFINITY,
        });
        let plug_in = variance * (totals.effective - 1.0) / totals.effective;
        Estimate { value, variance, degrees_of_freedom, plug_in, cautious: None, worst }
    }
}

impl RowSums {
    /// Of no rows.
    #[must_use]
    pub fn new(settings: RowSumSettings) -> Self {
        Self { settings, means: Default::default(), cells: BTreeMap::new() }
    }

    /// What is kept.
    #[must_use]
    pub const fn settings(&self) -> &RowSumSettings {
        &self.settings
    }

    /// Adds rows, whose codes are columns. Two columns (−s, s) are the score s of the second
    /// of two classes, its probability.
    ///
    /// # Errors
    /// [`Error::NotProbabilities`], [`Error::NegativeProbability`], [`Error::ZeroProbability`],
    /// [`Error::NotAProbability`], [`Error::NonFiniteScore`]: some rows may have been added.
    pub fn update<T: Score>(
        &mut self,
        scores: ScoreMatrix<'_, T>,
        codes: ClassCodes<'_>,
        weights: Option<&[f64]>,
    ) -> Result<()> {
        let classes = self.settings.classes;
        let is_mirrored = classes == 2
            && (0..scores.rows()).all(|row| {
                let pair: [f64; 2] = [scores.get(row, 0).into(), scores.get(row, 1).into()];
                pair[0] == -pair[1]
            });
        let tolerance = if T::IS_SINGLE { 1e-3 } else { 1e-6 };
        let mut probabilities = vec![0.0; classes];
        for row in 0..scores.rows() {
            let weight = weights.map_or(1.0, |weights| weights[row]);
            if weight == 0.0 {
                continue;
            }
            probabilities.iter_mut().enumerate().for_each(|(column, p)| *p = scores.get(row, column).into());
            if let Some(column) = probabilities.iter().position(|p| !p.is_finite()) {
                return Err(Error::NonFiniteScore { row, column, value: probabilities[column] });
            }
            if is_mirrored {
                let value = probabilities[1];
                if !(0.0..=1.0).contains(&value) {
                    return Err(Error::NotAProbability { row, value });
                }
                probabilities[0] = 1.0 - value;
            }
            self.add(row, codes.get(row), &probabilities, weight, tolerance)?;
        }
        Ok(())
    }

    fn add(&mut self, row: usize, class: usize, scores: &[f64], weight: f64, tolerance: f64) -> Result<()> {
        let RowSumSettings { classes, means, clip, k } = self.settings;
        if means[0] || means[1] {
            let sum: f64 = scores.iter().sum();
            if (sum - 1.0).abs() > tolerance {
                return Err(Error::NotProbabilities { row, sum, tolerance });
            }
            if let Some(column) = scores.iter().position(|&p| p < 0.0) {
                return Err(Error::NegativeProbability { row, column, value: scores[column] });
            }
        }
        for (index, powers) in self.means.iter_mut().enumerate().filter(|&(index, _)| means[index]) {
            let value = match MEANS[index] {
                Metric::TopKAccuracy => top_k_credit(scores, class, k),
                Metric::Brier => brier(scores, class),
                _ => log_loss(scores[class].max(clip.unwrap_or(0.0))),
            };
            if value.is_infinite() {
                return Err(Error::ZeroProbability { row, column: class });
            }
            powers.add(weight, value);
        }
        let predicted = (1..classes).fold(0, |best, column| if scores[column] > scores[best] { column } else { best });
        let cell = self.cells.entry((class * classes + predicted) as u32).or_default();
        cell.rows += 1;
        for (sum, power) in cell.sums.iter_mut().zip([1, 2, 4]) {
            sum.add(weight.powi(power));
        }
        Ok(())
    }

    /// Adds the rows of another, made with the same settings.
    pub fn merge(&mut self, other: &Self) {
        for (own, other) in self.means.iter_mut().zip(other.means) {
            let mut other = other;
            own.sums().zip(other.sums()).for_each(|(own, other)| own.merge(*other));
            (own.least, own.most) = (own.least.min(other.least), own.most.max(other.most));
        }
        for (&key, cell) in &other.cells {
            let own = self.cells.entry(key).or_default();
            own.rows += cell.rows;
            own.sums.iter_mut().zip(cell.sums).for_each(|(own, other)| own.merge(other));
        }
    }

    /// The confusion matrix, row by row: rows of true classes, columns of predicted ones, sums of weights.
    #[must_use]
    pub fn confusion(&self) -> Vec<f64> {
        let classes = self.settings.classes;
        let mut found = vec![0.0; classes * classes];
        self.cells.iter().for_each(|(&key, cell)| found[key as usize] = cell.sums[0].value());
        found
    }

    /// The metrics that are kept, with random class sizes; accuracy always is.
    #[must_use]
    pub fn estimates(&self) -> Vec<(Metric, Estimate)> {
        let sum = |power: usize| self.cells.values().map(|cell| cell.sums[power].value()).sum::<f64>();
        let weight = sum(0);
        let rows = self.cells.values().map(|cell| cell.rows as f64).sum();
        let totals = Totals { rows, weight, effective: weight * weight / sum(1) };
        let kept = (0..MEANS.len()).filter(|&index| self.settings.means[index]);
        let mean = |index: usize| (MEANS[index], self.means[index].estimate(&totals, MEANS[index].is_share()));
        kept.map(mean).chain(std::iter::once((Metric::Accuracy, self.accuracy(&totals)))).collect()
    }

    /// ψ = (w/W)(r_k (x − x̄_k) + x̄_k − x̄) of each row, r_k² = (1 − 1/n_k)/(1 − 1/e_k): 1 for rows of equal weight.
    fn accuracy(&self, totals: &Totals) -> Estimate {
        let classes = self.settings.classes;
        // By class: rows and sums of the wrong and of the right ones.
        let mut of_classes = vec![([[0.0; 3]; 2], 0.0); classes];
        for (&key, cell) in &self.cells {
            let (class, predicted) = (key as usize / classes, key as usize % classes);
            let (sums, rows) = &mut of_classes[class];
            *rows += cell.rows as f64;
            let side = &mut sums[usize::from(class == predicted)];
            side.iter_mut().zip(cell.sums).for_each(|(sum, other)| *sum += other.value());
        }
        let right: f64 = of_classes.iter().map(|(sums, _)| sums[1][0]).sum();
        let value = (right / totals.weight).min(1.0);
        let (mut terms, mut variance) = (Vec::new(), 0.0);
        for ([wrong, right], rows) in of_classes.into_iter().filter(|&(_, rows)| rows > 0.0) {
            let weight = wrong[0] + right[0];
            let (mean, effective) = (right[0] / weight, weight * weight / (wrong[1] + right[1]));
            let spread = if effective > 1.0 + 1e-12 {
                ((1.0 - rows.recip()) / (1.0 - effective.recip())).sqrt()
            } else {
                f64::NAN
            };
            let error = |x: f64| (spread * (x - mean) + mean - value) / totals.weight;
            let [of_wrong, of_right] = [error(0.0), error(1.0)];
            let of_class = wrong[1] * of_wrong.powi(2) + right[1] * of_right.powi(2);
            let fourth = wrong[2] * of_wrong.powi(4) + right[2] * of_right.powi(4);
            variance += of_class;
            terms.push(ClassTerm { variance: of_class, fourth, units: rows, effective });
        }
        let degrees_of_freedom = degrees_of_freedom(variance, &terms);
        Estimate { value, variance, degrees_of_freedom, plug_in: variance, cautious: None, worst: None }
    }

    /// All sums, without the settings.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = Vec::new();
        for mut powers in self.means {
            let ends = [powers.least, powers.most];
            let numbers = powers.sums().flat_map(|sum| sum.parts()).chain(ends);
            numbers.for_each(|value| bytes.extend(value.to_le_bytes()));
        }
        for (&key, cell) in &self.cells {
            bytes.extend(key.to_le_bytes());
            bytes.extend(cell.rows.to_le_bytes());
            cell.sums.iter().flat_map(CarefulSum::parts).for_each(|part| bytes.extend(part.to_le_bytes()));
        }
        bytes
    }

    /// The sums that the bytes were made of.
    ///
    /// # Errors
    /// [`Error::DamagedSketch`].
    pub fn from_bytes(settings: RowSumSettings, bytes: &[u8]) -> Result<Self> {
        let mut found = Self::new(settings);
        let mut rest = bytes;
        for powers in &mut found.means {
            for sum in powers.sums() {
                *sum = CarefulSum::of_parts([number(&mut rest)?, number(&mut rest)?]);
            }
            (powers.least, powers.most) = (number(&mut rest)?, number(&mut rest)?);
        }
        while !rest.is_empty() {
            let key = u32::from_le_bytes(take(&mut rest)?);
            let rows = u64::from_le_bytes(take(&mut rest)?);
            let mut sums = [CarefulSum::default(); 3];
            for sum in &mut sums {
                *sum = CarefulSum::of_parts([number(&mut rest)?, number(&mut rest)?]);
            }
            if key as usize >= settings.classes * settings.classes {
                return Err(Error::DamagedSketch { what: "an entry of the confusion matrix is of no class" });
            }
            found.cells.insert(key, Cell { rows, sums });
        }
        Ok(found)
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N]> {
    let (first, others) =
        rest.split_first_chunk::<N>().ok_or(Error::DamagedSketch { what: "sums of rows are cut short" })?;
    *rest = others;
    Ok(*first)
}

fn number(rest: &mut &[u8]) -> Result<f64> {
    Ok(f64::from_le_bytes(take(rest)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inference::{Design, moments};
    use crate::metrics::{MetricOptions, evaluate};
    use crate::parallel::{Cancel, Workers};
    use crate::sample::{Sampling, ScoredSample};

    const CODES: [u8; 7] = [0, 0, 1, 1, 2, 2, 2];
    const SCORES: [f64; 21] =
        [0.6, 0.3, 0.1, 0.25, 0.5, 0.25, 0.5, 0.4, 0.1, 0.2, 0.7, 0.1, 0.1, 0.2, 0.7, 0.4, 0.35, 0.25, 0.1, 0.1, 0.8];
    const SETTINGS: RowSumSettings = RowSumSettings { classes: 3, means: [true; 3], clip: None, k: 2 };

    fn of_rows(rows: std::ops::Range<usize>, weights: Option<&[f64]>) -> RowSums {
        let mut sums = RowSums::new(SETTINGS);
        let scores = ScoreMatrix::from_rows(&SCORES[3 * rows.start..3 * rows.end], 3).expect("a matrix");
        let weights = weights.map(|weights| &weights[rows.clone()]);
        sums.update(scores, ClassCodes::Bytes(&CODES[rows]), weights).expect("probabilities");
        sums
    }

    #[test]
    fn parts_in_any_order_give_what_all_rows_together_give() -> Result<()> {
        let cancel = Cancel::new();
        let workers = Workers::with_threads(1, &cancel);
        for weights in [None, Some(&[1.0, 0.5, 2.0, 1.0, 0.0, 3.0, 1.5][..])] {
            let mut merged = of_rows(4..7, weights);
            merged.merge(&RowSums::from_bytes(SETTINGS, &of_rows(0..4, weights).to_bytes())?);
            let matrix = ScoreMatrix::from_rows(&SCORES, 3)?;
            let sample = ScoredSample::new(matrix, ClassCodes::Bytes(&CODES), weights, &workers)?;
            let design = Design::new(&sample, Sampling::Iid, &workers)?;
            for (metric, found) in merged.estimates() {
                let whole = evaluate(&sample, &design, &[metric], MetricOptions::DEFAULT, &workers)?;
                let expected = moments(&design, &whole.statistics, &workers)?.estimates[0];
                let pairs = [
                    (found.value, expected.value),
                    (found.variance, expected.variance),
                    (found.degrees_of_freedom, expected.degrees_of_freedom),
                ];
                for (found, expected) in pairs {
                    assert!((found - expected).abs() < 1e-11 * expected.abs(), "{metric:?}: {found} is not {expected}");
                }
            }
        }
        assert_eq!(of_rows(0..7, None).confusion(), [1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 2.0]);
        assert!(RowSums::from_bytes(SETTINGS, &of_rows(0..7, None).to_bytes()[..100]).is_err());
        Ok(())
    }
}
