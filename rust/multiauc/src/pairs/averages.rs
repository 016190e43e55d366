//! From counts of pairs to numbers: exact ratios, and averages that do not depend on the order of the classes.

use crate::error::{Error, Result};
use crate::sample::ClassSizes;

/// How much each pair of classes counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PairWeights<'a> {
    /// All pairs alike.
    Equal,
    /// n_c · n_d.
    SizeProduct,
    /// n_c + n_d.
    SizeSum,
    /// A symmetric K × K matrix, row after row; the diagonal is not looked at.
    Matrix(&'a [f64]),
}

/// How one-vs-rest values of the classes become one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OneVsRestAverage {
    /// The mean over classes.
    Macro,
    /// Weighted by the classes' shares of the rows (Provost & Domingos).
    Prevalence,
    /// Weighted by the classes' shares, the other classes counting alike in each rest.
    PrevalenceEqualRest,
    /// The AUC of all cells, pooled: own column against the others.
    Micro,
}

/// The double nearest to numerator / denominator (or one next to it, where both exceed 2^53).
pub(crate) fn ratio(numerator: u128, denominator: u128) -> f64 {
    const EXACT: u128 = 1 << f64::MANTISSA_DIGITS;
    if numerator < EXACT && denominator < EXACT {
        return numerator as f64 / denominator as f64;
    }
    // Long division to 64 more bits; the shares of pairs never exceed 1 by much, so this does not overflow.
    let whole = numerator / denominator;
    let (rest, scale) = (numerator % denominator, denominator.leading_zeros().min(64));
    let fraction = (rest << scale) / denominator;
    whole as f64 + fraction as f64 / 2_f64.powi(scale as i32)
}

/// A sum of shares as whole multiples of 2^−128: the same bits in whatever order it is taken.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ShareSum {
    /// In units of 2^−64.
    high: u128,
    /// In units of 2^−128.
    low: u128,
    count: u128,
}

impl ShareSum {
    /// Adds `times` the share numerator / denominator ≤ 1.
    pub(crate) fn add(&mut self, numerator: u64, denominator: u64, times: u64) {
        let (denominator, times) = (u128::from(denominator), u128::from(times));
        let shifted = u128::from(numerator) << 64;
        self.high += shifted / denominator * times;
        self.low += (((shifted % denominator) << 64) / denominator) * times;
        self.count += times;
    }

    pub(crate) fn merge(self, other: Self) -> Self {
        Self { high: self.high + other.high, low: self.low + other.low, count: self.count + other.count }
    }

    /// The mean share.
    pub(crate) fn mean(self) -> f64 {
        const UNIT: f64 = 1.0 / (u64::MAX as f64 + 1.0);
        let high = self.high + (self.low >> 64);
        let rest = (high % self.count) << 64 | (self.low & u128::from(u64::MAX));
        let (whole, fraction) = (high / self.count, rest / self.count);
        // All 128 bits rounded at once; a mean of 1 has one bit more and no fraction.
        if whole >> 64 > 0 { 1.0 } else { (whole << 64 | fraction) as f64 * UNIT * UNIT }
    }
}

/// Σ w·x / Σ w with the same bits in whatever order the terms come: they are sorted first.
pub(crate) fn weighted_mean(mut terms: Vec<(f64, f64)>) -> Result<f64> {
    terms.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let largest = terms.iter().map(|&(weight, _)| weight).fold(0.0, f64::max);
    if largest <= 0.0 {
        return Err(Error::NoPairWeight);
    }
    // Relative weights, so that neither huge nor tiny ones leave the range of doubles.
    let (mut sum, mut total) = (0.0, 0.0);
    for (weight, value) in terms {
        sum += weight / largest * value;
        total += weight / largest;
    }
    Ok(sum / total)
}

/// The average of the shares of pairs, in the making.
#[derive(Debug, Default)]
pub(crate) struct PairAverage {
    /// Equal and size-sum weights: exact.
    shares: ShareSum,
    /// Size-product weights: all wins over all pairs of rows, exact.
    doubled_wins: u128,
    doubled_pairs: u128,
    /// A matrix of weights, or weighted rows: (weight, value).
    terms: Vec<(f64, f64)>,
}

impl PairAverage {
    /// Adds a pair of classes by its count.
    pub(crate) fn add(&mut self, weights: PairWeights<'_>, pair: PairSizes, doubled_wins: u64) {
        let [n_c, n_d] = pair.rows;
        let doubled_pairs = 2 * n_c * n_d;
        match weights {
            PairWeights::Equal => self.shares.add(doubled_wins, doubled_pairs, 1),
            PairWeights::SizeSum => self.shares.add(doubled_wins, doubled_pairs, n_c + n_d),
            PairWeights::SizeProduct => {
                self.doubled_wins += u128::from(doubled_wins);
                self.doubled_pairs += u128::from(doubled_pairs);
            }
            PairWeights::Matrix(matrix) => {
                let value = ratio(doubled_wins.into(), doubled_pairs.into());
                self.terms.push((matrix[pair.cell], value));
            }
        }
    }

    /// Adds a pair of classes of weighted rows by its value.
    pub(crate) fn add_value(&mut self, weights: PairWeights<'_>, pair: PairSizes, value: f64) {
        let [w_c, w_d] = pair.weights;
        let weight = match weights {
            PairWeights::Equal => 1.0,
            PairWeights::SizeSum => w_c + w_d,
            PairWeights::SizeProduct => w_c * w_d,
            PairWeights::Matrix(matrix) => matrix[pair.cell],
        };
        self.terms.push((weight, value));
    }

    /// The average of all that was added to any of the parts.
    pub(crate) fn finish(parts: impl IntoIterator<Item = Self>) -> Result<f64> {
        let all = parts.into_iter().reduce(|mut all, mut part| {
            all.shares = all.shares.merge(part.shares);
            all.doubled_wins += part.doubled_wins;
            all.doubled_pairs += part.doubled_pairs;
            all.terms.append(&mut part.terms);
            all
        });
        let all = all.unwrap_or_default();
        if all.shares.count > 0 {
            Ok(all.shares.mean())
        } else if all.doubled_pairs > 0 {
            Ok(ratio(all.doubled_wins, all.doubled_pairs))
        } else {
            weighted_mean(all.terms)
        }
    }
}

/// What the weight of a pair can depend on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PairSizes {
    pub rows: [u64; 2],
    pub weights: [f64; 2],
    /// Index of the pair in a K × K matrix.
    pub cell: usize,
}

impl PairSizes {
    pub(crate) fn of(sizes: &ClassSizes, c: usize, d: usize) -> Self {
        Self {
            rows: [sizes.rows[c], sizes.rows[d]],
            weights: [sizes.weights[c], sizes.weights[d]],
            cell: c * sizes.rows.len() + d,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_correctly_rounded_also_beyond_two_to_the_53() {
        assert_eq!(ratio(1, 3), 1.0 / 3.0);
        let big = (1_u128 << 62) - 57;
        assert_eq!(ratio(2 * big, 3 * big), 2.0 / 3.0);
        assert_eq!(ratio(big, big), 1.0);
        assert_eq!(ratio(u128::from(u64::MAX), 1 << 64), 1.0);
    }

    #[test]
    fn share_sums_are_exact_where_the_mean_is_a_double() {
        let mut sum = ShareSum::default();
        sum.add(1, 3, 1);
        sum.add(2, 3, 1);
        assert_eq!(sum.mean(), 0.5);
        let mut thirds = ShareSum::default();
        thirds.add(1, 3, 3);
        assert_eq!(thirds.mean(), 1.0 / 3.0);
    }

    #[test]
    fn weighted_means_do_not_depend_on_the_order_or_the_scale() {
        let terms = vec![(1e-300, 0.3), (5.0, 0.7), (0.25, 0.9)];
        let mut reversed = terms.clone();
        reversed.reverse();
        assert_eq!(weighted_mean(terms).map(f64::to_bits), weighted_mean(reversed).map(f64::to_bits));
        assert_eq!(weighted_mean(vec![(1e300, 0.5), (1e300, 1.0)]), Ok(0.75));
        assert_eq!(weighted_mean(vec![(0.0, 0.5)]), Err(Error::NoPairWeight));
    }
}
