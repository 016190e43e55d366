//! Times of the kernels, without Python: whole metrics by size, dtype, threads and shape, and the steps before them.

use std::hint::black_box;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use multiauc::{
    Cancel, OneVsRestAverage, PairWeights, Score, Workers, auc_mu, code_integers, hand_till, num_threads, one_vs_rest,
};
use multiauc_benches::{Data, Shape};

const SIZES: [(usize, usize); 4] = [(10_000, 10), (100_000, 10), (1_000_000, 3), (100_000, 100)];

/// The three metrics on one sample; time per element is time per score.
fn bench_metrics<T: Score>(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, data: &Data<T>, threads: usize) {
    let cancel = Cancel::new();
    let workers = Workers::with_threads(threads, &cancel);
    let sample = data.sample(&workers).expect("every class has rows");
    group.throughput(Throughput::Elements(data.scores.len() as u64));
    group.bench_function(BenchmarkId::new("auc_mu", name), |bencher| {
        bencher.iter(|| auc_mu(black_box(&sample), None, PairWeights::Equal, &workers));
    });
    group.bench_function(BenchmarkId::new("hand_till", name), |bencher| {
        bencher.iter(|| hand_till(black_box(&sample), PairWeights::Equal, &workers));
    });
    group.bench_function(BenchmarkId::new("one_vs_rest", name), |bencher| {
        bencher.iter(|| one_vs_rest(black_box(&sample), OneVsRestAverage::Macro, &workers));
    });
}

fn sizes(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("sizes");
    for (rows, classes) in SIZES {
        let doubles = Data::new(rows, classes, Shape::Smooth, |score| score);
        let singles = Data::new(rows, classes, Shape::Smooth, |score| score as f32);
        bench_metrics(&mut group, &format!("{rows}x{classes}/f64/1 thread"), &doubles, 1);
        bench_metrics(&mut group, &format!("{rows}x{classes}/f32/1 thread"), &singles, 1);
        let threads = num_threads();
        if threads > 1 {
            bench_metrics(&mut group, &format!("{rows}x{classes}/f64/{threads} threads"), &doubles, threads);
        }
    }
}

fn shapes(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("shapes");
    for shape in [Shape::Smooth, Shape::Tied, Shape::Saturated, Shape::Clustered] {
        let data = Data::new(100_000, 10, shape, |score| score);
        bench_metrics(&mut group, &format!("{shape:?}"), &data, 1);
    }
}

fn steps(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("steps");
    let data = Data::new(1_000_000, 10, Shape::Smooth, |score| score);
    let cancel = Cancel::new();
    let workers = Workers::with_threads(1, &cancel);
    group.throughput(Throughput::Elements(data.labels.len() as u64));
    group.bench_function("code_integers", |bencher| {
        bencher.iter(|| code_integers(black_box(&data.labels), 1 << 16, &workers));
    });
    group.throughput(Throughput::Elements(data.scores.len() as u64));
    group.bench_function("validate", |bencher| {
        bencher.iter(|| black_box(&data).sample(&workers).map(|sample| sample.rows()));
    });
}

fn settings() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .without_plots()
}

criterion_group! { name = kernels; config = settings(); targets = sizes, shapes, steps }
criterion_main!(kernels);
