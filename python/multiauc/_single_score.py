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

    from multiauc._inputs import Sample


def single_score_auc(sample: Sample, partition: NDArray[np.float64] | None = None) -> float:
    """AUC of the score.

    With a partition matrix the pair's score is v . (1 - s, s), which falls with s at the slope |sigma|, so that its
    AUC is that of s too, unless the slope is zero.
    """
    auc = _rust.binary_auc(sample.scores, sample.codes, sample.weights)
    if partition is not None:
        (a, b), (c, d) = partition.tolist()
        if a - b - c + d == 0.0:
            return 0.5
    return auc


def single_score_matrix(auc: float) -> NDArray[np.float64]:
    """The 2 x 2 matrix of the pair's AUC."""
    return np.array([[np.nan, auc], [auc, np.nan]])
