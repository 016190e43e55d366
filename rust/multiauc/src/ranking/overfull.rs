//! Buckets with more keys than fit the registers: ties, peaked and adversarial distributions.
//!
//! The keys that fall into such a bucket are collected, grouped by bucket and counted by the cheapest of three ways: a
//! bucket of equal keys needs one comparison, a crowded one gets a table of its own, and what still resists is sorted.

use super::bucket_table::{BucketTable, Lookup};
use super::key::Key;

/// Tables inside tables, at the most. Each divides the range by the number of keys, so that only keys spread over many
/// orders of magnitude, or packed into a few units in the last place, get past the first.
const DEEPEST: u32 = 3;
/// Below this many keys on either side sorting beats building a table.
const SMALLEST_TABLE: usize = 64;

/// Keys that fell into full buckets, waiting to be counted.
#[derive(Debug)]
pub(super) struct Overflow<T> {
    waiting: Vec<(u32, T)>,
    group: Vec<T>,
    table: Option<Box<BucketTable<T>>>,
    depth: u32,
}

impl<T> Default for Overflow<T> {
    fn default() -> Self {
        Self { waiting: Vec::new(), group: Vec::new(), table: None, depth: 0 }
    }
}

impl<T: Key> Overflow<T> {
    pub(super) fn push(&mut self, bucket: u32, key: T) {
        self.waiting.push((bucket, key));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Σ over the waiting keys x of #(v < x) + #(v ≤ x) within their bucket; nothing waits afterwards.
    pub(super) fn count(&mut self, owner: &mut BucketTable<T>, tolerance: Option<T>, near: &mut Vec<T>) -> u64 {
        let mut waiting = std::mem::take(&mut self.waiting);
        if waiting.iter().any(|&(bucket, _)| bucket != waiting[0].0) {
            waiting.sort_unstable_by_key(|&(bucket, _)| bucket);
        }
        let mut total = 0;
        for same_bucket in waiting.chunk_by(|a, b| a.0 == b.0) {
            self.group.clear();
            self.group.extend(same_bucket.iter().map(|&(_, key)| key));
            let bucket = same_bucket[0].0 as usize;
            let is_whole_table = owner.starts[bucket + 1] as usize - owner.starts[bucket] as usize
                == owner.starts[owner.starts.len() - 1] as usize;
            let range = owner.starts[bucket] as usize..owner.starts[bucket + 1] as usize;
            total += self.count_group(&mut owner.keys[range], is_whole_table, tolerance, near);
        }
        waiting.clear();
        self.waiting = waiting;
        total
    }

    fn count_group(&mut self, bucket: &mut [T], is_whole: bool, tolerance: Option<T>, near: &mut Vec<T>) -> u64 {
        let first = bucket[0];
        if bucket.iter().all(|&key| key == first) {
            return count_against_constant(first, bucket.len(), &self.group, tolerance, near);
        }
        let is_crowded = bucket.len() >= SMALLEST_TABLE && self.group.len() >= SMALLEST_TABLE;
        // A bucket that is the whole table would only give the same table again.
        if is_crowded && !is_whole && self.depth < DEEPEST && 8 * self.group.len() >= bucket.len() {
            let depth = self.depth + 1;
            let table = self.table.get_or_insert_with(Box::default);
            table.set_depth(depth);
            table.build(std::iter::once(&*bucket), tolerance);
            return table.count(&self.group, Lookup { negate: false, near: tolerance }, near);
        }
        sort(bucket);
        if 8 * self.group.len() >= bucket.len() {
            sort(&mut self.group);
            count_merging(bucket, &self.group, tolerance, near)
        } else {
            count_searching(bucket, &self.group, tolerance, near)
        }
    }

    pub(super) fn set_depth(&mut self, depth: u32) {
        self.depth = depth;
    }
}

/// The only sort of bare keys. A total order, since another thread may write NaN into the scores while we look.
pub(super) fn sort<T: Key>(keys: &mut [T]) {
    keys.sort_unstable_by(T::total_order);
}

fn count_against_constant<T: Key>(
    constant: T,
    copies: usize,
    keys: &[T],
    tolerance: Option<T>,
    near: &mut Vec<T>,
) -> u64 {
    let mut total = 0;
    for &key in keys {
        total += u64::from(constant < key) + u64::from(constant <= key);
        if let Some(tolerance) = tolerance {
            if constant >= key.minus(tolerance) && constant <= key.plus(tolerance) {
                near.push(key);
            }
        }
    }
    total * copies as u64
}

fn count_searching<T: Key>(sorted: &[T], keys: &[T], tolerance: Option<T>, near: &mut Vec<T>) -> u64 {
    let mut total = 0;
    for &key in keys {
        total += sorted.partition_point(|v| *v < key) as u64 + sorted.partition_point(|v| *v <= key) as u64;
        if let Some(tolerance) = tolerance {
            let (low, high) = (key.minus(tolerance), key.plus(tolerance));
            let first = sorted.partition_point(|v| *v < low);
            if sorted.get(first).is_some_and(|v| *v <= high) {
                near.push(key);
            }
        }
    }
    total
}

/// Both sides sorted: every pointer only moves forward.
pub(super) fn count_merging<T: Key>(sorted: &[T], keys: &[T], tolerance: Option<T>, near: &mut Vec<T>) -> u64 {
    let (mut below, mut up_to, mut within, mut total) = (0, 0, 0, 0);
    for &key in keys {
        below += sorted[below..].iter().take_while(|v| **v < key).count();
        up_to = up_to.max(below);
        up_to += sorted[up_to..].iter().take_while(|v| **v <= key).count();
        total += (below + up_to) as u64;
        if let Some(tolerance) = tolerance {
            let (low, high) = (key.minus(tolerance), key.plus(tolerance));
            within += sorted[within..].iter().take_while(|v| **v < low).count();
            if sorted.get(within).is_some_and(|v| *v <= high) {
                near.push(key);
            }
        }
    }
    total
}
