//! Counting by a bucket table: linear time in practice.
//!
//! The keys of one class, the *table*, are thrown into about two buckets per key by a linear map of the key. A key x of
//! another class falls into a bucket by the same map: everything in earlier buckets is smaller, everything in later ones
//! larger, and the at most eight keys of its own bucket are compared with it in vector registers. Fuller buckets are
//! left to [`overfull`](super::overfull), so that no distribution of keys costs more than sorting them.

use super::bucket_map::{BLOCK, BucketMap};
use super::key::Key;
use super::overfull::{search, sort_and_rank};
use crate::error::Result;
use crate::parallel::Workers;
use crate::simd::{Simd, Vectorizable, run_widest};

/// Keys of one bucket that are compared in registers.
pub(super) const LANES: usize = 8;
/// Buckets per key of the table.
const BUCKETS_PER_KEY: usize = 2;

/// How keys are looked up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lookup<T> {
    /// Look up −x instead of x.
    pub negate: bool,
    /// `Some(tolerance)`: report the x that have table keys within the tolerance (ties, for tolerance 0).
    pub near: Option<T>,
}

impl<T: Key> Lookup<T> {
    /// Look x up as it is and report nothing.
    pub(crate) const PLAIN: Self = Self { negate: false, near: None };

    #[inline(always)]
    pub(super) fn oriented(self, key: T) -> T {
        if self.negate { key.negated() } else { key }
    }
}

/// A table of keys, with its memory for reuse.
#[derive(Debug)]
pub(crate) struct BucketTable<T> {
    map: BucketMap<T>,
    /// `starts[b]..starts[b + 1]` are the keys of bucket b.
    starts: Vec<u32>,
    /// The keys by bucket, then eight infinities so that eight keys can be read from any start.
    keys: Vec<T>,
    /// Ranks of the keys in full buckets; empty where there are none.
    ranks: Vec<u32>,
}

impl<T: Key> Default for BucketTable<T> {
    fn default() -> Self {
        Self { map: BucketMap::ONE_BUCKET, starts: Vec::new(), keys: Vec::new(), ranks: Vec::new() }
    }
}

impl<T: Key> BucketTable<T> {
    /// Fills the table with the keys of some slices, at most 2^32 − 1 of them. With a `near` tolerance in the lookups to
    /// come, buckets are kept much wider than it: otherwise all keys share one bucket, which sorts them.
    pub(crate) fn build<'k>(&mut self, slices: impl Iterator<Item = &'k [T]> + Clone, near: Option<T>)
    where
        T: 'k,
    {
        run_widest(Build { table: self, slices, near });
    }

    /// Σ over the keys x of #(v < x) + #(v ≤ x), v running through the table. Keys with table keys within the tolerance
    /// (and some without) are appended to `near`, oriented as looked up.
    pub(crate) fn count(&self, keys: &[T], lookup: Lookup<T>, near: &mut Vec<T>) -> u64 {
        run_widest(Count { table: self, keys, lookup, near })
    }

    /// The same on all workers, for many keys.
    pub(crate) fn count_on(&self, workers: &Workers<'_>, keys: &[T], lookup: Lookup<T>) -> Result<(u64, Vec<T>)> {
        const CHUNK: usize = 1 << 15;
        let parts = workers.map(keys.len().div_ceil(CHUNK), |chunk| {
            let mut near = Vec::new();
            let keys = &keys[chunk * CHUNK..keys.len().min((chunk + 1) * CHUNK)];
            Ok((self.count(keys, lookup, &mut near), near))
        })?;
        let total = parts.iter().map(|(count, _)| count).sum();
        Ok((total, parts.into_iter().flat_map(|(_, near)| near).collect()))
    }

    /// Counts the keys of each bucket, two places on: after the keys are placed starts[b] is where bucket b begins.
    #[inline(always)]
    fn count_buckets<'k>(&mut self, slices: impl Iterator<Item = &'k [T]>)
    where
        T: 'k,
    {
        self.starts.clear();
        self.starts.resize(self.map.buckets() + 3, 0);
        let mut indices = [0_u32; BLOCK];
        for block in slices.flat_map(|slice| slice.chunks(BLOCK)) {
            self.map.indices(block, &mut indices);
            for &index in &indices[..block.len()] {
                self.starts[index as usize + 2] += 1;
            }
        }
    }

    /// How many keys are in buckets that the registers cannot hold, before the keys are placed.
    #[inline(always)]
    fn keys_in_full_buckets(&self) -> usize {
        self.starts.iter().map(|&count| if count as usize > LANES { count as usize } else { 0 }).sum()
    }

    fn sort_full_buckets(&mut self) {
        self.ranks.resize(self.keys.len(), 0);
        for bucket in self.starts.windows(2).take(self.map.buckets() + 1) {
            if (bucket[1] - bucket[0]) as usize > LANES {
                let range = bucket[0] as usize..bucket[1] as usize;
                sort_and_rank(&mut self.keys[range.clone()], &mut self.ranks[range]);
            }
        }
    }

    /// What the keys of a block that fell into full buckets count beyond the eight keys they were compared with.
    fn count_beyond_lanes(&self, block: &[T], lookup: Lookup<T>, indices: &[u32; BLOCK]) -> u64 {
        let mut beyond = 0;
        for (&key, &index) in block.iter().zip(indices) {
            let (start, end) = (self.starts[index as usize] as usize, self.starts[index as usize + 1] as usize);
            if end - start > LANES {
                let key = lookup.oriented(key);
                let (count, _) = search(&self.keys[start..end], &self.ranks[start..end], key, None);
                let compared = &self.keys[start..start + LANES];
                beyond += count - compared.iter().map(|v| u64::from(*v < key) + u64::from(*v <= key)).sum::<u64>();
            }
        }
        beyond
    }

    /// The same count key by key, for the rare block that holds near keys. `indices` are the buckets of the keys, less the
    /// tolerance.
    fn count_carefully(
        &self,
        block: &[T],
        (negate, tolerance): (bool, T),
        indices: &[u32; BLOCK],
        near: &mut Vec<T>,
    ) -> u64 {
        let mut total = 0;
        for (&key, &index_of_low) in block.iter().zip(indices) {
            let key = if negate { key.negated() } else { key };
            let (low, high) = (key.minus(tolerance), key.plus(tolerance));
            let (mut index, mut is_near) = (index_of_low, false);
            if tolerance > T::ZERO {
                // A neighbourhood that reaches into the next bucket is near enough.
                index = self.map.index_of(key);
                is_near = index != index_of_low || index != self.map.index_of(high);
            }
            let (start, end) = (self.starts[index as usize] as usize, self.starts[index as usize + 1] as usize);
            let bucket = &self.keys[start..end];
            let (count, is_near_in_bucket) = if bucket.len() > LANES {
                search(bucket, &self.ranks[start..end], key, Some(tolerance))
            } else {
                let count = bucket.iter().map(|v| u64::from(*v < key) + u64::from(*v <= key)).sum();
                (count, bucket.iter().any(|v| *v >= low && *v <= high))
            };
            if is_near || is_near_in_bucket {
                near.push(key);
            }
            total += 2 * start as u64 + count;
        }
        total
    }
}

struct Build<'t, T, I> {
    table: &'t mut BucketTable<T>,
    slices: I,
    near: Option<T>,
}

impl<'k, T: Key + 'k, I: Iterator<Item = &'k [T]> + Clone> Vectorizable for Build<'_, T, I> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Self { table, slices, near } = self;
        let count: usize = slices.clone().map(<[T]>::len).sum();
        if count <= LANES {
            // One bucket, compared whole: tiny classes come by the million when there are many of them.
            table.map = BucketMap::ONE_BUCKET;
            table.starts.clear();
            table.starts.extend([0, count as u32, count as u32]);
            table.keys.clear();
            slices.for_each(|slice| table.keys.extend_from_slice(slice));
            table.keys.resize(count + LANES, T::INFINITY);
            return;
        }
        let (lowest, highest) = extremes(slices.clone());
        let buckets = (count * BUCKETS_PER_KEY).min(T::MOST_BUCKETS);
        let sample = slices.clone().find(|slice| slice.len() >= count / 64).unwrap_or(&[]);
        table.map = BucketMap::new(lowest, highest, buckets, near, sample);
        table.count_buckets(slices.clone());
        // Where the arithmetic maps leave many keys in full buckets, quantiles of the keys themselves spread them.
        let mut crowded = table.keys_in_full_buckets();
        if crowded > count / 8
            && let Some(map) = BucketMap::by_quantiles(slices.clone(), count, buckets, near)
        {
            table.map = map;
            table.count_buckets(slices.clone());
            crowded = table.keys_in_full_buckets();
        }
        let mut indices = [0_u32; BLOCK];
        let mut sum = 0;
        for start in &mut table.starts {
            sum += *start;
            *start = sum;
        }
        table.keys.resize(count + LANES, T::INFINITY);
        table.keys[count..].fill(T::INFINITY);
        for block in slices.flat_map(|slice| slice.chunks(BLOCK)) {
            table.map.indices(block, &mut indices);
            for (&key, &index) in block.iter().zip(&indices) {
                let place = &mut table.starts[index as usize + 1];
                table.keys[*place as usize] = key;
                *place += 1;
            }
        }
        if crowded > 0 {
            table.sort_full_buckets();
        }
    }
}

pub(super) struct Count<'t, T> {
    pub(super) table: &'t BucketTable<T>,
    pub(super) keys: &'t [T],
    pub(super) lookup: Lookup<T>,
    pub(super) near: &'t mut Vec<T>,
}

impl<T: Key> Vectorizable for Count<'_, T> {
    type Output = u64;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> u64 {
        match self.lookup.near {
            Some(tolerance) => self.count_blocks::<S, true>(simd, tolerance),
            None => self.count_blocks::<S, false>(simd, T::ZERO),
        }
    }
}

impl<T: Key> Count<'_, T> {
    #[inline(always)]
    fn count_blocks<S: Simd, const NEAR: bool>(self, simd: S, tolerance: T) -> u64 {
        let Self { table, keys, lookup, near } = self;
        let mut total = 0;
        let (mut indices, mut high_indices) = ([0_u32; BLOCK], [0_u32; BLOCK]);
        let (mut lows, mut highs) = ([T::ZERO; BLOCK], [T::ZERO; BLOCK]);
        for block in keys.chunks(BLOCK) {
            for (place, &key) in block.iter().enumerate() {
                let key = lookup.oriented(key);
                (lows[place], highs[place]) = (key, key);
                if NEAR {
                    (lows[place], highs[place]) = (key.minus(tolerance), key.plus(tolerance));
                }
            }
            table.map.indices(&lows[..block.len()], &mut indices);
            let mut crossing = 0;
            if NEAR {
                table.map.indices(&highs[..block.len()], &mut high_indices);
                indices.iter().zip(&high_indices).take(block.len()).for_each(|(low, high)| crossing |= low ^ high);
            }
            let mut counts = simd.zero();
            let (mut base, mut fullest) = (0, 0);
            for place in 0..block.len() {
                let index = indices[place] as usize;
                let start = table.starts[index];
                fullest = fullest.max(table.starts[index + 1] - start);
                base += u64::from(start);
                // Keys read past the end of the bucket belong to later ones: they are larger and count for nothing.
                let bucket: &[T; LANES] = table.keys[start as usize..].first_chunk().expect("padded by eight keys");
                T::compare(simd, bucket, lows[place], highs[place], &mut counts);
            }
            let (below, up_to) = T::counts(simd, counts);
            if NEAR && (crossing != 0 || below != up_to || fullest as usize > LANES) {
                total += table.count_carefully(block, (lookup.negate, tolerance), &indices, near);
                continue;
            }
            total += 2 * base + below + up_to;
            if fullest as usize > LANES {
                total += table.count_beyond_lanes(block, lookup, &indices);
            }
        }
        total
    }
}

/// Smallest and largest key.
#[inline(always)]
fn extremes<'k, T: Key + 'k>(slices: impl Iterator<Item = &'k [T]>) -> (T, T) {
    const WIDTH: usize = 16;
    let smaller = |a: T, b: T| if a < b { a } else { b };
    let larger = |a: T, b: T| if a > b { a } else { b };
    let (mut low, mut high) = ([T::INFINITY; WIDTH], [T::INFINITY.negated(); WIDTH]);
    for slice in slices {
        let (blocks, rest) = slice.as_chunks::<WIDTH>();
        for block in blocks {
            for lane in 0..WIDTH {
                low[lane] = smaller(block[lane], low[lane]);
                high[lane] = larger(block[lane], high[lane]);
            }
        }
        for &key in rest {
            low[0] = smaller(key, low[0]);
            high[0] = larger(key, high[0]);
        }
    }
    (low.into_iter().fold(T::INFINITY, smaller), high.into_iter().fold(T::INFINITY.negated(), larger))
}
