"""Tests against values and margins, of several models at once, and of different rows."""

import math
import warnings

import numpy as np
import pytest

import multiauc
from strategies import smooth


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    y = rng.choice(3, size=150, p=[0.5, 0.3, 0.2])
    noise = rng.normal(size=(150, 3))
    models = {
        name: signal * np.eye(3)[y] + 0.7 * noise + 0.7 * rng.normal(size=(150, 3))
        for name, signal in (("a", 1.0), ("b", 1.2), ("c", 1.0), ("d", 1.6))
    }
    return y, models


@pytest.mark.parametrize("p", [0.5, 0.05, 0.001])
def test_a_test_against_a_value_inverts_the_interval(data, p):
    y, models = data
    estimate = multiauc.evaluate(y, models["a"]).auc_mu
    low, high = estimate.confidence_interval(1 - p)
    for limit in (low, high):
        assert estimate.test(limit).p_value == pytest.approx(p, rel=1e-8)
    assert estimate.test(low, "greater").p_value == pytest.approx(p / 2, rel=1e-8)
    assert estimate.test(high, "less").p_value == pytest.approx(p / 2, rel=1e-8)
    assert estimate.test(low, "less").p_value == pytest.approx(1 - p / 2, rel=1e-8)
    assert estimate.test(estimate.value).p_value == pytest.approx(1.0)
    found = estimate.test(0.6, alternative="greater")
    assert found.degrees_of_freedom > estimate.degrees_of_freedom  # a part of the variance is not estimated
    assert repr(found).startswith("TestResult(AUC_mu > 0.6: t(")


def test_values_of_perfect_models():
    """Nothing varies, and the worst case is tested with the normal distribution."""
    y = np.repeat([0, 1], [30, 8])
    perfect = multiauc.evaluate(y, y.astype(float)).auc_mu
    for level in (0.9, 0.99):
        low, _ = perfect.confidence_interval(level)
        assert perfect.test(low).p_value == pytest.approx(1 - level)
        assert perfect.test(low, "greater").p_value == pytest.approx((1 - level) / 2)
    assert perfect.test(0.9, "less").p_value == pytest.approx(1 - perfect.test(0.9, "greater").p_value)
    assert perfect.test(0.9).degrees_of_freedom == math.inf
    reversed_ = multiauc.evaluate(y, -y.astype(float)).auc_mu
    assert reversed_.test(0.1).p_value == pytest.approx(perfect.test(0.9).p_value)
    assert reversed_.test(0.1, "less").p_value == pytest.approx(perfect.test(0.9, "greater").p_value)
    constant = multiauc.evaluate(y, np.zeros(38)).auc_mu
    with pytest.warns(RuntimeWarning, match="no test is possible for AUC_mu > 0.4: the standard error is 0"):
        assert math.isnan(constant.test(0.4, "greater").p_value)


def test_margins_invert_the_interval_of_the_difference(data):
    y, models = data
    difference = multiauc.compare(y, models).difference("a", "c")
    low, high = difference.confidence_interval(0.9)
    assert low < 0 < high
    assert difference.non_inferiority(-low).p_value == pytest.approx(0.05, rel=1e-8)
    assert difference.reversed().non_inferiority(high).p_value == pytest.approx(0.05, rel=1e-8)
    widest = max(-low, high)
    assert difference.equivalence(widest).p_value == pytest.approx(0.05, rel=1e-8)
    assert difference.equivalence(widest).p_value == difference.reversed().equivalence(widest).p_value
    assert difference.test().p_value == difference.p_value
    assert difference.test(low, "greater").p_value == pytest.approx(0.05, rel=1e-8)
    assert repr(difference.equivalence(0.1)).startswith("TestResult(|a - c| < 0.1: t(")


def test_wrong_values_are_named(data):
    y, models = data
    comparison = multiauc.compare(y, models)
    estimate, difference = comparison.estimates["a"], comparison.difference("a", "b")
    for value in (0, 1, -0.2, math.nan, 2):
        with pytest.raises(ValueError, match="value must be a number above 0 and below 1; got"):
            estimate.test(value)
    with pytest.raises(TypeError, match="value must be a number above 0 and below 1; got 'x'"):
        estimate.test("x")
    with pytest.raises(ValueError, match="alternative must be one of 'two-sided', 'greater', 'less'; got 'up'"):
        estimate.test(0.5, "up")
    for margin in (0, -0.1, 1.5, math.inf):
        with pytest.raises(ValueError, match="margin must be a number above 0 and below 1"):
            difference.non_inferiority(margin)
        with pytest.raises(ValueError, match="margin must be a number above 0 and below 1"):
            difference.equivalence(margin)
    same = multiauc.compare(y, {"a": models["a"], "b": models["a"]}).difference("a", "b")
    with pytest.warns(RuntimeWarning, match="no test is possible for a - b > -0.1: the standard error is 0"):
        assert math.isnan(same.non_inferiority(0.1).p_value)


def assert_below_bonferroni(comparison):
    """Between the plain p-values and Bonferroni's."""
    count = len(comparison.differences)
    for difference in comparison.differences:
        plain = difference.p_value
        assert plain <= difference.corrected_p_value * (1 + 1e-9)
        assert difference.corrected_p_value <= min(1.0, count * plain) * 1.01


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_corrected_p_values_and_simultaneous_intervals_agree(data, level):
    y, models = data
    comparison = multiauc.compare(y, models)
    intervals = comparison.simultaneous_intervals(level)
    corrected = comparison.corrected_p_values()
    assert list(intervals) == list(corrected) == [(d.first, d.second) for d in comparison.differences]
    for difference in comparison.differences:
        pair = difference.first, difference.second
        low, high = intervals[pair]
        assert (corrected[pair] < 1 - level) == (low > 0 or high < 0)
        assert corrected[pair] == difference.corrected_p_value >= difference.p_value
        alone = difference.confidence_interval(level)
        assert low <= alone.low
        assert high >= alone.high
    assert_below_bonferroni(comparison)


def test_two_models_need_no_correction(data):
    y, models = data
    comparison = multiauc.compare(y, {name: models[name] for name in "ab"})
    (difference,) = comparison.differences
    assert difference.corrected_p_value == difference.p_value
    assert comparison.simultaneous_intervals()["a", "b"] == difference.confidence_interval()
    omnibus = comparison.omnibus()
    assert omnibus.f == pytest.approx(difference.t**2, rel=1e-9)
    assert omnibus.p_value == pytest.approx(difference.p_value, rel=1e-9)
    assert omnibus.degrees_of_freedom == (1.0, difference.degrees_of_freedom)


def test_models_that_rank_alike_leave_the_family(data):
    y, models = data
    comparison = multiauc.compare(y, {**models, "same": models["a"].copy()})
    assert comparison.corrected_p_values()["a", "same"] == 1.0
    assert np.isnan(comparison.simultaneous_intervals()["a", "same"]).all()
    assert comparison.omnibus().degrees_of_freedom[0] == 3.0
    without = multiauc.compare(y, models)
    assert comparison.omnibus().f == pytest.approx(without.omnibus().f, rel=1e-6)
    alike = multiauc.compare(y, {"a": models["a"], "b": models["a"], "c": models["a"]}).omnibus()
    assert (alike.f, alike.p_value) == (0.0, 1.0)


def test_models_that_nearly_agree(data):
    """Covariances cancel there; corrected p-values stay between the plain ones and Bonferroni's."""
    y, models = data
    moved = models["a"].copy()
    moved[0, 0] += 1e-3
    comparison = multiauc.compare(y, {**models, "near": moved})
    assert_below_bonferroni(comparison)


def test_what_has_no_omnibus_test(data):
    y, models = data
    eye = np.eye(3)[y]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        comparison = multiauc.compare(y, {"perfect": 2 * eye, "constant": np.zeros_like(eye), "a": models["a"]})
    with pytest.warns(RuntimeWarning, match="no test of all models"):
        assert math.isnan(comparison.omnibus().p_value)
    areas = multiauc.compare(y, {name: models[name] for name in "ab"}, metric="multiclass_roc")
    for refused in (areas.omnibus, areas.simultaneous_intervals, areas.corrected_p_values):
        with pytest.raises(ValueError, match="have no analytic standard errors"):
            refused()


@pytest.mark.slow
def test_the_size_of_the_omnibus_test_and_of_the_largest_difference():
    rng = np.random.default_rng(7)
    rejected = np.zeros(2)
    samples = 400
    for _ in range(samples):
        y = np.repeat([0, 1, 2], [60, 40, 25])
        shared = rng.normal(size=(125, 3))
        models = {k: 1.2 * np.eye(3)[y] + 0.6 * shared + 0.8 * rng.normal(size=(125, 3)) for k in range(3)}
        comparison = multiauc.compare(y, models)
        rejected += comparison.omnibus().p_value < 0.05, min(comparison.corrected_p_values().values()) < 0.05
    assert (rejected / samples < 0.05 + 3 * 0.011).all()
    assert (rejected / samples > 0.015).all()


def test_different_rows(rng):
    samples = []
    for n in (120, 60):
        y = np.r_[[0, 1, 2], rng.integers(3, size=n)]
        samples.append((y, np.eye(3)[y] + 3 * smooth(rng, n + 3, 3)))
    a, b = (multiauc.evaluate(*sample) for sample in samples)
    for metric in a.metrics:
        found = multiauc.compare_samples(a, b, metric=metric)
        first, second = a.metrics[metric], b.metrics[metric]
        assert found.value == first.value - second.value
        assert found.variance == first.variance() + second.variance()
        parts = first.variance() ** 2 / first.degrees_of_freedom + second.variance() ** 2 / second.degrees_of_freedom
        assert found.degrees_of_freedom == pytest.approx(found.variance**2 / parts, rel=1e-12)
    only = multiauc.evaluate(*samples[0], metrics=["hand_till"])
    with pytest.raises(ValueError, match="metric must be one of 'hand_till'; got 'auc_mu'"):
        multiauc.compare_samples(only, b)
    with pytest.raises(TypeError, match="b must be an Evaluation"):
        multiauc.compare_samples(a, a.auc_mu)
    other = multiauc.evaluate([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8])
    with pytest.raises(ValueError, match="the same classes; got 0, 1, 2 and 0, 1"):
        multiauc.compare_samples(a, other)
    y = np.repeat([0, 1], 5)
    perfect, constant = multiauc.evaluate(y, y.astype(float)), multiauc.evaluate(y, np.zeros(10))
    with pytest.warns(RuntimeWarning, match="its p-value is nan"):
        assert math.isnan(multiauc.compare_samples(perfect, constant).p_value)
