//! A state as bytes, the same on every machine, and back. What does not fit together is refused.

use super::code::{COARSEST, Place};
use super::histogram::{Bins, Histogram};
use super::lattices::Lattices;
use super::mass::{Mass, Weight};
use super::settings::{Contents, SketchSettings};
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
            return Err(Error::DamagedSketch { what: "they begin otherwise" });
        }
        let [differences, columns_by_class, columns, has_weights] =
            [reader.flag()?, reader.flag()?, reader.flag()?, reader.flag()?];
        let [classes, memory, lattice] = [reader.number()?, reader.number()?, reader.number()?];
        let lattice = (lattice > 0)
            .then(|| u32::try_from(lattice).map_err(|_| Error::DamagedSketch { what: "the lattice is not possible" }))
            .transpose()?;
        let settings = SketchSettings { classes, differences, columns_by_class, columns, memory, lattice };
        // Every histogram and every class takes some bytes, so that damaged numbers cannot ask for much memory.
        let is_possible = (2..=1 << 16).contains(&classes)
            && (differences || columns || columns_by_class)
            && memory < 1 << 48
            && memory >= settings.least_memory()
            && settings.histograms() <= bytes.len();
        if !is_possible {
            return Err(Error::DamagedSketch {
                what: "the number of classes, the metrics or the memory is not possible",
            });
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
            return Err(Error::DamagedSketch { what: "the lattices are not in order" });
        }
        sketch.lattices = Lattices::of(denominators);
        sketch.histograms = if has_weights {
            Histograms::Weights(read_histograms(&mut reader, &sketch)?)
        } else {
            Histograms::Rows(read_histograms(&mut reader, &sketch)?)
        };
        for sample in &mut sketch.samples {
            let count = reader.count(8 + 8 * classes + Weight::BYTES)?;
            if count > sample.capacity() {
                return Err(Error::DamagedSketch { what: "a sample has more rows than it can" });
            }
            let hashes = (0..count).map(|_| Ok(u64::from_le_bytes(reader.take()?))).collect::<Result<Vec<_>>>()?;
            let scores = (0..count * classes).map(|_| read_score(&mut reader)).collect::<Result<Vec<_>>>()?;
            let masses = (0..count).map(|_| Weight::read(&mut reader)).collect::<Result<Vec<_>>>()?;
            if !hashes.is_sorted() {
                return Err(Error::DamagedSketch { what: "the rows of a sample are not in order" });
            }
            sample.restore(hashes, scores, masses);
        }
        if reader.0.is_empty() {
            sketch.consistent()
        } else {
            Err(Error::DamagedSketch { what: "something follows their end" })
        }
    }
}

impl<T: Score> Sketch<T> {
    /// Itself, if what it says about its rows in several places is the same everywhere.
    ///
    /// # Errors
    /// [`Error::DamagedSketch`].
    fn consistent(self) -> Result<Self> {
        let is_same = match &self.histograms {
            Histograms::Rows(histograms) => self.holds_rows(histograms),
            Histograms::Weights(histograms) => self.holds_weights(histograms),
        };
        if !is_same {
            return Err(Error::DamagedSketch { what: "a histogram has other rows than its classes" });
        }
        for (class, sample) in self.samples.iter().enumerate() {
            let found: f64 = sample.masses.iter().map(|mass| mass.sum).sum();
            let all = if self.has_weights() { self.weights[class].sum } else { self.rows[class] as f64 };
            // A sample that has room left has seen no other rows.
            let fits =
                if sample.len() < sample.capacity() { is_close(found, all) } else { found <= all * (1.0 + CLOSE) };
            if !fits || !sample.has_own_hashes() {
                return Err(Error::DamagedSketch { what: "a sample has other rows than its class" });
            }
        }
        Ok(self)
    }

    fn holds_rows(&self, histograms: &[Histogram<u32>]) -> bool {
        let all: u128 = self.rows.iter().copied().map(u128::from).sum();
        let expected = |contents: Contents| match contents {
            Contents::Difference { class, .. } | Contents::Column { class, .. } => u128::from(self.rows[class]),
            Contents::Rest { c } => all - u128::from(self.rows[c]),
        };
        self.settings.contents().into_iter().zip(histograms).all(|(contents, histogram)| {
            let mut found = 0;
            histogram.for_each(|_, rows| found += u128::from(rows));
            found == expected(contents)
        })
    }

    fn holds_weights(&self, histograms: &[Histogram<Weight>]) -> bool {
        let are_weights = self.rows.iter().zip(&self.weights).all(|(&rows, weight)| {
            let (rows, Weight { sum, squares }) = (rows as f64, *weight);
            // What Cauchy and Schwarz say of the squares of so many numbers.
            let most = 1.0 + CLOSE;
            (rows > 0.0) == (sum > 0.0)
                && rows < MOST_ROWS
                && squares <= sum * sum * most
                && sum * sum <= rows * squares * most
        });
        let all: f64 = self.weights.iter().map(|weight| weight.sum).sum();
        are_weights
            && self.settings.contents().into_iter().zip(histograms).all(|(contents, histogram)| {
                let mut found = 0.0;
                histogram.for_each(|_, weight| found += weight.sum);
                match contents {
                    Contents::Difference { class, .. } | Contents::Column { class, .. } => {
                        is_close(found, self.weights[class].sum)
                    }
                    Contents::Rest { c } => is_close(found + self.weights[c].sum, all),
                }
            })
    }
}

/// Sums of weights in another order differ by less, beside their size.
const CLOSE: f64 = 1e-6;
/// More rows than anybody has, few enough that sums of them are exact.
const MOST_ROWS: f64 = (1_u64 << 48) as f64;

fn is_close(a: f64, b: f64) -> bool {
    (a - b).abs() <= CLOSE * a.max(b)
}

/// Bytes not read yet.
pub(super) struct Reader<'b>(pub &'b [u8]);

impl Reader<'_> {
    pub(super) fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk().ok_or(Error::DamagedSketch { what: "they are cut short" })?;
        self.0 = rest;
        Ok(*first)
    }

    pub(super) fn flag(&mut self) -> Result<bool> {
        match self.take()? {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err(Error::DamagedSketch { what: "a flag is neither 0 nor 1" }),
        }
    }

    pub(super) fn number(&mut self) -> Result<usize> {
        usize::try_from(u64::from_le_bytes(self.take()?))
            .map_err(|_| Error::DamagedSketch { what: "a number is too large" })
    }

    /// A number of four bytes.
    pub(super) fn index(&mut self) -> Result<usize> {
        Ok(u32::from_le_bytes(self.take()?) as usize)
    }

    /// How many things of so many bytes follow.
    pub(super) fn count(&mut self, bytes: usize) -> Result<usize> {
        let count = self.number()?;
        let is_there = count.checked_mul(bytes).is_some_and(|bytes| bytes <= self.0.len());
        if is_there { Ok(count) } else { Err(Error::DamagedSketch { what: "they are cut short" }) }
    }
}

pub(super) fn write_number(bytes: &mut Vec<u8>, number: usize) {
    bytes.extend((number as u64).to_le_bytes());
}

pub(super) fn read_score<T: Score>(reader: &mut Reader<'_>) -> Result<T> {
    let value = f64::from_le_bytes(reader.take()?);
    let score = T::nearest(value);
    if value.is_finite() && score.into() == value {
        Ok(score)
    } else {
        Err(Error::DamagedSketch { what: "a score is not a finite number of the precision of the others" })
    }
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
        if is_weight(sum) && is_weight(squares) {
            Ok(Self { sum, squares })
        } else {
            Err(Error::DamagedSketch { what: "a weight is not a number that weights can be" })
        }
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
    let read = |contents| {
        let histogram = read_histogram(reader)?;
        // Scores are known by their integers, so that their bins never need more.
        let is_of_scores = !matches!(contents, Contents::Difference { .. });
        if is_of_scores && matches!(histogram.bins, Bins::Numbers(_)) {
            return Err(Error::DamagedSketch { what: "a histogram has an unknown kind" });
        }
        Ok(histogram)
    };
    sketch.settings.contents().into_iter().map(read).collect()
}

fn read_histogram<M: Mass + Stored>(reader: &mut Reader<'_>) -> Result<Histogram<M>> {
    let [level, kind] = reader.take()?;
    let level = u32::from(level);
    let bins = match kind {
        0 if level == 0 => Bins::Numbers(read_table(reader, level)?),
        1 if level < 32 => Bins::Wide(read_table(reader, level)?),
        2 if (32..=COARSEST).contains(&level) => Bins::Narrow(read_table(reader, level)?),
        _ => return Err(Error::DamagedSketch { what: "a histogram has an unknown kind" }),
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
    if is_table {
        Ok(Table { prefixes, masses })
    } else {
        Err(Error::DamagedSketch { what: "the bins of a histogram are not in order" })
    }
}
