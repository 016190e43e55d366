//! Placements of one column: its class against every other, for Hand & Till's M and one-vs-rest.

use std::ops::Range;

use super::layout::{Layout, in_waves};
use super::moments::{Segment, moments};
use super::shares::PairShares;
use crate::error::Result;
use crate::float::Score;
use crate::pairs::ratio;
use crate::parallel::Workers;
use crate::ranking::PlacementTable;
use crate::sample::ClassBlock;
use crate::sample::ScoredSample;

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
    /// Var A(c|d) of the same.
    pub variances: Vec<f64>,
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
    table: PlacementTable,
    by_rank: Vec<f64>,
    of_pair: Vec<f64>,
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
            task(place_column(layout, &blocks, class, &shares.omega[class * classes..][..classes], scratch, workers)?)
        };
        // All columns take about the same time, and each holds a number per row.
        in_waves(workers, wanted.len(), 1, run, &mut consume)?;
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

/// The class of the column is the table, and every other class looks itself up in it.
fn place_column<T: Score>(
    layout: &Layout,
    blocks: &[ClassBlock<T>],
    class: usize,
    omega: &[f64],
    scratch: &mut ColumnScratch,
    workers: &Workers<'_>,
) -> Result<ColumnPlacements> {
    let classes = layout.counts.len();
    let ColumnScratch { table, by_rank, of_pair } = scratch;
    let keys = |d: usize| blocks[d].run(d, class).iter().map(|&score| score.into());
    table.build(keys(class), layout.weights_of(class));
    let own_total = layout.totals[class];
    let rest_total: f64 = layout.present.iter().filter(|&&d| d != class).map(|&d| layout.totals[d]).sum();
    let mut column = ColumnPlacements {
        class,
        placements: vec![0.0; layout.len()],
        by_pair: vec![0.0; table.len()],
        doubled_wins: vec![0; classes],
        shares: vec![f64::NAN; classes],
        variances: vec![f64::NAN; classes],
    };
    let mut rest_below = vec![0.0; table.len()];
    let mut sum_by_pair = vec![0.0; table.len()];
    for &d in layout.present.iter().filter(|&&d| d != class) {
        workers.check()?;
        let placements = &mut column.placements[layout.range(d)];
        let totals = table.look_up(keys(d), layout.weights_of(d), None, placements);
        for below in placements.iter_mut() {
            *below = (own_total - *below) / own_total;
        }
        table.below_by_rank(by_rank);
        // An ordered pair counts half of what the two together do.
        let (per_weight, share_of_pair) = (layout.totals[d].recip(), 0.5 * omega[d] / layout.totals[d]);
        for ((below, rest), sum) in by_rank.iter_mut().zip(&mut rest_below).zip(&mut sum_by_pair) {
            *rest += *below;
            *sum += share_of_pair * *below;
            *below *= per_weight;
        }
        of_pair.clear();
        if layout.is_order_needed() {
            of_pair.resize(by_rank.len(), 0.0);
            table.rows().zip(by_rank.iter()).for_each(|(row, &below)| of_pair[row] = below);
        } else {
            of_pair.extend_from_slice(by_rank);
        }
        let segments = [Segment { class, values: of_pair }, Segment { class: d, values: placements }];
        column.variances[d] = moments(layout, &segments, 1, None, workers)?.variance(0);
        let doubled_pairs = 2 * layout.counts[class] * layout.counts[d];
        column.doubled_wins[d] = doubled_pairs.wrapping_sub(totals.doubled_below);
        column.shares[d] = match layout.weights {
            None => ratio(column.doubled_wins[d].into(), doubled_pairs.into()),
            Some(_) => 1.0 - totals.weighted_below / (2.0 * own_total * layout.totals[d]),
        };
    }
    let own = &mut column.placements[layout.range(class)];
    for ((row, &below), &by_pair) in table.rows().zip(&rest_below).zip(&sum_by_pair) {
        own[row] = below / rest_total;
        column.by_pair[row] = by_pair;
    }
    Ok(column)
}
