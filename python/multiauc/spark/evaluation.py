"""The metrics of a data frame of Spark: of all rows, of slices, of several models."""

from __future__ import annotations

import json
import math
import warnings
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
from pyspark import keyword_only
from pyspark.ml.evaluation import Evaluator
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import HasLabelCol, HasProbabilityCol, HasWeightCol
from pyspark.ml.util import DefaultParamsReadable, DefaultParamsWritable

from multiauc import _rust
from multiauc._common.hints import with_hints
from multiauc._common.registry import METRICS
from multiauc._common.result import Result, build_frame, by_column, text_table
from multiauc._common.wording import describe_type, listing, one_of
from multiauc._evaluation.comparison import compare as compare_in_memory
from multiauc._inference.intervals import ConfidenceInterval
from multiauc._input.options import positive_integer, read_level, read_metrics
from multiauc._input.sample import ABSENT_POLICIES
from multiauc.spark._columns import ONLY, read_columns
from multiauc.spark._passes import collect_states, evaluate_exactly
from multiauc.streaming import DEFAULT_MEMORY, DEFAULT_METRICS, STREAMED_METRICS, Accumulator

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

    from multiauc._common.result import Library
    from multiauc._common.types import Absent, Outputs
    from multiauc.spark._columns import Layout
    from multiauc.spark._passes import PairedSample
    from multiauc.streaming import BoundedEvaluation

#: States that only say where to split, and have the standard errors.
EXACT_MEMORY = 16 * 2**20
#: Those of slices, of which there may be many.
SLICE_MEMORY = 4 * 2**20


class SliceEvaluations(dict[Any, "BoundedEvaluation"]):
    """The evaluation of each slice, by its value: text, or a tuple of texts for several columns; None for nulls.

    Slices in which fewer than two classes have rows have no value, and are left out.

    Parameters
    ----------
    columns : tuple of str
        The columns whose values are slices.
    evaluations : mapping
        By the values of the columns, as tuples.
    """

    def __init__(
        self, columns: tuple[str, ...], evaluations: Mapping[tuple[str | None, ...], BoundedEvaluation]
    ) -> None:
        super().__init__((values[0] if len(columns) == 1 else values, one) for values, one in evaluations.items())
        self.columns = columns

    def to_frame(self, level: float = 0.95, *, library: Library | None = None) -> Any:
        """A row for each slice and metric, with the limits of intervals of this level."""
        rows = [
            {**dict(zip(self.columns, self._as_tuple(values), strict=True)), "metric": name, **one.to_dict(level)}
            for values, result in self.items()
            for name, one in result.metrics.items()
        ]
        return build_frame(by_column(rows), library)

    def _as_tuple(self, values: Any) -> tuple[str | None, ...]:
        return (values,) if len(self.columns) == 1 else values

    def __repr__(self) -> str:
        header = ["", "rows", "value", "guaranteed bounds", "std. error", "95% interval"]
        table = [header]
        for values, result in self.items():
            name, one = next(iter(result.metrics.items()))
            table.append([", ".join(map(str, self._as_tuple(values))), str(int(result.counts.sum())), *one.cells()])
        title = f"Slices by {', '.join(self.columns)}"
        return "\n".join([f"{title}: {name if self else 'none'}", *text_table(table)])


@with_hints
def evaluate(  # noqa: PLR0913
    df: DataFrame,
    *,
    label: str,
    scores: str | Sequence[str] | None = None,
    sample_weight: str | None = None,
    exact: bool = True,
    metrics: Sequence[str] | None = None,
    labels: Sequence[Hashable] | None = None,
    by: str | Sequence[str] | None = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
    memory_limit: int | None = None,
) -> BoundedEvaluation | SliceEvaluations:
    r"""AUC_mu, Hand & Till's M and one-vs-rest AUC of a Spark DataFrame, without collecting its rows.

    The first pass counts rows into summaries of bounded size (`multiauc.streaming.Accumulator`), which are merged in a
    tree. They give guaranteed bounds and standard errors, and the rows of each class by range of scores. With `exact`,
    a second pass sorts the rows into ranges, one task counts each range, and

    .. math:: U_{cd} = \sum_r \Bigl( U_{cd}^{(r)} + n_c^{(r)} \sum_{q < r} n_d^{(q)} \Bigr)

    adds up the pairs within and between ranges: the values are those of `multiauc.evaluate`, bit for bit.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Its rows are read twice with `exact`, so they must be the same each time: use ``df.persist()`` if they are
        random, or take long to compute.
    label : str
        The column with the class of each row: strings, or numbers such as the indices of ``StringIndexer``.
    scores : str or sequence of str, optional
        The scores: one column of arrays or of vectors (``"probability"`` of Spark's classifiers), a pattern of columns
        whose star stands for the class (``"p_*"``), or names of columns. One column of numbers is the score of the
        second of two classes. By default ``"p_*"`` or ``"y_score"``.
    sample_weight : str, optional
        The column with the weight of each row. With weights a second pass is not possible: exact values need enough
        memory for all distinct scores.
    exact : bool, default True
        Whether to read the rows again for exact values. Otherwise they lie between guaranteed bounds.
    metrics : sequence of str, default ("auc_mu", "hand_till", "one_vs_rest")
        What to compute; fewer take less time and send less between machines.
    labels : sequence of labels, optional
        The classes in the order of the scores; columns named after the classes may be in any order. Default: what the
        star of a pattern stands for, or the column names without a common prefix; 0, 1, ... for arrays and vectors.
    by : str or sequence of str, optional
        Columns whose values define slices; each slice is evaluated separately.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do about classes without rows, as in `multiauc.evaluate`.
    outputs : {"logits"} or None, default None
        "logits" if the scores are logits; the softmax is applied to each row, as in `multiauc.evaluate`.
    memory_limit : int, optional
        About how many bytes a summary may use; default: 64 MiB, 16 MiB with a second pass, 4 MiB with `by`.

    Returns
    -------
    BoundedEvaluation or SliceEvaluations
        The metrics with bounds, standard errors and intervals; with `by`, those of each slice.

    Raises
    ------
    ValueError
        If a label, score or weight is missing or invalid; the message names the column.

    See Also
    --------
    compare : Several models on the same rows.
    MulticlassAucEvaluator : The same for Spark's ``CrossValidator``.

    Notes
    -----
    multiauc must be installed on the workers. If ``PYSPARK_PYTHON`` is not set, importing this module sets it to the
    current interpreter.

    References
    ----------
    .. [1] R. Kleiman and D. Page, "AUC_mu: A performance metric for multi-class machine learning models", ICML 2019.
    .. [2] D. J. Hand and R. J. Till, "A simple generalisation of the area under the ROC curve for multiple class
       classification problems", Machine Learning 45 (2001), 171-186.

    Examples
    --------
    >>> from pyspark.sql import SparkSession
    >>> import multiauc.spark
    >>> spark = SparkSession.builder.master("local[2]").getOrCreate()
    >>> rows = [("ant", 0.7, 0.2, 0.1), ("bee", 0.2, 0.5, 0.3), ("cow", 0.3, 0.3, 0.4), ("ant", 0.4, 0.5, 0.1)]
    >>> df = spark.createDataFrame(rows, "label string, p_ant double, p_bee double, p_cow double")
    >>> multiauc.spark.evaluate(df, label="label", scores="p_*", metrics=["hand_till"]).hand_till.value
    0.9583333333333334
    """
    rows, layout = read_columns(df, label, {ONLY: scores}, sample_weight, labels, by, outputs)
    found, _ = evaluate_rows(rows, layout, metrics, absent, memory_limit, exact=exact)
    if by is None:
        return found[ONLY, ()]
    return SliceEvaluations(layout.by, {values: result for (_, values), result in found.items()})


def evaluate_rows(
    df: DataFrame, layout: Layout, metrics: Sequence[str] | None, absent: str, memory_limit: int | None, *, exact: bool
) -> tuple[Mapping[tuple[str, tuple[str | None, ...]], BoundedEvaluation], PairedSample | None]:
    """The evaluation of every model on every slice, and a sample of the rows if there are several models."""
    policy = one_of("absent", absent, ABSENT_POLICIES)
    wanted = read_metrics(DEFAULT_METRICS if metrics is None else metrics, STREAMED_METRICS)
    counts_ranges = exact and layout.sample_weight is None
    if memory_limit is None:
        memory = SLICE_MEMORY if layout.by else EXACT_MEMORY if counts_ranges else DEFAULT_MEMORY
        memory_limit = max(memory, _rust.StreamState.least_memory(len(layout.labels), list(wanted)))
    memory = positive_integer("memory_limit", memory_limit)
    empty = Accumulator(layout.labels, metrics=wanted, memory_limit=memory, outputs=layout.outputs)
    states, sample = collect_states(df, layout, empty)
    if not states:
        raise ValueError("df has no rows")
    if layout.by:
        states = {unit: state for unit, state in states.items() if (state.counts > 0).sum() > 1}
    if counts_ranges:
        results = evaluate_exactly(df, layout, empty, states, policy)
    else:
        results = {unit: state.evaluate(absent=policy) for unit, state in states.items()}
    if exact and not all(result.exact for result in results.values()):
        raise ValueError(
            f"exact=True with sample_weight={layout.sample_weight!r} needs states that hold all distinct scores, and "
            f"memory_limit={memory_limit} is too little for that: give them more, or use guaranteed bounds with "
            "exact=False"
        )
    by_unit = {}
    for unit, result in sorted(results.items()):
        model, *values = json.loads(unit)
        by_unit[model, tuple(values)] = result
    return by_unit, sample


@dataclass(frozen=True, eq=False)
class BoundedDifference(Result):
    """The difference of two models on the same rows.

    Attributes
    ----------
    value : float
        The first minus the second.
    low, high : float
        Guaranteed bounds of the exact difference of these rows.
    standard_error : float
        From both standard errors and the correlation of the two models in a random sample of at most 20,000 rows. nan
        if a class has fewer than two rows in that sample.
    standard_error_at_most : float
        The sum of both standard errors, an upper bound of that of the difference.
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
        """A normal interval for the population difference, widened by the bounds."""
        reach = NormalDist().inv_cdf(1.0 - read_level(level)) * self.standard_error
        return ConfidenceInterval(max(-1.0, self.low - reach), min(1.0, self.high + reach))


@dataclass(frozen=True, eq=False, repr=False)
class SparkComparison(Result):
    """Models that were evaluated on the same rows; see `multiauc.spark.compare`.

    Attributes
    ----------
    evaluations : dict of BoundedEvaluation
        By the name of the model.
    correlations : dict of ndarray of shape (m, m)
        The correlations between the values of the models, by metric, from a random sample of the rows; nan if the
        sample is too small.
    """

    evaluations: dict[str, BoundedEvaluation]
    correlations: dict[str, NDArray[np.float64]]

    def difference(self, a: str, b: str, metric: str = "auc_mu") -> BoundedDifference:
        """The value of model `a` minus that of `b`."""
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
        return BoundedDifference(
            first.value - second.value,
            first.bounds[0] - second.bounds[1],
            first.bounds[1] - second.bounds[0],
            math.sqrt(max(0.0, errors[0] ** 2 + errors[1] ** 2 - together)) if not math.isnan(together) else math.nan,
            errors[0] + errors[1],
        )

    def __repr__(self) -> str:
        lines = []
        for metric in next(iter(self.evaluations.values())).metrics:
            header = ["", "value", "guaranteed bounds", "std. error", "95% interval"]
            rows = [[name, *one.metrics[metric].cells()] for name, one in self.evaluations.items()]
            lines += [METRICS[metric].title, *text_table([header, *rows])]
        return "\n".join(lines)


@with_hints
def compare(  # noqa: PLR0913
    df: DataFrame,
    models: Mapping[str, str | Sequence[str]],
    *,
    label: str,
    sample_weight: str | None = None,
    exact: bool = True,
    metrics: Sequence[str] | None = None,
    labels: Sequence[Hashable] | None = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
    memory_limit: int | None = None,
) -> SparkComparison:
    """Several models on the same rows of a Spark data frame, in the same passes.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        As in `evaluate`.
    models : mapping of str to columns
        The scores of each model, as in `evaluate`: ``{"tree": "p_tree_*", "net": "probability"}``.
    label, sample_weight, exact, metrics, labels, absent, outputs, memory_limit
        As in `evaluate`.

    Returns
    -------
    SparkComparison
        The evaluation of each model, and their differences with guaranteed bounds.
    """
    if not hasattr(models, "items") or not models:
        raise TypeError(f"models must be a mapping of names to columns of scores; got {describe_type(models)}")
    rows, layout = read_columns(df, label, dict(models), sample_weight, labels, None, outputs)
    found, sample = evaluate_rows(rows, layout, metrics, absent, memory_limit, exact=exact)
    evaluations = {name: found[name, ()] for name in models}
    wanted = next(iter(evaluations.values())).metrics
    return SparkComparison(evaluations, {metric: _correlate(sample, len(models), metric) for metric in wanted})


def _correlate(sample: PairedSample | None, n_models: int, metric: Any) -> NDArray[np.float64]:
    """How the values of the models vary together in a sample."""
    if sample is None:
        return np.ones((n_models, n_models))
    codes, weights = sample.columns["code"], sample.columns.get("weight")
    sizes = np.bincount(codes if weights is None else codes[weights > 0])
    if sizes[sizes > 0].min() < 2 or (sizes > 0).sum() < 2:
        return np.full((n_models, n_models), np.nan)
    n_classes = next(iter(sample.scores.values())).shape[1]
    with warnings.catch_warnings():
        # One score per row stands for two, which do not sum to 1; for the correlation that makes no difference.
        warnings.filterwarnings("ignore", message="models differ in what their scores are")
        covariance = compare_in_memory(
            codes, sample.scores, metric=metric, sample_weight=weights, labels=range(n_classes), absent="ignore"
        ).covariance
    spread = np.sqrt(np.diagonal(covariance))
    with np.errstate(invalid="ignore", divide="ignore"):
        found: NDArray[np.float64] = covariance / np.outer(spread, spread)
    return found


def _text_param(name: str, about: str, words: Sequence[str]) -> Param[str]:
    """A parameter that is one of some words."""
    return Param(Params._dummy(), name, f"{about}: {', '.join(words)}", typeConverter=TypeConverters.toString)  # noqa: SLF001


# Spark names parameters and the methods of its evaluators in this way, and finds them by these names.
class MulticlassAucEvaluator(
    Evaluator,  # type: ignore[misc] # the classes of pyspark are not known where types are checked
    HasLabelCol,  # type: ignore[misc]
    HasProbabilityCol,  # type: ignore[misc]
    HasWeightCol,  # type: ignore[misc]
    DefaultParamsReadable,  # type: ignore[misc]
    DefaultParamsWritable,  # type: ignore[misc]
):
    """AUC_mu, Hand & Till's M or one-vs-rest of the predictions of Spark's classifiers, for ``CrossValidator``.

    Parameters
    ----------
    labelCol : str, default "label"
        The column of class indices 0, 1, ..., as ``StringIndexer`` makes them.
    probabilityCol : str, default "probability"
        The column of probabilities: vectors or arrays.
    metricName : str, default "auc_mu"
        ``"auc_mu"``, ``"hand_till"``, ``"one_vs_rest"`` or ``"one_vs_rest_prevalence"``.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do about classes without rows, which are common in folds with rare classes.
    weightCol : str, optional
        The column of weights. Values are exact without weights; with weights they are the midpoint of guaranteed
        bounds.

    Examples
    --------
    ``CrossValidator(estimator=..., evaluator=MulticlassAucEvaluator(metricName="hand_till"), ...)``
    """

    metricName: Param[str] = _text_param("metricName", "the metric", STREAMED_METRICS)  # noqa: N815 - Spark's way
    absent: Param[str] = _text_param("absent", "what to do about classes without rows", ABSENT_POLICIES)

    @keyword_only  # type: ignore[untyped-decorator]
    def __init__(
        self,
        *,
        labelCol: str = "label",  # noqa: ARG002, N803
        probabilityCol: str = "probability",  # noqa: ARG002, N803
        metricName: str = "auc_mu",  # noqa: ARG002, N803
        absent: str = "raise",  # noqa: ARG002
        weightCol: str | None = None,  # noqa: ARG002, N803
    ) -> None:
        super().__init__()
        self._setDefault(metricName="auc_mu", absent="raise")
        given = {name: value for name, value in self._input_kwargs.items() if value is not None}
        self._set(**given)
        one_of("metricName", self.getMetricName(), STREAMED_METRICS)
        one_of("absent", self.getOrDefault(self.absent), ABSENT_POLICIES)

    def getMetricName(self) -> str:  # noqa: N802
        """The metric."""
        return str(self.getOrDefault(self.metricName))

    def setMetricName(self, value: str) -> MulticlassAucEvaluator:  # noqa: N802
        """Choose the metric."""
        self._set(metricName=one_of("metricName", value, STREAMED_METRICS))
        return self

    def setLabelCol(self, value: str) -> MulticlassAucEvaluator:  # noqa: N802
        """Choose the column of labels."""
        self._set(labelCol=value)
        return self

    def setProbabilityCol(self, value: str) -> MulticlassAucEvaluator:  # noqa: N802
        """Choose the column of probabilities."""
        self._set(probabilityCol=value)
        return self

    def setWeightCol(self, value: str) -> MulticlassAucEvaluator:  # noqa: N802
        """Choose the column of weights."""
        self._set(weightCol=value)
        return self

    def isLargerBetter(self) -> bool:  # noqa: N802
        """Larger values are better."""
        return True

    def _evaluate(self, dataset: DataFrame) -> float:
        weight = self.getWeightCol() if self.isSet(self.weightCol) else None
        found: Any = evaluate(
            dataset,
            label=self.getLabelCol(),
            scores=self.getProbabilityCol(),
            sample_weight=weight,
            exact=weight is None,
            metrics=[self.getMetricName()],
            absent=self.getOrDefault(self.absent),
        )
        return float(found.metrics[self.getMetricName()].value)
