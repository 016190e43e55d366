//! Average precision of each class against the rest: the mean precision at the scores of the class's own rows.
//!
//! At score s of column c, A(s) is the weight of the rows of class c with scores from s up, B(s) that of all others.
//! Precision is P = A/(A + B), and AP_c the mean of P(s_i) over the rows i of class c: scikit-learn's sum over distinct
//! scores of precision times the increase of recall, without interpolation. With W₊ and W₋ the weights of both sides, a
//! row adds to the error of AP_c through every own row i that it is not below:
//!
//! T(j) = P(s_j) + mean over own i with s_i ≤ s_j of W₊ B/(A + B)² for own rows,
//! T(j) = −(W_d/W₋) · mean over own i with s_i ≤ s_j of W₋ A/(A + B)² for rows of another class d,
//!
//! both taken at s_i. The slope in the prevalence of class d is the mean of T over its rows, over π_d; those of all classes,
//! weighted by π, sum to zero, as AP depends on ratios of prevalences only.

use super::waves::in_waves;
use crate::error::Result;
use crate::float::Score;
use crate::inference::{Contribution, Design, Estimate, Segment, Statistic, WorstCase, add, estimate_one};
use crate::memory::Pool;
use crate::metric::Metric;
use crate::pairs::weighted_mean;
use crate::parallel::Workers;
use crate::sample::{ClassRows, ScoredSample};

/// With so many failures seen, data and worst case count the same.
const FAILURES: f64 = 0.25;

/// Whether a metric is an average of these.
pub(super) const fn is_average_precision(metric: Metric) -> bool {
    matches!(metric, Metric::AveragePrecision | Metric::AveragePrecisionPrevalence)
}

/// AP_c of every class; NaN for absent classes. Of a single score, the first class is ranked by its negative.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
///
/// # Examples
/// ```
/// use multiauc::{Cancel, ClassCodes, ScoreMatrix, ScoredSample, Workers, average_precision_per_class};
/// let cancel = Cancel::new();
/// let workers = Workers::with_threads(1, &cancel);
/// let matrix = ScoreMatrix::from_rows(&[0.1, 0.4, 0.35, 0.8], 1)?;
/// let sample = ScoredSample::new(matrix, ClassCodes::Bytes(&[0, 0, 1, 1]), None, &workers)?;
/// // Precision 1 at .8 and 2/3 at .35.
/// assert!((average_precision_per_class(&sample, &workers)?[1] - 5.0 / 6.0).abs() < 1e-15);
/// # Ok::<(), multiauc::Error>(())
/// ```
pub fn average_precision_per_class<T: Score>(sample: &ScoredSample<'_, T>, workers: &Workers<'_>) -> Result<Vec<f64>> {
    let rows = ClassRows::new(sample, workers)?;
    let found = workers
        .map(rows.present().len(), |index| Ok(Column::new(sample, &rows, rows.present()[index]).value(&rows)))?;
    let mut values = vec![f64::NAN; rows.classes()];
    rows.present().iter().zip(found).for_each(|(&class, value)| values[class] = value);
    Ok(values)
}

/// The mean of AP_c over the classes that have rows, or weighted by their prevalence. With a single score, AP of the second
/// class alone, which is what the score is of.
pub(super) fn average_precision<T: Score>(
    sample: &ScoredSample<'_, T>,
    metric: Metric,
    workers: &Workers<'_>,
) -> Result<f64> {
    average(&average_precision_per_class(sample, workers)?, &weights(metric, sample, &sample.sizes.weights))
}

/// What is computed from the columns.
pub(super) struct AveragePrecisions {
    /// Those asked for, in that order.
    pub statistics: Vec<Statistic>,
    /// Each class against the rest.
    pub per_class: Vec<Estimate>,
}

/// Some averages of AP_c with the components of the rows, and every AP_c with its variance.
pub(super) fn average_precision_statistics<T: Score>(
    sample: &ScoredSample<'_, T>,
    design: &Design,
    wanted: &[Metric],
    workers: &Workers<'_>,
) -> Result<AveragePrecisions> {
    let rows = &design.rows;
    let classes = rows.classes();
    let coefficients: Vec<Vec<f64>> =
        wanted.iter().map(|&metric| weights(metric, sample, &rows.sizes().weights)).collect();
    let mut values = vec![f64::NAN; classes];
    let mut per_class = vec![Estimate::MISSING; classes];
    let mut class_slopes = vec![vec![0.0; classes]; classes];
    let mut components: Vec<Vec<f64>> = wanted.iter().map(|_| vec![0.0; rows.len()]).collect();
    let place_column = |(): &mut (), index: usize| {
        let column = Column::new(sample, rows, rows.present()[index]);
        Ok((column.class, column.value(rows), column.components(rows)))
    };
    in_waves(workers, &Pool::default(), (rows.present().len(), 1), place_column, |wave| {
        let mut contributions = Vec::with_capacity(wave.len());
        for (class, value, of_rows) in &wave {
            values[*class] = *value;
            class_slopes[*class] = slopes_of(rows, *class, of_rows);
            per_class[*class] = estimate_class(design, *class, of_rows, &class_slopes[*class], *value, workers)?;
            let coefficients = coefficients.iter().map(|of_metric| of_metric[*class]).collect();
            contributions.push(Contribution { start: 0, values: of_rows, coefficients });
        }
        add(&mut components, &contributions, workers)
    })?;
    let mut statistics = Vec::with_capacity(wanted.len());
    for ((&id, components), of_classes) in wanted.iter().zip(components).zip(&coefficients) {
        let value = average(&values, of_classes)?;
        let mut slopes = vec![0.0; classes];
        for &m in rows.present() {
            slopes[m] = rows.present().iter().map(|&c| of_classes[c] * class_slopes[c][m]).sum();
            // Only the weights of the prevalence average depend on class sizes themselves.
            if id == Metric::AveragePrecisionPrevalence && !sample.has_single_score() {
                slopes[m] += values[m];
            }
        }
        let units = rows.present().iter().filter(|&&class| of_classes[class] > 0.0);
        let least = units.map(|&class| design.effective_units()[class]).fold(f64::INFINITY, f64::min);
        let worst =
            Some(WorstCase { design_effect: least.recip(), failures: FAILURES, degrees_of_freedom: f64::INFINITY });
        statistics.push(Statistic { id, value, components: components.into(), slopes, chances: None, worst });
    }
    Ok(AveragePrecisions { statistics, per_class })
}

/// How much each class counts; the sum is 1.
fn weights<T: Score>(metric: Metric, sample: &ScoredSample<'_, T>, sizes: &[f64]) -> Vec<f64> {
    if sample.has_single_score() {
        return vec![0.0, 1.0];
    }
    let size = |&size: &f64| if metric == Metric::AveragePrecisionPrevalence { size } else { f64::from(size > 0.0) };
    let total: f64 = sizes.iter().map(size).sum();
    sizes.iter().map(|of_class| size(of_class) / total).collect()
}

fn average(values: &[f64], weights: &[f64]) -> Result<f64> {
    let terms = weights.iter().copied().zip(values.iter().copied()).filter(|&(weight, _)| weight > 0.0);
    weighted_mean(terms.collect())
}

/// AP_c with its variance.
fn estimate_class(
    design: &Design,
    class: usize,
    components: &[f64],
    slopes: &[f64],
    value: f64,
    workers: &Workers<'_>,
) -> Result<Estimate> {
    let rows = &design.rows;
    let columns: Vec<[&[f64]; 1]> = rows.present().iter().map(|&class| [&components[rows.range(class)]]).collect();
    let segments: Vec<Segment<'_>> =
        rows.present().iter().zip(&columns).map(|(&class, columns)| Segment { class, columns }).collect();
    let found = estimate_one(design, &segments, (slopes, None, None), None, value, workers)?;
    let worst = Some(WorstCase {
        design_effect: design.effective_units()[class].recip(),
        failures: FAILURES,
        degrees_of_freedom: f64::INFINITY,
    });
    Ok(Estimate { worst, ..found })
}

/// ∂AP_c/∂π_m of every class m, from the means of the components of the others.
fn slopes_of(rows: &ClassRows, class: usize, components: &[f64]) -> Vec<f64> {
    let mut slopes = vec![0.0; rows.classes()];
    let total = rows.total_weight();
    let mut sum = 0.0;
    for other in rows.others(class) {
        let range = rows.range(other);
        let of_rows = range.clone().map(|position| rows.mass(position as u32) * components[position]).sum::<f64>();
        let mean = of_rows / rows.weight(other);
        slopes[other] = mean * total / rows.weight(other);
        sum += mean;
    }
    slopes[class] = -sum * total / rows.weight(class);
    slopes
}

/// The rows by the scores of the column of a class, in falling order.
struct Column {
    class: usize,
    /// Positions, and for each whether its score is that of the one before.
    positions: Vec<u32>,
    is_tied: Vec<bool>,
}

/// Rows of equal scores, with the weights from there up.
struct Tie<'c> {
    positions: &'c [u32],
    /// The weight of the tie's own rows.
    own: f64,
    /// A and B.
    own_above: f64,
    others_above: f64,
}

impl Tie<'_> {
    fn precision(&self) -> f64 {
        self.own_above / (self.own_above + self.others_above)
    }
}

impl Column {
    fn new<T: Score>(sample: &ScoredSample<'_, T>, rows: &ClassRows, class: usize) -> Self {
        // Plus zero, so that both zeros tie.
        let score = |(position, &row): (u32, &u32)| {
            let score: f64 = sample.scores.get(row as usize, class).into();
            (score + 0.0, position)
        };
        let mut scored: Vec<(f64, u32)> = (0..).zip(rows.rows()).map(score).collect();
        // By position among equals, so that sums of weights are always rounded the same way.
        scored.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let is_tied = (0..scored.len()).map(|place| place > 0 && scored[place - 1].0 == scored[place].0).collect();
        Self { class, positions: scored.into_iter().map(|(_, position)| position).collect(), is_tied }
    }

    /// Rows of equal scores, from the highest down.
    fn ties(&self, rows: &ClassRows) -> Vec<Tie<'_>> {
        let is_own = |position: u32| rows.range(self.class).contains(&(position as usize));
        let mut ties = Vec::new();
        let (mut own_above, mut others_above, mut start) = (0.0, 0.0, 0);
        while start < self.positions.len() {
            let next = self.is_tied[start + 1..].iter().position(|is_tied| !is_tied);
            let end = next.map_or(self.positions.len(), |length| start + 1 + length);
            let positions = &self.positions[start..end];
            let mut own = 0.0;
            for &position in positions {
                let mass = rows.mass(position);
                if is_own(position) {
                    own += mass;
                    own_above += mass;
                } else {
                    others_above += mass;
                }
            }
            ties.push(Tie { positions, own, own_above, others_above });
            start = end;
        }
        ties
    }

    fn value(&self, rows: &ClassRows) -> f64 {
        let (mut sum, mut total) = (0.0, 0.0);
        for tie in self.ties(rows).iter().filter(|tie| tie.own > 0.0) {
            sum += tie.own * tie.precision();
            total += tie.own;
        }
        (sum / total).min(1.0)
    }

    /// T by position.
    fn components(&self, rows: &ClassRows) -> Vec<f64> {
        let class_of = rows.class_of();
        let own_total = rows.weight(self.class);
        let mut components = vec![0.0; rows.len()];
        // Σ over own rows so far of weight · B/(A + B)², and · A/(A + B)² / W₊.
        let (mut of_own, mut of_others) = (0.0, 0.0);
        for tie in self.ties(rows).iter().rev() {
            let square = (tie.own_above + tie.others_above).powi(2);
            if tie.own > 0.0 {
                of_own += tie.own * tie.others_above / square;
                of_others += tie.own * tie.own_above / square / own_total;
            }
            for &position in tie.positions {
                let class = class_of[position as usize] as usize;
                components[position as usize] =
                    if class == self.class { tie.precision() + of_own } else { -rows.weight(class) * of_others };
            }
        }
        components
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inference::moments;
    use crate::parallel::Cancel;
    use crate::sample::{ClassCodes, Sampling, ScoreMatrix};

    const SCORES: [f64; 24] = [
        0.6, 0.3, 0.1, 0.4, 0.4, 0.2, 0.5, 0.4, 0.1, 0.2, 0.7, 0.1, 0.3, 0.3, 0.4, 0.1, 0.2, 0.7, 0.4, 0.1, 0.5, 0.2,
        0.2, 0.6,
    ];
    const CODES: [u8; 8] = [0, 0, 1, 1, 1, 2, 2, 0];

    fn with_sample<R>(weights: Option<&[f64]>, work: impl Fn(&ScoredSample<'_, f64>, &Workers<'_>) -> Result<R>) -> R {
        let cancel = Cancel::new();
        let workers = Workers::with_threads(2, &cancel);
        let matrix = ScoreMatrix::from_rows(&SCORES, 3).expect("a matrix");
        let sample = ScoredSample::new(matrix, ClassCodes::Bytes(&CODES), weights, &workers).expect("a sample");
        work(&sample, &workers).expect("a result")
    }

    /// The definition: the mean over own rows of the share of own rows among those that score at least as much.
    fn definition(class: u8, weights: &[f64]) -> f64 {
        let score = |row: usize| SCORES[3 * row + class as usize];
        let (mut sum, mut total) = (0.0, 0.0);
        for row in (0..8).filter(|&row| CODES[row] == class) {
            let above: Vec<usize> = (0..8).filter(|&other| score(other) >= score(row)).collect();
            let own: f64 = above.iter().filter(|&&other| CODES[other] == class).map(|&other| weights[other]).sum();
            sum += weights[row] * own / above.iter().map(|&other| weights[other]).sum::<f64>();
            total += weights[row];
        }
        sum / total
    }

    #[test]
    fn values_are_those_of_the_definition() {
        let weights = [1.0, 0.5, 2.0, 1.0, 0.25, 3.0, 1.0, 1.5];
        for given in [None, Some(&weights[..])] {
            let of_rows = given.unwrap_or(&[1.0; 8]);
            let found = with_sample(given, average_precision_per_class);
            for (class, value) in (0..).zip(found) {
                assert!((value - definition(class, of_rows)).abs() < 1e-15, "{value}");
            }
        }
    }

    #[test]
    fn components_are_derivatives_in_the_weights() {
        // θ moves by (w_j/W_k)(T(j) − T̄_k) + (w_j/W)(g_k − ḡ) per relative change of the weight of row j.
        let weights = [1.0, 0.5, 2.0, 1.0, 0.25, 3.0, 1.0, 1.5];
        let metrics = [Metric::AveragePrecision, Metric::AveragePrecisionPrevalence];
        let influences = with_sample(Some(&weights), |sample, workers| {
            let design = Design::new(sample, Sampling::Iid, workers)?;
            let found = average_precision_statistics(sample, &design, &metrics, workers)?;
            crate::inference::influences(&design, &found.statistics, workers)
        });
        for (place, metric) in metrics.into_iter().enumerate() {
            for row in 0..8 {
                let moved = |step: f64| {
                    let mut weights = weights;
                    weights[row] *= 1.0 + step;
                    with_sample(Some(&weights), |sample, workers| average_precision(sample, metric, workers))
                };
                let slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                let found = influences[2 * row + place];
                assert!((found - slope).abs() < 1e-9, "{metric:?} row {row}: {found} is not {slope}");
            }
        }
    }

    #[test]
    fn classes_are_estimated_like_their_mean() {
        let (estimates, statistic) = with_sample(None, |sample, workers| {
            let design = Design::new(sample, Sampling::Stratified, workers)?;
            let found = average_precision_statistics(sample, &design, &[Metric::AveragePrecision], workers)?;
            Ok((found.per_class, moments(&design, &found.statistics, workers)?.estimates[0]))
        });
        let mean = estimates.iter().map(|estimate| estimate.value).sum::<f64>() / 3.0;
        assert!((mean - statistic.value).abs() < 1e-15);
        assert!(estimates.iter().all(|estimate| estimate.variance > 0.0));
        assert_eq!(statistic.worst.map(|worst| worst.design_effect), Some(0.5));
        assert_eq!(estimates[0].worst.map(|worst| worst.design_effect), Some(1.0 / 3.0));
    }
}
