//! Counting by weight: what the rows of one class win against a table of another, in linear time.
//!
//! The table is sorted, with running sums of its weights: a looked-up row wins the sums at the two ranks between which its
//! ties lie, and loses the rest. Where keys are whole numbers in a narrow range, there is a sum for each number instead.

use super::bucket_map::BLOCK;
use super::placement_table::Nearness;
use super::ranked_keys::RankedKeys;
use super::weighted_wins::{RunningWeights, WeightedWins};
use crate::float::Score;
use crate::simd::{Simd, Vectorizable, run_widest};

/// One class with its weights, and reusable memory.
#[derive(Debug, Default)]
pub(crate) struct WeightedTable {
    ranked: RankedKeys,
    /// The weight of the rows below each rank, or below each whole number.
    below: RunningWeights,
    /// The first whole number, where keys are whole numbers.
    first: Option<f64>,
    /// While the table is built: the weight of each whole number.
    of_numbers: Vec<f64>,
}

impl WeightedTable {
    /// Fills the table with rows and their weights, at least one.
    pub(crate) fn build<T: Score>(&mut self, keys: &[T], weights: &[f64]) {
        self.first = None;
        self.ranked.build(keys);
        self.below.fill(self.ranked.rows().iter().map(|&row| weights[row as usize]));
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
            return self.build(keys, weights);
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

impl<T: Score, N: Fn(f64) -> bool> Vectorizable for LookUp<'_, T, N> {
    type Output = WeightedWins;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> WeightedWins {
        let Self { table: WeightedTable { ranked, below, .. }, keys, weights, nearness, near, outside } = self;
        let outside = WeightedWins { won: 2.0 * outside[0], lost: 2.0 * outside[1] };
        let (mut block, mut indices, mut found) = ([0.0; BLOCK], [0_u32; BLOCK], [0_u32; BLOCK]);
        let mut total = WeightedWins::default();
        for ((first, keys), weights) in (0..).step_by(BLOCK).zip(keys.chunks(BLOCK)).zip(weights.chunks(BLOCK)) {
            block.iter_mut().zip(keys).for_each(|(entry, &key)| *entry = key.into());
            ranked.indices(&block[..keys.len()], &mut indices);
            ranked.prefetch(simd, &indices[..keys.len()], below.as_slice());
            let (mut of_block, mut count) = (WeightedWins::default(), 0);
            for (((place, &weight), &key), &index) in (first..).zip(weights).zip(&block).zip(&indices) {
                let (low, high) = ranked.ranks_of(simd, key, index);
                // Always written, kept only if near: a branch would be mispredicted.
                let is_near = ranked.is_near(key, low, &nearness);
                found[count] = place;
                count += usize::from(is_near);
                let weight = if is_near { 0.0 } else { weight };
                of_block.add(weight, below.wins_at(low, high).plus(outside));
            }
            near.extend_from_slice(&found[..count]);
            total = total.plus(of_block);
        }
        total
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
            built.build(&keys, &weights);
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
        table.build(&low, &weights);
        let wins = table.wins_of(&high, &weights, Nearness::NEVER, &mut Vec::new());
        assert_eq!((wins.lost, wins.share()), (0.0, 1.0));
        table.build(&high, &weights);
        let wins = table.wins_of(&low, &weights, Nearness::NEVER, &mut Vec::new());
        assert_eq!((wins.won, wins.share()), (0.0, 0.0));
        let tied = vec![0.5; 3000];
        table.build(&tied, &weights);
        assert_eq!(table.wins_of(&tied, &weights, Nearness::NEVER, &mut Vec::new()).share(), 0.5);
    }
}
