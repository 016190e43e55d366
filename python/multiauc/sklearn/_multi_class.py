"""More than two classes with a score each."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc import _rust
from multiauc._common.registry import HAND_TILL
from multiauc._input.labels import match_classes
from multiauc.sklearn._multi_label import MultiLabel, read_class_labels, warn_undefined, weighted_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from multiauc._input.labels import Codes
    from multiauc._input.sample import SampleArguments


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
                return _rust.pair_matrix(self._sample(), HAND_TILL, {})
            return _rust.score(self._sample(), HAND_TILL, {"pair_weights": pair_weights})
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

    def _sample(self) -> SampleArguments:
        return self.scores, self.codes, self.weights, None
