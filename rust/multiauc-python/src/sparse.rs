//! Scores of which only some are stored, of either precision.

use multiauc::{ClassCodes, ColumnNumbers, Score, SparseScores};
use numpy::{Element, PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::arrays::{BorrowedCodes, CodeArray, Vector, contiguous, vector};
use crate::errors::to_python;
use crate::options::{PairWeighting, average_named};
use crate::running::run;

/// What a stored entry costs, in units of counting a cell of a dense matrix.
const STORED_ENTRY: usize = 20;

/// Values of either precision.
#[derive(FromPyObject)]
enum ValueArray {
    Double(Py<PyArray1<f64>>),
    Single(Py<PyArray1<f32>>),
}

/// Column numbers of either width.
#[derive(FromPyObject)]
enum ColumnArray {
    Ints(Py<PyArray1<i32>>),
    Longs(Py<PyArray1<i64>>),
}

/// Rows of which only some scores are stored, as Python keeps them: its arrays, never copies of them.
///
/// The scores of row i are `values[starts[i]..starts[i + 1]]`, in these `columns` of `width`.
#[pyclass(frozen, module = "multiauc._rust")]
pub struct SparseSample {
    values: ValueArray,
    columns: ColumnArray,
    starts: Py<PyArray1<i64>>,
    width: usize,
    codes: CodeArray,
    weights: Option<Py<PyArray1<f64>>>,
}

#[pymethods]
impl SparseSample {
    #[new]
    #[pyo3(signature = (values, columns, starts, width, codes, weights=None))]
    const fn new(
        values: ValueArray,
        columns: ColumnArray,
        starts: Py<PyArray1<i64>>,
        width: usize,
        codes: CodeArray,
        weights: Option<Py<PyArray1<f64>>>,
    ) -> Self {
        Self { values, columns, starts, width, codes, weights }
    }
}

/// The arrays of a [`SparseSample`] but for the values, borrowed for the time of a call.
struct SparseArgument<'py> {
    columns: BorrowedColumns<'py>,
    starts: PyReadonlyArray1<'py, i64>,
    width: usize,
    codes: BorrowedCodes<'py>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
}

enum BorrowedColumns<'py> {
    Ints(PyReadonlyArray1<'py, i32>),
    Longs(PyReadonlyArray1<'py, i64>),
}

impl SparseSample {
    /// The arrays, for reading.
    fn borrow<'py>(&self, py: Python<'py>) -> PyResult<SparseArgument<'py>> {
        Ok(SparseArgument {
            columns: match &self.columns {
                ColumnArray::Ints(array) => BorrowedColumns::Ints(array.bind(py).try_readonly()?),
                ColumnArray::Longs(array) => BorrowedColumns::Longs(array.bind(py).try_readonly()?),
            },
            starts: self.starts.bind(py).try_readonly()?,
            width: self.width,
            codes: self.codes.borrow(py)?,
            weights: self.weights.as_ref().map(|array| array.bind(py).try_readonly()).transpose()?,
        })
    }
}

/// The same, as the core reads it.
struct SparseView<'a> {
    columns: ColumnNumbers<'a>,
    starts: &'a [i64],
    width: usize,
    codes: ClassCodes<'a>,
    weights: Option<&'a [f64]>,
}

impl SparseArgument<'_> {
    fn view(&self) -> PyResult<SparseView<'_>> {
        Ok(SparseView {
            columns: match &self.columns {
                BorrowedColumns::Ints(array) => ColumnNumbers::Ints(contiguous(array)?),
                BorrowedColumns::Longs(array) => ColumnNumbers::Longs(contiguous(array)?),
            },
            starts: contiguous(&self.starts)?,
            width: self.width,
            codes: self.codes.codes()?,
            weights: self.weights.as_ref().map(contiguous).transpose()?,
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
        let arrays = $argument.borrow($py)?;
        let view = arrays.view()?;
        match &$argument.values {
            ValueArray::Double(values) => compute_sparse!($py, view, values, |$sample, $workers| $work),
            ValueArray::Single(values) => compute_sparse!($py, view, values, |$sample, $workers| $work),
        }
    }};
    ($py:expr, $view:expr, $values:expr, |$sample:ident, $workers:ident| $work:expr) => {{
        let values = $values.bind($py).try_readonly()?;
        let (view, scores) = (&$view, $view.scores(&values)?);
        let cost = (scores.stored() + scores.rows() + scores.columns()).saturating_mul(STORED_ENTRY);
        run($py, cost, |$workers| {
            let $sample = &multiauc::SparseSample::new(scores, view.codes, view.weights, $workers)?;
            $work
        })
    }};
}

#[pyfunction]
pub fn sparse_hand_till(py: Python<'_>, sample: &SparseSample, pair_weights: Option<PairWeighting>) -> PyResult<f64> {
    let weights = PairWeighting::borrow(pair_weights.as_ref(), py)?;
    let weights = weights.read()?;
    compute_sparse!(py, sample, |sample, workers| multiauc::sparse_hand_till(sample, weights, workers))
}

#[pyfunction]
pub fn sparse_one_vs_rest(py: Python<'_>, sample: &SparseSample, average: &str) -> PyResult<f64> {
    let average = average_named(average)?;
    compute_sparse!(py, sample, |sample, workers| multiauc::sparse_one_vs_rest(sample, average, workers))
}

#[pyfunction]
pub fn sparse_one_vs_rest_per_class<'py>(py: Python<'py>, sample: &SparseSample) -> PyResult<Vector<'py>> {
    let values = compute_sparse!(py, sample, |sample, workers| multiauc::sparse_one_vs_rest_per_class(sample, workers));
    Ok(vector(py, values?))
}
