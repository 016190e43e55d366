"""Sizes at which tables, tiles and threads come into play, against counting by sorting."""

from itertools import combinations

import numpy as np
import pytest

import multiauc
import oracle
from strategies import rows_of_sizes, smooth, softmax, votes

SIZES = [
    (320_000, 2),
    (300_000, 3),
    (270_000, 4),
    (200_000, 5),
    (20_000, 10),
    (20_000, 40),
    (2_000, 256),
    (2_000, 257),
    (6_000, 300),
    (4_000, 1000),
]
#: Rows, classes, and what the logits are multiplied by: twenty times as large, most scores are next to 0 or 1.
SHAPES = [
    *((n, k, 1) for n, k in SIZES),
    *((n, k, 20) for n, k in [(320_000, 2), (80_000, 4), (60_000, 3), (20_000, 40)]),
]


def classifier(rng: np.random.Generator, codes: np.ndarray, k: int, dtype=np.float64, sharpness=1) -> np.ndarray:
    """Probabilities that know something about the class."""
    logits = rng.normal(scale=1.5, size=(len(codes), k))
    logits[np.arange(len(codes)), codes] += 1
    return softmax(sharpness * logits).astype(dtype)


def chosen_pairs(k: int, rng: np.random.Generator, limit: int = 400) -> list[tuple[int, int]]:
    pairs = list(combinations(range(k), 2))
    return pairs if len(pairs) <= limit else [pairs[i] for i in rng.choice(len(pairs), size=limit, replace=False)]


def expected_difference(codes: np.ndarray, scores: np.ndarray, c: int, d: int) -> float:
    """S(c, d) of scores that stand for themselves, from the two classes' rows."""
    rows = np.flatnonzero((codes == c) | (codes == d))
    ranks = oracle.difference_ranks(scores[rows, c], scores[rows, d])
    return float(oracle.separation_by_ranks(ranks[codes[rows] == c], ranks[codes[rows] == d]))


def column_counts(codes: np.ndarray, scores: np.ndarray, c: int) -> np.ndarray:
    """For each class d, twice the pairs (a in c, b in d) column c ranks rightly, ties once."""
    k, own = scores.shape[1], np.sort(scores[codes == c, c])
    above = 2 * len(own) - np.searchsorted(own, scores[:, c], "left") - np.searchsorted(own, scores[:, c], "right")
    return np.bincount(codes, weights=above, minlength=k)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: "x".join(map(str, s)))
def test_auc_mu_by_sorted_differences(shape, dtype, rng):
    n, k, sharpness = shape
    codes = rng.permutation(np.arange(n) % k)
    scores = classifier(rng, codes, k, dtype, sharpness)
    found = multiauc.auc_mu_matrix(codes, scores).values
    for c, d in chosen_pairs(k, rng):
        assert found[c, d] == found[d, c] == expected_difference(codes, scores, c, d)
    upper = found[np.triu_indices(k, 1)]
    assert multiauc.auc_mu_score(codes, scores) == pytest.approx(np.mean(upper), abs=1e-13)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: "x".join(map(str, s)))
def test_hand_till_and_one_vs_rest_by_sorted_columns(shape, dtype, rng):
    n, k, sharpness = shape
    codes = rng.permutation(np.arange(n) % k)
    scores = classifier(rng, codes, k, dtype, sharpness)
    counts = np.stack([column_counts(codes, scores, c) for c in range(k)])
    np.fill_diagonal(counts, 0)
    sizes = np.bincount(codes, minlength=k).astype(float)
    expected = counts / (2 * np.outer(sizes, sizes))
    np.fill_diagonal(expected, np.nan)
    np.testing.assert_array_equal(multiauc.hand_till_matrix(codes, scores).values, expected)
    assert multiauc.hand_till_score(codes, scores) == pytest.approx(np.nanmean(expected), abs=1e-13)
    pooled = counts.sum(axis=1) / (2 * sizes * (n - sizes))
    np.testing.assert_array_equal(list(multiauc.one_vs_rest_per_class(codes, scores).values()), pooled)
    assert multiauc.one_vs_rest_score(codes, scores) == pytest.approx(pooled.mean(), abs=1e-13)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("k", [2, 10, 300])
def test_micro_by_sorted_cells(k, dtype, rng):
    codes = rng.permutation(np.arange(max(60_000 // k, 2 * k)) % k)
    scores = classifier(rng, codes, k, dtype)
    own = np.arange(k) == codes[:, None]
    expected = oracle.separation_by_ranks(scores[own], scores[~own])
    assert multiauc.one_vs_rest_score(codes, scores, average="micro") == float(expected)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("sizes", [(1, 50_000), (50_000, 1), (1, 50_000, 1), (3, 100_000, 700, 1), (30_000, 2, 2, 2)])
def test_strongly_skewed_class_sizes(sizes, dtype, rng):
    codes = rng.permutation(rows_of_sizes(sizes))
    k = len(sizes)
    scores = classifier(rng, codes, k, dtype)
    differences = multiauc.auc_mu_matrix(codes, scores).values
    columns = multiauc.hand_till_matrix(codes, scores).values
    for c, d in combinations(range(k), 2):
        assert differences[c, d] == expected_difference(codes, scores, c, d)
        for own, other in ((c, d), (d, c)):
            exact = oracle.separation_by_ranks(scores[codes == own, own], scores[codes == other, own])
            assert columns[own, other] == float(exact)


@pytest.mark.slow
def test_a_class_of_more_than_a_million_rows_among_five(rng):
    sizes = np.array([3, 1_100_000, 300, 2, 1])
    codes = rng.permutation(rows_of_sizes(sizes))
    scores = classifier(rng, codes, len(sizes), np.float32)
    found = multiauc.hand_till_matrix(codes, scores).values
    pooled = multiauc.one_vs_rest_per_class(codes, scores)
    for c, size in enumerate(sizes):
        others = np.arange(len(sizes)) != c
        won = column_counts(codes, scores, c)[others]
        assert found[c, others] == pytest.approx(won / (2.0 * size * sizes[others]), abs=1e-15)
        assert pooled[c] == pytest.approx(won.sum() / (2.0 * size * sizes[others].sum()), abs=1e-15)


@pytest.mark.slow
def test_ten_thousand_classes(rng):
    # One row for each class: a pair of classes is a pair of rows, and a matrix of comparisons holds every value.
    k = 10_000
    scores = rng.random((k, k), dtype=np.float32)
    own = np.diagonal(scores).astype(np.float64)
    columns_won = pairs_won = 0.0
    for first in range(0, k, 1000):
        rows = slice(first, first + 1000)
        columns_won += np.mean(np.sign(own - scores[rows]), axis=None) / 10
        crossed = scores[rows].astype(np.float64) + scores[:, rows].T
        pairs_won += np.sum(np.sign(own[rows, None] + own - crossed))
    # Signs from -1 to 1 become shares; the diagonal is a tie with itself.
    by_columns = 0.5 + columns_won * k * k / (2 * k * (k - 1))
    by_pairs = 0.5 + pairs_won / (2 * k * (k - 1))
    labels = np.arange(k)
    assert multiauc.auc_mu_score(labels, scores) == pytest.approx(by_pairs, abs=1e-12)
    assert multiauc.hand_till_score(labels, scores) == pytest.approx(by_columns, abs=1e-12)
    assert multiauc.one_vs_rest_score(labels, scores) == pytest.approx(by_columns, abs=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("m", [2, 10, 100, 1000])
def test_votes_of_a_large_sample_give_the_value_of_integer_arithmetic(m, dtype, rng):
    """Hundreds of thousands of ties."""
    codes = rng.integers(0, 4, size=40_000)
    counts = np.rint(votes(rng, 40_000, 4, m) * m).astype(int)
    found = multiauc.auc_mu_matrix(codes, (counts / m).astype(dtype)).values
    for c, d in combinations(range(4), 2):
        key = counts[:, c] - counts[:, d]
        assert found[c, d] == float(oracle.separation_by_ranks(key[codes == c], key[codes == d]))


def test_mixed_leaf_sizes_of_a_large_sample_give_the_value_of_rational_arithmetic(rng):
    """Denominators that divide 27,720, beside smooth rows, as integers over their common denominator."""
    n, common = 40_000, 27_720
    codes = rng.integers(0, 3, size=n)
    voters = rng.choice([1, 2, 3, 5, 7, 9, 11, 12, 40, 56, 99, 360, 840], size=n)
    scores = votes(rng, n, 3, voters)
    keys = np.rint(scores * common).astype(int)
    found = multiauc.auc_mu_matrix(codes, scores).values
    for c, d in combinations(range(3), 2):
        key = keys[:, c] - keys[:, d]
        assert found[c, d] == float(oracle.separation_by_ranks(key[codes == c], key[codes == d]))


def test_fractions_beside_smooth_rows_in_a_large_sample(rng):
    codes = rng.integers(0, 3, size=12_000)
    scores = np.where(rng.random((12_000, 1)) < 0.5, votes(rng, 12_000, 3, 10), smooth(rng, 12_000, 3))
    exact = oracle.auc_mu_pairs(codes, scores, how=oracle.separation_by_ranks)
    np.testing.assert_array_equal(multiauc.auc_mu_matrix(codes, scores).values, oracle.matrix(exact, 3, True))


def test_dense_float32_scores_stay_distinct(rng):
    """A confident network: differences rounded to float32 would tie by the thousand."""
    n = 200_000
    codes = rng.integers(0, 3, size=n)
    logits = 6 * rng.normal(size=(n, 3))
    logits[np.arange(n), codes] += 3
    scores = softmax(logits).astype(np.float32)
    rounded = scores[:, 0] - scores[:, 1]
    exact = oracle.difference_ranks(scores[:, 0], scores[:, 1])
    assert len(np.unique(exact)) > len(np.unique(rounded)) + 1000
    found = multiauc.auc_mu_matrix(codes, scores).values
    for c, d in combinations(range(3), 2):
        assert found[c, d] == expected_difference(codes, scores, c, d)


@pytest.mark.parametrize("k", [3, 40])
def test_weights_in_a_large_sample(k, rng):
    """Integer weights against the rows repeated."""
    codes = rng.permutation(np.arange(30_000) % k)
    scores = classifier(rng, codes, k)
    times = rng.integers(0, 4, size=len(codes))
    repeated = np.repeat(codes, times), np.repeat(scores, times, axis=0)
    for matrix in (multiauc.auc_mu_matrix, multiauc.hand_till_matrix):
        found = matrix(codes, scores, sample_weight=times).values
        np.testing.assert_allclose(found, matrix(*repeated).values, rtol=0, atol=1e-12)
    for average in ("macro", "prevalence", "prevalence_equal_rest", "micro"):
        found = multiauc.one_vs_rest_score(codes, scores, sample_weight=times, average=average)
        assert found == pytest.approx(multiauc.one_vs_rest_score(*repeated, average=average), abs=1e-12)


@pytest.mark.parametrize("k", [10, 60])
def test_partition_matrix_in_a_large_sample(k, rng):
    codes = rng.permutation(np.arange(6_000) % k)
    scores = classifier(rng, codes, k)
    partition = rng.integers(1, 6, size=(k, k)) * (1.0 - np.eye(k))
    found = multiauc.auc_mu_matrix(codes, scores, partition=partition).values
    keys = np.zeros(scores.shape)  # no pair of this partition is a multiple of the argmax one
    for c, d in chosen_pairs(k, rng):
        v, sigma = oracle.partition_direction(partition, c, d)
        assert sigma
        assert np.count_nonzero(v) > 2
        key = oracle.partition_key(scores, keys, partition, c, d)
        assert found[c, d] == float(oracle.separation_by_ranks(key[codes == c], key[codes == d]))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "shape", [(300_000, 3, 20), (50_000, 10, 1), (50_000, 10, 20), (5_000, 300, 1)], ids=lambda s: "x".join(map(str, s))
)
def test_any_number_of_threads_gives_the_same_bits(shape, dtype, weighted, rng, restore_threads):
    n, k, sharpness = shape
    codes = rng.permutation(np.arange(n) % k)
    scores = classifier(rng, codes, k, dtype, sharpness)
    weights = rng.random(n) + 0.01 if weighted else None
    results = []
    for threads in (1, 2, 8):
        multiauc.set_num_threads(threads)
        results.append(
            [
                multiauc.auc_mu_matrix(codes, scores, sample_weight=weights).values,
                multiauc.auc_mu_score(codes, scores, sample_weight=weights),
                multiauc.hand_till_matrix(codes, scores, sample_weight=weights).values,
                multiauc.hand_till_score(codes, scores, sample_weight=weights),
                *[
                    multiauc.one_vs_rest_score(codes, scores, sample_weight=weights, average=average)
                    for average in ("macro", "prevalence", "prevalence_equal_rest", "micro")
                ],
            ]
        )
    for other in results[1:]:
        for first, again in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(again, first)


def delong(own: np.ndarray, others: np.ndarray) -> tuple[float, float]:
    """The share of pairs in the right order and its standard error, from placements by sorting."""

    def placements(rows, among):
        ordered = np.sort(among)
        return (np.searchsorted(ordered, rows, "left") + np.searchsorted(ordered, rows, "right")) / (2 * len(among))

    above, below = placements(own, others), placements(others, own)
    return above.mean(), np.sqrt(above.var(ddof=1) / len(own) + below.var(ddof=1) / len(others))


@pytest.mark.parametrize("decimals", [None, 4])
@pytest.mark.parametrize("threads", [1, 2])
def test_placements_of_classes_that_are_split_into_parts(decimals, threads, rng):
    codes = rng.integers(0, 2, 640_000)
    scores = classifier(rng, codes, 2)
    if decimals is not None:
        scores = np.round(scores, decimals)
    multiauc.set_num_threads(threads)
    try:
        result = multiauc.evaluate(codes, scores)
    finally:
        multiauc.set_num_threads(0)
    keys = scores[:, 0] - scores[:, 1] if decimals is None else np.rint((scores[:, 0] - scores[:, 1]) * 10**decimals)
    expected = {
        "auc_mu": delong(keys[codes == 0], keys[codes == 1]),
        0: delong(scores[codes == 0, 0], scores[codes == 1, 0]),
        1: delong(scores[codes == 1, 1], scores[codes == 0, 1]),
    }
    for name, found in {"auc_mu": result.auc_mu, **result.per_class}.items():
        np.testing.assert_allclose((found.value, found.standard_error), expected[name], rtol=1e-10)
