//! From keys to buckets: a map that never decreases and spreads the keys evenly.

use super::key::Key;
use super::overfull::sort;

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
    /// By quantiles of the keys, for any other crowd.
    Quantiles(Box<QuantileMap<T>>),
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

    /// A map by quantiles of a sample of the keys; `None` where ties leave too few of them.
    pub(super) fn by_quantiles<'k>(
        slices: impl Iterator<Item = &'k [T]>,
        count: usize,
        buckets: usize,
        near: Option<T>,
    ) -> Option<Self>
    where
        T: 'k,
    {
        QuantileMap::new(slices, count, buckets, near).map(|map| Self::Quantiles(Box::new(map)))
    }

    /// The number of the last bucket.
    pub(super) fn buckets(&self) -> usize {
        match self {
            Self::Linear(linear) | Self::Log { linear, .. } => linear.last.widened() as usize,
            Self::Quantiles(quantiles) => quantiles.buckets,
        }
    }

    /// The bucket of a key.
    #[inline(always)]
    pub(super) fn index_of(&self, key: T) -> u32 {
        match self {
            Self::Linear(linear) => linear.index(key),
            Self::Log { epsilon, linear } => linear.index(key.log_steps(*epsilon)),
            Self::Quantiles(quantiles) => quantiles.index(key),
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
            Self::Quantiles(quantiles) => pairs.for_each(|(index, &key)| *index = quantiles.index(key)),
        }
    }
}

/// The median magnitude of a sample, if the range is much wider.
fn crowded_epsilon<T: Key>(lowest: T, highest: T, sample: &[T]) -> Option<T> {
    const WANTED: usize = 64;
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
    (median > T::ZERO && largest > median.times(T::from_count(CROWD))).then_some(median)
}

/// Intervals between quantiles, each with its own linear map.
const INTERVALS: usize = 256;

/// A map by quantiles: each interval between two of them has its share of the buckets.
#[derive(Debug)]
pub(super) struct QuantileMap<T> {
    /// The smallest key of each interval but the first.
    splitters: [T; INTERVALS - 1],
    /// The map within each interval and the number of its first bucket.
    intervals: Vec<(LinearMap<T>, u32)>,
    buckets: usize,
}

impl<T: Key> QuantileMap<T> {
    fn new<'k>(slices: impl Iterator<Item = &'k [T]>, count: usize, buckets: usize, near: Option<T>) -> Option<Self>
    where
        T: 'k,
    {
        const SAMPLE: usize = 8 * INTERVALS;
        if count < SAMPLE {
            return None;
        }
        let mut sample: Vec<T> = slices.flatten().copied().step_by(count / SAMPLE).collect();
        sort(&mut sample);
        let quantile = |interval: usize| sample[interval * (sample.len() - 1) / INTERVALS];
        let splitters: [T; INTERVALS - 1] = std::array::from_fn(|index| quantile(index + 1));
        let distinct = 1 + splitters.windows(2).filter(|pair| pair[0] < pair[1]).count();
        if distinct < INTERVALS / 2 {
            return None;
        }
        let width = buckets / INTERVALS;
        let intervals = (0..INTERVALS).map(|interval| {
            let linear = LinearMap::new(quantile(interval), quantile(interval + 1), width - 1, near);
            (linear, (interval * width) as u32)
        });
        Some(Self { splitters, intervals: intervals.collect(), buckets: INTERVALS * width })
    }

    #[inline(always)]
    fn index(&self, key: T) -> u32 {
        // A binary search of eight steps, each a conditional addition.
        let mut interval = 0;
        let mut half = INTERVALS / 2;
        while half > 0 {
            interval += if self.splitters[(interval + half - 1) & (INTERVALS - 1)] <= key { half } else { 0 };
            half /= 2;
        }
        let (linear, first) = self.intervals[interval];
        first + linear.index(key)
    }
}
