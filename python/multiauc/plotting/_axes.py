"""What all pictures share: axes, colours, the frame of ROC curves with its legend and its zoom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc._common.wording import described, shown_name
from multiauc.plotting._zoom import BAND_FROM_ZOOM, zoom_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import Collection
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D
    from matplotlib.transforms import Bbox

# Okabe and Ito's colours, which differ for every kind of colour vision, in an order whose neighbours also differ in
# grey. Yellow is left out: it is too pale for a line on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
DASHES: tuple[Any, ...] = ("-", "--", "-.", (0, (1, 1)), (0, (5, 1, 1, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

ROC_INCHES = 5.2
LEGEND_SIZES = ("medium", "small", "x-small")
# Where the zoom may stand, in parts of the axes (left, bottom, width, height), and what its numbers and title take.
ZOOM_PLACES = ((0.36, 0.3, 0.58, 0.58), (0.46, 0.3, 0.48, 0.42))
ZOOM_LEFT, ZOOM_BELOW, ZOOM_ABOVE = 0.1, 0.07, 0.07

# How the parts that pictures on shared axes add to are found again.
CHANCE = "multiauc chance line"
CURVE = "multiauc curve"
OTHER_CURVE = "multiauc curve behind the others"
BAND = "multiauc band"
FINE_BAND = "multiauc band known at all false-positive rates"
ZOOM = "multiauc zoom"
OWN_FIGURE = "multiauc figure"


class Display:
    """Where a picture was drawn: `ax_` and `figure_`, once it has been."""

    ax_: Axes
    figure_: Figure

    def _drawn_on(self, axes: Axes) -> None:
        self.ax_ = axes
        self.figure_ = axes.get_figure(root=True)  # type: ignore[assignment]  # axes on a figure always have one


def axes_or_new(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """The axes given, or those of a new figure of `size` inches."""
    return new_axes(1, size)[0] if ax is None else check_axes(ax)


def check_axes(ax: Any) -> Axes:
    """The axes, if they are what they should be."""
    if not hasattr(ax, "plot") or not hasattr(ax, "get_figure"):
        raise TypeError(f"ax must be one matplotlib Axes, or None for new ones; got {described(ax)}")
    axes: Axes = ax
    return axes


def two_axes(ax: Any, what: str) -> list[Axes]:
    """The two axes given, in any shape; `what` says what they are for."""
    if hasattr(ax, "get_figure") or not hasattr(ax, "__iter__"):
        raise TypeError(
            f"ax must be two axes, {what}; got {described(ax)}: pass those of plt.subplots(1, 2), or None for new ones"
        )
    axes = np.array(list(ax), dtype=object).ravel().tolist()
    if len(axes) != 2:
        raise ValueError(f"ax must be two axes, {what}; got {len(axes)}")
    return [check_axes(one) for one in axes]


def new_axes(columns: int, size: tuple[float, float]) -> list[Axes]:
    """Axes side by side in a new figure of `size` inches."""
    try:
        from matplotlib import pyplot as plt  # noqa: PLC0415
        from matplotlib.layout_engine import ConstrainedLayoutEngine  # noqa: PLC0415
    except ImportError:
        raise ImportError("plotting needs matplotlib; install it with: pip install multiauc[plot]") from None
    layout = ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1)
    figure, axes = plt.subplots(1, columns, squeeze=False, figsize=size, layout=layout)
    figure.set_gid(OWN_FIGURE)
    return list(axes[0])


def roc_axes(ax: Axes | None) -> Axes:
    """Axes with the frame of ROC curves: chance line, equal scales, line styles that differ in colour and in dashes."""
    axes = axes_or_new(ax, (ROC_INCHES, ROC_INCHES))
    if not any(drawn.get_gid() == CHANCE for drawn in axes.lines):
        from cycler import cycler  # noqa: PLC0415

        axes.plot([0, 1], [0, 1], color="0.6", linestyle=":", linewidth=1, gid=CHANCE, zorder=1)
        dashes = [DASHES[(k + k // len(COLOURS)) % len(DASHES)] for k in range(len(COLOURS) * len(DASHES))]
        axes.set_prop_cycle(cycler(color=list(COLOURS) * len(DASHES)) + cycler(linestyle=dashes))
        axes.set(
            xlim=(-0.01, 1.01),
            ylim=(-0.01, 1.01),
            xlabel="false-positive rate",
            ylabel="true-positive rate",
            aspect="equal",
        )
        axes.spines[["top", "right"]].set_visible(False)
    return axes


def plain_text(label: object) -> str:
    """A label or name that is drawn as it reads: between two dollar signs matplotlib would see a formula."""
    return shown_name(label).replace("$", r"\$")


def legend_text(label: object) -> str:
    """The same for a legend, which leaves out whatever begins with an underscore."""
    text = plain_text(label)
    return f" {text}" if text.startswith("_") else text


def finish_roc(axes: Axes) -> None:
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
    from matplotlib.collections import PolyCollection  # noqa: PLC0415
    from matplotlib.patches import Rectangle  # noqa: PLC0415

    inset = axes.inset_axes(place, gid=ZOOM)
    for line in curves:
        style: dict[str, Any] = {"color": line.get_color(), "linestyle": line.get_linestyle()}
        style |= {"linewidth": line.get_linewidth(), "alpha": line.get_alpha(), "zorder": line.get_zorder()}
        inset.plot(line.get_xdata(), line.get_ydata(), **style)
    shown = (BAND, FINE_BAND) if zoom >= BAND_FROM_ZOOM else (FINE_BAND,)
    for band in (part for part in axes.collections if part.get_gid() in shown):
        corners = [path.vertices for path in band.get_paths()]
        look: dict[str, Any] = {"facecolor": band.get_facecolor(), "linewidth": 0, "zorder": band.get_zorder()}
        inset.add_collection(PolyCollection(corners, **look))
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
        # Lays the figure out, so that places are those of the finished picture.
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
        _widen(figure, legend)
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


def _widen(figure: Figure, legend: Legend) -> None:
    """Make room for a legend beside the axes of a figure of our own."""
    wanted = ROC_INCHES + legend.get_window_extent().width / figure.dpi
    if figure.get_figwidth() < wanted:
        figure.set_figwidth(wanted)
