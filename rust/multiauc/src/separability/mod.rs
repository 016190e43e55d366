//! The pairwise family: how well the scores separate each class from each other, and the averages of that.

mod auc_mu;
mod averages;
mod column_counts;
mod columns;
mod cost_scores;
mod orders;
mod pair_counts;
mod pair_stream;
mod weighted;

pub use auc_mu::{auc_mu, auc_mu_matrix, auc_mu_rounded};
pub use averages::{OneVsRestAverage, PairWeights};
pub(crate) use averages::{PairAverage, PairSizes, ShareSum, ratio, weighted_mean};
pub use columns::{binary_auc, hand_till, hand_till_matrix, one_vs_rest, one_vs_rest_per_class};
pub(crate) use cost_scores::{PairScore, Partition, cost_score};
pub(crate) use orders::{OrderMaker, column_order};
