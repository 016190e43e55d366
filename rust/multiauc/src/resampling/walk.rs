//! The inner loop: one pass through a presorted order counts sixteen replicates.
//!
//! Going up, the masses of own rows are summed; each other row wins against all own rows below it and ties with those
//! equal to it. A replicate changes how often a row counts and nothing else, so it costs a load, an addition and at
//! most a multiplication per row, for all lanes at once.

use super::draws::{LANES, Lanes};
use crate::ranking::Order;
use crate::simd::{Simd, Vectorizable, run_widest};

/// Multiplicities of positions, times weights where rows have them.
pub(super) trait Masses: Copy {
    /// A sum of masses.
    type Sum: Copy + Default;
    /// A sum of products of such sums.
    type Total: Copy + Default;
    /// Adds the mass of a position to each lane.
    fn add(self, position: usize, sums: &mut Lanes<Self::Sum>);
    /// The sum of two sums.
    fn plus(self, a: &Lanes<Self::Sum>, b: &Lanes<Self::Sum>) -> Lanes<Self::Sum>;
    /// Adds a · b to the total.
    fn add_product(self, a: &Lanes<Self::Sum>, b: &Lanes<Self::Sum>, total: &mut Lanes<Self::Total>);
}

/// Rows without weights: whole numbers, whose sums are exact. Twice the sum of all masses stays below 2^32.
#[derive(Clone, Copy)]
pub(super) struct Multiplicities<'d>(pub &'d [Lanes<u8>]);

impl Masses for Multiplicities<'_> {
    type Sum = u32;
    type Total = u64;

    #[inline(always)]
    fn add(self, position: usize, sums: &mut Lanes<u32>) {
        let counts = &self.0[position];
        for lane in 0..LANES {
            sums[lane] += u32::from(counts[lane]);
        }
    }

    #[inline(always)]
    fn plus(self, a: &Lanes<u32>, b: &Lanes<u32>) -> Lanes<u32> {
        std::array::from_fn(|lane| a[lane] + b[lane])
    }

    #[inline(always)]
    fn add_product(self, a: &Lanes<u32>, b: &Lanes<u32>, total: &mut Lanes<u64>) {
        for lane in 0..LANES {
            total[lane] += u64::from(a[lane]) * u64::from(b[lane]);
        }
    }
}

/// Rows with weights. Each lane adds up in the order of the walk, so its bits depend on nothing else.
#[derive(Clone, Copy)]
pub(super) struct WeightedMultiplicities<'d> {
    pub counts: &'d [Lanes<u8>],
    pub weights: &'d [f64],
}

impl Masses for WeightedMultiplicities<'_> {
    type Sum = f64;
    type Total = f64;

    #[inline(always)]
    fn add(self, position: usize, sums: &mut Lanes<f64>) {
        let (counts, weight) = (&self.counts[position], self.weights[position]);
        for lane in 0..LANES {
            sums[lane] += f64::from(counts[lane]) * weight;
        }
    }

    #[inline(always)]
    fn plus(self, a: &Lanes<f64>, b: &Lanes<f64>) -> Lanes<f64> {
        std::array::from_fn(|lane| a[lane] + b[lane])
    }

    #[inline(always)]
    fn add_product(self, a: &Lanes<f64>, b: &Lanes<f64>, total: &mut Lanes<f64>) {
        for lane in 0..LANES {
            total[lane] += a[lane] * b[lane];
        }
    }
}

/// Σ over the other rows of mass · (own mass below + own mass below or equal): twice what the own side loses, ties
/// counting one. The total of each class is added to its entry in `totals`; without `class_of` there is one class.
pub(super) fn add_doubled_losses<M: Masses>(
    order: &Order,
    masses: M,
    class_of: Option<&[u16]>,
    totals: &mut [Lanes<M::Total>],
) {
    run_widest(Walk { order, masses, class_of, totals });
}

struct Walk<'w, M: Masses> {
    order: &'w Order,
    masses: M,
    class_of: Option<&'w [u16]>,
    totals: &'w mut [Lanes<M::Total>],
}

impl<M: Masses> Vectorizable for Walk<'_, M> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Self { order, masses, class_of, totals } = self;
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
            let doubled = masses.plus(&below, &up_to);
            match class_of {
                None => {
                    let mut others = [M::Sum::default(); LANES];
                    for &position in step.others {
                        masses.add(position as usize, &mut others);
                    }
                    masses.add_product(&others, &doubled, &mut totals[0]);
                }
                Some(class_of) => {
                    for &position in step.others {
                        let mut other = [M::Sum::default(); LANES];
                        masses.add(position as usize, &mut other);
                        let class = class_of[position as usize] as usize;
                        masses.add_product(&other, &doubled, &mut totals[class]);
                    }
                }
            }
        }
    }
}
