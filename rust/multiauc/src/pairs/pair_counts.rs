//! Wins of each class over each other by the difference of their scores: the counts behind AUC_mu.

use std::ops::Range;

use super::pair_stream::PairStream;
use crate::error::Result;
use crate::float::Score;
use crate::keys::DifferenceRule;
use crate::keys::FractionCache;
use crate::memory::Buffers;
use crate::parallel::Workers;
use crate::ranking::{BucketTable, Lookup, NearKeys, Side};
use crate::sample::ScoredSample;
use crate::sample::{ClassBlock, ClassBlocks, GroupedRows};

/// Up to this many classes the class blocks hold the whole matrix; beyond, a few columns at a time.
pub(crate) const WHOLE_MATRIX_CLASSES: usize = 16;

/// A pair of classes and twice the wins of the first over the second, a tie counting one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PairCount {
    pub first: usize,
    pub second: usize,
    pub doubled_wins: u64,
}

/// Calls `fold` for every pair c < d of present classes for which `wanted(c, d)` holds; the folded values in no
/// particular order.
pub(crate) fn fold_pairs<T: Score, A: Default + Send>(
    sample: &ScoredSample<'_, T>,
    rule: DifferenceRule,
    workers: &Workers<'_>,
    wanted: impl Fn(usize, usize) -> bool + Sync,
    fold: impl Fn(&mut A, PairCount) + Sync,
) -> Result<Vec<A>> {
    let counter = PairCounter { sample, rule };
    if sample.classes() > WHOLE_MATRIX_CLASSES {
        return counter.fold_tiles(workers, &wanted, &fold);
    }
    let classes = sample.classes();
    let pairs = (0..classes).flat_map(|c| (c + 1..classes).map(move |d| (c, d)));
    let is_present = |&(c, d): &(usize, usize)| counter.size(c) > 0 && counter.size(d) > 0 && wanted(c, d);
    let (streamed, gathered): (Vec<_>, Vec<_>) =
        pairs.filter(is_present).partition(|&(c, d)| counter.is_streamed(c, d));
    let mut folded = counter.fold_whole(&gathered, workers, &fold)?;
    // One after the other, each on all threads: their copies would not fit into memory side by side.
    let buffers = Buffers::default();
    for (c, d) in streamed {
        let mut value = A::default();
        let count = counter
            .ordered(c, d, |table, other| PairStream::new(&counter, table, other, workers).count(&buffers, workers));
        fold(&mut value, count?);
        folded.push(value);
    }
    Ok(folded)
}

/// The pairs of one sample.
pub(crate) struct PairCounter<'s, 'a, T> {
    pub(crate) sample: &'s ScoredSample<'a, T>,
    pub(crate) rule: DifferenceRule,
}

/// Memory that one pair leaves to the next.
#[derive(Default)]
struct PairScratch {
    table: BucketTable<f64>,
    table_keys: Vec<f64>,
    fractions: FractionCache,
}

impl<T: Score> PairCounter<'_, '_, T> {
    pub(crate) fn size(&self, class: usize) -> u64 {
        self.sample.sizes.rows[class]
    }

    /// Whether a pair is read from the scores and cut by value: where it has many rows, and a good part of all rows, so
    /// that reading past the others costs less than a copy of everything.
    fn is_streamed(&self, c: usize, d: usize) -> bool {
        const MANY_ROWS: u64 = 1 << 18;
        let rows = self.size(c) + self.size(d);
        rows > MANY_ROWS && 3 * rows > self.sample.rows() as u64
    }

    /// All classes gathered at once, pairs as tasks.
    fn fold_whole<A: Default + Send>(
        &self,
        pairs: &[(usize, usize)],
        workers: &Workers<'_>,
        fold: &(impl Fn(&mut A, PairCount) + Sync),
    ) -> Result<Vec<A>> {
        if pairs.is_empty() {
            return Ok(Vec::new());
        }
        let blocks =
            ClassBlocks::gather_rows(ClassBlocks::default(), self.sample, &(0..self.sample.classes()), workers)?;
        workers.map_with(pairs.len(), PairScratch::default, |scratch, pair| {
            let (c, d) = pairs[pair];
            let runs = |own, other| blocks.runs(own, own).zip(blocks.runs(own, other));
            let mut value = A::default();
            let count = self.ordered(c, d, |table, other| {
                self.count_below(&runs(table, other), &runs(other, table), scratch, workers)
            });
            fold(&mut value, count?);
            Ok(value)
        })
    }

    /// Tiles of class groups as tasks: a tile gathers the rows of one group in the columns of the other, and back.
    fn fold_tiles<A: Default + Send>(
        &self,
        workers: &Workers<'_>,
        wanted: &(impl Fn(usize, usize) -> bool + Sync),
        fold: &(impl Fn(&mut A, PairCount) + Sync),
    ) -> Result<Vec<A>> {
        let classes = self.sample.classes();
        let rows = GroupedRows::new(self.sample);
        let own: Vec<ClassBlock<T>> =
            workers.map(classes, |c| Ok(ClassBlock::gather(&self.sample.scores, &rows, c..c + 1, c..c + 1)))?;
        let width = self.group_width(workers.threads());
        let groups: Vec<Range<usize>> =
            (0..classes).step_by(width).map(|first| first..(first + width).min(classes)).collect();
        let tiles: Vec<(usize, usize)> =
            (0..groups.len()).flat_map(|a| (a..groups.len()).map(move |b| (a, b))).collect();
        let alone = workers.alone();
        let scratch = || (PairScratch::default(), [Vec::new(), Vec::new()]);
        workers.map_with(tiles.len(), scratch, |(scratch, buffers), tile| {
            let (left, right) = (groups[tiles[tile].0].clone(), groups[tiles[tile].1].clone());
            let [left_buffer, right_buffer] = std::mem::take(buffers);
            let gather = |buffer, rows_of: Range<usize>, columns: &Range<usize>| {
                ClassBlock::gather_into(buffer, &self.sample.scores, &rows, rows_of, columns.clone())
            };
            let is_diagonal = left == right;
            let left_block = gather(left_buffer, left.clone(), &right);
            let right_block = gather(right_buffer, if is_diagonal { 0..0 } else { right.clone() }, &left);
            let mut value = A::default();
            for c in left.clone() {
                workers.check()?;
                for d in right.start.max(c + 1)..right.end {
                    if self.size(c) > 0 && self.size(d) > 0 && wanted(c, d) {
                        let runs = |class: usize, other: usize| {
                            let block = if class == c || is_diagonal { &left_block } else { &right_block };
                            std::iter::once((own[class].run(class, class), block.run(class, other)))
                        };
                        let count = self.ordered(c, d, |table, other| {
                            self.count_below(&runs(table, other), &runs(other, table), scratch, &alone)
                        });
                        fold(&mut value, count?);
                    }
                }
            }
            *buffers = [left_block, right_block].map(ClassBlock::into_buffer);
            Ok(value)
        })
    }

    /// Classes per group: tiles of a few megabytes, all threads together at most a tenth of the scores.
    fn group_width(&self, threads: usize) -> usize {
        const TILE_BYTES: f64 = 8e6;
        let classes = self.sample.classes() as f64;
        let rows_per_class = (self.sample.rows() as f64 / classes).max(1.0);
        let by_cache = (TILE_BYTES / (2.0 * rows_per_class * size_of::<T>() as f64)).sqrt().max(8.0);
        let by_memory = classes * (0.05 / threads as f64).sqrt();
        (by_cache.min(by_memory) as usize).max(1)
    }

    /// Counts a pair by `count_below(table, other)`, whose table is the smaller class.
    fn ordered(&self, c: usize, d: usize, count_below: impl FnOnce(usize, usize) -> Result<u64>) -> Result<PairCount> {
        // With u = s_cd = p_c − p_d in class c and w = p_d − p_c in class d, class c wins where u > −w. Either class can be
        // the table of its own differences, the other looks its negated ones up: each pair of rows found "below" is lost.
        let (table, other) = if self.size(c) <= self.size(d) { (c, d) } else { (d, c) };
        let doubled_losses = count_below(table, other)?;
        Ok(PairCount { first: c, second: d, doubled_wins: 2 * self.size(c) * self.size(d) - doubled_losses })
    }

    /// Counts a pair from its runs of (own scores, other scores).
    fn count_below<'r>(
        &self,
        table: &(impl Iterator<Item = Operands<'r, T>> + Clone),
        looked_up: &(impl Iterator<Item = Operands<'r, T>> + Clone),
        scratch: &mut PairScratch,
        workers: &Workers<'_>,
    ) -> Result<u64>
    where
        T: 'r,
    {
        let PairScratch { table: buckets, table_keys, fractions } = scratch;
        table_keys.clear();
        table.clone().for_each(|(own, other)| self.rule.append_keys(own, other, fractions, table_keys));
        let sides = || table.clone().chain(looked_up.clone());
        let near = self.rule.near.filter(|_| !self.rule.equal_keys_tie(sides()));
        if near.is_some() && has_many_ties(table_keys) {
            let mut all = NearKeys::all(self.rule);
            table.clone().for_each(|(own, other)| all.collect(Side::Table, own, other));
            looked_up.clone().for_each(|(own, other)| all.collect(Side::LookedUp, own, other));
            return Ok(all.recount(0));
        }
        buckets.build(std::iter::once(&table_keys[..]), near);
        let buckets = &*buckets;
        let chunks: Vec<Operands<'r, T>> = looked_up.clone().flat_map(chunks).collect();
        let parts =
            workers.map_with(chunks.len(), <(Vec<f64>, FractionCache)>::default, |(keys, fractions), chunk| {
                keys.clear();
                self.rule.append_keys(chunks[chunk].0, chunks[chunk].1, fractions, keys);
                let mut places = Vec::new();
                let count = buckets.count(keys, Lookup { negate: true, near }, &mut places);
                let found: Vec<f64> = places.iter().map(|&place| -keys[place as usize]).collect();
                Ok((count, found, places))
            })?;
        let count = parts.iter().map(|(count, ..)| count).sum();
        let found = parts.iter().flat_map(|(_, found, _)| found).copied().collect();
        let Some(mut near) = NearKeys::new(self.rule, found, chunks.iter().map(|chunk| chunk.0.len()).sum()) else {
            return Ok(count);
        };
        table.clone().for_each(|(own, other)| near.collect(Side::Table, own, other));
        for ((own, other), (.., places)) in chunks.into_iter().zip(parts) {
            near.take(Side::LookedUp, own, other, &places);
        }
        Ok(near.recount(count))
    }
}

/// Own scores of some rows of a class, and the scores of the other class of the pair.
pub(crate) type Operands<'r, T> = (&'r [T], &'r [T]);

/// Cuts a run into pieces whose keys stay in the cache.
fn chunks<T>((own, other): Operands<'_, T>) -> impl Iterator<Item = Operands<'_, T>> {
    const CHUNK: usize = 1 << 13;
    own.chunks(CHUNK).zip(other.chunks(CHUNK))
}

/// Whether a sample of the keys shows so many ties that nearly all rows would have to be looked at again.
fn has_many_ties(keys: &[f64]) -> bool {
    const SAMPLE: usize = 256;
    if keys.len() < 16 * SAMPLE {
        return false;
    }
    let mut sample: Vec<f64> = keys.iter().step_by(keys.len() / SAMPLE).copied().collect();
    sample.sort_unstable_by(f64::total_cmp);
    sample.windows(2).filter(|pair| pair[0] == pair[1]).count() > SAMPLE / 8
}
