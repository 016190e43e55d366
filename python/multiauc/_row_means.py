"""Means over rows drawn as they come, with variances: of weighted rows, and of rows in groups."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Relative to the sum of fourth powers: a difference of sums that is rounding.
ROUNDING = 1e-12


class RowMean(NamedTuple):
    """A mean, its variance, and how well that is known; nan where there is a single row or group."""

    value: float
    variance: float
    degrees_of_freedom: float


def row_mean(
    values: NDArray[np.float64], weights: NDArray[np.float64] | None, groups: NDArray[np.uint32] | None
) -> RowMean:
    r"""The weighted mean of rows, of which whole groups are independent if there are any.

    A unit u (a row or a group) adds :math:`\psi_u = \sum_{i \in u} w_i (x_i - \bar{x}) / W` to the error, and the
    variance is :math:`c \sum \psi_u^2` with :math:`c = 1 / (1 - \sum (W_u/W)^2)`: for single rows of equal weight
    :math:`s^2 / n`. The degrees of freedom are the smaller of e - 1, e being the effective number of units, and
    :math:`2 V^2 / (\sum \psi^4 - V^2 / n)`, what the fourth moments allow.
    """
    masses = np.ones(len(values)) if weights is None else weights
    total = float(masses.sum())
    mean = float(np.dot(masses, values) / total)
    shares, errors = masses / total, masses * (values - mean) / total
    if groups is not None:
        shares, errors = (np.bincount(groups, of_rows).astype(np.float64) for of_rows in (shares, errors))
    counted = shares > 0.0
    shares, errors = shares[counted], errors[counted]
    effective = 1.0 / float(np.dot(shares, shares))
    if effective <= 1.0 + ROUNDING:
        return RowMean(mean, math.nan, math.nan)
    squares = errors**2 * (effective / (effective - 1.0))
    variance, fourth = float(squares.sum()), float(np.dot(squares, squares))
    # All rows alike: what is left of their differences from the mean is rounding.
    if np.ptp(values[masses > 0.0]) == 0.0:
        return RowMean(mean, 0.0, math.nan)
    spread = fourth - variance**2 / len(squares)
    freedom = effective - 1.0
    if spread > ROUNDING * fourth:
        freedom = min(freedom, 2.0 * variance**2 / spread)
    return RowMean(mean, variance, max(1.0, freedom))
