"""Results as tables for people (plain, Markdown) and for programs (JSON, CSV)."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TextIO

from multiauc._common.registry import METRICS
from multiauc._common.result import without_nan
from multiauc._common.wording import decimals, printable, shown_name
from multiauc._input.columns import parse_number
from multiauc._io.output import STANDARD, Output
from multiauc.cli._problems import Problem, emit

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

FORMATS = ("table", "json", "markdown", "csv")
ESTIMATE = ("value", "standard_error", "low", "high")
# The format of a file by the end of its name, if none is chosen.
STYLE_OF_NAME = {".json": "json", ".csv": "csv", ".md": "markdown"}
# Wide enough for long class names where the output is no terminal.
WIDTH_OF_FILES = 160
# With these a cell begins that a spreadsheet computes instead of showing it.
FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class Table:
    """A title, a header and rows of cells; a cell is text or a number."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[Any]]
    digits: int = 4


@dataclass(frozen=True, slots=True)
class Outcome:
    """One result in its several shapes.

    Attributes
    ----------
    tables
        For people.
    data
        Everything, for JSON.
    records
        One table of plain numbers, for CSV: a header and rows.
    notes
        Sentences under the tables.
    """

    tables: list[Table]
    data: dict[str, Any]
    records: tuple[Sequence[str], Sequence[Sequence[Any]]]
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Printing:
    """Where and how a result is shown."""

    output: Output
    style: str

    def show(self, outcome: Outcome) -> None:
        """Print the result to standard output, or write it into a file."""
        if self.output.path != STANDARD:
            write(self.output, _text(outcome, self.style))
        else:
            emit(_text(outcome, self.style, sys.stdout))


def printing(options: dict[str, Any], inputs: tuple[str, ...]) -> Printing:
    """Where and how to print, from the options of a command, which are taken out; refused before any work is done."""
    output = Output(options.pop("output"), inputs, force=options.pop("force"))
    style = options.pop("style") or next(
        (style for ending, style in STYLE_OF_NAME.items() if output.path.lower().endswith(ending)), "table"
    )
    refuse(output)
    return Printing(output, style)


def refuse(output: Output) -> None:
    """Raise if the output would overwrite what it must not, or cannot be written."""
    try:
        output.refuse()
    except OSError as error:
        raise _cannot_write(output.path, error) from None


def write(output: Output, content: str | bytes) -> Path:
    """Write a file, and return where it is."""
    try:
        return output.write(content)
    except OSError as error:
        raise _cannot_write(output.path, error) from None


def _cannot_write(path: str, error: OSError) -> Problem:
    return Problem(f"{path}: cannot be written: {error.strerror}")


def _text(outcome: Outcome, style: str, stream: TextIO | None = None) -> str:
    """The result for a stream, or for a file."""
    to_terminal = stream is not None and stream.isatty()
    if style == "json":
        lines = json.dumps(without_nan(outcome.data), indent=2, ensure_ascii=False, default=str).split("\n")
        # JSON by itself escapes only some of the characters that a terminal obeys.
        return "\n".join(map(printable, lines)) + "\n"
    if style == "csv":
        text = csv_text(*outcome.records)
        # Programs get labels as they are, people what they can look at.
        return "".join(printable(line) + "\n" for line in text.split("\n")[:-1]) if to_terminal else text
    if style == "markdown":
        blocks = [_markdown(table) for table in outcome.tables]
        return "\n\n".join([*blocks, *map(_markdown_text, outcome.notes)]) + "\n"
    has_lines = stream is None or "utf" in (getattr(stream, "encoding", None) or "utf-8").lower()
    return _rich(outcome, to_terminal=to_terminal, has_lines=has_lines)


def _cell(value: Any, digits: int) -> str:
    if isinstance(value, float):
        return "-" if math.isnan(value) else decimals(value, digits)
    return "-" if value is None else printable(str(value))


def csv_text(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table as CSV that a spreadsheet shows as it is."""
    return "".join(map(_csv_line, [header, *rows]))


def _csv_line(cells: Sequence[Any]) -> str:
    text = io.StringIO(newline="")
    # The writer puts cells into quotes that hold a sign of its own line end, so that is both of them.
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
    body = [line([_cell(value, table.digits) for value in row]) for row in table.rows]
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
                shown.add_row(*(Text(_cell(value, table.digits)) for value in row))
            console.print(shown)
        for note in outcome.notes:
            console.print(Text("\n" + printable(note)))
    return text.get()


def estimate_cells(found: dict[str, Any]) -> list[Any]:
    """Value, standard error and interval."""
    return [found["value"], found["standard_error"], interval_cell(found)]


def interval_cell(found: dict[str, Any]) -> str:
    """The limits, or a dash."""
    return "-" if found["low"] is None else f"{decimals(found['low'])} to {decimals(found['high'])}"


def pair_cells(found: dict[str, Any]) -> list[str]:
    """The classes of a pair, and their rows."""
    name = f"{shown_name(found['first'])} - {shown_name(found['second'])}"
    return [name, f"{found['first_rows']} + {found['second_rows']}"]


def pair_value_in_words(metric: str) -> str:
    """What the value of a listed pair is."""
    pairs = METRICS[metric].pairs
    return f"{pairs.title} of the pair" if pairs and pairs.is_symmetric else "by the score of the first class"
