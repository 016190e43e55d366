//! Whether scores and weights are still what they were.

use std::hash::{DefaultHasher, Hasher};

use super::score_matrix::ScoreMatrix;
use crate::float::Score;

/// Rows that are looked at, and columns of each of them.
const ROWS_SEEN: usize = 512;
const COLUMNS_SEEN: usize = 16;

impl<T: Score> ScoreMatrix<'_, T> {
    /// A hash of some rows and their weights, the first and the last among them: of all their columns, or of many columns
    /// some, and in addition one of each row, another one from row to row.
    #[must_use]
    pub fn fingerprint(&self, weights: Option<&[f64]>) -> u64 {
        let columns = spread(self.columns(), COLUMNS_SEEN);
        let mut hasher = DefaultHasher::new();
        let mut see = |value: f64| hasher.write_u64(value.to_bits());
        for (place, row) in spread(self.rows(), ROWS_SEEN).into_iter().enumerate() {
            for &column in &columns {
                see(self.get(row, column).into());
            }
            if columns.len() < self.columns() {
                see(self.get(row, place % self.columns()).into());
            }
            if let Some(&weight) = weights.and_then(|weights| weights.get(row)) {
                see(weight);
            }
        }
        hasher.finish()
    }
}

/// Positions from the first to the last: all of them, or `most` at equal distances.
fn spread(length: usize, most: usize) -> Vec<usize> {
    if length <= most { (0..length).collect() } else { (0..most).map(|k| k * (length - 1) / (most - 1)).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_what_is_looked_at_show() {
        let look = |scores: &[f64], weights: Option<&[f64]>| {
            ScoreMatrix::from_rows(scores, 20).expect("a matrix").fingerprint(weights)
        };
        let scores = vec![0.5; 20 * 600];
        for changed in [0, 19, scores.len() - 1, 20 * 600 - 20] {
            let mut other = scores.clone();
            other[changed] = -0.5;
            assert_ne!(look(&scores, None), look(&other, None), "{changed}");
        }
        let (weights, mut others) = (vec![1.0; 600], vec![1.0; 600]);
        others[599] = 2.0;
        assert_ne!(look(&scores, Some(&weights)), look(&scores, Some(&others)));
        assert_eq!(look(&scores, Some(&weights)), look(&scores.clone(), Some(&weights.clone())));
    }

    #[test]
    fn the_first_and_the_last_are_among_the_positions() {
        assert_eq!(spread(3, 5), [0, 1, 2]);
        assert_eq!(spread(10, 4), [0, 3, 6, 9]);
        assert_eq!(spread(1000, 512).last(), Some(&999));
    }
}
