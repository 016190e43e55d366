"""The speed chart of the README, the docs and benches/RESULTS.md, in light and dark, drawn from the results files.

`make bench-figures` and `make figures` draw it; nothing is measured here.
"""

import os
import sys
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl

mpl.use("agg")
from matplotlib import pyplot as plt

sys.path.insert(0, str(Path(__file__).resolve().parent))
from refresh_figures import look_up

FIGURES = Path(__file__).resolve().parent.parent / "docs" / "figures"
THEMES = {"light": ("#1f2328", "#0b5c8a", "#b8c0c8"), "dark": ("#e6edf3", "#6cb8e6", "#6e7681")}
# The name and the peer on the chart; the place of its time and of the ratio in the results, as in refresh_figures.py.
RACES = (
    ("roc_auc_score, ovo", "scikit-learn", "drop-in: | 1,000,000 x 10, ovo", "scikit-learn", "ratio | whole 2"),
    ("roc_auc_score, ovr", "scikit-learn", "drop-in: | 1,000,000 x 10, ovr", "scikit-learn", "ratio | whole 2"),
    ("one-vs-rest", "torchmetrics", "one-vs-rest, float64 | 1e6 x 10", "torchmetrics", "torchmetrics exact | ratio 2"),
    ("AUC_mu", "CatBoost", "AUC_mu, float64 | 1e6 x 10", "CatBoost", "CatBoost | ratio 2"),
)


class Race(NamedTuple):
    """One call of a peer and ours for the same number, in milliseconds."""

    name: str
    peer: str
    ours: float
    theirs: float
    #: How many times faster, as the results have it: the times are rounded.
    ratio: str


def races() -> list[Race]:
    """A million rows of ten classes, on all threads, the slowest peer first."""
    found = []
    for name, peer, table, column, ratio in RACES:
        ours, theirs = (
            float(look_up(f"{table} | {which} | number").replace(",", "")) for which in ("multiauc", column)
        )
        found.append(Race(name, peer, ours, theirs, look_up(f"{table} | {ratio}")))
    return sorted(found, key=lambda race: -race.theirs)


def draw(theme: str, path: Path) -> None:
    """Bars of milliseconds, ours above that of the peer, on a background of the reader's own."""
    ink, ours, theirs = THEMES[theme]
    figure, axes = plt.subplots(figsize=(6.2, 3.3), layout="constrained")
    contests = races()
    longest = max(race.theirs for race in contests)
    for k, race in enumerate(contests):
        axes.barh([k - 0.2, k + 0.2], [race.ours, race.theirs], height=0.36, color=[ours, theirs])
        label = f"{race.ours:,.0f} ms · {race.ratio} faster"
        axes.text(race.ours + longest / 150, k - 0.2, label, va="center", color=ink, size=11, weight="bold")
        axes.text(race.theirs + longest / 150, k + 0.2, f"{race.theirs:,.0f} ms", va="center", color=ink, size=11)
    axes.set_yticks(range(len(contests)), [f"{race.name}\n{race.peer}" for race in contests], color=ink, size=11)
    axes.set_xlim(0, longest * 1.12)
    axes.set_xticks([])
    axes.invert_yaxis()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    figure.savefig(path, transparent=True, metadata={"Date": None, "Description": f"milliseconds: {contests}"})
    plt.close(figure)
    lines = path.read_text("utf-8").splitlines()
    path.write_text("".join(f"{line.rstrip()}\n" for line in lines), "utf-8")


def main() -> None:
    """Draw both themes; the same results give the same bytes."""
    mpl.rcParams["svg.hashsalt"] = "multiauc"
    os.environ["SOURCE_DATE_EPOCH"] = "0"
    for theme in THEMES:
        draw(theme, FIGURES / f"speed-{theme}.svg")


if __name__ == "__main__":
    main()
