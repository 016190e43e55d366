//! One-vs-rest of stored scores.

use super::columns::{Column, StoredWins};
use super::micro::micro;
use super::own_rows::{CountedRows, OwnRows, WeightedRows};
use super::sparse_sample::SparseSample;
use crate::error::Result;
use crate::float::Score;
use crate::pairs::{ClassAverage, OneVsRestAverage, Wins};
use crate::parallel::Workers;

/// [`one_vs_rest_per_class`](crate::one_vs_rest_per_class) of stored scores.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub fn sparse_one_vs_rest_per_class<T: Score>(sample: &SparseSample<'_, T>, workers: &Workers<'_>) -> Result<Vec<f64>> {
    let mut values = vec![f64::NAN; sample.classes()];
    for (class, wins) in wins_over_rests(sample, workers)? {
        values[class] = wins.share();
    }
    if sample.has_single_score() {
        values[0] = values[1];
    }
    Ok(values)
}

/// [`one_vs_rest`](crate::one_vs_rest) of stored scores.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub fn sparse_one_vs_rest<T: Score>(
    sample: &SparseSample<'_, T>,
    average: OneVsRestAverage,
    workers: &Workers<'_>,
) -> Result<f64> {
    match average {
        // With a single score all averages are its AUC.
        _ if sample.has_single_score() => Ok(sparse_one_vs_rest_per_class(sample, workers)?[1]),
        OneVsRestAverage::Micro => micro(sample, workers),
        OneVsRestAverage::PrevalenceEqualRest if sample.is_weighted() => equal_rest::<T, WeightedRows>(sample, workers),
        OneVsRestAverage::PrevalenceEqualRest => equal_rest::<T, CountedRows<T>>(sample, workers),
        OneVsRestAverage::Macro | OneVsRestAverage::Prevalence => {
            let mut total = ClassAverage::default();
            for (class, wins) in wins_over_rests(sample, workers)? {
                let size = sample.side_of_class(class);
                let is_even = average == OneVsRestAverage::Macro;
                let (times, weight) = if is_even { (1, 1.0) } else { (size.rows, size.weight) };
                total.add(wins, times, weight);
            }
            total.finish()
        }
    }
}

/// What each present class wins against the rest, by its own column.
fn wins_over_rests<T: Score>(sample: &SparseSample<'_, T>, workers: &Workers<'_>) -> Result<Vec<(usize, Wins)>> {
    fn of_rows<T: Score, O: OwnRows<T>>(
        sample: &SparseSample<'_, T>,
        workers: &Workers<'_>,
    ) -> Result<Vec<(usize, Wins)>> {
        let runs = sample.runs_of_columns();
        let found = workers.map(runs.len(), |run| {
            let classes = runs[run].clone().filter(|&class| sample.has_class(class));
            let wins = |class| Ok((class, Column::<T, O>::new(sample, class).wins_over_rest(workers)?));
            classes.map(wins).collect::<Result<Vec<_>>>()
        })?;
        Ok(found.into_iter().flatten().collect())
    }
    if sample.is_weighted() {
        of_rows::<T, WeightedRows>(sample, workers)
    } else {
        of_rows::<T, CountedRows<T>>(sample, workers)
    }
}

/// By prevalence, all classes of a rest counting alike.
fn equal_rest<T: Score, O: OwnRows<T>>(sample: &SparseSample<'_, T>, workers: &Workers<'_>) -> Result<f64> {
    let runs = sample.runs_of_columns();
    let parts = workers.map_with(
        runs.len(),
        || StoredWins::new(sample.classes()),
        |stored, run| {
            let mut part = ClassAverage::default();
            for class in runs[run].clone().filter(|&class| sample.has_class(class)) {
                let column = Column::<T, O>::new(sample, class);
                column.count_stored(stored, workers)?;
                let own = column.own;
                for &d in stored.classes() {
                    part.add(column.wins_over(d, stored), own.rows, own.weight);
                }
                let (classes, _) = column.unstored_classes(stored);
                if classes > 0 {
                    part.add(column.wins_over_unstored(), classes * own.rows, classes as f64 * own.weight);
                }
            }
            Ok(part)
        },
    )?;
    parts.into_iter().fold(ClassAverage::default(), ClassAverage::merge).finish()
}
