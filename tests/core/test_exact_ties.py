"""Which differences of scores are equal, and which is larger: always the answer of exact arithmetic.

A double that is nearest to a fraction with a denominator up to 1000 stands for the fraction, any other score for
itself; in float32 fractions need the whole sample on one lattice. Unweighted pair values are a ratio of two
integers, so they must be the correctly rounded numbers, not merely close.
"""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import multiauc
import oracle
import strategies as make
from strategies import Sample, arbitrary_samples, class_sizes, make_sample, samples

TWO_CLASSES = st.lists(st.integers(1, 40), min_size=2, max_size=2)


def assert_auc_mu_is_exact(sample: Sample) -> None:
    found = multiauc.auc_mu_matrix(*sample.data, labels=sample.labels).values
    pairs = oracle.auc_mu_pairs(*sample.data)
    np.testing.assert_array_equal(found, oracle.matrix(pairs, sample.n_classes, symmetric=True))


@given(samples())
def test_every_pair_of_any_sample_is_exact(sample: Sample):
    assert_auc_mu_is_exact(sample)


@given(arbitrary_samples())
def test_every_pair_of_arbitrary_doubles_is_exact(sample: Sample):
    assert_auc_mu_is_exact(sample)


@pytest.mark.parametrize("maker", make.DOUBLE, ids=lambda f: f.__name__)
@pytest.mark.parametrize("k", [2, 3, 12])
def test_float64_distributions(maker, k):
    for seed in range(6):
        assert_auc_mu_is_exact(make_sample(maker, [90 // k + i % 3 for i in range(k)], seed))


@pytest.mark.parametrize("maker", make.SINGLE, ids=lambda f: f.__name__)
@pytest.mark.parametrize("k", [2, 3, 12])
def test_float32_distributions(maker, k):
    for seed in range(6):
        assert_auc_mu_is_exact(make_sample(maker, [90 // k + i % 3 for i in range(k)], seed, np.float32))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("m", [1, 2, 3, 5, 6, 7, 9, 10, 11, 49, 64, 100, 128, 243, 255, 360, 500, 512, 625, 999, 1000])
def test_scores_on_one_lattice_give_the_value_of_integer_arithmetic(m, dtype, rng):
    """Differences of lattice scores are differences of integers, whatever the rounding of k/m."""
    codes = rng.permutation(make.rows_of_sizes([50, 70, 30]))
    counts = rng.integers(0, m + 1, size=(150, 3))
    counts[::3] = counts[::3] % (m // 3 + 1) + np.arange(3) * (m // 4)  # many equal differences at different places
    found = multiauc.auc_mu_matrix(codes, (counts / m).astype(dtype)).values
    for c, d in [(0, 1), (0, 2), (1, 2)]:
        key = counts[:, c] - counts[:, d]
        assert found[c, d] == float(oracle.separation_by_ranks(key[codes == c], key[codes == d]))


@given(samples(makers=[make.mixed_denominators, make.independent_fractions], dtypes=[np.float64]))
def test_leaves_of_different_sizes_mix(sample: Sample):
    assert_auc_mu_is_exact(sample)


@given(samples(makers=[make.fractions_and_smooth, make.near_ties, make.near_equal_differences], dtypes=[np.float64]))
def test_fractions_beside_smooth_scores_and_close_neighbours(sample: Sample):
    assert_auc_mu_is_exact(sample)


def test_a_neighbour_of_a_fraction_does_not_tie_with_it():
    below, above = np.nextafter(0.3, 0), np.nextafter(0.3, 1)
    for other, value in [(below, 0.0), (0.3, 0.5), (above, 1.0)]:
        scores = np.array([[other, 0.0], [0.7, 0.4]])  # 7/10 - 4/10 = 3/10
        assert multiauc.auc_mu_score([0, 1], scores) == value


@given(samples(dtypes=[np.float64], makers=[make.smooth, make.tiny_beside_ordinary], sizes=TWO_CLASSES))
@example(Sample(np.array([0, 1]), np.array([[1e-26, 0.0], [2e-26, 0.0]])))
def test_complementary_columns_give_the_auc_of_one_column(sample: Sample):
    p = sample.scores[:, 0]
    both = np.column_stack([1 - p, p])
    expected = multiauc.auc_mu_score(sample.codes, p)
    assert expected == float(oracle.hand_till_pairs(sample.codes, both)[1, 0])
    assert multiauc.auc_mu_score(sample.codes, both) == expected


@pytest.mark.parametrize("sizes", [(9, 11), (300, 300), (7, 3_000), (2_000, 2_000)])
def test_a_rare_win_of_two_classes_is_correctly_rounded(sizes):
    """One pair of rows out of n_0 n_1 is in the right order: as small as an AUC gets."""
    n_0, n_1 = sizes
    codes = make.rows_of_sizes(sizes)
    ranks = np.concatenate([np.arange(n_1, n_1 + n_0), np.arange(n_1)])
    ranks[[0, -1]] = ranks[[-1, 0]]
    p = ranks / (n_0 + n_1)
    for score in (multiauc.auc_mu_score, multiauc.hand_till_score, multiauc.one_vs_rest_score):
        assert score(codes, p) == 1 / (n_0 * n_1)
        assert score(codes, np.column_stack([1 - p, p])) == 1 / (n_0 * n_1)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("exponent", [-1, -7, -17, -26, -37])
def test_complementary_columns_keep_the_order_of_tiny_probabilities(exponent, dtype, rng):
    """Beside 1 - p = 1 the order of the p is all there is."""
    codes = rng.integers(0, 2, size=2000)
    p = (10.0**exponent * rng.random(2000) * (1 + codes)).astype(dtype)
    both = np.column_stack([1 - p, p])
    expected = float(oracle.separation_by_ranks(p[codes == 1], p[codes == 0]))
    assert 0.6 < expected < 0.95
    assert multiauc.auc_mu_score(codes, both) == expected


def test_very_tiny_probabilities_keep_their_order():
    scores = np.array([[1e-200, 0.5], [1e-300, 0.5], [5e-324, 0.5], [0.0, 0.5]])
    matrix = multiauc.auc_mu_matrix([0, 1, 0, 1], scores).values
    assert matrix[0, 1] == 0.75
    scores[:, 1] = 1.0
    assert multiauc.auc_mu_matrix([0, 1, 0, 1], scores).values[0, 1] == 0.75


def test_differences_beyond_the_largest_double_keep_their_order():
    scores = np.array([[1.7e308, -1.7e308], [1.7e308, -1.6e308], [-1.7e308, 1.7e308], [-1.7e308, 1.6e308]])
    assert multiauc.auc_mu_score([0, 1, 0, 1], scores) == float(oracle.auc_mu([0, 1, 0, 1], scores))
    assert multiauc.auc_mu_score([0, 1, 1, 0], scores) == 1.0 - 0.25


def test_overflowing_differences_one_unit_apart_differ():
    a = 1.7e308
    for b in (a, np.nextafter(a, np.inf), np.nextafter(a, 0)):
        scores = np.array([[a, -b], [a, -np.nextafter(b, np.inf)]])
        assert multiauc.auc_mu_score([0, 1], scores) == 0.0


def test_a_fraction_and_a_smooth_score_tie_where_exact_arithmetic_says_so():
    """1/2 + 2e - 2/3 = 1/3 - (1/2 - 2e), with e the spacing of doubles."""
    scores = np.array([[0.5 + 2.0**-52, 2 / 3], [1 / 3, 0.5 - 2.0**-52]])
    assert multiauc.auc_mu_score([1, 0], scores) == 0.5


@pytest.mark.parametrize("tiny", [1e-18, 1e-26, 1e-40, 1e-300])
def test_the_order_of_tiny_scores_beside_a_fraction_is_kept(tiny):
    scores = np.array([[1 / 3, tiny], [1 / 3, 2 * tiny]])
    assert multiauc.auc_mu_score([0, 1], scores) == 1.0


def test_float32_percentages_of_three_decimals_are_on_a_lattice():
    percentages = [[12.703, 87.297], [51.416, 48.584], [56.416, 53.584], [17.703, 92.297]]
    assert multiauc.auc_mu_score([0, 1, 0, 1], np.array(percentages, dtype=np.float32)) == 0.5


def test_minus_zero_equals_zero():
    scores = np.array([[0.0, -0.0], [-0.0, 0.0], [-0.0, -0.0], [0.0, 0.0]])
    y = [0, 1, 0, 1]
    for score in (multiauc.auc_mu_score, multiauc.hand_till_score, multiauc.one_vs_rest_score):
        assert score(y, scores) == 0.5
        assert score(y, scores.astype(np.float32)) == 0.5


@given(samples(sizes=class_sizes(6, 60)))
def test_negated_scores_reverse_every_pair(sample: Sample):
    forward = multiauc.auc_mu_matrix(*sample.data).values
    backward = multiauc.auc_mu_matrix(sample.codes, -sample.scores).values
    np.testing.assert_allclose(backward, 1 - forward, rtol=0, atol=2e-16)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_integer_scores_are_not_changed_by_a_constant_per_row(dtype, rng):
    codes = rng.integers(0, 4, size=300)
    scores = rng.integers(0, 6, size=(300, 4)).astype(dtype)
    shifted = scores + rng.integers(-1000, 1000, size=(300, 1)).astype(dtype)
    expected = multiauc.auc_mu_matrix(codes, scores).values
    np.testing.assert_array_equal(multiauc.auc_mu_matrix(codes, shifted).values, expected)
