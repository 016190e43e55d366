# ruff: noqa: T201 - a demo prints
"""Evaluate three classifiers of handwritten digits on rows they have not seen.

Trains three scikit-learn models on its bundled digits data (8 x 8 images, ten classes), keeps half of the rows for
evaluation, and prints the one-number summaries of each model, the pairs of digits that it tells apart worst, and
whether one model is better than another and how sure that is, on all digits and on five that are hard to read. A report
for a browser says the same in words and pictures.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import multiauc

MODELS = {
    "nearest neighbours": KNeighborsClassifier(n_neighbors=5),
    "naive Bayes": GaussianNB(var_smoothing=1e-3),
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=1000)),
}
WORST = 3
HARD = [1, 3, 5, 8, 9]


def print_table(header: list[str], rows: list[list[str]]) -> None:
    """Print `rows` under `header`: the first column to the left, the others to the right, a rule between."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    for first, *others in [header, ["-" * width for width in widths], *rows]:
        print("  ".join([first.ljust(widths[0]), *map(str.rjust, others, widths[1:])]))


def main() -> None:
    """Train, predict, evaluate, print."""
    images, digits = load_digits(return_X_y=True)
    seen, unseen, y_seen, y_true = train_test_split(images, digits, test_size=0.5, stratify=digits, random_state=0)
    print(f"{len(y_seen)} images to learn from, {len(y_true)} to evaluate on, {len(set(digits))} classes\n")

    predictions = {name: model.fit(seen, y_seen).predict_proba(unseen) for name, model in MODELS.items()}
    summary, confusions = [], []
    for name, y_score in predictions.items():
        values = (
            multiauc.auc_mu_score(y_true, y_score),
            multiauc.hand_till_score(y_true, y_score),
            multiauc.one_vs_rest_score(y_true, y_score),
        )
        summary.append([name, *(f"{value:.5f}" for value in values)])
        pairs = multiauc.auc_mu_matrix(y_true, y_score).worst(WORST)
        confusions.append([name, *(f"{first} and {second}: {value:.4f}" for first, second, value in pairs)])

    print("How well each model separates the classes (1 is perfect, 0.5 is chance)")
    print_table(["model", "AUC_mu", "Hand & Till's M", "one-vs-rest"], summary)
    print("\nThe pairs of digits that it tells apart worst (AUC_mu of the pair)")
    print_table(["model", "worst", "second", "third"], confusions)
    print("\nIs one model better than another, and how sure is that?")
    comparison = multiauc.compare(y_true, predictions)
    print(comparison)
    print("\nAnd on the rows and scores of five digits that are hard to read?")
    rows = np.isin(y_true, HARD)
    print(multiauc.compare(y_true[rows], {name: y_score[rows][:, HARD] for name, y_score in predictions.items()}))

    path = Path(tempfile.gettempdir()) / "multiauc-demo.html"
    print(f"\nThe report, for a browser: {comparison.report(path, title='Handwritten digits')}")


if __name__ == "__main__":
    main()
