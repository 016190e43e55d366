//! Two classes with one score per row.

use crate::error::Result;
use crate::float::Score;
use crate::pairs::{Rest, Wins, count_columns};
use crate::parallel::Workers;
use crate::sample::ScoredSample;

/// What class 1 wins against class 0 by its score. Both columns (−s, s) give the same ranking, so every pairwise and
/// one-vs-rest value is this one.
pub(super) fn single_score_wins<T: Score>(sample: &ScoredSample<'_, T>, workers: &Workers<'_>) -> Result<Wins> {
    let columns = count_columns(sample, &[1], Rest::ByClass, workers, |column| column.wins(0))?;
    Ok(columns[0])
}
