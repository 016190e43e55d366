//! The rows behind a variance: class by class, with their weights and groups in the same order.

use super::unit_sums::{GroupDeviations, spread_of};
use crate::error::{Error, Result, RowArray};
use crate::float::Score;
use crate::memory::Buffers;
use crate::metric::Metric;
use crate::sample::{ClassRows, Sampling, ScoredSample};
use crate::simd::{Simd, Vectorizable, run_widest};

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

    /// What the rows of each group of a class add up to, where rows are in groups.
    pub(crate) fn group_deviations(&self, class: usize, column: &[f64], centre: f64) -> Option<GroupDeviations> {
        self.groups.as_ref().map(|groups| GroupDeviations::new(self, groups, class, column, centre))
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
        (None, Some(groups)) => groups.of_class[class].sizes.iter().map(|size| (size / total).powi(2)).sum(),
        (Some(_), Some(groups)) => groups.of_class[class].sizes.iter().map(|share| share.powi(2)).sum(),
    };
    if count > 0.0 { 1.0 / squares } else { 0.0 }
}

/// A set of names, a bit for each: small enough to stay in the nearest cache.
#[derive(Debug)]
struct NameSet {
    words: Vec<u64>,
    /// Names in all words before each.
    before: Vec<u32>,
}

impl NameSet {
    /// An empty set of names up to a last one.
    fn up_to(last: u32) -> Self {
        let words = last as usize / 64 + 1;
        Self { words: vec![0; words], before: vec![0; words] }
    }

    #[inline(always)]
    fn insert(&mut self, name: u32) {
        self.words[name as usize / 64] |= 1 << (name % 64);
    }

    /// Counts the names, so that they have numbers; returns how many there are.
    #[inline(always)]
    fn number(&mut self) -> u32 {
        let mut count = 0;
        for (word, before) in self.words.iter().zip(&mut self.before) {
            *before = count;
            count += word.count_ones();
        }
        count
    }

    /// The place of a name among all of them, once they are counted.
    #[inline(always)]
    fn number_of(&self, name: u32) -> u32 {
        let (word, bit) = (name as usize / 64, name % 64);
        self.before[word] + (self.words[word] & ((1 << bit) - 1)).count_ones()
    }

    /// The names in increasing order.
    fn names(&self) -> Vec<u32> {
        let mut names = Vec::new();
        for (first, &word) in (0..).step_by(64).zip(&self.words) {
            let mut rest = word;
            while rest != 0 {
                names.push(first + rest.trailing_zeros());
                rest &= rest - 1;
            }
        }
        names
    }
}

/// Finds the groups of some rows: their names, and the place of each row's among them. The set is left with those names.
struct FindGroups<'g> {
    groups: &'g [u32],
    rows: &'g [u32],
    set: &'g mut NameSet,
}

impl Vectorizable for FindGroups<'_> {
    type Output = (Vec<u32>, Vec<u32>);

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> (Vec<u32>, Vec<u32>) {
        let Self { groups, rows, set } = self;
        set.words.fill(0);
        let mut of_rows: Vec<u32> = rows.iter().map(|&row| groups[row as usize]).collect();
        for &name in &of_rows {
            set.insert(name);
        }
        set.number();
        for name in &mut of_rows {
            *name = set.number_of(*name);
        }
        (set.names(), of_rows)
    }
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
    /// The rows of each of them, by their share of the weight of the class where rows have weights.
    pub sizes: Vec<f64>,
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
        let last = groups.iter().max().copied().unwrap_or(0);
        let (mut of_one, mut of_all) = (NameSet::up_to(last), NameSet::up_to(last));
        let of_class = (0..rows.classes()).map(|class| {
            let (names, of_rows) = run_widest(FindGroups { groups, rows: rows.of(class), set: &mut of_one });
            of_all.words.iter_mut().zip(&of_one.words).for_each(|(all, one)| *all |= one);
            let mut sizes = vec![0.0; names.len()];
            match rows.weights_of(class) {
                None => of_rows.iter().for_each(|&group| sizes[group as usize] += 1.0),
                Some(weights) => {
                    let (total, entries) = (rows.weight(class), of_rows.iter().zip(weights));
                    entries.for_each(|(&group, weight)| sizes[group as usize] += weight / total);
                }
            }
            ClassGroups { names, numbers: Vec::new(), of_rows, sizes }
        });
        let mut of_class: Vec<ClassGroups> = of_class.collect();
        let count = of_all.number();
        for ClassGroups { names, numbers, .. } in &mut of_class {
            numbers.extend(names.iter().map(|&name| of_all.number_of(name)));
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
