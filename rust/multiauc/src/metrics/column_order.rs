//! Whether the columns of a sample seem to be in another order: which rows to look at, and the shares of pairs they have.

use crate::error::{Error, Result};
use crate::float::Score;
use crate::inference::{ColumnOrder, OrderRows, check_column_order};
use crate::metrics::hand_till_matrix;
use crate::parallel::Workers;
use crate::sample::{ClassCodes, ClassSizes, ScoreMatrix, ScoredSample};

/// Rows of all classes together, and of each class at least, that are looked at where the shares are not known yet.
const ROWS_LOOKED_AT: usize = 4_000;
const ROWS_OF_A_CLASS: usize = 50;

/// Looks for another order of the columns of some scores. `shares` are A(j|k) of all rows, where they are known; `folds` are
/// those of the rows, which then count by their ranks within their fold. Nothing is found if weights leave no pair.
///
/// # Errors
/// [`Error::Cancelled`].
pub fn find_column_order<T: Score>(
    scores: ScoreMatrix<'_, T>,
    rows: OrderRows<'_>,
    folds: Option<&[u32]>,
    shares: Option<&[f64]>,
    workers: &Workers<'_>,
) -> Result<ColumnOrder> {
    match look(scores, rows, folds, shares, workers) {
        Err(Error::Cancelled) => Err(Error::Cancelled),
        // Weights that no pair can be counted with, but for which there is the curve.
        found => Ok(found.unwrap_or_default()),
    }
}

fn look<T: Score>(
    scores: ScoreMatrix<'_, T>,
    rows: OrderRows<'_>,
    folds: Option<&[u32]>,
    shares: Option<&[f64]>,
    workers: &Workers<'_>,
) -> Result<ColumnOrder> {
    let classes = if scores.columns() == 1 { 2 } else { scores.columns() };
    let (sizes, _) = ClassSizes::scaled(rows.codes, rows.weights, classes, workers)?;
    if let Some(shares) = shares {
        return check_column_order(shares, (&sizes.weights, &sizes.rows), rows, workers);
    }
    let some = some_rows(rows, &sizes.rows);
    let pick = |row: usize| some.as_ref().map_or(row, |some| some[row] as usize);
    let count = some.as_ref().map_or(rows.codes.len(), Vec::len);
    let codes: Vec<u32> = (0..count).map(|row| rows.codes.get(pick(row)) as u32).collect();
    let weights: Option<Vec<f64>> = rows.weights.map(|all| (0..count).map(|row| all[pick(row)]).collect());
    let groups: Option<Vec<u32>> = rows.groups.map(|all| (0..count).map(|row| all[pick(row)]).collect());
    let (codes, weights) = (ClassCodes::Longs(&codes), weights.as_deref());
    let entry = |row: usize, column: usize| scores.get(pick(row), column);
    let shares = if let Some(folds) = folds {
        let folds: Vec<u32> = (0..count).map(|row| folds[pick(row)]).collect();
        let ranks = rank_within(&folds, scores.columns(), |row, column| entry(row, column).into());
        let ranks = ScoreMatrix::from_rows(&ranks, scores.columns())?;
        hand_till_matrix(&ScoredSample::new(ranks, codes, weights, workers)?, workers)?
    } else if some.is_none() {
        hand_till_matrix(&ScoredSample::new(scores, codes, weights, workers)?, workers)?
    } else {
        let picked: Vec<T> = (0..count)
            .flat_map(|row| (0..scores.columns()).map(move |column| (row, column)))
            .map(|(row, column)| entry(row, column))
            .collect();
        let picked = ScoreMatrix::from_rows(&picked, scores.columns())?;
        hand_till_matrix(&ScoredSample::new(picked, codes, weights, workers)?, workers)?
    };
    let counts = ClassSizes::count(codes, weights, classes, workers)?.rows;
    let rows = OrderRows { codes, weights, groups: groups.as_deref() };
    check_column_order(&shares, (&sizes.weights, &counts), rows, workers)
}

/// Up to a number of rows of each class (of positive weight), spread over all rows of the class; `None` for all rows.
fn some_rows(rows: OrderRows<'_>, sizes: &[u64]) -> Option<Vec<u32>> {
    let most = ROWS_OF_A_CLASS.max(ROWS_LOOKED_AT / sizes.len()) as u64;
    if sizes.iter().all(|&size| size <= most) {
        return None;
    }
    let mut seen = vec![0; sizes.len()];
    let mut taken = vec![0; sizes.len()];
    let mut some = Vec::new();
    for row in 0..rows.codes.len() {
        if rows.weights.is_some_and(|weights| weights[row] <= 0.0) {
            continue;
        }
        let class = rows.codes.get(row);
        let kept = sizes[class].min(most);
        if taken[class] < kept && seen[class] == taken[class] * sizes[class] / kept {
            some.push(row as u32);
            taken[class] += 1;
        }
        seen[class] += 1;
    }
    Some(some)
}

/// The share of the rows of its fold that each score is above (ties half), column by column.
///
/// Models of different folds have different scales. In the right order the mean of a class in its own column is at least
/// 1/2 in every fold, whatever the share of the class among its rows, and that of other classes at most 1/2.
fn rank_within(folds: &[u32], columns: usize, entry: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let mut by_fold: Vec<usize> = (0..folds.len()).collect();
    by_fold.sort_by_key(|&row| folds[row]);
    let mut ranks = vec![0.0; folds.len() * columns];
    for rows in by_fold.chunk_by(|&a, &b| folds[a] == folds[b]) {
        for column in 0..columns {
            let mut order = rows.to_vec();
            order.sort_by(|&a, &b| entry(a, column).total_cmp(&entry(b, column)));
            let mut below = 0.0;
            #[expect(clippy::float_cmp, reason = "scores tie if they are equal")]
            for tied in order.chunk_by(|&a, &b| entry(a, column) == entry(b, column)) {
                let size = tied.len() as f64;
                for &row in tied {
                    ranks[row * columns + column] = (below + size / 2.0) / rows.len() as f64;
                }
                below += size;
            }
        }
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_shares_of_a_fold_below() {
        let scores = [3.0, 1.0, 3.0, 10.0, 20.0];
        let ranks = rank_within(&[0, 0, 0, 1, 1], 1, |row, _| scores[row]);
        let expected = [2.0 / 3.0, 1.0 / 6.0, 2.0 / 3.0, 0.25, 0.75];
        assert!(ranks.iter().zip(expected).all(|(rank, expected)| (rank - expected).abs() < 1e-15), "{ranks:?}");
    }

    #[test]
    fn some_rows_are_spread_over_each_class() {
        let codes: Vec<u32> = (0..40_000).map(|row| u32::from(row % 4 == 0)).collect();
        let rows = OrderRows { codes: ClassCodes::Longs(&codes), weights: None, groups: None };
        let some = some_rows(rows, &[30_000, 10_000]).expect("fewer rows");
        let of_class: Vec<u32> = some.iter().copied().filter(|&row| row % 4 == 0).collect();
        assert_eq!((some.len(), of_class.len()), (4_000, 2_000));
        assert!(of_class.iter().zip(0..).all(|(&row, place)| row == place * 10_000 / 2_000 * 4));
    }
}
