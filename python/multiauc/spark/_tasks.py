"""What runs in Spark's tasks: rows in, states, blocks or counts out. Bad rows become a sentence, not a failed task."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext

from multiauc import _rust
from multiauc._input.probabilities import as_outputs
from multiauc.streaming import Accumulator

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from multiauc.spark._columns import Layout, Scores

#: What `count_states` gives: a unit is a model and the values of a slice.
STATES = "unit string, state binary, problem string"
#: What `pack_blocks` gives.
BLOCKS = "part int, unit string, block binary"
#: What `count_blocks` gives.
COUNTS = "unit string, counts binary"

#: How much a task gathers before it sends it on.
GATHERED_BYTES = 64 * 2**20


#: The unit under which a sample travels among the states.
UNIT = "sample"
#: Rows at most, and bytes of their scores.
ROWS, BYTES = 20_000, 8 * 2**20


@dataclass(slots=True, eq=False)
class PairedSample:
    """The rows with the smallest of independent random numbers.

    Attributes
    ----------
    keys
        The random numbers.
    codes
        The classes, as places among the labels.
    scores
        (n, K) by model.
    weights
        Or None.
    """

    keys: NDArray[np.float64]
    codes: NDArray[Any]
    scores: dict[str, NDArray[Any]]
    weights: NDArray[np.float64] | None

    def smallest(self) -> PairedSample:
        """As many of them as a sample may have."""
        row_bytes = sum(scores.shape[1] * scores.itemsize for scores in self.scores.values())
        size = max(2, min(ROWS, BYTES // row_bytes))
        if len(self.keys) <= size:
            return self
        kept = np.argpartition(self.keys, size - 1)[:size]
        scores = {model: scores[kept] for model, scores in self.scores.items()}
        return PairedSample(self.keys[kept], self.codes[kept], scores, _take_rows(self.weights, kept))

    def with_rows_of(self, other: PairedSample) -> PairedSample:
        """A sample of the rows of both."""
        weights = None
        if self.weights is not None and other.weights is not None:
            weights = np.concatenate([self.weights, other.weights])
        return PairedSample(
            np.concatenate([self.keys, other.keys]),
            np.concatenate([self.codes, other.codes]),
            {model: np.concatenate([scores, other.scores[model]]) for model, scores in self.scores.items()},
            weights,
        ).smallest()

    def to_bytes(self) -> bytes:
        """All of it."""
        arrays: Any = {f"scores_{place}": scores for place, scores in enumerate(self.scores.values())}
        if self.weights is not None:
            arrays["weights"] = self.weights
        file = io.BytesIO()
        np.savez(file, keys=self.keys, codes=self.codes, names=np.array(list(self.scores)), **arrays)
        return file.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> PairedSample:
        """The sample that was written.

        Raises
        ------
        ValueError
            If the bytes are damaged, cut short, or something else.
        """
        try:
            with np.load(io.BytesIO(data)) as found:
                scores = {str(name): found[f"scores_{place}"] for place, name in enumerate(found["names"])}
                sample = cls(found["keys"], found["codes"], scores, found.get("weights"))
        # Whatever the readers of archives and of arrays say.
        except Exception as error:  # noqa: BLE001
            raise ValueError(f"the bytes of a sample of rows are damaged: {error}") from None
        columns = [sample.keys, sample.codes, *([] if sample.weights is None else [sample.weights])]
        fit = all(one.shape == (len(sample.keys),) for one in columns if one.ndim == 1)
        tables = all(one.ndim == 2 and len(one) == len(sample.keys) for one in scores.values())
        if not fit or not tables or any(one.ndim != 1 for one in columns):
            raise ValueError("the bytes of a sample of rows are damaged: its arrays have other numbers of rows")
        return sample


def _take_rows(weights: NDArray[np.float64] | None, rows: NDArray[np.intp]) -> NDArray[np.float64] | None:
    return None if weights is None else weights[rows]


class BadRowsError(ValueError):
    """Rows that cannot be evaluated, whoever tries."""


def name_unit(model: str, values: Iterable[str | None]) -> str:
    """The name of a model on a slice."""
    return json.dumps([model, *values])


def count_states(
    batches: Iterator[pa.RecordBatch], layout: Layout, empty: Accumulator, lattices: dict[str, int] | None, threads: int
) -> Iterator[pa.RecordBatch]:
    """The states of the rows of a task; with `lattices`, only those units, of scores on lattices that are known."""
    _rust.set_num_threads(threads)
    found: dict[str, Accumulator] = {}
    sample: PairedSample | None = None
    context = TaskContext.get()
    # The same numbers when a task is tried again.
    rng = np.random.default_rng(0 if context is None else context.partitionId())
    problem = None
    for batch in batches:
        # After a bad row the rest is read but not looked at: Spark expects its rows to be taken.
        if problem is not None or batch.num_rows == 0:
            continue
        try:
            _add(batch, layout, empty, lattices, found)
            if len(layout.models) > 1 and lattices is None:
                more = _pair_models(batch, layout, rng)
                sample = more if sample is None else sample.with_rows_of(more)
        except BadRowsError as error:
            problem = str(error)
    if problem is not None:
        yield _make_batch(["unit", "state", "problem"], [[""], [b""], [problem]])
        return
    for unit, state in found.items():
        yield _make_batch(["unit", "state", "problem"], [[unit], [state.to_bytes()], [None]])
    if sample is not None:
        yield _make_batch(["unit", "state", "problem"], [[UNIT], [sample.to_bytes()], [None]])


def _add(
    batch: pa.RecordBatch,
    layout: Layout,
    empty: Accumulator,
    lattices: dict[str, int] | None,
    found: dict[str, Accumulator],
) -> None:
    """Add rows to the states of their units."""
    for unit, rows in _read_samples(batch, layout):
        if lattices is not None and unit not in lattices:
            continue
        if unit not in found:
            found[unit] = empty.copy() if lattices is None else empty.on_lattice(lattices[unit])
        found[unit].add(found[unit].read_coded(*rows))


def merge_states(rows: Iterable[tuple[str, bytes, str | None]]) -> Iterator[tuple[str, bytes, str | None]]:
    """One state for each unit, and one problem if there are any."""
    found: dict[str, Accumulator | PairedSample | bytes] = {}
    for unit, state, problem in rows:
        if problem is not None:
            yield "", b"", problem
            return
        found[unit] = _merge_two(found[unit], bytes(state), unit) if unit in found else bytes(state)
    for unit, held in found.items():
        yield unit, held if isinstance(held, bytes) else held.to_bytes(), None


def _merge_two(held: Accumulator | PairedSample | bytes, state: bytes, unit: str) -> Accumulator | PairedSample:
    """Two states, or samples, as one; bytes are read only where there is something to add to them."""
    if unit == UNIT:
        first = PairedSample.from_bytes(held) if isinstance(held, bytes) else held
        assert isinstance(first, PairedSample)  # noqa: S101 - for the checker of types
        return first.with_rows_of(PairedSample.from_bytes(state))
    own = Accumulator.from_bytes(held) if isinstance(held, bytes) else held
    assert isinstance(own, Accumulator)  # noqa: S101
    return own.merge(Accumulator.from_bytes(state))


def pack_blocks(
    batches: Iterator[pa.RecordBatch], layout: Layout, plans: dict[str, tuple[int, bytes]], threads: int
) -> Iterator[pa.RecordBatch]:
    """The rows of a task packed by part; `plans` has the number of the first part of each unit, and its plan."""
    _rust.set_num_threads(threads)
    gathering: dict[str, _rust.RangePlan] = {}
    for batch in batches:
        for unit, (scores, codes, _) in _read_samples(batch, layout):
            if unit not in plans:
                continue
            if unit not in gathering:
                gathering[unit] = _rust.RangePlan.from_bytes(plans[unit][1])
            gathering[unit].update(_rust.Sample(scores, codes))
        if sum(plan.gathered_bytes for plan in gathering.values()) >= GATHERED_BYTES:
            yield from _take_blocks(gathering, plans)
    yield from _take_blocks(gathering, plans)


def _take_blocks(
    gathering: dict[str, _rust.RangePlan], plans: dict[str, tuple[int, bytes]]
) -> Iterator[pa.RecordBatch]:
    for unit, plan in gathering.items():
        for part, block in plan.take_blocks():
            yield _make_batch(["part", "unit", "block"], [[plans[unit][0] + part], [unit], [block]])


def count_blocks(
    batches: Iterator[pa.RecordBatch], plans: dict[str, tuple[int, bytes]], threads: int
) -> Iterator[pa.RecordBatch]:
    """The counts of the parts that a task has the blocks of."""
    _rust.set_num_threads(threads)
    counting: dict[str, _rust.RangePlan] = {}
    for batch in batches:
        for unit, block in zip(batch.column("unit").to_pylist(), batch.column("block"), strict=True):
            if unit not in counting:
                counting[unit] = _rust.RangePlan.from_bytes(plans[unit][1])
            counting[unit].receive(block.as_py())
    for unit, plan in counting.items():
        yield _make_batch(["unit", "counts"], [[unit], [plan.take_counts()]])


def _make_batch(names: list[str], columns: list[list[Any]]) -> pa.RecordBatch:
    kinds = {"part": pa.int32(), "unit": pa.string(), "problem": pa.string()}
    arrays = [pa.array(column, type=kinds.get(name, pa.binary())) for name, column in zip(names, columns, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, names=names)


def _read_samples(
    batch: pa.RecordBatch, layout: Layout
) -> Iterator[tuple[str, tuple[NDArray[Any], NDArray[Any], NDArray[np.float64] | None]]]:
    """(unit, (scores, codes, weights)) for each model and slice of a batch."""
    if batch.num_rows == 0:
        return
    codes = _read_codes(batch.column("label"), layout)
    weights = None if layout.sample_weight is None else _read_weights(batch.column("weight"), layout.sample_weight)
    slices = _find_slices(batch, layout)
    for model, columns in layout.models.items():
        scores = _read_scores(batch, columns, layout)
        if slices is None:
            yield name_unit(model, ()), (scores, codes, weights)
            continue
        for values, rows in slices:
            yield name_unit(model, values), (scores[rows], codes[rows], None if weights is None else weights[rows])


def _pair_models(batch: pa.RecordBatch, layout: Layout, rng: np.random.Generator) -> PairedSample:
    """The scores of all models for the rows of a batch."""
    scores = {model: _read_scores(batch, columns, layout) for model, columns in layout.models.items()}
    weights = None if layout.sample_weight is None else _read_weights(batch.column("weight"), layout.sample_weight)
    return PairedSample(rng.random(batch.num_rows), _read_codes(batch.column("label"), layout), scores, weights)


def _read_codes(column: pa.Array, layout: Layout) -> NDArray[Any]:
    if column.null_count:
        raise BadRowsError(f"the column {layout.label!r} (label) contains null; drop such rows, or give them a class")
    places = pc.index_in(column, value_set=pa.array(layout.values, type=column.type))
    if places.null_count:
        unknown = column.filter(pc.is_null(places))[0].as_py()
        raise BadRowsError(
            f"the column {layout.label!r} (label) contains {unknown!r}, which is none of the labels: "
            f"{', '.join(map(repr, layout.values))}; name all of them with labels="
        )
    kind = np.uint8 if len(layout.labels) <= 256 else np.uint16
    codes: NDArray[Any] = places.to_numpy(zero_copy_only=False).astype(kind)
    return codes


def _read_weights(column: pa.Array, name: str) -> NDArray[np.float64]:
    if column.null_count:
        raise BadRowsError(f"the column {name!r} (sample_weight) contains null; drop such rows, or give them a weight")
    weights: NDArray[np.float64] = column.to_numpy(zero_copy_only=False)
    wrong = ~((weights == 0) | ((weights >= 1e-100) & (weights <= 1e100)))
    if wrong.any():
        raise BadRowsError(
            f"the column {name!r} (sample_weight) contains {weights[wrong][0]}; weights must be 0, or between 1e-100 "
            "and 1e100"
        )
    return weights


def _read_scores(batch: pa.RecordBatch, columns: Scores, layout: Layout) -> NDArray[Any]:
    """(n, K) scores, or (n, 2) of one that stands for two."""
    names, n_classes = columns.names, len(layout.labels)
    for alias, name in zip(columns.columns, names, strict=True):
        if batch.column(alias).null_count:
            raise BadRowsError(f"the column {name!r} (scores) contains null; drop such rows, or give them scores")
    if columns.is_array:
        column = batch.column(columns.columns[0])
        lengths = pc.list_value_length(column)
        width = n_classes if n_classes > 2 or pc.max(lengths).as_py() > 1 else 1
        if pc.min(lengths).as_py() != width or pc.max(lengths).as_py() != width:
            found = next(length for length in lengths.to_pylist() if length != width)
            raise BadRowsError(
                f"the column {names[0]!r} (scores) has {found} scores in a row, and there are {n_classes} labels"
            )
        values = column.flatten()
        if values.null_count:
            raise BadRowsError(f"the column {names[0]!r} (scores) contains null in an array; give such rows scores")
        scores = values.to_numpy(zero_copy_only=False).reshape(batch.num_rows, width)
    else:
        dtype = np.float32 if columns.is_single else np.float64
        scores = np.empty((batch.num_rows, len(columns.columns)), dtype=dtype)
        for place, alias in enumerate(columns.columns):
            scores[:, place] = batch.column(alias).to_numpy(zero_copy_only=False)
    if not np.isfinite(scores).all():
        row, place = np.argwhere(~np.isfinite(scores))[0].tolist()
        name = names[0] if columns.is_array else names[place]
        raise BadRowsError(
            f"the column {name!r} (scores) contains {scores[row, place]}; every score must be a finite number"
        )
    scores = as_outputs("scores", scores, layout.outputs)
    return np.hstack([-scores, scores]) if scores.shape[1] == 1 else scores


def _find_slices(batch: pa.RecordBatch, layout: Layout) -> list[tuple[list[str | None], NDArray[np.intp]]] | None:
    """The values and the rows of each slice; None if all rows are one."""
    if not layout.by:
        return None
    table = pa.table({f"by_{k}": batch.column(f"by_{k}") for k in range(len(layout.by))})
    groups = table.append_column("row", pa.array(np.arange(batch.num_rows)))
    keys = [f"by_{k}" for k in range(len(layout.by))]
    found = groups.group_by(keys).aggregate([("row", "list")])
    values = zip(*(found.column(key).to_pylist() for key in keys), strict=True)
    rows = found.column("row_list").to_pylist()
    return [(list(one), np.asarray(where)) for one, where in zip(values, rows, strict=True)]
