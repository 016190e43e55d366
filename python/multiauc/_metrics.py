"""The metrics that adapters offer by name."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from multiauc._input.probabilities import OUTPUTS, probabilities_of
from multiauc._wording import one_of
from multiauc.one_vs_rest import one_vs_rest_score
from multiauc.pairwise import auc_mu_score, hand_till_score

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

METRICS: dict[str, Callable[..., float]] = {
    "auc_mu": auc_mu_score,
    "hand_till": hand_till_score,
    "one_vs_rest": one_vs_rest_score,
    "one_vs_rest_prevalence": partial(one_vs_rest_score, average="prevalence"),
}


def metric_function(name: str) -> Callable[..., float]:
    """The function that computes the metric `name`."""
    return METRICS[one_of("metric", name, tuple(METRICS))]


class TrainingMetric:
    """A metric of the outputs of a model in training, whose classes are the numbers 0, 1, ..."""

    def __init__(self, metric: str, outputs: str, options: dict[str, Any]) -> None:
        self.function = metric_function(metric)
        self.metric = metric
        self.outputs = one_of("outputs", outputs, OUTPUTS)
        self.options = options

    def probabilities(self, argument: str, scores: NDArray[Any]) -> NDArray[Any]:
        """What the metric is defined by, from what the model puts out."""
        return probabilities_of(argument, scores, self.outputs)

    def value(self, codes: Any, probabilities: NDArray[Any], weights: Any) -> float:
        """The metric of all rows."""
        n_classes = 2 if probabilities.ndim == 1 else probabilities.shape[1]
        options = {"labels": list(range(n_classes)), **self.options}
        return self.function(codes, probabilities, sample_weight=weights, **options)

    def __repr__(self) -> str:
        """As the arguments it was made of."""
        options = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"{self.metric!r}, outputs={self.outputs!r}{options}"
