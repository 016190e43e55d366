"""The six data sets of the multi-class ROC paper, the models that it compares, and their predictions on several splits.

The data are not part of the repository: they are read from `../shared/data` beside it, if they are there.
"""

from __future__ import annotations

import csv
import gzip
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import multiauc

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sklearn.base import ClassifierMixin

    Array = NDArray[np.float64]
    Codes = NDArray[np.intp]
    Split = tuple[Codes, Codes]

DATA: Final = Path(__file__).resolve().parents[3] / "shared" / "data"
ABSENT: Final = f"the data sets are not at {DATA}: Figures 7 and 8 and Table 1 are left as they are"

#: By the paper's names.
FILES: Final = {
    "car": "car.csv",
    "optical": "optdigits.csv.gz",
    "pen": "pendigits.csv.gz",
    "tae": "tae.csv",
    "iris": "iris.csv",
    "glass": "glass.csv",
}
SMALL: Final = ("car", "tae", "iris", "glass")
MODELS: Final = ("knn", "multi", "tree")

#: How the paper can be read: where thresholds come from, and which model the rates have.
Scope = Literal["shared", "class", "pair"]
Center = Literal["intercept", "projection"]
SCOPES: Final[tuple[Scope, ...]] = ("shared", "class", "pair")
CENTERS: Final[tuple[Center, ...]] = ("intercept", "projection")

Order = tuple[str, ...]
#: The columns of the paper's Table 1, the best model first.
ORDERS: Final[tuple[Order, ...]] = (
    ("knn", "tree", "multi"),
    ("knn", "multi", "tree"),
    ("multi", "tree", "knn"),
    ("multi", "knn", "tree"),
    ("tree", "knn", "multi"),
    ("tree", "multi", "knn"),
)
#: Its rows, in the order of the columns.
PAPER_TABLE: Final = {
    "car": (0.0, 0.0, 0.84, 0.0, 0.0, 0.16),
    "optical": (0.0, 0.94, 0.0, 0.06, 0.0, 0.0),
    "pen": (0.0, 1.00, 0.0, 0.0, 0.0, 0.0),
    "tae": (0.0, 0.0, 0.99, 0.01, 0.0, 0.0),
    "iris": (0.16, 0.36, 0.15, 0.22, 0.04, 0.07),
    "glass": (0.25, 0.13, 0.0, 0.04, 0.37, 0.21),
}

# Columns of nominal codes: car's are ordered words, tae's are numbers in the file (speaker, instructor, course, term).
WORDS: Final = {"small": 0, "low": 0, "med": 1, "big": 2, "high": 2, "vhigh": 3, "5more": 5, "more": 5}
NOMINAL: Final = {"car": (0, 1, 2, 3, 4, 5), "tae": (0, 1, 2, 3)}


@dataclass(frozen=True)
class Choices:
    """What the paper does not say about its models. The defaults are those of the page."""

    indicators: tuple[str, ...] = ("car",)
    scaled: bool = True
    neighbours: int = 10
    leaf: int = 5
    inverse_penalty: float = 1e6
    scope: Scope = "shared"
    center: Center = "intercept"


DEFAULTS: Final = Choices()
#: What is tried beside them.
VARIANTS: Final = {
    "as above": DEFAULTS,
    "car's words as numbers 0, 1, 2, …": replace(DEFAULTS, indicators=()),
    "tae's codes as indicators too": replace(DEFAULTS, indicators=("car", "tae")),
    "features as they are for k-NN": replace(DEFAULTS, scaled=False),
    "1 neighbour": replace(DEFAULTS, neighbours=1),
    "25 neighbours": replace(DEFAULTS, neighbours=25),
    "trees grown to the end": replace(DEFAULTS, leaf=1),
    "regression with a penalty (C = 1)": replace(DEFAULTS, inverse_penalty=1.0),
    "D by quantiles of each class": replace(DEFAULTS, scope="class"),
    "D by quantiles of each pair": replace(DEFAULTS, scope="pair"),
    "D by projection, shared thresholds": replace(DEFAULTS, center="projection"),
    "D as in Algorithm 1 (class, projection)": replace(DEFAULTS, scope="class", center="projection"),
}


def are_there() -> bool:
    """Whether the data can be read."""
    return all((DATA / file).is_file() for file in FILES.values())


@cache
def read(name: str, *, indicators: bool) -> tuple[Array, Codes]:
    """(features, classes); nominal columns as numbers, or as one column for each value but the first."""
    path = DATA / FILES[name]
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
        rows = list(csv.reader(lines))[1:]
    features = np.array([[float(WORDS.get(cell, cell)) for cell in row[:-1]] for row in rows])
    if indicators:
        columns = []
        for j, column in enumerate(features.T):
            values = np.unique(column)[1:]
            is_nominal = j in NOMINAL[name]
            columns.append((column[:, None] == values).astype(float) if is_nominal else column[:, None])
        features = np.hstack(columns)
    return features, np.unique([row[-1] for row in rows], return_inverse=True)[1]


@cache
def splits(name: str, number: int) -> list[Split]:
    """(training rows, test rows), halves that keep the classes' shares, so that no class is missing in either."""
    _, codes = read(name, indicators=False)
    halves = StratifiedShuffleSplit(number, train_size=0.5, random_state=0)
    return [(seen, unseen) for seen, unseen in halves.split(codes[:, None], codes)]


def estimator(model: str, choices: Choices) -> ClassifierMixin:
    """The model, not yet fitted."""
    if model == "multi":
        return make_pipeline(StandardScaler(), LogisticRegression(C=choices.inverse_penalty, max_iter=10_000))
    if model == "knn":
        neighbours = KNeighborsClassifier(choices.neighbours)
        return make_pipeline(StandardScaler(), neighbours) if choices.scaled else neighbours
    return DecisionTreeClassifier(criterion="entropy", min_samples_leaf=choices.leaf, random_state=0)


# What does not concern a model or a data set is taken out of the key, so that no model is fitted twice.
def _relevant(name: str, model: str, choices: Choices) -> Choices:
    kept = Choices(indicators=(name,) if name in choices.indicators else ())
    if model == "multi":
        return replace(kept, inverse_penalty=choices.inverse_penalty)
    if model == "knn":
        return replace(kept, neighbours=choices.neighbours, scaled=choices.scaled)
    return replace(kept, leaf=choices.leaf)


@cache
def _fitted(name: str, number: int, split: int, model: str, choices: Choices) -> Array:
    features, codes = read(name, indicators=name in choices.indicators)
    seen, unseen = splits(name, number)[split]
    fitted = estimator(model, choices).fit(features[seen], codes[seen])
    return np.asarray(fitted.predict_proba(features[unseen]))


def predictions(name: str, number: int, split: int, choices: Choices = DEFAULTS) -> tuple[Codes, dict[str, Array]]:
    """(classes, probabilities by model) of the test rows of one of so many splits."""
    _, codes = read(name, indicators=False)
    scores = {model: _fitted(name, number, split, model, _relevant(name, model, choices)) for model in MODELS}
    return codes[splits(name, number)[split][1]], scores


def order_of(areas: dict[str, float]) -> Order:
    """The models, the best first."""
    return tuple(sorted(areas, key=lambda model: -areas[model]))


def areas_of_split(name: str, number: int, split: int, choices: Choices) -> dict[str, float]:
    """D of the models on one of so many splits."""
    codes, scores = predictions(name, number, split, choices)
    return {
        model: multiauc.multiclass_roc(codes, p, scope=choices.scope, center=choices.center).auc
        for model, p in scores.items()
    }


def orders_of_splits(name: str, number: int, choices: Choices) -> list[Order]:
    """The order of the models by D on each split."""
    return [order_of(areas_of_split(name, number, split, choices)) for split in range(number)]


def paper_order(name: str) -> Order:
    """The order to which the paper gives the largest probability."""
    return ORDERS[int(np.argmax(PAPER_TABLE[name]))]
