//! Bare numbers: metrics without their uncertainty.

use multiauc::{Chance, Metric};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{Matrix, Vector, rectangle, vector};
use crate::errors::{no_pairs, unknown_word};
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
        facts.set_item("has_clip", metric.has_clip())?;
        facts.set_item("has_k", metric.has_k())?;
        facts.set_item("is_of_predictions", metric.is_of_predictions())?;
        facts.set_item("higher_is_better", !metric.is_loss())?;
        facts.set_item("smallest", metric.bounds().0)?;
        facts.set_item("largest", metric.bounds().1)?;
        facts.set_item("depends_on_sizes", metric.depends_on_sizes())?;
        facts.set_item("sampling", if metric.is_of_all_rows() { "iid" } else { "stratified" })?;
        facts.set_item("interval", metric.interval())?;
        facts.set_item("chance", metric.chance().name())?;
        found.set_item(metric.name(), facts)?;
    }
    Ok(found)
}

/// The value of a metric with this kind of chance for uninformative scores.
#[pyfunction]
pub fn chance(kind: &str, classes: usize, shares: Option<Vec<f64>>, k: usize) -> PyResult<f64> {
    let kind = Chance::named(kind).ok_or_else(|| unknown_word("chance", kind, &Chance::ALL.map(Chance::name)))?;
    Ok(kind.value(classes, shares.as_deref(), k))
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
