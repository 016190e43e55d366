//! AUC_mu (Kleiman & Page 2019): each pair of classes ranked by the distance from the boundary between them.

use super::pair_placements::{
    PairOperands, PlacingMemory, PlacingScratch, RankedScores, for_each_pair, gather_whole, place_by_difference,
};
use super::two_classes::single_score_wins;
use super::weighting::PairWeighting;
use super::{MetricOptions, PairTable};
use crate::error::Result;
use crate::float::Score;
use crate::inference::{Contribution, Design, PairSide, PairVariance, Statistic, add, pair_variance};
use crate::keys::DifferenceRule;
use crate::metric::Metric;
use crate::pairs::{
    PairScore, PairWeights, Partition, SampleAverage, ShareMatrix, Tally, Wins, cost_score, tally_differences,
    tally_weighted,
};
use crate::parallel::Workers;
use crate::ranking::{BucketTable, Lookup};
use crate::sample::{ClassBlocks, ClassRows, ScoredSample};

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
    tally_pairs(sample, partition, workers, SampleAverage::new(weights, sample.sizes()))?.finish()
}

/// S(c, d) of all pairs as a symmetric K × K matrix, row by row; NaN on the diagonal and for absent classes.
///
/// # Errors
/// As [`auc_mu`], except for pair weights.
pub fn auc_mu_matrix<T: Score>(
    sample: &ScoredSample<'_, T>,
    partition: Option<&[f64]>,
    workers: &Workers<'_>,
) -> Result<Vec<f64>> {
    Ok(tally_pairs(sample, partition, workers, ShareMatrix::new(sample.classes()))?.symmetric())
}

/// AUC_mu with the components of the rows, and the values of the pairs with their variances.
pub(super) fn auc_mu_statistic<T: Score>(
    sample: &ScoredSample<'_, T>,
    design: &Design,
    RankedScores { whole, rule, one, memory: PlacingMemory { buffers, scratch } }: RankedScores<'_, T>,
    options: MetricOptions<'_>,
    workers: &Workers<'_>,
) -> Result<(Statistic, PairTable)> {
    let (rows, classes) = (&design.rows, sample.classes());
    let weighting = PairWeighting::new(options.pair_weights, rows)?;
    let scores = PairScores::new(sample, options.partition, workers)?;
    let mut average = SampleAverage::new(options.pair_weights, sample.sizes());
    let mut table = PairTable::missing(classes);
    let mut add_pair = |[c, d]: [usize; 2], wins: Wins, variance: PairVariance| {
        average.add(c, d, wins);
        for entry in [c * classes + d, d * classes + c] {
            table.values[entry] = wins.share();
            table.variances[entry] = variance.variance;
            table.degrees_of_freedom[entry] = variance.degrees_of_freedom;
        }
    };
    let components = if let Some(one) = one {
        add_pair([0, 1], one.wins, one.variance);
        one.components.clone()
    } else {
        let mut components = [buffers.zeros(rows.len())];
        let place = |scratch: &mut PlacingScratch, pair: &PairOperands<'_, T>| {
            let classes @ [c, d] = pair.classes;
            let placed = place_by_difference(sample, rows, pair, &scores.of(c, d), rule, scratch, (buffers, workers))?;
            let side =
                |side: usize| PairSide { class: classes[side], placements: &placed.placements[side], order: None };
            let (variance, deviations) = pair_variance(design, &[side(0), side(1)], placed.wins.share(), workers)?;
            design.give_back(deviations.into_iter().flatten());
            Ok((classes, placed, variance))
        };
        for_each_pair(sample, rows, whole, (scratch, workers), place, |wave| {
            let mut contributions = Vec::with_capacity(2 * wave.len());
            for &([c, d], ref placed, variance) in &wave {
                add_pair([c, d], placed.wins, variance);
                for (class, values) in [c, d].into_iter().zip(&placed.placements) {
                    let coefficients = vec![weighting.omega[c * classes + d]];
                    contributions.push(Contribution { start: rows.range(class).start, values, coefficients });
                }
            }
            add(&mut components, &contributions, workers)?;
            let placements = wave.into_iter().flat_map(|(_, placed, _)| placed.placements);
            placements.for_each(|placements| buffers.give_back(placements));
            Ok(())
        })?;
        let [components] = components;
        components.into()
    };
    let value = average.finish()?;
    let slopes = weighting.slopes(rows, &table.values, value);
    let chances = Some(weighting.chances(classes));
    Ok((Statistic { id: Metric::AucMu, value, components, slopes, chances, worst: None }, table))
}

/// What ranks each pair of classes.
#[derive(Debug, Clone, Copy)]
pub(super) struct PairScores<'a>(Option<Partition<'a>>);

impl<'a> PairScores<'a> {
    pub(super) fn new<T: Score>(
        sample: &ScoredSample<'_, T>,
        partition: Option<&'a [f64]>,
        workers: &Workers<'_>,
    ) -> Result<Self> {
        Ok(Self(partition.map(|costs| Partition::new(costs, sample, workers)).transpose()?))
    }

    pub(super) fn of(&self, c: usize, d: usize) -> PairScore {
        self.0.map_or(PairScore::Difference, |partition| partition.score(c, d))
    }
}

/// Tallies the wins of all pairs c < d of present classes.
fn tally_pairs<T: Score, A: Tally>(
    sample: &ScoredSample<'_, T>,
    partition: Option<&[f64]>,
    workers: &Workers<'_>,
    mut tally: A,
) -> Result<A> {
    let scores = PairScores::new(sample, partition, workers)?;
    if sample.has_single_score() && scores.of(0, 1) == PairScore::Difference {
        tally.add(0, 1, single_score_wins(sample, workers)?);
        return Ok(tally);
    }
    if sample.weights.is_some() {
        return tally_weighted(sample, |c, d| scores.of(c, d), workers, tally);
    }
    let is_difference = |c: usize, d: usize| scores.of(c, d) == PairScore::Difference;
    let pairs: Vec<(usize, usize)> = sample.pairs().collect();
    if partition.is_none() || pairs.iter().any(|&(c, d)| is_difference(c, d)) {
        tally = tally_differences(sample, DifferenceRule::of(sample, workers)?, workers, is_difference, tally)?;
    }
    if partition.is_none() {
        return Ok(tally);
    }
    let rows = ClassRows::new(sample, workers)?;
    let whole = gather_whole(sample, &rows, workers)?;
    let by_costs = workers.map_with(pairs.len(), BucketTable::default, |table, pair| {
        let (c, d) = pairs[pair];
        let sizes = [rows.count(c), rows.count(d)];
        Ok(match scores.of(c, d) {
            PairScore::Difference => None,
            PairScore::Tie => Some(Wins::counted(sizes[0] * sizes[1], sizes)),
            PairScore::Costs(coefficients) => {
                let keys = [c, d].map(|class| cost_keys(sample, &rows, whole.as_ref(), class, &coefficients));
                Some(count_by_costs(&keys, table, workers)?)
            }
        })
    })?;
    for ((c, d), wins) in pairs.into_iter().zip(by_costs) {
        if let Some(wins) = wins {
            tally.add(c, d, wins);
        }
    }
    Ok(tally)
}

/// The cost scores of the rows of a class.
fn cost_keys<T: Score>(
    sample: &ScoredSample<'_, T>,
    rows: &ClassRows,
    whole: Option<&ClassBlocks<T>>,
    class: usize,
    coefficients: &[(usize, f64)],
) -> Vec<f64> {
    let rows = rows.of(class);
    let Some(blocks) = whole else {
        return rows.iter().map(|&row| cost_score(&sample.scores, row as usize, coefficients)).collect();
    };
    // Term by term in the same order as for a single row.
    let mut keys = vec![0.0; rows.len()];
    for &(column, coefficient) in coefficients {
        for (key, &score) in keys.iter_mut().zip(blocks.run(class, column)) {
            let score: f64 = score.into();
            *key += coefficient * score;
        }
    }
    keys
}

/// What the first of two classes wins, ranked by the keys of both; equal floats tie.
fn count_by_costs([of_c, of_d]: &[Vec<f64>; 2], table: &mut BucketTable<f64>, workers: &Workers<'_>) -> Result<Wins> {
    /// Rows that a thread looks up at a time.
    const CHUNK: usize = 1 << 13;
    let (smaller, larger) = if of_d.len() <= of_c.len() { (of_d, of_c) } else { (of_c, of_d) };
    table.build(std::iter::once(&smaller[..]), None);
    let (table, chunks) = (&*table, larger.chunks(CHUNK).collect::<Vec<_>>());
    let below = workers.map(chunks.len(), |chunk| Ok(table.count(chunks[chunk], Lookup::PLAIN, &mut Vec::new())))?;
    let below = below.into_iter().sum::<u64>();
    let sizes = [of_c.len() as u64, of_d.len() as u64];
    Ok(Wins::counted(if of_d.len() <= of_c.len() { below } else { 2 * sizes[0] * sizes[1] - below }, sizes))
}
