"""The options of single metrics: partition matrix and pair weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc._arrays import as_float64
from multiauc._wording import counted, one_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from multiauc._inputs import Sample

PAIR_WEIGHTS = ("size_product", "size_sum")

# How far W and its transpose may differ, relative to the largest entry: room for rounding in a computed matrix.
ASYMMETRY_FROM_ROUNDING = 1e-12


def read_partition(partition: Any, n_classes: int) -> NDArray[np.float64] | None:
    """The partition matrix as K x K float64, or None."""
    if partition is None:
        return None
    costs = _class_by_class("partition", partition, n_classes)
    if not np.isfinite(costs).all():
        i, j = np.argwhere(~np.isfinite(costs))[0].tolist()
        raise ValueError(f"partition must be finite; got {costs[i, j]} at [{i}, {j}]")
    return costs


def read_pair_weights(pair_weights: Any, sample: Sample) -> str | NDArray[np.float64] | None:
    """The weighting of the pairs: None, the name of one, or a symmetric K x K array with a zero diagonal."""
    if pair_weights is None:
        return None
    if isinstance(pair_weights, str):
        return one_of("pair_weights", pair_weights, PAIR_WEIGHTS)
    weights = _class_by_class("pair_weights", pair_weights, sample.n_classes).copy()
    np.fill_diagonal(weights, 0.0)
    wrong = ~((weights >= 0.0) & np.isfinite(weights))
    if wrong.any():
        i, j = np.argwhere(wrong)[0].tolist()
        raise ValueError(f"pair_weights must be finite and not negative; got {weights[i, j]} at [{i}, {j}]")
    asymmetry = np.abs(weights - weights.T)
    if asymmetry.max() > ASYMMETRY_FROM_ROUNDING * weights.max():
        i, j = np.unravel_index(asymmetry.argmax(), asymmetry.shape)
        raise ValueError(
            f"pair_weights must be symmetric; got {weights[i, j]} at [{i}, {j}] but {weights[j, i]} at [{j}, {i}]"
        )
    present = sample.rows > 0
    with np.errstate(over="ignore"):
        total = weights[np.ix_(present, present)].sum()
    if not 0.0 < total < np.inf:
        raise ValueError(
            "pair_weights must have a positive and finite sum over the pairs of classes that have rows; "
            f"got a sum of {total} over {counted(int(present.sum()), 'class', 'classes')}"
        )
    return np.triu(weights) + np.triu(weights).T


def _class_by_class(argument: str, value: Any, n_classes: int) -> NDArray[np.float64]:
    matrix = as_float64(argument, value)
    if matrix.shape != (n_classes, n_classes):
        accepted = " or one of " + ", ".join(map(repr, PAIR_WEIGHTS)) if argument == "pair_weights" else ""
        raise ValueError(
            f"{argument} must be a {n_classes} x {n_classes} array, a row and a column per class in the order of "
            f"labels{accepted}; got shape {matrix.shape}"
        )
    return matrix
