//! Where the fit starts: the leading singular vector of the logits.

use super::kernel::Row;
use super::problem::Problem;
use super::{Center, Factors};
use crate::error::Result;
use crate::parallel::Workers;

/// Iterations of the power method. The start need not be exact: the fit goes on from it.
const MOST_ITERATIONS: usize = 30;
/// Squared change of the unit vector at which the power method stops.
const SETTLED: f64 = 1e-8;

/// Logits of a unit of rows, less their mean where the model has an intercept.
struct Logits {
    means: Vec<f64>,
    centred: Vec<f64>,
}

/// Factors from the logits: row means and the best rank-one approximation of the rest.
pub(super) fn from_logits(problem: &Problem, center: Center, workers: &Workers<'_>) -> Result<Factors> {
    let units = problem.units();
    let width = problem.width();
    let counts: Vec<bool> = (0..problem.pairs()).map(|column| problem.column_counts(column)).collect();
    let logits = workers.map(units.len(), |unit| {
        let mut logits = Logits { means: Vec::new(), centred: vec![0.0; units[unit].len() * width] };
        for (target, row) in logits.centred.chunks_exact_mut(width).zip(units[unit].clone()) {
            logits.means.push(centred_logits(problem.rates_of_row(row), &counts, center, target));
        }
        Ok(logits)
    })?;

    let Some(mut scores) = longest_row(&logits, width) else {
        let rows = logits.iter().flat_map(|unit| &unit.means).map(|&intercept| Row { intercept, slope: 0.0 });
        return Ok(Factors { rows: rows.collect(), scores: vec![0.0; width] });
    };
    for _ in 0..MOST_ITERATIONS {
        let parts = workers.map(units.len(), |unit| {
            let mut image = vec![0.0; width];
            for row in logits[unit].centred.chunks_exact(width) {
                let slope = dot(row, &scores);
                image.iter_mut().zip(row).for_each(|(sum, cell)| *sum += slope * cell);
            }
            Ok(image)
        })?;
        let mut next = vec![0.0; width];
        for part in parts {
            next.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        }
        if !to_unit_length(&mut next) {
            break;
        }
        let change: f64 = next.iter().zip(&scores).map(|(a, b)| (a - b) * (a - b)).sum();
        scores = next;
        if change < SETTLED {
            break;
        }
    }
    let rows = logits.iter().flat_map(|unit| unit.means.iter().zip(unit.centred.chunks_exact(width)));
    let rows = rows.map(|(&intercept, row)| Row { intercept, slope: dot(row, &scores) }).collect();
    Ok(Factors { rows, scores })
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

/// The direction of the row farthest from zero; `None` if all are zero up to rounding.
fn longest_row(logits: &[Logits], width: usize) -> Option<Vec<f64>> {
    const ROUNDING: f64 = 1e-20;
    let rows = logits.iter().flat_map(|unit| unit.centred.chunks_exact(width));
    let longest = rows.max_by(|a, b| dot(a, a).total_cmp(&dot(b, b)))?;
    let mut scores = longest.to_vec();
    (dot(longest, longest) > ROUNDING * width as f64 && to_unit_length(&mut scores)).then_some(scores)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; super::kernel::LANES];
    for (a, b) in a.as_chunks().0.iter().zip(b.as_chunks().0) {
        let (a, b): (&[f64; super::kernel::LANES], &[f64; super::kernel::LANES]) = (a, b);
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
