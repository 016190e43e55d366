"""Rounded scores, and mixtures of rounded and smooth ones, at sizes where the fast ways of counting are taken.

Rows with a weight of one are sorted and compared one by one instead: another way to the same number.
"""

import numpy as np
import pytest

import multiauc

SHAPES = [
    *(f"{digits} decimals" for digits in range(1, 9)),
    "half 2",
    "half 4",
    "cells 4",
    "2 and 7",
    "3 and 5",
    "leaves",
]


def scores_of(shape, n_rows, n_classes, rng):
    codes = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=n_rows - n_classes)])
    logits = rng.normal(size=(n_rows, n_classes)) + 1.5 * np.eye(n_classes)[codes]
    smooth = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    half = rng.random((n_rows, 1)) < 0.5
    kind, *digits = shape.split()
    if kind == "half":
        return codes, np.where(half, np.round(smooth, int(digits[0])), smooth)
    if kind == "cells":
        return codes, np.where(rng.random(smooth.shape) < 0.5, np.round(smooth, int(digits[0])), smooth)
    if kind == "leaves":
        sizes = rng.integers(5, 200, size=(n_rows, 1))
        return codes, np.round(smooth * sizes) / sizes
    if "and" in digits:
        return codes, np.where(half, np.round(smooth, int(kind)), np.round(smooth, int(digits[1])))
    return codes, np.round(smooth, int(kind))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n_rows", "n_classes"), [(24_000, 4), (6_000, 20), (300_000, 2)])
def test_fast_and_simple_ways_agree(shape, dtype, n_rows, n_classes):
    codes, scores = scores_of(shape, n_rows, n_classes, np.random.default_rng(n_classes))
    scores = scores.astype(dtype)
    value = multiauc.auc_mu_score(codes, scores)
    assert value == pytest.approx(multiauc.auc_mu_score(codes, scores, sample_weight=np.ones(n_rows)), abs=1e-14)
    if n_rows < 100_000:
        assert multiauc.evaluate(codes, scores, metrics=["auc_mu"]).auc_mu.value == value


@pytest.mark.parametrize("shape", ["1 decimals", "4 decimals", "2 and 7", "half 4", "leaves"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("groups", [False, True])
def test_standard_errors_of_fast_and_simple_ways_agree(shape, dtype, groups):
    rng = np.random.default_rng(7)
    codes, scores = scores_of(shape, 24_000, 3, rng)
    options = {"groups": rng.integers(len(codes) // 2, size=len(codes))} if groups else {}
    fast, simple = (
        multiauc.evaluate(codes, scores.astype(dtype), sample_weight=weights, **options)
        for weights in (None, np.ones(len(codes)))
    )
    for metric in ("auc_mu", "hand_till", "one_vs_rest", "one_vs_rest_prevalence"):
        one, other = getattr(fast, metric), getattr(simple, metric)
        assert one.value == pytest.approx(other.value, abs=1e-14)
        assert one.standard_error == pytest.approx(other.standard_error, rel=1e-9)


@pytest.mark.parametrize("digits", [4, 5, 6])
def test_decimals_are_counted_as_whole_numbers(digits):
    codes, scores = scores_of(f"{digits} decimals", 50_000, 3, np.random.default_rng(digits))
    whole = np.rint(scores * 10**digits)
    assert multiauc.auc_mu_score(codes, scores) == multiauc.auc_mu_score(codes, whole)
