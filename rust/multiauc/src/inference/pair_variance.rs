//! The variance of the share of two classes, from their placements: an entry of a pair matrix. It is the case of `moments`
//! with one column, two classes and fixed class sizes, written out because evaluations find one for every pair of classes.

use super::design::{Design, UnitOrder};
use super::freedom::{degrees_of_freedom, degrees_of_freedom_across};
use super::groups::{Groups, SharedGroups};
use super::moments::class_term;
use super::unit_sums::{GroupDeviations, GroupLine, Line, UnitRows, column_mean, column_powers, spread_of};
use crate::error::Result;
use crate::parallel::Workers;
use crate::simd::{Simd, Vectorizable, run_widest};

/// One of two classes.
pub(crate) struct PairSide<'v> {
    pub class: usize,
    /// For each of its rows, the proportion of the other class that it is on the right side of.
    pub placements: &'v [f64],
    /// The order of these rows, where it is not that of the class.
    pub order: Option<&'v UnitOrder>,
}

/// The variance of a share and its degrees of freedom.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PairVariance {
    pub variance: f64,
    pub degrees_of_freedom: f64,
}

/// The variance of the share of two classes. The share is the mean of the placements on either side: exact where pairs of
/// rows are counted, and not computed again. Also returns what the groups of both classes add up to, where rows are in
/// groups.
pub(crate) fn pair_variance(
    design: &Design,
    sides: &[PairSide<'_>; 2],
    share: f64,
    workers: &Workers<'_>,
) -> Result<(PairVariance, Option<[GroupDeviations; 2]>)> {
    let [first, second] = sides;
    let frames = [SideFrame::new(design, first, share, workers)?, SideFrame::new(design, second, share, workers)?];
    if let Some(groups) = &design.groups {
        let deviations = [0, 1].map(|side| {
            let SideFrame { rows, line, .. } = frames[side];
            GroupDeviations::new(groups, sides[side].class, sides[side].placements, rows, line.mean)
        });
        return Ok((of_groups(design, groups, &frames, &deviations), Some(deviations)));
    }
    let term = |side: usize| {
        let SideFrame { class, rows, line, scale } = frames[side];
        let powers = column_powers((sides[side].placements, rows.shares), line, scale, workers)?;
        Ok(class_term(line.spread, powers, [design.unit_count(class), design.effective[class]]))
    };
    let terms = [term(0)?, term(1)?];
    let variance = terms[0].variance + terms[1].variance;
    Ok((PairVariance { variance, degrees_of_freedom: degrees_of_freedom(variance, &terms) }, None))
}

/// What placements become: ψ = `scale` · (line of T), times the row's share where rows have weights.
#[derive(Clone, Copy)]
struct SideFrame<'r> {
    class: usize,
    rows: UnitRows<'r>,
    line: Line,
    scale: f64,
}

impl<'r> SideFrame<'r> {
    fn new(design: &'r Design, side: &PairSide<'r>, share: f64, workers: &Workers<'_>) -> Result<Self> {
        let class = side.class;
        let rows = side.order.map_or_else(|| design.rows_of(class), |order| order.rows());
        let (mean, scale) = match rows.shares {
            None => (share, design.rows.weight(class).recip()),
            Some(_) => (column_mean(design, class, (side.placements, rows.shares), workers)?, 1.0),
        };
        let line = Line { mean, spread: spread_of(design.effective[class]), shift: 0.0 };
        Ok(Self { class, rows, line, scale })
    }
}

/// The same of rows in groups: what the rows of a group add is summed before it is squared.
fn of_groups(
    design: &Design,
    groups: &Groups,
    frames: &[SideFrame<'_>; 2],
    deviations: &[GroupDeviations; 2],
) -> PairVariance {
    let lines = [0, 1].map(|side| {
        let SideFrame { class, line, scale, .. } = frames[side];
        let sizes = &groups.of_class[class].sizes[..];
        GroupLine { sums: &deviations[side].sums, sizes, of_sum: scale * line.spread, of_size: 0.0 }
    });
    let powers = lines.map(|line| line.powers());
    let terms = [0, 1].map(|side| {
        let SideFrame { class, line, .. } = frames[side];
        class_term(line.spread, powers[side], [design.unit_count(class), design.effective[class]])
    });
    let lines = [0, 1].map(|side| if terms[side].variance == 0.0 { lines[side].zeroed() } else { lines[side] });
    let apart = [0, 1].map(|power| {
        let of_side = |side: usize| if terms[side].variance == 0.0 { 0.0 } else { powers[side][power] };
        of_side(0) + of_side(1)
    });
    let shared = groups.shared(frames[0].class, frames[1].class);
    let Together { powers: [variance, fourths], shared } = run_widest(AddShared { apart, lines, shared });
    let degrees_of_freedom = if shared == 0 {
        degrees_of_freedom(variance, &terms)
    } else {
        let count = (lines[0].sums.len() + lines[1].sums.len() - shared) as f64;
        degrees_of_freedom_across(variance, &terms, fourths, count)
    };
    PairVariance { variance, degrees_of_freedom }
}

/// What the groups of two classes add up to together.
struct Together {
    /// Σ ψ² and Σ ψ⁴.
    powers: [f64; 2],
    /// How many groups both classes have.
    shared: usize,
}

/// Finds it from what the powers are with the groups of each class by themselves: groups that both classes have count
/// once.
struct AddShared<'g> {
    apart: [f64; 2],
    lines: [GroupLine<'g>; 2],
    shared: SharedGroups<'g>,
}

impl Vectorizable for AddShared<'_> {
    type Output = Together;

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> Together {
        /// A smaller part of the sums is not left by subtraction.
        const LEAST: f64 = 1.0 / 16.0;
        let Self { apart, lines, shared } = self;
        let (mut of_shared, mut of_sides, mut count) = ([0.0; 2], [0.0; 2], 0);
        shared.for_each(|[first, second]| {
            let sides = [lines[0].sums[first] * lines[0].of_sum, lines[1].sums[second] * lines[1].of_sum];
            let squares = [sides[0] * sides[0], sides[1] * sides[1]];
            let total = sides[0] + sides[1];
            let square = total * total;
            of_sides[0] += squares[0] + squares[1];
            of_sides[1] += squares[0] * squares[0] + squares[1] * squares[1];
            of_shared[0] += square;
            of_shared[1] += square * square;
            count += 1;
        });
        let found = [0, 1].map(|power| (apart[power] - of_sides[power]) + of_shared[power]);
        if (0..2).all(|power| found[power] >= LEAST * apart[power]) {
            return Together { powers: found, shared: count };
        }
        // Nearly all groups are shared, and cancel: those of one class are added up by themselves.
        let mut alone = lines.map(|line| line.sums.iter().map(|sum| sum * line.of_sum).collect::<Vec<f64>>());
        shared.for_each(|[first, second]| (alone[0][first], alone[1][second]) = (0.0, 0.0));
        let powers = alone.iter().flatten().fold(of_shared, |[squares, fourths], value| {
            let square = value * value;
            [squares + square, fourths + square * square]
        });
        Together { powers, shared: count }
    }
}
