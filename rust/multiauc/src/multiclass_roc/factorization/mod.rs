//! The binomial rank-one fit behind the multi-class ROC curve.
//!
//! For a 2T × J matrix of rates x with weights w the model is `logit μ_ij = Λ0_i + Λ_i V_j` (or `Λ_i V_j` without the
//! intercept), fitted by minimising the deviance
//!
//! 2 Σ w [x ln(x/μ) + (1 − x) ln((1 − x)/(1 − μ))]
//!
//! first by sweeps of alternating Newton steps for rows and columns (`sweep`), which are cheap and settle most fits in ten
//! or twenty; where they do not, by Newton steps for all parameters together (`newton`). Neither lets the deviance rise.
//! There are local optima: several starts are tried (`search`, `start`).
//!
//! Reference: L. Wang and L. Carvalho, "Multiclass ROC", and "Deviance matrix factorization", Electronic Journal of
//! Statistics 17(2), 2023.

mod curve;
mod kernel;
mod newton;
mod problem;
mod search;
mod start;
mod sweep;

pub(super) use curve::{area_under, make_monotone, stretched};
pub(super) use problem::Problem;

use crate::error::Result;
use crate::parallel::Workers;
use kernel::Row;
use newton::JointSteps;
use sweep::{step_columns, sweep_rows};

/// Most pairs for which joint steps take over, and most for which they do so early: a joint step costs O(T J²).
const JOINT_PAIRS: usize = 420;
const EARLY_JOINT_PAIRS: usize = 60;
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
    /// Stop after this many sweeps in any case.
    pub max_iterations: usize,
    /// After that, go on until no point of the curve moves by more than a thousandth of the tolerance (but at most about
    /// as long again): the curve settles more slowly than the deviance, which is flat at its minimum.
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
    /// Whether the deviance settled within the allowed sweeps: it hardly fell in the last.
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

    /// Fitted rate of every cell, row by row.
    #[must_use]
    pub fn means(&self) -> Vec<f64> {
        let scores = &self.factors.scores[..self.scores.len()];
        let eta = |row: &Row, score: &f64| row.intercept + row.slope * score;
        self.factors.rows.iter().flat_map(|row| scores.iter().map(|score| expit(eta(row, score)))).collect()
    }
}

/// 1 / (1 + e^−x).
#[must_use]
pub(super) fn expit(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Fits the model, from several starts of its own unless one is given.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
///
/// # Panics
/// If `start` has a different shape.
pub(super) fn fit(
    problem: &Problem,
    center: Center,
    stop: Stop,
    start: Option<&Factors>,
    workers: &Workers<'_>,
) -> Result<Fit> {
    let workers = if problem.cells() < SERIAL_CELLS { workers.alone() } else { workers.clone() };
    match start {
        Some(factors) => descend(problem, center, stop, factors.clone(), &workers),
        None => search::best_fit(problem, center, stop, &workers),
    }
}

/// Goes down to the optimum that a start leads to.
fn descend(
    problem: &Problem,
    center: Center,
    stop: Stop,
    mut factors: Factors,
    workers: &Workers<'_>,
) -> Result<Fit> {
    assert_eq!((factors.rows.len(), factors.scores.len()), (problem.rows(), problem.width()), "start of this shape");
    normalise(&mut factors, problem.pairs(), center);

    let saturated = saturated_log_likelihood(problem, workers)?;
    let mut progress = Progress::new(stop, effects_of(problem, &factors));
    let sweeps = match problem.pairs() {
        pairs if pairs <= EARLY_JOINT_PAIRS => 6.min(stop.max_iterations),
        pairs if pairs <= JOINT_PAIRS => 16.min(stop.max_iterations),
        _ => stop.max_iterations,
    };
    for sweep in 1..=sweeps {
        let after = sweep_rows(problem, center, &factors, workers)?;
        factors.rows = after.rows;
        let deviance = 2.0 * (saturated + after.negated_log_likelihood);
        if progress.is_finished(deviance, effects_of(problem, &factors)) {
            break;
        }
        if sweep < stop.max_iterations {
            step_columns(&mut factors, &after.columns);
            normalise(&mut factors, problem.pairs(), center);
        }
    }
    let mut steps = JointSteps::new(problem, center);
    while !progress.finished && progress.deviances.len() < stop.max_iterations {
        workers.check()?;
        let deviance = steps.step(&mut factors).map(|loss| 2.0 * (saturated + loss));
        normalise(&mut factors, problem.pairs(), center);
        match deviance {
            Some(deviance) => progress.is_finished(deviance, effects_of(problem, &factors)),
            // No step lowers the deviance: this is the minimum, as far as numbers of this precision can tell.
            None => progress.is_finished(progress.last_deviance(), effects_of(problem, &factors)),
        };
    }
    if factors.rows.iter().map(|row| row.slope).sum::<f64>() < 0.0 {
        factors.rows.iter_mut().for_each(|row| row.slope = -row.slope);
        factors.scores.iter_mut().for_each(|score| *score = -*score);
    }
    Ok(Fit {
        effects: progress.effects,
        slopes: factors.rows.iter().map(|row| row.slope).collect(),
        scores: factors.scores[..problem.pairs()].to_vec(),
        deviances: progress.deviances,
        converged: progress.converged_after.is_some(),
        factors,
    })
}

/// How far the fit has come, and whether that is far enough.
struct Progress {
    stop: Stop,
    deviances: Vec<f64>,
    effects: Vec<f64>,
    /// The first of the last iterations in which the deviance hardly fell; `None` if it fell in the last.
    converged_after: Option<usize>,
    finished: bool,
}

impl Progress {
    fn new(stop: Stop, effects: Vec<f64>) -> Self {
        Self { stop, deviances: Vec::new(), effects, converged_after: None, finished: false }
    }

    fn last_deviance(&self) -> f64 {
        self.deviances.last().copied().unwrap_or(f64::INFINITY)
    }

    /// Records an iteration and tells whether it was the last.
    fn is_finished(&mut self, deviance: f64, effects: Vec<f64>) -> bool {
        let deviance = deviance.max(0.0);
        let fall = self.last_deviance() - deviance;
        self.deviances.push(deviance);
        let count = self.deviances.len();
        if fall <= self.stop.tolerance * (deviance + 0.1) {
            self.converged_after.get_or_insert(count);
        } else {
            self.converged_after = None;
        }
        let moved = farthest_move(&self.effects, &effects);
        self.effects = effects;
        let settled = !self.stop.settle_curve || moved < self.stop.tolerance / 1000.0;
        self.finished = self.converged_after.is_some_and(|first| settled || count >= 2 * first + 20);
        self.finished
    }
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

/// The same linear predictors with V of mean zero (where there is an intercept) and length one.
fn normalise(factors: &mut Factors, pairs: usize, center: Center) {
    let scores = &mut factors.scores[..pairs];
    if center == Center::Intercept {
        let mean = scores.iter().sum::<f64>() / pairs as f64;
        for score in scores.iter_mut() {
            *score -= mean;
        }
        factors.rows.iter_mut().for_each(|row| row.intercept += row.slope * mean);
    }
    let length = scores.iter().map(|score| score * score).sum::<f64>().sqrt();
    if length > 0.0 {
        for score in scores.iter_mut() {
            *score /= length;
        }
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

#[cfg(test)]
mod tests;
