"""Text files of cells with a sign between them."""

from __future__ import annotations

import csv as plain_csv
import gzip
import io
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import csv

from multiauc._common.wording import counted
from multiauc._io.columns import Piece, refuse_text
from multiauc._io.sources import GZIP, RowError, reading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from multiauc._io.sources import Content

    # Of Arrow, by column.
    Types = dict[str, pa.DataType]

#: What may stand between cells; of signs that fit equally well the first is taken.
DELIMITERS = {"comma": ",", "tab": "\t", "semicolon": ";", "pipe": "|"}
# How much of a file is looked at to tell its delimiter.
SEEN_CHARACTERS = 2**20
SEEN_RECORDS = 20


def detect_delimiter(beginning: str, *, usual: str = ",") -> str:
    """The sign between the cells of a text: the one that cuts its first lines into most cells, all of them alike.

    Where no sign does, the one that cuts the header into most cells; `usual` if that has one cell only.
    """
    signs = dict.fromkeys([usual, *DELIMITERS.values()])
    fits = {sign: max(_fit(beginning, sign, strict=True), _fit(beginning, sign, strict=False)) for sign in signs}
    return max(fits, key=fits.__getitem__)  # of equal ones the first, which is the usual one


def _fit(beginning: str, sign: str, *, strict: bool) -> tuple[int, int]:
    """How well a sign cuts a text: less well if quotes are left in the midst of cells."""
    widths = _widths(beginning, sign, strict=strict)
    are_alike = len(set(widths)) == 1 and widths[0] > 1
    return (2 if strict else 1) if are_alike else 0, widths[0] if widths else 0


def _widths(beginning: str, sign: str, *, strict: bool) -> list[int]:
    """How many cells the first lines have, as far as they can be read.

    The last line of a text that was cut off is left out.
    """
    lines = io.StringIO(beginning, newline="")
    widths: list[int] = []
    try:
        for record in plain_csv.reader(lines, delimiter=sign, strict=strict):
            if record:
                widths.append(len(record))
            if len(widths) == SEEN_RECORDS:
                return widths
    except plain_csv.Error:
        return [] if strict and len(beginning) < SEEN_CHARACTERS else widths
    return widths[:-1] if len(beginning) == SEEN_CHARACTERS and len(widths) > 1 else widths


class DelimitedFile:
    """Values with a comma, or another sign, between them under a header; perhaps packed by gzip; see `RowFile`."""

    is_once = False

    def __init__(self, content: Content, kind: str, delimiter: str | None) -> None:
        self.content = content
        self.path = content.name
        with reading(self.path, "csv"):
            self._is_packed = content.beginning(2) == GZIP
            usual = "\t" if kind == "tsv" else ","
            self._delimiter = delimiter or detect_delimiter(self._beginning(), usual=usual)
            with self._text() as file:
                self.names = next(plain_csv.reader(file, delimiter=self._delimiter), [])
        if not self.names:
            raise ValueError(f"{self.path}: cannot be read as csv: there is no header")

    def _text(self) -> io.TextIOWrapper:
        unpacked: Any = gzip.open(self.content.source()) if self._is_packed else self.content.open()  # noqa: SIM115
        return io.TextIOWrapper(unpacked, encoding="utf-8-sig", newline="")

    def _beginning(self) -> str:
        with self._text() as file:
            return file.read(SEEN_CHARACTERS)

    def _options(self, types: Types, odd: list[Any], *, use_threads: bool) -> tuple[Any, Any, Any]:
        """How to read the columns of these types; a row with too few or too many cells is put into `odd`."""

        def refuse(row: Any) -> str:
            odd.append(row)
            return "error"

        parse = csv.ParseOptions(delimiter=self._delimiter, invalid_row_handler=refuse)
        convert = csv.ConvertOptions(
            include_columns=list(types), column_types=types, strings_can_be_null=True, null_values=[""]
        )
        return csv.ReadOptions(use_threads=use_threads), parse, convert

    def _odd_row(self, row: Any) -> str:
        cells = f"{counted(row.actual_columns, 'cell')} where the header has {row.expected_columns}"
        if self._delimiter == "," and row.actual_columns > row.expected_columns:
            cells += "; numbers are written with a point, not with a decimal comma, and texts with commas in quotes"
        # Arrow counts the header as a row.
        return f"{self.path}: row {row.number - 1}: {cells}"

    def type_of(self, name: str) -> Any:  # noqa: ARG002
        """See `RowFile`. Everything is text here: 01 stays 01."""
        return pa.string()

    def pieces(self, texts: list[str], numbers: list[str], start: int, size: int) -> Iterator[Piece]:  # noqa: ARG002
        """See `RowFile`. Rows cannot be found in a text without reading those before them."""
        types = dict.fromkeys(texts, pa.string()) | dict.fromkeys(numbers, pa.float64())
        done = 0
        with reading(self.path, "csv"):
            try:
                for table, share in self._stream(types):
                    yield Piece(done, table, share)
                    done += table.num_rows
            except pa.ArrowInvalid:
                self._name_odd_cell(types, done)
                raise

    def _stream(self, types: Types, *, use_threads: bool = True) -> Iterator[tuple[Any, float]]:
        odd: list[Any] = []
        try:
            with self.content.arrow_file() as raw:
                size = max(raw.size(), 1)
                text = pa.CompressedInputStream(raw, "gzip") if self._is_packed else raw
                with csv.open_csv(text, *self._options(types, odd, use_threads=use_threads)) as reader:
                    for batch in reader:
                        yield pa.Table.from_batches([batch]), raw.tell() / size
        except pa.ArrowInvalid:
            if odd and odd[0].number is not None:
                raise RowError(self._odd_row(odd[0])) from None
            if odd:
                for _ in self._stream(types, use_threads=False):  # up to the row, whose number is then known
                    pass
            raise

    def _name_odd_cell(self, types: Types, before: int) -> None:
        """Raise, naming the cell, if one that is not a number is the reason why no more rows could be read."""
        numbers = [name for name, kind in types.items() if kind != pa.string()]
        done = 0
        for table, _ in self._stream(dict.fromkeys(numbers, pa.string())):
            if done + table.num_rows > before:
                for name in numbers:
                    try:
                        refuse_text(self.path, name, table.column(name), done)
                    except ValueError as error:
                        raise RowError(str(error)) from None
            done += table.num_rows
