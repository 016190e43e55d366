//! The points of precision-recall curves.

use super::partial::CurveSides;
use super::points::map_points;
use crate::error::Result;
use crate::float::Score;
use crate::parallel::Workers;
use crate::sample::ScoredSample;

/// A curve from recall 0, where precision is 1 by convention: a row is called positive where its score is at least the
/// threshold.
#[derive(Debug, Clone, PartialEq)]
pub struct PrecisionRecallPoints {
    /// The share of true positives among the rows called positive.
    pub precisions: Vec<f64>,
    /// The share of the positives that are called so, rising.
    pub recalls: Vec<f64>,
    /// Thresholds, falling from +∞.
    pub thresholds: Vec<f64>,
}

/// The curves of some classes against all others, each by the scores of its column; one point, NaN, for a class without
/// rows.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub fn precision_recall_curves<T: Score>(
    sample: &ScoredSample<'_, T>,
    classes: &[usize],
    workers: &Workers<'_>,
) -> Result<Vec<PrecisionRecallPoints>> {
    let against_rest: Vec<CurveSides> = classes.iter().map(|&class| (class, None)).collect();
    let nan = vec![f64::NAN];
    let undefined = PrecisionRecallPoints { precisions: nan.clone(), recalls: nan.clone(), thresholds: nan };
    map_points(sample, &against_rest, workers, &undefined, |points| {
        let positives = points.last().map_or(0.0, |last| last.1);
        let precision =
            |&(wrong, right, _): &(f64, f64, f64)| if right + wrong > 0.0 { right / (right + wrong) } else { 1.0 };
        PrecisionRecallPoints {
            precisions: points.iter().map(precision).collect(),
            recalls: points.iter().map(|point| point.1 / positives).collect(),
            thresholds: points.iter().map(|point| point.2).collect(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::Cancel;
    use crate::sample::{ClassCodes, ScoreMatrix};

    #[test]
    fn points_are_those_of_the_definition() {
        let cancel = Cancel::new();
        let workers = Workers::with_threads(1, &cancel);
        let matrix = ScoreMatrix::from_rows(&[0.1, 0.4, 0.4, 0.8], 1).expect("a matrix");
        let sample = ScoredSample::new(matrix, ClassCodes::Bytes(&[0, 0, 1, 1]), None, &workers).expect("a sample");
        let found = precision_recall_curves(&sample, &[1], &workers).expect("a curve");
        assert_eq!(found[0].thresholds, [f64::INFINITY, 0.8, 0.4, 0.1]);
        assert_eq!(found[0].precisions, [1.0, 1.0, 2.0 / 3.0, 0.5]);
        assert_eq!(found[0].recalls, [0.0, 0.5, 1.0, 1.0]);
    }

    #[test]
    fn the_curve_of_a_class_without_rows_is_undefined() {
        let cancel = Cancel::new();
        let workers = Workers::with_threads(1, &cancel);
        let matrix = ScoreMatrix::from_rows(&[0.5; 6], 3).expect("a matrix");
        let sample = ScoredSample::new(matrix, ClassCodes::Bytes(&[0, 1]), None, &workers).expect("a sample");
        let found = precision_recall_curves(&sample, &[2, 1], &workers).expect("curves");
        assert!(found[0].recalls.len() == 1 && found[0].recalls[0].is_nan());
        assert_eq!(found[1].recalls, [0.0, 1.0]);
    }
}
