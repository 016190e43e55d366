//! Exact counts range by range: of rows that are gone through several times, and of rows that lie on many machines.

use std::sync::{Mutex, MutexGuard, PoisonError};

use multiauc::{Error, RangeBlocks, RangeCounts};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::to_python;
use crate::running::run;
use crate::sample::{SampleArgument, ScoresView};
use crate::sketch::{Answers, AnySketch, StreamState, UPDATE_COST, are_of, by_name};

/// Exact counts of either precision.
enum AnyCounts {
    Double(RangeCounts<f64>),
    Single(RangeCounts<f32>),
}

/// The same expression for counts of either precision.
macro_rules! with_counts {
    ($counts:expr, |$typed:ident| $work:expr) => {
        match $counts {
            AnyCounts::Double($typed) => $work,
            AnyCounts::Single($typed) => $work,
        }
    };
}

/// Exact counts of rows that are gone through several times.
#[pyclass(frozen, module = "multiauc._rust")]
pub struct RangeCounter(Mutex<AnyCounts>);

#[pymethods]
impl RangeCounter {
    #[new]
    fn new(py: Python<'_>, state: &StreamState, memory: usize) -> PyResult<Self> {
        let counts = run(py, usize::MAX, |workers| {
            Ok(match &mut *state.locked() {
                AnySketch::Double(sketch) => AnyCounts::Double(RangeCounts::new(sketch, memory, workers)?),
                AnySketch::Single(sketch) => AnyCounts::Single(RangeCounts::new(sketch, memory, workers)?),
            })
        })?;
        Ok(Self(Mutex::new(counts)))
    }

    /// Chooses what to gather in the next pass; false if nothing is left.
    fn begin_pass(&self, memory: usize) -> bool {
        with_counts!(&mut *self.locked(), |counts| counts.begin_pass(memory))
    }

    fn update(&self, py: Python<'_>, sample: SampleArgument<'_>) -> PyResult<()> {
        let view = sample.view()?;
        run(py, view.cost().saturating_mul(UPDATE_COST), |workers| match (&mut *self.locked(), view.scores()) {
            (AnyCounts::Double(counts), ScoresView::Double(scores)) => counts.update(scores, view.codes(), workers),
            (AnyCounts::Single(counts), ScoresView::Single(scores)) => counts.update(scores, view.codes(), workers),
            _ => Err(Error::OtherSketch),
        })
    }

    fn end_pass(&self, py: Python<'_>) -> PyResult<()> {
        run(py, usize::MAX, |workers| with_counts!(&mut *self.locked(), |counts| counts.end_pass(workers)))
    }

    /// As those of the state, with exact values.
    fn answers(&self, py: Python<'_>, state: &StreamState) -> PyResult<Answers> {
        let (answers, classes) = run(py, usize::MAX, |workers| match (&*self.locked(), &mut *state.locked()) {
            (AnyCounts::Double(counts), AnySketch::Double(sketch)) => {
                Ok((counts.answers(sketch, workers)?, sketch.settings().classes))
            }
            (AnyCounts::Single(counts), AnySketch::Single(sketch)) => {
                Ok((counts.answers(sketch, workers)?, sketch.settings().classes))
            }
            _ => Err(Error::OtherSketch),
        })?;
        by_name(py, answers, classes)
    }
}

impl RangeCounter {
    /// As that of a state.
    fn locked(&self) -> MutexGuard<'_, AnyCounts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Blocks of rows of either precision.
enum AnyBlocks {
    Double(RangeBlocks<f64>),
    Single(RangeBlocks<f32>),
}

/// The same expression for blocks of either precision.
macro_rules! with_blocks {
    ($blocks:expr, |$typed:ident| $work:expr) => {
        match $blocks {
            AnyBlocks::Double($typed) => $work,
            AnyBlocks::Single($typed) => $work,
        }
    };
}

/// A plan for exact counts of rows that lie on many machines.
#[pyclass(frozen, module = "multiauc._rust")]
pub struct RangePlan(Mutex<AnyBlocks>);

#[pymethods]
impl RangePlan {
    #[new]
    fn new(py: Python<'_>, state: &StreamState, longest: usize) -> PyResult<Self> {
        let blocks = run(py, usize::MAX, |workers| {
            Ok(match &mut *state.locked() {
                AnySketch::Double(sketch) => AnyBlocks::Double(RangeBlocks::new(sketch, longest, workers)?),
                AnySketch::Single(sketch) => AnyBlocks::Single(RangeBlocks::new(sketch, longest, workers)?),
            })
        })?;
        Ok(Self(Mutex::new(blocks)))
    }

    /// About how many keys are to be gathered.
    #[getter]
    fn keys(&self) -> u64 {
        with_blocks!(&*self.locked(), |blocks| blocks.keys())
    }

    /// About how many bytes have been gathered.
    #[getter]
    fn gathered_bytes(&self) -> usize {
        with_blocks!(&*self.locked(), |blocks| blocks.gathered_bytes())
    }

    /// Splits the work into parts that are counted apart from each other.
    fn split(&self, parts: usize) {
        with_blocks!(&mut *self.locked(), |blocks| blocks.split(parts));
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &with_blocks!(&*self.locked(), |blocks| blocks.to_bytes()))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        let blocks = py.detach(|| match RangeBlocks::from_bytes(data) {
            Ok(blocks) => Ok(AnyBlocks::Double(blocks)),
            Err(error) => {
                RangeBlocks::from_bytes(data).map(AnyBlocks::Single).map_err(|other| are_of(data, error, other))
            }
        });
        Ok(Self(Mutex::new(blocks.map_err(to_python)?)))
    }

    /// Gathers the keys of some rows.
    fn update(&self, py: Python<'_>, sample: SampleArgument<'_>) -> PyResult<()> {
        let view = sample.view()?;
        run(py, view.cost().saturating_mul(UPDATE_COST), |workers| match (&mut *self.locked(), view.scores()) {
            (AnyBlocks::Double(blocks), ScoresView::Double(scores)) => blocks.update(scores, view.codes(), workers),
            (AnyBlocks::Single(blocks), ScoresView::Single(scores)) => blocks.update(scores, view.codes(), workers),
            _ => Err(Error::OtherSketch),
        })
    }

    /// What was gathered, packed, by part.
    fn take_blocks<'py>(&self, py: Python<'py>) -> Vec<(u32, Bound<'py, PyBytes>)> {
        let blocks = py.detach(|| with_blocks!(&mut *self.locked(), |blocks| blocks.take_blocks()));
        blocks.into_iter().map(|(part, block)| (part, PyBytes::new(py, &block))).collect()
    }

    /// Takes the rows of a block.
    fn receive(&self, py: Python<'_>, block: &[u8]) -> PyResult<()> {
        py.detach(|| with_blocks!(&mut *self.locked(), |blocks| blocks.receive(block))).map_err(to_python)
    }

    /// Counts what was received.
    fn take_counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let counts =
            run(py, usize::MAX, |workers| with_blocks!(&mut *self.locked(), |blocks| blocks.take_counts(workers)))?;
        Ok(PyBytes::new(py, &counts))
    }

    /// Takes counts.
    fn add_counts(&self, counts: &[u8]) -> PyResult<()> {
        with_blocks!(&mut *self.locked(), |blocks| blocks.add_counts(counts)).map_err(to_python)
    }

    /// As those of the state, with exact values.
    fn answers(&self, py: Python<'_>, state: &StreamState) -> PyResult<Answers> {
        let (answers, classes) = run(py, usize::MAX, |workers| match (&*self.locked(), &mut *state.locked()) {
            (AnyBlocks::Double(blocks), AnySketch::Double(sketch)) => {
                Ok((blocks.answers(sketch, workers)?, sketch.settings().classes))
            }
            (AnyBlocks::Single(blocks), AnySketch::Single(sketch)) => {
                Ok((blocks.answers(sketch, workers)?, sketch.settings().classes))
            }
            _ => Err(Error::OtherSketch),
        })?;
        by_name(py, answers, classes)
    }
}

impl RangePlan {
    /// As that of a state.
    fn locked(&self) -> MutexGuard<'_, AnyBlocks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
