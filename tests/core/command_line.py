"""Runs the command line in this process."""

import shlex

import numpy as np

from multiauc.cli._commands import multiauc as command
from multiauc.cli._problems import run

ANIMALS = ("ant", "bee", "cat")


class CommandLine:
    """Calls commands, given as one line or word by word, and returns what they printed."""

    def __init__(self, capsys):
        self._capsys = capsys

    def __call__(self, *arguments, code=0):
        words = shlex.split(arguments[0]) if len(arguments) == 1 else [str(argument) for argument in arguments]
        found = run(command, words)
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


def sample(rng, n=90, classes=ANIMALS):
    """(labels, probabilities) of a model that is right more often than not."""
    codes = np.arange(n) % len(classes)
    scores = rng.dirichlet(np.ones(len(classes)), size=n) + 0.6 * np.eye(len(classes))[codes]
    return np.array(classes)[codes], scores / scores.sum(axis=1, keepdims=True)
