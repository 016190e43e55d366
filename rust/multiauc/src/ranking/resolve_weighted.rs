//! Weighted rows too close to tell apart: what they win, by their exact keys.
//!
//! Unlike counts, sums of weights cannot be corrected afterwards: what was added too much and taken off again would leave a
//! rest. So these rows are left out of the sums, and come here with the whole table.

use super::resolve::two_part_key;
use super::weighted_wins::{RunningWeights, WeightedWins};
use crate::keys::DifferenceRule;

/// A row by its rounded key and the scores whose difference it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NearRow {
    pub key: f64,
    pub operands: (f64, f64),
    pub weight: f64,
}

/// What rows near to rows of the table win against all of it.
pub(crate) fn wins_of_near(
    rule: DifferenceRule,
    mut near: Vec<NearRow>,
    table: impl Iterator<Item = NearRow>,
) -> WeightedWins {
    // Stable: equal keys stay in row order, so that the sums are always rounded the same way.
    near.sort_by(|a, b| a.key.total_cmp(&b.key));
    let clusters = Clusters::new(rule.near.unwrap_or(0.0), &near, table);
    let rows = || near.iter().chain(clusters.rows.iter().map(|(_, row)| row));
    if rule.needs_fractions(rows().map(|row| &row.operands)) {
        clusters.wins(&near, |(a, b)| rule.exact(a, b))
    } else {
        clusters.wins(&near, |(a, b)| two_part_key(a, b))
    }
}

/// The neighbourhoods of some rows, those that overlap in one cluster, and what the table has in and between them.
struct Clusters {
    /// The places of the near rows where each cluster begins, and their number.
    starts: Vec<usize>,
    /// The weight of the table between each cluster and the one before, and after the last.
    between: Vec<f64>,
    /// The rows of the table in clusters, with the number of the cluster.
    rows: Vec<(usize, NearRow)>,
}

impl Clusters {
    fn new(tolerance: f64, near: &[NearRow], table: impl Iterator<Item = NearRow>) -> Self {
        let (mut starts, mut lows, mut highs) = (Vec::new(), Vec::new(), Vec::<f64>::new());
        for (place, row) in near.iter().enumerate() {
            let (low, high) = (row.key - tolerance, row.key + tolerance);
            match highs.last_mut() {
                Some(last) if low <= *last => *last = high,
                _ => {
                    starts.push(place);
                    lows.push(low);
                    highs.push(high);
                }
            }
        }
        starts.push(near.len());
        let mut between = vec![0.0; highs.len() + 1];
        let mut rows = Vec::new();
        for row in table {
            let cluster = highs.partition_point(|high| *high < row.key);
            if lows.get(cluster).is_some_and(|low| *low <= row.key) {
                rows.push((cluster, row));
            } else {
                between[cluster] += row.weight;
            }
        }
        rows.sort_by_key(|&(cluster, _)| cluster);
        Self { starts, between, rows }
    }

    fn wins<K: Ord + Copy>(&self, near: &[NearRow], exact: impl Fn((f64, f64)) -> K) -> WeightedWins {
        let of_clusters: Vec<&[(usize, NearRow)]> = {
            let mut rest = &self.rows[..];
            let count = self.starts.len() - 1;
            let take = |cluster: usize| {
                let (own, after) = rest.split_at(rest.partition_point(|&(of, _)| of <= cluster));
                rest = after;
                own
            };
            (0..count).map(take).collect()
        };
        let weight_of = |rows: &[(usize, NearRow)]| rows.iter().map(|(_, row)| row.weight).sum::<f64>();
        // Summed from the end, so that nothing lies above the last row.
        let mut above = self.between.clone();
        for cluster in (0..of_clusters.len()).rev() {
            above[cluster] += above[cluster + 1] + weight_of(of_clusters[cluster]);
        }
        let (mut total, mut below) = (WeightedWins::default(), 0.0);
        let mut inside = RunningWeights::default();
        for (cluster, &rows) in of_clusters.iter().enumerate() {
            below += self.between[cluster];
            let mut keys: Vec<(K, f64)> = rows.iter().map(|(_, row)| (exact(row.operands), row.weight)).collect();
            keys.sort_by_key(|&(key, _)| key);
            inside.fill(keys.iter().map(|&(_, weight)| weight));
            let outside = WeightedWins { won: 2.0 * below, lost: 2.0 * above[cluster + 1] };
            for row in &near[self.starts[cluster]..self.starts[cluster + 1]] {
                let key = exact(row.operands);
                let low = keys.partition_point(|&(v, _)| v < key);
                let high = low + keys[low..].partition_point(|&(v, _)| v <= key);
                total.add(row.weight, inside.wins_at(low, high).plus(outside));
            }
            below += inside.all();
        }
        total
    }
}
