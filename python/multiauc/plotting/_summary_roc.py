"""Pictures of summary ROC curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from multiauc._common.wording import decimals
from multiauc._curves.summary import SummaryRocOfPairs
from multiauc.plotting._axes import BAND, CURVE, Display, finish_roc, legend_text, roc_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from multiauc._curves.multiclass import RocBand
    from multiauc._curves.summary import SummaryRoc

# Logits of the false-positive rates at which the curve is drawn.
DRAWN_AT = np.linspace(-12.0, 12.0, 400)


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
        area = f"AUC = {decimals(roc.auc, 3)}"
        name = area if label is None else legend_text(f"{label} ({area})")
        fpr = np.concatenate([[0.0], 1.0 / (1.0 + np.exp(-DRAWN_AT)), [1.0]])
        style: dict[str, Any] = {"label": name, "zorder": 3, "gid": CURVE} | line
        (curve,) = axes.plot(fpr, roc.sensitivity(fpr), **style)
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
            shade: dict[str, Any] = {"color": colour, "alpha": 0.2, "linewidth": 0, "zorder": 2, "gid": BAND}
            axes.fill_between(self.band.fpr, self.band.low, self.band.high, **shade)
        finish_roc(axes)
        self.line_ = curve
        self._drawn_on(axes)
        return self
