"""ROC curves: every point by its definition, and the area equal to the score it belongs to."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import multiauc
import oracle
from strategies import (
    Sample,
    class_sizes,
    coarse_votes,
    make_sample,
    near_ties,
    samples,
    saturated,
    signed_zeros,
    smooth,
    two_values,
    with_weights,
)

curve_samples = samples(
    makers=[smooth, coarse_votes, near_ties, saturated, signed_zeros, two_values], sizes=class_sizes(5, 60)
)
kinds = st.sampled_from(["one_vs_rest", "pairwise"])


def column_and_sides(sample: Sample, key, kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(score, positive rows, negative rows) of one curve."""
    positive, negative = (key, None) if kind == "one_vs_rest" else key
    is_positive = sample.codes == positive
    is_negative = ~is_positive if negative is None else sample.codes == negative
    return sample.scores[:, positive], is_positive, is_negative


@given(curve_samples, kinds, st.booleans())
def test_every_point_is_the_pair_of_rates_at_its_threshold(sample: Sample, kind: str, drop: bool):
    for key, curve in multiauc.roc_curves(*sample.data, kind=kind, drop_intermediate=drop).items():
        score, positive, negative = column_and_sides(sample, key, kind)
        for fpr, tpr, threshold in zip(curve.fpr, curve.tpr, curve.thresholds, strict=True):
            exact = oracle.rates_at(threshold, score[positive], score[negative])
            assert (fpr, tpr) == tuple(map(float, exact))


@given(curve_samples, kinds)
def test_without_dropping_there_is_one_point_per_distinct_score(sample: Sample, kind: str):
    for key, curve in multiauc.roc_curves(*sample.data, kind=kind, drop_intermediate=False).items():
        score, positive, negative = column_and_sides(sample, key, kind)
        distinct = np.unique(score[positive | negative])[::-1]
        np.testing.assert_array_equal(curve.thresholds, [np.inf, *distinct])


@given(samples(sizes=class_sizes(5, 60), weights=[None, "real", "integer"]), kinds, st.booleans())
def test_curves_rise_from_corner_to_corner(sample: Sample, kind: str, drop: bool):
    curves = multiauc.roc_curves(*sample.data, kind=kind, drop_intermediate=drop, sample_weight=sample.weights)
    for curve in curves.values():
        assert (curve.fpr[0], curve.tpr[0], curve.thresholds[0]) == (0, 0, np.inf)
        assert (curve.fpr[-1], curve.tpr[-1]) == (1, 1)
        assert (np.diff(curve.fpr) >= 0).all()
        assert (np.diff(curve.tpr) >= 0).all()
        assert (curve.thresholds[1:] < curve.thresholds[:-1]).all()
        assert curve.fpr.dtype == curve.tpr.dtype == curve.thresholds.dtype == np.float64


@given(samples(sizes=class_sizes(5, 60), weights=[None, "real", "integer"]), st.booleans())
def test_areas_of_one_vs_rest_curves_are_the_scores_per_class(sample: Sample, drop: bool):
    how = {"sample_weight": sample.weights, "labels": sample.labels}
    curves = multiauc.roc_curves(*sample.data, kind="one_vs_rest", drop_intermediate=drop, **how)
    expected = multiauc.one_vs_rest_per_class(*sample.data, **how)
    assert list(curves) == list(expected)
    for label, curve in curves.items():
        assert oracle.trapezoid(curve.fpr, curve.tpr) == pytest.approx(expected[label], abs=1e-12)
        assert curve.auc == pytest.approx(expected[label], abs=1e-12)
        assert (curve.positive, curve.negative) == (label, None)


@given(samples(sizes=class_sizes(5, 60), weights=[None, "real", "integer"]), st.booleans())
def test_areas_of_pairwise_curves_are_the_hand_till_matrix(sample: Sample, drop: bool):
    how = {"sample_weight": sample.weights, "labels": sample.labels}
    curves = multiauc.roc_curves(*sample.data, kind="pairwise", drop_intermediate=drop, **how)
    expected = multiauc.hand_till_matrix(*sample.data, **how).values
    assert set(curves) == {(c, d) for c in sample.labels for d in sample.labels if c != d}
    for (c, d), curve in curves.items():
        assert oracle.trapezoid(curve.fpr, curve.tpr) == pytest.approx(expected[c, d], abs=1e-12)
        assert curve.auc == pytest.approx(expected[c, d], abs=1e-12)
        assert (curve.positive, curve.negative) == (c, d)


@given(curve_samples, kinds)
def test_dropping_removes_only_points_on_straight_lines(sample: Sample, kind: str):
    full = multiauc.roc_curves(*sample.data, kind=kind, drop_intermediate=False)
    for key, curve in multiauc.roc_curves(*sample.data, kind=kind, drop_intermediate=True).items():
        assert set(curve.thresholds) <= set(full[key].thresholds)
        assert curve.auc == pytest.approx(full[key].auc, abs=1e-12)
        # Where the curve is vertical interpolation is not unique: interpolate along fpr + tpr, which always rises.
        position, along = full[key].fpr + full[key].tpr, curve.fpr + curve.tpr
        np.testing.assert_allclose(np.interp(position, along, curve.tpr), full[key].tpr, rtol=0, atol=1e-12)


def test_a_perfect_column_keeps_three_points():
    curve = multiauc.roc_curves([0, 0, 1, 1], np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.2, 0.8]]))[1]
    np.testing.assert_array_equal(curve.fpr, [0, 0, 1])
    np.testing.assert_array_equal(curve.tpr, [0, 1, 1])
    np.testing.assert_array_equal(curve.thresholds, [np.inf, 0.7, 0.1])
    assert curve.auc == 1


def test_names_are_the_keys_of_the_curves(paper):
    codes, scores = paper
    names = np.array(["ant", "bee", "cat"])[codes]
    assert list(multiauc.roc_curves(names, scores)) == ["ant", "bee", "cat"]
    assert ("cat", "ant") in multiauc.roc_curves(names, scores, kind="pairwise")


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("maker", [smooth, coarse_votes], ids=lambda f: f.__name__)
def test_agrees_with_scikit_learn(maker, drop, weighted):
    """Point by point; of the points on straight lines scikit-learn drops only some, so ours can be fewer."""
    metrics = pytest.importorskip("sklearn.metrics")
    sample = make_sample(maker, [60, 50, 40], 21)
    if weighted:
        sample = with_weights(sample, "real", 21)
    how = {"sample_weight": sample.weights, "drop_intermediate": drop}
    for label, curve in multiauc.roc_curves(*sample.data, **how).items():
        fpr, tpr, thresholds = metrics.roc_curve(sample.codes == label, sample.scores[:, label], **how)
        shared = np.isin(thresholds, curve.thresholds)
        assert drop or shared.all()
        np.testing.assert_array_equal(curve.thresholds, thresholds[shared])
        np.testing.assert_allclose(curve.fpr, fpr[shared], rtol=0, atol=1e-12)
        np.testing.assert_allclose(curve.tpr, tpr[shared], rtol=0, atol=1e-12)


def test_a_long_curve_has_the_area_of_its_score(rng):
    y, scores = rng.integers(0, 3, size=50_000), rng.random((50_000, 3)).astype(np.float32)
    expected = multiauc.one_vs_rest_per_class(y, scores)
    for label, curve in multiauc.roc_curves(y, scores).items():
        assert oracle.trapezoid(curve.fpr, curve.tpr) == pytest.approx(expected[label], abs=1e-12)
