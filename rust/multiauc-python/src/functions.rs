//! One function of the core each: borrow the arguments, run the core, hand its answer over.

use multiauc::{ClassSizes, Coding, CurvePoints, OneVsRestAverage, PairWeights, Result, Score, ScoredSample, Workers};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::{
    CodeArray, IntegerArray, PairWeightsArgument, ScoreColumn, Scores, code_array, column, contiguous, matrix, records,
    square, square_matrix, vector,
};
use crate::running::run;

type Weights<'py> = Option<PyReadonlyArray1<'py, f64>>;
type Vector<'py> = Bound<'py, PyArray1<f64>>;
type CodingTuple<'py> = (Bound<'py, PyAny>, Bound<'py, PyArray1<isize>>, Bound<'py, PyArray1<i64>>);

/// What the core computes from a sample, for either precision.
trait Metric: Send {
    type Output: Send;
    fn compute<T: Score>(self, sample: &ScoredSample<'_, T>, workers: &Workers<'_>) -> Result<Self::Output>;
}

/// What a cell costs where rows are sorted because they have weights, in units of a cell that is counted.
const SORTED_CELL: usize = 10;
/// The same for a point of a curve.
const CURVE_POINT: usize = 40;

/// Computes a metric whose cells cost so many times as much as those that are counted once.
fn evaluate<M: Metric>(
    py: Python<'_>,
    scores: &Scores<'_>,
    codes: &CodeArray<'_>,
    weights: &Weights<'_>,
    cell_cost: usize,
    metric: M,
) -> PyResult<M::Output> {
    let codes = codes.codes()?;
    let weights = weights.as_ref().map(contiguous).transpose()?;
    let cell_cost = if weights.is_some() { cell_cost * SORTED_CELL } else { cell_cost };
    macro_rules! evaluate {
        ($array:expr) => {{
            let scores = matrix($array)?;
            run(py, (scores.rows() * scores.columns()).saturating_mul(cell_cost), move |workers| {
                metric.compute(&ScoredSample::new(scores, codes, weights, workers)?, workers)
            })
        }};
    }
    match scores {
        Scores::Double(array) => evaluate!(array),
        Scores::Single(array) => evaluate!(array),
    }
}

/// A metric from a call of the core with `sample` and `workers`.
macro_rules! metric {
    ($output:ty, [$($field:ident: $kind:ty),*], |$sample:ident, $workers:ident| $call:expr) => {{
        struct Call<'a> {
            $($field: $kind,)*
            lifetime: std::marker::PhantomData<&'a ()>,
        }
        impl Metric for Call<'_> {
            type Output = $output;
            fn compute<T: Score>(self, $sample: &ScoredSample<'_, T>, $workers: &Workers<'_>) -> Result<$output> {
                let Self { $($field,)* .. } = self;
                $call
            }
        }
        Call { $($field,)* lifetime: std::marker::PhantomData }
    }};
}

#[pyfunction]
pub fn set_num_threads(n: usize) {
    multiauc::set_num_threads(n);
}

#[pyfunction]
pub fn get_num_threads() -> usize {
    multiauc::num_threads()
}

#[pyfunction]
pub fn code_integers<'py>(py: Python<'py>, values: IntegerArray<'py>) -> PyResult<CodingTuple<'py>> {
    macro_rules! code {
        ($array:expr) => {{
            let values = contiguous($array)?;
            run(py, values.len(), |workers| multiauc::code_integers(values, workers))?
        }};
    }
    let coding = match &values {
        IntegerArray::I64(array) => code!(array),
        IntegerArray::I32(array) => code!(array),
        IntegerArray::I16(array) => code!(array),
        IntegerArray::I8(array) => code!(array),
        IntegerArray::U64(array) => code!(array),
        IntegerArray::U32(array) => code!(array),
        IntegerArray::U16(array) => code!(array),
        IntegerArray::U8(array) => code!(array),
    };
    Ok(coding_tuple(py, coding))
}

#[pyfunction]
pub fn code_bytes<'py>(py: Python<'py>, values: PyReadonlyArray2<'py, u8>) -> PyResult<CodingTuple<'py>> {
    let (entries, width) = records(&values)?;
    Ok(coding_tuple(py, run(py, entries.len() / width.max(1), |_| multiauc::code_bytes(entries, width))?))
}

fn coding_tuple(py: Python<'_>, coding: Coding) -> CodingTuple<'_> {
    (
        code_array(py, coding.codes),
        vector(py, coding.first_rows.into_iter().map(usize::cast_signed).collect()),
        vector(py, coding.counts.into_iter().map(u64::cast_signed).collect()),
    )
}

#[pyfunction]
pub fn class_sizes<'py>(
    py: Python<'py>,
    codes: CodeArray<'py>,
    weights: Weights<'py>,
    n_classes: usize,
) -> PyResult<(Bound<'py, PyArray1<i64>>, Vector<'py>)> {
    let codes = codes.codes()?;
    let weights = weights.as_ref().map(contiguous).transpose()?;
    let sizes = run(py, codes.len(), |workers| ClassSizes::count(codes, weights, n_classes, workers))?;
    Ok((vector(py, sizes.rows.into_iter().map(u64::cast_signed).collect()), vector(py, sizes.weights)))
}

#[pyfunction]
pub fn auc_mu(
    py: Python<'_>,
    scores: Scores<'_>,
    codes: CodeArray<'_>,
    weights: Weights<'_>,
    partition: Option<PyReadonlyArray2<'_, f64>>,
    pair_weights: Option<PairWeightsArgument<'_>>,
) -> PyResult<f64> {
    let partition = partition.as_ref().map(square).transpose()?;
    // Every score of a row counts for every pair of classes.
    let partition_cost = partition.map_or(1, |costs| costs.len().isqrt());
    let pair_weights = crate::arrays::pair_weights(pair_weights.as_ref())?;
    let metric = metric!(f64, [partition: Option<&'a [f64]>, pair_weights: PairWeights<'a>], |sample, workers| {
        multiauc::auc_mu(sample, partition, pair_weights, workers)
    });
    evaluate(py, &scores, &codes, &weights, partition_cost, metric)
}

#[pyfunction]
pub fn auc_mu_matrix<'py>(
    py: Python<'py>,
    scores: Scores<'py>,
    codes: CodeArray<'py>,
    weights: Weights<'py>,
    partition: Option<PyReadonlyArray2<'py, f64>>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let partition = partition.as_ref().map(square).transpose()?;
    // Every score of a row counts for every pair of classes.
    let partition_cost = partition.map_or(1, |costs| costs.len().isqrt());
    let metric = metric!((Vec<f64>, usize), [partition: Option<&'a [f64]>], |sample, workers| {
        Ok((multiauc::auc_mu_matrix(sample, partition, workers)?, sample.classes()))
    });
    let (values, classes) = evaluate(py, &scores, &codes, &weights, partition_cost, metric)?;
    square_matrix(py, values, classes)
}

#[pyfunction]
pub fn hand_till(
    py: Python<'_>,
    scores: Scores<'_>,
    codes: CodeArray<'_>,
    weights: Weights<'_>,
    pair_weights: Option<PairWeightsArgument<'_>>,
) -> PyResult<f64> {
    let pair_weights = crate::arrays::pair_weights(pair_weights.as_ref())?;
    let metric = metric!(f64, [pair_weights: PairWeights<'a>], |sample, workers| {
        multiauc::hand_till(sample, pair_weights, workers)
    });
    evaluate(py, &scores, &codes, &weights, 1, metric)
}

#[pyfunction]
pub fn hand_till_matrix<'py>(
    py: Python<'py>,
    scores: Scores<'py>,
    codes: CodeArray<'py>,
    weights: Weights<'py>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let metric = metric!((Vec<f64>, usize), [], |sample, workers| {
        Ok((multiauc::hand_till_matrix(sample, workers)?, sample.classes()))
    });
    let (values, classes) = evaluate(py, &scores, &codes, &weights, 1, metric)?;
    square_matrix(py, values, classes)
}

#[pyfunction]
pub fn one_vs_rest(
    py: Python<'_>,
    scores: Scores<'_>,
    codes: CodeArray<'_>,
    weights: Weights<'_>,
    average: &str,
) -> PyResult<f64> {
    let average = match average {
        "macro" => OneVsRestAverage::Macro,
        "prevalence" => OneVsRestAverage::Prevalence,
        "prevalence_equal_rest" => OneVsRestAverage::PrevalenceEqualRest,
        "micro" => OneVsRestAverage::Micro,
        _ => {
            return Err(PyValueError::new_err(format!(
                "average is {average:?}; accepted: \"macro\", \"prevalence\", \"prevalence_equal_rest\" or \"micro\""
            )));
        }
    };
    let metric = metric!(f64, [average: OneVsRestAverage], |sample, workers| {
        multiauc::one_vs_rest(sample, average, workers)
    });
    evaluate(py, &scores, &codes, &weights, 1, metric)
}

#[pyfunction]
pub fn one_vs_rest_per_class<'py>(
    py: Python<'py>,
    scores: Scores<'py>,
    codes: CodeArray<'py>,
    weights: Weights<'py>,
) -> PyResult<Vector<'py>> {
    let metric = metric!(Vec<f64>, [], |sample, workers| multiauc::one_vs_rest_per_class(sample, workers));
    Ok(vector(py, evaluate(py, &scores, &codes, &weights, 1, metric)?))
}

#[pyfunction]
pub fn binary_auc(
    py: Python<'_>,
    scores: ScoreColumn<'_>,
    codes: CodeArray<'_>,
    weights: Weights<'_>,
) -> PyResult<f64> {
    let codes = codes.codes()?;
    let weights = weights.as_ref().map(contiguous).transpose()?;
    macro_rules! evaluate {
        ($array:expr) => {{
            let scores = column($array)?;
            run(py, scores.rows(), move |workers| multiauc::binary_auc(scores, codes, weights, workers))
        }};
    }
    match &scores {
        ScoreColumn::Double(array) => evaluate!(array),
        ScoreColumn::Single(array) => evaluate!(array),
    }
}

#[pyfunction]
pub fn roc_curve_points<'py>(
    py: Python<'py>,
    scores: Scores<'py>,
    codes: CodeArray<'py>,
    weights: Weights<'py>,
    pairs: Vec<(usize, Option<usize>)>,
    drop_intermediate: bool,
) -> PyResult<Vec<(Vector<'py>, Vector<'py>, Vector<'py>)>> {
    let pairs = &pairs[..];
    let metric = metric!(Vec<CurvePoints>, [pairs: &'a [(usize, Option<usize>)], drop_intermediate: bool], |sample, workers| {
        multiauc::roc_curves(sample, pairs, drop_intermediate, workers)
    });
    let curves = evaluate(py, &scores, &codes, &weights, CURVE_POINT, metric)?;
    let points = |curve: CurvePoints| {
        (vector(py, curve.false_positive_rates), vector(py, curve.true_positive_rates), vector(py, curve.thresholds))
    };
    Ok(curves.into_iter().map(points).collect())
}
