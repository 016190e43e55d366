//! Partial areas under ROC curves: only the part with few false positives, or with many true positives, counts.

use crate::error::{Error, Result};
use crate::float::Score;
use crate::pairs::{map_columns, weighted_mean};
use crate::parallel::Workers;
use crate::ranking::{Nearness, Order, OrderedRows, RankedRow, StepRows, WeightedWins};
use crate::sample::{ClassRows, ScoredSample};

/// The positive class of a curve, and its negative class or `None` for all others.
pub type CurveSides = (usize, Option<usize>);

/// The part of a ROC curve that counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Region {
    /// False-positive rates up to this, in (0, 1].
    MaxFpr(f64),
    /// True-positive rates from this on, in [0, 1).
    MinTpr(f64),
}

/// Partial areas of several curves and their averages.
#[derive(Debug, Clone, PartialEq)]
pub struct PartialAucs {
    /// The area of each curve.
    pub values: Vec<f64>,
    /// Their mean.
    pub mean: f64,
    /// Their mean weighted by the prevalences of the positive classes.
    pub mean_by_prevalence: f64,
}

/// The partial areas of some curves (positive class c, negative class or all others), by the scores of column c.
///
/// With FPR ≤ f the area A = ∫ TPR dFPR lies between f²/2 (chance) and f; the value is ½(1 + (A − f²/2)/(f − f²/2))
/// (McClish 1989). TPR ≥ t is the same on the curve of (1 − TPR, 1 − FPR), with f = 1 − t.
///
/// # Errors
/// [`Error::AbsentClass`] if a side of a curve has no rows, [`Error::Cancelled`].
pub fn partial_aucs<T: Score>(
    sample: &ScoredSample<'_, T>,
    curves: &[CurveSides],
    region: Region,
    workers: &Workers<'_>,
) -> Result<PartialAucs> {
    let rows = ClassRows::new(sample);
    check_present(&rows, curves)?;
    let columns: Vec<usize> = curves.iter().map(|&(c, _)| c).collect();
    let values = map_columns(sample, &rows, &columns, workers, OrderedRows::default, |ordered, curve, blocks| {
        let sides = curves[curve];
        Ok(area_of(&rows, |class| blocks.run(class, sides.0), sides, region, ordered))
    })?;
    let weighted = curves.iter().zip(&values).map(|(&(c, _), &value)| (rows.weight(c), value)).collect();
    Ok(PartialAucs {
        mean: weighted_mean(values.iter().map(|&value| (1.0, value)).collect())?,
        mean_by_prevalence: weighted_mean(weighted)?,
        values,
    })
}

/// # Errors
/// [`Error::AbsentClass`] if a side of a curve has no rows.
pub(crate) fn check_present(rows: &ClassRows, curves: &[CurveSides]) -> Result<()> {
    let absent = curves.iter().flat_map(|&(c, d)| [Some(c), d]).flatten().find(|&class| rows.count(class) == 0);
    absent.map_or(Ok(()), |class| Err(Error::AbsentClass { class }))
}

/// The area of one curve from the scores of its column, class by class: only the rows in the region are sorted.
fn area_of<'b, T: Score + 'b>(
    rows: &ClassRows,
    run: impl Fn(usize) -> &'b [T],
    (c, d): CurveSides,
    region: Region,
    ordered: &mut OrderedRows,
) -> f64 {
    let others: Vec<usize> = d.map_or_else(|| rows.others(c).collect(), |d| vec![d]);
    let across = match region {
        Region::MaxFpr(_) => &others[..],
        Region::MinTpr(_) => &[c][..],
    };
    let scores = |class: usize| run(class).iter().map(|&score| -> f64 { score.into() });
    let mut order_within = |cut: f64| {
        ordered.clear();
        let mut outside = Outside::default();
        for (side, classes) in [(Order::OWN, &[c][..]), (Order::OTHER, &others)] {
            for &class in classes {
                let positions = rows.range(class).start as u32..;
                for (row, key) in positions.zip(scores(class)) {
                    if region.is_within(key, cut) {
                        ordered.push(RankedRow { key, row, side });
                    } else if side == Order::OWN {
                        outside.own += rows.mass(row);
                    } else {
                        outside.others += rows.mass(row);
                    }
                }
            }
        }
        let order =
            Order::new(ordered, Nearness::NEVER, |_| unreachable!("scores of one column are compared as they are"));
        area_within(&order, region, |position| rows.mass(position), outside)
    };
    let cut = region.likely_cut(
        across.iter().flat_map(|&class| {
            let positions = rows.range(class).start as u32..;
            positions.zip(scores(class)).map(|(position, key)| (key, rows.mass(position)))
        }),
        across.iter().map(|&class| rows.of(class).len()).sum(),
    );
    // Where the guess was wrong, and the region reaches further, all rows are sorted.
    cut.and_then(&mut order_within).or_else(|| order_within(region.end())).unwrap_or(f64::NAN)
}

impl Region {
    /// How much of the side along the axis counts.
    const fn limit(self) -> f64 {
        match self {
            Self::MaxFpr(rate) => rate,
            Self::MinTpr(rate) => 1.0 - rate,
        }
    }

    /// Whether a score is on the side of the cut where the curve begins: the highest scores, or the lowest for the mirrored
    /// curve.
    fn is_within(self, score: f64, cut: f64) -> bool {
        match self {
            Self::MaxFpr(_) => score >= cut,
            Self::MinTpr(_) => score <= cut,
        }
    }

    /// The cut that has all scores within it.
    const fn end(self) -> f64 {
        match self {
            Self::MaxFpr(_) => f64::NEG_INFINITY,
            Self::MinTpr(_) => f64::INFINITY,
        }
    }

    /// A score that the region most likely does not reach beyond, judging by a sample of the (score, mass) along the axis;
    /// `None` if it would not save much.
    fn likely_cut(self, along: impl Iterator<Item = (f64, f64)>, count: usize) -> Option<f64> {
        const SAMPLE: usize = 1 << 10;
        const LARGEST: f64 = 0.6;
        if count < 8 * SAMPLE || self.limit() > LARGEST {
            return None;
        }
        let mut sample: Vec<(f64, f64)> = along.step_by(count / SAMPLE).collect();
        sample.sort_by(|a, b| match self {
            Self::MaxFpr(_) => b.0.total_cmp(&a.0),
            Self::MinTpr(_) => a.0.total_cmp(&b.0),
        });
        let all: f64 = sample.iter().map(|&(_, mass)| mass).sum();
        // Four standard errors beyond the limit.
        let spread = (self.limit() * (1.0 - self.limit()) / sample.len() as f64).sqrt();
        let wanted = (self.limit() + 4.0 * spread + 4.0 / sample.len() as f64) * all;
        let mut passed = 0.0;
        let place = sample.iter().position(|&(_, mass)| {
            passed += mass;
            passed >= wanted
        })?;
        Some(sample[place].0)
    }
}

/// The mass of the rows that were left out of an order.
#[derive(Debug, Clone, Copy, Default)]
struct Outside {
    own: f64,
    others: f64,
}

/// The standardised area of the own rows' curve against the other rows; NaN where a side has no mass.
pub(crate) fn partial_area(order: &Order, region: Region, mass: impl Fn(u32) -> f64) -> f64 {
    area_within(order, region, mass, Outside::default()).unwrap_or(f64::NAN)
}

/// The same where the order has only the rows with which the curve begins; `None` if the region reaches beyond them.
fn area_within(order: &Order, region: Region, mass: impl Fn(u32) -> f64, outside: Outside) -> Option<f64> {
    let sum = |positions: &[u32]| positions.iter().map(|&position| mass(position)).sum::<f64>();
    let limit = region.limit();
    let share = match region {
        Region::MaxFpr(_) => {
            let advance = |step: StepRows<'_>| (sum(step.others), sum(step.own));
            share_below(limit, || order.steps_down(), advance, (outside.others, outside.own))
        }
        // From the lowest scores up: the mirrored curve.
        Region::MinTpr(_) => {
            let advance = |step: StepRows<'_>| (sum(step.own), sum(step.others));
            share_below(limit, || order.steps(), advance, (outside.own, outside.others))
        }
    }?;
    // ½(1 + (A − f²/2)/(f − f²/2)) with the share A/f: exactly 1 where nothing is lost.
    let least = 0.5 * limit;
    Some(0.5 * (1.0 + (share - least) / (1.0 - least)))
}

/// The share of the box over x up to `limit` of all x that lies below a curve of steps (dx, dy), beyond which (dx, dy) is
/// left: a tied step is a straight line, any other goes right and then up. NaN where the curve has no width or no height;
/// `None` if the steps end before the limit.
fn share_below<'o, I: Iterator<Item = StepRows<'o>>>(
    limit: f64,
    steps: impl Fn() -> I,
    advance: impl Fn(StepRows<'o>) -> (f64, f64),
    left: (f64, f64),
) -> Option<f64> {
    // Summed as below, so that the way through all steps ends exactly there.
    let (all_x, all_y) = steps().map(&advance).fold((0.0, 0.0), |(x, y), (dx, dy)| (x + dx, y + dy));
    let (width, height) = (all_x + left.0, all_y + left.1);
    if width <= 0.0 || height <= 0.0 {
        return Some(f64::NAN);
    }
    let limit = limit * width;
    if left.0 > 0.0 && all_x < limit {
        return None;
    }
    let (mut x, mut y) = (0.0, 0.0);
    let mut areas = WeightedWins::default();
    for step in steps() {
        let (dx, dy) = advance(step);
        let is_last = x + dx >= limit;
        let used = if is_last { limit - x } else { dx };
        let rise = if step.is_tied && dx > 0.0 { used / dx * dy } else { 0.0 };
        areas.add(used, WeightedWins { won: 2.0 * y + rise, lost: 2.0 * (height - y) - rise });
        if is_last {
            break;
        }
        (x, y) = (x + dx, y + dy);
    }
    Some(areas.share())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::Cancel;
    use crate::sample::{ClassCodes, ScoreMatrix};

    /// Partial areas of rows with one score for all columns.
    fn partial(
        scores: &[f64],
        codes: &[u8],
        weights: Option<&[f64]>,
        curves: &[CurveSides],
        region: Region,
    ) -> Result<PartialAucs> {
        const CLASSES: usize = 4;
        let cancel = Cancel::new();
        let workers = Workers::with_threads(1, &cancel);
        let matrix = ScoreMatrix::new(scores, 0, (scores.len(), CLASSES), (1, 0))?;
        let sample = ScoredSample::new(matrix, ClassCodes::Bytes(codes), weights, &workers)?;
        partial_aucs(&sample, curves, region, &workers)
    }

    /// The value by the definition: straight lines between the points of all thresholds, cut off at the limit.
    fn slow_value(positives: &[(f64, f64)], negatives: &[(f64, f64)], region: Region) -> f64 {
        let rate = |rows: &[(f64, f64)], threshold: f64| {
            let above = rows.iter().filter(|&&(score, _)| score >= threshold).map(|&(_, weight)| weight).sum::<f64>();
            above / rows.iter().map(|&(_, weight)| weight).sum::<f64>()
        };
        let mut thresholds: Vec<f64> = positives.iter().chain(negatives).map(|&(score, _)| score).collect();
        thresholds.push(f64::INFINITY);
        thresholds.sort_by(|a, b| b.total_cmp(a));
        let mut points: Vec<(f64, f64)> =
            thresholds.iter().map(|&threshold| (rate(negatives, threshold), rate(positives, threshold))).collect();
        let limit = match region {
            Region::MaxFpr(limit) => limit,
            Region::MinTpr(limit) => {
                points = points.into_iter().rev().map(|(x, y)| (1.0 - y, 1.0 - x)).collect();
                1.0 - limit
            }
        };
        let mut area = 0.0;
        for line in points.windows(2) {
            let [(x0, y0), (x1, y1)] = [line[0], line[1]];
            if x1 > x0 && x0 < limit {
                let x = x1.min(limit);
                let y = y0 + (y1 - y0) * (x - x0) / (x1 - x0);
                area += (x - x0) * (y0 + y) / 2.0;
            }
        }
        let (least, most) = (limit * limit / 2.0, limit);
        0.5 + 0.5 * (area - least) / (most - least)
    }

    /// Positives 4, 3, 3, 1 and negatives 3, 2, 1, 0: a curve through (0, 1/4), (1/4, 3/4), (1/2, 3/4), (3/4, 1).
    const SCORES: [f64; 8] = [4.0, 3.0, 3.0, 1.0, 3.0, 2.0, 1.0, 0.0];
    const CODES: [u8; 8] = [1, 1, 1, 1, 0, 0, 0, 0];

    #[track_caller]
    fn assert_value(region: Region, expected: f64) {
        let found = partial(&SCORES, &CODES, None, &[(1, Some(0))], region).expect("an area");
        assert!((found.values[0] - expected).abs() < 1e-15, "{region:?}: {} instead of {expected}", found.values[0]);
    }

    #[test]
    fn areas_are_those_computed_by_hand() {
        // At a point: A = 5/16 between 1/8 and 1/2.
        assert_value(Region::MaxFpr(0.5), 0.75);
        // Half-way along a tied step: A = 3/64 between 1/128 and 1/8.
        assert_value(Region::MaxFpr(0.125), 2.0 / 3.0);
        // On the mirrored curve: A = 19/64 between 1/8 and 1/2.
        assert_value(Region::MinTpr(0.5), 35.0 / 48.0);
    }

    #[test]
    fn the_whole_curve_has_the_auc() {
        let credit = |a: f64, b: f64| f64::from(u8::from(a > b)) + 0.5 * f64::from(u8::from(a == b));
        let pairs = SCORES[..4].iter().flat_map(|&a| SCORES[4..].iter().map(move |&b| credit(a, b)));
        let auc = pairs.sum::<f64>() / 16.0;
        assert_value(Region::MaxFpr(1.0), auc);
        assert_value(Region::MinTpr(0.0), auc);
    }

    #[test]
    fn areas_are_those_of_the_definition_with_ties_and_weights() {
        let scores: Vec<f64> = (0..60_u32).map(|row| f64::from(row * row * 7 % 23)).collect();
        let codes: Vec<u8> = (0..60_u32).map(|row| (row * 5 % 7 % 3) as u8).collect();
        let weights: Vec<f64> = (0..60_u32).map(|row| f64::from(row * 11 % 5) / 2.0).collect();
        let curves = [(0, None), (1, None), (2, None), (0, Some(1)), (2, Some(0))];
        for weights in [None, Some(&weights[..])] {
            for region in
                [0.01, 0.1, 0.37, 0.9, 1.0].into_iter().flat_map(|f| [Region::MaxFpr(f), Region::MinTpr(1.0 - f)])
            {
                let found = partial(&scores, &codes, weights, &curves, region).expect("areas");
                let rows = |wanted: &dyn Fn(usize) -> bool| -> Vec<(f64, f64)> {
                    let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
                    let of_side = (0..60).filter(|&row| wanted(codes[row].into()));
                    of_side.map(|row| (scores[row], weight(row))).collect()
                };
                let (mut sums, mut total) = ((0.0, 0.0), 0.0);
                for (&(c, d), &value) in curves.iter().zip(&found.values) {
                    let positives = rows(&|class| class == c);
                    let negatives = rows(&|class| d.map_or(class != c, |d| class == d));
                    let expected = slow_value(&positives, &negatives, region);
                    assert!((value - expected).abs() < 1e-12, "{region:?}, {c}, {d:?}: {value} instead of {expected}");
                    let weight = positives.iter().map(|&(_, weight)| weight).sum::<f64>();
                    sums = (sums.0 + expected, sums.1 + weight * expected);
                    total += weight;
                }
                assert!((found.mean - sums.0 / 5.0).abs() < 1e-12);
                assert!((found.mean_by_prevalence - sums.1 / total).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn selected_rows_have_the_area_of_all() {
        let count = 40_000_u32;
        let codes: Vec<u8> = (0..count).map(|row| u8::from(row * 7 % 5 < 2)).collect();
        let weights: Vec<f64> = (0..count).map(|row| f64::from(row * 11 % 5)).collect();
        for digits in [10.0, 1e3, 1e9] {
            let score = |row: u32| {
                let uniform = f64::from(row.wrapping_mul(2_654_435_769)) / f64::from(u32::MAX);
                ((uniform + 0.3 * f64::from(codes[row as usize])) * digits).round() / digits
            };
            let scores: Vec<f64> = (0..count).map(score).collect();
            let sides = |class: u8| -> Vec<(f64, u32)> {
                let of_class = (0..count).filter(|&row| codes[row as usize] == class);
                of_class.map(|row| (scores[row as usize], row)).collect()
            };
            for weights in [None, Some(&weights[..])] {
                for region in [0.001, 0.1, 0.5].into_iter().flat_map(|f| [Region::MaxFpr(f), Region::MinTpr(1.0 - f)]) {
                    let found = partial(&scores, &codes, weights, &[(1, None)], region).expect("an area");
                    let mut rows = OrderedRows::default();
                    for (side, class) in [(Order::OWN, 1), (Order::OTHER, 0)] {
                        for (key, row) in sides(class) {
                            rows.push(RankedRow { key, row, side });
                        }
                    }
                    let order = Order::new(&mut rows, Nearness::NEVER, |_| unreachable!("no near keys"));
                    let mass = |row: u32| weights.map_or(1.0, |weights| weights[row as usize]);
                    // Whole weights: all sums are exact.
                    assert_eq!(found.values[0], partial_area(&order, region, mass), "{region:?}, {digits}");
                }
            }
        }
    }

    #[test]
    fn a_curve_needs_rows_on_both_sides() {
        let found = |curve: CurveSides, weights| partial(&SCORES, &CODES, weights, &[curve], Region::MaxFpr(0.5)).err();
        assert_eq!(found((3, None), None), Some(Error::AbsentClass { class: 3 }));
        assert_eq!(found((1, Some(2)), None), Some(Error::AbsentClass { class: 2 }));
        assert_eq!(found((1, Some(0)), None), None);
        let order = {
            let mut rows = OrderedRows::default();
            rows.extend(Order::OWN, 0, [1.0, 2.0].into_iter());
            rows.extend(Order::OTHER, 2, [0.0, 3.0].into_iter());
            Order::new(&mut rows, Nearness::NEVER, |_| unreachable!("no near keys"))
        };
        assert!(partial_area(&order, Region::MaxFpr(0.5), |position| f64::from(position / 2)).is_nan());
    }
}
