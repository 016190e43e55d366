//! The whole sample: its own estimate, and which of its rows are in which slice.

use super::units::Units;
use super::{Reference, SliceRequest};
use crate::error::Result;
use crate::float::Score;
use crate::inference::{Design, Estimate, WorstCase, moments, variance_terms};
use crate::metrics::evaluate;
use crate::parallel::Workers;
use crate::sample::{ClassRows, ScoredSample};

pub(super) struct Whole<'a> {
    pub estimate: Estimate,
    /// Independent units of the smallest class.
    pub smallest: u64,
    pub class_rows: ClassRows,
    pub units: Units<'a>,
    /// ψ by row, and summed by unit.
    pub terms: Vec<f64>,
    pub unit_sums: Vec<f64>,
    /// V_k by class.
    pub class_squares: Vec<f64>,
    /// Rows that count, slice by slice, and where each slice starts.
    rows: Vec<u32>,
    starts: Vec<usize>,
    /// How many of the sample's classes each slice has no rows of.
    pub missing: Vec<usize>,
    /// The slices that are compared, in their order.
    pub compared: Vec<Compared>,
}

/// A slice that is compared.
#[derive(Debug)]
pub(super) struct Compared {
    pub slice: usize,
    /// Its share of each class that the sample has, in order.
    pub shares: Vec<f64>,
}

impl Compared {
    pub(super) fn largest_share(&self) -> f64 {
        self.shares.iter().copied().fold(0.0, f64::max)
    }
}

impl<'a> Whole<'a> {
    pub(super) fn new<T: Score>(
        sample: &ScoredSample<'_, T>,
        request: &SliceRequest<'a>,
        workers: &Workers<'_>,
    ) -> Result<Self> {
        let design = Design::new(sample, request.sampling, workers)?;
        let mut statistics = evaluate(sample, &design, &[request.metric], request.options, workers)?.statistics;
        statistics[0].worst = WorstCase::of(&design, &statistics[0]);
        statistics[0].chances = None;
        let estimate = moments(&design, &statistics, workers)?.estimates[0];
        let terms = variance_terms(&design, &statistics[0], workers)?;
        let units = Units::new(request.sampling.groups(), sample.rows());
        let mut unit_sums = vec![0.0; units.count];
        units.add(&(0..sample.rows() as u32).collect::<Vec<u32>>(), &terms, 1.0, &mut unit_sums);
        let class_rows = ClassRows::new(sample, workers)?;
        let square = |&row: &u32| terms[row as usize].powi(2);
        let class_squares =
            (0..class_rows.classes()).map(|class| class_rows.of(class).iter().map(square).sum()).collect();
        let (rows, starts) = by_slice(request, |row| sample.has_row(row));
        let mut whole = Self {
            estimate,
            smallest: design.units().into_iter().filter(|&units| units > 0).min().unwrap_or(0),
            class_rows,
            units,
            terms,
            unit_sums,
            class_squares,
            rows,
            starts,
            missing: Vec::with_capacity(request.count),
            compared: Vec::new(),
        };
        whole.find_compared(sample, request);
        Ok(whole)
    }

    pub(super) fn rows_of(&self, slice: usize) -> &[u32] {
        &self.rows[self.starts[slice]..self.starts[slice + 1]]
    }

    /// The rows that count and are in other slices.
    pub(super) fn rows_outside(&self, slice: usize) -> Vec<u32> {
        let mut rows = [&self.rows[..self.starts[slice]], &self.rows[self.starts[slice + 1]..]].concat();
        rows.sort_unstable();
        rows
    }

    /// Finds the slices that have rows of every class, and leave such to the rest if that is the reference.
    fn find_compared<T: Score>(&mut self, sample: &ScoredSample<'_, T>, request: &SliceRequest<'_>) {
        let classes = self.class_rows.classes();
        let present = self.class_rows.present().to_vec();
        let (mut counts, mut weights) = (vec![0_u64; classes], vec![0.0; classes]);
        for slice in 0..request.count {
            for &row in &self.rows[self.starts[slice]..self.starts[slice + 1]] {
                let class = sample.codes.get(row as usize);
                counts[class] += 1;
                weights[class] += sample.weight(row as usize);
            }
            let missing = present.iter().filter(|&&class| counts[class] == 0).count();
            let leaves_rest = present.iter().all(|&class| counts[class] < self.class_rows.count(class));
            self.missing.push(missing);
            if missing == 0 && (leaves_rest || request.reference == Some(Reference::All)) {
                let shares = present.iter().map(|&class| weights[class] / self.class_rows.weight(class)).collect();
                self.compared.push(Compared { slice, shares });
            }
            for &row in &self.rows[self.starts[slice]..self.starts[slice + 1]] {
                let class = sample.codes.get(row as usize);
                (counts[class], weights[class]) = (0, 0.0);
            }
        }
    }
}

/// The rows that count, slice by slice in their order, and where each slice starts.
fn by_slice(request: &SliceRequest<'_>, counts: impl Fn(usize) -> bool) -> (Vec<u32>, Vec<usize>) {
    let mut starts = vec![0; request.count + 1];
    for (row, &slice) in request.of_rows.iter().enumerate() {
        starts[slice as usize + 1] += usize::from(counts(row));
    }
    for slice in 0..request.count {
        starts[slice + 1] += starts[slice];
    }
    let (mut ends, mut rows) = (starts.clone(), vec![0; starts[request.count]]);
    for (row, &slice) in request.of_rows.iter().enumerate() {
        if counts(row) {
            rows[ends[slice as usize]] = row as u32;
            ends[slice as usize] += 1;
        }
    }
    (rows, starts)
}
