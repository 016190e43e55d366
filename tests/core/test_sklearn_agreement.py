"""scikit-learn computes Hand & Till's M and one-vs-rest too, on its own grounds."""

import numpy as np
import pytest

import multiauc
from strategies import Sample, make_sample, rounded_decimals, smooth, with_weights

metrics = pytest.importorskip("sklearn.metrics")


@pytest.fixture(params=[(30, 20, 10), (7, 7, 7, 7, 7), (1, 40, 9)], ids=lambda sizes: "-".join(map(str, sizes)))
def sample(request) -> Sample:
    return make_sample(smooth, request.param, 31)


@pytest.mark.parametrize(("average", "pair_weights"), [("macro", None), ("weighted", "size_sum")])
def test_one_vs_one_is_hand_till(sample, average, pair_weights):
    expected = metrics.roc_auc_score(*sample.data, multi_class="ovo", average=average)
    assert multiauc.hand_till_score(*sample.data, pair_weights=pair_weights) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("theirs", "ours"), [("macro", "macro"), ("weighted", "prevalence"), ("micro", "micro")], ids=lambda name: name
)
@pytest.mark.parametrize("weights", [None, "real", "integer"])
def test_one_vs_rest(sample, theirs, ours, weights):
    if weights:
        sample = with_weights(sample, weights, 32)
    w = sample.weights
    expected = metrics.roc_auc_score(*sample.data, multi_class="ovr", average=theirs, sample_weight=w)
    found = multiauc.one_vs_rest_score(*sample.data, average=ours, sample_weight=w)
    if ours == "prevalence" and w is not None:
        # scikit-learn weighs the classes by their weighted size as well.
        assert expected == pytest.approx(found, abs=1e-12)
    assert found == pytest.approx(expected, abs=1e-12)


def test_one_vs_rest_per_class(sample):
    expected = metrics.roc_auc_score(*sample.data, multi_class="ovr", average=None)
    np.testing.assert_allclose(
        list(multiauc.one_vs_rest_per_class(*sample.data).values()), expected, rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("maker", [smooth, rounded_decimals], ids=lambda f: f.__name__)
@pytest.mark.parametrize("weights", [None, "real"])
def test_binary_auc(maker, weights):
    sample = make_sample(maker, (80, 50), 33)
    if weights:
        sample = with_weights(sample, weights, 33)
    p, w = sample.scores[:, 1], sample.weights
    expected = metrics.roc_auc_score(sample.codes, p, sample_weight=w)
    for score in (multiauc.auc_mu_score, multiauc.hand_till_score, multiauc.one_vs_rest_score):
        assert score(sample.codes, p, sample_weight=w) == pytest.approx(expected, abs=1e-12)
