//! What lies between two neighbouring thresholds, where they tell (nearly) all pairs apart.
//!
//! Thresholds are quantiles, and none of them need fall into the gap between the positive and the negative rows. Whether
//! there is such a gap, the same step of the grid for all pairs, is seen from the cells of that step.

/// Score of a row, by row and column of the sample.
pub(in crate::multiclass_roc) type ScoreOf<'a> = &'a (dyn Fn(usize, usize) -> f64 + Sync);

/// The cells of the counted pairs between two neighbouring thresholds.
#[derive(Debug, Clone)]
pub(super) struct Step {
    /// How many thresholds are not below its cells.
    pub code: usize,
    pub cells: Vec<StepCell>,
}

/// The score of a row among the thresholds of a grid.
#[derive(Debug, Clone, Copy)]
pub(super) struct StepCell {
    pub side: Side,
    pub position: u32,
    pub score: f64,
}

/// A grid, and whether rows are positive or negative under it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Side {
    pub grid: usize,
    pub is_positive: bool,
}

impl Step {
    pub(super) const fn new(code: usize) -> Self {
        Self { code, cells: Vec::new() }
    }

    /// Whether no row of the counted pairs lies on the wrong side of the step.
    pub(super) fn has_all_between(&self, rates: &[f64], counted: &[bool]) -> bool {
        let (tp, fp) = rates.split_at(rates.len() / 2);
        let row_is = |half: &[f64], row: usize, rate: f64| {
            let of_pairs = half.chunks_exact(counted.len()).nth(row);
            of_pairs.is_none_or(|found| found.iter().zip(counted).all(|(&found, &counts)| !counts || found == rate))
        };
        (self.code == 0 || row_is(fp, self.code - 1, 0.0)) && row_is(tp, self.code, 1.0)
    }

    /// Whether one threshold of each grid tells the rows apart that are `drawn` and in the step.
    pub(super) fn is_ordered(&self, grids: usize, drawn: impl Fn(usize) -> bool) -> bool {
        let (mut lowest, mut highest) = (vec![f64::INFINITY; grids], vec![f64::NEG_INFINITY; grids]);
        for &StepCell { side, score, .. } in self.cells.iter().filter(|cell| drawn(cell.position as usize)) {
            if side.is_positive {
                lowest[side.grid] = lowest[side.grid].min(score);
            } else {
                highest[side.grid] = highest[side.grid].max(score);
            }
        }
        lowest.iter().zip(&highest).all(|(positive, negative)| positive > negative)
    }
}

/// The steps that could separate the counted pairs of the sample, or of a bootstrap sample that leaves some of its rows
/// out: those with at most a tenth of the rows on the wrong side, on average over pairs.
pub(super) fn candidates(rates: &[f64], counted: &[bool]) -> Vec<usize> {
    const WRONG_SHARE: f64 = 0.1;
    let pairs = counted.len();
    let number = counted.iter().filter(|&&counts| counts).count() as f64;
    let (tp, fp) = rates.split_at(rates.len() / 2);
    let mean = |row: &[f64]| {
        row.iter().zip(counted).filter(|(_, counts)| **counts).map(|(rate, _)| rate).sum::<f64>() / number
    };
    let thresholds = tp.len() / pairs;
    let missed = (0..=thresholds).map(|code| tp.chunks_exact(pairs).nth(code).map_or(0.0, |row| 1.0 - mean(row)));
    let passed =
        (0..=thresholds).map(|code| code.checked_sub(1).map_or(0.0, |above| mean(&fp[above * pairs..][..pairs])));
    missed
        .zip(passed)
        .enumerate()
        .filter(|(_, (missed, passed))| missed + passed <= WRONG_SHARE)
        .map(|(code, _)| code)
        .collect()
}
