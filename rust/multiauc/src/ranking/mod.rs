//! Exact counts of pairs: how many keys of one class lie below those of another.

mod bucket_map;
mod bucket_table;
mod counted_table;
mod order;
mod ordered_rows;
mod parted_table;
mod parted_weights;
mod partitioned;
mod placement_table;
mod ranked_keys;
mod resolve;
mod resolve_weighted;
mod searched;
mod sorted;
#[cfg(test)]
mod sorted_pairs;
mod table_building;
mod weighted_table;
mod weighted_wins;
mod whole_numbers;

pub(crate) use bucket_table::{BucketTable, Lookup};
pub(crate) use order::{Order, StepRows};
pub(crate) use ordered_rows::{OrderedRows, RankedRow};
pub(crate) use parted_table::PartedTable;
pub(crate) use parted_weights::{PartedWeights, SMALLEST_PARTED};
pub(crate) use partitioned::{KeyStream, count_partitioned, sample_spans, stream_spans};
pub(crate) use placement_table::{Nearness, PlacementTable};
pub(crate) use resolve::{NearKeys, Side};
pub(crate) use resolve_weighted::{NearRow, wins_of_near};
pub(crate) use sorted::SortedTable;
#[cfg(test)]
pub(crate) use sorted_pairs::{WeightedKeys, weighted_wins};
pub(crate) use weighted_table::WeightedTable;
pub(crate) use weighted_wins::WeightedWins;
pub(crate) use whole_numbers::WholeNumberTable;

#[cfg(test)]
mod tests;
