//! Exact counts of more rows than memory holds: the rows are gone through several times, and each time those of some
//! ranges of numbers are gathered and sorted.
//!
//! A state says how many rows of each class every range holds. Rows of different ranges are in a known order, so that
//! only pairs of rows of the same range have to be looked at.

use super::answers::{Answers, ExactWins};
use super::counting::{Alike, code_of, count, gather_equal};
use super::places::Reading;
use super::ranges::{Known, Planned, Problem, Range, won};
use super::settings::SketchSettings;
use super::state::Sketch;
use crate::error::{Error, Result};
use crate::float::Score;
use crate::parallel::Workers;
use crate::sample::{ClassCodes, ScoreMatrix};

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
    known: Vec<Known>,
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
        let (settings, reading) = (sketch.settings, sketch.reading());
        let histograms = sketch.countable(workers)?;
        let problems = Problem::all(&settings);
        // Sorting takes some times the memory of the rows themselves.
        let longest = (memory / 16 / size_of::<Alike<T>>()).max(16);
        let problems = workers.map(problems.len(), |index| {
            let planned = Planned::new(problems[index], &settings, histograms, longest, T::IS_SINGLE);
            Ok(Counted::new(problems[index], planned, settings.classes))
        })?;
        Ok(Self { settings, reading, problems, longest })
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
    /// [`Error::OtherRows`] if the rows that were shown are not those of the state; as [`Sketch::answers`].
    pub fn answers(&self, sketch: &mut Sketch<T>, workers: &Workers<'_>) -> Result<Answers> {
        let is_complete = |counted: &Counted<T>| {
            counted.problem.are_all_known(&counted.known, &sketch.rows, self.settings.columns_by_class)
        };
        if !self.problems.iter().all(is_complete) {
            return Err(Error::OtherRows);
        }
        let found = self
            .problems
            .iter()
            .map(|counted| (counted.problem, won(counted.problem.owner(), &counted.won_within, &counted.known)));
        sketch.exact_answers(&ExactWins::new(self.settings.classes, found), workers)
    }
}

impl<T: Score> Counted<T> {
    fn new(problem: Problem, planned: Planned, classes: usize) -> Self {
        let Planned { gathered, known } = planned;
        Self { problem, won_within: vec![0; classes], waiting: gathered, active: Vec::new(), known }
    }

    fn show(&mut self, scores: &ScoreMatrix<'_, T>, codes: ClassCodes<'_>, reading: Reading, longest: usize) {
        if self.active.is_empty() {
            return;
        }
        for row in 0..codes.len() {
            let class = codes.get(row);
            let (own, other) = match self.problem {
                Problem::Pair { c, d } if class == c || class == d => (scores.get(row, c), scores.get(row, d)),
                Problem::Pair { .. } => continue,
                Problem::Column { c } => (scores.get(row, c), T::ZERO),
            };
            let code = code_of(own, other, self.problem, reading);
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
            let range = gathered.range;
            if gathered.is_too_long {
                if range.first == range.last {
                    return Err(Error::RangeTooLarge { rows: range.rows });
                }
                self.waiting.extend(range.split(16));
                continue;
            }
            let found = count(&gathered.rows, self.problem, classes, reading);
            self.won_within.iter_mut().zip(found.won).for_each(|(sum, won)| *sum += won);
            self.known.push(Known { first: range.first, rows: found.rows, is_tied: false });
        }
        Ok(())
    }
}

impl<T: Score> Gathered<T> {
    fn add(&mut self, row: Alike<T>, longest: usize, problem: Problem, reading: Reading) {
        if self.is_too_long {
            return;
        }
        self.rows.push(row);
        if self.rows.len() > longest {
            gather_equal(&mut self.rows, problem, reading);
            if self.rows.len() > longest / 4 * 3 {
                self.is_too_long = true;
                self.rows = Vec::new();
            }
        }
    }
}
