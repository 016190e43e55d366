//! The volume under the ROC surface of ordered classes (Scurfield 1996; Nakas & Yiannoutsos 2004).

use super::hum::chances_of_tuples;
use crate::error::Result;
use crate::float::Score;
use crate::inference::{Design, Statistic};
use crate::metric::Metric;
use crate::parallel::Workers;
use crate::sample::{ClassRows, ScoredSample};
use crate::volume;

/// P(s(x_1) < … < s(x_K)) for one row x_k of each class, by the scores of the last column; where t consecutive classes tie
/// the credit is 1/t!. Chance is 1/K!, perfect 1. O(n log n + nK) at most.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
///
/// # Examples
/// ```
/// use multiauc::{Cancel, ClassCodes, ScoreMatrix, ScoredSample, Workers, ordered_vus};
/// let cancel = Cancel::new();
/// let workers = Workers::with_threads(1, &cancel);
/// let scores = [1.0, 2.0, 3.0, 2.5];
/// // One score for all of three classes.
/// let matrix = ScoreMatrix::new(&scores, 0, (4, 3), (1, 0))?;
/// let sample = ScoredSample::new(matrix, ClassCodes::Bytes(&[0, 1, 2, 1]), None, &workers)?;
/// assert_eq!(ordered_vus(&sample, &workers)?, 1.0);
/// # Ok::<(), multiauc::Error>(())
/// ```
pub fn ordered_vus<T: Score>(sample: &ScoredSample<'_, T>, workers: &Workers<'_>) -> Result<f64> {
    volume::ordered_vus(sample, &ClassRows::new(sample, workers)?, workers)
}

/// The same with the components of the rows: T(i) is the share of the tuples through row i that are in order.
pub(super) fn ordered_vus_statistic<T: Score>(
    sample: &ScoredSample<'_, T>,
    design: &Design,
    workers: &Workers<'_>,
) -> Result<Statistic> {
    let (value, components) = volume::ordered_vus_components(sample, &design.rows, workers)?;
    Ok(Statistic {
        id: Metric::OrderedVus,
        value,
        components: components.into(),
        // Class sizes do not matter: a tuple has one row of each class.
        slopes: vec![0.0; design.rows.classes()],
        chances: Some(chances_of_tuples(&design.rows)),
        worst: None,
    })
}
