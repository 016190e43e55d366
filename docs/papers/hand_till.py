"""Dataiku's multi-class ROC AUC, which is Hand & Till's M, against `hand_till_score`, for hand-till.md.

    python docs/papers/hand_till.py [--quick]

Dataiku's computation is written out step by step in fractions, and Hand & Till's own with ranks beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from matplotlib import pyplot as plt
from pages import is_quick, publish, save, table
from sklearn.datasets import load_digits, load_iris
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import multiauc

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Codes = NDArray[np.intp]

SIXTEENTHS = [
    (8, 4, 4), (5, 6, 5), (10, 4, 2), (6, 4, 6), (4, 8, 4), (7, 6, 3), (2, 10, 4), (4, 8, 4),
    (4, 4, 8), (8, 2, 6), (7, 3, 6), (2, 7, 7), (1, 2, 13),
]  # fmt: skip


# --- two definitions --------------------------------------------------------------------------------------------------


def area_under_roc(truth: Sequence[int], scores: Sequence[float]) -> Fraction:
    """The usual area under the ROC curve: a point for every threshold, and trapezoids between them."""
    positives, negatives = sum(truth), len(truth) - sum(truth)
    true_positives = false_positives = 0
    points = [(Fraction(0), Fraction(0))]
    for threshold in sorted(set(scores), reverse=True):
        for label, score in zip(truth, scores, strict=True):
            if score == threshold:
                true_positives += label
                false_positives += 1 - label
        points.append((Fraction(false_positives, negatives), Fraction(true_positives, positives)))
    area = Fraction(0)
    for (x, y), (next_x, next_y) in pairwise(points):
        area += (next_x - x) * (y + next_y) / 2
    return area


def dataiku(y_truth: Codes, y_probas: Array) -> Fraction:
    """MROC_AUC, as the document describes it."""
    n_classes = int(y_probas.shape[1])
    total = Fraction(0)
    for i in range(n_classes):
        for j in range(n_classes):
            if i != j:
                rows = [k for k in range(len(y_truth)) if y_truth[k] in (i, j)]
                binarized = [int(y_truth[k] == i) for k in rows]
                total += area_under_roc(binarized, [float(y_probas[k, i]) for k in rows])
    return total / (n_classes * (n_classes - 1))


def hand_and_till(y_true: Codes, y_score: Array) -> Fraction:
    """M from sums of ranks: A(i|j) = (S_i - n_i (n_i + 1) / 2) / (n_i n_j), tied scores sharing their mean rank."""
    n_classes = int(y_score.shape[1])
    total = Fraction(0)
    for i in range(n_classes):
        for j in range(n_classes):
            if i != j:
                own = [float(score) for score in y_score[y_true == i, i]]
                others = [float(score) for score in y_score[y_true == j, i]]
                together = own + others
                ranks = sum(
                    (
                        Fraction(2 * sum(other < score for other in together) + together.count(score) + 1, 2)
                        for score in own
                    ),
                    Fraction(0),
                )
                total += (ranks - Fraction(len(own) * (len(own) + 1), 2)) / (len(own) * len(others))
    return total / (n_classes * (n_classes - 1))


# --- samples ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sample:
    """Rows on which the definitions are compared."""

    name: str
    y_true: Codes
    y_score: Array


def simulated(name: str, sizes: Sequence[int], voters: int | None = None) -> Sample:
    """Probabilities of a plausible classifier, or the shares of so many votes, which tie often."""
    rng = np.random.default_rng(len(sizes))
    y_true = np.repeat(np.arange(len(sizes)), sizes)
    scores = rng.dirichlet(np.ones(len(sizes)), size=len(y_true)) * 0.7 + 0.3 * np.eye(len(sizes))[y_true]
    return Sample(name, y_true, scores if voters is None else rng.multinomial(voters, scores) / voters)


def samples(*, quick: bool) -> list[Sample]:
    """Small ones by hand, simulated ones with ties and skew, and cross-validated predictions of three classifiers."""
    codes = np.repeat(np.arange(3), [4, 4, 5])
    found = [
        Sample("Figure 1 of the AUC_mu paper", np.arange(3), np.array([[6, 5, 5], [7, 9, 0], [7, 0, 9]]) / 16),
        Sample("thirteen rows in sixteenths", codes, np.array(SIXTEENTHS) / 16),
        simulated("two classes", [40, 60]),
        simulated("four classes, ten votes", [50, 30, 20, 10], 10),
        simulated("four skewed classes", [120, 20, 6, 2]),
        simulated("ten classes", [8] * 10),
    ]
    if quick:
        return found
    iris, kinds = load_iris(return_X_y=True)
    digits, names = load_digits(return_X_y=True)
    tree = DecisionTreeClassifier(min_samples_leaf=10, random_state=0)
    predicted = {
        "iris, 15 neighbours": (KNeighborsClassifier(15), iris[:, :2], kinds),
        "iris, a tree": (tree, iris[:, :2], kinds),
        "digits, naive Bayes": (GaussianNB(var_smoothing=1e-2), digits[:400, ::4], names[:400]),
    }
    for name, (model, x, y) in predicted.items():
        found.append(Sample(name, y, cross_val_predict(model, x, y, method="predict_proba")))
    return found


def scikit_learn(y_true: Codes, y_score: Array, average: str) -> float:
    """Its number for the same rows; two classes take one column."""
    if y_score.shape[1] == 2:
        return float(roc_auc_score(y_true, y_score[:, 1]))
    return float(roc_auc_score(y_true, y_score, multi_class="ovo", average=average))


def rows_of_agreement(found: Sequence[Sample]) -> str:
    """The two definitions, the library, scikit-learn."""
    rows = []
    for sample in found:
        exact = dataiku(sample.y_true, sample.y_score)
        ranks = hand_and_till(sample.y_true, sample.y_score)
        ours = multiauc.hand_till_score(sample.y_true, sample.y_score)
        rows.append(
            [
                sample.name,
                f"{len(sample.y_true)}, {sample.y_score.shape[1]}",
                f"{float(exact):.6f}",
                "equal" if ranks == exact else f"{float(ranks - exact):.0e}",
                f"{ours:.6f}",
                f"{abs(ours - float(exact)):.0e}" if ours != float(exact) else "0",
                f"{scikit_learn(sample.y_true, sample.y_score, 'macro'):.6f}",
                f"{scikit_learn(sample.y_true, sample.y_score, 'weighted'):.4f}",
            ]
        )
    header = [
        "rows",
        "n, K",
        "Dataiku, in fractions",
        "Hand & Till's ranks",
        "`hand_till_score`",
        "difference",
        'scikit-learn, "ovo"',
        'its "weighted"',
    ]
    return table(header, rows)


def asymmetry(sample: Sample) -> tuple[float, tuple[int, int]]:
    """The largest |A(i, j) - A(j, i)|, and where."""
    matrix = multiauc.hand_till_matrix(sample.y_true, sample.y_score).values
    gaps = np.nan_to_num(np.abs(matrix - matrix.T))
    i, j = np.unravel_index(gaps.argmax(), gaps.shape)
    return float(gaps.max()), (int(i), int(j))


def draw_matrix(sample: Sample) -> None:
    """The document's A(i, j)."""
    figure, axes = plt.subplots(figsize=(5.6, 4.8), layout="constrained")
    multiauc.hand_till_matrix(sample.y_true, sample.y_score).plot(axes)
    save(figure, "hand-till-matrix")


def main() -> None:
    """Fill the page and draw."""
    quick = is_quick(__doc__)
    found = samples(quick=quick)
    largest, (i, j) = asymmetry(found[-1])
    filled = {"agreement": rows_of_agreement(found), "asymmetry": f"{largest:.3f}, between {i} and {j}"}
    publish("hand-till.md", filled, quick=quick)
    if not quick:
        draw_matrix(found[-1])


if __name__ == "__main__":
    main()
