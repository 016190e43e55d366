"""The options of the multi-class ROC curve."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc._arrays import as_float64
from multiauc._wording import described

if TYPE_CHECKING:
    from numpy.typing import NDArray

SCOPES = ("shared", "class", "pair")
CENTERS = ("intercept", "projection")
MOST_THRESHOLDS = 65_535

# Most bytes of the matrix of rates, 2T x K(K - 1) numbers.
MEMORY_LIMIT = 2 << 30


def read_thresholds(thresholds: Any) -> int | NDArray[np.float64]:
    """How many thresholds, or which."""
    if np.ndim(thresholds) == 0:
        count = whole_number("thresholds", thresholds, "a number of thresholds or a falling array of them")
        if not 1 <= count <= MOST_THRESHOLDS:
            raise ValueError(f"thresholds must be between 1 and {MOST_THRESHOLDS}; got {count}")
        return count
    values = as_float64("thresholds", thresholds)
    if values.ndim != 1 or not 1 <= values.size <= MOST_THRESHOLDS:
        raise ValueError(
            f"thresholds must be a number, or a one-dimensional array of 1 to {MOST_THRESHOLDS} thresholds; "
            f"got shape {values.shape}"
        )
    if not np.isfinite(values).all():
        raise ValueError(f"thresholds must be finite; got {values[~np.isfinite(values)][0]}")
    rising = np.flatnonzero(np.diff(values) >= 0)
    if rising.size:
        k = int(rising[0])
        raise ValueError(f"thresholds must fall strictly; got {values[k]} followed by {values[k + 1]}")
    return values


def read_rate_weights(rate_weights: Any, n_classes: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weights of the true-positive and of the false-positive rates at [c, d]."""
    if rate_weights is None:
        equal = np.ones((n_classes, n_classes))
        return equal, equal
    if not isinstance(rate_weights, (tuple, list)) or len(rate_weights) != 2:
        raise TypeError(
            "rate_weights must be a tuple (tp, fp) of two arrays, a row and a column per class; "
            f"got {described(rate_weights)}"
        )
    first, second = (
        _positive_matrix(f"rate_weights[{position}]", matrix, n_classes) for position, matrix in enumerate(rate_weights)
    )
    return first, second


def _positive_matrix(argument: str, matrix: Any, n_classes: int) -> NDArray[np.float64]:
    weights = as_float64(argument, matrix)
    if weights.shape != (n_classes, n_classes):
        raise ValueError(
            f"{argument} must be a {n_classes} x {n_classes} array, a row and a column per class in the order of "
            f"`labels`; got shape {weights.shape}"
        )
    weights = weights.copy()
    np.fill_diagonal(weights, 1.0)
    wrong = ~((weights > 0.0) & np.isfinite(weights))
    if wrong.any():
        c, d = np.argwhere(wrong)[0].tolist()
        raise ValueError(f"{argument} must be positive and finite; got {weights[c, d]} at [{c}, {d}]")
    return weights


def read_non_negative(argument: str, value: Any) -> float:
    """A finite number that is not negative."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{argument} must be a number; got {described(value)}") from None
    if not 0.0 <= number < np.inf:
        raise ValueError(f"{argument} must be finite and not negative; got {value!r}")
    return number


def read_max_iter(max_iter: Any) -> int:
    """At least one sweep."""
    return positive_integer("max_iter", max_iter)


def positive_integer(argument: str, value: Any) -> int:
    """A whole number of at least one."""
    number = whole_number(argument, value, "a positive integer")
    if number < 1:
        raise ValueError(f"{argument} must be a positive integer; got {number}")
    return number


def whole_number(argument: str, value: Any, accepted: str) -> int:
    """An integer that is no bool."""
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__"):
        raise TypeError(f"{argument} must be {accepted}; got {described(value)}")
    return operator.index(value)
