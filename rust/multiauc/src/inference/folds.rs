//! Folds of a cross-validation: a metric within each fold, averaged over the folds.
//!
//! Scores of different fold models are not comparable, so that pairs of rows are counted within folds. With λ_f = W_f/W,
//! θ = Σ_f λ_f θ_f is a sum of means over the classes of the folds: the rows of class k in fold f have the component
//! λ_f T_f(i), and count as a class of their own. Where a fold has a single row of a class, nothing shows how much the
//! class varies within it: that class is then centred on its mean over all folds.

use super::design::{Design, Groups};
use super::statistic::Statistic;
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
    folds: Vec<Fold>,
    /// λ_f.
    shares: Vec<f64>,
    /// By class, whether it is centred on its mean over folds.
    is_pooled: Vec<bool>,
    /// The position of each row of the sample.
    position_of: Vec<u32>,
}

impl Folds {
    /// Folds of `rows` rows; `groups` are those of the rows of the whole sample.
    #[must_use]
    pub fn new(folds: Vec<Fold>, rows: usize, groups: Option<&[u32]>) -> Self {
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
        let groups = groups.map(|groups| Groups::new(groups, &class_rows)).filter(|groups| !groups.are_single_rows());
        let has_random_sizes = folds.iter().any(|fold| fold.design.has_random_sizes);
        Self {
            design: Design::of_parts(class_rows, groups, has_random_sizes, rows),
            folds,
            shares,
            is_pooled,
            position_of,
        }
    }

    /// The design whose classes are those of the folds.
    #[must_use]
    pub const fn design(&self) -> &Design {
        &self.design
    }

    /// Each of them.
    #[must_use]
    pub fn folds(&self) -> &[Fold] {
        &self.folds
    }

    /// The average over folds of the statistics of one metric, one of each fold.
    ///
    /// # Panics
    /// Unless there is a statistic for each fold.
    #[must_use]
    pub fn average<'s>(&self, statistics: impl IntoIterator<Item = &'s Statistic>) -> Statistic {
        let statistics: Vec<&Statistic> = statistics.into_iter().collect();
        assert_eq!(statistics.len(), self.folds.len(), "a statistic of each fold");
        let classes = self.is_pooled.len();
        let mut components = vec![0.0; self.design.rows.len()];
        let mut slopes = vec![0.0; self.design.rows.classes()];
        // Both sums are taken alike, so that the average of values in [0, 1] is there too.
        let (mut value, mut all) = (0.0, 0.0);
        for (index, ((fold, statistic), &share)) in self.folds.iter().zip(&statistics).zip(&self.shares).enumerate() {
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
        Statistic { id: statistics[0].id, value: value / all, components, slopes, chances: None }
    }
}
