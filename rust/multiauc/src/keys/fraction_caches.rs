//! Memories of fractions and of their differences, for data that has few distinct ones.

use super::fraction::{Fraction, nearest_difference};

/// Remembers the fractions of values seen recently: data made of fractions has few distinct values.
#[derive(Debug, Default)]
pub(crate) struct FractionCache {
    /// The bits of a value, and its fraction; a denominator of zero says that there is none.
    entries: Vec<(u64, i64, u32)>,
}

impl FractionCache {
    const SIZE_LOG2: u32 = 15;

    #[inline]
    pub(crate) fn get(&mut self, value: f64) -> Option<Fraction> {
        // A multiplicative hash; the sign of zero makes no difference to its fraction.
        if self.entries.is_empty() {
            // NaN is no score, so its bits mark an empty slot.
            self.entries = vec![(f64::NAN.to_bits(), 0, 0); 1 << Self::SIZE_LOG2];
        }
        let bits = value.to_bits();
        let slot = (bits.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - Self::SIZE_LOG2)) as usize;
        let entry = &mut self.entries[slot];
        if entry.0 != bits {
            let fraction = Fraction::of_double(value).unwrap_or(Fraction { numerator: 0, denominator: 0 });
            *entry = (bits, fraction.numerator, fraction.denominator as u32);
        }
        let (_, numerator, denominator) = *entry;
        (denominator > 0).then_some(Fraction { numerator, denominator: denominator.into() })
    }
}

/// Remembers the differences of short fractions seen recently: two of them are equal or at least 10^−12 apart, so that
/// the rounded difference says which one it is.
#[derive(Debug, Default)]
pub(crate) struct DifferenceCache {
    /// The doubles nearest to differences; NaN where there is none.
    entries: Vec<f64>,
}

impl DifferenceCache {
    const SIZE_LOG2: u32 = 16;
    /// Below the least distance of two differences.
    const CELLS_PER_UNIT: f64 = (1_u64 << 40) as f64;
    /// More than rounded differences of scores up to 64 are off, less than two differences are apart.
    const TOLERANCE: f64 = 1.0 / (1_u64 << 43) as f64;

    /// The double nearest to the difference of the short fractions that a and b stand for.
    #[inline]
    pub(crate) fn get(&mut self, a: f64, b: f64, fractions: &mut FractionCache) -> f64 {
        if self.entries.is_empty() {
            self.entries = vec![f64::NAN; 1 << Self::SIZE_LOG2];
        }
        let difference = a - b;
        let cell = ((difference * Self::CELLS_PER_UNIT) as i64).cast_unsigned();
        let slot = (cell.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - Self::SIZE_LOG2)) as usize;
        let entry = &mut self.entries[slot];
        if (*entry - difference).abs() <= Self::TOLERANCE {
            return *entry;
        }
        *entry = nearest_difference((a, fractions.get(a)), (b, fractions.get(b)));
        *entry
    }
}
