"""Plots of ROC curves of classes and pairs, of precision-recall curves, multi-class and summary curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from multiauc._common.wording import decimals, listing, shown_name
from multiauc._curves import multiclass, precision_recall, roc
from multiauc._curves.summary import SummaryRoc, SummaryRocOfPairs
from multiauc._input.options import read_level
from multiauc.plotting import _roc_frame as frame
from multiauc.plotting._base import Display, PredictionsDisplay, Style, axes_or_new, legend_text

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.collections import Collection
    from matplotlib.lines import Line2D

# No more curves than this can be told apart; the others are drawn in grey behind them.
NAMED_AT_MOST = 8
# Logits of the false-positive rates at which a summary curve is drawn.
DRAWN_AT = np.linspace(-12.0, 12.0, 400)


class CurvesDisplay(PredictionsDisplay):
    """Curves of classes, or of pairs of classes: a few of them named, the others grey behind these."""

    lines_: dict[Any, Line2D]
    _plot_options = ("names",)

    def __init__(self, curves: Mapping[Any, Any]) -> None:
        self.curves = dict(curves)

    def _choose(self, names: Sequence[Hashable] | None, values: Sequence[float]) -> tuple[list[Any], list[Any]]:
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
            named = [keys[k] for k in np.argsort(values, kind="stable")[:NAMED_AT_MOST]]
        return named, [key for key in keys if key not in named]

    def _finish(self, axes: Axes, lines: dict[Any, Line2D], hidden: list[Any]) -> Self:
        """Count the curves without a name in the legend, which is drawn next."""
        if hidden:
            lines[hidden[0]].set_label(f"{len(hidden)} others")
        self.lines_ = {key: lines[key] for key in self.curves}
        return self._set_axes(axes)


class RocCurvesDisplay(CurvesDisplay):
    """One-vs-rest or pairwise ROC curves.

    Parameters
    ----------
    curves : dict of RocCurve
        By class or by pair of classes, from `multiauc.roc_curves`.
    sizes : dict of (float, float), optional
        The rows of the class whose score is read and of those it is told from, by class or by pair of classes: what the
        bands of the curves are computed from. With weights, Kish's effective numbers of rows.

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

    bands_: dict[Any, Collection]

    def __init__(
        self, curves: Mapping[Any, roc.RocCurve], *, sizes: Mapping[Any, tuple[float, float]] | None = None
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
            Where to draw: new axes by default.
        names : sequence, optional
            The classes, or pairs of classes, to colour and to name in the legend. By default those with the smallest
            areas, at most eight; the others are drawn in grey behind them.
        level : float or None, default 0.95
            The level of the bands of the named curves, point by point; None for no bands. They need the sizes of the
            classes, which `from_predictions` and `from_estimator` know, and treat rows as independent.
        **line
            Passed on to ``ax.plot``.
        """
        tail = None if level is None else read_level(level)
        axes = frame.roc_axes(ax)
        named, hidden = self._choose(names, [curve.auc for curve in self.curves.values()])
        lines = {}
        behind: Style = {"color": "0.75", "linestyle": "-", "linewidth": 0.7, "zorder": 2, "gid": frame.OTHER_CURVE}
        for key in hidden:
            curve = self.curves[key]
            (lines[key],) = axes.plot(curve.fpr, curve.tpr, **behind | line)
        self.bands_ = {}
        for key in named:
            curve = self.curves[key]
            name = frame.curve_name(curve.positive, curve.negative, f"AUC {decimals(curve.auc, 3)}")
            lines[key] = frame.draw_curve(axes, curve.fpr, curve.tpr, name, line)
            if tail is not None and key in self.sizes and len(curve.fpr) > 1:
                band = roc.curve_band(curve, self.sizes[key], tail)
                look: Style = {"alpha": 0.12, "gid": frame.FINE_BAND}
                self.bands_[key] = frame.shade_band(axes, *band, curve=lines[key], **look)
        self._finish(axes, lines, hidden)
        frame.finish_roc(axes)
        return self


class PrecisionRecallCurvesDisplay(CurvesDisplay):
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

    _compute = staticmethod(precision_recall.precision_recall_curves)

    def plot(self, ax: Axes | None = None, *, names: Sequence[Hashable] | None = None, **line: Any) -> Self:
        """Draw the curves as steps, as average precision sums them.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw: new axes by default.
        names : sequence, optional
            The classes to colour and to name in the legend. By default those with the smallest average precision, at
            most eight; the others are drawn in grey behind them.
        **line
            Passed on to ``ax.plot``.
        """
        axes = axes_or_new(ax, (5.2, 5.0))
        named, hidden = self._choose(names, [curve.average_precision for curve in self.curves.values()])
        lines = {}
        for key in [*hidden, *named]:
            curve = self.curves[key]
            label = legend_text(f"{shown_name(curve.positive)} (AP {decimals(curve.average_precision, 3)})")
            style: Style = {"label": label, "zorder": 3, "gid": frame.CURVE, "drawstyle": "steps-pre"}
            if key in hidden:
                style = {
                    "color": "0.75",
                    "linewidth": 0.7,
                    "zorder": 2,
                    "gid": frame.OTHER_CURVE,
                    "drawstyle": "steps-pre",
                }
            (lines[key],) = axes.plot(curve.recall, curve.precision, **style | line)
            if key in named:
                axes.axhline(curve.prevalence, color=lines[key].get_color(), linestyle=":", linewidth=0.8, zorder=1)
        self._finish(axes, lines, hidden)
        axes.set(xlabel="recall", ylabel="precision", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        axes.legend(loc="lower left", fontsize="small")
        return self


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

    def __init__(self, roc: multiclass.MulticlassRoc, *, band: multiclass.RocBand | None = None) -> None:
        self.roc = roc
        self.band = band

    def plot(self, ax: Axes | None = None, *, pairs: bool = False, label: str | None = None, **line: Any) -> Self:
        """Draw the curve on axes that other curves may share; see `multiauc.MulticlassRoc.plot`."""
        roc, band, axes = self.roc, self.band, frame.roc_axes(ax)
        self.line_ = frame.draw_curve(axes, roc.fpr, roc.tpr, frame.area_name(label, "D", roc.auc), line)
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
        self.line_ = frame.draw_curve(axes, fpr, roc.sensitivity(fpr), frame.area_name(label, "AUC", roc.auc), line)
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
