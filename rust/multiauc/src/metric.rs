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

    /// The metric of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.name() == name)
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
    }
}
