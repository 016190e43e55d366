//! The bootstrap: orders that Python keeps, or the arrays they are made from, and replicates of them.
#![allow(clippy::needless_pass_by_value, reason = "arguments are extracted from Python by value")]

use multiauc::{
    ClassCodes, KeptOrders, Metric, Orders, PairWeights, Region, Result, Sampling, ScoreMatrix, ScoredSample, Workers,
    num_threads,
};
use numpy::{PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::{
    CodeArray, PairWeightsArgument, Scores, byte_rectangle, contiguous, matrix, records, rectangle, square,
};
use crate::running::run;

type Matrix<'py> = Bound<'py, PyArray2<f64>>;
type Curves = Vec<(usize, Option<usize>)>;

/// Replicates of metrics of one or more models scored on the same rows.
#[pyclass(frozen, module = "multiauc._rust")]
pub struct Resampler {
    core: multiauc::Resampler,
    inputs: Inputs,
    /// Orders of the models, if they fit the memory allowed for them.
    kept: Option<Vec<KeptOrders>>,
}

/// The caller's arrays, in case the orders have to be made again.
struct Inputs {
    scores: Vec<Py<PyAny>>,
    codes: Py<PyAny>,
    weights: Option<Py<PyAny>>,
    partition: Option<Py<PyAny>>,
    pair_weights: Option<Py<PyAny>>,
    n_classes: usize,
}

/// The same, borrowed for one call.
struct Borrowed<'py> {
    scores: Vec<Scores<'py>>,
    codes: CodeArray<'py>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    partition: Option<PyReadonlyArray2<'py, f64>>,
    pair_weights: Option<PairWeightsArgument<'py>>,
    n_classes: usize,
}

/// The same, as the core reads them.
struct Views<'a> {
    scores: Vec<AnyScores<'a>>,
    codes: ClassCodes<'a>,
    weights: Option<&'a [f64]>,
    partition: Option<&'a [f64]>,
    pair_weights: PairWeights<'a>,
    n_classes: usize,
}

#[derive(Clone, Copy)]
enum AnyScores<'a> {
    Double(ScoreMatrix<'a, f64>),
    Single(ScoreMatrix<'a, f32>),
}

enum AnySample<'a> {
    Double(ScoredSample<'a, f64>),
    Single(ScoredSample<'a, f32>),
}

/// The same expression for either precision.
macro_rules! for_either {
    ($kind:ident, $value:expr, $inner:ident => $call:expr) => {
        match $value {
            $kind::Double($inner) => $call,
            $kind::Single($inner) => $call,
        }
    };
}

impl Inputs {
    fn borrow<'py>(&self, py: Python<'py>) -> PyResult<Borrowed<'py>> {
        let optional = |array: &Option<Py<PyAny>>| array.as_ref().map(|array| array.bind(py).clone());
        Ok(Borrowed {
            scores: self.scores.iter().map(|scores| scores.bind(py).extract()).collect::<PyResult<_>>()?,
            codes: self.codes.bind(py).extract()?,
            weights: optional(&self.weights).map(|array| array.extract()).transpose()?,
            partition: optional(&self.partition).map(|array| array.extract()).transpose()?,
            pair_weights: optional(&self.pair_weights).map(|value| value.extract()).transpose()?,
            n_classes: self.n_classes,
        })
    }
}

impl Borrowed<'_> {
    fn views<'a>(&'a self) -> PyResult<Views<'a>> {
        let scores = |scores: &'a Scores<'_>| {
            Ok(match scores {
                Scores::Double(array) => AnyScores::Double(matrix(array)?),
                Scores::Single(array) => AnyScores::Single(matrix(array)?),
            })
        };
        Ok(Views {
            scores: self.scores.iter().map(scores).collect::<PyResult<_>>()?,
            codes: self.codes.codes()?,
            weights: self.weights.as_ref().map(contiguous).transpose()?,
            partition: self.partition.as_ref().map(square).transpose()?,
            pair_weights: self.pair_weights.as_ref().map_or(Ok(PairWeights::Equal), PairWeightsArgument::weights)?,
            n_classes: self.n_classes,
        })
    }
}

impl<'a> Views<'a> {
    fn sample(&self, model: usize, workers: &Workers<'_>) -> Result<AnySample<'a>> {
        let (codes, weights, classes) = (self.codes, self.weights, self.n_classes);
        Ok(match self.scores[model] {
            AnyScores::Double(scores) => {
                AnySample::Double(ScoredSample::with_classes(scores, codes, weights, classes, workers)?)
            }
            AnyScores::Single(scores) => {
                AnySample::Single(ScoredSample::with_classes(scores, codes, weights, classes, workers)?)
            }
        })
    }

    fn samples(&self, workers: &Workers<'_>) -> Result<Vec<AnySample<'a>>> {
        (0..self.scores.len()).map(|model| self.sample(model, workers)).collect()
    }

    fn cells(&self) -> usize {
        let cells = |scores: &AnyScores<'_>| for_either!(AnyScores, scores, matrix => matrix.rows() * matrix.columns());
        self.scores.iter().map(cells).sum()
    }
}

fn orders<'s>(
    core: &'s multiauc::Resampler,
    samples: &'s [AnySample<'_>],
    partition: Option<&'s [f64]>,
    workers: &Workers<'_>,
) -> Result<Vec<Box<dyn Orders + 's>>> {
    let of_sample = |sample: &'s AnySample<'_>| -> Result<Box<dyn Orders + 's>> {
        Ok(for_either!(AnySample, sample, sample => Box::new(core.orders(sample, partition, workers)?)))
    };
    samples.iter().map(of_sample).collect()
}

impl Resampler {
    fn build(
        py: Python<'_>,
        inputs: Inputs,
        memory_limit: usize,
        make: impl Fn(&AnySample<'_>) -> Result<multiauc::Resampler> + Send + Sync,
    ) -> PyResult<Self> {
        let borrowed = inputs.borrow(py)?;
        let views = borrowed.views()?;
        let (core, kept) = run(py, 10 * views.cells(), |workers| {
            let samples = views.samples(workers)?;
            let core = make(&samples[0])?;
            let orders = orders(&core, &samples, views.partition, workers)?;
            let kept = if core.most_bytes().saturating_mul(samples.len()) <= memory_limit {
                Some(orders.iter().map(|orders| core.keep(&**orders, workers)).collect::<Result<Vec<_>>>()?)
            } else {
                None
            };
            drop(orders);
            Ok((core, kept))
        })?;
        drop(borrowed);
        Ok(Self { core, inputs, kept })
    }

    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        count: usize,
        call: impl Fn(&[&dyn Orders], PairWeights<'_>, &Workers<'_>) -> Result<Vec<f64>> + Send + Sync,
    ) -> PyResult<Matrix<'py>> {
        let borrowed = self.inputs.borrow(py)?;
        let views = borrowed.views()?;
        let cells = self.core.rows_per_replicate().saturating_mul(self.inputs.scores.len() * count);
        let values = run(py, cells, |workers| {
            if let Some(kept) = &self.kept {
                let models: Vec<&dyn Orders> = kept.iter().map(|orders| orders as &dyn Orders).collect();
                return call(&models, views.pair_weights, workers);
            }
            let samples = views.samples(workers)?;
            let made = orders(&self.core, &samples, views.partition, workers)?;
            let models: Vec<&dyn Orders> = made.iter().map(|orders| &**orders).collect();
            call(&models, views.pair_weights, workers)
        })?;
        let columns = values.len() / count.max(1);
        rectangle(py, values, columns)
    }
}

#[pymethods]
impl Resampler {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "the arguments of the Python class")]
    fn new(
        py: Python<'_>,
        scores: Vec<Py<PyAny>>,
        codes: Py<PyAny>,
        weights: Option<Py<PyAny>>,
        n_classes: usize,
        sampling: &str,
        groups: Option<PyReadonlyArray1<'_, u32>>,
        metrics: Vec<String>,
        partition: Option<Py<PyAny>>,
        pair_weights: Option<Py<PyAny>>,
        memory_limit: usize,
    ) -> PyResult<Self> {
        let inputs = Inputs { scores, codes, weights, partition, pair_weights, n_classes };
        let groups = groups.as_ref().map(contiguous).transpose()?;
        let sampling = sampling_named(sampling, groups)?;
        let metrics = metrics.iter().map(|name| metric_named(name)).collect::<PyResult<Vec<_>>>()?;
        Self::build(
            py,
            inputs,
            memory_limit,
            |sample| for_either!(AnySample, sample, sample => multiauc::Resampler::new(sample, sampling, &metrics)),
        )
    }

    /// Partial areas of curves: their mean, and their mean by prevalence.
    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "the arguments of the Python method")]
    fn of_curves(
        py: Python<'_>,
        scores: Vec<Py<PyAny>>,
        codes: Py<PyAny>,
        weights: Option<Py<PyAny>>,
        n_classes: usize,
        sampling: &str,
        groups: Option<PyReadonlyArray1<'_, u32>>,
        curves: Curves,
        region: &str,
        rate: f64,
        memory_limit: usize,
    ) -> PyResult<Self> {
        let inputs = Inputs { scores, codes, weights, partition: None, pair_weights: None, n_classes };
        let groups = groups.as_ref().map(contiguous).transpose()?;
        let (sampling, region) = (sampling_named(sampling, groups)?, region_named(region, rate)?);
        Self::build(
            py,
            inputs,
            memory_limit,
            |sample| for_either!(AnySample, sample, sample => multiauc::Resampler::of_curves(sample, sampling, &curves, region)),
        )
    }

    /// Whether the orders are in memory.
    #[getter]
    fn is_kept(&self) -> bool {
        self.kept.is_some()
    }

    /// How many replicates are best asked for at once.
    #[getter]
    fn block(&self) -> usize {
        self.core.block(self.kept.is_some(), num_threads())
    }

    /// Replicates `first`, `first` + 1, …: a row each, with a column per model and metric.
    fn replicates<'py>(&self, py: Python<'py>, seed: u64, first: u32, count: u32) -> PyResult<Matrix<'py>> {
        self.evaluate(py, count as usize, |models, pair_weights, workers| {
            self.core.replicates(models, pair_weights, (seed, first, count), workers)
        })
    }

    /// The same for given multiplicities of the rows, a row per replicate.
    fn given<'py>(&self, py: Python<'py>, multiplicities: PyReadonlyArray2<'py, u8>) -> PyResult<Matrix<'py>> {
        let (entries, rows) = records(&multiplicities)?;
        if rows != self.inputs.codes.bind(py).len()? {
            return Err(PyValueError::new_err("multiplicities need a column per row of the sample"));
        }
        self.evaluate(py, entries.len() / rows, |models, pair_weights, workers| {
            self.core.given(models, pair_weights, entries, workers)
        })
    }

    /// How often replicates `first`, `first` + 1, … hold each row: a row per replicate.
    fn multiplicities<'py>(
        &self,
        py: Python<'py>,
        seed: u64,
        first: u32,
        count: u32,
    ) -> PyResult<Bound<'py, PyArray2<u8>>> {
        let all: Vec<u8> =
            (0..count).flat_map(|index| self.core.multiplicities(seed, first.wrapping_add(index))).collect();
        byte_rectangle(py, all, count as usize)
    }
}

/// (value of each curve, mean, mean by prevalence) of partial areas.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the arguments of the Python function")]
pub fn partial_aucs(
    py: Python<'_>,
    scores: Py<PyAny>,
    codes: Py<PyAny>,
    weights: Option<Py<PyAny>>,
    n_classes: usize,
    curves: Curves,
    region: &str,
    rate: f64,
) -> PyResult<(Vec<f64>, f64, f64)> {
    let region = region_named(region, rate)?;
    let inputs = Inputs { scores: vec![scores], codes, weights, partition: None, pair_weights: None, n_classes };
    let borrowed = inputs.borrow(py)?;
    let views = borrowed.views()?;
    let areas = run(py, 10 * views.cells(), |workers| {
        let sample = views.sample(0, workers)?;
        for_either!(AnySample, &sample, sample => multiauc::partial_aucs(sample, &curves, region, workers))
    })?;
    Ok((areas.values, areas.mean, areas.mean_by_prevalence))
}

fn metric_named(name: &str) -> PyResult<Metric> {
    match name {
        "auc_mu" => Ok(Metric::AucMu),
        "hand_till" => Ok(Metric::HandTill),
        "one_vs_rest" => Ok(Metric::OneVsRest),
        "one_vs_rest_prevalence" => Ok(Metric::OneVsRestPrevalence),
        _ => Err(PyValueError::new_err(format!(
            "a metric is {name:?}; accepted: \"auc_mu\", \"hand_till\", \"one_vs_rest\" or \"one_vs_rest_prevalence\""
        ))),
    }
}

fn sampling_named<'a>(name: &str, groups: Option<&'a [u32]>) -> PyResult<Sampling<'a>> {
    match (groups, name) {
        (Some(groups), _) => Ok(Sampling::Groups(groups)),
        (None, "stratified") => Ok(Sampling::Stratified),
        (None, "iid") => Ok(Sampling::Iid),
        _ => Err(PyValueError::new_err(format!("sampling is {name:?}; accepted: \"stratified\" or \"iid\""))),
    }
}

fn region_named(name: &str, rate: f64) -> PyResult<Region> {
    match name {
        "max_fpr" => Ok(Region::MaxFpr(rate)),
        "min_tpr" => Ok(Region::MinTpr(rate)),
        _ => Err(PyValueError::new_err(format!("a region is {name:?}; accepted: \"max_fpr\" or \"min_tpr\""))),
    }
}
