"""Columns of Arrow tables as arrays; what is wrong in a column is named by file, column and row."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from multiauc import _rust
from multiauc._common.hints import warn
from multiauc._common.wording import pluralize
from multiauc._input.columns import explain_no_number, parse_number, to_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

NUMERIC = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal)
LISTS = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)


class Piece(NamedTuple):
    """Some rows.

    Attributes
    ----------
    path
        What messages call the file that has them.
    table
        Their columns.
    first
        The number of rows before them.
    share
        How much of all rows has been read with them, from 0 to 1; None where that is not known.
    """

    path: str
    table: Any
    first: int = 0
    share: float | None = None

    def column(self, name: str) -> Column:
        """The column of this name."""
        return Column(self.path, name, self.table.column(name), self.first)

    def stack_numbers(self, names: list[str], *, single: bool = False) -> NDArray[np.float32] | NDArray[np.float64]:
        """Columns of finite numbers as one 2-D array, see `stack_numbers`."""
        return stack_numbers([self.column(name) for name in names], single=single)


class Column(NamedTuple):
    """A column of some rows of a file.

    Attributes
    ----------
    path
        What messages call the file.
    name
        That of the column.
    cells
        An array of Arrow.
    before
        The number of rows of the file that come before these.
    """

    path: str
    name: str
    cells: Any
    before: int = 0

    def at(self, row: int) -> str:
        """Where a cell is, in words."""
        return f"{self.path}: column {self.name!r}, row {self.before + row + 1}"

    def refuse_missing(self) -> None:
        """Raise, naming the row, if a value is missing."""
        if self.cells.null_count:
            row = pc.index(pc.is_null(self.cells), value=True).as_py()
            raise ValueError(f"{self.at(row)}: the value is missing")

    def refuse_text(self) -> None:
        """Raise, naming the row, if there is anything but numbers or texts that are numbers."""
        kind = self.cells.type
        if any(is_kind(kind) for is_kind in NUMERIC):
            return
        for row, value in enumerate(self.cells.to_pylist()):
            try:
                parse_number(value)
            except (TypeError, ValueError):
                raise ValueError(f"{self.at(row)}: {explain_no_number(value)}") from None
        if not pa.types.is_string(kind):
            raise ValueError(f"{self.path}: column {self.name!r} holds {kind}, not numbers")

    def holds_numbers(self) -> bool:
        """Whether the cells, or those that are not missing, are numbers or texts that are numbers."""
        try:
            self._replace(cells=self.cells.drop_null()).refuse_text()
        except ValueError:
            return False
        return self.cells.null_count < len(self.cells) and not pa.types.is_boolean(self.cells.type)

    def encode(self, *, may_be_missing: bool = False) -> tuple[NDArray[Any], list[str | None]]:
        """For each row the position of its text among the distinct texts, and these; None if it is missing."""
        if not may_be_missing:
            self.refuse_missing()
        cells = self.cells
        if pa.types.is_dictionary(cells.type):
            cells = cells.cast(cells.type.value_type)
        try:
            encoded = cells.dictionary_encode(null_encoding="encode").combine_chunks()
        except pa.ArrowException:
            raise ValueError(f"{self.path}: column {self.name!r} holds {cells.type}, not labels") from None
        values = encoded.dictionary.to_pylist()
        if may_be_missing:
            values = [None if isinstance(value, float) and math.isnan(value) else value for value in values]
        return encoded.indices.to_numpy(), [None if value is None else to_text(value) for value in values]

    def spread(self, width: int) -> list[Column]:
        """Lists, one score per class, as a column per class."""
        cells, kind = self.cells, stored_type(self.cells.type)
        if kind != cells.type:
            cells = pa.chunked_array([chunk.storage for chunk in cells.chunks], type=kind)
        if not any(is_kind(kind.value_type) for is_kind in NUMERIC):
            raise ValueError(f"{self.path}: column {self.name!r} holds {kind}, not lists of numbers")
        self.refuse_missing()
        lengths = pc.list_value_length(cells)
        row = pc.index(pc.not_equal(lengths, width), value=True).as_py()
        if row >= 0:
            raise ValueError(f"{self.at(row)}: {pluralize(lengths[row].as_py(), 'score')} for {width} classes")
        cells = pc.list_flatten(cells)
        if cells.null_count:
            row, place = divmod(pc.index(pc.is_null(cells), value=True).as_py(), width)
            raise ValueError(f"{self.at(row)}: score {place + 1} of {width} is missing")
        scores = np.ascontiguousarray(cells.to_numpy().reshape(-1, width).T)
        parts = [pa.chunked_array([score]) for score in scores]
        return [self._replace(name=f"{self.name}[{k}]", cells=part) for k, part in enumerate(parts)]


def stack_numbers(columns: list[Column], *, single: bool) -> NDArray[np.float32] | NDArray[np.float64]:
    """Columns of finite numbers as one 2-D array of float32 if `single`, otherwise of float64."""
    for column in columns:
        column.refuse_text()
        column.refuse_missing()
    kind = pa.float32() if single else pa.float64()
    values = np.empty((len(columns[0].cells), len(columns)), dtype=kind.to_pandas_dtype(), order="F")
    for k, column in enumerate(columns):
        try:
            values[:, k] = column.cells.cast(kind).to_numpy()
        except pa.ArrowInvalid as error:  # such as an integer that no float equals
            raise ValueError(f"{column.path}: column {column.name!r}: {error}") from None
        is_finite = np.isfinite(values[:, k])
        if not is_finite.all():
            row = int(np.argmin(is_finite))
            raise ValueError(f"{column.at(row)}: {values[row, k]} is not a finite number")
    return values


def stored_type(kind: Any) -> Any:
    """The type that the cells of a column are stored as: that of tensors, which are an extension of Arrow, is lists."""
    return kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind


def holds_lists(kind: Any) -> bool:
    """Whether the cells of a column of this type are lists or tensors."""
    return any(is_kind(stored_type(kind)) for is_kind in LISTS)


def is_single(kind: Any) -> bool:
    """Whether numbers of this type, or in lists of this type, are kept as float32."""
    kind = stored_type(kind)
    kind = kind.value_type if holds_lists(kind) else kind
    return bool(pa.types.is_float32(kind) or pa.types.is_float16(kind))


def warn_of_odd_row(path: str, scores: NDArray[Any], before: int) -> None:
    """Say that a row may be damaged whose scores do not sum to 1, where those of most rows do."""
    odd = _rust.find_odd_rows(scores)
    if odd is None:
        return
    row, total, is_negative, count = odd
    found = "one is negative" if is_negative else f"they sum to {total:.6g}"
    others = "" if count == 1 else f" ({count} rows are like that)"
    warn(
        f"{path}: row {before + row + 1}: the scores of nearly all rows are probabilities that sum to 1, and of these "
        f"{found}{others}; is the file damaged?",
        RuntimeWarning,
    )
