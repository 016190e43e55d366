//! The layout the kernels read: for each class and score column, one contiguous run of the class's scores.

use std::ops::Range;

use super::class_rows::ClassRows;
use super::score_matrix::ScoreMatrix;
use super::scored_sample::ScoredSample;
use crate::error::Result;
use crate::float::Score;
use crate::memory;
use crate::parallel::Workers;
use crate::simd::{Simd, Vectorizable, run_widest};

/// Rows copied at a time, so that a column's run is written a cache line or two at a time.
const BATCH: usize = 16;
/// Scores that are grouped by class at a time, in bytes: a part of the second-level cache.
const SPAN_BYTES: usize = 1 << 17;
/// Blocks per thread, so that no thread waits long for another.
const BLOCKS_PER_THREAD: usize = 2;

/// The scores of some consecutive classes in some consecutive columns: column by column, and class by class within a
/// column.
#[derive(Debug)]
pub(crate) struct ClassBlock<T> {
    classes: Range<usize>,
    columns: Range<usize>,
    /// `starts[i]..starts[i + 1]` are the entries of the i-th class in every column.
    starts: Vec<usize>,
    values: Vec<T>,
}

impl<T: Score> ClassBlock<T> {
    /// Copies the scores of `classes` × `columns`.
    pub(crate) fn gather(
        scores: &ScoreMatrix<'_, T>,
        rows: &ClassRows,
        classes: Range<usize>,
        columns: Range<usize>,
    ) -> Self {
        Self::gather_into(Vec::new(), scores, rows, classes, columns)
    }

    /// The same, reusing a buffer.
    pub(crate) fn gather_into(
        buffer: Vec<T>,
        scores: &ScoreMatrix<'_, T>,
        rows: &ClassRows,
        classes: Range<usize>,
        columns: Range<usize>,
    ) -> Self {
        let sizes = classes.clone().map(|class| rows.of(class).len());
        let mut block = Self::empty(classes.clone(), sizes, columns, buffer);
        for (index, class) in classes.enumerate() {
            let place = block.starts[index];
            run_widest(CopyRows { block: &mut block, scores, place, rows: rows.of(class) });
        }
        block
    }

    /// Copies the scores of all classes of a span of rows in some columns.
    fn gather_span(buffer: Vec<T>, sample: &ScoredSample<'_, T>, span: Range<usize>, columns: Range<usize>) -> Self {
        let mut sizes = vec![0; sample.classes()];
        sample.codes.for_each(span.clone(), |_, class| sizes[class] += 1);
        let mut block = Self::empty(0..sizes.len(), sizes.into_iter(), columns, buffer);
        // A few rows at a time are grouped by class, and are still in the cache when they are copied.
        let width = size_of::<T>() * sample.scores.columns().max(1);
        let rows_at_a_time = (SPAN_BYTES / width).max(BATCH);
        let mut places = block.starts.clone();
        let mut grouped = Vec::new();
        for first in span.clone().step_by(rows_at_a_time) {
            let rows = first..(first + rows_at_a_time).min(span.end);
            let ends = group_rows(sample, rows, &mut grouped);
            let mut start = 0;
            for (place, &end) in places.iter_mut().zip(&ends) {
                let (rows, place_of_class) = (&grouped[start..end], *place);
                run_widest(CopyRows { block: &mut block, scores: &sample.scores, place: place_of_class, rows });
                *place += rows.len();
                start = end;
            }
        }
        block
    }

    fn empty(
        classes: Range<usize>,
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
            values = T::spare().take(length);
        }
        if values.capacity() < length {
            values = memory::zeroed(length);
        } else {
            values.resize(length, T::ZERO);
        }
        Self { classes, columns, starts, values }
    }

    /// Its memory, for another block.
    pub(crate) fn into_buffer(self) -> Vec<T> {
        self.values
    }

    /// The classes it has rows of.
    pub(crate) fn classes(&self) -> Range<usize> {
        self.classes.clone()
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.starts[self.starts.len() - 1]
    }

    /// The scores of a class in a column.
    pub(crate) fn run(&self, class: usize, column: usize) -> &[T] {
        self.run_within(class, column, 0..self.rows())
    }

    /// The part of them within a range of the column's entries.
    pub(crate) fn run_within(&self, class: usize, column: usize, places: Range<usize>) -> &[T] {
        let index = class - self.classes.start;
        let clamp = |place: usize| place.clamp(places.start, places.end);
        let first = (column - self.columns.start) * self.rows();
        &self.values[first + clamp(self.starts[index])..first + clamp(self.starts[index + 1])]
    }
}

/// Groups a range of rows by class; returns where each class ends.
fn group_rows<T: Score>(sample: &ScoredSample<'_, T>, rows: Range<usize>, grouped: &mut Vec<u32>) -> Vec<usize> {
    let mut ends = vec![0; sample.classes() + 1];
    sample.codes.for_each(rows.clone(), |_, class| ends[class + 1] += 1);
    for class in 1..ends.len() {
        ends[class] += ends[class - 1];
    }
    grouped.resize(rows.len(), 0);
    sample.codes.for_each(rows, |row, class| {
        grouped[ends[class]] = row as u32;
        ends[class] += 1;
    });
    ends.pop();
    ends
}

/// Writes the scores of some rows into the runs of a block, starting at `place`.
struct CopyRows<'c, 'a, T> {
    block: &'c mut ClassBlock<T>,
    scores: &'c ScoreMatrix<'a, T>,
    place: usize,
    rows: &'c [u32],
}

impl<T: Score> Vectorizable for CopyRows<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { block, scores, place, rows } = self;
        let (length, columns) = (block.rows(), block.columns.clone());
        let line = |row: u32| scores.contiguous_row(row as usize).map(|whole| &whole[columns.clone()]);
        if scores.is_column_major() || line(0).is_none() {
            for (run, column) in block.values.chunks_exact_mut(length.max(1)).zip(columns.clone()) {
                for (value, &row) in run[place..].iter_mut().zip(rows) {
                    *value = scores.get(row as usize, column);
                }
            }
            return;
        }
        for (batch, batch_rows) in rows.chunks(BATCH).enumerate() {
            let mut lines = [&[][..]; BATCH];
            lines.iter_mut().zip(batch_rows).for_each(|(entry, &row)| *entry = line(row).unwrap_or(&[]));
            for &row in rows.iter().skip((batch + 2) * BATCH).take(BATCH) {
                // The rows of a class are scattered: the hardware cannot predict where the next ones are.
                for score in line(row).unwrap_or(&[]).iter().step_by(64 / size_of::<T>()) {
                    simd.prefetch(score);
                }
            }
            let values = &mut block.values[place + batch * BATCH..];
            if batch_rows.len() == BATCH {
                copy_transposed(&lines, columns.len(), values, length);
            } else {
                for (column, run) in values.chunks_mut(length).take(columns.len()).enumerate() {
                    run.iter_mut().zip(&lines[..batch_rows.len()]).for_each(|(value, line)| *value = line[column]);
                }
            }
        }
    }
}

/// Writes entry i of line r to `values[i · length + r]`.
#[inline(always)]
fn copy_transposed<T: Score>(lines: &[&[T]; BATCH], columns: usize, values: &mut [T], length: usize) {
    const SIDE: usize = 4;
    for first in (0..columns / SIDE * SIDE).step_by(SIDE) {
        for rows in (0..BATCH).step_by(SIDE) {
            // Four by four, in loops that the compiler unrolls and turns into moves between registers. (An array from
            // a closure would be a call, compiled without wide vectors.)
            let mut square = [[T::ZERO; SIDE]; SIDE];
            for (entries, line) in square.iter_mut().zip(&lines[rows..]) {
                *entries = *line[first..].first_chunk().expect("four columns");
            }
            for column in 0..SIDE {
                let mut turned = [T::ZERO; SIDE];
                for row in 0..SIDE {
                    turned[row] = square[row][column];
                }
                *values[(first + column) * length + rows..].first_chunk_mut().expect("room for a batch") = turned;
            }
        }
    }
    for column in columns / SIDE * SIDE..columns {
        let run = &mut values[column * length..][..BATCH];
        run.iter_mut().zip(lines).for_each(|(value, line)| *value = line[column]);
    }
}

/// Classes in some columns, in blocks that were gathered in parallel.
#[derive(Debug)]
pub(crate) struct ClassBlocks<T: Score> {
    blocks: Vec<ClassBlock<T>>,
}

impl<T: Score> Drop for ClassBlocks<T> {
    fn drop(&mut self) {
        for block in self.blocks.drain(..) {
            T::spare().give(block.into_buffer());
        }
    }
}

impl<T: Score> Default for ClassBlocks<T> {
    fn default() -> Self {
        Self { blocks: Vec::new() }
    }
}

impl<T: Score> ClassBlocks<T> {
    /// Gathers some columns in blocks of rows, reusing the memory of `previous`. For few classes.
    pub(crate) fn gather_rows(
        previous: Self,
        sample: &ScoredSample<'_, T>,
        columns: &Range<usize>,
        workers: &Workers<'_>,
    ) -> Result<Self> {
        let spans = workers.row_spans(sample.rows(), BLOCKS_PER_THREAD);
        Self::gather(previous, spans.len(), workers, |block, buffer| {
            ClassBlock::gather_span(buffer, sample, spans[block].clone(), columns.clone())
        })
    }

    /// The same for some classes, in blocks of classes. For many classes, whose rows are grouped already.
    pub(crate) fn gather_classes(
        previous: Self,
        scores: &ScoreMatrix<'_, T>,
        rows: &ClassRows,
        classes: &Range<usize>,
        columns: &Range<usize>,
        workers: &Workers<'_>,
    ) -> Result<Self> {
        let count = if workers.threads() == 1 { 1 } else { classes.len().min(BLOCKS_PER_THREAD * workers.threads()) };
        let (before, all) = (rows.range(classes.start).start, rows.positions(classes).len());
        // The first class that begins in the block's part of the rows.
        let first = |block: usize| {
            let begins_before = |class: &usize| rows.range(*class).start < before + block * all / count;
            classes.start + classes.clone().take_while(begins_before).count()
        };
        Self::gather(previous, count, workers, |block, buffer| {
            let last = if block + 1 == count { classes.end } else { first(block + 1) };
            ClassBlock::gather_into(buffer, scores, rows, first(block)..last, columns.clone())
        })
    }

    fn gather(
        mut previous: Self,
        count: usize,
        workers: &Workers<'_>,
        block: impl Fn(usize, Vec<T>) -> ClassBlock<T> + Sync,
    ) -> Result<Self> {
        let mut buffers: Vec<Vec<T>> = previous.blocks.drain(..).map(ClassBlock::into_buffer).collect();
        buffers.resize_with(count, Vec::new);
        let blocks =
            workers.map_chunks(&mut buffers, 1, |index, buffer| Ok(block(index, std::mem::take(&mut buffer[0]))))?;
        Ok(Self { blocks })
    }

    /// The blocks; each has all the columns.
    pub(crate) fn blocks(&self) -> &[ClassBlock<T>] {
        &self.blocks
    }

    /// The scores of a class in a column as one slice. Only for blocks of classes.
    pub(crate) fn run(&self, class: usize, column: usize) -> &[T] {
        let holder = self.blocks.partition_point(|block| block.classes.end <= class);
        self.blocks[holder].run(class, column)
    }

    /// The scores of a class in a column: one slice per block.
    pub(crate) fn runs(&self, class: usize, column: usize) -> impl Iterator<Item = &[T]> + Clone {
        self.blocks
            .iter()
            .filter(move |block| block.classes.contains(&class))
            .map(move |block| block.run(class, column))
    }
}
