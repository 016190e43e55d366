//! Counting by a bucket table: linear time in practice.
//!
//! The keys of one class, the *table*, are thrown into about two buckets per key by a linear map of the key. A key x of
//! another class falls into a bucket by the same map: everything in earlier buckets is smaller, everything in later ones
//! larger, and the at most eight keys of its own bucket are compared with it in vector registers. Fuller buckets are
//! left to [`overfull`](super::overfull), so that no distribution of keys costs more than sorting them.

use super::key::Key;
use super::overfull::Overflow;
use crate::simd::{Simd, Vectorizable, run_widest};

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

/// A never decreasing map from keys to buckets.
#[derive(Debug, Clone, Copy)]
struct BucketMap<T> {
    /// `Some(ε)`: logarithmic beyond ε, for keys that crowd around zero with a few far away; otherwise linear.
    epsilon: Option<T>,
    lowest: T,
    scale: T,
    last: T,
}

impl<T: Key> BucketMap<T> {
    /// All keys in one bucket.
    const ONE_BUCKET: Self = Self { epsilon: None, lowest: T::ZERO, scale: T::ZERO, last: T::ZERO };

    /// A map that spreads keys from lowest to highest over 0..=buckets; `sample` shows how they are distributed.
    #[inline(always)]
    fn new(lowest: T, highest: T, buckets: usize, near: Option<T>, sample: &[T]) -> Self {
        let epsilon = crowded_epsilon(lowest, highest, sample);
        let position = |key: T| epsilon.map_or(key, |epsilon| key.log_steps(epsilon));
        let (first, final_position) = (position(lowest), position(highest));
        let scale = final_position.minus(first).reciprocal_of(buckets);
        let steepness = epsilon.map_or(T::ONE, T::steepest_log_step);
        // Buckets as narrow as the tolerance would make nearly every key cross a border: better one, which is sorted.
        let is_too_narrow =
            near.is_some_and(|tolerance| tolerance.times(scale).times(steepness) > T::WIDEST_TOLERANCE);
        let scale = if is_too_narrow { T::ZERO } else { scale };
        Self { epsilon, lowest: first, scale, last: T::from_count(buckets) }
    }

    #[inline(always)]
    fn index<const LOG: bool>(&self, key: T) -> u32 {
        let position = match self.epsilon {
            Some(epsilon) if LOG => key.log_steps(epsilon),
            _ => key,
        };
        position.minus(self.lowest).times(self.scale).bucket(self.last)
    }

    #[inline(always)]
    fn index_of(&self, key: T) -> u32 {
        if self.epsilon.is_some() { self.index::<true>(key) } else { self.index::<false>(key) }
    }

    #[inline(always)]
    fn indices(&self, keys: &[T], indices: &mut [u32; BLOCK]) {
        // The choice is made once per block, so that each loop is without branches.
        if self.epsilon.is_some() {
            indices.iter_mut().zip(keys).for_each(|(index, &key)| *index = self.index::<true>(key));
        } else {
            indices.iter_mut().zip(keys).for_each(|(index, &key)| *index = self.index::<false>(key));
        }
    }
}

/// The median magnitude of a sample, if the range is much wider.
fn crowded_epsilon<T: Key>(lowest: T, highest: T, sample: &[T]) -> Option<T> {
    const WANTED: usize = 64;
    let mut magnitudes = [T::ZERO; WANTED];
    let mut taken = 0;
    let step = (sample.len() / WANTED).max(1);
    for (place, key) in magnitudes.iter_mut().zip(sample.iter().step_by(step)) {
        *place = key.magnitude();
        taken += 1;
    }
    if taken < WANTED {
        return None;
    }
    super::overfull::sort(&mut magnitudes);
    let (median, low, high) = (magnitudes[WANTED / 2], lowest.magnitude(), highest.magnitude());
    let largest = if low > high { low } else { high };
    let crowd = T::from_count(CROWD);
    (median > T::ZERO && largest > median.times(crowd)).then_some(median)
}

/// A range this many times the median magnitude is spread logarithmically.
const CROWD: usize = 6;

/// A table of keys, with its memory for reuse.
#[derive(Debug)]
pub(crate) struct BucketTable<T> {
    map: BucketMap<T>,
    /// `starts[b]..starts[b + 1]` are the keys of bucket b.
    pub(super) starts: Vec<u32>,
    /// The keys by bucket, then eight infinities so that eight keys can be read from any start.
    pub(super) keys: Vec<T>,
    overflow: Overflow<T>,
}

impl<T: Key> Default for BucketTable<T> {
    fn default() -> Self {
        Self {
            map: BucketMap::ONE_BUCKET,
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

    /// Puts the keys of a block that fell into full buckets aside; what was counted for them so far.
    fn set_overfull_aside(&mut self, block: &[T], lookup: Lookup<T>) -> u64 {
        let mut counted = 0;
        for &key in block {
            let key = lookup.oriented(key);
            let index = self.map.index_of(key);
            let (start, end) = (self.starts[index as usize] as usize, self.starts[index as usize + 1] as usize);
            if end - start > LANES {
                let compared = &self.keys[start..start + LANES];
                counted += compared.iter().map(|v| u64::from(*v < key) + u64::from(*v <= key)).sum::<u64>();
                self.overflow.push(index, key);
            }
        }
        counted
    }

    /// The same count key by key, for the rare block that holds near keys.
    fn count_carefully(&mut self, block: &[T], lookup: Lookup<T>, near: &mut Vec<T>) -> u64 {
        let mut total = 0;
        for &key in block {
            let key = lookup.oriented(key);
            let index = self.map.index_of(key);
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
                let crosses = self.map.index_of(low) != self.map.index_of(high);
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
        let map = table.map;

        // Counts are kept two places on, so that after the keys are placed starts[b] is where bucket b begins.
        table.starts.clear();
        table.starts.resize(buckets + 3, 0);
        let mut indices = [0_u32; BLOCK];
        for block in slices.clone().flat_map(|slice| slice.chunks(BLOCK)) {
            map.indices(block, &mut indices);
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
            map.indices(block, &mut indices);
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
    fn run<S: Simd>(self, simd: S) -> u64 {
        match self.lookup.near {
            Some(tolerance) => self.count_blocks::<S, true>(simd, tolerance),
            None => self.count_blocks::<S, false>(simd, T::ZERO),
        }
    }
}

impl<T: Key> Count<'_, '_, T> {
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
            if NEAR && (crossing != 0 || below != up_to) {
                total += table.count_carefully(block, lookup, near);
                continue;
            }
            total += 2 * base + below + up_to;
            if fullest as usize > LANES {
                total -= table.set_overfull_aside(block, lookup);
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
