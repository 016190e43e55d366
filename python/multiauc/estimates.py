"""A number with its uncertainty."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from multiauc._digits import decimals
from multiauc._input.options import read_level
from multiauc._intervals import (
    NO_INTERVAL,
    bounded_logit_interval,
    interval_at_bound,
    spread_out,
    union,
    wald_interval,
)
from multiauc._parameter_texts import shares_parameter_texts
from multiauc._registry import METRICS
from multiauc._result import Tabular
from multiauc._student import upper_quantile
from multiauc._wording import listing, one_of, printable
from multiauc.hypotheses import SIGNS, TestResult, read_alternative, read_number, student_test, untestable
from multiauc.results import ConfidenceInterval

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from multiauc import _rust
    from multiauc._input.held_inputs import HeldInputs
    from multiauc.hypotheses import Alternative

INTERVALS = ("logit", "wald", "cautious")
VARIANCES = ("first_order", "unbiased", "bootstrap_limit")

# Relative to a variance, what rounding leaves when an equal one is subtracted.
ROUNDING = 1e-13

# A class that is effectively one row, or one group: the core takes its variance for unknown.
ONE_UNIT = 1.0 + 1e-12


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Estimate(Tabular):
    """The value of a metric with its closed-form standard error.

    Attributes
    ----------
    name : hashable
        The metric, the model, or the class that is told from the rest.
    value : float
        The estimate.
    standard_error : float
        The square root of its first-order variance; nan if a class has a single row (or a single group).
    degrees_of_freedom : float
        How well the standard error itself is known: about the size of the class that contributes most to it, and less
        where a few rows make up most of it.
    smallest_class : int
        The rows of the smallest class (its groups, where rows are grouped).

    Examples
    --------
    >>> import multiauc
    >>> y_true = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> estimate = multiauc.evaluate(y_true, [0.1, 0.4, 0.35, 0.3, 0.6, 0.5, 0.8, 0.2]).auc_mu
    >>> estimate
    Estimate(AUC_mu 0.8125, standard error 0.1976, 95% interval 0.0935 to 0.9945)
    >>> low, high = estimate.confidence_interval(level=0.9)
    >>> print(f"{low:.3f} to {high:.3f}")
    0.202 to 0.987
    """

    name: Any
    value: float
    standard_error: float
    degrees_of_freedom: float
    smallest_class: int
    _first_order: float
    _plug_in: float
    # The metric, or the column of the class that is told from the rest.
    _of: str | int
    # (value, variance, degrees of freedom) as though each class had one more row; None where that is not known.
    _cautious: tuple[float, float, float] | None = None
    _inputs: HeldInputs | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        # The data are left behind: an unpickled estimate cannot compute what needs them.
        known = (self.name, self.value, self.standard_error, self.degrees_of_freedom, self.smallest_class)
        return Estimate, (*known, self._first_order, self._plug_in, self._of, self._cautious)

    def variance(self, kind: Literal["first_order", "unbiased", "bootstrap_limit"] = "first_order") -> float:
        r"""The variance of the estimate.

        Parameters
        ----------
        kind : {"first_order", "unbiased", "bootstrap_limit"}, default "first_order"
            ``"first_order"``: :math:`\sum_k \frac{1}{n_k(n_k-1)} \sum_i (T(i) - \bar T_k)^2`, the square of
            `standard_error`: DeLong's variance, a little too large on average. ``"unbiased"``: less the part that the
            rows of a pair have in common, which makes it right on average; 0, with a warning, where it would be
            negative. ``"bootstrap_limit"``: the variance of infinitely many bootstrap samples drawn within classes.

            The last two are defined for rows without weights or groups and for fixed class sizes, and not for every
            metric.
        """
        wanted = one_of("kind", kind, VARIANCES)
        if wanted == "first_order":
            return self._first_order
        if isinstance(self._of, str) and not METRICS[self._of].has_interactions:
            raise ValueError(
                f"kind={wanted!r} is not known for {METRICS[self._of].title}, which has the first-order variance only"
            )
        if self._inputs is None:
            raise ValueError(f"kind={wanted!r} needs the data, which an unpickled result does not have; evaluate again")
        obstacle = self._inputs.why_first_order_only()
        if obstacle is not None:
            raise ValueError(f"kind={wanted!r} is not defined with {obstacle}; 'first_order' is")
        found = self._inputs.interactions()
        subtracted, added = found.metrics[self._of] if isinstance(self._of, str) else found.per_class[self._of]
        if wanted == "bootstrap_limit":
            return self._plug_in + added
        variance = self._first_order - subtracted
        if abs(variance) <= ROUNDING * self._first_order:
            return 0.0
        if variance < 0.0:
            warnings.warn(
                f"the unbiased variance of {self.name} came out as {variance:.3g} and is reported as 0",
                RuntimeWarning,
                stacklevel=2,
            )
            return 0.0
        return variance

    @shares_parameter_texts
    def confidence_interval(
        self, level: float = 0.95, method: Literal["logit", "wald", "cautious"] = "logit"
    ) -> ConfidenceInterval:
        r"""An interval that covers the population's value with probability `level`.

        Parameters
        ----------
        {level}
        method : {"logit", "wald", "cautious"}, default "logit"
            ``"logit"``: :math:`\operatorname{expit}(\operatorname{logit}\theta \pm t \cdot SE / (\theta(1-\theta)))`,
            inside (0, 1) by construction. ``"wald"``: :math:`\theta \pm t \cdot SE`, cut off at 0 and 1. t is the
            quantile of Student's distribution with `degrees_of_freedom`. ``"cautious"``: the logit interval, widened
            by the one that the rows would give if each class had one more, ranked by the toss of a coin. Ten rows need
            not show a failure that one row in twenty has; take it where a class has fewer than fifty.

        Returns
        -------
        ConfidenceInterval
            (low, high). At an estimate of 1, where nothing varies, from :math:`(\alpha/2)^{1/m}` to 1, m being the
            smallest class; mirrored at 0. Metrics that can be negative have all this on the scale
            :math:`(1 + \theta)/2`. Elsewhere without a standard error (nan, nan), with a warning.
        """
        tail = read_level(level)
        kind = one_of("method", method, INTERVALS)
        if kind == "cautious" and self._cautious is None and not math.isnan(self.standard_error):
            raise ValueError(f"method='cautious' is not known for {self.name}; {listing(INTERVALS[:2])} are")
        interval = self._interval(tail, kind)
        if math.isnan(interval.low):
            found = "0: the scores do not vary" if self.standard_error == 0.0 else "nan"
            warnings.warn(
                f"there is no interval for {self.name}: its standard error is {found}", RuntimeWarning, stacklevel=2
            )
        return interval

    def _interval(self, tail: float, kind: str) -> ConfidenceInterval:
        value, error = self.value, self.standard_error
        if kind == "cautious":
            return self._cautious_interval(tail)
        if value in (self._smallest, 1.0):
            place = (value - self._smallest) / (1.0 - self._smallest)
            return spread_out(interval_at_bound(place, tail, self.smallest_class), self._smallest)
        if not error > 0.0:
            return NO_INTERVAL
        t = upper_quantile(tail, self.degrees_of_freedom)
        if kind == "wald":
            return wald_interval(value, error, t, smallest=self._smallest)
        return bounded_logit_interval(value, error, t, self._smallest)

    def _cautious_interval(self, tail: float) -> ConfidenceInterval:
        if self._cautious is None or math.isnan(self.standard_error):
            return NO_INTERVAL
        value, variance, freedom = self._cautious
        plain = self._interval(tail, "logit")
        if not (variance > 0.0 and self._smallest < value < 1.0):
            return plain
        wider = bounded_logit_interval(value, math.sqrt(variance), upper_quantile(tail, freedom), self._smallest)
        # Where rows do not vary, the value alone is the plain interval.
        return union(wider, ConfidenceInterval(self.value, self.value) if math.isnan(plain.low) else plain)

    def test(self, value: float, alternative: Alternative = "two-sided") -> TestResult:
        r"""Test the estimate against a value, such as what an older model had on other data, or chance.

        On the logit scale, as the default interval: :math:`t = (\operatorname{logit}\theta -
        \operatorname{logit}\theta_0)\, \theta(1-\theta) / SE`. The two-sided p-value is below 0.05 where the 95%
        interval leaves the value out. At an estimate of 1 it inverts the interval from :math:`(\alpha/2)^{1/m}` to 1, m
        being the smallest class; mirrored at 0.

        Parameters
        ----------
        value : float
            Between 0 and 1; between -1 and 1 for metrics that can be negative.
        alternative : {"two-sided", "greater", "less"}, default "two-sided"
            What is to be shown about the population's value.

        Returns
        -------
        TestResult
            nan, with a warning, where there is no standard error or it is 0 elsewhere than at 0 and 1.
        """
        smallest = self._smallest
        null = read_number("value", value, low=smallest, high=1.0)
        side = read_alternative(alternative)
        name = f"{self.name} {SIGNS[side]} {null:g}"
        place, null_place = ((one - smallest) / (1.0 - smallest) for one in (self.value, null))
        if place in (0.0, 1.0):
            hidden = (null_place if place == 1.0 else 1.0 - null_place) ** self.smallest_class
            ahead = "greater" if self.value == 1.0 else "less"
            p = min(1.0, 2.0 * hidden) if side == "two-sided" else hidden if side == ahead else 1.0
            return TestResult(name, math.nan, math.nan, p)
        if not self.standard_error > 0.0:
            found = "0: the scores do not vary" if self.standard_error == 0.0 else "nan"
            return untestable(name, f"the standard error is {found}", stacklevel=2)
        distance = math.log(place / (1.0 - place)) - math.log(null_place / (1.0 - null_place))
        t = distance * place * (1.0 - place) * (1.0 - smallest) / self.standard_error
        return student_test(str(self.name), t, self.degrees_of_freedom, side, null)

    @property
    def _smallest(self) -> float:
        """The smallest value that the metric can have."""
        return METRICS[self._of].smallest if isinstance(self._of, str) else 0.0

    def cells(self) -> list[str]:
        """Value, standard error and 95% interval as text."""
        low, high = self._interval(0.025, "logit")
        interval = "-" if math.isnan(low) else f"{decimals(low)} to {decimals(high)}"
        return [decimals(self.value), decimals(self.standard_error), interval]

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """Value, standard error and the limits of the interval by name; nan where they are not known."""
        low, high = self._interval(read_level(level), "logit")
        return {"value": self.value, "standard_error": self.standard_error, "low": low, "high": high}

    def _rows(self, level: float) -> list[dict[str, Any]]:
        return [{"name": self.name, **self.to_dict(level)}]

    def __float__(self) -> float:
        return self.value

    def __format__(self, spec: str) -> str:
        """The value, if a number's format is asked for: ``f"{estimate:.3f}"``."""
        return format(self.value, spec) if spec else str(self)

    def __repr__(self) -> str:
        value, error, interval = self.cells()
        return f"Estimate({printable(str(self.name))} {value}, standard error {error}, 95% interval {interval})"


def estimate_of(
    found: _rust.Estimate, name: Any, smallest_class: int, of: str | int, inputs: HeldInputs | None
) -> Estimate:
    """The core's estimate of a metric (`of` its name) or of a class against the rest (`of` its column)."""
    error = math.sqrt(found.variance)
    known = (name, found.value, error, found.degrees_of_freedom, smallest_class, found.variance, found.plug_in)
    return Estimate(*known, of, found.cautious, inputs)


def estimate_without_error(
    value: float, name: Any, smallest_class: int, of: str | int, inputs: HeldInputs | None
) -> Estimate:
    """A value whose standard error is not known, or nan."""
    return Estimate(name, value, math.nan, math.nan, smallest_class, math.nan, math.nan, of, None, inputs)


def smallest_of(units: NDArray[np.int64]) -> int:
    """Rows (or groups) of the smallest class that has any."""
    return int(units[units > 0].min())


def warn_of_single_units(
    inputs: HeldInputs, units: NDArray[np.int64], effective: Sequence[float], stacklevel: int
) -> None:
    """Name the classes that have a single row, or the rows of a single group, or one that has all the weight."""
    labelled = list(zip(inputs.sample.labels, units.tolist(), effective, strict=True))
    unit = "row" if inputs.groups is None else "group"
    single = [label for label, count, _ in labelled if count == 1]
    heavy = [label for label, count, number in labelled if count > 1 and number <= ONE_UNIT]
    for labels, what in (
        (single, "has a single row" if inputs.groups is None else "has the rows of one group only"),
        (heavy, f"has nearly all its weight on one {unit}"),
    ):
        if not labels:
            continue
        names = f"{'class' if len(labels) == 1 else 'each of the classes'} {listing(labels)}"
        warnings.warn(
            f"{names} {what}, which does not show how much it varies: the standard errors that need it are nan",
            RuntimeWarning,
            stacklevel=stacklevel + 1,
        )
