//! From components to variances: the sums of squares and products of the first-order formula.
//!
//! With φ_i = (w_i/W_k)(T(i) − T̄_k) for row i of class k, rows that are independent have Cov = Σ_k n_k/(n_k−1) Σ_{i∈k}
//! φ_i φ′_i, and rows in G groups have Cov = G/(G−1) Σ_g (Σ_{i∈g} φ_i)(Σ_{i∈g} φ′_i). Random class sizes add
//! (w_i/W)(g_k − ḡ) to what row i contributes, g_k being the slope of θ in the prevalence of class k.

use std::ops::Range;

use super::design::{Design, Groups};
use super::statistic::{Estimate, Statistic, components_of};
use crate::error::Result;
use crate::parallel::Workers;

/// Rows per task where floats are summed: a fixed number, so that sums have the same bits on any number of threads.
pub(crate) const CHUNK: usize = 1 << 14;

/// Components of the rows of one class, a column per statistic.
pub(crate) struct Segment<'v> {
    pub class: usize,
    pub columns: &'v [&'v [f64]],
}

/// How sums over the rows of a class are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Summation {
    /// Row by row: the sums of a statistic have the same bits whatever others are listed.
    Listed,
    /// Of a single column, in lanes that do not wait for each other: much faster.
    Single,
}

impl Segment<'_> {
    fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.len())
    }
}

/// Statistics with their variances and covariances.
#[derive(Debug, Clone, PartialEq)]
pub struct Moments {
    /// Each statistic with its variance.
    pub estimates: Vec<Estimate>,
    /// Of the statistics, row by row.
    pub covariance: Vec<f64>,
}

/// The variances and covariances of statistics of the same rows.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub fn moments(design: &Design, statistics: &[Statistic], workers: &Workers<'_>) -> Result<Moments> {
    let present = design.rows.present();
    let columns: Vec<Vec<&[f64]>> = present.iter().map(|&class| components_of(design, statistics, class)).collect();
    let segments: Vec<Segment<'_>> =
        present.iter().zip(&columns).map(|(&class, columns)| Segment { class, columns }).collect();
    let slopes: Vec<&[f64]> = statistics.iter().map(|statistic| &statistic.slopes[..]).collect();
    let sums = squares_and_products(design, &segments, Some(&slopes), Summation::Listed, workers)?;
    let estimate = |(column, statistic): (usize, &Statistic)| sums.estimate(design, &segments, column, statistic.value);
    let estimates = statistics.iter().enumerate().map(estimate).collect();
    Ok(Moments { estimates, covariance: sums.covariance })
}

/// One value with its variance, from the components of some classes.
pub(crate) fn estimate_one(
    design: &Design,
    segments: &[Segment<'_>],
    slopes: &[f64],
    value: f64,
    workers: &Workers<'_>,
) -> Result<Estimate> {
    let sums = squares_and_products(design, segments, Some(&[slopes]), Summation::Single, workers)?;
    Ok(sums.estimate(design, segments, 0, value))
}

/// The variance of the share of two classes, from their placements; class sizes count as fixed.
pub(crate) fn pair_variance(
    design: &Design,
    classes: [usize; 2],
    placements: [&[f64]; 2],
    workers: &Workers<'_>,
) -> Result<f64> {
    let [first, second] = classes;
    let segments =
        [Segment { class: first, columns: &placements[..1] }, Segment { class: second, columns: &placements[1..] }];
    Ok(squares_and_products(design, &segments, None, Summation::Single, workers)?.variance(0))
}

/// The sums behind variances.
struct Sums {
    /// Columns × columns.
    covariance: Vec<f64>,
    /// Degrees of freedom of each variance (Satterthwaite).
    degrees_of_freedom: Vec<f64>,
    /// The variance terms of each class, one row of columns per class of the segments.
    class_terms: Vec<f64>,
}

impl Sums {
    fn variance(&self, column: usize) -> f64 {
        self.covariance[column * self.degrees_of_freedom.len() + column]
    }

    fn estimate(&self, design: &Design, segments: &[Segment<'_>], column: usize, value: f64) -> Estimate {
        let terms = self.class_terms.iter().skip(column).step_by(self.degrees_of_freedom.len());
        let plug_in = terms.zip(segments).map(|(term, segment)| {
            let rows = design.rows.count(segment.class) as f64;
            term * (rows - 1.0) / rows
        });
        Estimate {
            value,
            variance: self.variance(column),
            degrees_of_freedom: self.degrees_of_freedom[column],
            plug_in: plug_in.sum(),
        }
    }
}

/// The sums of statistics whose components are in `segments`. `slopes[column][class]` are the slopes in the
/// prevalences; they count where class sizes are random.
fn squares_and_products(
    design: &Design,
    segments: &[Segment<'_>],
    slopes: Option<&[&[f64]]>,
    summation: Summation,
    workers: &Workers<'_>,
) -> Result<Sums> {
    let columns = segments.first().map_or(0, |segment| segment.columns.len());
    let means =
        segments.iter().map(|segment| means(design, segment, summation, workers)).collect::<Result<Vec<_>>>()?;
    let slopes = slopes.filter(|_| design.is_iid).map(|slopes| centred_slopes(design, segments, slopes));
    if let Some(groups) = &design.groups {
        return Ok(grouped(design, groups, segments, &means, slopes.as_deref()));
    }
    let mut sums = Sums {
        covariance: vec![0.0; columns * columns],
        degrees_of_freedom: vec![0.0; columns],
        class_terms: Vec::with_capacity(segments.len() * columns),
    };
    for (segment, mean) in segments.iter().zip(&means) {
        let (products, squared_weights) = products(design, segment, mean, summation, workers)?;
        let rows = design.rows.count(segment.class) as f64;
        let correction = if rows > 1.0 { rows / (rows - 1.0) } else { f64::NAN };
        for (entry, product) in sums.covariance.iter_mut().zip(&products) {
            *entry += correction * product;
        }
        for column in 0..columns {
            let term = correction * products[column * columns + column];
            sums.class_terms.push(term);
            sums.degrees_of_freedom[column] += term * term / (rows - 1.0);
        }
        if let Some(slopes) = &slopes {
            let prevalence = design.rows.weight(segment.class) / design.rows.total_weight();
            for first in 0..columns {
                for second in 0..columns {
                    let product = slopes[first][segment.class] * slopes[second][segment.class];
                    sums.covariance[first * columns + second] += product * squared_weights * prevalence * prevalence;
                }
            }
        }
    }
    let rows: u64 = segments.iter().map(|segment| design.rows.count(segment.class)).sum();
    for column in 0..columns {
        let variance = sums.variance(column);
        let within: f64 = sums.class_terms.iter().skip(column).step_by(columns).sum();
        let between = variance - within;
        sums.degrees_of_freedom[column] =
            variance * variance / (sums.degrees_of_freedom[column] + between * between / (rows - 1) as f64);
    }
    Ok(sums)
}

/// T̄_k of every column. Sums are taken of what components differ from the first one's, so that rows which all contribute
/// the same have exactly that as their mean, and a variance of exactly zero.
pub(super) fn means(
    design: &Design,
    segment: &Segment<'_>,
    summation: Summation,
    workers: &Workers<'_>,
) -> Result<Vec<f64>> {
    let (weights, total) = (design.rows.weights_of(segment.class), design.rows.weight(segment.class));
    if let ([only], None, Summation::Single) = (segment.columns, weights, summation) {
        let sums = workers.map(only.len().div_ceil(CHUNK), |chunk| {
            Ok(vec![lane_sum(&only[rows_of_chunk(segment, chunk)], |value| value - only[0])])
        })?;
        return Ok(vec![only[0] + folded(sums, 1)[0] / total]);
    }
    let columns = segment.columns.len();
    let parts = workers.map(segment.rows().div_ceil(CHUNK), |chunk| {
        let mut sums = vec![0.0; columns];
        for row in rows_of_chunk(segment, chunk) {
            let weight = weights.map_or(1.0, |weights| weights[row]);
            sums.iter_mut().zip(segment.columns).for_each(|(sum, column)| *sum += weight * (column[row] - column[0]));
        }
        Ok(sums)
    })?;
    let sums = folded(parts, columns);
    Ok(segment.columns.iter().zip(sums).map(|(column, sum)| column[0] + sum / total).collect())
}

/// Σ (w/W_k)² (T − T̄)(T′ − T̄′) of every two columns, and Σ (w/W_k)².
fn products(
    design: &Design,
    segment: &Segment<'_>,
    means: &[f64],
    summation: Summation,
    workers: &Workers<'_>,
) -> Result<(Vec<f64>, f64)> {
    let (weights, total) = (design.rows.weights_of(segment.class), design.rows.weight(segment.class));
    if let ([only], None, Summation::Single) = (segment.columns, weights, summation) {
        let sums = workers.map(only.len().div_ceil(CHUNK), |chunk| {
            let values = &only[rows_of_chunk(segment, chunk)];
            Ok(vec![lane_sum(values, |value| (value - means[0]) * (value - means[0]))])
        })?;
        return Ok((vec![folded(sums, 1)[0] / (total * total)], 1.0 / total));
    }
    let columns = segment.columns.len();
    let parts = workers.map(segment.rows().div_ceil(CHUNK), |chunk| {
        let mut sums = vec![0.0; columns * columns + 1];
        let mut centred = vec![0.0; columns];
        for row in rows_of_chunk(segment, chunk) {
            let weight = weights.map_or(1.0, |weights| weights[row]) / total;
            for ((entry, column), mean) in centred.iter_mut().zip(segment.columns).zip(means) {
                *entry = weight * (column[row] - mean);
            }
            for first in 0..columns {
                for second in first..columns {
                    sums[first * columns + second] += centred[first] * centred[second];
                }
            }
            sums[columns * columns] += weight * weight;
        }
        Ok(sums)
    })?;
    let mut sums = folded(parts, columns * columns + 1);
    let squared_weights = sums.pop().unwrap_or(0.0);
    mirror(&mut sums, columns);
    Ok((sums, squared_weights))
}

/// Rows in groups: what the rows of a group contribute is summed before it is squared.
fn grouped(
    design: &Design,
    groups: &Groups,
    segments: &[Segment<'_>],
    means: &[Vec<f64>],
    slopes: Option<&[Vec<f64>]>,
) -> Sums {
    let columns = means.first().map_or(0, Vec::len);
    let mut class_terms = Vec::with_capacity(segments.len() * columns);
    let mut uncertainty = vec![0.0; columns];
    // The sums that each class adds to each of its groups, and where those of each group begin, by its name.
    let (mut sums, mut entries) = (Vec::new(), Vec::new());
    for (segment, means) in segments.iter().zip(means) {
        let of_class = group_sums(design, groups, segment, means, slopes);
        let units = of_class.len() as f64 / columns as f64;
        let correction = if units > 1.0 { units / (units - 1.0) } else { f64::NAN };
        for (column, uncertainty) in uncertainty.iter_mut().enumerate() {
            let squares: f64 = of_class.iter().skip(column).step_by(columns).map(|sum| sum * sum).sum();
            let term = correction * squares;
            *uncertainty += term * term / (units - 1.0);
            class_terms.push(term);
        }
        let names = groups.of_class[segment.class].names.iter().copied();
        entries.extend(names.zip((sums.len()..).step_by(columns)));
        sums.extend(of_class);
    }
    // Sorted runs, one per class: a stable sort merges them.
    entries.sort_by_key(|&(name, _): &(u32, usize)| name);
    let mut covariance = vec![0.0; columns * columns];
    let mut units = 0.0;
    let mut totals = vec![0.0; columns];
    for group in entries.chunk_by(|a, b| a.0 == b.0) {
        units += 1.0;
        for (column, total) in totals.iter_mut().enumerate() {
            *total = group.iter().map(|&(_, start)| sums[start + column]).sum();
        }
        for first in 0..columns {
            for second in first..columns {
                covariance[first * columns + second] += totals[first] * totals[second];
            }
        }
    }
    // A class whose rows are all in one group does not show how much it varies.
    let is_known = class_terms.iter().all(|term| !term.is_nan());
    let correction = if units > 1.0 && is_known { units / (units - 1.0) } else { f64::NAN };
    for entry in &mut covariance {
        *entry *= correction;
    }
    mirror(&mut covariance, columns);
    let degrees_of_freedom = (0..columns).map(|column| {
        let within: f64 = class_terms.iter().skip(column).step_by(columns).sum();
        (within * within / uncertainty[column]).min(units - 1.0)
    });
    Sums { covariance, degrees_of_freedom: degrees_of_freedom.collect(), class_terms }
}

/// Σ φ_i over the rows of a class in each of its groups, a row of columns per group.
fn group_sums(
    design: &Design,
    groups: &Groups,
    segment: &Segment<'_>,
    means: &[f64],
    slopes: Option<&[Vec<f64>]>,
) -> Vec<f64> {
    let columns = means.len();
    let weights = design.rows.weights_of(segment.class);
    let (total, all_weight) = (design.rows.weight(segment.class), design.rows.total_weight());
    let of_class = &groups.of_class[segment.class];
    let mut sums = vec![0.0; of_class.names.len() * columns];
    for (row, &group) in of_class.of_rows.iter().enumerate() {
        let weight = weights.map_or(1.0, |weights| weights[row]);
        let sums = &mut sums[group as usize * columns..][..columns];
        for (column, sum) in sums.iter_mut().enumerate() {
            *sum += weight / total * (segment.columns[column][row] - means[column]);
            if let Some(slopes) = slopes {
                *sum += weight / all_weight * slopes[column][segment.class];
            }
        }
    }
    sums
}

/// g − ḡ over the classes of the segments.
fn centred_slopes(design: &Design, segments: &[Segment<'_>], slopes: &[&[f64]]) -> Vec<Vec<f64>> {
    let total: f64 = segments.iter().map(|segment| design.rows.weight(segment.class)).sum();
    slopes
        .iter()
        .map(|slopes| {
            let weighted = segments.iter().map(|segment| design.rows.weight(segment.class) * slopes[segment.class]);
            let mean = weighted.sum::<f64>() / total;
            slopes.iter().map(|slope| slope - mean).collect()
        })
        .collect()
}

fn rows_of_chunk(segment: &Segment<'_>, chunk: usize) -> Range<usize> {
    chunk * CHUNK..segment.rows().min((chunk + 1) * CHUNK)
}

/// Σ term(value), in eight running sums that do not wait for each other.
fn lane_sum(values: &[f64], term: impl Fn(f64) -> f64) -> f64 {
    let (blocks, rest) = values.as_chunks::<8>();
    let mut lanes = [0.0; 8];
    for block in blocks {
        for (lane, &value) in lanes.iter_mut().zip(block) {
            *lane += term(value);
        }
    }
    lanes.iter().sum::<f64>() + rest.iter().map(|&value| term(value)).sum::<f64>()
}

fn folded(parts: Vec<Vec<f64>>, length: usize) -> Vec<f64> {
    parts.into_iter().fold(vec![0.0; length], |mut sums, part| {
        sums.iter_mut().zip(part).for_each(|(sum, entry)| *sum += entry);
        sums
    })
}

fn mirror(matrix: &mut [f64], size: usize) {
    for first in 0..size {
        for second in 0..first {
            matrix[first * size + second] = matrix[second * size + first];
        }
    }
}
