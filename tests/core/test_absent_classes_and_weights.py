"""Classes without rows, row weights, pair weights and partition matrices."""

import math

import numpy as np
import pytest

import multiauc
import plain_sample
from plain_sample import NAMES, SCALARS, SIZES, all_scalars

pd = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def names():
    return plain_sample.names


@pytest.fixture(scope="module")
def scores():
    return plain_sample.scores


# Classes without rows


@pytest.fixture(scope="module")
def without_cow(names, scores):
    kept = names != "cow"
    return names[kept], scores[kept]


@pytest.mark.parametrize("score", SCALARS)
def test_nan_for_a_number_that_needs_an_absent_class(without_cow, score):
    assert math.isnan(score(*without_cow, labels=NAMES, absent="nan"))


@pytest.mark.parametrize("score", SCALARS)
@pytest.mark.parametrize("policy", ["raise", "ignore", "nan"])
def test_policies_do_nothing_when_every_class_has_rows(names, scores, score, policy):
    assert score(names, scores, absent=policy) == score(names, scores)


@pytest.mark.parametrize("score", SCALARS)
def test_ignoring_an_absent_class_is_leaving_out_its_column(without_cow, score):
    y_true, y_score = without_cow
    expected = score(y_true, y_score[:, [0, 1, 3]])
    assert score(y_true, y_score, labels=NAMES, absent="ignore") == expected


@pytest.mark.parametrize("matrix", [multiauc.auc_mu_matrix, multiauc.hand_till_matrix])
@pytest.mark.parametrize("policy", ["ignore", "nan"])
def test_matrices_have_nan_for_an_absent_class(without_cow, matrix, policy):
    y_true, y_score = without_cow
    pairs = matrix(y_true, y_score, labels=NAMES, absent=policy)
    assert np.isnan(pairs.values[2]).all()
    assert np.isnan(pairs.values[:, 2]).all()
    assert np.isnan(pairs.values).sum() == 4 + 6
    assert pairs.counts.tolist() == [10, 20, 0, 5]
    assert pairs.between("ant", "dog") == matrix(y_true, y_score[:, [0, 1, 3]]).between("ant", "dog")


def test_results_by_class_leave_out_or_mark_an_absent_class(without_cow):
    ignored = multiauc.one_vs_rest_per_class(*without_cow, labels=NAMES, absent="ignore")
    marked = multiauc.one_vs_rest_per_class(*without_cow, labels=NAMES, absent="nan")
    assert list(ignored) == ["ant", "bee", "dog"]
    assert list(marked) == NAMES
    assert math.isnan(marked.pop("cow"))
    assert marked == ignored


@pytest.mark.parametrize(("kind", "all_curves", "left"), [("one_vs_rest", 4, 3), ("pairwise", 12, 6)])
def test_curves_of_an_absent_class_are_left_out_or_nan(without_cow, kind, all_curves, left):
    ignored = multiauc.roc_curves(*without_cow, kind=kind, labels=NAMES, absent="ignore")
    marked = multiauc.roc_curves(*without_cow, kind=kind, labels=NAMES, absent="nan")
    assert (len(marked), len(ignored)) == (all_curves, left)
    for key, curve in marked.items():
        if "cow" in key:
            assert np.isnan([curve.fpr, curve.tpr, curve.thresholds]).tolist() == [[True]] * 3
            assert math.isnan(curve.auc)
        else:
            assert curve.auc == ignored[key].auc


def test_a_class_without_weight_is_absent(names, scores, without_cow):
    weights = (names != "cow").astype(float)
    with pytest.raises(ValueError, match="'cow'"):
        multiauc.auc_mu_score(names, scores, sample_weight=weights)
    expected = multiauc.auc_mu_score(without_cow[0], without_cow[1][:, [0, 1, 3]])
    ignoring = multiauc.auc_mu_score(names, scores, sample_weight=weights, absent="ignore")
    assert ignoring == pytest.approx(expected, abs=1e-12)


# Weights


@pytest.mark.parametrize("form", [np.asarray, list, pd.Series, np.float32, np.uint8, lambda w: np.repeat(w, 2)[::2]])
def test_integer_weights_repeat_rows(names, scores, form):
    weights = np.random.default_rng(9).integers(0, 4, len(names))
    expected = all_scalars(np.repeat(names, weights), np.repeat(scores, weights, axis=0))
    assert all_scalars(names, scores, sample_weight=form(weights)) == pytest.approx(expected, abs=1e-12)


def test_counts_leave_out_rows_without_weight(names, scores):
    weights = np.where(np.arange(len(names)) % 5 == 0, 0.0, 2.5)
    pairs = multiauc.auc_mu_matrix(names, scores, sample_weight=weights)
    assert pairs.counts.tolist() == [np.count_nonzero(weights[names == name]) for name in NAMES]


def test_bool_weights_select_rows(names, scores):
    chosen = np.arange(len(names)) % 7 > 0
    expected = all_scalars(names[chosen], scores[chosen])
    assert all_scalars(names, scores, sample_weight=chosen) == pytest.approx(expected, abs=1e-12)


# Pair weights and partitions


def test_named_pair_weights_are_the_arrays_they_stand_for(names, scores):
    sizes = np.array(SIZES)
    for score in (multiauc.auc_mu_score, multiauc.hand_till_score):
        for name, array in {"size_product": np.outer(sizes, sizes), "size_sum": np.add.outer(sizes, sizes)}.items():
            by_array = score(names, scores, pair_weights=array)
            assert score(names, scores, pair_weights=name) == pytest.approx(by_array, abs=1e-15)


def test_the_diagonal_of_pair_weights_is_ignored(names, scores):
    weights = np.add.outer(np.arange(4.0), np.arange(4.0))
    expected = multiauc.auc_mu_score(names, scores, pair_weights=weights)
    np.fill_diagonal(weights, np.nan)
    assert multiauc.auc_mu_score(names, scores, pair_weights=weights) == expected


def test_pair_weights_may_be_asymmetric_by_rounding(names, scores):
    weights = np.full((4, 4), 0.3)
    weights[0, 1] = np.nextafter(0.3, 1)
    value = multiauc.auc_mu_score(names, scores, pair_weights=weights)
    assert value == pytest.approx(multiauc.auc_mu_score(names, scores), abs=1e-14)


def test_one_pair_can_have_all_the_weight(names, scores):
    weights = np.zeros((4, 4))
    weights[1, 3] = weights[3, 1] = 2
    pairs = multiauc.auc_mu_matrix(names, scores)
    assert multiauc.auc_mu_score(names, scores, pair_weights=weights) == pytest.approx(pairs.between("bee", "dog"))


def test_equal_costs_are_the_default_partition(names, scores):
    costs = (1 - np.eye(4)).astype(int).tolist()
    assert multiauc.auc_mu_score(names, scores, partition=costs) == multiauc.auc_mu_score(names, scores)


def test_partition_rows_are_predictions():
    y_score = [[0.5, 0.45, 0.05], [0.35, 0.4, 0.25], [0.1, 0.1, 0.8]]
    y_true = [0, 1, 2]
    assert multiauc.auc_mu_matrix(y_true, y_score).between(0, 1) == 1.0
    costs = np.array([[0, 4, 1], [1, 0, 1], [1, 1, 0]])
    assert multiauc.auc_mu_matrix(y_true, y_score, partition=costs).between(0, 1) == 0.0
