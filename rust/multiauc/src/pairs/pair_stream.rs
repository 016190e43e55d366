//! A pair of large classes, read straight from the scores.

use std::ops::Range;

use super::pair_counts::PairCounter;
use crate::error::Result;
use crate::float::Score;
use crate::keys::FractionCache;
use crate::memory::Buffers;
use crate::parallel::Workers;
use crate::ranking::{KeyStream, Lookup, NearKeys, Side, count_partitioned, sample_spans, stream_spans};
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
        let (counts, found) = count_partitioned(self, Lookup { negate: true, near: rule.near }, buffers, workers)?;
        let count = counts[1] as u64;
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
        2
    }

    fn table_len(&self) -> usize {
        self.counter.size(self.classes[0]) as usize
    }

    fn table_sample(&self, wanted: usize) -> Result<Vec<f64>> {
        let (mut fractions, mut keys) = (FractionCache::default(), Vec::new());
        for rows in sample_spans(self.counter.sample.rows(), wanted) {
            self.operands(rows, |side, own, other| {
                if side == Side::Table {
                    self.counter.rule.append_keys(own, other, &mut fractions, &mut keys);
                }
            });
        }
        Ok(keys)
    }

    fn for_each(&self, span: usize, table: &mut Vec<f64>, visit: &mut dyn FnMut(&[f64])) -> Result<()> {
        let mut fractions = FractionCache::default();
        let rows = self.spans[span].clone();
        let mut looked_up = Vec::with_capacity(rows.len() / 2);
        table.clear();
        self.operands(rows, |side, own, other| {
            let keys = if side == Side::Table { &mut *table } else { &mut looked_up };
            self.counter.rule.append_keys(own, other, &mut fractions, keys);
        });
        visit(table);
        visit(&looked_up);
        Ok(())
    }
}
