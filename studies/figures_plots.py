"""The pictures of docs/plots.md, docs/costs.md and docs/slices.md (`make figures`)."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from sklearn.datasets import load_digits, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

mpl.use("agg")
from matplotlib import pyplot as plt

import multiauc
from multiauc.plotting import RocCurvesDisplay, RocSurfaceDisplay, SimplexDisplay

if TYPE_CHECKING:
    from multiauc._common.registry import CurveKind

FIGURES = Path(__file__).resolve().parent.parent / "docs" / "figures"
COSTS = [[0, 1, 1], [1, 0, 1], [5, 5, 0]]


def save(figure: Any, name: str) -> None:
    """Write a picture."""
    figure.savefig(FIGURES / f"{name}.png", dpi=80)
    plt.close(figure)


def slices_of_digits(images: Any, digits: Any) -> multiauc.Slices:
    """The example of docs/slices.md."""
    model = LogisticRegression(C=0.01, solver="newton-cholesky").fit(images[:700, ::4], digits[:700])
    ink = images[700:].sum(axis=1)
    strokes = np.array(["faint", "light", "strong", "bold"])[np.digitize(ink, np.quantile(ink, [0.25, 0.5, 0.75]))]
    scores = model.predict_proba(images[700:, ::4])
    found: multiauc.Slices = multiauc.evaluate_slices(digits[700:], scores, {"strokes": strokes})
    return found


def main() -> None:
    """Digits for matrices, curves and comparisons; wines, of which there are three, for the triangle."""
    images, digits = load_digits(return_X_y=True)
    save(slices_of_digits(images, digits).plot().figure_, "slices")
    # Every fourth pixel: a harder problem, whose pictures have something to show.
    seen, unseen, y_seen, y_true = train_test_split(images[:, ::4], digits, test_size=0.6, random_state=0)
    models = {
        "neighbours": KNeighborsClassifier(15),
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(solver="newton-cholesky")),
        "naive Bayes": GaussianNB(var_smoothing=1e-2),
    }
    scores = {name: model.fit(seen, y_seen).predict_proba(unseen) for name, model in models.items()}
    save(multiauc.auc_mu_matrix(y_true, scores["naive Bayes"]).plot().figure_, "pair-matrix")
    save(multiauc.compare(y_true, scores).plot().figure_, "comparison")

    figure, panels = plt.subplots(1, 2, figsize=(10.5, 5.3), layout="constrained")
    shown: tuple[CurveKind, ...] = ("one_vs_rest", "pairwise")
    for axes, kind in zip(panels, shown, strict=True):
        RocCurvesDisplay.from_predictions(y_true, scores["naive Bayes"], kind=kind, ax=axes)
    save(figure, "roc-curves")

    hulls = multiauc.roc_hulls(y_true, scores["naive Bayes"])
    figure, panels = plt.subplots(1, 2, figsize=(10.5, 5.3), layout="constrained")
    hulls[8].plot(panels[0], optimum=hulls[8].optimum(cost_fp=1, cost_fn=3))
    for digit in (8, 0):
        hulls[digit].cost_curve().plot(panels[1])
    save(figure, "costs")

    wines, kinds = load_wine(return_X_y=True)
    names = np.array(["Barolo", "Grignolino", "Barbera"])
    seen, unseen, y_seen, y_true = train_test_split(wines[:, [0, 2, 3]], names[kinds], test_size=0.7, random_state=0)
    model = make_pipeline(StandardScaler(), LogisticRegression(solver="newton-cholesky")).fit(seen, y_seen)
    figure, panels = plt.subplots(1, 2, figsize=(11, 5.2), layout="constrained")
    SimplexDisplay.from_estimator(model, unseen, y_true, ax=panels[0])
    SimplexDisplay.from_estimator(model, unseen, y_true, partition=COSTS, ax=panels[1])
    save(figure, "simplex")
    save(RocSurfaceDisplay.from_estimator(model, unseen, y_true).figure_, "roc-surface")


if __name__ == "__main__":
    main()
