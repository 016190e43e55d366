"""Damaged and hostile files: one sentence that names the file, never a traceback, and nothing that a terminal obeys."""

import csv as plain_csv
import gzip
import io
import json
import random
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, feather, ipc, parquet

import multiauc
from command_line import columns, sample, write_files
from multiauc._io.predictions import Request, Source, read_predictions
from multiauc._io.readers import read_costs, refuse_other_batches

pytestmark = pytest.mark.usefixtures("in_empty_folder")

HEADER = "y_true,p_ant,p_bee,p_cat\n"


def write_every_kind(rng):
    """The same predictions in every format; returns the names of the files."""
    labels, scores = sample(rng)
    table = pa.table({"y_true": labels} | columns(scores))
    parquet.write_table(table, "a.parquet")
    feather.write_feather(table, "packed.feather")
    feather.write_feather(table, "plain.arrow", compression="uncompressed")
    csv.write_csv(table, "a.csv")
    with pa.CompressedOutputStream("a.csv.gz", "gzip") as packed:
        csv.write_csv(table, packed)
    np.savez("a.npz", y_true=labels, y_score=scores)
    np.savez_compressed("packed.npz", y_true=labels, y_score=scores)
    return ["a.parquet", "packed.feather", "plain.arrow", "a.csv", "a.csv.gz", "a.npz", "packed.npz"]


def damaged(content, chance, trial):
    """Cut short, or with some bytes changed."""
    content = bytearray(content)
    if trial % 2:
        return content[: chance.randrange(len(content))]
    for _ in range(chance.choice([1, 3, 20])):
        content[chance.randrange(len(content))] = chance.randrange(256)
    return content


# In a process of its own, because a fault in a reader of a format could end it.
DAMAGE = """
import random, sys
from test_damaged_files import damaged
from multiauc._io.predictions import Request, Source, read_predictions
for name in sys.argv[1:]:
    chance, content = random.Random(name), open(name, "rb").read()
    for trial in range(120):
        bad = "bad " + name
        open(bad, "wb").write(damaged(content, chance, trial))
        try:
            read_predictions(Request(sources={"m": Source(bad)}, label="y_true"))
        except (ValueError, RuntimeWarning) as error:
            assert str(error).startswith(bad + ": "), (trial, error)
            assert "\\n" not in str(error), (trial, error)
print("survived")
"""


def test_damage_of_any_kind_is_a_sentence_that_names_the_file(rng):
    arguments = [sys.executable, "-W", "error", "-c", DAMAGE, *write_every_kind(rng)]
    path = ":".join(entry for entry in sys.path if entry)
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, env={"PYTHONPATH": path})
    assert done.stdout == "survived\n", done.stderr


class TestBitFlips:
    """What cannot be read whole is refused, and a row that no longer sums to 1 is named."""

    @pytest.fixture(autouse=True)
    def _files(self, rng, in_empty_folder):  # noqa: ARG002 - files are written only once the folder is there
        self.labels, self.scores = sample(rng)
        write_every_kind(rng)
        parquet.write_table(
            pa.table({"y_true": self.labels} | columns(self.scores)), "sums.parquet", write_page_checksum=True
        )

    @staticmethod
    def answers(name):
        read = read_predictions(Request(sources={"m": Source(name)}, label="y_true"))
        whole = multiauc.evaluate(read.y_true, read.models["m"], labels=read.labels).auc_mu.value
        return whole, multiauc.evaluate_dataset(name, label="y_true", progress=False).auc_mu.value

    @pytest.mark.parametrize("name", ["plain.arrow", "packed.feather", "a.parquet", "sums.parquet"])
    def test_none_gives_another_number_in_silence(self, name):
        content, expected, chance = Path(name).read_bytes(), self.answers(name), random.Random(3)
        for _ in range(40):
            damaged = bytearray(content)
            damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
            Path(f"bad.{name}").write_bytes(damaged)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    found = self.answers(f"bad.{name}")
                except ValueError as error:
                    assert str(error).startswith(f"bad.{name}: ")  # noqa: PT017
                    continue
            assert caught or found == pytest.approx(expected, abs=1e-12)

    @pytest.mark.parametrize("value", [-0.25, 1.5])
    def test_the_row_is_named(self, value):
        scores = self.scores.copy()
        scores[7, 1] = value
        feather.write_feather(pa.table({"y_true": self.labels} | columns(scores)), "a.feather")
        with pytest.warns(RuntimeWarning, match=r"a\.feather: row 8: .*damaged"):
            read_predictions(Request(sources={"m": Source("a.feather")}, label="y_true"))
        with pytest.warns(RuntimeWarning, match=r"a\.feather: row 8: .*damaged"):
            multiauc.evaluate_dataset("a.feather", label="y_true")

    def test_scores_that_are_no_probabilities_say_nothing(self):
        feather.write_feather(pa.table({"y_true": self.labels} | columns(np.log(self.scores))), "a.feather")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.answers("a.feather")

    @pytest.mark.parametrize("n_rounded", [1, 5, 30, 90])
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_rounded_probabilities_are_no_damage(self, n_rounded, dtype):
        scores = self.scores.copy()
        scores[:n_rounded] = [0.33, 0.33, 0.33]
        feather.write_feather(pa.table({"y_true": self.labels} | columns(scores.astype(dtype))), "a.feather")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.answers("a.feather")

    def test_pages_of_parquet_are_compared_with_their_checksums(self):
        content = bytearray(Path("sums.parquet").read_bytes())
        place = content.index(self.scores[5, 0].tobytes())
        content[place] ^= 1  # the last bit of a score: sums cannot tell
        Path("sums.parquet").write_bytes(content)
        with pytest.raises(ValueError, match=r"^sums\.parquet: "):
            read_predictions(Request(sources={"m": Source("sums.parquet")}, label="y_true"))
        with pytest.raises(ValueError, match=r"^sums\.parquet: "):
            multiauc.evaluate_dataset("sums.parquet", label="y_true")

    def test_the_end_of_a_file_lists_all_record_batches(self):
        with pa.memory_map("plain.arrow") as source:

            class Fewer:
                num_record_batches = 0

            with pytest.raises(ValueError, match="1 record batches, and its end lists 0"):
                refuse_other_batches(source, Fewer)
            refuse_other_batches(source, ipc.open_file(source))


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.csv.gz", "a.parquet", "a.feather", "a.arrow", "a.npz"])
def test_empty_files(cli, name):
    Path(name).write_bytes(b"")
    assert cli.fails("roc", name).startswith(f"{name}: cannot be read as ")


def test_gzip_cut_short(cli, rng):
    labels, scores = sample(rng, 900)
    text = HEADER + "".join(f"{y},{','.join(map(str, row))}\n" for y, row in zip(labels, scores.tolist(), strict=True))
    packed = gzip.compress(text.encode())
    for kept in (10, 100, len(packed) // 2, len(packed) - 4):
        Path("a.csv.gz").write_bytes(packed[:kept])
        assert cli.fails("roc", "a.csv.gz").startswith("a.csv.gz: cannot be read as csv: ")


def test_a_header_beyond_the_limit_of_a_field(cli):
    Path("a.csv").write_text(f"y_true,{'p' * 200_000},q\n", encoding="utf-8")
    assert cli.fails("roc", "a.csv") == "a.csv: cannot be read as csv: field larger than field limit (131072)"
    Path("costs.csv").write_text(f"{'p' * 200_000},q\n1,0\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"^costs.csv: cannot be read: field larger than field limit \(131072\)$"):
        read_costs("costs.csv", ["a", "b"])


@pytest.mark.parametrize("cell", ["1_0", "0_1.5", "0x1p3", "\u0661", "1 2"])
def test_cells_that_only_python_takes_for_numbers(cli, cell):
    Path("a.csv").write_text(f"{HEADER}ant,0.2,0.3,0.5\nbee,{cell},0.3,0.5\n", encoding="utf-8")
    assert cli.fails("roc", "a.csv") == f"a.csv: column 'p_ant', row 2: {cell!r} is not a number"
    texts = pa.table({"y_true": ["ant", "bee"], "p_ant": ["0.5", cell], "p_bee": [0.5, 0.5]})
    parquet.write_table(texts, "a.parquet")
    assert cli.fails("roc", "a.parquet") == f"a.parquet: column 'p_ant', row 2: {cell!r} is not a number"
    Path("costs.csv").write_text(f"0,{cell}\n1,0\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"^costs.csv: row 1, column 2: .* is not a number$"):
        read_costs("costs.csv", ["a", "b"])


def test_columns_of_kinds_that_have_no_use(cli):
    columns = {"p_ant": [0.5, 0.2], "p_bee": [0.5, 0.8]}
    parquet.write_table(pa.table({"y_true": [["a"], ["b"]], **columns}), "list.parquet")
    assert cli.fails("roc", "list.parquet").startswith("list.parquet: column 'y_true' holds list<")
    parquet.write_table(pa.table({"y_true": ["ant", "bee"], **columns, "p_cat": [2**60 + 1, 0]}), "large.parquet")
    assert cli.fails("roc", "large.parquet").startswith("large.parquet: column 'p_cat': Integer value 1152921504606846")
    Path("twice.csv").write_text("y_true,p_ant,p_ant\nant,0.5,0.5\n", encoding="utf-8")
    assert cli.fails("roc", "twice.csv") == "twice.csv: there are 2 columns 'p_ant' (--scores)"


class TestArchives:
    def test_members_that_are_no_arrays(self, cli, rng):
        labels, scores = sample(rng)
        np.savez("a.npz", y_true=labels, y_score=scores)
        with zipfile.ZipFile("a.npz", "a") as archive:
            archive.writestr("notes.txt", "made on a Monday")
            archive.writestr("odd.npy", "no array at all")
        assert read_predictions(Request(sources={"m": Source("a.npz")}, label="y_true")).models["m"].shape == (90, 3)
        assert cli.fails("roc", "a.npz", "-s", "notes.txt") == (
            "a.npz: array 'notes.txt' cannot be read: it is not an array"
        )
        assert cli.fails("roc", "a.npz", "-s", "odd").startswith("a.npz: array 'odd' cannot be read: ")

    def test_members_that_are_not_asked_for_are_not_loaded(self, cli, rng, monkeypatch):
        labels, scores = sample(rng)
        np.savez("a.npz", y_true=labels, y_score=scores, features=rng.random((90, 500)))
        opened = []
        read = zipfile.ZipFile.open
        monkeypatch.setattr(zipfile.ZipFile, "open", lambda *a, **k: opened.append(a[1]) or read(*a, **k))
        cli("roc", "a.npz")
        assert set(opened) == {"y_true.npy", "y_score.npy"}

    @pytest.mark.parametrize("kind", [complex, "M8[s]", "V8", [("a", float), ("b", int)]])
    def test_arrays_of_kinds_that_have_no_use(self, cli, kind):
        np.savez("a.npz", y_true=np.array(["a", "b"]), y_score=np.zeros(2, dtype=kind))
        assert cli.fails("roc", "a.npz").startswith(("a.npz: array 'y_score' must hold ", "a.npz: column 'y_score'"))


class TestTerminals:
    LABELS = ("\x1b]0;title\x07ant", "bee\x9b31m", "cat\r\u202e")

    @pytest.fixture(autouse=True)
    def _files(self, rng, in_empty_folder):  # noqa: ARG002 - files are written only once the folder is there
        codes, (first, second) = np.arange(90) % 3, (sample(rng)[1], sample(rng)[1])
        for name, scores in (("one", first), ("two", second)):
            matrix = {f"p_{label}": column for label, column in zip(self.LABELS, scores.T, strict=True)}
            parquet.write_table(pa.table({"y": [self.LABELS[c] for c in codes], **matrix}), f"{name}\x1b[2J.parquet")

    @pytest.mark.parametrize("style", ["table", "markdown", "json"])
    def test_nothing_printed_is_obeyed(self, cli, style):
        one, two = "one\x1b[2J.parquet", "two\x1b[2J.parquet"
        commands = [("evaluate", one), ("compare", one, two), ("roc", one), ("roc", one, "--kind", "pairwise")]
        for command in commands:
            printed = cli(*command, "-l", "y", "-f", style)
            assert all(sign == "\n" or sign.isprintable() or sign == "\xa0" for sign in printed), command
        if style == "json":
            found = json.loads(cli("evaluate", one, "-l", "y", "-f", style))
            assert [entry["label"] for entry in found["per_class"]] == list(self.LABELS)

    def test_csv_shows_escapes_to_people_only(self, cli, monkeypatch):
        command = ("evaluate", "one\x1b[2J.parquet", "-l", "y", "-f", "csv")
        rows = list(plain_csv.reader(io.StringIO(cli(*command), newline="")))
        assert [row[1] for row in rows if row[0] == "class"] == list(self.LABELS)
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
        assert all(sign == "\n" or sign.isprintable() for sign in cli(*command))

    def test_messages(self, cli):
        problem = cli.fails("evaluate", "one\x1b[2J.parquet", "-l", "y", "--labels", "a,b,c\x1b[2J")
        assert problem.isprintable()
        assert cli.fails("roc", "no\x1b[2J.csv") == r"no\u001b[2J.csv: there is no such file"


def test_csv_output_holds_no_formulas(cli, rng):
    labels = ("=1+1", "+cmd", "-1", "@sum", "-2+3")
    codes = np.arange(100) % 5
    matrix = {f"p_{label}": rng.random(100) for label in labels}
    parquet.write_table(pa.table({"y": [labels[c] for c in codes], **matrix}), "a.parquet")
    rows = list(plain_csv.reader(io.StringIO(cli("evaluate", "a.parquet", "-l", "y", "-f", "csv"))))
    assert [row[1] for row in rows if row[0] == "class"] == ["'=1+1", "'+cmd", "-1", "'@sum", "'-2+3"]
    write_files(rng)
    rows = list(plain_csv.reader(io.StringIO(cli("compare", "one.parquet", "two.parquet", "-l", "y", "-f", "csv"))))
    assert float(rows[-1][2]) == -float(rows[2][2]) + float(rows[1][2])


class TestPathsWithEqualsSigns:
    @pytest.fixture(autouse=True)
    def _files(self, rng, in_empty_folder):  # noqa: ARG002 - files are written only once the folder is there
        write_files(rng)
        for run in ("run=3", "run=4"):
            Path(run).mkdir()
        Path("one.parquet").rename("run=3/a.parquet")
        Path("two.parquet").rename("run=4/b.parquet")

    def test_a_folder_of_that_name(self, cli):
        assert json.loads(cli("evaluate", "run=3/a.parquet", "-l", "y", "-f", "json"))["model"] == "a"
        found = json.loads(cli("compare", "run=3/a.parquet", "run=4/b.parquet", "-l", "y", "-f", "json"))
        assert list(found["estimates"]) == ["a", "b"]

    def test_a_name_before_it(self, cli):
        files = ("first=run=3/a.parquet", f"x/y={Path('run=4/b.parquet').resolve()}")
        found = json.loads(cli("compare", *files, "-l", "y", "-f", "json"))
        assert list(found["estimates"]) == ["first", "x/y"]

    def test_no_such_file(self, cli):
        assert cli.fails("evaluate", "data/run=5/a.csv") == "data/run=5/a.csv: there is no such file"
        assert cli.fails("evaluate", "net=a.csv") == "a.csv: there is no such file"
