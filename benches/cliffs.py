"""Look for inputs that cost much more than smooth scores: rounded scores, votes, leaves, unequal classes.

    python benches/cliffs.py [--smoke] [--output FILE]

Each case takes turns with smooth scores of the same size and type in one process, and the best turn of each counts.
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from comparison import machine
from comparison.command_line import write_report
from comparison.data import Sample
from comparison.grid import DTYPES, TIMES, Size
from comparison.rounded import CASES, FULL_SIZE, LONG_TAIL, SMOKE_SIZE, SMOKE_TAIL_SIZE, TAIL_SIZE, Case, smooth
from comparison.timing import Contestant, take_turns
from comparison.tools import all_threads
from comparison.verdicts import verdict

import multiauc

if TYPE_CHECKING:
    from collections.abc import Iterator

NOTE = (
    "AUC_mu and `evaluate` (four metrics with their standard errors) on all threads, as a multiple of the time that "
    "smooth scores of the same size and type take: softmax of normal logits, where no two differences tie. Up to six "
    "decimals, votes and quantised scores lie on one lattice 1/m."
)
BUDGET_SECONDS = 2.0
MAX_TURNS = 7


def _auc_mu(sample: Sample) -> float:
    return multiauc.auc_mu_score(*sample)


def _evaluate(sample: Sample) -> float:
    return multiauc.evaluate(*sample).auc_mu.value


CALLS = {"AUC_mu": _auc_mu, "evaluate": _evaluate}


def ratios(plain: Sample, made: Sample) -> dict[str, float]:
    """How many times longer the calls take on `made`."""
    contestants = {
        (call, name): Contestant(partial(function, sample))
        for call, function in CALLS.items()
        for name, sample in (("smooth", plain), ("made", made))
    }
    timings = take_turns(contestants, max_turns=MAX_TURNS, budget_seconds=BUDGET_SECONDS)
    return {call: timings[call, "made"].best / timings[call, "smooth"].best for call in CALLS}


def rows(size: Size, cases: tuple[Case, ...], dtype: str) -> Iterator[str]:
    """A line of the table for each case."""
    base = smooth(size)
    plain = Sample(base.labels, base.scores.astype(dtype))
    for case in cases:
        labels, scores = case.make(base)
        found = ratios(plain, Sample(labels, scores.astype(dtype)))
        times = " | ".join(f"{ratio:.2f}{TIMES}" for ratio in found.values())
        line = f"| {case.title} | {dtype} | {size} | {times} | {verdict(max(found.values()), at_most=case.bar)} |"
        print(line, flush=True)
        yield line


def report(*, smoke: bool) -> str:
    """Measure everything and write it up."""
    multiauc.set_num_threads(all_threads())
    size, tail_size = (SMOKE_SIZE, SMOKE_TAIL_SIZE) if smoke else (FULL_SIZE, TAIL_SIZE)
    lines = [
        "# Unusual scores: no performance cliffs",
        "",
        f"Written by `benches/cliffs.py`, a part of `make bench`. {machine.describe()[0]}",
        f"Load average before the run: {os.getloadavg()[0]:.1f}; beyond the number of cores the ratios are rough.",
        "",
        NOTE,
        "",
        "| scores | type | size | " + " | ".join(CALLS) + " | target |",
        "|---|---|---|" + "---:|" * len(CALLS) + "---|",
    ]
    for dtype in DTYPES:
        lines += rows(size, CASES, dtype)
        lines += rows(tail_size, (LONG_TAIL,), dtype)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    write_report(__doc__, lambda smoke: report(smoke=smoke))
