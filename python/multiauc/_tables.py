"""Tables as text and as HTML: rows of cells, the first row the header and the first column its names."""

from __future__ import annotations


def text_table(rows: list[list[str]]) -> list[str]:
    """Lines of text: names to the left, cells to the right."""
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
