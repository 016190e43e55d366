"""ROC curves of every class or pair, with confidence bands."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise, permutations
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc import _rust
from multiauc._common.hints import warn, with_hints
from multiauc._common.progress import Progress
from multiauc._common.registry import CURVE_KINDS, DEFAULT_CURVE_KIND, PAIRWISE
from multiauc._common.result import HELD, Number, Result, Tabular, pick_numbers
from multiauc._common.wording import decimals, format_interval, one_of
from multiauc._curves.multiclass import RocBand
from multiauc._inference.bootstrap import MEMORY_LIMIT, Bootstrap, draw_seed, warn_of_lost_classes
from multiauc._inference.estimates import read_number
from multiauc._inference.intervals import NO_INTERVAL, ConfidenceInterval
from multiauc._input.held_inputs import HeldInputs
from multiauc._input.options import positive_integer, read_flag, read_level, read_rng
from multiauc._input.sample import read_sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from multiauc._common.registry import CurveKind
    from multiauc._common.result import Columns, Numbers, Record
    from multiauc._common.types import Absent, Labels, Outputs, Sampling
    from multiauc._input.sample import Sample
    from multiauc.plotting import RocCurvesDisplay

# Finer towards 0, where good curves rise.
AT_FPR = np.unique(np.concatenate([np.linspace(0.0, 1.0, 201), np.geomspace(1e-4, 0.1, 60)]))

# How exactly the width of a band is found, in standard errors.
STEP_OF_Z = 0.01

# Of heights that are compared, and of rates that are looked up.
ROUNDING = 1e-12
RATE_ROUNDING = 1e-15


def area_below(fpr: NDArray[np.float64], tpr: NDArray[np.float64]) -> float:
    """The area below a curve, by trapezoids; nan for a curve of a single point."""
    if len(fpr) < 2:
        return math.nan
    # What lies below the curve and what lies above it, summed alike: the share cannot leave [0, 1].
    steps, heights = np.diff(fpr), tpr[1:] + tpr[:-1]
    below, above = float(np.dot(steps, heights)), float(np.dot(steps, 2.0 - heights))
    return below / (below + above)


def curve_band(
    curve: RocCurve, sizes: tuple[float, float], tail: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """(fpr, low, high): pointwise limits of the true-positive rate at fixed false-positive rates."""
    low, high = limits((curve.fpr, curve.tpr), sizes, normal_quantile(tail), AT_FPR)
    return AT_FPR, low, high


def limits(
    points: tuple[NDArray[np.float64], NDArray[np.float64]],
    sizes: tuple[float, float],
    z: float,
    at: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r"""Limits of the true-positive rate at false-positive rates, z standard errors away.

    `points` are the false and true-positive rates of the curve, `sizes` the numbers of rows of the positive and of the
    negative class, which are taken as fixed.

    At a rate f the curve is h(f), the share of one class above the threshold that f of the other is above. Both shares
    are binomial: Wilson's limits l, u of h(f), and those f_l, f_u of f, are combined as independent parts of one
    distance (Zou and Donner's method of variance estimates recovery),

    .. math:: h - \sqrt{(h - l)^2 + (h(f) - h(f_l))^2}, \quad h + \sqrt{(u - h)^2 + (h(f_u) - h(f))^2}.

    Unlike quantiles of resampled curves, these limits have a width where all rows are right.
    """
    n_positive, n_negative = sizes
    height = heights(points, at)
    low, high = _wilson(height, n_positive, z)
    before, after = _wilson(at, n_negative, z)
    # How high the curve is before the first row of the other class is not known, nor after the last one: it may rise
    # from 0, or reach 1.
    least = heights(points, before) * np.minimum(1.0, before * n_negative)
    most = 1.0 - (1.0 - heights(points, after)) * np.minimum(1.0, (1.0 - after) * n_negative)
    lower = height - np.hypot(height - low, height - least)
    upper = height + np.hypot(high - height, most - height)
    return np.maximum(lower, 0.0), np.minimum(upper, 1.0)


def heights(points: tuple[NDArray[np.float64], NDArray[np.float64]], at: NDArray[np.float64]) -> NDArray[np.float64]:
    """The curve at false-positive rates; the upper end where it rises straight up."""
    fpr, tpr = points
    # 1 - 0.9 is a little less than 0.1, where the curve may rise.
    there = np.searchsorted(fpr, at + RATE_ROUNDING, side="right") - 1
    return np.where(np.abs(fpr[there] - at) <= RATE_ROUNDING, tpr[there], np.interp(at, fpr, tpr))


def z_to_hold(
    points: tuple[NDArray[np.float64], NDArray[np.float64]],
    sizes: tuple[float, float],
    held: NDArray[np.float64],
    least: float,
) -> float:
    """The smallest z, not below `least`, whose limits around a curve hold another curve at all of `AT_FPR`."""

    def holds(z: float) -> bool:
        low, high = limits(points, sizes, z, AT_FPR)
        return bool(np.all((low <= held + ROUNDING) & (held <= high + ROUNDING)))

    if holds(least):
        return least
    # With growing z the limits tend to 0 and 1.
    low, high = least, 2.0 * least + 1.0
    while not holds(high):
        low, high = high, 2.0 * high
    while high - low > STEP_OF_Z:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def resample_curves(
    inputs: HeldInputs,
    curve: tuple[int, int | None],
    size: int,
    seed: int,
    look: Callable[[tuple[NDArray[np.float64], NDArray[np.float64]]], float],
) -> NDArray[np.float64]:
    """What is seen in each resampled curve of a class; nan where the resample holds no row of one of the sides.

    The resamples are those that every other bootstrap draws with this seed.
    """
    resampler = _rust.Resampler.of_curves(inputs.arguments(), [curve], "max_fpr", 1.0, MEMORY_LIMIT)
    sample = inputs.sample
    weights = np.ones(len(sample.codes)) if sample.weights is None else sample.weights
    positive, negative = sides(inputs, curve)
    rows = np.flatnonzero((positive | negative) & (weights > 0.0))
    scores = own_scores(inputs, curve[0])[rows]
    order = np.argsort(-scores, kind="stable")
    rows, scores = rows[order], scores[order]
    # A threshold lies after all rows of one score.
    ends = np.flatnonzero(np.append(np.diff(scores) != 0, True))
    is_positive = positive[rows]
    found = np.full(size, np.nan)
    with Progress(size, "bootstrap") as progress:
        for first, last in pairwise(progress.steps(resampler.block, unit=resampler.block)):
            drawn = resampler.multiplicities(seed, first, last - first)
            for k in range(first, last):
                mass = drawn[k - first, rows] * weights[rows]
                right = np.concatenate([[0.0], np.cumsum(np.where(is_positive, mass, 0.0))[ends]])
                wrong = np.concatenate([[0.0], np.cumsum(np.where(is_positive, 0.0, mass))[ends]])
                if right[-1] > 0.0 and wrong[-1] > 0.0:
                    found[k] = look((wrong / wrong[-1], right / right[-1]))
    return found


def sides(inputs: HeldInputs, curve: tuple[int, int | None]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The rows of the class whose score is read, and those that it is told from."""
    codes, (c, d) = inputs.sample.codes, curve
    return codes == c, codes != c if d is None else codes == d


def own_scores(inputs: HeldInputs, c: int) -> NDArray[np.float64]:
    """The scores of a class; a single score is that of the second class, and the first has it negated."""
    sample = inputs.sample
    if sample.has_one_score:
        only = np.asarray(sample.scores[:, 0], dtype=np.float64)
        return only if c == 1 else -only
    return np.asarray(sample.scores[:, c], dtype=np.float64)


def curve_sizes(inputs: HeldInputs, curve: tuple[int, int | None]) -> tuple[float, float]:
    """The effective numbers of rows on both sides of a curve."""
    weights = inputs.sample.weights
    own, other = (
        effective_size(None if weights is None else np.asarray(weights[rows]), int(np.count_nonzero(rows)))
        for rows in sides(inputs, curve)
    )
    return own, other


def effective_size(weights: NDArray[np.float64] | None, rows: int) -> float:
    """The number of rows, or of rows of equal weight that would be as informative (Kish)."""
    if weights is None:
        return float(rows)
    total = float(weights.sum())
    return total * total / float(np.dot(weights, weights)) if total > 0.0 else math.nan


def normal_quantile(tail: float) -> float:
    """The z that a normal number exceeds with probability `tail`."""
    return -NormalDist().inv_cdf(tail)


def _wilson(share: NDArray[np.float64], size: float, z: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    middle = (share + z * z / (2 * size)) / (1 + z * z / size)
    reach = z / (1 + z * z / size) * np.sqrt(share * (1 - share) / size + (z / (2 * size)) ** 2)
    return np.maximum(middle - reach, 0.0), np.minimum(middle + reach, 1.0)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RocCurve(Result):
    """Points of the ROC curve of one class, against all others or against one other class.

    Attributes
    ----------
    fpr, tpr : ndarray
        False and true positive rate when the rows with a score of at least the threshold are called positive.
    thresholds : ndarray
        The thresholds, falling from +inf.
    positive : hashable
        The class whose score is read.
    negative : hashable or None
        The class that it is told from; None for all the others together.

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

    fpr: NDArray[np.float64]
    tpr: NDArray[np.float64]
    thresholds: NDArray[np.float64]
    positive: Any
    negative: Any = None
    _inputs: HeldInputs | None = field(default=None, metadata=HELD)

    @property
    def auc(self) -> float:
        """The area under the curve, by trapezoids; nan for a class without rows."""
        return area_below(self.fpr, self.tpr)

    @with_hints
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
        r"""A band that holds the population's whole curve with probability `level`.

        At a false-positive rate f both the share f of one class and the share h(f) of the other are binomial; Wilson's
        limits of both at a distance of z standard errors are combined [1]_. Point by point, z is that of the normal
        distribution. For the whole curve, z is such that in a share `level` of resamples the band around the resampled
        curve holds the sample's own at all false-positive rates: about 3 for 95%. Limits from resampled curves alone
        would have no width where all rows are right.

        Parameters
        ----------
        level : float, default 0.95
            The nominal coverage.
        simultaneous : bool, default True
            Whether the band is to hold the whole curve, or, without resampling, each point by itself: as plots have it.
        n_resamples : int, default 2000
            How many samples.
        rng : numpy Generator or int, optional
            The random numbers or their seed. The same seed draws the same rows as any other bootstrap.
        groups : array-like of shape (n,), optional
            The group of each row (a patient, a user): whole groups are drawn. Only where `simultaneous`.
        sampling : {"stratified", "iid"}, default "stratified"
            Rows drawn with replacement within each class, or whatever their class.

        Returns
        -------
        RocBand
            Limits at false-positive rates from 0 to 1, finer towards 0; nan for a class without rows.

        References
        ----------
        .. [1] G. Y. Zou and A. Donner, "Construction of confidence limits about effect measures: a general approach",
           Statistics in Medicine 27 (2008), 1693-1702.
        """
        tail = read_level(level)
        size = positive_integer("n_resamples", n_resamples)
        generator = read_rng(rng)
        is_whole = read_flag("simultaneous", simultaneous)
        if groups is not None and not is_whole:
            raise ValueError("groups has no meaning with simultaneous=False, which treats rows as independent")
        inputs, place = self._known()
        inputs = inputs.regroup(groups, sampling)
        if math.isnan(self.auc):
            nowhere = np.full(len(AT_FPR), np.nan)
            return RocBand(AT_FPR.copy(), nowhere, nowhere.copy(), float(level), is_whole)
        z, sizes = normal_quantile(tail), curve_sizes(inputs, place)
        points = self.fpr, self.tpr
        if is_whole:
            own = heights(points, AT_FPR)
            look = partial(z_to_hold, sizes=sizes, held=own, least=z)
            found = resample_curves(inputs, place, size, draw_seed(generator), look)
            warn_of_lost_classes(found[:, None], np.zeros(1))
            z = float(np.nanquantile(found, level, method="higher")) if not np.isnan(found).all() else math.nan
        low, high = limits(points, sizes, z, AT_FPR)
        return RocBand(AT_FPR.copy(), low, high, float(level), is_whole)

    def sensitivity(self, specificity: float) -> Sensitivity:
        """The true-positive rate at a given specificity (1 less the false-positive rate), with its uncertainty.

        Read from the curve, with straight lines between its points, and its upper end where it rises straight up.

        Parameters
        ----------
        specificity : float
            Between 0 and 1.

        Returns
        -------
        Sensitivity
            With `confidence_interval()` in closed form, and `bootstrap()`.
        """
        wanted = read_number("specificity", specificity, low=0.0, high=1.0)
        inputs, place = self._known()
        value = math.nan if math.isnan(self.auc) else _height(1.0 - wanted, (self.fpr, self.tpr))
        return Sensitivity(wanted, value, self.positive, self.negative, curve_sizes(inputs, place), self)

    def _known(self) -> tuple[HeldInputs, tuple[int, int | None]]:
        """The data behind the curve, and the columns of its classes."""
        if self._inputs is None:
            raise ValueError("this curve was made without data or unpickled; call roc_curves on the data again")
        self._inputs.unchanged_sample()
        place = {label: c for c, label in enumerate(self._inputs.sample.labels)}
        return self._inputs, (place[self.positive], None if self.negative is None else place[self.negative])

    def plot(self, ax: Axes | None = None, **line: Any) -> RocCurvesDisplay:
        """Draw the curve, on axes that other curves may share. Needs matplotlib (``pip install matplotlib``).

        `multiauc.plotting.RocCurvesDisplay` draws the curves of all classes or pairs.
        """
        from multiauc.plotting import RocCurvesDisplay  # noqa: PLC0415

        key = self.positive if self.negative is None else (self.positive, self.negative)
        return RocCurvesDisplay({key: self}).plot(ax, **line)

    def _columns(self) -> Columns:
        return {"fpr": self.fpr, "tpr": self.tpr, "threshold": self.thresholds}

    def __repr__(self) -> str:
        negative = "the rest" if self.negative is None else repr(self.negative)
        return f"RocCurve({self.positive!r} against {negative}: {len(self.fpr)} points, auc {decimals(self.auc)})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sensitivity(Number, Tabular):
    """The share of a class that is found at a given specificity; see `RocCurve.sensitivity`.

    Attributes
    ----------
    specificity : float
        1 less the false-positive rate.
    value : float
        The true-positive rate there.
    positive, negative : hashable
        The class whose score is read, and the one that it is told from; None for all the others together.
    sizes : tuple of two floats
        The rows of the class, and those it is told from; with weights, Kish's effective numbers of rows.

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

    def confidence_interval(self, level: float = 0.95) -> ConfidenceInterval:
        """An interval for the population's sensitivity at this specificity, in closed form.

        The limits of ``RocCurve.band(simultaneous=False)`` at this point, where the formula is: the threshold is
        estimated too, and the interval knows it. Rows are taken for independent.

        Parameters
        ----------
        level : float, default 0.95
            The nominal coverage.
        """
        interval = self._interval(read_level(level))
        if math.isnan(interval.low):
            warn("there is no interval: a class has no rows", RuntimeWarning)
        return interval

    @with_hints
    def bootstrap(
        self,
        n_resamples: int = 2000,
        rng: np.random.Generator | int | None = None,
        *,
        groups: ArrayLike | None = None,
        sampling: Sampling = "stratified",
    ) -> Bootstrap:
        """Resample the rows, or groups of them: the uncertainty without a formula.

        Parameters
        ----------
        n_resamples : int, default 2000
            How many samples.
        rng : numpy Generator or int, optional
            The random numbers or their seed. The same seed draws the same rows as any other bootstrap.
        groups : array-like of shape (n,), optional
            The group of each row (a patient, a user): whole groups are drawn.
        sampling : {"stratified", "iid"}, default "stratified"
            Rows drawn with replacement within each class, or whatever their class.

        Returns
        -------
        Bootstrap
            With the column "sensitivity", and ``"logit"``, ``"percentile"`` and ``"basic"`` intervals.
        """
        size = positive_integer("n_resamples", n_resamples)
        generator = read_rng(rng)
        inputs, place = self._curve._known()  # noqa: SLF001 - its own curve
        inputs = inputs.regroup(groups, sampling)
        replicates = np.full(size, np.nan)
        if not math.isnan(self.value):
            look = partial(_height, 1.0 - self.specificity)
            replicates = resample_curves(inputs, place, size, draw_seed(generator), look)
            warn_of_lost_classes(replicates[:, None], np.zeros(1))
        units, rows = int(inputs.units()[place[0]]), inputs.sample.rows
        estimates = np.array([self.value])
        return Bootstrap(replicates[:, None], ("sensitivity",), estimates, None, inputs.resampled_unit, rows, units)

    def to_dict(self, level: float = 0.95) -> Record:
        """Everything in plain Python objects, with the limits of the interval."""
        low, high = self._interval(read_level(level))
        return Result.to_dict(self) | {"low": low, "high": high}

    def _numbers(self) -> dict[str, Numbers]:
        return {"sensitivity": pick_numbers(self.to_dict())}

    def _rows(self, level: float) -> list[Record]:
        found = self.to_dict(level)
        return [{name: found[name] for name in ("positive", "negative", "specificity", "value", "low", "high")}]

    def _interval(self, tail: float) -> ConfidenceInterval:
        if math.isnan(self.value):
            return NO_INTERVAL
        at = np.array([1.0 - self.specificity])
        low, high = limits((self._curve.fpr, self._curve.tpr), self.sizes, normal_quantile(tail), at)
        return ConfidenceInterval(float(low[0]), float(high[0]))

    def __repr__(self) -> str:
        negative = "the rest" if self.negative is None else repr(self.negative)
        interval = format_interval(*self._interval(0.025))
        return (
            f"Sensitivity({self.positive!r} against {negative} at specificity {self.specificity:g}: "
            f"{decimals(self.value)}, 95% interval {interval})"
        )


def _height(at: float, points: tuple[NDArray[np.float64], NDArray[np.float64]]) -> float:
    return float(heights(points, np.array([at]))[0])


@with_hints
def roc_curves(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    kind: CurveKind = DEFAULT_CURVE_KIND,
    drop_intermediate: bool = True,
    sample_weight: ArrayLike | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
) -> dict[Any, RocCurve]:
    r"""The ROC curve of every class, or of every ordered pair of classes.

    For class c and a threshold t, the rows with :math:`p_c \ge t` are called positive, and the curve runs through

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
        (n,) or (n, 1), the score of the second of `labels`; the first is then given the negated score.
    kind : {"one_vs_rest", "pairwise"}, default "one_vs_rest"
        A curve per class, or a curve per ordered pair of classes.
    drop_intermediate : bool, default True
        Leave out points on a straight line between their neighbours. The area stays the same.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights of the rows. Sums of weights take the place of all counts, so that a row of weight 2 counts
        like two rows and a row of weight 0 not at all.
    labels : sequence of K labels, optional
        The classes in the order of the columns; of a data frame whose columns are named by these classes, the names say
        which column is which. By default the column names of a data frame, if they are strings or contain all labels;
        otherwise the sorted labels of `y_true`, if there are K of them.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows (or no weight): raise an error, leave its curves out, or have curves of a
        single point nan.
    outputs : {"logits"} or None, default None
        What the columns are: None takes them as they are; ``"logits"`` takes the softmax of each row first (of one
        score per row, the logistic function). Scores of different rows are compared, so logits and the probabilities
        made of them have different values.

    Returns
    -------
    dict
        A `RocCurve` by label, or by pair (c, d) of labels, c being the positive class whose score is read. It has a
        `band` and the `sensitivity` at a specificity; it refers to `y_score` for them and does not copy it.

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
    return curves_of(sample, kind, drop_intermediate=drop_intermediate)


def curves_of(sample: Sample, kind: str, *, drop_intermediate: bool) -> dict[Any, RocCurve]:
    """The curves of a sample, by class or by pair of classes."""
    if not isinstance(drop_intermediate, (bool, np.bool_)):
        raise TypeError(f"drop_intermediate must be True or False; got {drop_intermediate!r}")
    wanted = curve_pairs(sample, one_of("kind", kind, CURVE_KINDS))
    curves = _curves(sample, wanted, drop_intermediate=bool(drop_intermediate))
    return {curve.positive if curve.negative is None else (curve.positive, curve.negative): curve for curve in curves}


def curve_pairs(sample: Sample, kind: str) -> list[tuple[int, int | None]]:
    """(positive class, negative class or None for all others) of each curve that a result has entries for."""
    classes = sample.reported_classes()
    return list(permutations(classes, 2)) if kind == PAIRWISE else [(c, None) for c in classes]


def present_curves(sample: Sample, curves: list[tuple[int, int | None]]) -> list[tuple[int, int | None]]:
    """Those of the curves whose classes have rows."""
    return [(c, d) for c, d in curves if sample.rows[c] and (d is None or sample.rows[d])]


def _curves(sample: Sample, wanted: list[tuple[int, int | None]], *, drop_intermediate: bool) -> Iterator[RocCurve]:
    """The curves in order; the core computes those of present classes in one call."""
    present = present_curves(sample, wanted)
    drawn = _rust.roc_curve_points(sample.arguments(), present, drop_intermediate)
    points = dict(zip(present, drawn, strict=True))
    inputs = HeldInputs(sample, ())
    nan = np.array([np.nan])
    for c, d in wanted:
        fpr, tpr, thresholds = points.get((c, d), (nan, nan, nan))
        negative = None if d is None else sample.labels[d]
        yield RocCurve(fpr, tpr, thresholds, sample.labels[c], negative, inputs)
