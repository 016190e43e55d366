"""Figures 2 to 6 of the multi-class ROC paper: its simulations, run again.

The coefficients, the seed and some details of the paper's own runs are not known, so that numbers are compared in kind,
not digit by digit. `multiclass_roc.py` writes what these functions compute into multiclass-roc.md.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from matplotlib import pyplot as plt
from pages import save, table
from scipy import special

import multiauc

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "core"))
from multiclass_roc_data import majority_classifier, majority_rewards, mixed_rows, model_of_first, paper_simulation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Codes = NDArray[np.intp]
    Models = dict[str, tuple[multiauc.MulticlassRoc, dict[str, float]]]
    Mixes = dict[tuple[int, float], list[dict[str, Any]]]
    Rewarded = dict[tuple[int, float], dict[float, dict[str, Any]]]

#: Section 5.1: shares of the classes, drawn from the multinomial model and by argmax.
PAPER_SHARES: Final = {
    "sample": np.array([9534, 6042, 11586, 12957, 9881]) / 50_000,
    "argmax": np.array([9471, 5111, 12159, 13543, 9716]) / 50_000,
}
LABELS: Final = {"sample": "labels drawn (eq. 27)", "argmax": "labels by argmax (eq. 28)"}
ALPHAS: Final = (2.0, 5.0, 9.0)
#: Section 5.3: 0.1, 0.2, ..., 0.9, 1 and their reciprocals.
REWARDS: Final = (*(c / 10 for c in range(1, 11)), *(10 / c for c in range(9, 0, -1)))


def measures(codes: Codes, scores: Array) -> dict[str, float]:
    """D beside the averages of pairwise areas."""
    return {
        "D": multiauc.multiclass_roc(codes, scores).auc,
        "M": multiauc.hand_till_score(codes, scores),
        "AUC_mu": multiauc.auc_mu_score(codes, scores),
        "P&D": multiauc.one_vs_rest_score(codes, scores, average="prevalence"),
    }


def frame_curves(axes: Axes, title: str) -> None:
    """The frame of a ROC curve."""
    axes.plot([0, 1], [0, 1], color="0.6", linestyle="--", linewidth=0.8)
    axes.set(title=title, xlim=(0, 1), ylim=(0, 1), aspect="equal", xlabel="false-positive rate")


# --- Figure 2 ---------------------------------------------------------------------------------------------------------


def class_counts(n: int, draws: int) -> dict[str, Array]:
    """Class sizes for several draws of the coefficients, by kind of label: (draws, 5), as shares of the rows."""
    found: dict[str, Array] = {}
    for labels in LABELS:
        samples = (paper_simulation(np.random.default_rng(seed), n, labels=labels)[2] for seed in range(draws))
        found[labels] = np.stack([np.bincount(codes, minlength=5) / n for codes in samples])
    return found


def draw_2(found: dict[str, Array]) -> None:
    """The classes of the first draw beside the paper's."""
    figure, panels = plt.subplots(1, 2, figsize=(8, 3), layout="constrained", sharey=True)
    for axes, (labels, shares) in zip(panels, found.items(), strict=True):
        axes.bar(np.arange(1, 6) - 0.2, PAPER_SHARES[labels], width=0.38, color="0.7", label="paper")
        axes.bar(np.arange(1, 6) + 0.2, shares[0], width=0.38, color="C0", label="here, first draw")
        axes.set(title=LABELS[labels], xlabel="class")
    panels[0].set(ylabel="share of the rows", ylim=(0, 0.36))
    panels[0].legend(frameon=False, ncols=2)
    save(figure, "multiclass-roc-2")


def table_2(found: dict[str, Array]) -> str:
    """The largest and the smallest class in all draws."""
    rows = []
    for labels, shares in found.items():
        paper = PAPER_SHARES[labels]
        for what, of_paper, ours in (
            ("largest class", paper.max(), shares.max(axis=1)),
            ("smallest class", paper.min(), shares.min(axis=1)),
        ):
            low, middle, high = np.quantile(ours, [0.05, 0.5, 0.95])
            rows.append([LABELS[labels], what, f"{of_paper:.3f}", f"{middle:.3f} ({low:.3f} to {high:.3f})"])
    heads = ["labels", "share of the rows", "paper", f"we get: median (5% to 95% of {len(found['sample'])} draws)"]
    return table(heads, rows)


# --- Figure 3 ---------------------------------------------------------------------------------------------------------


def discrimination(n: int, seen: Sequence[int]) -> dict[str, Models]:
    """Curves and measures by kind of label of models that see the first covariates, and of one that sees noise."""
    found: dict[str, Models] = {}
    for labels in LABELS:
        rng = np.random.default_rng(3)
        x, _, codes = paper_simulation(rng, n, labels=labels)
        models = {"noise": model_of_first(rng.normal(size=x.shape), codes, 10)}
        models |= {f"d = {d}": model_of_first(x, codes, d) for d in seen}
        found[labels] = {
            name: (multiauc.multiclass_roc(codes, scores), measures(codes, scores)) for name, scores in models.items()
        }
    return found


def draw_3(found: dict[str, Models]) -> None:
    """The curves."""
    figure, panels = plt.subplots(1, 2, figsize=(8, 4.2), layout="constrained")
    for axes, (labels, models) in zip(panels, found.items(), strict=True):
        colours = iter(plt.get_cmap("viridis")(np.linspace(0, 0.95, len(models) - 1)))
        for name, (roc, values) in models.items():
            colour = "crimson" if name == "noise" else next(colours)
            axes.plot(roc.fpr, roc.tpr, color=colour, linewidth=1.1, label=f"{name}: D = {values['D']:.3f}")
        frame_curves(axes, LABELS[labels])
        axes.legend(fontsize=7, loc="lower right")
    save(figure, "multiclass-roc-3")


def table_3(found: dict[str, Models]) -> str:
    """D, M and AUC_mu."""
    shown = ("D", "M", "AUC_mu")
    rows = [
        [name, *(f"{found[labels][name][1][measure]:.4f}" for labels in LABELS for measure in shown)]
        for name in found["sample"]
    ]
    return table(["model sees", *(f"{m}, {kind}" for kind in ("drawn", "argmax") for m in shown)], rows)


# --- Figure 4 ---------------------------------------------------------------------------------------------------------


def tail(c: float, alpha: float, k: int) -> float:
    """P(largest / smallest of k Dirichlet(alpha) shares > c): they are gamma variables divided by their sum.

    With F their distribution function, the smallest is at its quantile u and the others between it and c times it:
    the integral of k (F(c F^-1(u)) - u)^(k - 1) over u.
    """
    nodes, weights = np.polynomial.legendre.leggauss(400)
    u = (nodes + 1.0) / 2.0
    between = special.gammainc(alpha, c * special.gammaincinv(alpha, u)) - u
    return float(1.0 - k * (weights / 2.0) @ between ** (k - 1))


def skew_chances(draws: int, ratios: Array) -> dict[tuple[int, float], tuple[Array, Array]]:
    """By (k, alpha): the chance that Z is above each ratio, in closed form and simulated as in the paper."""
    rng = np.random.default_rng(4)
    found = {}
    for k in (5, 10):
        for alpha in (1.0, *ALPHAS):
            shares = rng.dirichlet(np.full(k, alpha), size=draws)
            z = shares.max(axis=1) / shares.min(axis=1)
            exact = np.array([tail(c, alpha, k) for c in ratios])
            found[k, alpha] = exact, np.array([(z > c).mean() for c in ratios])
    return found


def furthest(found: dict[tuple[int, float], tuple[Array, Array]]) -> float:
    """The largest difference between the closed form and the simulation."""
    return max(float(np.abs(exact - simulated).max()) for exact, simulated in found.values())


def draw_4(found: dict[tuple[int, float], tuple[Array, Array]], ratios: Array) -> None:
    """The closed form as lines, the simulation as dots."""
    figure, panels = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained", sharey=True)
    colours = dict(zip((1.0, *ALPHAS), ("C1", "C3", "C0", "C2"), strict=True))
    for (k, alpha), (exact, simulated) in found.items():
        axes = panels[(5, 10).index(k)]
        axes.plot(ratios, exact, color=colours[alpha], label=f"α = {alpha:g}")
        axes.plot(ratios, simulated, ".", color=colours[alpha], markersize=4)
        axes.set(title=f"k = {k}", xlabel="c", xscale="log")
    panels[0].set_ylabel("P(Z > c)")
    panels[0].legend(frameon=False)
    save(figure, "multiclass-roc-4")


def table_4() -> str:
    """Some of the chances in closed form."""
    rows = [
        [str(k), f"{alpha:g}", *(f"{tail(c, alpha, k):.4f}" for c in (3.0, 10.0, 30.0))]
        for k in (5, 10)
        for alpha in ALPHAS
    ]
    return table(["k", "α", "P(Z > 3)", "P(Z > 10)", "P(Z > 30)"], rows)


# --- Figure 5 ---------------------------------------------------------------------------------------------------------


def class_skew(n: int, size: int, mixes: int) -> Mixes:
    """The curves and measures of three models under class mixes of three degrees of skew, by (d, alpha)."""
    rng = np.random.default_rng(5)
    x, _, codes = paper_simulation(rng, n)
    found: Mixes = {}
    for d in (2, 5, 9):
        scores = model_of_first(x, codes, d)
        for alpha in ALPHAS:
            samples = (mixed_rows(rng, codes, alpha, size) for _ in range(mixes))
            found[d, alpha] = [
                {
                    **measures(codes[rows], scores[rows]),
                    "equal": multiauc.multiclass_roc(codes[rows], scores[rows]),
                    "sized": multiauc.multiclass_roc(codes[rows], scores[rows], pair_weights="size_product"),
                }
                for rows in samples
            ]
    return found


def spreads(found: Mixes, d: int, alpha: float) -> dict[str, float]:
    """The standard deviation of each measure over the class mixes."""
    samples = found[d, alpha]
    values = {name: [sample[name] for sample in samples] for name in ("D", "M", "AUC_mu", "P&D")}
    values["D, pairs by size"] = [sample["sized"].auc for sample in samples]
    return {name: float(np.std(of_mixes, ddof=1)) for name, of_mixes in values.items()}


def draw_5(found: Mixes) -> None:
    """The curves of all mixes."""
    figure, panels = plt.subplots(2, 3, figsize=(8.4, 5.8), layout="constrained", sharex=True, sharey=True)
    for (d, alpha), samples in found.items():
        for line, weights in enumerate(("equal", "sized")):
            axes = panels[line, (2, 5, 9).index(d)]
            for sample in samples:
                roc = sample[weights]
                colour = ("C3", "C0", "C2")[ALPHAS.index(alpha)]
                axes.plot(roc.fpr, roc.tpr, color=colour, alpha=0.4, linewidth=0.6, rasterized=True)
            frame_curves(axes, f"d = {d}, pairs {('equal', 'by size')[line]}")
    for alpha, colour in zip(ALPHAS, ("C3", "C0", "C2"), strict=True):
        panels[0, 0].plot([], [], color=colour, label=f"α = {alpha:g}")
    panels[0, 0].legend(loc="lower right", frameon=False)
    save(figure, "multiclass-roc-5")


def table_5(found: Mixes) -> str:
    """The spread of D and of the other measures."""
    shown = ("D", "D, pairs by size", "M", "AUC_mu", "P&D")
    rows = []
    for d, alpha in found:
        mean = np.mean([sample["D"] for sample in found[d, alpha]])
        spread = spreads(found, d, alpha)
        rows.append([str(d), f"{alpha:g}", f"{mean:.3f}", *(f"{spread[name]:.4f}" for name in shown)])
    return table(["d", "α", "mean of D", *(f"sd of {name}" for name in shown)], rows)


# --- Figure 6 ---------------------------------------------------------------------------------------------------------


def costs_of_rewards(k: int, majority: int, c: float) -> Array:
    """The costs nearest to these rewards: missing the majority costs c, being taken for it 1/c."""
    costs = np.ones((k, k))
    costs[:, majority] = c
    costs[majority, :] = 1.0 / c
    np.fill_diagonal(costs, 0.0)
    return costs


def rewards(n: int, class_numbers: Sequence[int], values: Sequence[float]) -> Rewarded:
    """By (k, alpha) and reward c: the curve of the majority classifier, D by quantiles of each class, and AUC_mu."""
    found: Rewarded = {}
    for k in class_numbers:
        for alpha in ALPHAS:
            codes, scores, majority = majority_classifier(np.random.default_rng(22 + k), n, k, alpha=alpha)
            found[k, alpha] = {}
            for c in values:
                weights = majority_rewards(k, majority, c)
                found[k, alpha][c] = {
                    "roc": multiauc.multiclass_roc(codes, scores, rate_weights=weights),
                    "class": multiauc.multiclass_roc(codes, scores, rate_weights=weights, scope="class").auc,
                    "AUC_mu": multiauc.auc_mu_score(codes, scores, partition=costs_of_rewards(k, majority, c)),
                }
    return found


def colour_of(c: float) -> Any:
    """Blue for small rewards, red for large ones."""
    return "black" if c == 1 else plt.get_cmap("coolwarm")(0.5 + 0.5 * np.log10(c))


def draw_6(found: Rewarded) -> None:
    """The curves by reward."""
    class_numbers = sorted({k for k, _ in found})
    rows, columns = len(ALPHAS), len(class_numbers)
    figure, panels = plt.subplots(rows, columns, figsize=(8, 8.2), layout="constrained", sharey=True, squeeze=False)
    for (k, alpha), by_reward in found.items():
        axes = panels[ALPHAS.index(alpha), class_numbers.index(k)]
        for c, sample in by_reward.items():
            # Every third point is enough for the eye, and for the size of the file.
            points = np.r_[0 : len(sample["roc"].fpr) - 1 : 3, len(sample["roc"].fpr) - 1]
            fpr, tpr = sample["roc"].fpr[points], sample["roc"].tpr[points]
            axes.plot(fpr, tpr, color=colour_of(c), linewidth=1.6 if c == 1 else 0.8)
        frame_curves(axes, f"k = {k}, α = {alpha:g}")
    for c in (0.1, 0.5, 1.0, 2.0, 10.0):
        panels[0, 0].plot([], [], color=colour_of(c), label=f"c = {c:g}")
    panels[0, 0].legend(loc="lower right", fontsize=7, frameon=False)
    save(figure, "multiclass-roc-6")


def table_6(found: Rewarded) -> str:
    """D by both kinds of thresholds, and AUC_mu."""
    shown = [c for c in (0.1, 0.5, 1.0, 2.0, 10.0) if c in next(iter(found.values()))]
    rows = []
    for (k, alpha), by_reward in found.items():
        areas = [f"{by_reward[c]['roc'].auc:.3f}" for c in shown]
        by_class = [by_reward[c]["class"] for c in by_reward]
        constant = [by_reward[c]["AUC_mu"] for c in by_reward]
        rows.append([str(k), f"{alpha:g}", *areas, *(f"{min(v):.3f} to {max(v):.3f}" for v in (by_class, constant))])
    heads = [f"D, c = {c:g}" for c in shown]
    return table(["k", "α", *heads, "D by quantiles of each class, all c", "AUC_mu with costs, all c"], rows)
