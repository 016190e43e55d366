//! Wins of each class over each other by the difference of their scores: the counts behind AUC_mu.

use super::pair_stream::PairStream;
use super::tiles::{PairTile, PairTiles, WHOLE_MATRIX_CLASSES, own_group_width};
use super::wins::{Tally, Wins};
use crate::error::Result;
use crate::float::Score;
use crate::keys::{DifferenceRule, KeyScratch, Operands, SplitKeys};
use crate::memory::{Buffers, Pool};
use crate::parallel::Workers;
use crate::ranking::{BucketTable, Lookup, NearKeys, Side, WholeNumberTable};
use crate::sample::{ClassBlocks, ClassRows, ScoredSample};

/// Tallies the wins of all pairs c < d of present classes for which `wanted(c, d)` holds, ranked by the difference of
/// their scores.
pub(crate) fn tally_differences<T: Score, A: Tally>(
    sample: &ScoredSample<'_, T>,
    rule: DifferenceRule,
    workers: &Workers<'_>,
    wanted: impl Fn(usize, usize) -> bool + Sync,
    tally: A,
) -> Result<A> {
    let counter = PairCounter { sample, rule, lookups: Pool::default() };
    if sample.classes() > WHOLE_MATRIX_CLASSES {
        return counter.tally_tiles(workers, &wanted, tally);
    }
    let (streamed, gathered): (Vec<_>, Vec<_>) =
        sample.pairs().filter(|&(c, d)| wanted(c, d)).partition(|&(c, d)| counter.is_streamed(c, d));
    let mut all = counter.tally_whole(&gathered, workers, tally)?;
    // One at a time, each on all threads: their copies would not all fit in memory at once.
    let buffers = Buffers::default();
    for (c, d) in streamed {
        let wins = counter
            .ordered(c, d, |table, other| PairStream::new(&counter, table, other, workers).count(&buffers, workers))?;
        all.add(c, d, wins);
    }
    Ok(all)
}

/// The pairs of one sample.
pub(super) struct PairCounter<'s, 'a, T> {
    pub(super) sample: &'s ScoredSample<'a, T>,
    pub(super) rule: DifferenceRule,
    /// One for each thread: it remembers fractions from pair to pair.
    lookups: Pool<LookupScratch>,
}

/// Memory reused from pair to pair.
#[derive(Default)]
struct CountingScratch {
    table: BucketTable<f64>,
    whole_numbers: WholeNumberTable,
    table_keys: Vec<f64>,
}

/// Memory that is used for one chunk of looked-up keys after another.
#[derive(Default)]
struct LookupScratch {
    keys: Vec<f64>,
    parts: SplitKeys,
    key_scratch: KeyScratch,
}

impl<T: Score> PairCounter<'_, '_, T> {
    pub(super) fn size(&self, class: usize) -> u64 {
        self.sample.sizes.rows[class]
    }

    /// Whether a pair is read from the scores and split by value: where it has many rows, and enough of all rows that
    /// reading past the others costs less than copying everything.
    fn is_streamed(&self, c: usize, d: usize) -> bool {
        const MANY_ROWS: u64 = 1 << 18;
        let rows = self.size(c) + self.size(d);
        rows > MANY_ROWS && 3 * rows > self.sample.rows() as u64
    }

    /// All classes gathered at once, pairs as tasks.
    fn tally_whole<A: Tally>(&self, pairs: &[(usize, usize)], workers: &Workers<'_>, tally: A) -> Result<A> {
        if pairs.is_empty() {
            return Ok(tally);
        }
        let blocks =
            ClassBlocks::gather_rows(ClassBlocks::default(), self.sample, &(0..self.sample.classes()), workers)?;
        let counted = workers.map_with(pairs.len(), CountingScratch::default, |scratch, pair| {
            let (c, d) = pairs[pair];
            let runs = |own, other| blocks.runs(own, own).zip(blocks.runs(own, other));
            self.ordered(c, d, |table, other| {
                self.count_below(&runs(table, other), &runs(other, table), scratch, workers)
            })
        })?;
        Ok(pairs.iter().zip(counted).fold(tally, |mut tally, (&(c, d), wins)| {
            tally.add(c, d, wins);
            tally
        }))
    }

    /// Tiles of class groups as tasks.
    fn tally_tiles<A: Tally>(
        &self,
        workers: &Workers<'_>,
        wanted: &(impl Fn(usize, usize) -> bool + Sync),
        tally: A,
    ) -> Result<A> {
        let rows = ClassRows::new(self.sample, workers)?;
        let alone = workers.alone();
        let tiles = PairTiles::new(self.sample, &rows, own_group_width(self.sample, workers.threads()), workers)?;
        let list = tiles.tiles();
        let scratch = || (CountingScratch::default(), PairTile::default());
        let parts = workers.map_with(list.len(), scratch, |(scratch, memory), index| {
            let tile = tiles.gather(list[index], std::mem::take(memory), &alone)?;
            let mut part = tally.empty();
            for (c, d) in tiles.pairs(&tile).filter(|&(c, d)| wanted(c, d)) {
                workers.check()?;
                let runs = |class: usize, other: usize| std::iter::once(tiles.operands(&tile, class, other));
                let wins = self.ordered(c, d, |table, other| {
                    self.count_below(&runs(table, other), &runs(other, table), scratch, &alone)
                })?;
                part.add(c, d, wins);
            }
            *memory = tile;
            Ok(part)
        })?;
        Ok(parts.into_iter().fold(tally, A::merge))
    }

    /// Counts a pair by `count_below(table, other)`, whose table is the smaller class.
    fn ordered(&self, c: usize, d: usize, count_below: impl FnOnce(usize, usize) -> Result<u64>) -> Result<Wins> {
        // With u = s_cd = p_c − p_d in class c and w = p_d − p_c in class d, class c wins where u > −w. Either class
        // can be the table of its own differences, the other looks up its negated ones: each pair of rows found "below"
        // is lost.
        let (table, other) = if self.size(c) <= self.size(d) { (c, d) } else { (d, c) };
        let doubled_losses = count_below(table, other)?;
        let sizes = [self.size(c), self.size(d)];
        Ok(Wins::counted(2 * sizes[0] * sizes[1] - doubled_losses, sizes))
    }

    /// Counts a pair from its runs of (own scores, other scores).
    fn count_below<'r>(
        &self,
        table: &(impl Iterator<Item = Operands<'r, T>> + Clone),
        looked_up: &(impl Iterator<Item = Operands<'r, T>> + Clone),
        scratch: &mut CountingScratch,
        workers: &Workers<'_>,
    ) -> Result<u64>
    where
        T: 'r,
    {
        if let Some(count) = self.count_ranks(table, looked_up, scratch) {
            return Ok(count);
        }
        let CountingScratch { table: buckets, whole_numbers, table_keys } = scratch;
        table_keys.clear();
        self.lookups.with(|LookupScratch { key_scratch, .. }| {
            table.clone().for_each(|(own, other)| self.rule.append_keys(own, other, key_scratch, table_keys));
        });
        if self.rule.largest_whole_number().is_some() && whole_numbers.build(table_keys) {
            return self.count_whole_numbers(whole_numbers, looked_up, workers);
        }
        let sides = || table.clone().chain(looked_up.clone());
        let near = self.rule.near.filter(|_| !self.rule.equal_keys_tie(sides()));
        if near.is_some() && !self.rule.settles_decimals() && has_many_ties(table_keys) {
            let mut all = NearKeys::all(self.rule);
            table.clone().for_each(|(own, other)| all.collect(Side::Table, own, other));
            looked_up.clone().for_each(|(own, other)| all.collect(Side::LookedUp, own, other));
            return Ok(all.recount(0));
        }
        buckets.build(std::iter::once(&table_keys[..]), near);
        let buckets = &*buckets;
        let chunks: Vec<Operands<'r, T>> = looked_up.clone().flat_map(chunks).collect();
        let parts = workers.map(chunks.len(), |chunk| {
            self.lookups.with(|scratch| {
                scratch.keys.clear();
                self.rule.append_keys(chunks[chunk].0, chunks[chunk].1, &mut scratch.key_scratch, &mut scratch.keys);
                let (count, places) = self.look_up(buckets, near, scratch);
                let found: Vec<f64> = places.iter().map(|&place| -scratch.keys[place as usize]).collect();
                Ok((count, found, places))
            })
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

    /// Counts the keys in the scratch memory, and finds the places of those that are near to keys of the table.
    fn look_up(&self, table: &BucketTable<f64>, near: Option<f64>, scratch: &mut LookupScratch) -> (u64, Vec<u32>) {
        let LookupScratch { keys, parts, .. } = scratch;
        let (mut places, lookup) = (Vec::new(), Lookup { negate: true, near });
        if !self.rule.settles_decimals() {
            return (table.count(keys, lookup, &mut places), places);
        }
        self.rule.split(keys, parts);
        let count = table.count(&parts.settled, Lookup { near: None, ..lookup }, &mut places)
            + table.count(&parts.open, lookup, &mut places);
        (count, places.into_iter().map(|place| parts.open_places[place as usize]).collect())
    }

    /// The same by the ranks of differences, where those repeat.
    fn count_ranks<'r>(
        &self,
        table: &(impl Iterator<Item = Operands<'r, T>> + Clone),
        looked_up: &(impl Iterator<Item = Operands<'r, T>> + Clone),
        scratch: &mut CountingScratch,
    ) -> Option<u64>
    where
        T: 'r,
    {
        let CountingScratch { table: buckets, whole_numbers, table_keys } = scratch;
        self.lookups.with(|LookupScratch { keys, key_scratch, .. }| {
            // Both sides in the order of the table's differences.
            let looked_up = looked_up.clone().map(|(own, other)| (other, own));
            if !self.rule.rank_keys(table.clone(), looked_up, key_scratch, [table_keys, keys]) {
                return None;
            }
            if whole_numbers.build(table_keys) {
                return Some(whole_numbers.count(keys));
            }
            buckets.build(std::iter::once(&table_keys[..]), None);
            Some(buckets.count(keys, Lookup::PLAIN, &mut Vec::new()))
        })
    }

    /// The same where keys are whole numbers.
    fn count_whole_numbers<'r>(
        &self,
        table: &WholeNumberTable,
        looked_up: &(impl Iterator<Item = Operands<'r, T>> + Clone),
        workers: &Workers<'_>,
    ) -> Result<u64>
    where
        T: 'r,
    {
        let chunks: Vec<Operands<'r, T>> = looked_up.clone().flat_map(chunks).collect();
        let parts = workers.map(chunks.len(), |chunk| {
            self.lookups.with(|LookupScratch { keys, key_scratch, .. }| {
                keys.clear();
                self.rule.append_keys(chunks[chunk].0, chunks[chunk].1, key_scratch, keys);
                Ok(table.count_negated(keys))
            })
        })?;
        Ok(parts.into_iter().sum())
    }
}

/// Splits a run into pieces whose keys stay in the cache.
fn chunks<T>((own, other): Operands<'_, T>) -> impl Iterator<Item = Operands<'_, T>> {
    const CHUNK: usize = 1 << 13;
    own.chunks(CHUNK).zip(other.chunks(CHUNK))
}

/// Whether a sample of the keys shows so many ties that nearly all rows would have to be compared again.
fn has_many_ties(keys: &[f64]) -> bool {
    const SAMPLE: usize = 256;
    const SLOTS: usize = 4 * SAMPLE;
    if keys.len() < 16 * SAMPLE {
        return false;
    }
    // Each key is compared with the last one that fell into its slot: sorting the sample would take longer.
    let mut slots = [f64::NAN; SLOTS];
    let is_tie = |&key: &f64| {
        let slot = (key + 0.0).to_bits().wrapping_mul(0x9E37_79B9_7F4A_7C15) as usize >> (usize::BITS - SLOTS.ilog2());
        std::mem::replace(&mut slots[slot], key) == key
    };
    keys.iter().step_by(keys.len() / SAMPLE).map(is_tie).filter(|&is_tie| is_tie).count() > SAMPLE / 8
}
