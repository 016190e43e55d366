//! A sorted table of weighted keys that is asked for one key at a time.

use super::bucket_map::BucketMap;
use super::weighted_wins::{RunningWeights, WeightedWins};

/// Weighted keys of one class, sorted, with running sums of their weights and an index by buckets.
#[derive(Debug)]
pub(crate) struct WeightedSearch {
    keys: Vec<f64>,
    weights: RunningWeights,
    map: BucketMap<f64>,
    /// `starts[b]..starts[b + 1]` are the keys of bucket b.
    starts: Vec<u32>,
}

impl WeightedSearch {
    /// A table of (key, weight), at least one.
    pub(crate) fn new(mut weighted: Vec<(f64, f64)>) -> Self {
        // Stable: equal keys stay in row order, so that the sums are always rounded the same way.
        weighted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut weights = RunningWeights::default();
        weights.fill(weighted.iter().map(|&(_, weight)| weight));
        let keys: Vec<f64> = weighted.into_iter().map(|(key, _)| key).collect();
        let map = BucketMap::new(keys[0], keys[keys.len() - 1], keys.len(), None, &keys);
        let mut starts = vec![0; map.buckets() + 2];
        for &key in &keys {
            starts[map.index_of(key) as usize + 1] += 1;
        }
        for bucket in 1..starts.len() {
            starts[bucket] += starts[bucket - 1];
        }
        Self { keys, weights, map, starts }
    }

    /// What the table wins against the key: twice the weight above it, plus the weight tied with it.
    pub(crate) fn wins_over(&self, key: f64) -> WeightedWins {
        let bucket = self.map.index_of(key) as usize;
        let (start, end) = (self.starts[bucket] as usize, self.starts[bucket + 1] as usize);
        let keys = &self.keys[start..end];
        let below = keys.partition_point(|v| *v < key);
        let up_to = below + keys[below..].partition_point(|v| *v <= key);
        self.weights.wins_at(start + below, start + up_to).reversed()
    }
}
