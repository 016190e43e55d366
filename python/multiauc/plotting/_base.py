"""What plots share: how they are made from predictions, their axes, colours, text, and the frame of curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from multiauc._common.hints import needs
from multiauc._common.wording import describe_type, shown_name
from multiauc._input.sample import find_response

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

    from matplotlib.axes import Axes
    from matplotlib.collections import Collection
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.transforms import Bbox
    from numpy.typing import ArrayLike, NDArray

#: Keywords for matplotlib.
Style: TypeAlias = dict[str, Any]

# Okabe and Ito's colours, which differ for every kind of colour vision, in an order whose neighbours also differ in
# grey. Yellow is left out: it is too pale for a line on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
DASHES: tuple[Any, ...] = ("-", "--", "-.", (0, (1, 1)), (0, (5, 1, 1, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

#: How a figure that was made here is found again: such a figure may be widened.
OWN_FIGURE = "multiauc figure"

#: Places, and lower and upper limits there.
Band: TypeAlias = "tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]"

ROC_INCHES = 5.2
LEGEND_SIZES = ("medium", "small", "x-small")
# Where the zoom may stand, in parts of the axes (left, bottom, width, height), and what its numbers and title take.
ZOOM_PLACES = ((0.36, 0.3, 0.58, 0.58), (0.46, 0.3, 0.48, 0.42))
ZOOM_LEFT, ZOOM_BELOW, ZOOM_ABOVE = 0.1, 0.07, 0.07

# Curves whose bend is nearer to the corner than this are squeezed; the zoom shows this many times that distance.
SQUEEZED = 0.1
ZOOM_ROUND_BEND = 4.0
ZOOMS = tuple(base * 10.0**-power for power in range(1, 6) for base in (4, 2, 1))
# The limits of a multi-class ROC curve are known at steps of 0.01: a closer zoom would draw them where they are not.
BAND_FROM_ZOOM = 0.1
# How the parts that plots on shared axes add to are found again.
CHANCE = "multiauc chance line"
CURVE = "multiauc curve"
OTHER_CURVE = "multiauc curve behind the others"
BAND = "multiauc band"
FINE_BAND = "multiauc band known at all false-positive rates"
ZOOM = "multiauc zoom"


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
        shown = cls._pop_plot_options(options)
        return cls._of_predictions(y_true, y_score, **options).plot(ax, **shown)

    @classmethod
    def _of_predictions(cls, y_true: Any, y_score: Any, **options: Any) -> Self:
        return cls(cls._compute(y_true, y_score, **options))

    @classmethod
    def _pop_plot_options(cls, options: Style) -> Style:
        return {name: options.pop(name) for name in cls._plot_options if name in options}

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Axes | None = None, **options: Any) -> Self:  # noqa: N803
        """The same for the predictions of a fitted scikit-learn classifier; `options` as in `from_predictions`."""
        options.setdefault("labels", estimator.classes_)
        return cls.from_predictions(y, predict_scores(estimator, X), ax=ax, **options)


def predict_folds(cv_results: Any, data: Any, y: Any, sample_weight: Any) -> Iterator[tuple[Any, Any, dict[str, Any]]]:
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
        yield _safe_indexing(y, test), predict_scores(estimator, _safe_indexing(data, test)), options


def predict_scores(estimator: Any, X: Any) -> Any:  # noqa: N803 - scikit-learn's name
    """`predict_proba`, or `decision_function` where there is none."""
    return getattr(estimator, find_response(estimator, "estimator"))(X)


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
    with needs("plotting needs matplotlib", "matplotlib"):
        from matplotlib import pyplot as plt  # noqa: PLC0415
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


def roc_axes(ax: Axes | None, x: str = "false-positive rate", y: str = "true-positive rate") -> Axes:
    """Axes with the frame of ROC curves: the diagonal and equal scales."""
    look: Style = {"xlim": (-0.01, 1.01), "ylim": (-0.01, 1.01), "xlabel": x, "ylabel": y, "aspect": "equal"}
    return curve_axes(ax, (ROC_INCHES, ROC_INCHES), ([0, 1], [0, 1]), look, gid=CHANCE)


def curve_axes(
    ax: Axes | None, inches: tuple[float, float], chance: tuple[ArrayLike, ArrayLike], look: Style, **line: Any
) -> Axes:
    """Axes for curves of one kind, which others of it may share: the dotted line of chance, its `gid` in `line`."""
    axes = axes_or_new(ax, inches)
    if not any(drawn.get_gid() == line["gid"] for drawn in axes.lines):
        axes.plot(*chance, color="0.6", linestyle=":", linewidth=1, zorder=1, **line)
        set_styles(axes)
        axes.set(**look)
        axes.spines[["top", "right"]].set_visible(False)
    return axes


def set_styles(axes: Axes) -> None:
    """Let the next lines differ in colour and in dashes."""
    from cycler import cycler  # noqa: PLC0415

    dashes = [DASHES[(k + k // len(COLOURS)) % len(DASHES)] for k in range(len(COLOURS) * len(DASHES))]
    axes.set_prop_cycle(cycler(color=list(COLOURS) * len(DASHES)) + cycler(linestyle=dashes))


def curve_name(positive: Hashable, negative: Hashable | None, about: str) -> str:
    """What the legend says of the curve of a class, or of a pair of classes."""
    against = "" if negative is None else f" from {shown_name(negative)}"
    return legend_text(f"{shown_name(positive)}{against} ({about})")


def area_name(label: str | None, symbol: str, about: str) -> str:
    """What the legend says of a curve that may have a label."""
    area = f"{symbol} = {about}"
    return area if label is None else legend_text(f"{label} ({area})")


def draw_curve(axes: Axes, x: NDArray[np.float64], y: NDArray[np.float64], name: str, line: Style) -> Line2D:
    """A curve that the legend names; `line` is what the caller wants otherwise."""
    style: Style = {"label": name, "zorder": 3, "gid": CURVE}
    (curve,) = axes.plot(x, y, **style | line)
    return curve


def draw_behind(axes: Axes, x: ArrayLike, y: ArrayLike, style: Style) -> Line2D:
    """A thin line behind the curves, which the zoom shows too."""
    behind: Style = {"linestyle": "-", "zorder": 2, "gid": OTHER_CURVE}
    (line,) = axes.plot(x, y, **behind | style)
    return line


def shade_band(axes: Axes, band: Band | None, *, curve: Line2D, **style: Any) -> Collection | None:
    """The band of a curve, if it has one, in its colour; `style` is what is wanted otherwise."""
    if band is None:
        return None
    look: Style = {"color": curve.get_color(), "alpha": 0.2, "linewidth": 0, "zorder": 2, "gid": BAND}
    return axes.fill_between(*band, **look | style)


def finish_roc(axes: Axes) -> Axes:
    """Enlarge the corner that curves are squeezed into, and put the legend where it covers nothing."""
    curves = [line for line in axes.lines if line.get_gid() in (CURVE, OTHER_CURVE)]
    bands = [part for part in axes.collections if part.get_gid() in (BAND, FINE_BAND)]
    for old in [part for part in [*axes.child_axes, *axes.patches] if part.get_gid() == ZOOM]:
        old.remove()
    named = [line for line in curves if line.get_gid() == CURVE]
    zoom = zoom_of((np.asarray(line.get_xdata()), np.asarray(line.get_ydata())) for line in named)
    place = None if zoom is None else _free_place(axes, [*curves, *bands])
    if zoom is not None and place is not None:
        _draw_zoom(axes, place, curves, zoom)
    _place_legend(axes, [*curves, *bands])
    return axes


def zoom_of(curves: Iterable[tuple[ArrayLike, ArrayLike]]) -> float | None:
    """The side of the corner to enlarge, if any of the curves (fpr, tpr) is squeezed into it."""
    found = (_find_bend(np.asarray(fpr), np.asarray(tpr)) for fpr, tpr in curves)
    bends = [bend for bend in found if 0.0 < bend <= SQUEEZED]
    if not bends:
        return None
    return min((zoom for zoom in ZOOMS if zoom >= ZOOM_ROUND_BEND * max(bends)), default=ZOOMS[0])


def _find_bend(fpr: NDArray[np.float64], tpr: NDArray[np.float64]) -> float:
    """How far from the corner (0, 1) a curve meets the falling diagonal, along either axis."""
    sums = np.concatenate([[0.0], fpr + tpr])
    return float(np.interp(1.0, sums, np.concatenate([[0.0], fpr]), right=1.0))


def _free_place(axes: Axes, drawn: list[Line2D | Collection]) -> tuple[float, float, float, float] | None:
    """The first place for a zoom that nothing passes through."""
    from matplotlib.transforms import Bbox  # noqa: PLC0415

    for left, bottom, width, height in ZOOM_PLACES:
        around = [[left - ZOOM_LEFT, bottom - ZOOM_BELOW], [left + width, bottom + height + ZOOM_ABOVE]]
        box = Bbox(axes.transAxes.transform(around))
        if not any(_crosses(part, box) for part in drawn):
            return left, bottom, width, height
    return None


def _draw_zoom(axes: Axes, place: tuple[float, float, float, float], curves: list[Line2D], zoom: float) -> None:
    from matplotlib.artist import getp  # noqa: PLC0415
    from matplotlib.collections import PolyCollection  # noqa: PLC0415
    from matplotlib.patches import Rectangle  # noqa: PLC0415

    inset = axes.inset_axes(place, gid=ZOOM)
    for line in curves:
        look = {name: getp(line, name) for name in ("color", "linestyle", "linewidth", "alpha", "zorder")}
        inset.plot(*line.get_data(), **look)
    shown = (BAND, FINE_BAND) if zoom >= BAND_FROM_ZOOM else (FINE_BAND,)
    for band in (part for part in axes.collections if part.get_gid() in shown):
        corners = [path.vertices for path in band.get_paths()]
        inset.add_collection(
            PolyCollection(corners, facecolor=band.get_facecolor(), linewidth=0, zorder=band.get_zorder())
        )
    inset.set(xlim=(0, zoom), ylim=(1 - zoom, 1 + 0.01 * zoom))
    inset.set_xticks(np.linspace(0, zoom, 3))
    inset.set_yticks(1 - np.linspace(zoom, 0, 3))
    inset.tick_params(labelsize="small")
    inset.set_title("upper left corner", fontsize="small")
    axes.add_patch(Rectangle((0, 1 - zoom), zoom, zoom, fill=False, edgecolor="0.5", linewidth=0.8, gid=ZOOM))


def _place_legend(axes: Axes, drawn: list[Line2D | Collection]) -> None:
    """In the empty lower right corner, or beside the axes where a curve or the zoom would be under it."""
    figure: Any = axes.get_figure(root=True)
    for size in LEGEND_SIZES:
        legend = axes.legend(loc="lower right", frameon=False, fontsize=size)
        # Lays the figure out: positions are then those of the finished plot.
        figure.draw_without_rendering()
        box, inside = legend.get_window_extent(), axes.get_window_extent()
        fits = inside.x0 <= box.x0 and box.y1 <= inside.y1
        if fits and not _covers(axes, box, drawn):
            return
    if figure.get_layout_engine() is None:
        # Beside the axes it might be cut off.
        axes.legend(loc="best", fontsize=LEGEND_SIZES[-1], framealpha=0.9)
        return
    legend = axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=LEGEND_SIZES[1])
    if figure.get_gid() == OWN_FIGURE:
        wanted = ROC_INCHES + legend.get_window_extent().width / figure.dpi
        figure.set_figwidth(max(figure.get_figwidth(), wanted))
    # Axes of equal scales settle in their second layout.
    figure.draw_without_rendering()


def _covers(axes: Axes, box: Bbox, drawn: list[Line2D | Collection]) -> bool:
    """Whether the box, in pixels, lies over the zoom or over anything that was drawn."""
    zooms = [part.get_window_extent() for part in axes.child_axes if part.get_gid() == ZOOM]
    below = ZOOM_BELOW * axes.get_window_extent().height
    if any(zoom.x0 < box.x1 and box.y1 > zoom.y0 - below for zoom in zooms):
        return True
    return any(_crosses(part, box) for part in drawn)


def _crosses(part: Line2D | Collection, box: Bbox) -> bool:
    from matplotlib.lines import Line2D  # noqa: PLC0415

    if isinstance(part, Line2D):
        return part.get_path().transformed(part.get_transform()).intersects_bbox(box, filled=False)
    return any(path.transformed(part.get_transform()).intersects_bbox(box) for path in part.get_paths())
