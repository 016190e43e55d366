//! The orders behind the metrics: what is sorted once where a sample is counted many times.

use super::cost_scores::{PairScore, Partition, cost_score};
use crate::error::Result;
use crate::float::Score;
use crate::keys::DifferenceRule;
use crate::keys::FractionCache;
use crate::parallel::Workers;
use crate::ranking::{Order, OrderedRows};
use crate::sample::PresentClasses;
use crate::sample::ScoredSample;

/// Sorts the rows of a sample; classes are numbered, and rows placed, as in [`PresentClasses`].
#[derive(Debug)]
pub(crate) struct OrderMaker<'s, 'a, T> {
    sample: &'s ScoredSample<'a, T>,
    classes: &'s PresentClasses,
    partition: Option<Partition<'s>>,
    rule: DifferenceRule,
}

impl<'s, 'a, T: Score> OrderMaker<'s, 'a, T> {
    /// # Errors
    /// [`Error::RowSumNotOne`](crate::Error::RowSumNotOne), [`Error::Cancelled`](crate::Error::Cancelled).
    pub(crate) fn new(
        sample: &'s ScoredSample<'a, T>,
        classes: &'s PresentClasses,
        partition: Option<&'s [f64]>,
        workers: &Workers<'_>,
    ) -> Result<Self> {
        let partition = partition.map(|costs| Partition::new(costs, sample.classes()));
        if let Some(partition) = partition {
            partition.check_scores(&sample.scores)?;
        }
        Ok(Self { sample, classes, partition, rule: DifferenceRule::of(sample, workers)? })
    }

    /// Rows of class c (own) and class d by the score of the pair, c before d.
    pub(crate) fn pair(&self, c: usize, d: usize) -> Order {
        let [column_c, column_d] = [c, d].map(|class| self.classes.originals()[class]);
        let score = self.partition.map_or(PairScore::Difference, |partition| partition.score(column_c, column_d));
        let scores = &self.sample.scores;
        let operands = |row: usize| (scores.get(row, column_c), scores.get(row, column_d));
        let mut keys = Vec::new();
        let mut fractions = FractionCache::default();
        let mut rows = OrderedRows::default();
        for (class, side) in [(c, Order::OWN), (d, Order::OTHER)] {
            let places = self.classes.rows_of(class);
            let row_numbers = self.classes.row_numbers(places.clone()).iter().map(|&row| row as usize);
            keys.clear();
            match &score {
                PairScore::Tie => keys.resize(places.len(), 0.0),
                PairScore::Costs(coefficients) => {
                    keys.extend(row_numbers.map(|row| cost_score(scores, row, coefficients)));
                }
                PairScore::Difference => {
                    let (of_c, of_d): (Vec<T>, Vec<T>) = row_numbers.map(operands).unzip();
                    self.rule.append_keys(&of_c, &of_d, &mut fractions, &mut keys);
                }
            }
            rows.extend(side, places.start as u32, keys.iter().copied());
        }
        let near = self.rule.near.filter(|_| score == PairScore::Difference);
        Order::new(&mut rows, near, |place| {
            let row = self.classes.row_numbers(place as usize..place as usize + 1)[0];
            let (of_c, of_d) = operands(row as usize);
            self.rule.exact(of_c.into(), of_d.into())
        })
    }
}

/// Rows of class c (own) and of all others, or of one other, by the column of class c.
pub(crate) fn column_order<T: Score>(
    sample: &ScoredSample<'_, T>,
    classes: &PresentClasses,
    c: usize,
    other: Option<usize>,
) -> Order {
    let (column, own) = (classes.columns()[c], classes.rows_of(c));
    let others = other.map_or([0..own.start, own.end..classes.rows()], |d| [classes.rows_of(d), 0..0]);
    let mut rows = OrderedRows::default();
    for (places, side) in [(own, Order::OWN)].into_iter().chain(others.map(|places| (places, Order::OTHER))) {
        let row_numbers = classes.row_numbers(places.clone()).iter();
        rows.extend(side, places.start as u32, row_numbers.map(|&row| sample.scores.get(row as usize, column).into()));
    }
    Order::new(&mut rows, None, |_| unreachable!("scores of one column are compared as they are"))
}
