//! Keys too close to tell apart: recounted by their exact values.

use super::sorted_keys::SortedKeys;
use crate::float::Score;
use crate::float::{Float, sort};
use crate::keys::DifferenceRule;
use crate::keys::KeyScratch;
use crate::keys::rounding_of_difference;

/// The two sides of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// The class whose keys the table holds.
    Table = 0,
    /// The class whose negated keys are looked up in it.
    LookedUp = 1,
}

impl Side {
    /// The scores of a row, in the order in which their difference is its key in the table's ranking.
    fn oriented<T: Score>(self, own: T, other: T) -> (f64, f64) {
        match self {
            Self::Table => (own.into(), other.into()),
            Self::LookedUp => (other.into(), own.into()),
        }
    }
}

/// The rows of a pair whose keys are too close to keys of the other side. All rows, if there are many of those.
#[derive(Debug, Clone)]
pub(crate) struct NearKeys {
    rule: DifferenceRule,
    /// `None` takes every key.
    neighbourhoods: Option<Neighbourhoods>,
    /// By side, the oriented scores of the rows.
    operands: [Vec<(f64, f64)>; 2],
}

impl NearKeys {
    /// For the keys that were `found` near keys of the table, out of `looked_up` keys; `None` if there are none.
    pub(crate) fn new(rule: DifferenceRule, found: Vec<f64>, looked_up: usize) -> Option<Self> {
        /// If one key in this many is near, sorting them all costs no more than finding those that are.
        const MANY: usize = 3;
        let (false, Some(tolerance)) = (found.is_empty(), rule.near) else { return None };
        let neighbourhoods = (found.len() < looked_up / MANY).then(|| Neighbourhoods::new(found, tolerance));
        Some(Self { neighbourhoods, ..Self::all(rule) })
    }

    /// For all keys: their exact count does not correct an earlier one.
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

    /// Adds the rows at some places, which were found near.
    pub(crate) fn take<T: Score>(&mut self, side: Side, own: &[T], other: &[T], places: &[u32]) {
        if self.neighbourhoods.is_none() {
            return self.collect(side, own, other);
        }
        let rows = places.iter().map(|&place| side.oriented(own[place as usize], other[place as usize]));
        self.operands[side as usize].extend(rows);
    }

    /// Adds those of some rows that are near.
    pub(crate) fn collect<T: Score>(&mut self, side: Side, own: &[T], other: &[T]) {
        /// Rows at a time: their keys stay in the cache.
        const CHUNK: usize = 1 << 12;
        let Self { rule, neighbourhoods, operands } = self;
        let operands = &mut operands[side as usize];
        let oriented = |(&own, &other): (&T, &T)| side.oriented(own, other);
        let Some(neighbourhoods) = neighbourhoods else {
            operands.extend(own.iter().zip(other).map(oriented));
            return;
        };
        let (mut keys, mut near_keys, mut near_rows) = (Vec::new(), Vec::new(), Vec::new());
        let mut scratch = KeyScratch::default();
        for (own, other) in own.chunks(CHUNK).zip(other.chunks(CHUNK)) {
            keys.clear();
            near_keys.clear();
            near_rows.clear();
            rule.append_keys(own, other, &mut scratch, &mut keys);
            for (&key, row) in keys.iter().zip(own.iter().zip(other)) {
                let key = if side == Side::LookedUp { -key } else { key };
                if neighbourhoods.may_hold(key) {
                    near_keys.push(key);
                    near_rows.push(oriented(row));
                }
            }
            let mut rows = near_rows.iter();
            neighbourhoods.for_each(&near_keys, |is_near| {
                let row = rows.next().expect("a row for each key");
                if is_near {
                    operands.push(*row);
                }
            });
        }
    }

    /// Corrects `count`, Σ #(v < x) + #(v ≤ x) of all rows by their keys, to the count by their exact keys. Only pairs
    /// within a neighbourhood can differ.
    pub(crate) fn recount(self, count: u64) -> u64 {
        let by_keys = match self.neighbourhoods {
            None => count,
            Some(_) => self.count_by(|a, b| self.rule.key(a, b).ordered()),
        };
        let exactly = if self.rule.needs_fractions(self.operands.iter().flatten()) {
            self.count_by(|a, b| self.rule.exact(a, b))
        } else {
            self.count_by(two_part_key)
        };
        // Modulo 2^64, since the correction may be negative.
        count.wrapping_add(exactly).wrapping_sub(by_keys)
    }

    /// Σ over the looked-up rows x of #(v < x) + #(v ≤ x), v running through the table's, all by some key.
    fn count_by<K: Ord + Copy>(&self, key: impl Fn(f64, f64) -> K) -> u64 {
        let [table, looked_up] = self.operands.each_ref().map(|rows| rows.iter().map(|&(a, b)| key(a, b)));
        let mut sorted = SortedKeys::default();
        sorted.build(table);
        sorted.count(looked_up)
    }
}

/// Disjoint closed intervals.
#[derive(Debug, Clone)]
struct Neighbourhoods {
    lows: SortedKeys<i64>,
    highs: Vec<f64>,
    filter: Filter,
}

impl Neighbourhoods {
    /// The neighbourhoods of some keys, with overlapping ones merged.
    fn new(mut keys: Vec<f64>, tolerance: f64) -> Self {
        let filter = Filter::new(&keys, tolerance);
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
        sorted.build(lows.into_iter().map(Float::ordered));
        Self { lows: sorted, highs, filter }
    }

    /// Whether a key may lie in one of them: a quick check that rules out most of those that do not.
    fn may_hold(&self, key: f64) -> bool {
        let (word, bit) = self.filter.position(key);
        self.filter.bits[word] & bit != 0
    }

    /// Calls `visit(whether it lies in one of them)` for each key.
    fn for_each(&self, keys: &[f64], mut visit: impl FnMut(bool)) {
        let mut keys_again = keys.iter();
        self.lows.for_each_place(keys.iter().map(|key| key.ordered()), |ordered, place| {
            let key = keys_again.next().expect("a key for each place");
            // `place` of them begin below the key; another may begin at it.
            visit(self.lows.has(ordered, place) || (place > 0 && *key <= self.highs[place - 1]));
        });
    }
}

/// The cells of a fine grid that some neighbourhoods touch, each as a bit at a scattered position.
#[derive(Debug, Clone)]
struct Filter {
    bits: Vec<u64>,
    /// Cells per unit, each four tolerances wide; zero where only equal keys are near: then every key is its own cell.
    scale: f64,
    shift: u32,
}

impl Filter {
    fn new(keys: &[f64], tolerance: f64) -> Self {
        /// Two cells for each key: an eighth of the bits are set.
        const BITS_PER_KEY: usize = 16;
        let words = (keys.len() * BITS_PER_KEY).div_ceil(64).next_power_of_two();
        let scale = if tolerance > 0.0 { 0.25 / tolerance } else { 0.0 };
        let mut filter = Self { bits: vec![0; words], scale, shift: 64 - (64 * words).ilog2() };
        for key in keys {
            // A neighbourhood is half a cell wide: whatever lies in it shares a cell with one of its ends.
            for end in [key - tolerance, key + tolerance] {
                let (word, bit) = filter.position(end);
                filter.bits[word] |= bit;
            }
        }
        filter
    }

    /// The word and the bit of a key's cell.
    #[inline(always)]
    fn position(&self, key: f64) -> (usize, u64) {
        const SCATTER: u64 = 0x9e37_79b9_7f4a_7c15;
        let cell = if self.scale > 0.0 { ((key * self.scale) as i64).cast_unsigned() } else { (key + 0.0).to_bits() };
        let position = cell.wrapping_mul(SCATTER) >> self.shift;
        ((position / 64) as usize, 1 << (position % 64))
    }
}

/// a − b without loss, as one integer: ordered by the rounded difference, and by its rounding error where those are
/// equal.
pub(super) fn two_part_key(a: f64, b: f64) -> i128 {
    let (rounded, rest) = ((a - b).ordered(), rounding_of_difference(a, b).ordered());
    i128::from(rounded) << 64 | i128::from(rest.cast_unsigned() ^ (1 << 63))
}
