//! States of streams.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use multiauc::{BoundedValue, Error, Metric, PairBounds, RowSumSettings, Sketch, SketchSettings};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::arrays::{Integers, Matrix, integers, rectangle};
use crate::errors::{other_precision, to_python};
use crate::inference::pair_of;
use crate::options::metrics_named;
use crate::running::run;
use crate::sample::{SampleArgument, ScoresView};

/// A state of either precision.
#[derive(Clone)]
pub enum AnySketch {
    Double(Sketch<f64>),
    Single(Sketch<f32>),
}

/// The same expression for a state of either precision.
macro_rules! with_sketch {
    ($sketch:expr, |$typed:ident| $work:expr) => {
        match $sketch {
            AnySketch::Double($typed) => $work,
            AnySketch::Single($typed) => $work,
        }
    };
}

/// What a cell costs: differences of all pairs are computed and sorted.
pub const UPDATE_COST: usize = 8;

/// A value between guaranteed bounds, with its variance.
#[pyclass(frozen, get_all, module = "multiauc._rust")]
pub struct Bounded {
    value: f64,
    low: f64,
    high: f64,
    variance: f64,
    degrees_of_freedom: f64,
    /// Of the worst case at each bound: design effect and failures.
    worst: [Option<(f64, f64)>; 2],
}

#[pymethods]
impl Bounded {
    /// A value that is not known.
    #[new]
    const fn new() -> Self {
        let nan = f64::NAN;
        Self { value: nan, low: nan, high: nan, variance: nan, degrees_of_freedom: nan, worst: [None, None] }
    }
}

/// All that a state knows.
#[pyclass(frozen, get_all, module = "multiauc._rust")]
pub struct Answers {
    /// By metric.
    metrics: Py<PyDict>,
    /// One-vs-rest of each class.
    per_class: Vec<Option<Py<Bounded>>>,
    /// Lower and upper bounds of all pairs of classes, by metric.
    pairs: Py<PyDict>,
}

/// A state that rows are added to.
#[pyclass(frozen, module = "multiauc._rust")]
pub struct StreamState(Mutex<AnySketch>);

#[pymethods]
impl StreamState {
    #[new]
    fn new(
        classes: usize,
        metrics: Vec<String>,
        memory: usize,
        is_single: bool,
        lattice: Option<u32>,
    ) -> PyResult<Self> {
        let settings = settings(classes, &metrics, memory, lattice)?;
        Ok(Self::of(if is_single {
            AnySketch::Single(Sketch::new(settings))
        } else {
            AnySketch::Double(Sketch::new(settings))
        }))
    }

    /// The least memory of such a state.
    #[staticmethod]
    fn least_memory(classes: usize, metrics: Vec<String>) -> PyResult<usize> {
        Ok(settings(classes, &metrics, 0, None)?.least_memory())
    }

    /// The least memory of such a state that knows variances.
    #[staticmethod]
    fn least_memory_for_variances(classes: usize, metrics: Vec<String>, is_single: bool) -> PyResult<usize> {
        let settings = settings(classes, &metrics, 0, None)?;
        Ok(if is_single {
            settings.least_memory_for_variances::<f32>()
        } else {
            settings.least_memory_for_variances::<f64>()
        })
    }

    fn update(&self, py: Python<'_>, sample: SampleArgument<'_>) -> PyResult<()> {
        let view = sample.view()?;
        let (codes, weights) = (view.codes(), view.weights());
        run(py, view.cost().saturating_mul(UPDATE_COST), |workers| match (&mut *self.locked(), view.scores()) {
            (AnySketch::Double(sketch), ScoresView::Double(scores)) => sketch.update(scores, codes, weights, workers),
            (AnySketch::Single(sketch), ScoresView::Single(scores)) => sketch.update(scores, codes, weights, workers),
            _ => Err(Error::OtherSketch),
        })
    }

    /// Sorts the rows that wait into the histograms.
    fn settle(&self, py: Python<'_>) -> PyResult<()> {
        run(py, usize::MAX, |workers| with_sketch!(&mut *self.locked(), |sketch| sketch.settle(workers)))
    }

    fn merge(&self, py: Python<'_>, other: &Self) -> PyResult<()> {
        // A copy first: both may be the same, and a lock is taken once.
        let other = other.locked().clone();
        let merged = run(py, usize::MAX, |workers| {
            Ok(match (&mut *self.locked(), other) {
                (AnySketch::Double(own), AnySketch::Double(other)) => Some(own.merge(other, workers)?),
                (AnySketch::Single(own), AnySketch::Single(other)) => Some(own.merge(other, workers)?),
                _ => None,
            })
        })?;
        merged.ok_or_else(other_precision)
    }

    /// What the rows so far say.
    fn answers(&self, py: Python<'_>) -> PyResult<Answers> {
        let (answers, classes) = run(py, usize::MAX, |workers| {
            with_sketch!(&mut *self.locked(), |sketch| Ok((sketch.answers(workers)?, sketch.settings().classes)))
        })?;
        by_name(py, answers, classes)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes =
            run(py, usize::MAX, |workers| with_sketch!(&mut *self.locked(), |sketch| sketch.to_bytes(workers)))?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        let sketch = py.detach(|| match Sketch::from_bytes(data) {
            Ok(sketch) => Ok(AnySketch::Double(sketch)),
            // What is wrong is said by the one that the bytes are of.
            Err(error) => Sketch::from_bytes(data).map(AnySketch::Single).map_err(|other| are_of(data, error, other)),
        });
        Ok(Self::of(sketch.map_err(to_python)?))
    }

    /// Whether it was made with these arguments.
    fn is_made_with(&self, classes: usize, metrics: Vec<String>, memory: usize) -> PyResult<bool> {
        let found = *with_sketch!(&*self.locked(), |sketch| sketch.settings());
        Ok(found == settings(classes, &metrics, memory, found.lattice)?)
    }

    fn copy(&self) -> Self {
        Self::of(self.locked().clone())
    }

    /// Rows of positive weight, by class.
    #[getter]
    fn rows<'py>(&self, py: Python<'py>) -> Integers<'py> {
        let rows = with_sketch!(&*self.locked(), |sketch| sketch.rows().to_vec());
        integers(py, rows)
    }

    /// The coarsest lattice 1/m that holds all scores, where these are singles.
    #[getter]
    fn lattice(&self) -> Option<u32> {
        with_sketch!(&*self.locked(), |sketch| sketch.lattice())
    }

    /// Whether the scores are singles.
    #[getter]
    fn is_single(&self) -> bool {
        matches!(&*self.locked(), AnySketch::Single(_))
    }
}

impl StreamState {
    const fn of(sketch: AnySketch) -> Self {
        Self(Mutex::new(sketch))
    }

    /// A panic in an update would have been raised where it happened.
    pub fn locked(&self) -> MutexGuard<'_, AnySketch> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is wrong with bytes that are neither of doubles nor of singles: their ninth byte says which they claim to be.
pub fn are_of(data: &[u8], doubles: Error, singles: Error) -> Error {
    if data.get(8) == Some(&1) { singles } else { doubles }
}

/// What Python sees of answers.
pub fn by_name(py: Python<'_>, answers: multiauc::Answers, classes: usize) -> PyResult<Answers> {
    let metrics = PyDict::new(py);
    for (name, found) in [
        ("auc_mu", answers.auc_mu),
        ("hand_till", answers.hand_till),
        ("one_vs_rest", answers.one_vs_rest),
        ("one_vs_rest_prevalence", answers.one_vs_rest_prevalence),
    ] {
        metrics.set_item(name, found.map(bounded))?;
    }
    let pairs = PyDict::new(py);
    for (name, found) in [("auc_mu", answers.auc_mu_pairs), ("hand_till", answers.hand_till_pairs)] {
        if let Some(PairBounds { low, high }) = found {
            pairs.set_item(name, (rectangle(py, low, classes)?, rectangle(py, high, classes)?))?;
        }
    }
    let per_class = answers.per_class.into_iter();
    let per_class = per_class.map(|found| found.map(|one| Py::new(py, bounded(one))).transpose());
    Ok(Answers { metrics: metrics.unbind(), per_class: per_class.collect::<PyResult<_>>()?, pairs: pairs.unbind() })
}

/// What must be kept for some metrics.
fn settings(classes: usize, metrics: &[String], memory: usize, lattice: Option<u32>) -> PyResult<SketchSettings> {
    let metrics = metrics_named(metrics)?;
    Ok(SketchSettings {
        classes,
        differences: metrics.contains(&Metric::AucMu),
        columns_by_class: metrics.contains(&Metric::HandTill),
        columns: metrics.iter().any(|metric| !matches!(metric, Metric::AucMu | Metric::HandTill)),
        memory,
        lattice,
    })
}

fn bounded(found: BoundedValue) -> Bounded {
    let BoundedValue { value, low, high, variance, degrees_of_freedom, worst } = found;
    Bounded { value, low, high, variance, degrees_of_freedom, worst: worst.map(|one| Some(pair_of(one))) }
}

/// Sums over rows, which are exact in any number of parts.
#[pyclass(frozen, module = "multiauc._rust")]
pub struct RowSums(Mutex<multiauc::RowSums>);

#[pymethods]
impl RowSums {
    #[new]
    fn new(classes: usize, metrics: Vec<String>, clip: Option<f64>, k: usize) -> PyResult<Self> {
        Ok(Self(Mutex::new(multiauc::RowSums::new(sum_settings(classes, &metrics, clip, k)?))))
    }

    /// The sums of a batch, which has the columns (−s, s) where rows have one score.
    fn of(&self, py: Python<'_>, sample: SampleArgument<'_>) -> PyResult<Self> {
        let view = sample.view()?;
        let mut sums = multiauc::RowSums::new(*self.locked().settings());
        let sums = run(py, view.cost(), |_| {
            match view.scores() {
                ScoresView::Double(scores) => sums.update(scores, view.codes(), view.weights())?,
                ScoresView::Single(scores) => sums.update(scores, view.codes(), view.weights())?,
            }
            Ok(sums)
        })?;
        Ok(Self(Mutex::new(sums)))
    }

    fn merge(&self, other: &Self) {
        // A copy first: both may be the same, and a lock is taken once.
        let other = other.locked().clone();
        self.locked().merge(&other);
    }

    fn copy(&self) -> Self {
        Self(Mutex::new(self.locked().clone()))
    }

    /// By name of the metric; the bounds of a sum are its value.
    fn estimates(&self) -> HashMap<&'static str, Bounded> {
        let found = self.locked().estimates();
        let bounded = |found: multiauc::Estimate| {
            let multiauc::Estimate { value, variance, degrees_of_freedom, worst, .. } = found;
            Bounded { value, low: value, high: value, variance, degrees_of_freedom, worst: [worst.map(pair_of); 2] }
        };
        found.into_iter().map(|(metric, found)| (metric.name(), bounded(found))).collect()
    }

    /// K × K.
    fn confusion<'py>(&self, py: Python<'py>) -> PyResult<Matrix<'py>> {
        let sums = self.locked();
        rectangle(py, sums.confusion(), sums.settings().classes)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.locked().to_bytes())
    }

    /// The same settings with the sums of some bytes.
    fn read_bytes(&self, data: &[u8]) -> PyResult<Self> {
        let settings = *self.locked().settings();
        Ok(Self(Mutex::new(multiauc::RowSums::from_bytes(settings, data).map_err(to_python)?)))
    }
}

impl RowSums {
    fn locked(&self) -> MutexGuard<'_, multiauc::RowSums> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn sum_settings(classes: usize, metrics: &[String], clip: Option<f64>, k: usize) -> PyResult<RowSumSettings> {
    let metrics = metrics_named(metrics)?;
    let means = [Metric::LogLoss, Metric::Brier, Metric::TopKAccuracy].map(|metric| metrics.contains(&metric));
    Ok(RowSumSettings { classes, means, clip, k })
}
