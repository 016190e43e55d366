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

    /// Groups all rows that count, those of weight zero left out.
    pub(crate) fn present<T: Score>(sample: &ScoredSample<'_, T>) -> Self {
        let all = Self::new(sample, 0..sample.rows());
        if sample.weights.is_none() {
            return all;
        }
        let mut present = Self { rows: Vec::with_capacity(all.rows.len()), starts: vec![0] };
        for class in 0..sample.classes() {
            present.rows.extend(all.of(class).iter().filter(|&&row| sample.has_row(row as usize)));
            present.starts.push(present.rows.len());
        }
        present
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

/// The scores of some consecutive classes in some consecutive columns: column after column, in each class after class.
#[derive(Debug)]
pub(crate) struct ClassBlock<T> {
    first_class: usize,
    columns: Range<usize>,
    /// `starts[i]..starts[i + 1]` are the places of the i-th class in every column.
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
        let mut block = Self::empty(classes.start, sizes, columns, Vec::new());
        for class in classes {
            block.fill(scores, class, 0, rows.of(class));
        }
        block
    }

    /// Copies the scores of all classes of a span of rows in some columns; `buffer` is used again.
    fn gather_span(sample: &ScoredSample<'_, T>, span: Range<usize>, columns: Range<usize>, buffer: Vec<T>) -> Self {
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
                block.fill(&sample.scores, class, *filled, of_class);
                *filled += of_class.len();
            }
        }
        block
    }

    fn empty(
        first_class: usize,
        sizes: impl Iterator<Item = usize>,
        columns: Range<usize>,
        mut values: Vec<T>,
    ) -> Self {
        let mut starts = vec![0];
        for size in sizes {
            starts.push(starts[starts.len() - 1] + size);
        }
        let length = starts[starts.len() - 1] * columns.len();
        if values.capacity() < length {
            values = memory::zeroed(length);
        } else {
            values.resize(length, T::ZERO);
        }
        Self { first_class, columns, starts, values }
    }

    /// Writes the scores of some rows of a class into its runs, from the given place on.
    fn fill(&mut self, scores: &ScoreMatrix<'_, T>, class: usize, place: usize, rows: &[u32]) {
        let length = self.rows();
        let place = self.starts[class - self.first_class] + place;
        if scores.is_column_major() {
            for (run, column) in self.values.chunks_exact_mut(length.max(1)).zip(self.columns.clone()) {
                for (value, &row) in run[place..].iter_mut().zip(rows) {
                    *value = scores.get(row as usize, column);
                }
            }
            return;
        }
        for (batch, batch_rows) in rows.chunks(BATCH).enumerate() {
            let place = place + batch * BATCH;
            let mut lines = [&[][..]; BATCH];
            if !contiguous_lines(scores, batch_rows, &self.columns, &mut lines) {
                for (run, column) in self.values.chunks_exact_mut(length).zip(self.columns.clone()) {
                    for (value, &row) in run[place..].iter_mut().zip(batch_rows) {
                        *value = scores.get(row as usize, column);
                    }
                }
            } else if batch_rows.len() == BATCH {
                copy_transposed(&lines, &mut self.values[place..], length);
            } else {
                copy_transposed(&lines[..batch_rows.len()], &mut self.values[place..], length);
            }
        }
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.starts[self.starts.len() - 1]
    }

    /// The scores of a class in a column.
    pub(crate) fn run(&self, class: usize, column: usize) -> &[T] {
        self.run_within(class, column, 0..self.rows())
    }

    /// Those of them whose places in the column are within a range.
    pub(crate) fn run_within(&self, class: usize, column: usize, places: Range<usize>) -> &[T] {
        let index = class - self.first_class;
        let clamp = |place: usize| place.clamp(places.start, places.end);
        let first = (column - self.columns.start) * self.rows();
        &self.values[first + clamp(self.starts[index])..first + clamp(self.starts[index + 1])]
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

/// All classes in some columns, cut into blocks that were gathered in parallel.
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
        let cuts = cuts(sample, columns, workers);
        let mut buffers: Vec<Vec<T>> = previous.blocks.into_iter().map(|block| block.values).collect();
        buffers.resize_with(cuts.len(), Vec::new);
        let blocks = workers.map_chunks(&mut buffers, 1, |cut, buffer| {
            let (span, columns) = cuts[cut].clone();
            Ok(ClassBlock::gather_span(sample, span, columns, std::mem::take(&mut buffer[0])))
        })?;
        Ok(Self { blocks })
    }

    /// The blocks that have a column, in the order of their rows.
    pub(crate) fn with_column(&self, column: usize) -> impl Iterator<Item = &ClassBlock<T>> + Clone {
        self.blocks.iter().filter(move |block| block.columns.contains(&column))
    }

    /// The scores of a class in a column: one slice per block.
    pub(crate) fn runs(&self, class: usize, column: usize) -> impl Iterator<Item = &[T]> + Clone {
        self.with_column(column).map(move |block| block.run(class, column))
    }
}

/// Rows and columns of the blocks: spans of rows, or of columns where the runs of the classes would become short.
fn cuts<T: Score>(
    sample: &ScoredSample<'_, T>,
    columns: &Range<usize>,
    workers: &Workers<'_>,
) -> Vec<(Range<usize>, Range<usize>)> {
    const SHORT_RUN: usize = 256;
    const PER_THREAD: usize = 2;
    let spans = row_spans(sample.rows(), PER_THREAD, workers);
    if sample.rows() >= SHORT_RUN * spans.len() * sample.classes() {
        return spans.into_iter().map(|span| (span, columns.clone())).collect();
    }
    let count = columns.len().min(PER_THREAD * workers.threads());
    let column = |cut: usize| columns.start + cut * columns.len() / count;
    (0..count).map(|cut| (0..sample.rows(), column(cut)..column(cut + 1))).collect()
}
