//! Whether the scores of a row sum to one, as probabilities do.

use super::score_matrix::ScoreMatrix;
use super::scored_sample::ScoredSample;
use crate::error::Result;
use crate::float::Score;
use crate::parallel::Workers;

/// A row whose scores do not sum to one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct WrongSum {
    pub row: usize,
    pub sum: f64,
    /// Accepted distance from 1.
    pub tolerance: f64,
}

/// How far the sum of the probabilities of a row may be from 1.
const fn tolerance<T: Score>() -> f64 {
    if T::IS_SINGLE { 1e-3 } else { 1e-6 }
}

impl<T: Score> ScoreMatrix<'_, T> {
    /// The first row whose scores are not probabilities, none negative and the sum 1, if there is one.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn find_improbable_row(&self, workers: &Workers<'_>) -> Result<Option<usize>> {
        let tolerance = tolerance::<T>();
        let are_probabilities = |row: usize| {
            let (mut sum, mut is_negative) = (0.0, false);
            for class in 0..self.columns().max(2) {
                let probability = self.probability(row, class);
                sum += probability;
                is_negative |= probability < -tolerance;
            }
            // Not so for NaN.
            (sum - 1.0).abs() <= tolerance && !is_negative
        };
        let spans = workers.row_spans(self.rows(), 8);
        let found = workers.map(spans.len(), |span| Ok(spans[span].clone().find(|&row| !are_probabilities(row))))?;
        Ok(found.into_iter().flatten().next())
    }
}

/// The first such row that counts. A single score s stands for (1 − s, s), which do.
pub(crate) fn first_wrong_sum<T: Score>(
    sample: &ScoredSample<'_, T>,
    workers: &Workers<'_>,
) -> Result<Option<WrongSum>> {
    if sample.has_single_score() {
        return Ok(None);
    }
    let tolerance = tolerance::<T>();
    let spans = workers.row_spans(sample.rows(), 8);
    let first_wrong = workers.map(spans.len(), |span| {
        let sum =
            |row: usize| -> f64 { (0..sample.classes()).map(|column| sample.scores.get(row, column).into()).sum() };
        let rows = spans[span].clone().filter(|&row| sample.has_row(row)).map(|row| (row, sum(row)));
        Ok({ rows }.find(|&(_, sum)| (sum - 1.0).abs() > tolerance))
    })?;
    Ok(first_wrong.into_iter().flatten().next().map(|(row, sum)| WrongSum { row, sum, tolerance }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::Cancel;

    #[test]
    fn rows_of_probabilities_sum_to_one_and_are_not_negative() {
        let cancel = Cancel::new();
        let find = |scores: &[f64], columns: usize| {
            let matrix = ScoreMatrix::from_rows(scores, columns).expect("a matrix");
            matrix.find_improbable_row(&Workers::with_threads(2, &cancel)).expect("an answer")
        };
        assert_eq!(find(&[0.2, 0.8, 0.5, 0.5], 2), None);
        assert_eq!(find(&[0.2, 0.8, 0.5, 0.6], 2), Some(1));
        assert_eq!(find(&[0.2, 0.8, -0.1, 1.1, f64::NAN, 1.0], 2), Some(1));
        assert_eq!(find(&[0.5, 0.5, f64::NAN, 1.0], 2), Some(1));
        assert_eq!(find(&[0.2, 1.0, 1.1], 1), Some(2));
        assert_eq!(find(&[0.2, -0.1, f64::INFINITY], 1), Some(1));
    }
}
