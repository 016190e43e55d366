//! Placements by counting: keys that are multiples of one number, in a narrow range, need no sorting.
//!
//! Every multiple in the range of the table's keys is a bin, with one more bin below them and one above. How many rows of
//! either class are in each bin says all about where they stand; a row is placed by looking its bin up.

use super::bucket_map::BLOCK;
use super::placement_table::LookupTotals;
use super::table_building::extremes;
use crate::error::Result;
use crate::float::{Float, Score};
use crate::parallel::Workers;
use crate::simd::{Simd, Vectorizable, run_widest};

/// Fewer rows are counted on one thread.
const SMALLEST_SHARED: usize = 1 << 18;
/// With so few bins, runs of equal keys would wait for their own last increment.
const FEW_BINS: usize = 2048;
/// Counters that take turns in each bin where bins are few.
const TURNS: usize = 4;

/// One class by the bins of its keys, with reusable memory.
#[derive(Debug, Default)]
pub(super) struct CountedTable {
    bins: Bins,
    /// Rows of the table in each bin.
    own: Vec<u32>,
    /// The bin of each of them.
    bin_of: Vec<u32>,
    /// Rows of the class looked up last in each bin.
    looked_up: Vec<u32>,
    /// What is written for the rows of each bin.
    values: Vec<f64>,
}

/// From keys to bins.
#[derive(Debug, Clone, Copy, Default)]
struct Bins {
    /// Multiples per unit.
    scale: f64,
    /// The multiple that is the first bin: one less than the lowest key.
    first: f64,
    /// The last bin, that of all keys above those of the table.
    last: f64,
}

impl Bins {
    fn count(self) -> usize {
        self.last as usize + 1
    }

    #[inline(always)]
    fn index(self, key: f64) -> u32 {
        (key * self.scale - self.first).bucket(self.last)
    }
}

impl CountedTable {
    /// Fills the table with the keys of rows 0, 1, …, all of them multiples of 1/scale; `false` if they are spread so
    /// widely that sorting is better.
    pub(super) fn build<T: Score>(&mut self, keys: &[T], scale: f64, workers: &Workers<'_>) -> Result<bool> {
        /// Multiples per row that a table may span, and multiples that are few in any case.
        const MULTIPLES_PER_ROW: f64 = 2.0;
        const FEW: f64 = 1024.0;
        let (lowest, highest) = run_widest(Extremes(keys));
        let [lowest, highest] = [lowest, highest].map(|key| (key * scale).round_ties_even());
        let span = highest - lowest;
        // Written so that NaN, which another thread may have put there, is refused too.
        let is_narrow = span >= 0.0 && span <= MULTIPLES_PER_ROW * keys.len() as f64 + FEW;
        if !is_narrow {
            return Ok(false);
        }
        self.bins = Bins { scale, first: lowest - 1.0, last: span + 2.0 };
        self.bin_of.resize(keys.len(), 0);
        count_bins(self.bins, keys, &mut self.bin_of, |bin| bin, &mut self.own, workers)?;
        Ok(true)
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.bin_of.len()
    }

    /// Looks the keys of another class up, as [`PlacementTable`](super::placement_table::PlacementTable) does.
    pub(super) fn look_up<T: Score>(
        &mut self,
        keys: &[T],
        finish: impl Fn(f64) -> f64,
        below: &mut [f64],
        workers: &Workers<'_>,
    ) -> Result<LookupTotals> {
        let Self { bins, own, looked_up, values, .. } = self;
        let mut ranks = 0;
        values.clear();
        values.extend(own.iter().map(|&count| {
            ranks += count;
            finish(0.5 * (u64::from(ranks - count) + u64::from(ranks)) as f64)
        }));
        let values = &values[..];
        count_bins(*bins, keys, below, |bin| values[bin as usize], looked_up, workers)?;
        let (mut ranks, mut totals) = (0, LookupTotals::default());
        for (&own, &found) in own.iter().zip(&*looked_up) {
            let (own, found) = (u64::from(own), u64::from(found));
            totals.doubled_below += found * (2 * ranks + own);
            totals.ties += (found * own) as f64;
            ranks += own;
        }
        Ok(totals)
    }

    /// For the row at each rank, the number of rows of the looked-up class below it, ties counting half.
    pub(super) fn below_by_rank(&self, below: &mut Vec<f64>) {
        let mut passed = 0;
        for (&own, &found) in self.own.iter().zip(&self.looked_up) {
            let value = passed as f64 + 0.5 * f64::from(found);
            below.resize(below.len() + own as usize, value);
            passed += u64::from(found);
        }
    }

    /// Writes `finish(by_rank[r])` to the place of the rows that have rank r, or tie with it.
    pub(super) fn by_row(&mut self, by_rank: &[f64], finish: impl Fn(f64) -> f64, by_row: &mut [f64]) {
        let Self { own, bin_of, values, .. } = self;
        let mut rank = 0;
        values.clear();
        values.extend(own.iter().map(|&count| {
            let value = if count > 0 { finish(by_rank[rank]) } else { 0.0 };
            rank += count as usize;
            value
        }));
        for (value, &bin) in by_row.iter_mut().zip(&*bin_of) {
            *value = values[bin as usize];
        }
    }
}

/// Counts the keys of each bin, and writes `entry(bin)` for each key.
fn count_bins<T: Score, E: Send>(
    bins: Bins,
    keys: &[T],
    entries: &mut [E],
    entry: impl Fn(u32) -> E + Sync,
    counts: &mut Vec<u32>,
    workers: &Workers<'_>,
) -> Result<()> {
    counts.clear();
    let is_shared = keys.len() >= SMALLEST_SHARED && workers.threads() > 1;
    if !is_shared {
        run_widest(CountBins { bins, keys, entries, entry: &entry, counts });
        return Ok(());
    }
    let length = keys.len().div_ceil(workers.threads());
    let parts = workers.map_chunks(entries, length, |part, entries| {
        let (keys, mut counts) = (&keys[part * length..][..entries.len()], Vec::new());
        run_widest(CountBins { bins, keys, entries, entry: &entry, counts: &mut counts });
        Ok(counts)
    })?;
    counts.resize(bins.count(), 0);
    for part in parts {
        counts.iter_mut().zip(part).for_each(|(count, of_part)| *count += of_part);
    }
    Ok(())
}

/// The work of `count_bins` on one thread; there are no counts yet.
struct CountBins<'k, T, E, F> {
    bins: Bins,
    keys: &'k [T],
    entries: &'k mut [E],
    entry: &'k F,
    counts: &'k mut Vec<u32>,
}

impl<T: Score, E, F: Fn(u32) -> E> Vectorizable for CountBins<'_, T, E, F> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Self { bins, keys, entries, entry, counts } = self;
        let stride = bins.count();
        let turns = if stride <= FEW_BINS { TURNS } else { 1 };
        counts.resize(turns * stride, 0);
        let mut indices = [0_u32; BLOCK];
        for (keys, entries) in keys.chunks(BLOCK).zip(entries.chunks_mut(BLOCK)) {
            indices.iter_mut().zip(keys).for_each(|(index, &key)| *index = bins.index(key.into()));
            for (turn, (place, &index)) in entries.iter_mut().zip(&indices).enumerate() {
                counts[(turn & (turns - 1)) * stride + index as usize] += 1;
                *place = entry(index);
            }
        }
        let (first, others) = counts.split_at_mut(stride);
        for turn in others.chunks(stride) {
            first.iter_mut().zip(turn).for_each(|(count, of_turn)| *count += of_turn);
        }
        counts.truncate(stride);
    }
}

/// The smallest and the largest of some keys.
struct Extremes<'k, T>(&'k [T]);

impl<T: Score> Vectorizable for Extremes<'_, T> {
    type Output = (f64, f64);

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> (f64, f64) {
        let (lowest, highest) = extremes(std::iter::once(self.0));
        (lowest.into(), highest.into())
    }
}

#[cfg(test)]
mod tests {
    use super::super::placement_table::{Nearness, PlacementTable};
    use super::*;
    use crate::parallel::Cancel;
    use proptest::prelude::*;

    /// Places both classes by counting, and by sorting; all of it has to have the same bits.
    fn assert_like_sorted<T: Score>(table: &[T], keys: &[T], m: f64, threads: usize) {
        let cancel = Cancel::new();
        let workers = Workers::with_threads(threads, &cancel);
        let (finish, finish_own) = (|below: f64| (7.0 - below) / 3.0, |below: f64| below / 7.0);
        let mut sorted = PlacementTable::default();
        let (mut expected, mut expected_by_rank) = (vec![0.0; keys.len()], Vec::new());
        sorted.build(table, None);
        let totals = sorted.look_up(keys, None, Nearness::NEVER, finish, &mut expected);
        sorted.below_by_rank(0.0, &mut expected_by_rank);
        let mut expected_by_row = vec![0.0; table.len()];
        sorted.by_row(&expected_by_rank, finish_own, &mut expected_by_row);
        let mut counted = CountedTable::default();
        // The second time in the memory of the first.
        for _ in 0..2 {
            assert!(counted.build(table, m, &workers).expect("a table"));
            let (mut found, mut by_rank, mut by_row) = (vec![0.0; keys.len()], Vec::new(), vec![0.0; table.len()]);
            assert_eq!(counted.look_up(keys, finish, &mut found, &workers).expect("totals"), totals);
            counted.below_by_rank(&mut by_rank);
            counted.by_row(&by_rank, finish_own, &mut by_row);
            assert_eq!(counted.len(), table.len());
            assert!(found == expected && by_rank == expected_by_rank && by_row == expected_by_row);
        }
    }

    proptest! {
        #[test]
        fn multiples_are_placed_as_by_sorting(
            table in prop::collection::vec(-300_i32..300, 1..400),
            keys in prop::collection::vec(-500_i32..500, 0..200),
            m in 1_i32..1000,
        ) {
            let doubles = |numbers: &[i32]| -> Vec<f64> { numbers.iter().map(|&k| f64::from(k) / f64::from(m)).collect() };
            assert_like_sorted(&doubles(&table), &doubles(&keys), m.into(), 1);
            let singles = |numbers: &[i32]| -> Vec<f32> { doubles(numbers).into_iter().map(|key| key as f32).collect() };
            assert_like_sorted(&singles(&table), &singles(&keys), m.into(), 1);
        }
    }

    #[test]
    fn large_classes_are_counted_on_all_threads() {
        for (numbers, m) in [(11, 10.0), (100_001, 100_000.0)] {
            let keys = |count: usize, step: usize| -> Vec<f64> {
                (0..count).map(|row| (row * step % numbers) as f64 / m).collect()
            };
            let (table, keys) = (keys(SMALLEST_SHARED + 4321, 7919), keys(2 * SMALLEST_SHARED + 77, 104_729));
            for threads in [1, 3] {
                assert_like_sorted(&table, &keys, m, threads);
            }
        }
    }

    #[test]
    fn wide_spans_are_left_to_sorting() {
        let cancel = Cancel::new();
        let build = |keys: &[f64], m: f64| {
            CountedTable::default().build(keys, m, &Workers::with_threads(1, &cancel)).expect("a table")
        };
        assert!(build(&[0.0, 1.0], 1000.0));
        assert!(!build(&[0.0, 1.0], 10_000.0));
        assert!(!build(&[], 1.0));
    }
}
