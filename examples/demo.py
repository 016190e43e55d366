# ruff: noqa: T201 - a demo prints
"""Evaluate three classifiers of handwritten digits on rows they have not seen.

Trains three scikit-learn models on its bundled digits data (8 x 8 images, ten classes), keeps half of the rows for
evaluation, and prints the one-number summaries of each model and the pairs of digits that it tells apart worst.
"""

from __future__ import annotations

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

    summary, confusions = [], []
    for name, model in MODELS.items():
        y_score = model.fit(seen, y_seen).predict_proba(unseen)
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


if __name__ == "__main__":
    main()
