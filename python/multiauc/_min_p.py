r"""The smallest of several p-values: corrected p-values and simultaneous intervals from one distribution.

Each test has a t with degrees of freedom of its own, and so a p-value; of t statistics with different degrees of
freedom the largest would say little. The p-values are those of normal numbers :math:`z_j` with the correlations of what
is tested (a normal copula), and the smallest p belongs to the largest \|z\|. With a correlation matrix of rank r it is
a radius times :math:`h(u) = \max_j |a_j \cdot u|`, u being a direction in r dimensions and :math:`a_j` the unit vectors
whose products are the correlations. The square of the radius has the chi-squared distribution with r degrees of
freedom, whatever the direction, so that

.. math:: P(\max |z| \ge x) = \mathrm{E}_u\, P\bigl(\chi^2_r \ge x^2 / h(u)^2\bigr).

Only the direction is averaged numerically, over a fixed sequence of points that fill the sphere evenly: the integrand
is smooth, and the same data always give the same digits. Whatever the correlations, the correction for independent
tests, :math:`1 - (1 - p)^m`, holds as well (Z. Sidak, "Rectangular confidence regions for the means of multivariate
normal distributions", JASA 62 (1967), 626-633), and the smaller of both is taken.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from multiauc._student import NORMAL_FROM, f_tails

if TYPE_CHECKING:
    from numpy.typing import NDArray

# How many directions are averaged, by their number of dimensions: enough for an error below 1e-4 at p = 0.05.
DIRECTIONS = {2: 1 << 12, 4: 1 << 15}
MOST_DIRECTIONS = 1 << 17
# Directions are averaged by their h, in this many bins.
BINS = 400
CHUNK = 1 << 22
# Smaller p-values count as this one where correlations are allowed for.
LEAST_P = 1e-300
# As many degrees of freedom make F a chi-squared.
INFINITE = 10.0 * NORMAL_FROM


class MinP:
    """The correction of p-values for the number of tests (single-step min-p).

    Parameters
    ----------
    count
        How many tests there are.
    correlations
        Of what is tested, if they matter: a row and a column of zeros is independent of all others.
    """

    def __init__(self, count: int, correlations: NDArray[np.float64] | None) -> None:
        self.count = count
        self._largest = None
        if correlations is not None and count > 1:
            sizes, axes = np.linalg.eigh(correlations)
            self._largest = LargestNormal(axes * np.sqrt(np.maximum(sizes, 0.0)))

    def corrected(self, p: float) -> float:
        """How often the smallest of all p-values is at most `p`; nan for nan."""
        if math.isnan(p) or self.count <= 1:
            return p
        independent = -math.expm1(self.count * math.log1p(-p)) if p < 1.0 else 1.0
        if self._largest is None or p >= 1.0:
            return independent
        z = -NormalDist().inv_cdf(0.5 * max(p, LEAST_P))
        return min(independent, max(p, self._largest.p_value(z)))

    def tail_of_one(self, tail: float) -> float:
        """The tail of each interval so that all of them cover at once with probability 1 - 2 `tail`."""
        if self.count <= 1:
            return tail
        wanted = 2.0 * tail
        low = -math.expm1(math.log1p(-wanted) / self.count)
        if self._largest is None:
            return 0.5 * low
        high = wanted
        while high - low > 1e-12 * high:
            middle = 0.5 * (low + high)
            low, high = (low, middle) if self.corrected(middle) > wanted else (middle, high)
        return 0.5 * low


class LargestNormal:
    r"""The distribution of the largest \|z\| of correlated normal numbers.

    Parameters
    ----------
    vectors
        A row for each number, of any length but 0; the angles between them are the correlations.
    """

    def __init__(self, vectors: NDArray[np.float64]) -> None:
        units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        _, sizes, axes = np.linalg.svd(units, full_matrices=False)
        rank = int((sizes > 1e-7 * sizes[0]).sum())
        self._is_single = rank == 1
        # An even number of dimensions, where tails of chi-squared are short sums; one more dimension changes nothing.
        self._dimensions = rank + rank % 2
        self._heights, self._shares = _heights(units @ axes[:rank].T, self._dimensions)

    def p_value(self, z: float) -> float:
        """How often the largest is at least `z`."""
        if self._is_single:
            return math.erfc(abs(z) / math.sqrt(2.0))
        squares = (z / self._heights) ** 2 / self._dimensions
        return float(self._shares @ f_tails(squares, self._dimensions, INFINITE))


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
