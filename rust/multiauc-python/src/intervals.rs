//! Intervals of estimates and of differences between samples, and the tests that invert them.

use multiauc::{Apart, NoReplicateInterval, Replicated, Scale, Uncertain, Wilson, WorstCase};
use multiauc::{first_intervals, mover_intervals};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::arrays::{Vector, contiguous, vector};
use crate::errors::other_lengths;
use crate::options::{interval_named, replicate_interval_named};
use crate::running::run;

/// What sorting a replicate costs, in units of counting a cell.
const SORTED: usize = 10;
/// What searching for a p-value costs, in units of counting a cell.
const SEARCH: usize = 20_000;

/// (value, variance, degrees of freedom, smallest class, worst case).
type Known = (f64, f64, f64, f64, Option<(f64, f64)>);
/// (smallest value, largest value, whether values are losses).
type ScaleArgument = (f64, f64, bool);

const fn worst_case(design_effect: f64, failures: f64) -> WorstCase {
    WorstCase { design_effect, failures, degrees_of_freedom: f64::INFINITY }
}

const fn uncertain((value, variance, degrees_of_freedom, smallest_class, worst): Known) -> Uncertain {
    let worst = match worst {
        Some((design_effect, failures)) => Some(worst_case(design_effect, failures)),
        None => None,
    };
    Uncertain { value, variance, degrees_of_freedom, smallest_class, worst }
}

const fn scale_of((smallest, largest, is_log): ScaleArgument) -> Scale {
    Scale { smallest, largest, is_log }
}

/// The limits of an estimate.
#[pyfunction]
pub fn interval(
    known: Known,
    rule: &str,
    scale: ScaleArgument,
    tail: f64,
    cautious: Option<(f64, f64, f64)>,
) -> PyResult<(f64, f64)> {
    let cautious = cautious.map(|(value, variance, freedom)| [value, variance, freedom]);
    Ok(uncertain(known).interval(interval_named(rule)?, scale_of(scale), tail, cautious))
}

/// (t, degrees of freedom, one-sided p-values in the place of t).
type Inverted = (f64, f64, Option<(f64, f64)>);

/// The test of an estimate against a value.
#[pyfunction]
pub fn test_by_interval(known: Known, rule: &str, scale: ScaleArgument, null: f64) -> PyResult<Option<Inverted>> {
    let found = uncertain(known).test(interval_named(rule)?, scale_of(scale), null);
    Ok(found.map(|found| (found.t, found.degrees_of_freedom, found.p_values)))
}

/// Wilson's limits of many values between 0 and 1.
#[pyfunction]
pub fn wilson_limits<'py>(
    py: Python<'py>,
    values: PyReadonlyArray1<'py, f64>,
    variances: PyReadonlyArray1<'py, f64>,
    degrees_of_freedom: PyReadonlyArray1<'py, f64>,
    design_effects: PyReadonlyArray1<'py, f64>,
    failures: f64,
    tail: f64,
) -> PyResult<[Vector<'py>; 2]> {
    let (values, variances) = (contiguous(&values)?, contiguous(&variances)?);
    let (freedoms, effects) = (contiguous(&degrees_of_freedom)?, contiguous(&design_effects)?);
    if [variances.len(), freedoms.len(), effects.len()] != [values.len(); 3] {
        return Err(other_lengths());
    }
    let wilson: Vec<Wilson> = (0..values.len())
        .map(|k| {
            let worst = worst_case(effects[k], failures);
            Wilson::new(values[k], variances[k], freedoms[k], worst)
        })
        .collect();
    let freedoms: Vec<f64> = wilson.iter().map(Wilson::degrees_of_freedom).collect();
    let quantiles = multiauc::upper_quantiles(tail, &freedoms);
    Ok(pairs(py, wilson.iter().zip(quantiles).map(|(one, t)| one.limits(t))))
}

fn pairs(py: Python<'_>, limits: impl Iterator<Item = (f64, f64)>) -> [Vector<'_>; 2] {
    let (low, high): (Vec<f64>, Vec<f64>) = limits.unzip();
    [vector(py, low), vector(py, high)]
}

/// Values, variances, degrees of freedom, smallest classes, design effects and failures.
type Side<'py> = (
    PyReadonlyArray1<'py, f64>,
    PyReadonlyArray1<'py, f64>,
    PyReadonlyArray1<'py, f64>,
    PyReadonlyArray1<'py, i64>,
    PyReadonlyArray1<'py, f64>,
    PyReadonlyArray1<'py, f64>,
);

fn read_side(side: &Side<'_>) -> PyResult<Vec<Uncertain>> {
    let (values, variances, freedoms) = (contiguous(&side.0)?, contiguous(&side.1)?, contiguous(&side.2)?);
    let (smallest, effects, failures) = (contiguous(&side.3)?, contiguous(&side.4)?, contiguous(&side.5)?);
    if [variances.len(), freedoms.len(), smallest.len(), effects.len(), failures.len()] != [values.len(); 5] {
        return Err(other_lengths());
    }
    let of = |k: usize| {
        let worst = (!effects[k].is_nan()).then_some((effects[k], failures[k]));
        // A slice without a value may have no rows.
        uncertain((values[k], variances[k], freedoms[k], smallest[k].max(1) as f64, worst))
    };
    Ok((0..values.len()).map(of).collect())
}

/// Differences between slices and what they are compared with, or between two samples.
#[pyclass(frozen, module = "multiauc._rust")]
pub struct SampleDifferences(Vec<Apart>);

impl SampleDifferences {
    fn each<'py, T: numpy::Element>(&self, py: Python<'py>, of: fn(&Apart) -> T) -> Bound<'py, PyArray1<T>> {
        vector(py, self.0.iter().map(of).collect())
    }
}

#[pymethods]
impl SampleDifferences {
    #[new]
    fn new(
        first: Side<'_>,
        second: Side<'_>,
        covariances: PyReadonlyArray1<'_, f64>,
        scale: ScaleArgument,
    ) -> PyResult<Self> {
        let (first, second, scale) = (read_side(&first)?, read_side(&second)?, scale_of(scale));
        let covariances = contiguous(&covariances)?;
        if first.len() != second.len() || first.len() != covariances.len() {
            return Err(other_lengths());
        }
        let sides = first.into_iter().zip(second).zip(covariances);
        Ok(Self(sides.map(|((first, second), &covariance)| Apart { first, second, covariance, scale }).collect()))
    }

    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> Vector<'py> {
        self.each(py, Apart::value)
    }

    #[getter]
    fn variances<'py>(&self, py: Python<'py>) -> Vector<'py> {
        self.each(py, Apart::variance)
    }

    #[getter]
    fn degrees_of_freedom<'py>(&self, py: Python<'py>) -> Vector<'py> {
        self.each(py, Apart::degrees_of_freedom)
    }

    #[getter]
    fn are_testable<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<bool>> {
        self.each(py, Apart::is_testable)
    }

    #[getter]
    fn are_known<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<bool>> {
        self.each(py, Apart::is_known)
    }

    fn first_intervals<'py>(&self, py: Python<'py>, tail: f64) -> [Vector<'py>; 2] {
        pairs(py, first_intervals(&self.0, tail).into_iter())
    }

    fn intervals<'py>(&self, py: Python<'py>, tail: f64) -> [Vector<'py>; 2] {
        pairs(py, mover_intervals(&self.0, tail).into_iter())
    }

    #[pyo3(signature = (null=0.0))]
    fn statistics<'py>(&self, py: Python<'py>, null: f64) -> PyResult<[Vector<'py>; 2]> {
        let found = run(py, self.0.len() * SEARCH, |workers| {
            workers.map(self.0.len(), |place| Ok(self.0[place].statistic(null)))
        })?;
        Ok(pairs(py, found.into_iter()))
    }
}

/// The limits from bootstrap replicates, or why there are none.
#[derive(IntoPyObject)]
pub enum ReplicateLimits {
    Limits(f64, f64),
    Obstacle(&'static str),
}

/// The interval of a number from its bootstrap replicates.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the arguments of one Python function")]
pub fn replicate_interval(
    py: Python<'_>,
    values: PyReadonlyArray1<'_, f64>,
    estimate: f64,
    method: &str,
    tail: f64,
    smallest_class: Option<f64>,
    acceleration: Option<f64>,
    bound: Option<f64>,
    is_fitted: bool,
) -> PyResult<ReplicateLimits> {
    let (values, kind) = (contiguous(&values)?, replicate_interval_named(method)?);
    let replicated = Replicated { estimate, values, smallest_class, acceleration, bound, is_fitted };
    let found = run(py, values.len() * SORTED, |_| Ok(replicated.interval(kind, tail)))?;
    Ok(match found {
        Ok((low, high)) => ReplicateLimits::Limits(low, high),
        Err(NoReplicateInterval::Unknown) => ReplicateLimits::Limits(f64::NAN, f64::NAN),
        Err(NoReplicateInterval::Alike) => ReplicateLimits::Obstacle("all replicates are equal"),
        Err(NoReplicateInterval::OneSided) => {
            ReplicateLimits::Obstacle("all replicates are on one side of the estimate")
        }
        Err(NoReplicateInterval::NoAcceleration) => ReplicateLimits::Obstacle("no row contributes more than another"),
    })
}

/// The p-value of a difference of 0 from its bootstrap replicates.
#[pyfunction]
pub fn percentile_p_value(replicates: PyReadonlyArray1<'_, f64>) -> PyResult<f64> {
    Ok(multiauc::percentile_p_value(contiguous(&replicates)?))
}
