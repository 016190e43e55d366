"""Time two classes, with and without weights and for a partial AUC, against every other tool found.

    python benches/two_classes.py [--smoke] [--output FILE]

End to end from NumPy arrays, validation included. All tools take turns in one process, and the best turn counts.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import os
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from comparison import data, machine
from comparison.command_line import write_report
from comparison.grid import TIMES
from comparison.report import DASH, milliseconds, multiple, table
from comparison.timing import Contestant, take_turns
from comparison.tools import all_threads

import multiauc
from multiauc.sklearn import roc_auc_score

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS, SMOKE_ROWS = 1_000_000, 5_000
CLASSES = 10
MAX_TURNS, BUDGET_SECONDS = 15, 6.0
#: Values may differ by rounding, and those of tools that compute in single precision by more.
TOLERANCE = 1e-6
NOTE = (
    "Milliseconds per call, the best of several turns; in brackets how many times longer than multiauc. `on CPU` is "
    "the processor time that multiauc spends on all its threads. Data: softmax of normal logits, float64; int64 "
    "labels; weights between 0.5 and 1.5."
)


class Call(NamedTuple):
    """What is asked of every tool."""

    title: str
    labels: Any
    scores: Any
    weights: Any = None
    max_fpr: float | None = None


def _multiauc(call: Call) -> float:
    if call.scores.ndim > 1:
        return float(multiauc.one_vs_rest_score(call.labels, call.scores, sample_weight=call.weights))
    return float(roc_auc_score(call.labels, call.scores, sample_weight=call.weights, max_fpr=call.max_fpr))


def _scors(call: Call) -> float:
    # Labels of another type would take it several times as long.
    labels = call.labels.astype(np.uint8)
    return float(_module("scors").roc_auc(labels, call.scores, weights=call.weights, max_fpr=call.max_fpr))


def _sklearn_like(module: str, call: Call) -> float:
    options = {} if call.scores.ndim == 1 else {"multi_class": "ovr"}
    score = _module(module).roc_auc_score
    return float(score(call.labels, call.scores, sample_weight=call.weights, max_fpr=call.max_fpr, **options))


def _polars_ds(call: Call) -> float:
    polars, polars_ds = _module("polars"), _module("polars_ds")
    frame = polars.DataFrame({"y": call.labels, "p": call.scores})
    return float(frame.select(polars_ds.query_roc_auc("y", "p")).item())


def _module(name: str) -> Any:
    return importlib.import_module(name)


class Peer(NamedTuple):
    """Another tool, and what it can do."""

    name: str
    package: str
    module: str
    run: Callable[[Call], float]
    has_weights: bool = True
    has_partial: bool = True
    has_classes: bool = False

    def can(self, call: Call) -> bool:
        """Whether it takes the call."""
        fits = self.has_weights or call.weights is None
        return fits and (self.has_partial or call.max_fpr is None) and (self.has_classes or call.scores.ndim == 1)

    def is_installed(self) -> bool:
        """Whether it can be imported."""
        try:
            _module(self.module)
        except ImportError:
            return False
        return True


PEERS = (
    Peer("scors", "scors", "scors", _scors),
    Peer(
        "scikit-learn-intelex",
        "scikit-learn-intelex",
        "sklearnex.metrics",
        partial(_sklearn_like, "sklearnex.metrics"),
        has_classes=True,
    ),
    Peer("polars_ds", "polars_ds", "polars_ds", _polars_ds, has_weights=False, has_partial=False),
    Peer(
        "scikit-learn", "scikit-learn", "sklearn.metrics", partial(_sklearn_like, "sklearn.metrics"), has_classes=True
    ),
)


def calls(rows: int) -> list[Call]:
    """Two classes in every variant, and weights with ten classes."""
    labels, scores = data.smooth(rows, 2)
    score, weights = scores[:, 1].copy(), np.random.default_rng(1).uniform(0.5, 1.5, rows)
    many_labels, many_scores = data.smooth(rows, CLASSES)
    return [
        Call("two classes", labels, score),
        Call("two classes, weighted", labels, score, weights),
        Call("two classes, `max_fpr=0.1`", labels, score, None, 0.1),
        Call("two classes, weighted, `max_fpr=0.1`", labels, score, weights, 0.1),
        Call(f"{CLASSES} classes, one-vs-rest", many_labels, many_scores),
        Call(f"{CLASSES} classes, one-vs-rest, weighted", many_labels, many_scores, weights),
    ]


def row(call: Call, peers: list[Peer]) -> list[str]:
    """Time one call with every tool that takes it; an error if values differ."""
    contestants = {"multiauc": Contestant(partial(_multiauc, call))}
    contestants |= {peer.name: Contestant(partial(peer.run, call)) for peer in peers if peer.can(call)}
    timings = take_turns(contestants, max_turns=MAX_TURNS, budget_seconds=BUDGET_SECONDS)
    ours = timings.pop("multiauc")
    for name, timing in timings.items():
        if not abs(timing.value - ours.value) <= TOLERANCE:
            message = f"{call.title}: {name} finds {timing.value}, not {ours.value}"
            raise ValueError(message)
    cells = [call.title, milliseconds(ours.best), milliseconds(ours.cpu)]
    for peer in peers:
        best = timings[peer.name].best if peer.name in timings else None
        cells.append(DASH if best is None else f"{milliseconds(best)} ({multiple(best / ours.best)})")
    return cells


def report(*, smoke: bool) -> str:
    """Measure everything and write it up."""
    multiauc.set_num_threads(all_threads())
    peers = [peer for peer in PEERS if peer.is_installed()]
    rows = SMOKE_ROWS if smoke else ROWS
    versions = ", ".join(f"{peer.name} {importlib.metadata.version(peer.package)}" for peer in peers)
    header = [f"{rows:,} rows", "multiauc", "on CPU", *(peer.name for peer in peers)]
    lines = [
        "# Two classes, and weights",
        "",
        f"Written by `benches/two_classes.py`, a part of `make bench`. {machine.describe()[0]}",
        f"Compared with {versions}. Load average before the run: {os.getloadavg()[0]:.1f}.",
        "",
        NOTE,
        "",
        *table(header, [row(call, peers) for call in calls(rows)]),
        (
            f"{DASH} means that a tool does not offer it. scors gets labels as bytes, which it is fastest with; the "
            f"conversion is part of its time. {TIMES} is against multiauc in the same row."
        ),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    write_report(__doc__, lambda smoke: report(smoke=smoke))
