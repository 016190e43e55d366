"""The standardised partial area under ROC curves, at false positive rates up to a cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc import _rust

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from multiauc._labels import Codes


def partial_binary_auc(
    scores: NDArray[Any], is_positive: Codes, weights: NDArray[np.float64] | None, max_fpr: float
) -> float:
    """Of one score."""
    twice = np.broadcast_to(scores[:, None], (len(scores), 2))
    return partial_aucs(twice, is_positive, weights, [(1, None)], max_fpr)[0]


def partial_aucs(
    scores: NDArray[Any],
    codes: Codes,
    weights: NDArray[np.float64] | None,
    pairs: Sequence[tuple[int, int | None]],
    max_fpr: float,
) -> list[float]:
    """Of class c against class d (or against the rest, if d is None), by the scores of column c, for every (c, d)."""
    curves = _rust.roc_curve_points(scores, codes, weights, list(pairs), True)  # noqa: FBT003 - positional by nature
    return [_standardised_area(fpr, tpr, max_fpr) for fpr, tpr, _ in curves]


def _standardised_area(fpr: NDArray[np.float64], tpr: NDArray[np.float64], max_fpr: float) -> float:
    """McClish's: 1/2 for a score without information, 1 for a perfect one."""
    inside = fpr <= max_fpr
    x = np.append(fpr[inside], max_fpr)
    y = np.append(tpr[inside], np.interp(max_fpr, fpr, tpr))
    area = ((y[1:] + y[:-1]) * np.diff(x)).sum() / 2
    smallest = max_fpr**2 / 2
    return float((1 + (area - smallest) / (max_fpr - smallest)) / 2)
