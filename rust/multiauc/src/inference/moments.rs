//! From components to variances: the first-order formula, for rows and for groups of rows.
//!
//! Row i of class k adds ψ_i = (w_i/W_k)(√c_k (T(i) − T̄_k) + π_k (g_k − ḡ)) to the error of θ. The second term is there
//! where class sizes are random, g_k being the slope of θ in the prevalence π_k. c_k = e_k/(e_k − 1) makes up for the mean
//! being that of the same rows, e_k the effective number of the class's independent units: rows, or groups of rows, whose
//! ψ are summed. Then Cov = Σ ψ ψ′ over the independent units.

use super::design::Design;
use super::freedom::{ClassTerm, degrees_of_freedom, degrees_of_freedom_across, degrees_of_freedom_whole};
use super::groups::Groups;
use super::statistic::{Cautious, Estimate, Statistic, components_of};
use super::unit_sums::{Frame, GroupDeviations, GroupLine, Powers, Segment, means, row_powers, spread_of};
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
    let means = means_of(design, &segments, workers)?;
    let deviations = deviations_of(design, &segments, &means, workers)?;
    let sums = sums(design, &segments, &means, (&kinds, &deviations), workers)?;
    let estimates = workers.map(statistics.len(), |column| {
        let statistic = &statistics[column];
        let alone: Vec<[&[f64]; 1]> = columns.iter().map(|columns| [columns[column]]).collect();
        let segments: Vec<Segment<'_>> =
            present.iter().zip(&alone).map(|(&class, columns)| Segment { class, columns }).collect();
        let means: Vec<f64> = means.iter().map(|means| means[column]).collect();
        let cautious = statistic.chances.as_deref().map(|of_classes| {
            let chances = Chances { of_classes, value: statistic.value };
            chances.cautious(design, &segments, (&means, deviations.get(column)), &statistic.slopes, workers)
        });
        let worst = WorstCase::of(design, statistic);
        Ok(Estimate { cautious: cautious.transpose()?, worst, ..sums.estimate(column, statistic.value, kinds[column]) })
    })?;
    design.give_back(deviations.into_iter().flatten());
    Ok(Moments { estimates, covariance: sums.covariance })
}

/// One value with its variance, from the components of some classes; with chances it is a class against the rest. Where
/// the means of the components are known but for rounding, they need not be computed, nor what groups add up to.
pub(crate) fn estimate_one(
    design: &Design,
    segments: &[Segment<'_>],
    (slopes, means, deviations): (&[f64], Option<Vec<f64>>, Option<Vec<GroupDeviations>>),
    chances: Option<&[f64]>,
    value: f64,
    workers: &Workers<'_>,
) -> Result<Estimate> {
    let kind = Kind { slopes, whole: None, is_share: false };
    let (means, deviations, sums) = single(design, segments, kind, (means, deviations), workers)?;
    let known = (&means[..], deviations.first());
    let cautious = chances
        .map(|of_classes| Chances { of_classes, value }.cautious(design, segments, known, slopes, workers))
        .transpose()?;
    design.give_back(deviations.into_iter().flatten());
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
    let (_, deviations, sums) = single(design, segments, kind, (None, None), workers)?;
    design.give_back(deviations.into_iter().flatten());
    Ok(sums.estimate(0, value, kind))
}

/// The means of one statistic, what groups add up to, and the sums.
fn single(
    design: &Design,
    segments: &[Segment<'_>],
    kind: Kind<'_>,
    (means, deviations): (Option<Vec<f64>>, Option<Vec<GroupDeviations>>),
    workers: &Workers<'_>,
) -> Result<(Vec<f64>, Vec<Vec<GroupDeviations>>, Sums)> {
    let means = match means {
        Some(known) => known.into_iter().map(|mean| vec![mean]).collect(),
        None => means_of(design, segments, workers)?,
    };
    let deviations = match deviations {
        Some(known) => vec![known],
        None => deviations_of(design, segments, &means, workers)?,
    };
    let sums = sums(design, segments, &means, (&[kind], &deviations), workers)?;
    Ok((means.iter().map(|means| means[0]).collect(), deviations, sums))
}

/// What the groups of each class add up to around the means, column by column; nothing where rows are independent.
fn deviations_of(
    design: &Design,
    segments: &[Segment<'_>],
    means: &[Vec<f64>],
    workers: &Workers<'_>,
) -> Result<Vec<Vec<GroupDeviations>>> {
    let Some(groups) = &design.groups else { return Ok(Vec::new()) };
    let (columns, classes) = (segments.first().map_or(0, |segment| segment.columns.len()), segments.len());
    let deviations = |index: usize| {
        let (column, place) = (index / classes, index % classes);
        let segment = &segments[place];
        let values = segment.columns[column];
        Ok(Some(GroupDeviations::new(
            groups,
            segment.class,
            values,
            design.rows_of(segment.class),
            means[place][column],
        )))
    };
    let mut found = workers.map(columns * classes, deviations)?;
    let columns = (0..columns).map(|column| {
        let of_column = &mut found[column * classes..][..classes];
        of_column.iter_mut().filter_map(Option::take).collect()
    });
    Ok(columns.collect())
}

fn means_of(design: &Design, segments: &[Segment<'_>], workers: &Workers<'_>) -> Result<Vec<Vec<f64>>> {
    segments.iter().map(|segment| means(design, segment, workers)).collect()
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
    (kinds, deviations): (&[Kind<'_>], &[Vec<GroupDeviations>]),
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
    let deviations: Vec<&[GroupDeviations]> = deviations.iter().map(Vec::as_slice).collect();
    add_up(design, segments, &frames, &deviations, workers)
}

/// `deviations` are those of each column, where rows are in groups.
fn add_up(
    design: &Design,
    segments: &[Segment<'_>],
    frames: &[Frame],
    deviations: &[&[GroupDeviations]],
    workers: &Workers<'_>,
) -> Result<Sums> {
    if let Some(groups) = &design.groups {
        let classes: Vec<usize> = segments.iter().map(|segment| segment.class).collect();
        return add_up_groups(design, groups, &classes, frames, deviations, workers);
    }
    let columns = segments.first().map_or(0, |segment| segment.columns.len());
    let mut sums = Sums {
        covariance: vec![0.0; columns * columns],
        terms: Vec::with_capacity(segments.len() * columns),
        across: None,
        columns,
    };
    for (segment, frame) in segments.iter().zip(frames) {
        let Powers { products, fourths } = row_powers(design, segment, frame, workers)?;
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
fn add_up_groups(
    design: &Design,
    groups: &Groups,
    classes: &[usize],
    frames: &[Frame],
    deviations: &[&[GroupDeviations]],
    workers: &Workers<'_>,
) -> Result<Sums> {
    let columns = deviations.len();
    // What each class adds to each of its groups, column by column, and the powers of that.
    let of_columns = workers.map(columns, |column| {
        let of_class = |(place, (&class, frame)): (usize, (&usize, &Frame))| {
            let line = deviations[column][place].in_frame(design, groups, class, (frame, column));
            let [mut squares, mut fourths] = line.powers();
            if let Some(extra) = frame.extra_unit() {
                squares += extra.powi(2);
                fourths += extra.powi(4);
            }
            let term = frame.term(column, squares, fourths);
            (term, if term.variance == 0.0 { line.zeroed() } else { line })
        };
        let (terms, lines): (Vec<_>, Vec<_>) = classes.iter().zip(frames).enumerate().map(of_class).unzip();
        Ok((terms, lines))
    })?;
    let (terms, lines): (Vec<Vec<ClassTerm>>, Vec<Vec<GroupLine<'_>>>) = of_columns.into_iter().unzip();
    let of_blocks = workers.map_with(
        groups.blocks(),
        || vec![Vec::new(); columns],
        |totals: &mut Vec<Vec<f64>>, block| {
            for (totals, lines) in totals.iter_mut().zip(&lines) {
                groups.block_totals(block, classes, lines, totals);
            }
            Ok(Powers::of_columns(totals))
        },
    )?;
    let Powers { products: mut covariance, fourths: mut across } = Powers::total(columns, of_blocks);
    let mut count = groups.count as f64;
    // The extra group of a class is in no other.
    for (frame, term) in frames.iter().zip(terms.iter().flatten()) {
        let Some(extra) = frame.extra_unit() else { continue };
        let extra = if term.variance == 0.0 { 0.0 } else { extra };
        covariance[0] += extra.powi(2);
        across[0] += extra.powi(4);
        count += 1.0;
    }
    let terms = (0..classes.len()).flat_map(|class| terms.iter().map(move |terms| terms[class])).collect();
    Ok(Sums { covariance, terms, across: groups.span_classes().then_some((across, count)), columns })
}

impl Frame {
    fn term(&self, column: usize, squares: f64, fourths: f64) -> ClassTerm {
        class_term(self.spreads[column], [squares, fourths], [self.units, self.effective])
    }
}

/// What a class adds to a variance, from Σ ψ² and Σ ψ⁴ over its units and their number and effective number: exactly zero
/// where that is rounding.
pub(super) fn class_term(spread: f64, [squares, fourths]: [f64; 2], [units, effective]: [f64; 2]) -> ClassTerm {
    let is_rounding = squares <= spread.powi(2) * ROUNDING * ROUNDING / effective;
    let (variance, fourth) = if is_rounding { (0.0, 0.0) } else { (squares, fourths) };
    ClassTerm { variance, fourth, units, effective }
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
        (means, deviations): (&[f64], Option<&Vec<GroupDeviations>>),
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
        let deviations: Vec<&[GroupDeviations]> = deviations.into_iter().map(Vec::as_slice).collect();
        let found = add_up(design, segments, &frames, &deviations, workers)?.estimate(
            0,
            value,
            Kind { slopes, whole: None, is_share: false },
        );
        Ok(Cautious { value, variance: found.variance, degrees_of_freedom: found.degrees_of_freedom })
    }
}
