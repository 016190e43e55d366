//! Several statistics of the same kind on the same rows: their covariance and the variances of their differences.

use super::design::Design;
use super::moments::{Moments, estimate_difference, moments};
use super::statistic::{Estimate, Statistic};
use super::unit_sums::Segment;
use crate::error::Result;
use crate::parallel::Workers;

/// Models evaluated on the same rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// Each model's value and variance.
    pub estimates: Vec<Estimate>,
    /// Covariance of the models, row by row.
    pub covariance: Vec<f64>,
    /// The first minus the second, for all pairs of models in order.
    pub differences: Vec<Estimate>,
}

/// Covariance of models on the same rows, and the variance of all their differences, each from the components of the
/// difference (the variances and covariances of models that hardly differ would cancel).
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
///
/// # Panics
/// If a statistic is not of the design's rows.
pub fn compare(design: &Design, models: &[Statistic], workers: &Workers<'_>) -> Result<Compared> {
    let rows = &design.rows;
    assert!(models.iter().all(|model| model.components.len() == rows.len()), "models have the same rows");
    let Moments { estimates, covariance } = moments(design, models, workers)?;
    let mut differences = Vec::new();
    let mut contrast = vec![0.0; rows.len()];
    for (index, a) in models.iter().enumerate() {
        for b in &models[index + 1..] {
            workers.check()?;
            let pairs = a.components.iter().zip(&b.components);
            contrast.iter_mut().zip(pairs).for_each(|(entry, (a, b))| *entry = a - b);
            let slopes: Vec<f64> = a.slopes.iter().zip(&b.slopes).map(|(a, b)| a - b).collect();
            let of_class: Vec<[&[f64]; 1]> =
                rows.present().iter().map(|&class| [&contrast[rows.range(class)]]).collect();
            let segments: Vec<Segment<'_>> =
                rows.present().iter().zip(&of_class).map(|(&class, columns)| Segment { class, columns }).collect();
            let of = (&slopes[..], a.id);
            differences.push(estimate_difference(design, &segments, of, a.value - b.value, workers)?);
        }
    }
    Ok(Compared { estimates, covariance, differences })
}
