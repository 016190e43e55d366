//! Distributions and the assignment problem: numbers in, numbers out. Nothing here knows what they are for.

mod assignment;
mod chi_squared;
mod discrete;
mod min_p;
mod normal;
mod normal_scores;
mod student;

pub use assignment::best_assignment;
pub use chi_squared::{chi_squared_tail, f_tail};
pub use discrete::{Discrete, share_of_sums_above};
pub use min_p::{LargestNormal, MinP, holm};
pub use normal_scores::{normal_share_above, normal_share_separated};
pub use student::{NORMAL_FROM, StudentT, upper_quantiles};
