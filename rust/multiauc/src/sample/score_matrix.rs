//! Scores as they are in memory: n × K, either precision, any strides.

use crate::error::{Error, Result};
use crate::float::{Float, Score};

/// An n × K matrix of scores with any strides, borrowed.
#[derive(Debug, Clone, Copy)]
pub struct ScoreMatrix<'a, T> {
    data: &'a [T],
    origin: usize,
    rows: usize,
    columns: usize,
    row_stride: isize,
    column_stride: isize,
    /// Whether the one column s stands for the two columns (−s, s).
    is_mirrored: bool,
}

impl<'a, T: Float> ScoreMatrix<'a, T> {
    /// The matrix whose entry (r, c) is `data[origin + r·row_stride + c·column_stride]`.
    ///
    /// # Errors
    /// [`Error::StridesOutOfBounds`] if an entry lies outside `data`; [`Error::TooLarge`].
    pub fn new(
        data: &'a [T],
        origin: usize,
        (rows, columns): (usize, usize),
        (row_stride, column_stride): (isize, isize),
    ) -> Result<Self> {
        if rows as u64 > 1 << 32 || columns > 1 << 16 {
            return Err(Error::TooLarge { rows, columns });
        }
        if rows > 0 && columns > 0 {
            let reach = |count: usize, stride: isize| (count as i128 - 1) * stride as i128;
            let (across, down) = (reach(columns, column_stride), reach(rows, row_stride));
            let first = origin as i128 + across.min(0) + down.min(0);
            let last = origin as i128 + across.max(0) + down.max(0);
            if first < 0 || last >= data.len() as i128 {
                return Err(Error::StridesOutOfBounds);
            }
        }
        Ok(Self { data, origin, rows, columns, row_stride, column_stride, is_mirrored: false })
    }

    /// A matrix stored row by row.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn from_rows(data: &'a [T], columns: usize) -> Result<Self> {
        let rows = data.len().checked_div(columns).unwrap_or(0);
        Self::new(data, 0, (rows, columns), (columns as isize, 1))
    }

    /// Number of rows.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    #[must_use]
    pub const fn columns(&self) -> usize {
        self.columns
    }

    /// The columns (−s, s) of a single column s. Unlike 1 − s, −s is exact.
    pub(crate) const fn mirrored(self) -> Self {
        Self { columns: 2, column_stride: 0, is_mirrored: true, ..self }
    }

    /// Whether one column stands for two.
    pub(crate) const fn is_mirrored(&self) -> bool {
        self.is_mirrored
    }

    /// The entry at (row, column).
    #[inline]
    #[must_use]
    pub fn get(&self, row: usize, column: usize) -> T {
        let entry = self.data[self.index(row, column)];
        if self.is_mirrored && column == 0 { entry.negated() } else { entry }
    }

    /// The entries of a row as one slice, if they are contiguous.
    #[inline]
    pub(crate) fn contiguous_row(&self, row: usize) -> Option<&'a [T]> {
        (self.column_stride == 1).then(|| &self.data[self.index(row, 0)..][..self.columns])
    }

    /// The entries of a column as one slice, if they are contiguous.
    pub(crate) fn contiguous_column(&self, column: usize) -> Option<&'a [T]> {
        (self.row_stride == 1 && !self.is_mirrored).then(|| &self.data[self.index(0, column)..][..self.rows])
    }

    #[inline]
    fn index(&self, row: usize, column: usize) -> usize {
        // In range by construction; any other value wraps and still meets the bounds check.
        self.origin
            .wrapping_add((row as isize).wrapping_mul(self.row_stride) as usize)
            .wrapping_add((column as isize).wrapping_mul(self.column_stride) as usize)
    }

    /// Whether walking down a column touches memory in smaller steps than walking along a row.
    pub(crate) const fn is_column_major(&self) -> bool {
        self.column_stride == 0 || self.row_stride.unsigned_abs() < self.column_stride.unsigned_abs()
    }

    /// The matrix of the rows from `first` on, at most `count` of them.
    pub(crate) fn row_range(&self, first: usize, count: usize) -> Self {
        let origin = if first < self.rows { self.index(first, 0) } else { 0 };
        Self { origin, rows: count.min(self.rows.saturating_sub(first)), ..*self }
    }

    /// All entries where they form one slice without gaps, in any order.
    pub(crate) fn as_dense_slice(&self) -> Option<&'a [T]> {
        let (rows, columns) = (self.rows as isize, self.columns as isize);
        let by_rows = self.column_stride == 1 && self.row_stride == columns;
        let by_columns = self.row_stride == 1 && self.column_stride == rows;
        (by_rows || by_columns).then(|| &self.data[self.origin..self.origin + self.rows * self.columns])
    }
}

impl<T: Score> ScoreMatrix<'_, T> {
    /// The probability of a class, where scores are probabilities: a single score s stands for (1 − s, s).
    #[inline]
    pub(crate) fn probability(&self, row: usize, class: usize) -> f64 {
        if self.columns > 1 && !self.is_mirrored {
            return self.get(row, class).into();
        }
        let second: f64 = self.data[self.index(row, 0)].into();
        if class == 0 { 1.0 - second } else { second }
    }

    /// Whether rows sum to 1 within a tolerance; of many rows `most` are looked at, spread over all of them.
    #[must_use]
    pub fn sums_to_one(&self, most: usize, tolerance: f64) -> bool {
        let count = self.rows.min(most);
        (0..count).map(|step| step * self.rows / count).all(|row| {
            let sum: f64 = match self.contiguous_row(row) {
                Some(row) => row.iter().map(|&score| -> f64 { score.into() }).sum(),
                None => (0..self.columns).map(|column| -> f64 { self.get(row, column).into() }).sum(),
            };
            (sum - 1.0).abs() <= tolerance
        })
    }
}
