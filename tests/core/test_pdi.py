"""The polytomous discrimination index against its definition, tuple by tuple."""

import pickle
from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import multiauc
import oracle_volumes
from internals import draw_rows
from strategies import PAPER_CODES, PAPER_SCORES

RTOL = 1e-14


def small_sample(seed, sizes, levels):
    """A few rows of each class in no order, with scores of so few values that many tie (None: all differ)."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    scores = rng.random((len(codes), len(sizes))) + 0.4 * np.eye(len(sizes))[codes]
    return codes, scores if levels is None else np.floor(levels * scores) / levels


SIZES = st.lists(st.integers(1, 5), min_size=2, max_size=4)


@given(st.integers(0, 2**32), SIZES, st.sampled_from([1, 2, 3, 8, None]))
@settings(max_examples=150, deadline=None)
def test_the_value_is_that_of_all_tuples(seed, sizes, levels):
    codes, scores = small_sample(seed, sizes, levels)
    labels = range(len(sizes))
    expected = oracle_volumes.pdi_per_class(codes, scores)
    assert multiauc.pdi_score(codes, scores, labels=labels) == pytest.approx(
        float(sum(expected) / len(expected)), abs=RTOL
    )
    with pytest.warns(RuntimeWarning, match="single row") if 1 in sizes else nullcontext():
        found = multiauc.pdi(codes, scores, labels=labels)
    np.testing.assert_allclose(list(found.per_class.values()), np.array(expected, dtype=float), rtol=0, atol=RTOL)


@given(st.integers(0, 2**32), st.lists(st.integers(2, 4), min_size=2, max_size=4), st.sampled_from([1, 2, 4, None]))
@settings(max_examples=60, deadline=None)
def test_the_standard_error_is_that_of_the_components(seed, sizes, levels):
    codes, scores = small_sample(seed, sizes, levels)
    components = oracle_volumes.pdi_components(codes, scores)
    variance = sum(components[codes == k].var(ddof=1) / size for k, size in enumerate(sizes))
    estimate = multiauc.evaluate(codes, scores, metrics=["pdi"]).metrics["pdi"]
    assert estimate.standard_error == pytest.approx(np.sqrt(variance), abs=1e-12)


@given(st.integers(0, 2**32), st.lists(st.integers(2, 4), min_size=2, max_size=4), st.sampled_from([1, 3, None]))
@settings(max_examples=60, deadline=None)
def test_weights_count_as_repeated_rows(seed, sizes, levels):
    codes, scores = small_sample(seed, sizes, levels)
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 3, size=len(codes)).astype(float)
    for k in range(len(sizes)):
        weights[np.flatnonzero(codes == k)[0]] = 1.0
    times = weights.astype(int)
    found = multiauc.pdi_score(codes, scores, sample_weight=weights)
    assert found == pytest.approx(
        multiauc.pdi_score(np.repeat(codes, times), np.repeat(scores, times, axis=0)), abs=RTOL
    )
    real = rng.lognormal(size=len(codes))
    expected = float(oracle_volumes.pdi(codes, scores, real))
    assert multiauc.pdi_score(codes, scores, sample_weight=real) == pytest.approx(expected, abs=RTOL)
    components = oracle_volumes.pdi_components(codes, scores, real)
    inner = multiauc.evaluate(codes, scores, metrics=["pdi"], sample_weight=real).influences()[:, 0]
    for k in range(len(sizes)):
        rows = codes == k
        shares = real[rows] / real[rows].sum()
        mean = (shares * components[rows]).sum()
        np.testing.assert_allclose(inner[rows], shares * (components[rows] - mean), rtol=0, atol=1e-13)


def test_the_worked_example():
    assert multiauc.pdi_score(PAPER_CODES, PAPER_SCORES) == pytest.approx(103 / 120, abs=1e-15)


@pytest.mark.parametrize("n_classes", [2, 3, 7, 40])
def test_chance_and_perfect(n_classes):
    codes = np.tile(np.arange(n_classes), 3)
    assert multiauc.pdi_score(codes, np.ones((len(codes), n_classes))) == pytest.approx(1 / n_classes, abs=1e-15)
    perfect = multiauc.pdi(codes, np.eye(n_classes)[codes])
    assert (perfect.value, perfect.normalised, perfect.exact, perfect.monte_carlo_error) == (1.0, 1.0, True, 0.0)
    assert perfect.chance == 1 / n_classes
    assert multiauc.pdi_score(codes, -np.eye(n_classes)[codes]) == 0.0


def test_two_classes_have_hand_and_tills_m():
    rng = np.random.default_rng(3)
    codes = rng.integers(2, size=400)
    scores = np.round(rng.random((400, 2)) + 0.3 * np.eye(2)[codes], 1)
    np.testing.assert_allclose(
        multiauc.pdi_score(codes, scores), multiauc.hand_till_score(codes, scores), rtol=0, atol=RTOL
    )
    single = multiauc.pdi(codes, scores[:, 1])
    assert single.value == pytest.approx(multiauc.auc_mu_score(codes, scores[:, 1]), abs=RTOL)
    error = multiauc.evaluate(codes, scores[:, 1]).auc_mu.standard_error
    assert single.standard_error == pytest.approx(error, rel=1e-12)


def test_the_order_of_rows_and_columns_does_not_matter_by_a_bit():
    rng = np.random.default_rng(4)
    codes = np.concatenate([np.arange(6), rng.integers(6, size=300)])
    scores = np.round(rng.random((306, 6)) + 0.3 * np.eye(6)[codes], 2)
    value = multiauc.pdi_score(codes, scores)
    for _ in range(5):
        rows, columns = rng.permutation(306), rng.permutation(6)
        assert multiauc.pdi_score(codes[rows], scores[rows][:, columns], labels=columns) == value
    multiauc.set_num_threads(3)
    try:
        assert multiauc.evaluate(codes, scores, metrics=["pdi"]).metrics["pdi"].value == value
    finally:
        multiauc.set_num_threads(0)


def test_absent_classes():
    codes, scores = small_sample(5, [4, 4, 4], 4)
    present = codes != 1
    with pytest.raises(ValueError, match="absent='ignore'"):
        multiauc.pdi_score(codes[present], scores[present], labels=range(3))
    ignored = multiauc.pdi(codes[present], scores[present], labels=range(3), absent="ignore")
    relabelled = np.where(codes[present] == 2, 1, 0)
    assert ignored.value == multiauc.pdi_score(relabelled, scores[present][:, [0, 2]])
    assert list(ignored.per_class) == [0, 2]
    assert ignored.chance == 0.5
    undefined = multiauc.pdi(codes[present], scores[present], labels=range(3), absent="nan")
    assert np.isnan(undefined.value)
    assert np.isnan(undefined.per_class[1])


def test_it_is_a_metric_of_evaluate_compare_and_the_bootstrap():
    codes, scores = small_sample(6, [30, 40, 20], 8)
    other = scores + np.random.default_rng(0).normal(scale=0.3, size=scores.shape)
    evaluation = multiauc.evaluate(codes, scores, metrics=["auc_mu", "pdi"], groups=np.arange(90) // 2)
    assert list(evaluation.metrics) == ["auc_mu", "pdi"]
    assert evaluation.covariance.shape == (2, 2)
    assert "PDI" in repr(evaluation)
    comparison = multiauc.compare(codes, {"a": scores, "b": other}, metric="pdi")
    difference = comparison.difference("a", "b")
    bootstrap = comparison.bootstrap(2000, rng=1)
    assert bootstrap.difference("a", "b").standard_error == pytest.approx(difference.standard_error, rel=0.1)
    rows = multiauc.evaluate(codes, scores, metrics=["pdi"])
    resampled = rows.bootstrap(3000, rng=2)
    assert resampled.standard_error[0] == pytest.approx(rows.metrics["pdi"].standard_error, rel=0.1)
    with pytest.raises(ValueError, match="PDI; use 'first_order'"):
        rows.metrics["pdi"].variance("unbiased")


def test_a_replicate_is_the_value_of_its_rows():
    codes, scores = small_sample(7, [9, 8, 7, 6], 3)
    found = multiauc.evaluate(codes, scores, metrics=["pdi"]).bootstrap(6, rng=5)
    for replicate, value in zip(draw_rows(codes, scores, 5, 6), found.replicates[:, 0], strict=True):
        repeated = multiauc.pdi_score(np.repeat(codes, replicate), np.repeat(scores, replicate, axis=0))
        assert value == pytest.approx(repeated, abs=RTOL)


def test_a_thousand_classes():
    rng = np.random.default_rng(8)
    codes = np.repeat(np.arange(1000), 3)
    scores = rng.random((3000, 1000), dtype=np.float32)
    found = multiauc.pdi(codes, scores)
    assert 0.0 <= found.value < 0.01
    assert found.standard_error > 0.0


def test_results_can_be_kept_and_shown():
    found = multiauc.pdi(PAPER_CODES, PAPER_SCORES)
    low, high = found.confidence_interval()
    limits = f"95% interval {low:.4f} to {high:.4f}"
    assert repr(found) == f"Volume(PDI 0.8583, standard error 0.0912, {limits}; chance 0.3333)"
    assert repr(pickle.loads(pickle.dumps(found))) == repr(found)
    low, high = found.confidence_interval(level=0.9)
    assert 0.5213 < low < found.value < high < 0.9712
