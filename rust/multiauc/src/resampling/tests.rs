//! Replicates against the bare scores of samples in which rows are repeated.

use super::*;
use crate::error::Result;
use crate::metrics::{auc_mu, hand_till, one_vs_rest};
use crate::pairs::OneVsRestAverage;
use crate::parallel::Cancel;
use crate::sample::ClassCodes;
use crate::sample::ScoreMatrix;

const ALL: [Metric; 4] = [Metric::AucMu, Metric::HandTill, Metric::OneVsRest, Metric::OneVsRestPrevalence];

/// A generator of test data.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() * bound as f64) as usize
    }
}

/// Codes and scores whose own column is a little higher; every class has rows.
fn data(rows: usize, classes: usize, round: impl Fn(f64) -> f64, seed: u64) -> (Vec<u8>, Vec<f64>) {
    let mut numbers = Numbers(seed);
    let codes: Vec<u8> = (0..rows).map(|row| if row < classes { row } else { numbers.below(classes) } as u8).collect();
    let cell = |row: usize, column: usize, x: f64| round(x + if usize::from(codes[row]) == column { 0.3 } else { 0.0 });
    let scores = (0..rows * classes).map(|i| cell(i / classes, i % classes, numbers.next())).collect();
    (codes, scores)
}

fn sample_of<'a, T: Score>(
    scores: &'a [T],
    codes: &'a [u8],
    weights: Option<&'a [f64]>,
    classes: usize,
    workers: &Workers<'_>,
) -> Result<ScoredSample<'a, T>> {
    ScoredSample::new(ScoreMatrix::from_rows(scores, classes)?, ClassCodes::Bytes(codes), weights, workers)
}

fn bare<T: Score>(
    scores: &[T],
    codes: &[u8],
    weights: Option<&[f64]>,
    partition: Option<&[f64]>,
    pairs: PairWeights<'_>,
    classes: usize,
) -> Result<Vec<f64>> {
    let cancel = Cancel::new();
    let workers = &Workers::with_threads(1, &cancel);
    let sample = &sample_of(scores, codes, weights, classes, workers)?;
    Ok(vec![
        auc_mu(sample, partition, pairs, workers)?,
        hand_till(sample, pairs, workers)?,
        one_vs_rest(sample, OneVsRestAverage::Macro, workers)?,
        one_vs_rest(sample, OneVsRestAverage::Prevalence, workers)?,
    ])
}

/// The metrics of given multiplicities, from kept orders and from orders made when needed.
fn given<T: Score>(
    (scores, codes, weights): (&[T], &[u8], Option<&[f64]>),
    partition: Option<&[f64]>,
    pairs: PairWeights<'_>,
    classes: usize,
    multiplicities: &[u8],
) -> Result<Vec<f64>> {
    let cancel = Cancel::new();
    let workers = &Workers::with_threads(2, &cancel);
    let sample = &sample_of(scores, codes, weights, classes, workers)?;
    let resampler = Resampler::new(sample, Sampling::Iid, &ALL)?;
    let orders = resampler.orders(sample, partition, workers)?;
    let kept = resampler.keep(&orders, workers)?;
    let made = resampler.given(&[&orders], pairs, multiplicities, workers)?;
    let from_kept = resampler.given(&[&kept], pairs, multiplicities, &Workers::with_threads(1, &cancel))?;
    assert_eq!(
        made.iter().map(|x| x.to_bits()).collect::<Vec<_>>(),
        from_kept.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
    );
    Ok(made)
}

fn repeated<T: Copy>(scores: &[T], codes: &[u8], classes: usize, times: &[u8]) -> (Vec<T>, Vec<u8>) {
    let (mut repeated_scores, mut repeated_codes) = (Vec::new(), Vec::new());
    for (row, &times) in times.iter().enumerate() {
        for _ in 0..times {
            repeated_scores.extend_from_slice(&scores[row * classes..][..classes]);
            repeated_codes.push(codes[row]);
        }
    }
    (repeated_scores, repeated_codes)
}

const ROUNDINGS: [fn(f64) -> f64; 4] = [
    |x| x,
    |x| (x * 10.0).round() / 10.0,
    |x| (x * 7.0).round() / [3.0, 7.0, 13.0][(x * 1e6) as usize % 3],
    |x| if x < 0.2 { x * 1e-26 } else { 1.0 - x * 1e-20 },
];

#[test]
fn multiplicities_of_one_give_the_bits_of_the_bare_scores() -> Result<()> {
    let weights = [PairWeights::Equal, PairWeights::SizeProduct, PairWeights::SizeSum];
    for (index, round) in ROUNDINGS.into_iter().enumerate() {
        for (rows, classes) in [(12, 2), (90, 3), (300, 20)] {
            let (codes, scores) = data(rows, classes, round, 7 + index as u64);
            let singles: Vec<f32> = scores.iter().map(|&score| score as f32).collect();
            for pairs in weights {
                let ones = vec![1; rows];
                let expected = bare(&scores, &codes, None, None, pairs, classes)?;
                assert_eq!(given((&scores, &codes, None), None, pairs, classes, &ones)?, expected);
                let expected = bare(&singles, &codes, None, None, pairs, classes)?;
                assert_eq!(given((&singles, &codes, None), None, pairs, classes, &ones)?, expected);
            }
        }
    }
    Ok(())
}

#[test]
fn any_multiplicities_give_the_bits_of_repeated_rows() -> Result<()> {
    let mut numbers = Numbers(3);
    let matrix: Vec<f64> = (0..16).map(|cell| if cell % 5 == 0 { 0.0 } else { f64::from(1 + cell % 3) }).collect();
    let symmetric: Vec<f64> = (0..16).map(|cell| matrix[cell] + matrix[cell % 4 * 4 + cell / 4]).collect();
    for round in &ROUNDINGS[..3] {
        let (codes, scores) = data(120, 4, round, 11);
        // Forty replicates: not a multiple of the lanes.
        let mut times: Vec<u8> = (0..40 * 120).map(|_| [0, 1, 1, 2, 5][numbers.below(5)]).collect();
        times.chunks_mut(120).for_each(|replicate| replicate[..4].fill(1));
        for pairs in [PairWeights::Equal, PairWeights::SizeProduct, PairWeights::Matrix(&symmetric)] {
            let found = given((&scores, &codes, None), None, pairs, 4, &times)?;
            for (replicate, found) in times.chunks(120).zip(found.chunks(4)) {
                let (scores, codes) = repeated(&scores, &codes, 4, replicate);
                assert_eq!(found, bare(&scores, &codes, None, None, pairs, 4)?);
            }
        }
    }
    Ok(())
}

#[test]
fn a_partition_matrix_ranks_replicates_too() -> Result<()> {
    let (codes, mut scores) = data(100, 3, |x| x, 5);
    for row in scores.chunks_mut(3) {
        let sum: f64 = row.iter().sum();
        for score in row {
            *score /= sum;
        }
    }
    for partition in [[0.0, 1.0, 5.0, 2.0, 0.0, 1.0, 1.0, 3.0, 0.0], [0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0]] {
        let expected = bare(&scores, &codes, None, Some(&partition), PairWeights::Equal, 3)?;
        let found = given((&scores, &codes, None), Some(&partition), PairWeights::Equal, 3, &[1; 100])?;
        assert_eq!(found, expected);
    }
    Ok(())
}

#[test]
fn weighted_rows_keep_their_weights() -> Result<()> {
    let mut numbers = Numbers(8);
    for round in &ROUNDINGS[..3] {
        let (codes, scores) = data(150, 3, round, 2);
        let weights: Vec<f64> = (0..150).map(|row| if row % 10 == 9 { 0.0 } else { 3.0 * numbers.next() }).collect();
        let times: Vec<u8> = (0..150).map(|row| if row < 3 { 1 } else { numbers.below(4) as u8 }).collect();
        let scaled: Vec<f64> = weights.iter().zip(&times).map(|(weight, &times)| weight * f64::from(times)).collect();
        for pairs in [PairWeights::Equal, PairWeights::SizeSum] {
            let expected = bare(&scores, &codes, Some(&scaled), None, pairs, 3)?;
            let found = given((&scores, &codes, Some(&weights)), None, pairs, 3, &times)?;
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-13, "{found} {expected}");
            }
        }
    }
    Ok(())
}

#[test]
fn a_replicate_that_lost_a_class_is_nan() -> Result<()> {
    let (codes, scores) = data(30, 3, |x| x, 1);
    let mut times = vec![1; 60];
    times.iter_mut().zip(&codes).filter(|(_, code)| **code == 2).for_each(|(times, _)| *times = 0);
    let found = given((&scores, &codes, None), None, PairWeights::Equal, 3, &times)?;
    assert!(found[..4].iter().all(|value| value.is_nan()));
    assert_eq!(found[4..], bare(&scores, &codes, None, None, PairWeights::Equal, 3)?);
    Ok(())
}

#[test]
fn replicates_are_those_of_their_multiplicities_on_any_number_of_threads() -> Result<()> {
    let (codes, scores) = data(700, 5, |x| x, 4);
    let groups: Vec<u32> = (0..700).map(|row| 3 * (row % 41)).collect();
    let cancel = Cancel::new();
    let workers = &Workers::with_threads(3, &cancel);
    let sample = &sample_of(&scores, &codes, None, 5, workers)?;
    for sampling in [Sampling::Stratified, Sampling::Iid, Sampling::Groups { of_rows: &groups, is_iid: false }] {
        let resampler = Resampler::new(sample, sampling, &ALL)?;
        let orders = resampler.orders(sample, None, workers)?;
        let models: [&dyn Orders; 2] = [&orders, &resampler.keep(&orders, workers)?];
        let all = resampler.replicates(&models, PairWeights::Equal, (9, 5, 50), workers)?;
        let alone = &Workers::with_threads(1, &cancel);
        let mut apart = resampler.replicates(&models, PairWeights::Equal, (9, 5, 7), alone)?;
        apart.extend(resampler.replicates(&models, PairWeights::Equal, (9, 12, 43), alone)?);
        assert_eq!(all, apart);
        let times: Vec<u8> = (5..55).flat_map(|replicate| resampler.multiplicities(9, replicate)).collect();
        assert_eq!(all, resampler.given(&models, PairWeights::Equal, &times, workers)?);
        // Both models are the same.
        assert!(all.chunks(8).all(|values| values[..4] == values[4..]));
        let sizes = |times: &[u8]| -> Vec<usize> {
            (0..5)
                .map(|class| times.iter().zip(&codes).map(|(&t, &c)| usize::from(t) * usize::from(c == class)).sum())
                .collect()
        };
        let is_stratified = sizes(&times[..700]) == sizes(&[1; 700]);
        assert_eq!(is_stratified, sampling == Sampling::Stratified);
        if let Sampling::Groups { of_rows: groups, .. } = sampling {
            assert!(
                (0..700).all(|row| (0..700).all(|other| groups[row] != groups[other] || times[row] == times[other]))
            );
        }
    }
    Ok(())
}

#[test]
fn partial_areas_of_replicates() -> Result<()> {
    let (codes, scores) = data(80, 3, ROUNDINGS[1], 12);
    let cancel = Cancel::new();
    let workers = &Workers::with_threads(2, &cancel);
    let sample = &sample_of(&scores, &codes, None, 3, workers)?;
    let curves = [(0, None), (1, Some(2)), (2, Some(0))];
    for region in [Region::MaxFpr(0.3), Region::MinTpr(0.8), Region::MaxFpr(1.0)] {
        let resampler = Resampler::of_curves(sample, Sampling::Stratified, &curves, region)?;
        let orders = resampler.orders(sample, None, workers)?;
        let times = resampler.multiplicities(1, 2);
        let found = resampler.replicates(&[&orders], PairWeights::Equal, (1, 2, 1), workers)?;
        let (scores, codes) = repeated(&scores, &codes, 3, &times);
        let expected =
            crate::curves::partial_aucs(&sample_of(&scores, &codes, None, 3, workers)?, &curves, region, workers)?;
        assert!((found[0] - expected.mean).abs() < 1e-14);
        assert!((found[1] - expected.mean_by_prevalence).abs() < 1e-14);
    }
    Ok(())
}
