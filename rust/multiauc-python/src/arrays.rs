//! NumPy arrays as the core's types, without copies.

use multiauc::{ClassCodes, Codes, PairWeights, Score, ScoreMatrix};
use numpy::{
    Element, IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::errors::to_python;

/// Scores of either precision.
#[derive(FromPyObject)]
pub enum Scores<'py> {
    /// float64
    Double(PyReadonlyArray2<'py, f64>),
    /// float32
    Single(PyReadonlyArray2<'py, f32>),
}

/// Scores of one class, of either precision.
#[derive(FromPyObject)]
pub enum ScoreColumn<'py> {
    /// float64
    Double(PyReadonlyArray1<'py, f64>),
    /// float32
    Single(PyReadonlyArray1<'py, f32>),
}

/// Class codes of either width.
#[derive(FromPyObject)]
pub enum CodeArray<'py> {
    /// uint8
    Bytes(PyReadonlyArray1<'py, u8>),
    /// uint16
    Words(PyReadonlyArray1<'py, u16>),
}

/// Integer labels of any width.
#[derive(FromPyObject)]
pub enum IntegerArray<'py> {
    /// int64
    I64(PyReadonlyArray1<'py, i64>),
    /// int32
    I32(PyReadonlyArray1<'py, i32>),
    /// uint8
    U8(PyReadonlyArray1<'py, u8>),
    /// int16
    I16(PyReadonlyArray1<'py, i16>),
    /// int8
    I8(PyReadonlyArray1<'py, i8>),
    /// uint64
    U64(PyReadonlyArray1<'py, u64>),
    /// uint32
    U32(PyReadonlyArray1<'py, u32>),
    /// uint16
    U16(PyReadonlyArray1<'py, u16>),
}

/// Weights of pairs: a name or a matrix.
#[derive(FromPyObject)]
pub enum PairWeightsArgument<'py> {
    /// "size_product" or "size_sum"
    Name(String),
    /// K × K
    Matrix(PyReadonlyArray2<'py, f64>),
}

/// The matrix as the core reads it.
pub fn matrix<'a, T: Score + Element>(array: &'a PyReadonlyArray2<'_, T>) -> PyResult<ScoreMatrix<'a, T>> {
    let view = array.as_array();
    let (rows, columns) = view.dim();
    strided(view.as_ptr(), (rows, columns), (view.strides()[0], view.strides()[1]))
}

/// A column as a matrix of one column.
pub fn column<'a, T: Score + Element>(array: &'a PyReadonlyArray1<'_, T>) -> PyResult<ScoreMatrix<'a, T>> {
    let view = array.as_array();
    strided(view.as_ptr(), (view.len(), 1), (view.strides()[0], 0))
}

/// The smallest slice that holds all entries of a strided array whose first entry is at `first`.
fn strided<'a, T: Score>(
    first: *const T,
    (rows, columns): (usize, usize),
    (row_stride, column_stride): (isize, isize),
) -> PyResult<ScoreMatrix<'a, T>> {
    if rows == 0 || columns == 0 {
        return ScoreMatrix::new(&[], 0, (rows, columns), (row_stride, column_stride)).map_err(to_python);
    }
    let (down, across) = ((rows as isize - 1) * row_stride, (columns as isize - 1) * column_stride);
    let lowest = down.min(0) + across.min(0);
    let highest = down.max(0) + across.max(0);
    // SAFETY: NumPy vouches that every entry from `lowest` to `highest` lies in the array's one allocation, which the
    // caller's borrow keeps alive; floats have no invalid bits, and the core stays in bounds whatever the values are.
    #[allow(unsafe_code)]
    let data = unsafe { std::slice::from_raw_parts(first.offset(lowest), (highest - lowest) as usize + 1) };
    ScoreMatrix::new(data, lowest.unsigned_abs(), (rows, columns), (row_stride, column_stride)).map_err(to_python)
}

impl CodeArray<'_> {
    /// The codes as the core reads them.
    pub fn codes(&self) -> PyResult<ClassCodes<'_>> {
        Ok(match self {
            Self::Bytes(codes) => ClassCodes::Bytes(contiguous(codes)?),
            Self::Words(codes) => ClassCodes::Words(contiguous(codes)?),
        })
    }
}

impl PairWeightsArgument<'_> {
    /// The weights as the core reads them.
    pub fn weights(&self) -> PyResult<PairWeights<'_>> {
        match self {
            Self::Name(name) => match name.as_str() {
                "size_product" => Ok(PairWeights::SizeProduct),
                "size_sum" => Ok(PairWeights::SizeSum),
                _ => Err(PyValueError::new_err(format!(
                    "pair_weights is {name:?}; accepted: None, \"size_product\", \"size_sum\" or a K x K array"
                ))),
            },
            Self::Matrix(matrix) => Ok(PairWeights::Matrix(square(matrix)?)),
        }
    }
}

/// The weights of pairs that an argument stands for: all alike where there is none.
pub fn pair_weights<'a>(argument: Option<&'a PairWeightsArgument<'_>>) -> PyResult<PairWeights<'a>> {
    argument.map_or(Ok(PairWeights::Equal), PairWeightsArgument::weights)
}

/// The entries of a contiguous one-dimensional array.
pub fn contiguous<'a, T: Element>(array: &'a PyReadonlyArray1<'_, T>) -> PyResult<&'a [T]> {
    array.as_slice().map_err(|_| PyTypeError::new_err("arrays of codes, labels and weights must be contiguous"))
}

/// The entries of a C-contiguous matrix, row after row.
pub fn square<'a>(array: &'a PyReadonlyArray2<'_, f64>) -> PyResult<&'a [f64]> {
    let is_c_order = array.is_c_contiguous();
    let entries = array.as_slice().ok().filter(|_| is_c_order);
    entries.ok_or_else(|| PyTypeError::new_err("partition, weights of pairs and rates must be C-contiguous"))
}

/// Records: the entries of a C-contiguous byte matrix and its width.
pub fn records<'a>(array: &'a PyReadonlyArray2<'_, u8>) -> PyResult<(&'a [u8], usize)> {
    let width = array.shape()[1];
    let entries = array.as_slice().ok().filter(|_| array.is_c_contiguous());
    entries.map(|entries| (entries, width)).ok_or_else(|| PyTypeError::new_err("records must be C-contiguous"))
}

/// A vector for Python.
pub fn vector<T: Element>(py: Python<'_>, values: Vec<T>) -> Bound<'_, PyArray1<T>> {
    values.into_pyarray(py)
}

/// A square matrix for Python.
pub fn square_matrix(py: Python<'_>, values: Vec<f64>, size: usize) -> PyResult<Bound<'_, PyArray2<f64>>> {
    values.into_pyarray(py).reshape([size, size])
}

/// A matrix for Python, row after row.
pub fn rectangle(py: Python<'_>, values: Vec<f64>, columns: usize) -> PyResult<Bound<'_, PyArray2<f64>>> {
    let rows = values.len() / columns.max(1);
    values.into_pyarray(py).reshape([rows, columns])
}

/// A matrix of bytes for Python, row after row.
pub fn byte_rectangle(py: Python<'_>, values: Vec<u8>, rows: usize) -> PyResult<Bound<'_, PyArray2<u8>>> {
    let columns = values.len() / rows.max(1);
    values.into_pyarray(py).reshape([rows, columns])
}

/// Codes for Python.
pub fn code_array(py: Python<'_>, codes: Codes) -> Bound<'_, PyAny> {
    match codes {
        Codes::Bytes(codes) => codes.into_pyarray(py).into_any(),
        Codes::Words(codes) => codes.into_pyarray(py).into_any(),
    }
}
