"""Resampled metrics of one model, or of several models on the same rows."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, fields
from itertools import groupby, permutations, product
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from multiauc._digits import decimals
from multiauc._frames import frame_of_columns
from multiauc._parameter_texts import shares_parameter_texts
from multiauc._replicates import INTERVALS, Replicates, standard_errors
from multiauc._result import Result
from multiauc._tables import html_table, text_table
from multiauc._wording import counted, listing, names_as_text
from multiauc.results import read_only

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from numpy.typing import NDArray

    from multiauc._frames import Library
    from multiauc.results import ConfidenceInterval

# Tied models share a replicate among all orders that agree with it: at most this many.
MOST_TIED_ORDERS = 40_320

DIFFERENCE_INTERVALS = ("percentile", "basic", "bca")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Bootstrap(Result):
    """Metrics of resampled rows.

    Attributes
    ----------
    replicates : ndarray of shape (n_resamples, number of metrics)
        The metrics of each resample, nan in a resample that holds no row of some class. Read-only.
    metrics : tuple
        The names of the columns; those of the models in a comparison.
    estimates : ndarray
        The metrics of the sample itself. Read-only.
    accelerations : ndarray or None
        The acceleration of each metric for ``"bca"``; None where there is none. Read-only.
    sampling : {"stratified", "iid", "groups"}
        What was drawn with replacement: rows within classes, rows, or groups of rows.
    counts : ndarray of shape (K,)
        The number of rows of each class. Read-only.
    smallest_class : int
        The rows of the smallest class (its groups, where rows are grouped).
    bounds : sequence or None
        Of the area D, for each model, the bound (0 or 1) that it is as near to as its rows can bring it, or None. None
        for other metrics.

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

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                object.__setattr__(self, field.name, read_only(value))

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, because an unpickled array is no longer read-only.
        return type(self), tuple(getattr(self, field.name) for field in fields(self))

    @property
    def undefined(self) -> int:
        """How many resamples hold no row of some class. They are nan and do not count."""
        return int(np.isnan(self.replicates).any(axis=1).sum())

    @property
    def standard_error(self) -> NDArray[np.float64]:
        """The standard deviation of each column of the replicates; nan for fewer than two."""
        return standard_errors(self.replicates)

    @shares_parameter_texts
    def confidence_interval(
        self,
        metric: Hashable,
        level: float = 0.95,
        method: Literal["logit", "percentile", "basic", "bca"] = "logit",
    ) -> ConfidenceInterval:
        r"""An interval for one metric.

        Parameters
        ----------
        metric : str
            The metric, one of `metrics`; the name of a model in a comparison.
        {level}
        method : {"logit", "percentile", "basic", "bca"}, default "logit"
            ``"logit"``: :math:`\mathrm{expit}(\mathrm{logit}\,\theta \pm z \cdot SE / (\theta (1 - \theta)))`, inside
            (0, 1) by construction. For a perfect score, which never varies,
            :math:`[(\alpha/2)^{1/m}, 1]` with m the size of the smallest class. ``"percentile"``: quantiles of the
            replicates. ``"basic"``: these mirrored at the estimate. ``"bca"``: quantiles corrected for bias and
            skewness (Efron 1987), the acceleration taken from the placements of the rows.

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
        return replicates.interval(level, method, INTERVALS, stacklevel=2)

    def _position(self, metric: Hashable) -> int:
        try:
            return self.metrics.index(metric)
        except ValueError:
            raise ValueError(
                f"no {self._noun()} {metric!r} in this bootstrap; it has {listing(self.metrics)}"
            ) from None

    def to_frame(self, *, library: Library | None = None) -> Any:
        """The replicates as a data frame, a column each: pandas or polars, whichever is loaded or installed."""
        return frame_of_columns(dict(zip(names_as_text(self.metrics), self.replicates.T, strict=True)), library)

    def _noun(self) -> str:
        return "metric"

    def _title(self) -> str:
        drawn = {"stratified": "rows within classes", "iid": "rows", "groups": "groups of rows"}[self.sampling]
        classes = int(np.count_nonzero(self.counts))
        title = (
            f"{type(self).__name__}: {counted(len(self.replicates), 'resample')} of {drawn}, "
            f"{counted(int(self.counts.sum()), 'row')} of {counted(classes, 'class', 'classes')}"
        )
        if self.undefined:
            title += f", {counted(self.undefined, 'resample')} without some class"
        return title

    def _table(self) -> list[list[str]]:
        rows = [[self._noun(), "estimate", "std. error", "95% interval"]]
        texts = names_as_text(self.metrics)
        for name, text, estimate, error in zip(self.metrics, texts, self.estimates, self.standard_error, strict=True):
            interval = "-"
            if error > 0.0 or estimate in (0.0, 1.0):
                low, high = self.confidence_interval(name)
                interval = f"{decimals(low)} to {decimals(high)}"
            rows.append([text, decimals(estimate), decimals(error), interval])
        return rows

    def __repr__(self) -> str:
        return "\n".join([self._title(), *text_table(self._table())])

    def _repr_html_(self) -> str:
        return html_table(self._title(), self._table())


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BootstrapDifference(Result):
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "replicates", read_only(self.replicates))

    @property
    def standard_error(self) -> float:
        """The standard deviation of the replicates."""
        return float(standard_errors(self.replicates[:, None])[0])

    @property
    def share_better(self) -> float:
        """The share of resamples in which the first model is better, ties counting half."""
        defined = self.replicates[~np.isnan(self.replicates)]
        return float(np.mean(defined > 0.0) + 0.5 * np.mean(defined == 0.0)) if len(defined) else float("nan")

    def confidence_interval(
        self, level: float = 0.95, method: Literal["percentile", "basic", "bca"] = "percentile"
    ) -> ConfidenceInterval:
        """An interval for the difference, by a method as in `Bootstrap.confidence_interval`."""
        replicates = Replicates(self.value, self.replicates, None, self._acceleration)
        return replicates.interval(level, method, DIFFERENCE_INTERVALS, stacklevel=2)

    def to_frame(self, *, library: Library | None = None) -> Any:
        """The replicates as a data frame: pandas or polars, whichever is loaded or installed."""
        return frame_of_columns({"difference": self.replicates}, library)

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        names = f"{self.first!r} - {self.second!r}"
        return f"BootstrapDifference({names}: {decimals(self.value, sign=True)}, se {decimals(self.standard_error)})"


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

    def difference(self, first: Hashable, second: Hashable) -> BootstrapDifference:
        """How much better the model `first` is than `second`, resample by resample."""
        i, j = self._position(first), self._position(second)
        known = self._difference_accelerations
        acceleration = None if known is None else float(known[i, j])
        value = float(self.estimates[i] - self.estimates[j])
        return BootstrapDifference(first, second, value, self.replicates[:, i] - self.replicates[:, j], acceleration)

    def ranking_probabilities(self) -> dict[tuple[Any, ...], float]:
        """The share of resamples in which the models come in each order; see `ranking_shares`."""
        return ranking_shares(self.replicates, self.metrics)

    def _noun(self) -> str:
        return "model"


def ranking_shares(replicates: NDArray[np.float64], names: Sequence[Any]) -> dict[tuple[Any, ...], float]:
    """The share of replicates (rows) in which the models (columns) come in each order, the best model first.

    Models that tie in a replicate share it equally among all orders that agree with it. Replicates with a nan do not
    count. Orders that never occur are left out; the most frequent one comes first.
    """
    defined = replicates[~np.isnan(replicates).any(axis=1)]
    if not len(defined):
        return {}
    shares: defaultdict[tuple[Any, ...], float] = defaultdict(float)
    rankings, times = np.unique(_ranks(defined), axis=0, return_counts=True)
    for ranks, count in zip(rankings.tolist(), times.tolist(), strict=True):
        orders = list(_agreeing_orders(ranks, names))
        for order in orders:
            shares[order] += count / len(orders) / len(defined)
    return dict(sorted(shares.items(), key=lambda item: -item[1]))


def _ranks(replicates: NDArray[np.float64]) -> NDArray[np.intp]:
    """0 for the best of each row; ties get the same rank."""
    return np.asarray((replicates[:, None, :] > replicates[:, :, None]).sum(axis=2))


def _agreeing_orders(ranks: list[int], names: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    by_rank = sorted(range(len(names)), key=ranks.__getitem__)
    tied = [[names[k] for k in models] for _, models in groupby(by_rank, key=ranks.__getitem__)]
    if math.prod(math.factorial(len(models)) for models in tied) > MOST_TIED_ORDERS:
        largest = max(tied, key=len)
        raise ValueError(f"{len(largest)} models tie, too many to share among their orders: {listing(largest)}")
    for parts in product(*map(permutations, tied)):
        yield tuple(name for part in parts for name in part)
