//! Rows on their way from where they lie to where they are counted: gathered by range, packed, and unpacked.

use super::bytes::{Reader, write_number};
use super::code::score_code;
use super::counting::{Alike, Counts, count, gather_equal};
use super::places::{Column, Reading, for_each_difference};
use super::ranges::{Known, Problem, Range};
use super::settings::SketchSettings;
use crate::error::{Error, Result};
use crate::float::Score;
use crate::keys::FractionCache;

/// A range, and the part of the work that it belongs to.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub range: Range,
    pub part: u32,
    /// There are so many rows that some of them may well be equal, and travel as one.
    pub is_crowded: bool,
}

/// Rows of one range and one side.
#[derive(Debug, Clone)]
pub(super) struct Rows<T> {
    own: Vec<T>,
    /// Empty where one score is ranked.
    other: Vec<T>,
    /// How many rows each entry stands for; empty if each is one.
    counts: Vec<u32>,
}

/// The ranges of a problem.
#[derive(Debug)]
pub(super) struct Task<T> {
    pub problem: Problem,
    /// The classes of the sides.
    pub classes: Vec<usize>,
    pub places: Vec<Place>,
    /// By range and side.
    pub rows: Vec<Rows<T>>,
    /// The number of its first range among those of all problems.
    pub first: usize,
    pub known: Vec<Known>,
    pub won_within: Vec<u128>,
}

impl<T: Score> Task<T> {
    pub(super) fn new(problem: Problem, settings: &SketchSettings, places: Vec<Place>, known: Vec<Known>) -> Self {
        let classes: Vec<usize> = problem.sides(settings).into_iter().map(|(class, _)| class).collect();
        let rows = vec![Rows { own: Vec::new(), other: Vec::new(), counts: Vec::new() }; places.len() * classes.len()];
        Self { problem, classes, places, rows, first: 0, known, won_within: vec![0; settings.classes] }
    }

    /// Gathers rows, given by class and column; the bytes that they take.
    pub(super) fn gather(
        &mut self,
        columns: &[Vec<Column<'_, T>>],
        settings: &SketchSettings,
        reading: Reading,
    ) -> usize {
        if self.places.is_empty() {
            return 0;
        }
        let mut fractions = FractionCache::default();
        let (sides, mut gathered) = (self.classes.len(), 0);
        for (class, columns) in columns.iter().enumerate() {
            let Some(side) = self.problem.side_of(class, settings) else { continue };
            let (places, all) = (&self.places, &mut self.rows);
            let find = |code: u64| {
                let index = places.partition_point(|place| place.range.first <= code).checked_sub(1)?;
                (code <= places[index].range.last).then_some(index * sides + side)
            };
            match self.problem {
                Problem::Pair { c, d } => {
                    let (own, other) = (columns[c], columns[d]);
                    let mut scores = own.scores.iter().zip(other.scores);
                    for_each_difference(own, other, reading, &mut fractions, |place| {
                        let (&own, &other) = scores.next().expect("a place for every row");
                        if let Some(index) = find(place.code) {
                            all[index].own.push(own);
                            all[index].other.push(other);
                            gathered += 2;
                        }
                    });
                }
                Problem::Column { c } => {
                    for &own in columns[c].scores {
                        if let Some(index) = find(score_code(own.into())) {
                            all[index].own.push(own);
                            gathered += 1;
                        }
                    }
                }
            }
        }
        gathered * size_of::<T>()
    }

    /// Adds what was gathered to the blocks of its parts.
    pub(super) fn pack(&mut self, blocks: &mut [Vec<u8>], reading: Reading) {
        let sides = self.classes.len();
        for (index, rows) in self.rows.iter_mut().enumerate() {
            if rows.own.is_empty() {
                continue;
            }
            let (place, side) = (&self.places[index / sides], index % sides);
            if place.is_crowded {
                rows.gather_equal(self.problem, self.classes[side], reading);
            }
            let block = &mut blocks[place.part as usize];
            block.extend(((self.first + index / sides) as u32).to_le_bytes());
            block.extend((side as u16).to_le_bytes());
            block.push(u8::from(!rows.counts.is_empty()));
            write_number(block, rows.own.len());
            write_scores(block, &rows.own);
            write_scores(block, &rows.other);
            rows.counts.iter().for_each(|count| block.extend(count.to_le_bytes()));
            // Buffers are kept: as many rows may come again.
            rows.own.clear();
            rows.other.clear();
            rows.counts.clear();
        }
    }

    /// Takes the rows of a range from a block.
    ///
    /// # Errors
    /// [`Error::DamagedSketch`].
    pub(super) fn unpack(&mut self, range: usize, reader: &mut Reader<'_>) -> Result<()> {
        let side = usize::from(u16::from_le_bytes(reader.take()?));
        let has_counts = reader.flag()?;
        let is_pair = matches!(self.problem, Problem::Pair { .. });
        if side >= self.classes.len() {
            return Err(Error::DamagedSketch { what: "a class is none of its range" });
        }
        let count = reader.count(size_of::<T>() * (1 + usize::from(is_pair)) + 4 * usize::from(has_counts))?;
        let rows = &mut self.rows[(range - self.first) * self.classes.len() + side];
        if has_counts && rows.counts.is_empty() {
            rows.counts = vec![1; rows.own.len()];
        }
        read_scores(reader, count, &mut rows.own)?;
        if is_pair {
            read_scores(reader, count, &mut rows.other)?;
        }
        if has_counts {
            for _ in 0..count {
                rows.counts.push(u32::from_le_bytes(reader.take()?));
            }
        } else if !rows.counts.is_empty() {
            rows.counts.resize(rows.own.len(), 1);
        }
        Ok(())
    }

    /// The counts of all ranges that rows were received of.
    pub(super) fn count(&mut self, classes: usize, reading: Reading) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (index, sides) in self.rows.chunks_mut(self.classes.len()).enumerate() {
            let alike: Vec<Alike<T>> =
                sides.iter().zip(&self.classes).flat_map(|(rows, &class)| rows.alike(class)).collect();
            for rows in sides {
                (rows.own, rows.other, rows.counts) = (Vec::new(), Vec::new(), Vec::new());
            }
            if alike.is_empty() {
                continue;
            }
            let Counts { rows, won } = count(&alike, self.problem, classes, reading);
            bytes.extend(((self.first + index) as u32).to_le_bytes());
            for &class in &self.classes {
                bytes.extend(rows[class].to_le_bytes());
                bytes.extend(won[class].to_le_bytes());
            }
        }
        bytes
    }

    /// Whether the rows that are known are all rows.
    pub(super) fn is_complete(&self, rows: &[u64]) -> bool {
        self.problem.are_all_known(&self.known, rows, self.classes.len() == rows.len())
    }
}

impl<T: Score> Rows<T> {
    fn alike(&self, class: usize) -> impl Iterator<Item = Alike<T>> {
        (0..self.own.len()).map(move |row| Alike {
            class: class as u16,
            own: self.own[row],
            other: self.other.get(row).copied().unwrap_or(T::ZERO),
            rows: self.counts.get(row).copied().unwrap_or(1),
        })
    }

    /// Equal rows as one.
    fn gather_equal(&mut self, problem: Problem, class: usize, reading: Reading) {
        let mut alike: Vec<Alike<T>> = self.alike(class).collect();
        gather_equal(&mut alike, problem, reading);
        self.own = alike.iter().map(|alike| alike.own).collect();
        if !self.other.is_empty() {
            self.other = alike.iter().map(|alike| alike.other).collect();
        }
        self.counts = alike.iter().map(|alike| alike.rows).collect();
    }
}

pub(super) fn read_place(reader: &mut Reader<'_>) -> Result<Place> {
    let [first, last] = [u64::from_le_bytes(reader.take()?), u64::from_le_bytes(reader.take()?)];
    let part = u32::from_le_bytes(reader.take()?);
    let place = Place { range: Range { first, last, rows: 0 }, part, is_crowded: reader.flag()? };
    if first <= last { Ok(place) } else { Err(Error::DamagedSketch { what: "a range ends before it begins" }) }
}

fn write_scores<T: Score>(bytes: &mut Vec<u8>, scores: &[T]) {
    bytes.reserve(size_of_val(scores));
    for &score in scores {
        let value: f64 = score.into();
        if T::IS_SINGLE {
            bytes.extend((value as f32).to_le_bytes());
        } else {
            bytes.extend(value.to_le_bytes());
        }
    }
}

fn read_scores<T: Score>(reader: &mut Reader<'_>, count: usize, scores: &mut Vec<T>) -> Result<()> {
    scores.reserve(count);
    for _ in 0..count {
        let value = if T::IS_SINGLE {
            f64::from(f32::from_le_bytes(reader.take()?))
        } else {
            f64::from_le_bytes(reader.take()?)
        };
        if !value.is_finite() {
            return Err(Error::DamagedSketch { what: "a score is not a finite number" });
        }
        scores.push(T::nearest(value));
    }
    Ok(())
}
