//! The volume under the ROC surface of ordered classes: how often rows, one of each class, come in the order of the classes.

use crate::error::Result;
use crate::float::Score;
use crate::parallel::Workers;
use crate::ranking::{Nearness, OrderedRows, RankedRow};
use crate::sample::{ClassRows, ScoredSample};

/// P(X₁ < … < X_K) for one row of each class, a run of t classes that tie counting 1/t!, by the scores of one column.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub(crate) fn ordered_vus<T: Score>(
    sample: &ScoredSample<'_, T>,
    rows: &ClassRows,
    workers: &Workers<'_>,
) -> Result<f64> {
    let mut ordered = sorted(sample, rows);
    workers.check()?;
    let mut chains = Chains::new(rows, &mut ordered);
    let mut tied = Vec::new();
    for_each_value(&mut ordered, |tie| {
        if let [row] = tie {
            return chains.add(usize::from(row.side), &[rows.mass(row.row)]);
        }
        tied.clear();
        tied.extend_from_slice(tie);
        tied.sort_by_key(|row| row.side);
        for run in runs(&tied, rows) {
            chains.add(run.first, &run.masses);
        }
    });
    Ok(chains.below(rows.present().len()).min(1.0))
}

/// The same with the component of every position: the share of the tuples through it that are in order.
///
/// # Errors
/// As [`ordered_vus`].
pub(crate) fn ordered_vus_components<T: Score>(
    sample: &ScoredSample<'_, T>,
    rows: &ClassRows,
    workers: &Workers<'_>,
) -> Result<(f64, Vec<f64>)> {
    let mut ordered = sorted(sample, rows);
    workers.check()?;
    let classes = rows.present().len();
    let mut below = Chains::new(rows, &mut ordered);
    let mut above = below.clone();
    // All rows by value and class, where each value ends, and the share of the chains below each row that it continues.
    let (mut all, mut ends) = (Vec::with_capacity(rows.len()), Vec::new());
    let mut shares: Vec<f64> = Vec::with_capacity(rows.len());
    for_each_value(&mut ordered, |tie| {
        let start = all.len();
        all.extend_from_slice(tie);
        ends.push(all.len());
        let tie = &mut all[start..];
        tie.sort_by_key(|row: &RankedRow| row.side);
        shares.extend(tie.iter().map(|row| below.below(row.side.into())));
        for run in runs(tie, rows) {
            below.add(run.first, &run.masses);
        }
    });
    let value = below.below(classes).min(1.0);
    workers.check()?;
    // From above, the last class is the first.
    above.totals.reverse();
    let mut components = vec![0.0; rows.len()];
    for (index, &end) in ends.iter().enumerate().rev() {
        let start = if index == 0 { 0 } else { ends[index - 1] };
        let mut place = start;
        for run in runs(&all[start..end], rows) {
            let from_above: Vec<f64> =
                (0..run.counts.len()).map(|step| above.below(classes - 1 - run.first - step)).collect();
            let starts: Vec<usize> =
                run.counts.iter().scan(place, |next, &count| Some(std::mem::replace(next, *next + count))).collect();
            let from_below: Vec<f64> = starts.iter().map(|&start| shares[start]).collect();
            let held: Vec<f64> =
                run.masses.iter().zip(run.first..).map(|(mass, class)| mass / below.totals[class]).collect();
            for (class, (&start, &count)) in starts.iter().zip(&run.counts).enumerate() {
                let credit = credit(class, &from_below, &held, &from_above).min(1.0);
                all[start..start + count].iter().for_each(|row| components[row.row as usize] = credit);
            }
            place += run.counts.iter().sum::<usize>();
        }
        for mut run in runs(&all[start..end], rows) {
            run.masses.reverse();
            above.add(classes - run.first - run.masses.len(), &run.masses);
        }
    }
    Ok((value, components))
}

/// The rows of all classes by their scores in the first column of a present class; sides are classes in their order.
fn sorted<T: Score>(sample: &ScoredSample<'_, T>, rows: &ClassRows) -> OrderedRows {
    let mut ordered = OrderedRows::default();
    let column = sample.classes() - 1;
    for (side, &class) in (0..).zip(rows.present()) {
        let scores = rows.of(class).iter().map(|&row| sample.scores.get(row as usize, column).into());
        ordered.extend(side, rows.range(class).start as u32, scores);
    }
    ordered.sort();
    ordered
}

fn for_each_value(ordered: &mut OrderedRows, visit: impl FnMut(&[RankedRow])) {
    ordered.for_each_tie(Nearness::NEVER, |_| unreachable!("scores of one column are compared as they are"), visit);
}

/// Rows of consecutive classes that tie.
struct Run {
    first: usize,
    /// Rows of each class, and what they weigh.
    counts: Vec<usize>,
    masses: Vec<f64>,
}

/// The runs of consecutive classes among rows of one value, which are in the order of their classes.
fn runs<'r>(tie: &'r [RankedRow], rows: &'r ClassRows) -> impl Iterator<Item = Run> + 'r {
    tie.chunk_by(|a, b| b.side - a.side <= 1).map(|run| {
        let of_classes = || run.chunk_by(|a, b| a.side == b.side);
        Run {
            first: run[0].side.into(),
            counts: of_classes().map(<[RankedRow]>::len).collect(),
            masses: of_classes().map(|own| own.iter().map(|row| rows.mass(row.row)).sum()).collect(),
        }
    })
}

/// F_k, the share of the tuples of the first k classes that are in order and below the present value. The rows of a run of
/// classes a..b at one value, which hold the shares q of their classes, add Σ_{j=a..k} F_{j−1} q_j ⋯ q_k/(k−j+1)! to F_k.
///
/// Kept as sums of W_k F_k, each class's total W_k being summed in the same order: what is wholly below has a share of 1.
#[derive(Clone)]
struct Chains {
    sums: Vec<f64>,
    totals: Vec<f64>,
}

impl Chains {
    fn new(rows: &ClassRows, ordered: &mut OrderedRows) -> Self {
        let classes = rows.present().len();
        let mut totals = vec![0.0; classes];
        if rows.weights().is_none() {
            totals = rows.present().iter().map(|&class| rows.count(class) as f64).collect();
        } else {
            for_each_value(ordered, |tie| {
                let mut tie = tie.to_vec();
                tie.sort_by_key(|row| row.side);
                for run in runs(&tie, rows) {
                    run.masses.iter().zip(run.first..).for_each(|(mass, class)| totals[class] += mass);
                }
            });
        }
        Self { sums: vec![0.0; classes], totals }
    }

    /// F of the first `classes` classes.
    fn below(&self, classes: usize) -> f64 {
        if classes == 0 { 1.0 } else { self.sums[classes - 1] / self.totals[classes - 1] }
    }

    /// Passes rows of consecutive classes that tie.
    fn add(&mut self, first: usize, masses: &[f64]) {
        // From the last class on, so that what is below stays as it was.
        for (place, mass) in masses.iter().enumerate().rev() {
            let class = first + place;
            let (mut share, mut factor) = (self.below(class), 1.0);
            for tied in 1..=place {
                factor *= masses[place - tied] / self.totals[class - tied] / (tied + 1) as f64;
                share += factor * self.below(class - tied);
            }
            self.sums[class] += mass * share;
        }
    }
}

/// The share of the tuples through a row of a class of a run: Σ over the runs j..e around it of the chains below j times
/// those above e times the shares of the other classes, divided by (e−j+1)!.
fn credit(class: usize, below: &[f64], held: &[f64], above: &[f64]) -> f64 {
    let mut sum = 0.0;
    let mut before = 1.0;
    for first in (0..=class).rev() {
        if first < class {
            before *= held[first] / (class - first + 1) as f64;
        }
        let mut product = before;
        for last in class..held.len() {
            if last > class {
                product *= held[last] / (last - first + 1) as f64;
            }
            sum += below[first] * product * above[last];
        }
    }
    sum
}
