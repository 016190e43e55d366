"""The targets, and whether the measurements meet them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from comparison.grid import SMALL_SIZE, TIMES, Size
from comparison.tools import CATBOOST, METRICS, OURS, PEERS, SKLEARN_OVO, TORCHMETRICS, Tool, all_threads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from comparison.report import Measurements

#: (peer, size) → how many times faster we want to be, all threads on both sides.
SPEED = {
    (CATBOOST, Size(100_000, 10)): 9,
    (CATBOOST, Size(1_000_000, 10)): 9,
    (CATBOOST, Size(1_000_000, 3)): 6,
    (CATBOOST, Size(10_000_000, 2)): 15,
    (CATBOOST, Size(100_000, 100)): 15,
    (SKLEARN_OVO, Size(100_000, 10)): 70,
    (SKLEARN_OVO, Size(1_000_000, 10)): 70,
    (SKLEARN_OVO, Size(100_000, 100)): 300,
}
ONE_VS_REST_SPEED = 20
ONE_THREAD_SPEED = 5
SMALL_SPEED = {"integers": 100, "strings": 40}
#: Time per cell at these sizes is compared with that at the reference size.
REFERENCE_SIZE = Size(100_000, 10)
GROWTH_SIZES = (Size(100_000, 1_000), Size(1_000_000, 100))
GROWTH = 3
SHAPE_GROWTH = 4
#: `evaluate` against the four bare scores.
EVALUATION_COST = 3
#: Extra memory as a multiple of the scores: up to `FEW_CLASSES` classes, and beyond.
FEW_CLASSES = 16
MEMORY_FEW, MEMORY_MANY = 1.25, 0.25


@dataclass(frozen=True)
class Verdict:
    """One target at one place: what is asked, and what was found (None: not measured).

    `planned` is False when the run leaves the place out on purpose.
    """

    target: str
    where: str
    required: str
    found: float | None
    met: bool
    planned: bool = True

    @property
    def word(self) -> str:
        """The verdict in words."""
        if self.found is None:
            return "not measured"
        return "met" if self.met else "**not met**"


def _at_least(target: str, where: str, required: float, found: float | None, *, planned: bool = True) -> Verdict:
    met = found is not None and found >= required
    return Verdict(target, where, f"at least {required:g}{TIMES}", found, met, planned)


def _at_most(target: str, where: str, required: float, found: float | None, *, planned: bool = True) -> Verdict:
    met = found is not None and found <= required
    return Verdict(target, where, f"at most {required:g}{TIMES}", found, met, planned)


def _against(tool: Tool) -> str:
    return f"{tool.metric} against {tool.name}"


def _speed(found: Measurements) -> Iterator[Verdict]:
    threads = all_threads()
    for (peer, size), required in SPEED.items():
        for dtype in found.dtypes:
            ratio = found.grid.ratio(peer, size, dtype, threads)
            yield _at_least(_against(peer), f"{size}, {dtype}", required, ratio, planned=size in found.sizes)
    for size in found.sizes:
        for dtype in found.dtypes:
            ratio = found.grid.ratio(TORCHMETRICS, size, dtype, threads)
            yield _at_least(_against(TORCHMETRICS), f"{size}, {dtype}", ONE_VS_REST_SPEED, ratio)
    for size in found.sizes:
        for dtype in found.dtypes:
            ratio = found.grid.ratio(CATBOOST, size, dtype, 1)
            yield _at_least(f"{_against(CATBOOST)}, one thread each", f"{size}, {dtype}", ONE_THREAD_SPEED, ratio)
    for labels, required in SMALL_SPEED.items():
        ratios = [case.ratio for case in found.small if case.labels == labels and case.peer == SKLEARN_OVO]
        where = f"{SMALL_SIZE}, {labels} as labels"
        yield _at_least(_against(SKLEARN_OVO), where, required, ratios[0] if ratios else None)


def _nobody_faster(found: Measurements) -> Verdict:
    """The smallest ratio of all: every peer, size, dtype and thread count."""
    ratios = {
        f"{peer.name}, {size}, {dtype}, {count} thread{'s' if count > 1 else ''}": ratio
        for peer in PEERS
        for size in found.sizes
        for dtype in found.dtypes
        for count in sorted({1, all_threads()})
        if (ratio := found.grid.ratio(peer, size, dtype, count)) is not None
    }
    ratios |= {f"{case.peer.name}, {SMALL_SIZE}, {case.labels}": case.ratio for case in found.small}
    if not ratios:
        return _at_least("No peer is faster", "anywhere", 1, None)
    where, ratio = min(ratios.items(), key=lambda item: item[1])
    return _at_least("No peer is faster anywhere; the closest", where, 1, ratio)


def _growth(found: Measurements) -> Iterator[Verdict]:
    threads = all_threads()
    for tool in OURS:
        for size in GROWTH_SIZES:
            for dtype in found.dtypes:
                large = found.time_per_cell(tool, size, dtype, threads)
                reference = found.time_per_cell(tool, REFERENCE_SIZE, dtype, threads)
                ratio = None if large is None or reference is None else large / reference
                where = f"{size} against {REFERENCE_SIZE}, {dtype}"
                planned = {size, REFERENCE_SIZE} <= set(found.sizes)
                yield _at_most(f"{tool.metric}, time per cell", where, GROWTH, ratio, planned=planned)


def _memory(found: Measurements) -> Iterator[Verdict]:
    for (tool, size, dtype), multiple in found.memory.items():
        if tool in OURS:
            required = MEMORY_FEW if size.n_classes <= FEW_CLASSES else MEMORY_MANY
            yield _at_most(f"{tool.metric}, extra memory over the scores'", f"{size}, {dtype}", required, multiple)


def _shapes(found: Measurements) -> Iterator[Verdict]:
    for metric in METRICS:
        for dtype in found.dtypes:
            times = {shape: ratio for (shape, *rest), ratio in found.shapes.items() if rest == [dtype, metric]}
            if times:
                shape, ratio = max(times.items(), key=lambda item: item[1])
                yield _at_most(f"{metric}, slowest shape against smooth", f"{shape}, {dtype}", SHAPE_GROWTH, ratio)


def _evaluations(found: Measurements) -> Iterator[Verdict]:
    for case in found.evaluations:
        where = f"{found.evaluation_size}, {case.dtype}"
        yield _at_most("evaluate with all variances against the four scores", where, EVALUATION_COST, case.ratio)


def judge(found: Measurements) -> list[Verdict]:
    """Return a verdict on every target."""
    return [
        *_speed(found),
        _nobody_faster(found),
        *_growth(found),
        *_memory(found),
        *_shapes(found),
        *_evaluations(found),
    ]
