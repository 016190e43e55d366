//! Hand & Till's M of stored scores.

use super::columns::{Column, StoredWins};
use super::own_rows::{CountedRows, OwnRows, WeightedRows};
use super::sparse_sample::SparseSample;
use crate::error::Result;
use crate::float::Score;
use crate::pairs::{PairAverage, PairSizes, PairWeights};
use crate::parallel::Workers;

/// [`hand_till`](crate::hand_till) of stored scores, in time that grows with their number. (A matrix of pair weights is
/// read in whole.)
///
/// # Errors
/// [`Error::NoPairWeight`](crate::Error::NoPairWeight), [`Error::Cancelled`](crate::Error::Cancelled).
///
/// ```
/// use multiauc::{Cancel, ClassCodes, ColumnNumbers, PairWeights, SparseSample, SparseScores, Workers, sparse_hand_till};
///
/// let cancel = Cancel::new();
/// let workers = Workers::with_threads(1, &cancel);
/// // Row 0 has 0.9 in column 0, row 1 has 0.8 in column 1, row 2 has nothing.
/// let scores = SparseScores::new(&[0.9, 0.8], ColumnNumbers::Ints(&[0, 1]), &[0, 1, 2, 2], 3)?;
/// let sample = SparseSample::new(scores, ClassCodes::Bytes(&[0, 1, 2]), None, &workers)?;
/// // Columns 0 and 1 rank their rows first; in column 2 all rows tie.
/// assert_eq!(sparse_hand_till(&sample, PairWeights::Equal, &workers)?, (4.0 + 2.0 * 0.5) / 6.0);
/// # Ok::<(), multiauc::Error>(())
/// ```
pub fn sparse_hand_till<T: Score>(
    sample: &SparseSample<'_, T>,
    weights: PairWeights<'_>,
    workers: &Workers<'_>,
) -> Result<f64> {
    if sample.is_weighted() {
        average_of::<T, WeightedRows>(sample, weights, workers)
    } else {
        average_of::<T, CountedRows<T>>(sample, weights, workers)
    }
}

fn average_of<T: Score, O: OwnRows<T>>(
    sample: &SparseSample<'_, T>,
    weights: PairWeights<'_>,
    workers: &Workers<'_>,
) -> Result<f64> {
    let runs = sample.runs_of_columns();
    let parts = workers.map_with(
        runs.len(),
        || StoredWins::new(sample.classes()),
        |stored, run| {
            let mut part = PairAverage::default();
            for class in runs[run].clone().filter(|&class| sample.has_class(class)) {
                let column = Column::<T, O>::new(sample, class);
                column.count_stored(stored, workers)?;
                add_column(&mut part, &column, sample, weights, stored);
            }
            Ok(part)
        },
    )?;
    parts.into_iter().fold(PairAverage::default(), PairAverage::merge).finish()
}

fn add_column<T: Score, O: OwnRows<T>>(
    average: &mut PairAverage,
    column: &Column<'_, '_, T, O>,
    sample: &SparseSample<'_, T>,
    weights: PairWeights<'_>,
    stored: &StoredWins<O::Won>,
) {
    let sizes = |d: usize| PairSizes::of(sample.sizes(), column.class, d);
    if let PairWeights::Matrix(_) = weights {
        // Every pair has a weight of its own.
        let others = (0..sample.classes()).filter(|&d| d != column.class && sample.has_class(d));
        others.for_each(|d| average.add(weights, sizes(d), column.wins_over(d, stored)));
        return;
    }
    for &d in stored.classes() {
        average.add(weights, sizes(d), column.wins_over(d, stored));
    }
    let (classes, others) = column.unstored_classes(stored);
    if classes > 0 {
        let together =
            PairSizes { rows: [column.own.rows, others.rows], weights: [column.own.weight, others.weight], cell: 0 };
        average.add_alike(weights, together, classes, column.wins_over_unstored());
    }
}
