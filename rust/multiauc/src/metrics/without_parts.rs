//! Averages of pairs without the rows of one part of the sample, for many parts at once.
//!
//! Of the pairs of rows of two sides, those without a row of part s are all pairs, less those whose first row is in s,
//! less those whose second row is, plus those of which both are, which were taken away twice. One pass through the order
//! of the two sides counts all three for every part, so that n rows in any number of parts cost one sort.

use std::ops::{Add, AddAssign, Mul, Sub, SubAssign};

use super::{MetricOptions, ranks_pairs};
use crate::error::Result;
use crate::float::Score;
use crate::metric::Metric;
use crate::pairs::{ClassAverage, OrderMaker, PairAverage, PairSizes, PairWeights, Wins, column_order};
use crate::parallel::Workers;
use crate::ranking::{Order, WeightedWins};
use crate::sample::{ClassRows, ScoredSample};

/// Most bytes of values of pairs that are kept until they are averaged.
const MOST_KEPT: usize = 1 << 28;
/// Orders per thread that are counted before their counts are added.
const ORDERS_PER_THREAD: usize = 4;
/// Relative to all pairs, what is left of a difference of weighted sums by rounding alone.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// Two sides that are ranked against each other: a pair of classes by their own score, or a class against another, or
/// against all others, by its column.
#[derive(Debug, Clone, Copy)]
enum Job {
    Pair(usize, usize),
    Column(usize, Option<usize>),
}

/// The value of a metric that [ranks pairs](ranks_pairs) without the rows of each of some parts; see
/// [`values_without`](super::values_without).
pub(super) fn pair_values_without<T: Score>(
    sample: &ScoredSample<'_, T>,
    rows: &ClassRows,
    (part_of, parts): (&[u32], usize),
    metric: Metric,
    options: MetricOptions<'_>,
    workers: &Workers<'_>,
) -> Result<Vec<f64>> {
    assert!(ranks_pairs(metric), "{} ranks no pairs", metric.name());
    let jobs: Vec<Job> = match metric {
        Metric::AucMu => rows.pairs().map(|(c, d)| Job::Pair(c, d)).collect(),
        Metric::HandTill => {
            let of_class = |&c: &usize| rows.others(c).map(move |d| Job::Column(c, Some(d)));
            rows.present().iter().flat_map(of_class).collect()
        }
        _ => rows.present().iter().map(|&c| Job::Column(c, None)).collect(),
    };
    let maker = match metric {
        Metric::AucMu => Some(OrderMaker::new(sample, rows, options.partition, workers)?),
        _ => None,
    };
    let order = |job: Job| match (job, &maker) {
        (Job::Pair(c, d), Some(maker)) => maker.pair(c, d),
        (Job::Pair(..), None) => unreachable!("pairs have a maker"),
        (Job::Column(c, other), _) => column_order(sample, rows, c, other),
    };
    let keeps_values = rows.weights().is_some() || matches!(options.pair_weights, PairWeights::Matrix(_));
    let block = if keeps_values { (MOST_KEPT / (jobs.len() * size_of::<[f64; 2]>())).max(1) } else { parts.max(1) };
    let mut values = Vec::with_capacity(parts);
    for first in (0..parts).step_by(block) {
        let count = block.min(parts - first);
        let in_block: Vec<u32> = part_of.iter().map(|part| part.wrapping_sub(first as u32)).collect();
        let mut averages: Vec<Average> = (0..count).map(|_| Average::new(metric)).collect();
        for jobs in jobs.chunks(ORDERS_PER_THREAD * workers.threads()) {
            let counted = workers.map(jobs.len(), |job| {
                let order = order(jobs[job]);
                Ok(match rows.weights() {
                    None => Counted::Rows(Without::count(&order, &in_block, count, |_| 1_u64)),
                    Some(weights) => {
                        Counted::Weights(Without::count(&order, &in_block, count, |place| weights[place as usize]))
                    }
                })
            })?;
            let length = count.div_ceil(8 * workers.threads()).max(1);
            workers.map_chunks(&mut averages, length, |chunk, averages| {
                let start = chunk * length;
                for (place, average) in averages.iter_mut().enumerate() {
                    for (job, counted) in jobs.iter().zip(&counted) {
                        average.add(*job, counted.of(start + place), metric, options.pair_weights, rows.classes());
                    }
                }
                Ok(())
            })?;
        }
        values.extend(averages.into_iter().map(Average::finish).collect::<Result<Vec<f64>>>()?);
    }
    Ok(values)
}

/// Numbers of rows, or their weights.
trait Mass: Copy + Default + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + AddAssign + SubAssign {}

impl Mass for u64 {}
impl Mass for f64 {}

/// The pairs that the first side wins and loses, twice over, a tie counting once each way.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Doubled<M> {
    won: M,
    lost: M,
}

/// What two sides have in all, and what of it involves each part.
#[derive(Debug)]
struct Without<M> {
    all: Doubled<M>,
    /// Pairs with a row of the part on either side.
    involved: Vec<Doubled<M>>,
    /// The mass of both sides, and of each part on both sides.
    sides: [M; 2],
    of_parts: Vec<[M; 2]>,
}

impl<M: Mass> Without<M> {
    fn count(order: &Order, part_of: &[u32], parts: usize, mass: impl Fn(u32) -> M) -> Self {
        let zero = M::default();
        let part = |place: u32| Some(part_of[place as usize] as usize).filter(|&part| part < parts);
        let mut found = Self {
            all: Doubled::default(),
            involved: vec![Doubled::default(); parts],
            sides: [zero; 2],
            of_parts: vec![[zero; 2]; parts],
        };
        for step in order.steps() {
            for (side, places) in [step.own, step.others].into_iter().enumerate() {
                for &place in places {
                    found.sides[side] += mass(place);
                    if let Some(part) = part(place) {
                        found.of_parts[part][side] += mass(place);
                    }
                }
            }
        }
        let [own, others] = found.sides;
        // What lies below the step: of both sides, and of the own side in each part.
        let (mut own_below, mut others_below, mut own_of_part) = (zero, zero, vec![zero; parts]);
        for step in order.steps() {
            let of_step = |places: &[u32]| places.iter().fold(zero, |sum, &place| sum + mass(place));
            let (step_own, step_others) = (of_step(step.own), of_step(step.others));
            let tied = if step.is_tied { step_others } else { zero };
            let others_above = others - others_below;
            let met_by_own =
                Doubled { won: others_below + others_below + tied, lost: others_above + others_above - tied };
            // Other rows tie with the own rows of a tied step, and are above those of any other.
            let below = if step.is_tied { own_below } else { own_below + step_own };
            let up_to = own_below + step_own;
            let met_by_others = Doubled { won: (own - below) + (own - up_to), lost: below + up_to };
            found.all.add(step_others, met_by_others);
            for &place in step.others {
                if let Some(part) = part(place) {
                    found.involved[part].add(mass(place), met_by_others);
                }
            }
            if step.is_tied {
                found.leave_inside(step.others, &own_of_part, &part, &mass);
            }
            for &place in step.own {
                if let Some(part) = part(place) {
                    found.involved[part].add(mass(place), met_by_own);
                    own_of_part[part] += mass(place);
                }
            }
            for _ in 0..if step.is_tied { 1 } else { 2 } {
                found.leave_inside(step.others, &own_of_part, &part, &mass);
            }
            own_below = up_to;
            others_below += step_others;
        }
        found
    }

    /// Takes off once the pairs of other rows with the own rows of their part, of which `below` lie below.
    fn leave_inside(
        &mut self,
        others: &[u32],
        below: &[M],
        part: &impl Fn(u32) -> Option<usize>,
        mass: &impl Fn(u32) -> M,
    ) {
        for &place in others {
            if let Some(part) = part(place) {
                let (mass, below, own) = (mass(place), below[part], self.of_parts[part][0]);
                self.involved[part].won -= mass * (own - below);
                self.involved[part].lost -= mass * below;
            }
        }
    }
}

impl<M: Mass> Doubled<M> {
    fn add(&mut self, mass: M, met: Self) {
        self.won += mass * met.won;
        self.lost += mass * met.lost;
    }
}

/// The counts of one job.
enum Counted {
    Rows(Without<u64>),
    Weights(Without<f64>),
}

/// What the first side wins without a part, with the rows and the weights that both sides are left with.
#[derive(Clone, Copy)]
struct WinsWithout {
    wins: Wins,
    rows: [u64; 2],
    weights: [f64; 2],
}

impl Counted {
    fn of(&self, part: usize) -> WinsWithout {
        match self {
            Self::Rows(found) => {
                let rows: [u64; 2] = std::array::from_fn(|side| found.sides[side] - found.of_parts[part][side]);
                let won = found.all.won - found.involved[part].won;
                WinsWithout { wins: Wins::counted(won, rows), rows, weights: rows.map(|rows| rows as f64) }
            }
            Self::Weights(found) => {
                let (all, involved) = (found.all, found.involved[part]);
                let least = ROUNDING * (all.won + all.lost);
                let left = |all: f64, involved: f64| if all - involved > least { all - involved } else { 0.0 };
                let wins = WeightedWins { won: left(all.won, involved.won), lost: left(all.lost, involved.lost) };
                let weights = std::array::from_fn(|side| found.sides[side] - found.of_parts[part][side]);
                WinsWithout { wins: Wins::Weighted(wins), rows: [0; 2], weights }
            }
        }
    }
}

/// The running average of one part.
enum Average {
    OfPairs(PairAverage),
    OfClasses(ClassAverage),
}

impl Average {
    fn new(metric: Metric) -> Self {
        match metric {
            Metric::AucMu | Metric::HandTill => Self::OfPairs(PairAverage::default()),
            _ => Self::OfClasses(ClassAverage::default()),
        }
    }

    fn add(&mut self, job: Job, without: WinsWithout, metric: Metric, pairs: PairWeights<'_>, classes: usize) {
        let WinsWithout { wins, rows, weights } = without;
        match (self, job) {
            (Self::OfPairs(average), Job::Pair(c, d) | Job::Column(c, Some(d))) => {
                average.add(pairs, PairSizes { rows, weights, cell: c * classes + d }, wins);
            }
            (Self::OfClasses(average), _) if metric == Metric::OneVsRest => average.add(wins, 1, 1.0),
            (Self::OfClasses(average), _) => average.add(wins, rows[0], weights[0]),
            (Self::OfPairs(_), Job::Column(_, None)) => unreachable!("pairs have two classes"),
        }
    }

    fn finish(self) -> Result<f64> {
        match self {
            Self::OfPairs(average) => average.finish(),
            Self::OfClasses(average) => average.finish(),
        }
    }
}
