"""Magnitudes at the ends of what doubles hold: right, or refused; never nan or an interval out of nothing."""

import warnings
from fractions import Fraction

import numpy as np
import pytest

import multiauc
import oracle
from strategies import make_sample, smooth


def test_large_scores_are_compared_exactly():
    scores = np.array([[20000.106815869785, 0.02405857740585774], [20000.489968321013, 0.40721102863202546]])
    first, second = (Fraction(a) - Fraction(b) for a, b in scores.tolist())
    assert first < second
    assert multiauc.auc_mu_score([0, 1], scores) == 0.0


@pytest.mark.parametrize("scale", [2.0**14, 2.0**21, 2.0**23, 2.0**40, 1e300])
@pytest.mark.parametrize("seed", range(5))
def test_differences_beside_large_scores(scale, seed):
    rng = np.random.default_rng(seed)
    codes = np.array([0, 1] * 6)
    # Second scores that make differences equal but for the last digits.
    first = scale * (1.0 + rng.integers(0, 4, size=12) / 8.0) + rng.random(12)
    scores = np.stack([first, first - np.round(first) + rng.integers(0, 2, size=12) / 3.0], axis=1)
    assert multiauc.auc_mu_score(codes, scores) == float(oracle.auc_mu(codes, scores))


def test_denormal_beside_huge_scores():
    codes = np.array([0, 1, 1])
    scores = np.array([[-1.5e-323, -1e-323], [-5e-324, 0.0], [-3.4e38, 1.6e308]])
    assert multiauc.auc_mu_score(codes, scores) == 0.75 == float(oracle.auc_mu(codes, scores))


@pytest.mark.parametrize("seed", range(5))
def test_denormal_scores(seed):
    rng = np.random.default_rng(seed)
    codes = np.array([0, 1, 2] * 5)
    scores = rng.integers(0, 50, size=(15, 3)) * 5e-324
    assert multiauc.auc_mu_score(codes, scores) == float(oracle.auc_mu(codes, scores))


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e-7, 3.3])
@pytest.mark.parametrize(("n_rows", "n_classes"), [(10, 2), (77, 5), (400, 7), (33, 4)])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_constant_scores_have_no_interval(value, n_rows, n_classes, is_weighted):
    codes = np.arange(n_rows) % n_classes
    weights = np.random.default_rng(0).lognormal(size=n_rows) if is_weighted else None
    result = multiauc.evaluate(codes, np.full((n_rows, n_classes), value), sample_weight=weights)
    for estimate in [*result.metrics.values(), *result.per_class.values()]:
        assert estimate.standard_error == 0.0
        with pytest.warns(RuntimeWarning, match="no interval is available"):
            low, high = estimate.confidence_interval()
        assert np.isnan([low, high]).all()


def test_weights_of_any_common_size():
    sample = make_sample(smooth, [8, 9, 10], seed=1)
    reference = multiauc.evaluate(sample.codes, sample.scores, sample_weight=np.ones(27))
    for size in (1e-200, 1e200, 5e-324, 1e308):
        found = multiauc.evaluate(sample.codes, sample.scores, sample_weight=np.full(27, size))
        for metric, estimate in found.metrics.items():
            expected = reference.metrics[metric]
            assert estimate.value == pytest.approx(expected.value, abs=1e-12)
            assert estimate.standard_error == pytest.approx(expected.standard_error, rel=1e-9)


def test_weights_too_far_apart_are_refused():
    sample = make_sample(smooth, [8, 9, 10], seed=1)
    one_light = np.where(sample.codes == 0, 1e-200, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimate = multiauc.evaluate(sample.codes, sample.scores, sample_weight=one_light).auc_mu
    assert 0.0 <= estimate.value <= 1.0
    assert np.isfinite(estimate.standard_error)
    two_light = np.where(sample.codes < 2, 1e-200, 1.0)
    for function in (multiauc.auc_mu_score, multiauc.hand_till_score, multiauc.pdi_score, multiauc.evaluate):
        with pytest.raises(ValueError, match="sample_weight is so small for the classes of columns 0 and 1"):
            function(sample.codes, sample.scores, sample_weight=two_light)
