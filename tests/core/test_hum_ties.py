"""Ties and near ties of the hypervolume, against exact fractions."""

import time
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

import multiauc
import oracle_volumes

EXACT = 1e-14


def table_of(scores):
    return [[Fraction(p) for p in row] for row in np.asarray(scores, dtype=float).tolist()]


def expected(codes, scores, key):
    return float(oracle_volumes.hum_components(codes, table_of(scores), key)[0])


def decimal_distances(scores):
    """-|p - e_j| of doubles, to 100 digits, and how to add them up: sums that agree to 22 decimals tie."""

    def add(values):
        with localcontext() as context:
            context.prec = 100
            return sum(values, Decimal(0)).quantize(Decimal("1e-22"))

    with localcontext() as context:
        context.prec = 100
        table = [
            [-(sum((Decimal(p) - (i == j)) ** 2 for i, p in enumerate(row))).sqrt() for j in range(len(row))]
            for row in scores.tolist()
        ]
    return table, add


def sharp_sample(seed, n_classes, scale):
    """Softmax scores of large logits: most are next to 0 or 1."""
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(n_classes), 3 if n_classes < 5 else 2)
    logits = scale * (rng.normal(size=(len(codes), n_classes)) + 0.5 * np.eye(n_classes)[codes])
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return codes, powers / powers.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("n_classes", [3, 4])
@pytest.mark.parametrize("scale", [1.0, 15.0, 60.0, 300.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_of_sharp_probabilities_are_exact(n_classes, scale, dtype):
    for seed in range(8):
        codes, scores = sharp_sample(seed, n_classes, scale)
        scores = scores.astype(dtype)
        value = expected(codes, scores, oracle_volumes.sum_key)
        assert multiauc.hum_score(codes, scores) == pytest.approx(value, abs=EXACT)


@pytest.mark.parametrize("largest", [1e-300, 1.0, 1e300])
def test_sums_of_scores_of_any_size_are_exact(largest):
    rng = np.random.default_rng(3)
    codes = np.repeat(np.arange(3), 4)
    for _ in range(10):
        scores = largest * rng.choice([0.0, -1.0, 0.7, 1.0, 5e-17, 1e-24], size=(12, 3))
        value = expected(codes, scores, oracle_volumes.sum_key)
        assert multiauc.hum_score(codes, scores) == pytest.approx(value, abs=EXACT)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("factors", [[0.5, 1.0, 2.0, 2.0**-40], [1.0, 3.0, 7.0, 11.0]])
def test_proportional_rows_tie_by_products(n_classes, factors):
    # Forty digits, so that products with the factors are exact.
    rng = np.random.default_rng(4)
    codes = np.repeat(np.arange(n_classes), 3)
    for _ in range(20):
        row = np.round(rng.random(n_classes) * 2.0**40) / 2.0**40
        scores = rng.choice(factors, size=(len(codes), 1)) * row
        value = expected(codes, scores, oracle_volumes.product_key)
        assert value == pytest.approx(1 / [2, 6, 24][n_classes - 2])
        assert multiauc.hum_score(codes, scores, rule="prod") == pytest.approx(value, abs=EXACT)


@pytest.mark.parametrize("n_classes", [3, 4])
def test_products_of_few_factors_tie_where_they_do_on_paper(n_classes):
    rng = np.random.default_rng(5)
    codes = np.repeat(np.arange(n_classes), 3)
    for _ in range(10):
        scores = 3.0 ** rng.integers(-1, 3, size=(len(codes), n_classes)) * 2.0 ** rng.integers(
            -40, -30, size=(len(codes), n_classes)
        )
        scores = np.where(scores == 1 / 3, 0.0, scores)
        value = expected(codes, scores, oracle_volumes.product_key)
        assert multiauc.hum_score(codes, scores, rule="prod") == pytest.approx(value, abs=EXACT)


@pytest.mark.parametrize("scale", [1.0, 15.0])
def test_products_of_sharp_probabilities(scale):
    for seed in range(8):
        codes, scores = sharp_sample(seed, 4, scale)
        value = expected(codes, scores, oracle_volumes.product_key)
        assert multiauc.hum_score(codes, scores, rule="prod") == pytest.approx(value, abs=EXACT)


@pytest.mark.parametrize("n_classes", [3, 4, 5])
def test_distances_with_equal_columns_do_not_depend_on_the_order_of_columns(n_classes):
    rng = np.random.default_rng(6)
    codes = np.repeat(np.arange(n_classes), 2)
    for trial in range(60):
        scores = rng.dirichlet(np.ones(n_classes), size=len(codes))
        scores[:, 1] = scores[:, 0]
        value = multiauc.hum_score(codes, scores, rule="distance")
        order = rng.permutation(n_classes)
        moved = multiauc.hum_score(np.argsort(order)[codes], scores[:, order], rule="distance")
        assert moved == value
        if trial < 5 and n_classes < 5:
            table, add = decimal_distances(scores)
            assert value == pytest.approx(float(oracle_volumes.hum_components(codes, table, add)[0]), abs=EXACT)


def test_distances_of_scores_of_other_sizes():
    rng = np.random.default_rng(7)
    codes = np.repeat(np.arange(3), 3)
    for size in (1e-6, 1.0, 1e6):
        scores = size * rng.normal(size=(9, 3))
        table, add = decimal_distances(scores)
        value = float(oracle_volumes.hum_components(codes, table, add)[0])
        assert multiauc.hum_score(codes, scores, rule="distance") == pytest.approx(value, abs=EXACT)


@pytest.mark.slow
@pytest.mark.parametrize(("n_classes", "rows"), [(12, 36), (10, 50)])
def test_many_ties_take_a_bounded_time(n_classes, rows):
    rng = np.random.default_rng(8)
    codes = np.arange(rows) % n_classes
    scores = rng.integers(0, 2, size=(rows, n_classes)).astype(float)
    scores[np.arange(rows), codes] = 1.0
    start = time.perf_counter()
    found = multiauc.hum(codes, scores, rng=0)
    assert time.perf_counter() - start < 20.0
    assert 0.0 < found.value < 1.0
    if not found.exact:
        assert 0.0 < found.monte_carlo_error <= 1e-3
