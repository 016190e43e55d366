//! The layout the kernels read: for each class and score column, one contiguous run of the class's scores.

use std::ops::Range;

use crate::error::Result;
use crate::parallel::Workers;
use crate::scored_sample::{Score, ScoreMatrix, ScoredSample, row_spans};

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
        let classes = sample.classes();
        let mut starts = vec![0; classes + 2];
        if span.len() == sample.rows() && sample.weights.is_none() {
            for (class, &rows) in sample.sizes.rows.iter().enumerate() {
                starts[class + 2] = rows as usize;
            }
        } else {
            sample.codes.for_each(span.clone(), |_, class| starts[class + 2] += 1);
        }
        for class in 2..starts.len() {
            starts[class] += starts[class - 1];
        }
        let mut rows = vec![0; span.len()];
        sample.codes.for_each(span, |row, class| {
            rows[starts[class + 1]] = row as u32;
            starts[class + 1] += 1;
        });
        starts.pop();
        Self { rows, starts }
    }

    /// The rows of a class.
    pub(crate) fn of(&self, class: usize) -> &[u32] {
        &self.rows[self.starts[class]..self.starts[class + 1]]
    }

    /// Number of rows of some consecutive classes.
    pub(crate) fn count(&self, classes: Range<usize>) -> usize {
        self.starts[classes.end] - self.starts[classes.start]
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
        let mut starts = vec![0];
        let mut values = Vec::with_capacity(rows.count(classes.clone()) * columns.len());
        for class in classes.clone() {
            append_transposed(scores, rows.of(class), columns.clone(), &mut values);
            starts.push(values.len());
        }
        Self { first_class: classes.start, first_column: columns.start, columns: columns.len(), starts, values }
    }

    /// The scores of a class in a column.
    pub(crate) fn run(&self, class: usize, column: usize) -> &[T] {
        let index = class - self.first_class;
        let values = &self.values[self.starts[index]..self.starts[index + 1]];
        let rows = values.len() / self.columns;
        &values[(column - self.first_column) * rows..][..rows]
    }
}

/// Appends the columns of some rows, one column after the other.
fn append_transposed<T: Score>(
    scores: &ScoreMatrix<'_, T>,
    rows: &[u32],
    columns: Range<usize>,
    values: &mut Vec<T>,
) {
    if scores.is_column_major() || rows.len() < BATCH {
        for column in columns {
            values.extend(rows.iter().map(|&row| scores.get(row as usize, column)));
        }
        return;
    }
    let first = values.len();
    values.resize(first + rows.len() * columns.len(), T::ZERO);
    let target = &mut values[first..];
    for (batch, batch_rows) in rows.chunks(BATCH).enumerate() {
        let place = batch * BATCH;
        if let Some(lines) = contiguous_lines(scores, batch_rows, &columns) {
            for column in 0..columns.len() {
                let run = &mut target[column * rows.len() + place..][..BATCH];
                for (value, line) in run.iter_mut().zip(&lines) {
                    *value = line[column];
                }
            }
        } else {
            for (index, column) in columns.clone().enumerate() {
                let run = &mut target[index * rows.len() + place..][..batch_rows.len()];
                for (value, &row) in run.iter_mut().zip(batch_rows) {
                    *value = scores.get(row as usize, column);
                }
            }
        }
    }
}

/// A full batch of rows as slices, where the columns lie side by side.
fn contiguous_lines<'a, T: Score>(
    scores: &ScoreMatrix<'a, T>,
    rows: &[u32],
    columns: &Range<usize>,
) -> Option<[&'a [T]; BATCH]> {
    let rows: &[u32; BATCH] = rows.try_into().ok()?;
    scores.contiguous_row(rows[0] as usize)?;
    Some(rows.map(|row| scores.contiguous_row(row as usize).map_or(&[][..], |line| &line[columns.clone()])))
}

/// All classes in some columns, cut into spans of rows that were gathered in parallel.
#[derive(Debug)]
pub(crate) struct ClassBlocks<T> {
    blocks: Vec<ClassBlock<T>>,
}

impl<T: Score> ClassBlocks<T> {
    pub(crate) fn gather(
        sample: &ScoredSample<'_, T>,
        columns: Range<usize>,
        workers: &Workers<'_>,
    ) -> Result<Self> {
        let spans = row_spans(sample.rows(), workers);
        let blocks = workers.map(spans.len(), |span| {
            let rows = GroupedRows::new(sample, spans[span].clone());
            Ok(ClassBlock::gather(&sample.scores, &rows, 0..sample.classes(), columns.clone()))
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
