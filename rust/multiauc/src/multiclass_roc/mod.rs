//! The multi-class ROC curve: rates of all pairs, their common curve, and its bootstrap.
//!
//! With more than two classes the curve is (expit Λ0ᶠᵖ, expit Λ0ᵗᵖ), Λ0 being the row effects of the rank-one binomial
//! fit to the matrix of rates, mapped back from the shrunk rates that were fitted; with two, the model is saturated and
//! the curve is the empirical one.

mod factorization;
mod rates;

pub use factorization::{Center, Fit, Stop};
use rates::ScoreOf;
pub use rates::{Grid, PlacedCells, Scope};

use crate::error::{Error, Result};
use crate::float::Score;
use crate::pairs::PairWeights;
use crate::parallel::Workers;
use crate::sample::{Sampling, ScoredSample};
use factorization::{Problem, area_under, expit, fit, make_monotone, stretched};

/// How the common curve is fitted.
#[derive(Debug, Clone, Copy)]
pub struct CurveOptions<'a> {
    /// Whether the row effects are parameters of their own.
    pub center: Center,
    /// How much each pair of classes counts.
    pub pair_weights: PairWeights<'a>,
    /// Weight of the true-positive rates of the pair (c, d) at [c · K + d], beside that of the pair.
    pub tp_weights: &'a [f64],
    /// The same for its false-positive rates.
    pub fp_weights: &'a [f64],
    /// a in ε = a / (ñ + 2a), ñ the harmonic mean of the class sizes (the larger of rows and weight); rates are shrunk
    /// to (1 − 2ε)x + ε for the fit, and the curve is mapped back.
    pub continuity: f64,
    /// When the fit stops.
    pub stop: Stop,
    /// Most bytes of a matrix of rates.
    pub memory_limit: usize,
}

/// A curve from (0, 0) to (1, 1), without these end points, by falling thresholds.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Both rates as fitted, true-positive first; neither mapped back nor monotone.
    pub raw: [Vec<f64>; 2],
    /// True-positive rates, non-decreasing.
    pub tpr: Vec<f64>,
    /// False-positive rates, non-decreasing.
    pub fpr: Vec<f64>,
    /// Area under the polygon.
    pub area: f64,
}

/// A bootstrap replicate: the area, and the true-positive rates at the wanted false-positive rates; nan if it has lost a
/// class.
#[derive(Debug, Clone, PartialEq)]
pub struct Replicate {
    /// Area under the replicate's curve.
    pub area: f64,
    /// Height of the curve at each wanted false-positive rate.
    pub heights: Vec<f64>,
}

/// The multi-class ROC curve of a sample.
#[derive(Debug, Clone)]
pub struct MulticlassRoc {
    placed: PlacedCells,
    weights: Weights,
    /// Whether each pair has a weight.
    counted: Vec<bool>,
    center: Center,
    stop: Stop,
    epsilon: f64,
    /// The 2T × J matrix of rates, row by row.
    pub rates: Vec<f64>,
    /// The model; `None` for two classes, where it is saturated.
    pub model: Option<Fit>,
    /// The curve.
    pub curve: Curve,
    /// Whether one more threshold would tell all pairs that count apart without an error.
    has_gap: bool,
}

impl MulticlassRoc {
    /// Places the cells, counts the rates and fits their common curve.
    ///
    /// # Errors
    /// [`Error::RatesTooLarge`] beyond the memory limit; [`Error::Cancelled`].
    ///
    /// # Panics
    /// If there is not a weight for every pair; if there are no thresholds, or 65,536 or more.
    pub fn new<T: Score>(
        sample: &ScoredSample<'_, T>,
        (grid, scope): (Grid<'_>, Scope),
        options: CurveOptions<'_>,
        workers: &Workers<'_>,
    ) -> Result<Self> {
        let placed = PlacedCells::new(sample, grid, scope, workers)?;
        let score_of = |row: usize, column: usize| sample.scores.get(row, column).into();
        // Thresholds that are given are the only ones wanted.
        let score_of: Option<ScoreOf<'_>> = match grid {
            Grid::Quantiles(_) => Some(&score_of),
            Grid::Given(_) => None,
        };
        Self::of_cells(placed, score_of, options, workers)
    }

    fn of_cells(
        placed: PlacedCells,
        score_of: Option<ScoreOf<'_>>,
        options: CurveOptions<'_>,
        workers: &Workers<'_>,
    ) -> Result<Self> {
        let pairs = placed.pair_count();
        let bytes = (2 * placed.thresholds()).saturating_mul(pairs).saturating_mul(size_of::<f64>());
        if bytes > options.memory_limit {
            return Err(Error::RatesTooLarge { bytes, limit: options.memory_limit });
        }
        let epsilon = options.continuity / (mean_class_size(&placed) + 2.0 * options.continuity);
        let rates = placed.rates(workers)?;
        let weights = Weights::new(&placed, &options);
        let of_pairs = weights.of_pairs(placed.totals());
        let mut roc = Self {
            counted: (0..pairs).map(|pair| of_pairs.iter().any(|weights| weights[pair] > 0.0)).collect(),
            weights,
            placed,
            center: options.center,
            stop: options.stop,
            epsilon,
            rates: Vec::new(),
            model: None,
            curve: Curve { raw: [Vec::new(), Vec::new()], tpr: Vec::new(), fpr: Vec::new(), area: f64::NAN },
            has_gap: false,
        };
        if let Some(score_of) = score_of {
            roc.placed.keep_steps(&rates, &roc.counted, score_of, workers)?;
        }
        let gap = roc.placed.gap(&rates, &roc.counted);
        roc.has_gap = gap.is_some();
        roc.model = roc.fit(&rates, roc.placed.totals(), workers)?;
        roc.curve = roc.curve_of(&rates, roc.placed.totals(), roc.model.as_ref(), gap);
        roc.rates = rates;
        Ok(roc)
    }

    /// The cells behind the curve.
    #[must_use]
    pub const fn placed(&self) -> &PlacedCells {
        &self.placed
    }

    /// 1 where every pair that counts is separated perfectly, as far as the thresholds show, 0 where every pair is so the
    /// wrong way round: no resample of these rows has an error to show.
    #[must_use]
    pub fn separation(&self) -> Option<f64> {
        let pairs = self.placed.pair_count();
        let (tp, fp) = self.rates.split_at(self.rates.len() / 2);
        let column =
            |half: &[f64], pair: usize| -> Vec<f64> { half.iter().skip(pair).step_by(pairs).copied().collect() };
        let counted = || (0..pairs).filter(|&pair| self.counted[pair]);
        if self.has_gap || counted().all(|pair| is_separated(&column(tp, pair), &column(fp, pair))) {
            return Some(1.0);
        }
        counted().all(|pair| is_separated(&column(fp, pair), &column(tp, pair))).then_some(0.0)
    }

    /// The curve of other rates of the same shape, fitted with this one as the start.
    ///
    /// # Errors
    /// [`Error::RatesMismatch`], [`Error::Cancelled`].
    pub fn refit(&self, rates: &[f64], workers: &Workers<'_>) -> Result<Curve> {
        let (expected, found) = (self.rates.len(), rates.len());
        if found != expected {
            return Err(Error::RatesMismatch { expected, found });
        }
        self.refit_with(rates, self.placed.totals(), None, workers)
    }

    fn refit_with(&self, rates: &[f64], totals: &[f64], gap: Option<usize>, workers: &Workers<'_>) -> Result<Curve> {
        let model = self.fit(rates, totals, workers)?;
        Ok(self.curve_of(rates, totals, model.as_ref(), gap))
    }

    /// Bootstrap replicates number `first`, `first` + 1, … of the seed: thresholds kept, the model fitted again with this
    /// one as the start. The same for any number of threads.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] unless there is a group for every row; [`Error::Cancelled`].
    pub fn bootstrap(
        &self,
        sampling: Sampling<'_>,
        (seed, first, count): (u64, u32, u32),
        at: &[f64],
        workers: &Workers<'_>,
    ) -> Result<Vec<Replicate>> {
        let draws = self.placed.draws(sampling)?;
        workers.map(count as usize, |index| {
            let replicate = first.wrapping_add(index as u32);
            let Some(resampled) = self.placed.resampled_rates(&draws, (seed, replicate), &self.counted) else {
                return Ok(Replicate { area: f64::NAN, heights: vec![f64::NAN; at.len()] });
            };
            let curve = self.refit_with(&resampled.rates, &resampled.totals, resampled.gap, &workers.alone())?;
            Ok(Replicate { area: curve.area, heights: curve.heights(at) })
        })
    }

    /// How many rows, or groups where these are drawn, each class that has rows is spread over.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] unless there is a group for every row.
    pub fn class_units(&self, sampling: Sampling<'_>) -> Result<Vec<u32>> {
        Ok(self.placed.draws(sampling)?.class_units())
    }

    fn fit(&self, rates: &[f64], totals: &[f64], workers: &Workers<'_>) -> Result<Option<Fit>> {
        if self.placed.pair_count() == 1 {
            return Ok(None);
        }
        let [tp_weights, fp_weights] = self.weights.of_pairs(totals);
        let problem = Problem::new(rates, self.epsilon, &tp_weights, &fp_weights);
        let start = self.model.as_ref().map(|model| &model.factors);
        let stop = match start {
            // A replicate need not be fitted more finely than its noise.
            Some(_) => Stop { tolerance: 100.0 * self.stop.tolerance, settle_curve: false, ..self.stop },
            None => self.stop,
        };
        fit(&problem, self.center, stop, start, workers).map(Some)
    }

    /// The curve of rates and their model, by way of (0, 1) if there is a gap between the rows.
    fn curve_of(&self, rates: &[f64], totals: &[f64], model: Option<&Fit>, gap: Option<usize>) -> Curve {
        let curve = model.map_or_else(|| self.empirical_curve(rates, totals), |model| self.fitted_curve(model));
        match gap {
            Some(step) => curve.through_corner(step),
            None => curve,
        }
    }

    fn fitted_curve(&self, model: &Fit) -> Curve {
        let half = model.effects.len() / 2;
        let raw =
            [0..half, half..2 * half].map(|rows| model.effects[rows].iter().map(|&effect| expit(effect)).collect());
        let [mut tpr, mut fpr]: [Vec<f64>; 2] = raw.clone();
        for rate in tpr.iter_mut().chain(&mut fpr) {
            *rate = stretched(*rate, self.epsilon);
        }
        make_monotone(&mut tpr);
        make_monotone(&mut fpr);
        Curve { raw, area: area_under(&fpr, &tpr), tpr, fpr }
    }

    /// The curve of one pair. Unweighted rates are whole counts over class sizes: summed as such, the area is rounded
    /// by one division only.
    fn empirical_curve(&self, rates: &[f64], totals: &[f64]) -> Curve {
        let (tpr, fpr) = rates.split_at(rates.len() / 2);
        let [negatives, positives] = match self.placed.pairs()[..] {
            [(positive, negative)] if !self.placed.is_weighted() => [totals[negative], totals[positive]],
            _ => [1.0, 1.0],
        };
        let counts = |rates: &[f64], total: f64| -> Vec<f64> {
            rates.iter().map(|rate| if total > 1.0 { (rate * total).round() } else { rate * total }).collect()
        };
        let mut last = (0.0, 0.0);
        let mut doubled = 0.0;
        let points = counts(fpr, negatives).into_iter().zip(counts(tpr, positives));
        for point in points.chain([(negatives, positives)]) {
            doubled += (point.0 - last.0) * (point.1 + last.1);
            last = point;
        }
        Curve {
            raw: [tpr.to_vec(), fpr.to_vec()],
            tpr: tpr.to_vec(),
            fpr: fpr.to_vec(),
            area: doubled / (2.0 * negatives * positives),
        }
    }
}

/// The weights of the pairs in both halves of the matrix.
#[derive(Debug, Clone)]
struct Weights {
    /// The classes of each pair.
    pairs: Vec<(usize, usize)>,
    /// What is given, pair by pair: for true-positive and for false-positive rates.
    given: [Vec<f64>; 2],
    /// The factor that depends on the sizes of the pair's classes, which vary where replicates do not keep them.
    by_size: Option<fn(f64, f64) -> f64>,
}

impl Weights {
    fn new(placed: &PlacedCells, options: &CurveOptions<'_>) -> Self {
        let pairs = placed.pairs();
        let given = [options.tp_weights, options.fp_weights].map(|weights| {
            let of_pair = |&(c, d): &(usize, usize)| {
                let cell = c * placed.classes() + d;
                match options.pair_weights {
                    PairWeights::Matrix(matrix) => matrix[cell] * weights[cell],
                    _ => weights[cell],
                }
            };
            pairs.iter().map(of_pair).collect()
        });
        let by_size: Option<fn(f64, f64) -> f64> = match options.pair_weights {
            PairWeights::SizeProduct => Some(|a, b| a * b),
            PairWeights::SizeSum => Some(|a, b| a + b),
            PairWeights::Equal | PairWeights::Matrix(_) => None,
        };
        Self { pairs, given, by_size }
    }

    /// The weights in samples with these class sizes.
    fn of_pairs(&self, totals: &[f64]) -> [Vec<f64>; 2] {
        let mut weights = self.given.clone();
        if let Some(factor) = self.by_size {
            for weights in &mut weights {
                weights
                    .iter_mut()
                    .zip(&self.pairs)
                    .for_each(|(weight, &(c, d))| *weight *= factor(totals[c], totals[d]));
            }
        }
        weights
    }
}

/// Whether no threshold both misses rows and lets others pass, and the thresholds are fine enough for that to mean
/// something.
fn is_separated(high: &[f64], low: &[f64]) -> bool {
    const FINE_ENOUGH: f64 = 0.99;
    high.iter().zip(low).all(|(&high, &low)| high == 1.0 || low == 0.0) && area_under(low, high) > FINE_ENOUGH
}

/// Harmonic mean of the class sizes. A size is the class's weight (so that integer weights count as repeated rows), but
/// at least its number of rows: scaling the weights down does not make the rates less certain.
fn mean_class_size(placed: &PlacedCells) -> f64 {
    let sizes = placed.class_totals().into_iter().zip(placed.class_rows());
    let sizes: Vec<f64> = sizes.map(|((_, weight), rows)| weight.max(f64::from(rows))).collect();
    sizes.len() as f64 / sizes.iter().map(|size| 1.0 / size).sum::<f64>()
}

impl Curve {
    /// The curve of rates that no pair errs in on either side of a step of the grid: on the left edge before it, on the
    /// upper edge after it, and in between through the corner, into which the last point before is moved along the edge.
    fn through_corner(mut self, step: usize) -> Self {
        self.fpr[..step].fill(0.0);
        self.tpr[step..].fill(1.0);
        let last = step.saturating_sub(1);
        (self.fpr[last], self.tpr[last]) = (0.0, 1.0);
        Self { area: 1.0, ..self }
    }

    /// The curve's height at increasing false-positive rates; the upper end where it rises vertically.
    #[must_use]
    pub fn heights(&self, at: &[f64]) -> Vec<f64> {
        let mut points = self.fpr.iter().copied().zip(self.tpr.iter().copied()).chain([(1.0, 1.0)]).peekable();
        let mut left = (0.0, 0.0);
        let height = |&x: &f64| {
            while let Some(point) = points.next_if(|point| point.0 <= x) {
                left = point;
            }
            match points.peek() {
                Some(right) => left.1 + (right.1 - left.1) * (x - left.0) / (right.0 - left.0),
                None => left.1,
            }
        };
        at.iter().map(height).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights_of_a_curve() {
        let (tpr, fpr) = (vec![0.5, 0.75, 0.75], vec![0.0, 0.5, 0.5]);
        let curve = Curve { raw: [tpr.clone(), fpr.clone()], tpr, fpr, area: f64::NAN };
        assert_eq!(curve.heights(&[0.0, 0.25, 0.5, 0.75, 1.0]), [0.5, 0.625, 0.75, 0.875, 1.0]);
    }
}
