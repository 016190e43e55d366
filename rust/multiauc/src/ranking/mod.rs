//! Exact counts of pairs: how many keys of one class lie below those of another.
//!
//! Which structure when. "Large" is larger than the cache: both sides are split by value into parts that fit.
//!
//! | what is wanted | rows | structure | module |
//! |---|---|---|---|
//! | the number of pairs won | any | [`BucketTable`], sorted where no map spreads the keys | `bucket_table`, `table_building`, `sorted_keys` |
//! | | whole numbers in a narrow range | [`WholeNumberTable`] | `whole_numbers` |
//! | | large | [`count_key_stream`], a [`BucketTable`] per part | `key_stream` |
//! | the weight of pairs won | any | [`WeightedTable`], weights added under the mask of compared lanes | `weighted_table` |
//! | | large | [`LargeWeightedTable`], a [`WeightedTable`] per part | `large_weighted_table` |
//! | | looked up one at a time (sparse scores) | [`WeightedSearch`] | `weighted_search` |
//! | the place of every row among another class | any | [`PlacementLookup`], which chooses one of the next three | `placement_lookup` |
//! | | small | one [`PlacementTable`], sorted, or in buckets alone where no order is needed | `placement_table`, `ranked_keys`, `unsorted_table` |
//! | | multiples of one number in a narrow range | a table of counts | `counted_table` |
//! | | large | a [`PlacementTable`] per part | `placement_lookup` |
//! | how many rows of others lie between those of a class | any | [`Gaps`] | `gaps` |
//! | the place of every row among all others | any | [`OrderedRows`] | `ordered_rows` |
//! | counts with new multiplicities each time: the bootstrap | any | [`Order`] | `order` |
//!
//! All maps from keys to buckets are in `bucket_map`. Keys whose rounding could decide their order are counted again by
//! their exact values: `resolve`, and `resolve_weighted` where rows have weights. Tests compare all of them with
//! `reference_wins`, which sorts both sides.

mod bucket_map;
mod bucket_table;
mod counted_table;
mod gaps;
mod key_stream;
mod large_weighted_table;
mod order;
mod ordered_rows;
mod placement_lookup;
mod placement_table;
mod ranked_keys;
#[cfg(test)]
mod reference_wins;
mod resolve;
mod resolve_weighted;
mod sorted_keys;
mod table_building;
mod unsorted_table;
mod weighted_search;
mod weighted_table;
mod weighted_wins;
mod whole_numbers;

pub(crate) use bucket_table::{BucketTable, Lookup};
pub(crate) use gaps::Gaps;
pub(crate) use key_stream::{KeyStream, count_key_stream, sample_spans, stream_spans};
pub(crate) use large_weighted_table::{FEWEST_SPLIT_ROWS, LargeWeightedTable};
pub(crate) use order::{Order, StepRows};
pub(crate) use ordered_rows::{OrderedRows, RankedRow};
pub(crate) use placement_lookup::PlacementLookup;
pub(crate) use placement_table::{Arrangement, Nearness, PlacementTable};
#[cfg(test)]
pub(crate) use reference_wins::{WeightedKeys, weighted_wins};
pub(crate) use resolve::{NearKeys, Side};
pub(crate) use resolve_weighted::{NearRow, wins_of_near};
pub(crate) use weighted_search::WeightedSearch;
pub(crate) use weighted_table::WeightedTable;
pub(crate) use weighted_wins::WeightedWins;
pub(crate) use whole_numbers::WholeNumberTable;

#[cfg(test)]
mod tests;
