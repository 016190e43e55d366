"""What all plots share: where they are drawn, colours and markers, text, and rows of intervals."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from multiauc._common.wording import described, shown_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from multiauc._inference.estimates import Estimate

#: Keywords for matplotlib.
Style: TypeAlias = dict[str, Any]

# Okabe and Ito's colours, which differ for every kind of colour vision, in an order whose neighbours also differ in
# grey. Yellow is left out: it is too pale for a line on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
DASHES: tuple[Any, ...] = ("-", "--", "-.", (0, (1, 1)), (0, (5, 1, 1, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

#: How a figure that was made here is found again: such a figure may be widened.
OWN_FIGURE = "multiauc figure"
RESPONSES = ("predict_proba", "decision_function")


class Display:
    """Where a plot was drawn: `ax_` and `figure_`, once it has been."""

    ax_: Axes
    figure_: Figure

    def _set_axes(self, axes: Axes) -> Self:
        self.ax_ = axes
        self.figure_ = axes.get_figure(root=True)  # type: ignore[assignment]  # axes on a figure always have one
        return self


class PredictionsDisplay(Display):
    """A display that can be made from predictions, or from a classifier and data."""

    @classmethod
    def from_predictions(cls, *arguments: Any, **options: Any) -> Self:
        """Compute what is shown, and draw it."""
        raise NotImplementedError

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Axes | None = None, **options: Any) -> Self:  # noqa: N803
        """The same for the predictions of a fitted scikit-learn classifier; `options` as in `from_predictions`."""
        options.setdefault("labels", estimator.classes_)
        return cls.from_predictions(y, _predict_scores(estimator, X), ax=ax, **options)


def _predict_scores(estimator: Any, X: Any) -> Any:  # noqa: N803 - scikit-learn's name
    """`predict_proba`, or `decision_function` where there is none."""
    for method in RESPONSES:
        if hasattr(estimator, method):
            return getattr(estimator, method)(X)
    raise TypeError(
        f"estimator must have predict_proba or decision_function; got {type(estimator).__name__} without either"
    )


def axes_or_new(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """The axes given, or those of a new figure of `size` inches."""
    return new_axes(1, size)[0] if ax is None else check_axes(ax)


def check_axes(ax: Any) -> Axes:
    """The axes, if they are what they should be."""
    if not hasattr(ax, "plot") or not hasattr(ax, "get_figure"):
        raise TypeError(f"ax must be one matplotlib Axes, or None for new ones; got {described(ax)}")
    axes: Axes = ax
    return axes


def check_two_axes(ax: Any, what: str) -> list[Axes]:
    """The two axes given, in any shape; `what` says what they are for."""
    if hasattr(ax, "get_figure") or not hasattr(ax, "__iter__"):
        raise TypeError(
            f"ax must be two axes, {what}; got {described(ax)}: pass those of plt.subplots(1, 2), or None for new ones"
        )
    axes = np.array(list(ax), dtype=object).ravel().tolist()
    if len(axes) != 2:
        raise ValueError(f"ax must be two axes, {what}; got {len(axes)}")
    return [check_axes(one) for one in axes]


def import_pyplot() -> Any:
    """Import pyplot, or say how to install it."""
    try:
        from matplotlib import pyplot as plt  # noqa: PLC0415
    except ImportError:
        raise ImportError("plotting needs matplotlib; install it with: pip install matplotlib") from None
    return plt


def new_axes(columns: int, size: tuple[float, float]) -> list[Axes]:
    """Axes side by side in a new figure of `size` inches."""
    plt = import_pyplot()
    from matplotlib.layout_engine import ConstrainedLayoutEngine  # noqa: PLC0415

    layout = ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1)
    figure, axes = plt.subplots(1, columns, squeeze=False, figsize=size, layout=layout)
    figure.set_gid(OWN_FIGURE)
    return list(axes[0])


def plain_text(label: object) -> str:
    """A label or name that is drawn as it reads: between two dollar signs matplotlib would see a formula."""
    return shown_name(label).replace("$", r"\$")


def legend_text(label: object) -> str:
    """The same for a legend, which leaves out whatever begins with an underscore."""
    text = plain_text(label)
    return f" {text}" if text.startswith("_") else text


def limits_without_warning(estimate: Estimate, level: float) -> tuple[float, float]:
    """The interval of an estimate; where there is none, a dot without a bar shows it, and no warning is needed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return estimate.confidence_interval(level)


def draw_interval(axes: Axes, row: int, value: float, limits: tuple[float, float], style: Style) -> None:
    """A bar from limit to limit, and a mark at the value."""
    axes.plot(limits, [row, row], color=style["color"], linewidth=1.8, solid_capstyle="butt", zorder=2)
    axes.plot([value], [row], linestyle="none", zorder=3, **style)


def finish_rows(
    axes: Axes, names: Sequence[str], xlabel: str, *, fontsize: float | None = None, top: float = -0.5
) -> None:
    """Name the rows of intervals, the first on top, and take away what is not needed."""
    axes.set_yticks(range(len(names)), names, fontsize=fontsize)
    axes.set_ylim(len(names) - 0.5, top)
    axes.set_xlabel(xlabel)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)
