"""Data sets that are no single file: standard input, pipes, patterns, folders."""

import gzip
import io
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, feather, ipc, parquet

import multiauc
from command_line import ANIMALS, columns, sample, write_files

pytestmark = pytest.mark.usefixtures("in_empty_folder")


def run(*arguments, stdin=b"", **options):
    line = [sys.executable, "-m", "multiauc", *map(str, arguments)]
    return subprocess.run(line, input=stdin, capture_output=True, check=False, **options)


def bash(line):
    """A line of bash in which `multiauc` is the command."""
    command = f'multiauc() {{ {sys.executable} -m multiauc "$@"; }}; set -o pipefail; {line}'
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)


def in_every_format(labels, scores):
    """The same predictions as bytes of each format."""
    table = pa.table({"y": labels} | columns(scores))
    found = {}
    for name, write in {
        "parquet": lambda file: parquet.write_table(table, file),
        "arrow": lambda file: feather.write_feather(table, file),
        "stream": lambda file: ipc.new_stream(file, table.schema).write_table(table),
        "csv": lambda file: csv.write_csv(table, file),
        "tsv": lambda file: csv.write_csv(table, file, csv.WriteOptions(delimiter="\t")),
        "npz": lambda file: np.savez(file, y=labels, y_score=scores),
    }.items():
        file = io.BytesIO()
        write(file)
        found[name] = file.getvalue()
    return found | {"gzip": gzip.compress(found["csv"])}


@pytest.fixture
def stdin(monkeypatch):
    """Sets what comes through standard input."""
    return lambda content: monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


class TestStandardInput:
    def test_every_format_is_told(self, cli, rng, stdin):
        labels, scores = sample(rng)
        expected = multiauc.evaluate(labels, scores).auc_mu.value
        for name, content in in_every_format(labels, scores).items():
            stdin(content)
            found = json.loads(cli("evaluate - -l y -f json"))
            assert found["metrics"]["auc_mu"]["value"] == expected, name
            assert found["model"] == "stdin"
            assert found["provenance"]["files"][0] | {"sha256": ""} == {
                "name": "-", "size": len(content), "sha256": "", "holds": "predictions", "rows": 90,
            }  # fmt: skip

    def test_a_format_that_cannot_be_told(self, cli, rng, stdin):
        stdin(b"\x00\x01\x02" * 50)
        assert cli.fails("evaluate -") == (
            "standard input: its format cannot be told; name it with --format-in: csv, tsv, parquet, arrow, npz"
        )
        stdin(b"\x00\x01\x02" * 50)
        problem = cli.fails("evaluate - --format-in parquet")
        assert problem.startswith("standard input: cannot be read as parquet: ")
        stdin(b"")
        assert cli.fails("evaluate -") == "standard input: there is nothing in it"
        for name, content in in_every_format(*sample(rng)).items():
            kind = {"stream": "arrow", "gzip": "csv"}.get(name, name)
            stdin(content)
            assert cli(f"evaluate - -l y --format-in {kind}")

    def test_letters_at_the_end_of_what_is_looked_at(self, cli, stdin):
        """A letter of several bytes may be cut in two there."""
        for shift in range(4):
            label = "a" * (4000 + shift) + "é" * 100
            text = f"y,p_{label},p_b\n{label},0.9,0.1\nb,0.2,0.8\nb,0.3,0.7\n{label},0.4,0.6\n"
            stdin(text.encode())
            assert cli("evaluate - -l y")

    def test_several_models_in_it(self, rng):
        write_files(rng)
        content = Path("both.parquet").read_bytes()
        done = run("compare", "-", "-l", "y", "-s", "a_*", "-s", "b_*", "-f", "json", stdin=content)
        assert list(json.loads(done.stdout)["estimates"]) == ["a", "b"]
        expected = json.loads(run("compare", "both.parquet", "-l", "y", "-s", "a_*", "-s", "b_*", "-f", "json").stdout)
        assert json.loads(done.stdout)["estimates"] == expected["estimates"]

    def test_beside_a_file_under_a_name(self, rng):
        write_files(rng)
        content = Path("two.parquet").read_bytes()
        done = run("compare", "one.parquet", "new=-", "-l", "y", "-f", "json", stdin=content)
        assert list(json.loads(done.stdout)["estimates"]) == ["one", "new"]

    @pytest.mark.parametrize("line", ["compare - x=-", "evaluate - --partition -", "compare a=- one.parquet b=-"])
    def test_only_once(self, cli, rng, line):
        write_files(rng)
        problem = cli.fails(f"{line} -l y")
        assert problem == "standard input ('-') can be given once, because it can be read only once"

    def test_costs(self, rng):
        write_files(rng)
        costs = Path("costs.csv").read_bytes()
        done = run("evaluate", "one.parquet", "-l", "y", "--partition", "-", "-f", "json", stdin=costs)
        line = run("evaluate", "one.parquet", "-l", "y", "--partition", "costs.csv", "-f", "json")
        found, expected = json.loads(done.stdout), json.loads(line.stdout)
        assert found["metrics"] == expected["metrics"]
        files = [result["provenance"]["files"][1] for result in (found, expected)]
        assert files[0]["sha256"] == files[1]["sha256"]
        assert (files[0]["name"], files[0]["holds"], files[0]["rows"]) == ("-", "costs", None)

    def test_problems_name_it(self):
        text = b"y,p_a,p_b\na,0.5,much\n"
        done = run("evaluate", "-", "-l", "y", stdin=text)
        assert done.stderr == b"multiauc: error: standard input: column 'p_b', row 1: 'much' is not a number\n"

    def test_closed(self):
        done = bash("multiauc evaluate - <&-")
        assert (done.returncode, done.stderr) == (1, "multiauc: error: standard input: cannot be read: it is closed\n")


@pytest.mark.slow
class TestPipes:
    def test_process_substitution(self, rng):
        write_files(rng)
        line = "multiauc compare new=<(cat one.parquet) <(cat two.parquet) -l y -f json"
        done = bash(line)
        assert done.returncode == 0, done.stderr
        expected = json.loads(bash("multiauc compare one.parquet two.parquet -l y -f json").stdout)
        found = json.loads(done.stdout)
        assert next(iter(found["estimates"])) == "new"
        assert found["differences"][0]["value"] == expected["differences"][0]["value"]
        assert [file["size"] for file in found["provenance"]["files"]] == [
            Path(name).stat().st_size for name in ("one.parquet", "two.parquet")
        ]

    def test_costs_by_process_substitution_and_a_report(self, rng):
        write_files(rng)
        done = bash("multiauc report <(cat one.parquet) -l y --bootstrap 0 --partition <(cat costs.csv) -o - | wc -c")
        assert done.returncode == 0, done.stderr
        assert int(done.stdout) > 10_000

    def test_a_named_pipe(self, cli, rng):
        write_files(rng)
        content = Path("one.parquet").read_bytes()
        expected = json.loads(cli("evaluate one.parquet -l y -f json"))["metrics"]
        for name in ("pipe", "pipe.parquet"):
            os.mkfifo(name)
            writer = threading.Thread(target=lambda name=name: Path(name).write_bytes(content))
            writer.start()
            assert json.loads(cli("evaluate", name, "-l", "y", "-f", "json"))["metrics"] == expected
            writer.join()

    def test_device_of_standard_input(self, rng):
        write_files(rng)
        assert bash("cat one.parquet | multiauc evaluate /dev/stdin -l y").returncode == 0
        assert bash("multiauc evaluate /dev/stdin -l y < one.parquet").returncode == 0
        assert bash("multiauc evaluate one.parquet -l y -f csv -o >(head -n 1)").stdout == (
            "kind,name,other,value,standard_error,low,high\n"
        )

    @pytest.mark.parametrize(
        "line",
        [
            "multiauc evaluate one.parquet -l y",
            "multiauc evaluate one.parquet -l y -f json",
            "multiauc roc one.parquet -l y --kind pairwise -f csv",
            "multiauc compare one.parquet two.parquet -l y -f markdown",
            "multiauc report one.parquet -l y --bootstrap 0 -o -",
            "multiauc evaluate --help",
            "multiauc",
            "multiauc completion bash",
        ],
    )
    def test_a_reader_who_has_seen_enough(self, rng, line):
        write_files(rng)
        for reader in ("true", "head -c 1 > /dev/null"):
            done = bash(f"{line} | {reader}; exit ${{PIPESTATUS[0]}}")
            assert (done.returncode, done.stderr) in {(0, ""), (2, "") if line == "multiauc" else (0, "")}

    def test_a_reader_of_a_file_that_has_seen_enough(self, rng):
        write_files(rng)
        os.mkfifo("pipe.html")
        reader = subprocess.Popen(["head", "-c", "1", "pipe.html"], stdout=subprocess.PIPE)
        done = run("report", "one.parquet", "-l", "y", "--bootstrap", 0, "-o", "pipe.html")
        assert (done.returncode, done.stderr) == (0, b"")
        assert reader.communicate(timeout=30)[0] == b"<"

    def test_completion_empties_no_pipe(self, rng):
        from click.shell_completion import ShellComplete

        from command_line import command

        write_files(rng)
        os.mkfifo("pipe.csv")  # to open it would wait for a writer
        completer = ShellComplete(command, {}, "multiauc", "_MULTIAUC_COMPLETE")
        assert completer.get_completions(["evaluate", "pipe.csv", "--label"], "") == []
        assert completer.get_completions(["evaluate", "-", "--label"], "") == []
        Path("parts").mkdir()
        shutil.move("one.parquet", "parts/a.parquet")
        for given in ("parts", "parts/*.parquet"):
            found = [item.value for item in completer.get_completions(["evaluate", given, "--label"], "y")]
            assert found == ["y"]


@pytest.mark.usefixtures("whole")
class TestParts:
    @pytest.fixture
    def whole(self, cli, rng, in_empty_folder):  # noqa: ARG002 - files are written only once the folder is there
        """Parts of one data set in the folder `parts`, and what the whole of it gives."""
        labels, scores = sample(rng, 100)
        table = pa.table({"y": labels, "id": np.arange(100)} | columns(scores))
        parquet.write_table(table, "whole.parquet")
        Path("parts").mkdir()
        for k, (start, stop) in enumerate([(0, 40), (40, 41), (41, 41), (41, 100)]):
            part = table.slice(start, stop - start)
            parquet.write_table(part.select(part.column_names[:: -1 if k % 2 else 1]), f"parts/part-{k}.parquet")
        return json.loads(cli("evaluate whole.parquet -l y -f json"))

    @pytest.mark.parametrize("path", ["parts/*.parquet", "parts", "parts/", "parts/part-[0-9].parquet", "**/part-*"])
    def test_they_are_one_data_set(self, cli, whole, path):
        if path == "**/part-*":
            Path("parts/deeper").mkdir()
            shutil.move("parts/part-3.parquet", "parts/deeper/part-3.parquet")
        found = json.loads(cli("evaluate", path, "-l", "y", "-f", "json"))
        if path != "**/part-*":
            assert found["metrics"] == whole["metrics"]
            assert [file["rows"] for file in found["provenance"]["files"]] == [40, 1, 0, 59]
            names = [file["name"] for file in found["provenance"]["files"]]
            assert names == [f"parts/part-{k}.parquet" for k in range(4)]
        assert found["rows"] == 100

    def test_names_of_models(self, cli):
        names = {
            "parts": "parts",
            "parts/": "parts",
            "parts/*.parquet": "parts",
            "parts/part-*": "part",
            "new=parts": "new",
        }
        for given, name in names.items():
            assert json.loads(cli("evaluate", given, "-l", "y", "-f", "json", "-s", "p_*"))["model"] == name
        Path("parts").rename("net.parquet")
        assert json.loads(cli("evaluate", "net.parquet", "-l", "y", "-f", "json"))["model"] == "net"

    def test_compared_with_a_file_in_another_order(self, cli, rng):
        table = parquet.read_table("whole.parquet")
        parquet.write_table(table.take(rng.permutation(100)), "turned.parquet")
        found = json.loads(cli("compare", "parts/*.parquet", "turned.parquet", "-l", "y", "--id", "id", "-f", "json"))
        assert found["differences"][0]["value"] == 0.0

    def test_rows_are_those_of_the_part(self, cli):
        table = parquet.read_table("parts/part-3.parquet")
        labels = table.column("y").to_pylist()
        labels[4] = "dog"
        place = table.column_names.index("y")
        parquet.write_table(table.set_column(place, "y", pa.array(labels)), "parts/part-3.parquet")
        problem = cli.fails("evaluate", "parts", "-l", "y")
        assert problem.startswith("parts/part-3.parquet: column 'y', row 5: the class 'dog' has no score column")
        problem = cli.fails("compare", "whole.parquet", "parts", "-l", "y")
        assert problem.startswith("parts/part-3.parquet: column 'y', row 5: the class 'dog' has no score column")

    def test_parts_that_do_not_belong_together(self, cli):
        parquet.write_table(parquet.read_table("whole.parquet").drop_columns(["p_bee"]), "parts/part-9.parquet")
        assert cli.fails("evaluate", "parts", "-l", "y") == (
            "parts/part-9.parquet: no column 'p_bee', which parts/part-0.parquet has; "
            "the files of one data set have the same columns"
        )
        table = parquet.read_table("whole.parquet")
        parquet.write_table(table.append_column("more", table.column("id")), "parts/part-9.parquet")
        assert "it has columns that parts/part-0.parquet does not have: 'more'" in cli.fails("evaluate", "parts")

    def test_other_files_of_a_folder(self, cli, whole):
        for name in ("_SUCCESS", ".part-0.parquet.crc", "_metadata.parquet", ".hidden.parquet", "README.md"):
            Path("parts", name).write_text("nothing of the kind", encoding="utf-8")
        assert json.loads(cli("evaluate", "parts", "-l", "y", "-f", "json"))["metrics"] == whole["metrics"]
        csv.write_csv(parquet.read_table("whole.parquet"), "parts/more.csv")
        assert cli.fails("evaluate", "parts", "-l", "y") == (
            "parts: the folder holds files of several kinds, 'csv', 'parquet', which are not one data set; "
            "name those you mean by a pattern, as in 'parts/*.csv'"
        )

    def test_without_any_row(self, cli):
        for path in Path("parts").iterdir():
            parquet.write_table(parquet.read_table(path).slice(0, 0), path)
        assert cli.fails("evaluate", "parts", "-l", "y") == "parts: there are no rows"

    def test_signs_of_patterns_in_names_of_files(self, cli):
        shutil.copy("whole.parquet", "run[1]*.parquet")
        shutil.copy("whole.parquet", "run1.parquet")
        found = json.loads(cli("evaluate", "run[1]*.parquet", "-l", "y", "-f", "json"))
        assert [file["name"] for file in found["provenance"]["files"]] == ["run[1]*.parquet"]

    def test_folders_that_are_called_like_columns(self, cli, whole):
        Path("y=3").mkdir()
        shutil.copy("whole.parquet", "y=3/a.parquet")
        for given in ("y=3/a.parquet", "y=3/*.parquet", "y=3"):
            assert json.loads(cli("evaluate", given, "-l", "y", "-f", "json"))["metrics"] == whole["metrics"]

    def test_several_files_that_the_shell_made_of_a_pattern(self, cli):
        problem = cli.fails("evaluate parts/part-0.parquet parts/part-1.parquet -l y", code=2)
        assert problem.startswith(
            "evaluate takes one file; got 'parts/part-0.parquet', 'parts/part-1.parquet'. Several files"
        )


class TestFolders:
    def test_without_any_file(self, cli):
        Path("empty").mkdir()
        assert cli.fails("evaluate", "empty").startswith("empty: there are no data files in this folder; names may end")
        assert cli.fails("evaluate", "no*.csv") == "no*.csv: there is no such file, nor any that fits it as a pattern"

    def test_float32_and_float64(self, cli, rng):
        labels, scores = sample(rng)
        single = scores.astype(np.float32)
        Path("parts").mkdir()
        for k, rows in enumerate((slice(0, 40), slice(40, 90))):
            parquet.write_table(pa.table({"y": labels[rows]} | columns(single[rows])), f"parts/{k}.parquet")
        found = json.loads(cli("evaluate", "parts", "-l", "y", "-f", "json"))
        assert found["metrics"]["auc_mu"]["value"] == multiauc.auc_mu_score(labels, single)

    def test_csv_and_npz_parts(self, cli, rng):
        labels, scores = sample(rng)
        for kind in ("csv", "npz"):
            Path(kind).mkdir()
            for k, rows in enumerate((slice(0, 31), slice(31, 90))):
                if kind == "csv":
                    csv.write_csv(pa.table({"y": labels[rows]} | columns(scores[rows])), f"csv/{k}.csv")
                else:
                    np.savez(f"npz/{k}.npz", y=labels[rows], y_score=scores[rows])
            found = json.loads(cli("evaluate", kind, "-l", "y", "-f", "json"))
            assert found["metrics"]["auc_mu"]["value"] == multiauc.auc_mu_score(labels, scores)
        np.savez("npz/2.npz", y=labels[:3], y_score=scores[:3, :2])
        assert cli.fails("evaluate", "npz", "-l", "y") == ("npz/2.npz: 2 columns of scores, the files before it have 3")


def test_names_of_classes_with_points(cli, rng):
    """A point in the name of a column does not reach into it."""
    labels, scores = sample(rng)
    classes = [f"{name}.v1" for name in ANIMALS]
    labels = [f"{label}.v1" for label in labels]
    table = pa.table({"y": labels} | {f"p_{name}": column for name, column in zip(classes, scores.T, strict=True)})
    parquet.write_table(table, "a.parquet")
    feather.write_feather(table, "a.arrow")
    for name in ("a.parquet", "a.arrow"):
        found = json.loads(cli("evaluate", name, "-l", "y", "-f", "json"))
        assert found["metrics"]["auc_mu"]["value"] == multiauc.auc_mu_score(labels, scores)
