"""Several differences at once: simultaneous p-values and intervals, and the omnibus test."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from multiauc import _rust
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
        self._smallest = min_p(len(known), correlations)

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
    return f, rank, _rust.f_tail(f, rank, freedom)


def min_p(count: int, correlations: NDArray[np.float64] | None) -> _rust.MinP:
    """The correction of `count` p-values for their number, with the correlations of what is tested if they matter."""
    if correlations is None or count <= 1:
        return _rust.MinP(count, None)
    sizes, axes = np.linalg.eigh(correlations)
    return _rust.MinP(count, unit_vectors(axes * np.sqrt(np.maximum(sizes, 0.0))))


def unit_vectors(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """The directions of vectors, in as few coordinates as they need."""
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    _, sizes, axes = np.linalg.svd(units, full_matrices=False)
    rank = int((sizes > 1e-7 * sizes[0]).sum())
    return np.ascontiguousarray(units @ axes[:rank].T)
