"""For the Trainer of Hugging Face transformers: `hugging_face` makes its ``compute_metrics``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc._common.registry import DEFAULT_METRIC
from multiauc._input.arrays import as_array
from multiauc.training.batches import ArrayMulticlassAuc

if TYPE_CHECKING:
    from multiauc._common.registry import MetricName
    from multiauc._common.types import TrainingOutputs

#: What transformers puts in the place of targets that do not count, such as those of padding.
IGNORED = -100
#: Memory for `batch_eval_metrics`, where rows would otherwise be kept for nothing.
BATCH_MEMORY = 64 * 2**20


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
    memory_limit: int | None = BATCH_MEMORY,
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
    return np.asarray(as_array("predictions", one.cpu() if hasattr(one, "cpu") else one))


def _flatten(metric: ArrayMulticlassAuc) -> dict[str, float]:
    """The value by the name of the metric, and the limits of its interval."""
    name, estimate = next(iter(metric.evaluate().metrics.items()))
    low, high = estimate.confidence_interval()
    return {name: estimate.value, f"{name}_low": low, f"{name}_high": high}
