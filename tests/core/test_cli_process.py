"""The command line among other programs: help, completion, exit codes, signals, pipes."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pyarrow as pa
import pytest
from pyarrow import parquet

import multiauc
from command_line import columns, command, interrupt, sample, write_demo_files, write_files


@pytest.fixture(autouse=True)
def files(rng, in_empty_folder):
    write_files(rng)


def examples():
    """Every command line that a help text shows."""
    for name, one in [("", command), *command.commands.items()]:
        for line in re.findall(r"\$ (multiauc .*)", one.epilog or ""):
            yield pytest.param(line, id=f"{name or 'multiauc'}: {line}")


class TestHelp:
    @pytest.mark.slow
    @pytest.mark.parametrize("line", list(examples()))
    def test_the_examples_run(self, cli, line):
        write_demo_files(Path(), force=True)
        words = shlex.split(line)[1:]
        assert cli(*words) or Path(words[-1]).exists()

    def test_every_command_has_examples_and_every_option_a_text(self, cli):
        for name, one in command.commands.items():
            text = cli(name, "--help")
            assert "xample" in text, name
            for option in one.params:
                if isinstance(option, click.Option):
                    assert option.help, (name, option.name)
        assert multiauc.__version__ in cli("--version")

    def test_without_a_command_help_is_shown(self):
        assert run_process([]).stdout.startswith("Usage: multiauc")

    @pytest.mark.slow
    def test_the_demo_ends_with_a_report(self, cli, in_empty_folder):
        text = cli("demo", "--directory", "here")
        assert (in_empty_folder / "here" / "demo.html").exists()
        assert "net is better than forest and linear." in text
        assert str(in_empty_folder / "here" / "demo.html") in text


class TestCompletion:
    @pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
    def test_scripts(self, cli, shell):
        assert "_MULTIAUC_COMPLETE" in cli("completion", shell)

    def complete(self, *words):
        from click.shell_completion import ShellComplete

        completer = ShellComplete(command, {}, "multiauc", "_MULTIAUC_COMPLETE")
        return [item.value for item in completer.get_completions(list(words[:-1]), words[-1])]

    def test_commands_options_and_values(self):
        assert self.complete("ev") == ["evaluate"]
        assert "--partition" in self.complete("evaluate", "--p")
        assert self.complete("evaluate", "--absent", "i") == ["ignore"]
        assert self.complete("evaluate", "--metrics", "hand_till,auc") == ["hand_till,auc_mu"]

    def test_columns_of_the_file(self):
        assert self.complete("evaluate", "one.parquet", "--label", "") == [
            "y",
            "p_ant",
            "p_bee",
            "p_cat",
            "w",
            "user",
            "id",
        ]
        assert self.complete("compare", "one.parquet", "x=two.parquet", "--sample-weight", "w") == ["w"]
        assert self.complete("evaluate", "nothing.parquet", "--label", "") == []


def run_process(arguments, **options):
    """The command in a process of its own."""
    line = [sys.executable, "-m", "multiauc", *arguments]
    return subprocess.run(line, capture_output=True, text=True, check=False, **options)


class TestProcess:
    def test_exit_codes_and_one_line(self):
        assert run_process(["evaluate", "one.parquet", "-l", "y"]).returncode == 0
        wrong_data = run_process(["evaluate", "one.parquet", "-l", "z"])
        assert (wrong_data.returncode, wrong_data.stdout) == (1, "")
        assert wrong_data.stderr.startswith("multiauc: error: one.parquet: no column 'z' (--label); it has ")
        wrong_line = run_process(["evaluate", "one.parquet", "--format", "html"])
        assert wrong_line.returncode == 2
        assert wrong_line.stderr.startswith(
            "multiauc: error: Invalid value for '-f' / '--format': 'html' is not one of"
        )
        assert wrong_line.stderr.endswith("(see multiauc evaluate --help)\n")
        for failed in (wrong_data, wrong_line):
            assert failed.stderr.count("\n") == 1

    def test_a_warning_is_one_line_too(self):
        table = parquet.read_table("one.parquet")
        rows = [0, 1, *range(2, 90, 3)]
        parquet.write_table(table.take(rows), "single.parquet")
        done = run_process(["evaluate", "single.parquet", "-l", "y"])
        assert done.returncode == 0
        lines = done.stderr.splitlines()
        assert lines
        assert all(line.startswith("multiauc: warning: ") for line in lines)

    def test_ctrl_c(self, rng):
        labels, scores = sample(rng, 60_000)
        parquet.write_table(pa.table({"y": labels} | columns(scores)), "large.parquet")
        line = [sys.executable, "-m", "multiauc", "roc", "large.parquet", "-l", "y", "--bootstrap", "1000000"]
        process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            interrupt(process)
            out, err = process.communicate(timeout=30)
        finally:
            process.kill()
        assert (process.returncode, out, err) == (130, "", "\nmultiauc: error: interrupted\n")

    @pytest.mark.slow
    def test_output_into_a_closed_pipe(self):
        line = f"{shlex.quote(sys.executable)} -m multiauc roc one.parquet -l y --kind pairwise -f csv | head -1"
        done = subprocess.run(["bash", "-c", f"set -o pipefail; {line}"], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == "class,against,fpr,tpr,threshold\n"

    def test_without_the_extra(self, tmp_path):
        """What is not installed is named, with the way to install it."""
        (tmp_path / "rich.py").write_text("raise ImportError('no rich', name='rich')", encoding="utf-8")
        path = os.pathsep.join([str(tmp_path), *sys.path])
        done = run_process(["demo"], env=os.environ | {"PYTHONPATH": path})
        assert done.returncode == 1
        assert done.stderr == (
            "multiauc: error: the command line needs rich; install it with: pip install click pyarrow rich\n"
        )

    def test_importing_the_package_imports_nothing_of_this(self):
        code = (
            "import sys, multiauc; print([m for m in ('click', 'rich', 'pyarrow', 'matplotlib') if m in sys.modules])"
        )
        assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"

    def test_help_does_not_wait_for_what_only_work_needs(self):
        waited = "{'pandas', 'pyarrow.dataset', 'rich'}"
        code = f"import sys; from multiauc.cli import _commands; print({waited} & set(sys.modules))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout == "set()\n"


def test_every_option_has_a_help_text_and_none_is_needed_to_run():
    """The help comes from docstrings, which ``python -OO`` does not keep."""
    for name in ("evaluate", "compare", "report", "roc", "decide"):
        lines = (
            subprocess.run(
                [sys.executable, "-m", "multiauc", name, "--help"], capture_output=True, text=True, check=True
            )
            .stdout.partition("Options:")[2]
            .splitlines()
        )
        options = [k for k, line in enumerate(lines) if line.startswith("  -")]
        assert len(options) > 5
        for k in options:
            assert len(lines[k].split("  ")) > 2 or lines[k + 1].startswith(" " * 20), lines[k]
    stripped = subprocess.run(
        [sys.executable, "-OO", "-m", "multiauc", "evaluate", "--help"], capture_output=True, text=True, check=True
    ).stdout
    assert "--sample-weight" in stripped
