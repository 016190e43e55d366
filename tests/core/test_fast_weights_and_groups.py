"""Weighted scores and numbered groups by their definitions, at sizes where the quick ways are taken."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import multiauc


def _sample(n_rows: int, n_classes: int, seed: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, n_rows)
    labels[:n_classes] = np.arange(n_classes)
    logits = rng.normal(size=(n_rows, n_classes))
    logits[np.arange(n_rows), labels] += 1.0
    scores = np.exp(logits)
    return labels, scores / scores.sum(axis=1, keepdims=True), rng


def _share(own: Any, others: Any, own_weights: Any, other_weights: Any) -> Fraction:
    """The exact share of the weight of pairs in which `own` is higher, ties counting half."""
    doubled = (own[:, None] > others).astype(int) + (own[:, None] >= others)
    products = np.outer(own_weights, other_weights)
    return Fraction(int((doubled * products).sum()), 2 * int(products.sum()))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("digits", [None, 2])
def test_whole_weights_give_the_exact_shares(dtype: str, digits: int | None) -> None:
    labels, scores, rng = _sample(600, 4, seed=1)
    scores = (scores if digits is None else np.round(scores, digits)).astype(dtype)
    weights = rng.integers(0, 5, len(labels))
    weights[:4] = 1
    rows = [np.flatnonzero((labels == k) & (weights > 0)) for k in range(4)]
    found = multiauc.hand_till_matrix(labels, scores, sample_weight=weights.astype(float)).values
    for c, d in combinations(range(4), 2):
        for own, other in ((c, d), (d, c)):
            column = scores[:, own]
            exact = _share(column[rows[own]], column[rows[other]], weights[rows[own]], weights[rows[other]])
            assert found[own, other] == float(exact)


@pytest.mark.parametrize(("n_rows", "n_classes"), [(3_000, 5), (2_000, 30), (300_000, 2)])
def test_weights_count_like_repeated_rows_on_any_number_of_threads(n_rows: int, n_classes: int) -> None:
    labels, scores, rng = _sample(n_rows, n_classes, seed=2)
    weights = rng.integers(1, 3, n_rows)
    repeated = np.repeat(np.arange(n_rows), weights)
    before = multiauc.get_num_threads()
    try:
        for score in (multiauc.auc_mu_score, multiauc.hand_till_score, multiauc.one_vs_rest_score):
            found = set()
            for threads in (1, 2, 3):
                multiauc.set_num_threads(threads)
                found.add(score(labels, scores, sample_weight=weights.astype(float)))
            assert len(found) == 1
            assert found.pop() == pytest.approx(score(labels[repeated], scores[repeated]), rel=0, abs=1e-14)
    finally:
        multiauc.set_num_threads(before)


@pytest.mark.parametrize("n_rows", [200, 300_000])
def test_perfect_separation_is_exactly_one_at_any_weights(n_rows: int) -> None:
    rng = np.random.default_rng(3)
    labels = np.arange(n_rows) % 2
    scores = np.where(labels == 1, rng.uniform(0.5, 1.0, n_rows), rng.uniform(0.0, 0.49, n_rows))
    weights = rng.lognormal(0.0, 8.0, n_rows)
    both = np.column_stack([1 - scores, scores])
    for y_score in (scores, both):
        assert multiauc.auc_mu_score(labels, y_score, sample_weight=weights) == 1.0
        assert multiauc.auc_mu_score(1 - labels, y_score, sample_weight=weights) == 0.0
        assert multiauc.hand_till_score(labels, y_score, sample_weight=weights) == 1.0
