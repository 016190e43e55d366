"""The data behind a result, kept by reference for what is computed only when asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from multiauc import _rust
from multiauc._single_score import single_score_partition, two_columns

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from multiauc._input.sample import Sample

# How many rows and columns the fingerprint looks at.
ROWS_SEEN = 512
COLUMNS_SEEN = 16

SampleArguments = tuple[Any, Any, Any, Any]


class HeldInputs:
    """A sample with its options, and a fingerprint that notices when its arrays were changed."""

    __slots__ = ("_fingerprint", "_interactions", "groups", "pair_weights", "partition", "sample", "sampling")

    def __init__(
        self,
        sample: Sample,
        *,
        groups: NDArray[np.uint32] | None = None,
        partition: NDArray[np.float64] | None = None,
        pair_weights: str | NDArray[np.float64] | None = None,
        sampling: str = "stratified",
    ) -> None:
        self.sample = sample
        self.groups = groups
        self.partition = single_score_partition(partition) if sample.has_one_score else partition
        self.pair_weights = pair_weights
        self.sampling = sampling
        self._fingerprint = self._look()
        self._interactions: NDArray[np.float64] | None = None

    def arguments(self) -> SampleArguments:
        """(scores, codes, weights, groups) for the core, if they still are what they were."""
        if self._look() != self._fingerprint:
            raise ValueError(
                "y_score or sample_weight was changed after this result was computed, and the result keeps no copy; "
                "evaluate the data again"
            )
        return two_columns(self.sample), self.sample.codes, self.sample.weights, self.groups

    def interactions(self) -> NDArray[np.float64]:
        """Two rows, what the unbiased variance subtracts and what the bootstrap's adds, by metric and by class."""
        if self._interactions is None:
            self._interactions = _rust.interactions(self.arguments(), self.partition, self.pair_weights)
        return self._interactions

    def why_first_order_only(self) -> str | None:
        """What rules the other kinds of variance out, if anything does."""
        if self.sample.weights is not None:
            return "sample_weight"
        if self.groups is not None:
            return "groups"
        return None if self.sampling == "stratified" else f"sampling={self.sampling!r}"

    def _look(self) -> int:
        scores, weights = self.sample.scores, self.sample.weights
        rows = slice(None, None, max(1, len(scores) // ROWS_SEEN))
        columns = slice(None, None, max(1, self.sample.n_classes // COLUMNS_SEEN))
        seen = scores[rows] if self.sample.has_one_score else scores[rows, columns]
        return hash(seen.tobytes() + (b"" if weights is None else weights[rows].tobytes()))
