//! The fast kernels against the definition, on keys of every kind.

use proptest::prelude::*;

use super::bucket_map::BucketMap;
use super::{
    BucketTable, KeyStream, Lookup, WeightedKeys, WeightedSearch, WeightedWins, count_key_stream, weighted_wins,
};
use crate::error::Result;
use crate::float::Float;
use crate::keys::ExactKey;
use crate::memory::Buffers;
use crate::parallel::{Cancel, Workers};

/// Σ #(v < x) + #(v ≤ x), pair by pair.
fn definition<T: Float>(table: &[T], keys: &[T], negate: bool) -> u64 {
    let oriented = |key: T| if negate { key.negated() } else { key };
    let pairs = keys.iter().flat_map(|&x| table.iter().map(move |&v| (v, oriented(x))));
    pairs.map(|(v, x)| u64::from(v < x) + u64::from(v <= x)).sum()
}

/// Keys that are smooth, tied, crowded around zero, clustered, or of any magnitude.
fn key() -> impl Strategy<Value = f64> {
    prop_oneof![
        -1.0..1.0,
        (-20_i32..20).prop_map(|k| f64::from(k) / 20.0),
        (-300_i32..0, 1.0..2.0_f64).prop_map(|(exponent, mantissa)| mantissa * 2_f64.powi(exponent)),
        (0_u64..1000).prop_map(|step| f64::from_bits(0.5_f64.to_bits() + step)),
        prop::sample::select(vec![0.0, -0.0, 1e308, -1e308, f64::MIN_POSITIVE, 5e-324, 1.0, -1.0]),
    ]
}

/// A key next to 0 or to ±1, as the scores of a confident classifier are, and their differences.
fn saturated_key() -> impl Strategy<Value = f64> {
    let magnitude = prop_oneof![
        0.0..1.0,
        (0..60_i32, 1.0..2.0_f64).prop_map(|(exponent, mantissa)| mantissa * 2_f64.powi(-exponent - 1)),
        (0..60_i32, 1.0..2.0_f64).prop_map(|(exponent, mantissa)| 1.0 - mantissa * 2_f64.powi(-exponent - 1)),
        Just(1.0),
    ];
    (magnitude, any::<bool>())
        .prop_map(|(magnitude, negative): (f64, bool)| if negative { -magnitude } else { magnitude })
}

fn keys(most: usize) -> impl Strategy<Value = Vec<f64>> {
    prop_oneof![
        prop::collection::vec(saturated_key(), 1..most),
        prop::collection::vec(key(), 1..most),
        prop::collection::vec(0.0..1.0, 1..most),
        (key(), 1..most).prop_map(|(key, count)| vec![key; count]),
    ]
}

/// Two sides, cut into spans.
struct TwoSides<'k, T> {
    table: &'k [T],
    keys: &'k [T],
    spans: usize,
}

impl<T: Float> KeyStream<T> for TwoSides<'_, T> {
    fn spans(&self) -> usize {
        self.spans
    }

    fn sides(&self) -> usize {
        2
    }

    fn table_len(&self) -> usize {
        self.table.len()
    }

    fn table_sample(&self, wanted: usize) -> Result<Vec<T>> {
        Ok(self.table.iter().step_by((self.table.len() / wanted).max(1)).copied().collect())
    }

    fn for_each(&self, span: usize, _: &mut Vec<T>, visit: &mut dyn FnMut(&[T])) -> Result<()> {
        for side in [self.table, self.keys] {
            visit(&side[span * side.len() / self.spans..(span + 1) * side.len() / self.spans]);
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn bucket_tables_count_what_the_definition_counts(table in keys(3000), keys in keys(300), negate: bool) {
        let expected = definition(&table, &keys, negate);
        let mut buckets = BucketTable::default();
        for near in [None, Some(0.0), Some(1e-15)] {
            let (first, second) = table.split_at(table.len() / 3);
            buckets.build([first, second].into_iter(), near);
            let lookup = Lookup { negate, near };
            let mut found = Vec::new();
            prop_assert_eq!(buckets.count(&keys, lookup, &mut found), expected);
            if let Some(tolerance) = near {
                let oriented = |key: f64| if negate { -key } else { key };
                let is_near = |x: f64| table.iter().any(|&v| v >= x - tolerance && v <= x + tolerance);
                prop_assert!(found.is_sorted_by(|a, b| a < b), "each place once");
                for (place, x) in (0..).zip(keys.iter().map(|&key| oriented(key))).filter(|&(_, x)| is_near(x)) {
                    prop_assert!(found.contains(&place), "{} is near and was not found", x);
                }
            }
            let mut portably_found = Vec::new();
            prop_assert_eq!(buckets.count_portably(&keys, lookup, &mut portably_found), expected, "without wide vectors");
            prop_assert_eq!(portably_found, found, "without wide vectors");
        }
    }

    #[test]
    fn bucket_maps_never_decrease(keys in keys(400), repeats in 1..64_usize, others in keys(100)) {
        // Repeated, there are enough keys for the larger sample.
        let sample = keys.repeat(repeats);
        let extreme = |pick: fn(f64, f64) -> f64| keys.iter().copied().reduce(pick).expect("at least one");
        let map = BucketMap::new(extreme(f64::min), extreme(f64::max), 1000, None, &sample);
        let mut all = [keys, others].concat();
        all.sort_by(f64::total_cmp);
        let indices: Vec<u32> = all.iter().map(|&key| map.index_of(key)).collect();
        prop_assert!(indices.is_sorted() && indices.iter().all(|&index| index as usize <= map.buckets()));
        let narrow: Vec<f32> = sample.iter().map(|&key| (key as f32).clamp(-3e38, 3e38)).collect();
        let extreme = |pick: fn(f32, f32) -> f32| narrow.iter().copied().reduce(pick).expect("at least one");
        let map = BucketMap::new(extreme(f32::min), extreme(f32::max), 1000, None, &narrow);
        let indices: Vec<u32> = all.iter().map(|&key| map.index_of((key as f32).clamp(-3e38, 3e38))).collect();
        prop_assert!(indices.is_sorted() && indices.iter().all(|&index| index as usize <= map.buckets()));
    }

    #[test]
    fn single_precision_counts_the_same_way(table in keys(1500), keys in keys(300), negate: bool) {
        let narrow = |keys: Vec<f64>| -> Vec<f32> { keys.into_iter().map(|key| (key as f32).clamp(-3e38, 3e38)).collect() };
        let (table, keys) = (narrow(table), narrow(keys));
        let mut buckets = BucketTable::default();
        buckets.build(std::iter::once(&table[..]), None);
        let lookup = Lookup { negate, near: None };
        prop_assert_eq!(buckets.count(&keys, lookup, &mut Vec::new()), definition(&table, &keys, negate));
        prop_assert_eq!(buckets.count_portably(&keys, lookup, &mut Vec::new()), definition(&table, &keys, negate));
    }

    #[test]
    fn split_keys_count_the_same_on_any_number_of_threads(
        table in keys(3000),
        keys in keys(300),
        negate: bool,
        spans in 1_usize..4,
    ) {
        let expected = u128::from(definition(&table, &keys, negate));
        let cancel = Cancel::new();
        for threads in [1, 3] {
            let stream = TwoSides { table: &table, keys: &keys, spans };
            let workers = Workers::with_threads(threads, &cancel);
            let (counts, _) = count_key_stream(&stream, Lookup { negate, near: None }, &Buffers::default(), &workers).expect("not cancelled");
            prop_assert_eq!(counts[1], expected);
        }
    }

    #[test]
    fn sorting_counts_what_the_fast_kernel_counts(table in keys(200), keys in keys(200)) {
        let mut pair = WeightedKeys::default();
        for &key in &keys {
            pair.push(true, key, 1.0);
        }
        for &key in &table {
            pair.push(false, key, 1.0);
        }
        let never_asked = |_: bool, _: usize| -> ExactKey { unreachable!("equal keys tie") };
        let won = definition(&table, &keys, false) as f64;
        let expected = WeightedWins { won, lost: 2.0 * (table.len() * keys.len()) as f64 - won };
        prop_assert_eq!(weighted_wins(&mut pair, None, never_asked), expected);
        let sorted = WeightedSearch::new(table.iter().map(|&key| (key, 1.0)).collect());
        let found = keys.iter().map(|&key| sorted.wins_over(key)).fold(WeightedWins::default(), WeightedWins::plus);
        prop_assert_eq!(found.reversed(), expected);
    }
}

#[test]
fn large_skewed_tables_are_counted_exactly() {
    type Shape = (&'static str, fn(f64) -> f64);
    let smooth = |index: u64| (index.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11) as f64 / 2_f64.powi(53);
    let shapes: [Shape; 5] = [
        ("uniform", |u| u),
        ("peaked", |u| 1.0 - u.powi(40)),
        ("heavy tail", |u| 0.001 / (u + 1e-9)),
        ("all exponents", |u| 10_f64.powf(-300.0 * u)),
        ("few values", |u| (u * 7.0).floor()),
    ];
    for (name, shape) in shapes {
        let table: Vec<f64> = (0..20_000).map(|index| shape(smooth(index))).collect();
        let keys: Vec<f64> = (0..500).map(|index| shape(smooth(1_000_000 + index))).collect();
        let mut buckets = BucketTable::default();
        buckets.build(std::iter::once(&table[..]), None);
        let count = buckets.count(&keys, Lookup::PLAIN, &mut Vec::new());
        assert_eq!(count, definition(&table, &keys, false), "{name}");
    }
}

/// How many keys share a bucket with eight others.
fn in_full_buckets(keys: &[f64]) -> usize {
    let extreme = |pick: fn(f64, f64) -> f64| keys.iter().copied().reduce(pick).expect("at least one");
    let map = BucketMap::new(extreme(f64::min), extreme(f64::max), keys.len(), None, keys);
    let mut counts = vec![0; map.buckets() + 1];
    for &key in keys {
        counts[map.index_of(key) as usize] += 1;
    }
    counts.into_iter().filter(|&count| count > 8).sum()
}

#[test]
fn keys_of_many_kinds_are_spread() {
    let scattered = |row: u32| row.wrapping_mul(0x9e37_79b9);
    let uniform = |row: u32| f64::from(scattered(row) % 40_009) / 40_009.0;
    let small = |row: u32| 0.5_f64.powf(1.0 + 40.0 * uniform(row));
    // One in eight is exactly 1; the others are next to 0 and next to 1, over forty octaves each.
    let saturated = |row: u32| match scattered(row) >> 29 {
        0 => 1.0,
        1..4 => 1.0 - small(row),
        _ => small(row),
    };
    let kinds: [&dyn Fn(u32) -> f64; 5] =
        [&uniform, &|row| 1000.0 + uniform(row), &|row| -1000.0 - uniform(row), &small, &saturated];
    for (kind, key) in kinds.iter().enumerate() {
        let keys: Vec<f64> = (0..40_000).map(key).collect();
        let full = in_full_buckets(&keys);
        assert!(full < keys.len() / 5, "kind {kind}: {full} keys share a bucket with eight others");
    }
}
