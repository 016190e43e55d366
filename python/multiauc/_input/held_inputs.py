"""The data behind a result, kept by reference for what is computed only when asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc import _rust
from multiauc._common.registry import METRICS, ONE_SCORE_METRICS, natural_sampling
from multiauc._common.wording import one_of, pluralize
from multiauc._input.options import NO_OPTIONS, SAMPLINGS, read_groups

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from multiauc._common.result import Record
    from multiauc._input.sample import Sample

# How many rows the fingerprint looks at, and how many columns of each of them.
ROWS_SEEN = 512
COLUMNS_SEEN = 16


class HeldInputs:
    """A sample, the metrics asked for and their options, with a fingerprint that notices changes to the arrays.

    Scores and weights may be the caller's memory, and the fingerprint is of them. All else is a copy: the codes of the
    classes and of the groups, the matrices among the options.
    """

    __slots__ = (
        "_fingerprint",
        "_interactions",
        "folds",
        "groups",
        "is_natural",
        "metrics",
        "options",
        "sample",
        "sampling",
    )

    def __init__(
        self,
        sample: Sample,
        metrics: tuple[str, ...],
        options: _rust.MetricOptions = NO_OPTIONS,
        *,
        groups: NDArray[np.uint32] | None = None,
        folds: NDArray[np.uint32] | None = None,
        sampling: str = "stratified",
        is_natural: bool = False,
    ) -> None:
        self.sample, self.metrics, self.options = sample, metrics, options
        self.groups, self.folds, self.sampling = groups, folds, sampling
        # Whether nobody asked for this sampling, so that other metrics may have another.
        self.is_natural = is_natural
        self._fingerprint = self._look()
        self._interactions: _rust.Interactions | None = None

    def asking_for(self, metrics: tuple[str, ...], sampling: str | None = None) -> HeldInputs:
        """The same data and options, for other metrics; of another sampling if nobody asked for this one."""
        kept = (sampling or natural_sampling(metrics)) if self.is_natural else self.sampling
        rows: Record = {"groups": self.groups, "folds": self.folds, "sampling": kept, "is_natural": self.is_natural}
        return HeldInputs(self.unchanged_sample(), metrics, self.options, **rows)

    def regroup(self, groups: Any, sampling: Any) -> HeldInputs:
        """The same data, to be drawn in groups or otherwise, as the user says."""
        sample = self.unchanged_sample()
        drawn, numbers = one_of("sampling", sampling, SAMPLINGS), read_groups(groups, len(sample.codes))
        return HeldInputs(sample, self.metrics, self.options, groups=numbers, sampling=drawn)

    def arguments(self, rows: NDArray[np.uint32] | None = None) -> _rust.Sample:
        """What the core reads, of all rows or of some, if it has not changed since."""
        sample = self.unchanged_sample()
        if rows is None:
            return sample.arguments(self.groups, self.sampling)
        weights = None if sample.weights is None else sample.weights[rows]
        groups = None if self.groups is None else self.groups[rows]
        return _rust.Sample(sample.scores[rows], sample.codes[rows], weights, groups, self.sampling)

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
        self.refuse_folds("influences")
        return _rust.influences(self.arguments(), list(self.metrics), self.options)

    def interactions(self) -> _rust.Interactions:
        """What the unbiased variance subtracts and what the bootstrap's adds, by metric and by class."""
        if self._interactions is None:
            self._interactions = _rust.interactions(self.arguments(), self.options)
        return self._interactions

    def why_first_order_only(self) -> str | None:
        """What rules out the other kinds of variance, if anything does."""
        given = {"sample_weight": self.sample.weights, "groups": self.groups, "folds": self.folds}
        found = next((name for name, value in given.items() if value is not None), None)
        return found or (None if self.sampling == "stratified" else f"sampling={self.sampling!r}")

    def describe_method(self) -> str:
        """The method behind standard errors and intervals, in words."""
        sizes = "class sizes random" if self.sampling == "iid" or self.groups_span_classes() else "class sizes fixed"
        weights = "" if self.sample.weights is None else ", weighted rows"
        groups = "" if self.groups is None else f", {pluralize(int(self.groups.max()) + 1, 'group')} of rows"
        folds = "" if self.folds is None else f"average over {pluralize(int(self.folds.max()) + 1, 'fold')}, "
        return f"{folds}analytic standard errors, {sizes}{weights}{groups}; {self._intervals()} with Student's t"

    def _intervals(self) -> str:
        """The kinds of intervals that the metrics have by default."""
        titles = {"wilson": "Wilson", "logit": "logit", "log": "log"}
        found = {
            kind: [METRICS[name].title for name in self.metrics if METRICS[name].interval == kind] for kind in titles
        }
        first, *others = [kind for kind, metrics in found.items() if metrics]
        beside = "; ".join(f"{titles[kind]} for {', '.join(found[kind])}" for kind in others)
        return f"{titles[first]} intervals" + (f" ({beside})" if others else "")

    def refuse_folds(self, wanted: str) -> None:
        """Raise an error if there are folds, for what is not defined within them."""
        if self.folds is not None:
            raise ValueError(f"{wanted} with folds is not offered; estimates, differences and their tests are")

    def refuse_one_score(self, wanted: str) -> None:
        """Raise an error if rows have one score, not one for every class."""
        if self.metrics[0] in ONE_SCORE_METRICS:
            raise ValueError(f"{wanted} needs a score for every class; {self.metrics[0]!r} has one score per row")

    def units(self) -> NDArray[np.int64]:
        """The rows of each class, or its groups."""
        if self.groups is None:
            return self.sample.rows
        counts = slice(None) if self.sample.weights is None else self.sample.weights > 0
        n_groups = int(self.groups.max()) + 1
        pairs = np.unique(self.sample.codes[counts].astype(np.int64) * n_groups + self.groups[counts])
        return np.bincount(pairs // n_groups, minlength=self.sample.n_classes)

    def groups_span_classes(self) -> bool:
        """Whether some group has rows of several classes, so that drawing groups draws the class sizes too."""
        if self.groups is None:
            return False
        counts = slice(None) if self.sample.weights is None else self.sample.weights > 0
        codes, groups = self.sample.codes[counts], self.groups[counts]
        class_of = np.zeros(int(self.groups.max()) + 1, dtype=codes.dtype)
        class_of[groups] = codes
        return bool((class_of[groups] != codes).any())

    def describe_options(self) -> Record:
        """The options by the names of the arguments; of arrays of rows, whether they are there."""
        of_few = {"clip": self.options.clip, "k": self.options.k}
        return {
            "metrics": list(self.metrics),
            "partition": self.options.partition,
            "pair_weights": self.options.pair_weights,
            **{name: value for name, value in of_few.items() if value is not None},
            "sample_weight": self.sample.weights is not None,
            "groups": self.groups is not None,
            "folds": self.folds is not None,
            "sampling": self.sampling,
            "absent": self.sample.absent,
            "outputs": self.sample.outputs,
        }

    @property
    def resampled_unit(self) -> str:
        """What a bootstrap draws: "stratified" or "iid" rows, or "groups"."""
        return self.sampling if self.groups is None else "groups"

    def _look(self) -> int:
        """A fingerprint of some rows, the first and the last among them: up to a number, all of their columns.

        Of more columns some, and in addition one of each row, another one from row to row.
        """
        scores, weights = self.sample.scores, self.sample.weights
        rows, n_columns = _spread(len(scores), ROWS_SEEN), scores.shape[1]
        seen: list[NDArray[Any]] = [scores[rows]]
        if n_columns > COLUMNS_SEEN:
            one_of_each = scores[rows, np.arange(len(rows)) % n_columns]
            seen = [scores[np.ix_(rows, _spread(n_columns, COLUMNS_SEEN))], one_of_each]
        if weights is not None:
            seen.append(weights[rows])
        return hash(b"".join(cells.tobytes() for cells in seen))


def _spread(length: int, most: int) -> NDArray[np.intp]:
    """Positions from the first to the last: all of them, or `most` at equal distances."""
    return np.arange(length) if length <= most else np.arange(most) * (length - 1) // (most - 1)
