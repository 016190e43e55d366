//! The simple way: sort both sides, then go through runs of equal keys. The reference for the fast kernels.

use super::weighted_wins::WeightedWins;
use crate::keys::ExactKey;

/// One row of a weighted pair.
#[derive(Debug, Clone, Copy)]
struct WeightedKey {
    ranked: f64,
    weight: f64,
    /// Row number on its side, by which the exact key is found.
    row: u32,
    is_first: bool,
}

/// The two sides of a pair.
#[derive(Debug, Default)]
pub(crate) struct WeightedKeys {
    keys: Vec<WeightedKey>,
    counts: [u32; 2],
}

impl WeightedKeys {
    /// Forgets all keys.
    pub(crate) fn clear(&mut self) {
        self.keys.clear();
        self.counts = [0, 0];
    }

    /// Adds a row to the first side (whose wins are counted) or the second.
    pub(crate) fn push(&mut self, is_first: bool, ranked: f64, weight: f64) {
        let count = &mut self.counts[usize::from(!is_first)];
        self.keys.push(WeightedKey { ranked, weight, row: *count, is_first });
        *count += 1;
    }
}

/// What the first side wins against the second: Σ w_a w_b · (2 if a > b, 1 if a = b) over the rows a of the one and b of
/// the other. Keys closer than `near` are compared by `exact(is_first, row)`.
pub(crate) fn weighted_wins(
    pair: &mut WeightedKeys,
    near: Option<f64>,
    exact: impl Fn(bool, usize) -> ExactKey,
) -> WeightedWins {
    // Equal keys in the order of their rows: the sums below have the same bits however the sort works.
    pair.keys.sort_unstable_by(|a, b| {
        a.ranked.total_cmp(&b.ranked).then_with(|| (a.is_first, a.row).cmp(&(b.is_first, b.row)))
    });
    let mut below = [0.0, 0.0];
    let mut total = WeightedWins::default();
    let mut tie = |run: &mut dyn Iterator<Item = &WeightedKey>| {
        let (mut first, mut second) = (0.0, 0.0);
        for key in run {
            *(if key.is_first { &mut first } else { &mut second }) += key.weight;
        }
        total.won += first * (2.0 * below[1] + second);
        total.lost += second * (2.0 * below[0] + first);
        below = [below[0] + first, below[1] + second];
    };
    let tolerance = near.unwrap_or(0.0);
    for cluster in pair.keys.chunk_by_mut(|a, b| b.ranked - a.ranked <= tolerance) {
        let is_mixed = cluster.iter().any(|key| key.is_first != cluster[0].is_first);
        if near.is_none() || !is_mixed {
            cluster.chunk_by(|a, b| a.ranked == b.ranked).for_each(|run| tie(&mut run.iter()));
            continue;
        }
        let mut exactly: Vec<(ExactKey, &WeightedKey)> =
            cluster.iter().map(|key| (exact(key.is_first, key.row as usize), key)).collect();
        // A stable sort, for the same reason.
        exactly.sort_by_key(|(key, _)| *key);
        exactly.chunk_by(|a, b| a.0 == b.0).for_each(|run| tie(&mut run.iter().map(|(_, key)| *key)));
    }
    total
}
