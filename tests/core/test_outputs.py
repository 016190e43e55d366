"""Outputs: whole or not at all, never over an input, over another file only with --force."""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import multiauc
from command_line import columns, interrupt, sample, write_files
from multiauc._io import output
from multiauc._io.output import Output

OLD = "what was there before"
COMMANDS = {
    "evaluate": "evaluate one.parquet -l y -o",
    "compare": "compare one.parquet two.parquet -l y -o",
    "roc": "roc one.parquet -l y -o",
    "plot": "roc one.parquet -l y --plot",
    "report": "report one.parquet -l y --bootstrap 0 -o",
}


@pytest.fixture(autouse=True)
def files(rng, in_empty_folder):
    write_files(rng)
    yield
    assert not list(Path().rglob("*.part")), "a temporary file was left behind"


def words(command, *more):
    return [*COMMANDS[command].split(), *more]


@pytest.mark.parametrize("command", COMMANDS)
class TestInputs:
    def other_names(self):
        """The input by other names."""
        Path("symbolic.png").symlink_to("one.parquet")
        os.link("one.parquet", "hard.png")
        Path("sub").mkdir()
        Path("sub/absolute.png").symlink_to(Path("one.parquet").resolve())
        return ["one.parquet", "./one.parquet", "sub/../one.parquet", str(Path("one.parquet").resolve()),
                "symbolic.png", "hard.png", "sub/absolute.png"]  # fmt: skip

    def test_an_input_is_never_overwritten(self, cli, command):
        before = Path("one.parquet").read_bytes()
        for name in self.other_names():
            for force in ([], ["--force"]):
                problem = cli.fails(*words(command, name, *force))
                assert problem.startswith(f"{name}: this is an input")
                assert problem.endswith(", which an output never overwrites")
                assert Path("one.parquet").read_bytes() == before
        assert Path("symbolic.png").is_symlink()

    def test_another_name_is_told(self, cli, command):
        os.link("one.parquet", "hard.png")
        problem = cli.fails(*words(command, "hard.png"))
        assert problem == "hard.png: this is an input (one.parquet), which an output never overwrites"


class TestEveryInput:
    """Not only the first file of predictions."""

    @pytest.mark.parametrize("command", ["evaluate one.parquet", "report one.parquet --bootstrap 0"])
    def test_the_partition(self, cli, command):
        before = Path("costs.csv").read_bytes()
        line = f"{command} -l y --partition costs.csv --force -o costs.csv"
        assert "costs.csv: this is an input" in cli.fails(line)
        assert Path("costs.csv").read_bytes() == before

    def test_the_last_model(self, cli):
        assert "two.parquet: this is an input" in cli.fails("compare one.parquet x=two.parquet -l y -o two.parquet")

    def test_parts_of_a_pattern_and_a_folder(self, cli):
        Path("parts").mkdir()
        shutil.copy("one.parquet", "parts/b.parquet")
        shutil.copy("two.parquet", "parts/a.parquet")
        for data in ("parts", "parts/*.parquet", "parts/?.parquet"):
            problem = cli.fails("evaluate", data, "-l", "y", "--force", "-o", "parts/b.parquet")
            assert problem.startswith("parts/b.parquet: this is an input")

    def test_standard_input_that_is_a_file(self):
        before = Path("one.parquet").read_bytes()
        line = [sys.executable, "-m", "multiauc", "report", "-", "-l", "y", "--force", "-o", "one.parquet"]
        with Path("one.parquet").open("rb") as file:
            done = subprocess.run(line, stdin=file, capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert "one.parquet: this is an input (-), which an output never overwrites" in done.stderr
        assert Path("one.parquet").read_bytes() == before

    def test_standard_output_that_is_an_input(self):
        before = Path("both.parquet").read_bytes()
        line = [sys.executable, "-m", "multiauc", "evaluate", "both.parquet", "-l", "y", "-s", "a_*"]
        with Path("both.parquet").open("ab") as file:
            done = subprocess.run(line, stdout=file, stderr=subprocess.PIPE, text=True, check=False)
        assert done.returncode == 1
        assert "standard output: this is an input (both.parquet)" in done.stderr
        assert Path("both.parquet").read_bytes() == before


@pytest.mark.parametrize("command", COMMANDS)
class TestOtherFiles:
    def test_only_with_force(self, cli, command):
        Path("old.png").write_text(OLD, encoding="utf-8")
        problem = cli.fails(*words(command, "old.png"))
        assert problem == "old.png: there is a file of this name already; --force replaces it"
        assert Path("old.png").read_text("utf-8") == OLD
        cli(*words(command, "old.png", "--force"))
        assert Path("old.png").read_bytes()[:20] != OLD.encode()[:20]

    def test_it_is_refused_before_anything_is_read(self, cli, command):
        Path("old.png").write_text(OLD, encoding="utf-8")
        Path("one.parquet").write_bytes(b"damaged")
        assert "--force replaces it" in cli.fails(*words(command, "old.png"))
        assert cli.fails(*words(command, "no/such.png")) == "no/such.png: cannot be written: No such file or directory"
        for folder in (".", "sub/", "new/"):
            assert cli.fails(*words(command, folder)) == f"{folder}: this is a folder; the output must be a file"

    def test_a_link_is_followed(self, cli, command):
        Path("elsewhere").mkdir()
        Path("elsewhere/old.png").write_text(OLD, encoding="utf-8")
        Path("link.png").symlink_to("elsewhere/old.png")
        assert "--force replaces it" in cli.fails(*words(command, "link.png"))
        cli(*words(command, "link.png", "--force"))
        assert Path("link.png").is_symlink()
        assert Path("elsewhere/old.png").read_bytes() != OLD.encode()

    @pytest.mark.parametrize("trouble", [KeyboardInterrupt, OSError(28, "No space left on device"), RuntimeError])
    @pytest.mark.parametrize("where", ["fsync", "replace"])
    def test_what_fails_leaves_the_old_file(self, cli, command, trouble, where, monkeypatch):
        Path("old.png").write_text(OLD, encoding="utf-8")

        def fail(*_, **__):
            raise trouble

        monkeypatch.setattr(*((output.os, "fsync") if where == "fsync" else (output.Path, "replace")), fail)
        if trouble is RuntimeError:
            with pytest.raises(RuntimeError):
                cli(*words(command, "old.png", "--force"))
        else:
            code = 130 if trouble is KeyboardInterrupt else 1
            said = cli(*words(command, "old.png", "--force"), code=code)
            if code == 1:
                assert "old.png: cannot be written: No space left on device" in said
        assert Path("old.png").read_text("utf-8") == OLD
        assert not list(Path().glob(".multiauc*"))


@pytest.mark.parametrize("command", COMMANDS)
def test_an_empty_name(cli, command):
    assert cli.fails(*words(command, "")) == "the name of the output is empty"
    assert cli.fails("evaluate", "") == "the name of a file is empty"


class TestDemo:
    def test_it_replaces_nothing(self, cli):
        Path("here").mkdir()
        Path("here/costs.csv").write_text(OLD, encoding="utf-8")
        problem = cli.fails("demo --directory here")
        assert problem == "here/costs.csv: there is a file of this name already; --force replaces it"
        assert [path.name for path in Path("here").iterdir()] == ["costs.csv"]
        cli("demo --directory here --force")
        assert Path("here/costs.csv").read_text("utf-8").startswith("predicted,cat")
        assert "--force replaces it" in cli.fails("demo --directory here")


class TestWriting:
    def test_the_mode_of_a_file(self):
        old = os.umask(0o027)
        try:
            Output("new.txt").write("new")
            Path("old.txt").write_text(OLD, encoding="utf-8")
            Path("old.txt").chmod(0o604)
            Output("old.txt", force=True).write("new")
        finally:
            os.umask(old)
        assert stat.S_IMODE(Path("new.txt").stat().st_mode) == 0o640
        assert stat.S_IMODE(Path("old.txt").stat().st_mode) == 0o604

    def test_a_name_of_the_greatest_length(self):
        name = "n" * 251 + ".txt"
        Output(name).write("text")
        assert Path(name).read_text("utf-8") == "text"

    def test_halves_of_surrogate_pairs_are_escapes(self):
        Output("a.txt").write("a\udcffé")
        assert Path("a.txt").read_text("utf-8") == r"a\udcffé"

    def test_pipes_and_devices_are_written_to(self):
        os.mkfifo("pipe.json")
        reader = subprocess.Popen(["cat", "pipe.json"], stdout=subprocess.PIPE, text=True)
        line = [sys.executable, "-m", "multiauc", "evaluate", "one.parquet", "-l", "y", "-o", "pipe.json"]
        assert subprocess.run(line, check=False).returncode == 0
        assert reader.communicate(timeout=30)[0].startswith('{\n  "version": 1')
        assert stat.S_ISFIFO(Path("pipe.json").stat().st_mode)

    def test_a_file_that_may_not_be_written(self, monkeypatch):
        Path("old.txt").write_text(OLD, encoding="utf-8")
        for kept in ("old.txt", "."):  # root may write anywhere, so that modes would not do
            place = Path(kept).resolve()
            monkeypatch.setattr(output.os, "access", lambda path, _, place=place: Path(path) != place)
            with pytest.raises(PermissionError, match=r"old\.txt"):
                Output("old.txt", force=True).refuse()


def test_a_model_whose_name_is_not_text(cli):
    """A file name may be any bytes; the page shows those that are no text as escapes."""
    name = os.fsdecode(b"n\xff.parquet")
    shutil.copy("one.parquet", name)
    Path("page.html").write_text(OLD, encoding="utf-8")
    cli("report", name, "-l", "y", "--bootstrap", "0", "-o", "page.html", "--force")
    assert r"n\udcff orders " in Path("page.html").read_text("utf-8")
    for style in ("json", "csv", "table", "markdown"):
        cli("evaluate", name, "-l", "y", "-f", style, "-o", f"result.{style}")
        assert Path(f"result.{style}").read_text("utf-8")


@pytest.mark.parametrize("method", ["evaluate", "compare"])
def test_reports_of_the_library_are_whole_too(rng, method, monkeypatch):
    labels, scores = sample(rng)
    result = (
        multiauc.evaluate(labels, scores) if method == "evaluate" else multiauc.compare(labels, {1: scores, 2: scores})
    )
    Path("page.html").write_text(OLD, encoding="utf-8")
    with monkeypatch.context() as patch:
        patch.setattr(output.os, "fsync", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            result.report("page.html", n_resamples=0)
    assert Path("page.html").read_text("utf-8") == OLD
    assert result.report("page.html", n_resamples=0) == Path("page.html")
    assert "<html" in Path("page.html").read_text("utf-8")
    with pytest.raises(FileNotFoundError, match=r"no/page\.html"):
        result.report("no/page.html", n_resamples=0)


@pytest.mark.slow
def test_ctrl_c_of_a_real_process(rng):
    labels, scores = sample(rng, 60_000)
    parquet.write_table(pa.table({"y": labels} | columns(scores)), "large.parquet")
    Path("page.html").write_text(OLD, encoding="utf-8")
    line = [sys.executable, "-m", "multiauc", "report", "large.parquet", "-l", "y", "--bootstrap", "100000",
            "--force", "-o", "page.html"]  # fmt: skip
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        interrupt(process)
        process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert Path("page.html").read_text("utf-8") == OLD
    assert not list(Path().glob(".multiauc*"))


class TestStandardOutput:
    def run(self, *arguments, **options):
        line = [sys.executable, "-m", "multiauc", *arguments]
        return subprocess.run(line, capture_output=True, check=False, **options)

    def test_a_dash_is_standard_output(self, cli):
        assert cli("report one.parquet -l y --bootstrap 0 -o -").startswith("<!DOCTYPE html>")
        assert cli("evaluate one.parquet -l y -o -") == cli("evaluate one.parquet -l y")
        assert not Path("-").exists()

    def test_two_outputs_are_two_files(self, cli):
        problem = cli.fails("roc one.parquet -l y -o a.png --plot ./a.png --force")
        assert problem == "./a.png: this is the file of --output, too"
        assert not Path("a.png").exists()

    def test_the_format_follows_the_name(self, cli):
        for name, begins in {"a.json": "{", "a.csv": "kind,name", "a.md": "**one: 90 rows", "a.txt": "one: 90"}.items():
            assert cli("evaluate", "one.parquet", "-l", "y", "-o", name) == ""
            assert Path(name).read_text("utf-8").startswith(begins)
        cli("evaluate", "one.parquet", "-l", "y", "-o", "b.json", "-f", "csv")
        assert Path("b.json").read_text("utf-8").startswith("kind,name")

    def test_letters_that_the_terminal_lacks(self):
        shutil.copy("one.parquet", "λé.parquet")
        done = self.run("evaluate", "λé.parquet", "-l", "y", env=os.environ | {"PYTHONIOENCODING": "latin-1"})
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout.startswith(b"\\u03bb\xe9: 90 rows")
        assert done.stdout.count(b"\\u") == 1

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
    def test_no_space(self):
        with Path("/dev/full").open("wb") as full:
            line = [sys.executable, "-m", "multiauc", "evaluate", "one.parquet", "-l", "y"]
            done = subprocess.run(line, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert done.returncode == 1
        assert done.stderr == "multiauc: error: standard output: cannot be written: No space left on device\n"

    def test_closed(self):
        line = f"{sys.executable} -m multiauc evaluate one.parquet -l y >&-"
        done = subprocess.run(["bash", "-c", line], stderr=subprocess.PIPE, text=True, check=False)
        assert (done.returncode, done.stderr) == (1, "multiauc: error: standard output is closed\n")
