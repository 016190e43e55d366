"""Scores of scipy.sparse: what is not stored is 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc import _rust
from multiauc._common.wording import described, one_of
from multiauc._input.arrays import as_scores
from multiauc._input.labels import match_classes, read_label_column
from multiauc._input.probabilities import read_outputs
from multiauc._input.sample import ABSENT_POLICIES, ClassedRows, classed_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class SparseSample(ClassedRows):
    """Labels, stored scores and weights in the form of the compiled core.

    Attributes
    ----------
    values
        The stored scores, row by row; the caller's memory wherever possible.
    columns
        Their columns, in any order within a row; several scores of one cell are added.
    starts
        Where the scores of each row start, and those of the last end.
    width
        The number of columns: K, or 1 for the scores of the second of two classes.
    """

    values: NDArray[np.float32] | NDArray[np.float64]
    columns: NDArray[np.int32] | NDArray[np.int64]
    starts: NDArray[np.int64]
    width: int

    def arguments(self) -> _rust.SparseSample:
        """What the core reads."""
        return _rust.SparseSample(self.values, self.columns, self.starts, self.width, self.codes, self.weights)


def read_sparse_sample(
    y_true: Any, y_score: Any, sample_weight: Any, labels: Any, absent: Any, outputs: Any = None
) -> SparseSample:
    """Check the arguments, `y_score` being sparse. The core checks the numbers themselves."""
    if read_outputs(outputs) is not None:
        raise ValueError(
            f"outputs={outputs!r} cannot be used with a sparse y_score, where what is not stored is a score of 0: no "
            "probability of a softmax is 0; pass y_score.toarray(), or store probabilities"
        )
    policy = one_of("absent", absent, ABSENT_POLICIES)
    shape = tuple(y_score.shape)
    if len(shape) != 2 or 0 in shape:
        raise ValueError(
            "y_score must have a row per instance and a column per class, or one column of scores of the second of two "
            f"classes; got {described(y_score)}"
        )
    values, columns, starts = _compressed_rows(y_score)
    n_rows, width = int(shape[0]), int(shape[1])
    n_columns = max(2, width)
    column = read_label_column(y_true, n_rows, n_columns)
    rows = classed_rows(column, match_classes(column, labels, None, n_columns), sample_weight, policy)
    return SparseSample(*rows, "sorted" if labels is None else "labels", values, columns, starts, width)


def _compressed_rows(
    y_score: Any,
) -> tuple[NDArray[np.float32] | NDArray[np.float64], NDArray[np.int32] | NDArray[np.int64], NDArray[np.int64]]:
    """(values, columns, starts), float32 or float64."""
    matrix = y_score if getattr(y_score, "format", None) == "csr" else y_score.tocsr()
    if matrix.data.dtype not in (np.float32, np.float64) and not matrix.has_canonical_format:
        # Several numbers of one cell are added in their own type, as .toarray() does: True and True are True.
        matrix = matrix.copy()
        matrix.sum_duplicates()
    values: NDArray[Any] = np.ascontiguousarray(as_scores("y_score", matrix.data))
    indices = matrix.indices
    columns: NDArray[Any] = np.ascontiguousarray(indices, dtype=np.int32 if indices.dtype == np.int32 else np.int64)
    return values, columns, np.ascontiguousarray(matrix.indptr, dtype=np.int64)
