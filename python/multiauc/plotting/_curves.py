"""Plots of curves: ROC, precision-recall and reliability curves of classes, multi-class and summary ROC curves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from multiauc import _rust
from multiauc._common.wording import decimals, listing, shown_name
from multiauc._curves import multiclass, per_class, roc
from multiauc._curves.summary import SummaryRoc, SummaryRocOfPairs
from multiauc._input.options import read_level
from multiauc.plotting import _roc_frame as frame
from multiauc.plotting._base import (
    MARKERS,
    Display,
    PredictionsDisplay,
    Style,
    axes_or_new,
    legend_text,
    predict_folds,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.collections import Collection
    from matplotlib.lines import Line2D
    from numpy.typing import NDArray

# No more curves than this can be told apart; the others are drawn in grey behind them.
NAMED_AT_MOST = 8
# Logits of the false-positive rates at which a summary curve is drawn.
DRAWN_AT = np.linspace(-12.0, 12.0, 400)


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

    @classmethod
    def of(cls, x: NDArray[np.float64], heights: list[Any], values: list[float], curves: list[Any]) -> Self:
        """Of curves with their heights at x, a row each, and their values."""
        ddof = min(1, len(curves) - 1)
        y, spread = np.mean(heights, axis=0), np.std(heights, axis=0, ddof=ddof)
        low, high = np.clip([y - spread, y + spread], 0.0, 1.0)
        return cls(x, y, low, high, float(np.mean(values)), float(np.std(values, ddof=ddof)), tuple(curves))

    def describe(self) -> str:
        """Mean and standard deviation as text."""
        return f"{decimals(self.value, 3)} \N{PLUS-MINUS SIGN} {decimals(self.spread, 3)}"


class CurvesDisplay(PredictionsDisplay):
    """Curves of classes, or of pairs of classes: a few named in the legend, the others in grey."""

    lines_: dict[Any, Line2D]
    bands_: dict[Any, Collection]
    _plot_options = ("names", "level")
    #: How bands look, and the corner of the legend, None to look for one that nothing covers.
    _band_style: ClassVar[Style] = {"alpha": 0.12}
    _legend: Any = None

    def __init__(self, curves: Mapping[Any, Any]) -> None:
        self.curves = dict(curves)

    @staticmethod
    def _find_points(curve: Any) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        """The points of a curve, and its value."""
        raise NotImplementedError

    def _look(self, key: Any) -> tuple[Any, NDArray[np.float64], NDArray[np.float64], float, str]:
        """A curve (of folds, the first), the points to draw, its value, and this in words."""
        curve = self.curves[key]
        if isinstance(curve, FoldMean):
            return curve.curves[0], curve.x, curve.y, curve.value, curve.describe()
        x, y, value = self._find_points(curve)
        return curve, x, y, value, decimals(value, 3)

    def _choose(self, names: Sequence[Hashable] | None) -> tuple[list[Any], list[Any]]:
        """The keys of the curves to name, by default those of the smallest values, and of all others."""
        keys = list(self.curves)
        unknown = [name for name in names or () if name not in self.curves]
        if unknown:
            raise ValueError(f"names has no curve for {listing(unknown)}; there are curves for {listing(keys)}")
        if names is not None:
            named = list(names)
        elif len(keys) <= NAMED_AT_MOST:
            named = keys
        else:
            values = [self._look(key)[3] for key in keys]
            named = [keys[k] for k in np.argsort(values, kind="stable")[:NAMED_AT_MOST]]
        return named, [key for key in keys if key not in named]

    def plot(
        self,
        ax: Axes | None = None,
        *,
        names: Sequence[Hashable] | None = None,
        level: float | None = 0.95,
        **line: Any,
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
            _, x, y, _, _ = self._look(key)
            behind: Style = {"color": "0.75", "linestyle": "-", "linewidth": 0.7, "zorder": 2, "gid": frame.OTHER_CURVE}
            (lines[key],) = axes.plot(x, y, **self._style(0) | behind | {"marker": ""} | line)
        self.bands_ = {}
        for place, key in enumerate(named):
            curve, x, y, _, about = self._look(key)
            lines[key] = frame.draw_curve(axes, x, y, self._name(curve, about), self._style(place) | line)
            band, mean = None, self.curves[key]
            if tail is not None and isinstance(mean, FoldMean):
                band = mean.x, mean.low, mean.high
            elif tail is not None and len(x) > 1:
                band = self._find_band(key, tail)
            if band is not None:
                self.bands_[key] = frame.shade_band(axes, *band, curve=lines[key], **self._band_style)
            self._add_to(axes, curve, lines[key])
        if hidden:
            lines[hidden[0]].set_label(f"{len(hidden)} others")
        self.lines_ = {key: lines[key] for key in self.curves}
        if self._legend is None:
            frame.finish_roc(axes)
        else:
            axes.legend(loc=self._legend, fontsize="small", frameon=False)
        return self._set_axes(axes)

    def _frame(self, ax: Axes | None) -> Axes:
        """The axes, with what stands along them."""
        return frame.roc_axes(ax)

    def _name(self, curve: Any, about: str) -> str:
        """What the legend says of a curve."""
        return frame.curve_name(curve.positive, curve.negative, f"AUC {about}")

    def _style(self, place: int) -> Style:  # noqa: ARG002
        """How the line at a place of the legend looks, besides its colour and dashes."""
        return {}

    def _find_band(self, key: Any, tail: float) -> tuple[Any, Any, Any] | None:  # noqa: ARG002
        """(x, low, high), if there is a band."""
        return None

    def _add_to(self, axes: Axes, curve: Any, line: Line2D) -> None:
        """Draw what else belongs to a curve."""


class FoldsDisplay(CurvesDisplay):
    """The same, also for the folds of a cross-validation."""

    #: Where the curves of folds are averaged.
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
        shown = {name: options.pop(name) for name in cls._plot_options if name in options}
        folds: dict[Any, list[Any]] = {}
        for y_true, y_score, known in predict_folds(cv_results, X, y, sample_weight):
            for key, curve in cls._compute(y_true, y_score, **known | options).items():
                folds.setdefault(key, []).append(curve)
        means = {}
        for key, curves in folds.items():
            values = [cls._find_points(curve)[2] for curve in curves]
            means[key] = FoldMean.of(cls._at, list(map(cls._find_heights, curves)), values, curves)
        return cls(means).plot(ax, **shown)

    @classmethod
    def _find_heights(cls, curve: Any) -> NDArray[np.float64]:
        """The heights of a curve where folds are averaged."""
        raise NotImplementedError


class RocCurvesDisplay(FoldsDisplay):
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
    _band_style: ClassVar[Style] = {"alpha": 0.12, "gid": frame.FINE_BAND}
    _at = roc.AT_FPR

    def __init__(
        self, curves: Mapping[Any, roc.RocCurve | FoldMean], *, sizes: Mapping[Any, tuple[float, float]] | None = None
    ) -> None:
        super().__init__(curves)
        self.sizes = {} if sizes is None else dict(sizes)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        ax: Axes | None = None,
        names: Sequence[Hashable] | None = None,
        level: float | None = 0.95,
        **options: Any,
    ) -> Self:
        """Compute the curves and draw them with bands; `options` are those of `multiauc.roc_curves`."""
        curves = roc.roc_curves(y_true, y_score, **options)
        return cls(curves, sizes=roc.find_sizes(curves)).plot(ax, names=names, level=level)

    def _find_band(self, key: Any, tail: float) -> tuple[Any, Any, Any] | None:
        return roc.curve_band(self.curves[key], self.sizes[key], tail) if key in self.sizes else None

    @staticmethod
    def _find_points(curve: Any) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        return curve.fpr, curve.tpr, curve.auc

    @classmethod
    def _find_heights(cls, curve: Any) -> NDArray[np.float64]:
        return _rust.roc_heights((curve.fpr, curve.tpr), cls._at)


class PrecisionRecallCurvesDisplay(FoldsDisplay):
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
    _band_style: ClassVar[Style] = {"alpha": 0.2, "step": "pre"}
    _legend = "lower left"
    _at = np.linspace(0.0, 1.0, 201)

    def _frame(self, ax: Axes | None) -> Axes:
        axes = axes_or_new(ax, (5.2, 5.0))
        if not any(line.get_gid() == frame.CURVE for line in axes.lines):
            frame.set_styles(axes)
        axes.set(xlabel="recall", ylabel="precision", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        return axes

    def _name(self, curve: Any, about: str) -> str:
        return legend_text(f"{shown_name(curve.positive)} (AP {about})")

    def _style(self, place: int) -> Style:  # noqa: ARG002
        """Steps, as average precision sums them."""
        return {"drawstyle": "steps-pre"}

    def _add_to(self, axes: Axes, curve: Any, line: Line2D) -> None:
        axes.axhline(curve.prevalence, color=line.get_color(), linestyle=":", linewidth=0.8, zorder=1)

    @staticmethod
    def _find_points(curve: Any) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        return curve.recall, curve.precision, curve.average_precision

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
        return frame.roc_axes(ax, "predicted probability", "observed share")

    def _name(self, curve: Any, about: str) -> str:  # noqa: ARG002
        return legend_text(shown_name(curve.positive))

    def _style(self, place: int) -> Style:
        return {"marker": MARKERS[place % len(MARKERS)], "markersize": 4}

    def _find_band(self, key: Any, tail: float) -> tuple[Any, Any, Any] | None:
        return self.curves[key].predicted, *self.curves[key].band(1.0 - 2.0 * tail)

    @staticmethod
    def _find_points(curve: Any) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        farthest = float(np.max(np.abs(curve.observed - curve.predicted)))
        return curve.predicted, curve.observed, -farthest


class MulticlassRocDisplay(PredictionsDisplay):
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

    line_: Line2D
    _compute = staticmethod(multiclass.multiclass_roc)
    _plot_options = ("pairs", "label")

    def __init__(self, roc: multiclass.MulticlassRoc | FoldMean, *, band: multiclass.RocBand | None = None) -> None:
        self.roc = roc
        self.band = band

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Any,
        X: Any,  # noqa: N803 - scikit-learn's name
        y: Any,
        *,
        sample_weight: Any = None,
        ax: Axes | None = None,
        label: str | None = None,
        **options: Any,
    ) -> Self:
        """Draw the mean curve over the folds of a cross-validation; see `RocCurvesDisplay.from_cv_results`."""
        folds = predict_folds(cv_results, X, y, sample_weight)
        curves = [multiclass.multiclass_roc(true, score, **known | options) for true, score, known in folds]
        heights = [_rust.roc_heights((curve.fpr, curve.tpr), multiclass.BAND_FPR) for curve in curves]
        mean = FoldMean.of(multiclass.BAND_FPR, heights, [curve.auc for curve in curves], curves)
        return cls(mean).plot(ax, label=label)

    def plot(self, ax: Axes | None = None, *, pairs: bool = False, label: str | None = None, **line: Any) -> Self:
        """Draw the curve on axes that other curves may share; see `multiauc.MulticlassRoc.plot`."""
        roc, band, axes = self.roc, self.band, frame.roc_axes(ax)
        if isinstance(roc, FoldMean):
            name = frame.area_name(label, "D", roc.describe())
            self.line_ = frame.draw_curve(axes, roc.x, roc.y, name, line)
            frame.shade_band(axes, roc.x, roc.low, roc.high, curve=self.line_)
            frame.finish_roc(axes)
            return self._set_axes(axes)
        name = frame.area_name(label, "D", decimals(roc.auc, 3))
        self.line_ = frame.draw_curve(axes, roc.fpr, roc.tpr, name, line)
        if pairs:
            alpha = max(0.04, min(0.35, 4.0 / len(roc.pairs)))
            look = {"color": self.line_.get_color(), "alpha": alpha, "linewidth": 0.8}
            for tp, fp in zip(roc.tp_rates.T, roc.fp_rates.T, strict=True):
                frame.draw_behind(axes, [0.0, *fp, 1.0], [0.0, *tp, 1.0], look)
        if band is not None:
            frame.shade_band(axes, band.fpr, band.low, band.high, curve=self.line_)
        frame.finish_roc(axes)
        return self._set_axes(axes)


class SummaryRocDisplay(Display):
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

    line_: Line2D

    def __init__(self, roc: SummaryRoc, *, band: multiclass.RocBand | None = None) -> None:
        self.roc = roc
        self.band = band

    def plot(self, ax: Axes | None = None, *, label: str | None = None, level: float = 0.95, **line: Any) -> Self:
        """Draw it on axes that other curves may share; regions are of this level. See `multiauc.SummaryRoc.plot`."""
        roc, axes = self.roc, frame.roc_axes(ax)
        fpr = np.concatenate([[0.0], 1.0 / (1.0 + np.exp(-DRAWN_AT)), [1.0]])
        self.line_ = frame.draw_curve(
            axes, fpr, roc.sensitivity(fpr), frame.area_name(label, "AUC", decimals(roc.auc, 3)), line
        )
        colour = self.line_.get_color()
        tp, fn, fp, tn = roc.tables.T
        sizes = roc.tables.sum(axis=1)
        circles: Style = {"facecolors": "none", "edgecolors": colour, "linewidths": 0.8, "alpha": 0.7, "zorder": 2}
        axes.scatter(fp / (fp + tn), tp / (tp + fn), s=12.0 + 60.0 * sizes / sizes.max(), **circles)
        if roc.operating_point is not None and not isinstance(roc, SummaryRocOfPairs):
            axes.plot(*roc.operating_point, marker="s", markersize=6, color=colour, linestyle="none", zorder=4)
            regions = {"the mean": (roc.confidence_region, "--"), "one more table": (roc.prediction_region, ":")}
            for of, (find, dashes) in regions.items():
                name = f"{100 * level:g}% region of {of}"
                axes.plot(*find(level).T, color=colour, linestyle=dashes, linewidth=1.0, label=name, zorder=2)
        if self.band is not None:
            frame.shade_band(axes, self.band.fpr, self.band.low, self.band.high, curve=self.line_)
        frame.finish_roc(axes)
        return self._set_axes(axes)
