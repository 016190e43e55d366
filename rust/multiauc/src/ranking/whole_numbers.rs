//! Counting keys that are whole numbers: by a number of keys for each of them.

/// How many keys of a table are below each whole number in their range.
#[derive(Debug, Default)]
pub(crate) struct WholeNumberTable {
    lowest: f64,
    /// `below[i]` keys are less than lowest + i; the last entry is the number of all keys.
    below: Vec<u32>,
}

impl WholeNumberTable {
    /// Fills the table; `false` if the keys are spread so widely that buckets are better.
    pub(crate) fn build(&mut self, keys: &[f64]) -> bool {
        /// Numbers per key that a table may span, and numbers that are few in any case.
        const NUMBERS_PER_KEY: f64 = 4.0;
        const FEW: f64 = 1024.0;
        let fold = |pick: fn(f64, f64) -> f64, from: f64| keys.iter().copied().fold(from, pick);
        let (lowest, highest) = (fold(f64::min, f64::INFINITY), fold(f64::max, f64::NEG_INFINITY));
        let span = highest - lowest;
        // Keys that another thread has made NaN meanwhile are caught by the comparison, or by the casts below.
        let is_narrow = span >= 0.0 && span <= NUMBERS_PER_KEY * keys.len() as f64 + FEW;
        if !is_narrow {
            return false;
        }
        self.lowest = lowest;
        let numbers = span as usize + 1;
        // Few numbers get several counters in turn: a run of equal keys would wait for its own last increment.
        let copies = if span <= FEW { 4 } else { 1 };
        self.below.clear();
        self.below.resize(copies * (numbers + 1), 0);
        for (index, &key) in keys.iter().enumerate() {
            let place = ((key - lowest) as usize).min(numbers - 1) + 1;
            self.below[(index & (copies - 1)) * (numbers + 1) + place] += 1;
        }
        let mut sum = 0;
        for number in 0..=numbers {
            sum += (0..copies).map(|copy| self.below[copy * (numbers + 1) + number]).sum::<u32>();
            self.below[number] = sum;
        }
        self.below.truncate(numbers + 1);
        true
    }

    /// Σ over the keys x of #(v < x) + #(v ≤ x), v running through the table.
    pub(crate) fn count(&self, keys: &[f64]) -> u64 {
        keys.iter().map(|&key| self.doubled_count(key)).sum()
    }

    /// Σ over the keys x of #(v < −x) + #(v ≤ −x), v running through the table.
    pub(crate) fn count_negated(&self, keys: &[f64]) -> u64 {
        keys.iter().map(|&key| self.doubled_count(-key)).sum()
    }

    #[inline(always)]
    fn doubled_count(&self, key: f64) -> u64 {
        let last = (self.below.len() - 1) as f64;
        let place = |number: f64| number.clamp(0.0, last) as usize;
        let number = key - self.lowest;
        u64::from(self.below[place(number)]) + u64::from(self.below[place(number + 1.0)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn whole_numbers_are_counted_as_all_pairs_say(
            table in prop::collection::vec(-300_i32..300, 1..400),
            keys in prop::collection::vec(-500_i32..500, 0..200),
        ) {
            let floats = |numbers: &[i32]| numbers.iter().map(|&number| f64::from(number)).collect::<Vec<f64>>();
            let mut counted = WholeNumberTable::default();
            prop_assert!(counted.build(&floats(&table)));
            let pairs = keys.iter().flat_map(|x| table.iter().map(move |v| (*v, -x)));
            let expected: u64 = pairs.map(|(v, x)| u64::from(v < x) + u64::from(v <= x)).sum();
            prop_assert_eq!(counted.count_negated(&floats(&keys)), expected);
            let negated: Vec<f64> = keys.iter().map(|&key| f64::from(-key)).collect();
            prop_assert_eq!(counted.count(&negated), expected);
        }
    }

    #[test]
    fn wide_spans_are_left_to_buckets() {
        assert!(!WholeNumberTable::default().build(&[0.0, 1e6]));
        assert!(!WholeNumberTable::default().build(&[]));
        assert!(!WholeNumberTable::default().build(&[f64::NAN]));
    }
}
