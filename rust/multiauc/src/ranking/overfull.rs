//! Buckets with more keys than fit the registers: ties, and what no map can spread. They are sorted, and searched.

use super::key::Key;

/// The only sort of bare keys. A total order, since another thread may write NaN into the scores while we look.
pub(super) fn sort<T: Key>(keys: &mut [T]) {
    keys.sort_unstable_by(T::total_order);
}

/// Sorts the keys of a bucket and puts the distinct ones first, infinities behind them. `ranks[i]` becomes the number of
/// keys up to the i-th distinct one, and the last rank the number of distinct keys: the same where all are.
pub(super) fn sort_and_rank<T: Key>(bucket: &mut [T], ranks: &mut [u32]) {
    sort(bucket);
    let mut distinct = 0;
    for place in 0..bucket.len() {
        if distinct == 0 || bucket[place] > bucket[distinct - 1] {
            bucket[distinct] = bucket[place];
            distinct += 1;
        }
        ranks[distinct - 1] = place as u32 + 1;
    }
    bucket[distinct..].fill(T::INFINITY);
    ranks[bucket.len() - 1] = distinct as u32;
}

/// #(v < key) + #(v ≤ key) in a bucket that [`sort_and_rank`] prepared, and whether a key lies within the tolerance.
pub(super) fn search<T: Key>(bucket: &[T], ranks: &[u32], key: T, tolerance: Option<T>) -> (u64, bool) {
    let distinct = &bucket[..ranks[ranks.len() - 1] as usize];
    let rank = |place: usize| if place + 1 == distinct.len() { bucket.len() as u64 } else { u64::from(ranks[place]) };
    let place = distinct.partition_point(|v| *v < key);
    let below = if place == 0 { 0 } else { rank(place - 1) };
    let up_to = if distinct.get(place).is_some_and(|v| *v <= key) { rank(place) } else { below };
    let is_near = tolerance.is_some_and(|tolerance| {
        let reaches_up = distinct.get(place).is_some_and(|v| *v <= key.plus(tolerance));
        reaches_up || (place > 0 && distinct[place - 1] >= key.minus(tolerance))
    });
    (below + up_to, is_near)
}
