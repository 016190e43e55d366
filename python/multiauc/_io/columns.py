"""Columns of Arrow tables as arrays; what is wrong in a column is named by file, column and row."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from multiauc._common.hints import warn
from multiauc._common.wording import pluralize
from multiauc._input.columns import explain_no_number, parse_number, to_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

NUMERIC = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal)
LISTS = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)

# Of fewer rows none can be said to differ from the others.
FEWEST_ROWS = 20
# The share of rows that must sum to 1, how far they may be from it, and how many times as far others must be.
MOST = 0.9
FAR = 1e-3
TIMES = 8.0
# Less is no damage that matters: the scores of a row that were rounded otherwise than those of the others.
NEAR = 1e-6
DIGITS = 6


class Piece(NamedTuple):
    """Some rows.

    Attributes
    ----------
    first
        The number of rows before them.
    table
        Their columns.
    share
        How much of all rows has been read with them, from 0 to 1; None where that is not known.
    """

    first: int
    table: Any
    share: float | None


def encode_texts(
    path: str, name: str, column: Any, *, before: int = 0, may_be_missing: bool = False
) -> tuple[NDArray[Any], list[str | None]]:
    """For each row the position of its text among the distinct texts of a column, and these; None if it is missing.

    `before` is the number of rows of the file that come before these.
    """
    if not may_be_missing:
        refuse_missing(path, name, column, before)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    try:
        encoded = column.dictionary_encode(null_encoding="encode").combine_chunks()
    except pa.ArrowException:
        raise ValueError(f"{path}: column {name!r} holds {column.type}, not labels") from None
    values = encoded.dictionary.to_pylist()
    if may_be_missing:
        values = [None if isinstance(value, float) and math.isnan(value) else value for value in values]
    return encoded.indices.to_numpy(), [None if value is None else to_text(value) for value in values]


def is_single(kind: Any) -> bool:
    """Whether numbers of this type, or in lists of this type, are kept as float32."""
    kind = stored_type(kind)
    kind = kind.value_type if holds_lists(kind) else kind
    return bool(pa.types.is_float32(kind) or pa.types.is_float16(kind))


def stack_numbers(
    path: str, columns: list[tuple[str, Any]], *, before: int = 0, single: bool
) -> NDArray[np.float32] | NDArray[np.float64]:
    """Named columns of finite numbers as one 2-D array of float32 if `single`, otherwise of float64.

    `before` is as in `encode_texts`.
    """
    for name, column in columns:
        refuse_text(path, name, column, before)
        refuse_missing(path, name, column, before)
    kind = pa.float32() if single else pa.float64()
    values = np.empty((len(columns[0][1]), len(columns)), dtype=kind.to_pandas_dtype(), order="F")
    for k, (name, column) in enumerate(columns):
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
            parse_number(value)
        except (TypeError, ValueError):
            where = f"{path}: column {name!r}, row {before + row + 1}"
            raise ValueError(f"{where}: {explain_no_number(value)}") from None
    if not pa.types.is_string(kind):
        raise ValueError(f"{path}: column {name!r} holds {kind}, not numbers")


def holds_numbers(column: Any) -> bool:
    """Whether the cells of a column, or those that are not missing, are numbers or texts that are numbers."""
    try:
        refuse_text("", "", column.drop_null())
    except ValueError:
        return False
    return column.null_count < len(column) and not pa.types.is_boolean(column.type)


def refuse_missing(path: str, name: str, column: Any, before: int = 0) -> None:
    """Raise, naming the row, if a value of a column is missing."""
    if column.null_count:
        row = pc.index(pc.is_null(column), value=True).as_py()
        raise ValueError(f"{path}: column {name!r}, row {before + row + 1}: the value is missing")


def stored_type(kind: Any) -> Any:
    """The type that the cells of a column are stored as: that of tensors, which are an extension of Arrow, is lists."""
    return kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind


def holds_lists(kind: Any) -> bool:
    """Whether the cells of a column of this type are lists or tensors."""
    return any(is_kind(stored_type(kind)) for is_kind in LISTS)


def spread_lists(path: str, name: str, column: Any, width: int, *, before: int = 0) -> list[tuple[str, Any]]:
    """A column of lists, one score per class, as a named column per class."""
    kind = stored_type(column.type)
    if kind != column.type:
        column = pa.chunked_array([chunk.storage for chunk in column.chunks], type=kind)
    if not any(is_kind(kind.value_type) for is_kind in NUMERIC):
        raise ValueError(f"{path}: column {name!r} holds {kind}, not lists of numbers")
    refuse_missing(path, name, column, before)
    lengths = pc.list_value_length(column)
    row = pc.index(pc.not_equal(lengths, width), value=True).as_py()
    if row >= 0:
        found = f"{pluralize(lengths[row].as_py(), 'score')} for {width} classes"
        raise ValueError(f"{path}: column {name!r}, row {before + row + 1}: {found}")
    cells = pc.list_flatten(column)
    if cells.null_count:
        row, place = divmod(pc.index(pc.is_null(cells), value=True).as_py(), width)
        raise ValueError(f"{path}: column {name!r}, row {before + row + 1}: score {place + 1} of {width} is missing")
    scores = cells.to_numpy().reshape(-1, width)
    return [(f"{name}[{k}]", pa.chunked_array([np.ascontiguousarray(scores[:, k])])) for k in range(width)]


def warn_of_odd_row(path: str, scores: NDArray[Any], before: int) -> None:
    """Say that a row may be damaged whose scores do not sum to 1, where those of most rows do."""
    if scores.shape[1] < 2 or len(scores) < FEWEST_ROWS:
        return
    with np.errstate(over="ignore", invalid="ignore"):
        far = np.abs(scores.sum(axis=1, dtype=np.float64) - 1.0)
        typical = float(np.quantile(far, MOST))
    if not typical <= FAR:
        return
    odd = np.flatnonzero(~(far <= max(TIMES * typical, NEAR)) | (scores < 0).any(axis=1))
    odd = odd[~_are_rounded(scores[odd], far[odd])]
    if not len(odd):
        return
    row = scores[odd[0]]
    found = "one is negative" if (row < 0).any() else f"they sum to {row.sum(dtype=np.float64):.6g}"
    others = "" if len(odd) == 1 else f" ({len(odd)} rows are like that)"
    warn(
        f"{path}: row {before + odd[0] + 1}: the scores of nearly all rows are probabilities that sum to 1, and of "
        f"these {found}{others}; is the file damaged?",
        RuntimeWarning,
    )


def _are_rounded(scores: NDArray[Any], far: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether rows are decimals so short that rounding explains how far their sums are from 1."""
    found = np.zeros(len(scores), dtype=bool)
    near = 4.0 * np.finfo(np.float32).eps  # also of doubles, which may have been singles before
    for digits in range(1, DIGITS + 1):
        with np.errstate(over="ignore", invalid="ignore"):
            are_short = (np.abs(scores - np.round(scores, digits)) <= near).all(axis=1)
        found |= are_short & (far <= scores.shape[1] * (0.5 * 10.0**-digits + near))
    return found
