//! How classes and columns are gathered: a tile at a time, so that the copy stays small compared with the scores.

use std::ops::Range;

use crate::error::Result;
use crate::float::Score;
use crate::parallel::Workers;
use crate::sample::{ClassBlock, ClassBlocks, ClassRows, ScoredSample};

/// Up to this many classes the whole matrix may be gathered at once; beyond that, in tiles.
pub(crate) const WHOLE_MATRIX_CLASSES: usize = 16;

/// Columns that are gathered together.
#[derive(Debug, Clone, Copy)]
pub(super) struct ColumnTiling {
    pub width: usize,
    /// Whether all threads share a tile, instead of each working on its own.
    pub is_shared: bool,
}

impl ColumnTiling {
    /// Half of the columns at a time up to 16 classes, a sixth beyond that; one tile per thread unless those would be
    /// narrow.
    pub(super) fn of<T: Score>(sample: &ScoredSample<'_, T>, threads: usize) -> Self {
        const NARROW: usize = 4;
        const WIDE: usize = 16;
        let columns = sample.classes();
        if columns <= WHOLE_MATRIX_CLASSES {
            let width = columns.div_ceil(2).next_multiple_of(threads).min(columns);
            return Self { width, is_shared: true };
        }
        let at_a_time = columns / 6;
        match at_a_time / threads {
            NARROW.. => Self { width: (at_a_time / threads).min(WIDE), is_shared: false },
            _ => Self { width: at_a_time.clamp(1, 2 * WIDE), is_shared: true },
        }
    }
}

/// Columns per tile where all threads share it, and keep a number per row for every column they work on. For more classes
/// than are gathered at once.
pub(crate) fn shared_column_width(classes: usize) -> usize {
    (classes / 6).clamp(1, 32)
}

/// `task(scratch, index, blocks)` for each of some columns in turn, the blocks having all classes in a tile of columns that
/// are gathered together.
pub(crate) fn map_columns<T: Score, S, R: Send>(
    sample: &ScoredSample<'_, T>,
    rows: &ClassRows,
    wanted: &[usize],
    workers: &Workers<'_>,
    scratch: impl Fn() -> S + Sync,
    task: impl Fn(&mut S, usize, &ClassBlocks<T>) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let classes = sample.classes();
    let width = if classes <= WHOLE_MATRIX_CLASSES { classes } else { shared_column_width(classes) };
    let mut found = Vec::with_capacity(wanted.len());
    let mut blocks = ClassBlocks::default();
    for first in (0..classes).step_by(width) {
        let columns = first..(first + width).min(classes);
        let of_tile: Vec<usize> = (0..wanted.len()).filter(|&index| columns.contains(&wanted[index])).collect();
        if !of_tile.is_empty() {
            blocks = ClassBlocks::gather_classes(blocks, &sample.scores, rows, &(0..classes), &columns, workers)?;
            let results =
                workers.map_with(of_tile.len(), &scratch, |scratch, place| task(scratch, of_tile[place], &blocks))?;
            found.extend(of_tile.into_iter().zip(results));
        }
    }
    found.sort_by_key(|&(index, _)| index);
    Ok(found.into_iter().map(|(_, result)| result).collect())
}

/// All pairs of classes, in tiles: two groups of classes, each in the columns of the other.
pub(crate) struct PairTiles<'s, 'a, T> {
    sample: &'s ScoredSample<'a, T>,
    rows: &'s ClassRows,
    /// Every class in its own column.
    own: Vec<ClassBlock<T>>,
    groups: Vec<Range<usize>>,
}

/// The scores of a tile.
pub(crate) struct PairTile<T: Score> {
    left: Range<usize>,
    right: Range<usize>,
    left_blocks: ClassBlocks<T>,
    /// Empty where both groups are the same.
    right_blocks: ClassBlocks<T>,
}

impl<T: Score> Default for PairTile<T> {
    fn default() -> Self {
        Self { left: 0..0, right: 0..0, left_blocks: ClassBlocks::default(), right_blocks: ClassBlocks::default() }
    }
}

impl<'s, 'a, T: Score> PairTiles<'s, 'a, T> {
    /// Tiles of groups of `width` classes.
    pub(crate) fn new(
        sample: &'s ScoredSample<'a, T>,
        rows: &'s ClassRows,
        width: usize,
        workers: &Workers<'_>,
    ) -> Result<Self> {
        let classes = sample.classes();
        let own = workers
            .map(classes, |class| Ok(ClassBlock::gather(&sample.scores, rows, class..class + 1, class..class + 1)))?;
        let groups = (0..classes).step_by(width).map(|first| first..(first + width).min(classes)).collect();
        Ok(Self { sample, rows, own, groups })
    }

    /// The tiles by their groups.
    pub(crate) fn tiles(&self) -> Vec<(usize, usize)> {
        let groups = self.groups.len();
        (0..groups).flat_map(|left| (left..groups).map(move |right| (left, right))).collect()
    }

    /// Gathers a tile, reusing the memory of another.
    pub(crate) fn gather(
        &self,
        (left, right): (usize, usize),
        previous: PairTile<T>,
        workers: &Workers<'_>,
    ) -> Result<PairTile<T>> {
        let gather = |memory, classes: &Range<usize>, columns: &Range<usize>| {
            ClassBlocks::gather_classes(memory, &self.sample.scores, self.rows, classes, columns, workers)
        };
        let (left, right) = (self.groups[left].clone(), self.groups[right].clone());
        let left_blocks = gather(previous.left_blocks, &left, &right)?;
        let right_blocks =
            if left == right { previous.right_blocks } else { gather(previous.right_blocks, &right, &left)? };
        Ok(PairTile { left, right, left_blocks, right_blocks })
    }

    /// The pairs c < d of present classes in a tile.
    pub(crate) fn pairs(&self, tile: &PairTile<T>) -> impl Iterator<Item = (usize, usize)> {
        let is_present = |class: &usize| self.rows.count(*class) > 0;
        let (left, right) = (tile.left.clone(), tile.right.clone());
        let after = move |c: usize| (right.start.max(c + 1)..right.end).filter(is_present).map(move |d| (c, d));
        left.filter(is_present).flat_map(after)
    }

    /// The rows of a class in its own column and in that of another class of the tile.
    pub(crate) fn operands<'t>(&'t self, tile: &'t PairTile<T>, class: usize, other: usize) -> (&'t [T], &'t [T]) {
        let is_left = class < other || tile.left == tile.right;
        let blocks = if is_left { &tile.left_blocks } else { &tile.right_blocks };
        (self.own[class].run(class, class), blocks.run(class, other))
    }
}

/// Classes per group where every thread has its own tile: a few megabytes, all threads together at most a tenth of the
/// scores.
pub(crate) fn own_group_width<T: Score>(sample: &ScoredSample<'_, T>, threads: usize) -> usize {
    const TILE_BYTES: f64 = 8e6;
    let by_cache = classes_within::<T>(TILE_BYTES, sample.classes(), sample.rows()).max(8.0);
    let by_memory = sample.classes() as f64 * (0.05 / threads as f64).sqrt();
    (by_cache.min(by_memory) as usize).max(1)
}

/// Classes per group where all threads share a tile.
pub(crate) fn shared_group_width<T: Score>(classes: usize, rows: usize) -> usize {
    const TILE_BYTES: f64 = 16e6;
    (classes_within::<T>(TILE_BYTES, classes, rows) as usize).max(8).min(classes)
}

/// Classes per group such that two groups, each in the columns of the other, take that many bytes.
fn classes_within<T>(bytes: f64, classes: usize, rows: usize) -> f64 {
    let rows_per_class = (rows as f64 / classes as f64).max(1.0);
    (bytes / (2.0 * rows_per_class * size_of::<T>() as f64)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::Cancel;
    use crate::sample::{ClassCodes, ScoreMatrix};

    const CLASSES: usize = 7;

    /// Compares what tiles hold with the scores read one by one.
    fn assert_tiles(matrix: ScoreMatrix<'_, f64>, codes: &[u8], weights: Option<&[f64]>, threads: usize) {
        let cancel = Cancel::new();
        let workers = Workers::with_threads(threads, &cancel);
        let sample = ScoredSample::new(matrix, ClassCodes::Bytes(codes), weights, &workers).expect("a sample");
        let rows = ClassRows::new(&sample, &workers).expect("no one cancels");
        let direct = |class: usize, column: usize| -> Vec<f64> {
            let counts = |row: &usize| codes[*row] as usize == class && weights.is_none_or(|w| w[*row] > 0.0);
            (0..codes.len()).filter(counts).map(|row| matrix.get(row, column)).collect()
        };
        let is_present = |class: usize| !direct(class, 0).is_empty();
        for width in [1, 2, 3, 5, CLASSES, 2 * CLASSES] {
            let tiles = PairTiles::new(&sample, &rows, width, &workers).expect("tiles");
            let mut seen = Vec::new();
            let mut tile = PairTile::default();
            for groups in tiles.tiles() {
                // Each tile takes over the memory of the one before.
                tile = tiles.gather(groups, tile, &workers).expect("a tile");
                for (c, d) in tiles.pairs(&tile) {
                    seen.push((c, d));
                    assert_eq!(tiles.operands(&tile, c, d), (&direct(c, c)[..], &direct(c, d)[..]), "{c}, {d}");
                    assert_eq!(tiles.operands(&tile, d, c), (&direct(d, d)[..], &direct(d, c)[..]), "{d}, {c}");
                }
            }
            let pairs = (0..CLASSES).flat_map(|c| (c + 1..CLASSES).map(move |d| (c, d)));
            seen.sort_unstable();
            assert_eq!(seen, pairs.filter(|&(c, d)| is_present(c) && is_present(d)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn operands_of_every_pair_are_the_scores_of_its_rows() {
        let count = 203;
        // Classes of different sizes, of which class 4 has no rows.
        let codes: Vec<u8> = (0..count as u32).map(|row| [0, 0, 1, 2, 3, 5, 6, 6, 6][row as usize * 5 % 9]).collect();
        let scores: Vec<f64> = (0..CLASSES * count).map(|cell| cell as f64).collect();
        let weights: Vec<f64> = (0..count).map(|row| (row % 4) as f64).collect();
        let by_rows = ScoreMatrix::from_rows(&scores, CLASSES).expect("a matrix");
        let by_columns = ScoreMatrix::new(&scores, 0, (count, CLASSES), (1, count as isize)).expect("a matrix");
        for matrix in [by_rows, by_columns] {
            for weights in [None, Some(&weights[..])] {
                for threads in [1, 3] {
                    assert_tiles(matrix, &codes, weights, threads);
                }
            }
        }
    }
}
