"""What `evaluate_dataset` answers: absent classes, guaranteed bounds, progress, and what it says without pyarrow."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

import multiauc
from command_line import ANIMALS
from dataset_files import in_memory, numbers, predictions, table_of, write
from internals import keep_every_checkpoint, limit_memory_of_files, read_slowly, show_progress_early

pytestmark = pytest.mark.usefixtures("in_empty_folder")


class TestAbsentClasses:
    @pytest.fixture
    def cats_only_in_columns(self, rng, in_empty_folder):
        """A file without cats; returns what it holds."""
        del in_empty_folder  # must be there before
        labels, scores, weights = predictions(rng)
        kept = labels != "cat"
        write(table_of(labels[kept], scores[kept], weights[kept]), "a.parquet")
        return labels[kept], scores[kept]

    @pytest.mark.usefixtures("cats_only_in_columns")
    def test_is_refused(self):
        problem = r"a\.parquet: column 'y' has no rows of 1 class: 'cat'; absent='ignore' leaves it out, absent='nan' "
        with pytest.raises(ValueError, match=problem):
            multiauc.evaluate_dataset("a.parquet", label="y")
        with pytest.raises(ValueError, match=r"absent must be one of 'raise', 'ignore', 'nan'; got 'drop'"):
            multiauc.evaluate_dataset("a.parquet", label="y", absent="drop")

    @pytest.mark.parametrize("absent", ["ignore", "nan"])
    def test_policies(self, cats_only_in_columns, absent):
        labels, scores = cats_only_in_columns
        found = multiauc.evaluate_dataset("a.parquet", label="y", absent=absent)
        expected = multiauc.evaluate(labels, scores, labels=ANIMALS, absent=absent)
        for metric in ("auc_mu", "hand_till", "one_vs_rest"):
            np.testing.assert_equal(getattr(found, metric).value, getattr(expected, metric).value)
        assert found.counts.tolist() == [200, 200, 0]


class TestCertainBounds:
    """A state that is too small for all distinct scores."""

    @pytest.fixture
    def expected(self, rng, monkeypatch, in_empty_folder):
        """A file of 6000 rows and 100 kB of state; returns what is expected."""
        del in_empty_folder  # must be there before
        limit_memory_of_files(monkeypatch, 100_000)
        labels, scores, weights = predictions(rng, 6000)
        write(table_of(labels, scores, weights), "a.parquet")
        return {weight: in_memory(labels, scores, weights if weight else None) for weight in (None, "w")}

    @pytest.mark.parametrize("weight", [None, "w"])
    def test_hold_the_exact_value(self, expected, weight):
        found = multiauc.evaluate_dataset("a.parquet", label="y", sample_weight=weight)
        assert not found.exact
        for name, value in expected[weight].items():
            one = found.metrics[name] if name in found.metrics else found.per_class[name]
            assert one.low <= value <= one.high
            assert one.high - one.low < 0.05
            assert not one.exact

    def test_more_memory_makes_them_narrower(self, expected, monkeypatch):
        widths = []
        for memory in (100_000, 200_000, 400_000):
            limit_memory_of_files(monkeypatch, memory)
            found = multiauc.evaluate_dataset("a.parquet", label="y").auc_mu
            assert found.low <= expected[None]["auc_mu"] <= found.high
            widths.append(found.high - found.low)
        assert widths == sorted(widths, reverse=True)
        assert widths[-1] < widths[0]

    @pytest.mark.usefixtures("expected")
    def test_are_the_same_after_a_stop(self, monkeypatch):
        keep_every_checkpoint(monkeypatch)
        whole = multiauc.evaluate_dataset("a.parquet", label="y", sample_weight="w")

        def stop(rows, _):
            if rows > 4000:
                raise InterruptedError

        with pytest.raises(InterruptedError):
            multiauc.evaluate_dataset("a.parquet", label="y", sample_weight="w", checkpoint="c", progress=stop)
        again = multiauc.evaluate_dataset("a.parquet", label="y", sample_weight="w", checkpoint="c")
        assert again.metrics == whole.metrics
        assert again.per_class == whole.per_class


def test_pyarrow_is_asked_for_where_it_is_missing():
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import multiauc\n"
        "try:\n    multiauc.evaluate_dataset('a.parquet', label='y')\n"
        "except ImportError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "evaluate_dataset needs pyarrow; install it with: pip install pyarrow\n"


class TestProgressLine:
    def test_on_request(self, rng, capsys, monkeypatch):
        show_progress_early(monkeypatch)
        labels, scores, _ = predictions(rng)
        write(table_of(labels, scores), "a.parquet")
        read_slowly(monkeypatch, 0.1)
        multiauc.evaluate_dataset("a.parquet", label="y", progress=True)
        assert capsys.readouterr().err.startswith("\rreading a.parquet [")


class TestExact:
    """Several passes with a state that is far too small."""

    @pytest.fixture(autouse=True)
    def small_state(self, monkeypatch):
        """100 kB for the state, and for the rows of a pass."""
        limit_memory_of_files(monkeypatch, 100_000, 100_000)

    @pytest.mark.parametrize("kind", ["doubles", "singles", "a lattice of singles", "fractions", "one column"])
    @pytest.mark.parametrize("name", ["a.parquet", "a.csv"])
    def test_the_bits_of_all_rows_at_once(self, rng, kind, name):
        labels, scores, _ = predictions(rng, 6000)
        classes = ANIMALS
        if kind == "singles":
            scores = scores.astype(np.float32)
        elif kind == "a lattice of singles":
            scores = scores.round(3).astype(np.float32)
        elif kind == "fractions":
            scores = np.where(rng.random((6000, 3)) < 0.5, scores.round(2), rng.integers(1, 30, (6000, 3)) / 31)
        elif kind == "one column":
            labels, classes, scores = np.where(labels == "ant", "ant", "bee"), ["ant", "bee"], scores[:, 1:2]
        if name == "a.csv":
            scores = scores.astype(np.float64)
        write(
            pa.table({"y": labels} | {f"p_{one}": scores[:, k] for k, one in enumerate(classes[-scores.shape[1] :])}),
            name,
        )
        calls = []
        found = multiauc.evaluate_dataset(
            name, label="y", labels=classes, scores=[f"p_{one}" for one in classes[-scores.shape[1] :]],
            exact=True, progress=lambda *call: calls.append(call),
        )  # fmt: skip
        assert found.exact
        assert numbers(found) == in_memory(labels, scores[:, 0] if scores.shape[1] == 1 else scores, classes=classes)
        assert calls.count((6000, 1.0)) >= 2 or name == "a.csv"

    @pytest.mark.parametrize("metric", ["auc_mu", "hand_till", "one_vs_rest"])
    def test_one_metric_alone(self, rng, metric):
        """Rows of other classes are then counted as one rest, and whole ranges have rows of one side only."""
        labels, scores, _ = predictions(rng, 20_000)
        scores = scores**4 / (scores**4).sum(axis=1, keepdims=True)
        write(table_of(labels, scores), "a.parquet")
        found = multiauc.evaluate_dataset("a.parquet", label="y", metrics=[metric], exact=True)
        expected = multiauc.evaluate(labels, scores, labels=ANIMALS)
        assert found.exact
        assert getattr(found, metric).value == getattr(expected, metric).value
        for label, one in found.per_class.items():
            assert one.value == expected.per_class[label].value

    def test_one_metric_alone_without_the_first_class(self, rng):
        labels, scores, _ = predictions(rng, 20_000)
        kept = labels != "ant"
        write(table_of(labels[kept], scores[kept]), "a.parquet")
        found = multiauc.evaluate_dataset("a.parquet", label="y", metrics=["one_vs_rest"], absent="ignore", exact=True)
        expected = multiauc.evaluate(labels[kept], scores[kept], labels=ANIMALS, absent="ignore")
        assert found.one_vs_rest.value == expected.one_vs_rest.value

    def test_one_pass_where_that_is_enough(self, rng):
        labels, scores, _ = predictions(rng, 100)
        write(table_of(labels, scores), "a.parquet")
        calls = []
        found = multiauc.evaluate_dataset("a.parquet", label="y", exact=True, progress=lambda *call: calls.append(call))
        assert calls == [(0, 0.0), (100, 1.0)]
        assert numbers(found) == in_memory(labels, scores)

    def test_weights_are_refused(self, rng):
        labels, scores, weights = predictions(rng)
        write(table_of(labels, scores, weights), "a.parquet")
        with pytest.raises(
            ValueError, match=r"exact=True counts rows, and sample_weight='w' gives them weights, whose sums are"
        ):
            multiauc.evaluate_dataset("a.parquet", label="y", sample_weight="w", exact=True)
