//! Numbers about one row of every class at a time.

mod amounts;
mod assignment;
mod distinct;
mod drawn;
mod enumerated;
mod ferri;
mod hum;
mod ordered;
mod rounding;
mod triples;
mod whole_scores;

pub use drawn::Drawing;
pub use ferri::{CoveredShare, covered_share, offset_rates};
pub(crate) use hum::{Hum, hum};
pub(crate) use ordered::{ordered_vus, ordered_vus_components};
pub use whole_scores::HumRule;
