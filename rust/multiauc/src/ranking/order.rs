//! Rows that are sorted once and counted many times, with different multiplicities each time.

use super::ordered_rows::{OrderedRows, RankedRow};
use super::placement_table::Nearness;
use crate::keys::ExactKey;

/// The rows of one side ("own") and those of the other, in rising order of their keys.
///
/// The order is cut into steps. A step has own rows and then other rows: the other rows of a plain step lie above all
/// own rows so far, those of a tied step equal the step's own rows. That is all a count needs of the keys, so the keys
/// themselves are not kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Order {
    positions: Vec<u32>,
    steps: Vec<Step>,
}

/// Numbers of rows; the highest bit of the second says that they are tied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Step {
    own: u32,
    others: u32,
}

const FLAG: u32 = 1 << 31;

/// The rows of a step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StepRows<'o> {
    pub own: &'o [u32],
    pub others: &'o [u32],
    pub is_tied: bool,
}

impl Order {
    /// The side of own rows among [`OrderedRows`]; all others are on another.
    pub(crate) const OWN: u16 = 0;
    /// The side of other rows.
    pub(crate) const OTHER: u16 = 1;

    /// Sorts rows, which are numbered by position. Keys too close to tell apart are compared by
    /// `exact(position)`, where rows of both sides are among them.
    pub(crate) fn new(
        rows: &mut OrderedRows,
        near: Nearness<impl Fn(f64) -> bool>,
        exact: impl Fn(u32) -> ExactKey,
    ) -> Self {
        let mut order = Self::default();
        rows.sort();
        rows.for_each_tie(near, |row| exact(row.row), |tie| order.push_tie(tie));
        order.positions.shrink_to_fit();
        order.steps.shrink_to_fit();
        order
    }

    /// Most bytes that an order of that many rows takes.
    pub(crate) const fn most_bytes(rows: usize) -> usize {
        rows * (size_of::<u32>() + size_of::<Step>())
    }

    /// The steps, from the lowest keys up.
    pub(crate) fn steps(&self) -> impl Iterator<Item = StepRows<'_>> {
        let mut rest = &self.positions[..];
        self.steps.iter().map(move |step| {
            let (own, after) = rest.split_at(step.own as usize);
            let (others, after) = after.split_at((step.others & !FLAG) as usize);
            rest = after;
            StepRows { own, others, is_tied: step.others & FLAG != 0 }
        })
    }

    /// The steps, from the highest keys down.
    pub(crate) fn steps_down(&self) -> impl Iterator<Item = StepRows<'_>> {
        let mut rest = &self.positions[..];
        self.steps.iter().rev().map(move |step| {
            let (before, others) = rest.split_at(rest.len() - (step.others & !FLAG) as usize);
            let (before, own) = before.split_at(before.len() - step.own as usize);
            rest = before;
            StepRows { own, others, is_tied: step.others & FLAG != 0 }
        })
    }

    /// Appends rows of equal keys, own rows first.
    fn push_tie(&mut self, tie: &[RankedRow]) {
        let mut push = |is_wanted: fn(u16) -> bool| {
            let before = self.positions.len();
            self.positions.extend(tie.iter().filter(|row| is_wanted(row.side)).map(|row| row.row));
            (self.positions.len() - before) as u32
        };
        let (own, others) = (push(|side| side == Self::OWN), push(|side| side != Self::OWN));
        match (own, others, self.steps.last_mut()) {
            (0, _, Some(last)) if last.others & FLAG == 0 => last.others += others,
            (_, 0, Some(last)) if last.others == 0 => last.own += own,
            (0, _, _) | (_, 0, _) => self.steps.push(Step { own, others }),
            _ => self.steps.push(Step { own, others: others | FLAG }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(own: &[f64], others: &[f64]) -> OrderedRows {
        let mut rows = OrderedRows::default();
        rows.extend(Order::OWN, 0, own.iter().copied());
        rows.extend(Order::OTHER, own.len() as u32, others.iter().copied());
        rows
    }

    fn order(own: &[f64], others: &[f64]) -> Order {
        Order::new(&mut rows(own, others), Nearness::NEVER, |_| unreachable!("no exact keys without a tolerance"))
    }

    fn steps(order: &Order) -> Vec<(Vec<u32>, Vec<u32>, bool)> {
        order.steps().map(|step| (step.own.to_vec(), step.others.to_vec(), step.is_tied)).collect()
    }

    #[test]
    fn steps_of_ties_and_of_plain_rows() {
        // 0: other; 1: own, own; 2: own and other; 3: other; 4: own.
        let found = order(&[1.0, 1.0, 2.0, 4.0], &[3.0, 2.0, -0.0]);
        let expected = [
            (vec![], vec![6], false),
            (vec![0, 1], vec![], false),
            (vec![2], vec![5], true),
            (vec![], vec![4], false),
            (vec![3], vec![], false),
        ];
        assert_eq!(steps(&found), expected);
        let down: Vec<_> = found.steps_down().map(|step| (step.own.to_vec(), step.others.to_vec())).collect();
        assert_eq!(down, expected.map(|(own, others, _)| (own, others)).into_iter().rev().collect::<Vec<_>>());
    }

    #[test]
    fn rows_of_one_side_need_no_steps_of_their_own() {
        let found = order(&[1.0, 2.0, 3.0], &[4.0, 5.0, 5.0]);
        assert_eq!(steps(&found), [(vec![0, 1, 2], vec![3, 4, 5], false)]);
        assert_eq!(steps(&order(&[0.0], &[-0.0])), [(vec![0], vec![1], true)]);
    }

    #[test]
    fn close_keys_are_compared_exactly() {
        let scores = [(0.3, 0.2), (0.2, 0.1)];
        let mut rows = rows(&[0.3 - 0.2], &[0.2 - 0.1]);
        let exact = |position: u32| {
            let (a, b) = scores[position as usize];
            ExactKey::of_doubles(a, b)
        };
        let near = Nearness { tolerance: Some(1e-15), is_settled: |_| false };
        assert_eq!(steps(&Order::new(&mut rows, near, exact)), [(vec![0], vec![1], true)]);
    }
}
