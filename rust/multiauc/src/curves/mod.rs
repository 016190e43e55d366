//! ROC curves of single columns: their points, and areas under parts of them.

mod partial;
mod points;

pub use partial::{CurveSides, PartialAucs, Region, partial_aucs};
pub(crate) use partial::{check_present, partial_area};
pub use points::{CurvePoints, roc_curves};
