//! The volume of Ferri, Hernández-Orallo and Salido (2003): of all confusions that a classifier could have, the share that
//! some mixture of given classifiers is no worse than.
//!
//! A crisp classifier is a point of Ω, the rates at which rows of class i are taken for class j, for all i ≠ j. A point is
//! covered if a convex combination of the given ones lies nowhere above it. Points are drawn uniformly from Ω, and each is
//! decided by a linear programme.

use crate::error::Result;
use crate::float::Score;
use crate::parallel::Workers;
use crate::random::Stream;
use crate::sample::ScoredSample;

/// The share of Ω that is covered, and the standard error of drawing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CoveredShare {
    /// The share.
    pub share: f64,
    /// Its standard error; never 0.
    pub monte_carlo_error: f64,
}

/// Confusion rates (K × K, a row for each true class) of the classifiers that add offsets to the scores and take the
/// largest: none at all, then one for each K − 1 `levels`. A level is the quantile, all classes counting alike, of the
/// differences between the score of a class and that of the last one that its offset brings to the boundary.
///
/// Weights do not count; K is the number of classes that have rows.
#[must_use]
pub fn offset_rates<T: Score>(sample: &ScoredSample<'_, T>, levels: &[f64]) -> Vec<f64> {
    let present: Vec<usize> = sample.present_classes().collect();
    let of_row = |row: usize| present.iter().map(move |&class| sample.scores.get(row, class).into());
    let scores: Vec<f64> = (0..sample.rows()).flat_map(of_row).collect();
    let place = |row: usize| present.partition_point(|&class| class < sample.codes.get(row)) as u32;
    let (classes, codes): (usize, Vec<u32>) = (present.len(), (0..sample.rows()).map(place).collect());
    let mut sizes = vec![0.0; classes];
    for &code in &codes {
        sizes[code as usize] += 1.0;
    }
    let quantiles = |column: usize| {
        let difference = |row: usize| scores[row * classes + column] - scores[row * classes + classes - 1];
        let mut order: Vec<(f64, f64)> =
            codes.iter().enumerate().map(|(row, &code)| (difference(row), 1.0 / sizes[code as usize])).collect();
        order.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut sum = 0.0;
        for (_, share) in &mut order {
            sum += *share;
            *share = sum;
        }
        order
    };
    let columns: Vec<Vec<(f64, f64)>> = (0..classes - 1).map(quantiles).collect();
    let mut offsets = vec![vec![0.0; classes]];
    for of_classifier in levels.chunks_exact(classes - 1) {
        let offset = |(order, level): (&Vec<(f64, f64)>, &f64)| {
            let wanted = level * order[order.len() - 1].1;
            let place = order.partition_point(|&(_, sum)| sum < wanted).min(order.len() - 1);
            -order[place].0
        };
        offsets.push(columns.iter().zip(of_classifier).map(offset).chain([0.0]).collect());
    }
    let mut rates = Vec::with_capacity(offsets.len() * classes * classes);
    for offset in offsets {
        let mut counts = vec![0.0; classes * classes];
        for (row, &code) in codes.iter().enumerate() {
            let score = |class: usize| scores[row * classes + class] + offset[class];
            let highest = (1..classes).fold(0, |best, class| if score(class) > score(best) { class } else { best });
            counts[code as usize * classes + highest] += 1.0;
        }
        rates.extend(counts.iter().enumerate().map(|(entry, count)| count / sizes[entry / classes]));
    }
    rates
}

/// Draws points of Ω until the standard error of the share is at most `precision`. `rates` has K(K−1) rates of every
/// classifier: class by class, what its rows are taken for, their own class left out. Classifiers that always answer the
/// same are among them only if they are given.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
///
/// # Panics
/// If `rates` is not a multiple of K(K−1) numbers.
pub fn covered_share(
    rates: &[f64],
    classes: usize,
    precision: f64,
    seed: u64,
    workers: &Workers<'_>,
) -> Result<CoveredShare> {
    const BLOCK: usize = 512;
    const BLOCKS: u32 = 16;
    let dimensions = classes * (classes - 1);
    assert!(dimensions > 0 && rates.len().is_multiple_of(dimensions), "K(K-1) rates of each classifier");
    let (mut covered, mut drawn) = (0_usize, 0_usize);
    for first in (0..).step_by(BLOCKS as usize) {
        let found = workers.map_with(
            BLOCKS as usize,
            || Programme::new(rates, dimensions),
            |programme, block| {
                let mut stream = Stream::new(seed, first + block as u32, 0);
                let mut point = vec![0.0; dimensions];
                let mut covered = 0;
                for _ in 0..BLOCK {
                    workers.check()?;
                    draw_point(&mut stream, classes, &mut point);
                    covered += usize::from(programme.covers(&point));
                }
                Ok(covered)
            },
        )?;
        covered += found.into_iter().sum::<usize>();
        drawn += BLOCK * BLOCKS as usize;
        let share = covered as f64 / drawn as f64;
        let error = (share * (1.0 - share) / drawn as f64).sqrt().max((drawn as f64).recip());
        if error <= precision {
            return Ok(CoveredShare { share, monte_carlo_error: error });
        }
    }
    unreachable!("the error falls below any precision")
}

/// Uniform rates of every class: exponential numbers divided by their sum, that of the class itself left out.
fn draw_point(stream: &mut Stream, classes: usize, point: &mut [f64]) {
    for row in point.chunks_exact_mut(classes - 1) {
        let mut sum = -stream.unit().ln();
        for rate in row.iter_mut() {
            *rate = -stream.unit().ln();
            sum += *rate;
        }
        for rate in row {
            *rate /= sum;
        }
    }
}

/// Whether a mixture of points lies nowhere above a given one: whether the matrix game with the entries v_i − y_i has a
/// value of at most 0. With 2 added, all entries are positive and the value is 1/max Σz for Bz ≤ 1, z ≥ 0 (simplex method
/// from z = 0), which need not be driven beyond a sum of 1/2.
struct Programme<'r> {
    rates: &'r [f64],
    dimensions: usize,
    /// Rows of the table: a constraint each, the last the objective; columns: a variable each, the last the right side.
    table: Vec<f64>,
}

impl<'r> Programme<'r> {
    fn new(rates: &'r [f64], dimensions: usize) -> Self {
        Self { rates, dimensions, table: Vec::new() }
    }

    fn covers(&mut self, point: &[f64]) -> bool {
        const SHIFT: f64 = 2.0;
        const TOLERANCE: f64 = 1e-11;
        let (rows, variables) = (self.dimensions, self.rates.len() / self.dimensions);
        if self.rates.chunks_exact(rows).any(|rates| rates.iter().zip(point).all(|(rate, limit)| rate <= limit)) {
            return true;
        }
        let width = variables + 1;
        self.table.clear();
        self.table.resize((rows + 1) * width, 0.0);
        for (variable, rates) in self.rates.chunks_exact(rows).enumerate() {
            for (row, (rate, limit)) in rates.iter().zip(point).enumerate() {
                self.table[row * width + variable] = rate - limit + SHIFT;
            }
            self.table[rows * width + variable] = -1.0;
        }
        (0..rows).for_each(|row| self.table[row * width + variables] = 1.0);
        // A pivot exchanges the variable of a column with that of a row, so that slack variables need no columns.
        let most_steps = 50 * (rows + variables);
        for step in 0..most_steps {
            let objective = &self.table[rows * width..];
            if objective[variables] >= SHIFT.recip() {
                return true;
            }
            // The steepest column; towards the end the first, which cannot go round in circles.
            let falling = (0..variables).filter(|&column| objective[column] < -TOLERANCE);
            let entering = if step < most_steps / 2 {
                falling.min_by(|&a, &b| objective[a].total_cmp(&objective[b]))
            } else {
                falling.into_iter().next()
            };
            let Some(column) = entering else { return false };
            let ratio = |row: usize| self.table[row * width + variables] / self.table[row * width + column];
            let leaving = (0..rows)
                .filter(|&row| self.table[row * width + column] > TOLERANCE)
                .min_by(|&a, &b| ratio(a).total_cmp(&ratio(b)));
            let Some(row) = leaving else { return true };
            self.pivot(row, column, width);
        }
        false
    }

    fn pivot(&mut self, row: usize, column: usize, width: usize) {
        let scale = self.table[row * width + column].recip();
        let mut own: Vec<f64> = self.table[row * width..][..width].iter().map(|entry| entry * scale).collect();
        own[column] = scale;
        for (index, other) in self.table.chunks_exact_mut(width).enumerate() {
            if index == row {
                other.copy_from_slice(&own);
                continue;
            }
            let factor = std::mem::take(&mut other[column]);
            if factor != 0.0 {
                other.iter_mut().zip(&own).for_each(|(entry, own)| *entry -= factor * own);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::Cancel;

    #[test]
    fn two_classes_have_the_area_above_a_roc_curve() {
        // Always the first class, always the second, and one between them: (.2, .3) from the corner.
        let rates = [0.0, 1.0, 1.0, 0.0, 0.2, 0.3];
        let cancel = Cancel::new();
        let found = covered_share(&rates, 2, 2e-3, 1, &Workers::with_threads(1, &cancel)).expect("a share");
        // 1 − the area between the axes and the two sides from (0, 1) to (.2, .3) to (1, 0).
        let expected = 1.0 - (0.2 * (1.0 + 0.3) / 2.0 + 0.8 * 0.3 / 2.0);
        assert!((found.share - expected).abs() < 4.0 * found.monte_carlo_error, "{found:?}");
    }

    #[test]
    fn mixtures_cover_what_no_single_point_does() {
        let rates = [0.0, 1.0, 1.0, 0.0];
        let mut programme = Programme::new(&rates, 2);
        assert!(programme.covers(&[0.5, 0.6]) && !programme.covers(&[0.4, 0.5]));
    }
}
