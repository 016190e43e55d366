//! Two classes: all metrics that rank may rank the rows alike.

use super::MetricOptions;
use super::column_placements::ColumnPlacements;
use super::pair_placements::{PlacingScratch, RankedScores, place_by_table};
use crate::error::Result;
use crate::float::Score;
use crate::inference::{Components, Design, GroupDeviations, PairSide, PairVariance, pair_variance};
use crate::keys::KeyScratch;
use crate::pairs::{Rest, Wins, count_columns};
use crate::parallel::Workers;
use crate::ranking::{Arrangement, Nearness};
use crate::sample::ScoredSample;
use crate::simd::{Simd, Vectorizable, run_widest};

/// What class 1 wins against class 0 by its score. Both columns (−s, s) give the same ranking, so every pairwise and
/// one-vs-rest value is this one.
pub(super) fn single_score_wins<T: Score>(sample: &ScoredSample<'_, T>, workers: &Workers<'_>) -> Result<Wins> {
    let columns = count_columns(sample, &[1], Rest::ByClass, workers, |column| column.wins(0))?;
    Ok(columns[0])
}

/// Two classes whose rows stand in the same places by p_0 − p_1, by p_0 and, from above, by p_1.
pub(super) struct OneRanking {
    /// For each row, the proportion of the other class that it is on the right side of: its component in every metric
    /// that ranks.
    pub components: Components,
    /// What the first class wins.
    pub wins: Wins,
    pub variance: PairVariance,
    pub deviations: Option<[GroupDeviations; 2]>,
}

impl OneRanking {
    /// Of a sample whose two columns are known to rank alike: each row's scores have the same sum, but for rounding, and no
    /// two rows of different classes are so close that rounding could change their order. `None` where that is not so.
    ///
    /// With s = p_0 + p_1 and κ = p_0 − p_1, p_0 = (s + κ)/2 and p_1 = (s − κ)/2: rows whose κ differ by more than their s
    /// are in the same order by all three.
    pub(super) fn find<T: Score>(
        sample: &ScoredSample<'_, T>,
        design: &Design,
        RankedScores { whole, rule, memory, .. }: RankedScores<'_, T>,
        options: MetricOptions<'_>,
        workers: &Workers<'_>,
    ) -> Result<Option<Self>> {
        let rows = &design.rows;
        let Some(blocks) = whole.filter(|_| rows.present() == [0, 1] && sample.classes() == 2) else { return Ok(None) };
        let is_rounded = rule.is_rounded_difference();
        if options.partition.is_some() || !(is_rounded || rule.lattice().is_some()) {
            return Ok(None);
        }
        let unit = rule.lattice();
        let runs = [0, 1].map(|class| [blocks.run(class, 0), blocks.run(class, 1)]);
        let of_sides = workers.map(2, |side| {
            let [first, second] = runs[side];
            let mut keys = memory.buffers.take(first.len());
            keys.clear();
            rule.append_keys(first, second, &mut KeyScratch::default(), &mut keys);
            Ok((keys, run_widest(FindSums { first, second, unit })))
        })?;
        let (keys, sums): (Vec<Vec<f64>>, Vec<Sums>) = of_sides.into_iter().unzip();
        let sums = sums[0].and(sums[1]);
        // Keys of a lattice are exact.
        let (most, tolerance) =
            if unit.is_some() { (0.0, None) } else { (sums.rounding(), Some(sums.spread() + sums.rounding())) };
        if sums.spread() > most {
            return Ok(None);
        }
        let [of_first, of_second] = <[Vec<f64>; 2]>::try_from(keys).expect("keys of two classes");
        let nearness = Nearness { tolerance, is_settled: |_| false };
        let kind = (nearness, unit.map(|_| 1.0), Arrangement::quickest(tolerance, rows.len()));
        let keys = [of_first, of_second];
        let placed = memory.scratch.with(|PlacingScratch { table, by_rank, .. }| {
            place_by_table(rows, [0, 1], &keys, kind, (table, by_rank), (&memory.buffers, workers))
        })?;
        for keys in keys {
            memory.buffers.give_back(keys);
        }
        let Some(placed) = placed else { return Ok(None) };
        let side = |class: usize| PairSide { class, placements: &placed.placements[class], order: None };
        let (variance, deviations) = pair_variance(design, &[side(0), side(1)], placed.wins.share(), workers)?;
        let mut components = memory.buffers.take(rows.len());
        for (class, placements) in placed.placements.iter().enumerate() {
            components[rows.range(class)].copy_from_slice(placements);
        }
        placed.placements.into_iter().for_each(|placements| memory.buffers.give_back(placements));
        Ok(Some(Self { components: components.into(), wins: placed.wins, variance, deviations }))
    }

    /// What the column of a class makes of the other, without the placements of the rows.
    pub(super) fn column(&self, class: usize) -> ColumnPlacements {
        let other = 1 - class;
        let only = |value: f64| if class == 0 { vec![f64::NAN, value] } else { vec![value, f64::NAN] };
        let mut wins = vec![None; 2];
        wins[other] = Some(self.wins);
        ColumnPlacements {
            class,
            placements: Vec::new(),
            by_pair: Vec::new(),
            wins,
            variances: only(self.variance.variance),
            degrees_of_freedom: only(self.variance.degrees_of_freedom),
            deviations: self.deviations.iter().map(|deviations| deviations[other].clone()).collect(),
        }
    }
}

/// The range of p_0 + p_1 over some rows, and the largest magnitude of a score.
#[derive(Debug, Clone, Copy)]
struct Sums {
    lowest: f64,
    highest: f64,
    largest: f64,
}

impl Sums {
    fn and(self, other: Self) -> Self {
        let (lowest, highest) = (self.lowest.min(other.lowest), self.highest.max(other.highest));
        Self { lowest, highest, largest: self.largest.max(other.largest) }
    }

    fn spread(self) -> f64 {
        self.highest - self.lowest
    }

    /// What rounding makes of sums and keys, and of neighbourhoods of keys, at most.
    fn rounding(self) -> f64 {
        16.0 * f64::EPSILON * self.largest
    }
}

/// Finds the range of sums: of whole multiples of 1/m if `unit` is some m.
struct FindSums<'r, T> {
    first: &'r [T],
    second: &'r [T],
    unit: Option<f64>,
}

impl<T: Score> Vectorizable for FindSums<'_, T> {
    type Output = Sums;

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> Sums {
        const LANES: usize = 8;
        let Self { first, second, unit } = self;
        let (mut lowest, mut highest, mut largest) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES], [0.0; LANES]);
        for (first, second) in first.chunks(LANES).zip(second.chunks(LANES)) {
            for lane in 0..first.len() {
                let (a, b): (f64, f64) = (first[lane].into(), second[lane].into());
                let sum = unit.map_or(a + b, |m| (a * m).round_ties_even() + (b * m).round_ties_even());
                let size = if a.abs() > b.abs() { a.abs() } else { b.abs() };
                lowest[lane] = if sum < lowest[lane] { sum } else { lowest[lane] };
                highest[lane] = if sum > highest[lane] { sum } else { highest[lane] };
                largest[lane] = if size > largest[lane] { size } else { largest[lane] };
            }
        }
        Sums {
            lowest: lowest.into_iter().fold(f64::INFINITY, f64::min),
            highest: highest.into_iter().fold(f64::NEG_INFINITY, f64::max),
            largest: largest.into_iter().fold(0.0, f64::max),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::column_placements::for_each_column;
    use super::super::pair_placements::{PlacingMemory, gather_whole};
    use super::*;
    use crate::keys::DifferenceRule;
    use crate::parallel::Cancel;
    use crate::sample::{ClassCodes, Sampling, ScoreMatrix};
    use proptest::prelude::*;

    /// Numbers of one column: what pairs win, and the variance with its degrees of freedom.
    fn numbers(column: &ColumnPlacements) -> (Vec<Option<Wins>>, Vec<f64>) {
        let other = 1 - column.class;
        // Of a variance that is rounding, nothing else is known.
        let (variance, degrees_of_freedom) = (column.variances[other], column.degrees_of_freedom[other]);
        let uncertainty = if variance < 1e-20 { vec![0.0] } else { vec![variance, degrees_of_freedom] };
        (column.wins.clone(), uncertainty)
    }

    fn are_close(a: &[f64], b: &[f64]) -> bool {
        let is_close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-13 * (1.0 + a.abs()) || (a.is_nan() && b.is_nan());
        a.len() == b.len() && a.iter().zip(b).all(is_close)
    }

    #[test]
    fn smooth_scores_have_one_ranking() {
        let scores: Vec<f64> =
            (1..999).map(|row| f64::from(row * 619 % 999).sqrt() / 40.0).flat_map(|x| [1.0 - x, x]).collect();
        let codes: Vec<u8> = (1..999).map(|row| u8::from(row % 3 > 0)).collect();
        let cancel = Cancel::new();
        let workers = Workers::with_threads(2, &cancel);
        let matrix = ScoreMatrix::from_rows(&scores, 2).expect("two columns");
        let sample = ScoredSample::new(matrix, ClassCodes::Bytes(&codes), None, &workers).expect("a sample");
        let design = Design::new(&sample, Sampling::Stratified, &workers).expect("no groups");
        let rule = DifferenceRule::of(&sample, &workers).expect("no one cancels");
        let whole = gather_whole(&sample, &design.rows, &workers).expect("no one cancels");
        let (options, memory) = (MetricOptions::DEFAULT, PlacingMemory::default());
        let scores = RankedScores { whole: whole.as_ref(), rule, one: None, memory: &memory };
        let found = OneRanking::find(&sample, &design, scores, options, &workers);
        assert!(found.expect("no one cancels").is_some());
    }

    proptest! {
        /// Where one ranking is found, it is that of each column by itself.
        #[test]
        fn columns_are_placed_as_by_themselves(
            rows in prop::collection::vec((any::<bool>(), 0.0..1.0_f64, 1_u8..4, 0_u32..40), 4..200),
            (kind, power) in (0_u8..6, 1..40_i32),
            (is_weighted, is_grouped) in any::<(bool, bool)>(),
        ) {
            let codes: Vec<u8> = rows.iter().map(|&(class, ..)| u8::from(class)).collect();
            prop_assume!(codes.contains(&0) && codes.contains(&1));
            let score = |&(class, x, ..): &(bool, f64, u8, u32)| match kind {
                // Smooth; next to 0; of few values; in thousandths; with sums that differ; pairs next to each other.
                0 => [1.0 - x, x],
                1 => [1.0 - x.powi(power), x.powi(power)],
                2 => [1.0 - (4.0 * x).round() / 7.0, (4.0 * x).round() / 7.0],
                3 => [1.0 - (1e3 * x).round() / 1e3, (1e3 * x).round() / 1e3],
                4 => [x * x, x],
                _ => {
                    let x = 0.5 + (8.0 * x).round() / 3e7 + f64::EPSILON * f64::from(u8::from(class)) * f64::from(power);
                    [1.0 - x, x]
                }
            };
            let scores: Vec<f64> = rows.iter().flat_map(score).collect();
            let weights: Vec<f64> = rows.iter().map(|row| f64::from(row.2) / 3.0).collect();
            let groups: Vec<u32> = rows.iter().map(|row| row.3).collect();
            let cancel = Cancel::new();
            let workers = Workers::with_threads(1, &cancel);
            let matrix = ScoreMatrix::from_rows(&scores, 2).expect("two columns");
            let weights = is_weighted.then_some(&weights[..]);
            let sample = ScoredSample::new(matrix, ClassCodes::Bytes(&codes), weights, &workers).expect("a sample");
            let groups = Sampling::Groups { of_rows: &groups, is_iid: false };
            let sampling = if is_grouped { groups } else { Sampling::Stratified };
            let design = Design::new(&sample, sampling, &workers).expect("as many groups");
            let rule = DifferenceRule::of(&sample, &workers).expect("no one cancels");
            let whole = gather_whole(&sample, &design.rows, &workers).expect("no one cancels");
            let (options, memory) = (MetricOptions::DEFAULT, PlacingMemory::default());
            let scores = RankedScores { whole: whole.as_ref(), rule, one: None, memory: &memory };
            let found = OneRanking::find(&sample, &design, scores, options, &workers);
            let found = found.expect("no one cancels");
            let Some(one) = found else { return Ok(()) };
            let omega = &[0.0, 1.0, 1.0, 0.0];
            let scores = (&omega[..], whole.as_ref(), rule.lattice());
            let mut columns = Vec::new();
            let collect = |wave| { columns.extend::<Vec<ColumnPlacements>>(wave); Ok(()) };
            for_each_column(&sample, &design, scores, (&memory, &workers), Ok, collect).expect("no one cancels");
            prop_assert_eq!(columns.len(), 2);
            for expected in &columns {
                let column = one.column(expected.class);
                prop_assert!(are_close(&one.components, &expected.placements), "{:?} {:?}", one.components, expected);
                let own: Vec<f64> = one.components[design.rows.range(column.class)].iter().map(|x| 0.5 * x).collect();
                prop_assert!(are_close(&own, &expected.by_pair), "{own:?} {expected:?}");
                let (found, expected_numbers) = (numbers(&column), numbers(expected));
                prop_assert!(are_close(&found.1, &expected_numbers.1), "{:?} {:?}", found.1, expected_numbers.1);
                match (found.0[1 - column.class], expected_numbers.0[1 - column.class]) {
                    (Some(Wins::Weighted(a)), Some(Wins::Weighted(b))) => {
                        prop_assert!(are_close(&[a.won, a.lost], &[b.won, b.lost]));
                    }
                    (a, b) => prop_assert_eq!(a, b),
                }
                for (a, b) in column.deviations.iter().zip(&expected.deviations) {
                    let size = b.sums.iter().fold(0.0, |most: f64, sum| most.max(sum.abs()));
                    prop_assert!(a.sums.iter().zip(&b.sums).all(|(a, b)| (a - b).abs() <= 1e-12 * size.max(1e-3)));
                }
                prop_assert_eq!(column.deviations.len(), expected.deviations.len());
            }
        }
    }
}
