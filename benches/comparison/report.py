"""The report: Markdown tables of everything that was measured."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from comparison import machine
from comparison.grid import SMALL_SIZE, TIMES, Cell, Grid, Size, SmallCase
from comparison.targets import judge
from comparison.tools import METRICS, OURS, PEERS, Tool, all_threads, our_tool
from comparison.values import TOLERANCE, Example, agreements

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from comparison.uncertainty import EvaluationCase

DASH = "–"  # noqa: RUF001 - an en dash marks what was not measured

DATA_NOTE = (
    "Data: softmax of normal logits, those of a row's own class shifted up by one; int64 labels; validation included. "
    "All tools take turns on the same arrays in one process, and the best turn counts. Only ratios travel to other "
    "machines."
)
TIMES_NOTE = (
    "Milliseconds; in brackets how many times longer than multiauc with the same number of threads. A tool that has "
    "one thread is set against multiauc on all. Where a peer is slower on all threads than on one, the targets below "
    "count its better time. `on CPU` is the processor time that multiauc spends on all its threads together."
)
EVALUATION_NOTE = (
    "Milliseconds of `evaluate` (AUC_mu, M, two one-vs-rest averages, every class and every pair, with variances and "
    "covariances) and of the four bare scores one after the other;"
)
VALUES_NOTES = (
    "Why some are larger:",
    "",
    "- torchmetrics computes its rates in float32, whatever the dtype of the scores: about seven digits.",
    "- float32 scores that are continuous on paper tie, or nearly tie, by rounding. CatBoost forms differences from",
    "  row sums, which separates or joins such rows.",
    "- With two classes scikit-learn reads the second column alone, while M and one-vs-rest average both columns,",
    "  whose roundings are independent.",
)


@dataclass(frozen=True)
class Measurements:
    """Everything one run found out."""

    command: str
    sizes: Sequence[Size]
    dtypes: Sequence[str]
    grid: Grid
    small: Sequence[SmallCase]
    #: (shape, dtype, metric) → seconds relative to smooth scores.
    shapes: dict[tuple[str, str, str], float]
    shape_size: Size
    evaluations: Sequence[EvaluationCase]
    evaluation_size: Size
    #: Extra memory as a multiple of the scores' bytes.
    memory: dict[tuple[Tool, Size, str], float]
    examples: Sequence[Example]
    elapsed_seconds: float

    def time_per_cell(self, tool: Tool, size: Size, dtype: str, threads: int) -> float | None:
        """Seconds per score."""
        seconds = self.grid.time(tool, size, dtype, threads)
        return None if seconds is None else seconds / size.cells


def significant(value: float, digits: int = 3) -> str:
    """Return `value` with so many significant digits, never in exponent notation."""
    decimals = digits - 1 - math.floor(math.log10(value)) if value > 0 else 0
    return f"{value:,.{max(0, decimals)}f}"


def milliseconds(seconds: float | None) -> str:
    """Return a time in milliseconds, or a dash."""
    return DASH if seconds is None else significant(1e3 * seconds)


def multiple(ratio: float | None, digits: int = 2) -> str:
    """Return a ratio, or a dash."""
    return DASH if ratio is None else significant(ratio, digits) + TIMES


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a Markdown table: columns of numbers to the right, the others and the first to the left."""
    rows = list(rows)
    words = [any(character.isalpha() for cell in column for character in cell) for column in zip(*rows, strict=True)]
    rule = ["---" if left else "---:" for left in [True, *words[1:]]]
    return [f"| {' | '.join(cells)} |" for cells in (header, rule, *rows)] + [""]


def _threads(count: int) -> str:
    return "1 thread" if count == 1 else f"{count} threads"


def _targets(found: Measurements) -> list[str]:
    verdicts = judge(found)
    here = [verdict for verdict in verdicts if verdict.planned]
    lines = ["## Targets", "", f"{sum(verdict.met for verdict in here)} of {len(here)} met."]
    if len(here) < len(verdicts):
        lines.append(f"{len(verdicts) - len(here)} more are at sizes that this run leaves out (`make bench` has them).")
    rows = [[v.target, v.where, v.required, multiple(v.found, 3), v.word] for v in here]
    return [*lines, "", *table(["target", "where", "asked", "found", "verdict"], rows)]


def _times(found: Measurements) -> list[str]:
    everyone = all_threads()
    lines = ["## Times", "", TIMES_NOTE, ""]
    for metric in METRICS:
        ours = our_tool(metric)
        peers = [peer for peer in PEERS if peer.metric == metric]
        columns = [(peer, n) for peer in peers for n in sorted({1, everyone} if peer.threaded else {everyone})]
        header = [f"n {TIMES} K", "on CPU", *(f"multiauc, {_threads(n)}" for n in sorted({1, everyone}))]
        header += [f"{peer.name}, {_threads(n)}" if peer.threaded else peer.name for peer, n in columns]
        for dtype in found.dtypes:
            rows = []
            for size in found.sizes:
                row = [str(size), milliseconds(found.grid.cpu_seconds.get(Cell(ours, size, dtype, everyone)))]
                row += [milliseconds(_own(found, ours, size, dtype, n)) for n in sorted({1, everyone})]
                for peer, threads in columns:
                    seconds = _own(found, peer, size, dtype, threads if peer.threaded else 1)
                    base = _own(found, ours, size, dtype, threads)
                    ratio = f" ({multiple(seconds / base)})" if seconds is not None and base is not None else ""
                    row.append(milliseconds(seconds) + ratio)
                rows.append(row)
            lines += [f"### {metric}, {dtype}", "", *table(header, rows)]
    reasons = {(cell.tool.name, str(cell.size), reason) for cell, reason in found.grid.left_out.items()}
    if reasons:
        lines += [f"{DASH} means left out:", ""]
        lines += [f"- {name} at {size}: {reason}" for name, size, reason in sorted(reasons)] + [""]
    return lines


def _own(found: Measurements, tool: Tool, size: Size, dtype: str, threads: int) -> float | None:
    """Seconds with exactly so many threads."""
    return found.grid.seconds.get(Cell(tool, size, dtype, threads))


def _small(found: Measurements) -> list[str]:
    rows = [
        [
            case.labels,
            case.peer.name,
            case.peer.metric,
            *map(_microseconds, (case.our_seconds, case.peer_seconds)),
            multiple(case.ratio),
        ]
        for case in found.small
    ]
    header = ["labels", "peer", "metric", "multiauc, µs", "peer, µs", "ratio"]
    return [f"## A small input: {SMALL_SIZE}, float64", "", *table(header, rows)]


def _microseconds(seconds: float) -> str:
    return significant(1e6 * seconds)


def _per_cell(found: Measurements) -> list[str]:
    header = [f"n {TIMES} K"]
    header += [f"{tool.metric}, {_threads(n)}" for tool in OURS for n in sorted({1, all_threads()})]
    lines = ["## Time per cell", "", "Nanoseconds per score of multiauc: the cost grows like n·K.", ""]
    for dtype in found.dtypes:
        rows = []
        for size in found.sizes:
            times = [found.time_per_cell(t, size, dtype, n) for t in OURS for n in sorted({1, all_threads()})]
            rows.append([str(size), *(DASH if time is None else significant(1e9 * time) for time in times)])
        lines += [f"### {dtype}", "", *table(header, rows)]
    return lines


def _shapes(found: Measurements) -> list[str]:
    if not found.shapes:
        return []
    columns = [(dtype, metric) for dtype in found.dtypes for metric in METRICS]
    shapes = list(dict.fromkeys(shape for shape, _, _ in found.shapes))
    rows = [[shape, *(multiple(found.shapes[shape, *column]) for column in columns)] for shape in shapes]
    return [
        f"## Shapes of the scores, {found.shape_size}",
        "",
        f"Time of multiauc ({_threads(all_threads())}) as a multiple of its time on smooth scores.",
        "",
        *table(["scores", *(f"{metric}, {dtype}" for dtype, metric in columns)], rows),
    ]


def _evaluations(found: Measurements) -> list[str]:
    rows = [
        [case.dtype, milliseconds(case.evaluate_seconds), milliseconds(case.scores_seconds), multiple(case.ratio)]
        for case in found.evaluations
    ]
    return [
        f"## Standard errors, {found.evaluation_size}",
        "",
        f"{EVALUATION_NOTE} {_threads(all_threads())}.",
        "",
        *table(["dtype", "evaluate", "four scores", "ratio"], rows),
    ]


def _memory(found: Measurements) -> list[str]:
    if not found.memory:
        return []
    places = list(dict.fromkeys((size, dtype) for _, size, dtype in found.memory))
    tools = list(dict.fromkeys(tool for tool, _, _ in found.memory))
    rows = [
        [f"{size}, {dtype}", *(_bare(found.memory.get((tool, size, dtype))) for tool in tools)]
        for size, dtype in places
    ]
    return [
        "## Memory",
        "",
        "Peak extra memory of one call in a process of its own, as a multiple of the bytes of the scores.",
        "",
        *table([f"n {TIMES} K", *(f"{tool.name}, {tool.metric}" for tool in tools)], rows),
    ]


def _bare(value: float | None) -> str:
    return DASH if value is None else f"{value:.2f}"


def _values(found: Measurements) -> list[str]:
    rows = [
        [
            f"{a.peer.name}, {a.peer.metric}",
            a.dtype,
            f"{a.largest:.1e}",
            str(a.size),
            "yes" if a.within_tolerance else "no, see below",
        ]
        for a in agreements(found.grid)
    ]
    lines = [
        "## Values",
        "",
        "The largest difference from multiauc's value on the inputs timed above.",
        "",
        *table(["peer", "dtype", "largest difference", "where", f"within {TOLERANCE:g}"], rows),
        *VALUES_NOTES,
        "",
        "### Ties and saturation",
        "",
    ]
    for example in found.examples:
        values = [[f"{tool.name}, {tool.metric}", f"{value:.12f}"] for tool, value in example.values.items()]
        values.append(["exact rational arithmetic, AUC_mu", f"{example.exact:.12f}"])
        lines += [f"**{example.title}.** {example.explanation}", "", *table(["tool", "value"], values)]
    return lines


def write(found: Measurements) -> str:
    """Return the whole report as Markdown."""
    lines = [
        "# All metrics against other libraries",
        "",
        "![Time per call for a million rows of ten classes](../docs/figures/speed-light.svg)",
        "",
        f"Written by `{found.command}` in {found.elapsed_seconds / 60:.1f} minutes.",
        *machine.describe(),
        DATA_NOTE,
        "",
    ]
    for part in (_times, _small, _per_cell, _shapes, _evaluations, _memory, _values, _targets):
        lines += part(found)
    return "\n".join(lines).rstrip() + "\n"
