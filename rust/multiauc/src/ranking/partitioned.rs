//! Large classes: both sides are cut by value into parts whose tables stay in the cache.

use super::bucket_table::{BucketTable, Lookup};
use super::key::Key;
use crate::error::Result;
use crate::parallel::Workers;

/// Table keys of a part: with its bucket starts about a quarter of a megabyte.
const PART_KEYS: usize = 1 << 14;
/// Cells of the linear map from keys to parts.
const CELLS: usize = 1 << 13;
/// Keys that decide where the parts begin and end.
const SAMPLE: usize = 1 << 16;

/// Keys of several sides that can be read again and again, in independent spans. Side 0 is the table.
pub(crate) trait KeyStream<T>: Sync {
    /// Number of spans.
    fn spans(&self) -> usize;
    /// Number of sides.
    fn sides(&self) -> usize;
    /// Number of table keys.
    fn table_len(&self) -> usize;
    /// About `wanted` table keys from all over the table, at least one.
    fn table_sample(&self, wanted: usize) -> Vec<T>;
    /// Calls `visit(side, keys)` for all keys of a span, each time with the same keys in the same order.
    fn for_each(&self, span: usize, visit: &mut dyn FnMut(usize, &[T]));
}

/// For every side, Σ over its keys x of #(v < x) + #(v ≤ x), v running through the table; and the keys that are near to
/// table keys. `lookup` orients the keys of the sides, not those of the table.
pub(crate) fn count_partitioned<T: Key>(
    stream: &impl KeyStream<T>,
    lookup: Lookup<T>,
    workers: &Workers<'_>,
) -> Result<(Vec<u128>, Vec<T>)> {
    let map = PartMap::new(stream);
    let spans = workers.map(stream.spans(), |span| Ok(PartitionedSpan::new(stream, span, &map, lookup)))?;
    let table_len = |part: usize| spans.iter().map(|span| span.keys(0, part).len()).sum::<usize>();
    let mut keys_below = vec![0_u64];
    for part in 0..map.parts {
        keys_below.push(keys_below[part] + table_len(part) as u64);
    }
    let parts = workers.map_with(map.parts, BucketTable::default, |table, part| {
        let mut near = Vec::new();
        let mut totals = vec![0_u128; stream.sides()];
        table.build(spans.iter().map(|span| span.keys(0, part)), lookup.near);
        for (side, total) in totals.iter_mut().enumerate().skip(1) {
            for span in &spans {
                let keys = span.keys(side, part);
                // The keys were oriented when they were partitioned.
                let within = table.count(keys, Lookup { negate: false, ..lookup }, &mut near);
                *total += u128::from(within) + 2 * u128::from(keys_below[part]) * keys.len() as u128;
            }
        }
        Ok((totals, near))
    })?;
    let mut totals = vec![0; stream.sides()];
    let mut near: Vec<T> = spans.into_iter().flat_map(|span| span.at_borders).collect();
    for (part_totals, mut part_near) in parts {
        totals.iter_mut().zip(part_totals).for_each(|(total, part)| *total += part);
        near.append(&mut part_near);
    }
    Ok((totals, near))
}

/// A never decreasing map from keys to parts.
struct PartMap<T> {
    lowest: T,
    scale: T,
    part_of_cell: Vec<u16>,
    parts: usize,
}

impl<T: Key> PartMap<T> {
    /// Parts that hold about as many table keys each, judged by a sample of them.
    fn new(stream: &impl KeyStream<T>) -> Self {
        let sample = stream.table_sample(SAMPLE);
        let step = (stream.table_len() / sample.len().max(1)).max(1);
        let (mut lowest, mut highest) = (T::INFINITY, T::INFINITY.negated());
        for &key in &sample {
            lowest = if key < lowest { key } else { lowest };
            highest = if key > highest { key } else { highest };
        }
        let scale = highest.minus(lowest).reciprocal_of(CELLS - 1);
        let mut map = Self { lowest, scale, part_of_cell: vec![0; CELLS], parts: 1 };
        let mut counts = vec![0_usize; CELLS];
        for &key in &sample {
            counts[map.cell(key)] += 1;
        }
        let full = (PART_KEYS / step).max(1);
        let mut filled = 0;
        for (cell, &count) in counts.iter().enumerate() {
            if filled > 0 && filled + count > full && map.parts < 1 << 12 {
                map.parts += 1;
                filled = 0;
            }
            filled += count;
            map.part_of_cell[cell] = map.parts as u16 - 1;
        }
        map
    }

    #[inline(always)]
    fn cell(&self, key: T) -> usize {
        key.minus(self.lowest).times(self.scale).bucket(T::from_count(CELLS - 1)) as usize
    }

    #[inline(always)]
    fn part(&self, key: T) -> usize {
        self.part_of_cell[self.cell(key)] as usize
    }
}

/// The keys of one span by side and part.
struct PartitionedSpan<T> {
    parts: usize,
    /// `starts[side · parts + part]..` are the keys of a side in a part.
    starts: Vec<usize>,
    keys: Vec<T>,
    /// Keys whose neighbourhood reaches into another part.
    at_borders: Vec<T>,
}

impl<T: Key> PartitionedSpan<T> {
    fn new(stream: &impl KeyStream<T>, span: usize, map: &PartMap<T>, lookup: Lookup<T>) -> Self {
        let mut starts = vec![0; stream.sides() * map.parts + 2];
        let oriented = |side: usize, key: T| if side > 0 { lookup.oriented(key) } else { key };
        stream.for_each(span, &mut |side, keys| {
            let counts = &mut starts[side * map.parts + 2..];
            for &key in keys {
                counts[map.part(oriented(side, key))] += 1;
            }
        });
        for index in 2..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut keys = vec![T::ZERO; starts[starts.len() - 1]];
        let mut at_borders = Vec::new();
        stream.for_each(span, &mut |side, block| {
            let places = &mut starts[side * map.parts + 1..];
            for &key in block {
                let key = oriented(side, key);
                let place = &mut places[map.part(key)];
                keys[*place] = key;
                *place += 1;
            }
            if let (Some(tolerance), true) = (lookup.near, side > 0) {
                let is_at_border = |key: &T| map.part(key.minus(tolerance)) != map.part(key.plus(tolerance));
                at_borders.extend(block.iter().map(|&key| oriented(side, key)).filter(is_at_border));
            }
        });
        starts.pop();
        Self { parts: map.parts, starts, keys, at_borders }
    }

    fn keys(&self, side: usize, part: usize) -> &[T] {
        let index = side * self.parts + part;
        &self.keys[self.starts[index]..self.starts[index + 1]]
    }
}
