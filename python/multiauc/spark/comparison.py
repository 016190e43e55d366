"""Several models on the rows of one data frame."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc._common.hints import with_hints
from multiauc._common.registry import AUC_MU, METRICS
from multiauc._common.result import Result, text_table
from multiauc._common.wording import described, listing
from multiauc._evaluation.comparison import compare as in_memory
from multiauc._inference.intervals import ConfidenceInterval
from multiauc._input.options import read_level
from multiauc.spark._columns import read_columns
from multiauc.spark.evaluation import evaluated

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

    from multiauc._common.types import Absent, Outputs
    from multiauc.spark._paired import PairedSample
    from multiauc.streaming import CertifiedEvaluation


@dataclass(frozen=True, eq=False)
class CertifiedDifference(Result):
    """The difference of two models on the same rows.

    Attributes
    ----------
    value : float
        The first less the second.
    low, high : float
        The exact difference of these rows lies between them, always.
    standard_error : float
        From both standard errors, and from the correlation of the two models in a random sample of at most 20,000 rows.
        nan if a class has fewer than two rows in that sample.
    standard_error_at_most : float
        The sum of both standard errors; that of the difference is not larger, whatever the models have in common.
    """

    value: float
    low: float
    high: float
    standard_error: float
    standard_error_at_most: float

    @property
    def exact(self) -> bool:
        """Whether both bounds are the value."""
        return self.low == self.high

    def confidence_interval(self, level: float = 0.95) -> ConfidenceInterval:
        """An interval for the difference in the population, by the normal distribution: as far as the bounds allow."""
        reach = NormalDist().inv_cdf(1.0 - read_level(level)) * self.standard_error
        return ConfidenceInterval(max(-1.0, self.low - reach), min(1.0, self.high + reach))


@dataclass(frozen=True, eq=False, repr=False)
class SparkComparison(Result):
    """Models that were evaluated on the same rows; see `multiauc.spark.compare`.

    Attributes
    ----------
    evaluations : dict of CertifiedEvaluation
        By the name of the model.
    correlations : dict of ndarray of shape (m, m)
        How the values of the models vary together, by metric, in a random sample of the rows; nan where that cannot be
        told from the sample.
    """

    evaluations: dict[str, CertifiedEvaluation]
    correlations: dict[str, NDArray[np.float64]]

    def difference(self, a: str, b: str, metric: str = AUC_MU) -> CertifiedDifference:
        """The value of model `a` less that of `b`."""
        names = list(self.evaluations)
        for name in (a, b):
            if name not in names:
                raise ValueError(f"there is no model {name!r}; there are {listing(names)}")
        own, other = self.evaluations[a].metrics, self.evaluations[b].metrics
        if metric not in own:
            raise ValueError(f"metric is {metric!r}, which was not computed; there are {listing(list(own))}")
        first, second = own[metric], other[metric]
        errors = first.standard_error, second.standard_error
        together = 2.0 * float(self.correlations[metric][names.index(a), names.index(b)]) * errors[0] * errors[1]
        return CertifiedDifference(
            first.value - second.value,
            first.bounds[0] - second.bounds[1],
            first.bounds[1] - second.bounds[0],
            math.sqrt(max(0.0, errors[0] ** 2 + errors[1] ** 2 - together)) if not math.isnan(together) else math.nan,
            errors[0] + errors[1],
        )

    def __repr__(self) -> str:
        lines = []
        for metric in next(iter(self.evaluations.values())).metrics:
            header = ["", "value", "certain bounds", "std. error", "95% interval"]
            rows = [[name, *one.metrics[metric].cells()] for name, one in self.evaluations.items()]
            lines += [METRICS[metric].title, *text_table([header, *rows])]
        return "\n".join(lines)


@with_hints
def compare(  # noqa: PLR0913
    df: DataFrame,
    models: Mapping[str, str | Sequence[str]],
    *,
    label: str,
    weight: str | None = None,
    exact: bool = True,
    metrics: Sequence[str] | None = None,
    labels: Sequence[Hashable] | None = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
    memory: int | None = None,
) -> SparkComparison:
    """Several models on the same rows of a Spark data frame, in the same passes.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        As in `evaluate`.
    models : mapping of str to columns
        The scores of each model, as `evaluate` takes them: ``{"tree": "p_tree_*", "net": "probability"}``.
    label, weight, exact, metrics, labels, absent, outputs, memory
        As in `evaluate`.

    Returns
    -------
    SparkComparison
        The evaluation of each model, and their differences with certain bounds.
    """
    if not hasattr(models, "items") or not models:
        raise TypeError(f"models must be a mapping of names to columns of scores; got {described(models)}")
    rows, layout = read_columns(df, label, dict(models), weight, labels, None, outputs)
    found, sample = evaluated(rows, layout, metrics, absent, memory, exact=exact)
    evaluations = {name: found[name, ()] for name in models}
    wanted = next(iter(evaluations.values())).metrics
    return SparkComparison(evaluations, {metric: _correlation(sample, len(models), metric) for metric in wanted})


def _correlation(sample: PairedSample | None, n_models: int, metric: Any) -> NDArray[np.float64]:
    """How the values of the models vary together in a sample."""
    if sample is None:
        return np.ones((n_models, n_models))
    codes = sample.codes if sample.weights is None else sample.codes[sample.weights > 0]
    if np.bincount(codes)[np.unique(codes)].min() < 2 or len(np.unique(codes)) < 2:
        return np.full((n_models, n_models), np.nan)
    n_classes = next(iter(sample.scores.values())).shape[1]
    with warnings.catch_warnings():
        # One score per row stands for two, which do not sum to 1; for the correlation that makes no difference.
        warnings.filterwarnings("ignore", message="models differ in what their scores are")
        covariance = in_memory(
            sample.codes,
            sample.scores,
            metric=metric,
            sample_weight=sample.weights,
            labels=range(n_classes),
            absent="ignore",
        ).covariance
    spread = np.sqrt(np.diagonal(covariance))
    with np.errstate(invalid="ignore", divide="ignore"):
        found: NDArray[np.float64] = covariance / np.outer(spread, spread)
    return found
