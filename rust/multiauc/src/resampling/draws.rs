//! Which rows a replicate holds: sixteen replicates side by side.

use super::plan::{Plan, rows_of_groups};
use crate::error::{Error, Result, RowArray};
use crate::float::Score;
use crate::parallel::{Cancel, Workers};
use crate::sample::{ClassRows, Sampling, ScoredSample};

/// Replicates counted together: a row's multiplicities fill one vector register.
pub(super) const LANES: usize = 16;

/// A value for each of the replicates.
pub(super) type Lanes<T> = [T; LANES];

/// The rows of a sample and how they are drawn.
#[derive(Debug, Clone)]
pub(crate) struct Draws {
    pub(super) rows: ClassRows,
    plan: Plan,
    /// The group of each position, where groups are drawn.
    groups: Option<Vec<u32>>,
    sample_rows: usize,
}

/// How often each position is in each of the replicates.
#[derive(Debug)]
pub(super) struct Draw {
    pub counts: Vec<Lanes<u8>>,
    /// How many replicates there are; the lanes after them are empty.
    pub used: usize,
}

impl Draws {
    /// # Errors
    /// [`Error::TooManyRowsDrawn`] for 2^31 rows or more; [`Error::LengthMismatch`] unless there is a group for every row.
    pub(super) fn new<T: Score>(sample: &ScoredSample<'_, T>, sampling: Sampling<'_>) -> Result<Self> {
        let cancel = Cancel::new();
        let alone = Workers::with_threads(1, &cancel);
        Self::of_rows(ClassRows::new(sample, &alone)?, sample.rows(), sampling)
    }

    /// The same of the rows that count among `sample_rows` rows of a sample.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub(crate) fn of_rows(rows: ClassRows, sample_rows: usize, sampling: Sampling<'_>) -> Result<Self> {
        if rows.len() >> 31 > 0 {
            return Err(Error::TooManyRowsDrawn { rows: rows.len() as u64 });
        }
        let (plan, groups) = match sampling {
            Sampling::Stratified => (Plan::stratified(&rows.present_counts()), None),
            Sampling::Iid => (Plan::iid(rows.len() as u32), None),
            Sampling::Groups { of_rows, is_iid } => {
                if of_rows.len() != sample_rows {
                    let found = of_rows.len();
                    return Err(Error::LengthMismatch { array: RowArray::Groups, rows: sample_rows, found });
                }
                let (groups, of_classes) = numbered(&rows, of_rows);
                let plan = match of_classes {
                    Some(of_classes) if !is_iid => Plan::stratified(&of_classes),
                    _ => Plan::iid(groups.iter().max().map_or(0, |&last| last + 1)),
                };
                (plan, Some(groups))
            }
        };
        Ok(Self { rows, plan, groups, sample_rows })
    }

    /// How many of what is drawn each class that has rows is spread over: its rows, or its groups.
    pub(crate) fn class_units(&self) -> Vec<u32> {
        let Some(groups) = &self.groups else {
            return self.rows.present_counts();
        };
        let distinct = |&class: &usize| {
            let mut groups = groups[self.rows.range(class)].to_vec();
            groups.sort_unstable();
            groups.dedup();
            groups.len() as u32
        };
        self.rows.present().iter().map(distinct).collect()
    }

    /// How often each position is in a replicate.
    pub(crate) fn counts(&self, seed: u64, replicate: u32, units: &mut Vec<u32>, counts: &mut Vec<u32>) {
        counts.resize(self.rows.len(), 0);
        let Some(groups) = &self.groups else {
            return self.plan.draw(seed, replicate, counts);
        };
        units.resize(self.plan.units(), 0);
        self.plan.draw(seed, replicate, units);
        rows_of_groups(groups, units, counts);
    }

    /// Draws replicates number `first`, `first` + 1, …, at most sixteen.
    pub(super) fn draw(&self, seed: u64, first: u32, used: usize, workers: &Workers<'_>) -> Result<Draw> {
        let mut draw = Draw::empty(self.rows.len(), used);
        let (mut units, mut counts) = (Vec::new(), Vec::new());
        for lane in 0..draw.used {
            workers.check()?;
            self.counts(seed, first.wrapping_add(lane as u32), &mut units, &mut counts);
            draw.fill(lane, counts.iter().copied());
        }
        Ok(draw)
    }

    /// The draw that holds given multiplicities of the sample's rows, replicate by replicate.
    pub(super) fn given(&self, multiplicities: &[u8]) -> Draw {
        let mut draw = Draw::empty(self.rows.len(), multiplicities.len() / self.sample_rows);
        let order = self.rows.rows();
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
        for (&row, &count) in self.rows.rows().iter().zip(&counts) {
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

/// How often a unit is drawn is close to Poisson(1): more than 255 times with a probability below 10^−500.
fn as_byte(count: u32) -> u8 {
    u8::try_from(count).unwrap_or(u8::MAX)
}

/// The groups of the positions, numbered without gaps: class by class and in the order of their codes, with the number of
/// groups of each present class; or in the order of their codes alone, if some group has rows of several classes.
fn numbered(rows: &ClassRows, of_rows: &[u32]) -> (Vec<u32>, Option<Vec<u32>>) {
    let codes: Vec<u32> = rows.rows().iter().map(|&row| of_rows[row as usize]).collect();
    let distinct = |codes: &[u32]| {
        let mut distinct = codes.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        distinct
    };
    let number = |code: &u32, distinct: &[u32]| distinct.partition_point(|other| other < code) as u32;
    let all = distinct(&codes);
    let of_classes: Vec<Vec<u32>> = rows.present().iter().map(|&class| distinct(&codes[rows.range(class)])).collect();
    if of_classes.iter().map(Vec::len).sum::<usize>() > all.len() {
        return (codes.iter().map(|code| number(code, &all)).collect(), None);
    }
    let mut groups = Vec::with_capacity(codes.len());
    let mut before = 0;
    for (&class, distinct) in rows.present().iter().zip(&of_classes) {
        groups.extend(codes[rows.range(class)].iter().map(|code| before + number(code, distinct)));
        before += distinct.len() as u32;
    }
    (groups, Some(of_classes.iter().map(|distinct| distinct.len() as u32).collect()))
}
