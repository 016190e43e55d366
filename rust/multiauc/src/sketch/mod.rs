//! Streams and shards: a state of bounded memory, whose answers are exact or have guaranteed bounds.

mod answers;
mod blocks;
mod bounds;
mod bytes;
mod code;
mod counting;
mod exact;
mod histogram;
mod lattices;
mod mass;
mod packing;
mod places;
mod ranges;
mod row_sample;
mod row_sums;
mod settings;
mod spread;
mod state;
mod table;
#[cfg(test)]
mod tests;

pub use answers::{Answers, BoundedValue, PairBounds};
pub use blocks::RangeBlocks;
pub use exact::RangeCounts;
pub use row_sums::{RowSumSettings, RowSums};
pub use settings::SketchSettings;
pub use state::Sketch;
