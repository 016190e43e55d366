"""ROC curves as they are shown: how often a page resamples them, the limits of their area, their band."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc._common.student import upper_quantile
from multiauc._curves.multiclass import THRESHOLDS
from multiauc._display import model as views
from multiauc._display.numbers import as_number, make_estimate
from multiauc._inference.bootstrap import warn_of_lost_classes
from multiauc._inference.intervals import logit_interval, union
from multiauc._input.options import positive_integer, read_level, read_rng

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from multiauc._curves.multiclass import MulticlassRoc, MulticlassRocBootstrap
    from multiauc._curves.roc import RocCurve
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
    bootstrap = curve.resampled(size, read_rng(rng), "rows", inputs.groups, inputs.sampling)
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
    return union(found, logit_interval(value, error, upper_quantile(read_level(level), size - 1.0)))


def _limit_curve(
    roc: MulticlassRoc, bootstrap: MulticlassRocBootstrap, level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Limits of the curve, point by point: quantiles of the resampled curves, or t times their standard deviation."""
    found = bootstrap.band(level)
    size = _count_resamples(bootstrap)
    if size >= QUANTILES_FROM:
        return found.fpr, found.low, found.high
    spread = bootstrap.heights[~np.isnan(bootstrap.replicates)].std(axis=0, ddof=1)
    reach = upper_quantile(read_level(level), size - 1.0) * spread
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
        area=as_number(curve.auc),
        standard_error=as_number(error),
        low=as_number(low),
        high=as_number(high),
        fpr=tuple(curve.fpr.tolist()),
        tpr=tuple(curve.tpr.tolist()),
        deviance=as_number(curve.deviance),
        converged=curve.converged,
        band=band,
    )


def view_roc_curves(curves: Iterable[RocCurve], model: str, level: float, sizes: Mapping[str, int]) -> views.RocCurves:
    """The curves of classes or pairs; `sizes` are those of the classes."""
    shown = tuple(
        views.RocCurve(
            positive=curve.positive,
            against=curve.negative,
            area=as_number(curve.auc),
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
