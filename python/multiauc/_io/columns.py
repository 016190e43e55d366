"""Columns of Arrow tables as arrays; what is wrong in a column is named by file, column and row."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from multiauc._io.cells import plain_number, why_no_number
from multiauc._io.problems import NoRowsError

if TYPE_CHECKING:
    from numpy.typing import NDArray

NUMERIC = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal)


def codes_and_texts(
    path: str, name: str, column: Any, *, before: int = 0, may_be_missing: bool = False
) -> tuple[NDArray[Any], list[str | None]]:
    """The distinct texts of a column, and for each row the position of its text among them; None if it is missing.

    `before` is the number of rows of the file that come before these.
    """
    if not may_be_missing:
        refuse_missing(path, name, column, before)
    if len(column) == 0:
        raise NoRowsError(f"{path}: there are no rows")
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    try:
        encoded = column.dictionary_encode(null_encoding="encode").combine_chunks()
    except pa.ArrowException:
        raise ValueError(f"{path}: column {name!r} holds {column.type}, not labels") from None
    values = encoded.dictionary.to_pylist()
    if may_be_missing:
        values = [None if isinstance(value, float) and math.isnan(value) else value for value in values]
    return encoded.indices.to_numpy(), [None if value is None else as_text(value) for value in values]


def as_text(value: Any) -> str:
    """Labels compare by what one would write: 3.0, which is how data frames keep integers beside gaps, is 3."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def is_single(kind: Any) -> bool:
    """Whether numbers of this type are kept as float32."""
    return bool(pa.types.is_float32(kind) or pa.types.is_float16(kind))


def side_by_side(
    path: str, columns: list[tuple[str, Any]], *, before: int = 0, single: bool | None = None
) -> NDArray[np.float32] | NDArray[np.float64]:
    """Named columns of finite numbers as one 2-D array: float32 if all of them are, otherwise float64.

    `single` says so for columns of which these are a part; `before` is as in `codes_and_texts`.
    """
    for name, column in columns:
        if len(column) == 0:
            raise NoRowsError(f"{path}: there are no rows")
        refuse_text(path, name, column, before)
        refuse_missing(path, name, column, before)
    if single is None:
        single = all(is_single(column.type) for _, column in columns)
    kind = pa.float32() if single else pa.float64()
    first = len(columns[0][1])
    values = np.empty((first, len(columns)), dtype=kind.to_pandas_dtype(), order="F")
    for k, (name, column) in enumerate(columns):
        if len(column) != first:
            raise ValueError(f"{path}: column {name!r} has {len(column)} rows, column {columns[0][0]!r} has {first}")
        try:
            values[:, k] = column.cast(kind).to_numpy()
        except pa.ArrowInvalid as error:  # such as an integer that no float equals
            raise ValueError(f"{path}: column {name!r}: {error}") from None
        if not np.isfinite(values[:, k]).all():
            row = int(np.argmin(np.isfinite(values[:, k])))
            where = f"{path}: column {name!r}, row {before + row + 1}"
            raise ValueError(f"{where}: {values[row, k]} is not a finite number")
    return values


def refuse_text(path: str, name: str, column: Any, before: int = 0) -> None:
    """Raise, naming the row, if a column holds anything but numbers or texts that are numbers."""
    kind = column.type
    if any(is_kind(kind) for is_kind in NUMERIC):
        return
    for row, value in enumerate(column.to_pylist()):
        try:
            plain_number(value)
        except (TypeError, ValueError):
            where = f"{path}: column {name!r}, row {before + row + 1}"
            raise ValueError(f"{where}: {why_no_number(value)}") from None
    if not pa.types.is_string(kind):
        raise ValueError(f"{path}: column {name!r} holds {kind}, not numbers")


def refuse_missing(path: str, name: str, column: Any, before: int = 0) -> None:
    """Raise, naming the row, if a value of a column is missing."""
    if column.null_count:
        row = pc.index(pc.is_null(column), value=True).as_py()
        raise ValueError(f"{path}: column {name!r}, row {before + row + 1}: the value is missing")
