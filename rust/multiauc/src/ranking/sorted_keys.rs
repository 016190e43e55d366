//! Keys that no map spreads (ties, clusters of clusters): sorted, and searched for several keys at a time.

use std::hint::select_unpredictable;

/// Keys searched for side by side, so that the memory accesses of one overlap with those of the others.
const BATCH: usize = 16;

/// Distinct keys in increasing order, and how many keys are below each; with reusable memory.
#[derive(Debug, Clone)]
pub(super) struct SortedKeys<K> {
    distinct: Vec<K>,
    /// One more than there are distinct keys: the last is the number of all keys.
    below: Vec<u32>,
}

impl<K> Default for SortedKeys<K> {
    fn default() -> Self {
        Self { distinct: Vec::new(), below: vec![0] }
    }
}

impl<K: Ord + Copy> SortedKeys<K> {
    /// Sorts some keys, at most 2^32 − 1 of them. Floats are passed as integers, which sort twice as fast.
    pub(super) fn build(&mut self, keys: impl Iterator<Item = K>) {
        let Self { distinct, below } = self;
        distinct.clear();
        distinct.extend(keys);
        distinct.sort_unstable();
        below.clear();
        for place in 0..distinct.len() {
            let count = below.len();
            if count == 0 || distinct[count - 1] < distinct[place] {
                distinct[count] = distinct[place];
                below.push(place as u32);
            }
        }
        let all = distinct.len() as u32;
        distinct.truncate(below.len());
        below.push(all);
    }

    /// Σ over the keys x of #(v < x) + #(v ≤ x).
    pub(super) fn count(&self, keys: impl Iterator<Item = K>) -> u64 {
        let mut total = 0;
        self.for_each_place(keys, |key, place| total += self.doubled_count(key, place));
        total
    }

    /// #(v < key) + #(v ≤ key), given the key's place.
    #[inline(always)]
    pub(super) fn doubled_count(&self, key: K, place: usize) -> u64 {
        u64::from(self.below[place]) + u64::from(self.below[place + usize::from(self.has(key, place))])
    }

    /// Whether the key itself is there, given its place.
    #[inline(always)]
    pub(super) fn has(&self, key: K, place: usize) -> bool {
        self.distinct.get(place).is_some_and(|&v| v == key)
    }

    /// Whether some key lies in low..=high, given the place of a key between them.
    #[inline(always)]
    pub(super) fn has_within(&self, low: K, place: usize, high: K) -> bool {
        self.distinct.get(place).is_some_and(|&v| v <= high) || (place > 0 && self.distinct[place - 1] >= low)
    }

    /// Calls `visit(key, number of distinct keys below it)` for each key.
    #[inline(always)]
    pub(super) fn for_each_place(&self, keys: impl Iterator<Item = K>, mut visit: impl FnMut(K, usize)) {
        let Some(&first) = self.distinct.first() else { return keys.for_each(|key| visit(key, 0)) };
        let mut batch = [first; BATCH];
        let mut filled = 0;
        let mut finish = |batch: &[K; BATCH], filled: usize| {
            batch.iter().zip(self.places(batch)).take(filled).for_each(|(&key, place)| visit(key, place));
        };
        for key in keys {
            batch[filled] = key;
            filled += 1;
            if filled == BATCH {
                finish(&batch, BATCH);
                filled = 0;
            }
        }
        finish(&batch, filled);
    }

    /// For each of some keys the number of distinct keys (at least one) below it: binary searches in step.
    #[inline(always)]
    fn places(&self, keys: &[K; BATCH]) -> [usize; BATCH] {
        let distinct = &self.distinct[..];
        let mut places = [0; BATCH];
        let mut length = distinct.len();
        while length > 1 {
            let half = length / 2;
            for (place, key) in places.iter_mut().zip(keys) {
                // A branch would be mispredicted half the time.
                *place = select_unpredictable(distinct[*place + half - 1] < *key, *place + half, *place);
            }
            length -= half;
        }
        for (place, key) in places.iter_mut().zip(keys) {
            *place += usize::from(distinct[*place] < *key);
        }
        places
    }
}
