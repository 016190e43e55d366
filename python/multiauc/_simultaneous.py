"""Differences that are looked at together: limits and p-values that allow for their number, and agree."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Final, NamedTuple

from multiauc._input.options import read_level

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multiauc.differences import Difference

#: The name of the correction, for the heads of tables.
CORRECTION: Final = "Bonferroni"


class Corrected(NamedTuple):
    """The limits and the p-value of a difference among others: the p-value is below 1 - level where 0 is outside."""

    low: float
    high: float
    p_value: float


def simultaneous(differences: Sequence[Difference], level: float) -> list[Corrected]:
    """The differences with a joint level: all intervals cover with probability `level` together.

    By Bonferroni's inequality in one step, for intervals and p-values alike; a stepwise correction such as Holm's has
    p-values that no set of intervals agrees with. nan for differences without a standard error, and for those with a
    standard error of 0 unless the models are equal, where p is 1.
    """
    tail = read_level(level)
    tested = sum(not math.isnan(one.standard_error) for one in differences)
    joint = 1.0 - 2.0 * tail / max(tested, 1)
    return [_corrected(one, joint, tested) for one in differences]


def _corrected(one: Difference, level: float, tested: int) -> Corrected:
    with warnings.catch_warnings():
        # Where there is no interval, the caller shows that.
        warnings.simplefilter("ignore", RuntimeWarning)
        low, high = one.confidence_interval(level)
    if math.isnan(low) and one.value != 0.0:
        return Corrected(low, high, math.nan)
    return Corrected(low, high, min(1.0, tested * one.p_value))
