"""Estimators, data and a splitter in, an evaluation or a comparison within folds out."""

import numpy as np
import pytest

import multiauc

pytest.importorskip("sklearn")
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from multiauc.sklearn import cross_validate_comparison, cross_validate_evaluation


@pytest.fixture(scope="module")
def data():
    x, y = make_classification(300, 8, n_informative=5, n_classes=3, random_state=1)
    return x, np.array(["b", "a", "c"])[y]


def folds_of(splitter, x, y, groups=None):
    folds = np.zeros(len(y), int)
    for fold, (_, test) in enumerate(splitter.split(x, y, groups)):
        folds[test] = fold
    return folds


def test_scores_are_those_of_models_that_did_not_see_the_row(data):
    x, y = data
    splitter = StratifiedKFold(4)
    scores = {
        name: cross_val_predict(model, x, y, cv=splitter, method="predict_proba")
        for name, model in (("bayes", GaussianNB()), ("logistic", LogisticRegression()))
    }
    folds = folds_of(splitter, x, y)
    models = {"bayes": GaussianNB(), "logistic": LogisticRegression()}
    found = cross_validate_comparison(models, x, y, cv=splitter, metric="hand_till")
    expected = multiauc.compare(y, scores, folds=folds, metric="hand_till")
    assert repr(found) == repr(expected)
    assert found.differences[0].p_value == expected.differences[0].p_value
    alone = cross_validate_evaluation(GaussianNB(), x, y, cv=splitter, sampling="iid")
    assert repr(alone) == repr(multiauc.evaluate(y, scores["bayes"], folds=folds, sampling="iid"))


def test_groups_go_to_the_splitter_and_to_the_standard_errors(data):
    x, y = data
    groups = np.arange(300) // 3
    folds = folds_of(GroupKFold(3), x, y, groups)
    scores = cross_val_predict(GaussianNB(), x, y, cv=GroupKFold(3), groups=groups, method="predict_proba")
    found = cross_validate_evaluation(GaussianNB(), x, y, cv=GroupKFold(3), groups=groups)
    assert found.auc_mu.standard_error == multiauc.evaluate(y, scores, folds=folds, groups=groups).auc_mu.standard_error


def test_decision_values_of_two_classes(data):
    x, y = data
    kept = y != "c"
    found = cross_validate_evaluation(LinearSVC(), x[kept], y[kept], cv=3)
    scores = cross_val_predict(LinearSVC(), x[kept], y[kept], cv=3, method="decision_function")
    folds = folds_of(StratifiedKFold(3), x[kept], y[kept])
    assert found.auc_mu.value == multiauc.evaluate(y[kept], scores, folds=folds).auc_mu.value


def test_what_cannot_be_cross_validated(data):
    x, y = data
    with pytest.raises(
        ValueError,
        match="once in each repeat as RepeatedStratifiedKFold does; it tests row",
    ):
        cross_validate_evaluation(GaussianNB(), x, y, cv=ShuffleSplit(3, random_state=0))
    order = np.argsort(y, kind="stable")
    with pytest.raises(ValueError, match=r"train on every class in every fold; a training set has none of '[abc]'"):
        cross_validate_evaluation(GaussianNB(), x[order], y[order], cv=KFold(3))
    with pytest.raises(TypeError, match="estimators must be a dict"):
        cross_validate_comparison([GaussianNB(), LogisticRegression()], x, y)
    with pytest.raises(TypeError, match="predict_proba or decision_function"):
        cross_validate_evaluation(object(), x, y)
    assert cross_validate_evaluation(Perceptron(), x, y).auc_mu.value > 0.5
