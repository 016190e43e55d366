"""Columns of CSV, Parquet, Arrow and NPZ files, read by name; only the columns asked for are read."""

from __future__ import annotations

import csv as plain_csv
import gzip
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv, feather, ipc, parquet

from multiauc._wording import counted, listing
from multiauc.cli._problems import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".csv.gz": "csv",
    ".tsv.gz": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "arrow",
    ".arrow": "arrow",
    ".ipc": "arrow",
    ".npz": "npz",
}

NUMERIC = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal)


class DataFile(Protocol):
    """A file with named columns."""

    path: str
    names: list[str]

    def texts(self, name: str) -> tuple[NDArray[Any], list[str]]:
        """A column as text: the position of each row's text among the distinct texts."""

    def numbers(self, names: list[str]) -> NDArray[np.float32] | NDArray[np.float64]:
        """Columns of finite numbers side by side, a 2-D array."""


def open_file(path: str) -> DataFile:
    """The file at `path`, its format told by its name."""
    if not Path(path).is_file():
        raise Problem(f"{path}: there is no such file")
    name = Path(path).name.lower()
    kind = next((kind for ending, kind in FORMATS.items() if name.endswith(ending)), None)
    if kind is None:
        raise Problem(f"{path}: not a known kind of file; names may end in {', '.join(FORMATS)}")
    try:
        if kind == "npz":
            return NpzFile(path)
        return CsvFile(path) if kind == "csv" else ColumnarFile(path, kind)
    except (pa.ArrowException, OSError, ValueError, zipfile.BadZipFile) as error:
        raise Problem(f"{path}: cannot be read as {kind}: {_first_line(error)}") from None


def require(file: DataFile, names: Iterable[str], option: str) -> None:
    """Raise unless the file has all columns."""
    for name in names:
        if name not in file.names:
            raise Problem(f"{file.path}: no column {name!r} ({option}); it has {listing(file.names)}")


class ColumnarFile:
    """A Parquet or Arrow file, which knows the types of its columns."""

    def __init__(self, path: str, kind: str) -> None:
        self.path = path
        self._kind = kind
        if kind == "parquet":
            self.names = list(parquet.read_schema(path).names)
        else:
            with pa.memory_map(path) as source:
                self.names = list(ipc.open_file(source).schema.names)

    def _read(self, names: list[str]) -> Any:
        reader = parquet.read_table if self._kind == "parquet" else feather.read_table
        return reader(self.path, columns=names)

    def texts(self, name: str) -> tuple[NDArray[Any], list[str]]:
        """See `DataFile`."""
        return _encoded(self.path, name, self._read([name]).column(name))

    def numbers(self, names: list[str]) -> NDArray[np.float32] | NDArray[np.float64]:
        """See `DataFile`."""
        table = self._read(names)
        return _side_by_side(self.path, [(name, table.column(name)) for name in names])


class CsvFile:
    """Comma-separated values (tabs in a .tsv) under a header."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._delimiter = "\t" if ".tsv" in Path(path).name.lower() else ","
        text: Any = gzip.open if path.lower().endswith(".gz") else open
        with text(path, "rt", encoding="utf-8-sig", newline="") as file:
            self.names = next(plain_csv.reader(file, delimiter=self._delimiter), [])
        if not self.names:
            raise ValueError("there is no header")

    def _read(self, types: dict[str, Any], *, use_threads: bool = True) -> Any:
        odd: list[Any] = []

        def refuse(row: Any) -> str:
            odd.append(row)
            return "error"

        parse = csv.ParseOptions(delimiter=self._delimiter, invalid_row_handler=refuse)
        convert = csv.ConvertOptions(
            include_columns=list(types), column_types=types, strings_can_be_null=True, null_values=[""]
        )
        reading = csv.ReadOptions(use_threads=use_threads)
        try:
            return csv.read_csv(self.path, reading, parse, convert)
        except pa.ArrowInvalid:
            if odd and odd[0].number is None:
                # Threads do not know which row they are at: once more without.
                return self._read(types, use_threads=False)
            if odd:
                # Arrow counts the header as a row.
                cells = f"{counted(odd[0].actual_columns, 'cell')} where the header has {odd[0].expected_columns}"
                raise Problem(f"{self.path}: row {odd[0].number - 1}: {cells}") from None
            raise

    def _read_or_explain(self, types: dict[str, Any]) -> Any:
        try:
            return self._read(types)
        except pa.ArrowInvalid as error:
            raise Problem(f"{self.path}: {_first_line(error)}") from None

    def texts(self, name: str) -> tuple[NDArray[Any], list[str]]:
        """See `DataFile`. Everything is text here: 01 stays 01."""
        return _encoded(self.path, name, self._read_or_explain({name: pa.string()}).column(name))

    def numbers(self, names: list[str]) -> NDArray[np.float32] | NDArray[np.float64]:
        """See `DataFile`."""
        try:
            table = self._read(dict.fromkeys(names, pa.float64()))
        except pa.ArrowInvalid:
            # Read again as text, to say where the trouble is.
            table = self._read_or_explain(dict.fromkeys(names, pa.string()))
            for name in names:
                _refuse_text(self.path, name, table.column(name))
            raise
        return _side_by_side(self.path, [(name, table.column(name)) for name in names])


class NpzFile:
    """Arrays of a NumPy archive: one-dimensional ones are columns, the columns of a matrix are ``name[0]``, ..."""

    def __init__(self, path: str) -> None:
        self.path = path
        with np.load(path, allow_pickle=False) as archive:
            self._arrays = {}
            for name in archive.files:
                try:
                    self._arrays[name] = archive[name]
                except ValueError:
                    raise Problem(f"{path}: array {name!r} holds Python objects; save it as numbers or text") from None
        self.names = list(self._arrays)

    def matrix(self, name: str) -> NDArray[Any] | None:
        """The array of that name if it is two-dimensional."""
        array = self._arrays[name]
        return array if array.ndim == 2 else None

    def texts(self, name: str) -> tuple[NDArray[Any], list[str]]:
        """See `DataFile`."""
        return _encoded(self.path, name, pa.chunked_array([pa.array(self._one_dimensional(name))]))

    def numbers(self, names: list[str]) -> NDArray[np.float32] | NDArray[np.float64]:
        """See `DataFile`; a single two-dimensional array is taken whole."""
        matrix = self.matrix(names[0]) if len(names) == 1 else None
        if matrix is None:
            columns = [(name, pa.chunked_array([pa.array(self._one_dimensional(name))])) for name in names]
            return _side_by_side(self.path, columns)
        if matrix.dtype.kind not in "fiub":
            raise Problem(f"{self.path}: array {names[0]!r} must hold numbers; it holds {matrix.dtype}")
        single = matrix.dtype in (np.float16, np.float32)
        values: NDArray[Any] = matrix.astype(np.float32 if single else np.float64, copy=False)
        wrong = np.argwhere(~np.isfinite(values))
        if len(wrong):
            row, column = wrong[0].tolist()
            where = f"array {names[0]!r}, column {column + 1}, row {row + 1}"
            raise Problem(f"{self.path}: {where}: {values[row, column]} is not a finite number")
        return values

    def _one_dimensional(self, name: str) -> NDArray[Any]:
        array: NDArray[Any] = self._arrays[name]
        if array.ndim != 1:
            raise Problem(f"{self.path}: array {name!r} must have one dimension; it has shape {array.shape}")
        return array


def _encoded(path: str, name: str, column: Any) -> tuple[NDArray[Any], list[str]]:
    """Codes and distinct texts of an Arrow column; a missing value is refused with its row."""
    if column.null_count:
        row = pc.index(pc.is_null(column), value=True).as_py()
        raise Problem(f"{path}: column {name!r}, row {row + 1}: the value is missing")
    if len(column) == 0:
        raise Problem(f"{path}: there are no rows")
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    encoded = column.dictionary_encode().combine_chunks()
    codes, texts = encoded.indices.to_numpy(), [_as_text(value) for value in encoded.dictionary.to_pylist()]
    return codes, texts


def _as_text(value: Any) -> str:
    """Labels compare by what one would write: 3.0, which is how data frames keep integers beside gaps, is 3."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _side_by_side(path: str, columns: list[tuple[str, Any]]) -> NDArray[np.float32] | NDArray[np.float64]:
    for name, column in columns:
        if len(column) == 0:
            raise Problem(f"{path}: there are no rows")
        _refuse_text(path, name, column)
        if column.null_count:
            row = pc.index(pc.is_null(column), value=True).as_py()
            raise Problem(f"{path}: column {name!r}, row {row + 1}: the value is missing")
    single = all(pa.types.is_float32(column.type) or pa.types.is_float16(column.type) for _, column in columns)
    kind = pa.float32() if single else pa.float64()
    first = len(columns[0][1])
    values = np.empty((first, len(columns)), dtype=kind.to_pandas_dtype(), order="F")
    for k, (name, column) in enumerate(columns):
        if len(column) != first:
            raise Problem(f"{path}: column {name!r} has {len(column)} rows, column {columns[0][0]!r} has {first}")
        values[:, k] = column.cast(kind).to_numpy()
        if not np.isfinite(values[:, k]).all():
            row = int(np.argmin(np.isfinite(values[:, k])))
            raise Problem(f"{path}: column {name!r}, row {row + 1}: {values[row, k]} is not a finite number")
    return values


def _refuse_text(path: str, name: str, column: Any) -> None:
    kind = column.type
    if (
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_decimal(kind)
    ):
        return
    for row, value in enumerate(column.to_pylist()):
        try:
            float(value)
        except (TypeError, ValueError):
            shown = "the value is missing" if value is None else f"{value!r} is not a number"
            raise Problem(f"{path}: column {name!r}, row {row + 1}: {shown}") from None
    if not pa.types.is_string(kind):
        raise Problem(f"{path}: column {name!r} holds {kind}, not numbers")


def _first_line(error: Exception) -> str:
    return str(error).split("\n", 1)[0]
