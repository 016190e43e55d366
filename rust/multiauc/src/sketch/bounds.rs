//! What two histograms say about pairs of rows: what is won for certain, and what may be won at most.

use super::code::{is_alone, number_of, score_code};
use super::histogram::{Bin, Bounds, Histogram};
use super::mass::Mass;

/// What the numbers of a histogram are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Numbers {
    /// Differences of scores.
    Differences,
    /// Differences of scores that are all multiples of 1/m, each off by its rounding to a single.
    LatticeDifferences(u32),
    /// Scores, singles or doubles.
    Scores { are_singles: bool },
}

/// Bins as numbers between bounds, in increasing order.
#[derive(Debug)]
pub(super) struct Bounded<M: Mass> {
    bounds: Vec<Bounds>,
    masses: Vec<M>,
}

impl<M: Mass> Bounded<M> {
    pub(super) fn new(histogram: &Histogram<M>, numbers: Numbers) -> Self {
        let (mut bounds, mut masses) = (Vec::with_capacity(histogram.len()), Vec::with_capacity(histogram.len()));
        let mut previous: Vec<u64> = Vec::with_capacity(histogram.len());
        histogram.for_each(|bin, mass| {
            let found = numbers.bounds(bin);
            if !found.are_equal() {
                // Which of the numbers of an integer these are is unknown: so are their places among the others.
                let same = previous.iter().rev().take_while(|&&first| first == bin.first).count();
                let from = bounds.len() - same;
                bounds[from..].fill(found);
            }
            bounds.push(found);
            masses.push(mass);
            previous.push(bin.first);
        });
        Self { bounds, masses }
    }

    /// What this side wins and loses against another one.
    pub(super) fn against(&self, other: &Self) -> Outcome<M> {
        // At least what is won with the lowest of the own numbers against the highest of the others.
        let least = self.tally(other, |bounds| bounds.low, |bounds| bounds.high);
        let most = self.tally(other, |bounds| bounds.high, |bounds| bounds.low);
        Outcome { least, most }
    }

    fn tally(&self, other: &Self, own: impl Fn(Bounds) -> u128, others: impl Fn(Bounds) -> u128) -> Tallied<M> {
        let mut all = Tallied { won: M::Sum::default(), lost: M::Sum::default() };
        let mut from_above = other.masses.iter().rev().scan(M::Sum::default(), |sum, mass| {
            *sum += mass.to_sum();
            Some(*sum)
        });
        // Sums from above, so that what is lost is added up like what is won.
        let mut above: Vec<M::Sum> = from_above.by_ref().collect();
        above.reverse();
        above.push(M::Sum::default());
        let (mut below, mut index) = (M::Sum::default(), 0);
        for (&bounds, mass) in self.bounds.iter().zip(&self.masses) {
            let number = own(bounds);
            while index < other.bounds.len() && others(other.bounds[index]) < number {
                below += other.masses[index].to_sum();
                index += 1;
            }
            let (mut equal, mut end) = (M::Sum::default(), index);
            while end < other.bounds.len() && others(other.bounds[end]) == number {
                equal += other.masses[end].to_sum();
                end += 1;
            }
            all.won += mass.to_sum() * (below + below + equal);
            all.lost += mass.to_sum() * (above[end] + above[end] + equal);
        }
        all
    }

    /// The share of the other side that is below each bin, ties and what is not known counting half.
    pub(super) fn placements(&self, other: &Self) -> Vec<f64> {
        let total: f64 = other.masses.iter().map(|mass| mass.amount()).sum();
        let lower = self.shares_below(other, |bounds| bounds.low, |bounds| bounds.high);
        let upper = self.shares_below(other, |bounds| bounds.high, |bounds| bounds.low);
        lower.into_iter().zip(upper).map(|(low, high)| (low + high) / (4.0 * total)).collect()
    }

    fn shares_below(&self, other: &Self, own: impl Fn(Bounds) -> u128, others: impl Fn(Bounds) -> u128) -> Vec<f64> {
        let (mut below, mut index) = (M::Sum::default(), 0);
        let share = |&bounds: &Bounds| {
            let number = own(bounds);
            while index < other.bounds.len() && others(other.bounds[index]) < number {
                below += other.masses[index].to_sum();
                index += 1;
            }
            let mut equal = M::Sum::default();
            let ties = other.bounds[index..].iter().take_while(|&&bounds| others(bounds) == number).count();
            other.masses[index..index + ties].iter().for_each(|mass| equal += mass.to_sum());
            M::as_number(below + below + equal)
        };
        self.bounds.iter().map(share).collect()
    }
}

/// Twice what is won and lost.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tallied<M: Mass> {
    pub won: M::Sum,
    pub lost: M::Sum,
}

/// What a side wins at least and at most.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outcome<M: Mass> {
    pub least: Tallied<M>,
    pub most: Tallied<M>,
}

impl<M: Mass> Outcome<M> {
    /// Both together.
    pub(super) fn plus(self, other: Self) -> Self {
        let add = |a: Tallied<M>, b: Tallied<M>| Tallied { won: a.won + b.won, lost: a.lost + b.lost };
        Self { least: add(self.least, other.least), most: add(self.most, other.most) }
    }
}

impl Numbers {
    /// Between which numbers those of a bin are.
    pub(super) fn bounds(self, bin: Bin) -> Bounds {
        match self {
            Self::Differences => bin.bounds(false),
            Self::LatticeDifferences(m) => lattice_bounds(bin, m),
            Self::Scores { are_singles } => {
                let bounds = bin.bounds(true);
                match only_single(bin).filter(|_| are_singles && !bounds.are_equal()) {
                    Some(single) => Bounds::equal(score_code(single), 0),
                    None => bounds,
                }
            }
        }
    }
}

/// The multiples of 1/m that differences in a bin may stand for.
fn lattice_bounds(bin: Bin, m: u32) -> Bounds {
    // Scores times m are at most 2^21, so that a difference times m is off by at most 2 · 2^−24 · 2^21.
    const SLACK: f64 = 0.26;
    const MIDDLE: f64 = (1_u64 << 40) as f64;
    let m = f64::from(m);
    let number = |whole: f64| u128::from((whole + MIDDLE) as u64);
    let (first, last) = (number_of(bin.first) * m, number_of(bin.last) * m);
    let (low, high) = ((first - SLACK).ceil(), (last + SLACK).floor());
    if bin.first == bin.last || is_alone(bin.first) || low > high {
        let nearest = number(f64::midpoint(first, last).round());
        return Bounds { low: nearest, high: nearest };
    }
    Bounds { low: number(low), high: number(high) }
}

/// The only single in a bin, if there is just one.
fn only_single(bin: Bin) -> Option<f64> {
    let (low, high) = (number_of(bin.first), number_of(bin.last));
    let nearest = low as f32;
    let first = if f64::from(nearest) < low { nearest.next_up() } else { nearest };
    let is_in = f64::from(first) <= high && f64::from(first.next_up()) > high;
    is_in.then_some(f64::from(first))
}
