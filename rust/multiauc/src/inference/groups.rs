//! Groups of rows that are not independent of each other, class by class.

use super::unit_sums::GroupLine;
use crate::error::Result;
use crate::memory::{Buffers, set_zeros};
use crate::parallel::Workers;
use crate::sample::ClassRows;
use crate::simd::{Simd, Vectorizable, run_widest};

/// Groups whose totals are summed at a time: a fixed number, so that sums have the same bits on any number of threads.
const BLOCK: usize = 1 << 13;

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
    pairs: Option<SharedGroups>,
    /// Memory for sums over groups.
    pub buffers: Buffers<f64>,
}

/// The groups that two classes have in common, for all pairs of classes.
#[derive(Debug)]
struct SharedGroups {
    /// By the number of the pair: where each group is among those of the first class, and among those of the second.
    of_pairs: Vec<Vec<[u32; 2]>>,
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
    /// Where the groups of each block begin among them, and where the last one's end.
    block_starts: Vec<u32>,
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
    /// Places per row that are kept at most: groups of many classes have very many pairs of them.
    const PLACES_PER_ROW: usize = 4;

    /// Those of all pairs of classes, which have so many groups in all; `None` if there are too many to keep.
    fn new(of_class: &[ClassGroups], count: usize, rows: usize, workers: &Workers<'_>) -> Result<Option<Self>> {
        let pairs: Vec<[usize; 2]> =
            (0..of_class.len()).flat_map(|second| (0..second).map(move |first| [first, second])).collect();
        let (mut classes_of, mut shared) = (vec![0_u32; count], 0);
        for &number in of_class.iter().flat_map(|of_class| &of_class.numbers) {
            let classes = &mut classes_of[number as usize];
            shared += *classes as usize;
            *classes += 1;
        }
        if shared > Self::PLACES_PER_ROW * rows || pairs.len() > rows {
            return Ok(None);
        }
        let of_pairs = workers.map(pairs.len(), |pair| {
            let mut places = Vec::new();
            let numbers = pairs[pair].map(|class| &of_class[class].numbers[..]);
            merge(numbers, |[first, second]| places.push([first as u32, second as u32]));
            Ok(places)
        })?;
        Ok(Some(Self { of_pairs }))
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
                Ok(ClassGroups { names, numbers: Vec::new(), block_starts: Vec::new(), of_rows, sizes })
            },
        )?;
        let mut of_all = NameSet::up_to(last);
        of_class.iter().flat_map(|of_class| &of_class.names).for_each(|&name| of_all.insert(name));
        let count = of_all.number() as usize;
        workers.map_chunks(&mut of_class, 1, |_, of_class| {
            let ClassGroups { names, numbers, block_starts, .. } = &mut of_class[0];
            numbers.extend(names.iter().map(|&name| of_all.number_of(name)));
            let begins = |block: usize| numbers.partition_point(|&number| (number as usize) < block * BLOCK) as u32;
            block_starts.extend((0..=count.div_ceil(BLOCK)).map(begins));
            Ok(())
        })?;
        let pairs = SharedGroups::new(&of_class, count, rows.len(), workers)?;
        Ok(Self { of_class, count, pairs, buffers: Buffers::default() })
    }

    /// The groups that two classes have in common.
    pub(super) fn shared(&self, first: usize, second: usize) -> SharedPlaces<'_> {
        let Some(SharedGroups { of_pairs }) = &self.pairs else {
            let numbers = [first, second].map(|class| &self.of_class[class].numbers[..]);
            let mut count = 0;
            merge(numbers, |_| count += 1);
            return SharedPlaces::Merged { numbers, count };
        };
        let places = &of_pairs[pair_number(first.min(second), first.max(second))];
        SharedPlaces::Listed { places, is_swapped: second < first }
    }

    /// Number of blocks of groups.
    pub(super) fn blocks(&self) -> usize {
        self.count.div_ceil(BLOCK)
    }

    /// What each group of a block adds in some classes, given by their lines.
    pub(super) fn block_totals(&self, block: usize, classes: &[usize], lines: &[GroupLine<'_>], totals: &mut Vec<f64>) {
        let numbers = block * BLOCK..self.count.min((block + 1) * BLOCK);
        set_zeros(totals, numbers.len());
        for (&class, line) in classes.iter().zip(lines) {
            let ClassGroups { numbers: of_class, block_starts, .. } = &self.of_class[class];
            let places = block_starts[block] as usize..block_starts[block + 1] as usize;
            // Groups in increasing order: memory is read and written from one end to the other.
            for (&number, place) in of_class[places.clone()].iter().zip(places) {
                totals[number as usize - numbers.start] += line.at(place);
            }
        }
    }

    /// Whether no two rows are in the same group.
    pub(super) fn are_single_rows(&self) -> bool {
        self.count == self.of_class.iter().map(|of_class| of_class.of_rows.len()).sum::<usize>()
    }

    /// Whether some group has rows of several classes.
    pub(super) fn span_classes(&self) -> bool {
        self.count < self.of_class.iter().map(|of_class| of_class.numbers.len()).sum()
    }
}
