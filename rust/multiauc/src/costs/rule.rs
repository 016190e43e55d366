//! Decision rules: which class to predict, given probabilities and what errors cost.

use crate::error::Result;
use crate::float::Score;
use crate::parallel::Workers;
use crate::sample::ScoreMatrix;

/// Relative to the largest cost: expected costs that are equal but for rounding.
const TIED: f64 = 1e-13;
/// Probabilities below this count as this much where their logarithm is taken.
const SMALLEST: f64 = 1e-15;

/// What a rule does with probabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleKind {
    /// The smallest expected cost by the probabilities as they are.
    Bayes,
    /// The largest probability.
    Argmax,
    /// The smallest expected cost by calibrated probabilities.
    Calibrated,
    /// The smallest expected cost by probabilities with offsets that cost least.
    Offsets,
}

impl RuleKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Bayes, Self::Argmax, Self::Calibrated, Self::Offsets];

    /// The name that users know it by.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bayes => "bayes",
            Self::Argmax => "argmax",
            Self::Calibrated => "calibrated",
            Self::Offsets => "offsets",
        }
    }
}

/// A rule, and what it multiplies and adds to the logarithms of the probabilities first.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// What it does.
    pub kind: RuleKind,
    /// The factor of the logarithms.
    pub scale: f64,
    /// What is added to the logarithm of each class.
    pub offsets: Vec<f64>,
}

impl Rule {
    /// A rule that nothing is fitted for.
    pub(super) fn plain(kind: RuleKind, classes: usize) -> Self {
        Self { kind, scale: 1.0, offsets: vec![0.0; classes] }
    }

    /// The class predicted for a row; of equally good ones the first. `scratch` holds the row while it is worked on.
    pub(super) fn decide(&self, probabilities: &[f64], regrets: &Regrets, scratch: &mut Scratch) -> usize {
        if self.kind == RuleKind::Argmax {
            return first_of_largest(probabilities);
        }
        if self.kind == RuleKind::Bayes {
            scratch.row.copy_from_slice(probabilities);
        } else {
            for (into, &p) in scratch.row.iter_mut().zip(probabilities) {
                *into = take_log(p);
            }
            correct(&mut scratch.row, self.scale, &self.offsets);
        }
        regrets.expect(&scratch.row, &mut scratch.expected);
        let least = scratch.expected.iter().copied().fold(f64::INFINITY, f64::min);
        // What differs by rounding alone is a tie, so that errors that cost the same lead to the predictions of argmax.
        let limit = least + TIED * regrets.largest;
        scratch.expected.iter().position(|&cost| cost <= limit).unwrap_or(0)
    }
}

fn first_of_largest(values: &[f64]) -> usize {
    (1..values.len()).fold(0, |best, k| if values[k] > values[best] { k } else { best })
}

/// Costs above the least possible for the true class, which lead to the same predictions.
pub(super) struct Regrets {
    /// By true class, then by predicted class.
    by_truth: Vec<f64>,
    largest: f64,
    classes: usize,
}

impl Regrets {
    /// `costs` by predicted class, then by true class.
    pub(super) fn new(costs: &[f64], classes: usize) -> Self {
        let mut by_truth = vec![0.0; costs.len()];
        for truth in 0..classes {
            let of_truth = |prediction: usize| costs[prediction * classes + truth];
            let least = (0..classes).map(of_truth).fold(f64::INFINITY, f64::min);
            for prediction in 0..classes {
                by_truth[truth * classes + prediction] = of_truth(prediction) - least;
            }
        }
        let largest = by_truth.iter().copied().fold(0.0, f64::max);
        Self { by_truth, largest, classes }
    }

    /// The regrets of all predictions for a true class.
    pub(super) fn of_truth(&self, truth: usize) -> &[f64] {
        &self.by_truth[truth * self.classes..][..self.classes]
    }

    /// The expected regret of each prediction.
    pub(super) fn expect(&self, probabilities: &[f64], expected: &mut [f64]) {
        expected.fill(0.0);
        for (truth, &p) in probabilities.iter().enumerate() {
            for (into, regret) in expected.iter_mut().zip(self.of_truth(truth)) {
                *into += p * regret;
            }
        }
    }
}

/// Room for one row of probabilities and of expected costs.
pub(super) struct Scratch {
    pub(super) row: Vec<f64>,
    pub(super) expected: Vec<f64>,
}

impl Scratch {
    pub(super) fn new(classes: usize) -> Self {
        Self { row: vec![0.0; classes], expected: vec![0.0; classes] }
    }
}

/// A logarithm that is finite for zero.
pub(super) fn take_log(probability: f64) -> f64 {
    probability.max(SMALLEST).ln()
}

/// Turns logarithms into the probabilities in proportion to exp(scale · logarithm + offset).
pub(super) fn correct(logs: &mut [f64], scale: f64, offsets: &[f64]) {
    let mut largest = f64::NEG_INFINITY;
    for (log, offset) in logs.iter_mut().zip(offsets) {
        *log = scale * *log + offset;
        largest = largest.max(*log);
    }
    let mut sum = 0.0;
    for power in logs.iter_mut() {
        *power = (*power - largest).exp();
        sum += *power;
    }
    for power in logs.iter_mut() {
        *power /= sum;
    }
}

/// The class that a rule predicts for each row of probabilities, a column of which belongs to each class; `costs` by
/// predicted class, then by true class.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub fn decide<T: Score>(
    rule: &Rule,
    probabilities: &ScoreMatrix<'_, T>,
    columns: &[usize],
    costs: &[f64],
    workers: &Workers<'_>,
) -> Result<Vec<usize>> {
    let classes = rule.offsets.len();
    let regrets = Regrets::new(costs, classes);
    let spans = workers.row_spans(probabilities.rows(), 4);
    let parts = workers.map(spans.len(), |span| {
        let (mut scratch, mut of_row) = (Scratch::new(classes), vec![0.0; classes]);
        let predict = |row: usize| {
            of_row.iter_mut().zip(columns).for_each(|(entry, &column)| *entry = probabilities.probability(row, column));
            rule.decide(&of_row, &regrets, &mut scratch)
        };
        Ok(spans[span].clone().map(predict).collect::<Vec<_>>())
    })?;
    Ok(parts.concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::Cancel;

    #[test]
    fn predictions_are_those_of_the_definitions() {
        let cancel = Cancel::new();
        let workers = Workers::with_threads(1, &cancel);
        let rows = [0.5, 0.3, 0.2, 0.2, 0.2, 0.6, 0.4, 0.4, 0.2];
        let costs = [0.0, 1.0, 10.0, 1.0, 0.0, 10.0, 1.0, 1.0, 0.0];
        let found = |kind, scale, offsets: [f64; 3]| {
            let rule = Rule { kind, scale, offsets: offsets.to_vec() };
            let rows = ScoreMatrix::from_rows(&rows, 3).expect("a matrix");
            decide(&rule, &rows, &[0, 1, 2], &costs, &workers).expect("predictions")
        };
        assert_eq!(found(RuleKind::Argmax, 1.0, [0.0; 3]), [0, 2, 0]);
        // Expected costs (2.3, 2.5, 0.8), (6.2, 6.2, 0.4), (2.4, 2.4, 0.8).
        assert_eq!(found(RuleKind::Bayes, 1.0, [0.0; 3]), [2, 2, 2]);
        // Offsets that make the last class impossible leave the larger of the first two.
        assert_eq!(found(RuleKind::Offsets, 1.0, [0.0, 0.0, -50.0]), [0, 0, 0]);
        assert_eq!(found(RuleKind::Calibrated, 0.0, [0.0, 1.0, -50.0]), [1, 1, 1]);
    }

    #[test]
    fn errors_that_cost_the_same_lead_to_argmax() {
        let cancel = Cancel::new();
        let workers = Workers::with_threads(1, &cancel);
        let rows: Vec<f64> =
            (1..=30_u32).flat_map(|k| [0.1, f64::from(k % 10) / 10.0, 0.9 - f64::from(k % 10) / 10.0]).collect();
        let costs: Vec<f64> = (0..9).map(|k| if k % 4 == 0 { 0.1 } else { 0.4 }).collect();
        let rows = ScoreMatrix::from_rows(&rows, 3).expect("a matrix");
        let [bayes, argmax] = [RuleKind::Bayes, RuleKind::Argmax]
            .map(|kind| decide(&Rule::plain(kind, 3), &rows, &[2, 0, 1], &costs, &workers).expect("predictions"));
        assert_eq!(bayes, argmax);
    }

    #[test]
    fn a_single_probability_is_that_of_the_second_class() {
        let cancel = Cancel::new();
        let rows = ScoreMatrix::from_rows(&[0.2_f32, 0.7], 1).expect("a matrix");
        let found = |columns: [usize; 2]| {
            let (rule, workers) = (Rule::plain(RuleKind::Argmax, 2), Workers::with_threads(1, &cancel));
            decide(&rule, &rows, &columns, &[0.0, 1.0, 1.0, 0.0], &workers).expect("predictions")
        };
        assert_eq!((found([0, 1]), found([1, 0])), (vec![0, 1], vec![1, 0]));
    }
}
