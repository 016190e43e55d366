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
    lows: Vec<u128>,
    highs: Vec<u128>,
    masses: Vec<M>,
    /// What is in the bins before each one, and in all of them.
    below: Vec<M::Sum>,
    /// What is in each bin and in those after it, added up from above, so that what is lost is added up like what is won.
    above: Vec<M::Sum>,
}

/// What two sides say about each other.
#[derive(Debug)]
pub(super) struct Meeting<M: Mass> {
    /// What the first side wins.
    pub outcome: Outcome<M>,
    /// For each bin of a side the share of the other side that is below, ties and what is not known counting half.
    pub placements: [Vec<f64>; 2],
}

impl<M: Mass> Bounded<M> {
    pub(super) fn new(histogram: &Histogram<M>, numbers: Numbers) -> Self {
        let bins = histogram.len();
        let (mut lows, mut highs) = (Vec::with_capacity(bins), Vec::with_capacity(bins));
        let mut masses: Vec<M> = Vec::with_capacity(bins);
        // The integer of the last bin, and the first bin with it.
        let (mut integer, mut start) = (None, 0);
        histogram.for_each(|bin, mass| {
            if integer != Some(bin.first) {
                (integer, start) = (Some(bin.first), masses.len());
            }
            let found = numbers.bounds(bin);
            if !found.are_equal() {
                // Which of the numbers of an integer these are is unknown: so are their places among the others.
                lows[start..].fill(found.low);
                highs[start..].fill(found.high);
            }
            lows.push(found.low);
            highs.push(found.high);
            masses.push(mass);
        });
        let mut below = vec![M::Sum::default(); bins + 1];
        let mut above = below.clone();
        for (index, mass) in masses.iter().enumerate() {
            below[index + 1] = below[index] + mass.to_sum();
        }
        for (index, mass) in masses.iter().enumerate().rev() {
            above[index] = above[index + 1] + mass.to_sum();
        }
        Self { lows, highs, masses, below, above }
    }

    /// What this side and another one say about each other.
    pub(super) fn meet(&self, other: &Self) -> Meeting<M> {
        // At least what is won with the lowest of the own numbers against the highest of the others.
        let [own_least, other_most] = ranks(&self.lows, &other.highs);
        let [own_most, other_least] = ranks(&self.highs, &other.lows);
        let outcome = Outcome { least: self.tally(other, &own_least), most: self.tally(other, &own_most) };
        Meeting { outcome, placements: [other.shares(&own_least, &own_most), self.shares(&other_least, &other_most)] }
    }

    /// What this side, whose bins have these ranks, wins and loses against another one.
    fn tally(&self, other: &Self, ranks: &[Rank]) -> Tallied<M> {
        let mut all = Tallied { won: M::Sum::default(), lost: M::Sum::default() };
        for (mass, &rank) in self.masses.iter().zip(ranks) {
            let above = other.above[rank.up_to as usize];
            all.won += mass.to_sum() * other.twice_below(rank);
            all.lost += mass.to_sum() * (above + above + other.equal(rank));
        }
        all
    }

    /// The share of this side that is below each of some numbers, from their lowest and highest ranks.
    fn shares(&self, least: &[Rank], most: &[Rank]) -> Vec<f64> {
        let total = self.below.last().map_or(0.0, |&sum| M::as_number(sum));
        let twice = |rank: &Rank| M::as_number(self.twice_below(*rank));
        least.iter().zip(most).map(|(low, high)| (twice(low) + twice(high)) / (4.0 * total)).collect()
    }

    /// Twice what is below a number, ties counting half.
    fn twice_below(&self, rank: Rank) -> M::Sum {
        let below = self.below[rank.below as usize];
        below + below + self.equal(rank)
    }

    fn equal(&self, rank: Rank) -> M::Sum {
        let ties = &self.masses[rank.below as usize..rank.up_to as usize];
        ties.iter().fold(M::Sum::default(), |sum, mass| sum + mass.to_sum())
    }
}

/// How many numbers of a list are below a number, and how many are not above it.
#[derive(Debug, Clone, Copy, Default)]
struct Rank {
    below: u32,
    up_to: u32,
}

/// The ranks of the numbers of two lists, each in the other one. Both lists are in increasing order.
fn ranks(a: &[u128], b: &[u128]) -> [Vec<Rank>; 2] {
    let (mut of_a, mut of_b) = (vec![Rank::default(); a.len()], vec![Rank::default(); b.len()]);
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        // Without a branch: which list has the next number cannot be foreseen.
        let is_b_next = b[j] < a[i];
        of_a[i].below = j as u32;
        of_b[j].up_to = i as u32;
        i += usize::from(!is_b_next);
        j += usize::from(is_b_next);
    }
    for rank in &mut of_a[i..] {
        rank.below = b.len() as u32;
    }
    for rank in &mut of_b[j..] {
        rank.up_to = a.len() as u32;
    }
    for (i, number) in a.iter().enumerate() {
        let below = of_a[i].below;
        of_a[i].up_to = match i.checked_sub(1) {
            Some(before) if a[before] == *number => of_a[before].up_to,
            _ => below + b[below as usize..].iter().take_while(|&other| other == number).count() as u32,
        };
    }
    for (j, number) in b.iter().enumerate() {
        let up_to = of_b[j].up_to;
        of_b[j].below = match j.checked_sub(1) {
            Some(before) if b[before] == *number => of_b[before].below,
            _ => up_to - a[..up_to as usize].iter().rev().take_while(|&other| other == number).count() as u32,
        };
    }
    [of_a, of_b]
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
                if !are_singles || bounds.are_equal() {
                    return bounds;
                }
                only_single(bin).map_or(bounds, |single| Bounds::equal(score_code(single), 0))
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

#[cfg(test)]
mod tests {
    use super::ranks;

    #[test]
    fn ranks_count_numbers_below_and_ties() {
        // All pairs of lists of up to five numbers out of four, in increasing order.
        let lists: Vec<Vec<u128>> = (0..4_u32.pow(5))
            .flat_map(|word| {
                (0..=5).map(move |len| (0..len).map(|digit| u128::from(word >> (2 * digit) & 3)).collect())
            })
            .filter(|list: &Vec<u128>| list.is_sorted())
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .collect();
        let check = |own: &[u128], other: &[u128], found: &[super::Rank]| {
            assert_eq!(own.len(), found.len());
            for (number, rank) in own.iter().zip(found) {
                let count = |is_counted: &dyn Fn(&u128) -> bool| other.iter().filter(|&n| is_counted(n)).count();
                let expected = [count(&|n| n < number), count(&|n| n <= number)];
                assert_eq!([rank.below as usize, rank.up_to as usize], expected, "{own:?} {other:?}");
            }
        };
        for a in &lists {
            for b in &lists {
                let [of_a, of_b] = ranks(a, b);
                check(a, b, &of_a);
                check(b, a, &of_b);
            }
        }
    }
}
