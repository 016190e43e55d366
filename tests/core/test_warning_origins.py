"""Warnings point at the line of the user's program that caused them."""

import warnings

import numpy as np
import pytest

import multiauc
from internals import stop_fits_early


@pytest.fixture
def data(rng):
    y_true = np.repeat([0, 1, 2], 20)
    return y_true, rng.random((60, 3)) + 0.3 * np.eye(3)[y_true]


def origins(call):
    """The files that the warnings of a call name."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return {warning.filename for warning in caught}


def test_a_class_with_a_single_row(data):
    y_true, scores = data
    kept = np.r_[0:40, 59]
    sample, models = (y_true[kept], scores[kept]), {"a": scores[kept], "b": scores[kept] ** 2}
    assert origins(lambda: multiauc.evaluate(*sample)) == {__file__}
    assert origins(lambda: multiauc.compare(y_true[kept], models)) == {__file__}


def test_resamples_without_a_class(data):
    y_true, scores = data
    kept = np.r_[0:42]
    result = multiauc.evaluate(y_true[kept], scores[kept], sampling="iid")
    assert origins(lambda: result.bootstrap(200, rng=0)) == {__file__}
    models = {"a": scores[kept], "b": scores[kept] ** 2}
    comparison = multiauc.compare(y_true[kept], models, sampling="iid")
    assert origins(lambda: comparison.bootstrap(200, rng=0)) == {__file__}
    assert origins(lambda: comparison.ranking_probabilities(200, rng=0)) == {__file__}
    areas = multiauc.partial_auc(y_true[kept], scores[kept], max_fpr=0.5)
    assert origins(lambda: areas.bootstrap(200, rng=0, sampling="iid")) == {__file__}


def test_a_curve_that_does_not_converge(data, monkeypatch, tmp_path):
    y_true, scores = data
    assert origins(lambda: multiauc.multiclass_roc(y_true, scores, max_iter=1, tol=0.0)) == {__file__}
    stop_fits_early(monkeypatch)
    models = {"a": scores, "b": scores**2}
    assert origins(lambda: multiauc.compare(y_true, models, metric="multiclass_roc")) == {__file__}
    result, comparison = multiauc.evaluate(y_true, scores), multiauc.compare(y_true, models)
    assert origins(lambda: result.report(tmp_path / "a.html", n_resamples=0)) == {__file__}
    assert origins(lambda: comparison.report(tmp_path / "a.html", n_resamples=0)) == {__file__}


def test_intervals_that_do_not_exist(data):
    y_true, scores = data
    result = multiauc.evaluate(y_true[:40], np.full((40, 2), 0.5))
    assert origins(result.auc_mu.confidence_interval) == {__file__}
    assert origins(lambda: result.bootstrap(20, rng=0).confidence_interval("auc_mu")) == {__file__}
    same = multiauc.compare(y_true, {"a": scores, "b": scores})
    assert origins(same.difference("a", "b").confidence_interval) == {__file__}
