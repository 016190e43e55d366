//! The binomial rank-one fit behind the multi-class ROC curve.
//!
//! For a 2T × J matrix of rates x with weights w the model is `logit μ_ij = Λ0_i + Λ_i V_j` (or `Λ_i V_j` without the
//! intercept), fitted by minimising the deviance
//!
//! 2 Σ w [x ln(x/μ) + (1 − x) ln((1 − x)/(1 − μ))]
//!
//! by alternating Newton steps: one for the two parameters of every row, one for every column. A step is shortened so
//! that no linear predictor moves by more than [`LONGEST_STEP`]. The second derivative of ln(1 + e^η) changes by at most
//! a factor e^m when η moves by m, so a Newton step of that length lowers the deviance by at least
//! (1 − (e^m − 1 − m)/m²) g·δ: it can never rise, and no trial evaluation is needed.
//!
//! Reference: L. Wang and L. Carvalho, "Multiclass ROC", and "Deviance matrix factorization", Electronic Journal of
//! Statistics 17(2), 2023.

mod curve;
mod kernel;
mod problem;
mod start;

pub use curve::{area_under, make_monotone};
pub use problem::Problem;

use crate::error::Result;
use crate::parallel::Workers;
use crate::simd::run_widest;
use kernel::{AddToColumns, ColumnSums, Row, RowSums, SumRow};

/// Farthest that a step moves any linear predictor: (e^m − 1 − m)/m² = 0.88 < 1.
const LONGEST_STEP: f64 = 1.5;
/// Cells below which one thread is faster than several.
const SERIAL_CELLS: usize = 100_000;

/// Whether the row effect is a parameter of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Center {
    /// η = Λ0 + Λ V with V of mean zero.
    Intercept,
    /// η = Λ V, and Λ0 = Λ · mean(V) afterwards.
    Projection,
}

/// When to stop.
#[derive(Debug, Clone, Copy)]
pub struct Stop {
    /// Stop when the deviance falls by less than this times (deviance + 0.1) in a sweep.
    pub tolerance: f64,
    /// Stop after so many sweeps in any case.
    pub max_iterations: usize,
    /// After that, go on until no point of the curve moves by more than a tenth of the tolerance (but at most about as
    /// long again): the curve settles more slowly than the deviance, which is flat at its minimum.
    pub settle_curve: bool,
}

/// Parameters of the model; opaque, to start another fit from.
#[derive(Debug, Clone)]
pub struct Factors {
    rows: Vec<Row>,
    /// Padded with zeros.
    scores: Vec<f64>,
}

/// A fitted model.
#[derive(Debug, Clone)]
pub struct Fit {
    /// Mean linear predictor of each row over the pairs, by the weights of its half: the true-positive half first.
    pub effects: Vec<f64>,
    /// Λ of each row.
    pub slopes: Vec<f64>,
    /// V of each pair: of length one, and of mean zero in the intercept model.
    pub scores: Vec<f64>,
    /// The deviance after each sweep's row steps; the last is that of the result.
    pub deviances: Vec<f64>,
    /// Whether the deviance settled within the allowed sweeps.
    pub converged: bool,
    /// Where to start a fit to similar rates.
    pub factors: Factors,
}

impl Fit {
    /// Deviance of the result.
    #[must_use]
    pub fn deviance(&self) -> f64 {
        self.deviances.last().copied().unwrap_or(f64::NAN)
    }

    /// Fitted rate of every cell, row after row.
    #[must_use]
    pub fn means(&self) -> Vec<f64> {
        let scores = &self.factors.scores[..self.scores.len()];
        let eta = |row: &Row, score: &f64| row.intercept + row.slope * score;
        self.factors.rows.iter().flat_map(|row| scores.iter().map(|score| expit(eta(row, score)))).collect()
    }
}

/// 1 / (1 + e^−x).
#[must_use]
pub fn expit(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Fits the model, from `start` or from the leading singular vector of the logits.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
///
/// # Panics
/// If `start` is of another shape.
pub fn fit(
    problem: &Problem,
    center: Center,
    stop: Stop,
    start: Option<&Factors>,
    workers: &Workers<'_>,
) -> Result<Fit> {
    let workers = if problem.cells() < SERIAL_CELLS { workers.alone() } else { workers.clone() };
    let mut factors = match start {
        Some(factors) => factors.clone(),
        None => start::from_logits(problem, center, &workers)?,
    };
    assert_eq!((factors.rows.len(), factors.scores.len()), (problem.rows(), problem.width()), "start of this shape");
    normalise(&mut factors, problem.pairs(), center);

    let saturated = saturated_log_likelihood(problem, &workers)?;
    let mut deviances = Vec::new();
    let mut effects = effects_of(problem, &factors);
    let mut converged_after = None;
    for sweep in 1..=stop.max_iterations {
        let after = sweep_rows(problem, center, &factors, &workers)?;
        let deviance = (2.0 * (saturated + after.negated_log_likelihood)).max(0.0);
        factors.rows = after.rows;
        let fall = deviances.last().map_or(f64::INFINITY, |last| last - deviance);
        deviances.push(deviance);
        if fall < stop.tolerance * (deviance + 0.1) {
            converged_after.get_or_insert(sweep);
        }
        let new_effects = effects_of(problem, &factors);
        let moved = farthest_move(&effects, &new_effects);
        effects = new_effects;
        let settled = !stop.settle_curve || moved < stop.tolerance / 10.0;
        if converged_after.is_some_and(|first| settled || sweep >= 2 * first + 20) {
            break;
        }
        if sweep < stop.max_iterations {
            step_columns(&mut factors, &after.columns);
            normalise(&mut factors, problem.pairs(), center);
        }
    }
    if factors.rows.iter().map(|row| row.slope).sum::<f64>() < 0.0 {
        factors.rows.iter_mut().for_each(|row| row.slope = -row.slope);
        factors.scores.iter_mut().for_each(|score| *score = -*score);
    }
    Ok(Fit {
        effects,
        slopes: factors.rows.iter().map(|row| row.slope).collect(),
        scores: factors.scores[..problem.pairs()].to_vec(),
        deviances,
        converged: converged_after.is_some(),
        factors,
    })
}

/// Σ w [x ln x + (1 − x) ln(1 − x)].
fn saturated_log_likelihood(problem: &Problem, workers: &Workers<'_>) -> Result<f64> {
    let x_ln_x = |x: f64| if x > 0.0 { x * x.ln() } else { 0.0 };
    let units = problem.units();
    let parts = workers.map(units.len(), |unit| {
        let row_sum = |row| {
            let cells = problem.rates_of_row(row).iter().zip(problem.weights_of_row(row)).take(problem.pairs());
            cells.map(|(&x, weight)| weight * (x_ln_x(x) + x_ln_x(1.0 - x))).sum::<f64>()
        };
        Ok(units[unit].clone().map(row_sum).sum::<f64>())
    })?;
    Ok(parts.iter().sum())
}

/// The state after the row steps, with what the column steps need.
struct Sweep {
    rows: Vec<Row>,
    columns: ColumnSums,
    negated_log_likelihood: f64,
}

/// A Newton step for every row, and the sums of the columns at the new rows: one pass over the matrix.
fn sweep_rows(problem: &Problem, center: Center, factors: &Factors, workers: &Workers<'_>) -> Result<Sweep> {
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
    let share = shortened(longest);
    Row { intercept: row.intercept + share * by_intercept, slope: row.slope + share * by_slope }
}

/// A Newton step of every column.
fn step_columns(factors: &mut Factors, sums: &ColumnSums) {
    let steepest = factors.rows.iter().map(|row| row.slope.abs()).fold(0.0, f64::max);
    for ((score, gradient), curvature) in factors.scores.iter_mut().zip(&sums.gradient).zip(&sums.curvature) {
        let step = gradient / curvature;
        // Without weight or slopes there is nothing to learn: 0/0.
        if step.is_finite() {
            *score += shortened((step * steepest).abs()) * step;
        }
    }
}

/// The share of a step that moves no linear predictor too far.
fn shortened(longest: f64) -> f64 {
    if longest > LONGEST_STEP { LONGEST_STEP / longest } else { 1.0 }
}

/// The same linear predictors with V of mean zero (where there is an intercept) and length one.
fn normalise(factors: &mut Factors, pairs: usize, center: Center) {
    let scores = &mut factors.scores[..pairs];
    if center == Center::Intercept {
        let mean = scores.iter().sum::<f64>() / pairs as f64;
        scores.iter_mut().for_each(|score| *score -= mean);
        factors.rows.iter_mut().for_each(|row| row.intercept += row.slope * mean);
    }
    let length = scores.iter().map(|score| score * score).sum::<f64>().sqrt();
    if length > 0.0 {
        scores.iter_mut().for_each(|score| *score /= length);
    }
    factors.rows.iter_mut().for_each(|row| row.slope *= length);
}

fn effects_of(problem: &Problem, factors: &Factors) -> Vec<f64> {
    let centres = problem.centres(&factors.scores);
    let half = problem.rows() / 2;
    let effect = |(index, row): (usize, &Row)| row.intercept + row.slope * centres[usize::from(index >= half)];
    factors.rows.iter().enumerate().map(effect).collect()
}

fn farthest_move(before: &[f64], after: &[f64]) -> f64 {
    before.iter().zip(after).map(|(a, b)| (expit(*a) - expit(*b)).abs()).fold(0.0, f64::max)
}

fn range_of(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &value| (low.min(value), high.max(value)))
}

#[cfg(test)]
mod tests;
