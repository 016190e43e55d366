"""From the outputs of models to probabilities, and whether scores look like probabilities at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc import _rust
from multiauc._common.registry import METRICS
from multiauc._common.wording import describe_type, one_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from multiauc._common.types import Outputs

#: What the outputs of models in training may be.
OUTPUTS = ("probabilities", "logits", "one_vs_all_logits")
# Scores whose softmax is computed at a time, to keep the float64 copies small.
SCORES_AT_ONCE = 1 << 20
# Rows whose sums are looked at, and how far a sum of probabilities may be from 1.
ROWS_LOOKED_AT = 10_000
SUM_TOLERANCE = 1e-3
#: What results say of scores that are not probabilities.
NOT_PROBABILITIES = (
    "scores are not probabilities (rows do not sum to 1): values depend on their scale; pass outputs='logits' if they "
    "are logits"
)


def read_outputs(outputs: Any) -> Outputs:
    """What the columns of scores are: None if they are to be taken as they are, or "logits"."""
    if outputs is not None and not isinstance(outputs, str):
        raise TypeError(f"outputs must be None or 'logits'; got {describe_type(outputs)}")
    if outputs not in (None, "logits"):
        raise ValueError(f"outputs must be None (scores are taken as they are) or 'logits'; got {outputs!r}")
    return outputs  # type: ignore[return-value]


def as_outputs(
    argument: str, scores: NDArray[np.float32] | NDArray[np.float64], outputs: Any
) -> NDArray[np.float32] | NDArray[np.float64]:
    """Scores of shape (n, K) or (n, 1) as they are, or the probabilities of logits; nan and infinity are refused."""
    if outputs is None:
        return scores
    read_outputs(outputs)
    _refuse_infinite(argument, scores)
    return softmax(scores) if scores.shape[1] > 1 else _expit(scores.astype(np.float64))


def probabilities_of(argument: str, scores: NDArray[Any], outputs: str | None) -> NDArray[Any]:
    """The probabilities behind `scores`, in their own precision; what they are is given, never guessed.

    None takes them as they are.

    A single score per row is returned unchanged: every transformation of it ranks the rows alike.
    """
    if outputs is not None:
        one_of("outputs", outputs, OUTPUTS)
    _refuse_infinite(argument, scores)
    if scores.ndim == 1 or outputs is None:
        return scores
    if outputs == "logits":
        return softmax(scores)
    if outputs == "one_vs_all_logits":
        return _expit(scores)
    smallest, largest = scores.min(initial=0), scores.max(initial=0)
    if smallest < 0 or largest > 1:
        raise ValueError(
            f"{argument} must be probabilities, between 0 and 1; got values from {smallest:.6g} to {largest:.6g}: "
            "for raw scores pass outputs='logits' (softmax) or outputs='one_vs_all_logits' (a logistic function each)"
        )
    return scores


def _refuse_infinite(argument: str, scores: NDArray[Any]) -> None:
    wrong = np.argwhere(~np.isfinite(scores))
    if len(wrong):
        place = wrong[0].tolist()
        where = f"row {place[0]}" if len(place) == 1 else f"row {place[0]}, column {place[1]}"
        raise ValueError(f"{argument} must be finite numbers; got {scores[tuple(place)]} at {where}")


def softmax(logits: NDArray[Any]) -> NDArray[Any]:
    """exp(z_k) / sum over j of exp(z_j), in float64, stored in the type of the logits.

    Within a row equal logits have equal probabilities, and a larger logit never has a smaller one.
    """
    n_rows, n_columns = logits.shape
    probabilities = np.empty((n_rows, n_columns), dtype=logits.dtype)
    step = max(1, SCORES_AT_ONCE // n_columns)
    for start in range(0, n_rows, step):
        block = logits[start : start + step].astype(np.float64)
        largest = block.max(axis=1, keepdims=True)
        powers = _raise_to_powers(block, largest)
        in_order = np.sort(block, axis=1)
        rising = np.diff(_raise_to_powers(in_order, largest), axis=1)
        wrong = ((rising < 0) | ((rising != 0) & (np.diff(in_order, axis=1) == 0))).any(axis=1)
        # exp need not be monotone in its last bit. Division and rounding are, so this is all there is to repair.
        for row in np.flatnonzero(wrong):
            powers[row] = _make_monotone(block[row], powers[row])
        probabilities[start : start + step] = powers / powers.sum(axis=1, keepdims=True)
    return probabilities


def _raise_to_powers(logits: NDArray[np.float64], largest: NDArray[np.float64]) -> NDArray[np.float64]:
    """Powers that cannot overflow: the largest of a row is 1."""
    with np.errstate(over="ignore", under="ignore"):  # of logits that are further apart than float64 reaches
        return np.asarray(np.exp(logits - largest))


def _make_monotone(logits: NDArray[np.float64], powers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each power of a row raised to the largest of those of smaller or equal logits."""
    distinct, places = np.unique(logits, return_inverse=True)
    largest = np.zeros(len(distinct))
    np.maximum.at(largest, places, powers)
    return np.asarray(np.maximum.accumulate(largest)[places])


def _expit(logits: NDArray[Any]) -> NDArray[Any]:
    """1 / (1 + exp(-z)), from the side on which it cannot overflow."""
    small = np.exp(-np.abs(logits))
    return np.asarray(np.where(logits < 0, small, 1) / (1 + small))


def sum_to_one(scores: NDArray[Any]) -> bool:
    """Whether the rows sum to 1; of one score per row only the order counts. Not all rows are looked at."""
    return scores.shape[1] == 1 or _rust.sum_to_one(scores, ROWS_LOOKED_AT, SUM_TOLERANCE)


def depend_on_scale(metrics: Iterable[str], partition: object) -> bool:
    """Whether other scores that order the classes alike within each row can change one of the metrics."""
    return partition is not None or not all(METRICS[name].is_of_predictions for name in metrics)


def check_probabilities(
    scores: NDArray[np.float32] | NDArray[np.float64], wanted_for: str
) -> NDArray[np.float32] | NDArray[np.float64]:
    """The scores, (n, K) or (n, 1); raises, with what they are needed for, unless all rows are probabilities."""
    row = _rust.find_improbable_row(scores)
    if row is not None:
        found = scores[row].tolist()
        shown = ", ".join(f"{value:.6g}" for value in found[:8]) + (", ..." if len(found) > 8 else "")
        raise ValueError(
            f"y_score must be probabilities, none negative and the sum of a row 1, {wanted_for}; "
            f"got {shown} in row {row}: for logits pass outputs='logits'"
        )
    return scores
