"""The grid: every size and dtype, all tools side by side, on one thread and on all."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from comparison import data
from comparison.timing import Contestant, take_turns
from comparison.tools import OURS, PEERS, Tool, all_threads, our_tool

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from comparison.data import Labels, Scores

TIMES = "\N{MULTIPLICATION SIGN}"
DTYPES = ("float64", "float32")
#: A tool whose call would take longer than this is left out.
LEAVE_OUT_ABOVE_SECONDS = 60.0


class Size(NamedTuple):
    """Rows and classes."""

    n_rows: int
    n_classes: int

    @property
    def cells(self) -> int:
        """The number of scores."""
        return self.n_rows * self.n_classes

    def __str__(self) -> str:
        return f"{_power(self.n_rows)} {TIMES} {self.n_classes}"


def _power(number: int) -> str:
    text = str(number)
    zeros = len(text) - len(text.rstrip("0"))
    return f"{text[0]}e{zeros}" if zeros >= 4 and len(text) == zeros + 1 else f"{number:,}"


class Cell(NamedTuple):
    """One place of the grid: a tool on one input with a number of threads."""

    tool: Tool
    size: Size
    dtype: str
    threads: int


@dataclass
class Deadline:
    """When the whole has to be over: near it, slow calls are left out."""

    seconds: float
    start: float = field(default_factory=time.monotonic)

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.start

    def allows(self, expected_seconds: float) -> bool:
        """Whether a call that takes about this long still fits."""
        return self.elapsed + expected_seconds < self.seconds


@dataclass
class Grid:
    """Best seconds and values of every cell that was measured, and why others were not."""

    seconds: dict[Cell, float] = field(default_factory=dict)
    #: The same on the processor, all threads together.
    cpu_seconds: dict[Cell, float] = field(default_factory=dict)
    values: dict[Cell, float] = field(default_factory=dict)
    left_out: dict[Cell, str] = field(default_factory=dict)

    def time(self, tool: Tool, size: Size, dtype: str, threads: int) -> float | None:
        """Best seconds of a cell.

        A tool with one thread has one time, whatever `threads` says. On all threads the better of a tool's two times
        counts: nobody is forced to use threads that do not help.
        """
        counts = {1, threads} if tool.threaded else {1}
        times = [self.seconds.get(Cell(tool, size, dtype, count)) for count in counts]
        return min((found for found in times if found is not None), default=None)

    def ratio(self, peer: Tool, size: Size, dtype: str, threads: int) -> float | None:
        """How many times longer `peer` takes than our function for the same metric."""
        theirs = self.time(peer, size, dtype, threads)
        ours = self.time(our_tool(peer.metric), size, dtype, threads)
        return None if theirs is None or ours is None else theirs / ours


def _contestant(tool: Tool, labels: Labels, scores: Scores, threads: int) -> Contestant:
    call = partial(tool.call, labels, scores, threads)
    if tool.set_threads is None:
        return Contestant(call)
    return Contestant(call, partial(tool.set_threads, threads))


def _excuse(tool: Tool, size: Size, deadline: Deadline) -> str | None:
    problem = tool.missing()
    expected = tool.expected_seconds(*size)
    if problem is not None:
        return f"not available: {problem}"
    if expected > LEAVE_OUT_ABOVE_SECONDS:
        return f"one call would take about {expected:.0f} s"
    if tool in PEERS and not deadline.allows(2 * expected):
        return "no time left in this run"
    return None


def measure_grid(
    sizes: Sequence[Size], dtypes: Iterable[str], deadline: Deadline, *, max_turns: int, budget_seconds: float
) -> Grid:
    """Measure all tools on all sizes and dtypes; say on the way what is being done."""
    grid = Grid()
    for size in sizes:
        for dtype in dtypes:
            labels, scores = data.smooth(*size, dtype)
            contestants = {}
            for tool in (*OURS, *PEERS):
                excuse = _excuse(tool, size, deadline)
                for threads in sorted({1, all_threads()} if tool.threaded else {1}):
                    cell = Cell(tool, size, dtype, threads)
                    if excuse is None:
                        contestants[cell] = _contestant(tool, labels, scores, threads)
                    else:
                        grid.left_out[cell] = excuse
            print(f"{deadline.elapsed:5.0f} s  {size}, {dtype}: {len(contestants)} contestants", flush=True)
            for cell, timing in take_turns(contestants, max_turns=max_turns, budget_seconds=budget_seconds).items():
                grid.seconds[cell] = timing.best
                grid.cpu_seconds[cell] = timing.cpu
                grid.values[cell] = timing.value
    return grid


@dataclass(frozen=True)
class SmallCase:
    """Best seconds of two tools on a small input with one kind of labels."""

    labels: str
    peer: Tool
    our_seconds: float
    peer_seconds: float

    @property
    def ratio(self) -> float:
        """How many times longer the peer takes."""
        return self.peer_seconds / self.our_seconds


SMALL_SIZE = Size(1_000, 5)


def measure_small(*, max_turns: int, budget_seconds: float) -> list[SmallCase]:
    """Measure a small input with integer and with string labels; default threads for everyone."""
    labels, scores = data.smooth(*SMALL_SIZE)
    names = np.array([f"class {k}" for k in range(SMALL_SIZE.n_classes)])
    threads = all_threads()
    peers = [peer for peer in PEERS if peer.missing() is None]
    contestants = {}
    for kind, y_true in (("integers", labels), ("strings", names[labels])):
        for peer in peers:
            # Only scikit-learn and multiauc take labels that are not numbers.
            if kind == "integers" or peer.package == "scikit-learn":
                contestants[kind, peer] = _contestant(peer, y_true, scores, threads)
        for tool in OURS:
            contestants[kind, tool] = _contestant(tool, y_true, scores, threads)
    timings = take_turns(contestants, max_turns=max_turns, budget_seconds=budget_seconds)
    return [
        SmallCase(kind, tool, timings[kind, our_tool(tool.metric)].best, timing.best)
        for (kind, tool), timing in timings.items()
        if tool in peers
    ]


def measure_shapes(
    size: Size, dtypes: Iterable[str], *, max_turns: int, budget_seconds: float
) -> dict[tuple[str, str, str], float]:
    """Return (shape, dtype, metric) → our seconds on all threads, relative to smooth scores of the same size."""
    ratios = {}
    for dtype in dtypes:
        # Each shape takes turns with the smooth input, so that both see the machine in the same state.
        plain = data.smooth(*size, dtype)
        for shape, make in data.SHAPES.items():
            samples = {"smooth": plain, shape: make(*size, dtype)}
            contestants = {
                (name, tool.metric): _contestant(tool, *sample, all_threads())
                for tool in OURS
                for name, sample in samples.items()
            }
            timings = take_turns(contestants, max_turns=max_turns, budget_seconds=budget_seconds)
            for tool in OURS:
                ratios[shape, dtype, tool.metric] = (
                    timings[shape, tool.metric].best / timings["smooth", tool.metric].best
                )
    return ratios
