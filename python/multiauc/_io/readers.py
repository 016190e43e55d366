"""Rows in pieces: of files larger than memory, of data sets of pyarrow, of iterators of record batches; costs.

Only the columns asked for are read. A file that is read whole is its pieces, one below the other.
"""

from __future__ import annotations

import csv as plain_csv
import gzip
import io
from contextlib import nullcontext
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.lib.format import MAGIC_PREFIX
from numpy.lib.npyio import NpzFile
from pyarrow import csv, ipc, parquet

from multiauc._common.wording import listing, pluralize
from multiauc._input.columns import explain_no_number, parse_number, spell_like
from multiauc._io import columns, sources
from multiauc._io.sources import Content, RowError, reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from multiauc._io.predictions import Request

    # Record batches, each with the share of all rows that has been read with it, or None where that is not known.
    Batches = Iterator[tuple[Any, float | None]]
    # Of Arrow, by column.
    Types = dict[str, pa.DataType]

# How much of a column of Parquet is read at a time; from a store in larger parts, because each takes a request.
BUFFER = 2**20
STORE_BUFFER = 2**22
# What is read of a data set before it is asked for.
READ_AHEAD = 2
IN_MEMORY = "the data set"
# What an Arrow file begins with, padded; a stream of messages follows.
BEGINNING = 8


class RowFile:
    """A file, or something like it, with named columns.

    Attributes
    ----------
    path
        What messages call it.
    names
        Its columns: those of the schema, then those that the names of its folders are.
    kind
        What it is read as, for messages about damaged files; None for what is not a file.
    is_once
        Whether its rows can be read only once.
    contents
        The files that it is made of; none of what is in memory.
    filter
        Says which of their rows are read; None for all.
    """

    kind: str | None = None
    is_once = False
    filter: str | None = None

    def __init__(self, path: str, schema: Any, content: Content | None = None) -> None:
        self.path = path
        self.schema = schema
        self.contents = [] if content is None else [content]
        folders = {} if content is None else content.folders
        self._folders = {name: value for name, value in folders.items() if name not in schema.names}
        self.names = [*schema.names, *self._folders]

    def type_of(self, name: str) -> Any:
        """The type of a column, as Arrow has it."""
        return pa.string() if name in self._folders else self.schema.field(name).type

    def pieces(self, texts: list[str], numbers: list[str], start: int, size: int) -> Iterator[columns.Piece]:
        """The rows from `start` on, perhaps with some before, in pieces of about `size` or smaller.

        `texts` are the columns that hold labels, `numbers` those that hold numbers.
        """
        own_texts, own_numbers = ([name for name in names if name not in self._folders] for names in (texts, numbers))
        if not own_texts and not own_numbers:  # some column has to say how many rows there are
            own_texts = self.names[:1]
        types = dict.fromkeys(own_texts, pa.string()) | dict.fromkeys(own_numbers, pa.float64())
        first = self.count_skipped(start)
        with nullcontext() if self.kind is None else reading(self.path, self.kind):
            for batch, share in self.batches(types, first, size):
                # Arrow trusts offsets, and wrong ones end the process.
                batch.validate(full=True)
                table = batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])
                for name in {*texts, *numbers} & self._folders.keys():
                    value = pa.scalar(self._folders[name], pa.string())
                    table = table.append_column(name, pa.repeat(value, table.num_rows))
                yield columns.Piece(self.path, table, first, share)
                first += table.num_rows

    def count_skipped(self, start: int) -> int:  # noqa: ARG002
        """How many of the rows before `start` need not be read."""
        return 0

    def batches(self, types: Types, first: int, size: int) -> Batches:
        """The rows from `first` on; `types` are those that columns of a text are read as."""
        raise NotImplementedError


def open_rows(content: Content, request: Request, *, whole: bool = True) -> RowFile:
    """The rows of a file.

    Its format is that of the request, or inferred from its name, or in a pipe from how it begins; the sign between the
    cells of a text is that of the request, or inferred from its first lines.
    """
    kind = sources.detect_format(content, request.format_in, request.option("format_in"))
    if kind == "npz" and not whole:
        raise ValueError(f"{content.name}: an NPZ file cannot be read in pieces; a Parquet file can")
    rows: RowFile
    if kind in {"csv", "tsv"}:
        rows = TextRows(content, kind, request.delimiter)
    else:
        rows = {"npz": NpzRows, "parquet": ParquetRows, "arrow": ArrowRows}[kind](content)
    if not rows.names:
        raise ValueError(f"{content.name}: there are no {'arrays' if kind == 'npz' else 'columns'} in it")
    return rows


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
    return all(columns.is_single(file.type_of(name)) for name in names)


class TableRows(RowFile):
    """The rows of an Arrow table, as one piece."""

    def __init__(self, path: str, table: Any) -> None:
        super().__init__(path, table.schema)
        self._table = table

    def batches(self, types: Types, first: int, size: int) -> Batches:  # noqa: ARG002
        """See `RowFile`."""
        yield self._table.select(list(types)), 1.0


class ParquetRows(RowFile):
    """The rows of a Parquet file. Of a row group no more is in memory than the pieces need."""

    kind = "parquet"

    def __init__(self, content: Content) -> None:
        self._content = content
        with reading(content.name, self.kind), content.open() as source:
            file = parquet.ParquetFile(source)
            super().__init__(content.name, file.schema_arrow, content)
            sizes = [file.metadata.row_group(group).num_rows for group in range(file.metadata.num_row_groups)]
            # The number of rows before each row group, and of all.
            self._starts: list[int] = [0, *np.cumsum(sizes).tolist()]
            self.n_rows = self._starts[-1]

    def count_skipped(self, start: int) -> int:
        """See `RowFile`."""
        return max(before for before in self._starts if before <= start)

    def batches(self, types: Types, first: int, size: int) -> Batches:
        """See `RowFile`."""
        groups = [group for group, before in enumerate(self._starts[:-1]) if before >= first]
        if not groups:
            return
        with self._content.open() as source:
            buffer = BUFFER if self._content.store is None else STORE_BUFFER
            # Pages that have a checksum are compared with it.
            file = parquet.ParquetFile(source, buffer_size=buffer, pre_buffer=False, page_checksum_verification=True)
            for batch in file.iter_batches(size, row_groups=groups, columns=list(types)):
                first += batch.num_rows
                yield batch, first / self.n_rows


class ArrowRows(RowFile):
    """The rows of an Arrow file or stream, a record batch at a time."""

    kind = "arrow"

    def __init__(self, content: Content) -> None:
        self._content = content
        with reading(content.name, self.kind), content.open() as source:
            self._is_stream = source.read(len(sources.ARROW_FILE)) != sources.ARROW_FILE
            source.seek(0)
            opened = (ipc.open_stream if self._is_stream else ipc.open_file)(source)
            super().__init__(content.name, opened.schema, content)
            # From a store that would be a second download of the whole file.
            if not self._is_stream and content.store is None:
                refuse_other_batches(source, opened)

    def batches(self, types: Types, first: int, size: int) -> Batches:  # noqa: ARG002
        """See `RowFile`. The sizes of pieces are those of the file's record batches."""
        options = ipc.IpcReadOptions(included_fields=sorted(map(self.schema.get_field_index, types)))
        with self._content.open() as source:
            if self._is_stream:
                total = max(source.size(), 1)
                for batch in ipc.open_stream(source, options=options):
                    yield batch, source.tell() / total
            else:
                file = ipc.open_file(source, options=options)
                for number in range(file.num_record_batches):
                    yield file.get_batch(number), (number + 1) / file.num_record_batches


def refuse_other_batches(source: Any, file: Any) -> None:
    """Raise if the end of an Arrow file lists fewer record batches than there are, or more."""
    source.seek(BEGINNING)
    n_found = sum(message.type == "record batch" for message in ipc.MessageReader.open_stream(source))
    if n_found != file.num_record_batches:
        raise ValueError(f"it holds {n_found} record batches, and its end lists {file.num_record_batches}")


class NpzRows(RowFile):
    """Arrays of a NumPy archive: one-dimensional ones are columns, a two-dimensional one is a column of lists.

    An array is read when it is asked for.
    """

    kind = "npz"

    def __init__(self, content: Content) -> None:
        self._content = content
        self._columns: dict[str, pa.ChunkedArray] = {}
        with reading(content.name, self.kind):
            if content.beginning(len(MAGIC_PREFIX)) == MAGIC_PREFIX:
                raise ValueError("it holds one array without a name")
            with self._open_archive() as archive:
                names = archive.files
        # Their types are known once they are read.
        super().__init__(content.name, pa.schema([(name, pa.null()) for name in names]), content)

    def _open_archive(self) -> Any:
        source: Any = self._content.path if self._content.data is None else io.BytesIO(self._content.data)
        return NpzFile(source)

    def type_of(self, name: str) -> Any:
        """See `RowFile`."""
        return super().type_of(name) if name in self._folders else self._column(name).type

    def batches(self, types: Types, first: int, size: int) -> Batches:  # noqa: ARG002
        """See `RowFile`."""
        found = {name: self._column(name) for name in types}
        one = next(iter(found))
        for name, column in found.items():
            if len(column) != len(found[one]):
                sizes = f"array {name!r} has {len(column)} rows, array {one!r} has {len(found[one])}"
                raise RowError(f"{self.path}: {sizes}")
        yield pa.table(found), 1.0

    def _column(self, name: str) -> Any:
        """An array as a column of Arrow."""
        if name not in self._columns:
            array = self._array(name)
            if array.ndim not in {1, 2}:
                raise RowError(f"{self.path}: array {name!r} must have one dimension; it has shape {array.shape}")
            if array.ndim == 2 and array.shape[1] == 0:
                raise RowError(f"{self.path}: there are no columns in array {name!r}, whose shape is {array.shape}")
            try:
                column = pa.array(np.ascontiguousarray(array).reshape(-1))
            except pa.ArrowException:
                problem = f"array {name!r} must hold numbers or text; it holds {array.dtype}"
                raise RowError(f"{self.path}: {problem}") from None
            if array.ndim == 2:
                column = pa.FixedSizeListArray.from_arrays(column, array.shape[1])
            self._columns[name] = pa.chunked_array([column])
        return self._columns[name]

    def _array(self, name: str) -> NDArray[Any]:
        try:
            with self._open_archive() as archive:
                array: NDArray[Any] = archive[name]
            if not isinstance(array, np.ndarray):
                raise ValueError("it is not an array")  # noqa: TRY301, TRY004 - a member of the archive
        except Exception as error:  # noqa: BLE001 - as in `reading`
            problem = f"cannot be read: {sources.first_line(error)}"
            if "Object arrays" in str(error):
                problem = "holds Python objects; save it as numbers or text"
            raise RowError(f"{self.path}: array {name!r} {problem}") from None
        return array


class TextRows(RowFile):
    """Values with a comma, or another sign, between them under a header; perhaps packed by gzip.

    Everything is text unless it is asked for as a number: 01 stays 01.
    """

    kind = "csv"

    def __init__(self, content: Content, kind: str, delimiter: str | None) -> None:
        self._content = content
        with reading(content.name, self.kind):
            self._is_packed = content.beginning(2) == sources.GZIP
            with self._text() as file:
                seen = file.read(sources.SEEN_CHARACTERS)
            usual = "\t" if kind == "tsv" else ","
            self._delimiter = delimiter or sources.detect_delimiter(seen, usual=usual)
            with self._text() as file:
                names = next(plain_csv.reader(file, delimiter=self._delimiter), [])
        if not names:
            raise ValueError(f"{content.name}: cannot be read as csv: there is no header")
        super().__init__(content.name, pa.schema([(name, pa.string()) for name in names]), content)

    def _text(self) -> io.TextIOWrapper:
        raw = self._content.open()
        unpacked: Any = gzip.open(raw) if self._is_packed else raw  # noqa: SIM115
        return io.TextIOWrapper(unpacked, encoding="utf-8-sig", newline="")

    def batches(self, types: Types, first: int, size: int) -> Batches:  # noqa: ARG002
        """See `RowFile`. Rows cannot be found in a text without reading those before them."""
        done = 0
        try:
            for batch, share in self._stream(types):
                yield batch, share
                done += batch.num_rows
        except pa.ArrowInvalid:
            self._name_odd_cell([name for name, kind in types.items() if kind != pa.string()], done)
            raise

    def _stream(self, types: Types, *, use_threads: bool = True) -> Batches:
        odd: list[Any] = []

        def refuse(row: Any) -> str:
            odd.append(row)  # which has too few or too many cells
            return "error"

        parse = csv.ParseOptions(delimiter=self._delimiter, invalid_row_handler=refuse)
        convert = csv.ConvertOptions(
            include_columns=list(types), column_types=types, strings_can_be_null=True, null_values=[""]
        )
        try:
            with self._content.open() as raw:
                size = max(raw.size(), 1)
                text = pa.CompressedInputStream(raw, "gzip") if self._is_packed else raw
                with csv.open_csv(text, csv.ReadOptions(use_threads=use_threads), parse, convert) as reader:
                    for batch in reader:
                        yield batch, raw.tell() / size
        except pa.ArrowInvalid:
            if odd and odd[0].number is not None:
                raise RowError(self._describe_odd(odd[0])) from None
            if odd:
                for _ in self._stream(types, use_threads=False):  # up to the row, whose number is then known
                    pass
            raise

    def _describe_odd(self, row: Any) -> str:
        cells = f"{pluralize(row.actual_columns, 'cell')} where the header has {row.expected_columns}"
        if self._delimiter == "," and row.actual_columns > row.expected_columns:
            cells += "; numbers are written with a point, not with a decimal comma, and texts with commas in quotes"
        # Arrow counts the header as a row.
        return f"{self.path}: row {row.number - 1}: {cells}"

    def _name_odd_cell(self, numbers: list[str], before: int) -> None:
        """Raise, naming the cell, if one that is not a number is the reason why no more rows could be read."""
        done = 0
        for batch, _ in self._stream(dict.fromkeys(numbers, pa.string())):
            if done + batch.num_rows > before:
                for name in numbers:
                    try:
                        columns.Column(self.path, name, batch.column(name), done).refuse_text()
                    except ValueError as error:
                        raise RowError(str(error)) from None
            done += batch.num_rows


class DatasetRows(RowFile):
    """The rows of a data set of pyarrow, with its filter if it has one."""

    kind = "a data set"

    def __init__(self, dataset: Any) -> None:
        from pyarrow import dataset as arrow_dataset  # noqa: PLC0415 - slow to import, and files do not need it

        super().__init__(IN_MEMORY, dataset.schema)
        self._dataset = dataset
        # Only those that are made of files have some.
        self.contents = [Content(file, store=dataset.filesystem) for file in getattr(dataset, "files", [])]
        # There is no public way to it in pyarrow 15 to 26; a data set without the attribute has no filter.
        chosen = getattr(dataset, "_scan_options", {}).get("filter")
        self.filter = None if chosen is None else str(chosen)
        # Counting rows takes a pass over other formats.
        has_count = isinstance(dataset, arrow_dataset.InMemoryDataset) or isinstance(
            getattr(dataset, "format", None), arrow_dataset.ParquetFileFormat
        )
        self._n_rows = dataset.count_rows() if has_count and chosen is None else None

    def batches(self, types: Types, first: int, size: int) -> Batches:
        """See `RowFile`."""
        limits = {"batch_size": size, "batch_readahead": READ_AHEAD, "fragment_readahead": 1}
        for batch in self._dataset.scanner(columns=list(types), **limits).to_batches():
            first += batch.num_rows
            yield batch, None if self._n_rows is None else first / max(self._n_rows, 1)


class BatchRows(RowFile):
    """The rows of an iterator of record batches, which can be read once."""

    is_once = True

    def __init__(self, batches: Iterable[Any]) -> None:
        tables = map(_as_table, batches)
        #: The first record batch, as a table.
        self.head: Any = next(tables, None)
        if self.head is None:
            raise ValueError(f"{IN_MEMORY}: there are no record batches")
        self._tables: Iterator[Any] | None = chain([self.head], tables)
        super().__init__(IN_MEMORY, self.head.schema)

    def batches(self, types: Types, first: int, size: int) -> Batches:  # noqa: ARG002
        """See `RowFile`. The sizes of pieces are those of the record batches."""
        tables, self._tables = self._tables, None
        if tables is None:
            raise ValueError(f"{self.path}: record batches of an iterator can be read only once")
        for table in tables:
            missing = next((name for name in types if name not in table.schema.names), None)
            if missing is not None:
                raise ValueError(f"{self.path}: no column {missing!r} in the record batch of row {first + 1}")
            yield table.select(list(types)), None
            first += table.num_rows


def _as_table(batch: Any) -> Any:
    if isinstance(batch, pa.RecordBatch):
        return pa.Table.from_batches([batch])
    if isinstance(batch, pa.Table):
        return batch
    accepted = "an iterator of record batches of pyarrow"
    raise TypeError(f"source must be {accepted}; one of them is {type(batch).__name__}")


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


def read_costs(source: str | Content, labels: list[str]) -> NDArray[np.float64]:
    """The cost of predicting the class of the row when the truth is the class of the column, in the order of `labels`.

    The file has a header of true classes and a first column of predicted ones, in any order, or K rows of K numbers in
    the order of the score columns. `source` is its path or, of a pipe that was read, its content.
    """
    content = sources.open_content(source) if isinstance(source, str) else source
    path = content.name
    try:
        with content.open() as file:
            text = file.read().decode("utf-8-sig")
        sign = sources.detect_delimiter(text[: sources.SEEN_CHARACTERS])
        rows = plain_csv.reader(io.StringIO(text, newline=""), delimiter=sign)
        lines = [[cell.strip() for cell in line] for line in rows if line]
    except UnicodeDecodeError:
        raise ValueError(f"{path}: cannot be read: it is not UTF-8 text") from None
    except (OSError, plain_csv.Error) as error:
        raise ValueError(f"{path}: cannot be read: {error}") from None
    n_classes = len(labels)
    if len(lines) == n_classes + 1:
        return _named_costs(path, lines, labels)
    if len(lines) == n_classes:
        return _numbers(path, lines, n_classes, header=0)
    raise ValueError(
        f"{path}: {len(lines)} lines; a partition of {n_classes} classes has a header and {n_classes} rows with names, "
        f"or {n_classes} rows of numbers"
    )


def _named_costs(path: str, lines: list[list[str]], labels: list[str]) -> NDArray[np.float64]:
    truths, predictions = lines[0][1:], [line[0] for line in lines[1:]]
    truths, predictions = spell_like(truths, labels), spell_like(predictions, labels)
    for found, where in ((truths, "header"), (predictions, "first column")):
        if sorted(found) != sorted(labels):
            raise ValueError(f"{path}: the {where} names {listing(found)}; the classes are {listing(labels)}")
    costs = _numbers(path, [line[1:] for line in lines[1:]], len(labels), header=1)
    return costs[np.ix_([predictions.index(c) for c in labels], [truths.index(c) for c in labels])]


def _numbers(path: str, lines: list[list[str]], n_classes: int, *, header: int) -> NDArray[np.float64]:
    costs = np.empty((n_classes, n_classes))
    for row, line in enumerate(lines):
        if len(line) != n_classes:
            raise ValueError(f"{path}: row {row + 1} has {len(line)} costs; there are {n_classes} classes")
        for column, text in enumerate(line):
            try:
                costs[row, column] = parse_number(text)
            except ValueError:
                where = f"row {row + 1}, column {column + 1 + header}"
                raise ValueError(f"{path}: {where}: {explain_no_number(text)}") from None
    return costs
