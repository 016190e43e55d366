//! Hand & Till's M and one-vs-rest: column c ranks the rows, class c against each of the others.

use std::ops::Range;

use crate::error::Result;
use crate::float::Score;
use crate::memory::Buffers;
use crate::pairs::weighted;
use crate::pairs::{Losses, Rest, count_columns, fold_columns};
use crate::pairs::{OneVsRestAverage, PairAverage, PairSizes, PairWeights, ShareSum, ratio, weighted_mean};
use crate::parallel::Workers;
use crate::ranking::{KeyStream, Lookup, count_partitioned};
use crate::sample::ScoreMatrix;
use crate::sample::{ClassCodes, ScoredSample, row_spans};

/// M = Σ_{c≠d} ω_cd A(c|d): A(c|d) is the share of pairs of rows, one of class c and one of class d, of which column c
/// gives the higher score to the row of class c, ties counting half (Hand & Till 2001).
///
/// # Errors
/// [`Error::NoPairWeight`](crate::Error::NoPairWeight), [`Error::Cancelled`](crate::Error::Cancelled).
pub fn hand_till<T: Score>(
    sample: &ScoredSample<'_, T>,
    weights: PairWeights<'_>,
    workers: &Workers<'_>,
) -> Result<f64> {
    let parts = fold_columns(sample, Rest::ByClass, workers, |column| {
        let mut average = PairAverage::default();
        for d in column.others() {
            let sizes = PairSizes::of(&sample.sizes, column.class, d);
            match &column.losses {
                Losses::Counts(_) | Losses::Pooled(_) => average.add(weights, sizes, column.doubled_wins(d)),
                Losses::Weights(_) => average.add_value(weights, sizes, column.share(d)),
            }
        }
        average
    })?;
    PairAverage::finish(parts)
}

/// A(c|d) at row c and column d of a K × K matrix, row after row; NaN on the diagonal and for absent classes.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub fn hand_till_matrix<T: Score>(sample: &ScoredSample<'_, T>, workers: &Workers<'_>) -> Result<Vec<f64>> {
    let classes = sample.classes();
    let mut matrix = vec![f64::NAN; classes * classes];
    let rows = fold_columns(sample, Rest::ByClass, workers, |column| {
        let mut row = vec![f64::NAN; classes];
        column.others().for_each(|d| row[d] = column.share(d));
        (column.class, row)
    })?;
    for (class, row) in rows {
        matrix[class * classes..][..classes].copy_from_slice(&row);
    }
    Ok(matrix)
}

/// The AUC of each column for its class against all other rows; NaN for absent classes.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub fn one_vs_rest_per_class<T: Score>(sample: &ScoredSample<'_, T>, workers: &Workers<'_>) -> Result<Vec<f64>> {
    let mut values = vec![f64::NAN; sample.classes()];
    let columns = fold_columns(sample, Rest::Pooled, workers, |column| (column.class, column.share_of_rest()))?;
    for (class, value) in columns {
        values[class] = value;
    }
    Ok(values)
}

/// An average of the one-vs-rest values.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub fn one_vs_rest<T: Score>(
    sample: &ScoredSample<'_, T>,
    average: OneVsRestAverage,
    workers: &Workers<'_>,
) -> Result<f64> {
    if average == OneVsRestAverage::Micro {
        return micro(sample, workers);
    }
    let equal_rest = average == OneVsRestAverage::PrevalenceEqualRest;
    let rest = if equal_rest { Rest::ByClass } else { Rest::Pooled };
    if sample.weights.is_some() {
        let terms = fold_columns(sample, rest, workers, |column| {
            let own = sample.sizes.weights[column.class];
            let weight = if average == OneVsRestAverage::Macro { 1.0 } else { own };
            if equal_rest {
                column.others().map(|d| (weight, column.share(d))).collect()
            } else {
                vec![(weight, column.share_of_rest())]
            }
        })?;
        return weighted_mean(terms.concat());
    }
    let parts = fold_columns(sample, rest, workers, |column| {
        let own = sample.sizes.rows[column.class];
        let times = if average == OneVsRestAverage::Macro { 1 } else { own };
        let mut sum = ShareSum::default();
        if equal_rest {
            column.others().for_each(|d| sum.add(column.doubled_wins(d), 2 * own * sample.sizes.rows[d], times));
        } else {
            let (wins, pairs) = column.doubled_wins_over_rest();
            sum.add(wins as u64, pairs as u64, times);
        }
        sum
    })?;
    Ok(parts.into_iter().fold(ShareSum::default(), ShareSum::merge).mean())
}

/// The AUC of one column of scores for class 1 against class 0.
///
/// # Errors
/// As [`ScoredSample::new`].
pub fn binary_auc<T: Score>(
    scores: ScoreMatrix<'_, T>,
    codes: ClassCodes<'_>,
    weights: Option<&[f64]>,
    workers: &Workers<'_>,
) -> Result<f64> {
    let sample = ScoredSample::with_classes(scores, codes, weights, 2, workers)?;
    let columns = count_columns(&sample, &[(1, 0)], Rest::ByClass, workers, |column| column.share(0))?;
    Ok(columns[0])
}

/// All cells of present columns: the own cells of the rows are the table.
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

    fn table_sample(&self, wanted: usize) -> Vec<T> {
        let rows = (0..self.sample.rows()).step_by((self.sample.rows() / wanted).max(1));
        rows.map(|row| self.sample.scores.get(row, self.sample.codes.get(row))).collect()
    }

    fn for_each(&self, span: usize, others: &mut Vec<T>, visit: &mut dyn FnMut(&[T])) {
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
    }
}

fn micro<T: Score>(sample: &ScoredSample<'_, T>, workers: &Workers<'_>) -> Result<f64> {
    let columns: Vec<usize> = (0..sample.classes()).filter(|&class| sample.sizes.rows[class] > 0).collect();
    if sample.weights.is_some() {
        return weighted::micro(sample, &columns, workers);
    }
    let own = sample.rows() as u128;
    let doubled_pairs = 2 * own * own * (columns.len() as u128 - 1);
    let stream = CellStream { sample, columns, spans: row_spans(sample.rows(), 8, workers) };
    let (counts, _) = count_partitioned(&stream, Lookup::PLAIN, &Buffers::default(), workers)?;
    Ok(ratio(doubled_pairs - counts[1], doubled_pairs))
}
