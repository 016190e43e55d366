//! The rows behind a variance: class by class, with their weights and groups in the same order.

use super::groups::Groups;
use super::unit_sums::{GroupDeviations, UnitRows, spread_of};
use crate::error::{Error, Result, RowArray};
use crate::float::Score;
use crate::memory::{split, zeroed};
use crate::metric::Metric;
use crate::parallel::Workers;
use crate::sample::{ClassRows, Sampling, ScoredSample};

/// The rows of a sample and which of them are independent; the same for all models scored on these rows.
#[derive(Debug)]
pub struct Design {
    pub(crate) rows: ClassRows,
    /// Groups, where there are any.
    pub(super) groups: Option<Groups>,
    /// Whether class sizes are random: rows drawn whatever their class, or groups drawn that have rows of several.
    pub(super) has_random_sizes: bool,
    /// Rows of the sample, those of weight zero included.
    pub(super) sample_rows: usize,
    /// Effective number of independent units of each class.
    pub(super) effective: Vec<f64>,
    /// The share of each row in the weight of its class, by position; empty where rows have no weights.
    shares: Vec<f64>,
}

impl Design {
    /// # Errors
    /// [`Error::LengthMismatch`] unless there is a group for every row, [`Error::Cancelled`].
    pub fn new<T: Score>(sample: &ScoredSample<'_, T>, sampling: Sampling<'_>, workers: &Workers<'_>) -> Result<Self> {
        let rows = ClassRows::new(sample, workers)?;
        let groups = match sampling.groups() {
            Some(groups) if groups.len() != sample.rows() => {
                let found = groups.len();
                return Err(Error::LengthMismatch { array: RowArray::Groups, rows: sample.rows(), found });
            }
            groups => groups.map(|groups| Groups::new(groups, &rows, workers)).transpose()?,
        };
        // Groups of one row are rows.
        let groups = groups.filter(|groups| !groups.are_single_rows());
        let has_random_sizes = sampling.is_iid() || groups.as_ref().is_some_and(Groups::span_classes);
        Self::of_parts(rows, groups, has_random_sizes, sample.rows(), workers)
    }

    pub(super) fn of_parts(
        rows: ClassRows,
        groups: Option<Groups>,
        has_random_sizes: bool,
        sample_rows: usize,
        workers: &Workers<'_>,
    ) -> Result<Self> {
        let effective = workers.map(rows.classes(), |class| Ok(effective_number(&rows, groups.as_ref(), class)))?;
        let mut shares = Vec::new();
        if rows.weights().is_some() {
            shares = zeroed(rows.len());
            let mut of_classes = split(&mut shares, (0..rows.classes()).map(|class| rows.range(class).len()));
            workers.map_chunks(&mut of_classes, 1, |class, of_class| {
                let (total, weights) = (rows.weight(class), rows.weights_of(class).unwrap_or_default());
                of_class[0].iter_mut().zip(weights).for_each(|(share, weight)| *share = weight / total);
                Ok(())
            })?;
        }
        Ok(Self { rows, groups, has_random_sizes, sample_rows, effective, shares })
    }

    /// The share of each row of a class in its weight, where rows have weights.
    pub(super) fn shares_of(&self, class: usize) -> Option<&[f64]> {
        (!self.shares.is_empty()).then(|| &self.shares[self.rows.range(class)])
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

    /// What is known of the rows of a class, in their order.
    pub(super) fn rows_of(&self, class: usize) -> UnitRows<'_> {
        let groups = self.groups.as_ref().map_or(&[][..], |groups| &groups.of_class[class].of_rows);
        UnitRows { shares: self.shares_of(class), groups }
    }

    /// The same in the order of ranks: `ranks[row]` are those of the rows of a class, where rows that tie may have one rank
    /// and those after it are left free.
    pub(crate) fn order_units(&self, class: usize, ranks: &[f64], order: &mut UnitOrder) {
        let UnitRows { shares, groups } = self.rows_of(class);
        let UnitOrder { shares: of_shares, groups: of_groups, taken } = order;
        of_shares.clear();
        of_shares.resize(shares.map_or(0, <[f64]>::len), 0.0);
        of_groups.clear();
        of_groups.resize(groups.len(), 0);
        taken.clear();
        taken.resize(ranks.len(), 0);
        for (row, &rank) in ranks.iter().enumerate() {
            let taken = &mut taken[rank as usize];
            let rank = rank as usize + *taken as usize;
            *taken += 1;
            if let Some(shares) = shares {
                of_shares[rank] = shares[row];
            }
            if let Some(&group) = groups.get(row) {
                of_groups[rank] = group;
            }
        }
    }

    /// What the rows of each group of a class add up to, where rows are in groups.
    pub(crate) fn group_deviations(&self, class: usize, column: &[f64], centre: f64) -> Option<GroupDeviations> {
        self.groups.as_ref().map(|groups| GroupDeviations::new(groups, class, column, self.rows_of(class), centre))
    }

    /// Returns the memory of such sums.
    pub(crate) fn give_back(&self, deviations: impl IntoIterator<Item = GroupDeviations>) {
        if let Some(groups) = &self.groups {
            deviations.into_iter().for_each(|one| groups.buffers.give_back(one.sums));
        }
    }

    /// Whether class sizes are random.
    pub(crate) const fn has_random_sizes(&self) -> bool {
        self.has_random_sizes
    }

    /// Independent units of each class: its rows, or its groups.
    #[must_use]
    pub fn units(&self) -> Vec<u64> {
        match &self.groups {
            None => self.rows.sizes().rows.clone(),
            Some(groups) => groups.of_class.iter().map(|of_class| of_class.numbers.len() as u64).collect(),
        }
    }

    /// The same of one class.
    pub(super) fn unit_count(&self, class: usize) -> f64 {
        match &self.groups {
            None => self.rows.count(class) as f64,
            Some(groups) => groups.of_class[class].numbers.len() as f64,
        }
    }

    /// The weights of some classes.
    pub(super) fn class_weights(&self, classes: &[usize]) -> Vec<f64> {
        classes.iter().map(|&class| self.rows.weight(class)).collect()
    }

    /// π_k (g_k − ḡ) of each of some classes of given weights, for the slopes g of each statistic; zero where class sizes
    /// are fixed. Times w_i/W_k, it is what row i adds to the error through the prevalences.
    pub(super) fn shifts(&self, classes: &[usize], weights: &[f64], slopes: &[&[f64]]) -> Vec<Vec<f64>> {
        if !self.has_random_sizes {
            return vec![vec![0.0; slopes.len()]; classes.len()];
        }
        let total: f64 = weights.iter().sum();
        let mean = |slopes: &&[f64]| {
            classes.iter().zip(weights).map(|(&class, weight)| weight * slopes[class]).sum::<f64>() / total
        };
        let means: Vec<f64> = slopes.iter().map(mean).collect();
        let of_class = |(&class, weight): (&usize, &f64)| {
            slopes.iter().zip(&means).map(|(slopes, mean)| weight / total * (slopes[class] - mean)).collect()
        };
        classes.iter().zip(weights).map(of_class).collect()
    }

    /// How many equally heavy units would know as much as all rows together.
    pub(crate) fn effective_total(&self) -> f64 {
        let total = self.rows.total_weight();
        let Some(groups) = &self.groups else {
            let Some(weights) = self.rows.weights() else { return self.rows.len() as f64 };
            return weights.iter().map(|weight| (weight / total).powi(2)).sum::<f64>().recip();
        };
        let mut of_groups = vec![0.0; groups.count];
        for &class in self.rows.present() {
            let of_class = &groups.of_class[class];
            let weights = self.rows.weights_of(class);
            for (row, &group) in of_class.of_rows.iter().enumerate() {
                let number = of_class.numbers[group as usize] as usize;
                of_groups[number] += weights.map_or(1.0, |weights| weights[row]);
            }
        }
        of_groups.iter().map(|weight| (weight / total).powi(2)).sum::<f64>().recip()
    }

    /// √c of all rows together where a metric is centred on one mean: one of single rows, with random class sizes.
    pub(super) fn whole_spread(&self, metric: Metric) -> Option<f64> {
        (self.has_random_sizes && metric.is_row_mean()).then(|| spread_of(self.effective_total()))
    }

    /// How many equally heavy units would know as much as those of each class (Kish): W_k² over the sum of the squared
    /// weights of its rows, or of its groups. Zero for absent classes.
    #[must_use]
    pub fn effective_units(&self) -> &[f64] {
        &self.effective
    }
}

/// e_k = 1/Σ (w/W_k)² over the rows of a class, or over its groups.
fn effective_number(rows: &ClassRows, groups: Option<&Groups>, class: usize) -> f64 {
    let (count, total) = (rows.count(class) as f64, rows.weight(class));
    let squares = match (rows.weights_of(class), groups) {
        (None, None) => return count,
        (Some(weights), None) => weights.iter().map(|weight| (weight / total).powi(2)).sum::<f64>(),
        (None, Some(groups)) => groups.of_class[class].sizes.iter().map(|size| (size / total).powi(2)).sum(),
        (Some(_), Some(groups)) => groups.of_class[class].sizes.iter().map(|share| share.powi(2)).sum(),
    };
    if count > 0.0 { 1.0 / squares } else { 0.0 }
}

/// What is known of the rows of a class, in the order of a table.
#[derive(Debug, Default)]
pub(crate) struct UnitOrder {
    shares: Vec<f64>,
    groups: Vec<u32>,
    /// How many rows of each rank have a place.
    taken: Vec<u32>,
}

impl UnitOrder {
    pub(super) fn rows(&self) -> UnitRows<'_> {
        UnitRows { shares: (!self.shares.is_empty()).then_some(&self.shares), groups: &self.groups }
    }
}
