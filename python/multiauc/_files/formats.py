"""Columns of CSV, Parquet, Arrow and NPZ files, read by name; only the columns asked for are read."""

from __future__ import annotations

import csv as plain_csv
import gzip
import zipfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.lib.format import MAGIC_PREFIX, read_array
from pyarrow import csv, feather, ipc, parquet

from multiauc._files.columns import codes_and_texts, side_by_side
from multiauc._wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

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


class RowError(ValueError):
    """What is wrong in a row of a file, which is named."""


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
    if kind == "npz":
        return NpzFile(path)
    return CsvFile(path) if kind == "csv" else ColumnarFile(path, kind)


@contextmanager
def _reading(path: str, kind: str) -> Iterator[None]:
    """Say which file it is that a library cannot read."""
    try:
        yield
    except RowError:
        raise
    except Exception as error:  # noqa: BLE001 - about a damaged file the libraries raise anything
        raise ValueError(f"{path}: cannot be read as {kind}: {_reason(error)}") from None


class ColumnarFile:
    """A Parquet or Arrow file, which knows the types of its columns."""

    def __init__(self, path: str, kind: str) -> None:
        self.path = path
        self._kind = kind
        with _reading(path, kind):
            if kind == "parquet":
                self.names = list(parquet.read_schema(path).names)
            else:
                with pa.memory_map(path) as source:
                    self.names = list(ipc.open_file(source).schema.names)

    def _read(self, names: list[str]) -> Any:
        reader = parquet.read_table if self._kind == "parquet" else feather.read_table
        with _reading(self.path, self._kind):
            table = reader(self.path, columns=names)
            # Arrow trusts the offsets that it reads: using wrong ones would end the process.
            table.validate(full=True)
            return table

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
        with _reading(path, "csv"), text(path, "rt", encoding="utf-8-sig", newline="") as file:
            self.names = next(plain_csv.reader(file, delimiter=self._delimiter), [])
        if not self.names:
            raise ValueError(f"{path}: cannot be read as csv: there is no header")

    def _read(self, types: dict[str, Any], *, use_threads: bool = True) -> Any:
        """The columns of these types; ArrowInvalid if a cell is of another."""
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
                raise RowError(f"{self.path}: row {odd[0].number - 1}: {cells}") from None
            raise

    def texts(self, name: str) -> tuple[NDArray[Any], list[str]]:
        """See `DataFile`. Everything is text here: 01 stays 01."""
        with _reading(self.path, "csv"):
            table = self._read({name: pa.string()})
        return codes_and_texts(self.path, name, table.column(name))

    def numbers(self, names: list[str]) -> NDArray[np.float32] | NDArray[np.float64]:
        """See `DataFile`."""
        with _reading(self.path, "csv"):
            try:
                table = self._read(dict.fromkeys(names, pa.float64()))
            except pa.ArrowInvalid:
                # As text, so that the cell can be named that is not a number.
                table = self._read(dict.fromkeys(names, pa.string()))
        return side_by_side(self.path, [(name, table.column(name)) for name in names])


class NpzFile:
    """Arrays of a NumPy archive: one-dimensional ones are columns, a two-dimensional one holds all scores.

    An array is read when it is asked for.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        with _reading(path, "npz"):
            with Path(path).open("rb") as file:
                if file.read(len(MAGIC_PREFIX)) == MAGIC_PREFIX:
                    raise ValueError("it holds one array without a name")
            with zipfile.ZipFile(path) as archive:
                self.names = [name.removesuffix(".npy") for name in archive.namelist()]

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
            with zipfile.ZipFile(self.path) as archive:
                if f"{name}.npy" not in archive.namelist():
                    raise ValueError("it is not an array")  # noqa: TRY301
                with archive.open(f"{name}.npy") as member:
                    array: NDArray[Any] = read_array(member, allow_pickle=False)
        except Exception as error:  # noqa: BLE001 - as in `_reading`
            if "Object arrays" in str(error):
                problem = f"array {name!r} holds Python objects; save it as numbers or text"
                raise ValueError(f"{self.path}: {problem}") from None
            raise ValueError(f"{self.path}: array {name!r} cannot be read: {_reason(error)}") from None
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


def _reason(error: Exception) -> str:
    """What is wrong, in one line."""
    return str(error).split("\n", 1)[0] or type(error).__name__
