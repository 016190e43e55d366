//! Answers from a state: values between guaranteed bounds, and their sampling variance.

use super::bounds::{Bounded, Numbers, Outcome, Tallied};
use super::histogram::Histogram;
use super::mass::Mass;
use super::ranges::Problem;
use super::settings::{Contents, SketchSettings};
use super::spread::MetColumn;
use super::state::{Histograms, Sketch};
use crate::error::{Error, Result};
use crate::float::Score;
use crate::inference::WorstCase;
use crate::pairs::{ClassAverage, PairWeights, SampleAverage, Tally, Wins};
use crate::parallel::Workers;
use crate::sample::ClassSizes;

/// A value that is known to lie between two bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundedValue {
    /// The value, the middle of the bounds.
    pub value: f64,
    /// The exact value is not lower.
    pub low: f64,
    /// The exact value is not higher.
    pub high: f64,
    /// The sampling variance of the value.
    pub variance: f64,
    /// Degrees of freedom of the variance.
    pub degrees_of_freedom: f64,
    /// How much the value could vary at worst, if it is `low` and if it is `high`.
    pub worst: [WorstCase; 2],
}

/// Bounds of the values of pairs of classes, row by row; NaN where there is none.
#[derive(Debug, Clone, PartialEq)]
pub struct PairBounds {
    /// Lower bounds.
    pub low: Vec<f64>,
    /// Upper bounds.
    pub high: Vec<f64>,
}

/// All that a state knows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answers {
    /// AUC_mu of the pairs of classes that have rows.
    pub auc_mu: Option<BoundedValue>,
    /// Hand & Till's M of the same pairs.
    pub hand_till: Option<BoundedValue>,
    /// The mean of the one-vs-rest values.
    pub one_vs_rest: Option<BoundedValue>,
    /// Weighted by prevalence.
    pub one_vs_rest_prevalence: Option<BoundedValue>,
    /// The one-vs-rest value of each class; `None` for absent classes.
    pub per_class: Vec<Option<BoundedValue>>,
    /// The pairs of AUC_mu.
    pub auc_mu_pairs: Option<PairBounds>,
    /// The ordered pairs of M.
    pub hand_till_pairs: Option<PairBounds>,
}

/// Twice what the first class of a pair wins, row by row of K × K: by differences, and by the scores of the first.
#[derive(Debug)]
pub(super) struct ExactWins {
    pub pairs: Vec<u128>,
    pub columns: Vec<u128>,
}

impl ExactWins {
    /// From what the owner of each problem wins against each class.
    pub(super) fn new(classes: usize, found: impl Iterator<Item = (Problem, Vec<u128>)>) -> Self {
        let mut exact = Self { pairs: vec![0; classes * classes], columns: vec![0; classes * classes] };
        for (problem, won) in found {
            match problem {
                Problem::Pair { c, d } => exact.pairs[c * classes + d] = won[d],
                Problem::Column { c } => exact.columns[c * classes..][..classes].copy_from_slice(&won),
            }
        }
        exact
    }
}

/// Weighted sums, and shares of more pairs than 64 bits can count, are off by less than this.
const ROUNDING: f64 = 1e-12;

/// Between which values something lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Range {
    pub low: f64,
    pub high: f64,
}

impl<T: Score> Sketch<T> {
    /// Every answer.
    ///
    /// # Errors
    /// [`Error::TooFewClasses`], [`Error::Cancelled`].
    pub fn answers(&mut self, workers: &Workers<'_>) -> Result<Answers> {
        self.answers_from(None, workers)
    }

    /// The same with values from exact counts.
    pub(super) fn exact_answers(&mut self, exact: &ExactWins, workers: &Workers<'_>) -> Result<Answers> {
        self.answers_from(Some(exact), workers)
    }

    fn answers_from(&mut self, exact: Option<&ExactWins>, workers: &Workers<'_>) -> Result<Answers> {
        self.check_whole()?;
        self.settle(workers)?;
        let present = self.rows.iter().filter(|&&rows| rows > 0).count();
        if present < 2 {
            return Err(Error::TooFewClasses { present });
        }
        match &self.histograms {
            Histograms::Rows(histograms) => View::new(self, histograms).answers(exact, workers),
            Histograms::Weights(histograms) => View::new(self, histograms).answers(exact, workers),
        }
    }
}

/// A state with histograms of one kind.
pub(super) struct View<'s, T, M> {
    pub sketch: &'s Sketch<T>,
    pub settings: &'s SketchSettings,
    pub histograms: &'s [Histogram<M>],
    pub sizes: ClassSizes,
    pub present: Vec<usize>,
    pub contents: Vec<Contents>,
    lattice: Option<u32>,
    /// Counts of pairs exceed 64 bits.
    is_huge: bool,
}

impl<'s, T: Score, M: Mass> View<'s, T, M> {
    fn new(sketch: &'s Sketch<T>, histograms: &'s [Histogram<M>]) -> Self {
        let rows = sketch.rows.clone();
        let weights = if sketch.has_weights() {
            sketch.weights.iter().map(|weight| weight.sum).collect()
        } else {
            rows.iter().map(|&rows| rows as f64).collect()
        };
        let total: u64 = rows.iter().sum();
        Self {
            sketch,
            settings: &sketch.settings,
            histograms,
            present: (0..rows.len()).filter(|&class| rows[class] > 0).collect(),
            is_huge: u128::from(total) * u128::from(total) > u128::from(u64::MAX) / 2,
            sizes: ClassSizes { rows, weights },
            contents: sketch.settings.contents(),
            lattice: sketch.lattices.coarsest(),
        }
    }

    /// A histogram, its bins as bounds.
    pub(super) fn bounded(&self, index: usize) -> Bounded<M> {
        let numbers = match (self.contents[index], self.lattice) {
            (Contents::Difference { .. }, Some(m)) => Numbers::LatticeDifferences(m),
            (Contents::Difference { .. }, None) => Numbers::Differences,
            _ => Numbers::Scores { are_singles: T::IS_SINGLE },
        };
        Bounded::new(&self.histograms[index], numbers)
    }

    fn pairs(&self) -> Vec<(usize, usize)> {
        let after = |index: usize| self.present[index + 1..].iter();
        self.present.iter().enumerate().flat_map(|(index, &c)| after(index).map(move |&d| (c, d))).collect()
    }

    fn answers(&self, exact: Option<&ExactWins>, workers: &Workers<'_>) -> Result<Answers> {
        let mut answers = Answers { per_class: vec![None; self.settings.classes], ..Answers::default() };
        let pairs = if self.settings.differences { self.pairs() } else { Vec::new() };
        let has_columns = self.settings.columns || self.settings.columns_by_class;
        let columns = if has_columns { &self.present[..] } else { &[] };
        let met_pairs = workers.map(pairs.len(), |index| Ok(self.meet_pair(pairs[index].0, pairs[index].1)))?;
        let met_columns = workers.map(columns.len(), |index| Ok(self.meet_column(columns[index])))?;
        let spread = self.spread(&met_pairs, &met_columns, workers)?;
        if self.settings.differences {
            let outcomes = pairs.iter().zip(met_pairs).map(|(&(c, d), met)| {
                exact.map_or(met.outcome, |exact| {
                    let won = exact.pairs[c * self.settings.classes + d];
                    Self::certain(won, self.sizes.rows[c], self.sizes.rows[d])
                })
            });
            let found: Vec<_> = pairs.iter().copied().zip(outcomes).collect();
            answers.auc_mu = Some(spread.auc_mu.bounded_value(self.mean_of_pairs(&found)?));
            answers.auc_mu_pairs = Some(self.pair_ranges(&found, true));
        }
        if has_columns {
            let met = columns.iter().zip(met_columns);
            let of_columns: Vec<_> = met.map(|(&class, met)| self.column(class, met, exact)).collect();
            let rests: Vec<Outcome<M>> = of_columns.iter().map(|(rest, _)| *rest).collect();
            let range = |is_macro: bool| self.mean_of_classes(&rests, is_macro);
            answers.one_vs_rest = Some(spread.one_vs_rest.bounded_value(range(true)?));
            answers.one_vs_rest_prevalence = Some(spread.one_vs_rest_prevalence.bounded_value(range(false)?));
            for (index, &class) in self.present.iter().enumerate() {
                answers.per_class[class] = Some(spread.per_class[class].bounded_value(self.range_of(&rests[index])));
            }
            if self.settings.columns_by_class {
                let found: Vec<_> = of_columns.into_iter().flat_map(|(_, pairs)| pairs).collect();
                answers.hand_till = Some(spread.hand_till.bounded_value(self.mean_of_pairs(&found)?));
                answers.hand_till_pairs = Some(self.pair_ranges(&found, false));
            }
        }
        Ok(answers)
    }

    /// What class c wins in its column against the rest, and against each other class where these are kept apart.
    #[allow(clippy::type_complexity, reason = "a list of pairs, and what each wins")]
    fn column(
        &self,
        c: usize,
        met: MetColumn<M>,
        exact: Option<&ExactWins>,
    ) -> (Outcome<M>, Vec<((usize, usize), Outcome<M>)>) {
        let Some(exact) = exact else { return (met.rest, met.pairs) };
        let rows = &self.sizes.rows;
        let won = &exact.columns[c * self.settings.classes..][..self.settings.classes];
        let rest = Self::certain(won.iter().sum(), rows[c], rows.iter().sum::<u64>() - rows[c]);
        // Where the others are not kept apart, what is won against one of them may stand for several.
        let pairs = met.pairs.iter().map(|&((c, d), _)| ((c, d), Self::certain(won[d], rows[c], rows[d])));
        (rest, pairs.collect())
    }

    /// What is won by some rows against others, known exactly.
    fn certain(won: u128, own: u64, others: u64) -> Outcome<M> {
        let all = 2 * u128::from(own) * u128::from(others);
        let tallied = Tallied { won: M::counted(won), lost: M::counted(all - won) };
        Outcome { least: tallied, most: tallied }
    }

    fn wins(&self, outcome: &Outcome<M>) -> [Wins; 2] {
        [outcome.least, outcome.most].map(|tallied| M::wins(tallied.won, tallied.lost, self.is_huge))
    }

    /// Widened where sums are rounded.
    fn range(&self, [low, high]: [f64; 2]) -> Range {
        let is_rounded = self.is_huge || self.sketch.has_weights();
        let slack = if is_rounded && low != high { ROUNDING } else { 0.0 };
        Range { low: (low - slack).max(0.0), high: (high + slack).min(1.0) }
    }

    fn range_of(&self, outcome: &Outcome<M>) -> Range {
        self.range(self.wins(outcome).map(Wins::share))
    }

    fn mean_of_pairs(&self, pairs: &[((usize, usize), Outcome<M>)]) -> Result<Range> {
        let mut averages = [0, 1].map(|_| SampleAverage::new(PairWeights::Equal, &self.sizes));
        for ((c, d), outcome) in pairs {
            averages.iter_mut().zip(self.wins(outcome)).for_each(|(average, wins)| average.add(*c, *d, wins));
        }
        let [low, high] = averages.map(SampleAverage::finish);
        Ok(self.range([low?, high?]))
    }

    fn mean_of_classes(&self, rests: &[Outcome<M>], is_macro: bool) -> Result<Range> {
        let mut averages = [0, 1].map(|_| ClassAverage::default());
        for (&class, outcome) in self.present.iter().zip(rests) {
            let (times, weight) = if is_macro { (1, 1.0) } else { (self.sizes.rows[class], self.sizes.weights[class]) };
            averages.iter_mut().zip(self.wins(outcome)).for_each(|(average, wins)| average.add(wins, times, weight));
        }
        let [low, high] = averages.map(ClassAverage::finish);
        Ok(self.range([low?, high?]))
    }

    fn pair_ranges(&self, pairs: &[((usize, usize), Outcome<M>)], is_symmetric: bool) -> PairBounds {
        let classes = self.settings.classes;
        let mut ranges = PairBounds { low: vec![f64::NAN; classes * classes], high: vec![f64::NAN; classes * classes] };
        for &((c, d), ref outcome) in pairs {
            let Range { low, high } = self.range_of(outcome);
            for cell in [Some(c * classes + d), is_symmetric.then_some(d * classes + c)].into_iter().flatten() {
                (ranges.low[cell], ranges.high[cell]) = (low, high);
            }
        }
        ranges
    }
}
