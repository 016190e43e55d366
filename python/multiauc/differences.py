"""The difference between two models, and the test of whether there is one."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from multiauc._digits import decimals
from multiauc._input.options import read_level
from multiauc._intervals import NO_INTERVAL, wald_interval
from multiauc._student import two_sided_p, upper_quantile
from multiauc._wording import names_as_text, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multiauc.results import ConfidenceInterval


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Difference:
    """How much better one model is than another on the same rows.

    Attributes
    ----------
    first, second : hashable
        The models.
    value : float
        The value of the first minus that of the second.
    variance : float
        Its variance, from what each row contributes to the difference.
    degrees_of_freedom : float
        How well the variance is known; see `Estimate`.
    corrected_p_value : float
        The p-value corrected for the number of differences in the comparison, after Holm.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(3, size=200)
    >>> models = {name: np.eye(3)[y_true] + noise * rng.random((200, 3)) for name, noise in [("good", 2), ("fair", 3)]}
    >>> difference = multiauc.compare(y_true, models).difference("good", "fair")
    >>> low, high = difference.confidence_interval(level=0.9)
    >>> print(f"{difference.value:.3f}, {low:.3f} to {high:.3f}, p {difference.p_value:.5f}")
    0.090, 0.053 to 0.127, p 0.00008
    """

    first: Any
    second: Any
    value: float
    variance: float
    degrees_of_freedom: float
    corrected_p_value: float = math.nan

    @property
    def standard_error(self) -> float:
        """The square root of the variance."""
        return math.sqrt(self.variance)

    @property
    def t(self) -> float:
        """The difference in units of its standard error; 0 for models that rank all rows alike.

        nan where models differ by the same amount in all rows, so that nothing shows how much the difference varies.
        """
        if self.variance == 0.0:
            return 0.0 if self.value == 0.0 else math.nan
        return self.value / self.standard_error

    @property
    def p_value(self) -> float:
        """Two-sided: how often `t` would be as far from 0 if the models were equally good.

        By Student's distribution with `degrees_of_freedom`.
        """
        t = self.t
        if t == 0.0:
            return 1.0
        return two_sided_p(t, self.degrees_of_freedom)

    def confidence_interval(self, level: float = 0.95) -> ConfidenceInterval:
        r"""The difference ± t times its standard error, cut off at -1 and 1.

        (nan, nan), with a warning, where there is no standard error or it is zero.

        Parameters
        ----------
        level : float, default 0.95
            The nominal coverage.
        """
        interval = self._interval(read_level(level))
        if math.isnan(interval.low):
            found = "0" if self.variance == 0.0 else "nan"
            warnings.warn(
                f"there is no interval for {self.first} - {self.second}: the standard error is {found}",
                RuntimeWarning,
                stacklevel=2,
            )
        return interval

    def reversed(self) -> Difference:
        """The second model minus the first."""
        return replace(self, first=self.second, second=self.first, value=-self.value)

    def _interval(self, tail: float) -> ConfidenceInterval:
        if not self.variance > 0.0:
            return NO_INTERVAL
        t = upper_quantile(tail, self.degrees_of_freedom)
        return wald_interval(self.value, self.standard_error, t, smallest=-1.0, largest=1.0)

    def cells(self) -> list[str]:
        """Difference, standard error, 95% interval, t, degrees of freedom and both p-values as text."""
        low, high = self._interval(0.025)
        interval = "-" if math.isnan(low) else f"{decimals(low, sign=True)} to {decimals(high, sign=True)}"
        test = [_known_text(self.t, ".2f"), _known_text(self.degrees_of_freedom, ".1f")]
        numbers = [decimals(self.value, sign=True), decimals(self.standard_error), interval]
        return [*numbers, *test, _p_text(self.p_value), _p_text(self.corrected_p_value)]

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """Everything by name, with the limits of the interval; nan where they are not known."""
        low, high = self._interval(read_level(level))
        return {
            "first": self.first,
            "second": self.second,
            "value": self.value,
            "standard_error": self.standard_error,
            "low": low,
            "high": high,
            "t": self.t,
            "degrees_of_freedom": self.degrees_of_freedom,
            "p_value": self.p_value,
            "corrected_p_value": self.corrected_p_value,
        }

    def __repr__(self) -> str:
        value, error, interval, t, freedom, p, _ = self.cells()
        name = " - ".join(map(printable, names_as_text([self.first, self.second])))
        test = f"t({freedom}) {t}"
        return f"Difference({name}: {value}, standard error {error}, 95% interval {interval}, {test}, p {p})"


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values corrected for their number: the k-th smallest of m times m - k + 1, never falling, at most 1."""
    corrected = [math.nan] * len(p_values)
    known = sorted((p, k) for k, p in enumerate(p_values) if not math.isnan(p))
    largest = 0.0
    for place, (p, k) in enumerate(known):
        largest = max(largest, min(1.0, (len(known) - place) * p))
        corrected[k] = largest
    return corrected


def warn_of_untestable(differences: Sequence[Difference], stacklevel: int) -> None:
    """Name the models that differ, but by the same amount in all rows."""
    for one in differences:
        if one.variance == 0.0 and one.value != 0.0:
            names = " and ".join(map(repr, (one.first, one.second)))
            warnings.warn(
                f"the difference between {names} has a standard error of 0, as the rows of each class do not vary: "
                "it has no test, and its p-value is nan",
                RuntimeWarning,
                stacklevel=stacklevel + 1,
            )


def _p_text(p: float) -> str:
    return "<0.0001" if p < 1e-4 else _known_text(p, ".4f")


def _known_text(value: float, form: str) -> str:
    return "-" if math.isnan(value) else format(value, form)
