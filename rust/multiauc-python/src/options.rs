//! How words and dicts of options are read.

use multiauc::{Center, HumRule, Metric, MetricOptions, OneVsRestAverage, PairWeights, Reference, Region, Scope};
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::square;
use crate::errors::unknown_word;

/// Weights of pairs: a name or a matrix.
#[derive(FromPyObject)]
pub enum PairWeightsArgument<'py> {
    Name(String),
    Matrix(PyReadonlyArray2<'py, f64>),
}

impl PairWeightsArgument<'_> {
    /// The weights as the core reads them; equal ones where none are given.
    pub fn read(argument: Option<&Self>) -> PyResult<PairWeights<'_>> {
        match argument {
            None => Ok(PairWeights::Equal),
            Some(Self::Matrix(matrix)) => Ok(PairWeights::Matrix(square(matrix)?)),
            Some(Self::Name(name)) => {
                let words = [("size_product", PairWeights::SizeProduct), ("size_sum", PairWeights::SizeSum)];
                one_of("pair_weights", name, &words)
            }
        }
    }
}

/// The options of metrics. A new one is a field here, in [`MetricOptions`] and in the registry of the Python package.
pub struct OptionsArgument<'py> {
    partition: Option<PyReadonlyArray2<'py, f64>>,
    pair_weights: Option<PairWeightsArgument<'py>>,
    clip: Option<f64>,
    k: Option<usize>,
}

impl<'py> FromPyObject<'_, 'py> for OptionsArgument<'py> {
    type Error = PyErr;

    /// From a dict; None is the same as leaving the option out.
    fn extract(options: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let options = options.cast::<PyDict>()?;
        let get = |name: &str| Ok::<_, PyErr>(options.get_item(name)?.filter(|value| !value.is_none()));
        Ok(Self {
            partition: get("partition")?.map(|value| value.extract()).transpose()?,
            pair_weights: get("pair_weights")?.map(|value| value.extract()).transpose()?,
            clip: get("clip")?.map(|value| value.extract()).transpose()?,
            k: get("k")?.map(|value| value.extract()).transpose()?,
        })
    }
}

impl OptionsArgument<'_> {
    /// The options as the core reads them.
    pub fn read(&self) -> PyResult<MetricOptions<'_>> {
        let pair_weights = PairWeightsArgument::read(self.pair_weights.as_ref())?;
        Ok(MetricOptions {
            partition: self.partition.as_ref().map(square).transpose()?,
            pair_weights,
            clip: self.clip,
            k: self.k.unwrap_or(MetricOptions::DEFAULT.k),
        })
    }

    /// How often every score counts: once, or with a partition for every pair of classes.
    pub fn cost(&self, classes: usize) -> usize {
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
    is_iid_named("sampling") -> bool { "stratified" => false, "iid" => true }
    average_named("average") -> OneVsRestAverage {
        "macro" => OneVsRestAverage::Macro,
        "prevalence" => OneVsRestAverage::Prevalence,
        "prevalence_equal_rest" => OneVsRestAverage::PrevalenceEqualRest,
        "micro" => OneVsRestAverage::Micro
    }
    reference_named("reference") -> Reference { "rest" => Reference::Rest, "all" => Reference::All }
    region_named("region") -> fn(f64) -> Region { "max_fpr" => Region::MaxFpr, "min_tpr" => Region::MinTpr }
    rule_named("rule") -> HumRule { "sum" => HumRule::Sum, "prod" => HumRule::Product, "distance" => HumRule::Distance }
    scope_named("scope") -> Scope { "shared" => Scope::Shared, "class" => Scope::Class, "pair" => Scope::Pair }
    center_named("center") -> Center { "intercept" => Center::Intercept, "projection" => Center::Projection }
}
