"""Plots of curves: ROC, precision-recall, reliability, multi-class and summary ROC, hulls, and cost curves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from multiauc import _rust
from multiauc._common import registry
from multiauc._common.wording import decimals, listing, shown_name
from multiauc._costs.hulls import CostCurve, OperatingPoint, RocHull, roc_hulls
from multiauc._curves import multiclass, per_class, roc
from multiauc._curves.summary import SummaryRocOfPairs
from multiauc._input.options import read_level
from multiauc.plotting import _base as base

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.collections import Collection
    from matplotlib.lines import Line2D
    from numpy.typing import ArrayLike, NDArray

# No more curves than this can be told apart; the others are drawn in grey behind them.
NAMED_AT_MOST = 8
# Logits of the false-positive rates at which a summary curve is drawn.
DRAWN_AT = np.linspace(-12.0, 12.0, 400)
COST_INCHES = (5.6, 4.4)
# How many lines of a cost curve can be told apart; of more, those at even distances are drawn.
LINES_AT_MOST = 40
WITHOUT_SCORES = "multiauc cost without scores"


@dataclass(frozen=True, slots=True, eq=False)
class FoldMean:
    """The curves of several folds at the same places: their mean, and one standard deviation down and up.

    Attributes
    ----------
    x, y, low, high : ndarray
        The places, the mean of the curves there, and that less and plus their standard deviation, within 0 and 1.
    value, spread : float
        Mean and standard deviation of the folds' areas or average precisions.
    curves : tuple
        The curves of the folds.
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    value: float
    spread: float
    curves: tuple[Any, ...]

    @property
    def band(self) -> base.Band:
        """The band of one standard deviation."""
        return self.x, self.low, self.high

    def describe(self) -> str:
        """Mean and standard deviation as text."""
        return f"{decimals(self.value, 3)} \N{PLUS-MINUS SIGN} {decimals(self.spread, 3)}"


class PointsDisplay(base.PredictionsDisplay):
    """One curve of predictions or several."""

    #: The attributes that are the points of a curve and its value.
    _points: tuple[str, ...] = ("fpr", "tpr", "auc")

    @classmethod
    def _find_points(cls, curve: Any) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        """The points of a curve, and its value."""
        x, y, value = attrgetter(*cls._points)(curve)
        return x, y, value

    def _look(self, curve: Any) -> tuple[NDArray[np.float64], NDArray[np.float64], float, str]:
        """The points to draw of a curve or of the mean of some, its value, and this in words."""
        if isinstance(curve, FoldMean):
            return curve.x, curve.y, curve.value, curve.describe()
        x, y, value = self._find_points(curve)
        return x, y, value, decimals(value, 3)


class FoldsDisplay(PointsDisplay):
    """The same, also of the folds of a cross-validation."""

    #: The places where folds are averaged.
    _at: NDArray[np.float64]

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Any,
        X: Any,  # noqa: N803 - scikit-learn's name
        y: Any,
        *,
        sample_weight: Any = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Draw the mean curve over the folds of a cross-validation, with a band of one standard deviation.

        Parameters
        ----------
        cv_results : dict
            From scikit-learn's ``cross_validate`` with ``return_estimator=True`` and ``return_indices=True``.
        X, y
            The data that it was called with.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows.
        ax : matplotlib Axes, optional
            Where to draw; default: new axes.
        **options
            As in `from_predictions`. A class without rows in a fold is left out of that fold.

        Notes
        -----
        The band shows how much the folds vary. It is not a confidence band: the training sets of folds overlap.
        """
        shown = cls._pop_plot_options(options)
        folds = base.predict_folds(cv_results, X, y, sample_weight)
        found = [cls._compute(y_true, y_score, **known | options) for y_true, y_score, known in folds]
        return cls(cls._average(found)).plot(ax, **shown)

    @classmethod
    def _average(cls, folds: list[Any]) -> Any:
        """The mean of the curves of each class."""
        keys = dict.fromkeys(key for fold in folds for key in fold)
        return {key: cls._average_curves([fold[key] for fold in folds if key in fold]) for key in keys}

    @classmethod
    def _average_curves(cls, curves: list[Any]) -> FoldMean:
        ddof = min(1, len(curves) - 1)
        values, heights = [cls._find_points(curve)[2] for curve in curves], list(map(cls._find_heights, curves))
        y, spread = np.mean(heights, axis=0), np.std(heights, axis=0, ddof=ddof)
        low, high = np.clip([y - spread, y + spread], 0.0, 1.0)
        value, error = float(np.mean(values)), float(np.std(values, ddof=ddof))
        return FoldMean(cls._at, y, low, high, value, error, tuple(curves))

    @classmethod
    def _find_heights(cls, curve: Any) -> NDArray[np.float64]:
        """The heights of a curve where folds are averaged."""
        return _rust.roc_heights((curve.fpr, curve.tpr), cls._at)


class CurvesDisplay(PointsDisplay):
    """Curves of classes, or of pairs of classes: a few named in the legend, the others in grey."""

    lines_: dict[Any, Line2D]
    bands_: dict[Any, Collection]
    _plot_options = ("names", "level")
    #: How bands look, what the legend calls values, and its corner, None to look for one that nothing covers.
    _band_style: ClassVar[base.Style] = {"alpha": 0.12}
    _symbol = "AUC"
    _legend: Any = None

    def __init__(self, curves: Mapping[Any, Any]) -> None:
        self.curves = dict(curves)

    def _choose(self, names: Sequence[Any] | None) -> tuple[list[Any], list[Any]]:
        """The keys of the curves to name, by default those of the smallest values, and of all others."""
        keys = list(self.curves)
        unknown = [name for name in names or () if name not in self.curves]
        if unknown:
            raise ValueError(f"names has no curve for {listing(unknown)}; there are curves for {listing(keys)}")
        named = keys if names is None else list(names)
        if names is None and len(keys) > NAMED_AT_MOST:
            values = [self._look(self.curves[key])[2] for key in keys]
            named = [keys[k] for k in np.argsort(values, kind="stable")[:NAMED_AT_MOST]]
        return named, [key for key in keys if key not in named]

    def plot(
        self, ax: Axes | None = None, *, names: Sequence[Any] | None = None, level: float | None = 0.95, **line: Any
    ) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; default: new axes.
        names : sequence, optional
            The classes, or pairs of classes, to colour and name in the legend; default: the eight worst. The others are
            grey.
        level : float or None, default 0.95
            The level of the pointwise bands of the named curves; None for no bands. Rows are assumed to be independent.
            Bands of ROC curves need the class sizes, so use `from_predictions` or `from_estimator`; bands over folds
            are one standard deviation wide at any level.
        **line
            Passed on to ``ax.plot``.
        """
        tail = None if level is None else read_level(level)
        axes = self._frame(ax)
        named, hidden = self._choose(names)
        lines = {}
        for key in hidden:
            x, y, *_ = self._look(self.curves[key])
            grey: base.Style = {"color": "0.75", "linewidth": 0.7, "marker": ""}
            lines[key] = base.draw_behind(axes, x, y, self._style(0) | grey | line)
        self.bands_ = {}
        for place, key in enumerate(named):
            curve = self.curves[key]
            x, y, _, about = self._look(curve)
            first = curve.curves[0] if isinstance(curve, FoldMean) else curve
            lines[key] = base.draw_curve(axes, x, y, self._name(first, about), self._style(place) | line)
            band = None
            if tail is not None and len(x) > 1:
                band = curve.band if isinstance(curve, FoldMean) else self._find_band(key, tail)
            shade = base.shade_band(axes, band, curve=lines[key], **self._band_style)
            self.bands_ |= {} if shade is None else {key: shade}
            self._add_to(axes, first, lines[key])
        if hidden:
            lines[hidden[0]].set_label(f"{len(hidden)} others")
        self.lines_ = {key: lines[key] for key in self.curves}
        if self._legend is None:
            return self._set_axes(base.finish_roc(axes))
        axes.legend(loc=self._legend, fontsize="small", frameon=False)
        return self._set_axes(axes)

    def _frame(self, ax: Axes | None) -> Axes:
        """The axes, with what stands along them."""
        return base.roc_axes(ax)

    def _name(self, curve: Any, about: str) -> str:
        """What the legend says of a curve."""
        return base.curve_name(curve.positive, getattr(curve, "negative", None), f"{self._symbol} {about}")

    def _style(self, place: int) -> base.Style:  # noqa: ARG002
        """How the line at a place of the legend looks, besides its colour and dashes."""
        return {}

    def _find_band(self, key: Any, tail: float) -> base.Band | None:  # noqa: ARG002
        """The band of a curve, if it has one."""
        return None

    def _add_to(self, axes: Axes, curve: Any, line: Line2D) -> None:
        """Draw what else belongs to a curve."""


class RocCurvesDisplay(CurvesDisplay, FoldsDisplay):
    """One-vs-rest or pairwise ROC curves.

    Parameters
    ----------
    curves : dict of RocCurve
        By class or by pair of classes, from `multiauc.roc_curves`.
    sizes : dict of (float, float), optional
        The rows of the class whose score is used and of those it is compared with, by class or by pair of classes, for
        the bands. With weights, Kish's effective numbers of rows.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where they were drawn.
    lines_ : dict of matplotlib Line2D
        The curves, by class or by pair of classes.
    bands_ : dict of matplotlib collections
        The bands of the named curves, by class or by pair of classes.

    Examples
    --------
    >>> from multiauc.plotting import RocCurvesDisplay
    >>> y_true = ["a", "a", "b", "b", "c", "c"]
    >>> y_score = [[0.7, 0.2, 0.1], [0.4, 0.5, 0.1], [0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.3, 0.5], [0.3, 0.2, 0.5]]
    >>> display = RocCurvesDisplay.from_predictions(y_true, y_score)
    >>> display.lines_["a"].get_label()
    'a (AUC 0.875)'
    """

    _compute = staticmethod(roc.roc_curves)
    _band_style: ClassVar[base.Style] = {"alpha": 0.12, "gid": base.FINE_BAND}
    _at = roc.AT_FPR

    def __init__(
        self, curves: Mapping[Any, roc.RocCurve | FoldMean], *, sizes: Mapping[Any, tuple[float, float]] | None = None
    ) -> None:
        super().__init__(curves)
        self.sizes = {} if sizes is None else dict(sizes)

    @classmethod
    def _of_predictions(cls, y_true: Any, y_score: Any, **options: Any) -> Self:
        curves = roc.roc_curves(y_true, y_score, **options)
        return cls(curves, sizes=roc.find_sizes(curves))

    def _find_band(self, key: Any, tail: float) -> base.Band | None:
        return roc.curve_band(self.curves[key], self.sizes[key], tail) if key in self.sizes else None


class PrecisionRecallCurvesDisplay(CurvesDisplay, FoldsDisplay):
    """Precision-recall curves of classes against the rest, each with the prevalence of its class as a dotted line.

    Parameters
    ----------
    curves : dict of PrecisionRecallCurve
        By class, from `multiauc.precision_recall_curves`.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where they were drawn.
    lines_ : dict of matplotlib Line2D
        The curves, by class.

    Examples
    --------
    >>> from multiauc.plotting import PrecisionRecallCurvesDisplay
    >>> y_true = ["a", "a", "b", "b", "c", "c"]
    >>> y_score = [[0.7, 0.2, 0.1], [0.4, 0.5, 0.1], [0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.3, 0.5], [0.3, 0.2, 0.5]]
    >>> display = PrecisionRecallCurvesDisplay.from_predictions(y_true, y_score)
    >>> display.lines_["a"].get_label()
    'a (AP 0.833)'
    """

    _compute = staticmethod(per_class.precision_recall_curves)
    _band_style: ClassVar[base.Style] = {"alpha": 0.2, "step": "pre"}
    _symbol = "AP"
    _legend = "lower left"
    _points = ("recall", "precision", "average_precision")
    _at = np.linspace(0.0, 1.0, 201)

    def _frame(self, ax: Axes | None) -> Axes:
        axes = base.axes_or_new(ax, (5.2, 5.0))
        if not any(line.get_gid() == base.CURVE for line in axes.lines):
            base.set_styles(axes)
        axes.set(xlabel="recall", ylabel="precision", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        return axes

    def _style(self, place: int) -> base.Style:  # noqa: ARG002
        """Steps, as average precision sums them."""
        return {"drawstyle": "steps-pre"}

    def _add_to(self, axes: Axes, curve: Any, line: Line2D) -> None:
        axes.axhline(curve.prevalence, color=line.get_color(), linestyle=":", linewidth=0.8, zorder=1)

    @classmethod
    def _find_heights(cls, curve: Any) -> NDArray[np.float64]:
        """The precision of the first threshold that reaches a recall, as average precision sums them."""
        return np.asarray(curve.precision[np.searchsorted(curve.recall, cls._at)])


class ReliabilityDisplay(CurvesDisplay):
    """Reliability curves of classes, with Wilson limits of the frequency in each bin.

    Parameters
    ----------
    curves : dict of ReliabilityCurve
        By class, from `multiauc.reliability_curves`.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where they were drawn.
    lines_ : dict of matplotlib Line2D
        The curves, by class.
    bands_ : dict of matplotlib collections
        The bands of the named curves, by class.

    Examples
    --------
    >>> import numpy as np
    >>> from multiauc.plotting import ReliabilityDisplay
    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet([1, 1, 1], size=600)
    >>> y_true = (rng.random(600)[:, None] > p.cumsum(axis=1)).sum(axis=1)
    >>> display = ReliabilityDisplay.from_predictions(y_true, p, n_bins=5)
    >>> display.lines_[0].get_xdata().round(2)
    array([0.05, 0.15, 0.28, 0.44, 0.66])
    """

    _compute = staticmethod(per_class.reliability_curves)
    _legend = "upper left"

    def _frame(self, ax: Axes | None) -> Axes:
        return base.roc_axes(ax, "predicted probability", "observed share")

    def _name(self, curve: Any, about: str) -> str:  # noqa: ARG002
        return base.legend_text(shown_name(curve.positive))

    def _style(self, place: int) -> base.Style:
        return {"marker": base.MARKERS[place % len(base.MARKERS)], "markersize": 4}

    def _find_band(self, key: Any, tail: float) -> base.Band | None:
        return self.curves[key].predicted, *self.curves[key].band(1.0 - 2.0 * tail)

    @classmethod
    def _find_points(cls, curve: Any) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        farthest = float(np.max(np.abs(curve.observed - curve.predicted)))
        return curve.predicted, curve.observed, -farthest


class BandDisplay(base.Display):
    """One curve and perhaps its band."""

    line_: Line2D

    def __init__(self, roc: Any, *, band: multiclass.RocBand | None = None) -> None:
        self.roc = roc
        self.band = band

    @property
    def _limits(self) -> base.Band | None:
        return None if self.band is None else (self.band.fpr, self.band.low, self.band.high)


class MulticlassRocDisplay(BandDisplay, FoldsDisplay):
    """A multi-class ROC curve, its band, and the curves of the pairs behind it.

    Parameters
    ----------
    roc : MulticlassRoc
        The curve.
    band : RocBand, optional
        The band to shade, from ``roc.bootstrap().band()``.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    line_ : matplotlib Line2D
        The curve.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> from multiauc.plotting import MulticlassRocDisplay
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(3, size=200)
    >>> roc = multiauc.multiclass_roc(y_true, np.eye(3)[y_true] + 3 * rng.random((200, 3)))
    >>> display = MulticlassRocDisplay(roc, band=roc.bootstrap(100, rng=0).band()).plot(label="model")
    >>> display.line_.get_label()
    'model (D = 0.807)'
    """

    _compute = staticmethod(multiclass.multiclass_roc)
    _plot_options = ("pairs", "label")
    _at = multiclass.BAND_FPR

    @classmethod
    def _average(cls, folds: list[Any]) -> FoldMean:
        return cls._average_curves(folds)

    def plot(self, ax: Axes | None = None, *, pairs: bool = False, label: str | None = None, **line: Any) -> Self:
        """Draw the curve on axes that other curves may share; see `multiauc.MulticlassRoc.plot`."""
        roc, axes = self.roc, base.roc_axes(ax)
        x, y, _, about = self._look(roc)
        self.line_ = base.draw_curve(axes, x, y, base.area_name(label, "D", about), line)
        if pairs and not isinstance(roc, FoldMean):
            alpha = max(0.04, min(0.35, 4.0 / len(roc.pairs)))
            look = {"color": self.line_.get_color(), "alpha": alpha, "linewidth": 0.8}
            for tp, fp in zip(roc.tp_rates.T, roc.fp_rates.T, strict=True):
                base.draw_behind(axes, [0.0, *fp, 1.0], [0.0, *tp, 1.0], look)
        base.shade_band(axes, roc.band if isinstance(roc, FoldMean) else self._limits, curve=self.line_)
        return self._set_axes(base.finish_roc(axes))


class SummaryRocDisplay(BandDisplay):
    """A summary ROC curve with the tables behind it, and the regions of models that have them.

    Parameters
    ----------
    roc : SummaryRoc
        The curve.
    band : RocBand, optional
        The band to shade, from ``roc.bootstrap().band()``.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    line_ : matplotlib Line2D
        The curve.

    Examples
    --------
    >>> import multiauc
    >>> from multiauc.plotting import SummaryRocDisplay
    >>> roc = multiauc.summary_roc([40, 30, 25, 45], [9, 8, 12, 4], [12, 9, 4, 22], [60, 70, 80, 90])
    >>> display = SummaryRocDisplay(roc).plot(label="studies")
    >>> display.line_.get_label()
    'studies (AUC = 0.912)'
    """

    def plot(self, ax: Axes | None = None, *, label: str | None = None, level: float = 0.95, **line: Any) -> Self:
        """Draw it on axes that other curves may share; regions are of this level. See `multiauc.SummaryRoc.plot`."""
        roc, axes = self.roc, base.roc_axes(ax)
        fpr = np.concatenate([[0.0], 1.0 / (1.0 + np.exp(-DRAWN_AT)), [1.0]])
        name = base.area_name(label, "AUC", decimals(roc.auc, 3))
        self.line_ = base.draw_curve(axes, fpr, roc.sensitivity(fpr), name, line)
        colour = self.line_.get_color()
        tp, fn, fp, tn = roc.tables.T
        sizes = roc.tables.sum(axis=1)
        circles: base.Style = {"facecolors": "none", "edgecolors": colour, "linewidths": 0.8, "alpha": 0.7, "zorder": 2}
        axes.scatter(fp / (fp + tn), tp / (tp + fn), s=12.0 + 60.0 * sizes / sizes.max(), **circles)
        if roc.operating_point is not None and not isinstance(roc, SummaryRocOfPairs):
            axes.plot(*roc.operating_point, marker="s", markersize=6, color=colour, linestyle="none", zorder=4)
            regions = {"the mean": (roc.confidence_region, "--"), "one more table": (roc.prediction_region, ":")}
            for of, (find, dashes) in regions.items():
                name = f"{100 * level:g}% region of {of}"
                axes.plot(*find(level).T, color=colour, linestyle=dashes, linewidth=1.0, label=name, zorder=2)
        base.shade_band(axes, self._limits, curve=self.line_)
        return self._set_axes(base.finish_roc(axes))


class RocHullDisplay(base.PredictionsDisplay):
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
        axes = base.roc_axes(ax)
        name = base.curve_name(hull.positive, hull.negative, f"hull, AUC {decimals(hull.auc, 3)}")
        self.line_ = base.draw_curve(axes, hull.fpr, hull.tpr, name, line)
        colour = self.line_.get_color()
        if hull._inputs is not None and not math.isnan(hull.auc):  # noqa: SLF001 - the data that results refer to
            kind = registry.AGAINST_REST if hull.negative is None else registry.PAIRWISE
            below = roc.find_curves(hull._inputs.unchanged_sample(), kind, drop_intermediate=True)[hull.key]  # noqa: SLF001
            look = {"color": colour, "alpha": 0.4, "linewidth": 1, "label": "the curve below it"}
            base.draw_behind(axes, below.fpr, below.tpr, look)
        self.cost_line_ = None
        if point is not None and not math.isnan(point.fpr):
            x, y = _through(point)
            cost = f"equal cost {decimals(point.expected_cost, 3)}"
            (self.cost_line_,) = axes.plot(x, y, color=colour, linestyle=(0, (4, 3)), linewidth=1, zorder=2, label=cost)
            best = f"best: score \N{GREATER-THAN OR EQUAL TO} {point.threshold:.4g}"
            if math.isinf(point.threshold):
                best = f"best: {'never' if point.threshold > 0.0 else 'always'} positive"
            axes.plot([point.fpr], [point.tpr], marker="o", color=colour, linestyle="", zorder=4, label=best)
        return self._set_axes(base.finish_roc(axes))


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


class CostCurveDisplay(base.Display):
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
        look: base.Style = {"xlim": (0, 1), "ylim": (0, 0.75), "ylabel": "expected cost (largest possible = 1)"}
        look["xlabel"] = "share of false negatives in the costs at stake"
        chance = [0.0, 0.5, 1.0], [0.0, 0.5, 0.0]
        named: base.Style = {"gid": WITHOUT_SCORES, "label": "without scores (area 0.25)"}
        axes = base.curve_axes(ax, COST_INCHES, chance, look, **named)
        name = base.curve_name(curve.positive, curve.negative, f"area {decimals(curve.area, 3)}")
        self.line_ = base.draw_curve(axes, curve.x, curve.cost, name, line)
        colour = self.line_.get_color()
        drawn = np.unique(np.linspace(0, len(curve.fpr) - 1, min(len(curve.fpr), LINES_AT_MOST)).round().astype(int))
        for k in drawn.tolist():
            ends = [curve.fpr[k], 1.0 - curve.tpr[k]]
            base.draw_behind(axes, [0.0, 1.0], ends, {"color": colour, "alpha": 0.3, "linewidth": 0.7})
        axes.legend(loc="upper center", fontsize="small", framealpha=0.9, edgecolor="none")
        return self._set_axes(axes)
