//! Samples of either precision: the only file that knows there are two.

use multiauc::{ClassCodes, Result, Sampling, ScoreMatrix, ScoredSample, Workers};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::arrays::{BorrowedCodes, CodeArray, contiguous, matrix};
use crate::options::is_iid_named;
use crate::running::run;

/// What a cell costs where rows have weights and are sorted, in units of counting a cell.
const SORTED_CELL: usize = 10;

/// Rows as Python keeps them: its arrays, never copies of them.
///
/// `groups` are the numbers of the rows' groups; `sampling` says how rows or groups were drawn.
#[pyclass(frozen, module = "multiauc._rust")]
pub struct Sample {
    scores: ScoreArray,
    codes: CodeArray,
    weights: Option<Py<PyArray1<f64>>>,
    groups: Option<Py<PyArray1<u32>>>,
    is_iid: bool,
}

/// Scores of either precision.
pub enum ScoreArray {
    Double(Py<PyArray2<f64>>),
    Single(Py<PyArray2<f32>>),
}

#[pymethods]
impl Sample {
    #[new]
    #[pyo3(signature = (scores, codes, weights=None, groups=None, sampling="stratified"))]
    fn new(
        scores: ScoreArray,
        codes: CodeArray,
        weights: Option<Py<PyArray1<f64>>>,
        groups: Option<Py<PyArray1<u32>>>,
        sampling: &str,
    ) -> PyResult<Self> {
        Ok(Self { scores, codes, weights, groups, is_iid: is_iid_named(sampling)? })
    }

    /// Whether the scores are singles.
    #[getter]
    const fn is_single(&self) -> bool {
        matches!(self.scores, ScoreArray::Single(_))
    }
}

impl ScoreArray {
    /// The array, for reading.
    pub fn borrow<'py>(&self, py: Python<'py>) -> PyResult<BorrowedScores<'py>> {
        Ok(match self {
            Self::Double(array) => BorrowedScores::Double(array.bind(py).try_readonly()?),
            Self::Single(array) => BorrowedScores::Single(array.bind(py).try_readonly()?),
        })
    }
}

impl FromPyObject<'_, '_> for ScoreArray {
    type Error = PyErr;

    /// Not derived: that would make a Python error of every single that is no double, which takes longer than a small
    /// sample.
    fn extract(scores: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        if let Ok(double) = scores.cast::<PyArray2<f64>>() {
            return Ok(Self::Double(double.to_owned().unbind()));
        }
        Ok(Self::Single(scores.extract()?))
    }
}

/// The same expression for scores of either precision.
macro_rules! with_scores {
    ($py:expr, $scores:expr, |$matrix:ident| $work:expr) => {
        match $scores.borrow($py)? {
            $crate::sample::BorrowedScores::Double(array) => {
                let $matrix = $crate::arrays::matrix(&array)?;
                $work
            }
            $crate::sample::BorrowedScores::Single(array) => {
                let $matrix = $crate::arrays::matrix(&array)?;
                $work
            }
        }
    };
}

/// Whether the rows of some scores sum to 1 within a tolerance; `most` of them are looked at.
#[pyfunction]
pub fn sum_to_one(py: Python<'_>, scores: ScoreArray, most: usize, tolerance: f64) -> PyResult<bool> {
    Ok(with_scores!(py, scores, |matrix| matrix.sums_to_one(most, tolerance)))
}

/// The first row whose scores are not probabilities.
#[pyfunction]
pub fn find_improbable_row(py: Python<'_>, scores: ScoreArray) -> PyResult<Option<usize>> {
    with_scores!(py, scores, |matrix| {
        run(py, matrix.rows() * matrix.columns(), |workers| matrix.find_improbable_row(workers))
    })
}

/// (row, sum of its scores, whether one is negative, number of such rows).
type OddTuple = (usize, f64, bool, usize);

/// The first row that is no probabilities among rows that are, and how many there are.
#[pyfunction]
pub fn find_odd_rows(py: Python<'_>, scores: ScoreArray) -> PyResult<Option<OddTuple>> {
    let found = match scores.borrow(py)? {
        BorrowedScores::Double(array) => multiauc::find_odd_rows(&matrix(&array)?),
        BorrowedScores::Single(array) => multiauc::find_odd_rows(&matrix(&array)?),
    };
    Ok(found.map(|odd| (odd.row, odd.sum, odd.is_negative, odd.count)))
}

/// A hash of some of the scores and weights, which notices changes.
#[pyfunction]
#[pyo3(signature = (scores, weights=None))]
pub fn fingerprint(py: Python<'_>, scores: ScoreArray, weights: Option<PyReadonlyArray1<'_, f64>>) -> PyResult<u64> {
    let weights = weights.as_ref().map(contiguous).transpose()?;
    Ok(with_scores!(py, scores, |matrix| matrix.fingerprint(weights)))
}

/// The arrays of a [`Sample`], borrowed for the time of a call.
pub struct SampleArgument<'py> {
    scores: BorrowedScores<'py>,
    codes: BorrowedCodes<'py>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    groups: Option<PyReadonlyArray1<'py, u32>>,
    is_iid: bool,
}

/// The same, for reading.
pub enum BorrowedScores<'py> {
    Double(PyReadonlyArray2<'py, f64>),
    Single(PyReadonlyArray2<'py, f32>),
}

impl<'py> FromPyObject<'_, 'py> for SampleArgument<'py> {
    type Error = PyErr;

    fn extract(sample: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        sample.cast::<Sample>()?.get().borrow(sample.py())
    }
}

/// The same as the core reads it; not checked yet.
#[derive(Clone, Copy)]
pub struct SampleView<'a> {
    scores: ScoresView<'a>,
    codes: ClassCodes<'a>,
    weights: Option<&'a [f64]>,
    groups: Option<&'a [u32]>,
    is_iid: bool,
}

/// The scores, not checked yet.
#[derive(Clone, Copy)]
pub enum ScoresView<'a> {
    Double(ScoreMatrix<'a, f64>),
    Single(ScoreMatrix<'a, f32>),
}

/// A sample, checked.
pub enum AnySample<'a> {
    Double(ScoredSample<'a, f64>),
    Single(ScoredSample<'a, f32>),
}

/// The one dispatcher: the same expression for a checked sample of either precision.
macro_rules! with_sample {
    ($sample:expr, |$typed:ident| $work:expr) => {
        match $sample {
            $crate::sample::AnySample::Double($typed) => $work,
            $crate::sample::AnySample::Single($typed) => $work,
        }
    };
}

/// Runs `work` on a sample with the interpreter released; each cell costs as much as counting `factor` of them.
macro_rules! compute {
    ($py:expr, $view:expr, $factor:expr, |$typed:ident, $workers:ident| $work:expr) => {{
        let view = &$view;
        $crate::running::run($py, view.cost().saturating_mul($factor), |$workers| {
            $crate::sample::with_sample!(&view.check($workers)?, |$typed| $work)
        })
    }};
}
pub(crate) use {compute, with_sample, with_scores};

impl Sample {
    /// The arrays, for reading.
    pub fn borrow<'py>(&self, py: Python<'py>) -> PyResult<SampleArgument<'py>> {
        Ok(SampleArgument {
            scores: self.scores.borrow(py)?,
            codes: self.codes.borrow(py)?,
            weights: self.weights.as_ref().map(|array| array.bind(py).try_readonly()).transpose()?,
            groups: self.groups.as_ref().map(|array| array.bind(py).try_readonly()).transpose()?,
            is_iid: self.is_iid,
        })
    }
}

impl SampleArgument<'_> {
    /// The arrays as the core reads them.
    pub fn view(&self) -> PyResult<SampleView<'_>> {
        Ok(SampleView {
            scores: match &self.scores {
                BorrowedScores::Double(array) => ScoresView::Double(matrix(array)?),
                BorrowedScores::Single(array) => ScoresView::Single(matrix(array)?),
            },
            codes: self.codes.codes()?,
            weights: self.weights.as_ref().map(contiguous).transpose()?,
            groups: self.groups.as_ref().map(contiguous).transpose()?,
            is_iid: self.is_iid,
        })
    }
}

impl<'a> SampleView<'a> {
    /// Checks everything.
    pub fn check(&self, workers: &Workers<'_>) -> Result<AnySample<'a>> {
        let (codes, weights) = (self.codes, self.weights);
        Ok(match self.scores {
            ScoresView::Double(scores) => AnySample::Double(ScoredSample::new(scores, codes, weights, workers)?),
            ScoresView::Single(scores) => AnySample::Single(ScoredSample::new(scores, codes, weights, workers)?),
        })
    }

    /// How the rows were drawn.
    pub const fn sampling(&self) -> Sampling<'a> {
        sampling_of(self.groups, self.is_iid)
    }

    /// The scores, for what takes rows without looking at all of them first.
    pub const fn scores(&self) -> ScoresView<'a> {
        self.scores
    }

    /// The classes.
    pub const fn codes(&self) -> ClassCodes<'a> {
        self.codes
    }

    /// The weights.
    pub const fn weights(&self) -> Option<&'a [f64]> {
        self.weights
    }

    /// The groups.
    pub const fn groups(&self) -> Option<&'a [u32]> {
        self.groups
    }

    /// Number of rows.
    pub const fn rows(&self) -> usize {
        self.codes.len()
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        let columns = match self.scores {
            ScoresView::Double(scores) => scores.columns(),
            ScoresView::Single(scores) => scores.columns(),
        };
        if columns == 1 { 2 } else { columns }
    }

    /// What counting every cell once costs.
    pub fn cost(&self) -> usize {
        let cells = self.rows() * self.classes();
        if self.weights.is_some() { cells.saturating_mul(SORTED_CELL) } else { cells }
    }
}

/// How rows were drawn: whole groups where there are any.
pub const fn sampling_of(groups: Option<&[u32]>, is_iid: bool) -> Sampling<'_> {
    match groups {
        Some(of_rows) => Sampling::Groups { of_rows, is_iid },
        None if is_iid => Sampling::Iid,
        None => Sampling::Stratified,
    }
}
