//! Slices of a sample: each by itself, and against the rest of the sample.

use multiauc::{Apart, FoundSlice, Scale, SliceRequest, Uncertain, WorstCase};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::arrays::{contiguous, integers, rectangle, vector};
use crate::inference::{Estimate, estimate};
use crate::options::{OptionsArgument, cost_of_metrics, metric_named, reference_named};
use crate::sample::{SampleArgument, compute};

/// Values, variances, degrees of freedom, smallest classes, design effects and failures.
type Side =
    (Py<PyArray1<f64>>, Py<PyArray1<f64>>, Py<PyArray1<f64>>, Py<PyArray1<i64>>, Py<PyArray1<f64>>, Py<PyArray1<f64>>);

/// An entry per slice; NaN where a number is not known.
#[pyclass(frozen, get_all, module = "multiauc._rust")]
pub struct FoundSlices {
    whole: Py<Estimate>,
    whole_smallest: u64,
    slices: Side,
    references: Side,
    covariances: Py<PyArray1<f64>>,
    /// The slices that are tested, and the correlations of their differences, where these are few.
    joint: Option<(Vec<u32>, Py<PyArray2<f64>>)>,
}

#[pyfunction]
#[pyo3(signature = (sample, slices, count, metric, options, reference, ignores_absent, chance))]
#[expect(clippy::too_many_arguments, reason = "the arguments of one Python function")]
pub fn evaluate_slices(
    py: Python<'_>,
    sample: SampleArgument<'_>,
    slices: PyReadonlyArray1<'_, u32>,
    count: usize,
    metric: &str,
    options: OptionsArgument<'_>,
    reference: Option<&str>,
    ignores_absent: bool,
    chance: f64,
) -> PyResult<FoundSlices> {
    let view = sample.view()?;
    let request = SliceRequest {
        of_rows: contiguous(&slices)?,
        count,
        metric: metric_named(metric)?,
        options: options.read()?,
        sampling: view.sampling(),
        reference: reference.map(reference_named).transpose()?,
        ignores_absent,
    };
    // A rest costs as much as the sample, and some metrics count it for every slice.
    let factor = cost_of_metrics(&[request.metric], view.rows()).saturating_mul(count.clamp(4, 64));
    let found = compute!(py, view, factor, |sample, workers| multiauc::evaluate_slices(sample, &request, workers))?;
    let slices = |slice: &FoundSlice| known(&slice.estimate, slice.smallest, chance);
    let references = |slice: &FoundSlice| known(&slice.reference, slice.reference_smallest, chance);
    let (smallest, largest) = request.metric.bounds();
    let scale = Scale { smallest, largest, is_log: request.metric.interval() == "log" };
    let is_tested = |place: usize| {
        let slice = &found.slices[place];
        Apart { first: slices(slice), second: references(slice), covariance: slice.covariance, scale }.is_testable()
    };
    let joint = found.joint.as_ref().map(|joint| joint.of_some(&found.slices, is_tested));
    Ok(FoundSlices {
        slices: side(py, found.slices.iter().map(slices)),
        references: side(py, found.slices.iter().map(references)),
        covariances: vector(py, found.slices.iter().map(|slice| slice.covariance).collect()).unbind(),
        joint: match joint {
            None => None,
            Some(joint) => {
                let count = joint.slices.len();
                Some((joint.slices, rectangle(py, joint.correlations, count)?.unbind()))
            }
        },
        whole: estimate(py, found.whole)?,
        whole_smallest: found.whole_smallest,
    })
}

/// How near chance counts as chance, relative to it.
const AT_CHANCE: f64 = 1e-12;

/// An estimate; where nothing varies because no rows are separated, it has no worst case.
fn known(found: &multiauc::Estimate, smallest_class: u64, chance: f64) -> Uncertain {
    let is_at_chance = found.variance == 0.0 && (found.value - chance).abs() <= AT_CHANCE * chance;
    Uncertain {
        value: found.value,
        variance: found.variance,
        degrees_of_freedom: found.degrees_of_freedom,
        smallest_class: smallest_class as f64,
        worst: found.worst.filter(|_| !is_at_chance),
    }
}

fn side(py: Python<'_>, found: impl Iterator<Item = Uncertain> + Clone) -> Side {
    let numbers = |of: fn(Uncertain) -> f64| vector(py, found.clone().map(of).collect()).unbind();
    let worst = |of: fn(WorstCase) -> f64| {
        vector(py, found.clone().map(|one| one.worst.map_or(f64::NAN, of)).collect()).unbind()
    };
    let smallest = found.clone().map(|one| one.smallest_class as u64).collect();
    (
        numbers(|one| one.value),
        numbers(|one| one.variance),
        numbers(|one| one.degrees_of_freedom),
        integers(py, smallest).unbind(),
        worst(|worst| worst.design_effect),
        worst(|worst| worst.failures),
    )
}
