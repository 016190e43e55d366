"""`MulticlassAuc` for torch: a ``torchmetrics.Metric`` whose one state holds all rows as bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
import torch
from torchmetrics import Metric

from multiauc._common.registry import DEFAULT_METRIC
from multiauc._common.wording import pluralize
from multiauc.streaming import Accumulator
from multiauc.training.batches import Batch, BatchMetric

if TYPE_CHECKING:
    from collections.abc import Iterator

    from multiauc._common.registry import MetricName
    from multiauc._common.types import TrainingOutputs
    from multiauc._evaluation.evaluation import Evaluation
    from multiauc.streaming import BoundedEvaluation

#: What the base class has options for.
METRIC_OPTIONS = (
    "compute_on_cpu",
    "dist_sync_on_step",
    "process_group",
    "dist_sync_fn",
    "distributed_available_fn",
    "sync_on_compute",
    "compute_with_cache",
)


class MulticlassAuc(Metric):  # type: ignore[misc]
    """AUC_mu, Hand & Till's M or one-vs-rest of all batches, as a metric of torchmetrics.

    It goes where other metrics go: ``MetricCollection``, ``MetricTracker``, Lightning's ``self.log("auc", self.auc)``,
    the ``state_dict`` of the module that it belongs to. In a distributed job `compute` and `evaluate` are those of the
    rows of all processes. Scores are kept in main memory, in their own precision, until `reset`.

    It replaces torchmetrics' ``MulticlassAUROC``: with ``metric="one_vs_rest"`` the value is that of its exact form
    (``thresholds=None``) with ``average="macro"``, with ``"one_vs_rest_prevalence"`` that of ``average="weighted"``.

    Parameters
    ----------
    num_classes, metric, outputs, ignore_index
        As in `ArrayMulticlassAuc`.
    memory_limit : int, optional
        About how many bytes to use: batches are summarised (see `multiauc.streaming.Accumulator`), and the value has
        guaranteed bounds. By default all scores are kept, and the value is exact.
    **options
        Options of the metric, such as ``absent="nan"`` or ``partition=``, and those of ``torchmetrics.Metric``.

    Examples
    --------
    >>> import torch
    >>> from multiauc.training import MulticlassAuc
    >>> auc = MulticlassAuc(3, outputs="logits")
    >>> auc.update(torch.eye(3), torch.tensor([0, 1, 2]))
    >>> auc.compute()
    tensor(1., dtype=torch.float64)
    """

    is_differentiable = False
    full_state_update = False

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
        super().__init__(**{name: options.pop(name) for name in METRIC_OPTIONS if name in options})
        self._metric = BatchMetric(num_classes, metric, outputs, ignore_index, memory_limit, options)
        self.num_classes, self.memory_limit = self._metric.num_classes, memory_limit
        # A MetricCollection updates only one of the metrics whose states have the same names and agree after the first
        # batch; so what is kept of a batch is in the name.
        bounded = () if memory_limit is None else (self._metric.metric, memory_limit)
        ignoring = () if ignore_index is None else (f"ignoring{ignore_index}",)
        kept = "_".join(map(str, ("rows", outputs or "scores", *ignoring, *bounded)))
        self._rows_name = kept.replace("-", "minus")
        self.add_state(self._rows_name, default=[], dist_reduce_fx="cat", persistent=True)

    @property
    def higher_is_better(self) -> bool:
        """Whether more is better."""
        return self._metric.higher_is_better

    def update(self, preds: Any, target: Any, sample_weight: Any = None) -> None:
        """Add a batch; see `ArrayMulticlassAuc.update`."""
        batch = self._metric.read(preds, target, sample_weight)
        if self._forwarding:
            self._forward_cache = self._as_tensor(self._metric.value_or_nan(batch))
        rows = getattr(self, self._rows_name)
        rows.append(_to_record(batch).to(self.device))
        # Rows are summarised when they take an eighth of the memory.
        if self.memory_limit is not None and sum(map(len, rows[1:])) > self.memory_limit // 8:
            rows[:] = [_to_record(self._summarise()).to(self.device)]

    # Set while `forward` asks for the value of a batch.
    _forwarding = False

    def forward(self, preds: Any, target: Any, sample_weight: Any = None) -> torch.Tensor:
        """Add a batch, and return the value of this batch alone (nan if it lacks a class)."""
        if self.dist_sync_on_step:
            return super().forward(preds, target, sample_weight)
        self._forwarding = True
        try:
            self.update(preds, target, sample_weight)
        finally:
            self._forwarding = False
        return self._forward_cache

    def compute(self) -> torch.Tensor:
        """The value for all batches so far; with `memory_limit`, the middle of the bounds that it lies between."""
        if self.memory_limit is None:
            return self._as_tensor(self._metric.value_of(self._joined()))
        found = self._metric.evaluate_summary(self._summarise())
        return self._as_tensor(found.metrics[self._metric.metric].value)

    def evaluate(self) -> Evaluation | BoundedEvaluation:
        """The value with its standard error and intervals; with `memory_limit`, between guaranteed bounds."""
        with self.sync_context(dist_sync_fn=self.dist_sync_fn, should_sync=self._to_sync):
            if self.memory_limit is None:
                return self._metric.evaluate(self._joined())
            return self._metric.evaluate_summary(self._summarise())

    def sync(self, *args: Any, **options: Any) -> None:
        """Gather the rows of all processes, those that have none included."""
        if not self._is_synced:
            nothing = torch.empty(0, dtype=torch.uint8, device=self.device)
            setattr(self, self._rows_name, [torch.cat([nothing, *getattr(self, self._rows_name)])])
        super().sync(*args, **options)

    def set_dtype(self, dst_type: Any) -> Self:  # noqa: ARG002
        """Itself: rows are kept in their own precision."""
        return self

    def _records(self) -> Iterator[Batch | Accumulator]:
        kept = getattr(self, self._rows_name)  # one tensor when synchronised, else a list of them
        for one in [kept] if isinstance(kept, torch.Tensor) else kept:
            yield from _from_records(one.cpu().numpy(), self.num_classes)

    def _joined(self) -> Batch:
        records = [one for one in self._records() if isinstance(one, Batch)]
        if not records:
            raise ValueError("there is no value before the first update")
        return Batch.join(records)

    def _summarise(self) -> Accumulator:
        summary = self._metric.accumulator()
        for one in self._records():
            summary.merge(one) if isinstance(one, Accumulator) else summary.update(*one)
        return summary

    def _as_tensor(self, value: float) -> torch.Tensor:
        dtype = torch.float32 if self.device.type == "mps" else torch.float64  # Apple's GPUs have no float64
        return torch.tensor(value, dtype=dtype, device=self.device)

    def __repr__(self) -> str:
        of_each = (one.n_rows if isinstance(one, Accumulator) else len(one.codes) for one in self._records())
        return f"MulticlassAuc({self._metric!r}): {pluralize(sum(of_each), 'row')}"


#: The numbers in front of a record: rows (-1 for a summary), bytes per score, whether there are weights, bytes in all.
HEADER = 4


def _to_record(kept: Batch | Accumulator) -> torch.Tensor:
    """A batch or a summary as bytes, which can be joined to others."""
    if isinstance(kept, Accumulator):
        parts = [np.frombuffer(kept.to_bytes(), np.uint8)]
        header = [-1, 0, 0]
    else:
        columns = [*([] if kept.weights is None else [kept.weights]), kept.scores, kept.codes.astype(np.int32)]
        parts = [np.ascontiguousarray(column).reshape(-1).view(np.uint8) for column in columns]
        header = [len(kept.codes), kept.scores.dtype.itemsize, kept.weights is not None]
    numbers = np.array([*header, sum(map(len, parts))], np.int64)
    return torch.from_numpy(np.concatenate([numbers.view(np.uint8), *parts]))


def _from_records(data: Any, num_classes: int) -> Iterator[Batch | Accumulator]:
    """The batches and summaries that were joined."""
    start = 0
    while start < len(data):
        rows, itemsize, has_weights, size = np.frombuffer(data[start : start + 8 * HEADER].tobytes(), np.int64).tolist()
        start += 8 * HEADER
        record = data[start : start + size].tobytes()
        start += size
        if rows < 0:
            yield Accumulator.from_bytes(record)
            continue
        weights = np.frombuffer(record, np.float64, rows) if has_weights else None
        scores = np.frombuffer(record, f"f{itemsize}", rows * num_classes, 8 * rows * has_weights)
        yield Batch(np.frombuffer(record[-4 * rows :], np.int32, rows), scores.reshape(rows, num_classes), weights)
