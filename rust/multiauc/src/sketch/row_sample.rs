//! Some rows of a class: a sample that depends on the rows alone, not on their order.
//!
//! Every row has a hash of its scores; the distinct rows with the smallest hashes are kept, with how often each was seen.
//! A row whose hash is among the smallest in the end was so all along, so that none of its occurrences was missed.

use super::mass::{Mass, Weight};
use crate::float::Score;

/// Distinct rows and what they weigh.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RowSample<T> {
    columns: usize,
    /// Most rows kept.
    capacity: usize,
    pub(super) hashes: Vec<u64>,
    /// Row by row.
    pub(super) scores: Vec<T>,
    pub(super) masses: Vec<Weight>,
    /// Rows with larger hashes are not kept.
    threshold: u64,
}

impl<T: Score> RowSample<T> {
    pub(super) fn new(columns: usize, capacity: usize) -> Self {
        let (hashes, scores, masses) = (Vec::new(), Vec::new(), Vec::new());
        Self { columns, capacity, hashes, scores, masses, threshold: u64::MAX }
    }

    /// Rows and their weights, in increasing order of hashes, as they were kept.
    pub(super) fn restore(&mut self, hashes: Vec<u64>, scores: Vec<T>, masses: Vec<Weight>) {
        (self.hashes, self.scores, self.masses) = (hashes, scores, masses);
        self.tidy();
    }

    /// Most rows kept.
    pub(super) const fn capacity(&self) -> usize {
        self.capacity
    }

    pub(super) const fn len(&self) -> usize {
        self.hashes.len()
    }

    pub(super) fn row(&self, index: usize) -> &[T] {
        &self.scores[index * self.columns..][..self.columns]
    }

    /// Whether the hashes are those of the rows.
    pub(super) fn has_own_hashes(&self) -> bool {
        (0..self.len()).all(|index| hash_of(self.row(index)) == self.hashes[index])
    }

    /// Adds rows, given row by row; `weight(row)` is the weight of each.
    pub(super) fn add(&mut self, rows: &[T], weight: impl Fn(usize) -> f64) {
        // With very many classes there is no room for any.
        if self.capacity == 0 {
            return;
        }
        for (index, row) in rows.chunks_exact(self.columns).enumerate() {
            let hash = hash_of(row);
            if hash <= self.threshold {
                let sum = weight(index);
                self.push(hash, row, Weight { sum, squares: sum * sum });
            }
        }
    }

    /// Adds the rows of another one.
    pub(super) fn merge(&mut self, other: &Self) {
        for index in 0..other.len() {
            self.push(other.hashes[index], other.row(index), other.masses[index]);
        }
        self.tidy();
    }

    fn push(&mut self, hash: u64, row: &[T], mass: Weight) {
        self.hashes.push(hash);
        // Rows that differ in the signs of zeros alone are the same, whichever comes first.
        self.scores.extend(row.iter().map(|&score| score.plus(T::ZERO)));
        self.masses.push(mass);
        // Now and then: sorting costs more than keeping some rows too many.
        if self.len() >= 2 * self.capacity.max(64) {
            self.tidy();
        }
    }

    /// Distinct rows in increasing order of hashes, not too many.
    pub(super) fn tidy(&mut self) {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by(|&a, &b| {
            let rows = || self.row(a).iter().map(|s| s.ordered()).cmp(self.row(b).iter().map(|s| s.ordered()));
            self.hashes[a].cmp(&self.hashes[b]).then_with(rows)
        });
        let mut kept = Self::new(self.columns, self.capacity);
        for index in order {
            let last = kept.len().wrapping_sub(1);
            let is_same = kept.hashes.last() == Some(&self.hashes[index])
                && kept.row(last).iter().zip(self.row(index)).all(|(a, b)| a.ordered() == b.ordered());
            if is_same {
                // Weights have no limit.
                kept.masses[last].add(self.masses[index]);
                continue;
            }
            if kept.len() == self.capacity {
                kept.threshold = kept.hashes[last];
                break;
            }
            kept.hashes.push(self.hashes[index]);
            kept.scores.extend_from_slice(self.row(index));
            kept.masses.push(self.masses[index]);
        }
        *self = kept;
    }
}

/// A hash of the scores of a row; both zeros are the same.
fn hash_of<T: Score>(row: &[T]) -> u64 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mixed = row.iter().fold(FACTOR, |hash, &score| {
        let value: f64 = score.into();
        let product = u128::from(hash ^ (value + 0.0).to_bits()) * u128::from(FACTOR | 1);
        (product as u64 ^ (product >> 64) as u64).rotate_left(29).wrapping_add(FACTOR)
    });
    // The last score has been through one multiplication only.
    let product = u128::from(mixed ^ mixed >> 32) * 0xD6E8_FEB8_6659_FD93;
    product as u64 ^ (product >> 64) as u64
}
