//! The metrics: one file for each, from counts of pairs to a value, and from placements of rows to components.

mod auc_mu;
mod average_precision;
mod column_order;
mod column_placements;
mod column_statistics;
mod hand_till;
mod hard_labels;
mod hum;
mod interactions;
mod one_vs_rest;
mod ordered_vus;
mod pair_placements;
mod pdi;
mod row_means;
mod tie_credits;
mod two_classes;
mod waves;
mod weighting;
mod without_parts;

pub use auc_mu::{auc_mu, auc_mu_matrix};
pub use average_precision::average_precision_per_class;
pub use column_order::find_column_order;
pub use hand_till::{hand_till, hand_till_matrix};
pub use hum::{HumFound, hum, hum_statistic};
pub use interactions::{Interaction, Interactions, interactions};
pub use one_vs_rest::{one_vs_rest, one_vs_rest_per_class};
pub use ordered_vus::ordered_vus;
pub(crate) use pdi::Column as PdiColumn;
pub use pdi::{pdi, pdi_per_class};

use crate::error::Result;
use crate::float::Score;
use crate::inference::{Design, Estimate, Statistic};
use crate::keys::DifferenceRule;
use crate::metric::Metric;
use crate::pairs::{OneVsRestAverage, PairWeights};
use crate::parallel::Workers;
use crate::sample::{ClassRows, ScoredSample};
use crate::volume::{Drawing, HumRule};
use auc_mu::auc_mu_statistic;
use average_precision::{average_precision, average_precision_statistics, is_average_precision};
use column_statistics::column_statistics;
use hard_labels::{hard_label_statistics, hard_label_value, hard_label_values_without, is_of_hard_labels};
use ordered_vus::ordered_vus_statistic;
use pair_placements::{PlacingMemory, RankedScores, gather_whole};
use pdi::pdi_statistic;
pub(crate) use row_means::{brier, log_loss, top_k_credit};
use row_means::{row_mean, row_mean_statistic};
use two_classes::OneRanking;
use without_parts::pair_values_without;

/// What metrics depend on besides the sample.
#[derive(Debug, Clone, Copy)]
pub struct MetricOptions<'a> {
    /// K × K costs that rank the pairs of AUC_mu and make the decisions of hard labels; `None` for differences of scores
    /// and the highest score.
    pub partition: Option<&'a [f64]>,
    /// How much each pair counts in AUC_mu and in M.
    pub pair_weights: PairWeights<'a>,
    /// Smaller probabilities count as this one in log loss.
    pub clip: Option<f64>,
    /// How many of the highest scores top-k accuracy looks at.
    pub k: usize,
}

impl MetricOptions<'_> {
    /// What holds where nothing else is asked for.
    pub const DEFAULT: Self = Self { partition: None, pair_weights: PairWeights::Equal, clip: None, k: 2 };
}

impl Default for MetricOptions<'_> {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// The values of all pairs of classes with their variances: K × K, NaN on the diagonal and for absent classes.
#[derive(Debug, Clone)]
pub struct PairTable {
    /// S(c, d), symmetric, or A(c|d) at row c and column d.
    pub values: Vec<f64>,
    /// Their variances.
    pub variances: Vec<f64>,
    /// Degrees of freedom of the variances.
    pub degrees_of_freedom: Vec<f64>,
}

impl PairTable {
    fn missing(classes: usize) -> Self {
        let missing = vec![f64::NAN; classes * classes];
        Self { values: missing.clone(), variances: missing.clone(), degrees_of_freedom: missing }
    }
}

/// Some metrics of a sample, and what was found along the way.
#[derive(Debug, Default)]
pub struct Evaluated {
    /// The metrics asked for, in that order.
    pub statistics: Vec<Statistic>,
    /// The pairs of those that average over pairs of classes.
    pub pairs: Vec<(Metric, PairTable)>,
    /// Each class against the rest; empty unless a metric that ranks by columns was asked for.
    pub per_class: Vec<Estimate>,
    /// Average precision of each class; empty unless an average of it was asked for.
    pub average_precisions: Vec<Estimate>,
}

/// The value of one metric.
///
/// # Errors
/// [`Error::RowSumNotOne`](crate::Error::RowSumNotOne), [`Error::NoPairWeight`](crate::Error::NoPairWeight),
/// [`Error::NegativeScore`](crate::Error::NegativeScore), [`Error::TooManyTies`](crate::Error::TooManyTies),
/// [`Error::NotAProbability`](crate::Error::NotAProbability), [`Error::NotProbabilities`](crate::Error::NotProbabilities),
/// [`Error::NegativeProbability`](crate::Error::NegativeProbability),
/// [`Error::ZeroProbability`](crate::Error::ZeroProbability), [`Error::Cancelled`](crate::Error::Cancelled).
pub fn value<T: Score>(
    sample: &ScoredSample<'_, T>,
    metric: Metric,
    options: MetricOptions<'_>,
    workers: &Workers<'_>,
) -> Result<f64> {
    match metric {
        Metric::AucMu => auc_mu(sample, options.partition, options.pair_weights, workers),
        Metric::HandTill => hand_till(sample, options.pair_weights, workers),
        Metric::OneVsRest => one_vs_rest(sample, OneVsRestAverage::Macro, workers),
        Metric::OneVsRestPrevalence => one_vs_rest(sample, OneVsRestAverage::Prevalence, workers),
        Metric::AveragePrecision | Metric::AveragePrecisionPrevalence => average_precision(sample, metric, workers),
        Metric::Pdi => pdi(sample, workers),
        Metric::Hum => Ok(hum(sample, HumRule::Sum, Drawing::default(), workers)?.value),
        Metric::LandgrebeDuin => Ok(hum(sample, HumRule::Product, Drawing::default(), workers)?.value),
        Metric::OrderedVus => ordered_vus(sample, workers),
        Metric::Matthews | Metric::Kappa | Metric::Accuracy | Metric::BalancedAccuracy | Metric::MacroF1 => {
            hard_label_value(sample, metric, options.partition, workers)
        }
        Metric::TopKAccuracy | Metric::LogLoss | Metric::Brier => row_mean(sample, metric, options, workers),
    }
}

/// Whether the values of a metric without the rows of many parts of a sample are quick to find.
pub(crate) const fn has_values_without(metric: Metric) -> bool {
    is_of_hard_labels(metric) || ranks_pairs(metric)
}

/// Whether a metric averages counts of pairs of rows.
const fn ranks_pairs(metric: Metric) -> bool {
    matches!(metric, Metric::AucMu | Metric::HandTill | Metric::OneVsRest | Metric::OneVsRestPrevalence)
}

/// The value of a metric without the rows of each of some parts, which leave rows of every class. Each position is in
/// part `part_of[position]`, or in none if there is no such part.
///
/// # Errors
/// As [`value`].
///
/// # Panics
/// Unless the metric [has such values](has_values_without).
pub(crate) fn values_without<T: Score>(
    sample: &ScoredSample<'_, T>,
    rows: &ClassRows,
    parts: (&[u32], usize),
    metric: Metric,
    options: MetricOptions<'_>,
    workers: &Workers<'_>,
) -> Result<Vec<f64>> {
    if is_of_hard_labels(metric) {
        return hard_label_values_without(sample, rows, parts, metric, options.partition, workers);
    }
    pair_values_without(sample, rows, parts, metric, options, workers)
}

/// Metrics of a sample, with what each row contributes to them.
///
/// # Errors
/// As [`value`], and [`Error::LengthMismatch`](crate::Error::LengthMismatch) if the design is of different rows.
pub fn evaluate<T: Score>(
    sample: &ScoredSample<'_, T>,
    design: &Design,
    metrics: &[Metric],
    options: MetricOptions<'_>,
    workers: &Workers<'_>,
) -> Result<Evaluated> {
    design.check_rows(sample)?;
    let mut found = Evaluated::default();
    let ranks_by_column =
        |metric: &Metric| matches!(metric, Metric::HandTill | Metric::OneVsRest | Metric::OneVsRestPrevalence);
    let by_column: Vec<Metric> = metrics.iter().copied().filter(ranks_by_column).collect();
    // One copy of the scores serves pairs and columns.
    let ranks_by_class = metrics.contains(&Metric::AucMu) || !by_column.is_empty();
    if ranks_by_class {
        let whole = gather_whole(sample, &design.rows, workers)?;
        let (rule, memory) = (DifferenceRule::of(sample, workers)?, PlacingMemory::default());
        let scores = RankedScores { whole: whole.as_ref(), rule, one: None, memory: &memory };
        let one = match by_column[..] {
            [] => None,
            _ => OneRanking::find(sample, design, scores, options, workers)?,
        };
        let scores = RankedScores { one: one.as_ref(), ..scores };
        if metrics.contains(&Metric::AucMu) {
            let (statistic, table) = auc_mu_statistic(sample, design, scores, options, workers)?;
            found.statistics.push(statistic);
            found.pairs.push((Metric::AucMu, table));
        }
        if !by_column.is_empty() {
            // One pass over the columns serves all of these.
            let mut columns = column_statistics(sample, design, scores, &by_column, options, workers)?;
            found.statistics.append(&mut columns.statistics);
            found.per_class = columns.per_class;
            if by_column.contains(&Metric::HandTill) {
                found.pairs.push((Metric::HandTill, columns.pairs));
            }
        }
    }
    let average_precisions: Vec<Metric> =
        metrics.iter().copied().filter(|&metric| is_average_precision(metric)).collect();
    if !average_precisions.is_empty() {
        let mut columns = average_precision_statistics(sample, design, &average_precisions, workers)?;
        found.statistics.append(&mut columns.statistics);
        found.average_precisions = columns.per_class;
    }
    if metrics.contains(&Metric::Pdi) {
        found.statistics.push(pdi_statistic(sample, design, workers)?);
    }
    for (metric, rule) in [(Metric::Hum, HumRule::Sum), (Metric::LandgrebeDuin, HumRule::Product)] {
        if metrics.contains(&metric) {
            let (statistic, _) = hum_statistic(sample, design, rule, Drawing::default(), workers)?;
            found.statistics.push(Statistic { id: metric, ..statistic });
        }
    }
    if metrics.contains(&Metric::OrderedVus) {
        found.statistics.push(ordered_vus_statistic(sample, design, workers)?);
    }
    let of_hard_labels: Vec<Metric> = metrics.iter().copied().filter(|&metric| is_of_hard_labels(metric)).collect();
    if !of_hard_labels.is_empty() {
        let partition = options.partition;
        found.statistics.extend(hard_label_statistics(sample, design, &of_hard_labels, partition, workers)?);
    }
    for &metric in metrics.iter().filter(|metric| metric.is_row_mean()) {
        found.statistics.push(row_mean_statistic(sample, design, metric, options, workers)?);
    }
    let place = |statistic: &Statistic| metrics.iter().position(|&metric| metric == statistic.id);
    found.statistics.sort_by_key(place);
    Ok(found)
}
