//! The bridge: NumPy arrays in, numbers and NumPy arrays out.
//!
//! | Python | Rust |
//! |---|---|
//! | `Sample(scores, codes, weights, groups, sampling)` | [`sample::Sample`], read through [`sample::SampleView`] |
//! | (n, K) float32 / float64 array, any strides | [`multiauc::ScoreMatrix`] |
//! | `SparseSample(values, columns, starts, width, codes, weights)` | [`sparse::SparseSample`] |
//! | uint8 / uint16 / uint32 array of column numbers | [`multiauc::ClassCodes`] |
//! | the name of a metric | [`multiauc::Metric`] |
//! | `MetricOptions(partition, pair_weights, clip, k)` | [`options::MetricOptions`], read as [`multiauc::MetricOptions`] |
//! | other options: keyword arguments, words read once | a type of the core each |
//! | `ValueError` | [`multiauc::Error`]; the sentence is chosen in `errors` |
//!
//! Samples and options hold references to Python's arrays; nothing is copied, and each call borrows them anew.
//! `arrays` is the only file that reads and makes arrays, `sample` the only one that knows there are two precisions (and
//! `sparse`, for scores of which only some are stored), `options` reads words, `errors` has the sentences for users,
//! `running` keeps the interpreter free and Ctrl-C working. The others have a few lines for each function of one layer of
//! the core.

#![allow(clippy::needless_pass_by_value)] // PyO3 hands arguments over by value.

mod arrays;
mod costs;
mod curves;
mod errors;
mod inference;
mod intervals;
mod labels;
mod metrics;
mod multiclass_roc;
mod multilabel;
mod options;
mod ranges;
mod resampling;
mod running;
mod runs;
mod sample;
mod sketch;
mod slices;
mod sparse;
mod special;
mod summary_roc;
mod volumes;

use pyo3::prelude::*;

/// The compiled core of multiauc.
#[pymodule]
#[expect(non_upper_case_globals, reason = "the names that Python sees")]
mod _rust {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::{
        costs::{cost_curve, decide, fit_decision_rule, h_measure, lc_index},
        curves::{
            CurveResampler, partial_aucs, precision_recall_points, roc_curve_points, roc_heights, roc_hull_points,
        },
        curves::{reliability_points, roc_limits, roc_surface, side_sizes},
        inference::worst_case,
        inference::{Compared, Estimate, Evaluated, Interactions, PairTable},
        inference::{Pilot, confusion},
        inference::{check_column_order, compare, compare_classes, compare_folds, evaluate, influences, interactions},
        intervals::wilson_limits,
        intervals::{SampleDifferences, interval, percentile_p_value, replicate_interval, test_by_interval},
        labels::{class_sizes, code_bytes, code_integers, code_objects, count_groups, detect_delimiter, recode},
        labels::{get_num_threads, set_num_threads},
        metrics::{
            average_precision_per_class, chance, one_vs_rest, one_vs_rest_per_class, pair_matrix, pdi_per_class, score,
        },
        multiclass_roc::{RocModel, multiclass_roc},
        multilabel::{Labelled, compare_labels},
        options::MetricOptions,
        ranges::{RangeCounter, RangePlan},
        resampling::Resampler,
        runs::{RepeatedMetric, Runs, RunsMean, evaluate_repeats, evaluate_runs},
        sample::{Sample, find_improbable_row, find_odd_rows, fingerprint, sum_to_one},
        sketch::{Answers, Bounded, RowSums, StreamState},
        slices::{FoundSlices, evaluate_slices},
        sparse::{SparseSample, sparse_hand_till, sparse_one_vs_rest, sparse_one_vs_rest_per_class},
        special::{MinP, chi_squared_tail, f_tail, holm, normal_share_above, normal_share_separated},
        special::{row_mean, share_of_sums_above, student_power},
        special::{student_two_sided_p, student_upper_p, student_upper_quantile},
        summary_roc::{PairOutcomes, SummaryFit, fit_summary_roc, summary_area},
        volumes::{covered_share, hum, hum_score, offset_rates},
    };

    #[pymodule_export]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_export]
    const NORMAL_FROM: f64 = multiauc::NORMAL_FROM;

    /// What the core knows about its metrics, by name.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("METRICS", super::metrics::facts(module.py())?)
    }

    /// Whether the core was compiled without optimisation: correct, but slow.
    #[pymodule_export]
    const debug_build: bool = cfg!(debug_assertions);
}
