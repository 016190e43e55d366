//! The rows of a class with equal rows taken together, in an order that depends on their scores alone.

use super::amounts::Amount;
use super::whole_scores::WholeScores;
use std::ops::Range;

pub(super) struct Distinct<'s, A> {
    /// The scores of each distinct row.
    pub scores: Vec<&'s [A]>,
    /// How many rows have them.
    pub counts: Vec<u64>,
    /// The distinct row of each position of the class.
    pub of_positions: Vec<u32>,
}

impl<'s, A: Amount> Distinct<'s, A> {
    /// A constant added to all scores of a row changes nothing: rows are equal if their differences are.
    pub(super) fn new(whole: &'s WholeScores<A>, positions: Range<usize>) -> Self {
        let differences = |position: usize| {
            let scores = whole.of(position);
            scores[..scores.len() - 1].iter().map(move |&score| score - scores[scores.len() - 1])
        };
        let first = positions.start;
        let mut order: Vec<usize> = positions.clone().collect();
        order.sort_unstable_by(|&a, &b| differences(a).cmp(differences(b)).then_with(|| whole.of(a).cmp(whole.of(b))));
        let mut found = Self { scores: Vec::new(), counts: Vec::new(), of_positions: vec![0; positions.len()] };
        for equal in order.chunk_by(|&a, &b| differences(a).zip(differences(b)).all(|(a, b)| a.is_tied(b))) {
            for &position in equal {
                found.of_positions[position - first] = found.scores.len() as u32;
            }
            found.scores.push(whole.of(equal[0]));
            found.counts.push(equal.len() as u64);
        }
        found
    }

    /// Number of distinct rows.
    pub(super) fn len(&self) -> usize {
        self.scores.len()
    }

    /// Number of rows.
    pub(super) fn rows(&self) -> f64 {
        self.of_positions.len() as f64
    }
}
