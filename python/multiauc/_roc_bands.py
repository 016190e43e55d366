"""Limits of the ROC curve of a class: point by point in closed form, and at all points at once by resampled curves."""

from __future__ import annotations

import math
from itertools import pairwise
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from multiauc import _rust
from multiauc._progress import Progress
from multiauc._replicates import MEMORY_LIMIT

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from multiauc._input.held_inputs import HeldInputs
    from multiauc.roc_curve_results import RocCurve

# Finer towards 0, where good curves rise.
AT_FPR = np.unique(np.concatenate([np.linspace(0.0, 1.0, 201), np.geomspace(1e-4, 0.1, 60)]))

# How exactly the width of a band is found, in standard errors.
STEP_OF_Z = 0.01

# Of heights that are compared, and of rates that are looked up.
ROUNDING = 1e-12
RATE_ROUNDING = 1e-15


def area_below(fpr: NDArray[np.float64], tpr: NDArray[np.float64]) -> float:
    """The area below a curve, by trapezoids; nan for a curve of a single point."""
    if len(fpr) < 2:
        return math.nan
    # What lies below the curve and what lies above it, summed alike: the share cannot leave [0, 1].
    steps, heights = np.diff(fpr), tpr[1:] + tpr[:-1]
    below, above = float(np.dot(steps, heights)), float(np.dot(steps, 2.0 - heights))
    return below / (below + above)


def curve_band(
    curve: RocCurve, sizes: tuple[float, float], tail: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """(fpr, low, high): pointwise limits of the true-positive rate at fixed false-positive rates."""
    low, high = limits((curve.fpr, curve.tpr), sizes, normal_quantile(tail), AT_FPR)
    return AT_FPR, low, high


def limits(
    points: tuple[NDArray[np.float64], NDArray[np.float64]],
    sizes: tuple[float, float],
    z: float,
    at: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r"""Limits of the true-positive rate at false-positive rates, z standard errors away.

    `points` are the false and true-positive rates of the curve, `sizes` the numbers of rows of the positive and of the
    negative class, which are taken as fixed.

    At a rate f the curve is h(f), the share of one class above the threshold that f of the other is above. Both shares
    are binomial: Wilson's limits l, u of h(f), and those f_l, f_u of f, are combined as independent parts of one
    distance (Zou and Donner's method of variance estimates recovery),

    .. math:: h - \sqrt{(h - l)^2 + (h(f) - h(f_l))^2}, \quad h + \sqrt{(u - h)^2 + (h(f_u) - h(f))^2}.

    Unlike quantiles of resampled curves, these limits have a width where all rows are right.
    """
    n_positive, n_negative = sizes
    height = heights(points, at)
    low, high = _wilson(height, n_positive, z)
    before, after = _wilson(at, n_negative, z)
    # How high the curve is before the first row of the other class is not known, nor after the last one: it may rise
    # from 0, or reach 1.
    least = heights(points, before) * np.minimum(1.0, before * n_negative)
    most = 1.0 - (1.0 - heights(points, after)) * np.minimum(1.0, (1.0 - after) * n_negative)
    lower = height - np.hypot(height - low, height - least)
    upper = height + np.hypot(high - height, most - height)
    return np.maximum(lower, 0.0), np.minimum(upper, 1.0)


def heights(points: tuple[NDArray[np.float64], NDArray[np.float64]], at: NDArray[np.float64]) -> NDArray[np.float64]:
    """The curve at false-positive rates; the upper end where it rises straight up."""
    fpr, tpr = points
    # 1 - 0.9 is a little less than 0.1, where the curve may rise.
    there = np.searchsorted(fpr, at + RATE_ROUNDING, side="right") - 1
    return np.where(np.abs(fpr[there] - at) <= RATE_ROUNDING, tpr[there], np.interp(at, fpr, tpr))


def z_to_hold(
    points: tuple[NDArray[np.float64], NDArray[np.float64]],
    sizes: tuple[float, float],
    held: NDArray[np.float64],
    least: float,
) -> float:
    """The smallest z, not below `least`, whose limits around a curve hold another curve at all of `AT_FPR`."""

    def holds(z: float) -> bool:
        low, high = limits(points, sizes, z, AT_FPR)
        return bool(np.all((low <= held + ROUNDING) & (held <= high + ROUNDING)))

    if holds(least):
        return least
    # With growing z the limits tend to 0 and 1.
    low, high = least, 2.0 * least + 1.0
    while not holds(high):
        low, high = high, 2.0 * high
    while high - low > STEP_OF_Z:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def resampled_curves(
    inputs: HeldInputs,
    curve: tuple[int, int | None],
    size: int,
    seed: int,
    look: Callable[[tuple[NDArray[np.float64], NDArray[np.float64]]], float],
) -> NDArray[np.float64]:
    """What is seen in each resampled curve of a class; nan where the resample holds no row of one of the sides.

    The resamples are those that every other bootstrap draws with this seed.
    """
    arguments = inputs.arguments()
    resampler = _rust.Resampler.of_curves(arguments, [curve], "max_fpr", 1.0, inputs.sampling, MEMORY_LIMIT)
    sample = inputs.sample
    weights = np.ones(len(sample.codes)) if sample.weights is None else sample.weights
    positive, negative = sides(inputs, curve)
    rows = np.flatnonzero((positive | negative) & (weights > 0.0))
    scores = own_scores(inputs, curve[0])[rows]
    order = np.argsort(-scores, kind="stable")
    rows, scores = rows[order], scores[order]
    # A threshold lies after all rows of one score.
    ends = np.flatnonzero(np.append(np.diff(scores) != 0, True))
    is_positive = positive[rows]
    found = np.full(size, np.nan)
    with Progress(size, "bootstrap") as progress:
        for first, last in pairwise(progress.steps(resampler.block, unit=resampler.block)):
            drawn = resampler.multiplicities(seed, first, last - first)
            for k in range(first, last):
                mass = drawn[k - first, rows] * weights[rows]
                right = np.concatenate([[0.0], np.cumsum(np.where(is_positive, mass, 0.0))[ends]])
                wrong = np.concatenate([[0.0], np.cumsum(np.where(is_positive, 0.0, mass))[ends]])
                if right[-1] > 0.0 and wrong[-1] > 0.0:
                    found[k] = look((wrong / wrong[-1], right / right[-1]))
    return found


def sides(inputs: HeldInputs, curve: tuple[int, int | None]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The rows of the class whose score is read, and those that it is told from."""
    codes, (c, d) = inputs.sample.codes, curve
    return codes == c, codes != c if d is None else codes == d


def own_scores(inputs: HeldInputs, c: int) -> NDArray[np.float64]:
    """The scores of a class; a single score is that of the second class, and the first has it negated."""
    sample = inputs.sample
    if sample.has_one_score:
        only = np.asarray(sample.scores[:, 0], dtype=np.float64)
        return only if c == 1 else -only
    return np.asarray(sample.scores[:, c], dtype=np.float64)


def curve_sizes(inputs: HeldInputs, curve: tuple[int, int | None]) -> tuple[float, float]:
    """The effective numbers of rows on both sides of a curve."""
    weights = inputs.sample.weights
    own, other = (
        effective_size(None if weights is None else np.asarray(weights[rows]), int(np.count_nonzero(rows)))
        for rows in sides(inputs, curve)
    )
    return own, other


def effective_size(weights: NDArray[np.float64] | None, rows: int) -> float:
    """The number of rows, or of rows of equal weight that would be as informative (Kish)."""
    if weights is None:
        return float(rows)
    total = float(weights.sum())
    return total * total / float(np.dot(weights, weights)) if total > 0.0 else math.nan


def normal_quantile(tail: float) -> float:
    """The z that a normal number exceeds with probability `tail`."""
    return -NormalDist().inv_cdf(tail)


def _wilson(share: NDArray[np.float64], size: float, z: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    middle = (share + z * z / (2 * size)) / (1 + z * z / size)
    reach = z / (1 + z * z / size) * np.sqrt(share * (1 - share) / size + (z / (2 * size)) ** 2)
    return np.maximum(middle - reach, 0.0), np.minimum(middle + reach, 1.0)
