"""Samples that are right, and samples that are wrong in one of many ways."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Rng = np.random.Generator


class Sample(NamedTuple):
    """Labels, scores and weights (or None) as a public function takes them."""

    y: Any
    p: Any
    w: Any

    @property
    def options(self) -> dict[str, Any]:
        """The options that most functions have."""
        return {"sample_weight": self.w, "absent": "ignore"}


def sound(rng: Rng, *, most_rows: int = 24, most_classes: int = 5, weighted: bool | None = None) -> Sample:
    """A sample in which every class has a row of positive weight."""
    k = int(rng.integers(2, most_classes + 1))
    n = int(rng.integers(k, max(most_rows, k) + 1))
    y = np.concatenate([np.arange(k), rng.integers(k, size=n - k)])
    p = rng.dirichlet(np.ones(k), size=n)
    if rng.random() < 0.4:
        p = np.round(p * 4) / 4  # ties
    has_weights = rng.random() < 0.5 if weighted is None else weighted
    w = None
    if has_weights:
        w = rng.choice([0.1, 0.2, 0.3, 1.0, 1e-3, 7.0], size=n)
        w[k:] *= rng.random(n - k) < 0.8  # some rows do not count
    return Sample(y, p, w)


def any_sample(rng: Rng, *, most_rows: int = 24, most_classes: int = 5) -> Sample:  # noqa: C901 - a branch per way
    """A sample that may be wrong in some way, or of an extreme shape."""
    y, p, w = sound(rng, most_rows=most_rows, most_classes=most_classes)
    n, k = p.shape
    row, column = int(rng.integers(n)), int(rng.integers(k))
    kind = int(rng.integers(16))
    if kind < 4:  # a value that is no number, or an extreme one
        p = p.copy()
        p[row, column] = rng.choice([np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, -0.0, 2.0**53 + 1])
    elif kind == 4:
        p = rng.choice([1e308, -1e308, 0.0, 5e-324], size=p.shape)
    elif kind == 5:
        y = y.astype(object)
        y[row] = [2**63 - 1, 2**64, 10**30, -(2**63), None, float("nan"), "x"][rng.integers(7)]
    elif kind == 6:
        y, p, w = y[:1], p[:1], None if w is None else w[:1]
    elif kind == 7:
        y, p, w = y[:0], p[:0], None
    elif kind == 8:
        w = rng.choice([0.0, -1.0, np.nan, np.inf, 1e308, 5e-324, 1.0], size=n)
    elif kind == 9:
        w = np.zeros(n)
    elif kind == 10:
        p = p[:, : max(1, k - 1)]
    elif kind == 11:
        p, y = p.astype(np.float32), y.astype(rng.choice(["u1", "i8", "u8", "f8"]))
    elif kind == 12:  # every other row of a larger array, backwards
        p = np.repeat(p, 2, axis=0)[::-2]
    elif kind == 13:
        p = np.asfortranarray(np.full_like(p, 0.25))
    elif kind == 14:
        y = np.zeros(n, dtype=int)
    return Sample(y, p, w)
