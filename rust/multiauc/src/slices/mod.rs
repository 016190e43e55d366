//! Slices: disjoint parts of a sample, each evaluated by itself and compared with the rest of the sample, or with all of it.
//!
//! A slice is evaluated as though its rows were the whole sample. The value of the metric on the rest is exact too, for
//! all slices from one sort (`metrics::values_without`). The variance of the rest is not worth as much: the rest of a
//! small slice is nearly the sample, whose ψ (the terms of its variance, see `inference::moments`) are known. Without the
//! rows of the slice, and with those that remain counting for more,
//!
//! Var(rest) ≈ ρ (Σ_u ψ_u² − Σ_{u meets the slice} (ψ_u² − ψ′_u²)), ρ = Σ_k V_k (W_k/W′_k)² / Σ_k V_k,
//!
//! over independent units u, of which ψ′_u is what lies outside the slice; W_k is the weight of class k, W′_k that of its
//! rows in the rest, V_k = Σ_{i∈k} ψ_i². The relative error is about the largest share that the slice has of a class, and
//! that of the variance of the *difference* about its square, as the slice's own variance is larger by one over that
//! share. Slices with a share above 1/32, of which the largest 32 count, have a rest that is evaluated row by row instead;
//! so have all where there are few of them.
//!
//! Slice and rest have no rows in common, but may share groups of rows: Cov = Σ_u ψ^slice_u ψ^rest_u.

mod classes;
mod part;
mod references;
mod units;
mod whole;

use crate::error::{Error, Result, RowArray};
use crate::float::Score;
use crate::inference::Estimate;
use crate::metric::Metric;
use crate::metrics::MetricOptions;
use crate::parallel::Workers;
use crate::sample::{Sampling, ScoredSample};
pub use classes::{class_against_rest, correlations};
use part::Part;
use whole::Whole;

/// Up to this many slices are compared exactly, and the correlations of their differences are known.
const FEW: usize = 10;

/// What slices are compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reference {
    /// All rows that are not in the slice.
    Rest,
    /// All rows.
    All,
}

/// Which slices are wanted, and what of them.
#[derive(Debug, Clone, Copy)]
pub struct SliceRequest<'a> {
    /// The slice of each row, below `count`.
    pub of_rows: &'a [u32],
    /// How many slices there are.
    pub count: usize,
    /// What is computed.
    pub metric: Metric,
    /// What it depends on.
    pub options: MetricOptions<'a>,
    /// How the rows were drawn.
    pub sampling: Sampling<'a>,
    /// What slices are compared with, if with anything.
    pub reference: Option<Reference>,
    /// Whether slices without rows of some class have the value of the classes they have; otherwise they have none.
    pub ignores_absent: bool,
}

/// A slice with what it is compared with; NaN where a number is not known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FoundSlice {
    /// The slice by itself.
    pub estimate: Estimate,
    /// Independent units of its smallest class.
    pub smallest: u64,
    /// The rest, or the whole.
    pub reference: Estimate,
    /// Independent units of the smallest class of the reference.
    pub reference_smallest: u64,
    /// Of the slice and the reference.
    pub covariance: f64,
}

/// The slices that are compared, and the correlations of their differences, row by row.
#[derive(Debug, Clone, PartialEq)]
pub struct JointSlices {
    /// Their numbers.
    pub slices: Vec<u32>,
    /// Of the differences.
    pub correlations: Vec<f64>,
}

impl JointSlices {
    /// Those of some of `slices` alone. A slice that does not vary counts as independent of the others.
    #[must_use]
    pub fn of_some(&self, slices: &[FoundSlice], is_wanted: impl Fn(usize) -> bool) -> Self {
        let count = self.slices.len();
        let slice = |place: usize| self.slices[place] as usize;
        let wanted: Vec<usize> = (0..count).filter(|&place| is_wanted(slice(place))).collect();
        let varies = |place: usize| slices[slice(place)].estimate.variance != 0.0;
        let entry = |a: usize, b: usize| match (a == b, varies(a) && varies(b)) {
            (true, _) => 1.0,
            (false, true) => self.correlations[a * count + b],
            (false, false) => 0.0,
        };
        Self {
            slices: wanted.iter().map(|&place| self.slices[place]).collect(),
            correlations: wanted
                .iter()
                .flat_map(|&a| wanted.iter().map(move |&b| (a, b)))
                .map(|(a, b)| entry(a, b))
                .collect(),
        }
    }
}

/// All slices.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundSlices {
    /// All rows.
    pub whole: Estimate,
    /// Independent units of the smallest class.
    pub whole_smallest: u64,
    /// In their order.
    pub slices: Vec<FoundSlice>,
    /// Where few slices are compared.
    pub joint: Option<JointSlices>,
}

/// Evaluates every slice, and what it is compared with. A slice is compared if it has rows of every class that the
/// sample has, and so have the rows outside it. The same bits for any number of threads.
///
/// # Errors
/// [`Error::LengthMismatch`] unless there is a slice for every row; as [`evaluate`](crate::evaluate).
///
/// # Panics
/// If a row is in a slice that does not exist.
pub fn evaluate_slices<T: Score>(
    sample: &ScoredSample<'_, T>,
    request: &SliceRequest<'_>,
    workers: &Workers<'_>,
) -> Result<FoundSlices> {
    if request.of_rows.len() != sample.rows() {
        let found = request.of_rows.len();
        return Err(Error::LengthMismatch { array: RowArray::Slices, rows: sample.rows(), found });
    }
    let whole = Whole::new(sample, request, workers)?;
    let wants_terms = match request.reference {
        None => false,
        Some(Reference::All) => true,
        Some(Reference::Rest) => !whole.units.are_rows() || whole.compared.len() <= FEW,
    };
    let parts = workers.map(request.count, |slice| {
        let is_complete = whole.missing[slice] == 0;
        if !(is_complete || request.ignores_absent) {
            return Ok(None);
        }
        Part::of_rows(sample, whole.rows_of(slice), request, wants_terms && is_complete, workers)
    })?;
    let unknown = FoundSlice {
        estimate: Estimate::MISSING,
        smallest: 0,
        reference: Estimate::MISSING,
        reference_smallest: 0,
        covariance: f64::NAN,
    };
    let of_part = |part: &Option<Part>| match part {
        None => unknown,
        Some(part) => FoundSlice { estimate: part.estimate, smallest: part.smallest, ..unknown },
    };
    let mut slices: Vec<FoundSlice> = parts.iter().map(of_part).collect();
    let joint = match request.reference {
        None => None,
        Some(Reference::All) => whole.compare_with_all(&parts, &mut slices),
        Some(Reference::Rest) => whole.compare_with_rests(sample, request, &parts, &mut slices, workers)?,
    };
    Ok(FoundSlices { whole: whole.estimate, whole_smallest: whole.smallest, slices, joint })
}

#[cfg(test)]
mod tests;
