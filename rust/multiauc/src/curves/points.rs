//! The points of ROC curves.

use super::of_present;
use super::partial::CurveSides;
use crate::error::Result;
use crate::float::{CarefulSum, Score};
use crate::pairs::map_columns;
use crate::parallel::Workers;
use crate::ranking::{Gaps, Nearness, OrderedRows, RankedRow};
use crate::sample::{ClassRows, ScoredSample};

/// Larger tables would not stay in the cache: then sorting all rows in parts is better.
const LARGEST_TABLE: usize = 1 << 18;

/// A curve from (0, 0) to (1, 1): a row is called positive where its score is at least the threshold.
#[derive(Debug, Clone, PartialEq)]
pub struct CurvePoints {
    /// False positive rates, rising.
    pub false_positive_rates: Vec<f64>,
    /// True positive rates, rising.
    pub true_positive_rates: Vec<f64>,
    /// Thresholds, falling from +∞.
    pub thresholds: Vec<f64>,
}

/// Some curves (positive class c, negative class or all others), by the scores of column c; one point, NaN, where a side
/// has no rows.
///
/// With `drop_intermediate` points on a straight line between their neighbours are left out.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub fn roc_curves<T: Score>(
    sample: &ScoredSample<'_, T>,
    curves: &[CurveSides],
    drop_intermediate: bool,
    workers: &Workers<'_>,
) -> Result<Vec<CurvePoints>> {
    let rows = ClassRows::new(sample, workers)?;
    of_present(&rows, curves, &CurvePoints::undefined(), |curves| {
        let columns: Vec<usize> = curves.iter().map(|&(positive, _)| positive).collect();
        map_columns(sample, &rows, &columns, workers, CurveScratch::default, |scratch, curve, blocks| {
            let sides = curves[curve];
            let CurveScratch { ordered, gaps, false_positives, true_positives, thresholds, .. } = scratch;
            [&mut *false_positives, &mut *true_positives, &mut *thresholds].into_iter().for_each(Vec::clear);
            let run = |class: usize| blocks.run(class, sides.0);
            let push = |(x, y, threshold): Point| {
                false_positives.push(x);
                true_positives.push(y);
                thresholds.push(threshold);
            };
            // Only the corners are wanted: there are none between rows of the other side.
            if drop_intermediate && rows.weights().is_none() && run(sides.0).len() <= LARGEST_TABLE {
                visit_ends(&rows, run, sides, gaps, push);
            } else {
                visit_points(&rows, run, sides, ordered, push);
            }
            scratch.keep(drop_intermediate);
            Ok(scratch.rates())
        })
    })
}

/// `finish(points)` for some curves, the points being (weight of false positives, weight of true positives, threshold) at
/// every threshold, falling from +∞; `undefined` where a side has no rows.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub(super) fn map_points<T: Score, R: Send + Clone>(
    sample: &ScoredSample<'_, T>,
    curves: &[CurveSides],
    workers: &Workers<'_>,
    undefined: &R,
    finish: impl Fn(Vec<(f64, f64, f64)>) -> R + Sync,
) -> Result<Vec<R>> {
    let rows = ClassRows::new(sample, workers)?;
    of_present(&rows, curves, undefined, |curves| {
        let columns: Vec<usize> = curves.iter().map(|&(positive, _)| positive).collect();
        map_columns(sample, &rows, &columns, workers, OrderedRows::default, |ordered, curve, blocks| {
            let sides = curves[curve];
            let mut points = Vec::new();
            visit_points(&rows, |class| blocks.run(class, sides.0), sides, ordered, |point| points.push(point));
            Ok(finish(points))
        })
    })
}

/// (weight of false positives, weight of true positives, threshold).
type Point = (f64, f64, f64);

/// Calls `visit(point)` for the points of one curve, from the scores of its column class by class.
fn visit_points<'b, T: Score + 'b>(
    rows: &ClassRows,
    run: impl Fn(usize) -> &'b [T],
    (positive, negative): CurveSides,
    ordered: &mut OrderedRows,
    mut visit: impl FnMut(Point),
) {
    const POSITIVE: u16 = 1;
    let negatives: Vec<usize> = negative.map_or_else(|| rows.others(positive).collect(), |negative| vec![negative]);
    ordered.clear();
    for (class, side) in [(positive, POSITIVE)].into_iter().chain(negatives.into_iter().map(|class| (class, 0))) {
        let scores = run(class).iter().map(|&score| -> f64 { score.into() });
        // From the highest score down.
        ordered.extend(side, rows.range(class).start as u32, scores.map(|score| -score));
    }
    ordered.sort();
    visit((0.0, 0.0, f64::INFINITY));
    let never_near = |_: &RankedRow| unreachable!("scores of one column are compared as they are");
    // From zero, so that both zeros are one threshold.
    let threshold = |tie: &[RankedRow]| 0.0 - tie[0].key;
    let Some(weights) = rows.weights() else {
        let (mut passed, mut true_positives) = (0_u32, 0_u32);
        ordered.for_each_tie(Nearness::NEVER, never_near, |tie| {
            passed += tie.len() as u32;
            true_positives += tie.iter().map(|row| u32::from(row.side)).sum::<u32>();
            visit((f64::from(passed - true_positives), f64::from(true_positives), threshold(tie)));
        });
        return;
    };
    let (mut false_positives, mut true_positives) = (CarefulSum::default(), CarefulSum::default());
    ordered.for_each_tie(Nearness::NEVER, never_near, |tie| {
        for row in tie {
            let sum = if row.side == POSITIVE { &mut true_positives } else { &mut false_positives };
            sum.add(weights[row.row as usize]);
        }
        visit((false_positives.value(), true_positives.value(), threshold(tie)));
    });
}

/// The same without weights, and without the points between rows of the other side, which lie on a straight line: only the
/// rows of the positive class are sorted.
fn visit_ends<'b, T: Score + 'b>(
    rows: &ClassRows,
    run: impl Fn(usize) -> &'b [T],
    (positive, negative): CurveSides,
    gaps: &mut Gaps,
    mut visit: impl FnMut(Point),
) {
    gaps.build(run(positive));
    match negative {
        Some(negative) => gaps.add(run(negative)),
        None => rows.others(positive).for_each(|class| gaps.add(run(class))),
    }
    visit((0.0, 0.0, f64::INFINITY));
    let (mut false_positives, mut true_positives) = (0_u32, 0_u32);
    gaps.for_each_down(|step| {
        (false_positives, true_positives) = (false_positives + step.others, true_positives + step.own);
        // From zero, so that both zeros are one threshold.
        visit((f64::from(false_positives), f64::from(true_positives), 0.0 + step.key));
    });
}

/// Memory reused from curve to curve: the rows, and the points of a curve.
#[derive(Debug, Default)]
struct CurveScratch {
    ordered: OrderedRows,
    gaps: Gaps,
    false_positives: Vec<f64>,
    true_positives: Vec<f64>,
    thresholds: Vec<f64>,
    /// The numbers of the points that are kept.
    kept: Vec<u32>,
}

impl CurveScratch {
    /// The first and last point and those where the direction changes, or all of them.
    fn keep(&mut self, drop_intermediate: bool) {
        let (x, y) = (&self.false_positives[..], &self.true_positives[..]);
        let last = x.len() as u32 - 1;
        self.kept.clear();
        if !drop_intermediate || last < 2 {
            self.kept.extend(0..=last);
            return;
        }
        self.kept.resize(x.len(), 0);
        let mut count = 1;
        for (index, (x, y)) in (1..).zip(x.windows(3).zip(y.windows(3))) {
            let cross = (x[1] - x[0]) * (y[2] - y[1]) - (y[1] - y[0]) * (x[2] - x[1]);
            // Always written, kept only if it is a corner: a branch would be mispredicted.
            self.kept[count] = index;
            count += usize::from(cross != 0.0);
        }
        self.kept[count] = last;
        self.kept.truncate(count + 1);
    }

    /// Rates from sums of weights, the last of which are the totals.
    fn rates(&self) -> CurvePoints {
        let of_kept = |values: &[f64], total: f64| -> Vec<f64> {
            self.kept.iter().map(|&index| values[index as usize] / total).collect()
        };
        let last = self.thresholds.len() - 1;
        CurvePoints {
            false_positive_rates: of_kept(&self.false_positives, self.false_positives[last]),
            true_positive_rates: of_kept(&self.true_positives, self.true_positives[last]),
            thresholds: of_kept(&self.thresholds, 1.0),
        }
    }
}

impl CurvePoints {
    /// The curve of a class without rows.
    pub(super) fn undefined() -> Self {
        let nan = vec![f64::NAN];
        Self { false_positive_rates: nan.clone(), true_positive_rates: nan.clone(), thresholds: nan }
    }

    /// Rates from sums of weights, the last of which are the totals.
    pub(super) fn of_sums(points: &[(f64, f64, f64)]) -> Self {
        let &(negatives, positives, _) = points.last().expect("a curve has a first point");
        Self {
            false_positive_rates: points.iter().map(|point| point.0 / negatives).collect(),
            true_positive_rates: points.iter().map(|point| point.1 / positives).collect(),
            thresholds: points.iter().map(|point| point.2).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::Cancel;
    use crate::sample::{ClassCodes, ScoreMatrix};

    /// Curves of rows with one score for all columns.
    fn curves(
        scores: &[f64],
        codes: &[u8],
        weights: Option<&[f64]>,
        sides: &[CurveSides],
        drop_intermediate: bool,
    ) -> Result<Vec<CurvePoints>> {
        const CLASSES: usize = 4;
        let cancel = Cancel::new();
        let workers = Workers::with_threads(2, &cancel);
        let matrix = ScoreMatrix::new(scores, 0, (scores.len(), CLASSES), (1, 0))?;
        let sample = ScoredSample::new(matrix, ClassCodes::Bytes(codes), weights, &workers)?;
        roc_curves(&sample, sides, drop_intermediate, &workers)
    }

    fn points(curve: &CurvePoints) -> Vec<(f64, f64, f64)> {
        let rates = curve.false_positive_rates.iter().zip(&curve.true_positive_rates);
        rates.zip(&curve.thresholds).map(|((&fpr, &tpr), &threshold)| (fpr, tpr, threshold)).collect()
    }

    const START: (f64, f64, f64) = (0.0, 0.0, f64::INFINITY);
    /// Positives 4, 3, 3, 1 and negatives 3, 2, 1, 0.
    const SCORES: [f64; 8] = [4.0, 3.0, 3.0, 1.0, 3.0, 2.0, 1.0, 0.0];
    const CODES: [u8; 8] = [1, 1, 1, 1, 0, 0, 0, 0];

    #[test]
    fn there_is_a_point_for_every_score() {
        let found = curves(&SCORES, &CODES, None, &[(1, Some(0)), (0, None)], false).expect("curves");
        let expected =
            [START, (0.0, 0.25, 4.0), (0.25, 0.75, 3.0), (0.5, 0.75, 2.0), (0.75, 1.0, 1.0), (1.0, 1.0, 0.0)];
        assert_eq!(points(&found[0]), expected);
        // With the classes exchanged, so are the axes.
        assert_eq!(points(&found[1]), expected.map(|(fpr, tpr, threshold)| (tpr, fpr, threshold)));
    }

    #[test]
    fn both_zeros_are_one_threshold() {
        let found = curves(&[0.0, -0.0], &[1, 0], None, &[(1, None)], false).expect("a curve");
        assert_eq!(points(&found[0]), [START, (1.0, 1.0, 0.0)]);
    }

    #[test]
    fn weights_count_and_rows_of_weight_zero_do_not() {
        let weights = [1.0, 0.0, 2.0, 1.0, 3.0, 0.0, 1.0, 4.0];
        let found = curves(&SCORES, &CODES, Some(&weights), &[(1, None)], false).expect("a curve");
        // No threshold of 2, whose row has no weight.
        let expected = [START, (0.0, 0.25, 4.0), (0.375, 0.75, 3.0), (0.5, 1.0, 1.0), (1.0, 1.0, 0.0)];
        assert_eq!(points(&found[0]), expected);
    }

    #[test]
    fn dropping_intermediate_points_keeps_the_corners() {
        // Down from the highest score: two positives, a tie of both, another such tie, two negatives.
        let scores = [9.0, 8.0, 7.0, 7.0, 6.0, 6.0, 5.0, 4.0];
        let codes = [1, 1, 1, 0, 1, 0, 0, 0];
        let found = curves(&scores, &codes, None, &[(1, None)], true).expect("a curve");
        assert_eq!(points(&found[0]), [START, (0.0, 0.5, 8.0), (0.5, 1.0, 6.0), (1.0, 1.0, 4.0)]);
    }

    #[test]
    fn points_are_those_of_the_definition_and_dropped_ones_lie_on_the_curve() {
        let scores: Vec<f64> = (0..60_u32).map(|row| f64::from(row * row * 7 % 23)).collect();
        let codes: Vec<u8> = (0..60_u32).map(|row| (row * 5 % 7 % 3) as u8).collect();
        for sides in [(0, None), (2, None), (1, Some(2))] {
            let (positive, negative) = sides;
            let is_negative = |class: usize| negative.map_or(class != positive, |negative| class == negative);
            let rate = |is_wanted: &dyn Fn(usize) -> bool, threshold: f64| {
                let of_side: Vec<usize> = (0..60).filter(|&row| is_wanted(codes[row].into())).collect();
                of_side.iter().filter(|&&row| scores[row] >= threshold).count() as f64 / of_side.len() as f64
            };
            let all = points(&curves(&scores, &codes, None, &[sides], false).expect("a curve")[0]);
            for &(fpr, tpr, threshold) in &all {
                assert_eq!(fpr, rate(&is_negative, threshold));
                assert_eq!(tpr, rate(&|class| class == positive, threshold));
            }
            assert!(all.windows(2).all(|pair| pair[0].2 > pair[1].2));
            let kept = points(&curves(&scores, &codes, None, &[sides], true).expect("a curve")[0]);
            assert_eq!((kept.first(), kept.last()), (all.first(), all.last()));
            for point in &all {
                let after = kept.iter().position(|kept| kept.2 <= point.2).expect("the last point is kept");
                let (from, to) = (kept[after.saturating_sub(1)], kept[after]);
                let cross = (point.0 - from.0) * (to.1 - from.1) - (point.1 - from.1) * (to.0 - from.0);
                assert!(cross.abs() < 1e-15, "{point:?} is not between {from:?} and {to:?}");
            }
        }
    }

    /// Weights of 1 are sorted, rows without weights are counted in gaps.
    #[test]
    fn corners_are_the_same_with_and_without_weights() {
        let mut state = 3_u32;
        let mut draw = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % below
        };
        for round in 0..600_u32 {
            let (count, values) = (3 + draw(if round % 20 == 0 { 3000 } else { 60 }) as usize, [3, 20, 1 << 20]);
            let values = values[draw(3) as usize];
            let scores: Vec<f64> = (0..count).map(|_| f64::from(draw(values)) / f64::from(values) - 0.25).collect();
            let codes: Vec<u8> = (0..count).map(|row| if row < 3 { row as u8 } else { draw(3) as u8 }).collect();
            let sides = [(0, None), (1, Some(2)), (2, None)];
            let counted = curves(&scores, &codes, None, &sides, true).expect("curves");
            assert_eq!(counted, curves(&scores, &codes, Some(&vec![1.0; count]), &sides, true).expect("curves"));
        }
    }

    #[test]
    fn a_curve_needs_rows_on_both_sides() {
        let found = curves(&SCORES, &CODES, None, &[(3, None), (1, Some(0)), (1, Some(2))], false).expect("curves");
        assert!(found[0].thresholds.len() == 1 && found[0].thresholds[0].is_nan());
        assert_eq!(found[1].thresholds.len(), 6);
        assert!(found[2].true_positive_rates[0].is_nan());
    }
}
