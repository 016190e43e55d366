//! Exact counts of rows that lie on many machines: each packs its rows into blocks of bytes by range of numbers, and the
//! blocks of a range meet where they are counted.
//!
//! ```text
//! a state of all rows ─► plan ─► (bytes) ─► update(rows) ─► take_blocks ─► receive ─► take_counts ─► add_counts ─► answers
//! where the plan is made        where rows lie                            where a part is counted   where the plan is
//! ```

use super::answers::{Answers, ExactWins};
use super::bytes::{Reader, write_number};
use super::packing::{Place, Task, read_place};
use super::places::{Column, Reading};
use super::ranges::{Known, Planned, Problem, won};
use super::settings::SketchSettings;
use super::state::{Sketch, transposed};
use crate::error::{Error, Result, RowArray};
use crate::float::Score;
use crate::parallel::Workers;
use crate::sample::{ClassCodes, ScoreMatrix};

/// The first bytes of a plan; the last of them counts the versions of the format.
const MAGIC: [u8; 8] = *b"mauc-r\0\x01";

/// More rows of a range than anybody has; pairs of them can be counted.
const MOST_ROWS: u64 = 1 << 48;

/// Exact counts, range by range, on many machines.
#[derive(Debug)]
pub struct RangeBlocks<T> {
    settings: SketchSettings,
    reading: Reading,
    tasks: Vec<Task<T>>,
    parts: usize,
    gathered_bytes: usize,
}

impl<T: Score> RangeBlocks<T> {
    /// A plan for the rows that a state has seen: ranges of at most about `longest` rows.
    ///
    /// # Errors
    /// [`Error::WeightedRanges`] if rows have weights, [`Error::OpenLattice`] if the state must be made again with the
    /// lattice that it found, [`Error::Cancelled`].
    pub fn new(sketch: &mut Sketch<T>, longest: usize, workers: &Workers<'_>) -> Result<Self> {
        let (settings, reading) = (sketch.settings, sketch.reading());
        let histograms = sketch.countable(workers)?;
        let problems = Problem::all(&settings);
        let tasks = workers.map(problems.len(), |index| {
            let planned = Planned::new(problems[index], &settings, histograms, longest, T::IS_SINGLE);
            let mut places = Vec::new();
            for range in planned.gathered {
                // A bin that is too long for one range. Numbers that close are spread evenly, or equal.
                let is_crowded = range.rows > longest as u64;
                let parts = if is_crowded { (4 * range.rows / longest as u64).clamp(1, 1 << 12) } else { 1 };
                places.extend(range.split(parts).map(|range| Place { range, part: 0, is_crowded }));
            }
            Ok(Task::new(problems[index], &settings, places, planned.known))
        })?;
        Ok(Self::of(settings, reading, tasks))
    }

    fn of(settings: SketchSettings, reading: Reading, mut tasks: Vec<Task<T>>) -> Self {
        let mut first = 0;
        for task in &mut tasks {
            task.first = first;
            first += task.places.len();
        }
        Self { settings, reading, tasks, parts: 1, gathered_bytes: 0 }
    }

    /// About how many keys are to be gathered: a row has one for each problem in which it is not left out.
    #[must_use]
    pub fn keys(&self) -> u64 {
        self.places().map(|place| place.range.rows).sum()
    }

    /// The number of ranges.
    #[must_use]
    pub fn ranges(&self) -> usize {
        self.places().count()
    }

    fn places(&self) -> impl Iterator<Item = &Place> {
        self.tasks.iter().flat_map(|task| &task.places)
    }

    /// Splits the work into parts of about the same size, which are counted apart from each other.
    pub fn split(&mut self, parts: usize) {
        // Those beyond the number of ranges would have nothing to do.
        self.parts = parts.clamp(1, self.ranges().max(1));
        let mut places: Vec<&mut Place> = self.tasks.iter_mut().flat_map(|task| &mut task.places).collect();
        places.sort_by_key(|place| std::cmp::Reverse(place.range.rows));
        // The largest first, each to the part that has the least.
        let mut least: std::collections::BTreeSet<(u64, u32)> = (0..self.parts as u32).map(|part| (0, part)).collect();
        for place in places {
            let (rows, part) = least.pop_first().unwrap_or_default();
            place.part = part;
            least.insert((rows + place.range.rows, part));
        }
    }

    /// The plan, for those who gather rows and those who count them.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        let SketchSettings { classes, differences, columns_by_class, columns, lattice, .. } = self.settings;
        bytes.extend([T::IS_SINGLE, differences, columns_by_class, columns].map(u8::from));
        for number in [classes, lattice.map_or(0, |m| m as usize), self.parts] {
            write_number(&mut bytes, number);
        }
        for task in &self.tasks {
            write_number(&mut bytes, task.places.len());
            for Place { range, part, is_crowded } in &task.places {
                bytes.extend(range.first.to_le_bytes());
                bytes.extend(range.last.to_le_bytes());
                bytes.extend(part.to_le_bytes());
                bytes.push(u8::from(*is_crowded));
            }
        }
        bytes
    }

    /// The plan that the bytes were made of.
    ///
    /// # Errors
    /// [`Error::DamagedSketch`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader(bytes);
        if reader.take::<8>()? != MAGIC || reader.flag()? != T::IS_SINGLE {
            return Err(Error::DamagedSketch { what: "they begin otherwise" });
        }
        let [differences, columns_by_class, columns] = [reader.flag()?, reader.flag()?, reader.flag()?];
        let [classes, lattice, parts] = [reader.number()?, reader.number()?, reader.number()?];
        let lattice = (lattice > 0)
            .then(|| u32::try_from(lattice).map_err(|_| Error::DamagedSketch { what: "the lattice is not possible" }))
            .transpose()?;
        if !(2..=1 << 16).contains(&classes) || parts == 0 {
            return Err(Error::DamagedSketch { what: "the number of classes or of parts is not possible" });
        }
        let settings = SketchSettings { classes, differences, columns_by_class, columns, memory: 0, lattice };
        // Every problem takes some bytes, so that damaged numbers cannot ask for much memory.
        if Problem::count(&settings) > bytes.len() {
            return Err(Error::DamagedSketch { what: "they are cut short" });
        }
        let mut tasks = Vec::new();
        for problem in Problem::all(&settings) {
            let places = (0..reader.count(21)?).map(|_| read_place(&mut reader)).collect::<Result<Vec<_>>>()?;
            let is_plan = places.iter().all(|place| (place.part as usize) < parts)
                && places.is_sorted_by(|a, b| a.range.last < b.range.first);
            if !is_plan {
                return Err(Error::DamagedSketch { what: "the ranges are not in order" });
            }
            tasks.push(Task::new(problem, &settings, places, Vec::new()));
        }
        if !reader.0.is_empty() {
            return Err(Error::DamagedSketch { what: "something follows their end" });
        }
        let blocks = Self::of(settings, Sketch::<T>::reading_of(&settings), tasks);
        if parts > blocks.ranges().max(1) {
            return Err(Error::DamagedSketch { what: "there are more parts than ranges" });
        }
        Ok(Self { parts, ..blocks })
    }

    /// Gathers the keys of some rows.
    ///
    /// # Errors
    /// [`Error::CodeOutOfRange`], [`Error::LengthMismatch`], [`Error::Cancelled`].
    pub fn update(&mut self, scores: ScoreMatrix<'_, T>, codes: ClassCodes<'_>, workers: &Workers<'_>) -> Result<()> {
        let (rows, classes) = (scores.rows(), self.settings.classes);
        if codes.len() != rows || scores.columns() != classes {
            return Err(Error::LengthMismatch { array: RowArray::Codes, rows, found: codes.len() });
        }
        if let Some(row) = (0..rows).find(|&row| codes.get(row) >= classes) {
            return Err(Error::CodeOutOfRange { row, code: codes.get(row), classes });
        }
        let mut by_class: Vec<Vec<T>> = vec![Vec::new(); classes];
        for row in 0..rows {
            by_class[codes.get(row)].extend((0..classes).map(|column| scores.get(row, column)));
        }
        let by_column: Vec<Vec<T>> = by_class.iter().map(|rows| transposed(rows, classes)).collect();
        let reading = self.reading;
        let columns: Vec<Vec<Column<'_, T>>> = by_column
            .iter()
            .map(|all| {
                let rows = all.len() / classes;
                (0..classes).map(|column| Column::new(&all[column * rows..][..rows], reading)).collect()
            })
            .collect();
        let settings = self.settings;
        let bytes =
            workers.map_chunks(&mut self.tasks, 1, |_, task| Ok(task[0].gather(&columns, &settings, reading)))?;
        self.gathered_bytes += bytes.into_iter().sum::<usize>();
        Ok(())
    }

    /// About how much memory the rows take that were gathered.
    #[must_use]
    pub const fn gathered_bytes(&self) -> usize {
        self.gathered_bytes
    }

    /// What was gathered, packed, by part; nothing is left.
    pub fn take_blocks(&mut self) -> Vec<(u32, Vec<u8>)> {
        self.gathered_bytes = 0;
        let mut blocks = vec![Vec::new(); self.parts];
        for task in &mut self.tasks {
            task.pack(&mut blocks, self.reading);
        }
        (0..).zip(blocks).filter(|(_, block)| !block.is_empty()).collect()
    }

    /// Takes the rows of a block.
    ///
    /// # Errors
    /// [`Error::DamagedSketch`].
    pub fn receive(&mut self, block: &[u8]) -> Result<()> {
        let mut reader = Reader(block);
        while !reader.0.is_empty() {
            let range = reader.index()?;
            let task = self.task_of(range)?;
            task.unpack(range, &mut reader)?;
        }
        Ok(())
    }

    fn task_of(&mut self, range: usize) -> Result<&mut Task<T>> {
        let index = self.tasks.partition_point(|task| task.first + task.places.len() <= range);
        self.tasks.get_mut(index).ok_or(Error::DamagedSketch { what: "a range is none of the plan" })
    }

    /// Counts what was received, range by range; nothing is left.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub fn take_counts(&mut self, workers: &Workers<'_>) -> Result<Vec<u8>> {
        let (classes, reading) = (self.settings.classes, self.reading);
        let found = workers.map_chunks(&mut self.tasks, 1, |_, task| Ok(task[0].count(classes, reading)))?;
        Ok(found.concat())
    }

    /// Takes counts.
    ///
    /// # Errors
    /// [`Error::DamagedSketch`].
    pub fn add_counts(&mut self, counts: &[u8]) -> Result<()> {
        let classes = self.settings.classes;
        let mut reader = Reader(counts);
        while !reader.0.is_empty() {
            let range = reader.index()?;
            let task = self.task_of(range)?;
            let mut rows = vec![0; classes];
            let mut won = vec![0; classes];
            for &class in &task.classes {
                rows[class] = u64::from_le_bytes(reader.take()?);
                won[class] = u128::from_le_bytes(reader.take()?);
            }
            let own = rows[task.problem.owner()];
            for &class in &task.classes {
                if rows[class] > MOST_ROWS || won[class] > 2 * u128::from(own) * u128::from(rows[class]) {
                    return Err(Error::DamagedSketch { what: "more was won than there are pairs of rows" });
                }
                task.won_within[class] += won[class];
            }
            let first = task.places[range - task.first].range.first;
            task.known.push(Known { first, rows, is_tied: false });
        }
        Ok(())
    }

    /// Answers with exact values, once the counts of all parts are there.
    ///
    /// # Errors
    /// [`Error::OtherRows`] if the rows that were counted are not those of the state; as [`Sketch::answers`].
    pub fn answers(&self, sketch: &mut Sketch<T>, workers: &Workers<'_>) -> Result<Answers> {
        if !self.tasks.iter().all(|task| task.is_complete(&sketch.rows)) {
            return Err(Error::OtherRows);
        }
        let found = self.tasks.iter().map(|task| {
            let won = won(task.problem.owner(), &task.won_within, &task.known);
            (task.problem, won)
        });
        sketch.exact_answers(&ExactWins::new(self.settings.classes, found), workers)
    }
}
