"""The passes over a data frame: states that are merged in a tree, then counts of ranges that the driver adds up."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from multiauc import _rust
from multiauc._common.registry import AUC_MU
from multiauc.spark import _tasks
from multiauc.spark._tasks import UNIT, PairedSample
from multiauc.streaming import Accumulator

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import DataFrame

    from multiauc.spark._columns import Layout
    from multiauc.streaming import CertifiedEvaluation

#: How many states a task merges.
FAN_IN = 8
#: Rows of a range that are sorted at once, some 56 bytes each; more where there would be too many ranges, as every task
#: has a place for each of them.
LONGEST_RANGE, MOST_RANGES = 2**20, 2**16
#: Keys that a task counts, which it holds in memory, 4 to 16 bytes each; more where there would be too many parts, as
#: every task that packs rows has something for each of them.
KEYS_PER_PART, MOST_PARTS = 2**22, 2**14


def collect_states(
    rows: DataFrame, layout: Layout, empty: Accumulator, lattices: dict[str, int] | None = None
) -> tuple[dict[str, Accumulator], PairedSample | None]:
    """The state of every unit, after one pass over the rows, and a sample of these if there are several models."""
    threads = _threads_per_task(rows)

    def task(batches: Iterator[Any]) -> Iterator[Any]:
        return _tasks.count_states(batches, layout, empty, lattices, threads)

    # As an RDD from here on: states are large, and Arrow would put many of them into one batch.
    spread = rows.mapInArrow(task, _tasks.STATES).rdd.map(tuple)
    width = spread.getNumPartitions()
    while width > 1:
        width = math.ceil(width / FAN_IN)
        spread = _merge_into(spread, width)
    found = spread.mapPartitions(_tasks.merge_states).collect()
    problem = next((problem for _, _, problem in found if problem is not None), None)
    if problem is not None:
        raise ValueError(problem)
    states = {unit: state for unit, state, _ in found}
    sample = states.pop(UNIT, None)
    accumulators = {unit: Accumulator.from_bytes(state) for unit, state in states.items()}
    return accumulators, None if sample is None else PairedSample.from_bytes(sample)


def _merge_into(states: Any, width: int) -> Any:
    """The states of each partition merged, and sent to one of as many others."""

    def placed(index: int, part: Iterable[tuple[str, bytes, str | None]]) -> Iterator[tuple[int, Any]]:
        return ((index % width, one) for one in _tasks.merge_states(part))

    return states.mapPartitionsWithIndex(placed).partitionBy(width, int).values()


def evaluate_exactly(
    rows: DataFrame, layout: Layout, states: dict[str, Accumulator], absent: str
) -> dict[str, CertifiedEvaluation]:
    """The exact metrics of every unit: a second pass where states are not exact already."""
    found = {unit: state.evaluate(absent=absent) for unit, state in states.items()}
    open_units = [unit for unit, result in found.items() if not result.exact]
    # Whether float32 scores are multiples of one fraction is known only when all have been seen, and decides which
    # differences tie: they are sorted into ranges again.
    lattices = {unit: m for unit in open_units if (m := states[unit].state().lattice) is not None}
    counted = {unit: states[unit] for unit in open_units}
    if lattices:
        one = next(iter(counted.values()))
        empty = Accumulator(one.labels, metrics=one.metrics, memory_limit=one.memory_limit)
        counted |= collect_states(rows, layout, empty, lattices)[0]
    plans = {unit: _rust.RangePlan(state.state(), _longest_range(state)) for unit, state in counted.items()}
    if plans:
        _count(rows, layout, plans)
    for unit, plan in plans.items():
        found[unit] = counted[unit].results(plan.answers(counted[unit].state()), absent)
    return found


def _longest_range(state: Accumulator) -> int:
    """How many rows a range may have, so that there are not too many ranges."""
    problems = len(state.labels) * ((AUC_MU in state.metrics) + (state.metrics != (AUC_MU,)))
    return max(LONGEST_RANGE, state.n_rows * problems // MOST_RANGES)


def _count(rows: DataFrame, layout: Layout, plans: dict[str, _rust.RangePlan]) -> None:
    """Give the plans their counts: rows are packed by range, and the blocks of a range meet in one task."""
    threads, at_once = _threads_per_task(rows), _count_cores(rows)
    per_part = max(KEYS_PER_PART, sum(plan.keys for plan in plans.values()) // MOST_PARTS)
    sent, first = {}, 0
    for unit, plan in plans.items():
        # As many parts as cores at least, if there is work for them.
        parts = max(math.ceil(plan.keys / per_part), min(at_once, math.ceil(plan.keys / 2**16)), 1)
        plan.split(parts)
        sent[unit] = (first, plan.to_bytes())
        first += parts

    def pack(batches: Iterator[Any]) -> Iterator[Any]:
        return _tasks.pack_blocks(batches, layout, sent, threads)

    def count(batches: Iterator[Any]) -> Iterator[Any]:
        return _tasks.count_blocks(batches, sent, threads)

    blocks = rows.mapInArrow(pack, _tasks.BLOCKS)
    # Spark before 4.1 places parts by their hash, which is right too, but not even.
    placed = (
        blocks.repartitionById(first, "part")
        if hasattr(blocks, "repartitionById")
        else blocks.repartition(first, "part")
    )
    for unit, counts in placed.mapInArrow(count, _tasks.COUNTS).collect():
        plans[unit].add_counts(bytes(counts))


def _count_cores(df: DataFrame) -> int:
    """How many tasks run at a time."""
    return max(1, int(df.sparkSession.sparkContext.defaultParallelism))


def _threads_per_task(df: DataFrame) -> int:
    """How many cores a task has."""
    return max(1, int(df.sparkSession.sparkContext.getConf().get("spark.task.cpus", "1") or 1))
