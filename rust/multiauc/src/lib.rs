//! Exact multi-class AUC: AUC_mu, Hand & Till's M and one-vs-rest, in time that grows like n · K in practice.
//!
//! # The model
//! K classes, a score vector p(x) ∈ R^K per row, ψ(u) = 1, ½ or 0 for u positive, zero or negative. Every metric here
//! is a weighted sum θ = Σ ω_cd U_cd, where U_cd is the share of the pairs of rows, one of class c and one of class d,
//! that are in the right order:
//!
//! U_cd = 1/(n_c n_d) Σ_{a∈c} Σ_{b∈d} ψ(s_cd(a) − s_cd(b)).
//!
//! AUC_mu ranks by s_cd = p_c − p_d (or by a partition matrix), Hand & Till's M and one-vs-rest by s_cd = p_c.
//!
//! # The map
//! The layers, lowest first: each uses only those listed before it. `tests/layers.rs` checks every `crate::` path
//! against this table.
//!
//! | layer | holds | knows nothing of |
//! |---|---|---|
//! | `error` | what can go wrong, as kind and data, and in words | everything else |
//! | `delimited` | the delimiter of a text | numbers |
//! | `metric` | the names of the metrics: the one list of them | how they are computed |
//! | `simd` | AVX2 where the machine has it, portable code elsewhere | scores |
//! | `spare` | memory kept from one computation for the next | what is in it |
//! | `float` | the two types of scores and their arithmetic | rows |
//! | `memory` | reusable buffers, on large pages | what is in them |
//! | `parallel` | the only use of rayon; survives `fork`; cancellation | scores |
//! | `random` | random numbers as a function of seed and counter | what they are for |
//! | `special` | distributions (Student's t, F, the smallest p-value), linear assignment | samples |
//! | `summary_roc` | one ROC curve for several 2 × 2 tables: random-effects models | rows |
//! | `sample` | scores, classes and weights, checked once; rows grouped by class; how they were drawn | ranking |
//! | `keys` | the key of p_c − p_d: a survey of the scores, fractions, exact comparison | classes |
//! | `ranking` | counts of pairs: bucket tables, sorted tables, parts for large classes, near keys, orders | metrics |
//! | `pairs` | loops over pairs and columns in tiles; wins, tallies and averages; partition matrices | variances |
//! | `volume` | tuples with one row of each class: counted, gone through or drawn | variances |
//! | `inference` | statistics: components of rows, variances, covariances, comparisons; columns in a wrong order | metrics |
//! | `metrics` | one file per metric: its value, and the component of every row | resampling |
//! | `sparse` | scores of which only some are stored: M and one-vs-rest in time that grows with those | scores that are all stored |
//! | `curves` | points of ROC curves, their convex hulls, bands, areas under parts of them | the rest |
//! | `costs` | losses along hulls (H-measure, LC index); decision rules, calibrated and chosen | curves of samples |
//! | `sketch` | states of streams that merge: histograms, guaranteed bounds, a sample of rows | how to sort a whole sample |
//! | `resampling` | replicates: presorted orders counted again with other multiplicities | how to sort |
//! | `slices` | parts of a sample, each against the rest of it; models class by class | how to sort |
//! | `multiclass_roc` | the curve of all pairs: rates along thresholds, their rank-one fit, its bootstrap | the pairwise metrics |
//!
//! The only `unsafe` code is in `simd` and `memory`.
//!
//! # Data flow
//! ```text
//! ScoreMatrix + ClassCodes + weights ─► ScoredSample ─► ClassBlocks ─► keys ─► BucketTable ─► Wins ─► averages
//!                                       checked once    one copy,      f64 or   linear time    exact   one
//!                                                       tile by tile   f32                     counts  rounding
//! ```
//! Counts are whole numbers and averages are taken in 128-bit fixed point, so unweighted results have the same bits for
//! any number of threads and any order of rows and columns. Weighted sums are taken in a fixed order.
//!
//! # Where to start
//! * To use it: [`ScoredSample::new`], then [`auc_mu`], [`hand_till`] or [`one_vs_rest`]; [`SparseSample::new`] for the
//!   best few scores of very many classes.
//! * To get the uncertainty of a value: [`Design::new`], [`evaluate`], then [`moments`], or [`compare`] for several
//!   models.
//! * To compare parts of a sample with the rest of it: [`evaluate_slices`].
//! * To understand the speed: `ranking/bucket_table.rs`, forty lines of which do most of the work.
//! * To understand ties: `keys/difference.rs`, then `keys/exact_key.rs`.
//! * To add a metric: a variant of [`Metric`], a file in `metrics/` that computes its value and its [`Statistic`], and
//!   a line for each in `metrics/mod.rs`. Everything downstream takes any number of statistics.

#![warn(unreachable_pub)]

// The code of the README runs as tests of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod costs;
mod curves;
mod delimited;
mod error;
mod float;
mod inference;
mod keys;
mod memory;
mod metric;
mod metrics;
mod multiclass_roc;
mod pairs;
mod parallel;
mod random;
mod ranking;
mod resampling;
mod sample;
mod simd;
mod sketch;
mod slices;
mod spare;
mod sparse;
mod special;
mod summary_roc;
mod volume;

pub use costs::{FittedRule, HullRates, Rule, RuleKind, cost_curve, decide, fit_decision_rule, h_measure, lc_index};
pub use curves::{
    CurvePoints, CurveRates, CurveSides, PartialAucs, PrecisionRecallPoints, Region, ReliabilityPoints, partial_aucs,
    precision_recall_curves, reliability_curves, roc_curves, roc_hulls, roc_surface, side_sizes,
};
pub use delimited::detect_delimiter;
pub use error::{Error, Result, RowArray};
pub use float::Score;
pub use inference::{
    Apart, Cautious, ClassTerm, ColumnOrder, Compared, Confusion, Design, Estimate, Fold, Folds, IntervalRule,
    LabelMean, LabelUnits, Limits, Moments, OrderRows, Pilot, RowMean, Scale, Shares, Statistic, Uncertain, Wilson,
    WorstCase, average, compare, confusion, degrees_of_freedom, difference, first_intervals, influences, label_mean,
    moments, mover_intervals, row_mean, worst_case,
};
pub use inference::{
    NoReplicateInterval, RepeatedMetric, ReplicateInterval, Replicated, RunParts, percentile_p_value, split_variance,
    split_variance_of_unpaired,
};
pub use metric::{Chance, Metric};
pub use metrics::{
    Evaluated, HumFound, Interaction, Interactions, MetricOptions, PairTable, auc_mu, auc_mu_matrix,
    average_precision_per_class, evaluate, find_column_order, hand_till, hand_till_matrix, hum, hum_statistic,
    interactions, one_vs_rest, one_vs_rest_per_class, ordered_vus, pdi, pdi_per_class, value,
};
pub use multiclass_roc::{Center, Curve, CurveOptions, Fit, Grid, MulticlassRoc, PlacedCells, Replicate, Scope, Stop};
pub use pairs::{OneVsRestAverage, PairWeights};
pub use parallel::{Cancel, Workers, num_threads, set_num_threads};
pub use resampling::{CurveResampler, KeptOrders, Orders, PairOutcomes, Resampler, ScoreOrders, SortedRows};
pub use sample::{
    ClassCodes, ClassSizes, Codes, Coding, Integer, OddRows, Sampling, ScoreMatrix, ScoredSample, code_bytes,
    code_integers, count_groups, find_odd_rows, recode,
};
pub use sketch::{
    Answers, BoundedValue, PairBounds, RangeBlocks, RangeCounts, RowSumSettings, RowSums, Sketch, SketchSettings,
};
pub use slices::{
    FoundSlice, FoundSlices, JointSlices, Reference, SliceRequest, class_against_rest, correlations, evaluate_slices,
};
pub use sparse::{
    ColumnNumbers, SparseSample, SparseScores, sparse_hand_till, sparse_one_vs_rest, sparse_one_vs_rest_per_class,
};
pub use special::{
    Discrete, LargestNormal, MinP, NORMAL_FROM, StudentT, best_assignment, chi_squared_tail, f_tail, holm,
    normal_share_above, normal_share_separated, share_of_sums_above, upper_quantiles,
};
pub use summary_roc::{SummaryFit, SummaryModel, Table, fit_summary_roc, summary_area};
pub use volume::{CoveredShare, Drawing, HumRule, covered_share, offset_rates};
