//! The two types of scores, `f32` and `f64`, and the arithmetic that the kernels need.

use crate::simd::Simd;
use crate::spare::SpareBuffers;

/// A float that is ranked.
pub trait Float: Copy + Default + PartialOrd + Send + Sync + std::fmt::Debug + 'static {
    /// Zero.
    const ZERO: Self;
    /// Positive infinity.
    const INFINITY: Self;
    /// Most buckets that [`bucket`](Self::bucket) can tell apart.
    const MOST_BUCKETS: usize;
    /// Largest tolerance in units of a bucket: beyond it, nearly every neighbourhood would cross the edge of a bucket.
    const WIDEST_TOLERANCE: Self;
    /// An integer of the same width.
    type Ordered: Ord + Copy + Send + Sync + std::fmt::Debug;
    /// An integer that sorts like the float: the same for both zeros, and defined for NaN, which another thread may
    /// write.
    fn ordered(self) -> Self::Ordered;
    /// |x|.
    #[must_use]
    fn magnitude(self) -> Self;
    /// |x| with the sign of y.
    #[must_use]
    fn with_sign_of(self, other: Self) -> Self;
    /// −x.
    #[must_use]
    fn negated(self) -> Self;
    /// x + y.
    #[must_use]
    fn plus(self, other: Self) -> Self;
    /// x − y.
    #[must_use]
    fn minus(self, other: Self) -> Self;
    /// x · y.
    #[must_use]
    fn times(self, other: Self) -> Self;
    /// count / x, or zero where that is not finite: every key then falls into one bucket.
    #[must_use]
    fn reciprocal_of(self, count: usize) -> Self;
    /// The integer nearest to `self`, clamped to 0..=last: non-decreasing in `self`, without a branch.
    fn bucket(self, last: Self) -> u32;
    /// The distance of |x| + ε from ε on the scale of the float's own bits, with the sign of x: close to linear for
    /// |x| < ε, logarithmic beyond, non-decreasing in x, and without a branch.
    #[must_use]
    fn log_steps(self, epsilon: Self) -> Self;
    /// An upper bound on the steps per unit of x at x = 0, where they are densest.
    #[must_use]
    fn steepest_log_step(epsilon: Self) -> Self;
    /// For each of eight keys v adds 1 to the first count if v < low, and 1 to the second if v ≤ high.
    fn compare<S: Simd>(simd: S, keys: &[Self; 8], low: Self, high: Self, counts: &mut S::Counts);
    /// Whether one of eight keys lies in low..=high.
    fn has_within<S: Simd>(simd: S, keys: &[Self; 8], low: Self, high: Self) -> bool;
    /// The two counts of `compare`.
    fn counts<S: Simd>(simd: S, counts: S::Counts) -> (u64, u64);
    /// The value as `f64`.
    fn widened(self) -> f64;
    /// A count as a key.
    fn from_count(count: usize) -> Self;
    /// Memory that earlier computations left.
    #[doc(hidden)]
    fn spare() -> &'static SpareBuffers<Self>;
}

macro_rules! impl_float {
    ($float:ty, $ordered:ty, $digits:expr, [$compare:ident, $has_within:ident, $counts:ident], $high_bits:expr) => {
        impl Float for $float {
            const ZERO: Self = 0.0;
            const INFINITY: Self = <$float>::INFINITY;
            const WIDEST_TOLERANCE: Self = 1.0 / 64.0;
            const MOST_BUCKETS: usize = 1 << ($digits - 2);
            type Ordered = $ordered;
            fn spare() -> &'static SpareBuffers<Self> {
                static SPARE: SpareBuffers<$float> = SpareBuffers::new();
                &SPARE
            }
            #[inline(always)]
            fn ordered(self) -> $ordered {
                // The bits of negative floats sort in reverse: flip all but the sign.
                let bits = (self + 0.0).to_bits().cast_signed();
                bits ^ (bits >> (<$ordered>::BITS - 1) & <$ordered>::MAX)
            }
            #[inline(always)]
            fn magnitude(self) -> Self {
                self.abs()
            }
            #[inline(always)]
            fn with_sign_of(self, other: Self) -> Self {
                self.copysign(other)
            }
            #[inline(always)]
            fn negated(self) -> Self {
                -self
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self - other
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self * other
            }
            #[inline(always)]
            fn reciprocal_of(self, count: usize) -> Self {
                let scale = count as Self / self;
                if scale.is_finite() { scale } else { 0.0 }
            }
            #[inline(always)]
            fn bucket(self, last: Self) -> u32 {
                // Adding 2^(digits-1) leaves the rounded value in the low bits of the mantissa: a conversion that
                // vector units can do without saturation checks.
                const SHIFT: $float = (1_u64 << ($digits - 1)) as $float;
                let clamped = if self > 0.0 { self } else { 0.0 };
                let clamped = if clamped < last { clamped } else { last };
                ((clamped + SHIFT).to_bits() as u32) & ((1_u64 << ($digits - 1).min(32)) - 1) as u32
            }
            #[inline(always)]
            fn log_steps(self, epsilon: Self) -> Self {
                let high_bits: fn($float) -> i32 = $high_bits;
                let steps = high_bits(self.abs() + epsilon) - high_bits(epsilon);
                #[allow(clippy::cast_lossless, reason = "lossless for one of the two floats only")]
                (steps as Self).copysign(self)
            }
            #[inline(always)]
            fn steepest_log_step(epsilon: Self) -> Self {
                // An octave has 2^20 steps of the high half of a double, 2^23 of a single, and is at least ε/2 wide.
                let steps = if size_of::<Self>() == 8 { 1048576.0 } else { 8388608.0 };
                2.0 * steps / epsilon
            }
            #[inline(always)]
            fn compare<S: Simd>(simd: S, keys: &[Self; 8], low: Self, high: Self, counts: &mut S::Counts) {
                simd.$compare(keys, low, high, counts);
            }
            #[inline(always)]
            fn has_within<S: Simd>(simd: S, keys: &[Self; 8], low: Self, high: Self) -> bool {
                simd.$has_within(keys, low, high)
            }
            #[inline(always)]
            fn counts<S: Simd>(simd: S, counts: S::Counts) -> (u64, u64) {
                simd.$counts(counts)
            }
            #[inline(always)]
            fn widened(self) -> f64 {
                self.into()
            }
            #[inline(always)]
            fn from_count(count: usize) -> Self {
                count as Self
            }
        }
    };
}

impl_float!(f32, i32, f32::MANTISSA_DIGITS as usize, [compare_f32, has_within_f32, counts_f32], |value| value
    .to_bits()
    .cast_signed());
impl_float!(f64, i64, f64::MANTISSA_DIGITS as usize, [compare_f64, has_within_f64, counts_f64], |value| {
    ((value.to_bits() >> 32) as u32).cast_signed()
});

/// A score type: `f32` or `f64`. Differences and sums are formed in `f64`; comparisons stay in the type itself.
pub trait Score: Float + Into<f64> {
    /// Whether the type is `f32`, where a single value does not show whether it stands for a fraction.
    const IS_SINGLE: bool;
    /// The nearest value of the type.
    #[doc(hidden)]
    fn nearest(value: f64) -> Self;
    /// Some values as doubles: themselves, or converted into `memory`.
    #[doc(hidden)]
    fn doubles<'v>(values: &'v [Self], memory: &'v mut Vec<f64>) -> &'v [f64];
}

impl Score for f32 {
    const IS_SINGLE: bool = true;
    fn nearest(value: f64) -> Self {
        value as f32
    }
    #[inline(always)]
    fn doubles<'v>(values: &'v [Self], memory: &'v mut Vec<f64>) -> &'v [f64] {
        memory.clear();
        memory.extend(values.iter().map(|&value| f64::from(value)));
        memory
    }
}

impl Score for f64 {
    const IS_SINGLE: bool = false;
    fn nearest(value: f64) -> Self {
        value
    }
    #[inline(always)]
    fn doubles<'v>(values: &'v [Self], _: &'v mut Vec<f64>) -> &'v [f64] {
        values
    }
}

/// Sorts bare keys.
pub(crate) fn sort<T: Float>(keys: &mut [T]) {
    keys.sort_unstable_by_key(|key| key.ordered());
}

/// A sum that also carries what rounding takes from it, so that it is right to a unit or two in the last place
/// however many terms it has, in any order.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CarefulSum {
    rounded: f64,
    lost: f64,
}

impl CarefulSum {
    /// Adds a term.
    pub(crate) fn add(&mut self, term: f64) {
        let sum = self.rounded + term;
        let (larger, smaller) =
            if self.rounded.abs() >= term.abs() { (self.rounded, term) } else { (term, self.rounded) };
        self.lost += (larger - sum) + smaller;
        self.rounded = sum;
    }

    /// The sum.
    pub(crate) fn value(&self) -> f64 {
        self.rounded + self.lost
    }

    /// Adds another sum.
    pub(crate) fn merge(&mut self, other: Self) {
        self.add(other.rounded);
        self.lost += other.lost;
    }

    /// The rounded sum and what it lost.
    pub(crate) const fn parts(&self) -> [f64; 2] {
        [self.rounded, self.lost]
    }

    /// A sum of such parts.
    pub(crate) const fn of_parts([rounded, lost]: [f64; 2]) -> Self {
        Self { rounded, lost }
    }
}
