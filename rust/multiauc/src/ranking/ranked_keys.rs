//! One class sorted by its keys, with an index by buckets: where a key of another class stands is found in linear time.

use std::hint::select_unpredictable;

use super::bucket_map::{BLOCK, BucketMap};
use super::ordered_rows::{RankedRow, SMALL_BUCKET, by_key};
use super::placement_table::Nearness;
use super::table_building::extremes;
use crate::float::Score;
use crate::simd::{Simd, Vectorizable, run_widest};

/// Keys that are compared at once; buckets with more are searched by bisection.
const LANES: usize = 8;

/// Smaller tables stay in the cache.
const SMALLEST_PREFETCHED: usize = 1 << 15;

/// Sorted keys with their rows, and reusable memory.
#[derive(Debug)]
pub(super) struct RankedKeys {
    /// The sorted keys, then eight infinities so that eight keys can be read from any start.
    keys: Vec<f64>,
    /// The row at each rank.
    rows: Vec<u32>,
    map: BucketMap<f64>,
    /// `starts[b]..starts[b + 1]` are the ranks of bucket b.
    starts: Vec<u32>,
    /// While the keys are sorted: the bucket of each row, and a crowded bucket.
    buckets: Vec<u32>,
    crowd: Vec<RankedRow>,
}

impl Default for RankedKeys {
    fn default() -> Self {
        Self {
            keys: Vec::new(),
            rows: Vec::new(),
            map: BucketMap::ONE_BUCKET,
            starts: Vec::new(),
            buckets: Vec::new(),
            crowd: Vec::new(),
        }
    }
}

impl RankedKeys {
    /// Sorts the keys of rows 0, 1, ….
    pub(super) fn build<T: Score>(&mut self, keys: &[T]) {
        run_widest(Build { ranked: self, keys });
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The key at each rank.
    pub(super) fn keys(&self) -> &[f64] {
        &self.keys[..self.len()]
    }

    /// The row at each rank.
    pub(super) fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The buckets of some keys.
    #[inline(always)]
    pub(super) fn indices(&self, keys: &[f64], indices: &mut [u32; BLOCK]) {
        self.map.indices(keys, indices);
    }

    /// Hints that the keys of some buckets will be read soon, with an entry each of `beside` that has one more than there
    /// are keys: large tables do not stay in the cache.
    #[inline(always)]
    pub(super) fn prefetch<S: Simd, N>(&self, simd: S, indices: &[u32], beside: &[N]) {
        if self.len() >= SMALLEST_PREFETCHED {
            for &index in indices {
                let start = self.starts[index as usize] as usize;
                simd.prefetch(&self.keys[start]);
                simd.prefetch(&beside[start]);
            }
        }
    }

    /// #(v < key) and #(v ≤ key), given the key's bucket.
    #[inline(always)]
    pub(super) fn ranks_of<S: Simd>(&self, simd: S, key: f64, index: u32) -> (usize, usize) {
        let (start, end) = (self.starts[index as usize] as usize, self.starts[index as usize + 1] as usize);
        // Keys read past the end of the bucket belong to later ones: they are larger and count for nothing.
        let first = self.keys[start..].first_chunk().expect("padded by eight keys");
        let (mut low, mut high) = simd.ranks_f64(first, key);
        if high == LANES && end - start > LANES {
            let rest = &self.keys[start + LANES..end];
            high += rest.partition_point(|v| *v <= key);
            if low == LANES {
                low += rest.partition_point(|v| *v < key);
            }
        }
        // Infinities that another thread writes during a call tie with the padding: wrong, but in bounds.
        ((start + low).min(self.len()), (start + high).min(self.len()))
    }

    /// Whether one of the keys lies within the tolerance of a key that has `low` of them below it.
    #[inline(always)]
    pub(super) fn is_near(&self, key: f64, low: usize, near: &Nearness<impl Fn(f64) -> bool>) -> bool {
        let Some(tolerance) = near.tolerance else { return false };
        let reaches_up = self.keys[low] <= key + tolerance;
        let reaches_down = low > 0 && self.keys[low - 1] >= key - tolerance;
        (reaches_up || reaches_down) && !(near.is_settled)(key)
    }
}

/// The work of `RankedKeys::build`.
struct Build<'t, T> {
    ranked: &'t mut RankedKeys,
    keys: &'t [T],
}

impl<T: Score> Vectorizable for Build<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Self { ranked: RankedKeys { keys: sorted, rows, map, starts, buckets, crowd }, keys } = self;
        let count = keys.len();
        // All keys in one place, as doubles, to choose the map by.
        sorted.clear();
        sorted.extend(keys.iter().map(|&key| key.into()));
        let (lowest, highest) = extremes(std::iter::once(&sorted[..]));
        *map = match count {
            0..=LANES => BucketMap::ONE_BUCKET,
            _ => BucketMap::new(lowest, highest, count, None, sorted),
        };
        starts.clear();
        starts.resize(map.buckets() + 3, 0);
        buckets.clear();
        let mut indices = [0_u32; BLOCK];
        for block in sorted.chunks(BLOCK) {
            map.indices(block, &mut indices);
            buckets.extend_from_slice(&indices[..block.len()]);
            indices[..block.len()].iter().for_each(|&index| starts[index as usize + 2] += 1);
        }
        let (mut sum, mut fullest) = (0, 0);
        for start in starts.iter_mut() {
            fullest = fullest.max(*start);
            sum += *start;
            *start = sum;
        }
        rows.resize(count, 0);
        sorted.resize(count + LANES, 0.0);
        sorted[count..].fill(f64::INFINITY);
        for ((row, &key), &index) in (0..).zip(keys).zip(buckets.iter()) {
            let place = &mut starts[index as usize + 1];
            sorted[*place as usize] = key.into();
            rows[*place as usize] = row;
            *place += 1;
        }
        if fullest as usize <= SMALL_BUCKET {
            // All at once: no row has far to go, and the buckets need not be looked at again.
            swap_neighbours(&mut sorted[..count], rows);
            insert_in_order(&mut sorted[..count], rows);
            return;
        }
        for bucket in starts.windows(2).take(map.buckets() + 1) {
            let ranks = bucket[0] as usize..bucket[1] as usize;
            if ranks.len() > 1 {
                sort_bucket(&mut sorted[ranks.clone()], &mut rows[ranks], crowd);
            }
        }
    }
}

/// Sorts the keys of a bucket, and their rows with them.
#[inline(always)]
fn sort_bucket(keys: &mut [f64], rows: &mut [u32], crowd: &mut Vec<RankedRow>) {
    if keys.len() > SMALL_BUCKET {
        crowd.clear();
        crowd.extend(keys.iter().zip(rows.iter()).map(|(&key, &row)| RankedRow { key, row, side: 0 }));
        crowd.sort_unstable_by(by_key);
        for ((key, row), sorted) in keys.iter_mut().zip(rows).zip(crowd) {
            (*key, *row) = (sorted.key, sorted.row);
        }
        return;
    }
    insert_in_order(keys, rows);
}

/// Lets every key pass the larger one before it, without branches, which would be mispredicted: this puts buckets of two
/// in order, and most of those of three.
#[inline(always)]
fn swap_neighbours(keys: &mut [f64], rows: &mut [u32]) {
    let Some((&first, &first_row)) = keys.first().zip(rows.first()) else { return };
    let (mut key, mut row) = (first, first_row);
    for place in 1..keys.len().min(rows.len()) {
        let (next, next_row) = (keys[place], rows[place]);
        let passes = next < key;
        keys[place - 1] = if passes { next } else { key };
        rows[place - 1] = select_unpredictable(passes, next_row, row);
        key = if passes { key } else { next };
        row = select_unpredictable(passes, row, next_row);
    }
    let last = keys.len().min(rows.len()) - 1;
    (keys[last], rows[last]) = (key, row);
}

/// Sorts keys that are nearly in order, and their rows with them.
#[inline(always)]
fn insert_in_order(keys: &mut [f64], rows: &mut [u32]) {
    for end in 1..keys.len() {
        let (key, row) = (keys[end], rows[end]);
        let mut place = end;
        while place > 0 && key < keys[place - 1] {
            (keys[place], rows[place]) = (keys[place - 1], rows[place - 1]);
            place -= 1;
        }
        (keys[place], rows[place]) = (key, row);
    }
}
