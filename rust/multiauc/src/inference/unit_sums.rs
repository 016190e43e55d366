//! Sums over the rows of a class: means, squares and products, in the same order on any number of threads.

use std::ops::Range;

use super::design::Design;
use super::groups::Groups;
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

/// What one column of a frame makes of components: √c (T − T̄) + shift.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Line {
    pub mean: f64,
    pub spread: f64,
    pub shift: f64,
}

impl Line {
    #[inline(always)]
    fn of_lanes<S: Simd>(self, simd: S, components: S::Lanes) -> S::Lanes {
        let deviations = simd.subtract(components, simd.splat(self.mean));
        simd.add(simd.multiply(simd.splat(self.spread), deviations), simd.splat(self.shift))
    }
}

impl Frame {
    fn line(&self, column: usize) -> Line {
        Line { mean: self.means[column], spread: self.spreads[column], shift: self.shifts[column] }
    }

    pub(super) fn extra_unit(&self) -> Option<f64> {
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

impl Powers {
    /// Those of some columns of units.
    pub(super) fn of_columns(columns: &[Vec<f64>]) -> Self {
        let count = columns.len();
        let mut powers = Self { products: vec![0.0; count * count], fourths: vec![0.0; count] };
        for (first, column) in columns.iter().enumerate() {
            [powers.products[first * count + first], powers.fourths[first]] = sums_of_powers(column);
            for (second, other) in columns[..first].iter().enumerate() {
                let units = [Line { mean: 0.0, spread: 1.0, shift: 0.0 }; 2];
                let [product] = lane_sums([column, other], UnitProducts(units));
                powers.products[first * count + second] = product;
                powers.products[second * count + first] = product;
            }
        }
        powers
    }

    /// Makes those of a column that is like an earlier one.
    fn repeat(&mut self, twin: usize, column: usize) {
        let count = self.fourths.len();
        self.fourths[column] = self.fourths[twin];
        self.products[column * count + column] = self.products[twin * count + twin];
        for other in 0..column {
            let product = self.products[twin * count + other];
            self.products[column * count + other] = product;
            self.products[other * count + column] = product;
        }
    }

    /// The sums of some powers of so many columns.
    pub(super) fn total(count: usize, parts: Vec<Self>) -> Self {
        let mut total = Self { products: vec![0.0; count * count], fourths: vec![0.0; count] };
        for part in parts {
            total.products.iter_mut().zip(part.products).for_each(|(sum, product)| *sum += product);
            total.fourths.iter_mut().zip(part.fourths).for_each(|(sum, fourth)| *sum += fourth);
        }
        total
    }
}

/// T̄_k of every column.
pub(super) fn means(design: &Design, segment: &Segment<'_>, workers: &Workers<'_>) -> Result<Vec<f64>> {
    let shares = design.shares_of(segment.class);
    segment.columns.iter().map(|column| column_mean(design, segment.class, (column, shares), workers)).collect()
}

/// T̄_k of one column, whose rows have those shares of the weight of the class, where they have weights. Sums are taken of
/// what components differ from the first one's, so that rows which all contribute the same have exactly that as their mean,
/// and a variance of exactly zero.
pub(super) fn column_mean(
    design: &Design,
    class: usize,
    (column, shares): (&[f64], Option<&[f64]>),
    workers: &Workers<'_>,
) -> Result<f64> {
    let first = column[0];
    let [sum] = chunk_sums(column.len(), workers, |rows| match shares {
        None => lane_sums([&column[rows]], Deviations(first)),
        Some(shares) => lane_sums([&column[rows.clone()], &shares[rows]], Deviations(first)),
    })?;
    let total = if shares.is_some() { 1.0 } else { design.rows.weight(class) };
    Ok(first + sum / total)
}

/// Σ ψ² and Σ ψ⁴ of one column whose rows are independent, ψ = `scale` · (line of T), times the row's share where there
/// are shares.
pub(super) fn column_powers(
    (column, shares): (&[f64], Option<&[f64]>),
    line: Line,
    scale: f64,
    workers: &Workers<'_>,
) -> Result<[f64; 2]> {
    let [squares, fourths] = chunk_sums(column.len(), workers, |rows| match shares {
        None => lane_sums([&column[rows]], UnitPowers(line)),
        Some(shares) => lane_sums([&column[rows.clone()], &shares[rows]], UnitPowers(line)),
    })?;
    Ok([squares * scale.powi(2), fourths * scale.powi(4)])
}

/// The powers of a class whose rows are independent.
pub(super) fn row_powers(
    design: &Design,
    segment: &Segment<'_>,
    frame: &Frame,
    workers: &Workers<'_>,
) -> Result<Powers> {
    let count = segment.columns.len();
    let shares = design.shares_of(segment.class);
    // What is left to multiply the powers by: 1/W, or W over the frame's where shares of W are multiplied already.
    let scale = shares.map_or(1.0, |_| design.rows.weight(segment.class)) / frame.total;
    let mut powers = Powers { products: vec![0.0; count * count], fourths: vec![0.0; count] };
    for (first, column) in segment.columns.iter().enumerate() {
        let line = frame.line(first);
        // Statistics that rank alike share their components.
        let is_twin = |second: &usize| std::ptr::eq(segment.columns[*second], *column) && frame.line(*second) == line;
        if let Some(twin) = (0..first).find(is_twin) {
            powers.repeat(twin, first);
            continue;
        }
        [powers.products[first * count + first], powers.fourths[first]] =
            column_powers((column, shares), line, scale, workers)?;
        for second in 0..first {
            let other = segment.columns[second];
            let lines = [line, frame.line(second)];
            let [sum] = chunk_sums(column.len(), workers, |rows| {
                let (values, others) = (&column[rows.clone()], &other[rows.clone()]);
                match shares {
                    None => lane_sums([values, others], UnitProducts(lines)),
                    Some(shares) => lane_sums([values, others, &shares[rows]], UnitProducts(lines)),
                }
            })?;
            let product = sum * scale.powi(2);
            powers.products[first * count + second] = product;
            powers.products[second * count + first] = product;
        }
    }
    if let Some(unit) = frame.extra_unit() {
        powers.products[0] += unit.powi(2);
        powers.fourths[0] += unit.powi(4);
    }
    Ok(powers)
}

/// Sums over the rows of a column, chunk by chunk.
fn chunk_sums<const N: usize>(
    rows: usize,
    workers: &Workers<'_>,
    sums: impl Fn(Range<usize>) -> [f64; N] + Sync,
) -> Result<[f64; N]> {
    if rows <= CHUNK {
        workers.check()?;
        return Ok(sums(0..rows));
    }
    let parts = workers.map(rows.div_ceil(CHUNK), |chunk| Ok(sums(chunk * CHUNK..rows.min((chunk + 1) * CHUNK))))?;
    Ok(folded(parts))
}

/// Components summed over the rows of a group, for each group of a class: Σ (T − T̄), every row by its share of the weight
/// of the class where rows have weights.
#[derive(Debug, Clone)]
pub(crate) struct GroupDeviations {
    /// By the place of the group in the class, in memory of the groups.
    pub sums: Vec<f64>,
    /// T̄, or what was taken for it.
    pub centre: f64,
}

impl GroupDeviations {
    /// Those of one column of a class, whose rows have these shares of its weight, where they have weights, and these
    /// groups.
    pub(super) fn new(groups: &Groups, class: usize, column: &[f64], rows: UnitRows<'_>, centre: f64) -> Self {
        let mut sums = groups.buffers.take(groups.of_class[class].numbers.len());
        sums.fill(0.0);
        match rows.shares {
            None => {
                for (&group, &value) in rows.groups.iter().zip(column) {
                    sums[group as usize] += value - centre;
                }
            }
            Some(shares) => {
                for ((&group, &value), &share) in rows.groups.iter().zip(column).zip(shares) {
                    sums[group as usize] += share * (value - centre);
                }
            }
        }
        Self { sums, centre }
    }

    /// Σ ψ of each group, by a column of a frame.
    pub(super) fn in_frame<'v>(
        &'v self,
        design: &Design,
        groups: &'v Groups,
        class: usize,
        (frame, column): (&Frame, usize),
    ) -> GroupLine<'v> {
        let Line { mean, spread, shift } = frame.line(column);
        // Shares are of the weight of the class, which the frame may add to.
        let scale = design.shares_of(class).map_or(1.0, |_| design.rows.weight(class)) / frame.total;
        GroupLine {
            sums: &self.sums,
            sizes: &groups.of_class[class].sizes,
            of_sum: scale * spread,
            of_size: scale * (spread * (self.centre - mean) + shift),
        }
    }
}

/// Σ ψ of each group of a class: a multiple of what its rows deviate and one of its size.
#[derive(Clone, Copy)]
pub(super) struct GroupLine<'v> {
    pub sums: &'v [f64],
    pub sizes: &'v [f64],
    pub of_sum: f64,
    pub of_size: f64,
}

impl GroupLine<'_> {
    /// Of the groups at some places.
    #[inline(always)]
    pub(super) fn units(&self, places: Range<usize>) -> impl Iterator<Item = f64> {
        let entries = self.sums[places.clone()].iter().zip(&self.sizes[places]);
        entries.map(|(sum, size)| self.of_sum * sum + self.of_size * size)
    }

    /// The same line, but zero.
    pub(super) fn zeroed(self) -> Self {
        Self { of_sum: 0.0, of_size: 0.0, ..self }
    }

    /// Σ of the squares and of the fourth powers.
    pub(super) fn powers(&self) -> [f64; 2] {
        if self.of_size == 0.0 {
            return lane_sums([self.sums], UnitPowers(Line { mean: 0.0, spread: self.of_sum, shift: 0.0 }));
        }
        lane_sums([self.sums, self.sizes], GroupUnits { of_sum: self.of_sum, of_size: self.of_size })
    }
}

/// Σ of the squares and of the fourth powers.
fn sums_of_powers(values: &[f64]) -> [f64; 2] {
    lane_sums([values], UnitPowers(Line { mean: 0.0, spread: 1.0, shift: 0.0 }))
}

/// What is known of the rows of a class, in the order of a column.
#[derive(Clone, Copy)]
pub(super) struct UnitRows<'r> {
    /// The share of each in the weight of the class, where rows have weights.
    pub shares: Option<&'r [f64]>,
    /// The place of its group among those of the class; empty where rows are independent.
    pub groups: &'r [u32],
}

/// What is summed over rows, from the values of C columns in N sums.
trait Terms<const C: usize, const N: usize> {
    fn terms<S: Simd>(&self, simd: S, values: [S::Lanes; C]) -> [S::Lanes; N];
}

/// T − T₀, times a share where there is one.
struct Deviations(f64);

impl Terms<1, 1> for Deviations {
    #[inline(always)]
    fn terms<S: Simd>(&self, simd: S, [component]: [S::Lanes; 1]) -> [S::Lanes; 1] {
        [simd.subtract(component, simd.splat(self.0))]
    }
}

impl Terms<2, 1> for Deviations {
    #[inline(always)]
    fn terms<S: Simd>(&self, simd: S, [component, share]: [S::Lanes; 2]) -> [S::Lanes; 1] {
        [simd.multiply(share, simd.subtract(component, simd.splat(self.0)))]
    }
}

/// ψ² and ψ⁴.
struct UnitPowers(Line);

impl Terms<1, 2> for UnitPowers {
    #[inline(always)]
    fn terms<S: Simd>(&self, simd: S, [component]: [S::Lanes; 1]) -> [S::Lanes; 2] {
        let unit = self.0.of_lanes(simd, component);
        let square = simd.multiply(unit, unit);
        [square, simd.multiply(square, square)]
    }
}

impl Terms<2, 2> for UnitPowers {
    #[inline(always)]
    fn terms<S: Simd>(&self, simd: S, [component, share]: [S::Lanes; 2]) -> [S::Lanes; 2] {
        let unit = simd.multiply(share, self.0.of_lanes(simd, component));
        let square = simd.multiply(unit, unit);
        [square, simd.multiply(square, square)]
    }
}

/// ψ² and ψ⁴ of groups.
struct GroupUnits {
    of_sum: f64,
    of_size: f64,
}

impl Terms<2, 2> for GroupUnits {
    #[inline(always)]
    fn terms<S: Simd>(&self, simd: S, [sum, size]: [S::Lanes; 2]) -> [S::Lanes; 2] {
        let of_sum = simd.multiply(simd.splat(self.of_sum), sum);
        let unit = simd.add(of_sum, simd.multiply(simd.splat(self.of_size), size));
        let square = simd.multiply(unit, unit);
        [square, simd.multiply(square, square)]
    }
}

/// ψψ′ of two columns.
struct UnitProducts([Line; 2]);

impl Terms<2, 1> for UnitProducts {
    #[inline(always)]
    fn terms<S: Simd>(&self, simd: S, [first, second]: [S::Lanes; 2]) -> [S::Lanes; 1] {
        let Self([of_first, of_second]) = self;
        [simd.multiply(of_first.of_lanes(simd, first), of_second.of_lanes(simd, second))]
    }
}

impl Terms<3, 1> for UnitProducts {
    #[inline(always)]
    fn terms<S: Simd>(&self, simd: S, [first, second, share]: [S::Lanes; 3]) -> [S::Lanes; 1] {
        let Self([of_first, of_second]) = self;
        let first = simd.multiply(share, of_first.of_lanes(simd, first));
        [simd.multiply(first, simd.multiply(share, of_second.of_lanes(simd, second)))]
    }
}

/// The sums over rows of what `terms` makes of them, in eight running sums that do not wait for each other.
fn lane_sums<const C: usize, const N: usize>(columns: [&[f64]; C], terms: impl Terms<C, N>) -> [f64; N] {
    run_widest(LaneSums { columns, terms })
}

struct LaneSums<'v, T, const C: usize, const N: usize> {
    columns: [&'v [f64]; C],
    terms: T,
}

impl<T: Terms<C, N>, const C: usize, const N: usize> Vectorizable for LaneSums<'_, T, C, N> {
    type Output = [f64; N];

    #[inline(always)]
    #[allow(clippy::needless_range_loop, reason = "iterators that are not inlined are not compiled for these vectors")]
    fn run<S: Simd>(self, simd: S) -> [f64; N] {
        // Loops over arrays, not `map`: what is not inlined is not compiled for these vectors.
        let Self { columns, terms } = self;
        let rows = columns[0].len();
        let mut blocks: [&[[[f64; 4]; 2]]; C] = [&[]; C];
        for column in 0..C {
            blocks[column] = &columns[column][..rows].as_chunks().0.as_chunks().0[..rows / 8];
        }
        let mut lanes = [[simd.splat(0.0); 2]; N];
        for block in 0..rows / 8 {
            for half in 0..2 {
                let mut values = [simd.splat(0.0); C];
                for column in 0..C {
                    values[column] = simd.load(&blocks[column][block][half]);
                }
                let terms = terms.terms(simd, values);
                for term in 0..N {
                    lanes[term][half] = simd.add(lanes[term][half], terms[term]);
                }
            }
        }
        let mut of_rest = [0.0; N];
        for row in rows / 8 * 8..rows {
            let mut values = [simd.splat(0.0); C];
            for column in 0..C {
                values[column] = simd.splat(columns[column][row]);
            }
            let terms = terms.terms(simd, values);
            for term in 0..N {
                of_rest[term] += simd.values(terms[term])[0];
            }
        }
        let mut sums = [0.0; N];
        for term in 0..N {
            let [first, second] = lanes[term];
            let sum = |lanes: S::Lanes| simd.values(lanes).iter().sum::<f64>();
            sums[term] = sum(first) + sum(second) + of_rest[term];
        }
        sums
    }
}

fn folded<const N: usize>(parts: Vec<[f64; N]>) -> [f64; N] {
    parts.into_iter().fold([0.0; N], |mut sums, part| {
        sums.iter_mut().zip(part).for_each(|(sum, entry)| *sum += entry);
        sums
    })
}
