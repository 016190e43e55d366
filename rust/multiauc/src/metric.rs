//! The crate's one list of metrics. How each is computed is in `metrics`.

/// A metric that has a value and a component per row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Metric {
    /// AUC_mu (Kleiman & Page).
    AucMu,
    /// Hand & Till's M.
    HandTill,
    /// One-vs-rest, the mean over classes.
    OneVsRest,
    /// One-vs-rest, weighted by class sizes (Provost & Domingos).
    OneVsRestPrevalence,
    /// Average precision of each class against the rest, the mean over classes.
    AveragePrecision,
    /// The same, weighted by class sizes.
    AveragePrecisionPrevalence,
    /// The polytomous discrimination index.
    Pdi,
    /// The hypervolume under the ROC manifold, by sums of scores.
    Hum,
    /// The simplified volume of Landgrebe & Duin: the same by products.
    LandgrebeDuin,
    /// The volume under the ROC surface of ordered classes.
    OrderedVus,
    /// Gorodkin's R_K of the decisions, Matthews' correlation for any number of classes.
    Matthews,
    /// Cohen's kappa of the decisions.
    Kappa,
    /// The share of right decisions.
    Accuracy,
    /// The mean over classes of the share of right decisions.
    BalancedAccuracy,
    /// The mean over classes of F1.
    MacroF1,
    /// The share of rows whose class is among the k of the highest scores.
    TopKAccuracy,
    /// The mean of −ln p over rows, p the probability of the true class.
    LogLoss,
    /// The mean squared distance of the probabilities from the true class.
    Brier,
}

impl Metric {
    /// All of them.
    pub const ALL: [Self; 18] = [
        Self::AucMu,
        Self::HandTill,
        Self::OneVsRest,
        Self::OneVsRestPrevalence,
        Self::AveragePrecision,
        Self::AveragePrecisionPrevalence,
        Self::Pdi,
        Self::Hum,
        Self::LandgrebeDuin,
        Self::OrderedVus,
        Self::Matthews,
        Self::Kappa,
        Self::Accuracy,
        Self::BalancedAccuracy,
        Self::MacroF1,
        Self::TopKAccuracy,
        Self::LogLoss,
        Self::Brier,
    ];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AucMu => "auc_mu",
            Self::HandTill => "hand_till",
            Self::OneVsRest => "one_vs_rest",
            Self::OneVsRestPrevalence => "one_vs_rest_prevalence",
            Self::AveragePrecision => "average_precision",
            Self::AveragePrecisionPrevalence => "average_precision_prevalence",
            Self::Pdi => "pdi",
            Self::Hum => "hum",
            Self::LandgrebeDuin => "landgrebe_duin",
            Self::OrderedVus => "ordered_vus",
            Self::Matthews => "matthews",
            Self::Kappa => "kappa",
            Self::Accuracy => "accuracy",
            Self::BalancedAccuracy => "balanced_accuracy",
            Self::MacroF1 => "macro_f1",
            Self::TopKAccuracy => "top_k_accuracy",
            Self::LogLoss => "log_loss",
            Self::Brier => "brier",
        }
    }

    /// Whether it is the mean over rows of a number that each row has by itself.
    #[must_use]
    pub const fn is_row_mean(self) -> bool {
        matches!(self, Self::TopKAccuracy | Self::LogLoss | Self::Brier)
    }

    /// Whether it is a share of rows, whose variance follows from its value.
    pub(crate) const fn is_share(self) -> bool {
        matches!(self, Self::TopKAccuracy)
    }

    /// Whether rows may have weights.
    #[must_use]
    pub const fn has_weights(self) -> bool {
        !matches!(self, Self::Hum | Self::LandgrebeDuin)
    }

    /// Whether it is resampled from presorted orders.
    #[must_use]
    pub const fn has_bootstrap(self) -> bool {
        self.has_interactions() || matches!(self, Self::Pdi)
    }

    /// Whether its unbiased and its bootstrap-limit variances are known.
    #[must_use]
    pub const fn has_interactions(self) -> bool {
        matches!(self, Self::AucMu | Self::HandTill | Self::OneVsRest | Self::OneVsRestPrevalence)
    }

    /// Whether it reads a score for every class; otherwise one score per row that rises with the classes.
    #[must_use]
    pub const fn has_class_scores(self) -> bool {
        !matches!(self, Self::OrderedVus)
    }

    /// Whether it depends on a matrix of costs, which ranks pairs or makes decisions.
    #[must_use]
    pub const fn has_partition(self) -> bool {
        matches!(
            self,
            Self::AucMu | Self::Matthews | Self::Kappa | Self::Accuracy | Self::BalancedAccuracy | Self::MacroF1
        )
    }

    /// Whether it averages over pairs of classes, which may have weights.
    #[must_use]
    pub const fn has_pair_weights(self) -> bool {
        matches!(self, Self::AucMu | Self::HandTill)
    }

    /// Whether it depends on the smallest probability that counts.
    #[must_use]
    pub const fn has_clip(self) -> bool {
        matches!(self, Self::LogLoss)
    }

    /// Whether it depends on how many of the highest scores count.
    #[must_use]
    pub const fn has_k(self) -> bool {
        matches!(self, Self::TopKAccuracy)
    }

    /// Whether it is about predicted classes, which the scale of the scores does not change.
    #[must_use]
    pub const fn is_of_predictions(self) -> bool {
        self.is_of_decisions() || matches!(self, Self::TopKAccuracy)
    }

    const fn is_of_decisions(self) -> bool {
        matches!(self, Self::Matthews | Self::Kappa | Self::Accuracy | Self::BalancedAccuracy | Self::MacroF1)
    }

    /// Whether a smaller value is the better one.
    #[must_use]
    pub const fn is_loss(self) -> bool {
        matches!(self, Self::LogLoss | Self::Brier)
    }

    /// Its smallest and its largest possible value.
    #[must_use]
    pub const fn bounds(self) -> (f64, f64) {
        match self {
            Self::Matthews | Self::Kappa => (-1.0, 1.0),
            Self::LogLoss => (0.0, f64::INFINITY),
            Self::Brier => (0.0, 2.0),
            _ => (0.0, 1.0),
        }
    }

    /// Whether it is about all rows together, so that class sizes are naturally random.
    #[must_use]
    pub const fn is_of_all_rows(self) -> bool {
        self.is_loss() || (self.is_of_predictions() && !matches!(self, Self::BalancedAccuracy))
    }

    /// Whether it is another number in a sample with other class shares, whatever the options and the number of classes.
    #[must_use]
    pub const fn depends_on_sizes(self) -> bool {
        self.is_of_all_rows() || matches!(self, Self::AveragePrecision | Self::AveragePrecisionPrevalence)
    }

    /// The name of the rule for its intervals.
    #[must_use]
    pub const fn interval(self) -> &'static str {
        match self {
            Self::LogLoss | Self::Brier => "log",
            Self::Matthews | Self::Kappa | Self::Accuracy | Self::MacroF1 => "logit",
            _ => "wilson",
        }
    }

    /// What uninformative scores make of it.
    #[must_use]
    pub const fn chance(self) -> Chance {
        match self {
            Self::AucMu | Self::HandTill | Self::OneVsRest | Self::OneVsRestPrevalence => Chance::Half,
            Self::Matthews | Self::Kappa => Chance::Zero,
            Self::Hum | Self::LandgrebeDuin | Self::OrderedVus => Chance::OneOfOrders,
            Self::AveragePrecisionPrevalence => Chance::Prevalence,
            Self::TopKAccuracy => Chance::SomeOfClasses,
            Self::LogLoss => Chance::LogLoss,
            Self::Brier => Chance::Brier,
            Self::AveragePrecision | Self::Pdi | Self::Accuracy | Self::BalancedAccuracy | Self::MacroF1 => {
                Chance::OneOfClasses
            }
        }
    }

    /// The metric of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.name() == name)
    }
}

/// The value of a metric for uninformative scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chance {
    /// 1/2.
    Half,
    /// 0.
    Zero,
    /// One divided by the number of classes.
    OneOfClasses,
    /// k divided by the number of classes.
    SomeOfClasses,
    /// One divided by the number of orders of the classes.
    OneOfOrders,
    /// The sum of the squared shares of the classes.
    Prevalence,
    /// The log loss of equal probabilities.
    LogLoss,
    /// The Brier score of equal probabilities.
    Brier,
}

impl Chance {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Half,
        Self::Zero,
        Self::OneOfClasses,
        Self::SomeOfClasses,
        Self::OneOfOrders,
        Self::Prevalence,
        Self::LogLoss,
        Self::Brier,
    ];

    /// The one of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|chance| chance.name() == name)
    }

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Half => "half",
            Self::Zero => "zero",
            Self::OneOfClasses => "one_of_classes",
            Self::SomeOfClasses => "k_of_classes",
            Self::OneOfOrders => "one_of_orders",
            Self::Prevalence => "prevalence",
            Self::LogLoss => "log_loss",
            Self::Brier => "brier",
        }
    }

    /// Its value with so many classes; NaN if it depends on their shares and these are not given.
    #[must_use]
    pub fn value(self, classes: usize, shares: Option<&[f64]>, k: usize) -> f64 {
        let even = 1.0 / classes as f64;
        match self {
            Self::Half => 0.5,
            Self::Zero => 0.0,
            Self::OneOfClasses => even,
            Self::SomeOfClasses => (k as f64 * even).min(1.0),
            Self::OneOfOrders => 1.0 / (2..=classes).map(|size| size as f64).product::<f64>(),
            Self::Prevalence => shares.map_or(f64::NAN, |shares| shares.iter().map(|share| share * share).sum()),
            Self::LogLoss => (classes as f64).ln(),
            Self::Brier => {
                if classes == 2 {
                    0.25
                } else {
                    1.0 - even
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_finds_its_metric() {
        for metric in Metric::ALL {
            assert_eq!(Metric::named(metric.name()), Some(metric));
        }
        assert_eq!(Metric::named("luck"), None);
        for metric in Metric::ALL {
            assert_eq!(Chance::named(metric.chance().name()), Some(metric.chance()));
        }
    }
}
