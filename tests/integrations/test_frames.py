"""Results as data frames of pandas and of polars."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

import multiauc


@pytest.fixture(scope="module")
def results(names, scores):
    """One of each kind of table: estimates, estimates with differences, pairs, points, replicates."""
    comparison = multiauc.compare(names, {"a": scores, "b": scores**2})
    return [
        multiauc.evaluate(names, scores),
        comparison,
        comparison.difference("a", "b"),
        multiauc.auc_mu_matrix(names, scores),
        multiauc.roc_curves(names, scores)["ant"],
        comparison.bootstrap(5, rng=0),
        multiauc.partial_auc(names, scores, max_fpr=0.5),
        multiauc.pdi(names, scores),
    ]


def test_both_libraries_hold_the_same(results):
    for result in results:
        theirs, others = result.to_frame(library="pandas"), result.to_frame(library="polars")
        assert isinstance(theirs, pd.DataFrame)
        assert isinstance(others, pl.DataFrame)
        assert theirs.columns.tolist() == others.columns
        for column in others.columns:
            expected, found = theirs[column].tolist(), others[column].to_list()
            for one, other in zip(expected, found, strict=True):
                assert one == other or (pd.isna(one) and (other is None or np.isnan(other)))


def test_labels_of_several_kinds():
    """polars has no type for a mixture."""
    y_true = np.array([1, "x", "1", 2.5] * 10, dtype=object)
    y_score = np.random.default_rng(0).random((40, 4))
    labels = [1, "x", "1", 2.5]
    frame = multiauc.evaluate(y_true, y_score, labels=labels, metrics=["one_vs_rest"]).to_frame(library="polars")
    assert frame["name"].to_list() == ["'one_vs_rest'", "1", "'x'", "'1'", "2.5"]
    frame = multiauc.auc_mu_matrix(y_true[y_true != "1"], y_score[y_true != "1"][:, [0, 1, 3]], labels=[1, "x", 2.5])
    assert frame.to_frame(library="polars")["second"].to_list() == ["x", "2.5", "2.5"]
    numbers = multiauc.hand_till_matrix([0, 1, 2] * 4, y_score[:12, :3]).to_frame(library="polars")
    assert numbers["first"].dtype == pl.Int64


@pytest.mark.parametrize(
    ("loaded", "missing", "expected"),
    [("", "", "pandas"), ("polars", "", "polars"), ("pandas", "", "pandas"), ("", "pandas", "polars")],
)
def test_which_library_is_taken(loaded, missing, expected):
    """The one that is loaded; else the one that is installed, pandas first."""
    lines = [
        "import sys",
        f"sys.modules.update({{name: None for name in {missing.split()!r}}})",
        f"import multiauc{', ' + loaded if loaded else ''}",
        "frame = multiauc.auc_mu_matrix([0, 1, 0, 1], [[1, 0], [0, 1], [1, 0], [1, 0]]).to_frame()",
        "print(type(frame).__module__.partition('.')[0])",
    ]
    command = [sys.executable, "-W", "ignore", "-c", "\n".join(lines)]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip() == expected
