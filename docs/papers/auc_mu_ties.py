"""The open question of the AUC_mu paper, whether ties become a problem with many classes, for auc-mu.md.

    python docs/papers/auc_mu_ties.py [--quick]

Rows of each class have normal scores, that of the class itself higher by 1.5 (logits), turned into probabilities and
then into what other kinds of classifiers return. Two rows of different classes tie where the differences of their two
scores are equal; ties are looked for among pairs of rows drawn at random, every pair of classes as likely as any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import pyplot as plt
from pages import is_quick, publish, save, table

import multiauc

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

SIGNAL = 1.5
CLASSES = (2, 4, 10, 30, 100, 300, 1000)
QUICK_CLASSES = (2, 10, 50)
ROWS = 4_000
PAIRS = 200_000


def votes(probabilities: Array, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """How many of `count` voters, each drawing from the probabilities of a row, choose each class."""
    return rng.multinomial(count, probabilities)


def best(probabilities: Array, count: int) -> Array:
    """Only the largest probabilities of each row, as a search for the best few answers returns them."""
    if probabilities.shape[1] <= count:
        return probabilities
    kept = np.argpartition(probabilities, -count, axis=1)[:, -count:]
    out = np.zeros_like(probabilities)
    np.put_along_axis(out, kept, np.take_along_axis(probabilities, kept, axis=1), axis=1)
    return out


#: From probabilities to what a classifier returns; whole numbers where it returns multiples of something.
KINDS: dict[str, Callable[[Array, np.random.Generator], NDArray[Any]]] = {
    "probabilities, float64": lambda p, _: p,
    "probabilities, float32": lambda p, _: p.astype(np.float32),
    "rounded to 6 decimals": lambda p, _: np.rint(p * 10**6).astype(np.int64),
    "rounded to 4 decimals": lambda p, _: np.rint(p * 10**4).astype(np.int64),
    "rounded to 2 decimals": lambda p, _: np.rint(p * 10**2).astype(np.int64),
    "votes of 500 trees": lambda p, rng: votes(p, 500, rng),
    "votes of 15 neighbours": lambda p, rng: votes(p, 15, rng),
    "the best 5, the rest 0": lambda p, _: best(p, 5),
    "decisions (0 and 1)": lambda p, _: (p == p.max(axis=1, keepdims=True)).astype(np.int64),
}


def sample(n_classes: int, rows: int) -> tuple[NDArray[np.intp], Array]:
    """Classes of equal size, and their logits."""
    rng = np.random.default_rng(n_classes)
    y_true = np.arange(max(rows, 4 * n_classes)) % n_classes
    logits = rng.normal(size=(len(y_true), n_classes))
    logits[np.arange(len(y_true)), y_true] += SIGNAL
    return y_true, logits


def softmax(logits: Array) -> Array:
    """Probabilities."""
    raised = np.exp(logits)
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def tied_share(y_true: NDArray[np.intp], scores: NDArray[Any], pairs: int) -> float:
    """How often two rows of different classes tie.

    Differences of whole numbers are exact, as are those of float32 numbers of similar size in float64. Differences of
    float64 numbers are rounded, which can make ties, though hardly ever, and breaks none here.
    """
    rng = np.random.default_rng(5)
    first, second = rng.integers(len(y_true), size=(2, pairs))
    differ = y_true[first] != y_true[second]
    first, second = first[differ], second[differ]
    c, d = y_true[first], y_true[second]
    exact = scores.astype(np.float64) if scores.dtype == np.float32 else scores
    return float(np.mean(exact[first, c] - exact[first, d] == exact[second, c] - exact[second, d]))


def tied_shares(n_classes: int, rows: int, pairs: int) -> dict[str, float]:
    """That share for every kind of score."""
    y_true, logits = sample(n_classes, rows)
    probabilities = softmax(logits)
    rng = np.random.default_rng(6)
    return {name: tied_share(y_true, kind(probabilities, rng), pairs) for name, kind in KINDS.items()}


def cosine(n_classes: int, pairs: int) -> tuple[float, int]:
    """With random costs for A: the median |cosine| between v and the difference of two predictions, and exact zeros."""
    rng = np.random.default_rng(7)
    costs = rng.random((pairs, 2, n_classes))
    costs[:, 0, 0] = costs[:, 1, 1] = 0.0
    normals = costs[:, 0] - costs[:, 1]
    y_true, logits = sample(n_classes, 4 * n_classes)
    probabilities = softmax(logits)
    # The first two classes stand for any two.
    gaps = probabilities[rng.choice(np.flatnonzero(y_true == 0), pairs)]
    gaps = gaps - probabilities[rng.choice(np.flatnonzero(y_true == 1), pairs)]
    products = np.einsum("ij,ij->i", normals, gaps)
    lengths = np.linalg.norm(normals, axis=1) * np.linalg.norm(gaps, axis=1)
    return float(np.median(np.abs(products) / lengths)), int(np.count_nonzero(products == 0.0))


def value_of_logits(n_classes: int, rows: int) -> tuple[float, float]:
    """AUC_mu of the logits and its standard error; the population's value is the same for any number of classes."""
    found = multiauc.evaluate(*sample(n_classes, rows), metrics=["auc_mu"]).auc_mu
    return found.value, found.standard_error


def values_of_votes(n_classes: int, rows: int) -> tuple[float, float]:
    """AUC_mu and M of the votes of 15 neighbours."""
    y_true, logits = sample(n_classes, rows)
    shares = votes(softmax(logits), 15, np.random.default_rng(6)) / 15
    return multiauc.auc_mu_score(y_true, shares), multiauc.hand_till_score(y_true, shares)


def share(value: float) -> str:
    """A share as a percentage, 0 only if there is none."""
    return "0" if value == 0.0 else f"{100 * value:.2g}%" if value < 0.01 else f"{100 * value:.1f}%"


def texts(*, quick: bool) -> dict[str, str]:
    """All that this script fills in."""
    classes, rows, pairs = (QUICK_CLASSES, 500, 20_000) if quick else (CLASSES, ROWS, PAIRS)
    ties = [tied_shares(k, rows, pairs) for k in classes]
    values = [value_of_logits(k, rows) for k in classes]
    voted = [values_of_votes(k, rows) for k in classes]
    cosines = [cosine(k, 500 if quick else 2_000) for k in classes]
    header = ["", *(f"K = {k:,}" for k in classes)]
    truth = multiauc.NormalScores(SIGNAL * np.eye(2), 1.0).auc_mu
    return {
        "ties": table(header, [[name, *(share(each[name]) for each in ties)] for name in KINDS]),
        "many-classes": table(
            header,
            [
                ["AUC_mu of the logits", *(f"{value:.4f}" for value, _ in values)],
                ["its standard error", *(f"{error:.4f}" for _, error in values)],
                ["AUC_mu of 15 votes", *(f"{value:.4f}" for value, _ in voted)],
                ["M of 15 votes", *(f"{value:.4f}" for _, value in voted)],
                ["random costs: median cosine", *(f"{angle:.3f}" for angle, _ in cosines)],
                ["random costs: dot products that are 0", *(str(zeros) for _, zeros in cosines)],
            ],
        ),
        "many-classes-truth": f"{truth:.4f}",
    }


def draw_ties() -> None:
    """The table of ties as curves."""
    figure, axes = plt.subplots(figsize=(6.6, 3.8), layout="constrained")
    found = [tied_shares(k, ROWS, PAIRS) for k in CLASSES]
    colours = ("#0072B2", "#0072B2", "#56B4E9", "#009E73", "#E69F00", "#CC79A7", "#D55E00", "0.5", "black")
    for k, (name, colour) in enumerate(zip(KINDS, colours, strict=True)):
        style = "--" if k == 1 else "-"
        axes.plot(
            CLASSES, [100 * each[name] for each in found], style, color=colour, marker="o", markersize=3, label=name
        )
    axes.set(xscale="log", xlabel="classes", ylabel="pairs of rows that tie, %", ylim=(-3, 103))
    axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    axes.spines[["top", "right"]].set_visible(False)
    save(figure, "auc-mu-ties")


def main() -> None:
    """Fill the page and draw."""
    quick = is_quick(__doc__)
    publish("auc-mu.md", texts(quick=quick), quick=quick)
    if not quick:
        draw_ties()


if __name__ == "__main__":
    main()
