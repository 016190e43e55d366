//! Closed-form uncertainty: from the placements of the rows to standard errors.
//!
//! For a pair of classes the placement of a row is the share of the other class that it is on the right side of, ties
//! counting half: V10_cd(a) = share of class d below row a of class c, V01_cd(b) = share of class c above row b of class
//! d. θ = Σ ω_cd U_cd has the *component*
//!
//! T(i) = Σ_d ω_kd V10_kd(i) + Σ_c ω_ck V01_ck(i)
//!
//! for row i of class k, and Var(θ) = Σ_k 1/(n_k(n_k−1)) Σ_{i∈k} (T(i) − T̄_k)²: DeLong's variance for two classes, and
//! the delete-one jackknife within classes for any number of them. Two metrics or two models on the same rows have the
//! covariance of the same sum of products.

mod column_terms;
mod columns;
mod compare;
mod interactions;
mod layout;
mod moments;
mod pairs;
mod shares;

pub use compare::{ModelComponents, ModelMoments, compare};
pub use interactions::{Interactions, interactions};
pub use layout::Design;
pub use moments::Moments;

use crate::error::Result;
use crate::float::Score;
use crate::keys::DifferenceRule;
use crate::pairs::{PairAverage, PairScore, PairSizes, PairWeights, Partition};
use crate::parallel::Workers;
use crate::sample::ScoredSample;
use column_terms::{ColumnSums, contributions_of_column, estimate_class};
use columns::for_each_column;
use layout::{Contribution, Layout, add};
use moments::{Segment, moments};
use pairs::{PairScratch, for_each_pair, place_by_difference};
use shares::{PairShares, RestShares};

/// Number of metrics that have components.
pub const METRICS: usize = 4;

/// A metric with components, by its place among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// AUC_mu.
    AucMu = 0,
    /// Hand & Till's M.
    HandTill = 1,
    /// One-vs-rest, the mean over classes.
    OneVsRest = 2,
    /// One-vs-rest, weighted by class sizes.
    OneVsRestPrevalence = 3,
}

/// What the metrics depend on beside the sample.
#[derive(Debug, Clone, Copy)]
pub struct MetricOptions<'a> {
    /// K × K costs that rank the pairs of AUC_mu; `None` for differences of scores.
    pub partition: Option<&'a [f64]>,
    /// How much each pair counts in AUC_mu and in M.
    pub pair_weights: PairWeights<'a>,
}

/// A value with its variance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// Its first-order variance.
    pub variance: f64,
    /// Degrees of freedom of the variance.
    pub freedom: f64,
    /// The variance with sums of squares over n_k² instead of n_k(n_k−1): the main term of the bootstrap's.
    pub plug_in: f64,
}

impl PairTable {
    fn missing(classes: usize) -> Self {
        Self { values: vec![f64::NAN; classes * classes], variances: vec![f64::NAN; classes * classes] }
    }
}

impl Estimate {
    const MISSING: Self = Self { value: f64::NAN, variance: f64::NAN, freedom: f64::NAN, plug_in: f64::NAN };
}

/// The values of all pairs of classes with their variances: K × K, NaN on the diagonal and for absent classes.
#[derive(Debug, Clone, Default)]
pub struct PairTable {
    /// S(c, d), symmetric, or A(c|d) at row c and column d.
    pub values: Vec<f64>,
    /// Their variances.
    pub variances: Vec<f64>,
}

/// The metrics of a sample and the components of its rows.
#[derive(Debug)]
pub struct Components {
    layout: Layout,
    /// By position: one entry per metric.
    rows: Vec<[f64; METRICS]>,
    /// The metrics' slopes in the class shares.
    slopes: Vec<Vec<f64>>,
    /// The metrics; NaN for those not asked for.
    pub values: [f64; METRICS],
    /// The pairs of AUC_mu; empty if it was not asked for.
    pub auc_mu: PairTable,
    /// The ordered pairs of M; empty if only AUC_mu was asked for.
    pub hand_till: PairTable,
    /// One-vs-rest of each class; empty if only AUC_mu was asked for.
    pub per_class: Vec<Estimate>,
}

/// The metrics of a sample with what each row contributes to them: all of them, or what one of them needs.
///
/// # Errors
/// As [`auc_mu`](crate::auc_mu), and [`Error::LengthMismatch`](crate::Error::LengthMismatch) for groups.
pub fn components<T: Score>(
    sample: &ScoredSample<'_, T>,
    options: MetricOptions<'_>,
    design: Design<'_>,
    wanted: Option<Metric>,
    workers: &Workers<'_>,
) -> Result<Components> {
    let layout = Layout::new(sample, design)?;
    let mut components = Components {
        rows: vec![[0.0; METRICS]; layout.len()],
        slopes: vec![vec![0.0; sample.classes()]; METRICS],
        values: [f64::NAN; METRICS],
        auc_mu: PairTable::default(),
        hand_till: PairTable::default(),
        per_class: Vec::new(),
        layout,
    };
    let shares = PairShares::new(options.pair_weights, &components.layout)?;
    if wanted.is_none_or(|metric| metric == Metric::AucMu) {
        components.add_differences(sample, options, &shares, workers)?;
    }
    if wanted != Some(Metric::AucMu) {
        components.add_columns(sample, options, &shares, workers)?;
    }
    Ok(components)
}

impl Components {
    fn add_differences<T: Score>(
        &mut self,
        sample: &ScoredSample<'_, T>,
        options: MetricOptions<'_>,
        shares: &PairShares<'_>,
        workers: &Workers<'_>,
    ) -> Result<()> {
        let classes = sample.classes();
        let partition = options.partition.map(|costs| Partition::new(costs, classes));
        if let Some(partition) = partition {
            partition.check_scores(&sample.scores)?;
        }
        let rule = DifferenceRule::of(sample, workers)?;
        let mut average = PairAverage::default();
        let mut table = PairTable::missing(classes);
        let Self { layout, rows, .. } = self;
        for_each_pair(
            sample,
            layout,
            workers,
            |scratch: &mut PairScratch, pair| {
                let [c, d] = pair.classes;
                let score = partition.map_or(PairScore::Difference, |partition| partition.score(c, d));
                let placed = place_by_difference(sample, layout, pair, &score, rule, scratch);
                let [of_c, of_d] = &placed.placements;
                let segments = [Segment { class: c, values: of_c }, Segment { class: d, values: of_d }];
                let variance = moments(layout, &segments, 1, None, workers)?.variance(0);
                Ok((c, d, placed, variance))
            },
            |wave| {
                let mut contributions = Vec::with_capacity(2 * wave.len());
                for (c, d, placed, variance) in &wave {
                    let sizes = PairSizes::of(&sample.sizes, *c, *d);
                    match layout.weights {
                        None => average.add(options.pair_weights, sizes, placed.doubled_wins),
                        Some(_) => average.add_value(options.pair_weights, sizes, placed.share),
                    }
                    for (row, column) in [(*c, *d), (*d, *c)] {
                        table.values[row * classes + column] = placed.share;
                        table.variances[row * classes + column] = *variance;
                    }
                    let coefficients = [shares.omega[c * classes + d], 0.0, 0.0, 0.0];
                    for (class, values) in [*c, *d].into_iter().zip(&placed.placements) {
                        contributions.push(Contribution { start: layout.starts[class], values, coefficients });
                    }
                }
                add(rows, &contributions, workers)
            },
        )?;
        let value = PairAverage::finish([average])?;
        self.values[Metric::AucMu as usize] = value;
        self.slopes[Metric::AucMu as usize] = shares.slopes(&self.layout, &table.values, value);
        self.auc_mu = table;
        Ok(())
    }

    fn add_columns<T: Score>(
        &mut self,
        sample: &ScoredSample<'_, T>,
        options: MetricOptions<'_>,
        shares: &PairShares<'_>,
        workers: &Workers<'_>,
    ) -> Result<()> {
        let classes = sample.classes();
        let rests = RestShares::new(&self.layout);
        let mut sums = ColumnSums::default();
        let mut hand_till = PairTable::missing(classes);
        let mut per_class = vec![Estimate::MISSING; classes];
        let mut class_slopes = vec![vec![0.0; classes]; classes];
        let Self { layout, rows, .. } = self;
        for_each_column(
            sample,
            layout,
            shares,
            workers,
            |mut column| {
                let (estimate, slopes) = estimate_class(layout, &rests, &mut column, workers)?;
                Ok((column, estimate, slopes))
            },
            |wave| {
                let mut contributions = Vec::new();
                for (column, estimate, slopes) in &wave {
                    let c = column.class;
                    sums.add(sample, options.pair_weights, column, estimate.value);
                    hand_till.values[c * classes..][..classes].copy_from_slice(&column.shares);
                    hand_till.variances[c * classes..][..classes].copy_from_slice(&column.variances);
                    per_class[c] = *estimate;
                    class_slopes[c].clone_from(slopes);
                    contributions.extend(contributions_of_column(layout, shares, &rests, column));
                }
                add(rows, &contributions, workers)
            },
        )?;
        let [m, even, prevalence] = sums.finish(layout)?;
        let values: Vec<f64> = per_class.iter().map(|estimate| estimate.value).collect();
        self.values[1..].copy_from_slice(&[m, even, prevalence]);
        self.slopes[1] = shares.slopes(&self.layout, &hand_till.values, m);
        let [of_even, of_prevalence] = rests.slopes(&self.layout, &values, &class_slopes);
        (self.slopes[2], self.slopes[3]) = (of_even, of_prevalence);
        self.hand_till = hand_till;
        self.per_class = per_class;
        Ok(())
    }

    /// Variances and covariances of the metrics.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn moments(&self, workers: &Workers<'_>) -> Result<Moments> {
        let flat = self.rows.as_flattened();
        let segments = self.segments(flat, METRICS);
        moments(&self.layout, &segments, METRICS, Some(&self.slopes), workers)
    }

    /// Each metric with its variance.
    #[must_use]
    pub fn estimates(&self, moments: &Moments) -> [Estimate; METRICS] {
        std::array::from_fn(|metric| estimate(&self.layout, moments, metric, self.values[metric]))
    }

    /// Independent units of each class: rows, or groups.
    #[must_use]
    pub fn units(&self) -> Vec<u64> {
        self.layout.units()
    }

    /// u_i = (w_i/W_k)(T(i) − T̄_k) of each row of the sample, an entry per metric: what a row contributes to the error of
    /// the estimate. Zero for rows of weight zero.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn influences(&self, rows: usize, workers: &Workers<'_>) -> Result<Vec<f64>> {
        let mut influences = vec![0.0; rows * METRICS];
        let flat = self.rows.as_flattened();
        for segment in self.segments(flat, METRICS) {
            let means = moments::means(&self.layout, &segment, METRICS, workers)?;
            let weights = self.layout.weights_of(segment.class);
            let total = self.layout.totals[segment.class];
            let of_class = self.layout.rows.of(segment.class).iter().zip(segment.values.chunks_exact(METRICS));
            for (place, (&row, values)) in of_class.enumerate() {
                let share = weights.map_or(1.0, |weights| weights[place]) / total;
                let entries = &mut influences[row as usize * METRICS..][..METRICS];
                for ((entry, value), mean) in entries.iter_mut().zip(values).zip(&means) {
                    *entry = share * (value - mean);
                }
            }
        }
        Ok(influences)
    }

    fn segments<'v>(&self, values: &'v [f64], columns: usize) -> Vec<Segment<'v>> {
        segments(&self.layout, values, columns)
    }

    /// One metric alone, for a comparison with other models.
    #[must_use]
    pub fn into_model(self, metric: Metric) -> ModelComponents {
        let metric = metric as usize;
        ModelComponents {
            value: self.values[metric],
            rows: self.rows.iter().map(|row| row[metric]).collect(),
            slopes: self.slopes.into_iter().nth(metric).unwrap_or_default(),
            layout: self.layout,
        }
    }
}

fn segments<'v>(layout: &Layout, values: &'v [f64], columns: usize) -> Vec<Segment<'v>> {
    let of_class = |class: usize| {
        let range = layout.range(class);
        &values[range.start * columns..range.end * columns]
    };
    layout.present.iter().map(|&class| Segment { class, values: of_class(class) }).collect()
}

fn estimate(layout: &Layout, moments: &Moments, column: usize, value: f64) -> Estimate {
    let terms = moments.class_terms.iter().skip(column).step_by(moments.freedom.len());
    let plug_in = terms.zip(&layout.present).map(|(term, &class)| {
        let rows = layout.counts[class] as f64;
        term * (rows - 1.0) / rows
    });
    let (variance, freedom) = (moments.variance(column), moments.freedom[column]);
    Estimate { value, variance, freedom, plug_in: plug_in.sum() }
}
