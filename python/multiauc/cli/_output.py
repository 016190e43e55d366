"""Results as tables for people (plain, Markdown) and for programs (JSON, CSV)."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from multiauc._digits import decimals
from multiauc._files.cells import plain_number
from multiauc._json import without_nan
from multiauc._wording import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

FORMATS = ("table", "json", "markdown", "csv")
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


def show(outcome: Outcome, style: str) -> None:
    """Print to stdout."""
    if style == "json":
        lines = json.dumps(without_nan(outcome.data), indent=2, ensure_ascii=False).split("\n")
        # JSON by itself escapes only some of the characters that a terminal obeys.
        click.echo("\n".join(map(printable, lines)))
    elif style == "csv":
        text = _csv(outcome)
        # Programs get labels as they are, people what they can look at.
        if sys.stdout.isatty():
            text = "".join(printable(line) + "\n" for line in text.split("\n")[:-1])
        click.echo(text, nl=False)
    elif style == "markdown":
        blocks = [_markdown(table) for table in outcome.tables]
        click.echo("\n\n".join([*blocks, *map(_markdown_text, outcome.notes)]))
    else:
        _rich(outcome)


def _cell(value: Any, digits: int) -> str:
    if isinstance(value, float):
        return "-" if math.isnan(value) else decimals(value, digits)
    return "-" if value is None else printable(str(value))


def _csv(outcome: Outcome) -> str:
    header, rows = outcome.records
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
        plain_number(value)
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


def _rich(outcome: Outcome) -> None:
    from rich import box  # noqa: PLC0415 - a third of a second that the other formats need not wait
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table as RichTable  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDTH_OF_FILES)
    for number, table in enumerate(outcome.tables):
        if number:
            console.print()
        console.print(Text(printable(table.title), style="bold"))
        shown = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for k, name in enumerate(table.header):
            shown.add_column(Text(name), justify="left" if k == 0 else "right", overflow="fold")
        for row in table.rows:
            # Text, not str: a class called [red] is a name, not an order to the terminal.
            shown.add_row(*(Text(_cell(value, table.digits)) for value in row))
        console.print(shown)
    for note in outcome.notes:
        console.print(Text("\n" + printable(note)))
