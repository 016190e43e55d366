//! Scores of which only some are stored: a model's best few of very many classes. What is not stored is 0.
//!
//! In the column of class c all rows that are not stored tie at 0, those of class c and those of every other class. So
//! class c wins the same share of the pairs against each class that has no rows stored there, whatever its size, and
//! those classes are added as one: time and memory grow with the stored entries, not with rows × classes or with pairs
//! of classes. Shares are added as the dense functions add them, so unweighted results have the same bits.

mod columns;
mod hand_till;
mod micro;
mod one_vs_rest;
mod own_rows;
mod sparse_sample;
mod sparse_scores;

pub use hand_till::sparse_hand_till;
pub use one_vs_rest::{sparse_one_vs_rest, sparse_one_vs_rest_per_class};
pub use sparse_sample::SparseSample;
pub use sparse_scores::{ColumnNumbers, SparseScores};

#[cfg(test)]
mod tests;
