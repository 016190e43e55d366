//! Tuples with one row of each class.

use multiauc::{Design, Drawing, Evaluated, Metric};
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;

use crate::arrays::{Vector, records, vector};
use crate::inference;
use crate::options::{cost_of_metrics, rule_named};
use crate::running::run;
use crate::sample::{SampleArgument, compute};

/// The value, the standard error of drawing tuples, and whether all were counted.
#[pyfunction]
pub fn hum_score(
    py: Python<'_>,
    sample: SampleArgument<'_>,
    rule: &str,
    precision: f64,
    seed: u64,
    is_latin: bool,
) -> PyResult<(f64, f64, bool)> {
    let (view, rule) = (sample.view()?, rule_named(rule)?);
    let drawing = Drawing { precision, seed, is_latin, is_negligible: false };
    let found = compute!(py, view, cost_of_metrics(&[Metric::Hum], view.rows()), |sample, workers| {
        multiauc::hum(sample, rule, drawing, workers)
    })?;
    Ok((found.value, found.monte_carlo_error, found.is_exact))
}

/// The same with the standard error over rows.
#[pyfunction]
pub fn hum(
    py: Python<'_>,
    sample: SampleArgument<'_>,
    rule: &str,
    precision: f64,
    seed: u64,
) -> PyResult<(inference::Evaluated, f64, bool)> {
    let (view, rule) = (sample.view()?, rule_named(rule)?);
    let drawing = Drawing { precision, seed, is_latin: true, is_negligible: false };
    let (design, statistic, found, moments) =
        compute!(py, view, cost_of_metrics(&[Metric::Hum], view.rows()), |sample, workers| {
            let design = Design::new(sample, view.sampling(), workers)?;
            let (statistic, found) = multiauc::hum_statistic(sample, &design, rule, drawing, workers)?;
            let moments = multiauc::moments(&design, std::slice::from_ref(&statistic), workers)?;
            Ok((design, statistic, found, moments))
        })?;
    let computed = Evaluated { statistics: vec![statistic], ..Evaluated::default() };
    let evaluated = inference::evaluated(py, &view, &[Metric::Hum], &design, computed, moments)?;
    Ok((evaluated, found.monte_carlo_error, found.is_exact))
}

/// Confusion rates of the classifiers that add offsets to the scores, by classifier.
#[pyfunction]
pub fn offset_rates<'py>(
    py: Python<'py>,
    sample: SampleArgument<'py>,
    levels: PyReadonlyArray2<'py, f64>,
) -> PyResult<Vector<'py>> {
    let (view, (levels, _)) = (sample.view()?, records(&levels)?);
    let found = compute!(py, view, levels.len() + 1, |sample, _workers| Ok(multiauc::offset_rates(sample, levels)))?;
    Ok(vector(py, found))
}

/// The share of all confusions that mixtures of classifiers cover, and the standard error of drawing.
#[pyfunction]
pub fn covered_share(
    py: Python<'_>,
    rates: PyReadonlyArray2<'_, f64>,
    classes: usize,
    precision: f64,
    seed: u64,
) -> PyResult<(f64, f64)> {
    let (rates, _) = records(&rates)?;
    let found = run(py, usize::MAX, |workers| multiauc::covered_share(rates, classes, precision, seed, workers))?;
    Ok((found.share, found.monte_carlo_error))
}
