//! Order statistics of many cells by counting in buckets, without sorting them.
//!
//! A first pass counts cells in buckets of the bit pattern of their magnitude, which keeps the order and is fine where
//! values are dense near zero. A second pass gathers the cells of the few buckets that hold a wanted position, equal
//! values merged as it goes, so that neither many cells nor many ties make a long list.
#![allow(clippy::inline_always, reason = "only what is inlined is compiled for wide vectors, or has no call per cell")]

use crate::error::Result;
use crate::parallel::Workers;

/// Cells with masses, read in parts that different threads may visit.
pub(super) trait Cells: Sync {
    /// Number of parts.
    fn parts(&self) -> usize;
    /// About how many cells there are.
    fn count(&self) -> usize;
    /// Calls `visit(value, mass)` for the cells of a part. Masses are positive.
    fn visit(&self, part: usize, visit: impl FnMut(f64, f64));
    /// Largest and smallest non-zero magnitude of the cells, or bounds of them.
    fn magnitudes(&self) -> (f64, f64);
}

/// What is at a position.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Selected {
    /// The smallest value whose cumulative mass, its own included, exceeds the position.
    pub value: f64,
    /// That cumulative mass.
    pub through: f64,
}

/// Most buckets for the values of one sign: 2^16.
const MOST_BITS: u32 = 16;
/// Entries of a list before equal values are first merged.
const UNMERGED: usize = 1024;
/// Nothing wanted in a bucket.
const NONE: u32 = u32::MAX;

/// A non-decreasing map from values to buckets.
#[derive(Debug, Clone, Copy)]
pub(super) struct ValueBuckets {
    below_smallest: u64,
    shift: u32,
    /// Bucket of the largest magnitude, counted from that of zero.
    half: usize,
}

impl ValueBuckets {
    /// For values up to the largest magnitude; those below the smallest share the bucket of zero.
    pub(super) fn new((largest, smallest_nonzero): (f64, f64), cells: usize) -> Self {
        if largest == 0.0 {
            return Self { below_smallest: u64::MAX, shift: 0, half: 0 };
        }
        let below_smallest = smallest_nonzero.to_bits() - 1;
        let widest = largest.to_bits() - below_smallest;
        // Two buckets per cell where cells are few.
        let bits = (cells.max(1).ilog2() + 1).min(MOST_BITS);
        let shift = (u64::BITS - widest.leading_zeros()).saturating_sub(bits);
        Self { below_smallest, shift, half: (widest >> shift) as usize + 1 }
    }

    pub(super) const fn buckets(self) -> usize {
        2 * self.half + 1
    }

    #[inline(always)]
    pub(super) fn bucket(self, value: f64) -> usize {
        let magnitude = value.abs().to_bits().saturating_sub(self.below_smallest);
        // Never beyond the last bucket, even for a score that another thread changed after it was checked.
        let bucket = ((magnitude >> self.shift) as usize + usize::from(magnitude > 0)).min(self.half);
        if value < 0.0 { self.half - bucket } else { self.half + bucket }
    }
}

/// The values at some positions, which `positions` gives for the total mass of all cells: 0 ≤ position < total.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub(super) fn select(
    cells: &impl Cells,
    positions: impl FnOnce(f64) -> Vec<f64>,
    workers: &Workers<'_>,
) -> Result<Vec<Selected>> {
    let map = ValueBuckets::new(cells.magnitudes(), cells.count());
    let counts = workers.map(cells.parts(), |part| {
        let mut masses = vec![0.0; map.buckets()];
        cells.visit(part, |value, mass| masses[map.bucket(value)] += mass);
        Ok(masses)
    })?;
    let masses = counts.into_iter().reduce(added).unwrap_or_default();
    let positions = positions(masses.iter().sum());
    let slots = wanted_buckets(&masses, &positions);

    let mut slot_of_bucket = vec![NONE; map.buckets()];
    for (slot, number) in slots.iter().zip(0..) {
        slot_of_bucket[slot.bucket] = number;
    }
    let lists = workers.map(cells.parts(), |part| {
        let mut lists = vec![MassList::default(); slots.len()];
        cells.visit(part, |value, mass| {
            let slot = slot_of_bucket[map.bucket(value)];
            if slot != NONE {
                lists[slot as usize].push(value, mass);
            }
        });
        lists.iter_mut().for_each(MassList::merge);
        Ok(lists)
    })?;

    let mut found = vec![Selected { value: f64::NAN, through: f64::NAN }; positions.len()];
    for (number, slot) in slots.iter().enumerate() {
        let entries = lists.iter().flat_map(|part| &part[number].entries).copied().collect();
        let mut list = MassList { entries, limit: 0 };
        list.merge();
        let mut through = slot.before;
        let mut wanted = slot.wanted.iter().copied().peekable();
        for (index, &(value, mass)) in list.entries.iter().enumerate() {
            through += mass;
            // Rounding of weights may leave a position just beyond the last value; it belongs there.
            let is_last = index + 1 == list.entries.len();
            while let Some(position) = wanted.next_if(|&position| is_last || positions[position] < through) {
                found[position] = Selected { value, through };
            }
        }
    }
    Ok(found)
}

fn added(mut sum: Vec<f64>, part: Vec<f64>) -> Vec<f64> {
    sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
    sum
}

/// A bucket that holds wanted positions.
struct WantedBucket {
    bucket: usize,
    /// Mass of all buckets before it.
    before: f64,
    /// Indices of the positions in it, by increasing position.
    wanted: Vec<usize>,
}

fn wanted_buckets(masses: &[f64], positions: &[f64]) -> Vec<WantedBucket> {
    let mut order: Vec<usize> = (0..positions.len()).collect();
    order.sort_by(|&a, &b| positions[a].total_cmp(&positions[b]));
    let mut order = order.into_iter().peekable();
    let last = masses.iter().rposition(|&mass| mass > 0.0);
    let mut slots = Vec::new();
    let mut before = 0.0;
    for (bucket, &mass) in masses.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
        let through = before + mass;
        let inside = |&index: &usize| positions[index] < through || Some(bucket) == last;
        let wanted: Vec<usize> = std::iter::from_fn(|| order.next_if(inside)).collect();
        if !wanted.is_empty() {
            slots.push(WantedBucket { bucket, before, wanted });
        }
        before = through;
    }
    slots
}

/// Values with their masses; equal ones are merged from time to time.
#[derive(Debug, Clone, Default)]
struct MassList {
    entries: Vec<(f64, f64)>,
    limit: usize,
}

impl MassList {
    #[inline]
    fn push(&mut self, value: f64, mass: f64) {
        match self.entries.last_mut() {
            Some((last, sum)) if *last == value => *sum += mass,
            _ => self.entries.push((value, mass)),
        }
        if self.entries.len() >= self.limit.max(UNMERGED) {
            self.merge();
            self.limit = 2 * self.entries.len();
        }
    }

    /// Increasing values, each once.
    fn merge(&mut self) {
        self.entries.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.entries.dedup_by(|next, kept| {
            let equal = next.0 == kept.0;
            kept.1 += if equal { next.1 } else { 0.0 };
            equal
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::Cancel;
    use proptest::prelude::*;

    struct Listed(Vec<Vec<(f64, f64)>>);

    impl Cells for Listed {
        fn parts(&self) -> usize {
            self.0.len()
        }
        fn count(&self) -> usize {
            self.0.iter().map(Vec::len).sum()
        }
        fn visit(&self, part: usize, mut visit: impl FnMut(f64, f64)) {
            self.0[part].iter().for_each(|&(value, mass)| visit(value, mass));
        }
        fn magnitudes(&self) -> (f64, f64) {
            let all = || self.0.iter().flatten().map(|cell| cell.0.abs());
            (all().fold(0.0, f64::max), all().filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min))
        }
    }

    fn value() -> impl Strategy<Value = f64> {
        prop_oneof![
            Just(0.0),
            Just(-0.0),
            -1.0..1.0_f64,
            (0_u8..10).prop_map(|tenths| f64::from(tenths) / 10.0),
            (-320_i32..300).prop_map(|exponent| 10.0_f64.powi(exponent)),
        ]
    }

    proptest! {
        #[test]
        fn agrees_with_sorting(
            parts in prop::collection::vec(prop::collection::vec((value(), 1_u8..4), 1..60), 1..4),
        ) {
            let cells = Listed(parts.iter().map(|part| part.iter().map(|&(x, m)| (x, f64::from(m))).collect()).collect());
            let mut repeated: Vec<f64> =
                parts.iter().flatten().flat_map(|&(x, m)| std::iter::repeat_n(x + 0.0, m.into())).collect();
            repeated.sort_by(f64::total_cmp);
            let positions: Vec<f64> = (0..repeated.len()).map(|position| position as f64).collect();
            let cancel = Cancel::new();
            let found = select(&cells, |_| positions.clone(), &Workers::with_threads(1, &cancel)).unwrap();
            for (selected, (expected, position)) in found.iter().zip(repeated.iter().zip(&positions)) {
                prop_assert_eq!(selected.value, *expected);
                prop_assert!(selected.through > *position);
                prop_assert_eq!(selected.through, repeated.iter().filter(|x| *x <= expected).count() as f64);
            }
        }
    }

    #[test]
    fn many_ties_make_a_short_list() {
        let mut list = MassList::default();
        (0..100_000).for_each(|i| list.push(f64::from(i % 7), 1.0));
        assert!(list.entries.capacity() <= 4 * UNMERGED);
        list.merge();
        assert_eq!(list.entries.iter().map(|entry| entry.1).sum::<f64>(), 100_000.0);
        assert_eq!(list.entries.len(), 7);
    }
}
