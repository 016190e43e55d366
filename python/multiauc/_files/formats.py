"""Columns of CSV, Parquet, Arrow and NPZ files, read by name; only the columns asked for are read."""

from __future__ import annotations

import csv as plain_csv
import gzip
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa
from pyarrow import csv, feather, ipc, parquet

from multiauc._files.columns import codes_and_texts, refuse_text, side_by_side
from multiauc._wording import counted

if TYPE_CHECKING:
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
        raise ValueError(f"{path}: there is no such file")
    name = Path(path).name.lower()
    kind = next((kind for ending, kind in FORMATS.items() if name.endswith(ending)), None)
    if kind is None:
        raise ValueError(f"{path}: not a known kind of file; names may end in {', '.join(FORMATS)}")
    try:
        if kind == "npz":
            return NpzFile(path)
        return CsvFile(path) if kind == "csv" else ColumnarFile(path, kind)
    except (pa.ArrowException, OSError, ValueError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path}: cannot be read as {kind}: {_first_line(error)}") from None


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
        return codes_and_texts(self.path, name, self._read([name]).column(name))

    def numbers(self, names: list[str]) -> NDArray[np.float32] | NDArray[np.float64]:
        """See `DataFile`."""
        table = self._read(names)
        return side_by_side(self.path, [(name, table.column(name)) for name in names])


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
                raise ValueError(f"{self.path}: row {odd[0].number - 1}: {cells}") from None
            raise

    def _read_or_explain(self, types: dict[str, Any]) -> Any:
        try:
            return self._read(types)
        except pa.ArrowInvalid as error:
            raise ValueError(f"{self.path}: {_first_line(error)}") from None

    def texts(self, name: str) -> tuple[NDArray[Any], list[str]]:
        """See `DataFile`. Everything is text here: 01 stays 01."""
        return codes_and_texts(self.path, name, self._read_or_explain({name: pa.string()}).column(name))

    def numbers(self, names: list[str]) -> NDArray[np.float32] | NDArray[np.float64]:
        """See `DataFile`."""
        try:
            table = self._read(dict.fromkeys(names, pa.float64()))
        except pa.ArrowInvalid:
            # Read again as text, to say where the trouble is.
            table = self._read_or_explain(dict.fromkeys(names, pa.string()))
            for name in names:
                refuse_text(self.path, name, table.column(name))
            raise
        return side_by_side(self.path, [(name, table.column(name)) for name in names])


class NpzFile:
    """Arrays of a NumPy archive: one-dimensional ones are columns, a two-dimensional one holds all scores."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._archive = np.load(path, allow_pickle=False)
        if not isinstance(self._archive, np.lib.npyio.NpzFile):
            raise ValueError("it holds one array without a name")  # noqa: TRY004 - about the file, not an argument
        self.names = list(self._archive.files)

    def texts(self, name: str) -> tuple[NDArray[Any], list[str]]:
        """See `DataFile`."""
        return codes_and_texts(self.path, name, self._column(name, self._array(name)))

    def numbers(self, names: list[str]) -> NDArray[np.float32] | NDArray[np.float64]:
        """See `DataFile`; a single two-dimensional array is taken whole."""
        arrays = [self._array(name) for name in names]
        if len(names) > 1 or arrays[0].ndim != 2:
            columns = zip(names, arrays, strict=True)
            return side_by_side(self.path, [(name, self._column(name, array)) for name, array in columns])
        (matrix,) = arrays
        if matrix.dtype.kind not in "fiub":
            raise ValueError(f"{self.path}: array {names[0]!r} must hold numbers; it holds {matrix.dtype}")
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
            array: NDArray[Any] = self._archive[name]
        except ValueError:
            raise ValueError(f"{self.path}: array {name!r} holds Python objects; save it as numbers or text") from None
        except (OSError, zipfile.BadZipFile, zlib.error) as error:
            raise ValueError(f"{self.path}: array {name!r} cannot be read: {_first_line(error)}") from None
        return array

    def _column(self, name: str, array: NDArray[Any]) -> Any:
        """A one-dimensional array as a column of Arrow."""
        if array.ndim != 1:
            raise ValueError(f"{self.path}: array {name!r} must have one dimension; it has shape {array.shape}")
        return pa.chunked_array([pa.array(array)])


def _first_line(error: Exception) -> str:
    return str(error).split("\n", 1)[0]
