"""For scikit-learn's model selection: scorers, and cross-validation that gives metrics with intervals and tests."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics._scorer import _BaseScorer
from sklearn.model_selection import check_cv
from sklearn.utils import indexable
from sklearn.utils._indexing import _safe_indexing

from multiauc._common.registry import DEFAULT_METRIC, METRICS
from multiauc._common.wording import describe_type, listing
from multiauc._evaluation.comparison import compare
from multiauc._evaluation.evaluation import evaluate
from multiauc._evaluation.runs import compare_repeats, evaluate_repeats
from multiauc._input.options import read_metric
from multiauc._input.sample import SCORING, find_response
from multiauc._metrics.scoring import check_option_names, compute_score

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from multiauc._common.registry import MetricName
    from multiauc._evaluation.comparison import Comparison
    from multiauc._evaluation.evaluation import Evaluation
    from multiauc._evaluation.runs import RunsComparison, RunsEvaluation


class ScoreFunction:
    """A metric as a function of labels and scores, with a name of its own for those who read it from a scorer."""

    def __init__(self, metric: str) -> None:
        self.metric = self.__name__ = metric

    def __call__(self, y_true: Any, y_score: Any, **options: Any) -> float:
        """The value; `options` are those of the metric."""
        return compute_score(self.metric, y_true, y_score, **options)

    def __repr__(self) -> str:
        return self.metric


class AucScorer(_BaseScorer):  # type: ignore[misc]
    """A metric of this library as ``scoring=`` of `cross_validate`, `GridSearchCV` and similar functions.

    It uses the probabilities of a fitted classifier (or its decision values, if it has no probabilities) and its
    classes, so labels may be strings, and a fold without a class is noticed.

    Parameters
    ----------
    metric : {"auc_mu", "hand_till", "one_vs_rest", "one_vs_rest_prevalence"}
        What to compute.
    **options
        Options of `auc_mu_score`, `hand_till_score` or `one_vs_rest_score`, such as ``absent="ignore"`` for folds that
        lack a class, or ``partition=``. Pass ``labels=`` for libraries that call the score function without the
        estimator (skore), because a class may be missing from the test rows.

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
        super().__init__(ScoreFunction(self.metric), sign, kept, SCORING)

    def _score(self, method_caller: Callable[..., Any], estimator: Any, X: Any, y_true: Any, **passed: Any) -> float:  # noqa: N803
        y_score = method_caller(estimator, find_response(estimator, "estimator"), X, pos_label=None)
        # The columns are those of the estimator's classes; labels are for callers that do not know these.
        labels = self._kwargs.get("labels")
        known = estimator.classes_.tolist()
        if labels is not None and set(np.asarray(labels).tolist()) != set(known):
            raise ValueError(f"labels must be the classes of the estimator, {listing(known)}; got {listing(labels)}")
        value: float = self._score_func(y_true, y_score, **{**self._kwargs, **passed, "labels": estimator.classes_})
        return float(self._sign) * value

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self._kwargs.items())
        return f"AucScorer({self.metric!r}{options})"


auc_mu_scorer = AucScorer("auc_mu")
hand_till_scorer = AucScorer("hand_till")
one_vs_rest_scorer = AucScorer("one_vs_rest")
one_vs_rest_prevalence_scorer = AucScorer("one_vs_rest_prevalence")


def cross_validate_evaluation(
    estimator: Any,
    X: Any,  # noqa: N803
    y: ArrayLike,
    *,
    cv: Any = None,
    metrics: Sequence[str] | None = None,
    groups: ArrayLike | None = None,
    **options: Any,
) -> Evaluation | RunsEvaluation:
    r"""Cross-validate a classifier, and evaluate it within the folds.

    Parameters
    ----------
    estimator : classifier
        With `predict_proba` or `decision_function`. Every fold fits a clone of it.
    X, y : array-like
        The data.
    cv : int, splitter or iterable, optional
        As in scikit-learn's `cross_validate`: by default five stratified folds. It must test every row once, or once in
        every repeat, as `RepeatedStratifiedKFold` does.
    metrics : sequence of str, optional
        As in `multiauc.evaluate`.
    groups : array-like of shape (n,), optional
        The group of each row, for the splitter and for the standard errors.
    **options
        Further options of `multiauc.evaluate`, such as `sample_weight` (of the evaluation, not of the fits) or
        `partition`.

    Returns
    -------
    Evaluation
        Averages over folds. Intervals are conditional on the fitted models; they do not include the variance of
        retraining. A repeated cross-validation returns a `RunsEvaluation` with the larger of two standard errors: that
        of the rows, averaged over repeats, and Nadeau and Bengio's [1]_ of the folds, :math:`(1/J +
        n_\text{test}/n_\text{train})\, s^2`, which includes retraining. It supports AUC_mu, M and one-vs-rest, without
        `groups` or further options.

    References
    ----------
    .. [1] C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning 52 (2003), 239-281.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from multiauc.sklearn import cross_validate_evaluation
    >>> X, y = load_iris(return_X_y=True)
    >>> round(cross_validate_evaluation(GaussianNB(), X, y, metrics=["auc_mu"]).auc_mu.value, 4)
    0.9933
    """
    labels, folds, (scores,) = _predict_out_of_fold([estimator], X, y, cv, groups)
    if len(folds) > 1:
        _refuse_beside_repeats(groups=groups, **options)
        return evaluate_repeats(y, scores, folds, labels, metrics)
    return evaluate(y, scores[0], metrics=metrics, groups=groups, folds=folds[0], labels=labels, **options)


def cross_validate_comparison(
    estimators: Mapping[Hashable, Any],
    X: Any,  # noqa: N803
    y: ArrayLike,
    *,
    cv: Any = None,
    metric: MetricName = DEFAULT_METRIC,
    groups: ArrayLike | None = None,
    **options: Any,
) -> Comparison | RunsComparison:
    """Cross-validate classifiers on the same folds, and compare them within the folds.

    Parameters
    ----------
    estimators : dict of classifiers
        By name, at least two; see `cross_validate_evaluation`.
    X, y, cv, groups
        As in `cross_validate_evaluation`.
    metric : str, default "auc_mu"
        What to compare, as in `multiauc.compare`.
    **options
        Further options of `multiauc.compare`.

    Returns
    -------
    Comparison
        Averages over folds with differences, intervals and paired tests, conditional on the fitted models. A repeated
        cross-validation returns a `RunsComparison`, as in `cross_validate_evaluation`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from multiauc.sklearn import cross_validate_comparison
    >>> X, y = load_iris(return_X_y=True)
    >>> models = {"bayes": GaussianNB(), "stump": DecisionTreeClassifier(max_depth=1, random_state=0)}
    >>> difference = cross_validate_comparison(models, X, y).difference("bayes", "stump")
    >>> difference.value > 0.1, difference.p_value < 1e-4
    (True, True)
    """
    if not isinstance(estimators, Mapping):
        raise TypeError(
            f"estimators must be a dict from the name of each to the classifier; got {describe_type(estimators)}"
        )
    labels, folds, scores = _predict_out_of_fold(list(estimators.values()), X, y, cv, groups)
    if len(folds) > 1:
        _refuse_beside_repeats(groups=groups, **options)
        return compare_repeats(y, dict(zip(estimators, scores, strict=True)), folds, labels, metric)
    models = {name: of_repeats[0] for name, of_repeats in zip(estimators, scores, strict=True)}
    return compare(y, models, metric=metric, groups=groups, folds=folds[0], labels=labels, **options)


def _refuse_beside_repeats(**options: Any) -> None:
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise ValueError(f"{listing(given)} is not offered with repeated cross-validation; leave it, or repeat once")


def _predict_out_of_fold(
    estimators: list[Any], features: Any, y: Any, cv: Any, groups: Any
) -> tuple[list[Any], list[NDArray[np.int64]], list[list[NDArray[np.float64]]]]:
    """(labels, fold of each row, scores of each estimator), the last two by repeat; no clone saw the rows it scores."""
    features, y, groups = indexable(features, y, groups)
    labels = np.unique(np.asarray(y)).tolist()
    repeats, folds = _part_repeats(check_cv(cv, y, classifier=True).split(features, y, groups), len(y))
    return labels, folds, [[_predict_scores(one, features, y, part, labels) for part in repeats] for one in estimators]


def _part_repeats(
    splits: Iterable[tuple[Any, Any]], n_rows: int
) -> tuple[list[list[tuple[Any, Any]]], list[NDArray[np.int64]]]:
    """The splits of each repeat, which ends where all rows have been tested, and the fold of each row in it."""
    repeats: list[list[tuple[Any, Any]]] = []
    folds: list[NDArray[np.int64]] = []
    for split in splits:
        if not folds or (folds[-1] >= 0).all():
            repeats, folds = [*repeats, []], [*folds, np.full(n_rows, -1)]
        rows = np.arange(n_rows)[split[1]]
        _refuse_uneven(rows[folds[-1][rows] >= 0], "twice")
        folds[-1][rows] = len(repeats[-1])
        repeats[-1].append(split)
    _refuse_uneven(np.flatnonzero(folds[-1] < 0), "never")
    return repeats, folds


def _refuse_uneven(rows: NDArray[np.intp], found: str) -> None:
    if len(rows):
        rule = "cv must test every row once, or once in each repeat as RepeatedStratifiedKFold does"
        raise ValueError(f"{rule}; it tests row {rows[0]} {found}")


def _predict_scores(
    estimator: Any, features: Any, y: Any, splits: list[tuple[Any, Any]], labels: list[Any]
) -> NDArray[np.float64]:
    response = find_response(estimator, "estimators")
    scores = np.full((len(np.asarray(y)), len(labels)), np.nan)
    for train, test in splits:
        fitted = clone(estimator).fit(_safe_indexing(features, train), _safe_indexing(y, train))
        found = np.asarray(getattr(fitted, response)(_safe_indexing(features, test)), dtype=np.float64)
        if found.ndim == 1:  # the decision value of the second of two classes
            found = np.stack([-found, found], axis=1)
        known = fitted.classes_.tolist()
        missing = [label for label in labels if label not in known]
        if missing:
            raise ValueError(
                f"cv must train on every class in every fold; a training set has none of {listing(missing)}"
            )
        if found.shape[1] != len(known):
            raise ValueError(
                f"estimators must give a score for each class, {len(known)} columns; "
                f"{response} of {estimator!r} gave shape {found.shape}"
            )
        scores[test] = found[:, [known.index(label) for label in labels]]
    return scores
