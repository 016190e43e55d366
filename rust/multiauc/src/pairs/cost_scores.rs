//! What a partition matrix ranks by: the difference in expected cost between predicting one class and another.

use crate::error::{Error, Result};
use crate::float::Score;
use crate::parallel::Workers;
use crate::sample::{ScoreMatrix, ScoredSample, WrongSum, first_wrong_sum};

/// How the rows of a pair of classes are ranked.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PairScore {
    /// By p_c − p_d: the argmax partition, or a positive multiple of it.
    Difference,
    /// Not at all: the matrix does not say on which side each class belongs.
    Tie,
    /// By Σ coefficient · p[column] over the columns with a coefficient, in column order.
    Costs(Vec<(usize, f64)>),
}

/// A partition matrix that fits the scores of a sample: `costs[i · K + j]` is the cost of predicting class i where the
/// truth is j.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Partition<'a> {
    costs: &'a [f64],
    classes: usize,
    /// Whether one score s stands for the probabilities (1 − s, s): the score of the pair is then linear in s, with
    /// slope ±|v·(e_c − e_d)|.
    is_of_single_score: bool,
}

impl<'a> Partition<'a> {
    /// # Errors
    /// [`Error::RowSumNotOne`], [`Error::Cancelled`].
    pub(crate) fn new<T: Score>(costs: &'a [f64], sample: &ScoredSample<'_, T>, workers: &Workers<'_>) -> Result<Self> {
        let partition = Self { costs, classes: sample.classes(), is_of_single_score: sample.has_single_score() };
        partition.check_scores(sample, workers)?;
        Ok(partition)
    }

    fn row(&self, class: usize) -> &'a [f64] {
        &self.costs[class * self.classes..][..self.classes]
    }

    /// σ·v with v = A_c − A_d and σ = sign(v·(e_c − e_d)), so that larger scores favour class c.
    pub(crate) fn score(&self, c: usize, d: usize) -> PairScore {
        let (of_c, of_d) = (self.row(c), self.row(d));
        let normal = |column: usize| of_c[column] - of_d[column];
        let orientation = normal(c) - normal(d);
        if orientation == 0.0 {
            return PairScore::Tie;
        }
        if self.is_of_single_score {
            return PairScore::Difference;
        }
        let sign = orientation.signum();
        let coefficients: Vec<(usize, f64)> = (0..self.classes)
            .map(|column| (column, sign * normal(column)))
            .filter(|&(_, coefficient)| coefficient != 0.0)
            .collect();
        match coefficients[..] {
            [(_, x), (_, y)] if normal(c) == -normal(d) && x == -y => PairScore::Difference,
            _ => PairScore::Costs(coefficients),
        }
    }

    /// A matrix whose rows have unequal sums gives scores that change when a constant is added to a row of logits, so it
    /// needs rows on the simplex.
    fn check_scores<T: Score>(&self, sample: &ScoredSample<'_, T>, workers: &Workers<'_>) -> Result<()> {
        let sums = (0..self.classes).map(|class| self.row(class).iter().sum::<f64>());
        let (low, high) =
            sums.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), sum| (low.min(sum), high.max(sum)));
        let scale = self.costs.iter().fold(0.0, |largest: f64, cost| largest.max(cost.abs())) * self.classes as f64;
        if self.is_of_single_score || high - low <= 1e-12 * scale {
            return Ok(());
        }
        match first_wrong_sum(sample, workers)? {
            Some(WrongSum { row, sum, tolerance }) => Err(Error::RowSumNotOne { row, sum, tolerance }),
            None => Ok(()),
        }
    }
}

/// Σ coefficient · p[column] of one row.
pub(crate) fn cost_score<T: Score>(scores: &ScoreMatrix<'_, T>, row: usize, coefficients: &[(usize, f64)]) -> f64 {
    coefficients
        .iter()
        .map(|&(column, coefficient)| -> f64 {
            let score: f64 = scores.get(row, column).into();
            coefficient * score
        })
        .sum()
}
