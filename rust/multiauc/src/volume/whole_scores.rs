//! Scores as whole numbers, so that sums of them compare exactly.
//!
//! An assignment of rows to classes is judged by a sum of scores, one per row. Sums of doubles round, and rounding breaks
//! ties that exist on paper. Whole numbers do not: scores on a lattice 1/m are their numerators, logarithms and square
//! roots of such scores are sums of those of primes and of square-free numbers, and all other scores are rounded once, to
//! about 2^−60 of the largest. From there on everything is exact.

use std::collections::HashMap;

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

/// Largest numerator whose logarithm is put together from primes, and largest square whose root is.
const MOST_NUMERATOR: i64 = 1 << 22;
const MOST_SQUARE: i64 = 1 << 36;

/// The scores of the rows of all present classes, in the columns of those classes, in whole numbers.
pub(super) struct WholeScores {
    /// Number of present classes.
    pub classes: usize,
    /// Row by row, in the order of positions.
    scores: Vec<i64>,
}

impl WholeScores {
    /// # Errors
    /// [`Error::NegativeScore`] of the rule `Product`, [`Error::Cancelled`].
    pub(super) fn new<T: Score>(
        sample: &ScoredSample<'_, T>,
        rows: &ClassRows,
        rule: HumRule,
        workers: &Workers<'_>,
    ) -> Result<Self> {
        let present = rows.present();
        let lattice = Some(DifferenceRule::of(sample, workers)?).filter(|rule| rule.largest_whole_number().is_some());
        let of_row = |position: usize| {
            let row = rows.rows()[position] as usize;
            present.iter().map(move |&column| (row, column, sample.scores.get(row, column).widened()))
        };
        if rule == HumRule::Product {
            let negative = (0..rows.len()).flat_map(of_row).find(|&(.., score)| score < 0.0);
            if let Some((row, column, value)) = negative {
                return Err(Error::NegativeScore { row, column, value });
            }
        }
        // Sums of two differences, and of a score per class, stay within 63 bits.
        let bits = 62 - (present.len() as u32 + 1).next_power_of_two().ilog2() as i32;
        let numerators = lattice.map(|lattice| {
            let whole = |score: f64| lattice.key(score, 0.0) as i64;
            let all: Vec<i64> = (0..rows.len()).flat_map(of_row).map(|(.., score)| whole(score)).collect();
            (all, whole(1.0))
        });
        let scores = match (rule, numerators) {
            (HumRule::Sum, Some((numerators, _))) => numerators,
            (HumRule::Product, Some((numerators, m))) if numerators.iter().all(|&a| a <= MOST_NUMERATOR) => {
                logarithms(&numerators, m, bits)
            }
            (HumRule::Distance, Some((numerators, m))) if may_take_roots(&numerators, m, present.len()) => {
                negative_distances(&numerators, m, present.len(), bits)
            }
            _ => {
                let smooth: Vec<f64> = match rule {
                    HumRule::Sum => (0..rows.len()).flat_map(of_row).map(|(.., score)| score).collect(),
                    HumRule::Product => {
                        (0..rows.len()).flat_map(of_row).map(|(.., score)| score.max(f64::MIN_POSITIVE).ln()).collect()
                    }
                    HumRule::Distance => {
                        let mut found = Vec::with_capacity(rows.len() * present.len());
                        for position in 0..rows.len() {
                            let row: Vec<f64> = of_row(position).map(|(.., score)| score).collect();
                            push_negative_distances(&row, &mut found);
                        }
                        found
                    }
                };
                rounded(&smooth, bits)
            }
        };
        Ok(Self { classes: present.len(), scores })
    }

    /// The scores of a position, in the order of the present classes.
    pub(super) fn of(&self, position: usize) -> &[i64] {
        &self.scores[position * self.classes..][..self.classes]
    }
}

/// Multiples of the power of two that makes the largest a number of that many bits.
fn rounded(scores: &[f64], bits: i32) -> Vec<i64> {
    let largest = scores.iter().fold(0.0_f64, |largest, score| largest.max(score.abs()));
    if largest == 0.0 {
        return vec![0; scores.len()];
    }
    // In two factors, each within the range of doubles.
    let exponent = bits - 1 - largest.log2().floor() as i32;
    let (half, rest) = (2_f64.powi(exponent / 2), 2_f64.powi(exponent - exponent / 2));
    scores.iter().map(|score| (score * half * rest).round_ties_even() as i64).collect()
}

/// ln a of numerators a, as sums of the rounded logarithms of their prime factors: equal products have equal sums. Zero
/// stands for the smallest normal number, which is so many times 1/m.
fn logarithms(numerators: &[i64], m: i64, bits: i32) -> Vec<i64> {
    // |ln a| is below 2^10, that of the smallest normal number too.
    let unit = 2_f64.powi(bits - 10);
    let of_zero = ((f64::MIN_POSITIVE.ln() + (m as f64).ln()) * unit).round() as i64;
    let largest = numerators.iter().copied().max().unwrap_or(0).max(1) as usize;
    // A factor of every number, and from it the logarithms in rising order.
    let mut factors: Vec<u32> = (0..=largest as u32).collect();
    for prime in (2..).take_while(|prime| prime * prime <= largest) {
        if factors[prime] as usize == prime {
            (prime * prime..=largest).step_by(prime).for_each(|multiple| factors[multiple] = prime as u32);
        }
    }
    let mut of_numbers = vec![of_zero; largest + 1];
    of_numbers[1] = 0;
    for number in 2..=largest {
        let factor = factors[number] as usize;
        of_numbers[number] = if factor == number {
            ((number as f64).ln() * unit).round() as i64
        } else {
            of_numbers[factor] + of_numbers[number / factor]
        };
    }
    numerators.iter().map(|&numerator| of_numbers[numerator as usize]).collect()
}

/// Whether the squares of all distances, in units of 1/m², are small enough to be factored.
fn may_take_roots(numerators: &[i64], m: i64, classes: usize) -> bool {
    let largest = numerators.iter().map(|a| a.abs()).max().unwrap_or(0).max(m);
    largest < 1 << 20 && (classes as i64 + 3) * largest * largest <= MOST_SQUARE
}

/// −m‖p − e_j‖ from the numerators of p: √(c²d) is c times the rounded √d, so that sums that are equal on paper are equal.
fn negative_distances(numerators: &[i64], m: i64, classes: usize, bits: i32) -> Vec<i64> {
    // No root is above 2^18.
    let unit = 2_f64.powi(bits - 19);
    let mut roots: HashMap<i64, i64> = HashMap::new();
    let mut found = Vec::with_capacity(numerators.len());
    for row in numerators.chunks_exact(classes) {
        let squares: i64 = row.iter().map(|a| a * a).sum();
        for a in row {
            let square = squares - 2 * a * m + m * m;
            found.push(-*roots.entry(square).or_insert_with(|| {
                let (root, rest) = square_part(square);
                root * ((rest as f64).sqrt() * unit).round() as i64
            }));
        }
    }
    found
}

/// c and the square-free d of a number c²d.
fn square_part(number: i64) -> (i64, i64) {
    let (mut root, mut rest, mut left) = (1, 1, number.max(0));
    let mut factor = 2;
    while factor * factor * factor <= left {
        let mut times = 0;
        while left % factor == 0 {
            left /= factor;
            times += 1;
        }
        root *= factor.pow(times / 2);
        rest *= factor.pow(times % 2);
        factor += 1;
    }
    // What is left has at most two prime factors.
    let side = (left as f64).sqrt().round() as i64;
    if side * side == left { (root * side, rest) } else { (root, rest * left) }
}

/// −‖p − e_j‖ of a row for every class j, without taking differences of squares.
fn push_negative_distances(row: &[f64], found: &mut Vec<f64>) {
    let first = found.len();
    // The sum of the squares before each score, then that of those behind it.
    let mut before = 0.0;
    for score in row {
        found.push(before);
        before += score * score;
    }
    let mut behind = 0.0;
    for (score, entry) in row.iter().zip(&mut found[first..]).rev() {
        *entry = -(*entry + behind + (1.0 - score) * (1.0 - score)).sqrt();
        behind += score * score;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_that_are_equal_have_equal_sums_of_logarithms() {
        let found = logarithms(&[2, 3, 1, 6, 0, 12], 10, 60);
        assert_eq!(found[0] + found[1], found[2] + found[3]);
        assert_eq!(found[0] + found[3], found[5] + found[2]);
        assert!(found[4] < -found[5]);
    }

    #[test]
    fn squares_are_taken_out_of_numbers() {
        for (number, expected) in [(0, (0, 1)), (1, (1, 1)), (2, (1, 2)), (8, (2, 2)), (18, (3, 2)), (49 * 22, (7, 22))]
        {
            assert_eq!(square_part(number), expected, "{number}");
        }
        assert_eq!(square_part(10_007 * 10_007 * 5), (10_007, 5));
    }

    #[test]
    fn rounding_keeps_order_and_range() {
        let found = rounded(&[1.0, -0.5, 0.1, 0.0], 60);
        assert_eq!((found[0], found[1], found[3]), (1 << 59, -(1 << 58), 0));
        assert!(rounded(&[f64::MAX, 1e-300], 60)[0] < 1 << 60);
        assert_eq!(rounded(&[5e-324, 0.0], 60), [1 << 59, 0]);
    }

    #[test]
    fn distances_lose_no_digits_next_to_a_corner() {
        let mut found = Vec::new();
        push_negative_distances(&[1.0, 1e-10], &mut found);
        assert!((found[0] + 1e-10).abs() < 1e-25);
        assert!((found[1] + (2.0 - 2e-10_f64).sqrt()).abs() < 1e-15);
    }
}
