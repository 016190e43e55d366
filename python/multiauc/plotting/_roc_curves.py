"""Pictures of the ROC curves of classes and of pairs of classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from multiauc._common.registry import DEFAULT_CURVE_KIND
from multiauc._common.wording import decimals, listing, shown_name
from multiauc._curves.roc import curve_band, curves_of, effective_size
from multiauc._input.options import read_level
from multiauc._input.sample import read_sample
from multiauc.plotting._axes import CURVE, FINE_BAND, OTHER_CURVE, Display, finish_roc, legend_text, roc_axes
from multiauc.plotting._estimators import scores_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.collections import Collection
    from matplotlib.lines import Line2D
    from numpy.typing import ArrayLike, NDArray

    from multiauc._common.registry import CurveKind
    from multiauc._common.types import Absent, Labels, Outputs
    from multiauc._curves.roc import RocCurve
    from multiauc._input.sample import Sample

# No more curves than this can be told apart; the others are drawn in grey behind them.
NAMED_AT_MOST = 8


class RocCurvesDisplay(Display):
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

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,  # noqa: N803
        y: Any,
        *,
        ax: Axes | None = None,
        names: Sequence[Hashable] | None = None,
        level: float | None = 0.95,
        **options: Any,
    ) -> Self:
        """The same for the predictions of a fitted scikit-learn classifier."""
        options.setdefault("labels", estimator.classes_)
        return cls.from_predictions(y, scores_of(estimator, X), ax=ax, names=names, level=level, **options)

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
        style: dict[str, Any]
        for key in hidden:
            curve = self.curves[key]
            style = {"color": "0.75", "linestyle": "-", "linewidth": 0.7, "zorder": 2, "gid": OTHER_CURVE}
            style |= line
            (lines[key],) = axes.plot(curve.fpr, curve.tpr, **style)
        self.bands_ = {}
        for key in named:
            curve = self.curves[key]
            against = "" if curve.negative is None else f" from {shown_name(curve.negative)}"
            label = legend_text(f"{shown_name(curve.positive)}{against} (AUC {decimals(curve.auc, 3)})")
            style = {"label": label, "zorder": 3, "gid": CURVE}
            style |= line
            (lines[key],) = axes.plot(curve.fpr, curve.tpr, **style)
            if tail is not None and key in self.sizes and len(curve.fpr) > 1:
                fpr, low, high = curve_band(curve, self.sizes[key], tail)
                style = {"color": lines[key].get_color(), "alpha": 0.12, "linewidth": 0, "zorder": 2}
                self.bands_[key] = axes.fill_between(fpr, low, high, gid=FINE_BAND, **style)
        if hidden:
            lines[hidden[0]].set_label(f"{len(hidden)} others")
        finish_roc(axes)
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
