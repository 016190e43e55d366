//! The multi-class ROC curve: a model that Python keeps, to read from and to bootstrap.
#![allow(clippy::needless_pass_by_value, reason = "arguments are extracted from Python by value")]

use multiauc::{Center, CurveOptions, Error, Fit, Grid, MulticlassRoc, PlacedCells, Scope, ScoredSample, Stop};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::{CodeArray, Scores, contiguous, matrix, rectangle, square, vector};
use crate::running::run;

type Vector<'py> = Bound<'py, PyArray1<f64>>;
type Matrix<'py> = Bound<'py, PyArray2<f64>>;

/// Thresholds: how many, or which.
#[derive(FromPyObject)]
pub enum ThresholdsArgument<'py> {
    /// A number of quantiles
    Count(usize),
    /// Falling thresholds
    Given(PyReadonlyArray1<'py, f64>),
}

/// A fitted multi-class ROC curve.
#[pyclass(frozen, module = "multiauc._rust")]
pub struct RocModel {
    roc: MulticlassRoc,
    rows: usize,
}

#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the arguments of the Python function")]
pub fn multiclass_roc(
    py: Python<'_>,
    scores: Scores<'_>,
    codes: CodeArray<'_>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    thresholds: ThresholdsArgument<'_>,
    scope: &str,
    center: &str,
    tp_weights: PyReadonlyArray2<'_, f64>,
    fp_weights: PyReadonlyArray2<'_, f64>,
    continuity: f64,
    tolerance: f64,
    max_iterations: usize,
    memory_limit: usize,
) -> PyResult<RocModel> {
    let codes = codes.codes()?;
    let weights = weights.as_ref().map(contiguous).transpose()?;
    let grid = match &thresholds {
        ThresholdsArgument::Count(count) => Grid::Quantiles(*count),
        ThresholdsArgument::Given(values) => Grid::Given(contiguous(values)?),
    };
    let thresholds = match grid {
        Grid::Quantiles(count) => count,
        Grid::Given(values) => values.len(),
    };
    let (scope, center) = (scope_named(scope)?, center_named(center)?);
    let (tp_weights, fp_weights) = (square(&tp_weights)?, square(&fp_weights)?);
    let stop = Stop { tolerance, max_iterations, settle_curve: true };
    macro_rules! fit {
        ($array:expr) => {{
            let scores = matrix($array)?;
            // A single column scores class 1 of two.
            let classes = scores.columns().max(2);
            // Some twenty sweeps over two rates of each pair at each threshold.
            let fit = (40 * classes * classes).saturating_mul(thresholds);
            run(py, (scores.rows() * scores.columns()).saturating_add(fit), move |workers| {
                let sample = ScoredSample::with_classes(scores, codes, weights, classes, workers)?;
                let placed = PlacedCells::new(&sample, grid, scope, workers)?;
                let of_pairs = |weights: &[f64]| -> Vec<f64> {
                    placed.pairs().iter().map(|&(c, d)| weights[c * classes + d]).collect()
                };
                let (tp_weights, fp_weights) = (of_pairs(tp_weights), of_pairs(fp_weights));
                let options = CurveOptions {
                    center,
                    tp_weights: &tp_weights,
                    fp_weights: &fp_weights,
                    continuity,
                    stop,
                    memory_limit,
                };
                MulticlassRoc::new(placed, options, workers)
            })?
        }};
    }
    let (roc, rows) = match &scores {
        Scores::Double(array) => (fit!(array), codes.len()),
        Scores::Single(array) => (fit!(array), codes.len()),
    };
    Ok(RocModel { roc, rows })
}

fn scope_named(name: &str) -> PyResult<Scope> {
    match name {
        "shared" => Ok(Scope::Shared),
        "class" => Ok(Scope::Class),
        "pair" => Ok(Scope::Pair),
        _ => Err(PyValueError::new_err(format!("scope is {name:?}; accepted: \"shared\", \"class\" or \"pair\""))),
    }
}

fn center_named(name: &str) -> PyResult<Center> {
    match name {
        "intercept" => Ok(Center::Intercept),
        "projection" => Ok(Center::Projection),
        _ => Err(PyValueError::new_err(format!("center is {name:?}; accepted: \"intercept\" or \"projection\""))),
    }
}

#[pymethods]
impl RocModel {
    /// (positive, negative) columns of each pair.
    #[getter]
    fn pairs(&self) -> Vec<(usize, usize)> {
        self.roc.placed().pairs()
    }

    /// T × 1 if all pairs share them, else T × J.
    #[getter]
    fn thresholds<'py>(&self, py: Python<'py>) -> PyResult<Matrix<'py>> {
        let columns = self.roc.placed().threshold_columns();
        let rows = (0..self.roc.placed().thresholds()).flat_map(|i| columns.iter().map(move |column| column[i]));
        rectangle(py, rows.collect(), columns.len())
    }

    /// 2T × J.
    #[getter]
    fn rates<'py>(&self, py: Python<'py>) -> PyResult<Matrix<'py>> {
        rectangle(py, self.roc.rates.clone(), self.roc.placed().pair_count())
    }

    /// Fitted rates, 2T × J; the rates themselves where the model is saturated.
    #[getter]
    fn means<'py>(&self, py: Python<'py>) -> PyResult<Matrix<'py>> {
        let means = self.roc.model.as_ref().map_or_else(|| self.roc.rates.clone(), Fit::means);
        rectangle(py, means, self.roc.placed().pair_count())
    }

    /// (fpr, tpr, fpr as fitted, tpr as fitted), without end points.
    #[getter]
    fn curve<'py>(&self, py: Python<'py>) -> (Vector<'py>, Vector<'py>, Vector<'py>, Vector<'py>) {
        let curve = &self.roc.curve;
        let [raw_tpr, raw_fpr] = &curve.raw;
        let [a, b, c, d] = [&curve.fpr, &curve.tpr, raw_fpr, raw_tpr].map(|values| vector(py, values.clone()));
        (a, b, c, d)
    }

    /// (row slopes, pair scores) of the model; empty where it is saturated.
    #[getter]
    fn factors<'py>(&self, py: Python<'py>) -> (Vector<'py>, Vector<'py>) {
        let (slopes, scores) =
            self.roc.model.as_ref().map_or_else(Default::default, |model| (model.slopes.clone(), model.scores.clone()));
        (vector(py, slopes), vector(py, scores))
    }

    /// Area under the curve.
    #[getter]
    fn area(&self) -> f64 {
        self.roc.curve.area
    }

    /// The deviance after each sweep; empty where the model is saturated.
    #[getter]
    fn deviances<'py>(&self, py: Python<'py>) -> Vector<'py> {
        vector(py, self.roc.model.as_ref().map_or_else(Vec::new, |model| model.deviances.clone()))
    }

    /// Whether the fit settled.
    #[getter]
    fn converged(&self) -> bool {
        self.roc.model.as_ref().is_none_or(|model| model.converged)
    }

    /// (column, total weight) of each class that has rows.
    #[getter]
    fn class_totals(&self) -> Vec<(usize, f64)> {
        self.roc.placed().class_totals()
    }

    /// Rows of the smallest class that has any.
    #[getter]
    fn smallest_class(&self) -> u32 {
        self.roc.placed().class_rows().into_iter().min().unwrap_or(0)
    }

    /// (areas, count × G heights at the false-positive rates `at`) of bootstrap replicates `first`, `first` + 1, …
    fn bootstrap<'py>(
        &self,
        py: Python<'py>,
        seed: u64,
        first: u32,
        count: u32,
        at: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<(Vector<'py>, Matrix<'py>)> {
        let at = contiguous(&at)?;
        let pairs = self.roc.placed().pair_count();
        let cells = (self.rows + 20 * self.roc.placed().thresholds()).saturating_mul(pairs);
        let replicates = run(py, cells.saturating_mul(count as usize), |workers| {
            self.roc.bootstrap(seed, first, count, at, workers)
        })?;
        let areas = replicates.iter().map(|replicate| replicate.area).collect();
        let heights = replicates.into_iter().flat_map(|replicate| replicate.heights).collect();
        Ok((vector(py, areas), rectangle(py, heights, at.len())?))
    }

    /// (area, heights at the false-positive rates `at`) of other rates, 2T × J.
    fn refit<'py>(
        &self,
        py: Python<'py>,
        rates: PyReadonlyArray2<'py, f64>,
        at: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<(f64, Vector<'py>)> {
        let (rates, at) = (square(&rates)?, contiguous(&at)?);
        let curve = run(py, 20 * rates.len(), |workers| {
            let found = rates.len();
            if found != self.roc.rates.len() {
                return Err(Error::LengthMismatch { rows: self.roc.rates.len(), found });
            }
            self.roc.refit(rates, workers)
        })?;
        Ok((curve.area, vector(py, curve.heights(at))))
    }
}
