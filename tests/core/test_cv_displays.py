"""Displays of classifiers and of cross-validations, against scikit-learn's own."""

import numpy as np
import pytest

import multiauc
from multiauc.plotting import MulticlassRocDisplay, PrecisionRecallCurvesDisplay, RocCurvesDisplay

pytest.importorskip("sklearn")
from sklearn import datasets, metrics, model_selection, naive_bayes, svm

NAMES = np.array(["barolo", "grignolino", "barbera"])


@pytest.fixture(scope="module")
def wine():
    x, y = datasets.load_wine(return_X_y=True, as_frame=True)
    x, y = x[["malic_acid", "ash", "hue"]], NAMES[y]
    folds = model_selection.StratifiedKFold(4, shuffle=True, random_state=0)
    found = model_selection.cross_validate(
        naive_bayes.GaussianNB(), x, y, cv=folds, return_estimator=True, return_indices=True
    )
    return found, x, y


@pytest.fixture(scope="module")
def cancer():
    x, y = datasets.load_breast_cancer(return_X_y=True)
    found = model_selection.cross_validate(
        naive_bayes.GaussianNB(), x[:, :3], y, cv=3, return_estimator=True, return_indices=True
    )
    return found, x[:, :3], y


def fold_scores(cv_results, x, y):
    """(labels, scores) of the test rows of each fold, by hand."""
    for estimator, rows in zip(cv_results["estimator"], cv_results["indices"]["test"], strict=True):
        yield y[rows], estimator.predict_proba(x.iloc[rows] if hasattr(x, "iloc") else x[rows])


class TestFolds:
    def test_areas_are_those_of_scikit_learn(self, cancer):
        theirs = metrics.RocCurveDisplay.from_cv_results(*cancer)
        ours = RocCurvesDisplay.from_cv_results(*cancer)
        areas = [curve.auc for curve in ours.curves[1].curves]
        assert areas == pytest.approx(theirs.roc_auc, abs=1e-12)
        assert ours.curves[1].value == pytest.approx(np.mean(theirs.roc_auc), abs=1e-12)
        assert ours.curves[1].spread == pytest.approx(np.std(theirs.roc_auc, ddof=1), abs=1e-12)
        for fpr, tpr, curve in zip(theirs.fpr, theirs.tpr, ours.curves[1].curves, strict=True):
            at = np.linspace(0.003, 0.997, 50)
            np.testing.assert_allclose(np.interp(at, curve.fpr, curve.tpr), np.interp(at, fpr, tpr), atol=1e-12)

    def test_the_mean_and_its_band(self, wine):
        display = RocCurvesDisplay.from_cv_results(*wine)
        assert sorted(display.lines_) == sorted(NAMES)
        for name, mean in display.curves.items():
            areas, heights = [], []
            for y_true, scores in fold_scores(*wine):
                column = sorted(NAMES).index(name)
                areas.append(metrics.roc_auc_score(y_true == name, scores[:, column]))
                fpr, tpr, _ = metrics.roc_curve(y_true == name, scores[:, column])
                # The upper end where a curve rises straight up.
                heights.append(
                    [tpr[fpr <= at + 1e-15].max() if at in fpr else np.interp(at, fpr, tpr) for at in mean.x]
                )
            np.testing.assert_allclose(mean.y, np.mean(heights, axis=0), atol=1e-12)
            spread = np.std(heights, axis=0, ddof=1)
            np.testing.assert_allclose(mean.low, np.clip(mean.y - spread, 0.0, 1.0), atol=1e-12)
            np.testing.assert_allclose(mean.high, np.clip(mean.y + spread, 0.0, 1.0), atol=1e-12)
            label = f"{name} (AUC {np.mean(areas):.3f} \N{PLUS-MINUS SIGN} {np.std(areas, ddof=1):.3f})"
            assert display.lines_[name].get_label() == label
            assert name in display.bands_
        assert RocCurvesDisplay.from_cv_results(*wine, level=None).bands_ == {}
        assert list(RocCurvesDisplay.from_cv_results(*wine, names=["barolo"]).bands_) == ["barolo"]

    def test_average_precisions_are_those_of_scikit_learn(self, wine):
        display = PrecisionRecallCurvesDisplay.from_cv_results(*wine)
        for name, mean in display.curves.items():
            column = sorted(NAMES).index(name)
            folds = list(fold_scores(*wine))
            values = [metrics.average_precision_score(y_true == name, scores[:, column]) for y_true, scores in folds]
            assert mean.value == pytest.approx(np.mean(values), abs=1e-12)
            heights = []
            for y_true, scores in folds:
                precision, recall, _ = metrics.precision_recall_curve(y_true == name, scores[:, column])
                # The precision of the highest threshold that reaches a recall.
                heights.append([precision[np.flatnonzero(recall >= at)[-1]] for at in mean.x])
            np.testing.assert_allclose(mean.y, np.mean(heights, axis=0), atol=1e-12)
            assert name in display.bands_

    def test_the_multiclass_curve(self, wine):
        display = MulticlassRocDisplay.from_cv_results(*wine, label="naive Bayes", thresholds=40)
        areas = [
            multiauc.multiclass_roc(y_true, scores, labels=sorted(NAMES), thresholds=40).auc
            for y_true, scores in fold_scores(*wine)
        ]
        expected = f"naive Bayes (D = {np.mean(areas):.3f} \N{PLUS-MINUS SIGN} {np.std(areas, ddof=1):.3f})"
        assert display.line_.get_label() == expected
        assert len(display.ax_.collections) == 1

    def test_weights(self, wine):
        cv_results, x, y = wine
        weights = np.arange(len(y)) % 3 + 1.0
        display = RocCurvesDisplay.from_cv_results(cv_results, x, y, sample_weight=weights)
        rows = cv_results["indices"]["test"][0]
        scores = cv_results["estimator"][0].predict_proba(x.iloc[rows])[:, 1]
        expected = metrics.roc_auc_score(y[rows] == "barolo", scores, sample_weight=weights[rows])
        assert display.curves["barolo"].curves[0].auc == pytest.approx(expected, abs=1e-12)

    def test_what_cross_validate_must_return(self, wine):
        cv_results, x, y = wine
        for missing in ("estimator", "indices"):
            some = {name: found for name, found in cv_results.items() if name != missing}
            with pytest.raises(ValueError, match=f"cv_results has no '{missing}'; call cross_validate with return_"):
                RocCurvesDisplay.from_cv_results(some, x, y)


class TestEstimators:
    @pytest.mark.parametrize("display", [RocCurvesDisplay, PrecisionRecallCurvesDisplay])
    def test_a_classifier_is_its_predictions(self, wine, display):
        _, x, y = wine
        classifier = naive_bayes.GaussianNB().fit(x, y)
        one = display.from_estimator(classifier, x, y)
        two = display.from_predictions(y, classifier.predict_proba(x), labels=classifier.classes_)
        assert [line.get_label() for line in one.lines_.values()] == [line.get_label() for line in two.lines_.values()]

    def test_decision_functions(self, wine):
        _, x, y = wine
        classifier = svm.LinearSVC().fit(x, y)
        display = MulticlassRocDisplay.from_estimator(classifier, x, y)
        expected = multiauc.multiclass_roc(y, classifier.decision_function(x), labels=classifier.classes_).auc
        assert display.roc.auc == expected
