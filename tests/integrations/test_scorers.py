"""Scorers where others read them: skore and AutoGluon; and fairlearn and Optuna, which call functions."""

import pickle

import numpy as np
import pytest
import skore
from autogluon.core.metrics import make_scorer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate

import multiauc
from multiauc.boosting import autogluon_metric
from multiauc.sklearn import AucScorer, auc_mu_scorer, hand_till_scorer

pytestmark = pytest.mark.filterwarnings("ignore")  # of the libraries


@pytest.fixture
def split(names, scores):
    """Training rows of all classes, and test rows without the rarest."""
    features = scores + 0.2 * np.random.default_rng(3).normal(size=scores.shape)
    test = (np.arange(400) % 2 == 1) & (names != "dog")
    return features[~test], features[test], names[~test], names[test]


def summarize(report):
    """The numbers of a report by their names."""
    return report.metrics.summarize().frame(flat_index=True)


def test_skore_takes_several_by_their_names(split, names, scores):
    x, _, y, _ = split
    report = skore.EstimatorReport(LogisticRegression(), X_train=x, y_train=y, X_test=scores, y_test=names)
    report.metrics.add(auc_mu_scorer)
    report.metrics.add(hand_till_scorer)
    found = summarize(report)
    probabilities = report.estimator_.predict_proba(scores)
    assert found["auc_mu"] == multiauc.auc_mu_score(names, probabilities)
    assert found["hand_till"] == multiauc.hand_till_score(names, probabilities)


def test_skore_with_a_class_missing(split):
    x, x_test, y, y_test = split
    report = skore.EstimatorReport(LogisticRegression(), X_train=x, y_train=y, X_test=x_test, y_test=y_test)
    classes = list(report.estimator_.classes_)
    report.metrics.add(AucScorer("auc_mu", absent="ignore", labels=classes))
    found = summarize(report)
    probabilities = report.estimator_.predict_proba(x_test)
    assert found["auc_mu"] == multiauc.auc_mu_score(y_test, probabilities, labels=classes, absent="ignore")


def test_model_selection_with_a_class_missing_from_folds(names, scores):
    order = np.argsort(names == "dog", kind="stable")
    x, y = scores[order], names[order]
    folds = [(np.delete(np.arange(400), part), part) for part in np.array_split(np.arange(400), 4)]
    scoring = {"mu": AucScorer("auc_mu", absent="ignore"), "m": AucScorer("hand_till", absent="ignore")}
    found = cross_validate(LogisticRegression(), x, y, cv=folds[:3], scoring=scoring, return_estimator=True)
    for (_, test), model, value in zip(folds, found["estimator"], found["test_mu"], strict=False):
        probabilities = model.predict_proba(x[test])
        expected = multiauc.auc_mu_score(y[test], probabilities, labels=model.classes_, absent="ignore")
        assert value == expected
        assert "dog" not in y[test]
    grid = {"C": [0.01, 1.0]}
    search = GridSearchCV(LogisticRegression(), grid, cv=folds[:3], scoring=scoring, refit="mu").fit(x, y)
    assert np.isfinite(search.cv_results_["mean_test_mu"]).all()
    assert np.isfinite(search.cv_results_["mean_test_m"]).all()


def test_labels_that_are_not_the_classes_of_the_estimator(names, scores):
    model = LogisticRegression().fit(scores, names)
    turned = AucScorer("auc_mu", labels=["dog", "cow", "bee", "ant"])
    assert turned(model, scores, names) == auc_mu_scorer(model, scores, names)
    with pytest.raises(ValueError, match="labels must be the classes of the estimator, 'ant', 'bee', 'cow', 'dog'"):
        AucScorer("auc_mu", labels=["ant", "bee", "cow", "eel"])(model, scores, names)


class TestAutoGluon:
    def test_make_scorer(self, codes, scores):
        scorer = make_scorer("m", multiauc.hand_till_score, needs_proba=True)
        assert scorer(codes, scores) == multiauc.hand_till_score(codes, scores)
        assert scorer.error(codes, scores) == 1 - multiauc.hand_till_score(codes, scores)

    def test_a_class_is_missing(self, codes, scores):
        kept = codes != 2
        for scorer in (
            autogluon_metric("auc_mu", absent="ignore"),
            make_scorer("mu", multiauc.auc_mu_score, needs_proba=True, labels=range(4), absent="ignore"),
        ):
            expected = multiauc.auc_mu_score(codes[kept], scores[kept], labels=range(4), absent="ignore")
            assert pickle.loads(pickle.dumps(scorer))(codes[kept], scores[kept]) == expected

    def test_losses_and_two_classes(self, codes, scores):
        loss = autogluon_metric("log_loss")
        assert loss(codes, scores) == -multiauc.log_loss_score(codes, scores)
        assert loss.error(codes, scores) == multiauc.log_loss_score(codes, scores)
        binary = autogluon_metric("auc_mu")
        assert binary((codes > 1).astype(int), scores[:, 3]) == multiauc.auc_mu_score(codes > 1, scores[:, 3])


def test_fairlearn_and_optuna(names, scores):
    import fairlearn.metrics
    import optuna

    site = np.where(np.arange(400) % 2, "here", "there")
    frame = fairlearn.metrics.MetricFrame(
        metrics=lambda y, p: multiauc.auc_mu_score(y, np.stack(p)),
        y_true=names,
        y_pred=np.fromiter(scores, dtype=object),
        sensitive_features=site,
    )
    assert frame.by_group["here"] == multiauc.auc_mu_score(names[site == "here"], scores[site == "here"])
    optuna.logging.disable_default_handler()

    def objective(trial):
        model = LogisticRegression(C=trial.suggest_float("C", 1e-3, 1.0, log=True))
        cv = StratifiedKFold(3, shuffle=True, random_state=0)
        return cross_validate(model, scores, names, cv=cv, scoring=auc_mu_scorer)["test_score"].mean()

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(objective, n_trials=2)
    assert 0.5 < study.best_value < 1
