"""`MulticlassAuc` for torch: a ``torchmetrics.Metric`` whose one state holds all rows as bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import torch
from torchmetrics import Metric

from multiauc._common.registry import DEFAULT_METRIC
from multiauc.training.batches import BatchMetric, from_records, to_record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from multiauc._common.registry import MetricName
    from multiauc._common.types import TrainingOutputs
    from multiauc._evaluation.evaluation import Evaluation
    from multiauc.streaming import Accumulator, BoundedEvaluation
    from multiauc.training.batches import Batch

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


class MulticlassAuc(BatchMetric, Metric):  # type: ignore[misc]
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
        Metric.__init__(self, **{name: options.pop(name) for name in METRIC_OPTIONS if name in options})
        kept: Any = {"outputs": outputs, "ignore_index": ignore_index, "memory_limit": memory_limit}
        BatchMetric.__init__(self, num_classes, metric, **kept, **options)

    def begin(self) -> None:
        """Prepare to keep records."""
        # A MetricCollection updates only one of the metrics whose states have the same names and agree after the first
        # batch; so what is kept of a batch is in the name.
        bounded = () if self.memory_limit is None else (self.metric, self.memory_limit)
        ignoring = () if self.ignore_index is None else (f"ignoring{self.ignore_index}",)
        kept = "_".join(map(str, ("rows", self.outputs or "scores", *ignoring, *bounded)))
        self._rows_name = kept.replace("-", "minus")
        self.add_state(self._rows_name, default=[], dist_reduce_fx="cat", persistent=True)

    def records(self) -> Iterator[Batch | Accumulator]:
        """What is kept of all batches."""
        kept = getattr(self, self._rows_name)  # one tensor when synchronised, else a list of them
        for one in [kept] if isinstance(kept, torch.Tensor) else kept:
            yield from from_records(one.cpu().numpy().tobytes(), self.num_classes)

    def update(self, preds: Any, target: Any, sample_weight: Any = None) -> None:
        """Add a batch; see `ArrayMulticlassAuc.update`."""
        batch = self.read(preds, target, sample_weight)
        if self._forwarding:
            self._forward_cache = self._as_tensor(self.value_or_nan(batch))
        rows = getattr(self, self._rows_name)
        rows.append(self._as_bytes(batch))
        # Rows are summarised when they take an eighth of the memory.
        if self.memory_limit is not None and sum(map(len, rows[1:])) > self.memory_limit // 8:
            rows[:] = [self._as_bytes(self.summarise())]

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
        return self._as_tensor(self.value_so_far())

    def evaluate(self) -> Evaluation | BoundedEvaluation:
        """The value with its standard error and intervals; with `memory_limit`, between guaranteed bounds."""
        with self.sync_context(dist_sync_fn=self.dist_sync_fn, should_sync=self._to_sync):
            return super().evaluate()

    def sync(self, *args: Any, **options: Any) -> None:
        """Gather the rows of all processes, those that have none included."""
        if not self._is_synced:
            nothing = torch.empty(0, dtype=torch.uint8, device=self.device)
            setattr(self, self._rows_name, [torch.cat([nothing, *getattr(self, self._rows_name)])])
        super().sync(*args, **options)

    def set_dtype(self, dst_type: Any) -> Self:  # noqa: ARG002
        """Itself: rows are kept in their own precision."""
        return self

    def _as_bytes(self, kept: Batch | Accumulator) -> torch.Tensor:
        return torch.frombuffer(bytearray(to_record(kept)), dtype=torch.uint8).to(self.device)

    def _as_tensor(self, value: float) -> torch.Tensor:
        dtype = torch.float32 if self.device.type == "mps" else torch.float64  # Apple's GPUs have no float64
        return torch.tensor(value, dtype=dtype, device=self.device)
