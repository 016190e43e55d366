"""The figure of docs/coverage.md, from docs/coverage.csv: the coverage of scenarios, by quantity."""

import csv
from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("agg")
mpl.rcParams["svg.hashsalt"] = "coverage"
from matplotlib import pyplot as plt  # noqa: E402

DOCS = Path(__file__).resolve().parent.parent / "docs"
NAMES = {
    "auc_mu": "AUC_mu",
    "hand_till": "M",
    "one_vs_rest": "one-vs-rest",
    "pdi": "PDI",
    "average_precision": "average precision",
    "balanced_accuracy": "balanced accuracy",
    "accuracy": "accuracy",
    "kappa": "kappa",
    "matthews": "R_K",
    "macro_f1": "macro F1",
    "top_k_accuracy": "top-2 accuracy",
    "brier": "Brier score",
    "log_loss": "log loss",
    "mean of runs": "mean of runs",
    "difference of runs": "difference of runs",
    "two models": "test of two models",
    "three models": "tests of three models",
    "five models": "tests of five models",
    "two samples": "test of two samples",
}


def main() -> None:
    """A line per quantity: the range of scenarios, and the middle 80% of them."""
    with (DOCS / "coverage.csv").open(newline="") as stream:
        lines = list(csv.DictReader(stream))
    figure, axes = plt.subplots(figsize=(8, 6), layout="constrained")
    for place, (quantity, name) in enumerate(NAMES.items()):
        own = [line for line in lines if line["quantity"] == quantity]
        for column, colour, shift in (("logit_95", "0.7", 0.22), ("coverage_95", "C0", -0.12)):
            found = np.array([float(line[column]) for line in own if line[column]])
            if len(found):
                least, low, high, most = np.quantile(found, (0, 0.1, 0.9, 1))
                axes.plot([least, most], [place + shift] * 2, color=colour, linewidth=1)
                axes.plot([low, high], [place + shift] * 2, color=colour, linewidth=5, solid_capstyle="butt")
        print(f"{name}: {len(own)} scenarios, least {min(float(line['coverage_95']) for line in own):.3f}")
    axes.axvline(0.95, color="black", linewidth=0.8)
    axes.axvline(0.93, color="black", linewidth=0.8, linestyle=":")
    axes.set_yticks(range(len(NAMES)), NAMES.values())
    axes.invert_yaxis()
    axes.set_xlabel("coverage of 95% intervals: default (blue), logit (grey)")
    figure.savefig(DOCS / "figures" / "coverage.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
