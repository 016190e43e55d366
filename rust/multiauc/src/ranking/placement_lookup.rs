//! Placements by a large table: both classes are split by value into parts, which are ranked on all threads and stay in
//! the cache.
//!
//! A class is split in spans of rows. The keys of a span are grouped by part, rows of one part in their own order, so that
//! what is found for the parts is put back by going through the rows of the span once more: nothing is read or written at
//! random places of a large array.

use super::bucket_table::Lookup;
use super::counted_table::CountedTable;
use super::key_stream::{KeysByPart, PART_KEYS, PartMap, SAMPLE, SplitKeys};
use super::placement_table::{Arrangement, LookupTotals, Nearness, PlacementTable};
use crate::error::Result;
use crate::float::Score;
use crate::memory::{self, Buffers, make_room, set_length};
use crate::parallel::Workers;
use crate::simd::run_widest;

/// Tables of fewer rows are one part: they stay in the cache as they are.
const FEWEST_SPLIT_ROWS: usize = 1 << 18;
/// Rows per span.
pub(super) const SPAN: usize = 1 << 16;

/// One class sorted by its keys, in one part or in many, with reusable memory.
#[derive(Debug, Default)]
pub(crate) struct PlacementLookup {
    /// `None`: one part, and rows are not split.
    map: Option<PartMap<f64>>,
    parts: Vec<PlacementTable>,
    /// How the rows of the table were split.
    spans: Vec<SpanByPart>,
    /// Ranks below each part.
    ranks_below: Vec<usize>,
    /// Rows looked up in all parts below each, by weight where there are weights.
    rows_below: Vec<f64>,
    /// Weight of the table below and above each part, where there are weights.
    outside: Vec<[f64; 2]>,
    buffers: Buffers<f64>,
    /// For keys that are counted, not sorted: then there are no parts.
    counted: CountedTable,
    is_counted: bool,
}

/// The rows of a span by part.
#[derive(Debug)]
pub(super) struct SpanByPart {
    /// The part of each row.
    part_of: Vec<u16>,
    /// Its keys by part, or what takes their place.
    pub(super) values: KeysByPart<f64>,
}

impl PlacementLookup {
    /// Fills the table with the keys of rows 0, 1, … of a class. If `multiples` is some m, all keys that will be looked up
    /// as well are multiples of 1/m.
    pub(crate) fn build<T: Score>(
        &mut self,
        keys: &[T],
        weights: Option<&[f64]>,
        multiples: Option<f64>,
        arrangement: Arrangement,
        workers: &Workers<'_>,
    ) -> Result<()> {
        self.is_counted = match multiples.filter(|_| weights.is_none()) {
            Some(m) => self.counted.build(keys, m, workers)?,
            None => false,
        };
        if self.is_counted {
            return Ok(());
        }
        if keys.len() >= FEWEST_SPLIT_ROWS {
            return self.build_parts(keys, weights, (arrangement, PART_KEYS), workers);
        }
        self.map = None;
        self.parts.resize_with(1, PlacementTable::default);
        self.parts[0].build_arranged(keys, weights, arrangement);
        Ok(())
    }

    /// The same in parts of about `part_keys` rows.
    fn build_parts<T: Score>(
        &mut self,
        keys: &[T],
        weights: Option<&[f64]>,
        (arrangement, part_keys): (Arrangement, usize),
        workers: &Workers<'_>,
    ) -> Result<()> {
        give_back(std::mem::take(&mut self.spans), &self.buffers);
        let sample: Vec<f64> = keys.iter().step_by((keys.len() / SAMPLE).max(1)).map(|&key| key.into()).collect();
        let map = PartMap::new(&sample, keys.len(), part_keys);
        (self.spans, _) = split(&map, keys, None, &self.buffers, workers)?;
        self.parts.resize_with(map.parts, PlacementTable::default);
        let (spans, buffers) = (&self.spans, &self.buffers);
        let of_spans = weights.map(|weights| weights_by_part(spans, weights, buffers, workers)).transpose()?;
        workers.map_chunks(&mut self.parts, 1, |part, table| {
            let mut keys = buffers.take(spans.iter().map(|span| span.of(part).len()).sum());
            keys.clear();
            for span in spans {
                keys.extend_from_slice(span.of(part));
            }
            let weights = of_spans.as_ref().map(|of_spans| -> Vec<f64> {
                spans
                    .iter()
                    .zip(of_spans)
                    .flat_map(|(span, weights)| span.part_of_like(weights, part))
                    .copied()
                    .collect()
            });
            table[0].build_arranged(&keys, weights.as_deref(), arrangement);
            buffers.give_back(keys);
            Ok(())
        })?;
        self.outside = match of_spans {
            Some(of_spans) => {
                for weights in of_spans {
                    self.buffers.give_back(weights);
                }
                outside_parts(&self.parts.iter().map(PlacementTable::weight).collect::<Vec<_>>())
            }
            None => Vec::new(),
        };
        self.ranks_below = running_counts(self.parts.iter().map(PlacementTable::len));
        self.map = Some(map);
        Ok(())
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        if self.is_counted {
            return self.counted.len();
        }
        self.parts.iter().map(PlacementTable::len).sum()
    }

    /// Looks the keys of another class up. `below[i]` becomes the weight of the table below key i, ties counting half,
    /// as `finish` changes it.
    pub(crate) fn look_up<T: Score>(
        &mut self,
        (keys, weights): (&[T], Option<&[f64]>),
        near: Nearness<impl Fn(f64) -> bool + Copy + Sync>,
        finish: impl Fn(f64) -> f64 + Sync,
        below: &mut [f64],
        workers: &Workers<'_>,
    ) -> Result<LookupTotals> {
        if self.is_counted {
            return self.counted.look_up(keys, finish, below, workers);
        }
        let Some(map) = &self.map else {
            return Ok(self.parts[0].look_up(keys, weights, near, finish, below));
        };
        let (mut spans, at_borders) = split(map, keys, near.tolerance, &self.buffers, workers)?;
        let of_spans = weights.map(|weights| weights_by_part(&spans, weights, &self.buffers, workers)).transpose()?;
        let starts: Vec<Vec<usize>> = spans.iter().map(|span| span.values.starts.clone()).collect();
        let weights_in = |part: usize, span: usize| {
            of_spans.as_ref().map(|of_spans| &of_spans[span][starts[span][part]..starts[span][part + 1]])
        };
        let mass = |part: usize| match &of_spans {
            None => spans.iter().map(|span| span.of(part).len()).sum::<usize>() as f64,
            Some(_) => (0..starts.len()).filter_map(|span| weights_in(part, span)).flatten().sum(),
        };
        self.rows_below = running_sums_of((0..map.parts).map(mass));
        let mut tasks: Vec<_> = self.parts.iter_mut().zip(by_part(&mut spans, map.parts)).collect();
        let (ranks_below, outside, finish, buffers) = (&self.ranks_below, &self.outside, &finish, &self.buffers);
        let found = workers.map_chunks(&mut tasks, 1, |part, task| {
            let (table, slices) = &mut task[0];
            let (below, mut totals) = (ranks_below[part], LookupTotals::default());
            let mut memory = buffers.take(slices.iter().map(|slice| slice.len()).max().unwrap_or(0));
            table.clear_marks();
            for (span, slice) in slices.iter_mut().enumerate() {
                let keys = &mut memory[..slice.len()];
                keys.copy_from_slice(slice);
                let keys = &*keys;
                let of_slice = match weights_in(part, span) {
                    None => table.look_up_more(keys, None, near, |within| finish(below as f64 + within), slice),
                    Some(weights) => {
                        let outside = outside[part];
                        let finish = |within: f64| finish(outside[0] + within);
                        table.look_up_between(keys, weights, near, finish, slice, outside)
                    }
                };
                totals.doubled_below += of_slice.doubled_below + 2 * (below * keys.len()) as u64;
                totals.weighted = totals.weighted.plus(of_slice.weighted);
                totals.ties += of_slice.ties;
                totals.is_near |= of_slice.is_near;
                if totals.is_near {
                    break;
                }
            }
            buffers.give_back(memory);
            Ok(totals)
        })?;
        drop(tasks);
        put_back(&spans, below, workers)?;
        give_back(spans, &self.buffers);
        of_spans.into_iter().flatten().for_each(|weights| self.buffers.give_back(weights));
        let mut totals =
            LookupTotals { is_near: at_borders.iter().any(|&key| !(near.is_settled)(key)), ..Default::default() };
        for of_part in found {
            totals.doubled_below += of_part.doubled_below;
            totals.weighted = totals.weighted.plus(of_part.weighted);
            totals.ties += of_part.ties;
            totals.is_near |= of_part.is_near;
        }
        Ok(totals)
    }

    /// For the row at each rank, the weight of the looked-up class below it, ties counting half.
    pub(crate) fn below_by_rank(&self, below: &mut Vec<f64>, workers: &Workers<'_>) -> Result<()> {
        if self.is_counted || self.map.is_none() {
            make_room(below, self.len());
            if self.is_counted {
                self.counted.below_by_rank(below);
            } else {
                self.parts[0].below_by_rank(0.0, below);
            }
            return Ok(());
        }
        set_length(below, self.len());
        let of_parts = memory::split(below, self.parts.iter().map(PlacementTable::len));
        let mut tasks: Vec<_> = self.parts.iter().zip(of_parts).collect();
        workers.map_chunks(&mut tasks, 1, |part, task| {
            let (table, own) = &mut task[0];
            let mut found = self.buffers.take(own.len());
            found.clear();
            table.below_by_rank(self.rows_below[part], &mut found);
            own.copy_from_slice(&found);
            self.buffers.give_back(found);
            Ok(())
        })?;
        Ok(())
    }

    /// Writes `finish(by_rank[r])` to the place of the row of rank r.
    pub(crate) fn by_row(
        &mut self,
        by_rank: &[f64],
        finish: impl Fn(f64) -> f64 + Sync,
        by_row: &mut [f64],
        workers: &Workers<'_>,
    ) -> Result<()> {
        if self.is_counted {
            self.counted.by_row(by_rank, finish, by_row);
            return Ok(());
        }
        if self.map.is_none() {
            self.parts[0].by_row(by_rank, finish, by_row);
            return Ok(());
        }
        let (parts, ranks_below, buffers) = (&self.parts, &self.ranks_below, &self.buffers);
        let mut tasks = by_part(&mut self.spans, parts.len());
        workers.map_chunks(&mut tasks, 1, |part, slices| {
            let by_rank = &by_rank[ranks_below[part]..][..parts[part].len()];
            write_by_row(&parts[part], by_rank, &finish, &mut slices[0], buffers);
            Ok(())
        })?;
        put_back(&self.spans, by_row, workers)
    }

    /// `below_by_rank`, then `by_row` of it, in the memory of `by_rank`.
    pub(crate) fn below_by_row(
        &mut self,
        by_rank: &mut Vec<f64>,
        finish: impl Fn(f64) -> f64 + Sync,
        by_row: &mut [f64],
        workers: &Workers<'_>,
    ) -> Result<()> {
        if self.is_counted || self.map.is_none() {
            self.below_by_rank(by_rank, workers)?;
            return self.by_row(by_rank, finish, by_row, workers);
        }
        // Part by part, while each is in the cache.
        let (parts, rows_below, buffers) = (&self.parts, &self.rows_below, &self.buffers);
        let mut tasks = by_part(&mut self.spans, parts.len());
        workers.map_chunks(&mut tasks, 1, |part, slices| {
            let mut by_rank = buffers.take(parts[part].len());
            by_rank.clear();
            parts[part].below_by_rank(rows_below[part], &mut by_rank);
            write_by_row(&parts[part], &by_rank, &finish, &mut slices[0], buffers);
            buffers.give_back(by_rank);
            Ok(())
        })?;
        put_back(&self.spans, by_row, workers)
    }
}

impl SpanByPart {
    /// The values of a part.
    pub(super) fn of(&self, part: usize) -> &[f64] {
        &self.values.keys[self.values.starts[part]..self.values.starts[part + 1]]
    }

    /// Of other numbers that were brought into the same order, those of a part.
    pub(super) fn part_of_like<'w>(&self, by_part: &'w [f64], part: usize) -> &'w [f64] {
        &by_part[self.values.starts[part]..self.values.starts[part + 1]]
    }

    /// Other numbers of the same rows, by part.
    fn like(&self, by_row: &[f64], mut by_part: Vec<f64>) -> Vec<f64> {
        let mut places = self.values.starts.clone();
        for (&value, &part) in by_row.iter().zip(&self.part_of) {
            let place = &mut places[part as usize];
            by_part[*place] = value;
            *place += 1;
        }
        by_part
    }
}

/// Splits the keys of a class. Also returns the keys whose neighbourhood reaches into another part.
pub(super) fn split<T: Score>(
    map: &PartMap<f64>,
    keys: &[T],
    near: Option<f64>,
    buffers: &Buffers<f64>,
    workers: &Workers<'_>,
) -> Result<(Vec<SpanByPart>, Vec<f64>)> {
    let span_keys = |span: usize| &keys[span * SPAN..keys.len().min((span + 1) * SPAN)];
    let found = workers.map_with(keys.len().div_ceil(SPAN), Vec::new, |memory: &mut Vec<f64>, span| {
        let doubles = T::doubles(span_keys(span), memory);
        let (mut part_of, mut at_borders) = (Vec::new(), Vec::new());
        let values = run_widest(SplitKeys {
            keys: doubles,
            lookup: Lookup { negate: false, near },
            map,
            parts: &mut part_of,
            buffer: buffers.take(doubles.len()),
            at_borders: &mut at_borders,
        });
        Ok((SpanByPart { part_of, values }, at_borders))
    })?;
    let (spans, at_borders): (Vec<_>, Vec<_>) = found.into_iter().unzip();
    Ok((spans, at_borders.concat()))
}

/// The weights of a class in the order of its keys.
pub(super) fn weights_by_part(
    spans: &[SpanByPart],
    weights: &[f64],
    buffers: &Buffers<f64>,
    workers: &Workers<'_>,
) -> Result<Vec<Vec<f64>>> {
    workers.map(spans.len(), |span| {
        let of_span = &weights[span * SPAN..weights.len().min((span + 1) * SPAN)];
        Ok(spans[span].like(of_span, buffers.take(of_span.len())))
    })
}

/// The weight below and above each part: summed from both ends, so that nothing lies below the first and above the last.
pub(super) fn outside_parts(weights: &[f64]) -> Vec<[f64; 2]> {
    let below = running_sums_of(weights.iter().copied());
    let above = running_sums_of(weights.iter().rev().copied());
    below.into_iter().zip(above.into_iter().rev()).map(|(below, above)| [below, above]).collect()
}

/// The values of each part: a slice of every span.
fn by_part(spans: &mut [SpanByPart], parts: usize) -> Vec<Vec<&mut [f64]>> {
    let mut slices: Vec<Vec<&mut [f64]>> = (0..parts).map(|_| Vec::with_capacity(spans.len())).collect();
    for SpanByPart { values: KeysByPart { starts, keys }, .. } in spans {
        let mut rest = &mut keys[..];
        for (slices, ends) in slices.iter_mut().zip(starts.windows(2)) {
            let (own, after) = rest.split_at_mut(ends[1] - ends[0]);
            slices.push(own);
            rest = after;
        }
    }
    slices
}

/// Writes `finish(by_rank[r])` for the row of rank r of a part to the place of the row among the slices of the part.
fn write_by_row(
    table: &PlacementTable,
    by_rank: &[f64],
    finish: impl Fn(f64) -> f64,
    slices: &mut [&mut [f64]],
    buffers: &Buffers<f64>,
) {
    let mut values = buffers.take(by_rank.len());
    table.by_row(by_rank, finish, &mut values);
    let mut rest = &values[..];
    for slice in slices {
        let (own, after) = rest.split_at(slice.len());
        slice.copy_from_slice(own);
        rest = after;
    }
    buffers.give_back(values);
}

/// Writes the values of the spans in the order of their rows.
fn put_back(spans: &[SpanByPart], by_row: &mut [f64], workers: &Workers<'_>) -> Result<()> {
    workers.map_chunks(by_row, SPAN, |span, by_row| {
        let SpanByPart { part_of, values: KeysByPart { starts, keys } } = &spans[span];
        let mut places = starts.clone();
        for (value, &part) in by_row.iter_mut().zip(part_of) {
            let place = &mut places[part as usize];
            *value = keys[*place];
            *place += 1;
        }
        Ok(())
    })?;
    Ok(())
}

fn give_back(spans: Vec<SpanByPart>, buffers: &Buffers<f64>) {
    for span in spans {
        buffers.give_back(span.values.keys);
    }
}

/// The sum of all numbers before each.
fn running_sums_of(numbers: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut sum = 0.0;
    numbers
        .map(|number| {
            let before = sum;
            sum += number;
            before
        })
        .collect()
}

/// The sum of all counts before each.
fn running_counts(counts: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut sum = 0;
    counts
        .map(|count| {
            sum += count;
            sum - count
        })
        .collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::parallel::Cancel;

    /// Compares a table in parts with the same table in one, for rows in more than one span.
    fn assert_like_one_part(table: &[f64], keys: &[f64], part_keys: usize, near: Option<f64>) {
        let near = Nearness { tolerance: near, is_settled: |key: f64| key == 0.5 };
        let finish = |below: f64| 3.0 * below - 1.0;
        let mut whole = PlacementTable::default();
        let (mut expected, mut by_rank) = (vec![0.0; keys.len()], Vec::new());
        whole.build(table, None);
        let totals = whole.look_up(keys, None, near, finish, &mut expected);
        whole.below_by_rank(0.0, &mut by_rank);
        let mut expected_by_row = vec![0.0; table.len()];
        whole.by_row(&by_rank, |below| 2.0 * below, &mut expected_by_row);
        for threads in [1, 3] {
            let cancel = Cancel::new();
            let workers = Workers::with_threads(threads, &cancel);
            let mut table_in_parts = PlacementLookup::default();
            // The second time in the memory of the first, and in another order if no keys are settled.
            let in_any_order = Arrangement::Any { tolerance: near.tolerance };
            for arrangement in [Arrangement::Sorted, in_any_order, Arrangement::Sorted] {
                table_in_parts.build_parts(table, None, (arrangement, part_keys), &workers).expect("a table");
                let (mut found, mut found_by_rank) = (vec![0.0; keys.len()], Vec::new());
                let of_parts =
                    table_in_parts.look_up((keys, None), near, finish, &mut found, &workers).expect("totals");
                table_in_parts.below_by_rank(&mut found_by_rank, &workers).expect("ranks");
                let mut by_row = vec![0.0; table.len()];
                table_in_parts.by_row(&found_by_rank, |below| 2.0 * below, &mut by_row, &workers).expect("rows");
                assert_eq!(table_in_parts.len(), table.len());
                if totals.is_near {
                    assert!(of_parts.is_near);
                    continue;
                }
                if of_parts.is_near && near.tolerance.is_some() && matches!(arrangement, Arrangement::Any { .. }) {
                    continue;
                }
                assert_eq!(of_parts, totals);
                assert!(found == expected && by_row == expected_by_row);
                assert!(found_by_rank == by_rank || matches!(arrangement, Arrangement::Any { .. }));
            }
            assert!(table_in_parts.parts.len() > 1, "the table has parts");
        }
    }

    #[test]
    fn weighted_parts_place_rows_like_one_table() {
        let (table, keys) = (numbers(SPAN + 4321, 7, 3), numbers(2 * SPAN + 77, 11, 5));
        // Whole weights: all sums are exact.
        let weights = |count: usize| -> Vec<f64> { (0..count).map(|row| f64::from((row % 5) as u32)).collect() };
        let (of_table, of_keys) = (weights(table.len()), weights(keys.len()));
        let mut whole = PlacementTable::default();
        let (mut expected, mut by_rank) = (vec![0.0; keys.len()], Vec::new());
        whole.build(&table, Some(&of_table));
        let totals = whole.look_up(&keys, Some(&of_keys), Nearness::NEVER, |below| 3.0 * below, &mut expected);
        whole.below_by_rank(0.0, &mut by_rank);
        for threads in [1, 3] {
            let cancel = Cancel::new();
            let workers = Workers::with_threads(threads, &cancel);
            let mut table_in_parts = PlacementLookup::default();
            table_in_parts
                .build_parts(&table, Some(&of_table), (Arrangement::Sorted, 1000), &workers)
                .expect("a table");
            let (mut found, mut found_by_rank) = (vec![0.0; keys.len()], Vec::new());
            let looked_up = (&keys[..], Some(&of_keys[..]));
            let of_parts =
                table_in_parts.look_up(looked_up, Nearness::NEVER, |below| 3.0 * below, &mut found, &workers);
            table_in_parts.below_by_rank(&mut found_by_rank, &workers).expect("ranks");
            let of_parts = of_parts.expect("totals");
            assert_eq!((of_parts.weighted, of_parts.ties), (totals.weighted, totals.ties));
            assert!(found == expected && found_by_rank == by_rank);
        }
    }

    /// Numbers from 0 to 1, of which some are tied.
    pub(crate) fn numbers(count: usize, seed: u64, tied_every: usize) -> Vec<f64> {
        let number = |index: usize| {
            let bits = (index as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(seed) >> 11;
            let number = bits as f64 / (1_u64 << 53) as f64;
            if index.is_multiple_of(tied_every) { (number * 50.0).round() / 50.0 } else { number }
        };
        (0..count).map(number).collect()
    }

    #[test]
    fn parts_place_rows_like_one_table() {
        let (table, keys) = (numbers(SPAN + 4321, 7, 3), numbers(2 * SPAN + 77, 11, 5));
        assert_like_one_part(&table, &keys, 1000, None);
        assert_like_one_part(&table, &keys, 1000, Some(0.0));
        let crowded: Vec<f64> = table.iter().map(|key| key.powi(40)).collect();
        assert_like_one_part(&crowded, &keys, 300, None);
        assert_like_one_part(&keys[..SPAN], &[-1.0, 2.0, 0.5], 5000, Some(1e-9));
    }

    #[test]
    fn neighbours_across_a_border_are_noticed() {
        let cancel = Cancel::new();
        let workers = Workers::with_threads(1, &cancel);
        let table: Vec<f64> = (0..20_000).map(f64::from).collect();
        let mut table_in_parts = PlacementLookup::default();
        table_in_parts.build_parts(&table, None, (Arrangement::Sorted, 100), &workers).expect("a table");
        let near = Nearness { tolerance: Some(0.3), is_settled: |_| false };
        let mut is_near = |key: f64| {
            table_in_parts.look_up((&[key], None), near, |below| below, &mut [0.0], &workers).expect("totals").is_near
        };
        for row in 0..20_000 {
            assert!(is_near(f64::from(row) + 0.25) && is_near(f64::from(row) - 0.25), "{row}");
        }
    }
}
