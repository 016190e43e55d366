//! What the first-order variance leaves out: how the two rows of a pair act together.
//!
//! With h(a, b) the kernel of a pair of classes, SS_cd is its sum of squares after the means of rows a and rows b are
//! taken out. The unbiased variance subtracts Σ SS_cd/((n_c−1)(n_d−1)n_c n_d) from the first-order one, the variance of
//! infinitely many bootstrap samples adds Σ SS_cd/(n_c n_d)² to the plug-in one.

use super::layout::{Design, Layout};
use super::pairs::{
    PairOperands, PairPlacements, PairScratch, for_each_pair, never_near, place_by_column, place_by_difference,
};
use super::shares::{PairShares, RestShares};
use super::{METRICS, MetricOptions};
use crate::error::Result;
use crate::float::Score;
use crate::keys::DifferenceRule;
use crate::pairs::{PairScore, Partition};
use crate::parallel::Workers;
use crate::sample::ScoredSample;

/// Sums over pairs of classes, for the four metrics and then the one-vs-rest value of each class.
#[derive(Debug, Clone, PartialEq)]
pub struct Interactions {
    /// Σ SS_cd/((n_c−1)(n_d−1)n_c n_d).
    pub unbiased: Vec<f64>,
    /// Σ SS_cd/(n_c n_d)².
    pub bootstrap: Vec<f64>,
}

/// SS of one pair of classes.
struct PairSquares {
    classes: [usize; 2],
    /// By the difference of their scores.
    difference: f64,
    /// By the column of either class, and their product.
    columns: [f64; 2],
    product: f64,
}

/// The interaction terms of a sample without weights.
///
/// # Errors
/// As [`components`](super::components).
pub fn interactions<T: Score>(
    sample: &ScoredSample<'_, T>,
    options: MetricOptions<'_>,
    workers: &Workers<'_>,
) -> Result<Interactions> {
    let classes = sample.classes();
    let layout = Layout::new(sample, Design::default())?;
    let partition = options.partition.map(|costs| Partition::new(costs, classes));
    let rule = DifferenceRule::of(sample, workers)?;
    let shares = PairShares::new(options.pair_weights, &layout)?;
    let rests = RestShares::new(&layout);
    let mut sums = Interactions { unbiased: vec![0.0; METRICS + classes], bootstrap: vec![0.0; METRICS + classes] };
    for_each_pair(
        sample,
        &layout,
        workers,
        |scratch: &mut Scratch, pair| {
            let [c, d] = pair.classes;
            let score = partition.map_or(PairScore::Difference, |partition| partition.score(c, d));
            let placed = place_by_difference(sample, &layout, pair, &score, rule, &mut scratch.pair);
            let (columns, product) = scratch.squares_by_column(&layout, pair);
            Ok(PairSquares { classes: pair.classes, difference: squares(&placed), columns, product })
        },
        |wave| {
            for pair in wave {
                sums.add(&layout, &shares, &rests, &pair);
            }
            Ok(())
        },
    )?;
    Ok(sums)
}

impl Interactions {
    fn add(&mut self, layout: &Layout, shares: &PairShares<'_>, rests: &RestShares, pair: &PairSquares) {
        let [c, d] = pair.classes;
        let (n_c, n_d) = (layout.counts[c] as f64, layout.counts[d] as f64);
        let omega = shares.omega[c * layout.counts.len() + d];
        let [of_c, of_d] = [rests.of(d) / rests.of_rest(layout, c), rests.of(c) / rests.of_rest(layout, d)];
        let both = |first: f64, second: f64| {
            let [alone, other] = pair.columns;
            first * first * alone + 2.0 * first * second * pair.product + second * second * other
        };
        let metrics = [
            (0, omega * omega * pair.difference),
            (1, both(0.5 * omega, 0.5 * omega)),
            (2, both(rests.even * of_c, rests.even * of_d)),
            (3, both(rests.of(c) * of_c, rests.of(d) * of_d)),
            (METRICS + c, both(of_c, 0.0)),
            (METRICS + d, both(0.0, of_d)),
        ];
        for (metric, squares) in metrics {
            self.unbiased[metric] += squares / ((n_c - 1.0) * (n_d - 1.0) * n_c * n_d);
            self.bootstrap[metric] += squares / (n_c * n_d).powi(2);
        }
    }
}

/// SS of one kernel: Σψ² = n_c n_d U − ties/4.
fn squares(placed: &PairPlacements) -> f64 {
    let [first, second] = &placed.placements;
    let (n_c, n_d) = (first.len() as f64, second.len() as f64);
    let spread = |values: &[f64]| values.iter().map(|value| (value - placed.share).powi(2)).sum::<f64>();
    n_c * n_d * placed.share * (1.0 - placed.share) - 0.25 * placed.ties - n_d * spread(first) - n_c * spread(second)
}

/// Memory that one pair leaves to the next.
#[derive(Default)]
struct Scratch {
    pair: PairScratch,
    /// Ranks of the rows of either class in the second class's column.
    ranks: [Vec<u32>; 2],
    counts: RankCounts,
}

impl Scratch {
    /// SS by the column of either class, and of the product of the two kernels.
    fn squares_by_column<T: Score>(&mut self, layout: &Layout, pair: &PairOperands<'_, T>) -> ([f64; 2], f64) {
        let Self { pair: PairScratch { ordered, .. }, ranks, counts } = self;
        let [c, d] = pair.classes;
        // By the column of class d, whose rows are the first side.
        let by_second = place_by_column(layout, pair, 1, ordered);
        let mut rank = 0;
        ranks[0].resize(pair.of[0][1].len(), 0);
        ranks[1].resize(pair.of[1][1].len(), 0);
        ordered.for_each_tie(None, never_near, |tie| {
            for row in tie {
                ranks[1 - row.side as usize][row.row as usize] = rank;
            }
            rank += 1;
        });
        // By the column of class c, and how often both columns are right.
        let by_first = place_by_column(layout, pair, 0, ordered);
        counts.reset(rank as usize);
        let mut fourfold = 0;
        ordered.for_each_tie(None, never_near, |tie| {
            let won = |counts: &RankCounts| -> u64 {
                let rows = tie.iter().filter(|row| row.side == 0);
                rows.map(|row| counts.doubled_above(ranks[0][row.row as usize])).sum()
            };
            fourfold += won(counts);
            tie.iter().filter(|row| row.side == 1).for_each(|row| counts.insert(ranks[1][row.row as usize]));
            fourfold += won(counts);
        });
        let (n_c, n_d) = (layout.counts[c] as f64, layout.counts[d] as f64);
        let products = |of_first: &[f64], of_second: &[f64]| -> f64 {
            let pairs = of_first.iter().zip(of_second);
            pairs.map(|(x, y)| (x - by_first.share) * (y - by_second.share)).sum()
        };
        let product = 0.25 * fourfold as f64
            - n_c * n_d * by_first.share * by_second.share
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
