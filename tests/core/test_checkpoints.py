"""Work that is stopped at any moment goes on where it was, and gives the identical answer."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import dataset as arrow_dataset
from pyarrow import parquet

import multiauc
from command_line import run_command
from dataset_files import in_memory, numbers, predictions, table_of, write
from multiauc._io import checkpoint as _checkpoints
from multiauc._io import predictions as row_stream
from multiauc._io.checkpoint import Checkpoint, DamagedError, Saved, decode, encode
from multiauc.streaming import Accumulator

pytestmark = pytest.mark.usefixtures("in_empty_folder")

SAVED = Saved({"files": ["a"], "label": "y"}, {"rows": 3, "labels": ["é"]}, bytes(range(256)))


@pytest.fixture
def at_every_batch(monkeypatch):
    """A checkpoint after every batch of 50 rows."""
    monkeypatch.setattr(_checkpoints, "SECONDS", 0.0)
    monkeypatch.setattr(_checkpoints, "TIMES_LONGER", 0.0)
    monkeypatch.setattr(row_stream, "FEWEST_ROWS", 50)
    monkeypatch.setattr(row_stream, "MOST_ROWS", 50)


class Stopped(Exception):  # noqa: N818
    """The work was stopped by its owner."""


def evaluate(source="a.parquet", *, stop_at=None, seen=None, **options):
    """Evaluate with a checkpoint; `seen` gets the numbers of rows done, and at `stop_at` of them it is stopped."""

    def progress(rows, _):
        if seen is not None:
            seen.append(rows)
        if rows == stop_at:
            raise Stopped

    options = {"label": "y", "checkpoint": "c.bin", "progress": progress} | options
    return multiauc.evaluate_dataset(source, **options)


class TestBytes:
    def test_what_went_in_comes_out(self):
        assert decode("c", encode(SAVED)) == SAVED

    def test_cut_off_anywhere(self):
        data = encode(SAVED)
        for size in range(len(data)):
            with pytest.raises(DamagedError, match=r"c: this checkpoint is "):
                decode("c", data[:size])

    @given(place=st.integers(0, 10**6), bit=st.integers(0, 7), more=st.binary(max_size=5))
    def test_changed_anywhere(self, place, bit, more):
        data = bytearray(encode(SAVED))
        data[place % len(data)] ^= 1 << bit
        with pytest.raises(ValueError, match=r"^c: this "):
            decode("c", bytes(data) + more)

    def test_of_something_else(self):
        with pytest.raises(ValueError, match=r"^c: this is not a checkpoint of multiauc, and is left as it is$"):
            decode("c", b"PAR1....")
        other = encode(SAVED).replace(b"checkpoint 3\n", b"checkpoint 2\n", 1)
        with pytest.raises(
            ValueError, match=r"c: this checkpoint was written by another version of multiauc; delete it"
        ):
            decode("c", other)


class TestGoingOn:
    @pytest.fixture
    def expected(self, rng, in_empty_folder, at_every_batch):
        """A file of 600 rows; returns what is expected of it."""
        del in_empty_folder, at_every_batch  # must be there before
        labels, scores, weights = predictions(rng)
        write(table_of(labels, scores, weights), "a.parquet")
        write(table_of(labels, scores, weights), "a.csv")
        write(table_of(labels, scores, weights), "a.arrow")
        return in_memory(labels, scores)

    @pytest.mark.parametrize("source", ["a.parquet", "a.csv", "a.arrow", "?.parquet"])
    @pytest.mark.parametrize("weight", [None, "w"])
    def test_from_every_place(self, expected, source, weight):
        if source == "?.parquet":
            Path("b.parquet").write_bytes(Path("a.parquet").read_bytes())
        total = 1200 if source == "?.parquet" else 600
        whole = evaluate(source, sample_weight=weight, checkpoint=None)
        if weight is None and total == 600:
            assert numbers(whole) == expected
        for stop in (50, 100, 350, total - 50):
            with pytest.raises(Stopped):
                evaluate(source, sample_weight=weight, stop_at=stop)
            seen = []
            again = evaluate(source, sample_weight=weight, seen=seen)
            assert seen == list(range(stop - 50, total + 1, 50))  # it was stopped before it was written down
            assert numbers(again) == numbers(whole)
            assert again.auc_mu.standard_error == whole.auc_mu.standard_error
            Path("c.bin").unlink()

    def test_several_times(self, expected):
        for stop in (100, 200, 300, 400, 500):
            with pytest.raises(Stopped):
                evaluate(stop_at=stop)
        assert numbers(evaluate()) == expected

    def test_when_it_is_done_the_answer_is_there_at_once(self, expected):
        assert numbers(evaluate()) == expected
        assert not Path("c.bin.previous").exists()
        seen = []
        assert numbers(evaluate(seen=seen)) == expected
        assert seen == [600]

    def test_data_sets(self, expected):
        whole = arrow_dataset.dataset("a.parquet")
        with pytest.raises(Stopped):
            evaluate(whole, stop_at=300)
        seen = []
        assert numbers(evaluate(whole, seen=seen)) == expected
        assert seen[0] == 250
        with pytest.raises(ValueError, match=r"this checkpoint was made with filter not given, not "):
            evaluate(whole.filter(arrow_dataset.field("w") > 1))
        with pytest.raises(ValueError, match=r"checkpoint needs a source that can be identified .*; source is Table"):
            evaluate(whole.to_table())

    @pytest.mark.parametrize("size", [0, 1, 25, 100, -1])
    def test_a_half_written_one_is_refused_and_the_one_before_it_used(self, expected, size):
        with pytest.raises(Stopped):
            evaluate(stop_at=300)
        data = Path("c.bin").read_bytes()
        Path("c.bin").write_bytes(data[:size])
        seen = []
        with pytest.warns(RuntimeWarning, match=r"c\.bin: this checkpoint is .*; going on from .*c\.bin\.previous"):
            assert numbers(evaluate(seen=seen)) == expected
        assert seen[0] == 200

    @pytest.mark.usefixtures("expected")
    def test_a_damaged_one_does_not_take_the_place_of_a_whole_one(self):
        with pytest.raises(Stopped):
            evaluate(stop_at=300)
        whole = Path("c.bin.previous").read_bytes()
        Path("c.bin").write_bytes(b"multiauc checkpoint 3\n...")
        with pytest.warns(RuntimeWarning, match=r"going on from"), pytest.raises(Stopped):
            evaluate(stop_at=300)
        assert Path("c.bin.previous").read_bytes() == whole
        assert decode("c", Path("c.bin").read_bytes()).place["rows"] == 250

    def test_without_the_last_one(self, expected):
        """As if it was killed between the two renamings."""
        with pytest.raises(Stopped):
            evaluate(stop_at=300)
        Path("c.bin").unlink()
        seen = []
        assert numbers(evaluate(seen=seen)) == expected
        assert seen[0] == 200

    def test_both_damaged(self, expected):
        with pytest.raises(Stopped):
            evaluate(stop_at=300)
        for name in ("c.bin", "c.bin.previous"):
            Path(name).write_bytes(Path(name).read_bytes()[:-1])
        with pytest.warns(
            RuntimeWarning, match=r"c\.bin\.previous: this checkpoint is damaged or cut off; beginning anew"
        ):
            assert numbers(evaluate()) == expected


class TestOtherWork:
    @pytest.fixture(autouse=True)
    def files(self, rng, in_empty_folder, at_every_batch):
        """Work on the first of two files that was stopped."""
        del in_empty_folder, at_every_batch  # must be there before
        labels, scores, weights = predictions(rng)
        write(table_of(labels, scores, weights), "a.parquet")
        write(table_of(labels, scores, weights), "b.parquet")
        with pytest.raises(Stopped):
            evaluate(stop_at=300)

    @pytest.mark.parametrize(
        ("options", "problem"),
        [
            ({"source": "b.parquet"}, r"was made from /.*/a\.parquet, not from /.*/b\.parquet"),
            ({"source": "*.parquet"}, r"was made from /.*/a\.parquet, not from /.*/a\.parquet and 1 other file"),
            ({"sample_weight": "w"}, "was made with sample_weight not given, not 'w'"),
            ({"labels": ["ant", "bee", "cat"]}, "was made with labels not given, not 'ant', 'bee', 'cat'"),
            ({"label": "unused"}, "was made with label 'y', not 'unused'"),
            ({"scores": ["p_ant", "p_bee"]}, "was made with scores 'p_ant', 'p_bee', 'p_cat', not 'p_ant', 'p_bee'"),
            ({"metrics": ["auc_mu"]}, "was made with metrics 'auc_mu', 'hand_till', 'one_vs_rest', not 'auc_mu'"),
            ({"memory_limit": 2**29}, f"was made with memory_limit {2**30}, not {2**29}"),
        ],
    )
    def test_is_refused_with_a_sentence(self, options, problem):
        before = Path("c.bin").read_bytes()
        advice = "name another file for the checkpoint, or delete this one to begin anew"
        with pytest.raises(ValueError, match=f"c.bin: this checkpoint {problem}; {advice}$"):
            evaluate(**options)
        assert Path("c.bin").read_bytes() == before

    def test_a_file_that_was_changed(self):
        data = Path("a.parquet").read_bytes()
        status = Path("a.parquet").stat()
        table = parquet.read_table("a.parquet")
        parquet.write_table(table, "a.parquet", row_group_size=71)
        with pytest.raises(ValueError, match=r"this checkpoint was made before /.*/a\.parquet was changed; name"):
            evaluate()
        # The same size and time, other bytes.
        changed = bytearray(data)
        changed[100] ^= 1
        Path("a.parquet").write_bytes(changed)
        os.utime("a.parquet", ns=(status.st_atime_ns, status.st_mtime_ns))
        with pytest.raises(ValueError, match=r"this checkpoint was made before /.*/a\.parquet was changed; name"):
            evaluate()
        Path("a.parquet").write_bytes(data)
        os.utime("a.parquet", ns=(status.st_atime_ns, status.st_mtime_ns))
        assert evaluate().counts.sum() == 600

    def test_a_file_that_is_no_checkpoint_is_left_alone(self):
        before = Path("b.parquet").read_bytes()
        with pytest.raises(ValueError, match=r"b\.parquet: this is not a checkpoint of multiauc, and is left as it is"):
            evaluate(checkpoint="b.parquet")
        assert Path("b.parquet").read_bytes() == before

    def test_a_place_that_cannot_be_written(self):
        for place, problem in (("no/c.bin", "No such file or directory"), (".", "Is a directory")):
            with pytest.raises(ValueError, match=f"cannot be written: {problem}"):
                evaluate(checkpoint=place)

    def test_through_a_link(self):
        Path("kept").mkdir()
        Path("link").symlink_to("kept/c")
        evaluate(checkpoint="link")
        assert Path("link").is_symlink()
        assert decode("c", Path("kept/c").read_bytes()).place["rows"] == 600


def test_it_is_not_written_all_the_time(rng, monkeypatch):
    """Once at the end, unless seconds go by; and writing takes up a twentieth of the time at most."""
    labels, scores, _ = predictions(rng)
    write(table_of(labels, scores), "a.parquet")
    written = []
    once = Checkpoint.save
    monkeypatch.setattr(Checkpoint, "save", lambda self, *saved: (written.append(1), once(self, *saved)))
    evaluate()
    assert len(written) == 1
    kept = Checkpoint(Path("d").absolute(), {}, str)
    now = [100.0]
    monkeypatch.setattr(_checkpoints.time, "monotonic", lambda: now[0])
    assert kept.load() is None
    assert not kept.is_due()
    now[0] += 10
    assert kept.is_due()
    monkeypatch.setattr(_checkpoints.os, "fsync", lambda _: now.__setitem__(0, now[0] + 3))
    kept.save({}, b"")
    now[0] += 59
    assert not kept.is_due()
    now[0] += 1
    assert kept.is_due()


class TestCtrlC:
    @pytest.fixture(autouse=True)
    def _files(self, rng, monkeypatch, in_empty_folder):  # noqa: ARG002 - files are written only once the folder is there
        monkeypatch.setattr(row_stream, "FEWEST_ROWS", 50)
        monkeypatch.setattr(row_stream, "MOST_ROWS", 50)
        labels, scores, _ = predictions(rng)
        write(table_of(labels, scores), "a.parquet")

    def test_between_batches_keeps_the_rows_and_says_how_many(self):
        def progress(rows, _):
            if rows == 150:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt, match=r"150 rows.*c\.bin"):
            evaluate(progress=progress)
        assert decode("c", Path("c.bin").read_bytes()).place["rows"] == 150
        seen = []
        found = evaluate(seen=seen)
        assert seen[0] == 150
        assert numbers(found) == numbers(multiauc.evaluate_dataset("a.parquet", label="y"))

    @pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
    def test_within_a_batch_it_waits_for_the_end_of_it(self, monkeypatch):
        once, seen = Accumulator.add, []

        def add(self, rows):
            seen.append(rows)
            if len(seen) == 3:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.001)
            once(self, rows)

        monkeypatch.setattr(Accumulator, "add", add)
        before = signal.getsignal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt, match="150 rows"):
            evaluate()
        assert signal.getsignal(signal.SIGINT) is before
        assert decode("c", Path("c.bin").read_bytes()).place["rows"] == 150

    def test_before_the_first_rows(self):
        def progress(_rows, _share):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            evaluate(progress=progress)
        assert not Path("c.bin").exists()

    def test_the_first_ten_seconds_leave_a_checkpoint(self, monkeypatch):
        """Batches of six seconds: after two of them it is too late."""
        now, once = [100.0], Accumulator.add
        monkeypatch.setattr(_checkpoints.time, "monotonic", lambda: now[0])
        monkeypatch.setattr(Accumulator, "add", lambda *given: (now.__setitem__(0, now[0] + 6.0), once(*given)))
        with pytest.raises(Stopped):
            evaluate(stop_at=100)
        assert decode("c", Path("c.bin").read_bytes()).place["rows"] == 50

    def test_the_command_says_how_many_rows_are_kept(self, cli, capsys, monkeypatch):
        once = row_stream.RowReader.read

        def stopped(self, piece):
            if piece.first == 100:
                raise KeyboardInterrupt
            return once(self, piece)

        words = ["evaluate", "a.parquet", "-l", "y", "--checkpoint", "c.bin"]
        with monkeypatch.context() as patch:
            patch.setattr(row_stream.RowReader, "read", stopped)
            assert "100 rows, kept in" in cli(*words, code=130)
        assert run_command(words) == 0
        assert "100 rows" in capsys.readouterr().err

    @pytest.mark.parametrize(
        "place",
        [
            {},
            {"labels": ["a"], "position": [0, 50], "rows": 50, "share": 0.1},
            {"labels": None, "position": [0, 50], "rows": 50, "share": 0.1},
            {"labels": ["ant", "bee", "cat"], "position": [0], "rows": -1, "share": 0.1},
            {"labels": ["ant", "bee", "cat"], "position": [0, 50, 7], "rows": 50, "share": 0.1},
            {"labels": ["ant", "bee", "cat"], "position": [0, 50], "rows": 50, "share": "x"},
        ],
    )
    def test_whole_checkpoints_that_say_something_else_are_refused(self, place):
        with pytest.raises(Stopped):
            evaluate(stop_at=600)
        evaluate()
        saved = decode("c", Path("c.bin").read_bytes())
        for other in (saved._replace(place=place), saved._replace(state=b"")):
            Path("c.bin").write_bytes(encode(other))
            with pytest.raises(ValueError, match=r"c\.bin: this checkpoint is damaged"):
                evaluate()


WORK = """
import sys, time
from multiauc._io import checkpoint
from multiauc._io import predictions as row_stream
import multiauc
checkpoint.SECONDS = checkpoint.TIMES_LONGER = 0.0
row_stream.FEWEST_ROWS = row_stream.MOST_ROWS = 100
begun = []
def progress(rows, share):
    if not begun:
        print(rows, flush=True)
        begun.append(rows)
    time.sleep(0.002)
found = multiauc.evaluate_dataset(
    "big.parquet", label="y", sample_weight=sys.argv[1] or None, checkpoint="c.bin", progress=progress
)
print(*(repr(getattr(found, name).value) for name in ("auc_mu", "hand_till", "one_vs_rest")), flush=True)
print(repr(found.auc_mu.standard_error), flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no such signal")
@pytest.mark.parametrize("weight", ["", "w"])
def test_killed_at_random_moments(rng, weight):
    labels, scores, weights = predictions(rng, 20_000)
    parquet.write_table(table_of(labels, scores, weights), "big.parquet", row_group_size=1700)
    moments = random.Random(5)
    begun = []
    for _ in range(100):
        process = subprocess.Popen([sys.executable, "-c", WORK, weight], stdout=subprocess.PIPE, text=True)
        with process:
            begun.append(int(process.stdout.readline()))
            time.sleep(moments.random() * 0.4)
            process.kill()
            rest = process.stdout.read().split()
        if len(rest) == 4:
            break
    else:
        pytest.fail(f"not done after being killed so often: {begun}")
    assert begun == sorted(begun)
    assert len(set(begun)) > 2
    uninterrupted = subprocess.run(
        [sys.executable, "-c", WORK.replace("c.bin", "d.bin"), weight], stdout=subprocess.PIPE, text=True, check=True
    ).stdout.split()
    assert uninterrupted[0] == "0"
    assert rest == uninterrupted[1:]
    values = in_memory(labels, scores, weights if weight else None)
    for found, metric in zip(rest, ("auc_mu", "hand_till", "one_vs_rest"), strict=False):
        assert float(found) == pytest.approx(values[metric], abs=1e-12)
