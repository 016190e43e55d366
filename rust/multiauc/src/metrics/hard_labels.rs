//! Numbers about decisions: how often the class decided for is the right one, with and without what chance agrees on.
//!
//! Row i of class t(i) is decided to be of class d(i). With n rows (or weights), t_k of them in class k, p_k decided to be
//! of class k and c_k both, all of these numbers are functions of t, p and c. Their derivative in the share of the rows of
//! class i that are decided for class j, less its mean, is the influence of such a row:
//!
//! IF(i, j) = h_i [i = j] + u_i + v_j.
//!
//! The statistic's component is T = π_k (h_k [k = j] + v_j), and its slope in the prevalence of class k is the mean of
//! IF over the rows of class k.

use crate::error::{Error, Result};
use crate::float::Score;
use crate::inference::{Design, Statistic};
use crate::metric::Metric;
use crate::pairs::{Partition, weighted_mean};
use crate::parallel::Workers;
use crate::sample::{ClassRows, ScoredSample};

/// The value of one of these metrics: `Matthews`, `Kappa`, `Accuracy`, `BalancedAccuracy` or `MacroF1`.
///
/// * R_K (Gorodkin 2004): (c n − Σ p_k t_k) / √((n² − Σ p_k²)(n² − Σ t_k²)), c = Σ c_k; 0 where the denominator is 0.
/// * Cohen's κ: (c n − Σ p_k t_k) / (n² − Σ p_k t_k).
/// * Accuracy: c / n. Balanced accuracy: the mean of c_k / t_k over the classes that have rows. Macro F1: that of
///   2 c_k / (t_k + p_k).
///
/// A row is decided to be of the class with the highest score; with a partition matrix A, of the class i with the least
/// expected cost Σ_j A_ij p_j. Among equals the lowest column is taken. One score s of two classes is the probability of
/// the second.
///
/// # Errors
/// [`Error::RowSumNotOne`], [`Error::NotAProbability`], [`Error::Cancelled`].
///
/// # Panics
/// For another metric.
pub(super) fn hard_label_value<T: Score>(
    sample: &ScoredSample<'_, T>,
    metric: Metric,
    partition: Option<&[f64]>,
    workers: &Workers<'_>,
) -> Result<f64> {
    let rows = ClassRows::new(sample, workers)?;
    let decisions = decisions(sample, &rows, partition, workers)?;
    Tallies::new(&rows, &decisions).value(metric)
}

/// The values of one of these metrics without the rows of each of some parts, which leave rows of every class. Each
/// position is in part `part_of[position]`, or in none if there is no such part.
pub(super) fn hard_label_values_without<T: Score>(
    sample: &ScoredSample<'_, T>,
    rows: &ClassRows,
    (part_of, parts): (&[u32], usize),
    metric: Metric,
    partition: Option<&[f64]>,
    workers: &Workers<'_>,
) -> Result<Vec<f64>> {
    let decisions = decisions(sample, rows, partition, workers)?;
    let whole = Tallies::new(rows, &decisions);
    let mut without: Vec<Option<Tallies>> = (0..parts).map(|_| None).collect();
    for &class in rows.present() {
        for position in rows.range(class) {
            if let Some(tallies) = without.get_mut(part_of[position] as usize) {
                let mass = rows.mass(position as u32);
                tallies.get_or_insert_with(|| whole.clone()).subtract(class, decisions[position] as usize, mass);
            }
        }
    }
    without.iter().map(|tallies| tallies.as_ref().unwrap_or(&whole).value(metric)).collect()
}

/// Some of these metrics with the components of the rows.
pub(super) fn hard_label_statistics<T: Score>(
    sample: &ScoredSample<'_, T>,
    design: &Design,
    metrics: &[Metric],
    partition: Option<&[f64]>,
    workers: &Workers<'_>,
) -> Result<Vec<Statistic>> {
    let decisions = decisions(sample, &design.rows, partition, workers)?;
    let tallies = Tallies::new(&design.rows, &decisions);
    metrics.iter().map(|&metric| tallies.statistic(metric, design, &decisions)).collect()
}

/// Whether a metric is one of these.
pub(super) const fn is_of_hard_labels(metric: Metric) -> bool {
    matches!(metric, Metric::Matthews | Metric::Kappa | Metric::Accuracy | Metric::BalancedAccuracy | Metric::MacroF1)
}

/// The class that each position is decided to be of.
fn decisions<T: Score>(
    sample: &ScoredSample<'_, T>,
    rows: &ClassRows,
    partition: Option<&[f64]>,
    workers: &Workers<'_>,
) -> Result<Vec<u16>> {
    if let Some(costs) = partition {
        Partition::new(costs, sample, workers)?;
    }
    let rule = Rule::of(partition, sample.classes());
    let spans = workers.row_spans(rows.len(), 8);
    let parts = workers.map_with(
        spans.len(),
        || vec![0.0; sample.classes()],
        |scores, span| {
            let mut found = Vec::with_capacity(spans[span].len());
            for &row in &rows.rows()[spans[span].clone()] {
                read_row(sample, row as usize, scores)?;
                found.push(rule.decision(scores) as u16);
            }
            Ok(found)
        },
    )?;
    Ok(parts.concat())
}

/// The scores of a row; of a single score s, the probabilities (1 − s, s).
pub(super) fn read_row<T: Score>(sample: &ScoredSample<'_, T>, row: usize, scores: &mut [f64]) -> Result<()> {
    if sample.has_single_score() {
        let value: f64 = sample.scores.get(row, 1).into();
        if !(0.0..=1.0).contains(&value) {
            return Err(Error::NotAProbability { row, value });
        }
        scores.copy_from_slice(&[1.0 - value, value]);
    } else {
        scores.iter_mut().enumerate().for_each(|(column, score)| *score = sample.scores.get(row, column).into());
    }
    Ok(())
}

/// How a row of scores is decided.
enum Rule<'a> {
    HighestScore,
    LeastCost(&'a [f64]),
}

impl<'a> Rule<'a> {
    /// A matrix whose errors all cost the same decides by the highest score, without the rounding of products.
    fn of(partition: Option<&'a [f64]>, classes: usize) -> Self {
        let Some(costs) = partition else { return Self::HighestScore };
        let (right, wrong) = (costs[0], costs[1]);
        let expected = |index: usize| if index / classes == index % classes { right } else { wrong };
        let is_plain = wrong > right && costs.iter().enumerate().all(|(index, &cost)| cost == expected(index));
        if is_plain { Self::HighestScore } else { Self::LeastCost(costs) }
    }

    /// The first of the best classes.
    fn decision(&self, scores: &[f64]) -> usize {
        let mut best = 0;
        for class in 1..scores.len() {
            let is_better = match self {
                Self::HighestScore => scores[class] > scores[best],
                Self::LeastCost(costs) => {
                    let of = |class: usize| &costs[class * scores.len()..][..scores.len()];
                    // Costs that both decisions share must not be rounded twice.
                    let difference = of(class).iter().zip(of(best)).zip(scores);
                    difference.map(|((cost, least), score)| (cost - least) * score).sum::<f64>() < 0.0
                }
            };
            if is_better {
                best = class;
            }
        }
        best
    }
}

/// Rows, or their weight, by class.
#[derive(Clone)]
struct Tallies {
    /// t_k, p_k and c_k.
    truth: Vec<f64>,
    decided: Vec<f64>,
    right: Vec<f64>,
    /// Rows that are decided to be of each class, and those of them that are right: sums of weights round, so that only
    /// these say which are none.
    rows_decided: Vec<u32>,
    rows_right: Vec<u32>,
    /// The classes that have rows.
    present: Vec<usize>,
    /// Whether they are counts of rows, whose products are exact.
    are_counts: bool,
}

impl Tallies {
    fn new(rows: &ClassRows, decisions: &[u16]) -> Self {
        let mut tallies = Self {
            truth: rows.sizes().weights.clone(),
            decided: vec![0.0; rows.classes()],
            right: vec![0.0; rows.classes()],
            rows_decided: vec![0; rows.classes()],
            rows_right: vec![0; rows.classes()],
            present: rows.present().to_vec(),
            are_counts: rows.weights().is_none(),
        };
        for &class in rows.present() {
            for position in rows.range(class) {
                let (decision, mass) = (decisions[position] as usize, rows.mass(position as u32));
                tallies.decided[decision] += mass;
                tallies.rows_decided[decision] += 1;
                if decision == class {
                    tallies.right[class] += mass;
                    tallies.rows_right[class] += 1;
                }
            }
        }
        tallies
    }

    /// Takes away rows of a class with the same decision.
    fn subtract(&mut self, class: usize, decision: usize, mass: f64) {
        self.truth[class] -= mass;
        let less = |sum: &mut f64, rows: &mut u32| {
            *rows -= 1;
            *sum = if *rows == 0 { 0.0 } else { (*sum - mass).max(0.0) };
        };
        less(&mut self.decided[decision], &mut self.rows_decided[decision]);
        if decision == class {
            less(&mut self.right[class], &mut self.rows_right[class]);
        }
    }

    /// Whether all rows are decided to be of the same class.
    fn is_constant(&self) -> bool {
        self.rows_decided.iter().filter(|&&rows| rows > 0).count() == 1
    }

    fn total(&self) -> f64 {
        self.truth.iter().sum()
    }

    /// x n − Σ a_k b_k in whole numbers, for counts.
    fn counted_excess(&self, x: f64, a: &[f64], b: &[f64]) -> f64 {
        let product = |x: f64, y: f64| x as i128 * y as i128;
        let sum: i128 = a.iter().zip(b).map(|(&a, &b)| product(a, b)).sum();
        (product(x, self.total()) - sum) as f64
    }

    /// What is right beyond what chance agrees on: c n − Σ p_k t_k.
    fn beyond_chance(&self) -> f64 {
        let right = self.right.iter().sum();
        if self.are_counts {
            self.counted_excess(right, &self.decided, &self.truth)
        } else if self.is_constant() {
            0.0
        } else if self.rows_right.iter().sum::<u32>() == self.rows_decided.iter().sum::<u32>() {
            self.across(&self.decided, &self.truth)
        } else {
            right * self.total() - self.decided.iter().zip(&self.truth).map(|(a, b)| a * b).sum::<f64>()
        }
    }

    /// n² − Σ a_k b_k, of weights as Σ a_j b_k over different classes: without differences it is 0 only where one class
    /// has all.
    fn across(&self, a: &[f64], b: &[f64]) -> f64 {
        if self.are_counts {
            return self.counted_excess(self.total(), a, b);
        }
        let mut behind = b.to_vec();
        for class in (1..b.len()).rev() {
            behind[class - 1] += behind[class];
        }
        let (mut before, mut sum) = (0.0, 0.0);
        for class in 0..b.len() {
            sum += a[class] * (before + behind.get(class + 1).unwrap_or(&0.0));
            before += b[class];
        }
        sum
    }

    fn f1(&self, class: usize) -> f64 {
        2.0 * self.right[class] / (self.truth[class] + self.decided[class])
    }

    fn value(&self, metric: Metric) -> Result<f64> {
        let mean = |of_class: &dyn Fn(usize) -> f64| {
            weighted_mean(self.present.iter().map(|&class| (1.0, of_class(class))).collect())
        };
        Ok(match metric {
            Metric::Matthews => {
                let spreads = self.across(&self.decided, &self.decided) * self.across(&self.truth, &self.truth);
                if spreads > 0.0 { (self.beyond_chance() / spreads.sqrt()).clamp(-1.0, 1.0) } else { 0.0 }
            }
            Metric::Kappa => {
                let most = self.across(&self.decided, &self.truth);
                (self.beyond_chance() / most).clamp(-1.0, 1.0)
            }
            Metric::Accuracy => (self.right.iter().sum::<f64>() / self.total()).min(1.0),
            Metric::BalancedAccuracy => mean(&|class| (self.right[class] / self.truth[class]).min(1.0))?,
            Metric::MacroF1 => mean(&|class| self.f1(class).min(1.0))?,
            _ => panic!("{} is not a number about decisions", metric.name()),
        })
    }

    fn statistic(&self, metric: Metric, design: &Design, decisions: &[u16]) -> Result<Statistic> {
        let value = self.value(metric)?;
        let influence = self.influence(metric, value);
        let rows = &design.rows;
        let mut components = vec![0.0; rows.len()];
        let mut slopes = vec![0.0; rows.classes()];
        // A row of which nothing is known is decided for any of the classes alike.
        let mut chances = vec![0.0; rows.classes()];
        let classes = self.present.len() as f64;
        let of_any = self.present.iter().map(|&class| influence.decision[class]).sum::<f64>() / classes;
        for &class in rows.present() {
            let (prevalence, count) = (rows.weight(class) / self.total(), rows.count(class) as f64);
            // Where class sizes are random no class is centred on its own mean, and what makes up for that is taken out.
            let is_centred = metric == Metric::BalancedAccuracy || !design.has_random_sizes();
            let factor = if is_centred { prevalence } else { prevalence * ((count - 1.0) / count).sqrt() };
            chances[class] = factor * (influence.right[class] / classes + of_any);
            let (mut sum, mut total) = (0.0, 0.0);
            for position in rows.range(class) {
                let decision = decisions[position] as usize;
                let varying =
                    influence.decision[decision] + if decision == class { influence.right[class] } else { 0.0 };
                components[position] = factor * varying;
                sum += rows.mass(position as u32) * varying;
                total += rows.mass(position as u32);
            }
            slopes[class] = if metric == Metric::BalancedAccuracy { 0.0 } else { sum / total + influence.truth[class] };
        }
        Ok(Statistic { id: metric, value, components: components.into(), slopes, chances: Some(chances), worst: None })
    }

    /// h, u and v of the metric, in shares of the rows.
    fn influence(&self, metric: Metric, value: f64) -> Influence {
        let total = self.total();
        let share = |masses: &[f64]| masses.iter().map(|mass| mass / total).collect::<Vec<f64>>();
        let (truth, decided) = (share(&self.truth), share(&self.decided));
        let right = self.right.iter().sum::<f64>() / total;
        let agreed: f64 = truth.iter().zip(&decided).map(|(r, s)| r * s).sum();
        let squares = |shares: &[f64]| shares.iter().map(|share| share * share).sum::<f64>();
        let (truth_squares, decided_squares) = (squares(&truth), squares(&decided));
        let of_present = |of: &dyn Fn(usize) -> f64| {
            let mut values = vec![0.0; truth.len()];
            self.present.iter().for_each(|&class| values[class] = of(class));
            values
        };
        let classes = self.present.len() as f64;
        match metric {
            Metric::Matthews => {
                // NaN where all rows are decided alike: the value is 0 by definition, and has no derivative.
                let spreads = [&self.truth, &self.decided].map(|of| self.across(of, of) / (total * total));
                let root = (spreads[0] * spreads[1]).sqrt();
                let scale = if root > 0.0 { 1.0 / root } else { f64::NAN };
                let of_truth = |class: usize| {
                    (2.0 * agreed - right - decided[class]) * scale
                        + value * ((truth[class] - truth_squares) / spreads[0] - decided_squares / spreads[1])
                };
                let of_decision = |class: usize| value * decided[class] / spreads[1] - truth[class] * scale;
                Influence {
                    right: vec![scale; truth.len()],
                    truth: (0..truth.len()).map(of_truth).collect(),
                    decision: (0..truth.len()).map(of_decision).collect(),
                }
            }
            Metric::Kappa => {
                let scale = 1.0 / (1.0 - agreed);
                let chance = (1.0 - right) * scale * scale;
                Influence {
                    right: vec![scale; truth.len()],
                    truth: decided.iter().map(|s| (2.0 * agreed - s) * chance - right * scale).collect(),
                    decision: truth.iter().map(|r| -r * chance).collect(),
                }
            }
            Metric::Accuracy => Influence {
                right: vec![1.0; truth.len()],
                truth: vec![-right; truth.len()],
                decision: vec![0.0; truth.len()],
            },
            Metric::BalancedAccuracy => Influence {
                right: of_present(&|class| 1.0 / (classes * truth[class])),
                truth: of_present(&|class| -self.right[class] / self.truth[class] / (classes * truth[class])),
                decision: vec![0.0; truth.len()],
            },
            _ => {
                let size = |class: usize| classes * (truth[class] + decided[class]);
                let of_size = of_present(&|class| -self.f1(class) / size(class));
                Influence { right: of_present(&|class| 2.0 / size(class)), truth: of_size.clone(), decision: of_size }
            }
        }
    }
}

/// IF(i, j) = h_i [i = j] + u_i + v_j.
struct Influence {
    /// h, u and v by class.
    right: Vec<f64>,
    truth: Vec<f64>,
    decision: Vec<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inference::moments;
    use crate::parallel::Cancel;
    use crate::sample::{ClassCodes, Sampling, ScoreMatrix};

    const METRICS: [Metric; 5] =
        [Metric::Matthews, Metric::Kappa, Metric::Accuracy, Metric::BalancedAccuracy, Metric::MacroF1];

    /// Values and iid standard errors of a confusion matrix (rows: true classes).
    fn of_confusion(counts: &[u32], classes: usize) -> Result<Vec<[f64; 2]>> {
        let (mut codes, mut scores) = (Vec::new(), Vec::new());
        for (cell, &count) in counts.iter().enumerate() {
            for _ in 0..count {
                codes.push((cell / classes) as u8);
                scores.extend((0..classes).map(|column| f64::from(u8::from(column == cell % classes))));
            }
        }
        let cancel = Cancel::new();
        let workers = Workers::with_threads(1, &cancel);
        let matrix = ScoreMatrix::from_rows(&scores, classes)?;
        let sample = ScoredSample::new(matrix, ClassCodes::Bytes(&codes), None, &workers)?;
        let design = Design::new(&sample, Sampling::Iid, &workers)?;
        let statistics = hard_label_statistics(&sample, &design, &METRICS, None, &workers)?;
        let found = moments(&design, &statistics, &workers)?;
        Ok(found.estimates.iter().map(|estimate| [estimate.value, estimate.variance.sqrt()]).collect())
    }

    #[test]
    fn worked_examples() -> Result<()> {
        let expected = [[0.749_196_901, 0.045_589], [0.748_995_984, 0.045_639]];
        for (found, expected) in of_confusion(&[50, 3, 2, 4, 40, 6, 1, 9, 35], 3)?.iter().zip(expected) {
            assert!((found[0] - expected[0]).abs() < 1e-9 && (found[1] - expected[1]).abs() < 1e-6, "{found:?}");
        }
        let expected = [[0.408_248_290, 0.127_475], [0.4, 0.126_996]];
        for (found, expected) in of_confusion(&[20, 5, 10, 15], 2)?.iter().zip(expected) {
            assert!((found[0] - expected[0]).abs() < 1e-9 && (found[1] - expected[1]).abs() < 1e-6, "{found:?}");
        }
        Ok(())
    }

    #[test]
    fn perfect_decisions_do_not_vary() -> Result<()> {
        for found in of_confusion(&[7, 0, 0, 0, 3, 0, 0, 0, 11], 3)? {
            assert_eq!(found, [1.0, 0.0]);
        }
        Ok(())
    }

    #[test]
    fn the_lowest_of_equal_columns_is_taken() {
        let costs = [0.0, 1.0, 4.0, 1.0, 0.0, 1.0, 4.0, 1.0, 0.0];
        let plain = [0.0, 2.0, 2.0, 2.0, 0.0, 2.0, 2.0, 2.0, 0.0];
        let decided = |costs: Option<&[f64]>, scores: [f64; 3]| Rule::of(costs, 3).decision(&scores);
        assert_eq!(decided(None, [0.25, 0.375, 0.375]), 1);
        assert_eq!(decided(Some(&plain), [0.4, 0.2, 0.4]), 0);
        assert!(matches!(Rule::of(Some(&plain), 3), Rule::HighestScore));
        // Costs 1.75, .75 and 1.75: the class between is never far off.
        assert_eq!(decided(Some(&costs), [0.375, 0.25, 0.375]), 1);
    }
}
