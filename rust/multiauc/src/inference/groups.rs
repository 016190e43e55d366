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
#[derive(Debug, Default)]
pub(super) struct NameSet {
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

/// Replaces the names of the groups of a class by their numbers among all of so many groups.
struct Renumber<'g> {
    of_class: &'g mut ClassGroups,
    of_all: &'g NameSet,
    count: usize,
}

impl Vectorizable for Renumber<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Self { of_class: ClassGroups { numbers, set, block_starts, .. }, of_all, count } = self;
        *set = NameSet::up_to(count as u32);
        for number in &mut *numbers {
            *number = of_all.number_of(*number);
            set.insert(*number);
        }
        set.number();
        let begins = |block: usize| numbers.partition_point(|&number| (number as usize) < block * BLOCK) as u32;
        block_starts.extend((0..=count.div_ceil(BLOCK)).map(begins));
    }
}

/// The groups of the rows, class by class.
#[derive(Debug)]
pub(super) struct Groups {
    pub of_class: Vec<ClassGroups>,
    /// How many there are.
    pub count: usize,
    /// Memory for sums over groups.
    pub buffers: Buffers<f64>,
}

/// The groups that two classes have in common.
#[derive(Clone, Copy)]
pub(super) struct SharedGroups<'g>([&'g NameSet; 2]);

impl SharedGroups<'_> {
    /// Calls `visit` with the places of each among the groups of either class.
    #[inline(always)]
    pub(super) fn for_each(self, mut visit: impl FnMut([usize; 2])) {
        let Self([first, second]) = self;
        for (index, (of_first, of_second)) in first.words.iter().zip(&second.words).enumerate() {
            let mut shared = of_first & of_second;
            while shared != 0 {
                let earlier = (1 << shared.trailing_zeros()) - 1;
                let place = |set: &NameSet, word: u64| set.before[index] + (word & earlier).count_ones();
                visit([place(first, *of_first) as usize, place(second, *of_second) as usize]);
                shared &= shared - 1;
            }
        }
    }
}

/// The groups that a class has rows of.
#[derive(Debug)]
pub(super) struct ClassGroups {
    /// Their numbers among all groups, in increasing order.
    pub numbers: Vec<u32>,
    /// The same as a set.
    set: NameSet,
    /// Where the groups of each block begin among them, and where the last one's end.
    block_starts: Vec<u32>,
    /// The index of each row's group among them.
    pub of_rows: Vec<u32>,
    /// The rows of each of them, by their share of the weight of the class where rows have weights.
    pub sizes: Vec<f64>,
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
                // Names become numbers once those of all classes are known.
                Ok(ClassGroups { numbers: names, set: NameSet::default(), block_starts: Vec::new(), of_rows, sizes })
            },
        )?;
        let mut of_all = NameSet::up_to(last);
        of_class.iter().flat_map(|of_class| &of_class.numbers).for_each(|&name| of_all.insert(name));
        let count = of_all.number() as usize;
        workers.map_chunks(&mut of_class, 1, |_, of_class| {
            run_widest(Renumber { of_class: &mut of_class[0], of_all: &of_all, count });
            Ok(())
        })?;
        Ok(Self { of_class, count, buffers: Buffers::default() })
    }

    /// The groups that two classes have in common.
    pub(super) fn shared(&self, first: usize, second: usize) -> SharedGroups<'_> {
        SharedGroups([first, second].map(|class| &self.of_class[class].set))
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
            for (&number, unit) in of_class[places.clone()].iter().zip(line.units(places)) {
                totals[number as usize - numbers.start] += unit;
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
