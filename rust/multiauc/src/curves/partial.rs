//! Partial areas under ROC curves: only the part with few false positives, or with many true positives, counts.

use std::ops::Range;

use super::of_present;
use crate::error::{Error, Result};
use crate::float::Score;
use crate::pairs::{map_columns, weighted_mean};
use crate::parallel::Workers;
use crate::ranking::{BucketTable, Lookup, Nearness, Order, OrderedRows, RankedRow, StepRows, WeightedWins};
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
/// The area of a curve that has no rows on one side is NaN, and not part of the means.
///
/// # Errors
/// [`Error::Cancelled`].
pub fn partial_aucs<T: Score>(
    sample: &ScoredSample<'_, T>,
    curves: &[CurveSides],
    region: Region,
    workers: &Workers<'_>,
) -> Result<PartialAucs> {
    let rows = ClassRows::new(sample, workers)?;
    let values = of_present(&rows, curves, &f64::NAN, |curves| {
        let columns: Vec<usize> = curves.iter().map(|&(c, _)| c).collect();
        map_columns(sample, &rows, &columns, workers, AreaScratch::default, |scratch, curve, blocks| {
            let sides = curves[curve];
            Ok(Curve::new(&rows, |class| blocks.run(class, sides.0), sides, region).area(scratch))
        })
    })?;
    let known = || curves.iter().zip(&values).filter(|(_, value)| !value.is_nan());
    let mean = weighted_mean(known().map(|(_, &value)| (1.0, value)).collect())?;
    let mean_by_prevalence = weighted_mean(known().map(|(&(c, _), &value)| (rows.weight(c), value)).collect())?;
    Ok(PartialAucs { values, mean, mean_by_prevalence })
}

/// # Errors
/// [`Error::AbsentClass`] if a side of a curve has no rows.
pub(crate) fn check_present(rows: &ClassRows, curves: &[CurveSides]) -> Result<()> {
    let absent = curves.iter().flat_map(|&(c, d)| [Some(c), d]).flatten().find(|&class| rows.count(class) == 0);
    absent.map_or(Ok(()), |class| Err(Error::AbsentClass { class }))
}

/// Memory reused from curve to curve.
#[derive(Debug, Default)]
struct AreaScratch {
    ordered: OrderedRows,
    /// Without weights: the scores in the region, along the axis and across it, the curve beginning with the highest.
    along: Vec<f64>,
    across: Vec<f64>,
    table: BucketTable<f64>,
}

/// One curve: the classes along its axis and across it.
struct Curve<'c, T> {
    rows: &'c ClassRows,
    /// Scores with the positions of the rows, class by class.
    own: Vec<(Range<usize>, &'c [T])>,
    others: Vec<(Range<usize>, &'c [T])>,
    region: Region,
}

impl<'c, T: Score> Curve<'c, T> {
    fn new(rows: &'c ClassRows, run: impl Fn(usize) -> &'c [T], (c, d): CurveSides, region: Region) -> Self {
        let side = |class: usize| (rows.range(class), run(class));
        let others = d.map_or_else(|| rows.others(c).map(side).collect(), |d| vec![side(d)]);
        Self { rows, own: vec![side(c)], others, region }
    }

    /// The sides along the axis and across it.
    fn sides(&self) -> [&[(Range<usize>, &'c [T])]; 2] {
        match self.region {
            Region::MaxFpr(_) => [&self.others, &self.own],
            Region::MinTpr(_) => [&self.own, &self.others],
        }
    }

    /// The area: only the rows in the region are looked at.
    fn area(&self, scratch: &mut AreaScratch) -> f64 {
        let mut area_within = |cut: f64| match self.rows.weights() {
            None => self.counted_area(cut, scratch),
            Some(weights) => self.weighted_area(cut, weights, &mut scratch.ordered),
        };
        // Where the guess was wrong, and the region reaches further, all rows are taken.
        let cut = self.region.likely_cut(self.sides()[0], |position| self.rows.mass(position));
        cut.and_then(&mut area_within).or_else(|| area_within(self.region.end())).unwrap_or(f64::NAN)
    }

    /// Without weights, by counting: of the rows along the axis up to the limit, each is above so many across it. `None` if
    /// the region reaches beyond the cut.
    fn counted_area(&self, cut: f64, AreaScratch { along, across, table, .. }: &mut AreaScratch) -> Option<f64> {
        let sides = self.sides();
        for (side, kept) in sides.into_iter().zip([&mut *along, &mut *across]) {
            kept.clear();
            for &(_, scores) in side {
                keep_within(self.region, cut, scores, kept);
            }
        }
        let [width, height] = sides.map(|side| side.iter().map(|(_, scores)| scores.len()).sum::<usize>() as f64);
        if width <= 0.0 || height <= 0.0 {
            return Some(f64::NAN);
        }
        let limit = self.region.limit() * width;
        if (along.len() as f64) < limit {
            return None;
        }
        // The row along the axis at which the limit is reached: no row of its step is used up before.
        let last = (limit.ceil() as usize).clamp(1, along.len());
        let (_, &mut at_limit, _) = along.select_nth_unstable_by(last - 1, |a, b| b.total_cmp(a));
        let tied = count(across, |score| score == at_limit);
        let above = count(across, |score| score > at_limit) as f64;
        // The step begins with the row, or below the lowest row across that is above it.
        let next = across.iter().copied().filter(|&score| score > at_limit).fold(f64::INFINITY, f64::min);
        let is_before = |score: f64| if tied > 0 { score > at_limit } else { score >= next };
        let at_step = if tied > 0 { count(along, |score| score == at_limit) } else { 0 };
        along.retain(|&score| is_before(score));
        let mut wins = WeightedWins::default();
        if !along.is_empty() && !across.is_empty() {
            table.build(std::iter::once(&across[..]), None);
            let below = table.count(along, Lookup::PLAIN, &mut Vec::new()) as f64;
            let pairs = 2.0 * along.len() as f64;
            wins.won = pairs * across.len() as f64 - below;
            wins.lost = pairs * height - wins.won;
        }
        let used = limit - along.len() as f64;
        let rise = if tied > 0 { used / at_step as f64 * tied as f64 } else { 0.0 };
        wins.add(used, WeightedWins { won: 2.0 * above + rise, lost: 2.0 * (height - above) - rise });
        Some(self.region.standardized(wins.share()))
    }

    /// With weights, by sorting what is within the cut. `None` if the region reaches beyond it.
    fn weighted_area(&self, cut: f64, weights: &[f64], ordered: &mut OrderedRows) -> Option<f64> {
        ordered.clear();
        let mut outside = Outside::default();
        for (side, classes) in [(Order::OWN, &self.own), (Order::OTHER, &self.others)] {
            for (positions, scores) in classes {
                let left = if side == Order::OWN { &mut outside.own } else { &mut outside.others };
                for (row, &score) in positions.clone().zip(*scores) {
                    let key: f64 = score.into();
                    if self.region.is_within(key, cut) {
                        ordered.push(RankedRow { key, row: row as u32, side });
                    } else {
                        *left += weights[row];
                    }
                }
            }
        }
        let order =
            Order::new(ordered, Nearness::NEVER, |_| unreachable!("scores of one column are compared as they are"));
        area_within(&order, self.region, |position| weights[position as usize], outside)
    }
}

fn count(scores: &[f64], is_counted: impl Fn(f64) -> bool) -> usize {
    scores.iter().map(|&score| usize::from(is_counted(score))).sum()
}

/// Appends the scores within the cut, the curve beginning with the highest.
fn keep_within<T: Score>(region: Region, cut: f64, scores: &[T], kept: &mut Vec<f64>) {
    const BLOCK: usize = 256;
    let sign = if matches!(region, Region::MinTpr(_)) { -1.0 } else { 1.0 };
    for block in scores.chunks(BLOCK) {
        // Always written, kept only if within: a branch would be mispredicted.
        let (mut found, mut count) = ([0.0; BLOCK], 0);
        for &score in block {
            let score: f64 = score.into();
            found[count] = sign * score;
            count += usize::from(region.is_within(score, cut));
        }
        kept.extend_from_slice(&found[..count]);
    }
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

    /// The value of a region of which this share lies below the curve: ½(1 + (A − f²/2)/(f − f²/2)) with the share A/f,
    /// exactly 1 where nothing is lost.
    fn standardized(self, share: f64) -> f64 {
        let least = 0.5 * self.limit();
        0.5 * (1.0 + (share - least) / (1.0 - least))
    }

    /// A score that the region most likely does not reach beyond, judging by a sample of the rows along the axis; `None` if
    /// it would not save much.
    fn likely_cut<T: Score>(self, along: &[(Range<usize>, &[T])], mass: impl Fn(u32) -> f64) -> Option<f64> {
        const SAMPLE: usize = 1 << 10;
        const LARGEST: f64 = 0.6;
        let count: usize = along.iter().map(|(_, scores)| scores.len()).sum();
        if count < 8 * SAMPLE || self.limit() > LARGEST {
            return None;
        }
        let (step, mut next) = (count / SAMPLE, 0);
        let mut sample: Vec<(f64, f64)> = Vec::with_capacity(2 * SAMPLE);
        for (positions, scores) in along {
            while let Some(&score) = scores.get(next) {
                sample.push((score.into(), mass((positions.start + next) as u32)));
                next += step;
            }
            next -= scores.len();
        }
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
    Some(region.standardized(share))
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

    /// Weights of 1 are sorted, rows without weights are counted.
    #[test]
    fn counting_gives_the_bits_of_sorting() {
        let mut state = 7_u32;
        let mut draw = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % below
        };
        for (count, values) in [(5, 3), (40, 6), (300, 1 << 20), (700, 40), (30_000, 1 << 22), (30_000, 50)] {
            for _ in 0..if count > 1000 { 1 } else { 60 } {
                let scores: Vec<f64> = (0..count).map(|_| f64::from(draw(values)) / f64::from(values)).collect();
                let codes: Vec<u8> = (0..count).map(|row| if row < 3 { row as u8 } else { draw(3) as u8 }).collect();
                let curves = [(0, None), (1, Some(2)), (2, None)];
                let limit = f64::from(1 + draw(1000)) / 1000.0;
                for region in [Region::MaxFpr(limit), Region::MinTpr(1.0 - limit), Region::MaxFpr(0.1)] {
                    let counted = partial(&scores, &codes, None, &curves, region).expect("areas");
                    let sorted = partial(&scores, &codes, Some(&vec![1.0; count]), &curves, region).expect("areas");
                    assert_eq!(counted, sorted, "{count} rows of {values} values, {region:?}");
                }
            }
        }
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
        let curves = [(3, None), (1, Some(0)), (1, Some(2))];
        let found = partial(&SCORES, &CODES, None, &curves, Region::MaxFpr(0.5)).expect("areas");
        assert!(found.values[0].is_nan() && found.values[2].is_nan());
        assert_eq!([found.values[1], found.mean, found.mean_by_prevalence], [0.75; 3]);
        let order = {
            let mut rows = OrderedRows::default();
            rows.extend(Order::OWN, 0, [1.0, 2.0].into_iter());
            rows.extend(Order::OTHER, 2, [0.0, 3.0].into_iter());
            Order::new(&mut rows, Nearness::NEVER, |_| unreachable!("no near keys"))
        };
        assert!(partial_area(&order, Region::MaxFpr(0.5), |position| f64::from(position / 2)).is_nan());
    }
}
