//! Slices against evaluations of the rows themselves.

use super::*;
use crate::inference::{Design, moments};
use crate::metrics::{evaluate, value};
use crate::parallel::Cancel;
use crate::sample::{ClassCodes, ScoreMatrix};
use proptest::prelude::*;

const OPTIONS: MetricOptions<'static> = MetricOptions::DEFAULT;
const QUICK: [Metric; 7] = [
    Metric::AucMu,
    Metric::HandTill,
    Metric::OneVsRest,
    Metric::OneVsRestPrevalence,
    Metric::Accuracy,
    Metric::Kappa,
    Metric::MacroF1,
];

/// Rows of three classes in slices.
#[derive(Debug, Clone)]
struct Rows {
    scores: Vec<f64>,
    codes: Vec<u8>,
    weights: Option<Vec<f64>>,
    slices: Vec<u32>,
    groups: Vec<u32>,
}

impl Rows {
    fn only(&self, is_wanted: impl Fn(usize) -> bool) -> Self {
        let rows: Vec<usize> = (0..self.codes.len()).filter(|&row| is_wanted(row)).collect();
        Self {
            scores: rows.iter().flat_map(|&row| self.scores[3 * row..3 * row + 3].to_vec()).collect(),
            codes: rows.iter().map(|&row| self.codes[row]).collect(),
            weights: self.weights.as_ref().map(|weights| rows.iter().map(|&row| weights[row]).collect()),
            slices: rows.iter().map(|&row| self.slices[row]).collect(),
            groups: rows.iter().map(|&row| self.groups[row]).collect(),
        }
    }

    fn with<R>(&self, work: impl FnOnce(&ScoredSample<'_, f64>) -> Result<R>) -> Result<R> {
        let cancel = Cancel::new();
        let matrix = ScoreMatrix::from_rows(&self.scores, 3)?;
        let workers = Workers::with_threads(1, &cancel);
        work(&ScoredSample::new(matrix, ClassCodes::Bytes(&self.codes), self.weights.as_deref(), &workers)?)
    }

    fn value(&self, metric: Metric) -> Result<f64> {
        let cancel = Cancel::new();
        self.with(|sample| value(sample, metric, OPTIONS, &Workers::with_threads(1, &cancel)))
    }

    fn variance(&self, metric: Metric) -> Result<f64> {
        let cancel = Cancel::new();
        let workers = Workers::with_threads(1, &cancel);
        self.with(|sample| {
            let design = Design::new(sample, Sampling::Groups { of_rows: &self.groups, is_iid: false }, &workers)?;
            let statistics = evaluate(sample, &design, &[metric], OPTIONS, &workers)?.statistics;
            Ok(moments(&design, &statistics, &workers)?.estimates[0].variance)
        })
    }

    fn slices(&self, metric: Metric, reference: Option<Reference>, threads: usize) -> Result<FoundSlices> {
        let cancel = Cancel::new();
        self.with(|sample| {
            let request = SliceRequest {
                of_rows: &self.slices,
                count: 1 + *self.slices.iter().max().expect("some rows") as usize,
                metric,
                options: OPTIONS,
                sampling: Sampling::Groups { of_rows: &self.groups, is_iid: false },
                reference,
                ignores_absent: false,
            };
            evaluate_slices(sample, &request, &Workers::with_threads(threads, &cancel))
        })
    }
}

fn rows() -> impl Strategy<Value = Rows> {
    let row = (prop::array::uniform3(0_u8..6), 0_u8..3, 1_u8..5, 0_u32..13, 0_u32..40);
    (prop::collection::vec(row, 60..200), any::<bool>()).prop_map(|(rows, is_weighted)| Rows {
        scores: rows.iter().flat_map(|row| row.0.map(|score| f64::from(score) / 7.0)).collect(),
        codes: rows.iter().map(|row| row.1).collect(),
        weights: is_weighted.then(|| rows.iter().map(|row| f64::from(row.2) / 3.0).collect()),
        slices: rows.iter().map(|row| row.3).collect(),
        groups: rows.iter().map(|row| row.4).collect(),
    })
}

/// Bit for bit, but for weighted sums that were added in another order.
fn are_equal(a: f64, b: f64, is_exact: bool) -> bool {
    if is_exact { a.to_bits() == b.to_bits() } else { (a - b).abs() <= 1e-12 }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn slices_and_rests_are_those_of_their_rows(rows in rows()) {
        for metric in QUICK {
            let Ok(found) = rows.slices(metric, Some(Reference::Rest), 1) else { continue };
            prop_assert_eq!(format!("{:?}", &found), format!("{:?}", rows.slices(metric, Some(Reference::Rest), 3)?));
            for (slice, found) in (0..).zip(&found.slices) {
                if found.estimate.value.is_nan() {
                    continue;
                }
                let inside = rows.only(|row| rows.slices[row] == slice);
                let is_exact = rows.weights.is_none();
                prop_assert!(are_equal(found.estimate.value, inside.value(metric)?, is_exact));
                let variance = inside.variance(metric)?;
                prop_assert!(variance.to_bits() == found.estimate.variance.to_bits() || variance.is_nan());
                if found.reference.value.is_nan() {
                    continue;
                }
                let outside = rows.only(|row| rows.slices[row] != slice);
                let expected = outside.value(metric)?;
                let (name, found) = (metric.name(), found.reference.value);
                prop_assert!(are_equal(found, expected, is_exact), "{name}: {found} for {expected}");
            }
        }
    }
}

/// Rows of three classes, some slices, and groups of rows that lie in several of them.
fn many_rows(count: usize, slices: u32) -> Rows {
    let noise = |row: usize, place: usize| (((row * 3 + place) * 7919 + 104_729) % 10_007) as f64 / 10_007.0;
    Rows {
        scores: (0..count)
            .flat_map(|row| [0, 1, 2].map(|c| noise(row, c) + if c == row % 3 { 0.4 } else { 0.0 }))
            .collect(),
        codes: (0..count).map(|row| (row % 3) as u8).collect(),
        weights: None,
        slices: (0..count).map(|row| (row / 3) as u32 % slices).collect(),
        groups: (0..count).map(|row| (row / 20) as u32).collect(),
    }
}

#[test]
fn rests_of_small_slices_have_nearly_their_variance() -> Result<()> {
    // Forty slices of a fortieth: none is evaluated without its rows one by one.
    let rows = many_rows(4800, 40);
    for metric in QUICK {
        let found = rows.slices(metric, Some(Reference::Rest), 1)?;
        for (slice, found) in (0..).zip(&found.slices) {
            let exact = rows.only(|row| rows.slices[row] != slice).variance(metric)?;
            let ratio = (found.reference.variance / exact).sqrt();
            assert!((ratio - 1.0).abs() < 0.025, "{}: {ratio} times the standard error", metric.name());
        }
    }
    Ok(())
}

#[test]
fn shared_groups_covary() -> Result<()> {
    // The covariance by way of three variances: the exact rest, the whole as its own slice, and ψ by group.
    let rows = many_rows(600, 4);
    let few = rows.slices(Metric::AucMu, Some(Reference::Rest), 1)?;
    let joint = few.joint.as_ref().expect("few slices");
    assert_eq!(joint.slices, [0, 1, 2, 3]);
    for found in &few.slices {
        let most = (found.estimate.variance * found.reference.variance).sqrt();
        assert!(found.covariance.abs() <= most && found.covariance != 0.0);
    }
    // Rows that are their own groups share nothing.
    let apart = Rows { groups: (0..600).collect(), ..rows };
    let found = apart.slices(Metric::AucMu, Some(Reference::Rest), 1)?;
    assert!(found.slices.iter().all(|slice| slice.covariance.abs() < 1e-18));
    Ok(())
}

#[test]
fn two_slices_are_one_comparison() -> Result<()> {
    let rows = many_rows(600, 2);
    let found = rows.slices(Metric::HandTill, Some(Reference::Rest), 1)?;
    let joint = found.joint.expect("few slices");
    assert!((joint.correlations[1] + 1.0).abs() < 1e-12);
    let [first, second] = found.slices[..] else { panic!("two slices") };
    assert_eq!(first.estimate.value.to_bits(), second.reference.value.to_bits());
    assert_eq!(first.reference.variance.to_bits(), second.estimate.variance.to_bits());
    Ok(())
}

#[test]
fn singles_have_the_keys_of_their_own_rows() -> Result<()> {
    // Tenths, but for one slice: without it the rest lies on a lattice, where differences tie that otherwise do not.
    let cancel = Cancel::new();
    let workers = Workers::with_threads(1, &cancel);
    let rows = many_rows(720, 12);
    let score = |(cell, &score): (usize, &f64)| {
        let is_odd = rows.slices[cell / 3] == 5;
        if is_odd { score as f32 } else { (score * 10.0).round() as f32 / 10.0 }
    };
    let scores: Vec<f32> = rows.scores.iter().enumerate().map(score).collect();
    let sample_of = |rows: &[usize]| {
        let cells: Vec<f32> = rows.iter().flat_map(|&row| scores[3 * row..3 * row + 3].to_vec()).collect();
        let codes: Vec<u8> = rows.iter().map(|row| (row % 3) as u8).collect();
        (cells, codes)
    };
    let (cells, codes) = sample_of(&(0..720).collect::<Vec<_>>());
    let sample = ScoredSample::new(ScoreMatrix::from_rows(&cells, 3)?, ClassCodes::Bytes(&codes), None, &workers)?;
    let request = SliceRequest {
        of_rows: &rows.slices,
        count: 12,
        metric: Metric::AucMu,
        options: OPTIONS,
        sampling: Sampling::Stratified,
        reference: Some(Reference::Rest),
        ignores_absent: false,
    };
    let found = evaluate_slices(&sample, &request, &workers)?;
    for (slice, found) in (0..).zip(&found.slices) {
        let outside: Vec<usize> = (0..720).filter(|&row| rows.slices[row] != slice).collect();
        let (cells, codes) = sample_of(&outside);
        let rest = ScoredSample::new(ScoreMatrix::from_rows(&cells, 3)?, ClassCodes::Bytes(&codes), None, &workers)?;
        let expected = value(&rest, Metric::AucMu, OPTIONS, &workers)?;
        assert_eq!(found.reference.value.to_bits(), expected.to_bits(), "slice {slice}");
    }
    Ok(())
}
