r"""Differences of estimates of different rows: slices from what they are compared with, or two samples.

A slice of a hundred rows may well be perfectly separated, and its estimated variance is the smaller the better it
seems to be: the symmetric interval :math:`d \pm t \cdot SE` would find it better than the rest far too often. So the
intervals of both sides, which know the way to 1, are put together ("square and add", MOVER; R. G. Newcombe, "Interval
estimation for the difference between independent proportions", Statistics in Medicine 17 (1998), 873-890; G. Y. Zou and
A. Donner, "Construction of confidence limits about effect measures", the same 27 (2008), 1693-1702):

.. math:: d - \sqrt{\kappa \bigl((\theta_s - l_s)^2 + (u_r - \theta_r)^2\bigr)} \quad \text{to} \quad
          d + \sqrt{\kappa \bigl((u_s - \theta_s)^2 + (\theta_r - l_r)^2\bigr)},

l and u being the limits that each side has by itself. :math:`\kappa = (V_s + V_r - 2 C) / (V_s + V_r)` allows for the
covariance of slice and reference: it is 1 for disjoint rows, unless they share groups. The test inverts the interval:
the p-value is that of the longest interval that leaves the hypothesis out, and its t is Student's with Welch's degrees
of freedom for that p-value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from multiauc import _rust
from multiauc._inference.intervals import Wilson, WorstCase, log_intervals, logit_intervals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from multiauc._common.registry import Scale
    from multiauc._inference.estimates import Estimate

# No normal number is looked for beyond: its p-value is the least that a double has.
FARTHEST = 37.5
# The steps of a search end when they hardly move, or after this many.
STEPS = 40
ENOUGH = 1e-11


class Side(NamedTuple):
    """Slices, or what they are compared with: an entry for each."""

    values: NDArray[np.float64]
    variances: NDArray[np.float64]
    degrees_of_freedom: NDArray[np.float64]
    smallest_classes: NDArray[np.int64]
    # Of Wilson's intervals (see `WorstCase`); nan for values that have logit intervals, or none.
    design_effects: NDArray[np.float64]
    failures: NDArray[np.float64]

    def intervals(self, tail: float, scale: Scale) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Limits of values, with this probability beyond each of them."""
        freedoms = self._freedoms()
        return self._limits(_rust.student_upper_quantiles(tail, freedoms), tail, scale)

    def intervals_as_far(self, z: NDArray[np.float64], scale: Scale) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The same as far out as each of some normal numbers."""
        tails = np.array([0.5 * math.erfc(one / math.sqrt(2.0)) for one in z.tolist()])
        return self._limits(_rust.student_quantiles_as_far(z, self._freedoms()), tails, scale)

    def _wilson(self) -> Wilson:
        worst = WorstCase(self.design_effects, self.failures)
        return Wilson.of(self.values, self.variances, self.degrees_of_freedom, worst)

    def _freedoms(self) -> NDArray[np.float64]:
        """Of the interval of each value; infinitely many where nothing varies."""
        found = np.where(np.isnan(self.design_effects), self.degrees_of_freedom, self._wilson().degrees_of_freedom)
        return np.where(np.isnan(found), _rust.NORMAL_FROM, found)

    def _limits(
        self, t: NDArray[np.float64], tails: float | NDArray[np.float64], scale: Scale
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        if scale.is_log:
            return log_intervals(self.values, np.sqrt(self.variances), t)
        smallest, size = scale.smallest, 1.0 - scale.smallest
        places, errors = (self.values - smallest) / size, np.sqrt(self.variances) / size
        # A slice without a value may have no rows.
        counts = np.maximum(self.smallest_classes, 1)
        low, high = logit_intervals(places, errors, t, tails, counts)
        is_wilson = ~np.isnan(self.design_effects)
        if not is_wilson.any():
            return smallest + size * low, smallest + size * high
        wilson = self._wilson().limits(t)
        low, high = (np.where(is_wilson, a, smallest + size * b) for a, b in zip(wilson, (low, high), strict=True))
        return low, high

    def known(self, scale: Scale) -> NDArray[np.bool_]:
        """Whether there is an interval."""
        at_bound = ((self.values == 1.0) | (self.values == scale.smallest)) & (not scale.is_log)
        is_wilson = ~np.isnan(self.design_effects)
        return np.asarray((self.variances > 0.0) | ((self.variances == 0.0) & (at_bound | is_wilson)))

    def take(self, order: NDArray[np.intp]) -> Side:
        """The same in another order."""
        return Side._make(numbers[order] for numbers in self)

    @classmethod
    def of(cls, estimate: Estimate) -> Side:
        """One estimate as a side."""
        effect, failures = estimate.worst_case()
        numbers = (estimate.value, estimate.variance(), estimate.degrees_of_freedom, estimate.smallest_class)
        return cls._make(np.array([one]) for one in (*numbers, effect, failures))


@dataclass(frozen=True, slots=True)
class SliceDifferences:
    """The differences between slices and what they are compared with."""

    slices: Side
    references: Side
    covariances: NDArray[np.float64]
    scale: Scale

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

    def reversed(self) -> SliceDifferences:
        """References minus slices."""
        return SliceDifferences(self.references, self.slices, self.covariances, self.scale)

    def are_testable(self) -> NDArray[np.bool_]:
        """Whether there is a test."""
        return self.slices.known(self.scale) & self.references.known(self.scale) & ~np.isnan(self.covariances)

    def degrees_of_freedom(self) -> NDArray[np.float64]:
        """Welch's, as though slice and reference were independent; infinitely many where nothing varies."""
        total, uncertainty = np.zeros_like(self.covariances), np.zeros_like(self.covariances)
        for side in (self.slices, self.references):
            varies = side.variances > 0.0
            total += np.where(varies, side.variances, 0.0)
            uncertainty += np.where(varies, side.variances**2 / np.where(varies, side.degrees_of_freedom, 1.0), 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            freedom = np.where(uncertainty > 0.0, total**2 / uncertainty, _rust.NORMAL_FROM)
        return np.where(self.are_testable(), np.maximum(freedom, 1.0), np.nan)

    def intervals(self, tail: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Limits with this probability beyond each of them; nan where there is no test."""
        sides = (side.intervals(tail, self.scale) for side in (self.slices, self.references))
        down, up = self._reaches(*sides)
        return self.values - down, self.values + up

    def statistics(self, null: float = 0.0) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Student's t with the sign of the difference less `null`, and the two-sided p-value; nan without a test."""
        distances = self.values - null
        low, high = np.zeros_like(distances), np.ones_like(distances)
        # How much an interval as far out as this one fails to reach the hypothesis, or reaches beyond it.
        below, above = -np.abs(distances), self._beyond(high, distances)
        while (grows := (above < 0.0) & (high < FARTHEST)).any():
            low, below = np.where(grows, high, low), np.where(grows, above, below)
            high = np.where(grows, np.minimum(2.0 * high, FARTHEST), high)
            above = self._beyond(high, distances)
        # The rule of false position, each end that stays counting half the next time (Illinois).
        z = high.copy()
        left = np.flatnonzero(self.are_testable())
        for _ in range(STEPS):
            if not len(left):
                break
            a, b, f_a, f_b = low[left], high[left], below[left], above[left]
            with np.errstate(divide="ignore", invalid="ignore"):
                middle = a - f_a * (b - a) / (f_b - f_a)
            middle = np.where((middle > a) & (middle < b), middle, 0.5 * (a + b))
            found = self._take(left)._beyond(middle, distances[left])  # noqa: SLF001
            is_short = found < 0.0
            below[left], above[left] = np.where(is_short, found, 0.5 * f_a), np.where(is_short, 0.5 * f_b, found)
            low[left], high[left] = np.where(is_short, middle, a), np.where(is_short, b, middle)
            moves = (np.abs(middle - z[left]) > ENOUGH * np.maximum(middle, 0.1)) & (found != 0.0)
            z[left] = middle
            left = left[moves]
        z = np.where(distances == 0.0, 0.0, z)
        z = np.where(self.are_testable(), z, np.nan)
        p_values = np.array([math.erfc(one / math.sqrt(2.0)) for one in z.tolist()])
        return np.copysign(_rust.student_quantiles_as_far(z, self.degrees_of_freedom()), distances), p_values

    def _take(self, places: NDArray[np.intp]) -> SliceDifferences:
        """Some of them."""
        slices, references = self.slices.take(places), self.references.take(places)
        return SliceDifferences(slices, references, self.covariances[places], self.scale)

    def _beyond(self, z: NDArray[np.float64], distances: NDArray[np.float64]) -> NDArray[np.float64]:
        """How far an interval reaches towards the hypothesis, less the distance."""
        sides = (side.intervals_as_far(z, self.scale) for side in (self.slices, self.references))
        down, up = self._reaches(*sides)
        return np.where(distances > 0.0, down, up) - np.abs(distances)

    def _reaches(
        self, of_slices: tuple[NDArray[np.float64], ...], of_references: tuple[NDArray[np.float64], ...]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """How far an interval reaches below the difference, and above it, from those of both sides."""
        (low, high), (reference_low, reference_high) = of_slices, of_references
        total = self.slices.variances + self.references.variances
        with np.errstate(divide="ignore", invalid="ignore"):
            shrunk = np.sqrt(np.where(total > 0.0, self.variances / total, 1.0))
        down = np.hypot(self.slices.values - low, reference_high - self.references.values)
        up = np.hypot(high - self.slices.values, self.references.values - reference_low)
        unknown = np.where(self.are_testable(), 0.0, np.nan)
        return shrunk * down + unknown, shrunk * up + unknown
