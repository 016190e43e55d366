"""Names of score columns and labels of rows: what class each column stands for, wherever the rows are."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import multiauc

ANIMALS = ["ant", "bee", "cow"]


class Case(NamedTuple):
    """Classes and the names of their columns, in the same order, and how they are asked for."""

    classes: list[Any]
    columns: list[str]
    order: tuple[int, ...] = (0, 1, 2)
    scores: Any = "all"
    labels: list[Any] | None = None


UNDERSTOOD = {
    "a prefix": Case(ANIMALS, ["p_ant", "p_bee", "p_cow"]),
    "names of classes": Case(ANIMALS, ANIMALS),
    "a longer prefix": Case(ANIMALS, ["net.p_ant", "net.p_bee", "net.p_cow"]),
    "a prefix before classes that share one": Case(["no_1", "no_2", "no_3"], ["p_no_1", "p_no_2", "p_no_3"]),
    "labels that are the names of columns": Case(["p_ant", "p_bee", "p_cow"], ["p_ant", "p_bee", "p_cow"]),
    "a pattern, and labels that are the names of columns": Case(
        ["p_ant", "p_bee", "p_cow"], ["p_ant", "p_bee", "p_cow"], scores="p_*"
    ),
    "a pattern": Case(ANIMALS, ["q ant", "q bee", "q cow"], scores="q *"),
    "the usual pattern": Case(ANIMALS, ["p_ant", "p_bee", "p_cow"], scores=None),
    "integers": Case([0, 1, 2], ["p_0", "p_1", "p_2"]),
    "digits after a letter": Case([0, 1, 2], ["s0", "s1", "s2"]),
    "integers kept as floats": Case([0.0, 1.0, 2.0], ["p_0", "p_1", "p_2"]),
    "digits as text": Case(["7", "8", "10"], ["p_7", "p_8", "p_10"]),
    "another order": Case(ANIMALS, ["p_ant", "p_bee", "p_cow"], order=(2, 0, 1)),
    "another order, and labels": Case(ANIMALS, ["p_ant", "p_bee", "p_cow"], order=(2, 0, 1), labels=ANIMALS),
    "names of the classes that are given": Case(ANIMALS, ANIMALS, order=(2, 0, 1), scores=None, labels=ANIMALS),
}
# With what the message must name.
REFUSED = {
    "two readings that fit": (Case(["a_b", "a_a_b", "a_b"], ["a_b", "a_a_b", "a_a_a_b"]), "labels"),
    "a label without a column": (Case(["ant", "bee", "elk"], ["p_ant", "p_bee", "p_cow"]), "'elk'"),
    "numbers, and columns of names": (Case([0, 1, 2], ["p_ant", "p_bee", "p_cow"]), "labels"),
    "a missing label": (Case(["ant", "bee", None], ["p_ant", "p_bee", "p_cow"], labels=ANIMALS), "missing|null"),
}


def make_frame(case: Case) -> pd.DataFrame:
    """Sixty rows: a column of labels, y, and the columns of scores in the order of the case."""
    rng = np.random.default_rng(5)
    codes = np.arange(60) % 3
    scores = rng.random((60, 3)) + 0.4 * np.eye(3)[codes]
    columns = {case.columns[k]: scores[:, k] for k in case.order}
    return pd.DataFrame({"y": pd.Series([case.classes[code] for code in codes]), **columns})


def score_names(case: Case) -> Any:
    """The option `scores` of the case."""
    return [case.columns[k] for k in case.order] if case.scores == "all" else case.scores


def check(found: Any, case: Case) -> None:
    """Raise unless every column was taken for its class."""
    frame = make_frame(case)
    codes = [case.classes.index(label) for label in frame["y"]]
    expected = multiauc.evaluate(codes, frame[case.columns].to_numpy(), labels=[0, 1, 2])
    assert found.auc_mu.value == expected.auc_mu.value
    labels = [str(int(label)) if isinstance(label, float) else str(label) for label in found.labels]
    classes = [str(int(label)) if isinstance(label, float) else str(label) for label in case.classes]
    assert labels == classes if case.labels else sorted(labels) == sorted(classes)
