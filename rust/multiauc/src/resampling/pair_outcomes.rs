//! The 2 × 2 tables of pairs of classes, of a sample and of its resamples.

use super::draws::Draws;
use crate::error::Result;
use crate::float::Score;
use crate::sample::{Sampling, ScoredSample};
use crate::summary_roc::Table;

/// Which rows of each pair of classes (c, d) are taken for c, and how rows are drawn: the same resamples as of any
/// [`Resampler`](crate::Resampler).
#[derive(Debug, Clone)]
pub struct PairOutcomes {
    draws: Draws,
    pairs: Vec<Pair>,
}

/// Of the rows of both classes, in the order of [`ClassRows::of`](crate::sample::ClassRows::of), whether each is taken
/// for the first.
#[derive(Debug, Clone)]
struct Pair {
    classes: [usize; 2],
    is_first: [Vec<bool>; 2],
}

impl PairOutcomes {
    /// Looks at the scores of the pairs: a row is taken for c if its score for c is above a threshold, or above its
    /// score for d where there is none.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`](crate::Error::LengthMismatch) if the groups do not fit the rows.
    pub fn new<T: Score>(
        sample: &ScoredSample<'_, T>,
        sampling: Sampling<'_>,
        pairs: &[(usize, usize)],
        threshold: Option<f64>,
    ) -> Result<Self> {
        let draws = Draws::new(sample, sampling)?;
        let threshold = threshold.map(T::nearest);
        let look = |&(c, d): &(usize, usize)| {
            let is_first = |&row: &u32| {
                let limit = threshold.unwrap_or_else(|| sample.scores.get(row as usize, d));
                sample.scores.get(row as usize, c) > limit
            };
            Pair { classes: [c, d], is_first: [c, d].map(|class| draws.rows.of(class).iter().map(is_first).collect()) }
        };
        Ok(Self { pairs: pairs.iter().map(look).collect(), draws })
    }

    /// Number of rows.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.draws.sample_rows()
    }

    /// A table per pair.
    #[must_use]
    pub fn of_sample(&self) -> Vec<Table> {
        self.count(&vec![1; self.rows()])
    }

    /// The tables of one resample.
    #[must_use]
    pub fn of_resample(&self, seed: u64, replicate: u32) -> Vec<Table> {
        self.count(&self.draws.multiplicities(seed, replicate))
    }

    fn count(&self, times: &[u8]) -> Vec<Table> {
        let table = |pair: &Pair| {
            let mut cells = [0_u64; 4];
            for (side, are_first) in pair.is_first.iter().enumerate() {
                for (&row, &is_first) in self.draws.rows.of(pair.classes[side]).iter().zip(are_first) {
                    cells[2 * side + usize::from(!is_first)] += u64::from(times[row as usize]);
                }
            }
            cells.map(|count| count as f64)
        };
        self.pairs.iter().map(table).collect()
    }
}
