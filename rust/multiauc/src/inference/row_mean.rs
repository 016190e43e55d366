//! The mean of a number of each row, with its variance.

use super::freedom::{ClassTerm, degrees_of_freedom};
use crate::float::CarefulSum;

/// An effective number of units so close to one that nothing can be said about a variance.
const ROUNDING: f64 = 1e-12;

/// A mean, its variance, and how well that is known; NaN where there is a single row or group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowMean {
    /// The mean.
    pub value: f64,
    /// Its variance.
    pub variance: f64,
    /// Degrees of freedom of the variance.
    pub degrees_of_freedom: f64,
}

/// The weighted mean of rows, of which whole groups are independent if there are any.
///
/// A unit u (a row or a group) adds ψ_u = Σ_{i∈u} w_i (x_i − x̄)/W to the error, and the variance is c Σ ψ_u² with
/// c = 1/(1 − Σ (W_u/W)²): for single rows of equal weight s²/n. The degrees of freedom are the smaller of e − 1, e being
/// the effective number of units, and what the fourth moments allow.
///
/// # Panics
/// If there are fewer weights or groups than rows.
#[must_use]
pub fn row_mean(values: &[f64], weights: Option<&[f64]>, groups: Option<&[u32]>) -> RowMean {
    let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
    let total = sum((0..values.len()).map(weight));
    let value = sum((0..values.len()).map(|row| weight(row) * values[row])) / total;
    let unknown = RowMean { value, variance: f64::NAN, degrees_of_freedom: f64::NAN };
    // (share of the weight, ψ) of each unit.
    let unit_of = |row: usize| groups.map_or(row, |groups| groups[row] as usize);
    let count = (0..values.len()).map(|row| unit_of(row) + 1).max().unwrap_or(0);
    let mut units = vec![(0.0, 0.0); count];
    for (row, one) in values.iter().enumerate() {
        let share = weight(row) / total;
        let unit = &mut units[unit_of(row)];
        *unit = (unit.0 + share, unit.1 + share * (one - value));
    }
    units.retain(|&(share, _)| share > 0.0);
    let effective = 1.0 / sum(units.iter().map(|(share, _)| share * share));
    if effective.is_nan() || effective <= 1.0 + ROUNDING {
        return unknown;
    }
    let mut counted = (0..values.len()).filter(|&row| weight(row) > 0.0).map(|row| values[row]);
    let first = counted.next();
    // All rows alike: what is left of their differences from the mean is rounding.
    if counted.all(|other| Some(other) == first) {
        return RowMean { variance: 0.0, ..unknown };
    }
    let factor = effective / (effective - 1.0);
    let variance = factor * sum(units.iter().map(|(_, error)| error * error));
    let fourth = factor * factor * sum(units.iter().map(|(_, error)| error.powi(4)));
    let term = ClassTerm { variance, fourth, units: units.len() as f64, effective };
    RowMean { value, variance, degrees_of_freedom: degrees_of_freedom(variance, &[term]) }
}

fn sum(terms: impl Iterator<Item = f64>) -> f64 {
    let mut found = CarefulSum::default();
    for term in terms {
        found.add(term);
    }
    found.value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_rows_have_the_variance_of_a_mean() {
        let values = [1.0, 2.0, 4.0, 9.0];
        let found = row_mean(&values, None, None);
        assert_eq!(found.value, 4.0);
        assert!((found.variance - 38.0 / 12.0).abs() < 1e-15);
        // Σψ⁴ − V²/n of ψ = (x − 4)/4, times 4/3.
        let (v, fourth) = (38.0_f64 / 12.0, (81.0 + 16.0 + 625.0) / 256.0 * 16.0 / 9.0);
        assert!((found.degrees_of_freedom - (2.0 * v * v / (fourth - v * v / 4.0)).min(3.0)).abs() < 1e-13);
        let (scaled, alone) = (row_mean(&values, Some(&[7.0; 4]), None), row_mean(&values, None, Some(&[0, 1, 2, 3])));
        assert_eq!(alone, found);
        assert!((scaled.variance - found.variance).abs() < 1e-15);
    }

    #[test]
    fn one_unit_or_one_value_says_nothing_of_the_variance() {
        assert!(row_mean(&[1.0], None, None).variance.is_nan());
        assert!(row_mean(&[1.0, 3.0], None, Some(&[2, 2])).variance.is_nan());
        assert!(row_mean(&[], None, None).value.is_nan());
        let alike = row_mean(&[0.1; 5], None, None);
        assert_eq!((alike.variance, alike.degrees_of_freedom.is_nan()), (0.0, true));
        let padded = row_mean(&[0.1, 0.1, 9.0], Some(&[1.0, 1.0, 0.0]), None);
        assert_eq!(padded.variance, 0.0);
    }
}
