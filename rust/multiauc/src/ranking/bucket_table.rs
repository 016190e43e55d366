//! Counting by a bucket table: linear time in practice.
//!
//! The keys of one class, the *table*, are put into about one bucket per key by a non-decreasing map. A key x of
//! another class falls into a bucket by the same map: everything in earlier buckets is smaller, everything in later
//! ones larger, and the at most eight keys of its own bucket are compared with it in vector registers. A few fuller
//! buckets are sorted and searched. Where there are many of those, the whole table is sorted and searched
//! ([`sorted_keys`](super::sorted_keys)), so that no distribution of keys costs more than sorting them.

use super::bucket_map::{BLOCK, BucketMap};
use super::sorted_keys::SortedKeys;
use crate::float::Float;
use crate::simd::{Simd, Vectorizable, run_widest};

/// Keys of one bucket that are compared in registers.
pub(super) const LANES: usize = 8;

/// How keys are looked up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lookup<T> {
    /// Look up −x instead of x.
    pub negate: bool,
    /// `Some(tolerance)`: report the x that have table keys within the tolerance (ties, for tolerance 0).
    pub near: Option<T>,
}

impl<T: Float> Lookup<T> {
    /// Look x up as it is and report nothing.
    pub(crate) const PLAIN: Self = Self { negate: false, near: None };

    #[inline(always)]
    pub(super) fn oriented(self, key: T) -> T {
        if self.negate { key.negated() } else { key }
    }
}

/// A table of keys, with reusable memory.
#[derive(Debug)]
pub(crate) struct BucketTable<T: Float> {
    /// `None`: the table is sorted.
    pub(super) map: Option<BucketMap<T>>,
    /// `starts[b]..starts[b + 1]` are the keys of bucket b.
    pub(super) starts: Vec<u32>,
    /// The keys by bucket, then eight infinities so that eight keys can be read from any start.
    pub(super) keys: Vec<T>,
    /// The keys of a sorted table.
    pub(super) sorted: SortedKeys<T::Ordered>,
    /// While the table is built: the bucket of each key.
    pub(super) buckets_of_keys: Vec<u32>,
    /// While the table is built: the buckets of more than eight keys.
    pub(super) full_buckets: Vec<u32>,
}

impl<T: Float> Default for BucketTable<T> {
    fn default() -> Self {
        Self {
            map: None,
            starts: Vec::new(),
            keys: Vec::new(),
            sorted: SortedKeys::default(),
            buckets_of_keys: Vec::new(),
            full_buckets: Vec::new(),
        }
    }
}

impl<T: Float> BucketTable<T> {
    /// Σ over the keys x of #(v < x) + #(v ≤ x), v running through the table. Appends the places of the keys that have
    /// table keys within the tolerance (and of some that do not) to `near`.
    pub(crate) fn count(&self, keys: &[T], lookup: Lookup<T>, near: &mut Vec<u32>) -> u64 {
        let mut total = 0;
        self.look_up(std::iter::once(keys), lookup, near, |count| total = count);
        total
    }

    /// The same for several runs of keys, some of them perhaps short, without near keys: calls `each(count)` for each
    /// run in turn.
    pub(crate) fn count_runs<'k>(&self, runs: impl Iterator<Item = &'k [T]>, each: impl FnMut(u64))
    where
        T: 'k,
    {
        self.look_up(runs, Lookup::PLAIN, &mut Vec::new(), each);
    }

    fn look_up<'k>(
        &self,
        runs: impl Iterator<Item = &'k [T]>,
        lookup: Lookup<T>,
        near: &mut Vec<u32>,
        each: impl FnMut(u64),
    ) where
        T: 'k,
    {
        match &self.map {
            Some(map) => run_widest(Count { table: self, map, runs, lookup, near, each }),
            None => self.count_sorted(runs, lookup, near, each),
        }
    }

    /// The same count without wide vectors.
    #[cfg(test)]
    pub(super) fn count_portably(&self, keys: &[T], lookup: Lookup<T>, near: &mut Vec<u32>) -> u64 {
        let mut total = 0;
        let (runs, each) = (std::iter::once(keys), |count| total = count);
        match &self.map {
            Some(map) => Count { table: self, map, runs, lookup, near, each }.run(crate::simd::Portable),
            None => self.count_sorted(runs, lookup, near, each),
        }
        total
    }

    fn count_sorted<'k>(
        &self,
        runs: impl Iterator<Item = &'k [T]>,
        lookup: Lookup<T>,
        near: &mut Vec<u32>,
        mut each: impl FnMut(u64),
    ) where
        T: 'k,
    {
        let sorted = &self.sorted;
        for run in runs {
            let keys = run.iter().map(|&key| lookup.oriented(key));
            let Some(tolerance) = lookup.near else {
                each(sorted.count(keys.map(T::ordered)));
                continue;
            };
            let mut total = 0;
            let mut keys_again = (0..).zip(keys.clone());
            sorted.for_each_place(keys.map(T::ordered), |ordered, place| {
                let (number, key) = keys_again.next().expect("a key for each place");
                let is_near = if tolerance > T::ZERO {
                    sorted.has_within(key.minus(tolerance).ordered(), place, key.plus(tolerance).ordered())
                } else {
                    sorted.has(ordered, place)
                };
                if is_near {
                    near.push(number);
                }
                total += sorted.doubled_count(ordered, place);
            });
            each(total);
        }
    }

    /// Counts a block of keys, given minus and plus the tolerance, with the buckets of the former; `None` if a key is
    /// near.
    #[inline(always)]
    fn count_block<S: Simd, const NEAR: bool>(
        &self,
        simd: S,
        map: &BucketMap<T>,
        (lows, highs): (&[T], &[T]),
        indices: &[u32; BLOCK],
    ) -> Option<u64> {
        // A neighbourhood may reach into the next bucket, but no further: buckets are much wider than the tolerance.
        let reach = if NEAR { 2 } else { 1 };
        let mut counts = simd.zero();
        let (mut base, mut fullest) = (0, 0);
        for ((&low, &high), &index) in lows.iter().zip(highs).zip(indices) {
            let start = self.starts[index as usize];
            fullest = fullest.max(self.starts[index as usize + reach] - start);
            base += u64::from(start);
            // Keys read past the end of the bucket belong to later ones: they are larger than `low`.
            let bucket = self.keys[start as usize..].first_chunk().expect("padded by eight keys");
            T::compare(simd, bucket, low, high, &mut counts);
        }
        let (mut below, mut up_to) = T::counts(simd, counts);
        if NEAR && below != up_to {
            return None;
        }
        if fullest as usize > LANES {
            if NEAR {
                let mut high_indices = [0_u32; BLOCK];
                map.indices(highs, &mut high_indices);
                let crosses = |(low, high): (&u32, &u32)| low ^ high;
                let crossing = indices.iter().zip(&high_indices).take(lows.len()).map(crosses).fold(0, |a, b| a | b);
                if crossing != 0 {
                    return None;
                }
            }
            let beyond = self.count_beyond_lanes(lows, highs, indices);
            (below, up_to) = (below + beyond.0, up_to + beyond.1);
        }
        let is_near = NEAR && below != up_to;
        (!is_near).then_some(2 * base + below + up_to)
    }

    /// For the keys that fell into full buckets, #(v < low) and #(v ≤ high) beyond the eight table keys already
    /// compared.
    fn count_beyond_lanes(&self, lows: &[T], highs: &[T], indices: &[u32; BLOCK]) -> (u64, u64) {
        let mut beyond = (0, 0);
        for ((&low, &high), &index) in lows.iter().zip(highs).zip(indices) {
            let (start, end) = (self.starts[index as usize] as usize, self.starts[index as usize + 1] as usize);
            if end - start > LANES {
                // The bucket is sorted: those beyond come after those compared.
                let rest = &self.keys[start + LANES..end];
                beyond.0 += count_first(rest, |v| v < low) as u64;
                beyond.1 += count_first(rest, |v| v <= high) as u64;
            }
        }
        beyond
    }

    /// Counts a block that holds near keys, and appends their places to `near`, that of the first key being `first`.
    /// The keys are oriented; `indices` are the buckets of the keys minus the tolerance.
    #[inline(always)]
    fn count_near<S: Simd>(
        &self,
        simd: S,
        map: &BucketMap<T>,
        (keys, tolerance): (&[T], T),
        indices: &[u32; BLOCK],
        (first, near): (u32, &mut Vec<u32>),
    ) -> u64 {
        let (mut total, mut counts) = (0, simd.zero());
        let (mut found, mut count) = ([0; BLOCK], 0);
        for ((place, &key), &index_of_low) in (first..).zip(keys).zip(indices) {
            let (low, high) = (key.minus(tolerance), key.plus(tolerance));
            let (mut index, mut is_near) = (index_of_low, false);
            if tolerance > T::ZERO {
                // A neighbourhood that reaches into the next bucket counts as near.
                index = map.index_of(key);
                is_near = index != index_of_low || index != map.index_of(high);
            }
            let (start, end) = (self.starts[index as usize] as usize, self.starts[index as usize + 1] as usize);
            let bucket: &[T; LANES] = self.keys[start..].first_chunk().expect("padded by eight keys");
            total += 2 * start as u64;
            T::compare(simd, bucket, key, key, &mut counts);
            is_near |= T::has_within(simd, bucket, low, high);
            if end - start > LANES {
                // The bucket is sorted: those beyond come after those compared.
                let rest = &self.keys[start + LANES..end];
                let (below, rest) = rest.split_at(count_first(rest, |v| v < low));
                total += 2 * below.len() as u64;
                if rest.first().is_some_and(|v| *v <= high) {
                    total += (count_first(rest, |v| v < key) + count_first(rest, |v| v <= key)) as u64;
                    is_near = true;
                }
            }
            // Always written, kept only if near: a branch would be mispredicted.
            found[count] = place;
            count += usize::from(is_near);
        }
        near.extend_from_slice(&found[..count]);
        let (below, up_to) = T::counts(simd, counts);
        total + below + up_to
    }
}

/// How many keys of a sorted slice are below some limit. Slices of a single value are common, and need no search.
#[inline(always)]
pub(super) fn count_first<T: Float>(sorted: &[T], is_below: impl Fn(T) -> bool) -> usize {
    match sorted {
        [first, ..] if !is_below(*first) => 0,
        [.., last] if is_below(*last) => sorted.len(),
        _ => sorted.partition_point(|v| is_below(*v)),
    }
}

/// Counts runs of keys in a table of buckets.
struct Count<'t, T: Float, I, F> {
    table: &'t BucketTable<T>,
    map: &'t BucketMap<T>,
    runs: I,
    lookup: Lookup<T>,
    near: &'t mut Vec<u32>,
    each: F,
}

impl<'k, T: Float + 'k, I: Iterator<Item = &'k [T]>, F: FnMut(u64)> Vectorizable for Count<'_, T, I, F> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        match self.lookup.near {
            Some(tolerance) => self.count_blocks::<S, true>(simd, tolerance),
            None => self.count_blocks::<S, false>(simd, T::ZERO),
        }
    }
}

impl<'k, T: Float + 'k, I: Iterator<Item = &'k [T]>, F: FnMut(u64)> Count<'_, T, I, F> {
    #[inline(always)]
    fn count_blocks<S: Simd, const NEAR: bool>(self, simd: S, tolerance: T) {
        let Self { table, map, runs, lookup, near, mut each } = self;
        let mut indices = [0_u32; BLOCK];
        let (mut lows, mut highs) = ([T::ZERO; BLOCK], [T::ZERO; BLOCK]);
        // A block with near keys is counted twice, unless the one before had some as well.
        let mut expects_near = false;
        for run in runs {
            let mut total = 0;
            for (first, block) in (0..).step_by(BLOCK).zip(run.chunks(BLOCK)) {
                for (place, &key) in block.iter().enumerate() {
                    let key = lookup.oriented(key);
                    (lows[place], highs[place]) = (key, key);
                    if NEAR {
                        (lows[place], highs[place]) = (key.minus(tolerance), key.plus(tolerance));
                    }
                }
                let (lows, highs) = (&lows[..block.len()], &highs[..block.len()]);
                map.indices(lows, &mut indices);
                let is_near = NEAR && expects_near;
                let counted =
                    if is_near { None } else { table.count_block::<S, NEAR>(simd, map, (lows, highs), &indices) };
                if let Some(count) = counted {
                    total += count;
                    continue;
                }
                let (mut keys, found) = ([T::ZERO; BLOCK], near.len());
                keys.iter_mut().zip(block).for_each(|(place, &key)| *place = lookup.oriented(key));
                total += table.count_near(simd, map, (&keys[..block.len()], tolerance), &indices, (first, near));
                expects_near = near.len() > found;
            }
            each(total);
        }
    }
}
