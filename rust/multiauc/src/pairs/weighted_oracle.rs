//! Weighted rows: counts become sums of weights. Sorted in the simple way, in an order that does not depend on the
//! number of threads.

use std::ops::Range;

use super::cost_scores::{PairScore, cost_score};
use super::wins::Wins;
use crate::error::Result;
use crate::float::Score;
use crate::keys::DifferenceRule;
use crate::keys::ExactKey;
use crate::keys::KeyScratch;
use crate::parallel::Workers;
use crate::ranking::{SortedTable, WeightedKeys, WeightedWins, weighted_wins};
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
        Ok(Self { sample, rows: ClassRows::new(sample), rule })
    }

    /// What class c wins against class d by the score of the pair.
    pub(crate) fn wins(&self, c: usize, d: usize, score: &PairScore, keys: &mut WeightedKeys) -> Wins {
        let (rows_c, rows_d) = (self.rows.of(c), self.rows.of(d));
        let scores = &self.sample.scores;
        keys.clear();
        let mut scratch = KeyScratch::default();
        let mut single = Vec::with_capacity(1);
        for (is_first, rows) in [(true, rows_c), (false, rows_d)] {
            for row in rows.iter().map(|&row| row as usize) {
                let key = match score {
                    PairScore::Tie => 0.0,
                    PairScore::Costs(coefficients) => cost_score(scores, row, coefficients),
                    PairScore::Difference => {
                        single.clear();
                        let (of_c, of_d) = (scores.get(row, c), scores.get(row, d));
                        self.rule.append_keys(&[of_c], &[of_d], &mut scratch, &mut single);
                        single[0]
                    }
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

/// Rows between two checks of the cancel flag, and per task: a fixed number, so that sums are taken in the same order
/// on any number of threads.
const SPAN: usize = 1 << 14;

fn spans(rows: usize) -> impl Iterator<Item = Range<usize>> {
    (0..rows).step_by(SPAN).map(move |start| start..(start + SPAN).min(rows))
}

/// For the column of class c: what it wins against each class d. Σ over the rows b of class d of w_b · (twice the weight of
/// class c above b, plus ties) is won, the same with the weight below lost.
pub(crate) fn column_wins<T: Score>(
    sample: &ScoredSample<'_, T>,
    class: usize,
    workers: &Workers<'_>,
) -> Result<Vec<WeightedWins>> {
    let score = |row: usize| -> f64 { sample.scores.get(row, class).into() };
    let mut own = Vec::with_capacity(sample.sizes.rows[class] as usize);
    sample.codes.for_each(0..sample.rows(), |row, code| {
        if code == class && sample.has_row(row) {
            own.push((score(row), sample.weight(row)));
        }
    });
    let table = SortedTable::new(own);
    let mut totals = vec![WeightedWins::default(); sample.classes()];
    for span in spans(sample.rows()) {
        workers.check()?;
        sample.codes.for_each(span, |row, code| {
            if code != class && sample.has_row(row) {
                totals[code].add(sample.weight(row), table.wins_over(score(row)));
            }
        });
    }
    Ok(totals)
}

/// The micro average: own cells against all others, each with the weight of its row.
pub(crate) fn micro<T: Score>(sample: &ScoredSample<'_, T>, columns: &[usize], workers: &Workers<'_>) -> Result<f64> {
    let score = |row: usize, column: usize| -> f64 { sample.scores.get(row, column).into() };
    let mut own = Vec::with_capacity(sample.rows());
    sample.codes.for_each(0..sample.rows(), |row, class| {
        if sample.has_row(row) {
            own.push((score(row, class), sample.weight(row)));
        }
    });
    let table = SortedTable::new(own);
    let spans: Vec<Range<usize>> = spans(sample.rows()).collect();
    let parts = workers.map(spans.len(), |span| {
        let mut total = WeightedWins::default();
        for row in spans[span].clone().filter(|&row| sample.has_row(row)) {
            workers.check()?;
            let own_column = sample.codes.get(row);
            let others = columns.iter().filter(|&&column| column != own_column);
            others.for_each(|&column| total.add(sample.weight(row), table.wins_over(score(row, column))));
        }
        Ok(total)
    })?;
    Ok(parts.into_iter().fold(WeightedWins::default(), WeightedWins::plus).share())
}
