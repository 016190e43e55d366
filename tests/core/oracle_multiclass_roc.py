"""The multi-class ROC curve written down in plain NumPy and SciPy: slow, direct, and without `multiauc`.

Rates are counted cell by cell, thresholds come from `numpy.quantile`, and the rank-one binomial model is fitted by
L-BFGS on the likelihood itself: nothing here shares an algorithm with the library.
"""

import itertools

import numpy as np
from scipy.optimize import isotonic_regression, minimize
from scipy.special import expit, logit, xlogy


def ordered_pairs(k):
    """All ordered pairs (c, d), c != d, in the order of the matrix columns."""
    return list(itertools.permutations(range(k), 2))


def quantile_thresholds(codes, scores, count, scope="shared"):
    """Decreasing thresholds, T x J: quantiles at levels (i - 1/2)/T of the cells that the scope names."""
    levels = (np.arange(count, 0, -1) - 0.5) / count
    columns = []
    for c, d in ordered_pairs(scores.shape[1]):
        if scope == "shared":
            cells = scores.ravel()
        elif scope == "class":
            cells = scores[:, c]
        else:
            cells = scores[(codes == c) | (codes == d), c]
        columns.append(np.quantile(cells.astype(float), levels))
    grid = np.column_stack(columns)
    fresh = np.r_[True, np.any(np.diff(grid, axis=0) != 0, axis=1)]
    return grid[fresh]


def rate_matrix(codes, scores, thresholds, weights=None):
    """The stacked 2T x J matrix: shares of class c (first T rows) and of class d with p_c > t."""
    weights = np.ones(len(codes)) if weights is None else weights
    pairs = ordered_pairs(scores.shape[1])
    thresholds = np.asarray(thresholds, float)
    if thresholds.ndim == 1:
        thresholds = np.repeat(thresholds[:, None], len(pairs), axis=1)
    matrix = np.empty((2 * len(thresholds), len(pairs)))
    for j, (c, d) in enumerate(pairs):
        for block, k in enumerate((c, d)):
            rows = codes == k
            above = scores[rows, c][None, :] > thresholds[:, j][:, None]
            matrix[block * len(thresholds) : (block + 1) * len(thresholds), j] = (
                above @ weights[rows] / weights[rows].sum()
            )
    return matrix


def correction(class_sizes, continuity=0.5):
    """e = a / (n + 2a), n the harmonic mean of the class sizes."""
    size = len(class_sizes) / np.sum(1.0 / np.asarray(class_sizes, float))
    return continuity / (size + 2 * continuity)


def shrink(rates, class_sizes, continuity=0.5):
    """x' = (1 - 2e) x + e with one e for all cells."""
    epsilon = correction(class_sizes, continuity)
    return (1 - 2 * epsilon) * rates + epsilon


def linear_predictor(parameters, rows, center):
    """Eta of a parameter vector: (row intercepts,) row slopes, column scores."""
    if center == "intercept":
        return parameters[:rows, None] + np.outer(parameters[rows : 2 * rows], parameters[2 * rows :])
    return np.outer(parameters[:rows], parameters[rows:])


def deviance(eta, x, w):
    """2 sum w [x ln(x / mu) + (1 - x) ln((1 - x) / (1 - mu))]."""
    saturated = xlogy(x, x) + xlogy(1 - x, 1 - x)
    return 2 * np.sum(w * (saturated - x * eta + np.logaddexp(0, eta)))


def _value_and_gradient(parameters, x, w, center):
    rows = len(x)
    eta = linear_predictor(parameters, rows, center)
    residual = 2 * w * (expit(eta) - x)
    if center == "intercept":
        slopes, columns = parameters[rows : 2 * rows], parameters[2 * rows :]
        gradient = np.concatenate([residual.sum(1), residual @ columns, residual.T @ slopes])
    else:
        slopes, columns = parameters[:rows], parameters[rows:]
        gradient = np.concatenate([residual @ columns, residual.T @ slopes])
    return deviance(eta, x, w), gradient


def svd_start(x, center):
    """Parameters from the leading singular vectors of the (row-centred) logits."""
    logits = logit(x)
    centre = logits.mean(1) if center == "intercept" else np.zeros(len(x))
    u, s, vt = np.linalg.svd(logits - centre[:, None], full_matrices=False)
    parts = [u[:, 0] * s[0], vt[0]]
    return np.concatenate([centre, *parts] if center == "intercept" else parts)


def fit(x, w, center="intercept", start=None, iterations=20_000):
    """Minimise the deviance by L-BFGS: (eta, deviance)."""
    start = svd_start(x, center) if start is None else start
    result = minimize(
        _value_and_gradient,
        start,
        args=(x, w, center),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": iterations, "maxfun": 2 * iterations, "maxcor": 30, "ftol": 1e-15, "gtol": 1e-10},
    )
    return linear_predictor(result.x, len(x), center), result.fun


def random_start(x, center, rng):
    """A start far from the solution, on the scale of the data."""
    rows, columns = x.shape
    centre = [logit(x).mean(1)] if center == "intercept" else []
    return np.concatenate([*centre, rng.normal(size=rows), rng.normal(size=columns)])


def curve(eta, w, epsilon):
    """(fpr, tpr) with end points: weighted row means of eta through the inverse logit, mapped back, made monotone."""
    effect = expit(np.sum(w * eta, axis=1) / np.sum(w, axis=1))
    effect = np.clip((effect - epsilon) / (1 - 2 * epsilon), 0.0, 1.0)
    tp, fp = (isotonic_regression(part).x for part in np.split(effect, 2))
    return np.r_[0.0, fp, 1.0], np.r_[0.0, tp, 1.0]


def area(fpr, tpr):
    """Trapezoid."""
    return float(np.sum(np.diff(fpr) * (tpr[1:] + tpr[:-1])) / 2)


def multiclass_roc(codes, scores, thresholds=100, scope="shared", center="intercept", tp=None, fp=None, continuity=0.5):
    """(D, deviance, fpr, tpr) for K >= 3; `tp` and `fp` are K x K rate weights."""
    k = scores.shape[1]
    grid = (
        quantile_thresholds(codes, scores, thresholds, scope)
        if np.isscalar(thresholds)
        else np.asarray(thresholds, float)
    )
    sizes = np.bincount(codes, minlength=k)
    x = shrink(rate_matrix(codes, scores, grid), sizes, continuity)
    rows = len(x) // 2
    weights = [
        np.ones(k * (k - 1)) if q is None else np.array([q[c, d] for c, d in ordered_pairs(k)]) for q in (tp, fp)
    ]
    w = np.vstack([np.repeat(weights[0][None], rows, 0), np.repeat(weights[1][None], rows, 0)])
    eta, value = fit(x, w, center)
    fpr, tpr = curve(eta, w, correction(sizes, continuity))
    return area(fpr, tpr), value, fpr, tpr
