"""The passes over a data frame: states that are merged in a tree, then counts of ranges that the driver adds up.

What runs in Spark's tasks takes Arrow batches of rows and gives back states, blocks or counts. Bad rows become a
sentence, not a failed task.
"""

from __future__ import annotations

import json
import math
import pickle
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark import TaskContext

from multiauc import _rust
from multiauc._io.columns import Piece

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

    from multiauc.spark._columns import Layout
    from multiauc.streaming import Accumulator, BoundedEvaluation

    # Scores, classes and weights.
    Rows = tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None]
    # A unit, which is a model and the values of a slice, and what was found for it.
    Answer = tuple[str, bytes]
    # The number of the first part of each unit, and its plan.
    Plans = dict[str, tuple[int, bytes]]

#: How many states a task merges.
FAN_IN = 8
#: Rows of a range that are sorted at once, some 56 bytes each; more where there would be too many ranges, as every task
#: has a place for each of them.
LONGEST_RANGE, MOST_RANGES = 2**20, 2**16
#: Keys that a task counts, which it holds in memory, 4 to 16 bytes each; more where there would be too many parts, as
#: every task that packs rows has something for each of them.
KEYS_PER_PART, MOST_PARTS = 2**22, 2**14
#: How much a task gathers before it sends it on.
GATHERED_BYTES = 64 * 2**20
#: The unit under which a sample travels among the states; its rows at most, and the bytes of their scores.
SAMPLE = "sample"
SAMPLE_ROWS, SAMPLE_BYTES = 20_000, 8 * 2**20
#: The unit under which a sentence travels that says what is wrong with the rows.
PROBLEM = "problem"

STATES = "unit string, state binary"
BLOCKS = "part int, unit string, block binary"
COUNTS = "unit string, counts binary"
TYPES = {"string": pa.string(), "binary": pa.binary(), "int": pa.int32()}


@dataclass(slots=True, eq=False)
class PairedSample:
    """The rows with the smallest of independent random numbers.

    Attributes
    ----------
    scores
        (n, K) by model.
    columns
        By name, ``key``: the random numbers; ``code``: the classes, as places among the labels; perhaps ``weight``.
    """

    scores: dict[str, NDArray[Any]]
    columns: dict[str, NDArray[Any]]

    def merge(self, other: PairedSample) -> PairedSample:
        """A sample of the rows of both."""
        scores, columns = (
            {name: np.concatenate([array, theirs[name]]) for name, array in ours.items()}
            for ours, theirs in ((self.scores, other.scores), (self.columns, other.columns))
        )
        row_bytes = sum(array.shape[1] * array.itemsize for array in scores.values())
        size, keys = max(2, min(SAMPLE_ROWS, SAMPLE_BYTES // row_bytes)), columns["key"]
        kept = np.argpartition(keys, size - 1)[:size] if len(keys) > size else np.arange(len(keys))
        return PairedSample(
            {model: array[kept] for model, array in scores.items()},
            {name: array[kept] for name, array in columns.items()},
        )


def collect_states(
    rows: DataFrame, layout: Layout, empty: Accumulator, lattices: dict[str, int] | None = None
) -> tuple[dict[str, Accumulator], PairedSample | None]:
    """The state of every unit, after one pass over the rows, and a sample of these if there are several models."""
    threads = _threads_per_task(rows)

    def task(batches: Iterator[Any]) -> Iterator[Any]:
        return count_states(batches, layout, empty, lattices, threads)

    # As an RDD from here on: states are large, and Arrow would put many of them into one batch.
    spread = rows.mapInArrow(task, STATES).rdd.map(tuple)
    width = spread.getNumPartitions()
    while width > 1:
        width = math.ceil(width / FAN_IN)
        spread = _merge_into(spread, width)
    found = dict(spread.mapPartitions(merge_states).collect())
    if PROBLEM in found:
        raise ValueError(found[PROBLEM].decode())
    states = {unit: _load(held) for unit, held in found.items()}
    return states, states.pop(SAMPLE, None)


def _merge_into(states: Any, width: int) -> Any:
    """The states of each partition merged, and sent to one of as many others."""

    def placed(index: int, part: Iterable[Answer]) -> Iterator[tuple[int, Any]]:
        return ((index % width, one) for one in merge_states(part))

    return states.mapPartitionsWithIndex(placed).partitionBy(width, int).values()


def evaluate_exactly(
    rows: DataFrame, layout: Layout, empty: Accumulator, states: dict[str, Accumulator], absent: str
) -> dict[str, BoundedEvaluation]:
    """The exact metrics of every unit: a second pass where states are not exact already."""
    found = {unit: state.evaluate(absent=absent) for unit, state in states.items()}
    counted = {unit: states[unit] for unit, result in found.items() if not result.exact}
    # Whether float32 scores are multiples of one fraction is known only when all have been seen, and decides which
    # differences tie: they are sorted into ranges again.
    lattices = {unit: m for unit, state in counted.items() if (m := state.state().lattice) is not None}
    if lattices:
        sorted_again = collect_states(rows, layout, empty, lattices)[0]
        counted |= {unit: states[unit].with_ranks_of(state) for unit, state in sorted_again.items()}
    plans = {unit: _rust.RangePlan(state.state(), _longest_range(state)) for unit, state in counted.items()}
    if plans:
        _count(rows, layout, empty, plans)
    for unit, plan in plans.items():
        found[unit] = counted[unit].results(plan.answers(counted[unit].state()), absent)
    return found


def _longest_range(state: Accumulator) -> int:
    """How many rows a range may have, to limit the number of ranges."""
    problems = len(state.labels) * (("auc_mu" in state.metrics) + (state.metrics != ("auc_mu",)))
    return max(LONGEST_RANGE, state.n_rows * problems // MOST_RANGES)


def _count(rows: DataFrame, layout: Layout, empty: Accumulator, plans: dict[str, _rust.RangePlan]) -> None:
    """Give the plans their counts: rows are packed by range, and the blocks of a range meet in one task."""
    threads = _threads_per_task(rows)
    at_once = max(1, int(rows.sparkSession.sparkContext.defaultParallelism))
    per_part = max(KEYS_PER_PART, sum(plan.keys for plan in plans.values()) // MOST_PARTS)
    sent, first = {}, 0
    for unit, plan in plans.items():
        # As many parts as cores at least, if there is work for them.
        parts = max(math.ceil(plan.keys / per_part), min(at_once, math.ceil(plan.keys / 2**16)), 1)
        plan.split(parts)
        sent[unit] = (first, plan.to_bytes())
        first += parts

    def pack(batches: Iterator[Any]) -> Iterator[Any]:
        return pack_blocks(batches, layout, empty, sent, threads)

    def count(batches: Iterator[Any]) -> Iterator[Any]:
        return count_blocks(batches, sent, threads)

    blocks = rows.mapInArrow(pack, BLOCKS)
    # Spark before 4.1 places parts by their hash, which is right too, but not even.
    place = getattr(blocks, "repartitionById", blocks.repartition)
    for unit, counts in place(first, "part").mapInArrow(count, COUNTS).collect():
        plans[unit].add_counts(bytes(counts))


def _threads_per_task(df: DataFrame) -> int:
    """How many cores a task has."""
    return max(1, int(df.sparkSession.sparkContext.getConf().get("spark.task.cpus", "1") or 1))


def count_states(
    batches: Iterator[pa.RecordBatch], layout: Layout, empty: Accumulator, lattices: dict[str, int] | None, threads: int
) -> Iterator[pa.RecordBatch]:
    """The states of the rows of a task; with `lattices`, only those units, of scores on lattices that are known."""
    _rust.set_num_threads(threads)
    found: dict[str, Any] = {}
    context = TaskContext.get()
    number = 0 if context is None else context.partitionId()
    rng = np.random.default_rng(number)  # the same numbers when a task is tried again
    n_rows = 0
    for batch in batches:
        # After a bad row the rest is read but not looked at: Spark expects its rows to be taken.
        if PROBLEM in found or batch.num_rows == 0:
            continue
        try:
            models = _read_models(batch, layout, f"partition {number} of df", n_rows)
            for unit, rows in _split_units(batch, layout, models):
                if lattices is None or unit in lattices:
                    if unit not in found:
                        found[unit] = empty.copy() if lattices is None else empty.on_lattice(lattices[unit])
                    found[unit].add(empty.read_coded(*rows))
        except ValueError as error:
            found = {PROBLEM: str(error)}
            continue
        n_rows += batch.num_rows
        if len(models) > 1 and lattices is None:
            _, codes, weights = next(iter(models.values()))
            columns = {"key": rng.random(batch.num_rows), "code": codes}
            columns |= {} if weights is None else {"weight": weights}
            sample = PairedSample({model: empty.prepare_scores(rows[0]) for model, rows in models.items()}, columns)
            found[SAMPLE] = found[SAMPLE].merge(sample) if SAMPLE in found else sample
    for unit, held in found.items():
        yield _make_batch(STATES, unit, held.encode() if unit == PROBLEM else pickle.dumps(held))


def merge_states(answers: Iterable[Answer]) -> Iterator[Answer]:
    """One state for each unit, and one problem if there are any."""
    found: dict[str, Any] = {}
    for unit, held in answers:
        if unit == PROBLEM:
            yield unit, bytes(held)
            return
        # Read only where there is something to add.
        found[unit] = _load(found[unit]).merge(_load(held)) if unit in found else bytes(held)
    for unit, merged in found.items():
        yield unit, merged if isinstance(merged, bytes) else pickle.dumps(merged)


def _load(held: Any) -> Any:
    """A state or a sample, which tasks of this data frame have written."""
    return pickle.loads(held) if isinstance(held, (bytes, bytearray)) else held  # noqa: S301


def pack_blocks(
    batches: Iterator[pa.RecordBatch], layout: Layout, empty: Accumulator, plans: Plans, threads: int
) -> Iterator[pa.RecordBatch]:
    """The rows of a task packed by part."""
    _rust.set_num_threads(threads)
    gathering: dict[str, _rust.RangePlan] = {}

    def take_blocks() -> Iterator[pa.RecordBatch]:
        for unit, plan in gathering.items():
            for part, block in plan.take_blocks():
                yield _make_batch(BLOCKS, plans[unit][0] + part, unit, block)

    for batch in batches:
        if batch.num_rows == 0:
            continue
        for unit, rows in _split_units(batch, layout, _read_models(batch, layout, "df", 0)):
            if unit in plans:
                if unit not in gathering:
                    gathering[unit] = _rust.RangePlan.from_bytes(plans[unit][1])
                gathering[unit].update(empty.read_coded(*rows))
        if sum(plan.gathered_bytes for plan in gathering.values()) >= GATHERED_BYTES:
            yield from take_blocks()
    yield from take_blocks()


def count_blocks(batches: Iterator[pa.RecordBatch], plans: Plans, threads: int) -> Iterator[pa.RecordBatch]:
    """The counts of the parts that a task has the blocks of."""
    _rust.set_num_threads(threads)
    counting: dict[str, _rust.RangePlan] = {}
    for batch in batches:
        for unit, block in zip(batch.column("unit").to_pylist(), batch.column("block"), strict=True):
            if unit not in counting:
                counting[unit] = _rust.RangePlan.from_bytes(plans[unit][1])
            counting[unit].receive(block.as_py())
    for unit, plan in counting.items():
        yield _make_batch(COUNTS, unit, plan.take_counts())


def _make_batch(columns: str, *cells: Any) -> pa.RecordBatch:
    """A batch of one row with these columns, as Spark writes their names and types."""
    names, types = zip(*(column.split() for column in columns.split(", ")), strict=True)
    arrays = [pa.array([cell], type=TYPES[kind]) for cell, kind in zip(cells, types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, names=list(names))


def _read_models(batch: pa.RecordBatch, layout: Layout, place: str, before: int) -> dict[str, Rows]:
    """The rows of a batch for each model."""
    table = pa.Table.from_batches([batch]).rename_columns(list(layout.columns))
    return {model: reader.read(Piece(place, table, before)) for model, reader in layout.readers.items()}


def _split_units(batch: pa.RecordBatch, layout: Layout, models: dict[str, Rows]) -> Iterator[tuple[str, Rows]]:
    """The rows of each model on each slice, by the name of the unit."""
    if not layout.by:
        yield from ((json.dumps([model]), rows) for model, rows in models.items())
        return
    keys, first = layout.slices, batch.num_columns - len(layout.by)
    table = pa.table({key: batch.column(first + k) for k, key in enumerate(keys)} | {"row": np.arange(batch.num_rows)})
    found = table.group_by(list(keys)).aggregate([("row", "list")])
    for *values, rows in zip(*(found.column(name).to_pylist() for name in (*keys, "row_list")), strict=True):
        for model, (scores, codes, weights) in models.items():
            part = scores[rows], codes[rows], None if weights is None else weights[rows]
            yield json.dumps([model, *values]), part
