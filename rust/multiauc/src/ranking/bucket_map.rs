//! From keys to buckets: a map that never decreases and spreads the keys evenly.

use super::key::{Key, sort};

/// Keys mapped in one go.
pub(super) const BLOCK: usize = 128;
/// A range this many times the median magnitude is spread logarithmically.
const CROWD: usize = 6;

/// A never decreasing map from keys to buckets.
#[derive(Debug)]
pub(super) enum BucketMap<T> {
    /// Evenly over the range.
    Linear(LinearMap<T>),
    /// Logarithmic beyond ε, for keys that crowd around zero with a few far away.
    Log {
        /// Where the logarithm begins.
        epsilon: T,
        /// From logarithms to buckets.
        linear: LinearMap<T>,
    },
}

/// (key − lowest) · scale, rounded and cut off at the last bucket.
#[derive(Debug, Clone, Copy)]
pub(super) struct LinearMap<T> {
    lowest: T,
    scale: T,
    last: T,
}

impl<T: Key> LinearMap<T> {
    /// Spreads lowest..=highest over 0..=buckets. Buckets as narrow as the tolerance would make nearly every key cross a
    /// border: then all keys share one, which is sorted.
    #[inline(always)]
    fn new(lowest: T, highest: T, buckets: usize, narrowest: Option<T>) -> Self {
        let scale = highest.minus(lowest).reciprocal_of(buckets);
        let is_too_narrow = narrowest.is_some_and(|tolerance| tolerance.times(scale) > T::WIDEST_TOLERANCE);
        Self { lowest, scale: if is_too_narrow { T::ZERO } else { scale }, last: T::from_count(buckets) }
    }

    #[inline(always)]
    fn index(&self, key: T) -> u32 {
        key.minus(self.lowest).times(self.scale).bucket(self.last)
    }
}

impl<T: Key> BucketMap<T> {
    /// All keys in one bucket.
    pub(super) const ONE_BUCKET: Self = Self::Linear(LinearMap { lowest: T::ZERO, scale: T::ZERO, last: T::ZERO });

    /// A map that spreads keys from lowest to highest over 0..=buckets; `sample` shows how they are distributed.
    #[inline(always)]
    pub(super) fn new(lowest: T, highest: T, buckets: usize, near: Option<T>, sample: &[T]) -> Self {
        let Some(epsilon) = crowded_epsilon(lowest, highest, sample) else {
            return Self::Linear(LinearMap::new(lowest, highest, buckets, near));
        };
        let (lowest, highest) = (lowest.log_steps(epsilon), highest.log_steps(epsilon));
        let narrowest = near.map(|tolerance| tolerance.times(T::steepest_log_step(epsilon)));
        Self::Log { epsilon, linear: LinearMap::new(lowest, highest, buckets, narrowest) }
    }

    /// The number of the last bucket.
    pub(super) fn buckets(&self) -> usize {
        match self {
            Self::Linear(linear) | Self::Log { linear, .. } => linear.last.widened() as usize,
        }
    }

    /// The bucket of a key.
    #[inline(always)]
    pub(super) fn index_of(&self, key: T) -> u32 {
        match self {
            Self::Linear(linear) => linear.index(key),
            Self::Log { epsilon, linear } => linear.index(key.log_steps(*epsilon)),
        }
    }

    /// The buckets of some keys.
    #[inline(always)]
    pub(super) fn indices(&self, keys: &[T], indices: &mut [u32; BLOCK]) {
        // The choice is made once per block, so that the loops are without branches.
        let pairs = indices.iter_mut().zip(keys);
        match self {
            Self::Linear(linear) => pairs.for_each(|(index, &key)| *index = linear.index(key)),
            Self::Log { epsilon, linear } => {
                pairs.for_each(|(index, &key)| *index = linear.index(key.log_steps(*epsilon)));
            }
        }
    }
}

/// A small magnitude of a sample, if the range is much wider than the median: the logarithm then spreads nearly all.
fn crowded_epsilon<T: Key>(lowest: T, highest: T, sample: &[T]) -> Option<T> {
    const WANTED: usize = 32;
    if sample.len() < WANTED {
        return None;
    }
    let mut magnitudes = [T::ZERO; WANTED];
    let step = sample.len() / WANTED;
    for (place, key) in magnitudes.iter_mut().zip(sample.iter().step_by(step)) {
        *place = key.magnitude();
    }
    sort(&mut magnitudes);
    let (median, low, high) = (magnitudes[WANTED / 2], lowest.magnitude(), highest.magnitude());
    let largest = if low > high { low } else { high };
    if median <= T::ZERO || largest <= median.times(T::from_count(CROWD)) {
        return None;
    }
    magnitudes[WANTED / 16..].iter().copied().find(|&magnitude| magnitude > T::ZERO)
}
