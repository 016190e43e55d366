//! ROC curves of single columns: their points, their convex hulls, bands, and areas under parts of them.

mod band;
mod hull;
mod partial;
mod points;
mod precision_recall;
mod reliability;
mod surface;

use crate::error::Result;
use crate::sample::ClassRows;

pub use band::{CurveRates, side_sizes};
pub use hull::roc_hulls;
pub use partial::{CurveSides, PartialAucs, Region, partial_aucs};
pub(crate) use partial::{check_present, partial_area};
pub use points::{CurvePoints, roc_curves};
pub use precision_recall::{PrecisionRecallPoints, precision_recall_curves};
pub use reliability::{ReliabilityPoints, reliability_curves};
pub use surface::roc_surface;

/// What `compute` finds for those of some curves that have rows on both sides, and `undefined` for the others.
fn of_present<R: Clone>(
    rows: &ClassRows,
    curves: &[CurveSides],
    undefined: &R,
    compute: impl FnOnce(&[CurveSides]) -> Result<Vec<R>>,
) -> Result<Vec<R>> {
    let is_present = |&(c, d): &CurveSides| rows.count(c) > 0 && d.is_none_or(|d| rows.count(d) > 0);
    let present: Vec<CurveSides> = curves.iter().copied().filter(is_present).collect();
    let mut found = compute(&present)?.into_iter();
    let next = |sides| if is_present(sides) { found.next() } else { None };
    Ok(curves.iter().map(next).map(|curve| curve.unwrap_or_else(|| undefined.clone())).collect())
}
