//! What the placements of one column add to M and to the one-vs-rest values.

use super::columns::ColumnPlacements;
use super::layout::{Contribution, Layout};
use super::moments::moments;
use super::shares::{PairShares, RestShares};
use super::{Estimate, METRICS, estimate, segments};
use crate::error::Result;
use crate::float::Score;
use crate::pairs::{PairAverage, PairSizes, PairWeights, ShareSum, weighted_mean};
use crate::parallel::Workers;
use crate::sample::ScoredSample;

/// The column's own one-vs-rest value with its variance. The placements become its components: those of class d are
/// scaled by the share of class d among the rest.
pub(super) fn estimate_class(
    layout: &Layout,
    rests: &RestShares,
    column: &mut ColumnPlacements,
    workers: &Workers<'_>,
) -> Result<(Estimate, Vec<f64>)> {
    let class = column.class;
    let rest = rests.of_rest(layout, class);
    let value = column.share_of_rest(layout);
    for &d in layout.present.iter().filter(|&&d| d != class) {
        let share = rests.of(d) / rest;
        column.placements[layout.range(d)].iter_mut().for_each(|placement| *placement *= share);
    }
    let slopes = rests.class_slopes(layout, class, &column.shares, value);
    let segments = segments(layout, &column.placements, 1);
    let moments = moments(layout, &segments, 1, Some(std::slice::from_ref(&slopes)), workers)?;
    Ok((estimate(layout, &moments, 0, value), slopes))
}

pub(super) fn contributions_of_column<'v>(
    layout: &Layout,
    shares: &PairShares<'_>,
    rests: &RestShares,
    column: &'v ColumnPlacements,
) -> Vec<Contribution<'v, METRICS>> {
    let classes = layout.counts.len();
    let c = column.class;
    let (even, prevalence) = (rests.even, rests.of(c));
    let rest = rests.of_rest(layout, c);
    let mut contributions: Vec<Contribution<'v, METRICS>> = layout
        .present
        .iter()
        .map(|&d| {
            // The placements are scaled for one-vs-rest; M has its own weight.
            let of_pair = if d == c { 0.0 } else { 0.5 * shares.omega[c * classes + d] * rest / rests.of(d) };
            let range = layout.range(d);
            let values = &column.placements[range.clone()];
            Contribution { start: range.start, values, coefficients: [0.0, of_pair, even, prevalence] }
        })
        .collect();
    contributions.push(Contribution {
        start: layout.starts[c],
        values: &column.by_pair,
        coefficients: [0.0, 1.0, 0.0, 0.0],
    });
    contributions
}

/// The averages over columns, in the making: exact where rows have no weights.
#[derive(Default)]
pub(super) struct ColumnSums {
    hand_till: PairAverage,
    even: ShareSum,
    prevalence: ShareSum,
    /// (weight of the class, one-vs-rest value) of weighted rows.
    weighted: Vec<(f64, f64)>,
}

impl ColumnSums {
    pub(super) fn add<T: Score>(
        &mut self,
        sample: &ScoredSample<'_, T>,
        weights: PairWeights<'_>,
        column: &ColumnPlacements,
        one_vs_rest: f64,
    ) {
        let c = column.class;
        let others = (0..sample.classes()).filter(|&d| d != c && sample.sizes.rows[d] > 0);
        if sample.weights.is_some() {
            for d in others {
                self.hand_till.add_value(weights, PairSizes::of(&sample.sizes, c, d), column.shares[d]);
            }
            self.weighted.push((sample.sizes.weights[c], one_vs_rest));
            return;
        }
        let mut wins = 0;
        for d in others {
            wins += column.doubled_wins[d];
            self.hand_till.add(weights, PairSizes::of(&sample.sizes, c, d), column.doubled_wins[d]);
        }
        let own = sample.sizes.rows[c];
        let doubled_pairs = 2 * own * (sample.rows() as u64 - own);
        self.even.add(wins, doubled_pairs, 1);
        self.prevalence.add(wins, doubled_pairs, own);
    }

    pub(super) fn finish(self, layout: &Layout) -> Result<[f64; 3]> {
        let hand_till = PairAverage::finish([self.hand_till])?;
        if layout.weights.is_none() {
            return Ok([hand_till, self.even.mean(), self.prevalence.mean()]);
        }
        let even = weighted_mean(self.weighted.iter().map(|&(_, value)| (1.0, value)).collect())?;
        Ok([hand_till, even, weighted_mean(self.weighted)?])
    }
}
