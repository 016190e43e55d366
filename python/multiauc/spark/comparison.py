"""Several models on the rows of one data frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Never

from multiauc._hints import refuse_unknown
from multiauc._registry import METRICS
from multiauc._result import Result
from multiauc._tables import text_table
from multiauc._wording import described, listing
from multiauc.spark._columns import read_columns
from multiauc.spark.evaluation import evaluated

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from pyspark.sql import DataFrame

    from multiauc._types import Absent
    from multiauc.streaming import CertifiedEvaluation


@dataclass(frozen=True, eq=False)
class CertifiedDifference(Result):
    """The difference of two models on the same rows.

    There is no interval: a state keeps a sample of the rows of its own model, and two of them do not say how the models
    vary together. `multiauc.compare` does, of rows that fit into memory.

    Attributes
    ----------
    value : float
        The first less the second.
    low, high : float
        The exact difference of these rows lies between them, always.
    standard_error_at_most : float
        The sum of both standard errors; that of the difference is not larger, whatever the models have in common.
    """

    value: float
    low: float
    high: float
    standard_error_at_most: float

    @property
    def exact(self) -> bool:
        """Whether both bounds are the value."""
        return self.low == self.high


@dataclass(frozen=True, eq=False, repr=False)
class SparkComparison(Result):
    """Models that were evaluated on the same rows; see `multiauc.spark.compare`.

    Attributes
    ----------
    evaluations : dict of CertifiedEvaluation
        By the name of the model.
    """

    evaluations: dict[str, CertifiedEvaluation]

    def difference(self, a: str, b: str, metric: str = "auc_mu") -> CertifiedDifference:
        """The value of model `a` less that of `b`."""
        for name in (a, b):
            if name not in self.evaluations:
                raise ValueError(f"there is no model {name!r}; there are {listing(list(self.evaluations))}")
        own, other = self.evaluations[a].metrics, self.evaluations[b].metrics
        if metric not in own:
            raise ValueError(f"metric is {metric!r}, which was not computed; there are {listing(list(own))}")
        first, second = own[metric], other[metric]
        return CertifiedDifference(
            first.value - second.value,
            first.low - second.high,
            first.high - second.low,
            first.standard_error + second.standard_error,
        )

    def __repr__(self) -> str:
        lines = []
        for metric in next(iter(self.evaluations.values())).metrics:
            header = ["", "value", "certain bounds", "std. error", "95% interval"]
            rows = [[name, *one.metrics[metric].cells()] for name, one in self.evaluations.items()]
            lines += [METRICS[metric].title, *text_table([header, *rows])]
        return "\n".join(lines)


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
    memory: int | None = None,
    **unknown: Never,
) -> SparkComparison:
    """Several models on the same rows of a Spark data frame, in the same passes.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        As in `evaluate`.
    models : mapping of str to columns
        The scores of each model, as `evaluate` takes them: ``{"tree": "p_tree_*", "net": "probability"}``.
    label, weight, exact, metrics, labels, absent, memory
        As in `evaluate`.

    Returns
    -------
    SparkComparison
        The evaluation of each model, and their differences with certain bounds.
    """
    refuse_unknown(compare, unknown)
    if not hasattr(models, "items") or not models:
        raise TypeError(f"models must be a mapping of names to columns of scores; got {described(models)}")
    rows, layout = read_columns(df, label, dict(models), weight, labels, None)
    found: Any = evaluated(rows, layout, metrics, absent, memory, exact=exact)
    return SparkComparison({name: found[name, ()] for name in models})
