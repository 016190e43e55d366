//! The hypervolume under the ROC manifold (Mossman 1999; Li & Fine 2008): of one row of each class, how often giving every
//! row its own class is the best assignment.

use super::MetricOptions;
use super::auc_mu::{auc_mu, auc_mu_statistic};
use super::pair_placements::{PlacingMemory, RankedScores};
use crate::error::Result;
use crate::float::Score;
use crate::inference::{Design, Statistic};
use crate::keys::DifferenceRule;
use crate::metric::Metric;
use crate::pairs::PairWeights;
use crate::parallel::Workers;
use crate::sample::{ClassRows, ScoredSample};
use crate::volume::{self, Drawing, Hum, HumRule};

/// What is known about a HUM besides its standard error over rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HumFound {
    /// The value.
    pub value: f64,
    /// The standard error of drawing tuples; 0 where all were counted.
    pub monte_carlo_error: f64,
    /// Whether all tuples were counted.
    pub is_exact: bool,
}

/// HUM = P(Σ_k s_k(x_k) ≥ Σ_k s_σ(k)(x_k) for all permutations σ), for one row x_k of each class; a tuple with m best
/// permutations has the credit 1/m. Chance is 1/K!, perfect 1. By sums of scores, two classes have AUC_mu.
///
/// Exact for up to three classes (unless they are very large) and where there are at most 10^7 tuples of different rows,
/// whose ties do not take too long to count; otherwise tuples are drawn. Sums of scores are compared without rounding;
/// products and distances tie where they differ by less than 2^−72. Weights are left out of account, but for rows of
/// weight zero.
///
/// # Errors
/// [`Error::NegativeScore`](crate::Error::NegativeScore), [`Error::TooManyTies`](crate::Error::TooManyTies),
/// [`Error::Cancelled`](crate::Error::Cancelled).
///
/// # Examples
/// ```
/// use multiauc::{Cancel, ClassCodes, Drawing, HumRule, ScoreMatrix, ScoredSample, Workers, hum};
/// let scores = [6.0, 5.0, 5.0, 7.0, 9.0, 0.0, 7.0, 0.0, 9.0_f64].map(|p| p / 16.0);
/// let cancel = Cancel::new();
/// let workers = Workers::with_threads(1, &cancel);
/// let matrix = ScoreMatrix::from_rows(&scores, 3)?;
/// let sample = ScoredSample::new(matrix, ClassCodes::Bytes(&[0, 1, 2]), None, &workers)?;
/// assert_eq!(hum(&sample, HumRule::Sum, Drawing::default(), &workers)?.value, 1.0);
/// # Ok::<(), multiauc::Error>(())
/// ```
pub fn hum<T: Score>(
    sample: &ScoredSample<'_, T>,
    rule: HumRule,
    drawing: Drawing,
    workers: &Workers<'_>,
) -> Result<HumFound> {
    if is_auc_mu(sample, rule) {
        let value = auc_mu(sample, None, PairWeights::Equal, workers)?;
        return Ok(HumFound { value, monte_carlo_error: 0.0, is_exact: true });
    }
    Ok(found(&volume::hum(sample, &ClassRows::new(sample, workers)?, rule, drawing, false, workers)?))
}

/// The same with the components of the rows: T(i) is the mean credit of the tuples through row i.
///
/// # Errors
/// As [`hum`].
pub fn hum_statistic<T: Score>(
    sample: &ScoredSample<'_, T>,
    design: &Design,
    rule: HumRule,
    drawing: Drawing,
    workers: &Workers<'_>,
) -> Result<(Statistic, HumFound)> {
    if is_auc_mu(sample, rule) {
        let options = MetricOptions::default();
        let (rule, memory) = (DifferenceRule::of(sample, workers)?, &PlacingMemory::default());
        let scores = RankedScores { whole: None, rule, one: None, memory };
        let (statistic, _) = auc_mu_statistic(sample, design, scores, options, workers)?;
        let found = HumFound { value: statistic.value, monte_carlo_error: 0.0, is_exact: true };
        return Ok((Statistic { id: Metric::Hum, ..statistic }, found));
    }
    let computed = volume::hum(sample, &design.rows, rule, drawing, true, workers)?;
    let found = found(&computed);
    let statistic = Statistic {
        id: Metric::Hum,
        value: computed.value,
        components: computed.components.into(),
        // Class sizes do not matter: a tuple has one row of each class.
        slopes: vec![0.0; design.rows.classes()],
        chances: Some(chances_of_tuples(&design.rows)),
        worst: None,
    };
    Ok((statistic, found))
}

/// What chance gives a tuple: one of all permutations.
pub(super) fn chances_of_tuples(rows: &ClassRows) -> Vec<f64> {
    let permutations: f64 = (1..=rows.present().len()).map(|factor| factor as f64).product();
    vec![permutations.recip(); rows.classes()]
}

const fn found(computed: &Hum) -> HumFound {
    HumFound { value: computed.value, monte_carlo_error: computed.monte_carlo_error, is_exact: computed.is_exact }
}

/// Whether two classes are ranked by the difference of their scores, or by the one score there is.
fn is_auc_mu<T: Score>(sample: &ScoredSample<'_, T>, rule: HumRule) -> bool {
    sample.has_single_score() || rule == HumRule::Sum && sample.sizes().present() == 2
}
