//! Synthetic data for the criterion benches of `multiauc`.
