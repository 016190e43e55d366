//! The bootstrap: orders that Python keeps, or the arrays they are made from, and replicates of them. The stub
//! describes what the methods return.

use multiauc::{CurveSides, KeptOrders, Orders, PairWeights, Result, Workers, num_threads};
use numpy::PyArray2;
use pyo3::prelude::*;

use crate::arrays::{Matrix, rectangle};
use crate::options::{MetricOptions, OptionsArgument, metrics_named, region_named};
use crate::running::run;
use crate::sample::{AnySample, Sample, SampleArgument, SampleView, with_sample};

type Bytes<'py> = Bound<'py, PyArray2<u8>>;

/// Replicates of metrics of one or more models scored on the same rows.
#[pyclass(frozen, module = "multiauc._rust")]
pub struct Resampler {
    core: multiauc::Resampler,
    /// The caller's samples and options, in case the orders have to be made again.
    samples: Vec<Py<Sample>>,
    options: Option<Py<MetricOptions>>,
    rows: usize,
    /// Orders of the models, if they fit the memory allowed for them.
    kept: Option<Vec<KeptOrders>>,
}

#[pymethods]
impl Resampler {
    #[new]
    #[pyo3(signature = (samples, metrics, memory_limit, options=None))]
    fn new(
        py: Python<'_>,
        samples: Vec<Py<Sample>>,
        metrics: Vec<String>,
        memory_limit: usize,
        options: Option<Py<MetricOptions>>,
    ) -> PyResult<Self> {
        let metrics = metrics_named(&metrics)?;
        Self::build(py, samples, options, memory_limit, |view, sample| {
            with_sample!(sample, |sample| multiauc::Resampler::new(sample, view.sampling(), &metrics))
        })
    }

    #[staticmethod]
    fn of_curves(
        py: Python<'_>,
        sample: Py<Sample>,
        curves: Vec<CurveSides>,
        region: &str,
        rate: f64,
        memory_limit: usize,
    ) -> PyResult<Self> {
        let region = region_named(region)?(rate);
        Self::build(py, vec![sample], None, memory_limit, |view, sample| {
            with_sample!(sample, |sample| multiauc::Resampler::of_curves(sample, view.sampling(), &curves, region))
        })
    }

    #[getter]
    fn block(&self) -> usize {
        self.core.block(self.kept.is_some(), num_threads())
    }

    fn replicates<'py>(&self, py: Python<'py>, seed: u64, first: u32, count: u32) -> PyResult<Matrix<'py>> {
        self.evaluate(py, count as usize, |models, pair_weights, workers| {
            self.core.replicates(models, pair_weights, (seed, first, count), workers)
        })
    }

    fn multiplicities<'py>(&self, py: Python<'py>, seed: u64, first: u32, count: u32) -> PyResult<Bytes<'py>> {
        let all = (0..count).flat_map(|index| self.core.multiplicities(seed, first.wrapping_add(index)));
        rectangle(py, all.collect(), self.rows)
    }
}

impl Resampler {
    fn build(
        py: Python<'_>,
        samples: Vec<Py<Sample>>,
        options: Option<Py<MetricOptions>>,
        memory_limit: usize,
        make: impl Fn(&SampleView<'_>, &AnySample<'_>) -> Result<multiauc::Resampler> + Send + Sync,
    ) -> PyResult<Self> {
        let (core, rows, kept) = on_samples(py, &samples, options.as_ref(), 10, |views, partition, _, workers| {
            let checked = views.iter().map(|view| view.check(workers)).collect::<Result<Vec<_>>>()?;
            let core = make(&views[0], &checked[0])?;
            let fits = core.most_bytes().saturating_mul(checked.len()) <= memory_limit;
            // Made even where they are not kept: a partition that does not fit the scores is refused now.
            let orders = orders(&core, &checked, partition, workers)?;
            let keep = || orders.iter().map(|orders| core.keep(&**orders, workers)).collect::<Result<Vec<_>>>();
            let kept = fits.then(keep).transpose()?;
            drop(orders);
            Ok((core, views[0].rows(), kept))
        })?;
        Ok(Self { core, samples, options, rows, kept })
    }

    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        count: usize,
        call: impl Fn(&[&dyn Orders], PairWeights<'_>, &Workers<'_>) -> Result<Vec<f64>> + Send + Sync,
    ) -> PyResult<Matrix<'py>> {
        // The orders have about as many rows as the sample has cells.
        let values =
            on_samples(py, &self.samples, self.options.as_ref(), count, |views, partition, pair_weights, workers| {
                if let Some(kept) = &self.kept {
                    let models: Vec<&dyn Orders> = kept.iter().map(|orders| orders as &dyn Orders).collect();
                    return call(&models, pair_weights, workers);
                }
                let checked = views.iter().map(|view| view.check(workers)).collect::<Result<Vec<_>>>()?;
                let made = orders(&self.core, &checked, partition, workers)?;
                let models: Vec<&dyn Orders> = made.iter().map(|orders| &**orders).collect();
                call(&models, pair_weights, workers)
            })?;
        let columns = values.len() / count.max(1);
        rectangle(py, values, columns)
    }
}

/// Runs `work(samples, partition, pair weights, workers)`; each cell costs as much as counting `factor` of them.
fn on_samples<R: Send>(
    py: Python<'_>,
    samples: &[Py<Sample>],
    options: Option<&Py<MetricOptions>>,
    factor: usize,
    work: impl FnOnce(&[SampleView<'_>], Option<&[f64]>, PairWeights<'_>, &Workers<'_>) -> Result<R> + Send,
) -> PyResult<R> {
    let borrowed = samples.iter().map(|sample| sample.get().borrow(py)).collect::<PyResult<Vec<_>>>()?;
    let views = borrowed.iter().map(SampleArgument::view).collect::<PyResult<Vec<_>>>()?;
    let options = options.map_or(Ok(OptionsArgument::DEFAULT), |options| options.get().borrow(py))?;
    let options = options.read()?;
    let cost = views.iter().map(SampleView::cost).sum::<usize>().saturating_mul(factor);
    run(py, cost, |workers| work(&views, options.partition, options.pair_weights, workers))
}

fn orders<'s>(
    core: &'s multiauc::Resampler,
    samples: &'s [AnySample<'_>],
    partition: Option<&'s [f64]>,
    workers: &Workers<'_>,
) -> Result<Vec<Box<dyn Orders + 's>>> {
    let of_sample = |sample: &'s AnySample<'_>| -> Result<Box<dyn Orders + 's>> {
        Ok(with_sample!(sample, |sample| Box::new(core.orders(sample, partition, workers)?)))
    };
    samples.iter().map(of_sample).collect()
}
