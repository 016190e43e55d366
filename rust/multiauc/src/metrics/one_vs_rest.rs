//! One-vs-rest: column c ranks the rows of class c against all others.

use std::ops::Range;

use super::two_classes::single_score_wins;
use crate::error::Result;
use crate::float::Score;
use crate::memory::Buffers;
use crate::pairs::{ClassAverage, OneVsRestAverage, Rest, fold_columns, ratio, weighted_micro};
use crate::parallel::Workers;
use crate::ranking::{KeyStream, Lookup, count_key_stream};
use crate::sample::ScoredSample;

/// The AUC of each column for its class against all other rows; NaN for absent classes.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub fn one_vs_rest_per_class<T: Score>(sample: &ScoredSample<'_, T>, workers: &Workers<'_>) -> Result<Vec<f64>> {
    if sample.has_single_score() {
        return Ok(vec![single_score_wins(sample, workers)?.share(); 2]);
    }
    let mut values = vec![f64::NAN; sample.classes()];
    let columns = fold_columns(sample, Rest::Pooled, workers, |column| (column.class, column.wins_over_rest()))?;
    for (class, wins) in columns {
        values[class] = wins.share();
    }
    Ok(values)
}

/// An average of the one-vs-rest values. With a single score, all averages equal its AUC.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub fn one_vs_rest<T: Score>(
    sample: &ScoredSample<'_, T>,
    average: OneVsRestAverage,
    workers: &Workers<'_>,
) -> Result<f64> {
    if sample.has_single_score() {
        return Ok(single_score_wins(sample, workers)?.share());
    }
    if average == OneVsRestAverage::Micro {
        return micro(sample, workers);
    }
    let has_equal_rest = average == OneVsRestAverage::PrevalenceEqualRest;
    let rest = if has_equal_rest { Rest::ByClass } else { Rest::Pooled };
    let parts = fold_columns(sample, rest, workers, |column| {
        let (times, weight) = match average {
            OneVsRestAverage::Macro => (1, 1.0),
            _ => (sample.sizes.rows[column.class], sample.sizes.weights[column.class]),
        };
        let mut part = ClassAverage::default();
        if has_equal_rest {
            column.others().for_each(|d| part.add(column.wins(d), times, weight));
        } else {
            part.add(column.wins_over_rest(), times, weight);
        }
        part
    })?;
    parts.into_iter().fold(ClassAverage::default(), ClassAverage::merge).finish()
}

/// All cells of present columns: each row's own cell is in the table.
struct CellStream<'s, 'a, T> {
    sample: &'s ScoredSample<'a, T>,
    columns: Vec<usize>,
    spans: Vec<Range<usize>>,
}

impl<T: Score> KeyStream<T> for CellStream<'_, '_, T> {
    fn spans(&self) -> usize {
        self.spans.len()
    }

    fn sides(&self) -> usize {
        2
    }

    fn table_len(&self) -> usize {
        self.sample.rows()
    }

    fn table_sample(&self, wanted: usize) -> Result<Vec<T>> {
        let rows = (0..self.sample.rows()).step_by((self.sample.rows() / wanted).max(1));
        Ok(rows.map(|row| self.sample.scores.get(row, self.sample.codes.get(row))).collect())
    }

    fn for_each(&self, span: usize, others: &mut Vec<T>, visit: &mut dyn FnMut(&[T])) -> Result<()> {
        let rows = self.spans[span].clone();
        let mut own = Vec::with_capacity(rows.len());
        others.clear();
        self.sample.codes.for_each(rows, |row, class| {
            own.push(self.sample.scores.get(row, class));
            let columns = self.columns.iter().filter(|&&column| column != class);
            others.extend(columns.map(|&column| self.sample.scores.get(row, column)));
        });
        visit(&own);
        visit(others);
        Ok(())
    }
}

fn micro<T: Score>(sample: &ScoredSample<'_, T>, workers: &Workers<'_>) -> Result<f64> {
    let columns: Vec<usize> = sample.present_classes().collect();
    if sample.weights.is_some() {
        return weighted_micro(sample, &columns, workers);
    }
    let own = sample.rows() as u128;
    let doubled_pairs = 2 * own * own * (columns.len() as u128 - 1);
    let stream = CellStream { sample, columns, spans: workers.row_spans(sample.rows(), 8) };
    let (counts, _) = count_key_stream(&stream, Lookup::PLAIN, &Buffers::default(), workers)?;
    Ok(ratio(doubled_pairs - counts[1], doubled_pairs))
}
