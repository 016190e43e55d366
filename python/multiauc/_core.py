"""A stand-in for the next compiled boundary, on the present one: the same names and signatures. To be deleted."""

from __future__ import annotations

# ruff: noqa: FBT001, SLF001, D
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc import _rust
from multiauc._registry import AUC_MU, HAND_TILL, ONE_VS_REST, ONE_VS_REST_PREVALENCE
from multiauc._rust import (
    RocModel,
    __version__,
    class_sizes,
    code_bytes,
    code_integers,
    debug_build,
    get_num_threads,
    set_num_threads,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "Compared",
    "Estimate",
    "Evaluated",
    "Interactions",
    "PairTable",
    "Resampler",
    "RocModel",
    "__version__",
    "class_sizes",
    "code_bytes",
    "code_integers",
    "compare",
    "debug_build",
    "evaluate",
    "get_num_threads",
    "influences",
    "interactions",
    "multiclass_roc",
    "one_vs_rest",
    "one_vs_rest_per_class",
    "pair_matrix",
    "pair_variances",
    "partial_aucs",
    "roc_curve_points",
    "score",
    "set_num_threads",
]

Sample = tuple[Any, Any, Any, Any]
Options = dict[str, Any]
Curves = list[tuple[int, int | None]]

ORDER = (AUC_MU, HAND_TILL, ONE_VS_REST, ONE_VS_REST_PREVALENCE)


def _has_one_score(sample: Sample) -> bool:
    return bool(sample[0].shape[1] == 1)


def _n_classes(sample: Sample) -> int:
    return 2 if _has_one_score(sample) else int(sample[0].shape[1])


def _two_columns(sample: Sample) -> Sample:
    scores, *rest = sample
    return (np.concatenate([-scores, scores], axis=1) if scores.shape[1] == 1 else scores, *rest)


def _partition(sample: Sample, options: Options) -> NDArray[np.float64] | None:
    partition: NDArray[np.float64] | None = options.get("partition")
    if partition is None or not _has_one_score(sample):
        return partition
    (a, b), (c, d) = partition.tolist()
    return np.zeros((2, 2)) if a - b - c + d == 0.0 else None


def _one_score(sample: Sample, options: Options) -> float:
    scores, codes, weights, _ = sample
    auc = _rust.binary_auc(scores[:, 0], codes, weights)
    return auc if _partition(sample, options) is None else 0.5


def score(sample: Sample, metric: str, options: Options) -> float:
    scores, codes, weights, _ = sample
    if _has_one_score(sample):
        return _one_score(sample, options if metric == AUC_MU else {})
    if metric == AUC_MU:
        return _rust.auc_mu(scores, codes, weights, options.get("partition"), options.get("pair_weights"))
    if metric == HAND_TILL:
        return _rust.hand_till(scores, codes, weights, options.get("pair_weights"))
    return _rust.one_vs_rest(
        scores, codes, weights, {ONE_VS_REST: "macro", ONE_VS_REST_PREVALENCE: "prevalence"}[metric]
    )


def pair_matrix(sample: Sample, metric: str, options: Options) -> NDArray[np.float64]:
    scores, codes, weights, _ = sample
    if _has_one_score(sample):
        auc = _one_score(sample, options if metric == AUC_MU else {})
        return np.array([[np.nan, auc], [auc, np.nan]])
    if metric == AUC_MU:
        return _rust.auc_mu_matrix(scores, codes, weights, options.get("partition"))
    return _rust.hand_till_matrix(scores, codes, weights)


def pair_variances(sample: Sample, metric: str, options: Options) -> NDArray[np.float64]:
    if metric == AUC_MU:
        return _rust.auc_mu_variances(_two_columns(sample), _partition(sample, options))
    return _rust.hand_till_variances(_two_columns(sample))


def one_vs_rest(sample: Sample, average: str) -> float:
    scores, codes, weights, _ = sample
    return _one_score(sample, {}) if _has_one_score(sample) else _rust.one_vs_rest(scores, codes, weights, average)


def one_vs_rest_per_class(sample: Sample) -> NDArray[np.float64]:
    scores, codes, weights, _ = sample
    if _has_one_score(sample):
        return np.full(2, _one_score(sample, {}))
    return _rust.one_vs_rest_per_class(scores, codes, weights)


def roc_curve_points(
    sample: Sample, curves: Curves, drop_intermediate: bool
) -> list[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]]:
    scores, codes, weights, _ = _two_columns(sample)
    return _rust.roc_curve_points(scores, codes, weights, curves, drop_intermediate)


def partial_aucs(sample: Sample, curves: Curves, region: str, rate: float) -> tuple[list[float], float, float]:
    scores, codes, weights, _ = sample
    return _rust.partial_aucs(scores, codes, weights, _n_classes(sample), curves, region, rate)


@dataclass(frozen=True, slots=True)
class Estimate:
    value: float
    variance: float
    degrees_of_freedom: float
    plug_in: float


def _estimates(rows: NDArray[np.float64]) -> list[Estimate]:
    return [Estimate(*row) for row in rows.tolist()]


@dataclass(frozen=True, slots=True)
class PairTable:
    values: NDArray[np.float64]
    variances: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Evaluated:
    estimates: dict[str, Estimate]
    covariance: NDArray[np.float64]
    per_class: list[Estimate]
    pairs: dict[str, PairTable]
    units: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Compared:
    estimates: list[Estimate]
    covariance: NDArray[np.float64]
    differences: list[Estimate]
    units: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Interactions:
    metrics: dict[str, tuple[float, float]]
    per_class: list[tuple[float, float]]


def _places(metrics: list[str]) -> list[int]:
    return [ORDER.index(metric) for metric in metrics]


def evaluate(sample: Sample, metrics: list[str], options: Options, is_iid: bool) -> Evaluated:
    found = _rust.evaluate(_two_columns(sample), _partition(sample, options), options.get("pair_weights"), is_iid)
    places = _places(metrics)
    tables = {
        AUC_MU: PairTable(found.auc_mu_values, found.auc_mu_variances),
        HAND_TILL: PairTable(found.hand_till_values, found.hand_till_variances),
    }
    has_classes = {ONE_VS_REST, ONE_VS_REST_PREVALENCE} & set(metrics)
    return Evaluated(
        dict(zip(metrics, _estimates(found.estimates[places]), strict=True)),
        found.covariance[np.ix_(places, places)],
        _estimates(found.per_class) if has_classes else [],
        {metric: tables[metric] for metric in metrics if metric in tables},
        found.units,
    )


def influences(sample: Sample, metrics: list[str], options: Options) -> NDArray[np.float64]:
    found = _rust.influences(_two_columns(sample), _partition(sample, options), options.get("pair_weights"))
    return found if metrics == list(ORDER) else np.ascontiguousarray(found[:, _places(metrics)])


def compare(samples: list[Sample], metric: str, options: Options, is_iid: bool) -> Compared:
    partition = _partition(samples[0], options)
    columns = list(map(_two_columns, samples))
    found = _rust.compare(columns, partition, options.get("pair_weights"), is_iid, metric)
    estimates, covariance, differences, units = found
    return Compared(_estimates(estimates), covariance, _estimates(differences), units)


def interactions(sample: Sample, metrics: list[str], options: Options) -> Interactions:
    found = _rust.interactions(_two_columns(sample), _partition(sample, options), options.get("pair_weights"))
    pairs: list[Any] = found.T.tolist()
    return Interactions(
        {metric: tuple(pairs[ORDER.index(metric)]) for metric in metrics},
        [tuple(pair) for pair in pairs[len(ORDER) :]],
    )


def multiclass_roc(sample: Sample, options: Options) -> RocModel:
    scores, codes, weights, _ = sample
    return _rust.multiclass_roc(scores, codes, weights, **options)


class Resampler:
    def __init__(
        self, samples: list[Sample], metrics: list[str], options: Options, sampling: str, memory_limit: int
    ) -> None:
        _, codes, weights, groups = samples[0]
        self._inner = _rust.Resampler(
            [_two_columns(sample)[0] for sample in samples],
            codes,
            weights,
            _n_classes(samples[0]),
            sampling,
            groups,
            metrics,
            _partition(samples[0], options),
            options.get("pair_weights"),
            memory_limit,
        )

    @staticmethod
    def of_curves(
        sample: Sample, curves: Curves, region: str, rate: float, sampling: str, memory_limit: int
    ) -> Resampler:
        scores, codes, weights, groups = sample
        made = Resampler.__new__(Resampler)
        made._inner = _rust.Resampler.of_curves(
            [scores], codes, weights, _n_classes(sample), sampling, groups, curves, region, rate, memory_limit
        )
        return made

    @property
    def is_kept(self) -> bool:
        return self._inner.is_kept

    @property
    def block(self) -> int:
        return self._inner.block

    def replicates(self, seed: int, first: int, count: int) -> NDArray[np.float64]:
        return self._inner.replicates(seed, first, count)

    def given(self, multiplicities: NDArray[np.uint8]) -> NDArray[np.float64]:
        return self._inner.given(multiplicities)

    def multiplicities(self, seed: int, first: int, count: int) -> NDArray[np.uint8]:
        return self._inner.multiplicities(seed, first, count)
