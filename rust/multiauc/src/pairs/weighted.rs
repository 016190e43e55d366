//! Weighted rows: counts become sums of weights, taken in an order that does not depend on the number of threads.

use std::ops::Range;

use super::cost_scores::{PairScore, cost_score};
use super::tiles::{PairTile, PairTiles, WHOLE_MATRIX_CLASSES, own_group_width};
use super::wins::{Tally, Wins};
use crate::error::Result;
use crate::float::Score;
use crate::keys::{DifferenceRule, KeyScratch};
use crate::memory::make_room;
use crate::parallel::Workers;
use crate::ranking::{
    FEWEST_SPLIT_ROWS, LargeWeightedTable, NearRow, Nearness, WeightedTable, WeightedWins, wins_of_near,
};
use crate::sample::{ClassBlocks, ClassRows, ScoredSample};

/// Rows looked up per task: a fixed number, so that sums are taken in the same order on any number of threads.
const CHUNK: usize = 1 << 14;

/// Tallies the wins of all pairs c < d of present classes by weight, each ranked by its score.
pub(crate) fn tally_weighted<T: Score, A: Tally>(
    sample: &ScoredSample<'_, T>,
    score_of: impl Fn(usize, usize) -> PairScore + Sync,
    workers: &Workers<'_>,
    tally: A,
) -> Result<A> {
    let rows = ClassRows::new(sample, workers)?;
    let counter = PairCounter { sample, rows: &rows, rule: DifferenceRule::of(sample, workers)?, score_of };
    if sample.classes() > WHOLE_MATRIX_CLASSES {
        counter.tally_tiles(workers, tally)
    } else {
        counter.tally_whole(workers, tally)
    }
}

/// The pairs of one sample.
struct PairCounter<'s, 'a, T, F> {
    sample: &'s ScoredSample<'a, T>,
    rows: &'s ClassRows,
    rule: DifferenceRule,
    score_of: F,
}

/// Memory reused from pair to pair.
#[derive(Default)]
struct CountingScratch {
    table: WeightedTable,
    /// Keys of the two sides.
    keys: [Vec<f64>; 2],
    key_scratch: KeyScratch,
}

/// How the keys of a pair are compared.
struct KeyKind {
    /// Keys closer than this are compared exactly.
    near: Option<f64>,
    are_whole_numbers: bool,
}

impl<T: Score, F: Fn(usize, usize) -> PairScore + Sync> PairCounter<'_, '_, T, F> {
    /// All classes gathered at once, pairs as tasks.
    fn tally_whole<A: Tally>(&self, workers: &Workers<'_>, mut tally: A) -> Result<A> {
        let all = 0..self.sample.classes();
        let blocks =
            ClassBlocks::gather_classes(ClassBlocks::default(), &self.sample.scores, self.rows, &all, &all, workers)?;
        let pairs: Vec<(usize, usize)> = self.rows.pairs().collect();
        let counted = workers.map_with(pairs.len(), CountingScratch::default, |scratch, pair| {
            let (c, d) = pairs[pair];
            let of = [c, d].map(|class| [blocks.run(class, c), blocks.run(class, d)]);
            self.wins([c, d], of, scratch, workers)
        })?;
        pairs.into_iter().zip(counted).for_each(|((c, d), wins)| tally.add(c, d, wins));
        Ok(tally)
    }

    /// Tiles of class groups as tasks.
    fn tally_tiles<A: Tally>(&self, workers: &Workers<'_>, tally: A) -> Result<A> {
        let alone = workers.alone();
        let tiles = PairTiles::new(self.sample, self.rows, own_group_width(self.sample, workers.threads()), workers)?;
        let list = tiles.tiles();
        let scratch = || (CountingScratch::default(), PairTile::default());
        let parts = workers.map_with(list.len(), scratch, |(scratch, memory), index| {
            let tile = tiles.gather(list[index], std::mem::take(memory), &alone)?;
            let mut part = tally.empty();
            for (c, d) in tiles.pairs(&tile) {
                workers.check()?;
                let ((c_by_c, c_by_d), (d_by_d, d_by_c)) = (tiles.operands(&tile, c, d), tiles.operands(&tile, d, c));
                part.add(c, d, self.wins([c, d], [[c_by_c, c_by_d], [d_by_c, d_by_d]], scratch, &alone)?);
            }
            *memory = tile;
            Ok(part)
        })?;
        Ok(parts.into_iter().fold(tally, A::merge))
    }

    /// What class c wins against class d: `of[side][column]` are the scores of the rows of each in both columns.
    fn wins(
        &self,
        classes: [usize; 2],
        of: [[&[T]; 2]; 2],
        scratch: &mut CountingScratch,
        workers: &Workers<'_>,
    ) -> Result<Wins> {
        let KeyKind { near, are_whole_numbers } = self.fill_keys(classes, of, scratch);
        let CountingScratch { table, keys, .. } = scratch;
        let weights = classes.map(|class| self.rows.weights_of(class).unwrap_or(&[]));
        let own = usize::from(keys[1].len() < keys[0].len());
        let other = 1 - own;
        let nearness = Nearness { tolerance: near, is_settled: |key: f64| self.rule.is_settled(key) };
        // What is found is won by the looked-up class.
        let oriented = |wins: WeightedWins| Wins::Weighted(if other == 0 { wins } else { wins.reversed() });
        if !are_whole_numbers && keys[own].len() >= FEWEST_SPLIT_ROWS {
            let large = LargeWeightedTable::new((&keys[own][..], weights[own]), near, workers)?;
            if let Some(wins) = large.wins_of((&keys[other][..], weights[other]), nearness, workers)? {
                return Ok(oriented(wins));
            }
        }
        if are_whole_numbers {
            table.build_whole_numbers(&keys[own], weights[own]);
        } else {
            table.build(&keys[own], weights[own], near);
        }
        let (mut wins, found) = look_up(table, (&keys[other], weights[other]), nearness, workers)?;
        if !found.is_empty() {
            let row = |side: usize, place: usize| NearRow {
                key: keys[side][place],
                operands: (of[side][0][place].into(), of[side][1][place].into()),
                weight: weights[side][place],
            };
            let found = found.into_iter().map(|place| row(other, place)).collect();
            wins = wins.plus(wins_of_near(self.rule, found, (0..keys[own].len()).map(|place| row(own, place))));
        }
        Ok(oriented(wins))
    }

    /// Makes the keys of both sides, the larger the more they speak for the first class.
    fn fill_keys(&self, classes: [usize; 2], of: [[&[T]; 2]; 2], scratch: &mut CountingScratch) -> KeyKind {
        let CountingScratch { keys, key_scratch, .. } = scratch;
        let score = (self.score_of)(classes[0], classes[1]);
        let operands = of.map(|[of_first, of_second]| (of_first, of_second));
        if score == PairScore::Difference {
            key_scratch.forget_ranks();
            let [first, second] = operands.map(std::iter::once);
            if self.rule.rank_keys(first, second, key_scratch, keys.each_mut()) {
                return KeyKind { near: None, are_whole_numbers: true };
            }
        }
        for (side, keys) in keys.iter_mut().enumerate() {
            let rows = self.rows.of(classes[side]);
            make_room(keys, rows.len());
            match &score {
                PairScore::Difference => self.rule.append_keys(of[side][0], of[side][1], key_scratch, keys),
                PairScore::Tie => keys.resize(rows.len(), 0.0),
                PairScore::Costs(coefficients) => {
                    keys.extend(rows.iter().map(|&row| cost_score(&self.sample.scores, row as usize, coefficients)));
                }
            }
        }
        match score {
            PairScore::Difference => KeyKind {
                near: self.rule.near.filter(|_| !self.rule.equal_keys_tie(operands.into_iter())),
                are_whole_numbers: self.rule.largest_whole_number().is_some(),
            },
            PairScore::Tie => KeyKind { near: None, are_whole_numbers: true },
            PairScore::Costs(_) => KeyKind { near: None, are_whole_numbers: false },
        }
    }
}

/// What some rows win against a table, and the places of those that are too close to tell apart, which are left out.
fn look_up<T: Score>(
    table: &WeightedTable,
    (keys, weights): (&[T], &[f64]),
    nearness: Nearness<impl Fn(f64) -> bool + Copy + Sync>,
    workers: &Workers<'_>,
) -> Result<(WeightedWins, Vec<usize>)> {
    let chunks: Vec<(&[T], &[f64])> = keys.chunks(CHUNK).zip(weights.chunks(CHUNK)).collect();
    let parts = workers.map(chunks.len(), |chunk| {
        let ((keys, weights), mut near) = (chunks[chunk], Vec::new());
        Ok((table.wins_of(keys, weights, nearness, &mut near), near))
    })?;
    let (mut wins, mut found) = (WeightedWins::default(), Vec::new());
    for (chunk, (of_chunk, near)) in parts.into_iter().enumerate() {
        wins = wins.plus(of_chunk);
        found.extend(near.into_iter().map(|place| chunk * CHUNK + place as usize));
    }
    Ok((wins, found))
}

/// For the column of class c: what it wins against each other class.
pub(super) fn column_wins<T: Score>(
    rows: &ClassRows,
    blocks: &ClassBlocks<T>,
    class: usize,
    table: &mut WeightedTable,
    workers: &Workers<'_>,
) -> Result<Vec<WeightedWins>> {
    let weights_of = |class: usize| rows.weights_of(class).unwrap_or(&[]);
    let mut wins = vec![WeightedWins::default(); rows.classes()];
    let own = (blocks.run(class, class), weights_of(class));
    if own.0.len() >= FEWEST_SPLIT_ROWS {
        let large = LargeWeightedTable::new(own, None, workers)?;
        for d in rows.others(class) {
            let found = large.wins_of((blocks.run(d, class), weights_of(d)), Nearness::NEVER, workers)?;
            wins[d] = found.unwrap_or_default().reversed();
        }
        return Ok(wins);
    }
    table.build(own.0, own.1, None);
    for d in rows.others(class) {
        let (won_by_other, _) = look_up(table, (blocks.run(d, class), weights_of(d)), Nearness::NEVER, workers)?;
        wins[d] = won_by_other.reversed();
    }
    Ok(wins)
}

/// The micro average: own cells against all others, each with the weight of its row.
pub(crate) fn micro<T: Score>(sample: &ScoredSample<'_, T>, columns: &[usize], workers: &Workers<'_>) -> Result<f64> {
    let rows: Vec<usize> = (0..sample.rows()).filter(|&row| sample.has_row(row)).collect();
    let own: Vec<T> = rows.iter().map(|&row| sample.scores.get(row, sample.codes.get(row))).collect();
    let weights: Vec<f64> = rows.iter().map(|&row| sample.weight(row)).collect();
    let mut table = WeightedTable::default();
    table.build(&own, &weights, None);
    let spans: Vec<Range<usize>> =
        (0..rows.len()).step_by(CHUNK).map(|start| start..(start + CHUNK).min(rows.len())).collect();
    let parts = workers.map(spans.len(), |span| {
        let (mut keys, mut of_keys) = (Vec::new(), Vec::new());
        for place in spans[span].clone() {
            let (row, own_column) = (rows[place], sample.codes.get(rows[place]));
            let others = columns.iter().filter(|&&column| column != own_column);
            keys.extend(others.map(|&column| sample.scores.get(row, column)));
            of_keys.resize(keys.len(), weights[place]);
        }
        Ok(table.wins_of(&keys, &of_keys, Nearness::NEVER, &mut Vec::new()).reversed())
    })?;
    Ok(parts.into_iter().fold(WeightedWins::default(), WeightedWins::plus).share())
}
