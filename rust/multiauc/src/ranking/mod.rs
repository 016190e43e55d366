//! Exact counts of pairs: how many keys of one class lie below those of another.
//!
//! Which structure when:
//!
//! | what is wanted | keys | structure | in |
//! |---|---|---|---|
//! | one number: the pairs won | any, the table fits into the cache | [`BucketTable`] | `bucket_table`, filled by `table_building` |
//! | | no map spreads them: ties, clusters | a sorted table, within [`BucketTable`] | `searched` |
//! | | whole numbers in a narrow range | [`WholeNumberTable`] | `whole_numbers` |
//! | | any, larger than the cache | [`count_partitioned`] | `partitioned` |
//! | | with weights | [`weighted_wins`], or [`SortedTable`] to look many classes up in one | `sorted` |
//! | the place of every row among another class | any | a placement table | `placement_table` |
//! | | multiples of one number in a narrow range | a table of counts | `counted_table` |
//! | | larger than the cache | [`PartedTable`] | `parted_table` |
//! | the place of every row among all others | any | [`OrderedRows`] | `ordered_rows` |
//! | counts again and again, as in a bootstrap | any | [`Order`] | `order` |
//!
//! All maps from keys to buckets are in `bucket_map`. Keys whose rounding could decide their order are counted again by
//! their exact values: `resolve`.

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
