//! Alternating Newton steps: the two parameters of every row, then the score of every column.
//!
//! A step is shortened so that no linear predictor moves by more than [`LONGEST_STEP`]. The second derivative of
//! ln(1 + e^η) changes by at most a factor e^m when η moves by m, so a Newton step of that length lowers the deviance by at
//! least (1 − (e^m − 1 − m)/m²) g·δ: it can never rise, and no trial evaluation is needed.

use super::kernel::{AddToColumns, ColumnSums, Row, RowSums, SumRow};
use super::problem::Problem;
use super::{Center, Factors};
use crate::error::Result;
use crate::parallel::Workers;
use crate::simd::run_widest;

/// Farthest that a step moves any linear predictor: (e^m − 1 − m)/m² = 0.88 < 1.
const LONGEST_STEP: f64 = 1.5;

/// The state after the row steps, with what the column steps need.
pub(super) struct Sweep {
    pub rows: Vec<Row>,
    pub columns: ColumnSums,
    pub negated_log_likelihood: f64,
}

/// A Newton step for every row, and the sums of the columns at the new rows: one pass over the matrix.
pub(super) fn sweep_rows(problem: &Problem, center: Center, factors: &Factors, workers: &Workers<'_>) -> Result<Sweep> {
    let units = problem.units();
    let scores = &factors.scores;
    let range = range_of(&scores[..problem.pairs()]);
    let parts = workers.map(units.len(), |unit| {
        let mut columns = ColumnSums::new(problem.width());
        let mut loss = 0.0;
        let mut rows = Vec::with_capacity(units[unit].len());
        let weights = problem.weights_of_row(units[unit].start);
        let total_weight: f64 = weights.iter().sum();
        for index in units[unit].clone() {
            let cells = problem.cells_of_row(index, scores);
            let before = factors.rows[index];
            let row = step_row(before, run_widest(SumRow { cells, at: before }), center, range, total_weight);
            loss += run_widest(AddToColumns { cells, at: row, sums: &mut columns });
            rows.push(row);
        }
        loss += weights.iter().zip(&columns.product).map(|(weight, product)| weight * product.ln()).sum::<f64>();
        Ok(Sweep { rows, columns, negated_log_likelihood: loss })
    })?;
    let mut parts = parts.into_iter();
    let mut all = parts.next().expect("at least one unit");
    for part in parts {
        all.rows.extend(part.rows);
        all.negated_log_likelihood += part.negated_log_likelihood;
        all.columns.gradient.iter_mut().zip(part.columns.gradient).for_each(|(sum, part)| *sum += part);
        all.columns.curvature.iter_mut().zip(part.columns.curvature).for_each(|(sum, part)| *sum += part);
    }
    Ok(all)
}

/// A Newton step of a row, shortened so that the deviance cannot rise.
fn step_row(row: Row, sums: RowSums, center: Center, (lowest, highest): (f64, f64), total_weight: f64) -> Row {
    // Keeps the system solvable where all cells are saturated or all V equal; far below any curvature that matters.
    let ridge = 1e-14 * total_weight;
    let [g0, g1] = sums.gradient;
    let [h00, h01, h11] = [sums.curvature[0] + ridge, sums.curvature[1], sums.curvature[2] + ridge];
    let determinant = h00 * h11 - h01 * h01;
    let (by_intercept, by_slope) = match center {
        Center::Projection => (0.0, g1 / h11),
        Center::Intercept if determinant > 1e-12 * h00 * h11 => {
            ((h11 * g0 - h01 * g1) / determinant, (h00 * g1 - h01 * g0) / determinant)
        }
        Center::Intercept => (g0 / h00, 0.0),
    };
    let longest = (by_intercept + by_slope * lowest).abs().max((by_intercept + by_slope * highest).abs());
    let scale = shortened(longest);
    Row { intercept: row.intercept + scale * by_intercept, slope: row.slope + scale * by_slope }
}

/// A Newton step of every column.
pub(super) fn step_columns(factors: &mut Factors, sums: &ColumnSums) {
    let steepest = factors.rows.iter().map(|row| row.slope.abs()).fold(0.0, f64::max);
    for ((score, gradient), curvature) in factors.scores.iter_mut().zip(&sums.gradient).zip(&sums.curvature) {
        let step = gradient / curvature;
        // Without weight or slopes there is nothing to learn: 0/0.
        if step.is_finite() {
            *score += shortened((step * steepest).abs()) * step;
        }
    }
}

/// The fraction of a step that moves no linear predictor too far.
fn shortened(longest: f64) -> f64 {
    if longest > LONGEST_STEP { LONGEST_STEP / longest } else { 1.0 }
}

fn range_of(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &value| (low.min(value), high.max(value)))
}
