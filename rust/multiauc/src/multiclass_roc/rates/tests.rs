use super::*;
use crate::parallel::Cancel;
use crate::sample::ClassCodes;
use crate::sample::ScoreMatrix;
use proptest::prelude::*;

/// Class codes, scores and integer weights of some rows; every class has one.
#[derive(Debug, Clone)]
struct Rows {
    classes: usize,
    codes: Vec<u8>,
    scores: Vec<f64>,
    weights: Vec<f64>,
}

fn rows() -> impl Strategy<Value = Rows> {
    let score = prop_oneof![Just(0.0), 0.0..1.0_f64, (0_u8..=10).prop_map(|tenths| f64::from(tenths) / 10.0)];
    (2_usize..5, 0_usize..40).prop_flat_map(move |(classes, more)| {
        let count = classes + more;
        (
            prop::collection::vec(0..classes as u8, more),
            prop::collection::vec(score.clone(), count * classes),
            prop::collection::vec((1_u8..4).prop_map(f64::from), count),
        )
            .prop_map(move |(codes, scores, weights)| {
                let codes = (0..classes as u8).chain(codes).collect();
                Rows { classes, codes, scores, weights }
            })
    })
}

fn with_placed<R>(
    rows: &Rows,
    weights: Option<&[f64]>,
    grid: Grid<'_>,
    scope: Scope,
    threads: usize,
    then: impl FnOnce(&PlacedCells, &Workers<'_>) -> R,
) -> R {
    let cancel = Cancel::new();
    let workers = Workers::with_threads(threads, &cancel);
    let scores = ScoreMatrix::from_rows(&rows.scores, rows.classes).unwrap();
    let sample = ScoredSample::new(scores, ClassCodes::Bytes(&rows.codes), weights, &workers).unwrap();
    then(&PlacedCells::new(&sample, grid, scope, &workers).unwrap(), &workers)
}

/// The proportion of a class with a score above the threshold.
fn rate_above(rows: &Rows, weights: &[f64], class: usize, column: usize, threshold: f64) -> f64 {
    let own = || (0..rows.codes.len()).filter(|&row| usize::from(rows.codes[row]) == class);
    let above = own().filter(|row| rows.scores[row * rows.classes + column] > threshold);
    above.map(|row| weights[row]).sum::<f64>() / own().map(|row| weights[row]).sum::<f64>()
}

/// The usual quantile with linear interpolation, by sorting.
fn quantile(mut values: Vec<f64>, level: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let position = (values.len() - 1) as f64 * level;
    let (low, fraction) = (position.floor() as usize, position.fract());
    let (a, b) = (values[low], values[(low + 1).min(values.len() - 1)]);
    if fraction < 0.5 { a + (b - a) * fraction } else { b - (b - a) * (1.0 - fraction) }
}

fn expected_thresholds(rows: &Rows, pair: (usize, usize), scope: Scope, level: f64) -> f64 {
    let cells = (0..rows.codes.len()).flat_map(|row| (0..rows.classes).map(move |column| (row, column)));
    let cells = cells.filter(|&(row, column)| match scope {
        _ if rows.classes == 2 => column == 1,
        Scope::Shared => true,
        Scope::Class => column == pair.0,
        Scope::Pair => column == pair.0 && [pair.0, pair.1].contains(&usize::from(rows.codes[row])),
    });
    quantile(cells.map(|(row, column)| rows.scores[row * rows.classes + column]).collect(), level)
}

const SCOPES: [Scope; 3] = [Scope::Shared, Scope::Class, Scope::Pair];

proptest! {
    #[test]
    fn rates_are_proportions_above_the_thresholds(rows in rows(), count in 1_usize..12) {
        for scope in SCOPES {
            with_placed(&rows, Some(&rows.weights), Grid::Quantiles(count), scope, 1, |placed, workers| {
                let rates = placed.rates(workers).unwrap();
                let pairs = placed.pairs();
                let columns = placed.threshold_columns();
                prop_assert_eq!(pairs.len(), if rows.classes == 2 { 1 } else { rows.classes * (rows.classes - 1) });
                for (j, &(c, d)) in pairs.iter().enumerate() {
                    for (i, &threshold) in columns[j % columns.len()].iter().enumerate() {
                        let expected = [rate_above(&rows, &rows.weights, c, c, threshold), rate_above(&rows, &rows.weights, d, c, threshold)];
                        let found = [rates[i * pairs.len() + j], rates[(placed.thresholds() + i) * pairs.len() + j]];
                        prop_assert!((expected[0] - found[0]).abs() < 1e-14 && (expected[1] - found[1]).abs() < 1e-14);
                    }
                }
                Ok(())
            })?;
        }
    }

    #[test]
    fn thresholds_are_quantiles(rows in rows(), count in 1_usize..12) {
        for scope in SCOPES {
            with_placed(&rows, None, Grid::Quantiles(count), scope, 1, |placed, _| {
                let pairs = placed.pairs();
                let levels: Vec<f64> = (1..=count).rev().map(|i| (i as f64 - 0.5) / count as f64).collect();
                let column = |&pair: &(usize, usize)| -> Vec<f64> {
                    levels.iter().map(|&level| expected_thresholds(&rows, pair, scope, level)).collect()
                };
                let all: Vec<Vec<f64>> = pairs.iter().map(column).collect();
                let kept = (0..count).filter(|&i| i == 0 || all.iter().any(|column| column[i] != column[i - 1]));
                let kept: Vec<usize> = kept.collect();
                let found = placed.threshold_columns();
                for (j, column) in all.iter().enumerate() {
                    let expected: Vec<f64> = kept.iter().map(|&i| column[i]).collect();
                    prop_assert_eq!(&expected, &found[j % found.len()]);
                }
                Ok(())
            })?;
        }
    }

    #[test]
    fn integer_weights_are_repeated_rows(rows in rows(), count in 1_usize..12) {
        let mut repeated = Rows { codes: Vec::new(), scores: Vec::new(), weights: Vec::new(), ..rows };
        for (row, weight) in rows.weights.iter().enumerate() {
            for _ in 0..*weight as usize {
                repeated.codes.push(rows.codes[row]);
                repeated.scores.extend(&rows.scores[row * rows.classes..][..rows.classes]);
            }
        }
        for scope in SCOPES {
            let of = |rows: &Rows, weights| with_placed(rows, weights, Grid::Quantiles(count), scope, 1, |placed, workers| {
                (placed.threshold_columns(), placed.rates(workers).unwrap())
            });
            prop_assert_eq!(of(&rows, Some(&rows.weights)), of(&repeated, None));
        }
    }
}

fn many_rows(count: usize, classes: usize) -> Rows {
    let noise = |i: usize| ((i as f64 * 12.9898).sin() * 43_758.545_3).fract().abs();
    Rows {
        classes,
        codes: (0..count).map(|row| (row * 7 % classes) as u8).collect(),
        scores: (0..count * classes).map(noise).collect(),
        weights: (0..count).map(|row| 0.5 + noise(row + 3)).collect(),
    }
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let rows = many_rows(30_000, 3);
    for weights in [None, Some(rows.weights.as_slice())] {
        let of = |threads| {
            with_placed(&rows, weights, Grid::Quantiles(300), Scope::Shared, threads, |placed, workers| {
                (
                    placed.threshold_columns(),
                    placed.rates(workers).unwrap(),
                    placed.resampled_rates(&placed.draws(Sampling::Stratified).unwrap(), (1, 2), &[]).unwrap().rates,
                )
            })
        };
        assert_eq!(of(1), of(3));
    }
}

#[test]
fn resampled_rates_vary_about_the_rates() {
    let rows = many_rows(3000, 3);
    with_placed(&rows, None, Grid::Given(&[0.75, 0.5, 0.25]), Scope::Shared, 1, |placed, workers| {
        let rates = placed.rates(workers).unwrap();
        let draws = placed.draws(Sampling::Stratified).unwrap();
        let resampled = |replicate| placed.resampled_rates(&draws, (11, replicate), &[]).unwrap().rates;
        let replicates: Vec<Vec<f64>> = (0..400).map(resampled).collect();
        for (cell, rate) in rates.iter().enumerate() {
            let mean = replicates.iter().map(|rates| rates[cell]).sum::<f64>() / 400.0;
            let variance = replicates.iter().map(|rates| (rates[cell] - mean).powi(2)).sum::<f64>() / 399.0;
            let expected = rate * (1.0 - rate) / 1000.0;
            assert!((mean - rate).abs() < 5.0 * (expected / 400.0).sqrt());
            assert!((variance / expected - 1.0).abs() < 0.4, "{variance} {expected}");
        }
    });
}

/// The gap of three classes of four rows whose own scores are above .6 and all others below .4, but for one of them.
fn gap_with(own_score: f64, counted: &[bool]) -> Option<usize> {
    let codes: Vec<u8> = (0..12).map(|row| row % 3).collect();
    let mut scores: Vec<f64> = (0..36).map(|cell| 0.01 * f64::from(cell)).collect();
    for (row, &code) in codes.iter().enumerate() {
        scores[3 * row + usize::from(code)] += 0.6;
    }
    scores[0] = own_score;
    let rows = Rows { classes: 3, codes, scores, weights: vec![1.0; 12] };
    with_placed(&rows, None, Grid::Quantiles(5), Scope::Shared, 1, |placed, workers| {
        let mut placed = placed.clone();
        let rates = placed.rates(workers).unwrap();
        placed.keep_steps(&rates, counted, &|row, column| rows.scores[3 * row + column], workers).unwrap();
        placed.gap(&rates, counted)
    })
}

#[test]
fn a_gap_is_seen_in_the_scores() {
    let all = [true; 6];
    assert!(gap_with(0.6, &all).is_some());
    // The highest of the others is .34: just above it, level with it, just below it, far below it.
    assert!(gap_with(0.340_001, &all).is_some());
    for behind in [0.34, 0.339_999, 0.0] {
        assert_eq!(gap_with(behind, &all), None);
        // The score is one of class 0: pairs of the other classes do not know it.
        assert!(gap_with(behind, &[false, false, false, true, false, true]).is_some());
    }
}
