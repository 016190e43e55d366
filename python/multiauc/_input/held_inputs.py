"""The data behind a result, kept by reference for what is computed only when asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from multiauc import _rust
from multiauc._wording import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from multiauc._input.sample import Sample, SampleArguments

# How many rows the fingerprint looks at, and how many columns of each of them.
ROWS_SEEN = 512
COLUMNS_SEEN = 16


class HeldInputs:
    """A sample, the metrics asked for and their options, with a fingerprint that notices changes to the arrays.

    Scores and weights may be the caller's memory, and the fingerprint is of them. All else is a copy: the codes of the
    classes and of the groups, the matrices among the options.
    """

    __slots__ = ("_fingerprint", "_interactions", "groups", "metrics", "options", "sample", "sampling")

    def __init__(
        self,
        sample: Sample,
        metrics: tuple[str, ...],
        options: dict[str, Any],
        *,
        groups: NDArray[np.uint32] | None = None,
        sampling: str = "stratified",
    ) -> None:
        self.sample = sample
        self.metrics = metrics
        self.options = options
        self.groups = groups
        self.sampling = sampling
        self._fingerprint = self._look()
        self._interactions: _rust.Interactions | None = None

    def __deepcopy__(self, _memo: object) -> Self:
        """Itself: the data are referred to, never copied."""
        return self

    def asking_for(self, metrics: tuple[str, ...]) -> HeldInputs:
        """The same data and options, for other metrics."""
        return HeldInputs(self.unchanged_sample(), metrics, self.options, groups=self.groups, sampling=self.sampling)

    def arguments(self) -> SampleArguments:
        """(scores, codes, weights, groups) for the core, if they have not changed since."""
        return self.unchanged_sample().arguments(self.groups)

    def unchanged_sample(self) -> Sample:
        """The sample, if it has not changed since."""
        if self._look() != self._fingerprint:
            raise ValueError(
                "y_score or sample_weight was changed after this result was computed, and the result keeps no copy; "
                "evaluate the data again"
            )
        return self.sample

    def influences(self) -> NDArray[np.float64]:
        """What each row adds to the error of each metric, (n, metrics)."""
        return _rust.influences(self.arguments(), list(self.metrics), self.options)

    def interactions(self) -> _rust.Interactions:
        """What the unbiased variance subtracts and what the bootstrap's adds, by metric and by class."""
        if self._interactions is None:
            self._interactions = _rust.interactions(self.arguments(), self.options)
        return self._interactions

    def why_first_order_only(self) -> str | None:
        """What rules out the other kinds of variance, if anything does."""
        if self.sample.weights is not None:
            return "sample_weight"
        if self.groups is not None:
            return "groups"
        return None if self.sampling == "stratified" else f"sampling={self.sampling!r}"

    def method(self) -> str:
        """How the uncertainty was found, in words."""
        sizes = "class sizes fixed" if self.sampling == "stratified" else "class sizes random"
        weights = "" if self.sample.weights is None else ", weighted rows"
        groups = "" if self.groups is None else f", {counted(int(self.groups.max()) + 1, 'group')} of rows"
        return f"closed form, {sizes}{weights}{groups}; logit intervals with Student's t"

    def drawn(self) -> str:
        """What a bootstrap draws: "stratified" or "iid" rows, or "groups"."""
        return self.sampling if self.groups is None else "groups"

    def _look(self) -> int:
        """A fingerprint of some rows, the first and the last among them: up to a number, all of their columns.

        Of more columns some, and in addition one of each row, another one from row to row.
        """
        scores, weights = self.sample.scores, self.sample.weights
        rows = _spread(len(scores), ROWS_SEEN)
        seen = [scores[rows]] if scores.shape[1] <= COLUMNS_SEEN else self._some_columns(rows)
        if weights is not None:
            seen.append(weights[rows])
        return hash(b"".join(cells.tobytes() for cells in seen))

    def _some_columns(self, rows: NDArray[np.intp]) -> list[NDArray[Any]]:
        scores = self.sample.scores
        n_columns = scores.shape[1]
        return [scores[np.ix_(rows, _spread(n_columns, COLUMNS_SEEN))], scores[rows, np.arange(len(rows)) % n_columns]]


def _spread(length: int, most: int) -> NDArray[np.intp]:
    """Positions from the first to the last: all of them, or `most` at equal distances."""
    return np.arange(length) if length <= most else np.arange(most) * (length - 1) // (most - 1)
