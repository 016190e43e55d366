//! The key of a row for a pair of classes: p_c − p_d as an exact number.

mod decimals;
mod difference;
mod difference_ranks;
mod exact_key;
mod fraction;
mod fraction_caches;
mod survey;

pub(crate) use decimals::SplitKeys;
pub(crate) use difference::{DifferenceRule, KeyScratch};
pub(crate) use difference_ranks::Operands;
pub(crate) use exact_key::{ExactKey, rounding_of_difference};
pub(crate) use fraction::{Fraction, any_rounded_fraction, lattice_denominators};
pub(crate) use fraction_caches::FractionCache;
pub(crate) use survey::{are_on_no_lattice, is_multiple};
