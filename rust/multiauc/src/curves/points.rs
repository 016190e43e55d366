//! The points of ROC curves.

use super::partial::CurveSides;
use crate::error::{Error, Result};
use crate::float::Score;
use crate::parallel::Workers;
use crate::sample::ScoredSample;

/// A curve from (0, 0) to (1, 1): a row is called positive where its score is at least the threshold.
#[derive(Debug, Clone, PartialEq)]
pub struct CurvePoints {
    /// False positive rates, rising.
    pub false_positive_rates: Vec<f64>,
    /// True positive rates, rising.
    pub true_positive_rates: Vec<f64>,
    /// Thresholds, falling from +∞.
    pub thresholds: Vec<f64>,
}

/// Some curves (positive class c, negative class or all others), by the scores of column c.
///
/// With `drop_intermediate` points on a straight line between their neighbours are left out.
///
/// # Errors
/// [`Error::AbsentClass`] if a side of a curve has no rows, [`Error::Cancelled`].
pub fn roc_curves<T: Score>(
    sample: &ScoredSample<'_, T>,
    curves: &[CurveSides],
    drop_intermediate: bool,
    workers: &Workers<'_>,
) -> Result<Vec<CurvePoints>> {
    workers.map(curves.len(), |curve| {
        let (positive, negative) = curves[curve];
        roc_curve(sample, positive, negative, drop_intermediate)
    })
}

fn roc_curve<T: Score>(
    sample: &ScoredSample<'_, T>,
    positive: usize,
    negative: Option<usize>,
    drop_intermediate: bool,
) -> Result<CurvePoints> {
    let mut rows = Vec::new();
    sample.codes.for_each(0..sample.rows(), |row, class| {
        let weight = sample.weight(row);
        let is_wanted = class == positive || negative.is_none_or(|negative| class == negative);
        if is_wanted && sample.has_row(row) {
            let score: f64 = sample.scores.get(row, positive).into();
            // Plus zero, so that both zeros are one threshold.
            rows.push((score + 0.0, weight, class == positive));
        }
    });
    // Stable: equal scores stay in row order, and so do the roundings of the sums.
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut points = vec![(0.0, 0.0, f64::INFINITY)];
    let (mut false_positives, mut true_positives) = (0.0, 0.0);
    for tie in rows.chunk_by(|a, b| a.0 == b.0) {
        for &(_, weight, is_positive) in tie {
            *(if is_positive { &mut true_positives } else { &mut false_positives }) += weight;
        }
        points.push((false_positives, true_positives, tie[0].0));
    }
    if true_positives <= 0.0 {
        return Err(Error::AbsentClass { class: positive });
    }
    if false_positives <= 0.0 {
        // At least two classes have rows, so that only a named one can be absent.
        return Err(Error::AbsentClass { class: negative.unwrap_or(positive) });
    }
    if drop_intermediate {
        points = corners(&points);
    }
    Ok(CurvePoints {
        false_positive_rates: points.iter().map(|point| point.0 / false_positives).collect(),
        true_positive_rates: points.iter().map(|point| point.1 / true_positives).collect(),
        thresholds: points.iter().map(|point| point.2).collect(),
    })
}

/// The first and last point and those where the direction changes.
fn corners(points: &[(f64, f64, f64)]) -> Vec<(f64, f64, f64)> {
    let mut kept: Vec<(f64, f64, f64)> = Vec::new();
    for (index, &point) in points.iter().enumerate() {
        let is_straight = index > 0 && index + 1 < points.len() && {
            let (before, after) = (points[index - 1], points[index + 1]);
            let cross = (point.0 - before.0) * (after.1 - point.1) - (point.1 - before.1) * (after.0 - point.0);
            cross == 0.0
        };
        if !is_straight {
            kept.push(point);
        }
    }
    kept
}
