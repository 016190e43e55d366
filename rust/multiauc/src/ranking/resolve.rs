//! Keys too close to tell: recounted by their exact values.

use std::cmp::Ordering;

use super::bucket_table::{BucketTable, Lookup};
use super::overfull::sort;
use crate::exact_key::ExactKey;

/// The neighbourhoods of the keys that [`BucketTable::count`](super::BucketTable::count) reported as near.
#[derive(Debug)]
pub(crate) struct Neighbourhoods {
    /// Disjoint intervals in increasing order.
    intervals: Vec<(f64, f64)>,
}

impl Neighbourhoods {
    pub(crate) fn new(mut near: Vec<f64>, tolerance: f64) -> Self {
        sort(&mut near);
        let mut intervals: Vec<(f64, f64)> = Vec::new();
        for key in near {
            let (low, high) = (key - tolerance, key + tolerance);
            match intervals.last_mut() {
                Some(last) if low <= last.1 => last.1 = high,
                _ => intervals.push((low, high)),
            }
        }
        Self { intervals }
    }

    /// The number of the neighbourhood that a key lies in.
    #[inline]
    pub(crate) fn find(&self, key: f64) -> Option<usize> {
        let (first, last) = (self.intervals.first()?, self.intervals.last()?);
        if key < first.0 || key > last.1 {
            return None;
        }
        let next = self.intervals.partition_point(|interval| interval.0 <= key);
        (next > 0 && key <= self.intervals[next - 1].1).then(|| next - 1)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.intervals.len()
    }
}

/// Equal keys of the two sides of a pair, by neighbourhood: what rounding took from each decides between them.
#[derive(Debug)]
pub(crate) struct TieGroups {
    /// Roundings of the table's keys and of the keys looked up.
    sides: [Vec<Vec<f64>>; 2],
}

impl TieGroups {
    /// More neighbourhoods than this are better sorted.
    pub(crate) const MOST: usize = 256;

    pub(crate) fn new(neighbourhoods: &Neighbourhoods) -> Self {
        Self { sides: [(); 2].map(|()| vec![Vec::new(); neighbourhoods.len()]) }
    }

    /// Adds a key by its neighbourhood and its rounding.
    pub(crate) fn push(&mut self, is_looked_up: bool, neighbourhood: usize, rounding: f64) {
        self.sides[usize::from(is_looked_up)][neighbourhood].push(rounding);
    }

    /// What must be added to a count that took all of them for ties.
    pub(crate) fn correction(self) -> i64 {
        let [table, looked_up] = self.sides;
        let mut buckets = BucketTable::default();
        let mut difference = 0;
        for (table, looked_up) in table.iter().zip(&looked_up).filter(|(table, _)| !table.is_empty()) {
            buckets.build(std::iter::once(&table[..]), None);
            let count = buckets.count(looked_up, Lookup::PLAIN, &mut Vec::new());
            difference += count.cast_signed() - (table.len() * looked_up.len()).cast_signed() as i64;
        }
        difference
    }
}

/// Keys of one side of a pair that lie in the neighbourhoods: as ranked, and exactly.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    ranked: Vec<f64>,
    exact: Vec<ExactKey>,
}

impl Candidates {
    pub(crate) fn push(&mut self, ranked: f64, exact: ExactKey) {
        // Plus zero: as ranked, both zeros tie.
        self.ranked.push(ranked + 0.0);
        self.exact.push(exact);
    }

    pub(crate) fn append(&mut self, mut other: Self) {
        self.ranked.append(&mut other.ranked);
        self.exact.append(&mut other.exact);
    }
}

/// What must be added to the count by ranked keys, Σ #(v < x) + #(v ≤ x), to make it the count by exact keys. Only pairs
/// within a neighbourhood can differ, so only those need be among the candidates.
pub(crate) fn correction(mut table: Candidates, mut looked_up: Candidates) -> i64 {
    let ranked = count_sorting(&mut table.ranked, &mut looked_up.ranked, f64::total_cmp);
    let exact = count_sorting(&mut table.exact, &mut looked_up.exact, ExactKey::compare);
    exact.wrapping_sub(ranked) as i64
}

/// Σ over x of #(v < x) + #(v ≤ x): the smaller side is sorted, the other searches in it.
fn count_sorting<K>(table: &mut [K], looked_up: &mut [K], compare: impl Fn(&K, &K) -> Ordering) -> u64 {
    let count_up_to = |sorted: &[K], key: &K| {
        let below = sorted.partition_point(|other| compare(other, key).is_lt());
        let ties = sorted[below..].partition_point(|other| compare(other, key).is_eq());
        (2 * below + ties) as u64
    };
    if table.len() <= looked_up.len() {
        table.sort_unstable_by(&compare);
        looked_up.iter().map(|x| count_up_to(table, x)).sum()
    } else {
        looked_up.sort_unstable_by(&compare);
        let all = 2 * looked_up.len() as u64;
        table.iter().map(|v| all - count_up_to(looked_up, v)).sum()
    }
}
