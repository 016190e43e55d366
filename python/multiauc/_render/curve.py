"""The multi-class ROC curve of a report: how often it is resampled, the limits of its area, its band."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from multiauc._input.options import read_level
from multiauc._intervals import interval_at_bound, logit_interval
from multiauc._student import upper_quantile
from multiauc.multiclass_curves import THRESHOLDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from multiauc._input.held_inputs import HeldInputs
    from multiauc.multiclass_curve_results import MulticlassRoc, MulticlassRocBootstrap

RESAMPLES = 200
# Below this many resamples quantiles say little, and the error of the standard error itself is allowed for.
QUANTILES_FROM = 100
# What a page may spend: rates fitted again, in all resamples of all models together (about 60 ns each on one core), and
# how many scores can be counted again in the time of one of them.
RATES_AT_MOST = 128_000_000
SCORES_PER_RATE = 25
FEWEST = 16

GROUPS = "rows come in groups, and the curve is resampled by rows, whose limits would be too narrow"


class Resampled(NamedTuple):
    """The resampled curves, or why there are none."""

    bootstrap: MulticlassRocBootstrap | None
    why_not: str | None = None


def resamples_for(n_rows: int, n_classes: int, n_models: int) -> int:
    """How often the curves of a page are resampled: 200 times, less often where that would take minutes.

    The number depends on the sizes alone, so that the same data give the same page.
    """
    rates = 2 * THRESHOLDS * n_classes * (n_classes - 1) + n_rows * n_classes / SCORES_PER_RATE
    return int(min(RESAMPLES, max(FEWEST, RATES_AT_MOST / (n_models * rates))))


def resampled(curve: MulticlassRoc, inputs: HeldInputs, n_resamples: int, rng: Any) -> Resampled:
    """The curve fitted to resampled data, drawn as the data were."""
    if not n_resamples or math.isnan(curve.auc):
        return Resampled(None)
    if inputs.groups is not None:
        return Resampled(None, GROUPS)
    return Resampled(curve.bootstrap(n_resamples, rng=rng))


def roc_numbers(roc: MulticlassRoc | None, found: Resampled, level: float) -> dict[str, Any] | None:
    """The curve, its area with limits, its band."""
    if roc is None or math.isnan(roc.auc):
        return None
    area: dict[str, Any] = {"value": roc.auc, "standard_error": None, "low": None, "high": None}
    band, n_resamples = None, 0
    if found.bootstrap is not None:
        bootstrap, n_resamples = found.bootstrap, len(found.bootstrap.replicates)
        low, high = _limits(bootstrap, level)
        area |= {"standard_error": _known(bootstrap.standard_error), "low": _known(low), "high": _known(high)}
        band = {name: values.round(5).tolist() for name, values in _band(roc, bootstrap, level).items()}
    return {
        "area": area,
        "auc": roc.auc,
        "fpr": roc.fpr.round(7).tolist(),
        "tpr": roc.tpr.round(7).tolist(),
        "band": band,
        "n_resamples": n_resamples,
        "monte_carlo_error": monte_carlo_error(n_resamples),
        "why_no_interval": found.why_not,
    }


def monte_carlo_error(n_resamples: int) -> float | None:
    """How far a standard error from so many resamples is off, relative to itself; None where there is none."""
    return None if n_resamples < 2 else 1.0 / math.sqrt(2.0 * (n_resamples - 1))


def _limits(bootstrap: MulticlassRocBootstrap, level: float) -> tuple[float, float]:
    """The limits of the area; from few resamples with Student's t, which allows for their number."""
    size, value, error = len(bootstrap.replicates), bootstrap.estimate, bootstrap.standard_error
    if size >= QUANTILES_FROM:
        return bootstrap.confidence_interval(level)
    tail = read_level(level)
    if value in (0.0, 1.0):
        return interval_at_bound(value, tail, bootstrap.smallest_class)
    if not error > 0.0:
        return math.nan, math.nan
    return logit_interval(value, error, upper_quantile(tail, size - 1.0))


def _band(roc: MulticlassRoc, bootstrap: MulticlassRocBootstrap, level: float) -> dict[str, NDArray[np.float64]]:
    """Limits of the curve, point by point: quantiles of the resampled curves, or t times their standard deviation."""
    found = bootstrap.band(level)
    size = len(bootstrap.replicates)
    if size >= QUANTILES_FROM:
        return {"fpr": found.fpr, "low": found.low, "high": found.high}
    reach = np.full(len(found.fpr), np.inf)
    if size > 1:
        reach = upper_quantile(read_level(level), size - 1.0) * bootstrap.heights.std(axis=0, ddof=1)
    middle = np.interp(found.fpr, roc.fpr, roc.tpr)
    return {"fpr": found.fpr, "low": np.maximum(middle - reach, 0.0), "high": np.minimum(middle + reach, 1.0)}


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
