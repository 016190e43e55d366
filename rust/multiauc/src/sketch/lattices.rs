//! The lattices 1/m that hold every score of a stream.

use crate::float::Score;
use crate::keys::{is_multiple, lattice_denominators};

/// Which lattices hold all scores seen. Those of two streams hold the scores of both where they agree.
#[derive(Debug, Clone)]
pub(super) struct Lattices {
    /// In increasing order.
    denominators: Vec<u32>,
    /// Scores seen lately: data on a lattice has few distinct ones, which need not be looked at again.
    seen: Vec<u64>,
}

impl Lattices {
    const SLOTS_LOG2: u32 = 13;

    pub(super) fn all() -> Self {
        Self::of(lattice_denominators().collect())
    }

    pub(super) fn of(denominators: Vec<u32>) -> Self {
        Self { denominators, seen: Vec::new() }
    }

    pub(super) fn denominators(&self) -> &[u32] {
        &self.denominators
    }

    /// The coarsest.
    pub(super) fn coarsest(&self) -> Option<u32> {
        self.denominators.first().copied()
    }

    pub(super) fn see<T: Score>(&mut self, scores: &[T]) {
        if self.denominators.is_empty() {
            return;
        }
        if self.seen.is_empty() {
            // NaN is no score.
            self.seen = vec![f64::NAN.to_bits(); 1 << Self::SLOTS_LOG2];
        }
        for &score in scores {
            let value: f64 = score.into();
            let bits = value.to_bits();
            let slot = (bits.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - Self::SLOTS_LOG2)) as usize;
            if std::mem::replace(&mut self.seen[slot], bits) != bits {
                self.denominators.retain(|&m| is_multiple(score, m));
                if self.denominators.is_empty() {
                    self.seen = Vec::new();
                    return;
                }
            }
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.denominators.retain(|m| other.denominators.binary_search(m).is_ok());
    }
}
