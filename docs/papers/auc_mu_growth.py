"""How the time of AUC_mu grows with rows and classes, for the claims on complexity in auc-mu.md.

    python docs/papers/auc_mu_growth.py [--quick]

What is measured is the processor time of the process with one thread, which other programs disturb less than the time
on the clock; the least of several runs. The exponents are slopes of straight lines through the logarithms.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib import pyplot as plt
from pages import is_quick, publish, save, table
from sklearn.metrics import roc_auc_score

import multiauc

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Measure = Callable[[NDArray[np.intp], Array], float]

CLASSES_WHILE_ROWS_GROW = 10
ROWS_WHILE_CLASSES_GROW = 2**15


def by_definition(y_true: NDArray[np.intp], y_score: Array) -> float:
    """AUC_mu as equation 4 reads: every pair of rows of every two classes."""
    n_classes = y_score.shape[1]
    total = 0.0
    for c in range(n_classes):
        for d in range(c):
            gaps = y_score[:, c] - y_score[:, d]
            compared = gaps[y_true == c][:, None] - gaps[y_true == d]
            total += float(np.mean(compared > 0.0) + 0.5 * np.mean(compared == 0.0))
    return float(2.0 * total / (n_classes * (n_classes - 1)))


def with_costs(y_true: NDArray[np.intp], y_score: Array) -> float:
    """AUC_mu by a partition matrix without a pattern."""
    n_classes = y_score.shape[1]
    costs = np.random.default_rng(8).random((n_classes, n_classes)) * (1.0 - np.eye(n_classes))
    return multiauc.auc_mu_score(y_true, y_score, partition=costs)


def scikit_learn(y_true: NDArray[np.intp], y_score: Array) -> float:
    """M by scikit-learn, which looks at all rows for every two classes."""
    return float(roc_auc_score(y_true, y_score, multi_class="ovo"))


@dataclass(frozen=True)
class Growth:
    """A measure, what the papers say of it, and the sizes at which it is timed."""

    measure: Measure
    says: str
    rows: Sequence[int]
    classes: Sequence[int]
    rows_while_classes_grow: int = ROWS_WHILE_CLASSES_GROW


def powers(first: int, last: int) -> tuple[int, ...]:
    """Powers of two."""
    return tuple(2**k for k in range(first, last + 1))


GROWTHS = {
    "AUC_mu": Growth(multiauc.auc_mu_score, "K n log n", powers(14, 20), powers(3, 8)),
    "AUC_mu, general costs": Growth(with_costs, "K n (K + log n)", powers(14, 20), powers(3, 7)),
    "M": Growth(multiauc.hand_till_score, "K n log n (Fawcett: K² n log n)", powers(14, 20), powers(3, 8)),
    "one-vs-rest": Growth(multiauc.one_vs_rest_score, "K n log n", powers(14, 20), powers(3, 8)),
    "AUC_mu, definition in NumPy": Growth(by_definition, "(all pairs of rows)", powers(11, 14), powers(2, 5), 2**13),
    "M, scikit-learn": Growth(scikit_learn, "", powers(13, 16), powers(3, 5), 2**13),
}


def sample(n: int, n_classes: int) -> tuple[NDArray[np.intp], Array]:
    """Classes of equal size, probabilities of a plausible classifier."""
    rng = np.random.default_rng(9)
    y_true = np.arange(n) % n_classes
    logits = rng.normal(size=(n, n_classes))
    logits[np.arange(n), y_true] += 1.5
    raised = np.exp(logits)
    return y_true, raised / raised.sum(axis=1, keepdims=True)


def seconds(measure: Measure, n: int, n_classes: int, *, budget: float = 0.6) -> float:
    """The least processor time of a call: of at least 3, and of as many as fit the budget, up to 40."""
    drawn = sample(n, n_classes)
    least, spent, runs = np.inf, 0.0, 0
    while runs < 3 or (spent < budget and runs < 40):
        started = time.process_time()
        measure(*drawn)
        taken = time.process_time() - started
        least, spent, runs = min(least, taken), spent + taken, runs + 1
    return float(least)


def exponent(sizes: Sequence[int], times: Sequence[float]) -> float:
    """The slope of log time on log size."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def exponents(sizes: Sequence[int], times: Sequence[float]) -> str:
    """Over all sizes, and over the largest three."""
    return f"{exponent(sizes, times):.2f}; {exponent(sizes[-3:], times[-3:]):.2f}"


@dataclass(frozen=True)
class Measured:
    """Times while rows grow and while classes grow."""

    by_rows: list[float]
    by_classes: list[float]


def measured(growth: Growth) -> Measured:
    """Time it on one thread."""
    before = multiauc.get_num_threads()
    multiauc.set_num_threads(1)
    try:
        by_rows = [seconds(growth.measure, n, CLASSES_WHILE_ROWS_GROW) for n in growth.rows]
        by_classes = [seconds(growth.measure, growth.rows_while_classes_grow, k) for k in growth.classes]
    finally:
        multiauc.set_num_threads(before)
    return Measured(by_rows, by_classes)


def ends(sizes: Sequence[int], times: Sequence[float]) -> str:
    """The smallest and the largest size, and the milliseconds that they take."""
    return f"{sizes[0]:,} to {sizes[-1]:,}: {1e3 * times[0]:.3g} to {1e3 * times[-1]:.3g}"


def rows_of_exponents(found: dict[str, Measured]) -> str:
    """The claims beside the exponents."""
    rows = []
    for name, times in found.items():
        growth = GROWTHS[name]
        rows.append(
            [
                name,
                growth.says,
                exponents(growth.rows, times.by_rows),
                ends(growth.rows, times.by_rows),
                exponents(growth.classes, times.by_classes),
                ends(growth.classes, times.by_classes),
            ]
        )
    header = ["measure", "the paper says", "n to the", "ms while n goes from", "K to the", "ms while K goes from"]
    return table(header, rows)


def smaller(growth: Growth) -> Growth:
    """For a look at whether it runs."""
    return Growth(growth.measure, growth.says, powers(8, 10), powers(2, 3), 2**8)


def draw(found: dict[str, Measured]) -> None:
    """Times on logarithmic axes."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 4.2), layout="constrained", sharey=True)
    colours = ("#0072B2", "#56B4E9", "#009E73", "#CC79A7", "black", "#D55E00")
    for (name, times), colour in zip(found.items(), colours, strict=True):
        growth = GROWTHS[name]
        options = {"color": colour, "marker": "o", "markersize": 3}
        left.plot(growth.rows, [1e3 * t for t in times.by_rows], label=name, **options)
        right.plot(growth.classes, [1e3 * t for t in times.by_classes], **options)
    left.set(xscale="log", yscale="log", xlabel=f"rows (K = {CLASSES_WHILE_ROWS_GROW})", ylabel="ms of processor time")
    right.set(xscale="log", xlabel="classes (rows: see the text)")
    right.set_xticks([4, 8, 16, 32, 64, 128, 256], labels=["4", "8", "16", "32", "64", "128", "256"])
    right.minorticks_off()
    figure.legend(loc="outside lower center", frameon=False, fontsize=8, ncols=3)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    save(figure, "auc-mu-growth")


def main() -> None:
    """Fill the page and draw."""
    quick = is_quick(__doc__)
    if quick:
        GROWTHS.update({name: smaller(growth) for name, growth in GROWTHS.items()})
    found = {name: measured(growth) for name, growth in GROWTHS.items()}
    publish("auc-mu.md", {"growth": rows_of_exponents(found)}, quick=quick)
    if not quick:
        draw(found)


if __name__ == "__main__":
    main()
