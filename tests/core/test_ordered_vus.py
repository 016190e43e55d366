"""The volume under the ROC surface of ordered classes against its definition, tuple by tuple."""

from contextlib import nullcontext
from math import factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import multiauc
import oracle_volumes

RTOL = 1e-14


def ordered_sample(seed, sizes, levels):
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    scores = rng.random(len(codes)) + 0.3 * codes
    return codes, scores if levels is None else np.floor(levels * scores)


SIZES = st.lists(st.integers(1, 4), min_size=2, max_size=5)


@given(st.integers(0, 2**32), SIZES, st.sampled_from([0, 1, 2, 4, None]), st.booleans())
@settings(max_examples=150, deadline=None)
def test_value_and_components_are_those_of_all_tuples(seed, sizes, levels, is_weighted):
    codes, scores = ordered_sample(seed, sizes, levels)
    weights = np.random.default_rng(seed).lognormal(size=len(codes)) if is_weighted else None
    value, components = oracle_volumes.ordered_components(codes, scores, len(sizes), weights)
    labels = range(len(sizes))
    found = multiauc.ordered_vus_score(codes, scores, labels=labels, sample_weight=weights)
    assert found == pytest.approx(float(value), abs=RTOL)
    assert 0.0 <= found <= 1.0
    with pytest.warns(RuntimeWarning) if min(sizes) == 1 else nullcontext():
        estimate = multiauc.evaluate(codes, scores, metrics=["ordered_vus"], labels=labels, sample_weight=weights)
    assert estimate.metrics["ordered_vus"].value == pytest.approx(float(value), abs=RTOL)
    inner = estimate.influences()[:, 0]
    mass = np.ones(len(codes)) if weights is None else weights
    for k in labels:
        rows = codes == k
        shares = mass[rows] / mass[rows].sum()
        mean = (shares * components[rows]).sum()
        np.testing.assert_allclose(inner[rows], shares * (components[rows] - mean), rtol=0, atol=1e-13)


def test_the_vectors():
    codes = np.repeat([0, 1, 2], 5)
    assert multiauc.ordered_vus_score(codes, np.tile(np.arange(5), 3)) == pytest.approx(1 / 6, abs=1e-15)
    assert multiauc.ordered_vus_score(codes, np.arange(15)) == 1.0
    assert multiauc.ordered_vus_score(codes, -np.arange(15)) == 0.0


@pytest.mark.parametrize("n_classes", [2, 3, 6, 30])
def test_constant_scores_have_the_value_of_chance(n_classes):
    codes = np.tile(np.arange(n_classes), 3)
    found = multiauc.ordered_vus(codes, np.ones(len(codes)))
    assert found.value == pytest.approx(1 / factorial(n_classes), rel=1e-12)
    assert found.chance == pytest.approx(1 / factorial(n_classes), rel=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_two_classes_have_the_auc(dtype):
    rng = np.random.default_rng(1)
    codes = rng.integers(2, size=400)
    scores = np.round(rng.random(400) + 0.3 * codes, 1).astype(dtype)
    found, expected = multiauc.ordered_vus(codes, scores), multiauc.evaluate(codes, scores).auc_mu
    assert found.value == pytest.approx(expected.value, abs=RTOL)
    assert found.standard_error == pytest.approx(expected.standard_error, rel=1e-12)
    assert multiauc.ordered_vus_score(codes, scores[:, None]) == found.value


def test_weights_count_as_repeated_rows_and_separation_is_exact():
    rng = np.random.default_rng(2)
    codes, scores = ordered_sample(3, [9, 7, 8, 6], 3)
    weights = rng.integers(0, 3, size=30).astype(float)
    weights[[np.flatnonzero(codes == k)[0] for k in range(4)]] = 1.0
    times = weights.astype(int)
    assert multiauc.ordered_vus_score(codes, scores, sample_weight=weights) == pytest.approx(
        multiauc.ordered_vus_score(np.repeat(codes, times), np.repeat(scores, times)), abs=RTOL
    )
    for seed in range(200):
        weights = np.random.default_rng(seed).lognormal(size=30)
        assert multiauc.ordered_vus_score(codes, codes + 0.1 * rng.random(30), sample_weight=weights) == 1.0


def test_the_order_of_rows_does_not_matter_by_a_bit_and_labels_have_an_order():
    rng = np.random.default_rng(4)
    codes, scores = ordered_sample(5, [200, 300, 250], None)
    value = multiauc.ordered_vus_score(codes, scores)
    rows = rng.permutation(750)
    assert multiauc.ordered_vus_score(codes[rows], scores[rows]) == value
    names = np.array(["low", "middle", "high"])
    assert multiauc.ordered_vus_score(names[codes], scores, labels=names.tolist()) == value
    assert multiauc.ordered_vus_score(names[codes], scores) != value
    reverse = multiauc.ordered_vus_score(codes, -scores, labels=[2, 1, 0])
    assert reverse == pytest.approx(value, abs=RTOL)


def test_absent_classes():
    codes, scores = ordered_sample(6, [4, 5, 6, 3], 4)
    present = codes != 2
    arguments = {"labels": range(4)}
    with pytest.raises(ValueError, match="absent='ignore'"):
        multiauc.ordered_vus_score(codes[present], scores[present], **arguments)
    ignored = multiauc.ordered_vus(codes[present], scores[present], absent="ignore", **arguments)
    assert ignored.value == multiauc.ordered_vus_score(codes[present], scores[present])
    assert ignored.chance == 1 / 6
    assert np.isnan(multiauc.ordered_vus_score(codes[present], scores[present], absent="nan", **arguments))


def test_bad_input():
    codes, scores = ordered_sample(7, [4, 5, 6], 4)
    with pytest.raises(ValueError, match=r"score must have one score per row.*got shape \(15, 3\)"):
        multiauc.ordered_vus_score(codes, np.ones((15, 3)))
    with pytest.raises(ValueError, match=r"y_score must have one score per row"):
        multiauc.evaluate(codes, np.ones((15, 3)), metrics=["ordered_vus"])
    with pytest.raises(ValueError, match="one class only"):
        multiauc.ordered_vus_score([1, 1], [1.0, 2.0])
    with pytest.raises(ValueError, match="nan at row 3"):
        multiauc.ordered_vus_score(codes, np.where(np.arange(15) == 3, np.nan, scores))
    with pytest.raises(ValueError, match="metrics must all take a score per class"):
        multiauc.evaluate(codes, scores, metrics=["auc_mu", "ordered_vus"])
    with pytest.raises(TypeError, match="labels must be a sequence"):
        multiauc.ordered_vus_score(codes, scores, labels=3)
    with pytest.raises(ValueError, match="a report needs a score for every class"):
        multiauc.evaluate(codes, scores, metrics=["ordered_vus"]).report("never.html")


def test_models_with_one_score_are_compared():
    rng = np.random.default_rng(8)
    codes = rng.integers(4, size=300)
    models = {"a": codes + rng.normal(size=300), "b": codes + 2 * rng.normal(size=300)}
    comparison = multiauc.compare(codes, models, metric="ordered_vus", groups=np.arange(300) // 3)
    assert comparison.estimates["a"].value == multiauc.ordered_vus_score(codes, models["a"])
    assert comparison.difference("a", "b").p_value < 0.01
    assert "ordered VUS" in repr(comparison)
