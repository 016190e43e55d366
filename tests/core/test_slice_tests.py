"""Differences of slices: p-values, intervals, their correction for number, and how often they err."""

import math

import numpy as np
import pytest
from scipy import stats

import multiauc
from slice_data import sample
from strategies import softmax


def test_p_values_invert_intervals(rng):
    y_true, y_score = sample(rng, 2000, skill=3.0)
    slices = multiauc.evaluate_slices(y_true, y_score, rng.integers(60, size=2000))
    assert (slices.values == 1.0).any()
    for level in (0.5, 0.9, 0.99):
        intervals = slices.difference_intervals(level)
        for one in slices:
            low, high = intervals[one.name]
            assert low < one.difference < high or one.difference in (low, high)
            assert (low > 0 or high < 0) == (one.p_value < 1 - level)


@pytest.mark.parametrize("count", [2, 3, 7, 11, 60])
def test_corrected_p_values_agree_with_simultaneous_intervals(rng, count):
    y_true, y_score = sample(rng, 60 * count)
    by = np.arange(60 * count) % count
    y_score[by == 1] = softmax(np.log(y_score[by == 1]) + 0.7 * rng.normal(size=y_score[by == 1].shape))
    slices = multiauc.evaluate_slices(y_true, y_score, by)
    for level in (0.5, 0.8, 0.95):
        intervals = slices.simultaneous_intervals(level)
        for one in slices:
            low, high = intervals[one.name]
            assert (low > 0 or high < 0) == (one.corrected_p_value < 1 - level)
            assert (low > 0) == (one.name in slices.better(level))
    independent = 1 - (1 - slices.p_values) ** count
    assert (slices.corrected_p_values <= independent + 1e-12).all()
    assert (slices.corrected_p_values >= slices.p_values).all()
    if count > 10:
        assert slices.corrected_p_values == pytest.approx(independent, abs=1e-12)


def test_two_slices_are_one_comparison(rng):
    y_true, y_score = sample(rng, 400)
    first, second = multiauc.evaluate_slices(y_true, y_score, np.arange(400) % 2)
    assert first.difference == -second.difference
    assert first.p_value == pytest.approx(second.p_value, rel=1e-9)
    assert first.corrected_p_value == pytest.approx(first.p_value, rel=1e-6)


def test_perfect_slices_are_no_proof(rng):
    """Ten rows without an error say little: the difference is tested by what they could still hide."""
    y_true, y_score = sample(rng, 1000, skill=3.0)
    by = np.arange(1000) % 50
    first = by == 0
    y_score[first] = np.eye(3)[y_true[first]]
    found = multiauc.evaluate_slices(y_true, y_score, by)[0]
    assert (found.value, found.standard_error) == (1.0, 0.0)
    alone = multiauc.evaluate(y_true[first], y_score[first]).auc_mu
    assert found.low == pytest.approx(alone.confidence_interval().low)
    assert found.low < 0.8
    assert found.p_value > 0.2


def test_constant_scores_have_no_test():
    y_true, by = np.tile([0, 1], 40), np.repeat([0, 1], 40)
    slices = multiauc.evaluate_slices(y_true, np.where(by == 0, 0.5, np.arange(80) % 7), by)
    assert slices[0].value == 0.5
    assert math.isnan(slices[0].p_value)
    assert "do not vary" in slices[0].reason


def test_order(rng):
    y_true, y_score = sample(rng, 1500)
    slices = multiauc.evaluate_slices(y_true, y_score, rng.integers(40, size=1500))
    lower = [p / 2 if t < 0 else 1 - p / 2 for p, t in zip(slices.p_values, slices.t, strict=True)]
    assert lower == sorted(lower)


@pytest.mark.slow
def test_size_and_coverage(rng):
    """All slices alike: few differ by themselves and hardly ever one by corrected p-values, on either side."""
    repeats, count, rows = 40, 25, 100
    below, above, wrong, covered = 0, 0, 0, 0
    for _ in range(repeats):
        y_true, y_score = sample(rng, count * rows, skill=2.0)
        slices = multiauc.evaluate_slices(y_true, y_score, np.arange(count * rows) % count)
        below += int(((slices.p_values < 0.05) & (slices.t < 0)).sum())
        above += int(((slices.p_values < 0.05) & (slices.t > 0)).sum())
        wrong += bool(slices.worse() or slices.better())
        covered += all(low <= 0 <= high for low, high in slices.simultaneous_intervals().values())
    tests = repeats * count
    # 99.9% limits of a binomial of 2.5%, which no side must exceed; symmetric intervals have 7% above.
    assert max(below, above) <= stats.binom.ppf(0.999, tests, 0.025)
    assert below + above >= stats.binom.ppf(0.001, tests, 0.02)
    assert wrong == repeats - covered <= stats.binom.ppf(0.999, repeats, 0.05)


def test_power(rng):
    y_true, y_score = sample(rng, 5000, skill=2.0)
    by = np.arange(5000) % 25
    spoilt = by == 7
    y_score[spoilt] = softmax(np.log(y_score[spoilt]) + 2.0 * rng.normal(size=y_score[spoilt].shape))
    slices = multiauc.evaluate_slices(y_true, y_score, by)
    assert slices.worse() == [7]
    assert slices.names[0] == 7
