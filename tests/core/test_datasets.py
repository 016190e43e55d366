"""`evaluate_dataset`: the same numbers as in memory from whatever rows come in, and errors that name file and row."""

import gzip
import os
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import dataset as arrow_dataset
from pyarrow import fs, parquet

import multiauc
from command_line import ANIMALS, columns
from dataset_files import KINDS, in_memory, numbers, predictions, table_of, write
from internals import read_small_batches

pytestmark = pytest.mark.usefixtures("in_empty_folder")


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    """Batches of 50 rows, which are cut across the parts of files."""
    read_small_batches(monkeypatch, 50)


def evaluate(source, **options):
    return numbers(multiauc.evaluate_dataset(source, **({"label": "y"} | options)))


class TestFormats:
    @pytest.mark.parametrize("name", KINDS)
    def test_the_numbers_of_all_rows_at_once(self, rng, name):
        labels, scores, weights = predictions(rng)
        write(table_of(labels, scores, weights), name)
        assert evaluate(name) == in_memory(labels, scores)
        weighted = in_memory(labels, scores, weights)
        assert evaluate(name, sample_weight="w") == pytest.approx(weighted, abs=1e-12)

    @pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
    def test_float32_stays_float32(self, rng, name):
        labels, scores, _ = predictions(rng)
        scores = scores.round(1).astype(np.float32)  # differences that tie on paper
        write(table_of(labels, scores), name)
        assert evaluate(name) == in_memory(labels, scores)
        assert evaluate(name) != in_memory(labels, scores.astype(np.float64))

    def test_files_of_two_precisions_are_read_as_the_wider_one(self, rng):
        labels, scores, _ = predictions(rng)
        single = scores.astype(np.float32)
        write(table_of(labels, single), "1.parquet")
        write(table_of(labels, scores), "2.parquet")
        expected = in_memory(np.concatenate([labels, labels]), np.concatenate([single.astype(float), scores]))
        assert evaluate("*.parquet") == expected

    def test_an_npz_file_is_refused(self):
        np.savez("a.npz", y=[0, 1], y_score=np.eye(2))
        with pytest.raises(ValueError, match=r"a\.npz: an NPZ file cannot be read in pieces; a Parquet file can"):
            evaluate("a.npz")

    def test_only_what_is_needed_is_read(self, rng, monkeypatch):
        labels, scores, weights = predictions(rng)
        write(table_of(labels, scores, weights), "a.parquet")
        read = []
        once = parquet.ParquetFile.iter_batches

        def noted(self, *arguments, columns, **options):
            read.append(columns)
            return once(self, *arguments, columns=columns, **options)

        monkeypatch.setattr(parquet.ParquetFile, "iter_batches", noted)
        evaluate("a.parquet")
        assert read == [["y"], ["y", "p_ant", "p_bee", "p_cat"]]


class TestSources:
    @pytest.fixture
    def parts(self, rng):
        """Three files, the second without rows; returns what is expected of all."""
        labels, scores, _ = predictions(rng)
        Path("parts").mkdir()
        for number, rows in enumerate((slice(0, 130), slice(0, 0), slice(130, None))):
            write(table_of(labels[rows], scores[rows]), f"parts/{number}.parquet")
        Path("parts/_SUCCESS").touch()
        return in_memory(labels, scores)

    def test_paths(self, parts):
        files = [f"parts/{number}.parquet" for number in range(3)]
        here = Path.cwd()
        for source in (
            "parts", Path("parts"), "parts/*.parquet", "**/*.parquet", files, [Path(file) for file in files],
            (here / "parts").as_uri(), f"{here.as_uri()}/parts/*.parquet", f"{here.as_uri()}/p*/?.parquet",
        ):  # fmt: skip
            assert evaluate(source) == parts, source

    def test_file_systems(self, parts):
        tree = fs.SubTreeFileSystem(str(Path.cwd()), fs.LocalFileSystem())
        for source in ("parts", "parts/*.parquet", "**/*.parquet", ["parts/0.parquet", "parts/2.parquet"]):
            assert evaluate(source, filesystem=tree) == parts, source
        with pytest.raises(TypeError, match=r"filesystem must be a file system of pyarrow or fsspec, or None; got int"):
            evaluate("parts", filesystem=3)

    def test_data_sets_and_tables(self, parts):
        whole = arrow_dataset.dataset("parts", format="parquet")
        table = whole.to_table()
        assert evaluate(whole) == parts
        assert evaluate(table) == parts
        assert evaluate(table.to_batches(max_chunksize=33)) == parts
        assert evaluate(tuple(table.to_batches(max_chunksize=33))) == parts
        assert evaluate(arrow_dataset.dataset([whole, whole])) == evaluate([*["parts"] * 2])

    def test_a_filter_is_obeyed(self, rng):
        labels, scores, weights = predictions(rng)
        write(table_of(labels, scores, weights), "a.parquet")
        heavy = arrow_dataset.dataset("a.parquet").filter(arrow_dataset.field("w") > 1)
        assert evaluate(heavy) == in_memory(labels[weights > 1], scores[weights > 1])

    def test_iterators(self, parts):
        table = arrow_dataset.dataset("parts", format="parquet").to_table()
        batches = table.to_batches(max_chunksize=33)
        assert evaluate(iter(batches)) == parts
        assert evaluate(batch for batch in batches) == parts
        assert evaluate(table.to_reader(max_chunksize=33)) == parts
        assert evaluate(table.slice(first, 70) for first in range(0, 600, 70)) == parts
        assert evaluate(table.to_pandas()) == parts  # shares its columns with Arrow

    def test_partitions(self, rng):
        labels, scores, _ = predictions(rng)
        parity = np.where(np.arange(600) % 2, "1", "2")
        for name in ANIMALS:
            for weight in ("1", "2"):
                rows = (labels == name) & (parity == weight)
                folder = Path(f"days/kind={name}/w={weight}")
                folder.mkdir(parents=True)
                parquet.write_table(pa.table(columns(scores[rows])), folder / "part.parquet")
        Path("days/_notes/kind=x").mkdir(parents=True)
        Path("days/_notes/kind=x/a.parquet").touch()
        expected = in_memory(labels, scores, parity.astype(float))
        tree = fs.SubTreeFileSystem(str(Path.cwd()), fs.LocalFileSystem())
        address = Path("days").absolute().as_uri()
        for source, where in (("days", None), ("./days", None), ("days/", None), (address, None), ("days", tree)):
            found = evaluate(source, label="kind", sample_weight="w", filesystem=where)
            assert found == pytest.approx(expected, abs=1e-12)
        Path("days/kind=ant/w=1").rename("days/kind=ant/w=__HIVE_DEFAULT_PARTITION__")
        with pytest.raises(
            ValueError, match=r"w=__HIVE_DEFAULT_PARTITION__/part\.parquet: column 'w', row 1: the value"
        ):
            evaluate("days", label="kind", sample_weight="w")

    def test_a_column_of_the_file_comes_before_that_of_a_folder(self, rng):
        labels, scores, _ = predictions(rng)
        Path("all/y=ant").mkdir(parents=True)
        write(table_of(labels, scores), "all/y=ant/a.parquet")
        assert evaluate("all") == in_memory(labels, scores)

    @pytest.mark.parametrize("source", [3, None, 1.5])
    def test_anything_else_is_refused(self, source):
        with pytest.raises(TypeError, match=f"source must be a path, .* got {type(source).__name__}"):
            evaluate(source)
        with pytest.raises(TypeError, match=r"iterator of record batches of pyarrow; one of them is int"):
            evaluate([1, 2])

    def test_what_is_not_there(self):
        Path("empty").mkdir()
        Path("two").mkdir()
        Path("two/a.csv").touch()
        Path("two/a.parquet").touch()
        for source, problem in {
            "no.parquet": "no.parquet: there is no such file",
            "no*.parquet": r"no\*.parquet: there is no such file, nor any that fits it as a pattern",
            "empty": "empty: there are no data files in this folder; names may end in .csv",
            "two": "two: the folder holds files of several kinds, 'csv', 'parquet'",
            "-": "standard input can be read only once, and not in pieces",
            "nowhere://a/b.parquet": "nowhere://a/b.parquet: cannot be read: ",
            f"{Path.cwd().as_uri()}/no.parquet": "file:///.*no.parquet: there is no such file",
            f"{Path.cwd().as_uri()}/no*.parquet": r"file:///.*no\*.parquet: .* nor any that fits it as a pattern",
            f"{Path.cwd().as_uri()}/empty": "file:///.*/empty: there are no data files in this folder",
        }.items():
            with pytest.raises(ValueError, match=f"^{problem}"):
                evaluate(source)

    def test_a_pipe_is_refused(self):
        os.mkfifo("pipe.parquet")
        with pytest.raises(
            ValueError, match=r"pipe\.parquet: this is a pipe or a device, which cannot be read in pieces"
        ):
            evaluate("pipe.parquet")


class TestLabels:
    @pytest.mark.parametrize("name", ["a.parquet", "a.csv"])
    def test_integers_and_labels_as_given(self, rng, name):
        labels, scores, _ = predictions(rng)
        codes = np.searchsorted(ANIMALS, labels)
        table = pa.table({"y": codes} | {f"p_{k}": scores[:, k] for k in range(3)})
        write(table, name)
        expected = in_memory(codes, scores, classes=[0, 1, 2])
        assert evaluate(name) == expected
        assert list(multiauc.evaluate_dataset(name, label="y").per_class) == ["0", "1", "2"]
        found = multiauc.evaluate_dataset(name, label="y", labels=[0, 1, 2])
        assert list(found.per_class) == [0, 1, 2]
        assert numbers(found) == expected
        turned = multiauc.evaluate_dataset(name, label="y", scores=["p_2", "p_0", "p_1"], labels=np.array([2, 0, 1]))
        assert numbers(turned) == expected

    def test_integers_beside_gaps(self, rng):
        labels, scores, _ = predictions(rng)
        codes = np.searchsorted(ANIMALS, labels).astype(float)
        write(pa.table({"y": codes} | {f"p_{k}": scores[:, k] for k in range(3)}), "a.parquet")
        assert evaluate("a.parquet") == in_memory(codes, scores, classes=[0, 1, 2]) | {}

    def test_one_column_of_two_classes(self, rng):
        labels = rng.choice(["no", "yes"], 300)
        score = rng.random(300)
        table = pa.table({"y": labels, "p": score})
        write(table, "a.parquet")
        expected = in_memory(labels, score, classes=["no", "yes"])
        assert evaluate("a.parquet", scores="p") == expected
        assert evaluate(iter(table.to_batches()), scores="p", labels=["no", "yes"]) == expected
        assert evaluate("a.parquet", scores=["p"], labels=["yes", "no"])["auc_mu"] == pytest.approx(
            1 - expected["auc_mu"]
        )
        with pytest.raises(ValueError, match=r"the classes must be named in column order with labels, because rows"):
            evaluate(iter(table.to_batches()), scores="p")

    def test_names_that_could_be_either(self, rng):
        """The first rows fit names with and without their beginning; later rows decide, as in memory."""
        scores = rng.random((200, 3))
        labels = np.array(["a_b"] * 100 + ["a_a_b", "a_c"] * 50)
        write(pa.table({"y": labels, "a_a_b": scores[:, 0], "a_b": scores[:, 1], "a_c": scores[:, 2]}), "a.parquet")
        expected = in_memory(labels, scores, classes=["a_a_b", "a_b", "a_c"])
        assert evaluate("a.parquet", scores="a_*") == expected

    def test_problems(self, rng):
        labels, scores, _ = predictions(rng)
        labels[333] = "dog"
        write(table_of(labels, scores), "a.parquet")
        problem = "a.parquet: column 'y', row 334: the class 'dog' has no score column; there are scores for 'ant'"
        with pytest.raises(ValueError, match=problem):
            evaluate("a.parquet")
        with pytest.raises(ValueError, match=r"labels names 2 classes, but a.parquet has scores for 3"):
            evaluate("a.parquet", labels=["ant", "bee"])
        with pytest.raises(ValueError, match=r"labels must differ as text, .* two read '1'"):
            evaluate("a.parquet", labels=["1", 1, 2])
        with pytest.raises(TypeError, match=r"labels must be a sequence of classes; got 'abc'"):
            evaluate("a.parquet", labels="abc")
        write(pa.table({"y": labels, "p": scores[:, 0]}), "b.parquet")
        with pytest.raises(ValueError, match=r"b.parquet: 4 labels \('ant', .*\) for scores of 2 classes; name the"):
            evaluate("b.parquet", scores="p")


class TestProblems:
    @pytest.mark.parametrize(
        ("value", "problem"),
        [
            (np.nan, "nan is not a finite number"),
            (np.inf, "inf is not a finite number"),
            (None, "the value is missing"),
        ],
    )
    @pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a.stream.arrow"])
    def test_a_score(self, rng, name, value, problem):
        labels, scores, _ = predictions(rng)
        cells = scores[:, 1].tolist()
        cells[432] = value
        table = table_of(labels, scores).set_column(3, "p_bee", pa.array(cells, pa.float64()))
        write(table, name)
        with pytest.raises(ValueError, match=f"{name}: column 'p_bee', row 433: {problem}"):
            evaluate(name)

    @pytest.mark.parametrize(
        ("cell", "problem"),
        [
            ("much", "column 'p_bee', row 433: 'much' is not a number"),
            ("", "column 'p_bee', row 433: the value is missing"),
            ("nan", "column 'p_bee', row 433: nan is not a finite number"),
            ('"0,5"', "column 'p_bee', row 433: '0,5' has a decimal comma"),
            ("1,2", "row 433: 6 cells where the header has 5"),
        ],
    )
    @pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
    def test_a_cell_of_text(self, rng, name, cell, problem):
        labels, scores, _ = predictions(rng)
        lines = ["y,unused,p_ant,p_bee,p_cat"]
        lines += [f"{label},{'x' * 3000},{row[0]},{row[1]},{row[2]}" for label, row in zip(labels, scores, strict=True)]
        start = lines[433].split(",")
        lines[433] = ",".join([*start[:3], cell, start[4]])
        data = "\n".join(lines).encode()
        Path(name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
        with pytest.raises(ValueError, match=f"^{name}: {problem}"):
            evaluate(name)

    def test_a_weight(self, rng):
        labels, scores, weights = predictions(rng)
        weights[77] = -1
        write(table_of(labels, scores, weights), "a.parquet")
        with pytest.raises(ValueError, match=r"a.parquet: column 'w', row 78: the weight -1.0 is negative"):
            evaluate("a.parquet", sample_weight="w")

    def test_columns(self, rng):
        labels, scores, weights = predictions(rng)
        write(table_of(labels, scores), "a.parquet")
        write(table_of(labels, scores, weights), "b.parquet")
        for options, problem in (
            ({"label": "z"}, r"a.parquet: no column 'z' \(label\); it has 'y', 'unused'"),
            ({"sample_weight": "w"}, r"a.parquet: no column 'w' \(sample_weight\); it has"),
            ({"scores": "q_*"}, r"a.parquet: scores='q_\*' fits 0 columns"),
            ({"scores": ["p_ant", "p_b"]}, r"a.parquet: no column 'p_b' \(scores\)"),
        ):
            with pytest.raises(ValueError, match=problem):
                evaluate("a.parquet", **options)
        with pytest.raises(
            ValueError, match=r"b.parquet: it has columns that a.parquet does not have: 'w'; the files of"
        ):
            evaluate(["a.parquet", "b.parquet"])

    @pytest.mark.parametrize("name", KINDS)
    def test_no_rows(self, rng, name):
        labels, scores, _ = predictions(rng)
        write(table_of(labels, scores).slice(0, 0), name)
        for options in ({}, {"labels": ANIMALS}):
            with pytest.raises(ValueError, match=f"{name}: there are no rows"):
                evaluate(name, **options)

    def test_damage(self, rng):
        labels, scores, _ = predictions(rng)
        for name in KINDS[:5]:
            write(table_of(labels, scores), name)
            data = bytearray(Path(name).read_bytes())
            Path(name).write_bytes(data[: len(data) // 2])
            with pytest.raises(ValueError, match=f"^{name}: cannot be read as "):
                evaluate(name)

    def test_an_iterator_can_be_read_once(self, rng):
        labels, scores, _ = predictions(rng)
        table = table_of(labels, scores)
        with pytest.raises(
            ValueError, match=r"exact=True goes through the rows several times, and record batches of an"
        ):
            evaluate(iter(table.to_batches()), exact=True)
        with pytest.raises(ValueError, match=r"checkpoint needs a source that can be identified and read again"):
            evaluate(iter(table.to_batches()), checkpoint="c")
        with pytest.raises(ValueError, match=r"the data set: there are no record batches"):
            evaluate(iter([]))

    def test_an_iterator_whose_columns_change(self, rng):
        labels, scores, _ = predictions(rng)
        narrow, wide = table_of(labels, scores.astype(np.float32)), table_of(labels, scores)
        assert evaluate(iter([wide, narrow])) == evaluate(
            pa.concat_tables([wide, narrow], promote_options="permissive")
        )
        with pytest.raises(
            ValueError, match=r"column 'p_ant', row 601: double, and the rows before have single precision"
        ):
            evaluate(iter([narrow, wide]))
        with pytest.raises(ValueError, match=r"the data set: no column 'p_bee' in the record batch of row 601"):
            evaluate(iter([wide, wide.drop_columns("p_bee")]))


class TestOptions:
    @pytest.mark.parametrize(
        ("options", "error", "problem"),
        [
            ({"label": 3}, TypeError, "label must be the name of a column; got 3"),
            ({"sample_weight": ["w"]}, TypeError, "sample_weight must be the name of a column; got list"),
            (
                {"scores": 3},
                TypeError,
                r"scores must be a pattern such as 'p_\*' or a sequence of names of columns; got 3",
            ),
            ({"scores": [1, 2]}, TypeError, r"scores must be a pattern"),
            ({"memory_limit": "1GB"}, TypeError, r"memory_limit must be a number of bytes, such as 2\*\*30; got '1GB'"),
            ({"memory_limit": 1000}, ValueError, r"memory_limit must be at least 268435456 \(256 MiB\), .*; got 1000"),
            ({"progress": "yes"}, TypeError, "progress must be None, True, False or a callable; got 'yes'"),
            ({"metrics": "auc_mu"}, TypeError, "metrics must be a sequence of names"),
            (
                {"metrics": ["pdi"]},
                ValueError,
                "metrics must be one of 'auc_mu', 'hand_till', .*; got 'pdi'",
            ),
            ({"weights": "w"}, TypeError, "unexpected keyword argument 'weights'; its name here is sample_weight="),
        ],
    )
    def test_problems(self, options, error, problem):
        with pytest.raises(error, match=problem):
            evaluate("a.parquet", **options)

    def test_progress_calls(self, rng):
        labels, scores, _ = predictions(rng)
        for name in ("a.parquet", "a.csv", "a.arrow", "a.stream.arrow"):
            write(table_of(labels, scores), name)
            calls = []
            evaluate([name, name], progress=lambda *call, calls=calls: calls.append(call))
            rows, shares = zip(*calls, strict=True)
            assert rows == tuple(range(0, 1201, 50))
            assert shares[0] == 0.0
            assert shares[-1] == pytest.approx(1.0, abs=1e-3)  # a stream has an end mark
            assert list(shares) == sorted(shares)
        calls = []
        evaluate(iter(table_of(labels, scores).to_batches()), progress=lambda *call: calls.append(call))
        assert calls[0] == (0, 0.0)
        assert calls[-1] == (600, None)

    def test_no_progress_where_there_is_no_terminal(self, rng, capsys):
        labels, scores, _ = predictions(rng)
        write(table_of(labels, scores), "a.parquet")
        evaluate("a.parquet")
        evaluate("a.parquet", progress=False)
        assert capsys.readouterr().err == ""


@given(data=st.data())
def test_however_the_rows_are_cut(data, tmp_path_factory):
    """Files, row groups, record batches and batches of any sizes, in any order: the same bits."""
    seed, n = data.draw(st.integers(0, 2**32)), data.draw(st.integers(9, 80))
    labels, scores, _ = predictions(
        np.random.default_rng(seed), n, data.draw(st.sampled_from([np.float32, np.float64]))
    )
    cuts = sorted(data.draw(st.lists(st.integers(0, n), max_size=3)))
    folder = tmp_path_factory.mktemp("cut")
    kind = data.draw(st.sampled_from(["parquet", "arrow"]))
    order = data.draw(st.permutations(range(len(cuts) + 1)))
    for place, (first, last) in zip(order, zip([0, *cuts], [*cuts, n], strict=True), strict=True):
        write(table_of(labels[first:last], scores[first:last]), str(folder / f"{place}.{kind}"))
    size = data.draw(st.integers(1, 100))
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        read_small_batches(patch, size)
        found = numbers(multiauc.evaluate_dataset(folder, label="y", labels=ANIMALS))
        assert found == in_memory(labels, scores)


def test_options_of_metrics(rng, tmp_path):
    """`clip` and `k`, as in `evaluate`."""
    y, scores = rng.choice(["a", "b", "c", "d"], size=80), rng.dirichlet(np.ones(4), size=80)
    scores[0] = (np.array(["a", "b", "c", "d"]) != y[0]) / 3
    parquet.write_table(
        pa.table({"y": y} | {f"p_{c}": scores[:, k] for k, c in enumerate("abcd")}), tmp_path / "a.parquet"
    )
    wanted = {"metrics": ["log_loss", "top_k_accuracy"], "clip": 1e-3, "k": 3}
    found = multiauc.evaluate_dataset(tmp_path / "a.parquet", label="y", **wanted)
    expected = multiauc.evaluate(y, scores, **wanted)
    for name, one in found.metrics.items():
        assert one.value == pytest.approx(expected.metrics[name].value, rel=1e-14)
    with pytest.raises(ValueError, match="k has no meaning"):
        multiauc.evaluate_dataset(tmp_path / "a.parquet", label="y", k=3)
