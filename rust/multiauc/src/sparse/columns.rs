//! One column: what its class wins against the others, together or each by itself.

use super::own_rows::OwnRows;
use super::sparse_sample::{Side, SparseSample};
use crate::error::Result;
use crate::float::Score;
use crate::pairs::Wins;
use crate::parallel::Workers;

/// Entries counted between two looks at the cancel flag.
const ENTRIES_AT_A_TIME: usize = 1 << 16;

/// The column of a present class.
pub(super) struct Column<'s, 'a, T, O: OwnRows<T>>
where
    T: Score,
{
    sample: &'s SparseSample<'a, T>,
    pub class: usize,
    /// The rows of the class.
    pub own: Side,
    table: O,
    /// What they win against a row that is not stored.
    over_unstored: O::Won,
}

/// What a column's class wins against stored rows of the others, by class. Reused from column to column, so that a column
/// costs no more than its entries.
pub(super) struct StoredWins<W> {
    by_class: Vec<(Side, W)>,
    /// The classes that have stored rows.
    stored: Vec<usize>,
}

impl<W: Copy + Default> StoredWins<W> {
    pub(super) fn new(classes: usize) -> Self {
        Self { by_class: vec![Default::default(); classes], stored: Vec::new() }
    }

    fn clear(&mut self) {
        self.stored.drain(..).for_each(|class| self.by_class[class] = Default::default());
    }

    /// The classes that have rows stored in the column, the column's own left out.
    pub(super) fn classes(&self) -> &[usize] {
        &self.stored
    }
}

impl<'s, 'a, T: Score, O: OwnRows<T>> Column<'s, 'a, T, O> {
    pub(super) fn new(sample: &'s SparseSample<'a, T>, class: usize) -> Self {
        let own = sample.side_of_class(class);
        let (mut scores, mut stored) = (Vec::new(), Side::default());
        for (row, _, score) in sample.column(class).filter(|&(_, code, _)| code == class) {
            let side = sample.side_of_row(row);
            scores.push((score, side.weight));
            stored = stored.plus(side);
        }
        let table = O::new(scores, own.without(stored));
        let over_unstored = table.won_over(T::ZERO);
        Self { sample, class, own, table, over_unstored }
    }

    /// Visits the stored rows of other classes: class, row, and what is won against it.
    fn for_each_other(&self, workers: &Workers<'_>, mut visit: impl FnMut(usize, Side, O::Won)) -> Result<()> {
        let others = self.sample.column(self.class).filter(|&(_, code, _)| code != self.class);
        for (count, (row, class, score)) in others.enumerate() {
            if count % ENTRIES_AT_A_TIME == 0 {
                workers.check()?;
            }
            visit(class, self.sample.side_of_row(row), self.table.won_over(score));
        }
        Ok(())
    }

    /// What the class wins against all others pooled.
    pub(super) fn wins_over_rest(&self, workers: &Workers<'_>) -> Result<Wins> {
        let (mut won, mut stored) = (O::Won::default(), Side::default());
        self.for_each_other(workers, |_, row, each| {
            O::add(&mut won, row, each);
            stored = stored.plus(row);
        })?;
        let rest = self.sample.side_of_rest(self.class);
        O::add(&mut won, rest.without(stored), self.over_unstored);
        Ok(O::wins(won, self.own, rest))
    }

    /// Counts against the stored rows of each other class.
    pub(super) fn count_stored(&self, stored: &mut StoredWins<O::Won>, workers: &Workers<'_>) -> Result<()> {
        stored.clear();
        self.for_each_other(workers, |class, row, each| {
            let (side, won) = &mut stored.by_class[class];
            if side.rows == 0 {
                stored.stored.push(class);
            }
            *side = side.plus(row);
            O::add(won, row, each);
        })
    }

    /// What the class wins against class d, whose stored rows were counted.
    pub(super) fn wins_over(&self, d: usize, stored: &StoredWins<O::Won>) -> Wins {
        let (side, mut won) = stored.by_class[d];
        let all = self.sample.side_of_class(d);
        O::add(&mut won, all.without(side), self.over_unstored);
        O::wins(won, self.own, all)
    }

    /// What the class wins against one row that is not stored: the same share as against any number of them.
    pub(super) fn wins_over_unstored(&self) -> Wins {
        let one = Side { rows: 1, weight: 1.0 };
        let mut won = O::Won::default();
        O::add(&mut won, one, self.over_unstored);
        O::wins(won, self.own, one)
    }

    /// The other classes without stored rows: how many there are, and all their rows.
    pub(super) fn unstored_classes(&self, stored: &StoredWins<O::Won>) -> (u64, Side) {
        let classes = self.sample.present() - 1 - stored.classes().len() as u64;
        let of_stored =
            stored.classes().iter().map(|&d| self.sample.side_of_class(d)).fold(Side::default(), Side::plus);
        (classes, self.sample.side_of_rest(self.class).without(of_stored))
    }
}
