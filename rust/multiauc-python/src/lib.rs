//! The bridge: NumPy arrays in, numbers and NumPy arrays out.
//!
//! | Python | Rust |
//! |---|---|
//! | (n, K) float32 / float64 array, any strides | [`multiauc::ScoreMatrix`], borrowed |
//! | uint8 / uint16 array of column numbers | [`multiauc::ClassCodes`], borrowed |
//! | float64 array or None | `Option<&[f64]>`, borrowed |
//! | "size_product", "size_sum", float64 array or None | [`multiauc::PairWeights`] |
//! | `ValueError` | [`multiauc::Error`]; the sentence is chosen in `errors` |
//!
//! `arrays` is the only file that reads and makes arrays, `errors` the only one with sentences for users, `running` keeps
//! the interpreter free and Ctrl-C working, `functions` has a few lines for each function.

#![allow(clippy::needless_pass_by_value)] // PyO3 hands arguments over by value.

mod arrays;
mod bootstrap;
mod errors;
mod functions;
mod multiclass_roc;
mod running;
mod uncertainty;

use pyo3::prelude::*;

/// The compiled core of multiauc.
#[pymodule]
#[expect(non_upper_case_globals, reason = "the names that Python sees")]
mod _rust {
    #[pymodule_export]
    use super::bootstrap::{Resampler, partial_aucs};

    #[pymodule_export]
    use super::functions::{
        auc_mu, auc_mu_matrix, binary_auc, class_sizes, code_bytes, code_integers, get_num_threads, hand_till,
        hand_till_matrix, one_vs_rest, one_vs_rest_per_class, roc_curve_points, set_num_threads,
    };

    #[pymodule_export]
    use super::multiclass_roc::{RocModel, multiclass_roc};

    #[pymodule_export]
    use super::uncertainty::{
        Evaluated, auc_mu_variances, compare, evaluate, hand_till_variances, influences, interactions,
    };

    #[pymodule_export]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    /// Whether the core was compiled without optimisation: correct, but slow.
    #[pymodule_export]
    const debug_build: bool = cfg!(debug_assertions);
}
