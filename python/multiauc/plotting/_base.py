"""What all plots share: where they are drawn, how they are made from predictions, colours and markers, text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, TypeAlias

from multiauc._common.wording import describe_type, shown_name
from multiauc._input.sample import SCORING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Keywords for matplotlib.
Style: TypeAlias = dict[str, Any]

# Okabe and Ito's colours, which differ for every kind of colour vision, in an order whose neighbours also differ in
# grey. Yellow is left out: it is too pale for a line on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
DASHES: tuple[Any, ...] = ("-", "--", "-.", (0, (1, 1)), (0, (5, 1, 1, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

#: How a figure that was made here is found again: such a figure may be widened.
OWN_FIGURE = "multiauc figure"


class Display:
    """A plot, with `ax_` and `figure_` once it is drawn."""

    ax_: Axes
    figure_: Figure

    def _set_axes(self, axes: Axes) -> Self:
        self.ax_ = axes
        self.figure_ = axes.get_figure(root=True)  # type: ignore[assignment]  # axes on a figure always have one
        return self


class PredictionsDisplay(Display):
    """A display of what a function computes from predictions: made from these, or from a classifier and data."""

    #: The function, and those options that `plot` takes.
    _compute: Callable[..., Any]
    _plot_options: tuple[str, ...] = ()

    def __init__(self, result: Any) -> None:
        raise NotImplementedError

    def plot(self, ax: Axes | None = None, **options: Any) -> Self:
        """Draw it."""
        raise NotImplementedError

    @classmethod
    def from_predictions(cls, y_true: Any, y_score: Any, *, ax: Axes | None = None, **options: Any) -> Self:
        """Compute what is shown, and draw it; `options` are those of the function that computes it, and of `plot`."""
        shown = {name: options.pop(name) for name in cls._plot_options if name in options}
        return cls(cls._compute(y_true, y_score, **options)).plot(ax, **shown)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Axes | None = None, **options: Any) -> Self:  # noqa: N803
        """The same for the predictions of a fitted scikit-learn classifier; `options` as in `from_predictions`."""
        options.setdefault("labels", estimator.classes_)
        return cls.from_predictions(y, predict_scores(estimator, X), ax=ax, **options)


def predict_folds(
    cv_results: Any,
    X: Any,  # noqa: N803 - scikit-learn's name
    y: Any,
    sample_weight: Any,
) -> Iterator[tuple[Any, Any, dict[str, Any]]]:
    """(labels of the test rows, scores, options) of each fold of scikit-learn's ``cross_validate``."""
    missing = [name for name in ("estimator", "indices") if name not in cv_results]
    if missing:
        raise ValueError(
            f"cv_results has no {' and no '.join(map(repr, missing))}; call cross_validate with return_estimator=True "
            "and return_indices=True"
        )
    from sklearn.utils import _safe_indexing  # noqa: PLC0415 - takes rows of whatever cross_validate takes

    for estimator, test in zip(cv_results["estimator"], cv_results["indices"]["test"], strict=True):
        weights = None if sample_weight is None else _safe_indexing(sample_weight, test)
        options = {"labels": estimator.classes_, "absent": "ignore", "sample_weight": weights}
        yield _safe_indexing(y, test), predict_scores(estimator, _safe_indexing(X, test)), options


def predict_scores(estimator: Any, X: Any) -> Any:  # noqa: N803 - scikit-learn's name
    """`predict_proba`, or `decision_function` where there is none."""
    for method in SCORING:
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
        raise TypeError(f"ax must be one matplotlib Axes, or None for new ones; got {describe_type(ax)}")
    axes: Axes = ax
    return axes


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
