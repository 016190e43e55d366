//! The fast ways against the simple one. The environment says how many cases, from which seed: `make fuzz` asks for a
//! million.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::result::Result;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::cases::Case;
use super::*;
use crate::pairs::{PairWeights, Partition, Rest, SampleAverage, Tally, count_columns, tally_weighted};
use crate::parallel::Cancel;
use crate::sample::{ClassCodes, ScoreMatrix};

/// Cases of a test that was not asked for more.
const FEW_CASES: u64 = 2000;
/// Cases that a thread takes at a time.
const BATCH: u64 = 64;
const BETWEEN_REPORTS: Duration = Duration::from_secs(10);
/// Rows up to which a column is compared row by row.
const MOST_COMPARED_ROWS: usize = 1000;

/// Gathers the wins of pairs as they are.
#[derive(Debug, Default)]
struct Pairs(Vec<(usize, usize, WeightedWins)>);

impl Tally for Pairs {
    fn empty(&self) -> Self {
        Self::default()
    }

    fn add(&mut self, c: usize, d: usize, wins: Wins) {
        self.0.push((c, d, weighted(wins)));
    }

    fn merge(mut self, mut other: Self) -> Self {
        self.0.append(&mut other.0);
        self
    }
}

fn weighted(wins: Wins) -> WeightedWins {
    match wins {
        Wins::Weighted(wins) => wins,
        _ => unreachable!("rows have weights"),
    }
}

/// The wins of a class against another, and by which score.
type Found = (&'static str, [usize; 2], WeightedWins);

/// Says where what was found differs from what was expected.
fn check((what, [c, d], found): &Found, expected: WeightedWins, case: &Case) -> Result<(), String> {
    let all = expected.won + expected.lost;
    // Sums of whole numbers are exact; others are rounded about once for each row.
    let tolerance = if case.has_whole_weights { 0.0 } else { (10 + case.rows()) as f64 * f64::EPSILON * all };
    let is_alike = |found: f64, expected: f64| {
        // Nothing won or lost is exactly nothing.
        (found - expected).abs() <= tolerance && (expected != 0.0 || found == 0.0)
    };
    if is_alike(found.won, expected.won) && is_alike(found.lost, expected.lost) {
        return Ok(());
    }
    Err(format!("{what} of classes {c} and {d}: found {found:?}, expected {expected:?}"))
}

/// Compares all pairs and columns with the simple way.
fn compare<T: Score>(case: &Case, scores: &[T], pools: &[Workers<'_>]) -> Result<(), String> {
    let alone = &pools[0];
    let matrix = ScoreMatrix::from_rows(scores, case.classes).map_err(|error| error.to_string())?;
    let sample = ScoredSample::new(matrix, ClassCodes::Bytes(&case.codes), Some(&case.weights), alone);
    let sample = sample.map_err(|error| error.to_string())?;
    let partition = case.costs.as_ref().map(|costs| Partition::new(costs, &sample, alone).expect("row sums are equal"));
    let score_of = |c, d| partition.map_or(PairScore::Difference, |partition| partition.score(c, d));
    let present: Vec<usize> = sample.present_classes().collect();
    let find_pairs = |workers: &Workers<'_>| -> Vec<Found> {
        let mut pairs = tally_weighted(&sample, score_of, workers, Pairs::default()).expect("wins").0;
        pairs.sort_by_key(|&(c, d, _)| (c, d));
        pairs.into_iter().map(|(c, d, wins)| ("pair", [c, d], wins)).collect()
    };
    let find_columns = |workers: &Workers<'_>| -> Vec<Found> {
        let columns = count_columns(&sample, &present, Rest::ByClass, workers, |column| {
            column.others().map(|d| ("column", [column.class, d], weighted(column.wins(d)))).collect::<Vec<_>>()
        });
        columns.expect("columns").concat()
    };
    let (pairs, columns) = (find_pairs(alone), find_columns(alone));
    if [pairs.len(), columns.len()] != [1, 2].map(|times| times * sample.pairs().count()) {
        return Err(format!("{} pairs and {} columns of {} classes", pairs.len(), columns.len(), present.len()));
    }
    let (slow, mut keys) = (WeightedPairs::new(&sample, alone).expect("a rule"), WeightedKeys::default());
    for found in &pairs {
        let [c, d] = found.1;
        check(found, weighted(slow.wins(c, d, &score_of(c, d), &mut keys)), case)?;
    }
    let slow_columns = if case.rows() <= MOST_COMPARED_ROWS { column_wins } else { sorted_column_wins };
    for of_class in columns.chunk_by(|a, b| a.1[0] == b.1[0]) {
        let expected = slow_columns(&sample, of_class[0].1[0]);
        for found in of_class {
            check(found, expected[found.1[1]], case)?;
        }
    }
    for workers in &pools[1..] {
        let again = [find_pairs(workers), find_columns(workers)].concat();
        for (once, again) in pairs.iter().chain(&columns).zip(&again) {
            if once != again {
                return Err(format!("{} threads found {again:?}, one found {once:?}", workers.threads()));
            }
        }
        let average = |workers: &Workers<'_>| {
            let average = SampleAverage::new(PairWeights::Equal, sample.sizes());
            tally_weighted(&sample, score_of, workers, average).expect("wins").finish().map(f64::to_bits)
        };
        if average(alone) != average(workers) {
            return Err(format!("{} threads found another average", workers.threads()));
        }
    }
    Ok(())
}

/// What is wrong in a case, if anything is.
fn difference(case: &Case, pools: &[Workers<'_>]) -> Option<String> {
    let pools = if case.has_threads { pools } else { &pools[..1] };
    let compared = catch_unwind(AssertUnwindSafe(|| {
        if case.is_single {
            let singles: Vec<f32> = case.scores.iter().map(|&score| score as f32).collect();
            compare(case, &singles, pools)
        } else {
            compare(case, &case.scores, pools)
        }
    }));
    compared.unwrap_or_else(|_| Err("a panic, whose message is above".to_owned())).err()
}

/// Compares cases on all cores, until the first difference: what it is, and the smallest part of the case that has it.
fn first_difference(seed: u64, numbers: Range<u64>) -> Option<String> {
    let (next, compared, found) = (AtomicU64::new(numbers.start), AtomicU64::new(0), Mutex::new(None));
    let begin = Instant::now();
    let told = Mutex::new(begin);
    let report = |is_last: bool| {
        let Ok(mut told) = told.try_lock() else { return };
        if is_last || told.elapsed() >= BETWEEN_REPORTS {
            *told = Instant::now();
            let (cases, seconds) = (compared.load(Ordering::Relaxed), begin.elapsed().as_secs());
            println!("weighted, seed {seed}: {cases} cases without a difference in {seconds} s");
        }
    };
    let work = || {
        let cancel = Cancel::new();
        let pools = [1, 3].map(|threads| Workers::with_threads(threads, &cancel));
        loop {
            let first = next.fetch_add(BATCH, Ordering::Relaxed);
            if first >= numbers.end {
                return;
            }
            let batch = first..numbers.end.min(first + BATCH);
            for number in batch.clone() {
                let case = Case::new(seed, number);
                if difference(&case, &pools).is_some() {
                    next.store(numbers.end, Ordering::Relaxed);
                    let case = case.smallest(|smaller| difference(smaller, &pools).is_some());
                    let what = difference(&case, &pools).unwrap_or_else(|| "not the second time".to_owned());
                    *found.lock().unwrap_or_else(PoisonError::into_inner) = Some(format!("{what}\n{case}"));
                    return;
                }
            }
            compared.fetch_add(batch.end - batch.start, Ordering::Relaxed);
            report(false);
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 1..cores {
            scope.spawn(work);
        }
        work();
    });
    let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    if found.is_none() {
        report(true);
    }
    found
}

fn asked_for(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.trim().parse().unwrap_or_else(|_| panic!("{name} must be a whole number, not {text:?}")))
}

#[test]
fn weighted_pairs_and_columns_are_like_the_simple_way() {
    let seed = asked_for("MULTIAUC_FUZZ_SEED").unwrap_or(0);
    let numbers = match asked_for("MULTIAUC_FUZZ_CASE") {
        Some(number) => number..number + 1,
        None => 0..asked_for("MULTIAUC_FUZZ_CASES").unwrap_or(FEW_CASES),
    };
    if let Some(found) = first_difference(seed, numbers) {
        panic!("{found}");
    }
}
