"""What `roc_curves` returns: a curve, its band, and its sensitivity at a specificity."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Never

import numpy as np

from multiauc._digits import decimals
from multiauc._frames import frame_of_columns
from multiauc._hints import refuse_unknown
from multiauc._input.held_inputs import HeldInputs
from multiauc._input.options import SAMPLINGS, positive_integer, read_flag, read_groups, read_level, read_rng
from multiauc._intervals import NO_INTERVAL
from multiauc._parameter_texts import shares_parameter_texts
from multiauc._replicates import draw_seed, warn_of_lost_classes
from multiauc._result import Result, Tabular
from multiauc._roc_bands import (
    AT_FPR,
    area_below,
    curve_sizes,
    heights,
    limits,
    normal_quantile,
    resampled_curves,
    z_to_hold,
)
from multiauc._wording import one_of
from multiauc.bootstrap import Bootstrap
from multiauc.hypotheses import read_number
from multiauc.multiclass_curve_results import RocBand
from multiauc.results import ConfidenceInterval, read_only

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from multiauc._frames import Library
    from multiauc._types import Sampling
    from multiauc.plotting import RocCurvesDisplay


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
    _inputs: HeldInputs | None = None

    def __post_init__(self) -> None:
        for name in ("fpr", "tpr", "thresholds"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def __reduce__(self) -> tuple[Any, ...]:
        # The data are left behind: an unpickled curve can be read and drawn, but has no band.
        return RocCurve, (self.fpr, self.tpr, self.thresholds, self.positive, self.negative)

    @property
    def auc(self) -> float:
        """The area under the curve, by trapezoids; nan for a class without rows."""
        return area_below(self.fpr, self.tpr)

    @shares_parameter_texts
    def band(
        self,
        level: float = 0.95,
        *,
        simultaneous: bool = True,
        n_resamples: int = 2000,
        rng: np.random.Generator | int | None = None,
        groups: ArrayLike | None = None,
        sampling: Sampling = "stratified",
        **unknown: Never,
    ) -> RocBand:
        r"""A band that holds the population's whole curve with probability `level`.

        At a false-positive rate f both the share f of one class and the share h(f) of the other are binomial; Wilson's
        limits of both at a distance of z standard errors are combined [1]_. Point by point, z is that of the normal
        distribution. For the whole curve, z is such that in a share `level` of resamples the band around the resampled
        curve holds the sample's own at all false-positive rates: about 3 for 95%. Limits from resampled curves alone
        would have no width where all rows are right.

        Parameters
        ----------
        {level}
        simultaneous : bool, default True
            Whether the band is to hold the whole curve, or, without resampling, each point by itself: as plots have it.
        {n_resamples}
        rng : numpy Generator or int, optional
            The random numbers or their seed. The same seed draws the same rows as any other bootstrap.
        groups : array-like of shape (n,), optional
            The group of each row (a patient, a user): whole groups are drawn. Only where `simultaneous`.
        {sampling_of_rows}

        Returns
        -------
        RocBand
            Limits at false-positive rates from 0 to 1, finer towards 0; nan for a class without rows.

        References
        ----------
        .. [1] G. Y. Zou and A. Donner, "Construction of confidence limits about effect measures: a general approach",
           Statistics in Medicine 27 (2008), 1693-1702.
        """
        refuse_unknown(type(self).band, unknown)
        tail = read_level(level)
        size = positive_integer("n_resamples", n_resamples)
        drawn = one_of("sampling", sampling, SAMPLINGS)
        generator = read_rng(rng)
        is_whole = read_flag("simultaneous", simultaneous)
        if groups is not None and not is_whole:
            raise ValueError("groups has no meaning with simultaneous=False, which treats rows as independent")
        inputs, place = self._known()
        inputs = _drawing(inputs, groups, drawn)
        if math.isnan(self.auc):
            nowhere = np.full(len(AT_FPR), np.nan)
            return RocBand(AT_FPR.copy(), nowhere, nowhere.copy(), float(level), is_whole)
        z, sizes = normal_quantile(tail), curve_sizes(inputs, place)
        points = self.fpr, self.tpr
        if is_whole:
            own = heights(points, AT_FPR)
            look = partial(z_to_hold, sizes=sizes, held=own, least=z)
            found = resampled_curves(inputs, place, size, draw_seed(generator), look)
            warn_of_lost_classes(found[:, None], np.zeros(1), stacklevel=2)
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
        """Draw the curve, on axes that other curves may share. Needs matplotlib (``pip install multiauc[plot]``).

        `multiauc.plotting.RocCurvesDisplay` draws the curves of all classes or pairs.
        """
        from multiauc.plotting import RocCurvesDisplay  # noqa: PLC0415

        key = self.positive if self.negative is None else (self.positive, self.negative)
        return RocCurvesDisplay({key: self}).plot(ax, **line)

    def to_frame(self, *, library: Library | None = None) -> Any:
        """The points as a data frame: pandas or polars, whichever is loaded or installed."""
        return frame_of_columns({"fpr": self.fpr, "tpr": self.tpr, "threshold": self.thresholds}, library)

    def __repr__(self) -> str:
        negative = "the rest" if self.negative is None else repr(self.negative)
        return f"RocCurve({self.positive!r} against {negative}: {len(self.fpr)} points, auc {decimals(self.auc)})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sensitivity(Tabular):
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

    @shares_parameter_texts
    def confidence_interval(self, level: float = 0.95) -> ConfidenceInterval:
        """An interval for the population's sensitivity at this specificity, in closed form.

        The limits of ``RocCurve.band(simultaneous=False)`` at this point, where the formula is: the threshold is
        estimated too, and the interval knows it. Rows are taken for independent.

        Parameters
        ----------
        {level}
        """
        interval = self._interval(read_level(level))
        if math.isnan(interval.low):
            warnings.warn("there is no interval: a class has no rows", RuntimeWarning, stacklevel=2)
        return interval

    @shares_parameter_texts
    def bootstrap(
        self,
        n_resamples: int = 2000,
        rng: np.random.Generator | int | None = None,
        *,
        groups: ArrayLike | None = None,
        sampling: Sampling = "stratified",
        **unknown: Never,
    ) -> Bootstrap:
        """Resample the rows, or groups of them: the uncertainty without a formula.

        Parameters
        ----------
        {n_resamples}
        rng : numpy Generator or int, optional
            The random numbers or their seed. The same seed draws the same rows as any other bootstrap.
        groups : array-like of shape (n,), optional
            The group of each row (a patient, a user): whole groups are drawn.
        {sampling_of_rows}

        Returns
        -------
        Bootstrap
            With the column "sensitivity", and ``"logit"``, ``"percentile"`` and ``"basic"`` intervals.
        """
        refuse_unknown(type(self).bootstrap, unknown)
        size = positive_integer("n_resamples", n_resamples)
        drawn = one_of("sampling", sampling, SAMPLINGS)
        generator = read_rng(rng)
        inputs, place = self._curve._known()  # noqa: SLF001 - its own curve
        inputs = _drawing(inputs, groups, drawn)
        replicates = np.full(size, np.nan)
        if not math.isnan(self.value):
            look = partial(_height, 1.0 - self.specificity)
            replicates = resampled_curves(inputs, place, size, draw_seed(generator), look)
            warn_of_lost_classes(replicates[:, None], np.zeros(1), stacklevel=2)
        units, rows = int(inputs.units()[place[0]]), inputs.sample.rows
        estimates = np.array([self.value])
        return Bootstrap(replicates[:, None], ("sensitivity",), estimates, None, inputs.drawn(), rows, units)

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """Everything in plain Python objects, with the limits of the interval."""
        low, high = self._interval(read_level(level))
        return Result.to_dict(self) | {"low": low, "high": high}

    def _rows(self, level: float) -> list[dict[str, Any]]:
        found = self.to_dict(level)
        return [{name: found[name] for name in ("positive", "negative", "specificity", "value", "low", "high")}]

    def _interval(self, tail: float) -> ConfidenceInterval:
        if math.isnan(self.value):
            return NO_INTERVAL
        at = np.array([1.0 - self.specificity])
        low, high = limits((self._curve.fpr, self._curve.tpr), self.sizes, normal_quantile(tail), at)
        return ConfidenceInterval(float(low[0]), float(high[0]))

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        negative = "the rest" if self.negative is None else repr(self.negative)
        low, high = self._interval(0.025)
        interval = "-" if math.isnan(low) else f"{decimals(low)} to {decimals(high)}"
        return (
            f"Sensitivity({self.positive!r} against {negative} at specificity {self.specificity:g}: "
            f"{decimals(self.value)}, 95% interval {interval})"
        )


def _height(at: float, points: tuple[NDArray[np.float64], NDArray[np.float64]]) -> float:
    return float(heights(points, np.array([at]))[0])


def _drawing(inputs: HeldInputs, groups: ArrayLike | None, sampling: str) -> HeldInputs:
    """The same data, to be drawn in groups or otherwise."""
    sample = inputs.unchanged_sample()
    return HeldInputs(sample, (), {}, groups=read_groups(groups, len(sample.codes)), sampling=sampling)
