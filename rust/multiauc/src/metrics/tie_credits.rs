//! The credit of a row that may tie with rows of many classes: 1/(1 + t) with t of them, averaged over all tuples.
//!
//! With L_j and E_j the parts of class j below and tied with the row, the mean of 1/(1 + t) over the tuples in which no
//! row is above it is ∫₀¹ Π_j (L_j + E_j z) dz: give every tied row, and the row itself, a uniform height; z is the
//! row's. The integrand is a polynomial, which Gauss–Legendre nodes integrate exactly.

/// The part of a class that lies below a score, and the part that ties with it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Beside {
    pub below: f64,
    pub tied: f64,
}

/// Integrals of products, with the nodes that were needed so far.
#[derive(Debug, Default)]
pub(super) struct TieCredits {
    /// Nodes and weights on [0, 1], by their number.
    rules: Vec<Vec<(f64, f64)>>,
    before: Vec<f64>,
    without: CreditsWithout,
}

/// Mean credits of tuples whose row of class j is known, for each class j.
#[derive(Debug, Default)]
pub(super) struct CreditsWithout {
    /// That row lies below.
    pub of_lower: Vec<f64>,
    /// That row ties.
    pub of_tied: Vec<f64>,
}

impl TieCredits {
    /// ∫₀¹ Π (L_j + E_j z) dz; the same bits for any order of the classes, which are sorted for that.
    pub(super) fn mean_credit(&mut self, beside: &mut Vec<Beside>) -> f64 {
        if beside.iter().any(|class| class.below <= 0.0 && class.tied <= 0.0) {
            return 0.0;
        }
        beside.retain(|class| *class != Beside { below: 1.0, tied: 0.0 });
        beside.sort_unstable_by(|a, b| a.below.total_cmp(&b.below).then(a.tied.total_cmp(&b.tied)));
        let height = |z: f64| beside.iter().map(|class| class.below + class.tied * z).product::<f64>();
        self.rule(beside).iter().map(|&(z, weight)| weight * height(z)).sum()
    }

    /// The same without the factor of class j, for each class j; and with z in its place.
    pub(super) fn credits_without(&mut self, beside: &[Beside]) -> &CreditsWithout {
        let rule = std::mem::take(self.rule(beside));
        let Self { before, without, .. } = self;
        without.of_lower.clear();
        without.of_lower.resize(beside.len(), 0.0);
        without.of_tied.clear();
        without.of_tied.resize(beside.len(), 0.0);
        for &(z, weight) in &rule {
            before.clear();
            let mut product = weight;
            for class in beside {
                before.push(product);
                product *= class.below + class.tied * z;
            }
            let mut after = 1.0;
            for (place, class) in beside.iter().enumerate().rev() {
                without.of_lower[place] += before[place] * after;
                without.of_tied[place] += before[place] * after * z;
                after *= class.below + class.tied * z;
            }
        }
        *self.rule(beside) = rule;
        &self.without
    }

    /// Nodes enough for the product of these factors.
    fn rule(&mut self, beside: &[Beside]) -> &mut Vec<(f64, f64)> {
        let degree = beside.iter().filter(|class| class.tied > 0.0).count();
        let nodes = degree / 2 + 1;
        if self.rules.len() <= nodes {
            self.rules.resize_with(nodes + 1, Vec::new);
        }
        let rule = &mut self.rules[nodes];
        if rule.is_empty() {
            *rule = gauss_legendre(nodes);
        }
        rule
    }
}

/// The nodes and weights that integrate polynomials up to degree 2n − 1 over [0, 1] exactly: roots of the Legendre
/// polynomial, by Newton's method.
fn gauss_legendre(n: usize) -> Vec<(f64, f64)> {
    let order = n as f64;
    let node = |index: usize| {
        let mut x = (std::f64::consts::PI * (index as f64 + 0.75) / (order + 0.5)).cos();
        let mut slope = 1.0;
        for _ in 0..100 {
            // Pₙ and Pₙ₋₁ by their recurrence.
            let (mut previous, mut current) = (1.0, x);
            for degree in 2..=n {
                let degree = degree as f64;
                (previous, current) =
                    (current, ((2.0 * degree - 1.0) * x * current - (degree - 1.0) * previous) / degree);
            }
            slope = order * (x * current - previous) / (x * x - 1.0);
            let step = current / slope;
            x -= step;
            if step.abs() <= 1e-16 {
                break;
            }
        }
        (f64::midpoint(1.0, -x), 1.0 / ((1.0 - x * x) * slope * slope))
    };
    if n == 1 { vec![(0.5, 1.0)] } else { (0..n).map(node).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Σ over the sets of tied classes of Π E · Π L / (1 + size).
    fn by_sets(beside: &[Beside]) -> f64 {
        (0..1_u32 << beside.len())
            .map(|tied| {
                let factor =
                    |(place, class): (usize, &Beside)| if tied >> place & 1 == 1 { class.tied } else { class.below };
                beside.iter().enumerate().map(factor).product::<f64>() / f64::from(1 + tied.count_ones())
            })
            .sum()
    }

    fn classes() -> Vec<Beside> {
        let parts = [(0.5, 0.25), (0.0, 1.0), (0.75, 0.0), (0.125, 0.5), (1.0, 0.0), (0.0, 0.375), (0.25, 0.25)];
        parts.map(|(below, tied)| Beside { below, tied }).to_vec()
    }

    #[test]
    fn nodes_integrate_powers_exactly() {
        for n in [1, 2, 3, 7, 20, 200] {
            let rule = gauss_legendre(n);
            for degree in [0, 1, n, 2 * n - 1] {
                let integral: f64 = rule.iter().map(|&(z, weight)| weight * z.powi(degree as i32)).sum();
                assert!((integral - 1.0 / (degree as f64 + 1.0)).abs() < 1e-14, "{n} nodes, degree {degree}");
            }
        }
    }

    #[test]
    fn mean_credits_are_those_of_all_sets_of_ties() {
        let mut credits = TieCredits::default();
        for length in 0..=classes().len() {
            let beside = &classes()[..length];
            assert!((credits.mean_credit(&mut beside.to_vec()) - by_sets(beside)).abs() < 1e-15);
            let reversed = credits.mean_credit(&mut beside.iter().rev().copied().collect());
            assert_eq!(credits.mean_credit(&mut beside.to_vec()).to_bits(), reversed.to_bits());
        }
    }

    #[test]
    fn a_known_row_takes_the_place_of_its_class() {
        let mut credits = TieCredits::default();
        let beside = classes();
        for place in 0..beside.len() {
            let with = |class: Beside| {
                let mut others = beside.clone();
                others[place] = class;
                by_sets(&others)
            };
            let found = credits.credits_without(&beside);
            assert!((found.of_lower[place] - with(Beside { below: 1.0, tied: 0.0 })).abs() < 1e-15);
            if beside[place].tied > 0.0 {
                assert!((found.of_tied[place] - with(Beside { below: 0.0, tied: 1.0 })).abs() < 1e-15);
            }
        }
    }
}
