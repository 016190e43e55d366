//! The inner loop: one pass through a presorted order counts sixteen replicates.
//!
//! Going up, the masses of own rows are summed; each other row wins against all own rows below it and ties with those
//! equal to it. A replicate changes how often a row counts and nothing else, so it costs a load, an addition and at
//! most a multiplication per row, for all lanes at once.

use super::draws::{LANES, Lanes};
use crate::ranking::{Order, WeightedWins};
use crate::simd::{Simd, Vectorizable, run_widest};

/// Multiplicities of positions, times weights where rows have them.
pub(super) trait Masses: Copy {
    /// A sum of masses.
    type Sum: Copy + Default;
    /// How much of the own mass a row meets: what decides the pairs it is in.
    type Met;
    /// What the own side loses, and wins where that is not all the rest.
    type Totals: Copy + Default;
    /// Adds the mass of a position to each lane.
    fn add(self, position: usize, sums: &mut Lanes<Self::Sum>);
    /// All own mass, if it is needed: added up in the order of the walk, so that its end leaves exactly nothing above.
    fn own(self, order: &Order) -> Lanes<Self::Sum>;
    /// What a row meets that has `below` below it and `up_to` below or equal to it, of all `own` mass.
    fn met(self, below: &Lanes<Self::Sum>, up_to: &Lanes<Self::Sum>, own: &Lanes<Self::Sum>) -> Self::Met;
    /// Adds the pairs of a mass of other rows.
    fn add_pairs(self, other: &Lanes<Self::Sum>, met: &Self::Met, totals: &mut Self::Totals);
}

/// Rows without weights: whole numbers, whose sums are exact. Twice the sum of all masses stays below 2^32.
#[derive(Clone, Copy)]
pub(super) struct Multiplicities<'d>(pub &'d [Lanes<u8>]);

impl Masses for Multiplicities<'_> {
    type Sum = u32;
    type Met = Lanes<u32>;
    type Totals = Lanes<u64>;

    #[inline(always)]
    fn add(self, position: usize, sums: &mut Lanes<u32>) {
        let counts = &self.0[position];
        for lane in 0..LANES {
            sums[lane] += u32::from(counts[lane]);
        }
    }

    #[inline(always)]
    fn own(self, _: &Order) -> Lanes<u32> {
        [0; LANES]
    }

    #[inline(always)]
    fn met(self, below: &Lanes<u32>, up_to: &Lanes<u32>, _: &Lanes<u32>) -> Lanes<u32> {
        std::array::from_fn(|lane| below[lane] + up_to[lane])
    }

    #[inline(always)]
    fn add_pairs(self, other: &Lanes<u32>, met: &Lanes<u32>, lost: &mut Lanes<u64>) {
        for lane in 0..LANES {
            lost[lane] += u64::from(other[lane]) * u64::from(met[lane]);
        }
    }
}

/// Rows with weights. Each lane adds up in the order of the walk, so its bits depend on nothing else.
#[derive(Clone, Copy)]
pub(super) struct WeightedMultiplicities<'d> {
    pub counts: &'d [Lanes<u8>],
    pub weights: &'d [f64],
}

/// Twice the weight that the own side wins and loses against some rows.
#[derive(Clone, Copy, Default)]
pub(super) struct LaneWins {
    won: Lanes<f64>,
    lost: Lanes<f64>,
}

impl LaneWins {
    pub(super) const fn of(&self, lane: usize) -> WeightedWins {
        WeightedWins { won: self.won[lane], lost: self.lost[lane] }
    }
}

impl Masses for WeightedMultiplicities<'_> {
    type Sum = f64;
    type Met = LaneWins;
    type Totals = LaneWins;

    #[inline(always)]
    fn add(self, position: usize, sums: &mut Lanes<f64>) {
        let (counts, weight) = (&self.counts[position], self.weights[position]);
        for lane in 0..LANES {
            sums[lane] += f64::from(counts[lane]) * weight;
        }
    }

    #[inline(always)]
    fn own(self, order: &Order) -> Lanes<f64> {
        let mut own = [0.0; LANES];
        order.steps().for_each(|step| step.own.iter().for_each(|&position| self.add(position as usize, &mut own)));
        own
    }

    #[inline(always)]
    fn met(self, below: &Lanes<f64>, up_to: &Lanes<f64>, own: &Lanes<f64>) -> LaneWins {
        LaneWins {
            won: std::array::from_fn(|lane| (own[lane] - below[lane]) + (own[lane] - up_to[lane])),
            lost: std::array::from_fn(|lane| below[lane] + up_to[lane]),
        }
    }

    #[inline(always)]
    fn add_pairs(self, other: &Lanes<f64>, met: &LaneWins, totals: &mut LaneWins) {
        for (lane, other) in other.iter().enumerate() {
            totals.won[lane] += other * met.won[lane];
            totals.lost[lane] += other * met.lost[lane];
        }
    }
}

/// Σ over the other rows of mass · (own mass below + own mass below or equal): twice what the own side loses, ties
/// counting one. What each class adds goes to its entry in `totals`; without `class_of` there is one class.
pub(super) fn add_pairs<M: Masses>(order: &Order, masses: M, class_of: Option<&[u16]>, totals: &mut [M::Totals]) {
    run_widest(Walk { order, masses, class_of, totals });
}

struct Walk<'w, M: Masses> {
    order: &'w Order,
    masses: M,
    class_of: Option<&'w [u16]>,
    totals: &'w mut [M::Totals],
}

impl<M: Masses> Vectorizable for Walk<'_, M> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Self { order, masses, class_of, totals } = self;
        let own = masses.own(order);
        let (mut below, mut up_to) = ([M::Sum::default(); LANES], [M::Sum::default(); LANES]);
        for step in order.steps() {
            if step.is_tied {
                below = up_to;
            }
            for &position in step.own {
                masses.add(position as usize, &mut up_to);
            }
            if !step.is_tied {
                below = up_to;
            }
            let met = masses.met(&below, &up_to, &own);
            match class_of {
                None => {
                    let mut others = [M::Sum::default(); LANES];
                    for &position in step.others {
                        masses.add(position as usize, &mut others);
                    }
                    masses.add_pairs(&others, &met, &mut totals[0]);
                }
                Some(class_of) => {
                    for &position in step.others {
                        let mut other = [M::Sum::default(); LANES];
                        masses.add(position as usize, &mut other);
                        let class = class_of[position as usize] as usize;
                        masses.add_pairs(&other, &met, &mut totals[class]);
                    }
                }
            }
        }
    }
}
