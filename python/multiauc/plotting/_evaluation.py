"""Pictures of one model's numbers."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any, Self

from multiauc._common.registry import METRICS
from multiauc._common.wording import names_as_text
from multiauc._evaluation.evaluation import evaluate
from multiauc.plotting._axes import COLOURS, Display, axes_or_new, plain_text
from multiauc.plotting._estimators import scores_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from multiauc._evaluation.evaluation import Evaluation
    from multiauc._inference.estimates import Estimate

# Of more classes only those with the lowest values are drawn.
CLASSES_AT_MOST = 30


class EvaluationDisplay(Display):
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

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Axes | None = None, **options: Any) -> Self:  # noqa: N803
        """The same for the predictions of a fitted scikit-learn classifier."""
        options.setdefault("labels", estimator.classes_)
        return cls.from_predictions(y, scores_of(estimator, X), ax=ax, **options)

    def plot(self, ax: Axes | None = None, *, level: float = 0.95, **points: Any) -> Self:
        """Draw the estimates, each in a row of its own; see `multiauc.Evaluation.plot`."""
        metrics = {METRICS[name].title: estimate for name, estimate in self.evaluation.metrics.items()}
        classes, note = self._classes()
        axes = axes_or_new(ax, (7.0, 1.3 + 0.34 * (len(metrics) + len(classes))))
        for row, estimate in enumerate([*metrics.values(), *classes.values()]):
            style = {"color": COLOURS[0] if row < len(metrics) else "black", "marker": "o"} | points
            _draw(axes, row, estimate, level, style)
        if classes:
            axes.axhline(len(metrics) - 0.5, color="0.6", linewidth=0.8)
        names = [plain_text(name) for name in [*metrics, *classes]]
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_xlabel(f"{100 * level:g}% intervals{note}")
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", color="0.9", linewidth=0.8)
        axes.set_axisbelow(True)
        self._drawn_on(axes)
        return self

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


def _draw(axes: Axes, row: int, estimate: Estimate, level: float, style: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        # A dot without a bar shows that there is no interval.
        warnings.simplefilter("ignore", RuntimeWarning)
        limits = estimate.confidence_interval(level)
    axes.plot(limits, [row, row], color=style["color"], linewidth=1.8, solid_capstyle="butt", zorder=2)
    axes.plot([estimate.value], [row], linestyle="none", zorder=3, **style)
