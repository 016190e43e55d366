//! A pair of large classes, read straight from the scores.

use std::ops::Range;

use super::pair_counts::PairCounter;
use crate::error::Result;
use crate::float::Score;
use crate::keys::{KeyScratch, SplitKeys};
use crate::memory::Buffers;
use crate::parallel::Workers;
use crate::ranking::{KeyStream, Lookup, NearKeys, Side, count_key_stream, sample_spans, stream_spans};
use crate::sample::ScoredSample;

/// Rows read at a time.
const BLOCK: usize = 512;

/// The differences of two classes, read from the scores each time.
pub(super) struct PairStream<'c, 's, 'a, T> {
    counter: &'c PairCounter<'s, 'a, T>,
    /// The class of the table and the one that is looked up.
    classes: [usize; 2],
    spans: Vec<Range<usize>>,
}

impl<'c, 's, 'a, T: Score> PairStream<'c, 's, 'a, T> {
    pub(super) fn new(counter: &'c PairCounter<'s, 'a, T>, table: usize, other: usize, workers: &Workers<'_>) -> Self {
        let spans = stream_spans(counter.sample.rows(), counter.size(table) as usize, 2, workers);
        Self { counter, classes: [table, other], spans }
    }

    /// Σ over the looked-up keys x of #(v < −x) + #(v ≤ −x), v running through the table.
    pub(super) fn count(&self, buffers: &Buffers<f64>, workers: &Workers<'_>) -> Result<u64> {
        let rule = self.counter.rule;
        if let Some(largest) =
            rule.largest_whole_number().filter(|&largest| largest < self.counter.sample.rows() as f64)
        {
            return self.count_whole_numbers(largest, workers);
        }
        let (counts, found) = count_key_stream(self, Lookup { negate: true, near: rule.near }, buffers, workers)?;
        let count = counts[1..].iter().sum::<u128>() as u64;
        let Some(near) = NearKeys::new(rule, found, self.counter.size(self.classes[1]) as usize) else {
            return Ok(count);
        };
        let parts = workers.map(self.spans.len(), |span| {
            let mut near = near.empty();
            self.operands(self.spans[span].clone(), |side, own, other| near.collect(side, own, other));
            Ok(near)
        })?;
        Ok(parts.into_iter().fold(near, NearKeys::merge).recount(count))
    }

    /// The same where keys are whole numbers: by how many keys of each side there are of each number.
    fn count_whole_numbers(&self, largest: f64, workers: &Workers<'_>) -> Result<u64> {
        let numbers = 2 * largest as usize + 1;
        let threads = workers.threads();
        let parts = workers.map(threads, |thread| {
            let mut counts = [vec![0_u32; numbers], vec![0_u32; numbers]];
            let mut keys = Vec::new();
            for span in self.spans.iter().skip(thread).step_by(threads) {
                workers.check()?;
                self.operands(span.clone(), |side, own, other| {
                    keys.clear();
                    self.counter.rule.append_keys(own, other, &mut KeyScratch::default(), &mut keys);
                    for key in &keys {
                        // The table by its keys, the looked-up class by its negated ones.
                        let number = if side == Side::Table { largest + key } else { largest - key };
                        counts[side as usize][(number as usize).min(numbers - 1)] += 1;
                    }
                });
            }
            Ok(counts)
        })?;
        let count =
            |side: Side, number: usize| parts.iter().map(|part| u64::from(part[side as usize][number])).sum::<u64>();
        let (mut below, mut total) = (0, 0);
        for number in 0..numbers {
            let own = count(Side::Table, number);
            total += count(Side::LookedUp, number) * (2 * below + own);
            below += own;
        }
        Ok(total)
    }

    /// Calls `visit(side, own scores, other scores)` for the rows of both classes in a span, block by block.
    fn operands(&self, span: Range<usize>, mut visit: impl FnMut(Side, &[T], &[T])) {
        let ScoredSample { scores, codes, .. } = self.counter.sample;
        let mut rows = [[0_u32; BLOCK]; 2];
        let (mut own, mut other) = ([T::ZERO; BLOCK], [T::ZERO; BLOCK]);
        for start in span.clone().step_by(BLOCK) {
            let mut lengths = [0_usize; 2];
            codes.for_each(start..(start + BLOCK).min(span.end), |row, class| {
                // Written to both lists, kept in the one that grows: no branch to mispredict.
                for side in 0..2 {
                    rows[side][lengths[side]] = row as u32;
                    lengths[side] += usize::from(class == self.classes[side]);
                }
            });
            for (index, side) in [Side::Table, Side::LookedUp].into_iter().enumerate() {
                let length = lengths[index];
                for (place, &row) in rows[index][..length].iter().enumerate() {
                    own[place] = scores.get(row as usize, self.classes[index]);
                    other[place] = scores.get(row as usize, self.classes[1 - index]);
                }
                visit(side, &own[..length], &other[..length]);
            }
        }
    }
}

impl<T: Score> KeyStream<f64> for PairStream<'_, '_, '_, T> {
    fn spans(&self) -> usize {
        self.spans.len()
    }

    fn sides(&self) -> usize {
        if self.counter.rule.settles_decimals() { 3 } else { 2 }
    }

    fn may_be_near(&self, side: usize) -> bool {
        // The looked-up keys that are settled come before the others.
        side + 1 == self.sides()
    }

    fn table_len(&self) -> usize {
        self.counter.size(self.classes[0]) as usize
    }

    fn table_sample(&self, wanted: usize) -> Result<Vec<f64>> {
        let (mut scratch, mut keys) = (KeyScratch::default(), Vec::new());
        for rows in sample_spans(self.counter.sample.rows(), wanted) {
            self.operands(rows, |side, own, other| {
                if side == Side::Table {
                    self.counter.rule.append_keys(own, other, &mut scratch, &mut keys);
                }
            });
        }
        Ok(keys)
    }

    fn for_each(&self, span: usize, table: &mut Vec<f64>, visit: &mut dyn FnMut(&[f64])) -> Result<()> {
        let mut scratch = KeyScratch::default();
        let rows = self.spans[span].clone();
        let mut looked_up = Vec::with_capacity(rows.len() / 2);
        table.clear();
        self.operands(rows, |side, own, other| {
            let keys = if side == Side::Table { &mut *table } else { &mut looked_up };
            self.counter.rule.append_keys(own, other, &mut scratch, keys);
        });
        visit(table);
        if self.counter.rule.settles_decimals() {
            let mut parts = SplitKeys::default();
            self.counter.rule.split(&looked_up, &mut parts);
            visit(&parts.settled);
            visit(&parts.open);
        } else {
            visit(&looked_up);
        }
        Ok(())
    }
}
