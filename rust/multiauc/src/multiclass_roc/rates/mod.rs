//! True- and false-positive rates of all ordered pairs of classes along a grid of thresholds.
//!
//! For the pair (c, d) and the threshold t the rates are the proportions of class c and of class d with `p_c > t`.
//! Every cell is placed among the thresholds once and kept as a byte, so the rates of a bootstrap sample are a weighted
//! histogram of bytes: O(nK log T + K²T) once and O(nK + K²T) for each sample, never O(nKT).

mod placement;
mod selection;
mod steps;
mod thresholds;

pub(super) use steps::ScoreOf;
pub use thresholds::Grid;

use crate::error::Result;
use crate::float::Score;
use crate::parallel::Workers;
use crate::resampling::Draws;
use crate::sample::{ClassRows, Sampling, ScoredSample};
use placement::{Cut, Tile};
use steps::{Side, Step, StepCell};
use thresholds::Grids;

/// Which cells the quantiles are taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// All cells: one grid for all pairs.
    Shared,
    /// The column of the pair's positive class.
    Class,
    /// That column, in the rows of the pair's two classes.
    Pair,
}

/// The cells of a sample, placed among thresholds.
#[derive(Debug, Clone)]
pub struct PlacedCells {
    rows: ClassRows,
    /// Rows of the sample, those of weight zero included.
    sample_rows: usize,
    grids: Grids,
    pairs: Vec<Pair>,
    /// Number of cuts of each class.
    cuts: Vec<usize>,
    tiles: Vec<Tile>,
    /// Where thresholds may be missing that tell all pairs apart.
    steps: Vec<Step>,
}

/// The rates of a bootstrap sample, and what is in it of each class.
pub(super) struct ResampledRates {
    pub rates: Vec<f64>,
    /// Weight of each class, by column.
    pub totals: Vec<f64>,
    /// See [`PlacedCells::gap`].
    pub gap: Option<usize>,
}

/// An ordered pair of classes and where its rates come from.
#[derive(Debug, Clone, Copy)]
struct Pair {
    positive: usize,
    negative: usize,
    grid: usize,
    /// Cut of the positive class, and of the negative class.
    true_positive_cut: usize,
    false_positive_cut: usize,
}

impl PlacedCells {
    /// Finds the thresholds and places every cell.
    ///
    /// With two classes only the pair (second, first) counts, cut at the quantiles of the second class's column.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    ///
    /// # Panics
    /// If there are no thresholds, or 65,536 or more.
    pub fn new<T: Score>(
        sample: &ScoredSample<'_, T>,
        grid: Grid<'_>,
        scope: Scope,
        workers: &Workers<'_>,
    ) -> Result<Self> {
        let rows = ClassRows::new(sample, workers)?;
        let grids = Grids::new(sample, &rows, grid, scope, workers)?;
        assert!((1..1 << 16).contains(&grids.thresholds()), "between 1 and 65,535 thresholds");
        let (pairs, cuts) = lay_out(&rows, &grids, scope);
        let tiles = placement::place(sample, &rows, &cuts, &grids, workers)?;
        let cuts = cuts.iter().map(Vec::len).collect();
        Ok(Self { rows, sample_rows: sample.rows(), grids, pairs, cuts, tiles, steps: Vec::new() })
    }

    /// Number of thresholds T: a row of rates for each, in each half of the matrix.
    #[must_use]
    pub fn thresholds(&self) -> usize {
        self.grids.thresholds()
    }

    /// Number of pairs J.
    #[must_use]
    pub fn pair_count(&self) -> usize {
        self.pairs.len()
    }

    /// Number of classes, present or not.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.rows.classes()
    }

    /// Whether rows have weights.
    #[must_use]
    pub fn is_weighted(&self) -> bool {
        self.rows.weights().is_some()
    }

    /// The pairs (positive class, negative class) as columns of the sample.
    #[must_use]
    pub fn pairs(&self) -> Vec<(usize, usize)> {
        self.pairs.iter().map(|pair| (pair.positive, pair.negative)).collect()
    }

    /// Falling thresholds of each pair, pair by pair; only one list where all pairs share a grid.
    #[must_use]
    pub fn threshold_columns(&self) -> Vec<Vec<f64>> {
        let falling = |grid: &Vec<f64>| grid.iter().rev().copied().collect();
        if self.grids.ascending.len() == 1 {
            return self.grids.ascending.iter().map(falling).collect();
        }
        self.pairs.iter().map(|pair| falling(&self.grids.ascending[pair.grid])).collect()
    }

    /// Total weight of each class that has rows, with its column.
    #[must_use]
    pub fn class_totals(&self) -> Vec<(usize, f64)> {
        self.rows.present().iter().copied().zip(self.rows.present_weights()).collect()
    }

    /// Number of rows of each class that has any.
    #[must_use]
    pub fn class_rows(&self) -> Vec<u32> {
        self.rows.present_counts()
    }

    /// The stacked 2T × J matrix of rates, row by row: true-positive rates by falling threshold, then false-positive.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn rates(&self, workers: &Workers<'_>) -> Result<Vec<f64>> {
        let width = self.thresholds() + 1;
        let weights = self.rows.weights();
        let parts = workers.map(self.tiles.len(), |index| {
            let tile = &self.tiles[index];
            let mut sums = vec![0.0; self.cuts[tile.class] * width];
            match weights {
                Some(weights) => {
                    let weights = &weights[tile.first..][..tile.rows];
                    tile.add_masses(|row| weights[row], width, &mut sums);
                }
                None => tile.add_masses(|_| 1.0, width, &mut sums),
            }
            Ok(sums)
        })?;
        let mut sums = self.empty_sums();
        for (tile, part) in self.tiles.iter().zip(parts) {
            sums[tile.class].iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        }
        Ok(self.rates_from(sums))
    }

    /// Keeps the scores of the steps of the grid that may tell all counted pairs apart, for [`gap`](Self::gap).
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    pub(super) fn keep_steps(
        &mut self,
        rates: &[f64],
        counted: &[bool],
        score_of: ScoreOf<'_>,
        workers: &Workers<'_>,
    ) -> Result<()> {
        let mut steps: Vec<Step> = steps::candidates(rates, counted).into_iter().map(Step::new).collect();
        if steps.is_empty() {
            return Ok(());
        }
        let mut step_of = vec![None; self.thresholds() + 1];
        steps.iter().enumerate().for_each(|(index, step)| step_of[step.code] = Some(index));
        let mut sides: Vec<Vec<Option<(Side, usize)>>> = self.cuts.iter().map(|&cuts| vec![None; cuts]).collect();
        for (pair, _) in self.pairs.iter().zip(counted).filter(|(_, counts)| **counts) {
            let &Pair { positive, negative, grid, .. } = pair;
            sides[positive][pair.true_positive_cut] = Some((Side { grid, is_positive: true }, positive));
            sides[negative][pair.false_positive_cut] = Some((Side { grid, is_positive: false }, positive));
        }
        let parts = workers.map(self.tiles.len(), |index| {
            let tile = &self.tiles[index];
            let mut found = Vec::new();
            tile.for_each_code(|cut, row, code| {
                if let (Some(step), Some((side, column))) = (step_of[usize::from(code)], sides[tile.class][cut]) {
                    let position = tile.first + row;
                    let score = score_of(self.rows.rows()[position] as usize, column);
                    found.push((step, StepCell { side, position: position as u32, score }));
                }
            });
            Ok(found)
        })?;
        parts.into_iter().flatten().for_each(|(step, cell)| steps[step].cells.push(cell));
        self.steps = steps;
        Ok(())
    }

    /// The code of a step of the grid in which one more threshold would tell all counted pairs of the sample apart without
    /// an error: it has no wrong rows on either side, and its own in order.
    pub(super) fn gap(&self, rates: &[f64], counted: &[bool]) -> Option<usize> {
        self.gap_of(rates, counted, |_| true)
    }

    /// The same for the rows that are drawn, by position.
    fn gap_of(&self, rates: &[f64], counted: &[bool], drawn: impl Fn(usize) -> bool) -> Option<usize> {
        let grids = self.grids.ascending.len();
        let is_gap = |step: &&Step| step.has_all_between(rates, counted) && step.is_ordered(grids, &drawn);
        self.steps.iter().find(is_gap).map(|step| step.code)
    }

    /// How bootstrap samples of these rows are drawn.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`](crate::Error::LengthMismatch) unless there is a group for every row of the sample.
    pub(super) fn draws(&self, sampling: Sampling<'_>) -> Result<Draws> {
        Draws::of_rows(self.rows.clone(), self.sample_rows, sampling)
    }

    /// The same matrix for a bootstrap sample. Rows keep their weights. `None` if it has lost a class.
    pub(super) fn resampled_rates(
        &self,
        draws: &Draws,
        (seed, replicate): (u64, u32),
        counted: &[bool],
    ) -> Option<ResampledRates> {
        let width = self.thresholds() + 1;
        let (mut units, mut counts) = (Vec::new(), Vec::new());
        draws.counts(seed, replicate, &mut units, &mut counts);
        let mut sums = self.empty_sums();
        let mut totals = vec![0.0; self.classes()];
        let mut masses = Vec::new();
        for tile in &self.tiles {
            let positions = tile.first..tile.first + tile.rows;
            masses.clear();
            masses.extend(counts[positions.clone()].iter().map(|&count| f64::from(count)));
            if let Some(weights) = self.rows.weights() {
                masses.iter_mut().zip(&weights[positions]).for_each(|(mass, weight)| *mass *= weight);
            }
            totals[tile.class] += masses.iter().sum::<f64>();
            tile.add_masses(|row| masses[row], width, &mut sums[tile.class]);
        }
        let has_all = self.rows.present().iter().all(|&class| totals[class] > 0.0);
        has_all.then(|| {
            let rates = self.rates_from(sums);
            let gap = self.gap_of(&rates, counted, |position| counts[position] > 0);
            ResampledRates { rates, totals, gap }
        })
    }

    /// Weight of each class by column, in the units of [`ResampledRates::totals`].
    pub(super) fn totals(&self) -> &[f64] {
        &self.rows.sizes().weights
    }

    fn empty_sums(&self) -> Vec<Vec<f64>> {
        self.cuts.iter().map(|cuts| vec![0.0; cuts * (self.thresholds() + 1)]).collect()
    }

    /// Cumulative proportions of the masses by code.
    fn rates_from(&self, mut sums: Vec<Vec<f64>>) -> Vec<f64> {
        let thresholds = self.thresholds();
        for sums in sums.iter_mut().flat_map(|sums| sums.chunks_exact_mut(thresholds + 1)) {
            let mut total = 0.0;
            for sum in sums.iter_mut() {
                total += *sum;
                *sum = total;
            }
            for sum in sums.iter_mut() {
                *sum /= total;
            }
        }
        let rates_of = |class: usize, cut: usize| &sums[class][cut * (thresholds + 1)..][..thresholds];
        let columns = self.pairs.len();
        let mut rates = vec![0.0; 2 * thresholds * columns];
        let (true_positive, false_positive) = rates.split_at_mut(thresholds * columns);
        for (column, pair) in self.pairs.iter().enumerate() {
            let halves = [
                (&mut *true_positive, rates_of(pair.positive, pair.true_positive_cut)),
                (&mut *false_positive, rates_of(pair.negative, pair.false_positive_cut)),
            ];
            for (half, of_pair) in halves {
                for (row, rate) in half.chunks_exact_mut(columns).zip(of_pair) {
                    row[column] = *rate;
                }
            }
        }
        rates
    }
}

/// The pairs, and the cuts that each class needs for them.
fn lay_out(rows: &ClassRows, grids: &Grids, scope: Scope) -> (Vec<Pair>, Vec<Vec<Cut>>) {
    const UNUSED: usize = usize::MAX;
    let (classes, present) = (rows.classes(), rows.present());
    let mut cuts: Vec<Vec<Cut>> = vec![Vec::new(); classes];
    // The cut of (class, positive class), where all pairs of a positive class share it.
    let mut known = vec![UNUSED; classes * classes];
    let has_one_grid = grids.ascending.len() == 1;
    let mut pairs = Vec::new();
    for (index, &positive) in present.iter().enumerate() {
        for negative in rows.others(positive) {
            if present.len() == 2 && index == 0 {
                continue;
            }
            let grid = match scope {
                _ if has_one_grid => 0,
                Scope::Class => index,
                _ => pairs.len(),
            };
            let cut = Cut { column: positive, grid };
            let [true_positive_cut, false_positive_cut] = [positive, negative].map(|class| {
                let cell = class * classes + positive;
                if known[cell] == UNUSED || cuts[class][known[cell]] != cut {
                    known[cell] = cuts[class].len();
                    cuts[class].push(cut);
                }
                known[cell]
            });
            pairs.push(Pair { positive, negative, grid, true_positive_cut, false_positive_cut });
        }
    }
    (pairs, cuts)
}

#[cfg(test)]
mod tests;
