"""Text files of cells with a sign between them."""

from __future__ import annotations

import csv as plain_csv
import gzip
import io
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import csv

from multiauc._common.wording import counted
from multiauc._io.columns import codes_and_texts, refuse_text, side_by_side
from multiauc._io.content import GZIP
from multiauc._io.problems import RowError, reading

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from multiauc._io.content import Content

#: What may stand between cells; of signs that fit equally well the first is taken.
DELIMITERS = {"comma": ",", "tab": "\t", "semicolon": ";", "pipe": "|"}
# How much of a file is looked at to tell its delimiter.
SEEN_CHARACTERS = 2**20
SEEN_RECORDS = 20


def detected_delimiter(beginning: str, *, usual: str = ",") -> str:
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
    """Values with a comma, or another sign, between them under a header; perhaps packed by gzip."""

    def __init__(self, content: Content, kind: str, delimiter: str | None) -> None:
        self.content = content
        self.path = content.name
        with reading(self.path, "csv"):
            self._is_packed = content.beginning(2) == GZIP
            usual = "\t" if kind == "tsv" else ","
            self._delimiter = delimiter or detected_delimiter(self._beginning(), usual=usual)
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

    def _unpacked(self, raw: Any) -> Any:
        return pa.CompressedInputStream(raw, "gzip") if self._is_packed else raw

    def _options(self, types: dict[str, Any], odd: list[Any], *, use_threads: bool) -> tuple[Any, Any, Any]:
        """How to read the columns of these types; a row with too few or too many cells is put into `odd`."""

        def refuse(row: Any) -> str:
            odd.append(row)
            return "error"

        parse = csv.ParseOptions(delimiter=self._delimiter, invalid_row_handler=refuse)
        convert = csv.ConvertOptions(
            include_columns=list(types), column_types=types, strings_can_be_null=True, null_values=[""]
        )
        return csv.ReadOptions(use_threads=use_threads), parse, convert

    def _read(self, types: dict[str, Any], *, use_threads: bool = True) -> Any:
        """The columns of these types; ArrowInvalid if a cell is of another."""
        odd: list[Any] = []
        try:
            with self._unpacked(self.content.arrow_file()) as source:
                return csv.read_csv(source, *self._options(types, odd, use_threads=use_threads))
        except pa.ArrowInvalid:
            if odd and odd[0].number is None:
                # Threads do not know which row they are at: once more without.
                return self._read(types, use_threads=False)
            if odd:
                raise RowError(self._odd_row(odd[0])) from None
            raise

    def _odd_row(self, row: Any) -> str:
        cells = f"{counted(row.actual_columns, 'cell')} where the header has {row.expected_columns}"
        if self._delimiter == "," and row.actual_columns > row.expected_columns:
            cells += "; numbers are written with a point, not with a decimal comma, and texts with commas in quotes"
        # Arrow counts the header as a row.
        return f"{self.path}: row {row.number - 1}: {cells}"

    def texts(self, name: str, *, may_be_missing: bool = False) -> tuple[NDArray[Any], list[str | None]]:
        """See `DataFile`. Everything is text here: 01 stays 01."""
        with reading(self.path, "csv"):
            table = self._read({name: pa.string()})
        return codes_and_texts(self.path, name, table.column(name), may_be_missing=may_be_missing)

    def numbers(self, names: list[str]) -> NDArray[np.float32] | NDArray[np.float64]:
        """See `DataFile`."""
        with reading(self.path, "csv"):
            try:
                table = self._read(dict.fromkeys(names, pa.float64()))
            except pa.ArrowInvalid:
                # As text, so that the cell can be named that is not a number.
                table = self._read(dict.fromkeys(names, pa.string()))
        return side_by_side(self.path, [(name, table.column(name)) for name in names])

    def pieces(self, texts: list[str], numbers: list[str]) -> Iterator[tuple[Any, float]]:
        """Tables of rows, one after the other, each with the share of the file that has been read."""
        types = dict.fromkeys(texts, pa.string()) | dict.fromkeys(numbers, pa.float64())
        done = 0
        with reading(self.path, "csv"):
            try:
                for table, share in self._streamed(types):
                    done += table.num_rows
                    yield table, share
            except pa.ArrowInvalid:
                self._name_odd_cell(types, done)
                raise

    def _streamed(self, types: dict[str, Any], *, use_threads: bool = True) -> Iterator[tuple[Any, float]]:
        odd: list[Any] = []
        try:
            with self.content.arrow_file() as raw:
                size = max(raw.size(), 1)
                with csv.open_csv(self._unpacked(raw), *self._options(types, odd, use_threads=use_threads)) as reader:
                    for batch in reader:
                        yield pa.Table.from_batches([batch]), raw.tell() / size
        except pa.ArrowInvalid:
            if odd and odd[0].number is not None:
                raise RowError(self._odd_row(odd[0])) from None
            if odd:
                for _ in self._streamed(types, use_threads=False):  # up to the row, whose number is then known
                    pass
            raise

    def _name_odd_cell(self, types: dict[str, Any], before: int) -> None:
        """Raise, naming the cell, if one that is not a number is the reason why no more rows could be read."""
        numbers = [name for name, kind in types.items() if kind != pa.string()]
        done = 0
        for table, _ in self._streamed(dict.fromkeys(numbers, pa.string())):
            if done + table.num_rows > before:
                for name in numbers:
                    try:
                        refuse_text(self.path, name, table.column(name), done)
                    except ValueError as error:
                        raise RowError(str(error)) from None
            done += table.num_rows
