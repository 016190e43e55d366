//! The input, checked once: scores, classes and weights of rows, and the layouts that kernels read them in.

mod class_blocks;
mod class_rows;
mod class_sizes;
mod fingerprint;
mod labels;
mod odd_rows;
mod row_sums;
mod sampling;
mod score_matrix;
mod scored_sample;

pub(crate) use class_blocks::{ClassBlock, ClassBlocks};
pub(crate) use class_rows::ClassRows;
pub(crate) use class_sizes::power_of_two_below_reciprocal;
pub use class_sizes::{ClassCodes, ClassSizes};
pub use labels::{Codes, Coding, Integer, code_bytes, code_integers, recode};
pub use odd_rows::{OddRows, find_odd_rows};
pub(crate) use row_sums::{WrongSum, first_wrong_sum};
pub use sampling::{Sampling, count_groups};
pub use score_matrix::ScoreMatrix;
pub(crate) use scored_sample::Magnitudes;
pub use scored_sample::ScoredSample;
