"""Heat maps of pair matrices and confusion matrices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

import numpy as np

from multiauc._common.registry import METRICS
from multiauc._common.wording import decimals, one_of
from multiauc._metrics.classification import ConfusionMatrix, confusion_matrix
from multiauc._metrics.ranking import auc_mu_matrix
from multiauc.plotting._base import PredictionsDisplay, Style, axes_or_new, plain_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage
    from matplotlib.text import Text
    from numpy.typing import NDArray

    from multiauc._inference.pair_matrix import PairMatrix

Order: TypeAlias = Literal["labels", "worst"]
Share: TypeAlias = Literal["all", "true", "predicted"]

ORDERS = ("labels", "worst")
NUMBERS_UP_TO = 12
INCHES_PER_CLASS = 0.17
SHARES = {"all": "share of all rows", "true": "share of the true class", "predicted": "share of the predictions"}


class HeatMapDisplay(PredictionsDisplay):
    """A square of coloured entries, with classes along both sides and numbers if they fit."""

    im_: AxesImage
    text_: list[Text]

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix

    def _draw(
        self, ax: Axes | None, values: NDArray[np.float64], labels: list[Any], image: Style, *, numbers: bool | None
    ) -> Axes:
        n_classes = len(labels)
        side = min(16.0, 3.4 + INCHES_PER_CLASS * max(n_classes, 8))
        axes = axes_or_new(ax, (side + 0.9, side))
        self.im_ = axes.imshow(values, **image)
        axes.set_facecolor("0.8")
        names, places = [plain_text(label) for label in labels], range(n_classes)
        size = max(4.5, min(10.0, 11.5 - 0.07 * n_classes))
        axes.set_xticks(places, names, rotation=90, fontsize=size)
        axes.set_yticks(places, names, fontsize=size)
        axes.tick_params(length=2)
        axes.spines[:].set_visible(False)
        if n_classes <= NUMBERS_UP_TO:
            # A thin white grid between the entries.
            edges = np.arange(n_classes + 1) - 0.5
            axes.set_xticks(edges, minor=True)
            axes.set_yticks(edges, minor=True)
            axes.grid(which="minor", color="white", linewidth=1.5)
            axes.tick_params(which="minor", length=0)
        shown = n_classes <= NUMBERS_UP_TO if numbers is None else bool(numbers)
        self.text_ = self._write_numbers(values, axes) if shown else []
        return axes

    def _write_numbers(self, values: NDArray[np.float64], axes: Axes) -> list[Text]:
        texts = []
        colours: Any = self.im_.cmap(self.im_.norm(values))
        for (row, column), value in np.ndenumerate(values):
            if math.isnan(value):
                continue
            red, green, blue, _ = colours[row, column]
            text = decimals(value, 3).removeprefix("0")
            colour = "white" if 0.3 * red + 0.59 * green + 0.11 * blue < 0.5 else "black"
            size = 8.5 * min(1.0, 5 / len(text))
            texts.append(axes.text(column, row, text, ha="center", va="center", color=colour, fontsize=size))
        return texts

    def _finish(self, axes: Axes, what: str) -> Self:
        """Add the bar of colours, and write the names of the columns across if none is wider than its column."""
        axes.figure.colorbar(self.im_, ax=axes, label=what, shrink=0.8, aspect=30, pad=0.02)
        self._set_axes(axes)
        # Lays the figure out: sizes are then those of the finished plot, or smaller.
        self.figure_.draw_without_rendering()
        names = axes.get_xticklabels()
        width = 0.95 * axes.get_window_extent().width / len(names)
        # The names stand upright: their heights are how long they are.
        if max(name.get_window_extent().height for name in names) <= width:
            axes.tick_params(axis="x", labelrotation=0)
        return self


class PairMatrixDisplay(HeatMapDisplay):
    """The heat map of a `PairMatrix`: the darker an entry, the worse the pair is separated.

    Parameters
    ----------
    matrix : PairMatrix
        From `multiauc.auc_mu_matrix` or `multiauc.hand_till_matrix`.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    im_ : matplotlib AxesImage
        The entries.
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

    matrix: PairMatrix
    _compute = staticmethod(auc_mu_matrix)
    _plot_options = ("order", "numbers")

    def plot(
        self, ax: Axes | None = None, *, order: Order = "labels", numbers: bool | None = None, **image: Any
    ) -> Self:
        """Draw the heat map; see `multiauc.PairMatrix.plot`."""
        matrix, columns = self.matrix, np.arange(len(self.matrix.labels))
        if one_of("order", order, ORDERS) == "worst":
            # By the worst pair that a class is in, in either direction; classes without rows last.
            both = np.fmin(matrix.values, matrix.values.T)
            columns = np.argsort(np.min(np.where(np.isnan(both), np.inf, both), axis=1), kind="stable")
        values = matrix.values[np.ix_(columns, columns)]
        style: Style = {"cmap": "OrRd_r", "vmin": scale_floor(values), "vmax": 1.0, "interpolation": "nearest"}
        axes = self._draw(ax, values, [matrix.labels[k] for k in columns], style | image, numbers=numbers)
        if not matrix.is_symmetric:
            axes.set(ylabel="class whose score is read", xlabel="class it is compared with")
        pairs = METRICS[matrix.kind].pairs
        return self._finish(axes, f"{matrix.kind if pairs is None else pairs.title} of the pair")


class ConfusionMatrixDisplay(HeatMapDisplay):
    """The heat map of a `ConfusionMatrix`, with shares in its entries.

    Parameters
    ----------
    matrix : ConfusionMatrix
        From `multiauc.confusion_matrix`.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    im_ : matplotlib AxesImage
        The entries.
    text_ : list of matplotlib Text
        The numbers in them, if any.

    Examples
    --------
    >>> from multiauc.plotting import ConfusionMatrixDisplay
    >>> display = ConfusionMatrixDisplay.from_predictions(["a", "a", "b", "b"], ["a", "b", "b", "b"])
    >>> [text.get_text() for text in display.text_]
    ['.500', '.500', '.000', '1.000']
    """

    matrix: ConfusionMatrix
    _compute = staticmethod(confusion_matrix)
    _plot_options = ("by", "numbers")

    def plot(self, ax: Axes | None = None, *, by: Share = "true", numbers: bool | None = None, **image: Any) -> Self:
        """Draw the heat map: true classes from top to bottom, predicted ones from left to right.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; default: new axes.
        by : {"all", "true", "predicted"}, default "true"
            What the shares are shares of, as in `multiauc.ConfusionMatrix.normalized`.
        numbers : bool, optional
            Whether to write the shares into the entries; by default up to twelve classes.
        **image
            Passed on to ``ax.imshow``.
        """
        values = self.matrix.normalized(by)
        style: Style = {"cmap": "Blues", "vmin": 0.0, "vmax": 1.0, "interpolation": "nearest"}
        axes = self._draw(ax, values, list(self.matrix.labels), style | image, numbers=numbers)
        axes.set(xlabel="predicted class", ylabel="true class")
        return self._finish(axes, SHARES[by])


def scale_floor(values: NDArray[np.float64]) -> float:
    """Where the colours begin: the smallest value, rounded down to a twentieth."""
    lowest = float(np.nanmin(values)) if np.isfinite(values).any() else 0.5
    return max(0.0, min(0.95, math.floor(lowest * 20) / 20))
