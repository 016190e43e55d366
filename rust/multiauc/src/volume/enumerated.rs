//! All tuples of a few rows of each class.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use super::amounts::Amount;
use super::assignment::{Assignment, Best, MOST_STEPS};
use super::distinct::Distinct;
use crate::error::Result;
use crate::parallel::Workers;

/// The credits of all tuples.
pub(super) struct AllTuples {
    pub value: f64,
    /// By class and distinct row, the mean credit of the tuples through it.
    pub means: Vec<Vec<f64>>,
}

/// Prefixes of tuples are tasks of their own: so many that they keep any number of threads busy, and the same for all.
const TASKS: usize = 64;

/// Goes through all tuples of distinct rows. Classes with few rows come first, so that a tuple that is wrong already with
/// their rows is given up at once. `None` if their ties take too many steps to count.
pub(super) fn enumerate<A: Amount>(classes: &[Distinct<'_, A>], workers: &Workers<'_>) -> Result<Option<AllTuples>> {
    let mut order: Vec<usize> = (0..classes.len()).collect();
    order.sort_by_key(|&class| (classes[class].len(), class));
    let (mut depth, mut tasks) = (0, 1);
    while tasks < TASKS && depth + 1 < order.len() {
        tasks *= classes[order[depth]].len();
        depth += 1;
    }
    let sizes = Sums::new(classes);
    let mut sums = Sums::new(classes);
    let wave = 2 * workers.threads();
    let steps = AtomicU64::new(0);
    for first in (0..tasks).step_by(wave) {
        let parts = workers.map(wave.min(tasks - first), |task| {
            let mut walk = Walk {
                classes,
                order: &order,
                levels: Vec::new(),
                chosen: vec![0; order.len()],
                sums: sizes.clone(),
                steps: &steps,
                workers,
            };
            walk.levels.resize_with(order.len() + 1, || None);
            let mut rest = first + task;
            for &class in &order[..depth] {
                walk.chosen[class] = rest % classes[class].len();
                rest /= classes[class].len();
            }
            let mut tuple = Assignment::new(&order);
            let is_right = order[..depth].iter().all(|&class| tuple.push(classes[class].scores[walk.chosen[class]]));
            if is_right {
                walk.descend(depth, tuple)?;
            }
            Ok(walk.sums)
        })?;
        for part in parts {
            sums.add(part);
        }
        // The sum of all steps does not depend on the order in which threads take them.
        if steps.load(Ordering::Relaxed) > MOST_STEPS {
            return Ok(None);
        }
    }
    let sizes: Vec<f64> = classes.iter().map(Distinct::rows).collect();
    let all: f64 = sizes.iter().product();
    let value =
        sums.by_assignments.iter().map(|(&bits, &tuples)| tuples as f64 / f64::from_bits(bits)).sum::<f64>() / all;
    let mean = |(class, won): (usize, Vec<f64>)| won.into_iter().map(|credit| credit / (all / sizes[class])).collect();
    Ok(Some(AllTuples { value: value.min(1.0), means: sums.won.into_iter().enumerate().map(mean).collect() }))
}

#[derive(Clone)]
struct Sums {
    /// Tuples by the number of their best assignments (the bits of a float): whole numbers, so that their order does not
    /// matter.
    by_assignments: BTreeMap<u64, u128>,
    /// By class and distinct row, the credits of the tuples through one of its rows.
    won: Vec<Vec<f64>>,
}

impl Sums {
    fn new<A: Amount>(classes: &[Distinct<'_, A>]) -> Self {
        let won = classes.iter().map(|class| vec![0.0; class.len()]).collect();
        Self { by_assignments: BTreeMap::new(), won }
    }

    fn add(&mut self, other: Self) {
        for (assignments, tuples) in other.by_assignments {
            *self.by_assignments.entry(assignments).or_default() += tuples;
        }
        for (sums, part) in self.won.iter_mut().flatten().zip(other.won.into_iter().flatten()) {
            *sums += part;
        }
    }
}

struct Walk<'w, 's, A> {
    classes: &'w [Distinct<'s, A>],
    order: &'s [usize],
    /// A tuple for each depth, kept for its memory.
    levels: Vec<Option<Assignment<'s, A>>>,
    chosen: Vec<usize>,
    sums: Sums,
    /// Of all threads.
    steps: &'w AtomicU64,
    workers: &'w Workers<'w>,
}

impl<'s, A: Amount> Walk<'_, 's, A> {
    /// Goes through all ways to complete a tuple that is right so far.
    fn descend(&mut self, depth: usize, mut tuple: Assignment<'s, A>) -> Result<Assignment<'s, A>> {
        if self.steps.load(Ordering::Relaxed) > MOST_STEPS {
            return Ok(tuple);
        }
        if depth == self.order.len() {
            self.add(tuple.count_best()?);
            return Ok(tuple);
        }
        let class = self.order[depth];
        if let [only] = self.classes[class].scores[..] {
            self.chosen[class] = 0;
            return if tuple.push(only) { self.descend(depth + 1, tuple) } else { Ok(tuple) };
        }
        let mut longer = self.levels[depth].take().unwrap_or_else(|| Assignment::new(self.order));
        for row in 0..self.classes[class].len() {
            if depth + 2 >= self.order.len() {
                self.workers.check()?;
            }
            self.chosen[class] = row;
            longer.copy_from(&tuple);
            if longer.push(self.classes[class].scores[row]) {
                longer = self.descend(depth + 1, longer)?;
            }
        }
        self.levels[depth] = Some(longer);
        Ok(tuple)
    }

    fn add(&mut self, Best { assignments, steps }: Best) {
        let Self { classes, chosen, sums, .. } = self;
        if steps > 0 {
            self.steps.fetch_add(steps, Ordering::Relaxed);
        }
        let counts = || classes.iter().zip(&*chosen).map(|(class, &row)| class.counts[row]);
        let tuples: u128 = counts().map(u128::from).product();
        *sums.by_assignments.entry(assignments.to_bits()).or_default() += tuples;
        let credit = tuples as f64 / assignments;
        for ((won, &row), count) in sums.won.iter_mut().zip(&*chosen).zip(counts()) {
            won[row] += credit / count as f64;
        }
    }
}
