//! Stored scores as they are in memory: compressed rows (CSR), with column numbers of either width.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::float::Score;

/// The columns of the stored entries.
#[derive(Debug, Clone, Copy)]
pub enum ColumnNumbers<'a> {
    /// In four bytes.
    Ints(&'a [i32]),
    /// In eight.
    Longs(&'a [i64]),
}

impl ColumnNumbers<'_> {
    const fn len(&self) -> usize {
        match self {
            Self::Ints(columns) => columns.len(),
            Self::Longs(columns) => columns.len(),
        }
    }

    #[inline]
    fn get(&self, place: usize) -> i64 {
        match self {
            Self::Ints(columns) => columns[place].into(),
            Self::Longs(columns) => columns[place],
        }
    }
}

/// An n × K matrix of scores, most of which are 0 and not stored. Borrowed, and checked as it is read.
#[derive(Debug, Clone, Copy)]
pub struct SparseScores<'a, T> {
    values: &'a [T],
    columns: ColumnNumbers<'a>,
    starts: &'a [i64],
    width: usize,
}

impl<'a, T: Score> SparseScores<'a, T> {
    /// The matrix of `width` columns whose row r has the values `starts[r]..starts[r + 1]`, in any order. Several values of
    /// one cell are added, in the order in which they are stored.
    ///
    /// # Errors
    /// [`Error::RowStartsOutOfBounds`], [`Error::TooLarge`].
    pub fn new(values: &'a [T], columns: ColumnNumbers<'a>, starts: &'a [i64], width: usize) -> Result<Self> {
        let rows = starts.len().saturating_sub(1);
        if rows as u64 > 1 << 32 || width as u64 > 1 << 32 {
            return Err(Error::TooLarge { rows, columns: width });
        }
        let scores = Self { values, columns, starts, width };
        (0..rows).try_for_each(|row| scores.places(row).map(|_| ()))?;
        Ok(scores)
    }

    /// Number of rows.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Number of columns.
    #[must_use]
    pub const fn columns(&self) -> usize {
        self.width
    }

    /// Number of values, several of one cell counted each.
    #[must_use]
    pub const fn stored(&self) -> usize {
        self.values.len()
    }

    fn places(&self, row: usize) -> Result<Range<usize>> {
        let stored = self.values.len().min(self.columns.len());
        let ends = [self.starts[row], self.starts[row + 1]].map(usize::try_from);
        match ends {
            [Ok(start), Ok(end)] if start <= end && end <= stored => Ok(start..end),
            _ => Err(Error::RowStartsOutOfBounds { row }),
        }
    }

    /// Reads the cells of a row that are stored, each once; by increasing column, or else as they are stored.
    pub(super) fn read_row<'r>(&self, row: usize, reader: &'r mut RowReader<T>) -> Result<&'r [(u32, T)]> {
        let RowReader { cells, row_of_column } = reader;
        cells.clear();
        let mut is_rising = true;
        for place in self.places(row)? {
            let found = self.columns.get(place);
            let column = u32::try_from(found)
                .ok()
                .filter(|&column| (column as usize) < self.width)
                .ok_or(Error::ColumnOutOfRange { row, column: found, columns: self.width })?;
            is_rising &= cells.last().is_none_or(|&(before, _)| before < column);
            cells.push((column, self.values[place]));
        }
        if !is_rising && has_repeated_columns(cells, row, self.width, row_of_column) {
            // Stable: the values of one cell stay in the order in which they are to be added.
            cells.sort_by_key(|&(column, _)| column);
            cells.dedup_by(|next, cell| {
                let is_same = next.0 == cell.0;
                if is_same {
                    cell.1 = cell.1.plus(next.1);
                }
                is_same
            });
        }
        Ok(cells)
    }
}

/// Reusable memory for the rows of one matrix.
#[derive(Debug, Default)]
pub(super) struct RowReader<T> {
    cells: Vec<(u32, T)>,
    /// The last row without rising columns that had this column.
    row_of_column: Vec<u32>,
}

/// Whether a column is there twice; a wrong yes is harmless. Quicker than sorting, as the best few of a model come by falling
/// score.
fn has_repeated_columns<T>(cells: &[(u32, T)], row: usize, width: usize, row_of_column: &mut Vec<u32>) -> bool {
    row_of_column.resize(width, u32::MAX);
    let row = row as u32;
    let mut is_repeated = false;
    for &(column, _) in cells {
        is_repeated |= row_of_column[column as usize] == row;
        row_of_column[column as usize] = row;
    }
    is_repeated
}
