//! Placements of one column: its class against every other, for Hand & Till's M and one-vs-rest.

use std::ops::Range;

use super::pair_placements::{PlacingMemory, PlacingScratch};
use super::waves::in_waves;
use crate::error::Result;
use crate::float::Score;
use crate::inference::{Design, GroupDeviations, PairSide, pair_variance};
use crate::memory::Buffers;
use crate::pairs::{Wins, shared_column_width};
use crate::parallel::Workers;
use crate::ranking::{Arrangement, Nearness, WeightedWins};
use crate::sample::{ClassBlocks, ClassRows, ScoredSample};

/// Where the rows stand in one column.
#[derive(Debug)]
pub(super) struct ColumnPlacements {
    pub class: usize,
    /// By position. For each row of the class, the proportion of all other rows below it; for each other row, the
    /// proportion of the class above it.
    pub placements: Vec<f64>,
    /// For each row of the class, Σ_d ω_cd · (proportion of class d below it).
    pub by_pair: Vec<f64>,
    /// What the class wins of every other: A(c|d); `None` for the class itself and absent ones.
    pub wins: Vec<Option<Wins>>,
    /// Var A(c|d) of the same; NaN for the class itself and absent ones.
    pub variances: Vec<f64>,
    /// Degrees of freedom of these.
    pub degrees_of_freedom: Vec<f64>,
    /// What the groups of each other present class add up to, where rows are in groups.
    pub deviations: Vec<GroupDeviations>,
}

impl ColumnPlacements {
    /// A(c|d) of every other class; NaN for the class itself and absent ones.
    pub(super) fn shares(&self) -> Vec<f64> {
        self.wins.iter().map(|wins| wins.map_or(f64::NAN, Wins::share)).collect()
    }

    /// What the class wins against all others pooled.
    pub(super) fn wins_over_rest(&self, rows: &ClassRows) -> Wins {
        let (mut doubled_wins, mut weighted) = (0, WeightedWins::default());
        for wins in self.wins.iter().flatten() {
            match *wins {
                Wins::Counted { doubled, .. } => doubled_wins += doubled,
                Wins::Weighted(wins) => weighted = weighted.plus(wins),
                Wins::Share(_) => unreachable!("pairs of rows are counted"),
            }
        }
        let rest = rows.others(self.class).map(|d| rows.count(d)).sum();
        match rows.weights() {
            None => Wins::counted(doubled_wins, [rows.count(self.class), rest]),
            Some(_) => Wins::Weighted(weighted),
        }
    }
}

/// Runs `task(placements)` for the column of every present class, the placements in the buffers of `memory`; `consume` gets
/// the results a few at a time, in class order. `omega` is the K × K matrix of the weights of pairs; `whole` has all scores,
/// if they were gathered at once; `lattice` is the m of the lattice 1/m that holds every score, if there is one.
pub(super) fn for_each_column<T: Score, R: Send>(
    sample: &ScoredSample<'_, T>,
    design: &Design,
    (omega, whole, lattice): (&[f64], Option<&ClassBlocks<T>>, Option<f64>),
    (memory, workers): (&PlacingMemory, &Workers<'_>),
    task: impl Fn(ColumnPlacements) -> Result<R> + Sync,
    mut consume: impl FnMut(Vec<R>) -> Result<()>,
) -> Result<()> {
    let classes = sample.classes();
    let mut run_columns = |blocks: &ClassBlocks<T>, columns: Range<usize>| {
        let wanted: Vec<usize> = columns.filter(|&class| design.rows.count(class) > 0).collect();
        let run = |scratch: &mut PlacingScratch, index: usize| {
            let class = wanted[index];
            let omega = &omega[class * classes..][..classes];
            task(place_column(design, blocks, (class, omega, lattice), scratch, &memory.buffers, workers)?)
        };
        // All columns take about the same time, and each holds a number per row.
        in_waves(workers, &memory.scratch, (wanted.len(), 1), run, &mut consume)
    };
    if let Some(blocks) = whole {
        return run_columns(blocks, 0..classes);
    }
    let width = shared_column_width(classes);
    let mut blocks = ClassBlocks::default();
    for first in (0..classes).step_by(width) {
        let columns = first..(first + width).min(classes);
        blocks = ClassBlocks::gather_classes(blocks, &sample.scores, &design.rows, &(0..classes), &columns, workers)?;
        run_columns(&blocks, columns)?;
    }
    Ok(())
}

/// The class of the column is the table, in which every other class is looked up.
fn place_column<T: Score>(
    design: &Design,
    blocks: &ClassBlocks<T>,
    (class, omega, lattice): (usize, &[f64], Option<f64>),
    scratch: &mut PlacingScratch,
    buffers: &Buffers<f64>,
    workers: &Workers<'_>,
) -> Result<ColumnPlacements> {
    let rows = &design.rows;
    let PlacingScratch { table, by_rank, order, .. } = scratch;
    let arrangement = Arrangement::quickest(None, rows.len());
    table.build(blocks.run(class, class), rows.weights_of(class), lattice, arrangement, workers)?;
    let order = if design.is_order_needed() {
        let ranks: Vec<f64> = (0..table.len()).map(|rank| rank as f64).collect();
        let mut of_rows = buffers.take(table.len());
        table.by_row(&ranks, |rank| rank, &mut of_rows, workers)?;
        design.order_units(class, &of_rows, order);
        buffers.give_back(of_rows);
        Some(&*order)
    } else {
        None
    };
    let own_total = rows.weight(class);
    let rest_total: f64 = rows.others(class).map(|d| rows.weight(d)).sum();
    let mut column = ColumnPlacements {
        class,
        placements: buffers.take(rows.len()),
        by_pair: buffers.take(table.len()),
        wins: vec![None; rows.classes()],
        variances: vec![f64::NAN; rows.classes()],
        degrees_of_freedom: vec![f64::NAN; rows.classes()],
        deviations: Vec::new(),
    };
    // By rank: how many of all other rows are below, and Σ_d ω_cd · (proportion of class d below).
    let [mut rest_below, mut sum_by_pair] = [buffers.zeros(table.len()), buffers.zeros(table.len())];
    for d in rows.others(class) {
        workers.check()?;
        let placements = &mut column.placements[rows.range(d)];
        let (looked_up, above) = ((blocks.run(d, class), rows.weights_of(d)), |below| (own_total - below) / own_total);
        let totals = table.look_up(looked_up, Nearness::NEVER, above, placements, workers)?;
        table.below_by_rank(by_rank, workers)?;
        // An ordered pair counts half as much as the pair itself.
        let (per_weight, pair_weight) = (rows.weight(d).recip(), 0.5 * omega[d] / rows.weight(d));
        for ((below, rest), sum) in by_rank.iter_mut().zip(&mut rest_below).zip(&mut sum_by_pair) {
            *rest += *below;
            *sum += pair_weight * *below;
            *below *= per_weight;
        }
        let sizes = [rows.count(class), rows.count(d)];
        let wins = match rows.weights() {
            None => Wins::counted((2 * sizes[0] * sizes[1]).wrapping_sub(totals.doubled_below), sizes),
            Some(_) => Wins::Weighted(totals.weighted.reversed()),
        };
        let own = PairSide { class, placements: by_rank, order };
        let other = PairSide { class: d, placements, order: None };
        let (found, deviations) = pair_variance(design, &[own, other], wins.share(), workers)?;
        (column.variances[d], column.degrees_of_freedom[d]) = (found.variance, found.degrees_of_freedom);
        if let Some([of_class, of_other]) = deviations {
            design.give_back([of_class]);
            column.deviations.push(of_other);
        }
        column.wins[d] = Some(wins);
    }
    let own = &mut column.placements[rows.range(class)];
    table.by_row(&rest_below, |below| below / rest_total, own, workers)?;
    table.by_row(&sum_by_pair, |sum| sum, &mut column.by_pair, workers)?;
    buffers.give_back(rest_below);
    buffers.give_back(sum_by_pair);
    Ok(column)
}
