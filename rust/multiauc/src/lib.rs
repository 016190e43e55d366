//! Exact multi-class AUC.
mod class_blocks;
mod difference;
mod error;
mod exact_key;
mod fraction;
mod labels;
mod memory;
mod parallel;
mod ranking;
mod roc_curve;
mod scored_sample;
mod separability;
mod simd;

pub use error::{Error, Result};
pub use labels::{Codes, Coding, Integer, code_bytes, code_integers};
pub use parallel::{Cancel, Workers, num_threads, set_num_threads};
pub use ranking::Key;
pub use roc_curve::{CurvePoints, roc_curve};
pub use scored_sample::{ClassCodes, ClassSizes, Score, ScoreMatrix, ScoredSample};
pub use separability::{
    OneVsRestAverage, PairWeights, auc_mu, auc_mu_matrix, binary_auc, hand_till, hand_till_matrix, one_vs_rest,
    one_vs_rest_per_class,
};
