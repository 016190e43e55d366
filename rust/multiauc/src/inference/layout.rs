//! Where components are kept: rows class after class, with their weights and groups in the same order.

use std::ops::Range;
use std::sync::Mutex;

use crate::error::{Error, Result};
use crate::float::Score;
use crate::parallel::Workers;
use crate::sample::GroupedRows;
use crate::sample::ScoredSample;

/// Rows of one task where sums of floats are taken: a fixed number, so that they have the same bits on any number of
/// threads.
pub(super) const CHUNK: usize = 1 << 14;

/// Where the uncertainty comes from.
#[derive(Debug, Clone, Copy, Default)]
pub struct Design<'a> {
    /// The group of each row, where rows of one group depend on each other.
    pub groups: Option<&'a [u32]>,
    /// Whether class sizes are random (rows drawn from the whole population) or fixed (rows drawn class by class).
    pub is_iid: bool,
}

/// The rows that count, class after class; a *position* is a place in this order.
#[derive(Debug)]
pub(super) struct Layout {
    pub rows: GroupedRows,
    /// `starts[class]..starts[class + 1]` are the positions of a class.
    pub starts: Vec<usize>,
    /// The present classes.
    pub present: Vec<usize>,
    /// Weights by position, where there are any.
    pub weights: Option<Vec<f64>>,
    /// Rows and weight of each class.
    pub counts: Vec<u64>,
    pub totals: Vec<f64>,
    /// Groups, where there are any.
    pub groups: Option<Groups>,
    pub is_iid: bool,
}

impl Layout {
    pub(super) fn new<T: Score>(sample: &ScoredSample<'_, T>, design: Design<'_>) -> Result<Self> {
        let rows = GroupedRows::present(sample);
        let classes = sample.classes();
        let mut starts = vec![0];
        for class in 0..classes {
            starts.push(starts[class] + rows.of(class).len());
        }
        let in_order = || (0..classes).flat_map(|class| rows.of(class)).map(|&row| row as usize);
        let weights = sample.weights.map(|_| in_order().map(|row| sample.weight(row)).collect());
        let groups = match design.groups {
            Some(groups) if groups.len() != sample.rows() => {
                return Err(Error::LengthMismatch { rows: sample.rows(), found: groups.len() });
            }
            groups => groups.map(|groups| Groups::new(groups, &rows, classes)),
        };
        Ok(Self {
            starts,
            present: (0..classes).filter(|&class| sample.sizes.rows[class] > 0).collect(),
            weights,
            counts: sample.sizes.rows.clone(),
            totals: sample.sizes.weights.clone(),
            groups,
            is_iid: design.is_iid,
            rows,
        })
    }

    /// Number of positions.
    pub(super) fn len(&self) -> usize {
        self.starts[self.starts.len() - 1]
    }

    /// The positions of a class.
    pub(super) fn range(&self, class: usize) -> Range<usize> {
        self.starts[class]..self.starts[class + 1]
    }

    /// The weights of a class, where there are any.
    pub(super) fn weights_of(&self, class: usize) -> Option<&[f64]> {
        self.weights.as_ref().map(|weights| &weights[self.range(class)])
    }

    /// Whether it matters which row of a class a value belongs to.
    pub(super) fn is_order_needed(&self) -> bool {
        self.weights.is_some() || self.groups.is_some()
    }

    /// Weight of all classes.
    pub(super) fn total(&self) -> f64 {
        self.totals.iter().sum()
    }

    /// Independent units of each class: its rows, or its groups.
    pub(super) fn units(&self) -> Vec<u64> {
        match &self.groups {
            None => self.counts.clone(),
            Some(groups) => groups.of_class.iter().map(|of_class| of_class.names.len() as u64).collect(),
        }
    }
}

/// The groups of the rows, class by class.
#[derive(Debug)]
pub(super) struct Groups {
    pub of_class: Vec<ClassGroups>,
}

/// The groups that a class has rows of.
#[derive(Debug)]
pub(super) struct ClassGroups {
    /// Their numbers, in increasing order.
    pub names: Vec<u32>,
    /// The place of each row's group among them.
    pub of_rows: Vec<u32>,
}

impl Groups {
    fn new(groups: &[u32], rows: &GroupedRows, classes: usize) -> Self {
        let mut places = vec![0; groups.iter().max().map_or(0, |&last| last as usize + 1)];
        let of_class = (0..classes).map(|class| {
            let group_of = |&row: &u32| groups[row as usize];
            let mut names: Vec<u32> = rows.of(class).iter().map(group_of).collect();
            names.sort_unstable();
            names.dedup();
            for (place, &name) in (0..).zip(&names) {
                places[name as usize] = place;
            }
            let of_rows = rows.of(class).iter().map(|row| places[group_of(row) as usize]).collect();
            ClassGroups { names, of_rows }
        });
        Self { of_class: of_class.collect() }
    }
}

/// Values of some positions that go into the components with a coefficient per metric.
pub(super) struct Contribution<'v, const M: usize> {
    pub start: usize,
    pub values: &'v [f64],
    pub coefficients: [f64; M],
}

/// Adds contributions to the components. Those of a position are added in the order they are listed, whatever the threads.
pub(super) fn add<const M: usize>(
    components: &mut [[f64; M]],
    contributions: &[Contribution<'_, M>],
    workers: &Workers<'_>,
) -> Result<()> {
    workers.map_chunks(components, CHUNK, |chunk, components| {
        let (first, last) = (chunk * CHUNK, chunk * CHUNK + components.len());
        for contribution in contributions {
            let start = contribution.start.max(first);
            let end = (contribution.start + contribution.values.len()).min(last);
            if start >= end {
                continue;
            }
            let values = &contribution.values[start - contribution.start..end - contribution.start];
            for (component, value) in components[start - first..end - first].iter_mut().zip(values) {
                for (entry, coefficient) in component.iter_mut().zip(contribution.coefficients) {
                    *entry += coefficient * value;
                }
            }
        }
        Ok(())
    })?;
    Ok(())
}

/// `task(scratch, 0)`, …, `task(scratch, count − 1)`, some at a time: `consume` gets the results of each such wave, in
/// order, and no more of them are kept than `per_thread` for each thread. Scratch is handed on from task to task.
pub(super) fn in_waves<S: Default + Send, R: Send>(
    workers: &Workers<'_>,
    count: usize,
    per_thread: usize,
    task: impl Fn(&mut S, usize) -> Result<R> + Sync,
    mut consume: impl FnMut(Vec<R>) -> Result<()>,
) -> Result<()> {
    let wave = if workers.threads() == 1 { 1 } else { per_thread * workers.threads() };
    let idle: Mutex<Vec<S>> = Mutex::new(Vec::new());
    for first in (0..count).step_by(wave) {
        let results = workers.map(wave.min(count - first), |index| {
            let spare = idle.lock().ok().and_then(|mut idle| idle.pop());
            let mut scratch = spare.unwrap_or_default();
            let result = task(&mut scratch, first + index);
            if let Ok(mut idle) = idle.lock() {
                idle.push(scratch);
            }
            result
        })?;
        consume(results)?;
    }
    Ok(())
}
