//! Counts of numbers in bins that get coarser as numbers come in.
//!
//! A histogram starts with a bin for every distinct number. When its bins exceed their memory, all of them become twice
//! as coarse, again and again until they fit. The coarseness that is reached depends on the numbers alone: more numbers
//! never have fewer bins, so that no order of adding them can end up coarser than another.

use std::ops::{Add, AddAssign, Mul};

use super::code::{COARSEST, Place, is_alone, is_crowded, start_of_block};
use crate::pairs::{Wins, ratio};
use crate::ranking::WeightedWins;

/// What a bin holds: rows, or the weight of rows.
pub(super) trait Mass: Copy + Send + Sync + std::fmt::Debug {
    /// Memory of one.
    const BYTES: usize;
    /// The type that sums and products are taken in, so that they do not overflow.
    type Sum: Copy
        + Default
        + PartialEq
        + Send
        + Sync
        + std::fmt::Debug
        + AddAssign
        + Add<Output = Self::Sum>
        + Mul<Output = Self::Sum>;
    /// Adds another bin's; what does not fit is left over.
    fn add(&mut self, other: Self) -> Option<Self>;
    /// Gathers equal prefixes of rows with the given weights; both end up in increasing order of prefixes.
    fn gathered<P: Prefix>(prefixes: &mut Vec<P>, weights: &[f64], table: &mut Table<P, Self>)
    where
        Self: Sized;
    /// Rows, or weight, to sum up.
    fn to_sum(self) -> Self::Sum;
    /// Rows, or weight.
    fn amount(self) -> f64;
    /// What was won out of all, as a tally takes it; `is_huge` if counts of pairs exceed 64 bits.
    fn wins(won: Self::Sum, lost: Self::Sum, is_huge: bool) -> Wins;
    /// A count of pairs as a sum.
    fn counted(pairs: u128) -> Self::Sum;
    /// As a number.
    fn as_number(sum: Self::Sum) -> f64;
    /// Sum of squared weights.
    fn squares(self) -> f64;
}

impl Mass for u32 {
    const BYTES: usize = 4;
    type Sum = u128;

    fn add(&mut self, other: Self) -> Option<Self> {
        let (sum, overflows) = self.overflowing_add(other);
        if overflows {
            // A full bin stays, and another one of the same prefix begins.
            *self = Self::MAX;
            return Some(sum + 1);
        }
        *self = sum;
        None
    }

    fn gathered<P: Prefix>(prefixes: &mut Vec<P>, _: &[f64], table: &mut Table<P, Self>) {
        P::sort(prefixes);
        for chunk in prefixes.chunk_by(|a, b| a == b) {
            table.push(chunk[0], chunk.len() as Self);
        }
    }

    fn to_sum(self) -> u128 {
        self.into()
    }

    fn amount(self) -> f64 {
        f64::from(self)
    }

    fn wins(won: u128, lost: u128, is_huge: bool) -> Wins {
        if is_huge {
            return Wins::Share(ratio(won, won + lost));
        }
        Wins::Counted { doubled: won as u64, doubled_pairs: (won + lost) as u64 }
    }

    fn counted(pairs: u128) -> u128 {
        pairs
    }

    fn as_number(sum: u128) -> f64 {
        sum as f64
    }

    fn squares(self) -> f64 {
        f64::from(self)
    }
}

/// Weight, and the sum of its squares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Weight {
    pub sum: f64,
    pub squares: f64,
}

impl Mass for Weight {
    const BYTES: usize = 16;
    type Sum = f64;

    fn add(&mut self, other: Self) -> Option<Self> {
        self.sum += other.sum;
        self.squares += other.squares;
        None
    }

    fn gathered<P: Prefix>(prefixes: &mut Vec<P>, weights: &[f64], table: &mut Table<P, Self>) {
        let mut rows: Vec<(P, f64)> = prefixes.iter().copied().zip(weights.iter().copied()).collect();
        // By weight too, so that the order of rows makes no difference to the sum.
        rows.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        for (prefix, weight) in rows {
            table.push(prefix, Self { sum: weight, squares: weight * weight });
        }
    }

    fn to_sum(self) -> f64 {
        self.sum
    }

    fn amount(self) -> f64 {
        self.sum
    }

    fn wins(won: f64, lost: f64, _: bool) -> Wins {
        Wins::Weighted(WeightedWins { won, lost })
    }

    fn counted(pairs: u128) -> f64 {
        pairs as f64
    }

    fn as_number(sum: f64) -> f64 {
        sum
    }

    fn squares(self) -> f64 {
        self.squares
    }
}

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
        numbers.iter().for_each(|&number| ends[digit(number)] += 1);
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
    fn with(&self, places: &Places, level: u32, weights: &[f64]) -> Self {
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

    fn merged(&self, other: &Self) -> Self {
        let mut all = Self::with_capacity(self.prefixes.len() + other.prefixes.len());
        let (mut own, mut others) = (0, 0);
        while own < self.prefixes.len() && others < other.prefixes.len() {
            if self.prefixes[own] <= other.prefixes[others] {
                all.push(self.prefixes[own], self.masses[own]);
                own += 1;
            } else {
                all.push(other.prefixes[others], other.masses[others]);
                others += 1;
            }
        }
        for index in own..self.prefixes.len() {
            all.push(self.prefixes[index], self.masses[index]);
        }
        for index in others..other.prefixes.len() {
            all.push(other.prefixes[index], other.masses[index]);
        }
        all
    }

    fn coarsened<Q: Prefix>(&self, level: u32, coarser: u32) -> Table<Q, M> {
        let mut table = Table::default();
        for (&prefix, &mass) in self.prefixes.iter().zip(&self.masses) {
            table.push(Q::of(prefix.place(level), coarser), mass);
        }
        table.prefixes.shrink_to_fit();
        table.masses.shrink_to_fit();
        table
    }

    /// The first level, not finer than `level`, at which the bins fit, among those that begin with `codes`.
    fn fitting_level(&self, level: u32, bytes: usize) -> u32 {
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

/// The bins of one histogram, the finest form that fits.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Bins<M> {
    /// One for each number.
    Numbers(Table<Place, M>),
    /// One for each integer, or for each prefix of integers.
    Wide(Table<u64, M>),
    /// One for each short prefix.
    Narrow(Table<u32, M>),
}

/// Numbers counted in bins.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Histogram<M> {
    /// How many bits of the integers are left out.
    pub level: u32,
    pub bins: Bins<M>,
}

/// The same expression for the table of any form.
macro_rules! with_table {
    ($bins:expr, |$table:ident| $work:expr) => {
        match $bins {
            Bins::Numbers($table) => $work,
            Bins::Wide($table) => $work,
            Bins::Narrow($table) => $work,
        }
    };
}

impl<M: Mass> Histogram<M> {
    /// Of numbers that their integers may not tell apart.
    pub(super) fn of_numbers() -> Self {
        Self { level: 0, bins: Bins::Numbers(Table::default()) }
    }

    /// Of numbers that are known by their integers.
    pub(super) fn of_codes() -> Self {
        Self { level: 0, bins: Bins::Wide(Table::default()) }
    }

    /// Adds rows at these places with these weights.
    pub(super) fn add(&mut self, places: &Places, weights: &[f64], bytes: usize) {
        let level = self.level;
        self.bins = match &self.bins {
            Bins::Numbers(table) => Bins::Numbers(table.with(places, level, weights)),
            Bins::Wide(table) => Bins::Wide(table.with(places, level, weights)),
            Bins::Narrow(table) => Bins::Narrow(table.with(places, level, weights)),
        };
        self.fit(bytes);
    }

    /// Adds what another one holds.
    pub(super) fn merge(&mut self, mut other: Self, bytes: usize) {
        // Both as coarse as the coarser of them.
        if let (Bins::Numbers(_), Bins::Wide(_) | Bins::Narrow(_)) = (&self.bins, &other.bins) {
            self.coarsen(0);
        }
        if let (Bins::Wide(_) | Bins::Narrow(_), Bins::Numbers(_)) = (&self.bins, &other.bins) {
            other.coarsen(0);
        }
        let level = self.level.max(other.level);
        if self.level < level {
            self.coarsen(level);
        }
        if other.level < level {
            other.coarsen(level);
        }
        match (&mut self.bins, &other.bins) {
            (Bins::Numbers(own), Bins::Numbers(others)) => *own = own.merged(others),
            (Bins::Wide(own), Bins::Wide(others)) => *own = own.merged(others),
            (Bins::Narrow(own), Bins::Narrow(others)) => *own = own.merged(others),
            _ => unreachable!("the level decides on the form"),
        }
        self.fit(bytes);
    }

    /// As coarse as needed to fit.
    pub(super) fn fit(&mut self, bytes: usize) {
        if let Bins::Numbers(table) = &self.bins {
            if table.prefixes.len() * (Place::BYTES + M::BYTES) <= bytes {
                return;
            }
            self.coarsen(0);
        }
        let level = with_table!(&self.bins, |table| table.fitting_level(self.level, bytes));
        if level > self.level {
            self.coarsen(level);
        }
    }

    /// Without the last `level` bits of the integers, and without what is within an integer.
    fn coarsen(&mut self, level: u32) {
        self.bins = with_table!(&self.bins, |table| {
            if level < 32 {
                Bins::Wide(table.coarsened(self.level, level))
            } else {
                Bins::Narrow(table.coarsened(self.level, level))
            }
        });
        self.level = level;
    }

    /// The number of bins.
    pub(super) fn len(&self) -> usize {
        with_table!(&self.bins, |table| table.prefixes.len())
    }

    /// Calls `visit` with the bins in increasing order.
    pub(super) fn for_each(&self, mut visit: impl FnMut(Bin, M)) {
        let last = (1_u64 << self.level) - 1;
        with_table!(&self.bins, |table| {
            for (&prefix, &mass) in table.prefixes.iter().zip(&table.masses) {
                let Place { code, within } = prefix.place(self.level);
                visit(Bin { first: code, last: code + last, within }, mass);
            }
        });
    }

    /// The index of the bin that a place is in, if there is one.
    pub(super) fn find(&self, place: Place) -> Option<usize> {
        with_table!(&self.bins, |table| find(table, place, self.level))
    }
}

fn find<P: Prefix, M>(table: &Table<P, M>, place: Place, level: u32) -> Option<usize> {
    table.prefixes.binary_search(&P::of(place, level)).ok()
}

/// The integers that a bin holds, and where in the only one of them, if that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bin {
    pub first: u64,
    pub last: u64,
    pub within: u64,
}

/// Between which numbers those of a bin are, as integers in the same order: the same twice if they are all equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bounds {
    pub low: u128,
    pub high: u128,
}

impl Bounds {
    pub(super) const fn equal(code: u64, within: u64) -> Self {
        let number = (code as u128) << 64 | within as u128;
        Self { low: number, high: number }
    }

    const fn between(first: u64, last: u64) -> Self {
        Self { low: (first as u128) << 64, high: (last as u128) << 64 | u64::MAX as u128 }
    }

    pub(super) const fn are_equal(self) -> bool {
        self.low == self.high
    }
}

impl Bin {
    /// Between which numbers those of the bin are.
    pub(super) fn bounds(self, codes_are_numbers: bool) -> Bounds {
        if is_alone(self.first) {
            return Bounds::equal(start_of_block(self.first), 0);
        }
        let is_known = self.first == self.last && !is_crowded(self.first);
        if is_known && self.within != Place::UNKNOWN {
            return Bounds::equal(self.first, self.within);
        }
        if is_known && codes_are_numbers {
            return Bounds::equal(self.first, 0);
        }
        Bounds::between(self.first, self.last)
    }
}
