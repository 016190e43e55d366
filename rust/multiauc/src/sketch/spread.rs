//! The sampling variance of answers: components of rows, as far as bins tell them.
//!
//! The component T(i) of a row is a sum of its placements in several histograms. Each histogram knows the placements of
//! all rows of a class; how those of the same row go together is known of a sample of rows. So the variance of T within
//! a class is that of the sample, times the ratio of the sums of the variances of the single placements among all rows
//! and in the sample.

use super::answers::{BoundedValue, Range, View};
use super::bounds::Outcome;
use super::code::{Place, score_code};
use super::mass::Mass;
use super::places::Differences;
use super::settings::{Contents, FEWEST_SAMPLED};
use crate::error::Result;
use crate::float::Score;
use crate::inference::{ClassTerm, Kind, WorstCase, degrees_of_freedom};
use crate::parallel::Workers;

/// The variance of one value.
#[derive(Debug, Clone)]
pub(super) struct Spread {
    variance: f64,
    degrees_of_freedom: f64,
    kind: Kind,
    /// The largest component possible in each class that is present, and what its rows are worth.
    ceilings: Vec<f64>,
    units: Vec<f64>,
}

impl Spread {
    const UNKNOWN: Self = Self {
        variance: f64::NAN,
        degrees_of_freedom: f64::NAN,
        kind: Kind::Rests,
        ceilings: Vec::new(),
        units: Vec::new(),
    };

    fn of(kind: Kind, terms: &[(ClassTerm, f64)]) -> Self {
        let (terms, ceilings): (Vec<ClassTerm>, Vec<f64>) = terms.iter().copied().unzip();
        let variance = terms.iter().map(|term| term.variance).sum();
        let units = terms.iter().map(|term| term.effective).collect();
        Self { variance, degrees_of_freedom: degrees_of_freedom(variance, &terms), kind, ceilings, units }
    }

    pub(super) fn bounded_value(&self, Range { low, high }: Range) -> BoundedValue {
        let value = f64::midpoint(low, high);
        let worst = [low, high].map(|bound| WorstCase::new(self.kind, &self.ceilings, &self.units, bound));
        BoundedValue { value, low, high, variance: self.variance, degrees_of_freedom: self.degrees_of_freedom, worst }
    }
}

/// The variances of all values.
#[derive(Debug)]
pub(super) struct Spreads {
    pub auc_mu: Spread,
    pub hand_till: Spread,
    pub one_vs_rest: Spread,
    pub one_vs_rest_prevalence: Spread,
    pub per_class: Vec<Spread>,
}

/// Placements of the rows of a class in one histogram.
#[derive(Debug)]
pub(super) struct Placements {
    in_sample: Vec<f64>,
    of_all: Deviation,
}

/// What the differences of scores of two classes say.
#[derive(Debug)]
pub(super) struct MetPair<M: Mass> {
    /// What the first class wins.
    pub outcome: Outcome<M>,
    /// Of the first class, and of the second.
    placements: [Placements; 2],
}

/// What the column of a class says.
#[derive(Debug)]
pub(super) struct MetColumn<M: Mass> {
    /// What the class wins against the rest.
    pub rest: Outcome<M>,
    /// And against each other class, where these are kept apart.
    pub pairs: Vec<((usize, usize), Outcome<M>)>,
    /// Of the class: in the mean of the others, where these are kept apart, and in the rest.
    own: Vec<Placements>,
    /// Of each other class.
    others: Vec<Placements>,
}

/// A part of a component: so many times a placement in some histogram.
#[derive(Debug, Clone, Copy)]
struct Part {
    /// Among the placements of the class.
    placements: usize,
    times: f64,
}

/// Deviations of this size are rounding.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

impl<T: Score, M: Mass> View<'_, T, M> {
    /// From what pairs and columns say, in the order of the classes that are present.
    pub(super) fn spread(
        &self,
        pairs: &[MetPair<M>],
        columns: &[MetColumn<M>],
        workers: &Workers<'_>,
    ) -> Result<Spreads> {
        let mut per_class = vec![Spread::UNKNOWN; self.settings.classes];
        if self.settings.sample_rows::<T>() < FEWEST_SAMPLED {
            let [auc_mu, hand_till, one_vs_rest, one_vs_rest_prevalence] = [Spread::UNKNOWN; 4];
            return Ok(Spreads { auc_mu, hand_till, one_vs_rest, one_vs_rest_prevalence, per_class });
        }
        let of_classes = workers.map(self.present.len(), |index| Ok(self.terms_of_class(index, pairs, columns)))?;
        let across = |statistic: usize| {
            let kind = if statistic < 2 { Kind::Pairs } else { Kind::Rests };
            Spread::of(kind, &of_classes.iter().map(|terms| terms[statistic]).collect::<Vec<_>>())
        };
        for (index, &class) in self.present.iter().enumerate() {
            per_class[class] = across(AVERAGES + index);
        }
        Ok(Spreads {
            auc_mu: across(0),
            hand_till: across(1),
            one_vs_rest: across(2),
            one_vs_rest_prevalence: across(3),
            per_class,
        })
    }

    /// What a class adds to the variance of every value, and the largest component possible: of the averages, then of
    /// one-vs-rest of each class present.
    fn terms_of_class(&self, index: usize, pairs: &[MetPair<M>], columns: &[MetColumn<M>]) -> Vec<(ClassTerm, f64)> {
        let class = self.present[index];
        let placements = self.placements_of(index, pairs, columns);
        let statistics = self.parts(class, placements.len());
        let sample = &self.sketch.samples[class];
        let masses: Vec<[f64; 2]> = sample.masses.iter().map(|mass| [mass.sum, mass.squares]).collect();
        let of_all: Vec<Deviation> = placements.iter().map(|placed| placed.of_all).collect();
        let of_sample: Vec<Deviation> =
            placements.iter().map(|placed| Deviation::of(&placed.in_sample, &masses)).collect();
        // What the mean of a sample takes from its mean square, compared with that of all rows.
        let [sum, squares] = masses.iter().fold([0.0, 0.0], |[a, b], [c, d]| [a + c, b + d]);
        let of_class = self.effective(class);
        let lost = (1.0 - 1.0 / of_class) / (1.0 - squares / (sum * sum));
        let of_statistic = |(statistic, parts): (usize, &Vec<Part>)| {
            let mut components = vec![0.0; sample.len()];
            for part in parts {
                components
                    .iter_mut()
                    .zip(&placements[part.placements].in_sample)
                    .for_each(|(t, v)| *t += part.times * v);
            }
            let Deviation { second, fourth } = Deviation::of(&components, &masses);
            let sum = |deviations: &[Deviation]| -> f64 {
                parts.iter().map(|part| part.times * part.times * deviations[part.placements].second).sum()
            };
            let in_sample = sum(&of_sample);
            // Where the other classes share a histogram, it says nothing of one of them.
            let is_known = statistic == 0 || self.settings.columns_by_class;
            let ratio = if in_sample > 0.0 && is_known { sum(&of_all) / in_sample } else { lost };
            let ceiling = parts.iter().map(|part| part.times).sum();
            (self.term(class, second * ratio, fourth * ratio * ratio), ceiling)
        };
        statistics.iter().enumerate().map(of_statistic).collect()
    }

    /// From the mean square and the mean fourth power of deviations of components.
    fn term(&self, class: usize, second: f64, fourth: f64) -> ClassTerm {
        let rows = self.sizes.rows[class] as f64;
        let effective = self.effective(class);
        let small_sample = effective / (effective - 1.0);
        let share = 1.0 / effective;
        ClassTerm {
            variance: if rows > 1.0 { small_sample * share * second } else { f64::NAN },
            fourth: small_sample * small_sample * share * share / rows * fourth,
            units: rows,
            effective,
        }
    }

    /// How many rows of equal weight would know as much.
    fn effective(&self, class: usize) -> f64 {
        let (rows, weight) = (self.sizes.rows[class] as f64, self.sizes.weights[class]);
        if self.sketch.has_weights() { weight * weight / self.sketch.weights[class].squares } else { rows }
    }

    /// The placements of the rows of a class wherever they are counted.
    fn placements_of<'m>(
        &self,
        index: usize,
        pairs: &'m [MetPair<M>],
        columns: &'m [MetColumn<M>],
    ) -> Vec<&'m Placements> {
        let count = self.present.len();
        let mut all = Vec::new();
        for other in (0..count).filter(|&other| other != index && !pairs.is_empty()) {
            let (first, second) = (index.min(other), index.max(other));
            let pair = first * (2 * count - first - 1) / 2 + (second - first - 1);
            all.push(&pairs[pair].placements[usize::from(index == second)]);
        }
        if let Some(column) = columns.get(index) {
            all.extend(&column.own);
            let others = (0..count).filter(|&other| other != index);
            all.extend(others.map(|other| &columns[other].others[index - usize::from(index > other)]));
        }
        all
    }

    /// What the differences of two classes c < d say.
    pub(super) fn meet_pair(&self, c: usize, d: usize) -> MetPair<M> {
        let [own, other] = [c, d].map(|class| self.settings.difference_index(c, d, class));
        let met = self.bounded(own).meet(&self.bounded(other));
        let [below, of_other] = met.placements;
        // Differences are those of the lower class, which wins above; the other one wins below.
        let placements = [self.placed(c, own, &below), self.placed(d, other, &turned(of_other))];
        MetPair { outcome: met.outcome, placements }
    }

    /// What the column of class c says.
    pub(super) fn meet_column(&self, c: usize) -> MetColumn<M> {
        let index = self.settings.column_index(c, c);
        let own = self.bounded(index);
        if !self.settings.columns_by_class {
            let rest = self.settings.column_index(c, usize::from(c == 0));
            let met = own.meet(&self.bounded(rest));
            let [below, of_rest] = met.placements;
            let of_rest = turned(of_rest);
            let others = self.others(c).map(|d| self.placed(d, rest, &of_rest)).collect();
            return MetColumn {
                rest: met.outcome,
                pairs: Vec::new(),
                own: vec![self.placed(c, index, &below)],
                others,
            };
        }
        let total: f64 = self.others(c).map(|d| self.sizes.weights[d]).sum();
        let count = self.present.len() as f64 - 1.0;
        let bins = self.histograms[index].len();
        let (mut mean, mut pooled) = (vec![0.0; bins], vec![0.0; bins]);
        let (mut pairs, mut others) = (Vec::new(), Vec::new());
        for d in self.others(c) {
            let other = self.settings.column_index(c, d);
            let met = own.meet(&self.bounded(other));
            let [below, of_other] = met.placements;
            let share_of_rest = self.sizes.weights[d] / total;
            for ((mean, pooled), share) in mean.iter_mut().zip(&mut pooled).zip(below) {
                *mean += share / count;
                *pooled += share * share_of_rest;
            }
            pairs.push(((c, d), met.outcome));
            others.push(self.placed(d, other, &turned(of_other)));
        }
        let rest = pairs.iter().map(|&(_, outcome)| outcome).reduce(Outcome::plus);
        let rest = rest.expect("another class is present");
        let own = [mean, pooled].iter().map(|of_bins| self.placed(c, index, of_bins)).collect();
        MetColumn { rest, pairs, own, others }
    }

    /// The placements of the rows of a class, from those of the bins of a histogram.
    fn placed(&self, class: usize, histogram: usize, of_bins: &[f64]) -> Placements {
        let mut masses = Vec::with_capacity(of_bins.len());
        self.histograms[histogram].for_each(|_, mass| masses.push([mass.amount(), mass.squares()]));
        let bins = self.bins_of_sample(class, histogram).into_iter();
        let in_sample = bins.map(|bin| bin.map_or(f64::NAN, |bin| of_bins[bin])).collect();
        Placements { in_sample, of_all: Deviation::of(of_bins, &masses) }
    }

    /// The bins of the rows of the sample.
    fn bins_of_sample(&self, class: usize, index: usize) -> Vec<Option<usize>> {
        let (sample, histogram) = (&self.sketch.samples[class], &self.histograms[index]);
        let rows = || (0..sample.len()).map(|row| sample.row(row));
        match self.contents[index] {
            Contents::Difference { c, d, .. } => {
                let scores = || rows().map(|row| (row[c].into(), row[d].into()));
                let mut differences = Differences::new(self.sketch.reading(), scores());
                histogram.find_all(scores().map(|(a, b)| differences.place(a, b)))
            }
            Contents::Column { c, .. } | Contents::Rest { c } => {
                let place = |row: &[T]| Place { code: score_code(row[c].into()), within: Place::UNKNOWN };
                histogram.find_all(rows().map(place))
            }
        }
    }

    fn others(&self, class: usize) -> impl Iterator<Item = usize> + '_ {
        self.present.iter().copied().filter(move |&other| other != class)
    }

    /// The parts of the components of a class, by statistic.
    fn parts(&self, class: usize, placements: usize) -> Vec<Vec<Part>> {
        let (count, weights) = (self.present.len() as f64, &self.sizes.weights);
        let total: f64 = self.present.iter().map(|&class| weights[class]).sum();
        let differences = if self.settings.differences { self.present.len() - 1 } else { 0 };
        let mut statistics = vec![Vec::new(); AVERAGES + self.present.len()];
        statistics[0] =
            (0..differences).map(|placements| Part { placements, times: 2.0 / (count * (count - 1.0)) }).collect();
        if placements == differences {
            return statistics;
        }
        let by_class = usize::from(self.settings.columns_by_class);
        let pooled = differences + by_class;
        if self.settings.columns_by_class {
            statistics[1].push(Part { placements: differences, times: 1.0 / count });
        }
        let mut own = |statistic: usize, placements: usize, times: f64| {
            statistics[statistic].push(Part { placements, times });
        };
        own(2, pooled, 1.0 / count);
        own(3, pooled, weights[class] / total);
        for (place, &c) in self.present.iter().enumerate() {
            if c == class {
                own(AVERAGES + place, pooled, 1.0);
                continue;
            }
            let placements = pooled + 1 + place - usize::from(c > class);
            let share_of_rest = weights[class] / (total - weights[c]);
            if self.settings.columns_by_class {
                own(1, placements, 1.0 / (count * (count - 1.0)));
            }
            own(2, placements, share_of_rest / count);
            own(3, placements, weights[c] / total * share_of_rest);
            own(AVERAGES + place, placements, share_of_rest);
        }
        statistics
    }
}

/// The shares above, from those below.
fn turned(mut shares: Vec<f64>) -> Vec<f64> {
    for share in &mut shares {
        *share = 1.0 - *share;
    }
    shares
}

/// Averages come before the values of classes.
const AVERAGES: usize = 4;

/// Mean powers of deviations from the mean.
#[derive(Debug, Clone, Copy)]
struct Deviation {
    second: f64,
    fourth: f64,
}

impl Deviation {
    /// Of values with weights and sums of squared weights.
    fn of(values: &[f64], masses: &[[f64; 2]]) -> Self {
        let (mut sum, mut total) = (0.0, 0.0);
        for (value, [weight, _]) in values.iter().zip(masses) {
            sum += weight * value;
            total += weight;
        }
        let mean = sum / total;
        let (mut second, mut fourth, mut squares) = (0.0, 0.0, 0.0);
        for (value, [_, square]) in values.iter().zip(masses) {
            let deviation = value - mean;
            let power = if deviation.abs() <= ROUNDING { 0.0 } else { deviation * deviation };
            second += square * power;
            fourth += square * power * power;
            squares += square;
        }
        Self { second: second / squares, fourth: fourth / squares }
    }
}
