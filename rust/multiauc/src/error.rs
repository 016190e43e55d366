//! What can go wrong, as a kind and its data. [`Display`](std::fmt::Display) phrases it for users of this crate;
//! bindings have their own wording.

use std::fmt;

/// An array with one entry per row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RowArray {
    /// The class codes.
    Codes,
    /// The weights.
    Weights,
    /// The groups.
    Groups,
    /// The scores of another model.
    Scores,
    /// The slices.
    Slices,
}

/// Every error of the crate.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// The caller's [`Cancel`](crate::Cancel) flag was raised.
    Cancelled,
    /// Two arrays disagree about the number of rows.
    LengthMismatch {
        /// The array that does not fit.
        array: RowArray,
        /// Rows of the score matrix.
        rows: usize,
        /// Length of the array.
        found: usize,
    },
    /// There are more rows than row numbers can count (2^32), or more columns than codes can (65,536, or 2^32 where only
    /// some scores are stored).
    TooLarge {
        /// Rows of the score matrix.
        rows: usize,
        /// Columns of the score matrix.
        columns: usize,
    },
    /// A bootstrap sample has more rows than the 2^31 − 1 that can be counted.
    TooManyRowsDrawn {
        /// Rows of the bootstrap sample.
        rows: u64,
    },
    /// The strides lead outside the data.
    StridesOutOfBounds,
    /// The stored scores of a row start or end outside the data, or end before they start.
    RowStartsOutOfBounds {
        /// First such row.
        row: usize,
    },
    /// A stored score is in a column that there is not.
    ColumnOutOfRange {
        /// Row of the score.
        row: usize,
        /// Its column.
        column: i64,
        /// Number of columns.
        columns: usize,
    },
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
        /// How many do.
        present: usize,
    },
    /// Two classes have so little weight beside the heaviest row that products of their weights vanish.
    VanishingWeights {
        /// The classes.
        classes: [usize; 2],
    },
    /// A curve needs a class that has no rows of positive weight.
    AbsentClass {
        /// The class.
        class: usize,
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
    /// A single score per row has to be a probability for a decision between two classes.
    NotAProbability {
        /// First such row.
        row: usize,
        /// The score.
        value: f64,
    },
    /// A proper score needs scores that sum to one.
    NotProbabilities {
        /// First such row.
        row: usize,
        /// Its sum.
        sum: f64,
        /// Accepted distance from 1.
        tolerance: f64,
    },
    /// A proper score needs scores that are not negative.
    NegativeProbability {
        /// First such row.
        row: usize,
        /// First such column of that row.
        column: usize,
        /// The score.
        value: f64,
    },
    /// The true class of a row has probability 0, whose logarithm is infinite.
    ZeroProbability {
        /// First such row.
        row: usize,
        /// The column of its class.
        column: usize,
    },
    /// The pair weights of all pairs of present classes are zero.
    NoPairWeight,
    /// Two states were made with different settings.
    OtherSketch,
    /// A state may hold a part of the rows of an update.
    InterruptedSketch,
    /// Rows with weights cannot be counted range by range.
    WeightedRanges,
    /// All scores lie on the lattice 1/m, which must be known before rows are counted range by range.
    OpenLattice {
        /// The coarsest such lattice.
        m: u32,
    },
    /// More rows have the same number than fit into memory.
    RangeTooLarge {
        /// About how many.
        rows: u64,
    },
    /// Bytes that no state was written to.
    DamagedSketch {
        /// The part that is wrong.
        what: &'static str,
    },
    /// The rows that were counted range by range are not those that the state has seen.
    OtherRows,
    /// The matrix of rates would not fit the memory allowed for it.
    RatesTooLarge {
        /// Bytes needed.
        bytes: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// The rates to fit differ in shape from those of the model.
    RatesMismatch {
        /// Rates of the model.
        expected: usize,
        /// Rates given.
        found: usize,
    },
    /// A score is negative where products of scores are compared.
    NegativeScore {
        /// First such row.
        row: usize,
        /// First such column of that row.
        column: usize,
        /// The score.
        value: f64,
    },
    /// The rows of a tuple tie in so many ways that they cannot be counted.
    TooManyTies {
        /// Classes that tie with each other.
        classes: usize,
        /// The most that can be counted.
        limit: usize,
    },
    /// All tables have the same sum of logits, so there is no line through them.
    SameTables,
    /// A cell is zero in all tables, so the most likely logit is infinite.
    EmptyCell {
        /// True positives, false negatives, false positives or true negatives.
        cell: usize,
    },
    /// The likelihood of binomial counts keeps rising as a rate goes to 0 or 1, or its spread to infinity.
    NoMaximum {
        /// The true-positive or the false-positive rate.
        side: usize,
    },
    /// There are more distinct labels than codes can hold.
    TooManyClasses {
        /// The most that can be held.
        limit: usize,
    },
}

impl fmt::Display for RowArray {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Codes => "class codes",
            Self::Weights => "weights",
            Self::Groups => "groups",
            Self::Slices => "slices",
            Self::Scores => "scores of another model",
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Cancelled => write!(formatter, "the computation was cancelled"),
            Self::LengthMismatch { array, rows, found } => {
                write!(formatter, "the {array} have {found} entries, but the scores have {rows} rows")
            }
            Self::TooLarge { rows, columns } => {
                write!(
                    formatter,
                    "the scores have {rows} rows and {columns} columns; at most 2^32 and 65,536 are supported"
                )
            }
            Self::TooManyRowsDrawn { rows } => {
                write!(formatter, "a bootstrap sample has {rows} rows; at most 2^31 - 1 can be counted")
            }
            Self::StridesOutOfBounds => write!(formatter, "the strides of the scores lead outside their data"),
            Self::RowStartsOutOfBounds { row } => {
                write!(formatter, "the stored scores of row {row} lie outside their data, or end before they start")
            }
            Self::ColumnOutOfRange { row, column, columns } => {
                write!(formatter, "row {row} has a score in column {column}, but there are {columns} columns")
            }
            Self::NonFiniteScore { row, column, value } => {
                write!(formatter, "the score at row {row}, column {column} is {value}; scores must be finite")
            }
            Self::CodeOutOfRange { row, code, classes } => {
                write!(formatter, "row {row} has class code {code}, but there are {classes} classes")
            }
            Self::InvalidWeight { row, value } => {
                write!(formatter, "the weight of row {row} is {value}; weights must be finite and not negative")
            }
            Self::TooFewClasses { present } => {
                write!(formatter, "{present} of the classes have rows of positive weight; at least two must")
            }
            Self::VanishingWeights { classes: [c, d] } => write!(
                formatter,
                "the weights of classes {c} and {d} are so small beside the largest that their product vanishes"
            ),
            Self::AbsentClass { class } => write!(formatter, "class {class} has no rows of positive weight"),
            Self::RowSumNotOne { row, sum, tolerance } => write!(
                formatter,
                "the scores of row {row} sum to {sum}; a partition matrix whose rows have unequal sums needs rows of \
                 scores that sum to 1 within {tolerance}"
            ),
            Self::NotAProbability { row, value } => {
                write!(formatter, "the single score of row {row} is {value}; a decision needs a probability")
            }
            Self::NotProbabilities { row, sum, tolerance } => {
                write!(formatter, "the scores of row {row} sum to {sum}; probabilities sum to 1 within {tolerance}")
            }
            Self::NegativeProbability { row, column, value } => {
                write!(formatter, "the score at row {row}, column {column} is {value}; probabilities are not negative")
            }
            Self::ZeroProbability { row, column } => write!(
                formatter,
                "the probability at row {row}, column {column} is 0, and that is the true class: its log loss is infinite"
            ),
            Self::NoPairWeight => write!(formatter, "the weights of all pairs of classes that have rows are zero"),
            Self::RatesTooLarge { bytes, limit } => {
                write!(formatter, "the matrix of rates would take {bytes} bytes, more than the {limit} allowed")
            }
            Self::RatesMismatch { expected, found } => {
                write!(formatter, "{found} rates were given to a model of {expected}")
            }
            Self::NegativeScore { row, column, value } => {
                write!(formatter, "the score at row {row}, column {column} is {value}; products need scores from 0 up")
            }
            Self::TooManyTies { classes, limit } => {
                write!(formatter, "{classes} classes of a tuple tie with each other; at most {limit} can be told apart")
            }
            Self::OtherSketch => write!(formatter, "states made with different settings cannot be merged"),
            Self::InterruptedSketch => {
                write!(formatter, "an update was interrupted, so that the state may hold a part of its rows")
            }
            Self::WeightedRanges => write!(formatter, "rows with weights cannot be counted range by range"),
            Self::OpenLattice { m } => write!(formatter, "all scores are multiples of 1/{m}"),
            Self::RangeTooLarge { rows } => {
                write!(formatter, "about {rows} rows of different scores have nearly the same difference")
            }
            Self::OtherRows => write!(formatter, "the rows that were counted are not those that the state has seen"),
            Self::DamagedSketch { what } => write!(formatter, "these are not the bytes of a state: {what}"),
            Self::SameTables => {
                write!(formatter, "all tables have the same sum of logits; a regression needs different ones")
            }
            Self::EmptyCell { cell } => write!(formatter, "cell {cell} is zero in all tables: its logit is infinite"),
            Self::NoMaximum { side } => {
                write!(formatter, "the likelihood of the tables' rates of side {side} has no maximum")
            }
            Self::TooManyClasses { limit } => write!(formatter, "there are more than {limit} distinct labels"),
        }
    }
}

impl std::error::Error for Error {}

/// The crate's result.
pub type Result<T> = std::result::Result<T, Error>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_read_as_sentences_and_name_the_array() {
        let error = Error::LengthMismatch { array: RowArray::Weights, rows: 5, found: 4 };
        assert_eq!(error.to_string(), "the weights have 4 entries, but the scores have 5 rows");
        assert_eq!(Error::AbsentClass { class: 2 }.to_string(), "class 2 has no rows of positive weight");
    }
}
