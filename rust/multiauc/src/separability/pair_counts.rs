//! Wins of each class over each other by the difference of their scores: the counts behind AUC_mu.

use std::ops::Range;

use crate::class_blocks::{ClassBlock, ClassBlocks, GroupedRows};
use crate::difference::DifferenceRule;
use crate::error::Result;
use crate::exact_key::rounding_of_difference;
use crate::fraction::FractionCache;
use crate::parallel::Workers;
use crate::ranking::{
    BucketTable, Candidates, KeyStream, LARGEST_TABLE, Lookup, Neighbourhoods, TieGroups, correction, count_partitioned,
};
use crate::score_matrix::Score;
use crate::scored_sample::ScoredSample;

/// Up to this many classes the class blocks hold the whole matrix; beyond, a few columns at a time.
pub(super) const WHOLE_MATRIX_CLASSES: usize = 16;

/// Rows read in one go.
const BLOCK: usize = 512;

/// A pair of classes and twice the wins of the first over the second, a tie counting one.
#[derive(Debug, Clone, Copy)]
pub(super) struct PairCount {
    pub first: usize,
    pub second: usize,
    pub doubled_wins: u64,
}

/// Calls `fold` for every pair c < d of present classes for which `wanted(c, d)` holds; the folded values in no
/// particular order.
pub(super) fn fold_pairs<T: Score, A: Default + Send>(
    sample: &ScoredSample<'_, T>,
    workers: &Workers<'_>,
    wanted: impl Fn(usize, usize) -> bool + Sync,
    fold: impl Fn(&mut A, PairCount) + Sync,
) -> Result<Vec<A>> {
    let counter = PairCounter { sample, rule: DifferenceRule::of(sample, workers)? };
    if sample.classes() > WHOLE_MATRIX_CLASSES {
        return counter.fold_tiles(workers, &wanted, &fold);
    }
    let classes = sample.classes();
    let pairs = (0..classes).flat_map(|c| (c + 1..classes).map(move |d| (c, d)));
    let is_present = |&(c, d): &(usize, usize)| counter.size(c) > 0 && counter.size(d) > 0 && wanted(c, d);
    let is_large = |&(c, d): &(usize, usize)| counter.size(c).min(counter.size(d)) > LARGEST_TABLE;
    let (large, small): (Vec<_>, Vec<_>) = pairs.filter(is_present).partition(is_large);
    let mut folded = counter.fold_whole(&small, workers, &fold)?;
    // One after the other, each on all threads: their copies would not fit into memory side by side.
    for (c, d) in large {
        let mut value = A::default();
        fold(&mut value, counter.count_large(c, d, workers)?);
        folded.push(value);
    }
    Ok(folded)
}

struct PairCounter<'s, 'a, T> {
    sample: &'s ScoredSample<'a, T>,
    rule: DifferenceRule,
}

/// Memory that one pair leaves to the next.
#[derive(Default)]
struct Scratch {
    table: BucketTable<f64>,
    table_keys: Vec<f64>,
    keys: Vec<f64>,
    fractions: FractionCache,
}

impl<T: Score> PairCounter<'_, '_, T> {
    fn size(&self, class: usize) -> u64 {
        self.sample.sizes.rows[class]
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
        let blocks = ClassBlocks::gather(ClassBlocks::default(), self.sample, &(0..self.sample.classes()), workers)?;
        workers.map_with(pairs.len(), Scratch::default, |scratch, pair| {
            let (c, d) = pairs[pair];
            let runs = |own, other| blocks.runs(own, own).zip(blocks.runs(own, other));
            let mut value = A::default();
            fold(&mut value, self.count(c, d, &runs(c, d), &runs(d, c), scratch, workers)?);
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
        let rows = GroupedRows::new(self.sample, 0..self.sample.rows());
        let own: Vec<ClassBlock<T>> =
            workers.map(classes, |c| Ok(ClassBlock::gather(&self.sample.scores, &rows, c..c + 1, c..c + 1)))?;
        let width = self.group_width(workers.threads());
        let groups: Vec<Range<usize>> =
            (0..classes).step_by(width).map(|first| first..(first + width).min(classes)).collect();
        let tiles: Vec<(usize, usize)> =
            (0..groups.len()).flat_map(|a| (a..groups.len()).map(move |b| (a, b))).collect();
        workers.map_with(tiles.len(), Scratch::default, |scratch, tile| {
            let (left, right) = (groups[tiles[tile].0].clone(), groups[tiles[tile].1].clone());
            let gather = |rows_of: &Range<usize>, columns: &Range<usize>| {
                ClassBlock::gather(&self.sample.scores, &rows, rows_of.clone(), columns.clone())
            };
            let left_block = gather(&left, &right);
            let right_block = (left != right).then(|| gather(&right, &left));
            let right_block = right_block.as_ref().unwrap_or(&left_block);
            let mut value = A::default();
            for c in left.clone() {
                workers.check()?;
                for d in right.start.max(c + 1)..right.end {
                    if self.size(c) > 0 && self.size(d) > 0 && wanted(c, d) {
                        let first = std::iter::once((own[c].run(c, c), left_block.run(c, d)));
                        let second = std::iter::once((own[d].run(d, d), right_block.run(d, c)));
                        fold(&mut value, self.count(c, d, &first, &second, scratch, workers)?);
                    }
                }
            }
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

    /// Counts a pair from its runs of (own score, other score).
    fn count<'r>(
        &self,
        c: usize,
        d: usize,
        first: &(impl Iterator<Item = (&'r [T], &'r [T])> + Clone),
        second: &(impl Iterator<Item = (&'r [T], &'r [T])> + Clone),
        scratch: &mut Scratch,
        workers: &Workers<'_>,
    ) -> Result<PairCount>
    where
        T: 'r,
    {
        // With u = s_cd = p_c − p_d in class c and w = p_d − p_c in class d, class c wins where u > −w. Either class can be
        // the table of its own differences, the other looks its negated ones up: each pair of rows found "below" is lost.
        let doubled_losses = if self.size(c) <= self.size(d) {
            self.count_below(first, second, scratch, workers)?
        } else {
            self.count_below(second, first, scratch, workers)?
        };
        Ok(PairCount { first: c, second: d, doubled_wins: 2 * self.size(c) * self.size(d) - doubled_losses })
    }

    fn count_below<'r>(
        &self,
        table: &(impl Iterator<Item = (&'r [T], &'r [T])> + Clone),
        looked_up: &(impl Iterator<Item = (&'r [T], &'r [T])> + Clone),
        scratch: &mut Scratch,
        workers: &Workers<'_>,
    ) -> Result<u64>
    where
        T: 'r,
    {
        let Scratch { table: buckets, table_keys, keys, fractions } = scratch;
        table_keys.clear();
        keys.clear();
        table.clone().for_each(|(own, other)| self.rule.append_keys(own, other, fractions, table_keys));
        looked_up.clone().for_each(|(own, other)| self.rule.append_keys(own, other, fractions, keys));
        let mut near = self.rule.near;
        if T::IS_SINGLE && self.rule.roundings_decide() {
            let is_exact = |(own, other): (&[T], &[T])| {
                own.iter().zip(other).all(|(&own, &other)| rounding_of_difference(own, other) == 0.0)
            };
            if table.clone().all(is_exact) && looked_up.clone().all(is_exact) {
                near = None;
            }
        }
        buckets.build(std::iter::once(&table_keys[..]), near);
        let (count, found) = buckets.count_on(workers, keys, Lookup { negate: true, near })?;
        let (false, Some(tolerance)) = (found.is_empty(), near) else { return Ok(count) };
        let neighbourhoods = Neighbourhoods::new(found, tolerance);
        if self.rule.roundings_decide() && neighbourhoods.len() <= TieGroups::MOST {
            let mut groups = TieGroups::new(&neighbourhoods);
            let mut push_all =
                |is_looked_up: bool, runs: &mut dyn Iterator<Item = (&'r [T], &'r [T])>, keys: &[f64]| {
                    let operands = runs.flat_map(|(own, other)| own.iter().zip(other));
                    for ((&own, &other), &key) in operands.zip(keys) {
                        let (key, own, other) = if is_looked_up { (-key, other, own) } else { (key, own, other) };
                        if let Some(neighbourhood) = neighbourhoods.find(key) {
                            groups.push(is_looked_up, neighbourhood, rounding_of_difference(own, other));
                        }
                    }
                };
            push_all(false, &mut table.clone(), table_keys);
            push_all(true, &mut looked_up.clone(), keys);
            return Ok(count.wrapping_add_signed(groups.correction()));
        }
        let cells = |runs: &mut dyn Iterator<Item = (&'r [T], &'r [T])>, keys: &[f64], negate: bool| {
            let mut candidates = Candidates::default();
            let operands = runs.flat_map(|(own, other)| own.iter().zip(other));
            for ((&own, &other), &key) in operands.zip(keys) {
                self.push_if_near(&mut candidates, &neighbourhoods, key, negate, (own, other));
            }
            candidates
        };
        let table = cells(&mut table.clone(), table_keys, false);
        let looked_up = cells(&mut looked_up.clone(), keys, true);
        Ok(count.wrapping_add_signed(correction(table, looked_up)))
    }

    fn push_if_near(
        &self,
        candidates: &mut Candidates,
        neighbourhoods: &Neighbourhoods,
        key: f64,
        negate: bool,
        (own, other): (T, T),
    ) {
        let key = if negate { -key } else { key };
        if neighbourhoods.find(key).is_some() {
            let exact = self.rule.exact(own, other);
            candidates.push(key, if negate { -exact } else { exact });
        }
    }

    /// Counts a pair of large classes straight from the scores.
    fn count_large(&self, c: usize, d: usize, workers: &Workers<'_>) -> Result<PairCount> {
        let (table, other) = if self.size(c) <= self.size(d) { (c, d) } else { (d, c) };
        let stream = PairStream { counter: self, table, other, spans: pair_spans(self.sample.rows(), workers) };
        let near = self.rule.near;
        let (counts, found) = count_partitioned(&stream, Lookup { negate: true, near }, workers)?;
        let mut doubled_losses = counts[1] as u64;
        if let (false, Some(tolerance)) = (found.is_empty(), near) {
            let neighbourhoods = Neighbourhoods::new(found, tolerance);
            let spans = workers.map(stream.spans.len(), |span| Ok(stream.candidates(span, &neighbourhoods)))?;
            let (mut of_table, mut of_other) = (Candidates::default(), Candidates::default());
            for [table, other] in spans {
                of_table.append(table);
                of_other.append(other);
            }
            doubled_losses = doubled_losses.wrapping_add_signed(correction(of_table, of_other));
        }
        Ok(PairCount { first: c, second: d, doubled_wins: 2 * self.size(c) * self.size(d) - doubled_losses })
    }
}

/// The differences of two classes, read from the scores each time.
struct PairStream<'c, 's, 'a, T> {
    counter: &'c PairCounter<'s, 'a, T>,
    table: usize,
    other: usize,
    spans: Vec<Range<usize>>,
}

impl<T: Score> PairStream<'_, '_, '_, T> {
    /// (own scores, other scores) of the rows of both classes in a span.
    fn operands(&self, span: Range<usize>) -> [(Vec<T>, Vec<T>); 2] {
        let ScoredSample { scores, codes, .. } = self.counter.sample;
        let columns = [self.table, self.other];
        // Rows of third classes go to a third list that nobody reads: no branch to mispredict.
        let mut side_of_class = [2_u8; 1 << 8];
        side_of_class[self.table] = 0;
        side_of_class[self.other] = 1;
        let mut rows = [[0_u32; BLOCK]; 3];
        let mut operands = [const { (Vec::new(), Vec::new()) }; 2];
        for start in span.clone().step_by(BLOCK) {
            let mut lengths = [0_usize; 3];
            codes.for_each(start..(start + BLOCK).min(span.end), |row, class| {
                let side = side_of_class[class & 0xff] as usize;
                rows[side][lengths[side]] = row as u32;
                lengths[side] += 1;
            });
            for (side, (own, others)) in operands.iter_mut().enumerate() {
                let rows = &rows[side][..lengths[side]];
                own.extend(rows.iter().map(|&row| scores.get(row as usize, columns[side])));
                others.extend(rows.iter().map(|&row| scores.get(row as usize, columns[1 - side])));
            }
        }
        operands
    }

    /// The keys near to keys of the other side, of both sides.
    fn candidates(&self, span: usize, neighbourhoods: &Neighbourhoods) -> [Candidates; 2] {
        let (mut fractions, mut keys) = (FractionCache::default(), Vec::new());
        let mut negate = true;
        self.operands(self.spans[span].clone()).map(|(own, others)| {
            negate = !negate;
            keys.clear();
            self.counter.rule.append_keys(&own, &others, &mut fractions, &mut keys);
            let mut candidates = Candidates::default();
            for ((&own, &other), &key) in own.iter().zip(&others).zip(&keys) {
                self.counter.push_if_near(&mut candidates, neighbourhoods, key, negate, (own, other));
            }
            candidates
        })
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
        self.counter.size(self.table) as usize
    }

    fn table_sample(&self, wanted: usize) -> Vec<f64> {
        let rows = self.counter.sample.rows();
        let blocks = (wanted / BLOCK).max(1);
        let (mut fractions, mut keys) = (FractionCache::default(), Vec::new());
        for block in 0..blocks {
            let start = block * (rows / blocks);
            let [(own, others), _] = self.operands(start..(start + BLOCK).min(rows));
            self.counter.rule.append_keys(&own, &others, &mut fractions, &mut keys);
        }
        keys
    }

    fn for_each(&self, span: usize, visit: &mut dyn FnMut(&[f64])) {
        let (mut fractions, mut keys) = (FractionCache::default(), Vec::new());
        for (own, others) in self.operands(self.spans[span].clone()) {
            keys.clear();
            self.counter.rule.append_keys(&own, &others, &mut fractions, &mut keys);
            visit(&keys);
        }
    }
}

/// Spans small enough that what is formed from one stays in the cache until it is partitioned.
fn pair_spans(rows: usize, workers: &Workers<'_>) -> Vec<Range<usize>> {
    const MOST_ROWS: usize = 1 << 19;
    let count = rows.div_ceil(MOST_ROWS).max(4 * workers.threads());
    (0..count).map(|span| span * rows / count..(span + 1) * rows / count).collect()
}
