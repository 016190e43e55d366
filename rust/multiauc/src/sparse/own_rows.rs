//! The rows of the class that a column belongs to, in their order: what they win against any score.

use std::cmp::Ordering;

use super::sparse_sample::Side;
use crate::float::{Float, Score};
use crate::pairs::Wins;
use crate::ranking::{WeightedSearch, WeightedWins};

/// The rows of one class by the score in its column.
pub(super) trait OwnRows<T: Score>: Sized {
    /// What they win against some rows.
    type Won: Copy + Default + Send;
    /// From stored scores, with the weight of each, and the rows at 0 that are not stored; at least one row in all.
    fn new(stored: Vec<(T, f64)>, unstored: Side) -> Self;
    /// What they win against one row, or one unit of weight, of this score.
    fn won_over(&self, score: T) -> Self::Won;
    /// Adds what they win against some rows, all of the same score.
    fn add(won: &mut Self::Won, rows: Side, each: Self::Won);
    /// All that was won, by so many rows against so many.
    fn wins(won: Self::Won, own: Side, others: Side) -> Wins;
}

/// Rows that count one each: twice the pairs won, a tie counting one.
#[derive(Debug)]
pub(super) struct CountedRows<T: Float> {
    sorted: Vec<T::Ordered>,
    unstored: u64,
}

impl<T: Score> OwnRows<T> for CountedRows<T> {
    type Won = u64;

    fn new(stored: Vec<(T, f64)>, unstored: Side) -> Self {
        let mut sorted: Vec<T::Ordered> = stored.into_iter().map(|(score, _)| score.ordered()).collect();
        sorted.sort_unstable();
        Self { sorted, unstored: unstored.rows }
    }

    fn won_over(&self, score: T) -> u64 {
        let key = score.ordered();
        let below = self.sorted.partition_point(|own| *own < key);
        let tied = self.sorted[below..].partition_point(|own| *own <= key);
        let above = self.sorted.len() - below - tied;
        let of_unstored = match key.cmp(&T::ZERO.ordered()) {
            Ordering::Less => 2,
            Ordering::Equal => 1,
            Ordering::Greater => 0,
        };
        (2 * above + tied) as u64 + of_unstored * self.unstored
    }

    fn add(won: &mut u64, rows: Side, each: u64) {
        *won += rows.rows * each;
    }

    fn wins(won: u64, own: Side, others: Side) -> Wins {
        Wins::counted(won, [own.rows, others.rows])
    }
}

/// Rows that count by their weight.
#[derive(Debug)]
pub(super) struct WeightedRows(WeightedSearch);

impl<T: Score> OwnRows<T> for WeightedRows {
    type Won = WeightedWins;

    fn new(stored: Vec<(T, f64)>, unstored: Side) -> Self {
        let at_zero = (unstored.rows > 0).then_some((0.0, unstored.weight));
        Self(WeightedSearch::new(
            stored.into_iter().map(|(score, weight)| (score.into(), weight)).chain(at_zero).collect(),
        ))
    }

    fn won_over(&self, score: T) -> WeightedWins {
        self.0.wins_over(score.into())
    }

    fn add(won: &mut WeightedWins, rows: Side, each: WeightedWins) {
        won.add(rows.weight, each);
    }

    fn wins(won: WeightedWins, _: Side, _: Side) -> Wins {
        Wins::Weighted(won)
    }
}
