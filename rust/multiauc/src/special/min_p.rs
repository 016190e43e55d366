//! The smallest of several p-values, and the largest |z| of correlated normal numbers.

use std::f64::consts::PI;

use super::chi_squared::chi_squared_tail;
use super::normal;
use super::student::normal_quantile;
use crate::error::Result;
use crate::parallel::Workers;

/// How many directions are averaged, by their number of dimensions: enough for an error below 1e-4 at p = 0.05.
const fn directions_of(dimensions: usize) -> usize {
    match dimensions {
        2 => 1 << 12,
        4 => 1 << 15,
        _ => 1 << 17,
    }
}
/// Directions are averaged by their height, in this many bins.
const BINS: usize = 400;
/// Directions of one task.
const CHUNK: usize = 1 << 12;
/// Smaller p-values count as this one where correlations are allowed for.
const LEAST_P: f64 = 1e-300;

/// p-values corrected by Holm's method; of those that are NaN, none counts.
#[must_use]
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut known: Vec<usize> = (0..p_values.len()).filter(|&place| !p_values[place].is_nan()).collect();
    known.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let (mut corrected, mut largest) = (vec![f64::NAN; p_values.len()], 0.0_f64);
    for (rank, &place) in known.iter().enumerate() {
        largest = largest.max(((known.len() - rank) as f64 * p_values[place]).min(1.0));
        corrected[place] = largest;
    }
    corrected
}

/// The correction of p-values for the number of tests (single-step min-p).
#[derive(Debug, Clone)]
pub struct MinP {
    /// How many tests there are.
    pub count: usize,
    /// What is tested, if correlations matter.
    pub largest: Option<LargestNormal>,
}

impl MinP {
    /// How often the smallest of all p-values is at most `p`; NaN for NaN.
    #[must_use]
    pub fn correct(&self, p: f64) -> f64 {
        if p.is_nan() || self.count <= 1 {
            return p;
        }
        let independent = if p < 1.0 { -(self.count as f64 * (-p).ln_1p()).exp_m1() } else { 1.0 };
        match &self.largest {
            Some(largest) if p < 1.0 => {
                let outside = p.max(LEAST_P);
                let z = normal_quantile(outside, 1.0 - outside);
                independent.min(largest.p_value(z).max(p))
            }
            _ => independent,
        }
    }

    /// The tail of each interval so that all of them cover at once with probability 1 − 2 `tail`.
    #[must_use]
    pub fn tail_of_one(&self, tail: f64) -> f64 {
        if self.count <= 1 {
            return tail;
        }
        let wanted = 2.0 * tail;
        let mut low = -((-wanted).ln_1p() / self.count as f64).exp_m1();
        if self.largest.is_some() {
            let mut high = wanted;
            while high - low > 1e-12 * high {
                let middle = 0.5 * (low + high);
                (low, high) = if self.correct(middle) > wanted { (low, middle) } else { (middle, high) };
            }
        }
        0.5 * low
    }
}

/// The distribution of the largest |z| of correlated normal numbers: each is the product of a vector with the same random
/// one, of a random length and direction. What counts about a direction is its height, the largest product with a vector.
#[derive(Debug, Clone)]
pub struct LargestNormal {
    dimensions: usize,
    is_single: bool,
    /// (height, share of the directions that have it).
    heights: Vec<(f64, f64)>,
}

impl LargestNormal {
    /// Of numbers with these vectors, `width` entries each: the cosines between them are the correlations.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn of_vectors(vectors: &[f64], width: usize, workers: &Workers<'_>) -> Result<Self> {
        let (units, rank) = unit_vectors(vectors, width);
        Self::new(&units, rank, workers)
    }

    fn new(vectors: &[f64], rank: usize, workers: &Workers<'_>) -> Result<Self> {
        // An even number of dimensions, where tails of chi-squared are short sums; one more dimension changes nothing.
        let dimensions = rank + rank % 2;
        let is_single = rank <= 1;
        let heights = if is_single { Vec::new() } else { heights(vectors, rank, dimensions, workers)? };
        Ok(Self { dimensions, is_single, heights })
    }

    /// About how many steps it takes to make it, of so many vectors.
    #[must_use]
    pub const fn cost(count: usize, rank: usize) -> usize {
        if rank <= 1 { count } else { directions_of(rank + rank % 2).saturating_mul(count * rank) }
    }

    /// How often the largest is at least `z`.
    #[must_use]
    pub fn p_value(&self, z: f64) -> f64 {
        if self.is_single {
            return normal::two_sides(z.abs()).0;
        }
        let tail = |height: f64| chi_squared_tail((z / height).powi(2), self.dimensions as u32);
        self.heights.iter().map(|&(height, share)| share * tail(height)).sum()
    }
}

/// The directions of vectors, in as few coordinates as they need, and how many these are.
///
/// The first axis is along the first vector, the second in the plane of the first two, and so on: coordinates then depend
/// on the correlations alone, and a rounding error in these moves p-values by as little. A fixed rotation (a cosine
/// transform) spreads the vectors over all coordinates, where the directions that are averaged are the most even.
fn unit_vectors(vectors: &[f64], width: usize) -> (Vec<f64>, usize) {
    const IN_THE_SPACE_OF_OTHERS: f64 = 1e-7;
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let scaled = |vector: &[f64]| {
        let length = product(vector, vector).sqrt();
        (vector.iter().map(|entry| entry / length).collect::<Vec<f64>>(), length)
    };
    let units: Vec<Vec<f64>> = vectors.chunks_exact(width).map(|vector| scaled(vector).0).collect();
    let mut axes: Vec<Vec<f64>> = Vec::new();
    for unit in &units {
        let mut rest = unit.clone();
        // Twice, for what rounding left.
        for axis in axes.iter().chain(&axes) {
            let along = product(axis, &rest);
            rest.iter_mut().zip(axis).for_each(|(entry, of_axis)| *entry -= along * of_axis);
        }
        let (axis, length) = scaled(&rest);
        if length > IN_THE_SPACE_OF_OTHERS {
            axes.push(axis);
        }
    }
    let rank = axes.len();
    let rotation = |row: usize, column: usize| {
        let height = if column == 0 { 1.0 } else { 2.0 } / rank as f64;
        height.sqrt() * (PI / rank as f64 * (row as f64 + 0.5) * column as f64).cos()
    };
    let coordinates = |unit: &Vec<f64>| {
        let along: Vec<f64> = axes.iter().map(|axis| product(axis, unit)).collect();
        let turned =
            |column: usize| along.iter().enumerate().map(|(row, one)| one * rotation(row, column)).sum::<f64>();
        (0..rank).map(turned).collect::<Vec<f64>>()
    };
    (units.iter().flat_map(coordinates).collect(), rank)
}

fn heights(vectors: &[f64], rank: usize, dimensions: usize, workers: &Workers<'_>) -> Result<Vec<(f64, f64)>> {
    let directions = directions_of(dimensions);
    let roots: Vec<f64> = primes(dimensions).into_iter().map(f64::sqrt).collect();
    let chunk = |index: usize| {
        let mut direction = vec![0.0; dimensions];
        let mut bins = vec![(0_u64, 0.0); BINS];
        for number in index * CHUNK..((index + 1) * CHUNK).min(directions) {
            fill_direction(&mut direction, number, &roots);
            let product = |vector: &[f64]| vector.iter().zip(&direction).map(|(a, b)| a * b).sum::<f64>().abs();
            let height = vectors.chunks_exact(rank).map(product).fold(0.0, f64::max);
            let bin = &mut bins[((height * BINS as f64) as usize).min(BINS - 1)];
            *bin = (bin.0 + 1, bin.1 + height);
        }
        Ok(bins)
    };
    let mut bins = vec![(0_u64, 0.0); BINS];
    for found in workers.map(directions.div_ceil(CHUNK), chunk)? {
        for (bin, (count, sum)) in bins.iter_mut().zip(found) {
            *bin = (bin.0 + count, bin.1 + sum);
        }
    }
    let used = bins.into_iter().filter(|&(_, sum)| sum > 0.0);
    Ok(used.map(|(count, sum)| (sum / count as f64, count as f64 / directions as f64)).collect())
}

/// Unit vectors that fill the sphere evenly: angles on the circle, else normal numbers made of irrational steps.
fn fill_direction(direction: &mut [f64], number: usize, roots: &[f64]) {
    if let [x, y] = direction {
        (*y, *x) = (PI * (number as f64 + 0.5) / directions_of(2) as f64).sin_cos();
        return;
    }
    // Richtmyer's sequence: multiples of the square roots of primes, modulo 1.
    let uniform = |place: usize| (0.5 + (number + 1) as f64 * roots[place]).fract();
    let half = direction.len() / 2;
    for place in 0..half {
        let radius = (-2.0 * (-uniform(place)).ln_1p()).sqrt();
        let (sine, cosine) = (2.0 * PI * uniform(half + place)).sin_cos();
        (direction[place], direction[half + place]) = (radius * cosine, radius * sine);
    }
    let length = direction.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
    for entry in direction {
        *entry /= length;
    }
}

/// The first primes.
fn primes(count: usize) -> Vec<f64> {
    let mut found: Vec<u32> = Vec::with_capacity(count);
    let mut number = 2;
    while found.len() < count {
        if found.iter().all(|prime| number % prime != 0) {
            found.push(number);
        }
        number += 1;
    }
    found.into_iter().map(f64::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::Cancel;

    #[test]
    fn holm_multiplies_the_smallest_most() {
        let found = holm(&[0.04, f64::NAN, 0.01, 0.03, 0.9]);
        assert_eq!((found[0], found[2], found[3], found[4]), (0.09, 0.04, 0.09, 0.9));
        assert!(found[1].is_nan() && holm(&[]).is_empty());
    }

    #[test]
    fn independent_numbers_are_as_many_as_they_are() {
        let cancel = Cancel::new();
        let workers = Workers::with_threads(1, &cancel);
        for (rank, tolerance) in [(1, 1e-15), (2, 1e-5), (3, 1e-4), (6, 1e-4)] {
            let mut unit = vec![0.0; rank * rank];
            for place in 0..rank {
                unit[place * (rank + 1)] = 1.0;
            }
            let largest = LargestNormal::new(&unit, rank, &workers).expect("not cancelled");
            let (known, independent) =
                (MinP { count: rank, largest: Some(largest) }, MinP { count: rank, largest: None });
            for p in [0.2, 0.01, 0.001] {
                assert!((known.correct(p) - independent.correct(p)).abs() < tolerance, "{rank} {p}");
            }
            assert!((independent.correct(2.0 * independent.tail_of_one(0.025)) - 0.05).abs() < 1e-15);
            assert!((known.correct(2.0 * known.tail_of_one(0.025)) - 0.05).abs() < 1e-9);
        }
    }
}
