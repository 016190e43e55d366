//! Closed-form uncertainty: estimates with their variances, covariances of models, what each row contributes.

use multiauc::{Components, Design, Estimate, METRICS, Metric, MetricOptions, Result, Score, ScoredSample, Workers};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::{
    CodeArray, PairWeightsArgument, Scores, contiguous, matrix, pair_weights, rectangle, square, square_matrix, vector,
};
use crate::running::run;

type Matrix<'py> = Bound<'py, PyArray2<f64>>;
type Units<'py> = Bound<'py, PyArray1<i64>>;

/// The arguments that all functions share, borrowed from Python.
#[derive(FromPyObject)]
pub struct SampleArguments<'py>(
    Scores<'py>,
    CodeArray<'py>,
    Option<PyReadonlyArray1<'py, f64>>,
    Option<PyReadonlyArray1<'py, u32>>,
);

/// What a call computes from a sample of either precision.
macro_rules! with_sample {
    ($py:expr, $arguments:expr, |$sample:ident, $design:ident, $workers:ident| $work:expr) => {{
        let SampleArguments(scores, codes, weights, groups) = $arguments;
        let codes = codes.codes()?;
        let weights = weights.as_ref().map(contiguous).transpose()?;
        let groups = groups.as_ref().map(contiguous).transpose()?;
        let $design = Design { groups, is_iid: false };
        macro_rules! compute {
            ($array:expr) => {{
                let scores = matrix($array)?;
                run($py, scores.rows() * scores.columns(), move |$workers| {
                    let $sample = &ScoredSample::new(scores, codes, weights, $workers)?;
                    $work
                })
            }};
        }
        match scores {
            Scores::Double(array) => compute!(array),
            Scores::Single(array) => compute!(array),
        }
    }};
}

/// Estimates as rows of (value, variance, degrees of freedom, plug-in variance).
fn table<'py>(py: Python<'py>, estimates: &[Estimate]) -> PyResult<Matrix<'py>> {
    let rows = estimates.iter().flat_map(|e| [e.value, e.variance, e.freedom, e.plug_in]);
    rectangle(py, rows.collect(), 4)
}

fn units(py: Python<'_>, units: Vec<u64>) -> Units<'_> {
    vector(py, units.into_iter().map(u64::cast_signed).collect())
}

/// All metrics of a sample with their uncertainty.
#[pyclass(frozen, get_all, module = "multiauc._rust")]
pub struct Evaluated {
    /// Four rows of (value, variance, degrees of freedom, plug-in variance).
    estimates: Py<PyArray2<f64>>,
    /// 4 × 4.
    covariance: Py<PyArray2<f64>>,
    /// The same for each class against the rest.
    per_class: Py<PyArray2<f64>>,
    /// K × K values and variances of the pairs of AUC_mu.
    auc_mu_values: Py<PyArray2<f64>>,
    auc_mu_variances: Py<PyArray2<f64>>,
    /// K × K values and variances of A(c|d).
    hand_till_values: Py<PyArray2<f64>>,
    hand_till_variances: Py<PyArray2<f64>>,
    /// Independent units of each class.
    units: Py<PyArray1<i64>>,
}

#[pyfunction]
pub fn evaluate(
    py: Python<'_>,
    sample: SampleArguments<'_>,
    partition: Option<PyReadonlyArray2<'_, f64>>,
    pair_weights: Option<PairWeightsArgument<'_>>,
    is_iid: bool,
) -> PyResult<Evaluated> {
    let options = options(partition.as_ref(), pair_weights.as_ref())?;
    let (components, moments) = with_sample!(py, &sample, |sample, design, workers| {
        let components = multiauc::components(sample, options, Design { is_iid, ..design }, None, workers)?;
        let moments = components.moments(workers)?;
        Ok((components, moments))
    })?;
    let classes = components.per_class.len();
    Ok(Evaluated {
        estimates: table(py, &components.estimates(&moments))?.unbind(),
        covariance: square_matrix(py, moments.covariance, METRICS)?.unbind(),
        per_class: table(py, &components.per_class)?.unbind(),
        units: units(py, components.units()).unbind(),
        auc_mu_values: square_matrix(py, components.auc_mu.values, classes)?.unbind(),
        auc_mu_variances: square_matrix(py, components.auc_mu.variances, classes)?.unbind(),
        hand_till_values: square_matrix(py, components.hand_till.values, classes)?.unbind(),
        hand_till_variances: square_matrix(py, components.hand_till.variances, classes)?.unbind(),
    })
}

#[pyfunction]
pub fn influences<'py>(
    py: Python<'py>,
    sample: SampleArguments<'py>,
    partition: Option<PyReadonlyArray2<'py, f64>>,
    pair_weights: Option<PairWeightsArgument<'py>>,
) -> PyResult<Matrix<'py>> {
    let options = options(partition.as_ref(), pair_weights.as_ref())?;
    let influences = with_sample!(py, &sample, |sample, design, workers| {
        multiauc::components(sample, options, design, None, workers)?.influences(sample.rows(), workers)
    })?;
    rectangle(py, influences, METRICS)
}

#[pyfunction]
pub fn compare<'py>(
    py: Python<'py>,
    samples: Vec<SampleArguments<'py>>,
    partition: Option<PyReadonlyArray2<'py, f64>>,
    pair_weights: Option<PairWeightsArgument<'py>>,
    is_iid: bool,
    metric: &str,
) -> PyResult<(Matrix<'py>, Matrix<'py>, Matrix<'py>, Units<'py>)> {
    let options = options(partition.as_ref(), pair_weights.as_ref())?;
    let metric = metric_named(metric)?;
    let mut models = Vec::with_capacity(samples.len());
    for sample in &samples {
        models.push(with_sample!(py, sample, |sample, design, workers| {
            one_metric(sample, options, Design { is_iid, ..design }, metric, workers).map(|all| all.into_model(metric))
        })?);
    }
    let Some(first) = models.first() else { return Err(PyValueError::new_err("there is no model to compare")) };
    let class_units = first.units();
    let rows = class_units.iter().sum::<u64>() as usize;
    let moments = run(py, rows * models.len() * models.len(), |workers| multiauc::compare(&models, workers))?;
    let differences: Vec<Estimate> = moments.differences.into_iter().map(|(_, _, difference)| difference).collect();
    Ok((
        table(py, &moments.estimates)?,
        square_matrix(py, moments.covariance, models.len())?,
        table(py, &differences)?,
        units(py, class_units),
    ))
}

fn one_metric<T: Score>(
    sample: &ScoredSample<'_, T>,
    options: MetricOptions<'_>,
    design: Design<'_>,
    metric: Metric,
    workers: &Workers<'_>,
) -> Result<Components> {
    multiauc::components(sample, options, design, Some(metric), workers)
}

#[pyfunction]
pub fn interactions<'py>(
    py: Python<'py>,
    sample: SampleArguments<'py>,
    partition: Option<PyReadonlyArray2<'py, f64>>,
    pair_weights: Option<PairWeightsArgument<'py>>,
) -> PyResult<Matrix<'py>> {
    let options = options(partition.as_ref(), pair_weights.as_ref())?;
    let sums = with_sample!(py, &sample, |sample, _design, workers| multiauc::interactions(sample, options, workers))?;
    let columns = sums.unbiased.len();
    rectangle(py, [sums.unbiased, sums.bootstrap].concat(), columns)
}

#[pyfunction]
pub fn auc_mu_variances<'py>(
    py: Python<'py>,
    sample: SampleArguments<'py>,
    partition: Option<PyReadonlyArray2<'py, f64>>,
) -> PyResult<Matrix<'py>> {
    let options = options(partition.as_ref(), None)?;
    let (variances, classes) = with_sample!(py, &sample, |sample, design, workers| {
        let components = one_metric(sample, options, design, Metric::AucMu, workers)?;
        Ok((components.auc_mu.variances, sample.sizes().rows.len()))
    })?;
    square_matrix(py, variances, classes)
}

#[pyfunction]
pub fn hand_till_variances<'py>(py: Python<'py>, sample: SampleArguments<'py>) -> PyResult<Matrix<'py>> {
    let options = options(None, None)?;
    let (variances, classes) = with_sample!(py, &sample, |sample, design, workers| {
        let components = one_metric(sample, options, design, Metric::HandTill, workers)?;
        Ok((components.hand_till.variances, components.per_class.len()))
    })?;
    square_matrix(py, variances, classes)
}

fn options<'a>(
    partition: Option<&'a PyReadonlyArray2<'_, f64>>,
    argument: Option<&'a PairWeightsArgument<'_>>,
) -> PyResult<MetricOptions<'a>> {
    Ok(MetricOptions { partition: partition.map(square).transpose()?, pair_weights: pair_weights(argument)? })
}

fn metric_named(name: &str) -> PyResult<Metric> {
    match name {
        "auc_mu" => Ok(Metric::AucMu),
        "hand_till" => Ok(Metric::HandTill),
        "one_vs_rest" => Ok(Metric::OneVsRest),
        "one_vs_rest_prevalence" => Ok(Metric::OneVsRestPrevalence),
        _ => Err(PyValueError::new_err(format!("metric is {name:?}; no metric with components has that name"))),
    }
}
