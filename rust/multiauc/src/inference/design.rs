//! The rows behind a variance: class by class, with their weights and groups in the same order.

use crate::error::{Error, Result, RowArray};
use crate::float::Score;
use crate::sample::{ClassRows, Sampling, ScoredSample};

/// The rows of a sample and which of them are independent; the same for all models scored on these rows.
#[derive(Debug)]
pub struct Design {
    pub(crate) rows: ClassRows,
    /// Groups, where there are any.
    pub(super) groups: Option<Groups>,
    /// Whether class sizes are random.
    pub(super) is_iid: bool,
    /// Rows of the sample, those of weight zero included.
    pub(super) sample_rows: usize,
}

impl Design {
    /// # Errors
    /// [`Error::LengthMismatch`] unless there is a group for every row.
    pub fn new<T: Score>(sample: &ScoredSample<'_, T>, sampling: Sampling<'_>) -> Result<Self> {
        let rows = ClassRows::new(sample);
        let groups = match sampling.groups() {
            Some(groups) if groups.len() != sample.rows() => {
                let found = groups.len();
                return Err(Error::LengthMismatch { array: RowArray::Groups, rows: sample.rows(), found });
            }
            groups => groups.map(|groups| Groups::new(groups, &rows)),
        };
        Ok(Self { rows, groups, is_iid: sampling.is_iid(), sample_rows: sample.rows() })
    }

    /// # Errors
    /// [`Error::LengthMismatch`] for a sample of different rows.
    pub(crate) fn check_rows<T: Score>(&self, sample: &ScoredSample<'_, T>) -> Result<()> {
        if sample.rows() == self.sample_rows && sample.sizes() == self.rows.sizes() {
            return Ok(());
        }
        Err(Error::LengthMismatch { array: RowArray::Scores, rows: self.sample_rows, found: sample.rows() })
    }

    /// Whether it matters which row of a class a component belongs to.
    pub(crate) fn is_order_needed(&self) -> bool {
        self.rows.weights().is_some() || self.groups.is_some()
    }

    /// Independent units of each class: its rows, or its groups.
    #[must_use]
    pub fn units(&self) -> Vec<u64> {
        match &self.groups {
            None => self.rows.sizes().rows.clone(),
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
    /// The index of each row's group among them.
    pub of_rows: Vec<u32>,
}

impl Groups {
    fn new(groups: &[u32], rows: &ClassRows) -> Self {
        let mut index_of = vec![0; groups.iter().max().map_or(0, |&last| last as usize + 1)];
        let of_class = (0..rows.classes()).map(|class| {
            let group_of = |&row: &u32| groups[row as usize];
            let mut names: Vec<u32> = rows.of(class).iter().map(group_of).collect();
            names.sort_unstable();
            names.dedup();
            for (index, &name) in (0..).zip(&names) {
                index_of[name as usize] = index;
            }
            let of_rows = rows.of(class).iter().map(|row| index_of[group_of(row) as usize]).collect();
            ClassGroups { names, of_rows }
        });
        Self { of_class: of_class.collect() }
    }
}
