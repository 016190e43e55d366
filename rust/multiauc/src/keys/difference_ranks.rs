//! Ranks of differences that come again and again, as those of shares within leaves of a tree do.
//!
//! Every distinct difference gets a slot of a hash table the first time it is seen, and the slots that are taken are kept
//! in order. So a key becomes a whole number, and tied keys are counted instead of sorted.

use std::hint::select_unpredictable;

use crate::float::Score;
use crate::simd::{Simd, Vectorizable, run_widest};

/// Fewer rows are sorted faster than all differences seen so far are gone through.
const LEAST_ROWS: usize = 1 << 13;
const SLOTS_LOG2: u32 = 16;
/// Differences that are kept: so few that most are found in the first slot looked at.
const MOST: usize = 1 << (SLOTS_LOG2 - 1);
/// Rows at a time.
const BLOCK: usize = 128;
/// More than two rounded differences are apart that stand for the same one, less than two that do not: of fractions with
/// denominators of at most 1000, and of magnitudes of at most 64.
const TOLERANCE: f64 = 1.0 / (1_u64 << 43) as f64;

/// The distinct differences seen so far, in order; with reusable memory.
#[derive(Debug, Default)]
pub(super) struct DifferenceRanks {
    /// The difference in each slot; NaN where there is none.
    slots: Vec<f64>,
    /// The rank of each.
    ranks: Vec<u32>,
    /// The slots that are taken, in the order of their differences.
    ordered: Vec<u32>,
    /// Those taken since they were put in order.
    added: Vec<u32>,
    /// The slots of the rows of both sides.
    slots_of: [Vec<u32>; 2],
    is_full: bool,
}

/// Own scores of some rows, and other scores of the same rows.
pub(crate) type Operands<'r, T> = (&'r [T], &'r [T]);

impl DifferenceRanks {
    /// Writes whole numbers in the order of own − other: equal where these are equal but for rounding. `false` if there
    /// are too few rows, or too many distinct differences, for this to be of use.
    pub(super) fn rank<'r, T: Score + 'r>(
        &mut self,
        first: impl Iterator<Item = Operands<'r, T>> + Clone,
        second: impl Iterator<Item = Operands<'r, T>> + Clone,
        keys: [&mut Vec<f64>; 2],
    ) -> bool {
        let rows = first.clone().chain(second.clone()).map(|(own, _)| own.len()).sum::<usize>();
        if self.is_full || rows < LEAST_ROWS {
            return false;
        }
        if self.slots.is_empty() {
            self.slots.resize(1 << SLOTS_LOG2, f64::NAN);
            self.ranks.resize(1 << SLOTS_LOG2, 0);
        }
        self.slots_of.iter_mut().for_each(Vec::clear);
        first.for_each(|(own, other)| run_widest(FindSlots { ranks: self, side: 0, own, other }));
        second.for_each(|(own, other)| run_widest(FindSlots { ranks: self, side: 1, own, other }));
        if self.is_full {
            return false;
        }
        self.put_in_order();
        for (keys, slots) in keys.into_iter().zip(&self.slots_of) {
            keys.clear();
            keys.extend(slots.iter().map(|&slot| f64::from(self.ranks[slot as usize])));
        }
        true
    }

    /// The slot of a difference that is not in the slot it belongs to: the next one that has it, or is free.
    fn slot_after(&mut self, mut slot: usize, difference: f64) -> usize {
        loop {
            let found = self.slots[slot];
            if (found - difference).abs() <= TOLERANCE {
                return slot;
            }
            if found.is_nan() {
                self.is_full |= self.ordered.len() + self.added.len() >= MOST;
                // Full tables are not used any more, but have to keep free slots until the end of the search.
                if !self.is_full {
                    self.slots[slot] = difference;
                    self.added.push(slot as u32);
                }
                return slot;
            }
            slot = (slot + 1) % (1 << SLOTS_LOG2);
        }
    }

    /// Merges the added slots into the others, and numbers all of them.
    fn put_in_order(&mut self) {
        let Self { slots, ranks, ordered, added, .. } = self;
        if added.is_empty() {
            return;
        }
        let before = |a: u32, b: u32| slots[a as usize] < slots[b as usize];
        added.sort_unstable_by(|&a, &b| slots[a as usize].total_cmp(&slots[b as usize]));
        // From the end, so that nothing is overwritten before it is moved.
        let mut rest = ordered.len();
        ordered.resize(rest + added.len(), 0);
        for place in (0..ordered.len()).rev() {
            match added.last() {
                Some(&slot) if rest == 0 || !before(slot, ordered[rest - 1]) => {
                    ordered[place] = slot;
                    added.pop();
                }
                Some(_) => {
                    rest -= 1;
                    ordered[place] = ordered[rest];
                }
                None => break,
            }
        }
        // A difference at the border of two cells may have a slot for each.
        let (mut rank, mut previous) = (0, f64::INFINITY);
        for &slot in &*ordered {
            let difference = slots[slot as usize];
            rank += u32::from(difference - previous > TOLERANCE);
            ranks[slot as usize] = rank;
            previous = difference;
        }
    }
}

/// The slot a difference belongs to: that of its cell, each less wide than two differences are apart.
#[inline(always)]
fn first_slot(difference: f64) -> u32 {
    /// 1.5 · 2^12: adding it to differences up to 128 leaves multiples of 2^−40.
    const SHIFT: f64 = 6144.0;
    const SCATTER: u64 = 0x9E37_79B9_7F4A_7C15;
    ((difference + SHIFT).to_bits().wrapping_mul(SCATTER) >> (64 - SLOTS_LOG2)) as u32
}

/// Appends the slots of own − other to those of a side.
struct FindSlots<'r, T> {
    ranks: &'r mut DifferenceRanks,
    side: usize,
    own: &'r [T],
    other: &'r [T],
}

impl<T: Score> Vectorizable for FindSlots<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Self { ranks, side, own, other } = self;
        let (mut differences, mut slots, mut misplaced) = ([0.0; BLOCK], [0_u32; BLOCK], [0_u8; BLOCK]);
        for (own, other) in own.chunks(BLOCK).zip(other.chunks(BLOCK)) {
            if ranks.is_full {
                return;
            }
            let rows = differences.iter_mut().zip(own).zip(other);
            rows.for_each(|((difference, &a), &b)| *difference = a.into() - b.into());
            let mut count = 0;
            for (row, (slot, &difference)) in slots.iter_mut().zip(&differences).take(own.len()).enumerate() {
                *slot = first_slot(difference);
                let is_there = (ranks.slots[*slot as usize] - difference).abs() <= TOLERANCE;
                // Always written, kept only if the slot has another difference: a branch would be mispredicted.
                misplaced[count] = row as u8;
                count = select_unpredictable(is_there, count, count + 1);
            }
            for &row in &misplaced[..count] {
                let row = usize::from(row);
                slots[row] = ranks.slot_after(slots[row] as usize, differences[row]) as u32;
            }
            ranks.slots_of[side].extend_from_slice(&slots[..own.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranks rows of pairs of fractions, in two sides, and compares every two neighbours with their exact order.
    fn assert_ranked(ranks: &mut DifferenceRanks, fractions: &[[(i64, i64); 2]]) {
        let double = |(numerator, denominator): (i64, i64)| numerator as f64 / denominator as f64;
        let (own, other): (Vec<f64>, Vec<f64>) = fractions.iter().map(|&[a, b]| (double(a), double(b))).unzip();
        let middle = own.len() / 3;
        let side = |rows: std::ops::Range<usize>| std::iter::once((&own[rows.clone()], &other[rows]));
        let (mut first, mut second) = (vec![7.0], Vec::new());
        assert!(ranks.rank(side(0..middle), side(middle..own.len()), [&mut first, &mut second]));
        let keys = [first, second].concat();
        let exact = |[(a, b), (c, d)]: [(i64, i64); 2]| (i128::from(a * d - c * b), i128::from(b * d));
        let mut rows: Vec<usize> = (0..keys.len()).collect();
        rows.sort_by(|&a, &b| keys[a].total_cmp(&keys[b]));
        for pair in rows.windows(2) {
            let [(p, q), (r, s)] = [exact(fractions[pair[0]]), exact(fractions[pair[1]])];
            assert_eq!(keys[pair[0]].partial_cmp(&keys[pair[1]]), Some((p * s).cmp(&(r * q))));
        }
    }

    fn number(index: usize, below: i64) -> i64 {
        ((index as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33).cast_signed() % below
    }

    #[test]
    fn ranks_are_in_the_exact_order_of_fractions() {
        let mut ranks = DifferenceRanks::default();
        // The second time there are new ones among those already known; up to the largest magnitude that is allowed.
        for (denominators, largest) in [(40, 1), (45, 1), (13, 64)] {
            let fraction = |index: usize| {
                let denominator = 1 + number(index, denominators);
                (number(index + 77, 2 * largest * denominator + 1) - largest * denominator, denominator)
            };
            let leaves: Vec<[(i64, i64); 2]> = (0..2 * LEAST_ROWS)
                .map(|row| {
                    let (numerator, denominator) = fraction(row);
                    [(numerator, denominator), (number(row + 5, denominator + 1), denominator)]
                })
                .collect();
            assert_ranked(&mut ranks, &leaves);
        }
        let halves: Vec<[(i64, i64); 2]> =
            (0..LEAST_ROWS).map(|row| [(number(row, 3), 997 + number(row, 3)), (number(row + 9, 7), 998)]).collect();
        assert_ranked(&mut ranks, &halves);
    }

    #[test]
    fn too_few_rows_and_too_many_differences_are_left_to_others() {
        let (mut ranks, mut keys) = (DifferenceRanks::default(), [Vec::new(), Vec::new()]);
        let mut rank = |own: &[f64]| {
            let zeros = vec![0.0; own.len()];
            let [first, second] = &mut keys;
            let nobody = std::iter::empty();
            ranks.rank(std::iter::once((own, &zeros[..])), nobody, [first, second])
        };
        let fractions = |count: usize| -> Vec<f64> { (0..count).map(|row| row as f64 / 997.0 / 53.0).collect() };
        assert!(!rank(&fractions(LEAST_ROWS - 1)));
        assert!(rank(&fractions(LEAST_ROWS)));
        assert!(!rank(&fractions(MOST + 1)));
        assert!(!rank(&fractions(LEAST_ROWS)), "a full table is not used again");
    }
}
