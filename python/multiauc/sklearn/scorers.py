"""Scorers for scikit-learn's model selection."""

from __future__ import annotations

from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any

from sklearn.metrics._scorer import _BaseScorer

from multiauc._common.registry import AUC_MU, DEFAULT_METRIC, HAND_TILL, METRICS, ONE_VS_REST, ONE_VS_REST_PREVALENCE
from multiauc._input.options import read_metric
from multiauc._metrics.scoring import check_option_names, score_by_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from multiauc._common.registry import MetricName


class AucScorer(_BaseScorer):  # type: ignore[misc]
    """A metric of this library as ``scoring=`` of `cross_validate`, `GridSearchCV` and similar functions.

    It reads the probabilities of a fitted classifier (its decision values, if it has no probabilities) and takes the
    classes of the columns from it, so that labels may be strings, and a fold that lacks a class is noticed.

    Parameters
    ----------
    metric : {"auc_mu", "hand_till", "one_vs_rest", "one_vs_rest_prevalence"}
        What to compute.
    **options
        Options of `auc_mu_score`, `hand_till_score` or `one_vs_rest_score`, such as ``absent="ignore"`` for folds that
        lack a class, or ``partition=``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from multiauc.sklearn import AucScorer, auc_mu_scorer
    >>> X, y = load_iris(return_X_y=True)
    >>> cross_val_score(GaussianNB(), X, y, scoring=auc_mu_scorer).mean().round(4)
    np.float64(0.9933)
    >>> AucScorer("auc_mu", partition=[[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    AucScorer('auc_mu', partition=[[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    """

    def __init__(self, metric: MetricName = DEFAULT_METRIC, **options: Any) -> None:
        self.metric = read_metric(metric)
        check_option_names(metric, options)
        kept = deepcopy(options)  # a matrix among them may change later
        # Of losses scikit-learn maximises the negative.
        sign = 1 if METRICS[self.metric].higher_is_better else -1
        super().__init__(partial(score_by_name, metric), sign, kept, ("predict_proba", "decision_function"))

    def _score(self, method_caller: Callable[..., Any], estimator: Any, X: Any, y_true: Any, **passed: Any) -> float:  # noqa: N803
        response = next((name for name in self._response_method if hasattr(estimator, name)), None)
        if response is None:
            raise TypeError(f"estimator must have predict_proba or decision_function; got {estimator!r}")
        y_score = method_caller(estimator, response, X, pos_label=None)
        options = {"labels": estimator.classes_, **self._kwargs, **passed}
        value: float = self._score_func(y_true, y_score, **options)
        return float(self._sign) * value

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self._kwargs.items())
        return f"AucScorer({self.metric!r}{options})"


auc_mu_scorer = AucScorer(AUC_MU)
hand_till_scorer = AucScorer(HAND_TILL)
one_vs_rest_scorer = AucScorer(ONE_VS_REST)
one_vs_rest_prevalence_scorer = AucScorer(ONE_VS_REST_PREVALENCE)
