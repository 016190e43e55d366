//! Weighted rows in the simple way: sorted pair by pair. The fast sums are compared with these.

use super::cost_scores::{PairScore, cost_score};
use super::wins::Wins;
use crate::error::Result;
use crate::float::Score;
use crate::keys::DifferenceRule;
use crate::keys::ExactKey;
use crate::keys::KeyScratch;
use crate::parallel::Workers;
use crate::ranking::{WeightedKeys, WeightedWins, weighted_wins};
use crate::sample::ClassRows;
use crate::sample::ScoredSample;

/// The pairwise values of weighted rows.
pub(crate) struct WeightedPairs<'s, 'a, T> {
    sample: &'s ScoredSample<'a, T>,
    rows: ClassRows,
    rule: DifferenceRule,
}

impl<'s, 'a, T: Score> WeightedPairs<'s, 'a, T> {
    pub(crate) fn new(sample: &'s ScoredSample<'a, T>, workers: &Workers<'_>) -> Result<Self> {
        let rule = DifferenceRule::of(sample, workers)?;
        Ok(Self { sample, rows: ClassRows::new(sample), rule })
    }

    /// What class c wins against class d by the score of the pair.
    pub(crate) fn wins(&self, c: usize, d: usize, score: &PairScore, keys: &mut WeightedKeys) -> Wins {
        let (rows_c, rows_d) = (self.rows.of(c), self.rows.of(d));
        let scores = &self.sample.scores;
        keys.clear();
        let mut scratch = KeyScratch::default();
        let mut single = Vec::with_capacity(1);
        for (is_first, rows) in [(true, rows_c), (false, rows_d)] {
            for row in rows.iter().map(|&row| row as usize) {
                let key = match score {
                    PairScore::Tie => 0.0,
                    PairScore::Costs(coefficients) => cost_score(scores, row, coefficients),
                    PairScore::Difference => {
                        single.clear();
                        let (of_c, of_d) = (scores.get(row, c), scores.get(row, d));
                        self.rule.append_keys(&[of_c], &[of_d], &mut scratch, &mut single);
                        single[0]
                    }
                };
                keys.push(is_first, key, self.sample.weight(row));
            }
        }
        let near = if *score == PairScore::Difference { self.rule.near } else { None };
        let exact = |is_first: bool, index: usize| -> ExactKey {
            let row = if is_first { rows_c[index] } else { rows_d[index] } as usize;
            self.rule.exact(scores.get(row, c).into(), scores.get(row, d).into())
        };
        Wins::Weighted(weighted_wins(keys, near, exact))
    }
}

/// For the column of class c: what it wins against each class d, row by row. Sums of what is not negative: nothing is lost in
/// the difference of larger sums.
pub(crate) fn column_wins<T: Score>(sample: &ScoredSample<'_, T>, class: usize) -> Vec<WeightedWins> {
    let mut by_class = vec![Vec::new(); sample.classes()];
    sample.codes.for_each(0..sample.rows(), |row, code| {
        if sample.has_row(row) {
            let score: f64 = sample.scores.get(row, class).into();
            by_class[code].push((score, sample.weight(row)));
        }
    });
    let wins_over = |others: &Vec<(f64, f64)>| {
        let mut total = WeightedWins::default();
        for &(own, own_weight) in &by_class[class] {
            for &(other, weight) in others {
                let doubled = |wins: bool, ties: bool| f64::from(2 * u8::from(wins) + u8::from(ties));
                let per_unit =
                    WeightedWins { won: doubled(own > other, own == other), lost: doubled(own < other, own == other) };
                total.add(own_weight * weight, per_unit);
            }
        }
        total
    };
    by_class.iter().map(wins_over).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairs::{PairWeights, Partition, Rest, SampleAverage, Tally, count_columns, tally_weighted};
    use crate::parallel::Cancel;
    use crate::sample::{ClassCodes, ScoreMatrix};
    use proptest::prelude::*;

    /// Gathers the wins of pairs as they are.
    #[derive(Debug, Default)]
    struct Pairs(Vec<(usize, usize, Wins)>);

    impl Tally for Pairs {
        fn empty(&self) -> Self {
            Self::default()
        }

        fn add(&mut self, c: usize, d: usize, wins: Wins) {
            self.0.push((c, d, wins));
        }

        fn merge(mut self, mut other: Self) -> Self {
            self.0.append(&mut other.0);
            self
        }
    }

    /// What scores look like: smooth, saturated, rounded to one lattice, rounded in part, fractions, far apart.
    #[derive(Debug, Clone, Copy)]
    enum Kind {
        Smooth,
        Saturated,
        Decimals(i32),
        HalfDecimals,
        Leaves,
        FarApart,
        Ones,
    }

    fn scores(kind: Kind, draws: &[f64]) -> Vec<f64> {
        let rounded = |x: f64, m: f64| (x * m).round() / m;
        let score = |(place, &x): (usize, &f64)| match kind {
            Kind::Smooth => x,
            Kind::Saturated => 1.0 / (1.0 + (40.0 * (x - 0.5)).exp()),
            Kind::Decimals(digits) => rounded(x, 10_f64.powi(digits)),
            Kind::HalfDecimals => {
                if place % 2 == 0 {
                    rounded(x, 100.0)
                } else {
                    x
                }
            }
            Kind::Leaves => rounded(x, 3.0 + (place % 17) as f64),
            Kind::FarApart => (x - 0.5) * 10_f64.powi((place * 7 % 50) as i32 - 25),
            Kind::Ones => 1.0,
        };
        draws.iter().enumerate().map(score).collect()
    }

    fn kind() -> impl Strategy<Value = Kind> {
        prop_oneof![
            Just(Kind::Smooth),
            Just(Kind::Saturated),
            (1..5).prop_map(Kind::Decimals),
            Just(Kind::HalfDecimals),
            Just(Kind::Leaves),
            Just(Kind::FarApart),
            Just(Kind::Ones),
        ]
    }

    /// Weights that are equal, whole, any, zero in part, or of very different sizes.
    fn weight(kind: u8, draw: f64) -> f64 {
        match kind {
            0 => 1.0,
            1 => (draw * 5.0).floor(),
            2 => draw + 0.01,
            3 => {
                if draw < 0.3 {
                    0.0
                } else {
                    draw
                }
            }
            _ => 10_f64.powf(40.0 * draw - 20.0),
        }
    }

    fn assert_alike(found: WeightedWins, expected: WeightedWins) {
        let all = expected.won + expected.lost;
        for (found, expected) in [(found.won, expected.won), (found.lost, expected.lost)] {
            assert!((found - expected).abs() <= 1e-13 * all, "{found} instead of {expected} of {all}");
        }
        // Nothing won or lost is exactly nothing.
        assert!(expected.won != 0.0 || found.won == 0.0, "{found:?} {expected:?}");
        assert!(expected.lost != 0.0 || found.lost == 0.0, "{found:?} {expected:?}");
    }

    /// Compares all pairs and columns with the simple way, on any number of threads with the same bits.
    fn compare<T: Score>(scores: &[T], classes: usize, codes: &[u8], weights: &[f64], costs: Option<&[f64]>) {
        let cancel = Cancel::new();
        let alone = Workers::with_threads(1, &cancel);
        let matrix = ScoreMatrix::from_rows(scores, classes).expect("a matrix");
        let Ok(sample) = ScoredSample::new(matrix, ClassCodes::Bytes(codes), Some(weights), &alone) else { return };
        let partition = costs.map(|costs| Partition::new(costs, &sample, &alone).expect("row sums are equal"));
        let score_of = |c, d| partition.map_or(PairScore::Difference, |partition| partition.score(c, d));
        let slow = WeightedPairs::new(&sample, &alone).expect("a rule");
        let mut bits = Vec::new();
        for threads in [1, 3] {
            let workers = Workers::with_threads(threads, &cancel);
            let mut found = tally_weighted(&sample, score_of, &workers, Pairs::default()).expect("wins").0;
            found.sort_by_key(|&(c, d, _)| (c, d));
            assert_eq!(found.len(), sample.pairs().count());
            for &(c, d, wins) in &found {
                let expected = slow.wins(c, d, &score_of(c, d), &mut WeightedKeys::default());
                let (Wins::Weighted(wins), Wins::Weighted(expected)) = (wins, expected) else { unreachable!() };
                assert_alike(wins, expected);
            }
            let average = SampleAverage::new(PairWeights::Equal, sample.sizes());
            let value = tally_weighted(&sample, score_of, &workers, average).expect("wins").finish();
            let wanted: Vec<usize> = sample.present_classes().collect();
            let columns = count_columns(&sample, &wanted, Rest::ByClass, &workers, |column| {
                let wins = |d: usize| match column.wins(d) {
                    Wins::Weighted(wins) => (d, wins),
                    _ => unreachable!("rows have weights"),
                };
                (column.class, column.others().map(wins).collect::<Vec<_>>())
            });
            let columns = columns.expect("columns");
            for (class, wins) in &columns {
                let expected = column_wins(&sample, *class);
                for &(d, wins) in wins {
                    assert_alike(wins, expected[d]);
                }
            }
            bits.push(format!("{found:?} {value:?} {columns:?}"));
        }
        assert_eq!(bits[0], bits[1]);
    }

    /// `make fuzz` asks for many more.
    fn cases() -> u32 {
        std::env::var("MULTIAUC_FUZZ_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(400)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(cases()))]

        #[test]
        fn weighted_pairs_and_columns_are_like_the_simple_way(
            kind in kind(),
            of_weights in 0_u8..5,
            classes in prop::sample::select(vec![2_usize, 3, 5, 20]),
            draws in prop::collection::vec((0.0..1.0_f64, 0.0..1.0_f64, any::<u8>()), 20..240),
            has_costs: bool,
        ) {
            // The last class is absent.
            let codes: Vec<u8> = draws.iter().map(|&(.., code)| code % (classes as u8 - 1).max(2)).collect();
            let weights: Vec<f64> = draws.iter().map(|&(_, draw, _)| weight(of_weights, draw)).collect();
            let cells: Vec<f64> = (0..draws.len() * classes)
                .map(|cell| (draws[cell / classes].0 * (1 + cell % classes) as f64 * 7.3).fract())
                .collect();
            let doubles = scores(kind, &cells);
            let singles: Vec<f32> = doubles.iter().map(|&score| score as f32).collect();
            // Rows of costs with the sum zero.
            let cost = |cell: usize| ((cell / classes * 31 + cell % classes * 17) % 13) as f64;
            let sum = |row: usize| (0..classes).map(|column| cost(row * classes + column)).sum::<f64>();
            let costs: Vec<f64> = (0..classes * classes)
                .map(|cell| classes as f64 * cost(cell) - sum(cell / classes))
                .collect();
            let costs = has_costs.then_some(&costs[..]);
            compare(&doubles, classes, &codes, &weights, costs);
            compare(&singles, classes, &codes, &weights, costs);
        }
    }
}
