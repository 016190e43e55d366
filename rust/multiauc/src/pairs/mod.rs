//! Pairs of classes: how they are visited, counted and averaged.

mod averages;
mod column_counts;
mod cost_scores;
mod orders;
mod pair_counts;
mod pair_stream;
mod tiles;
mod weighted;
#[cfg(test)]
mod weighted_oracle;
mod wins;

pub(crate) use averages::{ClassAverage, PairAverage, PairSizes, SampleAverage, weighted_mean};
pub use averages::{OneVsRestAverage, PairWeights};
pub(crate) use column_counts::{Rest, count_columns, fold_columns};
pub(crate) use cost_scores::{PairScore, Partition, cost_score};
pub(crate) use orders::{OrderMaker, column_order, gathered_column_order};
pub(crate) use pair_counts::tally_differences;
pub(crate) use tiles::{
    PairTile, PairTiles, WHOLE_MATRIX_CLASSES, map_columns, shared_column_width, shared_group_width,
};
pub(crate) use weighted::{micro as weighted_micro, tally_weighted};
pub(crate) use wins::{ShareMatrix, Tally, Wins, ratio};
