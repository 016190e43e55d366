"""Plots of convex hulls with lines of equal cost, and of cost curves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from multiauc._common import registry
from multiauc._common.wording import decimals
from multiauc._costs.hulls import CostCurve, OperatingPoint, RocHull, roc_hulls
from multiauc._curves.roc import find_curves
from multiauc.plotting import _roc_frame as frame
from multiauc.plotting._base import Display, PredictionsDisplay, Style, axes_or_new

if TYPE_CHECKING:
    from collections.abc import Hashable

    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from numpy.typing import ArrayLike

COST_INCHES = (5.6, 4.4)
# How many lines of a cost curve can be told apart; of more, those at even distances are drawn.
LINES_AT_MOST = 40
WITHOUT_SCORES = "multiauc cost without scores"


class RocHullDisplay(PredictionsDisplay):
    """The convex hull of a ROC curve, the curve below it, and a line of equal costs.

    Parameters
    ----------
    hull : RocHull
        The hull, from `multiauc.roc_hulls`.
    optimum : OperatingPoint, optional
        The point to mark, from ``hull.optimum(...)``.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    line_ : matplotlib Line2D
        The hull.
    cost_line_ : matplotlib Line2D or None
        The line of equal costs.

    Examples
    --------
    >>> import multiauc
    >>> from multiauc.plotting import RocHullDisplay
    >>> hull = multiauc.roc_hulls([0, 0, 0, 1, 1, 1], [0.1, 0.6, 0.4, 0.5, 0.3, 0.9])[1]
    >>> display = RocHullDisplay(hull, optimum=hull.optimum(cost_fp=1, cost_fn=1)).plot()
    >>> display.line_.get_label()
    '1 (hull, AUC 0.778)'
    """

    line_: Line2D
    cost_line_: Line2D | None

    def __init__(self, hull: RocHull, *, optimum: OperatingPoint | None = None) -> None:
        self.hull = hull
        self.optimum = optimum

    @classmethod
    def from_predictions(  # type: ignore[override]
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        positive: Hashable,
        cost_fp: float = 1.0,
        cost_fn: float = 1.0,
        prevalence: float | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Find the hull of the class `positive` against the rest, and its best point; `options` as in `roc_hulls`."""
        hulls = roc_hulls(y_true, y_score, **options)
        if positive not in hulls:
            raise ValueError(f"positive must be one of {', '.join(map(repr, hulls))}; got {positive!r}")
        hull = hulls[positive]
        return cls(hull, optimum=hull.optimum(cost_fp, cost_fn, prevalence)).plot(ax)

    def plot(self, ax: Axes | None = None, **line: Any) -> Self:
        """Draw the hull on axes that other curves may share; `line` is passed on to ``ax.plot``."""
        hull, point = self.hull, self.optimum
        axes = frame.roc_axes(ax)
        name = frame.curve_name(hull.positive, hull.negative, f"hull, AUC {decimals(hull.auc, 3)}")
        self.line_ = frame.draw_curve(axes, hull.fpr, hull.tpr, name, line)
        colour = self.line_.get_color()
        if hull._inputs is not None and not math.isnan(hull.auc):  # noqa: SLF001 - the data that results refer to
            kind = registry.AGAINST_REST if hull.negative is None else registry.PAIRWISE
            curves = find_curves(hull._inputs.unchanged_sample(), kind, drop_intermediate=True)  # noqa: SLF001
            below = curves[hull.positive if hull.negative is None else (hull.positive, hull.negative)]
            look = {"color": colour, "alpha": 0.4, "linewidth": 1, "label": "the curve below it"}
            frame.draw_behind(axes, below.fpr, below.tpr, look)
        self.cost_line_ = None
        if point is not None and not math.isnan(point.fpr):
            x, y = _through(point)
            cost = f"equal cost {decimals(point.expected_cost, 3)}"
            (self.cost_line_,) = axes.plot(x, y, color=colour, linestyle=(0, (4, 3)), linewidth=1, zorder=2, label=cost)
            best = f"best: score \N{GREATER-THAN OR EQUAL TO} {point.threshold:.4g}"
            if math.isinf(point.threshold):
                best = f"best: {'never' if point.threshold > 0.0 else 'always'} positive"
            axes.plot([point.fpr], [point.tpr], marker="o", color=colour, linestyle="", zorder=4, label=best)
        frame.finish_roc(axes)
        return self._set_axes(axes)


def _through(point: OperatingPoint) -> tuple[list[float], list[float]]:
    """The ends, within the unit square, of the line of equal costs through a point."""
    slope = point.slope
    if math.isinf(slope):
        return [point.fpr, point.fpr], [0.0, 1.0]
    if slope == 0.0:
        return [0.0, 1.0], [point.tpr, point.tpr]
    left = max(0.0, point.fpr - point.tpr / slope)
    right = min(1.0, point.fpr + (1.0 - point.tpr) / slope)
    return [left, right], [point.tpr + slope * (x - point.fpr) for x in (left, right)]


class CostCurveDisplay(Display):
    """A cost curve: the lines of the points of a hull, and their lower envelope.

    Parameters
    ----------
    curve : CostCurve
        The curve, from ``hull.cost_curve()``.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    line_ : matplotlib Line2D
        The envelope.

    Examples
    --------
    >>> import multiauc
    >>> from multiauc.plotting import CostCurveDisplay
    >>> hull = multiauc.roc_hulls([0, 0, 0, 1, 1, 1], [0.1, 0.6, 0.4, 0.5, 0.3, 0.9])[1]
    >>> CostCurveDisplay(hull.cost_curve()).plot().line_.get_label()
    '1 (area 0.167)'
    """

    line_: Line2D

    def __init__(self, curve: CostCurve) -> None:
        self.curve = curve

    def plot(self, ax: Axes | None = None, **line: Any) -> Self:
        """Draw the curve on axes that other cost curves may share; `line` is passed on to ``ax.plot``."""
        curve = self.curve
        axes = axes_or_new(ax, COST_INCHES)
        self._frame(axes)
        name = frame.curve_name(curve.positive, curve.negative, f"area {decimals(curve.area, 3)}")
        self.line_ = frame.draw_curve(axes, curve.x, curve.cost, name, line)
        colour = self.line_.get_color()
        drawn = np.unique(np.linspace(0, len(curve.fpr) - 1, min(len(curve.fpr), LINES_AT_MOST)).round().astype(int))
        for k in drawn.tolist():
            ends = [curve.fpr[k], 1.0 - curve.tpr[k]]
            frame.draw_behind(axes, [0.0, 1.0], ends, {"color": colour, "alpha": 0.3, "linewidth": 0.7})
        axes.legend(loc="upper center", fontsize="small", framealpha=0.9, edgecolor="none")
        return self._set_axes(axes)

    @staticmethod
    def _frame(axes: Axes) -> None:
        """The cost of predictions that need no scores, colours, and what stands along the axes."""
        if any(line.get_gid() == WITHOUT_SCORES for line in axes.lines):
            return
        frame.set_styles(axes)
        style: Style = {"color": "0.6", "linestyle": ":", "linewidth": 1, "zorder": 1, "gid": WITHOUT_SCORES}
        axes.plot([0.0, 0.5, 1.0], [0.0, 0.5, 0.0], label="without scores (area 0.25)", **style)
        axes.set(xlim=(0, 1), ylim=(0, 0.75), ylabel="expected cost (largest possible = 1)")
        axes.set_xlabel("share of false negatives in the costs at stake")
        axes.spines[["top", "right"]].set_visible(False)
