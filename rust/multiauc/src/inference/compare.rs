//! Several statistics of the same kind on the same rows: their covariance and the variances of their differences.

use super::design::Design;
use super::moments::{Moments, estimate_difference, moments};
use super::statistic::{Estimate, Statistic};
use super::unit_sums::Segment;
use super::worst_case::WorstCase;
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
    for (index, a) in models.iter().enumerate() {
        for b in &models[index + 1..] {
            workers.check()?;
            differences.push(difference(design, a, b, workers)?);
        }
    }
    Ok(Compared { estimates, covariance, differences })
}

/// The first statistic minus the second, with the variance of the difference of their components. Its degrees of freedom
/// are at most ν₀, those of class sizes alone ([`WorstCase`]).
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
///
/// # Panics
/// If a statistic is not of the design's rows.
pub fn difference(design: &Design, a: &Statistic, b: &Statistic, workers: &Workers<'_>) -> Result<Estimate> {
    let rows = &design.rows;
    assert!([a, b].iter().all(|one| one.components.len() == rows.len()), "statistics have the same rows");
    let contrast: Vec<f64> = a.components.iter().zip(&*b.components).map(|(a, b)| a - b).collect();
    let slopes: Vec<f64> = a.slopes.iter().zip(&b.slopes).map(|(a, b)| a - b).collect();
    let of_class: Vec<[&[f64]; 1]> = rows.present().iter().map(|&class| [&contrast[rows.range(class)]]).collect();
    let segments: Vec<Segment<'_>> =
        rows.present().iter().zip(&of_class).map(|(&class, columns)| Segment { class, columns }).collect();
    let found = estimate_difference(design, &segments, (&slopes, a.id), a.value - b.value, workers)?;
    let most = WorstCase::of(design, a).map_or(f64::INFINITY, |worst| worst.degrees_of_freedom.max(1.0));
    let degrees_of_freedom = if found.degrees_of_freedom > most { most } else { found.degrees_of_freedom };
    Ok(Estimate { degrees_of_freedom, ..found })
}

/// The mean of statistics of one metric on the same rows, such as those of several trainings of a model.
///
/// # Panics
/// If there are none.
#[must_use]
pub fn average(statistics: &[&Statistic]) -> Statistic {
    let (first, rest) = statistics.split_first().expect("at least one statistic");
    let share = (statistics.len() as f64).recip();
    let mean = |of: fn(&Statistic) -> &[f64]| -> Vec<f64> {
        let mut sums = of(first).to_vec();
        for one in rest {
            sums.iter_mut().zip(of(one)).for_each(|(sum, entry)| *sum += entry);
        }
        sums.iter().map(|sum| sum * share).collect()
    };
    Statistic {
        value: statistics.iter().map(|one| one.value).sum::<f64>() * share,
        components: mean(|one| &one.components).into(),
        slopes: mean(|one| &one.slopes),
        ..(*first).clone()
    }
}
