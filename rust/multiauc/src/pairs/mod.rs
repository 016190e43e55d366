//! Pairs of classes: how they are walked through, what is counted of them, and how the counts are averaged.

mod averages;
mod column_counts;
mod cost_scores;
mod orders;
mod pair_counts;
mod pair_stream;
pub(crate) mod weighted;

pub use averages::{OneVsRestAverage, PairWeights};
pub(crate) use averages::{PairAverage, PairSizes, ShareSum, ratio, weighted_mean};
pub(crate) use column_counts::*;
pub(crate) use cost_scores::{PairScore, Partition, cost_score};
pub(crate) use orders::{OrderMaker, column_order};
pub(crate) use pair_counts::*;
pub(crate) use weighted::WeightedPairs;
