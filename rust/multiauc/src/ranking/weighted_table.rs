//! Counting by weight: what the rows of one class win against a table of another, in linear time.
//!
//! The table has its rows in buckets, as [`BucketTable`](super::BucketTable), with running sums of their weights: a row
//! wins the weight before its bucket, loses that after it, and the at most four rows of the bucket are compared with it in a
//! vector register, their weights added under the mask. Fuller buckets are sorted and searched. Where keys are whole
//! numbers in a narrow range, there is a sum for each number instead.

use super::bucket_map::{BLOCK, BucketMap};
use super::bucket_table::count_first;
use super::placement_table::Nearness;
use super::table_building::extremes;
use super::weighted_wins::{RunningWeights, WeightedWins};
use crate::float::Score;
use crate::simd::{Simd, Vectorizable, run_widest};

/// Rows of one bucket that are compared in a register.
const LANES: usize = 4;
/// Buckets per row of the table, so that few buckets are full.
const BUCKETS_PER_ROW: usize = 2;
/// Smaller tables stay in the cache.
const SMALLEST_PREFETCHED: usize = 1 << 15;

/// One class with its weights, and reusable memory.
#[derive(Debug)]
pub(crate) struct WeightedTable {
    map: BucketMap<f64>,
    /// `starts[b]..starts[b + 1]` are the rows of bucket b.
    starts: Vec<u32>,
    /// The keys by bucket, then four infinities so that four keys can be read from any start.
    keys: Vec<f64>,
    /// The weights of the same rows, then zeros.
    weights: Vec<f64>,
    /// The weight of the rows before each of them, or below each whole number.
    below: RunningWeights,
    /// The first whole number, where keys are whole numbers.
    first: Option<f64>,
    /// While the table is built: the bucket of each row, the buckets of more than four, and one of these.
    buckets_of_rows: Vec<u32>,
    full_buckets: Vec<u32>,
    crowd: Vec<(f64, f64)>,
    /// While the table is built: the weight of each whole number.
    of_numbers: Vec<f64>,
}

impl Default for WeightedTable {
    fn default() -> Self {
        Self {
            map: BucketMap::ONE_BUCKET,
            starts: Vec::new(),
            keys: Vec::new(),
            weights: Vec::new(),
            below: RunningWeights::default(),
            first: None,
            buckets_of_rows: Vec::new(),
            full_buckets: Vec::new(),
            crowd: Vec::new(),
            of_numbers: Vec::new(),
        }
    }
}

impl WeightedTable {
    /// Fills the table with rows and their weights, at least one. If rows will be looked up with a tolerance `near`, buckets
    /// are much wider than it, or there is only one.
    pub(crate) fn build<T: Score>(&mut self, keys: &[T], weights: &[f64], near: Option<f64>) {
        self.first = None;
        run_widest(Build { table: self, keys, weights, near });
    }

    /// The same for keys that are whole numbers, as those looked up will be; faster where there are not too many numbers.
    pub(crate) fn build_whole_numbers(&mut self, keys: &[f64], weights: &[f64]) {
        /// Numbers per key that a table may span, and numbers that are few in any case.
        const NUMBERS_PER_KEY: f64 = 4.0;
        const FEW: f64 = 1024.0;
        let fold = |pick: fn(f64, f64) -> f64, from: f64| keys.iter().copied().fold(from, pick);
        let (lowest, highest) = (fold(f64::min, f64::INFINITY), fold(f64::max, f64::NEG_INFINITY));
        let span = highest - lowest;
        // Written so that NaN, which another thread may have put there, is refused too.
        let is_narrow = span >= 0.0 && span <= NUMBERS_PER_KEY * keys.len() as f64 + FEW;
        if !is_narrow {
            return self.build(keys, weights, None);
        }
        self.of_numbers.clear();
        self.of_numbers.resize(span as usize + 1, 0.0);
        for (&key, &weight) in keys.iter().zip(weights) {
            let last = self.of_numbers.len() - 1;
            self.of_numbers[((key - lowest) as usize).min(last)] += weight;
        }
        self.first = Some(lowest);
        self.below.fill(self.of_numbers.iter().copied());
    }

    /// The weight of all rows.
    pub(super) fn weight(&self) -> f64 {
        self.below.all()
    }

    /// What some rows win against the table. Those within the tolerance of a row of the table are left out, and their
    /// places appended to `near`.
    pub(crate) fn wins_of<T: Score>(
        &self,
        keys: &[T],
        weights: &[f64],
        nearness: Nearness<impl Fn(f64) -> bool>,
        near: &mut Vec<u32>,
    ) -> WeightedWins {
        self.wins_between(keys, weights, nearness, near, [0.0; 2])
    }

    /// The same where the table is a part of a larger one, of which this much weight lies below and above.
    pub(super) fn wins_between<T: Score>(
        &self,
        keys: &[T],
        weights: &[f64],
        nearness: Nearness<impl Fn(f64) -> bool>,
        near: &mut Vec<u32>,
        outside: [f64; 2],
    ) -> WeightedWins {
        match self.first {
            Some(first) => self.wins_of_numbers(keys, weights, first),
            None => run_widest(LookUp { table: self, keys, weights, nearness, near, outside }),
        }
    }

    fn wins_of_numbers<T: Score>(&self, keys: &[T], weights: &[f64], first: f64) -> WeightedWins {
        let last = self.below.len() as f64;
        let place = |number: f64| number.clamp(0.0, last) as usize;
        let mut total = WeightedWins::default();
        for (&key, &weight) in keys.iter().zip(weights) {
            let key: f64 = key.into();
            let number = key - first;
            total.add(weight, self.below.wins_at(place(number), place(number + 1.0)));
        }
        total
    }

    /// Number of rows.
    fn len(&self) -> usize {
        self.keys.len() - LANES
    }

    /// Hints that some buckets will be read soon: large tables do not stay in the cache.
    #[inline(always)]
    fn prefetch<S: Simd>(&self, simd: S, indices: &[u32]) {
        if self.len() >= SMALLEST_PREFETCHED {
            for &index in indices {
                let start = self.starts[index as usize] as usize;
                simd.prefetch(&self.keys[start]);
                simd.prefetch(&self.weights[start]);
                simd.prefetch(&self.below.as_slice()[start]);
            }
        }
    }

    /// What a row wins for each unit of its weight, given its bucket.
    fn wins_at(&self, key: f64, index: u32) -> WeightedWins {
        let (start, end) = (self.starts[index as usize] as usize, self.starts[index as usize + 1] as usize);
        let keys = &self.keys[start..end];
        if keys.len() > LANES {
            let low = count_first(keys, |v| v < key);
            let high = low + count_first(&keys[low..], |v| v <= key);
            return self.below.wins_at(start + low, start + high);
        }
        let mut wins = WeightedWins {
            won: 2.0 * self.below.as_slice()[start],
            lost: 2.0 * (self.below.all() - self.below.as_slice()[end]),
        };
        for (&v, &weight) in keys.iter().zip(&self.weights[start..end]) {
            let (is_below, is_up_to) = (v < key, v <= key);
            wins.won += weight * f64::from(u8::from(is_below) + u8::from(is_up_to));
            wins.lost += weight * f64::from(2 - u8::from(is_below) - u8::from(is_up_to));
        }
        wins
    }

    /// Whether a row of the table lies in low..=high.
    fn has_within(&self, low: f64, high: f64) -> bool {
        let (first, last) = (self.map.index_of(low) as usize, self.map.index_of(high) as usize);
        (first..=last).any(|bucket| {
            let keys = &self.keys[self.starts[bucket] as usize..self.starts[bucket + 1] as usize];
            if keys.len() > LANES {
                // Sorted: the first one that is not below decides.
                return keys.get(count_first(keys, |v| v < low)).is_some_and(|v| *v <= high);
            }
            keys.iter().any(|v| *v >= low && *v <= high)
        })
    }
}

/// The work of `WeightedTable::build`.
struct Build<'t, T> {
    table: &'t mut WeightedTable,
    keys: &'t [T],
    weights: &'t [f64],
    near: Option<f64>,
}

impl<T: Score> Vectorizable for Build<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Self { table, keys, weights, near } = self;
        let count = keys.len();
        let WeightedTable {
            map,
            starts,
            keys: placed,
            weights: of_placed,
            below,
            buckets_of_rows,
            full_buckets,
            crowd,
            ..
        } = table;
        // All keys in one place, as doubles, to choose the map by.
        placed.clear();
        placed.extend(keys.iter().map(|&key| key.into()));
        *map = if count <= LANES {
            BucketMap::ONE_BUCKET
        } else {
            let (lowest, highest) = extremes(std::iter::once(&placed[..]));
            BucketMap::new(lowest, highest, BUCKETS_PER_ROW * count, near, placed)
        };
        // Shifted by two: once the rows are placed, `starts[b]` is where bucket b begins. One more, since a neighbourhood may
        // reach into the bucket after the last.
        starts.clear();
        starts.resize(map.buckets() + 4, 0);
        buckets_of_rows.clear();
        let mut indices = [0_u32; BLOCK];
        for block in placed.chunks(BLOCK) {
            map.indices(block, &mut indices);
            buckets_of_rows.extend_from_slice(&indices[..block.len()]);
            indices[..block.len()].iter().for_each(|&index| starts[index as usize + 2] += 1);
        }
        full_buckets.clear();
        let mut sum = 0;
        for (shifted, start) in starts.iter_mut().enumerate() {
            if *start as usize > LANES {
                full_buckets.push(shifted as u32 - 2);
            }
            sum += *start;
            *start = sum;
        }
        placed.resize(count + LANES, f64::INFINITY);
        placed[count..].fill(f64::INFINITY);
        of_placed.resize(count + LANES, 0.0);
        of_placed[count..].fill(0.0);
        for ((&key, &weight), &index) in keys.iter().zip(weights).zip(buckets_of_rows.iter()) {
            let place = &mut starts[index as usize + 1];
            placed[*place as usize] = key.into();
            of_placed[*place as usize] = weight;
            *place += 1;
        }
        for &bucket in full_buckets.iter() {
            let range = starts[bucket as usize] as usize..starts[bucket as usize + 1] as usize;
            sort_bucket(&mut placed[range.clone()], &mut of_placed[range], crowd);
        }
        below.fill_padded(&of_placed[..count], LANES);
    }
}

/// Sorts the keys of a bucket, and their weights with them.
fn sort_bucket(keys: &mut [f64], weights: &mut [f64], crowd: &mut Vec<(f64, f64)>) {
    if keys.is_sorted() {
        // Often a single value.
        return;
    }
    crowd.clear();
    crowd.extend(keys.iter().copied().zip(weights.iter().copied()));
    // A total order, since another thread may write NaN into the scores while we read them.
    crowd.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    for ((key, weight), sorted) in keys.iter_mut().zip(weights).zip(crowd) {
        (*key, *weight) = *sorted;
    }
}

/// The work of `WeightedTable::wins_between`.
struct LookUp<'t, T, N> {
    table: &'t WeightedTable,
    keys: &'t [T],
    weights: &'t [f64],
    nearness: Nearness<N>,
    near: &'t mut Vec<u32>,
    outside: [f64; 2],
}

/// What a block of rows wins inside the table, and their weight.
struct BlockWins {
    inside: WeightedWins,
    weight: f64,
}

impl<T: Score, N: Fn(f64) -> bool> Vectorizable for LookUp<'_, T, N> {
    type Output = WeightedWins;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> WeightedWins {
        match self.nearness.tolerance {
            Some(tolerance) => self.run_blocks::<S, true>(simd, tolerance),
            None => self.run_blocks::<S, false>(simd, 0.0),
        }
    }
}

impl<T: Score, N: Fn(f64) -> bool> LookUp<'_, T, N> {
    #[inline(always)]
    fn run_blocks<S: Simd, const NEAR: bool>(self, simd: S, tolerance: f64) -> WeightedWins {
        let Self { table, keys, weights, nearness, near, outside } = self;
        let (mut block, mut lows, mut indices) = ([0.0; BLOCK], [0.0; BLOCK], [0_u32; BLOCK]);
        let mut total = WeightedWins::default();
        // A block with near rows is looked up twice, unless the one before had some as well.
        let mut expects_near = false;
        for ((first, keys), weights) in (0..).step_by(BLOCK).zip(keys.chunks(BLOCK)).zip(weights.chunks(BLOCK)) {
            for (place, &key) in keys.iter().enumerate() {
                block[place] = key.into();
                lows[place] = block[place] - tolerance;
            }
            let block = &block[..keys.len()];
            table.map.indices(&lows[..keys.len()], &mut indices);
            table.prefetch(simd, &indices[..keys.len()]);
            let fast = if NEAR && expects_near {
                None
            } else {
                table.wins_of_block::<S, NEAR>(simd, block, tolerance, weights, &indices)
            };
            let found = fast.unwrap_or_else(|| {
                let before = near.len();
                let wins = table.wins_of_near_block((first, block), tolerance, weights, &nearness.is_settled, near);
                expects_near = near.len() > before;
                wins
            });
            total = total.plus(found.inside);
            total.add(2.0 * found.weight, WeightedWins { won: outside[0], lost: outside[1] });
        }
        total
    }
}

impl WeightedTable {
    /// What a block of rows wins, given the buckets of their keys minus the tolerance; `None` if one is near.
    #[inline(always)]
    fn wins_of_block<S: Simd, const NEAR: bool>(
        &self,
        simd: S,
        keys: &[f64],
        tolerance: f64,
        weights: &[f64],
        indices: &[u32; BLOCK],
    ) -> Option<BlockWins> {
        // A neighbourhood may reach into the next bucket, but no further: buckets are much wider than the tolerance.
        let reach = if NEAR { 2 } else { 1 };
        let all = self.below.all();
        // In the buckets of four at most, and around them; in the fuller ones.
        let (mut won, mut lost, mut between) = (simd.splat(0.0), simd.splat(0.0), simd.splat(0.0));
        let (mut around, mut full, mut weight_sum) = (WeightedWins::default(), WeightedWins::default(), 0.0);
        for ((&key, &weight), &index) in keys.iter().zip(weights).zip(indices) {
            let (low, high) = if NEAR { (key - tolerance, key + tolerance) } else { (key, key) };
            let (start, end) = (self.starts[index as usize] as usize, self.starts[index as usize + reach] as usize);
            weight_sum += weight;
            if end - start > LANES {
                if NEAR && self.has_within(low, high) {
                    return None;
                }
                full.add(weight, self.wins_at(key, self.map.index_of(key)));
                continue;
            }
            // Rows read past the end of the bucket belong to later ones: their keys are larger than `low`.
            let rows = start..start + LANES;
            let of_keys: &[f64; LANES] = self.keys[rows.clone()].first_chunk().expect("four rows");
            let of_weights: &[f64; LANES] = self.weights[rows].first_chunk().expect("four rows");
            let running: &[f64; LANES + 1] = self.below.as_slice()[start..].first_chunk().expect("padded");
            let [below, above] = if NEAR {
                simd.weigh(of_keys, of_weights, low, high, &mut between)
            } else {
                simd.weigh_twice(of_keys, of_weights, key)
            };
            let unit = simd.splat(weight);
            won = simd.add(won, simd.multiply(unit, below));
            lost = simd.add(lost, simd.multiply(unit, above));
            around.add(weight, WeightedWins { won: running[0], lost: all - running[LANES] });
        }
        if NEAR && simd.is_any_negative(between) {
            return None;
        }
        let sum = |lanes: S::Lanes| {
            let [a, b, c, d] = simd.values(lanes);
            let sum = (a + b) + (c + d);
            if NEAR { 2.0 * sum } else { sum }
        };
        let within = WeightedWins { won: sum(won), lost: sum(lost) };
        let around = WeightedWins { won: 2.0 * around.won, lost: 2.0 * around.lost };
        Some(BlockWins { inside: within.plus(around).plus(full), weight: weight_sum })
    }

    /// The same row by row, for a block in which some are near: they are left out, and their places appended to `near`, that
    /// of the first row being `first`.
    fn wins_of_near_block(
        &self,
        (first, keys): (u32, &[f64]),
        tolerance: f64,
        weights: &[f64],
        is_settled: &impl Fn(f64) -> bool,
        near: &mut Vec<u32>,
    ) -> BlockWins {
        let mut found = BlockWins { inside: WeightedWins::default(), weight: 0.0 };
        for ((place, &key), &weight) in (first..).zip(keys).zip(weights) {
            if self.has_within(key - tolerance, key + tolerance) && !is_settled(key) {
                near.push(place);
                continue;
            }
            found.inside.add(weight, self.wins_at(key, self.map.index_of(key)));
            found.weight += weight;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Σ w u (2 if x > v, 1 if x = v), and the same the other way round, pair by pair.
    fn definition(table: &[(f64, f64)], rows: &[(f64, f64)]) -> WeightedWins {
        let mut wins = WeightedWins::default();
        for &(x, weight) in rows {
            for &(v, own) in table {
                let doubled = |wins: bool| f64::from(u8::from(wins)) + f64::from(u8::from(wins || x == v));
                wins.add(weight, WeightedWins { won: own * doubled(x > v), lost: own * doubled(x < v) });
            }
        }
        wins
    }

    fn rows(most: usize) -> impl Strategy<Value = Vec<(f64, f64)>> {
        let key = prop_oneof![
            -1.0..1.0,
            (-40_i32..40).prop_map(|k| f64::from(k) / 8.0),
            (-300_i32..0).prop_map(|exponent| 2_f64.powi(exponent)),
        ];
        // Whole numbers and powers of two far apart: sums of the former are exact.
        let weight = prop_oneof![(0_u32..9).prop_map(f64::from), Just(2_f64.powi(12))];
        prop::collection::vec((key, weight), 1..most)
    }

    proptest! {
        #[test]
        fn wins_are_those_of_all_pairs(table in rows(500), looked_up in rows(300)) {
            let (keys, weights): (Vec<f64>, Vec<f64>) = table.iter().copied().unzip();
            let (others, of_others): (Vec<f64>, Vec<f64>) = looked_up.iter().copied().unzip();
            let mut built = WeightedTable::default();
            built.build(&keys, &weights, None);
            let mut near = Vec::new();
            let found = built.wins_of(&others, &of_others, Nearness::NEVER, &mut near);
            prop_assert_eq!(found, definition(&table, &looked_up));
            // With a tolerance of zero, rows that tie are left out and named.
            let nearness = Nearness { tolerance: Some(0.0), is_settled: |_| false };
            let found = built.wins_of(&others, &of_others, nearness, &mut near);
            let ties = |x: f64| keys.contains(&x);
            let apart: Vec<(f64, f64)> = looked_up.iter().copied().filter(|&(x, _)| !ties(x)).collect();
            prop_assert_eq!(found, definition(&table, &apart));
            let expected: Vec<u32> = (0..).zip(&others).filter(|&(_, &x)| ties(x)).map(|(place, _)| place).collect();
            prop_assert_eq!(near, expected);
        }

        #[test]
        fn whole_numbers_are_counted_as_all_pairs_say(
            table in prop::collection::vec((-300_i32..300, 0_u32..5), 1..300),
            looked_up in prop::collection::vec((-400_i32..400, 0_u32..5), 1..300),
            far in prop::collection::vec(-90_000_i32..90_000, 0..2),
        ) {
            let floats = |rows: &[(i32, u32)]| -> Vec<(f64, f64)> {
                rows.iter().map(|&(key, weight)| (f64::from(key), f64::from(weight))).collect()
            };
            let mut table = floats(&table);
            table.extend(far.into_iter().map(|key| (f64::from(key), 1.0)));
            let looked_up = floats(&looked_up);
            let (keys, weights): (Vec<f64>, Vec<f64>) = table.iter().copied().unzip();
            let (others, of_others): (Vec<f64>, Vec<f64>) = looked_up.iter().copied().unzip();
            let mut built = WeightedTable::default();
            built.build_whole_numbers(&keys, &weights);
            let found = built.wins_of(&others, &of_others, Nearness::NEVER, &mut Vec::new());
            prop_assert_eq!(found, definition(&table, &looked_up));
        }
    }

    #[test]
    fn perfect_separation_loses_nothing_at_any_weights() {
        let weights: Vec<f64> = (0..3000).map(|row| 0.1 + f64::from(row % 7) / 3.0 * 1e3_f64.powi(row % 5)).collect();
        let low: Vec<f64> = (0..3000).map(|row| f64::from(row * 7919 % 3000) / 3000.0).collect();
        let high: Vec<f64> = low.iter().map(|key| key + 1.0).collect();
        let mut table = WeightedTable::default();
        table.build(&low, &weights, None);
        let wins = table.wins_of(&high, &weights, Nearness::NEVER, &mut Vec::new());
        assert_eq!((wins.lost, wins.share()), (0.0, 1.0));
        table.build(&high, &weights, None);
        let wins = table.wins_of(&low, &weights, Nearness::NEVER, &mut Vec::new());
        assert_eq!((wins.won, wins.share()), (0.0, 0.0));
        let tied = vec![0.5; 3000];
        table.build(&tied, &weights, None);
        assert_eq!(table.wins_of(&tied, &weights, Nearness::NEVER, &mut Vec::new()).share(), 0.5);
    }
}
