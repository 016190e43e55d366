//! What slices are compared with: all rows, or those outside the slice.

use super::part::Part;
use super::whole::{Compared, Whole};
use super::{FEW, FoundSlice, JointSlices, SliceRequest};
use crate::error::Result;
use crate::float::Score;
use crate::inference::Estimate;
use crate::keys::{DifferenceRule, are_on_no_lattice};
use crate::metric::Metric;
use crate::metrics::{has_values_without, values_without};
use crate::parallel::Workers;
use crate::sample::ScoredSample;

/// A slice with a larger share of a class has a rest that is evaluated by itself, if it is among the largest.
const LARGE_SHARE: f64 = 1.0 / 32.0;
const MOST_LARGE: usize = 32;
/// The part of rows that are in none.
const NOWHERE: u32 = u32::MAX;

/// A rest that was evaluated row by row.
struct ExactRest {
    part: Part,
    covariance: f64,
    /// ψ of the difference by unit, where few slices are compared.
    contrast: Vec<f64>,
}

impl Whole<'_> {
    /// Fills in the whole sample as the reference of every slice that is compared.
    pub(super) fn compare_with_all(&self, parts: &[Option<Part>], slices: &mut [FoundSlice]) -> Option<JointSlices> {
        let mut contrasts = Vec::new();
        for compared in &self.compared {
            let Some(part) = &parts[compared.slice] else { continue };
            let rows = self.rows_of(compared.slice);
            let shared = self.units.shared(rows, &part.terms, |_| 0.0, &self.unit_sums);
            let found = &mut slices[compared.slice];
            found.reference = self.estimate;
            found.reference_smallest = self.smallest;
            found.covariance = shared.iter().map(|unit| unit.of_slice * unit.all).sum();
            if self.compared.len() <= FEW {
                let mut contrast: Vec<f64> = self.unit_sums.iter().map(|sum| -sum).collect();
                self.units.add(rows, &part.terms, 1.0, &mut contrast);
                contrasts.push((compared.slice as u32, contrast));
            }
        }
        joint(&contrasts)
    }

    /// Fills in the rest of every slice that is compared.
    pub(super) fn compare_with_rests<T: Score>(
        &self,
        sample: &ScoredSample<'_, T>,
        request: &SliceRequest<'_>,
        parts: &[Option<Part>],
        slices: &mut [FoundSlice],
        workers: &Workers<'_>,
    ) -> Result<Option<JointSlices>> {
        let (exactly, quickly) = self.split(sample, request, workers)?;
        let rests = workers.map(exactly.len(), |index| {
            self.exact_rest(sample, request, exactly[index], parts[exactly[index].slice].as_ref(), workers)
        })?;
        let mut contrasts = Vec::new();
        for (compared, rest) in exactly.iter().zip(rests) {
            let Some(rest) = rest else { continue };
            let found = &mut slices[compared.slice];
            found.reference = rest.part.estimate;
            found.reference_smallest = rest.part.smallest;
            found.covariance = rest.covariance;
            contrasts.push((compared.slice as u32, rest.contrast));
        }
        if !quickly.is_empty() {
            let mut index_of = vec![NOWHERE; request.count];
            for (index, compared) in (0..).zip(&quickly) {
                index_of[compared.slice] = index;
            }
            let slice_of = |&row: &u32| index_of[request.of_rows[row as usize] as usize];
            let part_of: Vec<u32> = self.class_rows.rows().iter().map(slice_of).collect();
            let in_parts = (&part_of[..], quickly.len());
            let (metric, options) = (request.metric, request.options);
            let values = values_without(sample, &self.class_rows, in_parts, metric, options, workers)?;
            for (compared, value) in quickly.iter().zip(values) {
                if let Some(part) = &parts[compared.slice] {
                    self.fill_in_rest(compared, part, value, &mut slices[compared.slice]);
                }
            }
        }
        Ok(if self.compared.len() <= FEW { joint(&contrasts) } else { None })
    }

    /// The slices whose rests are evaluated row by row, and the others.
    fn split<T: Score>(
        &self,
        sample: &ScoredSample<'_, T>,
        request: &SliceRequest<'_>,
        workers: &Workers<'_>,
    ) -> Result<(Vec<&Compared>, Vec<&Compared>)> {
        let mut shares: Vec<f64> = self.compared.iter().map(Compared::largest_share).collect();
        shares.sort_unstable_by(|a, b| b.total_cmp(a));
        let least = shares.get(MOST_LARGE).map_or(LARGE_SHARE, |&first_left_out| first_left_out.max(LARGE_SHARE));
        let all = self.compared.len() <= FEW || !has_values_without(request.metric);
        let with_other_keys = if all { Vec::new() } else { self.rests_with_other_keys(sample, request, workers)? };
        let is_exact =
            |compared: &&Compared| all || compared.largest_share() > least || with_other_keys.contains(&compared.slice);
        Ok(self.compared.iter().partition(is_exact))
    }

    /// The slices without which the scores lie on a lattice that they do not lie on with them, so that AUC_mu has other
    /// keys on the rest than on the sample. Only singles have: a double shows by itself which fraction it stands for.
    fn rests_with_other_keys<T: Score>(
        &self,
        sample: &ScoredSample<'_, T>,
        request: &SliceRequest<'_>,
        workers: &Workers<'_>,
    ) -> Result<Vec<usize>> {
        if !T::IS_SINGLE
            || request.metric != Metric::AucMu
            || DifferenceRule::of(sample, workers)?.largest_whole_number().is_some()
        {
            return Ok(Vec::new());
        }
        // The rest of a slice is on no lattice if another slice is on none.
        let columns = sample.scores.columns();
        let is_off = |&slice: &usize| {
            let cells = self.rows_of(slice).iter().flat_map(|&row| (0..columns).map(move |column| (row, column)));
            are_on_no_lattice(cells.map(|(row, column)| sample.scores.get(row as usize, column)))
        };
        let off: Vec<usize> = (0..request.count).filter(is_off).take(2).collect();
        Ok(match off[..] {
            [] => self.compared.iter().map(|compared| compared.slice).collect(),
            [only] => vec![only],
            _ => Vec::new(),
        })
    }

    fn exact_rest<T: Score>(
        &self,
        sample: &ScoredSample<'_, T>,
        request: &SliceRequest<'_>,
        compared: &Compared,
        part: Option<&Part>,
        workers: &Workers<'_>,
    ) -> Result<Option<ExactRest>> {
        let Some(part) = part else { return Ok(None) };
        let wants_terms = !part.terms.is_empty();
        let outside = self.rows_outside(compared.slice);
        let Some(rest) = Part::of_rows(sample, &outside, request, wants_terms, workers)? else { return Ok(None) };
        if !wants_terms {
            return Ok(Some(ExactRest { part: rest, covariance: 0.0, contrast: Vec::new() }));
        }
        let mut sums = vec![0.0; self.units.count];
        self.units.add(&outside, &rest.terms, 1.0, &mut sums);
        let rows = self.rows_of(compared.slice);
        let covariance = if self.units.are_rows() {
            0.0
        } else {
            let shared = self.units.shared(rows, &part.terms, |_| 0.0, &sums);
            shared.iter().map(|unit| unit.of_slice * unit.all).sum()
        };
        let mut contrast = Vec::new();
        if self.compared.len() <= FEW {
            contrast = sums.iter().map(|sum| -sum).collect();
            self.units.add(rows, &part.terms, 1.0, &mut contrast);
        }
        Ok(Some(ExactRest { part: rest, covariance, contrast }))
    }

    /// The rest of a small slice: its value is known, its variance is made of the whole sample's terms.
    fn fill_in_rest(&self, compared: &Compared, part: &Part, value: f64, found: &mut FoundSlice) {
        let (mut scaled, mut total) = (0.0, 0.0);
        for (&class, share) in self.class_rows.present().iter().zip(&compared.shares) {
            scaled += self.class_squares[class] / (1.0 - share).powi(2);
            total += self.class_squares[class];
        }
        let growth = if total > 0.0 { scaled / total } else { 1.0 };
        let rows = self.rows_of(compared.slice);
        let inside = |row: u32| self.terms[row as usize];
        let mut variance = self.estimate.variance;
        found.covariance = 0.0;
        if self.units.are_rows() {
            variance -= rows.iter().map(|&row| inside(row).powi(2)).sum::<f64>();
        } else {
            for unit in self.units.shared(rows, &part.terms, inside, &self.unit_sums) {
                let outside = unit.all - unit.inside;
                variance -= unit.all.powi(2) - outside.powi(2);
                found.covariance += unit.of_slice * outside * growth.sqrt();
            }
        }
        found.reference = Estimate { value, variance: growth * variance.max(0.0), ..self.estimate };
        found.reference_smallest = self.smallest;
    }
}

/// The correlations of differences whose ψ are given by unit; `None` where there are none.
fn joint(contrasts: &[(u32, Vec<f64>)]) -> Option<JointSlices> {
    if contrasts.is_empty() {
        return None;
    }
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let lengths: Vec<f64> = contrasts.iter().map(|(_, contrast)| product(contrast, contrast).sqrt()).collect();
    let mut correlations = Vec::with_capacity(contrasts.len().pow(2));
    for (a, length_a) in contrasts.iter().zip(&lengths) {
        for (b, length_b) in contrasts.iter().zip(&lengths) {
            correlations.push((product(&a.1, &b.1) / (length_a * length_b)).clamp(-1.0, 1.0));
        }
    }
    Some(JointSlices { slices: contrasts.iter().map(|&(slice, _)| slice).collect(), correlations })
}
