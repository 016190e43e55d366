//! Several trainings of each model, scored on the same rows.

use multiauc::{Design, RunParts, Statistic, average, difference, moments};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::arrays::{Vector, contiguous, integers, vector};
use crate::errors::{no_model, other_lengths};
use crate::inference::{Estimate, estimate};
use crate::options::{OptionsArgument, cost_of_metrics, metrics_named};
use crate::running::run;
use crate::sample::{SampleArgument, SampleView, with_sample};

/// The variance that comes from rows, that which comes from runs, and the degrees of freedom of their sum.
type Parts = (f64, f64, f64);

/// The mean of a metric over runs, or the difference of two such means.
#[pyclass(frozen, get_all, module = "multiauc._rust")]
pub struct RunsMean {
    estimate: Py<Estimate>,
    values: Vec<f64>,
    parts: Parts,
}

/// Means of metrics over runs by model and metric, and their differences by pair of models and metric.
#[pyclass(frozen, get_all, module = "multiauc._rust")]
pub struct Runs {
    means: Vec<Vec<Py<RunsMean>>>,
    differences: Vec<Vec<Py<RunsMean>>>,
    units: Py<PyArray1<i64>>,
    effective_units: Vec<f64>,
}

#[pyfunction]
pub fn evaluate_runs(
    py: Python<'_>,
    models: Vec<Vec<SampleArgument<'_>>>,
    metrics: Vec<String>,
    options: OptionsArgument<'_>,
) -> PyResult<Runs> {
    let (metrics, options) = (metrics_named(&metrics)?, options.read()?);
    let mut views: Vec<Vec<SampleView<'_>>> = Vec::with_capacity(models.len());
    for runs in &models {
        views.push(runs.iter().map(SampleArgument::view).collect::<PyResult<_>>()?);
    }
    let first = views.first().and_then(|runs| runs.first()).ok_or_else(no_model)?;
    let cells: usize = views.iter().flatten().map(SampleView::cost).sum();
    let cost = cells.saturating_mul(cost_of_metrics(&metrics, first.rows()));
    let (design, found) = run(py, cost, |workers| {
        let design = with_sample!(&first.check(workers)?, |sample| Design::new(sample, first.sampling(), workers))?;
        // By model, then by metric, then by run.
        let mut statistics: Vec<Vec<Vec<Statistic>>> = Vec::with_capacity(views.len());
        for runs in &views {
            let mut by_metric: Vec<Vec<Statistic>> = metrics.iter().map(|_| Vec::with_capacity(runs.len())).collect();
            for view in runs {
                let of_run = with_sample!(&view.check(workers)?, |sample| {
                    multiauc::evaluate(sample, &design, &metrics, options, workers)?.statistics
                });
                by_metric.iter_mut().zip(of_run).for_each(|(runs, statistic)| runs.push(statistic));
            }
            statistics.push(by_metric);
        }
        let mean = |runs: &Vec<Statistic>| average(&runs.iter().collect::<Vec<_>>());
        let means: Vec<Vec<Statistic>> = statistics.iter().map(|model| model.iter().map(mean).collect()).collect();
        // By model, then by metric.
        let mut of_models: Vec<Vec<Found>> = Vec::with_capacity(views.len());
        for (model, means) in statistics.iter().zip(&means) {
            let means = moments(&design, means, workers)?.estimates;
            let found = means.into_iter().zip(model).map(|(mean, runs)| {
                let runs = moments(&design, runs, workers)?.estimates;
                Ok(Found { parts: multiauc::split_variance(&mean, &runs), mean, runs })
            });
            of_models.push(found.collect::<multiauc::Result<_>>()?);
        }
        let mut of_pairs: Vec<Vec<Found>> = Vec::new();
        for a in 0..views.len() {
            for b in a + 1..views.len() {
                let found = (0..metrics.len()).map(|metric| {
                    let mean = difference(&design, &means[a][metric], &means[b][metric], workers)?;
                    let (first, second) = (&statistics[a][metric], &statistics[b][metric]);
                    if first.len() != second.len() {
                        let both = [a, b].map(|model| &of_models[model][metric]);
                        let both = both.map(|found| (&found.mean, &found.runs[..]));
                        let parts = multiauc::split_variance_of_unpaired(&mean, both);
                        return Ok(Found { mean, runs: Vec::new(), parts });
                    }
                    let runs = first.iter().zip(second).map(|(a, b)| difference(&design, a, b, workers));
                    let runs = runs.collect::<multiauc::Result<Vec<_>>>()?;
                    Ok(Found { parts: multiauc::split_variance(&mean, &runs), mean, runs })
                });
                of_pairs.push(found.collect::<multiauc::Result<_>>()?);
            }
        }
        Ok((design, (of_models, of_pairs)))
    })?;
    Ok(Runs {
        means: nested(py, found.0)?,
        differences: nested(py, found.1)?,
        units: integers(py, design.units()).unbind(),
        effective_units: design.effective_units().to_vec(),
    })
}

/// What a `RunsMean` has, before Python sees it.
struct Found {
    mean: multiauc::Estimate,
    runs: Vec<multiauc::Estimate>,
    parts: RunParts,
}

const fn parts_of(parts: RunParts) -> Parts {
    (parts.rows, parts.runs, parts.degrees_of_freedom)
}

fn nested(py: Python<'_>, found: Vec<Vec<Found>>) -> PyResult<Vec<Vec<Py<RunsMean>>>> {
    let build = |found: Found| {
        let values = found.runs.iter().map(|run| run.value).collect();
        Py::new(py, RunsMean { estimate: estimate(py, found.mean)?, values, parts: parts_of(found.parts) })
    };
    found.into_iter().map(|inner| inner.into_iter().map(build).collect()).collect()
}

/// A metric of a repeated cross-validation, or the difference between those of two models.
#[pyclass(frozen, module = "multiauc._rust")]
pub struct RepeatedMetric(multiauc::RepeatedMetric);

#[pymethods]
impl RepeatedMetric {
    #[getter]
    fn value(&self) -> f64 {
        self.0.value()
    }

    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> Vector<'py> {
        vector(py, self.0.values.clone())
    }

    #[getter]
    fn parts(&self) -> Parts {
        parts_of(self.0.parts())
    }

    fn minus(&self, other: PyRef<'_, Self>) -> Self {
        Self(self.0.minus(&other.0))
    }
}

/// Some metrics of the folds of each repeat; `rows` are the numbers of their rows in the whole sample.
#[pyfunction]
pub fn evaluate_repeats(
    py: Python<'_>,
    repeats: Vec<Vec<SampleArgument<'_>>>,
    rows: Vec<Vec<Vec<u32>>>,
    codes: PyReadonlyArray1<'_, u32>,
    metrics: Vec<String>,
    options: OptionsArgument<'_>,
) -> PyResult<Vec<RepeatedMetric>> {
    let (metrics, options) = (metrics_named(&metrics)?, options.read()?);
    let codes: Vec<usize> = contiguous(&codes)?.iter().map(|&code| code as usize).collect();
    let (count, folds): (usize, Vec<Vec<u32>>) = (rows.len(), rows.into_iter().flatten().collect());
    let views = repeats.iter().flatten().map(SampleArgument::view).collect::<PyResult<Vec<_>>>()?;
    let classes = views.first().ok_or_else(no_model)?.classes();
    if !views.iter().map(SampleView::rows).eq(folds.iter().map(Vec::len)) {
        return Err(other_lengths());
    }
    let cost: usize = views.iter().map(SampleView::cost).sum();
    let found = run(py, cost.saturating_mul(cost_of_metrics(&metrics, codes.len())), |workers| {
        let empty = multiauc::RepeatedMetric::new(codes, classes, count);
        let mut found = vec![empty; metrics.len()];
        for (view, rows) in views.iter().zip(&folds) {
            with_sample!(&view.check(workers)?, |sample| {
                let design = Design::new(sample, view.sampling(), workers)?;
                let statistics = multiauc::evaluate(sample, &design, &metrics, options, workers)?.statistics;
                for (metric, statistic) in found.iter_mut().zip(&statistics) {
                    metric.add(&design, statistic, rows);
                }
            });
        }
        Ok(found)
    })?;
    Ok(found.into_iter().map(RepeatedMetric).collect())
}
