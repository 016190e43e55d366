//! Keys too close to tell: recounted by their exact values.

use super::overfull::{count_merging, sort};
use crate::exact_key::ExactKey;

/// The neighbourhoods of the keys that [`BucketTable::count`](super::BucketTable::count) reported as near.
#[derive(Debug)]
pub(crate) struct Neighbourhoods {
    /// Disjoint intervals in increasing order.
    intervals: Vec<(f64, f64)>,
}

impl Neighbourhoods {
    pub(crate) fn new(mut near: Vec<f64>, tolerance: f64) -> Self {
        sort(&mut near);
        let mut intervals: Vec<(f64, f64)> = Vec::new();
        for key in near {
            let (low, high) = (key - tolerance, key + tolerance);
            match intervals.last_mut() {
                Some(last) if low <= last.1 => last.1 = high,
                _ => intervals.push((low, high)),
            }
        }
        Self { intervals }
    }

    pub(crate) fn contains(&self, key: f64) -> bool {
        let (Some(first), Some(last)) = (self.intervals.first(), self.intervals.last()) else { return false };
        if key < first.0 || key > last.1 {
            return false;
        }
        let next = self.intervals.partition_point(|interval| interval.0 <= key);
        next > 0 && key <= self.intervals[next - 1].1
    }
}

/// Keys of one side of a pair that lie in the neighbourhoods: as ranked, and exactly.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    ranked: Vec<f64>,
    exact: Vec<ExactKey>,
}

impl Candidates {
    pub(crate) fn push(&mut self, ranked: f64, exact: ExactKey) {
        self.ranked.push(ranked);
        self.exact.push(exact);
    }

    pub(crate) fn append(&mut self, mut other: Self) {
        self.ranked.append(&mut other.ranked);
        self.exact.append(&mut other.exact);
    }
}

/// What must be added to the count by ranked keys, Σ #(v < x) + #(v ≤ x), to make it the count by exact keys. Only pairs
/// within a neighbourhood can differ, so only those need be among the candidates.
pub(crate) fn correction(mut table: Candidates, mut looked_up: Candidates) -> i64 {
    sort(&mut table.ranked);
    sort(&mut looked_up.ranked);
    let ranked = count_merging(&table.ranked, &looked_up.ranked, None, &mut Vec::new());
    sort_exact(&mut table.exact);
    sort_exact(&mut looked_up.exact);
    let (mut below, mut up_to, mut exact) = (0, 0, 0_u64);
    for key in &looked_up.exact {
        below += table.exact[below..].iter().take_while(|v| v.compare(key).is_lt()).count();
        up_to = up_to.max(below);
        up_to += table.exact[up_to..].iter().take_while(|v| v.compare(key).is_le()).count();
        exact += (below + up_to) as u64;
    }
    exact.wrapping_sub(ranked) as i64
}

fn sort_exact(keys: &mut [ExactKey]) {
    keys.sort_unstable_by(ExactKey::compare);
}
