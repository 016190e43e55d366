"""The speed charts of the README, the front page and benches/RESULTS.md, from the results files (`make figures`)."""

import os
import re
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl

mpl.use("agg")
from matplotlib import pyplot as plt

ROOT = Path(__file__).resolve().parent.parent
FIGURES = ROOT / "docs" / "figures"
THEMES = {"light": ("#1f2328", "#0b5c8a", "#b8c0c8"), "dark": ("#e6edf3", "#6cb8e6", "#6e7681")}
SIZE = "1e6 × 10"


class Race(NamedTuple):
    """One call of a peer and ours for the same number, in milliseconds."""

    name: str
    peer: str
    ours: float
    theirs: float


def rows(name: str) -> list[list[str]]:
    """The cells of all table rows of a results file."""
    lines = (ROOT / "benches" / name).read_text("utf-8").splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]


def milliseconds(cell: str) -> float:
    """The time in front of the ratio in brackets."""
    return float(re.sub(r" \(.*", "", cell).replace(",", ""))


def races() -> list[Race]:
    """A million rows of ten classes: each peer at its best."""
    drop_in = {cells[0]: cells for cells in rows("RESULTS-drop-in.md")}
    found = [
        Race(f"roc_auc_score, {kind}", "scikit-learn", *map(float, drop_in[f"1,000,000 × 10, {kind}"][1:3]))
        for kind in ("ovo", "ovr")
    ]
    header: list[str] = []
    for cells in rows("RESULTS.md"):
        if cells[0] == "n × K":
            header = cells
        for metric, peer in (("one-vs-rest", "torchmetrics"), ("AUC_mu", "CatBoost")):
            theirs = [k for k, name in enumerate(header) if name.startswith(f"{peer} exact" if metric[0] == "o" else peer)]
            if cells[0] == SIZE and "thread" in header[-1] + header[-2] and theirs:
                ours = [k for k, name in enumerate(header) if name.startswith("multiauc,")]
                best = [min(milliseconds(cells[k]) for k in of) for of in (ours, theirs)]
                if peer not in [race.peer for race in found]:
                    found.append(Race(metric, peer, *best))
    return sorted(found, key=lambda race: -race.theirs)


def draw(theme: str, path: Path) -> None:
    """Bars of milliseconds, ours above that of the peer, on a background of the reader's own."""
    ink, ours, theirs = THEMES[theme]
    figure, axes = plt.subplots(figsize=(7.6, 2.9), layout="constrained")
    contests = races()
    longest = max(race.theirs for race in contests)
    for k, race in enumerate(contests):
        axes.barh([k - 0.2, k + 0.2], [race.ours, race.theirs], height=0.36, color=[ours, theirs])
        label = f"{race.ours:,.0f} ms · {race.theirs / race.ours:.0f}× faster"
        axes.text(race.ours + longest / 150, k - 0.2, label, va="center", color=ink, size=9, weight="bold")
        axes.text(race.theirs + longest / 150, k + 0.2, f"{race.theirs:,.0f} ms", va="center", color=ink, size=9)
    axes.set_yticks(range(len(contests)), [f"{race.name}\n{race.peer}" for race in contests], color=ink, size=9)
    axes.set_xlim(0, longest * 1.12)
    axes.set_xticks([])
    axes.invert_yaxis()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    figure.savefig(path, transparent=True, metadata={"Date": None})
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
