//! Numbers that sums of scores are compared in: whole numbers wide enough that no sum of scores rounds.

use std::cmp::Ordering;
use std::ops::{Add, Neg, Sub};

/// A number that adds and subtracts without rounding.
pub(super) trait Amount:
    Copy + Ord + Default + Send + Sync + Add<Output = Self> + Sub<Output = Self> + Neg<Output = Self>
{
    /// Whether it is smaller, and not only because scores were rounded.
    fn is_below(self, other: Self) -> bool;

    fn is_tied(self, other: Self) -> bool {
        !self.is_below(other) && !other.is_below(self)
    }
}

/// An amount that holds scores as they are.
pub(super) trait Exact: Amount {
    /// mantissa · 2^shift, which has room.
    fn shifted(mantissa: i64, shift: u32) -> Self;
}

impl Amount for i64 {
    fn is_below(self, other: Self) -> bool {
        self < other
    }
}

impl Exact for i64 {
    fn shifted(mantissa: i64, shift: u32) -> Self {
        mantissa << shift
    }
}

impl Amount for i128 {
    fn is_below(self, other: Self) -> bool {
        self < other
    }
}

impl Exact for i128 {
    fn shifted(mantissa: i64, shift: u32) -> Self {
        Self::from(mantissa) << shift
    }
}

/// A number of N · 64 bits in two's complement, the lowest digits first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wide<const N: usize>([u64; N]);

impl<const N: usize> Default for Wide<N> {
    fn default() -> Self {
        Self([0; N])
    }
}

/// The sum, and whether one is carried on.
const fn add_digits(a: u64, b: u64, carry: bool) -> (u64, bool) {
    let (sum, first) = a.overflowing_add(b);
    let (sum, second) = sum.overflowing_add(carry as u64);
    (sum, first || second)
}

/// The difference, and whether one is borrowed.
const fn subtract_digits(a: u64, b: u64, borrow: bool) -> (u64, bool) {
    let (rest, first) = a.overflowing_sub(b);
    let (rest, second) = rest.overflowing_sub(borrow as u64);
    (rest, first || second)
}

impl<const N: usize> Add for Wide<N> {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        let mut carry = false;
        for (digit, &more) in self.0.iter_mut().zip(&other.0) {
            (*digit, carry) = add_digits(*digit, more, carry);
        }
        self
    }
}

impl<const N: usize> Neg for Wide<N> {
    type Output = Self;

    fn neg(self) -> Self {
        Self::default() - self
    }
}

impl<const N: usize> Sub for Wide<N> {
    type Output = Self;

    fn sub(mut self, other: Self) -> Self {
        let mut borrow = false;
        for (digit, &less) in self.0.iter_mut().zip(&other.0) {
            (*digit, borrow) = subtract_digits(*digit, less, borrow);
        }
        self
    }
}

impl<const N: usize> Ord for Wide<N> {
    fn cmp(&self, other: &Self) -> Ordering {
        let sign = |number: &Self| number.0[N - 1].cast_signed();
        sign(self).cmp(&sign(other)).then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }
}

impl<const N: usize> PartialOrd for Wide<N> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<const N: usize> Amount for Wide<N> {
    fn is_below(self, other: Self) -> bool {
        self < other
    }
}

impl<const N: usize> Exact for Wide<N> {
    fn shifted(mantissa: i64, shift: u32) -> Self {
        let mut found = Self::default();
        let (place, shift) = (shift as usize / 64, shift % 64);
        let magnitude = u128::from(mantissa.unsigned_abs()) << shift;
        for (digit, part) in found.0[place..].iter_mut().zip([magnitude as u64, (magnitude >> 64) as u64]) {
            *digit = part;
        }
        if mantissa < 0 { -found } else { found }
    }
}

/// A number that was rounded once, to a multiple of 2^−96. Sums of such numbers tie if they differ by no more than the
/// rounding of all their terms might have added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Rounded(pub i128);

impl Rounded {
    /// Digits behind the point.
    pub(super) const FRACTION: u32 = 96;
    /// Far more than the rounding of a sum of some thousand terms, and 2^−72.
    const TOLERANCE: i128 = 1 << 24;
}

impl Add for Rounded {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Rounded {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Neg for Rounded {
    type Output = Self;

    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl Amount for Rounded {
    fn is_below(self, other: Self) -> bool {
        self.0 < other.0 - Self::TOLERANCE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_numbers_are_those_of_i128() {
        let numbers = [0, 1, -1, 77, -12_345, i64::MAX, i64::MIN + 1];
        let shifts = [0, 1, 13, 60];
        let pairs = || numbers.iter().flat_map(|&mantissa| shifts.map(|shift| (mantissa, shift)));
        for (a, s) in pairs() {
            for (b, t) in pairs() {
                let (wide, plain) = (Wide::<3>::shifted, <i128 as Exact>::shifted);
                // Two more digits than those of i128.
                assert_eq!(wide(a, s + 64).cmp(&wide(b, t + 64)), plain(a, s).cmp(&plain(b, t)));
                let [low, high] = [plain(a, s) + plain(b, t), plain(a, s) - plain(b, t)]
                    .map(|number| Wide([number as u64, (number >> 64) as u64, if number < 0 { u64::MAX } else { 0 }]));
                assert_eq!(wide(a, s) + wide(b, t), low);
                assert_eq!(wide(a, s) - wide(b, t), high);
            }
        }
    }
}
