//! Costs of errors: losses along convex hulls, and rules that predict classes so that errors cost little.

mod calibration;
mod choice;
mod fit_rows;
mod linear_algebra;
mod losses;
mod rule;

pub use choice::{FittedRule, fit_decision_rule};
pub use losses::{HullRates, cost_curve, h_measure, lc_index};
pub use rule::{Rule, RuleKind, decide};
