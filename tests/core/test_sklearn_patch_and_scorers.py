"""`multiauc.sklearn.patch`, and the scorers in scikit-learn's model selection."""

import functools
import pickle
import subprocess
import sys
import types

import joblib
import numpy as np
import pytest
import sklearn.metrics
from sklearn.datasets import load_iris, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.metrics import roc_auc_score as imported_under_another_name
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import multiauc
import multiauc.sklearn
from multiauc.sklearn import (
    AucScorer,
    auc_mu_scorer,
    hand_till_scorer,
    one_vs_rest_prevalence_scorer,
    one_vs_rest_scorer,
    patch,
    roc_auc_score,
)

original = functools.partial(imported_under_another_name)  # not a place that `patch` looks into
SCORERS = {
    "auc_mu": auc_mu_scorer,
    "hand_till": hand_till_scorer,
    "one_vs_rest": one_vs_rest_scorer,
    "one_vs_rest_prevalence": one_vs_rest_prevalence_scorer,
}


@pytest.fixture(scope="module")
def iris():
    features, codes = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    return features + rng.normal(size=features.shape), np.array(["setosa", "versicolor", "virginica"])[codes]


# patch


def is_patched():
    return (
        sklearn.metrics.roc_auc_score is roc_auc_score
        and imported_under_another_name is roc_auc_score
        and all(get_scorer(name)._score_func is roc_auc_score for name in ("roc_auc", "roc_auc_ovr", "roc_auc_ovo"))
    )


def is_original():
    return (
        sklearn.metrics.roc_auc_score is original.func
        and imported_under_another_name is original.func
        and get_scorer("roc_auc_ovo_weighted")._score_func is original.func
    )


def test_patch_as_a_context():
    assert is_original()
    with patch() as patched:
        assert is_patched()
        assert "roc_auc_score" in repr(patched)
    assert is_original()


def test_patch_is_undone_when_the_block_fails():
    with pytest.raises(KeyError), patch():
        raise KeyError
    assert is_original()


def test_patch_as_a_switch():
    patched = patch()
    try:
        assert is_patched()
        with patch():  # nothing is left to replace, so nothing is undone
            assert is_patched()
        assert is_patched()
    finally:
        patched.undo()
    assert is_original()
    patched.undo()
    assert is_original()


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 0, 2], [0, 0, 2, 1]])
def test_several_patches_are_undone_in_any_order(order):
    patches = [patch(), patch(), patch()]
    for number in order[:-1]:
        patches[number].undo()
        assert is_patched()
    patches[order[-1]].undo()
    assert is_original()
    for patched in patches:
        patched.undo()
    assert is_original()


def test_what_only_a_later_patch_replaced_is_restored_too(monkeypatch):
    first = patch()
    late = types.ModuleType("loaded_late")
    late.score = original.func
    monkeypatch.setitem(sys.modules, "loaded_late", late)
    second = patch()
    assert late.score is roc_auc_score
    second.undo()
    first.undo()
    assert late.score is original.func
    assert is_original()


def test_modules_of_scikit_learn_that_were_loaded_meanwhile_are_restored(monkeypatch):
    with patch():
        for name in ("sklearn.loaded_late", "of_the_user"):
            module = types.ModuleType(name)
            module.roc_auc_score = sklearn.metrics.roc_auc_score
            monkeypatch.setitem(sys.modules, name, module)
    assert sys.modules["sklearn.loaded_late"].roc_auc_score is original.func
    assert sys.modules["of_the_user"].roc_auc_score is roc_auc_score


def test_patch_leaves_what_others_put_there_meanwhile():
    def other():
        pass

    with patch():
        sklearn.metrics.roc_auc_score = other
    assert sklearn.metrics.roc_auc_score is other
    sklearn.metrics.roc_auc_score = original.func
    assert is_original()


def test_modules_loaded_later_import_the_new_function():
    script = """
import multiauc.sklearn
multiauc.sklearn.patch()
from sklearn.metrics import roc_auc_score
assert roc_auc_score is multiauc.sklearn.roc_auc_score
"""
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("scoring", ["roc_auc_ovr", "roc_auc_ovo", "roc_auc_ovr_weighted", "roc_auc_ovo_weighted"])
def test_patched_scorers_give_the_same_values(iris, scoring):
    expected = cross_val_score(GaussianNB(), *iris, scoring=scoring)
    with patch():
        found = cross_val_score(GaussianNB(), *iris, scoring=scoring)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_patched_scorer_of_two_classes():
    data = make_classification(random_state=0)
    expected = cross_val_score(LogisticRegression(), *data, scoring="roc_auc")
    with patch():
        np.testing.assert_allclose(
            cross_val_score(LogisticRegression(), *data, scoring="roc_auc", n_jobs=2), expected, rtol=0, atol=1e-12
        )


# Scorers


@pytest.mark.parametrize("name", SCORERS)
def test_a_scorer_is_its_metric(iris, name):
    features, labels = iris
    model = GaussianNB().fit(features, labels)
    function = multiauc.one_vs_rest_score if name.startswith("one") else getattr(multiauc, f"{name}_score")
    options = {"average": "prevalence"} if name.endswith("prevalence") else {}
    expected = function(labels, model.predict_proba(features), **options)
    assert SCORERS[name](model, features, labels) == expected
    weights = np.arange(len(labels)) % 4
    weighted = function(labels, model.predict_proba(features), sample_weight=weights, **options)
    assert SCORERS[name](model, features, labels, sample_weight=weights) == weighted != expected


@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
def test_cross_validation_in_two_processes(iris, backend):
    alone = cross_validate(GaussianNB(), *iris, scoring=SCORERS)
    with joblib.parallel_backend(backend):
        together = cross_validate(GaussianNB(), *iris, scoring=SCORERS, n_jobs=2)
    for name in SCORERS:
        np.testing.assert_array_equal(together[f"test_{name}"], alone[f"test_{name}"])
    np.testing.assert_allclose(
        alone["test_hand_till"], cross_val_score(GaussianNB(), *iris, scoring="roc_auc_ovo"), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
def test_grid_search_in_two_processes(iris, backend):
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    grid = {"logisticregression__C": [1e-3, 1.0]}
    with joblib.parallel_backend(backend):
        search = GridSearchCV(pipeline, grid, scoring=auc_mu_scorer, n_jobs=2).fit(*iris)
    assert 0.5 < search.best_score_ == search.cv_results_["mean_test_score"].max() < 1
    assert auc_mu_scorer(search, *iris) == auc_mu_scorer(search.best_estimator_, *iris)


def test_probabilities_are_computed_once_for_all_scorers(iris):
    calls = []

    class Counting(GaussianNB):
        def predict_proba(self, X):  # noqa: N803
            calls.append(len(X))
            return super().predict_proba(X)

    cross_validate(Counting(), *iris, scoring=SCORERS, cv=3)
    assert len(calls) == 3


def test_decision_values_serve_where_there_are_no_probabilities(iris):
    features, labels = iris
    model = LinearSVC().fit(features, labels)
    assert hand_till_scorer(model, features, labels) == multiauc.hand_till_score(
        labels, model.decision_function(features)
    )


def test_two_classes_with_labels_in_any_order():
    features, codes = make_classification(random_state=0)
    model = GaussianNB().fit(features, np.array(["yes", "no"])[codes])
    value = auc_mu_scorer(model, features, np.array(["yes", "no"])[codes])
    assert value == pytest.approx(original(codes, model.predict_proba(features)[:, 0]), abs=1e-15)


def test_a_fold_without_a_class_is_noticed(iris):
    features, labels = iris
    in_order = KFold(3)  # iris is sorted by class: each fold lacks two classes
    with pytest.raises(ValueError, match="setosa"):
        cross_val_score(GaussianNB(), features, labels, cv=in_order, scoring=auc_mu_scorer, error_score="raise")
    model = GaussianNB().fit(features, labels)
    kept = labels != "setosa"
    with pytest.raises(ValueError, match="setosa"):
        auc_mu_scorer(model, features[kept], labels[kept])
    ignoring = AucScorer("auc_mu", absent="ignore")
    expected = multiauc.auc_mu_score(
        labels[kept], model.predict_proba(features[kept]), labels=model.classes_, absent="ignore"
    )
    assert ignoring(model, features[kept], labels[kept]) == expected


def test_options_reach_the_metric(iris):
    costs = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    scorer = AucScorer("auc_mu", partition=costs)
    model = GaussianNB().fit(*iris)
    assert scorer(model, *iris) == multiauc.auc_mu_score(iris[1], model.predict_proba(iris[0]), partition=costs)
    assert repr(scorer) == f"AucScorer('auc_mu', partition={costs})"


def test_weights_by_metadata_routing(iris):
    features, labels = iris
    weights = np.random.default_rng(1).random(len(labels))
    cv = StratifiedKFold(3)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = cross_validate(
            GaussianNB().set_fit_request(sample_weight=False),
            features,
            labels,
            cv=cv,
            scoring=AucScorer("hand_till").set_score_request(sample_weight=True),
            params={"sample_weight": weights},
        )
    expected = [
        multiauc.hand_till_score(
            labels[test],
            GaussianNB().fit(features[train], labels[train]).predict_proba(features[test]),
            sample_weight=weights[test],
        )
        for train, test in cv.split(features, labels)
    ]
    np.testing.assert_array_equal(routed["test_score"], expected)


def test_scorers_can_be_pickled(iris):
    model = GaussianNB().fit(*iris)
    for scorer in SCORERS.values():
        assert pickle.loads(pickle.dumps(scorer))(model, *iris) == scorer(model, *iris)


def test_errors_of_scorers(iris):
    with pytest.raises(ValueError, match="metric must be one of 'auc_mu'"):
        AucScorer("auc")
    with pytest.raises(TypeError, match="predict_proba or decision_function"):
        auc_mu_scorer(StandardScaler().fit(iris[0]), *iris)
