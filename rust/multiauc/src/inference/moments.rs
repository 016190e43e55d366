//! From components to variances: the first-order formula, for rows and for groups of rows.
//!
//! Row i of class k adds ψ_i = (w_i/W_k)(√c_k (T(i) − T̄_k) + π_k (g_k − ḡ)) to the error of θ. The second term is there
//! where class sizes are random, g_k being the slope of θ in the prevalence π_k. c_k = e_k/(e_k − 1) makes up for the mean
//! being that of the same rows, e_k the effective number of the class's independent units: rows, or groups of rows, whose
//! ψ are summed. Then Cov = Σ ψ ψ′ over the independent units.

use super::design::{Design, Groups};
use super::freedom::{ClassTerm, degrees_of_freedom, degrees_of_freedom_across, degrees_of_freedom_whole};
use super::statistic::{Cautious, Estimate, Statistic, components_of};
use super::unit_sums::{Frame, Powers, Segment, Summation, group_sums, means, row_powers, spread_of};
use super::worst_case::WorstCase;
use crate::error::Result;
use crate::metric::Metric;
use crate::parallel::Workers;

/// Components lie in [0, 1] and are exact to a few units in the last place: deviations of this size are rounding.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// Statistics with their variances and covariances.
#[derive(Debug, Clone, PartialEq)]
pub struct Moments {
    /// Each statistic with its variance.
    pub estimates: Vec<Estimate>,
    /// Of the statistics, row by row.
    pub covariance: Vec<f64>,
}

/// The variances and covariances of statistics of the same rows.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub fn moments(design: &Design, statistics: &[Statistic], workers: &Workers<'_>) -> Result<Moments> {
    let present = design.rows.present();
    let columns: Vec<Vec<&[f64]>> = present.iter().map(|&class| components_of(design, statistics, class)).collect();
    let segments: Vec<Segment<'_>> =
        present.iter().zip(&columns).map(|(&class, columns)| Segment { class, columns }).collect();
    let kinds: Vec<Kind<'_>> = statistics.iter().map(|statistic| Kind::of(design, statistic)).collect();
    let means = means_of(design, &segments, Summation::Listed, workers)?;
    let sums = sums(design, &segments, &means, &kinds, Summation::Listed, workers)?;
    let estimate = |(column, statistic): (usize, &Statistic)| {
        let alone: Vec<[&[f64]; 1]> = columns.iter().map(|columns| [columns[column]]).collect();
        let segments: Vec<Segment<'_>> =
            present.iter().zip(&alone).map(|(&class, columns)| Segment { class, columns }).collect();
        let means: Vec<f64> = means.iter().map(|means| means[column]).collect();
        let cautious = statistic.chances.as_deref().map(|of_classes| {
            let chances = Chances { of_classes, value: statistic.value };
            chances.cautious(design, &segments, &means, &statistic.slopes, workers)
        });
        let worst = WorstCase::of(design, statistic);
        Ok(Estimate { cautious: cautious.transpose()?, worst, ..sums.estimate(column, statistic.value, kinds[column]) })
    };
    let estimates = statistics.iter().enumerate().map(estimate).collect::<Result<_>>()?;
    Ok(Moments { estimates, covariance: sums.covariance })
}

/// One value with its variance, from the components of some classes; with chances it is a class against the rest.
pub(crate) fn estimate_one(
    design: &Design,
    segments: &[Segment<'_>],
    slopes: &[f64],
    chances: Option<&[f64]>,
    value: f64,
    workers: &Workers<'_>,
) -> Result<Estimate> {
    let kind = Kind { slopes, whole: None, is_share: false };
    let (means, sums) = single(design, segments, kind, workers)?;
    let cautious = chances
        .map(|of_classes| Chances { of_classes, value }.cautious(design, segments, &means, slopes, workers))
        .transpose()?;
    let worst = chances.map(|chances| WorstCase::of_class(design, chances, value));
    Ok(Estimate { cautious, worst, ..sums.estimate(0, value, kind) })
}

/// A statistic that is the difference of two of one metric.
pub(super) fn estimate_difference(
    design: &Design,
    segments: &[Segment<'_>],
    (slopes, metric): (&[f64], Metric),
    value: f64,
    workers: &Workers<'_>,
) -> Result<Estimate> {
    let kind = Kind { slopes, whole: design.whole_spread(metric), is_share: false };
    Ok(single(design, segments, kind, workers)?.1.estimate(0, value, kind))
}

/// The means and sums of one statistic.
fn single(
    design: &Design,
    segments: &[Segment<'_>],
    kind: Kind<'_>,
    workers: &Workers<'_>,
) -> Result<(Vec<f64>, Sums)> {
    let means = means_of(design, segments, Summation::Single, workers)?;
    let sums = sums(design, segments, &means, &[kind], Summation::Single, workers)?;
    Ok((means.iter().map(|means| means[0]).collect(), sums))
}

/// The variance of the share of two classes and its degrees of freedom, from their placements; class sizes do not matter.
pub(crate) fn pair_variance(
    design: &Design,
    classes: [usize; 2],
    placements: [&[f64]; 2],
    workers: &Workers<'_>,
) -> Result<[f64; 2]> {
    let [first, second] = classes;
    let segments =
        [Segment { class: first, columns: &placements[..1] }, Segment { class: second, columns: &placements[1..] }];
    let kind = Kind { slopes: &vec![0.0; design.rows.classes()], whole: None, is_share: false };
    let found = single(design, &segments, kind, workers)?.1.estimate(0, f64::NAN, kind);
    Ok([found.variance, found.degrees_of_freedom])
}

fn means_of(
    design: &Design,
    segments: &[Segment<'_>],
    summation: Summation,
    workers: &Workers<'_>,
) -> Result<Vec<Vec<f64>>> {
    segments.iter().map(|segment| means(design, segment, summation, workers)).collect()
}

/// What the variance of a statistic needs besides its components.
#[derive(Clone, Copy)]
struct Kind<'s> {
    /// Slopes in the prevalences, by class.
    slopes: &'s [f64],
    /// √c of all rows together, where they are centred on one mean and not class by class.
    whole: Option<f64>,
    /// Whether the value itself says how much rows vary: a share of them.
    is_share: bool,
}

impl<'s> Kind<'s> {
    fn of(design: &Design, statistic: &'s Statistic) -> Self {
        Self { slopes: &statistic.slopes, whole: design.whole_spread(statistic.id), is_share: statistic.id.is_share() }
    }
}

/// The sums behind variances.
struct Sums {
    /// Columns × columns.
    covariance: Vec<f64>,
    /// What each class adds, one row of columns per class of the segments.
    terms: Vec<ClassTerm>,
    /// Σ ψ⁴ of each column over groups that span classes, and how many groups there are.
    across: Option<(Vec<f64>, f64)>,
    columns: usize,
}

impl Sums {
    fn estimate(&self, column: usize, value: f64, kind: Kind<'_>) -> Estimate {
        let variance = self.covariance[column * self.columns + column];
        let terms: Vec<ClassTerm> = self.terms.iter().skip(column).step_by(self.columns).copied().collect();
        if let Some(spread) = kind.whole {
            let within = || (terms.iter().map(|term| term.fourth).sum(), terms.iter().map(|term| term.units).sum());
            let (fourth, units) = self.across.as_ref().map_or_else(within, |(of, groups)| (of[column], *groups));
            let plug_in = variance / (spread * spread);
            let effective = (1.0 - (spread * spread).recip()).recip();
            let degrees_of_freedom = if kind.is_share {
                effective - 1.0
            } else {
                degrees_of_freedom_whole(variance, fourth, units, effective)
            };
            return Estimate { value, variance, degrees_of_freedom, plug_in, cautious: None, worst: None };
        }
        let degrees_of_freedom = match &self.across {
            None => degrees_of_freedom(variance, &terms),
            Some((fourths, groups)) => degrees_of_freedom_across(variance, &terms, fourths[column], *groups),
        };
        let plug_in = terms.iter().map(ClassTerm::plug_in).sum();
        Estimate { value, variance, degrees_of_freedom, plug_in, cautious: None, worst: None }
    }
}

/// The sums of statistics whose components are in `segments`.
fn sums(
    design: &Design,
    segments: &[Segment<'_>],
    means: &[Vec<f64>],
    kinds: &[Kind<'_>],
    summation: Summation,
    workers: &Workers<'_>,
) -> Result<Sums> {
    let classes: Vec<usize> = segments.iter().map(|segment| segment.class).collect();
    let weights = design.class_weights(&classes);
    let slopes: Vec<&[f64]> = kinds.iter().map(|kind| kind.slopes).collect();
    let shifts = design.shifts(&classes, &weights, &slopes);
    let frames: Vec<Frame> = segments
        .iter()
        .enumerate()
        .map(|(index, segment)| Frame {
            means: means[index].clone(),
            shifts: shifts[index].iter().zip(kinds).map(|(shift, kind)| shift * kind.whole.unwrap_or(1.0)).collect(),
            spreads: kinds
                .iter()
                .map(|kind| kind.whole.unwrap_or_else(|| spread_of(design.effective[segment.class])))
                .collect(),
            total: weights[index],
            units: design.unit_count(segment.class),
            effective: design.effective[segment.class],
            extra: Vec::new(),
        })
        .collect();
    add_up(design, segments, &frames, summation, workers)
}

fn add_up(
    design: &Design,
    segments: &[Segment<'_>],
    frames: &[Frame],
    summation: Summation,
    workers: &Workers<'_>,
) -> Result<Sums> {
    if let Some(groups) = &design.groups {
        return Ok(add_up_groups(design, groups, segments, frames));
    }
    let columns = segments.first().map_or(0, |segment| segment.columns.len());
    let mut sums = Sums {
        covariance: vec![0.0; columns * columns],
        terms: Vec::with_capacity(segments.len() * columns),
        across: None,
        columns,
    };
    for (segment, frame) in segments.iter().zip(frames) {
        let Powers { products, fourths } = row_powers(design, segment, frame, summation, workers)?;
        let terms: Vec<ClassTerm> = (0..columns)
            .map(|column| frame.term(column, products[column * columns + column], fourths[column]))
            .collect();
        for first in 0..columns {
            for second in 0..columns {
                if terms[first].variance != 0.0 && terms[second].variance != 0.0 {
                    sums.covariance[first * columns + second] += products[first * columns + second];
                }
            }
        }
        sums.terms.extend(terms);
    }
    Ok(sums)
}

/// Rows in groups: what the rows of a group add is summed before it is squared.
fn add_up_groups(design: &Design, groups: &Groups, segments: &[Segment<'_>], frames: &[Frame]) -> Sums {
    let columns = segments.first().map_or(0, |segment| segment.columns.len());
    let mut terms = Vec::with_capacity(segments.len() * columns);
    // The sums that each class adds to each of its groups, and where those of each group begin, by its name.
    let (mut all, mut entries) = (Vec::new(), Vec::new());
    for (segment, frame) in segments.iter().zip(frames) {
        let mut of_class = group_sums(design, groups, segment, frame);
        for column in 0..columns {
            let squares = || of_class.iter().skip(column).step_by(columns).map(|sum| sum * sum);
            let term = frame.term(column, squares().sum(), squares().map(|square| square * square).sum());
            if term.variance == 0.0 {
                of_class.iter_mut().skip(column).step_by(columns).for_each(|sum| *sum = 0.0);
            }
            terms.push(term);
        }
        // The extra group of a class is in no other.
        let names = groups.of_class[segment.class].names.iter().map(|&name| (name, usize::MAX));
        let extra = (!frame.extra.is_empty()).then_some((u32::MAX, segment.class));
        entries.extend(names.chain(extra).zip((all.len()..).step_by(columns)));
        all.extend(of_class);
    }
    // Sorted runs, one per class: a stable sort merges them.
    entries.sort_by_key(|&(name, _)| name);
    let mut covariance = vec![0.0; columns * columns];
    let mut fourths = vec![0.0; columns];
    let (mut count, mut is_across) = (0.0, false);
    let mut totals = vec![0.0; columns];
    for group in entries.chunk_by(|a, b| a.0 == b.0) {
        count += 1.0;
        is_across |= group.len() > 1;
        for (column, total) in totals.iter_mut().enumerate() {
            *total = group.iter().map(|&(_, start)| all[start + column]).sum();
        }
        for first in 0..columns {
            for second in first..columns {
                covariance[first * columns + second] += totals[first] * totals[second];
            }
            fourths[first] += totals[first].powi(4);
        }
    }
    for first in 0..columns {
        for second in 0..first {
            covariance[first * columns + second] = covariance[second * columns + first];
        }
    }
    Sums { covariance, terms, across: is_across.then_some((fourths, count)), columns }
}

impl Frame {
    /// What the class adds to a variance, exactly zero where that is rounding.
    fn term(&self, column: usize, squares: f64, fourths: f64) -> ClassTerm {
        let factor = self.spreads[column].powi(2);
        let is_rounding = squares <= factor * ROUNDING * ROUNDING / self.effective;
        let (variance, fourth) = if is_rounding { (0.0, 0.0) } else { (squares, fourths) };
        ClassTerm { variance, fourth, units: self.units, effective: self.effective }
    }
}

/// What uninformative scores would give the rows of each class, and the value of the statistic.
struct Chances<'c> {
    of_classes: &'c [f64],
    value: f64,
}

impl Chances<'_> {
    /// The estimate as though each class had one more row, or one more group where rows are grouped, of the mean weight of
    /// the class's and with what chance gives.
    fn cautious(
        &self,
        design: &Design,
        segments: &[Segment<'_>],
        means: &[f64],
        slopes: &[f64],
        workers: &Workers<'_>,
    ) -> Result<Cautious> {
        let classes: Vec<usize> = segments.iter().map(|segment| segment.class).collect();
        let weights: Vec<f64> =
            classes.iter().map(|&class| design.rows.weight(class) * (1.0 + design.unit_count(class).recip())).collect();
        let shifts = design.shifts(&classes, &weights, &[slopes]);
        let mut value = self.value;
        let mut frames = Vec::with_capacity(segments.len());
        for (index, segment) in segments.iter().enumerate() {
            let (count, chance) = (design.unit_count(segment.class), self.of_classes[segment.class]);
            let effective = design.effective[segment.class];
            let change = (chance - means[index]) / (count + 1.0);
            value += change;
            let effective = (1.0 + count.recip()).powi(2) / (effective.recip() + count.recip().powi(2));
            frames.push(Frame {
                means: vec![means[index] + change],
                shifts: shifts[index].clone(),
                spreads: vec![spread_of(effective)],
                total: weights[index],
                units: count + 1.0,
                effective,
                extra: vec![(chance, (count + 1.0).recip())],
            });
        }
        let found = add_up(design, segments, &frames, Summation::Single, workers)?.estimate(
            0,
            value,
            Kind { slopes, whole: None, is_share: false },
        );
        Ok(Cautious { value, variance: found.variance, degrees_of_freedom: found.degrees_of_freedom })
    }
}
