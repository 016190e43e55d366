//! The confusion matrix as shares of rows, with their variances over rows or groups.
//!
//! A share A/B of sums over units u (rows, or groups) has the variance Σ_u (a_u − A/B b_u)²/B², times e/(e − 1) with groups,
//! e = B²/Σ b_u² being how many units of equal weight would know as much.

use crate::sample::power_of_two_below_reciprocal;

/// Shares, their variances and the effective numbers of units behind them, entry by entry.
#[derive(Debug, Clone, Default)]
pub struct Shares {
    /// NaN for a share of nothing.
    pub values: Vec<f64>,
    /// Their variances.
    pub variances: Vec<f64>,
    /// Effective numbers of units.
    pub units: Vec<f64>,
}

/// A confusion matrix.
#[derive(Debug, Clone)]
pub struct Confusion {
    /// Rows, or sums of weights, by true class and predicted class.
    pub counts: Vec<f64>,
    /// The same as shares of all rows, of those of the true class, and of those of the predicted class.
    pub shares: [Shares; 3],
    /// F1 of each class: right rows over the mean of the class's rows and of those predicted to be of it.
    pub f1: Shares,
}

/// Sums of weights by key and unit, where there are any; in the order of keys, then of units.
struct Masses(Vec<(usize, usize, f64)>);

impl Masses {
    fn new(rows: impl Iterator<Item = (usize, usize, f64)>) -> Self {
        let mut rows: Vec<_> = rows.filter(|&(_, _, weight)| weight > 0.0).collect();
        rows.sort_by_key(|&(key, unit, _)| (key, unit));
        rows.dedup_by(|next, kept| {
            let is_same = (next.0, next.1) == (kept.0, kept.1);
            if is_same {
                kept.2 += next.2;
            }
            is_same
        });
        Self(rows)
    }

    /// Sums over units, of what becomes of each mass.
    fn total(&self, size: usize, of: impl Fn(usize, usize, f64) -> f64) -> Vec<f64> {
        let mut sums = vec![0.0; size];
        for &(key, unit, mass) in &self.0 {
            sums[key] += of(key, unit, mass);
        }
        sums
    }

    fn find(&self, key: usize, unit: usize) -> f64 {
        let place = self.0.binary_search_by_key(&(key, unit), |&(key, unit, _)| (key, unit));
        place.map_or(0.0, |place| self.0[place].2)
    }
}

/// Shares of sums in other sums: `whole_of` says which whole each part belongs to.
fn divide(parts: &Masses, wholes: &Masses, whole_of: &[usize], is_grouped: bool) -> Shares {
    let (size, count) = (whole_of.len(), whole_of.iter().max().map_or(0, |&last| last + 1));
    let (part, squares) = (parts.total(size, |_, _, mass| mass), parts.total(size, |_, _, mass| mass * mass));
    let products = parts.total(size, |key, unit, mass| mass * wholes.find(whole_of[key], unit));
    let (whole, whole_squares) =
        (wholes.total(count, |_, _, mass| mass), wholes.total(count, |_, _, mass| mass * mass));
    let mut found = Shares::default();
    for (key, &of) in whole_of.iter().enumerate() {
        let value = part[key] / whole[of];
        let units = whole[of] * whole[of] / whole_squares[of];
        let spread = squares[key] - 2.0 * value * products[key] + value * value * whole_squares[of];
        let variance = (if spread < 0.0 { 0.0 } else { spread }) / (whole[of] * whole[of]);
        found.values.push(value);
        found.variances.push(if is_grouped { variance * (units / (units - 1.0)) } else { variance });
        found.units.push(units);
    }
    found
}

/// The confusion matrix of rows of some true and predicted classes, with weights and groups if there are any.
///
/// # Panics
/// If a class is not below `classes`, or if there are fewer predictions, weights or groups than rows.
#[must_use]
pub fn confusion(
    truth: &[u32],
    predicted: &[u32],
    classes: usize,
    weights: Option<&[f64]>,
    groups: Option<&[u32]>,
) -> Confusion {
    // A power of two changes no share, and keeps squares of sums in range.
    let largest = weights.unwrap_or_default().iter().copied().fold(0.0, f64::max);
    let scale = weights.map_or(1.0, |_| power_of_two_below_reciprocal(largest));
    let weight = |row: usize| weights.map_or(1.0, |weights| weights[row] * scale);
    let unit = |row: usize| groups.map_or(row, |groups| groups[row] as usize);
    let (of, to) = (|row: usize| truth[row] as usize, |row: usize| predicted[row] as usize);
    let masses =
        |key: &dyn Fn(usize) -> usize| Masses::new((0..truth.len()).map(|row| (key(row), unit(row), weight(row))));
    let cell = |row: usize| of(row) * classes + to(row);
    let mut counts = vec![0.0; classes * classes];
    for row in 0..truth.len() {
        counts[cell(row)] += weights.map_or(1.0, |weights| weights[row]);
    }
    let entries = masses(&cell);
    let cells = 0..classes * classes;
    let share = |key: &dyn Fn(usize) -> usize, whole_of: Vec<usize>| {
        divide(&entries, &masses(key), &whole_of, groups.is_some())
    };
    let shares = [
        share(&|_| 0, vec![0; classes * classes]),
        share(&of, cells.clone().map(|cell| cell / classes).collect()),
        share(&to, cells.map(|cell| cell % classes).collect()),
    ];
    // Twice the right rows: half of the smallest weight would be zero.
    let right = (0..truth.len()).filter(|&row| of(row) == to(row)).map(|row| (of(row), unit(row), 2.0 * weight(row)));
    let both = (0..truth.len()).map(|row| (of(row), row)).chain((0..truth.len()).map(|row| (to(row), row)));
    let both = Masses::new(both.map(|(class, row)| (class, unit(row), weight(row))));
    let f1 = divide(&Masses::new(right), &both, &(0..classes).collect::<Vec<_>>(), groups.is_some());
    Confusion { counts, shares, f1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extreme_weights_have_shares() {
        let (truth, predicted) = ([0, 0, 1, 1], [0, 1, 1, 1]);
        let expected = confusion(&truth, &predicted, 2, None, None);
        for size in [f64::from_bits(1), 2_f64.powi(-700), 2_f64.powi(700), 2_f64.powi(1023)] {
            let found = confusion(&truth, &predicted, 2, Some(&[size; 4]), None);
            for (a, b) in [(&found.f1, &expected.f1), (&found.shares[1], &expected.shares[1])] {
                assert_eq!((&a.values, &a.variances, &a.units), (&b.values, &b.variances, &b.units), "{size}");
            }
        }
        // One weight is nothing beside the other.
        let found = confusion(&[0, 1], &[0, 1], 2, Some(&[5e-324, 1.0]), None);
        assert_eq!((found.f1.values, found.shares[1].values[0]), (vec![1.0, 1.0], 1.0));
    }

    #[test]
    fn shares_of_rows_have_the_variance_of_a_proportion() {
        let (truth, predicted) = ([0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 1, 2]);
        let found = confusion(&truth, &predicted, 3, None, None);
        assert_eq!(found.counts, [2.0, 1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0]);
        let recall = &found.shares[1];
        assert!((recall.values[0] - 2.0 / 3.0).abs() < 1e-15 && (recall.variances[0] - 2.0 / 27.0).abs() < 1e-15);
        assert!((recall.units[0] - 3.0).abs() < 1e-15 && (found.f1.values[0] - 0.8).abs() < 1e-15);
    }

    #[test]
    fn a_group_of_one_row_is_a_row() {
        let (truth, predicted) = ([0, 1, 0, 1], [0, 1, 1, 1]);
        let alone = confusion(&truth, &predicted, 2, None, None);
        let grouped = confusion(&truth, &predicted, 2, Some(&[1.0; 4]), Some(&[3, 0, 2, 1]));
        assert_eq!(alone.shares[0].values, grouped.shares[0].values);
        let (one, other) = (alone.shares[0].variances[0], grouped.shares[0].variances[0]);
        assert!((one * 4.0 / 3.0 - other).abs() < 1e-15);
    }
}
