//! The bootstrap of the pairwise family: sort once, count every replicate by other multiplicities.
//!
//! A metric needs some orders of rows: one per pair of classes (AUC_mu) or one per column (Hand & Till's M, one-vs-rest).
//! They depend on the scores alone, so they are made once, and a replicate is one walk through each: O(K n) instead of a
//! sort. Replicates are a function of seed and number alone, and all models and metrics see the same ones, so that their
//! differences are paired.

mod draws;
mod plan;
mod sums;
mod walk;

use std::borrow::Cow;

use crate::curves::{Region, present_curves};
use crate::error::{Error, Result};
use crate::float::Score;
use crate::inference::Metric;
use crate::pairs::{OrderMaker, PairWeights, column_order};
use crate::parallel::Workers;
use crate::ranking::Order;
use crate::sample::ScoredSample;
pub(crate) use draws::Draws;
use draws::LANES;
pub use draws::Sampling;
pub use plan::{Plan, rows_of_groups};
use sums::{Replicates, Sums, Wanted};

/// Most bytes of the multiplicities that are drawn ahead.
const DRAWN_AHEAD: usize = 1 << 29;

/// An order that the metrics need; classes are numbered among those that have rows.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Job {
    /// Two classes by the score of their pair.
    Pair(usize, usize),
    /// A class against all others by its column.
    Column(usize),
    /// Part of the curve of a class against another, or against all others, by its column.
    Curve(usize, Option<usize>, Region),
}

/// Rows, how they are drawn, and the orders wanted of them; the same for all models scored on these rows.
#[derive(Debug, Clone)]
pub struct Resampler {
    draws: Draws,
    class_of: Vec<u16>,
    sample_classes: usize,
    jobs: Vec<Job>,
    metrics: Vec<Metric>,
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
        let column = |c, other| column_order(self.sample, &self.resampler.draws.classes, c, other);
        Cow::Owned(SortedRows(match (self.resampler.jobs[job], &self.maker) {
            (Job::Pair(c, d), Some(maker)) => maker.pair(c, d),
            (Job::Pair(..), None) => unreachable!("pairs have a maker"),
            (Job::Column(c), _) => column(c, None),
            (Job::Curve(c, other, _), _) => column(c, other),
        }))
    }
}

impl Resampler {
    /// The rows of a sample with a column per class.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] unless there is a group for every row; [`Error::TooManyRowsDrawn`].
    ///
    /// # Panics
    /// If the sample has not a column per class.
    pub fn new<T: Score>(sample: &ScoredSample<'_, T>, sampling: Sampling<'_>, metrics: &[Metric]) -> Result<Self> {
        assert_eq!(sample.scores.columns(), sample.classes(), "a column per class");
        let draws = Draws::new(sample, sampling)?;
        let count = draws.classes.count();
        let mut jobs = Vec::new();
        if metrics.contains(&Metric::AucMu) {
            jobs.extend((0..count).flat_map(|c| (c + 1..count).map(move |d| Job::Pair(c, d))));
        }
        if metrics.iter().any(|&metric| metric != Metric::AucMu) {
            jobs.extend((0..count).map(Job::Column));
        }
        Ok(Self::with_jobs(draws, jobs, sample.classes(), metrics.to_vec()))
    }

    /// The rows of a sample, for partial areas of some curves (positive class, negative class or all others): their mean
    /// and their mean by prevalence.
    ///
    /// # Errors
    /// As [`new`](Self::new); [`Error::TooFewClasses`] if a side of a curve has no rows.
    pub fn of_curves<T: Score>(
        sample: &ScoredSample<'_, T>,
        sampling: Sampling<'_>,
        curves: &[(usize, Option<usize>)],
        region: Region,
    ) -> Result<Self> {
        let draws = Draws::new(sample, sampling)?;
        let curves = present_curves(&draws.classes, curves)?;
        let jobs = curves.into_iter().map(|(c, other)| Job::Curve(c, other, region)).collect();
        // Areas are averaged as one-vs-rest is.
        let metrics = vec![Metric::OneVsRest, Metric::OneVsRestPrevalence];
        Ok(Self::with_jobs(draws, jobs, sample.classes(), metrics))
    }

    fn with_jobs(draws: Draws, jobs: Vec<Job>, sample_classes: usize, metrics: Vec<Metric>) -> Self {
        let mut class_of = vec![0; draws.classes.rows()];
        for class in 0..draws.classes.count() {
            class_of[draws.classes.rows_of(class)].fill(class as u16);
        }
        Self { draws, class_of, sample_classes, jobs, metrics }
    }

    /// Bytes that the orders of one model take, or less.
    #[must_use]
    pub fn most_bytes(&self) -> usize {
        (0..self.jobs.len()).map(|job| Order::most_bytes(self.job_rows(job))).sum()
    }

    /// Rows that a replicate of one model walks through.
    #[must_use]
    pub fn rows_per_replicate(&self) -> usize {
        (0..self.jobs.len()).map(|job| self.job_rows(job)).sum()
    }

    fn job_rows(&self, job: usize) -> usize {
        match self.jobs[job] {
            Job::Pair(c, d) | Job::Curve(c, Some(d), _) => {
                self.draws.classes.rows_of(c).len() + self.draws.classes.rows_of(d).len()
            }
            Job::Column(_) | Job::Curve(_, None, _) => self.draws.classes.rows(),
        }
    }

    /// How many replicates are best asked for at once: fewer cost as much.
    #[must_use]
    pub fn block(&self, are_kept: bool, threads: usize) -> usize {
        let most = self.draws_ahead();
        LANES * if are_kept { threads.min(most) } else { most }
    }

    /// How often sixteen replicates are drawn ahead.
    fn draws_ahead(&self) -> usize {
        (DRAWN_AHEAD / (LANES * self.draws.classes.rows())).clamp(1, 1 << 10)
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
            return Err(Error::LengthMismatch { rows: self.draws.sample_rows(), found: sample.rows() });
        }
        let has_pairs = matches!(self.jobs.first(), Some(Job::Pair(..)));
        let maker = has_pairs.then(|| OrderMaker::new(sample, &self.draws.classes, partition, workers)).transpose()?;
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

    /// The metrics of replicates `first`, `first` + 1, …: replicate after replicate, in each model after model, in each
    /// metric after metric. NaN in replicates that have lost a class. The same for any number of threads.
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

    /// The metrics of given replicates: how often each holds each row, replicate after replicate.
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
        let wanted = Wanted { metrics: &self.metrics, pair_weights, class_of: &self.class_of };
        let starts: Vec<usize> = (0..count).step_by(LANES).collect();
        let mut values = Vec::with_capacity(count * models.len() * self.metrics.len());
        for ahead in starts.chunks(self.draws_ahead()) {
            let drawn = workers.map(ahead.len(), |index| {
                let draw = draw(ahead[index], (count - ahead[index]).min(LANES))?;
                Replicates::new(&self.draws.classes, draw, self.sample_classes)
            })?;
            let mut sums = Vec::with_capacity(models.len());
            for &model in models {
                sums.push(self.count(model, &drawn, wanted, workers)?);
            }
            for (group, replicates) in drawn.iter().enumerate() {
                for lane in 0..replicates.used() {
                    for parts in &mut sums {
                        let parts: Vec<Sums> =
                            parts[group].iter_mut().map(|part| std::mem::take(&mut part[lane])).collect();
                        values.extend(replicates.finish(lane, parts, &self.metrics)?);
                    }
                }
            }
        }
        Ok(values)
    }

    /// For each sixteen replicates, parts of the sums of their lanes.
    fn count(
        &self,
        model: &dyn Orders,
        drawn: &[Replicates<'_>],
        wanted: Wanted<'_>,
        workers: &Workers<'_>,
    ) -> Result<Vec<Vec<Vec<Sums>>>> {
        let mut sums: Vec<Vec<Vec<Sums>>> = drawn.iter().map(|_| Vec::new()).collect();
        let mut first = 0;
        while first < self.jobs.len() {
            let last = if model.are_kept() { self.jobs.len() } else { self.tile_end(first) };
            let orders = workers.map(last - first, |index| Ok(model.get(first + index)))?;
            // Several tasks for each thread, so that none waits long for another.
            let pieces = (4 * workers.threads()).div_ceil(drawn.len()).min(orders.len());
            let parts = workers.map(drawn.len() * pieces, |task| {
                let (group, piece) = (task / pieces, task % pieces);
                let mut lanes: Vec<Sums> = (0..drawn[group].used()).map(|_| Sums::default()).collect();
                let span = piece * orders.len() / pieces..(piece + 1) * orders.len() / pieces;
                for (&job, order) in self.jobs[first..][span.clone()].iter().zip(&orders[span]) {
                    workers.check()?;
                    drawn[group].add(job, &order.0, wanted, &mut lanes);
                }
                Ok(lanes)
            })?;
            for (task, part) in parts.into_iter().enumerate() {
                sums[task / pieces].push(part);
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
