"""Pictures of the ROC curves of classes and of pairs of classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from multiauc._wording import listing
from multiauc.curves import roc_curves
from multiauc.plotting._axes import Display, legend_below_curves, legend_text, roc_axes
from multiauc.plotting._estimators import scores_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from numpy.typing import ArrayLike

    from multiauc.results import RocCurve

# No more curves than this can be told apart; the others are drawn in grey behind them.
NAMED_AT_MOST = 8


class RocCurvesDisplay(Display):
    """One-vs-rest or pairwise ROC curves.

    Parameters
    ----------
    curves : dict of RocCurve
        By class or by pair of classes, from `multiauc.roc_curves`.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where they were drawn.
    lines_ : dict of matplotlib Line2D
        The curves, by class or by pair of classes.

    Examples
    --------
    >>> from multiauc.plotting import RocCurvesDisplay
    >>> y_true = ["a", "a", "b", "b", "c", "c"]
    >>> y_score = [[0.7, 0.2, 0.1], [0.4, 0.5, 0.1], [0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.3, 0.5], [0.3, 0.2, 0.5]]
    >>> display = RocCurvesDisplay.from_predictions(y_true, y_score)
    >>> display.lines_["a"].get_label()
    'a (0.875)'
    """

    lines_: dict[Any, Line2D]

    def __init__(self, curves: Mapping[Any, RocCurve]) -> None:
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
        """Compute the curves and draw them. `options` are those of `multiauc.roc_curves`, such as `kind`."""
        return cls(roc_curves(y_true, y_score, **options)).plot(ax, names=names)

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
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw: new axes by default.
        names : sequence, optional
            The classes, or pairs of classes, to colour and to name in the legend. By default those with the smallest
            areas, at most eight; the others are drawn in grey behind them.
        **line
            Passed on to ``ax.plot``.
        """
        axes = roc_axes(ax)
        named = self._worst() if names is None else self._known(names)
        hidden = [key for key in self.curves if key not in named]
        lines = {}
        for key in hidden:
            curve = self.curves[key]
            style: dict[str, Any] = {"color": "0.75", "linestyle": "-", "linewidth": 0.7, "zorder": 2} | line
            (lines[key],) = axes.plot(curve.fpr, curve.tpr, **style)
        for key in named:
            curve = self.curves[key]
            against = "" if curve.negative is None else f" from {curve.negative}"
            label = legend_text(f"{curve.positive}{against} ({curve.auc:.3f})")
            (lines[key],) = axes.plot(curve.fpr, curve.tpr, label=label, **({"zorder": 3} | line))
        if hidden:
            lines[hidden[0]].set_label(f"{len(hidden)} others")
        legend_below_curves(axes, len(named))
        self.lines_ = {key: lines[key] for key in self.curves}
        self._drawn_on(axes)
        return self

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
