//! All cells in one ranking: each row's own column against the others.

use std::cmp::Ordering;
use std::ops::Range;

use super::own_rows::{OwnRows, WeightedRows};
use super::sparse_sample::{Side, SparseSample};
use crate::error::Result;
use crate::float::Score;
use crate::memory::Buffers;
use crate::pairs::ratio;
use crate::parallel::Workers;
use crate::ranking::{KeyStream, Lookup, WeightedWins, count_key_stream};

/// The micro average of stored scores.
pub(super) fn micro<T: Score>(sample: &SparseSample<'_, T>, workers: &Workers<'_>) -> Result<f64> {
    if sample.is_weighted() { weighted(sample, workers) } else { counted(sample, workers) }
}

/// The stored cells of the columns of a run: row, score, and whether it is the row's own column.
fn cells<T: Score>(sample: &SparseSample<'_, T>, run: Range<usize>) -> impl Iterator<Item = (u32, T, bool)> {
    run.flat_map(move |class| sample.column(class).map(move |(row, code, score)| (row, score, code == class)))
}

/// How many cells are below 0, at 0 and above.
#[derive(Debug, Clone, Copy, Default)]
struct Signs {
    below: u128,
    at: u128,
    above: u128,
}

impl Signs {
    fn add<T: Score>(&mut self, score: T) {
        let count = match score.ordered().cmp(&T::ZERO.ordered()) {
            Ordering::Less => &mut self.below,
            Ordering::Equal => &mut self.at,
            Ordering::Greater => &mut self.above,
        };
        *count += 1;
    }

    const fn all(self) -> u128 {
        self.below + self.at + self.above
    }
}

fn counted<T: Score>(sample: &SparseSample<'_, T>, workers: &Workers<'_>) -> Result<f64> {
    let (mut own, mut others) = (Signs::default(), Signs::default());
    let runs = sample.runs_of_columns();
    let mut own_scores = Vec::new();
    for run in &runs {
        workers.check()?;
        for (_, score, is_own) in cells(sample, run.clone()) {
            if is_own {
                own.add(score);
                own_scores.push(score);
            } else {
                others.add(score);
            }
        }
    }
    let rows = u128::from(sample.all().rows);
    let other_cells = rows * u128::from(sample.present() - 1);
    let [own_unstored, others_unstored] = [rows - own.all(), other_cells - others.all()];
    let mut lost = own_unstored * (2 * others.above + others.at)
        + others_unstored * (2 * own.below + own.at)
        + own_unstored * others_unstored;
    if !own_scores.is_empty() {
        let stream = StoredCells { sample, runs, own: own_scores };
        lost += count_key_stream(&stream, Lookup::PLAIN, &Buffers::default(), workers)?.0[1];
    }
    let doubled_pairs = 2 * rows * other_cells;
    Ok(ratio(doubled_pairs - lost, doubled_pairs))
}

/// The stored cells: each row's own are the table.
struct StoredCells<'s, 'a, T> {
    sample: &'s SparseSample<'a, T>,
    runs: Vec<Range<usize>>,
    own: Vec<T>,
}

impl<T: Score> KeyStream<T> for StoredCells<'_, '_, T> {
    fn spans(&self) -> usize {
        self.runs.len()
    }

    fn sides(&self) -> usize {
        2
    }

    fn table_len(&self) -> usize {
        self.own.len()
    }

    fn table_sample(&self, wanted: usize) -> Result<Vec<T>> {
        Ok(self.own.iter().copied().step_by((self.own.len() / wanted).max(1)).collect())
    }

    fn for_each(&self, span: usize, others: &mut Vec<T>, visit: &mut dyn FnMut(&[T])) -> Result<()> {
        let mut own = Vec::new();
        others.clear();
        for (_, score, is_own) in cells(self.sample, self.runs[span].clone()) {
            if is_own { own.push(score) } else { others.push(score) }
        }
        visit(&own);
        visit(others);
        Ok(())
    }
}

fn weighted<T: Score>(sample: &SparseSample<'_, T>, workers: &Workers<'_>) -> Result<f64> {
    let runs = sample.runs_of_columns();
    let (mut own_scores, mut own, mut others) = (Vec::new(), Side::default(), Side::default());
    for run in &runs {
        workers.check()?;
        for (row, score, is_own) in cells(sample, run.clone()) {
            let side = sample.side_of_row(row);
            if is_own {
                own_scores.push((score, side.weight));
                own = own.plus(side);
            } else {
                others = others.plus(side);
            }
        }
    }
    let (all, columns) = (sample.all(), sample.present() - 1);
    let other_cells = Side { rows: all.rows * columns, weight: all.weight * columns as f64 };
    let table = <WeightedRows as OwnRows<T>>::new(own_scores, all.without(own));
    let parts = workers.map(runs.len(), |run| {
        let mut total = WeightedWins::default();
        for (row, score, _) in cells(sample, runs[run].clone()).filter(|&(_, _, is_own)| !is_own) {
            total.add(sample.side_of_row(row).weight, table.won_over(score));
        }
        Ok(total)
    })?;
    let mut total = parts.into_iter().fold(WeightedWins::default(), WeightedWins::plus);
    total.add(other_cells.without(others).weight, table.won_over(T::ZERO));
    Ok(total.share())
}
