"""The heat map of a confusion matrix."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from multiauc._common.wording import decimals
from multiauc._evaluation.confusion import confusion_matrix
from multiauc.plotting._axes import Display, axes_or_new, plain_text
from multiauc.plotting._estimators import scores_of
from multiauc.plotting._pair_matrix import INCHES_PER_CLASS, NUMBERS_UP_TO

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage
    from matplotlib.text import Text
    from numpy.typing import ArrayLike

    from multiauc._evaluation.confusion import ConfusionMatrix

TITLES = {"all": "share of all rows", "true": "share of the true class", "predicted": "share of the predictions"}


class ConfusionMatrixDisplay(Display):
    """The heat map of a `ConfusionMatrix`, with shares and counts in the cells.

    Parameters
    ----------
    matrix : ConfusionMatrix
        From `multiauc.confusion_matrix`.

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
    >>> from multiauc.plotting import ConfusionMatrixDisplay
    >>> display = ConfusionMatrixDisplay.from_predictions(["a", "a", "b", "b"], ["a", "b", "b", "b"])
    >>> [text.get_text() for text in display.text_]
    ['.500', '.500', '.000', '1.000']
    """

    im_: AxesImage
    text_: list[Text]

    def __init__(self, matrix: ConfusionMatrix) -> None:
        self.matrix = matrix

    @classmethod
    def from_predictions(cls, y_true: ArrayLike, y_pred: ArrayLike, *, ax: Axes | None = None, **options: Any) -> Self:
        """Compute the matrix and draw it. `options` are those of `multiauc.confusion_matrix`."""
        return cls(confusion_matrix(y_true, y_pred, **options)).plot(ax)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Axes | None = None, **options: Any) -> Self:  # noqa: N803
        """The same for the predictions of a fitted scikit-learn classifier."""
        options.setdefault("labels", estimator.classes_)
        return cls.from_predictions(y, scores_of(estimator, X), ax=ax, **options)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        by: Literal["all", "true", "predicted"] = "true",
        numbers: bool | None = None,
        **image: Any,
    ) -> Self:
        """Draw the heat map: true classes from top to bottom, predicted ones from left to right.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw: new axes by default.
        by : {"all", "true", "predicted"}, default "true"
            What the shares are shares of, as in `multiauc.ConfusionMatrix.normalized`.
        numbers : bool, optional
            Whether to write the shares into the cells; by default up to twelve classes.
        **image
            Passed on to ``ax.imshow``.
        """
        values = self.matrix.normalized(by)
        n_classes = len(self.matrix.labels)
        side = min(16.0, 3.4 + INCHES_PER_CLASS * max(n_classes, 8))
        axes = axes_or_new(ax, (side + 0.9, side))
        style: dict[str, Any] = {"cmap": "Blues", "vmin": 0.0, "vmax": 1.0, "interpolation": "nearest"}
        self.im_ = axes.imshow(values, **style | image)
        axes.set_facecolor("0.8")
        names = [plain_text(label) for label in self.matrix.labels]
        size = max(4.5, min(10.0, 11.5 - 0.07 * n_classes))
        axes.set_xticks(range(n_classes), names, rotation=90, fontsize=size)
        axes.set_yticks(range(n_classes), names, fontsize=size)
        axes.set(xlabel="predicted class", ylabel="true class")
        shown = n_classes <= NUMBERS_UP_TO if numbers is None else bool(numbers)
        self.text_ = []
        shades = np.asarray(self.im_.norm(values), dtype=np.float64)
        for row in range(n_classes if shown else 0):
            for column in range(n_classes):
                value = float(values[row, column])
                if not math.isnan(value):
                    text = decimals(value, 3).removeprefix("0")
                    colour = "white" if shades[row, column] > 0.5 else "black"
                    style = {"ha": "center", "va": "center", "color": colour, "fontsize": 8.5}
                    self.text_.append(axes.text(column, row, text, **style))
        axes.figure.colorbar(self.im_, ax=axes, label=TITLES[by], shrink=0.8, aspect=30, pad=0.02)
        self._drawn_on(axes)
        return self
