//! ROC curves of single columns: their points, their convex hulls, bands, and areas under parts of them.

use multiauc::{CurvePoints, CurveRates, CurveSides, PrecisionRecallPoints, ReliabilityPoints};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::arrays::{Integers, Vector, contiguous, integers, vector};
use crate::errors::other_lengths;
use crate::options::region_named;
use crate::running::run;
use crate::sample::{SampleArgument, compute};

/// What a point of a curve costs, in units of counting a cell.
const CURVE_POINT: usize = 40;

/// False and true positive rates, or precisions and recalls, and thresholds.
type Points<'py> = (Vector<'py>, Vector<'py>, Vector<'py>);

/// Rates of right decisions: by class, first offset and second offset.
#[pyfunction]
pub fn roc_surface<'py>(
    py: Python<'py>,
    codes: PyReadonlyArray1<'py, u32>,
    differences: [PyReadonlyArray1<'py, f64>; 2],
    weights: Option<PyReadonlyArray1<'py, f64>>,
    offsets: [PyReadonlyArray1<'py, f64>; 2],
) -> PyResult<Vector<'py>> {
    let (codes, weights) = (contiguous(&codes)?, weights.as_ref().map(contiguous).transpose()?);
    let (x, y) = (contiguous(&differences[0])?, contiguous(&differences[1])?);
    let (a, b) = (contiguous(&offsets[0])?, contiguous(&offsets[1])?);
    if [x.len(), y.len(), weights.map_or(x.len(), <[f64]>::len)] != [codes.len(); 3] {
        return Err(other_lengths());
    }
    let cost = codes.len() * a.len() * CURVE_POINT;
    let rates = run(py, cost, |workers| {
        workers.check()?;
        Ok(multiauc::roc_surface(codes, (x, y), weights, (a, b)))
    })?;
    Ok(vector(py, rates))
}

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

/// Mean probabilities, frequencies, rows and effective numbers of rows, by bin.
type Bins<'py> = (Vector<'py>, Vector<'py>, Integers<'py>, Vector<'py>);

#[pyfunction]
pub fn reliability_points<'py>(
    py: Python<'py>,
    sample: SampleArgument<'py>,
    classes: Vec<usize>,
    bins: usize,
    are_uniform: bool,
) -> PyResult<Vec<Bins<'py>>> {
    let view = sample.view()?;
    let found = compute!(py, view, CURVE_POINT, |sample, workers| {
        multiauc::reliability_curves(sample, &classes, bins, are_uniform, workers)
    })?;
    let arrays = |curve: ReliabilityPoints| {
        let rows = integers(py, curve.rows);
        (vector(py, curve.predicted), vector(py, curve.observed), rows, vector(py, curve.sizes))
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

/// (false-positive rates, true-positive rates) of a curve.
#[derive(FromPyObject)]
pub struct RatesArgument<'py>(PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>);

impl RatesArgument<'_> {
    fn rates(&self) -> PyResult<CurveRates<'_>> {
        let (false_positive, true_positive) = (contiguous(&self.0)?, contiguous(&self.1)?);
        if false_positive.len() != true_positive.len() || false_positive.is_empty() {
            return Err(other_lengths());
        }
        Ok(CurveRates { false_positive, true_positive })
    }
}

#[pyfunction]
pub fn roc_heights<'py>(
    py: Python<'py>,
    curve: RatesArgument<'py>,
    at: PyReadonlyArray1<'py, f64>,
) -> PyResult<Vector<'py>> {
    let curve = curve.rates()?;
    Ok(vector(py, contiguous(&at)?.iter().map(|&rate| curve.height(rate)).collect()))
}

/// The rows on both sides of each curve, or Kish's effective numbers of rows.
#[pyfunction]
pub fn side_sizes(py: Python<'_>, sample: SampleArgument<'_>, curves: Vec<CurveSides>) -> PyResult<Vec<(f64, f64)>> {
    let view = sample.view()?;
    run(py, view.rows(), |workers| multiauc::side_sizes(view.codes(), view.weights(), view.classes(), &curves, workers))
}

#[pyfunction]
pub fn roc_limits<'py>(
    py: Python<'py>,
    curve: RatesArgument<'py>,
    sizes: (f64, f64),
    z: f64,
    at: PyReadonlyArray1<'py, f64>,
) -> PyResult<(Vector<'py>, Vector<'py>)> {
    let curve = curve.rates()?;
    let (low, high) = contiguous(&at)?.iter().map(|&rate| curve.limits(sizes, z, rate)).unzip();
    Ok((vector(py, low), vector(py, high)))
}

/// The ROC curve of one class in resamples.
#[pyclass(frozen, module = "multiauc._rust")]
pub struct CurveResampler(multiauc::CurveResampler);

#[pymethods]
impl CurveResampler {
    #[new]
    fn new(py: Python<'_>, sample: SampleArgument<'_>, curve: CurveSides) -> PyResult<Self> {
        let view = sample.view()?;
        let found = compute!(py, view, CURVE_POINT, |sample, _workers| {
            multiauc::CurveResampler::new(sample, view.sampling(), curve)
        })?;
        Ok(Self(found))
    }

    fn heights<'py>(&self, py: Python<'py>, seed: u64, first: u32, count: u32, at: f64) -> PyResult<Vector<'py>> {
        self.look(py, (seed, first, count), 1, |curve| curve.height(at))
    }

    #[expect(clippy::too_many_arguments, reason = "as Python calls it")]
    fn z_to_hold<'py>(
        &self,
        py: Python<'py>,
        seed: u64,
        first: u32,
        count: u32,
        sizes: (f64, f64),
        least: f64,
        at: PyReadonlyArray1<'py, f64>,
        held: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Vector<'py>> {
        let (at, held) = (contiguous(&at)?, contiguous(&held)?);
        self.look(py, (seed, first, count), CURVE_POINT, |curve| curve.z_to_hold(sizes, least, at, held))
    }
}

impl CurveResampler {
    fn look<'py>(
        &self,
        py: Python<'py>,
        draws: (u64, u32, u32),
        factor: usize,
        look: impl Fn(CurveRates<'_>) -> f64 + Sync + Send,
    ) -> PyResult<Vector<'py>> {
        let cost = self.0.rows().saturating_mul(draws.2 as usize).saturating_mul(factor);
        Ok(vector(py, run(py, cost, |workers| self.0.look(draws, workers, look))?))
    }
}
