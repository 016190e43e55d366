"""The triangle of the probabilities of three classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from multiauc._common.wording import counted
from multiauc._input.options import read_partition
from multiauc._input.sample import read_sample
from multiauc.plotting._axes import COLOURS, MARKERS, Display, axes_or_new, legend_text, plain_text
from multiauc.plotting._estimators import scores_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.patches import Polygon
    from numpy.typing import ArrayLike, NDArray

    from multiauc._common.types import Outputs

# The corners of the three classes: the first to the left, the second to the right, the third on top.
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])
SUM_TOLERANCE = 1e-3
POINTS_AT_MOST = 5000


class SimplexDisplay(Display):
    r"""Predictions for three classes in the triangle of probabilities, with the decision regions of a partition.

    A corner is certainty of its class. A prediction p lies in the region of the class i whose expected cost
    :math:`A_i \cdot p` is smallest, A being the partition matrix; without one this is the class of the largest
    probability. AUC_mu ranks the rows of two classes by their signed distance from the border between the two regions.

    Parameters
    ----------
    points : ndarray of shape (n, 3)
        The predicted probabilities.
    codes : ndarray of shape (n,)
        The true class of each, as 0, 1 or 2.
    labels : sequence of 3 labels
        The classes.
    partition : array-like of shape (3, 3), optional
        A[i, j], the cost of predicting class i when the truth is j.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    points_ : list of matplotlib PathCollection
        The predictions, class by class.
    regions_ : list of matplotlib Polygon
        The decision regions that are not empty.

    Examples
    --------
    >>> from multiauc.plotting import SimplexDisplay
    >>> y_true = ["a", "a", "b", "b", "c", "c"]
    >>> y_score = [[0.7, 0.2, 0.1], [0.4, 0.5, 0.1], [0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.3, 0.5], [0.3, 0.2, 0.5]]
    >>> display = SimplexDisplay.from_predictions(y_true, y_score)
    >>> len(display.regions_)
    3
    """

    points_: list[PathCollection]
    regions_: list[Polygon]

    def __init__(
        self, points: NDArray[Any], codes: NDArray[Any], labels: Sequence[Any], *, partition: ArrayLike | None = None
    ) -> None:
        self.points = points
        self.codes = codes
        self.labels = tuple(labels)
        costs = read_partition(partition, 3)
        self.partition = 1.0 - np.eye(3) if costs is None else costs

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        partition: ArrayLike | None = None,
        labels: Any = None,
        outputs: Outputs = None,
        ax: Axes | None = None,
        **points: Any,
    ) -> Self:
        """Check the probabilities and draw them; see `plot`."""
        sample = read_sample(y_true, y_score, None, labels, "ignore", outputs)
        if sample.n_classes != 3:
            raise ValueError(f"y_score must have three columns to be drawn in a triangle; got {sample.n_classes}")
        far = np.abs(sample.scores.sum(axis=1, dtype=np.float64) - 1.0) > SUM_TOLERANCE
        far |= (sample.scores < -SUM_TOLERANCE).any(axis=1)
        if far.any():
            row = int(far.argmax())
            raise ValueError(
                "y_score must have probabilities, rows that sum to 1, to be drawn in a triangle; "
                f"got {sample.scores[row].tolist()} in row {row}"
            )
        return cls(sample.scores, sample.codes, sample.labels, partition=partition).plot(ax, **points)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Axes | None = None, **options: Any) -> Self:  # noqa: N803
        """The same for the predictions of a fitted scikit-learn classifier."""
        options.setdefault("labels", estimator.classes_)
        return cls.from_predictions(y, scores_of(estimator, X), ax=ax, **options)

    def plot(self, ax: Axes | None = None, **points: Any) -> Self:
        """Draw the regions and the predictions.

        Of more than 5,000 predictions, 5,000 evenly spaced ones are drawn, and the title says so.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw: new axes by default.
        **points
            Passed on to ``ax.scatter``.
        """
        axes = axes_or_new(ax, (6.0, 5.6))
        self.regions_ = [
            axes.fill(*region.T, facecolor=COLOURS[k], alpha=0.13, edgecolor="none", zorder=1)[0]
            for k, region in enumerate(map(self._region, range(3)))
            if len(region) > 2
        ]
        for region in self.regions_:
            axes.plot(*np.asarray(region.get_xy()).T, color="0.35", linestyle="--", linewidth=1, zorder=2)
        axes.plot(*CORNERS[[0, 1, 2, 0]].T, color="0.2", linestyle="-", linewidth=1.2, zorder=2)
        for k, (x, y) in enumerate(CORNERS):
            above = k == 2
            axes.annotate(
                plain_text(self.labels[k]),
                (x, y),
                xytext=(0, 8 if above else -8),
                textcoords="offset points",
                ha="center",
                va="bottom" if above else "top",
                color=COLOURS[k],
                weight="bold",
            )
        self.points_ = self._scatter(axes, points)
        axes.set(xlim=(-0.08, 1.08), ylim=(-0.1, CORNERS[2, 1] + 0.1), aspect="equal")
        axes.set_axis_off()
        axes.legend(loc="upper right", frameon=False, title="true class")
        self._drawn_on(axes)
        return self

    def _scatter(self, axes: Axes, options: dict[str, Any]) -> list[PathCollection]:
        n_rows = len(self.points)
        shown = np.arange(n_rows)
        if n_rows > POINTS_AT_MOST:
            shown = np.linspace(0, n_rows - 1, POINTS_AT_MOST).astype(np.intp)
            axes.set_title(f"{POINTS_AT_MOST} of {counted(n_rows, 'prediction')}", fontsize="medium")
        places = np.asarray(self.points[shown], dtype=np.float64) @ CORNERS
        drawn = []
        for k, label in enumerate(self.labels):
            of_class = places[self.codes[shown] == k]
            style: dict[str, Any] = {
                "s": max(4.0, min(28.0, 6000 / max(len(shown), 1))),
                "marker": MARKERS[k],
                "facecolor": COLOURS[k],
                "edgecolor": "white",
                "linewidth": 0.3,
                "alpha": 0.75,
                "zorder": 3,
            } | options
            drawn.append(axes.scatter(*of_class.T, label=legend_text(label), **style))
        return drawn

    def _region(self, k: int) -> NDArray[np.float64]:
        """The corners of the region of class k in the plane: the triangle, cut by the border to each other class."""
        polygon = np.eye(3)
        for other in range(3):
            if other != k:
                polygon = _cut(polygon, polygon @ (self.partition[other] - self.partition[k]))
        region: NDArray[np.float64] = polygon @ CORNERS
        return region


def _cut(polygon: NDArray[np.float64], heights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The part of a convex polygon where a linear function, given at its corners, is not negative."""
    kept = []
    for k in range(len(polygon)):
        here, after = heights[k], heights[(k + 1) % len(polygon)]
        if here >= 0:
            kept.append(polygon[k])
        if here * after < 0:
            share = here / (here - after)
            kept.append((1 - share) * polygon[k] + share * polygon[(k + 1) % len(polygon)])
    return np.array(kept).reshape(-1, 3)
