"""Pictures of ROC surfaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from multiauc._common.wording import decimals
from multiauc._volumes.volumes import hum
from multiauc.plotting._axes import Display, check_axes, plain_text
from multiauc.plotting._estimators import scores_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from multiauc._volumes.volumes import Volume

SIZE = 5.6
# Where the reader stands: the corner where all three rates are 1 is at the top, towards the reader.
ELEVATION, AZIMUTH = 30, 45


class RocSurfaceDisplay(Display):
    """The ROC surface of three classes: how many rows of each are decided rightly, as offsets are added to scores.

    Parameters
    ----------
    volume : Volume
        From `multiauc.hum`: the volume under the surface.
    points : int, default 48
        How many offsets of each of two classes.

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

    def __init__(self, volume: Volume, *, points: int = 48) -> None:
        self.volume = volume
        self.points = points

    @classmethod
    def from_predictions(cls, y_true: ArrayLike, y_score: ArrayLike, *, ax: Axes | None = None, **options: Any) -> Self:
        """Compute the volume and draw the surface. `options` are those of `multiauc.hum`."""
        return cls(hum(y_true, y_score, **options)).plot(ax)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Axes | None = None, **options: Any) -> Self:  # noqa: N803
        """The same for the predictions of a fitted scikit-learn classifier."""
        options.setdefault("labels", estimator.classes_)
        return cls.from_predictions(y, scores_of(estimator, X), ax=ax, **options)

    def plot(self, ax: Axes | None = None, **surface: Any) -> Self:
        """Draw the surface on three-dimensional axes; `surface` goes to matplotlib's ``plot_surface``."""
        found = self.volume.surface(self.points)
        axes: Any = _new_axes() if ax is None else check_axes(ax)
        if not hasattr(axes, "plot_surface"):
            raise TypeError("ax must be three-dimensional, such as plt.figure().add_subplot(projection='3d'), or None")
        style: dict[str, Any] = {
            "cmap": "viridis",
            "vmin": 0.0,
            "vmax": 1.0,
            "rcount": self.points,
            "ccount": self.points,
            "linewidth": 0.2,
            "edgecolor": (1.0, 1.0, 1.0, 0.35),
            "antialiased": True,
        }
        axes.plot_surface(*found.rates, **(style | surface))
        names = [f"share of {plain_text(label)} right" for label in found.labels]
        axes.set(xlim=(0, 1), ylim=(0, 1), zlim=(0, 1), xlabel=names[0], ylabel=names[1], zlabel=names[2])
        # Where two axes meet, their last numbers would lie on each other.
        inner = [0.25, 0.5, 0.75]
        axes.set(xticks=inner, yticks=inner, zticks=[0.0, *inner, 1.0])
        axes.view_init(elev=ELEVATION, azim=AZIMUTH)
        volume = self.volume
        axes.set_title(
            f"{volume.name} = {decimals(volume.value, 3)} (chance {decimals(volume.chance, 3)})",
            fontsize="medium",
            y=0.98,
        )
        self._drawn_on(axes)
        return self


def _new_axes() -> Any:
    try:
        from matplotlib import pyplot as plt  # noqa: PLC0415
    except ImportError:
        raise ImportError("plotting needs matplotlib; install it with: pip install multiauc[plot]") from None
    axes: Any = plt.figure(figsize=(SIZE, SIZE)).add_subplot(projection="3d")
    # Room for the name of the upright axis, which matplotlib does not count.
    axes.set_box_aspect(None, zoom=0.9)
    return axes
