//! What the first-order variance leaves out: how the two rows of a pair interact.
//!
//! With h(a, b) the kernel of a pair of classes, SS_cd is its sum of squares after the means of rows a and of rows b
//! are removed. The unbiased variance subtracts Σ SS_cd/((n_c−1)(n_d−1)n_c n_d) from the first-order one, the variance
//! of infinitely many bootstrap samples adds Σ SS_cd/(n_c n_d)² to the plug-in one.

use super::MetricOptions;
use super::auc_mu::PairScores;
use super::pair_placements::{
    PairOperands, PairPlacements, PlacingScratch, for_each_pair, gather_whole, never_near, place_by_column,
    place_by_difference,
};
use super::weighting::{PairWeighting, RestWeighting};
use crate::error::Result;
use crate::float::Score;
use crate::keys::DifferenceRule;
use crate::memory::{Buffers, Pool};
use crate::metric::Metric;
use crate::parallel::Workers;
use crate::ranking::Nearness;
use crate::sample::{ClassRows, ScoredSample};

/// What the first-order variance of one number leaves out.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Interaction {
    /// Σ SS_cd/((n_c−1)(n_d−1)n_c n_d).
    pub unbiased: f64,
    /// Σ SS_cd/(n_c n_d)².
    pub bootstrap: f64,
}

/// The interactions of the pairwise family.
#[derive(Debug, Clone, PartialEq)]
pub struct Interactions {
    /// Of AUC_mu, M, one-vs-rest and one-vs-rest by prevalence.
    pub metrics: Vec<(Metric, Interaction)>,
    /// Of the one-vs-rest value of each class.
    pub per_class: Vec<Interaction>,
}

/// SS of one pair of classes.
struct PairSquares {
    classes: [usize; 2],
    /// By the difference of their scores.
    difference: f64,
    /// By the column of each class, and of the product of the two.
    columns: [f64; 2],
    product: f64,
}

/// The interaction terms of a sample without weights.
///
/// # Errors
/// As [`auc_mu`](crate::auc_mu).
pub fn interactions<T: Score>(
    sample: &ScoredSample<'_, T>,
    options: MetricOptions<'_>,
    workers: &Workers<'_>,
) -> Result<Interactions> {
    let rows = ClassRows::new(sample, workers)?;
    let scores = PairScores::new(sample, options.partition, workers)?;
    let rule = DifferenceRule::of(sample, workers)?;
    let mut sums = InteractionSums {
        pair_weighting: PairWeighting::new(options.pair_weights, &rows)?,
        rest_weighting: RestWeighting::new(&rows),
        rows: &rows,
        metrics: [Interaction::default(); 4],
        per_class: vec![Interaction::default(); sample.classes()],
    };
    let buffers = Buffers::default();
    for_each_pair(
        sample,
        &rows,
        gather_whole(sample, &rows, workers)?.as_ref(),
        (&Pool::default(), workers),
        |scratch: &mut InteractionScratch, pair| {
            let [c, d] = pair.classes;
            let score = scores.of(c, d);
            let placed =
                place_by_difference(sample, &rows, pair, &score, rule, &mut scratch.placing, (&buffers, workers))?;
            let (columns, product) = scratch.squares_by_column(&rows, pair);
            let difference = squares(&placed);
            placed.placements.into_iter().for_each(|placements| buffers.give_back(placements));
            Ok(PairSquares { classes: pair.classes, difference, columns, product })
        },
        |wave| {
            for pair in &wave {
                sums.add(pair);
            }
            Ok(())
        },
    )?;
    let names = [Metric::AucMu, Metric::HandTill, Metric::OneVsRest, Metric::OneVsRestPrevalence];
    Ok(Interactions { metrics: names.into_iter().zip(sums.metrics).collect(), per_class: sums.per_class })
}

/// Running sums of interactions.
struct InteractionSums<'r, 'a> {
    rows: &'r ClassRows,
    pair_weighting: PairWeighting<'a>,
    rest_weighting: RestWeighting,
    /// AUC_mu, M, one-vs-rest, one-vs-rest by prevalence.
    metrics: [Interaction; 4],
    per_class: Vec<Interaction>,
}

impl InteractionSums<'_, '_> {
    fn add(&mut self, pair: &PairSquares) {
        let Self { rows, rest_weighting: rests, .. } = self;
        let [c, d] = pair.classes;
        let [n_c, n_d] = [c, d].map(|class| rows.count(class) as f64);
        let omega = self.pair_weighting.omega[c * rows.classes() + d];
        let [of_c, of_d] = [rests.of(d) / rests.of_rest(rows, c), rests.of(c) / rests.of_rest(rows, d)];
        let both = |first: f64, second: f64| {
            let [alone, other] = pair.columns;
            first * first * alone + 2.0 * first * second * pair.product + second * second * other
        };
        let of_metrics = [
            omega * omega * pair.difference,
            both(0.5 * omega, 0.5 * omega),
            both(rests.even * of_c, rests.even * of_d),
            both(rests.of(c) * of_c, rests.of(d) * of_d),
        ];
        let of_classes = [(c, both(of_c, 0.0)), (d, both(0.0, of_d))];
        let add = |sum: &mut Interaction, squares: f64| {
            sum.unbiased += squares / ((n_c - 1.0) * (n_d - 1.0) * n_c * n_d);
            sum.bootstrap += squares / (n_c * n_d).powi(2);
        };
        self.metrics.iter_mut().zip(of_metrics).for_each(|(sum, squares)| add(sum, squares));
        for (class, squares) in of_classes {
            add(&mut self.per_class[class], squares);
        }
    }
}

/// SS of one kernel: Σψ² = n_c n_d U − ties/4.
fn squares(placed: &PairPlacements) -> f64 {
    let [first, second] = &placed.placements;
    let (n_c, n_d) = (first.len() as f64, second.len() as f64);
    let share = placed.wins.share();
    let spread = |values: &[f64]| values.iter().map(|value| (value - share).powi(2)).sum::<f64>();
    n_c * n_d * share * (1.0 - share) - 0.25 * placed.ties - n_d * spread(first) - n_c * spread(second)
}

/// Memory reused from pair to pair.
#[derive(Default)]
struct InteractionScratch {
    placing: PlacingScratch,
    /// Ranks of the rows of each class in the second class's column.
    ranks: [Vec<u32>; 2],
    counts: RankCounts,
}

impl InteractionScratch {
    /// SS by the column of each class, and of the product of the two kernels.
    fn squares_by_column<T: Score>(&mut self, rows: &ClassRows, pair: &PairOperands<'_, T>) -> ([f64; 2], f64) {
        let Self { placing: PlacingScratch { ordered, .. }, ranks, counts } = self;
        let [c, d] = pair.classes;
        // By the column of class d, whose rows are the first side.
        let by_second = place_by_column(rows, pair, 1, ordered);
        let mut rank = 0;
        ranks[0].resize(pair.of[0][1].len(), 0);
        ranks[1].resize(pair.of[1][1].len(), 0);
        ordered.for_each_tie(Nearness::NEVER, never_near, |tie| {
            for row in tie {
                ranks[1 - row.side as usize][row.row as usize] = rank;
            }
            rank += 1;
        });
        // By the column of class c, and how often both columns are right.
        let by_first = place_by_column(rows, pair, 0, ordered);
        counts.reset(rank as usize);
        let mut fourfold = 0;
        ordered.for_each_tie(Nearness::NEVER, never_near, |tie| {
            let won = |counts: &RankCounts| -> u64 {
                let rows = tie.iter().filter(|row| row.side == 0);
                rows.map(|row| counts.doubled_above(ranks[0][row.row as usize])).sum()
            };
            fourfold += won(counts);
            tie.iter().filter(|row| row.side == 1).for_each(|row| counts.insert(ranks[1][row.row as usize]));
            fourfold += won(counts);
        });
        let [n_c, n_d] = [c, d].map(|class| rows.count(class) as f64);
        let (first_share, second_share) = (by_first.wins.share(), by_second.wins.share());
        let products = |of_first: &[f64], of_second: &[f64]| -> f64 {
            let pairs = of_first.iter().zip(of_second);
            pairs.map(|(x, y)| (x - first_share) * (y - second_share)).sum()
        };
        let product = 0.25 * fourfold as f64
            - n_c * n_d * first_share * second_share
            - n_d * products(&by_first.placements[0], &by_second.placements[1])
            - n_c * products(&by_first.placements[1], &by_second.placements[0]);
        ([squares(&by_first), squares(&by_second)], product)
    }
}

/// How many rows of each rank there are, to be summed up to any rank in O(log n): a Fenwick tree.
#[derive(Debug, Default)]
struct RankCounts {
    tree: Vec<u32>,
    total: u32,
}

impl RankCounts {
    fn reset(&mut self, ranks: usize) {
        self.tree.clear();
        self.tree.resize(ranks + 1, 0);
        self.total = 0;
    }

    fn insert(&mut self, rank: u32) {
        let mut place = rank as usize + 1;
        while place < self.tree.len() {
            self.tree[place] += 1;
            place += place & place.wrapping_neg();
        }
        self.total += 1;
    }

    fn below(&self, rank: u32) -> u32 {
        let (mut place, mut sum) = (rank as usize, 0);
        while place > 0 {
            sum += self.tree[place];
            place &= place - 1;
        }
        sum
    }

    /// Twice the number of rows above a rank, plus those at it.
    fn doubled_above(&self, rank: u32) -> u64 {
        2 * u64::from(self.total) - u64::from(self.below(rank)) - u64::from(self.below(rank + 1))
    }
}
