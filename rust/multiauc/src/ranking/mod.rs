//! Exact counts of pairs: how many keys of one class lie below those of another.

mod bucket_map;
mod bucket_table;
mod counted_table;
mod order;
mod ordered_rows;
mod parted_table;
mod partitioned;
mod placement_table;
mod resolve;
mod searched;
mod sorted;
mod table_building;
mod weighted_wins;
mod whole_numbers;

pub(crate) use bucket_table::{BucketTable, Lookup};
pub(crate) use order::{Order, StepRows};
pub(crate) use ordered_rows::{OrderedRows, RankedRow};
pub(crate) use parted_table::PartedTable;
pub(crate) use partitioned::{KeyStream, count_partitioned, sample_spans, stream_spans};
pub(crate) use placement_table::Nearness;
pub(crate) use resolve::{NearKeys, Side};
pub(crate) use sorted::{SortedTable, WeightedKeys, weighted_wins};
pub(crate) use weighted_wins::WeightedWins;
pub(crate) use whole_numbers::WholeNumberTable;

#[cfg(test)]
mod tests;
