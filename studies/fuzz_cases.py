"""Random small samples for `fuzz.py`. A case is named by a seed and a number, and always the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

Rng = np.random.Generator
Maker = Callable[[Rng, int, int], Any]

MOST_ROWS = 12
MOST_CLASSES = 5
# Kinds of scores whose sums with costs stay far from the ends of the range of doubles.
MODERATE = ("smooth", "logits", "fractions", "small_fractions", "decimals", "mixed_decimals", "integers", "bytes")


@dataclass(frozen=True)
class Case:
    """A sample with the options of the metrics; class c has the column c, and may have no rows.

    `scores` has a column per class. Where `is_single`, the library is given the second of two columns alone, and the
    first is that column with the other sign, which orders the rows the same way.
    """

    seed: int
    number: int
    kind: str
    codes: Any
    scores: Any
    weights: Any
    partition: Any
    pair_weights: Any
    is_single: bool

    @property
    def n_classes(self) -> int:
        """Classes, absent ones included."""
        return int(self.scores.shape[1])

    @property
    def given(self) -> Any:
        """The scores as the library is given them."""
        return self.scores[:, 1] if self.is_single else self.scores

    @property
    def options(self) -> dict[str, Any]:
        """The options that all metrics have."""
        return {"labels": list(range(self.n_classes)), "sample_weight": self.weights, "absent": "ignore"}

    def without_row(self, row: int) -> Self:
        """The same without one of its rows."""
        weights = None if self.weights is None else np.delete(self.weights, row)
        return replace(self, codes=np.delete(self.codes, row), scores=np.delete(self.scores, row, 0), weights=weights)

    @property
    def is_defined(self) -> bool:
        """Whether at least two classes have rows of positive weight."""
        codes = self.codes if self.weights is None else self.codes[self.weights > 0]
        return len(np.unique(codes)) > 1

    def __str__(self) -> str:
        lines = [
            f"seed {self.seed}, case {self.number} ({self.kind}, {self.scores.dtype})",
            f"y_true = {self.codes.tolist()}",
            f"y_score = {self.given.tolist()}",
        ]
        for name in ("weights", "partition", "pair_weights"):
            value = getattr(self, name)
            if value is not None:
                lines.append(f"{name} = {value if isinstance(value, str) else value.tolist()}")
        return "\n".join(lines)


def make_case(seed: int, number: int) -> Case:
    """The case of this number."""
    rng = np.random.default_rng([seed, number])
    n_classes = int(rng.integers(2, MOST_CLASSES + 1))
    n_rows = int(rng.integers(2, MOST_ROWS + 1))
    is_single = n_classes == 2 and rng.random() < 0.3
    dtype = np.float32 if rng.random() < 0.3 else np.float64
    kind, scores = _scores(rng, n_rows, n_classes, dtype)
    if is_single:
        scores[:, 0] = -scores[:, 1]
    case = Case(
        seed,
        number,
        kind,
        _codes(rng, n_rows, n_classes),
        scores,
        _weights(rng, n_rows),
        _partition(rng, n_classes) if kind in MODERATE and not is_single and rng.random() < 0.2 else None,
        _pair_weights(rng, n_classes),
        is_single,
    )
    return case if case.is_defined else replace(case, weights=None)


def _codes(rng: Rng, n_rows: int, n_classes: int) -> Any:
    """Classes of the rows, of which at least two have any; sometimes others have none."""
    present = rng.permutation(n_classes)[: int(rng.integers(2, n_classes + 1))] if rng.random() < 0.2 else n_classes
    codes = rng.choice(present, size=n_rows)
    if (codes == codes[0]).all():
        codes[0] = next(c for c in np.atleast_1d(np.arange(n_classes)) if c != codes[0])
    return codes


def _weights(rng: Rng, n_rows: int) -> Any:
    kind = rng.integers(8)
    if kind == 0:
        return rng.integers(0, 4, size=n_rows).astype(float)
    if kind == 1:
        return rng.random(n_rows)
    if kind == 2:
        return 10.0 ** rng.uniform(-8, 8, size=n_rows)
    return None


def _partition(rng: Rng, n_classes: int) -> Any:
    """Costs whose rows have equal sums, so that scores need not sum to 1: each row has the same costs."""
    costs = rng.integers(1, 6, size=n_classes - 1)
    matrix = np.zeros((n_classes, n_classes))
    for c in range(n_classes):
        matrix[c, np.arange(n_classes) != c] = rng.permutation(costs)
    return matrix


def _pair_weights(rng: Rng, n_classes: int) -> Any:
    kind = rng.integers(6)
    if kind == 0:
        half = np.triu(rng.random((n_classes, n_classes)) + 0.01, 1)
        return half + half.T
    return {1: "size_product", 2: "size_sum"}.get(int(kind))


# --- Scores -----------------------------------------------------------------------------------------------------------


def _scores(rng: Rng, n_rows: int, n_classes: int, dtype: Any) -> tuple[str, Any]:
    """(kind, scores): of one kind, or cells or rows of two; some rows may be there twice."""
    names = list(KINDS)
    kind = names[rng.integers(len(names))]
    scores = KINDS[kind](rng, n_rows, n_classes)
    if rng.random() < 0.2:
        other = names[rng.integers(len(names))]
        mask = rng.random((n_rows, 1 if rng.random() < 0.5 else n_classes)) < 0.5
        scores = np.where(mask, scores, KINDS[other](rng, n_rows, n_classes))
        kind = f"{kind} and {other}"
    if rng.random() < 0.3:
        scores = scores[rng.integers(n_rows, size=n_rows)]
    if dtype == np.float32:
        largest = float(np.finfo(np.float32).max)
        scores = np.clip(scores, -largest, largest).astype(np.float32)
    return kind, np.ascontiguousarray(scores)


def _softmax(logits: Any) -> Any:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def _smooth(rng: Rng, n: int, k: int) -> Any:
    return _softmax(rng.normal(scale=2.0, size=(n, k)))


def _logits(rng: Rng, n: int, k: int) -> Any:
    return rng.normal(scale=10.0 ** rng.integers(-3, 5), size=(n, k))


def _fractions(rng: Rng, n: int, k: int) -> Any:
    """Of one denominator, or of one for each row or each cell."""
    shape = [(1, 1), (n, 1), (n, k)][rng.integers(3)]
    denominators = rng.integers(1, 1001, size=shape)
    return rng.integers(0, denominators + 1, size=(n, k)) / denominators


def _small_fractions(rng: Rng, n: int, k: int) -> Any:
    """Of either sign and beyond 1; differences often tie."""
    return rng.integers(-8, 9, size=(n, k)) / rng.integers(1, 8, size=(n, k))


def _decimals(rng: Rng, n: int, k: int) -> Any:
    """Of one number of digits, from a few values so that differences tie."""
    unit = 10.0 ** rng.integers(1, 9)
    return (rng.integers(0, 5, size=(n, k)) * rng.integers(1, int(unit) + 1) % (unit + 1)) / unit


def _mixed_decimals(rng: Rng, n: int, k: int) -> Any:
    """Tenths, with a few units of any digit up to the eighth."""
    units = 10.0 ** -rng.integers(1, 9, size=(n, k))
    return np.round(rng.integers(0, 10, size=(n, k)) / 10 + rng.integers(-2, 3, size=(n, k)) * units, 8)


def _integers(rng: Rng, n: int, k: int) -> Any:
    return rng.integers(-5, 6, size=(n, k)) * 10.0 ** rng.integers(0, 5)


def _bytes(rng: Rng, n: int, k: int) -> Any:
    """Quantised scores."""
    return rng.integers(0, 256, size=(n, k)) / rng.choice([255.0, 256.0, 127.0])


def _saturated(rng: Rng, n: int, k: int) -> Any:
    """A confident model: 1 beside probabilities that vanish next to it."""
    return _softmax(rng.normal(scale=30.0, size=(n, k)))


def _tiny(rng: Rng, n: int, k: int) -> Any:
    return 10.0 ** rng.uniform(-300, -20, size=(n, k))


def _denormal(rng: Rng, n: int, k: int) -> Any:
    """Small multiples of the smallest numbers of either precision."""
    unit = rng.choice([5e-324, 1e-320, float(np.finfo(np.float32).smallest_subnormal)])
    return rng.integers(-3, 4, size=(n, k)) * unit


def _huge(rng: Rng, n: int, k: int) -> Any:
    return rng.choice([-1.0, 1.0], size=(n, k)) * rng.choice([1.7e308, 1.6e308, 3.4e38, 1e30, 1.0], size=(n, k))


def _near(rng: Rng, n: int, k: int) -> Any:
    """Fractions and their neighbours among the doubles."""
    base = rng.choice([0.1, 0.2, 0.3, 1 / 3, 2 / 3, 0.12345, 0.5, 1.0], size=(n, k))
    return base + rng.integers(-1, 2, size=(n, k)) * np.spacing(base)


def _shifted(rng: Rng, n: int, k: int) -> Any:
    """The same few differences at other places, rounded there."""
    pattern = rng.choice([0.0, 0.1, 0.25, 1 / 3, 0.0625], size=(n, k))
    return pattern + rng.choice([0.0, 0.3, 1e-3, 7.0, 20_000.0, 1e6], size=(n, 1)) * rng.choice([1.0, np.pi])


def _parallel(rng: Rng, n: int, k: int) -> Any:
    """Columns that differ by a constant but for rounding, which alone orders the differences."""
    offsets = rng.choice([0.0, 1e-3, 1.0, 20_000.0, 1e6, 1e12], size=k) + rng.choice([0.0, 1.0]) * rng.random(k)
    return rng.random((n, 1)) + offsets


KINDS: dict[str, Maker] = {
    "smooth": _smooth,
    "logits": _logits,
    "fractions": _fractions,
    "small_fractions": _small_fractions,
    "decimals": _decimals,
    "mixed_decimals": _mixed_decimals,
    "integers": _integers,
    "bytes": _bytes,
    "saturated": _saturated,
    "tiny": _tiny,
    "denormal": _denormal,
    "huge": _huge,
    "near": _near,
    "shifted": _shifted,
    "parallel": _parallel,
}
