"""Reading files without the command line: what comes out, and errors in the words of a Python caller."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from command_line import ANIMALS, sample
from multiauc._io.predictions import Request, Source, read_predictions
from multiauc._io.readers import read_costs

pytestmark = pytest.mark.usefixtures("in_empty_folder")


def write(name, labels, scores, prefix="p_", **more):
    columns = {f"{prefix}{animal}": column for animal, column in zip(ANIMALS, scores.T, strict=True)}
    parquet.write_table(pa.table({"y": labels} | columns | more), name)


def test_nothing_of_the_command_line_is_imported():
    code = (
        "import sys, multiauc._io.readers, multiauc._io.predictions;"
        "print([name for name in sys.modules if name in ('click', 'rich') or name.startswith('multiauc.cli')])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


class TestPredictions:
    def test_labels_scores_weights_and_groups(self, rng):
        labels, scores = sample(rng)
        write("a.parquet", labels, scores, w=np.arange(90.0), user=np.arange(90) // 3)
        read = read_predictions(
            Request(sources={"net": Source("a.parquet")}, label="y", sample_weight="w", groups="user")
        )
        assert read.y_true.tolist() == labels.tolist()
        assert read.labels == list(ANIMALS)
        assert list(read.models) == ["net"]
        assert (read.models["net"] == scores).all()
        assert (read.weights == np.arange(90)).all()
        assert (read.groups == np.arange(90) // 3).all()

    def test_several_models_of_one_file_and_of_another_in_another_order(self, rng):
        labels, first = sample(rng)
        second, third = sample(rng)[1], sample(rng)[1]
        key, turned = np.arange(90), rng.permutation(90)
        columns = {f"b_{animal}": column for animal, column in zip(ANIMALS, second.T, strict=True)}
        write("ab.parquet", labels, first, prefix="a_", key=key, **columns)
        write("c.parquet", labels[turned], third[turned], key=key[turned])
        sources = {"a": Source("ab.parquet", "a_*"), "b": Source("ab.parquet", "b_*"), "c": Source("c.parquet")}
        read = read_predictions(Request(sources=sources, label="y", row_id="key"))
        for found, expected in zip(read.models.values(), (first, second, third), strict=True):
            assert (found == expected).all()

    def test_float32_stays_float32(self, rng):
        labels, scores = sample(rng)
        for kind in (np.float32, np.float64):
            write("a.parquet", labels, scores.astype(kind))
            assert read_predictions(Request(sources={"a": Source("a.parquet")}, label="y")).models["a"].dtype == kind

    @pytest.mark.parametrize(
        ("options", "problem"),
        [
            ({"label": "z"}, "a.parquet: no column 'z' (label); it has 'y', "),
            ({"sample_weight": "v"}, "a.parquet: no column 'v' (sample_weight); it has 'y', "),
            ({"row_id": "v"}, "a.parquet: no column 'v' (row_id); it has 'y', "),
            ({"labels": ("ant", "bee")}, "labels names 2 classes, but a.parquet has scores for 3"),
            ({"labels": ("ant", "bee", "cow")}, "the class 'cat' has no score column; there are scores for 'ant', "),
            (
                {"labels": (*ANIMALS, "dog"), "sources": {"a": Source("a.parquet", "p_ant,p_bee,p_cat,w")}},
                "a.parquet: column 'y' has no rows of 1 class: 'dog'; absent='ignore' leaves it out, absent='nan' ",
            ),
            ({"sources": {"a": Source("a.parquet", "q_*")}}, "a.parquet: scores='q_*' fits 0 columns, and two classes"),
            ({"sources": {}}, "no file to read was given"),
        ],
    )
    def test_errors_name_arguments(self, rng, options, problem):
        labels, scores = sample(rng)
        write("a.parquet", labels, scores, w=np.ones(90))
        with pytest.raises(ValueError, match=re.escape(problem)):
            read_predictions(Request(**{"sources": {"a": Source("a.parquet")}, "label": "y"} | options))

    def test_other_spellings_of_options(self, rng):
        labels, scores = sample(rng)
        write("a.parquet", labels, scores)
        with pytest.raises(ValueError, match=r"^a.parquet: no column 'z' \(--label\); "):
            read_predictions(Request(sources={"a": Source("a.parquet")}, label="z", flags=True))


class TestArchives:
    def test_arrays_that_are_not_asked_for_may_hold_anything(self, rng):
        labels, scores = sample(rng)
        np.savez("a.npz", y=labels, y_score=scores, notes=np.array([{}, []], dtype=object))
        assert (read_predictions(Request(sources={"a": Source("a.npz")}, label="y")).models["a"] == scores).all()
        with pytest.raises(ValueError, match=r"^a.npz: array 'notes' holds Python objects; "):
            read_predictions(Request(sources={"a": Source("a.npz")}, label="notes"))

    def test_a_damaged_archive(self, rng):
        np.savez("a.npz", y=rng.random(1000))
        content = bytearray(Path("a.npz").read_bytes())
        content[4000] ^= 255
        Path("a.npz").write_bytes(content)
        with pytest.raises(ValueError, match=r"^a.npz: array 'y' cannot be read: Bad CRC"):
            read_predictions(Request(sources={"a": Source("a.npz", "y")}, label="y"))

    def test_an_array_is_not_an_archive(self, rng):
        np.save("a.npy", rng.random(10))
        Path("a.npy").rename("a.npz")
        with pytest.raises(ValueError, match=r"^a.npz: cannot be read as npz: it holds one array without a name$"):
            read_predictions(Request(sources={"a": Source("a.npz")}, label="y"))


class TestCosts:
    def test_names_in_any_order(self):
        Path("costs.csv").write_text("predicted,b,a\na,1,2\nb,3,4\n", encoding="utf-8")
        assert read_costs("costs.csv", ["a", "b"]).tolist() == [[2, 1], [4, 3]]

    def test_numbers_alone(self):
        Path("costs.csv").write_text("0,1\n2,0\n", encoding="utf-8")
        assert read_costs("costs.csv", ["a", "b"]).tolist() == [[0, 1], [2, 0]]

    def test_no_file(self):
        with pytest.raises(ValueError, match=r"^no.csv: there is no such file$"):
            read_costs("no.csv", ["a", "b"])
