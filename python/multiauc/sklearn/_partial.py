"""The standardised partial area under ROC curves, at false positive rates up to a cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from multiauc import _rust

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from multiauc._input.labels import Codes


def partial_binary_auc(
    scores: NDArray[Any], is_positive: Codes, weights: NDArray[np.float64] | None, max_fpr: float
) -> float:
    """Of one score."""
    values, _, _ = _rust.partial_aucs(scores[:, None], is_positive, weights, 2, [(1, None)], "max_fpr", max_fpr)
    return values[0]


def partial_aucs(
    scores: NDArray[Any],
    codes: Codes,
    weights: NDArray[np.float64] | None,
    pairs: Sequence[tuple[int, int | None]],
    max_fpr: float,
) -> list[float]:
    """Of class c against class d (or against the rest, if d is None), by the scores of column c, for every (c, d)."""
    values, _, _ = _rust.partial_aucs(scores, codes, weights, scores.shape[1], list(pairs), "max_fpr", max_fpr)
    return values
