//! The state of a stream: what must be kept of its rows, so that answers are exact or have guaranteed bounds.

use super::code::score_code;
use super::histogram::{Bins, Histogram};
use super::lattices::Lattices;
use super::mass::{Mass, Weight};
use super::places::{Column, Reading, for_each_difference};
use super::row_sample::RowSample;
use super::settings::{Contents, SketchSettings};
use super::table::{Places, Prefix, Table};
use crate::error::{Error, Result, RowArray};
use crate::float::Score;
use crate::keys::FractionCache;
use crate::parallel::Workers;
use crate::sample::{ClassCodes, ScoreMatrix};

/// Histograms of rows, or of weights of rows.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Histograms {
    Rows(Vec<Histogram<u32>>),
    Weights(Vec<Histogram<Weight>>),
}

/// A state that rows are added to, and that merges with others.
#[derive(Debug, Clone)]
pub struct Sketch<T> {
    pub(super) settings: SketchSettings,
    /// Rows of positive weight of each class.
    pub(super) rows: Vec<u64>,
    pub(super) weights: Vec<Weight>,
    pub(super) lattices: Lattices,
    pub(super) histograms: Histograms,
    pub(super) samples: Vec<RowSample<T>>,
    /// Rows that are not in the histograms yet, by class.
    waiting: Vec<Waiting<T>>,
    waiting_bytes: usize,
    /// Whether an update was interrupted, so that nobody knows which rows are in.
    is_partial: bool,
}

#[derive(Debug, Clone, Default)]
struct Waiting<T> {
    /// Row by row.
    scores: Vec<T>,
    weights: Vec<f64>,
}

/// Weights outside of this range would make squares and sums of them useless.
const WEIGHTS: std::ops::RangeInclusive<f64> = 1e-100..=1e100;

impl<T: Score> Sketch<T> {
    /// An empty one.
    #[must_use]
    pub fn new(settings: SketchSettings) -> Self {
        let classes = settings.classes;
        let empty = |contents: Contents| match contents {
            Contents::Difference { .. } => Histogram::of_numbers(),
            _ => Histogram::of_codes(),
        };
        let lattices = if T::IS_SINGLE && settings.lattice.is_none() { Lattices::all() } else { Lattices::of(vec![]) };
        Self {
            settings,
            rows: vec![0; classes],
            weights: vec![Weight { sum: 0.0, squares: 0.0 }; classes],
            lattices,
            histograms: Histograms::Rows(settings.contents().into_iter().map(empty).collect()),
            samples: (0..classes).map(|_| RowSample::new(classes, settings.sample_rows::<T>())).collect(),
            waiting: vec![Waiting { scores: Vec::new(), weights: Vec::new() }; classes],
            waiting_bytes: 0,
            is_partial: false,
        }
    }

    /// Rows of positive weight of each class.
    #[must_use]
    pub fn rows(&self) -> &[u64] {
        &self.rows
    }

    /// The coarsest lattice 1/m that holds all scores, where a single of them does not show it.
    #[must_use]
    pub fn lattice(&self) -> Option<u32> {
        self.lattices.coarsest()
    }

    /// What it was made for.
    #[must_use]
    pub const fn settings(&self) -> &SketchSettings {
        &self.settings
    }

    pub(super) const fn has_weights(&self) -> bool {
        matches!(self.histograms, Histograms::Weights(_))
    }

    /// Adds rows; none of them if one is not as it should be.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::NonFiniteScore`], [`Error::CodeOutOfRange`], [`Error::InvalidWeight`];
    /// [`Error::Cancelled`], after which the state is of no use, and [`Error::InterruptedSketch`] says so.
    pub fn update(
        &mut self,
        scores: ScoreMatrix<'_, T>,
        codes: ClassCodes<'_>,
        weights: Option<&[f64]>,
        workers: &Workers<'_>,
    ) -> Result<()> {
        self.check_whole()?;
        self.check(&scores, codes, weights)?;
        self.is_partial = true;
        if weights.is_some() {
            self.take_weights();
        }
        let (columns, has_weights) = (self.settings.classes, self.has_weights());
        let mut buffer = Vec::with_capacity(columns);
        for row in 0..scores.rows() {
            let weight = weights.map_or(1.0, |weights| weights[row]);
            if weight == 0.0 {
                continue;
            }
            let scores = if let Some(scores) = scores.contiguous_row(row) {
                scores
            } else {
                buffer.clear();
                buffer.extend((0..columns).map(|column| scores.get(row, column)));
                &buffer
            };
            let class = codes.get(row);
            self.lattices.see(scores);
            self.rows[class] += 1;
            let waiting = &mut self.waiting[class];
            waiting.scores.extend_from_slice(scores);
            if has_weights {
                waiting.weights.push(weight);
                self.weights[class].add(Weight { sum: weight, squares: weight * weight });
            }
            self.waiting_bytes += columns * size_of::<T>();
            if self.waiting_bytes >= self.settings.waiting_bytes() {
                self.flush(workers)?;
            }
        }
        self.is_partial = false;
        Ok(())
    }

    /// # Errors
    /// [`Error::InterruptedSketch`] if an update did not come to its end.
    pub(super) const fn check_whole(&self) -> Result<()> {
        if self.is_partial { Err(Error::InterruptedSketch) } else { Ok(()) }
    }

    /// # Errors
    /// As [`update`](Self::update).
    fn check(&self, scores: &ScoreMatrix<'_, T>, codes: ClassCodes<'_>, weights: Option<&[f64]>) -> Result<()> {
        let (rows, classes) = (scores.rows(), self.settings.classes);
        if codes.len() != rows {
            return Err(Error::LengthMismatch { array: RowArray::Codes, rows, found: codes.len() });
        }
        if let Some(weights) = weights {
            if weights.len() != rows {
                return Err(Error::LengthMismatch { array: RowArray::Weights, rows, found: weights.len() });
            }
            if let Some(row) = weights.iter().position(|weight| *weight != 0.0 && !WEIGHTS.contains(weight)) {
                return Err(Error::InvalidWeight { row, value: weights[row] });
            }
        }
        for row in 0..rows {
            let code = codes.get(row);
            if code >= classes {
                return Err(Error::CodeOutOfRange { row, code, classes });
            }
            let finite = |score: T| -> bool { score.into().is_finite() };
            let wrong = match scores.contiguous_row(row) {
                Some(scores) => scores.iter().position(|&score| !finite(score)),
                None => (0..scores.columns()).position(|column| !finite(scores.get(row, column))),
            };
            if let Some(column) = wrong.filter(|_| weights.is_none_or(|weights| weights[row] > 0.0)) {
                return Err(Error::NonFiniteScore { row, column, value: scores.get(row, column).into() });
            }
        }
        Ok(())
    }

    /// From now on rows have weights; those before it weigh 1.
    fn take_weights(&mut self) {
        let Histograms::Rows(histograms) = &self.histograms else { return };
        self.histograms = Histograms::Weights(histograms.iter().map(weighted).collect());
        for (class, waiting) in self.waiting.iter_mut().enumerate() {
            waiting.weights = vec![1.0; waiting.scores.len() / self.settings.classes];
            let rows = self.rows[class] as f64;
            self.weights[class] = Weight { sum: rows, squares: rows };
        }
        let bytes = self.settings.histogram_bytes();
        if let Histograms::Weights(histograms) = &mut self.histograms {
            for histogram in histograms {
                histogram.fit(bytes);
            }
        }
    }

    /// Adds all that another one holds.
    ///
    /// # Errors
    /// [`Error::OtherSketch`] if it was made with other settings, [`Error::InterruptedSketch`], [`Error::Cancelled`].
    pub fn merge(&mut self, mut other: Self, workers: &Workers<'_>) -> Result<()> {
        self.check_whole()?;
        other.check_whole()?;
        if self.settings != other.settings {
            return Err(Error::OtherSketch);
        }
        self.flush(workers)?;
        other.settle(workers)?;
        if self.has_weights() {
            other.take_weights();
        } else if other.has_weights() {
            self.take_weights();
        }
        let bytes = self.settings.histogram_bytes();
        match (&mut self.histograms, other.histograms) {
            (Histograms::Rows(own), Histograms::Rows(others)) => merge_all(own, others, bytes),
            (Histograms::Weights(own), Histograms::Weights(others)) => merge_all(own, others, bytes),
            _ => unreachable!("both have weights or neither has"),
        }
        for class in 0..self.settings.classes {
            self.rows[class] += other.rows[class];
            self.weights[class].add(other.weights[class]);
            self.samples[class].merge(&other.samples[class]);
        }
        self.lattices.merge(&other.lattices);
        Ok(())
    }

    /// The histograms, if rows can be counted range by range.
    ///
    /// # Errors
    /// [`Error::WeightedRanges`], [`Error::OpenLattice`], [`Error::InterruptedSketch`], [`Error::Cancelled`].
    pub(super) fn countable(&mut self, workers: &Workers<'_>) -> Result<&[Histogram<u32>]> {
        self.check_whole()?;
        self.settle(workers)?;
        if let Some(m) = self.lattices.coarsest() {
            return Err(Error::OpenLattice { m });
        }
        match &self.histograms {
            Histograms::Rows(histograms) => Ok(histograms),
            Histograms::Weights(_) => Err(Error::WeightedRanges),
        }
    }

    /// What scores stand for while rows come in.
    pub(super) const fn reading(&self) -> Reading {
        Self::reading_of(&self.settings)
    }

    pub(super) const fn reading_of(settings: &SketchSettings) -> Reading {
        match settings.lattice {
            Some(m) => Reading::Lattice(m),
            None if T::IS_SINGLE => Reading::Themselves,
            None => Reading::Fractions,
        }
    }

    /// All rows in the histograms, and the samples in order.
    ///
    /// # Errors
    /// [`Error::Cancelled`]; then nothing has changed.
    pub fn settle(&mut self, workers: &Workers<'_>) -> Result<()> {
        self.flush(workers)?;
        self.samples.iter_mut().for_each(RowSample::tidy);
        Ok(())
    }

    /// Sorts all rows that wait into the histograms.
    fn flush(&mut self, workers: &Workers<'_>) -> Result<()> {
        if self.waiting_bytes == 0 {
            return Ok(());
        }
        workers.check()?;
        let classes = self.settings.classes;
        let by_column = workers.map(classes, |class| Ok(transposed(&self.waiting[class].scores, classes)))?;
        let reading = self.reading();
        let columns = workers.map(classes, |class| {
            let rows = self.waiting[class].scores.len() / classes;
            let column = |c: usize| Column::new(&by_column[class][c * rows..][..rows], reading);
            Ok((0..classes).map(column).collect::<Vec<_>>())
        })?;
        let weights: Vec<&[f64]> = self.waiting.iter().map(|waiting| &waiting.weights[..]).collect();
        let batch = Batch { columns: &columns, weights: &weights, reading };
        let (contents, bytes) = (self.settings.contents(), self.settings.histogram_bytes());
        // Not to be interrupted half-way: rows would count twice.
        let whole = workers.uninterrupted();
        match &mut self.histograms {
            Histograms::Rows(histograms) => batch.add_to(histograms, &contents, bytes, &whole)?,
            Histograms::Weights(histograms) => batch.add_to(histograms, &contents, bytes, &whole)?,
        }
        let waiting = &self.waiting;
        whole.map_chunks(&mut self.samples, 1, |class, sample| {
            let Waiting { scores, weights } = &waiting[class];
            sample[0].add(scores, |row| weights.get(row).copied().unwrap_or(1.0));
            Ok(())
        })?;
        for waiting in &mut self.waiting {
            waiting.scores.clear();
            waiting.weights.clear();
        }
        self.waiting_bytes = 0;
        Ok(())
    }
}

/// Rows of all classes, on their way into the histograms.
struct Batch<'b, T> {
    /// By class and column.
    columns: &'b [Vec<Column<'b, T>>],
    weights: &'b [&'b [f64]],
    reading: Reading,
}

impl<T: Score> Batch<'_, T> {
    fn add_to<M: Mass>(
        &self,
        histograms: &mut [Histogram<M>],
        contents: &[Contents],
        bytes: usize,
        workers: &Workers<'_>,
    ) -> Result<()> {
        workers.map_chunks(histograms, 1, |index, histogram| {
            let histogram = &mut histogram[0];
            match contents[index] {
                Contents::Difference { c, d, class } if !self.columns[class][c].scores.is_empty() => {
                    let (own, other) = (self.columns[class][c], self.columns[class][d]);
                    let mut places = Vec::with_capacity(own.scores.len());
                    let mut fractions = FractionCache::default();
                    for_each_difference(own, other, self.reading, &mut fractions, |place| places.push(place));
                    histogram.add(&Places::Numbers(places), self.weights[class], bytes);
                }
                Contents::Column { c, class } if !self.columns[class][c].scores.is_empty() => {
                    let places = Places::Codes(codes(self.columns[class][c]).collect());
                    histogram.add(&places, self.weights[class], bytes);
                }
                Contents::Rest { c } => {
                    let others = || (0..self.columns.len()).filter(|&class| class != c);
                    let weights: Vec<f64> = others().flat_map(|class| self.weights[class].iter().copied()).collect();
                    let places = Places::Codes(others().flat_map(|class| codes(self.columns[class][c])).collect());
                    histogram.add(&places, &weights, bytes);
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(())
    }
}

fn codes<T: Score>(column: Column<'_, T>) -> impl Iterator<Item = u64> {
    column.scores.iter().map(|&score| score_code(score.into()))
}

fn merge_all<M: Mass>(own: &mut [Histogram<M>], others: Vec<Histogram<M>>, bytes: usize) {
    own.iter_mut().zip(others).for_each(|(own, other)| own.merge(other, bytes));
}

/// Rows that weigh 1 each.
fn weighted(histogram: &Histogram<u32>) -> Histogram<Weight> {
    fn of<P: Prefix>(table: &Table<P, u32>) -> Table<P, Weight> {
        let mut weights = Table::default();
        for (&prefix, &rows) in table.prefixes.iter().zip(&table.masses) {
            weights.push(prefix, Weight { sum: f64::from(rows), squares: f64::from(rows) });
        }
        weights
    }
    let bins = match &histogram.bins {
        Bins::Numbers(table) => Bins::Numbers(of(table)),
        Bins::Wide(table) => Bins::Wide(of(table)),
        Bins::Narrow(table) => Bins::Narrow(of(table)),
    };
    Histogram { level: histogram.level, bins }
}

/// Column by column what was row by row.
pub(super) fn transposed<T: Score>(rows: &[T], columns: usize) -> Vec<T> {
    const BLOCK: usize = 64;
    let count = rows.len() / columns;
    let mut all = vec![T::ZERO; rows.len()];
    for start in (0..count).step_by(BLOCK) {
        let end = (start + BLOCK).min(count);
        for column in 0..columns {
            for row in start..end {
                all[column * count + row] = rows[row * columns + column];
            }
        }
    }
    all
}
