"""Two classes with one score, and several such problems side by side: labels that a row may or may not have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc import _rust
from multiauc._common.registry import HAND_TILL
from multiauc._input.labels import read_label_column
from multiauc.sklearn._original import theirs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from multiauc._input.labels import Codes, LabelColumn


def warn_undefined(times: int) -> None:
    """Have scikit-learn give its own warning of an undefined value, so that text, class and origin are right."""
    for _ in range(times):
        theirs([0], [0.0])


def read_class_labels(y_true: Any, n_rows: int, n_columns: int) -> LabelColumn:
    """Labels that scikit-learn takes for classes: whole numbers or strings; a ValueError otherwise."""
    column = read_label_column(y_true, n_rows, n_columns)
    kinds = {type(label) for label in column.distinct}
    if kinds == {str}:
        return column
    if not kinds <= {int, float, bool} or len(kinds) > 1 or getattr(y_true, "dtype", None) == np.object_:
        raise ValueError("y_true must hold whole numbers or strings")
    if kinds == {float} and not all(label.is_integer() for label in column.distinct):
        raise ValueError("y_true must hold whole numbers or strings")
    return column


def binary_auc(
    scores: NDArray[Any], is_positive: Codes, weights: NDArray[np.float64] | None, max_fpr: float | None
) -> float:
    """The AUC of one score; both classes must have rows."""
    if weights is not None and 0 in _rust.class_sizes(is_positive, weights, 2)[0]:
        raise ValueError("sample_weight must have positive weights for both classes")
    sample = scores[:, np.newaxis], is_positive, weights, None
    if max_fpr is None:
        return _rust.score(sample, HAND_TILL, {})
    values, _, _ = _rust.partial_aucs(sample, [(1, None)], "max_fpr", max_fpr)
    return values[0]


def binary_score(
    y_true: Any, scores: NDArray[Any], weights: NDArray[np.float64] | None, max_fpr: float | None
) -> float:
    """The AUC of the score of the greater of two labels."""
    column = read_class_labels(y_true, len(scores), 2)
    if not len(set(column.distinct)) == len(column.distinct) == 2:
        raise ValueError("y_true must hold two different labels")
    first, second = column.distinct
    codes, _ = column.to_columns([0, 1] if first < second else [1, 0], 2)
    return binary_auc(scores, codes, weights, max_fpr)


@dataclass(frozen=True, slots=True, eq=False)
class MultiLabel:
    """Which of K labels each row has, and the K scores of each row."""

    has_label: NDArray[np.uint8]
    scores: NDArray[Any]
    weights: NDArray[np.float64] | None

    @classmethod
    def read(cls, y_true: NDArray[Any], scores: NDArray[Any], weights: NDArray[np.float64] | None) -> MultiLabel:
        """Check the indicator matrix: zeros and ones, in the shape of the scores."""
        if y_true.shape != scores.shape or y_true.ndim != 2 or y_true.shape[1] < 2 or y_true.dtype.kind not in "biuf":
            raise ValueError("y_true must be a matrix of the same shape as y_score")
        if y_true.dtype != np.bool_ and not ((y_true == 0) | (y_true == 1)).all():
            raise ValueError("y_true must hold zeros and ones alone")
        return cls(y_true.astype(np.uint8), scores, weights)

    def score(self, average: str | None, max_fpr: float | None) -> float | NDArray[np.float64]:
        """The values of all labels, or their average."""
        if average == "micro":
            return self._micro(max_fpr)
        if average == "samples":
            return weighted_mean(_column_aucs(self.has_label.T, self.scores.T, None, max_fpr), self.weights)
        values = _column_aucs(self.has_label, self.scores, self.weights, max_fpr)
        if average is None:
            return values
        if average == "macro":
            return weighted_mean(values, None)
        support = self.has_label.sum(axis=0) if self.weights is None else self.weights @ self.has_label
        if np.isclose(support.sum(), 0):
            raise ValueError("y_true must have positive labels")
        return weighted_mean(values, support)

    def _micro(self, max_fpr: float | None) -> float:
        weights = None if self.weights is None else self.weights.repeat(self.scores.shape[1])
        cells = self.scores.reshape(-1, 1), self.has_label.reshape(-1, 1)
        return float(_column_aucs(cells[1], cells[0], weights, max_fpr)[0])


def weighted_mean(values: NDArray[np.float64], weights: NDArray[Any] | None) -> float:
    """The mean, in which undefined values of no weight do not count."""
    if weights is None:
        return float(values.mean())
    return float(np.average(np.where(weights == 0, 0.0, values), weights=weights))


def _column_aucs(
    has_label: NDArray[np.uint8],
    scores: NDArray[Any],
    weights: NDArray[np.float64] | None,
    max_fpr: float | None,
) -> NDArray[np.float64]:
    """The AUC of each column; nan and a warning where all rows are alike."""
    values = np.full(scores.shape[1], np.nan)
    for k in range(scores.shape[1]):
        is_positive = np.ascontiguousarray(has_label[:, k])
        if is_positive.min() < is_positive.max():
            values[k] = binary_auc(scores[:, k], is_positive, weights, max_fpr)
    warn_undefined(int(np.isnan(values).sum()))
    return values
