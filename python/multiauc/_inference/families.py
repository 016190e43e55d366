"""Several differences at once: simultaneous p-values and intervals, and the omnibus test."""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import combinations
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from multiauc._common.student import NORMAL_FROM, f_tails
from multiauc._inference.intervals import NO_INTERVAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from multiauc._inference.differences import Difference
    from multiauc._inference.intervals import ConfidenceInterval

# Relative to a variance, how far that from the covariances of the models may be off; beyond, it has cancelled.
CANCELLED = 1e-6
# Relative to the largest, an eigenvalue of a covariance matrix that is rounding.
ROUNDING = 1e-11


class Family:
    r"""The differences between all pairs of models that have a standard error.

    Corrected p-values and simultaneous intervals come from the distribution of the smallest p-value of all of them,
    each with its own degrees of freedom: a p-value is below 1 - level exactly where the interval of that level leaves 0
    out.
    """

    def __init__(self, differences: Sequence[Difference], covariance: NDArray[np.float64]) -> None:
        known = [place for place, one in enumerate(differences) if one.variance > 0.0]
        self._differences = differences
        correlations = None
        if len(known) > 1:
            vectors = _vectors(covariance, known, np.array([differences[place].variance for place in known]))
            units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
            correlations = units @ units.T
        self._smallest = MinP(len(known), correlations)

    def correct(self) -> list[float]:
        """p-values of all differences, corrected for their number."""
        return [self._smallest.correct(one.p_value) if one.variance > 0.0 else one.p_value for one in self._differences]

    def intervals(self, tail: float) -> list[ConfidenceInterval]:
        """Intervals that all cover at once with probability 1 - 2 tail."""
        of_one = self._smallest.tail_of_one(tail)
        return [one.interval_beyond(of_one) if one.variance > 0.0 else NO_INTERVAL for one in self._differences]


def fewest_degrees_of_freedom(differences: Sequence[Difference]) -> float:
    """Of the differences that have a standard error; nan if there are none."""
    return min((one.degrees_of_freedom for one in differences if one.variance > 0.0), default=math.nan)


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


def wald_f(
    values: NDArray[np.float64], covariance: NDArray[np.float64], freedom: float
) -> tuple[float, int, float] | None:
    """(F, its first degrees of freedom, p) of the hypothesis that all values are equal.

    None where values differ in a direction in which nothing varies.
    """
    contrasts = np.eye(len(values))[1:] - np.eye(len(values))[0]
    differences, spread = contrasts @ values, contrasts @ covariance @ contrasts.T
    sizes, axes = np.linalg.eigh(spread)
    varies = sizes > ROUNDING * max(float(covariance.diagonal().max()), 1e-300)
    along = axes.T @ differences
    if (np.abs(along[~varies]) > 1e-12).any():
        return None
    rank = int(varies.sum())
    if rank == 0:
        return 0.0, 0, 1.0
    f = float((along[varies] ** 2 / sizes[varies]).sum() / rank)
    return f, rank, float(f_tails(np.array([f]), rank, freedom)[0]) if f > 0.0 else 1.0


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

    def correct(self, p: float) -> float:
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
            low, high = (low, middle) if self.correct(middle) > wanted else (middle, high)
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
