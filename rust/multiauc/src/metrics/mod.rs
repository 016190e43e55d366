//! The metrics.

mod auc_mu;
mod columns;

pub use auc_mu::{auc_mu, auc_mu_matrix, auc_mu_rounded};
pub use columns::{binary_auc, hand_till, hand_till_matrix, one_vs_rest, one_vs_rest_per_class};
