//! Random numbers from (seed, replicate, stratum).
//!
//! The generator is counter-based: the numbers of a replicate are a function of the seed, the replicate and the counter
//! alone. So replicates may be drawn in any order on any number of threads.

/// Counters that the generator works on side by side, in lanes of vector registers.
const BATCH: usize = 8;

/// The random words of one stratum of one replicate.
pub(crate) struct Stream {
    key: [u32; 2],
    counter: u64,
    stratum: u32,
    replicate: u32,
    words: [u32; 4 * BATCH],
    used: usize,
}

impl Stream {
    pub(crate) fn new(seed: u64, replicate: u32, stratum: u32) -> Self {
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

    /// A number above 0 and at most 1, of 53 bits.
    pub(crate) fn unit(&mut self) -> f64 {
        let bits = u64::from(self.next()) << 21 ^ u64::from(self.next()) >> 11;
        (bits + 1) as f64 / 2_f64.powi(53)
    }

    /// A number below `bound`, all equally likely: multiply and take the high word, and draw again in the few cases
    /// that would favour some numbers (Lemire, "Fast random integer generation in an interval", 2019).
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
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
}
