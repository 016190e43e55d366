"""The figures of docs/definitions.md and docs/algorithms.md (`make figures`)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

mpl.use("agg")
from matplotlib import pyplot as plt
from matplotlib.patches import Rectangle

import multiauc

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

FIGURES = Path(__file__).resolve().parent.parent / "docs" / "figures"
NAMES = ("ant", "bee", "cat")
COLOURS = ("#0072B2", "#D55E00", "#009E73")  # Okabe and Ito's
MARKERS = ("o", "s", "^")
GREY = "#666666"
# The first class to the right, as a higher score is below the triangle.
CORNERS = np.array([[1.0, 0.0], [0.0, 0.0], [0.5, np.sqrt(0.75)]])


def save(figure: Any, name: str) -> None:
    """Write a figure."""
    figure.savefig(FIGURES / f"{name}.png", dpi=110)
    plt.close(figure)


def sample() -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Eight rows of each of three classes, some of them on the wrong side."""
    rng = np.random.default_rng(6)
    codes = np.repeat(np.arange(3), 8)
    powers = np.exp(1.1 * rng.normal(size=(24, 3)) + 1.3 * np.eye(3)[codes])
    return codes, powers / powers.sum(axis=1, keepdims=True)


def triangle(axes: Axes) -> None:
    """The edges of the triangle of probabilities, and the names of its corners."""
    axes.fill(*CORNERS.T, facecolor="none", edgecolor="black", linewidth=1)
    for corner, name, colour, shift in zip(CORNERS, NAMES, COLOURS, (-0.06, -0.06, 0.05), strict=True):
        axes.text(corner[0], corner[1] + shift, name, color=colour, ha="center", va="center", weight="bold")
    axes.set_aspect("equal")
    axes.set_axis_off()


def level_lines(axes: Axes, direction: NDArray[np.float64], levels: NDArray[np.float64], strong: float | None) -> None:
    """Lines on which all rows have the same score; `strong` is the line where the prediction changes."""
    grid = np.linspace(0, 1, 201)
    x, y = np.meshgrid(grid, grid * np.sqrt(0.75))
    third = y / np.sqrt(0.75)
    first = x - third / 2
    shares = np.stack([first, 1 - first - third, third], axis=-1)
    score = np.where((shares >= -1e-9).all(axis=-1), shares @ direction, np.nan)
    axes.contour(x, y, score, levels=levels, colors=GREY, linewidths=0.5, linestyles="dotted")
    if strong is not None:
        axes.contour(x, y, score, levels=[strong], colors="black", linewidths=1.2, linestyles="dashed")


def ranking(axes: Axes, score: NDArray[np.float64], codes: NDArray[np.intp], own: int, label: str) -> None:
    """The same rows on a line, those of the first class above it."""
    axes.axhline(0.5, color=GREY, linewidth=0.8)
    for k in np.unique(codes):
        colour = COLOURS[k]
        heights = np.full(np.count_nonzero(codes == k), 0.78 if k == own else 0.22 - 0.12 * (k == 2))
        axes.plot(score[codes == k], heights, MARKERS[k], color=colour, markersize=5, alpha=0.85, linestyle="none")
    axes.set_ylim(-0.1, 1)
    axes.set_yticks([])
    axes.set_xlabel(label)
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)


def placements() -> None:
    """The rows of one sample as AUC_mu, M and one-vs-rest place them: a figure for each."""
    codes, shares = sample()
    places = shares @ CORNERS
    pair = codes < 2
    own = np.array([1.0, 0.0, 0.0])
    ways = [
        ("auc-mu", np.array([1.0, -1.0, 0.0]), pair, "score of ant less score of bee"),
        ("hand-till", own, pair, "score of ant"),
        ("one-vs-rest", own, np.full(24, fill_value=True), "score of ant"),
    ]
    for name, direction, shown, label in ways:
        figure, (axes, strip) = plt.subplots(2, 1, figsize=(4.6, 4.9), height_ratios=(4, 1), layout="constrained")
        is_difference = direction[1] != 0
        levels = np.linspace(-0.8, 0.8, 9) if is_difference else np.linspace(0.1, 0.9, 9)
        level_lines(axes, direction, levels, 0.0 if is_difference else None)
        triangle(axes)
        for k in range(3):
            here = codes == k
            axes.plot(
                *places[here].T, MARKERS[k], color=COLOURS[k], markersize=6, linestyle="none", clip_on=False,
                alpha=0.85 if shown[here].all() else 0.15,
            )  # fmt: skip
        score = shares @ direction
        ranking(strip, score[shown], codes[shown], 0, label)
        strip.set_title(f"{multiauc.auc_mu_score(codes[shown] == 0, score[shown]):.3f}", fontsize=11)
        save(figure, f"definition-{name}")


def buckets() -> None:
    """How a key finds its place among those of another class."""
    rng = np.random.default_rng(1)
    table = np.clip((np.arange(14) + 0.5) / 14 + rng.normal(scale=0.05, size=14), 0.02, 0.98)
    key = 0.535
    width = 1 / 14
    figure, axes = plt.subplots(figsize=(6.4, 2.2), layout="constrained")
    for k in range(14):
        mine = int(key / width) == k
        colour = "#cfe3f1" if (k + 0.5) * width < key and not mine else "#fbe3d2" if mine else "white"
        axes.add_patch(Rectangle((k * width, 0), width, 1, facecolor=colour, edgecolor=GREY, linewidth=0.7))
        held = np.count_nonzero((table >= k * width) & (table < (k + 1) * width))
        axes.text((k + 0.5) * width, 0.14, f"{held}", ha="center", va="center", fontsize=9, color=GREY)
    axes.plot(table, np.full(14, 0.5), "s", color=COLOURS[1], markersize=6)
    axes.annotate(
        "key of the other class", (key, 0.72), (key, 1.35), ha="center", color=COLOURS[0], fontsize=10,
        arrowprops={"arrowstyle": "->", "color": COLOURS[0]},
    )  # fmt: skip
    axes.plot([key], [0.62], "o", color=COLOURS[0], markersize=7)
    axes.text(0.2, 1.12, "counted before: all below", ha="center", fontsize=9)
    axes.text(0.86, 1.12, "all above", ha="center", fontsize=9)
    axes.text(int(key / width) * width + width / 2, -0.2, "compared one by one", ha="center", fontsize=9)
    axes.set_xlim(-0.01, 1.01)
    axes.set_ylim(-0.35, 1.55)
    axes.set_axis_off()
    save(figure, "buckets")


def main() -> None:
    """All of them."""
    placements()
    buckets()


if __name__ == "__main__":
    main()
