"""Two classes with one score per row.

The score s of the second class stands for the columns (-s, s): both classes rank the rows alike, in opposite order, so
that every pairwise and one-vs-rest number is the one AUC of s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from multiauc import _rust

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from multiauc._input.sample import Sample


def single_score_auc(sample: Sample, partition: NDArray[np.float64] | None = None) -> float:
    """AUC of the score.

    With a partition matrix the pair's score is v . (1 - s, s), which falls with s at the slope |sigma|, so that its
    AUC is that of s too, unless the slope is zero.
    """
    auc = _rust.binary_auc(sample.scores, sample.codes, sample.weights)
    return auc if single_score_partition(partition) is None else 0.5


def single_score_matrix(auc: float) -> NDArray[np.float64]:
    """The 2 x 2 matrix of the pair's AUC."""
    return np.array([[np.nan, auc], [auc, np.nan]])


def two_columns(sample: Sample) -> NDArray[np.float32] | NDArray[np.float64]:
    """The columns (-s, s) of a single score s; the scores themselves where there are more."""
    if not sample.has_one_score:
        return sample.scores
    columns: NDArray[np.float32] | NDArray[np.float64] = np.empty((len(sample.scores), 2), dtype=sample.scores.dtype)
    np.negative(sample.scores, out=columns[:, 0])
    columns[:, 1] = sample.scores
    return columns


def single_score_partition(partition: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    """What a partition matrix comes to for the columns (-s, s): nothing, or ties only where its slope is zero."""
    if partition is None:
        return None
    (a, b), (c, d) = partition.tolist()
    return np.zeros((2, 2)) if a - b - c + d == 0.0 else None
