//! Rows whose scores do not sum to 1, where those of most rows do.

use super::ScoreMatrix;
use crate::float::Score;

/// Of fewer rows none can be said to differ from the others.
const FEWEST_ROWS: usize = 20;
/// The share of rows that must sum to 1, how far they may be from it, and how many times as far others must be.
const MOST: f64 = 0.9;
const FAR: f64 = 1e-3;
const TIMES: f64 = 8.0;
/// Less is no damage that matters: the scores of a row that were rounded otherwise than those of the others.
const NEAR: f64 = 1e-6;
/// Decimals of scores that may have been rounded.
const DIGITS: i32 = 6;
/// How far a number may be from a short decimal that it stands for; also a double, which may have been a single before.
const ROUNDING: f64 = 4.0 * f32::EPSILON as f64;

/// The first of some odd rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OddRows {
    /// Its number.
    pub row: usize,
    /// The sum of its scores.
    pub sum: f64,
    /// Whether one of its scores is negative.
    pub is_negative: bool,
    /// How many rows are like that.
    pub count: usize,
}

/// Rows that may be damaged: their scores do not sum to 1, or one is negative, and those of nearly all rows are
/// probabilities. `None` if there are none, or if the scores are something else.
#[must_use]
pub fn find_odd_rows<T: Score>(scores: &ScoreMatrix<'_, T>) -> Option<OddRows> {
    if scores.columns() < 2 || scores.rows() < FEWEST_ROWS {
        return None;
    }
    let scores_of = |row: usize| (0..scores.columns()).map(move |column| -> f64 { scores.get(row, column).into() });
    let mut sums = vec![0.0; scores.rows()];
    let mut are_negative = vec![false; scores.rows()];
    for column in 0..scores.columns() {
        for (row, (sum, is_negative)) in sums.iter_mut().zip(&mut are_negative).enumerate() {
            let score: f64 = scores.get(row, column).into();
            *sum += score;
            *is_negative |= score < 0.0;
        }
    }
    let far: Vec<f64> = sums.iter().map(|sum| (sum - 1.0).abs()).collect();
    let typical = typical(&far);
    if typical > FAR {
        return None;
    }
    let limit = (TIMES * typical).max(NEAR);
    let is_odd = |row: usize| {
        // A sum that is not a number is odd, too.
        let is_near = far[row] <= limit && !are_negative[row];
        !is_near && !is_rounded(&scores_of(row), far[row], scores.columns())
    };
    let mut odd = (0..scores.rows()).filter(|&row| is_odd(row));
    let row = odd.next()?;
    Some(OddRows { row, sum: sums[row], is_negative: are_negative[row], count: 1 + odd.count() })
}

/// The distance that most are within.
fn typical(far: &[f64]) -> f64 {
    let mut values = far.to_vec();
    let place = (values.len() - 1) as f64 * MOST;
    let (_, &mut low, above) = values.select_nth_unstable_by(place as usize, f64::total_cmp);
    let high = above.iter().copied().min_by(f64::total_cmp).unwrap_or(low);
    low + (high - low) * place.fract()
}

/// Whether scores are decimals so short that rounding explains how far their sum is from 1.
fn is_rounded(scores: &(impl Iterator<Item = f64> + Clone), far: f64, count: usize) -> bool {
    (1..=DIGITS).any(|digits| {
        let power = 10.0_f64.powi(digits);
        far <= count as f64 * (0.5 / power + ROUNDING)
            && scores.clone().all(|score| (score - (score * power).round_ties_even() / power).abs() <= ROUNDING)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(rows: &[[f64; 3]]) -> Option<OddRows> {
        find_odd_rows(&ScoreMatrix::from_rows(rows.as_flattened(), 3).expect("a matrix"))
    }

    #[test]
    fn the_first_row_that_does_not_sum_to_one() {
        let mut rows = vec![[0.123_456_789, 0.7, 0.176_543_211]; 40];
        assert_eq!(find(&rows), None);
        rows[7] = [0.1, 0.75, 0.16];
        rows[9] = [-0.5, 0.75, 0.756];
        rows[11] = [7.125, 0.75, 0.75];
        let found = find(&rows).expect("an odd row");
        assert_eq!((found.row, found.is_negative, found.count), (9, true, 2));
        assert_eq!(find(&rows[..19]), None);
    }

    #[test]
    fn scores_that_are_no_probabilities_have_no_odd_rows() {
        let rows: Vec<[f64; 3]> = (0..40).map(|k| [f64::from(k), 1.0, 2.0]).collect();
        assert_eq!(find(&rows), None);
    }
}
