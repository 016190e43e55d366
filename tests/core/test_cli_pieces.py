"""``multiauc evaluate`` on files that are read in pieces: when it does so, what it says and prints."""

import hashlib
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from command_line import ANIMALS, columns, run_command
from dataset_files import METRICS, in_memory, predictions, table_of, write
from multiauc._io import checkpoint as _checkpoints
from multiauc._io import dataset as _dataset_runs
from multiauc._io import predictions as row_stream
from multiauc.cli import _evaluate
from result_schema import problems

pytestmark = pytest.mark.usefixtures("in_empty_folder")


@pytest.fixture
def expected(rng, in_empty_folder):
    """A file of 600 rows; returns what is expected of it."""
    labels, scores, weights = predictions(rng)
    write(table_of(labels, scores, weights), "a.parquet")
    return in_memory(labels, scores)


@pytest.fixture
def little_memory(monkeypatch):
    """A machine with 20 kB of free memory, where even small files are looked at."""
    monkeypatch.setattr(_evaluate, "available_memory", lambda: 20_000)
    monkeypatch.setattr(_evaluate, "SMALL", 0)


def numbers(text):
    found = json.loads(text)
    assert problems(found) == []
    metrics = {metric: found["metrics"][metric]["value"] for metric in METRICS}
    return metrics | {one["label"]: one["value"] for one in found["per_class"]}


class TestChoice:
    @pytest.mark.usefixtures("expected")
    def test_small_files_are_read_whole(self, cli):
        found = json.loads(cli("evaluate a.parquet -l y -f json"))
        assert "reading" not in found
        assert "pieces" not in cli("evaluate a.parquet -l y")

    @pytest.mark.usefixtures("little_memory")
    def test_large_ones_in_pieces(self, cli, expected):
        text = cli("evaluate a.parquet -l y")
        assert (
            "Read in pieces with 1.07 GB of memory, because it would take up 24 kB in memory, more than a quarter of "
            "the memory that is free (20 kB).\n"
        ) in text
        assert numbers(cli("evaluate a.parquet -l y -f json")) == expected
        reading = json.loads(cli("evaluate a.parquet -l y -f json"))["reading"]
        assert reading["memory_limit"] == 2**30
        assert reading["why"].startswith("because it would take up 24 kB in memory")

    @pytest.mark.parametrize("name", ["b.csv", "b.csv.gz", "b.arrow"])
    @pytest.mark.usefixtures("little_memory")
    def test_other_formats(self, cli, rng, name):
        labels, scores, _ = predictions(rng)
        write(table_of(labels, scores), name)
        found = cli("evaluate", name, "-l", "y", "-f", "json")
        assert numbers(found) == in_memory(labels, scores)
        assert "reading" in json.loads(found)

    @pytest.mark.usefixtures("expected")
    def test_the_size_in_memory_counts(self, cli, monkeypatch):
        monkeypatch.setattr(_evaluate, "SMALL", 0)
        for memory, pieces in ((24_000 * 4 - 1, True), (24_000 * 4, False)):
            monkeypatch.setattr(_evaluate, "available_memory", lambda memory=memory: memory)
            assert ("reading" in json.loads(cli("evaluate a.parquet -l y -f json"))) == pieces
        monkeypatch.setattr(_evaluate, "available_memory", lambda: None)
        assert "reading" not in json.loads(cli("evaluate a.parquet -l y -f json"))

    @pytest.mark.parametrize("option", ["--memory-limit 512MB", "--checkpoint c.bin"])
    def test_options_ask_for_pieces(self, cli, expected, option):
        found = cli(f"evaluate a.parquet -l y -f json {option}")
        assert numbers(found) == expected
        assert json.loads(found)["reading"]["why"] == f"because of {option.split()[0]}"

    @pytest.mark.usefixtures("expected", "little_memory")
    def test_whole_on_request(self, cli):
        assert "reading" not in json.loads(cli("evaluate a.parquet -l y -f json --memory-limit none"))
        problem = cli.fails("evaluate a.parquet -l y --memory-limit none --checkpoint c", code=2)
        assert problem.startswith("--checkpoint reads the file in pieces, and --memory-limit none reads it whole")

    def test_folders_of_folders_and_addresses(self, cli, rng):
        labels, scores, _ = predictions(rng)
        for part in range(2):
            Path(f"days/day={part}").mkdir(parents=True)
            rows = slice(part, None, 2)
            parquet.write_table(pa.table({"y": labels[rows]} | columns(scores[rows])), f"days/day={part}/a.parquet")
        for source, why in (
            ("days", "because it is a folder of folders"),
            (Path("days").absolute().as_uri(), "because it is in a store"),
            (f"{Path.cwd().as_uri()}/days/*/*.parquet", "because it is in a store"),
        ):
            found = cli("evaluate", source, "-l", "y", "-f", "json")
            assert numbers(found) == in_memory(labels, scores)
            assert json.loads(found)["reading"]["why"] == why

    @pytest.mark.parametrize(
        "option",
        [
            "--groups w", "--bootstrap 10", "--metrics pdi", "--pair-weights size_sum", "--sampling iid",
            "--partition costs.csv",
        ],
    )  # fmt: skip
    @pytest.mark.filterwarnings("always:a.parquet is read whole")
    @pytest.mark.usefixtures("expected", "little_memory")
    def test_what_needs_all_rows_at_once(self, cli, option):
        Path("costs.csv").write_text("0,1,1\n1,0,1\n1,1,0\n", "utf-8")
        assert "reading" not in json.loads(cli(f"evaluate a.parquet -l y -f json {option}"))
        name = option.split()[0]
        problem = cli.fails(f"evaluate a.parquet -l y {option} --checkpoint c")
        assert re.fullmatch(
            f"a.parquet is read in pieces because of --checkpoint, and {name}.* needs all rows at once", problem
        )

    @pytest.mark.filterwarnings("always:a.parquet is read whole")
    @pytest.mark.usefixtures("expected", "little_memory")
    def test_a_warning_says_why_it_is_read_whole(self, capsys):
        assert run_command(["evaluate", "a.parquet", "-l", "y", "--groups", "w"]) == 0
        assert capsys.readouterr().err == (
            "multiauc: warning: a.parquet is read whole because --groups needs all rows at once, though it takes up "
            "24 kB in memory, more than a quarter of the memory that is free (20 kB)\n"
        )

    @pytest.mark.parametrize(
        ("size", "problem"),
        [
            ("much", "'much' is not a size such as 512MB or 2GiB, nor none."),
            ("1MB", "'1MB' is too little: it takes 256MiB at least."),
        ],
    )
    @pytest.mark.usefixtures("expected")
    def test_limits(self, cli, size, problem):
        assert problem in cli.fails(f"evaluate a.parquet -l y --memory-limit {size}", code=2)


class TestOutput:
    def test_tables(self, cli, expected):
        text = cli("evaluate a.parquet -l y --memory-limit 1GiB")
        assert text.startswith("a: 600 rows, 3 classes\n")
        assert f"{expected['auc_mu']:.4f}" in text
        assert "Values: exact." in text

    @pytest.mark.usefixtures("expected")
    def test_the_same_classes_and_pairs_as_of_the_whole_file(self, cli):
        whole, pieces = (json.loads(cli(f"evaluate a.parquet -l y -f json {how}")) for how in ("", "--exact"))
        for kind, names in (
            ("per_class", ("label", "rows", "value", "hardest", "hardest_value")),
            ("worst_pairs", ("first", "second", "first_rows", "second_rows", "value")),
        ):
            ours, theirs = ([[one[name] for name in names] for one in found[kind]] for found in (whole, pieces))
            assert ours == theirs

    def test_weights_and_metrics(self, cli, rng):
        labels, scores, weights = predictions(rng)
        write(table_of(labels, scores, weights), "a.parquet")
        found = json.loads(
            cli("evaluate a.parquet -l y --sample-weight w --memory-limit 1GiB --metrics hand_till -f json")
        )
        assert list(found["metrics"]) == ["hand_till"]
        expected = in_memory(labels, scores, weights)["hand_till"]
        assert found["metrics"]["hand_till"]["value"] == pytest.approx(expected, abs=1e-12)

    def test_csv(self, cli, expected):
        head, first, *_ = cli("evaluate a.parquet -l y --memory-limit 1GiB -f csv").splitlines()
        assert head == "kind,name,other,value,guaranteed_low,guaranteed_high,standard_error,low,high"
        kind, name, _, value, low, high, *_ = first.split(",")
        assert (kind, name) == ("metric", "auc_mu")
        assert float(value) == float(low) == float(high) == expected["auc_mu"]

    @pytest.mark.usefixtures("expected")
    def test_provenance(self, cli):
        found = json.loads(cli("evaluate a.parquet -l y --memory-limit 1GiB -f json"))["provenance"]
        data = Path("a.parquet").read_bytes()
        facts = {"size": len(data), "holds": "predictions", "rows": 600}
        assert found["files"] == [facts | {"name": "a.parquet", "sha256": hashlib.sha256(data).hexdigest()}]
        address = Path("a.parquet").absolute().as_uri()
        stored = json.loads(cli(f"evaluate {address} -l y -f json"))["provenance"]
        assert stored["files"] == [facts | {"name": address, "sha256": None}]
        assert found["options"]["memory_limit"] == 2**30

    def test_gates(self, cli, expected):
        line = "evaluate a.parquet -l y --memory-limit 1GiB --fail-under"
        cli(f"{line} auc_mu={expected['auc_mu']!r}")
        assert "multiauc: failed: AUC_mu is " in cli(f"{line} auc_mu=0.9999", code=3)
        cli(f"{line} auc_mu=0.5 --fail-on-interval")

    @pytest.mark.usefixtures("expected")
    def test_problems(self, cli):
        assert cli.fails("evaluate no.parquet --memory-limit 1GiB") == "no.parquet: there is no such file"
        assert cli.fails("evaluate a.parquet -l z --memory-limit 1GiB").startswith("a.parquet: no column 'z' (--label)")
        assert cli.fails("evaluate a.parquet -l y -s a=p_* -s b=p_* --checkpoint c").startswith(
            "evaluate takes one model"
        )
        assert cli.fails("evaluate a.parquet -l y --memory-limit 1GiB -o a.parquet").endswith(
            "an output never overwrites"
        )
        assert cli.fails("evaluate - -l y --checkpoint c") == (
            "- is read in pieces because of --checkpoint, and standard input needs all rows at once"
        )


class TestCertainBounds:
    @pytest.fixture(autouse=True)
    def small_state(self, rng, monkeypatch, in_empty_folder):
        """A file of 6000 rows, and 100 kB for what is kept of them."""
        del in_empty_folder  # must be there before
        monkeypatch.setattr(_dataset_runs, "STATE_SHARE", 2**30 // 100_000)
        labels, scores, _ = predictions(rng, 6000)
        write(table_of(labels, scores), "a.parquet")

    def test_output(self, cli):
        text = cli("evaluate a.parquet -l y --memory-limit 1GiB")
        assert re.search(r"AUC_mu +│? *0\.\d+ +│? *0\.\d+ to 0\.\d+ ", text), text
        assert "guaranteed bounds" in text
        assert "Values: the exact values of all rows always lie between the bounds." in text
        found = json.loads(cli("evaluate a.parquet -l y --memory-limit 1GiB -f json"))
        assert problems(found) == []
        assert not found["exact"]
        for one in [*found["metrics"].values(), *found["per_class"], *found["worst_pairs"]]:
            assert one["guaranteed_low"] < one["value"] < one["guaranteed_high"]

    def test_exact_on_request(self, cli):
        table = parquet.read_table("a.parquet")
        scores = np.column_stack([table.column(f"p_{name}") for name in ANIMALS])
        expected = in_memory(table.column("y").to_numpy(), scores)
        text = cli("evaluate a.parquet -l y --exact -f json")
        assert numbers(text) == expected
        found = json.loads(text)
        assert found["exact"]
        assert found["reading"] == {"why": "because of --exact", "memory_limit": 2**30, "exact": True}
        assert "Values: exact." in cli("evaluate a.parquet -l y --exact")

    def test_exact_values_have_no_weights(self, cli):
        write(parquet.read_table("a.parquet").append_column("w", pa.array(np.ones(6000))), "a.parquet")
        problem = cli.fails("evaluate a.parquet -l y --sample-weight w --exact")
        assert problem.startswith(
            "--exact counts rows, and --sample-weight w gives them weights, whose sums are rounded"
        )

    def test_a_gate_is_passed_for_certain_only(self, cli):
        line = "evaluate a.parquet -l y --memory-limit 1GiB"
        found = json.loads(cli(f"{line} -f json"))["metrics"]["auc_mu"]
        cli(f"{line} --fail-under auc_mu={found['guaranteed_low']!r}")
        assert f"AUC_mu is {found['guaranteed_low']:.4f}, under" in cli(
            f"{line} --fail-under auc_mu={found['value']!r}", code=3
        )


class TestCheckpoints:
    def test_it_goes_on(self, cli, expected, monkeypatch):
        monkeypatch.setattr(_checkpoints, "SECONDS", 0.0)
        monkeypatch.setattr(_checkpoints, "TIMES_LONGER", 0.0)
        monkeypatch.setattr(row_stream, "FEWEST_ROWS", 50)
        monkeypatch.setattr(row_stream, "MOST_ROWS", 50)
        once = row_stream.RowReader.read

        def stopped(self, piece):
            if piece.first >= 300:
                raise KeyboardInterrupt
            return once(self, piece)

        with monkeypatch.context() as patch:
            patch.setattr(row_stream.RowReader, "read", stopped)
            assert "interrupted" in cli("evaluate a.parquet -l y --checkpoint c.bin", code=130)
        first = []
        monkeypatch.setattr(
            row_stream.RowReader, "read", lambda self, piece: (first.append(piece.first), once(self, piece))[1]
        )
        assert numbers(cli("evaluate a.parquet -l y --checkpoint c.bin -f json")) == expected
        assert first == list(range(300, 600, 50))

    @pytest.mark.usefixtures("expected")
    def test_another_file_or_option_is_refused(self, cli):
        cli("evaluate a.parquet -l y --checkpoint c.bin")
        Path("b.parquet").write_bytes(Path("a.parquet").read_bytes())
        problem = cli.fails("evaluate b.parquet -l y --checkpoint c.bin")
        assert re.search(r"c\.bin: this checkpoint was made from .*/a\.parquet, not from .*/b\.parquet; name", problem)
        problem = cli.fails("evaluate a.parquet -l y --sample-weight w --checkpoint c.bin")
        assert "this checkpoint was made with --sample-weight not given, not 'w'" in problem


@pytest.mark.parametrize("option", ["--memory-limit 1GiB", "--memory-limit none"])
def test_progress_on_a_terminal(rng, option):
    """The line that a terminal shows: bar, rows, speed, time left."""
    labels, scores, _ = predictions(rng, 5000)
    parquet.write_table(table_of(labels, scores), "a.parquet")
    code = (
        "import sys, time; from multiauc._io import predictions as row_stream; from multiauc.cli import main\n"
        "from multiauc._common import progress; progress.PATIENCE = progress.PAUSE = 0.05\n"
        "row_stream.FEWEST_ROWS = row_stream.MOST_ROWS = 500\n"
        "once = row_stream.RowReader.read\n"
        "row_stream.RowReader.read = lambda *a: (time.sleep(0.1), once(*a))[1]\n"
        f"sys.argv[1:] = 'evaluate a.parquet -l y {option}'.split()\nmain()"
    )
    terminal, other = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", code], stderr=other, stdout=subprocess.DEVNULL)
    os.close(other)
    written = b""
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # closed
            break
        if not part:
            break
        written += part
    os.close(terminal)
    assert process.wait() == 0
    lines = [line.rstrip() for line in written.decode().split("\r")]
    full = re.compile(r"reading a\.parquet \[#+-*\] [0-9.]+k rows, [0-9.]+k rows/s, \d+ s left")
    assert any(full.fullmatch(line) for line in lines), lines
    assert lines[-1] == ""


def test_sizes_are_counted_for_double_and_single_precision(rng):
    labels, scores, _ = predictions(rng)
    for dtype, size in ((np.float32, 600 * (12 + 16)), (np.float64, 600 * (24 + 16))):
        write(table_of(labels, scores.astype(dtype)), "a.parquet")
        from multiauc._io.predictions import Request, Source
        from multiauc._io.sources import Content

        request = Request(sources={"a": Source("a.parquet")}, label="y")
        assert _evaluate._size_in_memory(Content("a.parquet"), request) == size


@pytest.mark.parametrize("piecewise", ["", "--memory-limit 512MB"])
@pytest.mark.parametrize(("outputs", "is_noted"), [("", True), ("--outputs logits", False)])
def test_scores_that_are_not_probabilities_are_noted(rng, in_empty_folder, cli, piecewise, outputs, is_noted):
    codes = np.arange(600) % 3
    scores = rng.normal(size=(600, 3)) + np.eye(3)[codes]
    lines = ["y,p_0,p_1,p_2", *(f"{y},{a:.6f},{b:.6f},{c:.6f}" for y, (a, b, c) in zip(codes, scores, strict=True))]
    Path("logits.csv").write_text("\n".join(lines))
    printed = cli(f"evaluate logits.csv -l y {piecewise} {outputs}")
    assert ("not probabilities" in printed) == is_noted
