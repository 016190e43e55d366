//! Bare numbers: metrics without their uncertainty.

use multiauc::Metric;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{Matrix, Vector, rectangle, vector};
use crate::errors::no_pairs;
use crate::options::{OptionsArgument, average_named, cost_of_metrics, metric_named};
use crate::sample::{SampleArgument, compute};

/// What sorting a cell costs, in units of counting it.
const SORTED: usize = 10;
/// By the name of each metric: what it takes and what is known of it.
pub fn facts(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let found = PyDict::new(py);
    for metric in Metric::ALL {
        let facts = PyDict::new(py);
        facts.set_item("has_weights", metric.has_weights())?;
        facts.set_item("has_bootstrap", metric.has_bootstrap())?;
        facts.set_item("has_interactions", metric.has_interactions())?;
        facts.set_item("has_class_scores", metric.has_class_scores())?;
        facts.set_item("has_partition", metric.has_partition())?;
        facts.set_item("has_pair_weights", metric.has_pair_weights())?;
        found.set_item(metric.name(), facts)?;
    }
    Ok(found)
}

#[pyfunction]
#[pyo3(signature = (sample, metric, options=OptionsArgument::DEFAULT))]
pub fn score(py: Python<'_>, sample: SampleArgument<'_>, metric: &str, options: OptionsArgument<'_>) -> PyResult<f64> {
    let (view, metric) = (sample.view()?, metric_named(metric)?);
    let factor = options.cost(view.classes()).max(cost_of_metrics(&[metric], view.rows()));
    let options = options.read()?;
    compute!(py, view, factor, |sample, workers| multiauc::value(sample, metric, options, workers))
}

#[pyfunction]
pub fn one_vs_rest(py: Python<'_>, sample: SampleArgument<'_>, average: &str) -> PyResult<f64> {
    let (view, average) = (sample.view()?, average_named(average)?);
    compute!(py, view, 1, |sample, workers| multiauc::one_vs_rest(sample, average, workers))
}

#[pyfunction]
pub fn one_vs_rest_per_class<'py>(py: Python<'py>, sample: SampleArgument<'py>) -> PyResult<Vector<'py>> {
    let view = sample.view()?;
    Ok(vector(py, compute!(py, view, 1, |sample, workers| multiauc::one_vs_rest_per_class(sample, workers))?))
}

#[pyfunction]
pub fn average_precision_per_class<'py>(py: Python<'py>, sample: SampleArgument<'py>) -> PyResult<Vector<'py>> {
    let view = sample.view()?;
    Ok(vector(
        py,
        compute!(py, view, SORTED, |sample, workers| multiauc::average_precision_per_class(sample, workers))?,
    ))
}

#[pyfunction]
pub fn pdi_per_class<'py>(py: Python<'py>, sample: SampleArgument<'py>) -> PyResult<Vector<'py>> {
    let view = sample.view()?;
    Ok(vector(py, compute!(py, view, 1, |sample, workers| multiauc::pdi_per_class(sample, workers))?))
}

#[pyfunction]
#[pyo3(signature = (sample, metric, options=OptionsArgument::DEFAULT))]
pub fn pair_matrix<'py>(
    py: Python<'py>,
    sample: SampleArgument<'py>,
    metric: &str,
    options: OptionsArgument<'py>,
) -> PyResult<Matrix<'py>> {
    let view = sample.view()?;
    let (factor, options) = (options.cost(view.classes()), options.read()?);
    let values = match metric_named(metric)? {
        Metric::AucMu => compute!(py, view, factor, |sample, workers| {
            multiauc::auc_mu_matrix(sample, options.partition, workers)
        }),
        Metric::HandTill => compute!(py, view, 1, |sample, workers| multiauc::hand_till_matrix(sample, workers)),
        other => Err(no_pairs(other)),
    }?;
    rectangle(py, values, view.classes())
}
