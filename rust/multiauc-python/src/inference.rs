//! Closed-form uncertainty: estimates with their variances, covariances of models, what each row contributes.

use multiauc::{Design, Fold, Folds, Metric, Moments, OrderRows, WorstCase};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{Matrix, Vector, contiguous, integers, rectangle, square, vector};
use crate::errors::{no_model, other_lengths};
use crate::options::{OptionsArgument, cost_of_metrics, metric_named, metrics_named};
use crate::running::run;
use crate::sample::{SampleArgument, SampleView, ScoresView, compute, with_sample};

/// What sorting a row costs, in units of counting a cell.
const SORTED: usize = 10;

/// A value with its variance.
#[pyclass(frozen, get_all, module = "multiauc._rust")]
pub struct Estimate {
    value: f64,
    variance: f64,
    degrees_of_freedom: f64,
    plug_in: f64,
    cautious: Option<(f64, f64, f64)>,
    worst: Option<(f64, f64)>,
}

/// K × K values of pairs of classes, and their variances.
#[pyclass(frozen, get_all, module = "multiauc._rust")]
pub struct PairTable {
    values: Py<PyArray2<f64>>,
    variances: Py<PyArray2<f64>>,
    degrees_of_freedom: Py<PyArray2<f64>>,
}

/// Some metrics of a sample with their uncertainty.
#[pyclass(frozen, get_all, module = "multiauc._rust")]
pub struct Evaluated {
    estimates: Py<PyDict>,
    covariance: Py<PyArray2<f64>>,
    per_class: Vec<Py<Estimate>>,
    average_precisions: Vec<Py<Estimate>>,
    pairs: Py<PyDict>,
    units: Py<PyArray1<i64>>,
    effective_units: Vec<f64>,
    ceilings: Py<PyDict>,
}

/// One metric of several models scored on the same rows.
#[pyclass(frozen, get_all, module = "multiauc._rust")]
pub struct Compared {
    estimates: Vec<Py<Estimate>>,
    covariance: Py<PyArray2<f64>>,
    differences: Vec<Py<Estimate>>,
    units: Py<PyArray1<i64>>,
    effective_units: Vec<f64>,
}

/// What the first-order variance leaves out, by metric and by class.
#[pyclass(frozen, get_all, module = "multiauc._rust")]
pub struct Interactions {
    metrics: Py<PyDict>,
    per_class: Vec<(f64, f64)>,
}

#[pyfunction]
pub fn evaluate(
    py: Python<'_>,
    sample: SampleArgument<'_>,
    metrics: Vec<String>,
    options: OptionsArgument<'_>,
) -> PyResult<Evaluated> {
    let (view, metrics, options) = (sample.view()?, metrics_named(&metrics)?, options.read()?);
    let factor = cost_of_metrics(&metrics, view.rows());
    let (design, found, moments) = compute!(py, view, factor, |sample, workers| {
        let design = Design::new(sample, view.sampling(), workers)?;
        let found = multiauc::evaluate(sample, &design, &metrics, options, workers)?;
        let moments = multiauc::moments(&design, &found.statistics, workers)?;
        Ok((design, found, moments))
    })?;
    evaluated(py, &view, &metrics, &design, found, moments)
}

/// What Python sees of some metrics.
pub fn evaluated(
    py: Python<'_>,
    view: &SampleView<'_>,
    metrics: &[Metric],
    design: &Design,
    found: multiauc::Evaluated,
    moments: Moments,
) -> PyResult<Evaluated> {
    let pair_table = |(metric, table): (Metric, multiauc::PairTable)| {
        let matrix = |cells: Vec<f64>| Ok::<_, PyErr>(rectangle(py, cells, view.classes())?.unbind());
        let multiauc::PairTable { values, variances, degrees_of_freedom } = table;
        let table = PairTable {
            values: matrix(values)?,
            variances: matrix(variances)?,
            degrees_of_freedom: matrix(degrees_of_freedom)?,
        };
        Ok((metric, table))
    };
    let ceilings = found.statistics.iter().map(|statistic| (statistic.id, statistic.ceilings(design)));
    let ceilings = by_metric(py, ceilings)?;
    let pairs = found.pairs.into_iter().map(pair_table).collect::<PyResult<Vec<_>>>()?;
    Ok(Evaluated {
        estimates: by_metric(py, metrics.iter().copied().zip(estimates(py, moments.estimates)?))?,
        covariance: rectangle(py, moments.covariance, metrics.len())?.unbind(),
        per_class: estimates(py, found.per_class)?,
        average_precisions: estimates(py, found.average_precisions)?,
        pairs: by_metric(py, pairs)?,
        units: integers(py, design.units()).unbind(),
        effective_units: design.effective_units().to_vec(),
        ceilings,
    })
}

/// Values, variances and effective numbers of units.
type Shares<'py> = [Vector<'py>; 3];

/// (counts, shares of all rows, of the true class and of the predicted class, F1 of each class).
#[pyfunction]
pub fn confusion<'py>(
    py: Python<'py>,
    truth: PyReadonlyArray1<'py, u32>,
    predicted: PyReadonlyArray1<'py, u32>,
    classes: usize,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    groups: Option<PyReadonlyArray1<'py, u32>>,
) -> PyResult<(Matrix<'py>, [Shares<'py>; 3], Shares<'py>)> {
    let (truth, predicted) = (contiguous(&truth)?, contiguous(&predicted)?);
    let weights = weights.as_ref().map(contiguous).transpose()?;
    let groups = groups.as_ref().map(contiguous).transpose()?;
    if [predicted.len(), weights.map_or(truth.len(), <[f64]>::len), groups.map_or(truth.len(), <[u32]>::len)]
        != [truth.len(); 3]
    {
        return Err(other_lengths());
    }
    let found = run(py, truth.len() * SORTED, |_| Ok(multiauc::confusion(truth, predicted, classes, weights, groups)))?;
    let shares = |found: multiauc::Shares| [found.values, found.variances, found.units].map(|one| vector(py, one));
    Ok((rectangle(py, found.counts, classes)?, found.shares.map(shares), shares(found.f1)))
}

/// What a pilot says about samples of other sizes.
#[pyclass(frozen, module = "multiauc._rust")]
pub struct Pilot(multiauc::Pilot);

#[pymethods]
impl Pilot {
    #[new]
    fn new(
        codes: PyReadonlyArray1<'_, u32>,
        classes: usize,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        groups: Option<PyReadonlyArray1<'_, u32>>,
        influences: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Self> {
        let (codes, influences) = (contiguous(&codes)?, contiguous(&influences)?);
        let weights = weights.as_ref().map(contiguous).transpose()?;
        let groups = groups.as_ref().map(contiguous).transpose()?;
        if [influences.len(), weights.map_or(codes.len(), <[f64]>::len), groups.map_or(codes.len(), <[u32]>::len)]
            != [codes.len(); 3]
        {
            return Err(other_lengths());
        }
        Ok(Self(multiauc::Pilot::new(codes, classes, weights, groups, influences)))
    }

    #[getter]
    fn classes(&self) -> Vec<usize> {
        self.0.classes.clone()
    }

    #[getter]
    fn units(&self) -> Vec<u64> {
        self.0.units.iter().map(|&units| units as u64).collect()
    }

    #[getter]
    fn effective(&self) -> Vec<f64> {
        self.0.effective.clone()
    }

    #[getter]
    fn deviations(&self) -> Vec<f64> {
        self.0.deviations()
    }

    fn effective_of(&self, sizes: Vec<f64>) -> Vec<f64> {
        self.0.effective_of(&sizes)
    }

    fn plan(&self, sizes: Vec<f64>) -> (f64, f64) {
        self.0.plan(&sizes)
    }
}

/// (D₀, q) of a metric with other numbers of rows, None where it has none.
#[pyfunction]
pub fn worst_case(metric: &str, ceilings: Vec<f64>, units: Vec<f64>, value: f64) -> PyResult<Option<(f64, f64)>> {
    Ok(multiauc::worst_case(metric_named(metric)?, &ceilings, &units, value).map(pair_of))
}

/// (D₀, q).
pub const fn pair_of(worst: WorstCase) -> (f64, f64) {
    (worst.design_effect, worst.failures)
}

#[pyfunction]
pub fn influences<'py>(
    py: Python<'py>,
    sample: SampleArgument<'py>,
    metrics: Vec<String>,
    options: OptionsArgument<'py>,
) -> PyResult<Matrix<'py>> {
    let (view, metrics, options) = (sample.view()?, metrics_named(&metrics)?, options.read()?);
    let factor = cost_of_metrics(&metrics, view.rows());
    let influences = compute!(py, view, factor, |sample, workers| {
        let design = Design::new(sample, view.sampling(), workers)?;
        let found = multiauc::evaluate(sample, &design, &metrics, options, workers)?;
        multiauc::influences(&design, &found.statistics, workers)
    })?;
    rectangle(py, influences, metrics.len())
}

#[pyfunction]
pub fn compare(
    py: Python<'_>,
    samples: Vec<SampleArgument<'_>>,
    metric: &str,
    options: OptionsArgument<'_>,
) -> PyResult<Compared> {
    let (metric, options) = (metric_named(metric)?, options.read()?);
    let views = samples.iter().map(SampleArgument::view).collect::<PyResult<Vec<_>>>()?;
    let first = views.first().ok_or_else(no_model)?;
    let cells: usize = views.iter().map(SampleView::cost).sum();
    let cost = cells.saturating_mul(cost_of_metrics(&[metric], first.rows()));
    let (design, found) = run(py, cost, |workers| {
        let design = with_sample!(&first.check(workers)?, |sample| Design::new(sample, first.sampling(), workers))?;
        let mut models = Vec::with_capacity(views.len());
        for view in &views {
            with_sample!(&view.check(workers)?, |sample| {
                models.append(&mut multiauc::evaluate(sample, &design, &[metric], options, workers)?.statistics);
            });
        }
        let found = multiauc::compare(&design, &models, workers)?;
        Ok((design, found))
    })?;
    Ok(Compared {
        covariance: rectangle(py, found.covariance, samples.len())?.unbind(),
        estimates: estimates(py, found.estimates)?,
        differences: estimates(py, found.differences)?,
        units: integers(py, design.units()).unbind(),
        effective_units: design.effective_units().to_vec(),
    })
}

/// Differences by class and pair of models, and their correlations.
type ComparedClasses<'py> = (Vec<Vec<Py<Estimate>>>, Option<Matrix<'py>>);

/// The differences of all pairs of models in the AUCs of some classes against the rest, by class, but for the factor of
/// [`multiauc::class_against_rest`]; and their correlations, if they are wanted.
#[pyfunction]
pub fn compare_classes<'py>(
    py: Python<'py>,
    samples: Vec<SampleArgument<'py>>,
    classes: Vec<usize>,
    wants_correlations: bool,
) -> PyResult<ComparedClasses<'py>> {
    let views = samples.iter().map(SampleArgument::view).collect::<PyResult<Vec<_>>>()?;
    let first = views.first().ok_or_else(no_model)?;
    let cells: usize = views.iter().map(SampleView::cost).sum();
    let (found, columns) = run(py, cells.saturating_mul(classes.len()), |workers| {
        let design = with_sample!(&first.check(workers)?, |sample| Design::new(sample, first.sampling(), workers))?;
        let checked = views.iter().map(|view| view.check(workers)).collect::<multiauc::Result<Vec<_>>>()?;
        let (mut found, mut columns) = (Vec::with_capacity(classes.len()), Vec::new());
        for &class in &classes {
            let models = checked.iter().map(|sample| {
                with_sample!(sample, |sample| multiauc::class_against_rest(sample, &design, class, workers))
            });
            let models = models.collect::<multiauc::Result<Vec<_>>>()?;
            found.push(multiauc::compare(&design, &models, workers)?.differences);
            if wants_correlations {
                let rows = multiauc::influences(&design, &models, workers)?;
                for a in 0..models.len() {
                    for b in a + 1..models.len() {
                        columns.push(rows.chunks_exact(models.len()).map(|row| row[a] - row[b]).collect::<Vec<f64>>());
                    }
                }
            }
        }
        Ok((found, columns))
    })?;
    let differences = found.into_iter().map(|of_class| estimates(py, of_class)).collect::<PyResult<_>>()?;
    let correlations =
        wants_correlations.then(|| rectangle(py, multiauc::correlations(&columns, first.groups()), columns.len()));
    Ok((differences, correlations.transpose()?))
}

/// Some metrics of several models, averaged over folds: by model, then by metric. `whole` has the rows of all folds.
#[pyfunction]
pub fn compare_folds(
    py: Python<'_>,
    models: Vec<Vec<SampleArgument<'_>>>,
    rows: Vec<Vec<u32>>,
    whole: SampleArgument<'_>,
    metrics: Vec<String>,
    options: OptionsArgument<'_>,
) -> PyResult<Compared> {
    let (metrics, options) = (metrics_named(&metrics)?, options.read()?);
    let whole = whole.view()?;
    let mut views = Vec::with_capacity(models.len());
    for folds in &models {
        views.push(folds.iter().map(SampleArgument::view).collect::<PyResult<Vec<_>>>()?);
    }
    let first = views.first().ok_or_else(no_model)?;
    let cells: usize = views.iter().flatten().map(SampleView::cost).sum();
    let cost = cells.saturating_mul(cost_of_metrics(&metrics, first.iter().map(SampleView::rows).max().unwrap_or(1)));
    let (design, found) = run(py, cost, |workers| {
        let design = with_sample!(&whole.check(workers)?, |sample| Design::new(sample, whole.sampling(), workers))?;
        let mut folds = Vec::with_capacity(first.len());
        for (view, rows) in first.iter().zip(&rows) {
            let design = with_sample!(&view.check(workers)?, |sample| Design::new(sample, view.sampling(), workers))?;
            folds.push(Fold { design, rows: rows.clone() });
        }
        let folds = Folds::new(folds, rows.iter().map(Vec::len).sum(), whole.groups(), workers)?;
        let mut averages = Vec::with_capacity(views.len() * metrics.len());
        for model in &views {
            let mut of_folds = Vec::with_capacity(model.len());
            for (view, fold) in model.iter().zip(folds.folds()) {
                with_sample!(&view.check(workers)?, |sample| {
                    of_folds.push(multiauc::evaluate(sample, &fold.design, &metrics, options, workers)?.statistics);
                });
            }
            for metric in 0..metrics.len() {
                averages.push(folds.average(of_folds.iter().map(|statistics| &statistics[metric])));
            }
        }
        let found = multiauc::compare(folds.design(), &averages, workers)?;
        Ok((design, found))
    })?;
    Ok(Compared {
        covariance: rectangle(py, found.covariance, models.len() * metrics.len())?.unbind(),
        estimates: estimates(py, found.estimates)?,
        differences: estimates(py, found.differences)?,
        effective_units: design.units().iter().map(|&units| units as f64).collect(),
        units: integers(py, design.units()).unbind(),
    })
}

/// (column, the class that it fits better), and whether most classes have an AUC below 1/2.
#[pyfunction]
pub fn check_column_order(
    py: Python<'_>,
    sample: SampleArgument<'_>,
    folds: Option<PyReadonlyArray1<'_, u32>>,
    shares: Option<PyReadonlyArray2<'_, f64>>,
) -> PyResult<(Vec<(usize, usize)>, bool)> {
    let view = sample.view()?;
    let (folds, shares) =
        (folds.as_ref().map(contiguous).transpose()?, shares.as_ref().map(|shares| square(shares)).transpose()?);
    if folds.is_some_and(|folds| folds.len() != view.rows()) {
        return Err(other_lengths());
    }
    let rows = OrderRows { codes: view.codes(), weights: view.weights(), groups: view.groups() };
    let found = run(py, view.rows(), |workers| match view.scores() {
        ScoresView::Double(scores) => multiauc::find_column_order(scores, rows, folds, shares, workers),
        ScoresView::Single(scores) => multiauc::find_column_order(scores, rows, folds, shares, workers),
    })?;
    Ok((found.better, found.most_below_half))
}

#[pyfunction]
pub fn interactions(
    py: Python<'_>,
    sample: SampleArgument<'_>,
    options: OptionsArgument<'_>,
) -> PyResult<Interactions> {
    let (view, options) = (sample.view()?, options.read()?);
    let found = compute!(py, view, 1, |sample, workers| multiauc::interactions(sample, options, workers))?;
    let pair = |interaction: multiauc::Interaction| (interaction.unbiased, interaction.bootstrap);
    Ok(Interactions {
        metrics: by_metric(py, found.metrics.into_iter().map(|(metric, found)| (metric, pair(found))))?,
        per_class: found.per_class.into_iter().map(pair).collect(),
    })
}

fn by_metric<'py, V: IntoPyObject<'py>>(
    py: Python<'py>,
    values: impl IntoIterator<Item = (Metric, V)>,
) -> PyResult<Py<PyDict>> {
    let dict = PyDict::new(py);
    for (metric, value) in values {
        dict.set_item(metric.name(), value)?;
    }
    Ok(dict.unbind())
}

/// What Python sees of several estimates.
pub fn estimates(py: Python<'_>, estimates: Vec<multiauc::Estimate>) -> PyResult<Vec<Py<Estimate>>> {
    estimates.into_iter().map(|found| estimate(py, found)).collect()
}

/// What Python sees of an estimate.
pub fn estimate(py: Python<'_>, found: multiauc::Estimate) -> PyResult<Py<Estimate>> {
    let multiauc::Estimate { value, variance, degrees_of_freedom, plug_in, cautious, worst } = found;
    let cautious = cautious.map(|found| (found.value, found.variance, found.degrees_of_freedom));
    let worst = worst.map(pair_of);
    Py::new(py, Estimate { value, variance, degrees_of_freedom, plug_in, cautious, worst })
}
