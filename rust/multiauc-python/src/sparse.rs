//! Scores of which only some are stored, of either precision.

use multiauc::{ClassCodes, ColumnNumbers, Score, SparseSample, SparseScores};
use numpy::{Element, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::arrays::{CodeArray, Vector, contiguous, vector};
use crate::errors::to_python;
use crate::options::{PairWeightsArgument, average_named};
use crate::running::run;

/// What a stored entry costs, in units of counting a cell of a dense matrix.
const STORED_ENTRY: usize = 20;

/// Values of either precision.
#[derive(FromPyObject)]
enum ValueArray<'py> {
    Double(PyReadonlyArray1<'py, f64>),
    Single(PyReadonlyArray1<'py, f32>),
}

/// Column numbers of either width.
#[derive(FromPyObject)]
enum ColumnArray<'py> {
    Ints(PyReadonlyArray1<'py, i32>),
    Longs(PyReadonlyArray1<'py, i64>),
}

/// (values, columns, starts, width, codes, weights), borrowed from Python.
#[derive(FromPyObject)]
pub struct SparseArgument<'py>(
    ValueArray<'py>,
    ColumnArray<'py>,
    PyReadonlyArray1<'py, i64>,
    usize,
    CodeArray<'py>,
    Option<PyReadonlyArray1<'py, f64>>,
);

/// The same but for the values, as the core reads it.
struct SparseView<'a> {
    columns: ColumnNumbers<'a>,
    starts: &'a [i64],
    width: usize,
    codes: ClassCodes<'a>,
    weights: Option<&'a [f64]>,
}

impl SparseArgument<'_> {
    fn view(&self) -> PyResult<SparseView<'_>> {
        let Self(_, columns, starts, width, codes, weights) = self;
        Ok(SparseView {
            columns: match columns {
                ColumnArray::Ints(array) => ColumnNumbers::Ints(contiguous(array)?),
                ColumnArray::Longs(array) => ColumnNumbers::Longs(contiguous(array)?),
            },
            starts: contiguous(starts)?,
            width: *width,
            codes: codes.codes()?,
            weights: weights.as_ref().map(contiguous).transpose()?,
        })
    }
}

impl<'a> SparseView<'a> {
    fn scores<T: Score + Element>(&self, values: &'a PyReadonlyArray1<'_, T>) -> PyResult<SparseScores<'a, T>> {
        SparseScores::new(contiguous(values)?, self.columns, self.starts, self.width).map_err(to_python)
    }
}

/// Runs `work` on a sample of either precision with the interpreter released.
macro_rules! compute_sparse {
    ($py:expr, $argument:expr, |$sample:ident, $workers:ident| $work:expr) => {{
        let argument = &$argument;
        let view = argument.view()?;
        match &argument.0 {
            ValueArray::Double(values) => compute_sparse!($py, view, values, |$sample, $workers| $work),
            ValueArray::Single(values) => compute_sparse!($py, view, values, |$sample, $workers| $work),
        }
    }};
    ($py:expr, $view:expr, $values:expr, |$sample:ident, $workers:ident| $work:expr) => {{
        let (view, scores) = (&$view, $view.scores($values)?);
        let cost = (scores.stored() + scores.rows() + scores.columns()).saturating_mul(STORED_ENTRY);
        run($py, cost, |$workers| {
            let $sample = &SparseSample::new(scores, view.codes, view.weights, $workers)?;
            $work
        })
    }};
}

#[pyfunction]
pub fn sparse_hand_till(
    py: Python<'_>,
    sample: SparseArgument<'_>,
    pair_weights: Option<PairWeightsArgument<'_>>,
) -> PyResult<f64> {
    let weights = PairWeightsArgument::read(pair_weights.as_ref())?;
    compute_sparse!(py, sample, |sample, workers| multiauc::sparse_hand_till(sample, weights, workers))
}

#[pyfunction]
pub fn sparse_one_vs_rest(py: Python<'_>, sample: SparseArgument<'_>, average: &str) -> PyResult<f64> {
    let average = average_named(average)?;
    compute_sparse!(py, sample, |sample, workers| multiauc::sparse_one_vs_rest(sample, average, workers))
}

#[pyfunction]
pub fn sparse_one_vs_rest_per_class<'py>(py: Python<'py>, sample: SparseArgument<'py>) -> PyResult<Vector<'py>> {
    let values = compute_sparse!(py, sample, |sample, workers| multiauc::sparse_one_vs_rest_per_class(sample, workers));
    Ok(vector(py, values?))
}
