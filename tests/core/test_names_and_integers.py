"""Names that decide which column is which, tables of zeros and ones, and integers beyond what a double holds."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import multiauc
from command_line import run_command
from multiauc.streaming import Accumulator

CLASSES = ["ant", "bee", "cat"]
TURNED = ["cat", "ant", "bee"]
LARGE = 2**53


@pytest.fixture
def animals(rng):
    """(y_true, scores in the order of CLASSES, the same as a data frame in another order)"""
    codes = rng.integers(3, size=120)
    scores = rng.dirichlet(np.ones(3), size=120) + 1.5 * np.eye(3)[codes]
    scores /= scores.sum(axis=1, keepdims=True)
    return np.array(CLASSES)[codes], scores, pd.DataFrame(scores, columns=CLASSES)[TURNED]


class TestNamesDecide:
    @pytest.mark.parametrize(
        "name", ["auc_mu_score", "hand_till_score", "one_vs_rest_score", "pdi_score", "kappa_score"]
    )
    def test_scores(self, animals, name):
        y, scores, frame = animals
        score = getattr(multiauc, name)
        assert score(y, frame, labels=CLASSES) == score(y, scores, labels=CLASSES)

    def test_options_and_results_keep_the_order_of_labels(self, animals):
        y, scores, frame = animals
        costs = np.array([[0, 1, 5], [2, 0, 1], [1, 1, 0]])
        for given in (frame, pa.Table.from_pandas(frame)):
            found = multiauc.evaluate(y, given, labels=CLASSES, partition=costs)
            assert found.labels == tuple(CLASSES)
            assert found.auc_mu.value == multiauc.auc_mu_score(y, scores, labels=CLASSES, partition=costs)
            assert found.notes == ()

    def test_models_with_columns_in_different_orders(self, animals):
        y, scores, frame = animals
        comparison = multiauc.compare(y, {"frame": frame, "array": scores}, labels=CLASSES)
        assert comparison.difference("frame", "array").value == 0.0

    def test_integer_names(self, animals):
        y, scores, frame = animals
        codes = np.searchsorted(CLASSES, y)
        numbered = frame.set_axis([2, 0, 1], axis=1)
        assert multiauc.auc_mu_score(codes, numbered, labels=[0, 1, 2]) == multiauc.auc_mu_score(codes, scores)

    def test_other_names_do_not(self, animals):
        y, scores, _ = animals
        frame = pd.DataFrame(scores, columns=["x", "y", "z"])
        assert multiauc.auc_mu_score(y, frame, labels=CLASSES) == multiauc.auc_mu_score(y, scores, labels=CLASSES)
        # The default names, which are none.
        codes = np.searchsorted(CLASSES, y)
        turned = pd.DataFrame(scores[:, [2, 0, 1]])
        assert multiauc.auc_mu_score(codes, turned, labels=[2, 0, 1]) == multiauc.auc_mu_score(codes, scores)

    def test_streams(self, animals):
        y, scores, frame = animals
        whole = Accumulator(CLASSES)
        whole.update(y[:20], frame[:20])
        whole.update(y[20:], scores[20:])
        assert whole.evaluate().auc_mu.value == multiauc.auc_mu_score(y, scores)

    def test_files(self, animals, tmp_path, capsys):
        y, scores, frame = animals
        path = tmp_path / "p.parquet"
        frame.rename(columns="p_{}".format).assign(y=y).to_parquet(path)
        expected = multiauc.auc_mu_score(y, scores, labels=CLASSES)
        found = multiauc.evaluate_dataset(path, label="y", labels=CLASSES)
        assert found.labels == tuple(CLASSES)
        assert found.auc_mu.value == expected
        for more in ([], ["--memory-limit", "512MB"]):
            options = ["--label", "y", "--labels", ",".join(CLASSES), "--format", "json", *more]
            assert run_command(["evaluate", str(path), *options]) == 0
            answer = json.loads(capsys.readouterr().out)
            assert answer["labels"] == CLASSES
            assert answer["metrics"]["auc_mu"]["value"] == expected
        names = [f"p_{name}" for name in TURNED]
        listed = multiauc.evaluate_dataset(path, label="y", scores=names, labels=CLASSES)
        assert listed.auc_mu.value == expected


class TestTablesOfZerosAndOnes:
    def test_one_hot(self):
        with pytest.raises(ValueError, match=r"one-hot.*argmax"):
            multiauc.auc_mu_score(np.eye(3)[[0, 1, 2, 0]], np.full((4, 3), 1 / 3))

    @pytest.mark.parametrize("form", [np.array, pd.DataFrame, np.ndarray.tolist])
    @pytest.mark.parametrize("dtype", [int, bool, float])
    def test_several_labels(self, form, dtype):
        y = np.array([[1, 0, 1], [0, 0, 0], [1, 1, 1], [0, 1, 0]], dtype=dtype)
        with pytest.raises(ValueError, match=r"multi-label.* 0 to 3 labels.*task=.multilabel.") as caught:
            multiauc.evaluate(form(y), np.full((4, 3), 1 / 3))
        assert "argmax" not in str(caught.value)

    def test_the_way_out_works(self, rng):
        from multiauc.sklearn import roc_auc_score

        y = rng.integers(2, size=(50, 3))
        assert len(roc_auc_score(y, rng.random((50, 3)), average=None)) == 3

    def test_other_tables(self):
        with pytest.raises(ValueError, match=r"y_true .*shape \(4, 3\)$"):
            multiauc.auc_mu_score(np.full((4, 3), 0.3), np.full((4, 3), 1 / 3))


INTEGERS = {
    "Int64": lambda values: pd.Series(values, dtype="Int64"),
    "UInt64": lambda values: pd.Series(values, dtype="UInt64"),
    "extension array": lambda values: pd.array(values, dtype="Int64"),
    "index": lambda values: pd.Index(values, dtype="Int64"),
    "arrow in pandas": lambda values: pd.Series(values, dtype="int64[pyarrow]"),
    "arrow": pa.array,
    "chunked arrow": lambda values: pa.chunked_array([values[:5], values[5:]]),
    "list": list,
    "objects": lambda values: np.array(values, dtype=object),
}


class TestLargeIntegers:
    @pytest.fixture
    def ids(self):
        return [LARGE] * 20 + [LARGE + 1] * 20

    @pytest.mark.parametrize("form", INTEGERS)
    def test_slices(self, rng, ids, form):
        y, p = np.arange(50) % 2, rng.random(50)
        given = INTEGERS[form]([*ids, *[None] * 10])
        for by in (given, {"id": given}):
            slices = multiauc.evaluate_slices(y, p, by)
            assert dict(zip(slices.names, slices.rows.tolist(), strict=True)) == {LARGE: 20, LARGE + 1: 20, None: 10}
            assert all(name is None or type(name) is int for name in slices.names)

    @pytest.mark.parametrize("form", INTEGERS)
    def test_labels(self, rng, ids, form):
        per_class = multiauc.one_vs_rest_per_class(INTEGERS[form](ids), rng.random((40, 2)))
        assert list(per_class) == [LARGE, LARGE + 1]
        with pytest.raises(ValueError, match=r"y_true has a missing label .* row 40"):
            multiauc.one_vs_rest_per_class(INTEGERS[form]([*ids, None]), rng.random((41, 2)))

    @pytest.mark.parametrize("argument", ["groups", "folds"])
    @pytest.mark.parametrize("form", INTEGERS)
    def test_groups_and_folds(self, rng, ids, form, argument):
        y, p = np.arange(40) % 2, rng.random(40)
        expected = multiauc.evaluate(y, p, **{argument: np.repeat([0, 1], 20)})
        found = multiauc.evaluate(y, p, **{argument: INTEGERS[form](ids)})
        assert found.auc_mu.standard_error == expected.auc_mu.standard_error
        with pytest.raises(ValueError, match=argument):
            multiauc.evaluate(np.arange(41) % 2, rng.random(41), **{argument: INTEGERS[form]([*ids, None])})

    def test_beside_a_float(self, rng, ids):
        y, p = np.arange(50) % 2, rng.random(50)
        mixed = [*ids, *[0.5] * 10]
        expected = multiauc.evaluate(y, p, groups=np.repeat([0, 1, 2], [20, 20, 10]))
        assert multiauc.evaluate(y, p, groups=mixed).auc_mu.standard_error == expected.auc_mu.standard_error
        assert len(multiauc.one_vs_rest_per_class(mixed, rng.random((50, 3)))) == 3

    def test_in_files(self, rng, ids, tmp_path, capsys):
        p = rng.random(50)
        table = {"y": np.arange(50) % 2, "p_0": 1 - p, "p_1": p, "id": pa.array([*ids, *[None] * 10])}
        parquet.write_table(pa.table(table), tmp_path / "p.parquet")
        assert run_command(["evaluate", str(tmp_path / "p.parquet"), "-l", "y", "--by", "id", "-f", "json"]) == 0
        assert {one["rows"] for one in json.loads(capsys.readouterr().out)["slices"]["slices"]} == {20, 10}
