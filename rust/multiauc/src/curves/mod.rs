//! ROC curves of single columns: their points, and areas under parts of them.

mod partial;
mod points;

pub use partial::{PartialAucs, Region, partial_aucs};
pub(crate) use partial::{partial_area, present_curves};
pub use points::{CurvePoints, roc_curves};
