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
    /// The polytomous discrimination index.
    Pdi,
}

impl Metric {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::AucMu, Self::HandTill, Self::OneVsRest, Self::OneVsRestPrevalence, Self::Pdi];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AucMu => "auc_mu",
            Self::HandTill => "hand_till",
            Self::OneVsRest => "one_vs_rest",
            Self::OneVsRestPrevalence => "one_vs_rest_prevalence",
            Self::Pdi => "pdi",
        }
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
        assert_eq!(Metric::named("accuracy"), None);
    }
}
