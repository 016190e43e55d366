"""Which slice each row is in: one column of labels, or several that cross."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from multiauc._common.wording import counted, described
from multiauc._input.arrays import as_labels, frame_columns, label_codes
from multiauc._input.labels import is_missing, plain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

#: What the column of slices is called if it has no name.
UNNAMED = "slice"


class SliceColumns(NamedTuple):
    """The slices of all rows.

    Attributes
    ----------
    columns
        The names of the columns whose values make up a slice.
    names
        The values of each slice, in the order of its first row: one, or a tuple if there are several columns. None
        stands for a missing value.
    codes
        The slice of each row, as a position in `names`.
    """

    columns: tuple[str, ...]
    names: list[Any]
    codes: NDArray[np.uint32]


def read_slices(by: Any, n_rows: int) -> SliceColumns:
    """Number the slices of rows; missing values are a slice of their own."""
    named = _named_columns(by, n_rows)
    if not named:
        raise ValueError("by must name at least one column of slices; got none")
    numbered = [_number(argument, values, n_rows) for _, argument, values in named]
    combined = numbered[0][0]
    for codes, labels in numbered[1:]:
        # Renumbered after every column, so that numbers stay below the number of rows times that of labels.
        combined = _by_first_row(combined * len(labels) + codes)
    combined = _by_first_row(combined)
    _, first_rows = np.unique(combined, return_index=True)
    values = [[labels[code] for code in codes[first_rows].tolist()] for codes, labels in numbered]
    names = values[0] if len(values) == 1 else list(zip(*values, strict=True))
    return SliceColumns(tuple(name for name, _, _ in named), names, combined.astype(np.uint32))


def _named_columns(by: Any, n_rows: int) -> list[tuple[str, str, Any]]:
    """(name, what messages call it, values) of each column."""
    if isinstance(by, Mapping):
        return [(str(name), f"by[{name!r}]", values) for name, values in by.items()]
    names = frame_columns(by)
    if names is None and hasattr(by, "columns"):  # a frame whose columns are numbered
        names = list(by.columns)
    if names is not None:
        take = by.column if hasattr(by, "column_names") else by.__getitem__
        return [(str(name), f"by[{name!r}]", take(name)) for name in names]
    if isinstance(by, np.ndarray) and by.ndim == 2:
        by = list(by.T)
    if isinstance(by, (list, tuple)) and by and all(map(_is_column, by)):
        called = [_name_of(values) or f"{UNNAMED} {place + 1}" for place, values in enumerate(by)]
        if len(by) == 1:
            called = [_name_of(by[0]) or UNNAMED]
        return [(name, f"by[{place}]", values) for place, (name, values) in enumerate(zip(called, by, strict=True))]
    if isinstance(by, (str, bytes)) or not (hasattr(by, "__len__") or hasattr(by, "__array__")):
        raise TypeError(
            f"by must have a label of its slice for each of {counted(n_rows, 'row')}, or be a list, a dict or a data "
            f"frame of such columns; got {described(by)}"
        )
    return [(_name_of(by) or UNNAMED, "by", by)]


def _is_column(value: Any) -> bool:
    """Whether an entry of a list is a column, not the label of a row (which may be a tuple)."""
    return (
        isinstance(value, list)
        or (hasattr(value, "__len__") and getattr(value, "ndim", 0) != 0)
        or hasattr(value, "to_pylist")
    )


def _name_of(values: Any) -> str | None:
    name = getattr(values, "name", None)
    return None if name is None or callable(name) else str(name)


def _number(argument: str, values: Any, n_rows: int) -> tuple[NDArray[np.int64], list[Any]]:
    """The codes of a column and what they stand for."""
    coded = None if isinstance(values, np.ndarray) else label_codes(values)
    if coded is not None:
        codes, labels_of = coded
        _check_length(argument, codes, values, n_rows)
        distinct, first_rows, inverse = np.unique(codes, return_index=True, return_inverse=True)
        labels = labels_of(first_rows[distinct >= 0])
        missing = [None] * int((distinct < 0).sum())
        return inverse.astype(np.int64, copy=False), [*missing, *map(plain, labels)]
    # A list is numbered entry by entry: in an array a mixture such as [1, "a"] or [None, "a"] would become text.
    if isinstance(values, (list, tuple)):
        _check_length(argument, values, values, n_rows)
        return _number_objects(argument, values)
    array = as_labels(argument, values)
    _check_length(argument, array, values, n_rows)
    if array.dtype.kind in "iubfUSmM":
        found, inverse = np.unique(array, return_inverse=True)
        labels = list(found) if array.dtype.kind in "mM" else found.tolist()
        return inverse.astype(np.int64, copy=False), [None if is_missing(label) else label for label in labels]
    return _number_objects(argument, array.tolist())


def _number_objects(argument: str, labels: Iterable[Any]) -> tuple[NDArray[np.int64], list[Any]]:
    numbers: dict[Any, int] = {}

    def number(label: Any) -> int:
        return numbers.setdefault(None if is_missing(label) else plain(label), len(numbers))

    try:
        codes = np.fromiter(map(number, labels), np.int64)
    except TypeError as error:
        raise TypeError(f"{argument} must hold hashable labels such as numbers or strings; {error}") from None
    return codes, list(numbers)


def _by_first_row(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same slices numbered without gaps, in the order of their first rows."""
    _, first_rows, inverse = np.unique(codes, return_index=True, return_inverse=True)
    place = np.empty(len(first_rows), dtype=np.int64)
    place[np.argsort(first_rows)] = np.arange(len(first_rows))
    return np.asarray(place[inverse])


def _check_length(argument: str, labels: Any, given: Any, n_rows: int) -> None:
    shape = getattr(labels, "shape", (len(labels),))
    if len(shape) != 1 or shape[0] != n_rows:
        found = f"shape {shape}" if len(shape) != 1 else counted(shape[0], "label")
        found = found if len(shape) else described(given)
        raise ValueError(f"{argument} must have one label per row, {counted(n_rows, 'row')}; got {found}")
