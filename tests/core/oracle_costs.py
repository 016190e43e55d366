"""Costs along ROC curves, as plain as they get: all thresholds, all triples of points, quadrature."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
from scipy import integrate, stats


def points(positives, negatives):
    """(fpr, tpr, threshold) at every threshold, as fractions; rows are (score, weight)."""

    def rate(rows, threshold):
        above = sum((Fraction(w) for score, w in rows if score >= threshold), Fraction(0))
        return above / sum(Fraction(w) for _, w in rows)

    thresholds = sorted({score for score, w in positives + negatives if w > 0}, reverse=True)
    return [(rate(negatives, t), rate(positives, t), t) for t in [float("inf"), *thresholds]]


def hull(curve):
    """Points strictly above every line between a point before and one after them, and the ends: O(n^3)."""

    def is_vertex(k):
        before, after, (x, y, _) = curve[:k], curve[k + 1 :], curve[k]
        return all((b[0] - a[0]) * (y - a[1]) > (b[1] - a[1]) * (x - a[0]) for a in before for b in after)

    return [curve[k] for k in range(len(curve)) if is_vertex(k)]


def loss(curve, prevalence, c):
    """The smallest losses over all thresholds, when a false positive has the shares c in the sum of both costs."""
    x, y = (np.array([float(point[k]) for point in curve])[:, None] for k in (0, 1))
    return np.min(c * (1 - prevalence) * x + (1 - c) * prevalence * (1 - y), axis=0)


def best_cost(curve, cost_fp, cost_fn, prevalence):
    """The smallest expected cost over all thresholds."""
    return min((1 - prevalence) * cost_fp * float(x) + prevalence * cost_fn * (1 - float(y)) for x, y, _ in curve)


def switches(curve, prevalence):
    """Where the best threshold changes: the corners of the loss, for quadrature."""
    found = []
    for a, b in pairwise(hull(curve)):
        up, across = prevalence * float(b[1] - a[1]), (1 - prevalence) * float(b[0] - a[0])
        found.append(up / (up + across))
    return found


def h_measure(curve, prevalence, severity_ratio):
    """By quadrature between the corners."""
    belief = stats.beta(2, 1 + 1 / severity_ratio)
    ends = [(Fraction(0), Fraction(0), 0), (Fraction(1), Fraction(1), 0)]

    def expected(of):
        corners = sorted({0.0, *switches(of, prevalence), 1.0})
        parts = [
            integrate.quad(lambda c: loss(of, prevalence, c)[0] * belief.pdf(c), a, b, epsabs=1e-14, epsrel=1e-13)[0]
            for a, b in pairwise(corners)
        ]
        return sum(parts)

    return 1 - expected(curve) / expected(ends)


def lc_index(first, second, prevalence, cost_range, most_likely, steps=20_001):
    """By the signs of the difference of losses at many c."""
    low, high = cost_range
    edges = np.linspace(low, high, steps)
    belief = stats.triang((most_likely - low) / (high - low), loc=low, scale=high - low)
    middles = 0.5 * (edges[1:] + edges[:-1])
    differences = loss(first, prevalence, middles) - loss(second, prevalence, middles)
    signs = np.where(np.abs(differences) < 1e-14, 0.0, -np.sign(differences))
    return float(np.dot(signs, np.diff(belief.cdf(edges))))


def cost_curve(curve, x):
    """The smallest normalised expected cost at x over all thresholds."""
    return min((1 - float(tpr)) * x + float(fpr) * (1 - x) for fpr, tpr, _ in curve)


def mean_cost(costs, codes, decisions, weights=None):
    """Row by row."""
    mass = [1.0] * len(codes) if weights is None else weights
    return sum(w * costs[i][j] for w, i, j in zip(mass, decisions, codes, strict=True)) / sum(mass)
