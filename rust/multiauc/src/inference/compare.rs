//! Several models on the same rows: their covariance and the variances of their differences.

use super::layout::Layout;
use super::moments::moments;
use super::{Estimate, estimate, segments};
use crate::error::Result;
use crate::parallel::Workers;

/// One metric of one model.
#[derive(Debug)]
pub struct ModelComponents {
    /// The metric.
    pub value: f64,
    pub(super) layout: Layout,
    pub(super) rows: Vec<f64>,
    pub(super) slopes: Vec<f64>,
}

impl ModelComponents {
    /// Independent units of each class: rows, or groups.
    #[must_use]
    pub fn units(&self) -> Vec<u64> {
        self.layout.units()
    }
}

/// Models evaluated on the same rows.
#[derive(Debug)]
pub struct ModelMoments {
    /// Each model's value and variance.
    pub estimates: Vec<Estimate>,
    /// Covariance of the models, row after row.
    pub covariance: Vec<f64>,
    /// (first, second, difference of the first and the second) for all pairs.
    pub differences: Vec<(usize, usize, Estimate)>,
}

/// Covariance of models on the same rows, and the variance of all their differences, each from the components of the
/// difference (the variances and covariances of models that hardly differ would cancel).
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
///
/// # Panics
/// If there is no model, or the models have different rows.
pub fn compare(models: &[ModelComponents], workers: &Workers<'_>) -> Result<ModelMoments> {
    let layout = &models[0].layout;
    assert!(models.iter().all(|model| model.rows.len() == layout.len()), "models have the same rows");
    let mut stacked = Vec::with_capacity(layout.len() * models.len());
    for position in 0..layout.len() {
        stacked.extend(models.iter().map(|model| model.rows[position]));
    }
    let slopes: Vec<Vec<f64>> = models.iter().map(|model| model.slopes.clone()).collect();
    let all = moments(layout, &segments(layout, &stacked, models.len()), models.len(), Some(&slopes), workers)?;
    let estimates = models.iter().enumerate().map(|(index, model)| estimate(layout, &all, index, model.value));
    let mut differences = Vec::new();
    let mut contrast = vec![0.0; layout.len()];
    for first in 0..models.len() {
        for second in first + 1..models.len() {
            workers.check()?;
            let (a, b) = (&models[first], &models[second]);
            contrast.iter_mut().zip(a.rows.iter().zip(&b.rows)).for_each(|(entry, (a, b))| *entry = a - b);
            let slopes = vec![a.slopes.iter().zip(&b.slopes).map(|(a, b)| a - b).collect()];
            let single = moments(layout, &segments(layout, &contrast, 1), 1, Some(&slopes), workers)?;
            differences.push((first, second, estimate(layout, &single, 0, a.value - b.value)));
        }
    }
    Ok(ModelMoments { estimates: estimates.collect(), covariance: all.covariance.clone(), differences })
}
