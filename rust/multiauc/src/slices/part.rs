//! Some rows of a sample as a sample of their own.

use crate::error::{Error, Result};
use crate::float::Score;
use crate::inference::{Design, Estimate, WorstCase, moments, variance_terms};
use crate::metrics::evaluate;
use crate::parallel::Workers;
use crate::sample::{ClassCodes, Codes, Sampling, ScoreMatrix, ScoredSample};

use super::SliceRequest;

/// Parts of fewer cells are evaluated on one thread.
const SMALL_PART: usize = 1 << 15;

/// What is known of a part.
#[derive(Debug)]
pub(super) struct Part {
    pub estimate: Estimate,
    /// Independent units of its smallest class.
    pub smallest: u64,
    /// ψ of its rows, in their order; empty unless they were wanted.
    pub terms: Vec<f64>,
}

impl Part {
    /// Evaluates some rows exactly as though there were no others; `None` where the metric is not defined for them.
    pub(super) fn of_rows<T: Score>(
        sample: &ScoredSample<'_, T>,
        rows: &[u32],
        request: &SliceRequest<'_>,
        wants_terms: bool,
        workers: &Workers<'_>,
    ) -> Result<Option<Self>> {
        let gathered = Gathered::new(sample, rows, request.sampling.groups());
        let alone = workers.alone();
        let workers = if gathered.scores.len() < SMALL_PART { &alone } else { workers };
        match gathered.evaluate(request, wants_terms, workers) {
            Ok(part) => Ok(Some(part)),
            // Pairs of classes that count are all absent here, or the weights of a class are next to nothing.
            Err(Error::NoPairWeight | Error::VanishingWeights { .. } | Error::TooFewClasses { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Copies of rows.
struct Gathered<T> {
    scores: Vec<T>,
    columns: usize,
    codes: Codes,
    weights: Option<Vec<f64>>,
    /// Numbered from 0 without gaps, in the order of their numbers in the sample.
    groups: Option<Vec<u32>>,
}

impl<T: Score> Gathered<T> {
    fn new(sample: &ScoredSample<'_, T>, rows: &[u32], groups: Option<&[u32]>) -> Self {
        // Of two columns made of one score, the second is the score.
        let first = usize::from(sample.has_single_score());
        let columns = sample.scores.columns() - first;
        let mut scores = Vec::with_capacity(rows.len() * columns);
        for &row in rows {
            match sample.scores.contiguous_row(row as usize) {
                Some(whole) => scores.extend_from_slice(whole),
                None => scores.extend((first..first + columns).map(|column| sample.scores.get(row as usize, column))),
            }
        }
        let code = |row: &u32| sample.codes.get(*row as usize);
        Self {
            scores,
            columns,
            codes: match sample.codes {
                ClassCodes::Bytes(_) => Codes::Bytes(rows.iter().map(|row| code(row) as u8).collect()),
                ClassCodes::Words(_) => Codes::Words(rows.iter().map(|row| code(row) as u16).collect()),
                ClassCodes::Longs(_) => Codes::Longs(rows.iter().map(|row| code(row) as u32).collect()),
            },
            weights: sample.weights.map(|weights| rows.iter().map(|&row| weights[row as usize]).collect()),
            groups: groups.map(|groups| renumbered(rows.iter().map(|&row| groups[row as usize]))),
        }
    }

    fn evaluate(&self, request: &SliceRequest<'_>, wants_terms: bool, workers: &Workers<'_>) -> Result<Part> {
        let matrix = ScoreMatrix::from_rows(&self.scores, self.columns)?;
        let codes = match &self.codes {
            Codes::Bytes(codes) => ClassCodes::Bytes(codes),
            Codes::Words(codes) => ClassCodes::Words(codes),
            Codes::Longs(codes) => ClassCodes::Longs(codes),
        };
        let sample = ScoredSample::new(matrix, codes, self.weights.as_deref(), workers)?;
        let sampling = match &self.groups {
            Some(of_rows) => Sampling::Groups { of_rows, is_iid: request.sampling.is_iid() },
            None => request.sampling,
        };
        let design = Design::new(&sample, sampling, workers)?;
        let mut statistics = evaluate(&sample, &design, &[request.metric], request.options, workers)?.statistics;
        // Nobody asks for the cautious estimates of slices.
        statistics[0].worst = WorstCase::of(&design, &statistics[0]);
        statistics[0].chances = None;
        let estimate = moments(&design, &statistics, workers)?.estimates[0];
        let units = design.units().into_iter().filter(|&units| units > 0);
        Ok(Part {
            estimate,
            smallest: units.min().unwrap_or(0),
            terms: if wants_terms { variance_terms(&design, &statistics[0], workers)? } else { Vec::new() },
        })
    }
}

/// Numbers without gaps that sort like the given ones.
fn renumbered(names: impl Iterator<Item = u32> + Clone) -> Vec<u32> {
    let mut distinct: Vec<u32> = names.clone().collect();
    distinct.sort_unstable();
    distinct.dedup();
    names.map(|name| distinct.partition_point(|&other| other < name) as u32).collect()
}
