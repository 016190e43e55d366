//! NumPy arrays as the core's types, without copies.

use multiauc::{ClassCodes, Codes, Score, ScoreMatrix};
use numpy::{
    Element, IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::prelude::*;

use crate::errors::{not_contiguous, to_python};

/// A NumPy vector.
pub type Vector<'py> = Bound<'py, PyArray1<f64>>;
/// A NumPy matrix.
pub type Matrix<'py> = Bound<'py, PyArray2<f64>>;
/// A NumPy vector of integers.
pub type Integers<'py> = Bound<'py, PyArray1<i64>>;

/// Class codes of any width.
#[derive(FromPyObject)]
pub enum CodeArray {
    Bytes(Py<PyArray1<u8>>),
    Words(Py<PyArray1<u16>>),
    Longs(Py<PyArray1<u32>>),
}

/// The same, for reading.
pub enum BorrowedCodes<'py> {
    Bytes(PyReadonlyArray1<'py, u8>),
    Words(PyReadonlyArray1<'py, u16>),
    Longs(PyReadonlyArray1<'py, u32>),
}

/// The matrix as the core reads it: the smallest slice that holds all its entries, and where they are in it.
pub fn matrix<'a, T: Score + Element>(array: &'a PyReadonlyArray2<'_, T>) -> PyResult<ScoreMatrix<'a, T>> {
    let view = array.as_array();
    let ((rows, columns), strides) = (view.dim(), (view.strides()[0], view.strides()[1]));
    if rows == 0 || columns == 0 {
        return ScoreMatrix::new(&[], 0, (rows, columns), strides).map_err(to_python);
    }
    let (down, across) = ((rows as isize - 1) * strides.0, (columns as isize - 1) * strides.1);
    let lowest = down.min(0) + across.min(0);
    let highest = down.max(0) + across.max(0);
    // SAFETY: pointer, shape and strides are those of one array. NumPy guarantees that every entry from `lowest` to
    // `highest` lies in its one allocation, which the borrow keeps alive; floats have no invalid bits, and the core
    // stays in bounds whatever the values are.
    #[allow(unsafe_code)]
    let data = unsafe { std::slice::from_raw_parts(view.as_ptr().offset(lowest), (highest - lowest) as usize + 1) };
    ScoreMatrix::new(data, lowest.unsigned_abs(), (rows, columns), strides).map_err(to_python)
}

impl CodeArray {
    /// The array, for reading.
    pub fn borrow<'py>(&self, py: Python<'py>) -> PyResult<BorrowedCodes<'py>> {
        Ok(match self {
            Self::Bytes(codes) => BorrowedCodes::Bytes(codes.bind(py).try_readonly()?),
            Self::Words(codes) => BorrowedCodes::Words(codes.bind(py).try_readonly()?),
            Self::Longs(codes) => BorrowedCodes::Longs(codes.bind(py).try_readonly()?),
        })
    }
}

impl BorrowedCodes<'_> {
    /// The codes as the core reads them.
    pub fn codes(&self) -> PyResult<ClassCodes<'_>> {
        Ok(match self {
            Self::Bytes(codes) => ClassCodes::Bytes(contiguous(codes)?),
            Self::Words(codes) => ClassCodes::Words(contiguous(codes)?),
            Self::Longs(codes) => ClassCodes::Longs(contiguous(codes)?),
        })
    }
}

/// The entries of a contiguous one-dimensional array.
pub fn contiguous<'a, T: Element>(array: &'a PyReadonlyArray1<'_, T>) -> PyResult<&'a [T]> {
    array.as_slice().map_err(|_| not_contiguous())
}

/// The entries of a matrix, row by row, and its width.
pub fn records<'a, T: Element>(array: &'a PyReadonlyArray2<'_, T>) -> PyResult<(&'a [T], usize)> {
    let entries = array.as_slice().ok().filter(|_| array.is_c_contiguous());
    Ok((entries.ok_or_else(not_contiguous)?, array.shape()[1]))
}

/// The entries of a matrix, row by row.
pub fn square<'a>(array: &'a PyReadonlyArray2<'_, f64>) -> PyResult<&'a [f64]> {
    Ok(records(array)?.0)
}

/// A vector for Python.
pub fn vector<T: Element>(py: Python<'_>, values: Vec<T>) -> Bound<'_, PyArray1<T>> {
    values.into_pyarray(py)
}

/// Counts for Python.
pub fn integers(py: Python<'_>, values: Vec<u64>) -> Integers<'_> {
    vector(py, values.into_iter().map(u64::cast_signed).collect())
}

/// A matrix for Python, from its entries row by row.
pub fn rectangle<T: Element>(py: Python<'_>, values: Vec<T>, columns: usize) -> PyResult<Bound<'_, PyArray2<T>>> {
    let rows = values.len() / columns.max(1);
    values.into_pyarray(py).reshape([rows, columns])
}

/// Codes for Python.
pub fn code_array(py: Python<'_>, codes: Codes) -> Bound<'_, PyAny> {
    match codes {
        Codes::Bytes(codes) => codes.into_pyarray(py).into_any(),
        Codes::Words(codes) => codes.into_pyarray(py).into_any(),
        Codes::Longs(codes) => codes.into_pyarray(py).into_any(),
    }
}
