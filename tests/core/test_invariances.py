"""What must not change the result, most of it to the last bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import multiauc
from strategies import (
    Sample,
    class_sizes,
    make_sample,
    memory_layouts,
    mixed_denominators,
    samples,
    smooth,
    with_weights,
)

AVERAGES = ["macro", "prevalence", "prevalence_equal_rest", "micro"]
seeds = st.integers(0, 2**32 - 1)


def all_scores(y, scores, **options) -> dict[str, float]:
    """Every one-number metric by name."""
    return {
        "auc_mu": multiauc.auc_mu_score(y, scores, **options),
        "auc_mu by size": multiauc.auc_mu_score(y, scores, pair_weights="size_product", **options),
        "hand_till": multiauc.hand_till_score(y, scores, **options),
        "hand_till by size": multiauc.hand_till_score(y, scores, pair_weights="size_sum", **options),
        **{average: multiauc.one_vs_rest_score(y, scores, average=average, **options) for average in AVERAGES},
    }


@given(samples(), seeds)
def test_row_order_does_not_change_a_bit(sample: Sample, seed: int):
    order = np.random.default_rng(seed).permutation(len(sample.codes))
    assert all_scores(sample.codes[order], sample.scores[order]) == all_scores(*sample.data)


@given(samples(), seeds)
def test_column_order_does_not_change_a_bit(sample: Sample, seed: int):
    order = np.random.default_rng(seed).permutation(sample.n_classes)
    moved = sample.scores[:, order]
    assert all_scores(sample.codes, moved, labels=order) == all_scores(*sample.data)
    for matrix in (multiauc.auc_mu_matrix, multiauc.hand_till_matrix):
        expected = matrix(*sample.data).values[np.ix_(order, order)]
        np.testing.assert_array_equal(matrix(sample.codes, moved, labels=order).values, expected)


@given(samples(weights=["real", "wild"]), seeds)
def test_weighted_values_hardly_depend_on_row_and_column_order(sample: Sample, seed: int):
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(len(sample.codes)), rng.permutation(sample.n_classes)
    moved = sample.scores[rows][:, columns]
    found = all_scores(sample.codes[rows], moved, labels=columns, sample_weight=sample.weights[rows])
    assert found == pytest.approx(all_scores(*sample.data, sample_weight=sample.weights), abs=1e-12)


@given(samples(weights=["real"]), st.sampled_from([2.0**-600, 2.0**-30, 0.5, 2.0, 2.0**40, 2.0**600]))
def test_the_unit_of_the_weights_does_not_matter(sample: Sample, unit: float):
    found = all_scores(*sample.data, sample_weight=unit * sample.weights)
    assert found == pytest.approx(all_scores(*sample.data, sample_weight=sample.weights), abs=1e-12)


@given(samples(), st.sampled_from([1.0, 0.1, 7.0]))
def test_equal_weights_are_no_weights(sample: Sample, weight: float):
    found = all_scores(*sample.data, sample_weight=np.full(len(sample.codes), weight))
    assert found == pytest.approx(all_scores(*sample.data), abs=1e-12)


@given(samples(weights=["real"]), seeds)
def test_rows_of_weight_zero_do_not_exist(sample: Sample, seed: int):
    rng = np.random.default_rng(seed)
    extra = rng.integers(0, len(sample.codes), size=10)
    codes = np.concatenate([sample.codes, rng.permutation(sample.codes[extra])])
    scores = np.concatenate([sample.scores, sample.scores[extra] * 0.7])
    weights = np.concatenate([sample.weights, np.zeros(10)])
    expected = all_scores(*sample.data, sample_weight=sample.weights)
    assert all_scores(codes, scores, sample_weight=weights) == pytest.approx(expected, abs=1e-12)


def test_rows_of_weight_zero_do_not_decide_about_the_float32_lattice(rng):
    """A row that does not exist cannot take the others off their lattice."""
    codes = np.arange(60) % 3
    scores = (rng.integers(0, 11, size=(60, 3)) / 10).astype(np.float32)
    alone = multiauc.auc_mu_matrix(codes, scores).values
    codes, scores = np.append(codes, 0), np.append(scores, np.float32([[0.123456, 0.5, 0.3]]), axis=0)
    weights = np.append(np.ones(60), 0.0)
    np.testing.assert_allclose(multiauc.auc_mu_matrix(codes, scores, sample_weight=weights).values, alone, atol=1e-12)


@given(samples(sizes=class_sizes(8, 80)), seeds)
def test_strictly_increasing_maps_of_the_columns_change_only_differences(sample: Sample, seed: int):
    """Hand & Till and one-vs-rest read ranks within columns: any increasing map of each column gives the same bits."""
    rng = np.random.default_rng(seed)
    mapped = np.empty(sample.scores.shape)
    for column in range(sample.n_classes):
        values, ranks = np.unique(sample.scores[:, column], return_inverse=True)
        mapped[:, column] = np.cumsum(rng.exponential(size=len(values)) + 1e-6)[ranks]
    np.testing.assert_array_equal(
        multiauc.hand_till_matrix(sample.codes, mapped).values, multiauc.hand_till_matrix(*sample.data).values
    )
    before, after = all_scores(*sample.data), all_scores(sample.codes, mapped)
    for name in ("hand_till", "hand_till by size", "macro", "prevalence", "prevalence_equal_rest"):
        assert after[name] == before[name]


@given(samples(sizes=class_sizes(6, 60)))
def test_one_increasing_map_of_all_cells_does_not_change_micro(sample: Sample):
    _, ranks = np.unique(sample.scores, return_inverse=True)
    mapped = ranks.reshape(sample.scores.shape).astype(float)
    expected = multiauc.one_vs_rest_score(*sample.data, average="micro")
    assert multiauc.one_vs_rest_score(sample.codes, mapped, average="micro") == expected


@given(samples(sizes=class_sizes(6, 60)), st.integers(2, 5))
def test_repeating_all_rows_does_not_change_a_bit(sample: Sample, times: int):
    again = np.tile(sample.codes, times), np.tile(sample.scores, (times, 1))
    assert multiauc.auc_mu_score(*again) == multiauc.auc_mu_score(*sample.data)
    assert multiauc.hand_till_score(*again) == multiauc.hand_till_score(*sample.data)
    assert multiauc.one_vs_rest_score(*again) == multiauc.one_vs_rest_score(*sample.data)


def test_balanced_classes_make_weights_by_size_vanish():
    y, scores = make_sample(mixed_denominators, [25] * 4, 8).data
    values = all_scores(y, scores)
    assert values["auc_mu by size"] == pytest.approx(values["auc_mu"], abs=1e-15)
    assert values["hand_till by size"] == pytest.approx(values["hand_till"], abs=1e-15)
    assert values["prevalence_equal_rest"] == pytest.approx(values["hand_till"], abs=1e-15)
    assert values["prevalence"] == pytest.approx(values["macro"], abs=1e-15)


@pytest.mark.parametrize("weights", [None, "real"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(40, 3), (400, 40)])
def test_memory_layout_does_not_change_a_bit(shape, dtype, weights):
    n, k = shape
    sample = make_sample(smooth, [n // k] * k, 11, dtype)
    if weights:
        sample = with_weights(sample, weights, 11)
    expected = all_scores(*sample.data, sample_weight=sample.weights)
    for name, scores in memory_layouts(sample.scores).items():
        np.testing.assert_array_equal(scores, sample.scores)
        assert all_scores(sample.codes, scores, sample_weight=sample.weights) == expected, name
        for matrix in (multiauc.auc_mu_matrix, multiauc.hand_till_matrix):
            np.testing.assert_array_equal(matrix(sample.codes, scores).values, matrix(*sample.data).values)


def test_labels_and_weights_may_be_strided_and_read_only():
    sample = with_weights(make_sample(smooth, [30, 20, 10], 12), "real", 12)
    expected = all_scores(*sample.data, sample_weight=sample.weights)
    codes, weights = np.repeat(sample.codes, 2)[::2], np.ascontiguousarray(sample.weights[::-1])[::-1]
    codes.flags.writeable = weights.flags.writeable = False
    assert all_scores(codes, sample.scores, sample_weight=weights) == expected


@pytest.mark.parametrize("integer", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
def test_the_type_of_integer_labels_does_not_matter(integer):
    sample = make_sample(smooth, [30, 20, 10], 13)
    assert all_scores(sample.codes.astype(integer), sample.scores) == all_scores(*sample.data)


def test_the_names_of_the_classes_do_not_matter():
    sample = make_sample(smooth, [30, 20, 10], 14)
    names = np.array(["red", "green", "blue"])
    assert all_scores(names[sample.codes], sample.scores, labels=names) == all_scores(*sample.data)


def test_a_view_of_a_larger_matrix_is_read_in_place(rng):
    """Columns 2..4 of a matrix whose other columns hold nan."""
    wide = np.full((60, 8), np.nan)
    wide[:, 2:5] = rng.random((60, 3))
    y = np.arange(60) % 3
    assert all_scores(y, wide[:, 2:5]) == all_scores(y, wide[:, 2:5].copy())


def test_swapping_two_classes_mirrors_their_pair(rng):
    y, scores = rng.integers(0, 2, size=100), rng.random((100, 2)).round(1)
    forward = multiauc.auc_mu_matrix(y, scores).values[0, 1]
    assert multiauc.auc_mu_matrix(1 - y, scores).values[0, 1] == pytest.approx(1 - forward, abs=2e-16)
    assert multiauc.auc_mu_matrix(1 - y, scores[:, ::-1]).values[0, 1] == forward
