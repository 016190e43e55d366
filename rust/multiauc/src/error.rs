//! What can go wrong, as a kind and its data. The sentence a user reads is written at the boundary, never here.

/// Everything the crate can refuse.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// The caller's [`Cancel`](crate::Cancel) flag was raised.
    Cancelled,
    /// Scores, codes or weights disagree about the number of rows.
    LengthMismatch {
        /// Rows of the score matrix.
        rows: usize,
        /// Length of the other array.
        found: usize,
    },
    /// More rows than the 2^32 that row numbers can hold, or more columns than the 65,536 that codes can.
    TooLarge {
        /// Rows of the score matrix.
        rows: usize,
        /// Columns of the score matrix.
        columns: usize,
    },
    /// A bootstrap sample of more rows than the 2^31 − 1 that can be counted.
    TooManyRowsDrawn {
        /// Rows of the bootstrap sample.
        rows: u64,
    },
    /// The strides lead outside the data.
    StridesOutOfBounds,
    /// A score is NaN or infinite.
    NonFiniteScore {
        /// First such row.
        row: usize,
        /// First such column of that row.
        column: usize,
        /// The score.
        value: f64,
    },
    /// A class code is not a column number.
    CodeOutOfRange {
        /// Row of the code.
        row: usize,
        /// The code.
        code: usize,
        /// Number of classes.
        classes: usize,
    },
    /// A weight is negative, NaN or infinite.
    InvalidWeight {
        /// First such row.
        row: usize,
        /// The weight.
        value: f64,
    },
    /// Fewer than two classes have rows of positive weight.
    TooFewClasses {
        /// How many have.
        present: usize,
    },
    /// A partition matrix whose rows have unequal sums needs scores that sum to one.
    RowSumNotOne {
        /// First such row.
        row: usize,
        /// Its sum.
        sum: f64,
        /// Accepted distance from 1.
        tolerance: f64,
    },
    /// The pair weights of all pairs of present classes are zero.
    NoPairWeight,
    /// The matrix of rates would not fit the memory allowed for it.
    RatesTooLarge {
        /// Bytes needed.
        bytes: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// More distinct labels than codes can hold.
    TooManyClasses {
        /// The most that can be held.
        limit: usize,
    },
}

impl std::fmt::Display for Error {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(self, formatter)
    }
}

impl std::error::Error for Error {}

/// The crate's result.
pub type Result<T> = std::result::Result<T, Error>;
