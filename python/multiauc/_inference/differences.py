"""The difference between two models, and the test of whether there is one."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from multiauc import _rust
from multiauc._common.hints import warn
from multiauc._common.registry import METRICS
from multiauc._common.result import Number, Tabular, pick_numbers
from multiauc._common.wording import decimals, format_interval, names_as_text, p_in_line, printable
from multiauc._inference.hypotheses import SIGNS, TestResult, read_alternative, read_number, student_test, untestable
from multiauc._inference.intervals import NO_INTERVAL, ConfidenceInterval, wald_interval
from multiauc._input.options import read_level

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multiauc._common.result import Numbers, Record
    from multiauc._inference.hypotheses import Alternative
    from multiauc._inference.slice_differences import SliceDifferences


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Difference(Number, Tabular):
    """The value of one model minus that of another on the same rows.

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
        The p-value corrected for the number of differences in the comparison, by the distribution of the smallest of
        all their p-values (single-step min-p).

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
    # The largest difference there can be.
    _largest: float = 1.0
    # Whether the larger value is the better one.
    _is_gain: bool = True
    # Both estimates, where they are of different rows.
    _samples: SliceDifferences | None = None

    @property
    def standard_error(self) -> float:
        """The square root of the variance."""
        return math.sqrt(self.variance)

    @property
    def t(self) -> float:
        """The difference in units of its standard error; 0 for models that rank all rows alike.

        nan where models differ by the same amount in all rows, so that nothing shows how much the difference varies. Of
        samples of different rows, the t of the p-value, which inverts the interval.
        """
        if self._samples is None and self.variance == 0.0:
            return 0.0 if self.value == 0.0 else math.nan
        return self._t_against(0.0)

    @property
    def p_value(self) -> float:
        """Two-sided: how often `t` would be as far from 0 if the models were equally good.

        By Student's distribution with `degrees_of_freedom`.
        """
        t = self.t
        if t == 0.0:
            return 1.0
        return _rust.student_two_sided_p(t, self.degrees_of_freedom)

    def confidence_interval(self, level: float = 0.95) -> ConfidenceInterval:
        r"""The difference ± t times its standard error, cut off at the largest difference there can be.

        Of samples of different rows it is put together from both of their intervals (see `compare_samples`). (nan,
        nan), with a warning, where there is no standard error or it is zero.

        Parameters
        ----------
        level : float, default 0.95
            The nominal coverage.
        """
        interval = self.interval_beyond(read_level(level))
        if math.isnan(interval.low):
            found = "0" if self.variance == 0.0 else "nan"
            warn(
                f"there is no interval for {self.first} - {self.second}: the standard error is {found}",
                RuntimeWarning,
            )
        return interval

    def test(self, value: float = 0.0, alternative: Alternative = "two-sided") -> TestResult:
        """Test whether the difference is another than a value, or greater, or less.

        Parameters
        ----------
        value : float, default 0
            Between -1 and 1; between -2 and 2 for metrics that can be negative; any number for losses.
        alternative : {"two-sided", "greater", "less"}, default "two-sided"
            What is to be shown about the first model minus the second.

        Returns
        -------
        TestResult
            By Student's t with `degrees_of_freedom`. nan, with a warning, where the standard error is nan or 0.
        """
        null = read_number("value", value, low=-self._largest, high=self._largest)
        return self._test(null, read_alternative(alternative))

    def non_inferiority(self, margin: float) -> TestResult:
        """Test whether the first model is worse than the second by less than `margin`.

        One-sided: the p-value is below 0.025 where the 95% interval of the difference lies above -margin. Of losses,
        where less is better, it must lie below margin.

        Parameters
        ----------
        margin : float
            The largest loss that would not matter, above 0; to be chosen before looking at the data.
        """
        limit = read_number("margin", margin, low=0.0, high=self._largest)
        null, side = (-limit, "greater") if self._is_gain else (limit, "less")
        return self._test(null, side)

    def equivalence(self, margin: float) -> TestResult:
        """Test whether the models differ by less than `margin`, either way: two one-sided tests.

        The p-value is the larger of the two, and below 0.05 where the 90% interval of the difference lies between
        -margin and margin.

        Parameters
        ----------
        margin : float
            The largest difference that would not matter, above 0; to be chosen before looking at the data.
        """
        limit = read_number("margin", margin, low=0.0, high=self._largest)
        name = f"|{self._name()}| < {limit:g}"
        if not self._is_testable():
            return untestable(name, self._obstacle())
        t = min(self._t_against(-limit), -self._t_against(limit))
        return TestResult(name, t, self.degrees_of_freedom, _rust.student_upper_p(t, self.degrees_of_freedom))

    def _test(self, null: float, alternative: str) -> TestResult:
        if not self._is_testable():
            what = f"{self._name()} {SIGNS[alternative]} {null:g}"
            return untestable(what, self._obstacle())
        return student_test(self._name(), self._t_against(null), self.degrees_of_freedom, alternative, null)

    def _is_testable(self) -> bool:
        return self.variance > 0.0 if self._samples is None else bool(self._samples.are_testable()[0])

    def _t_against(self, null: float) -> float:
        """Student's t of the test whether the difference is `null`."""
        if self._samples is None:
            return (self.value - null) / self.standard_error
        return float(self._samples.statistics(null)[0][0])

    def _name(self) -> str:
        return " - ".join(map(printable, names_as_text([self.first, self.second])))

    def _obstacle(self) -> str:
        return f"the standard error is {'0' if self.variance == 0.0 else 'nan'}"

    def reversed(self) -> Self:
        """The second model minus the first."""
        samples = None if self._samples is None else self._samples.reversed()
        return replace(self, first=self.second, second=self.first, value=-self.value, _samples=samples)

    def interval_beyond(self, tail: float) -> ConfidenceInterval:
        """The interval with this probability beyond each limit; (nan, nan) where there is none."""
        if not self._is_testable():
            return NO_INTERVAL
        if self._samples is not None:
            low, high = self._samples.intervals(tail)
            return ConfidenceInterval(float(low[0]), float(high[0]))
        t, reach = _rust.student_upper_quantile(tail, self.degrees_of_freedom), self._largest
        return wald_interval(self.value, self.standard_error, t, smallest=-reach, largest=reach)

    def cells(self, interval: tuple[float, float]) -> list[str]:
        """Difference, standard error, an interval, t, degrees of freedom and corrected p-value as text."""
        numbers = [
            decimals(self.value, sign=True),
            decimals(self.standard_error),
            format_interval(*interval, sign=True),
        ]
        test = [_known_text(self.t, ".2f"), _known_text(self.degrees_of_freedom, ".1f")]
        return [*numbers, *test, _p_text(self.corrected_p_value)]

    def to_dict(self, level: float = 0.95) -> Record:
        """Everything by name, with the limits of the interval; nan where they are not known."""
        low, high = self.interval_beyond(read_level(level))
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

    def _numbers(self) -> dict[str, Numbers]:
        first, second = names_as_text([self.first, self.second])
        return {f"{first}_minus_{second}": pick_numbers(self.to_dict())}

    def __repr__(self) -> str:
        value, error, interval, t, freedom, _ = self.cells(self.interval_beyond(0.025))
        test = f"t({freedom}) {t}, p {_p_text(self.p_value)}"
        numbers = f"{value}, standard error {error}, 95% interval {interval}"
        return f"{type(self).__name__}({self._name()}: {numbers}, {test})"


def scale_of_differences(metric: str) -> dict[str, Any]:
    """What a `Difference` has to know of a metric."""
    scale = METRICS[metric].scale
    return {"_largest": scale.largest - scale.smallest, "_is_gain": METRICS[metric].higher_is_better}


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values corrected for their number: the k-th smallest of m times m - k + 1, never falling, at most 1."""
    corrected = [math.nan] * len(p_values)
    known = sorted((p, k) for k, p in enumerate(p_values) if not math.isnan(p))
    largest = 0.0
    for place, (p, k) in enumerate(known):
        largest = max(largest, min(1.0, (len(known) - place) * p))
        corrected[k] = largest
    return corrected


def warn_of_untestable(differences: Sequence[Difference]) -> None:
    """Name the models that differ, but by the same amount in all rows."""
    for one in differences:
        if one.value != 0.0 and not math.isnan(one.variance) and math.isnan(one.t):
            names = " and ".join(map(repr, (one.first, one.second)))
            warn(
                f"the difference between {names} has a standard error of 0, as the rows of each class do not vary: "
                "it has no test, and its p-value is nan",
                RuntimeWarning,
            )


def _p_text(p: float) -> str:
    return "-" if math.isnan(p) else p_in_line(p)


def _known_text(value: float, form: str) -> str:
    return "-" if math.isnan(value) else format(value, form)
