//! What a pilot sample says about samples of other sizes.
//!
//! V = Σ_k σ_k²/n_k, and with the fourth moments of the pilot's units its degrees of freedom, for any class sizes n_k.

use super::freedom::{ClassTerm, degrees_of_freedom};

/// Influences, which are of the order of 1 over the class sizes, that are rounding; effectively one unit.
const ROUNDING: f64 = 1e-12;

/// Sums over the independent units (rows, or groups) of each class that has any.
#[derive(Debug, Clone, Default)]
pub struct Pilot {
    /// The classes.
    pub classes: Vec<usize>,
    /// How many units there are.
    pub units: Vec<f64>,
    /// How many of equal weight would know as much.
    pub effective: Vec<f64>,
    squares: Vec<f64>,
    fourths: Vec<f64>,
}

impl Pilot {
    /// From the influences of the rows on a number; groups must lie within classes.
    ///
    /// # Panics
    /// If a code is not below `classes`, or if there are fewer influences, weights or groups than codes.
    #[must_use]
    pub fn new(
        codes: &[u32],
        classes: usize,
        weights: Option<&[f64]>,
        groups: Option<&[u32]>,
        influences: &[f64],
    ) -> Self {
        let unit_of = |row: usize| groups.map_or(row, |groups| groups[row] as usize);
        let count = (0..codes.len()).map(|row| unit_of(row) + 1).max().unwrap_or(0);
        // Class, weight and influence of each unit.
        let mut units = vec![(0, 0.0, 0.0); count];
        for (row, &code) in codes.iter().enumerate() {
            let weight = weights.map_or(1.0, |weights| weights[row]);
            if weight > 0.0 {
                let (_, mass, influence) = units[unit_of(row)];
                units[unit_of(row)] = (code as usize, mass + weight, influence + influences[row]);
            }
        }
        units.retain(|&(_, weight, _)| weight > 0.0);
        let add = |of: &dyn Fn(usize, f64, f64) -> f64| {
            let mut sums = vec![0.0; classes];
            for &(class, weight, influence) in &units {
                sums[class] += of(class, weight, influence);
            }
            sums
        };
        let totals = add(&|_, weight, _| weight);
        let shares = add(&|class, weight, _| (weight / totals[class]).powi(2));
        let (squares, fourths) = (add(&|_, _, influence| influence.powi(2)), add(&|_, _, influence| influence.powi(4)));
        let counts = add(&|_, _, _| 1.0);
        let mut found = Self::default();
        for class in (0..classes).filter(|&class| counts[class] > 0.0) {
            let effective = 1.0 / shares[class];
            let is_rounding = squares[class] <= ROUNDING * ROUNDING / effective;
            found.classes.push(class);
            found.units.push(counts[class]);
            found.effective.push(effective);
            found.squares.push(if is_rounding { 0.0 } else { squares[class] });
            found.fourths.push(if is_rounding { 0.0 } else { fourths[class] });
        }
        found
    }

    /// The standard deviation of a unit's component in each class: the class adds its square over the size.
    #[must_use]
    pub fn deviations(&self) -> Vec<f64> {
        let of_class = |class: usize| (self.units[class] * self.squares[class] * self.factor(class)).sqrt();
        (0..self.units.len()).map(of_class).collect()
    }

    /// That of the sample, for whatever size is planned: it makes the sample's mean squares right on average.
    fn factor(&self, class: usize) -> f64 {
        1.0 / (1.0 - 1.0 / self.effective[class])
    }

    /// How many units of equal weight so many of each class would be.
    #[must_use]
    pub fn effective_of(&self, sizes: &[f64]) -> Vec<f64> {
        (0..sizes.len()).map(|class| self.effective[class] * (sizes[class] / self.units[class])).collect()
    }

    /// (variance, degrees of freedom) with so many units of the same kind per class: those of the sample at `units`.
    ///
    /// The variance is infinite where it could not be estimated, with effectively one unit in a class.
    #[must_use]
    pub fn plan(&self, sizes: &[f64]) -> (f64, f64) {
        let effective = self.effective_of(sizes);
        if effective.iter().any(|&effective| effective <= 1.0 + ROUNDING) {
            return (f64::INFINITY, 1.0);
        }
        let term = |class: usize| {
            let (times, factor) = (sizes[class] / self.units[class], self.factor(class));
            ClassTerm {
                variance: factor * self.squares[class] / times,
                fourth: factor * factor * self.fourths[class] / (times * times * times),
                units: sizes[class],
                effective: effective[class],
            }
        };
        let terms: Vec<ClassTerm> = (0..sizes.len()).map(term).collect();
        let variance = terms.iter().map(|term| term.variance).sum();
        (variance, degrees_of_freedom(variance, &terms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twice_the_rows_have_half_the_variance() {
        let (codes, influences) = ([0, 0, 0, 2, 2, 2, 2], [0.1, -0.2, 0.1, 0.3, -0.1, -0.1, -0.1]);
        let pilot = Pilot::new(&codes, 3, None, None, &influences);
        assert_eq!((&pilot.classes[..], &pilot.units[..]), (&[0, 2][..], &[3.0, 4.0][..]));
        let (variance, freedom) = pilot.plan(&[3.0, 4.0]);
        assert!((variance - (1.5 * 0.06 + 4.0 / 3.0 * 0.12)).abs() < 1e-15);
        let (half, more) = pilot.plan(&[6.0, 8.0]);
        assert!((2.0 * half - variance).abs() < 1e-15 && more > freedom);
        let sum: f64 =
            pilot.deviations().iter().zip([3.0, 4.0]).map(|(deviation, size)| deviation.powi(2) / size).sum();
        assert!((sum - variance).abs() < 1e-15);
        assert_eq!(pilot.plan(&[1.0, 8.0]), (f64::INFINITY, 1.0));
    }
}
