"""Tests of an estimate or of a difference against a value or a margin."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from multiauc import _rust
from multiauc._common.hints import warn
from multiauc._common.result import Result
from multiauc._common.wording import described, one_of, p_in_line

Alternative = Literal["two-sided", "greater", "less"]
ALTERNATIVES = ("two-sided", "greater", "less")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TestResult(Result):
    """A test by Student's t.

    Attributes
    ----------
    alternative : str
        What is to be shown, in words.
    t : float
        The statistic; nan where there is none.
    degrees_of_freedom : float
        Of Student's distribution.
    p_value : float
        How often the statistic would be as far in the direction of the alternative if it did not hold.

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
        test = f"t({self.degrees_of_freedom:.1f}) {self.t:.2f}, p {p_in_line(self.p_value)}"
        return f"TestResult({self.alternative}: {test})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OmnibusTest(Result):
    """The test whether several models are equally good; see `Comparison.omnibus`.

    Attributes
    ----------
    f : float
        The statistic.
    degrees_of_freedom : tuple of two floats
        Of the F distribution.
    p_value : float
        How often the statistic would be as large if all models were equally good.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(3, size=200)
    >>> models = {name: np.eye(3)[y_true] + 2 * rng.random((200, 3)) for name in "abc"}
    >>> multiauc.compare(y_true, models).omnibus().p_value > 0.05
    True
    """

    f: float
    degrees_of_freedom: tuple[float, float]
    p_value: float

    def __repr__(self) -> str:
        first, second = self.degrees_of_freedom
        test = f"F({first:.0f}, {second:.1f}) {self.f:.2f}, p {p_in_line(self.p_value)}"
        return f"OmnibusTest(all models are equal: {test})"


def student_test(name: str, t: float, freedom: float, alternative: str, value: float) -> TestResult:
    """The test whether `name` differs from a value, from its t statistic."""
    if alternative == "two-sided":
        p = _rust.student_two_sided_p(t, freedom)
    else:
        p = _rust.student_upper_p(t if alternative == "greater" else -t, freedom)
    return TestResult(f"{name} {SIGNS[alternative]} {value:g}", t, freedom, p)


SIGNS = {"two-sided": "!=", "greater": ">", "less": "<"}


def untestable(alternative: str, reason: str) -> TestResult:
    """nan, with a warning that says why."""
    warn(f"there is no test of {alternative}: {reason}", RuntimeWarning)
    return TestResult(alternative, math.nan, math.nan, math.nan)


def read_alternative(alternative: Any) -> str:
    """One of the three."""
    return one_of("alternative", alternative, ALTERNATIVES)


def read_number(argument: str, value: Any, *, low: float, high: float) -> float:
    """A number between two others."""
    accepted = f"a number above {low:g} and below {high:g}"
    if isinstance(value, (bool, str)):
        raise TypeError(f"{argument} must be {accepted}; got {value!r}")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{argument} must be {accepted}; got {described(value)}") from None
    if not low < number < high:
        raise ValueError(f"{argument} must be {accepted}; got {value!r}")
    return number
