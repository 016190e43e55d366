//! Slices of a sample: each by itself, and against the rest of the sample.

use multiauc::{FoundSlice, SliceRequest};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::arrays::{contiguous, integers, rectangle, vector};
use crate::inference::{Estimate, estimate, pair_of};
use crate::options::{OptionsArgument, cost_of_metrics, metric_named, reference_named};
use crate::sample::{SampleArgument, compute};

/// An entry per slice; NaN where a number is not known.
#[pyclass(frozen, get_all, module = "multiauc._rust")]
pub struct FoundSlices {
    whole: Py<Estimate>,
    whole_smallest: u64,
    values: Py<PyArray1<f64>>,
    variances: Py<PyArray1<f64>>,
    degrees_of_freedom: Py<PyArray1<f64>>,
    smallest: Py<PyArray1<i64>>,
    worst: [Py<PyArray1<f64>>; 2],
    reference_values: Py<PyArray1<f64>>,
    reference_variances: Py<PyArray1<f64>>,
    reference_degrees_of_freedom: Py<PyArray1<f64>>,
    reference_smallest: Py<PyArray1<i64>>,
    reference_worst: [Py<PyArray1<f64>>; 2],
    covariances: Py<PyArray1<f64>>,
    /// The slices that are compared, and the correlations of their differences, where these are few.
    joint: Option<(Vec<u32>, Py<PyArray2<f64>>)>,
}

#[pyfunction]
#[pyo3(signature = (sample, slices, count, metric, options, reference, ignores_absent))]
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
    let numbers = |of: fn(&FoundSlice) -> f64| vector(py, found.slices.iter().map(of).collect()).unbind();
    let counts = |of: fn(&FoundSlice) -> u64| integers(py, found.slices.iter().map(of).collect()).unbind();
    let matrix = |entries: Vec<f64>, columns: usize| Ok::<_, PyErr>(rectangle(py, entries, columns)?.unbind());
    Ok(FoundSlices {
        whole: estimate(py, found.whole)?,
        whole_smallest: found.whole_smallest,
        values: numbers(|slice| slice.estimate.value),
        variances: numbers(|slice| slice.estimate.variance),
        degrees_of_freedom: numbers(|slice| slice.estimate.degrees_of_freedom),
        smallest: counts(|slice| slice.smallest),
        worst: [numbers(|slice| worst(&slice.estimate).0), numbers(|slice| worst(&slice.estimate).1)],
        reference_values: numbers(|slice| slice.reference.value),
        reference_variances: numbers(|slice| slice.reference.variance),
        reference_degrees_of_freedom: numbers(|slice| slice.reference.degrees_of_freedom),
        reference_smallest: counts(|slice| slice.reference_smallest),
        reference_worst: [numbers(|slice| worst(&slice.reference).0), numbers(|slice| worst(&slice.reference).1)],
        covariances: numbers(|slice| slice.covariance),
        joint: match found.joint {
            None => None,
            Some(joint) => {
                let count = joint.slices.len();
                Some((joint.slices, matrix(joint.correlations, count)?))
            }
        },
    })
}

/// (D₀, q), NaN where there is none.
fn worst(found: &multiauc::Estimate) -> (f64, f64) {
    found.worst.map_or((f64::NAN, f64::NAN), pair_of)
}
