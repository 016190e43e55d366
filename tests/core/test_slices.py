"""Slices against evaluations of their rows and of the rest, one by one."""

import math

import numpy as np
import pytest

import multiauc
from internals import ANALYTIC_METRICS, METRICS
from slice_data import sample

QUICK = ("auc_mu", "hand_till", "one_vs_rest", "one_vs_rest_prevalence", "matthews", "balanced_accuracy")


def evaluated(y_true, y_score, rows, metric, **options):
    options = {name: None if value is None else value[rows] for name, value in options.items()}
    return multiauc.evaluate(y_true[rows], y_score[rows], metrics=[metric], **options).metrics[metric]


# --- values, standard errors ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("digits", [None, 1])
@pytest.mark.parametrize("metric", ANALYTIC_METRICS)
def test_slices_and_rests_have_the_bits_of_evaluate(rng, metric, digits, dtype):
    y_true, y_score = sample(rng, 400)
    y_score = (y_score if digits is None else y_score.round(digits)).astype(dtype)
    if metric == "landgrebe_duin":  # of products of scores
        y_score = np.maximum(y_score, dtype(0.01))
    if not METRICS[metric].higher_is_better:  # of probabilities
        y_score = np.maximum(y_score, dtype(0.01))
        y_score /= y_score.sum(axis=1, keepdims=True)
    by = rng.integers(12, size=400)
    for one in multiauc.evaluate_slices(y_true, y_score, by, metric=metric):
        inside = evaluated(y_true, y_score, by == one.name, metric)
        assert one.rows == (by == one.name).sum()
        assert (one.value, one.standard_error) == (inside.value, inside.standard_error)
        low, high = inside._interval(0.025)
        assert (one.low, one.high) == pytest.approx((low, high), rel=1e-9, nan_ok=True)
        assert one.reference == evaluated(y_true, y_score, by != one.name, metric).value
        assert one.difference == one.value - one.reference


@pytest.mark.parametrize("metric", QUICK)
def test_with_weights(rng, metric):
    y_true, y_score = sample(rng, 600)
    by, weights = rng.integers(15, size=600), rng.exponential(size=600) * (rng.random(600) < 0.9)
    for one in multiauc.evaluate_slices(y_true, y_score.round(2), by, metric=metric, sample_weight=weights):
        inside = evaluated(y_true, y_score.round(2), by == one.name, metric, sample_weight=weights)
        rest = evaluated(y_true, y_score.round(2), by != one.name, metric, sample_weight=weights)
        assert one.rows == ((by == one.name) & (weights > 0)).sum()
        assert (one.value, one.standard_error) == (inside.value, inside.standard_error)
        assert one.reference == pytest.approx(rest.value, abs=1e-12)


@pytest.mark.parametrize(
    "options",
    [
        {"pair_weights": "size_product"},
        {"pair_weights": "size_sum"},
        {"pair_weights": [[0, 1, 2], [1, 0, 5], [2, 5, 0]]},
        {"partition": [[0, 1, 5], [1, 0, 5], [1, 1, 0]]},
        {"sampling": "iid", "pair_weights": "size_sum"},
    ],
    ids=str,
)
def test_options_are_those_of_evaluate(rng, options):
    y_true, y_score = sample(rng, 600)
    by = rng.integers(12, size=600)
    for one in multiauc.evaluate_slices(y_true, y_score, by, **options):
        inside, outside = (
            multiauc.evaluate(y_true[rows], y_score[rows], metrics=["auc_mu"], **options).auc_mu
            for rows in (by == one.name, by != one.name)
        )
        assert (one.value, one.standard_error, one.reference) == (inside.value, inside.standard_error, outside.value)


def test_one_score(rng):
    y_true, by = rng.integers(3, size=300), rng.integers(4, size=300)
    score = y_true + rng.normal(size=300)
    for one in multiauc.evaluate_slices(y_true, score, by, metric="ordered_vus"):
        for rows, found in ((by == one.name, one.value), (by != one.name, one.reference)):
            assert found == multiauc.ordered_vus_score(y_true[rows], score[rows])
    binary = multiauc.evaluate_slices(y_true > 0, score, by)
    for one in binary:
        assert one.value == multiauc.auc_mu_score(y_true[by == one.name] > 0, score[by == one.name])


# --- what slices are compared with ------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["auc_mu", "hand_till", "one_vs_rest", "accuracy"])
def test_few_slices_have_exact_rests(rng, metric):
    y_true, y_score = sample(rng, 500)
    by = rng.choice(["a", "b", "c"], p=[0.6, 0.3, 0.1], size=500)
    for one in multiauc.evaluate_slices(y_true, y_score, by, metric=metric):
        parts = [evaluated(y_true, y_score, rows, metric) for rows in (by == one.name, by != one.name)]
        assert one.difference_error == pytest.approx(math.hypot(*(part.standard_error for part in parts)), rel=1e-12)
        freedom = [part.degrees_of_freedom for part in parts]
        squares = [part.variance() for part in parts]
        welch = sum(squares) ** 2 / sum(v**2 / nu for v, nu in zip(squares, freedom, strict=True))
        assert one.degrees_of_freedom == pytest.approx(welch, rel=1e-9)


@pytest.mark.parametrize("metric", ["auc_mu", "hand_till", "one_vs_rest", "accuracy"])
@pytest.mark.parametrize("has_groups", [False, True])
@pytest.mark.parametrize("count", [40, 200])
def test_the_error_of_the_standard_error_of_small_slices(rng, metric, has_groups, count):
    """Of the rest about the share of the slice, of the difference about its square, as the documentation says."""
    n = 6000
    y_true, y_score = sample(rng, n)
    by = np.arange(n) % count
    y_true[:600] = np.repeat(np.arange(3), 200)  # so that every slice has rows of every class
    by[:600] = np.tile(np.arange(200) % count, 3)
    groups = rng.integers(n // 3, size=n) if has_groups else None
    slices = multiauc.evaluate_slices(y_true, y_score, by, metric=metric, groups=groups)
    share = max((np.bincount(y_true[by == name], minlength=3) / np.bincount(y_true)).max() for name in range(count))
    assert share < 1 / 20
    for one in list(slices)[:: count // 20]:
        rest = evaluated(y_true, y_score, by != one.name, metric, groups=groups)
        own = (one.value, one.standard_error)
        assert own == pytest.approx(
            tuple(getattr(evaluated(y_true, y_score, by == one.name, metric, groups=groups), name)
                  for name in ("value", "standard_error")), nan_ok=True)  # fmt: skip
        place = slices.names.index(one.name)
        assert math.sqrt(slices._references.variances[place]) == pytest.approx(rest.standard_error, rel=2 * share)
        if not has_groups:
            exact = math.hypot(one.standard_error, rest.standard_error)
            assert one.difference_error == pytest.approx(exact, rel=5 * share**2)


def by_group(y_true, y_score, rows, groups, metric="auc_mu"):
    """What the rows of each group add to the error of the metric on some rows, by definition."""
    evaluation = multiauc.evaluate(y_true[rows], y_score[rows], metrics=[metric], groups=groups[rows])
    influences = evaluation.influences()[:, 0]
    effects = np.zeros(groups.max() + 1)
    for k in np.unique(y_true):
        of_class = y_true[rows] == k
        shares = np.bincount(groups[rows][of_class]) / of_class.sum()
        effects += math.sqrt(1 / (1 - (shares**2).sum())) * np.bincount(
            groups[rows][of_class], influences[of_class], minlength=len(effects)
        )
    assert (effects**2).sum() == pytest.approx(evaluation.metrics[metric].variance(), rel=1e-9)
    return effects


@pytest.mark.parametrize("count", [4, 30])
def test_groups_that_span_slice_and_rest_covary(rng, count):
    n = 1500
    y_true, y_score = sample(rng, n)
    groups = rng.integers(200, size=n)
    y_score += 0.3 * np.eye(3)[y_true] * rng.normal(size=200)[groups][:, None]
    by = rng.integers(count, size=n)
    slices = multiauc.evaluate_slices(y_true, y_score, by, groups=groups)
    share = 1.6 / count if count > 10 else 0.0
    for one in list(slices)[:6]:
        inside, outside = (by_group(y_true, y_score, rows, groups) for rows in (by == one.name, by != one.name))
        expected = math.sqrt(((inside - outside) ** 2).sum())
        assert one.difference_error == pytest.approx(expected, rel=1e-9 + share**2)


def test_all_rows_as_the_reference(rng):
    y_true, y_score = sample(rng, 900)
    by = rng.integers(13, size=900)
    everything = multiauc.evaluate(y_true, y_score, metrics=["auc_mu"])
    slices = multiauc.evaluate_slices(y_true, y_score, by, reference="all")
    effects = by_group(y_true, y_score, np.ones(900, dtype=bool), np.arange(900))
    for one in slices:
        rows = by == one.name
        own = np.zeros(900)
        own[rows] = by_group(y_true[rows], y_score[rows], np.ones(rows.sum(), dtype=bool), np.arange(rows.sum()))
        assert one.reference == everything.auc_mu.value
        assert one.difference_error == pytest.approx(math.sqrt(((own - effects) ** 2).sum()), rel=1e-9)


def test_no_reference(rng):
    y_true, y_score = sample(rng, 900)
    slices = multiauc.evaluate_slices(y_true, y_score, rng.integers(13, size=900), reference=None)
    assert np.isnan(slices.p_values).all()
    assert np.isnan(slices.differences).all()
    assert slices.worse() == slices.better() == []
    uppers = [interval.high for interval in slices.confidence_intervals().values()]
    assert uppers == sorted(uppers)
    assert "difference" not in repr(slices)
