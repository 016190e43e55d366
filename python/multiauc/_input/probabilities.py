"""From the outputs of models in training to probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc._wording import one_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

OUTPUTS = ("probabilities", "logits", "one_vs_all_logits")


def probabilities_of(argument: str, scores: NDArray[Any], outputs: str) -> NDArray[Any]:
    """The probabilities behind `scores`, in their own precision; what they are is given, never guessed.

    A single score per row is returned unchanged: every transformation of it ranks the rows alike.
    """
    one_of("outputs", outputs, OUTPUTS)
    _refuse_infinite(argument, scores)
    if scores.ndim == 1:
        return scores
    if outputs == "logits":
        return _softmax(scores)
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


def _softmax(logits: NDArray[Any]) -> NDArray[Any]:
    """exp(z_k) / sum over j of exp(z_j), shifted so that it cannot overflow."""
    powers: NDArray[Any] = logits - logits.max(axis=1, keepdims=True)
    np.exp(powers, out=powers)
    powers /= powers.sum(axis=1, keepdims=True)
    return powers


def _expit(logits: NDArray[Any]) -> NDArray[Any]:
    """1 / (1 + exp(-z)), from the side on which it cannot overflow."""
    small = np.exp(-np.abs(logits))
    probabilities: NDArray[Any] = np.where(logits < 0, small, 1) / (1 + small)
    return probabilities
