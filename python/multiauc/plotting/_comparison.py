"""Pictures of model comparisons."""

from __future__ import annotations

import math
import warnings
from itertools import combinations
from typing import TYPE_CHECKING, Any, Self

from multiauc._registry import METRICS
from multiauc._wording import names_as_text
from multiauc.differences import Difference
from multiauc.plotting._axes import COLOURS, MARKERS, Display, new_axes, plain_text, two_axes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from multiauc.comparison_results import Comparison
    from multiauc.estimates import Estimate

ROW_INCHES = 0.42


class ComparisonDisplay(Display):
    """The estimates of several models with their intervals, and the differences between every two.

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
        pairs = list(combinations(names, 2))
        axes = _two_axes(ax, max(len(estimates), len(pairs)))
        name = METRICS[self.comparison.metric].title
        for k, estimate in enumerate(estimates.values()):
            colour, marker = COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)]
            style = {"color": colour, "marker": marker} | points
            _draw(axes[0], k, estimate, level, style)
        _finish(axes[0], names, f"{name}, {100 * level:g}% intervals")
        axes[1].axvline(0, color="0.6", linestyle=":", linewidth=1, zorder=1)
        for k, difference in enumerate(self._differences()):
            _draw(axes[1], k, difference, level, {"color": "black", "marker": "o"} | points)
        _finish(axes[1], [f"{first} - {second}" for first, second in pairs], "differences")
        self.axes_ = axes
        self._drawn_on(axes[0])
        return self

    def _differences(self) -> Iterable[Difference]:
        """Of all pairs of models; those of a metric without a closed form have no intervals."""
        nan = math.nan
        return self.comparison.differences or (
            Difference(first.name, second.name, first.value - second.value, nan, nan)
            for first, second in combinations(self.comparison.estimates.values(), 2)
        )


def _two_axes(ax: Sequence[Axes] | None, rows: int) -> list[Axes]:
    if ax is None:
        return new_axes(2, (10.0, 1.3 + ROW_INCHES * rows))
    return two_axes(ax, "for the estimates and for their differences")


def _draw(axes: Axes, row: int, found: Estimate | Difference, level: float, style: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        # A dot without a bar shows that there is no interval.
        warnings.simplefilter("ignore", RuntimeWarning)
        limits = found.confidence_interval(level)
    axes.plot(limits, [row, row], color=style["color"], linewidth=1.8, solid_capstyle="butt", zorder=2)
    axes.plot([found.value], [row], linestyle="none", zorder=3, **style)


def _finish(axes: Axes, names: list[str], title: str) -> None:
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlabel(title)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)
