"""Metrics of all batches together: for arrays of any library, and for the Trainer of Hugging Face transformers."""

from __future__ import annotations

import struct
from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from multiauc import _rust
from multiauc._common.registry import DEFAULT_METRIC, METRICS
from multiauc._common.wording import describe_type, listing, one_of, pluralize
from multiauc._evaluation.evaluation import evaluate
from multiauc._input.arrays import as_array, as_scores
from multiauc._input.labels import code_dtype
from multiauc._input.options import read_metric
from multiauc._input.probabilities import OUTPUTS, probabilities_of
from multiauc._input.sample import read_weights
from multiauc._metrics.scoring import check_option_names, compute_score
from multiauc.streaming import DEFAULT_MEMORY, Accumulator, seal, unseal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from multiauc._common.registry import MetricName
    from multiauc._common.types import TrainingOutputs
    from multiauc._evaluation.evaluation import Evaluation
    from multiauc.streaming import BoundedEvaluation

#: What transformers puts in the place of targets that do not count, such as those of padding.
IGNORED = -100
#: What the bytes of `ArrayMulticlassAuc.state_dict` begin with.
MAGIC = b"multiauc batches 1\n"
#: The numbers in front of a record: rows (-1 for a summary), bytes per score, whether there are weights, bytes in all.
HEADER = struct.Struct("<4q")
NO_ROWS = "there is no value before the first update"


class TrainingMetric:
    """A metric of the outputs of a model in training, whose classes are the numbers 0, 1, ..."""

    def __init__(self, metric: str, outputs: str | None, options: dict[str, Any]) -> None:
        self.metric = read_metric(metric)
        check_option_names(metric, options)
        self.outputs = None if outputs is None else one_of("outputs", outputs, OUTPUTS)
        self.options = deepcopy(options)  # a matrix among them may change later

    def probabilities(self, argument: str, scores: NDArray[Any]) -> NDArray[Any]:
        """The probabilities that the metric is defined by, from the outputs of the model."""
        return probabilities_of(argument, scores, self.outputs)

    def value(self, codes: Any, probabilities: NDArray[Any], weights: Any) -> float:
        """The metric of all rows."""
        n_classes = 2 if probabilities.ndim == 1 else probabilities.shape[1]
        options = {"labels": list(range(n_classes)), **self.options}
        return compute_score(self.metric, codes, probabilities, sample_weight=weights, **options)

    def settings(self) -> str:
        """The arguments it was made of."""
        options = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"{self.metric!r}, outputs={self.outputs!r}{options}"


class Batch(NamedTuple):
    """Rows of a training loop: class numbers, probabilities, weights if there are any."""

    codes: NDArray[Any]
    scores: NDArray[Any]
    weights: NDArray[np.float64] | None


class BatchMetric(TrainingMetric):
    """What the metrics of training loops have in common: how they read a batch, and their values.

    What they keep are records, of rows (`Batch`) or of a summary (`Accumulator`); `records` has those of all batches.
    """

    def __init__(
        self,
        num_classes: int,
        metric: MetricName = DEFAULT_METRIC,
        *,
        outputs: TrainingOutputs = "probabilities",
        ignore_index: int | None = None,
        memory_limit: int | None = None,
        **options: Any,
    ) -> None:
        if isinstance(num_classes, bool) or not isinstance(num_classes, (int, np.integer)) or num_classes < 2:
            raise ValueError(f"num_classes must be an integer of at least 2; got {num_classes!r}")
        TrainingMetric.__init__(self, _read_torchmetrics_options(metric, options), outputs, options)
        self.num_classes, self.ignore_index, self.memory_limit = int(num_classes), ignore_index, memory_limit
        if memory_limit is not None:
            if options.keys() - {"absent"}:
                raise ValueError(
                    f"memory_limit= goes with absent= only; got {listing(options)} too, which needs all scores: "
                    "memory_limit=None keeps them"
                )
            self.new_summary()
        self.begin()

    def begin(self) -> None:
        """Prepare to keep records."""
        raise NotImplementedError

    def records(self) -> Iterable[Batch | Accumulator]:
        """What is kept of all batches."""
        raise NotImplementedError

    def read(self, preds: Any, target: Any, sample_weight: Any) -> Batch:
        """A batch of its own memory, once it is known to be right; without the rows that are ignored."""
        kind = type(preds).__name__
        if kind.endswith(("Tracer", "KerasTensor", "SymbolicTensor")):
            raise TypeError(f"preds must have values; got {kind}, which is being traced. {IN_KERAS}")
        scores = as_scores("preds", _copy_to_main_memory(preds))
        targets = as_array("target", _copy_to_main_memory(target))
        if scores.ndim < 2 or scores.shape[1] != self.num_classes:
            swapped = targets.ndim > 1 and targets.shape[1] == self.num_classes
            raise ValueError(
                f"preds must have {self.num_classes} classes along the second axis; got shape {scores.shape}"
                + (f", and target has {targets.shape}: preds come first. {IN_KERAS}" if swapped else "")
            )
        if targets.shape != scores.shape[:1] + scores.shape[2:] or targets.dtype.kind not in "iu":
            raise ValueError(
                "target must hold the class number of each row of preds; "
                f"got {targets.dtype} of shape {targets.shape} for preds of shape {scores.shape}"
            )
        codes, rows, weights = targets.flatten(), np.moveaxis(scores, 1, -1).reshape(-1, self.num_classes), None
        if sample_weight is not None:
            given = as_array("sample_weight", _copy_to_main_memory(sample_weight))
            weights = read_weights(given.ravel() if given.shape == targets.shape else given, targets.size).copy()
        if self.ignore_index is not None:
            kept = codes != self.ignore_index
            codes, rows, weights = codes[kept], rows[kept], None if weights is None else weights[kept]
        unknown = np.flatnonzero((codes < 0) | (codes >= self.num_classes))
        if len(unknown):
            raise ValueError(
                f"target contains {codes[unknown[0]]} at row {unknown[0]}; classes are the numbers from 0 to "
                f"{self.num_classes - 1}"
                + ("" if self.ignore_index is not None else ", and ignore_index= names one to leave out")
            )
        _rust.class_sizes(codes.astype(code_dtype(self.num_classes)), weights, self.num_classes)  # checks the weights
        rows = self.probabilities("preds", rows)
        # Copies, because training loops reuse the memory of a batch for the next.
        return Batch(codes, rows.copy() if np.may_share_memory(rows, scores) else rows, weights)

    def value_or_nan(self, batch: Batch) -> float:
        """The value of a batch alone; nan if it lacks a class, as it well may."""
        fewest = 2 if self.options.get("absent") == "ignore" else self.num_classes
        return float("nan") if len(np.unique(batch.codes)) < fewest else self.value(*batch)

    def value_so_far(self) -> float:
        """The value for all batches; with `memory_limit`, the middle of the bounds that it lies between."""
        if self.memory_limit is None:
            return self.value(*self.join())
        return BatchMetric.evaluate(self).metrics[self.metric].value

    def evaluate(self) -> Evaluation | BoundedEvaluation:
        """The value with its standard error and intervals; with `memory_limit`, between guaranteed bounds."""
        if self.memory_limit is not None:
            return self.summarise().evaluate(absent=self.options.get("absent", "raise"))
        batch = self.join()
        options = {"labels": list(range(self.num_classes)), **self.options, "sample_weight": batch.weights}
        return evaluate(batch.codes, batch.scores, metrics=[self.metric], **options)

    def join(self) -> Batch:
        """All rows; those of batches without weights count 1 each."""
        batches = [one for one in self.records() if isinstance(one, Batch)]
        if not sum(len(one.codes) for one in batches):
            raise ValueError(NO_ROWS)
        if len(batches) == 1:
            return batches[0]
        codes, scores, weights = zip(*batches, strict=True)
        joined = None
        if any(one is not None for one in weights):
            joined = np.concatenate(
                [np.ones(len(one.codes)) if one.weights is None else one.weights for one in batches]
            )
        return Batch(np.concatenate(codes), np.concatenate(scores), joined)

    def new_summary(self) -> Accumulator:
        """A summary of no rows, for `memory_limit`."""
        limit: Any = self.memory_limit
        return Accumulator(range(self.num_classes), metrics=[self.metric], memory_limit=limit)

    def summarise(self) -> Accumulator:
        """A summary of all batches."""
        summary = self.new_summary()
        for one in self.records():
            summary.merge(one) if isinstance(one, Accumulator) else summary.update(*one)
        return summary

    @property
    def higher_is_better(self) -> bool:
        """Whether more is better."""
        return METRICS[self.metric].higher_is_better

    def settings(self) -> str:
        """The arguments it was made of."""
        extra = {"ignore_index": self.ignore_index, "memory_limit": self.memory_limit}
        given = "".join(f", {name}={value}" for name, value in extra.items() if value is not None)
        return f"{self.num_classes}, {super().settings()}{given}"

    def __repr__(self) -> str:
        n_rows = sum(one.n_rows if isinstance(one, Accumulator) else len(one.codes) for one in self.records())
        return f"MulticlassAuc({self.settings()}): {pluralize(n_rows, 'row')}"


#: What to do where `compile(metrics=...)` of Keras calls a metric: with the targets first, and traced.
IN_KERAS = "In Keras use the callback multiauc.training.KerasAuc, not a metric in compile"
#: What torchmetrics users bring along that has no place here, and what to do.
TORCHMETRICS_OPTIONS = {
    "task": "more than two classes are task='multiclass', which is all there is; leave it out",
    "thresholds": "values are exact, without thresholds; for bounded memory pass memory_limit=",
    "validate_args": "batches are always checked; leave it out",
    "num_labels": "several labels per row go to multiauc.evaluate(..., task='multilabel')",
    "top_k": "the metric 'top_k_accuracy' has the option k=",
}


def _read_torchmetrics_options(metric: str, options: dict[str, Any]) -> str:
    """Take out of `options` what torchmetrics calls otherwise, and return the metric that it comes to."""
    same = {"task": "multiclass", "thresholds": None, "validate_args": True}
    for name in options.keys() & TORCHMETRICS_OPTIONS.keys():
        if name not in same or options[name] != same[name]:
            raise ValueError(f"{name}={options[name]!r} is not an option: {TORCHMETRICS_OPTIONS[name]}")
        del options[name]
    if "average" in options:
        average = options["average"]
        if metric not in ("one_vs_rest", "one_vs_rest_prevalence"):
            raise ValueError(
                f"average={average!r} belongs to the metric 'one_vs_rest', whose values are those of torchmetrics; "
                f"metric={metric!r} has none"
            )
        if average in (None, "none"):
            raise ValueError(f"average={average!r} is not a number: compute one, and read evaluate().per_class")
        if average in ("macro", "weighted", "prevalence"):
            del options["average"]
            return "one_vs_rest" if average == "macro" else "one_vs_rest_prevalence"
    return metric


def to_record(kept: Batch | Accumulator) -> bytes:
    """A batch or a summary as bytes, which can be joined to others."""
    if isinstance(kept, Accumulator):
        content, header = kept.to_bytes(), (-1, 0, False)
    else:
        columns = [*([] if kept.weights is None else [kept.weights]), kept.scores, kept.codes.astype(np.int32)]
        content = b"".join(one.tobytes() for one in columns)
        header = (len(kept.codes), kept.scores.itemsize, kept.weights is not None)
    return HEADER.pack(*header, len(content)) + content


def from_records(data: bytes, num_classes: int) -> Iterator[Batch | Accumulator]:
    """The batches and summaries that were joined."""
    end = 0
    while end < len(data):
        rows, itemsize, has_weights, size = HEADER.unpack_from(data, end)
        start, end = end + HEADER.size, end + HEADER.size + size
        record = data[start:end]
        if rows < 0:
            yield Accumulator.from_bytes(record)
            continue
        weights = np.frombuffer(record, np.float64, rows) if has_weights else None
        scores = np.frombuffer(record, f"f{itemsize}", rows * num_classes, 8 * rows * has_weights)
        yield Batch(np.frombuffer(record, np.int32, rows, size - 4 * rows), scores.reshape(rows, -1), weights)


class ArrayMulticlassAuc(BatchMetric):
    """AUC_mu, Hand & Till's M or one-vs-rest of all batches together: `update`, `compute`, `reset`.

    ``multiauc.training.MulticlassAuc`` is this class where torch or torchmetrics is not installed, and a
    ``torchmetrics.Metric`` with the same arguments where both are. Arrays and tensors of any library are accepted.
    It keeps a copy of the scores of every batch, in main memory and in their own precision; with `memory_limit`, a
    summary of that size instead, and the value has guaranteed bounds (`evaluate`).

    Parameters
    ----------
    num_classes : int
        The number of classes, K. Targets are the numbers 0, ..., K - 1.
    metric : {"auc_mu", "hand_till", "one_vs_rest", "one_vs_rest_prevalence"}, default "auc_mu"
        What to compute; further metrics of `multiauc.evaluate`, such as ``"log_loss"``, work too.
    outputs : {"probabilities", "logits", "one_vs_all_logits"} or None, default "probabilities"
        What `update` is given. Logits become probabilities by softmax, or each by itself by the logistic function; None
        leaves scores as they are. (It is never guessed: a batch of logits can look like probabilities.)
    ignore_index : int, optional
        Rows with this target do not count.
    memory_limit : int, optional
        About how many bytes to use, for streams longer than memory: see `multiauc.streaming.Accumulator`. By default
        all scores are kept, and the value is exact.
    **options
        Options of the metric, such as ``absent="ignore"`` or ``partition=``.

    Examples
    --------
    >>> from multiauc.training import ArrayMulticlassAuc
    >>> auc = ArrayMulticlassAuc(3)
    >>> auc.update([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1]], [0, 1])
    >>> auc.update([[0.1, 0.2, 0.7]], [2])
    >>> auc.compute()
    1.0
    >>> auc.reset()
    >>> auc
    MulticlassAuc(3, 'auc_mu', outputs='probabilities'): 0 rows
    """

    def begin(self) -> None:
        """Prepare to keep records."""
        self.reset()

    def records(self) -> list[Batch | Accumulator]:
        """What is kept of all batches: with `memory_limit`, a summary of them."""
        return self._records

    def reset(self) -> None:
        """Forget all batches; to be called before each epoch."""
        self._records: list[Batch | Accumulator] = [] if self.memory_limit is None else [self.new_summary()]

    def update(self, preds: Any, target: Any, sample_weight: Any = None) -> None:
        """Add a batch.

        Parameters
        ----------
        preds : array-like of shape (n, K) or (n, K, ...)
            The scores of each row, or of each pixel, as torch arranges them: classes along the second axis.
        target : array-like of shape (n,) or (n, ...)
            The class of each row, or of each pixel.
        sample_weight : array-like of the shape of `target`, optional
            A weight per row (per target).

        Raises
        ------
        ValueError
            If a score is not finite, a class number is not one of 0, ..., K - 1, a weight is negative or not finite,
            or the shapes do not fit. Nothing of such a batch is kept.
        """
        self._add(self.read(preds, target, sample_weight))

    def _add(self, batch: Batch) -> None:
        if self._records and isinstance(self._records[0], Accumulator):
            self._records[0].update(*batch)
        else:
            self._records.append(batch)

    def compute(self) -> float:
        """The value for all batches so far; with `memory_limit`, the middle of the bounds that it lies between."""
        return self.value_so_far()

    def join(self) -> Batch:
        """All rows, kept as one batch for the next call."""
        joined = super().join()
        self._records = [joined]
        return joined

    def merge(self, other: ArrayMulticlassAuc) -> Self:
        """Add all batches of another one, made with the same arguments; it stays as it is."""
        if not isinstance(other, ArrayMulticlassAuc) or self.settings() != other.settings():
            raise ValueError(f"only metrics made with the same arguments can be merged; got {other!r}")
        self._records = [*self._records, *other._records]
        self._records = [self.summarise()] if self.memory_limit is not None else self._records
        return self

    def state_dict(self) -> dict[str, str | bytes]:
        """All batches, to be saved with a checkpoint of the model: the arguments of the metric, and bytes."""
        return {"settings": self.settings(), "rows": seal(MAGIC, {}, b"".join(map(to_record, self._records)))}

    def load_state_dict(self, state: dict[str, Any]) -> Self:
        """Go on from where `state_dict` was called; batches since then are forgotten.

        Raises
        ------
        ValueError
            If it is not such a state, or one of another metric. The metric then stays as it was.
        """
        wanted = "state must be the dict that state_dict() returned"
        if not isinstance(state, dict):
            raise ValueError(f"{wanted}; got {describe_type(state)}")  # noqa: TRY004 - as for what is wrong with it
        missing = [name for name in ("settings", "rows") if name not in state]
        if missing:
            raise ValueError(f"{wanted}; it lacks {listing(missing)}")
        if state["settings"] != self.settings():
            raise ValueError(f"the state was saved by MulticlassAuc({state['settings']}), this is {self!r}")
        if not isinstance(state["rows"], bytes) or not state["rows"].startswith(MAGIC):
            raise ValueError(f"{wanted}; its rows are {describe_type(state['rows'])}")
        try:
            self._records = list(from_records(unseal(MAGIC, state["rows"])[1], self.num_classes))
        except ValueError as error:
            raise ValueError(f"{wanted}; its rows are damaged: {error}") from None
        return self

    def __call__(self, preds: Any, target: Any, sample_weight: Any = None) -> float:
        """Add a batch, and return the value of this batch alone (nan if it lacks a class)."""
        batch = self.read(preds, target, sample_weight)
        self._add(batch)
        return self.value_or_nan(batch)

    def to(self, *_args: Any, **_options: Any) -> Self:
        """Itself: the metric lives in main memory, whatever the device of the model."""
        return self


def _copy_to_main_memory(value: Any) -> Any:
    """A tensor of another device as a copy in main memory; everything else as it is."""
    return value.cpu() if hasattr(value, "cpu") else value


class ComputeMetrics:
    """What `hugging_face` returns: a function of an ``EvalPrediction``."""

    def __init__(self, metrics: list[MetricName], settings: dict[str, Any], memory_limit: int | None) -> None:
        self._names, self._settings, self._memory_limit = metrics, settings, memory_limit
        self._metrics: list[ArrayMulticlassAuc] = []
        # Errors about arguments come now, not after the first epoch.
        self._make(2, None)

    def __call__(self, prediction: Any, compute_result: bool | None = None) -> dict[str, float]:  # noqa: FBT001 - the Trainer's signature
        """The values of a whole evaluation; with `compute_result`, of all batches since the last result."""
        scores, target = _first(prediction.predictions), _first(prediction.label_ids)
        is_whole = compute_result is None
        if is_whole or not self._metrics:
            self._metrics = self._make(scores.shape[-1], None if is_whole else self._memory_limit)
        scores, target = scores.reshape(-1, scores.shape[-1]), target.reshape(-1)
        for metric in self._metrics:
            metric.update(scores, target)
        if compute_result is False:
            return {}
        finished, self._metrics = self._metrics, []
        return {name: value for metric in finished for name, value in _flatten(metric).items()}

    def _make(self, n_classes: int, memory_limit: int | None) -> list[ArrayMulticlassAuc]:
        settings: dict[str, Any] = {"memory_limit": memory_limit, **self._settings}
        return [ArrayMulticlassAuc(n_classes, name, **settings) for name in self._names]

    def __repr__(self) -> str:
        return f"hugging_face({', '.join(map(repr, self._names))})"


def hugging_face(
    *metrics: MetricName,
    outputs: TrainingOutputs = "logits",
    memory_limit: int | None = DEFAULT_MEMORY,
    ignore_index: int | None = IGNORED,
    **options: Any,
) -> ComputeMetrics:
    """Metrics for ``Trainer(compute_metrics=...)`` of Hugging Face transformers.

    The Trainer logs them as ``eval_auc_mu``, ``eval_auc_mu_low`` and ``eval_auc_mu_high`` (the limits of the 95%
    interval); ``metric_for_best_model="auc_mu"`` and early stopping can go by them. With
    ``batch_eval_metrics=True`` rows are summarised batch by batch in `memory_limit` bytes instead of being kept.

    Parameters
    ----------
    *metrics : str
        What to compute, by default ``"auc_mu"``; see `MulticlassAuc`.
    outputs : {"logits", "probabilities", "one_vs_all_logits"} or None, default "logits"
        What the model gives; logits become probabilities by softmax. Of a tuple of outputs the first is read.
    memory_limit : int or None, default 64 MiB
        About how many bytes each metric may use with ``batch_eval_metrics=True``; None keeps all rows, which metrics
        other than the four AUCs, and options other than `absent`, need there.
    ignore_index : int or None, default -100
        Rows, or tokens, with this target do not count.
    **options
        Options of the metrics, such as ``absent="nan"``.

    Examples
    --------
    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> from multiauc.training import hugging_face
    >>> compute_metrics = hugging_face("auc_mu", absent="ignore")
    >>> prediction = SimpleNamespace(predictions=np.eye(3)[[0, 1, 2] * 2], label_ids=np.array([0, 1, 2] * 2))
    >>> compute_metrics(prediction)["auc_mu"]
    1.0
    """
    settings = {"outputs": outputs, "ignore_index": ignore_index, **options}
    return ComputeMetrics(list(metrics) or [DEFAULT_METRIC], settings, memory_limit)


def _first(values: Any) -> Any:
    """The logits, or labels, of what may be a tuple of several outputs; tensors of any device as arrays."""
    one = values[0] if isinstance(values, (tuple, list)) else values
    return np.asarray(as_array("predictions", _copy_to_main_memory(one)))


def _flatten(metric: ArrayMulticlassAuc) -> dict[str, float]:
    """The value by the name of the metric, and the limits of its interval."""
    name, estimate = next(iter(metric.evaluate().metrics.items()))
    low, high = estimate.confidence_interval()
    return {name: estimate.value, f"{name}_low": low, f"{name}_high": high}
