//! Summary ROC curves: fits of 2 × 2 tables that Python keeps, and their bootstrap. The stub describes what the methods
//! return.

use multiauc::Table;
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::arrays::{Matrix, Vector, contiguous, records, rectangle, vector};
use crate::errors::other_lengths;
use crate::options::summary_model_named;
use crate::running::run;
use crate::sample::{SampleArgument, compute};

/// What a table costs in a fit, in units of counting a cell.
const TABLE: usize = 100_000;

/// The tables of pairs of classes.
#[pyclass(frozen, module = "multiauc._rust")]
pub struct PairOutcomes(multiauc::PairOutcomes);

#[pymethods]
impl PairOutcomes {
    #[new]
    fn new(
        py: Python<'_>,
        sample: SampleArgument<'_>,
        pairs: Vec<(usize, usize)>,
        threshold: Option<f64>,
    ) -> PyResult<Self> {
        let view = sample.view()?;
        let found = compute!(py, view, 1, |sample, _workers| {
            multiauc::PairOutcomes::new(sample, view.sampling(), &pairs, threshold)
        })?;
        Ok(Self(found))
    }

    fn of_sample<'py>(&self, py: Python<'py>) -> PyResult<Matrix<'py>> {
        rectangle(py, self.0.of_sample().into_flattened(), 4)
    }
}

/// A fitted summary ROC curve.
#[pyclass(frozen, module = "multiauc._rust")]
pub struct SummaryFit(multiauc::SummaryFit);

#[pyfunction]
pub fn fit_summary_roc(
    py: Python<'_>,
    tables: PyReadonlyArray2<'_, f64>,
    model: &str,
    is_restricted: bool,
) -> PyResult<SummaryFit> {
    let ((entries, _), model) = (records(&tables)?, summary_model_named(model)?);
    let (tables, rest): (&[Table], _) = entries.as_chunks();
    if !rest.is_empty() || tables.len() < 3 {
        return Err(other_lengths());
    }
    run(py, tables.len() * TABLE, |_| multiauc::fit_summary_roc(tables, model, is_restricted, None)).map(SummaryFit)
}

#[pymethods]
impl SummaryFit {
    #[getter]
    fn estimates<'py>(&self, py: Python<'py>) -> Vector<'py> {
        vector(py, self.0.estimates.clone())
    }

    #[getter]
    fn covariance<'py>(&self, py: Python<'py>) -> PyResult<Matrix<'py>> {
        rectangle(py, self.0.covariance.clone(), self.0.estimates.len())
    }

    #[getter]
    fn log_likelihood(&self) -> f64 {
        self.0.log_likelihood
    }

    #[getter]
    fn curve(&self) -> (f64, f64) {
        self.0.curve()
    }

    #[getter]
    fn is_symmetric(&self) -> bool {
        self.0.is_symmetric()
    }

    #[getter]
    fn values(&self) -> Vec<f64> {
        self.0.values()
    }

    #[getter]
    fn standard_errors(&self) -> Vec<f64> {
        self.0.standard_errors()
    }

    /// (values of each resample, heights at rates, how many are symmetric); NaN where a resample has no fit.
    fn bootstrap<'py>(
        &self,
        py: Python<'py>,
        tables: &PairOutcomes,
        draws: (u64, u32, u32),
        at: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<(Matrix<'py>, Matrix<'py>, usize)> {
        let ((seed, first, count), at, width) = (draws, contiguous(&at)?, self.0.values().len());
        let cost = (tables.0.rows() + tables.0.of_sample().len() * TABLE).saturating_mul(count as usize);
        let found = run(py, cost, |workers| {
            workers.map(count as usize, |index| {
                let drawn = tables.0.of_resample(seed, first.wrapping_add(index as u32));
                Ok(self.0.refit(&drawn).map_or_else(
                    |_| (vec![f64::NAN; width], vec![f64::NAN; at.len()], false),
                    |fit| (fit.values(), fit.heights(at), fit.is_symmetric()),
                ))
            })
        })?;
        let symmetric = found.iter().filter(|(.., is_symmetric)| *is_symmetric).count();
        let (values, heights): (Vec<_>, Vec<_>) =
            found.into_iter().map(|(values, heights, _)| (values, heights)).unzip();
        Ok((rectangle(py, values.concat(), width)?, rectangle(py, heights.concat(), at.len())?, symmetric))
    }
}

#[pyfunction]
pub fn summary_area(intercept: f64, slope: f64) -> f64 {
    multiauc::summary_area(intercept, slope)
}
