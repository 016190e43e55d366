//! Counts of numbers in bins that get coarser as numbers come in.
//!
//! A histogram starts with a bin for every distinct number. When its bins exceed their memory, all of them become twice
//! as coarse, again and again until they fit. The coarseness that is reached depends on the numbers alone: more numbers
//! never have fewer bins, so that no order of adding them can end up coarser than another.

use super::code::{Place, is_alone, is_crowded, start_of_block};
use super::mass::Mass;
use super::table::{Places, Prefix, Table};

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

    /// The index of the bin that each place is in, if there is one.
    pub(super) fn find_all(&self, places: impl Iterator<Item = Place>) -> Vec<Option<usize>> {
        with_table!(&self.bins, |table| find_all(&table.prefixes, places, self.level))
    }
}

fn find_all<P: Prefix>(prefixes: &[P], places: impl Iterator<Item = Place>, level: u32) -> Vec<Option<usize>> {
    let code = |prefix: P| prefix.place(level).code;
    let (Some(first), Some(last)) = (prefixes.first().copied().map(code), prefixes.last().copied().map(code)) else {
        return places.map(|_| None).collect();
    };
    // Where the bins of each block of integers begin; there are about as many blocks as bins.
    let shift = (u64::BITS - (last - first).leading_zeros()).saturating_sub(prefixes.len().ilog2() + 1);
    let block = |code: u64| ((code - first) >> shift) as usize;
    let mut starts = vec![0_u32; block(last) + 2];
    for &prefix in prefixes {
        starts[block(code(prefix)) + 1] += 1;
    }
    for index in 1..starts.len() {
        starts[index] += starts[index - 1];
    }
    let find = |place: Place| {
        let prefix = P::of(place, level);
        let code = code(prefix);
        if !(first..=last).contains(&code) {
            return None;
        }
        let [start, end] = [starts[block(code)], starts[block(code) + 1]].map(|start| start as usize);
        prefixes[start..end].binary_search(&prefix).ok().map(|index| start + index)
    };
    places.map(find).collect()
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
    /// Of the integers between two.
    pub(super) const fn of(first: u64, last: u64) -> Self {
        Self { first, last, within: Place::UNKNOWN }
    }

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

#[cfg(test)]
mod tests {
    use super::{Place, find_all};

    #[test]
    fn places_are_found_as_by_a_search_through_all_bins() {
        for (count, factor) in [(0, 1), (1, 1), (2, u64::MAX >> 12), (300, 1), (300, 7), (1000, 0x0001_2345_6789)] {
            for level in [0, 3, 11] {
                let mut codes: Vec<u64> = (0..count).map(|index: u64| (5 + index * index * factor) >> level).collect();
                codes.dedup();
                let asked = (0..2000).map(|index: u64| (index * index / 3).wrapping_mul(factor) >> 1);
                let places: Vec<Place> = asked
                    .chain(codes.iter().map(|code| code << level))
                    .chain([0, 4, u64::MAX])
                    .map(|code| Place { code, within: Place::UNKNOWN })
                    .collect();
                let expected: Vec<Option<usize>> =
                    places.iter().map(|place| codes.iter().position(|&code| code == place.code >> level)).collect();
                assert_eq!(find_all(&codes, places.iter().copied(), level), expected);
            }
        }
    }
}
