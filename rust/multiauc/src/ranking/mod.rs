//! Exact counts of pairs: how many keys of one class lie below those of another.

mod bucket_map;
mod bucket_table;
mod key;
mod overfull;
mod partitioned;
mod resolve;
mod sorted;

pub(crate) use bucket_table::{BucketTable, Lookup};
pub use key::Key;
pub(crate) use partitioned::{KeyStream, count_partitioned};
pub(crate) use resolve::{Candidates, Neighbourhoods, TieGroups, correction};
pub(crate) use sorted::{SortedTable, WeightedKeys, weighted_count};

/// More table keys than this are cut into parts by value first, so that every table stays in the cache.
pub(crate) const LARGEST_TABLE: u64 = 1 << 19;

#[cfg(test)]
mod tests;
