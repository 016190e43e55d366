//! Costs of errors: losses along hulls, and decision rules.

use multiauc::{HullRates, Rule};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::arrays::{Matrix, Vector, contiguous, rectangle, square, vector};
use crate::errors::other_lengths;
use crate::options::decision_rule_named;
use crate::running::run;
use crate::sample::{SampleArgument, ScoreArray, compute, with_scores};

/// What a row costs in the fit of a rule, in units of counting a cell.
const FITTED_ROW: usize = 100;

/// (false-positive rates, true-positive rates, prevalence) of a hull.
#[derive(FromPyObject)]
pub struct HullArgument<'py>(PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>, f64);

impl HullArgument<'_> {
    fn rates(&self) -> PyResult<HullRates<'_>> {
        let (false_positive, true_positive) = (contiguous(&self.0)?, contiguous(&self.1)?);
        if false_positive.len() != true_positive.len() || false_positive.len() < 2 {
            return Err(other_lengths());
        }
        Ok(HullRates { false_positive, true_positive, prevalence: self.2 })
    }
}

#[pyfunction]
pub fn cost_curve<'py>(
    py: Python<'py>,
    false_positive: PyReadonlyArray1<'py, f64>,
    true_positive: PyReadonlyArray1<'py, f64>,
) -> PyResult<(Vector<'py>, Vector<'py>)> {
    let (shares, costs) = multiauc::cost_curve(contiguous(&false_positive)?, contiguous(&true_positive)?);
    Ok((vector(py, shares), vector(py, costs)))
}

#[pyfunction]
pub fn h_measure(hull: HullArgument<'_>, severity_ratio: f64) -> PyResult<f64> {
    Ok(multiauc::h_measure(hull.rates()?, severity_ratio))
}

#[pyfunction]
pub fn lc_index(a: HullArgument<'_>, b: HullArgument<'_>, cost_range: (f64, f64), most_likely: f64) -> PyResult<f64> {
    Ok(multiauc::lc_index(a.rates()?, b.rates()?, cost_range, most_likely))
}

#[pyfunction]
pub fn decide<'py>(
    py: Python<'py>,
    probabilities: ScoreArray,
    columns: Vec<usize>,
    costs: PyReadonlyArray2<'py, f64>,
    rule: &str,
    scale: f64,
    offsets: PyReadonlyArray1<'py, f64>,
) -> PyResult<Bound<'py, PyArray1<isize>>> {
    let (costs, offsets) = (square(&costs)?, contiguous(&offsets)?.to_vec());
    let (classes, rule) = (offsets.len(), Rule { kind: decision_rule_named(rule)?, scale, offsets });
    let found = with_scores!(py, probabilities, |matrix| {
        let known = matrix.columns().max(2);
        if columns.len() != classes || costs.len() != classes * classes || columns.iter().any(|&c| c >= known) {
            return Err(other_lengths());
        }
        run(py, matrix.rows() * classes, |workers| multiauc::decide(&rule, &matrix, &columns, costs, workers))
    })?;
    Ok(vector(py, found.into_iter().map(usize::cast_signed).collect()))
}

/// (rule, scale, offsets, calibration's p-value, costs of each row under the rule, Bayes and argmax, weights, groups).
type FittedRule<'py> =
    (&'static str, f64, Vector<'py>, f64, Matrix<'py>, Option<Vector<'py>>, Option<Bound<'py, PyArray1<u32>>>);

#[pyfunction]
pub fn fit_decision_rule<'py>(
    py: Python<'py>,
    sample: SampleArgument<'py>,
    columns: Vec<usize>,
    costs: PyReadonlyArray2<'py, f64>,
) -> PyResult<FittedRule<'py>> {
    let (view, costs) = (sample.view()?, square(&costs)?);
    let mut sorted = columns.clone();
    sorted.sort_unstable();
    if !sorted.into_iter().eq(0..view.classes()) || costs.len() != columns.len() * columns.len() {
        return Err(other_lengths());
    }
    let found = compute!(py, view, FITTED_ROW, |sample, workers| {
        multiauc::fit_decision_rule(sample, view.groups(), &columns, costs, workers)
    })?;
    let rows = found.row_costs[0].len();
    let row_costs = rectangle(py, found.row_costs.concat(), rows)?;
    let (weights, groups) = (found.weights.map(|w| vector(py, w)), found.groups.map(|g| vector(py, g)));
    let offsets = vector(py, found.rule.offsets);
    Ok((found.rule.kind.name(), found.rule.scale, offsets, found.calibration_p_value, row_costs, weights, groups))
}
