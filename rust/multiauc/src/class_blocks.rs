//! The layout the kernels read: for each class and score column, one contiguous run of the class's scores.

use std::ops::Range;

use crate::error::Result;
use crate::memory;
use crate::parallel::Workers;
use crate::score_matrix::{Score, ScoreMatrix};
use crate::scored_sample::{ScoredSample, row_spans};

/// Rows copied at a time, so that a column's run is written a cache line or two at once.
const BATCH: usize = 16;

/// Row numbers grouped by class.
#[derive(Debug)]
pub(crate) struct GroupedRows {
    rows: Vec<u32>,
    /// `starts[class]..starts[class + 1]` are the rows of a class.
    starts: Vec<usize>,
}

impl GroupedRows {
    /// Groups a span of rows by class (one counting sort; increasing row numbers within a class).
    pub(crate) fn new<T: Score>(sample: &ScoredSample<'_, T>, span: Range<usize>) -> Self {
        let mut grouped = Self { rows: Vec::new(), starts: Vec::new() };
        grouped.regroup(sample, span);
        grouped
    }

    /// Groups another span, in the same memory.
    fn regroup<T: Score>(&mut self, sample: &ScoredSample<'_, T>, span: Range<usize>) {
        let Self { rows, starts } = self;
        starts.clear();
        starts.resize(sample.classes() + 2, 0);
        sample.codes.for_each(span.clone(), |_, class| starts[class + 2] += 1);
        for class in 2..starts.len() {
            starts[class] += starts[class - 1];
        }
        rows.resize(span.len(), 0);
        sample.codes.for_each(span, |row, class| {
            rows[starts[class + 1]] = row as u32;
            starts[class + 1] += 1;
        });
        starts.pop();
    }

    /// The rows of a class.
    pub(crate) fn of(&self, class: usize) -> &[u32] {
        &self.rows[self.starts[class]..self.starts[class + 1]]
    }
}

/// The scores of some consecutive classes in some consecutive columns.
#[derive(Debug)]
pub(crate) struct ClassBlock<T> {
    first_class: usize,
    first_column: usize,
    columns: usize,
    /// `starts[i]..starts[i + 1]` are the values of the i-th class: its columns one after the other.
    starts: Vec<usize>,
    values: Vec<T>,
}

impl<T: Score> ClassBlock<T> {
    /// Copies the scores of `classes` × `columns`.
    pub(crate) fn gather(
        scores: &ScoreMatrix<'_, T>,
        rows: &GroupedRows,
        classes: Range<usize>,
        columns: Range<usize>,
    ) -> Self {
        let sizes = classes.clone().map(|class| rows.of(class).len());
        let mut block = Self::empty(classes.start, sizes, &columns, Vec::new());
        for class in classes {
            block.fill(scores, class, 0, rows.of(class), &columns);
        }
        block
    }

    /// Copies the scores of all classes of a span of rows in some columns; `buffer` is used again.
    fn gather_span(sample: &ScoredSample<'_, T>, span: Range<usize>, columns: &Range<usize>, buffer: Vec<T>) -> Self {
        let classes = sample.classes();
        let mut sizes = vec![0; classes];
        sample.codes.for_each(span.clone(), |_, class| sizes[class] += 1);
        let mut block = Self::empty(0, sizes.into_iter(), columns, buffer);
        let mut filled = vec![0; classes];
        // Few enough rows that the second look at them finds them in the cache, enough for runs of some length.
        let step = (32 * classes).max(1024);
        let mut rows = GroupedRows::new(sample, span.start..span.start);
        for start in span.clone().step_by(step) {
            rows.regroup(sample, start..(start + step).min(span.end));
            for (class, filled) in filled.iter_mut().enumerate() {
                let of_class = rows.of(class);
                block.fill(&sample.scores, class, *filled, of_class, columns);
                *filled += of_class.len();
            }
        }
        block
    }

    fn empty(
        first_class: usize,
        sizes: impl Iterator<Item = usize>,
        columns: &Range<usize>,
        mut values: Vec<T>,
    ) -> Self {
        let mut starts = vec![0];
        for size in sizes {
            starts.push(starts[starts.len() - 1] + size * columns.len());
        }
        let length = starts[starts.len() - 1];
        if values.capacity() < length {
            values = memory::zeroed(length);
        } else {
            values.resize(length, T::ZERO);
        }
        Self { first_class, first_column: columns.start, columns: columns.len(), starts, values }
    }

    /// Writes the scores of some rows of a class into its runs, from the given place on.
    fn fill(&mut self, scores: &ScoreMatrix<'_, T>, class: usize, place: usize, rows: &[u32], columns: &Range<usize>) {
        let index = class - self.first_class;
        let values = &mut self.values[self.starts[index]..self.starts[index + 1]];
        let length = values.len() / self.columns;
        if scores.is_column_major() {
            for (run, column) in values.chunks_exact_mut(length.max(1)).zip(columns.clone()) {
                for (value, &row) in run[place..].iter_mut().zip(rows) {
                    *value = scores.get(row as usize, column);
                }
            }
            return;
        }
        for (batch, batch_rows) in rows.chunks(BATCH).enumerate() {
            let place = place + batch * BATCH;
            let mut lines = [&[][..]; BATCH];
            if !contiguous_lines(scores, batch_rows, columns, &mut lines) {
                for (run, column) in values.chunks_exact_mut(length).zip(columns.clone()) {
                    for (value, &row) in run[place..].iter_mut().zip(batch_rows) {
                        *value = scores.get(row as usize, column);
                    }
                }
            } else if batch_rows.len() == BATCH {
                copy_transposed(&lines, &mut values[place..], length);
            } else {
                copy_transposed(&lines[..batch_rows.len()], &mut values[place..], length);
            }
        }
    }

    /// The scores of a class in a column.
    pub(crate) fn run(&self, class: usize, column: usize) -> &[T] {
        let index = class - self.first_class;
        let values = &self.values[self.starts[index]..self.starts[index + 1]];
        let rows = values.len() / self.columns;
        &values[(column - self.first_column) * rows..][..rows]
    }
}

/// Some rows as slices of the wanted columns; `false` where the columns do not lie side by side.
#[inline(always)]
fn contiguous_lines<'a, T: Score>(
    scores: &ScoreMatrix<'a, T>,
    rows: &[u32],
    columns: &Range<usize>,
    lines: &mut [&'a [T]; BATCH],
) -> bool {
    for (line, &row) in lines.iter_mut().zip(rows) {
        let Some(whole) = scores.contiguous_row(row as usize) else { return false };
        *line = &whole[columns.clone()];
    }
    true
}

/// Writes entry i of line r to `values[i · length + r]`.
#[inline(always)]
fn copy_transposed<T: Score>(lines: &[&[T]], values: &mut [T], length: usize) {
    let columns = lines[0].len();
    for column in 0..columns {
        let run = &mut values[column * length..][..lines.len()];
        for (value, line) in run.iter_mut().zip(lines) {
            *value = line[column];
        }
    }
}

/// All classes in some columns, cut into spans of rows that were gathered in parallel.
#[derive(Debug, Default)]
pub(crate) struct ClassBlocks<T> {
    blocks: Vec<ClassBlock<T>>,
}

impl<T: Score> ClassBlocks<T> {
    /// Gathers some columns, in the memory of what was gathered before.
    pub(crate) fn gather(
        previous: Self,
        sample: &ScoredSample<'_, T>,
        columns: &Range<usize>,
        workers: &Workers<'_>,
    ) -> Result<Self> {
        let spans = row_spans(sample.rows(), 2, workers);
        let mut buffers: Vec<Vec<T>> = previous.blocks.into_iter().map(|block| block.values).collect();
        buffers.resize_with(spans.len(), Vec::new);
        let blocks = workers.map_chunks(&mut buffers, 1, |span, buffer| {
            Ok(ClassBlock::gather_span(sample, spans[span].clone(), columns, std::mem::take(&mut buffer[0])))
        })?;
        Ok(Self { blocks })
    }

    /// The scores of a class in a column: one slice per block.
    pub(crate) fn runs(&self, class: usize, column: usize) -> impl Iterator<Item = &[T]> + Clone {
        self.blocks.iter().map(move |block| block.run(class, column))
    }

    /// Number of blocks.
    pub(crate) fn len(&self) -> usize {
        self.blocks.len()
    }

    /// The scores of a class in a column of one block.
    pub(crate) fn run(&self, block: usize, class: usize, column: usize) -> &[T] {
        self.blocks[block].run(class, column)
    }
}
