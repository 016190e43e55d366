//! Counting by a bucket table: linear time in practice.
//!
//! The keys of one class, the *table*, are thrown into about two buckets per key by a linear map of the key. A key x of
//! another class falls into a bucket by the same map: everything in earlier buckets is smaller, everything in later ones
//! larger, and the at most eight keys of its own bucket are compared with it in vector registers. Fuller buckets are
//! left to [`overfull`](super::overfull), so that no distribution of keys costs more than sorting them.

use super::key::Key;
use super::overfull::Overflow;
use crate::simd::{Vectorizable, run_widest};

/// Keys of one bucket that are compared in registers.
pub(super) const LANES: usize = 8;
/// Keys looked up in one go.
const BLOCK: usize = 128;
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
    lowest: T,
    scale: T,
    last: T,
    /// `starts[b]..starts[b + 1]` are the keys of bucket b.
    pub(super) starts: Vec<u32>,
    /// The keys by bucket, then eight infinities so that eight keys can be read from any start.
    pub(super) keys: Vec<T>,
    overflow: Overflow<T>,
}

impl<T: Key> Default for BucketTable<T> {
    fn default() -> Self {
        Self {
            lowest: T::ZERO,
            scale: T::ZERO,
            last: T::ZERO,
            starts: Vec::new(),
            keys: Vec::new(),
            overflow: Overflow::default(),
        }
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
    pub(crate) fn count(&mut self, keys: &[T], lookup: Lookup<T>, near: &mut Vec<T>) -> u64 {
        let fast = run_widest(Count { table: self, keys, lookup, near });
        fast + self.count_overflow(lookup, near)
    }

    pub(super) fn set_depth(&mut self, depth: u32) {
        self.overflow.set_depth(depth);
    }

    #[inline(always)]
    fn index(&self, key: T) -> u32 {
        key.minus(self.lowest).times(self.scale).bucket(self.last)
    }

    #[inline(always)]
    fn indices(&self, keys: &[T], indices: &mut [u32; BLOCK]) {
        for (index, &key) in indices.iter_mut().zip(keys) {
            *index = self.index(key);
        }
    }

    /// The same count key by key, for the rare block that holds a full bucket or near keys.
    fn count_carefully(&mut self, block: &[T], lookup: Lookup<T>, near: &mut Vec<T>) -> u64 {
        let mut total = 0;
        for &key in block {
            let key = lookup.oriented(key);
            let index = self.index(key);
            let (start, end) = (self.starts[index as usize] as usize, self.starts[index as usize + 1] as usize);
            total += 2 * start as u64;
            if end - start > LANES {
                self.overflow.push(index, key);
                continue;
            }
            let bucket = &self.keys[start..end];
            total += bucket.iter().map(|v| u64::from(*v < key) + u64::from(*v <= key)).sum::<u64>();
            if let Some(tolerance) = lookup.near {
                let (low, high) = (key.minus(tolerance), key.plus(tolerance));
                let crosses = self.index(low) != self.index(high);
                if crosses || bucket.iter().any(|v| *v >= low && *v <= high) {
                    near.push(key);
                }
            }
        }
        total
    }

    fn count_overflow(&mut self, lookup: Lookup<T>, near: &mut Vec<T>) -> u64 {
        if self.overflow.is_empty() {
            return 0;
        }
        let mut overflow = std::mem::take(&mut self.overflow);
        let total = overflow.count(self, lookup.near, near);
        self.overflow = overflow;
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
    fn run(self) {
        let Self { table, slices, near } = self;
        let count: usize = slices.clone().map(<[T]>::len).sum();
        if count <= LANES {
            // One bucket, compared whole: tiny classes come by the million when there are many of them.
            (table.lowest, table.scale, table.last) = (T::ZERO, T::ZERO, T::ZERO);
            table.starts.clear();
            table.starts.extend([0, count as u32, count as u32]);
            table.keys.clear();
            slices.for_each(|slice| table.keys.extend_from_slice(slice));
            table.keys.resize(count + LANES, T::INFINITY);
            return;
        }
        let (lowest, highest) = extremes(slices.clone());
        let buckets = (count * BUCKETS_PER_KEY).min(T::MOST_BUCKETS);
        table.lowest = lowest;
        table.scale = highest.minus(lowest).reciprocal_of(buckets);
        table.last = T::from_count(buckets);
        if near.is_some_and(|tolerance| tolerance.times(table.scale) > T::WIDEST_TOLERANCE) {
            table.scale = T::ZERO;
        }

        // Counts are kept two places on, so that after the keys are placed starts[b] is where bucket b begins.
        table.starts.clear();
        table.starts.resize(buckets + 3, 0);
        let mut indices = [0_u32; BLOCK];
        for block in slices.clone().flat_map(|slice| slice.chunks(BLOCK)) {
            table.indices(block, &mut indices);
            for &index in &indices[..block.len()] {
                table.starts[index as usize + 2] += 1;
            }
        }
        let mut sum = 0;
        for start in &mut table.starts {
            sum += *start;
            *start = sum;
        }
        table.keys.resize(count + LANES, T::INFINITY);
        table.keys[count..].fill(T::INFINITY);
        for block in slices.flat_map(|slice| slice.chunks(BLOCK)) {
            table.indices(block, &mut indices);
            for (&key, &index) in block.iter().zip(&indices) {
                let place = &mut table.starts[index as usize + 1];
                table.keys[*place as usize] = key;
                *place += 1;
            }
        }
    }
}

struct Count<'t, 'k, T> {
    table: &'t mut BucketTable<T>,
    keys: &'k [T],
    lookup: Lookup<T>,
    near: &'t mut Vec<T>,
}

impl<T: Key> Vectorizable for Count<'_, '_, T> {
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        match self.lookup.near {
            Some(tolerance) => self.count_blocks::<true>(tolerance),
            None => self.count_blocks::<false>(T::ZERO),
        }
    }
}

impl<T: Key> Count<'_, '_, T> {
    #[inline(always)]
    fn count_blocks<const NEAR: bool>(self, tolerance: T) -> u64 {
        let Self { table, keys, lookup, near } = self;
        let mut total = 0;
        let mut indices = [0_u32; BLOCK];
        let (mut lows, mut highs) = ([T::ZERO; BLOCK], [T::ZERO; BLOCK]);
        for block in keys.chunks(BLOCK) {
            let mut crossing = 0;
            for (place, &key) in block.iter().enumerate() {
                let key = lookup.oriented(key);
                (lows[place], highs[place]) = (key, key);
                if NEAR {
                    (lows[place], highs[place]) = (key.minus(tolerance), key.plus(tolerance));
                }
                indices[place] = table.index(lows[place]);
                if NEAR {
                    crossing |= indices[place] ^ table.index(highs[place]);
                }
            }
            // Whole numbers up to 128, so exact in floats, which lets one register hold keys and counts alike.
            let (mut below, mut up_to) = ([T::ZERO; LANES], [T::ZERO; LANES]);
            let (mut base, mut fullest) = (0, 0);
            for place in 0..block.len() {
                let index = indices[place] as usize;
                let start = table.starts[index];
                fullest = fullest.max(table.starts[index + 1] - start);
                base += u64::from(start);
                // Keys read past the end of the bucket belong to later ones: they are larger and count for nothing.
                let bucket: &[T; LANES] = table.keys[start as usize..].first_chunk().expect("padded by eight keys");
                for lane in 0..LANES {
                    below[lane] = below[lane].plus(if bucket[lane] < lows[place] { T::ONE } else { T::ZERO });
                    up_to[lane] = up_to[lane].plus(if bucket[lane] <= highs[place] { T::ONE } else { T::ZERO });
                }
            }
            let sum = |lanes: [T; LANES]| lanes.into_iter().fold(T::ZERO, T::plus).widened() as u64;
            let (below, up_to) = (sum(below), sum(up_to));
            let is_simple = fullest as usize <= LANES && (!NEAR || (crossing == 0 && below == up_to));
            total += if is_simple {
                2 * base + below + up_to
            } else {
                table.count_carefully(block, lookup, near)
            };
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
