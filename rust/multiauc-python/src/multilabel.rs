//! Several labels per row, each a binary problem.

use multiauc::{Design, Error, LabelMean, LabelUnits, MetricOptions, Statistic, label_mean, moments};
use numpy::PyArray2;
use pyo3::prelude::*;

use crate::arrays::rectangle;
use crate::errors::no_model;
use crate::inference::{Estimate, estimate, estimates};
use crate::options::{cost_of_metrics, metrics_named};
use crate::running::run;
use crate::sample::{SampleArgument, SampleView, with_sample};

/// Some metrics of models: of each label, and their means over labels.
#[pyclass(frozen, get_all, module = "multiauc._rust")]
pub struct Labelled {
    means: Vec<Vec<Py<Estimate>>>,
    covariance: Py<PyArray2<f64>>,
    per_label: Vec<Vec<Vec<Py<Estimate>>>>,
    differences: Vec<Vec<Py<Estimate>>>,
}

/// `models` are lists of samples, one per label, with the scores of that label and two classes.
#[pyfunction]
pub fn compare_labels(
    py: Python<'_>,
    models: Vec<Vec<SampleArgument<'_>>>,
    metrics: Vec<String>,
) -> PyResult<Labelled> {
    let (metrics, options) = (metrics_named(&metrics)?, MetricOptions::DEFAULT);
    let mut views: Vec<Vec<SampleView<'_>>> = Vec::with_capacity(models.len());
    for labels in &models {
        views.push(labels.iter().map(SampleArgument::view).collect::<PyResult<_>>()?);
    }
    let first = views.first().and_then(|labels| labels.first()).ok_or_else(no_model)?;
    let cells: usize = views.iter().flatten().map(SampleView::cost).sum();
    let cost = cells.saturating_mul(cost_of_metrics(&metrics, first.rows()));
    let (means, per_label, of_all, differences) = run(py, cost, |workers| {
        let (mut means, mut per_label): (Vec<Vec<LabelMean>>, Vec<_>) = (Vec::new(), Vec::new());
        let mut units = None;
        for model in &views {
            let mut of_labels: Vec<(Design, Vec<Statistic>)> = Vec::with_capacity(model.len());
            let mut found = Vec::with_capacity(model.len());
            for (label, view) in model.iter().enumerate() {
                // Each sample has the one column of its label.
                let sample = view.check(workers).map_err(|error| match error {
                    Error::NonFiniteScore { row, value, .. } => Error::NonFiniteScore { row, column: label, value },
                    other => other,
                })?;
                let design = with_sample!(&sample, |sample| Design::new(sample, view.sampling(), workers))?;
                let statistics = with_sample!(&sample, |sample| {
                    multiauc::evaluate(sample, &design, &metrics, options, workers)?.statistics
                });
                found.push(moments(&design, &statistics, workers)?.estimates);
                of_labels.push((design, statistics));
            }
            let mean = |metric: usize| {
                let pairs: Vec<(&Design, &Statistic)> =
                    of_labels.iter().map(|(design, statistics)| (design, &statistics[metric])).collect();
                label_mean(&pairs, workers)
            };
            means.push((0..metrics.len()).map(mean).collect::<multiauc::Result<_>>()?);
            per_label.push(found);
            units = units.or_else(|| of_labels.first().map(|(design, _)| LabelUnits::new(design, first.groups())));
        }
        let units = units.expect("a label of a model");
        let mut differences = Vec::new();
        for a in 0..means.len() {
            for b in a + 1..means.len() {
                differences.push(means[a].iter().zip(&means[b]).map(|(a, b)| units.difference(a, b)).collect());
            }
        }
        let of_all = units.moments(&means.iter().flatten().cloned().collect::<Vec<_>>());
        Ok((means.len(), per_label, of_all, differences))
    })?;
    let mut rest = of_all.estimates.into_iter();
    let mut of_models = Vec::with_capacity(means);
    for _ in 0..means {
        let of_model = rest.by_ref().take(metrics.len()).map(|found| estimate(py, found));
        of_models.push(of_model.collect::<PyResult<_>>()?);
    }
    let nested = |found: Vec<Vec<multiauc::Estimate>>| -> PyResult<Vec<Vec<Py<Estimate>>>> {
        found.into_iter().map(|inner| estimates(py, inner)).collect()
    };
    Ok(Labelled {
        means: of_models,
        covariance: rectangle(py, of_all.covariance, means * metrics.len())?.unbind(),
        per_label: per_label.into_iter().map(nested).collect::<PyResult<_>>()?,
        differences: nested(differences)?,
    })
}
