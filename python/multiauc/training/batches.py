"""A metric of all batches together, for arrays of any library: `ArrayMulticlassAuc`."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from multiauc._common.registry import DEFAULT_METRIC, METRICS
from multiauc._common.wording import listing, one_of, pluralize
from multiauc._evaluation.evaluation import evaluate
from multiauc._input.arrays import as_array, as_scores
from multiauc._input.options import read_metric
from multiauc._input.probabilities import OUTPUTS, probabilities_of
from multiauc._input.sample import read_weights
from multiauc._metrics.scoring import check_option_names, compute_score
from multiauc.streaming import Accumulator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from multiauc._common.registry import MetricName
    from multiauc._common.types import TrainingOutputs
    from multiauc._evaluation.evaluation import Evaluation
    from multiauc.streaming import BoundedEvaluation


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

    def __repr__(self) -> str:
        """As the arguments it was made of."""
        options = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"{self.metric!r}, outputs={self.outputs!r}{options}"


class Batch(NamedTuple):
    """Rows of a training loop: class numbers, probabilities, weights if there are any."""

    codes: NDArray[Any]
    scores: NDArray[Any]
    weights: NDArray[np.float64] | None

    @classmethod
    def join(cls, batches: Sequence[Batch]) -> Batch:
        """All rows; those of batches without weights count 1 each."""
        if len(batches) == 1:
            return batches[0]
        codes, scores, weights = zip(*batches, strict=True)
        if any(one is not None for one in weights):
            weights = [np.ones(len(batch.codes)) if batch.weights is None else batch.weights for batch in batches]
        joined = None if weights[0] is None else np.concatenate(weights)
        return cls(np.concatenate(codes), np.concatenate(scores), joined)


class BatchMetric(TrainingMetric):
    """What the metrics of training loops have in common: their arguments, how they read a batch, their values."""

    def __init__(
        self,
        num_classes: int,
        metric: str,
        outputs: str | None,
        ignore_index: int | None,
        memory_limit: int | None,
        options: dict[str, Any],
    ) -> None:
        if isinstance(num_classes, bool) or not isinstance(num_classes, (int, np.integer)) or num_classes < 2:
            raise ValueError(f"num_classes must be an integer of at least 2; got {num_classes!r}")
        metric = _read_torchmetrics_options(metric, options)
        super().__init__(metric, outputs, options)
        self.num_classes, self.ignore_index, self.memory_limit = int(num_classes), ignore_index, memory_limit
        if memory_limit is not None:
            if options.keys() - {"absent"}:
                raise ValueError(
                    f"memory_limit= goes with absent= only; got {listing(options)} too, which needs all scores: "
                    "memory_limit=None keeps them"
                )
            self.accumulator()

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
        codes = targets.flatten()
        weights = None if sample_weight is None else _read_batch_weights(targets, sample_weight)
        rows = np.moveaxis(scores, 1, -1).reshape(-1, self.num_classes)
        if self.ignore_index is not None:
            kept = codes != self.ignore_index
            codes, rows, weights = codes[kept], rows[kept], None if weights is None else weights[kept]
        self.refuse_unknown_classes(codes)
        rows = self.probabilities("preds", rows)
        # Copies, because training loops reuse the memory of a batch for the next.
        return Batch(codes, rows.copy() if np.may_share_memory(rows, scores) else rows, weights)

    def value_of(self, batch: Batch) -> float:
        """The exact value of some rows."""
        if not len(batch.codes):
            raise ValueError("there is no value before the first update")
        return self.value(*batch)

    def value_or_nan(self, batch: Batch) -> float:
        """The same for a batch alone, which may well lack a class."""
        fewest = 2 if self.options.get("absent") == "ignore" else self.num_classes
        return float("nan") if len(np.unique(batch.codes)) < fewest else self.value(*batch)

    def evaluate(self, batch: Batch) -> Evaluation:
        """The value of some rows with its uncertainty."""
        labels = list(range(self.num_classes))
        options = {"labels": labels, **self.options, "sample_weight": batch.weights}
        return evaluate(batch.codes, batch.scores, metrics=[self.metric], **options)

    def evaluate_summary(self, summary: Accumulator) -> BoundedEvaluation:
        """The value of rows that were summarised."""
        return summary.evaluate(absent=self.options.get("absent", "raise"))

    def accumulator(self, batch: Batch | None = None) -> Accumulator:
        """A summary of some rows, or of none, in `memory_limit`."""
        limit: Any = self.memory_limit
        summary = Accumulator(range(self.num_classes), metrics=[self.metric], memory_limit=limit)
        if batch is not None:
            summary.update(*batch)
        return summary

    def refuse_unknown_classes(self, codes: NDArray[Any]) -> None:
        """Name the first class number that is none."""
        unknown = np.flatnonzero((codes < 0) | (codes >= self.num_classes))
        if len(unknown):
            row = int(unknown[0])
            raise ValueError(
                f"target contains {codes[row]} at row {row}; classes are the numbers from 0 to {self.num_classes - 1}"
                + ("" if self.ignore_index is not None else ", and ignore_index= names one to leave out")
            )

    @property
    def higher_is_better(self) -> bool:
        """Whether more is better."""
        return METRICS[self.metric].higher_is_better

    def __repr__(self) -> str:
        extra = {"ignore_index": self.ignore_index, "memory_limit": self.memory_limit}
        given = "".join(f", {name}={value}" for name, value in extra.items() if value is not None)
        return f"{self.num_classes}, {super().__repr__()}{given}"


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


class ArrayMulticlassAuc:
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
        self._metric = BatchMetric(num_classes, metric, outputs, ignore_index, memory_limit, options)
        self.num_classes, self.memory_limit = self._metric.num_classes, memory_limit
        self.reset()

    @property
    def higher_is_better(self) -> bool:
        """Whether more is better."""
        return self._metric.higher_is_better

    def reset(self) -> None:
        """Forget all batches; to be called before each epoch."""
        self._batches: list[Batch] = []
        self._summary = None if self.memory_limit is None else self._metric.accumulator()

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
        self._add(self._metric.read(preds, target, sample_weight))

    def _add(self, batch: Batch) -> None:
        if self._summary is not None:
            self._summary.update(*batch)
        else:
            self._batches.append(batch)

    def compute(self) -> float:
        """The value for all batches so far; with `memory_limit`, the middle of the bounds that it lies between."""
        if self._summary is not None:
            return self._metric.evaluate_summary(self._summary).metrics[self._metric.metric].value
        return self._metric.value_of(self._joined())

    def evaluate(self) -> Evaluation | BoundedEvaluation:
        """The value with its standard error and intervals; with `memory_limit`, between guaranteed bounds."""
        if self._summary is not None:
            return self._metric.evaluate_summary(self._summary)
        return self._metric.evaluate(self._joined())

    def _joined(self) -> Batch:
        if not self._batches:
            raise ValueError("there is no value before the first update")
        self._batches = [Batch.join(self._batches)]  # kept as one, so that the next call need not join them again
        return self._batches[0]

    def merge(self, other: ArrayMulticlassAuc) -> Self:
        """Add all batches of another one, made with the same arguments; it stays as it is."""
        if not isinstance(other, ArrayMulticlassAuc) or repr(self._metric) != repr(other._metric):
            raise ValueError(f"only metrics made with the same arguments can be merged; got {other!r}")
        if self._summary is not None and other._summary is not None:
            self._summary.merge(other._summary)
        self._batches += other._batches
        return self

    def state_dict(self) -> dict[str, Any]:
        """All batches, to be saved with a checkpoint of the model; nothing but bytes, arrays and words."""
        kept = {"settings": repr(self._metric)}
        if self._summary is not None:
            return {**kept, "state": self._summary.to_bytes()}
        columns = zip(*self._batches, strict=True) if self._batches else ((), (), ())
        return {**kept, **dict(zip(("targets", "scores", "weights"), map(list, columns), strict=True))}

    def load_state_dict(self, state: dict[str, Any]) -> Self:
        """Go on from where `state_dict` was called; batches since then are forgotten.

        Raises
        ------
        ValueError
            If it is not such a state, or one of another metric. The metric then stays as it was.
        """
        names = ("settings", "state") if self._summary is not None else ("settings", "scores", "targets", "weights")
        if not isinstance(state, dict):
            raise ValueError(  # noqa: TRY004 - as for everything else that is wrong with what was stored
                f"state must be the dict that state_dict() returned; got {type(state).__name__}"
            )
        if state.get("settings", repr(self._metric)) != repr(self._metric):
            raise ValueError(f"the state was saved by MulticlassAuc({state['settings']}), this is {self!r}")
        missing = [name for name in names if name not in state]
        if missing:
            raise ValueError(f"state must be the dict that state_dict() returned; it lacks {listing(missing)}")
        try:
            if self._summary is not None:
                self._summary = self._metric.accumulator().merge(Accumulator.from_bytes(state["state"]))
            else:
                self._batches = self._read_batches(state)
        except TypeError as error:  # arrays of something else than numbers, or no bytes
            raise ValueError(f"state is not what state_dict() returned: {error}") from None
        return self

    def _read_batches(self, state: dict[str, Any]) -> list[Batch]:
        """The batches of a state, once scores, targets and weights are known to fit together."""
        lists = [state[name] for name in ("targets", "scores", "weights")]
        if not all(isinstance(one, (list, tuple)) for one in lists) or len(set(map(len, lists))) != 1:
            raise ValueError("state must have scores, targets and weights for each batch, as state_dict() returns them")
        batches = []
        for classes, given, weights in zip(*lists, strict=True):
            scores, codes = as_scores("the scores of state", given), as_array("the targets of state", classes)
            if scores.ndim != 2 or scores.shape[1] != self.num_classes or codes.shape != scores.shape[:1]:
                raise ValueError(
                    f"state must have {self.num_classes} scores and a target for each row of a batch; "
                    f"got shapes {scores.shape} and {codes.shape}"
                )
            if codes.dtype.kind not in "iu" or not np.isfinite(scores).all():
                raise ValueError("state must have finite scores, and class numbers for targets")
            self._metric.refuse_unknown_classes(codes)
            batches.append(Batch(codes, scores, None if weights is None else _read_batch_weights(codes, weights)))
        return batches

    def __call__(self, preds: Any, target: Any, sample_weight: Any = None) -> float:
        """Add a batch, and return the value of this batch alone (nan if it lacks a class)."""
        batch = self._metric.read(preds, target, sample_weight)
        self._add(batch)
        return self._metric.value_or_nan(batch)

    def to(self, *_args: Any, **_options: Any) -> Self:
        """Itself: the metric lives in main memory, whatever the device of the model."""
        return self

    def __repr__(self) -> str:
        rows = sum(len(one.codes) for one in self._batches) if self._summary is None else self._summary.n_rows
        return f"MulticlassAuc({self._metric!r}): {pluralize(rows, 'row')}"


def _read_batch_weights(targets: NDArray[Any], sample_weight: Any) -> NDArray[np.float64]:
    """A copy of the weights of a batch, one per target, once they are known to be finite and not negative."""
    given = as_array("sample_weight", _copy_to_main_memory(sample_weight))
    weights = read_weights(given.ravel() if given.shape == targets.shape else given, targets.size).copy()
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        row = int(wrong[0])
        raise ValueError(f"sample_weight contains {weights[row]} at row {row}; weights must be finite and not negative")
    return weights


def _copy_to_main_memory(value: Any) -> Any:
    """A tensor of another device as a copy in main memory; everything else as it is."""
    return value.cpu() if hasattr(value, "cpu") else value
