"""Differences between models on the same rows, several of them at once, and differences of different rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from multiauc import _rust
from multiauc._common import result, wording
from multiauc._common.hints import warn
from multiauc._common.registry import METRICS
from multiauc._inference import estimates, intervals
from multiauc._input.options import read_level, read_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from multiauc._common.registry import Scale

# Relative to a variance, how far that from the covariances of the models may be off; beyond, it has cancelled.
CANCELLED = 1e-6


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Difference(result.Number, result.Tabular):
    """The value of one model minus that of another on the same rows.

    Attributes
    ----------
    first, second : hashable
        The models.
    value : float
        The value of the first minus that of the second.
    variance : float
        Its variance, from the influence values of the rows.
    degrees_of_freedom : float
        How well the variance is known; at most what the class sizes alone would give (see `Estimate`).
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
    # Both estimates and their scale, where they are of different rows.
    _samples: tuple[Side, Side, Scale] | None = None

    @property
    def standard_error(self) -> float:
        """The square root of the variance."""
        return math.sqrt(self.variance)

    @property
    def t(self) -> float:
        """The difference divided by its standard error; 0 for models that rank all rows in the same way.

        nan if models differ by the same amount in all rows, because then the variance of the difference is unknown. For
        samples of different rows it is the t that corresponds to the p-value, which inverts the interval: near 1 the
        interval is not symmetric, so t is not the difference divided by its standard error.
        """
        if self._samples is None and self.variance == 0.0:
            return 0.0 if self.value == 0.0 else math.nan
        return self._t_against(0.0)

    @property
    def p_value(self) -> float:
        """The two-sided p-value of the hypothesis that the models are equally good.

        From Student's distribution with `degrees_of_freedom`; for samples of different rows, from inverting the
        interval.
        """
        if self._samples is not None:
            return float(p_values_of(self._apart(*self._samples).statistics()[0])[0])
        return 1.0 if self.t == 0.0 else _rust.student_two_sided_p(self.t, self.degrees_of_freedom)

    def confidence_interval(self, level: float = 0.95) -> intervals.ConfidenceInterval:
        r"""The difference ± t times its standard error, clipped to the largest possible difference.

        For samples of different rows it combines their two intervals (see `compare_samples`). (nan, nan), with a
        warning, if the standard error is missing or zero.

        Parameters
        ----------
        level : float, default 0.95
            The nominal coverage.
        """
        interval = self.interval_beyond(read_level(level))
        if math.isnan(interval.low):
            warn(f"no interval is available for {self.first} - {self.second}: {self._obstacle()}")
        return interval

    def test(self, value: float = 0.0, alternative: estimates.Alternative = "two-sided") -> estimates.TestResult:
        """Test whether the difference is not equal to, greater than or less than a value.

        Parameters
        ----------
        value : float, default 0
            Between -1 and 1; between -2 and 2 for metrics that can be negative; any number for losses.
        alternative : {"two-sided", "greater", "less"}, default "two-sided"
            The alternative hypothesis about the first model minus the second.

        Returns
        -------
        TestResult
            By Student's t with `degrees_of_freedom`. nan, with a warning, if the standard error is nan or 0.
        """
        null = read_number("value", value, -self._largest, self._largest)
        return self._test(null, wording.one_of("alternative", alternative, tuple(estimates.SIGNS)))

    def non_inferiority(self, margin: float) -> estimates.TestResult:
        """Test whether the first model is worse than the second by less than `margin`.

        One-sided: the p-value is below 0.025 if the 95% interval of the difference lies above -margin (below margin for
        losses, where less is better).

        Parameters
        ----------
        margin : float
            The largest loss that would not matter, above 0; choose it before looking at the data.
        """
        limit = read_number("margin", margin, 0.0, self._largest)
        null, side = (-limit, "greater") if self._is_gain else (limit, "less")
        return self._test(null, side)

    def equivalence(self, margin: float) -> estimates.TestResult:
        """Test whether the models differ by less than `margin` in either direction, with two one-sided tests.

        The p-value is the larger of the two. It is below 0.05 if the 90% interval of the difference lies between
        -margin and margin.

        Parameters
        ----------
        margin : float
            The largest difference that would not matter, above 0; choose it before looking at the data.
        """
        limit = read_number("margin", margin, 0.0, self._largest)
        name = f"|{self._name()}| < {limit:g}"
        if not self.is_testable():
            return estimates.warn_of_no_test(name, self._obstacle())
        t = min(self._t_against(-limit), -self._t_against(limit))
        p_value = _rust.student_upper_p(t, self.degrees_of_freedom)
        return estimates.TestResult(name, t, self.degrees_of_freedom, p_value)

    def _test(self, null: float, alternative: str) -> estimates.TestResult:
        name, freedom = self._name(), self.degrees_of_freedom
        if not self.is_testable():
            return estimates.warn_of_no_test(f"{name} {estimates.SIGNS[alternative]} {null:g}", self._obstacle())
        return estimates.build_test(name, self._t_against(null), freedom, alternative, null)

    def is_testable(self) -> bool:
        """Whether there is a test."""
        return self.variance > 0.0 if self._samples is None else bool(self._apart(*self._samples).are_testable[0])

    @staticmethod
    def _apart(first: Side, second: Side, scale: Scale) -> _rust.SampleDifferences:
        return _rust.SampleDifferences(first, second, np.zeros(1), scale)

    def _t_against(self, null: float) -> float:
        """Student's t of the test whether the difference is `null`."""
        if self._samples is None:
            return (self.value - null) / self.standard_error
        return float(self._apart(*self._samples).statistics(null)[1][0])

    def _name(self) -> str:
        return " - ".join(map(wording.printable, wording.names_as_text([self.first, self.second])))

    def _obstacle(self) -> str:
        return f"the standard error is {'0' if self.variance == 0.0 else 'nan'}"

    def reversed(self) -> Self:
        """The second model minus the first."""
        samples = None if self._samples is None else (self._samples[1], self._samples[0], self._samples[2])
        return replace(self, first=self.second, second=self.first, value=-self.value, _samples=samples)

    def interval_beyond(self, tail: float) -> intervals.ConfidenceInterval:
        """The interval with this probability beyond each limit; (nan, nan) where there is none."""
        if not self.is_testable():
            return intervals.NO_INTERVAL
        if self._samples is not None:
            limits = self._apart(*self._samples).intervals(tail)
            return intervals.ConfidenceInterval(*(float(limit[0]) for limit in limits))
        t, reach = _rust.student_upper_quantile(tail, self.degrees_of_freedom), self._largest
        return intervals.wald_interval(self.value, self.standard_error, t, smallest=-reach, largest=reach)

    def cells(self, limits: tuple[float, float]) -> list[str]:
        """Difference, standard error, an interval, t, degrees of freedom and corrected p-value as text."""
        value, error = wording.decimals(self.value, sign=True), wording.decimals(self.standard_error)
        test = [_format_known(self.t, ".2f"), _format_known(self.degrees_of_freedom, ".1f")]
        return [value, error, wording.format_interval(*limits, sign=True), *test, format_p(self.corrected_p_value)]

    def to_dict(self, level: float = 0.95) -> result.Record:
        """Everything by name, with the limits of the interval; nan where they are not known."""
        limits = self.interval_beyond(read_level(level))._asdict()
        test = self._pick("t", "degrees_of_freedom", "p_value", "corrected_p_value")
        return self._pick("first", "second", "value", "standard_error") | limits | test

    def _numbers(self) -> dict[str, result.Numbers]:
        first, second = wording.names_as_text([self.first, self.second])
        return {f"{first}_minus_{second}": result.pick_numbers(self.to_dict())}

    def __repr__(self) -> str:
        value, error, interval, t, freedom, _ = self.cells(self.interval_beyond(0.025))
        numbers = f"{value}, standard error {error}, 95% interval {interval}"
        # Of different rows, t is not the difference over the standard error beside it.
        test = f", t({freedom}) {t}" if self._samples is None else ""
        return f"{type(self).__name__}({self._name()}: {numbers}{test}, p {format_p(self.p_value)})"


def format_p(p: float) -> str:
    return "-" if math.isnan(p) else wording.p_in_line(p)


def _format_known(value: float, form: str) -> str:
    return "-" if math.isnan(value) else format(value, form)


def read_scale(metric: str) -> dict[str, Any]:
    """The properties of a metric that a `Difference` needs."""
    scale = METRICS[metric].scale
    return {"_largest": scale.largest - scale.smallest, "_is_gain": METRICS[metric].higher_is_better}


def warn_of_untestable(differences: Sequence[Difference]) -> None:
    """Warn about models that differ by the same amount in all rows."""
    for one in differences:
        if one.value != 0.0 and not math.isnan(one.variance) and not one.is_testable():
            names = " and ".join(map(repr, (one.first, one.second)))
            warn(
                f"the difference between {names} has a standard error of 0, as the rows of each class do not vary: "
                "it has no test, and its p-value is nan"
            )


class Family:
    r"""Differences that are tested together, those that have a standard error.

    Corrected p-values and simultaneous intervals come from the distribution of the smallest p-value of all of them,
    each with its own degrees of freedom: a p-value is below 1 - level exactly if the interval at that level excludes 0.
    Correlations between differences come from the covariance of the models, or are given, or are left aside.
    """

    def __init__(
        self,
        differences: Sequence[Difference],
        *,
        covariance: NDArray[np.float64] | None = None,
        correlations: NDArray[np.float64] | None = None,
    ) -> None:
        known = [place for place, one in enumerate(differences) if one.variance > 0.0]
        self._differences = differences
        if covariance is not None and len(known) > 1:
            variances = np.array([differences[place].variance for place in known])
            self._smallest = _rust.MinP(len(known), _vectors(covariance, known, variances))
        else:
            self._smallest = min_p(len(known), None if correlations is None else correlations[np.ix_(known, known)])

    def correct(self) -> list[Difference]:
        """All differences, with p-values corrected for their number."""
        return [
            replace(one, corrected_p_value=self._smallest.correct(one.p_value) if one.variance > 0.0 else one.p_value)
            for one in self._differences
        ]

    def intervals(self, tail: float) -> list[intervals.ConfidenceInterval]:
        """Intervals that all cover at once with probability 1 - 2 tail."""
        of_one = self._smallest.tail_of_one(tail)
        return [
            one.interval_beyond(of_one) if one.variance > 0.0 else intervals.NO_INTERVAL for one in self._differences
        ]


def _vectors(covariance: NDArray[np.float64], known: list[int], variances: NDArray[np.float64]) -> NDArray[np.float64]:
    """A vector for each difference, whose products are their covariances."""
    sizes, axes = np.linalg.eigh(covariance)
    models = axes * np.sqrt(np.maximum(sizes, 0.0))
    pairs = list(combinations(range(len(models)), 2))
    vectors = np.array([models[i] - models[j] for i, j in (pairs[place] for place in known)])
    found = (vectors**2).sum(axis=1)
    # Models that nearly agree: their covariances have cancelled, and their difference counts as independent of others.
    cancelled = np.flatnonzero(np.abs(found - variances) > CANCELLED * variances)
    vectors[cancelled] = 0.0
    own = np.zeros((len(known), len(cancelled)))
    own[cancelled, np.arange(len(cancelled))] = np.sqrt(variances[cancelled])
    return np.concatenate([vectors, own], axis=1)


def min_p(count: int, correlations: NDArray[np.float64] | None) -> _rust.MinP:
    """The correction of `count` p-values for their number, with the correlations of what is tested if they matter."""
    if correlations is None or count <= 1:
        return _rust.MinP(count, None)
    sizes, axes = np.linalg.eigh(correlations)
    return _rust.MinP(count, axes * np.sqrt(np.maximum(sizes, 0.0)))


class Side(NamedTuple):
    """Slices, or what they are compared with: an entry for each."""

    values: NDArray[np.float64]
    variances: NDArray[np.float64]
    degrees_of_freedom: NDArray[np.float64]
    smallest_classes: NDArray[np.int64]
    # The worst case of Wilson's intervals; nan for values that have logit intervals, or none.
    design_effects: NDArray[np.float64]
    failures: NDArray[np.float64]

    def take(self, order: NDArray[np.intp]) -> Side:
        """The same in another order."""
        return Side._make(numbers[order] for numbers in self)

    @classmethod
    def of(cls, estimate: estimates.Estimate) -> Side:
        """One estimate as a side."""
        effect, failures = estimate.worst_case()
        numbers = (estimate.value, estimate.variance(), estimate.degrees_of_freedom, estimate.smallest_class)
        return cls._make(np.array([one]) for one in (*numbers, effect, failures))


def p_values_of(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """How often a normal number is as far out, either way."""
    return np.array([math.erfc(one / math.sqrt(2.0)) for one in z.tolist()])
