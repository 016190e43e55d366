//! Column c ranks the rows: twice the pairs that each other class wins against class c.

use std::ops::Range;

use super::averages::ratio;
use super::pair_counts::WHOLE_MATRIX_CLASSES;
use super::weighted;
use crate::class_blocks::{ClassBlock, ClassBlocks};
use crate::error::Result;
use crate::memory::Buffers;
use crate::parallel::Workers;
use crate::ranking::{BucketTable, KeyStream, Lookup, count_partitioned, sample_spans, stream_spans};
use crate::score_matrix::Score;
use crate::scored_sample::ScoredSample;

/// One column counted: class c against every other class.
pub(super) struct ColumnCount<'s, 'a, T> {
    sample: &'s ScoredSample<'a, T>,
    pub(super) class: usize,
    pub(super) losses: Losses,
}

/// Twice the pairs each other class wins, ties counting one.
pub(super) enum Losses {
    Counts(Vec<u64>),
    Weights(Vec<f64>),
}

impl<T: Score> ColumnCount<'_, '_, T> {
    /// The other present classes.
    pub(super) fn others(&self) -> impl Iterator<Item = usize> {
        let rows = &self.sample.sizes.rows;
        (0..rows.len()).filter(move |&d| d != self.class && rows[d] > 0)
    }

    fn doubled_pairs(&self, d: usize) -> u64 {
        2 * self.sample.sizes.rows[self.class] * self.sample.sizes.rows[d]
    }

    pub(super) fn doubled_wins(&self, d: usize) -> u64 {
        match &self.losses {
            Losses::Counts(losses) => self.doubled_pairs(d) - losses[d],
            Losses::Weights(_) => unreachable!("weighted rows have shares, not counts"),
        }
    }

    /// A(c|d).
    pub(super) fn share(&self, d: usize) -> f64 {
        match &self.losses {
            Losses::Counts(_) => ratio(self.doubled_wins(d).into(), self.doubled_pairs(d).into()),
            Losses::Weights(losses) => {
                let weights = &self.sample.sizes.weights;
                1.0 - losses[d] / (2.0 * weights[self.class] * weights[d])
            }
        }
    }

    /// The AUC against all other classes pooled.
    pub(super) fn share_of_rest(&self) -> f64 {
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
pub(super) fn fold_columns<T: Score, R: Send>(
    sample: &ScoredSample<'_, T>,
    workers: &Workers<'_>,
    fold: impl Fn(&ColumnCount<'_, '_, T>) -> R + Sync,
) -> Result<Vec<R>> {
    let present: Vec<(usize, usize)> =
        (0..sample.classes()).filter(|&class| sample.sizes.rows[class] > 0).map(|class| (class, class)).collect();
    count_columns(sample, workers, &present, fold)
}

/// `fold(column)` for some (class, column), a few columns gathered at a time.
pub(super) fn count_columns<T: Score, R: Send>(
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
    let (streamed, gathered): (Vec<_>, Vec<_>) = wanted.iter().partition(|&&(class, _)| is_streamed(sample, class));
    let mut folded = Vec::with_capacity(wanted.len());
    // One after the other, each on all threads: their copies would not fit into memory side by side.
    let buffers = Buffers::default();
    for (class, column) in streamed {
        let table_len = sample.sizes.rows[class] as usize;
        let spans = stream_spans(sample.rows(), table_len, sample.classes(), workers);
        let stream = ColumnStream { sample, class, column, spans };
        let losses = stream.count(&buffers, workers)?;
        folded.push((column, fold(&ColumnCount { sample, class, losses: Losses::Counts(losses) })));
    }
    let mut blocks = ClassBlocks::default();
    for tile in gathered.chunks(tile_width(sample, workers.threads())) {
        let columns = tile[0].1..tile[tile.len() - 1].1 + 1;
        blocks = ClassBlocks::gather(blocks, sample, &columns, workers)?;
        folded.extend(workers.map_with(tile.len(), BucketTable::default, |table, index| {
            let (class, column) = tile[index];
            let losses = Losses::Counts(count_column(sample, &blocks, (class, column), table, workers)?);
            Ok((column, fold(&ColumnCount { sample, class, losses })))
        })?);
    }
    folded.sort_by_key(|&(column, _)| column);
    Ok(folded.into_iter().map(|(_, value)| value).collect())
}

/// Whether the column of a class is read from the scores and cut by value: where tables outgrow the cache, and where
/// columns are so few that reading all of them for each costs less than a copy of them.
fn is_streamed<T: Score>(sample: &ScoredSample<'_, T>, class: usize) -> bool {
    const FEW_COLUMNS: usize = 4;
    const MANY_ROWS: usize = 1 << 18;
    const LARGEST_TABLE: u64 = 1 << 20;
    let has_few_columns = sample.scores.columns() <= FEW_COLUMNS && sample.rows() > MANY_ROWS;
    has_few_columns || sample.sizes.rows[class] > LARGEST_TABLE
}

/// Columns gathered at a time: half of them up to 16 classes, beyond that a sixth, so that the copy stays small beside the
/// scores; a column for each thread.
fn tile_width<T: Score>(sample: &ScoredSample<'_, T>, threads: usize) -> usize {
    match sample.scores.columns() {
        columns @ ..=WHOLE_MATRIX_CLASSES => columns.div_ceil(2).next_multiple_of(threads).min(columns),
        columns => (columns / 6).min(32),
    }
}

fn count_column<T: Score>(
    sample: &ScoredSample<'_, T>,
    blocks: &ClassBlocks<T>,
    (class, column): (usize, usize),
    table: &mut BucketTable<T>,
    workers: &Workers<'_>,
) -> Result<Vec<u64>> {
    /// Rows that one thread looks up in one go.
    const CHUNK: usize = 1 << 15;
    table.build(blocks.runs(class, column), None);
    let table = &*table;
    let chunks: Vec<(&ClassBlock<T>, usize)> = blocks
        .with_column(column)
        .flat_map(|block| (0..block.rows()).step_by(CHUNK).map(move |start| (block, start)))
        .collect();
    let parts = workers.map(chunks.len(), |chunk| {
        let (block, start) = chunks[chunk];
        let places = start..(start + CHUNK).min(block.rows());
        let runs = (0..sample.classes()).map(|d| match d {
            _ if d == class => &[][..],
            _ => block.run_within(d, column, places.clone()),
        });
        let mut losses = Vec::with_capacity(sample.classes());
        table.count_runs(runs, Lookup::PLAIN, &mut Vec::new(), |count| losses.push(count));
        Ok(losses)
    })?;
    let mut losses = vec![0; sample.classes()];
    for part in parts {
        losses.iter_mut().zip(part).for_each(|(loss, count)| *loss += count);
    }
    Ok(losses)
}

/// One column, read from the scores each time: side 0 is its class, the others follow in order.
struct ColumnStream<'s, 'a, T> {
    sample: &'s ScoredSample<'a, T>,
    class: usize,
    column: usize,
    spans: Vec<Range<usize>>,
}

impl<T: Score> ColumnStream<'_, '_, T> {
    fn class_of(&self, side: usize) -> usize {
        match side {
            0 => self.class,
            _ if side <= self.class => side - 1,
            _ => side,
        }
    }

    /// Twice the pairs each other class wins.
    fn count(&self, buffers: &Buffers<T>, workers: &Workers<'_>) -> Result<Vec<u64>> {
        let (counts, _) = count_partitioned(self, Lookup::PLAIN, buffers, workers)?;
        let mut losses = vec![0; self.sample.classes()];
        for (side, count) in counts.into_iter().enumerate().skip(1) {
            losses[self.class_of(side)] = count as u64;
        }
        Ok(losses)
    }

    fn scores(&self, rows: Range<usize>, mut visit: impl FnMut(usize, T)) {
        let scores = &self.sample.scores;
        self.sample.codes.for_each(rows, |row, class| visit(class, scores.get(row, self.column)));
    }
}

impl<T: Score> KeyStream<T> for ColumnStream<'_, '_, T> {
    fn spans(&self) -> usize {
        self.spans.len()
    }

    fn sides(&self) -> usize {
        self.sample.classes()
    }

    fn table_len(&self) -> usize {
        self.sample.sizes.rows[self.class] as usize
    }

    fn table_sample(&self, wanted: usize) -> Vec<T> {
        let mut sample = Vec::new();
        for rows in sample_spans(self.sample.rows(), wanted) {
            self.scores(rows, |class, score| {
                if class == self.class {
                    sample.push(score);
                }
            });
        }
        sample
    }

    fn for_each(&self, span: usize, visit: &mut dyn FnMut(&[T])) {
        let rows = self.spans[span].clone();
        let mut sides: Vec<Vec<T>> = (0..self.sides()).map(|_| Vec::with_capacity(rows.len() / 2)).collect();
        self.scores(rows, |class, score| sides[class].push(score));
        for side in 0..self.sides() {
            visit(&sides[self.class_of(side)]);
        }
    }
}
