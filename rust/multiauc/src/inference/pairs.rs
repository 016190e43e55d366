//! Placements of a pair of classes: by the difference of their scores (AUC_mu), or by one column.

use std::ops::Range;

use super::layout::{Layout, in_waves};
use crate::error::Result;
use crate::float::Score;
use crate::keys::DifferenceRule;
use crate::keys::ExactKey;
use crate::keys::FractionCache;
use crate::pairs::{PairScore, cost_score, ratio};
use crate::parallel::Workers;
use crate::ranking::{OrderedRows, PlacementTable, RankedRow};
use crate::sample::ClassBlock;
use crate::sample::ScoredSample;

/// Up to this many classes all are gathered at once; beyond, groups of classes.
const WHOLE_MATRIX_CLASSES: usize = 16;
/// Pairs whose placements are kept until they are added: enough that no thread waits long for another.
const PAIRS_PER_THREAD: usize = 4;

/// The scores of two classes in their two columns.
pub(super) struct PairOperands<'b, T> {
    pub classes: [usize; 2],
    /// `of[side][column]`: the rows of a side in the column of either class.
    pub of: [[&'b [T]; 2]; 2],
}

/// Memory that one pair leaves to the next.
#[derive(Debug, Default)]
pub(super) struct PairScratch {
    pub ordered: OrderedRows,
    table: PlacementTable,
    /// Keys of the two sides.
    keys: [Vec<f64>; 2],
    by_rank: Vec<f64>,
    fractions: FractionCache,
}

/// Where the rows of two classes stand among each other.
#[derive(Debug)]
pub(super) struct PairPlacements {
    /// Of each row of the first class the share of the second below it, and of each row of the second the share of the
    /// first above it; ties count half.
    pub placements: [Vec<f64>; 2],
    /// Twice the wins of the first class, where rows have no weights.
    pub doubled_wins: u64,
    /// U: the share of pairs of rows that are in the right order.
    pub share: f64,
    /// Pairs of rows that tie, by weight.
    pub ties: f64,
}

/// Places the rows of two sides from their order.
fn place(
    ordered: &mut OrderedRows,
    layout: &Layout,
    [first, second]: [usize; 2],
    near: Option<f64>,
    exact: impl Fn(&RankedRow) -> ExactKey,
) -> PairPlacements {
    let weights = [layout.weights_of(first), layout.weights_of(second)];
    let weight = |row: &RankedRow| weights[row.side as usize].map_or(1.0, |weights| weights[row.row as usize]);
    let totals = [layout.totals[first], layout.totals[second]];
    let reciprocals = totals.map(f64::recip);
    let mut placements = [vec![0.0; layout.range(first).len()], vec![0.0; layout.range(second).len()]];
    let mut below = [0.0; 2];
    let (mut doubled_wins, mut weighted_wins, mut ties) = (0_u64, 0.0, 0.0);
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
        weighted_wins += tied[0] * beaten;
        ties += tied[0] * tied[1];
        below[0] += tied[0];
        below[1] += tied[1];
    });
    let share = if layout.weights.is_none() {
        let pairs = 2 * u128::from(layout.counts[first]) * u128::from(layout.counts[second]);
        ratio(doubled_wins.into(), pairs)
    } else {
        weighted_wins / (2.0 * totals[0] * totals[1])
    };
    PairPlacements { placements, doubled_wins, share, ties }
}

/// Places two classes by the score of the pair.
pub(super) fn place_by_difference<T: Score>(
    sample: &ScoredSample<'_, T>,
    layout: &Layout,
    pair: &PairOperands<'_, T>,
    score: &PairScore,
    rule: DifferenceRule,
    scratch: &mut PairScratch,
) -> PairPlacements {
    let PairScratch { ordered, table, keys, by_rank, fractions } = scratch;
    for (side, keys) in keys.iter_mut().enumerate() {
        let rows = layout.rows.of(pair.classes[side]);
        keys.clear();
        match score {
            PairScore::Difference => rule.append_keys(pair.of[side][0], pair.of[side][1], fractions, keys),
            PairScore::Tie => keys.resize(rows.len(), 0.0),
            PairScore::Costs(coefficients) => {
                keys.extend(rows.iter().map(|&row| cost_score(&sample.scores, row as usize, coefficients)));
            }
        }
    }
    let near = if *score == PairScore::Difference { rule.near } else { None };
    place_by_table(layout, pair.classes, keys, near, table, by_rank).unwrap_or_else(|| {
        ordered.clear();
        for (side, keys) in keys.iter().enumerate() {
            ordered.extend(side as u16, 0, keys.iter().copied());
        }
        ordered.sort();
        place(ordered, layout, pair.classes, near, |row| {
            let [of_first, of_second] = pair.of[row.side as usize];
            rule.exact(of_first[row.row as usize].into(), of_second[row.row as usize].into())
        })
    })
}

/// Places two classes by a table of the smaller; `None` if keys of the two are too close to tell.
fn place_by_table(
    layout: &Layout,
    classes: [usize; 2],
    keys: &[Vec<f64>; 2],
    near: Option<f64>,
    table: &mut PlacementTable,
    by_rank: &mut Vec<f64>,
) -> Option<PairPlacements> {
    let own = usize::from(keys[1].len() < keys[0].len());
    let other = 1 - own;
    let mut placements = [vec![0.0; keys[0].len()], vec![0.0; keys[1].len()]];
    table.build(keys[own].iter().copied(), layout.weights_of(classes[own]));
    let of_other = keys[other].iter().copied();
    let totals = table.look_up(of_other, layout.weights_of(classes[other]), near, &mut placements[other]);
    if totals.is_near {
        return None;
    }
    table.below_by_rank(by_rank);
    for (row, &below) in table.rows().zip(by_rank.iter()) {
        placements[own][row] = below;
    }
    let [first, second] = classes.map(|class| layout.totals[class]);
    let (per_first, per_second) = (first.recip(), second.recip());
    placements[0].iter_mut().for_each(|below| *below *= per_second);
    placements[1].iter_mut().for_each(|below| *below = (first - *below) * per_first);
    // What the looked-up class has below it, it wins; if that is the second class, the first loses it.
    let [n_c, n_d] = classes.map(|class| layout.counts[class]);
    let doubled_pairs = 2 * n_c * n_d;
    let (doubled_wins, weighted) = if own == 1 {
        (totals.doubled_below, totals.weighted_below)
    } else {
        (doubled_pairs.wrapping_sub(totals.doubled_below), 2.0 * first * second - totals.weighted_below)
    };
    let share = match layout.weights {
        None => ratio(doubled_wins.into(), doubled_pairs.into()),
        Some(_) => weighted / (2.0 * first * second),
    };
    Some(PairPlacements { placements, doubled_wins, share, ties: totals.ties })
}

/// Places two classes by the column of one of them, whose rows are the first side.
pub(super) fn place_by_column<T: Score>(
    layout: &Layout,
    pair: &PairOperands<'_, T>,
    column: usize,
    ordered: &mut OrderedRows,
) -> PairPlacements {
    let (own, other) = (column, 1 - column);
    ordered.clear();
    ordered.extend(0, 0, pair.of[own][column].iter().map(|&score| score.into()));
    ordered.extend(1, 0, pair.of[other][column].iter().map(|&score| score.into()));
    ordered.sort();
    place(ordered, layout, [pair.classes[own], pair.classes[other]], None, never_near)
}

/// The exact key of a row where keys are never too close to tell: scores compare as they are stored.
pub(super) fn never_near(row: &RankedRow) -> ExactKey {
    ExactKey::new(row.key, 0.0, [None, None])
}

/// `task(scratch, pair)` for all pairs c < d of present classes; `consume` gets the results some at a time, in an order
/// that depends on the sample alone.
pub(super) fn for_each_pair<T: Score, S: Default + Send, R: Send>(
    sample: &ScoredSample<'_, T>,
    layout: &Layout,
    workers: &Workers<'_>,
    task: impl Fn(&mut S, &PairOperands<'_, T>) -> Result<R> + Sync,
    mut consume: impl FnMut(Vec<R>) -> Result<()>,
) -> Result<()> {
    let gather = |classes: &Range<usize>, columns: &Range<usize>| -> Result<Vec<ClassBlock<T>>> {
        workers.map(classes.len(), |index| {
            let class = classes.start + index;
            Ok(ClassBlock::gather(&sample.scores, &layout.rows, class..class + 1, columns.clone()))
        })
    };
    let own =
        workers.map(sample.classes(), |c| Ok(ClassBlock::gather(&sample.scores, &layout.rows, c..c + 1, c..c + 1)))?;
    let groups = class_groups::<T>(sample.classes(), layout.len());
    for (index, left) in groups.iter().enumerate() {
        for right in &groups[index..] {
            let left_blocks = gather(left, right)?;
            let right_blocks = if left == right { Vec::new() } else { gather(right, left)? };
            let right_blocks = if left == right { &left_blocks } else { &right_blocks };
            let is_present = |class: &usize| layout.counts[*class] > 0;
            let pairs: Vec<(usize, usize)> = left
                .clone()
                .filter(is_present)
                .flat_map(|c| (right.start.max(c + 1)..right.end).filter(is_present).map(move |d| (c, d)))
                .collect();
            let run = |scratch: &mut S, pair: usize| {
                let (c, d) = pairs[pair];
                let of_c = [own[c].run(c, c), left_blocks[c - left.start].run(c, d)];
                let of_d = [right_blocks[d - right.start].run(d, c), own[d].run(d, d)];
                task(scratch, &PairOperands { classes: [c, d], of: [of_c, of_d] })
            };
            in_waves(workers, pairs.len(), PAIRS_PER_THREAD, run, &mut consume)?;
        }
    }
    Ok(())
}

/// Consecutive classes that are gathered together: two groups take a few megabytes.
fn class_groups<T>(classes: usize, rows: usize) -> Vec<Range<usize>> {
    const TILE_BYTES: f64 = 16e6;
    let width = if classes <= WHOLE_MATRIX_CLASSES {
        classes
    } else {
        let rows_per_class = (rows as f64 / classes as f64).max(1.0);
        ((TILE_BYTES / (2.0 * rows_per_class * size_of::<T>() as f64)).sqrt() as usize).clamp(8, classes)
    };
    (0..classes).step_by(width).map(|first| first..(first + width).min(classes)).collect()
}
