"""ROC curves of every class or pair, with confidence bands, sensitivities and areas under parts of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise, permutations
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from multiauc import _rust
from multiauc._common import hints, registry, result, wording
from multiauc._common.progress import Progress
from multiauc._curves.multiclass import RocBand
from multiauc._inference import bootstrap as resampling
from multiauc._inference import estimates, intervals
from multiauc._input import options
from multiauc._input.sample import HeldInputs, Sample, read_sample

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from multiauc import plotting
    from multiauc._common.types import Absent, Labels, Outputs, PartialAverage, Sampling

# Finer towards 0, where good curves rise.
AT_FPR = np.unique(np.concatenate([np.linspace(0.0, 1.0, 201), np.geomspace(1e-4, 0.1, 60)]))

#: A class whose score is read and the one that it is compared with, None for all others, as columns.
Sides: TypeAlias = "tuple[int, int | None]"
#: Two rates and thresholds.
Points: TypeAlias = "tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]"


class Sided:
    """What a result about one class against another, or against all others (None), can say of both."""

    __slots__ = ()

    positive: Any
    negative: Any

    @property
    def key(self) -> Any:
        """What the result is called among others of its kind."""
        return self.positive if self.negative is None else (self.positive, self.negative)

    def _describe_sides(self) -> str:
        return f"{self.positive!r} against {'the rest' if self.negative is None else repr(self.negative)}"


class Resampled:
    """A result whose uncertainty is that of resampled rows."""

    __slots__ = ()

    @hints.with_hints
    def bootstrap(
        self,
        n_resamples: int = 2000,
        rng: np.random.Generator | int | None = None,
        *,
        groups: ArrayLike | None = None,
        sampling: Sampling = "stratified",
    ) -> resampling.Bootstrap:
        """Resample the rows or groups, for the uncertainty without a formula.

        Parameters
        ----------
        n_resamples : int, default 2000
            How many resamples.
        rng : numpy Generator or int, optional
            The generator or its seed. The same seed resamples the same rows for every metric and model.
        groups : array-like of shape (n,), optional
            The group of each row (a patient, a user): whole groups are resampled, within classes if `sampling` is
            "stratified" and no group has rows of several classes. A resample without rows of some class is nan and does
            not count.
        sampling : {"stratified", "iid"}, default "stratified"
            Resample rows within each class, or from all rows.

        Returns
        -------
        Bootstrap
            With the column "sensitivity", or the columns "macro" and "prevalence" of partial areas, and ``"logit"``,
            ``"percentile"`` and ``"basic"`` intervals. It has no influence values, so ``"bca"`` intervals are not
            available.
        """
        draws = resampling.read_draws(n_resamples, rng)
        return self._resample(self._held().regroup(groups, sampling), draws)

    def _held(self) -> HeldInputs:
        """The data behind it."""
        raise NotImplementedError

    def _resample(self, inputs: HeldInputs, draws: tuple[int, int]) -> resampling.Bootstrap:
        """The bootstrap of these data, `draws` being the number of resamples and the seed."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RocPoints(Sided, result.Result):
    """The points of a ROC curve or of its hull."""

    fpr: NDArray[np.float64]
    tpr: NDArray[np.float64]
    thresholds: NDArray[np.float64]
    positive: Any

    @property
    def auc(self) -> float:
        """The area below, by trapezoids; nan if one side has no rows."""
        if len(self.fpr) < 2:
            return math.nan
        # What lies below the curve and what lies above it, summed alike: the share cannot leave [0, 1].
        steps, heights = np.diff(self.fpr), self.tpr[1:] + self.tpr[:-1]
        below, above = float(np.dot(steps, heights)), float(np.dot(steps, 2.0 - heights))
        return below / (below + above)

    def _columns(self) -> result.Columns:
        return {"fpr": self.fpr, "tpr": self.tpr, "threshold": self.thresholds}


def curve_band(
    curve: RocCurve, sizes: tuple[float, float], tail: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """(fpr, low, high): pointwise limits of the true-positive rate at fixed false-positive rates."""
    return AT_FPR, *_rust.roc_limits((curve.fpr, curve.tpr), sizes, -NormalDist().inv_cdf(tail), AT_FPR)


def find_sizes(curves: dict[Any, RocCurve]) -> dict[Any, tuple[float, float]]:
    """The rows on both sides of each of the curves of one sample."""
    sample = next(iter(curves.values()))._known()[0].sample  # noqa: SLF001 - its own class
    place: dict[Any, Any] = {label: c for c, label in enumerate(sample.labels)} | {None: None}
    sides = [(place[curve.positive], place[curve.negative]) for curve in curves.values()]
    return dict(zip(curves, _rust.side_sizes(sample.arguments(), sides), strict=True))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RocCurve(RocPoints):
    """Points of the ROC curve of one class, against all others or against one other class.

    Attributes
    ----------
    fpr, tpr : ndarray
        False and true positive rate if rows with a score at or above the threshold are predicted positive.
    thresholds : ndarray
        The thresholds, falling from +inf.
    positive : hashable
        The class whose score is read.
    negative : hashable or None
        The class it is compared with; None for all others pooled.

    Examples
    --------
    >>> import multiauc
    >>> y_true = ["a", "a", "b", "b", "c", "c"]
    >>> y_score = [[0.7, 0.2, 0.1], [0.4, 0.5, 0.1], [0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.3, 0.5], [0.3, 0.2, 0.5]]
    >>> curve = multiauc.roc_curves(y_true, y_score)["a"]
    >>> curve
    RocCurve('a' against the rest: 5 points, auc 0.8750)
    >>> curve.tpr
    array([0. , 0.5, 0.5, 1. , 1. ])
    """

    negative: Any = None
    _inputs: HeldInputs | None = field(default=None, metadata=result.HELD)

    @hints.with_hints
    def band(
        self,
        level: float = 0.95,
        *,
        simultaneous: bool = True,
        n_resamples: int = 2000,
        rng: np.random.Generator | int | None = None,
        groups: ArrayLike | None = None,
        sampling: Sampling = "stratified",
    ) -> RocBand:
        r"""A confidence band for the population curve, simultaneous by default.

        At a false-positive rate f, both the fraction f of one class and the fraction h(f) of the other are binomial;
        their Wilson limits at z standard errors are combined [1]_. For a pointwise band, z is the normal quantile. For
        a simultaneous band, z is chosen such that in a fraction `level` of resamples the band around the resampled
        curve contains the sample's own at all false-positive rates: about 3 for 95%. Limits from resampled curves alone
        would have zero width if all rows are classified correctly.

        Parameters
        ----------
        level : float, default 0.95
            The nominal coverage.
        simultaneous : bool, default True
            Whether the band is simultaneous; otherwise it is pointwise and needs no resampling, as in plots.
        n_resamples : int, default 2000
            How many resamples.
        rng : numpy Generator or int, optional
            The generator or its seed. The same seed resamples the same rows as any other bootstrap.
        groups : array-like of shape (n,), optional
            The group of each row (a patient, a user): whole groups are resampled. Only with `simultaneous`.
        sampling : {"stratified", "iid"}, default "stratified"
            Resample rows within each class, or from all rows.

        Returns
        -------
        RocBand
            Limits at false-positive rates from 0 to 1, finer towards 0; nan for a class without rows.

        References
        ----------
        .. [1] G. Y. Zou and A. Donner, "Construction of confidence limits about effect measures: a general approach",
           Statistics in Medicine 27 (2008), 1693-1702.
        """
        tail = options.read_level(level)
        draws = resampling.read_draws(n_resamples, rng)
        is_whole = options.read_flag("simultaneous", simultaneous)
        if groups is not None and not is_whole:
            raise ValueError("groups has no meaning with simultaneous=False, which treats rows as independent")
        inputs, place = self._known()
        inputs = inputs.regroup(groups, sampling)
        z, rates = -NormalDist().inv_cdf(tail), (self.fpr, self.tpr)
        [sizes] = _rust.side_sizes(inputs.sample.arguments(), [place])
        if is_whole and not math.isnan(self.auc):
            held = _rust.roc_heights(rates, AT_FPR)
            found = _redraw(inputs, place, draws, lambda curve, *some: curve.z_to_hold(*some, sizes, z, AT_FPR, held))
            z = float(np.nanquantile(found, level, method="higher")) if not np.isnan(found).all() else math.nan
        return RocBand(AT_FPR.copy(), *_rust.roc_limits(rates, sizes, z, AT_FPR), float(level), is_whole)

    def sensitivity(self, specificity: float) -> Sensitivity:
        """The true-positive rate at a given specificity (1 minus the false-positive rate), with its uncertainty.

        Interpolated linearly between the points of the curve; on a vertical step, its upper end.

        Parameters
        ----------
        specificity : float
            Between 0 and 1.

        Returns
        -------
        Sensitivity
            With an analytic `confidence_interval()`, and `bootstrap()`.
        """
        wanted = options.read_number("specificity", specificity, 0.0, 1.0)
        inputs, place = self._known()
        value = float(_rust.roc_heights((self.fpr, self.tpr), np.array([1.0 - wanted]))[0])
        [sizes] = _rust.side_sizes(inputs.sample.arguments(), [place])
        return Sensitivity(wanted, value, self.positive, self.negative, sizes, self)

    def _known(self) -> tuple[HeldInputs, Sides]:
        """The data behind the curve, and the columns of its classes."""
        if self._inputs is None:
            raise ValueError("this curve was made without data or unpickled; call roc_curves on the data again")
        self._inputs.unchanged_sample()
        place = {label: c for c, label in enumerate(self._inputs.sample.labels)}
        return self._inputs, (place[self.positive], None if self.negative is None else place[self.negative])

    def plot(self, ax: Axes | None = None, **line: Any) -> plotting.RocCurvesDisplay:
        """Draw the curve, on axes that other curves may share. Needs matplotlib (``pip install matplotlib``).

        `multiauc.plotting.RocCurvesDisplay` draws the curves of all classes or pairs.
        """
        from multiauc import plotting  # noqa: PLC0415

        return plotting.RocCurvesDisplay({self.key: self}).plot(ax, **line)

    def __repr__(self) -> str:
        return f"RocCurve({self._describe_sides()}: {len(self.fpr)} points, auc {wording.decimals(self.auc)})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sensitivity(Resampled, Sided, result.Number, result.Tabular):
    """The sensitivity of a class at a given specificity; see `RocCurve.sensitivity`.

    Attributes
    ----------
    specificity : float
        1 minus the false-positive rate.
    value : float
        The true-positive rate there.
    positive, negative : hashable
        The class whose score is used, and the one it is compared with; None for all others pooled.
    sizes : tuple of two floats
        The rows of the class, and those it is compared with; with weights, Kish's effective numbers of rows.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(3, size=300)
    >>> curves = multiauc.roc_curves(y_true, np.eye(3)[y_true] + 2 * rng.random((300, 3)))
    >>> found = curves[0].sensitivity(specificity=0.9)
    >>> found
    Sensitivity(0 against the rest at specificity 0.9: 0.6778, 95% interval 0.5733 to 0.7681)
    >>> found.bootstrap(200, rng=0).metrics
    ('sensitivity',)
    """

    specificity: float
    value: float
    positive: Any
    negative: Any
    sizes: tuple[float, float]
    _curve: RocCurve

    def confidence_interval(self, level: float = 0.95) -> intervals.ConfidenceInterval:
        """An analytic interval for the population's sensitivity at this specificity.

        The limits of ``RocCurve.band(simultaneous=False)`` at this point, which account for the estimated threshold.
        Rows are assumed to be independent.

        Parameters
        ----------
        level : float, default 0.95
            The nominal coverage.
        """
        interval = self._interval(options.read_level(level))
        if math.isnan(interval.low):
            hints.warn("there is no interval: a class has no rows", RuntimeWarning)
        return interval

    def _held(self) -> HeldInputs:
        return self._curve._known()[0]  # noqa: SLF001 - its own curve

    def _resample(self, inputs: HeldInputs, draws: tuple[int, int]) -> resampling.Bootstrap:
        replicates, (_, place) = np.full(draws[0], np.nan), self._curve._known()  # noqa: SLF001
        if not math.isnan(self.value):
            at = 1.0 - self.specificity
            replicates = _redraw(inputs, place, draws, lambda curve, *some: curve.heights(*some, at))
        units, rows = int(inputs.units()[place[0]]), inputs.sample.rows
        names, values = ("sensitivity",), np.array([self.value])
        return resampling.Bootstrap(replicates[:, None], names, values, None, inputs.resampled_unit, rows, units)

    def to_dict(self, level: float = 0.95) -> result.Record:
        """Everything in plain Python objects, with the limits of the interval."""
        low, high = self._interval(options.read_level(level))
        return result.Result.to_dict(self) | {"low": low, "high": high}

    def _numbers(self) -> dict[str, result.Numbers]:
        return {"sensitivity": result.pick_numbers(self.to_dict())}

    def _rows(self, level: float) -> list[result.Record]:
        found = self.to_dict(level)
        return [{name: found[name] for name in ("positive", "negative", "specificity", "value", "low", "high")}]

    def _interval(self, tail: float) -> intervals.ConfidenceInterval:
        rates, at = (self._curve.fpr, self._curve.tpr), np.array([1.0 - self.specificity])
        low, high = _rust.roc_limits(rates, self.sizes, -NormalDist().inv_cdf(tail), at)
        return intervals.ConfidenceInterval(float(low[0]), float(high[0]))

    def __repr__(self) -> str:
        interval = wording.format_interval(*self._interval(0.025))
        found = f"{wording.decimals(self.value)}, 95% interval {interval}"
        return f"Sensitivity({self._describe_sides()} at specificity {self.specificity:g}: {found})"


def _redraw(
    inputs: HeldInputs, curve: Sides, draws: tuple[int, int], look: Callable[..., NDArray[np.float64]]
) -> NDArray[np.float64]:
    """What `look(curves, seed, first, count)` finds in resampled curves; nan where one has no row of some side."""
    curves, (size, seed) = _rust.CurveResampler(inputs.arguments(), curve), draws
    with Progress(size, "bootstrap") as progress:
        found = np.concatenate([look(curves, seed, i, j - i) for i, j in pairwise(progress.steps())])
    resampling.warn_of_lost_classes(found[:, None], np.zeros(1))
    return found


@hints.with_hints
def roc_curves(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    kind: registry.CurveKind = registry.DEFAULT_CURVE_KIND,
    drop_intermediate: bool = True,
    sample_weight: ArrayLike | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
) -> dict[Any, RocCurve]:
    r"""The ROC curve of every class, or of every ordered pair of classes.

    For class c and a threshold t, the rows with :math:`p_c \ge t` are predicted positive, and the curve runs through

    .. math::
        \mathrm{TPR}(t) = \frac{\#\{a \in c : p_c(a) \ge t\}}{n_c}, \qquad
        \mathrm{FPR}(t) = \frac{\#\{b \in R : p_c(b) \ge t\}}{n_R}

    where R is all the other classes (``"one_vs_rest"``) or one other class d (``"pairwise"``). The area under it is the
    value of the class in `one_vs_rest_per_class`, or A(c|d) in `hand_till_matrix`.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The class of each row: integers, strings, bools or a categorical.
    y_score : array-like of shape (n, K)
        The score of each row for each class, float32 or float64, in any memory layout. With two classes also of shape
        (n,) or (n, 1), the score of the second of `labels`; the first then gets the negated score.
    kind : {"one_vs_rest", "pairwise"}, default "one_vs_rest"
        A curve per class, or a curve per ordered pair of classes.
    drop_intermediate : bool, default True
        Leave out points on a straight line between their neighbours. The area stays the same.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights of the rows. Sums of weights replace counts: a row of weight 2 counts like two rows, and a
        row of weight 0 is ignored.
    labels : sequence of K labels, optional
        The classes, in column order. If the columns of a data frame are named after these classes, the names decide
        which column is which. Default: the column names of a data frame, if they are strings or contain all labels;
        otherwise the sorted labels of `y_true`, if there are K of them.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows (or no weight): raise an error, leave its curves out, or return curves with a
        single point, nan.
    outputs : {"logits"} or None, default None
        What the columns contain: None uses them as they are; ``"logits"`` applies the softmax to each row first (or the
        logistic function, with one score per row). Scores are compared between rows, so logits and the probabilities
        computed from them give different values.

    Returns
    -------
    dict
        A `RocCurve` by label, or by pair (c, d) of labels, where c is the positive class whose score is used. It
        provides `band()` and `sensitivity()`, for which it keeps a reference to `y_score`, not a copy.

    Examples
    --------
    >>> import multiauc
    >>> y_true = ["cat", "cat", "dog", "dog", "eel"]
    >>> y_score = [[0.6, 0.3, 0.1], [0.4, 0.4, 0.2], [0.5, 0.4, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]]
    >>> curves = multiauc.roc_curves(y_true, y_score)
    >>> curves["cat"]
    RocCurve('cat' against the rest: 5 points, auc 0.8333)
    >>> curves["cat"].thresholds
    array([inf, 0.6, 0.5, 0.4, 0.1])
    >>> multiauc.roc_curves(y_true, y_score, kind="pairwise")["cat", "dog"].auc
    0.75
    """
    sample = read_sample(y_true, y_score, sample_weight, labels, absent, outputs)
    return find_curves(sample, kind, drop_intermediate=drop_intermediate)


def find_curves(sample: Sample, kind: str, *, drop_intermediate: bool) -> dict[Any, RocCurve]:
    """The curves of a sample, by class or by pair of classes; the core computes those of present classes at once."""
    dropped = options.read_flag("drop_intermediate", drop_intermediate)
    wanted = curve_pairs(sample, wording.one_of("kind", kind, registry.CURVE_KINDS))
    points, inputs = _rust.roc_curve_points(sample.arguments(), wanted, dropped), HeldInputs(sample, ())
    found = zip(wanted, points, strict=True)
    curves = [RocCurve(*points, *name_sides(sample, sides), inputs) for sides, points in found]
    return {curve.key: curve for curve in curves}


def name_sides(sample: Sample, sides: Sides) -> tuple[Any, Any]:
    """The labels of both sides, None for all other classes."""
    c, d = sides
    return sample.labels[c], None if d is None else sample.labels[d]


def curve_pairs(sample: Sample, kind: str) -> list[Sides]:
    """(positive class, negative class or None for all others) of each curve that a result has entries for."""
    classes = sample.reported_classes()
    return list(permutations(classes, 2)) if kind == registry.PAIRWISE else [(c, None) for c in classes]


AVERAGES = ("macro", "prevalence")


@hints.with_hints
def partial_auc_score(  # noqa: PLR0913 - keyword-only options
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    max_fpr: float | None = None,
    min_tpr: float | None = None,
    kind: registry.CurveKind = registry.DEFAULT_CURVE_KIND,
    average: PartialAverage = "macro",
    sample_weight: ArrayLike | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
) -> float:
    r"""The standardised area under part of the ROC curves, averaged over classes or over ordered pairs of classes.

    With false-positive rates up to f, the area :math:`A = \int_0^f \mathrm{TPR}\, d\mathrm{FPR}` of a curve lies
    between :math:`f^2/2` for chance and f, and its standardised value is (McClish 1989)

    .. math:: \frac{1}{2}\left(1 + \frac{A - f^2/2}{f - f^2/2}\right),

    1/2 for chance and 1 for a perfect score. With two classes and a one-dimensional score this is scikit-learn's
    ``roc_auc_score(max_fpr=f)``. With true-positive rates from t on, the same is done on the curve of
    (1 - TPR, 1 - FPR) with f = 1 - t.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The class of each row: integers, strings, bools or a categorical.
    y_score : array-like of shape (n, K)
        The score of each row for each class, float32 or float64, in any memory layout. With two classes also of shape
        (n,) or (n, 1), the score of the second of `labels`; then there is one curve, that of the second class.
    max_fpr : float in (0, 1], optional
        The largest false-positive rate that counts. Pass either this or `min_tpr`.
    min_tpr : float in [0, 1), optional
        The smallest true-positive rate that counts.
    kind : {"one_vs_rest", "pairwise"}, default "one_vs_rest"
        One curve per class against all others, or per ordered pair of classes (c, d), by the score of c.
    average : {"macro", "prevalence"}, default "macro"
        The plain mean of the curves, or weighted by the prevalence of the positive class.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights of the rows. Sums of weights replace counts: a row of weight 2 counts like two rows, and a
        row of weight 0 is ignored.
    labels : sequence of K labels, optional
        The classes, in column order. If the columns of a data frame are named after these classes, the names decide
        which column is which. Default: the column names of a data frame, if they are strings or contain all labels;
        otherwise the sorted labels of `y_true`, if there are K of them.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows (or no weight): raise an error, leave it out, or return nan.
    outputs : {"logits"} or None, default None
        What the columns contain: None uses them as they are; ``"logits"`` applies the softmax to each row first (or the
        logistic function, with one score per row). Scores are compared between rows, so logits and the probabilities
        computed from them give different values.

    Returns
    -------
    float

    References
    ----------
    D. K. McClish, *Analyzing a Portion of the ROC Curve*, Medical Decision Making 9, 1989.

    Examples
    --------
    >>> import multiauc
    >>> y_true = ["cat", "cat", "dog", "dog", "eel"]
    >>> y_score = [[0.6, 0.3, 0.1], [0.4, 0.4, 0.2], [0.5, 0.4, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]]
    >>> round(multiauc.partial_auc_score(y_true, y_score, max_fpr=0.5), 4)
    0.8889
    >>> round(multiauc.partial_auc_score(y_true, y_score, min_tpr=0.5, kind="pairwise"), 4)
    0.9167
    """
    kind_of_mean = wording.one_of("average", average, AVERAGES)
    region, rate = options.read_region(max_fpr, min_tpr)
    sample = read_sample(y_true, y_score, sample_weight, labels, absent, outputs)
    _, *means = _find_areas(sample, _partial_curves(sample, kind), region, rate)
    return means[AVERAGES.index(kind_of_mean)]


@hints.with_hints
def partial_auc(  # noqa: PLR0913
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    max_fpr: float | None = None,
    min_tpr: float | None = None,
    kind: registry.CurveKind = registry.DEFAULT_CURVE_KIND,
    sample_weight: ArrayLike | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
) -> PartialAuc:
    """The standardised area under part of every ROC curve, with its averages and a bootstrap of them.

    Parameters
    ----------
    y_true, y_score, max_fpr, min_tpr, kind, sample_weight, labels, outputs
        As in `partial_auc_score`, which defines the value.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows (or no weight): raise an error, leave its curves out, or give them nan.

    Returns
    -------
    PartialAuc
        `.values` by class or by ordered pair, `.macro`, `.prevalence`, and `.bootstrap()` for intervals.

    Examples
    --------
    >>> import multiauc
    >>> y_true = ["cat", "cat", "dog", "dog", "eel"]
    >>> y_score = [[0.6, 0.3, 0.1], [0.4, 0.4, 0.2], [0.5, 0.4, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]]
    >>> multiauc.partial_auc(y_true, y_score, max_fpr=0.5)
    PartialAuc: fpr up to 0.5, 3 classes against the rest
                  area
    cat         0.7778
    dog         0.8889
    eel         1.0000
    macro       0.8889
    prevalence  0.8667
    """
    region, rate = options.read_region(max_fpr, min_tpr)
    sample = read_sample(y_true, y_score, sample_weight, labels, absent, outputs)
    curves = _partial_curves(sample, kind)
    areas, macro, prevalence = _find_areas(sample, curves, region, rate)
    sides = (name_sides(sample, curve) for curve in curves)
    values = {c if d is None else (c, d): area for (c, d), area in zip(sides, areas, strict=True)}
    limits = {"max_fpr": None, "min_tpr": None} | {region: rate}
    return PartialAuc(values, macro, prevalence, kind, **limits, _inputs=HeldInputs(sample, ()))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PartialAuc(Resampled, result.Printed, result.Result):
    """Standardised areas under part of the ROC curves; see `multiauc.partial_auc`.

    Attributes
    ----------
    values : dict
        The area of each curve by label, or by ordered pair (c, d) of labels, where c is the class whose score is used.
    macro, prevalence : float
        Their mean, and their mean weighted by the prevalence of the positive class.
    kind : {"one_vs_rest", "pairwise"}
        What each class is compared with.
    max_fpr, min_tpr : float or None
        The part of the curves that counts.

    Examples
    --------
    >>> import multiauc
    >>> y_true = ["a", "a", "b", "b", "c", "c"]
    >>> y_score = [[0.7, 0.2, 0.1], [0.4, 0.5, 0.1], [0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.3, 0.5], [0.3, 0.2, 0.5]]
    >>> areas = multiauc.partial_auc(y_true, y_score, max_fpr=0.5)
    >>> areas.values["b"]
    0.75
    >>> areas.bootstrap(100, rng=0).metrics
    ('macro', 'prevalence')
    """

    values: dict[Any, float]
    macro: float
    prevalence: float
    kind: str
    max_fpr: float | None
    min_tpr: float | None
    _inputs: HeldInputs | None = field(default=None, metadata=result.HELD)

    def _held(self) -> HeldInputs:
        if self._inputs is None:
            raise ValueError("these areas were unpickled, without their data; call partial_auc on the data again")
        return self._inputs

    def _resample(self, inputs: HeldInputs, draws: tuple[int, int]) -> resampling.Bootstrap:
        sample, replicates = inputs.sample, np.full((draws[0], 2), np.nan)
        if not math.isnan(self.macro):
            curves, region = _partial_curves(sample, self.kind), options.read_region(self.max_fpr, self.min_tpr)
            resampler = _rust.Resampler.of_curves(inputs.arguments(), curves, *region, resampling.MEMORY_LIMIT)
            replicates = resampling.run_replicates(resampler, *draws)
        means, smallest = np.array([self.macro, self.prevalence]), estimates.count_smallest(inputs.units())
        resampling.warn_of_lost_classes(replicates, means)
        return resampling.Bootstrap(replicates, AVERAGES, means, None, inputs.resampled_unit, sample.rows, smallest)

    def _columns(self) -> result.Columns:
        pairs = self.values if self.kind == registry.PAIRWISE else [(label, None) for label in self.values]
        return {
            "kind": ["curve"] * len(self.values) + list(AVERAGES),
            "positive": [*(c for c, _ in pairs), None, None],
            "negative": [*(d for _, d in pairs), None, None],
            "value": [*self.values.values(), self.macro, self.prevalence],
        }

    def _numbers(self) -> dict[str, result.Numbers]:
        return {name: {"value": value} for name, value in self._named().items()}

    def _named(self) -> dict[str, float]:
        names = [str(key) if self.kind == registry.AGAINST_REST else f"{key[0]} | {key[1]}" for key in self.values]
        means = {"macro": self.macro, "prevalence": self.prevalence}
        return dict(zip(names, self.values.values(), strict=True)) | means

    def _title(self) -> str:
        part = f"fpr up to {self.max_fpr:g}" if self.max_fpr is not None else f"tpr from {self.min_tpr:g}"
        if self.kind == registry.PAIRWISE:
            return f"PartialAuc: {part}, {wording.pluralize(len(self.values), 'ordered pair')}"
        return f"PartialAuc: {part}, {wording.pluralize(len(self.values), 'class', 'classes')} against the rest"

    def _table(self) -> result.Cells:
        return [["", "area"], *([name, wording.decimals(value)] for name, value in self._named().items())]


def _find_areas(sample: Sample, curves: list[Sides], region: str, rate: float) -> tuple[list[float], float, float]:
    """(area of each curve, mean, mean by prevalence), nan for curves of absent classes."""
    values, macro, prevalence = _rust.partial_aucs(sample.arguments(), curves, region, rate)
    return values, sample.nan_if_absent(macro), sample.nan_if_absent(prevalence)


def _partial_curves(sample: Sample, kind: str) -> list[Sides]:
    """The curves that have an area; a single score has one curve, that of the second class."""
    one = wording.one_of("kind", kind, registry.CURVE_KINDS)
    if sample.has_one_score:
        return [(1, 0 if one == registry.PAIRWISE else None)]
    return curve_pairs(sample, one)
