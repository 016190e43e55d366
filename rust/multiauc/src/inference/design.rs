//! The rows behind a variance: class by class, with their weights and groups in the same order.

use super::unit_sums::{GroupDeviations, GroupLine, UnitRows, spread_of};
use crate::error::{Error, Result, RowArray};
use crate::float::Score;
use crate::memory::Buffers;
use crate::metric::Metric;
use crate::parallel::Workers;
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
    /// [`Error::LengthMismatch`] unless there is a group for every row, [`Error::Cancelled`].
    pub fn new<T: Score>(sample: &ScoredSample<'_, T>, sampling: Sampling<'_>, workers: &Workers<'_>) -> Result<Self> {
        let rows = ClassRows::new(sample);
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

/// The groups of the rows, class by class.
#[derive(Debug)]
pub(super) struct Groups {
    pub of_class: Vec<ClassGroups>,
    /// How many there are.
    pub count: usize,
    /// The classes of each group in increasing order, with the group's place in each: `entries[ends[g]..ends[g + 1]]`.
    entries: Vec<[u32; 2]>,
    ends: Vec<u32>,
    /// The groups that two classes have in common, unless they are very many.
    pairs: Option<SharedGroups>,
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

/// The groups that two classes have in common, by their places among those of each.
pub(super) enum SharedPlaces<'g> {
    /// Found before; `is_swapped` if the second class is the first of each place.
    Listed { places: &'g [[u32; 2]], is_swapped: bool },
    /// To be found: the numbers of both classes' groups in increasing order, and how many are in both.
    Merged { numbers: [&'g [u32]; 2], count: usize },
}

impl SharedPlaces<'_> {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Listed { places, .. } => places.len(),
            Self::Merged { count, .. } => *count,
        }
    }

    /// Calls `visit` with the places of each.
    #[inline(always)]
    pub(super) fn for_each(&self, mut visit: impl FnMut([usize; 2])) {
        match self {
            Self::Listed { places, is_swapped: false } => {
                places.iter().for_each(|&[first, second]| visit([first as usize, second as usize]));
            }
            Self::Listed { places, is_swapped: true } => {
                places.iter().for_each(|&[second, first]| visit([first as usize, second as usize]));
            }
            Self::Merged { numbers, .. } => merge(*numbers, visit),
        }
    }
}

/// Calls `visit` with the places of the numbers that two increasing lists have in common.
fn merge([of_first, of_second]: [&[u32]; 2], mut visit: impl FnMut([usize; 2])) {
    let (mut first, mut second) = (0, 0);
    while let (Some(a), Some(b)) = (of_first.get(first), of_second.get(second)) {
        if a == b {
            visit([first, second]);
        }
        // Without branches, which would be mispredicted.
        (first, second) = (first + usize::from(a <= b), second + usize::from(b <= a));
    }
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

    /// `entries[ends[g]..ends[g + 1]]` are the classes of a group.
    fn new(classes: usize, (entries, ends): (&[[u32; 2]], &[u32]), rows: usize) -> Option<Self> {
        let pairs_of =
            |group: &[u32]| (group[1] - group[0]) as usize * ((group[1] - group[0]) as usize).saturating_sub(1) / 2;
        let pairs: usize = ends.windows(2).map(pairs_of).sum();
        let pair_count = pair_number(0, classes.max(1));
        if pairs > Self::ENTRIES_PER_ROW * rows || pair_count > rows {
            return None;
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
    pub(super) fn new(groups: &[u32], rows: &ClassRows, workers: &Workers<'_>) -> Result<Self> {
        let spans = workers.row_spans(groups.len(), 1);
        let last_of = |span: usize| Ok(groups[spans[span].clone()].iter().max().copied().unwrap_or(0));
        let last = workers.map(spans.len(), last_of)?.into_iter().max().unwrap_or(0);
        let mut of_class = workers.map_with(
            rows.classes(),
            || NameSet::up_to(last),
            |set, class| {
                let (names, of_rows) = run_widest(FindGroups { groups, rows: rows.of(class), set });
                let mut sizes = vec![0.0; names.len()];
                match rows.weights_of(class) {
                    None => of_rows.iter().for_each(|&group| sizes[group as usize] += 1.0),
                    Some(weights) => {
                        let (total, entries) = (rows.weight(class), of_rows.iter().zip(weights));
                        entries.for_each(|(&group, weight)| sizes[group as usize] += weight / total);
                    }
                }
                Ok(ClassGroups { names, numbers: Vec::new(), of_rows, sizes })
            },
        )?;
        let mut of_all = NameSet::up_to(last);
        of_class.iter().flat_map(|of_class| &of_class.names).for_each(|&name| of_all.insert(name));
        let count = of_all.number() as usize;
        workers.map_chunks(&mut of_class, 1, |_, of_class| {
            let ClassGroups { names, numbers, .. } = &mut of_class[0];
            numbers.extend(names.iter().map(|&name| of_all.number_of(name)));
            Ok(())
        })?;
        let (entries, ends) = by_group(&of_class, count);
        let pairs = SharedGroups::new(of_class.len(), (&entries, &ends), rows.len());
        Ok(Self { of_class, count, entries, ends, pairs, buffers: Buffers::default() })
    }

    /// The groups that two classes have in common.
    pub(super) fn shared(&self, first: usize, second: usize) -> SharedPlaces<'_> {
        let Some(SharedGroups { starts, places }) = &self.pairs else {
            let numbers = [first, second].map(|class| &self.of_class[class].numbers[..]);
            let mut count = 0;
            merge(numbers, |_| count += 1);
            return SharedPlaces::Merged { numbers, count };
        };
        let pair = pair_number(first.min(second), first.max(second));
        SharedPlaces::Listed { places: &places[starts[pair]..starts[pair + 1]], is_swapped: second < first }
    }

    /// What each group adds in all classes, given for each of `classes`, which are all that have rows.
    pub(super) fn totals(&self, classes: &[usize], lines: &[GroupLine<'_>], totals: &mut [f64]) {
        let nothing = GroupLine { sums: &[], sizes: &[], of_sum: 0.0, of_size: 0.0 };
        let mut by_class = vec![nothing; self.of_class.len()];
        for (&class, &line) in classes.iter().zip(lines) {
            by_class[class] = line;
        }
        for (total, ends) in totals.iter_mut().zip(self.ends.windows(2)) {
            let of_group = &self.entries[ends[0] as usize..ends[1] as usize];
            *total = of_group.iter().map(|&[class, place]| by_class[class as usize].at(place as usize)).sum();
        }
    }

    /// Whether no two rows are in the same group.
    pub(super) fn are_single_rows(&self) -> bool {
        self.count == self.of_class.iter().map(|of_class| of_class.of_rows.len()).sum::<usize>()
    }

    /// Whether some group has rows of several classes.
    pub(super) fn span_classes(&self) -> bool {
        self.count < self.entries.len()
    }
}

/// The classes of each of so many groups, with the group's place in each, and where each group's end.
fn by_group(of_class: &[ClassGroups], count: usize) -> (Vec<[u32; 2]>, Vec<u32>) {
    // The start of a group is counted up to its end while it is filled.
    let mut ends = vec![0_u32; count + 2];
    of_class.iter().flat_map(|of_class| &of_class.numbers).for_each(|&number| ends[number as usize + 2] += 1);
    for group in 2..ends.len() {
        ends[group] += ends[group - 1];
    }
    let mut entries = vec![[0_u32; 2]; ends[count + 1] as usize];
    for (class, of_class) in (0..).zip(of_class) {
        for (place, &number) in (0..).zip(&of_class.numbers) {
            let end = &mut ends[number as usize + 1];
            entries[*end as usize] = [class, place];
            *end += 1;
        }
    }
    ends.truncate(count + 1);
    (entries, ends)
}
