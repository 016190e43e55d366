"""Scorers for scikit-learn's model selection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.metrics._scorer import _BaseScorer

from multiauc._metrics import metric_function

if TYPE_CHECKING:
    from collections.abc import Callable


class AucScorer(_BaseScorer):  # type: ignore[misc]
    """A metric of this library as ``scoring=`` of `cross_validate`, `GridSearchCV` and their like.

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

    def __init__(self, metric: str = "auc_mu", **options: Any) -> None:
        self.metric = metric
        super().__init__(metric_function(metric), 1, options, ("predict_proba", "decision_function"))

    def _score(self, method_caller: Callable[..., Any], estimator: Any, X: Any, y_true: Any, **passed: Any) -> float:  # noqa: N803
        response = next((name for name in self._response_method if hasattr(estimator, name)), None)
        if response is None:
            raise TypeError(f"estimator must have predict_proba or decision_function; got {estimator!r}")
        y_score = method_caller(estimator, response, X, pos_label=None)
        options = {"labels": estimator.classes_, **self._kwargs, **passed}
        value: float = self._score_func(y_true, y_score, **options)
        return value

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self._kwargs.items())
        return f"AucScorer({self.metric!r}{options})"


auc_mu_scorer = AucScorer("auc_mu")
hand_till_scorer = AucScorer("hand_till")
one_vs_rest_scorer = AucScorer("one_vs_rest")
one_vs_rest_prevalence_scorer = AucScorer("one_vs_rest_prevalence")
