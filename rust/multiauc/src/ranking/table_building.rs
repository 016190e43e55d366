//! Filling a bucket table: keys are counted by bucket, then put into place; or sorted where buckets would be too full.

use super::bucket_map::{BLOCK, BucketMap};
use super::bucket_table::{BucketTable, LANES};
use crate::float::{Float, sort};
use crate::simd::{Simd, Vectorizable, run_widest};

/// Buckets per key of the table, so that few buckets are full.
const BUCKETS_PER_KEY: usize = 2;
/// If more than one key in this many is in a full bucket, the table is sorted instead.
const KEYS_PER_CROWDED: usize = 4;

impl<T: Float> BucketTable<T> {
    /// Fills the table with the keys of some slices, at most 2^32 − 1 of them. If lookups will have a tolerance `near`,
    /// buckets are much wider than it, or the table is sorted.
    pub(crate) fn build<'k>(&mut self, slices: impl Iterator<Item = &'k [T]> + Clone, near: Option<T>)
    where
        T: 'k,
    {
        run_widest(Build { table: self, slices, near });
    }

    /// Counts the keys of each bucket, shifted by two: once the keys are placed, `starts[b]` is where bucket b begins.
    #[inline(always)]
    fn count_buckets<'k>(&mut self, map: &BucketMap<T>, slices: impl Iterator<Item = &'k [T]>)
    where
        T: 'k,
    {
        self.starts.clear();
        self.starts.resize(map.buckets() + 3, 0);
        self.buckets_of_keys.clear();
        let mut indices = [0_u32; BLOCK];
        for block in slices.flat_map(|slice| slice.chunks(BLOCK)) {
            map.indices(block, &mut indices);
            self.buckets_of_keys.extend_from_slice(&indices[..block.len()]);
            for &index in &indices[..block.len()] {
                self.starts[index as usize + 2] += 1;
            }
        }
    }

    /// From the counts of the buckets to their starts. Returns how many keys are in buckets too full for the registers,
    /// of which it makes a list.
    #[inline(always)]
    fn sum_counts(&mut self) -> usize {
        self.full_buckets.clear();
        let (mut sum, mut crowded) = (0, 0);
        for (shifted, start) in self.starts.iter_mut().enumerate() {
            if *start as usize > LANES {
                self.full_buckets.push(shifted as u32 - 2);
                crowded += *start as usize;
            }
            sum += *start;
            *start = sum;
        }
        crowded
    }

    /// Puts the keys into their buckets, once those are summed.
    #[inline(always)]
    fn place_keys<'k>(&mut self, count: usize, slices: impl Iterator<Item = &'k [T]>)
    where
        T: 'k,
    {
        self.keys.resize(count + LANES, T::INFINITY);
        self.keys[count..].fill(T::INFINITY);
        for (&key, &index) in slices.flatten().zip(&self.buckets_of_keys) {
            let place = &mut self.starts[index as usize + 1];
            self.keys[*place as usize] = key;
            *place += 1;
        }
    }

    fn sort_full_buckets(&mut self) {
        for &bucket in &self.full_buckets {
            let (start, end) = (self.starts[bucket as usize], self.starts[bucket as usize + 1]);
            sort(&mut self.keys[start as usize..end as usize]);
        }
    }
}

struct Build<'t, T: Float, I> {
    table: &'t mut BucketTable<T>,
    slices: I,
    near: Option<T>,
}

impl<'k, T: Float + 'k, I: Iterator<Item = &'k [T]> + Clone> Vectorizable for Build<'_, T, I> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Self { table, slices, near } = self;
        let count: usize = slices.clone().map(<[T]>::len).sum();
        if count <= LANES {
            // One bucket, compared whole: with many classes there are millions of tiny tables.
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
        let crowded = table.sum_counts();
        if crowded > count / KEYS_PER_CROWDED {
            table.map = None;
            table.sorted.build(slices.flatten().map(|key| key.ordered()));
            return;
        }
        table.place_keys(count, slices);
        table.sort_full_buckets();
        table.map = Some(map);
    }
}

/// Smallest and largest key.
#[inline(always)]
pub(super) fn extremes<'k, T: Float + 'k>(slices: impl Iterator<Item = &'k [T]>) -> (T, T) {
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
