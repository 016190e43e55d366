//! The search for the best optimum. The likelihood has local ones: of ordinary samples one in ten has two or more.
//!
//! Short fits to some of the thresholds start from the directions that between them nearly always lead to the best
//! optimum. Where all end in the same place, the fit starts there; where they do not, more directions are tried, and
//! every place that is nearly as good as the best starts a fit of its own. With very many pairs a fit takes long, and
//! only the best place is followed up.

use std::ops::Range;

use super::problem::Problem;
use super::start::{Contrasts, dot, factors_along, to_unit_length};
use super::{Center, EARLY_JOINT_PAIRS, Factors, Fit, JOINT_PAIRS, Stop, descend};
use crate::error::Result;
use crate::parallel::Workers;

/// Thresholds of the short fits: enough to tell optima apart.
const THRESHOLDS_TRIED: usize = 20;
/// When the short fits stop. They only have to reach the neighbourhood of an optimum.
const SHORT: Stop = Stop { tolerance: 1e-7, max_iterations: 30, settle_curve: false };
/// How many singular vectors of either matrix are tried in any case, and how many mixtures. With many pairs there is next
/// to always one optimum only, and the way from other directions is long.
const fn first_directions(pairs: usize) -> (usize, u64) {
    if pairs <= EARLY_JOINT_PAIRS { (2, 3) } else { (1, 0) }
}
/// Cosine of two directions from which on they count as one.
const ALIKE: f64 = 0.98;
/// Deviance of a short fit, relative to the best, up to which its place may turn out to be the best with all thresholds.
const NEARLY_AS_GOOD: f64 = 1.2;
/// How many more mixtures are tried where the first directions do not agree.
const MORE_MIXTURES: u64 = 16;

/// Fits the model from several starts and returns the best fit.
pub(super) fn best_fit(problem: &Problem, center: Center, stop: Stop, workers: &Workers<'_>) -> Result<Fit> {
    let mut best: Option<Fit> = None;
    for start in starts(problem, center, workers)? {
        let fit = descend(problem, center, stop, start, workers)?;
        if best.as_ref().is_none_or(|best| fit.deviance() < best.deviance()) {
            best = Some(fit);
        }
    }
    Ok(best.expect("at least one start"))
}

/// Where to start: one start for each neighbourhood of an optimum.
fn starts(problem: &Problem, center: Center, workers: &Workers<'_>) -> Result<Vec<Factors>> {
    let tried = problem.thinned(THRESHOLDS_TRIED);
    let mut places = Places { problem: &tried, center, workers, found: Vec::new() };
    let logits = Contrasts::of_logits(&tried, center);
    let residuals = Contrasts::of_residuals(&tried, center);
    let (vectors, mixtures) = first_directions(problem.pairs());
    let mixed = |numbers: Range<u64>| numbers.filter_map(|number| residuals.mixture(number));
    for direction in logits.leading(vectors).into_iter().chain(residuals.leading(vectors)).chain(mixed(0..mixtures)) {
        places.visit(&direction)?;
    }
    let is_thorough = problem.pairs() <= JOINT_PAIRS;
    if is_thorough && places.found.len() > 1 {
        for direction in mixed(mixtures..mixtures + MORE_MIXTURES) {
            places.visit(&direction)?;
        }
    }
    let mut directions = places.best(if is_thorough { NEARLY_AS_GOOD } else { 1.0 });
    if directions.is_empty() {
        // Nothing tells the columns apart.
        directions.push(vec![0.0; problem.width()]);
    }
    directions.iter().map(|direction| factors_along(problem, center, direction, workers)).collect()
}

/// The places where short fits ended.
struct Places<'a> {
    problem: &'a Problem,
    center: Center,
    workers: &'a Workers<'a>,
    found: Vec<Place>,
}

struct Place {
    direction: Vec<f64>,
    deviance: f64,
}

impl Places<'_> {
    /// Adds the place where a short fit from a direction ends, unless it is known.
    fn visit(&mut self, direction: &[f64]) -> Result<()> {
        let start = factors_along(self.problem, self.center, direction, self.workers)?;
        let fit = descend(self.problem, self.center, SHORT, start, self.workers)?;
        let deviance = fit.deviance();
        let direction = self.direction_of(fit.factors.scores);
        match self.found.iter_mut().find(|known| dot(&known.direction, &direction).abs() > ALIKE) {
            Some(known) => known.deviance = known.deviance.min(deviance),
            None => self.found.push(Place { direction, deviance }),
        }
        Ok(())
    }

    /// The directions of the best place and of those up to so many times its deviance.
    fn best(self, times: f64) -> Vec<Vec<f64>> {
        let least = self.found.iter().map(|place| place.deviance).fold(f64::INFINITY, f64::min);
        let is_good = |place: &Place| place.deviance <= times * least;
        self.found.into_iter().filter(is_good).map(|place| place.direction).collect()
    }

    /// Scores with what makes no difference taken away: columns that do not count, the mean, the length.
    fn direction_of(&self, mut scores: Vec<f64>) -> Vec<f64> {
        let counts = self.problem.columns_that_count();
        let counted = || counts.iter().enumerate().filter(|(_, counts)| **counts).map(|(column, _)| column);
        let mean = match self.center {
            Center::Intercept => counted().map(|column| scores[column]).sum::<f64>() / counted().count() as f64,
            Center::Projection => 0.0,
        };
        for (score, counts) in scores.iter_mut().zip(&counts) {
            *score = if *counts { *score - mean } else { 0.0 };
        }
        to_unit_length(&mut scores);
        scores
    }
}
