//! Partial areas under ROC curves: only the part with few false positives, or with many true positives, counts.

use crate::error::{Error, Result};
use crate::float::Score;
use crate::pairs::{column_order, weighted_mean};
use crate::parallel::Workers;
use crate::ranking::{Order, StepRows};
use crate::sample::{ClassRows, ScoredSample};

/// The positive class of a curve, and its negative class or `None` for all others.
pub type CurveSides = (usize, Option<usize>);

/// The part of a ROC curve that counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Region {
    /// False-positive rates up to this, in (0, 1].
    MaxFpr(f64),
    /// True-positive rates from this on, in [0, 1).
    MinTpr(f64),
}

/// Partial areas of several curves and their averages.
#[derive(Debug, Clone, PartialEq)]
pub struct PartialAucs {
    /// The area of each curve.
    pub values: Vec<f64>,
    /// Their mean.
    pub mean: f64,
    /// Their mean weighted by the shares of the positive classes.
    pub mean_by_prevalence: f64,
}

/// The partial areas of some curves (positive class c, negative class or all others), by the scores of column c.
///
/// With FPR ≤ f the area A = ∫ TPR dFPR lies between f²/2 (chance) and f; the value is ½(1 + (A − f²/2)/(f − f²/2))
/// (McClish 1989). TPR ≥ t is the same on the curve of (1 − TPR, 1 − FPR), with f = 1 − t.
///
/// # Errors
/// [`Error::AbsentClass`] if a side of a curve has no rows, [`Error::Cancelled`].
pub fn partial_aucs<T: Score>(
    sample: &ScoredSample<'_, T>,
    curves: &[CurveSides],
    region: Region,
    workers: &Workers<'_>,
) -> Result<PartialAucs> {
    let rows = ClassRows::new(sample);
    check_present(&rows, curves)?;
    let values = workers.map(curves.len(), |curve| {
        let (c, d) = curves[curve];
        Ok(partial_area(&column_order(sample, &rows, c, d), region, |position| rows.mass(position)))
    })?;
    let weighted = curves.iter().zip(&values).map(|(&(c, _), &value)| (rows.weight(c), value)).collect();
    Ok(PartialAucs {
        mean: weighted_mean(values.iter().map(|&value| (1.0, value)).collect())?,
        mean_by_prevalence: weighted_mean(weighted)?,
        values,
    })
}

/// # Errors
/// [`Error::AbsentClass`] if a side of a curve has no rows.
pub(crate) fn check_present(rows: &ClassRows, curves: &[CurveSides]) -> Result<()> {
    let absent = curves.iter().flat_map(|&(c, d)| [Some(c), d]).flatten().find(|&class| rows.count(class) == 0);
    absent.map_or(Ok(()), |class| Err(Error::AbsentClass { class }))
}

/// The standardised area of the own rows' curve against the other rows; NaN where a side has no mass.
pub(crate) fn partial_area(order: &Order, region: Region, mass: impl Fn(u32) -> f64) -> f64 {
    let sum = |places: &[u32]| places.iter().map(|&place| mass(place)).sum::<f64>();
    let (own, others) =
        order.steps().fold((0.0, 0.0), |(own, others), step| (own + sum(step.own), others + sum(step.others)));
    if own <= 0.0 || others <= 0.0 {
        return f64::NAN;
    }
    let limit = match region {
        Region::MaxFpr(rate) => rate,
        Region::MinTpr(rate) => 1.0 - rate,
    };
    let area = match region {
        Region::MaxFpr(_) => area_up_to(limit * others, order.steps_down(), |step| (sum(step.others), sum(step.own))),
        // From the lowest scores up, own rows become negatives first: the mirrored curve.
        Region::MinTpr(_) => area_up_to(limit * own, order.steps(), |step| (sum(step.own), sum(step.others))),
    };
    let (least, most) = (0.5 * limit * limit, limit);
    0.5 * (1.0 + (area / (own * others) - least) / (most - least))
}

/// ∫ y dx up to x = `limit` along a curve of steps (dx, dy): a tied step goes straight, any other right and then up.
fn area_up_to<'o>(
    limit: f64,
    steps: impl Iterator<Item = StepRows<'o>>,
    advance: impl Fn(StepRows<'o>) -> (f64, f64),
) -> f64 {
    let (mut x, mut y, mut area) = (0.0, 0.0, 0.0);
    for step in steps {
        let (dx, dy) = advance(step);
        let rise = if step.is_tied { dy } else { 0.0 };
        if x + dx >= limit {
            let share = if dx > 0.0 { (limit - x) / dx } else { 0.0 };
            return area + (limit - x) * (y + 0.5 * share * rise);
        }
        area += dx * (y + 0.5 * rise);
        (x, y) = (x + dx, y + dy);
    }
    // Rounding may leave the last step short of a limit of 1.
    area
}
