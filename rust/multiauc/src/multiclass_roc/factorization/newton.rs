//! Newton steps for all parameters together, damped as in Levenberg–Marquardt.
//!
//! The second derivatives form an arrow: a 2 × 2 block per row, one number per column, and a term for every cell that
//! joins a row with a column. Eliminating the rows leaves a J × J system for V.
#![allow(clippy::inline_always, reason = "only what is inlined is compiled for wide vectors, or has no call per cell")]

use super::kernel::{AddToColumns, ColumnSums, Row, WriteTerms};
use super::problem::Problem;
use super::{Center, Factors};
use crate::simd::{Simd, Vectorizable, run_widest};

const FIRST_DAMPING: f64 = 1e-3;
const LEAST_DAMPING: f64 = 1e-10;
const MOST_DAMPING: f64 = 1e10;
/// Relative change of the negated log-likelihood that is rounding. Near the minimum it no longer tells a better step from a
/// worse one, but Newton steps still go on to it: the parameters are known twice as precisely as it is.
const ROUNDING: f64 = 1e-14;

/// The steps of one fit: the damping carries over from one to the next.
pub(super) struct JointSteps<'a> {
    problem: &'a Problem,
    center: Center,
    damping: f64,
    /// Negated log-likelihood after the last step.
    loss: Option<f64>,
}

/// First and second derivatives of the negated log-likelihood, separately for rows and columns.
struct Derivatives {
    /// w (x − μ) and w μ (1 − μ) of every cell.
    residuals: Vec<f64>,
    information: Vec<f64>,
    /// Of each row: gradient and curvature in (intercept, slope).
    row_gradient: Vec<[f64; 2]>,
    row_curvature: Vec<[f64; 3]>,
    column_gradient: Vec<f64>,
    column_curvature: Vec<f64>,
}

impl<'a> JointSteps<'a> {
    pub(super) const fn new(problem: &'a Problem, center: Center) -> Self {
        Self { problem, center, damping: FIRST_DAMPING, loss: None }
    }

    /// Takes a step that does not raise the negated log-likelihood (up to a constant and rounding) and returns the new
    /// value; `None` if there is none.
    pub(super) fn step(&mut self, factors: &mut Factors) -> Option<f64> {
        let before = self.loss.unwrap_or_else(|| loss(self.problem, factors));
        let derivatives = Derivatives::at(self.problem, factors);
        while self.damping < MOST_DAMPING {
            if let Some(candidate) = self.candidate(factors, &derivatives) {
                let after = loss(self.problem, &candidate);
                if after <= before + ROUNDING * before.abs() {
                    *factors = candidate;
                    self.damping = (self.damping / 10.0).max(LEAST_DAMPING);
                    self.loss = Some(after);
                    return Some(after);
                }
            }
            self.damping *= 4.0;
        }
        self.damping = FIRST_DAMPING;
        None
    }

    /// The damped Newton step; `None` where the system is not positive definite.
    fn candidate(&self, factors: &Factors, derivatives: &Derivatives) -> Option<Factors> {
        let (width, pairs) = (self.problem.width(), self.problem.pairs());
        let damped = |curvature: f64| curvature * (1.0 + self.damping) + f64::MIN_POSITIVE;
        let mut system = vec![0.0; width * pairs];
        let mut right = derivatives.column_gradient[..pairs].to_vec();
        for (column, curvature) in derivatives.column_curvature[..pairs].iter().enumerate() {
            system[column * width + column] = damped(*curvature);
        }
        let mut inverses = Vec::with_capacity(factors.rows.len());
        let mut coupling = Coupling::new(width);
        for (index, row) in factors.rows.iter().enumerate() {
            let inverse = self.inverse_of(derivatives.row_curvature[index], damped)?;
            inverses.push(inverse);
            coupling.fill(derivatives, index, *row, &factors.scores);
            let eliminated = apply(inverse, derivatives.row_gradient[index]);
            coupling.eliminate(inverse);
            for (column, right) in right.iter_mut().enumerate() {
                *right -= coupling.intercept[column] * eliminated[0] + coupling.slope[column] * eliminated[1];
            }
            run_widest(SubtractOuter { system: &mut system, width, coupling: &coupling });
        }
        let steps = solve(&mut system, width, right)?;
        let mut candidate = factors.clone();
        candidate.scores.iter_mut().zip(&steps).for_each(|(score, step)| *score += step);
        for (index, row) in candidate.rows.iter_mut().enumerate() {
            coupling.fill(derivatives, index, *row, &factors.scores);
            let [g0, g1] = derivatives.row_gradient[index];
            let along = |terms: &[f64]| terms.iter().zip(&steps).map(|(term, step)| term * step).sum::<f64>();
            let [by_intercept, by_slope] =
                apply(inverses[index], [g0 - along(&coupling.intercept), g1 - along(&coupling.slope)]);
            row.intercept += by_intercept;
            row.slope += by_slope;
        }
        Some(candidate)
    }

    /// Inverse of the damped 2 × 2 block of a row, as its three entries.
    fn inverse_of(&self, [h00, h01, h11]: [f64; 3], damped: impl Fn(f64) -> f64) -> Option<[f64; 3]> {
        let (h00, h11) = (damped(h00), damped(h11));
        if self.center == Center::Projection {
            return Some([0.0, 0.0, 1.0 / h11]);
        }
        let determinant = h00 * h11 - h01 * h01;
        (determinant > 0.0).then(|| [h11 / determinant, -h01 / determinant, h00 / determinant])
    }
}

fn apply([i00, i01, i11]: [f64; 3], [a, b]: [f64; 2]) -> [f64; 2] {
    [i00 * a + i01 * b, i01 * a + i11 * b]
}

impl Derivatives {
    fn at(problem: &Problem, factors: &Factors) -> Self {
        let width = problem.width();
        let cells = problem.rows() * width;
        let mut all = Self {
            residuals: vec![0.0; cells],
            information: vec![0.0; cells],
            row_gradient: Vec::with_capacity(problem.rows()),
            row_curvature: Vec::with_capacity(problem.rows()),
            column_gradient: vec![0.0; width],
            column_curvature: vec![0.0; width],
        };
        for (index, &row) in factors.rows.iter().enumerate() {
            let residuals = &mut all.residuals[index * width..][..width];
            let information = &mut all.information[index * width..][..width];
            let cells = problem.cells_of_row(index, &factors.scores);
            run_widest(WriteTerms { cells, at: row, residuals, information });
            let (mut gradient, mut curvature) = ([0.0; 2], [0.0; 3]);
            for (column, v) in factors.scores.iter().enumerate() {
                let (residual, weight) = (residuals[column], information[column]);
                gradient = [gradient[0] + residual, gradient[1] + residual * v];
                curvature = [curvature[0] + weight, curvature[1] + weight * v, curvature[2] + weight * v * v];
                all.column_gradient[column] += residual * row.slope;
                all.column_curvature[column] += weight * row.slope * row.slope;
            }
            all.row_gradient.push(gradient);
            all.row_curvature.push(curvature);
        }
        all
    }
}

/// What joins a row with the columns: ∂²/∂Λ0∂V and ∂²/∂Λ∂V, and these times the inverse of the row's block.
struct Coupling {
    intercept: Vec<f64>,
    slope: Vec<f64>,
    solved_intercept: Vec<f64>,
    solved_slope: Vec<f64>,
}

impl Coupling {
    fn new(width: usize) -> Self {
        let empty = || vec![0.0; width];
        Self { intercept: empty(), slope: empty(), solved_intercept: empty(), solved_slope: empty() }
    }

    fn fill(&mut self, derivatives: &Derivatives, index: usize, row: Row, scores: &[f64]) {
        let width = self.intercept.len();
        let residuals = &derivatives.residuals[index * width..][..width];
        let information = &derivatives.information[index * width..][..width];
        for column in 0..width {
            let joint = information[column] * row.slope;
            self.intercept[column] = joint;
            self.slope[column] = joint * scores[column] - residuals[column];
        }
    }

    fn eliminate(&mut self, inverse: [f64; 3]) {
        for column in 0..self.intercept.len() {
            let solved = apply(inverse, [self.intercept[column], self.slope[column]]);
            [self.solved_intercept[column], self.solved_slope[column]] = solved;
        }
    }
}

/// Subtracts the part of an eliminated row from the lower triangle of the system.
struct SubtractOuter<'a, 'b> {
    system: &'b mut [f64],
    width: usize,
    coupling: &'a Coupling,
}

impl Vectorizable for SubtractOuter<'_, '_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        for (row, line) in self.system.chunks_exact_mut(self.width).enumerate() {
            let (a, b) = (self.coupling.intercept[row], self.coupling.slope[row]);
            let solved = self.coupling.solved_intercept[..=row].iter().zip(&self.coupling.solved_slope[..=row]);
            for (entry, (by_intercept, by_slope)) in line[..=row].iter_mut().zip(solved) {
                *entry -= a * by_intercept + b * by_slope;
            }
        }
    }
}

/// Solves a positive definite system given by its lower triangle (Cholesky); `None` if it is not.
fn solve(system: &mut [f64], width: usize, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let size = right.len();
    for row in 0..size {
        let (above, line) = system.split_at_mut(row * width);
        for column in 0..row {
            let other = &above[column * width..][..=column];
            let dot: f64 = line[..column].iter().zip(other).map(|(a, b)| a * b).sum();
            line[column] = (line[column] - dot) / other[column];
        }
        let square = line[row] - line[..row].iter().map(|entry| entry * entry).sum::<f64>();
        if !(square > 0.0 && square.is_finite()) {
            return None;
        }
        line[row] = square.sqrt();
        let dot: f64 = line[..row].iter().zip(&right).map(|(a, b)| a * b).sum();
        right[row] = (right[row] - dot) / line[row];
    }
    for row in (0..size).rev() {
        let dot: f64 = (row + 1..size).map(|below| system[below * width + row] * right[below]).sum();
        right[row] = (right[row] - dot) / system[row * width + row];
    }
    Some(right)
}

/// The negated log-likelihood, unit by unit as in the sweeps.
fn loss(problem: &Problem, factors: &Factors) -> f64 {
    let of_unit = |unit: std::ops::Range<usize>| {
        let mut columns = ColumnSums::new(problem.width());
        let weights = problem.weights_of_row(unit.start);
        let mut loss = 0.0;
        for index in unit {
            let cells = problem.cells_of_row(index, &factors.scores);
            loss += run_widest(AddToColumns { cells, at: factors.rows[index], sums: &mut columns });
        }
        loss + weights.iter().zip(&columns.product).map(|(weight, product)| weight * product.ln()).sum::<f64>()
    };
    problem.units().into_iter().map(of_unit).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_positive_definite_systems_only() {
        let mut system = vec![4.0, 0.0, 2.0, 3.0];
        let solution = solve(&mut system, 2, vec![2.0, 5.0]).unwrap();
        assert!((solution[0] + 0.5).abs() < 1e-15 && (solution[1] - 2.0).abs() < 1e-15);
        assert!(solve(&mut [1.0, 0.0, 2.0, 1.0], 2, vec![0.0, 0.0]).is_none());
    }
}
