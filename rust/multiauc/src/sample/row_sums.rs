//! Whether the scores of a row sum to one, as probabilities do.

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

/// The first such row that counts. A single score s stands for (1 − s, s), which do.
pub(crate) fn first_wrong_sum<T: Score>(
    sample: &ScoredSample<'_, T>,
    workers: &Workers<'_>,
) -> Result<Option<WrongSum>> {
    if sample.has_single_score() {
        return Ok(None);
    }
    let tolerance = if T::IS_SINGLE { 1e-3 } else { 1e-6 };
    let spans = workers.row_spans(sample.rows(), 8);
    let first_wrong = workers.map(spans.len(), |span| {
        let sum =
            |row: usize| -> f64 { (0..sample.classes()).map(|column| sample.scores.get(row, column).into()).sum() };
        let rows = spans[span].clone().filter(|&row| sample.has_row(row)).map(|row| (row, sum(row)));
        Ok({ rows }.find(|&(_, sum)| (sum - 1.0).abs() > tolerance))
    })?;
    Ok(first_wrong.into_iter().flatten().next().map(|(row, sum)| WrongSum { row, sum, tolerance }))
}
