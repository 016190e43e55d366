//! Streams and shards: a state of bounded memory, whose answers are exact or have certain bounds.

mod answers;
mod bounds;
mod bytes;
mod code;
mod exact;
mod histogram;
mod lattices;
mod places;
mod row_sample;
mod spread;
mod state;
#[cfg(test)]
mod tests;

pub use answers::{Answers, Certified, CertifiedPairs};
pub use exact::RangeCounts;
pub use state::{Sketch, SketchSettings};
