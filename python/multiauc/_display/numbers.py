"""From results to what is shown of them; a number that is not known becomes None."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from multiauc import _rust
from multiauc._common.registry import METRICS
from multiauc._common.wording import names_as_text, pluralize
from multiauc._curves.multiclass import THRESHOLDS
from multiauc._display import model as views
from multiauc._inference import bootstrap as resampling
from multiauc._inference import intervals
from multiauc._inference.pair_matrix import PairMatrix
from multiauc._input import options
from multiauc.plotting._matrices import scale_floor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    import multiauc
    from multiauc._display.model import Number
    from multiauc.streaming import BoundedEvaluation

View = TypeVar("View")

# A heat map of more classes than this could not be read; it shows those of the worst pairs.
HEAT_MAP_AT_MOST = 150
WORST_PAIRS = 20
# A confusion matrix of more classes has those with the most errors.
CONFUSED_AT_MOST = 40
# How differences are corrected for their number, for the heads of tables.
CORRECTION = "min-p"
# Digits of the limits of pairs; values are kept to the last bit.
LIMIT_DIGITS = 6
# Of values that are between bounds, because their rows were read in pieces.
BOUNDED_METHOD = "analytic standard errors, class sizes fixed; Wilson intervals with Student's t around both bounds"

RESAMPLES = 200
# Below this many resamples quantiles say little, and the error of the standard error itself is allowed for.
QUANTILES_FROM = 100
# What a page may spend: rates fitted again, in all resamples of all models together (about 60 ns each on one core), and
# how many scores can be counted again in the time of one of them.
RATES_AT_MOST = 128_000_000
SCORES_PER_RATE = 25
FEWEST = 16

UNKNOWN = views.Estimate(None, None, None, None)


def fill(view: type[View], found: Any, **given: Any) -> View:
    """A view with what a result, or its `to_dict`, has under the names of the fields; `given` are the others."""
    has, get = (dict.__contains__, dict.__getitem__) if isinstance(found, dict) else (hasattr, getattr)
    names = [one.name for one in fields(view) if one.name not in given]  # type: ignore[arg-type]
    return view(**{name: freeze(get(found, name)) for name in names if has(found, name)}, **given)


def freeze(value: Any) -> Any:
    """Arrays as tuples, and None for numbers that are not known."""
    value = value.tolist() if isinstance(value, np.ndarray) else value
    if isinstance(value, list):
        return tuple(map(freeze, value))
    return views.as_number(value) if isinstance(value, float) else value


def describe_rows(level: float, sizes: Mapping[Any, int]) -> dict[str, Any]:
    """What all documents begin with; `sizes` are the rows of each class."""
    return {"level": level, "rows": sum(sizes.values()), "labels": tuple(sizes), "counts": tuple(sizes.values())}


def _sizes(
    result: multiauc.Evaluation | multiauc.Comparison | BoundedEvaluation | multiauc.RunsEvaluation,
) -> dict[Any, int]:
    return dict(zip(result.labels, result.counts.tolist(), strict=True))


def view_estimate(estimate: Any, level: float) -> views.Estimate:
    """An estimate, a difference, or a value between bounds."""
    low, high = map(views.as_number, views.find_limits(estimate.confidence_interval, level))
    has_bounds = getattr(estimate, "low", None) is not None
    bounds = _view_bounds(*estimate.bounds) if has_bounds else None
    return fill(views.Estimate, estimate, low=low, high=high, bounds=bounds)


def replace_error(shown: views.Estimate, standard_error: float, limits: tuple[float, float]) -> views.Estimate:
    """The same value with another standard error and interval."""
    error, low, high = map(views.as_number, (standard_error, *limits))
    return replace(shown, standard_error=error, low=low, high=high)


def replace_errors(
    shown: Mapping[str, views.Estimate], bootstrap: resampling.Bootstrap, level: float
) -> dict[str, views.Estimate]:
    """The values that a bootstrap is about, with its standard errors and intervals."""
    errors = zip(bootstrap.metrics, bootstrap.standard_error.tolist(), strict=True)
    return {name: replace_error(shown[name], one, bootstrap.confidence_interval(name, level)) for name, one in errors}


def view_evaluation(evaluation: multiauc.Evaluation, model: str, level: float, worst: int) -> views.Evaluation:
    """One model, with so many of the pairs that it separates worst."""
    return fill(
        views.Evaluation,
        evaluation,
        **describe_rows(level, _sizes(evaluation)),
        model=model,
        metrics=view_metrics(evaluation, level),
        per_class=view_classes(evaluation, find_matrix(evaluation), level),
        worst_pairs=view_worst_pairs(evaluation, level, worst),
        pairs_of=next(iter(evaluation.matrices), None),
        slices=None,
    )


def view_runs(runs: multiauc.RunsEvaluation, model: str, level: float) -> views.Runs:
    """Several runs of one model."""
    metrics = {metric: fill(views.RunsEstimate, one.to_dict(level)) for metric, one in runs.metrics.items()}
    first = next(iter(runs.metrics.values()))
    helps = (f"{first.name}: {first.what_helps()}.",) if runs.n_runs > 1 else ()
    return fill(views.Runs, runs, **describe_rows(level, _sizes(runs)), model=model, metrics=metrics, helps=helps)


def view_resampled_evaluation(shown: views.Evaluation, bootstrap: resampling.Bootstrap) -> views.Evaluation:
    """The same with intervals of the bootstrap, where there are any."""
    resampled = replace_errors(shown.metrics, bootstrap, shown.level)
    method = f"{pluralize(len(bootstrap.replicates), 'bootstrap sample')}; logit intervals"
    others = [METRICS[metric].title for metric in shown.metrics if metric not in resampled]
    if others:
        method += f"; {', '.join(others)}: {shown.method}"
    # The covariance is the analytic one.
    return replace(shown, method=method, metrics={**shown.metrics, **resampled}, covariance=None)


def view_metrics(evaluation: multiauc.Evaluation | BoundedEvaluation, level: float) -> dict[str, views.Estimate]:
    """The averages over classes."""
    return {metric: view_estimate(estimate, level) for metric, estimate in evaluation.metrics.items()}


def view_classes(
    evaluation: multiauc.Evaluation | BoundedEvaluation, matrix: PairMatrix | None, level: float
) -> tuple[views.Class, ...]:
    """Each class against the rest, in the order of the labels; empty where that was not evaluated."""
    per_class = getattr(evaluation, "per_class", None)
    if not per_class:
        return ()
    found = []
    for c, (label, rows) in enumerate(_sizes(evaluation).items()):
        estimate = view_estimate(per_class[label], level) if label in per_class else UNKNOWN
        hardest: tuple[str | None, Number] = None, None
        if matrix is not None and not np.isnan(matrix.values[c]).all():
            d = int(np.nanargmin(matrix.values[c]))
            hardest = str(matrix.labels[d]), float(matrix.values[c, d])
        found.append(views.Class(str(label), rows, estimate, *hardest))
    return tuple(found)


def find_matrix(evaluation: multiauc.Evaluation) -> PairMatrix | None:
    """The pairs of the first metric that averages over pairs."""
    return next(iter(evaluation.matrices.values()), None)


def view_matrices(evaluation: multiauc.Evaluation, classes: Sequence[int], level: float) -> dict[str, views.PairMatrix]:
    """Values and limits of the pairs of some classes, given by their positions, for each metric that has pairs."""
    shown = np.ix_(classes, classes)
    found = {}
    for metric, matrix in evaluation.matrices.items():
        limits = [limit[shown] for limit in matrix.confidence_intervals(level)]
        found[metric] = views.PairMatrix(*map(freeze, (matrix.values[shown], *map(_shorten, limits))))
    return found


def view_worst_pairs(evaluation: multiauc.Evaluation, level: float, n: int = WORST_PAIRS) -> tuple[views.Pair, ...]:
    """The pairs that are separated worst, the worst first."""
    pairs = view_pairs_of_models(evaluation, [evaluation], level, n)
    return tuple(fill(views.Pair, pair, estimate=pair.models[0]) for pair in pairs)


def view_pairs_of_models(
    worst_of: multiauc.Evaluation, evaluations: Sequence[multiauc.Evaluation], level: float, n: int = WORST_PAIRS
) -> tuple[views.PairOfModels, ...]:
    """The pairs that one model separates worst, in all models; empty where pairs were not evaluated."""
    main = find_matrix(worst_of)
    if main is None:
        return ()
    matrices = [matrix for matrix in map(find_matrix, evaluations) if matrix is not None]
    numbers = [(matrix.values, *matrix.confidence_intervals(level)) for matrix in matrices]

    def view(at: tuple[int, int]) -> tuple[views.PairEstimate, ...]:
        limited = ([views.as_number(part[at]) for part in parts] for parts in numbers)
        return tuple(views.PairEstimate(value, low, high) for value, low, high in limited)

    return tuple(views.PairOfModels(*names, view(at)) for names, at in _list_worst(main, n))


def _list_worst(matrix: PairMatrix, n: int) -> Iterator[tuple[tuple[str, str, int, int], tuple[int, int]]]:
    """The pairs that are separated worst with the rows of both, and where they are in the matrix."""
    place = {label: k for k, label in enumerate(matrix.labels)}
    for first, second, _ in matrix.worst(n):
        c, d = place[first], place[second]
        yield (str(first), str(second), int(matrix.counts[c]), int(matrix.counts[d])), (c, d)


def view_bounded_evaluation(evaluation: BoundedEvaluation, model: str, level: float, worst: int) -> views.Evaluation:
    """One model whose rows were read in pieces: values are exact or between bounds."""
    matrix: PairMatrix | None = None
    pairs: tuple[views.Pair, ...] = ()
    pairs_of = next(iter(evaluation.pair_bounds), None)
    if pairs_of is not None:
        low, high = evaluation.pair_bounds[pairs_of]
        matrix = PairMatrix((low + high) / 2, evaluation.labels, evaluation.counts, pairs_of)
        # There are no intervals of pairs.
        pairs = tuple(
            views.Pair(
                *names, views.PairEstimate(float(matrix.values[at]), None, None, _view_bounds(low[at], high[at]))
            )
            for names, at in _list_worst(matrix, worst)
        )
    return views.Evaluation(
        **describe_rows(level, _sizes(evaluation)),
        model=model,
        method=BOUNDED_METHOD,
        metrics=view_metrics(evaluation, level),
        per_class=view_classes(evaluation, matrix if evaluation.exact else None, level),
        worst_pairs=pairs,
        pairs_of=pairs_of,
        exact=evaluation.exact,
    )


def _view_bounds(low: float, high: float) -> views.Bounds:
    return views.Bounds(views.as_number(low), views.as_number(high), bool(low == high))


def view_comparison(comparison: multiauc.Comparison | multiauc.RunsComparison, level: float) -> views.Comparison:
    """Each model, the models from best to worst, and every difference with its test."""
    names = names_as_text(comparison.estimates)
    estimates = dict(zip(names, comparison.estimates.values(), strict=True))
    sign = METRICS[comparison.metric].sign
    # A metric without analytic standard errors has no differences, and means over runs have no simultaneous intervals.
    joint = getattr(comparison, "simultaneous_intervals", None)
    together: Iterable[tuple[float, float]] = [(math.nan, math.nan)] * len(comparison.differences)
    if joint is not None and comparison.differences:
        together = joint(level).values()
    elif len(comparison.differences) == 1:
        together = [comparison.differences[0].confidence_interval(level)]
    return views.Comparison(
        metric=comparison.metric,
        estimates={name: view_estimate(one, level) for name, one in estimates.items()},
        order=tuple(sorted(names, key=lambda name: (math.isnan(estimates[name].value), -sign * estimates[name].value))),
        correction="Holm" if joint is None else CORRECTION,
        differences=tuple(
            view_difference(one, pair, level, limits, one.corrected_p_value)
            for pair, one, limits in zip(combinations(names, 2), comparison.differences, together, strict=False)
        ),
    )


def view_difference(
    one: Any, pair: tuple[str, str], level: float, limits: tuple[float, float], corrected: float, **given: Any
) -> views.Difference:
    """A difference with its test, by itself and, with `limits` and the p-value `corrected`, among the others."""
    low, high, p_value = map(views.as_number, (*limits, corrected))
    return fill(
        views.Difference,
        one,
        first=pair[0],
        second=pair[1],
        estimate=view_estimate(one, level),
        corrected_low=low,
        corrected_high=high,
        corrected_p_value=p_value,
        decided=bool(corrected < 1.0 - level),
        **given,
    )


def view_slices(slices: multiauc.Slices, level: float, at_most: int | None = None) -> views.Slices:
    """All slices, or the first so many, sorted by the evidence that they are worse."""
    found = slices.to_dict(level)
    return views.Slices(
        metric=slices.metric,
        reference=slices.reference,
        by=tuple(slices.columns),
        count=len(slices),
        summary=slices.summary(level),
        overall=fill(views.Estimate, found["overall"]),
        slices=tuple(fill(views.Slice, one, estimate=fill(views.Estimate, one)) for one in found["slices"][:at_most]),
    )


def view_decisions(
    decisions: multiauc.CostDecisions, comparison: multiauc.CostComparison, level: float
) -> views.Decisions:
    """The rule, and what it costs on some rows beside plain rules."""
    found = comparison.to_dict(level)
    return fill(
        views.Decisions,
        decisions,
        cost_matrix=freeze(decisions.costs),
        judged_rows=found["rows"],
        costs={rule: fill(views.Estimate, one) for rule, one in found["costs"].items()},
        differences=tuple(
            fill(views.CostDifference, one, estimate=fill(views.Estimate, one)) for one in found["differences"]
        ),
    )


def view_heat_map(evaluations: Sequence[multiauc.Evaluation]) -> views.HeatMap | None:
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
    values = np.min([np.where(np.isnan(matrix.values), np.inf, matrix.values) for matrix in matrices], axis=0)
    chosen: list[int] = np.sort(np.argsort(values.min(axis=1), kind="stable")[:HEAT_MAP_AT_MOST]).tolist()
    return chosen


def _shorten(limits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Limits with fewer digits; what is not 0 or 1 does not become it."""
    short = limits.round(LIMIT_DIGITS)
    return np.where((short == 0.0) | (short == 1.0), limits, short)


def choose_resamples(n_rows: int, n_classes: int, n_models: int) -> int:
    """How often the curves of a page are resampled: 200 times, less often where that would take minutes.

    The number depends on the sizes alone, so the same data give the same page.
    """
    rates = 2 * THRESHOLDS * n_classes * (n_classes - 1) + n_rows * n_classes / SCORES_PER_RATE
    return int(min(RESAMPLES, max(FEWEST, RATES_AT_MOST / (n_models * rates))))


def view_curve(
    roc: multiauc.MulticlassRoc, bootstrap: multiauc.MulticlassRocBootstrap | None, level: float
) -> tuple[views.Curve, views.Estimate]:
    """The curve with its band, and its area with limits."""
    area = replace(UNKNOWN, value=roc.auc)
    band, error, n_resamples = None, None, 0
    if bootstrap is not None:
        # Those that drew no row of some class do not count.
        n_resamples = int(np.count_nonzero(~np.isnan(bootstrap.replicates)))
        area = replace_error(area, bootstrap.standard_error, _limit_area(bootstrap, level, n_resamples))
        if n_resamples > 1:
            band = views.Band(*(freeze(edge.round(5)) for edge in _limit_curve(roc, bootstrap, level, n_resamples)))
            # How far a standard error from so many resamples is off, relative to itself.
            error = 1.0 / math.sqrt(2.0 * (n_resamples - 1))
    fpr, tpr = freeze(roc.fpr.round(7)), freeze(roc.tpr.round(7))
    return views.Curve(roc.auc, fpr, tpr, band, n_resamples, error), area


def _limit_area(bootstrap: multiauc.MulticlassRocBootstrap, level: float, size: int) -> intervals.ConfidenceInterval:
    """The limits of the area; from few resamples with Student's t, which allows for their number."""
    found = intervals.ConfidenceInterval(*views.find_limits(bootstrap.confidence_interval, level))
    value, error = bootstrap.estimate, bootstrap.standard_error
    if size >= QUANTILES_FROM or math.isnan(found.low) or not (0.0 < value < 1.0 and error > 0.0):
        return found
    quantile = _rust.student_upper_quantile(options.read_level(level), size - 1.0)
    return intervals.union(found, intervals.logit_interval(value, error, quantile))


def _limit_curve(
    roc: multiauc.MulticlassRoc, bootstrap: multiauc.MulticlassRocBootstrap, level: float, size: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Limits of the curve, point by point: quantiles of the resampled curves, or t times their standard deviation."""
    found = bootstrap.band(level)
    if size >= QUANTILES_FROM:
        return found.fpr, found.low, found.high
    spread = bootstrap.heights[~np.isnan(bootstrap.replicates)].std(axis=0, ddof=1)
    reach = _rust.student_upper_quantile(options.read_level(level), size - 1.0) * spread
    middle = np.interp(found.fpr, roc.fpr, roc.tpr)
    return found.fpr, np.maximum(middle - reach, 0.0), np.minimum(middle + reach, 1.0)


def view_confusion(matrix: multiauc.ConfusionMatrix, level: float) -> views.Confusion:
    """Shares and counts of the classes with the most errors, and the rates of every class."""
    errors = matrix.counts.sum(axis=0) + matrix.counts.sum(axis=1) - 2.0 * np.diag(matrix.counts)
    classes = np.sort(np.argsort(-errors, kind="stable")[:CONFUSED_AT_MOST])
    parts = matrix.counts, matrix.normalized(), *map(_shorten, matrix.confidence_interval(level))
    counts, shares, low, high = (freeze(part[np.ix_(classes, classes)]) for part in parts)
    rates = zip(*(one.values() for one in (matrix.precision, matrix.recall, matrix.f1)), strict=True)
    per_class = tuple(
        views.ClassRates(str(label), predicted, *(view_estimate(one, level) for one in found))
        for label, predicted, found in zip(matrix.labels, matrix.counts.sum(axis=0).tolist(), rates, strict=True)
    )
    return views.Confusion(tuple(classes.tolist()), counts, shares, low, high, per_class)


def view_reliability(
    curves: Mapping[Any, multiauc.ReliabilityCurve], labels: Sequence[Any], level: float
) -> tuple[views.Reliability, ...]:
    """The curves of some classes, without those that have no rows."""
    found = [curves[label] for label in labels if label in curves and curves[label].rows.any()]
    return tuple(fill(views.Reliability, one.to_dict(level), label=str(one.positive)) for one in found)


def view_multiclass_roc(
    curve: multiauc.MulticlassRoc,
    bootstrap: multiauc.MulticlassRocBootstrap | None,
    model: str,
    level: float,
    sizes: Mapping[str, int],
) -> views.MulticlassRoc:
    """The one curve of all pairs, with an interval and a band if it was resampled; `sizes` are those of the classes."""
    area = replace(UNKNOWN, value=views.as_number(curve.auc))
    band = None
    if bootstrap is not None:
        area = replace_error(area, bootstrap.standard_error, bootstrap.confidence_interval(level))
        band = fill(views.Band, bootstrap.band(level))
    return fill(
        views.MulticlassRoc,
        curve,
        **describe_rows(level, sizes),
        model=model,
        area=area.value,
        standard_error=area.standard_error,
        low=area.low,
        high=area.high,
        band=band,
    )


def view_roc_curves(
    curves: Iterable[multiauc.RocCurve], model: str, level: float, sizes: Mapping[str, int]
) -> views.RocCurves:
    """The curves of classes or pairs; `sizes` are those of the classes."""
    shown = []
    for curve in curves:
        area, thresholds = views.as_number(curve.auc), tuple(curve.thresholds.tolist())  # the first is infinite
        shown.append(fill(views.RocCurve, curve, against=curve.negative, area=area, thresholds=thresholds))
    return views.RocCurves(**describe_rows(level, sizes), model=model, curves=tuple(shown))
