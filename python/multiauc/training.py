"""Metrics for training loops: `MulticlassAuc` is updated batch by batch, with torch or any other library."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from multiauc._common.registry import DEFAULT_METRIC
from multiauc._common.wording import counted, listing, one_of
from multiauc._input.arrays import as_array, as_scores
from multiauc._input.options import read_metric
from multiauc._input.probabilities import OUTPUTS, probabilities_of
from multiauc._input.sample import read_weights
from multiauc._metrics.scoring import check_option_names, compute_score
from multiauc.streaming import Accumulator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from multiauc._common.registry import MetricName
    from multiauc._common.types import TrainingOutputs
    from multiauc.streaming import CertifiedEvaluation

__all__ = ["MulticlassAuc"]


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


class MulticlassAuc:
    """AUC_mu, Hand & Till's M or one-vs-rest of all batches together: `update`, `compute`, `reset`.

    Takes the place of torchmetrics' ``MulticlassAUROC``: with ``metric="one_vs_rest"`` the value is that of its exact
    form (``thresholds=None``) with ``average="macro"``, with ``"one_vs_rest_prevalence"`` that of
    ``average="weighted"``. It keeps a copy of the scores of every batch, in main memory and in their own precision;
    with `memory_limit`, a state of that size instead, and the value is known between certain bounds (`evaluate`). torch
    is not imported: arrays and tensors of any library are accepted.

    Parameters
    ----------
    num_classes : int
        The number of classes, K. Targets are the numbers 0, ..., K - 1.
    metric : {"auc_mu", "hand_till", "one_vs_rest", "one_vs_rest_prevalence"}, default "auc_mu"
        What to compute.
    outputs : {"probabilities", "logits", "one_vs_all_logits"} or None, default "probabilities"
        What `update` is given. Logits become probabilities by softmax, or each by itself by the logistic function; None
        takes scores as they are. (It is never guessed: a batch of logits can look like probabilities.)
    memory_limit : int, optional
        About how many bytes to use, for streams longer than memory: see `multiauc.streaming.Accumulator`. By default
        all scores are kept, and the value is exact.
    **options
        Options of the metric, such as ``absent="ignore"`` or ``partition=``.

    Examples
    --------
    >>> from multiauc.training import MulticlassAuc
    >>> auc = MulticlassAuc(3)
    >>> auc.update([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1]], [0, 1])
    >>> auc.update([[0.1, 0.2, 0.7]], [2])
    >>> auc.compute()
    1.0
    >>> auc.reset()
    >>> auc
    MulticlassAuc(3, 'auc_mu', outputs='probabilities'): 0 rows

    Each process of a distributed job updates its own; `gathered` is the metric of all rows:

    >>> everywhere = auc.gathered() # doctest: +SKIP
    >>> everywhere.compute() # doctest: +SKIP
    """

    def __init__(
        self,
        num_classes: int,
        metric: MetricName = DEFAULT_METRIC,
        *,
        outputs: TrainingOutputs = "probabilities",
        memory_limit: int | None = None,
        **options: Any,
    ) -> None:
        if isinstance(num_classes, bool) or not isinstance(num_classes, (int, np.integer)) or num_classes < 2:
            raise ValueError(f"num_classes must be an integer of at least 2; got {num_classes!r}")
        self.num_classes = int(num_classes)
        self._metric = TrainingMetric(metric, outputs, options)
        self.memory_limit = memory_limit
        if memory_limit is not None and options.keys() - {"absent"}:
            raise ValueError(
                f"memory_limit= goes with absent= only; got {listing(options)} too, which needs all scores"
            )
        self.reset()

    def reset(self) -> None:
        """Forget all batches."""
        self._state = None if self.memory_limit is None else self._empty_state(self.memory_limit)
        self._scores: list[NDArray[Any]] = []
        self._targets: list[NDArray[Any]] = []
        self._weights: list[NDArray[np.float64] | None] = []

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
        scores = as_scores("preds", _copy_to_main_memory(preds))
        if scores.ndim < 2 or scores.shape[1] != self.num_classes:
            raise ValueError(
                f"preds must have {self.num_classes} classes along the second axis; got shape {scores.shape}"
            )
        targets = as_array("target", _copy_to_main_memory(target))
        if targets.shape != scores.shape[:1] + scores.shape[2:] or targets.dtype.kind not in "iu":
            raise ValueError(
                "target must hold the class number of each row of preds; "
                f"got {targets.dtype} of shape {targets.shape} for preds of shape {scores.shape}"
            )
        codes = targets.flatten()
        self._refuse_unknown_classes(codes)
        weights = None if sample_weight is None else _read_batch_weights(targets, sample_weight)
        rows = self._metric.probabilities("preds", np.moveaxis(scores, 1, -1).reshape(-1, self.num_classes))
        if self._state is not None:
            self._state.update(codes, rows, weights)
            return
        # All of the batch is right, so it is kept. Copies, because training loops reuse its memory for the next.
        self._scores.append(rows.copy() if np.may_share_memory(rows, scores) else rows)
        self._targets.append(codes)
        self._weights.append(weights)

    def compute(self) -> float:
        """The value for all batches so far; with `memory_limit`, the middle of the bounds that it lies between."""
        if self._state is not None:
            return self.evaluate().metrics[self._metric.metric].value
        if not self._scores:
            raise ValueError("there is no value before the first update")
        if len(self._scores) > 1:  # kept as one, so that the next call need not join them again
            self._weights = [self._all_weights()]
            self._scores = [np.concatenate(self._scores)]
            self._targets = [np.concatenate(self._targets)]
        return self._metric.value(self._targets[0], self._scores[0], self._weights[0])

    def evaluate(self) -> CertifiedEvaluation:
        """The value between its bounds, with a standard error; with `memory_limit` only."""
        if self._state is None:
            raise ValueError("evaluate() goes with memory_limit=; without it compute() is exact")
        return self._state.evaluate(absent=self._metric.options.get("absent", "raise"))

    def merge(self, other: MulticlassAuc) -> Self:
        """Add all batches of another one, made with the same arguments; it stays as it is."""
        if not isinstance(other, MulticlassAuc) or self._settings() != other._settings():
            raise ValueError(f"only metrics made with the same arguments can be merged; got {other!r}")
        if self._state is not None and other._state is not None:
            self._state.merge(other._state)
        self._scores += other._scores
        self._targets += other._targets
        self._weights += other._weights
        return self

    def gathered(self, group: Any = None) -> MulticlassAuc:
        """One with the batches of all processes of ``torch.distributed`` (or of a group of them), on each of them."""
        from torch import distributed  # noqa: PLC0415

        states: list[Any] = [None] * distributed.get_world_size(group)
        distributed.all_gather_object(states, self.state_dict(), group=group)
        everything = self._empty(self.memory_limit)
        for state in states:
            everything.merge(self._empty(self.memory_limit).load_state_dict(state))
        return everything

    def state_dict(self) -> dict[str, Any]:
        """All batches, to be saved with a checkpoint of the model; nothing but bytes, arrays and words."""
        kept = {"settings": self._settings()}
        if self._state is not None:
            return {**kept, "state": self._state.to_bytes()}
        return {**kept, "scores": self._scores[:], "targets": self._targets[:], "weights": self._weights[:]}

    def load_state_dict(self, state: dict[str, Any]) -> Self:
        """Go on from where `state_dict` was called; batches since then are forgotten.

        Raises
        ------
        ValueError
            If it is not such a state, or one of another metric. The metric then stays as it was.
        """
        names = ("settings", "state") if self._state is not None else ("settings", "scores", "targets", "weights")
        if not isinstance(state, dict):
            raise ValueError(  # noqa: TRY004 - as for everything else that is wrong with what was stored
                f"state must be the dict that state_dict() returned; got {type(state).__name__}"
            )
        if state.get("settings", self._settings()) != self._settings():
            raise ValueError(f"the state was saved by MulticlassAuc({state['settings']}), this is {self!r}")
        missing = [name for name in names if name not in state]
        if missing:
            raise ValueError(f"state must be the dict that state_dict() returned; it lacks {listing(missing)}")
        if self._state is not None:
            self._state = self._empty_state(self._state.memory_limit).merge(_read_state(state["state"]))
        else:
            try:
                self._scores, self._targets, self._weights = self._read_batches(state)
            except TypeError as error:  # arrays of something else than numbers
                raise ValueError(f"state is not what state_dict() returned: {error}") from None
        return self

    def _read_batches(self, state: dict[str, Any]) -> tuple[list[NDArray[Any]], list[NDArray[Any]], list[Any]]:
        """Scores, targets and weights of the batches of a state, once they are known to fit together."""
        lists = [state[name] for name in ("scores", "targets", "weights")]
        if not all(isinstance(one, (list, tuple)) for one in lists) or len(set(map(len, lists))) != 1:
            raise ValueError("state must have scores, targets and weights for each batch, as state_dict() returns them")
        batches: tuple[list[NDArray[Any]], list[NDArray[Any]], list[Any]] = ([], [], [])
        for given, classes, weights in zip(*lists, strict=True):
            scores = as_scores("the scores of state", given)
            codes = as_array("the targets of state", classes)
            if scores.ndim != 2 or scores.shape[1] != self.num_classes or codes.shape != scores.shape[:1]:
                raise ValueError(
                    f"state must have {self.num_classes} scores and a target for each row of a batch; "
                    f"got shapes {scores.shape} and {codes.shape}"
                )
            if codes.dtype.kind not in "iu" or not np.isfinite(scores).all():
                raise ValueError("state must have finite scores, and class numbers for targets")
            self._refuse_unknown_classes(codes)
            batches[0].append(scores)
            batches[1].append(codes)
            batches[2].append(None if weights is None else _read_batch_weights(codes, weights))
        return batches

    def _settings(self) -> str:
        bounded = "" if self.memory_limit is None else f", memory_limit={self.memory_limit}"
        return f"{self.num_classes}, {self._metric!r}{bounded}"

    def _empty(self, memory_limit: int | None) -> MulticlassAuc:
        """Another one of the same metric."""
        metric: Any = self._metric
        return MulticlassAuc(
            self.num_classes, metric.metric, outputs=metric.outputs, memory_limit=memory_limit, **metric.options
        )

    def _empty_state(self, memory_limit: int) -> Accumulator:
        return Accumulator(range(self.num_classes), metrics=[self._metric.metric], memory_limit=memory_limit)

    def __call__(self, preds: Any, target: Any, sample_weight: Any = None) -> float:
        """Add a batch, and return the value of this batch alone (nan if it lacks a class)."""
        if self._state is not None:
            self.update(preds, target, sample_weight)
            return self._empty(None)(preds, target, sample_weight)
        self.update(preds, target, sample_weight)
        present = np.unique(self._targets[-1])
        if len(present) < (2 if self._metric.options.get("absent") == "ignore" else self.num_classes):
            return float("nan")
        return self._metric.value(self._targets[-1], self._scores[-1], self._weights[-1])

    def to(self, *_args: Any, **_options: Any) -> Self:
        """Itself: the metric lives in main memory, whatever the device of the model."""
        return self

    def _refuse_unknown_classes(self, codes: NDArray[Any]) -> None:
        unknown = np.flatnonzero((codes < 0) | (codes >= self.num_classes))
        if len(unknown):
            row = int(unknown[0])
            raise ValueError(
                f"target contains {codes[row]} at row {row}; classes are the numbers from 0 to {self.num_classes - 1}"
            )

    def _all_weights(self) -> NDArray[np.float64] | None:
        """Of all batches; those without weights count 1 per row."""
        if all(weights is None for weights in self._weights):
            return None
        pairs = zip(self._weights, self._scores, strict=True)
        return np.concatenate([np.ones(len(scores)) if weights is None else weights for weights, scores in pairs])

    def __repr__(self) -> str:
        rows = sum(map(len, self._targets)) if self._state is None else self._state.n_rows
        return f"MulticlassAuc({self._settings()}): {counted(rows, 'row')}"


def _read_state(data: Any) -> Accumulator:
    try:
        return Accumulator.from_bytes(data)
    except TypeError as error:  # no bytes at all
        raise ValueError(f"state['state']: {error}") from None


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
