"""The multi-class ROC curve of a report: how often it is resampled, the limits of its area, its band."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc._common.student import upper_quantile
from multiauc._curves.multiclass import THRESHOLDS
from multiauc._inference.bootstrap import warn_of_lost_classes
from multiauc._inference.intervals import logit_interval, union
from multiauc._input.options import positive_integer, read_level, read_rng

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from multiauc._curves.multiclass import MulticlassRoc, MulticlassRocBootstrap
    from multiauc._inference.intervals import ConfidenceInterval
    from multiauc._input.held_inputs import HeldInputs

RESAMPLES = 200
# Below this many resamples quantiles say little, and the error of the standard error itself is allowed for.
QUANTILES_FROM = 100
# What a page may spend: rates fitted again, in all resamples of all models together (about 60 ns each on one core), and
# how many scores can be counted again in the time of one of them.
RATES_AT_MOST = 128_000_000
SCORES_PER_RATE = 25
FEWEST = 16


def resamples_for(n_rows: int, n_classes: int, n_models: int) -> int:
    """How often the curves of a page are resampled: 200 times, less often where that would take minutes.

    The number depends on the sizes alone, so that the same data give the same page.
    """
    rates = 2 * THRESHOLDS * n_classes * (n_classes - 1) + n_rows * n_classes / SCORES_PER_RATE
    return int(min(RESAMPLES, max(FEWEST, RATES_AT_MOST / (n_models * rates))))


def resampled(curve: MulticlassRoc, inputs: HeldInputs, n_resamples: int, rng: Any) -> MulticlassRocBootstrap | None:
    """The curve fitted to resampled rows or groups, drawn as the sampling says; None if there is nothing to fit."""
    if not n_resamples or math.isnan(curve.auc):
        return None
    size = positive_integer("n_resamples", n_resamples)
    bootstrap = curve.resample(size, read_rng(rng), "rows", inputs.groups, inputs.sampling)
    warn_of_lost_classes(bootstrap.replicates[:, None], np.array([curve.auc]))
    return bootstrap


def roc_numbers(
    roc: MulticlassRoc | None, bootstrap: MulticlassRocBootstrap | None, level: float
) -> dict[str, Any] | None:
    """The curve, its area with limits, its band."""
    if roc is None or math.isnan(roc.auc):
        return None
    area: dict[str, Any] = {"value": roc.auc, "standard_error": None, "low": None, "high": None}
    band, n_resamples = None, 0
    if bootstrap is not None:
        n_resamples = _size(bootstrap)
        low, high = _limits(bootstrap, level)
        area |= {"standard_error": _known(bootstrap.standard_error), "low": _known(low), "high": _known(high)}
        if n_resamples > 1:
            band = {name: values.round(5).tolist() for name, values in _band(roc, bootstrap, level).items()}
    return {
        "area": area,
        "auc": roc.auc,
        "fpr": roc.fpr.round(7).tolist(),
        "tpr": roc.tpr.round(7).tolist(),
        "band": band,
        "n_resamples": n_resamples,
        "monte_carlo_error": monte_carlo_error(n_resamples),
    }


def _size(bootstrap: MulticlassRocBootstrap) -> int:
    """How many resamples there are; those that drew no row of some class do not count."""
    return int(np.count_nonzero(~np.isnan(bootstrap.replicates)))


def monte_carlo_error(n_resamples: int) -> float | None:
    """How far a standard error from so many resamples is off, relative to itself; None where there is none."""
    return None if n_resamples < 2 else 1.0 / math.sqrt(2.0 * (n_resamples - 1))


def _limits(bootstrap: MulticlassRocBootstrap, level: float) -> ConfidenceInterval:
    """The limits of the area; from few resamples with Student's t, which allows for their number."""
    with warnings.catch_warnings():
        # The page shows a dash where there is no interval.
        warnings.simplefilter("ignore", RuntimeWarning)
        found = bootstrap.confidence_interval(level)
    size, value, error = _size(bootstrap), bootstrap.estimate, bootstrap.standard_error
    if size >= QUANTILES_FROM or math.isnan(found.low) or not (0.0 < value < 1.0 and error > 0.0):
        return found
    return union(found, logit_interval(value, error, upper_quantile(read_level(level), size - 1.0)))


def _band(roc: MulticlassRoc, bootstrap: MulticlassRocBootstrap, level: float) -> dict[str, NDArray[np.float64]]:
    """Limits of the curve, point by point: quantiles of the resampled curves, or t times their standard deviation."""
    found = bootstrap.band(level)
    size = _size(bootstrap)
    if size >= QUANTILES_FROM:
        return {"fpr": found.fpr, "low": found.low, "high": found.high}
    spread = bootstrap.heights[~np.isnan(bootstrap.replicates)].std(axis=0, ddof=1)
    reach = upper_quantile(read_level(level), size - 1.0) * spread
    middle = np.interp(found.fpr, roc.fpr, roc.tpr)
    return {"fpr": found.fpr, "low": np.maximum(middle - reach, 0.0), "high": np.minimum(middle + reach, 1.0)}


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
