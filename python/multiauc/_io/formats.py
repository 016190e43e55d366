"""Columns of files, read by name; only the columns asked for are read."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.lib.format import MAGIC_PREFIX, read_array
from pyarrow import feather, ipc, parquet

from multiauc._io.columns import codes_and_texts, side_by_side
from multiauc._io.content import ARROW_FILE, Content, content_of, format_of
from multiauc._io.damage import PARQUET_OPTIONS, refuse_other_batches
from multiauc._io.delimited import DelimitedFile
from multiauc._io.problems import NoRowsError, as_argument, reading, reason

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


class DataFile(Protocol):
    """A file with named columns.

    Attributes
    ----------
    content
        Its bytes.
    path
        What messages call it.
    names
        Its columns.
    """

    content: Content
    path: str
    names: list[str]

    def texts(self, name: str, *, may_be_missing: bool = False) -> tuple[NDArray[Any], list[str | None]]:
        """A column as text: the position of each row's text among the distinct texts; None stands for a missing one."""

    def numbers(self, names: list[str]) -> NDArray[np.float32] | NDArray[np.float64]:
        """Columns of finite numbers side by side, a 2-D array."""


def open_file(
    path: str,
    chosen: str | None = None,
    delimiter: str | None = None,
    spelled: Callable[..., str] = as_argument,
) -> DataFile:
    """The file at `path`.

    Its format is the chosen one, or told by its name, or in a pipe by how it begins; the sign between the cells of a
    text is the given one, or told by its first lines. `spelled` is how messages name the options that say so.
    """
    content = content_of(path)
    kind = format_of(content, chosen, spelled)
    file: DataFile
    if kind == "npz":
        file = NpzFile(content)
    else:
        delimited = kind in {"csv", "tsv"}
        file = DelimitedFile(content, kind, delimiter) if delimited else ColumnarFile(content, kind)
    if not file.names:
        raise ValueError(f"{file.path}: there are no {'arrays' if kind == 'npz' else 'columns'} in it")
    return file


class ColumnarFile:
    """A Parquet or Arrow file, which knows the types of its columns."""

    def __init__(self, content: Content, kind: str) -> None:
        self.content = content
        self.path = content.name
        self._kind = kind
        with reading(self.path, kind):
            if kind == "parquet":
                self.names = list(parquet.read_schema(content.source()).names)
                return
            self._is_stream = content.beginning(len(ARROW_FILE)) != ARROW_FILE
            if self._is_stream:
                with content.open() as source, ipc.open_stream(source) as stream:
                    self.names = list(stream.schema.names)
            else:
                with pa.memory_map(content.path) if content.data is None else content.open() as source:
                    file = ipc.open_file(source)
                    self.names = list(file.schema.names)
                    refuse_other_batches(source, file)

    def _read(self, names: list[str]) -> Any:
        with reading(self.path, self._kind):
            table = self._columns(names)
            # Arrow trusts the offsets that it reads: using wrong ones would end the process.
            table.validate(full=True)
            return table

    def _columns(self, names: list[str]) -> Any:
        if self._kind == "parquet":
            # A folder called y=3 says nothing about a column y.
            return parquet.read_table(self.content.source(), columns=names, partitioning=None, **PARQUET_OPTIONS)
        if not self._is_stream:
            return feather.read_table(self.content.source(), columns=names)
        with self.content.open() as source, ipc.open_stream(source) as stream:
            return stream.read_all().select(names)

    def texts(self, name: str, *, may_be_missing: bool = False) -> tuple[NDArray[Any], list[str | None]]:
        """See `DataFile`."""
        return codes_and_texts(self.path, name, self._read([name]).column(name), may_be_missing=may_be_missing)

    def numbers(self, names: list[str]) -> NDArray[np.float32] | NDArray[np.float64]:
        """See `DataFile`."""
        table = self._read(names)
        return side_by_side(self.path, [(name, table.column(name)) for name in names])


class NpzFile:
    """Arrays of a NumPy archive: one-dimensional ones are columns, a two-dimensional one holds all scores.

    An array is read when it is asked for.
    """

    def __init__(self, content: Content) -> None:
        self.content = content
        self.path = content.name
        with reading(self.path, "npz"):
            if content.beginning(len(MAGIC_PREFIX)) == MAGIC_PREFIX:
                raise ValueError("it holds one array without a name")
            with zipfile.ZipFile(content.source()) as archive:
                self.names = [name.removesuffix(".npy") for name in archive.namelist()]

    def texts(self, name: str, *, may_be_missing: bool = False) -> tuple[NDArray[Any], list[str | None]]:
        """See `DataFile`."""
        column = self._column(name, self._array(name))
        return codes_and_texts(self.path, name, column, may_be_missing=may_be_missing)

    def numbers(self, names: list[str]) -> NDArray[np.float32] | NDArray[np.float64]:
        """See `DataFile`; a single two-dimensional array is taken whole."""
        arrays = [self._array(name) for name in names]
        if len(names) > 1 or arrays[0].ndim != 2:
            columns = zip(names, arrays, strict=True)
            return side_by_side(self.path, [(name, self._column(name, array)) for name, array in columns])
        (matrix,) = arrays
        if matrix.dtype.kind not in "fiub":
            raise ValueError(f"{self.path}: array {names[0]!r} must hold numbers; it holds {matrix.dtype}")
        if matrix.shape[0] == 0:
            raise NoRowsError(f"{self.path}: there are no rows in array {names[0]!r}, whose shape is {matrix.shape}")
        if matrix.shape[1] == 0:
            raise ValueError(f"{self.path}: there are no columns in array {names[0]!r}, whose shape is {matrix.shape}")
        single = matrix.dtype in (np.float16, np.float32)
        values: NDArray[Any] = matrix.astype(np.float32 if single else np.float64, copy=False)
        wrong = np.argwhere(~np.isfinite(values))
        if len(wrong):
            row, column = wrong[0].tolist()
            where = f"array {names[0]!r}, column {column + 1}, row {row + 1}"
            raise ValueError(f"{self.path}: {where}: {values[row, column]} is not a finite number")
        return values

    def _array(self, name: str) -> NDArray[Any]:
        try:
            with zipfile.ZipFile(self.content.source()) as archive:
                if f"{name}.npy" not in archive.namelist():
                    raise ValueError("it is not an array")  # noqa: TRY301
                with archive.open(f"{name}.npy") as member:
                    array: NDArray[Any] = read_array(member, allow_pickle=False)
        except Exception as error:  # noqa: BLE001 - as in `reading`
            if "Object arrays" in str(error):
                problem = f"array {name!r} holds Python objects; save it as numbers or text"
                raise ValueError(f"{self.path}: {problem}") from None
            raise ValueError(f"{self.path}: array {name!r} cannot be read: {reason(error)}") from None
        return array

    def _column(self, name: str, array: NDArray[Any]) -> Any:
        """A one-dimensional array as a column of Arrow."""
        if array.ndim != 1:
            raise ValueError(f"{self.path}: array {name!r} must have one dimension; it has shape {array.shape}")
        try:
            return pa.chunked_array([pa.array(array)])
        except pa.ArrowException:
            problem = f"array {name!r} must hold numbers or text; it holds {array.dtype}"
            raise ValueError(f"{self.path}: {problem}") from None
