"""Calls on sparse scores, each measured in a process of its own.

Run as ``python -m comparison.sparse_calls CALL ROWS CLASSES STORED``, it prints seconds, and the peak of the process in
bytes: interpreter, libraries, labels, weights and scores included.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse

import multiauc
from comparison.timing import seconds

if TYPE_CHECKING:
    from collections.abc import Callable

RUNS = 3


class Stored(NamedTuple):
    """The size of a sample: each row has scores for `stored` of the classes."""

    rows: int
    classes: int
    stored: int


def sample(size: Stored) -> tuple[Any, Any]:
    """Labels and the scores of the best classes of each row; large classes are seen, and guessed, more often."""
    rng = np.random.default_rng(0)
    n, k, stored = size
    labels = (k * rng.random(n) ** 2).astype(np.int64)
    columns = np.empty((n, stored), np.int32)
    scores = np.empty((n, stored))
    for first in range(0, n, 1 << 16):  # so that making the data takes less memory than computing with it
        part = slice(first, min(first + (1 << 16), n))
        shape = (part.stop - part.start, stored)
        columns[part] = k * rng.random(shape) ** 2
        scores[part] = -np.sort(-rng.dirichlet(np.full(stored, 0.5), size=shape[0]), axis=1)
    hit = rng.random(n) < 0.7
    columns[hit, 0] = labels[hit]
    starts = np.arange(0, n * stored + 1, stored)
    matrix = scipy.sparse.csr_array((scores.ravel(), columns.ravel(), starts), shape=(n, k))
    return labels, matrix


def _options(labels: Any, size: Stored, *, weighted: bool = False) -> dict[str, Any]:
    weights = np.random.default_rng(1).random(len(labels)) if weighted else None
    return {"labels": range(size.classes), "absent": "ignore", "sample_weight": weights}


def _micro(*data: Any, **options: Any) -> float:
    return multiauc.one_vs_rest_score(*data, average="micro", **options)


CALLS: dict[str, Callable[..., Any]] = {
    "M": multiauc.hand_till_score,
    "M, weighted rows": multiauc.hand_till_score,
    "one-vs-rest": multiauc.one_vs_rest_score,
    "one-vs-rest, micro": _micro,
    "one-vs-rest of each class": multiauc.one_vs_rest_per_class,
}


def measure(call: str, size: Stored) -> tuple[float, int]:
    """(seconds, peak bytes) of a call in a fresh process."""
    command = [sys.executable, "-m", "comparison.sparse_calls", call, *map(str, size)]
    folder = Path(__file__).resolve().parent.parent
    run = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
    time, peak = run.stdout.split()
    return float(time), int(peak)


def main() -> None:
    """Measure what the command line names."""
    call, *numbers = sys.argv[1:]
    size = Stored(*map(int, numbers))
    labels, scores = sample(size)
    options = _options(labels, size, weighted="weighted" in call)
    best = min(seconds(lambda: CALLS[call](labels, scores, **options)) for _ in range(RUNS))
    unit = 1 if sys.platform == "darwin" else 1024
    print(best, unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


if __name__ == "__main__":
    main()
