//! The sampling variance of answers: components of rows, as far as bins tell them.
//!
//! The component T(i) of a row is a sum of its placements in several histograms. Each histogram knows the placements of
//! all rows of a class; how those of the same row go together is known of a sample of rows. So the variance of T within
//! a class is that of the sample, times the ratio of the sums of the variances of the single placements among all rows
//! and in the sample.

use super::answers::{Certified, Range, View};
use super::code::{Place, score_code};
use super::mass::Mass;
use super::places::place_of;
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

    pub(super) fn certified(&self, Range { low, high }: Range) -> Certified {
        let value = f64::midpoint(low, high);
        let worst = [low, high].map(|bound| WorstCase::new(self.kind, &self.ceilings, &self.units, bound));
        Certified { value, low, high, variance: self.variance, degrees_of_freedom: self.degrees_of_freedom, worst }
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

/// Placements of the bins of one histogram.
#[derive(Debug)]
struct Placements {
    histogram: usize,
    of_bins: Vec<f64>,
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
    pub(super) fn spread(&self, workers: &Workers<'_>) -> Result<Spreads> {
        let mut per_class = vec![Spread::UNKNOWN; self.settings.classes];
        if self.settings.sample_rows::<T>() < FEWEST_SAMPLED {
            let [auc_mu, hand_till, one_vs_rest, one_vs_rest_prevalence] = [Spread::UNKNOWN; 4];
            return Ok(Spreads { auc_mu, hand_till, one_vs_rest, one_vs_rest_prevalence, per_class });
        }
        let of_classes = workers.map(self.present.len(), |index| Ok(self.terms_of_class(self.present[index])))?;
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
    fn terms_of_class(&self, class: usize) -> Vec<(ClassTerm, f64)> {
        let placements = self.placements_of(class);
        let statistics = self.parts(class, &placements);
        let sample = &self.sketch.samples[class];
        let in_sample: Vec<Vec<f64>> = placements.iter().map(|placed| self.in_sample(class, placed)).collect();
        let masses: Vec<[f64; 2]> = sample.masses.iter().map(|mass| [mass.sum, mass.squares]).collect();
        let of_all: Vec<Deviation> = placements
            .iter()
            .map(|placed| {
                let mut masses = Vec::with_capacity(placed.of_bins.len());
                self.histograms[placed.histogram].for_each(|_, mass| masses.push([mass.amount(), mass.squares()]));
                Deviation::of(&placed.of_bins, &masses)
            })
            .collect();
        let of_sample: Vec<Deviation> = in_sample.iter().map(|values| Deviation::of(values, &masses)).collect();
        // What the mean of a sample takes from its mean square, compared with that of all rows.
        let [sum, squares] = masses.iter().fold([0.0, 0.0], |[a, b], [c, d]| [a + c, b + d]);
        let of_class = self.effective(class);
        let lost = (1.0 - 1.0 / of_class) / (1.0 - squares / (sum * sum));
        let of_statistic = |(statistic, parts): (usize, &Vec<Part>)| {
            let mut components = vec![0.0; sample.len()];
            for part in parts {
                components.iter_mut().zip(&in_sample[part.placements]).for_each(|(t, v)| *t += part.times * v);
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
    fn placements_of(&self, class: usize) -> Vec<Placements> {
        let settings = self.settings;
        let mut all = Vec::new();
        if settings.differences {
            for &d in self.present.iter().filter(|&&d| d != class) {
                let (low, high) = (class.min(d), class.max(d));
                let index = settings.difference_index(low, high, class);
                let other = self.bounded(settings.difference_index(low, high, d));
                let below = self.bounded(index).placements(&other);
                // Differences are those of the lower class, which wins above; the other one wins below.
                let of_bins = if class == low { below } else { below.into_iter().map(|share| 1.0 - share).collect() };
                all.push(Placements { histogram: index, of_bins });
            }
        }
        if settings.columns_by_class {
            let index = settings.column_index(class, class);
            let own = self.bounded(index);
            let total: f64 = self.others(class).map(|d| self.sizes.weights[d]).sum();
            let bins = self.histograms[index].len();
            let (mut mean, mut pooled) = (vec![0.0; bins], vec![0.0; bins]);
            let others = self.present.len() as f64 - 1.0;
            for d in self.others(class) {
                let below = own.placements(&self.bounded(settings.column_index(class, d)));
                for (bin, share) in below.into_iter().enumerate() {
                    mean[bin] += share / others;
                    pooled[bin] += share * (self.sizes.weights[d] / total);
                }
            }
            all.push(Placements { histogram: index, of_bins: mean });
            all.push(Placements { histogram: index, of_bins: pooled });
            for c in self.others(class) {
                all.push(self.below_owner(c, class));
            }
        } else if settings.columns {
            let index = settings.column_index(class, class);
            let rest = self.others(class).next().unwrap_or(class);
            let of_bins = self.bounded(index).placements(&self.bounded(settings.column_index(class, rest)));
            all.push(Placements { histogram: index, of_bins });
            for c in self.others(class) {
                all.push(self.below_owner(c, class));
            }
        }
        all
    }

    /// The share of the rows of class c that are above those of another class in the column of c.
    fn below_owner(&self, c: usize, class: usize) -> Placements {
        let index = self.settings.column_index(c, class);
        let below = self.bounded(index).placements(&self.bounded(self.settings.column_index(c, c)));
        Placements { histogram: index, of_bins: below.into_iter().map(|share| 1.0 - share).collect() }
    }

    fn others(&self, class: usize) -> impl Iterator<Item = usize> + '_ {
        self.present.iter().copied().filter(move |&other| other != class)
    }

    /// The parts of the components of a class, by statistic.
    fn parts(&self, class: usize, placements: &[Placements]) -> Vec<Vec<Part>> {
        let (count, weights) = (self.present.len() as f64, &self.sizes.weights);
        let total: f64 = self.present.iter().map(|&class| weights[class]).sum();
        let differences = if self.settings.differences { self.present.len() - 1 } else { 0 };
        let mut statistics = vec![Vec::new(); AVERAGES + self.present.len()];
        statistics[0] =
            (0..differences).map(|placements| Part { placements, times: 2.0 / (count * (count - 1.0)) }).collect();
        if placements.len() == differences {
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

    /// The placements of the rows of the sample.
    fn in_sample(&self, class: usize, placed: &Placements) -> Vec<f64> {
        let sample = &self.sketch.samples[class];
        let histogram = &self.histograms[placed.histogram];
        let reading = self.sketch.reading();
        let place = |row: &[T]| match self.contents[placed.histogram] {
            Contents::Difference { c, d, .. } => place_of(row[c].into(), row[d].into(), reading),
            Contents::Column { c, .. } | Contents::Rest { c } => {
                Place { code: score_code(row[c].into()), within: Place::UNKNOWN }
            }
        };
        let of_row =
            |index: usize| histogram.find(place(sample.row(index))).map_or(f64::NAN, |bin| placed.of_bins[bin]);
        (0..sample.len()).map(of_row).collect()
    }
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
