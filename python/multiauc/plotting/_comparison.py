"""Pictures of model comparisons."""

from __future__ import annotations

import math
import warnings
from itertools import combinations
from typing import TYPE_CHECKING, Any, Self

from multiauc._common.registry import METRICS
from multiauc._common.wording import names_as_text
from multiauc.plotting._axes import COLOURS, MARKERS, Display, new_axes, plain_text, two_axes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from multiauc._evaluation.comparison import Comparison
    from multiauc._inference.estimates import Estimate

ROW_INCHES = 0.42
TALLEST_INCHES = 8.0
# Of more models than this, only the differences from the best are drawn.
ALL_PAIRS_UP_TO = 4


class ComparisonDisplay(Display):
    """The estimates of several models with their intervals, and the differences between every two.

    The intervals of differences hold for all of them together. Of more than four models, the differences of the best
    from each of the others are drawn.

    Parameters
    ----------
    comparison : Comparison
        From `multiauc.compare`.

    Attributes
    ----------
    axes_ : list of two matplotlib Axes
        The estimates and the differences.
    ax_, figure_ : matplotlib Axes and Figure
        The first of them, and their figure.

    Examples
    --------
    >>> import numpy as np
    >>> from multiauc.plotting import ComparisonDisplay
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(3, size=200)
    >>> models = {name: np.eye(3)[y_true] + noise * rng.random((200, 3)) for name, noise in [("good", 2), ("fair", 3)]}
    >>> display = ComparisonDisplay.from_predictions(y_true, models, metric="hand_till")
    >>> display.axes_[0].get_xlabel()
    "Hand & Till's M, 95% intervals"
    """

    axes_: list[Axes]

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, models: Any, *, ax: Sequence[Axes] | None = None, level: float = 0.95, **options: Any
    ) -> Self:
        """Compare the models and draw the comparison. `options` are those of `multiauc.compare`."""
        from multiauc import compare  # noqa: PLC0415

        return cls(compare(y_true, models, **options)).plot(ax, level=level)

    def plot(self, ax: Sequence[Axes] | None = None, *, level: float = 0.95, **points: Any) -> Self:
        """Draw estimates and differences side by side; see `multiauc.Comparison.plot`."""
        estimates = self.comparison.estimates
        names = [plain_text(name) for name in names_as_text(estimates)]
        differences = self._shown_differences(names, level)
        axes = _two_axes(ax, max(len(estimates), len(differences)))
        name = METRICS[self.comparison.metric].title
        for k, estimate in enumerate(estimates.values()):
            colour, marker = COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)]
            style = {"color": colour, "marker": marker} | points
            _draw(axes[0], k, estimate.value, _limits(estimate, level), style)
        _finish(axes[0], names, f"{name}, {100 * level:g}% intervals")
        axes[1].axvline(0, color="0.6", linestyle=":", linewidth=1, zorder=1)
        for k, (value, limits) in enumerate(differences.values()):
            _draw(axes[1], k, value, limits, {"color": "black", "marker": "o"} | points)
        joint = f", {100 * level:g}% intervals{' together' if len(estimates) > 2 else ''}"
        _finish(axes[1], list(differences), f"differences{joint if self.comparison.differences else ''}")
        self.axes_ = axes
        self._drawn_on(axes[0])
        return self

    def _shown_differences(self, names: list[str], level: float) -> dict[str, tuple[float, tuple[float, float]]]:
        """The differences of all pairs of models; of many models, the best less each of the others.

        With limits that hold for all pairs together; without, where the metric has no closed form.
        """
        values = [estimate.value for estimate in self.comparison.estimates.values()]
        corrected = list(self.comparison.simultaneous_intervals(level).values()) if self.comparison.differences else []
        best = max(range(len(values)), key=lambda k: (not math.isnan(values[k]), values[k]))
        shown = {}
        for place, (i, j) in enumerate(combinations(range(len(values)), 2)):
            low, high = corrected[place] if corrected else (math.nan, math.nan)
            if len(values) > ALL_PAIRS_UP_TO and best not in (i, j):
                continue
            if len(values) > ALL_PAIRS_UP_TO and j == best:
                shown[f"{names[j]} - {names[i]}"] = values[j] - values[i], (-high, -low)
            else:
                shown[f"{names[i]} - {names[j]}"] = values[i] - values[j], (low, high)
        return shown


def _two_axes(ax: Sequence[Axes] | None, rows: int) -> list[Axes]:
    if ax is None:
        return new_axes(2, (10.0, min(TALLEST_INCHES, 1.3 + ROW_INCHES * rows)))
    return two_axes(ax, "for the estimates and for their differences")


def _limits(estimate: Estimate, level: float) -> tuple[float, float]:
    with warnings.catch_warnings():
        # A dot without a bar shows that there is no interval.
        warnings.simplefilter("ignore", RuntimeWarning)
        return estimate.confidence_interval(level)


def _draw(axes: Axes, row: int, value: float, limits: tuple[float, float], style: dict[str, Any]) -> None:
    axes.plot(limits, [row, row], color=style["color"], linewidth=1.8, solid_capstyle="butt", zorder=2)
    axes.plot([value], [row], linestyle="none", zorder=3, **style)


def _finish(axes: Axes, names: list[str], title: str) -> None:
    size = max(4.5, min(10.0, 72 * 0.8 * TALLEST_INCHES / len(names)))
    axes.set_yticks(range(len(names)), names, fontsize=size)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlabel(title)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)
