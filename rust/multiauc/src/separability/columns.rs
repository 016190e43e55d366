//! Hand & Till's M and one-vs-rest: column c ranks the rows, class c against each of the others.

use std::ops::Range;

use super::averages::{OneVsRestAverage, PairAverage, PairSizes, PairWeights, ShareSum, ratio, weighted_mean};
use super::pair_counts::WHOLE_MATRIX_CLASSES;
use super::weighted;
use crate::class_blocks::ClassBlocks;
use crate::error::Result;
use crate::parallel::Workers;
use crate::ranking::{BucketTable, KeyStream, LARGEST_TABLE, Lookup, count_partitioned};
use crate::score_matrix::{Score, ScoreMatrix};
use crate::scored_sample::{ClassCodes, ScoredSample, row_spans};

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
    let parts = fold_columns(sample, workers, |column| {
        let mut average = PairAverage::default();
        for d in column.others() {
            let sizes = PairSizes::of(&sample.sizes, column.class, d);
            match &column.losses {
                Losses::Counts(_) => average.add(weights, sizes, column.doubled_wins(d)),
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
    let rows = fold_columns(sample, workers, |column| {
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
    for (class, value) in fold_columns(sample, workers, |column| (column.class, column.share_of_rest()))? {
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
    if sample.weights.is_some() {
        let terms = fold_columns(sample, workers, |column| {
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
    let parts = fold_columns(sample, workers, |column| {
        let own = sample.sizes.rows[column.class];
        let times = if average == OneVsRestAverage::Macro { 1 } else { own };
        let mut sum = ShareSum::default();
        if equal_rest {
            column.others().for_each(|d| sum.add(column.doubled_wins(d), 2 * own * sample.sizes.rows[d], times));
        } else {
            let wins = column.others().map(|d| column.doubled_wins(d)).sum();
            sum.add(wins, 2 * own * (sample.rows() as u64 - own), times);
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
    let columns = count_columns(&sample, workers, &[(1, 0)], |column| column.share(0))?;
    Ok(columns[0])
}

/// One column counted: class c against every other class.
struct ColumnCount<'s, 'a, T> {
    sample: &'s ScoredSample<'a, T>,
    class: usize,
    losses: Losses,
}

/// Twice the pairs each other class wins, ties counting one.
enum Losses {
    Counts(Vec<u64>),
    Weights(Vec<f64>),
}

impl<T: Score> ColumnCount<'_, '_, T> {
    /// The other present classes.
    fn others(&self) -> impl Iterator<Item = usize> {
        let rows = &self.sample.sizes.rows;
        (0..rows.len()).filter(move |&d| d != self.class && rows[d] > 0)
    }

    fn doubled_pairs(&self, d: usize) -> u64 {
        2 * self.sample.sizes.rows[self.class] * self.sample.sizes.rows[d]
    }

    fn doubled_wins(&self, d: usize) -> u64 {
        match &self.losses {
            Losses::Counts(losses) => self.doubled_pairs(d) - losses[d],
            Losses::Weights(_) => unreachable!("weighted rows have shares, not counts"),
        }
    }

    /// A(c|d).
    fn share(&self, d: usize) -> f64 {
        match &self.losses {
            Losses::Counts(_) => ratio(self.doubled_wins(d).into(), self.doubled_pairs(d).into()),
            Losses::Weights(losses) => {
                let weights = &self.sample.sizes.weights;
                1.0 - losses[d] / (2.0 * weights[self.class] * weights[d])
            }
        }
    }

    /// The AUC against all other classes pooled.
    fn share_of_rest(&self) -> f64 {
        match &self.losses {
            Losses::Counts(_) => {
                let wins: u128 = self.others().map(|d| u128::from(self.doubled_wins(d))).sum();
                ratio(wins, self.others().map(|d| u128::from(self.doubled_pairs(d))).sum())
            }
            Losses::Weights(losses) => {
                let rest: f64 = self.others().map(|d| self.sample.sizes.weights[d]).sum();
                let lost: f64 = self.others().map(|d| losses[d]).sum();
                1.0 - lost / (2.0 * self.sample.sizes.weights[self.class] * rest)
            }
        }
    }
}

/// `fold(column)` for the column of every present class, in class order.
fn fold_columns<T: Score, R: Send>(
    sample: &ScoredSample<'_, T>,
    workers: &Workers<'_>,
    fold: impl Fn(&ColumnCount<'_, '_, T>) -> R + Sync,
) -> Result<Vec<R>> {
    let present: Vec<(usize, usize)> =
        (0..sample.classes()).filter(|&class| sample.sizes.rows[class] > 0).map(|class| (class, class)).collect();
    count_columns(sample, workers, &present, fold)
}

/// `fold(column)` for some (class, column), a few columns gathered at a time.
fn count_columns<T: Score, R: Send>(
    sample: &ScoredSample<'_, T>,
    workers: &Workers<'_>,
    wanted: &[(usize, usize)],
    fold: impl Fn(&ColumnCount<'_, '_, T>) -> R + Sync,
) -> Result<Vec<R>> {
    if sample.weights.is_some() {
        return workers.map(wanted.len(), |index| {
            let (class, column) = wanted[index];
            let losses = Losses::Weights(weighted::doubled_losses(sample, class, column, workers)?);
            Ok(fold(&ColumnCount { sample, class, losses }))
        });
    }
    let mut folded = Vec::with_capacity(wanted.len());
    let mut blocks = ClassBlocks::default();
    for tile in wanted.chunks(tile_width(sample)) {
        let columns = tile[0].1..tile[tile.len() - 1].1 + 1;
        blocks = ClassBlocks::gather(blocks, sample, &columns, workers)?;
        if tile.iter().all(|&(class, _)| sample.sizes.rows[class] <= LARGEST_TABLE) {
            folded.extend(workers.map_with(tile.len(), BucketTable::default, |table, index| {
                let (class, column) = tile[index];
                let losses = Losses::Counts(count_column(sample, &blocks, (class, column), table, workers)?);
                Ok(fold(&ColumnCount { sample, class, losses }))
            })?);
        } else {
            for &(class, column) in tile {
                let stream = ColumnStream { sample, blocks: &blocks, class, column };
                let (counts, _) = count_partitioned(&stream, Lookup::PLAIN, workers)?;
                let mut losses = vec![0; sample.classes()];
                for (side, count) in counts.into_iter().enumerate().skip(1) {
                    losses[stream.class_of(side)] = count as u64;
                }
                folded.push(fold(&ColumnCount { sample, class, losses: Losses::Counts(losses) }));
            }
        }
    }
    Ok(folded)
}

/// Columns gathered at a time: all of them up to 16 classes (or as many as leave room to partition one more), beyond
/// that a sixth, so that the copy stays small beside the scores.
fn tile_width<T: Score>(sample: &ScoredSample<'_, T>) -> usize {
    let columns = sample.scores.columns();
    let has_large_class = sample.sizes.rows.iter().any(|&rows| rows > LARGEST_TABLE);
    match columns {
        ..=WHOLE_MATRIX_CLASSES if has_large_class => (columns - 1).max(1),
        ..=WHOLE_MATRIX_CLASSES => columns,
        _ => (columns / 6).min(32),
    }
}

fn count_column<T: Score>(
    sample: &ScoredSample<'_, T>,
    blocks: &ClassBlocks<T>,
    (class, column): (usize, usize),
    table: &mut BucketTable<T>,
    workers: &Workers<'_>,
) -> Result<Vec<u64>> {
    table.build(blocks.runs(class, column), None);
    let table = &*table;
    let mut losses = vec![0; sample.classes()];
    for (d, loss) in losses.iter_mut().enumerate().filter(|&(d, _)| d != class) {
        for keys in blocks.runs(d, column) {
            *loss += table.count_on(workers, keys, Lookup::PLAIN)?.0;
        }
    }
    Ok(losses)
}

/// One gathered column: side 0 is its class, the others follow in order.
struct ColumnStream<'c, 's, 'a, T> {
    sample: &'s ScoredSample<'a, T>,
    blocks: &'c ClassBlocks<T>,
    class: usize,
    column: usize,
}

impl<T> ColumnStream<'_, '_, '_, T> {
    fn class_of(&self, side: usize) -> usize {
        match side {
            0 => self.class,
            _ if side <= self.class => side - 1,
            _ => side,
        }
    }
}

impl<T: Score> KeyStream<T> for ColumnStream<'_, '_, '_, T> {
    fn spans(&self) -> usize {
        self.blocks.len()
    }

    fn sides(&self) -> usize {
        self.sample.classes()
    }

    fn table_len(&self) -> usize {
        self.sample.sizes.rows[self.class] as usize
    }

    fn table_sample(&self, wanted: usize) -> Vec<T> {
        let step = (self.table_len() / wanted).max(1);
        self.blocks.runs(self.class, self.column).flatten().step_by(step).copied().collect()
    }

    fn for_each(&self, span: usize, visit: &mut dyn FnMut(&[T])) {
        for side in 0..self.sides() {
            visit(self.blocks.run(span, self.class_of(side), self.column));
        }
    }
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

    fn for_each(&self, span: usize, visit: &mut dyn FnMut(&[T])) {
        let rows = self.spans[span].clone();
        let (mut own, mut others) = (Vec::with_capacity(rows.len()), Vec::new());
        self.sample.codes.for_each(rows, |row, class| {
            own.push(self.sample.scores.get(row, class));
            let columns = self.columns.iter().filter(|&&column| column != class);
            others.extend(columns.map(|&column| self.sample.scores.get(row, column)));
        });
        visit(&own);
        visit(&others);
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
    let (counts, _) = count_partitioned(&stream, Lookup::PLAIN, workers)?;
    Ok(ratio(doubled_pairs - counts[1], doubled_pairs))
}
