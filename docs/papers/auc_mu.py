"""Figures 1 to 4 of the AUC_mu paper, and the example of theorem A3, for auc-mu.md.

    python docs/papers/auc_mu.py [--quick]

The appendix gives the matrix of Figure 3, but not in the text that we have: ours is chosen so that it does with the two
predictions of theorem A3 what the caption describes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import pyplot as plt
from pages import is_quick, publish, save, table

import multiauc
from multiauc.plotting import SimplexDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

ARGMAX = 1.0 - np.eye(3)

#: Figure 1: a prediction of each class, in sixteenths; the paper draws them without numbers.
FIGURE_ONE = np.array([[6, 5, 5], [7, 9, 0], [7, 0, 9]]) / 16

#: Theorem A3: predictions of classes 1 and 2, and the matrix whose first two rows the paper gives.
PREDICTIONS = np.array([[0.5, 0.45, 0.05], [0.35, 0.4, 0.25]])
THEOREM_A3 = np.array([[0.0, 4, 1], [1, 0, 1], [1, 1, 0]])

#: Ours for Figure 3.
FIGURE_THREE = np.array([[0.0, 3, 2], [2, 0, 6], [4, 4, 0]])

#: Figure 4: a prediction of class 1 and one of class 2, chosen.
FIGURE_FOUR = np.array([[0.5, 0.15, 0.35], [0.25, 0.65, 0.1]])

# Where the corners of classes 1, 2 and 3 are drawn.
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])
BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"

MOST_CLASSES = (3, 4, 5, 10, 100)


# --- numbers ----------------------------------------------------------------------------------------------------------


def figure_one() -> dict[str, float]:
    """The measures of which the paper speaks, on the rows of Figure 1."""
    y_true = [1, 2, 3]
    return {
        "M": multiauc.hand_till_score(y_true, FIGURE_ONE),
        "P&D": multiauc.one_vs_rest_score(y_true, FIGURE_ONE, average="prevalence"),
        "AUC_mu": multiauc.auc_mu_score(y_true, FIGURE_ONE),
    }


def worst_for_m(n_classes: int) -> Array:
    """A prediction of each class about which argmax is right, and M as small as it can be then.

    Every row has its own probability a little above 1/K, the later the class the higher, and gives almost all earlier
    classes a little more than these have in their own rows.
    """
    base = 10 * n_classes**2
    total = base * n_classes
    rows = np.zeros((n_classes, n_classes))
    for own in range(n_classes):
        # The last row can do so for all but one: K probabilities above 1/K would sum to more than 1.
        beaten = np.arange(min(own, n_classes - 2))
        rows[own, beaten] = base + 2 * beaten + 2
        rows[own, own] = base + 2 * own + 1
        others = np.setdiff1d(np.arange(n_classes), [*beaten, own])
        rows[own, others] = (total - rows[own].sum()) / len(others)
    return rows / total


def least_m(n_classes: int) -> float:
    """The smallest M of predictions about which argmax is right (auc-mu.md has the proof)."""
    return 0.5 + 1.0 / (n_classes * (n_classes - 1))


def orientation(partition: Array, predictions: Array) -> float:
    """The paper's equation 3 for a prediction of class 1 and one of class 2."""
    normal = partition[0] - partition[1]
    labels = np.eye(len(partition))
    return float((normal @ (labels[0] - labels[1])) * (normal @ (predictions[0] - predictions[1])))


@dataclass(frozen=True)
class Oriented:
    """What a partition matrix makes of a prediction of class 1 and one of class 2."""

    orientation: float
    separability: float
    decisions: tuple[int, int]


def oriented(partition: Array, predictions: Array = PREDICTIONS) -> Oriented:
    """Equation 3 written out, the library's S(1, 2), and the classes of least cost."""
    n_classes = len(partition)
    matrix = multiauc.auc_mu_matrix(
        [1, 2], predictions, partition=partition, labels=range(1, n_classes + 1), absent="ignore"
    )
    first, second = (predictions @ partition.T).argmin(axis=1) + 1
    return Oriented(orientation(partition, predictions), float(matrix.values[0, 1]), (int(first), int(second)))


def padded(n_classes: int) -> Oriented:
    """Theorem A3 with more classes, as its proof has it: zeros at the end of the predictions."""
    partition = 1.0 - np.eye(n_classes)
    partition[:3, :3] = THEOREM_A3
    return oriented(partition, np.pad(PREDICTIONS, ((0, 0), (0, n_classes - 3))))


def rows_of_figure_one() -> str:
    """The table under Figure 1."""
    says = {"M": "0.67", "P&D": "0.67", "AUC_mu": "1 (property 1)"}
    return table(
        ["measure", "the paper says", "we get"],
        [[name, says[name], f"{value:.4f}"] for name, value in figure_one().items()],
    )


def rows_of_least_m() -> str:
    """How low M can be."""
    rows = []
    for n_classes in MOST_CLASSES:
        y_true, y_score = np.arange(n_classes), worst_for_m(n_classes)
        found = multiauc.hand_till_score(y_true, y_score), multiauc.auc_mu_score(y_true, y_score)
        rows.append([str(n_classes), f"{least_m(n_classes):.4f}", *(f"{value:.4f}" for value in found)])
    return table(["classes", "least M possible", "M of the rows constructed", "their AUC_mu"], rows)


def rows_of_orientations() -> str:
    """Theorem A3 and Figure 3, which have the same two predictions here."""
    cases = [
        ("all errors alike (A_max)", ARGMAX, "0.2, right", "1, 2"),
        ("theorem A3", THEOREM_A3, "−0.25, wrong", "not said"),
        ("Figure 3, our matrix", FIGURE_THREE, "wrong", "2, 1"),
    ]
    rows = []
    for name, partition, says, decisions in cases:
        found = oriented(partition)
        rows.append(
            [
                name,
                "; ".join(" ".join(f"{cost:g}" for cost in row) for row in partition),
                says,
                f"{found.orientation:.2f}".replace("-", "−"),
                f"{found.separability:g}",
                decisions,
                "{}, {}".format(*found.decisions),
            ]
        )
    header = ["matrix", "its rows", "orientation: the paper", "we get", "our S(1, 2)", "decisions: the paper", "we get"]
    return table(header, rows)


def rows_of_figure_four() -> str:
    """The projections of Figure 4."""
    normal = ARGMAX[0] - ARGMAX[1]
    names = ("y of class 1", "p of class 1", "p of class 2", "y of class 2")
    points = np.array([np.eye(3)[0], *FIGURE_FOUR, np.eye(3)[1]])
    rows = [[name, f"({', '.join(f'{p:g}' for p in point)})", f"{normal @ point:.2f}".replace("-", "−")]
            for name, point in zip(names, points, strict=True)]  # fmt: skip
    return table(["point", "coordinates", "v · point"], rows)


def texts() -> dict[str, str]:
    """All that this script fills in."""
    five = padded(5)
    return {
        "figure-one": rows_of_figure_one(),
        "least-m": rows_of_least_m(),
        "orientations": rows_of_orientations(),
        "padded": f"{five.orientation:.2f} and S(1, 2) = {five.separability:g}".replace("-", "−"),
        "figure-four": rows_of_figure_four(),
        "figure-four-orientation": f"{orientation(ARGMAX, FIGURE_FOUR):.2f}",
    }


# --- figures ----------------------------------------------------------------------------------------------------------


def triangle(axes: Axes, points: Array, codes: Any, *, legend: bool = False, **options: Any) -> SimplexDisplay:
    """Predictions in the triangle."""
    display = SimplexDisplay(points, np.asarray(codes), ("class 1", "class 2", "class 3"), **options).plot(axes, s=45)
    found = axes.get_legend()
    if found is not None and not legend:
        found.remove()
    return display


def named(axes: Axes, points: Array, names: list[str], shift: tuple[float, float] = (8, -3)) -> None:
    """Write names beside predictions."""
    for (x, y), name in zip(points @ CORNERS, names, strict=True):
        axes.annotate(name, (x, y), xytext=shift, textcoords="offset points")


def draw_figures_one_and_two() -> None:
    """The predictions that M does not like, and the regions of argmax."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 4.0), layout="constrained")
    triangle(left, FIGURE_ONE, [0, 1, 2])
    named(left, FIGURE_ONE[:1], [r"$\hat p^{(1)}$"], (-27, 4))
    named(left, FIGURE_ONE[1:], [r"$\hat p^{(2)}$", r"$\hat p^{(3)}$"], (6, 6))
    values = figure_one()
    left.set_title(f"Figure 1: M {values['M']:.2f}, P&D {values['P&D']:.2f}, AUC_mu {values['AUC_mu']:.0f}")
    steps = 24
    grid = np.array([[i, j, steps - i - j] for i in range(1, steps) for j in range(1, steps - i)]) / steps
    # A prediction on a border belongs to no region.
    clear = np.sort(grid, axis=1)[:, -1] > np.sort(grid, axis=1)[:, -2]
    triangle(right, np.empty((0, 3)), [])
    for k, marker in enumerate("o+x"):
        mine = grid[clear & (grid.argmax(axis=1) == k)] @ CORNERS
        face = {"facecolors": "none", "edgecolors": BLUE} if marker == "o" else {"c": (BLUE, ORANGE, GREEN)[k]}
        right.scatter(*mine.T, marker=marker, s=16, linewidths=1, **face)
    right.set_title("Figure 2: the argmax partition")
    save(figure, "auc-mu-1-2")


def draw_figures_three_and_four() -> None:
    """Two partitions of the same predictions, and how a border ranks predictions."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 4.0), layout="constrained")
    triangle(left, PREDICTIONS, [0, 1], partition=FIGURE_THREE)
    centre = CORNERS.mean(axis=0)
    for k in range(3):
        middle = (CORNERS[k] + CORNERS[(k + 1) % 3]) / 2
        left.plot(*np.array([centre, middle]).T, color="black", linewidth=1.4, zorder=2)
    named(left, PREDICTIONS, [r"$\hat p^{(1)}$", r"$\hat p^{(2)}$"])
    left.set_title("Figure 3: argmax (lines), other costs (dashes, colours)")
    draw_projection(right)
    right.set_title("Figure 4: ranks by the distance from a border")
    save(figure, "auc-mu-3-4")


def draw_projection(axes: Axes) -> None:
    """Figure 4: predictions and labels projected onto the normal of the border between classes 1 and 2."""
    triangle(axes, FIGURE_FOUR, [0, 1])
    centre = CORNERS[2] / 2 + (CORNERS[0] + CORNERS[1]) / 4
    axes.plot([0.5, 0.5], [0.0, CORNERS[2, 1]], color="#17a2b8", linewidth=2, zorder=2.5)
    axes.annotate(r"$v_{1,2}\cdot\hat p = 0$", (0.5, 0.7), xytext=(34, 8), textcoords="offset points", color="#0b7285")
    x, y = centre
    arrow = {"arrowstyle": "-|>", "color": "#c92a2a", "linewidth": 1.8}
    axes.annotate("", (x + 0.25, y), (x, y), arrowprops=arrow)
    axes.annotate(r"$v_{1,2}$", (x + 0.08, y + 0.02), color="#c92a2a")
    base = -0.16
    for point, name in zip(
        [np.eye(3)[0], *FIGURE_FOUR, np.eye(3)[1]],
        [r"$y^{(1)}$", r"$\hat p^{(1)}$", r"$\hat p^{(2)}$", r"$y^{(2)}$"],
        strict=True,
    ):
        x, y = point @ CORNERS
        # The names of the classes stand below the corners.
        top = base + 0.06 if y == 0.0 else y
        axes.plot([x, x], [top, base], ":", color="0.45", linewidth=1, zorder=2)
        axes.plot(x, base, "|", color="black", markersize=8)
        axes.annotate(name, (x, base), xytext=(0, -16), textcoords="offset points", ha="center")
    axes.plot([0.0, 1.0], [base, base], color="0.45", linewidth=1)
    axes.set_ylim(base - 0.12, CORNERS[2, 1] + 0.1)


def main() -> None:
    """Fill the page and draw."""
    quick = is_quick(__doc__)
    publish("auc-mu.md", texts(), quick=quick)
    if not quick:
        draw_figures_one_and_two()
        draw_figures_three_and_four()


if __name__ == "__main__":
    main()
