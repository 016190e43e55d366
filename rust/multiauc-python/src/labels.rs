//! Labels as codes, class sizes, the delimiter of a text, and the number of threads.

use multiauc::{ClassSizes, Codes, Coding};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::arrays::{CodeArray, Integers, Vector, code_array, contiguous, integers, records, vector};
use crate::running::run;

type ObjectCoding<'py> = (Bound<'py, PyAny>, Bound<'py, PyList>, Integers<'py>);
type CodingTuple<'py> = (Bound<'py, PyAny>, Bound<'py, PyArray1<isize>>, Integers<'py>);

#[pyfunction]
pub fn set_num_threads(n: usize) {
    multiauc::set_num_threads(n);
}

#[pyfunction]
pub fn get_num_threads() -> usize {
    multiauc::num_threads()
}

/// The delimiter of a text that fits best; of equal ones the first. The core has texts as bytes.
#[pyfunction]
pub fn detect_delimiter(text: &str, delimiters: &str, is_cut: bool) -> Option<char> {
    multiauc::detect_delimiter(text.as_bytes(), delimiters.as_bytes(), is_cut).map(char::from)
}

/// Integer labels of any width, and how they are coded.
macro_rules! integer_labels {
    ($($variant:ident: $integer:ty),*) => {
        #[derive(FromPyObject)]
        pub enum IntegerArray<'py> {
            $($variant(PyReadonlyArray1<'py, $integer>),)*
        }

        #[pyfunction]
        pub fn code_integers<'py>(
            py: Python<'py>,
            values: IntegerArray<'py>,
            limit: usize,
        ) -> PyResult<CodingTuple<'py>> {
            let coding = match &values {
                $(IntegerArray::$variant(array) => {
                    let values = contiguous(array)?;
                    run(py, values.len(), |workers| multiauc::code_integers(values, limit, workers))
                })*
            };
            Ok(coding_tuple(py, coding?))
        }
    };
}
integer_labels!(I64: i64, I32: i32, U8: u8, I16: i16, I8: i8, U64: u64, U32: u32, U16: u16);

#[pyfunction]
pub fn code_bytes<'py>(py: Python<'py>, values: PyReadonlyArray2<'py, u8>, limit: usize) -> PyResult<CodingTuple<'py>> {
    let (entries, width) = records(&values)?;
    Ok(coding_tuple(py, run(py, entries.len() / width.max(1), |_| multiauc::code_bytes(entries, width, limit))?))
}

fn coding_tuple(py: Python<'_>, coding: Coding) -> CodingTuple<'_> {
    let first_rows = vector(py, coding.first_rows.into_iter().map(usize::cast_signed).collect());
    (code_array(py, coding.codes), first_rows, integers(py, coding.counts))
}

#[pyfunction]
pub fn class_sizes<'py>(
    py: Python<'py>,
    codes: CodeArray,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    n_classes: usize,
) -> PyResult<(Integers<'py>, Vector<'py>)> {
    let codes = codes.borrow(py)?;
    let codes = codes.codes()?;
    let weights = weights.as_ref().map(contiguous).transpose()?;
    let sizes = run(py, codes.len(), |workers| ClassSizes::count(codes, weights, n_classes, workers))?;
    Ok((integers(py, sizes.rows), vector(py, sizes.weights)))
}

/// Codes of other classes, as narrow as their number allows.
#[pyfunction]
pub fn recode(py: Python<'_>, codes: CodeArray, columns: Vec<u32>, n_classes: usize) -> PyResult<Bound<'_, PyAny>> {
    let codes = codes.borrow(py)?;
    Ok(code_array(py, multiauc::recode(codes.codes()?, &columns, n_classes)))
}

/// (groups of each class, whether some group has rows of several).
#[pyfunction]
pub fn count_groups<'py>(
    py: Python<'py>,
    codes: CodeArray,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    groups: PyReadonlyArray1<'py, u32>,
    n_classes: usize,
) -> PyResult<(Integers<'py>, bool)> {
    let codes = codes.borrow(py)?;
    let (codes, groups) = (codes.codes()?, contiguous(&groups)?);
    let weights = weights.as_ref().map(contiguous).transpose()?;
    let (of_classes, span) = run(py, codes.len(), |_| multiauc::count_groups(codes, weights, groups, n_classes))?;
    Ok((integers(py, of_classes), span))
}

/// (the number of each object, the distinct ones by first appearance, how many there are of each).
#[pyfunction]
pub fn code_objects<'py>(py: Python<'py>, objects: Bound<'py, PyAny>) -> PyResult<ObjectCoding<'py>> {
    let (numbers, distinct) = (PyDict::new(py), PyList::empty(py));
    let (mut codes, mut counts) = (Vec::with_capacity(objects.len()?), Vec::new());
    for object in objects.try_iter()? {
        let object = object?;
        let code = if let Some(number) = numbers.get_item(&object)? {
            number.extract::<u32>()?
        } else {
            numbers.set_item(&object, counts.len())?;
            distinct.append(object)?;
            counts.push(0);
            counts.len() as u32 - 1
        };
        counts[code as usize] += 1;
        codes.push(code);
    }
    Ok((code_array(py, Codes::narrowed(codes, counts.len())), distinct, integers(py, counts)))
}
