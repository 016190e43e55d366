"""Results as tables for people (plain, Markdown) and for programs (JSON, CSV)."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from typing import TYPE_CHECKING, Any, TextIO

from multiauc._common.result import without_nan
from multiauc._common.wording import decimals, printable
from multiauc._display.tables import tabulate
from multiauc._input.columns import parse_number
from multiauc._io.output import STANDARD, Output
from multiauc.cli._problems import emit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from multiauc._display import model as views
    from multiauc._display.tables import Outcome, Table
    from multiauc.cli._requests import FileRequest

# The format of a file by the end of its name, if none is chosen.
STYLE_OF_NAME = {".json": "json", ".csv": "csv", ".md": "markdown"}
# Wide enough for long class names where the output is no terminal.
WIDTH_OF_FILES = 160
# With these a cell begins that a spreadsheet computes instead of showing it.
FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")


class Printing:
    """Where and how a result is shown; refused before any work is done."""

    def __init__(self, request: FileRequest) -> None:
        self.output = Output(request.output, request.inputs(), force=request.force)
        self.output.refuse()
        endings = (style for ending, style in STYLE_OF_NAME.items() if request.output.lower().endswith(ending))
        self.style = request.style or next(endings, "table")

    @staticmethod
    def open_beside(request: FileRequest, option: str, path: str) -> Output:
        """A file that is written beside the result, for an option; refused before any work is done."""
        if path == STANDARD:
            raise ValueError(f"--{option} must be a file; the result goes to standard output")
        output = Output(path, request.inputs(), force=request.force)
        output.refuse()
        return output

    def show(self, shown: views.Document, origin: Callable[[], dict[str, Any]]) -> None:
        """Print the result to standard output, or write it into a file.

        Only JSON asks for its `origin`, for which files are read once more.
        """
        is_printed = self.output.path == STANDARD
        stream = sys.stdout if is_printed else None  # None, too, where standard output is closed
        text = _json(shown.document(origin())) if self.style == "json" else _text(tabulate(shown), self.style, stream)
        if is_printed:
            emit(text)
        else:
            self.output.write(text)


def _json(document: dict[str, Any]) -> str:
    lines = json.dumps(without_nan(document), indent=2, ensure_ascii=False, default=str).split("\n")
    # JSON by itself escapes only some of the characters that a terminal obeys.
    return "\n".join(map(printable, lines)) + "\n"


def _text(outcome: Outcome, style: str, stream: TextIO | None) -> str:
    """The result for a stream, or for a file."""
    to_terminal = stream is not None and stream.isatty()
    if style == "csv":
        text = format_csv(*outcome.records)
        # Programs get labels as they are, people what they can look at.
        return "".join(printable(line) + "\n" for line in text.split("\n")[:-1]) if to_terminal else text
    if style == "markdown":
        blocks = [_markdown(table) for table in outcome.tables]
        return "\n\n".join([*blocks, *map(_markdown_text, outcome.notes)]) + "\n"
    has_lines = stream is None or "utf" in (getattr(stream, "encoding", None) or "utf-8").lower()
    return _rich(outcome, to_terminal=to_terminal, has_lines=has_lines)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "-" if math.isnan(value) else decimals(value)
    return "-" if value is None else printable(str(value))


def format_csv(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table as CSV that a spreadsheet shows as it is."""
    return "".join(map(_csv_line, [header, *rows]))


def _csv_line(cells: Sequence[Any]) -> str:
    text = io.StringIO(newline="")
    # The writer quotes entries with a character of its own line end, hence both of them.
    csv.writer(text, lineterminator="\r\n").writerow(map(_csv_cell, cells))
    return text.getvalue().removesuffix("\r\n") + "\n"


def _csv_cell(value: Any) -> Any:
    """A number as it is; text that a spreadsheet would take for a formula behind an apostrophe."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if not isinstance(value, str) or not value.startswith(FORMULA_SIGNS):
        return value
    try:
        parse_number(value)
    except ValueError:
        return f"'{value}"
    return value


def _markdown(table: Table) -> str:
    def line(cells: list[str]) -> str:
        return "| " + " | ".join(map(_markdown_text, cells)) + " |"

    sides = "|" + "|".join(["---", *["---:"] * (len(table.header) - 1)]) + "|"
    body = [line([_cell(value) for value in row]) for row in table.rows]
    return "\n".join([f"**{_markdown_text(table.title)}**", "", line(list(table.header)), sides, *body])


def _markdown_text(text: str) -> str:
    text = printable(text)
    for sign in ("\\", "|", "*", "_", "<", "`", "["):
        text = text.replace(sign, "\\" + sign)
    return text


def _rich(outcome: Outcome, *, to_terminal: bool, has_lines: bool) -> str:
    from rich import box  # noqa: PLC0415 - a third of a second that the other formats need not wait
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table as RichTable  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    console = Console() if to_terminal else Console(file=io.StringIO(), width=WIDTH_OF_FILES, color_system=None)
    # Not printed by rich itself, which takes a closed pipe for an error.
    with console.capture() as text:
        for number, table in enumerate(outcome.tables):
            if number:
                console.print()
            console.print(Text(printable(table.title), style="bold"))
            shown = RichTable(box=box.SIMPLE_HEAD if has_lines else box.ASCII2, pad_edge=False, show_edge=False)
            for k, name in enumerate(table.header):
                shown.add_column(Text(name), justify="left" if k == 0 else "right", overflow="fold")
            for row in table.rows:
                # Text, not str: a class called [red] is a name, not an order to the terminal.
                shown.add_row(*(Text(_cell(value)) for value in row))
            console.print(shown)
        for note in outcome.notes:
            console.print(Text("\n" + printable(note)))
    return text.get()
