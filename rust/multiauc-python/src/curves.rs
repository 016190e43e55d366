//! ROC curves of single columns: their points, their convex hulls, and areas under parts of them.

use multiauc::{CurvePoints, CurveSides, PrecisionRecallPoints};
use pyo3::prelude::*;

use crate::arrays::{Vector, vector};
use crate::options::region_named;
use crate::sample::{SampleArgument, compute};

/// What a point of a curve costs, in units of counting a cell.
const CURVE_POINT: usize = 40;

/// False and true positive rates, or precisions and recalls, and thresholds.
type Points<'py> = (Vector<'py>, Vector<'py>, Vector<'py>);

#[pyfunction]
pub fn roc_curve_points<'py>(
    py: Python<'py>,
    sample: SampleArgument<'py>,
    curves: Vec<CurveSides>,
    drop_intermediate: bool,
) -> PyResult<Vec<Points<'py>>> {
    let view = sample.view()?;
    let found = compute!(py, view, CURVE_POINT, |sample, workers| {
        multiauc::roc_curves(sample, &curves, drop_intermediate, workers)
    })?;
    Ok(points(py, found))
}

#[pyfunction]
pub fn roc_hull_points<'py>(
    py: Python<'py>,
    sample: SampleArgument<'py>,
    curves: Vec<CurveSides>,
) -> PyResult<Vec<Points<'py>>> {
    let view = sample.view()?;
    let found = compute!(py, view, CURVE_POINT, |sample, workers| multiauc::roc_hulls(sample, &curves, workers))?;
    Ok(points(py, found))
}

#[pyfunction]
pub fn precision_recall_points<'py>(
    py: Python<'py>,
    sample: SampleArgument<'py>,
    classes: Vec<usize>,
) -> PyResult<Vec<Points<'py>>> {
    let view = sample.view()?;
    let found = compute!(py, view, CURVE_POINT, |sample, workers| {
        multiauc::precision_recall_curves(sample, &classes, workers)
    })?;
    let arrays = |curve: PrecisionRecallPoints| {
        (vector(py, curve.precisions), vector(py, curve.recalls), vector(py, curve.thresholds))
    };
    Ok(found.into_iter().map(arrays).collect())
}

fn points(py: Python<'_>, curves: Vec<CurvePoints>) -> Vec<Points<'_>> {
    let arrays = |curve: CurvePoints| {
        (vector(py, curve.false_positive_rates), vector(py, curve.true_positive_rates), vector(py, curve.thresholds))
    };
    curves.into_iter().map(arrays).collect()
}

/// (value of each curve, mean, mean by prevalence) of partial areas.
#[pyfunction]
pub fn partial_aucs(
    py: Python<'_>,
    sample: SampleArgument<'_>,
    curves: Vec<CurveSides>,
    region: &str,
    rate: f64,
) -> PyResult<(Vec<f64>, f64, f64)> {
    let (view, region) = (sample.view()?, region_named(region)?(rate));
    let areas = compute!(py, view, CURVE_POINT, |sample, workers| {
        multiauc::partial_aucs(sample, &curves, region, workers)
    })?;
    Ok((areas.values, areas.mean, areas.mean_by_prevalence))
}
