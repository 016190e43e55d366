//! Distributions and means of rows, for numbers and arrays.

use multiauc::{Discrete, LargestNormal, StudentT};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::arrays::{contiguous, records};
use crate::errors::other_lengths;
use crate::running::run;

#[pyfunction]
pub fn student_two_sided_p(t: f64, degrees_of_freedom: f64) -> f64 {
    StudentT::new(degrees_of_freedom).two_sided_p(t)
}

#[pyfunction]
pub fn student_upper_p(t: f64, degrees_of_freedom: f64) -> f64 {
    StudentT::new(degrees_of_freedom).upper_p(t)
}

#[pyfunction]
pub fn student_upper_quantile(tail: f64, degrees_of_freedom: f64) -> f64 {
    StudentT::new(degrees_of_freedom).upper_quantile(tail)
}

#[pyfunction]
pub fn student_power(shift: f64, degrees_of_freedom: f64, tail: f64) -> f64 {
    StudentT::new(degrees_of_freedom).power(shift, tail)
}

#[pyfunction]
pub fn f_tail(x: f64, first: u32, second: f64) -> f64 {
    multiauc::f_tail(x, first, second)
}

#[pyfunction]
pub fn chi_squared_tail(x: f64, degrees_of_freedom: u32) -> f64 {
    multiauc::chi_squared_tail(x, degrees_of_freedom)
}

#[pyfunction]
pub fn holm(p_values: Vec<f64>) -> Vec<f64> {
    multiauc::holm(&p_values)
}

/// (mean, variance, degrees of freedom).
#[pyfunction]
pub fn row_mean(
    py: Python<'_>,
    values: PyReadonlyArray1<'_, f64>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    groups: Option<PyReadonlyArray1<'_, u32>>,
) -> PyResult<(f64, f64, f64)> {
    let values = contiguous(&values)?;
    let weights = weights.as_ref().map(contiguous).transpose()?;
    let groups = groups.as_ref().map(contiguous).transpose()?;
    if weights.is_some_and(|weights| weights.len() != values.len())
        || groups.is_some_and(|groups| groups.len() != values.len())
    {
        return Err(other_lengths());
    }
    let found = run(py, values.len(), |_| Ok(multiauc::row_mean(values, weights, groups)))?;
    Ok((found.value, found.variance, found.degrees_of_freedom))
}

#[pyfunction]
pub fn normal_share_above(own: (f64, f64), other: (f64, f64)) -> f64 {
    multiauc::normal_share_above(own, other)
}

#[pyfunction]
pub fn normal_share_separated(means: [f64; 4], deviations: [f64; 4], correlation: f64) -> f64 {
    multiauc::normal_share_separated(means, deviations, correlation)
}

/// Values and their probabilities.
#[derive(FromPyObject)]
pub struct DiscreteArgument<'py>(PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>);

impl DiscreteArgument<'_> {
    fn read(&self) -> PyResult<Discrete<'_>> {
        Ok((contiguous(&self.0)?, contiguous(&self.1)?))
    }
}

#[pyfunction]
pub fn share_of_sums_above(
    py: Python<'_>,
    own: [DiscreteArgument<'_>; 2],
    other: [DiscreteArgument<'_>; 2],
) -> PyResult<f64> {
    let (own, other) = ([own[0].read()?, own[1].read()?], [other[0].read()?, other[1].read()?]);
    run(py, own[0].0.len() * own[1].0.len(), |_| Ok(multiauc::share_of_sums_above(own, other)))
}

/// The correction of p-values for the number of tests.
#[pyclass(frozen, module = "multiauc._rust")]
pub struct MinP(multiauc::MinP);

#[pymethods]
impl MinP {
    #[new]
    fn new(py: Python<'_>, count: usize, vectors: Option<PyReadonlyArray2<'_, f64>>) -> PyResult<Self> {
        let Some(vectors) = vectors else { return Ok(Self(multiauc::MinP { count, largest: None })) };
        let (entries, width) = records(&vectors)?;
        let cost = LargestNormal::cost(count, width);
        let largest = run(py, cost, |workers| LargestNormal::of_vectors(entries, width, workers))?;
        Ok(Self(multiauc::MinP { count, largest: Some(largest) }))
    }

    fn correct(&self, p: f64) -> f64 {
        self.0.correct(p)
    }

    fn tail_of_one(&self, py: Python<'_>, tail: f64) -> f64 {
        py.detach(|| self.0.tail_of_one(tail))
    }
}
