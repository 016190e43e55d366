//! The rows behind a variance: class by class, with their weights and groups in the same order.

use super::unit_sums::spread_of;
use crate::error::{Error, Result, RowArray};
use crate::float::Score;
use crate::memory::Buffers;
use crate::metric::Metric;
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
    /// [`Error::LengthMismatch`] unless there is a group for every row.
    pub fn new<T: Score>(sample: &ScoredSample<'_, T>, sampling: Sampling<'_>) -> Result<Self> {
        let rows = ClassRows::new(sample);
        let groups = match sampling.groups() {
            Some(groups) if groups.len() != sample.rows() => {
                let found = groups.len();
                return Err(Error::LengthMismatch { array: RowArray::Groups, rows: sample.rows(), found });
            }
            // Groups of one row are rows.
            groups => groups.map(|groups| Groups::new(groups, &rows)).filter(|groups| !groups.are_single_rows()),
        };
        let has_random_sizes = sampling.is_iid() || groups.as_ref().is_some_and(Groups::span_classes);
        Ok(Self::of_parts(rows, groups, has_random_sizes, sample.rows()))
    }

    pub(super) fn of_parts(
        rows: ClassRows,
        groups: Option<Groups>,
        has_random_sizes: bool,
        sample_rows: usize,
    ) -> Self {
        let effective = (0..rows.classes()).map(|class| effective_number(&rows, groups.as_ref(), class)).collect();
        let mut shares = Vec::new();
        if rows.weights().is_some() {
            shares.reserve_exact(rows.len());
            for class in 0..rows.classes() {
                let total = rows.weight(class);
                shares.extend(rows.weights_of(class).unwrap_or_default().iter().map(|weight| weight / total));
            }
        }
        Self { rows, groups, has_random_sizes, sample_rows, effective, shares }
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

    /// Whether class sizes are random.
    pub(crate) const fn has_random_sizes(&self) -> bool {
        self.has_random_sizes
    }

    /// Independent units of each class: its rows, or its groups.
    #[must_use]
    pub fn units(&self) -> Vec<u64> {
        match &self.groups {
            None => self.rows.sizes().rows.clone(),
            Some(groups) => groups.of_class.iter().map(|of_class| of_class.names.len() as u64).collect(),
        }
    }

    /// The same of one class.
    pub(super) fn unit_count(&self, class: usize) -> f64 {
        match &self.groups {
            None => self.rows.count(class) as f64,
            Some(groups) => groups.of_class[class].names.len() as f64,
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
        (weights, Some(groups)) => {
            let of_class = &groups.of_class[class];
            let mut of_groups = vec![0.0; of_class.names.len()];
            for (row, &group) in of_class.of_rows.iter().enumerate() {
                of_groups[group as usize] += weights.map_or(1.0, |weights| weights[row]);
            }
            of_groups.iter().map(|weight| (weight / total).powi(2)).sum()
        }
    };
    if count > 0.0 { 1.0 / squares } else { 0.0 }
}

/// The distinct names among some, in increasing order. `marks` has room for each name, and is left with anything.
fn distinct(names: impl ExactSizeIterator<Item = u32>, marks: &mut [u32]) -> Vec<u32> {
    /// Names per row up to which it is quicker to look at all of them than to sort the rows.
    const NAMES_PER_ROW: usize = 16;
    if marks.len() > NAMES_PER_ROW * names.len() {
        let mut names: Vec<u32> = names.collect();
        names.sort_unstable();
        names.dedup();
        return names;
    }
    marks.fill(0);
    names.for_each(|name| marks[name as usize] = 1);
    (0..).zip(&*marks).filter(|&(_, &mark)| mark > 0).map(|(name, _)| name).collect()
}

/// The groups of the rows, class by class.
#[derive(Debug)]
pub(super) struct Groups {
    pub of_class: Vec<ClassGroups>,
    /// How many there are.
    pub count: usize,
    /// The groups that two classes have in common, unless they are very many.
    shared: Option<SharedGroups>,
    /// Memory for sums over groups.
    pub buffers: Buffers<f64>,
}

/// The groups that two classes have in common, for all pairs of classes.
#[derive(Debug)]
struct SharedGroups {
    /// `starts[p]..starts[p + 1]` are those of pair p.
    starts: Vec<usize>,
    /// Where a group is among those of the first class, and among those of the second.
    places: Vec<[u32; 2]>,
}

/// The groups that a class has rows of.
#[derive(Debug)]
pub(super) struct ClassGroups {
    /// Their names, in increasing order.
    pub names: Vec<u32>,
    /// Their places among the names of all groups.
    pub numbers: Vec<u32>,
    /// The index of each row's group among them.
    pub of_rows: Vec<u32>,
}

/// The number of a pair of classes c < d among all of them.
fn pair_number(first: usize, second: usize) -> usize {
    second * (second - 1) / 2 + first
}

impl SharedGroups {
    /// Entries per row that are kept at most: groups of many classes have very many pairs of them.
    const ENTRIES_PER_ROW: usize = 4;

    fn new(of_class: &[ClassGroups], count: usize, rows: usize) -> Option<Self> {
        // The classes of each group in increasing order, with the group's place in each.
        let mut ends = vec![0_u32; count + 1];
        of_class.iter().flat_map(|of_class| &of_class.numbers).for_each(|&number| ends[number as usize + 1] += 1);
        let pairs: usize =
            ends.iter().map(|&classes| classes as usize * (classes as usize).saturating_sub(1) / 2).sum();
        let pair_count = pair_number(0, of_class.len().max(1));
        if pairs > Self::ENTRIES_PER_ROW * rows || pair_count > rows {
            return None;
        }
        let mut sum = 0;
        for end in &mut ends {
            sum += std::mem::replace(end, sum);
        }
        let mut entries = vec![[0_u32; 2]; sum as usize];
        for (class, of_class) in (0..).zip(of_class) {
            for (place, &number) in (0..).zip(&of_class.numbers) {
                let end = &mut ends[number as usize + 1];
                entries[*end as usize] = [class, place];
                *end += 1;
            }
        }
        let mut starts = vec![0; pair_count + 2];
        let mut places = vec![[0; 2]; pairs];
        for is_filled in [false, true] {
            for group in ends.windows(2) {
                let entries = &entries[group[0] as usize..group[1] as usize];
                for (index, second) in entries.iter().enumerate() {
                    for first in &entries[..index] {
                        let pair = pair_number(first[0] as usize, second[0] as usize);
                        if is_filled {
                            places[starts[pair + 1]] = [first[1], second[1]];
                            starts[pair + 1] += 1;
                        } else {
                            starts[pair + 2] += 1;
                        }
                    }
                }
            }
            if !is_filled {
                for pair in 2..starts.len() {
                    starts[pair] += starts[pair - 1];
                }
            }
        }
        Some(Self { starts, places })
    }
}

impl Groups {
    pub(super) fn new(groups: &[u32], rows: &ClassRows) -> Self {
        let mut index_of = vec![0; groups.iter().max().map_or(0, |&last| last as usize + 1)];
        let of_class = (0..rows.classes()).map(|class| {
            let group_of = |&row: &u32| groups[row as usize];
            let names = distinct(rows.of(class).iter().map(group_of), &mut index_of);
            for (index, &name) in (0..).zip(&names) {
                index_of[name as usize] = index;
            }
            let of_rows = rows.of(class).iter().map(|row| index_of[group_of(row) as usize]).collect();
            ClassGroups { names, numbers: Vec::new(), of_rows }
        });
        let mut of_class: Vec<ClassGroups> = of_class.collect();
        // From marks at the names that occur to their places.
        index_of.fill(0);
        of_class.iter().flat_map(|of_class| &of_class.names).for_each(|&name| index_of[name as usize] = 1);
        let mut count = 0;
        for entry in &mut index_of {
            count += std::mem::replace(entry, count);
        }
        for ClassGroups { names, numbers, .. } in &mut of_class {
            numbers.extend(names.iter().map(|&name| index_of[name as usize]));
        }
        let shared = SharedGroups::new(&of_class, count as usize, rows.len());
        Self { of_class, count: count as usize, shared, buffers: Buffers::default() }
    }

    /// The groups that two classes c < d have in common, by their places among those of each; `None` if they are not kept.
    pub(super) fn shared(&self, first: usize, second: usize) -> Option<&[[u32; 2]]> {
        let SharedGroups { starts, places } = self.shared.as_ref()?;
        let pair = pair_number(first, second);
        Some(&places[starts[pair]..starts[pair + 1]])
    }

    /// Whether no two rows are in the same group.
    pub(super) fn are_single_rows(&self) -> bool {
        self.count == self.of_class.iter().map(|of_class| of_class.of_rows.len()).sum::<usize>()
    }

    /// Whether some group has rows of several classes.
    pub(super) fn span_classes(&self) -> bool {
        self.count < self.entries()
    }

    /// The groups of all classes, counted for each class that they have rows of.
    pub(super) fn entries(&self) -> usize {
        self.of_class.iter().map(|of_class| of_class.names.len()).sum()
    }
}
