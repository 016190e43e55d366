"""Rows in pieces: of files larger than memory, of data sets of pyarrow, of iterators of record batches.

Only the columns asked for are read. A file that is read whole is its pieces, one below the other.
"""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.lib.format import MAGIC_PREFIX, read_array
from pyarrow import ipc, parquet

from multiauc._common.wording import listing
from multiauc._io.columns import Piece, is_single
from multiauc._io.delimited import DelimitedFile
from multiauc._io.sources import ARROW_FILE, Content, detect_format, find_files, first_line, read_paths, reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

# How much of a column of Parquet is read at a time; from a store in larger parts, because each takes a request.
BUFFER = 2**20
STORE_BUFFER = 2**22
# What is read of a data set before it is asked for.
READ_AHEAD = 2
IN_MEMORY = "the data set"
# What an Arrow file begins with, padded; a stream of messages follows.
BEGINNING = 8


class RowFile(Protocol):
    """A file, or something like it, with named columns.

    Attributes
    ----------
    path
        What messages call it.
    names
        Its columns.
    is_once
        Whether its rows can be read only once.
    """

    path: str
    names: list[str]
    is_once: bool

    def type_of(self, name: str) -> Any:
        """The type of a column, as Arrow has it."""

    def pieces(self, texts: list[str], numbers: list[str], start: int, size: int) -> Iterator[Piece]:
        """The rows from `start` on, perhaps with some before, in pieces of about `size` or smaller.

        `texts` are the columns that hold labels, `numbers` those that hold numbers.
        """


def open_rows(
    content: Content,
    format_in: str | None = None,
    delimiter: str | None = None,
    *,
    whole: bool = True,
    option: str = "format_in",
) -> RowFile:
    """The rows of a file.

    Its format is the given one, or told by its name, or in a pipe by how it begins; the sign between the cells of a
    text is the given one, or told by its first lines. `option` is what messages call `format_in`.
    """
    kind = detect_format(content, format_in, option)
    rows: RowFile
    if kind == "npz":
        if not whole:
            raise ValueError(f"{content.name}: an NPZ file cannot be read in pieces; a Parquet file can")
        rows = NpzRows(content)
    elif kind == "parquet":
        rows = ParquetRows(content)
    else:
        rows = ArrowRows(content) if kind == "arrow" else DelimitedFile(content, kind, delimiter)
    if not rows.names:
        raise ValueError(f"{content.name}: there are no {'arrays' if kind == 'npz' else 'columns'} in it")
    return FolderColumns(rows, content) if content.folders else rows


def refuse_other_columns(file: RowFile, first: RowFile) -> None:
    """Raise unless a file has the same columns as the first one of its data set."""
    if sorted(file.names) != sorted(first.names):
        odd = next((name for name in first.names if name not in file.names), None)
        what = f"no column {odd!r}, which {first.path} has"
        if odd is None:
            more = [name for name in file.names if name not in first.names] or file.names
            what = f"it has columns that {first.path} does not have: {listing(more)}"
        raise ValueError(f"{file.path}: {what}; the files of one data set have the same columns")


def are_single(file: RowFile, names: list[str]) -> bool:
    """Whether all of these columns are of single precision."""
    return all(is_single(file.type_of(name)) for name in names)


class SchemaRows:
    """What knows the types of its columns; see `RowFile`."""

    is_once = False

    def __init__(self, path: str, schema: Any) -> None:
        self.path = path
        self.schema = schema
        self.names = list(schema.names)

    def type_of(self, name: str) -> Any:
        """See `RowFile`."""
        return self.schema.field(name).type


class TableRows(SchemaRows):
    """The rows of an Arrow table, as one piece."""

    def __init__(self, path: str, table: Any) -> None:
        super().__init__(path, table.schema)
        self._table = table

    def pieces(self, texts: list[str], numbers: list[str], start: int, size: int) -> Iterator[Piece]:  # noqa: ARG002
        """See `RowFile`."""
        yield Piece(0, _select(self._table, texts, numbers), 1.0)


class ParquetRows(SchemaRows):
    """The rows of a Parquet file. Of a row group no more is in memory than the pieces need."""

    def __init__(self, content: Content) -> None:
        self._content = content
        with reading(content.name, "parquet"), content.arrow_file() as source:
            file = parquet.ParquetFile(source)
            super().__init__(content.name, file.schema_arrow)
            groups = range(file.metadata.num_row_groups)
            self._sizes = [file.metadata.row_group(group).num_rows for group in groups]
            self.n_rows = sum(self._sizes)

    def pieces(self, texts: list[str], numbers: list[str], start: int, size: int) -> Iterator[Piece]:
        """See `RowFile`."""
        skipped = first = 0
        while skipped < len(self._sizes) and first + self._sizes[skipped] <= start:
            first += self._sizes[skipped]
            skipped += 1
        groups = list(range(skipped, len(self._sizes)))
        if not groups:
            return
        with reading(self.path, "parquet"), self._content.arrow_file() as source:
            buffer = BUFFER if self._content.store is None else STORE_BUFFER
            # Pages that have a checksum are compared with it.
            file = parquet.ParquetFile(source, buffer_size=buffer, pre_buffer=False, page_checksum_verification=True)
            for batch in file.iter_batches(size, row_groups=groups, columns=[*texts, *numbers]):
                piece = Piece(first, _check(batch), (first + batch.num_rows) / self.n_rows)
                first += batch.num_rows
                yield piece


class ArrowRows(SchemaRows):
    """The rows of an Arrow file or stream, a record batch at a time."""

    def __init__(self, content: Content) -> None:
        self._content = content
        with reading(content.name, "arrow"), content.arrow_file() as source:
            self._is_stream = source.read(len(ARROW_FILE)) != ARROW_FILE
            source.seek(0)
            opened = (ipc.open_stream if self._is_stream else ipc.open_file)(source)
            super().__init__(content.name, opened.schema)
            # From a store that would be a second download of the whole file.
            if not self._is_stream and content.store is None:
                refuse_other_batches(source, opened)

    def pieces(self, texts: list[str], numbers: list[str], start: int, size: int) -> Iterator[Piece]:  # noqa: ARG002
        """See `RowFile`. The sizes of pieces are those of the file's record batches."""
        wanted = sorted({self.schema.get_field_index(name) for name in [*texts, *numbers]})
        options = ipc.IpcReadOptions(included_fields=wanted)
        first = 0
        with reading(self.path, "arrow"), self._content.arrow_file() as source:
            for batch, share in self._batches(source, options):
                yield Piece(first, _check(batch), share)
                first += batch.num_rows

    def _batches(self, source: Any, options: Any) -> Iterator[tuple[Any, float]]:
        if self._is_stream:
            size = max(source.size(), 1)
            for batch in ipc.open_stream(source, options=options):
                yield batch, source.tell() / size
        else:
            file = ipc.open_file(source, options=options)
            for number in range(file.num_record_batches):
                yield file.get_batch(number), (number + 1) / file.num_record_batches


def refuse_other_batches(source: Any, file: Any) -> None:
    """Raise if the end of an Arrow file lists fewer record batches than there are, or more."""
    source.seek(BEGINNING)
    n_found = 0
    for message in ipc.MessageReader.open_stream(source):
        n_found += message.type == "record batch"
    if n_found != file.num_record_batches:
        raise ValueError(f"it holds {n_found} record batches, and its end lists {file.num_record_batches}")


class NpzRows:
    """Arrays of a NumPy archive: one-dimensional ones are columns, a two-dimensional one is a column of lists.

    An array is read when it is asked for.
    """

    is_once = False

    def __init__(self, content: Content) -> None:
        self.path = content.name
        self._content = content
        self._columns: dict[str, pa.ChunkedArray] = {}
        with reading(self.path, "npz"):
            if content.beginning(len(MAGIC_PREFIX)) == MAGIC_PREFIX:
                raise ValueError("it holds one array without a name")
            with zipfile.ZipFile(content.source()) as archive:
                self.names = [name.removesuffix(".npy") for name in archive.namelist()]

    def type_of(self, name: str) -> Any:
        """See `RowFile`."""
        return self._column(name).type

    def pieces(self, texts: list[str], numbers: list[str], start: int, size: int) -> Iterator[Piece]:  # noqa: ARG002
        """See `RowFile`."""
        columns = {name: self._column(name) for name in [*texts, *numbers]}
        first = next(iter(columns))
        for name, column in columns.items():
            if len(column) != len(columns[first]):
                sizes = f"array {name!r} has {len(column)} rows, array {first!r} has {len(columns[first])}"
                raise ValueError(f"{self.path}: {sizes}")
        yield Piece(0, pa.table(columns), 1.0)

    def _column(self, name: str) -> Any:
        """An array as a column of Arrow."""
        if name not in self._columns:
            array = self._array(name)
            if array.ndim not in {1, 2}:
                raise ValueError(f"{self.path}: array {name!r} must have one dimension; it has shape {array.shape}")
            if array.ndim == 2 and array.shape[1] == 0:
                raise ValueError(f"{self.path}: there are no columns in array {name!r}, whose shape is {array.shape}")
            try:
                column = pa.array(np.ascontiguousarray(array).reshape(-1))
            except pa.ArrowException:
                problem = f"array {name!r} must hold numbers or text; it holds {array.dtype}"
                raise ValueError(f"{self.path}: {problem}") from None
            if array.ndim == 2:
                column = pa.FixedSizeListArray.from_arrays(column, array.shape[1])
            self._columns[name] = pa.chunked_array([column])
        return self._columns[name]

    def _array(self, name: str) -> NDArray[Any]:
        try:
            with zipfile.ZipFile(self._content.source()) as archive:
                if f"{name}.npy" not in archive.namelist():
                    raise ValueError("it is not an array")  # noqa: TRY301
                with archive.open(f"{name}.npy") as member:
                    array: NDArray[Any] = read_array(member, allow_pickle=False)
        except Exception as error:  # noqa: BLE001 - as in `reading`
            if "Object arrays" in str(error):
                problem = f"array {name!r} holds Python objects; save it as numbers or text"
                raise ValueError(f"{self.path}: {problem}") from None
            raise ValueError(f"{self.path}: array {name!r} cannot be read: {first_line(error)}") from None
        return array


class FolderColumns:
    """The rows of a file with the columns that the names of its folders are."""

    is_once = False

    def __init__(self, rows: RowFile, content: Content) -> None:
        self._rows = rows
        self._folders = {name: value for name, value in content.folders.items() if name not in rows.names}
        self.path = rows.path
        self.names = [*rows.names, *self._folders]

    def type_of(self, name: str) -> Any:
        """See `RowFile`."""
        return pa.string() if name in self._folders else self._rows.type_of(name)

    def pieces(self, texts: list[str], numbers: list[str], start: int, size: int) -> Iterator[Piece]:
        """See `RowFile`."""
        own_texts, own_numbers = ([name for name in names if name not in self._folders] for names in (texts, numbers))
        if not own_texts and not own_numbers:  # some column has to say how many rows there are
            own_texts = self._rows.names[:1]
        for piece in self._rows.pieces(own_texts, own_numbers, start, size):
            table = piece.table
            for name in {*texts, *numbers} & self._folders.keys():
                value = pa.scalar(self._folders[name], pa.string())
                table = table.append_column(name, pa.repeat(value, table.num_rows))
            yield piece._replace(table=table)


class DatasetRows(SchemaRows):
    """The rows of a data set of pyarrow, with its filter if it has one."""

    def __init__(self, dataset: Any) -> None:
        from pyarrow import dataset as arrow_dataset  # noqa: PLC0415 - slow to import, and files do not need it

        super().__init__(IN_MEMORY, dataset.schema)
        self._dataset = dataset
        # Counting rows takes a pass over other formats.
        has_count = isinstance(dataset, arrow_dataset.InMemoryDataset) or isinstance(
            getattr(dataset, "format", None), arrow_dataset.ParquetFileFormat
        )
        self._n_rows = dataset.count_rows() if has_count and _read_filter(dataset) is None else None

    def pieces(self, texts: list[str], numbers: list[str], start: int, size: int) -> Iterator[Piece]:  # noqa: ARG002
        """See `RowFile`."""
        first = 0
        with reading(self.path, "a data set"):
            scanner = self._dataset.scanner(
                columns=list(dict.fromkeys([*texts, *numbers])),
                batch_size=size,
                batch_readahead=READ_AHEAD,
                fragment_readahead=1,
            )
            for batch in scanner.to_batches():
                done = first + batch.num_rows
                yield Piece(first, _check(batch), None if self._n_rows is None else done / max(self._n_rows, 1))
                first = done


class BatchRows(SchemaRows):
    """The rows of an iterator of record batches, which can be read once."""

    is_once = True

    def __init__(self, batches: Iterable[Any]) -> None:
        self._batches = iter(batches)
        self._first = next(self._batches, None)
        if self._first is None:
            raise ValueError(f"{IN_MEMORY}: there are no record batches")
        super().__init__(IN_MEMORY, self.head().schema)
        self._was_read = False

    def head(self) -> Any:
        """The first record batch, as a table."""
        return self._table(self._first)

    def pieces(self, texts: list[str], numbers: list[str], start: int, size: int) -> Iterator[Piece]:  # noqa: ARG002
        """See `RowFile`. The sizes of pieces are those of the record batches."""
        if self._was_read:
            raise ValueError(f"{self.path}: record batches of an iterator can be read only once")
        self._was_read = True
        first, batch = 0, self._first
        self._first = None
        while batch is not None:
            table = self._table(batch)
            missing = next((name for name in [*texts, *numbers] if name not in table.schema.names), None)
            if missing is not None:
                raise ValueError(f"{self.path}: no column {missing!r} in the record batch of row {first + 1}")
            yield Piece(first, _select(table, texts, numbers), None)
            first += table.num_rows
            batch = next(self._batches, None)

    def _table(self, batch: Any) -> Any:
        if isinstance(batch, pa.RecordBatch):
            return pa.Table.from_batches([batch])
        if isinstance(batch, pa.Table):
            return batch
        accepted = "an iterator of record batches of pyarrow"
        raise TypeError(f"source must be {accepted}; one of them is {type(batch).__name__}")


def _select(table: Any, texts: list[str], numbers: list[str]) -> Any:
    return table.select(list(dict.fromkeys([*texts, *numbers])))


def _check(batch: Any) -> Any:
    """A record batch as a table, if its parts fit together: Arrow trusts offsets, and wrong ones end the process."""
    batch.validate(full=True)
    return pa.Table.from_batches([batch])


def _read_filter(dataset: Any) -> Any:
    """The filter that a data set of pyarrow was given by `filter`, or None."""
    # There is no public way to it in pyarrow 15 to 26; a data set without the attribute has no filter.
    return getattr(dataset, "_scan_options", {}).get("filter")


def wrap_rows(source: Any) -> RowFile:
    """The rows of an object of pyarrow, or of a library that shares tables with it."""
    from pyarrow import dataset as arrow_dataset  # noqa: PLC0415 - as above

    if isinstance(source, arrow_dataset.Dataset):
        return DatasetRows(source)
    are_batches = isinstance(source, (list, tuple)) and all(isinstance(one, pa.RecordBatch) for one in source)
    if isinstance(source, (pa.Table, pa.RecordBatch)) or (are_batches and source):
        return DatasetRows(arrow_dataset.dataset(source))
    if hasattr(source, "__arrow_c_stream__") and not isinstance(source, pa.RecordBatchReader):
        source = pa.RecordBatchReader.from_stream(source)
    if hasattr(source, "__iter__"):
        return BatchRows(source)
    accepted = "a path, a sequence of paths, a data set of pyarrow, or an iterator of record batches"
    raise TypeError(f"source must be {accepted}; got {type(source).__name__}")


def source_contents(source: Any, filesystem: Any = None) -> list[Content]:
    """The files of a source; none if it is not made of files."""
    paths = read_paths(source)
    if paths is not None:
        return [content for path in paths for content in find_files(path, filesystem)]
    # A data set of pyarrow; one that is not made of files has none.
    return [Content(file, store=source.filesystem) for file in getattr(source, "files", [])]


def identify_source(source: Any, filesystem: Any = None) -> dict[str, object] | None:
    """What tells a source from another, as JSON has it; None if nothing does."""
    contents = source_contents(source, filesystem)
    if not contents:
        return None
    chosen = _read_filter(source)
    return {
        "files": [content.fingerprint() for content in contents],
        "filter": None if chosen is None else str(chosen),
    }
