//! Weighted rows in the simple way: sorted pair by pair. The fast sums are compared with these, on random cases
//! (`make fuzz` runs a million of them).

mod cases;
mod tests;

use super::cost_scores::{PairScore, cost_score};
use super::wins::Wins;
use crate::error::Result;
use crate::float::Score;
use crate::keys::DifferenceRule;
use crate::keys::ExactKey;
use crate::parallel::Workers;
use crate::ranking::{WeightedKeys, WeightedWins, weighted_wins};
use crate::sample::ClassRows;
use crate::sample::ScoredSample;

/// The pairwise values of weighted rows.
pub(crate) struct WeightedPairs<'s, 'a, T> {
    sample: &'s ScoredSample<'a, T>,
    rows: ClassRows,
    rule: DifferenceRule,
}

impl<'s, 'a, T: Score> WeightedPairs<'s, 'a, T> {
    pub(crate) fn new(sample: &'s ScoredSample<'a, T>, workers: &Workers<'_>) -> Result<Self> {
        let rule = DifferenceRule::of(sample, workers)?;
        Ok(Self { sample, rows: ClassRows::new(sample, workers)?, rule })
    }

    /// What class c wins against class d by the score of the pair.
    pub(crate) fn wins(&self, c: usize, d: usize, score: &PairScore, keys: &mut WeightedKeys) -> Wins {
        let (rows_c, rows_d) = (self.rows.of(c), self.rows.of(d));
        let scores = &self.sample.scores;
        keys.clear();
        for (is_first, rows) in [(true, rows_c), (false, rows_d)] {
            for row in rows.iter().map(|&row| row as usize) {
                let key = match score {
                    PairScore::Tie => 0.0,
                    PairScore::Costs(coefficients) => cost_score(scores, row, coefficients),
                    PairScore::Difference => self.rule.key(scores.get(row, c).into(), scores.get(row, d).into()),
                };
                keys.push(is_first, key, self.sample.weight(row));
            }
        }
        let near = if *score == PairScore::Difference { self.rule.near } else { None };
        let exact = |is_first: bool, index: usize| -> ExactKey {
            let row = if is_first { rows_c[index] } else { rows_d[index] } as usize;
            self.rule.exact(scores.get(row, c).into(), scores.get(row, d).into())
        };
        Wins::Weighted(weighted_wins(keys, near, exact))
    }
}

/// For the column of class c: what it wins against each class d, row by row. Sums of what is not negative: nothing is lost in
/// the difference of larger sums.
pub(crate) fn column_wins<T: Score>(sample: &ScoredSample<'_, T>, class: usize) -> Vec<WeightedWins> {
    let by_class = column_rows(sample, class);
    let wins_over = |others: &Vec<(f64, f64)>| {
        let mut total = WeightedWins::default();
        for &(own, own_weight) in &by_class[class] {
            let mut of_row = WeightedWins::default();
            for &(other, weight) in others {
                let doubled = |wins: bool, ties: bool| f64::from(2 * u8::from(wins) + u8::from(ties));
                let per_unit =
                    WeightedWins { won: doubled(own > other, own == other), lost: doubled(own < other, own == other) };
                of_row.add(weight, per_unit);
            }
            total.add(own_weight, of_row);
        }
        total
    };
    by_class.iter().map(wins_over).collect()
}

/// The same sorted, for more rows than can be compared with each other.
pub(crate) fn sorted_column_wins<T: Score>(sample: &ScoredSample<'_, T>, class: usize) -> Vec<WeightedWins> {
    let by_class = column_rows(sample, class);
    let wins_over = |others: &Vec<(f64, f64)>| {
        let mut keys = WeightedKeys::default();
        for (is_first, rows) in [(true, &by_class[class]), (false, others)] {
            for &(score, weight) in rows {
                keys.push(is_first, score, weight);
            }
        }
        weighted_wins(&mut keys, None, |_, _| unreachable!("equal scores tie"))
    };
    by_class.iter().map(wins_over).collect()
}

/// The scores of each class in a column, with their weights.
fn column_rows<T: Score>(sample: &ScoredSample<'_, T>, column: usize) -> Vec<Vec<(f64, f64)>> {
    let mut by_class = vec![Vec::new(); sample.classes()];
    sample.codes.for_each(0..sample.rows(), |row, code| {
        if sample.has_row(row) {
            by_class[code].push((sample.scores.get(row, column).into(), sample.weight(row)));
        }
    });
    by_class
}
