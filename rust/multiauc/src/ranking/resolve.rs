//! Keys too close to tell: recounted by their exact values.

use super::key::{Key, sort};
use super::searched::SortedKeys;
use crate::difference::DifferenceRule;
use crate::exact_key::rounding_of_difference;
use crate::fraction::FractionCache;
use crate::score_matrix::Score;

/// The two sides of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// The class whose keys the table holds.
    Table = 0,
    /// The class whose negated keys are looked up in it.
    LookedUp = 1,
}

/// The rows of a pair whose keys are too close to keys of the other side. All rows, where those are many.
#[derive(Debug, Clone)]
pub(crate) struct NearKeys {
    rule: DifferenceRule,
    /// `None` takes every key.
    neighbourhoods: Option<Neighbourhoods>,
    /// By side, the scores whose difference is the key as the table ranks it.
    operands: [Vec<(f64, f64)>; 2],
}

impl NearKeys {
    /// For the keys that were `found` near to keys of the table among so many looked up; `None` where there are none.
    pub(crate) fn new(rule: DifferenceRule, found: Vec<f64>, looked_up: usize) -> Option<Self> {
        /// If one of so many keys is near, sorting all costs no more than finding those that are.
        const MANY: usize = 3;
        let (false, Some(tolerance)) = (found.is_empty(), rule.near) else { return None };
        let neighbourhoods = (found.len() < looked_up / MANY).then(|| Neighbourhoods::new(found, tolerance));
        Some(Self { neighbourhoods, ..Self::all(rule) })
    }

    /// For all keys: their exact count does not start from another.
    pub(crate) fn all(rule: DifferenceRule) -> Self {
        Self { rule, neighbourhoods: None, operands: [Vec::new(), Vec::new()] }
    }

    /// The same neighbourhoods without rows.
    pub(crate) fn empty(&self) -> Self {
        Self { neighbourhoods: self.neighbourhoods.clone(), ..Self::all(self.rule) }
    }

    /// The rows of both.
    pub(crate) fn merge(mut self, other: Self) -> Self {
        self.operands.iter_mut().zip(other.operands).for_each(|(mine, mut others)| mine.append(&mut others));
        self
    }

    /// Adds those of some rows that are near.
    pub(crate) fn collect<T: Score>(&mut self, side: Side, own: &[T], other: &[T]) {
        let Self { rule, neighbourhoods, operands } = self;
        let operands = &mut operands[side as usize];
        let oriented = |own: T, other: T| match side {
            Side::Table => (own.into(), other.into()),
            Side::LookedUp => (other.into(), own.into()),
        };
        let rows = own.iter().zip(other).map(|(&own, &other)| oriented(own, other));
        let Some(neighbourhoods) = neighbourhoods else {
            operands.extend(rows);
            return;
        };
        let mut keys = Vec::new();
        rule.append_keys(own, other, &mut FractionCache::default(), &mut keys);
        if side == Side::LookedUp {
            for key in &mut keys {
                *key = -*key;
            }
        }
        let mut rows = rows;
        neighbourhoods.for_each(&keys, |is_near| {
            let row = rows.next().expect("a key for each row");
            if is_near {
                operands.push(row);
            }
        });
    }

    /// `count` of all rows by their keys, Σ #(v < x) + #(v ≤ x), becomes the count by their exact keys. Only pairs within
    /// a neighbourhood can differ.
    pub(crate) fn recount(self, count: u64) -> u64 {
        let by_keys = match self.neighbourhoods {
            None => count,
            Some(_) => count_sorted(self.sides(|a, b| self.rule.key(a, b).ordered())),
        };
        let exactly = if self.rule.needs_fractions(self.operands.iter().flatten()) {
            count_sorted(self.sides(|a, b| self.rule.exact(a, b)))
        } else {
            count_sorted(self.sides(two_part_key))
        };
        // Modulo 2^64: the result is a count again.
        count.wrapping_add(exactly).wrapping_sub(by_keys)
    }

    fn sides<K>(&self, key: impl Fn(f64, f64) -> K) -> [Vec<K>; 2] {
        [0, 1].map(|side| self.operands[side].iter().map(|&(a, b)| key(a, b)).collect())
    }
}

/// Disjoint closed intervals.
#[derive(Debug, Clone)]
struct Neighbourhoods {
    lows: SortedKeys<i64>,
    highs: Vec<f64>,
}

impl Neighbourhoods {
    /// The neighbourhoods of some keys, those that overlap made one.
    fn new(mut keys: Vec<f64>, tolerance: f64) -> Self {
        sort(&mut keys);
        let (mut lows, mut highs): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        for key in keys {
            let (low, high) = (key - tolerance, key + tolerance);
            match highs.last_mut() {
                Some(last) if low <= *last => *last = high,
                _ => {
                    lows.push(low);
                    highs.push(high);
                }
            }
        }
        let mut sorted = SortedKeys::default();
        sorted.build(lows.into_iter().map(Key::ordered));
        Self { lows: sorted, highs }
    }

    /// Calls `visit(whether it lies in one of them)` for each key.
    fn for_each(&self, keys: &[f64], mut visit: impl FnMut(bool)) {
        let mut keys_again = keys.iter();
        self.lows.for_each_place(keys.iter().map(|key| key.ordered()), |ordered, place| {
            let key = keys_again.next().expect("as many as places");
            // So many begin below the key; another may begin at it.
            visit(self.lows.has_within(ordered, place, ordered) || (place > 0 && *key <= self.highs[place - 1]));
        });
    }
}

/// Σ over x of #(v < x) + #(v ≤ x).
fn count_sorted<K: Ord + Copy>([table, looked_up]: [Vec<K>; 2]) -> u64 {
    let mut sorted = SortedKeys::default();
    sorted.build(table.into_iter());
    sorted.count(looked_up.into_iter())
}

/// a − b without loss: the rounded difference never falls as the true one rises, and where it is the same, what rounding
/// took decides. One whole number that compares as the two do.
fn two_part_key(a: f64, b: f64) -> i128 {
    let (rounded, rest) = ((a - b).ordered(), rounding_of_difference(a, b).ordered());
    i128::from(rounded) << 64 | i128::from(rest.cast_unsigned() ^ (1 << 63))
}
