//! Exact counts of more rows than memory holds: the rows are gone through several times, and each time those of some
//! ranges of numbers are gathered and sorted.
//!
//! A state says how many rows of each class every range holds. Rows of different ranges are in a known order, so that
//! only pairs of rows of the same range have to be looked at.

use std::cmp::Ordering;

use super::answers::{Answers, ExactWins};
use super::code::{Place, score_code};
use super::histogram::Histogram;
use super::places::{Reading, place_of};
use super::settings::SketchSettings;
use super::state::{Histograms, Sketch};
use crate::error::{Error, Result};
use crate::float::Score;
use crate::keys::ExactKey;
use crate::parallel::Workers;
use crate::sample::{ClassCodes, ScoreMatrix};

/// What is ranked by one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Problem {
    /// Two classes, by the difference of their scores.
    Pair { c: usize, d: usize },
    /// A class and all others, by its own score.
    Column { c: usize },
}

/// A range of integers that rows are to be gathered of, and what is known of it.
#[derive(Debug, Clone)]
struct Range {
    first: u64,
    last: u64,
    /// About how many rows there are.
    rows: u64,
}

/// Equal rows of a range: their class, their score and the score it is compared with, and how many there are.
#[derive(Debug, Clone, Copy)]
struct Alike<T> {
    class: u16,
    own: T,
    other: T,
    rows: u32,
}

/// The rows of a range while they are gathered.
#[derive(Debug)]
struct Gathered<T> {
    range: Range,
    rows: Vec<Alike<T>>,
    /// There were more rows than fit; they were given up.
    is_too_long: bool,
}

#[derive(Debug)]
struct Counted<T> {
    problem: Problem,
    /// Twice what class c wins against each class within ranges.
    won_within: Vec<u128>,
    /// Ranges not gathered yet.
    waiting: Vec<Range>,
    active: Vec<Gathered<T>>,
    /// The first integer of every other range, and its rows of each class.
    known: Vec<(u64, Vec<u64>)>,
}

/// Exact counts, pass by pass.
#[derive(Debug)]
pub struct RangeCounts<T> {
    settings: SketchSettings,
    reading: Reading,
    problems: Vec<Counted<T>>,
    /// Rows of one range that fit.
    longest: usize,
}

impl<T: Score> RangeCounts<T> {
    /// For the rows that a state has seen, which must be shown again in every pass.
    ///
    /// # Errors
    /// [`Error::WeightedRanges`] if rows have weights, [`Error::OpenLattice`] if the state must be made again with the
    /// lattice that it found, [`Error::Cancelled`].
    pub fn new(sketch: &mut Sketch<T>, memory: usize, workers: &Workers<'_>) -> Result<Self> {
        sketch.check_whole()?;
        sketch.settle(workers)?;
        if let Some(m) = sketch.lattices.coarsest() {
            return Err(Error::OpenLattice { m });
        }
        let Histograms::Rows(histograms) = &sketch.histograms else { return Err(Error::WeightedRanges) };
        let settings = sketch.settings;
        let pairs = (0..settings.classes).flat_map(|c| (c + 1..settings.classes).map(move |d| Problem::Pair { c, d }));
        let columns = (0..settings.classes).map(|c| Problem::Column { c });
        let mut problems: Vec<Problem> = if settings.differences { pairs.collect() } else { Vec::new() };
        if settings.columns || settings.columns_by_class {
            problems.extend(columns);
        }
        // Sorting takes some times the memory of the rows themselves.
        let longest = (memory / 16 / size_of::<Alike<T>>()).max(16);
        let problems =
            workers.map(problems.len(), |index| Ok(Counted::new(problems[index], &settings, histograms, longest)))?;
        Ok(Self { settings, reading: sketch.reading(), problems, longest })
    }

    /// Chooses what to gather in the next pass, in about so many bytes; `false` if nothing is left.
    pub fn begin_pass(&mut self, memory: usize) -> bool {
        let mut room = (memory / 2 / size_of::<Alike<T>>()) as u64;
        let mut has_any = false;
        for problem in &mut self.problems {
            // From the end, as that is where a list gives up entries cheaply.
            while let Some(range) = problem.waiting.pop_if(|range| !has_any || range.rows <= room) {
                room = room.saturating_sub(range.rows);
                has_any = true;
                problem.active.push(Gathered { range, rows: Vec::new(), is_too_long: false });
            }
            problem.active.sort_by_key(|gathered| gathered.range.first);
        }
        has_any
    }

    /// Shows some rows.
    ///
    /// # Errors
    /// [`Error::CodeOutOfRange`], [`Error::Cancelled`].
    pub fn update(&mut self, scores: ScoreMatrix<'_, T>, codes: ClassCodes<'_>, workers: &Workers<'_>) -> Result<()> {
        if let Some(row) = (0..codes.len()).find(|&row| codes.get(row) >= self.settings.classes) {
            return Err(Error::CodeOutOfRange { row, code: codes.get(row), classes: self.settings.classes });
        }
        let (reading, longest) = (self.reading, self.longest);
        workers.map_chunks(&mut self.problems, 1, |_, problem| {
            problem[0].show(&scores, codes, reading, longest);
            Ok(())
        })?;
        Ok(())
    }

    /// Counts what was gathered. Ranges that turned out too long are split for a later pass.
    ///
    /// # Errors
    /// [`Error::RangeTooLarge`] if one number alone has more rows than fit, [`Error::Cancelled`].
    pub fn end_pass(&mut self, workers: &Workers<'_>) -> Result<()> {
        let (classes, reading) = (self.settings.classes, self.reading);
        workers.map_chunks(&mut self.problems, 1, |_, problem| problem[0].count(classes, reading))?;
        Ok(())
    }

    /// Answers with exact values.
    ///
    /// # Errors
    /// As [`Sketch::answers`].
    pub fn answers(&self, sketch: &mut Sketch<T>, workers: &Workers<'_>) -> Result<Answers> {
        let classes = self.settings.classes;
        let mut exact = ExactWins { pairs: vec![0; classes * classes], columns: vec![0; classes * classes] };
        for counted in &self.problems {
            match counted.problem {
                Problem::Pair { c, d } => exact.pairs[c * classes + d] = counted.won()[d],
                Problem::Column { c } => exact.columns[c * classes..][..classes].copy_from_slice(&counted.won()),
            }
        }
        sketch.exact_answers(&exact, workers)
    }
}

impl<T: Score> Counted<T> {
    fn new(problem: Problem, settings: &SketchSettings, histograms: &[Histogram<u32>], longest: usize) -> Self {
        let classes = settings.classes;
        // Histograms with the class that their rows count for: the rest of a column as one other class.
        let sides: Vec<(usize, usize)> = match problem {
            Problem::Pair { c, d } => [c, d].map(|own| (own, settings.difference_index(c, d, own))).to_vec(),
            Problem::Column { c } if settings.columns_by_class => {
                (0..classes).map(|class| (class, settings.column_index(c, class))).collect()
            }
            Problem::Column { c } => {
                let rest = usize::from(c == 0);
                vec![(c, settings.column_index(c, c)), (rest, settings.column_index(c, rest))]
            }
        };
        // All bins are parts of those of the coarsest histogram.
        let level = sides.iter().map(|&(_, index)| histograms[index].level).max().unwrap_or(0);
        let mut bins: Vec<(u64, usize, u64)> = Vec::new();
        for &(class, index) in &sides {
            histograms[index].for_each(|bin, rows| bins.push((bin.first >> level, class, u64::from(rows))));
        }
        bins.sort_unstable();
        let counted =
            Self { problem, won_within: vec![0; classes], waiting: Vec::new(), active: Vec::new(), known: Vec::new() };
        let owner = counted.owner();
        let mut planner = Planner { counted, run: None, aside: None, longest: longest as u64 };
        for bin in bins.chunk_by(|a, b| a.0 == b.0) {
            let mut here = vec![0_u64; classes];
            for &(_, class, rows) in bin {
                here[class] += rows;
            }
            let rows: u64 = here.iter().sum();
            let first = bin[0].0 << level;
            let range = Range { first, last: first + ((1 << level) - 1), rows };
            planner.see(range, here, owner);
        }
        planner.finish()
    }

    /// The class that wins.
    const fn owner(&self) -> usize {
        match self.problem {
            Problem::Pair { c, .. } | Problem::Column { c } => c,
        }
    }

    fn show(&mut self, scores: &ScoreMatrix<'_, T>, codes: ClassCodes<'_>, reading: Reading, longest: usize) {
        if self.active.is_empty() {
            return;
        }
        for row in 0..codes.len() {
            let class = codes.get(row);
            let (own, other, code) = match self.problem {
                Problem::Pair { c, d } => {
                    if class != c && class != d {
                        continue;
                    }
                    let (own, other) = (scores.get(row, c), scores.get(row, d));
                    (own, other, place_of(own.into(), other.into(), reading).code)
                }
                Problem::Column { c } => {
                    let own = scores.get(row, c);
                    (own, T::ZERO, score_code(own.into()))
                }
            };
            let index = self.active.partition_point(|gathered| gathered.range.first <= code);
            if let Some(gathered) = index.checked_sub(1).map(|index| &mut self.active[index])
                && code <= gathered.range.last
            {
                gathered.add(Alike { class: class as u16, own, other, rows: 1 }, longest, self.problem, reading);
            }
        }
    }

    fn count(&mut self, classes: usize, reading: Reading) -> Result<()> {
        for gathered in std::mem::take(&mut self.active) {
            let Range { first, last, rows } = gathered.range;
            if gathered.is_too_long {
                if first == last {
                    return Err(Error::RangeTooLarge { rows });
                }
                let (parts, width) = (16.min(last - first + 1), (last - first) / 16 + 1);
                let starts = (0..parts).map(|part| first + part * width).take_while(|&start| start <= last);
                let part = |start: u64| Range { first: start, last: last.min(start + (width - 1)), rows: rows / parts };
                self.waiting.extend(starts.map(part));
                continue;
            }
            let mut here = vec![0; classes];
            for alike in &gathered.rows {
                here[usize::from(alike.class)] += u64::from(alike.rows);
            }
            self.count_within(gathered.rows, classes, reading);
            self.known.push((first, here));
        }
        Ok(())
    }

    /// Counts all pairs of some rows.
    fn count_within(&mut self, mut rows: Vec<Alike<T>>, classes: usize, reading: Reading) {
        let owner = self.owner();
        let mut below = vec![0_u64; classes];
        let mut group = |rows: &mut dyn Iterator<Item = (u16, u32)>| {
            let mut here = vec![0_u64; classes];
            rows.for_each(|(class, rows)| here[usize::from(class)] += u64::from(rows));
            for class in (0..classes).filter(|&class| class != owner && here[owner] > 0) {
                self.won_within[class] +=
                    u128::from(here[owner]) * (2 * u128::from(below[class]) + u128::from(here[class]));
            }
            below.iter_mut().zip(here).for_each(|(below, here)| *below += here);
        };
        if let Problem::Column { .. } = self.problem {
            rows.sort_unstable_by_key(|alike| alike.own.ordered());
            for equal in rows.chunk_by(|a, b| a.own.ordered() == b.own.ordered()) {
                group(&mut equal.iter().map(|alike| (alike.class, alike.rows)));
            }
            return;
        }
        let mut keys: Vec<Key> = rows.iter().map(|alike| Key::of(alike, reading)).collect();
        drop(rows);
        keys.sort_unstable_by(Key::order);
        for equal in keys.chunk_by(|a, b| a.order(b) == Ordering::Equal) {
            group(&mut equal.iter().map(|key| (key.class, key.rows)));
        }
    }

    /// Twice what class c wins against each class.
    fn won(&self) -> Vec<u128> {
        let (mut won, owner) = (self.won_within.clone(), self.owner());
        let mut known: Vec<&(u64, Vec<u64>)> = self.known.iter().collect();
        known.sort_unstable_by_key(|(first, _)| *first);
        let mut below = vec![0_u64; won.len()];
        for (_, here) in known {
            for (won, below) in won.iter_mut().zip(&below) {
                *won += 2 * u128::from(here[owner]) * u128::from(*below);
            }
            below.iter_mut().zip(here).for_each(|(below, here)| *below += here);
        }
        won[owner] = 0;
        won
    }
}

/// Puts bins together, in increasing order, to ranges that are gathered and ranges that need not be.
struct Planner<T> {
    counted: Counted<T>,
    /// The range to gather that neighbouring bins are added to.
    run: Option<Range>,
    /// Bins after it that hold rows of one side only.
    aside: Option<(Range, Vec<u64>)>,
    longest: u64,
}

impl<T> Planner<T> {
    /// Fewer rows of one side are gathered with their neighbours.
    const FEW: u64 = 256;

    fn see(&mut self, bin: Range, here: Vec<u64>, owner: usize) {
        let is_one_sided = here[owner] == 0 || here[owner] == bin.rows;
        if !is_one_sided {
            self.settle_aside();
            self.gather(bin);
            return;
        }
        match &mut self.aside {
            // Rows of the same side: nothing is won between them.
            Some((range, all)) if (all[owner] == 0) == (here[owner] == 0) => {
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
        if range.rows < Self::FEW {
            self.gather(range);
        } else {
            self.counted.waiting.extend(self.run.take());
            self.counted.known.push((range.first, here));
        }
    }

    fn gather(&mut self, bin: Range) {
        match &mut self.run {
            Some(run) if run.rows + bin.rows <= self.longest => {
                (run.last, run.rows) = (bin.last, run.rows + bin.rows);
            }
            run => self.counted.waiting.extend(run.replace(bin)),
        }
    }

    fn finish(mut self) -> Counted<T> {
        self.settle_aside();
        self.counted.waiting.extend(self.run);
        self.counted
    }
}

impl<T: Score> Gathered<T> {
    fn add(&mut self, row: Alike<T>, longest: usize, problem: Problem, reading: Reading) {
        if self.is_too_long {
            return;
        }
        self.rows.push(row);
        if self.rows.len() > longest {
            self.gather_equal(problem, reading);
            if self.rows.len() > longest / 4 * 3 {
                self.is_too_long = true;
                self.rows = Vec::new();
            }
        }
    }

    /// Rows of the same class and the same number as one.
    fn gather_equal(&mut self, problem: Problem, reading: Reading) {
        let key = |alike: &Alike<T>| {
            let (own, other): (f64, f64) = (alike.own.into(), alike.other.into());
            let by_scores = (alike.class, false, (own + 0.0).to_bits(), (other + 0.0).to_bits());
            match problem {
                Problem::Column { .. } => by_scores,
                Problem::Pair { .. } => match place_of(own, other, reading) {
                    Place { within: Place::UNKNOWN, .. } => by_scores,
                    Place { code, within } => (alike.class, true, code, within),
                },
            }
        };
        self.rows.sort_by_cached_key(key);
        self.rows.dedup_by(|next, kept| {
            let sum = kept.rows.checked_add(next.rows).filter(|_| key(next) == key(kept));
            kept.rows = sum.unwrap_or(kept.rows);
            sum.is_some()
        });
    }
}

/// Rows of a pair, to be sorted.
struct Key {
    place: Place,
    exact: ExactKey,
    class: u16,
    rows: u32,
}

impl Key {
    fn of<T: Score>(alike: &Alike<T>, reading: Reading) -> Self {
        let (a, b): (f64, f64) = (alike.own.into(), alike.other.into());
        let exact = match reading {
            Reading::Fractions => ExactKey::of_doubles(a, b),
            _ => ExactKey::plain(a, b),
        };
        Self { place: place_of(a, b, reading), exact, class: alike.class, rows: alike.rows }
    }

    fn order(&self, other: &Self) -> Ordering {
        let (own, others) = (self.place, other.place);
        let by_place = own.code.cmp(&others.code);
        if by_place != Ordering::Equal || (own.within != Place::UNKNOWN && others.within != Place::UNKNOWN) {
            return by_place.then(own.within.cmp(&others.within));
        }
        self.exact.cmp(&other.exact)
    }
}
