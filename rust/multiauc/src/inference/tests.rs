//! Variances against their definition, row by row.

use super::unit_sums::CHUNK;
use super::*;
use crate::error::{Error, Result, RowArray};
use crate::metric::Metric;
use crate::parallel::{Cancel, Workers};
use crate::sample::{ClassCodes, Sampling, ScoreMatrix, ScoredSample};

/// SampledRows without scores: what a variance needs to know of them.
#[derive(Clone, Copy)]
struct SampledRows<'a> {
    codes: &'a [u8],
    weights: Option<&'a [f64]>,
    sampling: Sampling<'a>,
}

impl<'a> SampledRows<'a> {
    fn new(codes: &'a [u8]) -> Self {
        Self { codes, weights: None, sampling: Sampling::Stratified }
    }

    fn classes(&self) -> usize {
        usize::from(*self.codes.iter().max().expect("some rows")) + 1
    }

    fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[row])
    }

    /// The rows of positive weight of a class.
    fn of(&self, class: usize) -> Vec<usize> {
        (0..self.codes.len()).filter(|&row| usize::from(self.codes[row]) == class && self.weight(row) > 0.0).collect()
    }

    fn class_weight(&self, class: usize) -> f64 {
        self.of(class).into_iter().map(|row| self.weight(row)).sum()
    }

    fn total_weight(&self) -> f64 {
        (0..self.classes()).map(|class| self.class_weight(class)).sum()
    }

    fn design(&self) -> Result<Design> {
        let cancel = Cancel::new();
        let scores = vec![0.0; self.codes.len() * self.classes()];
        let matrix = ScoreMatrix::from_rows(&scores, self.classes())?;
        let workers = Workers::with_threads(1, &cancel);
        Design::new(
            &ScoredSample::new(matrix, ClassCodes::Bytes(self.codes), self.weights, &workers)?,
            self.sampling,
            &workers,
        )
    }

    /// A statistic whose components are given row by row.
    fn statistic(&self, value: f64, components: &[f64], slopes: &[f64]) -> Statistic {
        let in_order = (0..self.classes()).flat_map(|class| self.of(class)).map(|row| components[row]);
        let chances = Some(vec![0.5; self.classes()]);
        Statistic {
            id: Metric::AucMu,
            value,
            components: in_order.collect::<Vec<f64>>().into(),
            slopes: slopes.to_vec(),
            chances,
            worst: None,
        }
    }

    /// (w_i/W_k)(T(i) − T̄_k) of every row.
    fn deviations(&self, components: &[f64]) -> Vec<f64> {
        let mut deviations = vec![0.0; self.codes.len()];
        for class in 0..self.classes() {
            let total = self.class_weight(class);
            let mean = self.of(class).into_iter().map(|row| self.weight(row) * components[row]).sum::<f64>() / total;
            for row in self.of(class) {
                deviations[row] = self.weight(row) / total * (components[row] - mean);
            }
        }
        deviations
    }

    /// (w_i/W)(g_k − ḡ) of every row.
    fn size_effects(&self, slopes: &[f64]) -> Vec<f64> {
        let total = self.total_weight();
        let mean = (0..self.classes()).map(|class| self.class_weight(class) * slopes[class]).sum::<f64>() / total;
        let effect = |row: usize| self.weight(row) / total * (slopes[usize::from(self.codes[row])] - mean);
        (0..self.codes.len()).map(effect).collect()
    }

    /// The effective number of a class's rows, or of its groups.
    fn effective(&self, class: usize) -> f64 {
        let mut weights = std::collections::BTreeMap::new();
        for row in self.of(class) {
            let unit = self.sampling.groups().map_or(row as u32, |groups| groups[row]);
            *weights.entry(unit).or_insert(0.0) += self.weight(row);
        }
        self.class_weight(class).powi(2) / weights.values().map(|weight: &f64| weight * weight).sum::<f64>()
    }

    /// What each row adds to the error: √c deviations, and the effects of the class sizes if these are random.
    fn added(&self, components: &[f64], slopes: Option<&[f64]>) -> Vec<f64> {
        let effects = slopes.map_or(vec![0.0; self.codes.len()], |slopes| self.size_effects(slopes));
        let mut added = self.deviations(components);
        for (row, entry) in added.iter_mut().enumerate() {
            let effective = self.effective(self.codes[row].into());
            *entry = (effective / (effective - 1.0)).sqrt() * *entry + effects[row];
        }
        added
    }

    /// The covariance of two statistics given by the components of all rows.
    fn covariance(&self, a: &[f64], b: &[f64]) -> f64 {
        self.added(a, None).iter().zip(self.added(b, None)).map(|(a, b)| a * b).sum()
    }
}

fn with_threads<R>(threads: usize, run: impl FnOnce(&Workers<'_>) -> Result<R>) -> R {
    let cancel = Cancel::new();
    run(&Workers::with_threads(threads, &cancel)).expect("nobody cancels")
}

fn moments_of(rows: &SampledRows<'_>, statistics: &[Statistic]) -> Moments {
    with_threads(1, |workers| moments(&rows.design()?, statistics, workers))
}

/// Numbers in [0, 1) without a pattern.
fn noise(count: usize, seed: u64) -> Vec<f64> {
    let hash = |index: u64| (index + 1).wrapping_mul(2 * seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (0..count as u64).map(|index| (hash(index) ^ hash(index) >> 29) as f64 / 2_f64.powi(64)).collect()
}

#[track_caller]
fn assert_close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-13 * expected.abs().max(1e-3), "{found} instead of {expected}");
}

/// 24 rows of three classes in no order, and weights of which two are zero.
const CODES: [u8; 24] = [0, 2, 1, 1, 0, 2, 2, 0, 1, 0, 2, 2, 1, 1, 0, 2, 0, 2, 1, 2, 2, 0, 1, 2];
const GROUPS: [u32; 24] = [7, 7, 7, 0, 0, 3, 3, 3, 3, 1, 1, 9, 9, 2, 2, 2, 4, 4, 4, 5, 5, 5, 5, 0];

fn weights() -> Vec<f64> {
    let mut weights: Vec<f64> = noise(24, 5).into_iter().map(|noise| 10.0 * noise + 0.1).collect();
    (weights[3], weights[10]) = (0.0, 0.0);
    weights
}

#[test]
fn two_classes_have_delongs_variance() {
    let (own, others) = ([0.9, 0.6, 0.6, 0.3], [0.5, 0.6, 0.1]);
    let credit = |a: f64, b: f64| f64::from(u8::from(a > b)) + 0.5 * f64::from(u8::from(a == b));
    let above = own.map(|a| others.iter().map(|&b| credit(a, b)).sum::<f64>() / 3.0);
    let below = others.map(|b| own.iter().map(|&a| credit(a, b)).sum::<f64>() / 4.0);
    // S10 = 1/12 over four rows and S01 = 1/16 over three.
    let auc = above.iter().sum::<f64>() / 4.0;
    let sample_variance = |values: &[f64]| {
        let squares = values.iter().map(|value| (value - auc).powi(2)).sum::<f64>();
        squares / (values.len() as f64 - 1.0)
    };
    let expected = sample_variance(&above) / 4.0 + sample_variance(&below) / 3.0;
    assert_close(expected, 1.0 / 24.0);

    let rows = SampledRows::new(&[0, 0, 0, 0, 1, 1, 1]);
    let statistic = rows.statistic(auc, &[&above[..], &below].concat(), &[0.0; 2]);
    let found = moments_of(&rows, &[statistic]).estimates[0];
    assert_eq!(found.value, auc);
    assert_close(auc, 0.75);
    assert_close(found.variance, expected);
    // Both classes add 1/48: (1/24)² / ((1/48)²/3 + (1/48)²/2).
    assert_close(found.degrees_of_freedom, 4.8);
    assert_close(found.plug_in, (3.0 / 4.0 + 2.0 / 3.0) / 48.0);
    let sides = [(0, &above[..]), (1, &below)];
    let sides = sides.map(|(class, placements)| PairSide { class, placements, order: None });
    let (of_pair, _) = with_threads(1, |workers| pair_variance(&rows.design()?, &sides, auc, workers));
    assert_close(of_pair.variance, expected);
    assert_close(of_pair.degrees_of_freedom, 4.8);
}

#[test]
fn covariances_are_those_of_the_definition_with_and_without_weights() {
    let (a, b, weights) = (noise(24, 1), noise(24, 2), weights());
    let unweighted = SampledRows::new(&CODES);
    for rows in [unweighted, SampledRows { weights: Some(&weights), ..unweighted }] {
        let found = moments_of(&rows, &[rows.statistic(0.1, &a, &[1.0; 3]), rows.statistic(0.2, &b, &[2.0; 3])]);
        for (entry, (first, second)) in found.covariance.iter().zip([(&a, &a), (&a, &b), (&b, &a), (&b, &b)]) {
            assert_close(*entry, rows.covariance(first, second));
        }
        assert_eq!(found.covariance[1].to_bits(), found.covariance[2].to_bits());
        assert_eq!(found.estimates.iter().map(|estimate| estimate.value).collect::<Vec<_>>(), [0.1, 0.2]);
        assert_eq!(found.estimates[1].variance, found.covariance[3]);
    }
}

#[test]
fn rows_of_a_group_are_summed_before_they_are_squared() {
    let (a, b, weights, slopes) = (noise(24, 3), noise(24, 4), weights(), [0.3, -0.2, 0.7]);
    for (weights, is_iid) in [(None, false), (Some(&weights[..]), false), (None, true), (Some(&weights[..]), true)] {
        let rows = SampledRows { codes: &CODES, weights, sampling: Sampling::Groups { of_rows: &GROUPS, is_iid } };
        // The groups span classes, so that class sizes are random in any case.
        let (of_a, of_b) = (rows.added(&a, Some(&slopes)), rows.added(&b, Some(&slopes)));
        let mut names = GROUPS.to_vec();
        names.sort_unstable();
        names.dedup();
        let in_group = |values: &[f64], name: u32| -> f64 {
            values.iter().zip(&GROUPS).filter(|&(_, &group)| group == name).map(|(value, _)| value).sum()
        };
        let products = names.iter().map(|&name| in_group(&of_a, name) * in_group(&of_b, name)).sum::<f64>();
        let found = moments_of(&rows, &[rows.statistic(0.0, &a, &slopes), rows.statistic(0.0, &b, &slopes)]);
        assert_close(found.covariance[1], products);
        assert_eq!(found.covariance[1], found.covariance[2]);
    }
}

#[test]
fn a_class_within_one_group_has_no_known_variance() {
    let rows = SampledRows {
        sampling: Sampling::Groups { of_rows: &[0, 1, 2, 2], is_iid: false },
        ..SampledRows::new(&[0, 0, 1, 1])
    };
    assert_eq!(rows.design().expect("a design").units(), [2, 1]);
    let found = moments_of(&rows, &[rows.statistic(0.5, &[0.1, 0.2, 0.3, 0.5], &[0.0; 2])]);
    assert!(found.estimates[0].variance.is_nan());
    let alone = SampledRows::new(&[0, 0, 1]);
    assert!(moments_of(&alone, &[alone.statistic(0.5, &[0.1, 0.2, 0.3], &[0.0; 2])]).estimates[0].variance.is_nan());
}

#[test]
fn random_class_sizes_add_the_variance_of_the_prevalences() {
    let slopes = [0.3, -0.2, 0.7];
    let rows = SampledRows { sampling: Sampling::Iid, ..SampledRows::new(&CODES) };
    // With equal components only Σ g_k π_k varies: a mean of independent rows, row i of class k having the value g_k.
    let of_rows: Vec<f64> = CODES.iter().map(|&class| slopes[usize::from(class)]).collect();
    let mean = of_rows.iter().sum::<f64>() / 24.0;
    let between = of_rows.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (24.0 * 24.0);
    let variance = |rows: &SampledRows<'_>, components: &[f64]| {
        moments_of(rows, &[rows.statistic(0.0, components, &slopes)]).estimates[0].variance
    };
    assert_close(variance(&rows, &[0.5; 24]), between);
    let components = noise(24, 6);
    assert_close(variance(&rows, &components), rows.covariance(&components, &components) + between);
    let stratified = SampledRows::new(&CODES);
    assert_close(variance(&stratified, &components), rows.covariance(&components, &components));

    let weights = weights();
    let weighted = SampledRows { weights: Some(&weights), ..rows };
    // With weights the two parts are correlated.
    let expected = weighted.added(&components, Some(&slopes)).into_iter().map(|added| added * added).sum::<f64>();
    assert_close(variance(&weighted, &components), expected);
}

#[test]
fn a_difference_has_the_variance_of_the_differences_of_components() {
    let components = [noise(24, 7), noise(24, 8), noise(24, 9)];
    let slopes = [[0.1, 0.2, 0.3], [0.5, 0.1, 0.0], [0.0, 0.0, 0.4]];
    let (values, weights) = ([0.9, 0.8, 0.6], weights());
    for sampling in [Sampling::Stratified, Sampling::Iid, Sampling::Groups { of_rows: &GROUPS, is_iid: true }] {
        for weights in [None, Some(&weights[..])] {
            let rows = SampledRows { codes: &CODES, weights, sampling };
            let models: Vec<Statistic> =
                (0..3).map(|model| rows.statistic(values[model], &components[model], &slopes[model])).collect();
            let found = with_threads(2, |workers| compare(&rows.design()?, &models, workers));
            assert_eq!(found.estimates, moments_of(&rows, &models).estimates);
            for (difference, (a, b)) in found.differences.iter().zip([(0, 1), (0, 2), (1, 2)]) {
                let minus = |a: &[f64], b: &[f64]| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a - b).collect() };
                let contrast = rows.statistic(
                    values[a] - values[b],
                    &minus(&components[a], &components[b]),
                    &minus(&slopes[a], &slopes[b]),
                );
                let expected = moments_of(&rows, &[contrast]).estimates[0];
                assert_eq!(difference.value, expected.value);
                assert_close(difference.variance, expected.variance);
                let most = expected.worst.expect("classes have ceilings").degrees_of_freedom;
                assert_close(difference.degrees_of_freedom, expected.degrees_of_freedom.min(most));
                let covariance = |first: usize, second: usize| found.covariance[first * 3 + second];
                assert_eq!(covariance(a, b), covariance(b, a));
                assert_close(difference.variance, covariance(a, a) + covariance(b, b) - 2.0 * covariance(a, b));
            }
        }
    }
}

#[test]
fn influences_are_those_of_the_rows_and_sum_to_zero_within_classes() {
    let (a, b, weights) = (noise(24, 10), noise(24, 11), weights());
    let rows = SampledRows { weights: Some(&weights), ..SampledRows::new(&CODES) };
    let statistics = [rows.statistic(0.0, &a, &[0.0; 3]), rows.statistic(0.0, &b, &[0.0; 3])];
    let found = with_threads(1, |workers| influences(&rows.design()?, &statistics, workers));
    for (column, components) in [&a, &b].into_iter().enumerate() {
        let of_column: Vec<f64> = found.iter().skip(column).step_by(2).copied().collect();
        of_column.iter().zip(rows.deviations(components)).for_each(|(&found, expected)| assert_close(found, expected));
        assert_eq!((of_column[3], of_column[10]), (0.0, 0.0), "rows of weight zero");
        for class in 0..3 {
            let sum = rows.of(class).into_iter().map(|row| of_column[row]).sum::<f64>();
            assert!(sum.abs() < 1e-15, "class {class}: {sum}");
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let count = 5 * CHUNK + 17;
    let codes: Vec<u8> = (0..count).map(|row| u8::from(row % 3 == 0)).collect();
    let (a, b, weights) = (noise(count, 12), noise(count, 13), noise(count, 14));
    for weights in [None, Some(&weights[..])] {
        for sampling in [Sampling::Stratified, Sampling::Iid] {
            let rows = SampledRows { codes: &codes, weights, sampling };
            let models = [rows.statistic(0.7, &a, &[0.2, 0.1]), rows.statistic(0.6, &b, &[0.0, 0.3])];
            let design = rows.design().expect("a design");
            let run = |threads: usize| {
                with_threads(threads, |workers| {
                    Ok((compare(&design, &models, workers)?, influences(&design, &models, workers)?))
                })
            };
            let (alone, together) = (run(1), run(3));
            assert_eq!(alone, together);
        }
    }
}

#[test]
fn the_numbers_of_a_statistic_do_not_depend_on_the_others_listed() {
    let count = CHUNK + 100;
    let codes: Vec<u8> = (0..count).map(|row| (row % 4 % 3) as u8).collect();
    let groups: Vec<u32> = (0..count as u32).map(|row| row / 5).collect();
    let (components, weights) = ([15, 16, 17].map(|seed| noise(count, seed)), noise(count, 18));
    for sampling in [Sampling::Stratified, Sampling::Iid, Sampling::Groups { of_rows: &groups, is_iid: true }] {
        for weights in [None, Some(&weights[..])] {
            let rows = SampledRows { codes: &codes, weights, sampling };
            let listed: Vec<Statistic> =
                components.iter().map(|components| rows.statistic(0.5, components, &[0.1, 0.2, 0.4])).collect();
            let design = rows.design().expect("a design");
            let run = |statistics: &[Statistic]| {
                with_threads(2, |workers| {
                    Ok((moments(&design, statistics, workers)?.estimates, influences(&design, statistics, workers)?))
                })
            };
            let (estimates, of_rows) = run(&listed);
            for (index, statistic) in listed.iter().enumerate() {
                let (alone, of_rows_alone) = run(std::slice::from_ref(statistic));
                assert_eq!(alone[0], estimates[index]);
                assert!(of_rows.iter().skip(index).step_by(3).eq(&of_rows_alone));
            }
        }
    }
}

#[test]
fn contributions_are_added_where_they_belong() {
    let positions = 2 * CHUNK + 50;
    let (first, second) = (noise(positions, 19), noise(CHUNK, 20));
    let start = CHUNK / 2;
    let contributions = [
        Contribution { start: 0, values: &first, coefficients: vec![1.0, 0.0] },
        Contribution { start, values: &second, coefficients: vec![0.25, -2.0] },
    ];
    let mut components = [vec![1.0; positions], vec![0.0; positions]];
    with_threads(3, |workers| add(&mut components, &contributions, workers));
    for position in 0..positions {
        let from_second = position.checked_sub(start).and_then(|index| second.get(index)).copied();
        assert_eq!(components[0][position], 1.0 + first[position] + 0.25 * from_second.unwrap_or(0.0));
        assert_eq!(components[1][position], -2.0 * from_second.unwrap_or(0.0));
    }
}

#[test]
fn every_row_needs_a_group() {
    let rows =
        SampledRows { sampling: Sampling::Groups { of_rows: &[0, 1], is_iid: false }, ..SampledRows::new(&[0, 0, 1]) };
    let expected = Error::LengthMismatch { array: RowArray::Groups, rows: 3, found: 2 };
    assert_eq!(rows.design().err(), Some(expected));
}

#[test]
fn a_design_refuses_samples_of_other_rows() {
    let design = SampledRows::new(&[0, 0, 1, 1]).design().expect("a design");
    let check = |codes: &[u8]| {
        with_threads(1, |workers| {
            let scores = vec![0.0; 2 * codes.len()];
            let matrix = ScoreMatrix::from_rows(&scores, 2)?;
            Ok(design.check_rows(&ScoredSample::new(matrix, ClassCodes::Bytes(codes), None, workers)?))
        })
    };
    let refused = |found: usize| Err(Error::LengthMismatch { array: RowArray::Scores, rows: 4, found });
    assert_eq!(check(&[0, 0, 1, 1]), Ok(()));
    assert_eq!(check(&[0, 0, 1]), refused(3));
    assert_eq!(check(&[0, 1, 1, 1]), refused(4));
}

#[test]
fn a_raised_flag_stops_the_sums() {
    let cancel = Cancel::new();
    cancel.raise();
    let rows = SampledRows::new(&[0, 0, 1, 1]);
    let statistic = rows.statistic(0.5, &[0.1, 0.2, 0.3, 0.5], &[0.0; 2]);
    let stopped = moments(&rows.design().expect("a design"), &[statistic], &Workers::with_threads(1, &cancel));
    assert_eq!(stopped, Err(Error::Cancelled));
}

#[test]
fn groups_of_one_row_are_rows() {
    let (a, weights) = (noise(24, 21), weights());
    let names: Vec<u32> = (0..24).map(|row| row * 7 % 24).collect();
    for weights in [None, Some(&weights[..])] {
        for is_iid in [false, true] {
            let rows = SampledRows {
                codes: &CODES,
                weights,
                sampling: if is_iid { Sampling::Iid } else { Sampling::Stratified },
            };
            let grouped = SampledRows { sampling: Sampling::Groups { of_rows: &names, is_iid }, ..rows };
            let run = |rows: &SampledRows<'_>| moments_of(rows, &[rows.statistic(0.5, &a, &[0.1, 0.2, 0.4])]);
            assert_eq!(run(&rows), run(&grouped));
        }
    }
}

#[test]
fn groups_within_classes_leave_their_sizes_fixed() {
    let of_rows: Vec<u32> = CODES.iter().zip(GROUPS).map(|(&class, group)| 10 * u32::from(class) + group % 3).collect();
    let (a, slopes) = (noise(24, 22), [0.1, 0.9, 0.4]);
    let variance = |is_iid: bool| {
        let rows = SampledRows { sampling: Sampling::Groups { of_rows: &of_rows, is_iid }, ..SampledRows::new(&CODES) };
        let added = rows.added(&a, is_iid.then_some(&slopes[..]));
        let mut sums = std::collections::BTreeMap::new();
        of_rows.iter().zip(added).for_each(|(&group, added)| *sums.entry(group).or_insert(0.0) += added);
        let expected = sums.values().map(|sum: &f64| sum * sum).sum::<f64>();
        let found = moments_of(&rows, &[rows.statistic(0.5, &a, &slopes)]).estimates[0].variance;
        assert_close(found, expected);
        found
    };
    assert!(variance(false) < variance(true));
}

#[test]
fn few_rows_that_make_up_a_variance_leave_few_degrees_of_freedom() {
    let codes: Vec<u8> = (0..200).map(|row| u8::from(row >= 100)).collect();
    let rows = SampledRows::new(&codes);
    let mut components = vec![0.5; 200];
    components[..100].iter_mut().enumerate().for_each(|(row, entry)| *entry += f64::from(row as u32 % 2) * 0.1);
    let freedom = |components: &[f64]| {
        moments_of(&rows, &[rows.statistic(0.9, components, &[0.0; 2])]).estimates[0].degrees_of_freedom
    };
    // Two values half of the time: the fourth moments know the variance exactly, and Satterthwaite's number is taken.
    assert_close(freedom(&components), 99.0);
    components[..100].fill(0.5);
    components[7] = 0.1;
    // One row makes up the variance: ν_4 = 2V²/(Σψ⁴ − V²/n), about 2.
    let found = freedom(&components);
    assert!(2.0 < found && found < 2.2, "{found}");
}

#[test]
fn one_more_row_in_each_class_makes_an_estimate_cautious() {
    let (a, weights) = (noise(24, 23), weights());
    let slopes = [0.3, -0.2, 0.7];
    for (weights, sampling) in [(None, Sampling::Stratified), (Some(&weights[..]), Sampling::Iid)] {
        let rows = SampledRows { codes: &CODES, weights, sampling };
        let found = moments_of(&rows, &[rows.statistic(0.5, &a, &slopes)]).estimates[0];
        let cautious = found.cautious.expect("a statistic knows its chances");
        // The same rows and one more for each class, with the component 1/2 and the mean weight of the class.
        let mean_weight = |class: usize| rows.class_weight(class) / rows.of(class).len() as f64;
        let longer_codes: Vec<u8> = CODES.iter().copied().chain(0..3).collect();
        let longer_weights: Vec<f64> = (0..24).map(|row| rows.weight(row)).chain((0..3).map(mean_weight)).collect();
        let components: Vec<f64> = a.iter().copied().chain([0.5; 3]).collect();
        let longer = SampledRows { codes: &longer_codes, weights: Some(&longer_weights), sampling };
        let expected = moments_of(&longer, &[longer.statistic(0.5, &components, &slopes)]).estimates[0];
        assert_close(cautious.variance, expected.variance);
        assert_close(cautious.degrees_of_freedom, expected.degrees_of_freedom);
        let mean = |rows: &SampledRows<'_>, components: &[f64], class: usize| {
            let sum = rows.of(class).into_iter().map(|row| rows.weight(row) * components[row]).sum::<f64>();
            sum / rows.class_weight(class)
        };
        let moved = (0..3).map(|class| mean(&longer, &components, class) - mean(&rows, &a, class)).sum::<f64>();
        assert_close(cautious.value, 0.5 + moved);
    }
}
