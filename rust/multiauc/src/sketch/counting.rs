//! Rows of one range, and what is won between them.

use super::code::{Place, score_code};
use super::places::{Differences, Reading, place_of};
use super::ranges::Problem;
use crate::float::Score;
use crate::keys::ExactKey;

/// Equal rows of a range: their class, their score and the score it is compared with, and how many there are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Alike<T> {
    pub class: u16,
    pub own: T,
    pub other: T,
    pub rows: u32,
}

impl<T: Score> Alike<T> {
    fn scores(&self) -> (f64, f64) {
        (self.own.into(), self.other.into())
    }
}

/// Rows of the same class and the same number as one.
pub(super) fn gather_equal<T: Score>(rows: &mut Vec<Alike<T>>, problem: Problem, reading: Reading) {
    let mut differences = Differences::new(reading, rows.iter().map(Alike::scores));
    let mut keyed: Vec<(_, Alike<T>)> = rows
        .iter()
        .map(|&alike| {
            let (own, other) = alike.scores();
            let by_scores = (alike.class, false, (own + 0.0).to_bits(), (other + 0.0).to_bits());
            let key = match problem {
                Problem::Column { .. } => by_scores,
                Problem::Pair { .. } => match differences.place(own, other) {
                    Place { within: Place::UNKNOWN, .. } => by_scores,
                    Place { code, within } => (alike.class, true, code, within),
                },
            };
            (key, alike)
        })
        .collect();
    keyed.sort_unstable_by_key(|(key, _)| *key);
    keyed.dedup_by(|(next_key, next), (kept_key, kept)| {
        let sum = kept.rows.checked_add(next.rows).filter(|_| next_key == kept_key);
        kept.rows = sum.unwrap_or(kept.rows);
        sum.is_some()
    });
    rows.clear();
    rows.extend(keyed.into_iter().map(|(_, alike)| alike));
}

/// The rows of each class, and twice what the owner wins against it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Counts {
    pub rows: Vec<u64>,
    pub won: Vec<u128>,
}

/// Counts all pairs of some rows.
pub(super) fn count<T: Score>(rows: &[Alike<T>], problem: Problem, classes: usize, reading: Reading) -> Counts {
    let mut walk = Walk::new(problem.owner(), classes);
    if let Problem::Column { .. } = problem {
        let mut keys: Vec<(T::Ordered, u16, u32)> =
            rows.iter().map(|alike| (alike.own.ordered(), alike.class, alike.rows)).collect();
        keys.sort_unstable_by_key(|(key, ..)| *key);
        for equal in keys.chunk_by(|a, b| a.0 == b.0) {
            walk.pass(equal.iter().map(|&(_, class, rows)| (class, rows)));
        }
        return walk.counts;
    }
    let mut differences = Differences::new(reading, rows.iter().map(Alike::scores));
    let mut keys: Vec<(Place, u16, u32, u32)> = (0..)
        .zip(rows)
        .map(|(index, alike)| {
            let (own, other) = alike.scores();
            (differences.place(own, other), alike.class, alike.rows, index)
        })
        .collect();
    keys.sort_unstable_by_key(|(place, ..)| *place);
    for same_code in keys.chunk_by(|a, b| a.0.code == b.0.code) {
        // Unknown places come last.
        let is_known = same_code.last().is_some_and(|(place, ..)| place.within != Place::UNKNOWN);
        if is_known || same_code.len() == 1 {
            for equal in same_code.chunk_by(|a, b| a.0 == b.0) {
                walk.pass(equal.iter().map(|&(_, class, rows, _)| (class, rows)));
            }
            continue;
        }
        let mut exact: Vec<(ExactKey, u16, u32)> = same_code
            .iter()
            .map(|&(_, class, count, index)| {
                let (a, b) = rows[index as usize].scores();
                let key = match reading {
                    Reading::Fractions => ExactKey::of_doubles(a, b),
                    _ => ExactKey::plain(a, b),
                };
                (key, class, count)
            })
            .collect();
        exact.sort_unstable_by_key(|(key, ..)| *key);
        for equal in exact.chunk_by(|a, b| a.0 == b.0) {
            walk.pass(equal.iter().map(|&(_, class, rows)| (class, rows)));
        }
    }
    walk.counts
}

/// Rows in increasing order, those of equal numbers at once.
struct Walk {
    owner: usize,
    /// Rows passed.
    counts: Counts,
    here: Vec<u64>,
}

impl Walk {
    fn new(owner: usize, classes: usize) -> Self {
        Self { owner, counts: Counts { rows: vec![0; classes], won: vec![0; classes] }, here: vec![0; classes] }
    }

    /// Passes rows of equal numbers, given as (class, rows).
    fn pass(&mut self, equal: impl ExactSizeIterator<Item = (u16, u32)> + Clone) {
        let Counts { rows, won } = &mut self.counts;
        let of_owner = equal.clone().filter(|(class, _)| usize::from(*class) == self.owner);
        let own: u64 = of_owner.map(|(_, rows)| u64::from(rows)).sum();
        if own > 0 {
            if equal.len() > 1 {
                equal.clone().for_each(|(class, rows)| self.here[usize::from(class)] += u64::from(rows));
            }
            for class in (0..rows.len()).filter(|&class| class != self.owner) {
                won[class] += u128::from(own) * (2 * u128::from(rows[class]) + u128::from(self.here[class]));
            }
            if equal.len() > 1 {
                equal.clone().for_each(|(class, _)| self.here[usize::from(class)] = 0);
            }
        }
        equal.for_each(|(class, count)| rows[usize::from(class)] += u64::from(count));
    }
}

/// The integer that says which range a row is in.
pub(super) fn code_of<T: Score>(own: T, other: T, problem: Problem, reading: Reading) -> u64 {
    match problem {
        Problem::Pair { .. } => place_of(own.into(), other.into(), reading).code,
        Problem::Column { .. } => score_code(own.into()),
    }
}
