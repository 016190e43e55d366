r"""The largest of several correlated t statistics: corrected p-values and simultaneous intervals from one distribution.

For t statistics with a covariance matrix of rank r and a common estimate of scale of :math:`\nu` degrees of freedom,
the largest of \|t\| is a radius times :math:`h(u) = \max_j |a_j \cdot u|`, u being a direction in r dimensions and
:math:`a_j` the unit vectors whose products are the correlations. The square of the radius over r has the F distribution
with r and :math:`\nu` degrees of freedom, whatever the direction, so that

.. math:: P(\max |t| \ge x) = \mathrm{E}_u\, P\bigl(F_{r, \nu} \ge x^2 / (r\, h(u)^2)\bigr).

Only the direction is averaged numerically, over a fixed sequence of points that fill the sphere evenly: the integrand
is smooth, and the same data always give the same digits.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from multiauc._student import f_tails, two_sided_p

if TYPE_CHECKING:
    from numpy.typing import NDArray

# How many directions are averaged, by their number of dimensions: enough for an error below 1e-4 at p = 0.05.
DIRECTIONS = {2: 1 << 12, 4: 1 << 15}
MOST_DIRECTIONS = 1 << 17
# Directions are averaged by their h, in this many bins.
BINS = 400
CHUNK = 1 << 22


class MaxT:
    r"""The distribution of the largest \|t\|.

    Parameters
    ----------
    vectors
        A row for each statistic, of any length but 0; the angles between them are the correlations.
    freedom
        Degrees of freedom of the common scale.
    """

    def __init__(self, vectors: NDArray[np.float64], freedom: float) -> None:
        units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        _, sizes, axes = np.linalg.svd(units, full_matrices=False)
        rank = int((sizes > 1e-7 * sizes[0]).sum())
        self.freedom = freedom
        self._is_single = rank == 1
        # An even number of dimensions, where tails of F are short sums; one more dimension changes nothing.
        self._dimensions = rank + rank % 2
        self._heights, self._shares = _heights(units @ axes[:rank].T, self._dimensions)

    def p_value(self, t: float) -> float:
        """How often the largest is at least `t`."""
        if math.isnan(t) or math.isnan(self.freedom):
            return math.nan
        if self._is_single:
            return two_sided_p(t, self.freedom)
        squares = (t / self._heights) ** 2 / self._dimensions
        return float(self._shares @ f_tails(squares, self._dimensions, self.freedom))

    def quantile(self, tail: float) -> float:
        """The t that the largest exceeds with probability `tail`."""
        if math.isnan(self.freedom):
            return math.nan
        low, high = 0.0, 2.0
        while self.p_value(high) > tail:
            low, high = high, 2.0 * high
        while high - low > 1e-12 * high:
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.p_value(middle) > tail else (low, middle)
            if middle in (low, high) and high - low <= 2e-16 * high:
                break
        return high


def _heights(units: NDArray[np.float64], dimensions: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The distribution of h over directions: values, and the share of directions that have them."""
    count, rank = units.shape
    directions = DIRECTIONS.get(dimensions, MOST_DIRECTIONS)
    step = max(1, CHUNK // (count + dimensions))
    found = [
        np.abs(_directions(start, min(start + step, directions), dimensions)[:, :rank] @ units.T).max(axis=1)
        for start in range(0, directions, step)
    ]
    heights = np.concatenate(found)
    bins = np.minimum((heights * BINS).astype(np.int64), BINS - 1)
    counts = np.bincount(bins, minlength=BINS)
    sums = np.bincount(bins, weights=heights, minlength=BINS)
    used = sums > 0.0
    return sums[used] / counts[used], counts[used] / directions


@lru_cache(maxsize=4)
def _directions(start: int, stop: int, dimensions: int) -> NDArray[np.float64]:
    """Unit vectors that fill the sphere evenly: angles on the circle, else normal numbers made of irrational steps."""
    numbers = np.arange(start, stop)
    if dimensions == 2:
        angles = np.pi * (numbers + 0.5) / DIRECTIONS[dimensions]
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)
    # Richtmyer's sequence: multiples of the square roots of primes, modulo 1.
    uniform = np.mod(0.5 + np.outer(numbers + 1, np.sqrt(_primes(dimensions))), 1.0)
    radius = np.sqrt(-2.0 * np.log1p(-uniform[:, : dimensions // 2]))
    angle = 2.0 * np.pi * uniform[:, dimensions // 2 :]
    normal = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return np.asarray(normal / np.linalg.norm(normal, axis=1, keepdims=True))


def _primes(count: int) -> list[int]:
    """The first primes."""
    found: list[int] = []
    number = 2
    while len(found) < count:
        if all(number % prime for prime in found):
            found.append(number)
        number += 1
    return found
