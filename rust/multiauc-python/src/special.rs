//! Distributions and means of rows, for numbers and arrays.

use multiauc::{ClassTerm, LargestNormal, StudentT};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::arrays::{Vector, contiguous, records, vector};
use crate::errors::other_lengths;
use crate::running::run;

/// What a quantile costs, in units of counting a cell.
const QUANTILE: usize = 1000;

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
pub fn student_upper_quantiles<'py>(
    py: Python<'py>,
    tail: f64,
    degrees_of_freedom: PyReadonlyArray1<'py, f64>,
) -> PyResult<Vector<'py>> {
    let freedoms = contiguous(&degrees_of_freedom)?;
    let found = run(py, freedoms.len(), |_| Ok(multiauc::upper_quantiles(tail, freedoms)))?;
    Ok(vector(py, found))
}

#[pyfunction]
pub fn student_quantiles_as_far<'py>(
    py: Python<'py>,
    z: PyReadonlyArray1<'py, f64>,
    degrees_of_freedom: PyReadonlyArray1<'py, f64>,
) -> PyResult<Vector<'py>> {
    let (z, freedoms) = (contiguous(&z)?, contiguous(&degrees_of_freedom)?);
    let found = run(py, z.len() * QUANTILE, |workers| {
        workers.check()?;
        Ok(z.iter().zip(freedoms).map(|(&z, &freedom)| StudentT::new(freedom).quantile_as_far(z)).collect())
    })?;
    Ok(vector(py, found))
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
pub fn degrees_of_freedom(
    variances: PyReadonlyArray1<'_, f64>,
    fourths: PyReadonlyArray1<'_, f64>,
    units: PyReadonlyArray1<'_, f64>,
    effective: PyReadonlyArray1<'_, f64>,
) -> PyResult<f64> {
    let (variances, fourths) = (contiguous(&variances)?, contiguous(&fourths)?);
    let (units, effective) = (contiguous(&units)?, contiguous(&effective)?);
    let terms: Vec<ClassTerm> = (variances.iter().zip(fourths))
        .zip(units.iter().zip(effective))
        .map(|((&variance, &fourth), (&units, &effective))| ClassTerm { variance, fourth, units, effective })
        .collect();
    Ok(multiauc::degrees_of_freedom(variances.iter().sum(), &terms))
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

/// The correction of p-values for the number of tests.
#[pyclass(frozen, module = "multiauc._rust")]
pub struct MinP(multiauc::MinP);

#[pymethods]
impl MinP {
    #[new]
    fn new(py: Python<'_>, count: usize, vectors: Option<PyReadonlyArray2<'_, f64>>) -> PyResult<Self> {
        let Some(vectors) = vectors else { return Ok(Self(multiauc::MinP { count, largest: None })) };
        let (entries, rank) = records(&vectors)?;
        let cost = LargestNormal::cost(count, rank);
        let largest = run(py, cost, |workers| LargestNormal::new(entries, rank, workers))?;
        Ok(Self(multiauc::MinP { count, largest: Some(largest) }))
    }

    fn correct(&self, p: f64) -> f64 {
        self.0.correct(p)
    }

    fn tail_of_one(&self, py: Python<'_>, tail: f64) -> f64 {
        py.detach(|| self.0.tail_of_one(tail))
    }
}
