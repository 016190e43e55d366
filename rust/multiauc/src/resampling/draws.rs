//! Which rows a replicate holds: sixteen replicates side by side.

use super::plan::{Plan, rows_of_groups};
use crate::error::{Error, Result};
use crate::float::Score;
use crate::parallel::Workers;
use crate::sample::PresentClasses;
use crate::sample::ScoredSample;

/// Replicates that are walked through together: a row's multiplicities are one load of a vector register.
pub(super) const LANES: usize = 16;

/// A value for each of the replicates.
pub(super) type Lanes<T> = [T; LANES];

/// What is drawn with replacement, as often as there are such units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sampling<'a> {
    /// Rows within each class: class sizes stay as they are.
    Stratified,
    /// Rows, whatever their class.
    Iid,
    /// Whole groups of rows: the group of each row.
    Groups(&'a [u32]),
}

/// The rows of a sample and how they are drawn.
#[derive(Debug, Clone)]
pub(crate) struct Draws {
    pub(crate) classes: PresentClasses,
    plan: Plan,
    /// Of each place, where groups are drawn.
    groups: Option<Vec<u32>>,
    sample_rows: usize,
}

/// How often each place is in each of the replicates.
#[derive(Debug)]
pub(super) struct Draw {
    pub counts: Vec<Lanes<u8>>,
    /// How many replicates there are; the lanes after them are empty.
    pub used: usize,
}

impl Draws {
    /// # Errors
    /// [`Error::TooManyRowsDrawn`] for 2^31 rows or more; [`Error::LengthMismatch`] unless there is a group for every row.
    pub(crate) fn new<T: Score>(sample: &ScoredSample<'_, T>, sampling: Sampling<'_>) -> Result<Self> {
        let classes = PresentClasses::new(sample);
        let rows = classes.rows();
        if rows >> 31 > 0 {
            return Err(Error::TooManyRowsDrawn { rows: rows as u64 });
        }
        let (plan, groups) = match sampling {
            Sampling::Stratified => (Plan::stratified(&classes.sizes()), None),
            Sampling::Iid => (Plan::iid(rows as u32), None),
            Sampling::Groups(of_rows) => {
                if of_rows.len() != sample.rows() {
                    return Err(Error::LengthMismatch { rows: sample.rows(), found: of_rows.len() });
                }
                let (groups, count) = numbered(&classes, of_rows);
                (Plan::iid(count), Some(groups))
            }
        };
        Ok(Self { classes, plan, groups, sample_rows: sample.rows() })
    }

    /// How often each place is in a replicate.
    fn counts(&self, seed: u64, replicate: u32, units: &mut Vec<u32>, counts: &mut Vec<u32>) {
        counts.resize(self.classes.rows(), 0);
        let Some(groups) = &self.groups else {
            return self.plan.draw(seed, replicate, counts);
        };
        units.resize(self.plan.units(), 0);
        self.plan.draw(seed, replicate, units);
        rows_of_groups(groups, units, counts);
    }

    /// Draws replicates number `first`, `first` + 1, …, at most sixteen.
    pub(super) fn draw(&self, seed: u64, first: u32, used: usize, workers: &Workers<'_>) -> Result<Draw> {
        let mut draw = Draw::empty(self.classes.rows(), used);
        let (mut units, mut counts) = (Vec::new(), Vec::new());
        for lane in 0..draw.used {
            workers.check()?;
            self.counts(seed, first.wrapping_add(lane as u32), &mut units, &mut counts);
            draw.fill(lane, counts.iter().copied());
        }
        Ok(draw)
    }

    /// The draw that holds given multiplicities of the sample's rows, replicate after replicate.
    pub(super) fn given(&self, multiplicities: &[u8]) -> Draw {
        let mut draw = Draw::empty(self.classes.rows(), multiplicities.len() / self.sample_rows);
        let order = self.classes.row_numbers(0..self.classes.rows());
        for (lane, of_rows) in multiplicities.chunks_exact(self.sample_rows).enumerate() {
            draw.fill(lane, order.iter().map(|&row| u32::from(of_rows[row as usize])));
        }
        draw
    }

    /// How often a replicate holds each row of the sample; zero for rows of weight zero.
    pub(super) fn multiplicities(&self, seed: u64, replicate: u32) -> Vec<u8> {
        let mut counts = Vec::new();
        self.counts(seed, replicate, &mut Vec::new(), &mut counts);
        let mut of_rows = vec![0; self.sample_rows];
        for (&row, &count) in self.classes.row_numbers(0..counts.len()).iter().zip(&counts) {
            of_rows[row as usize] = as_byte(count);
        }
        of_rows
    }

    pub(super) const fn sample_rows(&self) -> usize {
        self.sample_rows
    }
}

impl Draw {
    fn empty(rows: usize, used: usize) -> Self {
        Self { counts: vec![[0; LANES]; rows], used: used.min(LANES) }
    }

    fn fill(&mut self, lane: usize, counts: impl Iterator<Item = u32>) {
        for (lanes, count) in self.counts.iter_mut().zip(counts) {
            lanes[lane] = as_byte(count);
        }
    }
}

/// A unit is drawn a Poisson(1) number of times, nearly: more than 255 times with a probability below 10^−500.
fn as_byte(count: u32) -> u8 {
    u8::try_from(count).unwrap_or(u8::MAX)
}

/// The groups of the places, numbered without gaps in the order of their codes, and how many there are.
fn numbered(classes: &PresentClasses, of_rows: &[u32]) -> (Vec<u32>, u32) {
    let places = classes.row_numbers(0..classes.rows());
    let codes: Vec<u32> = places.iter().map(|&row| of_rows[row as usize]).collect();
    let mut distinct = codes.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let number = |code: &u32| distinct.partition_point(|other| other < code) as u32;
    (codes.iter().map(number).collect(), distinct.len() as u32)
}
