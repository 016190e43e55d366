//! From keys to buckets: a non-decreasing map that spreads the keys evenly.

use crate::float::{Float, sort};

/// Keys mapped at a time.
pub(super) const BLOCK: usize = 128;
/// A range this many times the median magnitude is spread logarithmically.
const CROWD: usize = 6;

/// A non-decreasing map from keys to buckets.
#[derive(Debug)]
pub(super) enum BucketMap<T> {
    /// Evenly over the range.
    Linear(LinearMap<T>),
    /// Logarithmic beyond ε, for keys that crowd around zero with a few far away from it.
    Log {
        /// Where the logarithm begins.
        epsilon: T,
        /// From logarithms to buckets.
        linear: LinearMap<T>,
    },
    /// Logarithmic towards both ends, for keys that crowd around the largest magnitude as well.
    Ends {
        /// From keys to logarithms.
        ends: TwoEnds<T>,
        /// From logarithms to buckets.
        linear: LinearMap<T>,
    },
}

/// Steps that are logarithmic in the magnitude below the middle, and in its distance from the largest one above.
#[derive(Debug, Clone, Copy)]
pub(super) struct TwoEnds<T> {
    largest: T,
    middle: T,
    /// Where the logarithms begin, next to zero and next to the largest magnitude.
    epsilons: [T; 2],
    /// Steps from zero to the middle.
    inner: T,
    /// Steps from zero to the largest magnitude.
    all: T,
}

impl<T: Float> TwoEnds<T> {
    #[inline(always)]
    fn new(largest: T, epsilons: [T; 2]) -> Self {
        let middle = largest.times(T::from_count(2).reciprocal_of(1));
        let inner = middle.log_steps(epsilons[0]);
        let outer = largest.minus(middle).log_steps(epsilons[1]);
        Self { largest, middle, epsilons, inner, all: inner.plus(outer) }
    }

    /// Non-decreasing in the key, and without a branch.
    #[inline(always)]
    fn steps(&self, key: T) -> T {
        let magnitude = key.magnitude();
        let from_zero = magnitude.log_steps(self.epsilons[0]);
        let rest = self.largest.minus(magnitude);
        let rest = if rest > T::ZERO { rest } else { T::ZERO };
        let outer = self.all.minus(rest.log_steps(self.epsilons[1]));
        // Rounding must not put what lies beyond the middle before it.
        let outer = if outer > self.inner { outer } else { self.inner };
        let steps = if magnitude < self.middle { from_zero } else { outer };
        steps.with_sign_of(key)
    }
}

/// (key − lowest) · scale, rounded and clamped to the last bucket.
#[derive(Debug, Clone, Copy)]
pub(super) struct LinearMap<T> {
    lowest: T,
    scale: T,
    last: T,
}

impl<T: Float> LinearMap<T> {
    /// Spreads lowest..=highest over 0..=buckets. If buckets would be about as narrow as the tolerance, nearly every
    /// neighbourhood would cross an edge: then all keys share one bucket, which is sorted.
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

impl<T: Float> BucketMap<T> {
    /// All keys in one bucket.
    pub(super) const ONE_BUCKET: Self = Self::Linear(LinearMap { lowest: T::ZERO, scale: T::ZERO, last: T::ZERO });

    /// A map that spreads keys from lowest to highest over 0..=buckets; `sample` shows how they are distributed.
    #[inline(always)]
    pub(super) fn new(lowest: T, highest: T, buckets: usize, near: Option<T>, sample: &[T]) -> Self {
        let narrowest = |epsilon: T| near.map(|tolerance| tolerance.times(T::steepest_log_step(epsilon)));
        match Crowds::of(lowest, highest, sample) {
            Crowds::Nowhere => Self::Linear(LinearMap::new(lowest, highest, buckets, near)),
            Crowds::AtZero(epsilon) => {
                let (lowest, highest) = (lowest.log_steps(epsilon), highest.log_steps(epsilon));
                Self::Log { epsilon, linear: LinearMap::new(lowest, highest, buckets, narrowest(epsilon)) }
            }
            Crowds::AtEnds(ends) => {
                let [zero, end] = ends.epsilons;
                let smaller = if zero < end { zero } else { end };
                let (lowest, highest) = (ends.steps(lowest), ends.steps(highest));
                Self::Ends { ends, linear: LinearMap::new(lowest, highest, buckets, narrowest(smaller)) }
            }
        }
    }

    /// The number of the last bucket.
    pub(super) fn buckets(&self) -> usize {
        match self {
            Self::Linear(linear) | Self::Log { linear, .. } | Self::Ends { linear, .. } => {
                linear.last.widened() as usize
            }
        }
    }

    /// The bucket of a key.
    #[inline(always)]
    pub(super) fn index_of(&self, key: T) -> u32 {
        match self {
            Self::Linear(linear) => linear.index(key),
            Self::Log { epsilon, linear } => linear.index(key.log_steps(*epsilon)),
            Self::Ends { ends, linear } => linear.index(ends.steps(key)),
        }
    }

    /// The buckets of some keys.
    #[inline(always)]
    pub(super) fn indices(&self, keys: &[T], indices: &mut [u32; BLOCK]) {
        // The choice is made once per block, so that the loops have no branches.
        let pairs = indices.iter_mut().zip(keys);
        match self {
            Self::Linear(linear) => pairs.for_each(|(index, &key)| *index = linear.index(key)),
            Self::Log { epsilon, linear } => {
                pairs.for_each(|(index, &key)| *index = linear.index(key.log_steps(*epsilon)));
            }
            Self::Ends { ends, linear } => pairs.for_each(|(index, &key)| *index = linear.index(ends.steps(key))),
        }
    }
}

/// Where a sample of the keys crowds.
enum Crowds<T> {
    Nowhere,
    /// Around zero; holds the magnitude where the logarithm begins.
    AtZero(T),
    /// Around the largest magnitude.
    AtEnds(TwoEnds<T>),
}

impl<T: Float> Crowds<T> {
    fn of(lowest: T, highest: T, keys: &[T]) -> Self {
        /// Sample sizes, each with the least number of keys it is taken from.
        const SAMPLES: [(usize, usize); 3] = [(256, 1 << 16), (64, 2048), (32, 32)];
        /// Keys crowd at an end if an eighth of the sample lies within 1/`END` of the range.
        const END: usize = 64;
        let mut memory = [T::ZERO; SAMPLES[0].0];
        let Some((wanted, _)) = SAMPLES.into_iter().find(|&(_, enough)| keys.len() >= enough) else {
            return Self::Nowhere;
        };
        let magnitudes = &mut memory[..wanted];
        for (place, key) in magnitudes.iter_mut().zip(keys.iter().step_by(keys.len() / wanted)) {
            *place = key.magnitude();
        }
        sort(magnitudes);
        let (low, high) = (lowest.magnitude(), highest.magnitude());
        let largest = if low > high { low } else { high };
        let rest = |&magnitude: &T| largest.minus(magnitude);
        let is_positive = |distance: &T| *distance > T::ZERO;
        let near_zero = magnitudes.iter().copied().skip(1).find(is_positive);
        let near_end = magnitudes.iter().rev().map(rest).skip(1).find(is_positive);
        let (Some(near_zero), Some(near_end)) = (near_zero, near_end) else { return Self::Nowhere };
        // Relative to the range, not to the largest magnitude: keys far from zero may still be spread evenly.
        if rest(&magnitudes[wanted - wanted / 8]).times(T::from_count(END)) < highest.minus(lowest) {
            return Self::AtEnds(TwoEnds::new(largest, [near_zero, near_end]));
        }
        let median = magnitudes[wanted / 2];
        if median <= T::ZERO || largest <= median.times(T::from_count(CROWD)) {
            return Self::Nowhere;
        }
        Self::AtZero(near_zero)
    }
}
