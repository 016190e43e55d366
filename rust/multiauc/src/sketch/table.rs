//! Bins by the first bits of the integers of numbers, in increasing order.

use std::cmp::Ordering;

use super::code::{COARSEST, Place};
use super::mass::Mass;

/// The places of rows.
#[derive(Debug)]
pub(super) enum Places {
    /// Numbers known by their integers.
    Codes(Vec<u64>),
    Numbers(Vec<Place>),
}

/// The name of a bin.
pub(super) trait Prefix: Copy + Ord + Send + Sync + std::fmt::Debug {
    /// Memory of one.
    const BYTES: usize;
    /// The bin of a place.
    fn of(place: Place, level: u32) -> Self;
    /// The place of a number in it, its lowest but for what is within an integer.
    fn place(self, level: u32) -> Place;
    /// Puts them in increasing order.
    fn sort(prefixes: &mut Vec<Self>) {
        prefixes.sort_unstable();
    }
}

impl Prefix for Place {
    const BYTES: usize = 16;

    fn of(place: Place, _: u32) -> Self {
        place
    }

    fn place(self, _: u32) -> Place {
        self
    }
}

impl Prefix for u64 {
    const BYTES: usize = 8;

    fn of(place: Place, level: u32) -> Self {
        place.code >> level
    }

    fn place(self, level: u32) -> Place {
        Place { code: self << level, within: Place::UNKNOWN }
    }
}

impl Prefix for u32 {
    const BYTES: usize = 4;

    fn of(place: Place, level: u32) -> Self {
        (place.code >> level) as Self
    }

    fn place(self, level: u32) -> Place {
        Place { code: u64::from(self) << level, within: Place::UNKNOWN }
    }

    fn sort(prefixes: &mut Vec<Self>) {
        /// With fewer, comparisons are faster.
        const MANY: usize = 4096;
        if prefixes.len() < MANY { prefixes.sort_unstable() } else { sort_by_digits(prefixes) }
    }
}

/// Sorts by eleven bits after another, from the lowest up: each time in one pass that keeps the order of equal ones.
fn sort_by_digits(numbers: &mut Vec<u32>) {
    const BITS: u32 = 11;
    let mut sorted = vec![0; numbers.len()];
    let differing = numbers.iter().fold(0, |bits, number| bits | (number ^ numbers[0]));
    for shift in (0..u32::BITS).step_by(BITS as usize).filter(|&shift| differing >> shift != 0) {
        let digit = |number: u32| (number >> shift) as usize & ((1 << BITS) - 1);
        let mut ends = [0_usize; 1 << BITS];
        for &number in numbers.iter() {
            ends[digit(number)] += 1;
        }
        let mut start = 0;
        for end in &mut ends {
            (*end, start) = (start, start + *end);
        }
        for &number in numbers.iter() {
            let end = &mut ends[digit(number)];
            sorted[*end] = number;
            *end += 1;
        }
        std::mem::swap(numbers, &mut sorted);
    }
}

/// Bins in increasing order. A bin that is full is followed by another one of the same name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Table<P, M> {
    pub prefixes: Vec<P>,
    pub masses: Vec<M>,
}

impl<P, M> Default for Table<P, M> {
    fn default() -> Self {
        Self { prefixes: Vec::new(), masses: Vec::new() }
    }
}

impl<P: Prefix, M: Mass> Table<P, M> {
    pub(super) fn push(&mut self, prefix: P, mass: M) {
        let rest = match (self.prefixes.last(), self.masses.last_mut()) {
            (Some(last), Some(present)) if *last == prefix => present.add(mass),
            _ => Some(mass),
        };
        if let Some(rest) = rest {
            self.prefixes.push(prefix);
            self.masses.push(rest);
        }
    }

    fn with_capacity(capacity: usize) -> Self {
        Self { prefixes: Vec::with_capacity(capacity), masses: Vec::with_capacity(capacity) }
    }

    /// These bins and those of more rows.
    pub(super) fn with(&self, places: &Places, level: u32, weights: &[f64]) -> Self {
        let mut prefixes: Vec<P> = match places {
            Places::Codes(codes) => {
                codes.iter().map(|&code| P::of(Place { code, within: Place::UNKNOWN }, level)).collect()
            }
            Places::Numbers(places) => places.iter().map(|&place| P::of(place, level)).collect(),
        };
        let mut added = Self::default();
        M::gathered(&mut prefixes, weights, &mut added);
        self.merged(&added)
    }

    /// The bins of both.
    pub(super) fn merged(&self, other: &Self) -> Self {
        let mut all = Self::with_capacity(self.prefixes.len() + other.prefixes.len());
        let (mut own, mut others) = (0, 0);
        while own < self.prefixes.len() && others < other.prefixes.len() {
            let (first, second) = (self.prefixes[own], other.prefixes[others]);
            match first.cmp(&second) {
                Ordering::Less => {
                    all.prefixes.push(first);
                    all.masses.push(self.masses[own]);
                    own += 1;
                }
                Ordering::Greater => {
                    all.prefixes.push(second);
                    all.masses.push(other.masses[others]);
                    others += 1;
                }
                // Several where bins are full: those of both, one after another.
                Ordering::Equal => {
                    for (table, index) in [(self, &mut own), (other, &mut others)] {
                        while table.prefixes.get(*index) == Some(&first) {
                            all.push(first, table.masses[*index]);
                            *index += 1;
                        }
                    }
                }
            }
        }
        for (table, rest) in [(self, own), (other, others)] {
            all.prefixes.extend_from_slice(&table.prefixes[rest..]);
            all.masses.extend_from_slice(&table.masses[rest..]);
        }
        all
    }

    pub(super) fn coarsened<Q: Prefix>(&self, level: u32, coarser: u32) -> Table<Q, M> {
        let mut table = Table::default();
        for (&prefix, &mass) in self.prefixes.iter().zip(&self.masses) {
            table.push(Q::of(prefix.place(level), coarser), mass);
        }
        table.prefixes.shrink_to_fit();
        table.masses.shrink_to_fit();
        table
    }

    /// The first level, not finer than `level`, at which the bins fit, among those that begin with `codes`.
    pub(super) fn fitting_level(&self, level: u32, bytes: usize) -> u32 {
        if self.prefixes.len() * (bytes_of_prefix(level) + M::BYTES) <= bytes {
            return level;
        }
        // Two neighbours stay apart up to the highest bit in which they differ.
        let mut apart = [0_usize; 65];
        let codes = || self.prefixes.iter().map(|prefix| prefix.place(level).code);
        for (code, next) in codes().zip(codes().skip(1)) {
            apart[64 - (code ^ next).leading_zeros() as usize] += 1;
        }
        let bins = |level: u32| 1 + apart[level as usize + 1..].iter().sum::<usize>();
        (level..COARSEST).find(|&level| bins(level) * (bytes_of_prefix(level) + M::BYTES) <= bytes).unwrap_or(COARSEST)
    }
}

/// Memory of a prefix without its last bits.
const fn bytes_of_prefix(level: u32) -> usize {
    if level < 32 { <u64 as Prefix>::BYTES } else { <u32 as Prefix>::BYTES }
}
