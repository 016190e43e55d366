//! Closed-form uncertainty: from the placements of the rows to standard errors.
//!
//! For a pair of classes, the placement of a row is the proportion of the other class that it is on the right side of,
//! ties counting half: V10_cd(a) is the proportion of class d below row a of class c, V01_cd(b) that of class c above
//! row b of class d. θ = Σ ω_cd U_cd has the *component*
//!
//! T(i) = Σ_d ω_kd V10_kd(i) + Σ_c ω_ck V01_ck(i)
//!
//! for row i of class k, and Var(θ) = Σ_k 1/(n_k(n_k−1)) Σ_{i∈k} (T(i) − T̄_k)²: DeLong's variance for two classes, and
//! the delete-one jackknife within classes for any number of them. The covariance of two metrics or two models on the
//! same rows is the same sum with products for squares. `moments` has the formula for weighted rows, rows in groups and
//! random class sizes.

mod column_order;
mod compare;
mod confusion;
mod design;
mod folds;
mod freedom;
mod groups;
mod intervals;
mod label_mean;
mod moments;
mod mover;
mod pair_variance;
mod pilot;
mod replicates;
mod row_mean;
mod runs;
mod statistic;
mod unit_sums;
mod worst_case;

pub(crate) use column_order::check_column_order;
pub use column_order::{ColumnOrder, OrderRows};
pub use compare::{Compared, average, compare, difference};
pub use confusion::{Confusion, Shares, confusion};
pub use design::Design;
pub(crate) use design::UnitOrder;
pub use folds::{Fold, Folds};
pub(crate) use freedom::degrees_of_freedom_whole;
pub use freedom::{ClassTerm, degrees_of_freedom};
pub use intervals::{IntervalRule, Limits, Scale, Uncertain, Wilson};
pub use label_mean::{LabelMean, LabelUnits, label_mean};
pub(crate) use moments::estimate_one;
pub use moments::{Moments, moments};
pub use mover::{Apart, first_intervals, mover_intervals};
pub(crate) use pair_variance::{PairSide, PairVariance, pair_variance};
pub use pilot::Pilot;
pub use replicates::{NoReplicateInterval, ReplicateInterval, Replicated, percentile_p_value};
pub use row_mean::{RowMean, row_mean};
pub use runs::{RepeatedMetric, RunParts, split_variance, split_variance_of_unpaired};
pub use statistic::{Cautious, Estimate, Statistic, influences};
pub(crate) use statistic::{Components, Contribution, add, variance_terms};
pub(crate) use unit_sums::{GroupDeviations, Segment};
pub(crate) use worst_case::Kind;
pub use worst_case::{WorstCase, worst_case};

#[cfg(test)]
mod tests;
