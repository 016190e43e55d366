//! Row multiplicities from (seed, replicate): how often a bootstrap sample contains each row.
//!
//! Two models scored on the same rows get the same samples.

use crate::random::Stream;

/// What is drawn, and from what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    /// Number of units in each stratum; units are numbered stratum by stratum.
    strata: Vec<u32>,
}

impl Plan {
    /// From every class, as many rows as it has. Units are the rows, class by class.
    pub(crate) fn stratified(class_sizes: &[u32]) -> Self {
        Self { strata: class_sizes.to_vec() }
    }

    /// As many units as there are, drawn from all of them: single rows, or whole groups of rows.
    pub(crate) fn iid(units: u32) -> Self {
        Self { strata: vec![units] }
    }

    /// Number of units.
    pub(crate) fn units(&self) -> usize {
        self.strata.iter().map(|&size| size as usize).sum()
    }

    /// How often each unit is in replicate number `replicate`.
    ///
    /// # Panics
    /// If `counts` does not have one entry per unit.
    pub(crate) fn draw(&self, seed: u64, replicate: u32, counts: &mut [u32]) {
        assert_eq!(counts.len(), self.units(), "one count per unit");
        counts.fill(0);
        let mut rest = counts;
        for (stratum, &size) in (0_u32..).zip(&self.strata) {
            let (own, after) = rest.split_at_mut(size as usize);
            let mut stream = Stream::new(seed, replicate, stratum);
            for _ in 0..size {
                own[stream.below(size) as usize] += 1;
            }
            rest = after;
        }
    }
}

/// The multiplicity of each row when whole groups are drawn: that of its group.
pub(crate) fn rows_of_groups(group_of_row: &[u32], group_counts: &[u32], row_counts: &mut [u32]) {
    for (count, &group) in row_counts.iter_mut().zip(group_of_row) {
        *count = group_counts[group as usize];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(plan: &Plan, seed: u64, replicate: u32) -> Vec<u32> {
        let mut counts = vec![7; plan.units()];
        plan.draw(seed, replicate, &mut counts);
        counts
    }

    #[test]
    fn every_stratum_keeps_its_size() {
        let counts = drawn(&Plan::stratified(&[3, 0, 50, 1]), 5, 9);
        let total = |range: std::ops::Range<usize>| counts[range].iter().sum::<u32>();
        assert_eq!((total(0..3), total(3..53), total(53..54)), (3, 50, 1));
        assert_eq!(drawn(&Plan::iid(10), 5, 9).iter().sum::<u32>(), 10);
    }

    #[test]
    fn a_function_of_seed_and_replicate() {
        let plan = Plan::stratified(&[40, 60]);
        assert_eq!(drawn(&plan, 1, 2), drawn(&plan, 1, 2));
        assert_ne!(drawn(&plan, 1, 2), drawn(&plan, 1, 3));
        assert_ne!(drawn(&plan, 1, 2), drawn(&plan, 1 << 32, 2));
        // A class draws the same whatever the other classes are.
        assert_eq!(drawn(&plan, 1, 2)[..40], drawn(&Plan::stratified(&[40, 7]), 1, 2)[..40]);
    }

    /// Multiplicities of n draws from n: mean 1, variance 1 − 1/n, covariance −1/n.
    #[test]
    fn moments_of_the_multinomial() {
        let (size, replicates) = (20_u32, 20_000_u32);
        let plan = Plan::iid(size);
        let (mut squares, mut product, mut first) = (0.0, 0.0, 0.0);
        for replicate in 0..replicates {
            let counts = drawn(&plan, 42, replicate);
            first += f64::from(counts[0]);
            squares += f64::from(counts[0]).powi(2);
            product += f64::from(counts[0] * counts[13]);
        }
        let all = f64::from(replicates);
        let (mean, variance) = (first / all, squares / all - (first / all).powi(2));
        assert!((mean - 1.0).abs() < 0.03, "{mean}");
        assert!((variance - 0.95).abs() < 0.05, "{variance}");
        assert!((product / all - 0.95).abs() < 0.04, "{}", product / all);
    }

    #[test]
    fn groups_are_drawn_whole() {
        let mut rows = [0; 5];
        rows_of_groups(&[0, 2, 1, 2, 0], &[1, 0, 2], &mut rows);
        assert_eq!(rows, [1, 2, 0, 2, 1]);
    }
}
