//! Placements by a table of one class: where its rows stand among those of another class, and the other way round.
//!
//! The rows of the class are sorted once. A key x of another class is looked up, lo(x) = #(v < x) and hi(x) = #(v ≤ x), and
//! leaves a mark at each of the two ranks; the marks summed up to the rank of a table row count the other class's rows
//! below it. So the looked-up class is never sorted, and is read and written in its own order.

use super::bucket_map::BLOCK;
use super::ranked_keys::RankedKeys;
use super::unsorted_table::UnsortedTable;
use super::weighted_wins::{RunningWeights, WeightedWins};
use crate::float::Score;
use crate::simd::{Simd, Vectorizable, run_widest};

/// The order of the rows of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Arrangement {
    /// By rank.
    Sorted,
    /// Whatever is quickest, for looking keys up with a tolerance, if any. Fewer than 2^31 keys are looked up.
    Any {
        /// Within which all keys are near: none are settled.
        tolerance: Option<f64>,
    },
}

impl Arrangement {
    /// The quickest for the classes of a sample of so many rows.
    pub(crate) const fn quickest(tolerance: Option<f64>, rows: usize) -> Self {
        /// With as many rows, counts of a table that is not sorted might overflow.
        const MOST_UNSORTED_ROWS: usize = 1 << 31;
        if rows < MOST_UNSORTED_ROWS { Self::Any { tolerance } } else { Self::Sorted }
    }
}

/// Smaller tables are sorted: there is little to save.
const SMALLEST_UNSORTED: usize = 32;

/// One class sorted by its keys, or in no order if that is enough, with reusable memory.
#[derive(Debug, Default)]
pub(crate) struct PlacementTable {
    ranked: RankedKeys,
    /// Used instead where the class is in no order: then *ranks* are places of this table.
    unsorted: UnsortedTable,
    is_sorted: bool,
    /// The weight of the rows below each rank; empty where rows have no weights.
    weights: RunningWeights,
    marks: Marks<u32>,
    weighted_marks: Marks<f64>,
}

/// What looked-up rows leave at the ranks of the table.
#[derive(Debug, Default)]
struct Marks<N> {
    /// The weight or number of the rows, by lo.
    low: Vec<N>,
    /// What hi adds to that: as much at hi, less as much at lo, where they differ. Numbers wrap around.
    ties: Vec<N>,
    has_ties: bool,
}

impl<N: Copy + Default> Marks<N> {
    fn clear(&mut self, ranks: usize) {
        self.low.clear();
        self.low.resize(ranks, N::default());
        // Left as they were where there were none.
        if self.has_ties || self.ties.len() != ranks {
            self.ties.clear();
            self.ties.resize(ranks, N::default());
        }
        self.has_ties = false;
    }
}

/// Totals over the looked-up class.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct LookupTotals {
    /// Σ over the keys x of lo + hi, where rows have no weights.
    pub doubled_below: u64,
    /// What the looked-up class wins by weight: Σ w_x (W_lo + W_hi), W being the weight of the table below a rank. Only
    /// where rows have weights.
    pub weighted: WeightedWins,
    /// Pairs of rows that tie, by weight.
    pub ties: f64,
    /// Whether a key lies within the tolerance of a table key: then the rest may not have been looked at.
    pub is_near: bool,
}

/// Which keys are too close to tell apart: those within a tolerance, if there is one, unless they are settled.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Nearness<F> {
    pub tolerance: Option<f64>,
    pub is_settled: F,
}

impl Nearness<fn(f64) -> bool> {
    /// Keys compare as they are.
    pub(crate) const NEVER: Self = Self { tolerance: None, is_settled: |_| true };
}

impl PlacementTable {
    /// Fills the table with the keys of rows 0, 1, … of a class.
    pub(crate) fn build<T: Score>(&mut self, keys: &[T], weights: Option<&[f64]>) {
        self.is_sorted = true;
        self.ranked.build(keys);
        self.weights.clear();
        if let Some(weights) = weights {
            self.weights.fill(self.ranked.rows().iter().map(|&row| weights[row as usize]));
        }
    }

    /// The same in a given order.
    pub(super) fn build_arranged<T: Score>(&mut self, keys: &[T], weights: Option<&[f64]>, arrangement: Arrangement) {
        let is_unsorted = match arrangement {
            Arrangement::Any { tolerance } if weights.is_none() && keys.len() >= SMALLEST_UNSORTED => {
                self.unsorted.build(keys, tolerance)
            }
            _ => false,
        };
        if is_unsorted {
            self.weights.clear();
            self.is_sorted = false;
        } else {
            self.build(keys, weights);
        }
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        if self.is_sorted { self.ranked.len() } else { self.unsorted.len() }
    }

    /// Writes `finish(by_rank[r])` to the place of the row of rank r.
    pub(super) fn by_row(&self, by_rank: &[f64], finish: impl Fn(f64) -> f64, by_row: &mut [f64]) {
        if self.is_sorted {
            for (&row, &value) in self.ranked.rows().iter().zip(by_rank) {
                by_row[row as usize] = finish(value);
            }
        } else {
            for (entry, &place) in by_row.iter_mut().zip(self.unsorted.places()) {
                *entry = finish(by_rank[place as usize]);
            }
        }
    }

    /// Looks the keys of another class up. `below[i]` becomes the weight of the table below key i, ties counting half,
    /// as `finish` changes it; the marks of an earlier class are discarded.
    pub(crate) fn look_up<T: Score>(
        &mut self,
        keys: &[T],
        weights: Option<&[f64]>,
        near: Nearness<impl Fn(f64) -> bool>,
        finish: impl Fn(f64) -> f64,
        below: &mut [f64],
    ) -> LookupTotals {
        self.clear_marks();
        self.look_up_more(keys, weights, near, finish, below)
    }

    /// Forgets what was looked up.
    pub(super) fn clear_marks(&mut self) {
        if !self.is_sorted {
            self.unsorted.clear_marks();
        } else if self.weights.is_empty() {
            self.marks.clear(self.len() + 1);
        } else {
            self.weighted_marks.clear(self.len() + 1);
        }
    }

    /// The same, the marks being added to those of earlier keys.
    pub(super) fn look_up_more<T: Score>(
        &mut self,
        keys: &[T],
        weights: Option<&[f64]>,
        near: Nearness<impl Fn(f64) -> bool>,
        finish: impl Fn(f64) -> f64,
        below: &mut [f64],
    ) -> LookupTotals {
        match weights {
            None if !self.is_sorted => self.unsorted.look_up(keys, near.tolerance, finish, below),
            None => run_widest(LookUp { table: self, keys, near, finish, below }),
            Some(weights) => self.look_up_between(keys, weights, near, finish, below, [0.0; 2]),
        }
    }

    /// The same for rows with weights, where the table is a part of a larger one of which this much weight lies below and
    /// above; `finish` still gets the weight below within the part.
    pub(super) fn look_up_between<T: Score>(
        &mut self,
        keys: &[T],
        weights: &[f64],
        near: Nearness<impl Fn(f64) -> bool>,
        finish: impl Fn(f64) -> f64,
        below: &mut [f64],
        outside: [f64; 2],
    ) -> LookupTotals {
        run_widest(WeightedLookUp { table: self, keys, weights, near, finish, below, outside })
    }

    /// The weight of all rows, where they have weights.
    pub(super) fn weight(&self) -> f64 {
        self.weights.all()
    }

    /// Calls `visit(rank, below, tied)` for each rank: how many of the rows looked up lie below it, and how many tie with it.
    /// For rows without weights.
    pub(crate) fn for_each_rank(&self, mut visit: impl FnMut(usize, u32, u32)) {
        let Marks { low, ties, .. } = &self.marks;
        let (mut up_to, mut tied) = (0_u32, 0_u32);
        for (rank, (&low, &tie)) in low.iter().zip(ties).enumerate().take(self.len()) {
            (up_to, tied) = (up_to.wrapping_add(low), tied.wrapping_sub(tie));
            visit(rank, up_to.wrapping_sub(tied), tied);
        }
    }

    /// For the row at each rank, the weight of the looked-up class below it, ties counting half, on top of `first`.
    pub(crate) fn below_by_rank(&self, first: f64, below: &mut Vec<f64>) {
        if !self.is_sorted {
            return self.unsorted.below_by_place(first, below);
        }
        let (keys, ranks) = (self.ranked.keys(), self.len());
        if !self.weights.is_empty() {
            let Marks { low, ties, has_ties } = &self.weighted_marks;
            let ties = has_ties.then_some(&ties[..ranks]);
            return running_sums(
                keys,
                &low[..ranks],
                ties,
                first,
                |sum, mark| sum + mark,
                |low, tie| low + 0.5 * tie,
                below,
            );
        }
        let Marks { low, ties, has_ties } = &self.marks;
        let ties = has_ties.then_some(&ties[..ranks]);
        // What hi adds is never positive on the way up.
        let place = |low: u32, tie: u32| f64::from(low) - 0.5 * f64::from(tie.wrapping_neg());
        running_sums(keys, &low[..ranks], ties, first, u32::wrapping_add, place, below);
    }
}

/// Sums of marks up to each rank, and half of the marks of ties. Rows that tie with each other are placed like the first of
/// them.
fn running_sums<N: Copy + Default>(
    keys: &[f64],
    low: &[N],
    ties: Option<&[N]>,
    first: f64,
    add: impl Fn(N, N) -> N,
    place: impl Fn(N, N) -> f64,
    below: &mut Vec<f64>,
) {
    let mut sum = N::default();
    let Some(ties) = ties else {
        below.extend(low.iter().map(|&mark| {
            sum = add(sum, mark);
            first + place(sum, N::default())
        }));
        return;
    };
    let (mut tie_sum, mut current, mut previous) = (N::default(), 0.0, f64::NAN);
    for ((&key, &mark), &tie) in keys.iter().zip(low).zip(ties) {
        (sum, tie_sum) = (add(sum, mark), add(tie_sum, tie));
        if key != previous {
            (previous, current) = (key, first + place(sum, tie_sum));
        }
        below.push(current);
    }
}

/// The work of `PlacementTable::look_up_more` for rows without weights.
struct LookUp<'t, T, N, F> {
    table: &'t mut PlacementTable,
    keys: &'t [T],
    near: Nearness<N>,
    finish: F,
    below: &'t mut [f64],
}

impl<T: Score, N: Fn(f64) -> bool, F: Fn(f64) -> f64> Vectorizable for LookUp<'_, T, N, F> {
    type Output = LookupTotals;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> LookupTotals {
        let Self { table, keys, near, finish, below } = self;
        let mut totals = LookupTotals::default();
        let (mut block, mut indices) = ([0.0; BLOCK], [0_u32; BLOCK]);
        for (keys, places) in keys.chunks(BLOCK).zip(below.chunks_mut(BLOCK)) {
            block.iter_mut().zip(keys).for_each(|(entry, &key)| *entry = key.into());
            table.ranked.indices(&block[..keys.len()], &mut indices);
            table.ranked.prefetch(simd, &indices[..keys.len()], &table.marks.low);
            let mut tied = 0;
            for ((entry, &key), &index) in places.iter_mut().zip(&block).zip(&indices) {
                let (low, high) = table.ranked.ranks_of(simd, key, index);
                totals.doubled_below += (low + high) as u64;
                *entry = (low + high) as f64;
                table.marks.low[low] += 1;
                if low != high {
                    table.marks.ties[low] = table.marks.ties[low].wrapping_sub(1);
                    table.marks.ties[high] = table.marks.ties[high].wrapping_add(1);
                    tied += high - low;
                }
                totals.is_near |= table.ranked.is_near(key, low, &near);
            }
            table.marks.has_ties |= tied > 0;
            if totals.is_near {
                break;
            }
            totals.ties += tied as f64;
            for entry in places {
                *entry = finish(0.5 * *entry);
            }
        }
        totals
    }
}

/// The same for rows with weights.
struct WeightedLookUp<'t, T, N, F> {
    table: &'t mut PlacementTable,
    keys: &'t [T],
    weights: &'t [f64],
    near: Nearness<N>,
    finish: F,
    below: &'t mut [f64],
    outside: [f64; 2],
}

impl<T: Score, N: Fn(f64) -> bool, F: Fn(f64) -> f64> Vectorizable for WeightedLookUp<'_, T, N, F> {
    type Output = LookupTotals;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> LookupTotals {
        let Self { table, keys, weights, near, finish, below, outside } = self;
        let outside = WeightedWins { won: 2.0 * outside[0], lost: 2.0 * outside[1] };
        let mut totals = LookupTotals::default();
        let (mut block, mut indices) = ([0.0; BLOCK], [0_u32; BLOCK]);
        let chunks = keys.chunks(BLOCK).zip(weights.chunks(BLOCK));
        for ((keys, weights), places) in chunks.zip(below.chunks_mut(BLOCK)) {
            block.iter_mut().zip(keys).for_each(|(entry, &key)| *entry = key.into());
            table.ranked.indices(&block[..keys.len()], &mut indices);
            table.ranked.prefetch(simd, &indices[..keys.len()], table.weights.as_slice());
            table.ranked.prefetch(simd, &indices[..keys.len()], &table.weighted_marks.low);
            for (((entry, &weight), &key), &index) in places.iter_mut().zip(weights).zip(&block).zip(&indices) {
                let (low, high) = table.ranked.ranks_of(simd, key, index);
                let wins = table.weights.wins_at(low, high);
                totals.weighted.add(weight, wins.plus(outside));
                *entry = finish(0.5 * wins.won);
                let Marks { low: marks, ties, has_ties } = &mut table.weighted_marks;
                marks[low] += weight;
                if low != high {
                    ties[low] -= weight;
                    ties[high] += weight;
                    *has_ties = true;
                    totals.ties += weight * table.weights.between(low, high);
                }
                totals.is_near |= table.ranked.is_near(key, low, &near);
            }
            if totals.is_near {
                break;
            }
        }
        totals
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn both_sides_are_placed_as_by_all_pairs(
            table in prop::collection::vec((-40_i32..40, -1.0..1.0_f64), 1..600),
            keys in prop::collection::vec((-45_i32..45, -1.0..1.0_f64), 1..300),
            tied_proportion in 0.0..1.0_f64,
            weighted: bool,
        ) {
            let pick = |(k, x): (i32, f64)| if x.abs() < tied_proportion { f64::from(k) / 20.0 } else { x };
            let table: Vec<f64> = table.into_iter().map(pick).collect();
            let keys: Vec<f64> = keys.into_iter().map(pick).collect();
            let weights = |count: usize| (0..count).map(|i| f64::from(1 + (i % 4) as u32)).collect::<Vec<f64>>();
            let (of_table, of_keys) = (weights(table.len()), weights(keys.len()));
            let weights = |weights| Some(weights).filter(|_| weighted);
            let weight = |weights: &[f64], i: usize| if weighted { weights[i] } else { 1.0 };
            let credit = |a: f64, b: f64| f64::from(u8::from(a > b)) + 0.5 * f64::from(u8::from(a == b));

            let mut placed = PlacementTable::default();
            placed.build(&table, weights(&of_table[..]));
            let (mut below, mut by_rank) = (vec![0.0; keys.len()], Vec::new());
            let totals = placed.look_up(&keys, weights(&of_keys[..]), Nearness::NEVER, |below| below, &mut below);
            placed.below_by_rank(0.0, &mut by_rank);

            let mut doubled = 0.0;
            for (i, &x) in keys.iter().enumerate() {
                let expected: f64 = table.iter().enumerate().map(|(j, &v)| weight(&of_table, j) * credit(x, v)).sum();
                prop_assert_eq!(below[i], expected);
                doubled += 2.0 * weight(&of_keys, i) * expected;
            }
            if weighted {
                let all = of_table.iter().sum::<f64>() * of_keys.iter().sum::<f64>();
                prop_assert_eq!(totals.weighted, WeightedWins { won: doubled, lost: 2.0 * all - doubled });
            } else {
                prop_assert_eq!(totals.doubled_below as f64, doubled);
            }
            for (&row, &found) in placed.ranked.rows().iter().zip(&by_rank) {
                let value = |(i, &x): (usize, &f64)| weight(&of_keys, i) * credit(table[row as usize], x);
                prop_assert_eq!(found, keys.iter().enumerate().map(value).sum::<f64>());
            }
            let has_ties = keys.iter().any(|x| table.contains(x));
            prop_assert_eq!((totals.is_near, totals.ties > 0.0), (false, has_ties));
            let near = Nearness { tolerance: Some(0.0), is_settled: |_| false };
            let totals = placed.look_up(&keys, weights(&of_keys[..]), near, |below| below, &mut below);
            prop_assert_eq!(totals.is_near, has_ties);
        }
    }

    #[test]
    fn neighbours_within_the_tolerance_are_noticed() {
        let mut table = PlacementTable::default();
        table.build(&[0.0, 1.0, 2.0], None);
        let near = Nearness { tolerance: Some(0.25), is_settled: |_| false };
        let mut is_near = |key: f64| table.look_up(&[key], None, near, |below| below, &mut [0.0]).is_near;
        assert!(is_near(1.25) && is_near(0.75) && is_near(-0.125) && is_near(2.25));
        assert!(!is_near(1.5) && !is_near(-1.0) && !is_near(3.0));
    }
}
