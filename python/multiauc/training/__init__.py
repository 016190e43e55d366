"""Metrics for training loops: torch and torchmetrics, Lightning, Keras, Hugging Face, or arrays of any library.

`MulticlassAuc` is updated batch by batch. Where torch and torchmetrics are installed it is a ``torchmetrics.Metric``,
otherwise `ArrayMulticlassAuc`, which has the same methods and needs NumPy alone. `hugging_face` makes the
``compute_metrics`` of a Trainer, `KerasAuc` is a callback for Keras 3. Each library is imported when its name is used.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from multiauc.training.batches import ArrayMulticlassAuc, hugging_face

if TYPE_CHECKING:
    from multiauc.training.keras_callback import KerasAuc as KerasAuc
    from multiauc.training.torch_metric import MulticlassAuc

# `KerasAuc` is not among them: without Keras it is not there.
__all__ = ["ArrayMulticlassAuc", "MulticlassAuc", "hugging_face"]


def __getattr__(name: str) -> Any:
    if name == "MulticlassAuc":
        has_torch = all(find_spec(library) for library in ("torch", "torchmetrics"))
        found = import_module("multiauc.training.torch_metric").MulticlassAuc if has_torch else ArrayMulticlassAuc
    elif name == "KerasAuc":
        if find_spec("keras") is None:
            raise AttributeError("multiauc.training.KerasAuc needs Keras; install it with: pip install keras")
        found = import_module("multiauc.training.keras_callback").KerasAuc
    else:
        raise AttributeError(f"module 'multiauc.training' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__all__, "KerasAuc"]
