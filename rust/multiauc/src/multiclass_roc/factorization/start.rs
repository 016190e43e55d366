//! Directions V to start from. Given V the rest of the model is a convex problem, so a direction is all that a start
//! needs. None depends on the order of the columns (beyond rounding): other orders end in the same optimum.

use super::kernel::{LANES, Row};
use super::problem::Problem;
use super::{Center, Factors};
use crate::error::Result;
use crate::parallel::Workers;

/// Iterations of the power method. A start need not be exact: the fit goes on from it.
const MOST_ITERATIONS: usize = 30;
/// Squared change of the unit vector at which the power method stops.
const SETTLED: f64 = 1e-8;
/// Mean square of a row's entries below which they are rounding errors.
const ROUNDING: f64 = 1e-20;

/// A matrix whose rows say, threshold by threshold, what tells the columns apart.
#[derive(Debug, Clone)]
pub(super) struct Contrasts {
    width: usize,
    cells: Vec<f64>,
}

impl Contrasts {
    /// The logits, less their mean where the model has an intercept: led by rates near 0 and 1.
    pub(super) fn of_logits(problem: &Problem, center: Center) -> Self {
        let counts = problem.columns_that_count();
        Self::by_row(problem, |row, target| {
            centred_logits(problem.rates_of_row(row), &counts, center, target);
        })
    }

    /// The residuals of the model without slopes, w (x − m)/√(m (1 − m)): led by rates in between.
    pub(super) fn of_residuals(problem: &Problem, center: Center) -> Self {
        Self::by_row(problem, |row, target| {
            let (rates, weights) = (problem.rates_of_row(row), problem.weights_of_row(row));
            let mean = match center {
                Center::Intercept => dot(rates, weights) / weights.iter().sum::<f64>(),
                Center::Projection => 0.5,
            };
            let scale = 1.0 / (mean * (1.0 - mean)).sqrt();
            for ((target, rate), weight) in target.iter_mut().zip(rates).zip(weights) {
                *target = weight * (rate - mean) * scale;
            }
        })
    }

    fn by_row(problem: &Problem, mut write: impl FnMut(usize, &mut [f64])) -> Self {
        let width = problem.width();
        let mut cells = vec![0.0; problem.rows() * width];
        for (row, target) in cells.chunks_exact_mut(width).enumerate() {
            write(row, target);
        }
        Self { width, cells }
    }

    fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.cells.chunks_exact(self.width)
    }

    /// The leading singular vectors, as many as there are up to `count`.
    pub(super) fn leading(&self, count: usize) -> Vec<Vec<f64>> {
        let mut found = Vec::new();
        while found.len() < count {
            let Some(direction) = self.leading_beside(&found) else { break };
            found.push(direction);
        }
        found
    }

    /// The leading direction at right angles to those known, by the power method.
    fn leading_beside(&self, known: &[Vec<f64>]) -> Option<Vec<f64>> {
        let mut direction = self.longest_row_beside(known)?;
        for _ in 0..MOST_ITERATIONS {
            let mut next = vec![0.0; self.width];
            for row in self.rows() {
                add(&mut next, dot(row, &direction), row);
            }
            remove(&mut next, known);
            if !to_unit_length(&mut next) {
                break;
            }
            let change: f64 = next.iter().zip(&direction).map(|(a, b)| (a - b) * (a - b)).sum();
            direction = next;
            if change < SETTLED {
                break;
            }
        }
        Some(direction)
    }

    fn longest_row_beside(&self, known: &[Vec<f64>]) -> Option<Vec<f64>> {
        let beside = self.rows().map(|row| {
            let mut row = row.to_vec();
            remove(&mut row, known);
            row
        });
        let mut longest = beside.max_by(|a, b| dot(a, a).total_cmp(&dot(b, b)))?;
        (dot(&longest, &longest) > ROUNDING * self.width as f64 && to_unit_length(&mut longest)).then_some(longest)
    }

    /// A sum of all rows, brought to one length, with random factors: others for every number.
    pub(super) fn mixture(&self, number: u64) -> Option<Vec<f64>> {
        let mut sum = vec![0.0; self.width];
        for (index, row) in self.rows().enumerate() {
            let length = dot(row, row).sqrt();
            if length > 0.0 {
                add(&mut sum, random_factor(number << 32 | index as u64) / length, row);
            }
        }
        to_unit_length(&mut sum).then_some(sum)
    }
}

/// The rows that go with a direction, by least squares on the logits.
pub(super) fn factors_along(
    problem: &Problem,
    center: Center,
    direction: &[f64],
    workers: &Workers<'_>,
) -> Result<Factors> {
    let units = problem.units();
    let counts = problem.columns_that_count();
    let parts = workers.map(units.len(), |unit| {
        let mut logits = vec![0.0; problem.width()];
        let row = |row| {
            let intercept = centred_logits(problem.rates_of_row(row), &counts, center, &mut logits);
            Row { intercept, slope: dot(&logits, direction) }
        };
        Ok(units[unit].clone().map(row).collect::<Vec<_>>())
    })?;
    Ok(Factors { rows: parts.into_iter().flatten().collect(), scores: direction.to_vec() })
}

/// Writes the logits of a row and returns the mean that was subtracted. Rates of exactly 0 or 1 count as nearly so.
fn centred_logits(rates: &[f64], counts: &[bool], center: Center, target: &mut [f64]) -> f64 {
    const NEAREST: f64 = 1e-6;
    let mut sum = 0.0;
    for ((target, rate), _) in target.iter_mut().zip(rates).zip(counts).filter(|(_, counts)| **counts) {
        let rate = rate.clamp(NEAREST, 1.0 - NEAREST);
        *target = (rate / (1.0 - rate)).ln();
        sum += *target;
    }
    if center == Center::Projection {
        return 0.0;
    }
    let mean = sum / counts.iter().filter(|counts| **counts).count() as f64;
    target.iter_mut().zip(counts).filter(|(_, counts)| **counts).for_each(|(target, _)| *target -= mean);
    mean
}

/// Between −1 and 1, as though at random (the mixing function of SplitMix64).
fn random_factor(number: u64) -> f64 {
    let mut bits = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

fn add(sum: &mut [f64], factor: f64, row: &[f64]) {
    sum.iter_mut().zip(row).for_each(|(sum, cell)| *sum += factor * cell);
}

/// Takes away what lies along some directions at right angles to each other.
fn remove(vector: &mut [f64], known: &[Vec<f64>]) {
    for direction in known {
        let length = dot(vector, direction);
        add(vector, -length, direction);
    }
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    for (a, b) in a.as_chunks().0.iter().zip(b.as_chunks().0) {
        let (a, b): (&[f64; LANES], &[f64; LANES]) = (a, b);
        lanes.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += a * b);
    }
    lanes.iter().sum()
}

/// False if the length is zero.
pub(super) fn to_unit_length(vector: &mut [f64]) -> bool {
    let length = dot(vector, vector).sqrt();
    if length > 0.0 {
        for entry in vector.iter_mut() {
            *entry /= length;
        }
    }
    length > 0.0
}
