"""Pictures of precision-recall curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from multiauc._common.wording import decimals, listing, shown_name
from multiauc._curves.precision_recall import precision_recall_curves
from multiauc.plotting._axes import CURVE, OTHER_CURVE, Display, axes_or_new, legend_text
from multiauc.plotting._estimators import scores_of
from multiauc.plotting._roc_curves import NAMED_AT_MOST

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from numpy.typing import ArrayLike

    from multiauc._curves.precision_recall import PrecisionRecallCurve


class PrecisionRecallCurvesDisplay(Display):
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

    lines_: dict[Any, Line2D]

    def __init__(self, curves: Mapping[Any, PrecisionRecallCurve]) -> None:
        self.curves = dict(curves)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        ax: Axes | None = None,
        names: Sequence[Hashable] | None = None,
        **options: Any,
    ) -> Self:
        """Compute the curves and draw them; `options` are those of `multiauc.precision_recall_curves`."""
        return cls(precision_recall_curves(y_true, y_score, **options)).plot(ax, names=names)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,  # noqa: N803
        y: Any,
        *,
        ax: Axes | None = None,
        names: Sequence[Hashable] | None = None,
        **options: Any,
    ) -> Self:
        """The same for the predictions of a fitted scikit-learn classifier."""
        options.setdefault("labels", estimator.classes_)
        return cls.from_predictions(y, scores_of(estimator, X), ax=ax, names=names, **options)

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
        named = self._worst() if names is None else self._known(names)
        hidden = [key for key in self.curves if key not in named]
        lines = {}
        style: dict[str, Any]
        for key in hidden:
            style = {"color": "0.75", "linewidth": 0.7, "zorder": 2, "gid": OTHER_CURVE, "drawstyle": "steps-pre"}
            (lines[key],) = axes.plot(self.curves[key].recall, self.curves[key].precision, **style | line)
        for key in named:
            curve = self.curves[key]
            label = legend_text(f"{shown_name(curve.positive)} (AP {decimals(curve.average_precision, 3)})")
            style = {"label": label, "zorder": 3, "gid": CURVE, "drawstyle": "steps-pre"}
            (lines[key],) = axes.plot(curve.recall, curve.precision, **style | line)
            axes.axhline(curve.prevalence, color=lines[key].get_color(), linestyle=":", linewidth=0.8, zorder=1)
        if hidden:
            lines[hidden[0]].set_label(f"{len(hidden)} others")
        axes.set(xlabel="recall", ylabel="precision", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        axes.legend(loc="lower left", fontsize="small")
        self.lines_ = {key: lines[key] for key in self.curves}
        self._drawn_on(axes)
        return self

    def _worst(self) -> list[Any]:
        """The keys of the smallest average precisions, the worst first; all keys in their order where there are few."""
        keys = list(self.curves)
        if len(keys) <= NAMED_AT_MOST:
            return keys
        values = np.array([curve.average_precision for curve in self.curves.values()])
        return [keys[k] for k in np.argsort(values, kind="stable")[:NAMED_AT_MOST]]

    def _known(self, names: Sequence[Hashable]) -> list[Any]:
        unknown = [name for name in names if name not in self.curves]
        if unknown:
            raise ValueError(f"names has {listing(unknown)}, but the curves are of {listing(self.curves)}")
        return list(names)
