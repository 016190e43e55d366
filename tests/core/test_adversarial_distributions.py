"""Distributions that break bucket tables, sorts and tie handling, in samples large enough to matter."""

import numpy as np
import pytest

import multiauc
import oracle
from strategies import Maker, huge, near_equal_differences, near_ties, rows_of_sizes, saturated, tiny, two_values

N, K = 6_000, 3


def all_constant(rng, n, k):
    return np.full((n, k), 1 / 3)


def sorted_up(rng, n, k):
    return np.sort(rng.random((n, k)), axis=0)


def sorted_down(rng, n, k):
    return sorted_up(rng, n, k)[::-1]


def geometric_clusters(rng, n, k):
    """Half of all values at 1, a quarter at 1/2, ...: every linear bucket map piles up at zero."""
    return 2.0 ** -rng.geometric(0.05, size=(n, k))


def geometric_with_jitter(rng, n, k):
    return 2.0 ** -rng.geometric(0.02, size=(n, k)) * (1 + 1e-15 * rng.integers(0, 4, size=(n, k)))


def narrow_neighbourhoods(rng, n, k):
    """Values within 1e-13 of a few centres that are fractions themselves."""
    return rng.choice([0.1, 0.3, 0.6, 0.9], size=(n, k)) + 1e-13 * rng.random((n, k))


def one_huge_outlier(rng, n, k):
    scores = rng.random((n, k))
    scores[rng.integers(n), 0] = 1e300
    scores[rng.integers(n), 1] = -1e300
    return scores


def one_tiny_range_and_an_outlier(rng, n, k):
    scores = 1e-12 * rng.random((n, k))
    scores[0] = 1
    return scores


def integers_of_many_digits(rng, n, k):
    return rng.integers(-(2**53), 2**53, size=(n, k)).astype(float)


def sawtooth(rng, n, k):
    return (np.arange(n)[:, None] * np.arange(1, k + 1) % 97) / 97


def one_value_dominates(rng, n, k):
    """The score of a classifier that gives up: 99% identical rows."""
    return np.where(rng.random((n, 1)) < 0.99, 1 / k, rng.random((n, k)))


def one_bit_apart(rng, n, k):
    """Consecutive doubles above 1: more values than any table distinguishes by division."""
    return 1 + rng.integers(0, 4 * n, size=(n, k)) * np.spacing(1.0)


MAKERS: list[Maker] = [
    *(all_constant, two_values, sorted_up, sorted_down, geometric_clusters, geometric_with_jitter),
    *(narrow_neighbourhoods, one_huge_outlier, one_tiny_range_and_an_outlier, integers_of_many_digits, sawtooth),
    *(one_value_dominates, one_bit_apart, near_ties, saturated, tiny, huge),
]
SAFE_IN_SINGLE = [maker for maker in MAKERS if maker not in (one_huge_outlier, huge, tiny, integers_of_many_digits)]
SIZES = {"balanced": (N // 3,) * 3, "skewed": (N - 60, 50, 10), "single row": (1, N - 101, 100)}


def assert_exact(codes: np.ndarray, scores: np.ndarray) -> None:
    pairs = oracle.auc_mu_pairs(codes, scores, how=oracle.separation_by_ranks)
    np.testing.assert_array_equal(multiauc.auc_mu_matrix(codes, scores).values, oracle.matrix(pairs, K, symmetric=True))
    pairs = oracle.hand_till_pairs(codes, scores, how=oracle.separation_by_ranks)
    np.testing.assert_array_equal(
        multiauc.hand_till_matrix(codes, scores).values, oracle.matrix(pairs, K, symmetric=False)
    )
    per_class = oracle.one_vs_rest_per_class(codes, scores, how=oracle.separation_by_ranks)
    assert multiauc.one_vs_rest_per_class(codes, scores) == {c: float(value) for c, value in per_class.items()}


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES.keys())
@pytest.mark.parametrize("maker", MAKERS, ids=lambda f: f.__name__)
def test_float64(maker, sizes, rng):
    assert_exact(rng.permutation(rows_of_sizes(sizes)), maker(rng, N, K))


@pytest.mark.parametrize("maker", SAFE_IN_SINGLE, ids=lambda f: f.__name__)
def test_float32(maker, rng):
    assert_exact(rng.permutation(rows_of_sizes(SIZES["balanced"])), maker(rng, N, K).astype(np.float32))


@pytest.mark.parametrize("maker", MAKERS, ids=lambda f: f.__name__)
def test_classes_far_apart(maker, rng):
    """The classes of a pair share no value: one lies wholly above the other."""
    codes = rows_of_sizes(SIZES["balanced"])
    scores = np.sort(maker(rng, N, K), axis=0)
    assert_exact(codes, scores)


def test_a_column_of_equal_scores_beside_informative_ones(rng):
    codes = rng.permutation(rows_of_sizes(SIZES["balanced"]))
    scores = rng.random((N, K))
    scores[:, 1] = 0.25
    assert_exact(codes, scores)


def test_identical_columns_tie_everywhere(rng):
    codes = rng.permutation(rows_of_sizes(SIZES["skewed"]))
    scores = np.repeat(rng.random((N, 1)), K, axis=1)
    off_diagonal = multiauc.auc_mu_matrix(codes, scores).values[~np.eye(K, dtype=bool)]
    assert set(off_diagonal) == {0.5}


FEW_DISTINCT_ROWS = [all_constant, two_values, near_ties, sawtooth, geometric_clusters, near_equal_differences]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("maker", FEW_DISTINCT_ROWS, ids=lambda f: f.__name__)
def test_two_very_large_classes(maker, dtype, rng):
    """More rows per class than one table holds, nearly all of them tied."""
    n = 300_000
    codes = rng.permutation(np.arange(n) % 2)
    scores = maker(rng, n, 2).astype(dtype)
    ranks = oracle.repeated_difference_ranks(scores)
    exact = oracle.separation_by_ranks(ranks[codes == 0], ranks[codes == 1])
    assert multiauc.auc_mu_score(codes, scores) == float(exact)
    columns = oracle.hand_till_pairs(codes, scores, how=oracle.separation_by_ranks)
    np.testing.assert_array_equal(multiauc.hand_till_matrix(codes, scores).values, oracle.matrix(columns, 2, False))
    own = np.arange(2) == codes[:, None]
    micro = oracle.separation_by_ranks(scores[own], scores[~own])
    assert multiauc.one_vs_rest_score(codes, scores, average="micro") == float(micro)
