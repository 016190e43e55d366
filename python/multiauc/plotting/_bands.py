"""Limits of the ROC curve of a class, point by point, in closed form."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from multiauc.results import RocCurve

# Finer towards 0, where good curves rise.
AT_FPR = np.unique(np.concatenate([np.linspace(0.0, 1.0, 201), np.geomspace(1e-4, 0.1, 60)]))


def curve_band(
    curve: RocCurve, sizes: tuple[float, float], tail: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    r"""(fpr, low, high): limits of the true-positive rate at fixed false-positive rates.

    `sizes` are the numbers of rows of the positive and of the negative class, which are taken as fixed.

    At a rate f the curve is h(f), the share of one class above the threshold that f of the other is above. Both shares
    are binomial: Wilson's limits l, u of h(f), and those f_l, f_u of f, are combined as independent parts of one
    distance (Zou and Donner's method of variance estimates recovery),

    .. math:: h - \sqrt{(h - l)^2 + (h(f) - h(f_l))^2}, \quad h + \sqrt{(u - h)^2 + (h(f_u) - h(f))^2}.

    Unlike quantiles of resampled curves, these limits have a width where all rows are right.
    """
    n_positive, n_negative = sizes
    z = -NormalDist().inv_cdf(tail)
    height = _heights(curve, AT_FPR)
    low, high = _wilson(height, n_positive, z)
    before, after = _wilson(AT_FPR, n_negative, z)
    # How high the curve is before the first row of the other class is not known: it may rise from 0.
    known = _heights(curve, before) * np.minimum(1.0, before * n_negative)
    lower = height - np.hypot(height - low, height - known)
    upper = height + np.hypot(high - height, _heights(curve, after) - height)
    return AT_FPR, np.maximum(lower, 0.0), np.minimum(upper, 1.0)


def _heights(curve: RocCurve, at: NDArray[np.float64]) -> NDArray[np.float64]:
    """The curve at false-positive rates; the upper end where it rises straight up."""
    last = np.flatnonzero(np.append(np.diff(curve.fpr) > 0, True))
    return np.interp(at, curve.fpr[last], curve.tpr[last])


def _wilson(share: NDArray[np.float64], size: float, z: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    middle = (share + z * z / (2 * size)) / (1 + z * z / size)
    reach = z / (1 + z * z / size) * np.sqrt(share * (1 - share) / size + (z / (2 * size)) ** 2)
    return np.maximum(middle - reach, 0.0), np.minimum(middle + reach, 1.0)


def effective_size(weights: NDArray[np.float64] | None, rows: int) -> float:
    """The number of rows, or of rows of equal weight that would be as informative (Kish)."""
    if weights is None:
        return float(rows)
    total = float(weights.sum())
    return total * total / float(np.dot(weights, weights)) if total > 0.0 else math.nan
