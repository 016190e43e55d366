"""Metrics of models in training, by name."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

from multiauc._common.wording import one_of
from multiauc._input.options import read_metric
from multiauc._input.probabilities import OUTPUTS, probabilities_of
from multiauc._metrics.scoring import check_option_names, score_by_name

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
        return score_by_name(self.metric, codes, probabilities, sample_weight=weights, **options)

    def __repr__(self) -> str:
        """As the arguments it was made of."""
        options = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"{self.metric!r}, outputs={self.outputs!r}{options}"
