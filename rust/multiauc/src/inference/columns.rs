//! Placements of one column: its class against every other, for Hand & Till's M and one-vs-rest.

use std::ops::Range;

use super::layout::{Layout, in_waves};
use super::pairs::never_near;
use super::shares::PairShares;
use crate::class_blocks::ClassBlock;
use crate::error::Result;
use crate::parallel::Workers;
use crate::ranking::OrderedRows;
use crate::score_matrix::Score;
use crate::scored_sample::ScoredSample;
use crate::separability::ratio;

/// Up to this many columns are gathered at once; beyond, a sixth of them.
const WHOLE_MATRIX_CLASSES: usize = 16;

/// Where the rows stand in one column.
#[derive(Debug)]
pub(super) struct ColumnPlacements {
    pub class: usize,
    /// By position. Of each row of the class the share of all other rows below it; of each other row the share of the
    /// class above it.
    pub placements: Vec<f64>,
    /// Of each row of the class Σ_d ω_cd · (share of class d below it).
    pub by_pair: Vec<f64>,
    /// Twice the wins of the class over every other, where rows have no weights.
    pub doubled_wins: Vec<u64>,
    /// A(c|d) of every other class; NaN for the class itself and absent ones.
    pub shares: Vec<f64>,
}

impl ColumnPlacements {
    /// The AUC of the class against all others pooled.
    pub(super) fn share_of_rest(&self, layout: &Layout) -> f64 {
        let others = || layout.present.iter().copied().filter(|&d| d != self.class);
        if layout.weights.is_none() {
            let wins = others().map(|d| u128::from(self.doubled_wins[d])).sum();
            let rest: u128 = others().map(|d| u128::from(layout.counts[d])).sum();
            return ratio(wins, 2 * u128::from(layout.counts[self.class]) * rest);
        }
        let rest: f64 = others().map(|d| layout.totals[d]).sum();
        others().map(|d| layout.totals[d] / rest * self.shares[d]).sum()
    }
}

/// Memory that one column leaves to the next.
#[derive(Debug, Default)]
struct ColumnScratch {
    ordered: OrderedRows,
    below: Vec<f64>,
    tied: Vec<f64>,
}

/// `task(placements)` for the column of every present class, `consume` gets the results some at a time in class order.
pub(super) fn for_each_column<T: Score, R: Send>(
    sample: &ScoredSample<'_, T>,
    layout: &Layout,
    shares: &PairShares<'_>,
    workers: &Workers<'_>,
    task: impl Fn(ColumnPlacements) -> Result<R> + Sync,
    mut consume: impl FnMut(Vec<R>) -> Result<()>,
) -> Result<()> {
    let classes = sample.classes();
    let width = if classes <= WHOLE_MATRIX_CLASSES { classes } else { (classes / 6).min(32) };
    for first in (0..classes).step_by(width) {
        let columns = first..(first + width).min(classes);
        let wanted: Vec<usize> = columns.clone().filter(|&class| layout.counts[class] > 0).collect();
        let blocks = gather(sample, layout, &columns, workers)?;
        let run = |scratch: &mut ColumnScratch, index: usize| {
            let class = wanted[index];
            task(place_column(layout, &blocks, class, &shares.omega[class * classes..][..classes], scratch))
        };
        in_waves(workers, wanted.len(), run, &mut consume)?;
    }
    Ok(())
}

fn gather<T: Score>(
    sample: &ScoredSample<'_, T>,
    layout: &Layout,
    columns: &Range<usize>,
    workers: &Workers<'_>,
) -> Result<Vec<ClassBlock<T>>> {
    workers.map(sample.classes(), |class| {
        Ok(ClassBlock::gather(&sample.scores, &layout.rows, class..class + 1, columns.clone()))
    })
}

fn place_column<T: Score>(
    layout: &Layout,
    blocks: &[ClassBlock<T>],
    class: usize,
    omega: &[f64],
    scratch: &mut ColumnScratch,
) -> ColumnPlacements {
    let classes = layout.counts.len();
    let ColumnScratch { ordered, below, tied } = scratch;
    ordered.clear();
    for &d in &layout.present {
        ordered.extend(d as u16, layout.starts[d] as u32, blocks[d].run(d, class).iter().map(|&score| score.into()));
    }
    ordered.sort();
    let weight = |position: u32| layout.weights.as_ref().map_or(1.0, |weights| weights[position as usize]);
    let own_total = layout.totals[class];
    let rest_total: f64 = layout.present.iter().filter(|&&d| d != class).map(|&d| layout.totals[d]).sum();
    // An ordered pair counts half of what the two together do.
    let per_weight: Vec<f64> = (0..classes)
        .map(|d| if d == class || layout.counts[d] == 0 { 0.0 } else { 0.5 * omega[d] / layout.totals[d] })
        .collect();
    let mut placements = vec![0.0; layout.len()];
    let mut by_pair = vec![0.0; layout.range(class).len()];
    let (mut losses, mut weighted_losses) = (vec![0_u64; classes], vec![0.0; classes]);
    let first_own = layout.starts[class];
    below.clear();
    below.resize(classes, 0.0);
    tied.clear();
    tied.resize(classes, 0.0);
    let mut rest_below = 0.0;
    ordered.for_each_tie(None, never_near, |tie| {
        let is_own = |side: u16| side as usize == class;
        if let [row] = tie {
            let (side, own_weight) = (row.side as usize, weight(row.row));
            if is_own(row.side) {
                placements[row.row as usize] = rest_below / rest_total;
                let below_by_pair: f64 =
                    below.iter().zip(&per_weight).map(|(below, per_weight)| below * per_weight).sum();
                by_pair[row.row as usize - first_own] = below_by_pair;
            } else {
                placements[row.row as usize] = (own_total - below[class]) / own_total;
                losses[side] += 2 * below[class] as u64;
                weighted_losses[side] += 2.0 * own_weight * below[class];
                rest_below += own_weight;
            }
            below[side] += own_weight;
            return;
        }
        for row in tie {
            tied[row.side as usize] += weight(row.row);
        }
        let own_tied = tied[class];
        let rest_tied: f64 = tie.iter().filter(|row| !is_own(row.side)).map(|row| weight(row.row)).sum();
        let lost = 2.0 * below[class] + own_tied;
        let own_placement = (rest_below + 0.5 * rest_tied) / rest_total;
        let own_by_pair: f64 =
            if own_tied > 0.0 { (0..classes).map(|d| (below[d] + 0.5 * tied[d]) * per_weight[d]).sum() } else { 0.0 };
        for row in tie {
            if is_own(row.side) {
                placements[row.row as usize] = own_placement;
                by_pair[row.row as usize - first_own] = own_by_pair;
            } else {
                placements[row.row as usize] = (own_total - 0.5 * lost) / own_total;
                losses[row.side as usize] += lost as u64;
                weighted_losses[row.side as usize] += weight(row.row) * lost;
            }
        }
        rest_below += rest_tied;
        for row in tie {
            let side = row.side as usize;
            below[side] += std::mem::take(&mut tied[side]);
        }
    });
    let doubled_pairs = |d: usize| 2 * layout.counts[class] * layout.counts[d];
    let doubled_wins: Vec<u64> = (0..classes).map(|d| doubled_pairs(d).saturating_sub(losses[d])).collect();
    let share = |d: usize| match (&layout.weights, layout.counts[d] > 0 && d != class) {
        (_, false) => f64::NAN,
        (None, true) => ratio(doubled_wins[d].into(), doubled_pairs(d).into()),
        (Some(_), true) => 1.0 - weighted_losses[d] / (2.0 * own_total * layout.totals[d]),
    };
    let shares = (0..classes).map(share).collect();
    ColumnPlacements { class, placements, by_pair, doubled_wins, shares }
}
