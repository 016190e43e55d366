//! States against the kernels that see all rows at once.

use proptest::prelude::*;

use super::code::{Place, is_alone, number_of, score_code};
use super::{Answers, RangeBlocks, RangeCounts, Sketch, SketchSettings};
use crate::float::Score;
use crate::metrics::{auc_mu, hand_till, one_vs_rest};
use crate::pairs::{OneVsRestAverage, PairWeights};
use crate::parallel::{Cancel, Workers};
use crate::sample::{ClassCodes, ScoreMatrix, ScoredSample};

const CLASSES: usize = 3;

fn settings(memory: usize) -> SketchSettings {
    SketchSettings { classes: CLASSES, differences: true, columns_by_class: true, columns: true, memory, lattice: None }
}

fn sketch<T: Score>(scores: &[T], codes: &[u8], memory: usize, batch: usize) -> Sketch<T> {
    sketch_of(settings(memory), scores, codes, batch)
}

fn sketch_of<T: Score>(settings: SketchSettings, scores: &[T], codes: &[u8], batch: usize) -> Sketch<T> {
    let cancel = Cancel::new();
    let workers = Workers::with_threads(1, &cancel);
    let mut sketch = Sketch::new(settings);
    for (scores, codes) in scores.chunks(batch * CLASSES).zip(codes.chunks(batch)) {
        let matrix = ScoreMatrix::from_rows(scores, CLASSES).expect("a matrix");
        sketch.update(matrix, ClassCodes::Bytes(codes), None, &workers).expect("rows");
    }
    sketch
}

fn exact<T: Score>(scores: &[T], codes: &[u8]) -> [f64; 4] {
    let cancel = Cancel::new();
    let workers = Workers::with_threads(1, &cancel);
    let matrix = ScoreMatrix::from_rows(scores, CLASSES).expect("a matrix");
    let sample = ScoredSample::new(matrix, ClassCodes::Bytes(codes), None, &workers).expect("a sample");
    let found = [
        auc_mu(&sample, None, PairWeights::Equal, &workers),
        hand_till(&sample, PairWeights::Equal, &workers),
        one_vs_rest(&sample, OneVsRestAverage::Macro, &workers),
        one_vs_rest(&sample, OneVsRestAverage::Prevalence, &workers),
    ];
    found.map(|value| value.expect("a value"))
}

fn answers<T: Score>(sketch: &mut Sketch<T>) -> Answers {
    let cancel = Cancel::new();
    sketch.answers(&Workers::with_threads(1, &cancel)).expect("answers")
}

fn check<T: Score>(scores: &[T], codes: &[u8]) {
    let expected = exact(scores, codes);
    for memory in [settings(0).least_memory(), 1 << 24] {
        let found = answers(&mut sketch(scores, codes, memory, 7));
        let found = [found.auc_mu, found.hand_till, found.one_vs_rest, found.one_vs_rest_prevalence];
        for (found, expected) in found.into_iter().flatten().zip(expected) {
            assert!(found.low <= expected && expected <= found.high, "{found:?} without {expected}");
            if memory == 1 << 24 {
                assert_eq!((found.low, found.high, found.value), (expected, expected, expected));
            }
        }
    }
}

fn score() -> impl Strategy<Value = f64> {
    prop_oneof![
        0.0..1.0,
        (0_i32..=10).prop_map(|tenths| f64::from(tenths) / 10.0),
        (0_i32..=7).prop_map(|sevenths| f64::from(sevenths) / 7.0),
        (0_i32..40).prop_map(|power| 2_f64.powi(-power)),
        (0_i32..60).prop_map(|power| 1.0 - 10_f64.powi(-power)),
        (0_i32..300).prop_map(|power| 10_f64.powi(-power)),
        -3.0..3.0,
    ]
}

/// Scores of one kind throughout: in mixtures some near keys are not followed up.
fn of_one_kind() -> impl Strategy<Value = Vec<f64>> {
    let smooth = prop::collection::vec(prop_oneof![0.0..1.0, -3.0..3.0], CLASSES * 40);
    let fractions = prop::collection::vec(
        prop_oneof![(0_i32..=10).prop_map(|k| f64::from(k) / 10.0), (0_i32..=7).prop_map(|k| f64::from(k) / 7.0)],
        CLASSES * 40,
    );
    let extreme =
        prop::collection::vec((0_i32..300).prop_map(|power| 10_f64.powi(-power) * 0.912_345_678_901), CLASSES * 40);
    prop_oneof![smooth, fractions, extreme]
}

fn codes() -> Vec<u8> {
    (0..40_u8).map(|row| row % 3).collect()
}

/// So few numbers that many rows share them, and some that are close to them.
fn few_distinct() -> impl Strategy<Value = Vec<f64>> {
    let near = (0_i32..4).prop_map(|step| 0.3 + f64::from(step) * 1e-16);
    prop::collection::vec(prop_oneof![Just(0.1), Just(0.25), Just(1.0), Just(0.0), near], CLASSES * 40)
}

/// How rows are spread over machines, and the work of counting over others.
#[derive(Clone, Copy)]
struct Split {
    longest: usize,
    parts: usize,
    machines: usize,
    batch: usize,
    seed: u64,
}

/// Counts in blocks, with a state as coarse as possible, of the metrics of all pairs and of one-vs-rest alone.
fn check_blocks<T: Score>(scores: &[T], split: Split) {
    let (cancel, all) = (Cancel::new(), codes());
    let workers = Workers::with_threads(1, &cancel);
    let only_columns = SketchSettings { differences: false, columns_by_class: false, ..settings(0) };
    for settings in [settings(0), only_columns] {
        let mut settings = SketchSettings { memory: settings.least_memory(), ..settings };
        let mut coarse = sketch_of(settings, scores, &all, 11);
        if let Some(m) = coarse.lattice() {
            settings.lattice = Some(m);
            coarse = sketch_of(settings, scores, &all, 11);
        }
        let mut plan = RangeBlocks::new(&mut coarse, split.longest, &workers).expect("a plan");
        plan.split(split.parts);
        let sent = plan.to_bytes();
        let mut blocks = Vec::new();
        for machine in 0..split.machines {
            let mut gatherer = RangeBlocks::<T>::from_bytes(&sent).expect("a plan");
            for batch in (0..all.len()).collect::<Vec<_>>().chunks(split.batch) {
                let own: Vec<usize> = batch.iter().copied().filter(|row| row % split.machines == machine).collect();
                let rows: Vec<T> = own.iter().flat_map(|&row| scores[row * CLASSES..][..CLASSES].to_vec()).collect();
                let codes: Vec<u8> = own.iter().map(|&row| all[row]).collect();
                let matrix = ScoreMatrix::from_rows(&rows, CLASSES).expect("a matrix");
                gatherer.update(matrix, ClassCodes::Bytes(&codes), &workers).expect("rows");
                if gatherer.gathered_bytes() > 200 {
                    blocks.extend(gatherer.take_blocks());
                }
            }
            blocks.extend(gatherer.take_blocks());
        }
        blocks.sort_by_key(|(_, block)| {
            block.iter().fold(split.seed, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(31))
        });
        for part in 0..split.parts as u32 {
            let mut counter = RangeBlocks::<T>::from_bytes(&sent).expect("a plan");
            for (_, block) in blocks.iter().filter(|(of, _)| *of == part) {
                counter.receive(block).expect("a block");
            }
            plan.add_counts(&counter.take_counts(&workers).expect("counts")).expect("counts");
        }
        let found = plan.answers(&mut coarse, &workers).expect("answers");
        let expected = exact(scores, &all);
        let found = [found.auc_mu, found.hand_till, found.one_vs_rest, found.one_vs_rest_prevalence];
        for (found, expected) in
            found.into_iter().zip(expected).filter_map(|(found, expected)| Some((found?, expected)))
        {
            assert_eq!((found.low, found.high), (expected, expected));
        }
    }
}

proptest! {
    #[test]
    fn while_numbers_fit_answers_are_those_of_all_rows(scores in of_one_kind()) {
        check(&scores, &codes());
    }

    #[test]
    fn singles_too(scores in prop_oneof![of_one_kind(), prop::collection::vec(score(), CLASSES * 40)]) {
        let singles: Vec<f32> = scores.iter().map(|&score| score as f32).collect();
        check(&singles, &codes());
    }

    #[test]
    fn bounds_hold_for_any_mixture(scores in prop::collection::vec(score(), CLASSES * 40)) {
        let expected = exact(&scores, &codes());
        for memory in [settings(0).least_memory(), 1 << 24] {
            let found = answers(&mut sketch(&scores, &codes(), memory, 9));
            let found = found.auc_mu.expect("an answer");
            prop_assert!(found.low <= expected[0] && expected[0] <= found.high);
        }
    }

    #[test]
    fn several_passes_give_the_exact_values(
        scores in prop_oneof![of_one_kind(), prop::collection::vec(score(), CLASSES * 40)],
        memory in 1_usize..3000,
    ) {
        let cancel = Cancel::new();
        let workers = Workers::with_threads(1, &cancel);
        let mut coarse = sketch(&scores, &codes(), settings(0).least_memory(), 11);
        let all = codes();
        let mut counts = RangeCounts::new(&mut coarse, memory, &workers).expect("counts");
        let mut passes = 0;
        while counts.begin_pass(memory) {
            for (scores, codes) in scores.chunks(5 * CLASSES).zip(all.chunks(5)) {
                let matrix = ScoreMatrix::from_rows(scores, CLASSES).expect("a matrix");
                counts.update(matrix, ClassCodes::Bytes(codes), &workers).expect("rows");
            }
            counts.end_pass(&workers).expect("counts");
            passes += 1;
        }
        prop_assert!(passes <= 1 + 40 * 100);
        let found = counts.answers(&mut coarse, &workers).expect("answers");
        let found = [found.auc_mu, found.hand_till, found.one_vs_rest, found.one_vs_rest_prevalence];
        for (found, expected) in found.into_iter().flatten().zip(exact(&scores, &all)) {
            prop_assert_eq!((found.low, found.high), (expected, expected));
        }
    }

    #[test]
    fn blocks_in_any_order_and_any_parts_give_the_exact_values(
        scores in prop_oneof![of_one_kind(), prop::collection::vec(score(), CLASSES * 40), few_distinct()],
        (longest, parts, machines, batch) in (1_usize..30, 1_usize..6, 1_usize..5, 1_usize..20),
        seed in any::<u64>(),
    ) {
        check_blocks(&scores, Split { longest, parts, machines, batch, seed });
        let singles: Vec<f32> = scores.iter().map(|&score| score as f32).collect();
        check_blocks(&singles, Split { longest, parts, machines, batch, seed });
    }

    #[test]
    fn neither_order_nor_parts_matter(
        scores in prop::collection::vec(score(), CLASSES * 40),
        cut in 0_usize..=40,
        batch in 1_usize..20,
    ) {
        let cancel = Cancel::new();
        let workers = Workers::with_threads(1, &cancel);
        for memory in [settings(0).least_memory(), 1 << 16] {
            let whole = sketch(&scores, &codes(), memory, 40).to_bytes(&workers).expect("bytes");
            let (first, second) = scores.split_at(cut * CLASSES);
            let all = codes();
            let mut parts = sketch(second, &all[cut..], memory, batch);
            let bytes = sketch(first, &all[..cut], memory, batch).to_bytes(&workers).expect("bytes");
            parts.merge(Sketch::from_bytes(&bytes).expect("a state"), &workers).expect("the same settings");
            prop_assert!(parts.to_bytes(&workers).expect("bytes") == whole);
        }
    }

    #[test]
    fn integers_are_in_the_order_of_the_numbers(a in score(), b in score(), c in score(), d in score()) {
        prop_assert_eq!(score_code(a).cmp(&score_code(b)), a.partial_cmp(&b).expect("numbers"));
        for number in [a, b, -a] {
            prop_assert!((number_of(score_code(number)) - number).abs() <= 1e-16);
        }
        let place = |a: f64, b: f64| super::places::place_of(a, b, super::places::Reading::Fractions);
        let order = crate::keys::ExactKey::of_doubles(a, b).cmp(&crate::keys::ExactKey::of_doubles(c, d));
        let (first, second) = (place(a, b), place(c, d));
        if first.code != second.code {
            prop_assert_eq!(first.code.cmp(&second.code), order);
        } else if first.within != Place::UNKNOWN && second.within != Place::UNKNOWN {
            prop_assert_eq!(first.within.cmp(&second.within), order);
        }
        prop_assert_eq!(place(a, b).code == place(b, a).code, is_alone(place(a, b).code) && a == b);
    }
}

#[test]
fn digits_sort_like_comparisons() {
    use super::table::Prefix;
    let mut numbers: Vec<u32> = (0..10_000_u32).map(|index| index.wrapping_mul(2_654_435_761) >> 5).collect();
    let mut expected = numbers.clone();
    expected.sort_unstable();
    u32::sort(&mut numbers);
    assert_eq!(numbers, expected);
}

#[test]
fn full_bins_are_followed_by_others() {
    use super::table::Table;
    let mut table: Table<u32, u32> = Table::default();
    for _ in 0..3 {
        table.push(7, u32::MAX);
    }
    table.push(7, 5);
    table.push(8, 1);
    assert_eq!(table.prefixes, [7, 7, 7, 7, 8]);
    assert_eq!(table.masses, [u32::MAX, u32::MAX, u32::MAX, 5, 1]);
    let twice = table.merged(&table);
    assert_eq!(twice.prefixes, [7, 7, 7, 7, 7, 7, 7, 8]);
    assert_eq!(twice.masses[5..], [u32::MAX, 10, 2]);
}

#[test]
fn rows_that_changed_between_two_readings_are_noticed() {
    let cancel = Cancel::new();
    let workers = Workers::with_threads(1, &cancel);
    let scores: Vec<f64> = (0..120).map(|index| f64::from(index * 37 % 101) / 101.5).collect();
    let mut coarse = sketch(&scores, &codes(), settings(0).least_memory(), 40);
    let mut plan = RangeBlocks::new(&mut coarse, 16, &workers).expect("a plan");
    let mut machine = RangeBlocks::<f64>::from_bytes(&plan.to_bytes()).expect("a plan");
    let matrix = ScoreMatrix::from_rows(&scores[3..], CLASSES).expect("a matrix");
    machine.update(matrix, ClassCodes::Bytes(&codes()[1..]), &workers).expect("rows");
    for (_, block) in machine.take_blocks() {
        machine.receive(&block).expect("a block");
    }
    plan.add_counts(&machine.take_counts(&workers).expect("counts")).expect("counts");
    assert_eq!(plan.answers(&mut coarse, &workers), Err(crate::error::Error::OtherRows));
}

#[test]
fn damaged_blocks_and_plans_are_refused() {
    let cancel = Cancel::new();
    let workers = Workers::with_threads(1, &cancel);
    let scores: Vec<f64> = (0..120).map(|index| f64::from(index * 37 % 101) / 101.5).collect();
    let mut coarse = sketch(&scores, &codes(), settings(0).least_memory(), 40);
    let plan = RangeBlocks::new(&mut coarse, 16, &workers).expect("a plan").to_bytes();
    assert!(RangeBlocks::<f32>::from_bytes(&plan).is_err());
    for end in 0..plan.len() {
        assert!(RangeBlocks::<f64>::from_bytes(&plan[..end]).is_err());
    }
    let mut machine = RangeBlocks::<f64>::from_bytes(&plan).expect("a plan");
    let matrix = ScoreMatrix::from_rows(&scores, CLASSES).expect("a matrix");
    machine.update(matrix, ClassCodes::Bytes(&codes()), &workers).expect("rows");
    let (_, block) = machine.take_blocks().remove(0);
    assert!(machine.receive(&block[..block.len() - 1]).is_err());
    assert!(machine.receive(&[255; 64]).is_err());
}
