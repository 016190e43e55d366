"""An evaluator for Spark's own model selection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark import keyword_only
from pyspark.ml.evaluation import Evaluator
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import HasLabelCol, HasProbabilityCol, HasWeightCol
from pyspark.ml.util import DefaultParamsReadable, DefaultParamsWritable

from multiauc._common.wording import one_of
from multiauc._input.sample import ABSENT_POLICIES
from multiauc.spark.evaluation import evaluate
from multiauc.streaming import STREAMED_METRICS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


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

    metricName: Param[str] = Param(  # noqa: N815 - Spark's way
        Params._dummy(),  # noqa: SLF001
        "metricName",
        f"the metric: {', '.join(STREAMED_METRICS)}",
        typeConverter=TypeConverters.toString,
    )
    absent: Param[str] = Param(
        Params._dummy(),  # noqa: SLF001
        "absent",
        f"what to do about classes without rows: {', '.join(ABSENT_POLICIES)}",
        typeConverter=TypeConverters.toString,
    )

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
