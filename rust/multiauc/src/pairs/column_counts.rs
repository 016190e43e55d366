//! Column c ranks the rows: twice the pairs that each other class wins against class c.

use std::ops::Range;

use super::averages::ratio;
use super::pair_counts::WHOLE_MATRIX_CLASSES;
use super::weighted;
use crate::error::Result;
use crate::float::Score;
use crate::memory::Buffers;
use crate::parallel::Workers;
use crate::ranking::{BucketTable, KeyStream, Lookup, count_partitioned, sample_spans, stream_spans};
use crate::sample::ScoredSample;
use crate::sample::{ClassBlock, ClassBlocks, GroupedRows};

/// One column counted: class c against every other class.
pub(crate) struct ColumnCount<'s, 'a, T> {
    sample: &'s ScoredSample<'a, T>,
    pub(crate) class: usize,
    pub(crate) losses: Losses,
}

/// Twice the pairs that others win, ties counting one.
pub(crate) enum Losses {
    /// By class.
    Counts(Vec<u64>),
    /// Of all other classes together.
    Pooled(u64),
    /// By class.
    Weights(Vec<f64>),
}

/// What is asked about the other classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rest {
    /// The losses to each.
    ByClass,
    /// The losses to all of them together, which may be counted faster.
    Pooled,
}

impl Rest {
    /// Sides of a column: its class, and the others or all of them as one.
    const fn sides(self, classes: usize) -> usize {
        match self {
            Self::ByClass => classes,
            Self::Pooled => 2,
        }
    }
}

impl<T: Score> ColumnCount<'_, '_, T> {
    /// The other present classes.
    pub(crate) fn others(&self) -> impl Iterator<Item = usize> {
        let rows = &self.sample.sizes.rows;
        (0..rows.len()).filter(move |&d| d != self.class && rows[d] > 0)
    }

    fn doubled_pairs(&self, d: usize) -> u64 {
        2 * self.sample.sizes.rows[self.class] * self.sample.sizes.rows[d]
    }

    pub(crate) fn doubled_wins(&self, d: usize) -> u64 {
        match &self.losses {
            Losses::Counts(losses) => self.doubled_pairs(d) - losses[d],
            Losses::Pooled(_) => unreachable!("the losses to each class were not asked for"),
            Losses::Weights(_) => unreachable!("weighted rows have shares, not counts"),
        }
    }

    /// Twice the pairs won against all other classes, and twice all those pairs.
    pub(crate) fn doubled_wins_over_rest(&self) -> (u128, u128) {
        let pairs = self.others().map(|d| u128::from(self.doubled_pairs(d))).sum();
        let wins = match &self.losses {
            Losses::Pooled(losses) => pairs - u128::from(*losses),
            _ => self.others().map(|d| u128::from(self.doubled_wins(d))).sum(),
        };
        (wins, pairs)
    }

    /// A(c|d).
    pub(crate) fn share(&self, d: usize) -> f64 {
        match &self.losses {
            Losses::Weights(losses) => {
                let weights = &self.sample.sizes.weights;
                1.0 - losses[d] / (2.0 * weights[self.class] * weights[d])
            }
            _ => ratio(self.doubled_wins(d).into(), self.doubled_pairs(d).into()),
        }
    }

    /// The AUC against all other classes pooled.
    pub(crate) fn share_of_rest(&self) -> f64 {
        if let Losses::Weights(losses) = &self.losses {
            let rest: f64 = self.others().map(|d| self.sample.sizes.weights[d]).sum();
            let lost: f64 = self.others().map(|d| losses[d]).sum();
            return 1.0 - lost / (2.0 * self.sample.sizes.weights[self.class] * rest);
        }
        let (wins, pairs) = self.doubled_wins_over_rest();
        ratio(wins, pairs)
    }
}

/// `fold(column)` for the column of every present class, in class order.
pub(crate) fn fold_columns<T: Score, R: Send>(
    sample: &ScoredSample<'_, T>,
    rest: Rest,
    workers: &Workers<'_>,
    fold: impl Fn(&ColumnCount<'_, '_, T>) -> R + Sync,
) -> Result<Vec<R>> {
    let present: Vec<(usize, usize)> =
        (0..sample.classes()).filter(|&class| sample.sizes.rows[class] > 0).map(|class| (class, class)).collect();
    count_columns(sample, &present, rest, workers, fold)
}

/// `fold(column)` for some (class, column), a few columns gathered at a time.
pub(crate) fn count_columns<T: Score, R: Send>(
    sample: &ScoredSample<'_, T>,
    wanted: &[(usize, usize)],
    rest: Rest,
    workers: &Workers<'_>,
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
        let spans = stream_spans(sample.rows(), table_len, rest.sides(sample.classes()), workers);
        let losses = ColumnStream { sample, class, column, rest, spans }.count(&buffers, workers)?;
        folded.push((column, fold(&ColumnCount { sample, class, losses })));
    }
    folded.extend(count_gathered(sample, workers, &gathered, &fold)?);
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

/// (column, `fold(column)`) for some (class, column), a tile of columns gathered at a time.
fn count_gathered<T: Score, R: Send>(
    sample: &ScoredSample<'_, T>,
    workers: &Workers<'_>,
    wanted: &[(usize, usize)],
    fold: &(impl Fn(&ColumnCount<'_, '_, T>) -> R + Sync),
) -> Result<Vec<(usize, R)>> {
    let Tiling { width, is_shared } = Tiling::of(sample, workers.threads());
    let tiles: Vec<&[(usize, usize)]> = wanted.chunks(width).collect();
    let rows = (sample.classes() > WHOLE_MATRIX_CLASSES).then(|| GroupedRows::new(sample));
    // Either all threads work on one tile, or each on its own.
    let (across, within) = if is_shared { (&workers.alone(), workers) } else { (workers, &workers.alone()) };
    let folded = across.map_with(tiles.len(), ClassBlocks::default, |blocks, tile| {
        let tile = tiles[tile];
        let (columns, previous) = (tile[0].1..tile[tile.len() - 1].1 + 1, std::mem::take(blocks));
        *blocks = match &rows {
            Some(rows) => ClassBlocks::gather_classes(previous, &sample.scores, rows, &columns, within)?,
            None => ClassBlocks::gather_rows(previous, sample, &columns, within)?,
        };
        within.map_with(tile.len(), BucketTable::default, |table, index| {
            let (class, column) = tile[index];
            let losses = Losses::Counts(count_column(sample, blocks, (class, column), table, within)?);
            Ok((column, fold(&ColumnCount { sample, class, losses })))
        })
    })?;
    Ok(folded.into_iter().flatten().collect())
}

/// How columns are gathered: so few at a time that the copy stays small beside the scores.
struct Tiling {
    width: usize,
    /// Whether all threads share a tile.
    is_shared: bool,
}

impl Tiling {
    /// Half of the columns at a time up to 16 classes, beyond that a sixth; a tile for each thread if they are not narrow.
    fn of<T: Score>(sample: &ScoredSample<'_, T>, threads: usize) -> Self {
        const NARROW: usize = 4;
        const WIDE: usize = 16;
        let columns = sample.scores.columns();
        if sample.classes() <= WHOLE_MATRIX_CLASSES {
            let width = columns.div_ceil(2).next_multiple_of(threads).min(columns);
            return Self { width, is_shared: true };
        }
        let at_a_time = columns / 6;
        match at_a_time / threads {
            NARROW.. => Self { width: (at_a_time / threads).min(WIDE), is_shared: false },
            _ => Self { width: at_a_time.clamp(1, 2 * WIDE), is_shared: true },
        }
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
        .blocks()
        .iter()
        .flat_map(|block| (0..block.rows()).step_by(CHUNK).map(move |start| (block, start)))
        .collect();
    let parts = workers.map(chunks.len(), |chunk| {
        let (block, start) = chunks[chunk];
        let places = start..(start + CHUNK).min(block.rows());
        let runs = block.classes().map(|d| match d {
            _ if d == class => &[][..],
            _ => block.run_within(d, column, places.clone()),
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

/// One column, read from the scores each time: side 0 is its class, the others follow in order or are one.
struct ColumnStream<'s, 'a, T> {
    sample: &'s ScoredSample<'a, T>,
    class: usize,
    column: usize,
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
        let (counts, _) = count_partitioned(self, Lookup::PLAIN, buffers, workers)?;
        if self.rest == Rest::Pooled {
            return Ok(Losses::Pooled(counts[1] as u64));
        }
        let mut losses = vec![0; self.sample.classes()];
        for (side, count) in counts.into_iter().enumerate().skip(1) {
            losses[self.class_of(side)] = count as u64;
        }
        Ok(Losses::Counts(losses))
    }

    /// Writes the scores by class and tells where each class is.
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

    /// The same for few runs, where it is faster: every score is written for every run, and kept where a run becomes
    /// longer. The ends of the runs stay in registers; in memory each score would wait for the one before.
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
        self.sample.codes.for_each(rows, |row, class| visit(class, scores.get(row, self.column)));
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

    fn for_each(&self, span: usize, memory: &mut Vec<T>, visit: &mut dyn FnMut(&[T])) {
        let rows = self.spans[span].clone();
        if self.rest == Rest::Pooled {
            let runs = self.split::<2>(rows, memory, |class| usize::from(class != self.class));
            return runs.into_iter().for_each(|run| visit(&memory[run]));
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
    }
}
