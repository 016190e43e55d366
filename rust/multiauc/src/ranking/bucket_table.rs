//! Counting by a bucket table: linear time in practice.
//!
//! The keys of one class, the *table*, are thrown into about one bucket per key by a linear map of the key. A key x of
//! another class falls into a bucket by the same map: everything in earlier buckets is smaller, everything in later ones
//! larger, and the at most eight keys of its own bucket are compared with it in vector registers. A few fuller buckets
//! are sorted and searched. Where there are many, the whole table is ([`searched`](super::searched)), so that no
//! distribution of keys costs more than sorting them.

use super::bucket_map::{BLOCK, BucketMap};
use super::key::{Key, sort};
use super::searched::SortedKeys;
use crate::simd::{Simd, Vectorizable, run_widest};

/// Keys of one bucket that are compared in registers.
const LANES: usize = 8;
/// Buckets per key of the table.
const BUCKETS_PER_KEY: usize = 1;
/// Of so many keys one may be in a full bucket before the table is better sorted.
const KEYS_PER_CROWDED: usize = 4;

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
pub(crate) struct BucketTable<T: Key> {
    /// `None`: the table is sorted.
    map: Option<BucketMap<T>>,
    /// `starts[b]..starts[b + 1]` are the keys of bucket b.
    starts: Vec<u32>,
    /// The keys by bucket, then eight infinities so that eight keys can be read from any start.
    keys: Vec<T>,
    /// The keys of a sorted table.
    sorted: SortedKeys<T::Ordered>,
}

impl<T: Key> Default for BucketTable<T> {
    fn default() -> Self {
        Self { map: None, starts: Vec::new(), keys: Vec::new(), sorted: SortedKeys::default() }
    }
}

impl<T: Key> BucketTable<T> {
    /// Fills the table with the keys of some slices, at most 2^32 − 1 of them. With a `near` tolerance in the lookups to
    /// come, buckets are kept much wider than it, or the table is sorted.
    pub(crate) fn build<'k>(&mut self, slices: impl Iterator<Item = &'k [T]> + Clone, near: Option<T>)
    where
        T: 'k,
    {
        run_widest(Build { table: self, slices, near });
    }

    /// Σ over the keys x of #(v < x) + #(v ≤ x), v running through the table. The places of keys with table keys within
    /// the tolerance (and of some without) are appended to `near`.
    pub(crate) fn count(&self, keys: &[T], lookup: Lookup<T>, near: &mut Vec<u32>) -> u64 {
        let mut total = 0;
        self.look_up(std::iter::once(keys), lookup, near, |count| total = count);
        total
    }

    /// The same for several runs of keys, of which some may be short, without near keys: `each(count)` is called for one
    /// after the other.
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
    pub(super) fn count_portably(&self, keys: &[T], lookup: Lookup<T>) -> u64 {
        let (mut near, mut total) = (Vec::new(), 0);
        let (near, runs, each) = (&mut near, std::iter::once(keys), |count| total = count);
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
                let (number, key) = keys_again.next().expect("as many as places");
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

    /// Counts the keys of each bucket, two places on: after the keys are placed starts[b] is where bucket b begins.
    #[inline(always)]
    fn count_buckets<'k>(&mut self, map: &BucketMap<T>, slices: impl Iterator<Item = &'k [T]>)
    where
        T: 'k,
    {
        self.starts.clear();
        self.starts.resize(map.buckets() + 3, 0);
        let mut indices = [0_u32; BLOCK];
        for block in slices.flat_map(|slice| slice.chunks(BLOCK)) {
            map.indices(block, &mut indices);
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

    /// Puts the keys into their buckets, once those are counted.
    #[inline(always)]
    fn place_keys<'k>(&mut self, map: &BucketMap<T>, count: usize, slices: impl Iterator<Item = &'k [T]>)
    where
        T: 'k,
    {
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        self.keys.resize(count + LANES, T::INFINITY);
        self.keys[count..].fill(T::INFINITY);
        let mut indices = [0_u32; BLOCK];
        for block in slices.flat_map(|slice| slice.chunks(BLOCK)) {
            map.indices(block, &mut indices);
            for (&key, &index) in block.iter().zip(&indices) {
                let place = &mut self.starts[index as usize + 1];
                self.keys[*place as usize] = key;
                *place += 1;
            }
        }
    }

    fn sort_full_buckets(&mut self, map: &BucketMap<T>) {
        for bucket in self.starts.windows(2).take(map.buckets() + 1) {
            if (bucket[1] - bucket[0]) as usize > LANES {
                sort(&mut self.keys[bucket[0] as usize..bucket[1] as usize]);
            }
        }
    }

    /// #(v < low) and #(v ≤ high) of the keys that fell into full buckets, beyond the eight they were compared with.
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

    /// Counts a block that holds near keys, and appends their places to `near`, that of the first key being `first`. The
    /// keys are oriented; `indices` are their buckets, less the tolerance.
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
                // A neighbourhood that reaches into the next bucket is near enough.
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
            // Written always, kept where it is near: a branch would be mispredicted.
            found[count] = place;
            count += usize::from(is_near);
        }
        near.extend_from_slice(&found[..count]);
        let (below, up_to) = T::counts(simd, counts);
        total + below + up_to
    }
}

/// How many keys of a sorted slice, from its first on, are so. Slices of one value are frequent, and need no search.
#[inline(always)]
fn count_first<T: Key>(sorted: &[T], is_so: impl Fn(T) -> bool) -> usize {
    match sorted {
        [first, ..] if !is_so(*first) => 0,
        [.., last] if is_so(*last) => sorted.len(),
        _ => sorted.partition_point(|v| is_so(*v)),
    }
}

struct Build<'t, T: Key, I> {
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
            table.map = Some(BucketMap::ONE_BUCKET);
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
        let map = BucketMap::new(lowest, highest, buckets, near, sample);
        table.count_buckets(&map, slices.clone());
        let crowded = table.keys_in_full_buckets();
        if crowded > count / KEYS_PER_CROWDED {
            table.map = None;
            table.sorted.build(slices.flatten().map(|key| key.ordered()));
            return;
        }
        table.place_keys(&map, count, slices);
        if crowded > 0 {
            table.sort_full_buckets(&map);
        }
        table.map = Some(map);
    }
}

/// Counts runs of keys in a table of buckets.
struct Count<'t, T: Key, I, F> {
    table: &'t BucketTable<T>,
    map: &'t BucketMap<T>,
    runs: I,
    lookup: Lookup<T>,
    near: &'t mut Vec<u32>,
    each: F,
}

impl<'k, T: Key + 'k, I: Iterator<Item = &'k [T]>, F: FnMut(u64)> Vectorizable for Count<'_, T, I, F> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        match self.lookup.near {
            Some(tolerance) => self.count_blocks::<S, true>(simd, tolerance),
            None => self.count_blocks::<S, false>(simd, T::ZERO),
        }
    }
}

impl<'k, T: Key + 'k, I: Iterator<Item = &'k [T]>, F: FnMut(u64)> Count<'_, T, I, F> {
    #[inline(always)]
    fn count_blocks<S: Simd, const NEAR: bool>(self, simd: S, tolerance: T) {
        let Self { table, map, runs, lookup, near, mut each } = self;
        let (mut indices, mut high_indices) = ([0_u32; BLOCK], [0_u32; BLOCK]);
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
                if !(NEAR && expects_near) {
                    let mut crossing = 0;
                    if NEAR {
                        map.indices(highs, &mut high_indices);
                        let pairs = indices.iter().zip(&high_indices).take(block.len());
                        pairs.for_each(|(low, high)| crossing |= low ^ high);
                    }
                    let mut counts = simd.zero();
                    let (mut base, mut fullest) = (0, 0);
                    for ((&low, &high), &index) in lows.iter().zip(highs).zip(&indices) {
                        let start = table.starts[index as usize];
                        fullest = fullest.max(table.starts[index as usize + 1] - start);
                        base += u64::from(start);
                        // Keys past the end of the bucket belong to later ones: they are larger and count for nothing.
                        let bucket = table.keys[start as usize..].first_chunk().expect("padded by eight keys");
                        T::compare(simd, bucket, low, high, &mut counts);
                    }
                    let (mut below, mut up_to) = T::counts(simd, counts);
                    if fullest as usize > LANES && (!NEAR || below == up_to) {
                        let beyond = table.count_beyond_lanes(lows, highs, &indices);
                        (below, up_to) = (below + beyond.0, up_to + beyond.1);
                    }
                    if !NEAR || (crossing == 0 && below == up_to) {
                        total += 2 * base + below + up_to;
                        continue;
                    }
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
