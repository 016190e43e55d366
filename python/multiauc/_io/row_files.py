"""Rows that come in pieces: of files larger than memory, of data sets of pyarrow, of iterators of record batches.

Only the columns asked for are read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import pyarrow as pa
from pyarrow import dataset as arrow_dataset
from pyarrow import ipc, parquet

from multiauc._io.columns import is_single
from multiauc._io.content import ARROW_FILE, format_of
from multiauc._io.damage import PARQUET_OPTIONS, refuse_other_batches
from multiauc._io.delimited import DelimitedFile
from multiauc._io.problems import reading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from multiauc._io.content import Content
    from multiauc._io.stored import StoredFile

# How much of a column of Parquet is read at a time; from a store in larger parts, because each takes a request.
BUFFER = 2**20
STORE_BUFFER = 2**22
# What is read of a data set before it is asked for.
READ_AHEAD = 2
IN_MEMORY = "the data set"


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

    def is_single(self, names: list[str]) -> bool:
        """Whether all of these columns are of single precision."""

    def pieces(self, texts: list[str], numbers: list[str], start: int, size: int) -> Iterator[Piece]:
        """The rows from `start` on, perhaps with some before, in pieces of about `size` or smaller.

        `texts` are the columns that hold labels, `numbers` those that hold numbers.
        """


def open_rows(file: StoredFile, chosen: str | None, delimiter: str | None, spelled: Callable[..., str]) -> RowFile:
    """The rows of a file; options as those of `open_file`."""
    content = file.content
    kind = format_of(content, chosen, spelled)
    if kind == "npz":
        raise ValueError(f"{content.name}: an NPZ file cannot be read in pieces; a Parquet file can")
    rows: RowFile
    if kind == "parquet":
        rows = ParquetRows(content)
    else:
        rows = ArrowRows(content) if kind == "arrow" else DelimitedRows(content, kind, delimiter)
    if not rows.names:
        raise ValueError(f"{content.name}: there are no columns in it")
    return FolderColumns(rows, file.folders) if file.folders else rows


class ParquetRows:
    """The rows of a Parquet file. Of a row group no more is in memory than the pieces need."""

    is_once = False

    def __init__(self, content: Content) -> None:
        self.path = content.name
        self._content = content
        with reading(self.path, "parquet"), content.arrow_file() as source:
            file = parquet.ParquetFile(source)
            self._schema = file.schema_arrow
            self.names = list(self._schema.names)
            groups = range(file.metadata.num_row_groups)
            self._sizes = [file.metadata.row_group(group).num_rows for group in groups]
            self.n_rows = sum(self._sizes)

    def is_single(self, names: list[str]) -> bool:
        """See `RowFile`."""
        return all(is_single(self._schema.field(name).type) for name in names)

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
            file = parquet.ParquetFile(source, buffer_size=buffer, pre_buffer=False, **PARQUET_OPTIONS)
            for batch in file.iter_batches(size, row_groups=groups, columns=[*texts, *numbers]):
                piece = Piece(first, checked(batch), (first + batch.num_rows) / self.n_rows)
                first += batch.num_rows
                yield piece


class ArrowRows:
    """The rows of an Arrow file or stream, a record batch at a time."""

    is_once = False

    def __init__(self, content: Content) -> None:
        self.path = content.name
        self._content = content
        with reading(self.path, "arrow"), content.arrow_file() as source:
            self._is_stream = source.read(len(ARROW_FILE)) != ARROW_FILE
            source.seek(0)
            opened = (ipc.open_stream if self._is_stream else ipc.open_file)(source)
            self._schema = opened.schema
            self.names = list(self._schema.names)
            # From a store that would be a second download of the whole file.
            if not self._is_stream and content.store is None:
                refuse_other_batches(source, opened)

    def is_single(self, names: list[str]) -> bool:
        """See `RowFile`."""
        return all(is_single(self._schema.field(name).type) for name in names)

    def pieces(self, texts: list[str], numbers: list[str], start: int, size: int) -> Iterator[Piece]:  # noqa: ARG002
        """See `RowFile`. The sizes of pieces are those of the file's record batches."""
        wanted = sorted({self._schema.get_field_index(name) for name in [*texts, *numbers]})
        options = ipc.IpcReadOptions(included_fields=wanted)
        first = 0
        with reading(self.path, "arrow"), self._content.arrow_file() as source:
            for batch, share in self._batches(source, options):
                yield Piece(first, checked(batch), share)
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


class DelimitedRows:
    """The rows of a text file."""

    is_once = False

    def __init__(self, content: Content, kind: str, delimiter: str | None) -> None:
        self._file = DelimitedFile(content, kind, delimiter)
        self.path = self._file.path
        self.names = self._file.names

    def is_single(self, names: list[str]) -> bool:  # noqa: ARG002
        """See `RowFile`."""
        return False

    def pieces(self, texts: list[str], numbers: list[str], start: int, size: int) -> Iterator[Piece]:  # noqa: ARG002
        """See `RowFile`. Rows cannot be found in a text without reading those before them."""
        first = 0
        for table, share in self._file.pieces(texts, numbers):
            yield Piece(first, table, share)
            first += table.num_rows


class FolderColumns:
    """The rows of a file with the columns that the names of its folders are."""

    is_once = False

    def __init__(self, rows: RowFile, folders: dict[str, str | None]) -> None:
        self._rows = rows
        self._folders = {name: value for name, value in folders.items() if name not in rows.names}
        self.path = rows.path
        self.names = [*rows.names, *self._folders]

    def is_single(self, names: list[str]) -> bool:
        """See `RowFile`. Numbers that are text have double precision."""
        return not self._folders.keys() & names and self._rows.is_single(names)

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


class DatasetRows:
    """The rows of a data set of pyarrow, with its filter if it has one."""

    is_once = False

    def __init__(self, dataset: Any) -> None:
        self.path = IN_MEMORY
        self._dataset = dataset
        self.names = list(dataset.schema.names)
        # Counting rows takes a pass over other formats.
        has_count = isinstance(dataset, arrow_dataset.InMemoryDataset) or isinstance(
            getattr(dataset, "format", None), arrow_dataset.ParquetFileFormat
        )
        self._n_rows = dataset.count_rows() if has_count and dataset_filter(dataset) is None else None

    def is_single(self, names: list[str]) -> bool:
        """See `RowFile`."""
        return all(is_single(self._dataset.schema.field(name).type) for name in names)

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
                yield Piece(first, checked(batch), None if self._n_rows is None else done / max(self._n_rows, 1))
                first = done


class BatchRows:
    """The rows of an iterator of record batches, which can be read once."""

    is_once = True

    def __init__(self, batches: Iterable[Any]) -> None:
        self.path = IN_MEMORY
        self._batches = iter(batches)
        self._first = next(self._batches, None)
        if self._first is None:
            raise ValueError(f"{self.path}: there are no record batches")
        self._schema = self._table(self._first).schema
        self.names = list(self._schema.names)
        self._was_read = False

    def is_single(self, names: list[str]) -> bool:
        """See `RowFile`."""
        return all(is_single(self._schema.field(name).type) for name in names)

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
            yield Piece(first, table.select(list(dict.fromkeys([*texts, *numbers]))), None)
            first += table.num_rows
            batch = next(self._batches, None)

    def _table(self, batch: Any) -> Any:
        if isinstance(batch, pa.RecordBatch):
            return pa.Table.from_batches([batch])
        if isinstance(batch, pa.Table):
            return batch
        accepted = "an iterator of record batches of pyarrow"
        raise TypeError(f"source must be {accepted}; one of them is {type(batch).__name__}")


def checked(batch: Any) -> Any:
    """A record batch as a table, if its parts fit together: Arrow trusts offsets, and wrong ones end the process."""
    batch.validate(full=True)
    return pa.Table.from_batches([batch])


def dataset_filter(dataset: Any) -> Any:
    """The filter that a data set of pyarrow was given by `filter`, or None."""
    # There is no public way to it in pyarrow 15 to 26; a data set without the attribute has no filter.
    return getattr(dataset, "_scan_options", {}).get("filter")


def arrow_rows(source: Any) -> RowFile | None:
    """The rows of an object of pyarrow, or of a library that shares tables with it; None for anything else."""
    if isinstance(source, arrow_dataset.Dataset):
        return DatasetRows(source)
    if isinstance(source, (pa.Table, pa.RecordBatch)) or _are_batches(source):
        return DatasetRows(arrow_dataset.dataset(source))
    if isinstance(source, pa.RecordBatchReader):
        return BatchRows(source)
    if hasattr(source, "__arrow_c_stream__"):
        return BatchRows(pa.RecordBatchReader.from_stream(source))
    return BatchRows(source) if hasattr(source, "__next__") or hasattr(source, "__iter__") else None


def _are_batches(source: Any) -> bool:
    return isinstance(source, (list, tuple)) and bool(source) and all(isinstance(one, pa.RecordBatch) for one in source)
