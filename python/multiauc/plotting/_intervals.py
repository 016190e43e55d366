"""Plots of values with their intervals, one below the other: a model's metrics, a comparison, slices."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Any, Self

from multiauc._common.registry import METRICS
from multiauc._common.wording import corrected_p, decimals, names_as_text
from multiauc._evaluation.evaluation import evaluate
from multiauc._evaluation.slices import evaluate_slices
from multiauc._input.options import positive_integer
from multiauc.plotting._axes import (
    COLOURS,
    MARKERS,
    Display,
    PredictionsDisplay,
    axes_or_new,
    check_two_axes,
    draw_interval,
    finish_rows,
    limits_without_warning,
    new_axes,
    plain_text,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from multiauc._evaluation.comparison import Comparison
    from multiauc._evaluation.evaluation import Evaluation
    from multiauc._evaluation.slices import Slices
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


class EvaluationDisplay(PredictionsDisplay):
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

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation = evaluation

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, y_score: ArrayLike, *, ax: Axes | None = None, level: float = 0.95, **options: Any
    ) -> Self:
        """Evaluate the scores and draw the result. `options` are those of `multiauc.evaluate`."""
        return cls(evaluate(y_true, y_score, **options)).plot(ax, level=level)

    def plot(self, ax: Axes | None = None, *, level: float = 0.95, **points: Any) -> Self:
        """Draw the estimates, each in a row of its own; see `multiauc.Evaluation.plot`."""
        metrics = {METRICS[name].title: estimate for name, estimate in self.evaluation.metrics.items()}
        classes, note = self._classes()
        axes = axes_or_new(ax, (7.0, 1.3 + 0.34 * (len(metrics) + len(classes))))
        for row, estimate in enumerate([*metrics.values(), *classes.values()]):
            style = {"color": COLOURS[0] if row < len(metrics) else "black", "marker": "o"} | points
            draw_interval(axes, row, estimate.value, limits_without_warning(estimate, level), style)
        if classes:
            axes.axhline(len(metrics) - 0.5, color="0.6", linewidth=0.8)
        finish_rows(axes, [plain_text(name) for name in [*metrics, *classes]], f"{100 * level:g}% intervals{note}")
        return self._set_axes(axes)

    def _classes(self) -> tuple[dict[str, Estimate], str]:
        """The classes against the rest by name, and what to say about them."""
        per_class = getattr(self.evaluation, "per_class", {})  # not every evaluation has it
        named = dict(zip(names_as_text(per_class), per_class.values(), strict=True))
        if not named:
            return {}, ""
        if len(named) <= CLASSES_AT_MOST:
            return named, "; below the line each class against the rest"
        known = [name for name in named if not math.isnan(named[name].value)]
        worst = sorted(known, key=lambda name: named[name].value)[:CLASSES_AT_MOST]
        return {
            name: named[name] for name in worst
        }, f"; below the line the {len(worst)} lowest of {len(named)} classes"


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
        tall = min(TALLEST_INCHES, 1.3 + ROW_INCHES * max(len(estimates), len(differences)))
        both = "for the estimates and for their differences"
        axes = new_axes(2, (10.0, tall)) if ax is None else check_two_axes(ax, both)
        name = METRICS[self.comparison.metric].title
        for k, estimate in enumerate(estimates.values()):
            colour, marker = COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)]
            style = {"color": colour, "marker": marker} | points
            draw_interval(axes[0], k, estimate.value, limits_without_warning(estimate, level), style)
        finish_rows(axes[0], names, f"{name}, {100 * level:g}% intervals", fontsize=_fit_names(names))
        axes[1].axvline(0, color="0.6", linestyle=":", linewidth=1, zorder=1)
        for k, (value, limits) in enumerate(differences.values()):
            draw_interval(axes[1], k, value, limits, {"color": "black", "marker": "o"} | points)
        joint = f", {100 * level:g}% intervals{' together' if len(estimates) > 2 else ''}"
        title = f"differences{joint if self.comparison.differences else ''}"
        finish_rows(axes[1], list(differences), title, fontsize=_fit_names(differences))
        self.axes_ = axes
        return self._set_axes(axes[0])

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


def _fit_names(names: Collection[str]) -> float:
    """The size of the names of rows, smaller where there are many."""
    return max(4.5, min(10.0, 72 * 0.8 * TALLEST_INCHES / len(names)))


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
        axes = axes_or_new(ax, (7.5, 1.2 + SLICE_INCHES * count))
        limits = list(slices.confidence_intervals(level).values())
        worse, better = set(slices.worse(level)), set(slices.better(level))
        beside = axes.get_yaxis_transform()
        for row, name in enumerate(slices.names[:count]):
            colour, marker = (
                (COLOURS[1], "v") if name in worse else (COLOURS[0], "^") if name in better else (OTHER_COLOUR, "o")
            )
            style = {"color": colour, "marker": marker} | points
            draw_interval(axes, row, slices.values[row], limits[row], style)
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
        return self._set_axes(axes)

    def _finish(self, axes: Axes, count: int, level: float) -> None:
        slices = self.slices
        overall = slices.overall.value
        if not math.isnan(overall):
            axes.axvline(overall, color="0.6", linestyle=":", linewidth=1, zorder=1)
        beside = axes.get_yaxis_transform()
        axes.text(ROWS_AT, -1, "rows", transform=beside, va="center", ha="right", fontsize="small", color="0.4")
        if slices.reference is not None:
            axes.text(P_AT, -1, "corr. p", transform=beside, va="center", ha="right", fontsize="small", color="0.4")
        some = f"; {count} of {len(slices)} slices" if count < len(slices) else ""
        title = METRICS[slices.metric].title
        xlabel = f"{title}, {100 * level:g}% intervals; all rows {decimals(overall)}{some}"
        finish_rows(axes, [plain_text(name) for name in slices.shown_names()[:count]], xlabel, top=-1.5)


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
