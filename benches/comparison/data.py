"""Inputs: smooth scores like those of a real classifier, and the shapes that make ranking algorithms stumble."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable

Scores = NDArray[Any]
Labels = NDArray[Any]

#: Scores made at a time: keeps the temporaries small beside the result.
BLOCK_CELLS = 1 << 20


class Sample(NamedTuple):
    """Rows to evaluate: their classes (int64) and their scores, one column per class."""

    labels: Labels
    scores: Scores


def smooth(n_rows: int, n_classes: int, dtype: str = "float64", seed: int = 0, sharpness: float = 1.0) -> Sample:
    """Softmax of normal logits; the logit of a row's own class is shifted up by one.

    Both dtypes hold the same numbers, rounded. `sharpness` multiplies the logits.
    """
    generator = np.random.default_rng(seed)
    labels = generator.integers(0, n_classes, n_rows)
    scores = np.empty((n_rows, n_classes), dtype)
    step = max(1, BLOCK_CELLS // n_classes)
    for start in range(0, n_rows, step):
        own = labels[start : start + step]
        block = generator.standard_normal((len(own), n_classes))
        block[np.arange(len(own)), own] += 1.0
        block *= sharpness
        block -= block.max(axis=1, keepdims=True)
        np.exp(block, out=block)
        block /= block.sum(axis=1, keepdims=True)
        scores[start : start + step] = block
    return Sample(labels, scores)


def tied(n_rows: int, n_classes: int, dtype: str = "float64") -> Sample:
    """Scores rounded to multiples of 1/20: few distinct values, long runs of ties."""
    labels, scores = smooth(n_rows, n_classes)
    return Sample(labels, (np.rint(scores * 20) / 20).astype(dtype))


def constant(n_rows: int, n_classes: int, dtype: str = "float64") -> Sample:
    """The same score in every cell."""
    return Sample(smooth(n_rows, n_classes).labels, np.full((n_rows, n_classes), 1 / n_classes, dtype))


def sorted_by_score(n_rows: int, n_classes: int, dtype: str = "float64") -> Sample:
    """Smooth scores, rows in order of their first column."""
    labels, scores = smooth(n_rows, n_classes, dtype)
    order = np.argsort(scores[:, 0])
    return Sample(labels[order], scores[order])


def sorted_by_class(n_rows: int, n_classes: int, dtype: str = "float64") -> Sample:
    """Smooth scores, rows in order of their class and, within it, of the score of that class."""
    labels, scores = smooth(n_rows, n_classes, dtype)
    order = np.lexsort((scores[np.arange(n_rows), labels], labels))
    return Sample(labels[order], scores[order])


def saturated(n_rows: int, n_classes: int, dtype: str = "float64") -> Sample:
    """Softmax of logits twenty times as large: most scores next to 0 or 1."""
    return smooth(n_rows, n_classes, dtype, sharpness=20.0)


def clustered(n_rows: int, n_classes: int, dtype: str = "float64") -> Sample:
    """All but one row in a thousand within a 1e-6 of one value; the others spread the range."""
    labels, scores = smooth(n_rows, n_classes)
    near = np.random.default_rng(1).random(n_rows) >= 1e-3
    scores[near] = 0.5 + 1e-6 * scores[near]
    return Sample(labels, scores.astype(dtype))


def nested_clusters(n_rows: int, n_classes: int, dtype: str = "float64") -> Sample:
    """Clusters of clusters of clusters: of every interval cut into eight, only the two ends are inhabited."""
    labels, scores = smooth(n_rows, n_classes)
    bits = (scores * 2.0**16).astype(np.uint64)
    spread = np.zeros_like(scores)
    for level in range(16):
        spread += 7.0 * ((bits >> np.uint64(15 - level)) & np.uint64(1)) * 8.0 ** -(level + 1)
    return Sample(labels, spread.astype(dtype))


def all_exponents(n_rows: int, n_classes: int, dtype: str = "float64") -> Sample:
    """Scores over the whole range of exponents of the dtype."""
    labels, scores = smooth(n_rows, n_classes)
    lowest = -300.0 if dtype == "float64" else -37.0
    return Sample(labels, (10.0 ** (lowest * (1.0 - scores))).astype(dtype))


#: Every shape but the smooth one, by the name it has in the report.
SHAPES: dict[str, Callable[[int, int, str], Sample]] = {
    "heavily tied (multiples of 1/20)": tied,
    "constant": constant,
    "sorted by the first score": sorted_by_score,
    "sorted by class, then score": sorted_by_class,
    "saturated softmax": saturated,
    "one tight cluster and outliers": clustered,
    "nested clusters": nested_clusters,
    "all exponents": all_exponents,
}
