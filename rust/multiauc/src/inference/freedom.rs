//! How well a variance is known: the degrees of freedom of Student's t.

/// What a class adds to a variance: V_k = Σ ψ² over its independent units, and Σ ψ⁴.
#[derive(Debug, Clone, Copy)]
pub struct ClassTerm {
    /// V_k.
    pub variance: f64,
    /// Σ ψ⁴.
    pub fourth: f64,
    /// How many units there are.
    pub units: f64,
    /// How many equally heavy ones would know as much.
    pub effective: f64,
}

/// Relative to Σ ψ⁴: a difference of sums that is rounding.
const ROUNDING: f64 = 1e-12;

impl ClassTerm {
    /// V_k with sums of squares over n_k² instead of n_k(n_k − 1).
    pub(super) fn plug_in(&self) -> f64 {
        self.variance * (self.effective - 1.0) / self.effective
    }

    /// Var(V_k)/2 if ψ were normal (Satterthwaite).
    fn uncertainty(&self) -> f64 {
        if self.variance == 0.0 { 0.0 } else { self.variance * self.variance / (self.effective - 1.0) }
    }

    /// Var(V_k)/2 by the fourth moments of ψ, where these show it: with two units both squares are alike.
    fn observed_uncertainty(&self) -> f64 {
        let spread = self.fourth - self.variance * self.variance / self.units;
        if spread <= ROUNDING * self.fourth { self.uncertainty() } else { 0.5 * spread }
    }
}

/// max(1, min(ν_S, ν_4)): ν_S = V²/Σ V_k²/(e_k − 1), and ν_4 = 2V²/Σ_k (Σψ⁴ − V_k²/n_k), which is less where few units far
/// from the others make up the variance. NaN if there is no variance.
#[must_use]
pub fn degrees_of_freedom(variance: f64, terms: &[ClassTerm]) -> f64 {
    let square = variance * variance;
    let by_moments = square / terms.iter().map(ClassTerm::observed_uncertainty).sum::<f64>();
    least(square / terms.iter().map(ClassTerm::uncertainty).sum::<f64>(), by_moments)
}

/// ν₀ = (Σ_k b_k²/e_k)²/Σ_k (b_k²/e_k)²/(e_k − 1): ν_S if the rows of all classes varied alike, by how much they can count.
/// Nothing in it is estimated, whereas ν_S and ν_4 are largest where a small class happens to vary little, which makes V
/// small and t large.
pub(super) fn degrees_of_freedom_alike(ceilings: &[f64], units: &[f64]) -> f64 {
    let classes = ceilings.iter().zip(units).filter(|&(_, &units)| units > 0.0);
    let terms: Vec<ClassTerm> = classes
        .map(|(ceiling, &units)| ClassTerm {
            variance: ceiling * ceiling / units,
            fourth: 0.0,
            units,
            effective: units,
        })
        .collect();
    let variance: f64 = terms.iter().map(|term| term.variance).sum();
    variance * variance / terms.iter().map(ClassTerm::uncertainty).sum::<f64>()
}

/// The same for groups that have rows of several classes: V is not the sum of the V_k, and ν_4 is 2V²/(Σψ⁴ − V²/G).
pub(super) fn degrees_of_freedom_across(variance: f64, terms: &[ClassTerm], fourth: f64, groups: f64) -> f64 {
    let square = variance * variance;
    let satterthwaite = square / terms.iter().map(ClassTerm::uncertainty).sum::<f64>();
    let spread = fourth - square / groups;
    let by_moments = if spread <= ROUNDING * fourth { satterthwaite } else { 2.0 * square / spread };
    least(satterthwaite, by_moments)
}

/// The same for units that are centred on one mean: (e − 1)/(1 + max(κ, 0)(e − 1)/(2e)), κ the excess kurtosis of ψ.
pub(crate) fn degrees_of_freedom_whole(variance: f64, fourth: f64, units: f64, effective: f64) -> f64 {
    let kurtosis = units * fourth / (variance * variance) - 3.0;
    if kurtosis.is_nan() {
        return f64::NAN;
    }
    let normal = effective - 1.0;
    (normal / (1.0 + kurtosis.max(0.0) * normal / (2.0 * effective))).max(1.0)
}

fn least(satterthwaite: f64, by_moments: f64) -> f64 {
    if satterthwaite.is_nan() || by_moments.is_nan() { f64::NAN } else { satterthwaite.min(by_moments).max(1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_sizes_alone_leave_few_degrees_of_freedom_to_a_small_class() {
        // (1/100 + 1/30 + 1/6)²/(1/100²/99 + 1/30²/29 + 1/6²/5), the absent class left out.
        let found = degrees_of_freedom_alike(&[0.5, 0.5, 0.0, 0.5], &[100.0, 30.0, 0.0, 6.0]);
        assert!((found - 7.882_206_824_421_493).abs() < 1e-12, "{found}");
        // Equal classes: as many as Satterthwaite's formula can give.
        assert!((degrees_of_freedom_alike(&[1.0; 3], &[20.0; 3]) - 57.0).abs() < 1e-12);
    }
}
