//! Real numbers as integers of 64 bits in the same order, fine at 0 and at ±1.
//!
//! Probabilities crowd at both ends: those next to 0 have doubles to tell them apart, those next to 1 do not. So the
//! integer of x between ½ and 1 is made of the bits of 1 − x, and differences next to ±1 are kept as precisely as next
//! to 0. A prefix of the integer is a *bin*: an interval of reals, a power of two wide in the bits of a double.
//!
//! From the lowest integer up, in units of 2^52 (one binade of doubles):
//!
//! | numbers | units |
//! |---|---|
//! | x < −1 | 256 |
//! | x = −1 | 64 |
//! | −1 < x < −½ | 640 |
//! | −½ ≤ x < 0 | 1024 |
//! | x = 0 | 64 |
//! | … and the same mirrored | |
//!
//! −1, 0 and 1 are alone in a block of 2^58 integers, because scores often are just that: up to that coarseness, bins
//! never mix them with other numbers.

use crate::keys::rounding_of_difference;

/// One binade of doubles.
const BINADE: u64 = 1 << 52;
/// Bins are no coarser than this many bits: then they still keep −1, 0 and 1 apart from all other numbers.
pub(super) const COARSEST: u32 = 58;

const BITS_OF_ONE: u64 = 1023 * BINADE;
const ZERO: u64 = 1984 * BINADE;
const SMALL: u64 = 2048 * BINADE;
const ONE: u64 = 3712 * BINADE;
const LARGE: u64 = 3776 * BINADE;
const END: u64 = 4032 * BINADE;

/// Numbers this far from 1, and closer, share an integer.
const CLOSEST_TO_ONE: u64 = (1023 - 639) * BINADE;
/// Numbers this large, and larger, share an integer.
const LARGEST: u64 = BITS_OF_ONE + 256 * BINADE - 1;

/// The place of a real number κ: an integer, and in which order numbers with the same integer are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub code: u64,
    /// Equal for equal numbers, larger for larger ones; [`Place::UNKNOWN`] if that is not known.
    pub within: u64,
}

impl Place {
    /// Which number with this integer it is, is not known.
    pub(super) const UNKNOWN: u64 = u64::MAX;
    /// For a number that is the one that its integer stands for.
    const ITSELF: u64 = 1 << 63;

    /// That of κ = high + low, where high is the double nearest to κ.
    pub(super) fn of_sum(high: f64, low: f64) -> Self {
        if high < 0.0 {
            return Self::of_sum(-high, -low).negated();
        }
        if high <= 0.5 {
            return if high == 0.0 { Self::exactly(ZERO) } else { Self::with(SMALL + high.to_bits(), low) };
        }
        if high < 1.0 || (high == 1.0 && low < 0.0) {
            // Exact, by Sterbenz's lemma.
            let distance = 1.0 - high;
            return Self::below_one(distance - low, -rounding_of_difference(distance, low));
        }
        Self::from_one(high, low)
    }

    /// That of numerator / denominator, both whole numbers of at most 2^53.
    pub(super) fn of_ratio(numerator: f64, denominator: f64) -> Self {
        if numerator < 0.0 {
            return Self::of_ratio(-numerator, denominator).negated();
        }
        let quotient = numerator / denominator;
        if quotient > 0.5 && quotient < 1.0 {
            let (distance, rest) = divided(denominator - numerator, denominator);
            return Self::below_one(distance, -rest);
        }
        let (quotient, rest) = divided(numerator, denominator);
        Self::of_sum(quotient, rest)
    }

    /// 1 − distance + rest.
    fn below_one(distance: f64, rest: f64) -> Self {
        let steps = distance.to_bits().checked_sub(CLOSEST_TO_ONE);
        match steps {
            Some(steps) => Self::with(ONE - 1 - steps, rest),
            None => Self { code: ONE - 1, within: Self::UNKNOWN },
        }
    }

    fn from_one(high: f64, low: f64) -> Self {
        if high == 1.0 && low == 0.0 {
            return Self::exactly(ONE);
        }
        let bits = high.to_bits();
        if bits >= LARGEST {
            return Self { code: LARGE + (LARGEST - BITS_OF_ONE), within: Self::UNKNOWN };
        }
        Self::with(LARGE + (bits - BITS_OF_ONE), low)
    }

    const fn exactly(code: u64) -> Self {
        Self { code, within: Self::ITSELF }
    }

    /// With the number that is `rest` above the one that the integer stands for.
    fn with(code: u64, rest: f64) -> Self {
        // Both zeros are the same; NaN cannot occur.
        let bits = (rest + 0.0).to_bits();
        let within = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
        Self { code, within }
    }

    /// That of −κ.
    fn negated(self) -> Self {
        let within = match self.within {
            Self::UNKNOWN => Self::UNKNOWN,
            Self::ITSELF => Self::ITSELF,
            // Of the images of x and −x each is the complement of the other.
            within => !within,
        };
        Self { code: END - 1 - self.code, within }
    }

    /// The same, where nothing is known beyond the integer.
    pub(super) const fn unsettled(self) -> Self {
        if is_alone(self.code) { self } else { Self { within: Self::UNKNOWN, ..self } }
    }
}

/// The integer of a score. Scores are their own keys, so that (but for huge ones) no two share an integer.
pub(super) fn score_code(score: f64) -> u64 {
    let magnitude = score.abs();
    let bits = magnitude.to_bits();
    let code = if magnitude <= 0.5 {
        if bits == 0 {
            return ZERO;
        }
        SMALL + bits
    } else if magnitude < 1.0 {
        ONE - 1 - ((1.0 - magnitude).to_bits() - CLOSEST_TO_ONE)
    } else if bits == BITS_OF_ONE {
        ONE
    } else {
        LARGE + (bits.min(LARGEST) - BITS_OF_ONE)
    };
    if score < 0.0 { END - 1 - code } else { code }
}

/// Whether the integer is that of −1, 0 or 1, which bins never mix with others.
pub(super) const fn is_alone(code: u64) -> bool {
    matches!(code >> COARSEST, 4 | 31 | 58)
}

/// The integer that stands for all of the block of −1, 0 or 1, so that bins of any coarseness agree.
pub(super) const fn start_of_block(code: u64) -> u64 {
    code >> COARSEST << COARSEST
}

/// Whether numbers that doubles could tell apart share this integer.
pub(super) fn is_crowded(code: u64) -> bool {
    let upper = if code < ZERO { END - 1 - code } else { code };
    upper == ONE - 1 || upper == LARGE + (LARGEST - BITS_OF_ONE)
}

/// The number that an integer stands for; the nearest such number where there is none.
pub(super) fn number_of(code: u64) -> f64 {
    if code < ZERO {
        return -number_of(END - 1 - code.min(END - 1));
    }
    match code {
        ..SMALL => 0.0,
        _ if code < ONE => {
            let bits = code - SMALL;
            if bits <= 0.5_f64.to_bits() {
                f64::from_bits(bits)
            } else {
                // The gap between ½ and the numbers above it stands for ½.
                let distance = f64::from_bits((ONE - 1 - code).saturating_add(CLOSEST_TO_ONE));
                1.0 - distance.min(0.5)
            }
        }
        _ if code < LARGE => 1.0,
        _ => f64::from_bits(BITS_OF_ONE + (code - LARGE).min(LARGEST - BITS_OF_ONE)),
    }
}

/// The double nearest to numerator / denominator, and what is missing.
fn divided(numerator: f64, denominator: f64) -> (f64, f64) {
    let quotient = numerator / denominator;
    (quotient, (-quotient).mul_add(denominator, numerator) / denominator)
}
