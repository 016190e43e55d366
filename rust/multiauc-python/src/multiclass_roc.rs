//! The multi-class ROC curve: a model that Python keeps, to read from and to bootstrap. The stub describes what the
//! methods return.

use multiauc::{CurveOptions, Fit, Grid, MulticlassRoc, Stop};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{Matrix, Vector, contiguous, rectangle, square, vector};
use crate::errors::to_python;
use crate::options::{PairWeighting, center_named, is_iid_named, scope_named};
use crate::running::run;
use crate::sample::{SampleArgument, sampling_of, with_sample};

/// Thresholds: how many, or which.
#[derive(FromPyObject)]
pub enum ThresholdsArgument<'py> {
    Count(usize),
    Given(PyReadonlyArray1<'py, f64>),
}

/// A fitted multi-class ROC curve, and what Python reads of it.
#[pyclass(frozen, module = "multiauc._rust")]
pub struct RocModel {
    roc: MulticlassRoc,
    #[pyo3(get)]
    rows: usize,
    #[pyo3(get)]
    pairs: Vec<(usize, usize)>,
    #[pyo3(get)]
    area: f64,
    #[pyo3(get)]
    converged: bool,
    #[pyo3(get)]
    class_totals: Vec<(usize, f64)>,
    #[pyo3(get)]
    separation: Option<f64>,
}

#[pyfunction]
#[pyo3(signature = (sample, *, thresholds, scope, center, pair_weights, rate_weights, continuity, tolerance,
    max_iterations, memory_limit))]
#[expect(clippy::too_many_arguments, reason = "the keywords of one Python function")]
pub fn multiclass_roc(
    py: Python<'_>,
    sample: SampleArgument<'_>,
    thresholds: ThresholdsArgument<'_>,
    scope: &str,
    center: &str,
    pair_weights: Option<PairWeighting>,
    rate_weights: Option<[PyReadonlyArray2<'_, f64>; 2]>,
    continuity: f64,
    tolerance: f64,
    max_iterations: usize,
    memory_limit: usize,
) -> PyResult<RocModel> {
    let (view, classes) = (sample.view()?, sample.view()?.classes());
    let (grid, thresholds) = match &thresholds {
        ThresholdsArgument::Count(count) => (Grid::Quantiles(*count), *count),
        ThresholdsArgument::Given(values) => (Grid::Given(contiguous(values)?), values.len()?),
    };
    let (scope, center) = (scope_named(scope)?, center_named(center)?);
    let equal = vec![1.0; classes * classes];
    let [tp_weights, fp_weights] = match &rate_weights {
        None => [&equal[..]; 2],
        Some([of_tp, of_fp]) => [square(of_tp)?, square(of_fp)?],
    };
    let pair_weights = PairWeighting::borrow(pair_weights.as_ref(), py)?;
    let pair_weights = pair_weights.read()?;
    let stop = Stop { tolerance, max_iterations, settle_curve: true };
    // Some twenty sweeps over two rates of each pair at each threshold.
    let fit = (40 * classes * classes).saturating_mul(thresholds);
    let roc = run(py, view.cost().saturating_add(fit), |workers| {
        let options = CurveOptions { center, pair_weights, tp_weights, fp_weights, continuity, stop, memory_limit };
        with_sample!(&view.check(workers)?, |sample| MulticlassRoc::new(sample, (grid, scope), options, workers))
    })?;
    Ok(RocModel {
        rows: view.rows(),
        pairs: roc.placed().pairs(),
        area: roc.curve.area,
        converged: roc.model.as_ref().is_none_or(|model| model.converged),
        class_totals: roc.placed().class_totals(),
        separation: roc.separation(),
        roc,
    })
}

#[pymethods]
impl RocModel {
    /// What Python's result has of the model, by the names of its fields.
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (curve, fields) = (&self.roc.curve, PyDict::new(py));
        let with_ends = |rates: &[f64]| vector(py, [&[0.0], rates, &[1.0]].concat());
        fields.set_item("fpr", with_ends(&curve.fpr))?;
        fields.set_item("tpr", with_ends(&curve.tpr))?;
        fields.set_item("auc", self.area)?;
        let columns = self.roc.placed().threshold_columns();
        if let [shared] = &columns[..] {
            fields.set_item("thresholds", vector(py, shared.clone()))?;
        } else {
            let rows = (0..self.roc.placed().thresholds()).flat_map(|i| columns.iter().map(move |column| column[i]));
            fields.set_item("thresholds", rectangle(py, rows.collect(), columns.len())?)?;
        }
        let pairs = self.roc.placed().pair_count();
        let (tp_rates, fp_rates) = self.roc.rates.split_at(self.roc.rates.len() / 2);
        fields.set_item("tp_rates", rectangle(py, tp_rates.to_vec(), pairs)?)?;
        fields.set_item("fp_rates", rectangle(py, fp_rates.to_vec(), pairs)?)?;
        let [fitted_tpr, fitted_fpr] = &curve.raw;
        fields.set_item("fitted_fpr", vector(py, fitted_fpr.clone()))?;
        fields.set_item("fitted_tpr", vector(py, fitted_tpr.clone()))?;
        let (_, scores) = self.factors(py);
        fields.set_item("pair_scores", scores)?;
        let deviances = self.roc.model.as_ref().map_or(&[][..], |model| &model.deviances);
        fields.set_item("deviance", deviances.last().copied().unwrap_or(0.0))?;
        fields.set_item("n_iter", deviances.len())?;
        fields.set_item("converged", self.converged)?;
        Ok(fields)
    }

    #[getter]
    fn means<'py>(&self, py: Python<'py>) -> PyResult<Matrix<'py>> {
        let means = self.roc.model.as_ref().map_or_else(|| self.roc.rates.clone(), Fit::means);
        rectangle(py, means, self.roc.placed().pair_count())
    }

    #[getter]
    fn factors<'py>(&self, py: Python<'py>) -> (Vector<'py>, Vector<'py>) {
        let (slopes, scores) =
            self.roc.model.as_ref().map_or_else(Default::default, |model| (model.slopes.clone(), model.scores.clone()));
        (vector(py, slopes), vector(py, scores))
    }

    #[getter]
    fn deviances<'py>(&self, py: Python<'py>) -> Vector<'py> {
        vector(py, self.roc.model.as_ref().map_or_else(Vec::new, |model| model.deviances.clone()))
    }

    fn smallest_class(&self, sampling: &str, groups: Option<PyReadonlyArray1<'_, u32>>) -> PyResult<u32> {
        let groups = groups.as_ref().map(contiguous).transpose()?;
        let sampling = sampling_of(groups, is_iid_named(sampling)?);
        let units = self.roc.class_units(sampling).map_err(to_python)?;
        Ok(units.into_iter().min().unwrap_or(0))
    }

    fn bootstrap<'py>(
        &self,
        py: Python<'py>,
        replicates: (u64, u32, u32),
        at: PyReadonlyArray1<'py, f64>,
        sampling: &str,
        groups: Option<PyReadonlyArray1<'py, u32>>,
    ) -> PyResult<(Vector<'py>, Matrix<'py>)> {
        let at = contiguous(&at)?;
        let groups = groups.as_ref().map(contiguous).transpose()?;
        let sampling = sampling_of(groups, is_iid_named(sampling)?);
        let (_, _, count) = replicates;
        let pairs = self.roc.placed().pair_count();
        let cells = (self.rows + 20 * self.roc.placed().thresholds()).saturating_mul(pairs);
        let replicates = run(py, cells.saturating_mul(count as usize), |workers| {
            self.roc.bootstrap(sampling, replicates, at, workers)
        })?;
        let areas = replicates.iter().map(|replicate| replicate.area).collect();
        let heights = replicates.into_iter().flat_map(|replicate| replicate.heights).collect();
        Ok((vector(py, areas), rectangle(py, heights, at.len())?))
    }

    fn refit<'py>(
        &self,
        py: Python<'py>,
        rates: PyReadonlyArray2<'py, f64>,
        at: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<(f64, Vector<'py>)> {
        let (rates, at) = (square(&rates)?, contiguous(&at)?);
        let curve = run(py, 20 * rates.len(), |workers| self.roc.refit(rates, workers))?;
        Ok((curve.area, vector(py, curve.heights(at))))
    }
}
