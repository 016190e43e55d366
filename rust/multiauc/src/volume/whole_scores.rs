//! Scores as whole numbers, so that sums of them compare exactly.
//!
//! An assignment of rows to classes is judged by a sum of scores, one per row. Sums of doubles round, and rounding breaks
//! ties that exist on paper. Whole numbers do not: scores on a lattice 1/m are their numerators, and all others multiples
//! of the lowest digit that any of them has, in as many bits as that takes. Logarithms and distances are irrational: they
//! are rounded to multiples of 2^−96, and sums of them that differ by less than 2^−72 tie.

use super::amounts::{Amount, Exact, Rounded};
use super::rounding::{Double, logarithm};
use crate::error::{Error, Result};
use crate::float::Score;
use crate::keys::DifferenceRule;
use crate::parallel::Workers;
use crate::sample::{ClassRows, ScoredSample};

/// What the assignments of a tuple's rows to classes are judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HumRule {
    /// The sum of the scores.
    #[default]
    Sum,
    /// The product of the scores, which must not be negative.
    Product,
    /// The sum of the distances ‖p − e_j‖ from the corners of the simplex, to be as small as possible.
    Distance,
}

/// The scores of the rows of all present classes, in the columns of those classes: read once, since another thread may
/// change them.
pub(super) struct ReadScores {
    /// Number of present classes.
    classes: usize,
    /// Row by row, in the order of positions, in units of 1/m.
    scores: Vec<f64>,
    /// 1 where scores stand for themselves.
    m: f64,
}

impl ReadScores {
    /// # Errors
    /// [`Error::NegativeScore`] of the rule `Product`, [`Error::Cancelled`].
    pub(super) fn new<T: Score>(
        sample: &ScoredSample<'_, T>,
        rows: &ClassRows,
        rule: HumRule,
        workers: &Workers<'_>,
    ) -> Result<Self> {
        let present = rows.present();
        let key_rule = DifferenceRule::of(sample, workers)?;
        let lattice = key_rule.largest_whole_number().is_some();
        let mut scores = Vec::with_capacity(rows.len() * present.len());
        for &row in rows.rows() {
            for &column in present {
                let value = sample.scores.get(row as usize, column).widened();
                if rule == HumRule::Product && value < 0.0 {
                    return Err(Error::NegativeScore { row: row as usize, column, value });
                }
                scores.push(if lattice { key_rule.key(value, 0.0) } else { value });
            }
        }
        Ok(Self { classes: present.len(), scores, m: if lattice { key_rule.key(1.0, 0.0) } else { 1.0 } })
    }

    /// The bits that sums of scores take, without rounding and with the sign.
    pub(super) fn bits(&self) -> u32 {
        let (mut lowest, mut highest) = (u32::MAX, 0);
        for (mantissa, exponent) in self.scores.iter().map(|&score| parts(score)).filter(|&(mantissa, _)| mantissa != 0)
        {
            lowest = lowest.min(exponent + mantissa.trailing_zeros());
            highest = highest.max(exponent + u64::BITS - mantissa.unsigned_abs().leading_zeros());
        }
        // A path has at most two differences of scores for each class.
        highest.saturating_sub(lowest) + 4 + (self.classes as u32).next_power_of_two().ilog2()
    }

    /// The scores themselves, for sums, in a number of at least [`bits`](Self::bits).
    pub(super) fn exactly<A: Exact>(&self) -> WholeScores<A> {
        let exponents = self.scores.iter().map(|&score| parts(score)).filter(|&(mantissa, _)| mantissa != 0);
        let lowest = exponents.map(|(mantissa, exponent)| exponent + mantissa.trailing_zeros()).min().unwrap_or(0);
        let whole = |&score: &f64| match parts(score) {
            (0, _) => A::default(),
            (mantissa, exponent) if exponent >= lowest => A::shifted(mantissa, exponent - lowest),
            (mantissa, exponent) => A::shifted(mantissa >> (lowest - exponent), 0),
        };
        WholeScores { classes: self.classes, scores: self.scores.iter().map(whole).collect() }
    }

    /// log₂ p, for products; that of the smallest normal number for smaller ones.
    pub(super) fn logarithms(&self, workers: &Workers<'_>) -> Result<WholeScores<Rounded>> {
        let of_unit = logarithm(self.m);
        let smallest = logarithm(f64::MIN_POSITIVE);
        self.converted(workers, |row, found| {
            for (&score, found) in row.iter().zip(found) {
                *found = if score > 0.0 { (logarithm(score) - of_unit).max(smallest) } else { smallest };
            }
        })
    }

    /// −‖p − e_j‖ for every class j, in units of the power of two above the largest score.
    pub(super) fn negative_distances(&self, workers: &Workers<'_>) -> Result<WholeScores<Rounded>> {
        let largest = self.scores.iter().fold(self.m, |largest, score| largest.max(score.abs()));
        // In two factors, each within the range of doubles.
        let exponent = Rounded::FRACTION as i32 - 1 - largest.log2().floor() as i32;
        let (half, rest) = (2_f64.powi(exponent / 2), 2_f64.powi(exponent - exponent / 2));
        let whole = |score: f64| (score * half * rest).round_ties_even() as i128;
        let one = whole(self.m);
        self.converted(workers, |row, found| {
            // Whole numbers: the order of columns does not matter by a bit.
            let squares = row.iter().fold(Double::default(), |sum, &score| sum.plus(Double::square(whole(score))));
            for (&score, found) in row.iter().zip(found) {
                let score = whole(score);
                let square = squares.minus(Double::square(score)).plus(Double::square(score - one));
                *found = Rounded(-square.root());
            }
        })
    }

    /// Row by row.
    fn converted(
        &self,
        workers: &Workers<'_>,
        convert: impl Fn(&[f64], &mut [Rounded]) + Sync,
    ) -> Result<WholeScores<Rounded>> {
        const ROWS: usize = 4096;
        let mut scores = vec![Rounded::default(); self.scores.len()];
        workers.map_chunks(&mut scores, ROWS * self.classes, |chunk, found| {
            let read = self.scores[chunk * ROWS * self.classes..].chunks_exact(self.classes);
            read.zip(found.chunks_exact_mut(self.classes)).for_each(|(row, found)| convert(row, found));
            Ok(())
        })?;
        Ok(WholeScores { classes: self.classes, scores })
    }
}

/// The whole number a of a double a · 2^(e − 1074), and e.
fn parts(score: f64) -> (i64, u32) {
    let bits = score.to_bits();
    let (exponent, fraction) = ((bits >> 52 & 0x7ff) as u32, (bits & ((1 << 52) - 1)).cast_signed());
    let (mantissa, exponent) = if exponent == 0 { (fraction, 0) } else { (fraction | 1 << 52, exponent - 1) };
    (if score.is_sign_negative() { -mantissa } else { mantissa }, exponent)
}

/// The scores of the rows of all present classes, in the columns of those classes, in whole numbers.
pub(super) struct WholeScores<A> {
    /// Number of present classes.
    pub classes: usize,
    /// Row by row, in the order of positions.
    scores: Vec<A>,
}

impl<A: Amount> WholeScores<A> {
    /// The scores of a position, in the order of the present classes.
    pub(super) fn of(&self, position: usize) -> &[A] {
        &self.scores[position * self.classes..][..self.classes]
    }
}

#[cfg(test)]
mod tests {
    use super::super::amounts::Wide;
    use super::*;
    use crate::parallel::Cancel;

    fn read(scores: &[f64], classes: usize) -> ReadScores {
        ReadScores { classes, scores: scores.to_vec(), m: 1.0 }
    }

    #[test]
    fn scores_keep_all_their_digits() {
        let narrow = read(&[0.5, -0.75, 3.0, 0.0], 2);
        assert_eq!(narrow.exactly::<i64>().scores, [2, -3, 12, 0]);
        assert!(narrow.bits() < 12);
        let wide = read(&[1.0, 1e-300, -5e-324, f64::MAX], 2);
        assert!(wide.bits() <= 35 * 64);
        let found = wide.exactly::<Wide<35>>();
        assert!(found.scores[1] > Wide::default() && found.scores[2] < Wide::default());
        assert_eq!(found.scores[2] + found.scores[2], Wide::shifted(-2, 0));
        assert!(found.scores[0] + found.scores[1] > found.scores[0]);
        assert!(found.scores[0] + found.scores[2] < found.scores[0]);
        assert_eq!(read(&[0.0, 0.0], 2).exactly::<i64>().scores, [0, 0]);
    }

    #[test]
    fn products_that_are_equal_tie() -> Result<()> {
        let cancel = Cancel::new();
        let workers = Workers::with_threads(1, &cancel);
        let found =
            ReadScores { classes: 6, scores: vec![2.0, 3.0, 1.0, 6.0, 0.0, 12.0], m: 10.0 }.logarithms(&workers)?;
        let of = found.of(0);
        assert!((of[0] + of[1]).is_tied(of[2] + of[3]) && (of[0] + of[3]).is_tied(of[5] + of[2]));
        assert!(of[4].is_below(of[2]) && of[4].is_tied(logarithm(f64::MIN_POSITIVE)));
        Ok(())
    }

    #[test]
    fn distances_lose_no_digits_next_to_a_corner() -> Result<()> {
        let cancel = Cancel::new();
        let workers = Workers::with_threads(1, &cancel);
        let found = read(&[1.0, 1e-10], 2).negative_distances(&workers)?;
        let [near, far] = [0, 1].map(|class| found.of(0)[class].0 as f64 / 2_f64.powi(95));
        assert!((near + 1e-10).abs() < 1e-25);
        assert!((far + (2.0 - 2e-10_f64).sqrt()).abs() < 1e-15);
        // √8 = 2 √2: of (3, 2) and of (2, 1) from the first corner.
        let found = read(&[3.0, 2.0, 2.0, 1.0], 2).negative_distances(&workers)?;
        assert!(found.of(0)[0].is_tied(found.of(1)[0] + found.of(1)[0]));
        Ok(())
    }
}
