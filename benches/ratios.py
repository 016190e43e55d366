"""What weights, groups, partial areas and uncertainty cost, as multiples of an unweighted `auc_mu_score`.

    python benches/ratios.py [--smoke] [--output FILE]

All calls on the same data take turns in one process, and the best turn of each counts: only the ratios travel from
machine to machine.
"""

from __future__ import annotations

import math
import os
import statistics
import time
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from comparison import data, machine
from comparison.command_line import write_report
from comparison.grid import TIMES, Size
from comparison.timing import Contestant, seconds, take_turns
from comparison.tools import all_threads
from comparison.verdicts import verdict

import multiauc
from multiauc.streaming import Accumulator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NOTE = (
    "Each number is a multiple of an unweighted `auc_mu_score` of the same data on all threads: softmax of normal "
    "logits in float64, weights between 0.5 and 1.5, groups of three rows in random order, and for `compare` a second "
    "model that agrees with the first in part. The target is for the largest ratio of the line."
)
SIZES = (Size(100_000, 10), Size(1_000_000, 10), Size(100_000, 100))
SMALL_SIZES = (Size(1_000_000, 2), Size(1_000_000, 3), Size(10_000, 10))
SMOKE_SIZES = (Size(3_000, 5),)
#: Rows per group.
GROUP_ROWS = 3
#: Costs of a general partition are looked at where the rows of a class outgrow the cache.
PARTITION_SIZE, SMOKE_PARTITION_SIZE = Size(1 << 18, 3), Size(3_000, 3)
STREAM_SIZE, SMOKE_STREAM_SIZE = Size(1_000_000, 10), Size(20_000, 10)
#: The longest that the states of ten classes may take.
STREAM_SECONDS = 0.2
#: Small calls that stand alone, as in real programs: after a pause, in which other work takes over the caches.
ALONE_SIZE = Size(100, 3)
PAUSE_SECONDS = 0.02
ALONE_TURNS, SMOKE_ALONE_TURNS = 100, 3
BUDGET_SECONDS = 6.0
MAX_TURNS = 7
UNIT = "auc_mu_score"


class Inputs(NamedTuple):
    """One sample with all that the calls take besides it."""

    labels: Any
    scores: Any
    other_scores: Any
    weights: Any
    groups: Any


def inputs(size: Size) -> Inputs:
    """Smooth scores with weights, groups and a second model."""
    labels, scores = data.smooth(*size)
    rng = np.random.default_rng(1)
    noise = rng.normal(0.0, 0.1, scores.shape)
    groups = rng.permutation(len(labels) // GROUP_ROWS + 1).repeat(GROUP_ROWS)[: len(labels)]
    return Inputs(labels, scores, scores + noise, rng.uniform(0.5, 1.5, len(labels)), rng.permutation(groups))


class Row(NamedTuple):
    """A call, and the most it may cost."""

    title: str
    bar: float
    call: Callable[[Inputs], object]


ROWS = (
    Row("`auc_mu_score(sample_weight=)`", 2.5, lambda x: multiauc.auc_mu_score(*x[:2], sample_weight=x.weights)),
    Row("`hand_till_score(sample_weight=)`", 2.5, lambda x: multiauc.hand_till_score(*x[:2], sample_weight=x.weights)),
    Row(
        "`one_vs_rest_score(sample_weight=)`",
        2.5,
        lambda x: multiauc.one_vs_rest_score(*x[:2], sample_weight=x.weights),
    ),
    Row("`evaluate` (four metrics)", 4.0, lambda x: multiauc.evaluate(*x[:2])),
    Row('`evaluate(metrics=["auc_mu"])`', 2.2, lambda x: multiauc.evaluate(*x[:2], metrics=["auc_mu"])),
    Row("`evaluate(sample_weight=)`", 7.0, lambda x: multiauc.evaluate(*x[:2], sample_weight=x.weights)),
    Row("`evaluate(groups=)`", 6.0, lambda x: multiauc.evaluate(*x[:2], groups=x.groups)),
    Row(
        "`compare` of two models by AUC_mu",
        4.5,
        lambda x: multiauc.compare(x.labels, {"a": x.scores, "b": x.other_scores}, metric="auc_mu"),
    ),
    Row("`partial_auc_score(max_fpr=.1)`", 2.0, lambda x: multiauc.partial_auc_score(*x[:2], max_fpr=0.1)),
    Row("`roc_curves`", 5.0, lambda x: multiauc.roc_curves(*x[:2])),
    Row("`pdi_score`", 4.0, lambda x: multiauc.pdi_score(*x[:2])),
)
#: At few classes or few rows.
SMALL_ROWS = (
    Row("`evaluate` (four metrics)", 5.0, lambda x: multiauc.evaluate(*x[:2])),
    Row("`auc_mu_score(sample_weight=)`", 2.5, lambda x: multiauc.auc_mu_score(*x[:2], sample_weight=x.weights)),
)

#: Small calls, and the microseconds that each may take after a pause.
ALONE_ROWS = (
    Row("`auc_mu_score`", 180.0, lambda x: multiauc.auc_mu_score(*x[:2])),
    Row("`evaluate` (four metrics)", 700.0, lambda x: multiauc.evaluate(*x[:2])),
    Row("`np.sort` of the same scores", math.inf, lambda x: np.sort(x.scores, axis=None)),
)


def _partition(classes: int) -> Any:
    """Costs that no two classes have in common, in rows of the same sum."""
    costs = np.random.default_rng(2).uniform(0.5, 1.5, (classes, classes))
    np.fill_diagonal(costs, 0.0)
    return costs - costs.mean(axis=1, keepdims=True)


def _by_costs(costs: Any, sample: Inputs) -> float:
    return multiauc.auc_mu_score(*sample[:2], partition=costs)


def ratios(rows: tuple[Row, ...], sample: Inputs) -> list[float]:
    """How many times longer each call takes than an unweighted `auc_mu_score`."""
    calls = {UNIT: Contestant(partial(multiauc.auc_mu_score, *sample[:2]))}
    calls |= {row.title: Contestant(partial(_timed, row.call, sample)) for row in rows}
    timings = take_turns(calls, max_turns=MAX_TURNS, budget_seconds=BUDGET_SECONDS)
    return [timings[row.title].best / timings[UNIT].best for row in rows]


def _timed(call: Callable[[Inputs], object], sample: Inputs) -> float:
    call(sample)
    return 0.0


def table(rows: tuple[Row, ...], sizes: tuple[Size, ...]) -> Iterator[str]:
    """The lines of a table: a row for each call, a column for each size."""
    yield "| call | " + " | ".join(map(str, sizes)) + " | target |"
    yield "|---|" + "---:|" * len(sizes) + "---|"
    found = [ratios(rows, inputs(size)) for size in sizes]
    for row, of_sizes in zip(rows, zip(*found, strict=True), strict=True):
        times = " | ".join(f"{ratio:.2f}{TIMES}" for ratio in of_sizes)
        yield f"| {row.title} | {times} | {verdict(max(of_sizes), at_most=row.bar)} |"


def partition_lines(size: Size) -> Iterator[str]:
    """What a general partition costs, for rows in random order and for rows sorted by class."""
    costs = _partition(size.n_classes)
    row = Row("a general `partition=`", 1.5, partial(_by_costs, costs))
    sample = inputs(size)
    order = np.argsort(sample.labels, kind="stable")
    for name, made in (("in random order", sample), ("sorted by class", Inputs(*(part[order] for part in sample)))):
        ratio = ratios((row,), made)[0]
        yield f"- {row.title} at {size}, rows {name}: {ratio:.2f}{TIMES}; {verdict(ratio, at_most=row.bar)}"


def stream_line(size: Size) -> str:
    """How long the states of a stream take to give their answer."""
    labels, scores = data.smooth(*size)
    state = Accumulator(range(size.n_classes))
    state.update(labels, scores)
    state.to_bytes()  # the rows that wait are sorted in
    calls = {"evaluate": Contestant(partial(_timed, lambda _: state.evaluate(), inputs(SMOKE_SIZES[0])))}
    best = take_turns(calls, max_turns=MAX_TURNS, budget_seconds=BUDGET_SECONDS)["evaluate"].best
    met = "met" if best <= STREAM_SECONDS else "**not met**"
    return f"- `Accumulator.evaluate()` after {size}: {best:.2f} s; at most {STREAM_SECONDS} s: {met}"


def alone_lines(turns: int) -> Iterator[str]:
    """How long small calls take one after the other, and after a pause: medians, in turns."""
    sample = inputs(ALONE_SIZE)
    together: dict[str, list[float]] = {row.title: [] for row in ALONE_ROWS}
    alone: dict[str, list[float]] = {row.title: [] for row in ALONE_ROWS}
    for _ in range(turns):
        for row in ALONE_ROWS:
            call = partial(row.call, sample)
            time.sleep(PAUSE_SECONDS)
            alone[row.title].append(seconds(call))
            together[row.title] += [seconds(call) for _ in range(10)][5:]
    yield f"| {ALONE_SIZE} | one after the other | after a pause of {1000 * PAUSE_SECONDS:.0f} ms | target |"
    yield "|---|---:|---:|---|"
    for row in ALONE_ROWS:
        hot, cold = (1e6 * statistics.median(times[row.title]) for times in (together, alone))
        met = f"at most {row.bar:.0f} µs: {'met' if cold <= row.bar else '**not met**'}" if row.bar < math.inf else ""
        yield f"| {row.title} | {hot:.0f} µs | {cold:.0f} µs | {met} |"


def report(*, smoke: bool) -> str:
    """Measure everything and write it up."""
    multiauc.set_num_threads(all_threads())
    lines = [
        "# Ratios: what weights, groups and uncertainty cost",
        "",
        f"Written by `benches/ratios.py`, a part of `make bench`. {machine.describe()[0]}",
        f"Load average before the run: {os.getloadavg()[0]:.1f}; beyond the number of cores the ratios are rough.",
        "",
        NOTE,
        "",
        *table(ROWS, SMOKE_SIZES if smoke else SIZES),
        "",
        "## Few classes, few rows",
        "",
        *table(SMALL_ROWS, SMOKE_SIZES if smoke else SMALL_SIZES),
        "",
        "## Small calls",
        "",
        *alone_lines(SMOKE_ALONE_TURNS if smoke else ALONE_TURNS),
        "",
        "## Others",
        "",
        *partition_lines(SMOKE_PARTITION_SIZE if smoke else PARTITION_SIZE),
        stream_line(SMOKE_STREAM_SIZE if smoke else STREAM_SIZE),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    write_report(__doc__, lambda smoke: report(smoke=smoke))
