"""Runs the command line in this process, on files of predictions."""

import os
import shlex
import signal
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from multiauc.cli import main
from multiauc.cli._commands import multiauc as command
from multiauc.cli._demo import write_files as write_demo_files

__all__ = ["command", "main", "write_demo_files"]

ANIMALS = ("ant", "bee", "cat")
COSTS = np.array([[0, 1, 5], [1, 0, 5], [2, 2, 0.5]])


def run_command(words):
    """Run a command in this process and return its exit code."""
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    return stop.value.code


class CommandLine:
    """Calls commands, given as one line or word by word, and returns what they printed."""

    def __init__(self, capsys):
        self._capsys = capsys

    def __call__(self, *arguments, code=0):
        found = run_command(shlex.split(arguments[0]) if len(arguments) == 1 else arguments)
        printed = self._capsys.readouterr()
        assert found == code, printed.err
        return printed.out if code == 0 else printed.err

    def fails(self, *arguments, code=1):
        """The one line that says what is wrong."""
        line = self(*arguments, code=code)
        assert line.startswith("multiauc: error: ")
        assert line.endswith("\n")
        assert line.count("\n") == 1
        return line.removeprefix("multiauc: error: ").rstrip("\n")


def interrupt(process):
    """Ctrl-C for a process that is at work."""
    while cpu_seconds(process.pid) < 3:  # it takes one to get to work, however busy the machine is
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)


def cpu_seconds(pid):
    """How long a process has worked, on Linux."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def sample(rng, n=90, classes=ANIMALS):
    """(labels, probabilities) of a model that is right more often than not."""
    codes = np.arange(n) % len(classes)
    scores = rng.dirichlet(np.ones(len(classes)), size=n) + 0.6 * np.eye(len(classes))[codes]
    return np.array(classes)[codes], scores / scores.sum(axis=1, keepdims=True)


def columns(scores, prefix="p_"):
    """Scores as columns of a file."""
    return {f"{prefix}{name}": column for name, column in zip(ANIMALS, scores.T, strict=True)}


def write_files(rng):
    """Write two models in two files, both in one, and costs; return what the files of models hold."""
    labels, first = sample(rng)
    second = sample(rng)[1]
    extra = {"w": rng.integers(1, 4, size=90).astype(float), "user": np.arange(90) // 3, "id": np.arange(90)}
    parquet.write_table(pa.table({"y": labels} | columns(first) | extra), "one.parquet")
    parquet.write_table(pa.table({"y": labels} | columns(second) | extra), "two.parquet")
    parquet.write_table(pa.table({"y": labels} | columns(first, "a_") | columns(second, "b_")), "both.parquet")
    lines = [",".join(["", *ANIMALS[::-1]])]
    lines += [",".join([name, *map(str, COSTS[k, ::-1])]) for k, name in enumerate(ANIMALS)]
    Path("costs.csv").write_text("\n".join(lines), encoding="utf-8")
    return labels, first, second, extra
