"""Forest plots of slices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

from multiauc._common.registry import METRICS
from multiauc._common.wording import corrected_p, decimals
from multiauc._evaluation.slices import evaluate_slices
from multiauc._input.options import positive_integer
from multiauc.plotting._axes import COLOURS, Display, axes_or_new, plain_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from multiauc._evaluation.slices import Slices

ROW_INCHES = 0.3
# Beside the axes, in parts of their width: rows and corrected p-values.
ROWS_AT, P_AT = 1.09, 1.24
OTHER_COLOUR = "0.35"


class SlicesDisplay(Display):
    """Slices with the intervals of their values, one below the other, and a line at the value of all rows.

    Slices that differ from what they are compared with, by their corrected p-values, are drawn in colour and with other
    marks: a triangle down for worse, up for better.

    Parameters
    ----------
    slices : Slices
        From `multiauc.evaluate_slices`.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from multiauc.plotting import SlicesDisplay
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(3, size=300)
    >>> y_score = np.eye(3)[y_true] + 2 * rng.random((300, 3))
    >>> display = SlicesDisplay.from_predictions(y_true, y_score, np.repeat(["a", "b", "c"], 100))
    >>> sorted(label.get_text() for label in display.ax_.get_yticklabels())
    ['a', 'b', 'c']
    """

    def __init__(self, slices: Slices) -> None:
        self.slices = slices

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        by: Any,
        *,
        ax: Axes | None = None,
        level: float = 0.95,
        **options: Any,
    ) -> Self:
        """Evaluate the slices and draw them. `options` are those of `multiauc.evaluate_slices`."""
        return cls(evaluate_slices(y_true, y_score, by, **options)).plot(ax, level=level)

    def plot(self, ax: Axes | None = None, *, level: float = 0.95, at_most: int = 40, **points: Any) -> Self:
        """Draw the slices, the one that is most surely worse on top; see `multiauc.Slices.plot`."""
        slices, count = self.slices, min(positive_integer("at_most", at_most), len(self.slices))
        axes = axes_or_new(ax, (7.5, 1.2 + ROW_INCHES * count))
        limits = list(slices.confidence_intervals(level).values())
        worse, better = set(slices.worse(level)), set(slices.better(level))
        beside = axes.get_yaxis_transform()
        for row, name in enumerate(slices.names[:count]):
            colour, marker = (
                (COLOURS[1], "v") if name in worse else (COLOURS[0], "^") if name in better else (OTHER_COLOUR, "o")
            )
            style = {"color": colour, "marker": marker} | points
            axes.plot(limits[row], [row, row], color=style["color"], linewidth=1.8, solid_capstyle="butt", zorder=2)
            axes.plot([slices.values[row]], [row], linestyle="none", zorder=3, **style)
            if math.isnan(slices.values[row]):
                # Listed, not hidden: the reason stands where the interval would.
                axes.text(0.02, row, plain_text(_short(slices.reasons[row])), transform=beside, va="center",
                          fontsize="x-small", color="0.4", style="italic")  # fmt: skip
            axes.text(ROWS_AT, row, f"{slices.rows[row]:,}", transform=beside, va="center", ha="right",
                      fontsize="small")  # fmt: skip
            if slices.reference is not None:
                p = corrected_p(float(slices.corrected_p_values[row]))
                axes.text(P_AT, row, p, transform=beside, va="center", ha="right", fontsize="small")
        self._finish(axes, count, level)
        self._drawn_on(axes)
        return self

    def _finish(self, axes: Axes, count: int, level: float) -> None:
        slices = self.slices
        overall = slices.overall.value
        if not math.isnan(overall):
            axes.axvline(overall, color="0.6", linestyle=":", linewidth=1, zorder=1)
        beside = axes.get_yaxis_transform()
        axes.text(ROWS_AT, -1, "rows", transform=beside, va="center", ha="right", fontsize="small", color="0.4")
        if slices.reference is not None:
            axes.text(P_AT, -1, "corr. p", transform=beside, va="center", ha="right", fontsize="small", color="0.4")
        axes.set_yticks(range(count), [plain_text(name) for name in slices.shown_names()[:count]])
        axes.set_ylim(count - 0.5, -1.5)
        some = f"; {count} of {len(slices)} slices" if count < len(slices) else ""
        title = METRICS[slices.metric].title
        axes.set_xlabel(f"{title}, {100 * level:g}% intervals; all rows {decimals(overall)}{some}")
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", color="0.9", linewidth=0.8)
        axes.set_axisbelow(True)


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
