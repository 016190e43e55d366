"""The pictures of docs/multiclass-roc.md: the paper's simulations, and what the decisions rest on (`make figures`)."""

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


def discrimination() -> None:
    """Figure 3: models that see the first d of ten covariates, and one that sees noise."""
    figure, panels = plt.subplots(1, 2, figsize=(10, 5.2), layout="constrained")
    colours = plt.get_cmap("viridis")(np.linspace(0, 0.95, 10))
    for axes, labels in zip(panels, ("sample", "argmax"), strict=True):
        rng = np.random.default_rng(3)
        x, _, codes = paper_simulation(rng, N, labels=labels)
        noise = model_of_first(rng.normal(size=x.shape), codes, 10)
        multiauc.multiclass_roc(codes, noise).plot(axes, label="noise", color="crimson", linewidth=1.2)
        for d in range(1, 11):
            roc = multiauc.multiclass_roc(codes, model_of_first(x, codes, d))
            roc.plot(axes, label=f"d = {d}", color=colours[d - 1], linewidth=1.2)
            print(f"  figure 3, {labels} labels, d = {d}: D = {roc.auc:.4f}")
        axes.set_title("labels drawn" if labels == "sample" else "labels by argmax")
    save(figure, "discrimination")


def resampled_mix(rng: np.random.Generator, codes: np.ndarray, alpha: float, size: int = 30_000) -> np.ndarray:
    """Rows drawn class by class in Dirichlet shares, every class at least 100."""
    k = codes.max() + 1
    sizes = np.maximum(100, (size * rng.dirichlet(np.full(k, alpha))).astype(int))
    return np.concatenate([rng.choice(np.flatnonzero(codes == c), sizes[c]) for c in range(k)])


def class_skew() -> None:
    """Figure 5: thirty class mixes for each of three models and three degrees of skew."""
    rng = np.random.default_rng(5)
    x, _, codes = paper_simulation(rng, N)
    figure, panels = plt.subplots(2, 3, figsize=(11, 7.6), layout="constrained", sharex=True, sharey=True)
    for column, d in enumerate((2, 5, 9)):
        scores = model_of_first(x, codes, d)
        notes: dict[Any, list[Any]] = {None: [], "size_product": []}
        for alpha, colour in ((2.0, "C3"), (5.0, "C0"), (9.0, "C2")):
            areas: dict[Any, list[float]] = {None: [], "size_product": []}
            for _ in range(30):
                rows = resampled_mix(rng, codes, alpha)
                for line, weights in enumerate((None, "size_product")):
                    roc = multiauc.multiclass_roc(codes[rows], scores[rows], pair_weights=weights)
                    panels[line, column].plot(roc.fpr, roc.tpr, color=colour, alpha=0.35, linewidth=0.8)
                    areas[weights].append(roc.auc)
            for weights, values in areas.items():
                notes[weights].append(
                    f"alpha = {alpha:.0f}: D = {np.mean(values):.3f}, sd {np.std(values, ddof=1):.4f}"
                )
        for line, (weights, texts) in enumerate(notes.items()):
            axes = panels[line, column]
            axes.plot([0, 1], [0, 1], color="0.6", linestyle="--", linewidth=1)
            axes.text(0.97, 0.05, "\n".join(texts), ha="right", fontsize=9)
            axes.set(title=f"d = {d}, pairs weighted {'equally' if weights is None else 'by n_c n_d'}", aspect="equal")
            print(f"  figure 5, d = {d}, {weights}: {texts}")
    save(figure, "class-skew")


def rewards() -> None:
    """Figure 6: the majority classifier as its rewards change."""
    figure, panels = plt.subplots(1, 3, figsize=(13, 4.8), layout="constrained")
    colours = plt.get_cmap("coolwarm")(np.linspace(0, 1, len(REWARDS)))
    for axes, k in zip(panels, (5, 10, 15), strict=True):
        codes, scores, majority = majority_classifier(np.random.default_rng(22 + k), 10_000, k)
        for c, colour in zip(REWARDS, colours, strict=True):
            weights = majority_rewards(k, majority, c)
            roc = multiauc.multiclass_roc(codes, scores, rate_weights=weights)
            roc.plot(axes, label=f"c = {c:.3g}", color=colour, linewidth=1.2)
            print(f"  figure 6, k = {k}, c = {c:.3g}: D = {roc.auc:.4f}")
        axes.legend(fontsize=7, loc="lower right", framealpha=0.85)
        axes.set_title(f"k = {k}")
    save(figure, "rewards")


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
            rows = resampled_mix(rng, codes, 2.0)
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
    pictures = {f.__name__: f for f in (discrimination, class_skew, rewards, decisions, band)}
    for name in sys.argv[1:] or pictures:
        started = time.monotonic()
        pictures[name]()
        print(f"{name}: {time.monotonic() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
