//! The sentences users read.

use multiauc::Error;
use pyo3::PyErr;
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyValueError};

/// The exception for an error of the core.
pub fn to_python(error: Error) -> PyErr {
    match error {
        // Only reached when the signal handler itself did not raise.
        Error::Cancelled => PyKeyboardInterrupt::new_err("the computation was interrupted"),
        Error::LengthMismatch { rows, found } => {
            PyValueError::new_err(format!("y_score has {rows} rows, but an array with one entry per row has {found}"))
        }
        Error::TooLarge { rows, columns } => PyMemoryError::new_err(format!(
            "y_score has {rows} rows and {columns} columns; at most 4,294,967,296 rows and 65,536 columns are supported"
        )),
        Error::TooManyRowsDrawn { rows } => {
            PyMemoryError::new_err(format!("a bootstrap sample has {rows} rows; at most 2,147,483,647 can be counted"))
        }
        Error::StridesOutOfBounds => PyValueError::new_err("y_score has strides that lead outside its memory"),
        Error::NonFiniteScore { row, column, value } => PyValueError::new_err(format!(
            "y_score contains {} at row {row}, column {column}; every score must be a finite number",
            name_of(value)
        )),
        Error::CodeOutOfRange { row, code, classes } => {
            PyValueError::new_err(format!("row {row} has class code {code}; codes go from 0 to {}", classes - 1))
        }
        Error::InvalidWeight { row, value } => PyValueError::new_err(format!(
            "sample_weight contains {} at row {row}; weights must be finite and not negative",
            name_of(value)
        )),
        Error::TooFewClasses { present } => PyValueError::new_err(format!(
            "y_true has {present} class{} with rows of positive weight; at least two are needed to rank one against another",
            if present == 1 { "" } else { "es" }
        )),
        Error::RowSumNotOne { row, sum, tolerance } => PyValueError::new_err(format!(
            "y_score row {row} sums to {sum}, but the rows of partition have unequal sums, which needs probabilities: \
             every row of y_score must sum to 1 within {tolerance}"
        )),
        Error::NoPairWeight => {
            PyValueError::new_err("pair_weights is zero for every pair of classes that have rows; one must be positive")
        }
        Error::RatesTooLarge { bytes, limit } => PyMemoryError::new_err(format!(
            "the matrix of rates would take {bytes} bytes, more than the {limit} allowed; use fewer thresholds"
        )),
        Error::TooManyClasses { limit } => {
            PyValueError::new_err(format!("y_true has more than {limit} distinct labels; is it a class label at all?"))
        }
        other => PyValueError::new_err(format!("{other:?}")),
    }
}

/// A float as NumPy writes it.
fn name_of(value: f64) -> String {
    if value.is_nan() { "nan".to_owned() } else { value.to_string() }
}
