"""Sparse scores: time and memory of the best few scores of very many classes, and against dense scores.

python benches/sparse.py [--smoke] [--output FILE]
"""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import TYPE_CHECKING

from comparison import machine
from comparison.command_line import write_report
from comparison.grid import TIMES
from comparison.sparse_calls import CALLS, Stored, measure, sample
from comparison.timing import Contestant, take_turns

import multiauc

if TYPE_CHECKING:
    from collections.abc import Iterator

# The last is the one with a target.
SIZES = (Stored(1_000_000, 100_000, 5), Stored(1_000_000, 1_000, 10), Stored(1_000_000, 100_000, 10))
SMOKE_SIZES = (Stored(2_000, 500, 5), Stored(2_000, 1_000, 10))
DENSE_SIZE, SMOKE_DENSE_SIZE = Stored(100_000, 1_000, 10), Stored(1_000, 50, 3)
MOST_BYTES = 4 * 10**9
NOTE = (
    "Seconds of a call, the best of three, and the peak memory of its process: the interpreter, NumPy, SciPy, labels, "
    "float64 scores and the making of them included. The scores alone, and their columns, take 12 bytes for each that "
    "is stored."
)
DENSE_NOTE = (
    "The same scores in a dense array, most of them zeros, in one process by turns; the values have the same bits. "
    "Seconds:"
)


def named(size: Stored) -> str:
    """The first cells of a line."""
    return f"{size.rows:,} {TIMES} {size.classes:,} | {size.stored}"


def size_lines(size: Stored, *, has_target: bool) -> Iterator[str]:
    """A line of the table for each call."""
    for call in CALLS:
        time, peak = measure(call, size)
        found = "met" if peak <= MOST_BYTES else "**not met**"
        target = f"at most {MOST_BYTES / 1e9:g} GB: {found}" if has_target else ""
        line = f"| {named(size)} | {call} | {time:.2f} | {peak / 1e9:.2f} | {target} |"
        print(line, flush=True)
        yield line


def dense_lines(size: Stored) -> Iterator[str]:
    """Sparse against dense, for the calls that give one number."""
    labels, scores = sample(size)
    dense = scores.toarray()
    for title, function in (("M", multiauc.hand_till_score), ("one-vs-rest", multiauc.one_vs_rest_score)):
        call = partial(function, labels=range(size.classes), absent="ignore")
        contestants = {
            "sparse": Contestant(partial(call, labels, scores)),
            "dense": Contestant(partial(call, labels, dense)),
        }
        found = take_turns(contestants, max_turns=5, budget_seconds=20.0)
        if found["sparse"].value != found["dense"].value:
            sys.exit(f"{title}: the values differ")
        times = [found[name].best for name in ("sparse", "dense")]
        yield f"| {named(size)} | {title} | {times[0]:.3g} | {times[1]:.3g} | {times[1] / times[0]:.1f}{TIMES} |"


def report(*, smoke: bool) -> str:
    """Measure everything and write it up."""
    *others, last = SMOKE_SIZES if smoke else SIZES
    lines = [
        "# Sparse scores",
        "",
        f"Written by `benches/sparse.py`, a part of `make bench`. {machine.describe()[0]}",
        f"Load average before the run: {os.getloadavg()[0]:.1f}; beyond the number of cores the times are rough.",
        "",
        NOTE,
        "",
        f"| rows {TIMES} classes | stored per row | call | seconds | peak GB | target |",
        "|---|---:|---|---:|---:|---|",
    ]
    for size in others:
        lines += size_lines(size, has_target=False)
    lines += size_lines(last, has_target=not smoke)
    lines += [
        "",
        DENSE_NOTE,
        "",
        f"| rows {TIMES} classes | stored per row | call | sparse | dense | ratio |",
        "|---|---:|---|---:|---:|---:|",
        *dense_lines(SMOKE_DENSE_SIZE if smoke else DENSE_SIZE),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    write_report(__doc__, lambda smoke: report(smoke=smoke))
