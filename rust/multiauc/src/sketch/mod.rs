//! Streams and shards: a state of bounded memory, whose answers are exact or have certain bounds.

mod answers;
mod bounds;
mod bytes;
mod code;
mod exact;
mod histogram;
mod lattices;
mod mass;
mod places;
mod row_sample;
mod settings;
mod spread;
mod state;
mod table;
#[cfg(test)]
mod tests;

pub use answers::{Answers, Certified, CertifiedPairs};
pub use exact::RangeCounts;
pub use settings::SketchSettings;
pub use state::Sketch;
