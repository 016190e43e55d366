"""The decision chart of docs/which-metric.md (`make figures`)."""

import textwrap
from pathlib import Path
from typing import Any, Final, NamedTuple

import matplotlib as mpl

mpl.use("agg")
from matplotlib import pyplot as plt
from matplotlib.patches import FancyBboxPatch

CHART: Final = Path(__file__).resolve().parent.parent / "docs" / "figures" / "which-metric.svg"

# Inches. The chart is as wide as a phone, so that nothing on it has to shrink.
WIDTH, MARGIN, LEFT, GAP = 3.9, 0.04, 1.95, 0.33
RIGHT = WIDTH - 2 * MARGIN - LEFT - GAP
LINE, PADDING, BETWEEN = 0.165, 0.08, 0.25
FONT = 9.0
INK, QUESTION, ANSWER, LAST = "#222222", "#f0f0f0", "#d6e9f5", "#fbe3cd"


class Rung(NamedTuple):
    """A question, and the metric to use if the answer is yes."""

    question: str
    metric: str


RUNGS: Final = (
    Rung("Do you have predicted labels only, no scores?", "R_K (Matthews) or balanced accuracy"),
    Rung("Do you know what each mistake costs?", "Mean cost of the predictions"),
    Rung("Are the classes ordered, with a single score?", "Ordered volume (VUS)"),
    Rung("Can you afford only very few false alarms?", "Partial AUC"),
    Rung("Does each class have its own list or alarm?", "One-vs-rest, class by class"),
    Rung("Should common classes count more than rare ones?", "One-vs-rest, by prevalence"),
    Rung("Is it a line-up, one case of every class to sort out?", "HUM or PDI"),
    Rung("Are there many thousands of classes?", "M, from sparse scores"),
    Rung("Do you need a single curve to show?", "Multi-class ROC curve, area D"),
)
OTHERWISE: Final = Rung("Otherwise: which of the classes is it?", "AUC_mu")


def box(axes: Any, left: float, top: float, width: float, height: float, text: str, colour: str, **font: Any) -> None:
    """Draw a box with centred text; `top` is counted downwards."""
    patch = FancyBboxPatch(
        (left + 0.05, -top - height + 0.05),
        width - 0.1,
        height - 0.1,
        boxstyle="round,pad=0.05,rounding_size=0.08",
        facecolor=colour,
        edgecolor=INK,
        linewidth=0.8,
    )
    axes.add_patch(patch)
    centre = (left + width / 2, -top - height / 2)
    axes.text(*centre, text, ha="center", va="center", fontsize=FONT, color=INK, linespacing=1.25, **font)


def arrow(axes: Any, start: tuple[float, float], end: tuple[float, float], word: str, at: tuple[float, float]) -> None:
    """Draw an arrow with a word beside it; y is counted downwards."""
    axes.annotate(
        "",
        (end[0], -end[1]),
        (start[0], -start[1]),
        arrowprops={"arrowstyle": "-|>", "color": INK, "linewidth": 0.9, "shrinkA": 0, "shrinkB": 0},
    )
    axes.text(at[0], -at[1], word, ha="center", va="center", fontsize=FONT - 0.5, color=INK, style="italic")


def main() -> None:
    """Draw the ladder: a question to the left, what to take to the right, the next question below."""
    mpl.rcParams["svg.hashsalt"] = "multiauc"
    questions = [textwrap.fill(rung.question, 26) for rung in RUNGS]
    metrics = [textwrap.fill(rung.metric, 19) for rung in RUNGS]
    lines = [max(2, q.count("\n") + 1, m.count("\n") + 1) for q, m in zip(questions, metrics, strict=True)]
    heights = [count * LINE + 2 * PADDING for count in lines]
    last = 3 * LINE + 2 * PADDING
    total = sum(heights) + BETWEEN * len(RUNGS) + last + 2 * MARGIN

    figure = plt.figure(figsize=(WIDTH, total))
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, WIDTH), ylim=(-total, 0))
    axes.axis("off")
    top, right = MARGIN, MARGIN + LEFT + GAP
    for question, metric, height in zip(questions, metrics, heights, strict=True):
        box(axes, MARGIN, top, LEFT, height, question, QUESTION)
        box(axes, right, top, RIGHT, height, metric, ANSWER, weight="bold")
        middle = top + height / 2
        arrow(axes, (MARGIN + LEFT, middle), (right, middle), "yes", (MARGIN + LEFT + 0.15, middle - 0.1))
        below = top + height
        centre = MARGIN + LEFT / 2
        arrow(axes, (centre, below), (centre, below + BETWEEN), "no", (centre + 0.18, below + BETWEEN / 2))
        top = below + BETWEEN
    box(axes, MARGIN, top, WIDTH - 2 * MARGIN, last, f"{OTHERWISE.question}\n", LAST)
    under = -top - last / 2 - 0.7 * LINE
    axes.text(WIDTH / 2, under, OTHERWISE.metric, ha="center", va="center", fontsize=FONT + 3, weight="bold", color=INK)
    described = " ".join(f"{rung.question} If yes: {rung.metric}." for rung in RUNGS)
    figure.savefig(
        CHART,
        facecolor="white",
        metadata={"Date": None, "Title": "Which metric?", "Description": f"{described} If no: {OTHERWISE.metric}."},
    )
    text = CHART.read_text("utf-8")
    CHART.write_text("".join(f"{line.rstrip()}\n" for line in text.splitlines()), "utf-8")


if __name__ == "__main__":
    main()
