//! Several trainings of each model, scored on the same rows.

use multiauc::{Design, Statistic, average, difference, moments};
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::arrays::integers;
use crate::errors::no_model;
use crate::inference::{Estimate, estimates};
use crate::options::{OptionsArgument, cost_of_metrics, metrics_named};
use crate::running::run;
use crate::sample::{SampleArgument, SampleView, with_sample};

/// Metrics of runs and of their means, and the differences between models.
#[pyclass(frozen, get_all, module = "multiauc._rust")]
pub struct Runs {
    means: Vec<Vec<Py<Estimate>>>,
    each: Vec<Vec<Vec<Py<Estimate>>>>,
    differences: Vec<Vec<Py<Estimate>>>,
    differences_of_each: Vec<Vec<Vec<Py<Estimate>>>>,
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
        let design = with_sample!(&first.check(workers)?, |sample| Design::new(sample, first.sampling()))?;
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
        let mut found = Found::default();
        for (model, means) in statistics.iter().zip(&means) {
            found.means.push(moments(&design, means, workers)?.estimates);
            let of_runs = model.iter().map(|runs| Ok(moments(&design, runs, workers)?.estimates));
            found.runs.push(of_runs.collect::<multiauc::Result<_>>()?);
        }
        for a in 0..views.len() {
            for b in a + 1..views.len() {
                let pairs = means[a].iter().zip(&means[b]);
                let of_means = pairs.map(|(a, b)| difference(&design, a, b, workers));
                found.differences.push(of_means.collect::<multiauc::Result<_>>()?);
                let mut of_runs = Vec::with_capacity(metrics.len());
                for (a, b) in statistics[a].iter().zip(&statistics[b]) {
                    let pairs = if a.len() == b.len() { a.iter().zip(b) } else { a[..0].iter().zip(&b[..0]) };
                    let found = pairs.map(|(a, b)| difference(&design, a, b, workers));
                    of_runs.push(found.collect::<multiauc::Result<Vec<_>>>()?);
                }
                found.run_differences.push(of_runs);
            }
        }
        Ok((design, found))
    })?;
    let Found { means, runs, differences, run_differences } = found;
    Ok(Runs {
        means: nested(py, means)?,
        each: runs.into_iter().map(|model| nested(py, model)).collect::<PyResult<_>>()?,
        differences: nested(py, differences)?,
        differences_of_each: run_differences.into_iter().map(|pair| nested(py, pair)).collect::<PyResult<_>>()?,
        units: integers(py, design.units()).unbind(),
        effective_units: design.effective_units().to_vec(),
    })
}

/// What `Runs` has, before Python sees it.
#[derive(Default)]
struct Found {
    means: Vec<Vec<multiauc::Estimate>>,
    runs: Vec<Vec<Vec<multiauc::Estimate>>>,
    differences: Vec<Vec<multiauc::Estimate>>,
    run_differences: Vec<Vec<Vec<multiauc::Estimate>>>,
}

fn nested(py: Python<'_>, found: Vec<Vec<multiauc::Estimate>>) -> PyResult<Vec<Vec<Py<Estimate>>>> {
    found.into_iter().map(|inner| estimates(py, inner)).collect()
}
