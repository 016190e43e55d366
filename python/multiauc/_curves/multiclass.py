"""The multi-class ROC curve: one curve for all pairs of classes, with its bootstrap."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeVar

import numpy as np

from multiauc import _rust
from multiauc._common import hints, result, wording
from multiauc._common.progress import Progress
from multiauc._inference import bootstrap as resampling
from multiauc._input import options
from multiauc._input.sample import Sample, read_sample
from multiauc.threads import get_num_threads

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from multiauc import plotting
    from multiauc._common.types import Absent, Center, Labels, Outputs, PairWeights, Sampling, Scope
    from multiauc._inference.intervals import ConfidenceInterval

Part = TypeVar("Part")

INTERVALS = ("logit", "percentile", "basic")

# The false-positive rates at which bands are computed.
BAND_FPR = np.linspace(0.0, 1.0, 101)
# Most bytes of the matrix of rates, 2T x K(K - 1) numbers.
MEMORY_LIMIT = 2 << 30
# Far beyond it all rates become one half, and nothing can be mapped back.
LARGEST_CONTINUITY: Final = 1e6
THRESHOLDS: Final = 100


class FitOptions(NamedTuple):
    """The options of a fit, as they were read; see `multiclass_roc`."""

    thresholds: int | NDArray[np.float64] = THRESHOLDS
    scope: str = "shared"
    center: str = "intercept"
    rate_weights: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
    continuity: float = 0.5
    tolerance: float = 1e-8
    max_iterations: int = 500


DEFAULTS = FitOptions()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MulticlassRoc(result.Result):
    """A multi-class ROC curve; see `multiauc.multiclass_roc`. Arrays are read-only.

    Attributes
    ----------
    fpr, tpr : ndarray of shape (T + 2,)
        The curve by falling thresholds, from (0, 0) to (1, 1), neither rate ever falling.
    auc : float
        The area D under it, by trapezoids.
    thresholds : ndarray of shape (T,) or (T, J)
        The falling thresholds, one column per pair if the pairs do not share them.
    tp_rates, fp_rates : ndarray of shape (T, J)
        The rates of each pair (c, d): the fractions of class c and of class d with a score for c above the threshold.
    pairs : tuple of (label, label)
        The ordered pairs (c, d) of the columns; with two classes only (second, first), because the other is its mirror
        image.
    labels : tuple
        The classes.
    fitted_fpr, fitted_tpr : ndarray of shape (T,)
        The row effects as fitted, before the continuity correction was undone and they were made monotone.
    pair_scores : ndarray of shape (J,)
        V: the position of each pair relative to the others. Empty with two classes, which need no fit.
    deviance : float
        Twice the log-likelihood that the fit leaves unexplained.
    n_iter : int
        Sweeps of the fit.
    converged : bool
        Whether the deviance settled.
    center : {"intercept", "projection"}
        The model.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(3, size=200)
    >>> roc = multiauc.multiclass_roc(y_true, np.eye(3)[y_true] + 3 * rng.random((200, 3)))
    >>> roc
    MulticlassRoc(3 classes, 6 pairs, 100 thresholds: auc 0.8073, deviance 4.298)
    >>> round(roc.auc, 4)
    0.8073
    """

    fpr: NDArray[np.float64]
    tpr: NDArray[np.float64]
    auc: float
    thresholds: NDArray[np.float64]
    tp_rates: NDArray[np.float64]
    fp_rates: NDArray[np.float64]
    pairs: tuple[tuple[Any, Any], ...]
    labels: tuple[Any, ...]
    fitted_fpr: NDArray[np.float64]
    fitted_tpr: NDArray[np.float64]
    pair_scores: NDArray[np.float64]
    deviance: float
    n_iter: int
    converged: bool
    center: str
    _model: _rust.RocModel | None = field(default=None, metadata=result.HELD)

    def _columns(self) -> result.Columns:
        return {"fpr": self.fpr, "tpr": self.tpr}

    def __repr__(self) -> str:
        classes, pairs = wording.pluralize(len(self.labels), "class", "classes"), len(self.pairs)
        size = f"{classes}, {wording.pluralize(pairs, 'pair')}, {wording.pluralize(len(self.thresholds), 'threshold')}"
        return f"MulticlassRoc({size}: auc {wording.decimals(self.auc)}, deviance {self.deviance:.4g})"

    @hints.with_hints
    def bootstrap(
        self,
        n_resamples: int = 1000,
        rng: np.random.Generator | int | None = None,
        *,
        groups: ArrayLike | None = None,
        sampling: Sampling = "stratified",
    ) -> MulticlassRocBootstrap:
        """Refit the curve to resampled data, for the uncertainty of `auc` and of the curve.

        Rows are resampled with their weights. The thresholds stay fixed, and each fit starts from the fitted curve.

        Parameters
        ----------
        n_resamples : int, default 1000
            How many resamples.
        rng : numpy Generator or int, optional
            The generator or its seed. The same seed resamples the same rows, replicate by replicate, for every model
            scored on the same `y_true`, so differences of replicates compare models. The result does not depend on the
            number of threads.
        groups : array-like of shape (n,), optional
            The group of each row (a patient, a user): whole groups are resampled, within classes if `sampling` is
            "stratified" and no group has rows of several classes. A resample without rows of some class is nan and does
            not count.
        sampling : {"stratified", "iid"}, default "stratified"
            Resample rows within each class, or from all rows.

        Returns
        -------
        MulticlassRocBootstrap
            With `confidence_interval()` and `band()`.
        """
        draws = resampling.read_draws(n_resamples, rng)
        drawn = wording.one_of("sampling", sampling, options.SAMPLINGS)
        if self._model is None:
            what = "was unpickled" if self.pairs else "has a class without rows"
            raise ValueError(f"this curve {what} and cannot be bootstrapped; call multiclass_roc on the data again")
        codes = options.read_groups(groups, self._model.rows)
        bootstrap = self.resample(draws, codes, drawn)
        resampling.warn_of_lost_classes(bootstrap.replicates[:, None], np.array([self.auc]))
        return bootstrap

    def resample(
        self, draws: tuple[int, int], groups: NDArray[np.uint32] | None, sampling: str
    ) -> MulticlassRocBootstrap:
        """The bootstrap with options that were read already, `draws` being the number of resamples and the seed."""
        model = self._model
        assert model is not None  # noqa: S101 - checked by all callers
        parts = refit(*draws, lambda some: model.bootstrap(some, BAND_FPR, sampling, groups))
        areas, heights = map(np.concatenate, zip(*parts, strict=True))
        smallest = model.smallest_class(sampling, groups)
        return MulticlassRocBootstrap(self.auc, areas, heights, smallest, model.separation)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        band: RocBand | None = None,
        pairs: bool = False,
        label: str | None = None,
        **line: Any,
    ) -> plotting.MulticlassRocDisplay:
        """Draw the curve, the chance line, and D in the legend. Needs matplotlib (``pip install matplotlib``).

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; default: new axes. Several models can share them.
        band : RocBand, optional
            The band to shade, from ``roc.bootstrap().band()``.
        pairs : bool, default False
            Whether to draw the empirical curve of every pair in the background.
        label : str, optional
            The model's name in the legend.
        **line
            Passed on to ``ax.plot``.

        Returns
        -------
        multiauc.plotting.MulticlassRocDisplay
            With `ax_`, `figure_` and `line_`.
        """
        from multiauc import plotting  # noqa: PLC0415

        return plotting.MulticlassRocDisplay(self, band=band).plot(ax, pairs=bool(pairs), label=label, **line)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RocBand(result.Result):
    """Limits of the true-positive rate at given false-positive rates.

    Attributes
    ----------
    fpr : ndarray
        False-positive rates from 0 to 1.
    low, high : ndarray
        Limits of the true-positive rate at each.
    level : float
        The nominal coverage.
    simultaneous : bool
        Whether the limits are simultaneous or pointwise.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(3, size=200)
    >>> roc = multiauc.multiclass_roc(y_true, np.eye(3)[y_true] + 3 * rng.random((200, 3)))
    >>> band = roc.bootstrap(200, rng=0).band(level=0.9)
    >>> band
    RocBand(90% at 101 false-positive rates)
    >>> bool(band.low[10] < band.high[10])
    True
    """

    fpr: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    level: float
    simultaneous: bool = False

    def _columns(self) -> result.Columns:
        return {"fpr": self.fpr, "low": self.low, "high": self.high}

    def __repr__(self) -> str:
        at_once = " at once" if self.simultaneous else ""
        return f"RocBand({self.level:.0%} at {len(self.fpr)} false-positive rates{at_once})"


def refit(size: int, seed: int, fit: Callable[[tuple[int, int, int]], Part]) -> list[Part]:
    """What `fit((seed, first, count))` finds, for resamples of which each is the work of one thread."""
    threads = get_num_threads()
    with Progress(size, "bootstrap") as progress:
        # In parts of this size no thread is idle.
        steps = pairwise(progress.steps(threads, unit=threads))
        return [fit((seed, first, last - first)) for first, last in steps]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CurveBootstrap(result.Result):
    """Resampled curves: their areas, and their heights at fixed false-positive rates."""

    estimate: float
    replicates: NDArray[np.float64]
    heights: NDArray[np.float64]
    smallest_class: int

    @property
    def standard_error(self) -> float:
        """The standard deviation of the replicates; nan for fewer than two."""
        return float(resampling.standard_errors(self.replicates[:, None])[0])

    def confidence_interval(
        self, level: float = 0.95, method: Literal["logit", "percentile", "basic"] = "logit"
    ) -> ConfidenceInterval:
        r"""An interval for the area.

        Parameters
        ----------
        level : float, default 0.95
            The nominal coverage.
        method : {"logit", "percentile", "basic"}, default "logit"
            ``"logit"``: expit(logit D ± t S), inside (0, 1) by construction, with S the standard deviation of the
            replicates' logits (limited to five times as close to 0 or 1 as D; at least SE / (D (1 - D))) and t
            Student's quantile with one degree of freedom fewer than the smallest class has rows. ``"percentile"``:
            quantiles of the replicates. ``"basic"``: these quantiles mirrored at the estimate. If no threshold shows an
            error (`bound` of a multi-class curve), all of them are at least :math:`[(\alpha/2)^{1/m}, 1]` with m the
            size of the smallest class; if all replicates are equal otherwise, there is no interval.
        """
        bound: float | None = getattr(self, "bound", None)
        found = resampling.Replicates(self.estimate, self.replicates, self.smallest_class, bound=bound, is_fitted=True)
        return found.interval(level, method, INTERVALS)

    def band(self, level: float = 0.95) -> RocBand:
        """Quantiles of the resampled true-positive rates at fixed false-positive rates, point by point.

        Parameters
        ----------
        level : float, default 0.95
            The fraction of resampled curves between the limits at each false-positive rate.
        """
        tail, heights = options.read_level(level), self.heights[~np.isnan(self.heights).any(axis=1)]
        low, high = np.full((2, len(BAND_FPR)), np.nan)
        if len(heights):
            low, high = np.quantile(heights, [tail, 1.0 - tail], axis=0)
        return RocBand(BAND_FPR.copy(), low, high, float(level))

    def _columns(self) -> result.Columns:
        return {"auc": self.replicates}

    def _numbers(self) -> dict[str, result.Numbers]:
        numbers = {"value": self.estimate, "standard_error": self.standard_error}
        return {"auc": numbers | self.confidence_interval()._asdict()}

    def _describe(self) -> str:
        """What was resampled, in words."""
        return "rows"

    def __repr__(self) -> str:
        size = wording.pluralize(len(self.replicates), "resample")
        numbers = f"auc {wording.decimals(self.estimate)}, se {wording.decimals(self.standard_error)}"
        return f"{type(self).__name__}({size} by {self._describe()}: {numbers})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MulticlassRocBootstrap(CurveBootstrap):
    """Resampled multi-class ROC curves.

    Attributes
    ----------
    estimate : float
        The area of the sample itself.
    replicates : ndarray of shape (n_resamples,)
        The area of each resampled curve, nan in a resample without rows of some class. Read-only.
    heights : ndarray of shape (n_resamples, 101)
        The true-positive rate of each resampled curve at false-positive rates 0, 0.01, ..., 1. Read-only.
    smallest_class : int
        The number of rows of the smallest class (of groups, if groups were resampled).
    bound : float or None
        1 if no threshold shows an error of any pair, 0 if all are wrong, otherwise None. Resamples hardly vary at these
        bounds.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(3, size=200)
    >>> roc = multiauc.multiclass_roc(y_true, np.eye(3)[y_true] + 3 * rng.random((200, 3)))
    >>> bootstrap = roc.bootstrap(200, rng=0)
    >>> bootstrap
    MulticlassRocBootstrap(200 resamples by rows: auc 0.8073, se 0.0199)
    >>> low, high = bootstrap.confidence_interval()
    >>> print(f"{low:.2f} to {high:.2f}")
    0.76 to 0.84
    """

    bound: float | None = None


@hints.with_hints
def multiclass_roc(  # noqa: PLR0913
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    thresholds: int | ArrayLike = THRESHOLDS,
    scope: Scope = "shared",
    center: Center = "intercept",
    pair_weights: PairWeights = None,
    rate_weights: tuple[ArrayLike, ArrayLike] | None = None,
    sample_weight: ArrayLike | None = None,
    continuity: float = DEFAULTS.continuity,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
    tol: float = DEFAULTS.tolerance,
    max_iter: int = DEFAULTS.max_iterations,
) -> MulticlassRoc:
    r"""The multi-class ROC curve of Wang and Carvalho, and the area D under it.

    For an ordered pair of classes (c, d) and a threshold t, the true-positive rate is the fraction of class c with
    :math:`p_c > t`, and the false-positive rate the fraction of class d with :math:`p_c > t`. All rates x, a row for
    each threshold (first the true-positive rates, then the false-positive ones) and a column for each pair, are fitted
    by

    .. math::
        \operatorname{logit} \mu_{ij} = \Lambda^0_i + \Lambda_i V_j, \qquad \sum_j V_j = 0,

    with the binomial likelihood. The row effects are common to all pairs: the curve runs through
    :math:`(\operatorname{expit} \Lambda^{0,fp}_i, \operatorname{expit} \Lambda^{0,tp}_i)` along falling thresholds,
    mapped back from the rates as they were fitted (see `continuity`) to rates. With two classes the model is saturated,
    and the curve is the empirical ROC curve of the second class's score.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The class of each row: integers, strings, bools or a categorical.
    y_score : array-like of shape (n, K)
        The score of each row for each class, float32 or float64, in any memory layout. With two classes also of shape
        (n,) or (n, 1), the score of the second of `labels`.
    thresholds : int or array-like, default 100
        How many thresholds T, at the quantiles of levels (i - 1/2) / T of the scores (repeated values count once, so
        there may be fewer); or the thresholds themselves, falling, which all pairs then share.
    scope : {"shared", "class", "pair"}, default "shared"
        Whose quantiles: of all scores, one grid for all pairs; of the score column of the pair's first class; or of
        that column in the rows of the pair's two classes.
    center : {"intercept", "projection"}, default "intercept"
        The model above; or :math:`\operatorname{logit} \mu_{ij} = \Lambda_i V_j` with
        :math:`\Lambda^0_i = \Lambda_i \bar V` afterwards, the paper's Algorithm 1.
    pair_weights : {None, "size_product", "size_sum"} or array-like of shape (K, K), optional
        Weight of each pair in the likelihood: all equal, :math:`n_c n_d`, :math:`n_c + n_d`, or a symmetric
        non-negative matrix.
    rate_weights : (array-like, array-like), optional
        Two K x K positive arrays: the weight of the true-positive rates of the pair (c, d) at [c, d], and that of its
        false-positive rates. They multiply `pair_weights`, and the row effects are means over pairs with the same
        weights. A large weight makes a rate matter more; it is not a misclassification cost.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights of the rows. Sums of weights replace counts: a row of weight 2 counts like two rows, and a
        row of weight 0 is ignored.
    continuity : float, default 0.5
        Shrinks the rates away from 0 and 1, whose logits are infinite: x becomes (1 - 2e) x + e with e = a / (n + 2a),
        a the value of this option (at most a million) and n the harmonic mean of the class sizes (the larger of a
        class's rows and weight). The fitted curve u is mapped back to (u - e) / (1 - 2e), clipped to 0 and 1.
    labels : sequence of K labels, optional
        The classes, in column order. If the columns of a data frame are named after these classes, the names decide
        which column is which. Default: the column names of a data frame, if they are strings or contain all labels;
        otherwise the sorted labels of `y_true`, if there are K of them.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows (or no weight): raise an error, leave its pairs out, or return nan.
    outputs : {"logits"} or None, default None
        What the columns contain: None uses them as they are; ``"logits"`` applies the softmax to each row first (or the
        logistic function, with one score per row). Scores are compared between rows, so logits and the probabilities
        computed from them give different values.
    tol : float, default 1e-8
        The fit stops when the deviance falls by less than `tol` times (deviance + 0.1) in a sweep.
    max_iter : int, default 500
        The maximum number of sweeps per start (there may be several starts). A fit that does not converge raises a
        warning.

    Returns
    -------
    MulticlassRoc
        With the curve (`fpr`, `tpr`), the area (`auc`), the rates, `bootstrap()` and `plot()`.

    Notes
    -----
    The chance level of D is one half. Like `hand_till_score`, the average of the pairwise AUCs, D hardly depends on the
    class sizes; unlike it, D comes with a curve. If one threshold separates all pairs without error, the curve goes
    through (0, 1) and D is exactly one.

    References
    ----------
    .. [1] L. Wang and L. Carvalho, "Multiclass ROC", arXiv, 2024.
    .. [2] L. Wang and L. Carvalho, "Deviance matrix factorization", Electronic Journal of Statistics 17(2), 2023,
       3762-3810.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(3, size=300)
    >>> y_score = rng.random((300, 3))
    >>> y_score[np.arange(300), y_true] += 0.5
    >>> roc = multiauc.multiclass_roc(y_true, y_score)
    >>> roc
    MulticlassRoc(3 classes, 6 pairs, 100 thresholds: auc 0.8830, deviance 2.375)
    >>> low, high = roc.bootstrap(200, rng=0).confidence_interval(level=0.95)
    >>> print(f"{low:.3f} to {high:.3f}")
    0.859 to 0.903
    """
    sample = read_sample(y_true, y_score, sample_weight, labels, absent, outputs)
    chosen = FitOptions(
        options.read_thresholds(thresholds),
        wording.one_of("scope", scope, options.SCOPES),
        wording.one_of("center", center, options.CENTERS),
        options.read_rate_weights(rate_weights, sample.n_classes),
        options.read_number("continuity", continuity, 0.0, LARGEST_CONTINUITY, "[]"),
        options.read_number("tol", tol, 0.0, ends="[)"),
        options.positive_integer("max_iter", max_iter),
    )
    return fit_curve(sample, options.read_pair_weights(pair_weights, sample), chosen)


def fit_curve(
    sample: Sample, pair_weights: str | NDArray[np.float64] | None = None, chosen: FitOptions | None = None
) -> MulticlassRoc:
    """The curve of a sample, with options that were read already."""
    chosen = DEFAULTS if chosen is None else chosen
    labels, center = tuple(sample.labels), chosen.center
    if sample.is_undefined:
        nan, none = np.array([np.nan]), np.empty(0)
        known: result.Record = {"fpr": nan, "tpr": nan, "auc": math.nan, "deviance": math.nan, "n_iter": 0}
        known |= dict.fromkeys(("thresholds", "fitted_fpr", "fitted_tpr", "pair_scores"), none)
        known |= dict.fromkeys(("tp_rates", "fp_rates"), np.empty((0, 0)))
        return MulticlassRoc(**known, converged=True, pairs=(), labels=labels, center=center)
    given = chosen._asdict()
    model = _rust.multiclass_roc(sample.arguments(), pair_weights=pair_weights, memory_limit=MEMORY_LIMIT, **given)
    if not model.converged:
        sweeps = wording.pluralize(chosen.max_iterations, "sweep")
        hints.warn(f"the multi-class ROC curve did not converge in {sweeps}; raise max_iter or tol", RuntimeWarning)
    pairs = tuple((labels[c], labels[d]) for c, d in model.pairs)
    return MulticlassRoc(**model.fields(), pairs=pairs, labels=labels, center=center, _model=model)
