"""Tables as text and as HTML: rows of cells; the first row is the header, the first column holds names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from multiauc._wording import counted, printable, shown_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

#: The header of a table of estimates.
ESTIMATE_HEADER = ["", "value", "std. error", "95% interval"]
# A table of more classes than this is printed without its middle.
TABLE_AT_MOST = 10
TABLE_EDGE = 4
LABEL_WIDTH = 14


def text_table(rows: list[list[str]]) -> list[str]:
    """Lines of text: names to the left, cells to the right."""
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join([name.ljust(widths[0]), *map(str.rjust, cells, widths[1:])]).rstrip() for name, *cells in rows]


def html_table(caption: str, rows: list[list[str]], notes: list[str] | None = None) -> str:
    """The same as an HTML table; every text is escaped."""
    from html import escape  # noqa: PLC0415 - only notebooks pay for it

    head, *body = [[escape(cell) for cell in row] for row in rows]
    header = "".join(f"<th>{cell}</th>" for cell in head)
    lines = "".join(
        f"<tr><th>{name}</th>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>" for name, *cells in body
    )
    below = "".join(f"<p>{escape(note)}</p>" for note in notes or [])
    title = f"<caption>{escape(caption)}</caption>"
    return f"<table>{title}<thead><tr>{header}</tr></thead><tbody>{lines}</tbody></table>{below}"


def shortened(label: Any) -> str:
    """A label as text that fits a column."""
    text = printable(shown_name(label))
    return text if len(text) <= LABEL_WIDTH else text[: LABEL_WIDTH - 3] + "..."


def sizes_in_words(labels: tuple[Any, ...], counts: NDArray[np.int64]) -> str:
    """The rows in total and per class; the tail of a long list is only counted."""
    sizes = [f"{shortened(label)} {count}" for label, count in zip(labels, counts.tolist(), strict=True)]
    if len(sizes) > TABLE_AT_MOST:
        sizes[TABLE_AT_MOST:] = [f"and {len(sizes) - TABLE_AT_MOST} more"]
    n_rows, n_classes = counted(int(counts.sum()), "row"), counted(len(labels), "class", "classes")
    return f"{n_rows}, {n_classes} ({', '.join(sizes)})"


def notes_in_words(notes: Iterable[str]) -> list[str]:
    """Notes as lines below a table."""
    return [printable(f"Note: {note}.") for note in notes]
