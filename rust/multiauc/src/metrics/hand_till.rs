//! Hand & Till's M (2001): column c ranks the rows of class c against those of each other class.

use super::two_classes::single_score_wins;
use crate::error::Result;
use crate::float::Score;
use crate::pairs::{PairWeights, Rest, SampleAverage, Tally, fold_columns};
use crate::parallel::Workers;
use crate::sample::ScoredSample;

/// M = Σ_{c≠d} ω_cd A(c|d): A(c|d) is the share of pairs of rows, one of class c and one of class d, of which column c
/// gives the higher score to the row of class c, ties counting half (Hand & Till 2001).
///
/// # Errors
/// [`Error::NoPairWeight`](crate::Error::NoPairWeight), [`Error::Cancelled`](crate::Error::Cancelled).
pub fn hand_till<T: Score>(
    sample: &ScoredSample<'_, T>,
    weights: PairWeights<'_>,
    workers: &Workers<'_>,
) -> Result<f64> {
    let average = SampleAverage::new(weights, sample.sizes());
    if sample.has_single_score() {
        let mut average = average;
        average.add(1, 0, single_score_wins(sample, workers)?);
        return average.finish();
    }
    let parts = fold_columns(sample, Rest::ByClass, workers, |column| {
        let mut part = average.empty();
        column.others().for_each(|d| part.add(column.class, d, column.wins(d)));
        part
    })?;
    parts.into_iter().fold(average, SampleAverage::merge).finish()
}

/// A(c|d) at row c and column d of a K × K matrix, row by row; NaN on the diagonal and for absent classes.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub fn hand_till_matrix<T: Score>(sample: &ScoredSample<'_, T>, workers: &Workers<'_>) -> Result<Vec<f64>> {
    let classes = sample.classes();
    let mut matrix = vec![f64::NAN; classes * classes];
    if sample.has_single_score() {
        let share = single_score_wins(sample, workers)?.share();
        (matrix[1], matrix[2]) = (share, share);
        return Ok(matrix);
    }
    let rows = fold_columns(sample, Rest::ByClass, workers, |column| {
        let mut row = vec![f64::NAN; classes];
        column.others().for_each(|d| row[d] = column.wins(d).share());
        (column.class, row)
    })?;
    for (class, row) in rows {
        matrix[class * classes..][..classes].copy_from_slice(&row);
    }
    Ok(matrix)
}
