"""Losses along a convex hull of a ROC curve: minimum losses, the H-measure's beta integrals, the LC index.

c in (0, 1) is the share that a false positive has in the sum of both costs, and the loss of a point of the curve is

    L(c) = c (1 - prevalence) FPR + (1 - c) prevalence (1 - TPR).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

# Relative to the larger of two rates: these are equal but for the rounding of weights and of their sums.
SAME_RATE = 32.0 * np.finfo(np.float64).eps
# Relative to the range of costs: pieces of it that are there by rounding alone.
SLIVER = 1e-12


class Hull(NamedTuple):
    """The vertices of a hull from (0, 0) to (1, 1), and the share of the positive class."""

    fpr: NDArray[np.float64]
    tpr: NDArray[np.float64]
    prevalence: float

    def switches(self) -> NDArray[np.float64]:
        """The c at which one vertex takes over from the next, falling: the first vertex is best above the first."""
        positive = self.prevalence * np.diff(self.tpr)
        negative = (1.0 - self.prevalence) * np.diff(self.fpr)
        return positive / (positive + negative)

    def losses(self, c: NDArray[np.float64]) -> NDArray[np.float64]:
        """The smallest loss at each c."""
        best = self.best(c)
        missed = self.prevalence * (1.0 - self.tpr[best])
        return c * (1.0 - self.prevalence) * self.fpr[best] + (1.0 - c) * missed

    def best(self, c: NDArray[np.float64]) -> NDArray[np.intp]:
        """The vertex of the smallest loss at each c."""
        return np.searchsorted(-self.switches(), -c, side="left")


#: What needs no scores: everything positive, or nothing.
TRIVIAL = np.array([0.0, 1.0])


def h_measure(hull: Hull, severity_ratio: float) -> float:
    r"""1 - ∫ L(c) u(c) dc / ∫ L_trivial(c) u(c) dc, where u is the density of Beta(2, 1 + 1/severity_ratio)."""
    b = 1.0 + 1.0 / severity_ratio
    largest = _expected_loss(Hull(TRIVIAL, TRIVIAL, hull.prevalence), b)
    share = _expected_loss(hull, b) / largest
    return float(min(1.0, max(0.0, 1.0 - share)))


def _expected_loss(hull: Hull, b: float) -> float:
    """The mean of the smallest loss when c has the distribution Beta(2, b): each vertex between its two switches."""
    bounds = np.concatenate([[1.0], hull.switches(), [0.0]])
    # c u(c) is the density of Beta(3, b) times 2 / (2 + b), and (1 - c) u(c) that of Beta(2, b + 1) times b / (2 + b).
    of_c = np.diff(_survival_of_3(bounds, b)) * (2.0 / (2.0 + b))
    of_rest = np.diff(_survival_of_2(bounds, b + 1.0)) * (b / (2.0 + b))
    terms = (1.0 - hull.prevalence) * hull.fpr * of_c + hull.prevalence * (1.0 - hull.tpr) * of_rest
    return float(terms.sum())


def _survival_of_2(x: NDArray[np.float64], b: float) -> NDArray[np.float64]:
    """P(X > x) for Beta(2, b): (1 - x)^b (1 + b x)."""
    return _powered(x, b, lambda t: 1.0 + b * t)


def _survival_of_3(x: NDArray[np.float64], b: float) -> NDArray[np.float64]:
    """P(X > x) for Beta(3, b): (1 - x)^b (1 + b x + b (b + 1) x^2 / 2)."""
    return _powered(x, b, lambda t: 1.0 + b * t + 0.5 * (b * t) * ((b + 1.0) * t))


def _powered(
    x: NDArray[np.float64], b: float, polynomial: Callable[[NDArray[np.float64]], NDArray[np.float64]]
) -> NDArray[np.float64]:
    """(1 - x)^b times a polynomial; 0 where the power is, however large the polynomial."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        power = np.exp(b * np.log1p(-x))
        return np.where(power > 0.0, power * polynomial(x), 0.0)


def lc_index(a: Hull, b: Hull, cost_range: tuple[float, float], most_likely: float) -> float:
    """The belief in costs at which A has the smaller loss less that in costs at which B has.

    Beliefs are a triangular density over `cost_range` with its peak at `most_likely`. Both hulls are of the same rows.
    """
    low, high = cost_range
    switches = np.concatenate([a.switches(), b.switches()])
    edges = _edges(switches, low, high)
    edges = _edges(np.concatenate([edges, _crossings(a, b, edges)]), low, high)
    middles = 0.5 * (edges[1:] + edges[:-1])
    signs = np.sign(_line_differences(a, b, middles, middles))
    # Runs of one sign are integrated at once, so that a model that is always better has exactly 1.
    starts = np.flatnonzero(np.concatenate([[True], signs[1:] != signs[:-1]]))
    beliefs = np.diff(_triangular(edges[np.append(starts, len(signs))], low, high, most_likely))
    return float(min(1.0, max(-1.0, -np.dot(signs[starts], beliefs))))


def _edges(points: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    """The range of costs cut at those points that lie within it; those next to each other by rounding are one."""
    least = SLIVER * (high - low)
    inner = np.unique(points[(points > low + least) & (points < high - least)])
    return np.concatenate([[low], inner[np.diff(inner, prepend=low) > least], [high]])


def _line_differences(a: Hull, b: Hull, pieces: NDArray[np.float64], c: NDArray[np.float64]) -> NDArray[np.float64]:
    """The loss of A less that of B at c, each of the vertex that is best at `pieces`; exactly 0 for the same vertex."""
    of_a, of_b = a.best(pieces), b.best(pieces)
    more_false = _difference(a.fpr[of_a], b.fpr[of_b])
    more_found = _difference(a.tpr[of_a], b.tpr[of_b])
    return c * (1.0 - a.prevalence) * more_false - (1.0 - c) * a.prevalence * more_found


def _difference(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of rates; 0 where they differ by rounding alone, as sums of the same weights in another order do."""
    found = first - second
    return np.where(np.abs(found) > SAME_RATE * np.maximum(first, second), found, 0.0)


def _crossings(a: Hull, b: Hull, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Where, between two edges, the losses of A and B are equal."""
    middles = 0.5 * (edges[1:] + edges[:-1])
    at_0 = _line_differences(a, b, middles, np.zeros_like(middles))
    at_1 = _line_differences(a, b, middles, np.ones_like(middles))
    with np.errstate(invalid="ignore", divide="ignore"):
        found = at_0 / (at_0 - at_1)
    return np.asarray(found[(found > edges[:-1]) & (found < edges[1:])])


def _triangular(x: NDArray[np.float64], low: float, high: float, peak: float) -> NDArray[np.float64]:
    """The distribution function of the triangular density from low over the peak to high."""
    width = high - low
    with np.errstate(divide="ignore", invalid="ignore"):
        rising = (x - low) ** 2 / (width * (peak - low))
        falling = 1.0 - (high - x) ** 2 / (width * (high - peak))
    # The side beyond the peak where the peak is at an end.
    return np.where(x >= high, 1.0, np.where(x <= low, 0.0, np.where(x < peak, rising, falling)))
