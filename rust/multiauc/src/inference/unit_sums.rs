//! Sums over the rows of a class: means, squares and products, in the same order on any number of threads.

use std::ops::Range;

use super::design::{Design, Groups};
use crate::error::Result;
use crate::parallel::Workers;
use crate::simd::{Simd, Vectorizable, run_widest};

/// Rows per task where floats are summed: a fixed number, so that sums have the same bits on any number of threads.
pub(crate) const CHUNK: usize = 1 << 14;

/// Components of the rows of one class, a column per statistic.
pub(crate) struct Segment<'v> {
    pub class: usize,
    pub columns: &'v [&'v [f64]],
}

impl Segment<'_> {
    fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.len())
    }

    fn chunks(&self) -> usize {
        self.rows().div_ceil(CHUNK)
    }

    fn rows_of_chunk(&self, chunk: usize) -> Range<usize> {
        chunk * CHUNK..self.rows().min((chunk + 1) * CHUNK)
    }
}

/// How sums over the rows of a class are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Summation {
    /// Row by row: the sums of a statistic have the same bits whatever others are listed.
    Listed,
    /// Of a single column, in lanes that do not wait for each other: much faster.
    Single,
}

/// How components become what rows add to the error: ψ = (w/W)(√c (T − T̄) + shift).
pub(super) struct Frame {
    /// T̄ of every column.
    pub means: Vec<f64>,
    pub shifts: Vec<f64>,
    /// √c of every column, NaN where nearly all weight is on one unit, which does not show how much it varies.
    pub spreads: Vec<f64>,
    /// W.
    pub total: f64,
    /// How many independent units there are, and how many equally heavy ones would know as much.
    pub units: f64,
    pub effective: f64,
    /// One more unit, if any: its component and its w/W. For single columns only.
    pub extra: Vec<(f64, f64)>,
}

impl Frame {
    fn extra_unit(&self) -> Option<f64> {
        let &(component, weight) = self.extra.first()?;
        Some(weight * (self.spreads[0] * (component - self.means[0]) + self.shifts[0]))
    }
}

/// √c, c = e/(e − 1), of rows that are worth e independent units; NaN for one.
pub(super) fn spread_of(effective: f64) -> f64 {
    const LEAST: f64 = 1e-12;
    let beyond_one = effective - 1.0;
    if beyond_one > LEAST { (effective / beyond_one).sqrt() } else { f64::NAN }
}

/// Σ ψψ′ of every two columns and Σ ψ⁴ of every column.
pub(super) struct Powers {
    pub products: Vec<f64>,
    pub fourths: Vec<f64>,
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
        let sums = workers.map(segment.chunks(), |chunk| {
            let values = &only[segment.rows_of_chunk(chunk)];
            Ok(vec![lane_sums(values, |value| [value - only[0]])[0]])
        })?;
        return Ok(vec![only[0] + folded(sums, 1)[0] / total]);
    }
    let columns = segment.columns.len();
    let origins: Vec<f64> = segment.columns.iter().map(|column| column[0]).collect();
    let parts = workers.map(segment.chunks(), |chunk| {
        let deviation = |column: usize, value: f64, weight: f64| weight * (value - origins[column]);
        Ok(sum_rows(segment, weights, chunk, false, deviation).sums)
    })?;
    let sums = folded(parts, columns);
    Ok(segment.columns.iter().zip(sums).map(|(column, sum)| column[0] + sum / total).collect())
}

/// The powers of a class whose rows are independent.
pub(super) fn row_powers(
    design: &Design,
    segment: &Segment<'_>,
    frame: &Frame,
    summation: Summation,
    workers: &Workers<'_>,
) -> Result<Powers> {
    let columns = segment.columns.len();
    let weights = design.rows.weights_of(segment.class);
    let mut sums = if let ([only], None, Summation::Single) = (segment.columns, weights, summation) {
        let (mean, shift, spread) = (frame.means[0], frame.shifts[0], frame.spreads[0]);
        let parts = workers.map(segment.chunks(), |chunk| {
            let squares = |value: f64| {
                let square = (spread * (value - mean) + shift).powi(2);
                [square, square * square]
            };
            Ok(lane_sums(&only[segment.rows_of_chunk(chunk)], squares).to_vec())
        })?;
        let sums = folded(parts, 2);
        vec![sums[0] / frame.total.powi(2), sums[1] / frame.total.powi(4)]
    } else {
        let parts = workers.map(segment.chunks(), |chunk| {
            let unit = |column: usize, value: f64, weight: f64| {
                weight / frame.total * (frame.spreads[column] * (value - frame.means[column]) + frame.shifts[column])
            };
            let RowSums { mut products, fourths, .. } = sum_rows(segment, weights, chunk, true, unit);
            products.extend(fourths);
            Ok(products)
        })?;
        folded(parts, columns * columns + columns)
    };
    if let Some(unit) = frame.extra_unit() {
        sums[0] += unit.powi(2);
        sums[1] += unit.powi(4);
    }
    let fourths = sums.split_off(columns * columns);
    for first in 0..columns {
        for second in 0..first {
            sums[first * columns + second] = sums[second * columns + first];
        }
    }
    Ok(Powers { products: sums, fourths })
}

/// Σ u, Σ uu′ and Σ u⁴ of what rows have in each column.
struct RowSums {
    sums: Vec<f64>,
    /// Columns × columns.
    products: Vec<f64>,
    fourths: Vec<f64>,
}

/// The sums of `unit(column, value, weight)` over the rows of a chunk, each of them taken row by row; the products of
/// columns far from each other only if those are wanted.
fn sum_rows(
    segment: &Segment<'_>,
    weights: Option<&[f64]>,
    chunk: usize,
    are_products_wanted: bool,
    unit: impl Fn(usize, f64, f64) -> f64,
) -> RowSums {
    let rows = segment.rows_of_chunk(chunk);
    let weights = weights.map(|weights| &weights[rows.clone()]);
    let columns: Vec<&[f64]> = segment.columns.iter().map(|column| &column[rows.clone()]).collect();
    let mut found = RowSums {
        sums: vec![0.0; columns.len()],
        products: vec![0.0; columns.len() * columns.len()],
        fourths: vec![0.0; columns.len()],
    };
    // The sums of a few columns at a time wait for their last additions side by side.
    for first in (0..columns.len()).step_by(TILE) {
        let end = if are_products_wanted { columns.len() } else { first + 1 };
        for second in (first..end).step_by(TILE) {
            run_widest(SumTile { columns: &columns, weights, firsts: [first, second], unit: &unit, found: &mut found });
        }
    }
    found
}

/// Columns whose products with as many others are summed at a time.
const TILE: usize = 4;

/// The products of some columns with some others, and the sums of the former if they are the same.
struct SumTile<'v, F> {
    columns: &'v [&'v [f64]],
    weights: Option<&'v [f64]>,
    firsts: [usize; 2],
    unit: &'v F,
    found: &'v mut RowSums,
}

impl<F: Fn(usize, f64, f64) -> f64> Vectorizable for SumTile<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Self { columns, weights, firsts, unit, found } = self;
        let count = columns.len();
        let rows = columns.first().map_or(0, |column| column.len());
        // Where there are fewer columns the last one stands in for them.
        let numbers = firsts.map(|first| std::array::from_fn::<usize, TILE, _>(|place| (first + place).min(count - 1)));
        let tiles = numbers.map(|numbers| numbers.map(|number| &columns[number][..rows]));
        let (mut sums, mut products, mut fourths) = ([0.0; TILE], [[0.0; TILE]; TILE], [0.0; TILE]);
        for row in 0..rows {
            let weight = weights.map_or(1.0, |weights| weights[row]);
            let mut units = [[0.0; TILE]; 2];
            for side in 0..2 {
                for place in 0..TILE {
                    units[side][place] = unit(numbers[side][place], tiles[side][place][row], weight);
                }
            }
            for first in 0..TILE {
                let own = units[0][first];
                sums[first] += own;
                fourths[first] += (own * own) * (own * own);
                for second in 0..TILE {
                    products[first][second] += own * units[1][second];
                }
            }
        }
        for first in firsts[0]..count.min(firsts[0] + TILE) {
            let place = first - firsts[0];
            (found.sums[first], found.fourths[first]) = (sums[place], fourths[place]);
            for second in firsts[1]..count.min(firsts[1] + TILE) {
                found.products[first * count + second] = products[place][second - firsts[1]];
            }
        }
    }
}

/// Σ ψ over the rows of a class in each of its groups, a row of columns per group; the extra unit is a group of its own.
pub(super) fn group_sums(design: &Design, groups: &Groups, segment: &Segment<'_>, frame: &Frame) -> Vec<f64> {
    let columns = segment.columns.len();
    let weights = design.rows.weights_of(segment.class);
    let of_class = &groups.of_class[segment.class];
    let mut sums = vec![0.0; of_class.names.len() * columns];
    for (row, &group) in of_class.of_rows.iter().enumerate() {
        let weight = weights.map_or(1.0, |weights| weights[row]) / frame.total;
        let sums = &mut sums[group as usize * columns..][..columns];
        for (column, sum) in sums.iter_mut().enumerate() {
            let deviation = segment.columns[column][row] - frame.means[column];
            *sum += weight * (frame.spreads[column] * deviation + frame.shifts[column]);
        }
    }
    sums.extend(frame.extra_unit());
    sums
}

/// Σ of each of the terms of the values, in eight running sums that do not wait for each other.
fn lane_sums<const N: usize>(values: &[f64], terms: impl Fn(f64) -> [f64; N]) -> [f64; N] {
    run_widest(LaneSums { values, terms })
}

struct LaneSums<'v, F> {
    values: &'v [f64],
    terms: F,
}

impl<F: Fn(f64) -> [f64; N], const N: usize> Vectorizable for LaneSums<'_, F> {
    type Output = [f64; N];

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> [f64; N] {
        let Self { values, terms } = self;
        let (blocks, rest) = values.as_chunks::<8>();
        let mut lanes = [[0.0; 8]; N];
        for block in blocks {
            for (lane, &value) in block.iter().enumerate() {
                let terms = terms(value);
                for term in 0..N {
                    lanes[term][lane] += terms[term];
                }
            }
        }
        let mut sums = [0.0; N];
        for (sum, lanes) in sums.iter_mut().zip(&lanes) {
            *sum = lanes.iter().sum();
        }
        let mut of_rest = [0.0; N];
        for &value in rest {
            of_rest.iter_mut().zip(terms(value)).for_each(|(sum, term)| *sum += term);
        }
        sums.iter_mut().zip(of_rest).for_each(|(sum, rest)| *sum += rest);
        sums
    }
}

fn folded(parts: Vec<Vec<f64>>, length: usize) -> Vec<f64> {
    parts.into_iter().fold(vec![0.0; length], |mut sums, part| {
        sums.iter_mut().zip(part).for_each(|(sum, entry)| *sum += entry);
        sums
    })
}
