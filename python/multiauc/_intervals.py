"""Confidence intervals: every rule is written once, here."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from multiauc._student import upper_quantiles
from multiauc.results import ConfidenceInterval

if TYPE_CHECKING:
    from types import ModuleType

    from numpy.typing import NDArray

NO_INTERVAL = ConfidenceInterval(math.nan, math.nan)

# With fewer rows (or groups) in the smallest class, reports and the command line show cautious intervals.
CAUTIOUS_BELOW = 50


def advised_method(smallest_class: int) -> Literal["logit", "cautious"]:
    """The interval that a reader is shown who did not ask for one."""
    return "cautious" if smallest_class < CAUTIOUS_BELOW else "logit"


def logit_interval(value: float, error: float, quantile: float, functions: ModuleType = math) -> ConfidenceInterval:
    r""":math:`\operatorname{expit}(\operatorname{logit}\theta \pm t \cdot SE / (\theta(1-\theta)))`.

    `functions` is `math` or `numpy`, whose logarithms differ in the last digit: closed forms are computed by the first,
    resampled intervals and whole matrices by the second.
    """
    low, high = _logit_limits(value, error, quantile, functions)
    return ConfidenceInterval(float(low), float(high))


def bounded_logit_interval(value: float, error: float, quantile: float, smallest: float) -> ConfidenceInterval:
    """The logit interval of a number between `smallest` and 1, by its place between them."""
    if smallest == 0.0:
        return logit_interval(value, error, quantile)
    size = 1.0 - smallest
    return spread_out(logit_interval((value - smallest) / size, error / size, quantile), smallest)


def spread_out(interval: ConfidenceInterval, smallest: float) -> ConfidenceInterval:
    """An interval between 0 and 1 as one between `smallest` and 1."""
    size = 1.0 - smallest
    return ConfidenceInterval(smallest + size * interval.low, smallest + size * interval.high)


def wald_interval(
    value: float, error: float, quantile: float, *, smallest: float = 0.0, largest: float = 1.0
) -> ConfidenceInterval:
    """The value ± t times its standard error, cut off at the smallest and the largest possible value."""
    reach = quantile * error
    return ConfidenceInterval(max(smallest, value - reach), min(largest, value + reach))


def interval_at_bound(value: float, tail: float, smallest_class: int) -> ConfidenceInterval:
    """For an estimate of 0 or 1, where nothing varies: what a class of that size could still hide."""
    hidden = tail ** (1.0 / smallest_class)
    return ConfidenceInterval(hidden, 1.0) if value == 1.0 else ConfidenceInterval(0.0, 1.0 - hidden)


def union(a: ConfidenceInterval, b: ConfidenceInterval) -> ConfidenceInterval:
    """From the lower of both limits to the higher."""
    return ConfidenceInterval(min(a.low, b.low), max(a.high, b.high))


def percentile_interval(replicates: NDArray[np.float64], tail: float) -> ConfidenceInterval:
    """Quantiles of the replicates."""
    low, high = np.quantile(replicates, [tail, 1.0 - tail]).tolist()
    return ConfidenceInterval(low, high)


def basic_interval(value: float, replicates: NDArray[np.float64], tail: float) -> ConfidenceInterval:
    """Quantiles of the replicates, mirrored at the estimate."""
    low, high = percentile_interval(replicates, tail)
    return ConfidenceInterval(2 * value - high, 2 * value - low)


def bca_interval(replicates: NDArray[np.float64], below: float, acceleration: float, tail: float) -> ConfidenceInterval:
    """Efron's bias-corrected and accelerated quantiles; `below` is the share of replicates below the estimate."""
    normal = NormalDist()
    bias = normal.inv_cdf(below)
    shifts = (bias + normal.inv_cdf(level) for level in (tail, 1.0 - tail))
    levels = [normal.cdf(bias + shift / (1.0 - acceleration * shift)) for shift in shifts]
    low, high = np.quantile(replicates, levels).tolist()
    return ConfidenceInterval(low, high)


def pair_intervals(
    values: NDArray[np.float64],
    errors: NDArray[np.float64],
    freedoms: NDArray[np.float64],
    counts: NDArray[np.int64],
    tail: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Logit limits of every pair of classes of given sizes, with Student's t of their degrees of freedom."""
    smaller = np.minimum.outer(counts, counts)
    with np.errstate(divide="ignore", invalid="ignore"):
        quantiles = upper_quantiles(tail, freedoms)
    return logit_intervals(values, errors, quantiles, tail, smaller)


def logit_intervals(
    values: NDArray[np.float64],
    errors: NDArray[np.float64],
    quantiles: NDArray[np.float64],
    tails: float | NDArray[np.float64],
    smallest_classes: NDArray[Any],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Logit limits of many values between 0 and 1; nan where there is no standard error, or one of 0 in between."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        low, high = _logit_limits(values, errors, quantiles, np)
        # As `interval_at_bound`.
        hidden = tails ** (1.0 / smallest_classes)
    low, high = np.where(values == 1.0, hidden, low), np.where(values == 1.0, 1.0, high)
    low, high = np.where(values == 0.0, 0.0, low), np.where(values == 0.0, 1.0 - hidden, high)
    unknown = (errors == 0.0) & (values != 0.0) & (values != 1.0)
    return np.where(unknown, np.nan, low), np.where(unknown, np.nan, high)


def _logit_limits(value: Any, error: Any, quantile: Any, functions: Any) -> tuple[Any, Any]:
    middle = functions.log(value / (1.0 - value))
    reach = quantile * error / (value * (1.0 - value))
    return _expit(middle - reach, functions), _expit(middle + reach, functions)


def _expit(x: Any, functions: Any) -> Any:
    if functions is math and x <= -700.0:  # where math.exp is about to overflow
        return 0.0
    return 1.0 / (1.0 + functions.exp(-x))
