"""Time `multiauc.sklearn.roc_auc_score` against scikit-learn's function, and `import multiauc` against `import numpy`.

    python benches/drop_in.py [--smoke] [--output FILE]

End to end: from the arrays a user has to the value, validation included. Both take turns in one process, and the best
turn counts.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from comparison import data, machine
from comparison.command_line import write_report
from comparison.grid import TIMES
from comparison.timing import Contestant, take_turns
from comparison.verdicts import verdict
from sklearn.metrics import roc_auc_score as theirs

from multiauc.sklearn import roc_auc_score as ours

if TYPE_CHECKING:
    from collections.abc import Callable

#: What a start of the interpreter runs; the first two are subtracted and compared with.
IMPORTS = ("pass", "import numpy", "import multiauc", "import multiauc; multiauc.auc_mu_score")
IMPORT_LIMIT = 1.2
BINARY_TARGET = 8.0
NOTE = (
    "`multiauc.sklearn.roc_auc_score` against `sklearn.metrics.roc_auc_score`, end to end, validation included: the "
    "best of several turns in one process, in milliseconds. Data: softmax of normal logits, float64; int64 labels."
)
LOAD_NOTE = "Beyond the number of cores the times are too long, and the ratios rough."
#: Values of the two functions may differ by rounding.
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Case:
    """One call of `roc_auc_score`; `at_least` is the target for the ratio of the times, if there is one."""

    title: str
    labels: Any
    scores: Any
    options: dict[str, Any]
    at_least: float | None = None


def cases(*, smoke: bool) -> list[Case]:
    """Small and large, binary, multi-class and multi-label."""
    small, large = 1_000, 5_000 if smoke else 1_000_000
    found = []
    for n, k in ((small, 5), (large, 10)):
        labels, scores = data.smooth(n, k)
        found += [Case(f"{n:,} {TIMES} {k}, {kind}", labels, scores, {"multi_class": kind}) for kind in ("ovr", "ovo")]
        found.append(Case(f"{n:,} {TIMES} {k}, multi-label", np.eye(k, dtype=np.int64)[labels], scores, {}))
    labels, scores = data.smooth(small, 5)
    names = np.array(["ant", "bee", "cow", "dog", "eel"])[labels]
    found.append(Case(f"{small:,} {TIMES} 5, ovo, strings as labels", names, scores, {"multi_class": "ovo"}))
    for n in (small, large):
        labels, scores = data.smooth(n, 2)
        score, weights = scores[:, 1].copy(), np.random.default_rng(1).random(n)
        target = BINARY_TARGET if n == large else None
        found.append(Case(f"{n:,}, binary", labels, score, {}, target))
        found.append(Case(f"{n:,}, binary, weighted", labels, score, {"sample_weight": weights}))
        found.append(Case(f"{n:,}, binary, max_fpr=0.1", labels, score, {"max_fpr": 0.1}))
    return found


def time_case(case: Case, *, turns: int) -> tuple[float, float]:
    """Seconds of ours and of scikit-learn's; an error if their values differ."""

    def contestant(function: Callable[..., Any]) -> Contestant:
        return Contestant(lambda: float(function(case.labels, case.scores, **case.options)))

    timings = take_turns({"ours": contestant(ours), "theirs": contestant(theirs)}, max_turns=turns, budget_seconds=15.0)
    difference = abs(timings["ours"].value - timings["theirs"].value)
    if not difference <= TOLERANCE:
        sys.exit(f"{case.title}: the values differ by {difference}")
    return timings["ours"].best, timings["theirs"].best


def time_imports(*, turns: int) -> dict[str, float]:
    """Times of fresh interpreters, less that of one that imports nothing, as multiples of importing NumPy."""

    def start(line: str) -> float:
        subprocess.run([sys.executable, "-c", line], check=True)
        return 0.0

    contestants = {line: Contestant(partial(start, line)) for line in IMPORTS}
    best = {line: timing.best for line, timing in take_turns(contestants, max_turns=turns, budget_seconds=30.0).items()}
    nothing, numpy = best[IMPORTS[0]], best[IMPORTS[1]]
    return {line: (best[line] - nothing) / (numpy - nothing) for line in IMPORTS[1:]}


def report(*, smoke: bool) -> str:
    """Measure everything and write it up."""
    lines = [
        "# `roc_auc_score` drop-in",
        "",
        f"Written by `benches/drop_in.py`, a part of `make bench`. {machine.describe()[0]}",
        machine.describe()[1],
        f"Load average before the run: {os.getloadavg()[0]:.1f}. {LOAD_NOTE}",
        "",
        NOTE,
        "",
        "| call | multiauc | scikit-learn | ratio | target |",
        "|---|---:|---:|---:|---|",
    ]
    for case in cases(smoke=smoke):
        mine, other = time_case(case, turns=2 if smoke else 9)
        ratio = other / mine
        target = verdict(ratio, at_least=case.at_least)
        lines.append(f"| {case.title} | {1e3 * mine:.3g} | {1e3 * other:.3g} | {ratio:.3g}{TIMES} | {target} |")
    lines += [
        "",
        "Import time in a fresh interpreter, as a multiple of `import numpy`:",
        "",
        "| statement | ratio | target |",
        "|---|---:|---|",
    ]
    for line, ratio in time_imports(turns=2 if smoke else 20).items():
        limit = IMPORT_LIMIT if line == "import multiauc" else None
        lines.append(f"| `{line}` | {ratio:.2f}{TIMES} | {verdict(ratio, at_most=limit)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    write_report(__doc__, lambda smoke: report(smoke=smoke))
