"""Summary ROC curves in plain NumPy: what follows from estimates, the regression, the tables of pairs of classes.

The random-effects estimates themselves are tested against R (`test_summary_roc.py`).
"""

import math

import numpy as np

NO_SPREAD = 1e-3


def fit_line(tables):
    """Moses and Littenberg's regression by the normal equations: its two coefficients, their covariance."""
    tp, fn, fp, tn = (tables + 0.5 if (tables == 0.0).any() else tables).T
    first, second = np.log(tp / fn), np.log(fp / tn)
    design, gaps = np.column_stack([np.ones(len(tables)), first + second]), first - second
    products = design.T @ design
    estimates = np.linalg.solve(products, design.T @ gaps)
    rest = gaps - design @ estimates
    return estimates, np.linalg.inv(products) * (rest @ rest) / (len(tables) - 2)


def ratio(v):
    """The root of the ratio of both standard deviations; 1 where nothing shows it."""
    return math.sqrt(v[3] / v[2]) if min(v[2:4]) >= NO_SPREAD else 1.0


def curve(model, v):
    """Intercept and slope of logit TPR against logit FPR."""
    if model == "moses_littenberg":
        return v[0] / (1.0 - v[1]), (1.0 + v[1]) / (1.0 - v[1])
    slope = ratio(v) ** -2.0
    return v[0] - slope * v[1], slope


def values(model, v, area_of):
    """The area, as a function of intercept and slope gives it, and the parameters."""
    area = area_of(*curve(model, v))
    if model != "hsroc":
        return np.array([area, *v])
    first, second = ratio(v) * v[0], v[1] / ratio(v)
    spread = v[2] * v[3]
    accuracy = [first - second, 0.5 * (first + second), 2.0 * math.log(ratio(v))]
    return np.array([area, *accuracy, 2.0 * spread * (1.0 - v[4]), 0.5 * spread * (1.0 + v[4])])


def standard_errors(model, at, covariance, area_of):
    """By the delta method, with numerical slopes; nan if an estimate without an error matters."""
    steps = 1e-5 * np.maximum(np.abs(at), 0.1)
    differences = [values(model, at + one, area_of) - values(model, at - one, area_of) for one in np.diag(steps)]
    slopes = np.array(differences).T / 2.0 / steps
    found = []
    for one in slopes:
        matters = np.abs(one) > 1e-12
        variance = one[matters] @ covariance[np.ix_(matters, matters)] @ one[matters]
        is_known = matters.any() and not np.isnan(one).any() and variance >= 0.0
        found.append(math.sqrt(variance) if is_known else math.nan)
    return np.array(found)


def heights(model, v, fpr):
    """The curve at false-positive rates."""
    intercept, slope = curve(model, v)
    with np.errstate(divide="ignore"):
        return np.exp(-np.logaddexp(0.0, -(intercept + slope * (np.log(fpr) - np.log1p(-fpr)))))


def pair_tables(codes, scores, pairs, threshold, times):
    """Of each pair, how many rows of both classes, each so many times, are taken for the first and for the second."""
    tables = []
    for c, d in pairs:
        limit = scores[:, d] if threshold is None else scores.dtype.type(threshold)
        is_first = scores[:, c] > limit
        tables.append([times[(codes == k) & (is_first == first)].sum() for k in (c, d) for first in (True, False)])
    return np.array(tables, dtype=float)
