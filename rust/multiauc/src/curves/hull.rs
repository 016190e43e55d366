//! Convex hulls of ROC curves: the points that are best for some costs.

use std::cmp::Ordering;

use super::partial::CurveSides;
use super::points::{CurvePoints, map_points};
use crate::error::Result;
use crate::float::Score;
use crate::parallel::Workers;
use crate::sample::ScoredSample;

/// The upper convex hulls of some curves (positive class c, negative class or all others), by the scores of column c.
///
/// A vertex is a point of the curve that no straight line between two other points passes above or through, or an end
/// of the curve. For every ratio of the costs of false positives and false negatives, a vertex has the least expected
/// cost (Provost & Fawcett 2001). Where a side has no rows, the hull is one point, NaN.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub fn roc_hulls<T: Score>(
    sample: &ScoredSample<'_, T>,
    curves: &[CurveSides],
    workers: &Workers<'_>,
) -> Result<Vec<CurvePoints>> {
    let slack = if sample.weights.is_some() { SUM_ROUNDING } else { 0.0 };
    map_points(sample, curves, workers, &CurvePoints::undefined(), |points| {
        CurvePoints::of_sums(&upper_hull(&points, slack))
    })
}

/// How far sums of weights may be off, relative to themselves: half a unit in the last place of each weight, which may
/// stand for a decimal number or a multiple of another weight, and as much of the sum, with room to spare.
const SUM_ROUNDING: f64 = 4.0 * f64::EPSILON;

/// The vertices of points that rise in both coordinates, by one pass (Andrew's monotone chain).
///
/// With a `slack`, the coordinates are only known up to this much of themselves, and points that may lie on a straight
/// line do: weights of 0.1, 0.2 and 0.3 have the vertices of weights of 1, 2 and 3.
fn upper_hull(points: &[(f64, f64, f64)], slack: f64) -> Vec<(f64, f64, f64)> {
    let mut hull: Vec<(f64, f64, f64)> = Vec::new();
    for &point in points {
        while let [.., before, last] = hull[..] {
            // The last vertex stays where the way to the new point turns right.
            let (along, across) = ((last.0 - before.0, last.1 - before.1), (point.0 - last.0, point.1 - last.1));
            let is_vertex = if slack == 0.0 {
                compare_products((along.0, across.1), (along.1, across.0)) == Ordering::Less
            } else {
                let doubt = last.0 * across.1 + point.1 * along.0 + last.1 * across.0 + point.0 * along.1;
                along.1 * across.0 - along.0 * across.1 > slack * doubt
            };
            if is_vertex {
                break;
            }
            hull.pop();
        }
        hull.push(point);
    }
    hull
}

/// How two products compare, exactly: counts of a hundred million rows have products that doubles do not hold.
fn compare_products(a: (f64, f64), b: (f64, f64)) -> Ordering {
    let (first, second) = (a.0 * a.1, b.0 * b.1);
    let difference = first - second;
    if difference.abs() > 4.0 * f64::EPSILON * (first.abs() + second.abs()) {
        return difference.total_cmp(&0.0);
    }
    // What rounding took from each product; the difference of two that are so close is exact.
    let (lost_first, lost_second) = (a.0.mul_add(a.1, -first), b.0.mul_add(b.1, -second));
    let exact = difference + (lost_first - lost_second);
    exact.partial_cmp(&0.0).unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::Cancel;
    use crate::sample::{ClassCodes, ScoreMatrix};

    /// Hulls of rows with one score for all columns.
    fn hulls(scores: &[f64], codes: &[u8], weights: Option<&[f64]>, sides: &[CurveSides]) -> Result<Vec<CurvePoints>> {
        const CLASSES: usize = 4;
        let cancel = Cancel::new();
        let workers = Workers::with_threads(2, &cancel);
        let matrix = ScoreMatrix::new(scores, 0, (scores.len(), CLASSES), (1, 0))?;
        let sample = ScoredSample::new(matrix, ClassCodes::Bytes(codes), weights, &workers)?;
        roc_hulls(&sample, sides, &workers)
    }

    fn points(curve: &CurvePoints) -> Vec<(f64, f64, f64)> {
        let rates = curve.false_positive_rates.iter().zip(&curve.true_positive_rates);
        rates.zip(&curve.thresholds).map(|((&fpr, &tpr), &threshold)| (fpr, tpr, threshold)).collect()
    }

    const START: (f64, f64, f64) = (0.0, 0.0, f64::INFINITY);

    /// The vertices by the definition: the ends, and every point strictly above all lines between points on both sides.
    fn slow_hull(points: &[(f64, f64, f64)]) -> Vec<(f64, f64, f64)> {
        let is_vertex = |k: usize| {
            (0..k).all(|i| {
                (k + 1..points.len()).all(|j| {
                    let (a, b, p) = (points[i], points[j], points[k]);
                    (b.0 - a.0) * (p.1 - a.1) > (b.1 - a.1) * (p.0 - a.0)
                })
            })
        };
        (0..points.len()).filter(|&k| is_vertex(k)).map(|k| points[k]).collect()
    }

    #[test]
    fn vertices_are_those_computed_by_hand() {
        // The curve goes through (0, 2/7), (1/3, 2/7), (1/3, 5/7), (2/3, 5/7), (2/3, 1).
        let scores = [9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0, 0.0];
        let codes = [1, 1, 0, 1, 1, 1, 0, 1, 1, 0];
        let found = hulls(&scores, &codes, None, &[(1, None)]).expect("a hull");
        let sevenths = [(0.0, 2.0 / 7.0, 8.0), (1.0 / 3.0, 5.0 / 7.0, 4.0), (2.0 / 3.0, 1.0, 1.0), (1.0, 1.0, 0.0)];
        assert_eq!(points(&found[0]), [&[START][..], &sevenths].concat());
    }

    #[test]
    fn scores_that_are_wrong_have_the_diagonal() {
        let found = hulls(&[0.0, 1.0, 2.0, 3.0], &[1, 1, 0, 0], None, &[(1, None)]).expect("a hull");
        assert_eq!(points(&found[0]), [START, (1.0, 1.0, 0.0)]);
    }

    #[test]
    fn vertices_are_those_of_the_definition() {
        for seed in 1..40_u32 {
            let scores: Vec<f64> = (0..60_u32).map(|row| f64::from(row * row * (seed + 6) % (20 + seed))).collect();
            let codes: Vec<u8> = (0..60_u32).map(|row| (row * 5 % 7 % 3) as u8).collect();
            let weights: Vec<f64> = (0..60_u32).map(|row| f64::from(row * 11 % 5)).collect();
            for weights in [None, Some(&weights[..])] {
                for sides in [(0, None), (2, None), (1, Some(2))] {
                    let cancel = Cancel::new();
                    let workers = Workers::with_threads(1, &cancel);
                    let matrix = ScoreMatrix::new(&scores, 0, (60, 3), (1, 0)).expect("scores");
                    let sample =
                        ScoredSample::new(matrix, ClassCodes::Bytes(&codes), weights, &workers).expect("a sample");
                    let all = map_points(&sample, &[sides], &workers, &Vec::new(), |points| points).expect("a curve");
                    for slack in [0.0, SUM_ROUNDING] {
                        assert_eq!(upper_hull(&all[0], slack), slow_hull(&all[0]));
                    }
                }
            }
        }
    }

    #[test]
    fn vertices_do_not_depend_on_the_scale_of_weights() {
        let scores: Vec<f64> = (0..200_u32).map(|row| f64::from(row * row % 41)).collect();
        let codes: Vec<u8> = (0..200_u32).map(|row| (row * 5 % 7 % 2) as u8).collect();
        let whole: Vec<f64> = (0..200_u32).map(|row| f64::from(1 + row * 11 % 5)).collect();
        let expected = points(&hulls(&scores, &codes, Some(&whole), &[(1, None)]).expect("a hull")[0]);
        for factor in [0.1, 1.0 / 3.0, 7e-5, 1e200, 1e-200] {
            let weights: Vec<f64> = whole.iter().map(|weight| weight * factor).collect();
            let found = points(&hulls(&scores, &codes, Some(&weights), &[(1, None)]).expect("a hull")[0]);
            let thresholds = |points: &[(f64, f64, f64)]| points.iter().map(|point| point.2).collect::<Vec<_>>();
            assert_eq!(thresholds(&found), thresholds(&expected), "times {factor}");
        }
    }

    #[test]
    fn products_of_large_counts_compare_exactly() {
        let n = 3_000_000_019.0;
        assert_eq!(compare_products((n, n), (n - 1.0, n + 1.0)), Ordering::Greater);
        assert_eq!(compare_products((n - 1.0, n + 1.0), (n, n)), Ordering::Less);
        assert_eq!(compare_products((n, 6.0), (3.0 * n, 2.0)), Ordering::Equal);
        assert_eq!(compare_products((0.0, n), (n, 0.0)), Ordering::Equal);
        assert_eq!(compare_products((n, n + 2.0), (n + 1.0, n + 1.0)), Ordering::Less);
    }

    #[test]
    fn a_hull_needs_rows_on_both_sides() {
        let found = hulls(&[1.0, 2.0, 3.0], &[0, 1, 1], None, &[(3, None), (1, Some(2)), (1, Some(0))]).expect("hulls");
        assert!(found[..2].iter().all(|hull| hull.thresholds.len() == 1 && hull.thresholds[0].is_nan()));
        assert!(!found[2].thresholds[0].is_nan());
    }
}
