//! Folds of a cross-validation: a metric within each fold, averaged over the folds.
//!
//! Scores of different fold models are not comparable, so that pairs of rows are counted within folds. With λ_f = W_f/W,
//! θ = Σ_f λ_f θ_f is a sum of means over the classes of the folds: the rows of class k in fold f have the component
//! λ_f T_f(i), and count as a class of their own. Where a fold has a single row of a class, nothing shows how much the
//! class varies within it: that class is then centred on its mean over all folds.

use super::design::Design;
use super::groups::Groups;
use super::statistic::Statistic;
use super::worst_case::{Kind, WorstCase};
use crate::error::Result;
use crate::parallel::Workers;
use crate::sample::ClassRows;

/// The rows of one fold.
#[derive(Debug)]
pub struct Fold {
    /// Its classes, which must all have rows that the other folds have.
    pub design: Design,
    /// The number of each of its rows in the whole sample.
    pub rows: Vec<u32>,
}

/// The rows of all folds, and how the statistics of the folds become one.
#[derive(Debug)]
pub struct Folds {
    design: Design,
    parts: Vec<Fold>,
    /// λ_f.
    shares: Vec<f64>,
    /// By class, whether it is centred on its mean over folds.
    is_pooled: Vec<bool>,
    /// The position of each row of the sample.
    position_of: Vec<u32>,
}

impl Folds {
    /// Folds of `rows` rows; `groups` are those of the rows of the whole sample.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn new(folds: Vec<Fold>, rows: usize, groups: Option<&[u32]>, workers: &Workers<'_>) -> Result<Self> {
        const ONE_UNIT: f64 = 1.0 + 1e-12;
        let classes = folds.first().map_or(0, |fold| fold.design.rows.classes());
        // Folds have their own units of weight, all of them powers of two.
        let unit = folds.iter().map(|fold| fold.design.rows.unit()).fold(f64::INFINITY, f64::min);
        let weight = |fold: &Fold, class: usize| fold.design.rows.weight(class) / (fold.design.rows.unit() / unit);
        let totals: Vec<f64> = folds.iter().map(|fold| (0..classes).map(|class| weight(fold, class)).sum()).collect();
        let total: f64 = totals.iter().sum();
        let shares: Vec<f64> = totals.iter().map(|of_fold| of_fold / total).collect();
        let is_single = |class: usize| {
            let effective = |fold: &Fold| fold.design.effective[class];
            folds.iter().any(|fold| effective(fold) > 0.0 && effective(fold) <= ONE_UNIT)
        };
        let is_pooled: Vec<bool> = (0..classes).map(is_single).collect();
        let has_weights = is_pooled.contains(&true) || folds.iter().any(|fold| fold.design.rows.weights().is_some());

        let mut class_of = vec![None; rows];
        let mut weights = vec![0.0; rows];
        for (index, (fold, share)) in folds.iter().zip(&shares).enumerate() {
            for &class in fold.design.rows.present() {
                let of_class: f64 = folds.iter().map(|fold| weight(fold, class)).sum();
                // A pooled class has the weights λ_f w/W_fk, scaled to the weight of the class.
                let scale = if is_pooled[class] { share * of_class / weight(fold, class) } else { 1.0 };
                for (place, &row) in fold.design.rows.of(class).iter().enumerate() {
                    let row = fold.rows[row as usize] as usize;
                    class_of[row] = Some(if is_pooled[class] { class } else { (index + 1) * classes + class });
                    let own = fold.design.rows.weights_of(class).map_or(1.0, |weights| weights[place]);
                    weights[row] = scale * (own / (fold.design.rows.unit() / unit));
                }
            }
        }
        let class_rows =
            ClassRows::of_classes(&class_of, (folds.len() + 1) * classes, has_weights.then_some(&weights[..]));
        let mut position_of = vec![u32::MAX; rows];
        (0..).zip(class_rows.rows()).for_each(|(position, &row)| position_of[row as usize] = position);
        let groups = groups.map(|groups| Groups::new(groups, &class_rows, workers)).transpose()?;
        let groups = groups.filter(|groups| !groups.are_single_rows());
        let has_random_sizes = folds.iter().any(|fold| fold.design.has_random_sizes);
        Ok(Self {
            design: Design::of_parts(class_rows, groups, has_random_sizes, rows, workers)?,
            parts: folds,
            shares,
            is_pooled,
            position_of,
        })
    }

    /// The design whose classes are those of the folds.
    #[must_use]
    pub const fn design(&self) -> &Design {
        &self.design
    }

    /// Each of them.
    #[must_use]
    pub fn folds(&self) -> &[Fold] {
        &self.parts
    }

    /// The average over folds of the statistics of one metric, one of each fold.
    ///
    /// # Panics
    /// Unless there is a statistic for each fold.
    #[must_use]
    pub fn average<'s>(&self, statistics: impl IntoIterator<Item = &'s Statistic>) -> Statistic {
        let statistics: Vec<&Statistic> = statistics.into_iter().collect();
        assert_eq!(statistics.len(), self.parts.len(), "a statistic of each fold");
        let classes = self.is_pooled.len();
        let mut components = vec![0.0; self.design.rows.len()];
        let mut slopes = vec![0.0; self.design.rows.classes()];
        // Both sums are taken alike, so that the average of values in [0, 1] is there too.
        let (mut value, mut all) = (0.0, 0.0);
        for (index, ((fold, statistic), &share)) in self.parts.iter().zip(&statistics).zip(&self.shares).enumerate() {
            value += share * statistic.value;
            all += share;
            let rows = &fold.design.rows;
            let total = rows.total_weight();
            let mean: f64 =
                rows.present().iter().map(|&class| rows.weight(class) / total * statistic.slopes[class]).sum();
            for &class in rows.present() {
                // A pooled class has its share of the fold in its weights, and the mean slope of the folds.
                let (factor, place, part) = if self.is_pooled[class] {
                    let of_class = self.design.rows.weight(class) / self.design.rows.total_weight();
                    (1.0, class, rows.weight(class) / total * share / of_class)
                } else {
                    (share, (index + 1) * classes + class, 1.0)
                };
                slopes[place] += part * (statistic.slopes[class] - mean);
                for (&row, component) in rows.of(class).iter().zip(&statistic.components[rows.range(class)]) {
                    components[self.position_of[fold.rows[row as usize] as usize] as usize] = factor * component;
                }
            }
        }
        Statistic {
            id: statistics[0].id,
            value: value / all,
            components: components.into(),
            slopes,
            chances: None,
            worst: self.worst_case(&statistics, value / all),
        }
    }

    /// That of the whole sample: folds of the same shares of every class have it.
    fn worst_case(&self, statistics: &[&Statistic], value: f64) -> Option<WorstCase> {
        if let Some(worst) = statistics[0].worst {
            // One of effective numbers of rows, which add up.
            let of_fold = |statistic: &&Statistic| Some(statistic.worst?.design_effect.recip());
            let units: f64 = statistics.iter().map(of_fold).sum::<Option<f64>>()?;
            return Some(WorstCase { design_effect: units.recip(), ..worst });
        }
        let classes = self.is_pooled.len();
        let [mut ceilings, mut recalls, mut weights, mut squares] = [(); 4].map(|()| vec![0.0; classes]);
        let kind = Kind::of(statistics[0].id)?;
        for ((fold, statistic), share) in self.parts.iter().zip(statistics).zip(&self.shares) {
            let of_fold = statistic.ceilings(&fold.design)?;
            let recalls_of_fold = (kind == Kind::Recalls).then(|| statistic.recalls(&fold.design));
            for &class in fold.design.rows.present() {
                // Folds have their own units of weight.
                let weight = fold.design.rows.weight(class) / fold.design.rows.unit();
                ceilings[class] += share * of_fold[class];
                if let Some(of_fold) = &recalls_of_fold {
                    recalls[class] += weight * of_fold[class];
                }
                weights[class] += weight;
                squares[class] += weight * weight / fold.design.effective[class];
            }
        }
        let units = weights
            .iter()
            .zip(&squares)
            .map(|(weight, squares)| if *weight > 0.0 { weight * weight / squares } else { 0.0 })
            .collect::<Vec<f64>>();
        if kind == Kind::Recalls {
            recalls.iter_mut().zip(&weights).for_each(|(recall, weight)| *recall /= weight);
            return Some(WorstCase::of_recalls(&ceilings, &units, &recalls, value));
        }
        Some(WorstCase::new(kind, &ceilings, &units, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Result;
    use crate::inference::moments;
    use crate::metric::Metric;
    use crate::parallel::{Cancel, Workers};
    use crate::sample::{ClassCodes, Sampling, ScoreMatrix, ScoredSample};

    /// The design of rows of two classes without scores.
    fn design(codes: &[u8], workers: &Workers<'_>) -> Result<Design> {
        let scores = vec![0.0; 2 * codes.len()];
        let sample = ScoredSample::new(ScoreMatrix::from_rows(&scores, 2)?, ClassCodes::Bytes(codes), None, workers)?;
        Design::new(&sample, Sampling::Stratified, workers)
    }

    fn statistic(value: f64, components: &[f64]) -> Statistic {
        let components = components.to_vec();
        Statistic {
            id: Metric::AucMu,
            value,
            components: components.into(),
            slopes: vec![0.0; 2],
            chances: None,
            worst: None,
        }
    }

    /// The average of two folds with the classes of `codes`, and its variance.
    fn averaged(codes: [&[u8]; 2], rows: [&[u32]; 2], components: [&[f64]; 2], values: [f64; 2]) -> Result<[f64; 2]> {
        let cancel = Cancel::new();
        let workers = Workers::with_threads(1, &cancel);
        let mut folds = Vec::new();
        for (codes, rows) in codes.into_iter().zip(rows) {
            folds.push(Fold { design: design(codes, &workers)?, rows: rows.to_vec() });
        }
        let folds = Folds::new(folds, rows[0].len() + rows[1].len(), None, &workers)?;
        let statistics: Vec<Statistic> =
            values.into_iter().zip(components).map(|(value, components)| statistic(value, components)).collect();
        let average = folds.average(&statistics);
        let found = moments(folds.design(), &[average], &workers)?.estimates[0];
        Ok([found.value, found.variance])
    }

    #[track_caller]
    fn assert_close(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-14 * expected.abs(), "{found} instead of {expected}");
    }

    #[test]
    fn variances_add_up_over_folds() -> Result<()> {
        let codes: [&[u8]; 2] = [&[0, 0, 1, 1], &[0, 0, 1, 1, 1, 1]];
        let components: [&[f64]; 2] = [&[0.5, 0.7, 0.2, 0.6], &[0.9, 0.5, 0.1, 0.2, 0.3, 0.6]];
        let [value, variance] = averaged(codes, [&[8, 1, 0, 5], &[2, 3, 4, 6, 7, 9]], components, [0.8, 0.6])?;
        assert_close(value, 0.4 * 0.8 + 0.6 * 0.6);
        // s²/n of both classes of the folds: .02/2 + .08/2 and .08/2 + (.14/3)/4.
        let expected = 0.16 * (0.01 + 0.04) + 0.36 * (0.04 + 0.14 / 12.0);
        assert_close(variance, expected);
        Ok(())
    }

    #[test]
    fn a_class_with_one_row_in_a_fold_is_centred_over_folds() -> Result<()> {
        let codes: [&[u8]; 2] = [&[0, 0, 1], &[0, 0, 1]];
        let components: [&[f64]; 2] = [&[0.5, 0.7, 0.2], &[0.9, 0.5, 0.6]];
        let [_, variance] = averaged(codes, [&[0, 1, 2], &[3, 4, 5]], components, [0.8, 0.6])?;
        // The second class has two rows in all: .08/2. The first has two in each fold: (.02/2 + .08/2)/4.
        assert_close(variance, 0.04 + 0.05 / 4.0);
        Ok(())
    }
}
