"""What all pictures share: axes, colours, the frame of a ROC curve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from multiauc._wording import shown_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which differ for every kind of colour vision, in an order whose neighbours also differ in
# grey. Yellow is left out: it is too pale for a line on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
DASHES: tuple[Any, ...] = ("-", "--", "-.", (0, (1, 1)), (0, (5, 1, 1, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

CHANCE = "multiauc chance line"


class Display:
    """Where a picture was drawn: `ax_` and `figure_`, once it has been."""

    ax_: Axes
    figure_: Figure

    def _drawn_on(self, axes: Axes) -> None:
        self.ax_ = axes
        self.figure_ = axes.get_figure(root=True)  # type: ignore[assignment]  # axes on a figure always have one


def axes_or_new(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """The axes given, or those of a new figure of `size` inches."""
    return new_axes(1, size)[0] if ax is None else ax


def new_axes(columns: int, size: tuple[float, float]) -> list[Axes]:
    """Axes side by side in a new figure of `size` inches."""
    try:
        from matplotlib import pyplot as plt  # noqa: PLC0415
        from matplotlib.layout_engine import ConstrainedLayoutEngine  # noqa: PLC0415
    except ImportError:
        raise ImportError("plotting needs matplotlib; install it with: pip install multiauc[plot]") from None
    layout = ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1)
    _, axes = plt.subplots(1, columns, squeeze=False, figsize=size, layout=layout)
    return list(axes[0])


def roc_axes(ax: Axes | None) -> Axes:
    """Axes with the frame of ROC curves: chance line, equal scales, line styles that differ in colour and in dashes."""
    axes = axes_or_new(ax, (5.2, 5.2))
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


def legend_below_curves(axes: Axes, entries: int) -> None:
    """A legend in the empty corner of a ROC curve, smaller when it has many entries."""
    axes.legend(loc="lower right", frameon=False, fontsize="medium" if entries <= 6 else "small")
