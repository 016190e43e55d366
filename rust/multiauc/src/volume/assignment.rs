//! Whether a tuple, one row of each class, is right: whether giving every row its own class is the best assignment.
//!
//! Row a gains e(a, b) = s_b(x_a) − s_a(x_a) by taking class b. An assignment is a set of cycles, so that the identity is
//! best iff no cycle gains anything. Rows are added one by one, and with them the longest paths between all rows so far; a
//! tuple is given up at the first cycle that gains.

use super::amounts::Amount;
use crate::error::{Error, Result};

/// Beyond that many classes tied with each other, their assignments are too many to be told apart by trying.
const MOST_TIED: usize = 20;

/// Steps of counting tied assignments that take about a second: beyond, all tuples are too many, and so are rounds of
/// drawn tuples that are not needed.
pub(super) const MOST_STEPS: u64 = 1 << 28;

/// The assignments of a tuple that are as good as the identity, itself included, and the steps that counting them took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Best {
    pub assignments: f64,
    pub steps: u64,
}

/// The rows of a tuple so far, and the longest paths between them.
#[derive(Debug, Clone)]
pub(super) struct Assignment<'s, A> {
    /// Columns of the classes of the rows, in the order in which rows are added.
    columns: &'s [usize],
    rows: Vec<&'s [A]>,
    /// Largest gain on the way from one row to another, `stride` entries per row.
    paths: Vec<A>,
    stride: usize,
    has_ties: bool,
    /// Paths to the row that is added, from each of the others.
    into: Vec<A>,
}

impl<'s, A: Amount> Assignment<'s, A> {
    pub(super) fn new(columns: &'s [usize]) -> Self {
        let stride = columns.len();
        Self {
            columns,
            rows: Vec::with_capacity(stride),
            paths: vec![A::default(); stride * stride],
            stride,
            has_ties: false,
            into: vec![A::default(); stride],
        }
    }

    /// Takes over the rows of another.
    pub(super) fn copy_from(&mut self, other: &Self) {
        self.rows.clone_from(&other.rows);
        self.has_ties = other.has_ties;
        let size = other.rows.len();
        for row in 0..size {
            let range = row * self.stride..row * self.stride + size;
            self.paths[range.clone()].copy_from_slice(&other.paths[range]);
        }
    }

    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.has_ties = false;
    }

    /// What the row at a place gains by taking the class of another.
    #[inline]
    fn gain(&self, row: &[A], own: usize, other: usize) -> A {
        row[self.columns[other]] - row[self.columns[own]]
    }

    /// Adds the row of the next class; `false` if an assignment of the rows is now better than the identity.
    pub(super) fn push(&mut self, row: &'s [A]) -> bool {
        let size = self.rows.len();
        let mut best = None;
        for from in 0..size {
            let paths = &self.paths[from * self.stride..][..size];
            let mut longest = self.gain(self.rows[from], from, size);
            for (via, path) in paths.iter().enumerate() {
                if via != from {
                    longest = longest.max(*path + self.gain(self.rows[via], via, size));
                }
            }
            self.into[from] = longest;
            best = best.max(Some(longest + self.gain(row, size, from)));
        }
        if best.is_some_and(|best| A::default().is_below(best)) {
            return false;
        }
        self.has_ties |= best.is_some_and(|best| best.is_tied(A::default()));
        self.rows.push(row);
        // The last row's paths matter for ties only.
        if size + 1 < self.stride || self.has_ties {
            self.extend_paths(row, size);
        }
        true
    }

    fn extend_paths(&mut self, row: &[A], size: usize) {
        for to in 0..size {
            let mut longest = self.gain(row, size, to);
            for via in (0..size).filter(|&via| via != to) {
                longest = longest.max(self.gain(row, size, via) + self.paths[via * self.stride + to]);
            }
            self.paths[size * self.stride + to] = longest;
        }
        for from in 0..size {
            self.paths[from * self.stride + size] = self.into[from];
            for to in (0..size).filter(|&to| to != from) {
                let through = self.into[from] + self.paths[size * self.stride + to];
                let path = &mut self.paths[from * self.stride + to];
                *path = through.max(*path);
            }
        }
    }

    /// How many assignments of the whole tuple are as good as the identity, itself included.
    ///
    /// # Errors
    /// [`Error::TooManyTies`].
    pub(super) fn count_best(&self) -> Result<Best> {
        let mut best = Best { assignments: 1.0, steps: 0 };
        if !self.has_ties {
            return Ok(best);
        }
        // Only edges on a cycle without gain can be in another best assignment; such cycles connect classes both ways.
        let size = self.rows.len();
        let mut group: Vec<usize> = (0..size).collect();
        let is_tight = |a: usize, b: usize| {
            a == b || (self.gain(self.rows[a], a, b) + self.paths[b * self.stride + a]).is_tied(A::default())
        };
        for a in 0..size {
            for b in 0..size {
                if a != b && is_tight(a, b) && group[a] != group[b] {
                    let (old, new) = (group[a].max(group[b]), group[a].min(group[b]));
                    group.iter_mut().filter(|group| **group == old).for_each(|group| *group = new);
                }
            }
        }
        for first in 0..size {
            let members: Vec<usize> = (0..size).filter(|&member| group[member] == first).collect();
            if members.len() > 1 {
                let of_group = count_assignments(&members, is_tight)?;
                best =
                    Best { assignments: best.assignments * of_group.assignments, steps: best.steps + of_group.steps };
            }
        }
        Ok(best)
    }
}

/// The number of permutations of some classes that use allowed edges only (a permanent).
fn count_assignments(members: &[usize], is_allowed: impl Fn(usize, usize) -> bool) -> Result<Best> {
    let size = members.len();
    // The classes that each row may have, a bit each.
    let allowed = |&a: &usize| (0..size).filter(|&b| is_allowed(a, members[b])).fold(0_usize, |set, b| set | 1 << b);
    if members.iter().all(|&a| members.iter().all(|&b| is_allowed(a, b))) {
        return Ok(Best { assignments: (1..=size).map(|factor| factor as f64).product(), steps: 0 });
    }
    if size > MOST_TIED {
        return Err(Error::TooManyTies { classes: size, limit: MOST_TIED });
    }
    let allowed: Vec<usize> = members.iter().map(allowed).collect();
    let all = (1 << size) - 1;
    // ways[set]: of giving the classes of the set to the first rows.
    let mut ways = vec![0.0; all + 1];
    ways[0] = 1.0;
    let mut steps = 1 << size;
    for set in 0..all {
        if ways[set] > 0.0 {
            let mut free = allowed[set.count_ones() as usize] & !set;
            steps += u64::from(free.count_ones());
            while free != 0 {
                ways[set | free & free.wrapping_neg()] += ways[set];
                free &= free - 1;
            }
        }
    }
    Ok(Best { assignments: ways[all], steps })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By trying all permutations: `None` if one is better than the identity, otherwise how many are as good.
    fn by_trial(rows: &[Vec<i64>]) -> Option<f64> {
        fn best(rows: &[Vec<i64>], used: &mut Vec<bool>, place: usize, sum: i64, found: &mut Vec<i64>) {
            if place == rows.len() {
                return found.push(sum);
            }
            for class in 0..rows.len() {
                if !used[class] {
                    used[class] = true;
                    best(rows, used, place + 1, sum + rows[place][class], found);
                    used[class] = false;
                }
            }
        }
        let mut sums = Vec::new();
        best(rows, &mut vec![false; rows.len()], 0, 0, &mut sums);
        let own: i64 = rows.iter().enumerate().map(|(place, row)| row[place]).sum();
        let largest = sums.iter().copied().max()?;
        (own == largest).then(|| sums.iter().filter(|&&sum| sum == own).count() as f64)
    }

    #[test]
    fn the_best_assignments_are_those_of_all_permutations() {
        let mut state = 1_u64;
        let mut draw = |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % bound) as i64
        };
        for trial in 0..3000 {
            let size = 1 + trial % 6;
            let levels = [2, 3, 5, 1000][trial / 6 % 4];
            let rows: Vec<Vec<i64>> = (0..size)
                .map(|own| {
                    (0..size).map(|class| draw(levels) + if class == own { levels as i64 / 2 } else { 0 }).collect()
                })
                .collect();
            let columns: Vec<usize> = (0..size).collect();
            let mut tuple = Assignment::new(&columns);
            let is_right = rows.iter().all(|row| tuple.push(row));
            let found = is_right.then(|| tuple.count_best().expect("few ties").assignments);
            assert_eq!(found, by_trial(&rows), "{rows:?}");
        }
    }

    #[test]
    fn ties_of_all_classes_are_all_permutations() {
        let (rows, columns) = (vec![vec![7_i64; 30]; 30], (0..30).collect::<Vec<_>>());
        let mut tuple = Assignment::new(&columns);
        assert!(rows.iter().all(|row| tuple.push(row)));
        let assignments = (1..=30).map(f64::from).product();
        assert_eq!(tuple.count_best(), Ok(Best { assignments, steps: 0 }));
    }
}
