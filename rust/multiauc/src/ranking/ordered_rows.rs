//! Rows in the order of their keys, tie by tie: what placements are read from.
//!
//! Keys are put into about one bucket per key by the same maps that the bucket tables use, and each bucket is sorted.
//! Unlike the tables this keeps the rows, so that one pass gives the place of every row among all the others.

use super::bucket_map::{BLOCK, BucketMap};
use super::placement_table::Nearness;
use super::table_building::extremes;
use crate::keys::ExactKey;
use crate::simd::{Simd, Vectorizable, run_widest};

/// Fewer rows are sorted outright.
const SMALLEST_SPREAD: usize = 256;
/// From so many rows on, they are put into parts first, of about so many rows each.
const FEWEST_SPLIT_ROWS: usize = 1 << 16;
const PART_ROWS: usize = 1 << 12;
/// Buckets of up to this many rows are sorted by insertion.
pub(super) const SMALL_BUCKET: usize = 24;

/// A row with its key.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RankedRow {
    pub key: f64,
    /// The caller's number for the row.
    pub row: u32,
    /// The side it is on.
    pub side: u16,
}

/// Rows of several sides, and the memory to sort them.
#[derive(Debug, Default)]
pub(crate) struct OrderedRows {
    rows: Vec<RankedRow>,
    spread: Vec<RankedRow>,
    starts: Vec<u32>,
    keys: Vec<f64>,
    /// The bucket of each row.
    indices: Vec<u32>,
    exactly: Vec<(ExactKey, RankedRow)>,
    resolved: Vec<RankedRow>,
}

impl OrderedRows {
    /// Forgets all rows.
    pub(crate) fn clear(&mut self) {
        self.keys.clear();
        self.rows.clear();
    }

    /// Adds rows `first_row`, `first_row` + 1, … of one side.
    pub(crate) fn extend(&mut self, side: u16, first_row: u32, keys: impl Iterator<Item = f64>) {
        self.rows.extend((first_row..).zip(keys).map(|(row, key)| RankedRow { key, row, side }));
    }

    /// Adds one row.
    #[inline]
    pub(crate) fn push(&mut self, row: RankedRow) {
        self.rows.push(row);
    }

    /// Sorts by key. Rows of equal keys come in an order that depends on the keys alone.
    pub(crate) fn sort(&mut self) {
        if self.rows.len() < SMALLEST_SPREAD {
            self.rows.sort_unstable_by(by_key);
            return;
        }
        run_widest(Spread(self));
    }

    /// Calls `visit(rows)` for the rows of each tie, in increasing order. Keys too close to tell apart whose rows are not
    /// all on one side are compared by `exact(row)`; all others tie if they are equal.
    pub(crate) fn for_each_tie(
        &mut self,
        near: Nearness<impl Fn(f64) -> bool>,
        exact: impl Fn(&RankedRow) -> ExactKey,
        mut visit: impl FnMut(&[RankedRow]),
    ) {
        let Some(tolerance) = near.tolerance else {
            self.rows.chunk_by(|a, b| a.key == b.key).for_each(visit);
            return;
        };
        let is_settled = near.is_settled;
        let is_doubtful = |a: f64, b: f64| b - a <= tolerance && !is_settled(a) && !is_settled(b);
        for cluster in self.rows.chunk_by(|a, b| a.key == b.key || is_doubtful(a.key, b.key)) {
            let is_on_one_side = cluster.iter().all(|row| row.side == cluster[0].side);
            if is_on_one_side || is_settled(cluster[0].key) {
                cluster.chunk_by(|a, b| a.key == b.key).for_each(&mut visit);
                continue;
            }
            self.exactly.clear();
            self.exactly.extend(cluster.iter().map(|row| (exact(row), *row)));
            self.exactly.sort_by_key(|(key, _)| *key);
            for tie in self.exactly.chunk_by(|a, b| a.0 == b.0) {
                self.resolved.clear();
                self.resolved.extend(tie.iter().map(|(_, row)| *row));
                visit(&self.resolved);
            }
        }
    }
}

/// The work of [`OrderedRows::sort`] for many rows.
struct Spread<'r>(&'r mut OrderedRows);

impl Vectorizable for Spread<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let OrderedRows { rows, spread, starts, keys, indices, .. } = self.0;
        keys.clear();
        keys.extend(rows.iter().map(|row| row.key));
        let (lowest, highest) = extremes(std::iter::once(&keys[..]));
        let map = BucketMap::new(lowest, highest, rows.len(), None, keys);
        spread.resize(rows.len(), RankedRow { key: 0.0, row: 0, side: 0 });
        let buckets = map.buckets() + 1;
        if rows.len() < FEWEST_SPLIT_ROWS {
            put_into_place(&map, (0, buckets), rows, (spread, starts, indices));
            std::mem::swap(rows, spread);
            return;
        }
        // Written to places all over a large array, rows would wait for the memory: first into parts that stay in the cache.
        let shift = (buckets / (rows.len() / PART_ROWS)).max(1).ilog2();
        find_indices(&map, keys, indices);
        let mut part_starts = vec![0; (map.buckets() >> shift) + 2];
        for &index in indices.iter() {
            part_starts[(index >> shift) as usize + 1] += 1;
        }
        for part in 1..part_starts.len() {
            part_starts[part] += part_starts[part - 1];
        }
        let mut ends = part_starts.clone();
        for (row, &index) in rows.iter().zip(indices.iter()) {
            let end = &mut ends[(index >> shift) as usize];
            spread[*end] = *row;
            *end += 1;
        }
        for (part, ends) in part_starts.windows(2).enumerate() {
            let range = ends[0]..ends[1];
            let of_part = &spread[range.clone()];
            put_into_place(&map, (part << shift, 1 << shift), of_part, (&mut rows[range], starts, indices));
        }
    }
}

/// The bucket of each key.
#[inline(always)]
fn find_indices(map: &BucketMap<f64>, keys: &[f64], indices: &mut Vec<u32>) {
    let mut of_block = [0_u32; BLOCK];
    indices.clear();
    for block in keys.chunks(BLOCK) {
        map.indices(block, &mut of_block);
        indices.extend_from_slice(&of_block[..block.len()]);
    }
}

/// Sorts rows of some buckets into `sorted`: each into its bucket, then within the buckets.
#[inline(always)]
fn put_into_place(
    map: &BucketMap<f64>,
    (first, buckets): (usize, usize),
    rows: &[RankedRow],
    (sorted, starts, indices): (&mut [RankedRow], &mut Vec<u32>, &mut Vec<u32>),
) {
    let (mut keys, mut of_block) = ([0.0; BLOCK], [0_u32; BLOCK]);
    starts.clear();
    starts.resize(buckets + 2, 0);
    indices.clear();
    for block in rows.chunks(BLOCK) {
        keys.iter_mut().zip(block).for_each(|(key, row)| *key = row.key);
        map.indices(&keys[..block.len()], &mut of_block);
        indices.extend_from_slice(&of_block[..block.len()]);
        of_block[..block.len()].iter().for_each(|&index| starts[index as usize - first + 2] += 1);
    }
    let mut sum = 0;
    for start in starts.iter_mut() {
        sum += *start;
        *start = sum;
    }
    for (row, &index) in rows.iter().zip(indices.iter()) {
        let end = &mut starts[index as usize - first + 1];
        sorted[*end as usize] = *row;
        *end += 1;
    }
    for bucket in starts.windows(2).take(buckets) {
        sort_bucket(&mut sorted[bucket[0] as usize..bucket[1] as usize]);
    }
}

/// A total order, since another thread may write NaN into the scores while we read them.
pub(super) fn by_key(a: &RankedRow, b: &RankedRow) -> std::cmp::Ordering {
    a.key.total_cmp(&b.key)
}

fn sort_bucket(bucket: &mut [RankedRow]) {
    if bucket.len() > SMALL_BUCKET {
        bucket.sort_unstable_by(by_key);
        return;
    }
    for end in 1..bucket.len() {
        let row = bucket[end];
        let mut place = end;
        while place > 0 && row.key < bucket[place - 1].key {
            bucket[place] = bucket[place - 1];
            place -= 1;
        }
        bucket[place] = row;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ordered(keys: &[f64]) -> Vec<Vec<u32>> {
        let mut rows = OrderedRows::default();
        rows.extend(0, 0, keys.iter().copied());
        rows.sort();
        let mut ties = Vec::new();
        let exact = |row: &RankedRow| ExactKey::plain(row.key, 0.0);
        rows.for_each_tie(Nearness::NEVER, exact, |tie| {
            let mut tie: Vec<u32> = tie.iter().map(|row| row.row).collect();
            tie.sort_unstable();
            ties.push(tie);
        });
        ties
    }

    proptest! {
        #[test]
        fn ties_come_in_increasing_order(
            smooth in prop::collection::vec(-1.0..1.0_f64, 0..700),
            tied in prop::collection::vec(-5_i32..5, 0..300),
            far in prop::collection::vec(-300_i32..300, 0..20),
        ) {
            let tied = tied.into_iter().map(|k| f64::from(k) / 5.0);
            let far = far.into_iter().map(|exponent| 10_f64.powi(exponent));
            let keys: Vec<f64> = smooth.into_iter().chain(tied).chain(far).chain([0.0, -0.0]).collect();
            let mut expected: Vec<u32> = (0..keys.len() as u32).collect();
            expected.sort_by(|&a, &b| (keys[a as usize] + 0.0).total_cmp(&(keys[b as usize] + 0.0)));
            let expected: Vec<Vec<u32>> =
                expected.chunk_by(|&a, &b| keys[a as usize] == keys[b as usize]).map(<[u32]>::to_vec).collect();
            prop_assert_eq!(ordered(&keys), expected);
        }
    }

    #[test]
    fn many_rows_are_sorted_in_parts() {
        let count = FEWEST_SPLIT_ROWS + 4321;
        for power in [1, 9] {
            let uniform = |row: usize| (row as u32).wrapping_mul(2_654_435_769) >> 8;
            let keys: Vec<f64> = (0..count)
                .map(|row| if row % 3 == 0 { f64::from(uniform(row) >> 20) } else { f64::from(uniform(row)) / 4096.0 })
                .map(|key| key.powi(power))
                .collect();
            let mut expected: Vec<u32> = (0..count as u32).collect();
            expected.sort_by(|&a, &b| keys[a as usize].total_cmp(&keys[b as usize]));
            let expected: Vec<Vec<u32>> =
                expected.chunk_by(|&a, &b| keys[a as usize] == keys[b as usize]).map(<[u32]>::to_vec).collect();
            assert_eq!(ordered(&keys), expected);
        }
    }

    #[test]
    fn only_mixed_neighbours_are_compared_exactly() {
        let mut rows = OrderedRows::default();
        rows.extend(0, 0, [1.0, 1.0 + 1e-9].into_iter());
        rows.extend(1, 2, [2.0, 2.0 + 1e-9].into_iter());
        rows.extend(0, 4, [2.0 + 2e-9].into_iter());
        rows.sort();
        // Exactly, rows 2 and 4 tie and row 3 is below both.
        let exact = |row: &RankedRow| ExactKey::plain(if row.row == 3 { 0.5 } else { 0.75 }, 0.0);
        let mut ties = Vec::new();
        let mut find = |near: Nearness<fn(f64) -> bool>| {
            ties.clear();
            rows.for_each_tie(near, exact, |tie| ties.push(tie.iter().map(|row| row.row).collect::<Vec<_>>()));
            ties.clone()
        };
        let open = Nearness { tolerance: Some(1e-8), is_settled: (|_| false) as fn(f64) -> bool };
        assert_eq!(find(open), [vec![0], vec![1], vec![3], vec![2, 4]]);
        // A settled key is in the right place to all others, which it parts from each other.
        let settled = Nearness { is_settled: (|key| key == 2.0 + 1e-9) as fn(f64) -> bool, ..open };
        assert_eq!(find(settled), [vec![0], vec![1], vec![2], vec![3], vec![4]]);
    }
}
