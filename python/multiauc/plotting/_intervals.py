"""Plots of values with their intervals, one below the other: a model's metrics, a comparison, slices."""

from __future__ import annotations

import math
from itertools import combinations, repeat
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from multiauc._common import wording
from multiauc._common.registry import METRICS
from multiauc._evaluation.evaluation import Evaluation, evaluate
from multiauc._evaluation.slices import Slices, evaluate_slices
from multiauc._input.options import positive_integer
from multiauc.plotting import _base as base

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from multiauc._evaluation.comparison import Comparison
    from multiauc._inference.estimates import Estimate

# Of more classes only those with the lowest values are drawn.
CLASSES_AT_MOST = 30
# Of more models than this, only the differences from the best are drawn.
ALL_PAIRS_UP_TO = 4
ROW_INCHES = 0.42
TALLEST_INCHES = 8.0
SLICE_INCHES = 0.3
# Beside the axes, in parts of their width: rows and corrected p-values.
ROWS_AT, P_AT = 1.09, 1.24
OTHER_COLOUR = "0.35"


class IntervalsDisplay(base.Display):
    """Values with their intervals, a row each, the first on top."""

    @staticmethod
    def _draw_interval(axes: Axes, row: int, value: float, limits: tuple[float, float], style: base.Style) -> None:
        """A bar from limit to limit, and a mark at the value."""
        axes.plot(limits, [row, row], color=style["color"], linewidth=1.8, solid_capstyle="butt", zorder=2)
        axes.plot([value], [row], linestyle="none", zorder=3, **style)

    def _draw_estimate(self, axes: Axes, row: int, estimate: Estimate, level: float, style: base.Style) -> None:
        """The same for an estimate; a mark without a bar shows that it has no interval."""
        found = estimate.to_dict(level)
        self._draw_interval(axes, row, estimate.value, (found["low"], found["high"]), style)

    @staticmethod
    def _name_rows(
        axes: Axes, names: Sequence[str], xlabel: str, *, fontsize: float | None = None, top: float = -0.5
    ) -> None:
        """Name the rows, and take away what is not needed."""
        axes.set_yticks(range(len(names)), names, fontsize=fontsize)
        axes.set_ylim(len(names) - 0.5, top)
        axes.set_xlabel(xlabel)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", color="0.9", linewidth=0.8)
        axes.set_axisbelow(True)


class EvaluationDisplay(IntervalsDisplay, base.PredictionsDisplay):
    """The metrics of a model, and below them each class against the rest, with their intervals.

    Parameters
    ----------
    evaluation : Evaluation
        From `multiauc.evaluate`.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from multiauc.plotting import EvaluationDisplay
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(3, size=200)
    >>> display = EvaluationDisplay.from_predictions(y_true, np.eye(3)[y_true] + 2 * rng.random((200, 3)))
    >>> [label.get_text() for label in display.ax_.get_yticklabels()][-3:]
    ['0', '1', '2']
    """

    _compute = staticmethod(evaluate)
    _plot_options = ("level",)

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation = evaluation

    def plot(self, ax: Axes | None = None, *, level: float = 0.95, **points: Any) -> Self:
        """Draw the estimates, each in a row of its own; see `multiauc.Evaluation.plot`."""
        metrics = {METRICS[name].title: estimate for name, estimate in self.evaluation.metrics.items()}
        classes, note = self._classes()
        axes = base.axes_or_new(ax, (7.0, 1.3 + 0.34 * (len(metrics) + len(classes))))
        for row, estimate in enumerate([*metrics.values(), *classes.values()]):
            style = {"color": base.COLOURS[0] if row < len(metrics) else "black", "marker": "o"} | points
            self._draw_estimate(axes, row, estimate, level, style)
        if classes:
            axes.axhline(len(metrics) - 0.5, color="0.6", linewidth=0.8)
        names = [base.plain_text(name) for name in [*metrics, *classes]]
        self._name_rows(axes, names, f"{100 * level:g}% intervals{note}")
        return self._set_axes(axes)

    def _classes(self) -> tuple[dict[str, Estimate], str]:
        """The classes against the rest by name, and what to say about them."""
        per_class = getattr(self.evaluation, "per_class", {})  # not every evaluation has it
        named = dict(zip(wording.names_as_text(per_class), per_class.values(), strict=True))
        if not named:
            return {}, ""
        if len(named) <= CLASSES_AT_MOST:
            return named, "; below the line each class against the rest"
        known = [name for name in named if not math.isnan(named[name].value)]
        worst = sorted(known, key=lambda name: named[name].value)[:CLASSES_AT_MOST]
        note = f"; below the line the {len(worst)} lowest of {len(named)} classes"
        return {name: named[name] for name in worst}, note


class ComparisonDisplay(IntervalsDisplay):
    """The estimates of several models with their intervals, and the differences between every two.

    The intervals of differences are simultaneous. With more than four models, only the differences from the best model
    are drawn.

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
        names = [base.plain_text(name) for name in wording.names_as_text(estimates)]
        differences = self._shown_differences(names, level)
        tall = min(TALLEST_INCHES, 1.3 + ROW_INCHES * max(len(estimates), len(differences)))
        axes = base.new_axes(2, (10.0, tall)) if ax is None else self._check_axes(ax)
        name = METRICS[self.comparison.metric].title
        for k, estimate in enumerate(estimates.values()):
            colour, marker = base.COLOURS[k % len(base.COLOURS)], base.MARKERS[k % len(base.MARKERS)]
            self._draw_estimate(axes[0], k, estimate, level, {"color": colour, "marker": marker} | points)
        self._name_rows(axes[0], names, f"{name}, {100 * level:g}% intervals", fontsize=_fit_names(names))
        axes[1].axvline(0, color="0.6", linestyle=":", linewidth=1, zorder=1)
        for k, (value, limits) in enumerate(differences.values()):
            self._draw_interval(axes[1], k, value, limits, {"color": "black", "marker": "o"} | points)
        joint = f", {100 * level:g}% intervals{' together' if len(estimates) > 2 else ''}"
        title = f"differences{joint if self.comparison.differences else ''}"
        self._name_rows(axes[1], list(differences), title, fontsize=_fit_names(differences))
        self.axes_ = axes
        return self._set_axes(axes[0])

    @staticmethod
    def _check_axes(ax: Any) -> list[Axes]:
        """The two axes given, in any shape."""
        wanted = "ax must be two axes, for the estimates and for their differences"
        if hasattr(ax, "get_figure") or not hasattr(ax, "__iter__"):
            given = wording.describe_type(ax)
            raise TypeError(f"{wanted}; got {given}: pass those of plt.subplots(1, 2), or None for new ones")
        axes = np.array(list(ax), dtype=object).ravel().tolist()
        if len(axes) != 2:
            raise ValueError(f"{wanted}; got {len(axes)}")
        return [base.check_axes(one) for one in axes]

    def _shown_differences(self, names: list[str], level: float) -> dict[str, tuple[float, tuple[float, float]]]:
        """The differences of all pairs of models; of many models, the best less each of the others.

        With limits simultaneous over all pairs together; without, where the metric has no analytic standard error.
        """
        values = [estimate.value for estimate in self.comparison.estimates.values()]
        limits: Iterable[tuple[float, float]] = repeat((math.nan, math.nan))
        if self.comparison.differences:
            limits = self.comparison.simultaneous_intervals(level).values()
        best = max(range(len(values)), key=lambda k: (not math.isnan(values[k]), values[k]))
        shown = {}
        for (i, j), (low, high) in zip(combinations(range(len(values)), 2), limits, strict=False):
            if len(values) <= ALL_PAIRS_UP_TO or i == best:
                shown[f"{names[i]} - {names[j]}"] = values[i] - values[j], (low, high)
            elif j == best:
                shown[f"{names[j]} - {names[i]}"] = values[j] - values[i], (-high, -low)
        return shown


def _fit_names(names: Collection[str]) -> float:
    """The size of the names of rows, smaller where there are many."""
    return max(4.5, min(10.0, 72 * 0.8 * TALLEST_INCHES / len(names)))


class SlicesDisplay(IntervalsDisplay):
    """Slices with the intervals of their values, one below the other, and a line at the value of all rows.

    Slices that differ significantly from their reference, by corrected p-values, are coloured and marked: a triangle
    down for worse, up for better.

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
        cls, y_true: Any, y_score: Any, by: Any, *, ax: Axes | None = None, level: float = 0.95, **options: Any
    ) -> Self:
        """Evaluate the slices and draw them. `options` are those of `multiauc.evaluate_slices`."""
        return cls(evaluate_slices(y_true, y_score, by, **options)).plot(ax, level=level)

    def plot(self, ax: Axes | None = None, *, level: float = 0.95, at_most: int = 40, **points: Any) -> Self:
        """Draw the slices, sorted by the evidence that they are worse; see `multiauc.Slices.plot`."""
        slices, count = self.slices, min(positive_integer("at_most", at_most), len(self.slices))
        overall = slices.overall.value
        axes = base.axes_or_new(ax, (7.5, 1.2 + SLICE_INCHES * count))
        limits = list(slices.confidence_intervals(level).values())
        worse, better = set(slices.worse(level)), set(slices.better(level))
        for row, name in enumerate(slices.names[:count]):
            colour, marker = OTHER_COLOUR, "o"
            if name in worse or name in better:
                colour, marker = (base.COLOURS[1], "v") if name in worse else (base.COLOURS[0], "^")
            style = {"color": colour, "marker": marker} | points
            self._draw_interval(axes, row, slices.values[row], limits[row], style)
            if math.isnan(slices.values[row]):
                # Listed, not hidden: the reason stands where the interval would.
                reason = slices.reasons[row]
                reason = reason if len(reason) <= 60 else reason[:57] + "..."
                look = {"fontsize": "x-small", "style": "italic"}
                self._write(axes, 0.02, row, base.plain_text(reason), color="0.4", ha="left", **look)
            self._write(axes, ROWS_AT, row, f"{slices.rows[row]:,}")
            if slices.reference is not None:
                self._write(axes, P_AT, row, wording.corrected_p(float(slices.corrected_p_values[row])))
        if not math.isnan(overall):
            axes.axvline(overall, color="0.6", linestyle=":", linewidth=1, zorder=1)
        self._write(axes, ROWS_AT, -1, "rows", color="0.4")
        if slices.reference is not None:
            self._write(axes, P_AT, -1, "corr. p", color="0.4")
        some = f"; {count} of {len(slices)} slices" if count < len(slices) else ""
        title = METRICS[slices.metric].title
        xlabel = f"{title}, {100 * level:g}% intervals; all rows {wording.decimals(overall)}{some}"
        self._name_rows(axes, [base.plain_text(name) for name in slices.shown_names()[:count]], xlabel, top=-1.5)
        return self._set_axes(axes)

    @staticmethod
    def _write(axes: Axes, x: float, row: float, text: str, **style: Any) -> None:
        """A text in a row, at a place in parts of the width of the axes."""
        look = {"va": "center", "ha": "right", "fontsize": "small"} | style
        axes.text(x, row, text, transform=axes.get_yaxis_transform(), **look)
