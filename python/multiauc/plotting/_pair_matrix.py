"""The heat map of a pair matrix."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from multiauc._common.registry import METRICS
from multiauc._common.wording import decimals, one_of
from multiauc._metrics.ranking import auc_mu_matrix
from multiauc.plotting._axes import PredictionsDisplay, Style, axes_or_new, plain_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage
    from matplotlib.text import Text
    from numpy.typing import ArrayLike, NDArray

    from multiauc._inference.pair_matrix import PairMatrix

ORDERS = ("labels", "worst")
NUMBERS_UP_TO = 12
INCHES_PER_CLASS = 0.17


class PairMatrixDisplay(PredictionsDisplay):
    """The heat map of a `PairMatrix`: the darker a cell, the worse the pair is separated.

    Parameters
    ----------
    matrix : PairMatrix
        From `multiauc.auc_mu_matrix` or `multiauc.hand_till_matrix`.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    im_ : matplotlib AxesImage
        The cells.
    text_ : list of matplotlib Text
        The numbers in them, if any.

    Examples
    --------
    >>> from multiauc.plotting import PairMatrixDisplay
    >>> y_true = ["a", "a", "b", "b", "c", "c"]
    >>> y_score = [[0.7, 0.2, 0.1], [0.4, 0.5, 0.1], [0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.3, 0.5], [0.3, 0.2, 0.5]]
    >>> display = PairMatrixDisplay.from_predictions(y_true, y_score)
    >>> [text.get_text() for text in display.text_]
    ['.750', '1.000', '.750', '1.000', '1.000', '1.000']
    """

    im_: AxesImage
    text_: list[Text]

    def __init__(self, matrix: PairMatrix) -> None:
        self.matrix = matrix

    @classmethod
    def from_predictions(cls, y_true: ArrayLike, y_score: ArrayLike, *, ax: Axes | None = None, **options: Any) -> Self:
        """Compute the matrix and draw it. `options` are those of `multiauc.auc_mu_matrix`."""
        return cls(auc_mu_matrix(y_true, y_score, **options)).plot(ax)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        order: Literal["labels", "worst"] = "labels",
        numbers: bool | None = None,
        **image: Any,
    ) -> Self:
        """Draw the heat map; see `multiauc.PairMatrix.plot`."""
        matrix = self.matrix
        n_classes = len(matrix.labels)
        columns = _worst_first(matrix.values) if one_of("order", order, ORDERS) == "worst" else np.arange(n_classes)
        values = matrix.values[np.ix_(columns, columns)]
        side = min(16.0, 3.4 + INCHES_PER_CLASS * max(n_classes, 8))
        axes = axes_or_new(ax, (side + 0.9, side))
        style: Style = {"cmap": "OrRd_r", "vmin": scale_floor(values), "vmax": 1.0, "interpolation": "nearest"}
        self.im_ = axes.imshow(values, **style | image)
        axes.set_facecolor("0.8")
        self._name_classes([plain_text(matrix.labels[k]) for k in columns], axes)
        shown = n_classes <= NUMBERS_UP_TO if numbers is None else bool(numbers)
        self.text_ = self._write_numbers(values, axes) if shown else []
        pairs = METRICS[matrix.kind].pairs
        what = matrix.kind if pairs is None else pairs.title
        axes.figure.colorbar(self.im_, ax=axes, label=f"{what} of the pair", shrink=0.8, aspect=30, pad=0.02)
        self._set_axes(axes)
        self._level_names_that_fit()
        return self

    def _name_classes(self, names: list[str], axes: Axes) -> None:
        size = max(4.5, min(10.0, 11.5 - 0.07 * len(names)))
        places = range(len(names))
        axes.set_xticks(places, names, rotation=90, fontsize=size)
        axes.set_yticks(places, names, fontsize=size)
        axes.tick_params(length=2)
        axes.spines[:].set_visible(False)
        if not self.matrix.is_symmetric:
            axes.set(ylabel="class whose score is read", xlabel="class it is told from")
        if len(names) <= NUMBERS_UP_TO:
            # A thin white grid between the cells.
            edges = np.arange(len(names) + 1) - 0.5
            axes.set_xticks(edges, minor=True)
            axes.set_yticks(edges, minor=True)
            axes.grid(which="minor", color="white", linewidth=1.5)
            axes.tick_params(which="minor", length=0)

    def _level_names_that_fit(self) -> None:
        """Write the names of the columns across if none of them is wider than its column."""
        # Lays the figure out, so that sizes are those of the finished picture, or smaller.
        self.figure_.draw_without_rendering()
        names = self.ax_.get_xticklabels()
        room = 0.95 * self.ax_.get_window_extent().width / len(names)
        # The names stand upright: their heights are how long they are.
        if max(name.get_window_extent().height for name in names) <= room:
            self.ax_.tick_params(axis="x", labelrotation=0)

    def _write_numbers(self, values: NDArray[np.float64], axes: Axes) -> list[Text]:
        texts = []
        colours: Any = self.im_.cmap(self.im_.norm(values))
        for (row, column), value in np.ndenumerate(values):
            if math.isnan(value):
                continue
            red, green, blue, _ = colours[row, column]
            dark = 0.3 * red + 0.59 * green + 0.11 * blue < 0.5
            text = decimals(value, 3).removeprefix("0")
            colour = "white" if dark else "black"
            size = 8.5 * min(1.0, 5 / len(text))
            texts.append(axes.text(column, row, text, ha="center", va="center", color=colour, fontsize=size))
        return texts


def scale_floor(values: NDArray[np.float64]) -> float:
    """Where the colours begin: the smallest value, rounded down to a twentieth."""
    lowest = float(np.nanmin(values)) if np.isfinite(values).any() else 0.5
    return max(0.0, min(0.95, math.floor(lowest * 20) / 20))


def _worst_first(values: NDArray[np.float64]) -> NDArray[np.intp]:
    """The classes by the worst pair that each is in, in either direction; classes without rows last."""
    both = np.fmin(values, values.T)
    worst = np.min(np.where(np.isnan(both), np.inf, both), axis=1)
    order: NDArray[np.intp] = np.argsort(worst, kind="stable")
    return order
