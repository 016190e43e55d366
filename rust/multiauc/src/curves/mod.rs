//! ROC curves of single columns: their points, their convex hulls, bands, and areas under parts of them.

mod band;
mod hull;
mod partial;
mod points;
mod precision_recall;
mod surface;

pub use band::CurveRates;
pub use hull::roc_hulls;
pub use partial::{CurveSides, PartialAucs, Region, partial_aucs};
pub(crate) use partial::{check_present, partial_area};
pub use points::{CurvePoints, roc_curves};
pub use precision_recall::{PrecisionRecallPoints, precision_recall_curves};
pub use surface::roc_surface;
