"""Evaluations of the metrics that were asked for."""

import pickle

import numpy as np
import pytest

import multiauc


@pytest.fixture
def result(paper):
    return multiauc.evaluate(*paper)


@pytest.mark.parametrize(
    "wanted",
    [["auc_mu"], ["hand_till"], ["one_vs_rest_prevalence"], ["one_vs_rest", "auc_mu"], ["hand_till", "auc_mu"]],
)
def test_some_metrics_are_those_of_all(paper, result, wanted):
    some = multiauc.evaluate(*paper, metrics=wanted)
    assert list(some.metrics) == wanted
    for metric in wanted:
        assert repr(some.metrics[metric]) == repr(result.metrics[metric])
        assert some.metrics[metric].variance("unbiased") == result.metrics[metric].variance("unbiased")
    places = [list(result.metrics).index(metric) for metric in wanted]
    np.testing.assert_allclose(some.covariance, result.covariance[np.ix_(places, places)], rtol=1e-12)
    np.testing.assert_allclose(some.influences(), result.influences()[:, places], atol=1e-15)
    assert list(some.to_dict()["metrics"]) == wanted
    replicates = result.bootstrap(20, rng=1).replicates[:, places]
    np.testing.assert_array_equal(some.bootstrap(20, rng=1).replicates, replicates)
    assert repr(pickle.loads(pickle.dumps(some))) == repr(some)


def test_what_was_not_asked_for_says_so(paper):
    result = multiauc.evaluate(*paper, metrics=("hand_till", "one_vs_rest"))
    with pytest.raises(AttributeError, match="auc_mu was not computed; add it to metrics="):
        _ = result.auc_mu
    with pytest.raises(AttributeError, match="auc_mu_matrix was not computed; pass 'auc_mu' in metrics="):
        _ = result.auc_mu_matrix
    assert list(result.matrices) == ["hand_till"]
    assert not hasattr(result, "one_vs_rest_prevalence")
    assert set(result.per_class) == {0, 1, 2}
    pairs_only = multiauc.evaluate(*paper, metrics=["auc_mu"])
    with pytest.raises(AttributeError, match="per_class was not computed; pass 'one_vs_rest' in metrics="):
        _ = pairs_only.per_class
    assert "per_class" not in pairs_only.to_dict()
    assert "against the rest" not in repr(pairs_only)


def test_metrics_that_cannot_be_evaluated(paper):
    accepted = "metrics must be one of 'auc_mu', 'hand_till', 'one_vs_rest', 'one_vs_rest_prevalence'"
    for wrong in ("multiclass_roc", "auc", 3):
        with pytest.raises(ValueError, match=f"{accepted}.*; got {wrong!r}"):
            multiauc.evaluate(*paper, metrics=[wrong])
    with pytest.raises(TypeError, match=r"for one metric write \('auc_mu',\)"):
        multiauc.evaluate(*paper, metrics="auc_mu")
    for wrong in ([], ["auc_mu", "auc_mu"]):
        with pytest.raises(ValueError, match="one metric or more, each once"):
            multiauc.evaluate(*paper, metrics=wrong)
    with pytest.raises(ValueError, match="metrics must be one of 'hand_till'; got 'auc_mu'"):
        multiauc.evaluate(*paper, metrics=["hand_till"]).bootstrap(10, metrics=["auc_mu"])


def test_a_partition_that_is_changed_later_changes_nothing(paper):
    costs = np.array([[0.0, 1.0, 3.0], [2.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    result = multiauc.evaluate(*paper, partition=costs)
    before = result.bootstrap(10, rng=0).replicates
    costs[:] = 1.0 - np.eye(3)
    np.testing.assert_array_equal(result.bootstrap(10, rng=0).replicates, before)
