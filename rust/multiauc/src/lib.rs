//! Exact multi-class AUC: AUC_mu, Hand & Till's M and one-vs-rest, in time that grows like n · K in practice.
//!
//! # The model
//! K classes, a score vector p(x) ∈ R^K per row, ψ(u) = 1, ½ or 0 for u positive, zero or negative. Everything here is a
//! weighted sum θ = Σ ω_cd U_cd of the shares of pairs of rows, one of class c and one of class d, in the right order:
//!
//! U_cd = 1/(n_c n_d) Σ_{a∈c} Σ_{b∈d} ψ(s_cd(a) − s_cd(b)).
//!
//! AUC_mu ranks by s_cd = p_c − p_d (or by a partition matrix), Hand & Till's M and one-vs-rest by s_cd = p_c.
//!
//! # The map
//! | module | holds | knows nothing of |
//! |---|---|---|
//! | `error` | what can go wrong, as kind and data | sentences for users |
//! | `score_matrix` | n × K scores of either precision, any strides | classes |
//! | `scored_sample` | scores, class codes, weights: checked once, valid ever after | sorting |
//! | `present_classes` | the classes that have rows, and their rows class after class | scores |
//! | `labels` | labels become codes | scores |
//! | `class_blocks` | the layout of the kernels: one contiguous run per class and column | metrics |
//! | `fraction`, `exact_key`, `difference` | the key of p_c − p_d: lattices, fractions, exact comparison | metrics |
//! | `ranking` | counts of pairs: bucket tables, sorted tables, parts for large classes, near keys, the simple way | metrics |
//! | `separability` | the metrics: pairs, columns, partition matrices, weighted rows, averages | how to rank |
//! | `inference` | placements of rows, their components, variances and covariances in closed form | how to rank |
//! | `roc_curve`, `partial_auc` | points of curves, areas under parts of them | the rest |
//! | `rates` | the rates of all pairs along thresholds; every cell placed once, kept as a byte | the fit |
//! | `factorization` | the binomial rank-one fit to a matrix of rates | scores |
//! | `bootstrap` | replicates of the metrics: presorted orders walked through again with other multiplicities | how to sort |
//! | `resampling` | how often a bootstrap sample holds each row, from (seed, replicate) | metrics |
//! | `multiclass_roc` | the curve of all pairs: rates, their fit, its bootstrap | how either is done |
//! | `parallel` | the only door to rayon; survives `fork`; cancellation | scores |
//! | `simd`, `memory` | the only `unsafe` code: AVX2 at run time, large pages | scores |
//!
//! # The way of the data
//! ```text
//! ScoreMatrix + ClassCodes + weights ─► ScoredSample ─► ClassBlocks ─► keys ─► BucketTable ─► counts ─► averages
//!                                       checked once    one copy,      f64 or   linear time    u64,      one
//!                                                       tile by tile   f32                     exact     rounding
//! ```
//! Counts are whole numbers and averages are taken in 128-bit fixed point, so unweighted results have the same bits for
//! any number of threads and any order of rows and columns. Weighted sums are taken in a fixed order.
//!
//! # Where to start
//! * To use it: [`ScoredSample::new`], then [`auc_mu`], [`hand_till`] or [`one_vs_rest`].
//! * To know how sure a number is: [`components`], whose doc page has the formula, then [`compare`] for several models.
//! * To understand the speed: `ranking/bucket_table.rs`, forty lines of which do most of the work.
//! * To understand ties: `difference.rs`, then `exact_key.rs`.
//! * To add a metric over pairs of classes: fold over `separability::pair_counts::fold_pairs` (by difference) or
//!   `separability::column_counts::fold_columns` (by column), as [`auc_mu`] and [`hand_till`] do in a dozen lines each.

mod curves;
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
mod ranking;
mod resampling;
mod sample;
mod simd;

pub use curves::{CurvePoints, CurveSides, PartialAucs, Region, partial_aucs, roc_curves};
pub use error::{Error, Result, RowArray};
pub use float::Score;
pub use inference::{Compared, Design, Estimate, Moments, Statistic, compare, influences, moments};
pub use metric::Metric;
#[doc(hidden)]
pub use metrics::auc_mu_rounded;
pub use metrics::{
    Evaluated, Interaction, Interactions, MetricOptions, PairTable, auc_mu, auc_mu_matrix, evaluate, hand_till,
    hand_till_matrix, interactions, one_vs_rest, one_vs_rest_per_class, value,
};
pub use multiclass_roc::{Center, Curve, CurveOptions, Fit, Grid, MulticlassRoc, PlacedCells, Replicate, Scope, Stop};
pub use pairs::{OneVsRestAverage, PairWeights};
pub use parallel::{Cancel, Workers, num_threads, set_num_threads};
pub use resampling::{KeptOrders, Orders, Resampler, ScoreOrders, SortedRows};
pub use sample::{
    ClassCodes, ClassSizes, Codes, Coding, Integer, Sampling, ScoreMatrix, ScoredSample, code_bytes, code_integers,
};
