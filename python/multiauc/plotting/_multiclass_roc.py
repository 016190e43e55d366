"""Pictures of multi-class ROC curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from multiauc._common.wording import decimals
from multiauc._curves.multiclass import multiclass_roc
from multiauc.plotting._axes import BAND, CURVE, OTHER_CURVE, Display, finish_roc, legend_text, roc_axes
from multiauc.plotting._estimators import scores_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from numpy.typing import ArrayLike

    from multiauc._curves.multiclass import MulticlassRoc, RocBand


class MulticlassRocDisplay(Display):
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

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Axes | None = None, **options: Any) -> Self:  # noqa: N803
        """The same for the predictions of a fitted scikit-learn classifier."""
        options.setdefault("labels", estimator.classes_)
        return cls.from_predictions(y, scores_of(estimator, X), ax=ax, **options)

    def plot(self, ax: Axes | None = None, *, pairs: bool = False, label: str | None = None, **line: Any) -> Self:
        """Draw the curve on axes that other curves may share; see `multiauc.MulticlassRoc.plot`."""
        roc, band = self.roc, self.band
        axes = roc_axes(ax)
        area = f"D = {decimals(roc.auc, 3)}"
        name = area if label is None else legend_text(f"{label} ({area})")
        style: dict[str, Any] = {"label": name, "zorder": 3, "gid": CURVE} | line
        (curve,) = axes.plot(roc.fpr, roc.tpr, **style)
        if pairs:
            ends = np.array([0.0]), np.array([1.0])
            for tp, fp in zip(roc.tp_rates.T, roc.fp_rates.T, strict=True):
                axes.plot(
                    np.concatenate([ends[0], fp, ends[1]]),
                    np.concatenate([ends[0], tp, ends[1]]),
                    color=curve.get_color(),
                    linestyle="-",
                    alpha=max(0.04, min(0.35, 4.0 / len(roc.pairs))),
                    linewidth=0.8,
                    zorder=2,
                    gid=OTHER_CURVE,
                )
        if band is not None:
            style = {"color": curve.get_color(), "alpha": 0.2, "linewidth": 0, "zorder": 2, "gid": BAND}
            axes.fill_between(band.fpr, band.low, band.high, **style)
        finish_roc(axes)
        self.line_ = curve
        self._drawn_on(axes)
        return self
