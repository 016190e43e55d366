//! What bins hold.

use std::ops::{Add, AddAssign, Mul};

use super::table::{Prefix, Table};
use crate::pairs::{Wins, ratio};
use crate::ranking::WeightedWins;

/// What a bin holds: rows, or the weight of rows.
pub(super) trait Mass: Copy + Send + Sync + std::fmt::Debug {
    /// Memory of one.
    const BYTES: usize;
    /// The type that sums and products are taken in, so that they do not overflow.
    type Sum: Copy
        + Default
        + PartialEq
        + Send
        + Sync
        + std::fmt::Debug
        + AddAssign
        + Add<Output = Self::Sum>
        + Mul<Output = Self::Sum>;
    /// Adds another bin's; what does not fit is left over.
    fn add(&mut self, other: Self) -> Option<Self>;
    /// Gathers equal prefixes of rows with the given weights; both end up in increasing order of prefixes.
    fn gathered<P: Prefix>(prefixes: &mut Vec<P>, weights: &[f64], table: &mut Table<P, Self>)
    where
        Self: Sized;
    /// Rows, or weight, to sum up.
    fn to_sum(self) -> Self::Sum;
    /// Rows, or weight.
    fn amount(self) -> f64;
    /// What was won out of all, as a tally takes it; `is_huge` if counts of pairs exceed 64 bits.
    fn wins(won: Self::Sum, lost: Self::Sum, is_huge: bool) -> Wins;
    /// A count of pairs as a sum.
    fn counted(pairs: u128) -> Self::Sum;
    /// As a number.
    fn as_number(sum: Self::Sum) -> f64;
    /// Sum of squared weights.
    fn squares(self) -> f64;
}

impl Mass for u32 {
    const BYTES: usize = 4;
    type Sum = u128;

    fn add(&mut self, other: Self) -> Option<Self> {
        let (sum, overflows) = self.overflowing_add(other);
        if overflows {
            // A full bin stays, and another one of the same prefix begins.
            *self = Self::MAX;
            return Some(sum + 1);
        }
        *self = sum;
        None
    }

    fn gathered<P: Prefix>(prefixes: &mut Vec<P>, _: &[f64], table: &mut Table<P, Self>) {
        P::sort(prefixes);
        for chunk in prefixes.chunk_by(|a, b| a == b) {
            table.push(chunk[0], chunk.len() as Self);
        }
    }

    fn to_sum(self) -> u128 {
        self.into()
    }

    fn amount(self) -> f64 {
        f64::from(self)
    }

    fn wins(won: u128, lost: u128, is_huge: bool) -> Wins {
        if is_huge {
            return Wins::Share(ratio(won, won + lost));
        }
        Wins::Counted { doubled: won as u64, doubled_pairs: (won + lost) as u64 }
    }

    fn counted(pairs: u128) -> u128 {
        pairs
    }

    fn as_number(sum: u128) -> f64 {
        // One instruction for 64 bits; a function for 128.
        u64::try_from(sum).map_or(sum as f64, |sum| sum as f64)
    }

    fn squares(self) -> f64 {
        f64::from(self)
    }
}

/// Weight, and the sum of its squares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Weight {
    pub sum: f64,
    pub squares: f64,
}

impl Mass for Weight {
    const BYTES: usize = 16;
    type Sum = f64;

    fn add(&mut self, other: Self) -> Option<Self> {
        self.sum += other.sum;
        self.squares += other.squares;
        None
    }

    fn gathered<P: Prefix>(prefixes: &mut Vec<P>, weights: &[f64], table: &mut Table<P, Self>) {
        let mut rows: Vec<(P, f64)> = prefixes.iter().copied().zip(weights.iter().copied()).collect();
        // By weight too, so that the order of rows makes no difference to the sum.
        rows.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        for (prefix, weight) in rows {
            table.push(prefix, Self { sum: weight, squares: weight * weight });
        }
    }

    fn to_sum(self) -> f64 {
        self.sum
    }

    fn amount(self) -> f64 {
        self.sum
    }

    fn wins(won: f64, lost: f64, _: bool) -> Wins {
        Wins::Weighted(WeightedWins { won, lost })
    }

    fn counted(pairs: u128) -> f64 {
        pairs as f64
    }

    fn as_number(sum: f64) -> f64 {
        sum
    }

    fn squares(self) -> f64 {
        self.squares
    }
}
