"""Repeated cross-validation: rows by their mean contribution over repeats, folds by Nadeau and Bengio."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold, ShuffleSplit, StratifiedKFold
from sklearn.naive_bayes import GaussianNB

import multiauc
from multiauc._evaluation.runs import compare_repeats, evaluate_repeats
from multiauc.sklearn import cross_validate_comparison, cross_validate_evaluation


def components(codes, scores, metric):
    """T of every row, from all pairs of rows."""
    size, total = scores.shape[1], len(codes)
    counts = np.bincount(codes)
    found = np.zeros(total)
    for c in range(size):
        for d in range(size):
            if c == d:
                continue
            own, other = np.flatnonzero(codes == c), np.flatnonzero(codes == d)
            s = np.round(scores[:, c] - scores[:, d], 6) if metric == "auc_mu" else scores[:, c]
            wins = (s[own][:, None] > s[other]) + 0.5 * (s[own][:, None] == s[other])
            weight = {
                "auc_mu": 1 / (size * (size - 1)),
                "hand_till": 1 / (size * (size - 1)),
                "one_vs_rest": counts[d] / (total - counts[c]) / size,
                "one_vs_rest_prevalence": counts[c] / total * counts[d] / (total - counts[c]),
            }[metric]
            found[own] += weight * wins.mean(axis=1)
            found[other] += weight * wins.mean(axis=0)
    return found


@pytest.fixture
def repeats(rng):
    """Codes, then scores and folds of three repeats."""
    codes = np.repeat(np.arange(3), (40, 30, 22))
    splitter = RepeatedStratifiedKFold(n_splits=4, n_repeats=3, random_state=0)
    folds = np.zeros((3, len(codes)), dtype=int)
    for place, (_, test) in enumerate(splitter.split(codes, codes)):
        folds[place // 4, test] = place % 4
    return codes, [np.round(rng.random((92, 3)) + 0.4 * np.eye(3)[codes], 1) for _ in range(3)], folds


@pytest.mark.parametrize("metric", ["auc_mu", "hand_till", "one_vs_rest", "one_vs_rest_prevalence"])
def test_the_formulas(repeats, metric):
    codes, scores, folds = repeats
    mean, values, shares = np.zeros(len(codes)), [], []
    counts = np.bincount(codes)
    for one, of_rows in zip(scores, folds, strict=True):
        for fold in range(4):
            rows = of_rows == fold
            inside = np.bincount(codes[rows])
            t = components(codes[rows], one[rows], metric)
            mean[rows] += t * (rows.mean() * counts / inside)[codes[rows]] / 3
            values.append(
                multiauc.evaluate(codes[rows], one[rows], metrics=[metric], labels=range(3)).metrics[metric].value
            )
            shares.append(rows.mean())
    found = evaluate_repeats(codes, scores, folds, range(3), [metric]).metrics[metric]
    of_rows = sum(np.var(mean[codes == k], ddof=1) / counts[k] for k in range(3))
    of_folds = (1 / 12 + 1 / 3) * np.var(values, ddof=1)
    assert found.value == pytest.approx(np.average(values, weights=shares), abs=1e-12)
    assert found.parts.rows == pytest.approx(min(of_rows, found.parts.total), rel=1e-9)
    assert found.standard_error**2 == pytest.approx(of_rows, rel=1e-9) or found.standard_error**2 == pytest.approx(
        of_folds, rel=1e-9
    )
    low, high = found.confidence_interval()
    assert low < found.value < high


def test_one_repeat_is_an_ordinary_cross_validation_but_for_the_centre(repeats):
    codes, scores, folds = repeats
    once = evaluate_repeats(codes, scores[:1], folds[:1], range(3), ["auc_mu"]).metrics["auc_mu"]
    known = multiauc.evaluate(codes, scores[0], folds=folds[0], metrics=["auc_mu"]).auc_mu
    assert once.value == pytest.approx(known.value, abs=1e-12)
    assert once.rows_standard_error == pytest.approx(known.standard_error, rel=0.4)


def test_models_that_are_equal_do_not_differ(repeats):
    codes, scores, folds = repeats
    found = compare_repeats(codes, {"a": scores, "b": scores}, folds, range(3), "auc_mu").difference("a", "b")
    assert (found.value, found.standard_error) == (0.0, 0.0)


def test_from_estimators():
    X, y = make_classification(300, 8, n_informative=4, n_classes=3, random_state=0)  # noqa: N806
    cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0)
    found = cross_validate_evaluation(GaussianNB(), X, y, cv=cv, metrics=["auc_mu", "hand_till"])
    assert found.n_runs == 3
    assert len(found.metrics["auc_mu"].values) == 15
    assert "3 repeats on 300 rows" in repr(found)
    assert "Nadeau and Bengio" in repr(found)
    once = cross_validate_evaluation(GaussianNB(), X, y, cv=StratifiedKFold(5), metrics=["auc_mu"]).auc_mu
    assert found.metrics["auc_mu"].value == pytest.approx(once.value, abs=0.02)
    models = {"bayes": GaussianNB(), "linear": LogisticRegression(), "same": LogisticRegression()}
    compared = cross_validate_comparison(models, X, y, cv=cv)
    assert compared.difference("linear", "same").value == 0.0
    assert compared.difference("bayes", "linear").value == pytest.approx(
        compared.estimates["bayes"].value - compared.estimates["linear"].value, abs=1e-12
    )
    with pytest.raises(ValueError, match="'sample_weight' is not offered with repeated"):
        cross_validate_evaluation(GaussianNB(), X, y, cv=cv, sample_weight=np.ones(300))
    with pytest.raises(ValueError, match="once in each repeat as RepeatedStratifiedKFold does"):
        cross_validate_evaluation(GaussianNB(), X, y, cv=ShuffleSplit(3, random_state=0))
