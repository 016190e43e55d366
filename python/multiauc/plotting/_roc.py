"""Plots of ROC curves: of classes and pairs, multi-class and summary curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from multiauc._common.registry import DEFAULT_CURVE_KIND
from multiauc._common.wording import decimals, listing
from multiauc._curves.multiclass import multiclass_roc
from multiauc._curves.roc import curve_band, curves_of, effective_size
from multiauc._curves.summary import SummaryRocOfPairs
from multiauc._input.options import read_level
from multiauc._input.sample import read_sample
from multiauc.plotting._axes import Display, PredictionsDisplay, Style, legend_text
from multiauc.plotting._roc_frame import (
    FINE_BAND,
    OTHER_CURVE,
    area_name,
    curve_name,
    draw_behind,
    draw_curve,
    finish_roc,
    roc_axes,
    shade_band,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.collections import Collection
    from matplotlib.lines import Line2D
    from numpy.typing import ArrayLike, NDArray

    from multiauc._common.registry import CurveKind
    from multiauc._common.types import Absent, Labels, Outputs
    from multiauc._curves.multiclass import MulticlassRoc, RocBand
    from multiauc._curves.roc import RocCurve
    from multiauc._curves.summary import SummaryRoc
    from multiauc._input.sample import Sample

# No more curves than this can be told apart; the others are drawn in grey behind them.
NAMED_AT_MOST = 8
# Logits of the false-positive rates at which a summary curve is drawn.
DRAWN_AT = np.linspace(-12.0, 12.0, 400)


class RocCurvesDisplay(PredictionsDisplay):
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

    lines_: dict[Any, Line2D]
    bands_: dict[Any, Collection]

    def __init__(
        self, curves: Mapping[Any, RocCurve], *, sizes: Mapping[Any, tuple[float, float]] | None = None
    ) -> None:
        self.curves = dict(curves)
        self.sizes = {} if sizes is None else dict(sizes)

    @classmethod
    def from_predictions(  # noqa: PLR0913
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        ax: Axes | None = None,
        names: Sequence[Hashable] | None = None,
        level: float | None = 0.95,
        kind: CurveKind = DEFAULT_CURVE_KIND,
        drop_intermediate: bool = True,
        sample_weight: ArrayLike | None = None,
        labels: Labels = None,
        absent: Absent = "raise",
        outputs: Outputs = None,
    ) -> Self:
        """Compute the curves and draw them with bands; the options are those of `multiauc.roc_curves` and of `plot`."""
        sample = read_sample(y_true, y_score, sample_weight, labels, absent, outputs)
        curves = curves_of(sample, kind, drop_intermediate=drop_intermediate)
        return cls(curves, sizes=_sizes(curves, sample)).plot(ax, names=names, level=level)

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
        axes = roc_axes(ax)
        named = self._worst() if names is None else self._known(names)
        hidden = [key for key in self.curves if key not in named]
        lines = {}
        behind: Style = {"color": "0.75", "linestyle": "-", "linewidth": 0.7, "zorder": 2, "gid": OTHER_CURVE}
        for key in hidden:
            curve = self.curves[key]
            (lines[key],) = axes.plot(curve.fpr, curve.tpr, **behind | line)
        self.bands_ = {}
        for key in named:
            curve = self.curves[key]
            name = curve_name(curve.positive, curve.negative, f"AUC {decimals(curve.auc, 3)}")
            lines[key] = draw_curve(axes, curve.fpr, curve.tpr, name, line)
            if tail is not None and key in self.sizes and len(curve.fpr) > 1:
                fpr, low, high = curve_band(curve, self.sizes[key], tail)
                self.bands_[key] = shade_band(axes, fpr, low, high, curve=lines[key], alpha=0.12, gid=FINE_BAND)
        if hidden:
            lines[hidden[0]].set_label(f"{len(hidden)} others")
        finish_roc(axes)
        self.lines_ = {key: lines[key] for key in self.curves}
        return self._set_axes(axes)

    def _worst(self) -> list[Any]:
        """The keys of the smallest areas, the worst first; all keys in their order where there are few."""
        if len(self.curves) <= NAMED_AT_MOST:
            return list(self.curves)
        keys = list(self.curves)
        areas = np.array([curve.auc for curve in self.curves.values()])
        return [keys[k] for k in np.argsort(areas, kind="stable")[:NAMED_AT_MOST]]

    def _known(self, names: Sequence[Hashable]) -> list[Any]:
        unknown = [name for name in names if name not in self.curves]
        if unknown:
            raise ValueError(f"names has no curve for {listing(unknown)}; there are curves for {listing(self.curves)}")
        return list(names)


def _sizes(curves: Mapping[Any, RocCurve], sample: Sample) -> dict[Any, tuple[float, float]]:
    """The effective numbers of rows on both sides of each curve."""
    place = {label: k for k, label in enumerate(sample.labels)}

    def size(rows: NDArray[np.bool_]) -> float:
        weights = None if sample.weights is None else np.asarray(sample.weights[rows], dtype=np.float64)
        return effective_size(weights, int(np.count_nonzero(rows)))

    of_class = {label: size(sample.codes == k) for label, k in place.items()}
    others = {label: size(sample.codes != k) for label, k in place.items()}
    return {
        key: (of_class[curve.positive], others[curve.positive] if curve.negative is None else of_class[curve.negative])
        for key, curve in curves.items()
    }


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

    def __init__(self, roc: MulticlassRoc, *, band: RocBand | None = None) -> None:
        self.roc = roc
        self.band = band

    @classmethod
    def from_predictions(cls, y_true: ArrayLike, y_score: ArrayLike, *, ax: Axes | None = None, **options: Any) -> Self:
        """Fit the curve and draw it. `options` are those of `multiauc.multiclass_roc`."""
        return cls(multiclass_roc(y_true, y_score, **options)).plot(ax)

    def plot(self, ax: Axes | None = None, *, pairs: bool = False, label: str | None = None, **line: Any) -> Self:
        """Draw the curve on axes that other curves may share; see `multiauc.MulticlassRoc.plot`."""
        roc, band = self.roc, self.band
        axes = roc_axes(ax)
        curve = draw_curve(axes, roc.fpr, roc.tpr, area_name(label, "D", roc.auc), line)
        if pairs:
            alpha = max(0.04, min(0.35, 4.0 / len(roc.pairs)))
            look = {"color": curve.get_color(), "alpha": alpha, "linewidth": 0.8}
            for tp, fp in zip(roc.tp_rates.T, roc.fp_rates.T, strict=True):
                draw_behind(axes, np.concatenate([[0.0], fp, [1.0]]), np.concatenate([[0.0], tp, [1.0]]), look)
        if band is not None:
            shade_band(axes, band.fpr, band.low, band.high, curve=curve)
        finish_roc(axes)
        self.line_ = curve
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

    def __init__(self, roc: SummaryRoc, *, band: RocBand | None = None) -> None:
        self.roc = roc
        self.band = band

    def plot(self, ax: Axes | None = None, *, label: str | None = None, level: float = 0.95, **line: Any) -> Self:
        """Draw it on axes that other curves may share; regions are of this level. See `multiauc.SummaryRoc.plot`."""
        roc, axes = self.roc, roc_axes(ax)
        fpr = np.concatenate([[0.0], 1.0 / (1.0 + np.exp(-DRAWN_AT)), [1.0]])
        curve = draw_curve(axes, fpr, roc.sensitivity(fpr), area_name(label, "AUC", roc.auc), line)
        colour = curve.get_color()
        tp, fn, fp, tn = roc.tables.T
        sizes = roc.tables.sum(axis=1)
        axes.scatter(
            fp / (fp + tn),
            tp / (tp + fn),
            s=12.0 + 60.0 * sizes / sizes.max(),
            facecolors="none",
            edgecolors=colour,
            linewidths=0.8,
            alpha=0.7,
            zorder=2,
        )
        if roc.operating_point is not None and not isinstance(roc, SummaryRocOfPairs):
            axes.plot(*roc.operating_point, marker="s", markersize=6, color=colour, linestyle="none", zorder=4)
            percent = f"{100 * level:g}%"
            for outline, dashes, of in (
                (roc.confidence_region(level), "--", "the mean"),
                (roc.prediction_region(level), ":", "one more table"),
            ):
                name = legend_text(f"{percent} region of {of}")
                axes.plot(*outline.T, color=colour, linestyle=dashes, linewidth=1.0, label=name, zorder=2)
        if self.band is not None:
            shade_band(axes, self.band.fpr, self.band.low, self.band.high, curve=curve)
        finish_roc(axes)
        self.line_ = curve
        return self._set_axes(axes)
