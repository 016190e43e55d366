"""Bootstraps: replicates of values, their standard errors and intervals, for one model and for several."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations, groupby, pairwise, permutations, product
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from multiauc import _rust
from multiauc._common import result, wording
from multiauc._common.hints import warn
from multiauc._common.progress import Progress
from multiauc._inference import intervals
from multiauc._input.options import positive_integer, read_level, read_rng

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from numpy.typing import NDArray

    from multiauc._input.sample import HeldInputs

# The most bytes that presorted orders may take; beyond that, they are sorted again for every block of replicates.
MEMORY_LIMIT = 1 << 30

INTERVALS = ("logit", "percentile", "basic", "bca")


def draw_seed(generator: np.random.Generator) -> int:
    """The seed of a stream of replicates. The same generator gives the same replicates of every metric."""
    return int(generator.integers(2**64, dtype=np.uint64))


def read_draws(n_resamples: Any, rng: Any) -> tuple[int, int]:
    """How many resamples there are to be, and their seed."""
    return positive_integer("n_resamples", n_resamples), draw_seed(read_rng(rng))


def run_replicates(resampler: _rust.Resampler, size: int, seed: int) -> NDArray[np.float64]:
    """All replicates, a row each, in steps short enough for a progress bar and for Ctrl-C to work."""
    with Progress(size, "bootstrap") as progress:
        steps = pairwise(progress.steps(resampler.block, unit=resampler.block))
        return np.concatenate([resampler.replicates(seed, first, last - first) for first, last in steps])


def resample_metrics(models: list[HeldInputs], size: int, rng: np.random.Generator | int | None) -> NDArray[np.float64]:
    """Replicates of the metrics of all models: a row each, a block of columns per model."""
    generator = read_rng(rng)
    inputs = models[0]
    samples = [model.arguments() for model in models]
    if inputs.sample.is_undefined:
        return np.full((size, len(models) * len(inputs.metrics)), np.nan)
    resampler = _rust.Resampler(samples, list(inputs.metrics), MEMORY_LIMIT, inputs.options)
    return run_replicates(resampler, size, draw_seed(generator))


def warn_of_lost_classes(replicates: NDArray[np.float64], estimates: NDArray[np.float64]) -> None:
    """Warn if replicates are nan because a class was not sampled, unless the estimates are nan already."""
    lost = int(np.isnan(replicates).any(axis=1).sum())
    if lost and not np.isnan(estimates).any():
        warn(
            f"{wording.pluralize(lost, 'resample')} of {len(replicates)} contain no row of some class and are "
            "ignored; sampling='stratified' keeps every class"
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
        Rows (or groups) of the smallest class, for the interval of a perfect score; None for a difference.
    acceleration
        How the standard error changes with the number, for "bca"; None if it is unknown.
    bound
        The bound, 0 or 1, that the number is as close to as its rows allow: no replicate then shows an error, although
        other rows might. None otherwise.
    is_fitted
        Whether the number comes from a fit and not from counts. Its replicates are skewed near 0 and 1 and vary too
        little in small classes, by an unknown amount, so "logit" is more conservative.
    """

    estimate: float
    values: NDArray[np.float64]
    smallest_class: int | None
    acceleration: float | None = None
    bound: float | None = None
    is_fitted: bool = False

    def interval(self, level: Any, method: Any, accepted: tuple[str, ...]) -> intervals.ConfidenceInterval:
        """A confidence interval by one of the accepted methods."""
        tail = read_level(level)
        known = [kind for kind in accepted if kind != "bca" or self.acceleration is not None]
        kind = wording.one_of("method", method, tuple(known))
        fit = (self.smallest_class, self.acceleration, self.bound, self.is_fitted)
        found = _rust.replicate_interval(np.ascontiguousarray(self.values), self.estimate, kind, tail, *fit)
        if isinstance(found, str):
            warn(f"{found}; there is no interval")
            return intervals.NO_INTERVAL
        return intervals.ConfidenceInterval(*found)


def compute_accelerations(influences: NDArray[np.float64], groups: NDArray[np.uint32] | None) -> NDArray[np.float64]:
    r"""The acceleration :math:`\frac{1}{6} \sum u^3 / (\sum u^2)^{3/2}` of each column of influences of the rows.

    If groups are sampled, u is the sum over a group. nan if all u are zero.
    """
    if groups is not None:
        influences = np.stack([np.bincount(groups, weights=column) for column in influences.T], axis=1)
    squares = np.sum(influences**2, axis=0)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.sum(influences**3, axis=0) / squares**1.5 / 6.0)


def compute_model_accelerations(models: list[HeldInputs]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The accelerations of the one metric of some models, and those of the differences of models, m x m."""
    groups = models[0].groups
    of_models = np.concatenate([inputs.influences() for inputs in models], axis=1)
    differences = np.full((len(models), len(models)), np.nan)
    for i, j in combinations(range(len(models)), 2):
        differences[i, j] = compute_accelerations(of_models[:, [i]] - of_models[:, [j]], groups)[0]
        differences[j, i] = -differences[i, j]
    return compute_accelerations(of_models, groups), differences


# Tied models share a replicate among all orders that agree with it: at most this many.
MOST_TIED_ORDERS = 40_320

DIFFERENCE_INTERVALS = ("percentile", "basic", "bca")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Bootstrap(result.Printed, result.Result):
    """Metrics of resampled rows.

    Attributes
    ----------
    replicates : ndarray of shape (n_resamples, number of metrics)
        The metrics of each resample, nan in a resample without rows of some class. Read-only.
    metrics : tuple
        The names of the columns; those of the models in a comparison.
    estimates : ndarray
        The metrics of the sample itself. Read-only.
    accelerations : ndarray or None
        The acceleration of each metric for ``"bca"``; None where there is none. Read-only.
    sampling : {"stratified", "iid", "groups"}
        What was resampled: rows within classes, rows, or groups of rows.
    counts : ndarray of shape (K,)
        The number of rows of each class. Read-only.
    smallest_class : int
        The number of rows of the smallest class (of groups, if rows are grouped).
    bounds : sequence or None
        For the area D of each model, the bound (0 or 1) that it is as close to as its rows allow, or None. None for
        other metrics.

    Examples
    --------
    >>> import numpy as np, multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = np.repeat(["cat", "dog", "eel"], 50)
    >>> y_score = rng.random((150, 3)) + 0.7 * (y_true[:, None] == ["cat", "dog", "eel"])
    >>> bootstrap = multiauc.evaluate(y_true, y_score).bootstrap(500, rng=1)
    >>> bootstrap.replicates.shape
    (500, 4)
    >>> low, high = bootstrap.confidence_interval("auc_mu", level=0.9)
    >>> 0.9 < low < high < 1.0
    True
    """

    replicates: NDArray[np.float64]
    metrics: tuple[Any, ...]
    estimates: NDArray[np.float64]
    accelerations: NDArray[np.float64] | None
    sampling: str
    counts: NDArray[np.int64]
    smallest_class: int
    bounds: Sequence[float | None] | None = None

    # What a column is.
    _NOUN: ClassVar = "metric"

    @property
    def undefined(self) -> int:
        """How many resamples lack rows of some class. They are nan and do not count."""
        return int(np.isnan(self.replicates).any(axis=1).sum())

    @property
    def standard_error(self) -> NDArray[np.float64]:
        """The standard deviation of each column of the replicates; nan for fewer than two."""
        return standard_errors(self.replicates)

    def confidence_interval(
        self, metric: Hashable, level: float = 0.95, method: Literal["logit", "percentile", "basic", "bca"] = "logit"
    ) -> intervals.ConfidenceInterval:
        r"""An interval for one metric.

        Parameters
        ----------
        metric : str
            The metric, one of `metrics`; the name of a model in a comparison.
        level : float, default 0.95
            The nominal coverage.
        method : {"logit", "percentile", "basic", "bca"}, default "logit"
            ``"logit"``: :math:`\mathrm{expit}(\mathrm{logit}\,\theta \pm z \cdot SE / (\theta (1 - \theta)))`, inside
            (0, 1) by construction. For a perfect score, which never varies,
            :math:`[(\alpha/2)^{1/m}, 1]` with m the size of the smallest class. ``"percentile"``: quantiles of the
            replicates. ``"basic"``: these quantiles mirrored at the estimate. ``"bca"``: quantiles corrected for bias
            and skewness (Efron 1987), with the acceleration from the influence values of the rows.

        Returns
        -------
        ConfidenceInterval
            A pair (low, high).
        """
        k = self._position(metric)
        acceleration = None if self.accelerations is None else float(self.accelerations[k])
        bound = None if self.bounds is None else self.bounds[k]
        estimate, values = float(self.estimates[k]), self.replicates[:, k]
        is_fitted = self.bounds is not None
        replicates = Replicates(estimate, values, self.smallest_class, acceleration, bound, is_fitted)
        return replicates.interval(level, method, INTERVALS)

    def _position(self, metric: Hashable) -> int:
        if metric not in self.metrics:
            raise ValueError(f"no {self._NOUN} {metric!r} in this bootstrap; it has {wording.listing(self.metrics)}")
        return self.metrics.index(metric)

    def _columns(self) -> result.Columns:
        return dict(zip(wording.names_as_text(self.metrics), self.replicates.T, strict=True))

    def _numbers(self) -> dict[str, result.Numbers]:
        named = zip(wording.names_as_text(self.metrics), self.metrics, self.estimates, self.standard_error, strict=True)
        return {
            name: {"value": estimate, "standard_error": error, **self._find_interval(metric, error)._asdict()}
            for name, metric, estimate, error in named
        }

    def _find_interval(self, metric: Any, error: float) -> intervals.ConfidenceInterval:
        """The default interval, without a warning if there is none."""
        is_known = error > 0.0 or self.estimates[self._position(metric)] in (0.0, 1.0)
        return self.confidence_interval(metric) if is_known else intervals.NO_INTERVAL

    def _title(self) -> str:
        drawn = {"stratified": "rows within classes", "iid": "rows", "groups": "groups of rows"}[self.sampling]
        classes = int(np.count_nonzero(self.counts))
        rows, names = wording.pluralize(int(self.counts.sum()), "row"), wording.pluralize(classes, "class", "classes")
        resamples = wording.pluralize(len(self.replicates), "resample")
        title = f"{type(self).__name__}: {resamples} of {drawn}, {rows} of {names}"
        lost = f", {wording.pluralize(self.undefined, 'resample')} without some class"
        return title + lost if self.undefined else title

    def _table(self) -> result.Cells:
        return result.table_of_numbers([self._NOUN, "estimate", *result.ESTIMATE_HEADER[2:]], self._numbers())


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BootstrapDifference(result.Number, result.Result):
    """How much better one model is than another on the same resampled rows.

    Attributes
    ----------
    first, second : hashable
        The models.
    value : float
        The metric of the first minus that of the second.
    replicates : ndarray of shape (n_resamples,)
        The same for each resample. Read-only.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(3, size=200)
    >>> models = {name: np.eye(3)[y_true] + noise * rng.random((200, 3)) for name, noise in [("good", 2), ("fair", 3)]}
    >>> difference = multiauc.compare(y_true, models).bootstrap(500, rng=0).difference("good", "fair")
    >>> difference
    BootstrapDifference('good' - 'fair': +0.0901, se 0.0224)
    >>> difference.share_better
    1.0
    """

    first: Any
    second: Any
    value: float
    replicates: NDArray[np.float64]
    _acceleration: float | None

    @property
    def standard_error(self) -> float:
        """The standard deviation of the replicates."""
        return float(standard_errors(self.replicates[:, None])[0])

    @property
    def share_better(self) -> float:
        """The fraction of resamples in which the first model is better; ties count one half."""
        defined = self.replicates[~np.isnan(self.replicates)]
        return float(np.mean(defined > 0.0) + 0.5 * np.mean(defined == 0.0)) if len(defined) else float("nan")

    def confidence_interval(
        self, level: float = 0.95, method: Literal["percentile", "basic", "bca"] = "percentile"
    ) -> intervals.ConfidenceInterval:
        """An interval for the difference, by a method as in `Bootstrap.confidence_interval`."""
        replicates = Replicates(self.value, self.replicates, None, self._acceleration)
        return replicates.interval(level, method, DIFFERENCE_INTERVALS)

    def _columns(self) -> result.Columns:
        return {"difference": self.replicates}

    def _numbers(self) -> dict[str, result.Numbers]:
        first, second = wording.names_as_text([self.first, self.second])
        numbers = {"value": self.value, "standard_error": self.standard_error}
        return {f"{first}_minus_{second}": numbers | self.confidence_interval()._asdict()}

    def __repr__(self) -> str:
        names = f"{self.first!r} - {self.second!r}"
        value, error = wording.decimals(self.value, sign=True), wording.decimals(self.standard_error)
        return f"BootstrapDifference({names}: {value}, se {error})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ComparisonBootstrap(Bootstrap):
    """One metric of several models on the same resampled rows: a `Bootstrap` whose columns are models.

    Attributes
    ----------
    metrics : tuple
        The names of the models.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(3, size=200)
    >>> models = {name: np.eye(3)[y_true] + noise * rng.random((200, 3)) for name, noise in [("good", 2), ("fair", 3)]}
    >>> bootstrap = multiauc.compare(y_true, models).bootstrap(500, rng=0)
    >>> bootstrap.metrics
    ('good', 'fair')
    >>> bootstrap.ranking_probabilities()
    {('good', 'fair'): 1.0}
    """

    _difference_accelerations: NDArray[np.float64] | None = None

    _NOUN: ClassVar = "model"

    def difference(self, first: Hashable, second: Hashable) -> BootstrapDifference:
        """How much better the model `first` is than `second`, resample by resample."""
        i, j = self._position(first), self._position(second)
        known = self._difference_accelerations
        acceleration = None if known is None else float(known[i, j])
        value = float(self.estimates[i] - self.estimates[j])
        return BootstrapDifference(first, second, value, self.replicates[:, i] - self.replicates[:, j], acceleration)

    def ranking_probabilities(self) -> dict[tuple[Any, ...], float]:
        """How often each ranking of the models occurs among the resamples, the most frequent first."""
        return ranking_shares(self.replicates, self.metrics)


def ranking_shares(replicates: NDArray[np.float64], names: Sequence[Any]) -> dict[tuple[Any, ...], float]:
    """How often each ranking of the models (columns) occurs among the replicates (rows), best model first.

    A replicate with ties is split equally among all rankings that agree with it. Replicates with a nan do not count.
    Rankings that never occur are left out; the most frequent one comes first.
    """
    defined = replicates[~np.isnan(replicates).any(axis=1)]
    if not len(defined):
        return {}
    shares: defaultdict[tuple[Any, ...], float] = defaultdict(float)
    # How many models are better than each.
    ranks_of_each = (defined[:, None, :] > defined[:, :, None]).sum(axis=2)
    rankings, times = np.unique(ranks_of_each, axis=0, return_counts=True)
    for ranks, count in zip(rankings.tolist(), times.tolist(), strict=True):
        orders = list(_agreeing_orders(ranks, names))
        for order in orders:
            shares[order] += count / len(orders) / len(defined)
    return dict(sorted(shares.items(), key=lambda item: -item[1]))


def _agreeing_orders(ranks: list[int], names: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    by_rank = sorted(range(len(names)), key=ranks.__getitem__)
    tied = [[names[k] for k in models] for _, models in groupby(by_rank, key=ranks.__getitem__)]
    if math.prod(math.factorial(len(models)) for models in tied) > MOST_TIED_ORDERS:
        largest = max(tied, key=len)
        raise ValueError(f"{len(largest)} models tie, too many to share among their orders: {wording.listing(largest)}")
    for parts in product(*map(permutations, tied)):
        yield tuple(name for part in parts for name in part)
