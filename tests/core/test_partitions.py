"""Rows in parts, as engines for clusters hold them: columns, lists, empty parts, errors that name the place."""

import pickle
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

import multiauc
from multiauc._input.columns import Header
from multiauc._io.partitions import ask, merge_states
from multiauc._io.sources import NoRowsError

CLASSES = ["ant", "bee", "cow"]
DEFAULTS = {
    "label": "y",
    "scores": None,
    "sample_weight": None,
    "labels": None,
    "metrics": ["auc_mu"],
    "memory_limit": 2**22,
}


@pytest.fixture
def rows(rng):
    """Labels, scores and weights of 300 rows."""
    y = rng.choice(CLASSES, size=300)
    p = rng.dirichlet(np.ones(3), size=300) + 0.5 * (y[:, None] == CLASSES)
    return y, p, rng.random(300)


def table_of(y, p, **others):
    return pa.table({"y": y, **{f"p_{name}": p[:, k] for k, name in enumerate(CLASSES)}, **others})


def list_table(y, lists):
    return pa.table({"y": y, "p": lists})


def question_of(table, **options):
    return ask(Header("the rows", list(table.schema.names)), **DEFAULTS | options)


def evaluated(table, cuts=(), absent="raise", **options):
    """The evaluation of a table that is cut into parts."""
    question = pickle.loads(pickle.dumps(question_of(table, absent=absent, **options)))
    edges = [0, *cuts, table.num_rows]
    parts = [table.slice(start, end - start) for start, end in pairwise(edges)]
    states = [question.state(part.select(question.columns), f"part {k}") for k, part in enumerate(parts)]
    return question.answer(pickle.loads(pickle.dumps(states)))


@pytest.mark.parametrize("cuts", [[], [0, 0, 100, 100, 250, 300], list(range(0, 300, 7))], ids=["one", "empty", "many"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
class TestAgainstAllRows:
    def test_columns(self, rows, cuts, dtype):
        y, p, _ = rows
        p = p.astype(dtype)
        found = evaluated(table_of(y, p, other=np.arange(300)), cuts, metrics=["auc_mu", "hand_till", "one_vs_rest"])
        whole = multiauc.evaluate(y, p)
        for metric in ("auc_mu", "hand_till", "one_vs_rest", "one_vs_rest_prevalence"):
            assert getattr(found, metric).exact
            assert getattr(found, metric).value == getattr(whole, metric).value
        assert found.labels == tuple(CLASSES)

    @pytest.mark.parametrize("kind", ["lists", "large lists", "fixed lists", "tensors"])
    def test_lists(self, rows, cuts, dtype, kind):
        y, p, _ = rows
        p = p.astype(dtype)
        cell = pa.from_numpy_dtype(dtype)
        if kind == "tensors":
            lists = pa.FixedShapeTensorArray.from_numpy_ndarray(p)
        else:
            types = {"lists": pa.list_(cell), "large lists": pa.large_list(cell), "fixed lists": pa.list_(cell, 3)}
            lists = pa.array(list(p), types[kind])
        found = evaluated(list_table(y, lists), cuts, scores="p", labels=CLASSES)
        assert found.auc_mu.value == multiauc.auc_mu_score(y, p)

    def test_weights(self, rows, cuts, dtype):
        y, p, weights = rows
        p = p.astype(dtype)
        found = evaluated(table_of(y, p, w=weights), cuts, sample_weight="w")
        assert found.auc_mu.value == pytest.approx(multiauc.auc_mu_score(y, p, sample_weight=weights), abs=1e-12)

    def test_one_score_of_two_classes(self, rows, cuts, dtype):
        y, p, _ = rows
        y, p = np.where(y == "ant", 1, 0), p.astype(dtype)
        found = evaluated(pa.table({"y": y, "s": p[:, 0]}), cuts, scores="s", labels=[0, 1])
        assert found.auc_mu.value == multiauc.auc_mu_score(y, p[:, 0])
        assert found.labels == (0, 1)


class TestClasses:
    @pytest.mark.parametrize("labels", [[3, 1, 2], ["3", "1", "2"], [3.0, 1.0, 2.0]], ids=str)
    @pytest.mark.parametrize("kind", [pa.int8(), pa.float64(), pa.string()], ids=str)
    def test_labels_are_compared_as_text_and_given_back_as_they_are(self, rows, labels, kind):
        y, p, _ = rows
        codes = np.array([3, 1, 2])[np.searchsorted(CLASSES, y)]
        table = list_table(pa.array(codes).cast(kind), pa.array(list(p)))
        found = evaluated(table, [50], scores="p", labels=labels)
        assert found.auc_mu.value == multiauc.auc_mu_score(y, p)
        assert found.labels == tuple(labels)

    def test_columns_that_have_the_names_of_classes(self, rows):
        """As in `evaluate_dataset`: with and without the beginning that they share."""
        y, p, _ = rows
        names = [f"kind_{name}" for name in CLASSES]
        table = pa.table({"y": np.char.add("kind_", y), **dict(zip(names, p.T, strict=True))})
        for scores in (names, "kind_*"):
            found = evaluated(table, [0, 100], scores=scores)
            assert found.labels == tuple(names)
            assert found.auc_mu.value == multiauc.auc_mu_score(y, p)

    def test_parts_that_read_names_differently_are_refused(self):
        table = pa.table({"y": ["a", "p_a", "p_p_a", "p_a"], "p_a": [0.1] * 4, "p_p_a": [0.2] * 4})
        with pytest.raises(ValueError, match=r"'a', 'p_a' or 'p_a', 'p_p_a'.*name the classes .* with labels"):
            evaluated(table, [2], scores="p_*")

    def test_absent_classes(self, rows):
        y, p, _ = rows
        table = table_of(y, p).filter(pa.array(y != "bee"))
        with pytest.raises(ValueError, match="no rows of 1 class: 'bee'"):
            evaluated(table, [20])
        present = y != "bee"
        expected = multiauc.auc_mu_score(y[present], p[present], labels=CLASSES, absent="ignore")
        assert evaluated(table, [20], absent="ignore").auc_mu.value == expected
        assert np.isnan(evaluated(table, [20], absent="nan").auc_mu.value)

    def test_no_rows_at_all(self, rows):
        y, p, _ = rows
        with pytest.raises(NoRowsError, match="the rows: there are no rows"):
            evaluated(table_of(y, p).slice(0, 0), [0])


class TestRefused:
    def changed(self, table, name, row, value):
        cells = table[name].to_pylist()
        cells[row] = value
        return table.set_column(table.schema.get_field_index(name), name, pa.array(cells, table[name].type))

    @pytest.mark.parametrize("name", ["y", "p_bee", "w"])
    def test_missing_values(self, rows, name):
        y, p, weights = rows
        table = self.changed(table_of(y, p, w=weights), name, 130, None)
        with pytest.raises(ValueError, match=f"part 1: column '{name}', row 31: the value is missing"):
            evaluated(table, [100, 200], sample_weight="w")

    @pytest.mark.parametrize("value", [np.nan, np.inf])
    def test_numbers_that_are_not_finite(self, rows, value):
        y, p, _ = rows
        p[130, 1] = value
        with pytest.raises(ValueError, match=f"part 1: column 'p_bee', row 31: {value} is not a finite number"):
            evaluated(table_of(y, p), [100])
        with pytest.raises(ValueError, match=rf"part 1: column 'p\[1\]', row 31: {value} is not a finite number"):
            evaluated(list_table(y, pa.array(list(p))), [100], scores="p", labels=CLASSES)

    @pytest.mark.parametrize(
        ("value", "message"),
        [
            (None, "the value is missing"),
            ([0.1, None, 0.2], "score 2 of 3 is missing"),
            ([0.1, 0.2], "2 scores for 3 classes"),
            ([], "0 scores for 3 classes"),
        ],
    )
    def test_lists(self, rows, value, message):
        y, p, _ = rows
        table = self.changed(list_table(y, pa.array(list(p))), "p", 130, value)
        with pytest.raises(ValueError, match=f"part 1: column 'p', row 31: {message}"):
            evaluated(table, [100], scores="p", labels=CLASSES)

    def test_columns_that_hold_something_else(self, rows):
        y, p, _ = rows
        texts = list_table(y, pa.array([[str(one) for one in row] for row in p]))
        with pytest.raises(ValueError, match=r"part 0: column 'p' holds list<.*string>, not lists of numbers"):
            evaluated(texts, scores="p", labels=CLASSES)
        with pytest.raises(ValueError, match="part 0: column 'p' holds string, not lists of 3 scores"):
            evaluated(list_table(y, [str(row) for row in p]), scores="p", labels=CLASSES)

    def test_unknown_classes(self, rows):
        y, p, _ = rows
        table = self.changed(table_of(y, p), "y", 130, "dog")
        with pytest.raises(ValueError, match="part 1: column 'y', row 31: the class 'dog' has no score column"):
            evaluated(table, [100])

    def test_negative_weights(self, rows):
        y, p, weights = rows
        weights[130] = -1.0
        with pytest.raises(ValueError, match=r"part 1: column 'w', row 31: the weight -1.0 is negative"):
            evaluated(table_of(y, p, w=weights), [100], sample_weight="w")

    def test_parts_of_different_precision(self, rows):
        y, p, _ = rows
        question = question_of(table_of(y, p))
        states = [question.state(table_of(y, p.astype(dtype)), "part") for dtype in (np.float32, np.float64)]
        with pytest.raises(ValueError, match="float32"):
            merge_states(states)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"label": "z"}, r"the rows: no column 'z' \(label\); it has 'y', 'p_ant'"),
            ({"sample_weight": "z"}, r"the rows: no column 'z' \(sample_weight\)"),
            ({"scores": ["p_ant", "z"]}, r"the rows: no column 'z' \(scores\)"),
            ({"scores": "q_*"}, r"the rows: scores='q_\*' fits 0 columns"),
            ({"scores": "p_ant"}, "the rows: labels must name the classes in the order of the scores"),
            ({"labels": ["ant", "bee"]}, "labels names 2 classes, but the rows has scores for 3"),
            ({"metrics": ["pdi"]}, "metrics"),
            ({"memory_limit": 10}, "memory_limit must be at least"),
        ],
    )
    def test_before_anything_is_read(self, rows, options, message):
        y, p, _ = rows
        with pytest.raises(ValueError, match=message):
            question_of(table_of(y, p), **options)


def test_logits(rows):
    y, p, _ = rows
    found = evaluated(table_of(y, p), [100, 200], outputs="logits", metrics=["hand_till"])
    assert found.hand_till.value == multiauc.hand_till_score(y, p, outputs="logits")


def test_names_decide_the_order_of_labels(rows):
    y, p, _ = rows
    turned = table_of(y, p).select(["p_cow", "y", "p_ant", "p_bee"])
    found = evaluated(turned, [100, 200], labels=CLASSES)
    assert found.labels == tuple(CLASSES)
    assert found.auc_mu.value == multiauc.auc_mu_score(y, p)
