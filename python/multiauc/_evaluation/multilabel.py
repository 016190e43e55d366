"""Rows with several labels, read for `evaluate` and `compare` with ``task="multilabel"``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc import _rust
from multiauc._common.hints import warn
from multiauc._common.wording import listing, one_of, pluralize
from multiauc._inference.estimates import Estimate, build_bare_estimate, build_estimate
from multiauc._input.arrays import as_array, as_scores
from multiauc._input.labels import column_names
from multiauc._input.options import read_groups
from multiauc._input.probabilities import read_outputs
from multiauc._input.sample import ABSENT_POLICIES, read_weights

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from multiauc._common.result import Record

METRICS_OF_LABELS = ("one_vs_rest", "average_precision")
TITLES = {"one_vs_rest": "AUC (mean over labels)", "average_precision": "average precision (mean over labels)"}


#: Why bootstraps and the like of several labels have no inputs.
NO_INPUTS = (
    "bootstraps, influences, reports and predicted classes are not offered for task='multilabel'; evaluate one label "
    "at a time, such as evaluate(y_true[:, 0], y_score[:, 0])"
)


@dataclass(frozen=True, eq=False)
class LabelledSample:
    """Labels and scores as the core reads them."""

    indicators: NDArray[np.uint8]
    scores: list[NDArray[np.float32] | NDArray[np.float64]]
    weights: NDArray[np.float64] | None
    groups: NDArray[np.uint32] | None
    labels: list[Any]
    absent: str

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How many rows of positive weight have each label."""
        counted = self.indicators if self.weights is None else self.indicators[self.weights > 0]
        return np.asarray(counted.sum(axis=0, dtype=np.int64))

    @cached_property
    def n_rows(self) -> int:
        """The rows of positive weight."""
        return len(self.indicators) if self.weights is None else int((self.weights > 0).sum())

    @cached_property
    def present(self) -> list[int]:
        """The columns of labels that some rows have and others have not."""
        found: list[int] = np.flatnonzero((self.counts > 0) & (self.counts < self.n_rows)).tolist()
        return found

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """The share of the rows, or of their weight, that has each label."""
        return np.average(self.indicators, axis=0, weights=self.weights)

    def compute(self, metrics: tuple[str, ...]) -> _rust.Labelled:
        """What the core finds for the labels that are present."""
        rows = (self.weights, self.groups, "iid")
        models = [
            [_rust.Sample(scores[:, label : label + 1], self.indicators[:, label], *rows) for label in self.present]
            for scores in self.scores
        ]
        return _rust.compare_labels(models, list(metrics))

    def describe(self) -> str:
        """The method behind standard errors and intervals, in words."""
        weights = "" if self.weights is None else ", weighted rows"
        units = "rows" if self.groups is None else f"{pluralize(int(self.groups.max()) + 1, 'group')} of rows"
        return f"analytic standard errors, {units} as units{weights}; Wilson intervals with Student's t"

    def describe_options(self, metrics: tuple[str, ...]) -> Record:
        """The options by the names of the arguments."""
        given = {"sample_weight": self.weights is not None, "groups": self.groups is not None, "absent": self.absent}
        return {"task": "multilabel", "metrics": list(metrics), **given}

    def estimates(self, found: _rust.Labelled, metrics: tuple[str, ...], model: int) -> list[dict[Any, Estimate]]:
        """Of each metric, a model's estimates by label."""
        reported = self.present if self.absent == "ignore" else range(len(self.labels))
        of_labels: dict[int, Any] = dict.fromkeys(reported, [None] * len(metrics))
        of_labels |= zip(self.present, found.per_label[model], strict=True)
        return [
            {self.labels[c]: self._build(of_labels[c][k], self.labels[c], metric, [c]) for c in reported}
            for k, metric in enumerate(metrics)
        ]

    def mean(self, found: _rust.Labelled, model: int, index: int, metric: str, name: Any) -> Estimate:
        """A model's mean over labels."""
        one = None if self.is_undefined() else found.means[model][index]
        return self._build(one, name, metric, self.present)

    def _build(self, found: _rust.Estimate | None, name: Any, metric: str, columns: list[int]) -> Estimate:
        """The estimate of some labels, or nan."""
        counts = self.counts[columns]
        smallest = int(np.minimum(counts, self.n_rows - counts).min())
        if found is None:
            return build_bare_estimate(math.nan, name, smallest, metric)
        chance = 0.5 if metric == "one_vs_rest" else float(self.shares[columns].mean())
        return build_estimate(found, name, smallest, metric, None, chance=chance)

    def is_undefined(self) -> bool:
        """Whether a label is absent and the mean is therefore to be nan."""
        return self.absent == "nan" and len(self.present) < len(self.labels)


def read_labelled(
    y_true: Any, models: Mapping[str, Any], shared: tuple[Any, Any, Any, Any], *, groups: Any, **others: Any
) -> LabelledSample:
    """Check the arguments. Of logits, which rank the rows of a column as their probabilities do, nothing changes."""
    sample_weight, labels, absent, outputs = shared
    policy = one_of("absent", absent, ABSENT_POLICIES)
    read_outputs(outputs)
    for option, value in others.items():
        if value is not None and (option, value) != ("sampling", "iid"):
            raise ValueError(f"{option} has no meaning for task='multilabel', whose units are rows or groups; leave it")
    given = as_array("y_true", y_true)
    if given.ndim != 2 or not given.size or given.dtype.kind not in "iubf" or ((given != 0) & (given != 1)).any():
        raise ValueError(
            "y_true must have a row per instance and a column of zeros and ones per label for task='multilabel', as "
            f"scikit-learn's MultiLabelBinarizer makes it; got {given.dtype} of shape {given.shape}"
        )
    indicators = given.astype(np.uint8, order="F")
    read = [as_scores(name, scores) for name, scores in models.items()]
    for name, scores in zip(models, read, strict=True):
        if scores.shape != given.shape:
            raise ValueError(
                f"{name} must have a score per row and label, the shape of y_true, {given.shape}; got {scores.shape}"
            )
    n_labels = given.shape[1]
    names = [column_names(one, n_labels) for one in (y_true, *models.values())]
    classes = next((found for found in names[1:] + names[:1] if found is not None), list(range(n_labels)))
    if labels is not None:
        classes = list(labels)
        if len(classes) != n_labels or len(set(classes)) < n_labels:
            raise ValueError(f"labels must name the {n_labels} columns, each once; got {listing(classes)}")
    for argument, found in zip(["y_true", *models], names, strict=True):
        if found is not None and labels is None and found != classes:
            raise ValueError(
                f"{argument} must have the columns {listing(classes)} in this order; got {listing(found)}: put the "
                "columns in one order, or pass labels= to take them as they are"
            )
    weights = None if sample_weight is None else read_weights(sample_weight, len(given))
    sample = LabelledSample(indicators, read, weights, read_groups(groups, len(given)), classes, policy)
    _check_labels(sample)
    return sample


def _check_labels(sample: LabelledSample) -> None:
    present = sample.present
    absent = [label for k, label in enumerate(sample.labels) if k not in present]
    if absent and (sample.absent == "raise" or not present):
        raise ValueError(
            f"y_true is all 0 or all 1 for {pluralize(len(absent), 'label')}: {listing(absent)}; "
            "pass absent='ignore' to leave such labels out, or absent='nan' for nan wherever they count"
        )
    single = [sample.labels[k] for k in present if min(sample.counts[k], sample.n_rows - sample.counts[k]) == 1]
    if single:
        warn(
            f"a single row has, or lacks, {listing(single)}, which does not show how much such rows vary: the standard "
            "errors that need it are nan",
            RuntimeWarning,
        )
