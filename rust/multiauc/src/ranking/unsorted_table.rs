//! Placements by a table of one class that is not sorted: its keys are only put into buckets.
//!
//! A key x of another class is compared with the keys of its own bucket alone. How many keys of the table lie below it is
//! found as in a [`BucketTable`](super::BucketTable). The other way round, x lies above all keys of earlier buckets, for
//! which it leaves a mark where its bucket starts, and above some of the keys compared, which count it themselves. So the
//! marks up to a place, less what its key counted, are the keys of the other class below it.
//!
//! For rows without weights that nearly all have keys of their own. Where buckets would be too full, there is no table.

use super::bucket_map::{BLOCK, BucketMap};
use super::placement_table::LookupTotals;
use super::table_building::extremes;
use crate::float::{Float, Score};
use crate::memory::{make_room, set_length};
use crate::simd::{Simd, Vectorizable, run_widest};

/// Keys that are compared at once: few buckets have more.
const LANES: usize = 4;
/// No bucket has more keys.
const FULLEST: u32 = 64;
/// If more than one key in so many is in a bucket with more than this, there is no table.
const CROWDED: (usize, u32) = (16, 8);
/// The unit of the upper half of a mark.
const STARTED: u64 = 1 << 32;
/// Larger tables do not stay in the nearest cache.
const SMALLEST_PREFETCHED: usize = 1 << 15;

/// A table of keys by bucket, with reusable memory.
#[derive(Debug)]
pub(super) struct UnsortedTable {
    map: BucketMap<f64>,
    /// `starts[b]..starts[b + 1]` are the places of bucket b.
    starts: Vec<u32>,
    /// The keys by place, then infinities so that a few keys can be read from any place.
    keys: Vec<f64>,
    /// The place of each row; while the table is built, its bucket.
    places: Vec<u32>,
    /// What rows looked up leave at each place, as one number so that it is read and written at once: [`STARTED`] for each
    /// row whose bucket starts there, and 2 for each that was compared with the key and lies above it, 1 if it ties.
    marks: Vec<u64>,
}

impl Default for UnsortedTable {
    fn default() -> Self {
        Self { map: BucketMap::ONE_BUCKET, starts: Vec::new(), keys: Vec::new(), places: Vec::new(), marks: Vec::new() }
    }
}

impl UnsortedTable {
    /// Fills the table with the keys of rows 0, 1, …, which keys will be looked up in with a tolerance, if any. `false` if
    /// buckets would be too full.
    pub(super) fn build<T: Score>(&mut self, keys: &[T], tolerance: Option<f64>) -> bool {
        run_widest(Build { table: self, keys, tolerance })
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// The place of each row.
    pub(super) fn places(&self) -> &[u32] {
        &self.places
    }

    /// Forgets what was looked up.
    pub(super) fn clear_marks(&mut self) {
        make_room(&mut self.marks, self.keys.len());
        self.marks.resize(self.keys.len(), 0);
    }

    /// Looks the keys of another class up, as [`PlacementTable`](super::PlacementTable) does. Any key within the tolerance
    /// of one of the table is near.
    pub(super) fn look_up<T: Score>(
        &mut self,
        keys: &[T],
        tolerance: Option<f64>,
        finish: impl Fn(f64) -> f64,
        below: &mut [f64],
    ) -> LookupTotals {
        match tolerance {
            None => run_widest(LookUp::<_, _, false> { table: self, keys, tolerance: 0.0, finish, below }),
            Some(tolerance) => run_widest(LookUp::<_, _, true> { table: self, keys, tolerance, finish, below }),
        }
    }

    /// For the row at each place, how many of the rows looked up lie below it, ties counting half, on top of `first`.
    pub(super) fn below_by_place(&self, first: f64, below: &mut Vec<f64>) {
        let mut up_to = 0_u32;
        below.extend(self.marks[..self.len()].iter().map(|&mark| {
            up_to += (mark / STARTED) as u32;
            first + (f64::from(up_to) - 0.5 * f64::from((mark % STARTED) as u32))
        }));
    }
}

/// The work of `UnsortedTable::build`.
struct Build<'t, T> {
    table: &'t mut UnsortedTable,
    keys: &'t [T],
    tolerance: Option<f64>,
}

impl<T: Score> Vectorizable for Build<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> bool {
        let Self { table: UnsortedTable { map, starts, keys: by_place, places, .. }, keys, tolerance } = self;
        let count = keys.len();
        let doubles = T::doubles(keys, by_place);
        let (lowest, highest) = extremes(std::iter::once(doubles));
        // A bucket per key: as many as are compared at once make up for more, and starts take less memory.
        let buckets = count.min(f64::MOST_BUCKETS);
        *map = BucketMap::new(lowest, highest, buckets, tolerance, doubles);
        make_room(starts, map.buckets() + 3);
        starts.resize(map.buckets() + 3, 0);
        make_room(places, count);
        let mut indices = [0_u32; BLOCK];
        for block in doubles.chunks(BLOCK) {
            map.indices(block, &mut indices);
            places.extend_from_slice(&indices[..block.len()]);
            indices[..block.len()].iter().for_each(|&index| starts[index as usize + 2] += 1);
        }
        let (keys_per_crowded, most) = CROWDED;
        let (mut sum, mut crowded, mut fullest) = (0, 0, 0);
        for start in starts.iter_mut() {
            crowded += if *start > most { *start } else { 0 };
            fullest = fullest.max(*start);
            sum += *start;
            *start = sum;
        }
        if fullest > FULLEST || crowded as usize > count / keys_per_crowded {
            return false;
        }
        set_length(by_place, count + LANES);
        by_place[count..].fill(f64::INFINITY);
        for (&key, place) in keys.iter().zip(places) {
            let next = &mut starts[*place as usize + 1];
            *place = *next;
            by_place[*next as usize] = key.into();
            *next += 1;
        }
        true
    }
}

/// The work of `UnsortedTable::look_up`.
struct LookUp<'t, T, F, const NEAR: bool> {
    table: &'t mut UnsortedTable,
    keys: &'t [T],
    tolerance: f64,
    finish: F,
    below: &'t mut [f64],
}

impl<T: Score, F: Fn(f64) -> f64, const NEAR: bool> Vectorizable for LookUp<'_, T, F, NEAR> {
    type Output = LookupTotals;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> LookupTotals {
        let Self { table, keys, tolerance, finish, below } = self;
        let UnsortedTable { map, starts, keys: by_place, marks, .. } = table;
        // A neighbourhood may reach into the next bucket, but no further: buckets are much wider than the tolerance.
        let reach = if NEAR { 2 } else { 1 };
        let is_prefetched = by_place.len() >= SMALLEST_PREFETCHED;
        let mut totals = LookupTotals::default();
        let (mut lows, mut indices, mut doubled) = ([0.0; BLOCK], [0_u32; BLOCK], [0_u32; BLOCK]);
        for (keys, below) in keys.chunks(BLOCK).zip(below.chunks_mut(BLOCK)) {
            lows.iter_mut().zip(keys).for_each(|(low, &key)| *low = key.into() - tolerance);
            map.indices(&lows[..keys.len()], &mut indices);
            if is_prefetched {
                for &index in &indices[..keys.len()] {
                    let start = starts[index as usize] as usize;
                    simd.prefetch(&by_place[start]);
                    simd.prefetch(&marks[start]);
                }
            }
            let (mut all_below, mut all_up_to) = (0_u64, 0_u64);
            for (((entry, &key), &low), &index) in doubled.iter_mut().zip(keys).zip(&lows).zip(&indices) {
                let high = key.into() + tolerance;
                let (start, end) = (starts[index as usize], starts[index as usize + reach]);
                let (mut place, mut counts, mut started) = (start as usize, (0, 0), STARTED);
                loop {
                    // Keys read past the end of the bucket belong to later ones: they are larger and count for nothing.
                    let of_keys = by_place[place..].first_chunk().expect("padded");
                    let of_marks = marks[place..].first_chunk_mut().expect("as long as the keys");
                    let (below, up_to) = simd.mark_f64(of_keys, low, high, started, of_marks);
                    counts = (counts.0 + below, counts.1 + up_to);
                    (place, started) = (place + LANES, 0);
                    if place >= end as usize {
                        break;
                    }
                }
                *entry = 2 * start + counts.0 + counts.1;
                all_below += u64::from(start + counts.0);
                all_up_to += u64::from(start + counts.1);
            }
            if NEAR && all_below != all_up_to {
                totals.is_near = true;
                break;
            }
            totals.doubled_below += all_below + all_up_to;
            totals.ties += (all_up_to - all_below) as f64;
            below.iter_mut().zip(&doubled).for_each(|(below, &entry)| *below = finish(0.5 * f64::from(entry)));
        }
        totals
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Portable;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn both_sides_are_placed_as_by_all_pairs(
            table in prop::collection::vec((-40_i32..40, -1.0..1.0_f64), 1..600),
            keys in prop::collection::vec((-45_i32..45, -1.0..1.0_f64), 1..300),
            tied_proportion in 0.0..0.1_f64,
            power in 1..8_i32,
        ) {
            let pick = |(k, x): (i32, f64)| if x.abs() < tied_proportion { f64::from(k) / 20.0 } else { x.powi(power) };
            let table: Vec<f64> = table.into_iter().map(pick).collect();
            let keys: Vec<f64> = keys.into_iter().map(pick).collect();
            let credit = |a: f64, b: f64| f64::from(u8::from(a > b)) + 0.5 * f64::from(u8::from(a == b));
            let mut placed = UnsortedTable::default();
            prop_assume!(placed.build(&table, None));
            let mut places = placed.places().to_vec();
            places.sort_unstable();
            prop_assert!(places.into_iter().eq(0..table.len() as u32));
            let mut below = vec![0.0; keys.len()];
            for is_portable in [false, true] {
                placed.clear_marks();
                let table_of_keys = &mut placed;
                let totals = if is_portable {
                    let finish = |below: f64| below;
                    LookUp::<_, _, false> { table: table_of_keys, keys: &keys, tolerance: 0.0, finish, below: &mut below }
                        .run(Portable)
                } else {
                    table_of_keys.look_up(&keys, None, |below| below, &mut below)
                };
                let mut by_place = Vec::new();
                placed.below_by_place(0.0, &mut by_place);
                let (mut doubled, mut ties) = (0.0, 0.0);
                for (&x, &found) in keys.iter().zip(&below) {
                    let expected: f64 = table.iter().map(|&v| credit(x, v)).sum();
                    prop_assert_eq!(found, expected);
                    doubled += 2.0 * expected;
                    ties += table.iter().filter(|&&v| v == x).count() as f64;
                }
                prop_assert_eq!((totals.doubled_below as f64, totals.ties, totals.is_near), (doubled, ties, false));
                for (&v, &place) in table.iter().zip(placed.places()) {
                    let expected: f64 = keys.iter().map(|&x| credit(v, x)).sum();
                    prop_assert_eq!(by_place[place as usize], expected);
                }
            }
        }

        /// With a tolerance: either no key is near, and all are placed as without it, or one is.
        #[test]
        fn keys_within_the_tolerance_are_near(
            table in prop::collection::vec(-1.0..1.0_f64, 32..400),
            keys in prop::collection::vec(-1.1..1.1_f64, 1..20),
            tolerance in 0.0..1e-4_f64,
            (copied, moved) in (any::<prop::sample::Index>(), -2.0..2.0_f64),
        ) {
            let mut keys = keys;
            keys.push(copied.get(&table) + moved * tolerance);
            let mut placed = UnsortedTable::default();
            prop_assume!(placed.build(&table, Some(tolerance)));
            placed.clear_marks();
            let mut below = vec![0.0; keys.len()];
            let totals = placed.look_up(&keys, Some(tolerance), |below| below, &mut below);
            let is_near = |x: &f64| table.iter().any(|v| *v >= x - tolerance && *v <= x + tolerance);
            prop_assert_eq!(totals.is_near, keys.iter().any(is_near));
            if !totals.is_near {
                let counts = |x: &f64| table.iter().filter(|v| *v < x).count() as f64;
                prop_assert!(keys.iter().zip(&below).all(|(x, &found)| found == counts(x)));
                let mut by_place = Vec::new();
                placed.below_by_place(0.0, &mut by_place);
                for (v, &place) in table.iter().zip(placed.places()) {
                    prop_assert_eq!(by_place[place as usize], keys.iter().filter(|x| *x < v).count() as f64);
                }
            }
        }
    }

    #[test]
    fn tables_that_need_sorting_are_refused() {
        let mut table = UnsortedTable::default();
        assert!(!table.build(&[0.5; 100], None));
        let rounded: Vec<f64> = (0..1000).map(|row| f64::from(row % 40)).collect();
        assert!(!table.build(&rounded, None));
        let spread: Vec<f64> = (0..1000).map(f64::from).collect();
        assert!(table.build(&spread, Some(1e-3)) && !table.build(&spread, Some(1.0)));
    }
}
