//! From counts of pairs to numbers: exact ratios, and averages that do not depend on the order of the classes.

use super::wins::{Tally, Wins, ratio};
use crate::error::{Error, Result};
use crate::sample::ClassSizes;

/// How much each pair of classes counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PairWeights<'a> {
    /// All pairs equally.
    Equal,
    /// n_c · n_d.
    SizeProduct,
    /// n_c + n_d.
    SizeSum,
    /// A symmetric K × K matrix, row by row; the diagonal is ignored.
    Matrix(&'a [f64]),
}

impl PairWeights<'_> {
    /// The weight of a pair, up to a factor that all pairs have in common.
    pub(crate) fn of(self, pair: PairSizes) -> f64 {
        let [w_c, w_d] = pair.weights;
        match self {
            Self::Equal => 1.0,
            Self::SizeSum => w_c + w_d,
            Self::SizeProduct => w_c * w_d,
            Self::Matrix(matrix) => matrix[pair.cell],
        }
    }
}

/// How the one-vs-rest values of the classes are averaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OneVsRestAverage {
    /// The mean over classes.
    Macro,
    /// Weighted by prevalence (Provost & Domingos).
    Prevalence,
    /// Weighted by prevalence, with all other classes counting equally in each rest.
    PrevalenceEqualRest,
    /// The AUC of all cells pooled: each row's own column against the others.
    Micro,
}

/// A sum of shares as whole multiples of 2^−128: the same bits in any order.
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

/// Σ w·x / Σ w with the same bits for any order of the terms: they are sorted first. Both sums are taken alike, so that
/// the mean of values in [0, 1] is there too, and that of ones is exactly 1.
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

/// A running average of the shares of pairs.
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
    /// Adds a pair of classes.
    pub(crate) fn add(&mut self, weights: PairWeights<'_>, pair: PairSizes, wins: Wins) {
        match (weights, wins) {
            (PairWeights::Equal, Wins::Counted { doubled, doubled_pairs }) => {
                self.shares.add(doubled, doubled_pairs, 1);
            }
            (PairWeights::SizeSum, Wins::Counted { doubled, doubled_pairs }) => {
                self.shares.add(doubled, doubled_pairs, pair.rows[0] + pair.rows[1]);
            }
            (PairWeights::SizeProduct, Wins::Counted { doubled, doubled_pairs }) => {
                self.doubled_wins += u128::from(doubled);
                self.doubled_pairs += u128::from(doubled_pairs);
            }
            _ => self.terms.push((weights.of(pair), wins.share())),
        }
    }

    /// Adds the pairs of one class with several others, against each row of which it wins the same share: `wins` are those
    /// against one row, and `together` has the size of all the others in the second place. The same bits as adding the
    /// pairs one by one, if rows have no weights.
    ///
    /// # Panics
    /// If the weights are a matrix, which tells the pairs apart.
    pub(crate) fn add_alike(&mut self, weights: PairWeights<'_>, together: PairSizes, classes: u64, wins: Wins) {
        let ([own, others], [own_weight, other_weight]) = (together.rows, together.weights);
        let weight = match weights {
            PairWeights::Equal => classes as f64,
            PairWeights::SizeSum => classes as f64 * own_weight + other_weight,
            PairWeights::SizeProduct => own_weight * other_weight,
            PairWeights::Matrix(_) => unreachable!("a matrix has a weight for each pair"),
        };
        match wins {
            Wins::Counted { doubled, doubled_pairs } if weights == PairWeights::SizeProduct => {
                self.doubled_wins += u128::from(doubled) * u128::from(others);
                self.doubled_pairs += u128::from(doubled_pairs) * u128::from(others);
            }
            Wins::Counted { doubled, doubled_pairs } => {
                let times = if weights == PairWeights::Equal { classes } else { classes * own + others };
                self.shares.add(doubled, doubled_pairs, times);
            }
            wins => self.terms.push((weight, wins.share())),
        }
    }

    pub(crate) fn merge(mut self, mut other: Self) -> Self {
        self.shares = self.shares.merge(other.shares);
        self.doubled_wins += other.doubled_wins;
        self.doubled_pairs += other.doubled_pairs;
        self.terms.append(&mut other.terms);
        self
    }

    /// The average of all that was added.
    pub(crate) fn finish(self) -> Result<f64> {
        if self.shares.count > 0 {
            Ok(self.shares.mean())
        } else if self.doubled_pairs > 0 {
            Ok(ratio(self.doubled_wins, self.doubled_pairs))
        } else {
            weighted_mean(self.terms)
        }
    }
}

/// The average of the pairs of one sample.
#[derive(Debug)]
pub(crate) struct SampleAverage<'a> {
    weights: PairWeights<'a>,
    sizes: &'a ClassSizes,
    average: PairAverage,
}

impl<'a> SampleAverage<'a> {
    pub(crate) fn new(weights: PairWeights<'a>, sizes: &'a ClassSizes) -> Self {
        Self { weights, sizes, average: PairAverage::default() }
    }

    pub(crate) fn finish(self) -> Result<f64> {
        self.average.finish()
    }
}

impl Tally for SampleAverage<'_> {
    fn empty(&self) -> Self {
        Self::new(self.weights, self.sizes)
    }

    fn add(&mut self, c: usize, d: usize, wins: Wins) {
        self.average.add(self.weights, PairSizes::of(self.sizes, c, d), wins);
    }

    fn merge(self, other: Self) -> Self {
        Self { average: self.average.merge(other.average), ..self }
    }
}

/// A running average of the values of classes.
#[derive(Debug, Default)]
pub(crate) struct ClassAverage {
    shares: ShareSum,
    /// Of values that are not counts: (weight, value).
    terms: Vec<(f64, f64)>,
}

impl ClassAverage {
    /// Adds a value that counts `times` times, or as much as `weight` where rows have weights.
    pub(crate) fn add(&mut self, wins: Wins, times: u64, weight: f64) {
        match wins {
            Wins::Counted { doubled, doubled_pairs } => self.shares.add(doubled, doubled_pairs, times),
            wins => self.terms.push((weight, wins.share())),
        }
    }

    pub(crate) fn merge(mut self, mut other: Self) -> Self {
        self.shares = self.shares.merge(other.shares);
        self.terms.append(&mut other.terms);
        self
    }

    /// The average of all that was added.
    pub(crate) fn finish(self) -> Result<f64> {
        if self.terms.is_empty() { Ok(self.shares.mean()) } else { weighted_mean(self.terms) }
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
