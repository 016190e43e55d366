//! Tuples of three classes, all of them counted: for every row of one class and every row of another, how many rows of the
//! third make the tuple right, in O(n² log n) time and O(n) memory.
//!
//! With x = s₁ − s₃ and y = s₂ − s₃, rows 1, 2 and 3 are right iff
//!
//! * x₁ − y₁ ≥ x₂ − y₂ (they must not change places),
//! * x₃ ≤ X = x₁ + min(0, y₂ − y₁), and
//! * y₃ ≤ Y = y₂ + min(0, x₁ − x₂),
//!
//! and each equality is one more best assignment (two, if both terms of a minimum are equal). For a given row 1, X rises
//! with y₂: rows of class 2 are taken in the order of y₂, and rows of class 3 enter a Fenwick tree on y₃ in the order of
//! x₃. Where rows 2 and 3 lie among the bounds follows from merging sorted lists. Ties need no more trees: rows with
//! x₃ = X are a run of the order, and those with y₃ = Y an entry of a table.

use super::amounts::Amount;
use crate::error::Result;
use crate::parallel::Workers;

/// Credits are counted in 60ths: a tuple has at most six best assignments.
pub(super) const UNIT: u64 = 60;

/// A row of a class: (x, y), and how many rows have these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Point<A> {
    pub x: A,
    pub y: A,
    pub count: u64,
}

/// What the rows of two of the classes win, in 60ths: the credits of all tuples through one of a point's rows.
pub(super) struct Won {
    pub outer: Vec<u64>,
    pub inner: Vec<u64>,
}

/// Credits of all tuples of an outer, an inner and a third class.
pub(super) fn count_triples<A: Amount>(
    outer: &[Point<A>],
    inner: &[Point<A>],
    third: &[Point<A>],
    workers: &Workers<'_>,
) -> Result<Won> {
    const TASKS: usize = 64;
    let (inner, third) = (Inner::new(inner, third), Third::new(third));
    let tasks = TASKS.min(outer.len());
    let span = |task: usize| task * outer.len() / tasks..(task + 1) * outer.len() / tasks;
    let parts = workers.map_with(
        tasks,
        || Sweep::new(&inner, &third),
        |sweep, task| {
            let mut won = Won { outer: Vec::new(), inner: vec![0; inner.points.len()] };
            for point in &outer[span(task)] {
                workers.check()?;
                won.outer.push(sweep.run(*point, &mut won.inner));
            }
            Ok(won)
        },
    )?;
    let mut won = Won { outer: Vec::with_capacity(outer.len()), inner: vec![0; inner.points.len()] };
    for part in parts {
        won.outer.extend(part.outer);
        for (place, value) in inner.places.iter().zip(part.inner) {
            won.inner[*place as usize] += value;
        }
    }
    Ok(won)
}

/// The inner class in the order of y.
struct Inner<A> {
    points: Vec<Point<A>>,
    /// Where each point was in the order of the caller.
    places: Vec<u32>,
    /// The points in falling order of x − y.
    by_difference: Vec<ByDifference<A>>,
    /// Of each point, the number of different y of the third class below its y, and up to it.
    levels: Vec<[u32; 2]>,
}

/// A point of the inner class, side by side with its neighbours in another order.
struct ByDifference<A> {
    x: A,
    difference: A,
    index: u32,
}

impl<A: Amount> Inner<A> {
    fn new(points: &[Point<A>], third: &[Point<A>]) -> Self {
        let mut places: Vec<u32> = (0..points.len() as u32).collect();
        places.sort_unstable_by_key(|&place| (points[place as usize].y, place));
        let points: Vec<Point<A>> = places.iter().map(|&place| points[place as usize]).collect();
        let one = |(index, point): (u32, &Point<A>)| ByDifference { x: point.x, difference: point.x - point.y, index };
        let mut by_difference: Vec<ByDifference<A>> = (0..).zip(&points).map(one).collect();
        by_difference.sort_by_key(|point| std::cmp::Reverse(point.difference));
        let ys = different(third.iter().map(|point| point.y));
        let below = |y: A| ys.partition_point(|other| other.is_below(y)) as u32;
        let up_to = |y: A| ys.partition_point(|&other| !y.is_below(other)) as u32;
        let level = |y: A| [below(y), up_to(y)];
        let levels = points.iter().map(|point| level(point.y)).collect();
        Self { points, places, by_difference, levels }
    }
}

/// The third class: runs of equal x, in rising order of y within them.
struct Third<A> {
    xs: Vec<A>,
    /// `starts[run]..starts[run + 1]` are the points of a run.
    starts: Vec<u32>,
    ys: Vec<A>,
    /// The level of y of every point, in rising order within a run, and the rows up to each within its run.
    levels: Vec<u32>,
    counts: Vec<u32>,
    sums: Vec<u64>,
}

impl<A: Amount> Third<A> {
    fn new(points: &[Point<A>]) -> Self {
        let mut points = points.to_vec();
        points.sort_unstable();
        let ys = different(points.iter().map(|point| point.y));
        let mut found = Self {
            xs: Vec::new(),
            starts: vec![0],
            levels: Vec::with_capacity(points.len()),
            counts: Vec::with_capacity(points.len()),
            sums: Vec::with_capacity(points.len()),
            ys,
        };
        for run in points.chunk_by_mut(|a, b| a.x.is_tied(b.x)) {
            // Rounding may have put them in the order of x.
            run.sort_unstable_by_key(|point| (point.y, point.x));
            let mut sum = 0;
            for point in &*run {
                sum += point.count;
                found.counts.push(point.count as u32);
                found.levels.push(found.ys.partition_point(|other| other.is_below(point.y)) as u32);
                found.sums.push(sum);
            }
            found.xs.push(run[0].x);
            found.starts.push(found.levels.len() as u32);
        }
        found
    }

    fn run(&self, run: usize) -> std::ops::Range<usize> {
        self.starts[run] as usize..self.starts[run + 1] as usize
    }

    /// The rows of a run below a level.
    fn below(&self, run: usize, level: u32) -> u64 {
        let range = self.run(run);
        let place = self.levels[range.clone()].partition_point(|&other| other < level);
        if place == 0 { 0 } else { self.sums[range.start + place - 1] }
    }
}

/// One pass for a row of the outer class, and its memory.
struct Sweep<'p, A> {
    inner: &'p Inner<A>,
    third: &'p Third<A>,
    /// Y of the points of the inner class as a pair of levels, as `Inner::levels`.
    bounds: Vec<[u32; 2]>,
    /// Sums of rows that have entered; a class has fewer than 2^32.
    tree: Vec<u32>,
    /// Rows that have entered, by level.
    entered: Vec<u32>,
}

impl<'p, A: Amount> Sweep<'p, A> {
    fn new(inner: &'p Inner<A>, third: &'p Third<A>) -> Self {
        let levels = third.ys.len();
        let bounds = vec![[0; 2]; inner.points.len()];
        Self { inner, third, bounds, tree: vec![0; levels + 1], entered: vec![0; levels + 1] }
    }

    /// The credits of all tuples through a row; adds those through rows of the inner class to `won`.
    fn run(&mut self, own: Point<A>, won: &mut [u64]) -> u64 {
        let (inner, third) = (self.inner, self.third);
        self.find_bounds(own);
        self.tree.fill(0);
        self.entered.fill(0);
        let difference = own.x - own.y;
        let (mut run, mut total) = (0, 0);
        for (index, point) in inner.points.iter().enumerate() {
            let other = point.x - point.y;
            if difference.is_below(other) {
                continue;
            }
            let bound = if point.y < own.y { difference + point.y } else { own.x };
            while run < third.xs.len() && third.xs[run].is_below(bound) {
                for place in third.run(run) {
                    self.enter(third.levels[place], third.counts[place]);
                }
                run += 1;
            }
            let [below, up_to] = self.bounds[index];
            let ties = 1 + u64::from(other.is_tied(difference));
            let mut credit = self.rows_below(below) * (UNIT / ties);
            let of_y = 1 + u64::from(own.x.is_tied(point.x));
            if below != up_to {
                credit += u64::from(self.entered[below as usize]) * (UNIT / (ties + of_y));
            }
            if run < third.xs.len() && third.xs[run].is_tied(bound) {
                let of_x = 1 + u64::from(own.y.is_tied(point.y));
                let less = third.below(run, below);
                credit += less * (UNIT / (ties + of_x));
                if below != up_to {
                    credit += (third.below(run, up_to) - less) * (UNIT / (ties + of_x + of_y));
                }
            }
            total += credit * point.count;
            won[index] += credit * own.count;
        }
        total
    }

    /// Y is y₂ itself, or x₁ − (x₂ − y₂), which rises as x₂ − y₂ falls.
    fn find_bounds(&mut self, own: Point<A>) {
        let (inner, ys) = (self.inner, &self.third.ys);
        self.bounds.copy_from_slice(&inner.levels);
        let mut level = 0;
        for point in &inner.by_difference {
            if point.x > own.x {
                let bound = own.x - point.difference;
                while level < ys.len() && ys[level].is_below(bound) {
                    level += 1;
                }
                let is_equal = level < ys.len() && ys[level].is_tied(bound);
                self.bounds[point.index as usize] = [level as u32, level as u32 + u32::from(is_equal)];
            }
        }
    }

    fn enter(&mut self, level: u32, count: u32) {
        self.entered[level as usize] += count;
        let mut node = level as usize + 1;
        while node < self.tree.len() {
            self.tree[node] += count;
            node += node & node.wrapping_neg();
        }
    }

    /// How many of the rows that have entered are below a level.
    fn rows_below(&self, level: u32) -> u64 {
        let (mut node, mut sum) = (level as usize, 0_u32);
        while node > 0 {
            sum += self.tree[node];
            node &= node - 1;
        }
        sum.into()
    }
}

fn different<A: Amount>(values: impl Iterator<Item = A>) -> Vec<A> {
    let mut found: Vec<A> = values.collect();
    found.sort_unstable();
    found.dedup_by(|value, kept| value.is_tied(*kept));
    found
}
