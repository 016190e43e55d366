//! The key of a difference p_c − p_d, and when two of them tie.
//!
//! A row's key is the real number κ = r_c − r_d, where r is the score itself or the fraction it stands for. Ranking
//! uses a double close to κ; rows whose doubles are too close to tell apart are compared by [`ExactKey`]. Three rules
//! give the doubles:
//!
//! * *lattice*: all scores are multiples of the same 1/m; the keys are integers, and equal keys tie;
//! * *fractions*: many scores are fractions with different denominators; the key is the double nearest to κ, or where
//!   differences repeat, its rank among all of them ([`DifferenceRanks`]);
//! * *plain*: the rest; the key is the rounded difference, and keys within a few units in the last place are compared
//!   again, in case there are fractions among them.

use super::decimals::{DecimalKeys, Split, SplitKeys, decimal_key};
use super::difference_ranks::{DifferenceRanks, Operands};
use super::exact_key::{ExactKey, rounding_of_difference};
use super::fraction::{Fraction, any_rounded_fraction, millionths, nearest_difference, nearest_whole};
use super::fraction_caches::{DifferenceCache, FractionCache};
use super::survey::Survey;
use crate::error::Result;
use crate::float::Score;
use crate::parallel::Workers;
use crate::sample::ScoredSample;
use crate::simd::{Simd, Vectorizable, run_widest};

/// How differences become keys, for one sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DifferenceRule {
    kind: Kind,
    /// Keys closer than this are compared exactly; `None`: equal keys tie, all others differ.
    pub(crate) near: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// Whole multiples of 1/m.
    Lattice {
        m: f64,
        /// No key is larger in magnitude.
        largest_key: f64,
    },
    /// Differences of decimals in millionths; of other scores as they are.
    Decimals,
    /// Each score is looked up as a fraction.
    Fractions,
    /// Scores times this factor, 1 except where differences would overflow; fractions are looked for (not in `f32`).
    Plain { factor: f64, is_single: bool },
}

impl DifferenceRule {
    /// The rule for a sample.
    pub(crate) fn of<T: Score>(sample: &ScoredSample<'_, T>, workers: &Workers<'_>) -> Result<Self> {
        Ok(Self::from_survey::<T>(&Survey::of(sample, workers)?))
    }

    /// The rule for rows whose survey is known: the key of a row depends on the row and the survey alone.
    pub(crate) fn from_survey<T: Score>(survey: &Survey) -> Self {
        if let Some(denominator) = survey.lattice() {
            let m = f64::from(denominator);
            let largest_key = 2.0 * (survey.magnitudes().largest * m).round_ties_even();
            return Self { kind: Kind::Lattice { m, largest_key }, near: None };
        }
        let largest = survey.magnitudes().largest;
        let factor = if largest > f64::MAX / 4.0 { 0.25 } else { 1.0 };
        // Each of two keys is off by at most half a unit in the last place of both operands and of the difference.
        let rounding = 5.0 * f64::EPSILON * (largest * factor);
        // Scores so large that differences may overflow are few: the plain rule, which scales them, is fast enough.
        let may_have_fractions = !T::IS_SINGLE && factor == 1.0;
        if may_have_fractions && survey.is_rich_in_decimals() {
            // A key may be put on the other side of a decimal, another unit in the last place of a difference away.
            return Self { kind: Kind::Decimals, near: Some(2.0 * rounding) };
        }
        if may_have_fractions && survey.is_rich_in_fractions() {
            // Differences of short fractions have denominators of at most a million: two of them are either equal or
            // further apart than the keys of moderate scores are off.
            let is_faithful = survey.has_only_short_fractions() && largest <= 64.0;
            return Self { kind: Kind::Fractions, near: Some(rounding).filter(|_| !is_faithful) };
        }
        let near = match (T::IS_SINGLE, survey.has_wide_range::<T>()) {
            // The difference of two singles is exact in a double, unless their exponents are far apart.
            (true, false) => None,
            (true, true) => Some(0.0),
            // Only rounded fractions put differences off by more than their own rounding. Without them only equal keys
            // are in doubt.
            // Scaled keys of tiny scores may differ by chance.
            (false, true) if factor == 1.0 && survey.has_no_rounded_fraction() => Some(0.0),
            (false, _) => Some(rounding),
        };
        Self { kind: Kind::Plain { factor, is_single: T::IS_SINGLE }, near }
    }

    /// The largest magnitude of a key, where all keys are whole numbers.
    pub(crate) const fn largest_whole_number(self) -> Option<f64> {
        match self.kind {
            Kind::Lattice { largest_key, .. } => Some(largest_key),
            _ => None,
        }
    }

    /// The m of the lattice 1/m that holds every score, if there is one.
    pub(crate) const fn lattice(self) -> Option<f64> {
        match self.kind {
            Kind::Lattice { m, .. } => Some(m),
            _ => None,
        }
    }

    /// Whether keys are rounded differences of doubles as they are.
    pub(crate) fn is_rounded_difference(self) -> bool {
        self.kind == Kind::Plain { factor: 1.0, is_single: false }
    }

    /// Appends the keys of own − other, row by row.
    pub(crate) fn append_keys<T: Score>(self, own: &[T], other: &[T], scratch: &mut KeyScratch, keys: &mut Vec<f64>) {
        let pairs = own.iter().zip(other).map(|(&a, &b)| (a.into(), b.into()));
        match self.kind {
            Kind::Plain { factor: 1.0, .. } => run_widest(Differences { own, other, keys }),
            Kind::Plain { factor, .. } => keys.extend(pairs.map(|(a, b)| a * factor - b * factor)),
            Kind::Lattice { m, .. } => keys.extend(pairs.map(|(a, b)| nearest_whole(a * m) - nearest_whole(b * m))),
            Kind::Decimals => {
                let first = keys.len();
                keys.resize(first + own.len(), 0.0);
                run_widest(DecimalKeys { own, other, keys: &mut keys[first..], tolerance: self.tolerance() });
            }
            Kind::Fractions if self.near.is_none() => {
                keys.extend(pairs.map(|(a, b)| scratch.differences.get(a, b, &mut scratch.fractions)));
            }
            Kind::Fractions => {
                let fractions = &mut scratch.fractions;
                keys.extend(pairs.map(|(a, b)| nearest_difference((a, fractions.get(a)), (b, fractions.get(b)))));
            }
        }
    }

    /// Writes whole numbers in the order of own − other for the rows of two sides, equal where they tie: where differences
    /// are known to repeat. `false` if that is not so, and nothing was written.
    pub(crate) fn rank_keys<'r, T: Score + 'r>(
        self,
        first: impl Iterator<Item = Operands<'r, T>> + Clone,
        second: impl Iterator<Item = Operands<'r, T>> + Clone,
        scratch: &mut KeyScratch,
        keys: [&mut Vec<f64>; 2],
    ) -> bool {
        self.kind == Kind::Fractions && self.near.is_none() && scratch.ranks.rank(first, second, keys)
    }

    /// The key of a − b.
    pub(crate) fn key(self, a: f64, b: f64) -> f64 {
        match self.kind {
            Kind::Plain { factor, .. } => a * factor - b * factor,
            Kind::Lattice { m, .. } => nearest_whole(a * m) - nearest_whole(b * m),
            Kind::Decimals => decimal_key(a, b, self.tolerance()),
            Kind::Fractions => nearest_difference((a, Fraction::of_double(a)), (b, Fraction::of_double(b))),
        }
    }

    /// Whether there are settled keys.
    pub(crate) const fn settles_decimals(self) -> bool {
        matches!(self.kind, Kind::Decimals)
    }

    /// How far a rounded difference is from κ at most.
    fn tolerance(self) -> f64 {
        self.near.unwrap_or(0.0)
    }

    /// Copies keys apart: those that are settled, and the others with their places.
    pub(crate) fn split(self, keys: &[f64], parts: &mut SplitKeys) {
        run_widest(Split { keys, is_settled: |key| self.is_settled(key), parts });
    }

    /// Whether rows of this key are known to tie with each other, and to be in the right order to all others.
    #[inline(always)]
    pub(crate) fn is_settled(self, key: f64) -> bool {
        self.settles_decimals() && !millionths(key).is_nan()
    }

    /// The exact key of a − b.
    pub(crate) fn exact(self, a: f64, b: f64) -> ExactKey {
        match self.kind {
            Kind::Plain { is_single: true, .. } => ExactKey::plain(a, b),
            _ => ExactKey::of_doubles(a, b),
        }
    }

    /// Whether equal keys of these rows are known to tie, because none of them was rounded. Only checked for singles:
    /// differences of doubles are nearly always rounded.
    pub(crate) fn equal_keys_tie<'r, T: Score + 'r>(self, mut rows: impl Iterator<Item = (&'r [T], &'r [T])>) -> bool {
        T::IS_SINGLE
            && self.roundings_decide()
            && rows.all(|(own, other)| {
                const CHUNK: usize = 1 << 10;
                // Whole chunks, so that the compiler can use vectors.
                own.chunks(CHUNK).zip(other.chunks(CHUNK)).all(|(own, other)| {
                    let rows = own.iter().zip(other);
                    !rows.fold(false, |any, (&own, &other)| any | (rounding_of_difference(own, other) != 0.0))
                })
            })
    }

    /// Whether rounded differences and their rounding errors are not enough to order these rows.
    pub(crate) fn needs_fractions<'o>(self, operands: impl Iterator<Item = &'o (f64, f64)>) -> bool {
        match self.kind {
            Kind::Plain { is_single: true, .. } => false,
            _ if self.roundings_decide() => false,
            Kind::Plain { factor: 1.0, .. } | Kind::Decimals | Kind::Fractions => {
                any_rounded_fraction(operands.flat_map(|&(a, b)| [a, b]))
            }
            // Scaled keys may have lost digits.
            _ => true,
        }
    }

    /// Whether equal keys are told apart by their rounding errors alone.
    fn roundings_decide(self) -> bool {
        self.near == Some(0.0) && matches!(self.kind, Kind::Plain { factor: 1.0, .. })
    }
}

/// Memory for making keys.
#[derive(Debug, Default)]
pub(crate) struct KeyScratch {
    fractions: FractionCache,
    differences: DifferenceCache,
    ranks: DifferenceRanks,
}

impl KeyScratch {
    /// Forgets the differences of other pairs: ranks then depend on one pair alone, and so do sums that are rounded in their
    /// order.
    pub(crate) fn forget_ranks(&mut self) {
        self.ranks = DifferenceRanks::default();
    }
}

/// Appends the plain differences.
struct Differences<'k, T> {
    own: &'k [T],
    other: &'k [T],
    keys: &'k mut Vec<f64>,
}

impl<T: Score> Vectorizable for Differences<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let first = self.keys.len();
        self.keys.resize(first + self.own.len(), 0.0);
        for (key, (&a, &b)) in self.keys[first..].iter_mut().zip(self.own.iter().zip(self.other)) {
            *key = a.into() - b.into();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::*;
    use crate::parallel::Cancel;
    use crate::sample::{ClassCodes, ScoreMatrix};

    /// The rule for scores in rows of two.
    fn rule<T: Score>(scores: &[T]) -> DifferenceRule {
        let cancel = Cancel::new();
        let workers = Workers::with_threads(1, &cancel);
        let codes: Vec<u8> = (0..scores.len() / 2).map(|row| (row % 2) as u8).collect();
        let matrix = ScoreMatrix::from_rows(scores, 2).expect("a matrix");
        let sample = ScoredSample::new(matrix, ClassCodes::Bytes(&codes), None, &workers).expect("a sample");
        DifferenceRule::of(&sample, &workers).expect("a rule")
    }

    /// The keys of rows of two scores, which have to be the same row by row and all at once.
    fn keys<T: Score>(rule: DifferenceRule, scores: &[T]) -> Vec<f64> {
        let (own, other): (Vec<T>, Vec<T>) = scores.chunks_exact(2).map(|row| (row[0], row[1])).unzip();
        let mut keys = vec![-1.0];
        rule.append_keys(&own, &other, &mut KeyScratch::default(), &mut keys);
        assert_eq!(keys.remove(0), -1.0, "keys are appended");
        let one_by_one: Vec<f64> = own.iter().zip(&other).map(|(&a, &b)| rule.key(a.into(), b.into())).collect();
        assert_eq!(keys, one_by_one);
        keys
    }

    /// Keys further apart than `near`, and exact keys, are in the order of the true differences κ.
    fn assert_order<T: Score>(scores: &[T], true_order: impl Fn(usize, usize) -> Ordering) {
        let rule = rule(scores);
        let keys = keys(rule, scores);
        let exact: Vec<ExactKey> = scores.chunks_exact(2).map(|row| rule.exact(row[0].into(), row[1].into())).collect();
        for first in 0..keys.len() {
            for second in 0..keys.len() {
                let expected = true_order(first, second);
                assert_eq!(exact[first].cmp(&exact[second]), expected, "rows {first} and {second}");
                if rule.near.is_none_or(|near| (keys[first] - keys[second]).abs() > near) {
                    assert_eq!(keys[first].partial_cmp(&keys[second]), Some(expected), "rows {first} and {second}");
                }
            }
        }
    }

    /// The order of differences of fractions, which are given as numerators and denominators in rows of two.
    fn order_on_paper(fractions: &[(i64, i64)]) -> impl Fn(usize, usize) -> Ordering {
        let difference = |row: &[(i64, i64)]| {
            let [(a, b), (c, d)] = [row[0], row[1]];
            (i128::from(a * d - c * b), i128::from(b * d))
        };
        let differences: Vec<(i128, i128)> = fractions.chunks_exact(2).map(difference).collect();
        move |first, second| {
            let [(p, q), (r, s)] = [differences[first], differences[second]];
            (p * s).cmp(&(r * q))
        }
    }

    fn doubles(fractions: &[(i64, i64)]) -> Vec<f64> {
        fractions.iter().map(|&(numerator, denominator)| numerator as f64 / denominator as f64).collect()
    }

    /// Odd multiples of 2^−53, which are no fractions of small denominators.
    fn smooth(count: u64) -> Vec<u64> {
        (0..count).map(|index| ((index + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11) | 1).collect()
    }

    #[test]
    fn multiples_of_one_fraction_have_whole_keys() {
        let fractions: Vec<(i64, i64)> = (0..80).map(|index| (index * 7 % 11, 10)).collect();
        let scores = doubles(&fractions);
        let found = rule(&scores);
        assert_eq!(found, DifferenceRule { kind: Kind::Lattice { m: 10.0, largest_key: 20.0 }, near: None });
        let whole: Vec<f64> = fractions.chunks_exact(2).map(|row| (row[0].0 - row[1].0) as f64).collect();
        assert_eq!(keys(found, &scores), whole);
        assert_order(&scores, order_on_paper(&fractions));
        let singles: Vec<f32> = scores.iter().map(|&score| score as f32).collect();
        assert_eq!(keys(rule(&singles), &singles), whole);
    }

    #[test]
    fn fractions_without_a_common_denominator_have_the_nearest_double_as_key() {
        let denominators = [7, 11, 13, 900];
        let fractions: Vec<(i64, i64)> = (0..120).map(|index| (index % 7, denominators[index as usize % 4])).collect();
        let scores = doubles(&fractions);
        let found = rule(&scores);
        assert_eq!(found, DifferenceRule { kind: Kind::Fractions, near: None });
        let nearest = |row: &[(i64, i64)]| {
            let [(a, b), (c, d)] = [row[0], row[1]];
            (a * d - c * b) as f64 / (b * d) as f64
        };
        assert_eq!(keys(found, &scores), fractions.chunks_exact(2).map(nearest).collect::<Vec<_>>());
        assert_order(&scores, order_on_paper(&fractions));
    }

    #[test]
    fn fractions_among_smooth_scores_leave_near_keys_to_exact_comparison() {
        let mut scores =
            doubles(&(0..120).map(|index| (index % 7, [7, 11, 13][index as usize % 3])).collect::<Vec<_>>());
        scores.extend(smooth(10).into_iter().map(|numerator| numerator as f64 / 2_f64.powi(53)));
        let found = rule(&scores);
        assert_eq!(found.kind, Kind::Fractions);
        assert!(found.near.is_some_and(|near| near > 0.0 && near < 1e-14));
        assert!(found.needs_fractions([(1.0 / 7.0, 0.5)].iter()));
        assert!(!found.needs_fractions([(0.25, 0.5)].iter()));
    }

    #[test]
    fn decimals_among_smooth_scores_are_settled() {
        let fractions: Vec<(i64, i64)> = (0..120).map(|index| (index * 37 % 10_000, 10_000)).collect();
        let mut scores = doubles(&fractions);
        scores.extend(smooth(10).into_iter().map(|numerator| numerator as f64 / 2_f64.powi(53)));
        let found = rule(&scores);
        assert_eq!(found.kind, Kind::Decimals);
        let all = keys(found, &scores);
        let (decimals, others) = all.split_at(60);
        assert!(decimals.iter().all(|&key| found.is_settled(key)) && !others.iter().any(|&key| found.is_settled(key)));
        // Ties on paper are equal keys.
        assert_eq!(found.key(0.3001, 0.2001), found.key(0.2001, 0.1001));
        let order = order_on_paper(&fractions);
        for (first, second) in (0..60).flat_map(|first| (0..60).map(move |second| (first, second))) {
            assert_eq!(decimals[first].partial_cmp(&decimals[second]), Some(order(first, second)));
        }
    }

    #[test]
    fn rows_beside_decimals_are_not_settled() {
        let mut scores = doubles(&(0..120).map(|index| (index * 37 % 10_000, 10_000)).collect::<Vec<_>>());
        scores.extend(smooth(20).into_iter().map(|numerator| numerator as f64 / 2_f64.powi(53)));
        // None of them is a decimal, but their differences are within rounding of one.
        scores.extend([0.1 + 0.2 + 1e-9, 0.1 + 1e-9, 0.2 + 1e-9, 1e-9]);
        let found = rule(&scores);
        let keys = keys(found, &scores);
        let beside = &keys[keys.len() - 2..];
        assert!(beside.iter().all(|&key| !found.is_settled(key) && (key - 0.2).abs() < 1e-15), "{beside:?}");
        assert!(found.is_settled(found.key(0.3001, 0.1001)));
    }

    #[test]
    fn smooth_scores_have_rounded_differences_as_keys() {
        // Scores of different sizes, so that differences round.
        let numerators: Vec<u64> = smooth(60).into_iter().enumerate().map(|(index, m)| m >> (index % 20)).collect();
        let scores: Vec<f64> = numerators.iter().map(|&numerator| numerator as f64 / 2_f64.powi(53)).collect();
        let found = rule(&scores);
        assert_eq!(found.kind, Kind::Plain { factor: 1.0, is_single: false });
        assert!(found.near.is_some_and(|near| near > 0.0 && near < 1e-14));
        assert_eq!(keys(found, &scores), scores.chunks_exact(2).map(|row| row[0] - row[1]).collect::<Vec<_>>());
        let difference = |row: usize| numerators[2 * row].cast_signed() - numerators[2 * row + 1].cast_signed();
        assert_order(&scores, |first, second| difference(first).cmp(&difference(second)));
    }

    #[test]
    fn scores_of_a_wide_range_are_told_apart_by_rounding_errors() {
        // One half less tiny scores: all differences round to one half.
        let tiny: Vec<i64> = (0..40).map(|index| index * 17 % 40 + 1).collect();
        let scores: Vec<f64> = tiny.iter().flat_map(|&tiny| [0.5, tiny as f64 * 1e-30]).collect();
        let found = rule(&scores);
        assert_eq!(found, DifferenceRule { kind: Kind::Plain { factor: 1.0, is_single: false }, near: Some(0.0) });
        assert!(keys(found, &scores).iter().all(|&key| key == 0.5));
        assert!(!found.needs_fractions([(0.5, 1e-30)].iter()));
        assert_order(&scores, |first, second| tiny[second].cmp(&tiny[first]));
        // One rounded fraction, and differences may err by more than their own rounding.
        let with_a_third = [&scores[..], &[1.0 / 3.0, 0.5]].concat();
        assert!(rule(&with_a_third).near.is_some_and(|near| near > 0.0));
    }

    #[test]
    fn differences_of_singles_are_exact_unless_their_range_is_wide() {
        let numerators: Vec<i64> = smooth(60).into_iter().map(|m| (m >> 29).cast_signed() | 1).collect();
        let scores: Vec<f32> = numerators.iter().map(|&numerator| numerator as f32 / 2_f32.powi(24)).collect();
        let found = rule(&scores);
        assert_eq!(found, DifferenceRule { kind: Kind::Plain { factor: 1.0, is_single: true }, near: None });
        let difference = |row: usize| numerators[2 * row] - numerators[2 * row + 1];
        assert_order(&scores, |first, second| difference(first).cmp(&difference(second)));

        let wide: Vec<f32> = scores.chunks_exact(2).flat_map(|row| [row[0], row[1] * 1e-20]).collect();
        let found = rule(&wide);
        assert_eq!(found.near, Some(0.0));
        assert!(!found.needs_fractions([(f64::from(0.1_f32), 1e-20)].iter()));
        let is_tied = |own: &[f32], other: &[f32]| found.equal_keys_tie(std::iter::once((own, other)));
        assert!(is_tied(&[0.5, 0.75], &[0.25, 0.5]), "no difference rounds");
        assert!(!is_tied(&[0.5, 0.75], &[0.25, 1e-20]), "the second difference rounds");
        assert!(!rule(&scores).equal_keys_tie(std::iter::once((&scores[..], &scores[..]))));
    }

    #[test]
    fn huge_scores_do_not_overflow() {
        let steps: Vec<i64> = (0..40).map(|index| index * 13 % 40).collect();
        // The largest double less some of its units in the last place, against its negative.
        let below_largest = |step: i64| f64::from_bits(f64::MAX.to_bits() - step.cast_unsigned());
        let scores: Vec<f64> = steps.iter().flat_map(|&step| [below_largest(step), -f64::MAX]).collect();
        let found = rule(&scores);
        assert_eq!(found.kind, Kind::Plain { factor: 0.25, is_single: false });
        assert!(keys(found, &scores).iter().all(|key| key.is_finite()));
        assert!(found.near.is_some_and(f64::is_finite));
        assert!(found.needs_fractions([(f64::MAX, -f64::MAX)].iter()), "scaled keys may have lost digits");
        assert_order(&scores, |first, second| steps[second].cmp(&steps[first]));
    }
}
