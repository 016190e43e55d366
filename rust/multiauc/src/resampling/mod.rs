//! The bootstrap: sort once, then count every replicate with its own multiplicities.
//!
//! A metric needs some orders of rows: one per pair of classes (AUC_mu) or one per column (Hand & Till's M,
//! one-vs-rest). They depend on the scores alone, so they are made once, and a replicate is one pass through each:
//! O(nK) instead of a sort. Replicates are a function of seed and number alone, and all models and metrics see the same
//! ones, so that their differences are paired.

mod curve;
mod draws;
mod pair_outcomes;
mod plan;
mod sums;
mod walk;

use std::borrow::Cow;

use crate::curves::{CurveSides, Region, check_present};
use crate::error::{Error, Result, RowArray};
use crate::float::Score;
use crate::metric::Metric;
use crate::pairs::{OrderMaker, PairWeights, column_order};
use crate::parallel::Workers;
use crate::ranking::Order;
use crate::sample::{Sampling, ScoredSample};
pub use curve::CurveResampler;
pub(crate) use draws::Draws;
use draws::LANES;
pub use pair_outcomes::PairOutcomes;
use sums::{Replicates, Resampled, RunningAverage, Wanted};

/// Most bytes of multiplicities drawn ahead.
const DRAWN_AHEAD: usize = 1 << 29;

/// An order that the numbers need.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Job {
    /// Two classes by the score of their pair.
    Pair(usize, usize),
    /// A class against all others by its column.
    Column(usize),
    /// Part of the curve of a class against another, or against all others, by its column.
    Curve(usize, Option<usize>, Region),
}

/// Rows, how they are drawn, and the orders they are needed in; the same for all models scored on these rows.
#[derive(Debug, Clone)]
pub struct Resampler {
    draws: Draws,
    class_of: Vec<u16>,
    jobs: Vec<Job>,
    numbers: Vec<Resampled>,
}

/// The orders of one model: kept, or made from its scores whenever they are needed.
pub trait Orders: Sync {
    /// Whether they are kept.
    fn are_kept(&self) -> bool;
    #[doc(hidden)]
    fn get(&self, job: usize) -> Cow<'_, SortedRows>;
}

/// Rows in the order of a pair or a column.
#[derive(Debug, Clone)]
pub struct SortedRows(Order);

/// Orders in memory.
#[derive(Debug, Clone)]
pub struct KeptOrders(Vec<SortedRows>);

impl Orders for KeptOrders {
    fn are_kept(&self) -> bool {
        true
    }

    fn get(&self, job: usize) -> Cow<'_, SortedRows> {
        Cow::Borrowed(&self.0[job])
    }
}

/// Orders that are made from scores.
#[derive(Debug)]
pub struct ScoreOrders<'s, 'a, T> {
    resampler: &'s Resampler,
    sample: &'s ScoredSample<'a, T>,
    maker: Option<OrderMaker<'s, 'a, T>>,
}

impl<T: Score> Orders for ScoreOrders<'_, '_, T> {
    fn are_kept(&self) -> bool {
        false
    }

    fn get(&self, job: usize) -> Cow<'_, SortedRows> {
        let column = |c, other| column_order(self.sample, &self.resampler.draws.rows, c, other);
        Cow::Owned(SortedRows(match (self.resampler.jobs[job], &self.maker) {
            (Job::Pair(c, d), Some(maker)) => maker.pair(c, d),
            (Job::Pair(..), None) => unreachable!("pairs have a maker"),
            (Job::Column(c), _) => column(c, None),
            (Job::Curve(c, other, _), _) => column(c, other),
        }))
    }
}

impl Resampler {
    /// The rows of a sample, for some metrics.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] unless there is a group for every row; [`Error::TooManyRowsDrawn`].
    pub fn new<T: Score>(sample: &ScoredSample<'_, T>, sampling: Sampling<'_>, metrics: &[Metric]) -> Result<Self> {
        let draws = Draws::new(sample, sampling)?;
        let mut jobs = Vec::new();
        if metrics.contains(&Metric::AucMu) {
            jobs.extend(draws.rows.pairs().map(|(c, d)| Job::Pair(c, d)));
        }
        if metrics.iter().any(|&metric| metric != Metric::AucMu) {
            jobs.extend(draws.rows.present().iter().map(|&class| Job::Column(class)));
        }
        Ok(Self::with_jobs(draws, jobs, metrics.iter().map(|&metric| Resampled::Metric(metric)).collect()))
    }

    /// The rows of a sample, for partial areas of some curves: their mean and their mean by prevalence.
    ///
    /// # Errors
    /// As [`new`](Self::new); [`Error::AbsentClass`] if a side of a curve has no rows.
    pub fn of_curves<T: Score>(
        sample: &ScoredSample<'_, T>,
        sampling: Sampling<'_>,
        curves: &[CurveSides],
        region: Region,
    ) -> Result<Self> {
        let draws = Draws::new(sample, sampling)?;
        check_present(&draws.rows, curves)?;
        let jobs = curves.iter().map(|&(c, other)| Job::Curve(c, other, region)).collect();
        Ok(Self::with_jobs(draws, jobs, vec![Resampled::MeanArea, Resampled::MeanAreaByPrevalence]))
    }

    fn with_jobs(draws: Draws, jobs: Vec<Job>, numbers: Vec<Resampled>) -> Self {
        let class_of = draws.rows.class_of();
        Self { draws, class_of, jobs, numbers }
    }

    /// Most bytes that the orders of one model take.
    #[must_use]
    pub fn most_bytes(&self) -> usize {
        (0..self.jobs.len()).map(|job| Order::most_bytes(self.job_rows(job))).sum()
    }

    /// Rows that a replicate of one model passes through.
    #[must_use]
    pub fn rows_per_replicate(&self) -> usize {
        (0..self.jobs.len()).map(|job| self.job_rows(job)).sum()
    }

    fn job_rows(&self, job: usize) -> usize {
        match self.jobs[job] {
            Job::Pair(c, d) | Job::Curve(c, Some(d), _) => self.draws.rows.of(c).len() + self.draws.rows.of(d).len(),
            Job::Column(_) | Job::Curve(_, None, _) => self.draws.rows.len(),
        }
    }

    /// How many replicates to ask for at a time: fewer cost just as much.
    #[must_use]
    pub fn block(&self, are_kept: bool, threads: usize) -> usize {
        let most = self.draws_ahead();
        LANES * if are_kept { threads.min(most) } else { most }
    }

    /// How many batches of sixteen replicates are drawn ahead.
    fn draws_ahead(&self) -> usize {
        (DRAWN_AHEAD / (LANES * self.draws.rows.len())).clamp(1, 1 << 10)
    }

    /// The orders of a model, to be made from its scores when they are needed.
    ///
    /// # Errors
    /// [`Error::RowSumNotOne`], [`Error::LengthMismatch`], [`Error::Cancelled`].
    pub fn orders<'s, 'a, T: Score>(
        &'s self,
        sample: &'s ScoredSample<'a, T>,
        partition: Option<&'s [f64]>,
        workers: &Workers<'_>,
    ) -> Result<ScoreOrders<'s, 'a, T>> {
        if sample.rows() != self.draws.sample_rows() {
            let (rows, found) = (self.draws.sample_rows(), sample.rows());
            return Err(Error::LengthMismatch { array: RowArray::Scores, rows, found });
        }
        let has_pairs = matches!(self.jobs.first(), Some(Job::Pair(..)));
        let maker = has_pairs.then(|| OrderMaker::new(sample, &self.draws.rows, partition, workers)).transpose()?;
        Ok(ScoreOrders { resampler: self, sample, maker })
    }

    /// Makes all orders of a model, to keep.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub fn keep(&self, orders: &dyn Orders, workers: &Workers<'_>) -> Result<KeptOrders> {
        workers.map(self.jobs.len(), |job| Ok(orders.get(job).into_owned())).map(KeptOrders)
    }

    /// How often a replicate holds each row of the sample.
    #[must_use]
    pub fn multiplicities(&self, seed: u64, replicate: u32) -> Vec<u8> {
        self.draws.multiplicities(seed, replicate)
    }

    /// The metrics of replicates `first`, `first` + 1, …: by replicate, then by model, then by metric. NaN in
    /// replicates that have lost a class. The same for any number of threads.
    ///
    /// # Errors
    /// [`Error::TooManyRowsDrawn`] if the groups drawn have 2^31 rows or more; [`Error::Cancelled`].
    pub fn replicates(
        &self,
        models: &[&dyn Orders],
        pair_weights: PairWeights<'_>,
        (seed, first, count): (u64, u32, u32),
        workers: &Workers<'_>,
    ) -> Result<Vec<f64>> {
        self.evaluate(models, pair_weights, count as usize, workers, |start, used| {
            self.draws.draw(seed, first.wrapping_add(start as u32), used, workers)
        })
    }

    /// The metrics of given replicates: how often each holds each row, replicate by replicate.
    ///
    /// # Errors
    /// As [`replicates`](Self::replicates).
    pub fn given(
        &self,
        models: &[&dyn Orders],
        pair_weights: PairWeights<'_>,
        multiplicities: &[u8],
        workers: &Workers<'_>,
    ) -> Result<Vec<f64>> {
        let rows = self.draws.sample_rows();
        self.evaluate(models, pair_weights, multiplicities.len() / rows, workers, |start, used| {
            Ok(self.draws.given(&multiplicities[start * rows..(start + used) * rows]))
        })
    }

    fn evaluate(
        &self,
        models: &[&dyn Orders],
        pair_weights: PairWeights<'_>,
        count: usize,
        workers: &Workers<'_>,
        draw: impl Fn(usize, usize) -> Result<draws::Draw> + Sync,
    ) -> Result<Vec<f64>> {
        let wanted = Wanted { numbers: &self.numbers, pair_weights, class_of: &self.class_of };
        let starts: Vec<usize> = (0..count).step_by(LANES).collect();
        let mut values = Vec::with_capacity(count * models.len() * self.numbers.len());
        for ahead in starts.chunks(self.draws_ahead()) {
            let drawn = workers.map(ahead.len(), |index| {
                let draw = draw(ahead[index], (count - ahead[index]).min(LANES))?;
                Replicates::new(&self.draws.rows, draw)
            })?;
            let mut sums = Vec::with_capacity(models.len());
            for &model in models {
                sums.push(self.count(model, &drawn, wanted, workers)?);
            }
            for (group, replicates) in drawn.iter().enumerate() {
                for lane in 0..replicates.used() {
                    for parts in &mut sums {
                        let of_lane = std::mem::take(&mut parts[group][lane]);
                        values.extend(replicates.finish(lane, of_lane)?);
                    }
                }
            }
        }
        Ok(values)
    }

    /// For each batch of sixteen replicates and each of its lanes, the sums of the numbers.
    fn count(
        &self,
        model: &dyn Orders,
        drawn: &[Replicates<'_>],
        wanted: Wanted<'_>,
        workers: &Workers<'_>,
    ) -> Result<Vec<Vec<Vec<RunningAverage>>>> {
        let empty = |group: usize| -> Vec<Vec<RunningAverage>> {
            (0..drawn[group].used()).map(|_| wanted.empty_sums()).collect()
        };
        let mut sums: Vec<Vec<Vec<RunningAverage>>> = (0..drawn.len()).map(empty).collect();
        let mut first = 0;
        while first < self.jobs.len() {
            let last = if model.are_kept() { self.jobs.len() } else { self.tile_end(first) };
            let orders = workers.map(last - first, |index| Ok(model.get(first + index)))?;
            // Several tasks for each thread, so that no thread waits long for another.
            let pieces = (4 * workers.threads()).div_ceil(drawn.len()).min(orders.len());
            let parts = workers.map(drawn.len() * pieces, |task| {
                let (group, piece) = (task / pieces, task % pieces);
                let mut lanes = empty(group);
                let span = piece * orders.len() / pieces..(piece + 1) * orders.len() / pieces;
                for (&job, order) in self.jobs[first..][span.clone()].iter().zip(&orders[span]) {
                    workers.check()?;
                    drawn[group].add(job, &order.0, wanted, &mut lanes);
                }
                Ok(lanes)
            })?;
            for (task, part) in parts.into_iter().enumerate() {
                for (lane, found) in sums[task / pieces].iter_mut().zip(part) {
                    let merged = std::mem::take(lane).into_iter().zip(found).map(|(all, part)| all.merge(part));
                    *lane = merged.collect();
                }
            }
            first = last;
        }
        Ok(sums)
    }

    /// The end of a tile of orders that are made together.
    fn tile_end(&self, first: usize) -> usize {
        const TILE_BYTES: usize = 1 << 28;
        let mut bytes = 0;
        let fits = |job: &usize| {
            bytes += Order::most_bytes(self.job_rows(*job));
            bytes <= TILE_BYTES
        };
        (first..self.jobs.len()).take_while(fits).last().map_or(first, |job| job).max(first) + 1
    }
}

#[cfg(test)]
mod tests;
