//! Placements of a pair of classes: by the difference of their scores (AUC_mu), or by one column.

use super::two_classes::OneRanking;
use super::waves::in_waves;
use crate::error::Result;
use crate::float::Score;
use crate::inference::UnitOrder;
use crate::keys::{DifferenceRule, ExactKey, KeyScratch};
use crate::memory::{Buffers, Pool, make_room};
use crate::pairs::{PairScore, PairTile, PairTiles, WHOLE_MATRIX_CLASSES, Wins, cost_score, shared_group_width};
use crate::parallel::Workers;
use crate::ranking::{Arrangement, Nearness, OrderedRows, PlacementLookup, RankedRow, WeightedWins};
use crate::sample::{ClassBlocks, ClassRows, ScoredSample};

/// Pairs per thread whose placements are kept until they are added: enough that no thread waits long for another.
const PAIRS_PER_THREAD: usize = 4;
/// The same in rows, for small classes: waking a thread takes as long as placing a few hundred rows.
const ROWS_PER_THREAD: usize = 1 << 17;

/// The scores of two classes in their two columns.
pub(super) struct PairOperands<'b, T> {
    pub classes: [usize; 2],
    /// `of[side][column]`: the rows of a side in the columns of both classes.
    pub of: [[&'b [T]; 2]; 2],
}

/// Memory reused from pair to pair.
#[derive(Debug, Default)]
pub(super) struct PlacingScratch {
    pub ordered: OrderedRows,
    pub table: PlacementLookup,
    /// Keys of the two sides.
    keys: [Vec<f64>; 2],
    pub by_rank: Vec<f64>,
    key_scratch: KeyScratch,
    /// The rows of a class by rank, where they are not alike.
    pub order: UnitOrder,
}

/// Memory for placing classes, reused from metric to metric: fresh memory costs as much as the work done in it.
#[derive(Debug, Default)]
pub(super) struct PlacingMemory {
    pub buffers: Buffers<f64>,
    pub scratch: Pool<PlacingScratch>,
}

/// The scores of a sample as metrics that rank rows look at them.
#[derive(Clone, Copy)]
pub(super) struct RankedScores<'a, T: Score> {
    /// All of them, if they were gathered at once.
    pub whole: Option<&'a ClassBlocks<T>>,
    pub rule: DifferenceRule,
    /// The ranking that all metrics share, if they do.
    pub one: Option<&'a OneRanking>,
    pub memory: &'a PlacingMemory,
}

/// Where the rows of two classes stand relative to each other.
#[derive(Debug)]
pub(super) struct PairPlacements {
    /// For each row of the first class, the proportion of the second below it; for each row of the second, the
    /// proportion of the first above it. Ties count half.
    pub placements: [Vec<f64>; 2],
    /// What the first class wins.
    pub wins: Wins,
    /// Pairs of rows that tie, by weight.
    pub ties: f64,
}

/// Places the rows of two sides from their order.
fn place(
    ordered: &mut OrderedRows,
    rows: &ClassRows,
    [first, second]: [usize; 2],
    near: Nearness<impl Fn(f64) -> bool>,
    exact: impl Fn(&RankedRow) -> ExactKey,
) -> PairPlacements {
    let weights = [rows.weights_of(first), rows.weights_of(second)];
    let weight = |row: &RankedRow| weights[row.side as usize].map_or(1.0, |weights| weights[row.row as usize]);
    let totals = [rows.weight(first), rows.weight(second)];
    let reciprocals = totals.map(f64::recip);
    let mut placements = [first, second].map(|class| vec![0.0; rows.of(class).len()]);
    let mut below = [0.0; 2];
    let (mut doubled_wins, mut weighted, mut ties) = (0_u64, WeightedWins::default(), 0.0);
    ordered.for_each_tie(near, exact, |tie| {
        let mut tied = [0.0; 2];
        for row in tie {
            tied[row.side as usize] += weight(row);
        }
        let beaten = 2.0 * below[1] + tied[1];
        let values = [0.5 * beaten * reciprocals[1], (totals[0] - below[0] - 0.5 * tied[0]) * reciprocals[0]];
        for row in tie {
            placements[row.side as usize][row.row as usize] = values[row.side as usize];
        }
        doubled_wins += (tied[0] as u64) * (beaten as u64);
        weighted.won += tied[0] * beaten;
        weighted.lost += tied[1] * (2.0 * below[0] + tied[0]);
        ties += tied[0] * tied[1];
        below[0] += tied[0];
        below[1] += tied[1];
    });
    let wins = match rows.weights() {
        None => Wins::counted(doubled_wins, [rows.count(first), rows.count(second)]),
        Some(_) => Wins::Weighted(weighted),
    };
    PairPlacements { placements, wins, ties }
}

/// Places two classes by the score of the pair, in memory of `buffers`.
pub(super) fn place_by_difference<T: Score>(
    sample: &ScoredSample<'_, T>,
    rows: &ClassRows,
    pair: &PairOperands<'_, T>,
    score: &PairScore,
    rule: DifferenceRule,
    scratch: &mut PlacingScratch,
    (buffers, workers): (&Buffers<f64>, &Workers<'_>),
) -> Result<PairPlacements> {
    let PlacingScratch { ordered, table, keys, by_rank, key_scratch, .. } = scratch;
    let is_ranked = *score == PairScore::Difference && {
        let [first, second] = pair.of.map(|[of_first, of_second]| std::iter::once((of_first, of_second)));
        rule.rank_keys(first, second, key_scratch, keys.each_mut())
    };
    for (side, keys) in keys.iter_mut().enumerate().filter(|_| !is_ranked) {
        let rows = rows.of(pair.classes[side]);
        make_room(keys, rows.len());
        match score {
            PairScore::Difference => rule.append_keys(pair.of[side][0], pair.of[side][1], key_scratch, keys),
            PairScore::Tie => keys.resize(rows.len(), 0.0),
            PairScore::Costs(coefficients) => {
                keys.extend(rows.iter().map(|&row| cost_score(&sample.scores, row as usize, coefficients)));
            }
        }
    }
    let (near, multiples) = match score {
        PairScore::Difference => (rule.near, (is_ranked || rule.lattice().is_some()).then_some(1.0)),
        _ => (None, None),
    };
    let nearness = Nearness { tolerance: near, is_settled: |key: f64| rule.is_settled(key) };
    // Settled keys tie with many others: among sorted rows these are found at once.
    let arrangement =
        if rule.settles_decimals() { Arrangement::Sorted } else { Arrangement::quickest(near, rows.len()) };
    let kind = (nearness, multiples, arrangement);
    if let Some(placed) = place_by_table(rows, pair.classes, keys, kind, (table, by_rank), (buffers, workers))? {
        return Ok(placed);
    }
    ordered.clear();
    for (side, keys) in keys.iter().enumerate() {
        ordered.extend(side as u16, 0, keys.iter().copied());
    }
    ordered.sort();
    Ok(place(ordered, rows, pair.classes, nearness, |row| {
        let [of_first, of_second] = pair.of[row.side as usize];
        rule.exact(of_first[row.row as usize].into(), of_second[row.row as usize].into())
    }))
}

/// Places two classes by a table of the smaller; `None` if keys of the two are too close to tell apart.
pub(super) fn place_by_table(
    rows: &ClassRows,
    classes: [usize; 2],
    keys: &[Vec<f64>; 2],
    (near, multiples, arrangement): (Nearness<impl Fn(f64) -> bool + Copy + Sync>, Option<f64>, Arrangement),
    (table, by_rank): (&mut PlacementLookup, &mut Vec<f64>),
    (buffers, workers): (&Buffers<f64>, &Workers<'_>),
) -> Result<Option<PairPlacements>> {
    let own = usize::from(keys[1].len() < keys[0].len());
    let other = 1 - own;
    let mut placements = [buffers.take(keys[0].len()), buffers.take(keys[1].len())];
    let [first, second] = classes.map(|class| rows.weight(class));
    let (per_first, per_second) = (first.recip(), second.recip());
    // The proportion of the second class below a row of the first, and of the first above a row of the second.
    let finish = |side: usize, below: f64| if side == 0 { below * per_second } else { (first - below) * per_first };
    table.build(&keys[own], rows.weights_of(classes[own]), multiples, arrangement, workers)?;
    let looked_up = (&keys[other][..], rows.weights_of(classes[other]));
    let totals = table.look_up(looked_up, near, |below| finish(other, below), &mut placements[other], workers)?;
    if totals.is_near {
        for placements in placements {
            buffers.give_back(placements);
        }
        return Ok(None);
    }
    table.below_by_row(by_rank, |below| finish(own, below), &mut placements[own], workers)?;
    // What the looked-up class has below it, it wins; if that is the second class, the first loses it.
    let sizes = classes.map(|class| rows.count(class));
    let (doubled_wins, weighted) = if own == 1 {
        (totals.doubled_below, totals.weighted)
    } else {
        let doubled_pairs = 2 * sizes[0] * sizes[1];
        (doubled_pairs.wrapping_sub(totals.doubled_below), totals.weighted.reversed())
    };
    let wins = match rows.weights() {
        None => Wins::counted(doubled_wins, sizes),
        Some(_) => Wins::Weighted(weighted),
    };
    Ok(Some(PairPlacements { placements, wins, ties: totals.ties }))
}

/// Places two classes by the column of one of them, whose rows are the first side.
pub(super) fn place_by_column<T: Score>(
    rows: &ClassRows,
    pair: &PairOperands<'_, T>,
    column: usize,
    ordered: &mut OrderedRows,
) -> PairPlacements {
    let (own, other) = (column, 1 - column);
    ordered.clear();
    ordered.extend(0, 0, pair.of[own][column].iter().map(|&score| score.into()));
    ordered.extend(1, 0, pair.of[other][column].iter().map(|&score| score.into()));
    ordered.sort();
    place(ordered, rows, [pair.classes[own], pair.classes[other]], Nearness::NEVER, never_near)
}

/// The exact key of a row where keys are never too close to tell apart: scores compare as they are stored.
pub(super) fn never_near(row: &RankedRow) -> ExactKey {
    ExactKey::plain(row.key, 0.0)
}

/// Runs `task(scratch, pair)` for all pairs c < d of present classes; `consume` gets the results a few at a time, in an
/// order that depends on the sample alone. `whole` has all scores, if they were gathered at once.
pub(super) fn for_each_pair<T: Score, S: Default + Send, R: Send>(
    sample: &ScoredSample<'_, T>,
    rows: &ClassRows,
    whole: Option<&ClassBlocks<T>>,
    (pool, workers): (&Pool<S>, &Workers<'_>),
    task: impl Fn(&mut S, &PairOperands<'_, T>) -> Result<R> + Sync,
    mut consume: impl FnMut(Vec<R>) -> Result<()>,
) -> Result<()> {
    let rows_of_a_pair = (2 * rows.len() / rows.present().len().max(1)).max(1);
    let pairs_per_thread = PAIRS_PER_THREAD.max(ROWS_PER_THREAD / rows_of_a_pair);
    if let Some(blocks) = whole {
        let pairs: Vec<(usize, usize)> = rows.pairs().collect();
        let run = |scratch: &mut S, pair: usize| {
            let (c, d) = pairs[pair];
            let of = [c, d].map(|class| [blocks.run(class, c), blocks.run(class, d)]);
            task(scratch, &PairOperands { classes: [c, d], of })
        };
        return in_waves(workers, pool, (pairs.len(), pairs_per_thread), run, &mut consume);
    }
    let tiles = PairTiles::new(sample, rows, shared_group_width::<T>(sample.classes(), rows.len()), workers)?;
    let mut memory = PairTile::default();
    for index in tiles.tiles() {
        let tile = tiles.gather(index, memory, workers)?;
        let pairs: Vec<(usize, usize)> = tiles.pairs(&tile).collect();
        let run = |scratch: &mut S, pair: usize| {
            let (c, d) = pairs[pair];
            let ((c_by_c, c_by_d), (d_by_d, d_by_c)) = (tiles.operands(&tile, c, d), tiles.operands(&tile, d, c));
            task(scratch, &PairOperands { classes: [c, d], of: [[c_by_c, c_by_d], [d_by_c, d_by_d]] })
        };
        in_waves(workers, pool, (pairs.len(), pairs_per_thread), run, &mut consume)?;
        memory = tile;
    }
    Ok(())
}

/// All scores by class and column, where classes are so few that they are gathered at once.
pub(super) fn gather_whole<T: Score>(
    sample: &ScoredSample<'_, T>,
    rows: &ClassRows,
    workers: &Workers<'_>,
) -> Result<Option<ClassBlocks<T>>> {
    let all = 0..sample.classes();
    if all.len() > WHOLE_MATRIX_CLASSES {
        return Ok(None);
    }
    ClassBlocks::gather_classes(ClassBlocks::default(), &sample.scores, rows, &all, &all, workers).map(Some)
}
