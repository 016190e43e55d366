//! From components to variances: the sums of squares and products of METHODS' first-order formula.
//!
//! With φ_i = (w_i/W_k)(T(i) − T̄_k) for row i of class k, rows that are independent have
//! Cov = Σ_k n_k/(n_k−1) Σ_{i∈k} φ_i φ′_i, and rows in G groups have Cov = G/(G−1) Σ_g (Σ_{i∈g} φ_i)(Σ_{i∈g} φ′_i).
//! Random class sizes add (w_i/W)(g_k − ḡ) to what row i contributes, g_k being the slope of θ in the share of class k.

use super::layout::{CHUNK, Groups, Layout};
use crate::error::Result;
use crate::parallel::Workers;

/// Components of one class, row after row with M entries each.
pub(super) struct Segment<'v> {
    pub class: usize,
    pub values: &'v [f64],
}

/// Variances and covariances of some statistics.
#[derive(Debug, Clone, PartialEq)]
pub struct Moments {
    /// Columns × columns.
    pub covariance: Vec<f64>,
    /// Degrees of freedom of each variance (Satterthwaite).
    pub freedom: Vec<f64>,
    /// The variance terms of each class, one row of columns per class of the segments.
    pub class_terms: Vec<f64>,
}

impl Moments {
    /// Standing of one column.
    pub(super) fn variance(&self, column: usize) -> f64 {
        let columns = self.freedom.len();
        self.covariance[column * columns + column]
    }
}

/// The moments of statistics whose components are in `segments`, `columns` entries per row. `slopes[column][class]` are the
/// slopes in the classes' shares; they count where class sizes are random.
pub(super) fn moments(
    layout: &Layout,
    segments: &[Segment<'_>],
    columns: usize,
    slopes: Option<&[Vec<f64>]>,
    workers: &Workers<'_>,
) -> Result<Moments> {
    let means = segments.iter().map(|segment| means(layout, segment, columns, workers)).collect::<Result<Vec<_>>>()?;
    let slopes = slopes.filter(|_| layout.is_iid).map(|slopes| centred_slopes(layout, segments, slopes));
    if let Some(groups) = &layout.groups {
        return Ok(grouped(layout, groups, segments, columns, &means, slopes.as_deref()));
    }
    let mut moments = Moments {
        covariance: vec![0.0; columns * columns],
        freedom: vec![0.0; columns],
        class_terms: Vec::with_capacity(segments.len() * columns),
    };
    for (segment, mean) in segments.iter().zip(&means) {
        let (products, squared_weights) = products(layout, segment, mean, columns, workers)?;
        let rows = layout.counts[segment.class] as f64;
        let correction = if rows > 1.0 { rows / (rows - 1.0) } else { f64::NAN };
        for (entry, product) in moments.covariance.iter_mut().zip(&products) {
            *entry += correction * product;
        }
        for column in 0..columns {
            let term = correction * products[column * columns + column];
            moments.class_terms.push(term);
            moments.freedom[column] += term * term / (rows - 1.0);
        }
        if let Some(slopes) = &slopes {
            let share = layout.totals[segment.class] / layout.total();
            for first in 0..columns {
                for second in 0..columns {
                    let product = slopes[first][segment.class] * slopes[second][segment.class];
                    moments.covariance[first * columns + second] += product * squared_weights * share * share;
                }
            }
        }
    }
    let rows: u64 = segments.iter().map(|segment| layout.counts[segment.class]).sum();
    for column in 0..columns {
        let variance = moments.variance(column);
        let within: f64 = moments.class_terms.iter().skip(column).step_by(columns).sum();
        let between = variance - within;
        moments.freedom[column] =
            variance * variance / (moments.freedom[column] + between * between / (rows - 1) as f64);
    }
    Ok(moments)
}

/// T̄_k of every column.
pub(super) fn means(layout: &Layout, segment: &Segment<'_>, columns: usize, workers: &Workers<'_>) -> Result<Vec<f64>> {
    let weights = layout.weights_of(segment.class);
    if columns == 1 && weights.is_none() {
        let sums = workers.map(segment.values.len().div_ceil(CHUNK), |chunk| {
            Ok(vec![lane_sum(chunk_of(segment.values, chunk), |value| value)])
        })?;
        return Ok(vec![folded(sums, 1)[0] / layout.totals[segment.class]]);
    }
    let parts = workers.map((segment.values.len() / columns).div_ceil(CHUNK), |chunk| {
        let mut sums = vec![0.0; columns];
        for (row, values) in rows_of_chunk(segment, columns, chunk) {
            let weight = weights.map_or(1.0, |weights| weights[row]);
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += weight * value);
        }
        Ok(sums)
    })?;
    let mut means = folded(parts, columns);
    for mean in &mut means {
        *mean /= layout.totals[segment.class];
    }
    Ok(means)
}

/// Σ (w/W_k)² (T − T̄)(T′ − T̄′) of every two columns, and Σ (w/W_k)².
fn products(
    layout: &Layout,
    segment: &Segment<'_>,
    means: &[f64],
    columns: usize,
    workers: &Workers<'_>,
) -> Result<(Vec<f64>, f64)> {
    let weights = layout.weights_of(segment.class);
    let total = layout.totals[segment.class];
    if columns == 1 && weights.is_none() {
        let sums = workers.map(segment.values.len().div_ceil(CHUNK), |chunk| {
            Ok(vec![lane_sum(chunk_of(segment.values, chunk), |value| (value - means[0]) * (value - means[0]))])
        })?;
        return Ok((vec![folded(sums, 1)[0] / (total * total)], 1.0 / total));
    }
    let parts = workers.map((segment.values.len() / columns).div_ceil(CHUNK), |chunk| {
        let mut sums = vec![0.0; columns * columns + 1];
        let mut centred = vec![0.0; columns];
        for (row, values) in rows_of_chunk(segment, columns, chunk) {
            let share = weights.map_or(1.0, |weights| weights[row]) / total;
            for ((entry, value), mean) in centred.iter_mut().zip(values).zip(means) {
                *entry = share * (value - mean);
            }
            for first in 0..columns {
                for second in first..columns {
                    sums[first * columns + second] += centred[first] * centred[second];
                }
            }
            sums[columns * columns] += share * share;
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
    layout: &Layout,
    groups: &Groups,
    segments: &[Segment<'_>],
    columns: usize,
    means: &[Vec<f64>],
    slopes: Option<&[Vec<f64>]>,
) -> Moments {
    let mut class_terms = Vec::with_capacity(segments.len() * columns);
    let mut uncertainty = vec![0.0; columns];
    // What each class adds to each of its groups: the sums, and where those of a group by its name begin.
    let (mut sums, mut entries) = (Vec::new(), Vec::new());
    for (segment, means) in segments.iter().zip(means) {
        let of_class = group_sums(layout, groups, segment, means, slopes);
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
    // A class whose rows are all in one group does not say how much it varies.
    let is_known = class_terms.iter().all(|term| !term.is_nan());
    let correction = if units > 1.0 && is_known { units / (units - 1.0) } else { f64::NAN };
    for entry in &mut covariance {
        *entry *= correction;
    }
    mirror(&mut covariance, columns);
    let freedom = (0..columns).map(|column| {
        let within: f64 = class_terms.iter().skip(column).step_by(columns).sum();
        (within * within / uncertainty[column]).min(units - 1.0)
    });
    Moments { covariance, freedom: freedom.collect(), class_terms }
}

/// Σ φ_i over the rows of a class in each of its groups, a row of columns per group.
fn group_sums(
    layout: &Layout,
    groups: &Groups,
    segment: &Segment<'_>,
    means: &[f64],
    slopes: Option<&[Vec<f64>]>,
) -> Vec<f64> {
    let columns = means.len();
    let weights = layout.weights_of(segment.class);
    let (total, all_weight) = (layout.totals[segment.class], layout.total());
    let of_class = &groups.of_class[segment.class];
    let mut sums = vec![0.0; of_class.names.len() * columns];
    for (row, (values, &group)) in segment.values.chunks_exact(columns).zip(&of_class.of_rows).enumerate() {
        let weight = weights.map_or(1.0, |weights| weights[row]);
        let sums = &mut sums[group as usize * columns..][..columns];
        for (column, sum) in sums.iter_mut().enumerate() {
            *sum += weight / total * (values[column] - means[column]);
            if let Some(slopes) = slopes {
                *sum += weight / all_weight * slopes[column][segment.class];
            }
        }
    }
    sums
}

/// g − ḡ over the classes of the segments.
fn centred_slopes(layout: &Layout, segments: &[Segment<'_>], slopes: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let total: f64 = segments.iter().map(|segment| layout.totals[segment.class]).sum();
    slopes
        .iter()
        .map(|slopes| {
            let weighted = segments.iter().map(|segment| layout.totals[segment.class] * slopes[segment.class]);
            let mean = weighted.sum::<f64>() / total;
            slopes.iter().map(|slope| slope - mean).collect()
        })
        .collect()
}

fn rows_of_chunk<'v>(
    segment: &Segment<'v>,
    columns: usize,
    chunk: usize,
) -> impl Iterator<Item = (usize, &'v [f64])> + use<'v> {
    let rows = segment.values.len() / columns;
    let (first, last) = (chunk * CHUNK, rows.min((chunk + 1) * CHUNK));
    (first..last).zip(segment.values[first * columns..last * columns].chunks_exact(columns))
}

fn chunk_of(values: &[f64], chunk: usize) -> &[f64] {
    &values[chunk * CHUNK..values.len().min((chunk + 1) * CHUNK)]
}

/// Σ term(value), in eight sums side by side that do not wait for each other.
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
