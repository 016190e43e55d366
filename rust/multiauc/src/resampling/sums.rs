//! From the losses of orders to the metrics of each replicate, by the averages that the bare scores use.

use std::mem::take;

use super::Job;
use super::draws::{Draw, LANES, Lanes};
use super::walk::{Counts, Masses, Weights, add_doubled_losses};
use crate::curves::{Region, partial_area};
use crate::error::{Error, Result};
use crate::inference::Metric;
use crate::pairs::{PairAverage, PairSizes, PairWeights, ShareSum, weighted_mean};
use crate::ranking::Order;
use crate::sample::ClassSizes;
use crate::sample::PresentClasses;

/// Sixteen replicates and their class sizes.
pub(super) struct Replicates<'b> {
    classes: &'b PresentClasses,
    draw: Draw,
    /// Of each lane; `None` for a lane without rows of a class that the sample has.
    sizes: Vec<Option<ClassSizes>>,
}

/// What has been counted of one replicate.
#[derive(Debug, Default)]
pub(super) struct Sums {
    auc_mu: PairAverage,
    hand_till: PairAverage,
    equal: ClassAverage,
    by_size: ClassAverage,
}

/// An average of one-vs-rest values in the making.
#[derive(Debug, Default)]
struct ClassAverage {
    shares: ShareSum,
    /// Of weighted rows and of curves: (weight, value).
    terms: Vec<(f64, f64)>,
}

/// Which averages are wanted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'b> {
    pub metrics: &'b [Metric],
    pub pair_weights: PairWeights<'b>,
    /// The class of each place, among those that have rows.
    pub class_of: &'b [u16],
}

/// Losses of a job, by class, in counts or in weights.
enum Losses {
    Counts(Vec<Lanes<u64>>),
    Weights(Vec<Lanes<f64>>),
}

impl<'b> Replicates<'b> {
    /// # Errors
    /// [`Error::TooManyRowsDrawn`] if a replicate has more rows than the lanes of a walk can count twice.
    pub(super) fn new(classes: &'b PresentClasses, draw: Draw, sample_classes: usize) -> Result<Self> {
        let sizes = sizes_of(classes, &draw, sample_classes);
        for sizes in sizes.iter().flatten() {
            let rows: u64 = sizes.rows.iter().sum();
            if rows >> 31 > 0 {
                return Err(Error::TooManyRowsDrawn { rows });
            }
        }
        Ok(Self { classes, draw, sizes })
    }

    pub(super) const fn used(&self) -> usize {
        self.draw.used
    }

    /// Walks through an order and adds what it says of each replicate.
    pub(super) fn add(&self, job: Job, order: &Order, wanted: Wanted<'_>, sums: &mut [Sums]) {
        if let Job::Curve(c, _, region) = job {
            return self.add_curve(c, region, order, sums);
        }
        let losses = match self.classes.weights() {
            None => Losses::Counts(self.walk(job, order, Counts(&self.draw.counts), wanted.class_of)),
            Some(weights) => {
                let masses = Weights { counts: &self.draw.counts, weights };
                Losses::Weights(self.walk(job, order, masses, wanted.class_of))
            }
        };
        for (lane, sums) in sums.iter_mut().enumerate() {
            if let Some(sizes) = &self.sizes[lane] {
                let column = Compared { originals: self.classes.originals(), sizes, losses: &losses, lane };
                sums.add(job, &column, wanted);
            }
        }
    }

    fn add_curve(&self, c: usize, region: Region, order: &Order, sums: &mut [Sums]) {
        let weights = self.classes.weights();
        for (lane, sums) in sums.iter_mut().enumerate() {
            if let Some(sizes) = &self.sizes[lane] {
                let mass = |place: u32| {
                    let count = f64::from(self.draw.counts[place as usize][lane]);
                    weights.map_or(count, |weights| count * weights[place as usize])
                };
                let value = partial_area(order, region, mass);
                sums.equal.terms.push((1.0, value));
                sums.by_size.terms.push((sizes.weights[self.classes.originals()[c]], value));
            }
        }
    }

    fn walk<M: Masses>(&self, job: Job, order: &Order, masses: M, class_of: &[u16]) -> Vec<Lanes<M::Total>> {
        let (class_of, classes) = match job {
            Job::Pair(..) => (None, 1),
            Job::Column(_) | Job::Curve(..) => (Some(class_of), self.classes.count()),
        };
        let mut totals = vec![[M::Total::default(); LANES]; classes];
        add_doubled_losses(order, masses, class_of, &mut totals);
        totals
    }

    /// The metrics of a replicate, NaN where a class has vanished.
    pub(super) fn finish(&self, lane: usize, mut parts: Vec<Sums>, metrics: &[Metric]) -> Result<Vec<f64>> {
        if self.sizes[lane].is_none() {
            return Ok(vec![f64::NAN; metrics.len()]);
        }
        let mut value = |metric: &Metric| match metric {
            Metric::AucMu => PairAverage::finish(parts.iter_mut().map(|part| take(&mut part.auc_mu))),
            Metric::HandTill => PairAverage::finish(parts.iter_mut().map(|part| take(&mut part.hand_till))),
            Metric::OneVsRest => ClassAverage::finish(parts.iter_mut().map(|part| take(&mut part.equal))),
            Metric::OneVsRestPrevalence => ClassAverage::finish(parts.iter_mut().map(|part| take(&mut part.by_size))),
        };
        metrics.iter().map(&mut value).collect()
    }
}

/// The class sizes of each lane; `None` for a lane that has lost a class.
fn sizes_of(classes: &PresentClasses, draw: &Draw, sample_classes: usize) -> Vec<Option<ClassSizes>> {
    let empty = ClassSizes { rows: vec![0; sample_classes], weights: vec![0.0; sample_classes] };
    let mut sizes = vec![Some(empty); LANES];
    for (class, &original) in classes.originals().iter().enumerate() {
        let (mut rows, mut weights) = ([0_u64; LANES], [0.0; LANES]);
        let counts = &draw.counts[classes.rows_of(class)];
        for counts in counts {
            for lane in 0..LANES {
                rows[lane] += u64::from(counts[lane]);
            }
        }
        match classes.weights_of(class) {
            None => weights = rows.map(|rows| rows as f64),
            Some(of_rows) => {
                for (counts, weight) in counts.iter().zip(of_rows) {
                    for lane in 0..LANES {
                        weights[lane] += f64::from(counts[lane]) * weight;
                    }
                }
            }
        }
        for (lane, lane_sizes) in sizes.iter_mut().enumerate() {
            if rows[lane] == 0 {
                *lane_sizes = None;
            } else if let Some(sizes) = lane_sizes {
                (sizes.rows[original], sizes.weights[original]) = (rows[lane], weights[lane]);
            }
        }
    }
    sizes
}

/// What one replicate says of one order.
struct Compared<'c> {
    originals: &'c [usize],
    sizes: &'c ClassSizes,
    losses: &'c Losses,
    lane: usize,
}

/// The share that a class wins of another or of the rest: a count, or a number where rows have weights.
#[derive(Clone, Copy)]
enum Share {
    DoubledWins(u64),
    Value(f64),
}

impl Compared<'_> {
    /// Class c against some classes, given with their places among the totals.
    fn share(&self, c: usize, others: impl Iterator<Item = (usize, usize)>) -> (Share, u64) {
        let own = self.originals[c];
        let (mut rows, mut weight) = (0, 0.0);
        let (mut lost_count, mut lost_weight) = (0, 0.0);
        for (d, place) in others {
            rows += self.sizes.rows[self.originals[d]];
            weight += self.sizes.weights[self.originals[d]];
            match self.losses {
                Losses::Counts(totals) => lost_count += totals[place][self.lane],
                Losses::Weights(totals) => lost_weight += totals[place][self.lane],
            }
        }
        let doubled_pairs = 2 * self.sizes.rows[own] * rows;
        let share = match self.losses {
            Losses::Counts(_) => Share::DoubledWins(doubled_pairs - lost_count),
            Losses::Weights(_) => Share::Value(1.0 - lost_weight / (2.0 * self.sizes.weights[own] * weight)),
        };
        (share, doubled_pairs)
    }

    fn pair_sizes(&self, c: usize, d: usize) -> PairSizes {
        PairSizes::of(self.sizes, self.originals[c], self.originals[d])
    }
}

impl Sums {
    fn add(&mut self, job: Job, compared: &Compared<'_>, wanted: Wanted<'_>) {
        match job {
            Job::Pair(c, d) => {
                let (share, _) = compared.share(c, std::iter::once((d, 0)));
                add_pair(&mut self.auc_mu, wanted.pair_weights, compared.pair_sizes(c, d), share);
            }
            Job::Curve(..) => unreachable!("curves are walked through one replicate at a time"),
            Job::Column(c) => {
                let others = (0..compared.originals.len()).filter(|&d| d != c);
                if wanted.metrics.contains(&Metric::HandTill) {
                    for d in others.clone() {
                        let (share, _) = compared.share(c, std::iter::once((d, d)));
                        add_pair(&mut self.hand_till, wanted.pair_weights, compared.pair_sizes(c, d), share);
                    }
                }
                let own = compared.originals[c];
                let (rows, weight) = (compared.sizes.rows[own], compared.sizes.weights[own]);
                let of_rest = compared.share(c, others.map(|d| (d, d)));
                self.equal.add(of_rest, 1, 1.0);
                self.by_size.add(of_rest, rows, weight);
            }
        }
    }
}

fn add_pair(average: &mut PairAverage, weights: PairWeights<'_>, sizes: PairSizes, share: Share) {
    match share {
        Share::DoubledWins(wins) => average.add(weights, sizes, wins),
        Share::Value(value) => average.add_value(weights, sizes, value),
    }
}

impl ClassAverage {
    fn add(&mut self, (share, doubled_pairs): (Share, u64), times: u64, weight: f64) {
        match share {
            Share::DoubledWins(wins) => self.shares.add(wins, doubled_pairs, times),
            Share::Value(value) => self.terms.push((weight, value)),
        }
    }

    fn finish(parts: impl Iterator<Item = Self>) -> Result<f64> {
        let (mut shares, mut terms) = (ShareSum::default(), Vec::new());
        for mut part in parts {
            shares = shares.merge(part.shares);
            terms.append(&mut part.terms);
        }
        if terms.is_empty() { Ok(shares.mean()) } else { weighted_mean(terms) }
    }
}
