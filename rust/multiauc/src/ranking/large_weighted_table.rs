//! Large weighted classes: both sides are split by value into parts, which are ranked on all threads and stay in the
//! cache.

use super::key_stream::{PART_KEYS, PartMap, SAMPLE};
use super::placement_lookup::{SpanByPart, outside_parts, split, weights_by_part};
use super::placement_table::Nearness;
use super::weighted_table::WeightedTable;
use super::weighted_wins::WeightedWins;
use crate::error::Result;
use crate::float::Score;
use crate::memory::Buffers;
use crate::parallel::Workers;

/// Tables of fewer rows are not split: they stay in the cache as they are.
pub(crate) const FEWEST_SPLIT_ROWS: usize = 1 << 17;

/// A side of weighted rows.
pub(crate) type WeightedSide<'k, T> = (&'k [T], &'k [f64]);

/// A table of weighted rows in parts.
pub(crate) struct LargeWeightedTable {
    map: PartMap<f64>,
    parts: Vec<WeightedTable>,
    /// The weight of the table below and above each part.
    outside: Vec<[f64; 2]>,
    buffers: Buffers<f64>,
}

/// The rows of a span by part, with their weights.
struct WeightedSpan {
    keys: SpanByPart,
    weights: Vec<f64>,
}

impl WeightedSpan {
    fn weights_of(&self, part: usize) -> &[f64] {
        self.keys.part_of_like(&self.weights, part)
    }
}

impl LargeWeightedTable {
    /// Of rows that may be looked up with a tolerance `near`.
    pub(crate) fn new<T: Score>(table: WeightedSide<'_, T>, near: Option<f64>, workers: &Workers<'_>) -> Result<Self> {
        Self::with_parts(table, PART_KEYS, near, workers)
    }

    /// The same in parts of about `part_keys` rows.
    fn with_parts<T: Score>(
        (keys, weights): WeightedSide<'_, T>,
        part_keys: usize,
        near: Option<f64>,
        workers: &Workers<'_>,
    ) -> Result<Self> {
        let sample: Vec<f64> = keys.iter().step_by((keys.len() / SAMPLE).max(1)).map(|&key| key.into()).collect();
        let map = PartMap::new(&sample, keys.len(), part_keys);
        let buffers = Buffers::default();
        let (spans, _) = split_weighted(&map, (keys, weights), None, &buffers, workers)?;
        let parts = workers.map(map.parts, |part| {
            let length = spans.iter().map(|span| span.keys.of(part).len()).sum();
            let (mut keys, mut weights) = (buffers.take(length), buffers.take(length));
            keys.clear();
            weights.clear();
            for span in &spans {
                keys.extend_from_slice(span.keys.of(part));
                weights.extend_from_slice(span.weights_of(part));
            }
            let mut table = WeightedTable::default();
            table.build(&keys, &weights, near);
            buffers.give_back(keys);
            buffers.give_back(weights);
            Ok(table)
        })?;
        give_back(spans, &buffers);
        let outside = outside_parts(&parts.iter().map(WeightedTable::weight).collect::<Vec<_>>());
        Ok(Self { map, parts, outside, buffers })
    }

    /// What some rows win against the table; `None` if one of them is too close to a row of the table to tell apart.
    pub(crate) fn wins_of<T: Score>(
        &self,
        side: WeightedSide<'_, T>,
        nearness: Nearness<impl Fn(f64) -> bool + Copy + Sync>,
        workers: &Workers<'_>,
    ) -> Result<Option<WeightedWins>> {
        let (spans, at_borders) = split_weighted(&self.map, side, nearness.tolerance, &self.buffers, workers)?;
        let mut is_near = at_borders.iter().any(|&key| !(nearness.is_settled)(key));
        let mut wins = WeightedWins::default();
        if !is_near {
            let found = workers.map(self.parts.len(), |part| {
                let (mut wins, mut near) = (WeightedWins::default(), Vec::new());
                for span in &spans {
                    let (keys, weights) = (span.keys.of(part), span.weights_of(part));
                    let of_span = self.parts[part].wins_between(keys, weights, nearness, &mut near, self.outside[part]);
                    wins = wins.plus(of_span);
                }
                Ok((wins, !near.is_empty()))
            })?;
            for (of_part, is_part_near) in found {
                wins = wins.plus(of_part);
                is_near |= is_part_near;
            }
        }
        give_back(spans, &self.buffers);
        Ok((!is_near).then_some(wins))
    }
}

/// Splits a side. Also returns the keys whose neighbourhood reaches into another part.
fn split_weighted<T: Score>(
    map: &PartMap<f64>,
    (keys, weights): WeightedSide<'_, T>,
    near: Option<f64>,
    buffers: &Buffers<f64>,
    workers: &Workers<'_>,
) -> Result<(Vec<WeightedSpan>, Vec<f64>)> {
    let (spans, at_borders) = split(map, keys, near, buffers, workers)?;
    let weights = weights_by_part(&spans, weights, buffers, workers)?;
    Ok((spans.into_iter().zip(weights).map(|(keys, weights)| WeightedSpan { keys, weights }).collect(), at_borders))
}

fn give_back(spans: Vec<WeightedSpan>, buffers: &Buffers<f64>) {
    for WeightedSpan { keys, weights } in spans {
        buffers.give_back(keys.values.keys);
        buffers.give_back(weights);
    }
}

#[cfg(test)]
mod tests {
    use super::super::placement_lookup::SPAN;
    use super::super::placement_lookup::tests::numbers;
    use super::*;
    use crate::parallel::Cancel;

    #[test]
    fn parts_win_like_one_table() {
        let (table, keys) = (numbers(SPAN + 4321, 7, 3), numbers(2 * SPAN + 77, 11, 5));
        let whole = |count: usize| -> Vec<f64> { (0..count).map(|row| f64::from((row % 5) as u32)).collect() };
        let (of_table, of_keys) = (whole(table.len()), whole(keys.len()));
        let mut one = WeightedTable::default();
        one.build(&table, &of_table, None);
        let expected = one.wins_of(&keys, &of_keys, Nearness::NEVER, &mut Vec::new());
        for threads in [1, 3] {
            let cancel = Cancel::new();
            let workers = Workers::with_threads(threads, &cancel);
            let table_in_parts =
                LargeWeightedTable::with_parts((&table, &of_table), 1000, Some(0.0), &workers).expect("a table");
            assert!(table_in_parts.parts.len() > 1, "the table has parts");
            let found = table_in_parts.wins_of((&keys, &of_keys), Nearness::NEVER, &workers).expect("wins");
            assert_eq!(found, Some(expected));
            let near = Nearness { tolerance: Some(0.0), is_settled: |_| false };
            assert_eq!(table_in_parts.wins_of((&keys, &of_keys), near, &workers).expect("wins"), None);
            let above: Vec<f64> = keys.iter().map(|key| key + 1.5).collect();
            let found = table_in_parts.wins_of((&above, &of_keys), near, &workers).expect("wins").expect("all are far");
            assert_eq!((found.lost, found.share()), (0.0, 1.0));
        }
    }

    #[test]
    fn neighbours_across_a_border_are_noticed() {
        let cancel = Cancel::new();
        let workers = Workers::with_threads(1, &cancel);
        let table: Vec<f64> = (0..2_000).map(f64::from).collect();
        let table_in_parts =
            LargeWeightedTable::with_parts((&table, &vec![1.0; table.len()]), 100, Some(0.3), &workers)
                .expect("a table");
        let near = Nearness { tolerance: Some(0.3), is_settled: |_| false };
        for row in 0..2_000 {
            for key in [f64::from(row) + 0.25, f64::from(row) - 0.25] {
                assert_eq!(table_in_parts.wins_of((&[key], &[1.0]), near, &workers).expect("wins"), None, "{key}");
            }
        }
    }
}
