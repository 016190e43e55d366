//! Ranges of numbers: which rows have to be looked at again for exact counts, and which need not.
//!
//! A state says how many rows of each class every bin holds. Rows of different bins are in a known order; so are rows of
//! a bin that holds rows of one side only, or a single number.

use super::bounds::Numbers;
use super::code::is_crowded;
use super::histogram::{Bin, Histogram};
use super::settings::SketchSettings;

/// What is ranked by one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Problem {
    /// Two classes, by the difference of their scores.
    Pair { c: usize, d: usize },
    /// A class and all others, by its own score.
    Column { c: usize },
}

impl Problem {
    /// All that the metrics of a state need.
    pub(super) fn all(settings: &SketchSettings) -> Vec<Self> {
        let classes = settings.classes;
        let mut problems = Vec::new();
        if settings.differences {
            problems.extend((0..classes).flat_map(|c| (c + 1..classes).map(move |d| Self::Pair { c, d })));
        }
        if settings.columns || settings.columns_by_class {
            problems.extend((0..classes).map(|c| Self::Column { c }));
        }
        problems
    }

    /// How many there are.
    pub(super) const fn count(settings: &SketchSettings) -> usize {
        let SketchSettings { classes, differences, columns, columns_by_class, .. } = *settings;
        let pairs = if differences { classes * (classes - 1) / 2 } else { 0 };
        pairs + if columns || columns_by_class { classes } else { 0 }
    }

    /// The class that wins.
    pub(super) const fn owner(self) -> usize {
        match self {
            Self::Pair { c, .. } | Self::Column { c } => c,
        }
    }

    /// The classes that are told apart, each with its histogram: the rest of a column may be one other class.
    pub(super) fn sides(self, settings: &SketchSettings) -> Vec<(usize, usize)> {
        match self {
            Self::Pair { c, d } => [c, d].map(|own| (own, settings.difference_index(c, d, own))).to_vec(),
            Self::Column { c } if settings.columns_by_class => {
                (0..settings.classes).map(|class| (class, settings.column_index(c, class))).collect()
            }
            Self::Column { c } => {
                let rest = usize::from(c == 0);
                vec![(c, settings.column_index(c, c)), (rest, settings.column_index(c, rest))]
            }
        }
    }

    /// Whether the rows of ranges are all rows; `is_by_class` where those of a column are told apart by class.
    pub(super) fn are_all_known(self, known: &[Known], rows: &[u64], is_by_class: bool) -> bool {
        // Wide, because counts that were sent may be damaged.
        let known = |class: usize| known.iter().map(|known| u128::from(known.rows[class])).sum::<u128>();
        let is_same = |class: usize| known(class) == u128::from(rows[class]);
        match self {
            Self::Pair { c, d } => is_same(c) && is_same(d),
            Self::Column { .. } if is_by_class => (0..rows.len()).all(is_same),
            Self::Column { c } => {
                let others = || (0..rows.len()).filter(|&class| class != c);
                let rest: u128 = others().map(|class| u128::from(rows[class])).sum();
                is_same(c) && others().map(known).sum::<u128>() == rest
            }
        }
    }

    /// Which of the sides the rows of a class are on.
    pub(super) fn side_of(self, class: usize, settings: &SketchSettings) -> Option<usize> {
        match self {
            Self::Pair { c, d } => [c, d].iter().position(|&own| own == class),
            Self::Column { .. } if settings.columns_by_class => Some(class),
            Self::Column { c } => Some(usize::from(class != c)),
        }
    }
}

/// A range of integers that rows are to be gathered of, and what is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Range {
    pub first: u64,
    pub last: u64,
    /// About how many rows there are.
    pub rows: u64,
}

impl Range {
    /// About so many parts of equal width.
    pub(super) fn split(&self, parts: u64) -> impl Iterator<Item = Self> + use<> {
        let Self { first, last, rows } = *self;
        let width = (last - first) / parts + 1;
        let starts = (0..parts).map_while(move |part| first.checked_add(part.checked_mul(width)?));
        starts.take_while(move |&start| start <= last).map(move |start| Self {
            first: start,
            last: last.min(start.saturating_add(width - 1)),
            rows: rows / parts,
        })
    }
}

/// A range whose rows have been counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Known {
    pub first: u64,
    /// Of each class.
    pub rows: Vec<u64>,
    /// Whether all of them have the same number; otherwise what is won between them is known apart.
    pub is_tied: bool,
}

/// The ranges of a problem, those to be gathered and all others.
#[derive(Debug, Default)]
pub(super) struct Planned {
    pub gathered: Vec<Range>,
    pub known: Vec<Known>,
}

impl Planned {
    /// Ranges of at most `longest` rows, but for single bins that hold more.
    pub(super) fn new(
        problem: Problem,
        settings: &SketchSettings,
        histograms: &[Histogram<u32>],
        longest: usize,
        are_singles: bool,
    ) -> Self {
        let (sides, owner) = (problem.sides(settings), problem.owner());
        // All bins are parts of those of the coarsest histogram.
        let level = sides.iter().map(|&(_, index)| histograms[index].level).max().unwrap_or(0);
        let mut bins: Vec<(u64, usize, u64)> = Vec::new();
        for &(class, index) in &sides {
            histograms[index].for_each(|bin, rows| bins.push((bin.first >> level, class, u64::from(rows))));
        }
        bins.sort_unstable();
        let numbers = match problem {
            Problem::Pair { .. } => Numbers::Differences,
            Problem::Column { .. } => Numbers::Scores { are_singles },
        };
        let longest = longest as u64;
        let few = (longest / Planner::SHARE).max(Planner::FEW);
        let mut planner = Planner { planned: Self::default(), run: None, aside: None, owner, longest, few };
        for bin in bins.chunk_by(|a, b| a.0 == b.0) {
            let mut here = vec![0_u64; settings.classes];
            for &(_, class, rows) in bin {
                here[class] += rows;
            }
            let first = bin[0].0 << level;
            let range = Range { first, last: first + ((1 << level) - 1), rows: here.iter().sum() };
            // Differences of multiples of 1/m are equal, or further apart than integers are.
            let is_tied = numbers.bounds(Bin::of(range.first, range.last)).are_equal()
                || (settings.lattice.is_some() && level == 0 && !is_crowded(first));
            planner.see(range, here, is_tied);
        }
        planner.finish()
    }
}

/// Puts bins together, in increasing order, to ranges that are gathered and ranges that need not be.
struct Planner {
    planned: Planned,
    /// The range to gather that neighbouring bins are added to.
    run: Option<Range>,
    /// Bins after it that hold rows of one side only.
    aside: Option<(Range, Vec<u64>)>,
    owner: usize,
    longest: u64,
    /// Fewer rows whose order is known are gathered with their neighbours.
    few: u64,
}

impl Planner {
    const FEW: u64 = 4;
    /// Of the longest range, so that ranges do not become many.
    const SHARE: u64 = 64;

    fn see(&mut self, bin: Range, here: Vec<u64>, is_tied: bool) {
        let is_one_sided = here[self.owner] == 0 || here[self.owner] == bin.rows;
        if !is_one_sided {
            self.settle_aside();
            if is_tied && bin.rows >= self.few {
                self.know(&bin, here, is_tied);
            } else {
                self.gather(bin);
            }
            return;
        }
        match &mut self.aside {
            // Rows of the same side: nothing is won between them.
            Some((range, all)) if (all[self.owner] == 0) == (here[self.owner] == 0) => {
                (range.last, range.rows) = (bin.last, range.rows + bin.rows);
                all.iter_mut().zip(here).for_each(|(all, here)| *all += here);
            }
            _ => {
                self.settle_aside();
                self.aside = Some((bin, here));
            }
        }
    }

    fn settle_aside(&mut self) {
        let Some((range, here)) = self.aside.take() else { return };
        if range.rows < self.few {
            self.gather(range);
        } else {
            self.know(&range, here, false);
        }
    }

    fn know(&mut self, range: &Range, rows: Vec<u64>, is_tied: bool) {
        self.planned.gathered.extend(self.run.take());
        self.planned.known.push(Known { first: range.first, rows, is_tied });
    }

    fn gather(&mut self, bin: Range) {
        match &mut self.run {
            Some(run) if run.rows + bin.rows <= self.longest => {
                (run.last, run.rows) = (bin.last, run.rows + bin.rows);
            }
            run => self.planned.gathered.extend(run.replace(bin)),
        }
    }

    fn finish(mut self) -> Planned {
        self.settle_aside();
        self.planned.gathered.extend(self.run);
        self.planned
    }
}

/// Twice what the owner wins against each class, given what it wins within ranges that are not tied.
pub(super) fn won(owner: usize, within: &[u128], known: &[Known]) -> Vec<u128> {
    let mut won = within.to_vec();
    let mut known: Vec<&Known> = known.iter().collect();
    known.sort_unstable_by_key(|known| known.first);
    let mut below = vec![0_u64; won.len()];
    for Known { rows, is_tied, .. } in known {
        let own = u128::from(rows[owner]);
        for ((won, below), here) in won.iter_mut().zip(&mut below).zip(rows) {
            let tied = if *is_tied { u128::from(*here) } else { 0 };
            *won += own * (2 * u128::from(*below) + tied);
            *below += here;
        }
    }
    won[owner] = 0;
    won
}
