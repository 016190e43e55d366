//! The options of metrics, and how words are read.

use multiauc::{
    Center, HumRule, IntervalRule, Metric, OneVsRestAverage, PairWeights, Reference, Region, ReplicateInterval,
    RuleKind, Scope, SummaryModel,
};
use numpy::{PyArray2, PyArrayMethods, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::arrays::square;
use crate::errors::unknown_word;

/// Weights of pairs: a name or a matrix.
#[derive(FromPyObject, IntoPyObjectRef)]
pub enum PairWeighting {
    Name(String),
    Matrix(Py<PyArray2<f64>>),
}

/// The same, for reading.
pub enum BorrowedWeighting<'py> {
    Named(PairWeights<'static>),
    Matrix(PyReadonlyArray2<'py, f64>),
}

impl PairWeighting {
    /// The weights, for reading; equal ones where none are given.
    pub fn borrow<'py>(weighting: Option<&Self>, py: Python<'py>) -> PyResult<BorrowedWeighting<'py>> {
        Ok(match weighting {
            None => BorrowedWeighting::Named(PairWeights::Equal),
            Some(Self::Name(name)) => BorrowedWeighting::Named(pair_weights_named(name)?),
            Some(Self::Matrix(matrix)) => BorrowedWeighting::Matrix(matrix.bind(py).try_readonly()?),
        })
    }
}

impl BorrowedWeighting<'_> {
    /// The weights as the core reads them.
    pub fn read(&self) -> PyResult<PairWeights<'_>> {
        match self {
            Self::Named(weights) => Ok(*weights),
            Self::Matrix(matrix) => Ok(PairWeights::Matrix(square(matrix)?)),
        }
    }
}

/// The options of metrics. A new one is a field here and in [`multiauc::MetricOptions`], and a reader in the Python
/// package.
#[pyclass(frozen, get_all, module = "multiauc._rust")]
pub struct MetricOptions {
    partition: Option<Py<PyArray2<f64>>>,
    pair_weights: Option<PairWeighting>,
    clip: Option<f64>,
    k: Option<usize>,
}

#[pymethods]
impl MetricOptions {
    #[new]
    #[pyo3(signature = (partition=None, pair_weights=None, clip=None, k=None))]
    const fn new(
        partition: Option<Py<PyArray2<f64>>>,
        pair_weights: Option<PairWeighting>,
        clip: Option<f64>,
        k: Option<usize>,
    ) -> Self {
        Self { partition, pair_weights, clip, k }
    }
}

/// The options of a call, borrowed; the default ones where Python gives none.
pub struct OptionsArgument<'py> {
    partition: Option<PyReadonlyArray2<'py, f64>>,
    pair_weights: BorrowedWeighting<'py>,
    clip: Option<f64>,
    k: usize,
}

impl MetricOptions {
    /// The arrays, for reading.
    pub fn borrow<'py>(&self, py: Python<'py>) -> PyResult<OptionsArgument<'py>> {
        Ok(OptionsArgument {
            partition: self.partition.as_ref().map(|array| array.bind(py).try_readonly()).transpose()?,
            pair_weights: PairWeighting::borrow(self.pair_weights.as_ref(), py)?,
            clip: self.clip,
            k: self.k.unwrap_or(multiauc::MetricOptions::DEFAULT.k),
        })
    }
}

impl<'py> FromPyObject<'_, 'py> for OptionsArgument<'py> {
    type Error = PyErr;

    fn extract(options: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        options.cast::<MetricOptions>()?.get().borrow(options.py())
    }
}

impl OptionsArgument<'_> {
    pub const DEFAULT: Self = Self {
        partition: None,
        pair_weights: BorrowedWeighting::Named(PairWeights::Equal),
        clip: None,
        k: multiauc::MetricOptions::DEFAULT.k,
    };

    /// The options as the core reads them.
    pub fn read(&self) -> PyResult<multiauc::MetricOptions<'_>> {
        Ok(multiauc::MetricOptions {
            partition: self.partition.as_ref().map(square).transpose()?,
            pair_weights: self.pair_weights.read()?,
            clip: self.clip,
            k: self.k,
        })
    }

    /// How often every score counts: once, or with a partition for every pair of classes.
    pub const fn cost(&self, classes: usize) -> usize {
        if self.partition.is_some() { classes } else { 1 }
    }
}

/// The value of a word.
fn one_of<T: Copy>(argument: &str, found: &str, accepted: &[(&str, T)]) -> PyResult<T> {
    let words = || accepted.iter().map(|&(word, _)| word).collect::<Vec<_>>();
    let value = accepted.iter().find(|(word, _)| *word == found);
    value.map(|&(_, value)| value).ok_or_else(|| unknown_word(argument, found, &words()))
}

/// A metric by its name.
pub fn metric_named(name: &str) -> PyResult<Metric> {
    one_of("metric", name, &Metric::ALL.map(|metric| (metric.name(), metric)))
}

/// Metrics by their names.
pub fn metrics_named(names: &[String]) -> PyResult<Vec<Metric>> {
    names.iter().map(|name| metric_named(name)).collect()
}

/// A decision rule by its name.
pub fn decision_rule_named(name: &str) -> PyResult<RuleKind> {
    one_of("rule", name, &RuleKind::ALL.map(|kind| (kind.name(), kind)))
}

/// How often every score counts in some metrics, roughly: once, but for those that look at tuples of rows.
pub fn cost_of_metrics(metrics: &[Metric], rows: usize) -> usize {
    let is_of_tuples = metrics.iter().any(|metric| matches!(metric, Metric::Hum | Metric::LandgrebeDuin));
    if is_of_tuples { rows } else { 1 }
}

/// Functions that read a word: the argument's name, what it becomes, and the words accepted.
macro_rules! words {
    ($($function:ident($argument:literal) -> $kind:ty { $($word:literal => $value:expr),* })*) => {
        $(pub fn $function(word: &str) -> PyResult<$kind> {
            one_of($argument, word, &[$(($word, $value)),*])
        })*
    };
}
words! {
    pair_weights_named("pair_weights") -> PairWeights<'static> {
        "size_product" => PairWeights::SizeProduct,
        "size_sum" => PairWeights::SizeSum
    }
    is_iid_named("sampling") -> bool { "stratified" => false, "iid" => true }
    average_named("average") -> OneVsRestAverage {
        "macro" => OneVsRestAverage::Macro,
        "prevalence" => OneVsRestAverage::Prevalence,
        "prevalence_equal_rest" => OneVsRestAverage::PrevalenceEqualRest,
        "micro" => OneVsRestAverage::Micro
    }
    reference_named("reference") -> Reference { "rest" => Reference::Rest, "all" => Reference::All }
    interval_named("method") -> IntervalRule {
        "wilson" => IntervalRule::Wilson,
        "logit" => IntervalRule::Logit,
        "log" => IntervalRule::Log,
        "wald" => IntervalRule::Wald,
        "cautious" => IntervalRule::Cautious
    }
    replicate_interval_named("method") -> ReplicateInterval {
        "logit" => ReplicateInterval::Logit,
        "percentile" => ReplicateInterval::Percentile,
        "basic" => ReplicateInterval::Basic,
        "bca" => ReplicateInterval::Bca
    }
    region_named("region") -> fn(f64) -> Region { "max_fpr" => Region::MaxFpr, "min_tpr" => Region::MinTpr }
    rule_named("rule") -> HumRule { "sum" => HumRule::Sum, "prod" => HumRule::Product, "distance" => HumRule::Distance }
    summary_model_named("model") -> SummaryModel {
        "moses_littenberg" => SummaryModel::Line,
        "bivariate" => SummaryModel::Normal,
        "hsroc" => SummaryModel::Hierarchical,
        "binomial" => SummaryModel::Binomial
    }
    scope_named("scope") -> Scope { "shared" => Scope::Shared, "class" => Scope::Class, "pair" => Scope::Pair }
    center_named("center") -> Center { "intercept" => Center::Intercept, "projection" => Center::Projection }
}
