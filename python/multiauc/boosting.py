"""Metrics for LightGBM, XGBoost, CatBoost and AutoGluon: to watch during training, and for early stopping.

Each library calls its metric after every round with the scores of all rows, the labels and the weights. `auc_mu` is
defined by probabilities: where a library hands over raw scores (CatBoost always does, the others with a custom
objective), they are turned into probabilities first. The values are those of `auc_mu_score`, `hand_till_score` and
`one_vs_rest_score` for the model's probabilities. None of the libraries is imported
before it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from multiauc._common.registry import DEFAULT_METRIC, METRICS
from multiauc._input.arrays import as_scores
from multiauc._input.options import read_metric
from multiauc.training.batches import TrainingMetric

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from multiauc._common.registry import MetricName
    from multiauc._common.types import TrainingOutputs

__all__ = [
    "CatBoostMetric",
    "LightGBMMetric",
    "XGBoostMetric",
    "autogluon_metric",
    "catboost_metric",
    "lightgbm_metric",
    "xgboost_metric",
]


class _BoosterMetric(TrainingMetric):
    """A metric and the name by which a library shows it."""

    def __init__(self, metric: str, outputs: str | None, options: dict[str, Any]) -> None:
        super().__init__(metric, outputs, options)
        self.__name__ = _shown_name(self.metric)

    def score_predictions(self, codes: Any, scores: NDArray[Any], weights: Any) -> float:
        """The value for all rows."""
        return self.value(codes, self.probabilities("the predictions", scores), weights)

    def __deepcopy__(self, _memo: object) -> Self:
        """Itself, as it never changes: models that copy their parameters can be cloned."""
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.settings()})"


class LightGBMMetric(_BoosterMetric):
    """What `lightgbm_metric` returns.

    Examples
    --------
    >>> import numpy as np
    >>> from multiauc.boosting import lightgbm_metric
    >>> y_score = np.array([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]])
    >>> metric = lightgbm_metric("one_vs_rest", absent="ignore")
    >>> metric
    LightGBMMetric('one_vs_rest', outputs='probabilities', absent='ignore')
    >>> metric(np.array([0, 1, 2]), y_score)
    ('auc_one_vs_rest', 1.0, True)
    """

    def __call__(self, first: Any, second: Any, weight: Any = None) -> tuple[str, float, bool]:
        """(name, value, whether more is better) of (scores, Dataset), or of (labels, scores, weights)."""
        if hasattr(second, "get_label"):
            first, second, weight = second.get_label(), first, second.get_weight()
        value = self.score_predictions(first, second, weight)
        return self.__name__, value, METRICS[self.metric].higher_is_better


class XGBoostMetric(_BoosterMetric):
    """What `xgboost_metric` returns.

    Examples
    --------
    >>> import numpy as np
    >>> from multiauc.boosting import xgboost_metric
    >>> y_score = np.array([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]])
    >>> metric = xgboost_metric("hand_till")
    >>> metric
    XGBoostMetric('hand_till', outputs='probabilities')
    >>> metric(np.array([0, 1, 2]), y_score)
    1.0
    """

    def __call__(self, first: Any, second: Any, sample_weight: Any = None) -> tuple[str, float] | float:
        """(name, value) of (scores, DMatrix); the value alone of (labels, scores), as XGBClassifier calls it."""
        if hasattr(second, "get_label"):
            weight = second.get_weight()
            return self.__name__, self._score_xgboost(second.get_label(), first, weight if len(weight) else None)
        return self._score_xgboost(first, second, sample_weight)

    def _score_xgboost(self, codes: Any, scores: NDArray[Any], weights: Any) -> float:
        if scores.ndim == 1 and len(scores) and np.max(codes) > 1:
            raise ValueError(
                "the predictions must have a column per class; got one number per row for more than two classes, "
                "as the objective multi:softmax gives them: use multi:softprob"
            )
        return self.score_predictions(codes, scores, weights)


class CatBoostMetric(_BoosterMetric):
    """What `catboost_metric` returns. CatBoost shows the name of the class, so each metric is given one of its own.

    Examples
    --------
    >>> from multiauc.boosting import catboost_metric
    >>> metric = catboost_metric("hand_till")
    >>> metric
    auc_hand_till('hand_till', outputs='logits')
    >>> metric.is_max_optimal()
    True
    """

    #: CatBoost would try, and fail, to compile the metric with numba.
    no_jit = True

    def evaluate(self, approxes: Any, target: Any, weight: Any) -> tuple[float, float]:
        """(value, 1) of one array of raw scores per class (a single array for two classes)."""
        scores = as_scores("the predictions", np.asarray(approxes)).T
        return self.score_predictions(target, scores[:, 0] if scores.shape[1] == 1 else scores, weight), 1.0

    def get_final_error(self, error: float, weight: float) -> float:
        """The value itself."""
        return error / weight

    def __reduce__(self) -> tuple[Any, ...]:
        # Its class is created at run time, so pickle cannot find it by name.
        return _make_catboost_metric, (self.metric, self.outputs, self.options)

    def is_max_optimal(self) -> bool:
        """Whether more is better."""
        return METRICS[self.metric].higher_is_better


def lightgbm_metric(
    metric: MetricName = DEFAULT_METRIC, *, outputs: TrainingOutputs = "probabilities", **options: Any
) -> LightGBMMetric:
    """A metric for ``lightgbm.train(feval=...)`` and ``LGBMClassifier.fit(eval_metric=...)``.

    LightGBM's early stopping treats it as a metric to maximise. Switch LightGBM's own metric off, by ``metric="None"``
    among the parameters of ``lightgbm.train`` or of ``LGBMClassifier``: otherwise training stops as soon as one of the
    two no longer improves, and that is usually LightGBM's.

    Parameters
    ----------
    metric : {"auc_mu", "hand_till", "one_vs_rest", "one_vs_rest_prevalence"}, default "auc_mu"
        What to compute. LightGBM shows it as ``auc_mu``, ``auc_hand_till``, ``auc_one_vs_rest`` or
        ``auc_one_vs_rest_prevalence``. (LightGBM's own ``auc_mu`` ranks raw scores, not probabilities: another number.)
    outputs : {"probabilities", "logits", "one_vs_all_logits"} or None, default "probabilities"
        What LightGBM hands over: probabilities with its own objectives, logits with a custom objective.
    **options
        Options of the metric, such as ``absent="ignore"`` or ``partition=``.

    Returns
    -------
    LightGBMMetric
        A function of LightGBM's arguments; the weights of the data set count.

    Examples
    --------
    >>> import numpy as np
    >>> from multiauc.boosting import lightgbm_metric
    >>> y_score = np.array([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]])
    >>> lightgbm_metric("hand_till")(np.array([0, 1, 2]), y_score)
    ('auc_hand_till', 1.0, True)
    """
    return LightGBMMetric(metric, outputs, options)


def xgboost_metric(
    metric: MetricName = DEFAULT_METRIC, *, outputs: TrainingOutputs = "probabilities", **options: Any
) -> XGBoostMetric:
    """A metric for ``xgboost.train(custom_metric=...)`` and ``XGBClassifier(eval_metric=...)``.

    XGBoost's early stopping goes by the last metric, which this one is, and maximises metrics whose names begin with
    ``auc``, as these do.

    Parameters
    ----------
    metric : {"auc_mu", "hand_till", "one_vs_rest", "one_vs_rest_prevalence"}, default "auc_mu"
        What to compute. XGBoost shows it as ``auc_mu``, ``auc_hand_till``, ``auc_one_vs_rest`` or
        ``auc_one_vs_rest_prevalence``.
    outputs : {"probabilities", "logits", "one_vs_all_logits"} or None, default "probabilities"
        What XGBoost hands over: probabilities with the objective ``multi:softprob``, logits with a custom objective.
        (``multi:softmax`` hands over classes, which have no AUC.)
    **options
        Options of the metric, such as ``absent="ignore"`` or ``partition=``.

    Returns
    -------
    XGBoostMetric
        A function of XGBoost's arguments; the weights of the DMatrix count.

    Examples
    --------
    >>> import numpy as np
    >>> from multiauc.boosting import xgboost_metric
    >>> y_score = np.array([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]])
    >>> xgboost_metric()(np.array([0, 1, 2]), y_score)
    1.0
    """
    return XGBoostMetric(metric, outputs, options)


def catboost_metric(
    metric: MetricName = DEFAULT_METRIC, *, outputs: TrainingOutputs = "logits", **options: Any
) -> CatBoostMetric:
    """A metric for ``CatBoostClassifier(eval_metric=...)``.

    CatBoost's overfitting detector treats it as a metric to maximise.

    Parameters
    ----------
    metric : {"auc_mu", "hand_till", "one_vs_rest", "one_vs_rest_prevalence"}, default "auc_mu"
        What to compute. CatBoost shows it as ``auc_mu``, ``auc_hand_till``, ``auc_one_vs_rest`` or
        ``auc_one_vs_rest_prevalence``.
    outputs : {"probabilities", "logits", "one_vs_all_logits"} or None, default "logits"
        What CatBoost hands over: logits with the loss ``MultiClass``, a logit for each class against the rest with
        ``MultiClassOneVsAll``.
    **options
        Options of the metric, such as ``absent="ignore"`` or ``partition=``.

    Returns
    -------
    CatBoostMetric
        An object with the methods that CatBoost calls; the weights of the Pool count.

    Examples
    --------
    >>> from multiauc.boosting import catboost_metric
    >>> catboost_metric().evaluate([[2.0, 0.1, 0.3], [0.0, 1.2, 0.4], [0.0, -1.0, 1.1]], [0, 1, 2], None)
    (1.0, 1.0)
    """
    return _make_catboost_metric(metric, outputs, options)


class _AutoGluonMetric(_BoosterMetric):
    """A function of AutoGluon's class numbers and probabilities."""

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> float:
        """The value; `y_pred` has a column per class, or is the probability of the second of two."""
        return self.score_predictions(y_true, as_scores("the predictions", y_pred), sample_weight)


def autogluon_metric(metric: MetricName = DEFAULT_METRIC, **options: Any) -> Any:
    """A metric for ``TabularPredictor(eval_metric=...)`` of AutoGluon.

    AutoGluon calls its metrics with class numbers and a column of probabilities for every class of the training data,
    so ``absent="ignore"`` works where validation rows lack a class.

    Parameters
    ----------
    metric : {"auc_mu", "hand_till", "one_vs_rest", "one_vs_rest_prevalence"}, default "auc_mu"
        What to compute; further metrics of `multiauc.evaluate` work too.
    **options
        Options of the metric, such as ``absent="ignore"`` or ``partition=``.

    Returns
    -------
    autogluon.core.metrics.Scorer
        As AutoGluon's ``make_scorer`` makes it; losses are negated there, as AutoGluon's own are.

    Examples
    --------
    >>> from multiauc.boosting import autogluon_metric
    >>> predictor = TabularPredictor("label", eval_metric=autogluon_metric())  # doctest: +SKIP
    """
    from autogluon.core.metrics import make_scorer  # noqa: PLC0415

    function = _AutoGluonMetric(metric, "probabilities", options)
    is_gain = METRICS[function.metric].higher_is_better
    return make_scorer(function.__name__, function, optimum=int(is_gain), greater_is_better=is_gain, needs_proba=True)


def _make_catboost_metric(metric: str, outputs: str | None, options: dict[str, Any]) -> CatBoostMetric:
    kind: type[CatBoostMetric] = type(_shown_name(read_metric(metric)), (CatBoostMetric,), {})
    return kind(metric, outputs, options)


def _shown_name(metric: str) -> str:
    """Beginning with "auc" where more is better, by which XGBoost knows that."""
    return metric if metric.startswith("auc") or not METRICS[metric].higher_is_better else f"auc_{metric}"
