//! Models on the same rows compared class by class: the AUC of each class against the rest.

use crate::error::Result;
use crate::float::Score;
use crate::inference::{Design, Statistic};
use crate::metric::Metric;
use crate::metrics::{MetricOptions, evaluate};
use crate::parallel::Workers;
use crate::sample::{ScoreMatrix, ScoredSample};

/// The AUC of a class against the rest, but for a factor: the macro average where the scores of all other classes are
/// constant, so their AUCs are one half and do not vary. The factor is the number of classes that have rows.
///
/// # Errors
/// As [`evaluate`].
pub fn class_against_rest<T: Score>(
    sample: &ScoredSample<'_, T>,
    design: &Design,
    class: usize,
    workers: &Workers<'_>,
) -> Result<Statistic> {
    let columns = sample.scores.columns();
    let mut scores = vec![T::default(); sample.rows() * columns];
    for (row, scores) in scores.chunks_exact_mut(columns).enumerate() {
        scores[class] = sample.scores.get(row, class);
    }
    let alone = ScoredSample::new(ScoreMatrix::from_rows(&scores, columns)?, sample.codes, sample.weights, workers)?;
    let mut found = evaluate(&alone, design, &[Metric::OneVsRest], MetricOptions::DEFAULT, workers)?;
    Ok(found.statistics.remove(0))
}

/// The correlations of numbers, row by row, from what each row adds to each of them, in columns; rows of one group count
/// as one. A number to which no row adds anything is independent of the others.
#[must_use]
pub fn correlations(columns: &[Vec<f64>], groups: Option<&[u32]>) -> Vec<f64> {
    let units: Vec<Vec<f64>> = columns.iter().map(|column| sums_by_group(column, groups)).collect();
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let length = |unit: &Vec<f64>| Some(product(unit, unit)).filter(|&square| square > 0.0).map_or(1.0, f64::sqrt);
    let lengths: Vec<f64> = units.iter().map(length).collect();
    let count = columns.len();
    let entry = |a: usize, b: usize| {
        if a == b { 1.0 } else { product(&units[a], &units[b]) / (lengths[a] * lengths[b]) }
    };
    (0..count * count).map(|place| entry(place / count, place % count)).collect()
}

fn sums_by_group(column: &[f64], groups: Option<&[u32]>) -> Vec<f64> {
    let Some(groups) = groups else { return column.to_vec() };
    let mut sums = vec![0.0; groups.iter().max().map_or(0, |&largest| largest as usize + 1)];
    groups.iter().zip(column).for_each(|(&group, entry)| sums[group as usize] += entry);
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_correlate_by_their_sums() {
        let columns = [vec![1.0, 2.0, -3.0], vec![3.0, 0.0, -3.0], vec![0.0; 3]];
        let whole = [1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        for (entry, expected) in correlations(&columns, Some(&[0, 0, 1])).iter().zip(whole) {
            assert!((entry - expected).abs() < 1e-15);
        }
        let of_rows = correlations(&columns, None)[1];
        assert!((of_rows - 12.0 / (14.0_f64 * 18.0).sqrt()).abs() < 1e-15);
    }
}
