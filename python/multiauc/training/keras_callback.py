"""For Keras 3: `KerasAuc`, a callback that writes a metric of validation data into the logs of each epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras
import numpy as np

from multiauc._common.registry import DEFAULT_METRIC
from multiauc._input.arrays import as_array, as_scores
from multiauc.training.batches import TrainingMetric

if TYPE_CHECKING:
    from multiauc._common.registry import MetricName
    from multiauc._common.types import TrainingOutputs


class KerasAuc(keras.callbacks.Callback):  # type: ignore[misc]
    """A metric of validation data after each epoch, as ``logs["val_auc_mu"]``.

    Put it before ``EarlyStopping`` and ``ModelCheckpoint`` in ``callbacks=``: callbacks run in that order, and these
    read the logs. They need ``mode="max"`` (``"min"`` for losses), as Keras cannot infer the direction from a name.

    Parameters
    ----------
    x : array or iterable
        What ``model.predict`` takes; or, without `y`, a data set whose batches are (x, y), read once per epoch.
    y : array of shape (n,), (n, 1) or (n, K), optional
        Class numbers 0, ..., K - 1, or one-hot rows.
    metric : {"auc_mu", "hand_till", "one_vs_rest", "one_vs_rest_prevalence"}, default "auc_mu"
        What to compute; further metrics of `multiauc.evaluate` work too.
    outputs : {"probabilities", "logits", "one_vs_all_logits"} or None, default "probabilities"
        What the model gives.
    name : str, optional
        The name in the logs; by default ``"val_"`` and the name of the metric.
    sample_weight : array of shape (n,), optional
        A weight per row.
    batch_size : int, optional
        For ``model.predict``.
    **options
        Options of the metric, such as ``absent="ignore"`` or ``partition=``.

    Examples
    --------
    >>> from multiauc.training import KerasAuc  # doctest: +SKIP
    >>> stop = keras.callbacks.EarlyStopping(monitor="val_auc_mu", mode="max", patience=3)  # doctest: +SKIP
    >>> model.fit(x, y, callbacks=[KerasAuc(x_val, y_val), stop])  # doctest: +SKIP
    """

    def __init__(
        self,
        x: Any,
        y: Any = None,
        *,
        metric: MetricName = DEFAULT_METRIC,
        outputs: TrainingOutputs = "probabilities",
        name: str | None = None,
        sample_weight: Any = None,
        batch_size: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        self._metric = TrainingMetric(metric, outputs, options)
        self._x, self._y, self._weights, self._batch_size = x, y, sample_weight, batch_size
        self.name = name or f"val_{self._metric.metric}"

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:  # noqa: ARG002
        """Write the value into the logs."""
        if logs is not None:
            logs[self.name] = self.value()

    def value(self) -> float:
        """The metric of the model as it is now."""
        if self._y is not None:
            given, y = self.model.predict(self._x, batch_size=self._batch_size, verbose=0), self._y
        else:
            pairs = [(self.model.predict_on_batch(batch[0]), _classes(batch[1])) for batch in _batches(self._x)]
            given, y = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
        scores = as_scores("the predictions", given)
        scores = scores[:, 0] if scores.ndim == 2 and scores.shape[1] == 1 else scores
        return self._metric.value(_classes(y), self._metric.probabilities("the predictions", scores), self._weights)

    def __call__(self, *_args: Any, **_options: Any) -> None:
        """Say where it belongs: Keras calls what it is given as a metric."""
        raise TypeError(
            "KerasAuc is a callback, not a metric: a metric in compile(metrics=...) is traced and averaged over "
            "batches, which an AUC is not; pass it to fit(callbacks=[KerasAuc(x_val, y_val), ...])"
        )


def _batches(data: Any) -> Any:
    """The batches of a data set; of a ``keras.utils.PyDataset`` by number, as Keras itself reads them."""
    return (data[k] for k in range(len(data))) if isinstance(data, keras.utils.PyDataset) else data


def _classes(y: Any) -> Any:
    """Class numbers, from a column of them or from one-hot rows."""
    y = as_array("y", y)
    if y.ndim == 2 and y.shape[1] > 1:
        if not ((y == 0) | (y == 1)).all() or not (y.sum(axis=1) == 1).all():
            raise ValueError("y must hold class numbers or one-hot rows; a row has more or less than a single 1")
        return y.argmax(axis=1)
    return y.reshape(-1)
