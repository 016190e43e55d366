"""Scores as files and models really have them: rounded, voted, quantised, saturated, or of very unequal classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from comparison import data
from comparison.data import Sample, Scores
from comparison.grid import Size

if TYPE_CHECKING:
    from collections.abc import Callable

#: At most this many times the smooth case: all scores on one lattice 1/m, other scores, two kinds of scores mixed.
LATTICE, OTHER, MIXTURE = 1.5, 2.5, 4.0

#: Sizes of the cases, in a full run and where it is only to be seen that it runs.
FULL_SIZE, SMOKE_SIZE = Size(1_000_000, 10), Size(3_000, 5)
TAIL_SIZE, SMOKE_TAIL_SIZE = Size(100_000, 1_000), Size(2_000, 50)


class Case(NamedTuple):
    """Scores made from smooth ones, and the most they may cost as a multiple of those."""

    title: str
    bar: float
    make: Callable[[Sample], Sample]


@dataclass(frozen=True)
class _Rounded:
    digits: int

    def __call__(self, sample: Sample) -> Sample:
        return Sample(sample.labels, np.round(sample.scores, self.digits))


@dataclass(frozen=True)
class _Votes:
    voters: int

    def __call__(self, sample: Sample) -> Sample:
        return Sample(sample.labels, np.floor(sample.scores * self.voters) / self.voters)


def _half(rows: int) -> Scores:
    return np.random.default_rng(1).random((rows, 1)) < 0.5


@dataclass(frozen=True)
class _TwoRoundings:
    first: int
    second: int

    def __call__(self, sample: Sample) -> Sample:
        labels, scores = sample
        return Sample(labels, np.where(_half(len(labels)), np.round(scores, self.first), np.round(scores, self.second)))


@dataclass(frozen=True)
class _HalfRounded:
    digits: int

    def __call__(self, sample: Sample) -> Sample:
        labels, scores = sample
        return Sample(labels, np.where(_half(len(labels)), np.round(scores, self.digits), scores))


def _cells_rounded(sample: Sample) -> Sample:
    labels, scores = sample
    return Sample(labels, np.where(np.random.default_rng(1).random(scores.shape) < 0.5, np.round(scores, 4), scores))


def _leaves(sample: Sample) -> Sample:
    """Shares within leaves of 5 to 199 rows."""
    sizes = np.random.default_rng(1).integers(5, 200, (len(sample.labels), 1))
    return Sample(sample.labels, np.round(sample.scores * sizes) / sizes)


def _quantised(sample: Sample) -> Sample:
    return Sample(sample.labels, np.round(sample.scores * 127) / 127)


def _saturated(sample: Sample) -> Sample:
    """What a temperature of 1/6 makes of the scores."""
    scores = sample.scores**6
    return Sample(sample.labels, scores / scores.sum(axis=1, keepdims=True))


def _one_large_class(sample: Sample) -> Sample:
    """Nine rows of ten are of the first class."""
    is_large = np.random.default_rng(1).random(len(sample.labels)) < 0.9
    return Sample(np.where(is_large, 0, sample.labels), sample.scores)


def _long_tail(sample: Sample) -> Sample:
    """Class k has a share of about 1/k of the rows, and at least one."""
    n_rows, n_classes = sample.scores.shape
    weights = 1.0 / np.arange(1, n_classes + 1)
    labels = np.random.default_rng(1).choice(np.arange(n_classes), n_rows, p=weights / weights.sum())
    labels[:n_classes] = np.arange(n_classes)
    return Sample(labels, sample.scores)


#: Against smooth scores of the full size.
CASES = (
    *(Case(f"{digits} decimals", LATTICE if digits <= 6 else OTHER, _Rounded(digits)) for digits in range(1, 9)),
    *(Case(f"votes of {voters}", LATTICE, _Votes(voters)) for voters in (3, 7, 20, 50)),
    Case("int8, multiples of 1/127", LATTICE, _quantised),
    Case("shares within tree leaves of 5 to 199 rows", OTHER, _leaves),
    Case("saturated softmax (temperature 1/6)", OTHER, _saturated),
    Case("half the rows 2 decimals", MIXTURE, _HalfRounded(2)),
    Case("half the rows 4 decimals", MIXTURE, _HalfRounded(4)),
    Case("half the cells 4 decimals", MIXTURE, _cells_rounded),
    Case("rows of 3 and of 5 decimals", MIXTURE, _TwoRoundings(3, 5)),
    Case("rows of 2 and of 7 decimals", MIXTURE, _TwoRoundings(2, 7)),
    Case("rows of 4 and of 8 decimals", MIXTURE, _TwoRoundings(4, 8)),
    Case("nine rows of ten in one class", OTHER, _one_large_class),
)
#: Against smooth scores of as many classes.
LONG_TAIL = Case("a long tail of classes", OTHER, _long_tail)


def smooth(size: Size) -> Sample:
    """The smooth scores that cases are made from."""
    return data.smooth(*size)
