"""The samples whose numbers by R's pROC are in fixtures/proc.json, the same on every computer.

    python tests/core/proc_samples.py samples.csv
    Rscript studies/proc_fixtures.R samples.csv tests/core/fixtures/proc.json

make the fixtures again. Scores are sums and products of a linear congruential generator's fractions: no library's
random numbers, no logarithms.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

MODULUS, FACTOR = 2_147_483_647, 16_807


def fractions(seed: int) -> Iterator[float]:
    """Lehmer's "minimal standard" numbers, between 0 and 1."""
    state = seed
    while True:
        state = state * FACTOR % MODULUS
        yield state / MODULUS


@dataclass(frozen=True)
class Sample:
    """Rows of classes 0, 1, ... and the columns of one or two models."""

    name: str
    codes: np.ndarray
    scores: np.ndarray


def _normal(u: np.ndarray) -> np.ndarray:
    """About normal: a sum of twelve fractions."""
    return u.sum(axis=-1) - 6.0


def _two_classes(seed: int, name: str, sizes: tuple[int, int], signal: float, shape: str) -> Sample:
    """Two models on the same rows, half of whose noise is shared."""
    codes = np.repeat([0, 1], sizes)
    u = np.array(list(islice(fractions(seed), len(codes) * 36))).reshape(len(codes), 3, 12)
    shared, *own = (_normal(u[:, i]) for i in range(3))
    noise = np.column_stack([0.5 * (shared + one) for one in own])
    if shape == "skewed":  # most rows right, a few badly wrong
        noise = noise - 4.0 * np.column_stack([u[:, i, 0] ** 8 for i in (1, 2)])
    scores = noise + (codes * signal)[:, None] * np.array([1.0, 0.8])
    if shape == "ten levels":
        scores = np.clip(np.floor(2.0 * scores + 5.0), 0.0, 9.0) / 10.0
    return Sample(name, codes, scores)


def _many_classes(seed: int, name: str, sizes: tuple[int, ...], signal: float, levels: int) -> Sample:
    """One model with a column for each class; on a grid, if levels are given."""
    k = len(sizes)
    codes = np.repeat(np.arange(k), sizes)
    u = np.array(list(islice(fractions(seed), len(codes) * k * 12))).reshape(len(codes), k, 12)
    scores = _normal(u) + signal * np.eye(k)[codes]
    return Sample(name, codes, np.round(levels * scores) / levels if levels else scores)


BINARY = (
    _two_classes(1, "normal", (60, 60), 1.0, "normal"),
    _two_classes(2, "skewed", (80, 40), 1.5, "skewed"),
    _two_classes(3, "ten levels", (70, 50), 1.0, "ten levels"),
    _two_classes(4, "near-perfect", (50, 50), 3.2, "normal"),
    _two_classes(5, "small class", (190, 10), 1.0, "normal"),
    _two_classes(6, "big", (1500, 500), 0.8, "skewed"),
    _two_classes(7, "worse than chance", (40, 60), -0.7, "ten levels"),
)
MANY = (
    _many_classes(11, "three classes", (30, 20, 15), 1.0, 0),
    _many_classes(12, "four classes with ties", (40, 25, 12, 8), 1.2, 2),
)


def main() -> None:
    """Write all samples into one file: name, class, then the scores, as many as there are."""
    lines = [
        ",".join([sample.name, str(code), *(f"{score:.17g}" for score in row)])
        for sample in (*BINARY, *MANY)
        for code, row in zip(sample.codes, sample.scores, strict=True)
    ]
    Path(sys.argv[1]).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
