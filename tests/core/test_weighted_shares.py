"""Weighted values lie in [0, 1], exactly 1 where every pair is in the right order, whatever sums are rounded to."""

import warnings
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import multiauc
from multiauc.sklearn import roc_auc_score

SCALARS = {
    "auc_mu": multiauc.auc_mu_score,
    "auc_mu by size": lambda *data, **w: multiauc.auc_mu_score(*data, pair_weights="size_product", **w),
    "auc_mu by sum": lambda *data, **w: multiauc.auc_mu_score(*data, pair_weights="size_sum", **w),
    "auc_mu by costs": lambda y, s, **w: multiauc.auc_mu_score(y, s, partition=_costs(s.shape[1]), **w),
    "auc_mu by matrix": lambda y, s, **w: multiauc.auc_mu_score(y, s, pair_weights=_importance(s.shape[1]), **w),
    "hand_till": multiauc.hand_till_score,
    "hand_till by matrix": lambda y, s, **w: multiauc.hand_till_score(y, s, pair_weights=_importance(s.shape[1]), **w),
    "macro": multiauc.one_vs_rest_score,
    **{
        average: lambda *data, _average=average, **w: multiauc.one_vs_rest_score(*data, average=_average, **w)
        for average in ("prevalence", "prevalence_equal_rest", "micro")
    },
    "pdi": multiauc.pdi_score,
    **{
        f"partial up to {rate}": lambda *data, _rate=rate, **w: multiauc.partial_auc_score(*data, max_fpr=_rate, **w)
        for rate in (0.1, 0.3, 1.0)
    },
    "partial from .7": lambda *data, **w: multiauc.partial_auc_score(*data, min_tpr=0.7, **w),
    "drop-in": lambda y, s, **w: roc_auc_score(y, _as_probabilities(s), multi_class="ovr", average="weighted", **w),
}


def _costs(k):
    return np.random.default_rng(k).integers(1, 5, size=(k, k)).astype(float) * (1 - np.eye(k)) + 0.0


def _importance(k):
    w = np.random.default_rng(k).random((k, k))
    return w + w.T


def _as_probabilities(scores):
    scores = scores - scores.min() + 1e-3
    return scores / scores.sum(axis=1, keepdims=True)


def _labels(rng, k):
    y = np.r_[np.arange(k), np.arange(k), rng.integers(k, size=int(rng.integers(5, 120)))]
    return rng.permutation(y)


def _perfect(rng, y, k):
    """Probabilities of which every column puts its class above all others, and every difference too."""
    noise = rng.dirichlet(np.ones(k), size=len(y))
    return 0.9 * np.eye(k)[y] + 0.1 * noise


def _weights(rng, n, spread):
    return np.exp(rng.normal(scale=spread, size=n))


@pytest.mark.parametrize("name", SCALARS)
def test_perfect_separation_is_exactly_one(name):
    rng = np.random.default_rng(1)
    for sample in range(60):
        k = 3 + sample % 4
        y = _labels(rng, k)
        # General costs rank rows of ones and zeros perfectly, but not every perfect column.
        scores = np.eye(k)[y] if name == "auc_mu by costs" else _perfect(rng, y, k)
        weights = _weights(rng, len(y), (0.3, 1.0, 3.0)[sample % 3])
        assert SCALARS[name](y, scores, sample_weight=weights) == 1.0


# Part of a mirrored curve is more than nothing; and the drop-in takes probabilities only.
MIRRORED = [
    name for name in SCALARS if name not in ("partial up to 0.1", "partial up to 0.3", "partial from .7", "drop-in")
]


@pytest.mark.parametrize("name", MIRRORED)
def test_the_mirror_of_perfect_separation_is_exactly_zero(name):
    rng = np.random.default_rng(2)
    for sample in range(40):
        k = 3 + sample % 4
        y = _labels(rng, k)
        # General costs need rows that sum to 1.
        scores = 2 / k - np.eye(k)[y] if name == "auc_mu by costs" else -_perfect(rng, y, k)
        weights = _weights(rng, len(y), (0.3, 1.0, 3.0)[sample % 3])
        assert SCALARS[name](y, scores, sample_weight=weights) == 0.0


@given(st.integers(0, 10**6), st.integers(2, 6), st.sampled_from([0.3, 1.0, 3.0, 8.0]), st.booleans())
def test_values_never_leave_the_unit_interval(seed, k, spread, tied):
    rng = np.random.default_rng(seed)
    y = _labels(rng, k)
    scores = _perfect(rng, y, k) + rng.choice([0.0, 1e-9, 0.3]) * rng.random((len(y), k))
    scores = scores / scores.sum(axis=1, keepdims=True)
    if tied:
        scores = np.round(scores, 1)
    weights = _weights(rng, len(y), spread)
    for name, score in SCALARS.items():
        if name in ("auc_mu by costs", "drop-in"):  # both want rows that sum to 1, which rounding breaks
            continue
        assert 0.0 <= score(y, scores, sample_weight=weights) <= 1.0, name
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        result = multiauc.evaluate(y, scores, sample_weight=weights, metrics=[*multiauc_metrics()])
        assert repr(result)
        replicates = result.bootstrap(20, rng=seed).replicates
    values = [one.value for one in (*result.metrics.values(), *result.per_class.values())]
    for found in (values, replicates, result.auc_mu_matrix.values, result.hand_till_matrix.values):
        known = np.asarray(found)[~np.isnan(found)]
        assert known.size
        assert ((known >= 0.0) & (known <= 1.0)).all()


def multiauc_metrics():
    return ("auc_mu", "hand_till", "one_vs_rest", "one_vs_rest_prevalence", "pdi")


def test_results_of_perfect_separation():
    """Every number that `evaluate` and its bootstrap have, and an interval that says what the rows could hide."""
    rng = np.random.default_rng(3)
    for sample in range(40):
        k = 2 + sample % 4
        y = _labels(rng, k)
        weights = _weights(rng, len(y), 1.0)
        result = multiauc.evaluate(y, _perfect(rng, y, k), sample_weight=weights, metrics=[*multiauc_metrics()])
        smallest = int(np.bincount(y).min())
        for estimate in (*result.metrics.values(), *result.per_class.values()):
            assert (estimate.value, estimate.standard_error) == (1.0, 0.0)
            effect, _ = estimate.worst_case()
            wilson = 1 / (1 + NormalDist().inv_cdf(0.975) ** 2 * effect)
            low = 0.025 ** (1 / smallest) if np.isnan(effect) else wilson
            assert estimate.confidence_interval() == pytest.approx((low, 1.0), rel=1e-12)
        for matrix in (result.auc_mu_matrix, result.hand_till_matrix):
            assert np.array_equal(matrix.values, np.where(np.eye(k) == 1, np.nan, 1.0), equal_nan=True)
        assert (result.bootstrap(30, rng=sample).replicates == 1.0).all()
        areas = multiauc.partial_auc(y, _perfect(rng, y, k), max_fpr=0.2, sample_weight=weights)
        assert (areas.bootstrap(20, rng=sample).replicates == 1.0).all()
        for curve in multiauc.roc_curves(y, _perfect(rng, y, k), sample_weight=weights).values():
            assert curve.auc == 1.0


def test_two_classes_with_one_score():
    rng = np.random.default_rng(4)
    for _ in range(100):
        y = _labels(rng, 2)
        weights = _weights(rng, len(y), 1.0)
        assert multiauc.auc_mu_score(y, y + 0.5 * rng.random(len(y)), sample_weight=weights) == 1.0
        assert multiauc.auc_mu_score(y, -y - 0.5 * rng.random(len(y)), sample_weight=weights) == 0.0
        assert multiauc.auc_mu_score(y, np.ones(len(y)), sample_weight=weights) == 0.5


def test_unweighted_partial_areas_of_perfect_scores_are_one():
    rng = np.random.default_rng(5)
    for rate in rng.random(50):
        y = _labels(rng, 3)
        assert multiauc.partial_auc_score(y, _perfect(rng, y, 3), max_fpr=rate) == 1.0
        assert multiauc.partial_auc_score(y, _perfect(rng, y, 3), min_tpr=1 - rate) == 1.0
