"""The pictures of docs/multiclass-roc.md: what the decisions rest on, and an example (`make figures`)."""

import sys
import time
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("agg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

import multiauc

ROOT = Path(__file__).resolve().parent.parent
FIGURES = ROOT / "docs" / "figures"
sys.path.insert(0, str(ROOT / "tests" / "core"))

from multiclass_roc_data import (  # noqa: E402
    majority_classifier,
    majority_rewards,
    mixed_rows,
    model_of_first,
    paper_simulation,
    shifted_normals,
)

N = 50_000
REWARDS = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1 / 0.7, 2.0, 3.3, 5.0, 10.0)


def save(figure: Any, name: str) -> None:
    """Write a picture."""
    FIGURES.mkdir(exist_ok=True)
    figure.savefig(FIGURES / f"{name}.png", dpi=90)
    plt.close(figure)


def unweighted_centre(roc: multiauc.MulticlassRoc) -> float:
    """D if the row effects were plain means over the pairs."""
    model = roc._model  # noqa: SLF001
    assert model is not None, "a curve of two classes has no model"
    means = np.clip(model.means, 1e-15, 1 - 1e-15)
    effects = 1 / (1 + np.exp(-np.log(means / (1 - means)).mean(axis=1)))
    tpr, fpr = (np.r_[0, np.maximum.accumulate(half), 1] for half in np.split(effects, 2))
    return float(np.sum(np.diff(fpr) * (tpr[1:] + tpr[:-1])) / 2)


def decisions() -> None:
    """What the defaults rest on."""
    figure, panels = plt.subplots(2, 2, figsize=(11, 9), layout="constrained")
    for draw, axes in zip((scopes_and_rewards, scopes_and_skew, centers, continuity), panels.flat, strict=True):
        draw(axes)
    save(figure, "decisions")


def scopes_and_rewards(axes: Axes) -> None:
    """D(c) of the majority classifier by the scope of the thresholds, and with unweighted centring."""
    codes, scores, majority = majority_classifier(np.random.default_rng(27), 10_000, 5)
    lines: dict[str, list[float]] = {"shared": [], "class": [], "pair": [], "shared, unweighted centring": []}
    for c in REWARDS:
        weights = majority_rewards(5, majority, c)
        for scope in ("shared", "class", "pair"):
            roc = multiauc.multiclass_roc(codes, scores, scope=scope, rate_weights=weights)
            lines[scope].append(roc.auc)
            if scope == "shared":
                lines["shared, unweighted centring"].append(unweighted_centre(roc))
    for name, values in lines.items():
        axes.plot(REWARDS, values, "--" if "centring" in name else "-", marker=".", label=name)
        print(f"  D(c) {name}: {np.round(values, 3)}")
    axes.set(xscale="log", xlabel="c", ylabel="D", title="the majority classifier and its rewards (k = 5)")
    axes.legend(title="thresholds", frameon=False)


def scopes_and_skew(axes: Axes) -> None:
    """The spread of D over class mixes by the scope of the thresholds."""
    rng = np.random.default_rng(66)
    x, _, codes = paper_simulation(rng, N)
    spread: dict[str, list[Any]] = {"shared": [], "class": [], "pair": [], "M (Hand and Till)": []}
    for d in (2, 5, 9):
        scores = model_of_first(x, codes, d)
        areas: dict[Any, list[float]] = {name: [] for name in spread}
        for _ in range(30):
            rows = mixed_rows(rng, codes, 2.0)
            for name in ("shared", "class", "pair"):
                areas[name].append(multiauc.multiclass_roc(codes[rows], scores[rows], scope=name).auc)
            areas["M (Hand and Till)"].append(multiauc.hand_till_score(codes[rows], scores[rows]))
        for name, values in areas.items():
            spread[name].append(np.std(values, ddof=1))
    for k, (name, values) in enumerate(spread.items()):
        axes.bar(np.arange(3) + 0.2 * k, values, width=0.19, label=name)
        print(f"  sd under skew, {name}: {np.round(values, 4)}")
    axes.set_xticks(np.arange(3) + 0.3, ["d = 2", "d = 5", "d = 9"])
    axes.set(ylabel="sd", title="spread over class mixes, Dirichlet(2)")
    axes.legend(frameon=False)


def centers(axes: Axes) -> None:
    """D with intercept and by projection, up to perfect separation."""
    x, _, codes = paper_simulation(np.random.default_rng(67), N, labels="argmax")
    areas: dict[Any, list[float]] = {"intercept": [], "projection": [], "M (Hand and Till)": []}
    seen = np.array([1, 2, 4, 6, 8, 9, 10])
    for d in seen:
        scores = model_of_first(x, codes, d)
        for center in ("intercept", "projection"):
            areas[center].append(multiauc.multiclass_roc(codes, scores, center=center).auc)
        areas["M (Hand and Till)"].append(multiauc.hand_till_score(codes, scores))
    for name, values in areas.items():
        axes.plot(seen, values, "--" if name[0] == "M" else "-", marker=".", label=name)
        print(f"  argmax labels, {name}: {np.round(values, 4)}")
    axes.set(xlabel="covariates seen", ylabel="D", title="argmax labels: up to perfect separation")
    axes.legend(frameon=False)


def continuity(axes: Axes) -> None:
    """The bias of D in small samples by the continuity correction."""
    sizes = np.array([45, 90, 180, 360, 720])
    codes, scores = shifted_normals(np.random.default_rng(68), 200_000, 3, shift=2.0)
    truth = multiauc.multiclass_roc(codes, scores).auc
    for a in (0.02, 0.1, 0.5):
        biases = []
        for n in sizes:
            samples = (slice(s, s + n) for s in range(0, 200_000 - n, max(n, 200_000 // 300)))
            values = [
                multiauc.multiclass_roc(codes[rows], scores[rows], continuity=a).auc
                for rows in samples
                if np.bincount(codes[rows], minlength=3).min() > 1
            ]
            biases.append((np.mean(values) - truth) / np.std(values))
        axes.plot(sizes, biases, marker=".", label=f"a = {a}")
        print(f"  bias / sd, a = {a}: {np.round(biases, 2)}")
    axes.axhline(0, color="0.6", linestyle="--", linewidth=1)
    axes.set(xscale="log", xlabel="rows", ylabel="bias / sd of D", title="the continuity correction (k = 3)")
    axes.set_xticks(sizes, [str(size) for size in sizes])
    axes.minorticks_off()
    axes.legend(frameon=False)


def band() -> None:
    """A curve with its band and the curves of its pairs."""
    codes, scores = shifted_normals(np.random.default_rng(70), 300, 4, shift=1.2)
    roc = multiauc.multiclass_roc(codes, scores)
    bootstrap = roc.bootstrap(1000, rng=0)
    display = roc.plot(band=bootstrap.band(), pairs=True, label="model")
    low, high = bootstrap.confidence_interval()
    print(f"  example: D = {roc.auc:.3f}, 95% interval {low:.3f} to {high:.3f}")
    save(display.figure_, "band")


def main() -> None:
    """Draw everything, or the pictures named on the command line."""
    pictures = {f.__name__: f for f in (decisions, band)}
    for name in sys.argv[1:] or pictures:
        started = time.monotonic()
        pictures[name]()
        print(f"{name}: {time.monotonic() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
