"""Columns whose cells are lists, one score per class: as a column per class."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from multiauc._common.wording import counted
from multiauc._io.columns import refuse_missing

LISTS = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
NUMBERS = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean)


def holds_lists(kind: Any) -> bool:
    """Whether the cells of a column of this type are lists, or tensors, which extensions of Arrow keep as lists."""
    kind = _stored(kind)
    return any(is_kind(kind) for is_kind in LISTS)


def spread(path: str, table: Any, name: str, n_classes: int) -> tuple[Any, list[str]]:
    """A table with a column per class in the place of a column of lists, and the names of those columns."""
    column = table.column(name)
    kind = _stored(column.type)
    if kind != column.type:
        column = pa.chunked_array([chunk.storage for chunk in column.chunks], type=kind)
    if not any(is_kind(kind.value_type) for is_kind in NUMBERS):
        raise ValueError(f"{path}: column {name!r} holds {kind}, not lists of numbers")
    refuse_missing(path, name, column)
    lengths = pc.list_value_length(column)
    row = pc.index(pc.not_equal(lengths, n_classes), value=True).as_py()
    if row >= 0:
        found = f"{counted(lengths[row].as_py(), 'score')} for {n_classes} classes"
        raise ValueError(f"{path}: column {name!r}, row {row + 1}: {found}")
    cells = pc.list_flatten(column)
    if cells.null_count:
        row, place = divmod(pc.index(pc.is_null(cells), value=True).as_py(), n_classes)
        raise ValueError(f"{path}: column {name!r}, row {row + 1}: score {place + 1} of {n_classes} is missing")
    scores = cells.to_numpy().reshape(-1, n_classes)
    names = [f"{name}[{k}]" for k in range(n_classes)]
    rest = table.drop_columns([name])
    for k, one in enumerate(names):
        rest = rest.append_column(one, pa.array(np.ascontiguousarray(scores[:, k])))
    return rest, names


def _stored(kind: Any) -> Any:
    return kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind
