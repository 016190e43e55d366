//! Column c ranks the rows: twice the pairs that each other class wins against class c.

use std::ops::Range;

use super::tiles::{ColumnTiling, WHOLE_MATRIX_CLASSES};
use super::weighted;
use super::wins::Wins;
use crate::error::Result;
use crate::float::Score;
use crate::memory::Buffers;
use crate::parallel::Workers;
use crate::ranking::{
    BucketTable, KeyStream, Lookup, WeightedTable, WeightedWins, count_key_stream, sample_spans, stream_spans,
};
use crate::sample::{ClassBlock, ClassBlocks, ClassRows, ScoredSample};

/// The count of one column: class c against every other class.
pub(crate) struct ColumnCount<'s, 'a, T> {
    sample: &'s ScoredSample<'a, T>,
    pub(crate) class: usize,
    losses: Losses,
}

/// Twice the pairs that others win, ties counting one.
enum Losses {
    /// By class.
    Counts(Vec<u64>),
    /// Of all other classes together.
    Pooled(u64),
    /// What is won and lost by weight, by class.
    Weights(Vec<WeightedWins>),
}

/// What is counted against the other classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rest {
    /// The losses to each.
    ByClass,
    /// The losses to all of them together, which may be counted faster.
    Pooled,
}

impl Rest {
    /// Sides of a column: its class, and each of the others or all of them together.
    const fn sides(self, classes: usize) -> usize {
        match self {
            Self::ByClass => classes,
            Self::Pooled => 2,
        }
    }
}

impl<T: Score> ColumnCount<'_, '_, T> {
    /// The other present classes.
    pub(crate) fn others(&self) -> impl Iterator<Item = usize> + Clone {
        self.sample.present_classes().filter(move |&d| d != self.class)
    }

    /// What the class wins against class d: A(c|d). Only if losses were counted by class.
    pub(crate) fn wins(&self, d: usize) -> Wins {
        self.wins_over(std::iter::once(d), |losses: &[u64]| losses[d])
    }

    /// What the class wins against all others pooled.
    pub(crate) fn wins_over_rest(&self) -> Wins {
        self.wins_over(self.others(), |losses: &[u64]| self.others().map(|d| losses[d]).sum())
    }

    fn wins_over(&self, others: impl Iterator<Item = usize> + Clone, lost: impl Fn(&[u64]) -> u64) -> Wins {
        let rows = &self.sample.sizes.rows;
        let sizes = [rows[self.class], others.clone().map(|d| rows[d]).sum()];
        let counted = |losses: u64| Wins::counted(2 * sizes[0] * sizes[1] - losses, sizes);
        match &self.losses {
            Losses::Counts(losses) => counted(lost(losses)),
            Losses::Pooled(losses) => counted(*losses),
            Losses::Weights(losses) => {
                Wins::Weighted(others.map(|d| losses[d]).fold(WeightedWins::default(), WeightedWins::plus))
            }
        }
    }
}

/// `fold(column)` for the column of every present class, in class order.
pub(crate) fn fold_columns<T: Score, R: Send>(
    sample: &ScoredSample<'_, T>,
    rest: Rest,
    workers: &Workers<'_>,
    fold: impl Fn(&ColumnCount<'_, '_, T>) -> R + Sync,
) -> Result<Vec<R>> {
    let present: Vec<usize> = sample.present_classes().collect();
    count_columns(sample, &present, rest, workers, fold)
}

/// `fold(column)` for the columns of some classes, a few columns gathered at a time.
pub(crate) fn count_columns<T: Score, R: Send>(
    sample: &ScoredSample<'_, T>,
    wanted: &[usize],
    rest: Rest,
    workers: &Workers<'_>,
    fold: impl Fn(&ColumnCount<'_, '_, T>) -> R + Sync,
) -> Result<Vec<R>> {
    let (streamed, gathered): (Vec<_>, Vec<_>) = wanted.iter().partition(|&&class| is_streamed(sample, class));
    let mut folded = Vec::with_capacity(wanted.len());
    // One at a time, each on all threads: their copies would not all fit in memory at once.
    let buffers = Buffers::default();
    for class in streamed {
        let table_len = sample.sizes.rows[class] as usize;
        let spans = stream_spans(sample.rows(), table_len, rest.sides(sample.classes()), workers);
        let losses = ColumnStream { sample, class, rest, spans }.count(&buffers, workers)?;
        folded.push((class, fold(&ColumnCount { sample, class, losses })));
    }
    folded.extend(count_gathered(sample, workers, &gathered, &fold)?);
    folded.sort_by_key(|&(class, _)| class);
    Ok(folded.into_iter().map(|(_, value)| value).collect())
}

/// Whether the column of a class is read from the scores and split by value: where its table outgrows the cache, and
/// where there are so few columns that reading past the others costs less than copying them all.
fn is_streamed<T: Score>(sample: &ScoredSample<'_, T>, class: usize) -> bool {
    const FEW_COLUMNS: usize = 4;
    const MANY_ROWS: usize = 1 << 18;
    const LARGEST_TABLE: u64 = 1 << 20;
    let has_few_columns = sample.classes() <= FEW_COLUMNS && sample.rows() > MANY_ROWS;
    sample.weights.is_none() && (has_few_columns || sample.sizes.rows[class] > LARGEST_TABLE)
}

/// (class, `fold(column)`) for some classes, a tile of columns gathered at a time.
fn count_gathered<T: Score, R: Send>(
    sample: &ScoredSample<'_, T>,
    workers: &Workers<'_>,
    wanted: &[usize],
    fold: &(impl Fn(&ColumnCount<'_, '_, T>) -> R + Sync),
) -> Result<Vec<(usize, R)>> {
    let ColumnTiling { width, is_shared } = ColumnTiling::of(sample, workers.threads());
    let tiles: Vec<&[usize]> = wanted.chunks(width).collect();
    let has_weights = sample.weights.is_some();
    let is_grouped = has_weights || sample.classes() > WHOLE_MATRIX_CLASSES;
    let rows = is_grouped.then(|| ClassRows::new(sample, workers)).transpose()?;
    // Either all threads work on one tile, or each on its own.
    let (across, within) = if is_shared { (&workers.alone(), workers) } else { (workers, &workers.alone()) };
    let folded = across.map_with(tiles.len(), ClassBlocks::default, |blocks, tile| {
        let tile = tiles[tile];
        let (columns, previous) = (tile[0]..tile[tile.len() - 1] + 1, std::mem::take(blocks));
        *blocks = match &rows {
            Some(rows) => {
                let classes = 0..sample.classes();
                ClassBlocks::gather_classes(previous, &sample.scores, rows, &classes, &columns, within)?
            }
            None => ClassBlocks::gather_rows(previous, sample, &columns, within)?,
        };
        let scratch = || (BucketTable::default(), WeightedTable::default());
        within.map_with(tile.len(), scratch, |(table, weighted_table), index| {
            let class = tile[index];
            let losses = match &rows {
                Some(rows) if has_weights => {
                    Losses::Weights(weighted::column_wins(rows, blocks, class, weighted_table, within)?)
                }
                _ => Losses::Counts(count_column(sample, blocks, class, table, within)?),
            };
            Ok((class, fold(&ColumnCount { sample, class, losses })))
        })
    })?;
    Ok(folded.into_iter().flatten().collect())
}

fn count_column<T: Score>(
    sample: &ScoredSample<'_, T>,
    blocks: &ClassBlocks<T>,
    class: usize,
    table: &mut BucketTable<T>,
    workers: &Workers<'_>,
) -> Result<Vec<u64>> {
    /// Rows that a thread looks up at a time.
    const CHUNK: usize = 1 << 15;
    table.build(blocks.runs(class, class), None);
    let table = &*table;
    let chunks: Vec<(&ClassBlock<T>, usize)> = blocks
        .blocks()
        .iter()
        .flat_map(|block| (0..block.rows()).step_by(CHUNK).map(move |start| (block, start)))
        .collect();
    let parts = workers.map(chunks.len(), |chunk| {
        let (block, start) = chunks[chunk];
        let places = start..(start + CHUNK).min(block.rows());
        let runs = block.classes().map(|d| match d {
            _ if d == class => &[][..],
            _ => block.run_within(d, class, places.clone()),
        });
        let mut losses = Vec::with_capacity(block.classes().len());
        table.count_runs(runs, |count| losses.push(count));
        Ok((block.classes().start, losses))
    })?;
    let mut losses = vec![0; sample.classes()];
    for (first, part) in parts {
        losses[first..].iter_mut().zip(part).for_each(|(loss, count)| *loss += count);
    }
    Ok(losses)
}

/// One column, read from the scores each time: side 0 is its class; the others follow in order, or are one side.
struct ColumnStream<'s, 'a, T> {
    sample: &'s ScoredSample<'a, T>,
    class: usize,
    rest: Rest,
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

    /// Twice the pairs that others win.
    fn count(&self, buffers: &Buffers<T>, workers: &Workers<'_>) -> Result<Losses> {
        let (counts, _) = count_key_stream(self, Lookup::PLAIN, buffers, workers)?;
        if self.rest == Rest::Pooled {
            return Ok(Losses::Pooled(counts[1] as u64));
        }
        let mut losses = vec![0; self.sample.classes()];
        for (side, count) in counts.into_iter().enumerate().skip(1) {
            losses[self.class_of(side)] = count as u64;
        }
        Ok(Losses::Counts(losses))
    }

    /// Writes the scores by class and returns where each class is.
    fn scatter(&self, rows: Range<usize>, memory: &mut Vec<T>) -> Vec<Range<usize>> {
        let mut runs = vec![0..0; self.sides()];
        self.sample.codes.for_each(rows.clone(), |_, class| runs[class].end += 1);
        let mut start = 0;
        for run in &mut runs {
            let length = run.end;
            *run = start..start;
            start += length;
        }
        memory.resize(rows.len(), T::ZERO);
        self.scores(rows, |class, score| {
            memory[runs[class].end] = score;
            runs[class].end += 1;
        });
        runs
    }

    /// The same for few runs, where it is faster: every score is written to every run, but only its own run grows. The
    /// ends of the runs stay in registers; in memory, each score would wait for the one before.
    fn split<const RUNS: usize>(
        &self,
        rows: Range<usize>,
        memory: &mut Vec<T>,
        run_of: impl Fn(usize) -> usize,
    ) -> Vec<Range<usize>> {
        let length = rows.len();
        memory.resize(RUNS * length, T::ZERO);
        let mut ends: [usize; RUNS] = std::array::from_fn(|run| run * length);
        self.scores(rows, |class, score| {
            let own = run_of(class);
            for (run, end) in ends.iter_mut().enumerate() {
                memory[*end] = score;
                *end += usize::from(run == own);
            }
        });
        ends.into_iter().enumerate().map(|(run, end)| run * length..end).collect()
    }

    fn scores(&self, rows: Range<usize>, mut visit: impl FnMut(usize, T)) {
        let scores = &self.sample.scores;
        self.sample.codes.for_each(rows, |row, class| visit(class, scores.get(row, self.class)));
    }
}

impl<T: Score> KeyStream<T> for ColumnStream<'_, '_, T> {
    fn spans(&self) -> usize {
        self.spans.len()
    }

    fn sides(&self) -> usize {
        self.rest.sides(self.sample.classes())
    }

    fn table_len(&self) -> usize {
        self.sample.sizes.rows[self.class] as usize
    }

    fn table_sample(&self, wanted: usize) -> Result<Vec<T>> {
        let mut sample = Vec::new();
        for rows in sample_spans(self.sample.rows(), wanted) {
            self.scores(rows, |class, score| {
                if class == self.class {
                    sample.push(score);
                }
            });
        }
        Ok(sample)
    }

    fn for_each(&self, span: usize, memory: &mut Vec<T>, visit: &mut dyn FnMut(&[T])) -> Result<()> {
        let rows = self.spans[span].clone();
        if self.rest == Rest::Pooled {
            let runs = self.split::<2>(rows, memory, |class| usize::from(class != self.class));
            for run in runs {
                visit(&memory[run]);
            }
            return Ok(());
        }
        let runs = match self.sides() {
            2 => self.split::<2>(rows, memory, |class| class),
            3 => self.split::<3>(rows, memory, |class| class),
            4 => self.split::<4>(rows, memory, |class| class),
            _ => self.scatter(rows, memory),
        };
        for side in 0..self.sides() {
            visit(&memory[runs[self.class_of(side)].clone()]);
        }
        Ok(())
    }
}
