"""Confidence intervals: every rule is written once, here."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from multiauc import _rust

if TYPE_CHECKING:
    from types import ModuleType

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


@dataclass(frozen=True, slots=True)
class WorstCase:
    """How much an estimate could vary at worst; a number each, or arrays for many estimates.

    Attributes
    ----------
    design_effect
        The largest variance that the rows allow, in units of value times 1 - value.
    failures
        With so many failures seen, worst case and data count the same.
    """

    design_effect: Any
    failures: Any


@dataclass(frozen=True, slots=True)
class Wilson:
    """Wilson's interval, with the estimated variance shrunken towards the worst case.

    Attributes
    ----------
    value
        The estimate, or many.
    design_effect
        The variance in units of value times 1 - value: with few failures seen that of the worst case, with many that
        of the data.
    degrees_of_freedom
        How well it is known: the worst case is.
    """

    value: Any
    design_effect: Any
    degrees_of_freedom: Any

    @classmethod
    def of(cls, value: Any, variance: Any, freedom: Any, worst: WorstCase) -> Wilson:
        """Of estimates between 0 and 1 with a variance, which may be 0."""
        value, variance, freedom = (np.asarray(one, dtype=np.float64) for one in (value, variance, freedom))
        room, largest = value * (1.0 - value), np.asarray(worst.design_effect, dtype=np.float64)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            seen = np.minimum(value, 1.0 - value) / largest
            believed = seen / (seen + worst.failures)
            of_data = np.where(variance == 0.0, 0.0, believed * variance / room)
            of_data = np.where((room == 0.0) & ~np.isnan(variance), 0.0, of_data)
            effect = of_data + np.where(of_data == 0.0, 1.0, 1.0 - believed) * largest
            known = np.where(of_data == 0.0, np.inf, freedom * (effect / of_data) ** 2)
        return cls(value, effect, known)

    def limits(self, t: Any) -> tuple[Any, Any]:
        """Both limits, t standard errors away: the values that a test with this t does not reject."""
        square = t * t * self.design_effect
        value, failures = self.value, 1.0 - self.value
        with np.errstate(invalid="ignore"):
            reach = 0.5 * square + np.sqrt(value * failures * square + 0.25 * square * square)
            return value * value / (value + reach), 1.0 - failures * failures / (failures + reach)

    def limits_beyond(self, tail: float) -> tuple[Any, Any]:
        """Both limits of many estimates, with this probability beyond each of them."""
        freedoms = self.degrees_of_freedom
        return self.limits(_rust.student_upper_quantiles(tail, freedoms.ravel()).reshape(freedoms.shape))

    def interval(self, tail: float) -> ConfidenceInterval:
        """That of one estimate, with this probability beyond each limit."""
        low, high = self.limits(_rust.student_upper_quantile(tail, float(self.degrees_of_freedom)))
        return ConfidenceInterval(float(low), float(high))

    def statistic(self, null: float) -> float:
        """Student's t of the test against a value, which inverts the interval."""
        return float((self.value - null) / math.sqrt(null * (1.0 - null) * self.design_effect))


def is_at_chance(value: Any, variance: Any, chance: float) -> Any:
    """Whether nothing varies because no rows are separated, as with constant scores: then there is no interval."""
    return (np.asarray(variance) == 0.0) & (np.abs(np.asarray(value) - chance) <= AT_CHANCE * chance)


def logit_interval(value: float, error: float, quantile: float, functions: ModuleType = math) -> ConfidenceInterval:
    r""":math:`\operatorname{expit}(\operatorname{logit}\theta \pm t \cdot SE / (\theta(1-\theta)))`.

    `functions` is `math` or `numpy`, whose logarithms differ in the last digit: analytic intervals use the first,
    resampled intervals and whole matrices the second.
    """
    low, high = _logit_limits(value, error, quantile, functions)
    return ConfidenceInterval(float(low), float(high))


def bounded_logit_interval(value: float, error: float, quantile: float, smallest: float) -> ConfidenceInterval:
    """The logit interval of a number between `smallest` and 1, by its place between them."""
    if smallest == 0.0:
        return logit_interval(value, error, quantile)
    size = 1.0 - smallest
    return spread_out(logit_interval((value - smallest) / size, error / size, quantile), smallest)


def log_interval(value: float, error: float, quantile: float) -> ConfidenceInterval:
    r"""Of a positive number without a largest value: :math:`\theta \exp(\pm t \cdot SE / \theta)`."""
    # Where math.exp would overflow.
    reach = math.exp(min(700.0, quantile * error / value))
    return ConfidenceInterval(value / reach, value * reach)


def log_intervals(
    values: NDArray[np.float64], errors: NDArray[np.float64], quantiles: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The same of many values; nan where there is no standard error, or one of 0."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        reach = np.exp(np.minimum(700.0, quantiles * errors / values))
        reach = np.where(errors > 0.0, reach, np.nan)
        return values / reach, values * reach


def spread_out(interval: ConfidenceInterval, smallest: float) -> ConfidenceInterval:
    """An interval between 0 and 1 as one between `smallest` and 1."""
    size = 1.0 - smallest
    return ConfidenceInterval(smallest + size * interval.low, smallest + size * interval.high)


def wald_interval(
    value: float, error: float, quantile: float, *, smallest: float = 0.0, largest: float = 1.0
) -> ConfidenceInterval:
    """The value ± t times its standard error, clipped to the smallest and the largest possible value."""
    reach = quantile * error
    return ConfidenceInterval(max(smallest, value - reach), min(largest, value + reach))


def interval_at_bound(value: float, tail: float, smallest_class: int) -> ConfidenceInterval:
    """For an estimate of 0 or 1, where nothing varies: the errors that a class of that size could still miss."""
    hidden = tail ** (1.0 / smallest_class)
    return ConfidenceInterval(hidden, 1.0) if value == 1.0 else ConfidenceInterval(0.0, 1.0 - hidden)


def union(a: ConfidenceInterval, b: ConfidenceInterval) -> ConfidenceInterval:
    """From the lower of both limits to the higher."""
    return ConfidenceInterval(min(a.low, b.low), max(a.high, b.high))


def pair_intervals(
    values: NDArray[np.float64],
    errors: NDArray[np.float64],
    freedoms: NDArray[np.float64],
    units: NDArray[np.float64],
    tail: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Wilson limits of every pair of classes, each a binary AUC; `units` are effective numbers of rows or groups."""
    first, second = units[:, None], units[None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        worst = WorstCase((first**2 + second**2) / ((first + second) * first * second), 1.0 / 3.0)
        low, high = Wilson.of(values, errors**2, freedoms, worst).limits_beyond(tail)
    unknown = is_at_chance(values, errors, 0.5)
    return np.where(unknown, np.nan, low), np.where(unknown, np.nan, high)


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
