//! Row multiplicities from (seed, replicate): how often a bootstrap sample contains each row.
//!
//! The generator is counter-based: the numbers of a replicate are a function of the seed, the replicate and the counter
//! alone. So replicates may be drawn in any order on any number of threads, and two models scored on the same rows get
//! the same samples.

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

/// Counters that the generator works on side by side, in lanes of vector registers.
const BATCH: usize = 8;

/// The random words of one stratum of one replicate.
struct Stream {
    key: [u32; 2],
    counter: u64,
    stratum: u32,
    replicate: u32,
    words: [u32; 4 * BATCH],
    used: usize,
}

impl Stream {
    fn new(seed: u64, replicate: u32, stratum: u32) -> Self {
        let key = [seed as u32, (seed >> 32) as u32];
        Self { key, counter: 0, stratum, replicate, words: [0; 4 * BATCH], used: 4 * BATCH }
    }

    #[inline]
    fn next(&mut self) -> u32 {
        if self.used == self.words.len() {
            self.refill();
        }
        self.used += 1;
        self.words[self.used - 1]
    }

    fn refill(&mut self) {
        let counters: [u64; BATCH] = std::array::from_fn(|lane| self.counter.wrapping_add(lane as u64));
        let parts = [
            counters.map(|counter| counter as u32),
            counters.map(|counter| (counter >> 32) as u32),
            [self.stratum; BATCH],
            [self.replicate; BATCH],
        ];
        let found = philox(parts, self.key);
        for (lane, words) in self.words.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            *words = std::array::from_fn(|part| found[part][lane]);
        }
        self.counter = self.counter.wrapping_add(BATCH as u64);
        self.used = 0;
    }

    /// A number below `bound`, all equally likely: multiply and take the high word, and draw again in the few cases
    /// that would favour some numbers (Lemire, "Fast random integer generation in an interval", 2019).
    fn below(&mut self, bound: u32) -> u32 {
        loop {
            let product = u64::from(self.next()) * u64::from(bound);
            let low = product as u32;
            if low >= bound || low >= bound.wrapping_neg() % bound {
                return (product >> 32) as u32;
            }
        }
    }
}

/// Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011), of several
/// counters at once: part i of all of them, then part i + 1.
fn philox<const N: usize>(mut counter: [[u32; N]; 4], mut key: [u32; 2]) -> [[u32; N]; 4] {
    for _ in 0..10 {
        let mut next = [[0; N]; 4];
        for lane in 0..N {
            let first = u64::from(counter[0][lane]) * 0xD251_1F53;
            let second = u64::from(counter[2][lane]) * 0xCD9E_8D57;
            next[0][lane] = (second >> 32) as u32 ^ counter[1][lane] ^ key[0];
            next[1][lane] = second as u32;
            next[2][lane] = (first >> 32) as u32 ^ counter[3][lane] ^ key[1];
            next[3][lane] = first as u32;
        }
        counter = next;
        key = [key[0].wrapping_add(0x9E37_79B9), key[1].wrapping_add(0xBB67_AE85)];
    }
    counter
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers of the Random123 distribution.
    #[test]
    fn philox_known_answers() {
        let one = |counter: [u32; 4], key| philox(counter.map(|part| [part]), key).map(|[part]| part);
        assert_eq!(one([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(one([u32::MAX; 4], [u32::MAX; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        assert_eq!(
            one([0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344], [0xa409_3822, 0x299f_31d0]),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    #[test]
    fn words_come_counter_by_counter() {
        let mut stream = Stream::new(5 << 32 | 3, 7, 2);
        for counter in 0..3 * BATCH as u32 {
            let expected = philox([[counter], [0], [2], [7]], [3, 5]).map(|[part]| part);
            assert_eq!([(); 4].map(|()| stream.next()), expected);
        }
    }

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
