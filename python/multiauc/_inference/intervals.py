"""Confidence intervals; the rules are in the core, ``rust/multiauc/src/inference/intervals.rs``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from multiauc import _rust

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class ConfidenceInterval(NamedTuple):
    """The limits of a confidence interval, a pair (low, high).

    Examples
    --------
    >>> import multiauc
    >>> y_true = ["a", "a", "b", "b", "c", "c"]
    >>> y_score = [[0.7, 0.2, 0.1], [0.4, 0.5, 0.1], [0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.3, 0.5], [0.3, 0.2, 0.5]]
    >>> interval = multiauc.evaluate(y_true, y_score).hand_till.confidence_interval(level=0.5)
    >>> low, high = interval
    >>> low == interval.low < 0.8958 < high == interval.high
    True
    """

    low: float
    high: float


NO_INTERVAL = ConfidenceInterval(math.nan, math.nan)

# Relative to it, how near chance counts as chance.
AT_CHANCE = 1e-12


def is_at_chance(value: Any, variance: Any, chance: float) -> Any:
    """Whether nothing varies because no rows are separated, as with constant scores: then there is no interval."""
    return (variance == 0.0) & (abs(value - chance) <= AT_CHANCE * chance)


def logit_interval(value: float, error: float, quantile: float) -> ConfidenceInterval:
    r""":math:`\operatorname{expit}(\operatorname{logit}\theta \pm t \cdot SE / (\theta(1-\theta)))`."""
    middle, reach = math.log(value / (1.0 - value)), quantile * error / (value * (1.0 - value))
    # Where math.exp would overflow.
    low, high = (1.0 / (1.0 + math.exp(min(700.0, -logit))) for logit in (middle - reach, middle + reach))
    return ConfidenceInterval(low, high)


def wald_interval(
    value: float, error: float, quantile: float, *, smallest: float = 0.0, largest: float = 1.0
) -> ConfidenceInterval:
    """The value ± t times its standard error, clipped to the smallest and the largest possible value."""
    reach = quantile * error
    return ConfidenceInterval(max(smallest, value - reach), min(largest, value + reach))


def union(a: ConfidenceInterval, b: ConfidenceInterval) -> ConfidenceInterval:
    """From the lower of both limits to the higher."""
    return ConfidenceInterval(min(a.low, b.low), max(a.high, b.high))


def wilson_limits(
    values: NDArray[np.float64],
    variances: NDArray[np.float64],
    freedoms: NDArray[np.float64],
    design_effects: NDArray[np.float64],
    failures: float,
    tail: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Wilson's limits of arrays of one shape; variances shrink towards the worst case, `design_effects`."""
    effects, freedom = design_effects.ravel(), freedoms.ravel()
    low, high = _rust.wilson_limits(values.ravel(), variances.ravel(), freedom, effects, failures, tail)
    return low.reshape(values.shape), high.reshape(values.shape)
