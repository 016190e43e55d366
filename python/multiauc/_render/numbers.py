"""The numbers of a report, as plain values that JSON can hold; what is not known is None."""

from __future__ import annotations

import datetime as dt
import math
import warnings
from dataclasses import asdict
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc._common.registry import METRICS
from multiauc._common.wording import names_as_text
from multiauc.plotting._pair_matrix import scale_floor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from multiauc._evaluation.comparison import Comparison
    from multiauc._evaluation.evaluation import Evaluation
    from multiauc._inference.pair_matrix import PairMatrix

# A heat map of more classes than this could not be read; it shows those of the worst pairs.
HEAT_MAP_AT_MOST = 150
WORST_PAIRS = 20
# How differences are corrected for their number, for the heads of tables.
CORRECTION = "min-p"
# Digits of the limits of pairs; values are kept to the last bit.
LIMIT_DIGITS = 6


def known(value: float) -> float | None:
    """None for nan and infinity."""
    return float(value) if math.isfinite(value) else None


def estimate_numbers(estimate: Any, level: float) -> dict[str, Any]:
    """Value, standard error and limits of an estimate or a difference."""
    with warnings.catch_warnings():
        # The page shows a dash where there is no interval.
        warnings.simplefilter("ignore", RuntimeWarning)
        low, high = estimate.confidence_interval(level)
    return {
        "value": known(estimate.value),
        "standard_error": known(estimate.standard_error),
        "low": known(low),
        "high": known(high),
    }


def metric_numbers(evaluation: Evaluation, level: float) -> dict[str, dict[str, Any]]:
    """The averages over classes."""
    return {metric: estimate_numbers(estimate, level) for metric, estimate in evaluation.metrics.items()}


def class_numbers(evaluation: Evaluation, level: float) -> list[dict[str, Any]]:
    """Each class against the rest, and the class that it is hardest to tell from, in the order of the labels.

    Empty where classes were not evaluated against the rest.
    """
    per_class = getattr(evaluation, "per_class", None)
    if per_class is None:
        return []
    unknown = dict.fromkeys(("value", "standard_error", "low", "high"))
    matrix = main_matrix(evaluation)
    return [
        {"label": str(label), "rows": rows}
        | (estimate_numbers(per_class[label], level) if label in per_class else unknown)
        | _hardest(matrix, c)
        for c, (label, rows) in enumerate(zip(evaluation.labels, evaluation.counts.tolist(), strict=True))
    ]


def main_matrix(evaluation: Evaluation) -> PairMatrix | None:
    """The pairs of the first metric that averages over pairs."""
    return next(iter(evaluation.matrices.values()), None)


def pair_numbers(
    evaluation: Evaluation, metric: str, classes: list[int], level: float
) -> dict[str, list[list[float | None]]]:
    """Values and limits of the pairs of some classes, given by their positions."""
    matrix = evaluation.matrices[metric]
    low, high = matrix.confidence_intervals(level)
    shown = np.ix_(classes, classes)
    return {
        "value": _rows(matrix.values[shown]),
        "low": _rows(_rounded(low[shown])),
        "high": _rows(_rounded(high[shown])),
    }


def worst_pairs(evaluation: Evaluation, level: float, n: int = WORST_PAIRS) -> list[dict[str, Any]]:
    """The pairs that are separated worst, the worst first."""
    return [names | numbers[0] for names, numbers in pairs_of_models(evaluation, [evaluation], level, n)]


def pairs_of_models(
    worst_of: Evaluation, evaluations: Sequence[Evaluation], level: float, n: int = WORST_PAIRS
) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """The pairs that one model separates worst: their names and sizes, and their numbers in each of the models.

    Empty where pairs were not evaluated.
    """
    main = main_matrix(worst_of)
    matrices = [matrix for matrix in map(main_matrix, evaluations) if matrix is not None]
    if main is None:
        return []
    place = {label: k for k, label in enumerate(main.labels)}
    limits = [matrix.confidence_intervals(level) for matrix in matrices]
    found = []
    for first, second, _ in main.worst(n):
        at = place[first], place[second]
        sizes = {"first_rows": int(main.counts[at[0]]), "second_rows": int(main.counts[at[1]])}
        numbers = [
            {"value": known(matrix.values[at]), "low": known(low[at]), "high": known(high[at])}
            for matrix, (low, high) in zip(matrices, limits, strict=True)
        ]
        found.append(({"first": str(first), "second": str(second)} | sizes, numbers))
    return found


def comparison_numbers(comparison: Comparison, level: float) -> dict[str, Any]:
    """The value of each model, the models from best to worst, and every difference with its test."""
    estimates = comparison.estimates
    values = {name: one.value for name, one in zip(names_as_text(estimates), estimates.values(), strict=True)}
    sign = -1.0 if METRICS[comparison.metric].higher_is_better else 1.0
    return {
        "metric": comparison.metric,
        "values": {name: known(value) for name, value in values.items()},
        "order": sorted(values, key=lambda name: (math.isnan(values[name]), sign * values[name])),
        "correction": CORRECTION,
        "differences": difference_numbers(comparison, level),
    }


def difference_numbers(comparison: Comparison, level: float) -> list[dict[str, Any]]:
    """Every difference with its test, by itself and among the others; `decided` if it is not chance among them."""
    pairs = combinations(names_as_text(comparison.estimates), 2)
    # A metric without a closed form has no differences.
    differences = comparison.differences
    together = comparison.simultaneous_intervals(level).values() if differences else []
    return [
        {"first": first, "second": second}
        | estimate_numbers(one, level)
        | {
            "t": known(one.t),
            "degrees_of_freedom": known(one.degrees_of_freedom),
            "p_value": known(one.p_value),
            "corrected_low": known(low),
            "corrected_high": known(high),
            "corrected_p_value": known(one.corrected_p_value),
            "decided": bool(one.corrected_p_value < 1.0 - level),
        }
        for (first, second), one, (low, high) in zip(pairs, differences, together, strict=False)
    ]


def common_numbers(evaluations: Sequence[Evaluation]) -> dict[str, Any]:
    """Labels and class sizes, and what all heat maps share."""
    first = evaluations[0]
    return {
        "labels": [str(label) for label in first.labels],
        "counts": first.counts.tolist(),
        "rows": int(first.counts.sum()),
        "heat_map": _heat_map(evaluations),
    }


def _heat_map(evaluations: Sequence[Evaluation]) -> dict[str, Any] | None:
    """The classes shown, where the colours begin, and the matrices to choose from; None if there are none."""
    matrices = [matrix for matrix in map(main_matrix, evaluations) if matrix is not None]
    if not matrices:
        return None
    kinds = [(metric, METRICS[metric].pairs) for metric in evaluations[0].matrices]
    return {
        "classes": shown_classes(matrices),
        "floor": min(scale_floor(matrix.values) for matrix in matrices),
        "kinds": [{"metric": metric, **asdict(pairs)} for metric, pairs in kinds if pairs is not None],
    }


def now() -> str:
    """The date and the minute."""
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%d %H:%M UTC")


def _rounded(limits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Limits with fewer digits; what is not 0 or 1 does not become it."""
    rounded = limits.round(LIMIT_DIGITS)
    return np.where((rounded == 0.0) | (rounded == 1.0), limits, rounded)


def _rows(matrix: NDArray[np.float64]) -> list[list[float | None]]:
    return [[known(value) for value in row] for row in matrix.tolist()]


def _hardest(matrix: PairMatrix | None, c: int) -> dict[str, Any]:
    """The class that is hardest to tell from class c."""
    if matrix is None or np.isnan(matrix.values[c]).all():
        return {"hardest": None, "hardest_value": None}
    values = matrix.values[c]
    d = int(np.nanargmin(values))
    return {"hardest": str(matrix.labels[d]), "hardest_value": float(values[d])}


def shown_classes(matrices: Sequence[PairMatrix]) -> list[int]:
    """The classes of the heat map: all, or those of the worst pairs of any model."""
    n_classes = len(matrices[0].labels)
    if n_classes <= HEAT_MAP_AT_MOST:
        return list(range(n_classes))
    worst = np.full(n_classes, np.inf)
    for matrix in matrices:
        worst = np.fmin(worst, np.where(np.isnan(matrix.values), np.inf, matrix.values).min(axis=1))
    shown: list[int] = np.sort(np.argsort(worst, kind="stable")[:HEAT_MAP_AT_MOST]).tolist()
    return shown
