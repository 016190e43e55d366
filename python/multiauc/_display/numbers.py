"""From results to what is shown of them; a number that is not known becomes None."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc import _rust
from multiauc._common.registry import METRICS
from multiauc._common.wording import counted, names_as_text
from multiauc._curves.multiclass import THRESHOLDS
from multiauc._display import model as views
from multiauc._evaluation.slices import NUMBERS
from multiauc._inference.bootstrap import warn_of_lost_classes
from multiauc._inference.estimates import Estimate
from multiauc._inference.intervals import logit_interval, union
from multiauc._inference.pair_matrix import PairMatrix
from multiauc._input.options import positive_integer, read_level, read_rng
from multiauc.plotting._pair_matrix import scale_floor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from multiauc._costs.decisions import CostComparison, CostDecisions
    from multiauc._curves.multiclass import MulticlassRoc, MulticlassRocBootstrap
    from multiauc._curves.roc import RocCurve
    from multiauc._display.model import Number, Rows
    from multiauc._evaluation.comparison import Comparison
    from multiauc._evaluation.evaluation import Evaluation
    from multiauc._evaluation.slices import Slices
    from multiauc._inference.bootstrap import Bootstrap
    from multiauc._inference.intervals import ConfidenceInterval
    from multiauc._input.held_inputs import HeldInputs
    from multiauc.streaming.certified import CertifiedEvaluation

# A heat map of more classes than this could not be read; it shows those of the worst pairs.
HEAT_MAP_AT_MOST = 150
WORST_PAIRS = 20
# How differences are corrected for their number, for the heads of tables.
CORRECTION = "min-p"
# Digits of the limits of pairs; values are kept to the last bit.
LIMIT_DIGITS = 6
# Of values that are between bounds, because their rows were read in pieces.
BOUNDED_METHOD = "closed form, class sizes fixed; Wilson intervals with Student's t around both bounds"

TESTED = ("t", "degrees_of_freedom", "p_value", "corrected_p_value")
RESAMPLES = 200
# Below this many resamples quantiles say little, and the error of the standard error itself is allowed for.
QUANTILES_FROM = 100
# What a page may spend: rates fitted again, in all resamples of all models together (about 60 ns each on one core), and
# how many scores can be counted again in the time of one of them.
RATES_AT_MOST = 128_000_000
SCORES_PER_RATE = 25
FEWEST = 16

UNKNOWN = views.Estimate(None, None, None, None)


def view_estimate(estimate: Any, level: float) -> views.Estimate:
    """An estimate, a difference, or a value between bounds."""
    with warnings.catch_warnings():
        # Readers see a dash where there is no interval.
        warnings.simplefilter("ignore", RuntimeWarning)
        low, high = estimate.confidence_interval(level)
    shown = make_estimate(estimate.value, estimate.standard_error, low, high)
    if isinstance(estimate, Estimate) and estimate.low is not None:
        return replace(shown, bounds=_view_bounds(*estimate.bounds))
    return shown


def make_estimate(value: float, standard_error: float, low: float, high: float) -> views.Estimate:
    """The numbers as far as they are known."""
    return views.Estimate(
        views.as_number(value), views.as_number(standard_error), views.as_number(low), views.as_number(high)
    )


def replace_error(shown: views.Estimate, standard_error: float, limits: tuple[float, float]) -> views.Estimate:
    """The same value with another standard error and interval."""
    low, high = limits
    return replace(
        shown, standard_error=views.as_number(standard_error), low=views.as_number(low), high=views.as_number(high)
    )


def view_evaluation(evaluation: Evaluation, model: str, level: float, worst: int) -> views.Evaluation:
    """One model, with so many of the pairs that it separates worst."""
    return views.Evaluation(
        level=level,
        rows=int(evaluation.counts.sum()),
        labels=evaluation.labels,
        counts=tuple(evaluation.counts.tolist()),
        model=model,
        method=evaluation.method,
        metrics=view_metrics(evaluation, level),
        per_class=view_classes(evaluation, find_matrix(evaluation), level),
        worst_pairs=view_worst_pairs(evaluation, level, worst),
        pairs_of=next(iter(evaluation.matrices), None),
        notes=evaluation.notes,
        covariance=as_rows(evaluation.covariance),
    )


def view_resampled_evaluation(shown: views.Evaluation, bootstrap: Bootstrap) -> views.Evaluation:
    """The same with intervals of the bootstrap, where there are any."""
    resampled = {
        metric: replace_error(shown.metrics[metric], error, bootstrap.confidence_interval(metric, level=shown.level))
        for metric, error in zip(bootstrap.metrics, bootstrap.standard_error.tolist(), strict=True)
    }
    method = f"{counted(len(bootstrap.replicates), 'bootstrap sample')}; logit intervals"
    others = [METRICS[metric].title for metric in shown.metrics if metric not in resampled]
    if others:
        method += f"; {', '.join(others)}: {shown.method}"
    # The covariance is that of the closed form.
    return replace(shown, method=method, metrics={**shown.metrics, **resampled}, covariance=None)


def view_metrics(evaluation: Evaluation, level: float) -> dict[str, views.Estimate]:
    """The averages over classes."""
    return {metric: view_estimate(estimate, level) for metric, estimate in evaluation.metrics.items()}


def view_classes(
    evaluation: Evaluation | CertifiedEvaluation, matrix: PairMatrix | None, level: float
) -> tuple[views.Class, ...]:
    """Each class against the rest, in the order of the labels; empty where that was not evaluated."""
    per_class = getattr(evaluation, "per_class", None)
    if not per_class:
        return ()
    found = []
    for c, (label, rows) in enumerate(zip(evaluation.labels, evaluation.counts.tolist(), strict=True)):
        estimate = view_estimate(per_class[label], level) if label in per_class else UNKNOWN
        hardest, value = _find_hardest(matrix, c)
        found.append(views.Class(label=str(label), rows=rows, estimate=estimate, hardest=hardest, hardest_value=value))
    return tuple(found)


def find_matrix(evaluation: Evaluation) -> PairMatrix | None:
    """The pairs of the first metric that averages over pairs."""
    return next(iter(evaluation.matrices.values()), None)


def view_matrices(evaluation: Evaluation, classes: Sequence[int], level: float) -> dict[str, views.PairMatrix]:
    """Values and limits of the pairs of some classes, given by their positions, for each metric that has pairs."""
    shown = np.ix_(classes, classes)
    found = {}
    for metric, matrix in evaluation.matrices.items():
        low, high = (as_rows(_shorten(limit[shown])) for limit in matrix.confidence_intervals(level))
        found[metric] = views.PairMatrix(as_rows(matrix.values[shown]), low, high)
    return found


def view_worst_pairs(evaluation: Evaluation, level: float, n: int = WORST_PAIRS) -> tuple[views.Pair, ...]:
    """The pairs that are separated worst, the worst first."""
    pairs = view_pairs_of_models(evaluation, [evaluation], level, n)
    return tuple(views.Pair(pair.names, pair.models[0]) for pair in pairs)


def view_pairs_of_models(
    worst_of: Evaluation, evaluations: Sequence[Evaluation], level: float, n: int = WORST_PAIRS
) -> tuple[views.PairOfModels, ...]:
    """The pairs that one model separates worst, in all models; empty where pairs were not evaluated."""
    main = find_matrix(worst_of)
    if main is None:
        return ()
    matrices = [matrix for matrix in map(find_matrix, evaluations) if matrix is not None]
    limits = [matrix.confidence_intervals(level) for matrix in matrices]
    found = []
    for names, at in _list_worst(main, n):
        estimates = (
            views.PairEstimate(views.as_number(matrix.values[at]), views.as_number(low[at]), views.as_number(high[at]))
            for matrix, (low, high) in zip(matrices, limits, strict=True)
        )
        found.append(views.PairOfModels(names, tuple(estimates)))
    return tuple(found)


def _list_worst(matrix: PairMatrix, n: int) -> Iterator[tuple[views.PairNames, tuple[int, int]]]:
    """The pairs that are separated worst, and where they are in the matrix."""
    place = {label: k for k, label in enumerate(matrix.labels)}
    for first, second, _ in matrix.worst(n):
        c, d = place[first], place[second]
        yield views.PairNames(str(first), str(second), int(matrix.counts[c]), int(matrix.counts[d])), (c, d)


def view_bounded_evaluation(
    evaluation: CertifiedEvaluation, model: str, metrics: Sequence[str], level: float, worst: int
) -> views.Evaluation:
    """One model whose rows were read in pieces: values are exact or between bounds."""
    matrix: PairMatrix | None = None
    pairs: tuple[views.Pair, ...] = ()
    pairs_of = next(iter(evaluation.pair_bounds), None)
    if pairs_of is not None:
        low, high = evaluation.pair_bounds[pairs_of]
        matrix = PairMatrix((low + high) / 2, evaluation.labels, evaluation.counts, pairs_of)
        # There are no intervals of pairs.
        pairs = tuple(
            views.Pair(names, views.PairEstimate(float(matrix.values[at]), None, None, _view_bounds(low[at], high[at])))
            for names, at in _list_worst(matrix, worst)
        )
    return views.Evaluation(
        level=level,
        rows=int(evaluation.counts.sum()),
        labels=evaluation.labels,
        counts=tuple(evaluation.counts.tolist()),
        model=model,
        method=BOUNDED_METHOD,
        metrics={metric: view_estimate(evaluation.metrics[metric], level) for metric in metrics},
        per_class=view_classes(evaluation, matrix if evaluation.exact else None, level),
        worst_pairs=pairs,
        pairs_of=pairs_of,
        exact=evaluation.exact,
    )


def _view_bounds(low: float, high: float) -> views.Bounds:
    return views.Bounds(views.as_number(low), views.as_number(high), bool(low == high))


def view_comparison(comparison: Comparison, level: float) -> views.Comparison:
    """Each model, the models from best to worst, and every difference with its test."""
    names = names_as_text(comparison.estimates)
    values = dict(zip(names, (one.value for one in comparison.estimates.values()), strict=True))
    estimates = (view_estimate(one, level) for one in comparison.estimates.values())
    sign = METRICS[comparison.metric].sign
    return views.Comparison(
        metric=comparison.metric,
        estimates=dict(zip(names, estimates, strict=True)),
        order=tuple(sorted(values, key=lambda name: (math.isnan(values[name]), -sign * values[name]))),
        correction=CORRECTION,
        differences=_view_differences(comparison, level),
    )


def _view_differences(comparison: Comparison, level: float) -> tuple[views.Difference, ...]:
    """Every difference with its test, by itself and among the others."""
    pairs = combinations(names_as_text(comparison.estimates), 2)
    # A metric without a closed form has no differences.
    differences = comparison.differences
    together = comparison.simultaneous_intervals(level).values() if differences else []
    return tuple(
        views.Difference(
            first=first,
            second=second,
            estimate=view_estimate(one, level),
            **{name: views.as_number(getattr(one, name)) for name in TESTED},
            corrected_low=views.as_number(low),
            corrected_high=views.as_number(high),
            decided=bool(one.corrected_p_value < 1.0 - level),
        )
        for (first, second), one, (low, high) in zip(pairs, differences, together, strict=False)
    )


def view_slices(slices: Slices, level: float, at_most: int | None = None) -> views.Slices:
    """All slices, or so many of those that are most surely worse."""
    found = slices.to_dict(level)
    return views.Slices(
        metric=slices.metric,
        reference=slices.reference,
        by=tuple(slices.columns),
        count=len(slices),
        summary=slices.summary(level),
        overall=_read_estimate(found["overall"]),
        slices=tuple(map(_view_slice, found["slices"][:at_most])),
    )


def _view_slice(found: Mapping[str, Any]) -> views.Slice:
    return views.Slice(
        name=found["name"],
        slice=found["slice"],
        rows=found["rows"],
        estimate=_read_estimate(found),
        reason=found["reason"],
        **{name: views.as_number(found[name]) for name in NUMBERS[NUMBERS.index("reference") : -1]},
    )


def _read_estimate(found: Mapping[str, Any]) -> views.Estimate:
    """The estimate among the numbers of a result's `to_dict`."""
    return make_estimate(found["value"], found["standard_error"], found["low"], found["high"])


def view_decisions(decisions: CostDecisions, comparison: CostComparison, level: float) -> views.Decisions:
    """The rule, and what it costs on some rows beside plain rules."""
    found = comparison.to_dict(level)
    return views.Decisions(
        rule=decisions.rule,
        scale=decisions.scale,
        offsets=tuple(decisions.offsets.tolist()),
        cost_matrix=tuple(map(tuple, decisions.costs.tolist())),
        calibration_p_value=views.as_number(decisions.calibration_p_value),
        judged_rows=found["rows"],
        costs={rule: _read_estimate(one) for rule, one in found["costs"].items()},
        differences=tuple(
            views.CostDifference(
                first=one["first"],
                second=one["second"],
                estimate=_read_estimate(one),
                **{name: views.as_number(one[name]) for name in ("t", "degrees_of_freedom", "p_value")},
            )
            for one in found["differences"]
        ),
    )


def view_heat_map(evaluations: Sequence[Evaluation]) -> views.HeatMap | None:
    """What all heat maps of a page share; None if there are none."""
    matrices = [matrix for matrix in map(find_matrix, evaluations) if matrix is not None]
    if not matrices:
        return None
    kinds = [(metric, METRICS[metric].pairs) for metric in evaluations[0].matrices]
    floor = min(scale_floor(matrix.values) for matrix in matrices)
    shown = tuple(views.PairKind(metric, pairs) for metric, pairs in kinds if pairs is not None)
    return views.HeatMap(tuple(_choose_classes(matrices)), floor, shown)


def _choose_classes(matrices: Sequence[PairMatrix]) -> list[int]:
    """The classes of the heat map: all, or those of the worst pairs of any model."""
    n_classes = len(matrices[0].labels)
    if n_classes <= HEAT_MAP_AT_MOST:
        return list(range(n_classes))
    worst = np.full(n_classes, np.inf)
    for matrix in matrices:
        worst = np.fmin(worst, np.where(np.isnan(matrix.values), np.inf, matrix.values).min(axis=1))
    chosen: list[int] = np.sort(np.argsort(worst, kind="stable")[:HEAT_MAP_AT_MOST]).tolist()
    return chosen


def _shorten(limits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Limits with fewer digits; what is not 0 or 1 does not become it."""
    short = limits.round(LIMIT_DIGITS)
    return np.where((short == 0.0) | (short == 1.0), limits, short)


def as_rows(matrix: NDArray[np.float64]) -> Rows:
    """The entries of a matrix."""
    return tuple(tuple(map(views.as_number, row)) for row in matrix.tolist())


def _find_hardest(matrix: PairMatrix | None, c: int) -> tuple[str | None, Number]:
    """The class that is hardest to tell from class c, and how well it is told from it."""
    if matrix is None or np.isnan(matrix.values[c]).all():
        return None, None
    values = matrix.values[c]
    d = int(np.nanargmin(values))
    return str(matrix.labels[d]), float(values[d])


def choose_resamples(n_rows: int, n_classes: int, n_models: int) -> int:
    """How often the curves of a page are resampled: 200 times, less often where that would take minutes.

    The number depends on the sizes alone, so the same data give the same page.
    """
    rates = 2 * THRESHOLDS * n_classes * (n_classes - 1) + n_rows * n_classes / SCORES_PER_RATE
    return int(min(RESAMPLES, max(FEWEST, RATES_AT_MOST / (n_models * rates))))


def resample_curve(
    curve: MulticlassRoc, inputs: HeldInputs, n_resamples: int, rng: Any
) -> MulticlassRocBootstrap | None:
    """Fit the curve to resampled rows or groups, drawn as the sampling says; None if there is nothing to fit."""
    if not n_resamples or math.isnan(curve.auc):
        return None
    size = positive_integer("n_resamples", n_resamples)
    bootstrap = curve.resample(size, read_rng(rng), "rows", inputs.groups, inputs.sampling)
    warn_of_lost_classes(bootstrap.replicates[:, None], np.array([curve.auc]))
    return bootstrap


def view_curve(
    roc: MulticlassRoc | None, bootstrap: MulticlassRocBootstrap | None, level: float
) -> tuple[views.Curve, views.Estimate] | None:
    """The curve with its band, and its area with limits; None if there is no curve."""
    if roc is None or math.isnan(roc.auc):
        return None
    area = views.Estimate(roc.auc, None, None, None)
    band, n_resamples = None, 0
    if bootstrap is not None:
        n_resamples = _count_resamples(bootstrap)
        area = make_estimate(roc.auc, bootstrap.standard_error, *_limit_area(bootstrap, level))
        if n_resamples > 1:
            band = _view_band(*_limit_curve(roc, bootstrap, level), digits=5)
    curve = views.Curve(
        auc=roc.auc,
        fpr=tuple(roc.fpr.round(7).tolist()),
        tpr=tuple(roc.tpr.round(7).tolist()),
        band=band,
        n_resamples=n_resamples,
        monte_carlo_error=_monte_carlo_error(n_resamples),
    )
    return curve, area


def _count_resamples(bootstrap: MulticlassRocBootstrap) -> int:
    """How many resamples there are; those that drew no row of some class do not count."""
    return int(np.count_nonzero(~np.isnan(bootstrap.replicates)))


def _monte_carlo_error(n_resamples: int) -> float | None:
    """How far a standard error from so many resamples is off, relative to itself; None where there is none."""
    return None if n_resamples < 2 else 1.0 / math.sqrt(2.0 * (n_resamples - 1))


def _limit_area(bootstrap: MulticlassRocBootstrap, level: float) -> ConfidenceInterval:
    """The limits of the area; from few resamples with Student's t, which allows for their number."""
    with warnings.catch_warnings():
        # The page shows a dash where there is no interval.
        warnings.simplefilter("ignore", RuntimeWarning)
        found = bootstrap.confidence_interval(level)
    size, value, error = _count_resamples(bootstrap), bootstrap.estimate, bootstrap.standard_error
    if size >= QUANTILES_FROM or math.isnan(found.low) or not (0.0 < value < 1.0 and error > 0.0):
        return found
    return union(found, logit_interval(value, error, _rust.student_upper_quantile(read_level(level), size - 1.0)))


def _limit_curve(
    roc: MulticlassRoc, bootstrap: MulticlassRocBootstrap, level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Limits of the curve, point by point: quantiles of the resampled curves, or t times their standard deviation."""
    found = bootstrap.band(level)
    size = _count_resamples(bootstrap)
    if size >= QUANTILES_FROM:
        return found.fpr, found.low, found.high
    spread = bootstrap.heights[~np.isnan(bootstrap.replicates)].std(axis=0, ddof=1)
    reach = _rust.student_upper_quantile(read_level(level), size - 1.0) * spread
    middle = np.interp(found.fpr, roc.fpr, roc.tpr)
    return found.fpr, np.maximum(middle - reach, 0.0), np.minimum(middle + reach, 1.0)


def _view_band(
    fpr: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64], digits: int | None = None
) -> views.Band:
    edges = (fpr, low, high) if digits is None else (edge.round(digits) for edge in (fpr, low, high))
    return views.Band(*(tuple(edge.tolist()) for edge in edges))


def view_multiclass_roc(
    curve: MulticlassRoc, bootstrap: MulticlassRocBootstrap | None, model: str, level: float, sizes: Mapping[str, int]
) -> views.MulticlassRoc:
    """The one curve of all pairs, with an interval and a band if it was resampled; `sizes` are those of the classes."""
    low = high = error = math.nan
    band = None
    if bootstrap is not None:
        low, high = bootstrap.confidence_interval(level)
        error, found = bootstrap.standard_error, bootstrap.band(level)
        band = _view_band(found.fpr, found.low, found.high)
    return views.MulticlassRoc(
        level=level,
        rows=sum(sizes.values()),
        labels=tuple(sizes),
        counts=tuple(sizes.values()),
        model=model,
        area=views.as_number(curve.auc),
        standard_error=views.as_number(error),
        low=views.as_number(low),
        high=views.as_number(high),
        fpr=tuple(curve.fpr.tolist()),
        tpr=tuple(curve.tpr.tolist()),
        deviance=views.as_number(curve.deviance),
        converged=curve.converged,
        band=band,
    )


def view_roc_curves(curves: Iterable[RocCurve], model: str, level: float, sizes: Mapping[str, int]) -> views.RocCurves:
    """The curves of classes or pairs; `sizes` are those of the classes."""
    shown = tuple(
        views.RocCurve(
            positive=curve.positive,
            against=curve.negative,
            area=views.as_number(curve.auc),
            fpr=tuple(curve.fpr.tolist()),
            tpr=tuple(curve.tpr.tolist()),
            thresholds=tuple(curve.thresholds.tolist()),
        )
        for curve in curves
    )
    return views.RocCurves(
        level=level,
        rows=sum(sizes.values()),
        labels=tuple(sizes),
        counts=tuple(sizes.values()),
        model=model,
        curves=shown,
    )
