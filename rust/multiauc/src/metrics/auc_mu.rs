//! AUC_mu (Kleiman & Page 2019): each pair of classes ranked by the distance from the boundary between them.

use crate::error::Result;
use crate::float::Score;
use crate::keys::DifferenceRule;
use crate::pairs::WeightedPairs;
use crate::pairs::{PairAverage, PairSizes, PairWeights, ratio};
use crate::pairs::{PairCount, fold_pairs};
use crate::pairs::{PairScore, Partition, cost_score};
use crate::parallel::Workers;
use crate::ranking::{BucketTable, Lookup, WeightedKeys};
use crate::sample::GroupedRows;
use crate::sample::ScoredSample;

/// AUC_mu = Σ_{c<d} ω_cd S(c, d), where S(c, d) is the share of pairs of rows, one of class c and one of class d, that the
/// scores s_cd put in the right order, ties counting half.
///
/// Without a partition matrix s_cd = p_c − p_d. With one, `partition[i · K + j]` is the cost of predicting class i where
/// the truth is j, and s_cd = σ v·p with v = A_c − A_d and σ = sign(v·(e_c − e_d)). The weights ω are normalised over the
/// pairs of present classes.
///
/// # Errors
/// [`Error::RowSumNotOne`](crate::Error::RowSumNotOne), [`Error::NoPairWeight`](crate::Error::NoPairWeight),
/// [`Error::Cancelled`](crate::Error::Cancelled).
///
/// # Examples
/// ```
/// use multiauc::{Cancel, ClassCodes, PairWeights, ScoreMatrix, ScoredSample, Workers, auc_mu};
/// let scores = [6.0, 5.0, 5.0, 7.0, 9.0, 0.0, 7.0, 0.0, 9.0_f64].map(|p| p / 16.0);
/// let cancel = Cancel::new();
/// let workers = Workers::with_threads(1, &cancel);
/// let matrix = ScoreMatrix::from_rows(&scores, 3)?;
/// let sample = ScoredSample::new(matrix, ClassCodes::Bytes(&[0, 1, 2]), None, &workers)?;
/// assert_eq!(auc_mu(&sample, None, PairWeights::Equal, &workers)?, 1.0);
/// # Ok::<(), multiauc::Error>(())
/// ```
pub fn auc_mu<T: Score>(
    sample: &ScoredSample<'_, T>,
    partition: Option<&[f64]>,
    weights: PairWeights<'_>,
    workers: &Workers<'_>,
) -> Result<f64> {
    let parts = fold_values(sample, partition, workers, |average: &mut PairAverage, c, d, value| {
        let sizes = PairSizes::of(&sample.sizes, c, d);
        match value {
            PairValue::DoubledWins(wins) => average.add(weights, sizes, wins),
            PairValue::Share(share) => average.add_value(weights, sizes, share),
        }
    })?;
    PairAverage::finish(parts)
}

/// AUC_mu by rounded differences: ties on paper break and orders next to 1 are lost. It is here for the benchmark of what
/// exactness costs.
///
/// # Errors
/// As [`auc_mu`].
#[doc(hidden)]
pub fn auc_mu_rounded<T: Score>(sample: &ScoredSample<'_, T>, workers: &Workers<'_>) -> Result<f64> {
    let fold = |average: &mut PairAverage, pair: PairCount| {
        average.add(PairWeights::Equal, PairSizes::of(&sample.sizes, pair.first, pair.second), pair.doubled_wins);
    };
    PairAverage::finish(fold_pairs(sample, DifferenceRule::ROUNDED, workers, |_, _| true, fold)?)
}

/// S(c, d) of all pairs as a symmetric K × K matrix, row after row; NaN on the diagonal and for absent classes.
///
/// # Errors
/// As [`auc_mu`], except for pair weights.
pub fn auc_mu_matrix<T: Score>(
    sample: &ScoredSample<'_, T>,
    partition: Option<&[f64]>,
    workers: &Workers<'_>,
) -> Result<Vec<f64>> {
    let classes = sample.classes();
    let parts = fold_values(sample, partition, workers, |cells: &mut Vec<(usize, usize, f64)>, c, d, value| {
        let [n_c, n_d] = PairSizes::of(&sample.sizes, c, d).rows;
        let share = match value {
            PairValue::DoubledWins(wins) => ratio(wins.into(), 2 * u128::from(n_c) * u128::from(n_d)),
            PairValue::Share(share) => share,
        };
        cells.push((c, d, share));
    })?;
    let mut matrix = vec![f64::NAN; classes * classes];
    for (c, d, share) in parts.into_iter().flatten() {
        matrix[c * classes + d] = share;
        matrix[d * classes + c] = share;
    }
    Ok(matrix)
}

/// The value of a pair: a count, or a share where rows have weights.
#[derive(Clone, Copy)]
enum PairValue {
    DoubledWins(u64),
    Share(f64),
}

/// Calls `fold(accumulator, c, d, value)` for all pairs c < d of present classes.
fn fold_values<T: Score, A: Default + Send>(
    sample: &ScoredSample<'_, T>,
    partition: Option<&[f64]>,
    workers: &Workers<'_>,
    fold: impl Fn(&mut A, usize, usize, PairValue) + Sync,
) -> Result<Vec<A>> {
    let classes = sample.classes();
    let partition = partition.map(|costs| Partition::new(costs, classes));
    if let Some(partition) = partition {
        partition.check_scores(&sample.scores)?;
    }
    let score = |c: usize, d: usize| partition.map_or(PairScore::Difference, |partition| partition.score(c, d));
    let fold_count =
        |a: &mut A, pair: PairCount| fold(a, pair.first, pair.second, PairValue::DoubledWins(pair.doubled_wins));
    if sample.weights.is_none() && partition.is_none() {
        return fold_pairs(sample, DifferenceRule::of(sample, workers)?, workers, |_, _| true, fold_count);
    }
    let is_present = |class: &usize| sample.sizes.rows[*class] > 0;
    let present: Vec<usize> = (0..classes).filter(is_present).collect();
    let pairs: Vec<(usize, usize)> =
        present.iter().enumerate().flat_map(|(index, &c)| present[index + 1..].iter().map(move |&d| (c, d))).collect();
    if sample.weights.is_some() {
        let weighted = WeightedPairs::new(sample, workers)?;
        return workers.map_with(pairs.len(), WeightedKeys::default, |keys, pair| {
            let (c, d) = pairs[pair];
            let mut value = A::default();
            fold(&mut value, c, d, PairValue::Share(weighted.value(c, d, &score(c, d), keys)));
            Ok(value)
        });
    }
    let is_difference = |c: usize, d: usize| score(c, d) == PairScore::Difference;
    let mut folded = Vec::new();
    if pairs.iter().any(|&(c, d)| is_difference(c, d)) {
        folded = fold_pairs(sample, DifferenceRule::of(sample, workers)?, workers, is_difference, fold_count)?;
    }
    let rows = GroupedRows::new(sample);
    let by_costs = workers.map_with(pairs.len(), BucketTable::default, |table, pair| {
        let (c, d) = pairs[pair];
        let mut value = A::default();
        match score(c, d) {
            PairScore::Difference => {}
            PairScore::Tie => {
                fold(&mut value, c, d, PairValue::DoubledWins(sample.sizes.rows[c] * sample.sizes.rows[d]));
            }
            PairScore::Costs(coefficients) => {
                let wins = count_by_costs(sample, &rows, (c, d), &coefficients, table);
                fold(&mut value, c, d, PairValue::DoubledWins(wins));
            }
        }
        Ok(value)
    })?;
    folded.extend(by_costs);
    Ok(folded)
}

/// Twice the wins of class c over class d, ranked by the cost score; equal floats tie.
fn count_by_costs<T: Score>(
    sample: &ScoredSample<'_, T>,
    rows: &GroupedRows,
    (c, d): (usize, usize),
    coefficients: &[(usize, f64)],
    table: &mut BucketTable<f64>,
) -> u64 {
    let keys = |class: usize| -> Vec<f64> {
        rows.of(class).iter().map(|&row| cost_score(&sample.scores, row as usize, coefficients)).collect()
    };
    let (of_c, of_d) = (keys(c), keys(d));
    let mut count_below = |table_keys: &[f64], looked_up: &[f64]| {
        table.build(std::iter::once(table_keys), None);
        table.count(looked_up, Lookup::PLAIN, &mut Vec::new())
    };
    if of_d.len() <= of_c.len() {
        count_below(&of_d, &of_c)
    } else {
        2 * (of_c.len() * of_d.len()) as u64 - count_below(&of_c, &of_d)
    }
}
