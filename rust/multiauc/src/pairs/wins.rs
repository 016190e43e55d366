//! What one side wins against another, and how that is gathered from many pairs of classes.

use crate::ranking::WeightedWins;

/// How many of the pairs of rows of two sides the first side wins, ties counting half.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Wins {
    /// Twice the pairs won, a tie counting one, out of twice all pairs.
    Counted { doubled: u64, doubled_pairs: u64 },
    /// The weight won and lost, where rows have weights.
    Weighted(WeightedWins),
    /// A value in [0, 1] that is no count of pairs.
    Share(f64),
}

impl Wins {
    /// Of the pairs of a side of `own` and one of `other` rows.
    pub(crate) const fn counted(doubled: u64, [own, other]: [u64; 2]) -> Self {
        Self::Counted { doubled, doubled_pairs: 2 * own * other }
    }

    /// The share of pairs won.
    pub(crate) fn share(self) -> f64 {
        match self {
            Self::Counted { doubled, doubled_pairs } => ratio(doubled.into(), doubled_pairs.into()),
            Self::Weighted(wins) => wins.share(),
            Self::Share(share) => share,
        }
    }
}

/// Gathers the wins of pairs of classes: on any thread and in any order, in parts that merge.
pub(crate) trait Tally: Sized + Send + Sync {
    /// An empty one of the same kind.
    fn empty(&self) -> Self;
    /// Adds what class c wins against class d.
    fn add(&mut self, c: usize, d: usize, wins: Wins);
    /// Combines what both have gathered.
    fn merge(self, other: Self) -> Self;
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

/// The shares of pairs as a K × K matrix.
#[derive(Debug, Clone)]
pub(crate) struct ShareMatrix {
    classes: usize,
    cells: Vec<(usize, usize, f64)>,
}

impl ShareMatrix {
    pub(crate) const fn new(classes: usize) -> Self {
        Self { classes, cells: Vec::new() }
    }

    /// S(c, d) at (c, d) and at (d, c), row by row; NaN where nothing was gathered.
    pub(crate) fn symmetric(self) -> Vec<f64> {
        let mut matrix = vec![f64::NAN; self.classes * self.classes];
        for (c, d, share) in self.cells {
            matrix[c * self.classes + d] = share;
            matrix[d * self.classes + c] = share;
        }
        matrix
    }
}

impl Tally for ShareMatrix {
    fn empty(&self) -> Self {
        Self::new(self.classes)
    }

    fn add(&mut self, c: usize, d: usize, wins: Wins) {
        self.cells.push((c, d, wins.share()));
    }

    fn merge(mut self, mut other: Self) -> Self {
        self.cells.append(&mut other.cells);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_beyond_two_to_the_53_are_correctly_rounded_too() {
        assert_eq!(ratio(1, 3), 1.0 / 3.0);
        let big = (1_u128 << 62) - 57;
        assert_eq!(ratio(2 * big, 3 * big), 2.0 / 3.0);
        assert_eq!(ratio(big, big), 1.0);
        assert_eq!(ratio(u128::from(u64::MAX), 1 << 64), 1.0);
    }

    #[test]
    fn share_matrices_merge() {
        let mut first = ShareMatrix::new(3);
        let mut second = first.empty();
        first.add(0, 1, Wins::counted(3, [2, 1]));
        second.add(1, 2, Wins::Weighted(WeightedWins { won: 0.5, lost: 1.5 }));
        let matrix = first.merge(second).symmetric();
        assert_eq!([matrix[1], matrix[3], matrix[5], matrix[7]], [0.75, 0.75, 0.25, 0.25]);
        assert!(matrix[0].is_nan() && matrix[2].is_nan());
    }
}
