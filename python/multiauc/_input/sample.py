"""Labels, scores and weights as users give them, read into one `Sample` that the core can read.

`HeldInputs` are the sample behind a result, kept by reference for what is computed only when asked for.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc import _rust
from multiauc._common.registry import METRICS, ONE_SCORE_METRICS, natural_sampling
from multiauc._common.wording import describe_type, listing, one_of, pluralize
from multiauc._input import arrays
from multiauc._input import labels as row_labels
from multiauc._input.options import NO_OPTIONS, SAMPLINGS, read_groups
from multiauc._input.probabilities import as_outputs, read_outputs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from multiauc._common.result import Record
    from multiauc._input.labels import Codes, LabelColumn


ABSENT_POLICIES = ("raise", "ignore", "nan")


@dataclass(frozen=True, slots=True, eq=False)
class ClassedRows:
    """The classes and weights of rows in the form of the compiled core.

    Attributes
    ----------
    codes
        The column of each row's class.
    weights
        None, or the weight of each row.
    labels
        The class of each column.
    rows
        How many rows of positive weight each class has.
    absent
        What to do about classes without rows: "ignore" or "nan", or "raise" (then there are none).
    named_by
        What says which class a column stands for: "labels" (the argument), "names" (of the columns, also where they are
        those of the argument in another order), or "sorted" (the order of the labels, as nothing else does).
    """

    codes: Codes
    weights: NDArray[np.float64] | None
    labels: list[Any]
    rows: NDArray[np.int64]
    absent: str
    named_by: str

    @property
    def n_classes(self) -> int:
        """The number of classes, absent ones included."""
        return len(self.labels)

    @property
    def is_undefined(self) -> bool:
        """Whether a class is absent and numbers that need every class are therefore to be nan."""
        return self.absent == "nan" and bool((self.rows == 0).any())

    def nan_if_absent(self, value: float) -> float:
        """A number that needs every class: nan if a class is absent and that is the policy."""
        return float("nan") if self.is_undefined else value

    def shares(self) -> NDArray[np.float64]:
        """The share of each class among the rows, or of their weight."""
        _, masses = _rust.class_sizes(self.codes, self.weights, self.n_classes)
        return np.asarray(masses / masses.sum())

    def reported_classes(self) -> list[int]:
        """The columns that a result by class has entries for: all of them, unless absent classes are ignored."""
        present: list[int] = np.flatnonzero(self.rows).tolist()
        return present if self.absent == "ignore" else list(range(self.n_classes))


@dataclass(frozen=True, slots=True, eq=False)
class Sample(ClassedRows):
    """Labels, scores and weights in the form of the compiled core.

    Attributes
    ----------
    scores
        (n, K) scores, or the (n, 1) scores of the second of two classes; the caller's memory wherever possible.
    outputs
        What the scores were when they were given: "logits", of which `scores` are the probabilities, or None.
    """

    scores: NDArray[np.float32] | NDArray[np.float64]
    outputs: str | None = None

    @property
    def has_one_score(self) -> bool:
        """Whether there is one score per row, that of the second of two classes."""
        return bool(self.scores.shape[1] == 1)

    def arguments(self, groups: NDArray[np.uint32] | None = None, sampling: str = "stratified") -> _rust.Sample:
        """What the core reads; `sampling` says how rows, or these groups of them, were drawn."""
        return _rust.Sample(self.scores, self.codes, self.weights, groups, sampling)


@dataclass(frozen=True, slots=True, eq=False)
class SparseSample(ClassedRows):
    """Labels, weights and stored scores, the last in the form of the compiled core alone."""

    core: _rust.SparseSample


def read_ordered_sample(
    y_true: Any,
    score: Any,
    sample_weight: Any,
    labels: Any,
    absent: Any,
    outputs: Any = None,
    argument: str = "y_score",
) -> Sample:
    """The same for classes in rising order and one score per row, which stands for a score of each of them."""
    if read_outputs(outputs) is not None:
        raise ValueError(
            f"outputs={outputs!r} has no meaning for ordered classes, which are ranked by one score per row: "
            "whatever its scale, the value is the same"
        )
    scores = arrays.as_scores(argument, score)
    if scores.size == 0 or scores.ndim not in (1, 2) or scores.shape[1:] not in ((), (1,)):
        found = f"{'an empty array of ' if scores.size == 0 else ''}shape {scores.shape}"
        raise ValueError(
            f"{argument} must have one score per row, higher for later classes, to rank ordered classes; got {found}"
        )
    given = labels is not None
    known = row_labels.read_labels(labels) if given else row_labels.read_label_column(y_true, len(scores), 1).distinct
    n_classes = len(set(known))
    if n_classes < 2:
        raise ValueError("y_true has rows of one class only; an order needs at least two")
    each = np.broadcast_to(scores.reshape(-1, 1), (len(scores), n_classes))
    return read_sample(y_true, each, sample_weight, labels, absent)


def read_sample(
    y_true: Any,
    y_score: Any,
    sample_weight: Any,
    labels: Any,
    absent: Any,
    outputs: Any = None,
    *,
    fewest_classes: int = 2,
) -> Sample:
    """Check the arguments that all metrics share. The core checks the numbers themselves (finite, non-negative)."""
    scores = read_scores(y_score, outputs)
    n_columns = max(2, scores.shape[1])
    names = None if type(y_score) is np.ndarray else row_labels.column_names(y_score, n_columns)
    column = row_labels.read_label_column(y_true, len(scores), n_columns)
    try:
        named = None if names is None or labels is not None else row_labels.read_names(names, column)
        matched = row_labels.match_classes(column, labels, named, n_columns)
    except ValueError as error:
        hint = _explain_one_score(scores, column, labels)
        raise error if hint is None else ValueError(f"{error}; {hint}") from None
    order = None if labels is None else row_labels.order_of_names(names, matched[0])
    if order is not None and order != sorted(order):
        scores = scores[:, order]
    named_by = "names" if named is not None or order is not None else "sorted" if labels is None else "labels"
    rows = _assign_classes(column, matched, sample_weight, absent, fewest_classes)
    return Sample(*rows, named_by, scores, outputs)


def read_predictions(
    y_true: Any,
    y_pred: Any,
    sample_weight: Any,
    labels: Any,
    absent: Any,
    outputs: Any = None,
    *,
    argument: str = "y_score",
) -> Sample:
    """The same for numbers about predicted classes: where rows have a class each, its score is 1, those of others 0."""
    column = _predicted_classes(y_true, y_pred, labels, argument)
    if column is None:
        return read_sample(y_true, y_pred, sample_weight, labels, absent, outputs)
    if labels is None:
        known = row_labels.read_label_column(y_true, len(column.codes), 2).distinct
        labels = row_labels.sorted_labels({*column.distinct, *known})
    classes = list(labels)
    unknown = [label for label in column.distinct if label not in classes]
    if unknown:
        raise ValueError(f"{argument} has {listing(unknown)}, not among the classes {listing(classes)}; see labels=")
    codes, _ = column.to_columns([classes.index(label) for label in column.distinct], len(classes))
    scores = np.zeros((len(codes), max(2, len(classes))), dtype=np.float32)
    scores[np.arange(len(codes)), codes] = 1.0
    return read_sample(y_true, scores, sample_weight, classes, absent)


def _predicted_classes(y_true: Any, y_pred: Any, labels: Any, argument: str) -> LabelColumn | None:
    """The classes in `y_pred`, if it has one per row; None if it has scores.

    Whole numbers and what is no number are classes, but for 0 and 1 where these are not labels of the two classes:
    probabilities of the second. Numbers with a fraction are classes if all of them are labels.
    """
    is_flat = isinstance(y_pred, (list, tuple)) and len(y_pred) > 0 and isinstance(y_pred[0], Hashable)
    if not is_flat and getattr(y_pred, "ndim", None) != 1:
        return None
    entries = arrays.as_labels(argument, y_pred)
    if entries.ndim != 1 or len(entries) == 0:
        return None
    if entries.dtype.kind not in "biuf":
        return row_labels.read_label_column(y_pred, len(entries), 2)
    known = set(row_labels.read_label_column(y_true, len(entries), 2).distinct if labels is None else labels)
    are_shares = len(known) < 3 and bool(((entries >= 0) & (entries <= 1)).all())
    if are_shares and (entries.dtype.kind == "f" or not known & {0, 1}):
        return None
    # Of scores, the first few rows show that they are no labels.
    is_known = known.issuperset(entries[:100].tolist()) and known.issuperset(np.unique(entries).tolist())
    if entries.dtype.kind == "f" and not is_known:
        return None
    return row_labels.read_label_column(y_pred, len(entries), 2)


def _assign_classes(
    column: LabelColumn, matched: tuple[list[Any], list[int]], sample_weight: Any, absent: Any, fewest_classes: int = 2
) -> tuple[Codes, NDArray[np.float64] | None, list[Any], NDArray[np.int64], str]:
    """(codes, weights, labels, rows, absent) of labels that have been matched with the columns."""
    policy = one_of("absent", absent, ABSENT_POLICIES)
    classes, columns = matched
    codes, rows = column.to_columns(columns, len(classes))
    weights = None
    if sample_weight is not None:
        weights = read_weights(sample_weight, len(codes))
        rows, _ = _rust.class_sizes(codes, weights, len(classes))
    if 0 in rows.tolist():
        check_absent(classes, rows, policy, weighted=weights is not None, fewest_classes=fewest_classes)
    return codes, weights, classes, rows, policy


def read_scores(y_score: Any, outputs: Any = None) -> NDArray[np.float32] | NDArray[np.float64]:
    """The scores as float32 or float64, a column per class or one column; of logits, their probabilities."""
    try:
        scores = arrays.as_scores("y_score", y_score)
    except TypeError as error:
        raise _explain_type(y_score, error) from None
    if scores.ndim not in (1, 2) or scores.size == 0:
        raise ValueError(
            "y_score must have a row per instance and a column per class, or be the one-dimensional score of the "
            f"second of two classes; got {'an empty array of ' if scores.size == 0 else ''}shape {scores.shape}"
        )
    if scores.ndim == 2 and scores.shape[1] > row_labels.MAX_CLASSES:
        raise ValueError(f"y_score must have at most {row_labels.MAX_CLASSES} columns; got shape {scores.shape}")
    return as_outputs("y_score", scores[:, np.newaxis] if scores.ndim == 1 else scores, outputs)


def read_weights(sample_weight: Any, n_rows: int) -> NDArray[np.float64]:
    """The weights as float64, one per row."""
    weights = arrays.as_float64("sample_weight", sample_weight)
    if weights.shape != (n_rows,):
        found = f"shape {weights.shape}" if weights.ndim != 1 else pluralize(len(weights), "weight")
        what = "be one-dimensional with one weight per row" if weights.ndim != 1 else "have one weight per row"
        raise ValueError(f"sample_weight must {what}; got {found} for {pluralize(n_rows, 'row')}")
    return weights


def check_absent(
    classes: list[Any], rows: NDArray[np.int64], policy: str, *, weighted: bool, fewest_classes: int = 2
) -> None:
    """Raise if fewer than two classes (or another number) have rows, or if all of them must have some."""
    present = [classes[k] for k in np.flatnonzero(rows)]
    lacking = "rows of positive weight" if weighted else "rows"
    if len(present) < min(1, fewest_classes):
        raise ValueError("sample_weight must have positive weights for at least two classes; got zeros only")
    if len(present) < fewest_classes:
        raise ValueError(f"y_true has {lacking} of one class only ({listing(present)}); an AUC needs at least two")
    if policy == "raise":
        absent = [classes[k] for k in np.flatnonzero(rows == 0)]
        raise ValueError(
            f"y_true has no {lacking} of {pluralize(len(absent), 'class', 'classes')}: {listing(absent)}; "
            "pass absent='ignore' to leave such classes out, or absent='nan' for nan wherever they count"
        )


def read_sparse_sample(
    y_true: Any, y_score: Any, sample_weight: Any, labels: Any, absent: Any, outputs: Any = None
) -> SparseSample:
    """Check the arguments, `y_score` being sparse. The core checks the numbers themselves."""
    if read_outputs(outputs) is not None:
        raise ValueError(
            f"outputs={outputs!r} cannot be used with a sparse y_score, where what is not stored is a score of 0: no "
            "probability of a softmax is 0; pass y_score.toarray(), or store probabilities"
        )
    if len(y_score.shape) != 2 or 0 in y_score.shape:
        raise ValueError(
            "y_score must have a row per instance and a column per class, or one column of scores of the second of two "
            f"classes; got {describe_type(y_score)}"
        )
    matrix = y_score if getattr(y_score, "format", None) == "csr" else y_score.tocsr()
    if matrix.data.dtype not in (np.float32, np.float64) and not matrix.has_canonical_format:
        # Several numbers of one cell are added in their own type, as .toarray() does: True and True are True.
        matrix = matrix.copy()
        matrix.sum_duplicates()
    values: NDArray[Any] = np.ascontiguousarray(arrays.as_scores("y_score", matrix.data))
    width = np.int32 if matrix.indices.dtype == np.int32 else np.int64
    columns: NDArray[Any] = np.ascontiguousarray(matrix.indices, dtype=width)
    starts = np.ascontiguousarray(matrix.indptr, dtype=np.int64)
    n_rows, n_columns = map(int, y_score.shape)
    column = row_labels.read_label_column(y_true, n_rows, max(2, n_columns))
    matched = row_labels.match_classes(column, labels, None, max(2, n_columns))
    rows = _assign_classes(column, matched, sample_weight, absent)
    core = _rust.SparseSample(values, columns, starts, n_columns, *rows[:2])
    return SparseSample(*rows, "sorted" if labels is None else "labels", core)


# The methods of fitted models that give scores, in the order of preference.
SCORING = ("predict_proba", "decision_function")
SCORES_WANTED = "pass a score per class, such as the output of predict_proba(X) or decision_function(X)"
PREDICTIONS_ALONE = (
    "predicted classes alone are enough for confusion_matrix, kappa_score, matthews_score and, with evaluate and "
    "compare, for metrics of predictions alone, such as metrics=['accuracy']"
)


def find_response(estimator: Any, argument: str) -> str:
    """The method that gives scores: probabilities, or decision values where there are none."""
    response = next((name for name in SCORING if hasattr(estimator, name)), None)
    if response is None:
        raise TypeError(f"{argument} must have predict_proba or decision_function; got {describe_type(estimator)}")
    return response


def _explain_type(y_score: Any, error: TypeError) -> TypeError:
    """What is wrong with `y_score`, of which `error` says no more than that it has no numbers."""
    method = next((name for name in SCORING if hasattr(y_score, name)), None)
    if not hasattr(y_score, "dtype") and (method is not None or hasattr(y_score, "predict")):
        kind = y_score.__name__ if isinstance(y_score, type) else type(y_score).__name__
        cure = "pass its scores, a column per class" if method is None else f"pass its scores, .{method}(X)"
        return TypeError(f"y_score must be an array of scores; got a model, {kind}: {cure}")
    found = arrays.as_array("y_score", y_score)
    is_column = found.size > 0 and found.ndim in (1, 2) and found.size == len(found)
    first = found.ravel()[0] if is_column else None
    if not isinstance(first, (str, bytes)):
        return error
    try:
        float(first)
    except ValueError:
        what = f"classes such as {str(first)!r}, as predict(X) returns them"
        return TypeError(f"y_score must hold real numbers; got {what}: {SCORES_WANTED}; {PREDICTIONS_ALONE}")
    return error


def _explain_one_score(scores: NDArray[Any], column: LabelColumn, labels: Any) -> str | None:
    """A hint, if there is one number per row but more than two classes; `labels` as they were given."""
    n_classes = max(len(column.distinct), len(labels) if hasattr(labels, "__len__") else 0)
    if scores.shape[1] > 1 or n_classes < 3:
        return None
    try:
        are_labels = {float(label) for label in column.distinct}.issuperset(np.unique(scores).tolist())
    except (TypeError, ValueError):
        are_labels = False
    what = "holds classes, as predict(X) returns them" if are_labels else "has one number per row"
    cure = f"{SCORES_WANTED}; {PREDICTIONS_ALONE}" if are_labels else SCORES_WANTED
    return f"y_score {what}: with more than two classes, {cure}"


@dataclass(slots=True, eq=False)
class HeldInputs:
    """A sample, the metrics asked for and their options, with a fingerprint that notices changes to the arrays.

    Scores and weights may be the caller's memory, and the fingerprint is of them. All else is a copy: the codes of the
    classes and of the groups, the matrices among the options.
    """

    sample: Sample
    metrics: tuple[str, ...]
    options: _rust.MetricOptions = NO_OPTIONS
    _: KW_ONLY
    groups: NDArray[np.uint32] | None = None
    folds: NDArray[np.uint32] | None = None
    sampling: str = "stratified"
    # Whether this sampling is a default, which other metrics need not share.
    is_natural: bool = False
    _fingerprint: int = field(init=False)
    _interactions: _rust.Interactions | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._fingerprint = self._look()

    def asking_for(self, metrics: tuple[str, ...], sampling: str | None = None) -> HeldInputs:
        """The same data and options, for other metrics; of another sampling if nobody asked for this one."""
        kept = (sampling or natural_sampling(metrics)) if self.is_natural else self.sampling
        return replace(self, sample=self.unchanged_sample(), metrics=metrics, sampling=kept)

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
        titles: dict[str, list[str]] = {"Wilson": [], "logit": [], "log": []}
        for metric in map(METRICS.__getitem__, self.metrics):
            titles["Wilson" if metric.interval == "wilson" else metric.interval].append(metric.title)
        first, *others = [kind for kind, metrics in titles.items() if metrics]
        beside = "; ".join(f"{kind} for {', '.join(titles[kind])}" for kind in others)
        return f"{first} intervals" + (f" ({beside})" if others else "")

    def refuse_folds(self, wanted: str) -> None:
        """Raise an error if there are folds, for what is not defined within them."""
        if self.folds is not None:
            raise ValueError(f"{wanted} with folds is not offered; estimates, differences and their tests are")

    def refuse_folds_and_one_score(self, wanted: str) -> None:
        """Raise an error if there are folds, or if rows have one score, not one for every class."""
        self.refuse_folds(wanted)
        if self.metrics[0] in ONE_SCORE_METRICS:
            raise ValueError(f"{wanted} needs a score for every class; {self.metrics[0]!r} has one score per row")

    def units(self) -> NDArray[np.int64]:
        """The rows of each class, or its groups."""
        return self.sample.rows if self.groups is None else self._count_groups(self.groups)[0]

    def groups_span_classes(self) -> bool:
        """Whether some group has rows of several classes, which makes class sizes random."""
        return self.groups is not None and self._count_groups(self.groups)[1]

    def _count_groups(self, groups: NDArray[np.uint32]) -> tuple[NDArray[np.int64], bool]:
        return _rust.count_groups(self.sample.codes, self.sample.weights, groups, self.sample.n_classes)

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
        """A fingerprint of some scores and weights."""
        return _rust.fingerprint(self.sample.scores, self.sample.weights)
