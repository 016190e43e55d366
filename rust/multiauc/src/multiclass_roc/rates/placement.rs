//! Every cell placed among the thresholds once, and kept as a byte (or two).
#![allow(clippy::inline_always, reason = "only what is inlined is compiled for wide vectors, or has no call per cell")]

use super::selection::ValueBuckets;
use super::thresholds::Grids;
use crate::error::Result;
use crate::float::Score;
use crate::parallel::Workers;
use crate::sample::{ClassRows, ScoredSample};

/// Rows of a tile: its codes and masses stay in the cache while its columns are counted.
const TILE_ROWS: usize = 4096;

/// A score column and the grid that cuts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    pub column: usize,
    pub grid: usize,
}

/// Some rows of one class under all cuts that the class needs.
#[derive(Debug, Clone)]
pub(super) struct Tile {
    pub class: usize,
    /// First position of the rows.
    pub first: usize,
    pub rows: usize,
    codes: ThresholdCodes,
}

/// For each cut, for each row: how many thresholds are not below the score (0 ..= T, from the largest threshold on).
#[derive(Debug, Clone)]
enum ThresholdCodes {
    Bytes(Vec<u8>),
    Words(Vec<u16>),
}

/// Places the rows of every class under the class's cuts.
pub(super) fn place<T: Score>(
    sample: &ScoredSample<'_, T>,
    rows: &ClassRows,
    cuts: &[Vec<Cut>],
    grids: &Grids,
    workers: &Workers<'_>,
) -> Result<Vec<Tile>> {
    let tiles: Vec<(usize, std::ops::Range<usize>)> = (0..rows.classes())
        .flat_map(|class| {
            let positions = rows.range(class);
            let end = positions.end;
            positions.step_by(TILE_ROWS).map(move |first| (class, first..end.min(first + TILE_ROWS)))
        })
        .collect();
    let tables: Vec<SearchTable<'_>> = grids.ascending.iter().map(|grid| SearchTable::new(grid)).collect();
    workers.map(tiles.len(), |index| {
        let (class, positions) = tiles[index].clone();
        let rows = &rows.rows()[positions.clone()];
        let cuts = &cuts[class];
        let codes = if u8::try_from(grids.thresholds()).is_ok() {
            ThresholdCodes::Bytes(codes_of(sample, rows, cuts, &tables, |code| code as u8))
        } else {
            ThresholdCodes::Words(codes_of(sample, rows, cuts, &tables, |code| code as u16))
        };
        Ok(Tile { class, first: positions.start, rows: rows.len(), codes })
    })
}

fn codes_of<T: Score, C>(
    sample: &ScoredSample<'_, T>,
    rows: &[u32],
    cuts: &[Cut],
    tables: &[SearchTable<'_>],
    narrow: impl Fn(u32) -> C + Copy,
) -> Vec<C> {
    let mut codes = Vec::with_capacity(rows.len() * cuts.len());
    for cut in cuts {
        let table = &tables[cut.grid];
        codes.extend(rows.iter().map(|&row| {
            let value = sample.scores.get(row as usize, cut.column).into();
            narrow((table.ascending.len() - table.below(value)) as u32)
        }));
    }
    codes
}

/// Increasing thresholds, found by the bucket of a value: most buckets hold none or one.
struct SearchTable<'a> {
    ascending: &'a [f64],
    map: ValueBuckets,
    /// `starts[b]..starts[b + 1]` are the thresholds in bucket b.
    starts: Vec<u32>,
}

impl<'a> SearchTable<'a> {
    fn new(ascending: &'a [f64]) -> Self {
        /// Enough that few thresholds share a bucket, few enough for the fastest cache.
        const BUCKETS_PER_THRESHOLD: usize = 16;
        let magnitudes = || ascending.iter().map(|threshold| threshold.abs());
        let range = (magnitudes().fold(0.0, f64::max), magnitudes().filter(|x| *x > 0.0).fold(f64::INFINITY, f64::min));
        let map = ValueBuckets::new(range, BUCKETS_PER_THRESHOLD * ascending.len());
        let mut starts = vec![0; map.buckets() + 1];
        for &threshold in ascending {
            starts[map.bucket(threshold) + 1] += 1;
        }
        for bucket in 1..starts.len() {
            starts[bucket] += starts[bucket - 1];
        }
        Self { ascending, map, starts }
    }

    /// How many thresholds are below a value.
    #[inline(always)]
    fn below(&self, value: f64) -> usize {
        let bucket = self.map.bucket(value);
        let (start, end) = (self.starts[bucket] as usize, self.starts[bucket + 1] as usize);
        let inside = &self.ascending[start..end];
        match inside {
            [] => start,
            [only] => start + usize::from(*only < value),
            _ => start + inside.partition_point(|threshold| *threshold < value),
        }
    }
}

impl Tile {
    /// Calls `visit` with the cut, the row (within the tile) and the code of every cell.
    pub(super) fn for_each_code(&self, visit: impl FnMut(usize, usize, u16)) {
        match &self.codes {
            ThresholdCodes::Bytes(codes) => visit_codes(codes, self.rows, visit),
            ThresholdCodes::Words(codes) => visit_codes(codes, self.rows, visit),
        }
    }

    /// Adds the rows' masses to the sums of their codes, cut after cut, `width` = T + 1 sums each.
    pub(super) fn add_masses(&self, masses: impl Fn(usize) -> f64 + Copy, width: usize, sums: &mut [f64]) {
        match &self.codes {
            ThresholdCodes::Bytes(codes) => add_by_code(codes, self.rows, masses, width, sums),
            ThresholdCodes::Words(codes) => add_by_code(codes, self.rows, masses, width, sums),
        }
    }
}

fn visit_codes<C: Copy + Into<u16>>(codes: &[C], rows: usize, mut visit: impl FnMut(usize, usize, u16)) {
    for (cut, codes) in codes.chunks_exact(rows).enumerate() {
        codes.iter().enumerate().for_each(|(row, &code)| visit(cut, row, code.into()));
    }
}

fn add_by_code<C: Copy + Into<u16>>(
    codes: &[C],
    rows: usize,
    masses: impl Fn(usize) -> f64 + Copy,
    width: usize,
    sums: &mut [f64],
) {
    // Two tables in turn: in a single one, each of a run of equal codes would wait for the sum before.
    let mut odd = vec![0.0; width];
    for (codes, sums) in codes.chunks_exact(rows).zip(sums.chunks_exact_mut(width)) {
        let (pairs, rest) = codes.as_chunks::<2>();
        for (index, [even_code, odd_code]) in pairs.iter().enumerate() {
            sums[usize::from((*even_code).into())] += masses(2 * index);
            odd[usize::from((*odd_code).into())] += masses(2 * index + 1);
        }
        for &code in rest {
            sums[usize::from(code.into())] += masses(rows - 1);
        }
        for (sum, odd) in sums.iter_mut().zip(&mut odd) {
            *sum += std::mem::take(odd);
        }
    }
}
