//! From the losses of orders to the numbers of each replicate, by the same averages as for the sample itself.

use super::Job;
use super::draws::{Draw, LANES, Lanes};
use super::walk::{LaneWins, Masses, Multiplicities, WeightedMultiplicities, add_pairs};
use crate::curves::{Region, partial_area};
use crate::error::{Error, Result};
use crate::metric::Metric;
use crate::metrics::PdiColumn;
use crate::pairs::{ClassAverage, PairAverage, PairSizes, PairWeights, Wins};
use crate::ranking::{Order, WeightedWins};
use crate::sample::{ClassRows, ClassSizes};

/// A number that is resampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Resampled {
    Metric(Metric),
    /// The mean of partial areas.
    MeanArea,
    /// Their mean weighted by the size of the positive class.
    MeanAreaByPrevalence,
}

/// Sixteen replicates and their class sizes.
pub(super) struct Replicates<'b> {
    rows: &'b ClassRows,
    draw: Draw,
    /// Of each lane; `None` for a lane without rows of a class that the sample has.
    sizes: Vec<Option<ClassSizes>>,
}

/// One number of one replicate, while it is counted.
#[derive(Debug)]
pub(super) enum RunningAverage {
    OfPairs(PairAverage),
    OfClasses(ClassAverage),
}

/// Which numbers are wanted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'b> {
    pub numbers: &'b [Resampled],
    pub pair_weights: PairWeights<'b>,
    /// The class of each position.
    pub class_of: &'b [u16],
}

impl Wanted<'_> {
    /// An empty sum for each number.
    pub(super) fn empty_sums(&self) -> Vec<RunningAverage> {
        let empty = |number: &Resampled| match number {
            Resampled::Metric(Metric::AucMu | Metric::HandTill) => RunningAverage::OfPairs(PairAverage::default()),
            _ => RunningAverage::OfClasses(ClassAverage::default()),
        };
        self.numbers.iter().map(empty).collect()
    }
}

impl RunningAverage {
    pub(super) fn merge(self, other: Self) -> Self {
        match (self, other) {
            (Self::OfPairs(a), Self::OfPairs(b)) => Self::OfPairs(a.merge(b)),
            (Self::OfClasses(a), Self::OfClasses(b)) => Self::OfClasses(a.merge(b)),
            _ => unreachable!("sums of one number are of one kind"),
        }
    }

    fn finish(self) -> Result<f64> {
        match self {
            Self::OfPairs(average) => average.finish(),
            Self::OfClasses(average) => average.finish(),
        }
    }

    fn add_pair(&mut self, weights: PairWeights<'_>, sizes: PairSizes, wins: Wins) {
        if let Self::OfPairs(average) = self {
            average.add(weights, sizes, wins);
        }
    }

    fn add_class(&mut self, wins: Wins, times: u64, weight: f64) {
        if let Self::OfClasses(average) = self {
            average.add(wins, times, weight);
        }
    }
}

/// The losses of a job, by class, in counts; or its wins and losses in weights.
enum LaneLosses {
    Counts(Vec<Lanes<u64>>),
    Weights(Vec<LaneWins>),
}

impl<'b> Replicates<'b> {
    /// # Errors
    /// [`Error::TooManyRowsDrawn`] if a replicate has more rows than a lane can count twice.
    pub(super) fn new(rows: &'b ClassRows, draw: Draw) -> Result<Self> {
        let sizes = sizes_of(rows, &draw);
        for sizes in sizes.iter().flatten() {
            let rows: u64 = sizes.rows.iter().sum();
            if rows >> 31 > 0 {
                return Err(Error::TooManyRowsDrawn { rows });
            }
        }
        Ok(Self { rows, draw, sizes })
    }

    pub(super) const fn used(&self) -> usize {
        self.draw.used
    }

    /// Passes through an order and adds its result for each replicate: `sums[lane]` has a sum per number.
    pub(super) fn add(&self, job: Job, order: &Order, wanted: Wanted<'_>, sums: &mut [Vec<RunningAverage>]) {
        if let Job::Curve(c, _, region) = job {
            return self.add_curve(c, region, order, wanted, sums);
        }
        let losses = match self.rows.weights() {
            None => LaneLosses::Counts(self.walk(job, order, Multiplicities(&self.draw.counts), wanted.class_of)),
            Some(weights) => {
                let masses = WeightedMultiplicities { counts: &self.draw.counts, weights };
                LaneLosses::Weights(self.walk(job, order, masses, wanted.class_of))
            }
        };
        for (lane, sums) in sums.iter_mut().enumerate() {
            if let Some(sizes) = &self.sizes[lane] {
                let replicate = OneReplicate { sizes, losses: &losses, lane };
                replicate.add(job, self.rows, wanted, sums);
                if let Job::Column(c) = job {
                    self.add_pdi(c, order, lane, sizes, wanted, sums);
                }
            }
        }
    }

    /// What the column of a class adds to PDI, where that is wanted.
    fn add_pdi(
        &self,
        c: usize,
        order: &Order,
        lane: usize,
        sizes: &ClassSizes,
        wanted: Wanted<'_>,
        sums: &mut [RunningAverage],
    ) {
        for (number, sum) in wanted.numbers.iter().zip(sums) {
            if *number == Resampled::Metric(Metric::Pdi) {
                let column = PdiColumn::of_masses(self.rows, wanted.class_of, &sizes.weights, c);
                let value = column.value(order, |position| self.mass(position, lane));
                sum.add_class(Wins::Share(value), 1, 1.0);
            }
        }
    }

    /// How much of a position a lane holds.
    fn mass(&self, position: u32, lane: usize) -> f64 {
        f64::from(self.draw.counts[position as usize][lane]) * self.rows.mass(position)
    }

    fn add_curve(&self, c: usize, region: Region, order: &Order, wanted: Wanted<'_>, sums: &mut [Vec<RunningAverage>]) {
        for (lane, sums) in sums.iter_mut().enumerate() {
            if let Some(sizes) = &self.sizes[lane] {
                let area = Wins::Share(partial_area(order, region, |position| self.mass(position, lane)));
                for (number, sum) in wanted.numbers.iter().zip(sums) {
                    let weight = if *number == Resampled::MeanArea { 1.0 } else { sizes.weights[c] };
                    sum.add_class(area, 1, weight);
                }
            }
        }
    }

    fn walk<M: Masses>(&self, job: Job, order: &Order, masses: M, class_of: &[u16]) -> Vec<M::Totals> {
        let (class_of, classes) = match job {
            Job::Pair(..) => (None, 1),
            Job::Column(_) | Job::Curve(..) => (Some(class_of), self.rows.classes()),
        };
        let mut totals = vec![M::Totals::default(); classes];
        add_pairs(order, masses, class_of, &mut totals);
        totals
    }

    /// The numbers of a replicate, NaN where a class has vanished.
    pub(super) fn finish(&self, lane: usize, sums: Vec<RunningAverage>) -> Result<Vec<f64>> {
        if self.sizes[lane].is_none() {
            return Ok(vec![f64::NAN; sums.len()]);
        }
        sums.into_iter().map(RunningAverage::finish).collect()
    }
}

/// The class sizes of each lane; `None` for a lane that has lost a class.
fn sizes_of(rows: &ClassRows, draw: &Draw) -> Vec<Option<ClassSizes>> {
    let empty = ClassSizes { rows: vec![0; rows.classes()], weights: vec![0.0; rows.classes()] };
    let mut sizes = vec![Some(empty); LANES];
    for &class in rows.present() {
        let (mut numbers, mut weights) = ([0_u64; LANES], [0.0; LANES]);
        let counts = &draw.counts[rows.range(class)];
        for counts in counts {
            for lane in 0..LANES {
                numbers[lane] += u64::from(counts[lane]);
            }
        }
        match rows.weights_of(class) {
            None => weights = numbers.map(|number| number as f64),
            Some(of_rows) => {
                for (counts, weight) in counts.iter().zip(of_rows) {
                    for lane in 0..LANES {
                        weights[lane] += f64::from(counts[lane]) * weight;
                    }
                }
            }
        }
        for (lane, lane_sizes) in sizes.iter_mut().enumerate() {
            if numbers[lane] == 0 {
                *lane_sizes = None;
            } else if let Some(sizes) = lane_sizes {
                (sizes.rows[class], sizes.weights[class]) = (numbers[lane], weights[lane]);
            }
        }
    }
    sizes
}

/// The losses of one replicate in one order.
struct OneReplicate<'c> {
    sizes: &'c ClassSizes,
    losses: &'c LaneLosses,
    lane: usize,
}

impl OneReplicate<'_> {
    /// What class c wins against some classes, each given with the index of its losses.
    fn wins(&self, c: usize, others: impl Iterator<Item = (usize, usize)>) -> Wins {
        let (mut rows, mut lost_count, mut weighted) = (0, 0, WeightedWins::default());
        for (d, place) in others {
            rows += self.sizes.rows[d];
            match self.losses {
                LaneLosses::Counts(totals) => lost_count += totals[place][self.lane],
                LaneLosses::Weights(totals) => weighted = weighted.plus(totals[place].of(self.lane)),
            }
        }
        let sizes = [self.sizes.rows[c], rows];
        match self.losses {
            LaneLosses::Counts(_) => Wins::counted(2 * sizes[0] * sizes[1] - lost_count, sizes),
            LaneLosses::Weights(_) => Wins::Weighted(weighted),
        }
    }

    fn add(&self, job: Job, rows: &ClassRows, wanted: Wanted<'_>, sums: &mut [RunningAverage]) {
        for (number, sum) in wanted.numbers.iter().zip(sums) {
            match (job, number) {
                (Job::Pair(c, d), Resampled::Metric(Metric::AucMu)) => {
                    let wins = self.wins(c, std::iter::once((d, 0)));
                    sum.add_pair(wanted.pair_weights, PairSizes::of(self.sizes, c, d), wins);
                }
                (Job::Column(c), Resampled::Metric(Metric::HandTill)) => {
                    for d in rows.others(c) {
                        let wins = self.wins(c, std::iter::once((d, d)));
                        sum.add_pair(wanted.pair_weights, PairSizes::of(self.sizes, c, d), wins);
                    }
                }
                (Job::Column(c), Resampled::Metric(Metric::OneVsRest)) => {
                    sum.add_class(self.wins(c, rows.others(c).map(|d| (d, d))), 1, 1.0);
                }
                (Job::Column(c), Resampled::Metric(Metric::OneVsRestPrevalence)) => {
                    let wins = self.wins(c, rows.others(c).map(|d| (d, d)));
                    sum.add_class(wins, self.sizes.rows[c], self.sizes.weights[c]);
                }
                // The order belongs to another number.
                _ => {}
            }
        }
    }
}
