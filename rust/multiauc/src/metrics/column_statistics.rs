//! The statistics that rank by single columns, from one pass over the columns: Hand & Till's M and one-vs-rest.

use super::column_placements::{ColumnPlacements, for_each_column};
use super::pair_placements::RankedScores;
use super::weighting::{PairWeighting, RestWeighting};
use super::{MetricOptions, PairTable};
use crate::error::Result;
use crate::float::Score;
use crate::inference::{
    Components, Contribution, Design, Estimate, GroupDeviations, Segment, Statistic, add, estimate_one,
};
use crate::metric::Metric;
use crate::pairs::{ClassAverage, SampleAverage, Tally, Wins};
use crate::parallel::Workers;
use crate::sample::ScoredSample;

/// What is computed from the columns of a sample.
pub(super) struct ColumnStatistics {
    /// Those asked for, in that order.
    pub statistics: Vec<Statistic>,
    /// A(c|d) of all ordered pairs.
    pub pairs: PairTable,
    /// Each class against the rest.
    pub per_class: Vec<Estimate>,
}

/// Some of M, one-vs-rest and one-vs-rest by prevalence, with the components of the rows.
pub(super) fn column_statistics<T: Score>(
    sample: &ScoredSample<'_, T>,
    design: &Design,
    RankedScores { whole, rule, one, memory }: RankedScores<'_, T>,
    wanted: &[Metric],
    options: MetricOptions<'_>,
    workers: &Workers<'_>,
) -> Result<ColumnStatistics> {
    let (rows, classes) = (&design.rows, sample.classes());
    let pair_weighting = PairWeighting::new(options.pair_weights, rows)?;
    let rest_weighting = RestWeighting::new(rows);
    let mut averages = Averages::new(sample, options);
    let mut pairs = PairTable::missing(classes);
    let mut per_class = vec![Estimate::MISSING; classes];
    let mut class_slopes = vec![vec![0.0; classes]; classes];
    let mut add_column = |column: &ColumnPlacements, estimate: Estimate, slopes: Vec<f64>| {
        let c = column.class;
        averages.add(column, column.wins_over_rest(rows));
        pairs.values[c * classes..][..classes].copy_from_slice(&column.shares());
        pairs.variances[c * classes..][..classes].copy_from_slice(&column.variances);
        pairs.degrees_of_freedom[c * classes..][..classes].copy_from_slice(&column.degrees_of_freedom);
        per_class[c] = estimate;
        class_slopes[c] = slopes;
    };
    let components: Vec<Components> = if let Some(one) = one {
        for class in [0, 1] {
            let mut column = one.column(class);
            let (estimate, slopes) = estimate_class(design, &rest_weighting, &mut column, &one.components, workers)?;
            add_column(&column, estimate, slopes);
        }
        wanted.iter().map(|_| one.components.clone()).collect()
    } else {
        let mut components = workers.map(wanted.len(), |_| Ok(memory.buffers.zeros(rows.len())))?;
        let estimate = |mut column: ColumnPlacements| {
            let mut placements = std::mem::take(&mut column.placements);
            scale_by_prevalence(design, &rest_weighting, column.class, &mut placements);
            let (estimate, slopes) = estimate_class(design, &rest_weighting, &mut column, &placements, workers)?;
            column.placements = placements;
            Ok((column, estimate, slopes))
        };
        let add_columns = |wave: Vec<(ColumnPlacements, Estimate, Vec<f64>)>| {
            let mut contributions = Vec::new();
            for (column, ..) in &wave {
                contributions.extend(contributions_of(design, wanted, &pair_weighting, &rest_weighting, column));
            }
            add(&mut components, &contributions, workers)?;
            for (column, estimate, slopes) in wave {
                add_column(&column, estimate, slopes);
                memory.buffers.give_back(column.placements);
                memory.buffers.give_back(column.by_pair);
            }
            Ok(())
        };
        let scores = (&pair_weighting.omega[..], whole, rule.lattice());
        for_each_column(sample, design, scores, (memory, workers), estimate, add_columns)?;
        components.into_iter().map(Components::from).collect()
    };
    let values: Vec<f64> = per_class.iter().map(|estimate| estimate.value).collect();
    let [hand_till, even, prevalence] = averages.finish()?;
    let [of_even, of_prevalence] = rest_weighting.slopes(rows, &values, &class_slopes);
    let statistics = wanted.iter().zip(components).map(|(&id, components)| {
        let (value, slopes, chances) = match id {
            Metric::HandTill => {
                let slopes = pair_weighting.slopes(rows, &pairs.values, hand_till);
                (hand_till, slopes, pair_weighting.chances(classes))
            }
            Metric::OneVsRestPrevalence => {
                (prevalence, of_prevalence.clone(), rest_weighting.chances(rows, |c| rest_weighting.of(c)))
            }
            _ => (even, of_even.clone(), rest_weighting.chances(rows, |_| rest_weighting.even)),
        };
        Statistic { id, value, components, slopes, chances: Some(chances), worst: None }
    });
    Ok(ColumnStatistics { statistics: statistics.collect(), pairs, per_class })
}

/// Placements in a column become the components of its one-vs-rest value: those of class d are scaled by the prevalence
/// of class d among the rest.
fn scale_by_prevalence(design: &Design, weighting: &RestWeighting, class: usize, placements: &mut [f64]) {
    let rows = &design.rows;
    for d in rows.others(class) {
        let scale = weighting.of(d) / weighting.of_rest(rows, class);
        placements[rows.range(d)].iter_mut().for_each(|placement| *placement *= scale);
    }
}

/// The one-vs-rest value of a column with its variance, and its slopes in the prevalences. `components` are by position.
fn estimate_class(
    design: &Design,
    weighting: &RestWeighting,
    column: &mut ColumnPlacements,
    components: &[f64],
    workers: &Workers<'_>,
) -> Result<(Estimate, Vec<f64>)> {
    let (rows, class) = (&design.rows, column.class);
    let (value, shares) = (column.wins_over_rest(rows).share(), column.shares());
    let slopes = weighting.class_slopes(rows, class, &shares, value);
    let scale = |d: usize| weighting.of(d) / weighting.of_rest(rows, class);
    let deviations = scaled_deviations(design, column, components, value, scale);
    let columns: Vec<[&[f64]; 1]> = rows.present().iter().map(|&class| [&components[rows.range(class)]]).collect();
    let segments: Vec<Segment<'_>> =
        rows.present().iter().zip(&columns).map(|(&class, columns)| Segment { class, columns }).collect();
    let chances = weighting.class_chances(rows, class);
    // Where pairs of rows are counted the means are what the counts say.
    let mean = |&d: &usize| if d == class { value } else { shares[d] * scale(d) };
    let means = rows.weights().is_none().then(|| rows.present().iter().map(mean).collect());
    let estimate = estimate_one(design, &segments, (&slopes, means, deviations), Some(&chances), value, workers)?;
    Ok((estimate, slopes))
}

/// What the groups of each class add up to in the column, from what they did against its class alone.
fn scaled_deviations(
    design: &Design,
    column: &mut ColumnPlacements,
    components: &[f64],
    value: f64,
    scale: impl Fn(usize) -> f64,
) -> Option<Vec<GroupDeviations>> {
    let of_others = std::mem::take(&mut column.deviations);
    let own = &components[design.rows.range(column.class)];
    let mut own = Some(design.group_deviations(column.class, own, value)?);
    let mut of_others = of_others.into_iter();
    let of_class = |&class: &usize| {
        if class == column.class {
            return own.take();
        }
        let (mut deviations, scale) = (of_others.next()?, scale(class));
        deviations.sums.iter_mut().for_each(|sum| *sum *= scale);
        deviations.centre *= scale;
        Some(deviations)
    };
    design.rows.present().iter().map(of_class).collect()
}

/// What a column adds to the components of the statistics wanted.
fn contributions_of<'v>(
    design: &Design,
    wanted: &[Metric],
    pair_weighting: &PairWeighting<'_>,
    rest_weighting: &RestWeighting,
    column: &'v ColumnPlacements,
) -> Vec<Contribution<'v>> {
    let rows = &design.rows;
    let (c, classes) = (column.class, rows.classes());
    let rest = rest_weighting.of_rest(rows, c);
    // The placements are scaled for one-vs-rest; M has its own weights, and its own placements of the column's class.
    let of_pair = |d: usize| match d {
        _ if d == c => 0.0,
        _ => 0.5 * pair_weighting.omega[c * classes + d] * rest / rest_weighting.of(d),
    };
    let coefficient = |metric: &Metric, d: usize| match metric {
        Metric::HandTill => of_pair(d),
        Metric::OneVsRestPrevalence => rest_weighting.of(c),
        _ => rest_weighting.even,
    };
    let by_class = rows.present().iter().map(|&d| {
        let range = rows.range(d);
        let coefficients = wanted.iter().map(|metric| coefficient(metric, d)).collect();
        Contribution { start: range.start, values: &column.placements[range], coefficients }
    });
    let is_hand_till = |metric: &Metric| f64::from(u8::from(*metric == Metric::HandTill));
    let by_pair = Contribution {
        start: rows.range(c).start,
        values: &column.by_pair,
        coefficients: wanted.iter().map(is_hand_till).collect(),
    };
    by_class.chain([by_pair]).collect()
}

/// Running averages over columns.
struct Averages<'s, 'a, T> {
    sample: &'s ScoredSample<'a, T>,
    hand_till: SampleAverage<'s>,
    even: ClassAverage,
    prevalence: ClassAverage,
}

impl<'s, 'a, T: Score> Averages<'s, 'a, T> {
    fn new(sample: &'s ScoredSample<'a, T>, options: MetricOptions<'s>) -> Self {
        Self {
            sample,
            hand_till: SampleAverage::new(options.pair_weights, sample.sizes()),
            even: ClassAverage::default(),
            prevalence: ClassAverage::default(),
        }
    }

    fn add(&mut self, column: &ColumnPlacements, over_rest: Wins) {
        let c = column.class;
        for (d, wins) in column.wins.iter().enumerate() {
            if let Some(wins) = *wins {
                self.hand_till.add(c, d, wins);
            }
        }
        self.even.add(over_rest, 1, 1.0);
        self.prevalence.add(over_rest, self.sample.sizes.rows[c], self.sample.sizes.weights[c]);
    }

    fn finish(self) -> Result<[f64; 3]> {
        Ok([self.hand_till.finish()?, self.even.finish()?, self.prevalence.finish()?])
    }
}
