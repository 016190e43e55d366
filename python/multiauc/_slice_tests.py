r"""Differences of many slices from what they are compared with: intervals, p-values, and their correction for number.

A slice of a hundred rows may well be perfectly separated, and its estimated variance is the smaller the better it seems
to be: the symmetric interval :math:`d \pm t \cdot SE` would find it better than the rest far too often. So the logit
intervals of slice and reference, which know the way to 1, are put together ("square and add"; R. G. Newcombe,
"Interval estimation for the difference between independent proportions", Statistics in Medicine 17 (1998), 873-890;
G. Y. Zou and A. Donner, "Construction of confidence limits about effect measures", the same 27 (2008), 1693-1702):

.. math:: d - \sqrt{\kappa \bigl((\theta_s - l_s)^2 + (u_r - \theta_r)^2\bigr)} \quad \text{to} \quad
          d + \sqrt{\kappa \bigl((u_s - \theta_s)^2 + (\theta_r - l_r)^2\bigr)},

l and u being logit limits with the t of Welch's degrees of freedom. :math:`\kappa = (V_s + V_r - 2 C) / (V_s + V_r)`
allows for the covariance of slice and reference: it is 1 for disjoint rows, unless they share groups. The test inverts
the interval: its t is the largest with which the interval leaves 0 out.

All p-values are corrected by the distribution of the smallest of them (single-step min-p). For many slices, that of
independent ones, :math:`1 - (1 - p)^m`: slices have no rows in common, and what their rests have in common makes
differences correlate by about minus the shares of the slices; whatever the correlations, the correction holds
(Z. Sidak, "Rectangular confidence regions for the means of multivariate normal distributions", JASA 62 (1967),
626-633). For few slices correlations matter, two slices being one comparison seen from both sides, and the
distribution is that of the largest of correlated normal numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from multiauc._intervals import logit_intervals
from multiauc._max_t import MaxT
from multiauc._student import NORMAL_FROM, two_sided_ps, upper_quantiles

if TYPE_CHECKING:
    from numpy.typing import NDArray

# More halvings than a double has bits.
HALVINGS = 60
# No t is looked for beyond: its p-value is 0 with all but a few degrees of freedom.
LARGEST_T = 2.0**40
# Smaller p-values count as this one where correlations are allowed for.
LEAST_P = 1e-300


class Side(NamedTuple):
    """Slices, or what they are compared with: an entry for each."""

    values: NDArray[np.float64]
    variances: NDArray[np.float64]
    degrees_of_freedom: NDArray[np.float64]
    smallest_classes: NDArray[np.int64]

    def intervals(
        self, t: NDArray[np.float64], tails: float | NDArray[np.float64], smallest: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Logit limits of values between `smallest` and 1, so many standard errors away on that scale."""
        size = 1.0 - smallest
        places, errors = (self.values - smallest) / size, np.sqrt(self.variances) / size
        # A slice without a value may have no rows.
        counts = np.maximum(self.smallest_classes, 1)
        low, high = logit_intervals(places, errors, t, tails, counts)
        return smallest + size * low, smallest + size * high

    def known(self, smallest: float) -> NDArray[np.bool_]:
        """Whether there is an interval."""
        at_bound = (self.values == 1.0) | (self.values == smallest)
        return np.asarray((self.variances > 0.0) | ((self.variances == 0.0) & at_bound))

    def taken(self, order: NDArray[np.intp]) -> Side:
        """The same in another order."""
        values, variances, freedoms, counts = self
        return Side(values[order], variances[order], freedoms[order], counts[order])


def student_quantiles(tail: float, freedoms: NDArray[np.float64]) -> NDArray[np.float64]:
    """The t of each number of degrees of freedom; of nan, where nothing varies, that of infinitely many."""
    return upper_quantiles(tail, np.where(np.isnan(freedoms), NORMAL_FROM, freedoms))


@dataclass(frozen=True, slots=True)
class SliceDifferences:
    """The differences between slices and what they are compared with."""

    slices: Side
    references: Side
    covariances: NDArray[np.float64]
    smallest: float

    @property
    def values(self) -> NDArray[np.float64]:
        """Slice minus reference."""
        return self.slices.values - self.references.values

    @property
    def variances(self) -> NDArray[np.float64]:
        """Of the differences."""
        total = self.slices.variances + self.references.variances
        # Rounding aside it is a sum of squares.
        return np.maximum(total - 2.0 * self.covariances, 0.0)

    def are_testable(self) -> NDArray[np.bool_]:
        """Whether there is a test."""
        return self.slices.known(self.smallest) & self.references.known(self.smallest) & ~np.isnan(self.covariances)

    def degrees_of_freedom(self) -> NDArray[np.float64]:
        """Welch's, as though slice and reference were independent; infinitely many where nothing varies."""
        total, uncertainty = np.zeros_like(self.covariances), np.zeros_like(self.covariances)
        for side in (self.slices, self.references):
            varies = side.variances > 0.0
            total += np.where(varies, side.variances, 0.0)
            uncertainty += np.where(varies, side.variances**2 / np.where(varies, side.degrees_of_freedom, 1.0), 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            freedom = np.where(uncertainty > 0.0, total**2 / uncertainty, NORMAL_FROM)
        return np.where(self.are_testable(), np.maximum(freedom, 1.0), np.nan)

    def intervals(self, tail: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Limits with this probability beyond each of them; nan where there is no test."""
        down, up = self._reaches(student_quantiles(tail, self.degrees_of_freedom()), tail)
        return self.values - down, self.values + up

    def statistics(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Student's t with the sign of the difference, and the two-sided p-value; nan where there is no test."""
        freedom = self.degrees_of_freedom()
        needs_tails = np.zeros(len(freedom), dtype=bool)
        for side in (self.slices, self.references):
            needs_tails |= side.variances == 0.0
        low, high = np.zeros_like(freedom), np.full_like(freedom, 1.0)
        while (grows := self._leaves_zero_out(high, freedom, needs_tails) & (high < LARGEST_T)).any():
            low, high = np.where(grows, high, low), np.where(grows, 2.0 * high, high)
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            leaves = self._leaves_zero_out(middle, freedom, needs_tails)
            low, high = np.where(leaves, middle, low), np.where(leaves, high, middle)
        t = np.where(self.are_testable(), np.copysign(low, self.values), np.nan)
        return t, two_sided_ps(t, freedom)

    def _leaves_zero_out(
        self, t: NDArray[np.float64], freedom: NDArray[np.float64], needs_tails: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Whether the interval that reaches t standard errors does."""
        # Only values at a bound look at the probability itself.
        tails = np.full_like(t, 0.5)
        tails[needs_tails] = 0.5 * two_sided_ps(t[needs_tails], freedom[needs_tails])
        down, up = self._reaches(t, tails)
        with np.errstate(invalid="ignore"):
            return np.where(self.values > 0.0, down < self.values, up < -self.values)

    def _reaches(
        self, t: NDArray[np.float64], tails: float | NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """How far an interval reaches below the difference, and above it."""
        low, high = self.slices.intervals(t, tails, self.smallest)
        reference_low, reference_high = self.references.intervals(t, tails, self.smallest)
        total = self.slices.variances + self.references.variances
        with np.errstate(divide="ignore", invalid="ignore"):
            shrunk = np.sqrt(np.where(total > 0.0, self.variances / total, 1.0))
        down = np.hypot(self.slices.values - low, reference_high - self.references.values)
        up = np.hypot(high - self.slices.values, self.references.values - reference_low)
        unknown = np.where(self.are_testable(), 0.0, np.nan)
        return shrunk * down + unknown, shrunk * up + unknown


class SliceFamily:
    """The correction of p-values for the number of tests.

    Parameters
    ----------
    count
        How many tests there are.
    correlations
        Of the differences, if they matter: those of a row and a column of zero count as independent of all others.
    """

    def __init__(self, count: int, correlations: NDArray[np.float64] | None) -> None:
        self.count = count
        self._largest = None
        if correlations is not None and count > 1:
            sizes, axes = np.linalg.eigh(correlations)
            self._largest = MaxT(axes * np.sqrt(np.maximum(sizes, 0.0)), 10.0 * NORMAL_FROM)

    def corrected(self, p: float) -> float:
        """How often the smallest of all p-values is at most `p`; nan for nan."""
        if math.isnan(p):
            return math.nan
        independent = -math.expm1(self.count * math.log1p(-p)) if p < 1.0 else 1.0
        if self._largest is None or p >= 1.0:
            return independent
        z = -NormalDist().inv_cdf(0.5 * max(p, LEAST_P))
        return min(independent, max(p, self._largest.p_value(z)))

    def tail_of_one(self, tail: float) -> float:
        """The tail of each interval so that all of them cover at once with probability 1 - 2 `tail`."""
        wanted = 2.0 * tail
        low = -math.expm1(math.log1p(-wanted) / max(self.count, 1))
        if self._largest is None:
            return 0.5 * low
        high = wanted
        while high - low > 1e-12 * high:
            middle = 0.5 * (low + high)
            low, high = (low, middle) if self.corrected(middle) > wanted else (middle, high)
        return 0.5 * low
