//! The variances of single pairs of classes.

use super::layout::{Design, Layout};
use super::moments::{Segment, moments};
use super::pairs::{PairScratch, for_each_pair, place_by_column};
use crate::error::Result;
use crate::parallel::Workers;
use crate::score_matrix::Score;
use crate::scored_sample::ScoredSample;

/// Var A(c|d) at row c and column d of a K × K matrix, row after row; NaN on the diagonal and for absent classes.
///
/// # Errors
/// [`Error::LengthMismatch`](crate::Error::LengthMismatch) for groups, [`Error::Cancelled`](crate::Error::Cancelled).
pub fn hand_till_variances<T: Score>(
    sample: &ScoredSample<'_, T>,
    design: Design<'_>,
    workers: &Workers<'_>,
) -> Result<Vec<f64>> {
    let classes = sample.classes();
    let layout = Layout::new(sample, design)?;
    let mut variances = vec![f64::NAN; classes * classes];
    for_each_pair(
        sample,
        &layout,
        workers,
        |scratch: &mut PairScratch, pair| {
            let variance = |column: usize, scratch: &mut PairScratch| -> Result<f64> {
                let placed = place_by_column(&layout, pair, column, &mut scratch.ordered);
                let (own, other) = (pair.classes[column], pair.classes[1 - column]);
                let [of_own, of_other] = &placed.placements;
                let segments = [Segment { class: own, values: of_own }, Segment { class: other, values: of_other }];
                Ok(moments(&layout, &segments, 1, None, workers)?.variance(0))
            };
            Ok((pair.classes, [variance(0, scratch)?, variance(1, scratch)?]))
        },
        |wave| {
            for ([c, d], [of_c, of_d]) in wave {
                variances[c * classes + d] = of_c;
                variances[d * classes + c] = of_d;
            }
            Ok(())
        },
    )?;
    Ok(variances)
}
