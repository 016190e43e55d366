//! Where the scores are cut: quantiles of the cells, or thresholds that are given.

use super::Scope;
use super::selection::{Cells, select};
use crate::error::Result;
use crate::float::Score;
use crate::parallel::Workers;
use crate::sample::{ClassRows, ScoredSample};

/// The thresholds wanted.
#[derive(Debug, Clone, Copy)]
pub enum Grid<'a> {
    /// Quantiles of the cells at levels (i − ½)/T, i = T … 1, with linear interpolation; repeated ones are kept once.
    Quantiles(usize),
    /// These, falling, for all pairs.
    Given(&'a [f64]),
}

/// Grids of the same number of thresholds: one for all pairs, one per positive class, or one per pair.
#[derive(Debug, Clone)]
pub(super) struct Grids {
    /// Each increasing (repeated values are possible where grids differ).
    pub ascending: Vec<Vec<f64>>,
}

impl Grids {
    pub(super) fn new<T: Score>(
        sample: &ScoredSample<'_, T>,
        rows: &ClassRows,
        grid: Grid<'_>,
        scope: Scope,
        workers: &Workers<'_>,
    ) -> Result<Self> {
        let count = match grid {
            Grid::Given(thresholds) => {
                return Ok(Self { ascending: vec![thresholds.iter().rev().copied().collect()] });
            }
            Grid::Quantiles(count) => count,
        };
        let levels: Vec<f64> = (1..=count).map(|i| (i as f64 - 0.5) / count as f64).collect();
        let unit = rows.lightest_row();
        let present = rows.present();
        let grids = match scope {
            _ if present.len() == 2 => {
                let column = ColumnValues::new(rows, sample, present[1]);
                let cells = column.of_classes(rows, present);
                vec![quantiles(&cells, unit, &levels, &serial_if_weighted(rows, workers))?]
            }
            Scope::Shared => {
                let workers = serial_if_weighted(rows, workers);
                let cells = MatrixCells { sample, columns: present, spans: workers.row_spans(sample.rows(), 2) };
                vec![quantiles(&cells, unit, &levels, &workers)?]
            }
            Scope::Class => workers.map(present.len(), |index| {
                let column = ColumnValues::new(rows, sample, present[index]);
                quantiles(&column.of_classes(rows, present), unit, &levels, &workers.alone())
            })?,
            Scope::Pair => {
                let by_class = workers.map(present.len(), |index| {
                    let c = present[index];
                    let column = ColumnValues::new(rows, sample, c);
                    let grid = |d| quantiles(&column.of_classes(rows, &[c, d]), unit, &levels, &workers.alone());
                    rows.others(c).map(grid).collect::<Result<Vec<_>>>()
                })?;
                by_class.into_iter().flatten().collect()
            }
        };
        Ok(Self { ascending: without_repeats(&grids) })
    }

    /// Number of thresholds.
    pub(super) fn thresholds(&self) -> usize {
        self.ascending[0].len()
    }
}

/// Sums of weights have the same bits for any number of threads only if one thread computes them.
fn serial_if_weighted<'a>(rows: &ClassRows, workers: &Workers<'a>) -> Workers<'a> {
    if rows.weights().is_some() { workers.alone() } else { workers.clone() }
}

/// Drops thresholds that are equal to the one before in every grid.
fn without_repeats(grids: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let fresh = |i: usize| i == 0 || grids.iter().any(|grid| grid[i] != grid[i - 1]);
    let kept: Vec<usize> = (0..grids[0].len()).filter(|&i| fresh(i)).collect();
    grids.iter().map(|grid| kept.iter().map(|&i| grid[i]).collect()).collect()
}

/// Quantiles with linear interpolation between the order statistics at (N − u)·level, N the total mass.
///
/// For unweighted cells u = 1 and this is the usual rule. For weighted ones, u is the lightest row (at most 1): integer
/// weights give the quantiles of repeated rows, and every value covers a stretch of the levels.
fn quantiles(cells: &impl Cells, unit: f64, levels: &[f64], workers: &Workers<'_>) -> Result<Vec<f64>> {
    let mut positions = Vec::new();
    let with_next = |total: f64| {
        positions = levels.iter().map(|level| (total - unit) * level).collect();
        positions.iter().copied().chain(positions.iter().map(|position| position + unit)).collect()
    };
    let found = select(cells, with_next, workers)?;
    let (lower, upper) = found.split_at(levels.len());
    let interpolated = positions.iter().zip(lower.iter().zip(upper)).map(|(position, (lower, upper))| {
        let fraction = ((position - (lower.through - unit)) / unit).clamp(0.0, 1.0);
        between(lower.value, upper.value, fraction)
    });
    Ok(interpolated.collect())
}

/// From `a` (fraction 0) to `b` (fraction 1), exact at both ends.
fn between(a: f64, b: f64, fraction: f64) -> f64 {
    if fraction < 0.5 { a + (b - a) * fraction } else { b - (b - a) * (1.0 - fraction) }
}

/// Every row and some columns of the matrix.
struct MatrixCells<'a, 'b, T> {
    sample: &'a ScoredSample<'b, T>,
    columns: &'a [usize],
    spans: Vec<std::ops::Range<usize>>,
}

impl<T: Score> Cells for MatrixCells<'_, '_, T> {
    fn parts(&self) -> usize {
        self.spans.len()
    }

    fn count(&self) -> usize {
        self.sample.rows() * self.columns.len()
    }

    fn visit(&self, part: usize, mut visit: impl FnMut(f64, f64)) {
        let scores = &self.sample.scores;
        let all_columns = self.columns.len() == scores.columns();
        for row in self.spans[part].clone() {
            if !self.sample.has_row(row) {
                continue;
            }
            let mass = self.sample.weight(row);
            match scores.contiguous_row(row) {
                Some(values) if all_columns => values.iter().for_each(|&value| visit(value.into(), mass)),
                _ => self.columns.iter().for_each(|&column| visit(scores.get(row, column).into(), mass)),
            }
        }
    }

    fn magnitudes(&self) -> (f64, f64) {
        (self.sample.magnitudes.largest, self.sample.magnitudes.smallest_nonzero)
    }
}

/// One column of the scores, class by class.
struct ColumnValues {
    pub(super) values: Vec<f64>,
    pub(super) magnitudes: (f64, f64),
}

/// The values of some classes in one column.
struct ClassCells<'a> {
    runs: Vec<(&'a [f64], Option<&'a [f64]>)>,
    magnitudes: (f64, f64),
}

impl ColumnValues {
    /// The scores of all rows in one class's column, class by class.
    fn new<T: Score>(rows: &ClassRows, sample: &ScoredSample<'_, T>, class: usize) -> Self {
        Self {
            values: rows.rows().iter().map(|&row| sample.scores.get(row as usize, class).into()).collect(),
            magnitudes: (sample.magnitudes.largest, sample.magnitudes.smallest_nonzero),
        }
    }

    fn of_classes<'a>(&'a self, rows: &'a ClassRows, wanted: &[usize]) -> ClassCells<'a> {
        let run = |&class: &usize| (&self.values[rows.range(class)], rows.weights_of(class));
        ClassCells { runs: wanted.iter().map(run).collect(), magnitudes: self.magnitudes }
    }
}

impl Cells for ClassCells<'_> {
    fn parts(&self) -> usize {
        1
    }

    fn count(&self) -> usize {
        self.runs.iter().map(|(values, _)| values.len()).sum()
    }

    fn visit(&self, _: usize, mut visit: impl FnMut(f64, f64)) {
        for (values, weights) in &self.runs {
            match weights {
                Some(weights) => values.iter().zip(*weights).for_each(|(&value, &weight)| visit(value, weight)),
                None => values.iter().for_each(|&value| visit(value, 1.0)),
            }
        }
    }

    fn magnitudes(&self) -> (f64, f64) {
        self.magnitudes
    }
}
