"""Populations of scores whose metrics are known: three shapes, equal or unequal classes, weights, groups and folds.

A row of class y has the score s_k = z_k for the other classes and s_y = z_y + signal_y for its own, z standard normal.
"skewed": less three times an exponential variable, so that most rows are right and a few badly wrong. "ten levels": s
is cut into ten levels. The signals fall from the first class to the last, which is the smallest and the hardest.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations
from statistics import NormalDist, fmean
from typing import Any, Final

import numpy as np

SHAPES: Final = ("normal", "skewed", "ten levels")
EXTRAS: Final = ("", "weights", "groups", "groups across classes", "folds", "class sizes drawn")
SKEW = 3.0
LEVELS = 10
FOLDS = 5
LARGEST_GROUP = 4
HARDEST, EASIEST = 0.9, 1.1  # the signals of the last and the first class, relative to their mean
TILT = 0.5  # how far rows with weights are drawn from the wrong side
SPREAD_OF_LOG_WEIGHTS = 0.7

# Nodes of integrals over an exponential variable; beyond, there is less than 1e-20 of it.
NODES, STEPS = np.polynomial.legendre.leggauss(800)
EXPONENTIAL = 25.0 * (NODES + 1.0)
_cdf = np.vectorize(NormalDist().cdf, otypes=[float])


def _integral(density: np.ndarray, x: np.ndarray) -> float:
    """Of the normal distribution function at x, over the density of an exponential or gamma variable."""
    return float(25.0 * STEPS @ (density * _cdf(x)))


def _levels(mean: float, cuts: np.ndarray) -> np.ndarray:
    """The shares of the ten levels of a normal score."""
    shares: np.ndarray = np.diff(np.r_[0.0, _cdf(cuts - mean), 1.0])
    return shares


def _above(first: np.ndarray, second: np.ndarray) -> float:
    """P(X > Y) + P(X = Y) / 2 for shares of the same levels."""
    return float(first @ (np.cumsum(second) - 0.5 * second))


@dataclass(frozen=True)
class Model:
    """Scores of one shape with given signals."""

    shape: str
    signals: tuple[float, ...]

    @cached_property
    def cuts(self) -> np.ndarray:
        """Where the levels begin."""
        return np.linspace(-1.5, max(self.signals) + 1.5, LEVELS - 1)

    def pair(self, c: int, d: int) -> float:
        """S(c, d): how often s_c - s_d is larger in class c than in class d."""
        a, b = self.signals[c], self.signals[d]
        if self.shape == "normal":
            return float(_cdf((a + b) / 2.0))
        if self.shape == "skewed":
            density = EXPONENTIAL * np.exp(-EXPONENTIAL)  # of the sum of two exponential variables
            return _integral(density, (a + b - SKEW * EXPONENTIAL) / 2.0)
        other = _levels(0.0, self.cuts)
        first = np.convolve(_levels(a, self.cuts), other[::-1])
        second = np.convolve(other, _levels(b, self.cuts)[::-1])
        return _above(first, second)

    def column(self, c: int) -> float:
        """A(c|d), which is the same for all d: how often s_c is larger in class c than in class d."""
        a = self.signals[c]
        if self.shape == "normal":
            return float(_cdf(a / math.sqrt(2.0)))
        if self.shape == "skewed":
            return _integral(np.exp(-EXPONENTIAL), (a - SKEW * EXPONENTIAL) / math.sqrt(2.0))
        return _above(_levels(a, self.cuts), _levels(0.0, self.cuts))

    @property
    def auc_mu(self) -> float:
        """The mean over pairs."""
        return fmean(self.pair(c, d) for c, d in combinations(range(len(self.signals)), 2))

    def scores(self, codes: np.ndarray, noise: np.ndarray, failures: np.ndarray) -> np.ndarray:
        """Of rows with these normal and exponential variables."""
        s = noise.copy()
        own = np.array(self.signals)[codes]
        s[np.arange(len(codes)), codes] += own - SKEW * failures if self.shape == "skewed" else own
        return np.searchsorted(self.cuts, s).astype(float) if self.shape == "ten levels" else s


@cache
def model(shape: str, k: int, theta: float) -> Model:
    """The model of a shape whose AUC_mu is theta."""
    ratios = np.linspace(EASIEST, HARDEST, k)
    low, high = 0.0, 60.0
    while high - low > 1e-12:
        middle = (low + high) / 2.0
        found = Model(shape, tuple((middle * ratios).tolist()))
        low, high = (middle, high) if found.auc_mu < theta else (low, middle)
    return found


@dataclass(frozen=True)
class Drawn:
    """Rows, the scores of several models for them, and the options that the rows ask for."""

    codes: np.ndarray
    scores: tuple[np.ndarray, ...]
    options: dict[str, Any]


def draw(rng: np.random.Generator, sizes: tuple[int, ...], models: tuple[Model, ...], extra: str = "") -> Drawn:
    """One sample; the noise of any two models is correlated by one half.

    "groups": the sizes are numbers of groups, of one to four rows each. "groups across classes": half as many groups as
    the sizes add up to, and the classes of their rows are drawn. "class sizes drawn": the sizes are those expected.
    """
    codes, groups = ROWS[extra](rng, np.array(sizes))
    n, k = len(codes), len(sizes)
    options: dict[str, Any] = {}
    shared, *own = (_correlated(rng.normal(size=(n, k)), groups, rng) for _ in range(len(models) + 1))
    bad, *own_bad = (_repeated(rng.exponential(size=n), groups, rng) for _ in range(len(models) + 1))
    if extra == "weights":
        own_column = np.arange(n), codes
        shared[own_column] -= TILT
        weights = np.exp(TILT * shared[own_column] + rng.normal(scale=SPREAD_OF_LOG_WEIGHTS, size=n))
        options["sample_weight"] = weights * (np.array(sizes) / np.bincount(codes, weights))[codes]
    if groups is not None:
        options["groups"] = groups
    if extra == "class sizes drawn":
        options["sampling"] = "iid"
    scores = []
    for one, noise, failures in zip(models, own, own_bad, strict=True):
        is_shared = rng.random(n) < 0.5
        mixed = math.sqrt(0.5) * (shared + noise)
        scores.append(one.scores(codes, mixed, np.where(is_shared, bad, failures)))
    if extra == "folds":
        folds = _folds(rng, codes)
        options["folds"] = folds
        # Models of other folds have other scales.
        scores = [np.exp2(folds)[:, None] * s + rng.integers(9, size=(FOLDS, k))[folds] for s in scores]
    return Drawn(codes, tuple(scores), options)


Rows = tuple[np.ndarray, np.ndarray | None]


def _plain_rows(_: np.random.Generator, sizes: np.ndarray) -> Rows:
    return np.repeat(np.arange(len(sizes)), sizes), None


def _grouped_rows(rng: np.random.Generator, sizes: np.ndarray) -> Rows:
    rows = rng.integers(1, LARGEST_GROUP + 1, size=sizes.sum())
    return np.repeat(np.repeat(np.arange(len(sizes)), sizes), rows), np.repeat(np.arange(len(rows)), rows)


def _rows_of_groups_across_classes(rng: np.random.Generator, sizes: np.ndarray) -> Rows:
    while True:
        rows = rng.integers(1, LARGEST_GROUP + 1, size=sizes.sum() // 2)
        groups = np.repeat(np.arange(len(rows)), rows)
        codes = rng.choice(len(sizes), size=len(groups), p=sizes / sizes.sum())
        if all(len(np.unique(groups[codes == c])) >= 2 for c in range(len(sizes))):
            return codes, groups


def _drawn_rows(rng: np.random.Generator, sizes: np.ndarray) -> Rows:
    while True:
        drawn = rng.multinomial(sizes.sum(), sizes / sizes.sum())
        if drawn.min() >= 2:
            return _plain_rows(rng, drawn)


ROWS: Final[dict[str, Callable[[np.random.Generator, np.ndarray], Rows]]] = {
    "": _plain_rows,
    "weights": _plain_rows,
    "groups": _grouped_rows,
    "groups across classes": _rows_of_groups_across_classes,
    "folds": _plain_rows,
    "class sizes drawn": _drawn_rows,
}


def _correlated(noise: np.ndarray, groups: np.ndarray | None, rng: np.random.Generator) -> np.ndarray:
    """Half of the variance is that of the row's group."""
    if groups is None:
        return noise
    of_groups = rng.normal(size=(groups.max() + 1, noise.shape[1]))[groups]
    mixed: np.ndarray = math.sqrt(0.5) * (noise + of_groups)
    return mixed


def _repeated(values: np.ndarray, groups: np.ndarray | None, rng: np.random.Generator) -> np.ndarray:
    """Half of the rows have the value of their group."""
    if groups is None:
        return values
    of_groups = rng.exponential(size=groups.max() + 1)[groups]
    return np.where(rng.random(len(values)) < 0.5, of_groups, values)


def _folds(rng: np.random.Generator, codes: np.ndarray) -> np.ndarray:
    """Each class dealt out to the folds."""
    folds = np.empty(len(codes), dtype=int)
    for c in np.unique(codes):
        rows = rng.permutation(np.flatnonzero(codes == c))
        folds[rows] = np.arange(len(rows)) % FOLDS
    return folds
