"""The kinds of targets that scikit-learn's `roc_auc_score` takes: two classes, several labels per row, many classes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc import _rust
from multiauc._input.labels import match_classes, read_label_column

try:
    from sklearn import get_config
    from sklearn.metrics import roc_auc_score as theirs
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "multiauc.sklearn needs scikit-learn; install it with: pip install scikit-learn"
    ) from error

__all__ = ["MultiClass", "MultiLabel", "binary_score", "get_config", "theirs"]

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    sample = _rust.Sample(scores[:, np.newaxis], is_positive, weights)
    if max_fpr is None:
        return _rust.score(sample, "hand_till")
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


@dataclass(frozen=True, slots=True, eq=False)
class MultiClass:
    """The class of each row as a column number, the scores of each row, and how many rows (or weight) classes have."""

    codes: Codes
    scores: NDArray[Any]
    weights: NDArray[np.float64] | None
    rows: NDArray[np.int64]
    sizes: NDArray[np.float64]

    @classmethod
    def read(cls, y_true: Any, scores: NDArray[Any], weights: NDArray[np.float64] | None, labels: Any) -> MultiClass:
        """Match the labels with the columns; at least two classes have rows."""
        n_columns = scores.shape[1]
        column = read_class_labels(y_true, len(scores), n_columns)
        if n_columns == 2 and len(column.distinct) <= 2:
            raise ValueError("y_score must be one-dimensional for two classes")
        _, columns = match_classes(column, labels, None, n_columns)
        codes, rows = column.to_columns(columns, n_columns)
        sizes = rows.astype(np.float64)
        if weights is not None:
            positive, sizes = _rust.class_sizes(codes, weights, n_columns)
            if ((positive == 0) & (rows > 0)).any():
                raise ValueError("sample_weight must have positive weights for all classes that have rows")
        if np.count_nonzero(rows) < 2:
            raise ValueError("y_true must have rows of at least two classes")
        return cls(codes, scores, weights, rows, sizes)

    def score(self, multi_class: str, average: str | None, max_fpr: float | None) -> float | NDArray[np.float64]:
        """Each class against the rest ("ovr") or against each other class ("ovo"): all values, or their average."""
        if multi_class == "ovo" and average in ("macro", "weighted", None):
            return self._one_vs_one(average, max_fpr)
        if multi_class == "ovr" and average in ("macro", "weighted", None):
            values = self._one_vs_rest(max_fpr)
            if average is None:
                return values
            return weighted_mean(values, self.sizes if average == "weighted" else None)
        if multi_class == "ovr" and average == "micro":
            return self._micro(max_fpr)
        raise ValueError(f"average={average!r} is not defined for multi_class={multi_class!r}")

    def _one_vs_one(self, average: str | None, max_fpr: float | None) -> float | NDArray[np.float64]:
        """Of the classes that have rows."""
        pair_weights = "size_sum" if average == "weighted" else None
        if max_fpr is None:
            if average is None:
                return _rust.pair_matrix(self._sample(), "hand_till")
            return _rust.score(self._sample(), "hand_till", _rust.MetricOptions(pair_weights=pair_weights))
        pairs = list(permutations(np.flatnonzero(self.rows).tolist(), 2))
        values = self._partial_aucs(pairs, max_fpr)
        if average is None:
            matrix = np.full((len(self.rows), len(self.rows)), np.nan)
            matrix[tuple(np.transpose(pairs))] = values
            return matrix
        first, second = np.transpose(pairs)
        return weighted_mean(values, self.sizes[first] + self.sizes[second] if pair_weights else None)

    def _one_vs_rest(self, max_fpr: float | None) -> NDArray[np.float64]:
        """Of each class; nan and a warning for those without rows."""
        if max_fpr is None:
            values = _rust.one_vs_rest_per_class(self._sample())
        else:
            values = np.full(len(self.rows), np.nan)
            present = np.flatnonzero(self.rows)
            values[present] = self._partial_aucs([(int(c), None) for c in present], max_fpr)
        warn_undefined(int((self.rows == 0).sum()))
        return values

    def _micro(self, max_fpr: float | None) -> float | NDArray[np.float64]:
        """All cells in one ranking, those of classes without rows among them."""
        if max_fpr is None and self.rows.all():
            return _rust.one_vs_rest(self._sample(), "micro")
        is_class = self.codes[:, None] == np.arange(len(self.rows), dtype=self.codes.dtype)
        return MultiLabel(is_class.view(np.uint8), self.scores, self.weights).score("micro", max_fpr)

    def _partial_aucs(self, curves: Sequence[tuple[int, int | None]], max_fpr: float) -> NDArray[np.float64]:
        """Of class c against class d (against the rest, if d is None), by the scores of column c, for every (c, d)."""
        values, _, _ = _rust.partial_aucs(self._sample(), list(curves), "max_fpr", max_fpr)
        return np.array(values)

    def _sample(self) -> _rust.Sample:
        return _rust.Sample(self.scores, self.codes, self.weights)
