//! A statistic: a value, and what every row contributes to it.

use std::ops::Deref;
use std::sync::Arc;

use super::design::Design;
use super::unit_sums::{CHUNK, Segment, means, spread_of};
use super::worst_case::WorstCase;
use crate::error::Result;
use crate::float::Float;
use crate::metric::Metric;
use crate::parallel::Workers;

/// A number that is, to first order, a sum of means over classes: θ − E θ ≈ Σ_k mean over class k of (T(i) − E T).
#[derive(Debug, Clone)]
pub struct Statistic {
    /// Which metric it is.
    pub id: Metric,
    /// Its value.
    pub value: f64,
    /// T(i) by position in the design's order of rows; statistics that rank alike share them.
    pub(crate) components: Components,
    /// Slopes of the value in the prevalences, by class; zero where it does not depend on them.
    pub(crate) slopes: Vec<f64>,
    /// What uninformative scores would make of T in each class, where that is known.
    pub(crate) chances: Option<Vec<f64>>,
    /// The worst case, where it is known and the chances are not.
    pub(crate) worst: Option<WorstCase>,
}

/// Components of rows, whose memory is kept for the next computation.
#[derive(Debug, Clone)]
pub(crate) struct Components(Arc<Kept>);

#[derive(Debug)]
struct Kept(Vec<f64>);

impl From<Vec<f64>> for Components {
    fn from(components: Vec<f64>) -> Self {
        Self(Arc::new(Kept(components)))
    }
}

impl Deref for Components {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        &self.0.0
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        f64::spare().give(std::mem::take(&mut self.0));
    }
}

/// A value with its variance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// Its first-order variance.
    pub variance: f64,
    /// Degrees of freedom of the variance.
    pub degrees_of_freedom: f64,
    /// The variance with sums of squares over n_k² instead of n_k(n_k−1): the main term of the bootstrap's.
    pub plug_in: f64,
    /// The same as though every class had one more row, of which nothing is known.
    pub cautious: Option<Cautious>,
    /// How much it could vary at worst; of differences it is not known.
    pub worst: Option<WorstCase>,
}

/// An estimate from rows to which one is added in each class, ranked by chance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cautious {
    /// The value.
    pub value: f64,
    /// Its first-order variance.
    pub variance: f64,
    /// Degrees of freedom of the variance.
    pub degrees_of_freedom: f64,
}

impl Estimate {
    /// NaN throughout: for a class without rows.
    pub(crate) const MISSING: Self = Self {
        value: f64::NAN,
        variance: f64::NAN,
        degrees_of_freedom: f64::NAN,
        plug_in: f64::NAN,
        cautious: None,
        worst: None,
    };
}

/// Values of consecutive positions to add to the components of statistics, with a coefficient for each statistic.
pub(crate) struct Contribution<'v> {
    pub start: usize,
    pub values: &'v [f64],
    pub coefficients: Vec<f64>,
}

/// Adds contributions to the components of some statistics. At each position they are added in the order they are
/// listed, on any number of threads.
pub(crate) fn add(
    components: &mut [Vec<f64>],
    contributions: &[Contribution<'_>],
    workers: &Workers<'_>,
) -> Result<()> {
    let positions = components.first().map_or(0, Vec::len);
    let mut chunks: Vec<Vec<&mut [f64]>> = (0..positions.div_ceil(CHUNK)).map(|_| Vec::new()).collect();
    for of_statistic in components {
        chunks.iter_mut().zip(of_statistic.chunks_mut(CHUNK)).for_each(|(chunk, part)| chunk.push(part));
    }
    workers.map_chunks(&mut chunks, 1, |chunk, parts| {
        let first = chunk * CHUNK;
        let last = (first + CHUNK).min(positions);
        for contribution in contributions {
            let start = contribution.start.max(first);
            let end = (contribution.start + contribution.values.len()).min(last);
            if start >= end {
                continue;
            }
            let values = &contribution.values[start - contribution.start..end - contribution.start];
            for (part, &coefficient) in parts[0].iter_mut().zip(&contribution.coefficients) {
                if coefficient != 0.0 {
                    let entries = part[start - first..end - first].iter_mut();
                    entries.zip(values).for_each(|(entry, value)| *entry += coefficient * value);
                }
            }
        }
        Ok(())
    })?;
    Ok(())
}

/// u_i = (w_i/W_k)(T(i) − T̄_k) of each row of the sample, an entry per statistic: what a row contributes to the error of
/// the estimate. Random class sizes add (w_i/W)(g_k − ḡ), g being the slopes. Zero for rows of weight zero.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub fn influences(design: &Design, statistics: &[Statistic], workers: &Workers<'_>) -> Result<Vec<f64>> {
    influences_of(design, statistics, |_| (1.0, 1.0), workers)
}

/// ψ_i = (w_i/W_k)(√c_k (T(i) − T̄_k) + π_k (g_k − ḡ)) of each row of the sample: the terms whose squares, summed over
/// independent units, are the variance; products of those of two statistics are their covariance.
pub(crate) fn variance_terms(design: &Design, statistic: &Statistic, workers: &Workers<'_>) -> Result<Vec<f64>> {
    let whole = design.whole_spread(statistic.id);
    let spreads =
        |class: usize| whole.map_or_else(|| (spread_of(design.effective[class]), 1.0), |whole| (whole, whole));
    influences_of(design, std::slice::from_ref(statistic), spreads, workers)
}

fn influences_of(
    design: &Design,
    statistics: &[Statistic],
    spreads: impl Fn(usize) -> (f64, f64),
    workers: &Workers<'_>,
) -> Result<Vec<f64>> {
    let rows = &design.rows;
    let mut influences = vec![0.0; design.sample_rows * statistics.len()];
    let slopes: Vec<&[f64]> = statistics.iter().map(|statistic| &statistic.slopes[..]).collect();
    let shifts = design.shifts(rows.present(), &design.class_weights(rows.present()), &slopes);
    for (&class, shifts) in rows.present().iter().zip(&shifts) {
        let columns = components_of(design, statistics, class);
        let means = means(design, &Segment { class, columns: &columns }, workers)?;
        let (weights, total) = (rows.weights_of(class), rows.weight(class));
        let (spread, of_shift) = spreads(class);
        for (index, &row) in rows.of(class).iter().enumerate() {
            let weight = weights.map_or(1.0, |weights| weights[index]) / total;
            let entries = &mut influences[row as usize * statistics.len()..][..statistics.len()];
            for (column, entry) in entries.iter_mut().enumerate() {
                *entry = weight * (spread * (columns[column][index] - means[column]) + of_shift * shifts[column]);
            }
        }
    }
    Ok(influences)
}

/// The components of a class, statistic after statistic.
pub(super) fn components_of<'s>(design: &Design, statistics: &'s [Statistic], class: usize) -> Vec<&'s [f64]> {
    statistics.iter().map(|statistic| &statistic.components[design.rows.range(class)]).collect()
}
