//! The orders behind the metrics: what is sorted once where a sample is counted many times.

use super::cost_scores::{PairScore, Partition, cost_score};
use crate::error::Result;
use crate::float::Score;
use crate::keys::DifferenceRule;
use crate::keys::KeyScratch;
use crate::parallel::Workers;
use crate::ranking::{Nearness, Order, OrderedRows};
use crate::sample::ClassRows;
use crate::sample::ScoredSample;

/// Sorts the rows of a sample by the scores of pairs; rows are numbered by their positions in [`ClassRows`].
#[derive(Debug)]
pub(crate) struct OrderMaker<'s, 'a, T> {
    sample: &'s ScoredSample<'a, T>,
    rows: &'s ClassRows,
    partition: Option<Partition<'s>>,
    rule: DifferenceRule,
}

impl<'s, 'a, T: Score> OrderMaker<'s, 'a, T> {
    /// # Errors
    /// [`Error::RowSumNotOne`](crate::Error::RowSumNotOne), [`Error::Cancelled`](crate::Error::Cancelled).
    pub(crate) fn new(
        sample: &'s ScoredSample<'a, T>,
        rows: &'s ClassRows,
        partition: Option<&'s [f64]>,
        workers: &Workers<'_>,
    ) -> Result<Self> {
        let partition = partition.map(|costs| Partition::new(costs, sample, workers)).transpose()?;
        Ok(Self { sample, rows, partition, rule: DifferenceRule::of(sample, workers)? })
    }

    /// Rows of class c (own) and class d by the score of the pair, c before d.
    pub(crate) fn pair(&self, c: usize, d: usize) -> Order {
        let score = self.partition.map_or(PairScore::Difference, |partition| partition.score(c, d));
        let scores = &self.sample.scores;
        let operands = |row: usize| (scores.get(row, c), scores.get(row, d));
        let mut keys = Vec::new();
        let mut scratch = KeyScratch::default();
        let mut ordered = OrderedRows::default();
        for (class, side) in [(c, Order::OWN), (d, Order::OTHER)] {
            let row_numbers = self.rows.of(class).iter().map(|&row| row as usize);
            keys.clear();
            match &score {
                PairScore::Tie => keys.resize(row_numbers.len(), 0.0),
                PairScore::Costs(coefficients) => {
                    keys.extend(row_numbers.map(|row| cost_score(scores, row, coefficients)));
                }
                PairScore::Difference => {
                    let (of_c, of_d): (Vec<T>, Vec<T>) = row_numbers.map(operands).unzip();
                    self.rule.append_keys(&of_c, &of_d, &mut scratch, &mut keys);
                }
            }
            ordered.extend(side, self.rows.range(class).start as u32, keys.iter().copied());
        }
        let tolerance = self.rule.near.filter(|_| score == PairScore::Difference);
        let near = Nearness { tolerance, is_settled: |key: f64| self.rule.is_settled(key) };
        Order::new(&mut ordered, near, |position| {
            let (of_c, of_d) = operands(self.rows.rows()[position as usize] as usize);
            self.rule.exact(of_c.into(), of_d.into())
        })
    }
}

/// Rows of class c (own) and of all others, or of one other, by the column of class c.
pub(crate) fn column_order<T: Score>(
    sample: &ScoredSample<'_, T>,
    rows: &ClassRows,
    c: usize,
    other: Option<usize>,
) -> Order {
    let own = rows.range(c);
    let others = other.map_or([0..own.start, own.end..rows.len()], |d| [rows.range(d), 0..0]);
    let mut ordered = OrderedRows::default();
    for (positions, side) in [(own, Order::OWN)].into_iter().chain(others.map(|positions| (positions, Order::OTHER))) {
        let row_numbers = rows.rows()[positions.clone()].iter();
        let scores = row_numbers.map(|&row| sample.scores.get(row as usize, c).into());
        ordered.extend(side, positions.start as u32, scores);
    }
    Order::new(&mut ordered, Nearness::NEVER, |_| unreachable!("scores of one column are compared as they are"))
}

/// The order of class c (own) and all others by the column of class c, from its scores class by class.
pub(crate) fn gathered_column_order<'b, T: Score + 'b>(
    rows: &ClassRows,
    run: impl Fn(usize) -> &'b [T],
    c: usize,
    ordered: &mut OrderedRows,
) -> Order {
    ordered.clear();
    for (class, side) in [(c, Order::OWN)].into_iter().chain(rows.others(c).map(|class| (class, Order::OTHER))) {
        ordered.extend(side, rows.range(class).start as u32, run(class).iter().map(|&score| score.into()));
    }
    Order::new(ordered, Nearness::NEVER, |_| unreachable!("scores of one column are compared as they are"))
}
