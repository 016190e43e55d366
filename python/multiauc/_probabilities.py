"""Scores that are probabilities, looked at block by block so that they are never copied as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc._input.arrays import as_scores
from multiauc._input.probabilities import as_outputs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

BLOCK = 65_536
# How far a sum of probabilities may be from 1.
TOLERANCES = {8: 1e-6, 4: 1e-3}


def read_probabilities(y_score: Any, n_classes: int, outputs: Any = None) -> NDArray[np.float32] | NDArray[np.float64]:
    """(n, K) probabilities, or (n, 1) of the second of two classes; raises unless they are, or are made of logits."""
    scores = as_scores("y_score", y_score)
    if scores.ndim == 1:
        scores = scores[:, np.newaxis]
    if scores.ndim != 2 or scores.shape[1] not in ({1, 2} if n_classes == 2 else {n_classes}):
        raise ValueError(f"y_score must have a column for each of the {n_classes} classes; got shape {scores.shape}")
    scores = as_outputs("y_score", scores, outputs)
    tolerance = TOLERANCES[scores.itemsize]
    for rows, block in probability_blocks(scores):
        sums = block.sum(axis=1)
        # Written so that nan is wrong.
        wrong = ~((np.abs(sums - 1.0) <= tolerance) & (block.min(axis=1) >= -tolerance))
        if wrong.any():
            first = int(np.argmax(wrong))
            found = scores[rows.start + first].tolist()
            shown = ", ".join(f"{value:.6g}" for value in found[:8]) + (", ..." if len(found) > 8 else "")
            raise ValueError(
                "y_score must be probabilities, none negative and the sum of a row 1, to weigh costs with; "
                f"got {shown} in row {rows.start + first}: for logits pass outputs='logits'"
            )
    return scores


def probability_blocks(
    scores: NDArray[np.float32] | NDArray[np.float64],
) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Rows, and their probabilities for all classes as float64."""
    for start in range(0, len(scores), BLOCK):
        rows = slice(start, min(start + BLOCK, len(scores)))
        yield rows, all_columns(scores[rows])


def all_columns(scores: NDArray[np.float32] | NDArray[np.float64]) -> NDArray[np.float64]:
    """The probabilities of all classes as float64, where a single one is that of the second of two."""
    block = scores.astype(np.float64)
    return block if block.shape[1] > 1 else np.column_stack([1.0 - block[:, 0], block[:, 0]])
