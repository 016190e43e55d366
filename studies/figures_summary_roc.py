"""The picture of docs/summary-roc.md: the multi-class ROC curve and a summary curve of the same pairs."""

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("agg")
from matplotlib import pyplot as plt

import multiauc

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "core"))

from multiclass_roc_data import model_of_first, paper_simulation  # noqa: E402

THRESHOLDS = (0.06, 0.1, 0.15, 0.2, 0.26)


def main() -> None:
    """The paper's simulation, a model that sees four of ten covariates."""
    x, _, codes = paper_simulation(np.random.default_rng(35), 20_000)
    scores = model_of_first(x, codes, 4)
    roc = multiauc.multiclass_roc(codes, scores)
    decided = multiauc.summary_roc_of_pairs(codes, scores, model="moses_littenberg")
    figure, axes = plt.subplots(figsize=(6.6, 6.6), layout="constrained")
    roc.plot(axes, label="multi-class ROC")
    decided.plot(axes, label="summary ROC, each pair by its higher score")
    print(f"  multi-class ROC: D = {roc.auc:.4f}; summary ROC (Moses-Littenberg): AUC = {decided.auc:.4f}")
    for threshold in THRESHOLDS:
        pairs = multiauc.summary_roc_of_pairs(codes, scores, model="binomial", threshold=threshold)
        tp, fn, fp, tn = pairs.tables.T
        dots = "the pairs at these thresholds" if threshold == THRESHOLDS[0] else None
        axes.plot(fp / (fp + tn), tp / (tp + fn), ".", color="0.6", markersize=4, label=dots, zorder=2)
        assert pairs.operating_point is not None
        fpr, tpr = pairs.operating_point
        name = "mean of the pairs at a threshold (eq. 18)" if threshold == THRESHOLDS[0] else None
        axes.plot(fpr, tpr, "s", color="black", markersize=5, label=name, zorder=5)
        on_curve = float(np.interp(fpr, roc.fpr, roc.tpr))
        print(f"  threshold {threshold}: mean at ({fpr:.3f}, {tpr:.3f}); multi-class ROC there {on_curve:.3f}")
    axes.legend(loc="lower right", frameon=False, fontsize=9)
    figure.savefig(ROOT / "docs" / "figures" / "summary-roc.png", dpi=90)


if __name__ == "__main__":
    main()
