//! Stored scores against the same scores in a dense matrix, whose values are tested against the definitions.

use proptest::prelude::*;

use super::*;
use crate::error::{Error, Result};
use crate::float::Score;
use crate::metrics::{hand_till, one_vs_rest, one_vs_rest_per_class};
use crate::pairs::{OneVsRestAverage, PairWeights};
use crate::parallel::{Cancel, Workers};
use crate::sample::{ClassCodes, ScoreMatrix, ScoredSample};

const CLASSES: usize = 7;

/// Rows of cells (column, value), in any order and some of them more than once.
type Rows<T> = Vec<Vec<(i32, T)>>;

/// The three arrays.
fn compressed<T: Copy>(rows: &Rows<T>) -> (Vec<T>, Vec<i32>, Vec<i64>) {
    let mut starts = vec![0];
    for row in rows {
        starts.push(starts[starts.len() - 1] + row.len() as i64);
    }
    let (columns, values) = rows.iter().flatten().copied().unzip();
    (values, columns, starts)
}

fn dense<T: Score>(rows: &Rows<T>, width: usize) -> Vec<T> {
    let mut matrix = vec![T::ZERO; rows.len() * width];
    for (row, cells) in rows.iter().enumerate() {
        for &(column, value) in cells {
            let cell = &mut matrix[row * width + column as usize];
            *cell = cell.plus(value);
        }
    }
    matrix
}

fn all_values<T: Score>(
    rows: &Rows<T>,
    codes: &[u8],
    weights: Option<&[f64]>,
    pairs: &[f64],
    width: usize,
    threads: usize,
) -> Result<[Vec<f64>; 2]> {
    let averages = [
        OneVsRestAverage::Macro,
        OneVsRestAverage::Prevalence,
        OneVsRestAverage::PrevalenceEqualRest,
        OneVsRestAverage::Micro,
    ];
    let weightings = [PairWeights::Equal, PairWeights::SizeSum, PairWeights::SizeProduct, PairWeights::Matrix(pairs)];
    let cancel = Cancel::new();
    let workers = &Workers::with_threads(threads, &cancel);
    let (values, columns, starts) = compressed(rows);
    let stored = SparseScores::new(&values, ColumnNumbers::Ints(&columns), &starts, width)?;
    let sparse = SparseSample::new(stored, ClassCodes::Bytes(codes), weights, workers)?;
    let matrix = dense(rows, width);
    let full = ScoredSample::new(ScoreMatrix::from_rows(&matrix, width)?, ClassCodes::Bytes(codes), weights, workers)?;
    let mut found = [Vec::new(), Vec::new()];
    for kind in weightings {
        found[0].push(sparse_hand_till(&sparse, kind, workers)?);
        found[1].push(hand_till(&full, kind, workers)?);
    }
    for average in averages {
        found[0].push(sparse_one_vs_rest(&sparse, average, workers)?);
        found[1].push(one_vs_rest(&full, average, workers)?);
    }
    found[0].extend(sparse_one_vs_rest_per_class(&sparse, workers)?);
    found[1].extend(one_vs_rest_per_class(&full, workers)?);
    Ok(found)
}

/// Rows of a few cells from few values, so that ties, zeros, negative scores and repeated cells are many.
fn samples(width: usize) -> impl Strategy<Value = (Rows<f64>, Vec<u8>)> {
    let cell = (0..width as i32, -2_i32..4).prop_map(|(column, value)| (column, f64::from(value) / 2.0));
    let row = (prop::collection::vec(cell, 0..5), 0..width.max(2) as u8);
    prop::collection::vec(row, 2..40)
        .prop_map(|rows| rows.into_iter().unzip())
        .prop_filter("two classes", |(_, codes): &(_, Vec<u8>)| codes.iter().any(|&code| code != codes[0]))
}

fn pair_weights(width: usize) -> Vec<f64> {
    let classes = width.max(2);
    (0..classes * classes).map(|cell| (cell / classes + cell % classes + 1) as f64).collect()
}

fn same_bits(found: &[Vec<f64>; 2]) -> bool {
    found[0].iter().zip(&found[1]).all(|(a, b)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn values_have_the_bits_of_the_dense_ones((rows, codes) in samples(CLASSES), threads in 1_usize..4) {
        let found = all_values(&rows, &codes, None, &pair_weights(CLASSES), CLASSES, threads)?;
        prop_assert!(same_bits(&found), "{found:?}");
        let single: Rows<f32> = rows.iter().map(|row| row.iter().map(|&(c, v)| (c, v as f32)).collect()).collect();
        let found = all_values(&single, &codes, None, &pair_weights(CLASSES), CLASSES, threads)?;
        prop_assert!(same_bits(&found), "{found:?}");
    }

    #[test]
    fn two_classes_have_two_columns_or_one(
        (pairs, codes) in samples(2), (single, other_codes) in samples(1), threads in 1_usize..3,
    ) {
        let found = all_values(&pairs, &codes, None, &pair_weights(2), 2, threads)?;
        prop_assert!(same_bits(&found), "{found:?}");
        let found = all_values(&single, &other_codes, None, &pair_weights(1), 1, threads)?;
        prop_assert!(same_bits(&found), "{found:?}");
    }

    #[test]
    fn weighted_values_are_the_dense_ones((rows, codes) in samples(CLASSES), seed: u64) {
        let weights: Vec<f64> = (0..codes.len()).map(|row| ((seed >> (row % 60)) % 4) as f64 / 3.0).collect();
        match all_values(&rows, &codes, Some(&weights), &pair_weights(CLASSES), CLASSES, 2) {
            Err(Error::TooFewClasses { .. }) => {}
            found => {
                let [sparse, dense] = found?;
                for (a, b) in sparse.iter().zip(&dense) {
                    prop_assert!((a - b).abs() < 1e-14 || a.is_nan() && b.is_nan(), "{sparse:?} {dense:?}");
                }
            }
        }
    }
}

/// Rows of the best three of many classes, many of them absent, and more entries than one run of columns holds.
#[test]
fn many_columns_on_any_number_of_threads() -> Result<()> {
    let (classes, count) = (199_usize, 40_000_u64);
    let number = |row: u64, k: u64| (row * 2_654_435_761 + k * 40_503) ^ (row << 7) ^ (row >> 5);
    let rows: Rows<f64> = (0..count)
        .map(|row| {
            let columns = (0..3).map(|k| (number(row, k) % classes as u64) as i32);
            columns.zip([0.5, 0.25, 0.125]).map(|(column, top)| (column, top * (row % 97 + 1) as f64)).collect()
        })
        .collect();
    let codes: Vec<u8> = (0..count).map(|row| (number(row, row % 5) % classes as u64) as u8 / 2 * 2).collect();
    let weights: Vec<f64> = (0..count).map(|row| (row % 11) as f64).collect();
    let pairs = pair_weights(classes);
    let found = all_values(&rows, &codes, None, &pairs, classes, 3)?;
    assert!(same_bits(&found), "{found:?}");
    let weighted = [1, 2, 5].map(|threads| all_values(&rows, &codes, Some(&weights), &pairs, classes, threads));
    let [first, second, third] = weighted;
    let (first, second, third) = (first?, second?, third?);
    assert!(same_bits(&[first[0].clone(), second[0].clone()]) && same_bits(&[first[0].clone(), third[0].clone()]));
    let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-13 || a.is_nan() && b.is_nan();
    assert!(first[0].iter().zip(&first[1]).all(near), "{first:?}");
    Ok(())
}

/// A class so heavy that the others vanish beside it keeps what it wins against them.
#[test]
fn light_classes_count_beside_a_heavy_one() -> Result<()> {
    let rows = vec![vec![(0, 1.0)], vec![(0, 2.0)], vec![], vec![(1, 1.0)]];
    let weights = [1e30, 1.0, 2.0, 4.0];
    let [sparse, dense] = all_values(&rows, &[0, 1, 2, 1], Some(&weights), &pair_weights(3), 3, 1)?;
    for (a, b) in sparse.iter().zip(&dense) {
        assert!((a - b).abs() < 1e-15, "{sparse:?} {dense:?}");
    }
    Ok(())
}

#[test]
fn what_is_wrong_is_said() {
    let cancel = Cancel::new();
    let workers = &Workers::with_threads(1, &cancel);
    let sample = |values: &[f64], columns: &[i64], starts: &[i64], weights: Option<&[f64]>| {
        let scores = SparseScores::new(values, ColumnNumbers::Longs(columns), starts, 3)?;
        SparseSample::new(scores, ClassCodes::Longs(&[0, 2]), weights, workers).map(|_| ())
    };
    assert_eq!(sample(&[1.0, 2.0], &[0, 2], &[0, 1, 2], None), Ok(()));
    assert_eq!(
        sample(&[1.0, 2.0], &[0, 3], &[0, 1, 2], None),
        Err(Error::ColumnOutOfRange { row: 1, column: 3, columns: 3 })
    );
    assert_eq!(
        sample(&[1.0, 2.0], &[-1, 2], &[0, 1, 2], None),
        Err(Error::ColumnOutOfRange { row: 0, column: -1, columns: 3 })
    );
    for starts in [[0, 1, 3], [0, 2, 1], [-1, 1, 2]] {
        let row = usize::from(starts[0] == 0);
        assert_eq!(sample(&[1.0, 2.0], &[0, 2], &starts, None), Err(Error::RowStartsOutOfBounds { row }));
    }
    let infinite = Error::NonFiniteScore { row: 1, column: 1, value: f64::INFINITY };
    assert_eq!(sample(&[1.0, f64::INFINITY], &[0, 1], &[0, 1, 2], None), Err(infinite), "also of an absent class");
    assert_eq!(sample(&[1.0, 1e308, 1e308], &[0, 1, 1], &[0, 1, 3], None), Err(infinite), "also of a sum");
    let too_few = Err(Error::TooFewClasses { present: 1 });
    assert_eq!(sample(&[1.0, f64::NAN], &[0, 1], &[0, 1, 2], Some(&[1.0, 0.0])), too_few, "not in a row of no weight");
    cancel.raise();
    assert_eq!(sample(&[1.0, 2.0], &[0, 2], &[0, 1, 2], None), Err(Error::Cancelled));
}
