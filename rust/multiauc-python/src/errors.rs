//! The error messages that users read.

use multiauc::{Error, Metric, RowArray};
use pyo3::PyErr;
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyRuntimeError, PyTypeError, PyValueError};

/// The exception for an error of the core.
pub fn to_python(error: Error) -> PyErr {
    match error {
        // Only reached when the signal handler itself did not raise.
        Error::Cancelled => PyKeyboardInterrupt::new_err(error.to_string()),
        Error::TooLarge { .. } | Error::TooManyRowsDrawn { .. } => PyMemoryError::new_err(error.to_string()),
        Error::RatesTooLarge { .. } => PyMemoryError::new_err(format!("{error}; use fewer thresholds")),
        _ => PyValueError::new_err(sentence(error)),
    }
}

/// The exception for a panic of the core.
pub fn of_panic(message: &str) -> PyErr {
    PyRuntimeError::new_err(format!(
        "multiauc failed because of a defect of its own ({message}); no result was computed. Please report it, with the \
         arguments of the call, at {}/issues",
        env!("CARGO_PKG_REPOSITORY")
    ))
}

/// What is wrong, in terms of the public functions' arguments.
fn sentence(error: Error) -> String {
    match error {
        Error::LengthMismatch { array, rows, found } => {
            format!("{} must have one entry per row, {rows} of them; got {found}", argument(array))
        }
        Error::NonFiniteScore { row, column, value } => format!(
            "y_score contains {} at row {row}, column {column}; every score must be a finite number",
            name_of(value)
        ),
        Error::RowStartsOutOfBounds { row } => format!(
            "y_score is not a valid sparse matrix: its indptr says that row {row} starts or ends outside of data and \
             indices, or ends before it starts"
        ),
        Error::ColumnOutOfRange { row, column, columns } => format!(
            "y_score is not a valid sparse matrix: its indices have column {column} in row {row}, but it has {columns} \
             columns"
        ),
        Error::InvalidWeight { row, value } => {
            format!("sample_weight contains {} at row {row}; weights must be finite and not negative", name_of(value))
        }
        Error::TooFewClasses { present } => format!(
            "y_true has {present} class{} with rows of positive weight; at least two are needed to rank one against another",
            if present == 1 { "" } else { "es" }
        ),
        Error::RowSumNotOne { row, sum, tolerance } => format!(
            "y_score row {row} sums to {sum}, but the rows of partition have unequal sums, which needs probabilities: \
             every row of y_score must sum to 1 within {tolerance}"
        ),
        Error::NotAProbability { row, value } => format!(
            "y_score is {value} at row {row}, and a decision between two classes from one score needs probabilities of the \
             second class, between 0 and 1; give a column of scores for each class otherwise"
        ),
        Error::NotProbabilities { row, sum, tolerance } => format!(
            "y_score row {row} sums to {sum}, but log loss and the Brier score need probabilities: every row must sum to 1 \
             within {tolerance}; pass outputs='logits' if the scores are logits"
        ),
        Error::NegativeProbability { row, column, value } => format!(
            "y_score contains {value} at row {row}, column {column}, but log loss and the Brier score need probabilities, \
             which are not negative; pass outputs='logits' if the scores are logits"
        ),
        Error::ZeroProbability { row, column } => format!(
            "y_score is 0 at row {row}, column {column}, the true class of that row, so its log loss is infinite; pass \
             clip=, such as clip=1e-15, to count smaller probabilities as that one"
        ),
        Error::VanishingWeights { classes: [c, d] } => format!(
            "sample_weight is so small for the classes of columns {c} and {d}, beside the largest weight, that it cannot be \
             computed with; bring the weights within 100 orders of magnitude of each other"
        ),
        Error::NegativeScore { row, column, value } => format!(
            "y_score contains {value} at row {row}, column {column}, but products of scores need scores that are not \
             negative; pass probabilities, or rank by sums: rule='sum'"
        ),
        Error::TooManyTies { classes, limit } => format!(
            "y_score ties {classes} classes of one tuple of rows with each other, and the ways to assign more than \
             {limit} of them cannot be counted; use scores with fewer ties, or pdi"
        ),
        Error::NoPairWeight => {
            "pair_weights is zero for every pair of classes that have rows; one must be positive".to_owned()
        }
        Error::OtherSketch => {
            "the states were made with different labels, metrics or memory, and cannot be merged".to_owned()
        }
        Error::RangeTooLarge { rows } => format!(
            "memory_limit is too small: about {rows} rows of different scores have nearly the same difference, and must be \
             compared with each other at once"
        ),
        Error::OtherRows => {
            "the rows were not the same when they were read again; keep them where they cannot change (a file, or \
             df.persist()) if something random or unordered makes them"
                .to_owned()
        }
        Error::InterruptedSketch => {
            "an update of this state was interrupted, and it may hold a part of that batch: start a new one, or go on \
             from one that was saved before"
                .to_owned()
        }
        Error::TooManyClasses { limit } => {
            format!("y_true has more than {limit} distinct labels; is it a class label at all?")
        }
        Error::SameTables => {
            "tp, fn, fp, tn must differ in logit TPR + logit FPR for a regression; got the same for all tables"
                .to_owned()
        }
        Error::EmptyCell { cell } => format!(
            "{} must be positive in some table for model='binomial'; got 0 in all of them: the most likely {} rate {} has \
             no finite logit; model='bivariate' adds one half to all cells",
            ["tp", "fn", "fp", "tn"][cell],
            ["true-positive", "false-positive"][cell / 2],
            cell % 2,
        ),
        Error::NoMaximum { side } => format!(
            "{} must show how much rates vary between tables for model='binomial'; their likelihood has no maximum, as when \
             rates are 0 in some tables and 1 in the others; model='bivariate' adds one half",
            ["tp and fn", "fp and tn"][side],
        ),
        // Not reached from the public functions, which check first.
        other => other.to_string(),
    }
}

/// A float as NumPy writes it.
fn name_of(value: f64) -> String {
    if value.is_nan() { "nan".to_owned() } else { value.to_string() }
}

/// The argument of the public functions that an array comes from.
const fn argument(array: RowArray) -> &'static str {
    match array {
        RowArray::Weights => "sample_weight",
        RowArray::Groups => "groups",
        RowArray::Scores => "the scores of every model",
        RowArray::Slices => "by",
        _ => "y_true",
    }
}

/// A word that is not one of those accepted.
pub fn unknown_word(argument: &str, found: &str, accepted: &[&str]) -> PyErr {
    let words: Vec<String> = accepted.iter().map(|word| format!("{word:?}")).collect();
    PyValueError::new_err(format!("{argument} is {found:?}; accepted: {}", words.join(", ")))
}

/// A metric that does not average over pairs of classes.
pub fn no_pairs(metric: Metric) -> PyErr {
    PyValueError::new_err(format!("{} does not average over pairs of classes", metric.name()))
}

/// No model to compare.
pub fn no_model() -> PyErr {
    PyValueError::new_err("there is no model to compare")
}

/// States of singles and of doubles.
pub fn other_precision() -> PyErr {
    PyValueError::new_err("a state of float32 scores cannot be merged with one of float64 scores")
}

/// Arrays of different lengths.
pub fn other_lengths() -> PyErr {
    PyValueError::new_err("values, weights and groups must be as many as the rows")
}

/// An array that is not contiguous.
pub fn not_contiguous() -> PyErr {
    PyTypeError::new_err("arrays other than scores must be contiguous, matrices row by row")
}
