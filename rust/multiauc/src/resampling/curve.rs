//! The ROC curve of one class in resamples.

use super::draws::Draws;
use crate::curves::{CurveRates, CurveSides, check_present};
use crate::error::Result;
use crate::float::Score;
use crate::parallel::Workers;
use crate::sample::{Sampling, ScoredSample};

/// The rows of a curve in the order of their scores, and how they are drawn: the same resamples as of any
/// [`Resampler`](crate::Resampler).
#[derive(Debug, Clone)]
pub struct CurveResampler {
    draws: Draws,
    rows: Vec<CurveRow>,
}

/// A row on one of the sides of the curve.
#[derive(Debug, Clone, Copy)]
struct CurveRow {
    row: usize,
    weight: f64,
    is_positive: bool,
    /// Whether a threshold lies after it: it is the last one of its score.
    is_last: bool,
}

impl CurveResampler {
    /// Sorts the rows of a curve (positive class, negative class or all others) by the score of the positive class.
    ///
    /// # Errors
    /// [`Error::AbsentClass`](crate::Error::AbsentClass) if a side of the curve has no rows.
    pub fn new<T: Score>(sample: &ScoredSample<'_, T>, sampling: Sampling<'_>, curve: CurveSides) -> Result<Self> {
        let draws = Draws::new(sample, sampling)?;
        check_present(&draws.rows, &[curve])?;
        let (positive, negative) = curve;
        let is_on_curve = |&row: &usize| {
            let code = sample.codes.get(row);
            sample.has_row(row) && (code == positive || negative.is_none_or(|negative| negative == code))
        };
        let mut order: Vec<(f64, usize)> = (0..sample.rows())
            .filter(is_on_curve)
            .map(|row| (sample.scores.get(row, positive).widened(), row))
            .collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0));
        let row = |place: usize| CurveRow {
            row: order[place].1,
            weight: sample.weights.map_or(1.0, |weights| weights[order[place].1]),
            is_positive: sample.codes.get(order[place].1) == positive,
            is_last: order.get(place + 1).is_none_or(|next| next.0 != order[place].0),
        };
        Ok(Self { rows: (0..order.len()).map(row).collect(), draws })
    }

    /// Number of rows of the curve.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// What `look` sees in the curves of resamples `first`, `first` + 1, …; NaN where one holds no row of a side.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn look(
        &self,
        (seed, first, count): (u64, u32, u32),
        workers: &Workers<'_>,
        look: impl Fn(CurveRates<'_>) -> f64 + Sync,
    ) -> Result<Vec<f64>> {
        workers.map(count as usize, |index| {
            let times = self.draws.multiplicities(seed, first.wrapping_add(index as u32));
            let (mut right, mut wrong) = (vec![0.0], vec![0.0]);
            let (mut found, mut missed) = (0.0, 0.0);
            for row in &self.rows {
                let mass = f64::from(times[row.row]) * row.weight;
                *(if row.is_positive { &mut found } else { &mut missed }) += mass;
                if row.is_last {
                    right.push(found);
                    wrong.push(missed);
                }
            }
            if found <= 0.0 || missed <= 0.0 {
                return Ok(f64::NAN);
            }
            for sum in &mut right {
                *sum /= found;
            }
            for sum in &mut wrong {
                *sum /= missed;
            }
            Ok(look(CurveRates { false_positive: &wrong, true_positive: &right }))
        })
    }
}
