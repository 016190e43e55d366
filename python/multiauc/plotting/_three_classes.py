"""Plots of three classes: the triangle of their probabilities, and the ROC surface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from multiauc._common.wording import decimals, pluralize
from multiauc._input.options import read_partition
from multiauc._input.probabilities import check_probabilities
from multiauc._input.sample import read_sample
from multiauc._metrics.volumes import Volume, hum
from multiauc.plotting import _base as base

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.patches import Polygon
    from numpy.typing import ArrayLike, NDArray

    from multiauc._common.types import Outputs

# The corners of the three classes: the first to the left, the second to the right, the third on top.
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])
POINTS_AT_MOST = 5000
SURFACE_INCHES = 5.6
# Where the reader stands: the corner where all three rates are 1 is at the top, towards the reader.
ELEVATION, AZIMUTH = 30, 45


class SimplexDisplay(base.PredictionsDisplay):
    r"""Predictions for three classes in the triangle of probabilities, with the decision regions of a partition.

    Each corner is a class with probability 1. A prediction p lies in the region of the class i with the smallest
    expected cost :math:`A_i \cdot p`, where A is the partition matrix; without one, it is the class with the largest
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
        # A point need not be exact to be drawn: the tolerance for float32 is enough.
        check_probabilities(sample.scores.astype(np.float32), "to be drawn in a triangle")
        return cls(sample.scores, sample.codes, sample.labels, partition=partition).plot(ax, **points)

    def plot(self, ax: Axes | None = None, **points: Any) -> Self:
        """Draw the regions and the predictions.

        With more than 5,000 predictions, 5,000 evenly spaced ones are drawn, and the title says so.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; default: new axes.
        **points
            Passed on to ``ax.scatter``.
        """
        axes = base.axes_or_new(ax, (6.0, 5.6))
        self.regions_ = [
            axes.fill(*region.T, facecolor=base.COLOURS[k], alpha=0.13, edgecolor="none", zorder=1)[0]
            for k, region in enumerate(map(self._region, range(3)))
            if len(region) > 2
        ]
        for region in self.regions_:
            axes.plot(*np.asarray(region.get_xy()).T, color="0.35", linestyle="--", linewidth=1, zorder=2)
        axes.plot(*CORNERS[[0, 1, 2, 0]].T, color="0.2", linestyle="-", linewidth=1.2, zorder=2)
        for k, (x, y) in enumerate(CORNERS):
            above = k == 2
            style: base.Style = {"ha": "center", "va": "bottom" if above else "top", "weight": "bold"}
            style |= {"textcoords": "offset points", "xytext": (0, 8 if above else -8), "color": base.COLOURS[k]}
            axes.annotate(base.plain_text(self.labels[k]), (x, y), **style)
        self.points_ = self._scatter(axes, points)
        axes.set(xlim=(-0.08, 1.08), ylim=(-0.1, CORNERS[2, 1] + 0.1), aspect="equal")
        axes.set_axis_off()
        axes.legend(loc="upper right", frameon=False, title="true class")
        return self._set_axes(axes)

    def _scatter(self, axes: Axes, options: base.Style) -> list[PathCollection]:
        n_rows = len(self.points)
        shown = np.arange(n_rows)
        if n_rows > POINTS_AT_MOST:
            shown = np.linspace(0, n_rows - 1, POINTS_AT_MOST).astype(np.intp)
            axes.set_title(f"{POINTS_AT_MOST} of {pluralize(n_rows, 'prediction')}", fontsize="medium")
        places = np.asarray(self.points[shown], dtype=np.float64) @ CORNERS
        drawn = []
        for k, label in enumerate(self.labels):
            of_class = places[self.codes[shown] == k]
            style: base.Style = {"marker": base.MARKERS[k], "facecolor": base.COLOURS[k], "edgecolor": "white"}
            style |= {"s": max(4.0, min(28.0, 6000 / max(len(shown), 1))), "linewidth": 0.3, "alpha": 0.75, "zorder": 3}
            drawn.append(axes.scatter(*of_class.T, label=base.legend_text(label), **style | options))
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


class RocSurfaceDisplay(base.PredictionsDisplay):
    """The ROC surface of three classes: their true positive rates as offsets are added to scores.

    Parameters
    ----------
    volume : Volume
        From `multiauc.hum`: the volume under the surface.
    points : int, default 48
        How many offsets to use for each of two classes.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> from multiauc.plotting import RocSurfaceDisplay
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(3, size=200)
    >>> display = RocSurfaceDisplay.from_predictions(y_true, np.eye(3)[y_true] + 3 * rng.random((200, 3)))
    >>> display.ax_.get_title()
    'HUM by sums = 0.709 (chance 0.167)'
    """

    _compute = staticmethod(hum)

    def __init__(self, volume: Volume, *, points: int = 48) -> None:
        self.volume = volume
        self.points = points

    def plot(self, ax: Axes | None = None, **surface: Any) -> Self:
        """Draw the surface on three-dimensional axes; `surface` goes to matplotlib's ``plot_surface``."""
        found = self.volume.surface(self.points)
        if ax is None:
            figure = base.import_pyplot().figure(figsize=(SURFACE_INCHES, SURFACE_INCHES))
            axes: Any = figure.add_subplot(projection="3d")
            # Room for the name of the upright axis, which matplotlib does not count.
            axes.set_box_aspect(None, zoom=0.9)
        else:
            axes = base.check_axes(ax)
        if not hasattr(axes, "plot_surface"):
            raise TypeError("ax must be three-dimensional, such as plt.figure().add_subplot(projection='3d'), or None")
        style: base.Style = {"cmap": "viridis", "vmin": 0.0, "vmax": 1.0, "rcount": self.points, "ccount": self.points}
        style |= {"linewidth": 0.2, "edgecolor": (1.0, 1.0, 1.0, 0.35), "antialiased": True}
        axes.plot_surface(*found.rates, **(style | surface))
        names = [f"share of {base.plain_text(label)} right" for label in found.labels]
        axes.set(xlim=(0, 1), ylim=(0, 1), zlim=(0, 1), xlabel=names[0], ylabel=names[1], zlabel=names[2])
        # Where two axes meet, their last numbers would lie on each other.
        inner = [0.25, 0.5, 0.75]
        axes.set(xticks=inner, yticks=inner, zticks=[0.0, *inner, 1.0])
        axes.view_init(elev=ELEVATION, azim=AZIMUTH)
        volume = self.volume
        value, chance = decimals(volume.value, 3), decimals(volume.chance, 3)
        axes.set_title(f"{volume.name} = {value} (chance {chance})", fontsize="medium", y=0.98)
        return self._set_axes(axes)
