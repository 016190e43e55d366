"""Table 1 of the AUC_mu paper, skew, theorem 5.3, costs and standard errors, for auc-mu.md.

    python docs/papers/auc_mu_properties.py [--quick]

`tests/core/table_one.py` has the measures of Table 1.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib import pyplot as plt
from pages import HERE, is_quick, publish, save, table

import multiauc

sys.path.insert(0, str(HERE.parents[1] / "tests" / "core"))
from table_one import MEASURES, change_with_skew, on_constant_scores, on_separable_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

#: Table 1 of the paper, in its order: perfect is 1, random is 0.5, insensitive to skew. Five cells are empty in our
#: text, which keeps all crosses and question marks and some ticks: they are read as ticks.
PAPER = {
    "VUS-3 (Mossman) = HUM, sums": ("yes", "no", "?"),
    "VUS (Ferri) / V_max": ("no", "no", "?"),
    "H&T (M)": ("no", "yes", "yes"),
    "P&D": ("no", "yes", "no"),
    "AUC_mu": ("yes", "yes", "yes"),
}

#: The third class is easily taken for the first: what changes with its share feels skew.
MEANS = np.array([[2.5, 0.0, 1.8], [0.0, 2.5, 0.0], [1.8, 0.0, 2.5]])
SHARES = (0.02, 0.1, 1 / 3, 0.6, 0.9)
SKEWED = {
    "AUC_mu": "auc_mu",
    "M": "hand_till",
    "P&D": "one_vs_rest_prevalence",
    "one-vs-rest, macro": "one_vs_rest",
    "AUC_mu^S": "auc_mu_size_product",
}


# --- Table 1 ----------------------------------------------------------------------------------------------------------


def rows_of_table_one() -> str:
    """What the paper has beside what we compute."""
    rows = []
    for name, says in PAPER.items():
        measure = MEASURES[name]
        found = on_separable_rows(measure), on_constant_scores(measure), change_with_skew(measure)
        cells = [f"{said} / {value:.4f}" for said, value in zip(says, found, strict=True)]
        rows.append([name, *cells])
    header = [
        "measure",
        "perfect = 1: paper / value",
        "random = 0.5: paper / value",
        "skew insensitive: paper / change",
    ]
    return table(header, rows)


# --- skew -------------------------------------------------------------------------------------------------------------


def population(share: float) -> multiauc.NormalScores:
    """The third class has this share of the rows, the others as much as each other."""
    rest = (1.0 - share) / 2.0
    return multiauc.NormalScores(MEANS, 1.0, prevalence=[rest, rest, share])


def estimates(share: float, n: int) -> dict[str, float]:
    """The measures on rows drawn from that population."""
    y_true, y_score = population(share).sample(n, rng=1)
    return {
        "AUC_mu": multiauc.auc_mu_score(y_true, y_score),
        "M": multiauc.hand_till_score(y_true, y_score),
        "P&D": multiauc.one_vs_rest_score(y_true, y_score, average="prevalence"),
        "one-vs-rest, macro": multiauc.one_vs_rest_score(y_true, y_score),
        "AUC_mu^S": multiauc.auc_mu_score(y_true, y_score, pair_weights="size_product"),
    }


def rows_of_skew(n: int) -> str:
    """Population value and estimate, for several shares of the third class."""
    found = [estimates(share, n) for share in SHARES]
    rows = [
        [
            name,
            *(f"{getattr(population(share), attribute):.4f} ({values[name]:.4f})"
              for share, values in zip(SHARES, found, strict=True)),
        ]
        for name, attribute in SKEWED.items()
    ]  # fmt: skip
    return table(["measure", *(f"share {share:.2f}" for share in SHARES)], rows)


def draw_skew(n: int) -> None:
    """The same as curves with dots."""
    figure, axes = plt.subplots(figsize=(6.2, 3.6), layout="constrained")
    shares = np.linspace(0.01, 0.97, 60)
    colours = ("#0072B2", "#009E73", "#D55E00", "#CC79A7", "black")
    dots = [estimates(share, n) for share in SHARES]
    for (name, attribute), colour in zip(SKEWED.items(), colours, strict=True):
        axes.plot(shares, [getattr(population(share), attribute) for share in shares], color=colour, label=name)
        axes.plot(SHARES, [values[name] for values in dots], "o", color=colour, markersize=4)
    axes.set(xlabel="share of class 3, which is easily taken for class 1", ylabel="value", xlim=(0, 1))
    axes.legend(frameon=False, ncols=2, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    save(figure, "auc-mu-skew")


# --- equation 5 -------------------------------------------------------------------------------------------------------


def right_pairs_of_different_classes(y_true: NDArray[np.intp], y_score: Array) -> float:
    """The share of all pairs of rows of different classes that are in the right order, counted pair by pair."""
    right, pairs = 0.0, 0
    for i in range(len(y_true)):
        for j in range(i):
            c, d = y_true[i], y_true[j]
            if c != d:
                pairs += 1
                gap = (y_score[i, c] - y_score[i, d]) - (y_score[j, c] - y_score[j, d])
                right += 1.0 if gap > 0 else 0.5 if gap == 0 else 0.0
    return right / pairs


def size_product() -> tuple[float, float]:
    """AUC_mu^S of 300 skewed rows, from the library and by that definition."""
    y_true, y_score = population(0.1).sample(300, rng=2)
    return (
        multiauc.auc_mu_score(y_true, y_score, pair_weights="size_product"),
        right_pairs_of_different_classes(y_true, y_score),
    )


# --- theorem 5.3 ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RandomPartitions:
    """What random partition matrices are, and what AUC_mu makes of them."""

    off_diagonal: tuple[float, float]
    argmax: float
    half: float
    mean: float
    spread: tuple[float, float]


def random_partitions(count: int) -> RandomPartitions:
    """Matrices with uniform costs: their mean, AUC_mu by the argmax matrix and by half of it, and by each of them."""
    rng = np.random.default_rng(3)
    costs = rng.random((count, 3, 3)) * (1.0 - np.eye(3))
    mean = costs.mean(axis=0)[~np.eye(3, dtype=bool)]
    y_true = np.repeat(np.arange(3), 200)
    logits = rng.normal(size=(600, 3)) + 1.2 * np.eye(3)[y_true]
    y_score = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    values = [multiauc.auc_mu_score(y_true, y_score, partition=partition) for partition in costs[:1000]]
    argmax = 1.0 - np.eye(3)
    return RandomPartitions(
        (float(mean.min()), float(mean.max())),
        multiauc.auc_mu_score(y_true, y_score),
        multiauc.auc_mu_score(y_true, y_score, partition=0.5 * argmax),
        float(np.mean(values)),
        (float(np.min(values)), float(np.max(values))),
    )


# --- standard errors --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Repeated:
    """AUC_mu over many samples, and what each of them said about its own error."""

    truth: float
    spread: float
    standard_error: float
    bootstrap: float
    covered: float


def repeated(samples: int) -> Repeated:
    """Samples of four classes of different sizes from a population of known AUC_mu."""
    scores = multiauc.NormalScores(1.3 * np.eye(4), 1.0)
    classes = np.repeat(np.arange(4), [100, 60, 40, 20])
    rng = np.random.default_rng(4)
    found = [multiauc.evaluate(classes, scores.scores_of(classes, rng=rng), metrics=["auc_mu"]) for _ in range(samples)]
    intervals = np.array([each.auc_mu.confidence_interval() for each in found])
    inside = (intervals[:, 0] <= scores.auc_mu) & (scores.auc_mu <= intervals[:, 1])
    few = found[: max(samples // 40, 5)]
    return Repeated(
        scores.auc_mu,
        float(np.std([each.auc_mu.value for each in found], ddof=1)),
        float(np.mean([each.auc_mu.standard_error for each in found])),
        float(np.mean([each.bootstrap(1000, rng=5).replicates.std(ddof=1) for each in few])),
        float(inside.mean()),
    )


def texts(*, quick: bool) -> dict[str, str]:
    """All that this script fills in."""
    fast, slow = size_product()
    drawn = random_partitions(2_000 if quick else 200_000)
    many = repeated(200 if quick else 2_000)
    return {
        "table-one": rows_of_table_one(),
        "skew": rows_of_skew(2_000 if quick else 100_000),
        "size-product": f"{fast:.6f} by the library and {slow:.6f} pair by pair",
        "partition-mean": "{:.4f} and {:.4f}".format(*drawn.off_diagonal),
        "partition-half": f"{drawn.half:.4f} with half of A_max, {drawn.argmax:.4f} with A_max",
        "partition-values": (
            "between {:.4f} and {:.4f}, ".format(*drawn.spread) + f"on average {drawn.mean:.4f}, not {drawn.argmax:.4f}"
        ),
        "standard-errors": table(
            ["", "AUC_mu"],
            [
                ["population value", f"{many.truth:.4f}"],
                ["standard deviation over samples", f"{many.spread:.4f}"],
                ["mean standard error, analytic", f"{many.standard_error:.4f}"],
                ["mean standard error, bootstrap", f"{many.bootstrap:.4f}"],
                ["95% intervals (analytic) that cover", f"{100 * many.covered:.1f}%"],
            ],
        ),
    }


def main() -> None:
    """Fill the page and draw."""
    quick = is_quick(__doc__)
    publish("auc-mu.md", texts(quick=quick), quick=quick)
    if not quick:
        draw_skew(100_000)


if __name__ == "__main__":
    main()
