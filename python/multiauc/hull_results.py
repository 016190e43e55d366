"""What `roc_hulls` returns: a hull, its best point under given costs, and its cost curve."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc._digits import decimals
from multiauc._frames import frame_of_columns
from multiauc._hull_costs import Hull, h_measure
from multiauc._input.options import read_non_negative, read_share
from multiauc._result import Result
from multiauc._roc_bands import area_below
from multiauc.results import read_only

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from multiauc._frames import Library
    from multiauc._input.held_inputs import HeldInputs
    from multiauc.plotting import CostCurveDisplay, RocHullDisplay

# Relative to the largest terms of an expected cost.
TIED = 8.0 * np.finfo(np.float64).eps


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RocHull(Result):
    """The upper convex hull of the ROC curve of one class, against all others or against one other class.

    Attributes
    ----------
    fpr, tpr : ndarray
        False and true positive rate of the vertices, from (0, 0) to (1, 1).
    thresholds : ndarray
        The rows with a score of at least the threshold are called positive; falling from +inf.
    positive : hashable
        The class whose score is read.
    negative : hashable or None
        The class that it is told from; None for all the others together.
    prevalence : float
        The share of the positive class among the rows of both sides.

    Examples
    --------
    >>> import multiauc
    >>> y_true = [1, 1, 0, 1, 1, 0, 1, 1, 1, 0]
    >>> score = [0.85, 0.10, 0.44, 0.46, 0.91, 0.79, 0.53, 0.14, 0.73, 0.23]
    >>> hull = multiauc.roc_hulls(y_true, score)[1]
    >>> hull
    RocHull(1 against the rest: 4 vertices, auc 0.7381)
    >>> hull.optimum(cost_fp=1, cost_fn=2)
    OperatingPoint(1 against the rest: always positive, tpr 1.0000, fpr 1.0000, expected cost 0.3000)
    >>> round(hull.h_measure(), 4)
    0.1889
    """

    fpr: NDArray[np.float64]
    tpr: NDArray[np.float64]
    thresholds: NDArray[np.float64]
    positive: Any
    negative: Any
    prevalence: float
    _inputs: HeldInputs | None = None

    def __post_init__(self) -> None:
        for name in ("fpr", "tpr", "thresholds"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def __reduce__(self) -> tuple[Any, ...]:
        # The data are left behind: an unpickled hull has everything but the curve below it in its picture.
        return RocHull, (self.fpr, self.tpr, self.thresholds, self.positive, self.negative, self.prevalence)

    @property
    def auc(self) -> float:
        """The area under the hull, by trapezoids: at least that under the curve; nan for a class without rows."""
        return area_below(self.fpr, self.tpr)

    def optimum(self, cost_fp: float, cost_fn: float, prevalence: float | None = None) -> OperatingPoint:
        r"""The vertex of the least expected cost, and the threshold that gets there.

        .. math:: \pi_0 C_{FP} \mathrm{FPR} + \pi_1 C_{FN} (1 - \mathrm{TPR})

        is least where a line of slope :math:`\pi_0 C_{FP} / (\pi_1 C_{FN})` touches the hull.

        Parameters
        ----------
        cost_fp, cost_fn : float
            What it costs to call a negative row positive, and to call a positive row negative: not negative, and not
            both 0.
        prevalence : float, optional
            The share of the positive class where the threshold will be used, between 0 and 1; by default that of the
            rows.

        Returns
        -------
        OperatingPoint
            Of equally good vertices the one with the fewest positives.
        """
        false_positive = read_non_negative("cost_fp", cost_fp)
        false_negative = read_non_negative("cost_fn", cost_fn)
        if false_positive == 0.0 == false_negative:
            raise ValueError("cost_fp and cost_fn must not both be 0: then every threshold costs the same")
        share = self.prevalence if prevalence is None else read_share("prevalence", prevalence)
        costs = (1.0 - share) * false_positive * self.fpr + share * false_negative * (1.0 - self.tpr)
        # Costs that differ by the rounding of rates and of their products alone are equally good.
        tied = TIED * ((1.0 - share) * false_positive * self.fpr + share * false_negative)
        best = 0 if math.isnan(self.auc) else int(np.argmax(costs <= costs.min() + tied))
        return OperatingPoint(
            fpr=float(self.fpr[best]),
            tpr=float(self.tpr[best]),
            # The last vertex calls everything positive, other rows with still lower scores included.
            threshold=-math.inf if best == len(self.fpr) - 1 > 0 else float(self.thresholds[best]),
            expected_cost=float(costs[best]),
            cost_fp=false_positive,
            cost_fn=false_negative,
            prevalence=share,
            positive=self.positive,
            negative=self.negative,
        )

    def cost_curve(self) -> CostCurve:
        """The expected cost under all costs and prevalences at once; see `CostCurve`."""
        return CostCurve(*_envelope(self.fpr, self.tpr), self.fpr, self.tpr, self.positive, self.negative)

    def h_measure(self, severity_ratio: float | None = None) -> float:
        r"""Hand's H-measure: how much of the loss of a decision without scores the scores save.

        .. math::
            H = 1 - \frac{\int L(c)\, u(c)\, dc}{\int L_0(c)\, u(c)\, dc}, \qquad
            L(c) = \min\, c\, \pi_0\, \mathrm{FPR} + (1 - c)\, \pi_1 (1 - \mathrm{TPR}),

        the minimum over the hull, :math:`L_0` that of calling all rows positive or none, and c the share of a false
        positive in the sum of both costs. Beliefs about c are u, the density of Beta(2, 1 + 1/SR), which peaks where
        :math:`c / (1 - c)` is the severity ratio SR [1]_. 0 for scores that are no better than none, 1 for perfect
        ones. Scores that rank the wrong way round are not turned round.

        Parameters
        ----------
        severity_ratio : float, optional
            The most likely ratio of the cost of a false positive to that of a false negative; by default
            prevalence / (1 - prevalence), so that errors in the smaller class are taken for the more severe.

        References
        ----------
        .. [1] D. J. Hand and C. Anagnostopoulos, "A better Beta for the H measure of classification performance",
           Pattern Recognition Letters 40 (2014), 41-46.
        """
        ratio = read_severity(severity_ratio)
        if math.isnan(self.auc):
            return math.nan
        if ratio is None:
            ratio = self.prevalence / (1.0 - self.prevalence)
        return h_measure(Hull(self.fpr, self.tpr, self.prevalence), ratio)

    def plot(self, ax: Axes | None = None, *, optimum: OperatingPoint | None = None, **line: Any) -> RocHullDisplay:
        """Draw the hull over its curve. Needs matplotlib (``pip install multiauc[plot]``).

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw: new axes by default. Axes of ROC curves may be shared.
        optimum : OperatingPoint, optional
            A point to mark, from `optimum`, with the line of equal costs through it.
        **line
            Passed on to ``ax.plot``.
        """
        from multiauc.plotting import RocHullDisplay  # noqa: PLC0415

        return RocHullDisplay(self, optimum=optimum).plot(ax, **line)

    def to_frame(self, *, library: Library | None = None) -> Any:
        """The vertices as a data frame: pandas or polars, whichever is loaded or installed."""
        return frame_of_columns({"fpr": self.fpr, "tpr": self.tpr, "threshold": self.thresholds}, library)

    def __repr__(self) -> str:
        return f"RocHull({told_from(self)}: {len(self.fpr)} vertices, auc {decimals(self.auc)})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OperatingPoint(Result):
    """The best threshold under given costs; see `RocHull.optimum`.

    Attributes
    ----------
    fpr, tpr : float
        The rates there.
    threshold : float
        Call rows positive whose score is at least this: inf for none, -inf for all.
    expected_cost : float
        The mean cost of a row.
    cost_fp, cost_fn, prevalence : float
        What it is best for.
    positive, negative : hashable
        The class whose score is read, and the one that it is told from; None for all the others together.

    Examples
    --------
    >>> import multiauc
    >>> point = multiauc.roc_hulls([0, 0, 1, 1], [0.1, 0.6, 0.5, 0.9])[1].optimum(cost_fp=2, cost_fn=1)
    >>> point.threshold, point.tpr, point.expected_cost
    (0.9, 0.5, 0.25)
    >>> point.slope
    2.0
    """

    fpr: float
    tpr: float
    threshold: float
    expected_cost: float
    cost_fp: float
    cost_fn: float
    prevalence: float
    positive: Any
    negative: Any

    @property
    def slope(self) -> float:
        """How steep lines of equal cost are in the picture of the curve; inf where only false positives cost."""
        missed = self.prevalence * self.cost_fn
        return math.inf if missed == 0.0 else (1.0 - self.prevalence) * self.cost_fp / missed

    def __repr__(self) -> str:
        if math.isinf(self.threshold):
            when = "never positive" if self.threshold > 0.0 else "always positive"
        else:
            when = f"positive from {self.threshold:.6g} on"
        rates = f"tpr {decimals(self.tpr)}, fpr {decimals(self.fpr)}"
        return f"OperatingPoint({told_from(self)}: {when}, {rates}, expected cost {decimals(self.expected_cost)})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CostCurve(Result):
    r"""Expected costs under all costs and prevalences (Drummond and Holte's cost curve), from a hull.

    With :math:`x = \pi_1 C_{FN} / (\pi_1 C_{FN} + \pi_0 C_{FP})`, a point of the ROC curve is the straight line

    .. math:: (1 - \mathrm{TPR})\, x + \mathrm{FPR}\, (1 - x),

    the expected cost in units of the largest possible one. The curve is the lower envelope of all these lines.

    Attributes
    ----------
    x, cost : ndarray
        The corners of the lower envelope, from x = 0 to x = 1.
    fpr, tpr : ndarray
        The points whose lines touch it, as in `RocHull`.
    positive, negative : hashable
        The class whose score is read, and the one that it is told from; None for all the others together.

    References
    ----------
    C. Drummond and R. C. Holte, *Cost curves: An improved method for visualizing classifier performance*, Machine
    Learning 65, 2006.

    Examples
    --------
    >>> import multiauc
    >>> curve = multiauc.roc_hulls([0, 0, 1, 1], [0.1, 0.6, 0.5, 0.9])[1].cost_curve()
    >>> curve
    CostCurve(1 against the rest: area 0.1250, without scores 0.2500)
    >>> curve.at(0.5)
    0.25
    """

    x: NDArray[np.float64]
    cost: NDArray[np.float64]
    fpr: NDArray[np.float64]
    tpr: NDArray[np.float64]
    positive: Any
    negative: Any

    def __post_init__(self) -> None:
        for name in ("x", "cost", "fpr", "tpr"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def __reduce__(self) -> tuple[Any, ...]:
        return CostCurve, (self.x, self.cost, self.fpr, self.tpr, self.positive, self.negative)

    @property
    def area(self) -> float:
        """The area under the envelope: 1/4 without scores, 0 for perfect ones; nan for a class without rows."""
        if len(self.x) < 2:
            return math.nan
        return float(0.5 * np.dot(np.diff(self.x), self.cost[1:] + self.cost[:-1]))

    def at(self, x: float) -> float:
        """The smallest expected cost at one x between 0 and 1."""
        at = read_share("x", x)
        return math.nan if len(self.x) < 2 else float(np.interp(at, self.x, self.cost))

    def plot(self, ax: Axes | None = None, **line: Any) -> CostCurveDisplay:
        """Draw the lines and their lower envelope. Needs matplotlib (``pip install multiauc[plot]``)."""
        from multiauc.plotting import CostCurveDisplay  # noqa: PLC0415

        return CostCurveDisplay(self).plot(ax, **line)

    def to_frame(self, *, library: Library | None = None) -> Any:
        """The corners as a data frame: pandas or polars, whichever is loaded or installed."""
        return frame_of_columns({"x": self.x, "cost": self.cost}, library)

    def __repr__(self) -> str:
        return f"CostCurve({told_from(self)}: area {decimals(self.area)}, without scores 0.2500)"


def told_from(result: RocHull | OperatingPoint | CostCurve) -> str:
    """The two sides of a curve in words."""
    negative = "the rest" if result.negative is None else repr(result.negative)
    return f"{result.positive!r} against {negative}"


def read_severity(severity_ratio: Any) -> float | None:
    """A positive number, or None for the default."""
    if severity_ratio is None:
        return None
    ratio = read_non_negative("severity_ratio", severity_ratio)
    if ratio == 0.0 or math.isinf(1.0 / ratio):
        raise ValueError(f"severity_ratio must be above 0; got {severity_ratio!r}")
    return ratio


def _envelope(fpr: ArrayLike, tpr: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The corners of the lower envelope: where the lines of neighbouring vertices cross."""
    false_rate, true_rate = np.asarray(fpr), np.asarray(tpr)
    if len(false_rate) < 2:
        return false_rate, true_rate
    across, up = np.diff(false_rate), np.diff(true_rate)
    crossings = across / (across + up)
    costs = (1.0 - true_rate[:-1]) * crossings + false_rate[:-1] * (1.0 - crossings)
    x = np.concatenate([[0.0], crossings, [1.0]])
    corners = np.concatenate([[True], np.diff(x) > 0.0])
    return x[corners], np.concatenate([[0.0], costs, [0.0]])[corners]
