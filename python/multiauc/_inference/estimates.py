"""A number with its uncertainty, and the test of it against a value."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from multiauc import _rust
from multiauc._common import result, wording
from multiauc._common.hints import warn
from multiauc._common.registry import DEFAULT_K, METRICS, Scale
from multiauc._inference import intervals
from multiauc._input.options import read_level, read_number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from multiauc._input.sample import HeldInputs

Alternative = Literal["two-sided", "greater", "less"]
SIGNS = {"two-sided": "!=", "greater": ">", "less": "<"}
INTERVALS = ("wilson", "logit", "log", "wald", "cautious")
IntervalMethod = Literal["wilson", "logit", "log", "wald", "cautious"]
WorstCase: TypeAlias = tuple[float, float]
VARIANCES = ("first_order", "unbiased", "bootstrap_limit")

# Relative to a variance, what rounding leaves when an equal one is subtracted.
ROUNDING = 1e-13

# A class that is effectively one row, or one group: its variance is unknown.
ONE_UNIT = 1.0 + 1e-12


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TestResult(result.Result):
    """A test by Student's t.

    Attributes
    ----------
    alternative : str
        The alternative, in words.
    t : float
        The statistic; nan if there is none.
    degrees_of_freedom : float
        Of Student's distribution.
    p_value : float
        The probability of a statistic at least as extreme under the null hypothesis.

    Examples
    --------
    >>> import multiauc
    >>> y_true = [0] * 20 + [1] * 20
    >>> score = [k % 20 + 5 * (k >= 20) for k in range(40)]
    >>> result = multiauc.evaluate(y_true, score).auc_mu.test(0.5, alternative="greater")
    >>> result
    TestResult(AUC_mu > 0.5: t(45.4) 2.41, p 0.0100)
    """

    alternative: str
    t: float
    degrees_of_freedom: float
    p_value: float

    # No test for pytest to collect.
    __test__: ClassVar[bool] = False

    def __repr__(self) -> str:
        test = f"t({self.degrees_of_freedom:.1f}) {self.t:.2f}, p {wording.p_in_line(self.p_value)}"
        return f"TestResult({self.alternative}: {test})"


def build_test(
    name: str, t: float, freedom: float, alternative: str, value: float, p_values: tuple[float, float] | None = None
) -> TestResult:
    """The test whether `name` differs from a value, from its t statistic, or from p-values (greater, less)."""
    greater, less = p_values or (_rust.student_upper_p(t, freedom), _rust.student_upper_p(-t, freedom))
    both = _rust.student_two_sided_p(t, freedom) if p_values is None else min(1.0, 2.0 * min(p_values))
    p = {"two-sided": both, "greater": greater, "less": less}[alternative]
    return TestResult(f"{name} {SIGNS[alternative]} {value:g}", t, freedom, p)


def warn_of_no_test(alternative: str, reason: str) -> TestResult:
    """nan, with a warning that says why."""
    warn(f"no test is possible for {alternative}: {reason}")
    return TestResult(alternative, math.nan, math.nan, math.nan)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Estimate(result.Number, result.Tabular):
    """The value of a metric with its analytic standard error.

    Attributes
    ----------
    name : hashable
        The metric, the model, or the class compared with the rest.
    value : float
        The estimate; for a stream whose value is not exact, the midpoint of its bounds.
    standard_error : float
        The square root of its first-order variance; nan if a class has a single row (or a single group), or if a
        stream's memory limit is too small to keep a sample of the rows.
    degrees_of_freedom : float
        How well the standard error itself is known: about the size of the class that contributes most to it, and less
        if a few rows dominate.
    smallest_class : int
        The number of rows of the smallest class (of groups, if rows are grouped).
    low, high : float or None
        Guaranteed bounds of a stream: the exact value of its rows always lies between them (with weights, up to a
        rounding of 1e-12). None for rows in memory, whose value is exact. For the limits of the confidence interval
        call `confidence_interval`.

    Examples
    --------
    >>> import multiauc
    >>> y_true = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> estimate = multiauc.evaluate(y_true, [0.1, 0.4, 0.35, 0.3, 0.6, 0.5, 0.8, 0.2]).auc_mu
    >>> estimate
    Estimate(AUC_mu 0.8125, standard error 0.1976, 95% interval 0.2827 to 0.9794)
    >>> low, high = estimate.confidence_interval(level=0.9)
    >>> print(f"{low:.3f} to {high:.3f}")
    0.359 to 0.971
    """

    name: Any
    value: float
    standard_error: float
    degrees_of_freedom: float
    smallest_class: int
    _first_order: float
    _plug_in: float
    # The metric, or the column of the class compared with the rest.
    _of: str | int
    low: float | None = None
    high: float | None = None
    # (value, variance, degrees of freedom) as though each class had one more row; None where that is not known.
    _cautious: tuple[float, float, float] | None = None
    # Design effect and failures; None if there is no worst case, and if the scores do not separate any rows.
    _worst: WorstCase | None = None
    # Those of both bounds.
    _worst_of_bounds: tuple[WorstCase | None, WorstCase | None] = (None, None)
    _inputs: HeldInputs | None = field(default=None, metadata=result.HELD)

    @property
    def exact(self) -> bool:
        """Whether the value is exact: always for rows in memory, and for a stream if both bounds agree."""
        return self.low == self.high

    @property
    def bounds(self) -> tuple[float, float]:
        """The guaranteed bounds, `low` and `high`; for rows in memory both are the value."""
        return (self.value, self.value) if self.low is None or self.high is None else (self.low, self.high)

    def variance(self, kind: Literal["first_order", "unbiased", "bootstrap_limit"] = "first_order") -> float:
        r"""The variance of the estimate.

        Parameters
        ----------
        kind : {"first_order", "unbiased", "bootstrap_limit"}, default "first_order"
            ``"first_order"``: :math:`\sum_k \frac{1}{n_k(n_k-1)} \sum_i (T(i) - \bar T_k)^2`, the square of
            `standard_error`: DeLong's variance, a little too large on average. ``"unbiased"``: corrected for the
            interaction of the two rows of a pair, so right on average; 0, with a warning, if it would be negative.
            ``"bootstrap_limit"``: the variance of infinitely many bootstrap samples within classes.

            The last two are defined for rows without weights or groups and for fixed class sizes, and not for every
            metric.
        """
        wanted = wording.one_of("kind", kind, VARIANCES)
        if wanted == "first_order":
            return self._first_order
        if isinstance(self._of, str) and not METRICS[self._of].has_interactions:
            raise ValueError(f"kind={wanted!r} is not available for {METRICS[self._of].title}; use 'first_order'")
        if self._inputs is None:
            raise ValueError(
                f"kind={wanted!r} needs the data, which an unpickled result and that of a stream do not have; "
                "call evaluate on them"
            )
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
            warn(f"the unbiased variance of {self.name} is negative ({variance:.3g}) and is reported as 0")
            return 0.0
        return variance

    def confidence_interval(
        self, level: float = 0.95, method: IntervalMethod | None = None
    ) -> intervals.ConfidenceInterval:
        r"""A confidence interval for the population value.

        Parameters
        ----------
        level : float, default 0.95
            The nominal coverage.
        method : {"wilson", "logit", "log", "wald", "cautious"}, optional
            Default: ``"wilson"``; ``"logit"`` for Matthews, kappa, accuracy and macro F1; ``"log"`` for log loss and
            the Brier score. ``"wilson"``: Wilson's interval, :math:`\bigl[\theta + t^2 D/2 \pm t \sqrt{\theta(1-\theta)
            D + t^2 D^2/4}\bigr] / (1 + t^2 D)`. D is the variance in units of :math:`\theta(1-\theta)`, shrunken
            towards the largest possible for this number of rows, because ten rows may well miss an error that one row
            in twenty has. ``"logit"``: :math:`\operatorname{expit}(\operatorname{logit}\theta \pm t \cdot SE /
            (\theta(1-\theta)))`, which covers too rarely if few errors were seen. ``"log"``: :math:`\theta \exp(\pm t
            \cdot SE / \theta)`, for means of losses. ``"wald"``: :math:`\theta \pm t \cdot SE`, clipped to the range of
            the metric. t is the quantile of Student's distribution with `degrees_of_freedom`; Wilson's interval uses
            more of them the less D depends on the data. ``"cautious"``: the union of the logit interval and the one
            obtained if each class had one more row (or group), ranked at random: longer than Wilson's.

        Returns
        -------
        intervals.ConfidenceInterval
            (low, high); for a stream, from the lower limit at its `low` to the upper limit at its `high`, which
            includes both uncertainties. At an estimate of 1, all methods but Wilson's give :math:`(\alpha/2)^{1/m}` to
            1, where m is the size of the smallest class; mirrored at 0. Metrics that can be negative use the scale
            :math:`(1 + \theta)/2`. Without a standard error, or with constant scores, (nan, nan) and a warning.
        """
        tail = read_level(level)
        kind = self.interval_method if method is None else wording.one_of("method", method, INTERVALS)
        own, is_log = self.interval_method, self._scale.is_log
        unknown = {"wilson": own != "wilson", "logit": is_log, "log": not is_log, "cautious": self._cautious is None}
        if unknown.get(kind) and not math.isnan(self.standard_error):
            others = [name for name in INTERVALS if not unknown.get(name)]
            raise ValueError(f"method={kind!r} is not available for {self.name}; {wording.listing(others)} are")
        interval = self._interval(tail, kind)
        if math.isnan(interval.low):
            warn(f"no interval is available for {self.name}: its standard error is {self._describe_error()}")
        return interval

    @property
    def interval_method(self) -> str:
        """The kind of interval by default: ``"wilson"``, ``"logit"`` or ``"log"``."""
        return METRICS[self._of].interval if isinstance(self._of, str) else "wilson"

    def _interval(self, tail: float, kind: str | None = None) -> intervals.ConfidenceInterval:
        if self.low is not None:
            return intervals.union(*(self._at(bound)._interval(tail, kind) for bound in self.bounds))  # noqa: SLF001
        rule = kind or self.interval_method
        return intervals.ConfidenceInterval(*_rust.interval(self._known(), rule, self._scale, tail, self._cautious))

    def _known(self) -> tuple[float, float, float, float, WorstCase | None]:
        """What intervals and tests are made of."""
        return (self.value, self._first_order, self.degrees_of_freedom, self.smallest_class, self._worst)

    def _at(self, value: float) -> Estimate:
        """The estimate of a stream, if its exact value were this one."""
        worst = self._worst_of_bounds[0 if value == self.low else 1]
        return replace(self, value=value, low=None, high=None, _worst=worst)

    def worst_case(self) -> WorstCase:
        """Design effect and failures of the worst case; nan where the interval has none."""
        return self._worst or (math.nan, math.nan)

    def test(self, value: float, alternative: Alternative = "two-sided") -> TestResult:
        r"""Test the estimate against a fixed value, such as the chance level or a published result.

        The test inverts the default interval: the two-sided p-value is below 0.05 exactly if the 95% interval excludes
        the value. For Wilson's, :math:`t = (\theta - \theta_0) / \sqrt{\theta_0 (1 - \theta_0) D}`; on the logit scale
        :math:`t = (\operatorname{logit}\theta - \operatorname{logit}\theta_0)\, \theta(1-\theta) / SE`, and at an
        estimate of 1 by the interval from :math:`(\alpha/2)^{1/m}` to 1. For losses, :math:`t = (\ln\theta -
        \ln\theta_0)\, \theta / SE`.

        Parameters
        ----------
        value : float
            Between 0 and 1; between -1 and 1 for metrics that can be negative; above 0 for losses.
        alternative : {"two-sided", "greater", "less"}, default "two-sided"
            The alternative hypothesis about the population value. A stream is tested at its least favourable bound.

        Returns
        -------
        TestResult
            nan, with a warning, if there is no interval.
        """
        smallest, _, is_log = self._scale
        null = read_number("value", value, 0.0) if is_log else read_number("value", value, smallest, 1.0)
        side = wording.one_of("alternative", alternative, tuple(SIGNS))
        alternative_name = f"{self.name} {SIGNS[side]} {null:g}"
        if self.low is not None:
            low, high = self.bounds
            if side == "two-sided" and low < null < high:
                return TestResult(alternative_name, 0.0, self.degrees_of_freedom, 1.0)
            ends = (self._at(bound).test(value, alternative) for bound in dict.fromkeys((low, high)))
            return max(ends, key=lambda found: found.p_value)
        found = _rust.test_by_interval(self._known(), self.interval_method, self._scale, null)
        if found is None:
            return warn_of_no_test(alternative_name, f"the standard error is {self._describe_error()}")
        t, freedom, p_values = found
        return build_test(str(self.name), t, freedom, side, null, p_values)

    @property
    def _scale(self) -> Scale:
        """What values lie between."""
        return METRICS[self._of].scale if isinstance(self._of, str) else Scale()

    def _describe_error(self) -> str:
        return "0: the scores do not vary" if self.standard_error == 0.0 else "nan"

    def cells(self) -> list[str]:
        """Value, bounds if there are any, standard error and 95% interval as text."""
        uncertainty = [wording.decimals(self.standard_error), wording.format_interval(*self._interval(0.025))]
        known = (wording.decimals(self.value),) if self.low is None else format_bounds(self.value, *self.bounds)
        return [*known, *uncertainty]

    def to_dict(self, level: float = 0.95) -> result.Record:
        """Value, standard error and the limits of the interval by name; nan if they are missing.

        A stream adds ``guaranteed_low``, ``guaranteed_high`` and ``exact``.
        """
        low, high = self._interval(read_level(level))
        bounds: result.Record = {}
        if self.low is not None:
            bounds = {"guaranteed_low": self.low, "guaranteed_high": self.high, "exact": self.exact}
        return {"value": self.value, **bounds, "standard_error": self.standard_error, "low": low, "high": high}

    def _rows(self, level: float) -> list[result.Record]:
        return [{"name": self.name, **self.to_dict(level)}]

    def _numbers(self) -> dict[str, result.Numbers]:
        is_metric = isinstance(self._of, str) and self.name == METRICS[self._of].title
        return {str(self._of if is_metric else self.name): result.pick_numbers(self.to_dict())}

    def __repr__(self) -> str:
        value, *bounds, error, interval = self.cells()
        known = "".join(f", {text}" if text in ("exact", "-") else f", guaranteed {text}" for text in bounds)
        name = wording.printable(str(self.name))
        return f"Estimate({name} {value}{known}, standard error {error}, 95% interval {interval})"


def format_bounds(value: float, low: float, high: float) -> tuple[str, str]:
    """A value and its bounds as text, with so many decimals that the bounds differ."""
    if math.isnan(value):
        return "nan", "-"
    if low == high:
        return wording.decimals(value), "exact"
    digits = min(16, max(4, 2 - math.floor(math.log10(high - low))))
    # Rounded outwards: what is printed must be true as well.
    lower, upper = f"{low:.{digits}f}", f"{high:.{digits}f}"
    if float(lower) > low:
        lower = f"{max(0.0, float(lower) - 10.0**-digits):.{digits}f}"
    if float(upper) < high:
        upper = f"{min(1.0, float(upper) + 10.0**-digits):.{digits}f}"
    return wording.decimals(value, digits), f"{lower} to {upper}"


def compute(inputs: HeldInputs) -> _rust.Evaluated:
    """The core's results for the metrics of the inputs."""
    return _rust.evaluate(inputs.arguments(), list(inputs.metrics), inputs.options)


def build_estimate(
    found: _rust.Estimate,
    name: Any,
    smallest: int,
    of: str | int,
    inputs: HeldInputs | None,
    chance: float | None = None,
) -> Estimate:
    """The core's estimate of a metric (`of` its name) or of a class against the rest (`of` its column).

    nan for a metric of a sample that it is not defined for. `chance` is that of a class with a chance of its own.
    """
    if chance is None and inputs is not None:
        if isinstance(of, str) and inputs.sample.is_undefined:
            return build_bare_estimate(math.nan, name, smallest, of, inputs)
        chance = 0.5 if isinstance(of, int) else _find_chance(of, inputs)
    worst = build_worst_case(found.worst, found.value, found.variance, 0.5 if chance is None else chance)
    numbers = (found.value, math.sqrt(found.variance), found.degrees_of_freedom, smallest)
    variances = (found.variance, found.plug_in)
    return Estimate(name, *numbers, *variances, of, _cautious=found.cautious, _worst=worst, _inputs=inputs)


def _find_chance(metric: str, inputs: HeldInputs) -> float:
    found = METRICS[metric]
    # Shares of weights take a pass over the rows.
    shares = inputs.sample.shares().tolist() if found.chance == "prevalence" else None
    n_classes = int((inputs.sample.rows > 0).sum())
    return found.chance_of(n_classes, shares=shares, k=inputs.options.k or DEFAULT_K)


def build_worst_case(found: WorstCase | None, value: float, variance: float, chance: float) -> WorstCase | None:
    """The core's worst case of an estimate; None if the scores do not separate any rows."""
    return None if intervals.is_at_chance(value, variance, chance) else found


def build_bare_estimate(
    value: float, name: Any, smallest_class: int, of: str | int, inputs: HeldInputs | None = None
) -> Estimate:
    """A value whose standard error is not known, or nan."""
    nan = math.nan
    return Estimate(name, value, nan, nan, smallest_class, _first_order=nan, _plug_in=nan, _of=of, _inputs=inputs)


def count_smallest(units: NDArray[np.int64]) -> int:
    """Rows (or groups) of the smallest class that has any."""
    return int(units[units > 0].min())


def warn_of_single_units(inputs: HeldInputs, found: _rust.Evaluated | _rust.Compared | _rust.Runs) -> None:
    """Warn about classes with a single row or group, or with nearly all weight on one."""
    labelled = list(zip(inputs.sample.labels, found.units.tolist(), found.effective_units, strict=True))
    unit = "row" if inputs.groups is None else "group"
    single = [label for label, count, _ in labelled if count == 1]
    heavy = [label for label, count, number in labelled if count > 1 and number <= ONE_UNIT]
    for labels, what in (
        (single, "has a single row" if inputs.groups is None else "has the rows of one group only"),
        (heavy, f"has nearly all its weight on one {unit}"),
    ):
        if labels:
            names = f"{'class' if len(labels) == 1 else 'each of the classes'} {wording.listing(labels)}"
            warn(f"{names} {what}, so its variance is unknown: the standard errors that need it are nan")
