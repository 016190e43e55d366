"""Weights and groups: the quick sums against all pairs of rows, on samples large enough for every table of the core.

A million of them: make fuzz FUZZ="--target weighted_pairs --cases 1000000".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import multiauc
import oracle_uncertainty
from fuzz_targets.registry import Rng, target, unequal

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_ROWS, MOST_GROUPED_ROWS, MOST_CLASSES = 120, 40, 4
#: Scores are multiples of this: all their differences are exact.
UNIT = 2.0**-40


def _scores(rng: Rng, rows: int, classes: int) -> Any:
    """Smooth, on a lattice, heavily tied, clustered, or over many orders of magnitude."""
    kind = int(rng.integers(5))
    scores: Any = rng.dirichlet(np.ones(classes), rows)
    if kind == 1:
        scores = np.round(scores * 20) / 32
    elif kind == 2:
        scores = rng.integers(0, 3, scores.shape) / 4
    elif kind == 3:
        scores = 0.5 + scores * 2.0**-20
    elif kind == 4:
        scores = 2.0 ** -rng.integers(0, 38, scores.shape) * (scores < rng.random())
    return np.round(scores / UNIT) * UNIT


def _weights(rng: Rng, rows: int) -> Any:
    """Between bounds, whole, with zeros, or over many orders of magnitude."""
    kind = int(rng.integers(5))
    weights = rng.uniform(0.5, 1.5, rows)
    if kind == 1:
        weights = rng.integers(1, 5, rows).astype(float)
    elif kind == 2:
        weights *= rng.random(rows) < 0.7
    elif kind == 3:
        weights = 10.0 ** rng.uniform(-9, 9, rows)
    elif kind == 4:
        weights = weights * 1e290
    return weights


def _codes(rng: Rng, rows: int, classes: int) -> Any:
    codes = rng.integers(0, classes, rows)
    codes[: 2 * classes] = np.arange(2 * classes) % classes
    return rng.permutation(codes)


def _share(own: Any, other: Any, own_weights: Any, other_weights: Any) -> float:
    """What one side wins of all pairs, by weight."""
    signs = 0.5 * (1.0 + np.sign(own[:, None] - other[None, :]))
    return float(own_weights / own_weights.sum() @ signs @ (other_weights / other_weights.sum()))


@target()
def weighted_pairs(rng: Rng) -> Iterator[str]:
    """AUC_mu, M and one-vs-rest by weight, against all pairs of rows."""
    classes = int(rng.integers(2, MOST_CLASSES + 1))
    rows = int(rng.integers(2 * classes, MOST_ROWS + 1))
    y, p, w = _codes(rng, rows, classes), _scores(rng, rows, classes), _weights(rng, rows)
    for c in range(classes):
        w[np.flatnonzero(y == c)[0]] += float(w.max() or 1.0)
    of = [y == c for c in range(classes)]
    pairs = [(c, d) for c in range(classes) for d in range(classes) if c != d]
    by_difference = [
        _share(p[of[c], c] - p[of[c], d], p[of[d], c] - p[of[d], d], w[of[c]], w[of[d]]) for c, d in pairs if c < d
    ]
    by_column = [_share(p[of[c], c], p[of[d], c], w[of[c]], w[of[d]]) for c, d in pairs]
    against_rest = [_share(p[of[c], c], p[~of[c], c], w[of[c]], w[~of[c]]) for c in range(classes)]
    for function, expected in (
        (multiauc.auc_mu_score, by_difference),
        (multiauc.hand_till_score, by_column),
        (multiauc.one_vs_rest_score, against_rest),
    ):
        found = function(y, p, sample_weight=w)
        yield from unequal(f"{function.__name__} of {rows} weighted rows", found, np.mean(expected))
    values = {name: estimate.value for name, estimate in multiauc.evaluate(y, p, sample_weight=w).metrics.items()}
    yield from unequal("evaluate of weighted rows, AUC_mu", values["auc_mu"], np.mean(by_difference))
    yield from unequal("evaluate of weighted rows, M", values["hand_till"], np.mean(by_column))


@target()
def grouped_rows(rng: Rng) -> Iterator[str]:
    """Covariances of rows in groups, against sums over all pairs of rows."""
    classes = int(rng.integers(2, MOST_CLASSES + 1))
    rows = int(rng.integers(4 * classes, MOST_GROUPED_ROWS + 1))
    y, p = _codes(rng, rows, classes), _scores(rng, rows, classes)
    groups = rng.integers(0, int(rng.integers(4, rows + 1)), rows)
    weights = rng.uniform(0.5, 1.5, rows) if rng.random() < 0.5 else None
    for c in range(classes):
        if len(set(groups[y == c])) < 2:
            return
    result = multiauc.evaluate(y, p, groups=groups, sample_weight=weights)
    problem = oracle_uncertainty.Problem(y, p, weights)
    names = list(result.metrics)
    across = any(len(set(y[groups == group])) > 1 for group in np.unique(groups))
    expected = [[problem.covariance(a, b, groups=groups, iid=across) for b in names] for a in names]
    yield from unequal(f"covariance of {rows} rows in groups", result.covariance, expected)
