//! Keys of samples in which decimals of up to six digits stand beside other scores.

use super::fraction::{DECIMAL, millionths, nearest_whole};
use crate::float::Score;
use crate::simd::{Simd, Vectorizable};

/// Keys in two parts.
#[derive(Debug, Default)]
pub(crate) struct SplitKeys {
    /// Equal ones tie, and no other row is near.
    pub settled: Vec<f64>,
    pub open: Vec<f64>,
    /// Where the open keys were.
    pub open_places: Vec<u32>,
}

/// The key of a − b in the rule of decimals, and whether it is known to tie with equal keys only.
#[inline(always)]
pub(super) fn decimal_key(a: f64, b: f64) -> (f64, bool) {
    let difference = (millionths(a) - millionths(b)) / DECIMAL as f64;
    if difference.is_nan() { (a - b, false) } else { (difference, true) }
}

/// Writes the keys of the rule of decimals, and appends those that are blurred.
pub(super) struct DecimalKeys<'k, T> {
    pub own: &'k [T],
    pub other: &'k [T],
    pub keys: &'k mut [f64],
    pub tolerance: f64,
    pub blurred: Option<&'k mut Vec<f64>>,
}

impl<T: Score> Vectorizable for DecimalKeys<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        const BLOCK: usize = 128;
        let Self { own, other, keys, tolerance, mut blurred } = self;
        let is_blurred = |a: f64, b: f64| {
            let (difference, is_decimal) = decimal_key(a, b);
            let nearest = nearest_whole(difference * DECIMAL as f64) / DECIMAL as f64;
            !is_decimal & ((difference - nearest).abs() <= tolerance)
        };
        for (keys, (own, other)) in keys.chunks_mut(BLOCK).zip(own.chunks(BLOCK).zip(other.chunks(BLOCK))) {
            let mut has_blurred = false;
            for (key, (&a, &b)) in keys.iter_mut().zip(own.iter().zip(other)) {
                let (a, b) = (a.into(), b.into());
                *key = decimal_key(a, b).0;
                has_blurred |= is_blurred(a, b);
            }
            if let Some(blurred) = blurred.as_mut().filter(|_| has_blurred) {
                let rows = own.iter().zip(other).zip(&*keys);
                let found = rows.filter(|((a, b), _)| is_blurred((**a).into(), (**b).into()));
                blurred.extend(found.map(|(_, &key)| key));
            }
        }
    }
}
