//! Means over rows of a number that each row has by itself: log loss, Brier score, top-k accuracy.
//!
//! θ = Σ w_i l_i/W. Its statistic has the component π_k l_i, and the slope l̄_k in the prevalence of class k, so
//! where class sizes are random a row adds (w_i/W)(l_i − θ) to the error. Rows are then centred on one mean, not class by
//! class: with equal weights the variance is s²/n.

use super::MetricOptions;
use super::hard_labels::read_row;
use crate::error::{Error, Result};
use crate::float::Score;
use crate::inference::{Design, Statistic, WorstCase};
use crate::metric::Metric;
use crate::parallel::Workers;
use crate::sample::{ClassRows, ScoredSample, WrongSum, first_wrong_sum};

/// The value of one of these metrics. With p the scores of a row of class y:
///
/// * `LogLoss`: −ln p_y, or −ln max(p_y, `clip`).
/// * `Brier`: Σ_k (p_k − [k = y])², and half of it for two classes, (1 − p_y)².
/// * `TopKAccuracy`: 1 if fewer than k scores are larger than p_y. Where p_y ties with others for the last places, the
///   share of the tied scores that there is a place for.
///
/// # Errors
/// [`Error::NotProbabilities`], [`Error::NegativeProbability`], [`Error::ZeroProbability`], [`Error::NotAProbability`],
/// [`Error::Cancelled`].
pub(super) fn row_mean<T: Score>(
    sample: &ScoredSample<'_, T>,
    metric: Metric,
    options: MetricOptions<'_>,
    workers: &Workers<'_>,
) -> Result<f64> {
    let rows = ClassRows::new(sample, workers)?;
    Ok(mean(&rows, of_rows(sample, &rows, metric, options, workers)?))
}

/// The same with the components of the rows.
pub(super) fn row_mean_statistic<T: Score>(
    sample: &ScoredSample<'_, T>,
    design: &Design,
    metric: Metric,
    options: MetricOptions<'_>,
    workers: &Workers<'_>,
) -> Result<Statistic> {
    let rows = &design.rows;
    let mut components = of_rows(sample, rows, metric, options, workers)?;
    let value = mean(rows, components.clone());
    let mut slopes = vec![0.0; rows.classes()];
    for &class in rows.present() {
        let prevalence = rows.weight(class) / rows.total_weight();
        let of_class = &mut components[rows.range(class)];
        let masses = rows.range(class).map(|position| rows.mass(position as u32));
        let sum: f64 = of_class.iter().zip(masses).map(|(value, mass)| value * mass).sum();
        slopes[class] = sum / rows.weight(class);
        for value in of_class {
            *value *= prevalence;
        }
    }
    // A share of rows could rest on any of them.
    let worst = (metric == Metric::TopKAccuracy).then(|| WorstCase {
        design_effect: design.effective_total().recip(),
        failures: 0.25,
        degrees_of_freedom: f64::INFINITY,
    });
    Ok(Statistic { id: metric, value, components: components.into(), slopes, chances: None, worst })
}

/// The weighted mean, which rounding must not bring out of the range of the values. Equal weights are summed in rising
/// order, so that the order of rows does not matter.
fn mean(rows: &ClassRows, mut values: Vec<f64>) -> f64 {
    if rows.weights().is_some() {
        let sum: f64 = values.iter().enumerate().map(|(position, value)| rows.mass(position as u32) * value).sum();
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        return (sum / rows.total_weight()).clamp(least, most);
    }
    values.sort_unstable_by(f64::total_cmp);
    values.iter().sum::<f64>() / values.len() as f64
}

/// What each row has, by position.
fn of_rows<T: Score>(
    sample: &ScoredSample<'_, T>,
    rows: &ClassRows,
    metric: Metric,
    options: MetricOptions<'_>,
    workers: &Workers<'_>,
) -> Result<Vec<f64>> {
    if metric != Metric::TopKAccuracy {
        check_probabilities(sample, workers)?;
    }
    let class_of = rows.class_of();
    let spans = workers.row_spans(rows.len(), 8);
    let parts = workers.map_with(
        spans.len(),
        || vec![0.0; sample.classes()],
        |scores, span| {
            let mut found = Vec::with_capacity(spans[span].len());
            for position in spans[span].clone() {
                let class = class_of[position] as usize;
                read_row(sample, rows.rows()[position] as usize, scores)?;
                found.push(match metric {
                    Metric::TopKAccuracy => top_k_credit(scores, class, options.k),
                    Metric::Brier => brier(scores, class),
                    _ => log_loss(scores[class].max(options.clip.unwrap_or(0.0))),
                });
            }
            Ok(found)
        },
    )?;
    let found = parts.concat();
    // The first in the order of the sample's rows.
    let impossible = (0..found.len()).filter(|&position| found[position].is_infinite());
    if let Some(position) = { impossible }.min_by_key(|&position| rows.rows()[position]) {
        let row = rows.rows()[position] as usize;
        return Err(Error::ZeroProbability { row, column: class_of[position] as usize });
    }
    Ok(found)
}

/// Plus zero: −ln 1 is 0, not −0.
pub(crate) fn log_loss(probability: f64) -> f64 {
    -probability.ln() + 0.0
}

pub(crate) fn brier(probabilities: &[f64], class: usize) -> f64 {
    let square = |(column, p): (usize, &f64)| (p - f64::from(u8::from(column == class))).powi(2);
    let sum: f64 = probabilities.iter().enumerate().map(square).sum();
    if probabilities.len() == 2 { 0.5 * sum } else { sum }
}

pub(crate) fn top_k_credit(scores: &[f64], class: usize, k: usize) -> f64 {
    let above = scores.iter().filter(|&&score| score > scores[class]).count();
    let tied = scores.iter().filter(|&&score| score == scores[class]).count();
    (k.saturating_sub(above) as f64 / tied as f64).min(1.0)
}

/// # Errors
/// [`Error::NotProbabilities`], [`Error::NegativeProbability`].
fn check_probabilities<T: Score>(sample: &ScoredSample<'_, T>, workers: &Workers<'_>) -> Result<()> {
    if let Some(WrongSum { row, sum, tolerance }) = first_wrong_sum(sample, workers)? {
        return Err(Error::NotProbabilities { row, sum, tolerance });
    }
    if sample.has_single_score() {
        return Ok(());
    }
    let spans = workers.row_spans(sample.rows(), 8);
    let first_negative = workers.map(spans.len(), |span| {
        let cells = spans[span].clone().filter(|&row| sample.has_row(row));
        let cells = cells.flat_map(|row| (0..sample.classes()).map(move |column| (row, column)));
        let scored = cells.map(|(row, column)| (row, column, sample.scores.get(row, column).into()));
        Ok({ scored }.find(|&(_, _, value): &(usize, usize, f64)| value < 0.0))
    })?;
    match first_negative.into_iter().flatten().next() {
        Some((row, column, value)) => Err(Error::NegativeProbability { row, column, value }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inference::{Estimate, moments};
    use crate::parallel::Cancel;
    use crate::sample::{ClassCodes, Sampling, ScoreMatrix};

    const PROBABILITIES: [f64; 18] =
        [0.6, 0.3, 0.1, 0.25, 0.5, 0.25, 0.5, 0.4, 0.1, 0.2, 0.7, 0.1, 0.1, 0.2, 0.7, 0.4, 0.35, 0.25];
    const CODES: [u8; 6] = [0, 0, 1, 1, 2, 2];

    fn estimate(
        metric: Metric,
        scores: &[f64],
        options: MetricOptions<'_>,
        sampling: Sampling<'_>,
    ) -> Result<Estimate> {
        let cancel = Cancel::new();
        let workers = Workers::with_threads(2, &cancel);
        let matrix = ScoreMatrix::from_rows(scores, 3)?;
        let sample = ScoredSample::new(matrix, ClassCodes::Bytes(&CODES), None, &workers)?;
        let design = Design::new(&sample, sampling, &workers)?;
        let statistic = row_mean_statistic(&sample, &design, metric, options, &workers)?;
        assert_eq!(statistic.value, row_mean(&sample, metric, options, &workers)?);
        Ok(moments(&design, &[statistic], &workers)?.estimates[0])
    }

    /// Mean, s²/n and the degrees of freedom by the kurtosis.
    fn of_values(values: &[f64]) -> [f64; 3] {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let power = |exponent: i32| values.iter().map(|value| (value - mean).powi(exponent)).sum::<f64>() / n;
        let kurtosis = power(4) / power(2).powi(2) - 3.0;
        [mean, power(2) / (n - 1.0), (n - 1.0) / (1.0 + kurtosis.max(0.0) * (n - 1.0) / (2.0 * n))]
    }

    #[test]
    fn means_have_the_variance_of_means() -> Result<()> {
        let options = MetricOptions::default();
        let own: [f64; 6] = [0.6, 0.25, 0.4, 0.7, 0.7, 0.25];
        let expected = of_values(&own.map(|p| -p.ln()));
        let found = estimate(Metric::LogLoss, &PROBABILITIES, options, Sampling::Iid)?;
        for (found, expected) in [found.value, found.variance, found.degrees_of_freedom].into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
        }
        // .3 .3, .25 and .4: rows one and three are right at k = 1, two and six have a tie for the second place.
        let options = MetricOptions { k: 2, ..options };
        let found = estimate(Metric::TopKAccuracy, &PROBABILITIES, options, Sampling::Iid)?;
        let expected = of_values(&[1.0, 0.5, 1.0, 1.0, 1.0, 0.0]);
        assert!((found.value - expected[0]).abs() < 1e-15 && (found.variance - expected[1]).abs() < 1e-15);
        assert_eq!(found.worst.map(|worst| worst.design_effect), Some(1.0 / 6.0));
        Ok(())
    }

    #[test]
    fn fixed_class_sizes_leave_what_varies_within_classes() -> Result<()> {
        let found = estimate(Metric::Brier, &PROBABILITIES, MetricOptions::default(), Sampling::Stratified)?;
        let of_rows: Vec<f64> = (0..6).map(|row| brier(&PROBABILITIES[3 * row..][..3], CODES[row] as usize)).collect();
        assert!((of_rows[0] - (0.16 + 0.09 + 0.01)).abs() < 1e-15);
        let expected: f64 = of_rows.chunks(2).map(|pair| (pair[0] - pair[1]).powi(2) / 4.0 / 9.0).sum();
        assert!((found.variance - expected).abs() < 1e-15);
        Ok(())
    }

    #[test]
    fn what_is_not_a_probability_is_named() {
        let with = |place: usize, values: &[f64]| {
            let mut scores = PROBABILITIES;
            scores[place..place + values.len()].copy_from_slice(values);
            scores
        };
        let error = |scores: &[f64; 18], clip: Option<f64>| {
            let options = MetricOptions { clip, ..MetricOptions::default() };
            estimate(Metric::LogLoss, scores, options, Sampling::Iid).err()
        };
        let zero = with(9, &[0.9, 0.0, 0.1]);
        assert_eq!(error(&zero, None), Some(Error::ZeroProbability { row: 3, column: 1 }));
        assert_eq!(error(&zero, Some(1e-15)), None);
        assert_eq!(error(&with(3, &[1.25]), None), Some(Error::NotProbabilities { row: 1, sum: 2.0, tolerance: 1e-6 }));
        assert_eq!(
            error(&with(3, &[-0.25, 1.0, 0.25]), None),
            Some(Error::NegativeProbability { row: 1, column: 0, value: -0.25 })
        );
    }
}
