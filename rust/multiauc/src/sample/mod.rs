//! The input, checked once: scores, classes and weights of rows, and the layouts that kernels read them in.

mod class_blocks;
mod labels;
mod present_classes;
mod score_matrix;
mod scored_sample;

pub(crate) use class_blocks::{ClassBlock, ClassBlocks, GroupedRows};
pub use labels::{Codes, Coding, Integer, code_bytes, code_integers};
pub(crate) use present_classes::PresentClasses;
pub use score_matrix::ScoreMatrix;
pub(crate) use scored_sample::row_spans;
pub use scored_sample::{ClassCodes, ClassSizes, ScoredSample};
