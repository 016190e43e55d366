//! From components to variances: the first-order formula, for rows and for groups of rows.
//!
//! Row i of class k adds ψ_i = (w_i/W_k)(√c_k (T(i) − T̄_k) + π_k (g_k − ḡ)) to the error of θ. The second term is there
//! where class sizes are random, g_k being the slope of θ in the prevalence π_k. c_k = e_k/(e_k − 1) makes up for the mean
//! being that of the same rows, e_k the effective number of the class's independent units: rows, or groups of rows, whose
//! ψ are summed. Then Cov = Σ ψ ψ′ over the independent units.

use std::hint::select_unpredictable;

use super::design::{Design, Groups};
use super::freedom::{ClassTerm, degrees_of_freedom, degrees_of_freedom_across, degrees_of_freedom_whole};
use super::statistic::{Cautious, Estimate, Statistic, components_of};
use super::unit_sums::{Frame, GroupDeviations, Powers, Segment, means, row_powers, spread_of, sums_of_powers};
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
    let estimate = |(column, statistic): (usize, &Statistic)| {
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
    };
    let estimates = statistics.iter().enumerate().map(estimate).collect::<Result<_>>()?;
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

/// The variance of the share of two classes and its degrees of freedom, from their placements; class sizes do not matter.
/// The share is the mean of the placements on either side: exact where pairs of rows are counted, and not computed again.
/// Also returns what the groups of both classes add up to, where rows are in groups.
pub(crate) fn pair_variance(
    design: &Design,
    classes: [usize; 2],
    placements: [&[f64]; 2],
    share: f64,
    workers: &Workers<'_>,
) -> Result<([f64; 2], Vec<GroupDeviations>)> {
    let [first, second] = classes;
    let segments =
        [Segment { class: first, columns: &placements[..1] }, Segment { class: second, columns: &placements[1..] }];
    let kind = Kind { slopes: &vec![0.0; design.rows.classes()], whole: None, is_share: false };
    let means = design.rows.weights().is_none().then(|| vec![share; 2]);
    let (_, mut deviations, sums) = single(design, &segments, kind, (means, None), workers)?;
    let found = sums.estimate(0, f64::NAN, kind);
    Ok(([found.variance, found.degrees_of_freedom], deviations.pop().unwrap_or_default()))
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
        Ok(Some(GroupDeviations::new(design, groups, segment.class, values, means[place][column])))
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
        return Ok(add_up_groups(design, groups, &classes, frames, deviations));
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
) -> Sums {
    let columns = deviations.len();
    let mut terms = Vec::with_capacity(classes.len() * columns);
    // What each class adds to each of its groups, column by column.
    let mut of_columns: Vec<Vec<Vec<f64>>> = (0..columns).map(|_| Vec::with_capacity(classes.len())).collect();
    for (place, (&class, frame)) in classes.iter().zip(frames).enumerate() {
        for (column, of_classes) in of_columns.iter_mut().enumerate() {
            let mut sums = deviations[column][place].in_frame(design, groups, class, (frame, column));
            let [squares, fourths] = sums_of_powers(&sums);
            let term = frame.term(column, squares, fourths);
            if term.variance == 0.0 {
                sums.fill(0.0);
            }
            terms.push(term);
            of_classes.push(sums);
        }
    }
    let mut found = GroupPowers::new(columns);
    let numbers = |place: usize| &groups.of_class[classes[place]].numbers[..];
    match (&mut of_columns[..], classes) {
        // All classes are added up alike, however many statistics there are.
        ([of_classes], &[c, d]) if design.rows.present().len() > 2 => {
            let [first, second] = &mut of_classes[..] else { unreachable!("sums of two classes") };
            let sums = [&mut first[..numbers(0).len()], &mut second[..numbers(1).len()]];
            match groups.shared(c.min(d), c.max(d)) {
                Some(shared) => found.add_pair_but_for(shared, if c < d { [0, 1] } else { [1, 0] }, sums),
                None => found.add_pair([numbers(0), numbers(1)], sums.map(|sums| &*sums)),
            }
        }
        _ => found.add_all(groups, (0..classes.len()).map(numbers), &of_columns),
    }
    if let [of_classes] = &of_columns[..] {
        // The extra group of a class is in no other.
        for (place, sums) in of_classes.iter().enumerate() {
            sums[numbers(place).len()..].iter().for_each(|&extra| found.add(extra));
        }
    }
    of_columns.into_iter().flatten().for_each(|sums| groups.buffers.give_back(sums));
    for first in 0..columns {
        for second in 0..first {
            found.covariance[first * columns + second] = found.covariance[second * columns + first];
        }
    }
    let across = found.is_across.then_some((found.fourths, found.count));
    Sums { covariance: found.covariance, terms, across, columns }
}

/// Products and powers of what groups add, in the order of their numbers.
struct GroupPowers {
    /// Columns × columns, of which only one half is filled.
    covariance: Vec<f64>,
    fourths: Vec<f64>,
    /// How many groups there are.
    count: f64,
    /// Whether some group has rows of several classes.
    is_across: bool,
}

impl GroupPowers {
    fn new(columns: usize) -> Self {
        Self { covariance: vec![0.0; columns * columns], fourths: vec![0.0; columns], count: 0.0, is_across: false }
    }

    /// Adds a group of one class, of a single column.
    fn add(&mut self, total: f64) {
        self.count += 1.0;
        self.covariance[0] += total * total;
        self.fourths[0] += total.powi(4);
    }

    /// Adds the groups of two classes, of a single column, given where those are that both classes have: `order` says which
    /// entry of a place belongs to the first class. The sums of shared groups are cleared.
    fn add_pair_but_for(&mut self, shared: &[[u32; 2]], order: [usize; 2], sums: [&mut [f64]; 2]) {
        let [of_first, of_second] = sums;
        let (mut squares, mut fourths) = (0.0, 0.0);
        for places in shared {
            let (first, second) = (places[order[0]] as usize, places[order[1]] as usize);
            let total = std::mem::take(&mut of_first[first]) + std::mem::take(&mut of_second[second]);
            let square = total * total;
            squares += square;
            fourths += square * square;
        }
        for alone in [&*of_first, &*of_second] {
            let [of_squares, of_fourths] = sums_of_powers(alone);
            squares += of_squares;
            fourths += of_fourths;
        }
        self.covariance[0] += squares;
        self.fourths[0] += fourths;
        self.count += (of_first.len() + of_second.len() - shared.len()) as f64;
        self.is_across |= !shared.is_empty();
    }

    /// Adds the groups of two classes, of a single column: both lists are in increasing order, and are merged.
    fn add_pair(&mut self, numbers: [&[u32]; 2], sums: [&[f64]; 2]) {
        let (mut squares, mut fourths, mut shared, mut steps) = (0.0, 0.0, 0_usize, 0_usize);
        let (mut first, mut second) = (0, 0);
        let [of_first, of_second] = numbers;
        while let (Some(a), Some(b)) = (of_first.get(first), of_second.get(second)) {
            // Without branches, which would be mispredicted.
            let (takes_first, takes_second) = (a <= b, b <= a);
            let of_both = [sums[0][first], sums[1][second]];
            let total = select_unpredictable(takes_first, of_both[0], 0.0)
                + select_unpredictable(takes_second, of_both[1], 0.0);
            squares += total * total;
            fourths += total.powi(4);
            first += usize::from(takes_first);
            second += usize::from(takes_second);
            shared += usize::from(a == b);
            steps += 1;
        }
        for &total in sums[0][first..of_first.len()].iter().chain(&sums[1][second..of_second.len()]) {
            squares += total * total;
            fourths += total.powi(4);
            steps += 1;
        }
        self.covariance[0] += squares;
        self.fourths[0] += fourths;
        self.count += steps as f64;
        self.is_across |= shared > 0;
    }

    /// Adds the groups of any number of classes.
    fn add_all<'n>(
        &mut self,
        groups: &Groups,
        numbers: impl Iterator<Item = &'n [u32]> + Clone,
        of_columns: &[Vec<Vec<f64>>],
    ) {
        let columns = self.fourths.len();
        let total_of = |of_classes: &Vec<Vec<f64>>| {
            let mut totals = groups.buffers.take(groups.count);
            totals.fill(0.0);
            for (numbers, sums) in numbers.clone().zip(of_classes) {
                numbers.iter().zip(sums).for_each(|(&number, sum)| totals[number as usize] += sum);
            }
            totals
        };
        let totals: Vec<Vec<f64>> = of_columns.iter().map(total_of).collect();
        let entries = numbers.clone().map(<[u32]>::len).sum::<usize>();
        if entries == groups.entries() {
            // All classes are there, and so are all groups.
            self.count += groups.count as f64;
            self.is_across |= groups.span_classes();
        } else {
            let mut classes = vec![0_u32; groups.count];
            numbers.flatten().for_each(|&number| classes[number as usize] += 1);
            self.count += classes.iter().filter(|&&classes| classes > 0).count() as f64;
            self.is_across |= classes.iter().any(|&classes| classes > 1);
        }
        // Groups without rows of these classes add nothing.
        for first in 0..columns {
            let [squares, fourths] = sums_of_powers(&totals[first]);
            self.covariance[first * columns + first] += squares;
            self.fourths[first] += fourths;
            for second in first + 1..columns {
                let products = totals[first].iter().zip(&totals[second]).map(|(one, other)| one * other);
                self.covariance[first * columns + second] += products.sum::<f64>();
            }
        }
        for totals in totals {
            groups.buffers.give_back(totals);
        }
    }
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
