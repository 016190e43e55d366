//! The public functions against the definitions, pair of rows by pair of rows.

use multiauc::{
    Cancel, ClassCodes, Design, Error, Metric, MetricOptions, OneVsRestAverage, PairWeights, RowArray, Sampling,
    ScoreMatrix, ScoredSample, Workers, auc_mu, auc_mu_matrix, evaluate, hand_till, hand_till_matrix, moments,
    one_vs_rest, one_vs_rest_per_class, set_num_threads,
};
use proptest::prelude::*;

const CLASSES: usize = 4;
const AVERAGES: [OneVsRestAverage; 4] = [
    OneVsRestAverage::Macro,
    OneVsRestAverage::Micro,
    OneVsRestAverage::Prevalence,
    OneVsRestAverage::PrevalenceEqualRest,
];

/// 1, ½ or 0: a above b, tied, below.
fn credit(a: f64, b: f64) -> f64 {
    f64::from(u8::from(a > b)) + 0.5 * f64::from(u8::from(a == b))
}

/// The share of pairs (a of class c, b of class d) that a score puts in the right order.
fn share(codes: &[u8], c: usize, d: usize, score: impl Fn(usize) -> f64) -> f64 {
    let rows = |class: usize| (0..codes.len()).filter(move |&row| codes[row] as usize == class);
    let total: f64 = rows(c).flat_map(|a| rows(d).map(move |b| (a, b))).map(|(a, b)| credit(score(a), score(b))).sum();
    total / (rows(c).count() * rows(d).count()) as f64
}

/// Scores that are multiples of 1/8, so that differences are exact and ties are many, and all classes present.
fn samples() -> impl Strategy<Value = (Vec<f64>, Vec<u8>)> {
    (CLASSES..60).prop_flat_map(|rows| {
        let scores = prop::collection::vec((0_i32..24).prop_map(|k| f64::from(k) / 8.0), rows * CLASSES);
        let codes = prop::collection::vec(0..CLASSES as u8, rows - CLASSES);
        (
            scores,
            codes.prop_map(|mut codes| {
                codes.extend(0..CLASSES as u8);
                codes
            }),
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn all_values_are_those_of_the_definition((scores, codes) in samples(), threads in 1_usize..4) {
        let cancel = Cancel::new();
        let workers = Workers::with_threads(threads, &cancel);
        let matrix = ScoreMatrix::from_rows(&scores, CLASSES)?;
        let sample = ScoredSample::new(matrix, ClassCodes::Bytes(&codes), None, &workers)?;
        let score = |row: usize, column: usize| scores[row * CLASSES + column];
        let (by_difference, by_column) = (auc_mu_matrix(&sample, None, &workers)?, hand_till_matrix(&sample, &workers)?);
        let (mut sum_mu, mut sum_m) = (0.0, 0.0);
        for c in 0..CLASSES {
            for d in (0..CLASSES).filter(|&d| d != c) {
                let expected = share(&codes, c, d, |row| score(row, c) - score(row, d));
                prop_assert!((by_difference[c * CLASSES + d] - expected).abs() < 1e-15);
                sum_mu += expected;
                let expected = share(&codes, c, d, |row| score(row, c));
                prop_assert!((by_column[c * CLASSES + d] - expected).abs() < 1e-15);
                sum_m += expected;
            }
        }
        let pairs = (CLASSES * (CLASSES - 1)) as f64;
        prop_assert!((auc_mu(&sample, None, PairWeights::Equal, &workers)? - sum_mu / pairs).abs() < 1e-14);
        prop_assert!((hand_till(&sample, PairWeights::Equal, &workers)? - sum_m / pairs).abs() < 1e-14);
        let per_class = one_vs_rest_per_class(&sample, &workers)?;
        let own_or_rest = |class: usize| -> Vec<u8> { codes.iter().map(|&code| u8::from(code as usize == class)).collect() };
        let mut sum = 0.0;
        for (class, value) in per_class.iter().enumerate() {
            let expected = share(&own_or_rest(class), 1, 0, |row| score(row, class));
            prop_assert!((value - expected).abs() < 1e-15);
            sum += expected;
        }
        let average = one_vs_rest(&sample, OneVsRestAverage::Macro, &workers)?;
        prop_assert!((average - sum / CLASSES as f64).abs() < 1e-14);
    }

    #[test]
    fn variances_are_those_of_all_pairs_of_rows((scores, codes) in samples(), threads in 1_usize..4) {
        let codes = [codes, (0..CLASSES as u8).collect()].concat();
        let scores = [&scores[..], &[0.5; CLASSES * CLASSES]].concat();
        let cancel = Cancel::new();
        let workers = Workers::with_threads(threads, &cancel);
        let matrix = ScoreMatrix::from_rows(&scores, CLASSES)?;
        let sample = ScoredSample::new(matrix, ClassCodes::Bytes(&codes), None, &workers)?;
        let options = MetricOptions::default();
        let design = Design::new(&sample, Sampling::Stratified, &workers)?;
        let found = evaluate(&sample, &design, &[Metric::AucMu, Metric::HandTill], options, &workers)?;
        let estimates = moments(&design, &found.statistics, &workers)?.estimates;
        let score = |row: usize, column: usize| scores[row * CLASSES + column];
        let by_difference = |c: usize, d: usize, a: usize, b: usize| {
            credit(score(a, c) - score(a, d), score(b, c) - score(b, d)) + credit(score(b, d) - score(b, c), score(a, d) - score(a, c))
        };
        let by_column = |c: usize, d: usize, a: usize, b: usize| credit(score(a, c), score(b, c)) + credit(score(b, d), score(a, d));
        let pairs = (CLASSES * (CLASSES - 1)) as f64;
        for (estimate, kernel) in [
            (estimates[0], &by_difference as &dyn Fn(usize, usize, usize, usize) -> f64),
            (estimates[1], &by_column),
        ] {
            let mut variance = 0.0;
            for class in 0..CLASSES {
                let rows: Vec<usize> = (0..codes.len()).filter(|&row| codes[row] as usize == class).collect();
                let component = |row: usize| -> f64 {
                    (0..CLASSES).filter(|&d| d != class).map(|d| {
                        let others: Vec<usize> = (0..codes.len()).filter(|&row| codes[row] as usize == d).collect();
                        others.iter().map(|&b| kernel(class, d, row, b)).sum::<f64>() / (others.len() as f64 * pairs)
                    }).sum()
                };
                let values: Vec<f64> = rows.iter().map(|&row| component(row)).collect();
                let (size, mean) = (values.len() as f64, values.iter().sum::<f64>() / values.len() as f64);
                variance += values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (size * (size - 1.0));
            }
            prop_assert!((estimate.variance - variance).abs() < 1e-13, "{} against {}", estimate.variance, variance);
        }
    }

    #[test]
    fn whole_weights_are_repeated_rows((scores, codes) in samples(), seed: u64) {
        let cancel = Cancel::new();
        let workers = Workers::with_threads(1, &cancel);
        let weights: Vec<f64> = (0..codes.len()).map(|row| ((seed >> (row % 60)) % 3 + 1) as f64).collect();
        let (mut repeated_scores, mut repeated_codes) = (Vec::new(), Vec::new());
        for (row, &weight) in weights.iter().enumerate() {
            for _ in 0..weight as usize {
                repeated_scores.extend_from_slice(&scores[row * CLASSES..][..CLASSES]);
                repeated_codes.push(codes[row]);
            }
        }
        let weighted = ScoredSample::new(
            ScoreMatrix::from_rows(&scores, CLASSES)?, ClassCodes::Bytes(&codes), Some(&weights), &workers)?;
        let repeated = ScoredSample::new(
            ScoreMatrix::from_rows(&repeated_scores, CLASSES)?, ClassCodes::Bytes(&repeated_codes), None, &workers)?;
        for pair_weights in [PairWeights::Equal, PairWeights::SizeProduct, PairWeights::SizeSum] {
            let (a, b) = (auc_mu(&weighted, None, pair_weights, &workers)?, auc_mu(&repeated, None, pair_weights, &workers)?);
            prop_assert!((a - b).abs() < 1e-14);
            let (a, b) = (hand_till(&weighted, pair_weights, &workers)?, hand_till(&repeated, pair_weights, &workers)?);
            prop_assert!((a - b).abs() < 1e-14);
        }
        for average in AVERAGES {
            let (a, b) = (one_vs_rest(&weighted, average, &workers)?, one_vs_rest(&repeated, average, &workers)?);
            prop_assert!((a - b).abs() < 1e-14, "{:?}: {} against {}", average, a, b);
        }
    }
}

#[test]
fn a_raised_flag_stops_the_work() {
    let cancel = Cancel::new();
    cancel.raise();
    let workers = Workers::with_threads(2, &cancel);
    let scores = vec![0.5; 30_000];
    let codes: Vec<u8> = (0..10_000).map(|row| (row % 3) as u8).collect();
    let matrix = ScoreMatrix::from_rows(&scores, 3).expect("a matrix");
    let result = ScoredSample::new(matrix, ClassCodes::Bytes(&codes), None, &workers);
    assert_eq!(result.err(), Some(Error::Cancelled));
}

#[test]
fn invalid_input_is_reported() {
    let cancel = Cancel::new();
    let workers = Workers::with_threads(1, &cancel);
    let sample = |scores: &[f64], codes: &[u8], weights: Option<&[f64]>| {
        ScoredSample::new(ScoreMatrix::from_rows(scores, 2)?, ClassCodes::Bytes(codes), weights, &workers).map(|_| ())
    };
    let good = [0.1, 0.9, 0.8, 0.2];
    assert_eq!(sample(&good, &[0, 1], None), Ok(()));
    assert_eq!(sample(&good, &[0], None), Err(Error::LengthMismatch { array: RowArray::Codes, rows: 2, found: 1 }));
    assert_eq!(sample(&good, &[0, 2], None), Err(Error::CodeOutOfRange { row: 1, code: 2, classes: 2 }));
    assert_eq!(sample(&good, &[1, 1], None), Err(Error::TooFewClasses { present: 1 }));
    assert_eq!(sample(&good, &[0, 1], Some(&[1.0, -1.0])), Err(Error::InvalidWeight { row: 1, value: -1.0 }));
    let infinite = [0.1, 0.9, f64::INFINITY, 0.2];
    let found = Err(Error::NonFiniteScore { row: 1, column: 0, value: f64::INFINITY });
    assert_eq!(sample(&infinite, &[0, 1], None), found);
    assert_eq!(ScoreMatrix::new(&good, 0, (3, 2), (2, 1)).err(), Some(Error::StridesOutOfBounds));
    set_num_threads(2);
    assert_eq!(multiauc::num_threads(), 2);
    set_num_threads(0);
}
