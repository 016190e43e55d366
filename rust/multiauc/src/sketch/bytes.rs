//! A state as bytes, the same on every machine, and back. What does not fit together is refused.

use super::code::{COARSEST, Place};
use super::histogram::{Bins, Histogram};
use super::lattices::Lattices;
use super::mass::{Mass, Weight};
use super::settings::SketchSettings;
use super::state::{Histograms, Sketch};
use super::table::{Prefix, Table};
use crate::error::{Error, Result};
use crate::float::Score;
use crate::parallel::Workers;

/// The first bytes; the last of them counts the versions of the format.
const MAGIC: [u8; 8] = *b"mauc-s\0\x01";

impl<T: Score> Sketch<T> {
    /// All that the state holds. Equal rows in any order, in any parts, give equal bytes (weights within rounding).
    ///
    /// # Errors
    /// [`Error::InterruptedSketch`], [`Error::Cancelled`].
    pub fn to_bytes(&mut self, workers: &Workers<'_>) -> Result<Vec<u8>> {
        self.check_whole()?;
        self.settle(workers)?;
        let mut bytes = MAGIC.to_vec();
        bytes.push(u8::from(T::IS_SINGLE));
        let SketchSettings { classes, differences, columns_by_class, columns, memory, lattice } = self.settings;
        bytes.extend([differences, columns_by_class, columns, self.has_weights()].map(u8::from));
        for number in [classes, memory, lattice.map_or(0, |m| m as usize)] {
            write_number(&mut bytes, number);
        }
        self.rows.iter().for_each(|rows| bytes.extend(rows.to_le_bytes()));
        self.weights.iter().for_each(|weight| weight.write(&mut bytes));
        write_number(&mut bytes, self.lattices.denominators().len());
        self.lattices.denominators().iter().for_each(|m| bytes.extend(m.to_le_bytes()));
        match &self.histograms {
            Histograms::Rows(all) => all.iter().for_each(|histogram| write_histogram(&mut bytes, histogram)),
            Histograms::Weights(all) => all.iter().for_each(|histogram| write_histogram(&mut bytes, histogram)),
        }
        for sample in &self.samples {
            write_number(&mut bytes, sample.len());
            sample.hashes.iter().for_each(|hash| bytes.extend(hash.to_le_bytes()));
            for &score in &sample.scores {
                // A double holds a single; half of its bytes would do, but hardly matter.
                let value: f64 = score.into();
                bytes.extend(value.to_le_bytes());
            }
            sample.masses.iter().for_each(|mass| mass.write(&mut bytes));
        }
        Ok(bytes)
    }

    /// The state that the bytes were made of.
    ///
    /// # Errors
    /// [`Error::DamagedSketch`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader(bytes);
        if reader.take::<8>()? != MAGIC || reader.flag()? != T::IS_SINGLE {
            return Err(Error::DamagedSketch);
        }
        let [differences, columns_by_class, columns, has_weights] =
            [reader.flag()?, reader.flag()?, reader.flag()?, reader.flag()?];
        let [classes, memory, lattice] = [reader.number()?, reader.number()?, reader.number()?];
        let lattice = (lattice > 0).then(|| u32::try_from(lattice).map_err(|_| Error::DamagedSketch)).transpose()?;
        let settings = SketchSettings { classes, differences, columns_by_class, columns, memory, lattice };
        // Every histogram and every class takes some bytes, so that damaged numbers cannot ask for much memory.
        let is_possible = (2..=1 << 16).contains(&classes)
            && (differences || columns || columns_by_class)
            && memory < 1 << 48
            && memory >= settings.least_memory()
            && settings.histograms() <= bytes.len();
        if !is_possible {
            return Err(Error::DamagedSketch);
        }
        let mut sketch = Self::new(settings);
        for class in 0..classes {
            sketch.rows[class] = u64::from_le_bytes(reader.take()?);
        }
        for class in 0..classes {
            sketch.weights[class] = Weight::read(&mut reader)?;
        }
        let count = reader.count(4)?;
        let denominators = (0..count).map(|_| Ok(u32::from_le_bytes(reader.take()?))).collect::<Result<Vec<_>>>()?;
        if !denominators.is_sorted_by(|a, b| a < b) || denominators.first() == Some(&0) {
            return Err(Error::DamagedSketch);
        }
        sketch.lattices = Lattices::of(denominators);
        sketch.histograms = if has_weights {
            Histograms::Weights(read_histograms(&mut reader, &sketch)?)
        } else {
            Histograms::Rows(read_histograms(&mut reader, &sketch)?)
        };
        for sample in &mut sketch.samples {
            let count = reader.count(8 * classes)?;
            if count > sample.capacity() {
                return Err(Error::DamagedSketch);
            }
            let hashes = (0..count).map(|_| Ok(u64::from_le_bytes(reader.take()?))).collect::<Result<Vec<_>>>()?;
            let scores = (0..count * classes).map(|_| read_score(&mut reader)).collect::<Result<Vec<_>>>()?;
            let masses = (0..count).map(|_| Weight::read(&mut reader)).collect::<Result<Vec<_>>>()?;
            if !hashes.is_sorted() {
                return Err(Error::DamagedSketch);
            }
            sample.restore(hashes, scores, masses);
        }
        if reader.0.is_empty() { Ok(sketch) } else { Err(Error::DamagedSketch) }
    }
}

/// Bytes not read yet.
pub(super) struct Reader<'b>(pub &'b [u8]);

impl Reader<'_> {
    pub(super) fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk().ok_or(Error::DamagedSketch)?;
        self.0 = rest;
        Ok(*first)
    }

    pub(super) fn flag(&mut self) -> Result<bool> {
        match self.take()? {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err(Error::DamagedSketch),
        }
    }

    pub(super) fn number(&mut self) -> Result<usize> {
        usize::try_from(u64::from_le_bytes(self.take()?)).map_err(|_| Error::DamagedSketch)
    }

    /// A number of four bytes.
    pub(super) fn index(&mut self) -> Result<usize> {
        Ok(u32::from_le_bytes(self.take()?) as usize)
    }

    /// How many things of so many bytes follow.
    pub(super) fn count(&mut self, bytes: usize) -> Result<usize> {
        let count = self.number()?;
        let is_there = count.checked_mul(bytes).is_some_and(|bytes| bytes <= self.0.len());
        if is_there { Ok(count) } else { Err(Error::DamagedSketch) }
    }
}

pub(super) fn write_number(bytes: &mut Vec<u8>, number: usize) {
    bytes.extend((number as u64).to_le_bytes());
}

pub(super) fn read_score<T: Score>(reader: &mut Reader<'_>) -> Result<T> {
    let value = f64::from_le_bytes(reader.take()?);
    let score = T::nearest(value);
    if value.is_finite() && score.into() == value { Ok(score) } else { Err(Error::DamagedSketch) }
}

/// What is kept of a bin.
trait Stored: Sized {
    fn write(&self, bytes: &mut Vec<u8>);
    fn read(reader: &mut Reader<'_>) -> Result<Self>;
}

macro_rules! stored_integer {
    ($($type:ty),*) => {$(
        impl Stored for $type {
            fn write(&self, bytes: &mut Vec<u8>) {
                bytes.extend(self.to_le_bytes());
            }

            fn read(reader: &mut Reader<'_>) -> Result<Self> {
                Ok(Self::from_le_bytes(reader.take()?))
            }
        }
    )*};
}
stored_integer!(u32, u64);

impl Stored for Place {
    fn write(&self, bytes: &mut Vec<u8>) {
        self.code.write(bytes);
        self.within.write(bytes);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        Ok(Self { code: u64::read(reader)?, within: u64::read(reader)? })
    }
}

impl Stored for Weight {
    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.sum.to_le_bytes());
        bytes.extend(self.squares.to_le_bytes());
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        let [sum, squares] = [f64::from_le_bytes(reader.take()?), f64::from_le_bytes(reader.take()?)];
        let is_weight = |value: f64| value.is_finite() && value >= 0.0;
        if is_weight(sum) && is_weight(squares) { Ok(Self { sum, squares }) } else { Err(Error::DamagedSketch) }
    }
}

fn write_histogram<M: Mass + Stored>(bytes: &mut Vec<u8>, histogram: &Histogram<M>) {
    fn write<P: Prefix + Stored, M: Mass + Stored>(bytes: &mut Vec<u8>, kind: u8, table: &Table<P, M>) {
        bytes.push(kind);
        write_number(bytes, table.prefixes.len());
        table.prefixes.iter().for_each(|prefix| prefix.write(bytes));
        table.masses.iter().for_each(|mass| mass.write(bytes));
    }
    bytes.push(histogram.level as u8);
    match &histogram.bins {
        Bins::Numbers(table) => write(bytes, 0, table),
        Bins::Wide(table) => write(bytes, 1, table),
        Bins::Narrow(table) => write(bytes, 2, table),
    }
}

fn read_histograms<T: Score, M: Mass + Stored>(
    reader: &mut Reader<'_>,
    sketch: &Sketch<T>,
) -> Result<Vec<Histogram<M>>> {
    (0..sketch.settings.histograms()).map(|_| read_histogram(reader)).collect()
}

fn read_histogram<M: Mass + Stored>(reader: &mut Reader<'_>) -> Result<Histogram<M>> {
    let [level, kind] = reader.take()?;
    let level = u32::from(level);
    let bins = match kind {
        0 if level == 0 => Bins::Numbers(read_table(reader, level)?),
        1 if level < 32 => Bins::Wide(read_table(reader, level)?),
        2 if (32..=COARSEST).contains(&level) => Bins::Narrow(read_table(reader, level)?),
        _ => return Err(Error::DamagedSketch),
    };
    Ok(Histogram { level, bins })
}

fn read_table<P: Prefix + Stored, M: Mass + Stored>(reader: &mut Reader<'_>, level: u32) -> Result<Table<P, M>> {
    let count = reader.count(P::BYTES + M::BYTES)?;
    let prefixes = (0..count).map(|_| P::read(reader)).collect::<Result<Vec<P>>>()?;
    let masses = (0..count).map(|_| M::read(reader)).collect::<Result<Vec<M>>>()?;
    // Full bins are followed by another one of the same name, all others differ; all are as long as the level says.
    let is_table = prefixes.is_sorted()
        && prefixes.iter().all(|&prefix| P::of(prefix.place(level), level) == prefix)
        && masses.iter().all(|mass| mass.amount() > 0.0);
    if is_table { Ok(Table { prefixes, masses }) } else { Err(Error::DamagedSketch) }
}
