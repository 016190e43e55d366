"""What bootstrap results share: seeds, running the replicates, standard errors and intervals."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc._input.options import read_level
from multiauc._intervals import (
    NO_INTERVAL,
    basic_interval,
    bca_interval,
    interval_at_bound,
    logit_interval,
    percentile_interval,
)
from multiauc._progress import Progress
from multiauc._wording import counted, one_of
from multiauc.results import ConfidenceInterval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from multiauc import _rust

# The most bytes that presorted orders may take; beyond that, they are sorted again for every block of replicates.
MEMORY_LIMIT = 1 << 30

INTERVALS = ("logit", "percentile", "basic", "bca")


def draw_seed(generator: np.random.Generator) -> int:
    """The seed of a stream of replicates. The same generator gives the same replicates of every metric."""
    return int(generator.integers(2**64, dtype=np.uint64))


def run_replicates(resampler: _rust.Resampler, size: int, seed: int) -> NDArray[np.float64]:
    """All replicates, a row each, in steps short enough for a progress bar and for Ctrl-C to work."""
    with Progress(size, "bootstrap") as progress:
        steps = pairwise(progress.steps(resampler.block, unit=resampler.block))
        return np.concatenate([resampler.replicates(seed, first, last - first) for first, last in steps])


def warn_of_lost_classes(replicates: NDArray[np.float64], estimates: NDArray[np.float64], stacklevel: int) -> None:
    """Say how many replicates are nan because a class was not drawn, unless the estimates are nan already."""
    lost = int(np.isnan(replicates).any(axis=1).sum())
    if lost and not np.isnan(estimates).any():
        warnings.warn(
            f"{counted(lost, 'resample')} of {len(replicates)} drew no row of some class and count for nothing; "
            "sampling='stratified' always draws them all",
            RuntimeWarning,
            stacklevel=stacklevel + 1,
        )


def standard_errors(replicates: NDArray[np.float64]) -> NDArray[np.float64]:
    """The standard deviation of each column; nan replicates do not count, and fewer than two have none."""
    defined = replicates[~np.isnan(replicates).any(axis=1)]
    if len(defined) < 2:
        return np.full(replicates.shape[1], np.nan)
    return np.asarray(np.std(defined, axis=0, ddof=1))


@dataclass(frozen=True, slots=True, eq=False)
class Replicates:
    """Replicates of one number.

    Attributes
    ----------
    estimate
        The number.
    values
        Its replicates; nan ones do not count.
    smallest_class
        Rows (or groups) of the smallest class, for the interval of a perfect score; None where there is no such thing.
    acceleration
        How the standard error changes with the number, for "bca"; None where there is no way to know it.
    bound
        The bound, 0 or 1, that the number is as near to as its rows can bring it, so that no replicate shows an error
        although other rows might; None elsewhere.
    """

    estimate: float
    values: NDArray[np.float64]
    smallest_class: int | None
    acceleration: float | None = None
    bound: float | None = None

    def interval(self, level: Any, method: Any, accepted: tuple[str, ...], stacklevel: int) -> ConfidenceInterval:
        """A confidence interval by one of the accepted methods."""
        tail = read_level(level)
        kind = one_of("method", method, accepted if self.acceleration is not None else accepted_without_bca(accepted))
        values = self.values[~np.isnan(self.values)]
        if np.isnan(self.estimate) or not len(values):
            return NO_INTERVAL
        is_at_bound = self.estimate in (0.0, 1.0) and (kind == "logit" or not _vary(values))
        if self.smallest_class is not None and (is_at_bound or self.bound is not None):
            return self._at_bound(values, tail, self.smallest_class)
        if not _vary(values):
            return _no_interval("the replicates are all alike", stacklevel + 1)
        if kind == "logit":
            return self._logit(values, tail)
        if kind == "bca":
            return self._bca(values, tail, stacklevel + 1)
        if kind == "basic":
            return basic_interval(self.estimate, values, tail)
        return percentile_interval(values, tail)

    def _at_bound(self, values: NDArray[np.float64], tail: float, smallest_class: int) -> ConfidenceInterval:
        """What a class of that size could still hide; wide enough for the estimate and its logit interval too."""
        bound = self.estimate if self.bound is None else self.bound
        low, high = interval_at_bound(bound, tail, smallest_class)
        around = [self.estimate]
        if _vary(values) and 0.0 < self.estimate < 1.0:
            around += self._logit(values, tail)
        return ConfidenceInterval(min(low, *around), max(high, *around))

    def _logit(self, values: NDArray[np.float64], tail: float) -> ConfidenceInterval:
        error = float(standard_errors(values[:, None])[0])
        return logit_interval(self.estimate, error, NormalDist().inv_cdf(1.0 - tail), functions=np)

    def _bca(self, values: NDArray[np.float64], tail: float, stacklevel: int) -> ConfidenceInterval:
        """Replicates equal to the estimate count as half below it."""
        below = float(np.mean(values < self.estimate) + 0.5 * np.mean(values == self.estimate))
        if not 0.0 < below < 1.0:
            return _no_interval("all replicates lie on one side of the estimate", stacklevel + 1)
        if self.acceleration is None or np.isnan(self.acceleration):
            return _no_interval("no row contributes more than another", stacklevel + 1)
        return bca_interval(values, below, self.acceleration, tail)


def _vary(values: NDArray[np.float64]) -> bool:
    """Whether not all replicates are the same number (their standard deviation may be a rounding error even then)."""
    return bool(np.ptp(values) > 0.0)


def accepted_without_bca(accepted: tuple[str, ...]) -> tuple[str, ...]:
    """The methods that need no acceleration."""
    return tuple(method for method in accepted if method != "bca")


def accelerations(influences: NDArray[np.float64], groups: NDArray[np.uint32] | None) -> NDArray[np.float64]:
    r"""The acceleration :math:`\frac{1}{6} \sum u^3 / (\sum u^2)^{3/2}` of each column of influences of the rows.

    Where groups are drawn u is the sum over a group. nan where all u are zero.
    """
    if groups is not None:
        influences = np.stack([np.bincount(groups, weights=column) for column in influences.T], axis=1)
    squares = np.sum(influences**2, axis=0)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.sum(influences**3, axis=0) / squares**1.5 / 6.0)


def _no_interval(reason: str, stacklevel: int) -> ConfidenceInterval:
    warnings.warn(f"{reason}; there is no interval", RuntimeWarning, stacklevel=stacklevel + 1)
    return NO_INTERVAL
