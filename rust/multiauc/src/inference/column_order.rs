//! Whether the columns of the scores seem to belong to other classes than the ones they were taken for.
//!
//! The evidence are the shares A(j|k) of Hand & Till's M: how often the scores of column j put a row of class j above a
//! row of class k. They depend on nothing but the order of the scores within a column, so neither calibration nor the
//! scale of logits nor a favourite class matters. In the right order A(j|k) is at least 1/2: 1/2 for classes that the
//! model cannot tell apart, more for others. Two things speak against the order:
//!
//! - Another one fits better. A permutation that gives the columns of some m classes to others of them, column j to class
//!   p(j), gains G = Σ_j (1/2 − A(j|p(j))). The best one is found by linear assignment.
//! - Most of the classes have a one-vs-rest AUC below 1/2.
//!
//! Both must be beyond chance. Let the classes concerned be alike to the model. Then the share of the other class that a
//! row is above is uniform, with variance 1/12. Every row of the m classes is compared in two columns, its own and the one
//! its class is given, so its variance is at most 4/12 whatever the dependence between columns. With h_c = Σ_i w_i² / W_c²,
//! which is 1/n_c without weights,
//!
//! Var(G) ≤ ⅓ Σ_c h_c (1 + ½ max_c h_c),
//!
//! the last factor for classes of a few rows (Wilcoxon's variance has n_j + n_k + 1 in it). Rows of one group count as one
//! row of their total weight, in all classes of the group together. As uniform shares have lighter tails than the normal
//! distribution, P(G > t) ≤ exp(−t² / (2 Var(G))). At most N_m / 2 = K (K−1) ⋯ (K−m+1) / 2 permutations move m classes; if
//! each of them may give a false alarm with probability 2α / (N_m m (m−1)), all of them together do with probability at
//! most α. With skill A(j|k) is larger, and an alarm less likely. The one-vs-rest AUCs are tested by partial conjunction
//! (Y. Benjamini and R. Heller, "Screening for partial conjunction hypotheses", Biometrics 64 (2008), 1215-1222): of K
//! p-values the m-th smallest, times K − m + 1, tests whether m of them are below 1/2.

use crate::error::Result;
use crate::parallel::Workers;
use crate::sample::ClassCodes;
use crate::special::best_assignment;

/// How often each of the two signs may be seen by chance: together less than once in a thousand samples.
const FALSE_ALARMS: f64 = 1.0 / 2000.0;
/// A share this close to 1/2 is no sign of a wrong order, however many rows there are: a model may well put two classes
/// that it hardly knows in the wrong order.
const CLOSE_TO_HALF: f64 = 0.02;

/// What speaks against the order of the columns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ColumnOrder {
    /// (column, the class that it fits better), by column.
    pub better: Vec<(usize, usize)>,
    /// Whether most classes have a one-vs-rest AUC below 1/2.
    pub most_below_half: bool,
}

/// The rows that the shares were counted from: their classes, weights and groups.
#[derive(Debug, Clone, Copy)]
pub struct OrderRows<'a> {
    /// The class of each row.
    pub codes: ClassCodes<'a>,
    /// The weight of each row.
    pub weights: Option<&'a [f64]>,
    /// The group of each row.
    pub groups: Option<&'a [u32]>,
}

/// Looks for another order of the columns. `shares` are A(j|k), K × K, `totals` the rows (or the weight) of each class
/// in the whole sample, 0 for classes without rows, and `counts` how many of `rows` each class has.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
///
/// # Panics
/// Unless there are K × K shares.
pub(crate) fn check_column_order(
    shares: &[f64],
    (totals, counts): (&[f64], &[u64]),
    rows: OrderRows<'_>,
    workers: &Workers<'_>,
) -> Result<ColumnOrder> {
    let classes = totals.len();
    let present: Vec<usize> = (0..classes).filter(|&class| totals[class] > 0.0).collect();
    let shares: Vec<f64> =
        present.iter().flat_map(|&j| present.iter().map(move |&k| shares[j * classes + k])).collect();
    let check = |units: &Units| -> Result<ColumnOrder> {
        let better = units.find_better(&shares, &present, workers)?;
        Ok(ColumnOrder { better, most_below_half: units.are_most_below_half(&shares, totals, &present) })
    };
    // Rows with weights say less than as many rows of equal weight would, and groups less than as many rows: they matter
    // only where those would be enough.
    let mut found = check(&Units::of_counts(counts))?;
    if rows.weights.is_some() && found != ColumnOrder::default() {
        found = check(&Units::of_weights(rows, classes))?;
    }
    match rows.groups {
        Some(groups) if found != ColumnOrder::default() => check(&Units::of_groups(rows, groups, classes)),
        _ => Ok(found),
    }
}

/// What is independent: rows or groups of rows.
struct Units {
    /// h of each class: one divided by the number of its rows or groups, if they are of equal weight.
    concentrations: Vec<f64>,
    /// Groups in parts that each lie within one class, by group: its number, the class, the share of the class's weight.
    parts: Option<Vec<(u32, usize, f64)>>,
}

impl Units {
    /// So many rows of each class, of equal weight.
    fn of_counts(counts: &[u64]) -> Self {
        let concentration = |&count: &u64| if count > 0 { 1.0 / count as f64 } else { 0.0 };
        Self { concentrations: counts.iter().map(concentration).collect(), parts: None }
    }

    fn of_weights(rows: OrderRows<'_>, classes: usize) -> Self {
        let mut parts: Vec<(u32, usize, f64)> = scaled_weights(rows, classes).map(|(class, w)| (0, class, w)).collect();
        Self { concentrations: to_shares(&mut parts, classes), parts: None }
    }

    fn of_groups(rows: OrderRows<'_>, groups: &[u32], classes: usize) -> Self {
        let weights = scaled_weights(rows, classes);
        let mut parts: Vec<_> = groups.iter().zip(weights).map(|(&group, (class, w))| (group, class, w)).collect();
        parts.sort_by_key(|&(group, class, _)| (group, class));
        parts.dedup_by(|next, first| {
            let is_same = (next.0, next.1) == (first.0, first.1);
            first.2 += if is_same { next.2 } else { 0.0 };
            is_same
        });
        Self { concentrations: to_shares(&mut parts, classes), parts: Some(parts) }
    }

    /// The sum of h over some classes; parts of one group in several of them count as one.
    fn concentration(&self, classes: &[usize]) -> f64 {
        let Some(parts) = &self.parts else { return classes.iter().map(|&class| self.concentrations[class]).sum() };
        let mut is_chosen = vec![false; self.concentrations.len()];
        for &class in classes {
            is_chosen[class] = true;
        }
        let of_group = |group: &[(u32, usize, f64)]| {
            group.iter().filter(|part| is_chosen[part.1]).map(|part| part.2).sum::<f64>().powi(2)
        };
        parts.chunk_by(|a, b| a.0 == b.0).map(of_group).sum()
    }

    /// The class that the column of each class fits better, for a gain that is beyond chance; else nothing.
    fn find_better(&self, shares: &[f64], present: &[usize], workers: &Workers<'_>) -> Result<Vec<(usize, usize)>> {
        let size = present.len();
        let mut gains: Vec<f64> = shares.iter().map(|share| 0.5 - CLOSE_TO_HALF - share).collect();
        (0..size).for_each(|j| gains[j * size + j] = 0.0);
        let exponents = exponents(size);
        if !self.can_be_beyond_chance(&gains, present, &exponents) {
            return Ok(Vec::new());
        }
        let best = best_assignment(&gains, size, workers)?;
        let cycles = cycles(&best);
        let all = (cycles.len() > 1).then(|| cycles.concat());
        let mut is_found = vec![false; size];
        for moved in cycles.iter().chain(&all) {
            let classes: Vec<usize> = moved.iter().map(|&j| present[j]).collect();
            let largest = classes.iter().map(|&class| self.concentrations[class]).fold(0.0, f64::max);
            let concentration = self.concentration(&classes) * (1.0 + largest / 2.0);
            // What some permutation that moves any number of classes gains by chance, in `FALSE_ALARMS` of samples.
            let bound = (2.0 * concentration / 3.0 * exponents[moved.len() - 2]).sqrt();
            if moved.iter().map(|&j| gains[j * size + best[j]]).sum::<f64>() > bound {
                for &j in moved {
                    is_found[j] = true;
                }
            }
        }
        Ok((0..size).filter(|&j| is_found[j]).map(|j| (present[j], present[best[j]])).collect())
    }

    /// Whether the columns would gain enough if several of them could go to the same class: else no order does.
    ///
    /// By Cauchy's inequality the square of a sum of gains is at most the sum of gain² / ((h_j + h_k) / 2) times that of
    /// (h_j + h_k) / 2, which over the pairs (j, k) of a permutation is the sum of h.
    fn can_be_beyond_chance(&self, gains: &[f64], present: &[usize], exponents: &[f64]) -> bool {
        let h = |j: usize| self.concentrations[present[j]];
        let most_of = |j: usize| {
            let gain_of = |k: usize| gains[j * present.len() + k].max(0.0).powi(2) / f64::midpoint(h(j), h(k));
            (0..present.len()).map(gain_of).fold(0.0, f64::max)
        };
        let mut most: Vec<f64> = (0..present.len()).map(most_of).collect();
        most.sort_unstable_by(|a, b| b.total_cmp(a));
        let mut sum = most.first().copied().unwrap_or(0.0);
        most.iter().skip(1).zip(exponents).any(|(gain, exponent)| {
            sum += gain;
            sum > 2.0 / 3.0 * exponent
        })
    }

    /// Whether most classes have a one-vs-rest AUC below 1/2, beyond chance.
    fn are_most_below_half(&self, shares: &[f64], totals: &[f64], present: &[usize]) -> bool {
        let size = present.len();
        let p_value = |j: usize| {
            let others = || (0..size).filter(|&k| k != j);
            let rest = others().map(|k| totals[present[k]]).sum::<f64>().max(f64::MIN_POSITIVE);
            let mean = |of: &dyn Fn(usize) -> f64| others().map(|k| totals[present[k]] / rest * of(k)).sum::<f64>();
            let auc = mean(&|k| Some(shares[j * size + k]).filter(|share| !share.is_nan()).unwrap_or(0.0));
            // The rows of a class add at most h / 12, as above, and those of the rest, by convexity, at most the mean of
            // what their classes would, however groups are spread over them. Twice that, as groups may be on both sides.
            let variance = (self.concentrations[present[j]] + mean(&|k| self.concentrations[present[k]])) / 6.0;
            let distance = (0.5 - CLOSE_TO_HALF - auc).max(0.0);
            (-distance * distance / (2.0 * variance)).exp()
        };
        let mut p_values: Vec<f64> = (0..size).map(p_value).collect();
        p_values.sort_unstable_by(f64::total_cmp);
        let most = size / 2 + 1;
        most <= size && p_values[most - 1] * ((size - most + 1) as f64) < FALSE_ALARMS
    }
}

/// (class, weight) of each row, by the largest weight of the class: sums and squares can neither overflow nor vanish.
fn scaled_weights(rows: OrderRows<'_>, classes: usize) -> impl Iterator<Item = (usize, f64)> {
    let weight = move |row: usize| rows.weights.map_or(1.0, |weights| weights[row]);
    let mut largest = vec![0.0_f64; classes];
    rows.codes.for_each(0..rows.codes.len(), |row, class| largest[class] = largest[class].max(weight(row)));
    (0..rows.codes.len()).map(move |row| {
        let class = rows.codes.get(row);
        (class, if largest[class] > 0.0 { weight(row) / largest[class] } else { weight(row) })
    })
}

/// Divides the weight of each part by that of its class; returns the sum of the squares of the shares in each class.
fn to_shares(parts: &mut [(u32, usize, f64)], classes: usize) -> Vec<f64> {
    let (mut totals, mut squares) = (vec![0.0; classes], vec![0.0; classes]);
    for &(_, class, weight) in &*parts {
        totals[class] += weight;
    }
    for (_, class, weight) in parts {
        *weight /= if totals[*class] > 0.0 { totals[*class] } else { 1.0 };
        squares[*class] += *weight * *weight;
    }
    squares
}

/// log(N m (m − 1) / 2α), N = K (K − 1) ⋯ (K − m + 1), for m = 2, …, K.
fn exponents(classes: usize) -> Vec<f64> {
    let mut log_permutations = (classes as f64).ln();
    let exponent = |moved: usize| {
        log_permutations += ((classes + 1 - moved) as f64).ln();
        log_permutations + ((moved * (moved - 1)) as f64 / 2.0 / FALSE_ALARMS).ln()
    };
    (2..=classes).map(exponent).collect()
}

/// The places that a permutation moves, those that pass on to each other together.
fn cycles(permutation: &[usize]) -> Vec<Vec<usize>> {
    let (mut cycles, mut is_seen) = (Vec::new(), vec![false; permutation.len()]);
    for start in 0..permutation.len() {
        let (mut cycle, mut at) = (Vec::new(), start);
        while !is_seen[at] {
            is_seen[at] = true;
            cycle.push(at);
            at = permutation[at];
        }
        if cycle.len() > 1 {
            cycles.push(cycle);
        }
    }
    cycles
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::Cancel;

    #[test]
    fn columns_that_were_swapped_are_found() {
        let cancel = Cancel::new();
        let workers = Workers::with_threads(1, &cancel);
        let codes: Vec<u8> = (0..300).map(|row| (row % 3) as u8).collect();
        // The columns of the first two classes are swapped, the third is right.
        let shares = [f64::NAN, 0.0, 0.2, 0.0, f64::NAN, 0.2, 0.9, 0.9, f64::NAN];
        let rows = OrderRows { codes: ClassCodes::Bytes(&codes), weights: None, groups: None };
        let found = check_column_order(&shares, (&[100.0; 3], &[100; 3]), rows, &workers).expect("not cancelled");
        assert_eq!(found, ColumnOrder { better: vec![(0, 1), (1, 0)], most_below_half: true });
        let right = [f64::NAN, 0.9, 0.9, 0.9, f64::NAN, 0.9, 0.9, 0.9, f64::NAN];
        let found = check_column_order(&right, (&[100.0; 3], &[100; 3]), rows, &workers).expect("not cancelled");
        assert_eq!(found, ColumnOrder::default());
        // All rows of a class in one group: a class says no more than one row.
        let groups: Vec<u32> = codes.iter().map(|&code| code.into()).collect();
        let grouped = OrderRows { groups: Some(&groups), ..rows };
        let found = check_column_order(&shares, (&[100.0; 3], &[100; 3]), grouped, &workers).expect("not cancelled");
        assert_eq!(found, ColumnOrder::default());
        // Nearly all weight on one row of each class: the same.
        let weights: Vec<f64> = (0..300).map(|row| if row < 3 { 1e6 } else { 1.0 }).collect();
        let weighted = OrderRows { weights: Some(&weights), ..rows };
        let found =
            check_column_order(&shares, (&[1e6 + 99.0; 3], &[100; 3]), weighted, &workers).expect("not cancelled");
        assert_eq!(found, ColumnOrder::default());
    }

    #[test]
    fn weights_of_one_are_no_weights() {
        let codes: Vec<u8> = vec![0, 1, 2, 1, 1, 0];
        let ones = vec![3.0; codes.len()];
        let rows = OrderRows { codes: ClassCodes::Bytes(&codes), weights: None, groups: None };
        let plain = Units::of_counts(&[2, 3, 1]).concentrations;
        assert_eq!(plain, [0.5, 1.0 / 3.0, 1.0]);
        let weighted = Units::of_weights(OrderRows { weights: Some(&ones), ..rows }, 3).concentrations;
        assert!(plain.iter().zip(weighted).all(|(a, b)| (a - b).abs() < 1e-15));
        let groups: Vec<u32> = vec![0, 1, 2, 3, 3, 3];
        let units = Units::of_groups(OrderRows { groups: Some(&groups), ..rows }, &groups, 3);
        assert!((units.concentrations[1] - 5.0 / 9.0).abs() < 1e-15);
        // Group 3 has two thirds of class 1 and half of class 0.
        let both = 0.25 + 1.0 / 9.0 + (0.5 + 2.0 / 3.0_f64).powi(2);
        assert!((units.concentration(&[0, 1]) - both).abs() < 1e-14);
    }

    #[test]
    fn what_is_ruled_out_at_once_could_not_have_been_an_alarm() {
        let cancel = Cancel::new();
        let workers = Workers::with_threads(1, &cancel);
        let (mut state, mut ruled_out, mut alarms) = (7_u64, 0, 0);
        for trial in 0..3000 {
            let size = 2 + trial % 7;
            let mut random = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as f64 / (1_u64 << 31) as f64
            };
            let spread = [0.05, 0.2, 0.5][trial / 7 % 3];
            let concentrations: Vec<f64> = (0..size).map(|_| 1.0 / (20.0 + 100.0 * random())).collect();
            let shares: Vec<f64> = (0..size * size).map(|_| 0.5 + spread * (2.0 * random() - 1.0)).collect();
            let units = Units { concentrations, parts: None };
            let present: Vec<usize> = (0..size).collect();
            let found = units.find_better(&shares, &present, &workers).expect("not cancelled");
            alarms += usize::from(!found.is_empty());
            let mut gains: Vec<f64> = shares.iter().map(|share| 0.5 - CLOSE_TO_HALF - share).collect();
            (0..size).for_each(|j| gains[j * size + j] = 0.0);
            if units.can_be_beyond_chance(&gains, &present, &exponents(size)) {
                continue;
            }
            ruled_out += 1;
            let best = best_assignment(&gains, size, &workers).expect("not cancelled");
            for moved in cycles(&best) {
                let gain: f64 = moved.iter().map(|&j| gains[j * size + best[j]]).sum();
                let largest = moved.iter().map(|&j| units.concentrations[j]).fold(0.0, f64::max);
                let variance = units.concentration(&moved) * (1.0 + largest / 2.0) / 3.0;
                assert!(gain <= (2.0 * variance * exponents(size)[moved.len() - 2]).sqrt());
            }
        }
        assert!(ruled_out > 100 && alarms > 100, "{ruled_out} {alarms}");
    }
}
