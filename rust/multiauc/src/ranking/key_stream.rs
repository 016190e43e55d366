//! Large classes: both sides are split by value into parts whose tables stay in the cache.

use std::ops::Range;

use super::bucket_table::{BucketTable, Lookup};
use crate::error::Result;
use crate::float::Float;
use crate::memory::Buffers;
use crate::parallel::Workers;
use crate::simd::{Simd, Vectorizable, run_widest};

/// Table keys per part: with their bucket starts, about a quarter of a megabyte.
pub(super) const PART_KEYS: usize = 1 << 14;
/// Cells of the linear map from keys to parts.
const CELLS: usize = 1 << 13;
/// Most parts: writing to more of them side by side would be slow.
const MOST_PARTS: usize = 1 << 11;
/// Keys placed at a time.
const BLOCK: usize = 256;
/// Keys that decide where the parts begin and end.
pub(super) const SAMPLE: usize = 1 << 14;

/// Keys of several sides that can be read repeatedly, in independent spans. Side 0 is the table.
pub(crate) trait KeyStream<T>: Sync {
    /// Number of spans.
    fn spans(&self) -> usize;
    /// Number of sides.
    fn sides(&self) -> usize;
    /// Number of table keys.
    fn table_len(&self) -> usize;
    /// About `wanted` table keys from all over the table, at least one.
    fn table_sample(&self, wanted: usize) -> Result<Vec<T>>;
    /// Whether keys of a looked-up side may be near to keys of the table without being equal to them.
    fn may_be_near(&self, _side: usize) -> bool {
        true
    }
    /// Calls `visit(keys)` for the keys of each side in a span, the table's first. `memory` may be used to hold them.
    ///
    /// # Errors
    /// Those of whatever the keys are read from.
    fn for_each(&self, span: usize, memory: &mut Vec<T>, visit: &mut dyn FnMut(&[T])) -> Result<()>;
}

/// For every side, Σ over its keys x of #(v < x) + #(v ≤ x), v running through the table; and the keys that are near
/// table keys. `lookup` orients the keys of the sides, not those of the table.
pub(crate) fn count_key_stream<T: Float>(
    stream: &impl KeyStream<T>,
    lookup: Lookup<T>,
    buffers: &Buffers<T>,
    workers: &Workers<'_>,
) -> Result<(Vec<u128>, Vec<T>)> {
    let map = PartMap::new(&stream.table_sample(SAMPLE)?, stream.table_len(), PART_KEYS);
    let of_side = |side: usize| Lookup { near: lookup.near.filter(|_| stream.may_be_near(side)), ..lookup };
    let spans = workers.map_with(stream.spans(), SpanScratch::default, |scratch, span| {
        StreamSpan::new(stream, span, &map, lookup, buffers, scratch)
    })?;
    let table_len = |part: usize| spans.iter().map(|span| span.keys(0, part).len()).sum::<usize>();
    let mut keys_below = vec![0_u64];
    for part in 0..map.parts {
        keys_below.push(keys_below[part] + table_len(part) as u64);
    }
    let parts = workers.map_with(map.parts, BucketTable::default, |table, part| {
        let (mut near, mut places) = (Vec::new(), Vec::new());
        let mut totals = vec![0_u128; stream.sides()];
        table.build(spans.iter().map(|span| span.keys(0, part)), lookup.near);
        for (side, total) in totals.iter_mut().enumerate().skip(1) {
            for span in &spans {
                let keys = span.keys(side, part);
                // The keys were oriented when they were split.
                let within = table.count(keys, Lookup { negate: false, ..of_side(side) }, &mut places);
                near.extend(places.drain(..).map(|place| keys[place as usize]));
                *total += u128::from(within) + 2 * u128::from(keys_below[part]) * keys.len() as u128;
            }
        }
        Ok((totals, near))
    })?;
    let mut totals = vec![0; stream.sides()];
    let mut near = Vec::new();
    for mut span in spans {
        near.append(&mut span.at_borders);
        span.sides.into_iter().for_each(|side| buffers.give_back(side.keys));
    }
    for (part_totals, mut part_near) in parts {
        totals.iter_mut().zip(part_totals).for_each(|(total, part)| *total += part);
        near.append(&mut part_near);
    }
    Ok((totals, near))
}

/// Spans of rows, short enough that their keys stay in the cache until they are split and long enough that each
/// part of each side gets a few hundred keys.
pub(crate) fn stream_spans(rows: usize, table_len: usize, sides: usize, workers: &Workers<'_>) -> Vec<Range<usize>> {
    let longest = (512 * sides * table_len.div_ceil(PART_KEYS)).clamp(1 << 15, 1 << 17);
    // The same number for every thread.
    let count = rows.div_ceil(longest).max(4 * workers.threads()).next_multiple_of(workers.threads());
    (0..count).map(|span| span * rows / count..(span + 1) * rows / count).collect()
}

/// About `wanted` rows in short spans from all over the sample.
pub(crate) fn sample_spans(rows: usize, wanted: usize) -> impl Iterator<Item = Range<usize>> {
    const LENGTH: usize = 512;
    let spans = (wanted / LENGTH).max(1);
    (0..spans).map(move |span| span * (rows / spans)).map(move |start| start..(start + LENGTH).min(rows))
}

/// A non-decreasing map from keys to parts.
#[derive(Debug)]
pub(super) struct PartMap<T> {
    lowest: T,
    scale: T,
    part_of_cell: Box<[u16; CELLS]>,
    pub(super) parts: usize,
}

impl<T: Float> PartMap<T> {
    /// Parts that hold about `part_keys` table keys each, judging by a sample.
    pub(super) fn new(sample: &[T], table_len: usize, part_keys: usize) -> Self {
        let step = (table_len / sample.len().max(1)).max(1);
        let (mut lowest, mut highest) = (T::INFINITY, T::INFINITY.negated());
        for &key in sample {
            lowest = if key < lowest { key } else { lowest };
            highest = if key > highest { key } else { highest };
        }
        let scale = highest.minus(lowest).reciprocal_of(CELLS - 1);
        let mut map = Self { lowest, scale, part_of_cell: Box::new([0; CELLS]), parts: 1 };
        let mut counts = vec![0_usize; CELLS];
        for &key in sample {
            counts[map.cell(key) as usize] += 1;
        }
        let full = (part_keys / step).max(1);
        let mut filled = 0;
        for (cell, &count) in counts.iter().enumerate() {
            if filled > 0 && filled + count > full && map.parts < MOST_PARTS {
                map.parts += 1;
                filled = 0;
            }
            filled += count;
            map.part_of_cell[cell] = map.parts as u16 - 1;
        }
        map
    }

    #[inline(always)]
    fn cell(&self, key: T) -> u32 {
        key.minus(self.lowest).times(self.scale).bucket(T::from_count(CELLS - 1))
    }

    #[inline(always)]
    fn part(&self, key: T) -> usize {
        self.part_of_cell[self.cell(key) as usize] as usize
    }
}

/// The keys of one span by side and part.
struct StreamSpan<T> {
    sides: Vec<KeysByPart<T>>,
    /// Keys whose neighbourhood reaches into another part.
    at_borders: Vec<T>,
}

#[derive(Debug, Default)]
pub(super) struct KeysByPart<T> {
    /// `starts[part]..starts[part + 1]` are the keys of a part.
    pub(super) starts: Vec<usize>,
    pub(super) keys: Vec<T>,
}

/// Memory reused from span to span.
struct SpanScratch<T> {
    keys: Vec<T>,
    /// The part of each key.
    parts: Vec<u16>,
}

impl<T> Default for SpanScratch<T> {
    fn default() -> Self {
        Self { keys: Vec::new(), parts: Vec::new() }
    }
}

impl<T: Float> StreamSpan<T> {
    fn new(
        stream: &impl KeyStream<T>,
        span: usize,
        map: &PartMap<T>,
        lookup: Lookup<T>,
        buffers: &Buffers<T>,
        SpanScratch { keys, parts }: &mut SpanScratch<T>,
    ) -> Result<Self> {
        let mut sides: Vec<KeysByPart<T>> = Vec::new();
        let mut at_borders = Vec::new();
        stream.for_each(span, keys, &mut |keys| {
            let lookup = match sides.len() {
                0 => Lookup::PLAIN,
                side => Lookup { near: lookup.near.filter(|_| stream.may_be_near(side)), ..lookup },
            };
            let (buffer, at_borders) = (buffers.take(keys.len()), &mut at_borders);
            sides.push(run_widest(SplitKeys { keys, lookup, map, parts, buffer, at_borders }));
        })?;
        Ok(Self { sides, at_borders })
    }

    fn keys(&self, side: usize, part: usize) -> &[T] {
        let side = &self.sides[side];
        &side.keys[side.starts[part]..side.starts[part + 1]]
    }
}

/// One side of a span, in two passes: count the keys of each part, then put them there.
pub(super) struct SplitKeys<'p, T> {
    pub(super) keys: &'p [T],
    pub(super) lookup: Lookup<T>,
    pub(super) map: &'p PartMap<T>,
    /// Receives the part of each key.
    pub(super) parts: &'p mut Vec<u16>,
    /// Room for all the keys.
    pub(super) buffer: Vec<T>,
    /// Receives the keys whose neighbourhood reaches into another part.
    pub(super) at_borders: &'p mut Vec<T>,
}

impl<T: Float> Vectorizable for SplitKeys<'_, T> {
    type Output = KeysByPart<T>;

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> KeysByPart<T> {
        let Self { keys, lookup, map, parts, buffer: mut sorted, at_borders } = self;
        parts.resize(keys.len(), 0);
        let mut cells = [0_u32; BLOCK];
        // Two tables in turn: in a single one, each of a run of keys of one part would wait for the increment before.
        let mut counts = [[0_u32; MOST_PARTS]; 2];
        for (block, parts) in keys.chunks(BLOCK).zip(parts.chunks_mut(BLOCK)) {
            for (cell, &key) in cells.iter_mut().zip(block) {
                *cell = map.cell(lookup.oriented(key));
            }
            if let Some(tolerance) = lookup.near {
                let neighbourhood = |&key: &T| {
                    let key = lookup.oriented(key);
                    (key.minus(tolerance), key.plus(tolerance))
                };
                let ends = block.iter().map(neighbourhood);
                // Hardly any block has a key at a border: whole blocks are checked with vectors first.
                if ends.fold(0, |crossing, (low, high)| crossing | (map.cell(low) ^ map.cell(high))) != 0 {
                    let is_at_border = |key: &&T| {
                        let (low, high) = neighbourhood(key);
                        map.part(low) != map.part(high)
                    };
                    at_borders.extend(block.iter().filter(is_at_border).map(|&key| lookup.oriented(key)));
                }
            }
            for (place, (part, &cell)) in parts.iter_mut().zip(&cells).enumerate() {
                // The masks change nothing; they tell the compiler that the index is in range.
                *part = map.part_of_cell[cell as usize & (CELLS - 1)];
                counts[place & 1][*part as usize & (MOST_PARTS - 1)] += 1;
            }
        }
        let mut starts = vec![0; map.parts + 2];
        for part in 0..map.parts {
            starts[part + 2] = starts[part + 1] + (counts[0][part] + counts[1][part]) as usize;
        }
        for (&key, &part) in keys.iter().zip(parts.iter()) {
            let place = &mut starts[part as usize + 1];
            sorted[*place] = lookup.oriented(key);
            *place += 1;
        }
        starts.pop();
        KeysByPart { starts, keys: sorted }
    }
}
