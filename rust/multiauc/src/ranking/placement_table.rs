//! Placements by a table of one class: where its rows stand among those of another class, and the other way round.
//!
//! The rows of the class are sorted once. A key x of another class is looked up, lo(x) = #(v < x) and hi(x) = #(v ≤ x), and
//! leaves a mark at each of the two ranks; the marks summed up to the rank of a table row count the other class's rows
//! below it. So the looked-up class is never sorted, and is read and written in its own order.

use super::bucket_map::{BLOCK, BucketMap};
use super::ordered_rows::OrderedRows;
use super::weighted_wins::{RunningWeights, WeightedWins};
use crate::simd::{Simd, Vectorizable, run_widest};

/// Keys that are compared at once; buckets with more are searched by bisection.
const LANES: usize = 8;

/// One class sorted by its keys, with reusable memory.
#[derive(Debug, Default)]
pub(crate) struct PlacementTable {
    ordered: OrderedRows,
    /// The sorted keys, then eight infinities so that eight keys can be read from any start.
    keys: Vec<f64>,
    /// The weight of the rows below each rank; empty where rows have no weights.
    weights: RunningWeights,
    /// The weight looked up, by lo; and what hi adds to that: +w at hi and −w at lo, where they differ.
    marks: Vec<f64>,
    tie_marks: Vec<f64>,
    has_ties: bool,
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
    /// Whether a key lies within the tolerance of a table key.
    pub is_near: bool,
}

impl PlacementTable {
    /// Fills the table with the keys of rows 0, 1, … of a class.
    pub(crate) fn build(&mut self, keys: impl Iterator<Item = f64>, weights: Option<&[f64]>) {
        self.ordered.clear();
        self.ordered.extend(0, 0, keys);
        self.ordered.sort();
        self.keys.clear();
        self.keys.extend(self.ordered.rows().iter().map(|row| row.key));
        self.keys.extend([f64::INFINITY; LANES]);
        self.weights.clear();
        if let Some(weights) = weights {
            self.weights.fill(self.ordered.rows().iter().map(|row| weights[row.row as usize]));
        }
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.ordered.rows().len()
    }

    /// The row at each rank.
    pub(crate) fn rows(&self) -> impl Iterator<Item = usize> {
        self.ordered.rows().iter().map(|row| row.row as usize)
    }

    /// Looks the keys of another class up. `below[i]` becomes the weight of the table below key i, ties counting half;
    /// the marks of an earlier class are discarded.
    pub(crate) fn look_up(
        &mut self,
        keys: impl Iterator<Item = f64>,
        weights: Option<&[f64]>,
        near: Option<f64>,
        is_settled: impl Fn(f64) -> bool,
        below: &mut [f64],
    ) -> LookupTotals {
        let ranks = self.len() + 1;
        for marks in [&mut self.marks, &mut self.tie_marks] {
            marks.clear();
            marks.resize(ranks, 0.0);
        }
        self.has_ties = false;
        run_widest(LookUp { table: self, keys, weights, near, is_settled, below })
    }

    /// For the row at each rank, the weight of the looked-up class below it, ties counting half.
    pub(crate) fn below_by_rank(&self, below: &mut Vec<f64>) {
        below.clear();
        let (mut sum, mut previous) = (0.0, f64::NAN);
        if !self.has_ties {
            below.extend(self.marks[..self.len()].iter().map(|mark| {
                sum += mark;
                sum
            }));
            return;
        }
        let (mut tie_sum, mut current) = (0.0, 0.0);
        for (rank, &key) in self.keys[..self.len()].iter().enumerate() {
            sum += self.marks[rank];
            tie_sum += self.tie_marks[rank];
            // Rows that tie with each other are placed like the first of them.
            if key != previous {
                (previous, current) = (key, sum + 0.5 * tie_sum);
            }
            below.push(current);
        }
    }

    /// #(v < key) and #(v ≤ key).
    #[inline(always)]
    fn ranks_of<S: Simd>(&self, simd: S, key: f64, index: u32) -> (usize, usize) {
        let (start, end) = self.ordered.bucket(index);
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
        (start + low, start + high)
    }
}

/// The work of `PlacementTable::look_up`.
struct LookUp<'t, I, F> {
    table: &'t mut PlacementTable,
    keys: I,
    weights: Option<&'t [f64]>,
    near: Option<f64>,
    is_settled: F,
    below: &'t mut [f64],
}

impl<I: Iterator<Item = f64>, F: Fn(f64) -> bool> Vectorizable for LookUp<'_, I, F> {
    type Output = LookupTotals;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> LookupTotals {
        let Self { table, mut keys, weights, near, is_settled, below } = self;
        let mut totals = LookupTotals::default();
        let (mut block, mut indices) = ([0.0; BLOCK], [0_u32; BLOCK]);
        for (chunk, places) in below.chunks_mut(BLOCK).enumerate() {
            for (entry, key) in block.iter_mut().zip(keys.by_ref().take(places.len())) {
                *entry = key;
            }
            table.ordered.bucket_indices(&block[..places.len()], &mut indices);
            for (place, ((entry, &key), &index)) in places.iter_mut().zip(&block).zip(&indices).enumerate() {
                let weight = weights.map_or(1.0, |weights| weights[chunk * BLOCK + place]);
                let (low, high) = table.ranks_of(simd, key, index);
                let doubled = if table.weights.is_empty() {
                    totals.doubled_below += (low + high) as u64;
                    (low + high) as f64
                } else {
                    let wins = table.weights.wins_at(low, high);
                    totals.weighted.add(weight, wins);
                    wins.won
                };
                *entry = 0.5 * doubled;
                table.marks[low] += weight;
                if low != high {
                    table.tie_marks[low] -= weight;
                    table.tie_marks[high] += weight;
                    table.has_ties = true;
                    let tied =
                        if table.weights.is_empty() { (high - low) as f64 } else { table.weights.between(low, high) };
                    totals.ties += weight * tied;
                }
                if let Some(tolerance) = near {
                    let reaches_up = table.keys[low] <= key + tolerance;
                    let reaches_down = low > 0 && table.keys[low - 1] >= key - tolerance;
                    totals.is_near |= (reaches_up || reaches_down) && !is_settled(key);
                }
            }
        }
        totals
    }
}

/// How rows were spread when they were sorted, so that other keys find their place among them.
#[derive(Debug)]
pub(super) struct Spread {
    pub map: BucketMap<f64>,
    /// `starts[b]..starts[b + 1]` are the rows of bucket b.
    pub starts: Vec<u32>,
}

impl Default for Spread {
    fn default() -> Self {
        Self { map: BucketMap::ONE_BUCKET, starts: Vec::new() }
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
            placed.build(table.iter().copied(), weights(&of_table[..]));
            let (mut below, mut by_rank) = (vec![0.0; keys.len()], Vec::new());
            let totals = placed.look_up(keys.iter().copied(), weights(&of_keys[..]), Some(0.0), |_| false, &mut below);
            placed.below_by_rank(&mut by_rank);

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
            for (row, &found) in placed.rows().zip(&by_rank) {
                let value = |(i, &x): (usize, &f64)| weight(&of_keys, i) * credit(table[row], x);
                prop_assert_eq!(found, keys.iter().enumerate().map(value).sum::<f64>());
            }
            let has_ties = keys.iter().any(|x| table.contains(x));
            prop_assert_eq!((totals.is_near, totals.ties > 0.0), (has_ties, has_ties));
        }
    }

    #[test]
    fn neighbours_within_the_tolerance_are_noticed() {
        let mut table = PlacementTable::default();
        table.build([0.0, 1.0, 2.0].into_iter(), None);
        let mut is_near =
            |key: f64| table.look_up(std::iter::once(key), None, Some(0.25), |_| false, &mut [0.0]).is_near;
        assert!(is_near(1.25) && is_near(0.75) && is_near(-0.125) && is_near(2.25));
        assert!(!is_near(1.5) && !is_near(-1.0) && !is_near(3.0));
    }
}
